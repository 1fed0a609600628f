"""Scores of families of states and numbers together.

All add up over the families of a network, and higher is better.

==========  ====================================================================================
"bdge"      marginal likelihood, by the best of a few models for each family
"cg-bic"    maximum log likelihood of conditional Gaussian variables - log(N) / 2 for each parameter
            (Andrews, Ramsey and Cooper 2018; :mod:`f2sl.stats.grouped`)
"dg-bic"    the same of the degenerate Gaussian: numbers and indicator columns of states, jointly normal
            (Andrews, Ramsey and Cooper 2019)
==========  ====================================================================================

**bdge.** Each model gives the probability of a child given its parents, so that what they say of one child
can be compared:

* a state variable: BDeu, where numbers among the parents are cut into intervals;
* a number, linear: BGe with the indicators of states among the parents as further numbers, so that they
  shift it (additive); or with another equation for each configuration of the states;
* a number, by intervals: BDeu of its own interval, and uniform within that. It sees relations that are not
  linear, and numbers that are not normal.

A family of states alone has the score "bdeu". Because a number is not described by its children's states as
well as these by it, equivalent networks may differ in this score, and often the wrong ones are worse.

**cg-bic** is a difference of one number for each set of variables, score(v | P) = L(P + v) - L(P), where L
has the penalty in it: equivalent networks have the same score, as they have by "dg-bic". Families of states
alone have the score "bic", those of numbers alone "bic-g", to the last bit, so that all families of a search
are comparable. A family with more configurations of states than rows has the score minus infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats import _kernels
from f2sl.stats.grouped import GaussianParts, LikelihoodByGroup, MarginalByGroup, log_determinants
from f2sl.stats.scores.base import Score
from f2sl.stats.scores.dirichlet import BDeu
from f2sl.stats.scores.gaussian import ALPHA_MU, PRIOR_VARIANCE, GaussianBIC
from f2sl.stats.scores.likelihood import BIC
from f2sl.storage.mixed.engine import CELL_BITS, MixedEngine
from f2sl.storage.protocol import CountingEngine, Queries
from f2sl.table.column import MIXED


@dataclass(frozen=True)
class ConditionalGaussianBIC(Score):
    """Log likelihood of conditional Gaussian families less log(N) / 2 for each parameter.

    Parameters
    ----------
    weight : float
        How many samples with the common covariances each configuration of states is given.
    """

    weight: float = 5.0
    kinds = (MIXED,)

    def families(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
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

    def of_numbers(self, data: MixedEngine, sets: Integers) -> Floats:
        """Return the log likelihood of the numbers in each set, given its states, less the penalty."""
        formula = LikelihoodByGroup.on(data, self.weight)
        part = GaussianParts(data, formula).of(sets)
        parameters = formula.parameters(part.numbers, part.configurations)
        return part.log_likelihood - 0.5 * math.log(data.n_rows) * parameters


@dataclass(frozen=True)
class BDGe(Score):
    """Marginal likelihood of each family by the best of a few models: BDeu of states, BGe of numbers.

    Parameters
    ----------
    equivalent_sample_size : float
        The weight of BDeu's prior, in samples.
    """

    equivalent_sample_size: float = 10.0
    kinds = (MIXED,)

    @property
    def edge_log_prior(self) -> float:
        """The F2SL paper's prior of structures: - log(ess + 1) for each edge."""
        return BDeu(self.equivalent_sample_size).edge_log_prior

    def families(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        scores = BDeu(self.equivalent_sample_size).families(_Binned(data.binned), children, parents)
        of_numbers = data.is_number[children]
        if of_numbers.any():
            children, parents = children[of_numbers], parents[of_numbers]
            by_intervals = scores[of_numbers] + log_densities(data)[data.place[children]]
            scores[of_numbers] = np.maximum(by_intervals, self._gaussian(data, children, parents))
            scores[of_numbers] += log_units(data, children)
        return scores

    @staticmethod
    def _gaussian(data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the score of numbers of variance 1 by linear equations, the better of both kinds."""
        everyone = np.column_stack([parents, children])
        prior = ALPHA_MU, PRIOR_VARIANCE
        matrix = data.n_rows * data.embedded.correlations
        matrix[np.diag_indices(len(matrix))] += PRIOR_VARIANCE
        additive = np.zeros(len(children))
        for sign, sets in ((1, everyone), (-1, parents)):
            queries = embedded_columns(data, sets)
            sizes = np.diff(queries.start)
            found = np.empty(len(sizes))
            _kernels.marginals(data.n_rows, sizes, log_determinants(matrix, queries), *prior, found)
            additive += sign * found
        # By configuration only where there are configurations; NaN is where there are too many of them.
        some = (~data.is_number[parents]).any(axis=1)
        parts = GaussianParts(data, MarginalByGroup.on(data))
        own = parts.of(everyone[some]).log_likelihood - parts.of(parents[some]).log_likelihood
        additive[some] = np.fmax(additive[some], own)
        return additive


@dataclass(frozen=True)
class _Binned:
    """An engine that counts all variables of a table, numbers by intervals."""

    counts: CountingEngine

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self.counts.n_rows


def log_densities(data: MixedEngine) -> Floats:
    """Return what the places of each number within its intervals add to the log score of the intervals.

    They are uniform between the least and the greatest number of an interval, in units of the number's
    standard deviation; half of log(N) is taken off for each interval.
    """
    scaling = data.moments.scaling
    assert scaling is not None  # a mixed engine's moments are those of a table
    cell = 2.0 ** (scaling.coarse_bits - CELL_BITS) * scaling.coarse_unit
    cells = cell / np.sqrt(data.moments.squares / data.n_rows)
    found = np.empty(len(cells))
    for v, (counts, cuts) in enumerate(zip(data.histograms, data.cuts, strict=True)):
        occupied = np.flatnonzero(counts)
        edges = np.concatenate([[occupied[0]], cuts, [occupied[-1] + 1]])
        in_each = np.add.reduceat(counts, edges[:-1])
        found[v] = -(in_each * np.log(np.diff(edges) * cells[v])).sum() - 0.5 * math.log(data.n_rows) * len(
            in_each
        )
    return found


@dataclass(frozen=True)
class DegenerateGaussianBIC(Score):
    """Log likelihood of numbers and states' indicators, taken for normal, less log(N) / 2 a parameter."""

    kinds = (MIXED,)

    def families(self, data: MixedEngine, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
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
    """Return what the units of numbers add to the log score of each child, which has variance 1 otherwise."""
    result = np.zeros(len(children))
    numbers = data.is_number[children]
    result[numbers] = -0.5 * data.n_rows * np.log(data.moments.variances[data.place[children[numbers]]])
    return result
