"""Encoding of a user's columns as a table of codes and numbers.

:mod:`f2sl.data.kinds` decides the kind of a column. The states of a column are:

- strings, booleans and integers: the values that occur, ascending;
- categories (pandas, Polars ``Enum``, Arrow dictionaries): all that are declared, in the declared order,
  whether they occur or not.

Columns of integers that come in blocks are encoded block by block; all others one by one. Changes are
collected for the table's notes, and problems for one error at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Mask
from f2sl._constants import AUTO, OTHER
from f2sl._notes import Note, Use, joined, of_kind
from f2sl._reading import ALL
from f2sl.data.binning import BINNINGS, MISSING_LABEL, auto_bins, cut, interval_codes
from f2sl.data.check import (
    DATE_PARTS,
    DROP,
    KEEP,
    REASONS,
    CheckedColumn,
    Problems,
    Remark,
    Report,
    check_numbers,
    dates_read,
    describe_values,
    integers_read,
    note_on,
    size_problem,
)
from f2sl.data.column import CONTINUOUS, DISCRETE, MAX_STATES, Column, code_type
from f2sl.data.dates import DAYS, TIMES, DateReader, are_times, not_dates, reader_of, written
from f2sl.data.frames import Source, open_source, rows_by_weight
from f2sl.data.kinds import (
    AS_ONE,
    FEW,
    MANY_LABELS,
    alike_but_for_case,
    are_codes,
    balanced,
    exceptions,
    few,
    frequent_labels,
    has_groups,
    identifies,
    like_written_numbers,
    missing_codes,
    pooled_codes,
)
from f2sl.data.memory.table import MemoryTable
from f2sl.data.names import (
    AVAILABLE,
    Cut,
    Labels,
    Reading,
    chosen_columns,
    describe_weights,
    is_nameless,
    listing,
)
from f2sl.data.notes import describe_constant
from f2sl.data.ordered import note_on_dependence
from f2sl.data.values import (
    LAST_EXACT,
    RawColumn,
    Refused,
    block_width,
    chosen_rows,
    encode_integers,
    number_of,
)

LEFT_OUT, REFUSED = "left out", "refused"
"""Result for a column that is not part of the table."""

LIKE_ONE = ", like an identifier"
TO_NUMBERS = "; convert them to plain numbers"
COUNTS = "freq", "frequency"
"""Names of columns that mostly count rows."""


def encode(
    data: Any, reading: Reading | None = None, notes: Iterable[Note] = (), found: Iterable[str] = ()
) -> MemoryTable:
    """Read data in memory; `found` are the missing values found before, as written.

    Examples
    --------
    >>> columns = {"a": [0.5, 1.5, 9.0, 9.5], "b": ["x", None, "x", "y"]}
    >>> table = encode(columns, Reading(bins={"a": 2}, missing="state"))
    >>> table.states
    (('[0.5, 9)', '[9, 9.5]'), ('x', 'y', '<missing>'))
    >>> table.codes.tolist()
    [[0, 0, 1, 1], [0, 2, 0, 1]]
    """
    reading = reading or Reading()
    source = open_source(data, None if reading.drop else reading.names)
    na_found = set(found)
    if reading.na:
        source = source.without(reading.na, na_found)
    indices, names, parts, wrong = chosen_columns(source.names, reading)
    rows, refused = None, None
    if reading.weights in names:
        at = names.index(reading.weights)
        try:
            rows = rows_by_weight(source.column(indices.pop(at)))
            notes = [*notes, describe_weights(reading.weights, source.n_rows, len(rows))]
        except Refused as error:
            refused = error
        names, parts = names[:at] + names[at + 1 :], parts[:at] + parts[at + 1 :]
    if rows is not None or names != source.names:
        source = source.part(indices, names, rows)
    encoder = Encoder(source, reading, parts, wrong, notes, na_found)
    if refused is not None:
        encoder.problems.add(refused.reason, str(reading.weights), refused.detail)
    return encoder.run()


class Encoder:
    """Encoder of one call, which reads the source by column and collects codes, numbers and problems.

    `parts` has the part of a date that a column is, or nothing. `options` has known problems of the options,
    and `notes` has notes made before.
    """

    def __init__(
        self,
        source: Source,
        reading: Reading,
        parts: Sequence[str],
        options: Iterable[Note] = (),
        notes: Iterable[Note] = (),
        na_found: Collection[str] = (),
    ) -> None:
        n = len(source.names)
        self.source = source
        self.reading = reading
        self.problems = Problems(options)
        self.kinds: list[str] = [DISCRETE] * n
        self.states: list[Labels] = [()] * n
        self.missing = [0] * n
        self.readers: list[DateReader | None] = [None] * n
        self._parts = parts
        asked = reading.kinds if isinstance(reading.kinds, Mapping) else {}
        self._asked_of_all = reading.kinds if isinstance(reading.kinds, str) else AUTO
        of_all = self._asked_of_all != AUTO or ALL in reading.bins
        self._learned = {
            name: how
            for name, how in reading.learned.items()
            if not of_all and name not in asked and name not in reading.bins
        }
        self._asked, self._bins = dict(asked), dict(reading.bins)
        for name, how in self._learned.items():
            if isinstance(how, str):
                self._asked[name] = how
            else:
                self._bins[name] = how
        self._few_are_numbers = self._are_codes = self._beside_numbers = False
        self._given_notes = list(notes)
        self._na_found = na_found  # may grow while columns are read
        self._remarks: dict[Remark, list[str]] = defaultdict(list)
        self._alike: dict[Labels, list[str]] = {}
        self._cut: set[int] = set()
        self._groups: list[int] = []
        self._action: dict[int, tuple[str, str]] = {}
        self._missing: dict[int, int] = {}
        self._range: dict[int, tuple[float, float]] = {}

    def run(self) -> MemoryTable:
        """Encode all columns, or raise one error about those that cannot be."""
        n = len(self.source.names)
        keep = complete_rows(self.source) if self.reading.missing == "drop" else None
        enough = self.begin(self.source.n_rows if keep is None else int(keep.sum()))
        self.codes: npt.NDArray[Any] = np.empty((n, self.n_kept), dtype=np.uint8)
        self.numbers, self._n_numbers = np.empty((0, self.n_kept)), 0
        if enough:
            self.encode_columns(self._encode_blocks() if keep is None else range(n), keep)
        self.finish()
        of_states = [i for i, kind in enumerate(self.kinds) if kind == DISCRETE]
        codes = self.codes if len(of_states) == n else self.codes[of_states]
        return MemoryTable(self.columns, codes, self.numbers[: self._n_numbers], self.notes())

    @property
    def kept(self) -> list[int]:
        """Numbers of the source's columns that are in the table."""
        return [i for i, kind in enumerate(self.kinds) if kind in (DISCRETE, CONTINUOUS)]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the table, after encoding."""
        return tuple(
            Column(
                self.source.names[i], self.kinds[i], self.states[i], self.missing[i], is_cut=i in self._cut
            )
            for i in self.kept
        )

    def begin(self, n_kept: int) -> bool:
        """Set the number of kept rows; return whether they are enough to read the columns."""
        self.n_kept = n_kept
        return n_kept >= (2 if self._asked_of_all == CONTINUOUS else 1)

    def finish(self) -> None:
        """Raise one error about all problems, after the report if one is wanted."""
        n_rows, numeric = self.source.n_rows, CONTINUOUS in (*self.kinds, self._asked_of_all)
        names = [self.source.names[i] for i in self.kept]
        problem: Note | None = None
        if n_rows and self.n_kept < 1 + numeric and self.n_kept < n_rows:
            source = self.source
            empty = [name for i, name in enumerate(source.names) if source.n_missing(i) == n_rows]
            least = "no row is complete: " if self.n_kept == 0 else "only one row is complete: "
            would = f" would drop {n_rows - self.n_kept} of {n_rows} rows; "
            advice: list[str | Use] = ["leave out what has no values with ", DROP(empty)]
            if not empty:
                advice = ["make missing values a state with ", Use("missing", "state")]
                advice.append(", or leave out the columns that miss most")
            problem = Note("incomplete-rows", least, Use("missing", "drop"), would, *advice, columns=empty)
        elif not self.problems.messages() or n_rows < 1 + numeric:
            problem = size_problem(names, n_rows, min_rows=2 if numeric else 1)
            left_out = of_kind(self.notes(), "left-out", "identifier") if not names else []
            problem = joined([problem, *left_out]) if problem else None
        if self.reading.tell and REFUSED not in self.kinds:
            problem = problem or size_problem(names, n_rows, 2, min_rows=2 if numeric else 1)
        if problem:
            self.problems.say(problem)
        if self.reading.tell:
            self.reading.tell(self.report())
        self.problems.raise_any()

    def store_codes(self, i: int, codes: npt.NDArray[Any], most_states: int) -> None:
        """Store the codes of some discrete columns, from `i` on."""
        if self.codes.dtype == np.uint8 != code_type(most_states):
            self.codes = self.codes.astype(np.uint16)
        self.codes[i : i + len(codes)] = codes

    def store_numbers(self, i: int, numbers: Floats) -> None:
        """Store the numbers of a column; columns arrive in their order."""
        if not len(self.numbers):  # pages that nothing is written to take no memory
            self.numbers = np.empty((len(self.kinds) - i, self.n_kept))
        self.numbers[self._n_numbers] = numbers
        self._n_numbers += 1

    def _encode_blocks(self) -> list[int]:
        """Encode columns that arrive in blocks of integers; return the others."""
        names = self.source.names
        left: list[int] = []
        width = block_width(self.source.n_rows)
        for first in range(0, len(names), width):
            last = min(first + width, len(names))
            block = None if self._asked_of_all == CONTINUOUS else self.source.block(first, last)
            if block is None:
                left.extend(range(first, last))
                continue
            boolean = block.dtype.kind == "b"
            states, codes = encode_integers(block.view(np.uint8) if boolean else block)
            most = max(map(len, states))
            if most > MAX_STATES:
                left.extend(range(first, last))
                continue
            self.store_codes(first, codes, most)
            for i, values in enumerate(states, start=first):
                if (
                    len(values) > FEW
                    or names[i] in self._bins
                    or self._asked.get(names[i], DISCRETE) == CONTINUOUS
                    or self._parts[i]
                ) or (i == 0 and is_nameless(names[0], 0)):
                    left.append(i)
                    continue
                self.states[i] = tuple((values.astype(np.bool_) if boolean else values).tolist())
                if len(values) > 2 and self._may_choose(names[i]):
                    self._remarks[integers_read(DISCRETE, len(values))].append(names[i])
        return left

    def encode_columns(self, those: Iterable[int], keep: Mask | None) -> None:
        """Encode columns one by one; where one kind is wanted, all again if all are continuous."""
        those = list(those)
        self._are_codes = bool(those) and self._all_codes(keep)
        waiting = [i for i in those if not self.encode_column(i, keep)]
        asked = self._asked_of_all, *self._asked.values()
        one_kind = self.reading.one_kind and DISCRETE not in asked and not waiting
        if one_kind and CONTINUOUS in self.kinds and DISCRETE in self.kinds:
            states = (self.states[i] for i, kind in enumerate(self.kinds) if kind == DISCRETE)
            if all(type(state) is int for labels in states for state in labels):
                self._few_are_numbers = True
                self.numbers, self._n_numbers = np.empty((0, self.n_kept)), 0
                self._remarks.clear()
                self._groups.clear()
                for i in range(len(self.kinds)):
                    self.states[i] = ()
                    self.encode_column(i, keep)
        self._beside_numbers = CONTINUOUS in self.kinds
        for i in waiting:
            self.encode_column(i, keep, wait=False)

    def _all_codes(self, keep: Mask | None) -> bool:
        """Return whether this is a table of codes, by the columns that no option names."""
        if self._asked_of_all != AUTO:
            return False
        found = []
        for i, name in enumerate(self.source.names):
            if name in self._asked or name in self._bins or self.states[i]:  # these have few values
                continue
            try:
                column = self._column(i, keep)
            except Refused:
                return False
            if column.n_missing == self.n_kept:
                continue
            if column.form != "integers" or column.unit:
                return False
            if self._reason_to_leave_out(i, column) or identifies(name, column, self.n_kept):
                continue
            values, _ = column.counted
            if column.only_ends or len(values) > MAX_STATES:
                return False
            found.append((len(values), int(values[0]), int(values[-1])))
        return are_codes(found)

    def _column(self, i: int, keep: Mask | None) -> RawColumn:
        """Read the kept rows of a column."""
        column = self.source.column(i)
        return column if keep is None else chosen_rows(column, keep)

    def encode_column(self, i: int, keep: Mask | None, wait: bool = True) -> bool:
        """Encode one column, or note why it cannot be; return False if it has to `wait` for all others.

        What becomes of very many labels depends on whether other columns are continuous.
        """
        name = self.source.names[i]
        try:
            column = self.read_column(i, keep)
            if column.missing is not None:
                self._missing[i] = column.n_missing
            why = self._reason_to_leave_out(i, column)
            if why is not None:
                self._leave_out(i, why)
                return True
            may_choose = self._may_choose(name)
            many_labels = column.form == "labels" and len(column.counted[0]) > MANY_LABELS
            if many_labels and may_choose and wait:
                return False
            like = identifies(name, column, self.n_kept, self._beside_numbers) if may_choose else None
            if like is not None:
                what, words, shown = exceptions(column)
                if words:
                    self._leave_out(i, f"{what} but for {shown}", remedy=_to_missing(words))
                elif column.form == "labels" and like_written_numbers(column.labels, self.n_kept):
                    self._leave_out(i, _written(column), remedy=(TO_NUMBERS,))
                else:
                    remedy: Remark = ("; keep with ", KEEP)
                    if column.unit == DAYS:
                        remedy += ("; their parts with ", DATE_PARTS)
                    self._leave_out(i, like + LIKE_ONE, "identifier", remedy)
                    if has_groups(column, self.n_kept, like):
                        self._groups.append(i)
                return True
            kind, k, why = self._choose(name, column)
            if many_labels and may_choose and self._beside_numbers:
                k, why = frequent_labels(column), f"{len(column.counted[0]):,} labels"
            self.kinds[i] = kind
            if self.reading.missing == AVAILABLE:
                self.missing[i] = column.n_missing
            if kind == CONTINUOUS:
                self.store_numbers(i, self._numbers(i, column))
                self._action[i] = CONTINUOUS, why
            else:
                codes, labels = self._codes(name, column, k)
                self.states[i] = labels
                self.store_codes(i, codes[np.newaxis], len(labels) + (self.missing[i] > 0))
                self._action[i] = DISCRETE, why
                if k is not None:
                    n = len(labels) - (column.missing is not None and self.reading.missing == "state")
                    self._cut.add(i)
                    self._action[i] = self._made(n, k), why
                    pooled = isinstance(k, tuple) and OTHER in k
                    self._remarks["pooled" if pooled else "cut", self._action[i][0]].append(name)
            self._remark_on(i, name, kind, k is not None, column)
            labels = self.states[i]
            if labels not in self._alike:  # many columns have the same labels
                self._alike[labels] = alike_but_for_case(labels)
            if alike := self._alike[labels]:
                message = f"labels that differ only in case or in white space: {listing(alike)}; "
                self._remarks["alike-labels", message, AS_ONE].append(name)
        except Refused as refused:
            # Which rows miss a value of such a column is not known, so that rows cannot be dropped for it.
            if refused.reason == "many" and self._may_choose(name) and self.reading.missing != "drop":
                self._leave_out(i, f"more than {MAX_STATES:,} labels{LIKE_ONE}", "identifier")
                return True
            if refused.reason == "no dates":  # the user wrote the name of the column, not that of a part
                name = name.removesuffix(f".{self._parts[i]}")
            self.problems.add(refused.reason, name, refused.detail)
            self.kinds[i] = REFUSED
            self._action[i] = REFUSED, REASONS[refused.reason].short
        return True

    def _made(self, n: int, k: Cut) -> str:
        """Describe what was made of a column in `n` states."""
        bins = f"bin{'s' * (n > 1)}"
        if not isinstance(k, tuple):
            return f"cut into {n} {BINNINGS[self.reading.binning]} {bins}"
        if OTHER in k:
            return f"many labels, of which the {n - 1} most frequent are states and all others {OTHER!r}"
        return f"cut into {n} {bins} as learned"

    def _may_choose(self, name: str) -> bool:
        """Return whether a column may be left out or pooled: no option and no graph names it."""
        asked = self._asked.get(name, self._asked_of_all) != AUTO or name in self._bins
        return not asked and name not in self.reading.keep and self.reading.only is None

    def _leave_out(self, i: int, why: str, kind: str = "left-out", remedy: Remark = ()) -> None:
        self.kinds[i] = LEFT_OUT
        self._action[i] = LEFT_OUT, why
        name, kinds = self.source.names[i], self.reading.kinds
        in_vain: list[str | Use] = []
        for option, given in (("bins", self.reading.bins), ("kinds", kinds)):
            if isinstance(given, Mapping) and name in given:
                in_vain += [", so that ", Use(option, {name: given[name]}), " has no effect"]
        self._remarks[(kind, f"left out: {why}", *in_vain, *remedy)].append(name)

    def read_column(self, i: int, keep: Mask | None) -> RawColumn:
        """Read the kept rows of a column; dates become numbers, or the part of them that the column is."""
        return self.of_dates(i, self._column(i, keep))

    def of_dates(self, i: int, column: RawColumn) -> RawColumn:
        """Convert a column of dates, unless its labels are to be states; store how."""
        name, part = self.source.names[i], self._parts[i]
        reader = DateReader() if column.unit == DAYS else None
        asked = self._asked.get(name, self._asked_of_all)
        if column.form == "labels" and (
            part or asked == CONTINUOUS or (asked == AUTO and not column.declared)
        ):
            occurring, _ = column.counted
            labels = [column.labels[position] for position in occurring.tolist()]
            reader = reader_of(replace(column, labels=tuple(labels)))
            enough = len(labels) > FEW or asked == CONTINUOUS
            if reader is None and not part and enough and are_times(labels):
                reader = DateReader(TIMES)
            if part and reader is None and labels:
                raise Refused("no dates", listing([repr(label) for label in not_dates(labels)[1]]))
        if part and reader is None and column.n_missing < self.n_kept:
            raise Refused("no dates")
        self.readers[i] = reader = None if reader is None else replace(reader, part=part)
        return column if reader is None else reader(column)

    def _reason_to_leave_out(self, i: int, column: RawColumn) -> str | None:
        """Return the reason why a column is left out: no values, or the index of a frame; or None."""
        if column.n_missing == self.n_kept:
            return "no values"
        name = self.source.names[i]
        numeric = column.form == "reals" or column.unit != ""
        numeric |= self._few_are_numbers and column.form == "integers"
        if numeric and self._asked.get(name, self._asked_of_all) == AUTO:
            values = column.present.values
            if name not in self._bins and np.isfinite(values[0]) and (values == values[0]).all():
                exact = abs(float(values[0])) <= LAST_EXACT
                if self.n_kept == 1:
                    return "there is only one row"
                return f"the same number in every row{'' if exact else ', to the 16 digits that are kept'}"
        may_be = i == 0 and is_nameless(name, 0) and name not in self.reading.keep
        if may_be and column.missing is None and column.form != "reals":
            values, _ = column.counted
            dense = column.form == "integers" and values[0] in (0, 1)
            dense = dense and (column.only_ends or len(values) == int(values[-1]) - int(values[0]) + 1)
            if dense or len(values) == self.n_kept:
                return "no name, and it counts or names the rows"
        return None

    def _choose(self, name: str, column: RawColumn) -> tuple[str, Cut, str]:
        """Return the kind of a column, the number of intervals to cut it into (None: none), and why."""
        bins = self._bins
        said = "as learned" if name in self._learned else "as asked"
        asked = self._asked.get(name, self._asked_of_all)
        if column.form == "labels":
            learned = bins.get(name)
            if isinstance(learned, tuple) and OTHER in learned:
                return DISCRETE, learned, said
            if name in bins and name not in self._learned:
                raise Refused("cut labels")
            if asked == CONTINUOUS:
                raise Refused("labels")
            return DISCRETE, None, "categories" if column.declared else "labels"
        if name in bins:
            return DISCRETE, bins[name], said
        if asked == CONTINUOUS:
            return asked, None, said
        if column.unit and asked == AUTO:
            return (DISCRETE, bins[ALL], column.unit) if ALL in bins else (CONTINUOUS, None, column.unit)
        by_name = name in self._asked
        if column.form == "reals" and (asked == AUTO or (ALL in bins and not by_name)):
            return (
                (DISCRETE, bins[ALL], "real numbers") if ALL in bins else (CONTINUOUS, None, "real numbers")
            )
        n = MAX_STATES + 1 if column.only_ends else len(column.counted[0])
        is_few = few(n, self.n_kept) if column.form == "reals" or self._are_codes else n <= FEW
        many = f"more than {MAX_STATES:,}" if n > MAX_STATES else f"{n:,}"
        if column.form == "reals" and not is_few:
            raise Refused("real numbers", f"{many} values")
        if by_name:
            return DISCRETE, None, said
        what = "real numbers" if column.form == "reals" else "integers"
        why = f"{what} with {'few' if is_few else 'many'} values ({many})"
        if is_few and n > FEW and column.form == "integers":
            why = f"integers that look like codes ({many} values)"
        if is_few and not self._few_are_numbers:
            return DISCRETE, None, why
        if ALL in bins:
            return DISCRETE, bins[ALL], why
        return (CONTINUOUS if asked == AUTO else DISCRETE), None, why

    def _numbers(self, i: int, column: RawColumn) -> Floats:
        """Return a column as numbers, or raise an error."""
        if column.missing is not None and self.reading.missing != AVAILABLE:
            raise Refused("missing continuous", f"{column.n_missing} of {self.source.n_rows} rows")
        numbers = column.numbers()
        known = numbers[~np.isnan(numbers)]
        check_numbers(known)
        self._range[i] = float(known.min()), float(known.max())
        return numbers

    def _codes(self, name: str, column: RawColumn, k: Cut) -> tuple[npt.NDArray[Any], Labels]:
        """Number the states of one column, a missing value last."""
        is_missing = column.missing
        if is_missing is None:
            codes, labels = self._codes_without_missing(column, k)
        else:
            if self.reading.missing == "error":
                self.problems.add("missing", name, f"{column.n_missing} of {self.source.n_rows} rows")
            some_codes, labels = self._codes_without_missing(column.present, k)
            codes = np.full(len(is_missing), len(labels), dtype=np.int64)
            codes[~is_missing] = some_codes
            if self.reading.missing == AVAILABLE:
                if len(labels) == MAX_STATES:
                    raise Refused("many", f"{len(labels):,}")
                return codes, labels
            label = MISSING_LABEL
            while label in labels:
                label += "_"
            if self.reading.missing != "error":
                labels = (*labels, label)
        if len(labels) > MAX_STATES:
            raise Refused("many", f"{len(labels):,}")
        return codes, labels

    def _codes_without_missing(self, column: RawColumn, k: Cut) -> tuple[npt.NDArray[Any], Labels]:
        values = column.values
        if column.form == "labels":
            if isinstance(k, tuple):
                return pooled_codes(column, k), k
            present = np.bincount(values, minlength=len(column.labels)) > 0
            if column.declared or present.all():
                return values, column.labels
            # Some labels do not occur, as happens when rows are dropped.
            rank = present.cumsum() - 1
            return rank[values], tuple(
                label for label, there in zip(column.labels, present.tolist(), strict=True) if there
            )
        if column.form == "reals" and np.isinf(values).any():
            raise Refused("infinite")
        if isinstance(k, tuple):
            placed = interval_codes(k, values)
            assert placed is not None  # by the check of the option
            return placed, k
        if k is not None:
            n_rows = len(values) if column.weights is None else int(column.weights.sum())
            how_many = auto_bins(n_rows) if isinstance(k, str) else k
            return cut(values, how_many, self.reading.binning, column.weights)
        if column.only_ends:
            raise Refused("many", f"more than {MAX_STATES:,}")
        if column.form == "integers":
            (states,), (codes,) = encode_integers(values.reshape(-1, 1))
        else:
            states, codes = np.unique(values, return_inverse=True)
        labels = tuple(states.tolist())
        return codes, tuple(map(written, labels)) if column.unit == DAYS else labels

    def _remark_on(self, i: int, name: str, kind: str, is_cut: bool, column: RawColumn) -> None:
        """Store the notes on a column."""
        remarks = self._remarks
        if is_nameless(name, i):
            later = "; if a later line of the file has the names, remove the lines before it" * (i > 0)
            remarks["no-name", f"no name{later}"].append(name)
        if kind == CONTINUOUS and self._asked_of_all != CONTINUOUS and name not in self._asked:
            if column.unit:
                remarks[dates_read(column.unit, self.readers[i])].append(name)
            elif column.form == "integers":
                n = MAX_STATES if column.only_ends else len(column.counted[0])
                remarks[integers_read(kind, n)].append(name)
            else:
                remarks["read-as-continuous", "read as continuous"].append(name)
        elif kind == DISCRETE and not is_cut and column.form == "integers" and self._may_choose(name):
            n = len(column.counted[0])
            remarks[integers_read(kind, n)] += [name] * (n > 2)  # of two values, either way is the same
        if kind == DISCRETE and column.missing is not None and self.reading.missing == "state":
            remarks["missing-state", "missing values became a state"].append(name)
        what, words, shown = exceptions(column)
        if words:
            remarks["labels-like-numbers", f"{what} but for {shown}", *_to_missing(words)].append(name)
        elif column.form == "labels" and like_written_numbers(column.labels, self.n_kept):
            like_numbers = f"{_written(column)}{TO_NUMBERS}, or leave out with "
            remarks["labels-like-numbers", like_numbers, DROP([name])].append(name)
        if i in self._range and not column.unit:
            low, high = self._range[i]
            if max(-low, high) > LAST_EXACT and low.is_integer():
                digits = "integers with more digits than the 16 that are kept; "
                advice = "if they identify something, leave out with "
                remarks["digits", digits + advice, DROP([name])].append(name)
            if codes := missing_codes(column, low, high):
                what = f"{listing(codes)} stand{'s' * (len(codes) == 1)} far from all other values"
                like_missing = f"{what}, like a code for missing values; if so, "
                remarks["missing-codes", like_missing, Use("na", codes)].append(name)
        if column.form == "integers" and name.lower() in COUNTS:
            counts = "by its name it counts rows; if so, use "
            remarks["counts", counts, Use("weights", name)].append(name)
        may_be = not is_cut and column.form != "reals" and not column.declared and not column.unit
        if may_be and self._may_choose(name) and (like := balanced(column, self.n_kept)):
            looks = f"looks like an identifier ({like}), leave it out with "
            remarks["balanced", looks, DROP([name])].append(name)

    def notes(self) -> tuple[Note, ...]:
        """Return notes on what was assumed, dropped, replaced and cut."""
        names, n_rows, n_dropped = self.source.names, self.source.n_rows, self.source.n_rows - self.n_kept
        notes = list(self._given_notes)
        absent = [text for text in self.reading.na if text and text not in self._na_found]
        if absent:
            notes.append(Note("no-such-values", Use("na", absent), ": no such values in the columns read"))
        if any(self.missing):
            at = sorted((i for i, n in enumerate(self.missing) if n), key=lambda i: -self.missing[i])
            counts = listing([f"{names[i]!r} ({self.missing[i]:,})" for i in at], limit=5)
            number, share = sum(self.missing), sum(self.missing) / (n_rows * len(self.kept))
            text = f"{number:,} value{'s are' if number > 1 else ' is'} missing ({share:.1%}), in "
            text += f"{'column' if len(at) == 1 else 'columns'} {counts}: "
            text += "each question uses all rows that can answer it"
            notes.append(Note("missing", text, columns=[names[i] for i in at], missing=number))
        if n_dropped:
            dropped = f"dropped {n_dropped} of {n_rows} rows with missing values"
            notes.append(Note("dropped-rows", dropped, dropped=n_dropped, rows=n_rows))
        notes += [note_on(remark, some, len(self.kinds)) for remark, some in self._remarks.items() if some]
        if self._groups and self.kept:
            groups = [names[i] for i in sorted(self._groups)]
            several = f"several rows for each {' and for each '.join(map(repr, groups))}"
            notes.append(note_on_dependence(several, groups))
        if self._names_are_values():
            like = f"the column names look like values, such as {names[self.kept[0]]!r}"
            advice = "; if there is no line of names, use "
            notes.append(Note("names-like-values", like + advice, Use("header", False)))
        return tuple(notes)

    def _names_are_values(self) -> bool:
        """Return whether each column's name could be one of its values, as the first row's would be."""
        sure = False
        for i in self.kept:
            name = self.source.names[i]
            if self.kinds[i] == DISCRETE and i not in self._cut:
                if name not in map(str, self.states[i]):
                    return False
                sure = True
            else:
                number = number_of(name)
                if number is None:
                    return False
                sure |= isinstance(number, float)  # whole numbers also count columns, or are years
        return sure

    def report(self) -> Report:
        """Return how each column is read."""
        columns = []
        for i, name in enumerate(self.source.names):
            kind = self.kinds[i] if self.kinds[i] in (DISCRETE, CONTINUOUS) else ""
            action, why = self._action.get(i, (DISCRETE, "integers with few values"))
            low, high = self._range.get(i, (0.0, 0.0))
            described = describe_values(self.states[i], low, high) if kind else ""
            reader = self.readers[i]
            if kind == CONTINUOUS and reader and not reader.part and reader.form != TIMES:
                described = f"{written(low)} to {written(high)}"
            columns.append(CheckedColumn(name, kind, described, self._missing.get(i, 0), action, why))
        for name in self.reading.drop:
            columns.append(CheckedColumn(name, "", "", 0, LEFT_OUT, "as asked"))
        # Learners tell this of the tables that they get.
        of_one_state = [self.source.names[i] for i in self.kept if len(self.states[i]) == 1]
        constant = describe_constant(of_one_state, self.n_kept)
        notes = (*self.notes(), *([] if constant is None else [constant]))
        return Report(tuple(columns), tuple(self.problems.messages()), notes, self.source.n_rows)


def complete_rows(source: Source) -> Mask | None:
    """Return the rows without missing values; None if all rows are complete."""
    incomplete = np.zeros(source.n_rows, dtype=np.bool_)
    width = block_width(source.n_rows)
    for first in range(0, len(source.names), width):
        last = min(first + width, len(source.names))
        if source.block(first, last) is not None:
            continue
        for i in range(first, last):
            try:
                is_missing = source.column(i).missing
            except Refused:
                continue  # reported when the column is read
            if is_missing is not None:
                incomplete |= is_missing
    return ~incomplete if incomplete.any() else None


def _to_missing(words: list[str]) -> Remark:
    return "; make these missing values with ", Use("na", words), ", or convert them"


def _written(column: RawColumn) -> str:
    return f"labels that look like numbers or dates, such as {column.labels[0]!r}"
