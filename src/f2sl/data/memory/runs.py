"""Find runs among tables: those that share all variables but one.

Searches score many families of a child that differ in one parent. Samples are split by the shared variables
once, and for each further variable u only the samples outside its most common state have to be looked at:
what is left of each shared cell belongs to that state (`count_runs` in ``_kernels.py``). Of variables such as
findings and alarms, which are in one state most of the time, few samples are left.

F2SL-h on munin with 5,000 rows takes 10.9 s of processor time with runs, and 13.2 s with tables one by one.
Searches that score from bit planes themselves, such as hill climbing with BDeu, do not ask for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import Queries

# Nanoseconds, as in `engine.py`.
SHARED_ROW = 3.0
SHARED_CELL = 0.6
RUN_ROW = 3.5
RUN_TABLE = 500.0
MOST_SHARED = 4
"""Cells of a table of shared variables, seen or not, for each sample."""


def find_runs(
    queries: Queries, cardinalities: Integers, uncommon: Integers, n_rows: int, costs: Floats
) -> tuple[Integers, Queries]:
    """Choose the variable u in which each query differs from others, where that pays.

    Parameters
    ----------
    queries : Queries
        The last variable of each has to stay the last; the order of the others does not matter.
    uncommon : (n_variables,) int64
        Samples outside the most common state of each variable; more than `n_rows` if it must not be u.
    costs : (n_queries,) float64
        Nanoseconds that each takes by itself.

    Returns
    -------
    tuple
        Places of the queries that are in runs, and these queries: u first, and those of a run in sequence.
    """
    lengths = np.diff(queries.start)
    # No run is cheaper than its rows.
    least = np.minimum.reduceat(uncommon[queries.variables], queries.start[:-1])
    hopeful = (lengths > 1) & (RUN_TABLE + RUN_ROW * least < costs)
    found = [np.empty((0, 2), np.int64)]
    positions = [np.empty(0, np.int64)]
    for length in np.unique(lengths[hopeful]).tolist():
        at = np.flatnonzero(hopeful & (lengths == length))
        rows = queries.variables[queries.start[at][:, None] + np.arange(length)]
        chosen, first, order = _of_one_length(rows, cardinalities, uncommon, n_rows, costs[at])
        rows, column = rows[chosen][order], np.arange(length)
        first = first[order][:, None]
        # Column `first` moves to the front, and those before it by one to the right.
        source = np.where(column == 0, first, np.where(column <= first, column - 1, column))
        found.append(np.take_along_axis(rows, source, axis=1))
        positions.append(at[chosen][order])
    sizes = np.concatenate([np.full(len(rows), rows.shape[1]) for rows in found])
    flat = np.concatenate([rows.ravel() for rows in found])
    return np.concatenate(positions), Queries(flat, np.concatenate([[0], np.cumsum(sizes)]))


def _of_one_length(
    rows: Integers, cardinalities: Integers, uncommon: Integers, n_rows: int, costs: Floats
) -> tuple[NDArray[np.bool_], Integers, Integers]:
    """Choose u for queries of one length, (m, length) int64.

    Returns which of them are in runs; for these, the column of u, and an order that brings runs together.
    """
    # A number for each way to leave out one variable. It need not be unique: `count_runs` compares the
    # variables themselves.
    marks = _scattered(rows[:, :-1])
    keys = _scattered(marks.sum(axis=1)[:, None] - marks) + _scattered(rows[:, -1:] + len(cardinalities))
    states = cardinalities[rows].astype(np.float64)
    shared = states.prod(axis=1)[:, None] / states[:, :-1]
    once = SHARED_ROW * n_rows + SHARED_CELL * shared
    each = RUN_TABLE + RUN_ROW * uncommon[rows[:, :-1]]
    each[(uncommon[rows[:, :-1]] > n_rows) | (shared > MOST_SHARED * n_rows)] = np.inf
    _, which, n_same = np.unique(keys, return_inverse=True, return_counts=True)
    first = (each + once / n_same[which].reshape(keys.shape)).argmin(axis=1)
    at = np.arange(len(rows)), first
    # Others have chosen as well, so that runs may be shorter than they could be.
    _, which, n_same = np.unique(keys[at], return_inverse=True, return_counts=True)
    chosen = each[at] + once[at] / n_same[which] < costs
    return chosen, first[chosen], np.argsort(keys[at][chosen], kind="stable")


def _scattered(numbers: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Map numbers to others that look random; the same numbers to the same."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray(mixed ^ (mixed >> np.uint64(32)))
