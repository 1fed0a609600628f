"""Scores of families of discrete and continuous variables.

All add up over the families of a network, and higher is better.

==========  ====================================================================================
"dg-bic"    maximum log likelihood of the degenerate Gaussian - log(N) / 2 for each parameter: numbers and
            indicator discrete columns, jointly normal (Andrews, Ramsey and Cooper 2019)
"cg-bic"    the same of conditional Gaussian variables (Andrews, Ramsey and Cooper 2018;
            :mod:`f2sl.stats.conditioning`)
==========  ====================================================================================

Both are differences of one number for each set of variables, score(v | P) = L(P + v) - L(P), so equivalent
networks have the same score, and no form of an equation prefers one member of a class.

**dg-bic**, the default, treats the indicators of a variable with r states as r - 1 further numbers. Its
likelihood is that of one normal distribution of all columns, so the log likelihood of a graph never exceeds
that of the graph in which all are adjacent (which also has the largest penalty). With S the covariances
of a set's columns, N rows and d columns of v, ::

    score(v | P) = - N / 2 (log det S(P + v) - log det S(P) + d (1 + log 2 pi))
                   - log(N) / 2 d (columns of P + 1 + (d + 1) / 2)

Indicators are not normal. They count as a density, in standard deviations, so a score may exceed every
likelihood of states, and is large and positive where states determine each other. But the difference of two
scores is N times a sum of log(1 - squared canonical correlation): for two discrete variables nearly half the
chi-squared statistic of their table, for a continuous and a discrete one the analysis of variance, for two
continuous ones the squared correlation. So the probability of an edge between independent variables goes to 0
as rows are added, and an edge that is linear in the columns is found whatever the distribution of the noise.
All comes from one matrix (:attr:`~f2sl.data.mixed.engine.MixedEngine.embedded`), so a family takes
microseconds however many rows there are. What is not linear in the columns, such as an effect of two states
together that neither has alone, is not seen. A continuous variable whose relations are clearly curved has
further columns (:mod:`f2sl.data.mixed.basis`).

With missing values the matrix is that of the normal distribution that fits all rows best
(:mod:`f2sl.data.mixed.expected`), and a parent costs the more, the fewer rows have both it and the child.
One matrix from pairs of columns, each pair on its own rows, is no answer: the rows of different pairs differ
systematically, and where relations are strong that looks like further edges. "bic-g" of numbers with missing
values is the same score.

**cg-bic** has, for each configuration of states, means and covariances of its own. Families of discrete
variables alone have the score "bic", those of continuous ones alone "bic-g", to the last bit. A family with
more configurations of states than rows has the score minus infinity. With missing values families are
compared on the rows that have all of their variables (:class:`~f2sl.stats.scores.base.AvailableFamilies`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.available import AvailableMoments
from f2sl.data.column import MIXED
from f2sl.data.engines import Queries
from f2sl.data.mixed.engine import Groups, MixedEngine
from f2sl.data.notes import ROWS_PER_COLUMN
from f2sl.stats.conditioning import LikelihoodByGroup, Parts, gaussian_parts, log_determinants
from f2sl.stats.measures.information import LogTable
from f2sl.stats.scores.base import AvailableFamilies, Compared, FamilyScores, Score, by_size
from f2sl.stats.scores.gaussian import GaussianBIC
from f2sl.stats.scores.tables import BIC, FamilyFormula, LogLikelihood


@dataclass(frozen=True)
class ConditionalGaussianBIC(Score):
    """Log likelihood of conditional Gaussian families less log(N) / 2 for each parameter.

    Parameters
    ----------
    weight : float
        Number of samples with the common covariances that are added to each configuration.
    """

    weight: float = 5.0
    kinds = (MIXED,)

    def families(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        if data.any_missing:
            return self.bind(data).score_all(children, parents)
        return self.of_complete(data, children, parents)

    def bind(self, engine: MixedEngine) -> FamilyScores:
        """Prepare the score to score families on an engine's data."""
        if not engine.any_missing:
            return super().bind(engine)
        available = AvailableFamilies(partial(self._compared, engine), engine.missing)
        return FamilyScores(available, self.edge_log_prior)

    def _compared(self, data: MixedEngine, queries: Queries, left_out: Integers) -> Compared:
        """Score families with and without one parent, on the same samples."""
        found = Compared(*np.zeros((3, len(queries))))
        complete = ~np.maximum.reduceat(data.missing[queries.variables], queries.start[:-1])
        complete &= data.any_complete
        positions = np.flatnonzero(complete)
        for which, rows in by_size(queries.where(complete)):
            members = data.complete_position[rows]
            found.score[positions[which]] = self.of_complete(data.complete, members[:, -1], members[:, :-1])
            found.share[positions[which]] = 1.0
        positions = np.flatnonzero(~complete)
        for which, members in by_size(queries.where(~complete)):
            own, size = positions[which], members.shape[1]
            found.score[own], n = self.on_rows(data, members[:, -1], members[:, :-1], members[:, :0])
            found.share[own] = n / data.n_rows
            some = (left_out[own] >= 0) & (n > 0)
            if some.any():
                members, at = members[some], left_out[own[some]][:, None]
                kept = members[np.arange(size) != at].reshape(-1, size - 1)
                also = np.take_along_axis(members, at, axis=1)
                found.without[own[some]] = self.on_rows(data, kept[:, -1], kept[:, :-1], also)[0]
        impossible = np.isneginf(found.score)
        # Neither score nor difference is finite then.
        found.without[impossible], found.share[impossible] = 0.0, 0.0
        return found

    def of_complete(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family, where no values are missing."""
        scores = np.empty(len(children))
        numbers = data.is_number[np.column_stack([parents, children])]
        none, alone = ~numbers.any(axis=1), numbers.all(axis=1)
        both = ~none & ~alone
        for score, some in ((BIC(), none), (GaussianBIC(), alone)):
            if some.any():
                scores[some] = score.families(
                    data, data.position[children[some]], data.position[parents[some]]
                )
        if both.any():
            scores[both] = self._of_both(data, children[both], parents[both])
        return scores

    def _of_both(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        scores, _ = self.of_numbers(data, np.column_stack([parents, children]))
        scores -= self.of_numbers(data, parents)[0]
        scores += log_units(data, children)
        # The probabilities of a discrete variable given those among its parents; families differ in how many
        # these are.
        of_states = ~data.is_number[children]
        n_states = (~data.is_number[parents]).sum(axis=1)
        for size in np.unique(n_states[of_states]):
            some = of_states & (n_states == size)
            own = parents[some]
            own = own[~data.is_number[own]].reshape(len(own), size)
            scores[some] += BIC().families(data, data.position[children[some]], data.position[own])
        return np.where(np.isnan(scores), -np.inf, scores)

    def of_numbers(
        self, data: MixedEngine, sets: Integers, also: Integers | None = None
    ) -> tuple[Floats, Parts]:
        """Return the log likelihood of the numbers in each set, given its states, less the penalty."""
        formula = LikelihoodByGroup.on(data, self.weight)
        part = gaussian_parts(data, formula, sets, also)
        parameters = formula.parameters(part.numbers, part.configurations)
        penalty = np.log(np.maximum(part.rows, 1)) if data.any_missing else math.log(data.n_rows)
        return np.asarray(part.log_likelihood - 0.5 * penalty * parameters), part

    def on_rows(
        self, data: MixedEngine, children: Integers, parents: Integers, also: Integers
    ) -> tuple[Floats, Floats]:
        """Score families on the samples without missing values in them and in `also`, and count these.

        The number of samples is 0 where a number does not vary.
        """
        scores, part = self.of_numbers(data, np.column_stack([parents, children]), also)
        scores -= self.of_numbers(data, parents, np.column_stack([also, children]))[0]
        rows = np.where(part.constant > 0.0, 0, part.rows).astype(np.float64)
        numbers = data.is_number[children] & (rows > 0)
        limits = np.column_stack([children, also + data.n_variables, parents + data.n_variables])[numbers]
        scaling = data.moments.scaling
        assert scaling is not None  # a mixed engine's moments are those of a table
        variances = data.grouped(Queries.of_matrix(limits), VarianceOfOne(scaling.coarse_unit)).reshape(-1)
        own = scaling.unit[data.position[children[numbers]]]
        with np.errstate(divide="ignore"):  # constants among too few samples, whose score is NaN already
            scores[numbers] -= 0.5 * rows[numbers] * np.log(variances * own * own)
        of_states = ~data.is_number[children]
        if of_states.any():
            # Of a discrete variable given those among its parents, on the samples that have its other
            # parents, too.
            counts, own, parents = data.binned, children[of_states], parents[of_states]
            presence = counts.presence.numbers
            members = np.where(data.is_number[parents], presence[parents], parents)
            queries = Queries.of_some(np.column_stack([presence[also[of_states]], members, own]))
            formula = FamilyFormula(LogLikelihood(), LogTable(data.n_rows))
            scores[of_states] += counts.evaluate(queries, formula)[:, 0]
            r = data.cardinalities[own]
            q = np.maximum(np.where(data.is_number[parents], 1, data.cardinalities[parents]), 1)
            penalty = 0.5 * np.log(np.maximum(rows[of_states], 1.0))
            scores[of_states] -= penalty * q.prod(axis=1, dtype=np.float64) * (r - 1)
        return np.where(np.isnan(scores), -np.inf, scores), rows


@dataclass(frozen=True)
class VarianceOfOne:
    """Formula for the variance of the only number of each query, as a whole number, in one group."""

    coarse_unit: float

    def __call__(self, groups: Groups) -> Floats:
        """Return the variances."""
        n, high, low, *products = groups.sums[groups.first[:-1, None] + np.arange(6)].T
        total = high * self.coarse_unit + low
        squares = (products[0] * self.coarse_unit + products[1]) * self.coarse_unit + products[2]
        return np.asarray((squares - total * total / n) / n)


NEVER = 10.0
"""Penalty for each row where no sample has both variables, or these have too many columns: more than any
parent gains (`COLLINEAR`)."""


@dataclass(frozen=True)
class DegenerateGaussianBIC(Score):
    """Log likelihood of numbers and states' indicators, treated as normal, less log(N) / 2 a parameter."""

    kinds = (MIXED,)

    def families(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        n_rows, embedded = data.n_rows, data.embedded
        sizes = np.diff(embedded.start)
        everyone = np.column_stack([parents, children])
        left = log_determinants(embedded.correlations, embedded_columns(data, everyone))
        left -= log_determinants(embedded.correlations, embedded_columns(data, parents))
        scores = alone(data)[children] - 0.5 * n_rows * left
        scores -= prices(data)[parents, children[:, None]].sum(axis=1)
        return np.where(sizes[everyone].sum(axis=1) < n_rows, scores, -np.inf)


def alone(data: MixedEngine | AvailableMoments) -> Floats:
    """Return the score "dg-bic" of each variable without parents, if its columns had a determinant of 1."""
    n_rows, sizes = data.n_rows, np.diff(data.embedded.start)
    own = -0.5 * n_rows * (1.0 + math.log(2.0 * math.pi)) * sizes
    own -= 0.5 * math.log(n_rows) * sizes * (1.0 + (sizes + 1.0) / 2.0)
    return np.asarray(own + log_units(data, np.arange(data.n_variables)))


def prices(data: MixedEngine | AvailableMoments) -> Floats:
    """Return the penalty of "dg-bic" for each parent (row) of each child (column)."""
    sizes, together = np.diff(data.embedded.start).astype(np.float64), data.embedded.together
    found = 0.5 * math.log(data.n_rows) * np.outer(sizes, sizes) * (data.n_rows / np.maximum(together, 1))
    possible = (together > 0) & (np.add.outer(sizes, sizes) <= data.n_rows / ROWS_PER_COLUMN)
    return np.asarray(np.where(possible, found, NEVER * data.n_rows))


def embedded_columns(data: MixedEngine | AvailableMoments, sets: Integers) -> Queries:
    """Return the columns of the embedded matrix that belong to each set, one set a row."""
    start = data.embedded.start
    members = np.sort(sets, axis=1)
    first, last = start[members], start[members + 1]
    sizes = (last - first).ravel()
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    columns = np.repeat(first.ravel(), sizes) + within
    return Queries(columns, np.concatenate([[0], np.cumsum((last - first).sum(axis=1))]))


def log_units(data: MixedEngine | AvailableMoments, children: Integers) -> Floats:
    """Return the contribution of units to the log score of each child, which is scored at variance 1."""
    if isinstance(data, AvailableMoments):
        return np.asarray(-0.5 * data.n_rows * np.log(data.variances[children]))
    result = np.zeros(len(children))
    numbers = data.is_number[children]
    result[numbers] = -0.5 * data.n_rows * np.log(data.moments.variances[data.position[children[numbers]]])
    return result
