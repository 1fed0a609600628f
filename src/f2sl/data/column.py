"""Columns of a table: a name, a kind, and the states that each can take.

A column of *states* holds one of finitely many labels in each row; a *code* is the position of a label in
the list of the column's states. A column of *numbers* holds a real number in each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from f2sl._arrays import Integers
from f2sl._constants import OTHER

DISCRETE, CONTINUOUS = "discrete", "continuous"
KINDS = (DISCRETE, CONTINUOUS)
"""Kinds of columns."""
MIXED = "mixed"
"""Kind of a table with columns of both kinds."""

ALL_KINDS = (*KINDS, MIXED)
"""Kinds of tables."""

MAX_STATES = 65_536
"""Largest number of states of a column, limited by unsigned 16-bit codes."""


def wrong_kinds(name: str, kinds: object) -> str | None:
    """Return an error message if an attribute is not a tuple of kinds, or None.

    Examples
    --------
    >>> wrong_kinds("Own.kinds", ("continuous",)), wrong_kinds("Own.kinds", "continuous")
    (None, "Own.kinds must be a tuple of some of 'discrete', 'continuous', 'mixed', not 'continuous'")
    """
    if isinstance(kinds, property):  # it depends on the object
        return None
    if isinstance(kinds, (tuple, list)) and kinds and all(kind in ALL_KINDS for kind in kinds):
        return None
    return f"{name} must be a tuple of some of {', '.join(map(repr, ALL_KINDS))}, not {kinds!r}"


class Column(NamedTuple):
    """Column of a table; `states` are empty for numbers, and `missing` counts the rows without a value.

    Such a row has NaN in a continuous column, and the code after those of the states in a discrete column.

    `aliases` are columns that were left out because they and this one determine each other. If `is_cut`, the
    states are intervals of numbers, or frequent labels and one state for all others. If `is_scores`, the
    numbers are normal scores of ranks instead of values.

    Examples
    --------
    >>> Column("rain", DISCRETE, ("no", "yes")).kind
    'discrete'
    """

    name: str
    kind: str
    states: tuple[object, ...] = ()
    missing: int = 0
    aliases: tuple[Column, ...] = ()
    is_cut: bool = False
    is_scores: bool = False


ReadAs = Mapping[str, str | tuple[str, ...]]
"""The kind of each column, by name; of one that was cut, the intervals or labels."""


def read_as(columns: Iterable[Column]) -> ReadAs:
    """Return the kind of each column, to read other data the same way.

    Examples
    --------
    >>> read_as([Column("a", DISCRETE, ("n", "y")), Column("b", DISCRETE, ("[0, 2)", "[2, 9]"), is_cut=True)])
    {'a': 'discrete', 'b': ('[0, 2)', '[2, 9]')}
    """
    found: dict[str, str | tuple[str, ...]] = {}
    for column in columns:
        found[column.name] = column.kind
        if column.is_cut:
            states = tuple(map(str, column.states))
            pooled = states[: states.index(OTHER) + 1] if OTHER in states else None
            found[column.name] = pooled or tuple(text for text in states if text.startswith("["))
        if column.aliases:
            found |= read_as(column.aliases)
    return found


def codes_of(columns: Sequence[Column]) -> type[np.uint8] | type[np.uint16]:
    """Return the smallest integer type that holds the codes of all columns, with those of missing values."""
    return code_type(max((len(column.states) + (column.missing > 0) for column in columns), default=0))


def code_type(most_states: int) -> type[np.uint8] | type[np.uint16]:
    """Return the smallest integer type that holds the codes of `most_states` states.

    Examples
    --------
    >>> code_type(256).__name__, code_type(257).__name__
    ('uint8', 'uint16')
    """
    return np.uint8 if most_states <= 256 else np.uint16


def of_kind(columns: Sequence[Column], kind: str) -> list[int]:
    """List the numbers of the columns of one kind."""
    return [i for i, column in enumerate(columns) if column.kind == kind]


def positions_of(kinds: Sequence[str]) -> Integers:
    """Number the columns of each kind in their order.

    Examples
    --------
    >>> positions_of(["continuous", "discrete", "continuous"]).tolist()
    [0, 0, 1]
    """
    positions = np.empty(len(kinds), np.int64)
    for kind in KINDS:
        own = np.array(kinds) == kind
        positions[own] = np.arange(own.sum())
    return positions
