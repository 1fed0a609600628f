"""Slow, obvious twins of the functions that continuous optimisation uses, importing nothing from f2sl.

Matrices are lists of rows.
"""

from __future__ import annotations

import math


def loss(weights, samples):
    """Half the mean squared error of predicting each centred column by the others."""
    n, d = len(samples), len(weights)
    means = [sum(row[j] for row in samples) / n for j in range(d)]
    centred = [[row[j] - means[j] for j in range(d)] for row in samples]
    total = 0.0
    for row in centred:
        for j in range(d):
            predicted = sum(row[i] * weights[i][j] for i in range(d))
            total += (row[j] - predicted) ** 2
    return total / (2 * n)


def product(a, b):
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a
    ]


def trace_exponential(weights, terms=60):
    """Trace of the exponential of the squared weights minus their number, by the power series."""
    d = len(weights)
    squares = [[w * w for w in row] for row in weights]
    power = squares
    total = 0.0
    for k in range(1, terms):
        total += sum(power[i][i] for i in range(d)) / math.factorial(k)
        power = product(power, squares)
    return total


def determinant(matrix):
    """By expansion along the first row."""
    if not matrix:
        return 1.0
    total = 0.0
    for j, factor in enumerate(matrix[0]):
        rest = [row[:j] + row[j + 1 :] for row in matrix[1:]]
        total += (-1) ** j * factor * determinant(rest)
    return total


def log_determinant(weights, s):
    d = len(weights)
    matrix = [[(s if i == j else 0.0) - weights[i][j] ** 2 for j in range(d)] for i in range(d)]
    return d * math.log(s) - math.log(determinant(matrix))


def has_cycle(weights):
    """Try every start: does a walk along the weights that are not 0 lead back to it?"""
    n = len(weights)
    for start in range(n):
        reached, new = set(), {j for j in range(n) if weights[start][j]}
        while new - reached:
            reached |= new
            new = {j for i in reached for j in range(n) if weights[i][j]}
        if start in reached:
            return True
    return False


def varsortability(variances, edges):
    """Walk all paths; of each pair of ends and length count one."""
    found = {(a, b, 1) for a, b in edges}
    for length in range(1, len(variances)):
        found |= {(a, c, length + 1) for a, b, k in found if k == length for x, c in edges if x == b}
    worth = [
        1.0 if variances[a] < variances[b] else 0.5 if variances[a] == variances[b] else 0.0
        for a, b, _ in found
    ]
    return sum(worth) / len(worth)


def normal_quantile(share):
    """The point with that share of the standard normal distribution below it, by halving an interval."""
    low, high = -10.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        if math.erfc(-middle / math.sqrt(2)) / 2 < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
