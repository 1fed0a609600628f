"""Find networks with one candidate after another, from the samples of a table in memory.

All networks of a search are over the same variables, the target and those around it, and one candidate more.
Here these are numbered: the others from 0 on, ascending, and the candidate last. *Places* are positions in
the ascending list of all with the candidate; rules about ties refer to these.

Over a few variables most samples are alike. So the distinct samples, *patterns*, are found first, each with
its *weight*, the number of samples that it stands for. A set of variables puts the patterns into groups, and
one variable more splits these groups. The value of the set is a sum over its groups (`stats/scores/sets.py`).

columns : (k, patterns) int32
    State of each variable in each pattern; the last row is the candidate's.
weights : (patterns,) int64
    Number of samples with each pattern.
states : (k,) int64
    Number of states of each variable.

The term of a group depends on its weight and on the number of configurations of the set, its *size*. Terms
are kept in a direct-mapped cache: a size has one place there, and takes it from another size if need be.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from f2sl._jit import Array, inner, int64, kernel, popcount
from f2sl.local._kernels import sees
from f2sl.search._kernels import best_order, best_parents, read_off
from f2sl.search.hill_climbing import ADD, DELETE, RELATIVE_TOLERANCE, REVERSE
from f2sl.stats.scores._kernels import LARGEST_EXACT, dirichlet_term
from f2sl.stats.scores.base import UNKNOWN
from f2sl.storage.memory._kernels import refine

TABU_LENGTH, MAX_STALL = 100, 15
"""Options of the climb, the defaults of `search/hill_climbing.py`."""

TOO_LARGE = -1
"""Answer of `climb_in_turn` if a family has more configurations than whole floats can count."""

NONE = 3
"""Stands for no step, beside the kinds of steps of `search/hill_climbing.py`."""


class Tally(NamedTuple):
    """Tables and scratch memory for counting a set.

    ess, unit : equivalent sample size, and the unit of values; sizes : (a power of two,) float64, size whose
    terms are kept in each place, 0 for none; terms : (len(sizes), counts kept) int64, terms of small weights,
    `UNKNOWN` until needed; cells : int64, scratch with room for groups times states, zero between calls;
    labels : int32, as large, output of `split`: the new group by old group times states + state.
    """

    ess: float
    unit: float
    sizes: Array
    terms: Array
    cells: Array
    labels: Array


@inner
def place_of_size(size: float, tally: Tally) -> int:
    """Return the place of a size in the cache of terms; clear the place if another size has it."""
    sizes, terms = tally.sizes, tally.terms
    mantissa, exponent = math.frexp(size)
    place = (int(mantissa * 1048576.0) * 77 + exponent) & (len(sizes) - 1)
    if sizes[place] != size:
        sizes[place] = size
        for n in range(terms.shape[1]):
            terms[place, n] = UNKNOWN
        terms[place, 0] = 0
    return place


@inner
def split(
    groups: Array,
    n_groups: int,
    column: Array,
    k: int,
    weights: Array,
    size: float,
    tally: Tally,
) -> tuple[int, int]:
    """Split groups of patterns by one more variable; return the new set's value and number of groups.

    groups : (patterns,) int32, group of each pattern before; column : (patterns,) int32, states of the
    variable, which has k; size : that of the new set.
    """
    cells, labels = tally.cells, tally.labels
    own, kept = tally.terms[place_of_size(size, tally)], tally.terms.shape[1]
    for p in range(len(weights)):
        cells[int64(groups[p]) * k + column[p]] += weights[p]
    value, found = int64(0), int64(0)
    if n_groups * k <= 4 * len(weights):
        # Empty cells have the term 0, and take a label that the next cell takes again: no branch on them.
        for key in range(n_groups * k):
            n = cells[key]
            cells[key] = 0
            labels[key] = found
            found += n > 0
            if n < kept and own[n] != UNKNOWN:
                value += own[n]
            else:
                value += dirichlet_term(n, tally.ess / size, own, tally.unit)
        return value, found
    # Mostly empty cells: visit those that occur, each with its first pattern, which empties it.
    for p in range(len(weights)):
        key = int64(groups[p]) * k + column[p]
        n = cells[key]
        if n > 0:
            cells[key] = 0
            labels[key] = found
            found += 1
            if n < kept and own[n] != UNKNOWN:
                value += own[n]
            else:
                value += dirichlet_term(n, tally.ess / size, own, tally.unit)
    return value, found


@inner
def distinct(
    codes: Array, states: Array, members: Array, numbers: Array, keys: Array, groups: Array, columns: Array
) -> int:
    """Find the patterns of the members; return how many there are.

    groups : (2, samples) int32; row 0 is an output, the pattern of each sample; columns : output, all rows
    but the last. numbers : int32, zeros, and keys : (samples,) int64 are scratch of `refine`.
    """
    n_rows = codes.shape[1]
    n = int64(1)
    for s in range(n_rows):
        groups[0, s] = 0
    for v in members:
        n = refine(codes[v], states[v], False, groups[0], numbers, keys, groups[1])
        for s in range(n_rows):
            groups[0, s] = groups[1, s]
    for i in range(len(members)):
        column = codes[members[i]]
        for s in range(n_rows):
            columns[i, groups[0, s]] = column[s]
    return n


@inner
def with_candidate(
    column: Array,
    k: int,
    known: Array,
    numbers: Array,
    keys: Array,
    groups: Array,
    columns: Array,
    weights: Array,
) -> int:
    """Split the patterns of the others by the candidate; return how many there are now.

    column : (samples,) codes of the candidate, which has k states; known : columns of the others by their
    own patterns; groups : as from `distinct`; columns, weights : output.
    """
    n = refine(column, k, False, groups[0], numbers, keys, groups[1])
    for p in range(n):
        weights[p] = 0
    for s in range(len(column)):
        weights[groups[1, s]] += 1
    last = len(columns) - 1
    for p in range(n):
        columns[last, p] = keys[p] % k
        keys[p] //= k
    for i in range(last):
        for p in range(n):
            columns[i, p] = known[i, keys[p]]
    return int64(n)


@inner
def fill_lattice(
    columns: Array,
    states: Array,
    weights: Array,
    n_groups: int,
    size: float,
    tally: Tally,
    groups: Array,
    values: Array,
) -> None:
    """Compute the values of all sets of the variables 0 to k - 1, each joined with that of `groups[0]`.

    Sets are visited depth first, each from the set without its last variable, whose groups it splits.

    n_groups, size : of ``groups[0]``, the groups to begin with; groups : (k + 1, patterns) int32, by depth;
    values : (2^k,) int64, output, by mask; the empty set's is left out.
    """
    k = len(columns)
    at_mask, at_groups = np.zeros(k + 1, np.int64), np.empty(k + 1, np.int64)
    next_one, at_size = np.zeros(k + 1, np.int64), np.empty(k + 1, np.float64)
    at_groups[0], at_size[0] = n_groups, size
    depth = int64(0)
    while depth >= 0:
        v = next_one[depth]
        if v == k:
            depth -= 1
            continue
        next_one[depth] += 1
        mask, own = at_mask[depth] | 1 << v, at_size[depth] * states[v]
        value, found = split(groups[depth], at_groups[depth], columns[v], states[v], weights, own, tally)
        values[mask] = value
        # No set comes from one that has the last variable: its groups are not needed.
        if v < k - 1:
            before, after, column, n = groups[depth], groups[depth + 1], columns[v], states[v]
            for p in range(len(weights)):
                after[p] = tally.labels[int64(before[p]) * n + column[p]]
            depth += 1
            at_mask[depth], at_groups[depth], at_size[depth], next_one[depth] = mask, found, own, v + 1


@inner
def differs(
    linked: int, co_parents: int, near: int, spouses: int, with_spouses: bool, near_is_settled: bool
) -> bool:
    """Return whether the target's neighbours or spouses, as masks, have changed in a way that counts."""
    if near_is_settled:
        return bool(co_parents & ~near != spouses)
    return bool(linked != near or (with_spouses and co_parents != spouses))


@inner
def insert(mask: int, place: int) -> int:
    """Insert a bit that is 0 at a place of a mask: bits from there on move up by one."""
    low = (1 << place) - 1
    return (mask & low) | (mask & ~low) << 1


@kernel
def try_in_turn(
    codes: Array,
    cardinalities: Array,
    around: Array,
    target: int,
    candidates: Array,
    places: Array,
    near: int,
    spouses: int,
    with_spouses: bool,
    near_is_settled: bool,
    worth_of_ties: int,
    rules: Array,
    ess: float,
    unit: float,
    sizes: Array,
    terms: Array,
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
    candidates, places : (m,) int64
        Candidates, and the place of each among all.
    near, spouses, with_spouses, near_is_settled, worth_of_ties
        As in `local/_kernels.py`, of one search.
    rules : (m, 3, k) int64
        Admissible families for each candidate, by places.
    ess, unit : float
        Equivalent sample size, and the unit of values.
    parents : (k,) int64
        Output: the network of the last candidate tried, a mask by places for each place, with -1 in the
        first entry if nothing has changed.

    Returns
    -------
    int
        Number of candidates tried.
    """
    k, n_rows = len(parents), codes.shape[1]
    half = 1 << (k - 1)
    most = int64(1)
    for v in cardinalities:
        most = max(most, v)
    numbers = np.zeros(n_rows * most, np.int32)
    tally = Tally(
        ess, unit, sizes, terms, np.zeros(n_rows * most, np.int64), np.empty(n_rows * most, np.int32)
    )
    keys, weights = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    rows = np.empty((2, n_rows), np.int32)
    known, columns = np.empty((k, n_rows), np.int32), np.empty((k, n_rows), np.int32)
    groups = np.zeros((k, n_rows), np.int32)
    others = np.empty(k - 1, np.int64)
    for i in range(k - 1):
        others[i] = cardinalities[around[i]]
    best_of, best = np.empty((k, half), np.int64), np.empty(2 * half, np.int64)
    values, without, joined = np.empty(2 * half, np.int64), np.empty(half, np.int64), np.empty(half, np.int64)
    # The sets without a candidate serve all of them.
    n = distinct(codes, cardinalities, around, numbers, keys, rows, known)
    for p in range(n):
        weights[p] = 0
    for s in range(n_rows):
        weights[rows[0, s]] += 1
    without[0] = split(groups[0], int64(1), groups[0], int64(1), weights[:n], 1.0, tally)[0]
    fill_lattice(known[: k - 1], others, weights[:n], int64(1), 1.0, tally, groups, without)
    tried = int64(0)
    for c in range(len(candidates)):
        candidate, place = candidates[c], places[c]
        states = cardinalities[candidate]
        tried += 1
        n = with_candidate(codes[candidate], states, known, numbers, keys, rows, columns, weights)
        for p in range(n):
            groups[0, p] = 0
        joined[0], n_groups = split(
            groups[0], int64(1), columns[k - 1], states, weights[:n], float(states), tally
        )
        for p in range(n):
            groups[0, p] = tally.labels[columns[k - 1, p]]
        fill_lattice(columns[: k - 1], others, weights[:n], n_groups, float(states), tally, groups, joined)
        # Number by places, and tell ties apart by the links to the target, as `tell_ties_apart` does.
        for mask in range(half):
            whole, there = insert(mask, place), mask >> target & 1
            links = worth_of_ties * (popcount(np.uint64(mask)) - 1)
            values[whole] = 32 * without[mask] + there * links
            values[whole | 1 << place] = 32 * joined[mask] + there * (links + worth_of_ties)
        for v in range(k):
            best_parents(values, v, rules[c], best_of[v])
        best_order(best_of, best)
        read_off(values, rules[c], best_of, best, parents)
        linked, co_parents = sees(parents, target + (place <= target))
        if differs(
            linked, co_parents, insert(near, place), insert(spouses, place), with_spouses, near_is_settled
        ):
            return tried
    parents[0] = -1
    return tried


# Hill climbing, as in `search/hill_climbing.py`: the same steps, in the same order, with the same floats.
#
#   present   (k, k) bool      present[u, v]: the graph has u -> v
#   gain      (k, k) float64   gain of toggling u -> v; the diagonal is minus infinity
#   adding    (k, k) float64   gain of adding it; minus infinity if it cannot be added
#   closing   (k, k) bool      known to close a cycle
#
# The gains of variables with parents that are not the candidate are the same for all candidates, and mostly
# needed again: climbs begin alike. A direct-mapped cache keeps them.
#
#   of_family    (n_families,) int64        variable, -1 for none
#   of_parents   (n_families, k) bool       its parents
#   of_gains     (n_families, k) float64    gain of toggling each parent


@inner
def gains_into(
    v: int,
    first: int,
    last: int,
    parents: Array,
    columns: Array,
    states: Array,
    weights: Array,
    max_parents: int,
    tally: Tally,
    groups: Array,
    gains: Array,
) -> bool:
    """Compute the gains of toggling the parents `first` to `last` of v; return False if a set is too large.

    parents : (k,) bool, as they are; groups : (3, patterns) int32, scratch; gains : (k,) float64, output.
    """
    # In `groups` are those by the parents, by the parents and v, and, for one parent less, by the others.
    n_parents = int64(0)
    for u in range(len(parents)):
        n_parents += parents[u]
    below, by_parents, size = by_some(parents, int64(-1), columns, states, weights, tally, groups[0])
    larger = size * states[v]
    if larger > LARGEST_EXACT:
        return False
    above, by_family = split(groups[0], by_parents, columns[v], states[v], weights, larger, tally)
    for p in range(len(weights)):
        groups[1, p] = tally.labels[int64(groups[0, p]) * states[v] + columns[v, p]]
    score = float(above - below) * tally.unit
    for u in range(first, last):
        if u == v:
            continue
        if parents[u]:
            a, n, own = by_some(parents, u, columns, states, weights, tally, groups[2])
            b = split(groups[2], n, columns[v], states[v], weights, own * states[v], tally)[0]
        elif n_parents >= max_parents:
            gains[u] = -np.inf
            continue
        else:
            k = states[u]
            if larger * k > LARGEST_EXACT:
                return False
            a = split(groups[0], by_parents, columns[u], k, weights, size * k, tally)[0]
            b = split(groups[1], by_family, columns[u], k, weights, larger * k, tally)[0]
        gains[u] = float(b - a) * tally.unit - score
    return True


@inner
def by_some(
    some: Array,
    but: int,
    columns: Array,
    states: Array,
    weights: Array,
    tally: Tally,
    groups: Array,
) -> tuple[int, int, float]:
    """Group the patterns by some variables; return the value of their set, the number of groups and the size.

    some : (k,) bool; but : one that is left out, -1 for none; groups : (patterns,) int32, output.
    """
    for p in range(len(weights)):
        groups[p] = 0
    n, size = int64(1), 1.0
    # Splitting by a column of zeros, which `groups` now is, gives the value of the empty set.
    value, n = split(groups, n, groups, int64(1), weights, size, tally)
    for u in range(len(some)):
        if some[u] and u != but:
            k, column = states[u], columns[u]
            size *= k
            value, found = split(groups, n, column, k, weights, size, tally)
            for p in range(len(weights)):
                groups[p] = tally.labels[int64(groups[p]) * k + column[p]]
            n = found
    return value, n, size


@inner
def reaches(present: Array, start: int, end: int, but: int, stack: Array, seen: Array) -> bool:
    """Return whether a path leads from `start` to `end` that does not begin with the arrow to `but`."""
    k = len(present)
    for v in range(k):
        seen[v] = False
    stack[0], top = start, 1
    while top > 0:
        top -= 1
        u = stack[top]
        for v in range(k):
            if present[u, v] and not seen[v] and not (u == start and v == but):
                if v == end:
                    return True
                seen[v] = True
                stack[top] = v
                top += 1
    return False


@inner
def visited(
    present: Array, action: int, u: int, v: int, after: int, marks: Array, graphs: Array, n_graphs: int
) -> bool:
    """Return whether the graph after a step is among the recent ones.

    after : its mark, a number that differs for most graphs; marks : (TABU_LENGTH,) int64 and graphs :
    (TABU_LENGTH, k, k) bool, the recent graphs, of which there are `n_graphs` so far.
    """
    k = len(present)
    for g in range(min(n_graphs, TABU_LENGTH)):
        if marks[g] != after:
            continue
        # The step changes u -> v, and a reversal v -> u as well.
        same = True
        for a in range(k):
            for b in range(k):
                changed = (a == u and b == v) or (action == REVERSE and a == v and b == u)
                if (graphs[g, a, b] != present[a, b]) != changed:
                    same = False
        if same:
            return True
    return False


@inner
def best_step(
    places: Array,
    present: Array,
    gain: Array,
    adding: Array,
    closing: Array,
    tolerance: float,
    mark: int,
    hashes: Array,
    marks: Array,
    graphs: Array,
    n_graphs: int,
    arcs: Array,
    worth: Array,
    stack: Array,
    seen: Array,
) -> tuple[int, int, int]:
    """Return action and arc of the best legal step to a graph that is not recent; `NONE` if none is left.

    places : (k,) int64, the variable at each place; hashes : (k * k,) int64, random, a graph's mark is the
    exclusive or of those of its arcs; arcs : (2, k * k) int64, worth : (2, k * k) float64, stack, seen :
    (k,), scratch.
    """
    k = len(places)
    # In `arcs[0]` those of the graph in the order of places, in `arcs[1]` additions to recent graphs, which
    # are struck out for now.
    n_present, n_struck = int64(0), int64(0)
    tops = np.full(3, -np.inf)
    for i in range(k):
        u = places[i]
        for j in range(k):
            v = places[j]
            tops[ADD] = max(tops[ADD], adding[u, v])
            if present[u, v]:
                arcs[0, n_present] = u * k + v
                worth[0, n_present] = gain[u, v]
                worth[1, n_present] = gain[u, v] + gain[v, u]
                tops[DELETE] = max(tops[DELETE], worth[0, n_present])
                tops[REVERSE] = max(tops[REVERSE], worth[1, n_present])
                n_present += 1
    action, u, v = NONE, int64(0), int64(0)
    while True:
        floor = max(tops[ADD], tops[DELETE], tops[REVERSE]) - tolerance
        if floor == -np.inf:
            break
        at = int64(0)
        if tops[ADD] >= floor:
            action = ADD
            while adding[places[at // k], places[at % k]] < floor:
                at += 1
            u, v = places[at // k], places[at % k]
        else:
            action = DELETE if tops[DELETE] >= floor else REVERSE
            while worth[action - 1, at] < floor:
                at += 1
            u, v = arcs[0, at] // k, arcs[0, at] % k
        after = mark ^ hashes[u * k + v]
        if action == REVERSE:
            after ^= hashes[v * k + u]
        if visited(present, action, u, v, after, marks, graphs, n_graphs):
            if action == ADD:
                arcs[1, n_struck] = u * k + v
                n_struck += 1
        elif action == DELETE:
            break
        elif action == ADD:
            if not reaches(present, v, u, int64(-1), stack, seen):
                break
            closing[u, v] = True
        elif not reaches(present, u, v, v, stack, seen):
            break
        tops[action] = -np.inf
        if action == ADD:
            adding[u, v] = -np.inf
            for a in range(k):
                for b in range(k):
                    tops[ADD] = max(tops[ADD], adding[a, b])
        else:
            worth[action - 1, at] = -np.inf
            for arc in range(n_present):
                tops[action] = max(tops[action], worth[action - 1, arc])
        action = NONE
    for struck in range(n_struck):
        a, b = arcs[1, struck] // k, arcs[1, struck] % k
        adding[a, b] = gain[a, b]
    return action, u, v


@kernel
def climb_in_turn(
    codes: Array,
    cardinalities: Array,
    around: Array,
    target: int,
    candidates: Array,
    candidate_places: Array,
    starts: Array,
    near: Array,
    spouses: Array,
    with_spouses: bool,
    near_is_settled: bool,
    max_parents: int,
    ess: float,
    unit: float,
    sizes: Array,
    terms: Array,
    n_families: int,
    hashes: Array,
    best: Array,
) -> tuple[int, bool]:
    """Climb to a network with each candidate in turn, until the set around the target changes.

    Parameters
    ----------
    codes, cardinalities, around, target, candidates, candidate_places, ess, unit, sizes, terms
        As in `try_in_turn`.
    starts : (m,) float64
        Score of the empty graph with each candidate.
    near, spouses : (k,) bool
        The target's neighbours and spouses as they are now.
    n_families : int
        Places in the cache of gains, a power of two.
    hashes : (k * k,) int64
        Random numbers, one for each arc.
    best : (k, k) bool
        Output: the arrows of the network of the last candidate.

    Returns
    -------
    tuple of int and bool
        Number of candidates tried, `TOO_LARGE` if a family was too large; and whether the last one changed
        something.
    """
    k, n_rows = len(near), codes.shape[1]
    most = int64(1)
    for v in cardinalities:
        most = max(most, v)
    numbers = np.zeros(n_rows * most, np.int32)
    tally = Tally(
        ess, unit, sizes, terms, np.zeros(n_rows * most, np.int64), np.empty(n_rows * most, np.int32)
    )
    keys, weights = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    rows, groups = np.empty((2, n_rows), np.int32), np.empty((3, n_rows), np.int32)
    known, columns = np.empty((k, n_rows), np.int32), np.empty((k, n_rows), np.int32)
    distinct(codes, cardinalities, around, numbers, keys, rows, known)
    states, places = np.empty(k, np.int64), np.empty(k, np.int64)
    for i in range(k - 1):
        states[i] = cardinalities[around[i]]
    of_family = np.full(n_families, -1, np.int64)
    of_parents, of_gains = np.empty((n_families, k), np.bool_), np.empty((n_families, k), np.float64)
    present, closing = np.empty((k, k), np.bool_), np.empty((k, k), np.bool_)
    gain, adding = np.empty((k, k), np.float64), np.empty((k, k), np.float64)
    parents, gains = np.empty(k, np.bool_), np.empty(k, np.float64)
    marks, graphs = np.empty(TABU_LENGTH, np.int64), np.empty((TABU_LENGTH, k, k), np.bool_)
    arcs, worth = np.empty((2, k * k), np.int64), np.empty((2, k * k), np.float64)
    stack, seen = np.empty(k * k, np.int64), np.empty(k, np.bool_)
    changed_ones = np.empty(k, np.int64)
    c = k - 1
    for number in range(len(candidates)):
        candidate, place = candidates[number], candidate_places[number]
        states[c] = cardinalities[candidate]
        n = with_candidate(codes[candidate], states[c], known, numbers, keys, rows, columns, weights)
        for i in range(k):
            places[i] = c if i == place else i - (i > place)
        for u in range(k):
            for v in range(k):
                present[u, v] = closing[u, v] = best[u, v] = graphs[0, u, v] = False
        for v in range(k):
            changed_ones[v] = v
        n_changed = int64(k)
        everything = True
        score = best_score = starts[number]
        tolerance = max(1.0, abs(score)) * RELATIVE_TOLERANCE
        mark, n_graphs = int64(0), int64(1)
        marks[0] = 0
        stalled = int64(0)
        while True:
            # The gains into the variables whose parents have changed.
            for one in range(n_changed):
                v = changed_ones[one]
                own = v + 1
                for u in range(k):
                    parents[u] = present[u, v]
                    if parents[u]:
                        own ^= hashes[u * k + v]
                first, slot = int64(0), own & (len(of_family) - 1)
                shared = v != c and not parents[c]
                if shared and of_family[slot] == v:
                    same = True
                    for u in range(c):
                        same = same and of_parents[slot, u] == parents[u]
                    if same:
                        first = c
                        for u in range(c):
                            gains[u] = of_gains[slot, u]
                if not gains_into(
                    v,
                    first,
                    int64(k),
                    parents,
                    columns,
                    states,
                    weights[:n],
                    max_parents,
                    tally,
                    groups,
                    gains,
                ):
                    return TOO_LARGE, False
                gains[v] = -np.inf
                if shared and first == 0:
                    of_family[slot] = v
                    for u in range(c):
                        of_parents[slot, u], of_gains[slot, u] = parents[u], gains[u]
                for u in range(k):
                    gain[u, v] = gains[u]
            # What may be added: into these variables, or anywhere if a cycle may have been opened.
            for one in range(k if everything else n_changed):
                v = one if everything else changed_ones[one]
                for u in range(k):
                    barred = present[u, v] or present[v, u] or closing[u, v]
                    adding[u, v] = -np.inf if barred else gain[u, v]
            action, u, v = best_step(
                places,
                present,
                gain,
                adding,
                closing,
                tolerance,
                mark,
                hashes,
                marks,
                graphs,
                n_graphs,
                arcs,
                worth,
                stack,
                seen,
            )
            if action == NONE:
                break
            score += gain[u, v]
            mark ^= hashes[u * k + v]
            present[u, v] = action == ADD
            changed_ones[0], n_changed, everything = v, 1, action != ADD
            if action == ADD:
                adding[v, u] = -np.inf
            else:
                for a in range(k):
                    for b in range(k):
                        closing[a, b] = False
            if action == REVERSE:
                score += gain[v, u]
                mark ^= hashes[v * k + u]
                present[v, u] = True
                changed_ones[1], n_changed = u, 2
            recent = n_graphs % TABU_LENGTH
            marks[recent] = mark
            for a in range(k):
                for b in range(k):
                    graphs[recent, a, b] = present[a, b]
            n_graphs += 1
            stalled += 1
            if score > best_score + tolerance:
                best_score, stalled = score, int64(0)
                for a in range(k):
                    for b in range(k):
                        best[a, b] = present[a, b]
            if stalled == MAX_STALL:
                break
        if network_differs(best, target, near, spouses, with_spouses, near_is_settled):
            return number + 1, True
    return len(candidates), False


@inner
def network_differs(
    network: Array, target: int, near: Array, spouses: Array, with_spouses: bool, near_is_settled: bool
) -> bool:
    """Return whether the target's neighbours or spouses in a network are not those given.

    network : (k, k) bool, arrows from row to column; near, spouses : (k,) bool.
    """
    for u in range(len(near)):
        if u == target:
            continue
        linked = network[u, target] or network[target, u]
        co_parent = False
        for child in range(len(near)):
            co_parent = co_parent or (network[target, child] and network[u, child])
        if near_is_settled:
            if (co_parent and not linked and not near[u]) != spouses[u]:
                return True
        elif linked != near[u] or (with_spouses and (co_parent and not linked) != spouses[u]):
            return True
    return False
