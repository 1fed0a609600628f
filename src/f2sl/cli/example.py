"""``f2sl example``: write a bundled example, a table with its true graph."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import typer

from f2sl.cli.files import check_outputs, save_bytes, save_graph
from f2sl.cli.options import Silent
from f2sl.cli.program import examples
from f2sl.errors import FileError, OptionError, printable

EXAMPLES = examples(
    "f2sl example asia --out asia.csv",
    "f2sl example alarm --out alarm.csv --truth truth.json",
)


def example(
    name: Annotated[str, typer.Argument(metavar="NAME", help="alarm (37 variables) or asia (8 variables).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the table to this .csv file.")
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the true graph, from which the table was sampled."),
    ] = None,
    quiet: Silent = False,
) -> None:
    """Write one of the bundled examples to a CSV file, and its true graph to a graph file."""
    from f2sl.examples import example_path, load_example_graph

    table, graph = example_path(name), load_example_graph(name)
    if out is None and truth is None:
        raise OptionError("nothing to write: give --out FILE.csv for the table, or --truth FILE.json")
    if out is not None and out.suffix.lower() != ".csv":
        raise FileError(f"cannot write {out}: examples are written as CSV; give a name that ends in .csv")
    check_outputs(other=out, graph=truth)
    if out is not None:
        save_bytes(gzip.decompress(table.read_bytes()), out)
        _tell(quiet, f"wrote {printable(out)}: the table, {graph.n_nodes} variables")
    if truth is not None:
        save_graph(graph, truth)
        _tell(quiet, f"wrote {printable(truth)}: the true graph, {graph.n_edges} edges")


def _tell(quiet: bool, text: str) -> None:
    if not quiet:
        print(text)
