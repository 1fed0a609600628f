"""Units to run, in their order.

The data sets of one network, size, learner and setting are a *cell*. The first of them runs alone; the others
follow when it is done. Once one exceeds its limit of time or memory, the rest are skipped: this is a "-" in
the paper's tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeVar

from f2sl import _options
from f2sl._notes import Use
from f2sl.errors import OptionError, unknown_name
from f2sl_paper.harness.schedule import Place
from f2sl_paper.settings import LEARNERS, NETWORKS, QUICK, SETS, SIZES, settings_of
from f2sl_paper.store import Unit

Value = TypeVar("Value")

MOST_SETS = 99
"""Data sets of one size have seeds of their own up to this number."""


def place_of(unit: Unit) -> Place:
    """Return the place of a unit in a schedule: its cell.

    Examples
    --------
    >>> place_of(Unit("mildew", 500, 1, "f2sl-c", "paper")).group
    ('mildew', 500, 'f2sl-c', 'paper')
    """
    return Place((unit.network, unit.rows, unit.learner, unit.setting))


def likeness_of(unit: Unit) -> tuple[Hashable, ...]:
    """List what units that take about as long have in common, from much to little."""
    return place_of(unit).group, (unit.network, unit.learner), unit.learner


@dataclass(frozen=True)
class Selection:
    """Units chosen to run; `left_out` names the learners that cannot run, and why."""

    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    learners: tuple[str, ...]
    sets: int
    left_out: tuple[str, ...] = ()

    def units(self) -> list[Unit]:
        """Return all units: fast learners before slow ones, the first data set of each cell before others."""
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
    """Return a selection; the default is everything, or the choice of `quick`. Unknown names are errors.

    Examples
    --------
    >>> select(quick=True, networks=["pigs"], algorithms=["gsbn"], sizes=[500]).units()
    [Unit(network='pigs', rows=500, data_set=1, learner='gsbn', setting='paper'), \
Unit(network='pigs', rows=500, data_set=2, learner='gsbn', setting='paper')]
    """
    chosen_networks = _known("network", networks, NETWORKS, QUICK.networks if quick else tuple(NETWORKS))
    chosen = _known("algorithm", algorithms, LEARNERS, QUICK.learners if quick else tuple(LEARNERS))
    lacking = {name: LEARNERS[name].needs for name in chosen if not _installed(LEARNERS[name].needs)}
    missing = tuple(f"{name} needs {package}, which is not installed" for name, package in lacking.items())
    if lacking and (algorithms is not None or len(lacking) == len(chosen)):
        raise OptionError(f'{missing[0]}: pip install "f2sl[deep]"')
    rows = tuple(_options.whole("sizes", size, least=10) for size in (SIZES if sizes is None else sizes))
    default_sets = QUICK.sets if quick else SETS
    return Selection(
        networks=chosen_networks,
        sizes=_once("sizes", rows),
        learners=tuple(name for name in chosen if name not in lacking),
        sets=default_sets if sets is None else _options.whole("sets", sets, least=1, most=MOST_SETS),
        left_out=missing,
    )


def _known(
    noun: str, names: Iterable[str] | None, known: Mapping[str, object], usual: tuple[str, ...]
) -> tuple[str, ...]:
    if names is None:
        return usual
    listed = tuple(names)
    for name in listed:
        if name not in known:
            raise OptionError(unknown_name(noun, name, known))
    return _once(f"{noun}s", listed)


def _once(what: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    if not values:
        raise OptionError(Use(what), ": none is given")
    return tuple(dict.fromkeys(values))


def _installed(package: str) -> bool:
    return not package or find_spec(package) is not None
