"""Scores of a family of Gaussian variables: how well a set of parents explains a child, linearly.

Both add up over the families of a network, higher is better, and are the same for equivalent networks.

========  ==================================================================================
"bge"     marginal likelihood under a normal-Wishart prior (Geiger and Heckerman 2002, with
          the correction by Kuipers, Moffa and Heckerman 2014)
"bic-g"   maximum log likelihood - log(N) / 2 times (number of parents + 2)
========  ==================================================================================

A family of "bic-g" has a coefficient for each parent, an intercept and a variance. The prior of
"bge" has alpha_mu = 1 and alpha_w = n + alpha_mu + 1 for n variables, as Kuipers and others choose; its means
are those of the sample, and its matrix T is t times the variances of the sample on the diagonal, with
t = alpha_mu (alpha_w - n - 1) / (alpha_mu + 1), so that neither the place nor the unit of a measurement
decides.

Of a child that its parents determine, at least `COLLINEAR` of the variance is taken to be left. A family with
so many parents that nothing can be left has the score minus infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats.conditioning import COLLINEAR, eliminated
from f2sl.stats.scores.base import FamilyScores, Score
from f2sl.storage.moments import Moments
from f2sl.storage.protocol import Queries
from f2sl.table.column import NUMBER

ALPHA_MU = 1.0
ALPHA_W_ABOVE_N = ALPHA_MU + 1.0
"""How much alpha_w exceeds the number of variables."""
PRIOR_VARIANCE = ALPHA_MU * (ALPHA_W_ABOVE_N - 1.0) / (ALPHA_MU + 1.0)
"""t of the papers."""


class GaussianScore(Score):
    """Base of the scores of real numbers."""

    kinds = (NUMBER,)
    requires = "of_families"

    def matrix(self, moments: Moments) -> Floats:
        """Return the matrix from which the parents of a family are eliminated, of variables of variance 1."""
        raise NotImplementedError

    def of_families(self, matrix: Floats, queries: Queries, n_rows: int) -> Floats:
        """Score families of variables of variance 1, the parents first."""
        raise NotImplementedError

    def families(self, data: Any, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        return self.bind(data).score_all(children, parents)

    def bind(self, engine: Any) -> FamilyScores:
        """Make the score ready to score families on an engine's correlations."""
        moments: Moments = engine.moments
        matrix = self.matrix(moments)

        def evaluate(queries: Queries) -> Floats:
            children = queries.variables[queries.start[1:] - 1]
            values = self.of_families(matrix, queries, moments.n_rows)
            return values - 0.5 * moments.n_rows * np.log(moments.variances[children])

        return FamilyScores(evaluate, self.edge_log_prior)


@dataclass(frozen=True)
class GaussianBIC(GaussianScore):
    """Maximum log likelihood of linear Gaussian families less log(N) / 2 for each parameter."""

    def matrix(self, moments: Moments) -> Floats:
        """Return the correlations."""
        return moments.correlations

    def of_families(self, matrix: Floats, queries: Queries, n_rows: int) -> Floats:
        """Score families of variables of variance 1, the parents first."""
        sizes = np.diff(queries.start) - 1.0
        _, left = eliminated(matrix, queries, COLLINEAR)
        log_likelihood = -0.5 * n_rows * (np.log(2.0 * math.pi * np.maximum(left, COLLINEAR)) + 1.0)
        scores = log_likelihood - 0.5 * math.log(n_rows) * (sizes + 2.0)
        return np.where(sizes < n_rows - 1, scores, -np.inf)


@dataclass(frozen=True)
class BGe(GaussianScore):
    """Marginal likelihood under a normal-Wishart prior."""

    def matrix(self, moments: Moments) -> Floats:
        """Return R of the papers, of variables of variance 1; the means of prior and sample are the same."""
        matrix = moments.n_rows * moments.correlations
        matrix[np.diag_indices(len(matrix))] += PRIOR_VARIANCE
        return np.asarray(matrix)

    def of_families(self, matrix: Floats, queries: Queries, n_rows: int) -> Floats:
        """Score families of variables of variance 1, the parents first."""
        from scipy.special import gammaln

        sizes = np.diff(queries.start) - 1.0
        log_determinant, left = eliminated(matrix, queries, 0.0)
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
