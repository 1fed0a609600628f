"""The options of learners on the command line.

They come from the one catalogue of options (:mod:`f2sl._options`). A command that runs learners offers those
meant for it, hands on those that were given, and refuses what the learner chosen does not take; the defaults
stay the learner's own.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl._options import CATALOGUE, PURPOSES, READING_OPTIONS
from f2sl.cli.knowledge import PARAMETERS, parse_knowledge
from f2sl.errors import DataError, FileError, GraphError, OptionError

if TYPE_CHECKING:
    from f2sl._registry import Registry

LEARNING = "Learning"
READING = "Reading the table"
OUTPUT = "Output"

FLAGS = {
    **{name: option.flag for name, option in CATALOGUE.items() if option.commands or name == "n_jobs"},
    **{
        name: f"--{name}"
        for name in (
            *READING_OPTIONS,
            "rows",
            "jobs",
            "replicates",
            "method",
            "resume",
            "out",
            "networks",
            "algorithms",
            "sizes",
            "sets",
        )
    },
    "memory_limit": "--memory-limit",
    "evidence": "--given",
    "do": "--do",
}
"""How each parameter that a user can set is written on the command line."""

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV (any delimiter), Parquet, Arrow, JSON lines, Excel, Stata, SPSS or SAS file, packed or "
        "not, or a folder of files; - for the standard input.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Cores to use; all by default.", rich_help_panel=LEARNING),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        metavar="K or COLUMN=K",
        help="Cut all numbers into K intervals, or this column; K may be auto. Repeat for more columns.",
        rich_help_panel=READING,
    ),
]
Binning = Annotated[
    str,
    typer.Option(
        metavar="quantile|width",
        help="Intervals with equally many rows (quantile) or equally long ones (width).",
        rich_help_panel=READING,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="available|state|drop|error",
        help="Missing values: answer each question from the rows that have its columns (available), make "
        "them a state (state), drop their rows (drop), or refuse them (error).",
        rich_help_panel=READING,
    ),
]
Kinds = Annotated[
    str,
    typer.Option(
        metavar="auto|states|number",
        help="What the columns hold: states, numbers (number), or what they look like (auto).",
        rich_help_panel=READING,
    ),
]
Number = Annotated[
    list[str] | None,
    typer.Option(
        "--number",
        metavar="COLUMN",
        help="Read this column as numbers. Repeat for more.",
        rich_help_panel=READING,
    ),
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--states",
        metavar="COLUMN",
        help="Read this column as states. Repeat for more.",
        rich_help_panel=READING,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says how many rows each row stands for.",
        rich_help_panel=READING,
    ),
]
MergeAliases = Annotated[
    bool | None,
    typer.Option(
        "--merge-aliases/--keep-aliases",
        help="Of columns that determine each other one to one, learn from the first, and draw the others "
        "beside it; by default f2sl-h does, and the others learn from all.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of a CSV, such as latin-1; UTF-8 by default.", rich_help_panel=READING),
]
Comment = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Skip the lines of a CSV that begin with this.", rich_help_panel=READING
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="VALUE",
        help="Values that are missing ones, beside the usual; -999 is also -999.0. Repeat for more.",
        rich_help_panel=READING,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="auto|memory|stream|dask",
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
Algorithm = Annotated[
    str,
    typer.Option("--algorithm", "-a", metavar="NAME", help="See f2sl algorithms.", rich_help_panel=LEARNING),
]


def out_file(help_text: str) -> Any:
    """Make the option ``--out`` of a command that writes a file."""
    return typer.Option("--out", "-o", metavar="FILE", help=help_text, rich_help_panel=OUTPUT)


Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Where to save a picture of the graph: .svg, or with Matplotlib .png or .pdf.",
        rich_help_panel=OUTPUT,
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="FILE or NETWORK",
        help="Compare with the graph in this file (of a network, too), or of a bundled network.",
        rich_help_panel=OUTPUT,
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


_LEARNER = "learner_"


def with_learner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the parameter ``options`` of a command into one option for each of the catalogue meant for it.

    The command receives a dictionary of those that were given. Options about knowledge become one of them.
    Where the command has an option of the same name, that of learners begins with ``--learner-``.
    """
    own = inspect.signature(command).parameters
    learners = [
        inspect.Parameter(
            _LEARNER * (option.name in own) + option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                option.type | None,
                typer.Option(
                    f"--learner-{option.flag[2:]}" if option.name in own else option.flag,
                    help=option.help,
                    parser=option.parser,
                    metavar=option.metavar
                    or "|".join(option.choices)
                    or ("NAME" if option.is_named else None),
                    rich_help_panel=option.purpose,
                ),
            ],
        )
        for names in PURPOSES.values()
        for option in (CATALOGUE[name] for name in names)
        if command.__name__ in option.commands and option.name != "knowledge"  # which has several flags
    ]

    def given(**values: Any) -> dict[str, Any]:
        about_edges = {parameter.name: values.pop(parameter.name) for parameter in PARAMETERS}
        values["knowledge"] = parse_knowledge(**about_edges)
        return {param.removeprefix(_LEARNER): value for param, value in values.items() if value is not None}

    return spread(command, "options", [*learners, *PARAMETERS], given)


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


def told_options(learner: Any) -> str:
    """Return the options of a learner that are not its defaults, as they are written on the command line.

    Examples
    --------
    >>> from f2sl import F2SLc, LocalToGlobal
    >>> told_options(F2SLc(alpha=0.05, skeleton_only=True))
    '--alpha 0.05 --skeleton-only'
    >>> told_options(LocalToGlobal(pc="mrmr", pc_options={"k": 3}))
    '--pc mrmr --k 3'
    """
    defaults = learner.option_defaults()
    changed = {n: v for n, v in learner.get_params().items() if repr(v) != repr(defaults[n])}
    # The others are told elsewhere, or of no interest.
    return as_written({n: v for n, v in changed.items() if n not in ("knowledge", "n_jobs", "verbose")})


def as_written(options: Mapping[str, Any]) -> str:
    """Return options of a learner as they are written on the command line.

    Examples
    --------
    >>> as_written({"alpha": 0.05, "skeleton_only": True, "pc_options": {"k": 3}})
    '--alpha 0.05 --skeleton-only --k 3'
    """
    inner = options.get("pc_options") or {}
    words = []
    for name, value in (
        {name: value for name, value in options.items() if name != "pc_options"} | inner
    ).items():
        written = FLAGS.get(name, f"--{name.replace('_', '-')}")
        words.append(written if isinstance(value, bool) else f"{written} {shlex.quote(str(value))}")
    return " ".join(words)


def create_learner(registry: Registry, name: str, options: dict[str, Any]) -> Any:
    """Make the learner of that name with the options given; their values are checked before it reads.

    Raises
    ------
    OptionError
        If there is no such learner, or it does not take one of the options.
    """
    from f2sl.api import make_learner

    learner, _ = make_learner(registry, name, options)
    return learner


def parse_bins(given: Sequence[str] | None) -> dict[str, int | str] | None:
    """Understand what ``--bins`` was given: a number or auto for all columns (``*``), or ``column=number``.

    Examples
    --------
    >>> parse_bins(["5"])
    {'*': 5}
    >>> parse_bins(["auto", "age=4", "a=b=3"])
    {'*': 'auto', 'age': 4, 'a=b': 3}
    """
    if not given:
        return None
    columns: dict[str, int | str] = {}
    for text in given:
        column, equals, number = text.rpartition("=")
        column = column if equals else "*"
        if number != "auto" and not number.strip("-").isdecimal():
            raise OptionError(f"--bins takes a whole number, auto or COLUMN=NUMBER, not {text!r}")
        if column in columns:
            where = f"column {column!r}" if equals else "all columns"
            raise OptionError(f"--bins is given twice for {where}")
        columns[column] = number if number == "auto" else int(number)
    return columns


@contextmanager
def in_terms_of_flags() -> Iterator[None]:
    """Name options in an error as they are written on the command line: ``--max-cond-vars``, ``--jobs``."""
    try:
        yield
    except OptionError as error:
        # What is known may come from any of several flags.
        told = re.sub(r"(^|; )knowledge: ", r"\1what is known about edges: ", str(error))
        told = re.sub(
            r"(?:^|(?<=; )|(?<=Also, ))\w+\b(?!=\{)", lambda first: FLAGS.get(first[0], first[0]), told
        )
        told = re.sub(r"has no option '(\w+)'", lambda no: f"has no option {FLAGS.get(no[1], no[1])}", told)
        raise OptionError(as_flags(re.sub(r"\(learn_(pc|mb)\)", r"(\1)", told))) from None
    except (DataError, FileError, GraphError) as error:
        told = re.sub(r"(^|Also, )(drop|kinds|bins|weights): ", r"\1--\2: ", str(error))
        raise type(error)(as_flags(told)) from None


_ASSIGNED = re.compile(
    rf"\b({'|'.join([*READING_OPTIONS, 'out'])})=(\"[^\"]*\"|\[[^\]]*\]|\{{[^}}]*\}}|\d+|False|)"
)


def as_flags(text: str) -> str:
    """Write the options that a message names as they are written on the command line.

    Examples
    --------
    >>> as_flags("insist with force=True")
    'insist with --force'
    >>> as_flags('kinds={"x": "number"}, bins=5, bins={"x": 4}, missing="drop", memory=')
    '--number x, --bins 5, --bins x=4, --missing drop, --memory'
    """

    def flag(assigned: re.Match[str]) -> str:
        option, written = assigned.groups()
        value = ast.literal_eval(written) if written else ""
        if option == "header":
            return "--no-header"
        if option == "aliases":
            return f"--{value}-aliases"
        if option == "kinds" and isinstance(value, dict):
            return " ".join(f"--{kind} {shlex.quote(column)}" for column, kind in value.items())
        if isinstance(value, dict):
            value = [f"{column}={number}" for column, number in value.items()]
        values = value if isinstance(value, list) else [value]
        return " ".join(f"--{option} {shlex.quote(str(one)) if one != '' else ''}".rstrip() for one in values)

    told = re.sub(r"\b(\w+)=True\b", lambda on: FLAGS.get(on[1], on[0]), _ASSIGNED.sub(flag, text))
    return told.replace("see to_dag()", "see --dag")
