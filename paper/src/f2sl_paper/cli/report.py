"""``f2sl report``: write tables, figures and a page from the results of ``f2sl reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from f2sl.cli import output
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import Silent
from f2sl.cli.program import examples
from f2sl.errors import printable

EXAMPLES = examples("f2sl report results/")


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder with the results of f2sl reproduce.")
    ],
    quiet: Silent = False,
) -> None:
    """Write tables 1 to 7, the figures and one HTML page from the finished results.

    FOLDER/tables has Markdown, CSV and LaTeX, and a verdict on each claim of the paper's section 6;
    FOLDER/figures has SVG and PNG, and FOLDER/index.html shows all of it beside the paper's figures. Cells
    of experiments that have not been run are empty.
    """
    message = write_report(folder)
    if not quiet:
        print(message)


def write_report(folder: Path) -> str:
    """Write all files and return a message that names them."""
    from f2sl.graph import write_atomically
    from f2sl_paper.reporting import report as write

    def save(path: Path, content: str | bytes) -> None:
        with interrupts.saving(path):
            write_atomically(path, content)

    written = write(folder, save)
    message = f"{output.count(len(written) - 1, 'file')} of tables and figures"
    return f"wrote {printable(written[-1])} and {message}"
