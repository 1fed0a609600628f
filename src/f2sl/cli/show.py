"""``f2sl show``: write a page to explore a graph."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.files import check_outputs, load_any_graph, load_graph_or_network, save_page
from f2sl.cli.options import Silent, as_written, create_learner, of_reading
from f2sl.cli.program import examples
from f2sl.cli.summary import inconsistency
from f2sl.errors import OptionError, printable

if TYPE_CHECKING:
    from f2sl.data.table import Table
    from f2sl.graph import PDAG

EXAMPLES = examples(
    "f2sl show graph.json --out page.html",
    "f2sl show graph.json --out page.html --truth alarm --data alarm.csv",
    "f2sl show alarm --out page.html",
    "f2sl show graph.json --dag --out page.html",
    "f2sl show confidence.json --out page.html",
)


def show(
    graph: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH or NETWORK",
            help="File of a graph, network or confidence, or the name of a bundled network.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the page to this .html file.")
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE or NETWORK",
            help="Compare with this graph: mark edges as agreed, reversed, missing or extra.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Show the distribution of each variable in this table, and explain the learned edges.",
        ),
    ] = None,
    dag: Annotated[
        bool,
        typer.Option(
            "--dag",
            help="Show one DAG of the graph, which also directs the edges whose direction is not decided.",
        ),
    ] = False,
    encoding: Annotated[str | None, of_reading("encoding")] = None,
    quiet: Silent = False,
) -> None:
    """Write a page to explore a graph: one HTML file that works offline.

    The page has a picture to move and zoom, a search, neighborhoods and Markov blankets, a list of edges,
    and the probabilities of a network. If --data names the table of a graph that f2sl learn saved as .json,
    f2sl learns it again to explain each edge and each missing one.
    """
    if out is None:
        raise OptionError("nothing to write: give --out FILE.html for the page")
    if encoding is not None and data is None:
        raise OptionError("--encoding has no effect without --data")
    check_outputs([graph, truth, data], page=out)
    notes: list[str] = []
    what = load_graph_or_network(graph)
    if dag:
        if not hasattr(what, "to_dag"):
            raise OptionError(f"--dag shows one DAG of a graph; {graph} holds a {type(what).__name__}")
        what = what.to_dag()
        notes += [changed] if (changed := inconsistency(what)) else []
    name = str(getattr(what, "name", ""))  # of a network, or of its file if the network has none
    options: dict[str, Any] = {"title": name if name not in ("", "unknown") else graph.stem}
    options["truth"] = None if truth is None else load_any_graph(truth)
    learned_by = getattr(what, "learned_by", None)
    if learned_by:
        options["ask"] = _command_to_explain(what, "TABLE" if data is None else str(data), encoding)
    if learned_by and data is not None:
        with output.progress(quiet), _learned_again(what, str(data), encoding) as (model, table, more):
            notes += more
            called = f"{what.learned_by['algorithm']} {as_written(what.learned_by['options'])}".rstrip()
            options |= {"graph": what, "data": table, "notes": notes, "learner": called}
            save_page(model or what, out, **options)
    else:
        shown: Any = None if data is None else str(data)
        if shown is not None and encoding is not None:
            from f2sl.data.open import open_table

            shown = open_table(shown, encoding=encoding)
        save_page(what, out, data=shown, **options)
    if not quiet:
        print(f"wrote {printable(out)}: open it in a browser")
        for note in notes:
            print(f"note: {printable(note)}")


@contextmanager
def _learned_again(graph: PDAG, data: str, encoding: str | None) -> Iterator[tuple[Any, Table, list[str]]]:
    """Learn a graph again from its table; yield the learner (None if the graph differs) and the table."""
    from f2sl.data.open import open_for
    from f2sl.learners.fit import fit_learner
    from f2sl.learners.registries import STRUCTURE

    how: Any = graph.learned_by
    known = {} if graph.knowledge is None else {"knowledge": graph.knowledge}
    learner, _ = create_learner(STRUCTURE, how["algorithm"], {**how["options"], **known})
    columns: dict[str, Any] = {"only": graph.nodes, "learned": graph.read_as, "encoding": encoding}
    with open_for(learner._takes, how["algorithm"], data, **columns, **how["reading"]) as table:
        if table.n_rows != how["rows"]:
            why = f"it has {table.n_rows:,} rows, but the graph was learned from {how['rows']:,}"
        else:
            fit_learner(learner, table, {}, how["algorithm"])
            if graph in (learner.graph_, learner.dag_):
                yield learner, table, []
                return
            why = "learning from it gives another graph"
        yield None, table, [f"the edges are not explained: {data} is not the table they come from ({why})"]


def _command_to_explain(graph: PDAG, data: str, encoding: str | None) -> str:
    """Return the ``f2sl why`` command for a saved graph, without the names of the pair."""
    how: Any = graph.learned_by
    words = [f"f2sl why {shlex.quote(data)} --algorithm {shlex.quote(how['algorithm'])}"]
    words += [as_written(how["options"]), as_written(how["reading"])]
    words += [f"--encoding {shlex.quote(encoding)}" if encoding else ""]
    words += ["--knowledge FILE" if graph.knowledge else ""]
    return " ".join(word for word in words if word)
