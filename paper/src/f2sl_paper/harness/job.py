"""Work, limits and results, which the parts of the harness share."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)

DONE, OVER_TIME, OVER_MEMORY, FAILED, SKIPPED = "done", "time", "memory", "failed", "skipped"
"""States of a job: measured, stopped at a limit, ended by an error, or not tried because a job that is no
larger exceeded a limit."""


class Limits(NamedTuple):
    """Time and memory that each job may use."""

    seconds: float
    bytes: int


class Measured(NamedTuple):
    """Seconds of a job, its measures, and a remark on it."""

    seconds: float
    measures: dict[str, Any]
    message: str = ""


@dataclass(frozen=True)
class Ended(Generic[Key]):
    """End of a job; one that was skipped names the job that exceeded a limit."""

    key: Key
    state: str
    message: str = ""
    seconds: float | None = None
    peak_bytes: int | None = None
    measures: dict[str, Any] = field(default_factory=dict)
    blocked_by: Key | None = None


Task = Callable[[Callable[[], None]], Measured]
"""Runs a job in the current process. It calls its argument when all is ready: the time limit starts then."""


class Work(Generic[Key]):
    """Work of a run's jobs. It is pickled and sent to the server, so its class must be importable."""

    fresh: ClassVar[bool] = False
    """True if each job gets a new interpreter, to which its task is sent. Otherwise its process is forked
    from the server and shares what was prepared there; the server then has one thread, since forking is not
    safe with more."""

    def prepare(self) -> Generator[str, None, Any]:
        """Prepare the data of all jobs in the server; yield the stages, return the keeper's data."""
        yield from ()

    def task(self, key: Key) -> Task:
        """Return the task of a job; called in the server, which keeps what jobs share."""
        raise NotImplementedError


class Keeper(Generic[Key]):
    """Storage of the results of a run."""

    def begin(self, prepared: Any) -> None:
        """Receive the prepared data; jobs start after that."""

    def start(self, key: Key) -> None:
        """Record that a job starts."""

    def keep(self, ended: Iterable[Ended[Key]]) -> None:
        """Store how jobs ended."""
        raise NotImplementedError
