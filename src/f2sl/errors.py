"""The errors that f2sl raises.

Every error that the user's input causes is an :class:`F2SLError`, so that
one ``except`` catches all of them. Each subclass is also a
:class:`ValueError` or an :class:`OSError`.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from f2sl._notes import Note, Part, Spelling, joined, note_of
from f2sl._synonyms import answer as answer_to


def printable(text: object) -> str:
    r"""Return a text on one line, with characters escaped that would break it or control a terminal.

    Examples
    --------
    >>> print(printable("two words"), printable("two\nlines"))
    two words two\nlines
    """
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in plain)


class F2SLError(Exception):
    """Base class of all errors that f2sl raises on purpose; names and paths in messages are escaped.

    Parameters
    ----------
    *parts : str or part
        What is wrong, with the options in it as objects (:mod:`f2sl._notes`).
    columns : iterable of str
        Names of the columns at fault.
    **values
        Further facts.

    Attributes
    ----------
    problems : tuple of Note
        All that is wrong: kind, text, columns and options of each.

    Examples
    --------
    >>> import f2sl
    >>> try:
    ...     f2sl.open_table({"a": [1, 2], "mm": [0.5, float("inf")]})
    ... except f2sl.DataError as error:
    ...     [problem] = error.problems
    >>> problem.kind, problem.columns, problem.options
    ('infinite', ('mm',), (Use(option='drop', value=['mm']),))
    """

    kind: ClassVar[str] = "error"
    """Kind of problems that name none."""
    between: str = "; "
    """Separator of several problems."""

    def __init__(self, *parts: Part, columns: Iterable[str] = (), **values: Any) -> None:
        if len(parts) == 1 and isinstance(parts[0], Note):
            problem = parts[0]
        else:
            problem = Note(self.kind, *parts, columns=columns, **values)
        super().__init__(str(problem))
        self.problems: tuple[Note, ...] = (problem,)

    @classmethod
    def of(cls, problems: Iterable[str], between: str = "; ") -> Self:
        """Return one error about several problems."""
        found = tuple(note_of(problem, cls.kind) for problem in problems)
        error = cls(between.join(map(str, found)))
        error.problems, error.between = found, between
        return error

    def __str__(self) -> str:
        return self.written()

    @property
    def note(self) -> Note:
        """All problems as one note, for an error that says where they are."""
        return joined(self.problems, self.between)

    def written(self, spelling: Spelling = str) -> str:
        """Return the message with options in a front end's own spelling."""
        return printable(self.note.written(spelling))


class DataError(F2SLError, ValueError):
    """Error in a table; the message names the column or the row."""

    kind = "data"


class OptionError(F2SLError, ValueError):
    """Invalid value of an option; the message lists the valid ones."""

    kind = "option"


class GraphError(F2SLError, ValueError):
    """Malformed graph, or two graphs that do not match."""

    kind = "graph"


class NotFittedError(F2SLError, ValueError, AttributeError):
    """Access to the result of a learner that is not fitted."""

    kind = "not-fitted"


def not_fitted(learner: object) -> NotFittedError:
    """Return the error; it is also scikit-learn's, if scikit-learn has been imported."""
    message = f"this {type(learner).__name__} is not fitted yet: call its fit with data first"
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    if theirs is None:
        return NotFittedError(message)
    both: type[NotFittedError] = type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})
    return both(message)


class FileError(F2SLError, OSError):
    """File that cannot be read or written; the message names the path."""

    kind = "file"


class ClusterError(F2SLError, OSError):
    """Cluster that does not answer, cannot be used or was lost; the message names its address."""

    kind = "cluster"


class Interrupted(KeyboardInterrupt):
    """Interrupt by Ctrl-C of a learner with a partial result, `finished`.

    It is not an :class:`F2SLError`: code that catches errors should not continue after Ctrl-C.
    """

    def __init__(self, finished: Any) -> None:
        super().__init__("interrupted; the partial result is kept")
        self.finished = finished


class F2SLWarning(UserWarning):
    """Warning that does not stop the work."""


LONGEST_NAME = 100
"""Largest number of characters of a name that a message quotes."""
MOST_COMPARED = 4_000_000
"""Largest number of pairs of characters to compare for a hint: at worst a second."""


def shortened(text: str) -> str:
    """Return a text, cut if it is too long for a message.

    Examples
    --------
    >>> shortened("HR"), len(shortened("x" * 1000))
    ('HR', 100)
    """
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def shown(name: object) -> str:
    """Return a name as messages quote it.

    Examples
    --------
    >>> print(shown("HR"), shown(None))
    'HR' None
    """
    return repr(shortened(name)) if isinstance(name, str) else shortened(repr(name))


def shown_list(names: Iterable[object]) -> str:
    """Return names as messages list them: the first thirty and the total number.

    Examples
    --------
    >>> shown_list(["f2sl-c", "mmhc"])
    'f2sl-c, mmhc'
    """
    listed = [str(name) for name in names]
    first = ", ".join(printable(shortened(name)) for name in listed[:30])
    return first if len(listed) <= 30 else f"{first}, ... ({len(listed)} in all)"


def unknown_name(noun: str, name: object, known: Iterable[str], answer: str | None = None) -> Note:
    """Return the message that `name` is not one of `known`, with the nearest of them, or with an answer.

    Its `values` hold the name, and the list of those `nearest` to it.

    Examples
    --------
    >>> unknown_name("algorithm", "f2slc", ["f2sl-c", "mmhc"])
    "unknown algorithm 'f2slc'; did you mean 'f2sl-c'? Known: f2sl-c, mmhc"
    >>> message = unknown_name("score", "bde", ["bdeu", "k2"])
    >>> message, message.values
    ("unknown score 'bde'; nearest is 'bdeu'. Known: bdeu, k2", {'name': 'bde', 'nearest': ['bdeu']})
    """
    names = list(known)
    hint = answer or answer_to(noun, name)
    said: tuple[Part, ...] = (".",)
    found: list[str] = []
    if hint is not None:
        said, found = ("; ", hint, "."), note_of(hint).values.get("nearest", [])
    elif (near := nearest(str(name), names)) is not None:
        said, found = (f"; did you mean {shown(near)}?",), [near]
    text = f"unknown {noun} {shown(name)}"
    listed = f" Known: {shown_list(names)}"
    return Note("unknown-name", text, *said, listed, name=_plain(name), nearest=found)


def _plain(name: object) -> object:
    """Return a name as a record holds it: words and numbers as they are, anything else as text."""
    return name if name is None or isinstance(name, (str, bool, int, float)) else repr(name)


def nearest(name: str, names: list[str]) -> str | None:
    """Return the most similar name, or None if no name is similar or there are too many to compare.

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
