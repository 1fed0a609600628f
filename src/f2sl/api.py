"""Learners by name, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from f2sl._registry import Registry
from f2sl.errors import DataError, F2SLWarning, unknown_name
from f2sl.local.base import LOCAL, MARKOV_BLANKET, LocalLearner
from f2sl.structure.base import STRUCTURE, StructureLearner


def learn(
    data: Any, algorithm: str = "f2sl-c", *, names: Sequence[str] | None = None, **options: Any
) -> StructureLearner:
    """Learn a structure with the algorithm of that name; gives the fitted learner.

    Parameters
    ----------
    data : data frame, array of integers, dict of columns, or path
        One row for each sample, one column for each variable.
    algorithm : str
        A registered name, such as ``"f2sl-c"`` or ``"f2sl-s"``.
    names : sequence of str, optional
        Names for the columns of an array that has none.
    **options
        Options of the learner.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.learn(f2sl.load_example("asia"), algorithm="f2sl-s", score="bic")
    >>> type(model).__name__
    'F2SLs'
    """
    learner: StructureLearner = STRUCTURE.create(algorithm, options)
    return learner.fit(data, names=names)


def learn_pc(
    data: Any,
    target: str,
    algorithm: str = "fcbf",
    *,
    names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    bins: Any = None,
    binning: str = "quantile",
    missing: str = "error",
    **options: Any,
) -> dict[str, float]:
    """Find the parents and children of one variable.

    Parameters
    ----------
    data : data frame, array of integers, dict of columns, or path
        One row for each sample, one column for each variable.
    target : str
        The column whose neighbours are wanted.
    algorithm : str
        A registered name, such as ``"fcbf"``, ``"mmpc"`` or ``"hiton-pc"``.
    names : sequence of str, optional
        Names for the columns of an array that has none.
    n_jobs : int, optional
        Threads; None for all cores.
    bins, binning, missing
        How to read real numbers and missing values: see :func:`f2sl.as_table`.
    **options
        Options of the learner, such as ``delta`` and ``ties``.

    Returns
    -------
    dict of str to float
        The names found, strongest first, each with the strength of its link to the target: symmetrical
        uncertainty with ``"fcbf"``; with the learners by independence tests, minus the decimal logarithm of
        the largest p-value of the link's tests; with the learners by score, what the log score loses without
        the link. A search that ran out of its ``time_limit`` gives what it has, with a warning.

    Examples
    --------
    >>> import f2sl
    >>> list(f2sl.learn_pc(f2sl.load_example("asia"), target="smoke"))
    ['bronc', 'lung']
    """
    reading = {"names": names, "bins": bins, "binning": binning, "missing": missing}
    return find_set(LOCAL, algorithm, options, data, target, n_jobs, reading).strengths


def learn_mb(
    data: Any,
    target: str,
    algorithm: str = "iamb",
    *,
    names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    bins: Any = None,
    binning: str = "quantile",
    missing: str = "error",
    **options: Any,
) -> dict[str, float]:
    """Find the Markov blanket of one variable: parents, children, and the children's other parents.

    Given its blanket, a variable is independent of all others: for predicting it, the blanket is enough.

    Parameters
    ----------
    data, target, names, n_jobs, bins, binning, missing
        As in :func:`learn_pc`.
    algorithm : str
        A registered name, such as ``"iamb"`` or ``"hiton-mb"``.
    **options
        Options of the learner, such as ``alpha``.

    Returns
    -------
    dict of str to float
        The names found, surest first, each with minus the decimal logarithm of the largest p-value of its
        dependence on the target, or, with the learners by score, as in :func:`learn_pc`.

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.learn_mb(f2sl.load_example("asia"), target="dysp"))
    ['bronc', 'either']
    """
    reading = {"names": names, "bins": bins, "binning": binning, "missing": missing}
    return find_set(MARKOV_BLANKET, algorithm, options, data, target, n_jobs, reading).strengths


@dataclass(frozen=True)
class FoundSet:
    """One variable's set by name, strongest first, and what there is to know of how it was found."""

    strengths: dict[str, float]
    complete: bool
    notes: tuple[str, ...]


def find_set(
    registry: Registry,
    algorithm: str,
    options: dict[str, Any],
    data: Any,
    target: str,
    n_jobs: int | None,
    reading: dict[str, Any],
) -> FoundSet:
    """Make the learner, read the table, and find the set of one variable."""
    from f2sl._progress import stage
    from f2sl.data import as_table
    from f2sl.data.remarks import warn_of_identifiers

    learner: LocalLearner = registry.create(algorithm, options)
    learner.check_options()
    with stage("reading the table"):
        table = as_table(data, min_variables=2, **reading).in_name_order()
    warn_of_identifiers(table, stacklevel=4)
    target = str(target)
    if target not in table.names:
        raise DataError(unknown_name("column", target, table.names))
    from f2sl.counting.memory import MemoryEngine

    with MemoryEngine(table, n_jobs) as engine:
        found = learner.learn_one(engine, table.names.index(target))
    for note in found.notes:
        warnings.warn(note, F2SLWarning, stacklevel=3)
    strengths = zip(found.members.tolist(), found.strengths.tolist(), strict=True)
    return FoundSet({table.names[m]: strength for m, strength in strengths}, found.complete, found.notes)
