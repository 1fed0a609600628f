"""``f2sl mb``: the Markov blanket of one variable."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from f2sl.cli.help import examples
from f2sl.cli.one_target import OneTarget, run_one_target
from f2sl.cli.options import LEARNING, AsJson, Quiet, with_learner_options
from f2sl.cli.reading import TableOptions, with_reading_options

EXAMPLES = examples(
    "f2sl mb data.csv Smoking",
    "f2sl mb data.csv Smoking --algorithm hiton-mb --alpha 0.05",
    "f2sl mb data.parquet Smoking --json",
)


@with_learner_options
@with_reading_options
def mb(
    reading: TableOptions,
    options: dict[str, Any],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]", help="The column whose blanket is wanted; all columns without it."
        ),
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option("--algorithm", "-a", help="See f2sl algorithms.", rich_help_panel=LEARNING),
    ] = "iamb",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the Markov blanket of one variable, or of all: parents, children, their other parents.

    Options that are not given have the defaults of the algorithm; f2sl algorithms lists them.
    """
    asked = OneTarget(reading, target, algorithm, options)
    run_one_target("mb", asked, as_json=as_json, quiet=quiet)
