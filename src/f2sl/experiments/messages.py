"""What the processes of a run tell each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from f2sl.experiments.store import NetworkFacts, Unit


class Order(NamedTuple):
    """What the server is to prepare for, and how units are to run; after it, units are sent one by one."""

    units: tuple[Unit, ...]
    folder: Path | None
    threads: int
    time_limit: float
    memory_limit: int


class Stage(NamedTuple):
    """Tells what the server is preparing."""

    text: str


class Ready(NamedTuple):
    """Tells that units can run."""

    facts: tuple[NetworkFacts, ...]


class Begun(NamedTuple):
    """Tells that a unit's learner has all it needs: its time begins."""


@dataclass(frozen=True)
class Ended:
    """Tells how a unit came out."""

    unit: Unit
    state: str
    message: str = ""
    seconds: float | None = None
    peak_bytes: int | None = None
    measures: dict[str, float] = field(default_factory=dict)
