"""``f2sl pc``: the parents and children of one variable."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from f2sl.cli.help import examples
from f2sl.cli.one_target import OneTarget, run_one_target
from f2sl.cli.options import LEARNING, AsJson, Quiet, with_learner_options
from f2sl.cli.reading import TableOptions, with_reading_options

EXAMPLES = examples(
    "f2sl pc data.csv Smoking",
    "f2sl pc data.csv Smoking --algorithm mrmr --k 3",
    "f2sl pc data.csv Smoking --algorithm mmpc --alpha 0.05",
    "f2sl pc data.parquet Smoking --delta 0.02 --json",
)


@with_learner_options
@with_reading_options
def pc(
    reading: TableOptions,
    options: dict[str, Any],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]", help="The column whose neighbours are wanted; all columns without it."
        ),
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option("--algorithm", "-a", help="See f2sl algorithms.", rich_help_panel=LEARNING),
    ] = "fcbf",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the parents and children of one variable, or of all, strongest first.

    Options that are not given have the defaults of the algorithm; f2sl algorithms lists them.
    """
    asked = OneTarget(reading, target, algorithm, options)
    run_one_target("pc", asked, as_json=as_json, quiet=quiet)
