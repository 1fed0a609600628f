"""Sum up one block of a mixed table's rows; such sums add up over blocks.

Sums are exact: numbers are whole numbers in two halves (`data/moments.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._deadline import checkpoint
from f2sl.data.engines import Queries
from f2sl.data.mixed import _kernels
from f2sl.data.moments import Scaling
from f2sl.data.table import Block

ROWS_AT_ONCE, VALUES_AT_ONCE = 1 << 13, 1 << 21
"""Rows made into indicator columns at a time; fewer if these have more values than this."""
FEW_STATES = 4
"""States of a column, on average, up to which a product of indicators counts pairs of them faster."""
CELL_BITS, CELLS = 8, 1 << 12
"""Numbers are cut between cells of a fine histogram: 2^8 cells for two to four standard deviations; values
beyond the last cell are counted in it."""


@dataclass(frozen=True)
class MixedBatch:
    """Batch of queries by the positions of columns: members that are discrete, continuous, and both in order.

    `missing_states` and `missing_numbers` are the columns that limit the samples of each query, `numeric`
    says which of the members are continuous.
    """

    numeric: Mask
    states: Queries
    numbers: Queries
    members: Queries
    missing_states: Queries
    missing_numbers: Queries


def _cells(scaling: Scaling, numbers: Floats) -> Integers:
    """Return the cell of a fine histogram that each number is in."""
    coarse, _ = scaling.halves(numbers)
    cells = np.floor(coarse / 2.0 ** (scaling.coarse_bits - CELL_BITS)).astype(np.int64) + CELLS // 2
    return np.clip(cells, 0, CELLS - 1)


def cells_counted(scaling: Scaling, block: Block) -> tuple[Integers]:
    """Count the samples in each cell of a fine histogram of each number, (n_numbers, CELLS)."""
    cells, there = _cells(scaling, block.numbers), ~np.isnan(block.numbers)
    counts = [np.bincount(row[own], minlength=CELLS) for row, own in zip(cells, there, strict=True)]
    return (np.stack(counts),)


def recoded(
    scaling: Scaling, cuts: tuple[Integers, ...], states: Integers, numbers: Integers, block: Block
) -> Block:
    """Return a block of the codes of all columns, with numbers cut into intervals."""
    rows = block.codes.shape[1]
    codes = np.empty((len(states) + len(numbers), rows), np.result_type(block.codes.dtype, np.uint8))
    codes[states] = block.codes
    for v, own, cells, values in zip(
        numbers, cuts, _cells(scaling, block.numbers), block.numbers, strict=True
    ):
        codes[v] = np.searchsorted(own, cells, side="right")
        codes[v, np.isnan(values)] = len(own) + 1
    return Block(codes, block.numbers[:0])


def as_integers(scaling: Scaling, numbers: Floats) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return both halves of numbers as whole numbers, with `GAP` for missing ones."""
    # Squares of both halves add up to at most 2^52, so that none has more than 26 bits.
    coarse, fine = scaling.halves(numbers)
    coarse[np.isnan(numbers)] = _kernels.GAP
    return coarse.astype(np.int32), fine.astype(np.int32)


def summed(
    codes: NDArray[Any],
    coarse: NDArray[np.int32],
    fine: NDArray[np.int32],
    cardinalities: Integers,
    asked: MixedBatch,
    first: Integers,
) -> Integers:
    """Sum up the numbers of each query in each configuration of its states."""
    sums = np.empty(int(first[-1]), np.int64)
    _kernels.sums_by_group(
        codes,
        coarse,
        fine,
        cardinalities,
        asked.states.variables,
        asked.states.start,
        asked.numbers.variables,
        asked.numbers.start,
        asked.missing_states.variables,
        asked.missing_states.start,
        asked.missing_numbers.variables,
        asked.missing_numbers.start,
        first,
        sums,
    )
    return sums


Whole = tuple[Integers, Integers]
"""Sums of all columns and of the products of all pairs of columns, (2, columns) and (3, columns, columns)."""

UNKNOWN: Whole = (np.empty((2, 0), np.int64), np.empty((3, 0, 0), np.int64))


def summed_columns(
    codes: NDArray[Any],
    coarse: NDArray[np.int32],
    fine: NDArray[np.int32],
    cardinalities: Integers,
    asked: MixedBatch,
    first: Integers,
    whole: Whole = UNKNOWN,
) -> Integers:
    """Sum up the numbers of each query and the indicators of its states."""
    sums = np.empty(int(first[-1]), np.int64)
    _kernels.sums_of_columns(
        codes,
        coarse,
        fine,
        cardinalities,
        asked.members.variables,
        asked.numeric,
        asked.members.start,
        asked.missing_states.variables,
        asked.missing_states.start,
        asked.missing_numbers.variables,
        asked.missing_numbers.start,
        *whole,
        first,
        sums,
    )
    return sums


Summing = Callable[..., Integers]
"""`summed` or `summed_columns`."""


def sums_of_block(
    function: Summing,
    scaling: Scaling,
    cardinalities: Integers,
    asked: MixedBatch,
    first: Integers,
    block: Block,
) -> tuple[Integers]:
    """Sum up a block by one of the two functions."""
    return (function(block.codes, *as_integers(scaling, block.numbers), cardinalities, asked, first),)


def _indicators(cardinalities: Integers, codes: NDArray[Any]) -> Floats:
    """Return a column of zeros and ones for each state of each variable, (all states, rows)."""
    n = int(cardinalities.sum())
    found = np.zeros((n + 1, codes.shape[1]))
    first = np.concatenate([[0], np.cumsum(cardinalities)])[:-1]
    # Missing values go to a row of their own, which is left out.
    at = np.where(codes < cardinalities[:, None], codes.astype(np.int64) + first[:, None], n)
    found[at, np.arange(codes.shape[1])] = 1.0
    return found[:n]


def _indicators_of_rows(cardinalities: Integers, block: Block) -> Iterator[tuple[slice, Floats]]:
    """Yield some rows at a time, with their indicators as `_indicators` returns them."""
    step = max(1, min(ROWS_AT_ONCE, VALUES_AT_ONCE // max(1, int(cardinalities.sum()))))
    for a in range(0, block.codes.shape[1], step):
        checkpoint()
        rows = slice(a, a + step)
        yield rows, _indicators(cardinalities, block.codes[:, rows])


def crossed(scaling: Scaling, cardinalities: Integers, squares: bool, block: Block) -> tuple[Floats, ...]:
    """Sum up each number in each state, (n_numbers, all states) each: both halves.

    With `squares` the three parts of the squares and the number of samples follow.
    """
    totals = np.zeros((6 if squares else 2, len(block.numbers), int(cardinalities.sum())))
    for rows, indicators in _indicators_of_rows(cardinalities, block):
        numbers = block.numbers[:, rows]
        high, low = scaling.halves(numbers)
        parts = [high, low]
        if squares:
            parts += [high * high, 2 * high * low, low * low, (~np.isnan(numbers)).astype(np.float64)]
        # Sums of whole numbers below 2^53 are exact in whatever order.
        for total, part in zip(totals, parts, strict=True):
            total += part @ indicators.T
    return tuple(totals)


def joint(cardinalities: Integers, block: Block) -> tuple[Integers]:
    """Count each two states of all variables together, (all states, all states).

    A product of indicators has work for each two states, counting for each two columns.
    """
    first = np.concatenate([[0], np.cumsum(cardinalities)])
    n = int(first[-1])
    if n <= FEW_STATES * len(cardinalities):
        product = np.zeros((n, n))
        for _, indicators in _indicators_of_rows(cardinalities, block):
            product += indicators @ indicators.T
        return (product.astype(np.int64),)
    total = np.zeros((n, n), np.int64)
    for v, (a, b) in enumerate(pairwise(first.tolist())):
        checkpoint()
        _kernels.count_with_later(block.codes, cardinalities, first, v, total)
        total[b:, a:b] = total[a:b, b:].T
    return (total,)


def whole_columns(scaling: Scaling, cardinalities: Integers, block: Block) -> Whole:
    """Sum up all columns, numbers before states, and products of pairs on the samples that have both."""
    n_numbers = len(block.numbers)
    n = n_numbers + int(cardinalities.sum())
    sums, products = np.zeros((2, n)), np.zeros((3, n, n))
    for rows, indicators in _indicators_of_rows(cardinalities, block):
        coarse, fine = scaling.halves(block.numbers[:, rows])
        low = np.concatenate([fine, indicators])
        sums[0, :n_numbers] += coarse.sum(axis=1)
        sums[1] += low.sum(axis=1)
        mixed = coarse @ low.T
        products[0, :n_numbers, :n_numbers] += coarse @ coarse.T
        products[1, :n_numbers] += mixed
        products[1, :, :n_numbers] += mixed.T
        products[2] += low @ low.T
    # Whole numbers below 2^53.
    return sums.astype(np.int64), products.astype(np.int64)
