"""Options about the columns of a table: those of `open_table`, and the columns that they choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from f2sl._constants import AUTO
from f2sl._notes import Note, Part, Use
from f2sl._reading import ALL
from f2sl.data.check import Report
from f2sl.data.column import CONTINUOUS, ReadAs
from f2sl.data.dates import PARTS
from f2sl.data.kinds import Kinds
from f2sl.data.names import chosen_names
from f2sl.errors import shown, shown_list, unknown_name

AVAILABLE = "available"
"""Missing values stay gaps, and each question is answered from the rows that have what it asks for."""

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
    # On the command line each kind is an option of its own, so that a kind is told with its column.
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
