"""Names of columns, generated if missing and checked if given, and which of them options choose.

f2sl identifies a variable by its name everywhere: in results, in files, and in the rule that breaks ties. So
a name is a non-empty string that no other column has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from f2sl._constants import AUTO
from f2sl._notes import Note, Part, Use
from f2sl._reading import ALL
from f2sl.data.column import CONTINUOUS, ReadAs
from f2sl.data.dates import PARTS
from f2sl.errors import DataError, OptionError, shown, shown_list, unknown_name

if TYPE_CHECKING:
    from f2sl.data.check import Report
    from f2sl.data.kinds import Kinds

AVAILABLE = "available"
"""Missing values stay missing, and each question is answered from the rows that have what it asks for."""


def is_nameless(name: str, i: int) -> bool:
    """Return whether column `i` has only a generated name, from f2sl or from pandas."""
    return name in (f"column {i + 1}", f"Unnamed: {i}")


def generated_names(n: int) -> tuple[str, ...]:
    """Name `n` columns so that the order of the names is the order of the columns.

    Examples
    --------
    >>> generated_names(3)
    ('x0', 'x1', 'x2')
    >>> generated_names(11)[8:]
    ('x08', 'x09', 'x10')
    """
    digits = len(str(max(n - 1, 0)))
    return tuple(f"x{i:0{digits}d}" for i in range(n))


def column_names(given: Iterable[object]) -> tuple[str, ...]:
    """Turn the column labels of a table into names: strip surrounding spaces, and name empty ones.

    Raises
    ------
    DataError
        If two columns end up with the same name.

    Examples
    --------
    >>> column_names(["", " age ", 7])
    ('column 1', 'age', '7')
    >>> column_names(["a", "b", "a"])
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column names must differ from each other: 'a' occurs 2 times; rename them
    """
    originals = list(given)
    names = tuple(str(label).strip() or f"column {i}" for i, label in enumerate(originals, 1))
    if len(set(names)) == len(names):
        return names
    repeated = {name: times for name, times in Counter(names).items() if times > 1}
    converted = any(
        not isinstance(label, str) for label, name in zip(originals, names, strict=True) if name in repeated
    )
    shown = listing([f"{name!r} occurs {times} times" for name, times in repeated.items()])
    why: list[Part] = [" (names that are not strings are converted with str())"] if converted else []
    if all(name.replace(".", "", 1).isdigit() for name in repeated):
        why += ["; if the first line of the file is data, use ", Use("header", False)]
    lead = f"column names must differ from each other: {shown}"
    raise DataError(Note("names", lead, *(why or ["; rename them"]), columns=repeated))


def chosen_names(names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    """Check the names that a user gave to `n` columns; None stays None.

    Examples
    --------
    >>> chosen_names(["a", "b"], 3)
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: names has 2 entries, but the table has 3 columns
    """
    if names is None:
        return None
    if isinstance(names, str):
        raise OptionError(Use("names"), f" takes a list of strings, got the single string {names!r}")
    if len(names) != n:
        raise OptionError(Use("names"), f" has {len(names)} entries, but the table has {n} columns")
    return column_names(names)


def listing(items: Sequence[str], limit: int = 10) -> str:
    """Join `items` by commas, and only count those after the first `limit`.

    Examples
    --------
    >>> listing(["'a'", "'b'", "'c'"], limit=2)
    "'a', 'b' ... and 1 more"
    """
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} ... and {len(items) - limit} more"


Labels = tuple[object, ...]
Cut = int | str | tuple[str, ...] | None
"""Number of intervals to cut a column into, or the intervals; None for none."""
Bins = Mapping[str, int | str | tuple[str, ...]]


@dataclass(frozen=True)
class Reading:
    """Checked options of :func:`f2sl.open_table` about the columns."""

    names: Sequence[str] | None = None
    kinds: Kinds = AUTO
    bins: Bins = field(default_factory=dict)
    binning: str = "quantile"
    missing: str = AVAILABLE
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    date_parts: tuple[str, ...] = ()
    weights: str | None = None
    tell: Callable[[Report], None] | None = None
    """Gets the report on all columns, if one is wanted."""
    na: tuple[str, ...] = ()
    only: frozenset[str] | None = None
    """Columns to read beside `weights`, unless `names` are given; all if None."""
    learned: ReadAs = field(default_factory=dict)
    """The kinds and intervals of columns when a graph was learned, unless options say otherwise."""
    one_kind: bool = False
    """True if integers with few values are continuous beside other such columns, for learners of one kind."""


def describe_weights(name: str, n_rows: int, n_meant: int) -> Note:
    """Return a note on weighted rows."""
    text = f"by the weights in column {name!r}, the {n_rows:,} rows represent {n_meant:,}"
    return Note("weights", text, columns=[name], rows=n_rows, represented=n_meant)


class Chosen(NamedTuple):
    """Columns to read: their positions in the data, their names, and the parts of dates that they are.

    `wrong` has problems of options that name unknown columns.
    """

    positions: list[int]
    names: tuple[str, ...]
    parts: list[str]
    wrong: list[Note]


def chosen_columns(own: Sequence[str], reading: Reading) -> Chosen:
    """Choose the columns that are not dropped; a date that is read by its parts becomes several.

    Examples
    --------
    >>> chosen_columns(["a", "id", "b"], Reading(drop=("id",), bins={"id": 3}))
    Chosen(positions=[0, 2], names=('a', 'b'), parts=['', ''], wrong=["bins: column 'id' is left out by drop=['id']"])
    >>> chosen_columns(["day", "a"], Reading(date_parts=("day",)))[:3]
    ([0, 0, 0, 1], ('day.year', 'day.month', 'day.weekday', 'a'), ['year', 'month', 'weekday', ''])
    """  # noqa: E501
    wrong: list[Note] = []

    def refuse(option: Use, *parts: Part, name: str = "") -> None:
        wrong.append(Note("option", option, ": ", *parts, columns=[name] if name else []))

    for name in reading.drop:
        if name not in own:
            refuse(Use("drop"), _not_there(name, own), name=name)
    without = set(reading.drop)
    positions = [i for i, name in enumerate(own) if name not in without]
    names = chosen_names(reading.names, len(positions)) or tuple(own[i] for i in positions)
    for name in reading.date_parts:
        if name not in names:
            refuse(Use("date_parts"), unknown_name("column", name, names), name=name)
    chosen = [
        (position, f"{name}.{part}" if part else name, part)
        for position, name in zip(positions, names, strict=True)
        for part in (PARTS if name in reading.date_parts else ("",))
    ]
    if reading.only is not None and reading.names is None:
        chosen = [one for one in chosen if one[1] in reading.only or one[1] == reading.weights]
        if not chosen:
            none = f"none of the columns {shown_list(own)} is one of {shown_list(sorted(reading.only))}"
            wrong.append(Note("columns", none))
    positions, names = [position for position, *_ in chosen], tuple(name for _, name, _ in chosen)
    known = set(names)
    if len(known) < len(names):
        beside = f"a column beside {shown_list(reading.date_parts)} has the name of a part"
        refuse(Use("date_parts"), beside)
    kinds = reading.kinds if isinstance(reading.kinds, Mapping) else {}
    # On the command line each kind is an option of its own, so that a kind is named with its column.
    asked = [(Use("kinds", {name: kind}), name) for name, kind in kinds.items()]
    asked += [(Use("bins"), name) for name in reading.bins if name != ALL]
    asked += [(Use("keep"), name) for name in reading.keep]
    asked += [] if reading.weights is None else [(Use("weights"), reading.weights)]
    for option, name in asked:
        if name in without:
            refuse(option, f"column {name!r} is left out by ", Use("drop", [name]), name=name)
        elif name not in known:
            refuse(option, unknown_name("column", name, names), name=name)
    for name in sorted(reading.bins):
        if kinds.get(name) == CONTINUOUS:
            is_cut = f"column {name!r} is cut into states, but is continuous by "
            refuse(Use("bins"), is_cut, Use("kinds", {name: CONTINUOUS}), name=name)
    return Chosen(positions, names, [part for *_, part in chosen], wrong)


def _not_there(name: str, own: Sequence[str]) -> Note:
    """Return the message that there is no column of a name, which may be a list of names."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and set(parts) <= set(own):
        text = f"{shown(name)} is not one column; name each by itself: "
        return Note("unknown-name", text, Use("drop", parts))
    return unknown_name("column", name, own)
