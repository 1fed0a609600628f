"""Compute statistics from contingency tables.

Sums are made in *fixed point*: each term is divided by a power of two, its *unit*, and rounded
to a 64-bit integer before it is added. Integer sums do not depend on their order, so a
statistic is the same to the last bit however rows, states, columns or threads are
arranged. Callers choose the unit so small that rounding does not matter, and so large that no
sum overflows 64 bits. For entropies the terms n log n come ready from a table
(`stats/information.py`, `LogTable`), and no logarithm is taken in a loop.

Three arrays belong together wherever n log n is needed:

terms : (min(n_rows + 1, 2^20),) int64
    n log n in units, for n = 0, 1, 2, ... (0 for n = 0).
logarithms : (2^16,) float64
    Natural logarithms, from which `n_log_n_of` computes the terms of larger n.
unit (or log_unit) : float
    Value of one unit in nats.

Batches of tables come as `counts`, `group_start`, `first_group` and `n_groups`, all int64, laid out as
`counting/protocol.py`, `Tables` describes.
"""

from __future__ import annotations

import math

import numpy as np

from f2sl._jit import Array, kernel, popcount
from f2sl.storage.memory._kernels import WORDS_PER_BLOCK, count_pairs, occurring_cells

UNKNOWN = -(2**63)
"""Marks a value in fixed point that has not been computed."""

LEAST = -(2**62)
"""Lower bound of values in fixed point; marks such as `UNKNOWN` are below it.

Half the range of an int64, so that the sum of two values that are not below it cannot overflow.
"""

LOG_2 = math.log(2.0)

LARGEST_EXACT = 2**53
"""Up to this number every whole number is exact as a float."""


@kernel
def n_log_n_of(n: int, terms: Array, logarithms: Array, unit: float) -> int:
    """Return n log n in fixed point: looked up in `terms` for small n, computed for others.

    A table of all n would not fit into memory with billions of samples, and `math.log` may differ in
    the last bit between compiled and plain code. So the logarithm of n is that of its leading 16 bits,
    from `logarithms`, plus a short series for the rest: additions and multiplications give the same bits
    everywhere.
    """
    if n < len(terms):
        return int(terms[n])
    # n = 2^shift * high * (1 + x) with 2^15 <= high < 2^16, so x < 2^-15. The series of log(1 + x) ends after
    # x^4: what is left out is below 2^-77, less than a float near log n can hold.
    high, shift = n, 0
    while high >= len(logarithms):
        high >>= 1
        shift += 1
    x = (n - (high << shift)) / (high << shift)
    series = x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 3.0 - x / 4.0)))
    return int(np.rint(n * (logarithms[high] + (shift * LOG_2 + series)) / unit))


@kernel
def terms_of(counts: Array, terms: Array, logarithms: Array, unit: float, found: Array) -> None:
    """Write n log n of each of `counts` into `found`, both (n,) int64."""
    for i in range(len(counts)):
        found[i] = n_log_n_of(counts[i], terms, logarithms, unit)


@kernel
def pair_sums(
    counts: Array, row_margins: Array, column_margins: Array, skip: Array, n_log_n: Array, sums: Array
) -> None:
    """Sum n log n over all cells of each pair's table in a tile.

    Parameters
    ----------
    counts : (height, k_row - 1, k_column - 1, width) int64
        Cells of all states but each variable's last, from `counting/_kernels.py`, `count_pairs`.
    row_margins, column_margins : (height, k_row) and (k_column, width) int64
        Counts of each variable's states. The missing cells are what the others leave of these.
    skip : (height,) int64
        First column that row i is paired with.
    n_log_n : (n_rows of the data + 1,) int64
        Terms of all counts that there can be: a plain lookup, without the branch of `n_log_n_of`.
    sums : (height, width) int64
        Output; entries before ``skip[i]`` are not written.

    Notes
    -----
    As in `count_pairs`, the innermost loops run along the columns j, through contiguous memory.
    """
    n_rows, inner_rows, inner_columns, n_columns = counts.shape
    # row_rest[j] is what is left of the margin of state a of row i, hence its cell with the column's last
    # state; column_rest[b, j] is what is left of the margin of state b of column j, hence its cell with the
    # row's last state. column_rest[inner_columns] ends as the cell of both last states.
    row_rest = np.empty(n_columns, np.int64)
    column_rest = np.empty((inner_columns + 1, n_columns), np.int64)
    for i in range(n_rows):
        first = skip[i]
        total = sums[i][first:]
        width = len(total)
        for j in range(width):
            total[j] = 0
        for b in range(inner_columns + 1):
            margin, rest = column_margins[b][first:], column_rest[b]
            for j in range(width):
                rest[j] = margin[j]
        last_rest = column_rest[inner_columns]
        for a in range(inner_rows):
            for j in range(width):
                row_rest[j] = row_margins[i, a]
            for b in range(inner_columns):
                cells, rest = counts[i, a, b][first:], column_rest[b]
                for j in range(width):
                    n = cells[j]
                    row_rest[j] -= n
                    rest[j] -= n
                    total[j] += n_log_n[n]
            for j in range(width):
                n = row_rest[j]
                last_rest[j] -= n
                total[j] += n_log_n[n]
        for b in range(inner_columns + 1):
            rest = column_rest[b]
            for j in range(width):
                total[j] += n_log_n[rest[j]]


@kernel
def is_above(value: float, thresholds: Array, tally: Array) -> bool:
    """Tally a value for each of the rising `thresholds` that it exceeds; return whether these are all.

    thresholds : (steps,) float64, ascending; tally : (steps,) int64, updated in place.
    """
    for step in range(len(thresholds)):
        if not value > thresholds[step]:
            return False
        tally[step] += 1
    return True


@kernel
def keep_pairs(
    sums: Array,
    skip: Array,
    rows: Array,
    columns: Array,
    entropies: Array,
    log_n: int,
    as_su: bool,
    unit: float,
    least: float,
    thresholds: Array,
    classes: Array,
    tally: Array,
    found: int,
    first: Array,
    second: Array,
    values: Array,
) -> int:
    """Keep the pairs of a tile whose SU (or information, times `unit`) exceeds their last threshold.

    I = H(X) + H(Y) - H(X, Y), and N H(X, Y) is N log N less the sum of n log n over the cells.

    Parameters
    ----------
    sums : (height, width) int64
        Sums of n log n over the cells of each pair, from `pair_sums`.
    skip : (height,) int64
        First column that row i is paired with.
    rows, columns : (height,) and (width,) int64
        Variables of the tile.
    entropies : (n_variables,) int64
        N H of each variable, in fixed point.
    log_n : int
        N log N in fixed point.
    as_su, unit
        Whether the values are SU, or else the factor from N I in fixed point to the measure wanted.
    least : float
        Minimum of all thresholds. Most pairs are below it, and need no lookup of their own thresholds.
    thresholds : (n_classes, n_classes, steps) float64
        Thresholds of a pair by the classes of its variables, ascending along the last axis.
    classes : (n_variables,) int64
        Class of each variable.
    tally : (steps,) int64
        Number of pairs above each threshold, updated in place.
    found : int
        Number of pairs written so far.
    first, second, values : int64, int64, float64
        Output: the pairs kept, from place `found` on. There must be room for all pairs of the tile.

    Returns
    -------
    int
        Number of pairs written so far, with those of this tile.
    """
    column_entropies = entropies[columns]
    for i in range(len(rows)):
        x, own = rows[i], entropies[rows[i]]
        cells, others, ys = sums[i][skip[i] :], column_entropies[skip[i] :], columns[skip[i] :]
        for j in range(len(cells)):
            both = own + others[j]
            # Exact, as a difference of integers; only the division below is rounded.
            information = both - (log_n - cells[j])
            value = 2.0 * information / max(both, 1) if as_su else information * unit
            if value > least and is_above(value, thresholds[classes[x], classes[ys[j]]], tally):
                first[found], second[found], values[found] = x, ys[j], value
                found += 1
    return found


@kernel
def _room(pairs: int) -> tuple[Array, Array, Array]:
    """Allocate room for pairs: their first and second variables, and their values."""
    return np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs, np.float64)


@kernel
def _with_more_room(first: Array, second: Array, values: Array, more: int) -> tuple[Array, Array, Array]:
    """Copy what `_room` made into arrays with room for `more` further pairs."""
    a, b, c = _room(more)
    return np.concatenate((first, a)), np.concatenate((second, b)), np.concatenate((values, c))


@kernel
def search_tiles(
    planes: Array,
    plane_start: Array,
    margins: Array,
    margin_start: Array,
    cardinalities: Array,
    order: Array,
    tiles: Array,
    n_log_n: Array,
    entropies: Array,
    as_su: bool,
    unit: float,
    thresholds: Array,
    classes: Array,
) -> tuple[Array, Array, Array, Array]:
    """Count tiles of pairs by bit planes; keep and tally those above their thresholds.

    One call does many tiles, because every return to Python may have to wait for the GIL.

    Parameters
    ----------
    planes, plane_start, cardinalities
        As in `counting/_kernels.py`.
    margins, margin_start : int64
        Counts of all variables' states; those of v begin at ``margin_start[v]``.
    order : (n,) int64
        Variables by number of states; tiles speak of places in it.
    tiles : (n_tiles, 4) int64
        Rows (top, bottom, left, right): places top to bottom against places left to right.
    n_log_n : (n_rows + 1,) int64
        Terms of all counts; the last one is N log N.
    entropies, as_su, unit, thresholds, classes
        As in `keep_pairs`.

    Returns
    -------
    tuple
        First variables, second variables and values of the pairs kept, and the tally.
    """
    # Scratch memory is allocated once, for the largest tile, and viewed in the shape of each tile.
    most_cells, most_packed, most_pairs = 1, 1, 1
    for t in range(len(tiles)):
        top, bottom, left, right = tiles[t]
        inner_rows, inner_columns = cardinalities[order[top]] - 1, cardinalities[order[left]] - 1
        pairs = (bottom - top) * (right - left)
        most_pairs = max(most_pairs, pairs)
        most_cells = max(most_cells, pairs * inner_rows * inner_columns)
        most_packed = max(most_packed, inner_columns * WORDS_PER_BLOCK * (right - left))
    count_room = np.empty(most_cells, np.int64)
    packed_room = np.empty(most_packed, np.uint64)
    sum_room = np.empty(most_pairs, np.int64)
    log_n = n_log_n[len(n_log_n) - 1]
    first, second, values = _room(most_pairs)
    tally, least = np.zeros(thresholds.shape[2], np.int64), thresholds.min()
    found = 0
    for t in range(len(tiles)):
        top, bottom, left, right = tiles[t]
        rows, columns = order[top:bottom], order[left:right]
        k_row, k_column = cardinalities[rows[0]], cardinalities[columns[0]]
        height, width = len(rows), len(columns)
        row_margins = np.empty((height, k_row), np.int64)
        column_margins = np.empty((k_column, width), np.int64)
        # On the diagonal of the triangle a row is paired only with the places after its own.
        skip = np.empty(height, np.int64)
        for i in range(height):
            skip[i] = min(max(top + i + 1 - left, 0), width)
            for a in range(k_row):
                row_margins[i, a] = margins[margin_start[rows[i]] + a]
        for b in range(k_column):
            for j in range(width):
                column_margins[b, j] = margins[margin_start[columns[j]] + b]
        inner = (height, k_row - 1, k_column - 1, width)
        counts = count_room[: height * width * (k_row - 1) * (k_column - 1)].reshape(inner)
        packed_shape = (k_column - 1, WORDS_PER_BLOCK, width)
        packed = packed_room[: (k_column - 1) * WORDS_PER_BLOCK * width].reshape(packed_shape)
        sums = sum_room[: height * width].reshape((height, width))
        count_pairs(planes, plane_start[rows], plane_start[columns], skip, packed, counts)
        pair_sums(counts, row_margins, column_margins, skip, n_log_n, sums)
        # Before each tile there is room for all of its pairs, so that `keep_pairs` need not check; it grows
        # by doubling.
        if found + height * width > len(values):
            first, second, values = _with_more_room(first, second, values, max(found, most_pairs))
        found = keep_pairs(
            sums,
            skip,
            rows,
            columns,
            entropies,
            log_n,
            as_su,
            unit,
            least,
            thresholds,
            classes,
            tally,
            found,
            first,
            second,
            values,
        )
    return first[:found].copy(), second[:found].copy(), values[:found].copy(), tally


@kernel
def search_tiles_by_codes(
    codes: Array,
    cardinalities: Array,
    order: Array,
    tiles: Array,
    n_log_n: Array,
    entropies: Array,
    as_su: bool,
    unit: float,
    thresholds: Array,
    classes: Array,
) -> tuple[Array, Array, Array, Array]:
    """Do what `search_tiles` does for pairs with many states, counting sample by sample.

    codes : (n_variables, n_rows) uint8 or uint16; all else as in `search_tiles`.
    """
    # `table` is all zeros before and after each pair (`occurring_cells`). Its counts are int32, which halves
    # the memory that is written at random.
    most_cells, most_pairs = 1, 1
    for t in range(len(tiles)):
        top, bottom, left, right = tiles[t]
        most_cells = max(most_cells, cardinalities[order[top]] * cardinalities[order[left]])
        most_pairs = max(most_pairs, (bottom - top) * (right - left))
    table = np.zeros(most_cells, np.int32)
    cells = np.empty(codes.shape[1] + 1, np.int64)
    log_n = n_log_n[len(n_log_n) - 1]
    first, second, values = _room(most_pairs)
    tally, least = np.zeros(thresholds.shape[2], np.int64), thresholds.min()
    found = 0
    for t in range(len(tiles)):
        top, bottom, left, right = tiles[t]
        rows, columns = order[top:bottom], order[left:right]
        height, width = len(rows), len(columns)
        sums = np.empty((height, width), np.int64)
        skip = np.empty(height, np.int64)
        for i in range(height):
            skip[i] = min(max(top + i + 1 - left, 0), width)
            for j in range(skip[i], width):
                x, y = rows[i], columns[j]
                occurring = occurring_cells(
                    codes[x], codes[y], cardinalities[x], cardinalities[y], table, cells
                )
                total = 0
                for c in range(occurring):
                    total += n_log_n[cells[c]]
                sums[i, j] = total
        if found + height * width > len(values):
            first, second, values = _with_more_room(first, second, values, max(found, most_pairs))
        found = keep_pairs(
            sums,
            skip,
            rows,
            columns,
            entropies,
            log_n,
            as_su,
            unit,
            least,
            thresholds,
            classes,
            tally,
            found,
            first,
            second,
            values,
        )
    return first[:found].copy(), second[:found].copy(), values[:found].copy(), tally


@kernel
def table_sums(
    counts: Array,
    group_start: Array,
    first_group: Array,
    n_groups: Array,
    terms: Array,
    logarithms: Array,
    unit: float,
    cell_sums: Array,
    group_sums: Array,
) -> None:
    """Sum n log n over the cells, and over the group totals, of each table of a batch.

    cell_sums, group_sums : (n_tables,) int64, output in fixed point.
    """
    for t in range(len(n_groups)):
        cells, groups = 0, 0
        for g in range(first_group[t], first_group[t] + n_groups[t]):
            total = 0
            for c in range(group_start[g], group_start[g + 1]):
                n = counts[c]
                total += n
                cells += n_log_n_of(n, terms, logarithms, unit)
            groups += n_log_n_of(total, terms, logarithms, unit)
        cell_sums[t] = cells
        group_sums[t] = groups


@kernel
def _g2_of_stratum(
    counts: Array, k_x: int, k_y: int, columns: Array, terms: Array, logarithms: Array, log_unit: float
) -> tuple[int, int, int]:
    """Return half of G2 in fixed point, degrees of freedom, and number of samples of one stratum.

    Half of G2 is the sum of n log n over the cells, less those over rows and columns, plus that of the total.
    Being a sum of integers it is exact but for the rounding of each term: of exactly independent variables
    it may come out as some units above or below 0.

    counts : (k_x * k_y,) int64, the cells by state of X, then of Y; columns : (at least k_y,) int64, output,
    the sums over X for each state of Y.
    """
    n_z, rows_used, columns_used, total = 0, 0, 0, 0
    columns[:k_y] = 0
    for x in range(k_x):
        row = 0
        for y in range(k_y):
            n = counts[x * k_y + y]
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
def stratified_tests(
    counts: Array,
    cell_start: Array,
    k_x: Array,
    k_y: Array,
    chi_squared: bool,
    terms: Array,
    logarithms: Array,
    log_unit: float,
    unit: float,
    statistics: Array,
    freedom: Array,
) -> None:
    """Compute G2 (or Pearson's X2) and the degrees of freedom of each test: sums over its strata.

    A stratum counts (non-empty rows - 1) (non-empty columns - 1) degrees of freedom.

    Parameters
    ----------
    counts, cell_start : int64
        The full tables: test t has the cells ``cell_start[t]`` to ``cell_start[t + 1]``, by stratum, then by
        state of X, then by state of Y.
    k_x, k_y : (n_tests,) int64
        Numbers of states of X and Y.
    chi_squared : bool
        Whether to compute X2 instead of G2.
    log_unit, unit : float
        Units of `terms`, and of the statistic's sum. They are the same for G2; X2 has one of its own.
    statistics, freedom : (n_tests,) float64 and int64
        Output.
    """
    for t in range(len(k_x)):
        kx, ky = k_x[t], k_y[t]
        size = kx * ky
        columns = np.empty(ky, np.int64)
        total, degrees = 0, 0
        for first in range(cell_start[t], cell_start[t + 1], size):
            cells = counts[first : first + size]
            g2, free, n_z = _g2_of_stratum(cells, kx, ky, columns, terms, logarithms, log_unit)
            degrees += free
            if not chi_squared:
                total += g2
                continue
            # Each term is rounded to fixed point on its own: X2 does not depend on the order of strata or
            # states.
            for x in range(kx):
                row = 0
                for y in range(ky):
                    row += cells[x * ky + y]
                for y in range(ky):
                    if row > 0 and columns[y] > 0:
                        expected = row * columns[y] / n_z
                        gap = cells[x * ky + y] - expected
                        total += int(np.rint(gap * gap / expected / unit))
        statistics[t] = total * unit if chi_squared else 2.0 * total * unit
        freedom[t] = degrees


@kernel
def tests_until_decided(
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    variables: Array,
    query_start: Array,
    margin_start: Array,
    by_size: Array,
    enough: Array,
    terms: Array,
    logarithms: Array,
    unit: float,
    statistics: Array,
    freedom: Array,
) -> None:
    """Compute G2 as `stratified_tests` does, but end each test as soon as it is decided.

    X and Y are the last two variables of each query, the others are the condition. Strata are counted from
    bit planes and added one after another. No stratum has a negative G2, so a test ends, its statistic
    infinite, as soon as the sum so far is large enough.

    Parameters
    ----------
    planes, plane_start, cardinalities
        As in `counting/_kernels.py`.
    variables, query_start : int64
        Query t is ``variables[query_start[t]:query_start[t + 1]]``: the condition, then X, then Y.
    margin_start, by_size : int64
        The states of variable v, those with most samples first, are ``by_size[margin_start[v]:]``. Large
        strata contribute most of G2, so most tests end after a few of them.
    enough : (n_tests,) float64
        Half of a G2, in units, above which a test ends.
    statistics, freedom : (n_tests,) float64 and int64
        Output; `freedom` has only the strata that were counted where the statistic is infinite.
    """
    n_words = planes.shape[1]
    longest, widest = 0, 0
    for t in range(len(enough)):
        longest = max(longest, query_start[t + 1] - query_start[t])
    for v in variables:
        widest = max(widest, cardinalities[v])
    masks = np.empty((longest, n_words), np.uint64)
    columns = np.empty(widest, np.int64)
    cells = np.empty(widest * widest, np.int64)
    # joint[a * k_y + b] holds the samples in state a of X and b of Y. It is kept for the next query, which
    # often has the same two: a cell of a stratum is then one AND, whatever the size of the condition.
    joint = np.empty((widest * widest, n_words), np.uint64)
    last_x, last_y = -1, -1
    state = np.empty(longest, np.int64)
    for t in range(len(enough)):
        query = variables[query_start[t] : query_start[t + 1]]
        depth = len(query) - 2
        x, y = query[depth], query[depth + 1]
        k_x, k_y = cardinalities[x], cardinalities[y]
        if x != last_x or y != last_y:
            for a in range(k_x):
                for b in range(k_y):
                    for w in range(n_words):
                        joint[a * k_y + b, w] = planes[plane_start[x] + a, w] & planes[plane_start[y] + b, w]
            last_x, last_y = x, y
        # Bits beyond the last sample are set here, but not in `joint`.
        state[:] = 0
        masks[0] = ~np.uint64(0)
        total, degrees, changed = 0, 0, 0
        while changed >= 0 and total <= enough[t]:
            # masks[level + 1] holds the samples in the current states of condition variables 0 to level. As
            # in `_count_by_planes`, `state` is an odometer, and masks before the digit that changed still
            # hold.
            for level in range(changed, depth):
                v = query[level]
                plane = plane_start[v] + by_size[margin_start[v] + state[level]]
                for w in range(n_words):
                    masks[level + 1, w] = masks[level, w] & planes[plane, w]
            for cell in range(k_x * k_y):
                bits = 0
                for w in range(n_words):
                    bits += popcount(masks[depth, w] & joint[cell, w])
                cells[cell] = bits
            g2, free, _ = _g2_of_stratum(cells, k_x, k_y, columns, terms, logarithms, unit)
            total += g2
            degrees += free
            changed = depth - 1
            while changed >= 0:
                state[changed] += 1
                if state[changed] < cardinalities[query[changed]]:
                    break
                state[changed] = 0
                changed -= 1
        statistics[t] = np.inf if total > enough[t] else 2.0 * total * unit
        freedom[t] = degrees


@kernel
def dirichlet_scores(
    counts: Array,
    group_start: Array,
    first_group: Array,
    n_groups: Array,
    cell_priors: Array,
    group_priors: Array,
    unit: float,
    scores: Array,
) -> None:
    """Compute the log marginal likelihood of each family under Dirichlet priors (BDeu, K2).

    Each group of a table holds the counts of the child's states for one configuration
    of the parents; configurations and states that do not occur contribute nothing, so tables
    may leave them out.

    cell_priors, group_priors : (n_tables,) float64, prior counts of a cell and of a group; scores :
    (n_tables,) float64, output in nats.
    """
    for t in range(len(n_groups)):
        cell_prior, group_prior = cell_priors[t], group_priors[t]
        cell_base, group_base = math.lgamma(cell_prior), math.lgamma(group_prior)
        total = 0
        for g in range(first_group[t], first_group[t] + n_groups[t]):
            group = 0
            for c in range(group_start[g], group_start[g + 1]):
                n = counts[c]
                if n > 0:
                    group += n
                    total += int(np.rint((math.lgamma(cell_prior + n) - cell_base) / unit))
            if group > 0:
                total += int(np.rint((group_base - math.lgamma(group_prior + group)) / unit))
        scores[t] = total * unit


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
    priors : (n_tables,) float64
        Prior count of a cell of each table.
    memory : (n_priors, counts kept) int64
        Terms of small counts for each distinct prior, all `UNKNOWN` at first: a table has many cells, but
        few different counts, and lgamma is the slow part.
    memory_of : (n_tables,) int64
        Row of `memory` for each table; tables with the same prior share one.
    sums : (n_tables, 2) float64
        Output: the sum in units, a whole number below 2^53, and the number of cells that are not empty.
    """
    kept = memory.shape[1]
    for t in range(len(n_groups)):
        prior, terms = priors[t], memory[memory_of[t]]
        first = group_start[first_group[t]]
        last = group_start[first_group[t] + n_groups[t]]
        base = math.lgamma(prior)
        # Groups do not matter here: the cells of a table are contiguous. Empty cells contribute nothing.
        terms[0] = 0
        total, occupied = 0, 0
        for c in range(first, last):
            n = counts[c]
            occupied += n > 0
            if n < kept and terms[n] != UNKNOWN:
                total += terms[n]
                continue
            term = int(np.rint((math.lgamma(prior + n) - base) / unit))
            total += term
            if n < kept:
                terms[n] = term
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
# The arrays of a tree, owned by `stats/set_scores.py`, `_SetTree`:
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


@kernel
def _slot_of(keys: Array, key: int) -> int:
    """Find the slot of the hash table in which a key is, or is to be put (linear probing)."""
    # Both halves of the key are mixed into 32 bits, and the factor is below 2^31: the product fits into 63
    # bits.
    last = len(keys) - 1
    slot = ((((key ^ (key >> 31)) & 0xFFFFFFFF) * 0x5BD1E995) >> 20) & last
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@kernel
def _child(keys: Array, nodes: Array, parents: Array, smallest: Array, used: int, node: int, v: int) -> int:
    """Return the node of the set of `node` with `v`, smaller than all its members, added.

    A new node gets the number `used`; the caller has to increase `used` then.
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
