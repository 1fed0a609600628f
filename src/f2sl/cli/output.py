"""Output of commands.

On a terminal text is laid out for its width. Anywhere else it is plain: no colour, no lines broken
to fit a width that nobody has, no spaces at the ends of lines.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl._progress import Display, showing
from f2sl.errors import F2SLWarning

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
    """Prints notes alone, each as a line on the standard error."""

    def note(self, text: str) -> None:
        print(f"f2sl: {text}", file=sys.stderr, flush=True)


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Show how far the work has come, on the standard error; in a file only that a first run compiles."""
    # What a learner warns of stands among the notes that every command prints.
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
    """Print an object as JSON, in ASCII; knowledge about edges as its dictionary."""
    sys.stdout.write(json.dumps(content, indent=2, default=lambda knowledge: knowledge.as_dict()) + "\n")


def tell_of_incomplete(notes: Iterable[str]) -> None:
    """Print on the standard error that a result is incomplete, where ``--quiet`` hides everything else."""
    for note in notes:
        print(f"f2sl: note: {printable(note)}", file=sys.stderr)


def pairs(rows: Iterable[tuple[str, str]]) -> Table:
    """Lay out labels, each with what there is to say."""
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
    """Lay out a table under a title; the columns numbered in `right` are set flush right."""
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


def printable(name: str | Path) -> str:
    r"""Show a name on one line, whatever it contains.

    Examples
    --------
    >>> print(printable("two words"), printable("two\nlines"))
    two words two\nlines
    """
    text = str(name)
    return text if text.isprintable() else repr(text)[1:-1]


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the plural if need be.

    Examples
    --------
    >>> count(1, "edge"), count(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
