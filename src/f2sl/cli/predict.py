"""``f2sl predict``: predict one variable of new rows with a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from f2sl.cli.files import check_outputs, load_fitted_network, save_bytes
from f2sl.cli.options import DataFile, Silent, of_reading, out_file
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.cli.query import Network
from f2sl.errors import DataError, printable, shown_list

EXAMPLES = examples(
    "f2sl predict net.bif new.csv outcome --out predicted.csv",
    "f2sl predict net.bif new.csv outcome --probabilities --drop id",
)


def predict(
    network: Network,
    data: DataFile,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Variable to predict.")],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the probability of each state, in columns.")
    ] = False,
    drop: Annotated[list[str] | None, of_reading("drop")] = None,
    delimiter: Annotated[str | None, of_reading("delimiter")] = None,
    encoding: Annotated[str | None, of_reading("encoding")] = None,
    na: Annotated[list[str] | None, of_reading("na")] = None,
    out: Annotated[
        Path | None,
        out_file("Output file: .csv, .csv.gz, .parquet or .arrow; by default CSV to the standard output."),
    ] = None,
    quiet: Silent = False,
) -> None:
    """Predict one variable for each row of new data: its most probable state, or its mean.

    Columns and values may be missing. Columns that the network does not have are ignored. If the table has
    the target, only the type of that column is used.
    """
    from f2sl.data.files import data_files, read_files
    from f2sl.data.formats import table_bytes, writer_for
    from f2sl.data.open import text_options

    if out is not None:
        writer_for(out)
        check_outputs([network, data], other=out)
    known = load_fitted_network(network)
    rows, _ = read_files(data_files(data, text_options(delimiter=delimiter, encoding=encoding, na=na or ())))
    left_out = [name for name in rows.column_names if name not in (*known.variables, *(drop or ()))]
    if len(left_out) == rows.num_columns:
        message = f"it has {shown_list(known.variables)}, but the table has {shown_list(left_out)}"
        raise DataError(f"no column is a variable of the network: {message}")
    found = known.predict(rows.drop_columns(left_out), target, probabilities=probabilities, drop=drop or ())
    if left_out and not quiet:
        ignored = printable(shown_list(left_out))
        print(f"note: ignored columns that are not in the network: {ignored}", file=sys.stderr)
    import pyarrow as pa

    if probabilities:
        table = pa.table(list(map(pa.array, found.T)), names=list(known.states[target]))
    else:
        if found.dtype == bool and (out is None or ".csv" in out.suffixes):
            found = found.astype(str)  # as pandas and the network write it, and not Arrow's true
        table = pa.table([pa.array(found.tolist())], names=[target])
    if out is None:
        sys.stdout.write(table_bytes(table, Path("predicted.csv")).decode())
        return
    save_bytes(table_bytes(table, out), out)
    if not quiet:
        print(f"wrote {printable(out)}: {count(len(found), 'row')}")
