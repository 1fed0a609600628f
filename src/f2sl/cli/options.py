"""The options of learners on the command line.

They come from the catalogue of options (:mod:`f2sl._options`). A command that runs learners offers the
options meant for it and passes on those that the user gives. It refuses options that the chosen learner
does not take. Defaults are the learner's own.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl._notes import Say, Use, note_of
from f2sl._options import CATALOGUE, PURPOSES, READING_OPTIONS
from f2sl.cli.knowledge import PARAMETERS, parse_knowledge
from f2sl.errors import OptionError

if TYPE_CHECKING:
    from f2sl._registry import Registry

LEARNING = "Learning"
READING = "Reading the table"
OUTPUT = "Output"

FLAGS = {
    **{name: option.flag for name, option in CATALOGUE.items() if option.commands or name == "n_jobs"},
    **{
        name: f"--{name.replace('_', '-')}"
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
            "convention",
        )
    },
    "header": "--no-header",
    "aliases": "--merge-aliases",
    "memory_limit": "--memory-limit",
    "evidence": "--given",
    "do": "--do",
}
"""Flag of each parameter that a user can set."""

WITHOUT_VALUE = ("header", "aliases")
"""Options whose flags say the value: ``--no-header`` and ``--merge-aliases``."""

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV (any delimiter), Parquet, Arrow, JSON lines, Excel, Stata, SPSS or SAS file, compressed or "
        "not, or a folder of files; - reads the standard input.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Number of cores to use; all by default.", rich_help_panel=LEARNING),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        metavar="K or COLUMN=K",
        help="Cut all numbers, or one column, into K intervals; K may be auto. Repeat for more columns.",
        rich_help_panel=READING,
    ),
]
Binning = Annotated[
    str,
    typer.Option(
        metavar="quantile|width",
        help="Cut into intervals with equally many rows (quantile) or of equal width (width).",
        rich_help_panel=READING,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="available|state|drop|error",
        help="Missing values: use for each question the rows that have its columns (available), treat "
        "missing as a state (state), drop incomplete rows (drop), or stop with an error (error).",
        rich_help_panel=READING,
    ),
]
Kinds = Annotated[
    str,
    typer.Option(
        metavar="auto|states|number",
        help="Read columns as states, as numbers (number), or as their values suggest (auto).",
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
        help="Column with the number of rows that each row stands for.",
        rich_help_panel=READING,
    ),
]
Transform = Annotated[
    str,
    typer.Option(
        metavar="auto|ranks|none",
        help="Learn from normal scores of the ranks of numbers (ranks), from their values (none), or from "
        "what explains more (auto).",
        rich_help_panel=READING,
    ),
]
MergeAliases = Annotated[
    bool,
    typer.Option(
        "--merge-aliases",
        help="Merge columns that determine each other one to one: learn from the first, and draw the others "
        "beside it.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of a CSV file, such as latin-1; UTF-8 by default.", rich_help_panel=READING),
]
Comment = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Skip lines of a CSV file that begin with this text.", rich_help_panel=READING
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="VALUE",
        help="Read this value, too, as missing; -999 also matches -999.0. Repeat for more.",
        rich_help_panel=READING,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="auto|memory|stream|dask",
        help="Hold the table in memory (memory), read it in blocks (stream), use a Dask cluster (dask), or "
        "choose by its size (auto).",
        rich_help_panel=READING,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Largest amount of memory to use, such as 256MB; half of the free memory by default.",
        rich_help_panel=READING,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of the Dask scheduler, such as tcp://HOST:8786; by default f2sl starts workers on "
        "this machine.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Delimiter of a CSV file: a character, tab or space; detected by default.",
        rich_help_panel=READING,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="Read the first line of a CSV file as data; columns are named x0, x1, ...",
        rich_help_panel=READING,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Leave out this column, such as an identifier. Repeat for more columns.",
        rich_help_panel=READING,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="Keep this column as it is even if it looks like an identifier. Repeat for more columns.",
        rich_help_panel=READING,
    ),
]
DateParts = Annotated[
    list[str] | None,
    typer.Option(
        "--date-parts",
        metavar="COLUMN",
        help="Read this column of dates as year (a number), month and weekday (states). Repeat for more.",
        rich_help_panel=READING,
    ),
]
Algorithm = Annotated[
    str,
    typer.Option("--algorithm", "-a", metavar="NAME", help="Algorithm.", rich_help_panel=LEARNING),
]


def out_file(help_text: str) -> Any:
    """Return the option ``--out`` of a command that writes a file."""
    return typer.Option("--out", "-o", metavar="FILE", help=help_text, rich_help_panel=OUTPUT)


Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Save a picture of the graph: .svg, or with Matplotlib .png or .pdf.",
        rich_help_panel=OUTPUT,
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="FILE or NETWORK",
        help="Compare with the true graph: a file of a graph or network, or the name of a bundled network.",
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
        "--quiet", "-q", help="Print only errors (and the output of --json).", rich_help_panel=OUTPUT
    ),
]
Silent = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.", rich_help_panel=OUTPUT)]
"""The same for commands without ``--json``."""


_LEARNER = "learner_"


def with_learner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``options`` of a command by the options of the catalogue meant for it.

    The command receives a dictionary of the options that the user gave. Options about knowledge become one
    entry. If the command has an option of the same name, the learner's begins with ``--learner-``.
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
    """Replace one parameter of a command by several, and make its value from theirs.

    They follow the parameter `after`, or all others; required parameters come first.
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
    """Return the options of a learner that differ from its defaults, as command-line flags.

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
    """Return options as command-line flags, quoted for a shell.

    Examples
    --------
    >>> as_written({"alpha": 0.05, "skeleton_only": True, "pc_options": {"k": 3}})
    '--alpha 0.05 --skeleton-only --k 3'
    >>> as_written({"kinds": {"a b": "number"}, "bins": {"x": 3}, "header": False, "na": ["-9", ";"]})
    "--number 'a b' --bins x=3 --no-header --na -9 --na ';'"
    """
    own = {name: value for name, value in options.items() if name != "pc_options"}
    inner = options.get("pc_options") or {}
    return " ".join(in_shell(Use(name, value)) for name, value in (own | inner).items())


def create_learner(registry: Registry, name: str, options: dict[str, Any]) -> Any:
    """Create a learner by name, with checked options.

    Raises
    ------
    OptionError
        If the learner is unknown, or does not take one of the options.
    """
    from f2sl.api import make_learner

    learner, _ = make_learner(registry, name, options)
    return learner


def parse_bins(given: Sequence[str] | None) -> dict[str, int | str] | None:
    """Parse the values of ``--bins``: a number or auto for all columns (``*``), or ``column=number``.

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


def in_shell(part: Use | Say) -> str:
    """Return an option of a message as the command line writes it.

    Examples
    --------
    >>> parts = Use("force", True), Use("kinds", {"x": "number"}), Use("bins", {"a b": 4}), Use("n_jobs")
    >>> "; ".join(map(in_shell, parts))
    "--force; --number x; --bins 'a b=4'; --jobs"
    """
    if isinstance(part, Say):
        return part.shell
    name, value = part.option, part.value
    if name == "knowledge" and value is None:
        return "prior knowledge"  # which may come from any of several flags
    flag = FLAGS.get(name, name)
    if value is None or value is ... or value is True or part.is_long or name in WITHOUT_VALUE:
        return flag
    if name == "kinds" and isinstance(value, dict):
        return " ".join(f"--{kind} {shlex.quote(column)}" for column, kind in value.items())
    if isinstance(value, dict):
        value = [str(k) if column == "*" else f"{column}={k}" for column, k in value.items()]
    values = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{flag} {shlex.quote(str(one))}" for one in values)


def texts(notes: Iterable[str]) -> list[str]:
    """Return the texts of notes, with options as flags."""
    return [note_of(note).written(in_shell) for note in notes]


def records(notes: Iterable[str]) -> list[dict[str, Any]]:
    """Return notes as plain data for ``--json``, with options as flags in their texts."""
    return [note_of(note).as_dict(in_shell) for note in notes]
