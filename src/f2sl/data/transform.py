"""Normal scores of ranks: the shape of a continuous column does not matter to a learner.

Tests and scores of continuous columns are those of linear models with normal noise. A column that was
measured on another scale, as income in dollars instead of its logarithm, is no longer linear in the others,
and its outliers decide its correlations. The *normal score* of a value is the quantile of the standard normal
distribution at (rank - 1/2) / n; it is the same for every increasing function of the column. Equal values get
their average rank, missing values stay missing, and ranks are among the known values. Scores stay standard
normal: nothing that learns from them depends on location or scale, and the mean of a skewed column would
suggest a unit that scores do not have. Columns with two values, or one, are the same as before but for their
unit.

Scores are right if the numbers are increasing functions of jointly normal ones; values are right if they are
linear in each other, whatever the noise. ``transform="auto"`` decides by what explains more:

1. A column keeps its values if its shape is normal: one minus the squared correlation of its values and its
   scores (Shapiro and Francia's 1 - W') is at most `NOT_NORMAL` / n.
2. The others are tried all as values and all as scores. Each column is explained by the `STRONGEST` columns
   that correlate most with it, numbers and indicators of states, in a linear regression. The sum of -log(1 -
   R^2) over all continuous columns says which is better; scores must be better by `BETTER` for each column
   that they replace. All at once, because linear relations between values are not linear between the values
   of some columns and the scores of others.
3. Then the columns that the others explain better by `CLEARLY` in their other form get it, if that increases
   the sum: a number that depends on a state among bent ones, or a bent one among linear ones. The worse of
   step 2 is tried as well, and used if its sum is now larger by `MUCH_BETTER` for each column. No R^2 counts
   for more than `MOST_EXPLAINED`.
4. Where only some columns are bent and only these explain each other, neither start is right, and no column
   gains alone. So the 1, 2, 3, 4, 6, 8, 11, 16, ... least normal columns are tried as scores beside the
   values of the others, and used if the sum is larger by `MUCH_BETTER` for each column than all before.

For the comparison, about `ROWS_COMPARED` rows are enough, values beyond the 1st and the 99th percentile count
as these, so that a few outliers explain nothing, missing values count as the mean, and scores are
interpolated between `KNOTS` of them.

The constants were chosen on random linear networks of 10 to 50 variables (1.2 to 1.8 edges for each), 50 to
20,000 rows, with normal, Laplace, uniform, exponential and t(3) noise, and on copies with columns, all or
some, replaced by their exponential, cube or distribution function. Of normal columns, 1 in 2,000 exceeds 6 /
n. With values, the sum of step 2 was 0.96 to 1.3 times as large as with scores on the former, and 0.45 to
0.98 times on the latter; pairwise correlations instead of regressions overlap. In step 3 no column of the
former with 200 rows or more gained over 0.25 in the wrong form. On networks drawn with other seeds, 300 rows
or more, 1 of 3,800 columns of the former got scores, and 2,557 of 2,565 bent ones did.
With 100 rows distribution functions keep their values, as they are too like normal columns. `BETTER` was
chosen on networks of 10 to 50 variables with Laplace and exponential noise, 1,000 to 20,000 rows: scores
gained at most 0.0127 for each column, and at least 0.089 on copies with the exponential of 0.3 times each.

References
----------
B. L. van der Waerden. Order tests for the two-sample problem and their power. Indagationes Mathematicae 14,
1952. S. S. Shapiro and R. S. Francia. An approximate analysis of variance test for normality. Journal of the
American Statistical Association 67, 1972.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._constants import AUTO
from f2sl._normal import normal_quantiles
from f2sl._notes import Note, Use
from f2sl._threads import Threads
from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.data.moments import EXACT_BITS
from f2sl.data.names import listing
from f2sl.data.table import Block, Table

AnyTable = TypeVar("AnyTable", bound=Table)

RANKS, NONE = "ranks", "none"

NOT_NORMAL, LARGEST_NOT_NORMAL = 6.0, 0.1
"""Times 1 / n, how much a normal column's 1 - W' may be; and how much at most, with few rows."""
STRONGEST, ROWS_EACH = 10, 10
"""Number of columns that explain another, and the fewest rows for each of them."""
CLEARLY, MOST_EXPLAINED = 0.3, 0.99
"""The smallest clear difference of -log(1 - R^2), and the R^2 beyond which more does not matter."""
BETTER, MUCH_BETTER = 0.03, 0.1
"""By how much scores must explain each column that is not normal better than values, and by how much the
better of both, with columns turned, must be exceeded by the worse."""
OUTER, KNOTS = 0.01, 256
"""Share of the values on each side that count as less extreme, and points of the approximate scores."""
MOST_STATES, MOST_INDICATORS = 16, 1024
"""Discrete columns with more states do not explain, or with fewer, if all have too many together."""
DECIMALS = 6
"""Decimal places of what is compared, so that rounding of sums does not decide."""
RIDGE = 1e-6
"""Added to the variances of the columns that explain, some of which may determine each other."""
CELLS_AT_ONCE, ROWS_AT_LEAST, TARGETS_AT_ONCE = 1 << 20, 1 << 10, 1 << 10
"""Numbers of a block converted at a time, but at least so many rows; and columns explained at a time."""
ROWS_COMPARED = 1 << 16
"""Number of rows for the comparison; of more, about so many are chosen."""
ROWS_FOR_THREADS = 1 << 15
"""Shorter columns are sorted before a thread has started."""


@contextmanager
def for_learning(
    table: AnyTable, n_jobs: int | None = None, size_matters: bool = False
) -> Iterator[AnyTable]:
    """Yield the table with the numbers that a learner takes, for a ``with`` block; a note names what changed.

    If `size_matters` to the learner, ``transform="auto"`` leaves the values.

    Examples
    --------
    >>> from f2sl import open_table
    >>> table = open_table({"a": [0.5, 9.5, 2.5], "b": [1.5, 1.5, 0.5]}, transform="ranks")
    >>> with for_learning(table) as learned:
    ...     learned.column(0).round(3).tolist()
    [-0.967, 0.967, 0.0]
    """
    how = NONE if size_matters and table.transform == AUTO else table.transform
    numbers = table.of_kind(CONTINUOUS) if how != NONE else []
    if not numbers:
        yield table._with(transform=NONE)
        return
    shapes = _shapes(table, numbers, n_jobs)
    if how == AUTO:
        numbers = _better_as_scores(table, shapes)
    with _replaced(table, {i: shapes[i] for i in numbers}, n_jobs) as changed:
        remarks = [_note([table.names[i] for i in numbers])] if numbers and how == AUTO else []
        yield changed.with_notes(*table.notes, *remarks)


@contextmanager
def as_scores(table: AnyTable, names: Iterable[str], n_jobs: int | None = None) -> Iterator[AnyTable]:
    """Yield the table with normal scores in these continuous columns, for a ``with`` block."""
    named = set(names)
    chosen = [i for i, name in enumerate(table.names) if name in named]
    with _replaced(table, _shapes(table, chosen, n_jobs), n_jobs) as changed:
        yield changed


class NormalScores:
    """Normal scores of the values of a column; keeps those of values that all differ for the next column.

    Examples
    --------
    >>> NormalScores().of(np.array([0.5, 7.0, 0.5, np.nan])).round(3).tolist()
    [-0.431, 0.967, -0.431, nan]
    """

    def __init__(self) -> None:
        self._distinct = np.empty(0)

    def of(self, values: Floats) -> Floats:
        """Return the score of each value: equal ones get that of their average rank, NaN stays NaN."""
        order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN is sorted to the end
        scores = np.full(len(values), np.nan)
        scores[order] = self.of_sorted(values[order])
        return scores

    def of_sorted(self, values: Floats) -> Floats:
        """Return the scores of ascending values."""
        n, begins = len(values), values[1:] != values[:-1]
        if begins.all():
            found = self._distinct
            if len(found) != n:
                found = self._distinct = normal_quantiles(2 * np.arange(n) + 1, 2 * n)
            return found
        borders = np.concatenate([[0], np.flatnonzero(begins) + 1, [n]])
        # Ranks of equal values are first + 1 to last: their average less a half is (first + last) / 2.
        return np.repeat(normal_quantiles(borders[:-1] + borders[1:], 2 * n), np.diff(borders))


@contextmanager
def _replaced(table: AnyTable, shapes: Mapping[int, _Shape], n_jobs: int | None) -> Iterator[AnyTable]:
    """Yield the table with normal scores in the columns of these shapes; other columns keep theirs."""
    if not shapes:
        yield table._with(transform=NONE)
        return
    ends = np.array([shape.ends for shape in shapes.values()])
    changed = table.with_numbers(list(shapes), NormalScores().of, (ends[:, 0], ends[:, 1]), n_jobs)
    columns = tuple(
        column._replace(is_scores=True) if i in shapes else column for i, column in enumerate(table.columns)
    )
    try:
        yield changed._with(columns=columns, transform=NONE)
    finally:
        changed.release()


def _note(names: Sequence[str]) -> Note:
    what = f"column{'s' if len(names) > 1 else ''} {listing(list(map(repr, names)))}"
    text = f"{what}: normal scores of ranks, which fit better than the values ("
    return Note("transform", text, Use("transform", NONE), " keeps these)", columns=names)


class _Form(NamedTuple):
    """Conversion of a continuous column for the comparison: by lines between points, then to mean 0.

    `x` and `y` are the points, one array for a line without a bend; values before and behind them count as
    the first and the last. `scale` is one over the standard deviation.
    """

    x: Floats
    y: Floats
    mean: float
    scale: float

    @classmethod
    def of(cls, x: Floats, y: Floats, sample: Floats) -> _Form:
        """Return the form that interpolates these points, with the location and scale of a sample."""
        deviation = float(sample.std())
        return cls(x, y, float(sample.mean()), 1.0 / deviation if deviation > 0.0 else 0.0)

    def converted(self, values: Floats) -> Floats:
        """Return the numbers for the comparison, 0 for missing values."""
        if self.x is self.y:  # a straight line, as it is for values
            found = np.clip(values, self.x[0], self.x[1])
        else:
            found = np.interp(values, self.x, self.y)
        found = (found - self.mean) * self.scale
        missing = np.isnan(found)
        if missing.any():
            found[missing] = 0.0
        return found


class _Shape(NamedTuple):
    """Facts about a continuous column that are seen once it is sorted.

    `ends` are the smallest and the largest score. `values` and `scores` are the two forms; `scores` is None
    if the column is normal, or has only two values. `differ` is true if most rows
    have a value of their own. `lack` is 1 - W', by which the column is not normal.
    """

    ends: tuple[float, float]
    values: _Form
    scores: _Form | None
    differ: bool
    lack: float


def _shape(normal: NormalScores, values: Floats) -> _Shape:
    """Describe a continuous column; sums are in ascending order, so that the order of rows has no effect."""
    known = np.sort(values)
    known = known[: np.searchsorted(known, np.inf, side="right")]  # without NaN, which is sorted to the end
    n, scores, bounds = len(known), normal.of_sorted(known), known[[0, -1]]
    ends = float(scores[0]), float(scores[-1])
    differ = bool(2 * np.count_nonzero(known[1:] != known[:-1]) >= len(values))
    a = known / max(-known[0], known[-1], 1e-300)  # so that no square overflows
    a -= a.mean()
    # No products of vectors: this runs in a thread of a pool (see f2sl._threads).
    squares = float((a * a).sum()) * (float((scores * scores).sum()) - n * float(scores.mean()) ** 2)
    lack = 1.0 - float((a * scores).sum()) ** 2 / squares if squares > 0.0 else 0.0
    if lack <= min(NOT_NORMAL / n, LARGEST_NOT_NORMAL):
        return _Shape(ends, _Form.of(bounds, bounds, known), None, differ, lack)
    low, high = known[int(n * OUTER)], known[n - 1 - int(n * OUTER)]
    if low < high:  # otherwise nearly all values are the same
        bounds = np.array([low, high])
    where = np.searchsorted(scores, np.linspace(*ends, KNOTS))
    where = where[np.diff(where, prepend=-1) > 0]
    of_values = _Form.of(bounds, bounds, np.clip(known, *bounds))
    return _Shape(ends, of_values, _Form.of(known[where], scores[where], scores), differ, lack)


def _shapes(table: Table, chosen: Sequence[int], n_jobs: int | None) -> dict[int, _Shape]:
    """Describe some continuous columns."""
    found: dict[int, _Shape] = {}
    describe = partial(_shape, NormalScores())
    with Threads(n_jobs if table.n_rows > ROWS_FOR_THREADS else 1) as threads:
        for part, numbers in table.numbers_of(chosen):
            found.update(zip(part, threads.map(describe, numbers), strict=True))
    return found


# What explains more


def _better_as_scores(table: Table, shapes: Mapping[int, _Shape]) -> list[int]:
    """Return the continuous columns that are better replaced by their normal scores."""
    order = sorted(shapes, key=table.names.__getitem__)  # rounding must not depend on the order of columns
    doubtful = [k for k, i in enumerate(order) if shapes[i].scores is not None]
    if not doubtful:
        return []
    position = {i: k for k, i in enumerate(table.of_kind(CONTINUOUS))}
    values = [(position[i], shapes[i].values) for i in order]
    scores = [(position[i], form) for i in order if (form := shapes[i].scores) is not None]
    rows = _Rows(next((position[i] for i in order if shapes[i].differ), None), ROWS_COMPARED / table.n_rows)
    correlations = _of_both_forms(table, rows, values, scores)
    numbers, n_columns = np.arange(len(order)), len(correlations) - len(doubtful)
    as_values = np.arange(n_columns)  # which rows of the correlations are the columns in use
    as_scores = as_values.copy()
    as_scores[doubtful] = np.arange(n_columns, len(correlations))

    def explained(targets: Integers, own: Integers, used: Integers) -> Floats:
        among = correlations[np.ix_(used, used)]
        return _explained(correlations[np.ix_(targets, used)], among, own, table.n_rows)

    sums: list[float] = []
    found: list[tuple[float, Integers]] = []
    for used, other in ((as_values, as_scores), (as_scores, as_values)):
        now = explained(used[: len(order)], numbers, used)
        gain = explained(other[doubtful], numbers[doubtful], used) - now[doubtful]
        turned = np.array(doubtful)[np.round(gain, DECIMALS) > CLEARLY]
        mixed = used.copy()
        mixed[turned] = other[turned]
        then = explained(mixed[: len(order)], numbers, mixed) if len(turned) else now
        sums.append(float(now.sum()))
        found.append((float(then.sum()), mixed) if then.sum() > now.sum() else (sums[-1], used))
    better = int(round(sums[1] - sums[0], DECIMALS) > BETTER * len(doubtful))
    bent: list[tuple[float, Integers]] = []
    by_lack = sorted(doubtful, key=lambda k: -round(shapes[order[k]].lack, DECIMALS))
    for count in sorted({round(math.sqrt(2.0) ** step) for step in range(2 * len(doubtful).bit_length())}):
        used = as_values.copy()
        used[by_lack[:count]] = as_scores[by_lack[:count]]
        if count < len(doubtful):
            bent.append((float(explained(used[: len(order)], numbers, used).sum()), used))
    total, best = found[better]
    for now_total, now_best in (found[1 - better], *sorted(bent, key=itemgetter(0))[-1:]):
        if round(now_total - total, DECIMALS) > MUCH_BETTER * len(doubtful):
            total, best = now_total, now_best
    return sorted(order[k] for k in doubtful if best[k] != k)


def _of_both_forms(table: Table, rows: _Rows, values: _Forms, scores: _Forms) -> NDArray[np.float32]:
    """Return the correlations of values, indicators of states, and scores, in half the usual memory."""
    states = _few_states(table)
    upper = _correlations(table, rows, None, values, states)
    n, m = len(upper), len(scores)
    found = np.empty((n + m, n + m), np.float32)
    found[:n, :n] = upper
    found[n:, :n] = _correlations(table, rows, scores, values, states)
    found[:n, n:] = found[n:, :n].T
    found[n:, n:] = _correlations(table, rows, None, scores, ())
    return found


def _few_states(table: Table) -> list[tuple[int, int]]:
    """List the discrete columns that explain numbers: place among the discrete columns, and cardinality."""
    sizes, most = table.cardinalities[table.of_kind(DISCRETE)], MOST_STATES
    while sizes[sizes <= most].sum() > MOST_INDICATORS:
        most //= 2
    return [(i, size) for i, size in enumerate(sizes.tolist()) if size <= most]


class _Rows(NamedTuple):
    """Rows to compare: all, or a share of them, chosen by the bits of the numbers in one column.

    So the order of the rows has no effect, as it would if each k-th row were taken.
    """

    position: int | None
    share: float

    def of(self, codes: NDArray[Any], numbers: Floats) -> tuple[NDArray[Any], Floats]:
        """Return these rows of a block."""
        if self.position is None or self.share >= 1.0:
            return codes, numbers
        # The upper bits of a product with an odd number depend on all bits below; twice, on all bits.
        bits = (numbers[self.position] + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ bits >> np.uint64(32)) * np.uint64(0xD6E8FEB86659FD93)
        chosen = np.flatnonzero(bits < np.uint64(self.share * 2.0**64))
        return codes[:, chosen], numbers[:, chosen]


_Forms = Sequence[tuple[int, _Form]]


def _correlations(
    table: Table,
    rows: _Rows,
    first: _Forms | None,
    second: _Forms,
    states: Sequence[tuple[int, int]],
) -> Floats:
    """Return the correlations of the first columns with the second and all indicators of states.

    Without `first`, those of the latter among each other. All sums are of whole numbers below 2^53, and so
    exact in any order.
    """
    unit = 2.0 ** (math.floor((EXACT_BITS - 1 - math.log2(table.n_rows)) / 2) - 1)
    products, *squares = table.add_up(partial(_products, rows, first, second, states, unit))
    sums, n_rows = (products[:-1, -1], products[-1, :-1]), products[-1, -1]
    found = products[:-1, :-1] - np.outer(*sums) / n_rows
    for axis in (0, 1):
        variances = squares[axis][:-1] - sums[axis] ** 2 / n_rows
        weights = np.where(variances > 0.0, 1.0 / np.sqrt(np.maximum(variances, 1e-300)), 0.0)
        found *= np.expand_dims(weights, 1 - axis)
    return np.asarray(found)


def _products(
    rows: _Rows,
    first: _Forms | None,
    second: _Forms,
    states: Sequence[tuple[int, int]],
    unit: float,
    block: Block,
) -> tuple[Floats, ...]:
    """Sum up a block: products of the first columns with the second, then squares; the last are ones."""
    total: list[Floats] = []
    n_rows = max(block.codes.shape[1], block.numbers.shape[1])
    width = len(first or ()) + len(second) + sum(size for _, size in states) + 2
    step = int(max(ROWS_AT_LEAST, CELLS_AT_ONCE // width) / min(rows.share, 1.0))
    for start in range(0, n_rows, step):
        codes, numbers = rows.of(block.codes[:, start : start + step], block.numbers[:, start : start + step])
        b = _columns(second, states, unit, codes, numbers)
        a = b if first is None else _columns(first, (), unit, codes, numbers)
        parts = (a @ b.T, np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b))
        total = [one + more for one, more in zip(total, parts, strict=True)] if total else list(parts)
    return tuple(total)


def _columns(
    forms: _Forms, states: Sequence[tuple[int, int]], unit: float, codes: NDArray[Any], numbers: Floats
) -> Floats:
    """Return continuous columns as whole numbers, then the indicators of each state, then ones."""
    n_rows = numbers.shape[1]
    found = np.empty((len(forms) + sum(size for _, size in states) + 1, n_rows))
    for row, (position, form) in enumerate(forms):
        np.rint(form.converted(numbers[position]) * unit, out=found[row])
    row = len(forms)
    for position, size in states:
        np.equal(codes[position], np.arange(size)[:, None], out=found[row : row + size], casting="unsafe")
        row += size
    found[row] = 1.0
    return found


def _explained(correlations: NDArray[Any], among: NDArray[Any], own: Integers, n_rows: int) -> Floats:
    """Return -log(1 - R^2) of each target, explained by the columns that correlate most with it.

    `correlations` are those of the targets with all columns, (m, k), and `among` those of the columns,
    (k, k). `own` is the column of each target, which does not explain it.
    """
    n_columns = correlations.shape[1]
    most = min(STRONGEST, max(1, n_rows // ROWS_EACH), n_columns - 1)
    found = np.zeros(len(correlations))
    for start in range(0, len(found) if most else 0, TARGETS_AT_ONCE):
        part = slice(start, start + TARGETS_AT_ONCE)
        strength = np.abs(correlations[part])
        strength[np.arange(len(strength)), own[part]] = -1.0
        top = np.sort(np.argpartition(strength, n_columns - most, axis=1)[:, n_columns - most :], axis=1)
        by_top = np.take_along_axis(correlations[part], top, axis=1)[:, :, None]
        matrices = among[top[:, :, None], top[:, None, :]] + RIDGE * np.eye(most)
        r_squared = (by_top * np.linalg.solve(matrices, by_top)).sum(axis=(1, 2))
        found[part] = -np.log1p(-np.clip(r_squared, 0.0, MOST_EXPLAINED))
    return found
