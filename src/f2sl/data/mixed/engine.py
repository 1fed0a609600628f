"""Answers about a table with discrete and continuous columns.

Questions about discrete variables alone go to the engine that counts them, those about continuous ones alone
to their moments. Both know only the columns of their kind, by their `MixedEngine.position`. This engine
answers questions about both, by sums over rows that are exact and add up over blocks, like those of
:mod:`f2sl.data.moments`:

* `grouped`: counts, sums and products of some numbers for each configuration of some states;
* `ratios`: for each number and discrete variable the squared correlation ratio, the share of the number's
  variance between the states;
* `binned`: counts of all variables, each number cut into a few intervals with nearly as many samples each;
* `linear`: the correlations of all numbers and of indicator columns of all states but one of each variable;
* `embedded`: the same, with further columns of the numbers whose relations are curved (`basis.py`).

With missing values each answer uses the samples that have all variables of its question. A variable v of a
query may then be given as v + n_variables, its *presence*, which only limits the samples. `columns_of_sets`
computes the sums for correlations separately for each question, and only `embedded` uses all samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._deadline import checkpoint
from f2sl._memory import LEAST_MEMORY, available_bytes
from f2sl._notes import Note, Part, Use
from f2sl.data._kernels import complete_rows
from f2sl.data.available import as_bits
from f2sl.data.blocks import cut
from f2sl.data.column import CONTINUOUS, DISCRETE, Column, positions_of
from f2sl.data.engines import CountingEngine, FoundPairs, PairFormula, Queries, Tables, merge_pairs
from f2sl.data.memory.table import MemoryTable
from f2sl.data.mixed import _kernels, basis, block_sums, expected
from f2sl.data.mixed.basis import NO_HATS, Hats
from f2sl.data.mixed.block_sums import CELLS
from f2sl.data.mixed.expected import Embedded, Layout
from f2sl.data.mixed.shared import SharedSums
from f2sl.data.moments import BY_MISSING, DIGITS, CorrelationFormula, Moments, Scaling
from f2sl.data.names import listing
from f2sl.data.notes import ROWS_PER_COLUMN
from f2sl.data.table import Table
from f2sl.errors import DataError

CELLS_AT_ONCE = 1 << 18
"""Sums that one piece of work makes."""
BY_ALL = 5
"""Matrices of all columns in memory at a time, without missing values."""
MOST_NAMED = 3
"""Columns with most states that a message names."""
MOST_COLUMNS = 1 << 10
"""Numbers and states of which the products of all pairs are kept."""
BINS = 5
"""Intervals that each number is cut into."""


class RatioFormula(Protocol):
    """Formula that keeps pairs by the squared correlation ratio of a continuous with a discrete variable."""

    def of_ratios(
        self, first: Integers, second: Integers, states: Integers, rows: Integers, ratios: Floats
    ) -> FoundPairs:
        """Keep some of the pairs, with their values, given the numbers of occurring states and of samples."""


@dataclass(frozen=True)
class MixedFormula:
    """Formulas for pairs of discrete variables, of continuous ones, and of one of each."""

    of_states: PairFormula
    of_numbers: CorrelationFormula
    across: RatioFormula


@dataclass(frozen=True)
class Groups:
    """Sums of a batch of queries for each group, laid out as `_kernels.py` describes.

    `numbers` has the numeric members of each query, `n_groups` the number of its groups.
    """

    sums: Integers
    first: Integers
    n_groups: Integers
    numbers: Queries


@dataclass(frozen=True)
class _Ratios:
    """Squared correlation ratios of continuous (rows) and discrete (columns) variables, samples, states."""

    ratios: Floats
    rows: Integers
    states: Integers


@dataclass(frozen=True)
class OneKind:
    """Pairs of one kind in a search, by their positions, with their indices among all pairs."""

    which: Integers
    pairs: FoundPairs


class MixedEngine:
    """Answer questions about a table of both kinds, in memory, in blocks or on a cluster.

    Examples
    --------
    >>> from f2sl import open_table
    >>> table = open_table({"a": ["x", "x", "y", "y"], "b": [0.5, 1.5, 4.5, 5.5]})
    >>> with MixedEngine(table) as engine:
    ...     engine.ratios.round(6).tolist(), engine.embedded.correlations.round(6).tolist()
    ([[0.941176]], [[1.0, -0.970143], [-0.970143, 1.0]])
    """

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self._table = table
        self.missing: Mask = table.missing > 0
        """True for columns with missing values."""
        self.any_missing = bool(self.missing.any())
        self.states: Integers = np.array(table.of_kind(DISCRETE))
        """Discrete columns, in the order of `counts`."""
        self.numbers: Integers = np.array(table.of_kind(CONTINUOUS))
        """Continuous columns, in the order of `moments`."""
        self.position: Integers = positions_of(table.kinds)
        """Index of each column among the columns of its kind."""
        self.cardinalities: Integers = table.cardinalities
        self.is_number: NDArray[np.bool_] = self.cardinalities == 0
        self.n_rows = table.n_rows
        self.observed: Integers = table.n_rows - table.missing
        self.moments = Moments.of_table(table.select(self.numbers.tolist()), n_jobs)
        self.counts: CountingEngine = table.select(self.states.tolist()).counting_engine(n_jobs)
        self.threads = self.moments.threads
        self.isolated: Mask = np.zeros(len(self.cardinalities), np.bool_)
        """Variables that may have no edges, and so do not matter to the matrix of the others."""
        self._opened: list[Any] = [self.moments, self.counts]
        self._shared = SharedSums(self.cardinalities, self.missing, self.n_rows)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cardinalities)

    def column(self, variable: int) -> NDArray[Any]:
        """Return the codes or numbers of one variable."""
        return self._table.column(variable)

    def close(self) -> None:
        """Release the resources of both engines."""
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
        for engine, own, columns, everyone, reporting in parts:
            inside = target is None or self.is_number[target] == self.is_number[everyone[0]]
            if inside and len(columns) > (target is None):
                local = None if target is None else int(self.position[target])
                pairs = engine.search_pairs(own, self.position[columns], local, reporting)
                ends = everyone[pairs.first], everyone[pairs.second]
                found.append(FoundPairs(*ends, pairs.values, pairs.tally))
        if target is not None:
            single = np.array([target])
            of_states, of_numbers = (of_states, single) if self.is_number[target] else (single, of_numbers)
        for v in of_numbers.tolist():
            at = self.position[v], self.position[of_states]
            first, second = np.minimum(of_states, v), np.maximum(of_states, v)
            of_pairs = self.states_of_pairs[at], self.rows_of_pairs[at], self.ratios[at]
            found.append(formula.across.of_ratios(first, second, *of_pairs))
        return merge_pairs(found)

    def by_kind(self, found: FoundPairs) -> tuple[OneKind, OneKind, OneKind]:
        """Sort pairs: discrete, continuous, and a continuous (first) with a discrete variable (second)."""
        first, second = self.is_number[found.first], self.is_number[found.second]
        parts = []
        for chosen in (~first & ~second, first & second, first ^ second):
            which = np.flatnonzero(chosen)
            a, b = found.first[which], found.second[which]
            swap = ~first[which] & second[which]
            positions = self.position[np.where(swap, b, a)], self.position[np.where(swap, a, b)]
            parts.append(OneKind(which, FoundPairs(*positions, found.values[which])))
        return parts[0], parts[1], parts[2]

    @cached_property
    def occurring(self) -> Integers:
        """Number of states of each discrete variable that occur."""
        return np.add.reduceat((self.counts.margins > 0).astype(np.int64), self.counts.margin_start[:-1])

    @cached_property
    def _sums_by_state(self) -> Floats:
        """Sums of each number, as whole numbers, in each state of each variable, (n_numbers, all states)."""
        how = self._scaling, self._local_cardinalities, False
        coarse, fine = self._table.add_up(partial(block_sums.crossed, *how))
        return np.asarray(coarse * self._scaling.coarse_unit + fine)

    @property
    def ratios(self) -> Floats:
        """Squared correlation ratio of each number (row) and discrete variable (column)."""
        return self._ratios.ratios

    @property
    def rows_of_pairs(self) -> Integers:
        """Number of samples that have both a number (row) and a discrete variable (column)."""
        return self._ratios.rows

    @property
    def states_of_pairs(self) -> Integers:
        """Number of states of a discrete variable (column) that occur in samples with a number (row)."""
        return self._ratios.states

    @cached_property
    def _ratios(self) -> _Ratios:
        counts, n_rows = self.counts, self.n_rows
        shape = len(self.numbers), len(self.states)
        if self.any_missing:
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
        how = self._scaling, self._local_cardinalities, True
        coarse, fine, *squares, counts = self._table.add_up(partial(block_sums.crossed, *how))
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
    def layout(self) -> Layout:
        """Continuous columns, with hats of those that need them, and indicators of states."""
        how = self.n_rows, self._table.add_up
        most = min(basis.MOST_COLUMNS, self.n_rows // basis.ROWS_EACH)
        if len(self.linear_layout.owner) <= most:
            hats = basis.possible_hats(self._scaling, *how)
            if len(self.linear_layout.owner) + len(hats.number) <= most:
                hats = hats.of_numbers(basis.curved(self._arranged(hats), *how))
                if len(hats.number):
                    return self._arranged(hats)
        return self.linear_layout

    @cached_property
    def linear_layout(self) -> Layout:
        """Continuous columns, one for each, and of indicators of all states but the last that occurs."""
        return self._arranged(NO_HATS)

    def _arranged(self, hats: Hats) -> Layout:
        occurs = self.counts.margins > 0
        owner = np.repeat(np.arange(len(self.states)), self._local_cardinalities)
        last = np.zeros(len(self.states), np.int64)
        last[owner[occurs]] = np.flatnonzero(occurs)
        used = occurs.copy()
        used[last] = False
        # States of fewer than two rows each explain everything, so that no score would use these columns.
        used &= (np.bincount(owner[used], minlength=len(self.states)) <= self.n_rows / ROWS_PER_COLUMN)[owner]
        sizes = np.empty(self.n_variables, np.int64)
        sizes[self.numbers] = 1 + np.bincount(hats.number, minlength=len(self.numbers))
        sizes[self.states] = np.bincount(owner[used], minlength=len(self.states))
        start = np.concatenate([[0], np.cumsum(sizes)])
        self._check_memory(int(start[-1]), len(occurs))
        # The indicators of a variable follow each other as its states do, hats follow the value.
        numbers, indicators = start[self.numbers], np.full(len(used), -1)
        columns = np.repeat(np.arange(self.n_variables), sizes)
        indicators[used] = np.flatnonzero(~self.is_number[columns])
        of_hats = np.setdiff1d(np.flatnonzero(self.is_number[columns]), numbers)
        kinds = self._local_cardinalities, numbers, indicators, columns, self.states, self.numbers
        return Layout(self._scaling, *kinds, hats, of_hats, self.isolated)

    def _check_memory(self, n_columns: int, n_states: int) -> None:
        """Raise an error if matrices of all columns and of all states do not fit into memory."""
        matrices = BY_MISSING if self.any_missing else BY_ALL
        needed = 8 * (matrices * n_columns * n_columns + n_states * n_states)
        table = self._table
        limit = table.allowed if table.memory is None else table.memory
        if limit is None and needed <= LEAST_MEMORY:
            return  # to ask what is free takes longer than to learn from a small table
        most = available_bytes() if limit is None else limit
        if most is None or needed <= most:
            return
        largest = np.argsort(-table.cardinalities, kind="stable")[:MOST_NAMED].tolist()
        named = listing([f"{table.names[v]!r} ({table.cardinalities[v]:,})" for v in largest])
        free = "free" if limit is None else "allowed"
        lead = (
            f"{len(self.numbers):,} continuous columns and {n_states:,} states of the others need "
            f"{needed / 1e6:,.0f} MB of memory for their correlations, and {most / 1e6:,.0f} MB are "
            f"{free}; most states: {named}; leave such columns out, as with "
        )
        parts: list[Part] = [lead, Use("drop", [table.names[largest[0]]])]
        parts += [] if limit is None else [", or raise ", Use("memory", ...)]
        raise DataError(Note("memory", *parts, needed=needed, available=most))

    @cached_property
    def embedded(self) -> Embedded:
        """Correlations of the columns of `layout`.

        With missing values, those of a normal distribution that fits all rows best (`expected.py`).
        """
        return self.linear if self.layout is self.linear_layout else self._embedded(self.layout)

    @cached_property
    def linear(self) -> Embedded:
        """Correlations of the columns of `linear_layout`."""
        return self._embedded(self.linear_layout)

    def _embedded(self, layout: Layout) -> Embedded:
        n, how = self.n_variables, (self.n_rows, self._table.add_up)
        if self.any_missing:
            return expected.expected(layout, *how)
        start = np.searchsorted(layout.owner, np.arange(n + 1))
        known = (
            expected.of_complete(layout, *how) if len(layout.of_hats) else self._complete_correlations(layout)
        )
        return Embedded(known, start, np.full((n, n), self.n_rows))

    def _complete_correlations(self, layout: Layout) -> Floats:
        """Return the correlations of the embedded columns of a table without missing values."""
        counts, n_rows, numbers = self.counts, self.n_rows, layout.numbers
        used = np.flatnonzero(layout.indicators >= 0)
        indicators = layout.indicators[used]
        matrix = np.empty((len(layout.owner), len(layout.owner)))
        [joint] = self._table.add_up(partial(block_sums.joint, self._local_cardinalities))
        margins = counts.margins[used].astype(np.float64)
        spread = np.sqrt(margins - margins * margins / n_rows)
        step = max(1, CELLS_AT_ONCE // len(matrix))
        for a in range(0, len(used), step):
            checkpoint()
            some = slice(a, a + step)
            own = joint[np.ix_(used[some], used)] - np.outer(margins[some], margins) / n_rows
            matrix[np.ix_(indicators[some], indicators)] = own / np.outer(spread[some], spread)
        across = self._sums_by_state[:, used] - np.outer(self.moments.sums, margins / n_rows)
        across /= np.outer(np.sqrt(self.moments.squares), spread)
        matrix[np.ix_(numbers, indicators)] = across
        matrix[np.ix_(indicators, numbers)] = across.T
        matrix[np.ix_(numbers, numbers)] = self.moments.correlations
        for a in range(0, len(matrix), step):
            checkpoint()
            rows = matrix[a : a + step]
            np.clip(np.round(rows, DIGITS), -1.0, 1.0, out=rows)
        np.fill_diagonal(matrix, 1.0)
        return matrix

    # Numbers as states

    @cached_property
    def histograms(self) -> Integers:
        """Number of samples in each cell of a fine histogram of each number, (n_numbers, CELLS)."""
        [counts] = self._table.add_up(partial(block_sums.cells_counted, self._scaling))
        return np.asarray(counts)

    @cached_property
    def cuts(self) -> tuple[Integers, ...]:
        """First cell of each interval of each number, except the first interval."""
        cuts = []
        for counts in self.histograms:
            # A cut is behind the cell that holds the quantile, so that both sides have samples.
            below = np.cumsum(counts)
            at = np.searchsorted(below, below[-1] * np.arange(1, BINS) / BINS) + 1
            cuts.append(np.unique(at[below[np.minimum(at, CELLS) - 1] < below[-1]]))
        return tuple(cuts)

    @cached_property
    def binned(self) -> CountingEngine:
        """Engine that counts all variables, by their own numbers, with numbers cut into intervals."""
        sizes = self.cardinalities.copy()
        sizes[self.numbers] = [len(cuts) + 1 for cuts in self.cuts]
        columns = tuple(
            Column(column.name, DISCRETE, column.states or tuple(range(size)), column.missing)
            for column, size in zip(self._table.columns, sizes.tolist(), strict=True)
        )
        recode = partial(block_sums.recoded, self._scaling, self.cuts, self.states, self.numbers)
        table = self._table.converted(columns, recode)
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

    def columns_of_sets(self, sets: Integers) -> Groups:
        """Sum up the numbers and the indicators of all states of each set of variables, one a row.

        There is one group for each set. Its `numbers` are the members of the set, given by their numbers of
        states, 0 for a number.
        """
        queries = Queries.of_matrix(sets)
        sizes = self.cardinalities[queries.variables]
        lengths = _width(_of_queries(np.add, np.maximum(sizes, 1), queries))
        # Here, because a pool's threads leave linear algebra alone.
        whole = block_sums.UNKNOWN if self._whole_columns is None else self._whole_columns
        sums = self._in_pieces(queries, lengths, partial(self._column_sums, whole))
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Groups(sums, first, np.ones(len(sets), np.int64), Queries(sizes, queries.start))

    def complete_rows(self, sets: Integers) -> Integers:
        """Count the samples that have all variables of each set, one a row."""
        if not self.any_missing:
            return np.full(len(sets), self.n_rows)
        if self._missing_bits is not None:
            known = np.empty(len(sets), np.int64)
            complete_rows(self._missing_bits, np.ascontiguousarray(sets), self.n_rows, known)
            return known
        limits = self.binned.presence.numbers[sets]  # few are asked for twice
        found = np.full(len(limits), self.n_rows)
        some = (limits >= 0).any(axis=1)
        if some.any():
            found[some] = self.binned.evaluate(Queries.of_some(limits[some]), _samples)[:, 0]
        return found

    @cached_property
    def _missing_bits(self) -> NDArray[np.uint64] | None:
        """A bit for each missing value, (n_variables, words); None if rows are not in memory."""
        if not isinstance(self._table, MemoryTable):
            return None
        missing = np.empty((self.n_variables, self.n_rows), np.bool_)
        missing[self.states] = self._table.codes >= self._local_cardinalities[:, None]
        missing[self.numbers] = np.isnan(self._table.numbers)
        return as_bits(missing)

    @cached_property
    def any_complete(self) -> bool:
        """True if columns of both kinds have no missing values, so that there is a `complete` engine."""
        return len(np.unique(self.is_number[~self.missing])) == 2

    @cached_property
    def complete(self) -> MixedEngine:
        """Engine of the complete columns, which must be of both kinds; see `complete_position`."""
        engine = MixedEngine(
            self._table.select(np.flatnonzero(~self.missing).tolist()), self.threads.n_threads
        )
        self._opened.append(engine)
        return engine

    @cached_property
    def complete_position(self) -> Integers:
        """Index of each column without missing values among those columns."""
        return np.cumsum(~self.missing) - 1

    def _in_pieces(
        self, queries: Queries, loads: Floats, answer: Callable[[Queries], NDArray[Any]]
    ) -> NDArray[Any]:
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
        sums = self._available(queries, own, first)
        return Groups(sums, first, sizes, Queries(self.position[of_numbers.variables], of_numbers.start))

    def _column_sums(self, whole: block_sums.Whole, queries: Queries) -> Integers:
        """Sum up the columns of each set of variables."""
        widths = _of_queries(np.add, np.maximum(self.cardinalities[queries.variables], 1), queries)
        first = np.concatenate([[0], np.cumsum(_width(widths))]).astype(np.int64)
        return self._summed(partial(block_sums.summed_columns, whole=whole), queries, first)

    @cached_property
    def _whole_columns(self) -> block_sums.Whole | None:
        """Sums of all columns and pairs of columns; None if rows are not in memory, or columns too many."""
        n_columns = len(self.numbers) + int(self._local_cardinalities.sum())
        if n_columns > MOST_COLUMNS or not isinstance(self._table, MemoryTable):
            return None
        how = self._scaling, self._local_cardinalities
        sums, products = self._table.add_up(partial(block_sums.whole_columns, *how))
        return sums, products

    def _available(self, queries: Queries, own: Queries, first: Integers) -> Integers:
        """Sum all samples of each query or, with missing values, those of its host; see `SharedSums`."""
        if not self.any_missing:
            return self._summed(block_sums.summed, queries, first)
        hosts, have = self._shared.hosts(queries)
        sums, lengths = np.empty(int(first[-1]), np.int64), np.diff(first)
        for some in (have, ~have):
            if not some.any():
                continue
            begin = np.concatenate([[0], np.cumsum(lengths[some])])
            if some is have:
                members = own.where(some)
                found = np.empty(int(begin[-1]), np.int64)
                parts = self._shared.parts(hosts[some], members, self._sums_of_hosts)
                numeric = self.is_number[members.variables]
                _kernels.sums_of_parts(*parts, numeric, members.start, begin, found)
            else:
                found = self._summed(block_sums.summed, queries.where(some), begin)
            sums[np.repeat(some, lengths)] = found
        return sums

    def _sums_of_hosts(self, queries: Queries) -> list[Integers]:
        """Sum up the numbers of each host by the configurations of its states."""
        sizes = np.maximum(self.cardinalities[queries.variables], 1).astype(np.float64)
        widths = _width(_of_queries(np.add, self.is_number[queries.variables], queries))
        lengths = _of_queries(np.multiply, sizes, queries).astype(np.int64) * widths
        found: list[Integers] = []
        for part in cut(queries, lengths, max(CELLS_AT_ONCE, int(lengths.max()))):
            first = np.concatenate([[0], np.cumsum(lengths[len(found) : len(found) + len(part)])])
            sums = self._summed(block_sums.summed, part, first)
            found += [sums[a:b] for a, b in pairwise(first.tolist())]
        return found

    def _summed(self, function: block_sums.Summing, queries: Queries, first: Integers) -> Integers:
        """Sum up all samples by one of the kernels."""
        n = self.n_variables
        variables, own = queries.variables % n, queries.variables < n
        everyone = Queries(variables, queries.start)
        numbers, is_missing = self.is_number[variables], self.missing[variables]
        if isinstance(self._table, MemoryTable):
            position, codes, halves = self.position, self._table.codes, self._halves
            cardinalities = self._local_cardinalities
        else:
            used = [
                np.unique(variables[chosen])
                for chosen in (~numbers & (own | is_missing), numbers & (own | is_missing))
            ]
            position = np.zeros(n, np.int64)
            for part in used:
                position[part] = np.arange(len(part))
            cardinalities = self.cardinalities[used[0]]
        wanted = own & ~numbers, own & numbers, own, is_missing & ~numbers, is_missing & numbers
        parts = [_kept(everyone, chosen) for chosen in wanted]
        local = [Queries(position[part.variables], part.start) for part in parts]
        asked = block_sums.MixedBatch(self.is_number[parts[2].variables], *local)
        if isinstance(self._table, MemoryTable):
            return function(codes, *halves, cardinalities, asked, first)
        scaling = self._scaling.part(self.position[used[1]])
        chosen = self._table.select(np.concatenate(used).tolist())
        [sums] = chosen.add_up(
            partial(block_sums.sums_of_block, function, scaling, cardinalities, asked, first)
        )
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
        """Numbers of a table in memory as whole numbers, both halves, (n_numbers, n_rows)."""
        return block_sums.as_integers(self._scaling, self._table.add_up(lambda block: (block.numbers,))[0])


class _ReleasedBlocks:
    """Owner of a table made here: releases its rows, and leaves open a cluster that others use."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __exit__(self, *error: object) -> None:
        self._table.release()


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


def _samples(tables: Tables) -> Floats:
    """Return the number of samples of each table."""
    return tables.totals.astype(np.float64)
