"""The options of learners on the command line.

``LEARNER_OPTIONS`` is the one table of them: a new learner with a new option needs a line here and nothing
else. A command that runs learners offers those meant for it, hands on those that were given, and refuses what
the learner chosen does not take; the defaults stay the learner's own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl.errors import OptionError

if TYPE_CHECKING:
    from f2sl._registry import Registry

LEARNING = "Learning"
READING = "Reading the table"
OUTPUT = "Output"
LEARN_AND_PC = ("learn", "pc")
ALL_LEARNERS = ("learn", "pc", "mb")


@dataclass(frozen=True)
class LearnerOption:
    """A parameter of some learner, and what the command line says of it."""

    param: str
    type: type
    help: str
    commands: tuple[str, ...] = ("learn",)
    parser: Callable[[str], Any] | None = None
    metavar: str | None = None

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return "--" + self.param.replace("_", "-")


def number_or_word(text: str) -> float | str:
    """Understand a number; what is none may be a word that the learner knows.

    Examples
    --------
    >>> number_or_word("0.05"), number_or_word("auto")
    (0.05, 'auto')
    """
    try:
        return float(text)
    except ValueError:
        return text


LEARNER_OPTIONS = (
    LearnerOption(
        "delta",
        str,
        "Pairs related no more than this are taken for unrelated; auto: those that are not significant.",
        LEARN_AND_PC,
        number_or_word,
        "NUMBER or auto",
    ),
    LearnerOption(
        "relevance",
        str,
        "How the tests of all pairs allow for their number: fdr or bonferroni.",
        LEARN_AND_PC,
    ),
    LearnerOption("alpha", float, "Level of significance of the independence tests.", ALL_LEARNERS),
    LearnerOption(
        "max_cond_vars", int, "Most variables in a separating set that is looked for.", ALL_LEARNERS
    ),
    LearnerOption("clean_up", int, "Most other candidates by which a candidate may still go.", LEARN_AND_PC),
    LearnerOption("max_left_out", int, "Most variables left out of a blanket to separate spouses."),
    LearnerOption(
        "symmetry",
        str,
        "Both ends of a link must name each other (and), or one (learn: or; pc and mb: none).",
        ALL_LEARNERS,
    ),
    LearnerOption(
        "ties", str, "A link that is as well explained by another variable: drop or keep it.", ALL_LEARNERS
    ),
    LearnerOption(
        "measure",
        str,
        "What relates two variables: su or mi of states; r2, correlation or mi of numbers.",
        LEARN_AND_PC,
    ),
    LearnerOption("ci_test", str, "Statistic of the independence tests: g2, x2, fisher-z.", ALL_LEARNERS),
    LearnerOption("pc", str, "The learner of each variable's neighbours: see f2sl algorithms."),
    LearnerOption("orient", str, "How edges are oriented: ci (tests) or score."),
    LearnerOption("skeleton_only", bool, "Find which variables are linked, and orient no edge."),
    LearnerOption(
        "score",
        str,
        "What is to be best: bdeu or bic; by hill climbing also k2, aic, bge, bic-g.",
        ALL_LEARNERS,
    ),
    LearnerOption("equivalent_sample_size", float, "Weight of the prior of BDeu.", ALL_LEARNERS),
    LearnerOption("max_exact", int, "Most variables whose best network is found exactly.", ALL_LEARNERS),
    LearnerOption("force", bool, "Search more variables than that exactly, if there is enough memory."),
    LearnerOption("max_indegree", int, "Most parents of a variable in a best network.", ALL_LEARNERS),
    LearnerOption("order", str, "Which candidates come first: by strength, or by name.", ALL_LEARNERS),
    LearnerOption(
        "time_limit",
        float,
        "Seconds after which to end with what is done, said to be incomplete.",
        ALL_LEARNERS,
    ),
    LearnerOption("start", str, "The variable that the graph grows from; one is drawn by default."),
    LearnerOption("seed", int, "What is drawn at random is drawn by this: the start, or a training."),
    LearnerOption("edge_cost", float, "What each edge takes from the log score."),
    LearnerOption("max_parents", int, "Most parents of a variable."),
    LearnerOption("search", str, "How the best DAG is looked for: orders, or hill-climbing."),
    LearnerOption("tabu_length", int, "How many of the last graphs hill climbing may not return to."),
    LearnerOption("max_stall", int, "Steps without a new best after which hill climbing ends."),
    LearnerOption("k", int, "How many variables to choose.", LEARN_AND_PC),
    LearnerOption("lambda1", float, "Price of each unit of weight, in units of squared error."),
    LearnerOption("constraint", str, "What keeps cycles out: expm (NOTEARS) or logdet (DAGMA, faster)."),
    LearnerOption("max_iter", int, "Most steps of the constraint's multiplier."),
    LearnerOption("h_tol", float, "The constraint is met where it is at most this."),
    LearnerOption("rho_max", float, "Most weight of the constraint (expm)."),
    LearnerOption("w_threshold", float, "Smaller weights are no edges (NOTEARS)."),
    LearnerOption("standardize", bool, "Divide columns by their deviations, so that units decide nothing."),
    LearnerOption("graph_threshold", float, "Smaller weights are no edges (DAG-GNN)."),
    LearnerOption("epochs", int, "How often all rows are gone through between two changes of the penalty."),
    LearnerOption("batch_size", int, "Rows for each step of the training."),
    LearnerOption("learning_rate", float, "Size of the steps of the training."),
    LearnerOption("hidden", int, "Hidden units of a neural network."),
    LearnerOption("tau", float, "Weight of the sum of all absolute weights: with more, fewer edges."),
)

FLAGS = {
    **{option.param: option.flag for option in LEARNER_OPTIONS},
    "n_jobs": "--jobs",
    "bins": "--bins",
    "binning": "--binning",
    "missing": "--missing",
    "kind": "--kind",
    "engine": "--engine",
    "memory": "--memory",
    "scheduler": "--scheduler",
    "delimiter": "--delimiter",
    "rows": "--rows",
    "seed": "--seed",
    "jobs": "--jobs",
    "networks": "--networks",
    "algorithms": "--algorithms",
    "sizes": "--sizes",
    "sets": "--sets",
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
        help="Missing values: refuse them (error), make them a state (state), or drop their rows (drop).",
        rich_help_panel=READING,
    ),
]
Kind = Annotated[
    str,
    typer.Option(
        help="What the columns hold: states (discrete), numbers (gaussian), or what they look like (auto).",
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
    """Turn the parameter ``options`` of a command into one option for each line of the table meant for it.

    The command receives a dictionary of those that were given.
    """
    table = [option for option in LEARNER_OPTIONS if command.__name__ in option.commands]
    learners = [
        inspect.Parameter(
            option.param,
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
        for option in table
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
    taken = set(registry.load(name).option_defaults())
    own = {param: value for param, value in options.items() if param in taken}
    others = {param: value for param, value in options.items() if param not in taken}
    if "pc_options" in taken and others:
        # What is not the learner's own may be meant for the learner of neighbours that it is made of.
        from f2sl.local.base import LOCAL

        inner = set(LOCAL.load(registry.create(name, own).pc).option_defaults())
        own["pc_options"] = {param: others.pop(param) for param in list(others) if param in inner}
        taken |= inner
    if others:
        strange = " and no ".join(FLAGS.get(param, param) for param in others)
        raise OptionError(f"{name} takes no {strange}; it takes {', '.join(_flags(taken))}")
    learner = registry.create(name, own)
    learner.check_options()
    return learner


def _flags(params: Iterable[str]) -> list[str]:
    """Return the flags of those parameters that have one, in the order of the table."""
    wanted = set(params)
    return [flag for param, flag in FLAGS.items() if param in wanted]


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
    """Name an option in an error as it is written on the command line: ``--max-cond-vars``, ``--jobs``."""
    try:
        yield
    except OptionError as error:
        first = re.match(r"\w+", str(error))
        if first is None or first[0] not in FLAGS:
            raise
        raise OptionError(FLAGS[first[0]] + str(error)[first.end() :]) from None
