"""Sum products of columns of numbers over the samples that have all of them.

Numbers come as coarse and fine halves, whole numbers both (`storage/moments.py`): all sums are exact.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel


@kernel
def complete_sums(
    coarse: Array, fine: Array, missing: Array, variables: Array, n_rows: Array, sums: Array, products: Array
) -> None:
    """Sum the columns of each question, and their products, over the samples without missing values in them.

    Parameters
    ----------
    coarse, fine : (n, rows) float64
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
    high, low = np.empty((k, coarse.shape[1])), np.empty((k, coarse.shape[1]))
    for t in range(m):
        # The samples are gathered first, so that the loops over them are regular.
        n = 0
        for s in range(coarse.shape[1]):
            there = True
            for v in variables[t]:
                there = there and not missing[v, s]
            if there:
                for i in range(k):
                    high[i, n], low[i, n] = coarse[variables[t, i], s], fine[variables[t, i], s]
                n += 1
        n_rows[t] = n
        for i in range(k):
            sums[t, 0, i], sums[t, 1, i] = high[i, :n].sum(), low[i, :n].sum()
            for j in range(i + 1):
                both, mixed, least = 0.0, 0.0, 0.0
                for s in range(n):
                    both += high[i, s] * high[j, s]
                    mixed += high[i, s] * low[j, s] + low[i, s] * high[j, s]
                    least += low[i, s] * low[j, s]
                products[t, 0, i, j] = products[t, 0, j, i] = both
                products[t, 1, i, j] = products[t, 1, j, i] = mixed
                products[t, 2, i, j] = products[t, 2, j, i] = least
