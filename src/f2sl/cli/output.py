"""Output of commands.

On a terminal, text is wrapped to its width. Elsewhere it is plain: no colour, no wrapped lines, no trailing
spaces.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from f2sl._progress import Display, showing
from f2sl.errors import F2SLWarning, printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDE = 10_000


def show(content: RenderableType, plain_width: int = WIDE) -> None:
    """Print something that Rich can draw."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False, emoji=False).print(content)
        return
    text = io.StringIO()
    Console(file=text, width=plain_width, color_system=None, force_terminal=False, emoji=False).print(content)
    lines = (line.rstrip() for line in text.getvalue().splitlines())
    sys.stdout.write("\n".join(lines) + "\n")


class _Lines(Display):
    """Display that prints only notes, each as a line on the standard error."""

    def note(self, text: str) -> None:
        print(f"f2sl: {printable(text)}", file=sys.stderr, flush=True)


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Show progress on the standard error; in a file, only the note that a first run compiles."""
    # Learners' warnings are among the notes that every command prints.
    warnings.simplefilter("ignore", F2SLWarning)
    if quiet:
        yield
        return
    if not sys.stderr.isatty():
        with showing(_Lines()):
            yield
        return
    from f2sl._rich import on_terminal

    with on_terminal():
        yield


def show_json(content: Any) -> None:
    """Print an object as ASCII JSON; knowledge about edges as a dictionary, paths and the like as text."""

    def plain(value: Any) -> Any:
        return value.as_dict() if hasattr(value, "as_dict") else str(value)

    sys.stdout.write(json.dumps(content, indent=2, default=plain) + "\n")


def note_incomplete(notes: Iterable[str]) -> None:
    """Print notes on an incomplete result to the standard error, even with ``--quiet``."""
    for note in notes:
        print(f"f2sl: note: {printable(note)}", file=sys.stderr)


def pairs(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table of labels, each with its text."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(Text(label), Text(text))
    return table


def columns(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()
) -> RenderableType:
    """Return a table with a title; columns in `right` are right-aligned."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    # Not the table's own title: that would be squeezed into its width.
    return Group(Text(title, style="bold"), table)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    Examples
    --------
    >>> count(1, "edge"), count(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
