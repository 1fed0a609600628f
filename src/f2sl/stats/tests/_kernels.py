"""Compute the statistics of independence tests from contingency tables.

Sums are in fixed point; `terms`, `logarithms` and `unit` belong together, as `stats/_kernels.py` describes.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, int64, kernel, plain_inner, popcount
from f2sl.stats._kernels import count_columns, meet, n_log_n_of, next_state

MOST_PACKED = 128
"""Bit planes that are packed side by side; with 5,000 samples they take 80 kilobytes."""

TESTS_PER_OCCURRENCE = 3
"""Tests of the same X and Y for each variable of their conditions, from which on it is looked up which states
occur together: FindVstructure of F2SL-c on pigs takes a third longer without."""


@plain_inner
def _g2_of_stratum(
    counts: Array,
    first: int,
    k_x: int,
    k_y: int,
    columns: Array,
    terms: Array,
    logarithms: Array,
    log_unit: float,
) -> tuple[int, int, int]:
    """Return half of G2 in fixed point, degrees of freedom, and number of samples of one stratum.

    Half of G2 is the sum of n log n over the cells, less those over rows and columns, plus that of the total.
    Being a sum of integers it is exact but for the rounding of each term: of exactly independent variables
    it may come out as some units above or below 0.

    counts : int64, the cells from `first` on, by state of X, then of Y; columns : (at least k_y,) int64,
    output, the sums over X for each state of Y.
    """
    n_z, rows_used, columns_used, total = int64(0), 0, 0, 0
    for y in range(k_y):
        columns[y] = 0
    for x in range(k_x):
        row = int64(0)
        for y in range(k_y):
            n = counts[first + x * k_y + y]
            row += n
            columns[y] += n
            total += n_log_n_of(n, terms, logarithms, log_unit)
        total -= n_log_n_of(row, terms, logarithms, log_unit)
        n_z += row
        rows_used += row > 0
    if n_z == 0:
        return 0, 0, 0
    for y in range(k_y):
        total -= n_log_n_of(columns[y], terms, logarithms, log_unit)
        columns_used += columns[y] > 0
    total += n_log_n_of(n_z, terms, logarithms, log_unit)
    return total, (rows_used - 1) * (columns_used - 1), n_z


@kernel
def g2_tests(
    counts: Array,
    cell_start: Array,
    k_x: Array,
    k_y: Array,
    terms: Array,
    logarithms: Array,
    unit: float,
    statistics: Array,
    freedom: Array,
) -> None:
    """Compute G2 and the degrees of freedom of each test: sums over its strata.

    A stratum counts (non-empty rows - 1) (non-empty columns - 1) degrees of freedom.

    Parameters
    ----------
    counts, cell_start : int64
        The full tables: test t has the cells ``cell_start[t]`` to ``cell_start[t + 1]``, by stratum, then by
        state of X, then by state of Y.
    k_x, k_y : (n_tests,) int64
        Numbers of states of X and Y.
    statistics, freedom : (n_tests,) float64 and int64
        Output.
    """
    for t in range(len(k_x)):
        kx, ky = k_x[t], k_y[t]
        size = kx * ky
        columns = np.empty(ky, np.int64)
        total, degrees = 0, 0
        for first in range(cell_start[t], cell_start[t + 1], size):
            g2, free, _ = _g2_of_stratum(counts, first, kx, ky, columns, terms, logarithms, unit)
            total += g2
            degrees += free
        statistics[t] = 2.0 * total * unit
        freedom[t] = degrees


@kernel
def x2_tests(
    counts: Array, cell_start: Array, k_x: Array, k_y: Array, unit: float, statistics: Array, freedom: Array
) -> None:
    """Compute Pearson's X2 and the degrees of freedom of each test, from tables as `g2_tests` takes them.

    Each term is rounded to fixed point on its own, in units of `unit`: X2 does not depend on the order of
    strata or states.
    """
    for t in range(len(k_x)):
        kx, ky = k_x[t], k_y[t]
        size = kx * ky
        rows, columns = np.empty(kx, np.int64), np.empty(ky, np.int64)
        total, degrees = 0, 0
        for first in range(cell_start[t], cell_start[t + 1], size):
            cells = counts[first : first + size]
            n_z, rows_used, columns_used = 0, 0, 0
            columns[:] = 0
            for x in range(kx):
                row = 0
                for y in range(ky):
                    row += cells[x * ky + y]
                    columns[y] += cells[x * ky + y]
                rows[x] = row
                n_z += row
                rows_used += row > 0
            if n_z == 0:
                continue
            for y in range(ky):
                columns_used += columns[y] > 0
            degrees += (rows_used - 1) * (columns_used - 1)
            for x in range(kx):
                for y in range(ky):
                    if rows[x] > 0 and columns[y] > 0:
                        expected = rows[x] * columns[y] / n_z
                        gap = cells[x * ky + y] - expected
                        total += int(np.rint(gap * gap / expected / unit))
        statistics[t] = total * unit
        freedom[t] = degrees


@kernel
def tests_until_decided(
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    queries: Array,
    order_start: Array,
    by_size: Array,
    enough: Array,
    least_rows: Array,
    terms: Array,
    logarithms: Array,
    unit: float,
    statistics: Array,
    freedom: Array,
) -> None:
    """Compute G2 as `g2_tests` does, but end each test as soon as it is decided.

    Strata are counted from bit planes and added one after another. No stratum has a negative G2, so a test
    ends, its statistic infinite, as soon as the sum so far is large enough.

    Parameters
    ----------
    planes, plane_start, cardinalities
        As in `data/memory/_kernels.py`.
    queries : (n_tests, width) int64
        The condition, then X, then Y. Tests in sequence with the same X and Y share work.
    order_start, by_size : int64
        The planes of variable v, those with most samples first, are ``by_size[order_start[v]:]``. Large
        strata contribute most of G2, so most tests end after a few of them.
    enough : float64
        Half of a G2, in units, above which a test ends, by the most degrees of freedom that it can have.
    least_rows : (n_tests,) float64
        Number of samples that a test needs; with fewer its statistic is NaN. Where some miss a variable, only
        counting tells: a test does not end before it has seen so many.
    statistics, freedom : (n_tests,) float64 and int64
        Output; `freedom` has only the strata that were counted where the statistic is infinite.

    Notes
    -----
    A stratum has the more degrees of freedom the more states of X and Y occur in it: no more than occur
    together with each variable of the condition. That bounds them without counting, where many tests share X
    and Y. Strata in which X or Y cannot vary are passed over.
    """
    n_tests, width = queries.shape
    n_words, depth = planes.shape[1], width - 2
    widest = 0
    for t in range(n_tests):
        widest = max(widest, max(cardinalities[queries[t, depth]], cardinalities[queries[t, depth + 1]]))
    columns = np.empty(widest, np.int64)
    cells = np.empty(widest * widest, np.int64)
    # joint[a * k_y + b] holds the samples in state a of X and b of Y. masks[level] holds those in the current
    # states of the condition variables before `level`.
    joint = np.empty((widest * widest, n_words), np.uint64)
    masks = np.empty((depth + 1, n_words), np.uint64)
    for w in range(n_words):
        masks[0, w] = ~np.uint64(0)
    state = np.zeros(depth + 1, np.int64)
    # occurs[0, p] has a bit for each state of X that occurs together with the samples of plane by_size[p],
    # occurs[1] for those of Y; `bounds` are degrees of freedom that the strata of a test have at most.
    occurs, bounds = np.empty((2, len(by_size)), np.uint64), np.empty(0, np.int64)
    # `used` lists the variables of the conditions of the tests from `first` on; seen[v] is `first` for these.
    used, seen = np.empty(len(cardinalities), np.int64), np.full(len(cardinalities), -1)
    first = 0
    while first < n_tests:
        x, y = queries[first, depth], queries[first, depth + 1]
        k_x, k_y = cardinalities[x], cardinalities[y]
        last, n_used = first, 0
        while last < n_tests and queries[last, depth] == x and queries[last, depth + 1] == y:
            for level in range(depth):
                v = queries[last, level]
                if seen[v] != first:
                    seen[v], used[n_used] = first, v
                    n_used += 1
            last += 1
        for a in range(k_x):
            for b in range(k_y):
                for w in range(n_words):
                    joint[a * k_y + b, w] = planes[plane_start[x] + a, w] & planes[plane_start[y] + b, w]
        known = depth * (last - first) >= TESTS_PER_OCCURRENCE * n_used
        for i in range(n_used):
            for at in range(order_start[used[i]], order_start[used[i]] + cardinalities[used[i]]):
                occurs[0, at] = _occurring(planes, by_size[at], plane_start[x], k_x, known)
                occurs[1, at] = _occurring(planes, by_size[at], plane_start[y], k_y, known)
        for t in range(first, last):
            query = queries[t]
            n_strata = 1
            for level in range(depth):
                n_strata *= cardinalities[query[level]]
            if n_strata > len(bounds):
                bounds = np.empty(n_strata, np.int64)
            most = 0
            for stratum in range(n_strata):
                in_x, in_y = ~np.uint64(0) >> np.uint64(64 - k_x), ~np.uint64(0) >> np.uint64(64 - k_y)
                for level in range(depth):
                    at = order_start[query[level]] + state[level]
                    in_x &= occurs[0, at]
                    in_y &= occurs[1, at]
                bounds[stratum] = max(popcount(in_x) - 1, 0) * max(popcount(in_y) - 1, 0)
                most += bounds[stratum]
                next_state(state, depth - 1, cardinalities, query)  # after the last it is at the first
            # Masks of levels up to `valid` hold for the current states.
            total, degrees, rows, valid, stratum = 0, 0, 0, 0, 0
            while stratum < n_strata and (total <= enough[degrees + most] or rows < least_rows[t]):
                # Where X or Y do not vary, a stratum adds nothing.
                if bounds[stratum] > 0 or least_rows[t] > 0.0:
                    valid, there = meet(planes, order_start, by_size, query, state, valid, depth, masks)
                    if there > 0:
                        # Bits of a mask beyond the last sample may be set, but not those of `joint`.
                        for cell in range(k_x * k_y):
                            bits = int64(0)
                            for w in range(n_words):
                                bits += popcount(masks[depth, w] & joint[cell, w])
                            cells[cell] = bits
                        g2, free, n_z = _g2_of_stratum(
                            cells, int64(0), k_x, k_y, columns, terms, logarithms, unit
                        )
                        total += g2
                        degrees += free
                        rows += n_z
                most -= bounds[stratum]
                stratum += 1
                valid = min(valid, max(next_state(state, depth - 1, cardinalities, query), 0))
            for level in range(depth):
                state[level] = 0
            statistics[t] = np.inf if total > enough[degrees + most] else 2.0 * total * unit
            if rows < least_rows[t]:
                statistics[t] = np.nan
            freedom[t] = degrees
        first = last


@plain_inner
def _occurring(planes: Array, plane: int, first: int, k: int, known: bool) -> np.uint64:
    """Return as bits which of `k` planes from `first` on share a sample with another; all if not `known`."""
    found = ~np.uint64(0) >> np.uint64(64 - k)
    if known:
        for state in range(k):
            w = 0
            while w < planes.shape[1] and planes[plane, w] & planes[first + state, w] == 0:
                w += 1
            if w == planes.shape[1]:
                found ^= np.uint64(1) << np.uint64(state)
    return found


@kernel
def g2_of_runs(
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    queries: Array,
    least_rows: Array,
    incomplete: bool,
    terms: Array,
    logarithms: Array,
    unit: float,
    statistics: Array,
    freedom: Array,
) -> None:
    """Compute G2 as `g2_tests` does, from bit planes, for runs of tests that differ in Y alone.

    Parameters
    ----------
    planes, plane_start, cardinalities
        As in `data/memory/_kernels.py`.
    queries : (n_tests, width) int64
        The condition, then X, then Y. Tests in sequence with the same condition and X are a run.
    least_rows : (n_tests,) float64
        Number of samples that a test needs; with fewer its statistic is NaN.
    incomplete : bool
        True if samples may miss variables, so that only counting tells how many a test has.
    statistics, freedom : (n_tests,) float64
        Output.

    Notes
    -----
    The samples of a stratum in one state of X are found once for the whole run and counted together in all
    states of all its Y. These are packed as columns, so that the innermost loop runs along them, as in
    `tile_of_pairs` of `data/memory/_kernels.py`.
    """
    n_tests, width = queries.shape
    n_words, depth = planes.shape[1], width - 2
    widest = 0
    for t in range(n_tests):
        widest = max(widest, max(cardinalities[queries[t, depth]], cardinalities[queries[t, depth + 1]]))
    most = max(MOST_PACKED, widest)
    # masks[level] holds the samples in the current states of condition variables before `level`; rows[r]
    # those of them in the r-th state of X that occurs. packed[w, j] is word w of plane j of the run.
    masks = np.empty((depth + 1, n_words), np.uint64)
    rows, row_counts = np.empty((widest, n_words), np.uint64), np.empty(widest, np.int64)
    # If no sample misses a variable, the cells of the last state of Y follow from the others.
    implied = 0 if incomplete else 1
    packed = np.empty((n_words, most), np.uint64)
    counts, columns = np.empty(most, np.int64), np.empty(most, np.int64)
    total, degrees = np.empty(most, np.int64), np.empty(most, np.int64)
    samples, rows_used = np.empty(most, np.int64), np.empty(most, np.int64)
    state, every_plane = np.zeros(depth + 1, np.int64), np.arange(len(planes))
    for w in range(n_words):
        masks[0, w] = ~np.uint64(0)
    first = 0
    while first < n_tests:
        query = queries[first]
        x = query[depth]
        last, n_planes, n_columns = first, 0, 0
        while last < n_tests:
            y = queries[last, depth + 1]
            same = n_columns + cardinalities[y] <= most
            for position in range(depth + 1):
                same = same and queries[last, position] == query[position]
            if not same:
                break
            n_columns += cardinalities[y]
            for b in range(cardinalities[y] - implied):
                for w in range(n_words):
                    packed[w, n_planes] = planes[plane_start[y] + b, w]
                n_planes += 1
            total[last - first], degrees[last - first], samples[last - first] = 0, 0, 0
            last += 1
        size = last - first
        changed = 0
        while changed >= 0:
            level, there = meet(planes, plane_start, every_plane, query, state, changed, depth, masks)
            n_rows = 0
            if there > 0:
                for a in range(cardinalities[x]):
                    bits = int64(0)
                    for w in range(n_words):
                        word = masks[depth, w] & planes[plane_start[x] + a, w]
                        rows[n_rows, w] = word
                        bits += popcount(word)
                    row_counts[n_rows] = bits
                    n_rows += bits > 0
            # A stratum in which X does not vary adds nothing.
            if n_rows > 1 or incomplete:
                for c in range(n_columns):
                    columns[c] = 0
                for t in range(size):
                    rows_used[t] = 0
                for r in range(n_rows):
                    count_columns(rows[r], packed, counts[:n_planes])
                    j, c = 0, 0
                    for t in range(size):
                        row, sum_of_cells = int64(0), 0
                        for _ in range(cardinalities[queries[first + t, depth + 1]] - implied):
                            n = counts[j]
                            sum_of_cells += n_log_n_of(n, terms, logarithms, unit)
                            columns[c] += n
                            row += n
                            j += 1
                            c += 1
                        if implied:
                            n = row_counts[r] - row
                            sum_of_cells += n_log_n_of(n, terms, logarithms, unit)
                            columns[c] += n
                            row = row_counts[r]
                            c += 1
                        total[t] += sum_of_cells - n_log_n_of(row, terms, logarithms, unit)
                        rows_used[t] += row > 0
                c = 0
                for t in range(size):
                    n_z, columns_used = int64(0), 0
                    for _ in range(cardinalities[queries[first + t, depth + 1]]):
                        n = columns[c]
                        total[t] -= n_log_n_of(n, terms, logarithms, unit)
                        columns_used += n > 0
                        n_z += n
                        c += 1
                    total[t] += n_log_n_of(n_z, terms, logarithms, unit)
                    samples[t] += n_z
                    if n_z > 0:
                        degrees[t] += (rows_used[t] - 1) * (columns_used - 1)
            # Configurations without samples are passed over.
            changed = next_state(state, level - 1, cardinalities, query)
        for t in range(size):
            statistics[first + t] = 2.0 * total[t] * unit
            freedom[first + t] = degrees[t]
            if incomplete and samples[t] < least_rows[first + t]:
                statistics[first + t] = np.nan
        first = last
