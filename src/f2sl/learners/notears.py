"""NOTEARS: linear networks by continuous optimisation (Zheng and others 2018; DAGMA, Bello and others 2022).

Every variable is a weighted sum of others and of noise. The search minimises the squared error plus `lambda1`
times the sum of absolute weights over all weight matrices whose graph is acyclic. The constraint is a smooth
function that is 0 without cycles (:mod:`f2sl.search.continuous`). Remaining cycles have small weights:
weights below `threshold` are dropped.

States are read as numbers, their codes, as in published comparisons on discrete data. This gives the order of
the states a meaning that it may not have.

Squared errors depend on units. In data where variances grow along the arrows this leads to the right order,
in other data to a wrong one: see :mod:`f2sl.stats.varsortability`. Standardising the columns avoids this.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Mask
from f2sl._deadline import Deadline, checkpoint, keeping, limited
from f2sl._notes import Note, Use
from f2sl._options import option
from f2sl._progress import stage
from f2sl._threads import one_blas_thread
from f2sl.data.column import DISCRETE
from f2sl.data.engines import open_engine
from f2sl.data.moments import Moments
from f2sl.errors import DataError
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.by_weights import as_numbers, graph_of_weights, varying
from f2sl.learners.fit import Fit
from f2sl.search.continuous import Watch, dagma, log_determinant, notears, trace_exponential
from f2sl.stats.varsortability import path_share

LEAST_DEVIATION, MOST_DEVIATION = 1e-20, 1e20
"""Standard deviations beyond these are refused: squares of squares would overflow."""
OTHER_SCALE = 1.5
"""Variances that differ by more than this factor are worth a note."""
FAR_SCALE = 1e6
"""Beyond this factor what the smallest columns add to the error is within the tolerance of the search."""


class NOTEARS(StructureLearner):
    """Learn a DAG of linear equations by continuous optimisation.

    `max_iter`, `h_tol` and `rho_max` are for "expm". With `standardize`, weights are those of the
    standardised columns.

    Attributes
    ----------
    graph_ : DAG
        The graph learned; its edges have their weights.
    weights_ : ndarray of shape (n_variables, n_variables)
        ``weights_[i, j]`` is the weight of the edge from column i to column j, including those below the
        threshold. With `standardize`, the weights are those of the standardised columns.
    threshold_ : float
        Smallest absolute weight of an edge: `threshold`, or more if that left a cycle.
    h_ : float
        Distance of the weights from acyclicity before small ones are dropped: the constraint, which is
        0 without cycles.
    n_iterations_ : int
        Steps of L-BFGS-B ("expm") or of Adam ("logdet").
    varsortability_ : float
        Agreement of the order of the columns' variances with the learned graph: see
        :func:`f2sl.varsortability`. NaN without edges.

    Examples
    --------
    >>> import f2sl
    >>> network = f2sl.random_network(variables=5, edges=5, kind="continuous", random_state=1)
    >>> model = f2sl.NOTEARS().fit(network.sample(1000, random_state=1))
    >>> model.graph_ == network.graph
    True
    """

    _takes = ("discrete", "continuous")
    strength_unit = "weight"
    _directs_all_edges = True
    _size_matters = True
    _watches_time = True
    _ignores = (("constraint", "logdet", ("max_iter", "h_tol", "rho_max")),)

    threshold: float = option("threshold")
    standardize: bool = option("standardize")
    lambda1: float = option("lambda1")
    constraint: str = option("constraint")
    max_iter: int = option("max_iter")
    h_tol: float = option("h_tol")
    rho_max: float = option("rho_max")

    def _open(self, fit: Fit) -> AbstractContextManager[Any]:
        engine: AbstractContextManager[Any] = open_engine(varying(as_numbers(fit)), self.n_jobs)
        return engine

    def _learn(self, fit: Fit) -> DAG:
        engine: Moments = fit.engine
        members = np.array([fit.names.index(name) for name in engine.names], np.int64)
        deviations = np.sqrt(engine.variances)
        scale = np.ones_like(deviations) if self.standardize else self._checked_scale(deviations)
        search = _Search(engine.correlations * np.outer(scale, scale))
        allowed = fit.constraints.restrict_to(members).matrix()
        with (
            one_blas_thread(of_scipy=True),
            fit.timed("optimisation"),
            stage("looking for the weights") as advance,
        ):
            search.run(partial(self._optimise, allowed), advance, fit.deadline)
        self.h_, self.n_iterations_ = self._constraint(search.weights), search.n_steps
        weights = np.zeros((len(fit.names), len(fit.names)))
        weights[np.ix_(members, members)] = search.weights
        graph = graph_of_weights(fit, weights, self.threshold)
        kept = (np.abs(search.weights) >= fit.found["threshold_"]) & (search.weights != 0)
        self.varsortability_ = path_share(engine.variances, kept)
        fit.notes += self._remarks(fit)
        return graph

    def _checked_scale(self, deviations: Floats) -> Floats:
        """Raise an error for scales that would overflow."""
        if len(deviations) and not LEAST_DEVIATION <= deviations.min() <= deviations.max() <= MOST_DEVIATION:
            raise DataError(
                f"the columns' standard deviations, from {deviations.min():.3g} to {deviations.max():.3g}, "
                "are too far from 1 to compute with; use ",
                Use("standardize", True),
            )
        return deviations

    def _optimise(self, allowed: Mask | None, covariance: Floats, watch: Watch) -> Floats:
        if self.constraint == "logdet":
            return dagma(covariance, lambda1=self.lambda1, watch=watch, allowed=allowed)
        options = {name: getattr(self, name) for name in ("lambda1", "max_iter", "h_tol", "rho_max")}
        return notears(covariance, **options, watch=watch, allowed=allowed)

    def _constraint(self, weights: Floats) -> float:
        """Return the distance of the weights from acyclicity."""
        if not weights.size:
            return 0.0
        if self.constraint == "expm":
            return trace_exponential(weights)[0]
        defined = log_determinant(weights, 1.0)
        return np.inf if defined is None else defined[0]

    def _remarks(self, fit: Fit) -> list[Note]:
        """Return notes for the user about the optimisation."""
        remarks = []
        if fit.deadline.stopped:
            fit.deadline.undone = f"the weights were not acyclic (h = {self.h_:.1g})"
        elif self.constraint == "expm" and self.h_ > self.h_tol:
            ended = f" ended the search before the weights were acyclic (h = {self.h_:.1g})"
            remarks.append(Note("no-convergence", Use("max_iter"), " or ", Use("rho_max"), ended))
        if not self.standardize:
            remarks += self._describe_scales(fit.engine.variances, DISCRETE in fit.table.kinds)
        return remarks

    def _describe_scales(self, variances: Floats, from_states: bool) -> list[Note]:
        """Return a note that units may have influenced the result, if they may have."""
        if not len(variances) or variances.max() <= OTHER_SCALE * variances.min():
            return []
        found = f"the variances of the columns differ (from {variances.min():.3g} to {variances.max():.3g})"
        if not np.isnan(self.varsortability_):
            found += f" and rise along {self.varsortability_:.0%} of the paths of the graph (varsortability)"
        elif from_states:
            return []  # states have no units, and without edges there is nothing that their codes led to
        lead = "units influence least squares"
        if variances.max() > FAR_SCALE * variances.min():
            lead += ", so strongly that the search hardly uses the smallest columns"
        option = Use("standardize", True)
        return [Note("scales", f"{found}: {lead}; ", option, " removes their influence")]


class _Search:
    """Search that keeps the last weights, so that it can be stopped early."""

    def __init__(self, covariance: Floats) -> None:
        self.covariance = covariance
        self.weights = np.zeros_like(covariance)
        self.n_steps = 0
        self._done = 0.0

    def run(
        self,
        optimise: Callable[[Floats, Watch], Floats],
        advance: Callable[[float], None],
        deadline: Deadline,
    ) -> None:
        """Optimise until the end, the time limit or Ctrl-C, one step at least."""

        def watch(weights: Floats, done: float) -> None:
            self.weights, self.n_steps = weights, self.n_steps + 1
            if done > self._done:
                advance(done - self._done)
                self._done = done
            checkpoint()

        if self.covariance.size:
            with limited(deadline), keeping("the weights were not acyclic"):
                self.weights = optimise(self.covariance, watch)
