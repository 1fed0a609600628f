"""Names of columns: generated if missing, checked if given.

f2sl identifies a variable by its name everywhere: in results, in files, and in the rule that breaks ties. So
a name is a non-empty string that no other column has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from f2sl._notes import Note, Part, Use
from f2sl.errors import DataError, OptionError


def is_nameless(name: str, i: int) -> bool:
    """Return whether column `i` has only a generated name, from f2sl or from pandas."""
    return name in (f"column {i + 1}", f"Unnamed: {i}")


def generated_names(n: int) -> tuple[str, ...]:
    """Name `n` columns so that the order of the names is the order of the columns.

    Examples
    --------
    >>> generated_names(3)
    ('x0', 'x1', 'x2')
    >>> generated_names(11)[8:]
    ('x08', 'x09', 'x10')
    """
    digits = len(str(max(n - 1, 0)))
    return tuple(f"x{i:0{digits}d}" for i in range(n))


def column_names(given: Iterable[object]) -> tuple[str, ...]:
    """Turn the column labels of a table into names: strip surrounding spaces, and name empty ones.

    Raises
    ------
    DataError
        If two columns end up with the same name.

    Examples
    --------
    >>> column_names(["", " age ", 7])
    ('column 1', 'age', '7')
    >>> column_names(["a", "b", "a"])
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column names must differ from each other: 'a' occurs 2 times; rename them
    """
    originals = list(given)
    names = tuple(str(label).strip() or f"column {i}" for i, label in enumerate(originals, 1))
    if len(set(names)) == len(names):
        return names
    repeated = {name: times for name, times in Counter(names).items() if times > 1}
    converted = any(
        not isinstance(label, str) for label, name in zip(originals, names, strict=True) if name in repeated
    )
    shown = listing([f"{name!r} occurs {times} times" for name, times in repeated.items()])
    why: list[Part] = [" (names that are not strings are converted with str())"] if converted else []
    if all(name.replace(".", "", 1).isdigit() for name in repeated):
        why += ["; if the first line of the file is data, use ", Use("header", False)]
    lead = f"column names must differ from each other: {shown}"
    raise DataError(Note("names", lead, *(why or ["; rename them"]), columns=repeated))


def chosen_names(names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    """Check the names that a user gave to `n` columns; None stays None.

    Examples
    --------
    >>> chosen_names(["a", "b"], 3)
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: names has 2 entries, but the table has 3 columns
    """
    if names is None:
        return None
    if isinstance(names, str):
        raise OptionError(Use("names"), f" takes a list of strings, got the single string {names!r}")
    if len(names) != n:
        raise OptionError(Use("names"), f" has {len(names)} entries, but the table has {n} columns")
    return column_names(names)


def listing(items: Sequence[str], limit: int = 10) -> str:
    """Join `items` by commas, and only count those after the first `limit`.

    Examples
    --------
    >>> listing(["'a'", "'b'", "'c'"], limit=2)
    "'a', 'b' ... and 1 more"
    """
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} ... and {len(items) - limit} more"
