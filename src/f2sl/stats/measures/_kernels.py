"""Count pairs of variables and keep those that are related.

The formula and the counting are one loop: a pair's table is counted into the cache, turned into its mutual
information there, and forgotten. Sums are in fixed point (`stats/_kernels.py`). `n_log_n` is the table of
n log n for all n up to the number of samples (`LogTable.all_entries`), its last entry N log N.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, inner, int64, kernel
from f2sl.data.memory._kernels import WORDS_PER_BLOCK, occurring_cells, tile_of_pairs

Data = tuple[Array, ...]
Tile = tuple[Array, Array, Array]
Walk = tuple[Array, Array, Array, int]
Output = tuple[Array, Array, Array, Array]
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
def keep_pairs(sums: Array, tile: Tile, terms: Terms, found: int, out: Output) -> int:
    """Keep the pairs of a tile whose SU (or information, times `unit`) exceeds their last threshold.

    I = H(X) + H(Y) - H(X, Y), and N H(X, Y) is N log N less the sum of n log n over the cells.

    Parameters
    ----------
    sums : (1, height, width) int64
        Sums of n log n over the cells of each pair, from `pair_sums`.
    tile : tuple of (height,), (width,) and (height,) int64
        Row and column variables, and the first column that each row is paired with.
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
    found : int
        Number of pairs written so far.
    out : tuple
        Output: number of pairs above each threshold, (steps,) int64, updated in place; first variables,
        second variables and values of the pairs written so far, int64, int64 and float64, with room for all
        of the tile.

    Returns
    -------
    int
        Number of pairs written so far, with those of this tile.
    """
    rows, columns, skip = tile
    n_log_n, entropies, as_su, unit, least, thresholds, classes, _ = terms
    tally, first, second, values = out
    log_n = n_log_n[len(n_log_n) - 1]
    column_entropies = np.empty(len(columns), np.int64)
    for j in range(len(columns)):
        column_entropies[j] = entropies[columns[j]]
    for i in range(len(rows)):
        x, own = rows[i], entropies[rows[i]]
        cells, others, ys = sums[0, i][skip[i] :], column_entropies[skip[i] :], columns[skip[i] :]
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
def keep_whole(sums: Array, tile: Tile, terms: Terms, found: int, out: Output) -> int:
    """Keep pairs as `keep_pairs` does, from what `whole_tables` sums, (4, height, width) int64."""
    rows, columns, skip = tile
    n_log_n, _, as_su, unit, _, thresholds, classes, per_sample = terms
    tally, first, second, values = out
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
def _tile(order: Array, tile: Array) -> Tile:
    """Return the row and the column variables of a tile, and the first column of each row."""
    top, left = tile[0], tile[2]
    rows, columns = order[top : tile[1]], order[left : tile[3]]
    # On the diagonal of the triangle a row is paired only with the positions after its own.
    skip = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        skip[i] = min(max(top + i + 1 - left, 0), len(columns))
    return rows, columns, skip


@inner
def _by_planes(
    data: Data, states: Array, tile: Tile, n_log_n: Array, workspace: Workspace, sums: Array
) -> None:
    """Sum up a tile of pairs without gaps, from all states but the last.

    data : planes, plane_start as in `data/memory/_kernels.py`, and margins, margin_start, int64, counts of
    all variables' states, those of v from ``margin_start[v]`` on. room : counts, int64, and packed planes.
    """
    rows, columns, skip = tile
    planes, plane_start, margins, margin_start = data
    k_row, k_column = states[rows[0]], states[columns[0]]
    row_margins = np.empty((len(rows), k_row), np.int64)
    column_margins = np.empty((k_column, len(columns)), np.int64)
    for i in range(len(rows)):
        for a in range(k_row):
            row_margins[i, a] = margins[margin_start[rows[i]] + a]
    for b in range(k_column):
        for j in range(len(columns)):
            column_margins[b, j] = margins[margin_start[columns[j]] + b]
    counts = _counted(planes, plane_start, tile, k_row - 1, k_column - 1, workspace)
    pair_sums(counts, row_margins, column_margins, skip, n_log_n, sums[0])


@inner
def _whole_by_planes(
    data: Data, states: Array, tile: Tile, n_log_n: Array, workspace: Workspace, sums: Array
) -> None:
    """Sum up a tile of pairs with gaps, whose last states' cells follow from no margin; as `_by_planes`."""
    rows, columns, skip = tile
    k_row, k_column = states[rows[0]], states[columns[0]]
    counts = _counted(data[0], data[1], tile, k_row, k_column, workspace)
    whole_tables(counts, skip, n_log_n, sums)


@inner
def _counted(
    planes: Array, plane_start: Array, tile: Tile, k_row: int, k_column: int, workspace: Workspace
) -> Array:
    """Count the first states of the rows and columns of a tile, as `tile_of_pairs` does."""
    rows, columns, skip = tile
    height, width = len(rows), len(columns)
    counts = workspace[0][: height * width * k_row * k_column].reshape((height, k_row, k_column, width))
    packed_shape = (k_column, WORDS_PER_BLOCK, width)
    packed = workspace[1][: k_column * WORDS_PER_BLOCK * width].reshape(packed_shape)
    tile_of_pairs(planes, plane_start, rows, columns, skip, packed, counts)
    return counts


@inner
def _by_codes(
    data: Data, states: Array, tile: Tile, n_log_n: Array, workspace: Workspace, sums: Array
) -> None:
    """Sum up a tile of pairs with many states, counted sample by sample.

    data : the codes, (n_variables, n_rows) uint8 or uint16. room : the table of a pair, all zeros before and
    after, of int32, which halves the memory that is written at random; the counts of its cells that occur.
    """
    rows, columns, skip = tile
    table, cells, _ = workspace
    for i in range(len(rows)):
        x, k_x = data[0][rows[i]], states[rows[i]]
        for j in range(skip[i], len(columns)):
            y = columns[j]
            total = 0
            for c in range(occurring_cells(x, data[0][y], k_x, states[y], table, cells)):
                total += n_log_n[cells[c]]
            sums[0, i, j] = total


@inner
def _whole_by_codes(
    data: Data, states: Array, tile: Tile, n_log_n: Array, workspace: Workspace, sums: Array
) -> None:
    """Sum up a tile of pairs with many states and gaps; room : as in `whole_table_by_codes`."""
    rows, columns, skip = tile
    table, margins, _ = workspace
    for i in range(len(rows)):
        x, k_x = data[0][rows[i]], states[rows[i]]
        for j in range(skip[i], len(columns)):
            y = columns[j]
            sums[0, i, j], sums[1, i, j], sums[2, i, j], sums[3, i, j] = whole_table_by_codes(
                x, data[0][y], k_x, states[y], n_log_n, table, margins
            )


@inner
def _fits(tile: Array, found: int, out: Output) -> bool:
    """Return whether there is room for all pairs of a tile."""
    return bool(found + (tile[1] - tile[0]) * (tile[3] - tile[2]) <= len(out[3]))


@inner
def _sums(tile: Tile, parts: int, workspace: Workspace) -> Array:
    """Return the last of the scratch arrays in the shape of `parts` sums for each pair of a tile."""
    shape = parts, len(tile[0]), len(tile[1])
    return workspace[2][: parts * len(tile[0]) * len(tile[1])].reshape(shape)


# One kernel for each way to count, and not one for all: a run compiles only those that its table needs, which
# takes a second each.


@kernel
def search_tiles(data: Data, walk: Walk, terms: Terms, workspace: Workspace, out: Output) -> tuple[int, int]:
    """Sum up tiles of pairs without gaps by bit planes; keep and tally those above their thresholds.

    One call does many tiles, because every return to Python may have to wait for the GIL.

    Parameters
    ----------
    data : tuple
        Arrays with the samples, as in `_by_planes`.
    walk : tuple
        Numbers of states, (n_variables,) int64; the variables by number of states, (n,) int64; tiles of
        positions among these, (n_tiles, 4) int64, rows (top, bottom, left, right): positions top to bottom
        against positions left to right; and the number of the first tile to do.
    terms : tuple
        As in `keep_pairs`.
    room : tuple
        Scratch memory: two arrays as in `_by_planes`, and one for the sums of the largest tile.
    out : tuple
        As in `keep_pairs`: output.

    Returns
    -------
    tuple of int
        Number of the first tile that is left to do, because there may be no room for it; and of the pairs
        kept.
    """
    (states, order, tiles, t), found = walk, int64(0)
    while t < len(tiles) and _fits(tiles[t], found, out):
        tile = _tile(order, tiles[t])
        sums = _sums(tile, 1, workspace)
        _by_planes(data, states, tile, terms[0], workspace, sums)
        found = keep_pairs(sums, tile, terms, found, out)
        t += 1
    return t, found


@kernel
def search_whole_tiles(
    data: Data, walk: Walk, terms: Terms, workspace: Workspace, out: Output
) -> tuple[int, int]:
    """Do what `search_tiles` does for pairs with gaps."""
    (states, order, tiles, t), found = walk, int64(0)
    while t < len(tiles) and _fits(tiles[t], found, out):
        tile = _tile(order, tiles[t])
        sums = _sums(tile, 4, workspace)
        _whole_by_planes(data, states, tile, terms[0], workspace, sums)
        found = keep_whole(sums, tile, terms, found, out)
        t += 1
    return t, found


@kernel
def search_tiles_by_codes(
    data: Data, walk: Walk, terms: Terms, workspace: Workspace, out: Output
) -> tuple[int, int]:
    """Do what `search_tiles` does for pairs with many states, counting sample by sample."""
    (states, order, tiles, t), found = walk, int64(0)
    while t < len(tiles) and _fits(tiles[t], found, out):
        tile = _tile(order, tiles[t])
        sums = _sums(tile, 1, workspace)
        _by_codes(data, states, tile, terms[0], workspace, sums)
        found = keep_pairs(sums, tile, terms, found, out)
        t += 1
    return t, found


@kernel
def search_whole_tiles_by_codes(
    data: Data, walk: Walk, terms: Terms, workspace: Workspace, out: Output
) -> tuple[int, int]:
    """Do what `search_tiles_by_codes` does for pairs with gaps."""
    (states, order, tiles, t), found = walk, int64(0)
    while t < len(tiles) and _fits(tiles[t], found, out):
        tile = _tile(order, tiles[t])
        sums = _sums(tile, 4, workspace)
        _whole_by_codes(data, states, tile, terms[0], workspace, sums)
        found = keep_whole(sums, tile, terms, found, out)
        t += 1
    return t, found
