"""Learners by name, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, overload

from f2sl._registry import Registry
from f2sl.errors import DataError, F2SLWarning, Interrupted, unknown_name
from f2sl.local.base import LOCAL, MARKOV_BLANKET, LocalLearner
from f2sl.local.found import FoundSet, FoundSets
from f2sl.storage.engine import open_engine
from f2sl.structure.base import STRUCTURE, StructureLearner, kind_of, taken
from f2sl.table import Table


def learn(
    data: Any, algorithm: str = "f2sl-c", *, names: Sequence[str] | None = None, **options: Any
) -> StructureLearner:
    """Learn a structure with the algorithm of that name; gives the fitted learner.

    Parameters
    ----------
    data : data frame, array of integers, dict of columns, path or list of paths
        One row for each sample, one column for each variable. A path may be that of a folder of files.
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


@overload
def learn_pc(data: Any, target: str, algorithm: str = ..., **options: Any) -> FoundSet: ...


@overload
def learn_pc(data: Any, target: None = None, algorithm: str = ..., **options: Any) -> FoundSets: ...


def learn_pc(
    data: Any,
    target: str | None = None,
    algorithm: str = "fcbf",
    *,
    names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    bins: Any = None,
    binning: str = "quantile",
    missing: str = "error",
    kind: str = "auto",
    engine: str = "auto",
    memory: int | str | None = None,
    scheduler: object = None,
    **options: Any,
) -> FoundSet | FoundSets:
    """Find the parents and children of one variable, or of all.

    Parameters
    ----------
    data : data frame, array of integers, dict of columns, path or list of paths
        One row for each sample, one column for each variable. A path may be that of a folder of files.
    target : str, optional
        The column whose neighbours are wanted; without it, those of all columns.
    algorithm : str
        A registered name, such as ``"fcbf"``, ``"mmpc"`` or ``"hiton-pc"``.
    names : sequence of str, optional
        Names for the columns of an array that has none.
    n_jobs : int, optional
        Threads; None for all cores.
    bins, binning, missing
        How to read real numbers and missing values: see :func:`f2sl.open_table`.
    kind : {"auto", "discrete", "gaussian"}
        What the table holds, as in :class:`f2sl.F2SLc`.
    engine : {"auto", "memory", "stream", "dask"}
        Where it is held: in memory, on disk in blocks, or by a cluster, as in :class:`f2sl.F2SLc`.
    memory : int or str, optional
        How much memory may be used, such as ``"256MB"``; by default half of what is free.
    scheduler : str or dask.distributed.Client, optional
        Where the cluster is, as in :class:`f2sl.F2SLc`.
    **options
        Options of the learner, such as ``delta`` and ``ties``.

    Returns
    -------
    FoundSet, or FoundSets by name for all columns
        A dictionary of the names found, strongest first, each with the strength of its link to the target:
        symmetrical uncertainty, or squared correlation of real numbers, with ``"fcbf"``; with the learners by
        independence tests, minus the decimal logarithm of the largest p-value of the link's tests; with the
        learners by score, what the log score loses without it. Its attributes tell what separates others
        from the target, and how many tests that took. A search that ran out of its ``time_limit`` gives what
        it has, with a warning.

    Examples
    --------
    >>> import f2sl
    >>> asia = f2sl.load_example("asia")
    >>> list(f2sl.learn_pc(asia, target="smoke"))
    ['bronc', 'lung']
    >>> found = f2sl.learn_pc(asia, target="smoke", algorithm="mmpc")
    >>> found.separating_sets["xray"]
    ('lung',)
    >>> list(f2sl.learn_pc(asia)["xray"])
    ['either']
    """
    reading = {"kind": kind, "names": names, "bins": bins, "binning": binning, "missing": missing}
    reading |= {"engine": engine, "memory": memory, "scheduler": scheduler}
    return find_sets(LOCAL, algorithm, options, data, target, n_jobs, reading)


@overload
def learn_mb(data: Any, target: str, algorithm: str = ..., **options: Any) -> FoundSet: ...


@overload
def learn_mb(data: Any, target: None = None, algorithm: str = ..., **options: Any) -> FoundSets: ...


def learn_mb(
    data: Any,
    target: str | None = None,
    algorithm: str = "iamb",
    *,
    names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    bins: Any = None,
    binning: str = "quantile",
    missing: str = "error",
    kind: str = "auto",
    engine: str = "auto",
    memory: int | str | None = None,
    scheduler: object = None,
    **options: Any,
) -> FoundSet | FoundSets:
    """Find the Markov blanket of one variable, or of all: parents, children, their other parents.

    Given its blanket, a variable is independent of all others: for predicting it, the blanket is enough.

    Parameters
    ----------
    data, target, names, n_jobs, bins, binning, missing, kind, engine, memory, scheduler
        As in :func:`learn_pc`.
    algorithm : str
        A registered name, such as ``"iamb"`` or ``"hiton-mb"``.
    **options
        Options of the learner, such as ``alpha``.

    Returns
    -------
    FoundSet, or FoundSets by name for all columns
        As in :func:`learn_pc`. Of a spouse, the strength is that of its dependence on the target given their
        common child, with the child that shows it best.

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.learn_mb(f2sl.load_example("asia"), target="dysp"))
    ['bronc', 'either']
    """
    reading = {"kind": kind, "names": names, "bins": bins, "binning": binning, "missing": missing}
    reading |= {"engine": engine, "memory": memory, "scheduler": scheduler}
    return find_sets(MARKOV_BLANKET, algorithm, options, data, target, n_jobs, reading)


def find_sets(
    registry: Registry,
    algorithm: str,
    options: dict[str, Any],
    data: Any,
    target: str | None,
    n_jobs: int | None,
    reading: dict[str, Any],
) -> FoundSet | FoundSets:
    """Make the learner, read the table, and find the set of one variable or of all."""
    from f2sl._progress import stage
    from f2sl.reading.open import opened
    from f2sl.table.notes import warn_of_identifiers

    learner: LocalLearner = registry.create(algorithm, options)
    learner.check_options()
    with stage("reading the table"):
        takes = taken(reading.get("kind", "auto"), learner.kinds, algorithm)
        how = {name: value for name, value in reading.items() if name != "kind"}
        table = opened(data, takes, algorithm, n_jobs=n_jobs, **how)
    warn_of_identifiers(table, stacklevel=4)
    with nullcontext() if table is data else table:
        found = _found(learner.settled(kind_of(table)), table, target, n_jobs)
    for note in found.notes:
        warnings.warn(note, F2SLWarning, stacklevel=3)
    return found


def _found(
    learner: LocalLearner, table: Table, target: str | None, n_jobs: int | None
) -> FoundSet | FoundSets:
    """Find the set of one variable, or of all, in a table."""
    if target is not None and str(target) not in table.names:
        raise DataError(unknown_name("column", str(target), table.names))
    ordered = table.in_name_order()
    with open_engine(ordered, n_jobs) as engine:
        if target is not None:
            place = ordered.names.index(str(target))
            return FoundSet.of(learner.learn_one(engine, place), place, ordered.names)
        try:
            return FoundSets.of(learner.learn_all(engine), ordered.names, table.names)
        except Interrupted as error:
            raise Interrupted(FoundSets.of(error.finished, ordered.names, table.names)) from None
