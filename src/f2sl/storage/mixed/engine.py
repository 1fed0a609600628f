"""Answers about a table with columns of states and of numbers.

Questions about states alone go to the engine that counts them, those about numbers alone to their moments;
both know the columns of their kind only, by the places that `MixedEngine.place` gives. Questions about both
are answered here, by sums over rows that are exact and add up over blocks, as those of
:mod:`f2sl.storage.moments` are:

* `grouped`: counts, sums and products of some numbers for each configuration of some states;
* `ratios`: of each number and state variable the squared correlation ratio, the share of the number's
  variance that lies between the states;
* `binned`: counts of all variables, each number cut into a few intervals with nearly as many samples each;
* `embedded`: the correlations of all numbers and of indicator columns of all states but one of each variable.

With missing values each answer is from the samples that have all variables of its question. A variable v of a
query may then be given as v + n_variables, its *presence*: it only limits the samples. `columns` has the sums
that correlations come from question by question, and `embedded` does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._memory import available_bytes
from f2sl.errors import DataError
from f2sl.storage.blocks import cut
from f2sl.storage.memory.table import MemoryTable
from f2sl.storage.mixed import _kernels
from f2sl.storage.moments import DIGITS, CorrelationFormula, Moments, Scaling
from f2sl.storage.protocol import CountingEngine, FoundPairs, PairFormula, Queries, merge_pairs
from f2sl.table.column import NUMBER, STATES, Column, places_of
from f2sl.table.table import Block, Table

ROWS_AT_ONCE = 1 << 13
"""Rows that are made into indicator columns at a time."""
CELLS_AT_ONCE = 1 << 18
"""Sums that one piece of work makes."""
BINS = 5
"""Intervals that each number is cut into."""
CELL_BITS, CELLS = 8, 1 << 12
"""Numbers are cut between cells of a fine histogram: 2^8 cells in a scale, which is two to four standard
deviations, and what is beyond so many cells in all is in the outermost."""


class RatioFormula(Protocol):
    """From the squared correlation ratios of numbers with state variables to the pairs worth keeping."""

    def of_ratios(
        self, first: Integers, second: Integers, states: Integers, rows: Integers, ratios: Floats
    ) -> FoundPairs:
        """Keep some of the pairs, with their values; so many states occur in so many samples."""


@dataclass(frozen=True)
class MixedFormula:
    """What to apply to pairs of states, of numbers, and of a number with a state variable."""

    of_states: PairFormula
    of_numbers: CorrelationFormula
    across: RatioFormula


@dataclass(frozen=True)
class Groups:
    """Sums of a batch of queries for each group, laid out as `_kernels.py` describes.

    `numbers` has the members of each query that are numbers, `n_groups` how many groups it has.
    """

    sums: Integers
    first: Integers
    n_groups: Integers
    numbers: Queries


@dataclass(frozen=True)
class _Asked:
    """A batch of queries by the places of columns: members that are states, numbers, and both in order.

    `gap_states` and `gap_numbers` are the columns with gaps that limit the samples of each query, `numeric`
    says which of the members are numbers.
    """

    numeric: Mask
    states: Queries
    numbers: Queries
    members: Queries
    gap_states: Queries
    gap_numbers: Queries


@dataclass(frozen=True)
class _Ratios:
    """Squared correlation ratios of numbers (rows) and state variables (columns), samples, states in them."""

    ratios: Floats
    rows: Integers
    states: Integers


@dataclass(frozen=True)
class OneKind:
    """Some of the pairs of a search, numbered by their places, and which of all pairs they are."""

    which: Integers
    pairs: FoundPairs


@dataclass(frozen=True)
class Embedded:
    """Correlations of numbers and indicators; the columns of v are ``start[v]`` to ``start[v + 1]``."""

    correlations: Floats
    start: Integers


class MixedEngine:
    """Answer questions about a table of both kinds, in memory, in blocks or on a cluster.

    Examples
    --------
    >>> from f2sl.reading import open_table
    >>> table = open_table({"a": ["x", "x", "y", "y"], "b": [0.5, 1.5, 4.5, 5.5]})
    >>> with MixedEngine(table) as engine:
    ...     engine.ratios.round(6).tolist(), engine.embedded.correlations.round(6).tolist()
    ([[0.941176]], [[1.0, -0.970143], [-0.970143, 1.0]])
    """

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self._table = table
        self.gaps: Mask = table.gaps > 0
        """Which columns samples miss."""
        self.any_gaps = bool(self.gaps.any())
        self.states: Integers = np.array(table.of_kind(STATES))
        """The columns of states, in the order in which `counts` has them."""
        self.numbers: Integers = np.array(table.of_kind(NUMBER))
        """The columns of numbers, in the order in which `moments` has them."""
        self.place: Integers = places_of(table.kinds)
        """Which of the columns of its kind each column is."""
        self.cardinalities: Integers = table.cardinalities
        self.is_number: NDArray[np.bool_] = self.cardinalities == 0
        self.n_rows = table.n_rows
        self.observed: Integers = table.n_rows - table.gaps
        self.moments = Moments.of_table(table.select(self.numbers.tolist()), n_jobs)
        self.counts: CountingEngine = table.select(self.states.tolist()).counting_engine(n_jobs)
        self.threads = self.moments.threads
        self._opened: list[Any] = [self.moments, self.counts]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cardinalities)

    def column(self, variable: int) -> NDArray[Any]:
        """Return the codes or numbers of one variable."""
        return self._table.column(variable)

    def close(self) -> None:
        """Give back what both engines have taken."""
        for one in self._opened[::-1]:
            one.__exit__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Pairs

    def search_pairs(
        self,
        formula: MixedFormula,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Callable[[float], None] | None = None,
    ) -> FoundPairs:
        """Apply `formula` to all pairs among `variables` (default: all), or of `target` with each of them."""
        chosen = np.arange(self.n_variables) if variables is None else variables
        of_states, of_numbers = chosen[~self.is_number[chosen]], chosen[self.is_number[chosen]]
        found = []
        parts: tuple[tuple[Any, Any, Integers, Integers, Any], ...] = (
            (self.counts, formula.of_states, of_states, self.states, advance),
            (self.moments, formula.of_numbers, of_numbers, self.numbers, None),
        )
        for engine, own, columns, everyone, told in parts:
            inside = target is None or self.is_number[target] == self.is_number[everyone[0]]
            if inside and len(columns) > (target is None):
                local = None if target is None else int(self.place[target])
                pairs = engine.search_pairs(own, self.place[columns], local, told)
                ends = everyone[pairs.first], everyone[pairs.second]
                found.append(FoundPairs(*ends, pairs.values, pairs.tally))
        if target is not None:
            single = np.array([target])
            of_states, of_numbers = (of_states, single) if self.is_number[target] else (single, of_numbers)
        for v in of_numbers.tolist():
            at = self.place[v], self.place[of_states]
            first, second = np.minimum(of_states, v), np.maximum(of_states, v)
            of_pairs = self.states_of_pairs[at], self.rows_of_pairs[at], self.ratios[at]
            found.append(formula.across.of_ratios(first, second, *of_pairs))
        return merge_pairs(found)

    def by_kind(self, found: FoundPairs) -> tuple[OneKind, OneKind, OneKind]:
        """Sort pairs into those of states, of numbers, and of a number (first) with states (second)."""
        first, second = self.is_number[found.first], self.is_number[found.second]
        parts = []
        for chosen in (~first & ~second, first & second, first ^ second):
            which = np.flatnonzero(chosen)
            a, b = found.first[which], found.second[which]
            swap = ~first[which] & second[which]
            places = self.place[np.where(swap, b, a)], self.place[np.where(swap, a, b)]
            parts.append(OneKind(which, FoundPairs(*places, found.values[which])))
        return parts[0], parts[1], parts[2]

    @cached_property
    def occurring(self) -> Integers:
        """How many states of each state variable occur."""
        return np.add.reduceat((self.counts.margins > 0).astype(np.int64), self.counts.margin_start[:-1])

    @cached_property
    def _sums_by_state(self) -> Floats:
        """Sums of each number, as whole numbers, in each state of each variable, (n_numbers, all states)."""
        coarse, fine = self._table.add_up(partial(_crossed, self._scaling, self._local_cardinalities))
        return np.asarray(coarse * self._scaling.coarse_unit + fine)

    @property
    def ratios(self) -> Floats:
        """The squared correlation ratio of each number (row) and state variable (column)."""
        return self._ratios.ratios

    @property
    def rows_of_pairs(self) -> Integers:
        """How many samples have both a number (row) and a state variable (column)."""
        return self._ratios.rows

    @property
    def states_of_pairs(self) -> Integers:
        """How many states of a state variable (column) occur where there is a number (row), too."""
        return self._ratios.states

    @cached_property
    def _ratios(self) -> _Ratios:
        counts, n_rows = self.counts, self.n_rows
        shape = len(self.numbers), len(self.states)
        if self.any_gaps:
            return self._available_ratios(counts.margin_start[:-1])
        # About the mean: what is subtracted is small, because the whole numbers are near their mean.
        about = self._sums_by_state - np.outer(self.moments.sums, counts.margins / n_rows)
        between = np.add.reduceat(
            about * about / np.maximum(counts.margins, 1), counts.margin_start[:-1], axis=1
        )
        ratios = np.clip(np.round(between / self.moments.squares[:, None], DIGITS), 0.0, 1.0)
        return _Ratios(ratios, np.full(shape, n_rows), np.broadcast_to(self.occurring, shape))

    def _available_ratios(self, start: Integers) -> _Ratios:
        """Compute each ratio from the samples that have both variables; 0 where the number does not vary."""
        unit = self._scaling.coarse_unit
        summed = self._table.add_up(partial(_crossed_available, self._scaling, self._local_cardinalities))
        counts, coarse, fine, *squares = summed
        sums, square = coarse * unit + fine, (squares[0] * unit + squares[1]) * unit + squares[2]
        rows, total, square = (np.add.reduceat(part, start, axis=1) for part in (counts, sums, square))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.repeat(total / rows, self._local_cardinalities, axis=1)
            about = sums - mean * counts
            about = np.where(counts > 0, about * about / counts, 0.0)
            ratios = np.add.reduceat(about, start, axis=1) / (square - total * total / rows)
        ratios = np.clip(np.round(np.where(np.isfinite(ratios), ratios, 0.0), DIGITS), 0.0, 1.0)
        states = np.add.reduceat((counts > 0).astype(np.int64), start, axis=1)
        return _Ratios(ratios, rows.astype(np.int64), states)

    @cached_property
    def embedded(self) -> Embedded:
        """The correlations of all numbers, and of indicators of all states but the last that occurs."""
        assert not self.any_gaps  # there are no samples that all of them come from
        counts, n_rows = self.counts, self.n_rows
        occurs = counts.margins > 0
        owner = np.repeat(np.arange(len(self.states)), self._local_cardinalities)
        last = np.zeros(len(self.states), np.int64)
        last[owner[occurs]] = np.flatnonzero(occurs)
        used = occurs.copy()
        used[last] = False
        sizes = np.ones(self.n_variables, np.int64)
        sizes[self.states] = np.bincount(owner[used], minlength=len(self.states))
        start = np.concatenate([[0], np.cumsum(sizes)])
        _check_memory(int(start[-1]), len(occurs))
        [joint] = self._table.add_up(partial(_joint, self._local_cardinalities))
        # Where each number's column and each indicator's column are.
        numbers, indicators = (
            start[self.numbers],
            np.flatnonzero(~np.isin(np.arange(start[-1]), start[self.numbers])),
        )
        # The indicators of a variable follow each other as its states do.
        margins = counts.margins[used].astype(np.float64)
        matrix = np.empty((start[-1], start[-1]))
        own = joint[np.ix_(used, used)] - np.outer(margins, margins) / n_rows
        spread = np.sqrt(np.diag(own))
        matrix[np.ix_(indicators, indicators)] = own / np.outer(spread, spread)
        across = self._sums_by_state[:, used] - np.outer(self.moments.sums, margins / n_rows)
        across /= np.outer(np.sqrt(self.moments.squares), spread)
        matrix[np.ix_(numbers, indicators)] = across
        matrix[np.ix_(indicators, numbers)] = across.T
        matrix[np.ix_(numbers, numbers)] = self.moments.correlations
        matrix = np.clip(np.round(matrix, DIGITS), -1.0, 1.0)
        np.fill_diagonal(matrix, 1.0)
        return Embedded(matrix, start)

    # Numbers as states

    @cached_property
    def histograms(self) -> Integers:
        """How many samples are in each cell of a fine histogram of each number, (n_numbers, CELLS)."""
        [counts] = self._table.add_up(partial(_cells_counted, self._scaling))
        return np.asarray(counts)

    @cached_property
    def cuts(self) -> tuple[Integers, ...]:
        """The cells with which the intervals of each number but the first begin."""
        cuts = []
        for counts in self.histograms:
            # A cut is behind the cell that holds the quantile, so that both sides have samples.
            below = np.cumsum(counts)
            at = np.searchsorted(below, below[-1] * np.arange(1, BINS) / BINS) + 1
            cuts.append(np.unique(at[below[np.minimum(at, CELLS) - 1] < below[-1]]))
        return tuple(cuts)

    @cached_property
    def binned(self) -> CountingEngine:
        """What counts all variables, by their own numbers, with numbers cut into intervals."""
        sizes = self.cardinalities.copy()
        sizes[self.numbers] = [len(cuts) + 1 for cuts in self.cuts]
        columns = tuple(
            Column(column.name, STATES, column.states or tuple(range(size)), column.gaps)
            for column, size in zip(self._table.columns, sizes.tolist(), strict=True)
        )
        recode = partial(_recoded, self._scaling, self.cuts, self.states, self.numbers)
        table = self._table.recoded(columns, recode)
        engine: CountingEngine = table.counting_engine(self.threads.n_threads)
        self._opened += [_ReleasedBlocks(table), engine]
        return engine

    # Groups

    def grouped(self, queries: Queries, formula: Callable[[Groups], Floats]) -> Floats:
        """Sum up the numbers of each query by the configurations of its states, and apply `formula`.

        The formula gives one number for each query; no query may have more configurations than there are
        rows.
        """
        own = queries.variables < self.n_variables
        variables = queries.variables % self.n_variables
        sizes = np.where(own, np.maximum(self.cardinalities[variables], 1), 1).astype(np.float64)
        q = own & self.is_number[variables]
        return self._in_pieces(
            queries,
            _of_queries(np.multiply, sizes, queries) * _width(_of_queries(np.add, q, queries)),
            lambda part: formula(self._sums(part)),
        )

    def columns(self, queries: Queries, formula: Callable[[Groups], Floats]) -> Floats:
        """Sum up the numbers of each query and the indicators of all states in it, and apply `formula`.

        What the formula gets is one group for each query. Its numbers are not the columns of numbers but the
        members of each query, as numbers of columns: those of its states, 0 for a number.
        """
        own = queries.variables < self.n_variables
        variables = queries.variables % self.n_variables
        widths = np.where(own, np.maximum(self.cardinalities[variables], 1), 0)
        return self._in_pieces(
            queries,
            _width(_of_queries(np.add, widths, queries)),
            lambda part: formula(self._column_sums(part)),
        )

    def complete_rows(self, sets: Integers) -> Integers:
        """Count the samples that have all variables of each set, one a row."""
        if not self.any_gaps:
            return np.full(len(sets), self.n_rows)
        distinct, which = np.unique(np.sort(sets, axis=1), axis=0, return_inverse=True)
        found = self.grouped(Queries.of_matrix(distinct + self.n_variables), _samples)
        return found[which.reshape(-1)].astype(np.int64)

    @cached_property
    def complete(self) -> MixedEngine:
        """The engine of the columns without gaps, of which there must be both kinds; `complete_place`s."""
        engine = MixedEngine(self._table.select(np.flatnonzero(~self.gaps).tolist()), self.threads.n_threads)
        self._opened.append(engine)
        return engine

    @cached_property
    def complete_place(self) -> Integers:
        """Which of the columns without gaps each of them is."""
        return np.cumsum(~self.gaps) - 1

    def _in_pieces(self, queries: Queries, loads: Floats, answer: Callable[[Queries], Floats]) -> Floats:
        """Answer some queries at a time, over threads if the samples are in memory."""
        if not len(queries):
            return np.empty(0)
        pieces = cut(queries, loads, max(CELLS_AT_ONCE, float(loads.max())))
        if isinstance(self._table, MemoryTable):
            return np.concatenate(list(self.threads.map(answer, pieces)))
        return np.concatenate([answer(part) for part in pieces])

    def _sums(self, queries: Queries) -> Groups:
        own = _kept(queries, queries.variables < self.n_variables)
        numbers = self.is_number[own.variables]
        states, of_numbers = _kept(own, ~numbers), _kept(own, numbers)
        sizes = np.ones(len(queries), np.int64)
        owner = np.repeat(np.arange(len(queries)), np.diff(states.start))
        np.multiply.at(sizes, owner, self.cardinalities[states.variables])
        first = np.concatenate([[0], np.cumsum(sizes * _width(np.diff(of_numbers.start)))])
        sums = self._summed(_summed, queries, first)
        return Groups(sums, first, sizes, Queries(self.place[of_numbers.variables], of_numbers.start))

    def _column_sums(self, queries: Queries) -> Groups:
        own = _kept(queries, queries.variables < self.n_variables)
        sizes = self.cardinalities[own.variables]
        widths = _of_queries(np.add, np.maximum(sizes, 1), own)
        first = np.concatenate([[0], np.cumsum(_width(widths))]).astype(np.int64)
        sums = self._summed(_summed_columns, queries, first)
        return Groups(sums, first, np.ones(len(queries), np.int64), Queries(sizes, own.start))

    def _summed(self, function: _Summing, queries: Queries, first: Integers) -> Integers:
        """Sum up all samples by one of the kernels."""
        n = self.n_variables
        variables, own = queries.variables % n, queries.variables < n
        everyone = Queries(variables, queries.start)
        numbers, gaps = self.is_number[variables], self.gaps[variables]
        if isinstance(self._table, MemoryTable):
            place, codes, halves = self.place, self._table.codes, self._halves
            cardinalities = self._local_cardinalities
        else:
            used = [
                np.unique(variables[chosen]) for chosen in (~numbers & (own | gaps), numbers & (own | gaps))
            ]
            place = np.zeros(n, np.int64)
            for part in used:
                place[part] = np.arange(len(part))
            cardinalities = self.cardinalities[used[0]]
        wanted = own & ~numbers, own & numbers, own, gaps & ~numbers, gaps & numbers
        parts = [_kept(everyone, chosen) for chosen in wanted]
        local = [Queries(place[part.variables], part.start) for part in parts]
        asked = _Asked(self.is_number[parts[2].variables], *local)
        if isinstance(self._table, MemoryTable):
            return function(codes, *halves, cardinalities, asked, first)
        scaling = self._scaling.part(self.place[used[1]])
        chosen = self._table.select(np.concatenate(used).tolist())
        [sums] = chosen.add_up(partial(_sums_of_block, function, scaling, cardinalities, asked, first))
        return np.asarray(sums)

    @property
    def _local_cardinalities(self) -> Integers:
        return self.cardinalities[self.states]

    @property
    def _scaling(self) -> Scaling:
        assert self.moments.scaling is not None  # they were made from a table
        return self.moments.scaling

    @cached_property
    def _halves(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The numbers of a table in memory as whole numbers, both halves, (n_numbers, n_rows)."""
        return _as_integers(self._scaling, self._table.add_up(lambda block: (block.numbers,))[0])


class _ReleasedBlocks:
    """Gives back the rows of a table that was made here, and leaves a cluster open that others use."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __exit__(self, *error: object) -> None:
        blocks = getattr(self._table, "blocks", None)
        if blocks is None:
            self._table.close()
        else:
            blocks.release()


def _cells(scaling: Scaling, numbers: Floats) -> Integers:
    """Return the cell of a fine histogram that each number is in."""
    coarse, _ = scaling.halves(numbers)
    cells = np.floor(coarse / 2.0 ** (scaling.coarse_bits - CELL_BITS)).astype(np.int64) + CELLS // 2
    return np.clip(cells, 0, CELLS - 1)


def _cells_counted(scaling: Scaling, block: Block) -> tuple[Integers]:
    cells, there = _cells(scaling, block.numbers), ~np.isnan(block.numbers)
    counts = [np.bincount(row[own], minlength=CELLS) for row, own in zip(cells, there, strict=True)]
    return (np.stack(counts),)


def _recoded(
    scaling: Scaling, cuts: tuple[Integers, ...], states: Integers, numbers: Integers, block: Block
) -> NDArray[Any]:
    """Return the codes of all columns, with numbers cut into intervals."""
    rows = block.codes.shape[1]
    codes = np.empty((len(states) + len(numbers), rows), np.result_type(block.codes.dtype, np.uint8))
    codes[states] = block.codes
    for v, own, cells, values in zip(
        numbers, cuts, _cells(scaling, block.numbers), block.numbers, strict=True
    ):
        codes[v] = np.searchsorted(own, cells, side="right")
        codes[v, np.isnan(values)] = len(own) + 1
    return codes


def _kept(queries: Queries, wanted: NDArray[np.bool_]) -> Queries:
    """Keep some members of each query."""
    before = np.concatenate([[0], np.cumsum(wanted)])
    return Queries(queries.variables[wanted], before[queries.start])


def _of_queries(function: Any, values: NDArray[Any], queries: Queries) -> Any:
    """Add or multiply the values of the members of each query."""
    result = np.full(len(queries), float(function.identity))
    function.at(result, np.repeat(np.arange(len(queries)), np.diff(queries.start)), values)
    return result if function is np.multiply else result.astype(np.int64)


def _width(q: Any) -> Any:
    """Return how many sums a group of a query with q numbers has."""
    return 1 + 2 * q + 3 * q * (q + 1) // 2


def _as_integers(scaling: Scaling, numbers: Floats) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    # Squares of both halves add up to at most 2^52, so that none has more than 26 bits.
    coarse, fine = scaling.halves(numbers)
    coarse[np.isnan(numbers)] = _kernels.GAP
    return coarse.astype(np.int32), fine.astype(np.int32)


def _summed(
    codes: NDArray[Any],
    coarse: NDArray[np.int32],
    fine: NDArray[np.int32],
    cardinalities: Integers,
    asked: _Asked,
    first: Integers,
) -> Integers:
    sums = np.empty(int(first[-1]), np.int64)
    _kernels.sums_by_group(
        codes,
        coarse,
        fine,
        cardinalities,
        asked.states.variables,
        asked.states.start,
        asked.numbers.variables,
        asked.numbers.start,
        asked.gap_states.variables,
        asked.gap_states.start,
        asked.gap_numbers.variables,
        asked.gap_numbers.start,
        first,
        sums,
    )
    return sums


def _summed_columns(
    codes: NDArray[Any],
    coarse: NDArray[np.int32],
    fine: NDArray[np.int32],
    cardinalities: Integers,
    asked: _Asked,
    first: Integers,
) -> Integers:
    sums = np.empty(int(first[-1]), np.int64)
    _kernels.sums_of_columns(
        codes,
        coarse,
        fine,
        cardinalities,
        asked.members.variables,
        asked.numeric,
        asked.members.start,
        asked.gap_states.variables,
        asked.gap_states.start,
        asked.gap_numbers.variables,
        asked.gap_numbers.start,
        first,
        sums,
    )
    return sums


def _samples(groups: Groups) -> Floats:
    """Return the number of samples of queries that have neither states nor numbers."""
    return groups.sums.astype(np.float64)


_Summing = Callable[..., Integers]
"""`_summed` or `_summed_columns`."""


def _sums_of_block(
    function: _Summing,
    scaling: Scaling,
    cardinalities: Integers,
    asked: _Asked,
    first: Integers,
    block: Block,
) -> tuple[Integers]:
    return (function(block.codes, *_as_integers(scaling, block.numbers), cardinalities, asked, first),)


def _indicators(cardinalities: Integers, codes: NDArray[Any]) -> Floats:
    """Make a column of zeros and ones for each state of each variable, (all states, rows)."""
    n = int(cardinalities.sum())
    found = np.zeros((n + 1, codes.shape[1]))
    first = np.concatenate([[0], np.cumsum(cardinalities)])[:-1]
    # Missing values go to a row of their own, which is left out.
    at = np.where(codes < cardinalities[:, None], codes.astype(np.int64) + first[:, None], n)
    found[at, np.arange(codes.shape[1])] = 1.0
    return found[:n]


def _crossed(scaling: Scaling, cardinalities: Integers, block: Block) -> tuple[Floats, Floats]:
    """Sum up both halves of each number in each state, (n_numbers, all states) each."""
    shape = len(block.numbers), int(cardinalities.sum())
    coarse, fine = np.zeros(shape), np.zeros(shape)
    for a in range(0, block.codes.shape[1], ROWS_AT_ONCE):
        indicators = _indicators(cardinalities, block.codes[:, a : a + ROWS_AT_ONCE]).T
        high, low = scaling.halves(block.numbers[:, a : a + ROWS_AT_ONCE])
        # Sums of whole numbers below 2^53 are exact in whatever order.
        coarse += high @ indicators
        fine += low @ indicators
    return coarse, fine


def _crossed_available(scaling: Scaling, cardinalities: Integers, block: Block) -> tuple[Floats, ...]:
    """Sum up each number in each state: samples, both halves, and the three parts of squares."""
    totals = np.zeros((6, len(block.numbers), int(cardinalities.sum())))
    for a in range(0, block.codes.shape[1], ROWS_AT_ONCE):
        indicators = _indicators(cardinalities, block.codes[:, a : a + ROWS_AT_ONCE]).T
        numbers = block.numbers[:, a : a + ROWS_AT_ONCE]
        high, low = scaling.halves(numbers)
        there = (~np.isnan(numbers)).astype(np.float64)
        for total, part in zip(
            totals, (there, high, low, high * high, 2 * high * low, low * low), strict=True
        ):
            total += part @ indicators
    return tuple(totals)


def _joint(cardinalities: Integers, block: Block) -> tuple[Floats]:
    """Count each two states of all variables together, (all states, all states)."""
    total = np.zeros((int(cardinalities.sum()),) * 2)
    for a in range(0, block.codes.shape[1], ROWS_AT_ONCE):
        indicators = _indicators(cardinalities, block.codes[:, a : a + ROWS_AT_ONCE])
        total += indicators @ indicators.T
    return (total,)


def _check_memory(n_columns: int, n_states: int) -> None:
    needed, available = 8 * (4 * n_columns * n_columns + n_states * n_states), available_bytes()
    if available is not None and needed > available:
        raise DataError(
            f"{n_columns:,} columns of numbers and of states' indicators need {needed / 2**30:,.1f} GiB of "
            f"memory for their correlations, and {available / 2**30:,.1f} GiB are free; leave columns out"
        )
