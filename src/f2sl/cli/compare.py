"""``f2sl compare``: compare a learned graph with the true one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from f2sl._constants import REMARKS
from f2sl._notes import Note
from f2sl.cli import output
from f2sl.cli.files import load_any_graph
from f2sl.cli.options import AsJson
from f2sl.cli.program import examples
from f2sl.errors import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from f2sl.graph import Comparison

EXAMPLES = examples(
    "f2sl compare graph.json truth.json",
    "f2sl compare graph.json alarm",
    "f2sl compare graph.dot truth.graphml --distances --json",
    "f2sl compare graph.json truth.json --convention paper",
)


def compare(
    learned: Annotated[Path, typer.Argument(metavar="LEARNED", help="Learned graph.")],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="True graph.")],
    distances: Annotated[
        bool,
        typer.Option(
            "--distances",
            help='Also count wrong effects: SID and AID (needs gadjid: pip install "f2sl[metrics]").',
        ),
    ] = False,
    convention: Annotated[
        str,
        typer.Option(
            metavar="cpdag|paper",
            help="Compare equivalence classes (cpdag), or the graphs as they are, as the F2SL paper (paper).",
        ),
    ] = "cpdag",
    as_json: AsJson = False,
) -> None:
    """Compare a learned graph with the true one: SHD, precision, recall and F1 of adjacencies and arrowheads.

    Each is a graph file as f2sl learn writes it (.json, .csv, .dot, ...), a network file (.bif, .json,
    .xmlbif, .net or .xdsl), or the name of a bundled network (f2sl networks lists them).
    """
    from f2sl.graph import compare as compare_graphs

    learned_graph, true_graph = load_any_graph(learned), load_any_graph(truth)
    comparison = compare_graphs(true_graph, learned_graph, distances=distances, convention=convention)
    if as_json:
        output.show_json(comparison.as_dict())
    else:
        title = f"{printable(learned)} compared with {printable(truth)}"
        output.show(metrics(title, comparison))
        for note in notes_on(truth):
            output.show(f"\nnote: {note}")


def notes_on(truth: Path) -> list[Note]:
    """Return notes on a truth that is a bundled network."""
    return [Note("stand-in", REMARKS[str(truth)])] if str(truth) in REMARKS else []


def metrics(title: str, comparison: Comparison) -> RenderableType:
    """Return the table of a comparison."""
    return output.columns(title, ("metric", "value", "what it counts"), comparison.rows(), right=[1])
