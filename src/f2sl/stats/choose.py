"""Tests, scores and measures for a kind of data, by the names in a learner's options.

An option is a registered name (:mod:`f2sl.stats.registries`), an object, or ``"auto"``, which means the first
name registered for the kind of columns at hand. Listing names loads no compiled code; the functions that
create objects do.

>>> [resolve_option("ci_test", "auto", kind) for kind in ("discrete", "continuous", "mixed")]
['g2', 'fisher-z', 'dg']
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from f2sl._constants import AUTO
from f2sl._notes import Use
from f2sl._registry import Entry, Registry, what_is_wrong
from f2sl._synonyms import answer
from f2sl.constraints import Constraints
from f2sl.data.column import ALL_KINDS, CONTINUOUS, DISCRETE, MIXED, wrong_kinds
from f2sl.data.engines import Engine
from f2sl.errors import OptionError, unknown_name
from f2sl.stats.answers import IndependenceTest
from f2sl.stats.measures.base import Measure, PairSearch, WalkOverPairs
from f2sl.stats.registries import CI_TESTS, MEASURES, SCORES
from f2sl.stats.scores.base import FamilyScores, Score
from f2sl.stats.tests.base import CITest

if TYPE_CHECKING:
    from f2sl.stats.scores.sets import SetScores

RELEVANCE_LEVEL = 0.05
"""False discovery rate among the significant pairs."""

REGISTRIES: Mapping[str, Registry] = {"ci_test": CI_TESTS, "score": SCORES, "measure": MEASURES}
"""Registry of each option."""

BASES: Mapping[str, type[CITest | Score | Measure]] = {"ci_test": CITest, "score": Score, "measure": Measure}
"""Base class of the objects of each option."""


def kind_of_engine(engine: Engine) -> str:
    """Return the kind of an engine's columns, "mixed" if they are of both."""
    if engine.moments is None:
        return DISCRETE
    return CONTINUOUS if engine.counts is None else MIXED


def choices(option: str, kind: str | None = None) -> list[str]:
    """List all names that an option may have, those for states first; or those for one kind of columns.

    Examples
    --------
    >>> choices("ci_test"), choices("ci_test", "continuous")
    (['auto', 'g2', 'x2', 'fisher-z', 'dg', 'cg'], ['auto', 'fisher-z'])
    """
    kinds = ALL_KINDS if kind is None else (kind,)
    names = [entry.name for kind in kinds for entry in REGISTRIES[option] if kind in _kinds(entry)]
    return list(dict.fromkeys([AUTO, *names]))


def set_scores() -> list[str]:
    """List the scores that are differences of set values, which the searches for best networks need.

    Examples
    --------
    >>> set_scores()
    ['bdeu', 'bic']
    """
    return [entry.name for entry in SCORES if entry.fact("sets") or hasattr(entry.location, "set_formula")]


def _kinds(entry: Entry) -> tuple[str, ...]:
    kinds: tuple[str, ...] = entry.fact("kinds") or entry.load().kinds
    return kinds


def check_choice(option: str, value: Any, names: list[str] | None = None) -> Any:
    """Check a name, or an object in its place; return it.

    Examples
    --------
    >>> check_choice("score", "bdue")
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: score must be one of 'auto', 'bdeu', 'bds', 'k2', 'bic', 'aic', 'bge', 'bic-g', 'dg-bic', 'cg-bic', not 'bdue'
    """  # noqa: E501
    registry = REGISTRIES[option]
    if isinstance(value, str):
        if value == AUTO and not names:
            return value
        if registry.resolve(value) in (names or registry):
            return value
    if isinstance(value, str) or value is None or isinstance(value, (bool, int, float)):
        known = names or choices(option)
        hint = answer(registry.noun, value)
        must = f" must be one of {', '.join(map(repr, known))}, not {value!r}"
        raise OptionError(Use(option), must, *(["; ", hint] if hint else []))
    if isinstance(value, type):
        is_class = f": {value.__name__} is a class; pass an object, {value.__name__}()"
        raise OptionError(Use(option), is_class)
    message = what_is_wrong(type(value), BASES[option])
    message = message or wrong_kinds(f"{type(value).__name__}.kinds", value.kinds)
    if message:
        raise OptionError(Use(option), ": ", message)
    return value


def check_set_score(option: str, value: Any) -> Any:
    """Check a score that searches for best networks can take, by name or as an object; return it."""
    return check_choice(option, value, set_scores())


def resolve_option(option: str, value: Any, kind: str) -> Any:
    """Return the meaning of an option for this kind of columns; raise an error if it does not apply.

    Examples
    --------
    >>> resolve_option("score", "bdeu", "continuous")
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: score="bdeu" is for discrete columns, but the table is continuous; use "auto", "bge" or "bic-g"
    """  # noqa: E501
    check_choice(option, value)
    if isinstance(value, str) and value == AUTO:
        return next(entry.name for entry in REGISTRIES[option].registered() if kind in _kinds(entry))
    if isinstance(value, str):
        value = REGISTRIES[option].resolve(value)
        kinds = _kinds(REGISTRIES[option][value])
    else:
        kinds = value.kinds
    if kind in kinds:
        return value
    said = [f'"{name}"' for name in choices(option, kind)]
    raise OptionError(
        Use(option, value),
        f" is for {' and '.join(kinds)} columns, but the table is {kind}; "
        f"use {', '.join(said[:-1])} or {said[-1]}",
    )


def resolve_auto(options: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Replace "auto" in the options of a learner that depend on the kind of columns.

    Examples
    --------
    >>> resolve_auto({"alpha": 0.01, "ci_test": "auto"}, "continuous")
    {'alpha': 0.01, 'ci_test': 'fisher-z'}
    """
    return {
        name: resolve_option(name, value, kind) if name in REGISTRIES else value
        for name, value in options.items()
    }


def measure_unit(measure: str | Measure) -> str:
    """Return the name of a measure's values.

    Examples
    --------
    >>> measure_unit("su"), measure_unit("auto")
    ('SU', 'strength')
    """
    if isinstance(measure, Measure):
        return measure.unit
    return "strength" if measure == AUTO else str(MEASURES.load(measure).unit)


def made(option: str, value: Any, engine: Engine, **options: Any) -> Any:
    """Return the test, score or measure that an option stands for on an engine's kind of data.

    If it is given by name, its class receives those of `options` that it accepts.
    """
    chosen = resolve_option(option, value, kind_of_engine(engine))
    if not isinstance(chosen, str):
        return chosen
    own = REGISTRIES[option].load(chosen)
    taken = _parameters(own)
    return own(**{name: given for name, given in options.items() if name in taken})


def lacks_prior(score: Any) -> bool:
    """Return whether a score has no prior whose weight a learner can set; an object has its own.

    Examples
    --------
    >>> [lacks_prior(score) for score in ("auto", "bds", "bic")]
    [False, False, True]
    """
    if not isinstance(score, str):
        return True
    return score in SCORES and "equivalent_sample_size" not in _parameters(SCORES.load(score))


WITHOUT_PRIOR: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("score", lacks_prior, ("equivalent_sample_size",)),
)
"""Options that have no effect beside a score without a prior; a field of learners with scores."""


@cache
def _parameters(made: Any) -> frozenset[str]:
    """Return the names of a class's options."""
    return frozenset(signature(made).parameters)


def make_test(
    engine: Engine,
    alpha: float,
    ci_test: str | CITest = AUTO,
    without_freedom: str = "independent",
    samples_per_cell: float | None = None,
) -> IndependenceTest:
    """Return the independence test of that name on an engine's data.

    `without_freedom` is the answer for tables without degrees of freedom, `samples_per_cell` the number of
    samples that tables need. Tests on correlations are inconclusive if no residual variance is left.
    """
    test: CITest = made("ci_test", ci_test, engine)
    return test.bind(engine, alpha, without_freedom=without_freedom, samples_per_cell=samples_per_cell)


def make_score(
    engine: Engine, score: str | Score = AUTO, equivalent_sample_size: float = 10.0
) -> FamilyScores:
    """Create the score of families of that name on an engine's data; the sample size is that of the prior."""
    chosen: Score = made("score", score, engine, equivalent_sample_size=equivalent_sample_size)
    return chosen.bind(engine)


def make_set_scores(
    engine: Engine, score: str | Score = "bdeu", equivalent_sample_size: float = 10.0
) -> SetScores:
    """Return the scores of sets of variables of that name; the sample size is that of the prior."""
    from f2sl.stats.scores.sets import SetScores

    if isinstance(score, str) and SCORES.resolve(score) not in set_scores():
        raise OptionError(unknown_name("score", score, set_scores()))
    chosen = made("score", score, engine, equivalent_sample_size=equivalent_sample_size)
    if not hasattr(chosen, "set_formula"):
        raise OptionError(Use("score"), f": {type(chosen).__name__} has no method set_formula")
    counts = engine.counts
    assert counts is not None  # what is not for states was refused above
    return SetScores(counts, chosen)


def related_pairs(
    engine: Engine, threshold: float, measure: str | Measure = AUTO, rules: Constraints | None = None
) -> PairSearch:
    """Return the search for pairs whose measure exceeds a threshold, with the arguments of `search_pairs`.

    Pairs that the rules forbid are left out. They are not measured if pairs are measured one by one. The
    built-in measures compute all pairs of two blocks of variables together, which is faster than selecting
    some.
    """
    search: PairSearch = made("measure", measure, engine).search(engine, threshold)
    if not rules:
        return search
    if isinstance(search, WalkOverPairs):
        search.rules = rules
        return search
    return lambda *which, **more: search(*which, **more).allowed_neighbors(rules)


def significant_pairs(
    engine: Engine,
    correction: str = "fdr",
    level: float = RELEVANCE_LEVEL,
    measure: str | Measure = AUTO,
    rules: Constraints | None = None,
) -> PairSearch:
    """Return the search for pairs that a test finds dependent, with the arguments of `search_pairs`.

    The test is G2 for states, Fisher's z for numbers, and the analysis of variance for both together,
    whatever a learner's `ci_test` is: measures compute their values from its statistics. Its level is
    corrected for the number of all pairs of the table (:mod:`f2sl.stats.measures.significance`), even if only
    the pairs of one target are requested: the first call tests all pairs. Pairs that the rules forbid are
    tested with all others and then left out.
    """
    from f2sl.stats.measures.significance import SignificantPairs

    test = made("ci_test", AUTO, engine).of_pairs(engine)
    values = partial(made("measure", measure, engine).values_of_significant, engine)
    return SignificantPairs(engine, test, correction, level, values, rules)
