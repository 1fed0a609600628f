"""``f2sl example``, ``networks`` and ``sample``: tables with a known truth, and where they come from."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from f2sl._constants import MISSING_SPELLINGS, REMARKS, STAND_IN
from f2sl.cli import output
from f2sl.cli.files import check_outputs, load_fitted_network, save_bytes, save_graph
from f2sl.cli.options import AsJson, Silent, out_file
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.errors import FileError, OptionError, printable

if TYPE_CHECKING:
    from f2sl.data.table import Table


EXAMPLE_EXAMPLES = examples(
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
        raise FileError(
            f"cannot write {out}: examples are written as CSV; give a name that ends in .csv", path=str(out)
        )
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


NETWORKS_EXAMPLES = examples("f2sl networks", "f2sl networks --json")

HEADINGS = (
    "name",
    "variables",
    "edges",
    "max in-degree",
    "max out-degree",
    "states",
    "parameters",
)


def networks(as_json: AsJson = False) -> None:
    """List the bundled networks, from which f2sl sample draws and with which f2sl compare compares.

    All but gene-like are from the Bayesian Network Repository. gene-like is random; it replaces the F2SL
    paper's Gene, which is not available.
    """
    from dataclasses import asdict

    from f2sl.network.bundled import bundled_sizes

    sizes = bundled_sizes()
    if as_json:
        output.show_json([{**asdict(size), "stands_in": size.name == STAND_IN} for size in sizes])
        return
    rows = [
        (
            size.name,
            f"{size.variables:,}",
            f"{size.edges:,}",
            f"{size.max_in_degree}",
            f"{size.max_out_degree}",
            f"{size.least_states}-{size.most_states}"
            if size.least_states < size.most_states
            else f"{size.most_states}",
            f"{size.parameters:,}",
        )
        for size in sizes
    ]
    title = "Bundled networks: f2sl sample NAME --rows 1000 --out FILE.csv"
    output.show(output.columns(title, HEADINGS, rows, right=range(1, len(HEADINGS))))
    output.show(
        f"\n{REMARKS[STAND_IN]}. The others are from the Bayesian Network Repository "
        "(https://www.bnlearn.com/bnrepository/, CC BY-SA 3.0)."
    )


SAMPLE_EXAMPLES = examples(
    "f2sl sample alarm --rows 1000 --random-state 1 --out alarm.csv",
    "f2sl sample my.bif --rows 100000 --out my.parquet",
    "f2sl sample mixed.json --out mixed.csv",
)


def sample(
    network: Annotated[
        str,
        typer.Argument(
            metavar="NETWORK",
            help="Bundled network (see f2sl networks), or a file: .bif, .json, .xmlbif, .net or .xdsl.",
        ),
    ],
    rows: Annotated[int, typer.Option(help="Number of rows.")] = 1000,
    random_state: Annotated[int, typer.Option(help="Random seed; the same on every machine.")] = 0,
    out: Annotated[
        Path | None,
        out_file("Write the table: .csv, .csv.gz, .parquet or .arrow."),
    ] = None,
    quiet: Silent = False,
) -> None:
    """Draw rows from a network and write them to a file."""
    from f2sl._options import whole

    whole("rows", rows, least=1)
    whole("random_state", random_state)
    if out is None:
        raise OptionError("nothing to write: give --out FILE.csv")
    from f2sl.data.formats import table_bytes, writer_for
    from f2sl.network.sampling import sample_table, to_arrow

    writer_for(out)
    check_outputs([network], other=out)
    drawn_from = load_fitted_network(network)
    table = sample_table(drawn_from, rows, random_state)
    save_bytes(table_bytes(to_arrow(table), out), out)
    if not quiet:
        size = f"{count(table.n_rows, 'row')}, {count(table.n_variables, 'variable')}"
        print(f"wrote {printable(out)}: {size}")
        if drawn_from.name in REMARKS:
            print(f"note: {REMARKS[drawn_from.name]}")
        _warn_of_missing(table, out)


def _warn_of_missing(table: Table, out: Path) -> None:
    """Print a note on states that a CSV reader would read as missing values."""
    if not out.name.lower().endswith((".csv", ".csv.gz")):
        return
    strange = [
        (name, state)
        for name, states in zip(table.names, table.states, strict=True)
        for state in states
        if state in MISSING_SPELLINGS
    ]
    if strange:
        name, state = strange[0]
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        print(
            f"note: the state {state!r} of {printable(name)}{more} is read from a CSV as a missing "
            "value; learn with --missing state, or write .parquet"
        )
