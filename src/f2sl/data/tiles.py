"""Cut the triangle of all pairs of variables into tiles.

Variables are sorted by their number of states, and each pair is an earlier with a later *position* in that
order. A *tile* pairs one range of positions with another. All variables in a range have the same number of
states, so that the kernels' loops are regular. Whether a pair is counted by bit planes or sample by sample
depends only on the two numbers of states, so it is the same throughout a tile.

Tiles are made when they are asked for: 100,000 variables have 300,000 of them.

    Triangle     all pairs
      PairBlock  the pairs of two numbers of states; one way of counting, one size of tiles
        stripe   the tiles of a block beside each other
          tile   a row (top, bottom, left, right) of positions, int64; bottom and right are not included
    Piece        tiles that one thread counts in one go
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from f2sl._arrays import Integers, Mask

CELLS_PER_TILE = 1 << 16
"""Counts that a tile may hold: half a megabyte, which stays in a core's own cache."""

PLANES_PER_TILE = 256
"""Bit planes of columns in a tile (128 kilobytes when packed)."""

LARGEST_HEIGHT = 128
"""Number of variables in the rows of a tile; more would hardly reduce the cost of packing its columns."""

CODES_PER_TILE = 32
"""Variables on each side of a tile that is counted sample by sample. These share no work, only the loop."""


BY_PLANES, BY_CODES, BY_TABLES = 0, 1, 2
"""Ways of counting the pairs of a tile: by bit planes, sample by sample, or as tables (by sorting)."""


@dataclass(frozen=True)
class Piece:
    """Tiles that are counted together, all in the same way.

    A row (top, bottom, left, right) of `tiles`, (n, 4) int64, pairs the variables at positions top to bottom
    with those at positions left to right, each pair once: the earlier position first. `work` is an estimate
    of its time, in nanoseconds.
    """

    tiles: Integers
    method: int
    work: float


@dataclass(frozen=True)
class PairBlock:
    """Pairs of one range of positions with another, or with itself, in tiles of `height` and `width`.

    `cost` is an estimate of the nanoseconds that a pair takes, counted by `method`.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    height: int
    width: int
    method: int
    cost: float

    @property
    def n_pairs(self) -> int:
        """Number of pairs: of two ranges, one after the other, or of a range with itself."""
        height, width = self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]
        return height * (height - 1) // 2 if self.rows == self.columns else height * width

    def stripes(self) -> Iterator[Integers | None]:
        """Yield the tiles stripe by stripe, side by side; those all below the diagonal are left out.

        None stands for all pairs if they are in one tile.
        """
        height, width = self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]
        if self.n_pairs > 0 and height <= self.height and width <= self.width:
            yield None
            return
        # A tile has a pair if its last column, right - 1, comes after its first row.
        for top in range(*self.rows, self.height):
            left = np.arange(*self.columns, self.width)
            right = np.minimum(left + self.width, self.columns[1])
            bottom = min(top + self.height, self.rows[1])
            tiles = np.column_stack([np.full_like(left, top), np.full_like(left, bottom), left, right])
            yield tiles[right > top + 1]


@dataclass(frozen=True)
class Triangle:
    """Pairs to be counted, in tiles that are made when they are asked for.

    `order`, (n,) int64, lists the variables; tiles refer to positions in it.
    """

    order: Integers
    blocks: tuple[PairBlock, ...]

    @property
    def work(self) -> float:
        """Estimate of the time for all pairs, in nanoseconds."""
        return sum(block.n_pairs * block.cost for block in self.blocks)

    def pieces(self, most: float) -> Iterator[Piece]:
        """Yield the tiles in pieces of at most `most` nanoseconds (or of one tile), neighbors together.

        A piece may extend over the ends of stripes and blocks, as long as the way of counting is the same.
        """
        # `held` has the tiles of the piece so far, flat. `reached` has the work of a stripe up to and with
        # each tile, so that a bisection finds how many more tiles fit; `done` is the part of it that was
        # handed out before.
        held: list[int] = []
        work, method = 0.0, BY_PLANES
        for block in self.blocks:
            for stripe in block.stripes():
                # With many numbers of states most blocks are one tile: then nothing is computed in arrays.
                tiles, reached = [*block.rows, *block.columns], [block.n_pairs * block.cost]
                if stripe is not None:
                    tiles = stripe.ravel().tolist()
                    reached = np.cumsum(_pairs_ahead(*stripe.T) * block.cost).tolist()
                done, first = 0.0, 0
                while first < len(reached):
                    last = bisect_right(reached, done + most - work)
                    if held and (last <= first or method != block.method):
                        yield Piece(np.array(held, np.int64).reshape(-1, 4), method, work)
                        held, work = [], 0.0
                        continue
                    last = max(last, first + 1)
                    held += tiles[4 * first : 4 * last]
                    work, method = work + reached[last - 1] - done, block.method
                    done, first = reached[last - 1], last
        if held:
            yield Piece(np.array(held, np.int64).reshape(-1, 4), method, work)


def cut_triangle(
    variables: Integers,
    cardinalities: Integers,
    choose: Callable[[int, int], tuple[int, float]],
    target: int | None = None,
    missing: Mask | None = None,
) -> Triangle:
    """Cut all pairs among `variables`, or of `target` with each of them, into tiles.

    Variables with one state are left out: they are related to nothing. `choose` returns for two numbers of
    states the best way to count such a pair, and how many nanoseconds it takes. Variables with `missing` have
    separate tiles: all cells of their pairs are counted, which is like one additional state.

    Examples
    --------
    >>> cut = cut_triangle(np.arange(4), np.array([3, 2, 3, 2]), lambda k_row, k_column: (BY_PLANES, 1.0))
    >>> cut.order.tolist()
    [1, 3, 0, 2]
    >>> [piece.tiles.tolist() for piece in cut.pieces(most=5.0)]
    [[[0, 2, 0, 2], [0, 2, 2, 4]], [[2, 4, 2, 4]]]
    """
    order = variables[(cardinalities[variables] > 1) & (variables != target)]
    missable = np.zeros(len(cardinalities), np.bool_) if missing is None else missing
    order = order[np.lexsort((missable[order], cardinalities[order]))]
    # A target is put first and makes a range of its own, so that its pairs are the first row of blocks.
    if target is not None:
        order = np.concatenate([[target], order]) if cardinalities[target] > 1 else order[:0]
    states = cardinalities[order]
    changes = (np.diff(states) != 0) | (np.diff(missable[order]) != 0)
    if target is not None:
        changes[:1] = True
    borders = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else [0]
    runs = list(pairwise(borders))
    first = borders[:-1]
    states_of, missing_of = states[first].tolist(), missable[order[first]].tolist()
    blocks = []
    for r, rows in enumerate(runs if target is None else runs[:1]):
        for c, columns in enumerate(runs[r:], start=r):
            whole = missing_of[r] or missing_of[c]
            k_row, k_column = states_of[r] + whole, states_of[c] + whole
            method, cost = choose(k_row, k_column)
            # Wide before high: vector instructions run along the columns, and the height only has to spread
            # the cost of packing them.
            height = width = CODES_PER_TILE
            if method == BY_PLANES:
                width = plane_columns(k_column)
                height = CELLS_PER_TILE // (width * (k_row - 1) * (k_column - 1))
                height = max(1, min(LARGEST_HEIGHT, height))
            blocks.append(PairBlock(rows, columns, height, width, method, cost))
    # Blocks that are counted in the same way come together: pieces are fewer.
    return Triangle(order, tuple(sorted(blocks, key=lambda block: block.method)))


def plane_columns(k_column: int) -> int:
    """Return the number of columns, with `k_column` states each, of a tile that is counted by bit planes."""
    return max(16, PLANES_PER_TILE // (k_column - 1))


def _pairs_ahead(top: Integers, bottom: Integers, left: Integers, right: Integers) -> Integers:
    """Count the pairs of a position from top to bottom with a later one from left to right.

    Works on integers or on arrays of tiles, without listing pairs: a triangle may have billions of them.

    Examples
    --------
    >>> _pairs_ahead(*map(np.array, (0, 3, 0, 3))), _pairs_ahead(*map(np.array, (0, 3, 5, 7)))
    (np.int64(3), np.int64(6))
    """

    def before(end: Integers) -> Integers:
        """Count those whose later position is before `end`, whatever `left` is."""
        # A row r has max(end - 1 - r, 0) later positions before `end`. Summed over r from top to bottom,
        # these are 1 + 2 + ... + most, less the same up to `least` for the rows from `bottom` on.
        most, least = np.maximum(end - 1 - top, 0), np.maximum(end - 1 - bottom, 0)
        return np.asarray((most * (most + 1) - least * (least + 1)) // 2)

    return np.asarray(before(right) - before(left))[()]


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
