"""The options of learners on the command line, and the knowledge about edges that is given by several.

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

from f2sl._notes import Note, Say, Use, note_of
from f2sl._options import CATALOGUE, Option, anything, checked, flag_of, problems_with, refuse
from f2sl._reading import READING
from f2sl.errors import OptionError

if TYPE_CHECKING:
    from f2sl._registry import Registry
    from f2sl.knowledge import Knowledge


POSTPONED: list[Note] = []
"""What is wrong with the call so far. Parsing goes on, so that one message names all of it."""

TYPED: dict[str, str] = {}
"""Options that were given by a synonym, each with this synonym, so that messages name what was typed."""

LEARNING = "Learning"
OUTPUT = "Output"

_OF_COMMANDS = ("rows", "jobs", "replicates", "method", "resume", "out", "convention")
FLAGS = {
    **{one.name: one.flag for one in CATALOGUE.values() if one.commands or one.name == "n_jobs"},
    **{one.name: one.flag for one in READING.values()},
    **{name: flag_of(name) for name in _OF_COMMANDS},
    "evidence": "--given",
    "do": "--do",
}
"""Flag of each parameter that a user can set; commands of other packages add theirs."""

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV (any delimiter), Parquet, Arrow, JSON lines, Excel, Stata, SPSS or SAS file, compressed or "
        "not, or a folder of files; - reads the standard input.",
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


def postponed(parse: Callable[..., Any], *arguments: Any, **values: Any) -> Any:
    """Return what `parse` does; if it raises an error, keep its problems for later and return None."""
    try:
        return parse(*arguments, **values)
    except OptionError as error:
        POSTPONED.extend(error.problems)
        return None


def refuse_postponed(*more: Note) -> None:
    """Raise one error about all that is wrong so far, if anything is."""
    problems = [*POSTPONED, *more]
    POSTPONED.clear()
    refuse(problems)


def postpone_type(name: str, flag: str, value: Any, kind: type) -> None:
    """Keep the problem of a value that is no number: in the words of the option's own check, if it has one.

    Examples
    --------
    >>> postpone_type("time_limit", "--time-limit", "soon", float)
    >>> postpone_type("rows", "--rows", "ten", int)
    >>> refuse_postponed()
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: time_limit must be a number from 0.001 to 1e+09, not 'soon'; --rows takes a whole number, not 'ten'
    """  # noqa: E501
    option = CATALOGUE.get(name)
    found = () if option is None else problems_with(option.check, option.name, value)
    number = "a whole number" if kind is int else "a number"
    POSTPONED.extend(found or [Note("option", f"{flag} takes {number}, not {value!r}")])


def flag(option: Option, name: str = "") -> Any:
    """Return the flag of an option, or one of another name, for Typer."""
    metavar = None if option.switch else option.metavar or "|".join(option.choices) or None
    return typer.Option(
        flag_of(name) if name else option.flag,
        *(["-j"] if option.name == "n_jobs" else []),
        help=f"{option.help} Repeat for more." if option.repeats else option.help,
        parser=option.parser,
        metavar=metavar,
        rich_help_panel=option.purpose,
    )


def of_reading(name: str) -> Any:
    """Return the flag of an option of reading, for commands that have only some of them."""
    return flag(READING[name])


def parameter(option: Option, name: str = "", default: Any = None) -> inspect.Parameter:
    """Return the parameter of a command that an option is given by."""
    default = False if option.switch else default
    kind = option.type | None if default is None else option.type
    keyword, annotation = inspect.Parameter.KEYWORD_ONLY, Annotated[kind, flag(option, name)]
    return inspect.Parameter(name or option.name, keyword, default=default, annotation=annotation)


def with_learner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``options`` of a command by the options of the catalogue meant for it.

    The command receives a dictionary of the options that the user gave. Options about knowledge become one
    entry. If the command has an option of the same name, the learner's begins with ``--learner-``.
    """
    own = inspect.signature(command).parameters
    learners = [
        parameter(option, _LEARNER + option.name if option.name in own else "")
        for option in CATALOGUE.values()
        if command.__name__ in option.commands and option.name != "knowledge"  # which has several flags
    ]

    def given(**values: Any) -> dict[str, Any]:
        about_edges = {one.name: values.pop(one.name) for one in OF_KNOWLEDGE}
        values["knowledge"] = postponed(parse_knowledge, **about_edges)
        own = {name.removeprefix(_LEARNER): value for name, value in values.items() if value is not None}
        return {TYPED.get(name, name): value for name, value in own.items()}

    return spread(command, "options", [*learners, *map(parameter, OF_KNOWLEDGE)], given)


def spread(
    command: Callable[..., None],
    name: str,
    parameters: Sequence[inspect.Parameter],
    make: Callable[..., Any],
    after: str | None = None,
) -> Callable[..., None]:
    """Replace one parameter of a command by several, and make its value from theirs.

    They follow the parameter `after`, or all others; required parameters come first. A command without
    learners refuses here what is wrong; others do when they create the learner (:func:`create_learner`).
    """
    signature = inspect.signature(command, eval_str=True)
    whole = [p for p in signature.parameters.values() if p.name != name]
    location = len(whole) if after is None else [p.name for p in whole].index(after) + 1
    whole[location:location] = parameters
    whole = sorted((p.replace(kind=p.KEYWORD_ONLY) for p in whole), key=lambda p: p.default is not p.empty)

    @wraps(command)
    def run(**values: Any) -> None:
        made = make(**{parameter.name: values.pop(parameter.name) for parameter in parameters})
        if name == "reading" and "options" not in signature.parameters:
            refuse_postponed(*(checked(READING, made.given)[1] if POSTPONED else ()))
        command(**values, **{name: made})

    run.__signature__ = signature.replace(parameters=whole)  # type: ignore[attr-defined]
    run.spread = name  # type: ignore[attr-defined]
    return run


def describe_options(learner: Any) -> str:
    """Return the options of a learner that differ from its defaults, as command-line flags.

    Examples
    --------
    >>> from f2sl import F2SLc, LocalToGlobal
    >>> describe_options(F2SLc(alpha=0.05, skeleton_only=True))
    '--alpha 0.05 --skeleton-only'
    >>> describe_options(LocalToGlobal(pc="mrmr", pc_options={"k": 3}))
    '--pc mrmr --k 3'
    """
    defaults = learner.option_defaults()
    changed = {n: v for n, v in learner.get_params().items() if repr(v) != repr(defaults[n])}
    # The others are reported elsewhere, or of no interest.
    return as_written({n: v for n, v in changed.items() if n not in ("knowledge", "n_jobs", "verbose")})


def as_written(options: Mapping[str, Any]) -> str:
    """Return options as command-line flags, quoted for a shell.

    Examples
    --------
    >>> as_written({"alpha": 0.05, "skeleton_only": True, "pc_options": {"k": 3}})
    '--alpha 0.05 --skeleton-only --k 3'
    >>> as_written({"kinds": {"a b": "continuous"}, "bins": {"x": 3}, "header": False, "na": ["-9", ";"]})
    "--continuous 'a b' --bins x=3 --no-header --na -9 --na ';'"
    """
    own = {name: value for name, value in options.items() if name != "pc_options"}
    inner = options.get("pc_options") or {}
    return " ".join(in_shell(Use(name, value)) for name, value in (own | inner).items())


def create_learner(
    registry: Registry, name: str, options: Mapping[str, Any], reading: Mapping[str, Any] | None = None
) -> tuple[Any, str]:
    """Create a learner by name; return it, and the name under which it is registered.

    One error names all that is wrong with the command: the name, options, their values, and how to read.
    """
    from f2sl.api import make_learner

    try:
        learner, _ = make_learner(registry, name, {**options, **(reading or {})})
    except OptionError as error:
        refuse_postponed(*error.problems)
        raise
    refuse_postponed(*(learner._problems() if POSTPONED else ()))
    return learner, registry.resolve(name)


def in_shell(part: Use | Say) -> str:
    """Return an option of a message as the command line writes it.

    Examples
    --------
    >>> parts = Use("force", True), Use("kinds", {"x": "continuous"}), Use("bins", {"a b": 4}), Use("n_jobs")
    >>> "; ".join(map(in_shell, parts))
    "--force; --continuous x; --bins 'a b=4'; --jobs"
    """
    if isinstance(part, Say):
        return part.shell
    name, value = part.option, part.value
    if name == "knowledge" and value is None:
        return "prior knowledge"  # which may come from any of several flags
    flag = FLAGS.get(name, name)
    is_switch = name in READING and READING[name].switch
    if value is None or value is ... or value is True or part.is_long or is_switch:
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


PANEL = "Knowledge about edges"
KNOWLEDGE_FILE = "File with prior knowledge about edges: TOML, or Tetrad's text format."


_EDGE = '"A -> B"'
OF_KNOWLEDGE = [
    Option(name, anything, purpose=PANEL, repeats=repeats, metavar=metavar).says(text)
    for name, repeats, metavar, text in (
        ("knowledge", False, "FILE", KNOWLEDGE_FILE),
        ("require", True, _EDGE, "Required edge."),
        (
            "forbid",
            True,
            f'{_EDGE} or "A - B"',
            "Forbidden edge, or adjacency (either direction).",
        ),
        (
            "tiers",
            False,
            '"A,B > C > D"',
            "Groups of columns in the order of time; no edge leads from a later to an earlier group.",
        ),
        ("root", True, "COLUMN", "Column without parents."),
        ("leaf", True, "COLUMN", "Column without children."),
    )
]
"""Options by which knowledge is given on the command line."""


def parse_knowledge(
    knowledge: str | None = None,
    require: Sequence[str] | None = None,
    forbid: Sequence[str] | None = None,
    tiers: str | None = None,
    root: Sequence[str] | None = None,
    leaf: Sequence[str] | None = None,
) -> Knowledge | None:
    """Combine the knowledge of a file and of the options; return None if there is neither.

    Examples
    --------
    >>> parse_knowledge(require=["a -> b"], forbid=["c - d"], tiers="a, c > b")
    Knowledge(required=[('a', 'b')], forbidden_adjacencies=[('c', 'd')], tiers=[['a', 'c'], ['b']])
    """
    said = (require, forbid, tiers, root, leaf)
    if knowledge is None and not any(said):
        return None
    from f2sl.knowledge import Knowledge

    problems: list[str] = []

    def edges(flag: str, texts: Iterable[str], mark: str) -> list[tuple[str, str]]:
        found = []
        for text in texts:
            try:
                found.append(_edge(flag, text, mark))
            except OptionError as error:
                problems.extend(error.problems)
        return found

    required = edges("--require", require or (), "->")
    arrows = edges("--forbid", (text for text in forbid or () if "->" in text), "->")
    pairs = edges("--forbid", (text for text in forbid or () if "->" not in text), "-")
    groups = [[name.strip() for name in group.split(",")] for group in (tiers or "").split(">")]
    if tiers and not all(name for group in groups for name in group):
        problems.append(f'--tiers takes names, as in "A,B > C > D", not {tiers!r}')
    elif tiers and len(groups) == 1:
        why = "quote it, because the shell reads > as a file"
        problems.append(f'--tiers takes two groups or more, "A,B > C > D", not {tiers!r}; {why}')
    refuse(problems)
    flags = Knowledge(required, arrows, pairs, groups if tiers else (), roots=root or (), leaves=leaf or ())
    return flags if knowledge is None else Knowledge.load(knowledge) | flags


def _edge(flag: str, text: str, mark: str) -> tuple[str, str]:
    """Parse an edge: two names with a mark between them (with spaces around it if names contain the mark).

    Examples
    --------
    >>> _edge("--forbid", "follow-up - age", "-"), _edge("--forbid", "sex-age", "-")
    (('follow-up', 'age'), ('sex', 'age'))
    """
    spaced = f" {mark} "
    first, _, second = (part.strip() for part in text.partition(spaced if spaced in text else mark))
    several = spaced not in text and text.count(mark) > 1
    if not first or not second or several:
        example = '"A -> B"' if flag == "--require" else '"A -> B" or "A - B"'
        why = f", with spaces around the {mark} between the two names" * several
        if text.endswith("-"):
            why = '; quote it: "A -> B" (the shell reads > as a file)'
        raise OptionError(f"{flag} takes an edge, {example}, not {text!r}{why}")
    return first, second
