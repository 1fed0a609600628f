"""How often the states of a family, a variable with its parents, occur together in a table.

Cells are numbered as the entries of a probability table are: the last variable's state changes fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl.errors import DataError, shown, unknown_name
from f2sl.reading.open import open_for
from f2sl.table import STATES, Table

Integers = NDArray[np.int64]

TRUTH_VALUES = ("true", "false")
"""What a CSV file's reader takes for booleans, in whatever case: TRUE comes back as True."""


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
def states_of(data: Any) -> Iterator[Table]:
    """Open a table of states, as the parameters of a network need it, for a ``with`` block.

    One that was open before stays so.
    """
    table = open_for((STATES,), "a Bayesian network", data, min_variables=1)
    table.refuse_gaps("a Bayesian network")
    with nullcontext() if table is data else table:
        yield table


class FamilyCounts:
    """Counts families in a table, in terms of a network's states.

    Parameters
    ----------
    table : Table
        The samples.
    states : mapping of str to tuple of str
        The states of each variable of the network. Variables are numbered in this order.

    Raises
    ------
    DataError
        If the table has other variables, or states that are none of the network's.

    Examples
    --------
    >>> with states_of({"b": ["u", "u", "v"], "a": ["x", "y", "y"]}) as table:
    ...     FamilyCounts(table, {"a": ("y", "x"), "b": ("u", "v")}).count([0, 1]).tolist()
    [[1, 1], [1, 0]]
    """

    def __init__(self, table: Table, states: Mapping[str, tuple[str, ...]]) -> None:
        self._codes = [table.column(i) for i in range(table.n_variables)]
        self._sizes = table.cardinalities.tolist()
        self._columns = columns_of(table, tuple(states))
        self._shape = [len(listed) for listed in states.values()]
        self._numbers = [
            _numbers(name, table.states[column], listed)
            for column, (name, listed) in zip(self._columns, states.items(), strict=True)
        ]

    def count(self, family: Sequence[int]) -> Integers:
        """Return the counts of some variables, an axis for each."""
        columns = [self._columns[variable] for variable in family]
        shape = [self._sizes[column] for column in columns]
        cells = cell_numbers(self._codes, columns, self._sizes)
        found = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        counts = np.zeros([self._shape[variable] for variable in family], np.int64)
        counts[np.ix_(*(self._numbers[variable] for variable in family))] = found
        return counts


def columns_of(table: Table, names: Sequence[str]) -> list[int]:
    """Return where each variable stands in a table; the table has these variables and no others."""
    place = {name: i for i, name in enumerate(table.names)}
    for name in names:
        if name not in place:
            raise DataError(f"the table has no column {shown(name)}, which is a variable of the network")
    known = set(names)
    for name in table.names:
        if name not in known:
            raise DataError(f"column {shown(name)} is no variable of the network; leave it out")
    return [place[name] for name in names]


def _numbers(name: str, labels: tuple[object, ...], states: tuple[str, ...]) -> Integers:
    """Return the number of each label among a variable's states.

    Declared labels that are not states are refused even where they do not occur: they are another variable's.
    """
    number = {state: i for i, state in enumerate(states)}
    plain = [state.casefold() for state in states]
    truth = {value: plain.index(value) for value in TRUTH_VALUES if plain.count(value) == 1}
    found: dict[int, object] = {}
    for label in labels:
        code = number.get(str(label), truth.get(str(label).casefold()))
        if code is None:
            raise DataError(f"column {shown(name)}: {unknown_name('state', str(label), states)}")
        if code in found:
            both = f"{shown(found[code])} and {shown(label)} are both the state {shown(states[code])}"
            raise DataError(f"column {shown(name)}: {both}; spell them alike")
        found[code] = label
    return np.fromiter(found, np.int64, len(found))
