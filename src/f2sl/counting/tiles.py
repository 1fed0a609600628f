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

from f2sl.counting.protocol import Floats, Integers

CELLS_PER_TILE = 1 << 16
"""Counts that a tile may hold (half a megabyte: it stays in a core's own cache)."""

PLANES_PER_TILE = 256
"""Bit planes of columns in a tile (128 kilobytes when packed)."""

LARGEST_HEIGHT = 128

CODES_PER_TILE = 32
"""Variables on each side of a tile that is counted sample by sample."""


BY_PLANES, BY_CODES, BY_TABLES = 0, 1, 2
"""How the pairs of a tile may be counted."""


@dataclass(frozen=True)
class Triangle:
    """Pairs to be counted, in tiles.

    `order` lists the variables. A row (top, bottom, left, right) of `tiles` pairs the variables at places
    top to bottom with those at places left to right, each pair once: the earlier place first. `method` says
    how the pairs of each tile are best counted, and `work` roughly how long that takes, in nanoseconds.
    """

    order: Integers
    tiles: Integers
    method: Integers
    work: Floats


def cut_triangle(
    variables: Integers,
    cardinalities: Integers,
    choose: Callable[[int, int], tuple[int, float]],
    target: int | None = None,
) -> Triangle:
    """Cut all pairs among `variables`, or of `target` with each of them, into tiles.

    Variables with one state are left out: they are related to nothing. `choose` tells for two numbers of
    states how such a pair is best counted, and how many nanoseconds that takes.

    Examples
    --------
    >>> cut = cut_triangle(np.arange(4), np.array([3, 2, 3, 2]), lambda k_row, k_column: (BY_PLANES, 1.0))
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
    tiles, methods, costs = [np.empty((0, 4), np.int64)], [], []
    for r in range(len(runs) - 1 if target is None else min(1, len(runs) - 1)):
        for c in range(r, len(runs) - 1):
            k_row, k_column = int(states[runs[r]]), int(states[runs[c]])
            method, cost = choose(k_row, k_column)
            tiles.append(_cut(runs[r], runs[r + 1], runs[c], runs[c + 1], k_row, k_column, method))
            methods.append(np.full(len(tiles[-1]), method, np.int64))
            costs.append(np.full(len(tiles[-1]), cost))
    cut = np.concatenate(tiles)
    top, bottom, left, right = cut.T
    pairs = (bottom - top) * (right - left)
    # Of a tile on the diagonal about half is counted.
    work = np.where(left < bottom, (pairs + 1) // 2, pairs) * np.concatenate([np.empty(0), *costs])
    return Triangle(order, cut, np.concatenate([np.empty(0, np.int64), *methods]), work)


def plane_columns(k_column: int) -> int:
    """How many columns with that number of states a tile for the bit planes has."""
    return max(16, PLANES_PER_TILE // (k_column - 1))


def _cut(top: int, bottom: int, left: int, right: int, k_row: int, k_column: int, method: int) -> Integers:
    """Cut one stretch against another into tiles; what lies below the diagonal is left out."""
    width = height = CODES_PER_TILE
    if method == BY_PLANES:
        width = plane_columns(k_column)
        height = max(1, min(LARGEST_HEIGHT, CELLS_PER_TILE // (width * (k_row - 1) * (k_column - 1))))
    tops = np.arange(top, bottom, height)
    lefts = np.arange(left, right, width)
    t, le = (grid.ravel() for grid in np.meshgrid(tops, lefts, indexing="ij"))
    cut = np.column_stack([t, np.minimum(t + height, bottom), le, np.minimum(le + width, right)])
    return np.asarray(cut[cut[:, 3] > cut[:, 0] + 1])


def pairs_of(order: Integers, tile: Integers) -> Integers:
    """List the pairs of a tile as rows of two variables.

    Examples
    --------
    >>> pairs_of(np.array([4, 5, 6]), np.array([0, 3, 0, 3])).tolist()
    [[4, 5], [4, 6], [5, 6]]
    """
    top, bottom, left, right = tile.tolist()
    rows, columns = np.meshgrid(np.arange(top, bottom), np.arange(left, right), indexing="ij")
    ahead = columns > rows
    return np.column_stack([order[rows[ahead]], order[columns[ahead]]])
