"""Whether a table holds states or real numbers.

Columns of real numbers make a table numeric, and columns of labels make it discrete; integers go
with either. A table with both is refused: what relates a label to a real number is no question
that f2sl's measures answer, until the numbers are cut into states.

>>> kind_of({"a": [0.5, 0.7], "b": [1, 2]}), kind_of({"a": ["x", "y"], "b": [1, 2]})
('gaussian', 'discrete')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from f2sl.errors import DataError, OptionError, unknown_name
from f2sl.reading.encode import as_table
from f2sl.reading.numeric import as_numeric
from f2sl.reading.problems import MIXED_ADVICE
from f2sl.reading.sources import Source, open_source
from f2sl.reading.values import Column, Refused
from f2sl.storage.memory.table import DiscreteTable, NumericTable
from f2sl.table.names import listing

Kind = Literal["discrete", "gaussian", "whole"]

READ_AS = ("auto", "discrete", "gaussian")

LAST_EXACT = 2.0**53
"""Above this all floats are whole numbers."""

HOLDS = {"discrete": "states", "gaussian": "real numbers"}
"""What a table of each kind holds, in words."""


def kind_for(kind: str, kinds: tuple[str, ...], learner: str) -> str:
    """Say what to read a table as for a learner that takes some kinds, or refuse what it cannot take.

    Examples
    --------
    >>> kind_for("auto", ("discrete", "gaussian"), "mmhc"), kind_for("auto", ("gaussian",), "tc")
    ('auto', 'gaussian')
    >>> kind_for("gaussian", ("discrete",), "sll")
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: kind="gaussian": sll learns from states alone
    """
    if kind not in READ_AS:
        raise OptionError(unknown_name("kind of table, kind =", kind, READ_AS))
    if kind == "auto":
        return kinds[0] if len(kinds) == 1 else "auto"
    if kind not in kinds:
        raise OptionError(f'kind="{kind}": {learner} learns from {HOLDS[kinds[0]]} alone')
    return kind


def kind_of(data: Any, *, bins: int | Mapping[str, int] | None = None) -> Kind:
    """Tell what a table holds.

    Parameters
    ----------
    data : anything that :func:`f2sl.as_table` takes
        The table.
    bins : int or dict, optional
        Which columns will be cut into states, as in :func:`f2sl.as_table`.

    Returns
    -------
    {"discrete", "gaussian", "whole"}
        States or real numbers; "whole" if all floats are whole numbers, as measurements may be and
        codes of states often are.

    Raises
    ------
    DataError
        If there are columns of labels (or columns to be cut) as well as columns of real numbers.

    Examples
    --------
    >>> kind_of({"a": [0.5, 0.7], "b": ["x", "y"]})
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'a' holds real numbers, and column 'b' holds states; cut all columns of real numbers into states with bins=5, say (on the command line --bins 5), or leave out the columns of the one kind
    """  # noqa: E501
    if isinstance(data, (DiscreteTable, NumericTable)):
        return "discrete" if isinstance(data, DiscreteTable) else "gaussian"
    if bins is not None and not isinstance(bins, Mapping):
        return "discrete"
    source = open_source(data)
    to_cut = set(map(str, bins or ()))
    uncut = [i for i, name in enumerate(source.names) if name not in to_cut]
    reals = {i: column for i in uncut if source.may_be_real(i) and (column := _real(source, i)) is not None}
    if not reals:
        return "discrete"
    states = [
        i for i in range(len(source.names)) if i not in reals and (i not in uncut or _labels(source, i))
    ]
    if states:
        both = f"{_told(source, list(reals), 'real numbers')}, and {_told(source, states, 'states')}"
        raise DataError(f"{both}; {MIXED_ADVICE}")
    return "whole" if all(map(_is_whole, reals.values())) else "gaussian"


def as_either(
    data: Any,
    kind: str = "auto",
    *,
    names: Sequence[str] | None = None,
    bins: int | Mapping[str, int] | None = None,
    binning: str = "quantile",
    missing: str = "error",
    min_variables: int = 1,
    whole: Literal["discrete", "gaussian"] = "discrete",
) -> DiscreteTable | NumericTable:
    """Read a table of states or of real numbers.

    Parameters
    ----------
    data, names, bins, binning, missing, min_variables
        As in :func:`f2sl.as_table`. Real numbers that are read as such are not cut, and gaps cannot become
        a state of theirs.
    kind : {"auto", "discrete", "gaussian"}
        What to read it as; by default what :func:`kind_of` says.
    whole : {"discrete", "gaussian"}
        What to take floats for that are all whole numbers where `kind` is "auto"; reading them as "discrete"
        refuses them and says what to do.

    Examples
    --------
    >>> as_either({"a": [0.5, 0.7], "b": [1, 2]}).notes
    ('all 2 columns read as real numbers (bins= would cut them into states)',)
    """
    source = data if isinstance(data, (DiscreteTable, NumericTable)) else open_source(data, names)
    if settled_kind(source, kind, bins, whole) == "discrete":
        return as_table(
            source, names=names, bins=bins, binning=binning, missing=missing, min_variables=min_variables
        )
    table = as_numeric(source, names=names, missing=missing, min_variables=min_variables)
    if kind == "auto" and source is not data:
        return NumericTable(table.names, table.values, (read_as_numbers(table.n_variables), *table.notes))
    return table


def settled_kind(
    data: Any,
    kind: str,
    bins: int | Mapping[str, int] | None = None,
    whole: Literal["discrete", "gaussian"] = "discrete",
) -> str:
    """Say what to read a table as, "discrete" or "gaussian", where `kind` may leave it open."""
    if kind not in READ_AS:
        raise OptionError(unknown_name("kind of table, kind =", kind, READ_AS))
    found: str = kind_of(data, bins=bins) if kind == "auto" else kind
    if found == "whole":
        found = whole
    if found == "gaussian" and bins is not None:
        raise OptionError('bins cuts real numbers into states, which kind="gaussian" does not want')
    return found


def read_as_numbers(n_variables: int) -> str:
    """Make the note of a table that was taken for real numbers unasked."""
    return f"all {n_variables} columns read as real numbers (bins= would cut them into states)"


def _column(source: Source, i: int) -> Column | None:
    try:
        return source.column(i)
    except Refused:
        return None  # told when the column is read


def _real(source: Source, i: int) -> Column | None:
    column = _column(source, i)
    return column if column is not None and column.kind == "reals" else None


def _labels(source: Source, i: int) -> bool:
    column = _column(source, i)
    return column is not None and column.kind == "labels"


def _is_whole(column: Column) -> bool:
    """Tell whether all numbers are whole; those beyond `LAST_EXACT` cannot be otherwise, and tell nothing."""
    numbers = column.values
    return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) <= LAST_EXACT)).all())


def _told(source: Source, columns: list[int], what: str) -> str:
    named = listing([repr(source.names[i]) for i in columns], limit=3)
    return f"column {named} holds {what}" if len(columns) == 1 else f"columns {named} hold {what}"
