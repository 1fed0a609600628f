"""Log likelihoods of numbers that are jointly normal within each configuration of states.

This is the conditional Gaussian distribution (Lauritzen and Wermuth 1989): the states of a set D have any
distribution, and given their configuration the numbers of a set C are normal with their own means and
covariances. A configuration with few samples says little about its covariances; with no more samples than
numbers it says nothing. So its covariances are estimated as if it had `weight` additional samples with the
pooled covariances of all configurations. With a single configuration, or with weight 0, this is maximum
likelihood; with infinite weight all configurations share their covariances.

A variable that others determine is assumed to have a share `COLLINEAR` of its variance left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import Queries
from f2sl.data.mixed.engine import Groups, MixedEngine
from f2sl.stats import _kernels
from f2sl.stats.conditioning import COLLINEAR


@dataclass(frozen=True)
class ByGroup:
    """Formula on the sums of groups, in which numbers are in units of their standard deviations.

    Parameters
    ----------
    coarse_unit : float
        Unit of the coarse halves of whole numbers.
    centre, spread : ndarray
        Means and standard deviations of the numbers, as whole numbers; with gaps those of the samples that
        have all variables of a query are taken instead.
    n_rows : int
        Number of samples.
    gaps : bool
        True if queries have their own samples.
    """

    coarse_unit: float
    centre: Floats
    spread: Floats
    n_rows: int
    missing: bool

    @classmethod
    def on(cls, engine: MixedEngine, *options: float) -> Self:
        """Return the formula for an engine's numbers."""
        moments = engine.moments
        assert moments.scaling is not None  # a mixed engine's moments are those of a table
        centre, spread = moments.sums / engine.n_rows, np.sqrt(moments.squares / engine.n_rows)
        return cls(moments.scaling.coarse_unit, centre, spread, engine.n_rows, engine.any_missing, *options)

    def of_numbers(self, groups: Groups) -> tuple[Integers, Floats, Floats]:
        """Return the number of samples of each query, and centre and spread of each of its numbers."""
        numbers = groups.numbers
        if not self.missing:
            n_rows = np.full(len(numbers), self.n_rows)
            return n_rows, self.centre[numbers.variables], self.spread[numbers.variables]
        n_rows = np.empty(len(numbers), np.int64)
        centre, spread = np.empty((2, len(numbers.variables)))
        asked = groups.sums, groups.first, groups.n_groups, numbers.start, self.coarse_unit
        _kernels.moments_of_groups(*asked, n_rows, centre, spread)
        return n_rows, centre, spread

    def __call__(self, groups: Groups) -> Floats:
        """Return a log likelihood of each query's numbers, and how many of its groups are not empty."""
        raise NotImplementedError

    def alone(self, correlations: Floats, sets: Integers) -> Floats:
        """Return the log likelihood of each set of numbers without states, one set a row."""
        raise NotImplementedError


@dataclass(frozen=True)
class LikelihoodByGroup(ByGroup):
    """Formula for the maximum log likelihood, with `weight` samples more in each group."""

    weight: float

    def __call__(self, groups: Groups) -> Floats:
        """Return the log likelihood of each query's numbers, and how many of its groups are not empty."""
        result = np.empty((len(groups.n_groups), 2))
        n_rows, _, spread = self.of_numbers(groups)
        _kernels.gaussian_by_group(
            groups.sums,
            groups.first,
            groups.n_groups,
            groups.numbers.start,
            self.coarse_unit,
            spread,
            n_rows,
            self.weight,
            COLLINEAR,
            result,
        )
        return result

    def alone(self, correlations: Floats, sets: Integers) -> Floats:
        """Return the log likelihood of each set of numbers without states, one set a row."""
        size = sets.shape[1]
        left = log_determinants(correlations, Queries.of_matrix(sets))
        return np.asarray(-0.5 * self.n_rows * (left + size * (1.0 + math.log(2.0 * math.pi))))

    def parameters(self, numbers: Integers, groups: Floats) -> Floats:
        """Return the number of parameters, means and covariances, of the numbers in all groups."""
        own = numbers * (numbers + 1) / 2.0
        if math.isinf(self.weight):
            return np.asarray(groups * numbers + own)
        return np.asarray(groups * (numbers + own))


def log_determinants(matrix: Floats, queries: Queries) -> Floats:
    """Return the log determinant of the part of a matrix that belongs to each query."""
    result = np.empty(len(queries))
    _kernels.log_determinants(matrix, queries.variables, queries.start, COLLINEAR, result)
    return result


class Parts(NamedTuple):
    """For each set: log likelihood and number of its numeric columns, and configurations of its states.

    `occurring` is the number of configurations that occur in the data. The likelihood is NaN if there are
    more configurations than rows. `rows` is the number of samples that it comes from.
    """

    log_likelihood: Floats
    numbers: Integers
    configurations: Floats
    occurring: Floats
    rows: Integers


class GaussianParts:
    """Log likelihoods of the numbers of sets of variables, given the states in them.

    Parameters
    ----------
    engine : MixedEngine
        Where numbers are summed up.
    formula : ByGroup
        Kind of likelihood.
    """

    def __init__(self, engine: MixedEngine, formula: ByGroup) -> None:
        self.engine = engine
        self.formula = formula

    def of(self, sets: Integers, also: Integers | None = None) -> Parts:
        """Compute the parts of sets of one size, one a row, in any order of their members.

        With missing values they come from the samples that have all members, and those of `also`.
        """
        limits = sets[:, :0] if also is None else np.sort(also, axis=1)
        asked = np.column_stack([np.sort(sets, axis=1), limits + self.engine.n_variables])
        questions, which = np.unique(asked, axis=0, return_inverse=True)
        engine, n = self.engine, len(questions)
        distinct = questions[:, : sets.shape[1]]
        rows = engine.complete_rows(questions % engine.n_variables)
        is_number = engine.is_number[distinct]
        numbers = is_number.sum(axis=1)
        configurations = np.maximum(engine.cardinalities[distinct], 1).prod(axis=1, dtype=np.float64)
        found = np.tile([0.0, 1.0], (n, 1))
        alone = (numbers > 0) & is_number.all(axis=1) & (not engine.any_missing)
        if alone.any():
            positions = engine.position[distinct[alone]]
            found[alone, 0] = self.formula.alone(engine.moments.correlations, positions)
        mixed = (numbers > 0) & ~alone
        possible = mixed & (configurations <= rows)
        found[mixed & ~possible] = np.nan
        found[possible] = engine.grouped(Queries.of_matrix(questions[possible]), self.formula).reshape(-1, 2)
        which = which.reshape(-1)
        return Parts(found[which, 0], numbers[which], configurations[which], found[which, 1], rows[which])
