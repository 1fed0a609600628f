"""Compute scores of families and of sets of variables from contingency tables, and keep a tree of sets.

Sums are in fixed point, as `stats/_kernels.py` describes. Batches of tables come as `counts`, `group_start`,
`first_group` and `n_groups`, all int64, laid out as `data/engines.py`, `Tables` describes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from f2sl._jit import Array, inner, int64, kernel, plain_inner, popcount
from f2sl.stats._kernels import count_columns, meet, next_state
from f2sl.stats.scores.base import UNKNOWN

LARGEST_EXACT = 2**53
"""Up to this number every whole number is exact as a float."""


class Terms(NamedTuple):
    """Terms log Gamma(n + prior) - log Gamma(prior) by prior, in units: a hash table with open addressing.

    There are many cells but few different counts, and lgamma is slow. priors : (rows,) float64, 0 for none;
    terms : (rows, counts kept) int64, `UNKNOWN` until needed; used : (1,) int64, number of priors.
    """

    unit: float
    priors: Array
    terms: Array
    used: Array


@plain_inner
def make_room(known: Terms) -> None:
    """Forget all terms if more than half of the table is used."""
    if 2 * known.used[0] > len(known.priors):
        known.used[0] = 0
        for row in range(len(known.priors)):
            known.priors[row] = 0.0


@plain_inner
def row_of(prior: float, known: Terms) -> int:
    """Return the row of a prior in the table of terms; insert it if it is new."""
    priors, terms = known.priors, known.terms
    # Priors are a weight divided by numbers of cells: many differ by a power of 2, and so in the exponent.
    fraction, exponent = math.frexp(prior)
    row = (int(fraction * LARGEST_EXACT) + 31 * exponent) % len(priors)
    while priors[row] != prior:
        if priors[row] == 0.0:
            priors[row] = prior
            known.used[0] += 1
            for n in range(terms.shape[1]):
                terms[row, n] = UNKNOWN
            terms[row, 0] = 0
            break
        row = (row + 1) % len(priors)
    return row


@plain_inner
def term_of(n: int, row: int, known: Terms) -> int:
    """Return the term of a count for the prior of a row, and remember it.

    Loops over cells look into `terms` themselves: a call for each cell would take twice as long.
    """
    if n < known.terms.shape[1] and known.terms[row, n] != UNKNOWN:
        return int(known.terms[row, n])
    prior = known.priors[row]
    term = int(np.rint((math.lgamma(prior + n) - math.lgamma(prior)) / known.unit))
    if n < known.terms.shape[1]:
        known.terms[row, n] = term
    return term


@kernel
def count_occurring(
    counts: Array, group_start: Array, first_group: Array, n_groups: Array, found: Array
) -> None:
    """Count the configurations of the parents that occur in each table, at least 1 in one without samples.

    Counted by NumPy, F2SL-h took 28 instead of 18 seconds on 65 columns of 17 states.

    found : (n_tables,) float64, output.
    """
    for t in range(len(n_groups)):
        occurring = 0
        for g in range(first_group[t], first_group[t] + n_groups[t]):
            for c in range(group_start[g], group_start[g + 1]):
                if counts[c] > 0:
                    occurring += 1
                    break
        found[t] = max(occurring, 1)


@kernel
def dirichlet_sums(
    counts: Array,
    group_start: Array,
    first_group: Array,
    n_groups: Array,
    cell_priors: Array,
    group_priors: Array,
    known: Terms,
    found: Array,
) -> None:
    """Compute the log marginal likelihood of each table under Dirichlet priors, in units.

    Each group of a table holds the counts of the last variable's states for one configuration of the others;
    configurations and states that do not occur contribute nothing, so tables may leave them out.

    Parameters
    ----------
    cell_priors, group_priors : (n_tables,) float64
        Prior counts of each table's cells, and of its groups: without (0), groups contribute nothing.
    found : (n_tables, 2) float64
        Output: the sum of the terms of cells, less those of groups, and the number of cells that are not
        empty.
    """
    kept = known.terms.shape[1]
    for t in range(len(n_groups)):
        make_room(known)
        cell = row_of(cell_priors[t], known)
        parents = row_of(group_priors[t], known) if group_priors[t] > 0.0 else -1
        # The term of an empty cell, 0, is looked up like any other: a branch would be mispredicted too often.
        terms = known.terms[cell]
        total, occupied = 0, 0
        for g in range(first_group[t], first_group[t] + n_groups[t]):
            group = int64(0)
            for c in range(group_start[g], group_start[g + 1]):
                n = counts[c]
                group += n
                occupied += n > 0
                if n < kept and terms[n] != UNKNOWN:
                    total += terms[n]
                else:
                    total += term_of(n, cell, known)
            if parents >= 0:
                total -= term_of(group, parents, known)
        found[t, 0], found[t, 1] = total, occupied


@kernel
def bdeu_gains(
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    children: Array,
    start: Array,
    others: Array,
    present: Array,
    ess: float,
    known: Terms,
    most_cells: int,
    gain: Array,
    own: Array,
) -> int:
    """Score some families by BDeu, and compute the gain of each change of one parent.

    The samples with one configuration of a child's parents in one state of the child are found once, and
    counted together in all states of all variables that could be added, as in `g2_of_runs` of
    `stats/tests/_kernels.py`. Families with one parent less follow from the child's own table.

    Parameters
    ----------
    planes, plane_start, cardinalities
        As in `data/memory/_kernels.py`; no sample may miss a variable.
    children : int64
        Variables whose families to score.
    start, others, present : int64, int64 and bool
        Those that may be parents of v are ``others[start[v]:start[v + 1]]``, ascending; `present` says which
        of them are.
    most_cells : int
        Largest table of a family as it is.
    gain, own : float64
        Output: a gain for each of `others`, and the score of each family as it is, by variable.

    Returns
    -------
    int
        Number of families scored, or -1 if a table is too large or a variable has no planes.
    """
    n_words = planes.shape[1]
    deepest, most_columns, most_others, scored = 0, 0, 0, 0
    for v in children:
        depth, n_columns, cells = 0, 0, 1.0 * cardinalities[v]
        there = plane_start[v] >= 0
        for position in range(start[v], start[v + 1]):
            u = others[position]
            there = there and plane_start[u] >= 0
            if present[position]:
                depth += 1
                cells *= cardinalities[u]
            else:
                n_columns += cardinalities[u]
        if not there or cells > most_cells:
            return -1
        deepest, most_columns = max(deepest, depth), max(most_columns, n_columns)
        most_others = max(most_others, start[v + 1] - start[v])
    # masks[level] is as `meet` makes it, for the parents; packed[w, j] is word w of plane j of those that
    # could be added, the last state of each left out: its cells follow.
    masks, row = np.empty((deepest + 1, n_words), np.uint64), np.empty(n_words, np.uint64)
    packed = np.empty((n_words, most_columns), np.uint64)
    counts, columns = np.empty(most_columns, np.int64), np.empty(most_columns, np.int64)
    parents, state = np.empty(deepest, np.int64), np.empty(deepest, np.int64)
    table, every_plane = np.empty(most_cells, np.int64), np.arange(len(planes))
    free, total = np.empty(most_others, np.int64), np.empty(most_others, np.int64)
    states = np.empty(most_others, np.int64)
    by_cells, by_groups = np.empty(most_others, np.int64), np.empty(most_others, np.int64)
    for w in range(n_words):
        masks[0, w] = ~np.uint64(0)
    for v in children:
        k, size = cardinalities[v], 1.0
        depth, n_free, n_planes = 0, 0, 0
        make_room(known)
        for position in range(start[v], start[v + 1]):
            u = others[position]
            if present[position]:
                parents[depth], state[depth] = u, 0
                size *= cardinalities[u]
                depth += 1
                continue
            free[n_free], states[n_free], total[n_free] = position, cardinalities[u], 0
            n_free += 1
            for b in range(cardinalities[u] - 1):
                for w in range(n_words):
                    packed[w, n_planes] = planes[plane_start[u] + b, w]
                n_planes += 1
        for i in range(n_free):
            more = size * states[i]
            by_cells[i], by_groups[i] = row_of(ess / (more * k), known), row_of(ess / more, known)
        for cell in range(int(size) * k):
            table[cell] = 0
        changed = 0
        while changed >= 0:
            level, there = meet(planes, plane_start, every_plane, parents, state, changed, depth, masks)
            if there > 0:
                number, group = int64(0), int64(0)
                for i in range(depth):
                    number = number * cardinalities[parents[i]] + state[i]
                for j in range(n_planes):
                    columns[j] = 0
                for c in range(k):
                    n_row = int64(0)
                    for w in range(n_words):
                        word = masks[depth, w] & planes[plane_start[v] + c, w]
                        row[w] = word
                        n_row += popcount(word)
                    if n_row == 0:
                        continue
                    table[number * k + c] = n_row
                    group += n_row
                    count_columns(row, packed, counts[:n_planes])
                    for j in range(n_planes):
                        columns[j] += counts[j]
                    _add_terms(counts, n_row, states[:n_free], by_cells, int64(1), known, total)
                _add_terms(columns, group, states[:n_free], by_groups, int64(-1), known, total)
            # Configurations without samples are passed over.
            changed = next_state(state, level - 1, cardinalities, parents)
        # Without a parent, and with all of them, from the table: configurations differ in the parent's state,
        # those before and after it in `high` and `low`.
        own[v] = _score_of(table, int(size), int64(1), int64(1), k, ess, known)
        for i in range(n_free):
            gain[free[i]] = total[i] * known.unit - own[v]
        low = int64(1)
        for position in range(start[v + 1] - 1, start[v] - 1, -1):
            if present[position]:
                own_states = cardinalities[others[position]]
                high = int(size) // (low * own_states)
                gain[position] = _score_of(table, high, own_states, low, k, ess, known) - own[v]
                low *= own_states
        scored += 1 + start[v + 1] - start[v]
    return scored


@plain_inner
def _add_terms(
    counts: Array, n: int, states: Array, rows: Array, sign: int, known: Terms, total: Array
) -> None:
    """Add the terms of the cells of each variable to its total, or subtract them.

    counts : int64, for all states of each variable but the last, whose count makes up `n`; states, rows :
    (n_variables,) int64, numbers of states and rows of terms; total : (n_variables,) int64.
    """
    terms, kept = known.terms, known.terms.shape[1]
    j = 0
    for i in range(len(states)):
        left, added = n, int64(0)
        for state in range(states[i]):
            count = left
            if state < states[i] - 1:
                count = counts[j]
                left -= count
                j += 1
            if count < kept and terms[rows[i], count] != UNKNOWN:
                added += terms[rows[i], count]
            else:
                added += term_of(count, rows[i], known)
        total[i] += sign * added


@plain_inner
def _score_of(table: Array, high: int, states: int, low: int, k: int, ess: float, known: Terms) -> float:
    """Return the score of a family's table summed over the states of one parent; 1 for no parent.

    table : cells by configuration of the parents before it, its own state, those after it, and child.
    """
    groups = high * low
    by_cells, by_groups = row_of(ess / (groups * k), known), row_of(ess / groups, known)
    total = int64(0)
    for h in range(high):
        for at in range(low):
            group = int64(0)
            for c in range(k):
                n = int64(0)
                for b in range(states):
                    n += table[((h * states + b) * low + at) * k + c]
                group += n
                total += term_of(n, by_cells, known)
            total -= term_of(group, by_groups, known)
    return total * known.unit


@kernel
def table_sizes(variables: Array, start: Array, cardinalities: Array) -> Array:
    """Compute the number of cells of each query's full table.

    The result, (n_queries,) float64, is the same to the last bit for any order of a query's variables:
    products up to 2^53 are exact, larger ones are multiplied in ascending order. Numbers of cells are floats
    because those of 40 variables may exceed 64 bits.
    """
    sizes = np.empty(len(start) - 1, np.float64)
    for t in range(len(sizes)):
        size = 1.0
        for position in range(start[t], start[t + 1]):
            size *= cardinalities[variables[position]]
        if size > LARGEST_EXACT:
            size = 1.0
            for k in np.sort(cardinalities[variables[start[t] : start[t + 1]]]):
                size *= k
        sizes[t] = size
    return sizes


# A tree of sets. A set is a path from the root, its largest variable first, so that a node is its parent's
# set with one smaller variable more. Nodes are numbered in the order in which they are made; the root, the
# empty set, is 0. A hash table with open addressing leads from (parent, variable) to a node: a set is found
# by one lookup for each member, and the sets of a lattice by one lookup each, since each is a set found
# before with one more member.
#
# The arrays of a tree, owned by `stats/scores/sets.py`, `_SetTree`:
#
#   keys      (2 * capacity,) int64   variable << 32 | parent node; -1 where a slot is free
#   nodes     (2 * capacity,) int32   node of each key
#   parents   (capacity,) int32       parent of each node
#   smallest  (capacity,) int32       smallest variable of each node's set, the one that its parent lacks
#   used      int                 number of nodes, at most `capacity`
#
# There are twice as many slots as nodes, so at least half are free and probing ends soon. `capacity` is a
# power of two, so that a mask replaces the remainder. When the capacity may not suffice, kernels stop and say
# how far they came; the driver doubles the arrays and calls again.


@inner
def _slot_of(keys: Array, key: int) -> int:
    """Find the slot of the hash table in which a key is, or is to be put (linear probing)."""
    # Both halves of the key are mixed into 32 bits, and the factor is below 2^31: the product fits into 63
    # bits.
    last = len(keys) - 1
    slot = ((((key ^ (key >> 31)) & 0xFFFFFFFF) * 0x5BD1E995) >> 20) & last
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@inner
def _child(keys: Array, nodes: Array, parents: Array, smallest: Array, used: int, node: int, v: int) -> int:
    """Return the node of the set of `node` with `v`, smaller than all its members, added.

    A new node gets the number `used`; the caller must then increase `used`.
    """
    key = v << 32 | node
    slot = _slot_of(keys, key)
    if keys[slot] == -1:
        keys[slot], nodes[slot] = key, used
        parents[used], smallest[used] = node, v
    return int(nodes[slot])


@kernel
def put_again(keys: Array, nodes: Array, old_keys: Array, old_nodes: Array) -> None:
    """Copy all entries of an old hash table into a larger, empty one."""
    for old in range(len(old_keys)):
        if old_keys[old] != -1:
            slot = _slot_of(keys, old_keys[old])
            keys[slot], nodes[slot] = old_keys[old], old_nodes[old]


@kernel
def find_lattices(
    keys: Array,
    nodes: Array,
    parents: Array,
    smallest: Array,
    used: int,
    members: Array,
    first: int,
    found: Array,
) -> tuple[int, int]:
    """Find, or make, the nodes of all subsets of each row of `members`, from row `first` on.

    Parameters
    ----------
    members : (m, k) int64
        Sets of k variables, each row ascending.
    found : (m, 2^k) int64
        Output: the node of each subset; bit i of the column's number stands for member i.

    Returns
    -------
    tuple of int
        Number of rows done, and of nodes in the tree. Stops before a row that might not fit into the tree.
    """
    size = found.shape[1]
    for row in range(first, len(members)):
        if used + size > len(parents):
            return row, used
        # Without its lowest bit a mask is smaller, hence done already; that bit is its smallest variable.
        found[row, 0] = 0
        for mask in range(1, size):
            i = 0
            while not mask >> i & 1:
                i += 1
            node = _child(
                keys, nodes, parents, smallest, used, found[row, mask & (mask - 1)], members[row, i]
            )
            found[row, mask] = node
            used = max(used, node + 1)
    return len(members), used


@kernel
def find_subsets(
    keys: Array,
    nodes: Array,
    parents: Array,
    smallest: Array,
    used: int,
    members: Array,
    masks: Array,
    first: int,
    found: Array,
) -> tuple[int, int]:
    """Find, or make, the nodes of some subsets of one set, from the one at position `first` on.

    members : (k,) int64, ascending; masks : (m, ceil(k / 64)) int64, bit i & 63 of word i >> 6 stands for
    member i; found : (m,) int64, output. Returns as `find_lattices` does.
    """
    for position in range(first, len(masks)):
        if used + len(members) > len(parents):
            return position, used
        node = 0
        for i in range(len(members) - 1, -1, -1):
            if masks[position, i >> 6] >> (i & 63) & 1:
                node = _child(keys, nodes, parents, smallest, used, node, members[i])
                used = max(used, node + 1)
        found[position] = node
    return len(masks), used


@kernel
def list_members(parents: Array, smallest: Array, asked: Array) -> tuple[Array, Array]:
    """List the variables of some nodes' sets, one set after another, the largest variable first.

    Returns the variables and where each set begins, as a batch of queries. In the order of the tree,
    consecutive sets begin with the same variables, which engines that refine groups of samples use.
    """
    # The path from a node to the root has the smallest variable first, so each list is filled from its end.
    start = np.zeros(len(asked) + 1, np.int64)
    for t in range(len(asked)):
        node, n = asked[t], 0
        while node != 0:
            node = parents[node]
            n += 1
        start[t + 1] = start[t] + n
    variables = np.empty(start[-1], np.int64)
    for t in range(len(asked)):
        node, position = asked[t], start[t + 1]
        while node != 0:
            position -= 1
            variables[position] = smallest[node]
            node = parents[node]
    return variables, start
