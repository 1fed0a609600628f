"""Sum products of continuous columns over the samples that have all of them.

Numbers come as coarse and fine halves, whole numbers both (`data/moments.py`): all sums are exact.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, int64, kernel, popcount


@kernel
def complete_sums(
    coarse: Array,
    fine: Array,
    missing: Array,
    whole_sums: Array,
    whole_products: Array,
    variables: Array,
    n_rows: Array,
    sums: Array,
    products: Array,
) -> None:
    """Sum the columns of each question, and their products, over the samples without missing values in them.

    Mostly few samples miss a value. Then these are summed up, and taken off the sums of all samples; all are
    whole numbers, so that both ways give the same. Only the samples of one of the two ways are looked at.

    Parameters
    ----------
    coarse, fine : (n, rows) int32
        Halves of the numbers; 0 where they are missing.
    missing : (n, words) uint64
        A bit for each sample that misses the number; bits beyond the last sample are 0.
    whole_sums : (2, n) float64
        Sums of the coarse and of the fine halves of all samples.
    whole_products : (3, n, n) float64
        Sums of products of all samples, as in `products`; of no columns where they are not known.
    variables : (m, k) int64
        Columns of each question.
    n_rows : (m,) float64
        Output: number of samples.
    sums : (m, 2, k) float64
        Output: sums of the coarse and of the fine halves.
    products : (m, 3, k, k) float64
        Output: sums of coarse with coarse, of both mixed terms, and of fine with fine halves.
    """
    m, k = variables.shape
    n, n_words = coarse.shape[1], missing.shape[1]
    missed = np.empty(n_words, np.uint64)
    positions = np.empty(n, np.int32)
    high, low = np.empty((k, n), np.int32), np.empty((k, n), np.int32)
    one, every = np.uint64(1), ~np.uint64(0)
    for t in range(m):
        for w in range(n_words):
            missed[w] = 0
        for v in variables[t]:
            for w in range(n_words):
                missed[w] |= missing[v, w]
        n_missed = int64(0)
        for w in range(n_words):
            n_missed += popcount(missed[w])
        n_rows[t] = n - n_missed
        by_missing = whole_products.shape[1] > 0 and 2 * n_missed <= n
        # The samples that are summed up: those that miss a value, or those that miss none.
        n_positions = 0
        for w in range(n_words):
            bits = missed[w]
            if not by_missing:
                bits ^= every
                if 64 * (w + 1) > n:
                    bits &= every >> np.uint64(64 * (w + 1) - n)
            while bits != 0:
                below = bits - one
                # Below the lowest bit are as many zeros as this has ones.
                positions[n_positions] = 64 * w + popcount(below & ~bits)
                n_positions += 1
                bits &= below
        for i in range(k):
            v = variables[t, i]
            total_high, total_low = 0, 0
            for s in range(n_positions):
                high[i, s] = coarse[v, positions[s]]
                low[i, s] = fine[v, positions[s]]
                total_high += high[i, s]
                total_low += low[i, s]
            if by_missing:
                sums[t, 0, i], sums[t, 1, i] = whole_sums[0, v] - total_high, whole_sums[1, v] - total_low
            else:
                sums[t, 0, i], sums[t, 1, i] = total_high, total_low
        for i in range(k):
            for j in range(i + 1):
                both, mixed, least = 0, 0, 0
                # Loops without branches over 32-bit integers, with 64-bit products, take several at a time.
                for s in range(n_positions):
                    a, b = int64(high[i, s]), int64(low[i, s])
                    c, d = int64(high[j, s]), int64(low[j, s])
                    both += a * c
                    mixed += a * d + b * c
                    least += b * d
                if by_missing:
                    v, u = variables[t, i], variables[t, j]
                    products[t, 0, i, j] = whole_products[0, v, u] - both
                    products[t, 1, i, j] = whole_products[1, v, u] - mixed
                    products[t, 2, i, j] = whole_products[2, v, u] - least
                else:
                    products[t, 0, i, j], products[t, 1, i, j], products[t, 2, i, j] = both, mixed, least
                for part in range(3):
                    products[t, part, j, i] = products[t, part, i, j]


@kernel
def complete_rows(missing: Array, sets: Array, n_rows: int, found: Array) -> None:
    """Count the samples that have all variables of each set.

    missing : (n, words) uint64, as in `complete_sums`; sets : (m, k) int64, variables.
    found : (m,) int64, output.
    """
    for t in range(len(sets)):
        n_missed = int64(0)
        for w in range(missing.shape[1]):
            missed = np.uint64(0)
            for v in sets[t]:
                missed |= missing[v, w]
            n_missed += popcount(missed)
        found[t] = n_rows - n_missed
