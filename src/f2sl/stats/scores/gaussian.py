"""Scores of families of Gaussian variables: how well a linear function of the parents explains a child.

Both add up over the families of a network, higher is better, and are the same for equivalent networks.

========  ==================================================================================
"bge"     marginal likelihood under a normal-Wishart prior (Geiger and Heckerman 2002, with
          the correction by Kuipers, Moffa and Heckerman 2014)
"bic-g"   maximum log likelihood - log(N) / 2 times (number of parents + 2)
========  ==================================================================================

A family of "bic-g" has a coefficient for each parent, an intercept and a variance. The prior of "bge" has
alpha_mu = 1 and alpha_w = n + alpha_mu + 1 for n variables, as Kuipers and others choose; its means are those
of the sample, and its matrix T is t times the variances of the sample on the diagonal, with t = alpha_mu
(alpha_w - n - 1) / (alpha_mu + 1), so that shifting or scaling a column has no effect.

If the parents determine a child, a share `COLLINEAR` of its variance is assumed to be left. A family with too
many parents for any residual has the score minus infinity.

With missing values "bic-g" takes the correlations of the normal distribution that fits all rows best
(:mod:`f2sl.data.mixed.expected`), and a parent costs the more, the fewer rows have both it and the child.
"bge" compares families on the rows that have all of their variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.available import AvailableMoments
from f2sl.data.column import CONTINUOUS
from f2sl.data.engines import Queries
from f2sl.data.moments import Moments
from f2sl.stats.conditioning import COLLINEAR, eliminated
from f2sl.stats.scores.base import AvailableFamilies, Compared, FamilyScores, Score, by_size

ALPHA_MU = 1.0
ALPHA_W_ABOVE_N = ALPHA_MU + 1.0
"""Excess of alpha_w over the number of variables."""
PRIOR_VARIANCE = ALPHA_MU * (ALPHA_W_ABOVE_N - 1.0) / (ALPHA_MU + 1.0)
"""t of the papers."""


FAMILIES_AT_ONCE = 1 << 14
"""Number of families whose moments are in memory at a time, if numbers are missing."""


class LinearForm(NamedTuple):
    """Coefficients of constant - weight log(left) - share log(determinant), two by number of parents."""

    constant: Floats
    weight: Floats
    share: float


class GaussianScore(Score):
    """Base of the scores of continuous variables."""

    kinds = (CONTINUOUS,)
    _requires = "of_families"

    tolerance = 0.0
    """Residual share of a variable's diagonal entry, given others, below which the variable is skipped."""

    def matrix(self, correlations: Floats, n_rows: int | Floats) -> Floats:
        """Return the matrix, or one for each family, from which the parents of a family are eliminated."""
        raise NotImplementedError

    def of_families(
        self, log_determinant: Floats, left: Floats, sizes: Floats, n_rows: int | Floats
    ) -> Floats:
        """Score families of standardised variables from log determinant and residual variance.

        The score has to be linear in the logarithms of both (:meth:`linear_form`).
        """
        raise NotImplementedError

    def linear_form(self, sizes: Floats, n_rows: int) -> LinearForm:
        """Return the coefficients of the score as a linear function of two logarithms, by number of parents.

        Examples
        --------
        >>> GaussianBIC().linear_form(np.array([0.0, 1.0]), 100).weight.tolist()
        [50.0, 50.0]
        """
        zero, one = np.zeros(len(sizes)), np.ones(len(sizes))
        constant = self.of_families(zero, one, sizes, n_rows)
        with np.errstate(invalid="ignore"):  # families with too many parents
            weight = constant - self.of_families(zero, one * math.e, sizes, n_rows)
            share = constant[0] - self.of_families(one, one, sizes, n_rows)[0]
        return LinearForm(constant, weight, float(share))

    def families(self, data: Any, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        return self.bind(data).score_all(children, parents)

    def bind(self, engine: Any) -> FamilyScores:
        """Prepare the score to score families on an engine's correlations."""
        moments: Moments = engine.moments
        if isinstance(moments, AvailableMoments):
            available = AvailableFamilies(partial(self._compared, moments), moments.missing)
            return FamilyScores(available, self.edge_log_prior)
        matrix = self.matrix(moments.correlations, moments.n_rows)[None]

        def evaluate(queries: Queries) -> Floats:
            children = queries.variables[queries.start[1:] - 1]
            found = eliminated(matrix, queries, self.tolerance)
            values = self.of_families(*found, np.diff(queries.start) - 1.0, moments.n_rows)
            return values - 0.5 * moments.n_rows * np.log(moments.variances[children])

        return FamilyScores(evaluate, self.edge_log_prior)

    def _compared(self, moments: AvailableMoments, queries: Queries, left_out: Integers) -> Compared:
        """Score families with and without one parent, on the same samples."""
        found = Compared(*np.zeros((3, len(queries))))
        for own, rows in by_size(queries):
            size = rows.shape[1]
            for first in range(0, len(own), FAMILIES_AT_ONCE):
                part, variables = (array[first : first + FAMILIES_AT_ONCE] for array in (own, rows))
                n_rows, correlations, variances = moments.of_questions(variables)
                enough = np.isfinite(correlations[:, 0, 0])
                part, n, correlations = part[enough], n_rows[enough], correlations[enough]
                own_units = 0.5 * n * np.log(variances[enough, -1])
                found.share[part] = n / moments.n_rows
                found.score[part] = self._of_matrices(correlations, n) - own_units
                some = left_out[part] >= 0
                if some.any():
                    kept = np.arange(size) != left_out[part[some]][:, None]
                    at = np.nonzero(kept)[1].reshape(-1, size - 1)
                    smaller = correlations[some][
                        np.arange(len(at))[:, None, None], at[:, :, None], at[:, None]
                    ]
                    found.without[part[some]] = self._of_matrices(smaller, n[some]) - own_units[some]
        return found

    def _of_matrices(self, correlations: Floats, n_rows: Floats) -> Floats:
        """Score families, each with its own correlations and number of samples."""
        matrices = self.matrix(correlations, n_rows[:, None, None])
        m, k = matrices.shape[:2]
        found = eliminated(matrices, Queries.of_matrix(np.tile(np.arange(k), (m, 1))), self.tolerance)
        return self.of_families(*found, np.full(m, k - 1.0), n_rows)


@dataclass(frozen=True)
class GaussianBIC(GaussianScore):
    """Maximum log likelihood of linear Gaussian families less log(N) / 2 for each parameter."""

    tolerance = COLLINEAR

    def bind(self, engine: Any) -> FamilyScores:
        """Prepare the score to score families on an engine's correlations."""
        if not engine.moments.any_missing:
            return super().bind(engine)
        from f2sl.stats.scores.mixed import DegenerateGaussianBIC

        return DegenerateGaussianBIC().bind(engine.moments)

    def matrix(self, correlations: Floats, n_rows: int | Floats) -> Floats:
        """Return the correlations."""
        return correlations

    def of_families(
        self, log_determinant: Floats, left: Floats, sizes: Floats, n_rows: int | Floats
    ) -> Floats:
        """Score families of standardised variables from the residual variance."""
        log_likelihood = -0.5 * n_rows * (np.log(2.0 * math.pi * np.maximum(left, COLLINEAR)) + 1.0)
        scores = log_likelihood - 0.5 * _log(n_rows) * (sizes + 2.0)
        return np.where(sizes < n_rows - 1, scores, -np.inf)


@dataclass(frozen=True)
class BGe(GaussianScore):
    """Marginal likelihood under a normal-Wishart prior."""

    def matrix(self, correlations: Floats, n_rows: int | Floats) -> Floats:
        """Return R of the papers for standardised variables; prior and sample have the same means."""
        return np.asarray(n_rows * correlations + PRIOR_VARIANCE * np.eye(correlations.shape[-1]))

    def of_families(
        self, log_determinant: Floats, left: Floats, sizes: Floats, n_rows: int | Floats
    ) -> Floats:
        """Score families of standardised variables from log determinant and residual variance."""
        from scipy import special  # 0.1 s, and not every learner needs it

        # The score of a set of l variables is a product over l; of a family, its last factor is left over.
        degrees = ALPHA_W_ABOVE_N + sizes + 1.0
        return np.asarray(
            0.5 * _log(ALPHA_MU / (n_rows + ALPHA_MU))
            - 0.5 * n_rows * math.log(math.pi)
            + special.gammaln((n_rows + degrees) / 2.0)
            - special.gammaln(degrees / 2.0)
            + 0.5 * (degrees + sizes) * math.log(PRIOR_VARIANCE)
            - 0.5 * (n_rows + degrees) * np.log(left)
            - 0.5 * log_determinant
        )


def _log(number: float | Floats) -> float | Floats:
    """Return the logarithm; for single numbers from the math library, equal on all machines."""
    return np.log(number) if isinstance(number, np.ndarray) else math.log(number)
