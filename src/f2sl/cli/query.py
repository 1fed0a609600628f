"""``f2sl query`` and ``predict``: questions to a network, about one case or about each row of a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl._notes import Note
from f2sl.cli import output
from f2sl.cli.files import check_outputs, load_fitted_network, save_bytes
from f2sl.cli.options import AsJson, DataFile, Silent, of_reading, out_file, records
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.errors import DataError, OptionError, printable, shown_list, unknown_name

if TYPE_CHECKING:
    from f2sl.network import BayesianNetwork


QUERY_EXAMPLES = examples(
    "f2sl query alarm HR --given CO=LOW",
    "f2sl query net.bif outcome --do treatment=yes --given age=old",
    "f2sl query net.bif --most-probable --given outcome=yes --json",
)

Network = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        help="Network file (.bif, .json, .xmlbif, .net or .xdsl), or a bundled network (see f2sl networks).",
    ),
]


def query(
    network: Network,
    variables: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VARIABLE]...", help="Variables to show, each with its own distribution."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", metavar="NAME=VALUE", help="Observed value. Repeat for more."),
    ] = None,
    do: Annotated[
        list[str] | None,
        typer.Option("--do", metavar="NAME=VALUE", help="Value set by intervention. Repeat for more."),
    ] = None,
    most_probable: Annotated[
        bool, typer.Option("--most-probable", help="Show the most probable values of all other variables.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the distribution of variables, given observed values (--given) and interventions (--do).

    Answers are exact. Discrete networks need pyAgrum: pip install "f2sl[inference]".
    """
    from f2sl.network.inference import notes_on_do

    if not variables and not most_probable:
        raise OptionError("nothing to ask: name a variable, or give --most-probable")
    asked = load_fitted_network(network)
    evidence, setting = (
        parse_values(flag, texts, asked) for flag, texts in (("--given", given), ("--do", do))
    )
    both = [repr(name) for name in evidence if name in setting]
    if both:
        raise OptionError(f"given both by --given and --do: {', '.join(both)}")
    answers = {name: asked.query(name, evidence, setting) for name in variables or ()}
    best = asked.most_probable(evidence, setting) if most_probable else None
    notes = notes_on_do(asked, answers, evidence, setting)
    conditions = [f"{printable(name)} = {printable(value)}" for name, value in evidence.items()]
    conditions += [f"do({printable(name)} = {printable(value)})" for name, value in setting.items()]
    if as_json:
        content: dict[str, Any] = {"network": network, "given": evidence, "do": setting}
        content["answers"] = {name: _as_json(answer) for name, answer in answers.items()}
        if best is not None:
            content["most_probable"] = best._asdict()
        content["notes"] = records(notes)
        output.show_json(content)
        return
    condition = f" given {', '.join(conditions)}" if conditions else ""
    blank = ""
    for name, answer in answers.items():
        title = f"{blank}{printable(name)}{condition}"
        if isinstance(answer, dict):
            rows = [(printable(state), f"{value:.4f}") for state, value in answer.items()]
            output.show(output.columns(title, ("state", "probability"), rows, right=[1]))
        else:
            facts = [("mean", answer.mean), ("standard deviation", answer.variance**0.5)]
            rows = [(label, f"{value:.6g}") for label, value in facts]
            output.show(
                output.columns(title, ("normal" if len(answer.weights) == 1 else "mixture", ""), rows)
            )
        blank = "\n"
    if best is not None:
        rows = [
            (printable(name), printable(value) if isinstance(value, str) else f"{value:.6g}")
            for name, value in best.values.items()
        ]
        title = f"{blank}Most probable values{condition}; log probability {best.log_probability:.4f}"
        output.show(output.columns(title, ("variable", "value"), rows))
    for note in notes:
        print(f"note: {printable(note)}")


def parse_values(flag: str, texts: list[str] | None, network: BayesianNetwork) -> dict[str, str]:
    """Parse ``NAME=VALUE``; names may contain equals signs.

    Examples
    --------
    >>> import f2sl
    >>> parse_values("--given", ["smoke=yes", "xray=no"], f2sl.load_network("asia"))
    {'smoke': 'yes', 'xray': 'no'}
    """
    found: dict[str, str] = {}
    for text in texts or ():
        positions = [i for i, letter in enumerate(text) if letter == "="]
        if not positions:
            raise OptionError(f"{flag} takes NAME=VALUE, not {text!r}")
        cut = next((i for i in reversed(positions) if text[:i] in network.variables), positions[0])
        name = text[:cut]
        if name not in network.variables:
            problem = unknown_name("variable", name, network.variables)
            raise OptionError(Note(problem.kind, f"{flag}: ", problem, **problem.values))
        if name in found:
            raise OptionError(f"{flag} is given twice for {name!r}")
        found[name] = text[cut + 1 :]
    return found


def _as_json(answer: Any) -> Any:
    if isinstance(answer, dict):
        return answer
    parts = {"weights": answer.weights, "means": answer.means, "variances": answer.variances}
    whole = {"mean": answer.mean, "variance": answer.variance}
    return whole | {name: values.tolist() for name, values in parts.items()}


PREDICT_EXAMPLES = examples(
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
