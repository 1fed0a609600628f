"""Options of reading a table, each declared once: for `open_table`, its documentation and the command line.

A check here looks at one option alone; :mod:`f2sl.data.open` looks at those that must agree with each other.
"""

from __future__ import annotations

import codecs
import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from f2sl._constants import AUTO
from f2sl._notes import Note, Use
from f2sl._options import Option, any_of, anything, flag, several, unless_none
from f2sl._synonyms import kind_meant
from f2sl.errors import OptionError, unknown_name

KINDS = ("discrete", "continuous")
"""Kinds of columns."""
ALL = "*"
"""Stands for all columns where columns are named that are to be cut."""

_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "whitespace": " ", "space": " ", "comma": ","}


def nearest_of(name: str, value: Any, noun: str, known: Iterable[str]) -> str:
    """Check one of a few words; the message has the nearest of them."""
    if not isinstance(value, str) or value not in known:
        problem = unknown_name(noun, value, known)
        raise OptionError(Note(problem.kind, Use(name), ": ", problem, **problem.values))
    return value


def kinds(name: str, value: Any) -> Any:
    """Check the kind of all columns, or of those in a dictionary; return names as strings."""
    value = kind_meant(value)
    if not isinstance(value, Mapping):
        return nearest_of(name, value, "kind of column", (AUTO, *KINDS))
    return {
        str(column): nearest_of(name, kind_meant(kind), "kind of column", KINDS)
        for column, kind in value.items()
    }


def bins(name: str, value: Any) -> dict[str, int | str]:
    """Check numbers of intervals; return them by column.

    Examples
    --------
    >>> bins("bins", 5), bins("bins", {"age": "auto"}), bins("bins", None)
    ({'*': 5}, {'age': 'auto'}, {})
    """
    found: dict[str, int | str] = {}
    given = value if isinstance(value, Mapping) else {} if value is None else {ALL: value}
    for column, k in given.items():
        try:
            count = operator.index(k)
        except TypeError:
            count = 2 if isinstance(k, str) and k == AUTO else 0
        if isinstance(k, bool) or count < 2:
            where = "" if column == ALL else f" for column {str(column)!r}"
            takes = f' takes a whole number of at least 2, or "auto"{where}, got {k!r}'
            raise OptionError(Use(name), takes)
        found[str(column)] = AUTO if isinstance(k, str) else count
    return found


def delimiter(name: str, value: Any) -> str:
    """Check a delimiter; return the character."""
    character = _DELIMITER_NAMES.get(value, value) if isinstance(value, str) else ""
    if len(character) != 1 or character in '"\r\n' or not character.isascii():
        raise OptionError(Use(name), f" takes a single character, got {value!r}")
    return character


def encoding(name: str, value: Any) -> Any:
    """Check that Python knows an encoding."""
    try:
        codecs.lookup(value)
    except (LookupError, TypeError):
        unknown = f": unknown encoding {value!r}; utf-8 and latin-1 are known"
        raise OptionError(Use(name), unknown) from None
    return value


def comment(name: str, value: Any) -> str:
    """Check the beginning of comment lines."""
    if not (isinstance(value, str) and value):
        raise OptionError(Use(name), f" takes the beginning of comment lines, such as #, got {value!r}")
    return value


def as_text(name: str, value: Any) -> str:
    """Return a name as a string."""
    return str(value)


_OPTIONS = (
    Option("names", anything, commands=()).says(
        "Names for the columns; by default those of the data, or x0, x1, ..."
    ),
    Option("kinds", kinds, AUTO, metavar="auto|discrete|continuous").says(
        "Kind of all columns: discrete, continuous, or as their values suggest (auto).",
        "Or a dictionary with the kinds of some columns. By default strings, booleans, categories and "
        "integers with up to 7 values are discrete; real numbers, dates and other integers are continuous. "
        "If all columns are integers that look like codes of states, those with up to 12 values are "
        "discrete, or up to 32 if there are at least as many rows as the square of that. Floats that are "
        "all whole count as integers. Dates are read as days since 1970-01-01, times of day and durations as "
        "seconds. On request any integers and dates are discrete, but real numbers only if they have few "
        "values.",
    ),
    Option("bins", bins, repeats=True, metavar="K or COLUMN=K").says(
        "Cut all continuous columns, or one, into K intervals; K may be auto.",
        'A number for all columns, or a dictionary by column, in which "*" stands for all others. '
        '"auto" is the fourth root of the number of rows, from 3 to 10.',
    ),
    Option("binning", partial(nearest_of, noun="way to cut", known=("quantile", "width")), "quantile").says(
        "Cut into intervals with equally many rows (quantile) or of equal width (width)."
    ),
    Option(
        "missing",
        partial(
            nearest_of, noun="way to treat missing values", known=("available", "state", "drop", "error")
        ),
        "available",
    ).says(
        "Missing values: use for each question the rows that have its columns (available), treat "
        "missing as a state (state), drop incomplete rows (drop), or stop with an error (error).",
        'The state is called "<missing>".',
    ),
    Option("drop", several, (), repeats=True, metavar="COLUMN").says(
        "Columns to leave out, such as identifiers."
    ),
    Option("keep", several, (), repeats=True, metavar="COLUMN").says(
        "Columns to keep as they are even if they look like identifiers.",
        "By default integers and dates that count the rows or differ in each, columns with a name "
        "like ``id``, and labels with very few rows each are left out, and beside continuous columns only "
        "the most frequent of more than 50 labels stay; notes say so.",
    ),
    Option("date_parts", several, (), repeats=True, metavar="COLUMN").says(
        "Columns of dates to read as year (continuous), month and weekday (discrete).",
        "``day`` becomes ``day.year``, ``day.month`` and ``day.weekday``.",
    ),
    Option("weights", unless_none(as_text), metavar="COLUMN").says(
        "Column with the number of rows that each row stands for.",
        "The result is the same as if each row were repeated that often.",
    ),
    Option("aliases", any_of("keep", "merge"), "keep", switch=("--merge-aliases", "merge")).says(
        "Merge columns that determine each other one to one: learn from the first, and draw the others "
        "beside it.",
        'Discrete columns that determine each other one to one: keep all and note it ("keep"), or '
        'learn from the first of each group and draw the others beside it ("merge").',
    ),
    Option("transform", any_of(AUTO, "ranks", "none"), AUTO).says(
        "Learn from normal scores of the ranks of continuous columns (ranks), from their values (none), or "
        "from what explains more (auto).",
        "With scores, outliers and the shape of a column do not matter; the values of the table stay. "
        '"auto" takes scores of columns that are not normal, unless linear relations of the values '
        "explain more; a note names these columns. NOTEARS and DAG-GNN, to which the size of a number "
        'matters, read "auto" as "none".',
    ),
    Option("delimiter", unless_none(delimiter)).says(
        "Delimiter of a CSV file: a character, tab or space; detected by default.",
        "A space stands for any white space.",
    ),
    Option("header", flag, True, switch=("--no-header", False)).says(
        "Read the first line of a CSV file as data; columns are named x0, x1, ...",
        "True if the first line of a text file has the names of the columns.",
    ),
    Option("encoding", unless_none(encoding)).says(
        "Encoding of a CSV file, such as latin-1; UTF-8 by default.",
        "UTF-16 is known by its byte order mark.",
    ),
    Option("comment", unless_none(comment), metavar="TEXT").says(
        "Skip lines of a CSV file that begin with this text."
    ),
    Option("na", several, (), repeats=True, metavar="VALUE").says(
        "Values to read as missing, too; -999 also matches -999.0.",
        "A note names values that do not occur. In files, empty cells, ``NA``, ``N/A``, ``null``, "
        "``nan`` and ``?`` are missing anyway, and in continuous columns also ``None``, ``-`` and ``.``; "
        "a note names those found. In data frames only what the library itself calls missing is: "
        '``"?"`` is a state there.',
    ),
    Option("engine", any_of(AUTO, "memory", "stream", "dask"), AUTO).says(
        "Hold the table in memory (memory), read it in blocks (stream), use a Dask cluster (dask), or "
        "choose by its size (auto).",
        "By default in memory, unless it comes from files and would take more than `memory`; a note says so.",
    ),
    Option("memory", anything, metavar="SIZE").says(
        "Largest amount of memory to use, such as 256MB; half of the free memory by default.",
        "It is for the table and for learning from it.",
    ),
    Option("scheduler", anything, metavar="ADDRESS").says(
        "Address of the Dask scheduler, such as tcp://HOST:8786; by default f2sl starts workers on "
        "this machine.",
        "Or a ``dask.distributed.Client``.",
    ),
)

READING = {option.name: replace(option, purpose="Reading the table") for option in _OPTIONS}
"""Options of `open_table` on reading and holding a table; no learner has them."""
