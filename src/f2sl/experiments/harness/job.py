"""What the processes of a run share: work, limits, and the messages they send each other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)

DONE, OVER_TIME, OVER_MEMORY, FAILED, SKIPPED = "done", "time", "memory", "failed", "skipped"
"""States of a job: measured, stopped at a limit, ended by an error, or not tried because a job that is no
larger exceeded a limit."""


class Limits(NamedTuple):
    """What each job may use."""

    seconds: float
    bytes: int


class Measured(NamedTuple):
    """What a job took, what it measured, and a remark on it."""

    seconds: float
    measures: dict[str, float]
    message: str = ""


Task = Callable[[Callable[[], None]], Measured]
"""Runs a job in the current process. It calls its argument when all is ready: the time limit starts then."""


class Work(Generic[Key]):
    """What the jobs of a run do. It is pickled and sent to the server, so its class must be importable."""

    fresh: ClassVar[bool] = False
    """Whether each job gets a new interpreter, to which its task is sent. Otherwise its process is forked
    from the server and shares what was prepared there; the server then has one thread, since forking is not
    safe with more."""

    def prepare(self) -> Generator[str, None, Any]:
        """Prepare in the server what all jobs need; yield the stages, return what the caller needs."""
        yield from ()

    def task(self, key: Key) -> Task:
        """Return the task of a job; called in the server, which keeps what jobs share."""
        raise NotImplementedError


class Order(NamedTuple):
    """First message to the server; keys of jobs follow, one by one."""

    work: Work[Any]
    limits: Limits


class Stage(NamedTuple):
    """Message of the server: what it is preparing."""

    text: str


class Ready(NamedTuple):
    """Message of the server: jobs can run."""

    prepared: Any


class Job(NamedTuple):
    """What the process of a job gets from the server."""

    key: Any
    task: Task
    memory_limit: int


class Begun(NamedTuple):
    """Message of a job: its time starts now."""


@dataclass(frozen=True)
class Ended(Generic[Key]):
    """How a job ended; `blocked_by` is the job that exceeded a limit because of which it was skipped."""

    key: Key
    state: str
    message: str = ""
    seconds: float | None = None
    peak_bytes: int | None = None
    measures: dict[str, float] = field(default_factory=dict)
    blocked_by: Key | None = None
