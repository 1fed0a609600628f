"""How the triangle of all pairs is cut into tiles.

Variables are put in order of their number of states, and pairs are taken of an earlier with a later
place in that order. A *tile* is a stretch of places against another, in each of which all variables have
the same number of states, so that the kernels' loops are regular. Whether a pair is counted by bit planes or
sample by sample depends only on the two numbers of states, hence is the same throughout a tile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2sl.counting.protocol import Integers

CELLS_PER_TILE = 1 << 16
"""Counts that a tile may hold (half a megabyte: it stays in a core's own cache)."""

PLANES_PER_TILE = 256
"""Bit planes of columns in a tile (128 kilobytes when packed)."""

LARGEST_HEIGHT = 128


@dataclass(frozen=True)
class Triangle:
    """Pairs to be counted, in tiles for the bit planes and stretches for the codes.

    `order` lists the variables. A row (top, bottom, left, right) of `tiles` or of `rest` pairs the variables
    at places top to bottom with those at places left to right, each pair once: the earlier place first.
    `work` is in proportion to the time that each tile takes.
    """

    order: Integers
    tiles: Integers
    work: Integers
    rest: Integers


def cut_triangle(
    variables: Integers,
    cardinalities: Integers,
    by_planes: Callable[[int, int], bool],
    target: int | None = None,
) -> Triangle:
    """Cut all pairs among `variables`, or of `target` with each of them, into tiles.

    Variables with one state are left out: they are related to nothing.

    Examples
    --------
    >>> cut = cut_triangle(np.arange(4), np.array([3, 2, 3, 2]), lambda k_row, k_column: True)
    >>> cut.order.tolist()
    [1, 3, 0, 2]
    >>> cut.tiles.tolist()
    [[0, 2, 0, 2], [0, 2, 2, 4], [2, 4, 2, 4]]
    """
    order = variables[(cardinalities[variables] > 1) & (variables != target)]
    order = order[np.argsort(cardinalities[order], kind="stable")]
    if target is not None:
        order = np.concatenate([[target], order]) if cardinalities[target] > 1 else order[:0]
    states = cardinalities[order]
    changes = np.diff(states) != 0
    if target is not None:
        changes[:1] = True
    runs = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else [0]
    tiles: list[Integers] = []
    rest: list[tuple[int, int, int, int]] = []
    for r, top in enumerate(runs[:-1]):
        if target is not None and r > 0:
            break
        for c in range(r, len(runs) - 1):
            stretch = (top, runs[r + 1], runs[c], runs[c + 1])
            if stretch[1] - top == stretch[3] - stretch[2] == 1 and r == c:
                continue
            k_row, k_column = int(states[top]), int(states[runs[c]])
            if by_planes(k_row, k_column):
                tiles.append(_cut(*stretch, k_row, k_column))
            else:
                rest.append(stretch)
    cut = np.concatenate([np.empty((0, 4), np.int64), *tiles])
    top, bottom, left, right = cut.T
    pairs = (bottom - top) * (right - left)
    # Of a tile on the diagonal about half is counted; a rough figure will do.
    pairs = np.where(left < bottom, (pairs + 1) // 2, pairs)
    work = pairs * (states[top] - 1) * (states[left] - 1)
    return Triangle(order, cut, work, np.array(rest, np.int64).reshape(-1, 4))


def _cut(top: int, bottom: int, left: int, right: int, k_row: int, k_column: int) -> Integers:
    """Cut one stretch against another into tiles; what lies below the diagonal is left out."""
    width = max(16, PLANES_PER_TILE // (k_column - 1))
    height = max(1, min(LARGEST_HEIGHT, CELLS_PER_TILE // (width * (k_row - 1) * (k_column - 1))))
    tops = np.arange(top, bottom, height)
    lefts = np.arange(left, right, width)
    t, le = (grid.ravel() for grid in np.meshgrid(tops, lefts, indexing="ij"))
    cut = np.column_stack([t, np.minimum(t + height, bottom), le, np.minimum(le + width, right)])
    return np.asarray(cut[cut[:, 3] > cut[:, 0] + 1])


def pairs_of(order: Integers, stretch: Integers) -> Integers:
    """List the pairs of a stretch as rows of two variables.

    Examples
    --------
    >>> pairs_of(np.array([4, 5, 6]), np.array([0, 3, 0, 3])).tolist()
    [[4, 5], [4, 6], [5, 6]]
    """
    top, bottom, left, right = stretch.tolist()
    rows, columns = np.meshgrid(np.arange(top, bottom), np.arange(left, right), indexing="ij")
    ahead = columns > rows
    return np.column_stack([order[rows[ahead]], order[columns[ahead]]])
