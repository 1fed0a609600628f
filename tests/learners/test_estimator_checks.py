"""scikit-learn's own checks of estimators, on the learners as a scikit-learn user would set them up.

The checks feed real numbers, some of them whole. How to read them is not a learner's option; so the checks
run on learners that open the table first: cut into states, or as numbers. Learners do not inherit from
scikit-learn's base class, which would make importing them slow (`f2sl/_estimator.py`); the checks warn of
that once, and are then run all the same.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import NamedTuple

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import f2sl


class Failure(NamedTuple):
    """How a check does not pass: why, and what it raises then.

    It is the check that is not content, unless the learner has `refused` the check's data.
    """

    reason: str
    error: type[Exception]
    message: str
    refused: bool = False


ONE_COLUMN = Failure(
    "a table of one column is refused, in f2sl's own words",
    AssertionError,
    r"n_features=1\nGot one column only \('x0'\): a graph needs at least two columns",
)
SCORE = "the option `score` (a word such as 'bdeu') is taken for a method of that name"
CALLED = Failure(SCORE, TypeError, "^'str' object is not callable$")
LOOKED_INTO = Failure(SCORE, TypeError, "^the first argument must be callable$")
COLLINEAR = Failure(
    "the check rounds its data, as for categories: the three columns are copies of one another",
    f2sl.DataError,
    r"^other columns determine 'x1', 'x2', so that they have no correlation given all others; ",
    refused=True,
)

WITH_SCORE = {
    "check_fit2d_1feature": ONE_COLUMN,
    "check_fit_score_takes_y": CALLED,
    "check_n_features_in_after_fitting": LOOKED_INTO,
    "check_pipeline_consistency": CALLED,
}

EXCEPTIONS: dict[type, dict[str, Failure]] = {
    f2sl.F2SLc: {"check_fit2d_1feature": ONE_COLUMN},
    f2sl.F2SLs: WITH_SCORE,
    f2sl.F2SLh: WITH_SCORE,
    f2sl.BOSS: WITH_SCORE,
    f2sl.HillClimbing: WITH_SCORE,
    f2sl.Tabu: WITH_SCORE,
    f2sl.ExactSearch: WITH_SCORE,
    f2sl.SLLc: WITH_SCORE,
    f2sl.SLLg: WITH_SCORE,
    f2sl.GGSL: WITH_SCORE,
    f2sl.NOTEARS: {"check_fit2d_1feature": ONE_COLUMN},
    f2sl.DAGGNN: {"check_fit2d_1feature": ONE_COLUMN},
    f2sl.MMHC: WITH_SCORE,
    f2sl.MMHCc: {"check_fit2d_1feature": ONE_COLUMN},
    f2sl.GSBN: {"check_fit2d_1feature": ONE_COLUMN},
    f2sl.PCStable: {"check_fit2d_1feature": ONE_COLUMN},
    f2sl.LocalToGlobal: WITH_SCORE,
    f2sl.TC: {
        "check_fit2d_1feature": ONE_COLUMN,
        "check_estimators_pickle": COLLINEAR,
        "check_pipeline_consistency": COLLINEAR,
    },
}
"""Checks that do not pass, for each learner. Should one pass one day, or fail otherwise, its test fails."""


def reading(learner, **options):
    """Make a learner that opens what it is given in a certain way, where pickle can find it."""

    def fit(self, X, y=None):
        return self.read_and_fit(X, options)

    name = "".join([learner.__name__, *options])
    globals()[name] = type(name, (learner,), {"fit": fit, "__module__": __name__})
    return globals()[name]


OF_NUMBERS = (f2sl.NOTEARS, f2sl.DAGGNN, f2sl.TC)
BINNED = [reading(learner, bins=3) for learner in EXCEPTIONS if learner not in OF_NUMBERS]
LEARNERS = [
    *(learner() for learner in BINNED),
    reading(f2sl.F2SLc, kinds="continuous")(),
    reading(f2sl.NOTEARS, kinds="continuous")(max_iter=2),
    reading(f2sl.TC, kinds="continuous")(),
    *([reading(f2sl.DAGGNN, kinds="continuous")(epochs=2, max_iter=2)] if find_spec("torch") else []),
]

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*does not inherit from `sklearn.base.BaseEstimator`")
    all_checks = parametrize_with_checks(LEARNERS)


@all_checks
def test_estimator(estimator, check):
    name = getattr(check, "func", check).__name__
    failure = EXCEPTIONS[type(estimator).__base__].get(name)
    if failure is None:
        check(estimator)
        return
    with pytest.raises(failure.error, match=failure.message) as caught:
        check(estimator)
    within = caught.traceback[-1].frame.f_globals["__name__"].startswith("f2sl")
    assert within == failure.refused
    pytest.xfail(failure.reason)
