"""Find signs that the rows of a table depend on each other or count more than once.

Tests and scores treat rows as independent samples. In a time series, in a panel (several rows for each of
several units) and in a table of groups neighboring or related rows are alike, so edges seem to have more
evidence than they have.

The thresholds were chosen on 339 tables of R packages with at least 20 rows. Of these 117 are noted. 99 are
time series, panels, repeated measurements, maps, or groups of related rows; the other 18 are designed
experiments, counts over a grid, simulated curves, and tables sorted by something that is not among their
columns. Without the segments of sorted tables and without `FARTHER`, tables such as diamonds, iris and
penguins would be noted, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl._notes import Note, of_kind
from f2sl.data.column import DISCRETE
from f2sl.data.dates import PARTS
from f2sl.data.derived import Function, scaled
from f2sl.data.matrix import Sample, is_ordered, labels
from f2sl.data.names import listing
from f2sl.data.table import Arrays, Block, Table

ALIKE, SIGNIFICANT = 0.4, 4.0
"""Smallest autocorrelation of neighboring rows, and this in standard errors."""

FEWEST_NEIGHBORS = 20
"""Number of pairs of neighboring rows that an autocorrelation is computed from."""

FARTHER = 1.25
"""Smallest ratio of the mean squared difference of values two rows apart to that of neighbors. It is 1 for
noise about a trend, as in a table that is sorted by a column, 1 + r for a first-order autoregression, and 2
for a random walk or long groups."""

SORTED_BY = 3
"""Rows that have the same value of a column by which a table is sorted, at least on average."""

MOST_JUDGED, MOST_PAIRED = 300, 1_000
"""Number of columns that are judged by neighboring rows, and largest number among which a panel's are looked
for."""

FILLED, CANDIDATES, MOST_PAIRS = 0.5, 20, 1 << 24
"""Smallest share of the possible pairs of a panel's units and times that occur, and the largest numbers of
pairs of columns and of pairs of values that are looked at."""

SATURATED = 8
"""Sampled rows for each value from which on a sample has all values of a column, in all likelihood."""

REPEATING = 0.9
"""Share of different values among those that are sampled up to which they may be units of a panel."""

NOT_BY_CHANCE = 15.0
"""Negative logarithm of the probability that no pair occurs twice by chance."""

FEWEST_GROUPS, GROUP_SIZE, UNVARYING = 10, 2, 2
"""Least number of groups, their least mean size, and the number of columns that never vary in them."""

BUCKET_BITS, FEWEST_BUCKETS, LOOKED_AT = 12, 50, 3
"""Bits of a hash of a row, how many different ones must occur (fewer different rows may be a design in which
each occurs as often), and the number of columns hashed first."""

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Odd number that spreads the bits of products over all 64."""


def describe_rows(sample: Sample, derived: list[Function]) -> list[Note]:
    """Return a note on rows that depend on each other, if there are signs of it, with all of these.

    There is none if the table has such a note, by a column that was left out as an identifier of groups.
    """
    if of_kind(sample.table.notes, "dependent-rows"):
        return []
    few = sample.thinned()
    signs = [
        _describe_panel(sample, few) or _describe_groups(few, derived),
        _describe_neighbors(_without_parts(few)),
    ]
    reasons = "; ".join(sign for sign in signs if sign)
    return [note_on_dependence(reasons)] if reasons else []


def note_on_dependence(reasons: str, columns: Sequence[str] = ()) -> Note:
    """Return the note that rows depend on each other, as `columns` show."""
    what = "rows may depend on each other, but are treated as independent, so weak edges may be spurious"
    return Note("dependent-rows", f"{what}: {reasons}", columns=columns)


def _without_parts(sample: Sample) -> Sample:
    """Leave out the parts of dates: a table that is sorted by time would be sorted by these instead."""
    names = sample.table.names
    dates = [name.rpartition(".")[0] * (name.rpartition(".")[2] in PARTS) for name in names]
    kept = [i for i, date in enumerate(dates) if not date or dates.count(date) == 1]
    if len(kept) in (0, len(names)):
        return sample
    return Sample(sample.table.select(kept), sample.values[kept], sample.rows)


def _describe_neighbors(sample: Sample) -> str:
    """Describe the order of the rows if most columns are alike in neighboring ones.

    So the note depends on which columns there are, and should: a few columns may be alike because the table
    is sorted by something related to them, while in a time series, or in groups, it is most of them.
    """
    names, (alike, judged) = sample.table.names, alike_neighbors(sample)
    if len(alike) < 2 or 2 * len(alike) < judged:
        return ""
    named = listing([repr(names[i]) for i in alike], 5)
    return f"neighboring rows are alike in {named}, as in a time series or in groups"


def alike_neighbors(sample: Sample) -> tuple[list[int], int]:
    """Return the columns that are alike in neighboring rows, and the number of columns that were judged.

    Rows are compared only within segments of the rows in which columns by which the table is sorted do not
    change, so a table that is sorted by species is not noted. The autocorrelation is 1 - d / (2 s), with the
    mean squared difference d of neighbors and the variance s within segments; for rows in random order
    it is 0 on average, whatever the segments.

    Examples
    --------
    >>> from f2sl import open_table
    >>> noise = np.random.default_rng(0).normal(size=200)
    >>> alike_neighbors(Sample.of_table(open_table({"walk": noise.cumsum(), "noise": noise})))
    ([0], 2)
    """
    n = len(sample.values)
    segments, sorted_by = _segments(sample)
    neighbors = (np.diff(sample.rows) == 1) & (np.diff(segments) == 0)
    in_steps = _in_equal_steps(sample, neighbors)
    chosen = np.unique(np.arange(MOST_JUDGED) * n // MOST_JUDGED)
    series = _series(sample, chosen)
    differences = (series[:, 1:] - series[:, :-1])[:, neighbors]
    counts = differences.shape[1] - np.count_nonzero(np.isnan(differences), axis=1)
    near = np.nansum(differences**2, axis=1) / np.maximum(counts, 1)
    within = _variances_within(series, segments)
    judged = (counts >= FEWEST_NEIGHBORS) & (within > 0) & ~np.isin(chosen, sorted_by)
    found = 1 - near / np.where(judged, 2 * within, np.inf)
    alike = []
    for at in np.flatnonzero(judged & (found >= ALIKE) & (found * np.sqrt(counts) >= SIGNIFICANT)).tolist():
        far = (series[at, 2:] - series[at, :-2])[neighbors[1:] & neighbors[:-1]]
        if in_steps or np.nanmean(far**2) > FARTHER * near[at]:
            alike.append(int(chosen[at]))
    return alike, int(np.count_nonzero(judged))


def _series(sample: Sample, chosen: Integers) -> Floats:
    """Return columns with standard deviation 1, of states without order whether it is the commonest one."""
    series = sample.values[chosen]
    missing = np.isnan(series)
    for row, is_missing, i in zip(series, missing, chosen.tolist(), strict=True):
        if not is_ordered(sample.table.columns[i]):
            # The value of such a state is its number.
            row[~is_missing] = (
                row[~is_missing] == np.bincount(row[~is_missing].astype(np.int64), minlength=1).argmax()
            )
    whole = ~missing.any(axis=1)
    series[whole] = scaled(series[whole])
    for at in np.flatnonzero(~whole & ~missing.all(axis=1)):
        known = ~missing[at]
        series[at, known] = scaled(series[at, known])
    return series


def _segments(sample: Sample) -> tuple[Integers, list[int]]:
    """Number the segments of rows by which the table is sorted, and list the columns that it is sorted by.

    A table is sorted by a column, within the segments of the columns before it, if each of its values
    occurs in one run of each segment.
    """
    values, m = sample.values, len(sample.rows)
    segments, sorted_by = np.zeros(m, np.int64), list[int]()
    changes = values[:, 1:] != values[:, :-1]
    few = np.flatnonzero(changes.sum(axis=1) < m / SORTED_BY)
    missing = np.isnan(values[few])
    changes = changes[few] & ~(missing[:, 1:] & missing[:, :-1])
    # The most values that a column may have, where one may be missing.
    most = np.where(sample.table.cardinalities > 0, sample.table.cardinalities + 1, m)[few]

    @cache
    def codes(i: int) -> Integers:
        return np.asarray(np.unique(values[i], return_inverse=True)[1], np.int64)

    while True:
        best: tuple[int, int, Integers] | None = None
        begins = changes | (np.diff(segments) != 0)
        n_runs, n_segments = begins.sum(axis=1) + 1, int(segments[-1]) + 1
        possible = (n_segments < n_runs) & (n_runs <= n_segments * most)
        for at in np.flatnonzero(possible).tolist():
            if n_runs[at] > (m / SORTED_BY if best is None else best[0] - 1):
                continue
            own = codes(int(few[at]))
            if len(np.unique(segments * (own.max() + 1) + own)) == n_runs[at]:
                best = int(n_runs[at]), int(few[at]), np.append(0, np.cumsum(begins[at]))
        if best is None:
            return segments, sorted_by
        segments = best[2]
        sorted_by.append(best[1])


def _in_equal_steps(sample: Sample, neighbors: Mask) -> bool:
    """Return whether a column rises by the same step from row to row, as times do, but not from 0 or 1 by 1.

    The latter may be a counter of the rows of any table.
    """
    if np.count_nonzero(neighbors) < FEWEST_NEIGHBORS:
        return False
    steps = np.diff(sample.values, axis=1)[:, neighbors]
    equal = (steps.min(axis=1) > 0) & (np.ptp(steps, axis=1) <= 1e-6 * steps[:, 0])
    return any((values - sample.rows != values[0]).any() or values[0] > 1 for values in sample.values[equal])


def _variances_within(values: Floats, segments: Integers) -> Floats:
    """Return the variance of each row of values about the means of the segments."""
    known, starts = ~np.isnan(values), np.flatnonzero(np.diff(segments, prepend=-1))
    counts = np.add.reduceat(known, starts, axis=1, dtype=np.int64)
    means = np.add.reduceat(np.where(known, values, 0.0), starts, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((values - means[:, segments]) ** 2, axis=1)
    n_known = counts.sum(axis=1)
    freedom = n_known - np.count_nonzero(counts, axis=1)
    # What rounding leaves of values that are the same in each segment is not a variance.
    some = (freedom > 0) & (squares > 1e-12 * n_known)
    return np.where(some, squares / np.maximum(freedom, 1), 0.0)


def _describe_panel(sample: Sample, few: Sample) -> str:
    """Describe two columns whose pairs of values occur once each, if at least half of all pairs occur.

    The pairs are counted in all rows. Numbers that are not all sampled are looked at if they have few values.
    """
    table, n_rows = sample.table, sample.table.n_rows
    if table.n_variables > MOST_PAIRED:
        return ""
    seen = [_all_values(sample, few, i) for i in range(table.n_variables)]
    sizes = np.array([len(own) * (GROUP_SIZE * len(own) <= n_rows) for own in seen])
    pairs = np.outer(sizes, sizes)
    # With few rows, or many pairs that do not occur, each may occur once by chance.
    most = min(n_rows / FILLED, n_rows**2 / (2 * NOT_BY_CHANCE), MOST_PAIRS)
    first, second = np.nonzero(np.triu((pairs >= n_rows) & (pairs <= most), 1))
    order = np.argsort(pairs[first, second], kind="stable")[:CANDIDATES]
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        counts = _pairs(a, b, seen[a], seen[b], {a: few.values[a], b: few.values[b]})[0]
        if counts.max() == 1 and not few.is_whole:
            counts = sample.add_up([a, b], partial(_pairs, a, b, seen[a], seen[b]))
        if counts.max() == 1 and counts.sum() == n_rows:
            one, other = sorted((a, b), key=lambda i: -sizes[i])
            return f"each pair of {table.names[one]!r} and {table.names[other]!r} occurs once, as in a panel"
    return ""


def _all_values(sample: Sample, few: Sample, column: int) -> Floats:
    """Return the values of a column if they repeat and can be known; none otherwise."""
    values, n_rows = _different(few.values[column]), len(few.rows)
    if few.is_whole or SATURATED * len(values) <= n_rows:
        return values
    if sample.table.kinds[column] == DISCRETE:
        return _different(labels(sample.table.columns[column]))
    if sample.is_whole and len(values) <= REPEATING * n_rows:
        return _different(sample.values[column])
    return np.empty(0)


def _different(values: Floats) -> Floats:
    """Return the different values, ascending."""
    return np.asarray(np.unique(values[~np.isnan(values)]), np.float64)


def _pairs(a: int, b: int, seen: Floats, others: Floats, values: dict[int, Floats]) -> Arrays:
    """Count the pairs of values of two columns."""
    positions = [
        np.minimum(np.searchsorted(own, values[i]), len(own) - 1) for i, own in ((a, seen), (b, others))
    ]
    known = (seen[positions[0]] == values[a]) & (others[positions[1]] == values[b])
    pairs = (positions[0] * len(others) + positions[1])[known]
    return (np.bincount(pairs, minlength=len(seen) * len(others)),)


def _describe_groups(sample: Sample, derived: list[Function]) -> str:
    """Describe the column in whose groups of rows most columns never vary.

    Columns with two values and intervals do not count, as a number may have been cut into these.
    """
    inside = [f for f in derived if not f.is_monotone]
    sizes = {i: len(np.unique(sample.values[i])) for f in inside for i in (f.of, f.column)}
    counts = Counter(f.of for f in inside if sizes[f.column] > 2)
    for of, count in counts.most_common():
        if count >= UNVARYING and FEWEST_GROUPS <= sizes[of] <= len(sample.rows) / GROUP_SIZE:
            name, values = repr(sample.table.names[of]), sample.values[of]
            if np.array_equal(values, np.rint(values), equal_nan=True):
                return f"several rows for each {name}, in which {count} columns never vary"
            # A measurement that is the same in all rows of a group, but has not its name.
            return f"groups of rows with the same {name}, in which {count} more columns never vary"
    return ""


def describe_repeated(table: Table) -> list[Note]:
    """Return a note if each row occurs several times, as if a table had been joined to itself.

    Rows are counted by a hash. If each row occurs k times, or a multiple of it, then k divides the number of
    rows with each hash; in other tables nothing but 1 divides all of these.

    Examples
    --------
    >>> from f2sl import open_table
    >>> once = np.arange(80) % 7 + np.arange(80) ** 0.5
    >>> describe_repeated(open_table({"a": once, "b": once % 2}))
    []
    >>> [note] = describe_repeated(open_table({"a": np.tile(once, 3), "b": np.tile(once % 2, 3)}))
    >>> note.split(":")[0]
    'every row occurs 3 times or a multiple of it, as if the table had been written 3 times'
    """
    for columns in (range(min(LOOKED_AT, table.n_variables)), range(table.n_variables)):
        counts = table.select(list(columns)).add_up(_hashed)[0]
        times = int(np.gcd.reduce(counts))
        if times < 2:
            return []
    if np.count_nonzero(counts) < FEWEST_BUCKETS:
        return []
    what = (
        f"every row occurs {times} times or a multiple of it, as if the table had been written {times} times"
    )
    text = f"{what}: edges seem to have {times} times as much evidence as they have"
    return [Note("repeated-rows", text, times=times)]


def _hashed(block: Block) -> Arrays:
    """Count the rows of a block by the bucket of a hash of all their values."""
    rows = np.zeros(max(block.codes.shape[1], block.numbers.shape[1]), np.uint64)
    for row in block.codes:
        rows = (rows ^ row) * MULTIPLIER
        rows ^= rows >> np.uint64(29)
    for row in block.numbers:
        # 0.0 and -0.0 are equal, but differ in a bit.
        rows = (rows ^ (row + 0.0).view(np.uint64)) * MULTIPLIER
        rows ^= rows >> np.uint64(29)
    buckets = (rows * MULTIPLIER >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)  # as NumPy 1.26 needs them
    return (np.bincount(buckets, minlength=1 << BUCKET_BITS),)
