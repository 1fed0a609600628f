"""``f2sl fit``: estimate the probabilities of a graph from a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from f2sl.cli.files import check_outputs, load_any_graph
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import Silent, out_file, texts
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.cli.reading import TableOptions, with_reading_options
from f2sl.errors import F2SLError, OptionError, printable

EXAMPLES = examples(
    "f2sl fit graph.json data.csv --out net.bif",
    "f2sl fit graph.json people.csv --drop id --bins age=4 --out net.xdsl",
    "f2sl fit graph.json mixed.csv --out net.json",
)


@partial(with_reading_options, but=["transform"])  # networks are fitted to the values
def fit(
    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help="Graph file, as f2sl learn saves it.")],
    reading: TableOptions,
    out: Annotated[
        Path | None,
        out_file("Save the network: .bif, .xmlbif or .xdsl; with continuous variables .json or .net."),
    ] = None,
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Weight of the prior, in rows; 0 for maximum likelihood.")
    ] = 1.0,
    quiet: Silent = False,
) -> None:
    """Estimate the probabilities of a graph from a table, and save the network.

    A graph in f2sl's own JSON stores how its columns were read and into which intervals numbers were cut;
    options override that. Columns that are not in the graph are ignored.
    """
    if out is None:
        raise OptionError("nothing to write: give --out FILE.bif")
    from f2sl.network.formats import check_can_save

    check_can_save((), out)
    check_outputs([graph, reading.location], other=out)
    reading.check()
    known = load_any_graph(graph)
    from f2sl.data.column import CONTINUOUS
    from f2sl.data.open import open_for
    from f2sl.network.checks import check_edges
    from f2sl.network.fitting import dag_of_network, fit_learned

    table = open_for(
        ("discrete", "continuous", "mixed"),
        "a Bayesian network",
        reading.data,
        reading.jobs,
        only=known.nodes,
        learned=known.read_as,
        min_variables=1,
        **reading.options(),
    )
    with table:
        numbers = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == CONTINUOUS]
        checks: tuple[Callable[[], object], ...] = (
            lambda: check_can_save(table.kinds, out),
            lambda: check_edges(dag_of_network(known, table), numbers),
        )
        wrong: list[F2SLError] = []
        for check in checks:
            try:
                check()
            except F2SLError as error:
                wrong.append(error)
        if wrong:
            raise type(wrong[0]).of([one for error in wrong for one in error.problems], ". Also, ")
        network = fit_learned(known, table, equivalent_sample_size)
    with interrupts.saving(out):
        network.save(out)
    if not quiet:
        variables, edges = count(len(network.variables), "variable"), count(network.graph.n_edges, "edge")
        size = f"{variables}, {edges}, {count(network.n_parameters, 'parameter')}"
        print(f"wrote {printable(out)}: {size}, from {count(table.n_rows, 'row')}")
        if len(known.undirected_array):
            undirected = count(len(known.undirected_array), "undirected edge")
            print(f"note: {undirected} of {printable(graph)} directed as by f2sl learn --dag")
        if (network.graph.weak or network.graph.either_way) and out.suffix.lower() not in (".json", ".bif"):
            print(
                f"note: {printable(out)} does not keep which directions are uncertain, as .json and .bif do"
            )
        for note in texts((*table.notes, *network.notes)):
            print(f"note: {printable(note)}")
