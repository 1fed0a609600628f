"""The paper's experiments in one call, which runs the missing units in a folder of results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from f2sl import _options
from f2sl._notes import Use
from f2sl._threads import available_cores, resolve_jobs
from f2sl.errors import FileError, OptionError
from f2sl.graph.atomic import claimed
from f2sl_paper.harness.job import Ended, Keeper, Limits
from f2sl_paper.harness.machine import describe, total_memory
from f2sl_paper.harness.progress import Watch
from f2sl_paper.harness.schedule import Known, Schedule
from f2sl_paper.plan import likeness_of, place_of, select
from f2sl_paper.settings import SIZES, TIME_LIMIT, seed_of
from f2sl_paper.sources import SAMPLED, data_folder, source_name
from f2sl_paper.store import Outcome, Store, Unit

LEAST_MEMORY = 1 << 29
"""Bytes below which no limit makes sense: Python with its libraries takes half of it."""


@dataclass(frozen=True)
class Summary:
    """Result of a call of :func:`reproduce`.

    Attributes
    ----------
    path : Path
        The file of results.
    outcomes : tuple of Outcome
        All units of the selection, those of earlier calls included.
    new : int
        Number of units that ended in this call.
    sources : dict of str to str
        By network, whether its data are the paper's or sampled.
    left_out : tuple of str
        Learners that cannot run here, and why.
    """

    path: Path
    outcomes: tuple[Outcome, ...]
    new: int
    sources: dict[str, str]
    left_out: tuple[str, ...]

    @property
    def sizes(self) -> tuple[list[int], list[int]]:
        """Numbers of rows: those that tables and figures show, and others among these results."""
        return [*SIZES], sorted({outcome.unit.rows for outcome in self.outcomes} - {*SIZES})

    @property
    def states(self) -> Counter[str]:
        """Number of units by state."""
        return Counter(outcome.state for outcome in self.outcomes)


def reproduce(
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    networks: Iterable[str] | None = None,
    algorithms: Iterable[str] | None = None,
    sizes: Iterable[int] | None = None,
    sets: int | None = None,
    time_limit: float = TIME_LIMIT,
    memory_limit: int | None = None,
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Run the paper's experiments, and store each result as it comes.

    Stored results are not run again, except those that failed and those over a limit that is higher now.

    Parameters
    ----------
    out : path
        The folder of results; it is created if necessary.
    quick : bool
        Run two networks, two data sets of each and the fast learners, unless other options say otherwise.
    data : path, optional
        A folder with zip files of the paper's data; by default the one that ``F2SL_MMHC_DATA`` names. For
        networks whose file is not there, data are sampled.
    networks, algorithms : iterable of str, optional
        See :mod:`f2sl_paper.settings`; all by default.
    sizes : iterable of int, optional
        Rows of the data sets; 500 and 1,000 by default.
    sets : int, optional
        Data sets of each network and size; ten by default.
    time_limit : float
        Seconds for each unit.
    memory_limit : int, optional
        Bytes for each unit; by default an equal share of half of the machine's memory.
    jobs : int, optional
        Number of units that run at a time, at most eight for each core; by default the number of cores, which
        they share.
    watch : Watch, optional
        Receives the progress.

    Raises
    ------
    OptionError
        If there is no such network or algorithm, or an option makes no sense.
    FileError, DataError
        If the data cannot be read, or the folder cannot be written to, is of another version, or in use.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = reproduce(folder, networks=["hailfinder"], algorithms=["gsbn"], sizes=[500], sets=1)
    >>> summary.states
    Counter({'done': 1})
    """
    selection = select(quick, networks, algorithms, sizes, sets)
    n_jobs = resolve_jobs(None if jobs is None else _options.whole("jobs", jobs, least=1))
    if memory_limit is None:
        memory_limit = max(total_memory() // 2 // n_jobs, LEAST_MEMORY)
    if _options.whole("memory_limit", memory_limit) < LEAST_MEMORY:
        raise OptionError(
            Use("memory_limit"), f" must be at least {LEAST_MEMORY >> 20}M, half of which Python takes"
        )
    _options.positive("time_limit", time_limit, least=0.001, most=1e9)
    folder = data_folder(data, selection.networks)
    sources = {network: source_name(network, folder) for network in selection.networks}
    with _claimed_folder(Path(out)) as results, Store(results) as store:
        known = store.outcomes()
        _check_sources(store.path, known.values(), sources)
        units = selection.units()
        earlier = {
            unit: Known(outcome.state, Limits(outcome.time_limit or 0.0, outcome.memory_limit or 0))
            for unit, outcome in known.items()
        }
        schedule = Schedule(units, earlier, Limits(time_limit, memory_limit), place_of)
        new = len(schedule.waiting) + len(schedule.to_skip)
        if new:
            from f2sl_paper.harness.runner import Runner
            from f2sl_paper.worker import Learning

            threads = max(1, available_cores() // n_jobs)
            keeper = Units(store, sources, schedule.limits, {"threads": threads, "jobs": n_jobs})
            work = Learning(tuple(schedule.waiting), folder, threads)
            Runner(work, schedule, keeper, n_jobs, likeness_of, watch).run()
            known = store.outcomes()
    return Summary(store.path, tuple(known[unit] for unit in units), new, sources, selection.left_out)


@dataclass
class Units(Keeper[Unit]):
    """Store for the units of a call, with the source of their data; `description` says how they run."""

    store: Store
    sources: dict[str, str]
    limits: Limits
    description: dict[str, Any]
    run: int = 0

    def begin(self, prepared: Any) -> None:
        """Store where and how the call runs, and the facts of the networks."""
        limits = {"time_limit": self.limits.seconds, "memory_limit": self.limits.bytes}
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self.run = self.store.add_run(started, {**describe(), **self.description, **limits})
        self.store.add_networks(prepared)

    def keep(self, ended: Iterable[Ended[Unit]]) -> None:
        """Store how units ended."""
        self.store.add(map(self._outcome, ended))

    def _outcome(self, ended: Ended[Unit]) -> Outcome:
        unit, over = ended.key, ended.blocked_by
        source = self.sources[unit.network]
        return Outcome(
            unit=unit,
            source=source,
            random_state=seed_of(unit.rows, unit.data_set) if source == SAMPLED else None,
            state=ended.state,
            run=self.run,
            seconds=ended.seconds,
            peak_bytes=ended.peak_bytes,
            time_limit=self.limits.seconds,
            memory_limit=self.limits.bytes,
            message=f"data set {over.data_set} was over its limit" if over else ended.message,
            measures=ended.measures,
        )


@contextmanager
def _claimed_folder(folder: Path) -> Iterator[Path]:
    """Create the folder if necessary, and keep other processes from using it at the same time."""
    if not hasattr(os, "fork"):
        raise OptionError("the experiments need a system such as Linux or macOS, which can fork")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(folder, os.O_RDONLY))
    except OSError as error:
        raise FileError(f"cannot write to the folder {folder}: {error.strerror}") from None
    with claimed(folder, f"{folder}: another f2sl reproduce is running in this folder"):
        yield folder


def _check_sources(path: Path, known: Iterable[Outcome], sources: dict[str, str]) -> None:
    """Raise an error if the paper's data and sampled data of one network would be mixed."""
    said = {"paper": "the paper's data", "sampled": "sampled data"}
    for outcome in known:
        now = sources.get(outcome.unit.network, outcome.source)
        if now != outcome.source:
            raise FileError(
                f"{path}: has results of {outcome.unit.network} from {said[outcome.source]}, and these would "
                f"be from {said[now]}; use the same --data, or choose another folder"
            )
