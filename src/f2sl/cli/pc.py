"""``f2sl pc``: the parents and children of one variable."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.help import examples
from f2sl.cli.options import (
    LEARNING,
    AsJson,
    Binning,
    Bins,
    DataFile,
    Delimiter,
    Drop,
    Jobs,
    Missing,
    NoHeader,
    Quiet,
    create_learner,
    in_terms_of_flags,
    parse_bins,
    with_learner_options,
)
from f2sl.cli.output import count, printable
from f2sl.cli.progress import progress
from f2sl.cli.reading import Reading

EXAMPLES = examples(
    "f2sl pc data.csv Smoking",
    "f2sl pc data.csv Smoking --algorithm mrmr --k 3",
    "f2sl pc data.parquet Smoking --delta 0.02 --json",
)


@with_learner_options
def pc(
    data: DataFile,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The column whose neighbours are wanted.")],
    options: dict[str, Any],
    algorithm: Annotated[
        str,
        typer.Option("--algorithm", "-a", help="See f2sl algorithms.", rich_help_panel=LEARNING),
    ] = "fcbf",
    jobs: Jobs = None,
    bins: Bins = None,
    binning: Binning = "quantile",
    missing: Missing = "error",
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    drop: Drop = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the parents and children of one variable, strongest first.

    Options that are not given have the defaults of the algorithm; f2sl algorithms lists them.
    """
    with in_terms_of_flags():
        reading = Reading(
            data, delimiter, not no_header, parse_bins(bins), binning, missing, tuple(drop or ())
        )
        reading.check_exists()
        from f2sl._threads import resolve_jobs
        from f2sl.api import learn_pc
        from f2sl.data.remarks import remarks
        from f2sl.local.base import LOCAL

        resolve_jobs(jobs)
        learner = create_learner(LOCAL, algorithm, options)
        with progress(quiet):
            table = reading.read()
            found = learn_pc(table, target, algorithm, n_jobs=jobs, **options)
    notes = [*table.notes, *remarks(table)]
    if as_json:
        members = [{"name": name, "strength": strength} for name, strength in found.items()]
        facts = {"target": target, "algorithm": algorithm, "options": learner.get_params()}
        output.show_json({**facts, "rows": table.n_rows, "notes": notes, "pc": members})
    elif not quiet:
        rows = [(printable(name), f"{strength:.4f}") for name, strength in found.items()]
        told = ", ".join(f"{name} {value}" for name, value in learner.get_params().items())
        if notes:
            output.show(output.pairs([("Note", printable(note)) for note in notes]))
        title = f"{printable(target)}: {count(len(rows), 'neighbour')} by {algorithm} ({told})"
        output.show(output.columns(title, ("name", "strength") if rows else (), rows, right=[1]))
