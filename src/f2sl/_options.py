"""Options of the learners. Each is declared once, here, with its type, its check and a line of help.

A learner names the options it takes as fields of its class::

    class IAMB(LocalLearner):
        alpha: float = option("alpha")
        max_cond_vars: int | None = option("max_cond_vars", None)

and may give one another default, or another check. The constructor, the docstring's parameters, the checks
and the flags of the command line are made from this (:mod:`f2sl._estimator`, :mod:`f2sl.cli.options`).

A check takes the name and the value of an option. It returns the value in its plain Python type, or raises an
:class:`~f2sl.errors.OptionError` that names the option, what it was given and what it takes.
"""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

from f2sl._notes import Note, Use
from f2sl.errors import OptionError

Check = Callable[[str, Any], Any]


def _number(name: str, value: Any, is_allowed: Callable[[Any], bool], allowed: str) -> float:
    """Check a finite number."""
    plain = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not plain or not is_allowed(value):
        raise OptionError(Use(name), f" must be a number {allowed}, not {value!r}")
    return float(value)


def fraction(name: str, value: Any) -> float:
    """Check a number strictly between 0 and 1, such as a level of significance.

    Examples
    --------
    >>> fraction("alpha", 0.01)
    0.01
    """
    return _number(name, value, lambda number: 0 < number < 1, "between 0 and 1 (both excluded)")


def not_negative(name: str, value: Any) -> float:
    """Check a number that is 0 or more."""
    return _number(name, value, lambda number: number >= 0, "of 0 or more")


def not_negative_or(word: str, name: str, value: Any) -> float | str:
    """Check a number that is 0 or more, or one word in its place.

    Examples
    --------
    >>> not_negative_or("auto", "delta", "auto"), not_negative_or("auto", "delta", 0.05)
    ('auto', 0.05)
    """
    if isinstance(value, str) and value == word:
        return word
    return _number(name, value, lambda number: number >= 0, f"of 0 or more, or {word!r}")


def positive(name: str, value: Any, least: float, most: float) -> float:
    """Check a positive number between two limits."""
    return _number(name, value, lambda number: least <= number <= most, f"from {least:g} to {most:g}")


def whole(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Check a whole number of at least `least` and, if given, at most `most`.

    Examples
    --------
    >>> whole("max_cond_vars", 3)
    3
    """
    good = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
    if not good or (most is not None and int(value) > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise OptionError(Use(name), f" must be a whole number {allowed}, not {value!r}")
    return int(value)


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """Check one of a few words."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise OptionError(Use(name), f" must be one of {', '.join(map(repr, words))}, not {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """Check a yes or no."""
    if not isinstance(value, bool):
        raise OptionError(Use(name), f" must be True or False, not {value!r}")
    return value


def _jobs(name: str, value: Any) -> int:
    from f2sl._threads import resolve_jobs

    return resolve_jobs(value)


def _knowledge(name: str, value: Any) -> Any:
    """Check the type of knowledge about edges; names are checked later, against the table."""
    from f2sl.knowledge import Knowledge

    if not isinstance(value, Knowledge):
        raise OptionError(
            Use(name), f" must be an f2sl.Knowledge (Knowledge.load reads a file), not {value!r}"
        )
    return value


def several(name: str, value: Any) -> tuple[str, ...]:
    """Check a list of names; return them as strings."""
    if isinstance(value, str):
        raise OptionError(Use(name), f" takes a list of names, got the single string {value!r}")
    return tuple(map(str, value))


def anything(name: str, value: Any) -> Any:
    """Return the value unchecked: only who uses it can check it."""
    return value


def any_of(*words: str) -> Check:
    """Return the check of an option that takes one of these words."""
    return partial(choice, known=words)


def unless_none(check: Check) -> Check:
    """Return the check of an option that may also be None."""
    return lambda name, value: None if value is None else check(name, value)


def number_or_word(text: str) -> float | str:
    """Return a text as a number, or unchanged if it is not a number.

    Examples
    --------
    >>> number_or_word("0.05"), number_or_word("auto")
    (0.05, 'auto')
    """
    try:
        return float(text)
    except ValueError:
        return text


LEARN = ("learn", "bootstrap", "why")
LEARN_AND_PC = (*LEARN, "pc")
ALL_COMMANDS = (*LEARN_AND_PC, "mb")


TYPES = {whole: int, _jobs: int, flag: bool, fraction: float, not_negative: float, positive: float}
"""Types of values on the command line by check; all others are strings."""


@dataclass(frozen=True)
class Option:
    """Option of learners or of reading a table, for Python and for the command line.

    Attributes
    ----------
    name : str
        Name, the same everywhere.
    check : callable
        Its check, unless a learner has another.
    default : Any
        Its default, unless a learner has another.
    commands : tuple of str
        The commands of the command line that offer it.
    help, more : str
        One line for the command line, and further text for docstrings.
    optional : bool
        True if None is allowed even where it is not the default.
    purpose : str
        Purpose of the option: a heading of the help.
    repeats : bool
        True if the flag can be repeated for more values.
    switch : (str, Any), optional
        Flag that takes no value, and the value that it stands for.
    parser, metavar
        Parser and placeholder of the command line, where the type is not enough.
    """

    name: str
    check: Check
    default: Any = None
    commands: tuple[str, ...] = LEARN
    help: str = ""
    more: str = ""
    optional: bool = False
    purpose: str = ""
    repeats: bool = False
    switch: tuple[str, Any] | None = None
    parser: Callable[[str], Any] | None = None
    metavar: str | None = None

    def says(self, text: str, more: str = "") -> Option:
        """Return the option with its texts: one line of help, and what docstrings add."""
        return dataclasses.replace(self, help=text, more=more)

    @property
    def type(self) -> Any:
        """Type of the value on the command line."""
        if self.switch:
            return bool
        return list[str] if self.repeats else TYPES.get(getattr(self.check, "func", self.check), str)

    @property
    def choices(self) -> tuple[str, ...]:
        """Words that the option accepts; empty if it accepts other values."""
        return tuple(getattr(self.check, "keywords", {}).get("known", ()))

    @property
    def flag(self) -> str:
        """Flag of the option on the command line."""
        return self.switch[0] if self.switch else flag_of(self.name)

    def documented(self, annotation: object, default: object) -> list[str]:
        """Return the lines on the option in a docstring."""
        text = self.more if self.switch else f"{self.help} {self.more}".rstrip()
        lines = textwrap.wrap(text, 96, break_on_hyphens=False)
        return [f"{self.name} : {annotation}, default {default!r}", *(f"    {line}" for line in lines)]


def flag_of(name: str) -> str:
    """Return the flag of an option on the command line that has no other."""
    return "--jobs" if name == "n_jobs" else "--" + name.replace("_", "-")


_at_least_1 = partial(whole, least=1)
_any_weight = partial(positive, least=1e-9, most=1e9)

_RELEVANCE = (
    Option(
        "delta",
        partial(not_negative_or, "auto"),
        0.05,
        LEARN_AND_PC,
        parser=number_or_word,
        metavar="NUMBER or auto",
    ).says(
        "Relevance threshold: pairs at or below it are treated as unrelated; auto keeps significant pairs.",
        "The measure is symmetrical uncertainty, or the squared correlation of continuous variables. "
        '"auto" keeps the pairs that a test (G2, or Fisher\'s z) finds related at a false discovery rate '
        "of 0.05.",
    ),
    Option("relevance", any_of("fdr", "bonferroni"), "fdr", LEARN_AND_PC).says(
        "Correction for multiple tests when selecting related pairs: fdr or bonferroni.",
        'At level 0.05, "fdr" limits the false discovery rate (Benjamini and Hochberg 1995), "bonferroni" '
        "the probability of any false discovery.",
    ),
    Option("k", _at_least_1, 5, LEARN_AND_PC).says("Number of variables to select."),
    Option("measure", anything, "auto", LEARN_AND_PC, metavar="NAME").says(
        "Measure of how strongly two variables are related.",
        '"su" or "mi" for discrete columns, "r2", "correlation" or "mi" for continuous ones, '
        '"information" for any. The default "auto" is symmetrical uncertainty, the squared correlation, '
        "or information for both.",
    ),
    Option("ties", any_of("drop", "keep"), "drop", ALL_COMMANDS).says(
        "If another variable explains an edge equally well: drop the edge (drop) or keep it (keep).",
        "FCBF drops a variable that is exactly as close to a stronger one as to the target (Yu and Liu "
        "2004), or keeps it (the F2SL paper's strict >). If several networks are best, learners that score "
        "networks take one with the fewest edges at the target (drop) or the most (keep).",
    ),
    Option("clean_up", whole, 0, LEARN_AND_PC).says(
        "Drop a candidate that is clearly independent (p above 0.5) given up to this many other candidates.",
        "0 for no clean-up. F2SL-h cleans up with 2 on tables of up to 800 columns, some of them discrete.",
    ),
)
_TESTS = (
    Option("alpha", fraction, 0.01, ALL_COMMANDS).says("Significance level of the independence tests."),
    Option("ci_test", anything, "auto", ALL_COMMANDS, metavar="NAME").says(
        "Independence test.",
        '"g2" or "x2" for discrete columns, "fisher-z" for continuous ones, "dg" or "cg" for mixed tables. '
        'The default "auto" is G2 for discrete, Fisher\'s z for continuous and dg for mixed tables.',
    ),
    Option("max_cond_vars", whole, 3, ALL_COMMANDS, optional=True).says(
        "Largest conditioning set to try.", "None for no limit other than the number of samples."
    ),
    Option("max_left_out", _at_least_1, 3).says(
        "Largest number of blanket members to leave out when separating spouses."
    ),
)
_EDGES = (
    Option("local", anything, commands=()).says(
        "Learner of each variable's neighbors, with its options, in place of the one that pc names."
    ),
    Option("pc", anything, "fcbf", metavar="NAME").says("Learner of each variable's neighbors."),
    Option("pc_options", anything, commands=()).says(
        "Options of the learner of neighbors.",
        "Options that both learners have take the values of this learner, unless they are given here.",
    ),
    Option("symmetry", any_of("and", "or"), "and", ALL_COMMANDS).says(
        "Keep an edge if both ends find each other (and), or if one end does (or; for pc and mb: none)."
    ),
    Option("orient", any_of("ci", "score"), "ci").says("Orient edges by independence tests (ci) or a score."),
    Option("skeleton_only", flag, False).says("Find the edges, but orient none."),
    Option("start", anything).says("Variable from which the graph grows; drawn at random by default."),
)
_SEARCHES = (
    Option("score", anything, "auto", ALL_COMMANDS, metavar="NAME").says(
        "Score to maximise; learners by best networks take only bdeu and bic.",
        '"bds", "k2" and "aic" for discrete tables, "bge" and "bic-g" for continuous ones, "dg-bic" '
        'and "cg-bic" for mixed ones. The default "auto" is BDeu for discrete tables (F2SL-h: BDs), BGe for '
        "continuous ones (F2SL-h and BOSS: BIC), and dg-bic for mixed ones.",
    ),
    Option("equivalent_sample_size", _any_weight, 10.0, ALL_COMMANDS).says(
        "Weight of the prior of BDeu and BDs, as a number of samples.", "Also known as imaginary sample size."
    ),
    Option("edge_cost", not_negative).says(
        "Penalty on the log score for each edge.",
        "The default is the logarithm of the number of variables, a prior that expects one edge among "
        "the pairs of each variable; twice that for mixed tables, and with more than "
        "2,500 rows more by the root of their ratio.",
    ),
    Option("search", any_of("orders", "hill-climbing"), "orders").says(
        "Search method: over orders of the variables (orders) or hill-climbing."
    ),
    Option("effort", any_of("fast", "normal", "thorough"), "normal").says(
        "Effort of the search: fast, normal or thorough; more effort takes longer.",
        "More effort never gives a worse score.",
    ),
    Option("max_parents", whole, commands=ALL_COMMANDS).says("Largest number of parents of a variable."),
    Option("stability", whole).says(
        "Resampled tables in which a direction must be found again to count as decided; 0 for no check.",
        "By default 8; with more than 100 variables none, and then no direction counts as decided.",
    ),
    Option("order", any_of("strength", "name"), "strength", ALL_COMMANDS).says(
        "Order in which candidates are tried: by strength or by name.",
        "Strength is the gain in score of the edge to the target alone.",
    ),
    Option("max_exact", _at_least_1, 20, ALL_COMMANDS).says(
        "Largest number of variables for an exact search.",
        "Each additional variable doubles time and memory.",
    ),
    Option("force", flag, False).says("Search exactly even above that number, if memory allows."),
    Option("tabu_length", whole, 100).says("Number of recent graphs that hill climbing must not return to."),
    Option("max_stall", _at_least_1, 15).says("Steps without improvement after which hill climbing stops."),
)
_WEIGHTS = (
    Option("lambda1", not_negative, 0.1).says("L1 penalty on weights; a larger value gives fewer edges."),
    Option("constraint", any_of("expm", "logdet"), "expm").says(
        "Acyclicity constraint: expm (NOTEARS) or logdet (DAGMA, faster)."
    ),
    Option("threshold", not_negative, 0.3).says("Smallest absolute weight that counts as an edge."),
    Option("standardize", flag, False).says(
        "Scale columns to unit variance, so that their units do not matter."
    ),
    Option("hidden", _at_least_1, 64).says("Number of hidden units of the neural network."),
    Option("epochs", _at_least_1, 300).says(
        "Passes over the rows between two changes of the penalty.",
        "With thousands of rows a tenth of the default is enough.",
    ),
    Option("batch_size", _at_least_1, 100).says("Number of rows in each training step."),
    Option("learning_rate", _any_weight, 0.003).says(
        "Learning rate of the training (Adam).",
        "It is divided by the decimal logarithm of the penalty as the penalty grows.",
    ),
    Option("tau", not_negative, 0.0).says("L1 penalty on weights; a larger value gives fewer edges."),
    Option("max_iter", _at_least_1, 100).says("Largest number of updates of the constraint's multiplier."),
    Option("h_tol", partial(positive, least=1e-100, most=0.1), 1e-8).says(
        "Tolerance of the acyclicity constraint."
    ),
    Option("rho_max", partial(positive, least=10.0, most=1e100), 1e16).says(
        "Largest penalty weight of the constraint (expm)."
    ),
    Option("random_state", whole, 0).says("Random seed (start variable, moves, training)."),
)
_KNOWLEDGE = (
    Option("knowledge", _knowledge, commands=ALL_COMMANDS).says(
        "Prior knowledge about edges: an f2sl.Knowledge.", "All learned edges obey it."
    ),
)
_LEARNING = (
    Option("time_limit", partial(positive, least=1e-3, most=1e9), commands=ALL_COMMANDS).says(
        "Stop after this many seconds and return the partial result, marked as incomplete."
    ),
    Option("n_jobs", _jobs, commands=()).says(
        "Number of threads; all cores by default.", "The result does not depend on it."
    ),
    Option("verbose", flag, False, ()).says("Show progress on the terminal."),
)

PURPOSES = {
    "Relevance of pairs": _RELEVANCE,
    "Independence tests": _TESTS,
    "Edges and directions": _EDGES,
    "Scores and searches": _SEARCHES,
    "Weights and training": _WEIGHTS,
    "Knowledge of edges": _KNOWLEDGE,
    "Learning": _LEARNING,
}
"""Options by purpose: a heading of the help."""

CATALOGUE = {
    option.name: dataclasses.replace(option, purpose=purpose)
    for purpose, options in PURPOSES.items()
    for option in options
}
"""All options by name, in the order in which signatures and the command line list them."""

_USUAL: Any = object()


def option(name: str, default: Any = _USUAL, *, check: Check | None = None) -> Any:
    """Declare an option of a learner as a field of its class.

    Parameters
    ----------
    name : str
        Name in the catalogue. A learner from outside the package may have an option of its own, which is then
        not on the command line.
    default, check
        By default those of the catalogue. None is allowed if it is the default.
    """
    known = CATALOGUE.get(name) or Option(name, anything)
    default = known.default if default is _USUAL else default
    how = check or known.check
    if default is None or known.optional:
        how = unless_none(how)
    return dataclasses.field(default=default, kw_only=True, metadata={"check": how})


def problems_with(check: Callable[..., object], *arguments: Any) -> tuple[Note, ...]:
    """Return the problems that a check finds."""
    try:
        check(*arguments)
    except OptionError as error:
        return error.problems
    return ()


def checked(known: Mapping[str, Option], asked: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """Check options; return their values, and all problems."""
    found: dict[str, Any] = {}
    problems: list[Note] = []
    for name, value in asked.items():
        try:
            found[name] = known[name].check(name, value)
        except OptionError as error:
            problems += error.problems
    return found, problems


def refuse(problems: Iterable[str]) -> None:
    """Raise one error that lists all distinct problems, if there are any."""
    found = list(dict.fromkeys(problems))
    if found:
        raise OptionError.of(found)
