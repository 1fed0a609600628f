"""Sum products of columns of numbers over the samples that have all of them.

Numbers come as coarse and fine halves, whole numbers both (`storage/moments.py`): all sums are exact.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, int64, kernel


@kernel
def complete_sums(
    coarse: Array, fine: Array, missing: Array, variables: Array, n_rows: Array, sums: Array, products: Array
) -> None:
    """Sum the columns of each question, and their products, over the samples without missing values in them.

    Parameters
    ----------
    coarse, fine : (n, rows) int32
        Halves of the numbers; anything where they are missing.
    missing : (n, rows) bool
        Where numbers are missing.
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
    n = coarse.shape[1]
    missed = np.empty(n, np.bool_)
    high, low = np.empty((k, n), np.int32), np.empty((k, n), np.int32)
    for t in range(m):
        missed[:] = False
        for v in variables[t]:
            for s in range(n):
                missed[s] |= missing[v, s]
        n_missed = 0
        for s in range(n):
            n_missed += missed[s]
        n_rows[t] = n - n_missed
        # Samples that miss a value add 0: loops without branches over 32-bit integers, with 64-bit products,
        # handle several samples at a time.
        for i in range(k):
            v = variables[t, i]
            total_high, total_low = 0, 0
            for s in range(n):
                high[i, s] = 0 if missed[s] else coarse[v, s]
                low[i, s] = 0 if missed[s] else fine[v, s]
                total_high += high[i, s]
                total_low += low[i, s]
            sums[t, 0, i], sums[t, 1, i] = total_high, total_low
        for i in range(k):
            for j in range(i + 1):
                both, mixed, least = 0, 0, 0
                for s in range(n):
                    a, b = int64(high[i, s]), int64(low[i, s])
                    c, d = int64(high[j, s]), int64(low[j, s])
                    both += a * c
                    mixed += a * d + b * c
                    least += b * d
                products[t, 0, i, j] = products[t, 0, j, i] = both
                products[t, 1, i, j] = products[t, 1, j, i] = mixed
                products[t, 2, i, j] = products[t, 2, j, i] = least
