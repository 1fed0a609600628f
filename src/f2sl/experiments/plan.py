"""Which units there are to run, in which order, and which are not worth trying.

The data sets of one network, size, learner and setting are a *cell*. The first of them goes ahead; only
when it is done do others follow, and once one is over its limit of time or memory the rest are skipped: that
is a "-" of the paper's tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple, TypeVar

from f2sl import _options
from f2sl.errors import OptionError, unknown_name
from f2sl.experiments.settings import LEARNERS, NETWORKS, QUICK, SETS, SIZES, settings_of
from f2sl.experiments.store import DONE, OVER_MEMORY, OVER_TIME, SKIPPED, Outcome, Unit

Value = TypeVar("Value")

MOST_SETS = 99
"""Data sets of one size have seeds of their own up to this number."""


class Cell(NamedTuple):
    """What the data sets of a mean have in common."""

    network: str
    rows: int
    learner: str
    setting: str


def cell_of(unit: Unit) -> Cell:
    """Tell the cell of a unit.

    Examples
    --------
    >>> cell_of(Unit("mildew", 500, 1, "f2sl-c", "paper"))
    Cell(network='mildew', rows=500, learner='f2sl-c', setting='paper')
    """
    return Cell(unit.network, unit.rows, unit.learner, unit.setting)


@dataclass(frozen=True)
class Selection:
    """What was chosen to run; `left_out` says of learners why they cannot."""

    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    learners: tuple[str, ...]
    sets: int
    left_out: tuple[str, ...] = ()

    def units(self) -> list[Unit]:
        """List all units: fast learners before slow ones, the first data set of each cell before others."""
        return [
            Unit(network, rows, number, learner, setting)
            for slow in (False, True)
            for number in range(1, self.sets + 1)
            for network in self.networks
            for rows in self.sizes
            for learner in self.learners
            if LEARNERS[learner].slow == slow
            for setting in settings_of(learner)
        ]


def select(
    quick: bool = False,
    networks: Iterable[str] | None = None,
    algorithms: Iterable[str] | None = None,
    sizes: Iterable[int] | None = None,
    sets: int | None = None,
) -> Selection:
    """Make a selection, or refuse what is not known; what is not given is all, or what `quick` takes.

    Examples
    --------
    >>> select(quick=True, networks=["pigs"], algorithms=["gsbn"], sizes=[500]).units()
    [Unit(network='pigs', rows=500, data_set=1, learner='gsbn', setting='paper'), \
Unit(network='pigs', rows=500, data_set=2, learner='gsbn', setting='paper')]
    """
    chosen_networks = _known("network", networks, NETWORKS, QUICK.networks if quick else tuple(NETWORKS))
    chosen = _known("algorithm", algorithms, LEARNERS, QUICK.learners if quick else tuple(LEARNERS))
    lacking = {name: LEARNERS[name].needs for name in chosen if not _installed(LEARNERS[name].needs)}
    told = tuple(f"{name} needs {package}, which is not installed" for name, package in lacking.items())
    if lacking and (algorithms is not None or len(lacking) == len(chosen)):
        raise OptionError(f'{told[0]}: pip install "f2sl[deep]"')
    rows = tuple(_options.whole("sizes", size, least=10) for size in (SIZES if sizes is None else sizes))
    default_sets = QUICK.sets if quick else SETS
    return Selection(
        networks=chosen_networks,
        sizes=_once("sizes", rows),
        learners=tuple(name for name in chosen if name not in lacking),
        sets=default_sets if sets is None else _options.whole("sets", sets, least=1, most=MOST_SETS),
        left_out=told,
    )


def _known(
    kind: str, names: Iterable[str] | None, known: Mapping[str, object], usual: tuple[str, ...]
) -> tuple[str, ...]:
    if names is None:
        return usual
    listed = tuple(names)
    for name in listed:
        if name not in known:
            raise OptionError(unknown_name(kind, name, known))
    return _once(f"{kind}s", listed)


def _once(what: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    if not values:
        raise OptionError(f"{what}: none is given")
    return tuple(dict.fromkeys(values))


def _installed(package: str) -> bool:
    return not package or find_spec(package) is not None


class Schedule:
    """The units that are still to run, given what is known.

    Done units stay as they are, failed ones are tried again, and those over a limit only with a higher limit.

    Parameters
    ----------
    units : iterable of Unit
        In the order in which they are to run.
    known : mapping of Unit to Outcome
        How units came out before, of other selections as well.
    time_limit, memory_limit
        Seconds and bytes for each unit.

    Attributes
    ----------
    waiting : list of Unit
        Those that have not begun.
    to_skip : list of Unit
        Those that need not begin, and of which that is not known yet.

    Examples
    --------
    >>> first, second = (Unit("mildew", 500, number, "ggsl", "paper") for number in (1, 2))
    >>> schedule = Schedule([first, second], {}, time_limit=60.0, memory_limit=10**9)
    >>> schedule.next() == first, schedule.next()
    (True, None)
    >>> schedule.ended(first, OVER_TIME) == [second]
    True
    """

    def __init__(
        self, units: Iterable[Unit], known: Mapping[Unit, Outcome], time_limit: float, memory_limit: int
    ) -> None:
        over = {unit for unit, outcome in known.items() if _stands(outcome, time_limit, memory_limit)}
        self._over = {cell_of(unit): unit for unit in over}
        self._proven = {cell_of(unit) for unit, outcome in known.items() if outcome.state == DONE}
        self._running: list[Unit] = []
        self.waiting: list[Unit] = []
        self.to_skip: list[Unit] = []
        for unit in units:
            state = known[unit].state if unit in known else None
            if state == DONE or unit in over:
                continue
            if cell_of(unit) not in self._over:
                self.waiting.append(unit)
            elif state != SKIPPED:
                self.to_skip.append(unit)

    def next(self) -> Unit | None:
        """Take the next unit that may begin; None if there is none until another has ended."""
        tried = {cell_of(unit) for unit in self._running} - self._proven
        for place, unit in enumerate(self.waiting):
            if cell_of(unit) not in tried:
                self._running.append(self.waiting.pop(place))
                return unit
        return None

    def ended(self, unit: Unit, state: str) -> list[Unit]:
        """Hear how a unit came out; gives those that are skipped because of it."""
        self._running.remove(unit)
        cell = cell_of(unit)
        if state == DONE:
            self._proven.add(cell)
        if state not in (OVER_TIME, OVER_MEMORY):
            return []
        self._over[cell] = unit
        skipped = [other for other in self.waiting if cell_of(other) == cell]
        self.waiting = [other for other in self.waiting if cell_of(other) != cell]
        return skipped

    def why_skipped(self, unit: Unit) -> str:
        """Say which data set was over its limit."""
        return f"data set {self._over[cell_of(unit)].data_set} was over its limit"


def _stands(outcome: Outcome, time_limit: float, memory_limit: int) -> bool:
    """Say whether a unit was over a limit that is no higher now."""
    if outcome.state == OVER_TIME:
        return time_limit <= (outcome.time_limit or 0.0)
    return outcome.state == OVER_MEMORY and memory_limit <= (outcome.memory_limit or 0)
