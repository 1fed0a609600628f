"""The inverse of a matrix of correlations: what is left between two variables given all others."""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats.gaussian import _kernels
from f2sl.stats.gaussian.fisher_z import COLLINEAR

DIGITS = 10
"""Partial correlations given all others are rounded to this many decimal places: what libraries of linear
algebra differ in is smaller."""


def decided(correlations: Floats) -> Integers:
    """List the variables that those before them decide, but for `COLLINEAR` of the variance.

    Examples
    --------
    >>> decided(np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]])).tolist()
    [2]
    """
    factor = np.zeros_like(correlations)
    _kernels.factorise(correlations, np.arange(len(correlations)), COLLINEAR, factor)
    return np.flatnonzero(np.diag(factor) == 0.0)


def given_all_others(correlations: Floats) -> Floats:
    """Correlate each two variables given all others; none may be decided by others.

    Examples
    --------
    >>> given_all_others(np.array([[1, 0.8, 0.64], [0.8, 1, 0.8], [0.64, 0.8, 1]]))[0].round(6).tolist()
    [1.0, 0.624695, 0.0]
    """
    precision = np.linalg.inv(correlations)
    scale = np.sqrt(np.diag(precision))
    partial = -np.round(precision / np.outer(scale, scale), DIGITS)
    np.fill_diagonal(partial, 1.0)
    return np.asarray((partial + partial.T) / 2.0) + 0.0
