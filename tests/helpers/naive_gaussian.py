"""Slow, obvious twins of the formulas on correlations. Imports nothing from f2sl."""

import math

import numpy as np
from scipy.special import multigammaln
from scipy.stats import norm


def correlation(x, y):
    """Correlate two columns, summed without rounding errors."""
    n = len(x)
    mean_x, mean_y = math.fsum(x) / n, math.fsum(y) / n
    both = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    own = math.fsum((a - mean_x) ** 2 for a in x) * math.fsum((b - mean_y) ** 2 for b in y)
    return both / math.sqrt(own)


def z_test(x, y):
    """p-value of Fisher's z for two columns."""
    z = math.sqrt(len(x) - 3) * math.atanh(correlation(x, y))
    return 2 * norm.sf(abs(z))


def partial_correlation(correlations, x, y, given):
    """Take one variable after another out of the condition: the formula that textbooks have for one."""
    if not given:
        return correlations[x][y]
    z, rest = given[0], given[1:]
    xy, xz, yz = (partial_correlation(correlations, *pair, rest) for pair in ((x, y), (x, z), (y, z)))
    return (xy - xz * yz) / math.sqrt((1 - xz * xz) * (1 - yz * yz))


def residuals(columns, child, parents):
    """What a linear regression with an intercept leaves of the child."""
    design = np.column_stack([np.ones(len(columns[child])), *(columns[p] for p in parents)])
    target = np.asarray(columns[child], float)
    return target - design @ np.linalg.lstsq(design, target, rcond=None)[0]


def bic(columns, child, parents):
    """The log likelihood of the regression, row by row, minus the price of its parameters."""
    left = residuals(columns, child, parents)
    n = len(left)
    variance = math.fsum(left**2) / n
    likelihood = math.fsum(-0.5 * math.log(2 * math.pi * variance) - r * r / (2 * variance) for r in left)
    return likelihood - (len(parents) + 2) / 2 * math.log(n)


def bge(columns, child, parents):
    """The score of the family's variables minus that of the parents', as Kuipers and others write it."""
    return _bge_of_set(columns, [*parents, child]) - _bge_of_set(columns, list(parents))


def _bge_of_set(columns, variables):
    data = np.asarray(columns, float)
    n, n_rows = data.shape
    size = len(variables)
    if not size:
        return 0.0
    alpha_mu, alpha_w = 1.0, n + 2.0
    scatter = n_rows * np.cov(data, bias=True).reshape(n, n)
    prior = alpha_mu * (alpha_w - n - 1) / (alpha_mu + 1) * np.diag(np.diag(scatter) / n_rows)
    part = np.ix_(variables, variables)
    degrees = alpha_w - n + size
    return (
        size / 2 * math.log(alpha_mu / (n_rows + alpha_mu))
        - size * n_rows / 2 * math.log(math.pi)
        + multigammaln((n_rows + degrees) / 2, size)
        - multigammaln(degrees / 2, size)
        + degrees / 2 * np.linalg.slogdet(prior[part])[1]
        - (n_rows + degrees) / 2 * np.linalg.slogdet((prior + scatter)[part])[1]
    )
