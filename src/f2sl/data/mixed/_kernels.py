"""Sum numbers by the configuration of states.

A query names some discrete and some continuous columns. Its *groups* are the configurations of the states,
the last changing fastest, one group if there are no states. Each group has a row of sums over its samples,
all of them whole numbers: how many samples, then for the q numbers the sums of the coarse and of the fine
halves (`data/moments.py`), then for each pair i >= j the sums of the products of coarse halves, of coarse
with fine ones, and of fine ones.

states, state_start, numbers, number_start : int64
    Query t has the columns ``states[state_start[t]:state_start[t + 1]]``, and numbers alike.
first : (n_queries + 1,) int64
    Where the rows of each query begin in the flat array of all sums.
gap_states, gap_state_start, gap_numbers, gap_number_start : int64
    Columns that some samples miss, for each query: samples that miss one of these are left out. A missing
    state has the code that is its column's number of states, a missing number the coarse half `GAP`.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, inner, int64, kernel

GAP = -(2**31)
"""Coarse half of a missing number; others have 26 bits."""


FEW = 12
"""Groups times numbers up to which to run through all samples for each group is faster than to sort them."""


@inner
def sums_of_group(high: Array, low: Array, q: int, begin: int, end: int, sums: Array, at: int) -> None:
    """Write a group's row of sums, but for the number of samples, to ``sums[at + 1 :]``.

    The halves of its q numbers are ``high[:q, begin:end]`` and ``low[:q, begin:end]``, int32.
    """
    for i in range(q):
        total_high, total_low = 0, 0
        for position in range(begin, end):
            total_high += high[i, position]
            total_low += low[i, position]
        sums[at + 1 + i] = total_high
        sums[at + 1 + q + i] = total_low
    at += 1 + 2 * q
    for i in range(q):
        for j in range(i + 1):
            both_high, one_high, both_low = 0, 0, 0
            for position in range(begin, end):
                a, b = int64(high[i, position]), int64(low[i, position])
                c, d = int64(high[j, position]), int64(low[j, position])
                both_high += a * c
                one_high += a * d + b * c
                both_low += b * d
            sums[at] = both_high
            sums[at + 1] = one_high
            sums[at + 2] = both_low
            at += 3


@kernel
def sums_by_group(
    codes: Array,
    coarse: Array,
    fine: Array,
    cardinalities: Array,
    states: Array,
    state_start: Array,
    numbers: Array,
    number_start: Array,
    missing_states: Array,
    missing_state_start: Array,
    missing_numbers: Array,
    missing_number_start: Array,
    first: Array,
    sums: Array,
) -> None:
    """Sum up a block of rows for each query.

    All sums are of 64-bit integers, so that blocks can be added in any order with the same result. They do
    not overflow: `data/moments.py` gives the halves fewer bits the more rows there are.

    codes : (n_states, rows) unsigned; coarse, fine : (n_numbers, rows) int32, input.
    cardinalities : (n_states,) int64, the states of each column of codes.
    sums : (first[-1],) int64, output, overwritten.
    """
    n_rows = codes.shape[1] if len(codes) else coarse.shape[1]
    missed = np.empty(n_rows, np.bool_)
    group = np.empty(n_rows, np.int32)
    kept = np.empty(n_rows, np.int32)
    order = np.empty(n_rows, np.int32)
    widest = 0
    for t in range(len(first) - 1):
        widest = max(widest, number_start[t + 1] - number_start[t])
    # Halves have 32 bits, and products 64: the processor multiplies several such at a time.
    high, low = np.empty((widest, n_rows), np.int32), np.empty((widest, n_rows), np.int32)
    for t in range(len(first) - 1):
        missed[:] = False
        for s in range(missing_state_start[t], missing_state_start[t + 1]):
            column, gap = codes[missing_states[s]], cardinalities[missing_states[s]]
            for row in range(n_rows):
                missed[row] |= column[row] == gap
        for s in range(missing_number_start[t], missing_number_start[t + 1]):
            halves = coarse[missing_numbers[s]]
            for row in range(n_rows):
                missed[row] |= halves[row] == GAP
        own = numbers[number_start[t] : number_start[t + 1]]
        q = len(own)
        width = 1 + 2 * q + 3 * (q * (q + 1) // 2)
        n_groups = 1
        for s in range(state_start[t], state_start[t + 1]):
            n_groups *= cardinalities[states[s]]
        if n_groups * (q + 1) <= FEW:
            # All samples are run through for each group, those of others as 0.
            for row in range(n_rows):
                group[row] = 0
            for s in range(state_start[t], state_start[t + 1]):
                column, k = codes[states[s]], np.int32(cardinalities[states[s]])
                for row in range(n_rows):
                    group[row] = group[row] * k + np.int32(column[row])
            for row in range(n_rows):
                group[row] = n_groups if missed[row] else group[row]
            for g in range(n_groups):
                n_own = 0
                for row in range(n_rows):
                    n_own += group[row] == g
                for i in range(q):
                    halves, other_halves = coarse[own[i]], fine[own[i]]
                    for row in range(n_rows):
                        high[i, row] = halves[row] if group[row] == g else 0
                        low[i, row] = other_halves[row] if group[row] == g else 0
                sums[first[t] + g * width] = n_own
                sums_of_group(high, low, q, 0, n_rows, sums, first[t] + g * width)
            continue
        n_kept = 0
        for row in range(n_rows):
            kept[n_kept] = row
            n_kept += not missed[row]
        for position in range(n_kept):
            group[position] = 0
        for s in range(state_start[t], state_start[t + 1]):
            column, k = codes[states[s]], cardinalities[states[s]]
            for position in range(n_kept):
                group[position] = group[position] * k + column[kept[position]]
        # Samples are put in the order of their groups, so that the loops over the samples of a group below
        # run through memory without gaps.
        start = np.zeros(n_groups + 1, np.int64)
        for position in range(n_kept):
            start[group[position] + 1] += 1
        for g in range(n_groups):
            start[g + 1] += start[g]
        for position in range(n_kept):
            order[start[group[position]]] = kept[position]
            start[group[position]] += 1
        for i in range(q):
            halves, other_halves = coarse[own[i]], fine[own[i]]
            for position in range(n_kept):
                high[i, position] = halves[order[position]]
                low[i, position] = other_halves[order[position]]
        # Each start was moved to the end of its group, which is where the next one begins.
        begin = 0
        for g in range(n_groups):
            end = start[g]
            sums[first[t] + g * width] = end - begin
            sums_of_group(high, low, q, begin, end, sums, first[t] + g * width)
            begin = end


@kernel
def sums_of_columns(
    codes: Array,
    coarse: Array,
    fine: Array,
    cardinalities: Array,
    members: Array,
    numeric: Array,
    member_start: Array,
    missing_states: Array,
    missing_state_start: Array,
    missing_numbers: Array,
    missing_number_start: Array,
    whole_sums: Array,
    whole_products: Array,
    first: Array,
    sums: Array,
) -> None:
    """Sum up a block for each query as if it had one group, and a number for each state of its states.

    These numbers are 1 where a sample has the state and 0 elsewhere, fine halves alone. Columns are in the
    order of a query's members, and the sums are laid out as those of a group with that many numbers.

    All sums are of pairs of columns. So where few samples miss a value, these are summed up and taken off the
    sums of all samples, each pair on the samples that have both; otherwise the samples without missing values
    are summed up. Of two members with states only one cell for each sample is not 0, however many there are.

    members : int64, discrete or continuous columns; numeric : bool, which of them are numbers.
    member_start : (n_queries + 1,) int64
        Query t has the members ``members[member_start[t]:member_start[t + 1]]``.
    whole_sums, whole_products : (2, columns) and (3, columns, columns) int64
        Sums of both halves of all columns, and the three parts of the products of pairs, over all samples
        that have them: first all numbers, then the states of all columns. Of no columns if they are unknown.
    sums : (first[-1],) int64, output, overwritten; other arguments are those of `sums_by_group`.
    """
    n_rows = codes.shape[1] if len(codes) else coarse.shape[1]
    missed = np.empty(n_rows, np.bool_)
    kept = np.empty(n_rows, np.int32)
    state_at = np.empty(len(cardinalities) + 1, np.int64)
    state_at[0] = len(coarse)
    for v in range(len(cardinalities)):
        state_at[v + 1] = state_at[v] + cardinalities[v]
    widest = 0
    for t in range(len(first) - 1):
        widest = max(widest, member_start[t + 1] - member_start[t])
    # Of numbers both halves, 0 where missing; of states the codes in `high`.
    high, low = np.empty((widest, n_rows), np.int32), np.empty((widest, n_rows), np.int32)
    for t in range(len(first) - 1):
        own = members[member_start[t] : member_start[t + 1]]
        is_number = numeric[member_start[t] : member_start[t + 1]]
        m = len(own)
        size, begin, whole_at = np.ones(m, np.int64), np.zeros(m + 1, np.int64), np.empty(m, np.int64)
        for i in range(m):
            if not is_number[i]:
                size[i] = cardinalities[own[i]]
            begin[i + 1] = begin[i] + size[i]
            whole_at[i] = own[i] if is_number[i] else state_at[own[i]]
        width = begin[m]
        missed[:] = False
        for s in range(missing_state_start[t], missing_state_start[t + 1]):
            column, gap = codes[missing_states[s]], cardinalities[missing_states[s]]
            for row in range(n_rows):
                missed[row] |= column[row] == gap
        for s in range(missing_number_start[t], missing_number_start[t + 1]):
            halves = coarse[missing_numbers[s]]
            for row in range(n_rows):
                missed[row] |= halves[row] == GAP
        n_missed = 0
        for row in range(n_rows):
            n_missed += missed[row]
        by_missing = whole_products.shape[1] > 0 and 2 * n_missed <= n_rows
        n_kept = 0
        for row in range(n_rows):
            kept[n_kept] = row
            n_kept += missed[row] == by_missing
        for i in range(m):
            if is_number[i]:
                halves, other_halves = coarse[own[i]], fine[own[i]]
                for position in range(n_kept):
                    high[i, position] = 0 if halves[kept[position]] == GAP else halves[kept[position]]
                    low[i, position] = other_halves[kept[position]]
            else:
                column = codes[own[i]]
                for position in range(n_kept):
                    high[i, position] = column[kept[position]]
        at = first[t]
        products = at + 1 + 2 * width
        sums[at : first[t + 1]] = 0
        sums[at] = n_rows - n_missed
        for i in range(m):
            # Members are in order, so that the columns of i come behind those of j.
            for j in range(i + 1):
                if is_number[i] and is_number[j]:
                    both_high, one_high, both_low = 0, 0, 0
                    for position in range(n_kept):
                        a, b = int64(high[i, position]), int64(low[i, position])
                        c, d = int64(high[j, position]), int64(low[j, position])
                        both_high += a * c
                        one_high += a * d + b * c
                        both_low += b * d
                    pair = products + 3 * (begin[i] * (begin[i] + 1) // 2 + begin[j])
                    sums[pair], sums[pair + 1], sums[pair + 2] = both_high, one_high, both_low
                elif is_number[i] or is_number[j]:
                    number, state = (i, j) if is_number[i] else (j, i)
                    # One cell more, for samples without a state.
                    of_high, of_low = np.zeros(size[state] + 1, np.int64), np.zeros(size[state] + 1, np.int64)
                    for position in range(n_kept):
                        of_high[high[state, position]] += high[number, position]
                        of_low[high[state, position]] += low[number, position]
                    for code in range(size[state]):
                        a, b = begin[i], begin[j]
                        if is_number[i]:
                            b += code
                        else:
                            a += code
                        pair = products + 3 * (a * (a + 1) // 2 + b)
                        sums[pair + 1], sums[pair + 2] = of_high[code], of_low[code]
                elif i == j:
                    counts = np.zeros(size[i] + 1, np.int64)
                    for position in range(n_kept):
                        counts[high[i, position]] += 1
                    for code in range(size[i]):
                        a = begin[i] + code
                        sums[products + 3 * (a * (a + 1) // 2 + a) + 2] = counts[code]
                        sums[at + 1 + width + a] = counts[code]
                else:
                    step = size[j] + 1
                    counts = np.zeros((size[i] + 1) * step, np.int64)
                    for position in range(n_kept):
                        counts[high[i, position] * step + high[j, position]] += 1
                    for code in range(size[i]):
                        a = begin[i] + code
                        for other in range(size[j]):
                            pair = products + 3 * (a * (a + 1) // 2 + begin[j] + other)
                            sums[pair + 2] = counts[code * step + other]
            if is_number[i]:
                total_high, total_low = 0, 0
                for position in range(n_kept):
                    total_high += high[i, position]
                    total_low += low[i, position]
                sums[at + 1 + begin[i]], sums[at + 1 + width + begin[i]] = total_high, total_low
        if by_missing:
            for i in range(m):
                for code in range(size[i]):
                    a, whole_a = begin[i] + code, whole_at[i] + code
                    sums[at + 1 + a] = whole_sums[0, whole_a] - sums[at + 1 + a]
                    sums[at + 1 + width + a] = whole_sums[1, whole_a] - sums[at + 1 + width + a]
                    for j in range(i + 1):
                        for other in range(size[j]):
                            b = begin[j] + other
                            if b <= a:
                                pair = products + 3 * (a * (a + 1) // 2 + b)
                                for part in range(3):
                                    whole = whole_products[part, whole_a, whole_at[j] + other]
                                    sums[pair + part] = whole - sums[pair + part]


@kernel
def sums_of_parts(
    host_sums: Array,
    at: Array,
    n_numbers: Array,
    sizes: Array,
    size_start: Array,
    positions: Array,
    numeric: Array,
    member_start: Array,
    first: Array,
    sums: Array,
) -> None:
    """Sum the groups of larger sets to those of smaller queries, on the same samples.

    The host of query t has the sums ``host_sums[at[t]:]``, laid out as by `sums_by_group`, of
    ``n_numbers[t]`` numbers in the configurations of states with
    ``sizes[size_start[t]:size_start[t + 1]]`` states each.

    positions : int64, where each member is among the states, or the numbers, of its host.
    numeric, member_start : as in `sums_of_columns`.
    first, sums : as in `sums_by_group`, output.
    """
    for t in range(len(first) - 1):
        own_sizes = sizes[size_start[t] : size_start[t + 1]]
        digit, stride = np.zeros(len(own_sizes), np.int64), np.zeros(len(own_sizes), np.int64)
        n_groups = 1
        for s in range(len(own_sizes)):
            n_groups *= own_sizes[s]
        # Of the members, the last state changes fastest.
        number = np.empty(member_start[t + 1] - member_start[t], np.int64)
        step, q = 1, 0
        for i in range(member_start[t + 1] - 1, member_start[t] - 1, -1):
            if not numeric[i]:
                stride[positions[i]] = step
                step *= own_sizes[positions[i]]
        for i in range(member_start[t], member_start[t + 1]):
            if numeric[i]:
                number[q] = positions[i]
                q += 1
        n_host = n_numbers[t]
        host_width = 1 + 2 * n_host + 3 * (n_host * (n_host + 1) // 2)
        width = 1 + 2 * q + 3 * (q * (q + 1) // 2)
        for position in range(first[t], first[t + 1]):
            sums[position] = 0
        group = 0
        for g in range(n_groups):
            source, target = at[t] + g * host_width, first[t] + group * width
            if host_sums[source] > 0:
                sums[target] += host_sums[source]
                for i in range(q):
                    sums[target + 1 + i] += host_sums[source + 1 + number[i]]
                    sums[target + 1 + q + i] += host_sums[source + 1 + n_host + number[i]]
                pair = target + 1 + 2 * q
                for i in range(q):
                    for j in range(i + 1):
                        low, high = min(number[i], number[j]), max(number[i], number[j])
                        other = source + 1 + 2 * n_host + 3 * (high * (high + 1) // 2 + low)
                        for part in range(3):
                            sums[pair + part] += host_sums[other + part]
                        pair += 3
            # The next configuration of the host, and the group that it is in.
            for s in range(len(own_sizes) - 1, -1, -1):
                digit[s] += 1
                group += stride[s]
                if digit[s] < own_sizes[s]:
                    break
                group -= digit[s] * stride[s]
                digit[s] = 0


@inner
def _inverse_of_part(precision: Array, lacks: Array, m: int, factor: Array, scratch: Array) -> None:
    """Write the inverse of the first m of `lacks` of a positive definite matrix to ``factor[:m, :m]``."""
    # The Cholesky factor L, a lower triangle.
    for i in range(m):
        for j in range(i + 1):
            value = precision[lacks[i], lacks[j]]
            for h in range(j):
                value -= factor[i, h] * factor[j, h]
            factor[i, j] = np.sqrt(value) if i == j else value / factor[j, j]
    # The inverse of L, by columns.
    for j in range(m):
        for i in range(j, m):
            value = 1.0 if i == j else 0.0
            for h in range(j, i):
                value -= factor[i, h] * scratch[j, h]
            scratch[j, i] = value / factor[i, i]
    # The product of both inverses takes the place of L.
    for i in range(m):
        for j in range(i + 1):
            value = 0.0
            for h in range(i, m):
                value += scratch[i, h] * scratch[j, h]
            factor[i, j] = factor[j, i] = value


@kernel
def fill_in(
    values: Array,
    missing: Array,
    order: Array,
    begin: Array,
    end: Array,
    owner: Array,
    mean: Array,
    precision: Array,
    inverse: Array,
    per_unit: float,
    scale: float,
    coarse: Array,
    left_open: Array,
) -> None:
    """Fill in what is missing in some rows by its expectation, given the rest of the row.

    With P the precision of all columns, m those that a row lacks and o those that it has, the expectation is
    mean_m - inverse(P_mm) P_mo (x_o - mean_o), and the covariance left open is inverse(P_mm): work for what
    is missing, not for what there is.

    values : (rows, columns) float64, in units of the scale; missing : (rows, variables) bool;
    owner : (columns,) variable of each column.
    order, begin, end : rows sorted by what they lack; rows ``order[begin[k]:end[k]]`` lack the same.
    mean, precision : of the columns.
    inverse : inverse(P_mm) of the only k, if the caller has it; else (0, 0).
    per_unit : units of `left_open` in one; scale : units of `coarse` in one.
    coarse : (rows, columns) float64, output where a value is missing: whole numbers.
    left_open : (columns, columns) int64, to which the covariances left open are added.
    """
    n = len(owner)
    lacks, about, terms = np.empty(n, np.int64), np.empty(n), np.empty(n)
    known = len(inverse) > 0
    size = int64(0) if known else int64(n)
    scratch, workspace = np.empty((size, size)), np.empty((size, size))
    factor = inverse if known else workspace
    for k in range(len(begin)):
        example, count = order[begin[k]], end[k] - begin[k]
        m = int64(0)
        for c in range(n):
            if missing[example, owner[c]]:
                lacks[m] = c
                m += 1
        if not known:
            _inverse_of_part(precision, lacks, m, factor, scratch)
        for i in range(m):
            for j in range(m):
                left_open[lacks[i], lacks[j]] += count * int64(np.rint(factor[i, j] * per_unit))
        for at in range(begin[k], end[k]):
            row = order[at]
            for c in range(n):
                about[c] = 0.0 if missing[row, owner[c]] else values[row, c] - mean[c]
            for i in range(m):
                value, own = 0.0, precision[lacks[i]]
                for c in range(n):
                    value += own[c] * about[c]
                terms[i] = value
            for i in range(m):
                value = mean[lacks[i]]
                for j in range(m):
                    value -= factor[i, j] * terms[j]
                coarse[row, lacks[i]] = np.rint(value * scale)


ROWS_AT_ONCE = 1 << 13
"""Rows whose codes stay in the cache while they are counted with those of all other columns."""


@kernel
def count_with_later(codes: Array, cardinalities: Array, first: Array, v: int, counts: Array) -> None:
    """Count the states of column v together with those of each column from v on.

    codes : (columns, rows) unsigned, a missing one is the column's number of states.
    cardinalities, first : (columns,) int64, the states of each column, and where these begin.
    counts : (all states, all states) int64, the samples in each two states are added.
    """
    own, n_own, n_rows = codes[v], cardinalities[v], codes.shape[1]
    for begin in range(0, n_rows, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, n_rows)
        for w in range(v, len(codes)):
            other, n_other = codes[w], cardinalities[w]
            table = counts[first[v] : first[v] + n_own, first[w] : first[w] + n_other]
            for row in range(begin, end):
                a, b = own[row], other[row]
                if a < n_own and b < n_other:
                    table[a, b] += 1
