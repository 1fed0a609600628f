"""Protocol between learners and data: counts, in batches.

A *query* is a list of variables; its answer is their contingency table. A learner never sees rows. It passes
many queries at once together with a *formula*, a function from counted tables to numbers. The engine decides
where to count: in memory over threads, in files, or on a cluster. Counts add up over blocks of rows, so every
engine gives the same tables, and hence the same answers.

Pairs have their own method, because there are so many: the engine walks the triangle of
all pairs in tiles, applies a formula to each tile, and returns only the pairs that the formula keeps.

``engine.counts`` counts states, and ``engine.moments`` has the variances and correlations of continuous
columns; either is None if the table has no such columns. Tests, scores and measures ask for the one that they
need. A table with columns of both kinds has both, and :class:`~f2sl.data.mixed.engine.MixedEngine` answers
questions about both together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.constraints import Constraints
from f2sl.data.column import CONTINUOUS, MIXED
from f2sl.data.table import Table
from f2sl.data.tiles import Triangle, cut_triangle

if TYPE_CHECKING:
    from f2sl.data.mixed.engine import MixedEngine
    from f2sl.data.moments import Moments

Advance = Callable[[float], None]
"""Callback that receives the share of the work of each finished piece."""

Engine: TypeAlias = "CountingEngine | Moments | MixedEngine"
"""Engine that answers learners' questions about the data."""


def open_engine(table: Table, n_jobs: int | None = None) -> Any:
    """Open the engine of a table; a ``with`` block closes it."""
    if table.kind == MIXED:
        from f2sl.data.mixed.engine import MixedEngine

        return MixedEngine(table, n_jobs)
    if table.kind == CONTINUOUS:
        from f2sl.data.moments import Moments

        return Moments.of_table(table, n_jobs)
    return table.counting_engine(n_jobs)


class CountingEngine(ABC):
    """Base of the engines that count states: in memory, in blocks of rows, or on a cluster.

    A subclass has `n_rows`, the number of samples, and `cardinalities`, the number of states of each
    variable. It counts tables, estimates the cost of counting a pair, and searches the pieces of the triangle
    of pairs.
    """

    moments = None
    """Questions about moments have no answer here."""
    cardinalities: Integers
    n_rows: int
    _table: Any

    @abstractmethod
    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`; one row of `width` numbers for each query."""

    @abstractmethod
    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        """Return the way to count a pair with these numbers of states, and its cost."""

    @abstractmethod
    def _search(self, formula: PairFormula, triangle: Triangle, advance: Advance) -> Iterator[FoundPairs]:
        """Yield what `formula` keeps of each piece of the triangle."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of counting: threads, or data sent to a cluster."""

    def search_pairs(
        self,
        formula: PairFormula,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Advance | None = None,
    ) -> FoundPairs:
        """Apply `formula` to all pairs among `variables` (default: all), or of `target` with each of them.

        Each pair is returned once, with first < second, in ascending order. `advance` receives the
        share of the work of each finished piece.
        """
        if variables is None:
            variables = np.arange(self.n_variables)
        missing = self.presence.missing
        triangle = cut_triangle(variables, self.cardinalities, self._cost_of_pair, target, missing)
        return merge_pairs(self._search(formula, triangle, advance or (lambda share: None)))

    def column(self, variable: int) -> NDArray[Any]:
        """Return the codes of one variable."""
        return np.asarray(self._table.column(variable))

    @cached_property
    def margin_start(self) -> Integers:
        """Index in `margins` where each variable's counts begin, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.cardinalities)])

    @cached_property
    def margins(self) -> Integers:
        """Counts of all states, one variable after another."""
        return np.concatenate([np.empty(0, np.int64), *self._table.margins])

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cardinalities)

    @cached_property
    def observed(self) -> Integers:
        """Number of samples that have each variable."""
        return np.add.reduceat(self.margins, self.margin_start[:-1]) if self.n_variables else self.margins

    @cached_property
    def presence(self) -> Presence:
        """Variables that indicate in which samples others are present; queries may use them."""
        return Presence.of(self.cardinalities, self.observed < self.n_rows)

    @property
    def counts(self) -> Any:
        """Engine for counts of states: itself."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass(frozen=True)
class Presence:
    """Further variables, one for each variable with gaps: it has one state, and the same gaps.

    A question is answered from the samples that have all of its variables. So adding the presence of a
    variable to a question limits it to the samples that also have that variable, and changes nothing else. In
    this way two questions can be asked of the same samples.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        The number of each variable's presence, from n on; for a variable without gaps -1.
    owners : ndarray
        The variable of each number: 0 to n - 1, then those with gaps.
    cardinalities : ndarray
        Number of states for each number: that of the variables, then ones.

    Examples
    --------
    >>> presence = Presence.of(np.array([2, 3, 4]), np.array([True, False, True]))
    >>> presence.numbers.tolist(), presence.owners.tolist(), presence.cardinalities.tolist()
    ([3, -1, 4], [0, 1, 2, 0, 2], [2, 3, 4, 1, 1])
    """

    numbers: Integers
    owners: Integers
    cardinalities: Integers

    @classmethod
    def of(cls, cardinalities: Integers, missing: NDArray[np.bool_]) -> Presence:
        """Number the presence of the variables that have gaps."""
        n, own = len(missing), np.flatnonzero(missing)
        numbers = np.full(n, -1)
        numbers[own] = n + np.arange(len(own))
        owners = np.concatenate([np.arange(n), own])
        return cls(numbers, owners, np.concatenate([cardinalities, np.ones(len(own), np.int64)]))

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """True for continuous columns with missing values: variables, and indicators of their presence."""
        return self.numbers[self.owners] >= 0

    @cached_property
    def any(self) -> bool:
        """True if any variable has missing values."""
        return len(self.owners) > len(self.numbers)

    def pair_queries(self, pairs: Integers) -> Queries:
        """Return the queries for the tables of pairs, one a row; with gaps, three for each pair.

        Those are the pair, and each of its variables alone, among the samples that have both.

        Examples
        --------
        >>> presence = Presence.of(np.array([2, 3]), np.array([True, False]))
        >>> queries = presence.pair_queries(np.array([[0, 1]]))
        >>> queries.variables.tolist(), queries.start.tolist()
        ([0, 1, 0, 2, 1], [0, 2, 3, 5])
        """
        if not self.any:
            return Queries.of_matrix(pairs)
        first, second = pairs.T
        alone = np.stack([self.numbers[second], first, self.numbers[first], second], axis=1)
        return Queries.of_some(np.concatenate([pairs, alone], axis=1).reshape(-1, 2))

    def rows(self, codes: NDArray[Any], used: Integers, wanted: Integers) -> NDArray[Any]:
        """Return the codes of some numbers, given those of the variables `used`, which are ascending."""
        found = codes[np.searchsorted(used, self.owners[wanted])]
        own = wanted >= len(self.numbers)
        if own.any():
            found[own] = found[own] == self.cardinalities[self.owners[wanted[own]], None]
        return found


class CodedRows(NamedTuple):
    """Samples as codes, a row for each variable, and the number of states of each."""

    codes: NDArray[Any]
    cardinalities: Integers


@dataclass(frozen=True)
class Queries:
    """Batch of queries, flat: query t has the variables ``variables[start[t]:start[t + 1]]``.

    `width` is their number of variables if it is known to be the same for all, 0 otherwise.

    Examples
    --------
    >>> Queries.of([(0, 1), (2,)]).start.tolist()
    [0, 2, 3]
    """

    variables: Integers
    start: Integers
    width: int = 0

    def __len__(self) -> int:
        return len(self.start) - 1

    def table_sizes(self, cardinalities: Integers) -> Floats:
        """Return the number of cells of each query's full table.

        Examples
        --------
        >>> Queries.of([(0, 1), (2,)]).table_sizes(np.array([2, 3, 4])).tolist()
        [6.0, 4.0]
        """
        states = cardinalities[self.variables].astype(np.float64)
        if not self.width:
            return np.asarray(np.multiply.reduceat(states, self.start[:-1]))
        return product_of_columns(states.reshape(-1, self.width))

    @classmethod
    def of(cls, queries: Sequence[Sequence[int]]) -> Queries:
        """Return a batch from lists of variables of any lengths."""
        lengths = np.fromiter(map(len, queries), np.int64, len(queries))
        variables = np.fromiter((v for query in queries for v in query), np.int64, int(lengths.sum()))
        return cls(variables, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def of_matrix(cls, queries: Integers) -> Queries:
        """Return a batch from a matrix with one query a row."""
        n, width = queries.shape
        start = np.arange(n + 1, dtype=np.int64) * width
        return cls(np.ascontiguousarray(queries, np.int64).ravel(), start, width)

    @classmethod
    def of_some(cls, queries: Integers) -> Queries:
        """Return a batch from a matrix with one query a row, without the negative entries.

        Examples
        --------
        >>> Queries.of_some(np.array([[0, -1], [2, 1]])).start.tolist()
        [0, 1, 3]
        """
        lengths = (queries >= 0).sum(axis=1)
        return cls(queries[queries >= 0], np.concatenate([[0], np.cumsum(lengths)]))

    def part(self, first: int, last: int) -> Queries:
        """Return queries `first` to `last` (not included) as a batch of their own."""
        start = self.start[first : last + 1]
        return Queries(self.variables[start[0] : start[-1]], start - start[0], self.width)

    def where(self, wanted: NDArray[np.bool_]) -> Queries:
        """Return the queries that are marked as a batch of their own."""
        lengths = np.diff(self.start)
        start = np.concatenate([[0], np.cumsum(lengths[wanted])])
        return Queries(self.variables[np.repeat(wanted, lengths)], start, self.width)


def product_of_columns(matrix: Floats) -> Floats:
    """Return the product of each row: for few columns several times as fast as ``matrix.prod(axis=1)``."""
    product = np.ones(len(matrix))
    for column in matrix.T:
        product *= column
    return product


@dataclass(frozen=True)
class Tables:
    """Contingency tables of a batch.

    The cells of table t are grouped by the configuration of all variables but the last:
    its groups are ``first_group[t]`` to ``first_group[t] + n_groups[t]``, and the cells of
    group g are ``counts[group_start[g]:group_start[g + 1]]``. Where ``full[t]``, all groups
    and cells are listed, in the order of the states, empty ones included (the plain table,
    flat, from ``cell_start[t]`` to ``cell_start[t + 1]``); otherwise only those that occur.
    `n_rows` are the samples of the data; with `missing`, tables have those that miss none of their variables.
    """

    queries: Queries
    cardinalities: Integers
    counts: Integers
    cell_start: Integers
    group_start: Integers
    first_group: Integers
    n_groups: Integers
    full: NDArray[np.bool_]
    n_rows: int
    missing: bool = False

    @cached_property
    def totals(self) -> Integers:
        """Number of samples in each table: those that have all of its variables."""
        if not self.missing:
            return np.full(len(self.queries), self.n_rows)
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        first = self.group_start[self.first_group]
        return np.asarray(ends[self.group_start[self.first_group + self.n_groups]] - ends[first])


@dataclass(frozen=True)
class PlaneTiles:
    """Tiles of pairs that are yet to be counted, from bit planes.

    `planes` has a row of bits for each state of each variable, from ``plane_start[v]`` on. A row (top,
    bottom, left, right) of `tiles` pairs the variables at positions top to bottom of `order` with those at
    positions left to right, the earlier position first.
    """

    planes: NDArray[np.uint64]
    plane_start: Integers
    margins: Integers
    margin_start: Integers
    cardinalities: Integers
    missing: NDArray[np.bool_]
    order: Integers
    tiles: Integers


@dataclass(frozen=True)
class CodeTiles:
    """Tiles of pairs that are yet to be counted, sample by sample, from the codes."""

    codes: NDArray[np.unsignedinteger[Any]]
    cardinalities: Integers
    missing: NDArray[np.bool_]
    order: Integers
    tiles: Integers


@dataclass(frozen=True)
class PlaneTables:
    """Tables that are yet to be counted, from bit planes as in `PlaneTiles`, or from the codes."""

    codes: NDArray[np.unsignedinteger[Any]]
    planes: NDArray[np.uint64]
    plane_start: Integers
    cardinalities: Integers
    queries: Queries


TableFormula = Callable[[Tables], Floats]
"""Function from counted tables to one row of numbers for each table.

A formula that does not need all of a table may have a method ``of_planes``, which takes `PlaneTables`; an
engine with bit planes calls it for the tables that it would count by bit planes.
"""


@dataclass(frozen=True)
class FoundPairs:
    """Pairs that a formula kept, with their values; ``first`` and ``second`` are variables.

    With several thresholds, `tally` has the number of pairs above each, kept or not.
    """

    first: Integers
    second: Integers
    values: Floats
    tally: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def joined(cls, parts: Sequence[FoundPairs]) -> FoundPairs:
        """Join the results of one formula on several pieces of work."""
        if not parts:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        tally = np.zeros(max(len(part.tally) for part in parts), np.int64)
        for part in parts:
            tally[: len(part.tally)] += part.tally  # a piece without pairs has none
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.second for part in parts]),
            np.concatenate([part.values for part in parts]),
            tally,
        )

    def part(self, which: NDArray[Any]) -> FoundPairs:
        """Return some of the pairs, by a mask or by their positions."""
        return FoundPairs(self.first[which], self.second[which], self.values[which], self.tally)

    def allowed_neighbors(self, rules: Constraints) -> FoundPairs:
        """Return the pairs that constraints allow to be adjacent."""
        return self.part(rules.allows_adjacency(self.first, self.second))


def merge_pairs(found: Iterable[FoundPairs]) -> FoundPairs:
    """Join the results of all pieces, each pair with its smaller variable first, in ascending order."""
    joined = FoundPairs.joined(list(found))
    low, high = np.minimum(joined.first, joined.second), np.maximum(joined.first, joined.second)
    order = np.argsort(low * (high.max(initial=0) + 1) + high)
    return FoundPairs(low[order], high[order], joined.values[order], joined.tally)


class PairFormula(Protocol):
    """Formula that keeps pairs by their counts."""

    def of_tiles(self, tiles: PlaneTiles) -> FoundPairs:
        """Count the pairs of some tiles and keep some of them, without Python's lock."""

    def of_code_tiles(self, tiles: CodeTiles) -> FoundPairs:
        """Do the same for pairs that are counted sample by sample."""

    def of_tables(self, tables: Tables) -> FoundPairs:
        """Keep pairs among tables of two variables that are too large for the other ways.

        With gaps there are three tables for each pair, as `Presence.pair_queries` says.
        """
