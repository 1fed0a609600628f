"""Count pairs of variables and keep those that are related.

The formula and the counting are one loop: a pair's table is counted into the cache, turned into its mutual
information there, and forgotten. Sums are in fixed point (`stats/_kernels.py`). `n_log_n` is the table of
n log n for all n up to the number of samples (`LogTable.all_entries`), its last entry N log N.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, inner, int64, kernel
from f2sl.data.memory._kernels import WORDS_PER_BLOCK, occurring_cells, tile_of_pairs

Pairs = tuple[Array, Array, Array]
Workspace = tuple[Array, Array, Array]
Terms = tuple[Array, Array, bool, float, float, Array, Array, bool]
"""See `keep_pairs`."""


@inner
def pair_sums(
    counts: Array, row_margins: Array, column_margins: Array, skip: Array, n_log_n: Array, sums: Array
) -> None:
    """Sum n log n over all cells of each pair's table in a tile.

    Parameters
    ----------
    counts : (height, k_row - 1, k_column - 1, width) int64
        Cells of all states but each variable's last, from `data/memory/_kernels.py`, `tile_of_pairs`.
    row_margins, column_margins : (height, k_row) and (k_column, width) int64
        Counts of each variable's states. The missing cells follow from these and the other cells.
    skip : (height,) int64
        First column that row i is paired with.
    n_log_n : (n_rows of the data + 1,) int64
        Terms of all possible counts: a plain lookup, without the branch of `n_log_n_of`.
    sums : (height, width) int64
        Output; entries before ``skip[i]`` are not written.

    Notes
    -----
    As in `tile_of_pairs`, the innermost loops run along the columns j, through contiguous memory.
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


@inner
def whole_tables(counts: Array, skip: Array, n_log_n: Array, sums: Array) -> None:
    """Sum n log n over the cells, the margins and the total of each pair's table in a tile.

    counts : (height, k_row, k_column, width) int64, all cells, of the samples that have both variables; skip,
    n_log_n : as in `pair_sums`; sums : (4, height, width) int64, output: over cells, rows and columns, and
    the number of samples.
    """
    n_rows, k_row, k_column, n_columns = counts.shape
    row, column = np.empty(n_columns, np.int64), np.empty((k_column, n_columns), np.int64)
    for i in range(n_rows):
        first = skip[i]
        cells, margins, samples = sums[0, i], sums[1, i], sums[3, i]
        for j in range(first, n_columns):
            cells[j], margins[j], samples[j], sums[2, i, j] = 0, 0, 0, 0
            for b in range(k_column):
                column[b, j] = 0
        for a in range(k_row):
            for j in range(first, n_columns):
                row[j] = 0
            for b in range(k_column):
                table, of_column = counts[i, a, b], column[b]
                for j in range(first, n_columns):
                    n = table[j]
                    cells[j] += n_log_n[n]
                    row[j] += n
                    of_column[j] += n
            for j in range(first, n_columns):
                margins[j] += n_log_n[row[j]]
                samples[j] += row[j]
        margins = sums[2, i]
        for b in range(k_column):
            of_column = column[b]
            for j in range(first, n_columns):
                margins[j] += n_log_n[of_column[j]]


@inner
def whole_table_by_codes(
    x: Array, y: Array, k_x: int, k_y: int, n_log_n: Array, table: Array, margins: Array
) -> tuple[int, int, int, int]:
    """Sum as `whole_tables` does for one pair, sample by sample.

    table, margins : (at least k_x * k_y,) and (at least k_x + k_y,) int32, scratch, zeros before and after.
    """
    samples, cells, rows, columns = 0, 0, 0, 0
    for s in range(len(x)):
        if x[s] < k_x and y[s] < k_y:
            table[np.int64(x[s]) * k_y + y[s]] += 1
            margins[x[s]] += 1
            margins[k_x + np.int64(y[s])] += 1
            samples += 1
    # The second walk reads each cell once: after its first sample it is 0, and so is n log n.
    for s in range(len(x)):
        if x[s] < k_x and y[s] < k_y:
            cell, of_y = np.int64(x[s]) * k_y + y[s], k_x + np.int64(y[s])
            cells += n_log_n[table[cell]]
            rows += n_log_n[margins[x[s]]]
            columns += n_log_n[margins[of_y]]
            table[cell], margins[x[s]], margins[of_y] = 0, 0, 0
    return cells, rows, columns, samples


@inner
def is_above(value: float, thresholds: Array, tally: Array) -> bool:
    """Tally a value for each of the rising `thresholds` that it exceeds; return whether these are all.

    thresholds : (steps,) float64, ascending; tally : (steps,) int64, updated in place.
    """
    for step in range(len(thresholds)):
        if not value > thresholds[step]:
            return False
        tally[step] += 1
    return True


@inner
def keep_pairs(
    sums: Array, skip: Array, rows: Array, columns: Array, terms: Terms, tally: Array, found: int, kept: Pairs
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
    terms : tuple
        Inputs of the values, the same for all tiles:

        n_log_n : (n_rows + 1,) int64
            Terms of all counts; the last one is N log N.
        entropies : (n_variables,) int64
            N H of each variable, in fixed point.
        as_su, unit
            True if the values are SU; otherwise the factor from N I in fixed point to the measure wanted.
        least : float
            Minimum of all thresholds. Most pairs are below it, and need no lookup of their own thresholds.
        thresholds : (n_classes, n_classes, steps) float64
            Thresholds of a pair by the classes of its variables, ascending along the last axis.
        classes : (n_variables,) int64
            Class of each variable.
        per_sample : bool
            True if `unit` is a share of all samples, and larger where a pair has fewer.
    tally : (steps,) int64
        Number of pairs above each threshold, updated in place.
    found : int
        Number of pairs written so far.
    kept : tuple of int64, int64 and float64
        First variables, second variables and values of the pairs written so far, with room for all of the
        tile.

    Returns
    -------
    int
        Number of pairs written so far, with those of this tile.
    """
    n_log_n, entropies, as_su, unit, least, thresholds, classes, _ = terms
    log_n = n_log_n[len(n_log_n) - 1]
    first, second, values = kept
    column_entropies = np.empty(len(columns), np.int64)
    for j in range(len(columns)):
        column_entropies[j] = entropies[columns[j]]
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


@inner
def keep_whole(
    sums: Array, skip: Array, rows: Array, columns: Array, terms: Terms, tally: Array, found: int, kept: Pairs
) -> int:
    """Keep pairs as `keep_pairs` does, from what `whole_tables` sums, (4, height, width) int64."""
    n_log_n, _, as_su, unit, _, thresholds, classes, per_sample = terms
    first, second, values = kept
    for i in range(len(rows)):
        for j in range(skip[i], len(columns)):
            samples = sums[3, i, j]
            both = 2 * n_log_n[samples] - sums[1, i, j] - sums[2, i, j]
            information = both - (n_log_n[samples] - sums[0, i, j])
            value = 2.0 * information / max(both, 1) if as_su else information * unit
            if per_sample:
                value *= (len(n_log_n) - 1) / max(samples, 1)
            if is_above(value, thresholds[classes[rows[i]], classes[columns[j]]], tally):
                first[found], second[found], values[found] = rows[i], columns[j], value
                found += 1
    return found


@inner
def _tile(order: Array, tile: Array) -> tuple[Array, Array, Array]:
    """Return the row and the column variables of a tile, and the first column of each row."""
    top, left = tile[0], tile[2]
    rows, columns = order[top : tile[1]], order[left : tile[3]]
    # On the diagonal of the triangle a row is paired only with the places after its own.
    skip = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        skip[i] = min(max(top + i + 1 - left, 0), len(columns))
    return rows, columns, skip


@kernel
def search_tiles(
    planes: Array,
    plane_start: Array,
    margins: Array,
    margin_start: Array,
    cardinalities: Array,
    order: Array,
    tiles: Array,
    terms: Terms,
    begin: int,
    workspace: Workspace,
    tally: Array,
    kept: Pairs,
) -> tuple[int, int]:
    """Count tiles of pairs without gaps by bit planes; keep and tally those above their thresholds.

    One call does many tiles, because every return to Python may have to wait for the GIL.

    Parameters
    ----------
    planes, plane_start, cardinalities
        As in `data/memory/_kernels.py`.
    margins, margin_start : int64
        Counts of all variables' states; those of v begin at ``margin_start[v]``.
    order : (n,) int64
        Variables by number of states; tiles speak of places in it.
    tiles : (n_tiles, 4) int64
        Rows (top, bottom, left, right): places top to bottom against places left to right.
    terms : tuple
        As in `keep_pairs`.
    begin : int
        Number of the first tile to do.
    room : tuple of int64, uint64 and int64
        Scratch for the counts, the packed planes and the sums of the largest tile, viewed in the shape of
        each.
    tally, kept
        As in `keep_pairs`: output.

    Returns
    -------
    tuple of int
        Number of the first tile that is left to do, because `kept` may have no room for it; and of the pairs
        kept.
    """
    count_space, packed_space, sum_space = workspace
    found = int64(0)
    for t in range(begin, len(tiles)):
        rows, columns, skip = _tile(order, tiles[t])
        height, width = len(rows), len(columns)
        if found + height * width > len(kept[2]):
            return t, found
        k_row, k_column = cardinalities[rows[0]], cardinalities[columns[0]]
        inner_rows, inner_columns = k_row - 1, k_column - 1
        row_margins = np.empty((height, k_row), np.int64)
        column_margins = np.empty((k_column, width), np.int64)
        for i in range(height):
            for a in range(k_row):
                row_margins[i, a] = margins[margin_start[rows[i]] + a]
        for b in range(k_column):
            for j in range(width):
                column_margins[b, j] = margins[margin_start[columns[j]] + b]
        shape = (height, inner_rows, inner_columns, width)
        counts = count_space[: height * width * inner_rows * inner_columns].reshape(shape)
        packed_shape = (inner_columns, WORDS_PER_BLOCK, width)
        packed = packed_space[: inner_columns * WORDS_PER_BLOCK * width].reshape(packed_shape)
        sums = sum_space[: height * width].reshape((height, width))
        tile_of_pairs(planes, plane_start, rows, columns, skip, packed, counts)
        pair_sums(counts, row_margins, column_margins, skip, terms[0], sums)
        found = keep_pairs(sums, skip, rows, columns, terms, tally, found, kept)
    return len(tiles), found


@kernel
def search_whole_tiles(
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    order: Array,
    tiles: Array,
    terms: Terms,
    begin: int,
    workspace: Workspace,
    tally: Array,
    kept: Pairs,
) -> tuple[int, int]:
    """Do what `search_tiles` does for pairs with gaps, whose last states' cells follow from no margin."""
    count_space, packed_space, sum_space = workspace
    found = int64(0)
    for t in range(begin, len(tiles)):
        rows, columns, skip = _tile(order, tiles[t])
        height, width = len(rows), len(columns)
        if found + height * width > len(kept[2]):
            return t, found
        k_row, k_column = cardinalities[rows[0]], cardinalities[columns[0]]
        counts = count_space[: height * width * k_row * k_column].reshape((height, k_row, k_column, width))
        packed_shape = (k_column, WORDS_PER_BLOCK, width)
        packed = packed_space[: k_column * WORDS_PER_BLOCK * width].reshape(packed_shape)
        sums = sum_space[: 4 * height * width].reshape((4, height, width))
        tile_of_pairs(planes, plane_start, rows, columns, skip, packed, counts)
        whole_tables(counts, skip, terms[0], sums)
        found = keep_whole(sums, skip, rows, columns, terms, tally, found, kept)
    return len(tiles), found


@kernel
def search_tiles_by_codes(
    codes: Array,
    cardinalities: Array,
    order: Array,
    tiles: Array,
    terms: Terms,
    begin: int,
    workspace: Workspace,
    tally: Array,
    kept: Pairs,
) -> tuple[int, int]:
    """Do what `search_tiles` does for pairs with many states, counting sample by sample.

    codes : (n_variables, n_rows) uint8 or uint16; room : the table of a pair, all zeros before and after, the
    counts of its cells that occur (`occurring_cells`), and sums; all else as in `search_tiles`.
    """
    # The table's counts are int32, which halves the memory that is written at random.
    table, cells, sum_space = workspace
    found = int64(0)
    for t in range(begin, len(tiles)):
        rows, columns, skip = _tile(order, tiles[t])
        height, width = len(rows), len(columns)
        if found + height * width > len(kept[2]):
            return t, found
        sums = sum_space[: height * width].reshape((height, width))
        for i in range(height):
            x, k_x = codes[rows[i]], cardinalities[rows[i]]
            for j in range(skip[i], width):
                y = columns[j]
                total = 0
                for c in range(occurring_cells(x, codes[y], k_x, cardinalities[y], table, cells)):
                    total += terms[0][cells[c]]
                sums[i, j] = total
        found = keep_pairs(sums, skip, rows, columns, terms, tally, found, kept)
    return len(tiles), found


@kernel
def search_whole_tiles_by_codes(
    codes: Array,
    cardinalities: Array,
    order: Array,
    tiles: Array,
    terms: Terms,
    begin: int,
    workspace: Workspace,
    tally: Array,
    kept: Pairs,
) -> tuple[int, int]:
    """Do what `search_tiles_by_codes` does for pairs with gaps.

    room : `table` and `margins` as in `whole_table_by_codes`, and sums.
    """
    table, margins, sum_space = workspace
    found = int64(0)
    for t in range(begin, len(tiles)):
        rows, columns, skip = _tile(order, tiles[t])
        height, width = len(rows), len(columns)
        if found + height * width > len(kept[2]):
            return t, found
        sums = sum_space[: 4 * height * width].reshape((4, height, width))
        for i in range(height):
            x, k_x = codes[rows[i]], cardinalities[rows[i]]
            for j in range(skip[i], width):
                y = columns[j]
                sums[0, i, j], sums[1, i, j], sums[2, i, j], sums[3, i, j] = whole_table_by_codes(
                    x, codes[y], k_x, cardinalities[y], terms[0], table, margins
                )
        found = keep_whole(sums, skip, rows, columns, terms, tally, found, kept)
    return len(tiles), found
