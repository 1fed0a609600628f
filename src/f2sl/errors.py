"""The errors that f2sl raises.

Everything that goes wrong because of what a user handed over is an
:class:`F2SLError`, so that one ``except`` catches all of it. The subclasses say
where the trouble lies, and each is also a :class:`ValueError` or an
:class:`OSError` for code that knows only those.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class F2SLError(Exception):
    """The base of all errors that f2sl raises on purpose."""


class DataError(F2SLError, ValueError):
    """The table cannot be learned from; the message names the column or the row."""


class OptionError(F2SLError, ValueError):
    """An option has a value that it cannot have; the message lists what it takes."""


class GraphError(F2SLError, ValueError):
    """A graph is malformed, or two graphs do not fit each other."""


class FileError(F2SLError, OSError):
    """A file cannot be read or written; the message names the path."""


class Interrupted(KeyboardInterrupt):
    """The user stopped the work with Ctrl-C; `finished` is what was done by then.

    It is no :class:`F2SLError`: nothing is wrong, and who catches errors does not mean to go on after Ctrl-C.
    """

    def __init__(self, finished: Any) -> None:
        super().__init__("interrupted; what was finished is kept")
        self.finished = finished


class F2SLWarning(UserWarning):
    """Something the user should know that does not stop the work."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that `name` is not one of `known`, and which of them comes nearest.

    Examples
    --------
    >>> unknown_name("algorithm", "f2slc", ["f2sl-c", "mmhc"])
    "unknown algorithm 'f2slc'; did you mean 'f2sl-c'? Known: f2sl-c, mmhc"
    """
    names = list(known)
    plain = {known.casefold(): known for known in reversed(names)}
    near = difflib.get_close_matches(str(name).casefold(), plain, n=1, cutoff=0.5)
    hint = f"; did you mean {plain[near[0]]!r}?" if near else "."
    shown = ", ".join(names) if len(names) <= 30 else ", ".join(names[:30]) + f", ... ({len(names)} in all)"
    return f"unknown {kind} {name!r}{hint} Known: {shown}"
