"""Scores of a family of Gaussian variables: how well a set of parents explains a child, linearly.

Both add up over the families of a network, higher is better, and are the same for equivalent networks.

========  ==================================================================================
"bic-g"   maximum log likelihood - log(N) / 2 times (number of parents + 2)
"bge"     marginal likelihood under a normal-Wishart prior (Geiger and Heckerman 2002, with
          the correction by Kuipers, Moffa and Heckerman 2014)
========  ==================================================================================

A family of "bic-g" has a coefficient for each parent, an intercept and a variance. The prior of
"bge" has alpha_mu = 1 and alpha_w = n + alpha_mu + 1 for n variables, as Kuipers and others choose; its means
are those of the sample, and its matrix T is t times the variances of the sample on the diagonal, with
t = alpha_mu (alpha_w - n - 1) / (alpha_mu + 1), so that neither the place nor the unit of a measurement
decides.

Of a child that its parents decide, at least `COLLINEAR` of the variance is taken to be left. A family with so
many parents that nothing can be left has the score minus infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from f2sl._arrays import Floats
from f2sl.errors import OptionError, unknown_name
from f2sl.stats.families import FamilyScores
from f2sl.stats.gaussian import _kernels
from f2sl.stats.gaussian.fisher_z import COLLINEAR
from f2sl.storage.moments import Moments
from f2sl.storage.protocol import Queries

ALPHA_MU = 1.0
ALPHA_W_ABOVE_N = ALPHA_MU + 1.0
"""How much alpha_w exceeds the number of variables."""
PRIOR_VARIANCE = ALPHA_MU * (ALPHA_W_ABOVE_N - 1.0) / (ALPHA_MU + 1.0)
"""t of the papers."""


class GaussianFamilyScore(FamilyScores):
    """Scores families on an engine's correlations, each family once.

    Parameters
    ----------
    engine : Moments
        Whose variances and correlations.
    score : {"bic-g", "bge"}
        One of the names above.
    """

    def __init__(self, engine: Moments, score: str = "bic-g") -> None:
        if score not in SCORES:
            raise OptionError(unknown_name("score", score, SCORES))
        super().__init__()
        self.engine = engine
        self._formula = SCORES[score]

    def _evaluate(self, queries: Queries) -> Floats:
        children = queries.variables[queries.start[1:] - 1]
        values = self._formula(self, queries, np.diff(queries.start) - 1.0)
        return values - 0.5 * self.engine.n_rows * np.log(self.engine.variances[children])

    def _bic(self, queries: Queries, sizes: Floats) -> Floats:
        """Score families of variables of variance 1."""
        n_rows = self.engine.n_rows
        _, left = _eliminated(self.engine.correlations, queries, COLLINEAR)
        log_likelihood = -0.5 * n_rows * (np.log(2.0 * math.pi * np.maximum(left, COLLINEAR)) + 1.0)
        scores = log_likelihood - 0.5 * math.log(n_rows) * (sizes + 2.0)
        return np.where(sizes < n_rows - 1, scores, -np.inf)

    def _bge(self, queries: Queries, sizes: Floats) -> Floats:
        """Score families of variables of variance 1."""
        from scipy.special import gammaln

        n_rows = self.engine.n_rows
        log_determinant, left = _eliminated(self._posterior, queries, 0.0)
        # The score of a set of l variables is a product over l; of a family, its last factor is left over.
        degrees = ALPHA_W_ABOVE_N + sizes + 1.0
        return np.asarray(
            0.5 * math.log(ALPHA_MU / (n_rows + ALPHA_MU))
            - 0.5 * n_rows * math.log(math.pi)
            + gammaln((n_rows + degrees) / 2.0)
            - gammaln(degrees / 2.0)
            + 0.5 * (degrees + sizes) * math.log(PRIOR_VARIANCE)
            - 0.5 * (n_rows + degrees) * np.log(left)
            - 0.5 * log_determinant
        )

    @cached_property
    def _posterior(self) -> Floats:
        """R of the papers, of variables of variance 1; the means of prior and sample are the same."""
        matrix = self.engine.n_rows * self.engine.correlations
        matrix[np.diag_indices(len(matrix))] += PRIOR_VARIANCE
        return np.asarray(matrix)


def _eliminated(matrix: Floats, queries: Queries, tolerance: float) -> tuple[Floats, Floats]:
    """Of each family, the logarithm of the parents' determinant, and what they leave of the child's entry."""
    log_determinant, left = np.empty(len(queries)), np.empty(len(queries))
    _kernels.eliminate(matrix, queries.variables, queries.start, tolerance, log_determinant, left)
    return log_determinant, left


SCORES: dict[str, Callable[[GaussianFamilyScore, Queries, Floats], Floats]] = {
    "bic-g": GaussianFamilyScore._bic,
    "bge": GaussianFamilyScore._bge,
}
"""Scores by the name they are asked for."""
