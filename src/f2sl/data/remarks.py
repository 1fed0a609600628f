"""Notes on columns: how they were read, and the option that reads them otherwise.

A remark is the kind of a note and the parts of its text, shared by all columns that it is true of. Options
among the parts may be for these columns (:class:`UseFor`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from f2sl._notes import Note, Part, Use
from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.data.dates import DAYS, YEARS, DateReader
from f2sl.data.kinds import FEW
from f2sl.data.names import listing


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
