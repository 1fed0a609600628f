"""Scores of families of states and numbers together.

All add up over the families of a network, and higher is better.

==========  ====================================================================================
"bdge"      marginal likelihood, by the best of a few models for each family
"cg-bic"    maximum log likelihood of conditional Gaussian variables - log(N) / 2 for each parameter
            (Andrews, Ramsey and Cooper 2018; :mod:`f2sl.stats.grouped`)
"dg-bic"    the same of the degenerate Gaussian: numbers and indicator columns of states, jointly normal
            (Andrews, Ramsey and Cooper 2019)
==========  ====================================================================================

**bdge.** Each model gives the probability of a child given its parents, so the models of one child can be
compared:

* a state variable, by intervals: BDeu, where numbers among the parents are cut into intervals;
* a state variable, by Bayes' rule: BDeu given the states among the parents, times the density of the numbers
  among them given child and states, over that given the states alone (BGe in each configuration);
* a number, linear: BGe with the indicators of states among the parents as further numbers, so that they
  shift it (additive); or with another equation for each configuration of the states;
* a number, by intervals: BDeu of its own interval, and uniform within that. It detects non-linear relations
  and numbers that are not normal.

A family of states alone has the score "bdeu". By Bayes' rule an edge between a number and states gains the
same in both directions, if both use the same model. Often they do not, so equivalent networks may differ in
this score.

**cg-bic** is a difference of one number for each set of variables, score(v | P) = L(P + v) - L(P), where L
includes the penalty: equivalent networks have the same score, and also with "dg-bic". Families of states
alone have the score "bic", those of numbers alone "bic-g", to the last bit, so all families of a search are
comparable. A family with more configurations of states than rows has the score minus infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, wraps
from weakref import WeakKeyDictionary

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats import _kernels
from f2sl.stats.conditioning import COLLINEAR
from f2sl.stats.grouped import GaussianParts, LikelihoodByGroup, MarginalByGroup, log_determinants, marginals
from f2sl.stats.measures.information import LogTable
from f2sl.stats.scores.base import AvailableFamilies, Compared, FamilyScores, Score
from f2sl.stats.scores.dirichlet import BDeu
from f2sl.stats.scores.gaussian import PRIOR_VARIANCE, GaussianBIC
from f2sl.stats.scores.likelihood import BIC, LogLikelihood
from f2sl.stats.scores.tables import FamilyFormula
from f2sl.storage.mixed.block_sums import CELL_BITS
from f2sl.storage.mixed.engine import BINS, Groups, MixedEngine
from f2sl.storage.moments import DIGITS
from f2sl.storage.protocol import CountingEngine, Queries, Tables
from f2sl.table.column import MIXED


class MixedScore(Score):
    """Base of the scores of states and numbers together.

    With missing values, families are compared on the samples that have all of them
    (:class:`~f2sl.stats.scores.base.AvailableFamilies`).
    """

    kinds = (MIXED,)

    def families(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        if data.any_gaps:
            return self.bind(data).score_all(children, parents)
        return self.of_complete(data, children, parents)

    def bind(self, engine: MixedEngine) -> FamilyScores:
        """Prepare the score to score families on an engine's data."""
        if not engine.any_gaps:
            return super().bind(engine)
        available = AvailableFamilies(partial(self._compared, engine), engine.gaps)
        return FamilyScores(available, self.edge_log_prior)

    def of_complete(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family, where no values are missing."""
        raise NotImplementedError

    def on_rows(
        self, data: MixedEngine, children: Integers, parents: Integers, also: Integers
    ) -> tuple[Floats, Floats]:
        """Score families on the samples without missing values in them and in `also`, (m, any).

        Returns the log scores and the numbers of samples; 0 samples if a number does not vary, so that there
        is no score.
        """
        raise NotImplementedError

    def _compared(self, data: MixedEngine, queries: Queries, left_out: Integers) -> Compared:
        """Score families with and without one parent, on the same samples."""
        found = Compared(*np.zeros((3, len(queries))))
        sizes = np.diff(queries.start)
        without_gaps = ~np.maximum.reduceat(data.gaps[queries.variables], queries.start[:-1])
        without_gaps &= data.any_complete
        for size in np.unique(sizes[without_gaps]):
            own = np.flatnonzero(without_gaps & (sizes == size))
            members = data.complete_place[queries.variables[queries.start[own][:, None] + np.arange(size)]]
            found.score[own] = self.of_complete(data.complete, members[:, -1], members[:, :-1])
            found.share[own] = 1.0
        for size in np.unique(sizes[~without_gaps]):
            own = np.flatnonzero(~without_gaps & (sizes == size))
            members = queries.variables[queries.start[own][:, None] + np.arange(size)]
            found.score[own], rows = self.on_rows(data, members[:, -1], members[:, :-1], members[:, :0])
            found.share[own] = rows / data.n_rows
            some = (left_out[own] >= 0) & (rows > 0)
            if some.any():
                members, at = members[some], left_out[own[some]][:, None]
                kept = members[np.arange(size) != at].reshape(-1, size - 1)
                also = np.take_along_axis(members, at, axis=1)
                found.without[own[some]] = self.on_rows(data, kept[:, -1], kept[:, :-1], also)[0]
        impossible = np.isneginf(found.score)
        # Neither score nor difference is finite then.
        found.without[impossible], found.share[impossible] = 0.0, 0.0
        return found


@dataclass(frozen=True)
class ConditionalGaussianBIC(MixedScore):
    """Log likelihood of conditional Gaussian families less log(N) / 2 for each parameter.

    Parameters
    ----------
    weight : float
        Number of samples with the common covariances that are added to each configuration.
    """

    weight: float = 5.0

    def of_complete(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family, where no values are missing."""
        scores = np.empty(len(children))
        numbers = data.is_number[np.column_stack([parents, children])]
        none, alone = ~numbers.any(axis=1), numbers.all(axis=1)
        both = ~none & ~alone
        for score, some in ((BIC(), none), (GaussianBIC(), alone)):
            if some.any():
                scores[some] = score.families(data, data.place[children[some]], data.place[parents[some]])
        if both.any():
            scores[both] = self._of_both(data, children[both], parents[both])
        return scores

    def _of_both(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        scores = self.of_numbers(data, np.column_stack([parents, children]))
        scores -= self.of_numbers(data, parents)
        scores += log_units(data, children)
        # The probabilities of a state variable given those among its parents; families differ in how many
        # these are.
        of_states = ~data.is_number[children]
        n_states = (~data.is_number[parents]).sum(axis=1)
        for size in np.unique(n_states[of_states]):
            some = of_states & (n_states == size)
            own = parents[some]
            own = own[~data.is_number[own]].reshape(len(own), size)
            scores[some] += BIC().families(data, data.place[children[some]], data.place[own])
        return np.where(np.isnan(scores), -np.inf, scores)

    def of_numbers(self, data: MixedEngine, sets: Integers, also: Integers | None = None) -> Floats:
        """Return the log likelihood of the numbers in each set, given its states, less the penalty."""
        formula = LikelihoodByGroup.on(data, self.weight)
        part = GaussianParts(data, formula).of(sets, also)
        parameters = formula.parameters(part.numbers, part.configurations)
        penalty = np.log(np.maximum(part.rows, 1)) if data.any_gaps else math.log(data.n_rows)
        return np.asarray(part.log_likelihood - 0.5 * penalty * parameters)

    def on_rows(
        self, data: MixedEngine, children: Integers, parents: Integers, also: Integers
    ) -> tuple[Floats, Floats]:
        """Score families on the samples without missing values in them and in `also`."""
        columns = _Columns.of(data, children, parents, also)
        scores = self.of_numbers(data, np.column_stack([parents, children]), also)
        scores -= self.of_numbers(data, parents, np.column_stack([also, children]))
        scores += columns.log_units
        of_states = ~data.is_number[children]
        if of_states.any():
            # Of a state variable given those among its parents, on the samples that have its other parents,
            # too.
            counts, own, parents = data.binned, children[of_states], parents[of_states]
            presence = counts.presence.numbers
            members = np.where(data.is_number[parents], presence[parents], parents)
            queries = Queries.of_some(np.column_stack([presence[also[of_states]], members, own]))
            formula = FamilyFormula(LogLikelihood(), LogTable(data.n_rows))
            scores[of_states] += counts.evaluate(queries, formula)[:, 0]
            r = data.cardinalities[own]
            q = np.maximum(np.where(data.is_number[parents], 1, data.cardinalities[parents]), 1)
            penalty = 0.5 * np.log(np.maximum(columns.rows[of_states], 1.0))
            scores[of_states] -= penalty * q.prod(axis=1, dtype=np.float64) * (r - 1)
        return np.where(np.isnan(scores), -np.inf, scores), columns.rows


@dataclass(frozen=True)
class BDGe(MixedScore):
    """Marginal likelihood of each family by the best of a few models: BDeu of states, BGe of numbers.

    Parameters
    ----------
    equivalent_sample_size : float
        The weight of BDeu's prior, in samples.
    """

    equivalent_sample_size: float = 10.0

    @property
    def edge_log_prior(self) -> float:
        """Prior of the F2SL paper on structures: - log(ess + 1) for each edge."""
        return BDeu(self.equivalent_sample_size).edge_log_prior

    def of_complete(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family, where no values are missing."""
        scores = BDeu(self.equivalent_sample_size).families(_Binned(data.binned), children, parents)
        of_numbers = data.is_number[children]
        across = ~of_numbers & data.is_number[parents].any(axis=1)
        if across.any():
            by_bayes = self._by_bayes(data, children[across], parents[across], parents[across, :0])
            scores[across] = np.fmax(scores[across], by_bayes)
        if of_numbers.any():
            children, parents = children[of_numbers], parents[of_numbers]
            by_intervals = scores[of_numbers] + log_densities(data)[data.place[children]]
            scores[of_numbers] = np.maximum(by_intervals, self._gaussian(data, children, parents))
            scores[of_numbers] += log_units(data, children)
        return scores

    def _by_bayes(self, data: MixedEngine, children: Integers, parents: Integers, also: Integers) -> Floats:
        """Return the score of states by Bayes' rule; NaN if there are too many configurations."""
        presence = data.binned.presence.numbers
        # Given the states among the parents, on the samples that have all of them.
        members = np.where(data.is_number[parents], presence[parents], parents)
        queries = Queries.of_some(np.column_stack([presence[also], members, children]))
        formula = FamilyFormula(BDeu(self.equivalent_sample_size), LogTable(data.n_rows))
        scores = data.binned.evaluate(queries, formula)[:, 0]
        parts = GaussianParts(data, MarginalByGroup.on(data))
        limits = np.column_stack([also, children]) if data.any_gaps else None
        scores += parts.of(np.column_stack([parents, children]), also).log_likelihood
        return np.asarray(scores - parts.of(parents, limits).log_likelihood)

    @staticmethod
    def _gaussian(data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the score of numbers of variance 1 by linear equations, the better of both kinds."""
        everyone = np.column_stack([parents, children])
        matrix = data.n_rows * data.embedded.correlations
        matrix[np.diag_indices(len(matrix))] += PRIOR_VARIANCE
        additive = np.zeros(len(children))
        for sign, sets in ((1, everyone), (-1, parents)):
            queries = embedded_columns(data, sets)
            sizes = np.diff(queries.start)
            n_rows = np.full(len(sizes), data.n_rows)
            additive += sign * marginals(n_rows, sizes, log_determinants(matrix, queries))
        # By configuration only where there are configurations; NaN is where there are too many of them.
        some = (~data.is_number[parents]).any(axis=1)
        parts = GaussianParts(data, MarginalByGroup.on(data))
        own = parts.of(everyone[some]).log_likelihood - parts.of(parents[some]).log_likelihood
        additive[some] = np.fmax(additive[some], own)
        return additive

    def on_rows(
        self, data: MixedEngine, children: Integers, parents: Integers, also: Integers
    ) -> tuple[Floats, Floats]:
        """Score families on the samples without missing values in them and in `also`."""
        counts = data.binned
        limits = counts.presence.numbers[also]
        formula = FamilyFormula(BDeu(self.equivalent_sample_size), LogTable(data.n_rows))
        queries = Queries.of_some(np.column_stack([limits, parents, children]))
        scores = counts.evaluate(queries, formula)[:, 0]
        rows = data.complete_rows(np.column_stack([also, parents, children])).astype(np.float64)
        across = ~data.is_number[children] & data.is_number[parents].any(axis=1) & (rows > 0)
        if across.any():
            by_bayes = self._by_bayes(data, children[across], parents[across], also[across])
            scores[across] = np.fmax(scores[across], by_bayes)
        some = data.is_number[children]
        if some.any():
            own, parents, also = children[some], parents[some], also[some]
            columns = _Columns.of(data, own, parents, also, by_rows=True, added=PRIOR_VARIANCE)
            rows[some] = columns.rows
            # The score of a family without rows does not matter.
            n_rows = np.maximum(columns.rows, 1.0).astype(np.int64)
            # By intervals.
            limits = counts.presence.numbers[np.column_stack([also, parents])]
            in_each = counts.evaluate(Queries.of_some(np.column_stack([limits, own])), counts_of_child, BINS)
            widths = log_widths(data)[data.place[own]]
            deviations = 0.5 * np.log(np.maximum(columns.squares, 1.0) / n_rows)
            densities = -(in_each * (np.where(np.isnan(widths), 0.0, widths) - deviations[:, None])).sum(
                axis=1
            )
            densities -= 0.5 * np.log(n_rows) * (~np.isnan(widths)).sum(axis=1)
            # By linear equations, of which there may be one for each configuration.
            additive = marginals(n_rows, columns.of_all, columns.log_all)
            additive -= marginals(n_rows, columns.of_parents, columns.log_parents)
            parts = GaussianParts(data, MarginalByGroup.on(data))
            by_group = (~data.is_number[parents]).any(axis=1)
            if by_group.any():
                own, parents, also = own[by_group], parents[by_group], also[by_group]
                found = parts.of(np.column_stack([parents, own]), also).log_likelihood
                found -= parts.of(parents, np.column_stack([also, own])).log_likelihood
                additive[by_group] = np.fmax(additive[by_group], found)
            scores[some] = np.maximum(scores[some] + densities, additive) + columns.log_units
        return scores, rows


@dataclass(frozen=True)
class _Columns:
    """For families on their own samples: log determinants of their columns, with the terms to score them.

    `of_all` and `of_parents` are the numbers of columns, `squares` the child's centred sums of squares as
    whole numbers, `log_units` the contribution of the child's unit to a score. `rows` is 0 where a number
    does not vary.
    """

    log_all: Floats
    log_parents: Floats
    of_all: Integers
    of_parents: Integers
    rows: Floats
    squares: Floats
    log_units: Floats

    @classmethod
    def of(
        cls,
        data: MixedEngine,
        children: Integers,
        parents: Integers,
        also: Integers,
        by_rows: bool = False,
        added: float = 0.0,
    ) -> _Columns:
        """Compute them for the correlations, times the number of samples or with more on the diagonal."""
        scaling = data.moments.scaling
        assert scaling is not None  # a mixed engine's moments are those of a table

        def formula(groups: Groups) -> Floats:
            result = np.empty((len(groups.n_groups), 7))
            members = groups.numbers
            _kernels.determinants_of_sums(
                groups.sums,
                groups.first,
                members.variables,
                members.start,
                scaling.coarse_unit,
                10.0**DIGITS,
                by_rows,
                added,
                COLLINEAR,
                result,
            )
            return result

        sets = np.column_stack([also + data.n_variables, parents, children])
        found = data.columns(Queries.of_matrix(sets), formula).reshape(-1, 7)
        log_all, log_parents, of_all, of_parents, rows, squares, least = found.T
        rows = np.where(least > 0.0, rows, 0.0)
        units, numbers = np.zeros(len(children)), data.is_number[children] & (rows > 0)
        own = scaling.unit[data.place[children[numbers]]]
        units[numbers] = -0.5 * rows[numbers] * np.log(squares[numbers] / rows[numbers] * own * own)
        sizes = of_all.astype(np.int64), of_parents.astype(np.int64)
        return cls(log_all, log_parents, *sizes, rows, squares, units)


def counts_of_child(tables: Tables) -> Floats:
    """Return the counts of tables of one variable that has up to `BINS` states, and presences."""
    result = np.zeros((len(tables.queries), BINS))
    sizes = np.diff(tables.cell_start)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    result[owner, np.arange(len(tables.counts)) - tables.cell_start[owner]] = tables.counts
    return result


@dataclass(frozen=True)
class _Binned:
    """Engine that counts all variables of a table, numbers by intervals."""

    counts: CountingEngine

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self.counts.n_rows


def _once(compute: Callable[[MixedEngine], Floats]) -> Callable[[MixedEngine], Floats]:
    """Compute something once for each engine."""
    known: WeakKeyDictionary[MixedEngine, Floats] = WeakKeyDictionary()

    @wraps(compute)
    def of(data: MixedEngine) -> Floats:
        if data not in known:
            known[data] = compute(data)
        return known[data]

    return of


def _edges(data: MixedEngine) -> Iterator[tuple[Integers, Integers]]:
    """Yield the histogram of each number, and the cells where its intervals begin and the last one ends."""
    for counts, cuts in zip(data.histograms, data.cuts, strict=True):
        occupied = np.flatnonzero(counts)
        yield counts, np.concatenate([[occupied[0]], cuts, [occupied[-1] + 1]])


def _cell(data: MixedEngine) -> float:
    """Return the width of a cell of a histogram, as a whole number."""
    scaling = data.moments.scaling
    assert scaling is not None  # a mixed engine's moments are those of a table
    return float(2.0 ** (scaling.coarse_bits - CELL_BITS) * scaling.coarse_unit)


@_once
def log_widths(data: MixedEngine) -> Floats:
    """Return the logarithms of the widths of intervals as whole numbers, (n_numbers, BINS); NaN behind."""
    found = np.full((len(data.numbers), BINS), np.nan)
    for own, (_, edges) in zip(found, _edges(data), strict=True):
        own[: len(edges) - 1] = np.log(np.diff(edges) * _cell(data))
    return found


@_once
def log_densities(data: MixedEngine) -> Floats:
    """Return the log density of each number within its intervals, to add to the score of the intervals.

    The density is uniform between the smallest and the largest number of an interval, in units of the
    number's standard deviation; log(N) / 2 is subtracted for each interval.
    """
    cells = _cell(data) / np.sqrt(data.moments.squares / data.n_rows)
    found = np.empty(len(cells))
    for v, (counts, edges) in enumerate(_edges(data)):
        in_each = np.add.reduceat(counts, edges[:-1])
        found[v] = -(in_each * np.log(np.diff(edges) * cells[v])).sum() - 0.5 * math.log(data.n_rows) * len(
            in_each
        )
    return found


@dataclass(frozen=True)
class DegenerateGaussianBIC(MixedScore):
    """Log likelihood of numbers and states' indicators, treated as normal, less log(N) / 2 a parameter."""

    def of_complete(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family, where no values are missing."""
        n_rows, embedded = data.n_rows, data.embedded
        sizes = np.diff(embedded.start)
        of_child, of_parents = sizes[children], sizes[parents].sum(axis=1)
        left = log_determinants(
            embedded.correlations, embedded_columns(data, np.column_stack([parents, children]))
        )
        left -= log_determinants(embedded.correlations, embedded_columns(data, parents))
        fit = -0.5 * n_rows * (left + of_child * (1.0 + math.log(2.0 * math.pi)))
        fit += log_units(data, children)
        parameters = of_child * (of_parents + 1.0 + (of_child + 1.0) / 2.0)
        scores = fit - 0.5 * math.log(n_rows) * parameters
        return np.where(of_parents + of_child < n_rows, scores, -np.inf)

    def on_rows(
        self, data: MixedEngine, children: Integers, parents: Integers, also: Integers
    ) -> tuple[Floats, Floats]:
        """Score families on the samples without missing values in them and in `also`."""
        columns = _Columns.of(data, children, parents, also)
        of_child, rows = columns.of_all - columns.of_parents, columns.rows
        left = columns.log_all - columns.log_parents
        fit = -0.5 * rows * (left + of_child * (1.0 + math.log(2.0 * math.pi))) + columns.log_units
        parameters = of_child * (columns.of_parents + 1.0 + (of_child + 1.0) / 2.0)
        scores = fit - 0.5 * np.log(np.maximum(rows, 1.0)) * parameters
        return np.where(columns.of_all < rows, scores, -np.inf), rows


def embedded_columns(data: MixedEngine, sets: Integers) -> Queries:
    """Return the columns of the embedded matrix that belong to each set, one set a row."""
    start = data.embedded.start
    members = np.sort(sets, axis=1)
    first, last = start[members], start[members + 1]
    sizes = (last - first).ravel()
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    columns = np.repeat(first.ravel(), sizes) + within
    return Queries(columns, np.concatenate([[0], np.cumsum((last - first).sum(axis=1))]))


def log_units(data: MixedEngine, children: Integers) -> Floats:
    """Return the contribution of units to the log score of each child, which is scored at variance 1."""
    result = np.zeros(len(children))
    numbers = data.is_number[children]
    result[numbers] = -0.5 * data.n_rows * np.log(data.moments.variances[data.place[children[numbers]]])
    return result
