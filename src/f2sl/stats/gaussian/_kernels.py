"""Loops over small parts of a matrix of correlations.

Conditioning on variables is Gaussian elimination, here by Cholesky's factors of the part of the
matrix that belongs to them. A variable that the ones before it decide, but for `tolerance` of its variance,
adds nothing to the condition and is passed over; so collinear columns need no case of their own.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel


@kernel
def factorise(matrix: Array, members: Array, tolerance: float, factor: Array) -> None:
    """Write Cholesky's factor of the members' part of `matrix`; rows passed over have 0 on the diagonal."""
    for i in range(len(members)):
        rest = project(matrix, members[:i], factor, members[i], factor[i])
        factor[i, i] = np.sqrt(rest) if rest > tolerance * matrix[members[i], members[i]] else 0.0


@kernel
def project(matrix: Array, members: Array, factor: Array, variable: int, weights: Array) -> float:
    """Write what the members tell of a variable, in the factor's coordinates; give the variance left."""
    rest = matrix[variable, variable]
    for i in range(len(members)):
        if factor[i, i] == 0.0:
            weights[i] = 0.0
            continue
        weight = matrix[members[i], variable]
        for j in range(i):
            weight -= factor[i, j] * weights[j]
        weights[i] = weight / factor[i, i]
        rest -= weights[i] * weights[i]
    return float(rest)


@kernel
def partial_correlations(
    correlations: Array, x: Array, y: Array, given: Array, tolerance: float, result: Array
) -> None:
    """Correlate each x and y given a row of other variables; not a number where those decide x or y."""
    k = given.shape[1]
    factor = np.zeros((k, k))
    of_x, of_y = np.zeros(k), np.zeros(k)
    for t in range(len(x)):
        # Learners ask about many pairs given the same variables: their factor is made once.
        same = t > 0
        for i in range(k):
            same = same and given[t, i] == given[t - 1, i]
        if not same:
            factorise(correlations, given[t], tolerance, factor)
        rest_x = project(correlations, given[t], factor, x[t], of_x)
        rest_y = project(correlations, given[t], factor, y[t], of_y)
        if rest_x <= tolerance or rest_y <= tolerance:
            result[t] = np.nan
            continue
        both = correlations[x[t], y[t]]
        for i in range(k):
            both -= of_x[i] * of_y[i]
        result[t] = both / np.sqrt(rest_x * rest_y)


@kernel
def eliminate(
    matrix: Array, variables: Array, start: Array, tolerance: float, log_determinant: Array, left: Array
) -> None:
    """For each list of variables, what is left of the last one's diagonal entry given the others.

    `log_determinant` is that of the others' part of the matrix, without those passed over.
    """
    widest = 0
    for t in range(len(start) - 1):
        widest = max(widest, start[t + 1] - start[t])
    factor = np.zeros((widest, widest))
    weights = np.zeros(widest)
    for t in range(len(start) - 1):
        others, last = variables[start[t] : start[t + 1] - 1], variables[start[t + 1] - 1]
        factorise(matrix, others, tolerance, factor)
        left[t] = project(matrix, others, factor, last, weights)
        total = 0.0
        for i in range(len(others)):
            if factor[i, i] > 0.0:
                total += 2.0 * np.log(factor[i, i])
        log_determinant[t] = total
