"""Formula loops: contingency tables in, statistics out.

Sums are made in *fixed point*: each term is turned into a 64-bit integer (the term times
a power of two) before it is added. Integer sums do not depend on their order, so a
statistic is the same to the last bit however rows, states, columns or threads are
arranged. For entropies the terms n log n come ready from a table
(`stats/information.py`), and no logarithm is taken in a loop.
"""

from __future__ import annotations

import math

import numpy as np

from f2sl._jit import Array, kernel, popcount
from f2sl.storage.memory._kernels import WORDS_PER_BLOCK, count_pairs, occurring_cells

UNKNOWN = -(2**63)
"""Stands where a value in fixed point has not been computed."""

LEAST = -(2**62)
"""Values in fixed point are above it; marks such as `UNKNOWN` are below."""

LOG_2 = math.log(2.0)

LARGEST_EXACT = 2**53
"""Whole numbers up to here are floats, too."""


@kernel
def n_log_n_of(n: int, terms: Array, logarithms: Array, unit: float) -> int:
    """Give n log n in fixed point: looked up in `terms` for small n, computed for others.

    The logarithm of n is that of its leading bits, which `logarithms` has, and a short series for the rest.
    """
    if n < len(terms):
        return int(terms[n])
    high, shift = n, 0
    while high >= len(logarithms):
        high >>= 1
        shift += 1
    x = (n - (high << shift)) / (high << shift)
    series = x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 3.0 - x / 4.0)))
    return int(np.rint(n * (logarithms[high] + (shift * LOG_2 + series)) / unit))


@kernel
def terms_of(counts: Array, terms: Array, logarithms: Array, unit: float, found: Array) -> None:
    """Give n log n for some counts n."""
    for i in range(len(counts)):
        found[i] = n_log_n_of(counts[i], terms, logarithms, unit)


@kernel
def pair_sums(
    counts: Array, row_margins: Array, column_margins: Array, skip: Array, n_log_n: Array, sums: Array
) -> None:
    """Sum n log n over all cells of each pair's table in a tile.

    `counts[i, a, b, j]` holds the cells of all states but each variable's last
    (`counting/_kernels.py`, count_pairs). The missing cells are what the other cells leave
    of the margins `row_margins[i, a]` and `column_margins[b, j]`. Loops run along j.
    """
    n_rows, inner_rows, inner_columns, n_columns = counts.shape
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
    """Count a value for each of the rising thresholds that it exceeds; says whether these are all."""
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
    """Write down the pairs of a tile whose SU (or information, times `unit`) exceeds the last threshold.

    Entropies come times N in fixed point: I = H(X) + H(Y) - H(X, Y), and N H(X, Y) is N log N less the
    sum of n log n over the cells. The thresholds of a pair are those of its variables' classes,
    ``thresholds[class, class]``, rising; `tally` counts the pairs above each. `found` pairs were written
    before; returns how many there are now.
    """
    column_entropies = entropies[columns]
    for i in range(len(rows)):
        x, own = rows[i], entropies[rows[i]]
        cells, others, ys = sums[i][skip[i] :], column_entropies[skip[i] :], columns[skip[i] :]
        for j in range(len(cells)):
            both = own + others[j]
            information = both - (log_n - cells[j])
            value = 2.0 * information / max(both, 1) if as_su else information * unit
            if value > least and is_above(value, thresholds[classes[x], classes[ys[j]]], tally):
                first[found], second[found], values[found] = x, ys[j], value
                found += 1
    return found


@kernel
def _room(pairs: int) -> tuple[Array, Array, Array]:
    """Room for pairs: their first and second variables, and their values."""
    return np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs, np.float64)


@kernel
def _with_more_room(first: Array, second: Array, values: Array, more: int) -> tuple[Array, Array, Array]:
    """Copies of what `_room` made, with room for more pairs."""
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
    """Count tiles of pairs, keep those above their last threshold and tally all, as `keep_pairs` does.

    One call does many tiles, because every return to Python may have to wait for its lock.
    """
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
    """Do what `search_tiles` does for pairs with many states, counting sample by sample."""
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
    """Sum n log n over the cells, and over the group totals, of each table of a batch."""
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
    """Half of G2 in fixed point, degrees of freedom, and number of samples of one stratum.

    `columns` receives the sums over X for each state of Y.
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
    """G2 (or Pearson's X2) and degrees of freedom of X and Y within each stratum, added up.

    A table lists its cells by stratum, then by state of X, then by state of Y. A stratum
    counts (non-empty rows - 1) (non-empty columns - 1) degrees of freedom.
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
    """G2 and degrees of freedom as by `stratified_tests`, of X and Y, the last two variables of each query.

    Strata are counted from bit planes and added one after another. None takes anything away from G2, so a
    test ends, its statistic infinite, as soon as half of G2 in fixed point is above `enough[t]`. The states
    of variable v are gone through in the order in which `by_size` has them from ``margin_start[v]`` on.
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
    # The samples in each state of X and Y, kept for the next query, which often has the same two.
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
        state[:] = 0
        masks[0] = ~np.uint64(0)
        total, degrees, changed = 0, 0, 0
        while changed >= 0 and total <= enough[t]:
            # Mask l + 1 has the samples in the present states of the first l + 1 variables.
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
    """Log marginal likelihood of each family under Dirichlet priors (BDeu, K2).

    Each group of a table holds the counts of the child's states for one configuration
    of the parents; configurations and states that do not occur contribute nothing.
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

    Row t of `sums` becomes the sum and the number of cells that are not empty. Tables with the same prior
    share a row of `memory` (all `UNKNOWN` at first), where the terms of small counts are kept: a table has
    many cells, but few different counts.
    """
    kept = memory.shape[1]
    for t in range(len(n_groups)):
        prior, terms = priors[t], memory[memory_of[t]]
        first = group_start[first_group[t]]
        last = group_start[first_group[t] + n_groups[t]]
        base = math.lgamma(prior)
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
    """Count the cells of each query's full table, alike to the last bit for any order of its variables."""
    sizes = np.empty(len(start) - 1, np.float64)
    for t in range(len(sizes)):
        size = 1.0
        for place in range(start[t], start[t + 1]):
            size *= cardinalities[variables[place]]
        if size > LARGEST_EXACT:
            # Floats are rounded from here on: multiply in a fixed order.
            size = 1.0
            for k in np.sort(cardinalities[variables[start[t] : start[t + 1]]]):
                size *= k
        sizes[t] = size
    return sizes


# A tree of sets. A set is a path from the root, its largest variable first, so that a node is its parent's
# set with one smaller variable more. Nodes are numbered as they come; the root, the empty set, is 0. A hash
# table with open addresses leads from (parent, variable) to a node: a set is found by one look for each
# member, and the sets of a lattice by one look each, since all begin with one that was found before.


@kernel
def _slot_of(keys: Array, key: int) -> int:
    """Where in the hash table a key is, or is to be put."""
    last = len(keys) - 1
    slot = ((((key ^ (key >> 31)) & 0xFFFFFFFF) * 0x5BD1E995) >> 20) & last
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@kernel
def _child(keys: Array, nodes: Array, parents: Array, smallest: Array, used: int, node: int, v: int) -> int:
    """Find the node of a set with `v`, a smaller variable than all in it, as a member more.

    A new node gets the number `used`: it is the caller's to count it.
    """
    key = v << 32 | node
    slot = _slot_of(keys, key)
    if keys[slot] == -1:
        keys[slot], nodes[slot] = key, used
        parents[used], smallest[used] = node, v
    return int(nodes[slot])


@kernel
def put_again(keys: Array, nodes: Array, old_keys: Array, old_nodes: Array) -> None:
    """Fill a larger, empty hash table with what is in an old one."""
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
    """Find the nodes of all subsets of each row of `members` (ascending), from row `first` on.

    Bit i of a column of `found` stands for member i of the row. Stops before a row that might not fit
    into the tree; returns how many rows are done, and how many nodes the tree has now.
    """
    size = found.shape[1]
    for row in range(first, len(members)):
        if used + size > len(parents):
            return row, used
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
    """Find the nodes of some subsets of one set, given as masks, from the one at place `first` on.

    A row of `masks` has 64 members in each word. Otherwise like `find_lattices`.
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
    """List the variables of some nodes' sets, one set after another, the largest first."""
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
