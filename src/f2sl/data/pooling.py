"""Rare labels of a column in one state.

Beside numbers, tests and scores have an indicator for each state, so that a column with hundreds of labels
takes the memory and the time of hundreds of columns. So it keeps its most frequent labels, and the others
become one state, :data:`OTHER`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from f2sl._arrays import Integers
from f2sl._constants import OTHER
from f2sl.data.identifiers import MANY_LABELS, ROWS_OF_LABEL
from f2sl.data.values import RawColumn


def frequent_labels(column: RawColumn) -> tuple[str, ...]:
    """Return the most frequent labels in their order, and one for all others, last.

    Examples
    --------
    >>> labels = tuple(f"town {i:02}" for i in range(60))
    >>> towns = RawColumn("labels", np.repeat(np.arange(60), np.arange(60)), labels=labels)
    >>> frequent = frequent_labels(towns)
    >>> len(frequent), frequent[0], frequent[-2:]
    (50, 'town 11', ('town 59', '<other>'))
    """
    values, counts = column.counted
    order = np.lexsort((values, -counts))[: MANY_LABELS - 1]  # of equally frequent ones the first
    kept = np.sort(values[order[counts[order] >= ROWS_OF_LABEL]])
    return (*(str(column.labels[value]) for value in kept.tolist()), OTHER)


def pooled_codes(column: RawColumn, states: Sequence[str]) -> Integers:
    """Return the position of each value among the `states`, that of `OTHER` if it is not one.

    Examples
    --------
    >>> pooled_codes(RawColumn("labels", np.array([1, 0]), labels=("a", "b")), ("b", OTHER)).tolist()
    [0, 1]
    """
    position = {label: code for code, label in enumerate(states)}
    other = position[OTHER]
    codes = np.array([position.get(str(label), other) for label in column.labels], np.int64)
    return np.asarray(codes[column.values])
