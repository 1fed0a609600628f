"""Find columns that were computed from others: copies, intervals, groups of states, and sums.

A column that others determine is related to them by definition, and each may hide the edges of the others.
Candidates are found in a sample of the rows and then checked in all rows, so a column that differs from the
computed values in a single row is not reported.

**One column from another.** For some pairs of rows, let s(v) be the sign of the difference of variable v,
and d(v) = abs(s(v)). If y is a monotone function of x, then s(x) s(y) = d(y) in every pair, or -d(y) in every
pair. If y is any function of x, then d(x) d(y) = d(y). So a matrix product of signs, and one of their
absolute values, leave few pairs of columns to look at (`_candidates`).

**One column from several.** The inverse of the correlation matrix has huge elements for columns that take
part in an exact sum, and elimination in the order of the columns shows their terms (`sums`).

In few rows, or if nearly all have the same value, a relation may hold by chance. Therefore, values in random
order must be unlikely to fulfil it (`_evidence`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl._notes import MOST_WRITTEN, Note, Use
from f2sl.data.column import DISCRETE
from f2sl.data.matrix import Sample, has_values, is_ordered
from f2sl.data.names import listing
from f2sl.data.table import Arrays

MOST_COLUMNS, MOST_SUMMED = 5_000, 1_000
"""With more columns, functions of one column, or sums, are not searched for: the time grows with the square
of the columns, or with their cube."""

PAIRS_OF_ROWS, FEW_PAIRS, WIDE, FEWEST_DIFFERENT = 1 << 10, 1 << 8, 500, 4
"""Number of pairs of rows that are compared; the same for wide tables; the number of columns up to which a
table is not wide; and the number of pairs in which a column must differ."""

LOOKED_AT, SCREENED, CANDIDATES = 1 << 11, 1 << 8, 8
"""Number of rows in which candidates are looked at first, or for intervals even before, and of candidates for
each column."""

MOST_INTERVALS = 50
"""Largest number of states without order that may be intervals of numbers."""

ROWS_OF_VALUE = 20
"""Rows for each value of a continuous column of more than `MOST_INTERVALS` values from which on it may
determine others, unless these are monotone in it. With fewer, it has a value of its own in most groups of
related rows, such as the visits of a patient, and so determines whatever never varies in these."""

KNOTS = 1 << 12
"""Number of sampled rows of a monotone function between which all other rows must lie."""

NOT_BY_CHANCE = np.log(1e6)
"""Smallest evidence for a pair of columns; the logarithm of the number of pairs is added."""

USUALLY_KNOWN = 0.9
"""A column is known where the one that it is computed from is known, but for this share of its values."""

EXACT = 1e-6
"""Largest residual of a sum in standard deviations: values may have the seven digits of 32-bit floats."""

SMALLEST_WEIGHT = 1e-3
"""Smallest weight of a term of a sum, if all columns have standard deviation 1."""

RIDGE, INFLATED, LEFT_OVER = 1e-12, 1e5, 1e-10
"""What is added to variances of 1 to invert singular matrices, the diagonal elements of the inverse from
which on columns may be sums, and the variance that may be left of one; candidates are checked afterwards."""

MOST_INVOLVED = 300
"""Largest number of columns in sums that are looked at."""

NAMED = 8
"""Largest number of columns that are named for one function or sum."""

ROWS_PER_TERM, MORE_ROWS = 2, 10
"""Rows that a sum needs, for each term and in addition, of those in which one of its columns does not have
its commonest value. Intervals without order need the latter, too."""


class Function(NamedTuple):
    """Column that is a function of another one.

    Parameters
    ----------
    column, of : int
        Positions in the sample's table.
    is_monotone : bool
        True if it never falls or never rises. If it has states without order, each of them is an interval.
    is_one_to_one, is_linear : bool
        True if it is. Of two columns that determine each other one with states without order, or else the
        earlier one, counts as the original.
    """

    column: int
    of: int
    is_monotone: bool
    is_one_to_one: bool = False
    is_linear: bool = False


class Sum(NamedTuple):
    """Columns whose weighted sum is the same number in every row, up to `tolerance`."""

    columns: tuple[int, ...]
    weights: Floats
    total: float
    tolerance: float


def functions(sample: Sample) -> list[Function]:
    """Find the columns that are functions of one other column; one function of each.

    Examples
    --------
    >>> from f2sl import open_table
    >>> x = np.arange(60) * 7 % 61 / 4
    >>> sample = Sample.of_table(open_table({"x": x, "square": x**2, "is_large": x > 6}))
    >>> [(f.column, f.of, f.is_one_to_one) for f in functions(sample)]
    [(1, 0, True), (2, 0, False)]
    """
    values, (n, m) = sample.values, sample.values.shape
    if not 2 <= n <= MOST_COLUMNS:
        return []
    looked_at = np.arange(min(m, LOOKED_AT)) * m // min(m, LOOKED_AT)
    few = values[:, looked_at]
    ordered = np.array([is_ordered(column) for column in sample.table.columns])
    found = []
    for y, candidates in _candidates(values, few, ordered):
        for x, is_monotone in candidates:
            enough, of, value = NOT_BY_CHANCE + 2 * np.log(n), values[x], values[y]
            if is_monotone and not ordered[y]:
                value = _in_order_of(of, value)
                counts = np.bincount(value[~np.isnan(value)].astype(np.int64))
                if counts.sum() - counts.max() < MORE_ROWS:
                    continue
                enough += math.lgamma(np.nanmax(value) + 2)  # any order of the states will do
            if _follows(few[x], value[looked_at], is_monotone) and _follows(of, value, is_monotone):
                one_to_one = _follows(value, of, is_monotone)
                is_original = one_to_one and (ordered[x], x) > (ordered[y], y)
                if not is_original and _evidence(of, value, is_monotone) > enough:
                    is_linear = one_to_one and is_monotone and _are_linear(of, value)
                    found.append(Function(y, x, is_monotone, one_to_one, is_linear))
                    break
    if sample.is_whole or not found:
        return found
    knots = [_knots(values[f.of], values[f.column], f.is_monotone) for f in found]
    used = {column for f in found for column in (f.column, f.of)}
    wrong = sample.add_up(used, partial(_violations, found, knots, ordered))
    return [f for f, n_wrong in zip(found, wrong, strict=True) if not n_wrong]


def _candidates(values: Floats, few: Floats, ordered: Mask) -> Iterator[tuple[int, list[tuple[int, bool]]]]:
    """Yield columns with those that they may be a function of, and whether a monotone one."""
    n, m = values.shape

    @cache
    def n_values(column: int) -> int:
        return len(np.unique(few[column]))

    def distance(column: int) -> tuple[int, int]:
        return int(np.isnan(few[column]).sum()), n_values(column)

    # Every second pair are neighbors: in sorted tables few others have equal values.
    n_pairs = PAIRS_OF_ROWS if n <= WIDE else FEW_PAIRS
    pairs = np.arange(n_pairs)
    first = pairs * m // n_pairs
    second = (first + np.where(pairs % 2, 1, 1 + pairs * 7919 % (m - 1))) % m
    signs = np.sign(values[:, first] - values[:, second]).astype(np.float32)
    known = (~np.isnan(signs)).astype(np.float32)
    np.nan_to_num(signs, copy=False)
    differ = np.abs(signs)
    # If all values of a column differ, every other one is a function of it.
    repeats = (differ < known).any(axis=1)
    step = max(1, (1 << 22) // n)
    for start in range(0, n, step):
        own = slice(start, min(start + step, n))
        # Sums of a thousand whole numbers at most 1, which 32-bit floats hold exactly.
        needed = differ[own] @ known.T
        possible = needed >= FEWEST_DIFFERENT
        possible[np.arange(len(needed)), np.arange(start, start + len(needed))] = False
        rows = np.flatnonzero(ordered[own])
        monotone = _are_intervals(few[:, :SCREENED], own, ordered)
        monotone[rows] = (np.abs(signs[own][rows] @ signs.T) == needed[rows]) & ordered
        monotone &= possible
        other = possible & (differ[own] @ differ.T == needed) & repeats
        for row in np.flatnonzero((monotone | other).any(axis=1)).tolist():
            # The most complete ones first, and those with the fewest values, which are the closest.
            chosen = [(x, True) for x in sorted(np.flatnonzero(monotone[row]).tolist(), key=distance)]
            others = [x for x in np.flatnonzero(other[row]).tolist() if 2 * n_values(x) <= few.shape[1]]
            chosen = chosen[:CANDIDATES] + [(x, False) for x in sorted(others, key=distance)[:CANDIDATES]]
            yield start + row, chosen


def _are_intervals(few: Floats, own: slice, ordered: Mask) -> Mask:
    """Return which columns without order have each state in an interval of its own of an ordered column."""
    result = np.zeros((own.stop - own.start, len(few)), bool)
    # Intervals need as many values as there are states. A missing value counts as one of its own there.
    steps = np.diff(np.sort(few, axis=1), axis=1)
    n_values, n_states = 1 + np.count_nonzero(steps, axis=1), 1 + np.count_nonzero(steps > 0, axis=1)[own]
    for row in np.flatnonzero(~ordered[own] & (n_states <= n_values[ordered].max(initial=0))):
        enough = np.flatnonzero(ordered & (n_values >= n_states[row]))
        others = few[enough]
        states, group = np.unique(few[own.start + row], return_inverse=True)
        if len(states) <= MOST_INTERVALS:
            starts = np.searchsorted(np.sort(group), np.arange(len(states)))
            grouped = others[:, np.argsort(group, kind="stable")]
            low, high = (ufunc.reduceat(grouped, starts, axis=1) for ufunc in (np.fmin, np.fmax))
            order = np.argsort(low, axis=1)
            low, high = (np.take_along_axis(ends, order, axis=1) for ends in (low, high))
            result[row, enough] = ~(high[:, :-1] >= low[:, 1:]).any(axis=1)
    return result


def _in_order_of(x: Floats, y: Floats) -> Floats:
    """Return states as their positions in the order of the smallest x of each."""
    known = ~np.isnan(x) & ~np.isnan(y)
    states, group = np.unique(y, return_inverse=True)
    smallest = np.full(len(states), np.inf)
    np.minimum.at(smallest, group[known], x[known])
    return np.where(np.isnan(y), np.nan, smallest.argsort(kind="stable").argsort()[group])


def _known(*columns: Floats) -> list[Floats]:
    """Return the values in the rows in which no column misses one."""
    known = ~np.isnan(columns).any(axis=0)
    return [column[known] for column in columns]


def _follows(x: Floats, y: Floats, is_monotone: bool) -> bool:
    """Return whether y is a function of x, or a monotone one."""
    n_values = np.count_nonzero(~np.isnan(y))
    x, y = _known(x, y)
    order = np.lexsort((y, x))
    steps, rises = np.diff(x[order]) > 0, np.diff(y[order])
    if len(y) < USUALLY_KNOWN * n_values or rises[~steps].any():
        return False
    return not is_monotone or bool((rises >= 0).all() or (rises <= 0).all())


def _are_linear(x: Floats, y: Floats) -> bool:
    """Return whether each of two columns is a linear function of the other."""
    x, y = (scaled(values) for values in _known(x, y))
    return bool(np.minimum(np.abs(x - y).max(), np.abs(x + y).max()) <= EXACT)


def scaled(values: Floats) -> Floats:
    """Return values, or rows of values, with mean 0 and standard deviation 1."""
    # By the largest absolute value first, so that no square overflows.
    largest = np.abs(values).max(axis=-1, keepdims=True)
    values = values / np.where(largest > 0, largest, 1.0)
    values -= values.mean(axis=-1, keepdims=True)
    deviation = values.std(axis=-1, keepdims=True)
    values /= np.where(deviation > 0, deviation, 1.0)
    return values


def _evidence(x: Floats, y: Floats, is_monotone: bool) -> float:
    """Return the negative logarithm of the probability that y follows x by chance.

    Given the value in one row of each group of equal x, the others have it with the probability of the value.
    If y is monotone in the k values of x, of which c_1, c_2, ... go with each value of y, this is one
    of k! / (c_1! c_2! ...) orders.
    """
    x, y = _known(x, y)
    x, first, sizes = np.unique(x, return_index=True, return_counts=True)
    _, of, counts = np.unique(y, return_inverse=True, return_counts=True)
    evidence = -((sizes - 1) * np.log(counts / len(y))[of[first]]).sum()
    if is_monotone:
        factorials = np.concatenate([[0.0], np.log(np.arange(1, len(x) + 1)).cumsum()])
        evidence += factorials[len(x)] - factorials[np.bincount(of[first])].sum()
    return float(evidence)


def _knots(x: Floats, y: Floats, is_monotone: bool) -> tuple[Floats, Floats]:
    """Return sampled values of x, ascending, and the values of y that go with them."""
    x, y = _known(x, y)
    x, first = np.unique(x, return_index=True)
    some = np.arange(len(x))
    if is_monotone and len(x) > KNOTS:
        some = np.arange(KNOTS) * (len(x) - 1) // (KNOTS - 1)
    return x[some], y[first][some]


def _violations(
    functions: list[Function], knots: list[tuple[Floats, Floats]], ordered: Mask, values: dict[int, Floats]
) -> Arrays:
    """Count the rows in which functions, given by knots, do not hold."""
    wrong = []
    for function, (x, y) in zip(functions, knots, strict=True):
        of, value = _known(values[function.of], values[function.column])
        after, before = np.searchsorted(x, of), np.searchsorted(x, of, side="right") - 1
        one, other = y[np.maximum(before, 0)], y[np.minimum(after, len(x) - 1)]
        outside = (value != one) & (value != other)
        if ordered[function.column]:
            outside = (value < np.minimum(one, other)) | (value > np.maximum(one, other))
        # Nothing is known beyond the knots, nor, unless the function is monotone, between them.
        checked = (before >= 0) & (after < len(x)) if function.is_monotone else before == after
        wrong.append(np.count_nonzero(outside & checked))
    return (np.array(wrong),)


def sums(sample: Sample, left_out: Iterable[int] = ()) -> list[Sum]:
    """Find columns of which a weighted sum is the same in every row; three or more in each.

    Each column that depends on earlier ones is in one of the sums.

    Examples
    --------
    >>> from f2sl import open_table
    >>> a, b = np.arange(60) * 7 % 61 / 4, np.arange(60) * 11 % 59 / 3
    >>> [found] = sums(Sample.of_table(open_table({"a": a, "total": a + b, "b": b})))
    >>> found.columns, found.weights.round(6).tolist()
    ((0, 1, 2), [-1.0, 1.0, -1.0])
    """
    without = set(left_out)
    columns = [i for i, c in enumerate(sample.table.columns) if has_values(c) and i not in without]
    if not 3 <= len(columns) <= MOST_SUMMED:
        return []
    chosen, values = _most_complete(np.array(columns), sample.values)
    if len(chosen) < 3:
        return []
    standard = scaled(values)
    gram = standard @ standard.T / standard.shape[1]
    found = []
    for *terms, column in _dependent(gram):
        one = _sum_of(chosen[[*terms, column]], values[[*terms, column]])
        if one is not None:
            found.append(one)
    if sample.is_whole or not found:
        return found
    used = {column for one in found for column in one.columns}
    wrong = sample.add_up(used, partial(_unequal, found))
    return [one for one, n_wrong in zip(found, wrong, strict=True) if not n_wrong]


def _dependent(gram: Floats) -> list[list[int]]:
    """List each column that is a linear function of earlier ones, after those that it depends on.

    Columns that take part in such a function have a very large variance inflation factor: the element of the
    diagonal of the inverse. Usually there are none. Among these columns, sweeping (Gaussian elimination in
    place) leaves the coefficients of the regression of each column on the earlier ones.
    """
    with suppress(np.linalg.LinAlgError):  # as for singular matrices
        if np.diagonal(np.linalg.cholesky(gram)).min() ** 2 > LEFT_OVER:
            return []
    inflation = np.diagonal(np.linalg.inv(gram + RIDGE * np.eye(len(gram))))
    involved = np.flatnonzero(inflation > INFLATED)[:MOST_INVOLVED]
    matrix = gram[np.ix_(involved, involved)]
    swept = np.zeros(len(involved), bool)
    found = []
    for column in range(len(involved)):
        pivot = matrix[column, column]
        if pivot <= LEFT_OVER:
            terms = np.flatnonzero(swept & (np.abs(matrix[:, column]) > SMALLEST_WEIGHT))
            found.append(involved[[*terms, column]].tolist())
            continue
        row = matrix[column] / pivot
        matrix -= np.outer(matrix[:, column], row)
        matrix[column] = row
        matrix[:, column] = -row  # the sign tells swept columns from others, and is not used here
        matrix[column, column] = 1.0 / pivot
        swept[column] = True
    return found


def _most_complete(columns: Integers, values: Floats) -> tuple[Integers, Floats]:
    """Return the columns to compare, and their values in the rows that are complete in all of them.

    These are as many as possible, those with the fewest missing values first, with more rows than columns.
    """
    missing = np.isnan(values[columns])
    if not missing.any() and missing.shape[1] >= len(columns) + MORE_ROWS:
        return columns, values[columns]
    order = np.argsort(missing.sum(axis=1), kind="stable")
    complete = np.logical_not(np.logical_or.accumulate(missing[order], axis=0))
    enough = complete.sum(axis=1) >= np.arange(1, len(columns) + 1) + MORE_ROWS
    if not enough[0]:
        return columns[:0], values[:0]
    n = int(np.flatnonzero(enough)[-1]) + 1
    chosen, rows = np.sort(order[:n]), complete[n - 1]
    found = values[columns[chosen]][:, rows]
    varying = found.min(axis=1) < found.max(axis=1)
    return columns[chosen[varying]], found[varying]


def _sum_of(columns: Integers, values: Floats) -> Sum | None:
    """Return the sum of columns whose last one depends on the others, or None if it may do so by chance."""
    n, m = values.shape
    commonest = min(np.unique(row, return_counts=True)[1].max() for row in values)
    if n < 3 or m - commonest < ROWS_PER_TERM * n + MORE_ROWS:
        return None
    standard, deviations = scaled(values), values.std(axis=1)
    gram, weights, left = standard[:-1] @ standard[:-1].T, np.zeros(n - 1), standard[-1]
    for _ in range(2):  # the second time for what rounding left over
        weights = weights + np.linalg.solve(gram, standard[:-1] @ left)
        left = standard[-1] - weights @ standard[:-1]
    weights = np.append(weights, -1.0)
    if np.abs(left).max() > EXACT * n or np.abs(weights).min() <= SMALLEST_WEIGHT:
        return None
    weights = weights / deviations
    weights /= np.abs(weights).min()
    if (np.abs(weights - np.rint(weights)) <= np.abs(weights) * 1e-5).all():
        weights = np.rint(weights)
    totals = weights @ values
    total = float(np.median(totals))
    tolerance = EXACT * n * float(np.abs(weights * deviations).max())
    return Sum(tuple(columns.tolist()), weights, total, tolerance)


def _unequal(found: list[Sum], values: dict[int, Floats]) -> Arrays:
    """Count the rows in which sums differ from their totals."""
    wrong = []
    for one in found:
        totals = sum(w * values[column] for w, column in zip(one.weights, one.columns, strict=True))
        wrong.append(np.count_nonzero(np.abs(totals - one.total) > one.tolerance))
    return (np.array(wrong),)


def _stands_for_group(sample: Sample, function: Function) -> bool:
    """Return whether a column determines another one only because both are constant in small groups of rows.

    Examples
    --------
    >>> from f2sl import open_table
    >>> patient = np.repeat(np.arange(90), 4)
    >>> days, sex = patient * 7919 % 1000 / 3, patient * 31 % 89 % 2
    >>> sample = Sample.of_table(open_table({"days": days, "sex": sex, "large": days > 100}))
    >>> [_stands_for_group(sample, one) for one in functions(sample)]
    [True, False]
    """
    values = sample.values[function.of]
    if function.is_monotone or sample.table.kinds[function.of] == DISCRETE:
        return False
    known = values[~np.isnan(values)]
    n_values = len(np.unique(known))
    return n_values > MOST_INTERVALS and len(known) < ROWS_OF_VALUE * n_values


def describe_derived(sample: Sample) -> tuple[list[Note], list[Function]]:
    """Return notes on derived columns, each with what to leave out, and the functions of one column."""
    names, kinds = sample.table.names, sample.table.kinds
    found = functions(sample)
    aliases = [f for f in found if f.is_one_to_one and kinds[f.column] == kinds[f.of] == DISCRETE]
    found = [f for f in found if f not in aliases]
    linear = [f for f in found if f.is_linear]
    alike = [f for f in found if f.is_monotone and f.is_one_to_one and not f.is_linear]
    computed = [f for f in found if f not in linear and f not in alike and not _stands_for_group(sample, f)]
    remarks = []
    for what, some in (
        ("linear functions of each other, so that each hides the other's edges", linear),
        ("monotone functions of each other, as a logarithm is, so that each hides the other's edges", alike),
    ):
        pairs = [f"{names[f.of]!r} and {names[f.column]!r}" for f in some]
        remarks.append(_advised(what, pairs, [names[f.column] for f in some]))
    groups: dict[int, list[int]] = {}
    for f in computed:
        groups.setdefault(f.of, []).append(f.column)
    shown = [
        f"{listing([repr(names[i]) for i in some], NAMED)} by {names[of]!r}" for of, some in groups.items()
    ]
    what = "determined by another column, so that edges between them say nothing new"
    remarks.append(_advised(what, shown, [names[f.column] for f in computed]))
    # A sum of groups of one column's states has been reported.
    totals = sums(sample, [f.column for f in (*aliases, *linear, *computed)])
    written = [_written(one, names) for one in totals]
    what = "exact sums, so that edges between their columns say nothing new"
    remarks.append(_advised(what, [text for text, _ in written], [name for _, name in written]))
    return [text for text in remarks if text], found


def _advised(what: str, found: list[str], derived: list[str]) -> Note | None:
    """Return a note on derived columns with the option that leaves them out; None if there are none."""
    if not found:
        return None
    lead, option = f"{what} (leave some out, for example with ", Use("drop", derived[:MOST_WRITTEN])
    return Note("derived", lead, option, f"): {listing(found)}", columns=derived)


def _written(one: Sum, names: tuple[str, ...]) -> tuple[str, str]:
    """Return a sum as text, and the name of the column that was probably computed.

    Examples
    --------
    >>> names = ("a", "b", "total")
    >>> _written(Sum((0, 1, 2), np.array([1.0, 1.0, -1.0]), 0.0, 0.0), names)
    ("'total' = 'a' + 'b'", 'total')
    >>> _written(Sum((0, 1, 2), np.array([-1.0, -1.0, -1.0]), -100.0, 0.0), names)
    ("'a' + 'b' + 'total' = 100", 'total')
    >>> _written(Sum((0, 1, 2), np.array([2.0, 1.0, -3.0]), 0.0, 0.0), names)
    ("'total' is a weighted sum of 'a', 'b'", 'total')
    """
    sizes, last = np.abs(one.weights), names[one.columns[-1]]
    plus, minus = (
        [names[i] for i, w in zip(one.columns, s * one.weights, strict=True) if w > 0] for s in (1, -1)
    )
    total = one.total / sizes.max()
    if sizes.min() < sizes.max() * (1 - SMALLEST_WEIGHT):
        terms = [repr(names[i]) for i in one.columns[:-1]]
        return f"{last!r} is a weighted sum of {listing(terms, NAMED)}", last
    if not plus or len(minus) == 1:
        plus, minus, total = minus, plus, -total
    left, right = (
        " + ".join([*map(repr, side[:NAMED]), *["..."] * (len(side) > NAMED)]) for side in (plus, minus)
    )
    if abs(total) > one.tolerance:
        right += f"{' - ' if total < 0 else ' + '}{abs(total):g}" if right else f"{total:g}"
    return f"{left} = {right}", plus[0] if len(plus) == 1 else last
