"""Notes and problems as records, which each front end writes in its own spelling.

A :class:`Note` is made of parts. Those that name an option are objects (:class:`Use`), so that Python, the
command line and a page can each write them in their own way, and programs can follow the advice. No text is
ever parsed. As a string, a note is its text in Python's spelling.

>>> note = Note("left-out", "column 'id': left out; keep with ", Use("keep", ["id"]), columns=["id"])
>>> print(note)
column 'id': left out; keep with keep=['id']
>>> note.kind, note.columns, note.options
('left-out', ('id',), (Use(option='keep', value=['id']),))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

MOST_WRITTEN = 10
"""Number of columns up to which an option is written with all of them; for more only its name is."""


@dataclass(frozen=True)
class Use:
    """Option in a message, with the value that it has or should have.

    Without a value it is the option's name; ``...`` stands for a value that the user knows. A list names
    columns, and a dictionary has values by column.

    Examples
    --------
    >>> for value in (None, ..., 5, "drop", ["a"], {"a": 4}):
    ...     print(Use("option", value))
    option
    option=
    option=5
    option="drop"
    option=['a']
    option={'a': 4}
    """

    option: str
    value: Any = None

    def __str__(self) -> str:
        if self.value is None:
            return self.option
        if self.value is ... or self.is_long:
            return f"{self.option}="
        shown = (
            json.dumps(self.value, ensure_ascii=False) if isinstance(self.value, str) else repr(self.value)
        )
        return f"{self.option}={shown}"

    def __hash__(self) -> int:
        return hash((self.option, str(self)))

    def to_json(self) -> list[Any]:
        """Return the option as plain data: its name, and its value unless that is ``...``."""
        return [self.option] if self.value is ... else [self.option, self.value]

    @classmethod
    def from_json(cls, record: list[Any]) -> Use:
        """Return the option that `to_json` described."""
        return Use(*record) if len(record) > 1 else Use(record[0], ...)

    @property
    def is_long(self) -> bool:
        """True if the value names too many columns to be written."""
        return isinstance(self.value, (list, tuple)) and len(self.value) > MOST_WRITTEN


@dataclass(frozen=True)
class Say:
    """Part of a message that Python and the command line have different words for."""

    python: str
    shell: str

    def __str__(self) -> str:
        return self.python


Part = str | Use | Say
Spelling = Callable[[Use | Say], str]
"""Function that writes an option as text: `str` in Python, `f2sl.cli.options.in_shell` in the shell."""


class Note(str):
    """Note or problem: a text in Python's spelling, with the record that it was written from.

    Parameters
    ----------
    kind : str
        What it is about, such as ``"left-out"``, by which programs can find it.
    *parts : str, Use, Say or Note
        The text, with options as objects. The parts of a note take its place.
    columns : iterable of str
        Names of the columns that it is about.
    **values
        Further facts.

    Attributes
    ----------
    kind, parts, columns, values
        As above; a note among the parts has been replaced by its own.

    Examples
    --------
    >>> advice = Note("few-rows", "only 3 rows; see ", Use("missing", "available"), rows=3)
    >>> advice.written(lambda part: f"--{part.option} {part.value}")
    'only 3 rows; see --missing available'
    >>> advice.as_dict()["options"]
    [{'name': 'missing', 'value': 'available'}]
    """

    kind: str
    parts: tuple[Part, ...]
    columns: tuple[str, ...]
    values: dict[str, Any]

    def __new__(cls, kind: str, *parts: Part, columns: Iterable[str] = (), **values: Any) -> Self:
        flat: list[Part] = []
        for part in parts:
            flat += part.parts if isinstance(part, Note) else [part]
        note = super().__new__(cls, "".join(map(str, flat)))
        note.kind, note.parts, note.columns, note.values = kind, tuple(flat), tuple(columns), values
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.kind, *self.parts), {"columns": self.columns, **self.values}

    @property
    def options(self) -> tuple[Use, ...]:
        """Options that it names, in their order."""
        return tuple(part for part in self.parts if isinstance(part, Use))

    def written(self, spelling: Spelling = str) -> str:
        """Return the text with options in a front end's own spelling."""
        return "".join(part if isinstance(part, str) else spelling(part) for part in self.parts)

    def as_dict(self, spelling: Spelling = str) -> dict[str, Any]:
        """Return the record as plain data: kind, text, columns, options and values."""
        options = [
            {"name": use.option} | ({} if use.value in (None, ...) else {"value": use.value})
            for use in self.options
        ]
        text, columns = self.written(spelling), list(self.columns)
        return {
            "kind": self.kind,
            "text": text,
            "columns": columns,
            "options": options,
            "values": self.values,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the whole record as plain data, from which :meth:`from_json` makes it again."""
        parts = [
            part if isinstance(part, str) else vars(part) if isinstance(part, Say) else part.to_json()
            for part in self.parts
        ]
        return {"kind": self.kind, "parts": parts, "columns": list(self.columns), "values": self.values}

    @classmethod
    def from_json(cls, record: Any) -> Note:
        """Return the note of a record; a text alone becomes a note without options."""
        if isinstance(record, str):
            return Note("", record)
        parts = [
            part if isinstance(part, str) else Say(**part) if isinstance(part, dict) else Use.from_json(part)
            for part in record["parts"]
        ]
        return Note(record["kind"], *parts, columns=record["columns"], **record["values"])


def note_of(text: str, kind: str = "") -> Note:
    """Return a text as a note; one that is a note already stays as it is."""
    return text if isinstance(text, Note) else Note(kind, text)


def joined(notes: Iterable[str], between: str = "; ", kind: str = "") -> Note:
    """Return one note of several, with the columns of all.

    Examples
    --------
    >>> joined([Note("a", "no columns", columns=["x"]), "no rows"])
    'no columns; no rows'
    """
    found = [note_of(note) for note in notes]
    parts = [part for i, note in enumerate(found) for part in ((between, note) if i else (note,))]
    return Note(
        kind or (found[0].kind if found else ""), *parts, columns=[c for n in found for c in n.columns]
    )


def of_kind(notes: Iterable[str], *kinds: str) -> list[Note]:
    """Return the notes of some kinds; texts of other origin have none."""
    return [note for note in notes if isinstance(note, Note) and note.kind in kinds]


def left_out(notes: Iterable[str]) -> dict[str, Note]:
    """Return the columns that were left out of a table, each with the note that says why.

    Examples
    --------
    >>> left_out([Note("left-out", "column 'id': left out", columns=["id"]), Note("few-rows", "only 3 rows")])
    {'id': "column 'id': left out"}
    """
    return {name: note for note in of_kind(notes, "left-out", "identifier") for name in note.columns}
