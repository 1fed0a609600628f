"""Notes on columns and problems of a table, by name, and how each column is read.

A user with twenty columns at fault should not have to fix them one error at a time. The reasons are gathered
while the columns are read, and raised together; :func:`f2sl.check` shows them without raising.

A *remark* is the kind of a note and the parts of its text, shared by all columns that it is true of. Options
among the parts may be for these columns (:class:`UseFor`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from f2sl._arrays import Floats
from f2sl._notes import Note, Part, Say, Use, joined, of_kind
from f2sl.data.column import CONTINUOUS, DISCRETE, KINDS, MAX_STATES, MIXED
from f2sl.data.dates import DAYS, YEARS, DateReader
from f2sl.data.kinds import FEW
from f2sl.data.names import listing
from f2sl.data.table import Table
from f2sl.data.values import Refused
from f2sl.errors import DataError, OptionError, printable


class UseFor(NamedTuple):
    """Option that names the columns of a remark, once they are known; a `kind` is asked for the first."""

    option: str
    kind: str = ""

    def __call__(self, names: Sequence[str]) -> Use:
        """Return the option for these columns."""
        return Use(self.option, {names[0]: self.kind} if self.kind else list(names))


KEEP, DROP, DATE_PARTS = UseFor("keep"), UseFor("drop"), UseFor("date_parts")

Remark = tuple[str | Part | UseFor, ...]


def integers_read(kind: str, n: int) -> Remark:
    """Describe how integers with `n` different values are read by default."""
    if kind == CONTINUOUS:
        few = (
            "with few values beside other continuous columns" if n <= FEW else f"with more than {FEW} values"
        )
        return (
            "integers-as-continuous",
            f"integers {few}, read as continuous; otherwise with ",
            UseFor("kinds", DISCRETE),
        )
    like = "that look like codes" if n > FEW else f"with up to {FEW} values"
    return (
        "integers-as-discrete",
        f"integers {like}, read as discrete; otherwise with ",
        UseFor("kinds", CONTINUOUS),
    )


def dates_read(unit: str, reader: DateReader | None) -> Remark:
    """Describe how dates or times are read by default.

    Examples
    --------
    >>> dates_read("seconds", None)
    ('times', 'times, read as continuous (seconds)')
    """
    if unit == YEARS:
        return "years", "years of dates, read as continuous"
    if unit != DAYS:
        return "times", f"times, read as continuous ({unit})"
    form = f" written as {reader.form}" if reader and reader.form else ""
    return "dates", f"dates{form}, read as continuous ({unit}); their parts with ", DATE_PARTS


def note_on(remark: Remark, names: Sequence[str], n_columns: int) -> Note:
    """Return the note that a remark is true of some of the table's columns.

    Examples
    --------
    >>> note_on(("left-out", "left out: by its name; keep with ", KEEP), ["id", "nr"], 5)
    "columns 'id', 'nr': left out: by its name; keep with keep=['id', 'nr']"
    """
    kind, *parts = remark
    which = f"column{'s' * (len(names) > 1)} {listing([repr(name) for name in names])}: "
    if len(names) == n_columns > 1:
        which = f"all {n_columns} columns: "
    written = (part(names) if isinstance(part, UseFor) else part for part in parts)
    return Note(str(kind), which, *written, columns=names)


LEAST_SPREAD, MOST_SPREAD = 1e-100, 1e100
"""Between these, the squares of a column's distances from its mean can be computed with."""


class Reason(NamedTuple):
    """Reason why a column is refused, in short, and how the message goes on."""

    short: str
    advice: Remark = ()


_OTHERS = "; use the other values with ", Use("missing", "available")
_NO_ROWS = "or drop their rows with ", Use("missing", "drop")
_STATE = ", make them a state with ", Use("missing", "state"), ", "
_OUT = "leave out with ", DROP

REASONS: Mapping[str, Reason] = {
    "missing": Reason("missing values", (*_OTHERS, *_STATE, *_NO_ROWS)),
    "missing continuous": Reason(
        "missing values, which cannot be a state of a continuous column", (*_OTHERS, ", ", *_NO_ROWS)
    ),
    "empty": Reason("no values at all", ("; ", *_OUT)),
    "infinite": Reason("infinite values cannot be used", ("; replace them, or ", *_OUT)),
    "labels": Reason("labels cannot be read as numbers", ("; ", *_OUT)),
    "constant": Reason("the same number in every row, so related to nothing", ("; ", *_OUT)),
    "spread": Reason(
        "numbers too far apart or too close together to compute with",
        (
            f" (more than {MOST_SPREAD:g} or less than {LEAST_SPREAD:g} between smallest and largest); use "
            "another unit, or ",
            *_OUT,
        ),
    ),
    "many": Reason(
        "too many states",
        (f" (at most {MAX_STATES:,} are possible); group the values into fewer categories, or ", *_OUT),
    ),
    "real numbers": Reason(
        "real numbers with many values cannot be discrete",
        ("; cut them with ", Use("bins", 5), ", or read them as continuous"),
    ),
    "cut labels": Reason(
        "labels cannot be cut into intervals", ("; do not give ", Use("bins", ...), " for them")
    ),
    "no dates": Reason(
        "not all values are dates of one form, so they have no parts",
        ("; remove it from ", Use("date_parts", ...)),
    ),
    "mixed": Reason("values of different types", ("; convert them to one type, such as strings, or ", *_OUT)),
    "complex": Reason("Complex data not supported", ("; ", *_OUT)),
    "long": Reason(
        "integers of more than 64 bits, perhaps identifiers", ("; ", *_OUT, ", or convert to strings")
    ),
    "type": Reason("values of an unsupported type", ("; convert them to strings or numbers, or ", *_OUT)),
    "weights": Reason("weights must be integers of 0 or more, without missing values"),
}
"""Reasons why a column is refused, with advice, in the order of the message."""


class Problems:
    """Problems of a table: those of columns by reason, and those of the whole table.

    Examples
    --------
    >>> problems = Problems()
    >>> problems.add("complex", "a")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'a': Complex data not supported; leave out with drop=['a']
    """

    def __init__(self, options: Iterable[Note] = ()) -> None:
        self._options = list(options)
        self._columns: dict[str, dict[str, str]] = {reason: {} for reason in REASONS}
        self._others: list[Note] = []

    def add(self, reason: str, column: str, detail: str = "") -> None:
        """Record that `column` is refused for one of the reasons."""
        self._columns[reason][column] = f"{column!r} ({detail})" if detail else repr(column)

    def say(self, problem: Note) -> None:
        """Record a problem of the whole table."""
        self._others.append(problem)

    def try_to(self, refuse: Callable[[str], None], learner: str) -> None:
        """Record why a learner refuses the table, if it does."""
        try:
            refuse(learner)
        except DataError as error:
            self._others += error.problems

    def messages(self) -> list[Note]:
        """Return all problems, one for each reason."""
        found = []
        for reason, columns in self._columns.items():
            if columns:
                names, (short, advice) = list(columns), REASONS[reason]
                which = f"{'column' if len(columns) == 1 else 'columns'} {listing(list(columns.values()))}: "
                parts = [part(names) if isinstance(part, UseFor) else part for part in advice]
                found.append(Note(reason.replace(" ", "-"), which, short, *parts, columns=names))
        return [*self._options, *found, *self._others]

    def raise_any(self) -> None:
        """Raise one error about all problems, if there are any."""
        message = self.messages()
        if message:
            raise (OptionError if message == self._options else DataError).of(message, ". Also, ")


class CheckedColumn(NamedTuple):
    """Column of a report: how it is read, and why."""

    name: str
    kind: str
    values: str
    missing: int
    action: str
    why: str


@dataclass(frozen=True, repr=False)
class Report:
    """Report on a table and how it is read, from :func:`f2sl.check`.

    Attributes
    ----------
    columns : tuple of CheckedColumn
        Name, kind, states or range, and number of missing values of each column of the data, with how it is
        read and why.
    problems : tuple of Note
        All problems that prevent learning, each with the option that solves it.
    notes : tuple of Note
        Notes on assumptions.
    n_rows : int
        Number of rows of the data.
    """

    columns: tuple[CheckedColumn, ...]
    problems: tuple[Note, ...]
    notes: tuple[Note, ...]
    n_rows: int

    def to_frame(self) -> Any:
        """Return the columns as a pandas frame if pandas is installed, otherwise as a PyArrow table."""
        import pyarrow as pa

        table = pa.Table.from_pylist([column._asdict() for column in self.columns])
        try:
            return table.to_pandas()
        except ImportError:
            return table

    def __repr__(self) -> str:
        rows = [
            tuple(map(printable, row))
            for row in (("column", "kind", "values", "missing", "action", "why"), *self.columns)
        ]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        for what, texts in (("note", self.notes), ("problem", self.problems)):
            lines += [f"{what}: {printable(text)}" for text in texts]
        return "\n".join(lines)


def describe_values(states: Sequence[object], low: float, high: float) -> str:
    """Describe the values of a column: the first states and their number, or the range of numbers.

    Examples
    --------
    >>> describe_values(("no", "yes"), 0, 0), describe_values((), 0.5, 20.0)
    ('2 states: no, yes', '0.5 to 20')

    Blanks around a state are easily overlooked:

    >>> describe_values(("mild", "mild "), 0, 0)
    "2 states: mild, 'mild '"
    """
    if not states:
        return f"{low:g} to {high:g}"
    texts = [(str(state), str(state)[:20]) for state in states[:5]]
    shown = ", ".join(short if text == text.strip() else repr(short) for text, short in texts)
    return f"{len(states):,} state{'s' * (len(states) != 1)}: {shown}{', ...' * (len(states) > 5)}"


def size_problem(names: Sequence[str], n_rows: int, min_variables: int = 1, min_rows: int = 1) -> Note | None:
    """Return the problem of a table with too few columns or rows, or None.

    In Python it has the words that scikit-learn's checks of estimators look for.
    """
    n = len(names)
    if n == 0:
        least = max(min_variables, 1)
        in_theirs = f": 0 feature(s) (shape=({n_rows}, 0)) while a minimum of {least} is required."
        return Note("no-columns", "the table has no columns", Say(in_theirs, ""))
    if n_rows < min_rows:
        found = "no rows" if n_rows == 0 else "too few rows"
        in_theirs = f"{n_rows} sample(s) (shape=({n_rows}, {n})) while a minimum of {min_rows} is required."
        in_ours = f"{n_rows}, but at least {min_rows} are needed"
        return Note("few-rows", f"the table has {found}: ", Say(in_theirs, in_ours))
    if n == 1 and min_variables == 2:
        one = f"one column only ({names[0]!r}): a graph needs at least two columns ("
        return Note("few-columns", one, Use("delimiter", ...), " sets the separator of a text file)")
    few = f"too few columns: {n}, but at least {min_variables} are needed"
    return Note("few-columns", few) if n < min_variables else None


def check_numbers(numbers: Floats) -> None:
    """Raise an error for numbers with an unusable range; the smallest and the largest suffice."""
    low, high = float(numbers.min()), float(numbers.max())
    if not np.isfinite([low, high]).all():
        raise Refused("infinite")
    if low == high:
        raise Refused("constant", f"{low:g}")
    # Halves, since the whole difference may overflow.
    if not LEAST_SPREAD / 2 <= high / 2 - low / 2 <= MOST_SPREAD / 2:
        raise Refused("spread")


def check_learnable(table: Table, takes: tuple[str, ...], learner: str, min_variables: int = 2) -> None:
    """Raise an error for a table that a learner cannot use: too small, or with other kinds of columns.

    Examples
    --------
    >>> from f2sl import open_table
    >>> check_learnable(open_table({"a": [0.5, 0.7], "b": [1, 2]}), ("discrete",), "sll")
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'a' is continuous, but sll learns only from discrete columns; cut them with bins=5, or leave out with drop=['a']
    """  # noqa: E501
    of_numbers = table.of_kind(CONTINUOUS)
    problem = size_problem(table.names, table.n_rows, min_variables, min_rows=2 if of_numbers else 1)
    if problem:
        raise DataError(joined([problem, *of_kind(table.notes, "left-out", "identifier")]))
    problems = Problems()
    if set(KINDS) <= set(takes) and MIXED not in takes:
        problems.try_to(table.refuse_mixed, learner)
    for kind in KINDS:
        columns = table.of_kind(kind)
        if columns and kind not in takes:
            what = f"{table.describe_columns(columns)}, but {learner} learns only from {takes[0]} columns; "
            cut = ("cut them with ", Use("bins", 5), ", or ") if kind == CONTINUOUS else ()
            names = [table.names[i] for i in columns]
            problems.say(Note("kind", what, *cut, "leave out with ", DROP(names), columns=names))
    if MIXED not in takes:  # those that learn from one kind at a time need all values of a row at once
        problems.try_to(table.refuse_missing, learner)
    if of_numbers:  # a table that was made by hand may hold anything
        ends = np.stack(table.ends)
        for i in of_numbers:
            try:
                check_numbers(ends[:, i])
            except Refused as refused:
                problems.add(refused.reason, table.names[i], refused.detail)
    problems.raise_any()
