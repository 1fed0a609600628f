"""Likelihood-ratio tests of discrete and continuous variables together.

Questions about discrete variables alone are answered by G2, those about continuous ones alone by Fisher's z.
For all others there are two models:

=========  =====================================================================================
"dg"       degenerate Gaussian (Andrews, Ramsey and Cooper 2019): each discrete variable becomes a set of
           indicator columns, one for each state but one, and all columns are taken to be jointly normal
"cg"       conditional Gaussian (Andrews, Ramsey and Cooper 2018): numbers are normal given each
           configuration of the states (:mod:`f2sl.stats.conditioning`)
=========  =====================================================================================

**dg.** With the log determinants of the covariances of Y's columns given Z, and given X and Z,

    (N - 1 - |Z| - (|X| + |Y| + 1) / 2) (log det(Y | Z) - log det(Y | X, Z))

follows the chi-squared distribution with |X| |Y| degrees of freedom under independence, nearly (Bartlett
1938); |X| is the number of X's columns that Z does not determine. The published test has N in place of the
factor, which finds too many dependences with few rows.

**cg.** With L(S) the log likelihood of the variables S, and p(S) the number of its parameters, the statistic
is 2 (L(X, Y, Z) - L(X, Z) - L(Y, Z) + L(Z)), with the same sum of p as degrees of freedom; configurations
that do not occur have no parameters.

With missing values a question is answered from the samples that have all of its variables.

A test is inconclusive if there are fewer than 5 samples (or the number requested) for each configuration of
the states in question, if Z determines X or Y, or without degrees of freedom.

For all pairs, where nothing is given, both are the analysis of variance of a continuous variable by a
discrete one, with the same variance in all states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.column import MIXED
from f2sl.data.engines import FoundPairs, Queries
from f2sl.data.mixed.engine import MixedEngine, MixedFormula
from f2sl.data.moments import DIGITS as MOMENTS_DIGITS
from f2sl.stats import _kernels
from f2sl.stats.answers import INCONCLUSIVE, Answers
from f2sl.stats.conditioning import (
    COLLINEAR,
    LARGEST,
    QUESTIONS_PER_PIECE,
    LikelihoodByGroup,
    gaussian_parts,
    shared_sets,
)
from f2sl.stats.measures.information import LogTable
from f2sl.stats.measures.significance import MARGIN
from f2sl.stats.tests.base import (
    SAMPLES_PER_CELL,
    BoundTest,
    CITest,
    chi_squared_tail,
    p_values_when_bound,
    strengths,
)
from f2sl.stats.tests.fisher_z import FisherZ, ZOfPairs
from f2sl.stats.tests.g2 import G2, G2OfPairs, G2Statistic

QUESTIONS_AT_ONCE = 1 << 10
"""Questions with samples of their own that one piece of work answers."""


class BoundMixedTest(BoundTest):
    """Tests of discrete, continuous and mixed questions at the level `alpha`, each with its own method.

    Parameters
    ----------
    statistics : callable
        From an engine, x, y and given to the statistics and degrees of freedom of questions about both kinds;
        NaN where inconclusive.
    engine : MixedEngine
        Where questions are answered.
    alpha : float
        Level of significance.
    without_freedom, samples_per_cell
        As in :class:`~f2sl.stats.tests.base.TableTest`.
    """

    engine: MixedEngine

    def __init__(
        self,
        statistics: Callable[[MixedEngine, Integers, Integers, Integers], tuple[Floats, Floats]],
        engine: MixedEngine,
        alpha: float,
        without_freedom: str = "independent",
        samples_per_cell: float | None = None,
    ) -> None:
        super().__init__(engine, alpha, SAMPLES_PER_CELL if samples_per_cell is None else samples_per_cell)
        self._statistics = statistics
        self._independent_without_freedom = without_freedom == "independent"
        how: dict[str, Any] = {"without_freedom": without_freedom, "samples_per_cell": samples_per_cell}
        self._of_states: BoundTest = G2().bind(engine, alpha, **how)
        self._of_numbers: BoundTest = FisherZ().bind(engine, alpha)

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value, statistic and strength."""
        found = np.full(len(x), INCONCLUSIVE, np.int8)
        numbers = np.full((3, len(x)), np.nan)
        for test, part, asked in self._parts(x, y, given):
            if test is None:
                answers = self._ask_both(*asked)
            else:
                needed = enough if enough is None or len(enough) == 1 else enough[part]
                answers = test.ask(*asked, needed)
                self.n_tests += len(answers.answer)
                self.n_inconclusive += int((answers.answer == INCONCLUSIVE).sum())
            found[part] = answers.answer
            numbers[:, part] = answers.p_value, answers.statistic, answers.strength
        return Answers(found, *numbers)

    def _parts(
        self, x: Integers, y: Integers, given: Integers
    ) -> list[tuple[BoundTest | None, NDArray[np.bool_], tuple[Integers, Integers, Integers]]]:
        """Sort questions by the test that answers them, with variables numbered as that test does."""
        engine = self.engine
        numbers = engine.is_number[np.column_stack([x, y, given])]
        none, alone = ~numbers.any(axis=1), numbers.all(axis=1)
        parts: list[Any] = []
        for test, part in ((self._of_states, none), (self._of_numbers, alone)):
            if part.any():
                parts.append((test, part, tuple(engine.position[asked[part]] for asked in (x, y, given))))
        both = ~none & ~alone
        if both.any():
            # The same question asked in another way is the same question.
            asked = np.minimum(x, y)[both], np.maximum(x, y)[both], np.sort(given[both], axis=1)
            parts.append((None, both, asked))
        return parts

    def _ask_both(self, x: Integers, y: Integers, given: Integers) -> Answers:
        """Answer questions about both kinds."""
        conclusive = self.configurations(given) <= self.max_configurations(x, y)
        if self.engine.any_missing and conclusive.any():
            asked = np.column_stack([given, x, y])[conclusive]
            needed = self.samples_per_cell * self.configurations(asked)
            conclusive[conclusive] = self.engine.complete_rows(asked) >= needed
        # A variable that is always the same is related to nothing: no degrees of freedom, as in G2.
        same = (self.engine.cardinalities[x] == 1) | (self.engine.cardinalities[y] == 1)
        asked_of = conclusive & ~same
        statistic, freedom = np.zeros((2, len(x)))
        found = self._statistics(self.engine, x[asked_of], y[asked_of], given[asked_of])
        statistic[asked_of], freedom[asked_of] = found
        conclusive = (asked_of & (freedom > 0)) | (conclusive & same & self._independent_without_freedom)
        statistic, freedom = np.maximum(statistic[conclusive], 0.0), freedom[conclusive]
        p_values = chi_squared_tail(statistic, freedom)
        return self.answers(conclusive, (p_values, statistic, strengths(statistic, freedom, p_values)))


class DegenerateGaussian(CITest):
    """Likelihood-ratio test of continuous columns and of states' indicators, taken to be jointly normal."""

    kinds = (MIXED,)
    p_values = p_values_when_bound

    def bind(self, engine: Any, alpha: float = 0.01, **how: Any) -> BoundMixedTest:
        """Prepare the test to answer questions about an engine's data."""
        return BoundMixedTest(self.statistics, engine, alpha, **how)

    def of_pairs(self, engine: Any) -> OfPairs:
        """Return the test of all pairs, whose p-values are corrected for their number."""
        return OfPairs(engine)

    def statistics(
        self, engine: MixedEngine, x: Integers, y: Integers, given: Integers
    ) -> tuple[Floats, Floats]:
        """Return statistic and degrees of freedom; NaN where Z determines X or Y."""
        if engine.any_missing:
            sets = np.column_stack([given, x, y])
            own = engine.missing[sets].any(axis=1)
            result = np.empty((2, len(x)))
            result[:, own] = self._on_own_rows(engine, sets[own])
            if not own.all():
                asked = (engine.complete_position[part[~own]] for part in (x, y, given))
                result[:, ~own] = self.statistics(engine.complete, *asked)
            return result[0], result[1]
        matrix, start = engine.linear.correlations, engine.linear.start
        found = np.empty((len(x), 4))

        def piece(first: int) -> None:
            part = slice(first, first + QUESTIONS_PER_PIECE)
            _kernels.log_ratios(matrix, start, x[part], y[part], given[part], COLLINEAR, found[part])

        for _ in engine.threads.map(piece, range(0, len(x), QUESTIONS_PER_PIECE)):
            pass
        return _bartlett_statistics(engine.n_rows, *found.T)

    @staticmethod
    def _on_own_rows(engine: MixedEngine, sets: Integers) -> tuple[Floats, Floats]:
        """Answer questions from the samples that have all of their variables: Z, X and Y, a row each."""
        found = np.empty((len(sets), 5))
        for distinct, own, of_set, positions in shared_sets(sets, engine.n_variables):
            found[own] = _log_ratios(engine, distinct, of_set, positions)
        return _bartlett_statistics(found[:, 4], *found[:, :4].T)


def _log_ratios(engine: MixedEngine, sets: Integers, of_set: Integers, positions: Integers) -> Floats:
    """Return log ratio, ranks and samples of questions about sets of variables, in the order of the sets."""
    assert engine.moments.scaling is not None  # a mixed engine's moments are those of a table
    how = engine.moments.scaling.coarse_unit, 10.0**MOMENTS_DIGITS, COLLINEAR
    groups = engine.columns_of_sets(sets)
    asked = groups.sums, groups.first, groups.numbers.variables, groups.numbers.start
    result = np.empty((len(of_set), 5))

    def piece(first: int) -> None:
        part = slice(first, first + QUESTIONS_AT_ONCE)
        _kernels.log_ratios_of_sums(*asked, of_set[part], positions[part], *how, result[part])

    for _ in engine.threads.map(piece, range(0, len(of_set), QUESTIONS_AT_ONCE)):
        pass
    return result


def _bartlett_statistics(
    n_rows: int | Floats, ratio: Floats, of_z: Floats, of_x: Floats, of_y: Floats
) -> tuple[Floats, Floats]:
    """Return statistics and degrees of freedom, from log ratios and the ranks of Z, X and Y."""
    weight = bartlett(n_rows, of_z, of_x, of_y)
    return -weight * ratio, np.where(weight > 0, of_x * of_y, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalGaussian(CITest):
    """Likelihood-ratio test of continuous variables that are normal given each configuration of the states.

    Parameters
    ----------
    weight : float
        Number of samples with the common covariances that are added to each configuration.
    """

    weight: float = 5.0
    kinds = (MIXED,)
    p_values = p_values_when_bound

    def bind(self, engine: Any, alpha: float = 0.01, **how: Any) -> BoundMixedTest:
        """Prepare the test to answer questions about an engine's data."""
        return BoundMixedTest(self.statistics, engine, alpha, **how)

    def statistics(
        self, engine: MixedEngine, x: Integers, y: Integers, given: Integers
    ) -> tuple[Floats, Floats]:
        """Return statistic and degrees of freedom; NaN if there are too many configurations."""
        formula = LikelihoodByGroup.on(engine, self.weight)
        statistic, freedom = np.zeros(len(x)), np.zeros(len(x))
        # All four on the same samples, where some are missing.
        for sign, members, others in ((1, (x, y), ()), (-1, (x,), (y,)), (-1, (y,), (x,)), (1, (), (x, y))):
            also = np.column_stack(others) if others and engine.any_missing else None
            sets = np.column_stack([*members, given])
            part = gaussian_parts(engine, formula, sets, also)
            statistic += sign * part.log_likelihood
            freedom += sign * formula.parameters(part.numbers, part.occurring)
            for v in members:  # nothing is to be tested where a number does not vary
                position = (engine.is_number[sets] & (sets < v[:, None])).sum(axis=1)
                constant = engine.is_number[v] & (np.floor(part.constant / np.exp2(position)) % 2 == 1)
                freedom[constant] = np.nan
        statistic *= 2.0
        states = ~engine.is_number[x] & ~engine.is_number[y]
        if states.any():
            found = _g2_of_states(engine, x[states], y[states], given[states])
            statistic[states] += found[:, 0]
            freedom[states] += found[:, 1]
        return statistic, freedom


def _g2_of_states(engine: MixedEngine, x: Integers, y: Integers, given: Integers) -> Floats:
    """Return G2 and degrees of freedom of X and Y given the states of Z, on samples with Z's numbers.

    The probabilities of the states add these to the statistic.
    """
    numbers = engine.is_number[given]
    if engine.any_missing:
        counts = engine.binned
        members = np.column_stack([np.where(numbers, counts.presence.numbers[given], given), x, y])
    else:
        counts = engine.counts
        members = np.column_stack(
            [np.where(numbers, -1, engine.position[given]), engine.position[x], engine.position[y]]
        )
    queries = Queries.of_some(members)
    result, sizes = np.empty((len(x), 2)), np.diff(queries.start)
    for size in np.unique(sizes):  # a formula of tests takes queries of one size
        some = sizes == size
        formula = G2Statistic(LogTable(counts.n_rows))
        result[some] = counts.evaluate(queries.where(some), formula, width=2)
    return result


def bartlett(
    n_rows: int | Floats | Integers, of_z: Floats | int, of_x: Floats | int, of_y: Floats | Integers
) -> Floats:
    """Return the factor that makes log determinants nearly chi-squared (Bartlett 1938)."""
    return np.asarray(n_rows - 1 - of_z - (of_x + of_y + 1) / 2.0)


class OfPairs:
    """Tests of all pairs, for :class:`~f2sl.stats.measures.significance.SignificantPairs`.

    The values of pairs that are kept are G2 of states, correlations of continuous columns, and squared
    correlation ratios of both.
    """

    def __init__(self, engine: MixedEngine) -> None:
        self._engine = engine
        self._of_states, self._of_numbers = G2OfPairs(engine.counts), ZOfPairs(engine.moments)

    def formula(self, levels: Floats) -> MixedFormula:
        """Return a formula that keeps all pairs with a p-value up to the last of some falling levels."""
        across = RatiosAbove(levels)
        return MixedFormula(self._of_states.formula(levels), self._of_numbers.formula(levels), across)

    def p_values(self, found: FoundPairs) -> Floats:
        """Return the p-values of what the formula kept."""
        result = np.empty(len(found.first))
        states, numbers, across = self._engine.by_kind(found)
        result[states.which] = self._of_states.p_values(states.pairs)
        result[numbers.which] = self._of_numbers.p_values(numbers.pairs)
        if len(across.which):
            at = across.pairs.first, across.pairs.second
            rows, states_in_them = self._engine.rows_of_pairs[at], self._engine.states_of_pairs[at]
            result[across.which] = ratio_tail(rows, states_in_them, across.pairs.values)
        return result


@dataclass(frozen=True)
class RatiosAbove:
    """Formula that keeps pairs whose analysis of variance has a p-value up to the last of some levels."""

    levels: Floats

    def of_ratios(
        self, first: Integers, second: Integers, states: Integers, rows: Integers, ratios: Floats
    ) -> FoundPairs:
        """Keep such pairs with their squared correlation ratios, and tally those up to each level."""
        p_values = ratio_tail(rows, states, ratios)
        above = p_values[:, None] <= self.levels * (1.0 + MARGIN)
        keep = above[:, -1]
        return FoundPairs(first[keep], second[keep], ratios[keep], above.sum(axis=0))


def ratio_tail(n_rows: Integers, states: Integers, ratios: Floats) -> Floats:
    """Return the p-values of squared correlation ratios, by the numbers of states; 1 for constants."""
    freedom = np.maximum(states - 1, 0)
    weight = np.maximum(bartlett(n_rows, 0, 1, freedom), 0.0)
    return chi_squared_tail(-weight * np.log1p(-np.minimum(ratios, LARGEST)), freedom)
