"""Numbers cut into intervals.

A numeric column becomes discrete when its range is cut into intervals, the *bins*.
Equal-frequency bins hold about the same number of rows each; equal-width bins are
equally long. Either way the cuts depend on the values and on nothing else, not on the
order of the rows; equal values share a bin, and every bin holds at least one row.

A bin's label is the interval it stands for, ``[low, high)``, with the last one closed.
The ends are rounded as far as the interval stays true for every value of the column.

>>> codes, labels = cut([0.1, 0.7, 2.5, 9.0], 2, "quantile")
>>> labels, codes.tolist()
(('[0.1, 2.5)', '[2.5, 9]'), [0, 0, 1, 1])
>>> cut([0.1, 0.7, 2.5, 9.0], 2, "width")[1]
('[0.1, 4.55)', '[4.55, 9]')
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Integers
from f2sl._constants import INTERVAL

BINNINGS = {"quantile": "equal-frequency", "width": "equal-width"}
"""The ways of binning, and what they are called."""

FEWEST_BINS, MOST_BINS = 3, 10
"""Between these is how many bins are chosen where the user leaves that open."""

MISSING_LABEL = "<missing>"
"""State of missing values with ``missing="state"``."""

SHORT_DIGITS = 3
LONG_DIGITS = 17
OUTER_DIGITS = 6


def auto_bins(n_rows: int) -> int:
    """Choose how many bins: the fourth root of the rows, from 3 to 10.

    A table of three variables cut in this way has, on average, as many rows in each cell as there are bins.

    Examples
    --------
    >>> auto_bins(50), auto_bins(1000), auto_bins(10**6)
    (3, 5, 10)
    """
    return min(MOST_BINS, max(FEWEST_BINS, int(n_rows**0.25)))


def cut(
    values: npt.ArrayLike, k: int, binning: str, weights: Integers | None = None
) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Cut numbers into at most `k` bins.

    There are fewer if there are fewer distinct values, if ties leave no place for a cut, or if an
    equal-width bin would be empty. Gives the bin of each value, counted from the lowest, and the interval of
    each bin. `values` are finite; `weights` say how many rows each stands for, one by default.

    Examples
    --------
    >>> cut([3, 3, 3, 3, 8], 4, "quantile")[1]
    ('[3, 8)', '[8, 8]')
    """
    numbers = np.asarray(values)
    if numbers.size == 0:
        return np.empty(0, dtype=np.int64), ()
    distinct, counts = np.unique(numbers, return_counts=True)
    if weights is not None:
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, np.searchsorted(distinct, numbers), weights)
    whole = numbers.dtype.kind in "iu"
    if binning == "quantile":
        cuts = _equal_frequency(distinct, counts, k)
    else:
        low, high = distinct[[0, -1]].tolist()
        if whole:  # a cut between two integers moves up to the next
            between = [low - (-(high - low) * j // k) for j in range(1, k)]
            cuts = np.unique(np.array(between, distinct.dtype))
        else:  # weighted means, and not low + share * (high - low): the difference may overflow
            shares = np.arange(1, k) / k
            cuts = np.unique(low * (1 - shares) + high * shares)
        cuts = cuts[(cuts > low) & (cuts <= high)]
    if not whole:
        cuts = np.unique(_shortened(cuts, distinct))
    # A cut keeps the values below it from those at or above it.
    occupied, of_distinct = np.unique(np.searchsorted(cuts, distinct, side="right"), return_inverse=True)
    codes = of_distinct[np.searchsorted(distinct, numbers)]
    return codes, tuple(_label(int(b), cuts, distinct, whole) for b in occupied)


def interval_codes(states: Sequence[str], numbers: npt.NDArray[Any]) -> Integers | None:
    """Return the state whose interval contains each number; None if the states are not intervals.

    Intervals are written as ``bins`` labels them, ``[18, 40)``. A number belongs to the last interval that
    begins at it or below it, and to the first one if it is below all: numbers outside go to the ends.
    The state ``<missing>`` may stand beside the intervals.

    Examples
    --------
    >>> interval_codes(("[18, 40)", "[40, 80]"), np.array([3, 39.5, 40, 99])).tolist()
    [0, 0, 1, 1]
    >>> interval_codes(("young", "old"), np.array([3])) is None
    True
    """
    begins: dict[int, int | float] = {}
    for code, state in enumerate(states):
        if match := INTERVAL.fullmatch(state):
            begins[code] = float(match[1]) if "." in match[1] or "e" in match[1] else int(match[1])
        elif state != MISSING_LABEL:
            return None
    order = sorted(begins, key=begins.__getitem__)
    position = np.searchsorted(np.array([begins[code] for code in order]), numbers, side="right") - 1
    return np.array(order)[np.maximum(position, 0)] if order else None


def _equal_frequency(distinct: npt.NDArray[Any], counts: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    """Cut below the distinct value that leaves a share of the rows nearest to j/k, for each j."""
    if len(distinct) <= k:
        return distinct[1:]
    n = int(counts.sum())
    below = np.cumsum(counts)[:-1] * k
    wanted = np.arange(1, k, dtype=np.int64) * n
    right = np.searchsorted(below, wanted).clip(1, len(below) - 1) if len(below) > 1 else np.zeros(k - 1, int)
    left = np.maximum(right - 1, 0)
    nearest = np.where(wanted - below[left] <= below[right] - wanted, left, right)
    chosen: npt.NDArray[Any] = distinct[np.unique(nearest) + 1]
    return chosen


def _shortened(cuts: npt.NDArray[Any], distinct: npt.NDArray[Any]) -> Floats:
    """Round each cut to the fewest digits that keep every value on its side."""
    above = np.searchsorted(distinct, cuts)
    short = []
    for one, lower, upper in zip(
        cuts.tolist(), distinct[above - 1].tolist(), distinct[above].tolist(), strict=True
    ):
        candidates = (float(f"{one:.{digits}g}") for digits in range(SHORT_DIGITS, LONG_DIGITS))
        short.append(next((c for c in candidates if lower < c <= upper), one))
    return np.array(short, dtype=np.float64)


def _label(index: int, cuts: npt.NDArray[Any], distinct: npt.NDArray[Any], whole: bool) -> str:
    first, last = index == 0, index == len(cuts)
    if whole:
        low = str(int(distinct[0] if first else cuts[index - 1]))
        high = str(int(distinct[-1] if last else cuts[index]))
    else:
        low = _outward(float(distinct[0]), ROUND_FLOOR) if first else _plain(float(cuts[index - 1]))
        high = _outward(float(distinct[-1]), ROUND_CEILING) if last else _plain(float(cuts[index]))
    return f"[{low}, {high}]" if last else f"[{low}, {high})"


def _outward(value: float, direction: str) -> str:
    """Round the smallest value down and the largest up: the interval still holds them."""
    context = Context(prec=OUTER_DIGITS, rounding=direction)
    rounded = float(context.create_decimal(repr(value)))
    return _plain(rounded if np.isfinite(rounded) else value)


def _plain(value: float) -> str:
    """Write a number as Python does, but whole ones without a decimal point."""
    text = repr(value + 0.0)  # + 0.0 turns -0.0 into 0.0
    return text.removesuffix(".0")
