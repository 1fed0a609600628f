"""Slow, obvious versions of what is computed from states and numbers together; imports nothing from f2sl."""

import math

import numpy as np


def indicators(codes):
    """Make a column for each state that occurs but the last."""
    return [(codes == state).astype(float) for state in np.unique(codes)[:-1]]


def columns_of(columns, kinds, variables):
    """List the columns that variables are embedded as."""
    found = []
    for v in variables:
        found += [columns[v]] if kinds[v] == "continuous" else indicators(columns[v])
    return found


def left_over(targets, given):
    """Return the residuals of some columns by least squares on others, with an intercept."""
    design = np.column_stack([np.ones(len(targets[0])), *given])
    values = np.column_stack(targets)
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


def degenerate_statistic(columns, kinds, x, y, given, least=1e-8):
    """Return Bartlett's statistic of the columns of x and y given those of others, and degrees of freedom.

    A column that others determine has the share `least` of its variance left over.
    """
    of_x, of_y, of_z = (columns_of(columns, kinds, variables) for variables in ([x], [y], given))
    n = len(columns[0])

    def log_determinant(others):
        shares = [left_over([own], others + of_y[:i]).var() / own.var() for i, own in enumerate(of_y)]
        return np.log(np.maximum(shares, least)).sum()

    def rank(members):
        return np.linalg.matrix_rank(np.corrcoef(members), 1e-8) if len(members) > 1 else len(members)

    rank_x, rank_y = rank(of_z + of_x) - rank(of_z), rank(of_z + of_y) - rank(of_z)
    factor = n - 1 - rank(of_z) - (rank_x + rank_y + 1) / 2
    return factor * (log_determinant(of_z) - log_determinant(of_z + of_x)), rank_x * rank_y


def groups(columns, kinds, variables):
    """List the rows of each configuration of the states among variables."""
    states = [columns[v] for v in variables if kinds[v] != "continuous"]
    keys = list(zip(*states, strict=True)) if states else [()] * len(columns[0])
    return [[i for i, key in enumerate(keys) if key == one] for one in sorted(set(keys))]


def gaussian_part(columns, kinds, variables, weight):
    """Return the log likelihood of the numbers among variables, normal in each group, and how many groups.

    Each group's covariances are those of its rows and of `weight` more, with those common to all groups.
    """
    numbers = [columns[v] for v in variables if kinds[v] == "continuous"]
    rows = groups(columns, kinds, variables)
    if not numbers:
        return 0.0, len(rows)
    values = np.column_stack(numbers)
    about = [values[own] - values[own].mean(axis=0) for own in rows]
    pooled = sum(part.T @ part for part in about) / len(values)
    total = 0.0
    for part in about:
        n = len(part)
        covariance = pooled if math.isinf(weight) else (part.T @ part + weight * pooled) / (n + weight)
        total -= 0.5 * n * np.linalg.slogdet(2 * np.pi * covariance)[1]
        total -= 0.5 * np.trace(np.linalg.inv(covariance) @ part.T @ part)
    return total, len(rows)


def multinomial(columns, kinds, variables):
    """Return the maximum log likelihood of the states among variables."""
    n = len(columns[0])
    return sum(len(rows) * math.log(len(rows) / n) for rows in groups(columns, kinds, variables))


def conditional_log_likelihood(columns, kinds, variables, weight):
    """Return the log likelihood of a set of variables."""
    return multinomial(columns, kinds, variables) + gaussian_part(columns, kinds, variables, weight)[0]


def parameters(kinds, variables, n_groups, weight):
    """Return how many parameters the numbers of a set have."""
    q = sum(kinds[v] == "continuous" for v in variables)
    shared = q * (q + 1) / 2
    return n_groups * q + shared if math.isinf(weight) else n_groups * (q + shared)


def cg_bic(columns, kinds, child, given, weight=5.0):
    """Score a family as the difference of two sets' log likelihoods, with their penalties."""

    def of_set(variables):
        full = math.prod(int(columns[v].max()) + 1 for v in variables if kinds[v] != "continuous")
        penalty = full - 1 + parameters(kinds, variables, full, weight)
        fit = conditional_log_likelihood(columns, kinds, variables, weight)
        return fit - 0.5 * math.log(len(columns[0])) * penalty

    return of_set([*given, child]) - of_set(list(given))


def dg_bic(columns, kinds, child, given):
    """Score a family by the likelihood of its columns, indicators in units of their deviations."""
    of_child, of_given = columns_of(columns, kinds, [child]), columns_of(columns, kinds, given)
    n, d = len(columns[0]), len(of_child)
    if kinds[child] != "continuous":
        of_child = [column / column.std() for column in of_child]
    rest = left_over(of_child, of_given)
    fit = -0.5 * n * (np.linalg.slogdet(rest.T @ rest / n)[1] + d * (1 + math.log(2 * math.pi)))
    return fit - 0.5 * math.log(n) * (d * (len(of_given) + 1) + d * (d + 1) / 2)
