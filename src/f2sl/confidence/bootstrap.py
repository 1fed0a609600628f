"""Learn from resampled rows: the work of `f2sl.bootstrap`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any

from f2sl._notes import Note, Use
from f2sl._options import choice, problems_with, refuse, whole
from f2sl._progress import stage
from f2sl._reading import READING
from f2sl._registry import refuse_unknown
from f2sl._threads import note_of_jobs, resolve_jobs
from f2sl._version import __version__
from f2sl.api import make_learner
from f2sl.confidence.journal import Journal, check_same
from f2sl.confidence.result import Confidence, Tally, checked_threshold
from f2sl.confidence.workers import run_here, run_in_processes, run_on_cluster
from f2sl.data.column import read_as
from f2sl.data.memory.table import MemoryTable
from f2sl.data.notes import warn_of_identifiers
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.data.transform import for_learning
from f2sl.errors import DataError, F2SLError, FileError, Interrupted, OptionError
from f2sl.graph import check_writable
from f2sl.graph.formats import check_holds
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import display_for
from f2sl.learners.registries import STRUCTURE
from f2sl.learners.resample import BOOTSTRAP, METHODS, SUBSAMPLE, Resampling

HERE = object()
"""Value of the scheduler for workers that are processes of this machine."""


def bootstrap(
    data: Any,
    learner: StructureLearner | str = "f2sl-h",
    replicates: int = 200,
    random_state: int = 0,
    method: str = BOOTSTRAP,
    threshold: float | None = None,
    *,
    n_jobs: int | None = None,
    scheduler: Any = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    **options: Any,
) -> Confidence:
    """Measure the confidence of each edge: learn from resampled rows and count how often the edge is found.

    Parameters
    ----------
    data : table, data frame, array, dict of columns, path or list of paths
        As in :func:`f2sl.open_table`; it is read once, into memory.
    learner : StructureLearner or str
        A learner with its options, or the name of one; F2SL-h by default.
    replicates : int
        Number of replicates; an even number with ``method="subsample"``.
    random_state : int
        The same seed gives the same result, whatever the number of processes.
    method : {"bootstrap", "subsample"}
        Draw as many rows as there are, with replacement; or divide the rows into two halves, again and again,
        and learn from each half (Shah and Samworth 2013), which bounds false edges at a given threshold.
    threshold : float, optional
        Smallest confidence of an edge in the averaged graph; estimated by default (Scutari and Nagarajan
        2013).
    n_jobs : int, optional
        Processes, each of which learns with one thread. None stands for the learner's own `n_jobs`, and if
        that is None, too, for as many as there are cores.
    scheduler : str or dask.distributed.Client, optional
        A Dask cluster to learn on: each replicate is one task.
    out : path, optional
        File to save the result to. Finished replicates are stored beside it, so that a killed process loses
        none.
    resume : bool
        Continue with the stored replicates of the same table and options, also with a larger `replicates`.
    **options
        Options of reading, as in :func:`f2sl.learn`; and those of the learner if it is given by name.

    Returns
    -------
    Confidence

    Raises
    ------
    Interrupted
        On Ctrl-C; its `finished` is the Confidence of the replicates that were finished.

    Examples
    --------
    >>> import f2sl
    >>> found = f2sl.bootstrap(f2sl.load_example("asia"), f2sl.F2SLc(alpha=0.05), replicates=20)
    >>> found.of("smoke", "bronc"), found.of("smoke", "xray")
    (1.0, 0.0)
    >>> halves = f2sl.bootstrap(f2sl.load_example("asia"), "f2sl-c", 20, method="subsample", threshold=0.9)
    >>> round(halves.false_edges, 2)
    1.61
    """
    chosen, reading = _learner(learner, options)
    n_jobs = getattr(chosen, "n_jobs", None) if n_jobs is None else n_jobs
    refuse(problems(replicates, random_state, method, threshold, n_jobs, out, resume))
    chosen.check_options()
    if out is not None:
        check_writable(out)
    if reading.get("engine") == "dask":  # the replicates go to the cluster, and not the rows
        reading["engine"], scheduler = "auto", scheduler or HERE
    with ExitStack() as own, display_for(chosen.verbose):
        with stage("reading the table"):
            table = open_for(chosen._takes, type(chosen).__name__, data, n_jobs, **reading)
        if not isinstance(data, Table):
            own.enter_context(table)
        read = _in_memory(table, method)
        held = own.enter_context(for_learning(read, n_jobs, chosen._size_matters))
        if out is not None:
            check_holds(out, [*held.names, *held.merged])
        warn_of_identifiers(held, stacklevel=3)
        known = chosen.knowledge or None
        if known:
            known.constraints(held.names, held)  # report what does not fit the table before any work
        asked = _asked(chosen, held, method, random_state)
        resampling = Resampling(chosen, (*held.names, *held.merged), method, random_state)
        tally, journal = Tally(method == SUBSAMPLE), None
        if out is not None:
            tally, journal = _stored(Path(out), asked, resume, tally, own)
        runner = _runner(resampling, held, n_jobs, scheduler, own)

        def result() -> Confidence:
            capped = note_of_jobs(n_jobs, "processes") if scheduler is None or scheduler is HERE else []
            notes = (*held.notes, *read.remarks, *capped)
            n = max(replicates, len(tally.done))
            facts = known, read_as(held.columns), notes
            return Confidence.of_tally(tally, resampling.nodes, threshold, n, asked, *facts)

        left = [number for number in range(replicates) if not tally.has(number)]
        try:
            with stage("learning from resampled rows") as advance:
                for found in runner(left) if left else ():
                    if journal is not None:
                        journal.add(found)
                    tally.add(found)
                    advance(1 / len(left))
        except KeyboardInterrupt:
            finished = result()
            if out is not None and finished.n_replicates:
                finished.save(out)
            raise Interrupted(finished) from None
        finished = result()
        if out is not None and journal is not None:
            finished.save(out)
            journal.remove()
        return finished


def _learner(learner: Any, options: Mapping[str, Any]) -> tuple[StructureLearner, dict[str, Any]]:
    """Return the learner, and the options about reading."""
    if isinstance(learner, str):
        return make_learner(STRUCTURE, learner, options)
    if not isinstance(learner, StructureLearner):
        message = f" must be a learner of graphs such as f2sl.F2SLc(), or the name of one, not {learner!r}"
        raise OptionError(Use("learner"), message)
    unknown = [name for name in options if name not in READING]
    refuse_unknown("bootstrap", unknown, READING, type(learner))
    return learner, dict(options)


def problems(
    replicates: Any, random_state: Any, method: Any, threshold: Any, n_jobs: Any, out: Any, resume: Any
) -> Iterator[Note]:
    """Yield all problems with the options."""
    wrong = problems_with(whole, "replicates", replicates, 2 if method == SUBSAMPLE else 1)
    yield from wrong
    if not wrong and method == SUBSAMPLE and replicates % 2:
        message = f" must be even for the method 'subsample' (two halves each), not {replicates}"
        yield Note("option", Use("replicates"), message)
    yield from problems_with(whole, "random_state", random_state)
    yield from problems_with(choice, "method", method, METHODS)
    if threshold is not None:
        yield from problems_with(checked_threshold, "threshold", threshold)
    yield from problems_with(resolve_jobs, n_jobs)
    if resume and out is None:
        message = " continues from a file of results; name it with "
        yield Note("option", Use("resume"), message, Use("out", ...))


def _in_memory(table: Table, method: str) -> MemoryTable:
    """Raise an error for a table whose rows cannot be drawn."""
    if not isinstance(table, MemoryTable):
        raise DataError(
            f"resampling needs the rows in memory, but this table is {table.held}; open it with ",
            Use("engine", "memory"),
            ", from fewer rows or columns if it does not fit",
        )
    if method == SUBSAMPLE and table.n_rows < 4:
        raise DataError(f"halves of {table.n_rows} rows are too small to learn from; at least 4 are needed")
    return table


def _asked(learner: StructureLearner, table: MemoryTable, method: str, random_state: int) -> dict[str, Any]:
    """Return everything that the replicates depend on, in a form that JSON can hold."""
    digest = hashlib.blake2b(repr(table.columns).encode(), digest_size=16)
    for part in (table.codes, table.numbers):
        digest.update(part.tobytes())

    def described(value: Any) -> Any:
        """Describe a user's object; its own ``repr`` may contain a memory address."""
        if isinstance(value, (str, int, float, type(None))):
            return value
        cls: Any = type(value)
        return f"{cls.__module__}.{cls.__qualname__}" if cls.__repr__ is object.__repr__ else repr(value)

    params = learner.get_params().items()
    options = {name: described(value) for name, value in params if name not in ("n_jobs", "verbose")}
    return {
        "f2sl": __version__,
        "learner": type(learner).__name__,
        "options": options,
        "method": method,
        "random_state": int(random_state),
        "rows": table.n_rows,
        "table": digest.hexdigest(),
    }


def _stored(
    out: Path, asked: Mapping[str, Any], resume: bool, tally: Tally, own: ExitStack
) -> tuple[Tally, Journal]:
    """Open the journal; with `resume`, count the replicates in it and in the file of an earlier result.

    A file with other content is refused only if there is no journal: a killed run was about to replace it.
    """
    journal = own.enter_context(Journal.beside(out, asked, resume))
    stored = list(journal.finished())
    if resume and out.exists() and out.suffix.lower() != ".json" and not stored:
        raise FileError(
            f"{out} has no replicates to continue from: only .json stores them; leave out resume=True",
            path=str(out),
        )
    if resume and out.exists() and out.suffix.lower() == ".json":
        try:
            earlier = Confidence.load(out)
            check_same(out, earlier.asked, asked)
            tally = earlier.tally()
        except F2SLError:
            if not stored:
                raise
    for replicate in stored:
        tally.add(replicate)
    return tally, journal


def _runner(
    resampling: Resampling, table: MemoryTable, n_jobs: int | None, scheduler: Any, own: ExitStack
) -> Any:
    """Return the function that runs replicates: from their numbers to their results."""
    jobs = resolve_jobs(n_jobs)
    if scheduler is not None:
        from f2sl._memory import memory_limit
        from f2sl.data.dask.runtime import Cluster

        cluster = Cluster.connect(None if scheduler is HERE else scheduler, jobs, memory_limit(None))
        own.callback(cluster.close)
        return lambda numbers: run_on_cluster(resampling, table, numbers, cluster)
    if jobs == 1:
        return lambda numbers: run_here(resampling, table, numbers)
    return lambda numbers: run_in_processes(resampling, table, numbers, jobs)
