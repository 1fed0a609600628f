"""``f2sl sample``: draw rows from a network, whose graph is then the truth to learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from f2sl._constants import MISSING_SPELLINGS, REMARKS
from f2sl.cli.files import check_outputs, load_fitted_network, save_bytes
from f2sl.cli.options import Silent, out_file
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.errors import OptionError, printable

if TYPE_CHECKING:
    from f2sl.data.table import Table

EXAMPLES = examples(
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
