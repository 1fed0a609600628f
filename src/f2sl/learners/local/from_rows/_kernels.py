"""Find networks with one candidate after another, from the samples of a table in memory.

All networks of a search are over the same variables, the target and those around it, and one candidate more.
*Positions* are those in the ascending list of all with the candidate; rules about ties refer to these. Sets
are counted with the candidate behind all others.

Over a few variables most samples are alike. So the distinct samples, *patterns*, are found first, each with
its *weight*, the number of samples that it stands for. A set of variables puts the patterns into groups, and
one variable more splits these groups. The value of the set is a sum over its groups (`stats/scores/sets.py`).
A variable splits groups only at the patterns that do not have its *usual* state, which are often few: the
others stay where they are.

groups : (patterns,) int32
    Group of each pattern. A group keeps its number as long as a pattern is left in it, so the numbers have no
    gaps.
counts : (patterns,) int64
    Number of samples of each group.

The term of a group depends on its weight and on the number of configurations of the set, its *size*. Terms
are kept in a direct-mapped cache: a size has one entry there, and takes it from another size if need be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from f2sl._jit import Array, inner, int64, kernel, plain_inner, popcount
from f2sl.data.memory._kernels import refine
from f2sl.learners.local._kernels import changes, insert
from f2sl.stats.scores._kernels import Terms, make_room, row_of, term_of


class Tally(NamedTuple):
    """Tables and scratch memory for counting, which a thread keeps from call to call.

    ess : equivalent sample size; known : terms of small weights, and the unit of values; cells : int64,
    scratch with room for groups times states, zero between calls; labels : int32, as large, scratch of
    `split`; numbers : int32, as large, zero between calls, and keys : (samples,) int64, scratch of `refine`;
    rows : (2, samples) int32, pattern of each sample without and with the candidate.
    """

    ess: float
    known: Terms
    cells: Array
    labels: Array
    numbers: Array
    keys: Array
    rows: Array


class Patterns(NamedTuple):
    """Patterns of k variables.

    columns : (k, patterns) int32, state of each variable in each pattern; states : (k,) int64, number of
    states of each; weights : (patterns,) int64, samples with each pattern; usual : (k,) int64, state of each
    variable that most patterns have; unusual : (k, patterns) int32, the patterns with another state, of which
    there are n_unusual : (k,) int64; n : (1,) int64, number of patterns. The arrays may have room for more.
    """

    columns: Array
    states: Array
    weights: Array
    usual: Array
    unusual: Array
    n_unusual: Array
    n: Array


@plain_inner
def row_of_size(size: float, tally: Tally) -> int:
    """Return the row of the terms of a set of this size, which is valid until the next call."""
    make_room(tally.known)
    return row_of(tally.ess / size, tally.known)


@plain_inner
def total(counts: Array, n_groups: int, size: float, tally: Tally) -> int:
    """Return the value of a set of this size from the samples of its groups."""
    row = row_of_size(size, tally)
    value = int64(0)
    for g in range(n_groups):
        value += term_of(counts[g], row, tally.known)
    return value


@plain_inner
def split(
    groups: Array,
    counts: Array,
    n_groups: int,
    v: int,
    whole: int,
    size: float,
    lasting: bool,
    patterns: Patterns,
    tally: Tally,
) -> tuple[int, int]:
    """Split groups by one more variable v; return the new set's value, and the number of groups.

    whole : value that the new set would have if v split no group; size : that of the new set; lasting :
    whether groups and counts are changed.
    """
    k, usual, column = patterns.states[v], patterns.usual[v], patterns.columns[v]
    cells, labels, row = tally.cells, tally.labels, row_of_size(size, tally)
    # The cell of a group's usual state counts all samples that leave the group.
    for i in range(patterns.n_unusual[v]):
        p = patterns.unusual[v, i]
        first = int64(groups[p]) * k
        cells[first + column[p]] += patterns.weights[p]
        cells[first + usual] += patterns.weights[p]
    value = whole
    for i in range(patterns.n_unusual[v]):
        p = patterns.unusual[v, i]
        g = int64(groups[p])
        key, leaving = g * k + column[p], g * k + usual
        n, gone = cells[key], cells[leaving]
        if n > 0:  # the first pattern of a new group
            value += term_of(n, row, tally.known)
            cells[key] = cells[leaving] = 0
            left = counts[g] - gone
            if gone > 0:  # and the first that leaves the old one
                value += term_of(left, row, tally.known) - term_of(counts[g], row, tally.known)
            if lasting:
                counts[g] = left
                # A group that is used up leaves its number to the first new one.
                if left > 0 or gone == 0:
                    g = n_groups
                    n_groups += 1
                labels[key], counts[g] = g, n
        if lasting:
            groups[p] = labels[key]
    return value, n_groups


@plain_inner
def as_one(patterns: Patterns, groups: Array, counts: Array) -> None:
    """Put all patterns into one group."""
    counts[0] = 0
    for p in range(patterns.n[0]):
        groups[p] = 0
        counts[0] += patterns.weights[p]


@plain_inner
def copy_groups(patterns: Patterns, n_groups: int, groups: Array, counts: Array, level: int) -> None:
    """Copy the groups of a level to the next: groups, counts : (levels, patterns)."""
    for p in range(patterns.n[0]):
        groups[level + 1, p] = groups[level, p]
    for g in range(n_groups):
        counts[level + 1, g] = counts[level, g]


@inner
def capacity_for(k: int, n_rows: int) -> Patterns:
    """Return room for the patterns of k variables."""
    return Patterns(
        np.empty((k, n_rows), np.int32),
        np.empty(k, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(k, np.int64),
        np.empty((k, n_rows), np.int32),
        np.empty(k, np.int64),
        np.zeros(1, np.int64),
    )


@inner
def distinct(codes: Array, cardinalities: Array, members: Array, tally: Tally, patterns: Patterns) -> int:
    """Find the patterns of the members, and in ``tally.rows[0]`` that of each sample; return their number.

    patterns : output, as yet without their weights.
    """
    n_rows, rows = codes.shape[1], tally.rows
    n = int64(1)
    for s in range(n_rows):
        rows[0, s] = 0
    for v in members:
        n = refine(codes[v], cardinalities[v], False, rows[0], tally.numbers, tally.keys, rows[1])
        for s in range(n_rows):
            rows[0, s] = rows[1, s]
    for i in range(len(members)):
        patterns.states[i] = cardinalities[members[i]]
        column = codes[members[i]]
        for s in range(n_rows):
            patterns.columns[i, rows[0, s]] = column[s]
    return n


@inner
def with_candidate(
    column: Array, states: int, position: int, known: Patterns, tally: Tally, patterns: Patterns
) -> None:
    """Split the patterns of the others by the candidate.

    column : (samples,) codes of the candidate, which has so many states, and gets this position among the
    variables; known : patterns of the others; patterns : output.
    """
    keys, k = tally.keys, len(patterns.states)
    n = refine(column, states, False, tally.rows[0], tally.numbers, keys, tally.rows[1])
    patterns.states[position] = states
    for p in range(n):
        patterns.columns[position, p] = keys[p] % states
        keys[p] //= states
    for i in range(k - 1):
        v = i + (i >= position)
        patterns.states[v] = known.states[i]
        for p in range(n):
            patterns.columns[v, p] = known.columns[i, keys[p]]
    weigh(tally.rows[1], n, k, patterns, tally)


@plain_inner
def weigh(rows: Array, n: int, k: int, patterns: Patterns, tally: Tally) -> None:
    """Count the samples of n patterns of k variables, and find those that are unusual.

    rows : (samples,) int32, pattern of each.
    """
    cells = tally.cells
    patterns.n[0] = n
    for p in range(n):
        patterns.weights[p] = 0
    for s in range(len(rows)):
        patterns.weights[rows[s]] += 1
    for v in range(k):
        column, usual, found = patterns.columns[v], int64(0), int64(0)
        for p in range(n):
            cells[column[p]] += 1
        for p in range(n):
            if cells[column[p]] > cells[usual]:
                usual = int64(column[p])
        for p in range(n):
            cells[column[p]] = 0
        # Each pattern is written, and overwritten by the next if it is a usual one: no branch on it.
        for p in range(n):
            patterns.unusual[v, found] = p
            found += column[p] != usual
        patterns.usual[v], patterns.n_unusual[v] = usual, found


@inner
def fill_lattice(
    order: Array,
    n_groups: int,
    size: float,
    patterns: Patterns,
    tally: Tally,
    groups: Array,
    counts: Array,
    values: Array,
) -> None:
    """Compute the values of all sets of the variables 0 to k - 1, each joined with that of `groups[0]`.

    Sets are visited depth first, each from the set without its last variable, whose groups it splits.

    order : (k,) int64, the variables in the order in which they join a set: number i splits groups 2^i times;
    n_groups, size : of ``groups[0]``, the groups to begin with; groups, counts : (k + 1, patterns), by depth;
    values : (2^k,) int64, output, by mask; the empty set's is left out.
    """
    k = len(order)
    at_mask, at_groups = np.zeros(k + 1, np.int64), np.empty(k + 1, np.int64)
    next_one, at_size = np.zeros(k + 1, np.int64), np.empty(k + 1, np.float64)
    # Value if the next variable splits no group, and the number of its states.
    at_whole, at_states = np.empty(k + 1, np.int64), np.zeros(k + 1, np.int64)
    at_groups[0], at_size[0] = n_groups, size
    depth = int64(0)
    while depth >= 0:
        i = next_one[depth]
        if i == k:
            depth -= 1
            continue
        next_one[depth] += 1
        v, n = order[i], at_groups[depth]
        mask, own = at_mask[depth] | 1 << v, at_size[depth] * patterns.states[v]
        if at_states[depth] != patterns.states[v]:
            at_states[depth], at_whole[depth] = patterns.states[v], total(counts[depth], n, own, tally)
        # No set comes from one that has the last variable: its groups are not needed.
        level, lasting = depth, i < k - 1
        if lasting:
            copy_groups(patterns, n, groups, counts, depth)
            level += 1
        values[mask], n = split(
            groups[level], counts[level], n, v, at_whole[depth], own, lasting, patterns, tally
        )
        if lasting:
            depth += 1
            at_mask[depth], at_groups[depth], at_size[depth], next_one[depth] = mask, n, own, i + 1
            at_states[depth] = 0


@inner
def by_unusual(patterns: Patterns, k: int) -> Array:
    """Return the first k variables in the order of their unusual patterns, most first."""
    order = np.empty(k, np.int64)
    for v in range(k):
        i = v
        while i > 0 and patterns.n_unusual[order[i - 1]] < patterns.n_unusual[v]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = v
    return order


@kernel
def try_in_turn(
    tally: Tally,
    codes: Array,
    cardinalities: Array,
    around: Array,
    target: int,
    candidates: Array,
    positions: Array,
    near: int,
    spouses: int,
    with_spouses: bool,
    near_is_final: bool,
    worth_of_ties: int,
    rules: Array,
    parents: Array,
) -> int:
    """Find the best network with each candidate in turn, until the set around the target changes.

    Parameters
    ----------
    codes : (variables, samples) uint8 or uint16
        States of the samples, without gaps.
    around : (k - 1,) int64
        The target and those around it, ascending.
    target : int
        Its position in `around`.
    candidates, positions : (m,) int64
        Candidates, and the position of each among all.
    near, spouses, with_spouses, near_is_settled, worth_of_ties
        As in `learners/local/_kernels.py`, of one search.
    rules : (m, 3, k) int64
        Admissible families for each candidate, by positions.
    parents : (k,) int64
        Output: the network of the last candidate tried, a mask by positions for each position, with -1 in the
        first entry if nothing has changed.

    Returns
    -------
    int
        Number of candidates tried.
    """
    k, n_rows = len(parents), codes.shape[1]
    half = 1 << (k - 1)
    known, patterns = capacity_for(k, n_rows), capacity_for(k, n_rows)
    groups, counts = np.empty((k, n_rows), np.int32), np.empty((k, n_rows), np.int64)
    best_of, best = np.empty((k, half), np.int64), np.empty(2 * half, np.int64)
    values, without, joined = np.empty(2 * half, np.int64), np.empty(half, np.int64), np.empty(half, np.int64)
    # The sets without a candidate serve all of them.
    n = distinct(codes, cardinalities, around, tally, known)
    weigh(tally.rows[0], n, int64(k - 1), known, tally)
    order = by_unusual(known, k - 1)
    as_one(known, groups[0], counts[0])
    without[0] = total(counts[0], int64(1), 1.0, tally)
    fill_lattice(order, int64(1), 1.0, known, tally, groups, counts, without)
    tried = int64(0)
    for c in range(len(candidates)):
        candidate, position = candidates[c], positions[c]
        size = float(cardinalities[candidate])
        tried += 1
        with_candidate(codes[candidate], cardinalities[candidate], int64(k - 1), known, tally, patterns)
        as_one(patterns, groups[0], counts[0])
        whole = total(counts[0], int64(1), size, tally)
        joined[0], n = split(groups[0], counts[0], int64(1), int64(k - 1), whole, size, True, patterns, tally)
        fill_lattice(order, n, size, patterns, tally, groups, counts, joined)
        # Number by positions, and tell ties apart by the edges to the target, as `tell_ties_apart` does.
        for mask in range(half):
            whole, there = insert(mask, position), mask >> target & 1
            edges = worth_of_ties * (popcount(np.uint64(mask)) - 1)
            values[whole] = 32 * without[mask] + there * edges
            values[whole | 1 << position] = 32 * joined[mask] + there * (edges + worth_of_ties)
        if changes(
            values,
            target + (position <= target),
            position,
            near,
            spouses,
            with_spouses,
            near_is_final,
            rules[c],
            best_of,
            best,
            parents,
        ):
            return tried
    parents[0] = -1
    return tried
