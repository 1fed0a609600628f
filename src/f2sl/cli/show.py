"""``f2sl show``: a page to explore a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.files import check_page_file, load_any_graph, load_graph_or_network, save_page
from f2sl.cli.help import examples
from f2sl.cli.options import Silent, in_terms_of_flags
from f2sl.errors import OptionError

EXAMPLES = examples(
    "f2sl show graph.json --out page.html",
    "f2sl show graph.json --out page.html --truth alarm --data alarm.csv",
    "f2sl show alarm --out page.html",
    "f2sl show confidence.json --out page.html",
)


def show(
    graph: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH or NETWORK",
            help="The file of a graph, a network or a confidence, or the name of a bundled network.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write the page: an .html.")
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE or NETWORK",
            help="Compare with this graph: edges are agreed, reversed, missing or extra.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Show how each variable is distributed in this table."),
    ] = None,
    quiet: Silent = False,
) -> None:
    """Write a page to explore a graph: one HTML file that works offline.

    It has the picture to move and zoom, search, neighbourhoods and Markov blankets, a list of the edges,
    and the probabilities of networks.
    """
    if out is None:
        raise OptionError("nothing to write: give --out FILE.html for the page")
    check_page_file(out, [path for path in (graph, truth, data) if path is not None])
    with in_terms_of_flags():
        what = load_graph_or_network(graph)
        other = None if truth is None else load_any_graph(truth)
        table = None if data is None else str(data)
        save_page(what, out, truth=other, data=table, title=_title(what, graph))
    if not quiet:
        print(f"wrote {output.printable(out)}: open it in a browser")


def _title(what: Any, graph: Path) -> str:
    """Return the name of a network, or of its file; files of networks without one say unknown."""
    name = str(getattr(what, "name", ""))
    return name if name not in ("", "unknown") else graph.stem
