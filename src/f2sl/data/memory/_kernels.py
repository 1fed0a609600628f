"""Count samples into contingency tables.

There are several ways to count the same table, with the same result:

*Bit planes*
    A variable with k states is k rows of bits, one bit for each sample. A cell is an AND and a popcount, 64
    samples at a time. The time grows with cells times samples / 64, so this is fastest for tables with few
    cells.
*Codes*
    Walk the samples and add one to the cell that each falls into. Fastest for tables with many cells.
*Refining*
    Split the samples into groups by one variable after another, and keep the groups for the next
    query, which often begins with the same variables. For tables with more cells than samples: most
    cells are empty, and only those that occur are listed.
*Sorting*
    Sort the samples by their states (in NumPy, `data/memory/engine.py`). Also lists only the cells that
    occur, and needs no scratch memory that grows with the number of states.
*Runs*
    Split the samples by variables that many queries share once, and for each query look only at the samples
    outside the most common state of one further variable (`data/memory/runs.py`).

`data/memory/engine.py` chooses among them. Arrays that all kernels share:

codes : (n_variables, n_rows) uint8 or uint16
    State of each sample. Variable after variable, because each loop reads whole variables.
planes : (n_planes, n_words) uint64
    Bit ``s & 63`` of word ``s >> 6`` stands for sample s. Plane ``plane_start[v] + state`` holds the
    samples in that state of v. Bits beyond the last sample are 0, so that no popcount needs a mask.
plane_start : (n_variables,) int64
    Row of each variable's first plane; -1 for variables without planes.
cardinalities : (n_variables,) int64
    Number of states of each variable. A sample with this number as its code has no value of the variable: it
    has no bit in any plane, and tables of the variable leave it out.
missing : (n_variables,) bool
    True for variables with missing values. Loops over other variables do not check for any.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, inner, kernel, popcount

WORDS_PER_BLOCK = 64
"""Words of each bit plane that one pass of the pair kernel works on (4,096 samples).

With the 256 planes of a tile (`data/tiles.py`) a packed block has 128 kilobytes: it stays in the cache.
"""

MOST_COMPARED = 7
"""Largest number of states for which planes are filled by comparing all samples with each state in turn.

These comparisons are vectorised but repeated for each state; setting one bit per sample is neither.
"""

BY_PLANES, BY_CODES, BY_SORTING, BY_REFINING = 0, 1, 2, 3
"""Ways in which a table may be counted; `count_tables` leaves out those that are sorted."""


@kernel
def fill_planes(
    codes: Array,
    cardinalities: Array,
    plane_start: Array,
    margin_start: Array,
    planes: Array,
    margins: Array,
) -> None:
    """Count each variable's states and, where it has planes, set each sample's bit in the right one.

    Parameters
    ----------
    codes, cardinalities, plane_start, margin_start
        One row or entry for each variable to fill; may be a slice of all variables.
    planes : (n_planes, n_words) uint64
        Planes of all variables, zero on entry. Each variable writes its own rows only, so that threads
        can fill different variables at the same time.
    margins : (total number of states,) int64
        Counts of all variables' states, zero on entry; those of v begin at ``margin_start[v]``.
    """
    n_variables, n_rows = codes.shape
    for v in range(n_variables):
        column, first, counts = codes[v], plane_start[v], margins[margin_start[v] :]
        if first < 0:
            for s in range(n_rows):
                if column[s] < cardinalities[v]:
                    counts[column[s]] += 1
            continue
        # `_compare` fills whole words; the last, incomplete word is filled bit by bit in the loop below.
        done = 0
        if cardinalities[v] <= MOST_COMPARED:
            done = n_rows & ~63
            for state in range(cardinalities[v]):
                _compare(column[:done], state, planes[first + state])
        for s in range(done, n_rows):
            if column[s] < cardinalities[v]:
                planes[first + column[s], s >> 6] |= np.uint64(1) << np.uint64(s & 63)
        # Counting bits reads n_rows / 8 bytes per state; counting codes would add to memory for every sample.
        for state in range(cardinalities[v]):
            bits = 0
            for w in range(planes.shape[1]):
                bits += popcount(planes[first + state, w])
            counts[state] = bits


@inner
def _compare(column: Array, state: int, plane: Array) -> None:
    """Write into `plane` which samples of `column` are in `state`, 64 at a time.

    The inner loop has a fixed length and no branch, so that LLVM unrolls and vectorises it.
    """
    for w in range(len(column) // 64):
        samples = column[w * 64 : w * 64 + 64]
        word = np.uint64(0)
        for b in range(64):
            word |= np.uint64(samples[b] == state) << np.uint64(b)
        plane[w] = word


@inner
def tile_of_pairs(
    planes: Array,
    plane_start: Array,
    rows: Array,
    columns: Array,
    skip: Array,
    packed: Array,
    counts: Array,
) -> None:
    """Count a tile of pairs: every row variable against every column variable.

    All row variables of a tile have the same number of states, and so have all columns.

    Parameters
    ----------
    rows, columns : (height,) and (width,) int64
        Variables.
    skip : (height,) int64
        Row i pairs with columns ``skip[i]`` to width; those before belong to the other half of the
        triangle. Their cells are 0 and mean nothing.
    packed : (k_column - 1, WORDS_PER_BLOCK, width) uint64
        Scratch: ``packed[b, w, j]`` is word w of the plane of state b of column j, for one block of words.
    counts : (height, k_row - 1, k_column - 1, width) int64
        Output: ``counts[i, a, b, j]`` is the number of samples in state a of row i and state b of
        column j. The last state of each variable is left out, since its cells follow from the margins:
        for binary variables one cell instead of four.

    Notes
    -----
    Columns are the last axis of `packed` and `counts`, so that the innermost loop runs along them: one vector
    instruction serves several pairs, and no sum across a vector is needed at the end. A block of words is
    packed once and used by all rows of the tile while it is in the cache.
    """
    n_rows, inner_rows, inner_columns, n_columns = counts.shape
    n_words = planes.shape[1]
    for i in range(n_rows):
        for a in range(inner_rows):
            for b in range(inner_columns):
                for j in range(n_columns):
                    counts[i, a, b, j] = 0
    for w0 in range(0, n_words, WORDS_PER_BLOCK):
        width = min(WORDS_PER_BLOCK, n_words - w0)
        for j in range(n_columns):
            for b in range(inner_columns):
                plane = planes[plane_start[columns[j]] + b]
                for w in range(width):
                    packed[b, w, j] = plane[w0 + w]
        for i in range(n_rows):
            for a in range(inner_rows):
                plane = planes[plane_start[rows[i]] + a][w0 : w0 + width]
                for b in range(inner_columns):
                    _add_intersections(plane, packed[b], skip[i], counts[i, a, b])


@kernel
def count_pairs(
    planes: Array,
    plane_start: Array,
    rows: Array,
    columns: Array,
    skip: Array,
    packed: Array,
    counts: Array,
) -> None:
    """Count a tile of pairs, as `tile_of_pairs` does."""
    tile_of_pairs(planes, plane_start, rows, columns, skip, packed, counts)


@inner
def _add_intersections(plane: Array, packed: Array, first: int, cells: Array) -> None:
    """Add to `cells[j]` the number of bits that `plane` shares with packed column j, from `first` on.

    plane : (width of the block,) uint64; packed : (words, columns) uint64; cells : (columns,) int64.
    """
    # One-dimensional slices, because only for those can LLVM see that j is never negative, without
    # which it does not vectorise. Four words a pass: each sum is loaded and stored a quarter as often.
    sums = cells[first:]
    w = 0
    while w + 4 <= len(plane):
        p0, p1, p2, p3 = plane[w], plane[w + 1], plane[w + 2], plane[w + 3]
        q0, q1, q2, q3 = (
            packed[w][first:],
            packed[w + 1][first:],
            packed[w + 2][first:],
            packed[w + 3][first:],
        )
        for j in range(len(sums)):
            sums[j] += (
                popcount(p0 & q0[j]) + popcount(p1 & q1[j]) + popcount(p2 & q2[j]) + popcount(p3 & q3[j])
            )
        w += 4
    while w < len(plane):
        p, q = plane[w], packed[w][first:]
        for j in range(len(sums)):
            sums[j] += popcount(p & q[j])
        w += 1


@inner
def occurring_cells(x: Array, y: Array, k_x: int, k_y: int, table: Array, cells: Array) -> int:
    """Count two columns of codes together, and list the counts of the cells that occur.

    Parameters
    ----------
    x, y : (n_rows,) uint8 or uint16
        Codes of the two variables, which have `k_x` and `k_y` states.
    table : (at least k_x * k_y,) int32
        Scratch, all zeros on entry and again on return.
    cells : (n_rows + 1,) int64
        Output: counts of the occurring cells, in no particular order. One entry more than there can
        be cells, because an empty cell is written behind the last one as well.

    Returns
    -------
    int
        Number of cells that occur.
    """
    n_rows, found = len(x), 0
    # Codes are widened first: without compilation NumPy would multiply in their own 8 or 16 bits.
    for s in range(n_rows):
        table[np.int64(x[s]) * k_y + y[s]] += 1
    # Each cell is written whether it is empty or not, and `found` moves on only if it is not: a branch would
    # be mispredicted too often. A small table is cleared cell by cell; a large one by a second walk over the
    # samples, so that its size does not matter. (That walk reads a cell as 0 after its first sample.)
    if k_x * k_y <= 2 * n_rows:
        for cell in range(k_x * k_y):
            n = table[cell]
            cells[found] = n
            found += n > 0
            table[cell] = 0
    else:
        for s in range(n_rows):
            cell = np.int64(x[s]) * k_y + y[s]
            n = table[cell]
            cells[found] = n
            found += n > 0
            table[cell] = 0
    return found


@kernel
def count_tables(
    codes: Array,
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    missing: Array,
    variables: Array,
    query_start: Array,
    method: Array,
    cell_start: Array,
    first_group: Array,
    counts: Array,
    group_start: Array,
) -> Array:
    """Count a batch of tables of any order, but for those by sorting; the last variable varies fastest.

    A table is a list of groups (the configurations of all variables but the last), each a
    list of cells. Counted by planes or by codes, every group and cell is there, empty ones
    included; otherwise only those that occur.

    Parameters
    ----------
    variables, query_start : int64
        Query t asks for ``variables[query_start[t]:query_start[t + 1]]``.
    method : (n_queries,) int64
        `BY_PLANES`, `BY_CODES`, `BY_SORTING` or `BY_REFINING` for each query.
    cell_start : (n_queries + 1,) int64
        Table t has room for the cells ``cell_start[t]`` to ``cell_start[t + 1]``. Refining may write one
        empty cell beyond its last: into the room of the next table, which is counted later, or into
        the extra entry at the end of `counts`. So tables must be counted in ascending order.
    first_group : (n_queries,) int64
        Entry of `group_start` at which the groups of table t begin.
    counts : (cell_start[-1] + 1,) int64
        Output: the cells of all tables.
    group_start : int64
        Output: where each group's cells begin in `counts`, and behind the last group of a table where its
        cells end.

    Returns
    -------
    (n_queries,) int64
        Number of groups of each table; of those by sorting, which are counted afterwards, unknown.
    """
    n_queries = len(method)
    n_groups = np.empty(n_queries, np.int64)
    n_rows = codes.shape[1]
    # Scratch memory is allocated once, for the largest query of the batch.
    longest, refined, most_keys = 0, 0, 0
    for t in range(n_queries):
        length = query_start[t + 1] - query_start[t]
        longest = max(longest, length)
        if method[t] == BY_REFINING:
            refined = max(refined, length)
            for position in range(query_start[t], query_start[t + 1]):
                most_keys = max(most_keys, n_rows * cardinalities[variables[position]])
    masks = np.empty((longest, planes.shape[1]), np.uint64)
    scratch = np.empty((2, n_rows), np.int64)
    # groups[level, s] is the group of sample s by the first `level` variables of `leading`, the query that
    # was refined last, -1 if it misses one; n_of_level[level] says how many groups there are. Level 0 is one
    # group of all samples.
    # Levels below len(leading) are valid, and all that two consecutive queries share are used again.
    groups = np.empty((refined, n_rows), np.int32)
    n_of_level = np.empty(refined, np.int64)
    if refined > 0:
        n_of_level[0] = 1
        for s in range(n_rows):
            groups[0, s] = 0
    numbers = np.zeros(most_keys, np.int32)
    leading = variables[:0]
    for t in range(n_queries):
        query = variables[query_start[t] : query_start[t + 1]]
        first, slots = cell_start[t], group_start[first_group[t] :]
        incomplete = _any(missing, query)
        if method[t] == BY_REFINING:
            known = 0
            while known < min(len(leading), len(query)) - 1 and leading[known] == query[known]:
                known += 1
            for level in range(known + 1, len(query)):
                v = query[level - 1]
                n_of_level[level] = refine(
                    codes[v],
                    cardinalities[v],
                    incomplete,
                    groups[level - 1],
                    numbers,
                    scratch[0],
                    groups[level],
                )
            last, above = query[-1], len(query) - 1
            _count_groups(
                codes[last],
                cardinalities[last],
                incomplete,
                groups[above],
                n_of_level[above],
                numbers,
                scratch,
                first,
                counts,
                slots,
            )
            n_groups[t], leading = n_of_level[above], query
            continue
        if method[t] == BY_SORTING:
            continue
        k_last = cardinalities[query[-1]]
        cells = counts[first : cell_start[t + 1]]
        if method[t] == BY_PLANES:
            _count_by_planes(planes, plane_start, cardinalities, query, masks, cells)
        else:
            _count_by_codes(codes, cardinalities, missing, query, scratch[0], cells)
        n_groups[t] = len(cells) // k_last
        for g in range(n_groups[t] + 1):
            slots[g] = first + g * k_last
    return n_groups


@kernel
def count_runs(
    codes: Array,
    planes: Array,
    plane_start: Array,
    cardinalities: Array,
    common: Array,
    variables: Array,
    query_start: Array,
    counts: Array,
    group_start: Array,
    first_group: Array,
) -> None:
    """Count tables of variables without gaps, most of which differ from the one before in their first alone.

    Only cells and groups that occur are listed, one table right behind the other: memory that is not written
    is never allocated.

    Parameters
    ----------
    common : (n_variables,) int64
        The most common state of each variable; the first variables of the queries have planes.
    variables, query_start : int64
        As in `count_tables`.
    counts, group_start : int64
        Output, as in `count_tables`; with room for as many cells of each table, and one more group, as it has
        at most. One empty cell may be written behind the last.
    first_group : (n_queries + 1,) int64
        Output: entry of `group_start` at which the groups of each table begin. One entry between two tables
        is the end of the last group.
    """
    n_rows, n_words = codes.shape[1], planes.shape[1]
    most_shared, most_cells = 1, 1
    for t in range(len(query_start) - 1):
        size = 1
        for position in range(query_start[t] + 1, query_start[t + 1]):
            size *= cardinalities[variables[position]]
        most_shared = max(most_shared, size)
        most_cells = max(most_cells, min(size, n_rows) * cardinalities[variables[query_start[t]]])
    # index[s] is the cell of sample s in the full table of the shared variables, and number[cell] counts
    # those that occur: shared[number] samples are in them, and group g has the numbers ends[g] to
    # ends[g + 1].
    index, number = np.empty(n_rows, np.int32), np.empty(most_shared, np.int32)
    shared, ends = np.empty(n_rows + 1, np.int64), np.empty(n_rows + 2, np.int64)
    # cells[state * n_shared + number] is a cell of the whole table.
    cells = np.empty(most_cells, np.int64)
    n_shared, n_groups, at, group = 0, 0, 0, 0
    ends[0] = 0
    last_word = ~np.uint64(0) >> np.uint64(-n_rows & 63)
    for t in range(len(query_start) - 1):
        begin, end = query_start[t], query_start[t + 1]
        length = end - begin
        same = t > 0 and begin - query_start[max(t - 1, 0)] == length
        for position in range(begin + 1, end):
            same = same and variables[position] == variables[position - length]
        if not same:
            size = 1
            for s in range(n_rows):
                index[s] = 0
            for position in range(begin + 1, end):
                v = variables[position]
                states, codes_of_v = np.int32(cardinalities[v]), codes[v]
                size *= cardinalities[v]
                for s in range(n_rows):
                    index[s] = index[s] * states + np.int32(codes_of_v[s])
            for cell in range(size):
                number[cell] = 0
            for s in range(n_rows):
                number[index[s]] += 1
            n_shared, n_groups = 0, 0
            k_last = cardinalities[variables[end - 1]]
            for first in range(0, size, k_last):
                for cell in range(first, first + k_last):
                    n = number[cell]
                    shared[n_shared] = n
                    number[cell] = n_shared
                    n_shared += n > 0
                ends[n_groups + 1] = n_shared
                n_groups += n_shared > ends[n_groups]
        u = variables[begin]
        k, column, usual = cardinalities[u], codes[u], common[u]
        for cell in range(k * n_shared):
            cells[cell] = 0
        for w in range(n_words):
            word = ~planes[plane_start[u] + usual, w]
            if w == n_words - 1:
                word &= last_word
            while word != 0:
                # The bits below the lowest one that is set are as many as its place.
                s = w * 64 + popcount(~word & (word - np.uint64(1)))
                cells[np.int64(column[s]) * n_shared + number[index[s]]] += 1
                word &= word - np.uint64(1)
        for c in range(n_shared):
            cells[usual * n_shared + c] = shared[c]
        for state in range(k):
            if state != usual:
                for c in range(n_shared):
                    cells[usual * n_shared + c] -= cells[state * n_shared + c]
        first_group[t] = group
        for state in range(k):
            for g in range(n_groups):
                group_start[group] = at
                begin = at
                for c in range(state * n_shared + ends[g], state * n_shared + ends[g + 1]):
                    counts[at] = cells[c]
                    at += cells[c] > 0
                group += at > begin
        group_start[group] = at
        group += 1
    group_start[group] = at
    first_group[len(query_start) - 1] = group


@inner
def _any(missing: Array, query: Array) -> bool:
    """Return whether samples miss any variable of a query."""
    found = False
    for v in query:
        found = found or missing[v]
    return found


@inner
def _count_by_planes(
    planes: Array, plane_start: Array, cardinalities: Array, query: Array, masks: Array, cells: Array
) -> None:
    """Count one table by ANDs and popcounts, one configuration of the leading variables after another.

    masks : (at least len(query) - 1, n_words) uint64, scratch; cells : int64, the full table, output.
    """
    # Indices rather than slices: creating a slice costs more than reading the few words it would hold.
    n_words = planes.shape[1]
    depth = len(query) - 1
    k_last = cardinalities[query[depth]]
    last = plane_start[query[depth]]
    if depth == 0:
        for b in range(k_last):
            bits = 0
            for w in range(n_words):
                bits += popcount(planes[last + b, w])
            cells[b] = bits
        return
    # `state` counts through the configurations like an odometer, the last leading variable fastest.
    # masks[level] holds the samples in the current states of variables 0 to level; when the odometer moves
    # on, only masks from the first digit that `changed` on are computed again.
    state = np.empty(depth, np.int64)
    for level in range(depth):
        state[level] = 0
    changed = 0
    cell = 0
    while changed >= 0:
        for level in range(changed, depth):
            plane = plane_start[query[level]] + state[level]
            if level == 0:
                for w in range(n_words):
                    masks[0, w] = planes[plane, w]
            else:
                for w in range(n_words):
                    masks[level, w] = masks[level - 1, w] & planes[plane, w]
        for b in range(k_last):
            bits = 0
            for w in range(n_words):
                bits += popcount(masks[depth - 1, w] & planes[last + b, w])
            cells[cell] = bits
            cell += 1
        changed = depth - 1
        while changed >= 0:
            state[changed] += 1
            if state[changed] < cardinalities[query[changed]]:
                break
            state[changed] = 0
            changed -= 1


@inner
def _count_by_codes(
    codes: Array, cardinalities: Array, missing: Array, query: Array, index: Array, cells: Array
) -> None:
    """Count one table by walking the samples.

    index : (n_rows,) int64, scratch; cells : (cells of the full table,) int64, output.
    """
    # One variable at a time: each pass reads one column from start to end and is vectorised. A single pass
    # over the samples would read from all columns at once.
    n_rows = codes.shape[1]
    for s in range(n_rows):
        index[s] = 0
    for v in query:
        k = cardinalities[v]
        column = codes[v]
        for s in range(n_rows):
            index[s] = index[s] * k + column[s]
    for cell in range(len(cells)):
        cells[cell] = 0
    if _any(missing, query):
        for v in query:
            if missing[v]:
                k, column = cardinalities[v], codes[v]
                for s in range(n_rows):
                    if column[s] == k:
                        index[s] = -1
        for s in range(n_rows):
            if index[s] >= 0:
                cells[index[s]] += 1
        return
    for s in range(n_rows):
        cells[index[s]] += 1


@inner
def refine(
    column: Array, k: int, incomplete: bool, coarse: Array, numbers: Array, keys: Array, fine: Array
) -> int:
    """Split groups of samples by one more variable; return the new number of groups.

    Parameters
    ----------
    column : (n_rows,) uint8 or uint16
        Codes of the variable, which has `k` states.
    incomplete : bool
        True if samples may miss this variable, or be in no group (-1) because they miss another.
    coarse, fine : (n_rows,) int32
        Group of each sample before (input) and after (output). Groups are numbered from 0 in the order
        in which they first occur, so the numbers have no gaps and stay below n_rows.
    numbers : (at least groups before * k,) int32
        Scratch: 1 + the number of the group with each key, 0 where there is none yet. All zeros on entry
        and again on return; only the keys that occur are cleared, so that the time depends on the samples
        and not on how many groups there could be.
    keys : (n_rows,) int64
        Scratch: the keys that occur.
    """
    # Two loops, as in `_count_groups`: asking in one loop whether the sample is complete takes a quarter
    # longer, and a function for what they share five times as long, because it is not inlined.
    n = 0
    if incomplete:
        for s in range(len(column)):
            if coarse[s] < 0 or column[s] == k:
                fine[s] = -1
                continue
            key = np.int64(coarse[s]) * k + column[s]
            if numbers[key] == 0:
                keys[n] = key
                n += 1
                numbers[key] = n
            fine[s] = numbers[key] - 1
    else:
        for s in range(len(column)):
            key = np.int64(coarse[s]) * k + column[s]
            number = numbers[key]
            if number == 0:
                keys[n] = key
                n += 1
                number = n
                numbers[key] = n
            fine[s] = number - 1
    for group in range(n):
        numbers[keys[group]] = 0
    return n


@inner
def _count_groups(
    column: Array,
    k: int,
    incomplete: bool,
    groups: Array,
    n_groups: int,
    numbers: Array,
    scratch: Array,
    first: int,
    counts: Array,
    slots: Array,
) -> None:
    """Count the states of the last variable within groups of samples; cells are ordered by group.

    column, k, incomplete, numbers : as in `refine`; groups : (n_rows,) int32, group of each sample;
    scratch : (2, n_rows) int64; first : place of the table's first cell in `counts`;
    slots : the table's part of `group_start`.
    """
    n_rows = len(column)
    if n_groups * k <= 4 * n_rows:
        # So few cells that looking at all of them is cheaper than keeping a list of those that occur. Each
        # is written, and kept if it is not empty: a branch would be mispredicted too often.
        if incomplete:
            for s in range(n_rows):
                if groups[s] >= 0 and column[s] < k:
                    numbers[np.int64(groups[s]) * k + column[s]] += 1
        else:
            for s in range(n_rows):
                numbers[np.int64(groups[s]) * k + column[s]] += 1
        cell, key = first, 0
        for group in range(n_groups):
            slots[group] = cell
            for _ in range(k):
                n = numbers[key]
                numbers[key] = 0
                counts[cell] = n
                cell += n > 0
                key += 1
        slots[n_groups] = cell
        return
    # Otherwise number the cells in the order in which they first occur; keys[c] and cells[c] are the key
    # and the count of cell c.
    keys, cells = scratch[0], scratch[1]
    found = 0
    for s in range(n_rows):
        if incomplete and (groups[s] < 0 or column[s] == k):
            continue
        key = np.int64(groups[s]) * k + column[s]
        number = numbers[key]
        if number == 0:
            keys[found], cells[found] = key, 0
            found += 1
            number = found
            numbers[key] = found
        cells[number - 1] += 1
    # A counting sort brings the cells of each group together. It uses `slots` itself for its counters: after
    # the sums slots[g] is where group g begins, while cells are moved it advances to where the group ends,
    # and the last loop shifts these ends, the beginnings of the next groups, back into place.
    for group in range(n_groups + 1):
        slots[group] = 0
    for cell in range(found):
        numbers[keys[cell]] = 0
        keys[cell] //= k
        slots[keys[cell] + 1] += 1
    slots[0] = first
    for group in range(n_groups):
        slots[group + 1] += slots[group]
    for cell in range(found):
        counts[slots[keys[cell]]] = cells[cell]
        slots[keys[cell]] += 1
    for group in range(n_groups, 0, -1):
        slots[group] = slots[group - 1]
    slots[0] = first
