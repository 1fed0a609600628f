"""From digests of columns to codes of their values, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.data._columns import Column, Mask, Refused
from f2sl.data._digest import MOST_DISTINCT, NARROW
from f2sl.data._encoder import Encoder, Labels
from f2sl.data._integers import offsets
from f2sl.data._sources import DigestSource
from f2sl.errors import DataError

Codes = npt.NDArray[np.uint16]


@dataclass
class DigestEncoder(Encoder):
    """Gives codes to the distinct values of each column."""

    coders: list[Coder] = field(default_factory=list)

    def encode(self, n_dropped: int) -> tuple[tuple[Labels, ...], list[Coder], tuple[str, ...]]:
        """Give the states of all columns, what finds their codes, and the notes; or raise one error."""
        self.states = [()] * len(self.source.names)
        self._coded: dict[int, Codes] = {}
        for i in range(len(self.source.names)):
            self._encode_column(i, None)
        self.problems.raise_any()
        coders = [Coder(self.source.column(i), self._coded[i]) for i in range(len(self.source.names))]
        return tuple(self.states), coders, self._notes(n_dropped)

    def _store(self, first: int, codes: npt.NDArray[Any], most_states: int) -> None:
        self._coded[first] = codes[0].astype(np.uint16)

    def _encode_column(self, i: int, keep: Mask | None) -> None:
        assert isinstance(self.source, DigestSource)
        name, digest = self.source.names[i], self.source.digests[i]
        if not digest.too_many:
            super()._encode_column(i, keep)
            return
        column = digest.column()
        if isinstance(self.bins, int) or self._bins_for(name) is not None:
            raise DataError(
                f"column {name!r} has more than {MOST_DISTINCT:,} different numbers, which cannot be cut "
                "while the table is read in blocks; round them, cut them beforehand, or read the table into "
                'memory with engine="memory" (on the command line --engine memory)'
            )
        if column.missing is not None and self.missing == "error":
            self.problems.add("missing", name, f"{column.n_missing} of {self.source.n_rows} rows")
        if column.kind == "integers":
            self.problems.add("integers", name, f"more than {MOST_DISTINCT:,}")
            return
        try:
            self._cut_reals(name, column, None)
        except Refused as refused:
            self.problems.add(refused.reason, name, refused.detail)


class Coder:
    """Finds the codes of one column's values.

    Examples
    --------
    >>> coder = Coder(Column("integers", np.array([5, 7])), np.array([0, 1], np.uint16))
    >>> coder.codes(Column("integers", np.array([7, 5, 7]))).tolist()
    [1, 0, 1]
    """

    def __init__(self, distinct: Column, codes: Codes) -> None:
        self._gap = 0
        if distinct.missing is not None:
            self._gap = int(codes[-1])
            distinct, codes = distinct.rows(~distinct.missing), codes[:-1]
        self._of_label = dict(zip(distinct.labels, codes.tolist(), strict=True)) if distinct.labels else {}
        self._values, self._codes = distinct.values, codes
        self._lookup: Codes | None = None
        if (
            distinct.kind == "integers"
            and len(codes)
            and int(self._values[-1]) - int(self._values[0]) < NARROW
        ):
            self._lookup = np.zeros(int(self._values[-1]) - int(self._values[0]) + 1, np.uint16)
            self._lookup[offsets(self._values, self._values[0])] = codes

    def codes(self, column: Column) -> Codes:
        """Give the codes of some rows."""
        if column.missing is not None:
            codes = np.full(len(column.values), self._gap, np.uint16)
            codes[~column.missing] = self.codes(column.rows(~column.missing))
            return codes
        if column.kind == "labels":
            codes = np.array([self._of_label.get(label, 0) for label in column.labels], np.uint16)
            return codes[column.values] if len(codes) else codes
        if self._lookup is not None and column.values.dtype.kind in "iu":
            found: Codes = self._lookup[offsets(column.values, self._values[0].astype(column.values.dtype))]
            return found
        return np.asarray(self._codes[np.searchsorted(self._values, column.values)])
