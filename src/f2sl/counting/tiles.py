"""How the triangle of all pairs is cut into tiles.

Variables are sorted by their number of states, and a tile pairs a run of variables with
equal numbers of states with another such run, so that the kernels' loops are regular.
Whether a pair is counted by bit planes or sample by sample depends only on the two
numbers of states, hence is the same throughout a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from f2sl.counting.protocol import Integers

CELLS_PER_TILE = 1 << 16
"""Counts that a tile may hold (half a megabyte: it stays in a core's own cache)."""

PLANES_PER_COLUMN_RUN = 256
"""Bit planes that are packed at a time (128 kilobytes at most)."""

LARGEST_ROW_RUN = 128


@dataclass(frozen=True)
class Tile:
    """Row variables against column variables; `skip[i]` columns are not to be paired with row i."""

    rows: Integers
    columns: Integers
    skip: Integers
    k_row: int
    k_column: int

    @property
    def work(self) -> float:
        """A figure in proportion to the time that counting takes."""
        pairs = len(self.rows) * len(self.columns) - int(self.skip.sum())
        return pairs * max(1, self.k_row - 1) * max(1, self.k_column - 1)


def runs_of_equal(variables: Integers, cardinalities: Integers) -> list[Integers]:
    """Sort variables by number of states, fewest first, and split them where the number changes.

    Examples
    --------
    >>> [run.tolist() for run in runs_of_equal(np.arange(4), np.array([3, 2, 3, 2]))]
    [[1, 3], [0, 2]]
    """
    if not len(variables):
        return []
    ordered = variables[np.argsort(cardinalities[variables], kind="stable")]
    borders = np.flatnonzero(np.diff(cardinalities[ordered])) + 1
    return np.split(ordered, borders)


def cut_triangle(
    variables: Integers, cardinalities: Integers, by_planes: Callable[[int, int], bool]
) -> tuple[list[Tile], list[tuple[Integers, Integers]]]:
    """Split all pairs among `variables` into tiles for the planes and pairs of runs for the codes.

    A pair of the same run twice stands for the pairs within the run.
    """
    tiles: list[Tile] = []
    rest: list[tuple[Integers, Integers]] = []
    runs = runs_of_equal(variables[cardinalities[variables] > 1], cardinalities)
    for first, row_run in enumerate(runs):
        for column_run in runs[first:]:
            k_row, k_column = int(cardinalities[row_run[0]]), int(cardinalities[column_run[0]])
            if by_planes(k_row, k_column):
                tiles.extend(cut_run_pair(row_run, column_run, k_row, k_column))
            else:
                rest.append((row_run, column_run))
    return tiles, rest


def cut_run_pair(row_run: Integers, column_run: Integers, k_row: int, k_column: int) -> Iterator[Tile]:
    """Cut one run against another, or the half above the diagonal of a run against itself."""
    triangle = row_run is column_run
    width = max(16, PLANES_PER_COLUMN_RUN // (k_column - 1))
    height = CELLS_PER_TILE // (width * (k_row - 1) * (k_column - 1))
    height = min(LARGEST_ROW_RUN, max(1, height))
    for top in range(0, len(row_run), height):
        rows = row_run[top : top + height]
        for left in range(top // width * width if triangle else 0, len(column_run), width):
            columns = column_run[left : left + width]
            skip = np.zeros(len(rows), np.int64)
            if triangle:
                skip = np.clip(np.arange(top + 1, top + 1 + len(rows)) - left, 0, len(columns))
            # The last corner of a triangle may hold nothing but its diagonal.
            if skip[0] < len(columns):
                yield Tile(rows, columns, skip, k_row, k_column)


def pairs_of_runs(row_run: Integers, column_run: Integers) -> Integers:
    """List the pairs of two runs (or within one) as rows of two variables.

    Examples
    --------
    >>> run = np.array([4, 5, 6])
    >>> pairs_of_runs(run, run).tolist()
    [[4, 5], [4, 6], [5, 6]]
    """
    if row_run is column_run:
        above, below = np.triu_indices(len(row_run), 1)
        return np.column_stack([row_run[above], row_run[below]])
    return np.column_stack([np.repeat(row_run, len(column_run)), np.tile(column_run, len(row_run))])
