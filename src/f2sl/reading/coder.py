"""From digests of columns to codes of their values, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.reading.digest import MOST_DISTINCT, NARROW
from f2sl.reading.encoder import Encoder, Labels
from f2sl.reading.integers import offsets
from f2sl.reading.sources import DigestSource
from f2sl.reading.values import Column, Refused

Codes = npt.NDArray[np.uint16]


@dataclass
class DigestEncoder(Encoder):
    """Gives codes to the distinct values of each column.

    Of a column with more of them than a digest keeps account of, `whole_column` gives all values, which is
    what cutting them into intervals needs.
    """

    whole_column: Callable[[int], Column] | None = None

    def encode(self, n_dropped: int) -> tuple[tuple[Labels, ...], list[Coder], tuple[str, ...]]:
        """Give the states of all columns, what finds their codes, and the notes; or raise one error."""
        self.states = [()] * len(self.source.names)
        self._coders: dict[int, Coder] = {}
        for i in range(len(self.source.names)):
            self._encode_column(i, None)
        self.problems.raise_any()
        return tuple(self.states), [self._coders[i] for i in range(len(self.states))], self._notes(n_dropped)

    def _column(self, i: int) -> Column:
        assert isinstance(self.source, DigestSource)
        self._current = super()._column(i)
        if self.source.digests[i].too_many:
            to_be_cut = isinstance(self.bins, int) or self._bins_for(self.source.names[i]) is not None
            if to_be_cut and self.whole_column is not None:
                self._current = self.whole_column(i)
            elif self._current.kind == "integers":
                raise Refused("integers", f"more than {MOST_DISTINCT:,}")
        return self._current

    def _store(self, first: int, codes: npt.NDArray[Any], most_states: int) -> None:
        self._coders[first] = Coder.of(self._current, codes[0].astype(np.uint16))


class Coder:
    """Finds the codes of one column's values.

    Examples
    --------
    >>> coder = Coder.of(Column("integers", np.array([5, 7])), np.array([0, 1], np.uint16))
    >>> coder.codes(Column("integers", np.array([7, 5, 7]))).tolist()
    [1, 0, 1]
    """

    def __init__(self, labels: Labels, values: npt.NDArray[Any], codes: Codes, gap: int) -> None:
        self._of_label = dict(zip(labels, codes.tolist(), strict=True)) if labels else {}
        self._values, self._codes, self._gap = values, codes, gap
        self._lookup: Codes | None = None
        if values.dtype.kind in "iu" and len(codes) and int(values[-1]) - int(values[0]) < NARROW:
            # Between two values that begin a stretch of codes lie others of the first's.
            steps = np.arange(int(values[-1]) - int(values[0]) + 1, dtype=values.dtype)
            self._lookup = codes[np.searchsorted(values, values[0] + steps, side="right") - 1]

    @classmethod
    def of(cls, column: Column, codes: Codes) -> Coder:
        """Learn from values that have their codes, all that there are, in any order."""
        gap = 0
        if column.missing is not None:
            gap = int(codes[column.missing.argmax()])
            codes, column = codes[~column.missing], column.rows(~column.missing)
        if column.kind == "labels":
            return cls(column.labels, column.values, codes, gap)
        values, first = np.unique(column.values, return_index=True)
        codes = codes[first]
        # Equal codes side by side, as intervals have them, are known by the first of their values.
        begins = np.diff(codes.astype(np.int64), prepend=-1) != 0
        return cls((), values[begins], codes[begins], gap)

    def codes(self, column: Column) -> Codes:
        """Give the codes of some rows."""
        if column.missing is not None:
            codes = np.full(len(column.values), self._gap, np.uint16)
            codes[~column.missing] = self.codes(column.rows(~column.missing))
            return codes
        if column.kind == "labels":
            codes = np.array([self._of_label.get(label, 0) for label in column.labels], np.uint16)
            return codes[column.values] if len(codes) else codes
        values = column.values
        if np.uint64 in (values.dtype, self._values.dtype):
            values = values.astype(self._values.dtype)  # with a signed type NumPy would make floats of them
        if self._lookup is not None and values.dtype.kind in "iu":
            places = offsets(values, self._values[0])
            return np.asarray(self._lookup[np.minimum(places, len(self._lookup) - 1)])
        return np.asarray(self._codes[np.searchsorted(self._values, values, side="right") - 1])
