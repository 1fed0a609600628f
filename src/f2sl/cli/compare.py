"""``f2sl compare``: compare a learned graph with the true one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from f2sl._constants import REMARKS
from f2sl.cli import output
from f2sl.cli.files import load_any_graph
from f2sl.cli.help import examples
from f2sl.cli.options import AsJson
from f2sl.errors import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from f2sl.graph import Comparison

EXAMPLES = examples(
    "f2sl compare graph.json truth.json",
    "f2sl compare graph.json alarm",
    "f2sl compare graph.dot truth.graphml --distances --json",
)

METRICS = (
    ("SHD", "shd", "edges that differ, each counted once: the sum of the next four"),
    ("Reverse", "reverse", "directed in both graphs, opposite ways"),
    ("Miss", "miss", "in the true graph only"),
    ("Extra", "extra", "in the learned graph only"),
    ("Undirected", "undirected", "directed in one graph, undirected in the other"),
    ("SHD of CPDAGs", "shd_cpdag", "the same between the equivalence classes"),
    ("Ar_Precision", "precision", "share of the learned edges that are directed as in the true graph"),
    ("Ar_Recall", "recall", "share of the true edges that are directed so in the learned graph"),
    ("Ar_F1", "f1", "harmonic mean of the two"),
    (
        "Skeleton precision",
        "skeleton_precision",
        "share of the learned edges that are true, directions aside",
    ),
    ("Skeleton recall", "skeleton_recall", "share of the true edges that were learned, directions aside"),
    ("Skeleton F1", "skeleton_f1", "harmonic mean of the two"),
    ("Learned edges", "learned_edges", "directed and undirected"),
    ("True edges", "true_edges", "directed and undirected"),
    ("Correct", "correct", "in both graphs, the same way"),
    ("SID", "sid", "pairs whose effect is wrong if adjusted for the learned graph's parents; DAGs only"),
    ("Parent-AID", "parent_aid", "pairs whose effect is wrong if adjusted for parents; DAGs and CPDAGs"),
    ("Ancestor-AID", "ancestor_aid", "the same if adjusted for ancestors"),
    ("Oset-AID", "oset_aid", "the same if adjusted for the optimal set"),
)
"""Metrics shown: name (the F2SL paper's, where it has one), attribute and meaning."""


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
    as_json: AsJson = False,
) -> None:
    """Compare a learned graph with the true one: SHD, Reverse, Miss, Extra, Ar_F1 and more.

    Each is a graph file as f2sl learn writes it (.json, .csv, .dot, ...), a network file (.bif, .json,
    .xmlbif, .net or .xdsl), or the name of a bundled network (f2sl networks lists them).
    """
    from f2sl.graph import compare as compare_graphs

    learned_graph, true_graph = load_any_graph(learned), load_any_graph(truth)
    comparison = compare_graphs(true_graph, learned_graph, distances=distances)
    if as_json:
        output.show_json(comparison.as_dict())
    else:
        title = f"{printable(learned)} compared with {printable(truth)}"
        output.show(metrics(title, comparison))
        for note in notes_on(truth):
            output.show(f"\nnote: {note}")


def notes_on(truth: Path) -> list[str]:
    """Return notes on a truth that is a bundled network."""
    return [REMARKS[str(truth)]] if str(truth) in REMARKS else []


def metrics(title: str, comparison: Comparison) -> RenderableType:
    """Return the table of a comparison."""
    values = comparison.as_dict()
    rows = [
        (name, _shown(value), meaning)
        for name, key, meaning in METRICS
        if (value := values.get(key)) is not None
    ]
    return output.columns(title, ("metric", "value", "what it counts"), rows, right=[1])


def _shown(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
