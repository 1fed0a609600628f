"""The tables that all learning starts from, of states or of real numbers.

A *state* is one of the finitely many values that a discrete variable can take; a
*code* is the position of a state in the list of the variable's states. The table
keeps the codes with one row of memory for each variable, because counting walks
along variables and hardly ever along samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from f2sl.errors import DataError

MAX_STATES = 65_536
"""The most states that a variable can have: what an unsigned 16-bit code can tell apart."""


def code_type(most_states: int) -> type[np.uint8] | type[np.uint16]:
    """Return the smallest integer type that holds the codes of `most_states` states.

    Examples
    --------
    >>> code_type(256).__name__, code_type(257).__name__
    ('uint8', 'uint16')
    """
    return np.uint8 if most_states <= 256 else np.uint16


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteTable:
    """Samples of discrete variables, as integer codes.

    Parameters
    ----------
    names : tuple of str
        The variables, each once.
    states : tuple of tuples
        For each variable the labels of its states, in the order of their codes. A state
        need not occur in the rows.
    codes : ndarray of uint8 or uint16, shape (n_variables, n_rows)
        ``states[i][codes[i, r]]`` is the value of variable ``i`` in row ``r``. Stored as
        uint8 if no variable has more than 256 states, as uint16 otherwise.
    notes : tuple of str
        What a user should know about how the data were read.

    Examples
    --------
    >>> table = DiscreteTable(("b", "a"), (("no", "yes"), (0, 1, 2)), np.array([[0, 1], [2, 0]]))
    >>> table
    DiscreteTable(2 variables, 2 rows)
    >>> table.cardinalities.tolist()
    [2, 3]
    >>> table.in_name_order().names
    ('a', 'b')
    """

    kind: ClassVar[str] = "discrete"

    names: tuple[str, ...]
    states: tuple[tuple[object, ...], ...]
    codes: npt.NDArray[Any]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # The kernels index by these codes without looking: a code that is out of range must not get in.
        codes = np.asarray(self.codes)
        if codes.ndim != 2 or len(self.names) != codes.shape[0] or len(self.states) != codes.shape[0]:
            raise DataError(
                f"a table needs one row of codes for each variable: got {len(self.names)} names, "
                f"{len(self.states)} lists of states and codes of shape {codes.shape}"
            )
        _check_distinct(self.names)
        if codes.dtype.kind not in "iu":
            raise DataError(f"codes are integers, got {codes.dtype}")
        if codes.size:
            wrong = codes.max(axis=1) >= self.cardinalities
            if codes.dtype.kind == "i":
                wrong |= codes.min(axis=1) < 0
            if wrong.any():
                raise DataError(
                    f"variable {self.names[int(wrong.argmax())]!r} has a code that is none of its states"
                )
        most = int(self.cardinalities.max(initial=0))
        if most > MAX_STATES:
            raise DataError(f"a variable has {most:,} states; at most {MAX_STATES:,} are possible")
        object.__setattr__(self, "codes", np.ascontiguousarray(codes, dtype=code_type(most)))

    def __repr__(self) -> str:
        return f"DiscreteTable({self.n_variables} variables, {self.n_rows} rows)"

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return int(self.codes.shape[1])

    @cached_property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """The number of states of each variable."""
        return np.array([len(labels) for labels in self.states], dtype=np.int64)

    def in_name_order(self) -> DiscreteTable:
        """Return the table with its variables sorted by name, itself if they are already.

        Learners break ties by this order, so that the order of a file's columns decides nothing.
        """
        order = name_order(self.names)
        if order is None:
            return self
        return DiscreteTable(
            names=tuple(self.names[i] for i in order),
            states=tuple(self.states[i] for i in order),
            codes=self.codes[order],
            notes=self.notes,
        )


@dataclass(frozen=True, eq=False, repr=False)
class NumericTable:
    """Samples of real-valued variables.

    Parameters
    ----------
    names : tuple of str
        The variables, each once.
    values : ndarray of float64, shape (n_variables, n_rows)
        Finite.
    notes : tuple of str
        What a user should know about how the data were read.

    Examples
    --------
    >>> table = NumericTable(("b", "a"), np.array([[0.5, 1.5], [2.0, 0.1]]))
    >>> table
    NumericTable(2 variables, 2 rows)
    >>> table.in_name_order().values.tolist()
    [[2.0, 0.1], [0.5, 1.5]]
    """

    kind: ClassVar[str] = "gaussian"

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if values.ndim != 2 or len(self.names) != values.shape[0]:
            raise DataError(
                f"a table needs one row of values for each variable: got {len(self.names)} names "
                f"and values of shape {values.shape}"
            )
        _check_distinct(self.names)
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            raise DataError(f"variable {self.names[int(finite.argmin())]!r} has a value that is not finite")
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"NumericTable({self.n_variables} variables, {self.n_rows} rows)"

    @classmethod
    def from_codes(cls, table: DiscreteTable) -> NumericTable:
        """Take the codes of a discrete table for numbers.

        Examples
        --------
        >>> states = DiscreteTable(("a",), (("no", "yes"),), np.array([[1, 0]]))
        >>> NumericTable.from_codes(states).values.tolist()
        [[1.0, 0.0]]
        """
        return cls(table.names, table.codes.astype(np.float64), table.notes)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return int(self.values.shape[1])

    def in_name_order(self) -> NumericTable:
        """Return the table with its variables sorted by name, itself if they are already."""
        order = name_order(self.names)
        if order is None:
            return self
        return NumericTable(tuple(self.names[i] for i in order), self.values[order], self.notes)


def _check_distinct(names: tuple[str, ...]) -> None:
    if len(set(names)) != len(names):
        raise DataError("the names of a table's variables must differ from each other")


def name_order(names: tuple[str, ...]) -> list[int] | None:
    """Give the numbers of the variables in the order of their names; None if that is the order they have."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return None if order == list(range(len(names))) else order
