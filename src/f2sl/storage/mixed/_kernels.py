"""Sum numbers by the configuration of states.

A query names some columns of states and some of numbers. Its *groups* are the configurations of the states,
the last changing fastest, one group if there are no states. Each group has a row of sums over its samples,
all of them whole numbers: how many samples, then for the q numbers the sums of the coarse and of the fine
halves (`storage/moments.py`), then for each pair i >= j the sums of the products of coarse halves, of coarse
with fine ones, and of fine ones.

states, state_start, numbers, number_start : int64
    Query t has the columns ``states[state_start[t]:state_start[t + 1]]``, and numbers alike.
first : (n_queries + 1,) int64
    Where the rows of each query begin in the flat array of all sums.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel


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
    first: Array,
    sums: Array,
) -> None:
    """Sum up a block of rows for each query.

    codes : (n_states, rows) unsigned; coarse, fine : (n_numbers, rows) int32; sums : int64, output.
    """
    n_rows = codes.shape[1] if len(codes) else coarse.shape[1]
    group = np.empty(n_rows, np.int64)
    order = np.empty(n_rows, np.int64)
    widest = 0
    for t in range(len(first) - 1):
        widest = max(widest, number_start[t + 1] - number_start[t])
    high, low = np.empty((widest, n_rows), np.int64), np.empty((widest, n_rows), np.int64)
    for t in range(len(first) - 1):
        n_groups = 1
        group[:] = 0
        for s in range(state_start[t], state_start[t + 1]):
            k = cardinalities[states[s]]
            n_groups *= k
            for row in range(n_rows):
                group[row] = group[row] * k + codes[states[s], row]
        # Samples are put in the order of their groups, so that the loops over the samples of a group below
        # run through memory without gaps.
        start = np.zeros(n_groups + 1, np.int64)
        for row in range(n_rows):
            start[group[row] + 1] += 1
        for g in range(n_groups):
            start[g + 1] += start[g]
        for row in range(n_rows):
            order[start[group[row]]] = row
            start[group[row]] += 1
        own = numbers[number_start[t] : number_start[t + 1]]
        q = len(own)
        for i in range(q):
            for place in range(n_rows):
                high[i, place] = coarse[own[i], order[place]]
                low[i, place] = fine[own[i], order[place]]
        # Each start was moved to the end of its group, which is where the next one begins.
        begin = 0
        at = first[t]
        for g in range(n_groups):
            end = start[g]
            sums[at] = end - begin
            for i in range(q):
                total_high, total_low = 0, 0
                for place in range(begin, end):
                    total_high += high[i, place]
                    total_low += low[i, place]
                sums[at + 1 + i] = total_high
                sums[at + 1 + q + i] = total_low
            at += 1 + 2 * q
            for i in range(q):
                for j in range(i + 1):
                    both_high, one_high, both_low = 0, 0, 0
                    for place in range(begin, end):
                        both_high += high[i, place] * high[j, place]
                        one_high += high[i, place] * low[j, place] + low[i, place] * high[j, place]
                        both_low += low[i, place] * low[j, place]
                    sums[at] = both_high
                    sums[at + 1] = one_high
                    sums[at + 2] = both_low
                    at += 3
            begin = end
