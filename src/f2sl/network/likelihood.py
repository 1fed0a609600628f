"""How probable a table's rows are under a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from f2sl.data import DiscreteTable, as_table
from f2sl.errors import DataError, shown, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from f2sl.network.bayesian_network import BayesianNetwork


def log_likelihood(network: BayesianNetwork, data: Any) -> float:
    """Return the natural logarithm of the probability of all rows; see ``BayesianNetwork.log_likelihood``."""
    codes = encoded(network, data)
    sizes = [len(states) for states in network.states.values()]
    total = 0.0
    for child, parents in network._families:
        rows = network._distributions(network.variables[child])
        cell = np.zeros(codes.shape[1], np.int64)
        for variable in (*parents, child):
            cell *= sizes[variable]
            cell += codes[variable]
        counts = np.bincount(cell, minlength=rows.size)
        met = counts > 0
        with np.errstate(divide="ignore"):
            total += float(counts[met] @ np.log(rows.ravel()[met]))
    return total


def encoded(network: BayesianNetwork, data: Any) -> NDArray[np.int64]:
    """Turn a table into the network's own codes, one row for each variable."""
    table = as_table(data)
    columns = columns_of(table, network.variables)
    codes = [
        _renumbered(name, table.states[column], network.states[name])[table.codes[column]]
        for name, column in zip(network.variables, columns, strict=True)
    ]
    return np.stack(codes)


def columns_of(table: DiscreteTable, names: Sequence[str]) -> list[int]:
    """Return where each variable stands in a table; the table has these variables and no others."""
    place = {name: i for i, name in enumerate(table.names)}
    for name in names:
        if name not in place:
            raise DataError(f"the table has no column {shown(name)}, which is a variable of the network")
    if len(place) > len(names):
        strange = next(name for name in table.names if name not in set(names))
        raise DataError(f"column {shown(strange)} is no variable of the network; leave it out")
    return [place[name] for name in names]


def _renumbered(name: str, labels: tuple[object, ...], states: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the number of each label among a variable's states.

    Declared labels that are not states are refused even where they do not occur: they are another variable's.
    """
    number = {state: i for i, state in enumerate(states)}
    # A CSV with the states TRUE and FALSE is read as booleans.
    loose = {state.casefold(): i for i, state in enumerate(states)}
    found = np.empty(len(labels), np.int64)
    for i, label in enumerate(labels):
        text = str(label)
        code = number.get(text)
        if code is None and isinstance(label, bool):
            code = loose.get(text.casefold())
        if code is None:
            raise DataError(f"column {shown(name)}: {unknown_name('state', text, states)}")
        found[i] = code
    return found
