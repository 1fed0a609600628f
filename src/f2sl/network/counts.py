"""Counts and values of a family, a variable with its parents, in a table.

Cells are numbered like the entries of a probability table: the last variable's state changes fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._constants import AUTO, OTHER
from f2sl.data.binning import interval_codes
from f2sl.data.column import CONTINUOUS, DISCRETE, MIXED, ReadAs
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.errors import DataError, shown, unknown_name

TRUTH_VALUES = ("true", "false")
"""Labels that readers of CSV files take for booleans, in any case: TRUE comes back as True."""


def cell_numbers(
    codes: Sequence[NDArray[Any]] | NDArray[Any], variables: Sequence[int], sizes: Sequence[int]
) -> Integers:
    """Number the cell of each sample in the table of some variables, one row of `codes` for each variable.

    Examples
    --------
    >>> cell_numbers(np.array([[0, 1, 1], [2, 0, 2]]), [0, 1], [2, 3]).tolist()
    [2, 3, 5]
    """
    number = np.zeros(len(codes[0]), np.int64)
    for variable in variables:
        number *= sizes[variable]
        number += codes[variable]
    return number


@contextmanager
def table_of(
    data: Any, kinds: str | Mapping[str, str], allow_missing: bool = False, learned: ReadAs | None = None
) -> Iterator[Table]:
    """Open a table with columns of these kinds, as a network needs it, for a ``with`` block.

    A table that was already open stays open. Missing values are refused unless `allow_missing` is true.
    """
    if isinstance(data, Table):  # it has its kinds
        kinds = AUTO
    takes = DISCRETE, CONTINUOUS, MIXED
    table = open_for(takes, "a Bayesian network", data, min_variables=1, kinds=kinds, learned=learned)
    if not allow_missing:
        table.refuse_missing("a Bayesian network")
    with nullcontext() if table is data else table:
        yield table


class NetworkRows:
    """Rows of a table, in terms of a network's variables and their states.

    Parameters
    ----------
    table : Table
        The samples.
    variables : sequence of str
        The names of the network's variables, which are numbered in this order.
    states : mapping of str to tuple of str
        The states of each variable that has any.

    Raises
    ------
    DataError
        If the table has other variables, other kinds of variables, or states that the network does not have.

    Examples
    --------
    >>> with table_of({"b": ["u", "u", "v"], "a": ["x", "y", "y"]}, "discrete") as table:
    ...     families = NetworkRows(table, ["a", "b"], {"a": ("y", "x"), "b": ("u", "v")})
    >>> families.count([0, 1]).tolist()
    [[1, 1], [1, 0]]
    >>> families.configurations([0]).tolist()
    [1, 0, 0]
    """

    def __init__(self, table: Table, variables: Sequence[str], states: Mapping[str, tuple[str, ...]]) -> None:
        self._codes = [table.column(i) for i in range(table.n_variables)]
        self._sizes = table.cardinalities.tolist()
        self._columns = columns_of(table, variables)
        self._missing = table.missing
        for name, column in zip(variables, self._columns, strict=True):
            if (table.kinds[column] == DISCRETE) != (name in states):
                raise DataError(f"{table.describe_columns([column])}, unlike this variable of the network")
        self._shape = [len(states.get(name, ())) for name in variables]
        self._numbers = [
            _numbers(name, table.states[column], states.get(name, ()))
            for column, name in zip(self._columns, variables, strict=True)
        ]

    def split(self, variables: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the discrete and the continuous variables."""
        return [v for v in variables if self._shape[v]], [v for v in variables if not self._shape[v]]

    def shape(self, variables: Sequence[int]) -> tuple[int, ...]:
        """Return the numbers of states of some variables."""
        return tuple(self._shape[v] for v in variables)

    def complete(self, variables: Sequence[int]) -> Mask | slice:
        """Return which rows have values for all these variables."""
        rows: Mask | slice = slice(None)
        for column in (self._columns[v] for v in variables):
            if self._missing[column]:
                codes, size = self._codes[column], self._sizes[column]
                there = codes < size if size else ~np.isnan(codes)
                rows = there if isinstance(rows, slice) else rows & there
        return rows

    def configurations(self, variables: Sequence[int], rows: Mask | slice = slice(None)) -> Integers:
        """Number the configuration of some discrete variables in each of the rows, which have them all."""
        number = np.zeros(len(self._codes[0][rows]), np.int64)
        for v in variables:
            number = number * self._shape[v] + self._numbers[v][self._codes[self._columns[v]][rows]]
        return number

    def values(self, variable: int) -> Floats:
        """Return the numbers of a variable, NaN where missing."""
        return np.asarray(self._codes[self._columns[variable]])

    def count(self, family: Sequence[int]) -> Integers:
        """Return the counts of some variables, an axis for each, in the rows that have all of them."""
        columns = [self._columns[variable] for variable in family]
        shape = [self._sizes[column] for column in columns]
        rows = self.complete(family)
        cells = cell_numbers([self._codes[column][rows] for column in columns], range(len(columns)), shape)
        found = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        counts = np.zeros([self._shape[variable] for variable in family], np.int64)
        counts[np.ix_(*(self._numbers[variable] for variable in family))] = found
        return counts


def columns_of(table: Table, names: Sequence[str]) -> list[int]:
    """Return the column of each variable in a table; the table must have these variables and no others."""
    position = {name: i for i, name in enumerate(table.names)}
    for name in names:
        if name not in position:
            raise DataError(f"the table has no column {shown(name)}, which is a variable of the network")
    known = set(names)
    for name in table.names:
        if name not in known:
            raise DataError(f"column {shown(name)} is not a variable of the network; leave it out")
    return [position[name] for name in names]


def code_of(states: Sequence[str], label: object) -> int | None:
    """Return the number of the state that a label stands for; None if it is not a state.

    TRUE and True are the same state, and so are 3, 3.0 and "3".

    Examples
    --------
    >>> code_of(("no", "TRUE"), True), code_of(("no", "yes"), "maybe"), code_of(("2", "3"), 3.0)
    (1, None, 1)
    """
    text = str(label)
    if text in states:
        return states.index(text)
    found: object = text.casefold()
    plain: list[object] = [state.casefold() for state in states]
    if found not in TRUTH_VALUES:
        number = _decimal(text)
        if number is None:
            return None
        found, plain = number, [_decimal(state) for state in states]
    return plain.index(found) if plain.count(found) == 1 else None


def placed_code(states: Sequence[str], value: object) -> int | None:
    """Return the number of the state that a value stands for, or of the interval that holds it, if any.

    Examples
    --------
    >>> placed_code(("[18, 40)", "[40, 80]"), 39.5), placed_code(("[18, 40)", "[40, 80]"), "old")
    (0, None)
    """
    code, number = code_of(states, value), _decimal(str(value))
    if code is None and number is not None:
        placed = interval_codes(states, np.array([float(number)]))
        code = None if placed is None else int(placed[0])
    return states.index(OTHER) if code is None and OTHER in states else code


def _decimal(text: str) -> Decimal | None:
    """Return a text as a finite number, or None; decimals distinguish neighboring large integers."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _numbers(name: str, labels: tuple[object, ...], states: tuple[str, ...]) -> Integers:
    """Return the number of each label among a variable's states.

    Declared labels that are not states are refused even if they do not occur: they belong to another
    variable.
    """
    found: dict[int, object] = {}
    for label in labels:
        code = code_of(states, label)
        if code is None:
            raise DataError(f"column {shown(name)}: {unknown_name('state', str(label), states)}")
        if code in found:
            both = f"{shown(found[code])} and {shown(label)} are both the state {shown(states[code])}"
            raise DataError(f"column {shown(name)}: {both}; use one spelling")
        found[code] = label
    return np.fromiter(found, np.int64, len(found))
