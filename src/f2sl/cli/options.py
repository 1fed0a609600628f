"""The options of learners on the command line.

They come from the one catalogue of options (:mod:`f2sl._options`). A command that runs learners offers those
meant for it, hands on those that were given, and refuses what the learner chosen does not take; the defaults
stay the learner's own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl._options import CATALOGUE, READING_OPTIONS
from f2sl.errors import OptionError

if TYPE_CHECKING:
    from f2sl._registry import Registry

LEARNING = "Learning"
READING = "Reading the table"
OUTPUT = "Output"

FLAGS = {
    **{name: option.flag for name, option in CATALOGUE.items() if option.commands or name == "n_jobs"},
    **{
        name: f"--{name}"
        for name in (*READING_OPTIONS, "rows", "jobs", "networks", "algorithms", "sizes", "sets")
    },
    "memory_limit": "--memory-limit",
}
"""How each parameter that a user can set is written on the command line."""

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A CSV (any delimiter, packed or not), Parquet or Arrow file, or a folder of these.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Threads; all cores by default.", rich_help_panel=LEARNING),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        metavar="K or COLUMN=K",
        help="Cut all columns of real numbers into K intervals, or this column. Repeat for more columns.",
        rich_help_panel=READING,
    ),
]
Binning = Annotated[
    str,
    typer.Option(
        help="Intervals with equally many rows (quantile) or equally long ones (width).",
        rich_help_panel=READING,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        help="Missing values: answer each question from the rows that have its columns (available), make "
        "them a state (state), drop their rows (drop), or refuse them (error).",
        rich_help_panel=READING,
    ),
]
Kinds = Annotated[
    str,
    typer.Option(
        help="What the columns hold: states, numbers (number), or what they look like (auto).",
        rich_help_panel=READING,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="Hold the table in memory (memory), go through it in blocks (stream), let a cluster hold it "
        "(dask), or what fits (auto).",
        rich_help_panel=READING,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="How much memory may be used, such as 256MB; half of what is free by default.",
        rich_help_panel=READING,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="With --engine dask, its scheduler: tcp://HOST:8786; by default processes of this machine.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What stands between the columns of a CSV: a character, tab or space; guessed by default.",
        rich_help_panel=READING,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line of a CSV is data; columns are called x0, x1, ...",
        rich_help_panel=READING,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Leave this column out, such as an identifier. Repeat for more columns.",
        rich_help_panel=READING,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print nothing but errors (and what --json asks for).", rich_help_panel=OUTPUT
    ),
]
Silent = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUTPUT)
]
"""The same for commands without ``--json``."""


def with_learner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the parameter ``options`` of a command into one option for each of the catalogue meant for it.

    The command receives a dictionary of those that were given.
    """
    learners = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                option.type | None,
                typer.Option(
                    option.flag,
                    help=option.help,
                    parser=option.parser,
                    metavar=option.metavar,
                    rich_help_panel=LEARNING,
                ),
            ],
        )
        for option in CATALOGUE.values()
        if command.__name__ in option.commands
    ]

    def given(**values: Any) -> dict[str, Any]:
        return {param: value for param, value in values.items() if value is not None}

    return spread(command, "options", learners, given)


def spread(
    command: Callable[..., None],
    name: str,
    parameters: Sequence[inspect.Parameter],
    make: Callable[..., Any],
    after: str | None = None,
) -> Callable[..., None]:
    """Put parameters in the place of one of a command's, which is then made of their values.

    They come behind the parameter `after`, or behind all others, and what must be given before all.
    """
    signature = inspect.signature(command, eval_str=True)
    whole = [p for p in signature.parameters.values() if p.name != name]
    place = len(whole) if after is None else [p.name for p in whole].index(after) + 1
    whole[place:place] = parameters
    whole = sorted((p.replace(kind=p.KEYWORD_ONLY) for p in whole), key=lambda p: p.default is not p.empty)

    @wraps(command)
    def run(**values: Any) -> None:
        made = make(**{parameter.name: values.pop(parameter.name) for parameter in parameters})
        command(**values, **{name: made})

    run.__signature__ = signature.replace(parameters=whole)  # type: ignore[attr-defined]
    return run


def create_learner(registry: Registry, name: str, options: dict[str, Any]) -> Any:
    """Make the learner of that name with the options given, and check them.

    Raises
    ------
    OptionError
        If there is no such learner, it does not take one of the options, or not this value.
    """
    from f2sl.api import make_learner

    learner, _ = make_learner(registry, name, options)
    learner.check_options()
    return learner


def parse_bins(given: Sequence[str] | None) -> int | dict[str, int] | None:
    """Understand what ``--bins`` was given: a number, or some ``column=number``.

    Examples
    --------
    >>> parse_bins(["5"])
    5
    >>> parse_bins(["age=4", "a=b=3"])
    {'age': 4, 'a=b': 3}
    """
    if not given:
        return None
    columns: dict[str, int] = {}
    for text in given:
        column, equals, number = text.rpartition("=")
        try:
            k = int(number)
        except ValueError:
            raise OptionError(f"--bins takes a whole number or COLUMN=NUMBER, not {text!r}") from None
        if equals:
            if column in columns:
                raise OptionError(f"--bins is given twice for column {column!r}")
            columns[column] = k
        elif len(given) > 1:
            raise OptionError("--bins takes one number for all columns or COLUMN=NUMBER for some, not both")
        else:
            return k
    return columns


@contextmanager
def in_terms_of_flags() -> Iterator[None]:
    """Name options in an error as they are written on the command line: ``--max-cond-vars``, ``--jobs``."""
    try:
        yield
    except OptionError as error:
        told = re.sub(r"(?:^|(?<=; ))\w+", lambda first: FLAGS.get(first[0], first[0]), str(error))
        told = re.sub(r"has no option '(\w+)'", lambda no: f"has no option {FLAGS.get(no[1], no[1])}", told)
        raise OptionError(re.sub(r"\(learn_(pc|mb)\)", r"(\1)", told)) from None
