"""Which engines, tests, scores and measures go with which data: the one place that knows.

Options of learners that name one of them may be ``"auto"``, which stands for the first that is listed
for the kind of data at hand. Listing them loads no compiled code; the makers below do.

>>> settled("ci_test", "auto", "discrete"), settled("ci_test", "auto", "gaussian")
('g2', 'fisher-z')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from f2sl.errors import OptionError
from f2sl.stats.answers import IndependenceTest
from f2sl.storage.engine import Engine
from f2sl.storage.protocol import FoundPairs

if TYPE_CHECKING:
    from f2sl.stats.families import FamilyScores

AUTO = "auto"
HOLDS = {"discrete": "states", "gaussian": "real numbers"}

RELEVANCE_LEVEL = 0.05
"""Rate of false discoveries among the pairs that are taken for related by their significance."""

CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ci_test": {"discrete": ("g2", "x2"), "gaussian": ("fisher-z",)},
    "score": {"discrete": ("bdeu", "k2", "bic", "aic"), "gaussian": ("bge", "bic-g")},
    "measure": {"discrete": ("su", "mi"), "gaussian": ("r2", "correlation", "mi")},
}
"""By option and kind of data, what it may name; the first is what "auto" stands for."""


def kind_of_engine(engine: Engine) -> str:
    """Say whether an engine knows states or real numbers."""
    return "discrete" if engine.moments is None else "gaussian"


def choices(option: str) -> list[str]:
    """List all that an option may name, whatever the data.

    Examples
    --------
    >>> choices("ci_test")
    ['auto', 'g2', 'x2', 'fisher-z']
    """
    return list(dict.fromkeys([AUTO, *(name for names in CHOICES[option].values() for name in names)]))


def settled(option: str, value: str, kind: str) -> str:
    """Say what an option stands for with this kind of data, or refuse what is not for it.

    Examples
    --------
    >>> settled("score", "bdeu", "gaussian")
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: score="bdeu" is for states, and the table holds real numbers; say "auto", "bge" or "bic-g"
    """  # noqa: E501
    own = CHOICES[option][kind]
    if value == AUTO:
        return own[0]
    if value in own:
        return value
    meant = next((other for other, names in CHOICES[option].items() if value in names), None)
    if meant is None:
        raise OptionError(f"{option} must be one of {', '.join(map(repr, choices(option)))}, not {value!r}")
    said = [f'"{name}"' for name in (AUTO, *own)]
    raise OptionError(
        f'{option}="{value}" is for {HOLDS[meant]}, and the table holds {HOLDS[kind]}; '
        f"say {', '.join(said[:-1])} or {said[-1]}"
    )


def settle(options: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Settle those of a learner's options that depend on the kind of data.

    Examples
    --------
    >>> settle({"alpha": 0.01, "ci_test": "auto"}, "gaussian")
    {'alpha': 0.01, 'ci_test': 'fisher-z'}
    """
    return {name: settled(name, value, kind) if name in CHOICES else value for name, value in options.items()}


def make_test(
    engine: Engine,
    alpha: float,
    ci_test: str = AUTO,
    without_freedom: str = "independent",
    samples_per_cell: float | None = None,
) -> IndependenceTest:
    """Make the independence test of that name on an engine's data.

    `without_freedom` says what tables without degrees of freedom answer, and `samples_per_cell` how many
    samples tables need; tests on correlations are unreliable where nothing is left to correlate.
    """
    name = settled("ci_test", ci_test, kind_of_engine(engine))
    if engine.moments is not None:
        from f2sl.stats.gaussian.fisher_z import FisherZ

        return FisherZ(engine.moments, alpha)
    from f2sl.stats.independence import SAMPLES_PER_CELL, TableTest

    least = SAMPLES_PER_CELL if samples_per_cell is None else samples_per_cell
    return TableTest(engine, alpha, name, without_freedom, least)


def make_score(engine: Engine, score: str = AUTO, equivalent_sample_size: float = 10.0) -> FamilyScores:
    """Make the score of families of that name on an engine's data; the sample size is BDeu's."""
    name = settled("score", score, kind_of_engine(engine))
    if engine.moments is not None:
        from f2sl.stats.gaussian.scores import GaussianFamilyScore

        return GaussianFamilyScore(engine.moments, name)
    from f2sl.stats.scores import FamilyScore

    return FamilyScore(engine, name, equivalent_sample_size)


def related_pairs(engine: Engine, threshold: float, measure: str = AUTO) -> Callable[..., FoundPairs]:
    """Make the search for pairs whose measure exceeds a threshold; it takes what `search_pairs` takes."""
    name = settled("measure", measure, kind_of_engine(engine))
    if engine.moments is not None:
        from f2sl.stats.gaussian.pairs import PairsAbove

        return partial(engine.moments.search_pairs, PairsAbove(threshold, name))
    from f2sl.stats.information import Information

    return partial(engine.search_pairs, Information(engine).pairs_above(threshold, name))


def significant_pairs(
    engine: Engine, correction: str = "fdr", level: float = RELEVANCE_LEVEL, measure: str = AUTO
) -> Callable[..., FoundPairs]:
    """Make the search for pairs that a test of independence finds related; takes what `search_pairs` takes.

    The test is G2 of states and Fisher's z of real numbers. Its level is corrected for the number of all
    pairs of the table (:mod:`f2sl.stats.significance`), also where only one target's are asked for: the
    first call walks over all pairs.
    """
    from f2sl.stats.significance import SignificantPairs

    name = settled("measure", measure, kind_of_engine(engine))
    if engine.moments is not None:
        from f2sl.stats.gaussian.pairs import ZOfPairs

        return SignificantPairs(engine, ZOfPairs(engine.moments), correction, level, name)
    from f2sl.stats.pair_tests import G2OfPairs

    return SignificantPairs(engine, G2OfPairs(engine), correction, level, name)
