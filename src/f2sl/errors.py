"""The errors that f2sl raises.

Everything that goes wrong because of what a user handed over is an
:class:`F2SLError`, so that one ``except`` catches all of it. The subclasses say
where the trouble lies, and each is also a :class:`ValueError` or an
:class:`OSError` for code that knows only those.
"""

from __future__ import annotations

import difflib
import sys
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


class NotFittedError(F2SLError, ValueError, AttributeError):
    """A learner was asked for what it has learned before it has learned anything."""


def not_fitted(learner: object) -> NotFittedError:
    """Make the error; it is scikit-learn's as well where that is in use, without importing it."""
    message = f"this {type(learner).__name__} is not fitted yet: call its fit with data first"
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    if theirs is None:
        return NotFittedError(message)
    both: type[NotFittedError] = type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})
    return both(message)


class FileError(F2SLError, OSError):
    """A file cannot be read or written; the message names the path."""


class ClusterError(F2SLError, OSError):
    """A cluster does not answer, cannot be used, or was lost; the message names its address."""


class Interrupted(KeyboardInterrupt):
    """The user stopped the work with Ctrl-C; `finished` is what was done by then.

    It is no :class:`F2SLError`: nothing is wrong, and who catches errors does not mean to go on after Ctrl-C.
    """

    def __init__(self, finished: Any) -> None:
        super().__init__("interrupted; what was finished is kept")
        self.finished = finished


class F2SLWarning(UserWarning):
    """Something the user should know that does not stop the work."""


LONGEST_NAME = 100
"""The most characters of a name that a message quotes. A file can have names of any length."""
MOST_COMPARED = 4_000_000
"""The most pairs of characters to compare for a hint: at worst a second."""


def shortened(text: str) -> str:
    """Cut a text that is too long for a message.

    Examples
    --------
    >>> shortened("HR"), len(shortened("x" * 1000))
    ('HR', 100)
    """
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def shown(name: object) -> str:
    """Quote a name in a message.

    Examples
    --------
    >>> print(shown("HR"), shown(None))
    'HR' None
    """
    return repr(shortened(name)) if isinstance(name, str) else shortened(repr(name))


def shown_list(names: Iterable[object]) -> str:
    """List names in a message, the first thirty and how many there are.

    Examples
    --------
    >>> shown_list(["f2sl-c", "mmhc"])
    'f2sl-c, mmhc'
    """
    listed = [str(name) for name in names]
    first = ", ".join(map(shortened, listed[:30]))
    return first if len(listed) <= 30 else f"{first}, ... ({len(listed)} in all)"


def unknown_name(noun: str, name: object, known: Iterable[str]) -> str:
    """Return the message that `name` is not one of `known`, with the nearest of them.

    Examples
    --------
    >>> unknown_name("algorithm", "f2slc", ["f2sl-c", "mmhc"])
    "unknown algorithm 'f2slc'; did you mean 'f2sl-c'? Known: f2sl-c, mmhc"
    """
    names = list(known)
    near = nearest(str(name), names)
    hint = "." if near is None else f"; did you mean {shown(near)}?"
    return f"unknown {noun} {shown(name)}{hint} Known: {shown_list(names)}"


def nearest(name: str, names: list[str]) -> str | None:
    """Return the name that is most like another, or None; None also if there is too much to compare.

    Examples
    --------
    >>> nearest("algoritm", ["alpha", "algorithm"])
    'algorithm'
    """
    if len(name) > LONGEST_NAME or len(name) * sum(map(len, names)) > MOST_COMPARED:
        return None
    plain = {known.casefold(): known for known in reversed(names)}
    longer = [known for known in plain if name and known.startswith(name.casefold())]
    if longer:
        return plain[min(longer, key=len)]
    near = difflib.get_close_matches(name.casefold(), plain, n=1, cutoff=0.5)
    return plain[near[0]] if near else None
