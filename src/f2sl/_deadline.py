"""Time limit of a search."""

from __future__ import annotations

import time


class Deadline:
    """Time limit that starts when the object is created.

    Parameters
    ----------
    seconds : float, optional
        None for no limit.

    Examples
    --------
    >>> Deadline(None).passed, Deadline(1e-9).passed
    (False, True)
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """True if the time is up."""
        return self._end is not None and time.monotonic() >= self._end
