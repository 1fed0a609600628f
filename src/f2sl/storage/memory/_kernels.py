"""Counting loops: rows in, contingency tables out.

There are several ways to count the same table. *Bit planes*: a variable with k states is k
rows of bits, one bit for each sample; a cell is an AND and a popcount, 64 samples at a
time. *Codes*: walk the samples and add one to the cell that each falls into. The first
wins while a table has few cells, the second when it has many. When it has more than there are
samples, most are empty and only those that occur are listed. *Refining*: split the samples into groups
by one variable after another, and keep the groups for the next query, which may begin alike.
*Sorting*: sort the samples by their states, which needs no room for cells at all.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel, popcount

WORDS_PER_BLOCK = 64
"""Words of each bit plane that one pass of the pair kernel works on (4,096 samples)."""

MOST_COMPARED = 7
"""Planes of a variable with at most so many states are filled by comparing all samples with each state."""

BY_PLANES, BY_CODES, BY_SORTING, BY_REFINING = 0, 1, 2, 3
"""How `count_tables` may count a table."""


@kernel
def fill_planes(
    codes: Array,
    cardinalities: Array,
    plane_start: Array,
    margin_start: Array,
    planes: Array,
    margins: Array,
) -> None:
    """Count each variable's states and, where it has planes, set each sample's bit in the right one."""
    n_variables, n_rows = codes.shape
    for v in range(n_variables):
        column, first, counts = codes[v], plane_start[v], margins[margin_start[v] :]
        if first < 0:
            for s in range(n_rows):
                counts[column[s]] += 1
            continue
        done = 0
        if cardinalities[v] <= MOST_COMPARED:
            done = n_rows & ~63
            for state in range(cardinalities[v]):
                _compare(column[:done], state, planes[first + state])
        for s in range(done, n_rows):
            planes[first + column[s], s >> 6] |= np.uint64(1) << np.uint64(s & 63)
        for state in range(cardinalities[v]):
            bits = 0
            for w in range(planes.shape[1]):
                bits += popcount(planes[first + state, w])
            counts[state] = bits


@kernel
def _compare(column: Array, state: int, plane: Array) -> None:
    """Fill a plane, 64 samples at a time: whether each is in a state. LLVM vectorises the inner loop."""
    for w in range(len(column) // 64):
        samples = column[w * 64 : w * 64 + 64]
        word = np.uint64(0)
        for b in range(64):
            word |= np.uint64(samples[b] == state) << np.uint64(b)
        plane[w] = word


@kernel
def count_pairs(
    planes: Array, row_planes: Array, column_planes: Array, skip: Array, packed: Array, counts: Array
) -> None:
    """Count a tile of pairs: every row variable against every column variable.

    `counts[i, a, b, j]` becomes the number of samples in state `a` of row variable i
    and state `b` of column variable j, for all states but each variable's last: those
    follow from the margins. All row variables of a tile have the same number of states,
    and so have all columns. Columns before `skip[i]` are left alone (they belong to the
    other half of the triangle).

    The columns' planes are first packed word by word, columns side by side, so that
    the innermost loop runs along the columns and one vector instruction serves several
    pairs, with no sum across a vector at the end.
    """
    n_rows, inner_rows, inner_columns, n_columns = counts.shape
    n_words = planes.shape[1]
    counts[:] = 0
    for w0 in range(0, n_words, WORDS_PER_BLOCK):
        width = min(WORDS_PER_BLOCK, n_words - w0)
        for j in range(n_columns):
            for b in range(inner_columns):
                plane = planes[column_planes[j] + b]
                for w in range(width):
                    packed[b, w, j] = plane[w0 + w]
        for i in range(n_rows):
            for a in range(inner_rows):
                plane = planes[row_planes[i] + a][w0 : w0 + width]
                for b in range(inner_columns):
                    _add_intersections(plane, packed[b], skip[i], counts[i, a, b])


@kernel
def _add_intersections(plane: Array, packed: Array, first: int, cells: Array) -> None:
    """Add to `cells[j]` the number of bits that `plane` shares with packed column j, from `first` on."""
    # One-dimensional slices, because only for those can LLVM see that j is never
    # negative, without which it does not vectorise; four words a pass to spare loads and stores.
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


@kernel
def occurring_cells(x: Array, y: Array, k_x: int, k_y: int, table: Array, cells: Array) -> int:
    """Count the pair of two columns of codes, and list the counts of the cells that occur.

    `table` must be all zeros, and is so again afterwards. It is emptied cell by cell where it is small, and
    by a second walk over the samples where it is large, so that a large table costs no more than the samples.
    `cells` has room for one count more than there are samples. Returns how many occur.
    """
    n_rows, found = len(x), 0
    for s in range(n_rows):
        table[np.int64(x[s]) * k_y + y[s]] += 1
    # Written whether it counts or not and kept only if it does: a branch would be guessed wrong too often.
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
    variables: Array,
    query_start: Array,
    method: Array,
    cell_start: Array,
    first_group: Array,
    counts: Array,
    group_start: Array,
) -> Array:
    """Count a batch of tables of any order; the last variable of a query varies fastest.

    A table is a list of groups (the configurations of all variables but the last), each a
    list of cells. Counted by planes or by codes, every group and cell is there, empty ones
    too; otherwise only those that occur. Table t may use the cells from `cell_start[t]` to
    `cell_start[t + 1]` (included, for a moment) and the group slots from `first_group[t]`; `group_start`
    receives where each group's cells begin, and where the last group's end. Returns the number of groups of
    each table.
    """
    n_queries = len(method)
    n_groups = np.empty(n_queries, np.int64)
    n_rows = codes.shape[1]
    longest, refined, most_keys = 0, 0, 0
    for t in range(n_queries):
        length = query_start[t + 1] - query_start[t]
        longest = max(longest, length)
        if method[t] == BY_REFINING:
            refined = max(refined, length)
            for place in range(query_start[t], query_start[t + 1]):
                most_keys = max(most_keys, n_rows * cardinalities[variables[place]])
    masks = np.empty((longest, planes.shape[1]), np.uint64)
    scratch = np.empty((2, n_rows), np.int64)
    # Rows of `groups` hold each sample's group by the leading variables of the query refined last.
    groups = np.zeros((refined, n_rows), np.int32)
    n_of_level = np.ones(refined, np.int64)
    numbers = np.zeros(most_keys, np.int32)
    leading = variables[:0]
    for t in range(n_queries):
        query = variables[query_start[t] : query_start[t + 1]]
        first, slots = cell_start[t], group_start[first_group[t] :]
        if method[t] == BY_REFINING:
            known = 0
            while known < min(len(leading), len(query)) - 1 and leading[known] == query[known]:
                known += 1
            for level in range(known + 1, len(query)):
                v = query[level - 1]
                n_of_level[level] = _refine(
                    codes[v], cardinalities[v], groups[level - 1], numbers, scratch[0], groups[level]
                )
            last, above = query[-1], len(query) - 1
            _count_groups(
                codes[last],
                cardinalities[last],
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
            n_groups[t] = _count_by_sorting(codes, cardinalities, query, scratch, first, counts, slots)
            continue
        k_last = cardinalities[query[-1]]
        cells = counts[first : cell_start[t + 1]]
        if method[t] == BY_PLANES:
            _count_by_planes(planes, plane_start, cardinalities, query, masks, cells)
        else:
            _count_by_codes(codes, cardinalities, query, scratch[0], cells)
        n_groups[t] = len(cells) // k_last
        for g in range(n_groups[t] + 1):
            slots[g] = first + g * k_last
    return n_groups


@kernel
def _count_by_planes(
    planes: Array, plane_start: Array, cardinalities: Array, query: Array, masks: Array, cells: Array
) -> None:
    """Count one table by ANDs and popcounts, one configuration of the leading variables after another."""
    # Indices rather than slices: a slice of an array costs more than the few words it would hold.
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
    state = np.zeros(depth, np.int64)
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


@kernel
def _count_by_codes(codes: Array, cardinalities: Array, query: Array, index: Array, cells: Array) -> None:
    """Count one table by walking the samples."""
    n_rows = codes.shape[1]
    for s in range(n_rows):
        index[s] = 0
    for v in query:
        k = cardinalities[v]
        column = codes[v]
        for s in range(n_rows):
            index[s] = index[s] * k + column[s]
    cells[:] = 0
    for s in range(n_rows):
        cells[index[s]] += 1


@kernel
def _count_by_sorting(
    codes: Array, cardinalities: Array, query: Array, scratch: Array, first: int, counts: Array, slots: Array
) -> int:
    """Count only the cells that occur: sort the samples by their states, then measure the runs.

    A counting sort for each variable, the last first, leaves the samples in the order of
    their configurations, so that equal ones stand together. Cells and groups come out in
    lexicographic order.
    """
    n_rows = codes.shape[1]
    order, moved = scratch[0], scratch[1]
    for s in range(n_rows):
        order[s] = s
    for position in range(len(query) - 1, -1, -1):
        v = query[position]
        place = np.zeros(cardinalities[v] + 1, np.int64)
        column = codes[v]
        for s in range(n_rows):
            place[np.int64(column[s]) + 1] += 1
        for state in range(cardinalities[v]):
            place[state + 1] += place[state]
        for s in range(n_rows):
            row = order[s]
            state = column[row]
            moved[place[state]] = row
            place[state] += 1
        order, moved = moved, order
    groups, cell = 0, first - 1
    leading = query[:-1]
    last = codes[query[-1]]
    for s in range(n_rows):
        row = order[s]
        new_group = s == 0
        if s > 0:
            before = order[s - 1]
            for v in leading:
                if codes[v, row] != codes[v, before]:
                    new_group = True
                    break
        if new_group:
            cell += 1
            slots[groups] = cell
            groups += 1
            counts[cell] = 1
        elif last[row] != last[order[s - 1]]:
            cell += 1
            counts[cell] = 1
        else:
            counts[cell] += 1
    slots[groups] = cell + 1
    return groups


@kernel
def _refine(column: Array, k: int, coarse: Array, numbers: Array, keys: Array, fine: Array) -> int:
    """Split groups of samples by one variable more; returns how many groups there are then.

    Groups are numbered as they first occur. `numbers` must be all zeros, and is so again afterwards: only
    what occurs costs time, however many groups there could be.
    """
    n = 0
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


@kernel
def _count_groups(
    column: Array,
    k: int,
    groups: Array,
    n_groups: int,
    numbers: Array,
    scratch: Array,
    first: int,
    counts: Array,
    slots: Array,
) -> None:
    """Count the states of the last variable within groups of samples; cells come group by group.

    `numbers` is treated as in `_refine`.
    """
    n_rows = len(column)
    if n_groups * k <= 4 * n_rows:
        # So few cells that looking at all is cheaper than keeping account of those that occur. Each is
        # written, and kept if it is not empty: a branch would be guessed wrong too often.
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
    keys, cells = scratch[0], scratch[1]
    found = 0
    for s in range(n_rows):
        key = np.int64(groups[s]) * k + column[s]
        number = numbers[key]
        if number == 0:
            keys[found], cells[found] = key, 0
            found += 1
            number = found
            numbers[key] = found
        cells[number - 1] += 1
    # A counting sort brings the cells of each group together; slots move to their groups' ends and back.
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
