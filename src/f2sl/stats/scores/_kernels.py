"""Compute scores of families and of sets of variables from contingency tables, and keep a tree of sets.

Sums are in fixed point, as `stats/_kernels.py` describes. Batches of tables come as `counts`, `group_start`,
`first_group` and `n_groups`, all int64, laid out as `storage/protocol.py`, `Tables` describes.
"""

from __future__ import annotations

import math

import numpy as np

from f2sl._jit import Array, inner, int64, kernel
from f2sl.stats.scores.base import UNKNOWN

LARGEST_EXACT = 2**53
"""Up to this number every whole number is exact as a float."""


@kernel
def dirichlet_scores(
    counts: Array,
    group_start: Array,
    first_group: Array,
    n_groups: Array,
    priors: Array,
    cell_prior: Array,
    group_prior: Array,
    memory: Array,
    unit: float,
    scores: Array,
) -> None:
    """Compute the log marginal likelihood of each family under Dirichlet priors (BDeu, K2).

    Each group of a table holds the counts of the child's states for one configuration
    of the parents; configurations and states that do not occur contribute nothing, so tables
    may leave them out.

    Parameters
    ----------
    priors : (n_priors,) float64
        Distinct prior counts, of cells and of groups.
    cell_prior, group_prior : (n_tables,) int64
        Index of the entry for each table's cells, and for its groups.
    memory : (n_priors, counts kept) int64
        Terms of small counts for each prior, all `UNKNOWN` at first: see `dirichlet_term`.
    scores : (n_tables,) float64
        Output, in nats.
    """
    kept = memory.shape[1]
    for t in range(len(n_groups)):
        cell, of_cells = priors[cell_prior[t]], memory[cell_prior[t]]
        parents, of_groups = priors[group_prior[t]], memory[group_prior[t]]
        # The term of an empty cell, 0, is looked up like any other: a branch would be mispredicted too often.
        of_cells[0] = of_groups[0] = 0
        total = 0
        for g in range(first_group[t], first_group[t] + n_groups[t]):
            group = int64(0)
            for c in range(group_start[g], group_start[g + 1]):
                n = counts[c]
                group += n
                if n < kept and of_cells[n] != UNKNOWN:
                    total += of_cells[n]
                else:
                    total += dirichlet_term(n, cell, of_cells, unit)
            if group < kept and of_groups[group] != UNKNOWN:
                total -= of_groups[group]
            else:
                total -= dirichlet_term(group, parents, of_groups, unit)
        scores[t] = total * unit


@inner
def dirichlet_term(n: int, prior: float, terms: Array, unit: float) -> int:
    """Return log Gamma(n + prior) - log Gamma(prior) in fixed point, and remember it in `terms`.

    There are many cells but few different counts, and lgamma is slow. So callers look into `terms` first, in
    their own loops; a call for each cell would take twice as long.
    """
    term = int(np.rint((math.lgamma(prior + n) - math.lgamma(prior)) / unit))
    if n < len(terms):
        terms[n] = term
    return term


@kernel
def set_sums(
    counts: Array,
    group_start: Array,
    first_group: Array,
    n_groups: Array,
    priors: Array,
    memory: Array,
    memory_of: Array,
    unit: float,
    sums: Array,
) -> None:
    """Sum log Gamma(n + prior) - log Gamma(prior) over the cells of each table, in fixed point.

    Parameters
    ----------
    priors : (n_priors,) float64
        Distinct prior counts of a cell.
    memory : (n_priors, counts kept) int64
        Terms of small counts for each distinct prior, all `UNKNOWN` at first: see `dirichlet_term`.
    memory_of : (n_tables,) int64
        Index of each table's prior.
    sums : (n_tables, 2) float64
        Output: the sum in units, a whole number below 2^53, and the number of cells that are not empty.
    """
    kept = memory.shape[1]
    for t in range(len(n_groups)):
        first = group_start[first_group[t]]
        last = group_start[first_group[t] + n_groups[t]]
        prior, terms = priors[memory_of[t]], memory[memory_of[t]]
        # Groups do not matter here: the cells of a table are contiguous. The term of an empty cell, 0, is
        # looked up like any other: a branch would be mispredicted too often.
        terms[0] = 0
        total, occupied = 0, 0
        for c in range(first, last):
            n = counts[c]
            occupied += n > 0
            if n < kept and terms[n] != UNKNOWN:
                total += terms[n]
            else:
                total += dirichlet_term(n, prior, terms, unit)
        sums[t, 0], sums[t, 1] = total, occupied


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
        for place in range(start[t], start[t + 1]):
            size *= cardinalities[variables[place]]
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
#   keys      (2 * room,) int64   variable << 32 | parent node; -1 where a slot is free
#   nodes     (2 * room,) int32   node of each key
#   parents   (room,) int32       parent of each node
#   smallest  (room,) int32       smallest variable of each node's set, the one that its parent lacks
#   used      int                 number of nodes, at most `room`
#
# There are twice as many slots as nodes, so at least half are free and probing ends soon. `room` is a power
# of two, so that a mask replaces the remainder. When the room may not suffice, kernels stop and say how far
# they came; the driver doubles the arrays and calls again.


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
    """Find, or make, the nodes of some subsets of one set, from the one at place `first` on.

    members : (k,) int64, ascending; masks : (m, ceil(k / 64)) int64, bit i & 63 of word i >> 6 stands for
    member i; found : (m,) int64, output. Returns as `find_lattices` does.
    """
    for place in range(first, len(masks)):
        if used + len(members) > len(parents):
            return place, used
        node = 0
        for i in range(len(members) - 1, -1, -1):
            if masks[place, i >> 6] >> (i & 63) & 1:
                node = _child(keys, nodes, parents, smallest, used, node, members[i])
                used = max(used, node + 1)
        found[place] = node
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
        node, place = asked[t], start[t + 1]
        while node != 0:
            place -= 1
            variables[place] = smallest[node]
            node = parents[node]
    return variables, start
