"""Draw rows from a network, the same on every machine.

*Forward sampling*: variables are drawn in topological order, each from its distribution given the values
already drawn for its parents. All rows of a variable are drawn at once.

The same seed gives the same rows everywhere, because only operations with the same result on all machines are
used. Every variable has its own PCG64 generator, seeded with the seed and the variable's number. NumPy
guarantees its raw 64-bit output; the upper 53 bits, as a multiple of 2^-53, are a uniform number. The state
is the number of cumulative probabilities that are not above it; those come from additions in a fixed order
and one division, which IEEE arithmetic defines to the last bit. No logarithm, no exponential is taken. The
noise of a number is the normal deviate of the same 53 bits (:mod:`f2sl._normal`); the terms of its
equation are added one by one.

A generator for each variable also means that a sample is the beginning of every larger one with its seed.

Networks are drawn at random in the same way (:class:`Draws`): the few distributions needed are computed from
the raw output, by integer arithmetic and exact products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from f2sl._memory import available_bytes
from f2sl._normal import normal_deviates
from f2sl._notes import Use
from f2sl._options import whole
from f2sl.data.column import CONTINUOUS, DISCRETE, KINDS, Column, code_type, positions_of
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Block
from f2sl.errors import OptionError
from f2sl.network.counts import cell_numbers

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork
    from f2sl.network.checks import Equation, FloatArray


BLOCK = 1 << 16
"""Rows drawn at a time: what a processor's cache holds."""


def sample(network: BayesianNetwork, rows: int, random_state: int = 0) -> Any:
    """Draw rows as a pandas frame, or as a PyArrow table where there is no pandas."""
    table = sample_table(network, rows, random_state)
    try:
        import pandas as pd
    except ImportError:
        return to_arrow(table)
    columns = {
        column.name: table.column(i)
        if column.kind == CONTINUOUS
        else pd.Categorical.from_codes(table.column(i), categories=list(column.states))
        for i, column in enumerate(table.columns)
    }
    return pd.DataFrame(columns)


def to_arrow(table: MemoryTable) -> Any:
    """Return a PyArrow table; discrete columns are dictionaries with all declared states."""
    import pyarrow as pa

    columns = [
        pa.array(table.column(i))
        if column.kind == CONTINUOUS
        else pa.DictionaryArray.from_arrays(
            pa.array(table.column(i).astype(np.int32)), pa.array(column.states, pa.string())
        )
        for i, column in enumerate(table.columns)
    ]
    return pa.table(columns, names=list(table.names))


def sample_table(network: BayesianNetwork, rows: int, random_state: int = 0) -> MemoryTable:
    """Draw rows as a table of codes and numbers, as learners use it.

    Examples
    --------
    >>> import f2sl
    >>> sample_table(f2sl.load_network("asia"), 1000, random_state=1)
    Table(8 discrete columns, 1,000 rows, in memory)
    """
    rows, random_state = whole("rows", rows, least=1), whole("random_state", random_state)
    states, kinds, positions = network.states, network.kinds, positions_of(network.kinds)
    sizes = [len(listed) for listed in states.values()]
    code = code_type(max(sizes, default=0))
    needed = rows * (len(sizes) * np.dtype(code).itemsize + (len(kinds) - len(sizes)) * 8)
    free = available_bytes()
    if free is not None and needed > free:
        raise OptionError(
            Use("rows"),
            f": {rows:,} rows of {len(kinds)} variables take {needed / 1e9:,.1f} GB, but only "
            f"{free / 1e9:,.1f} GB of memory are free; draw fewer rows at a time, each with its own seed",
        )
    codes = np.empty((len(sizes), rows), code)
    numbers = np.empty((len(kinds) - len(sizes), rows))
    steps: list[Callable[[Block], None]] = []
    for child, parents in network._families:
        name, generator = network.variables[child], np.random.PCG64([random_state, child])
        of_states, of_numbers = ([int(positions[p]) for p in parents if kinds[p] == kind] for kind in KINDS)
        about = generator, int(positions[child]), of_states, sizes
        if kinds[child] == DISCRETE:
            steps.append(partial(_draw_states, *about, _cumulative(network._distributions(name))))
        else:
            equation = network.equations[name].by_configuration()
            steps.append(partial(_draw_numbers, *about, of_numbers, equation))
    for first in range(0, rows, BLOCK):
        block = Block(codes[:, first : first + BLOCK], numbers[:, first : first + BLOCK])
        for draw in steps:
            draw(block)
    columns = [Column(*pair, states.get(pair[0], ())) for pair in zip(network.variables, kinds, strict=True)]
    return MemoryTable(tuple(columns), codes, numbers)


def _draw_numbers(
    generator: np.random.PCG64,
    position: int,
    of_states: list[int],
    sizes: list[int],
    of_numbers: list[int],
    equation: Equation,
    block: Block,
) -> None:
    """Draw a continuous variable given its parents; positions are rows of codes and of numbers."""
    codes, numbers = block
    noise = normal_deviates(np.asarray(generator.random_raw(numbers.shape[1])))
    row = cell_numbers(codes, of_states, sizes) if of_states else np.intp(0)
    total = np.sqrt(equation.variances)[row] * noise + equation.intercepts[row]
    for k, parent in enumerate(of_numbers):
        total = total + equation.coefficients[row, k] * numbers[parent]
    numbers[position] = total


def _draw_states(
    generator: np.random.PCG64,
    position: int,
    parents: list[int],
    sizes: list[int],
    cumulative: FloatArray,
    block: Block,
) -> None:
    """Draw a discrete variable given its parents; positions are rows of codes."""
    uniform = (generator.random_raw(block.codes.shape[1]) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    # A binary search in all rows at once: `found` ends where the row's first larger value stands.
    bits = (sizes[position] - 1).bit_length()
    start = cell_numbers(block.codes, parents, sizes) << bits
    found = start.copy()
    for bit in reversed(range(bits)):
        step = 1 << bit
        found += step * (cumulative[found + (step - 1)] <= uniform)
    block.codes[position] = found - start


def _cumulative(rows: FloatArray) -> FloatArray:
    """Cumulative distributions, flat, each padded to a power of 2 with a value above every number drawn."""
    sums = rows.cumsum(axis=1)
    padded = np.full((len(rows), 1 << (rows.shape[1] - 1).bit_length()), 2.0)
    padded[:, : sums.shape[1]] = sums / sums[:, -1:]
    return padded.ravel()


Item = TypeVar("Item")


class Draws:
    """Stream of random choices.

    Examples
    --------
    >>> draws = Draws(7)
    >>> all(0 <= draws.below(6) < 6 for _ in range(100))
    True
    """

    def __init__(self, *random_state: int) -> None:
        self._generator = np.random.PCG64(random_state)

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to `n` - 1."""
        # 53 random bits are far more than n needs, so the bias is negligible.
        return (int(self._generator.random_raw()) >> 11) * n >> 53

    def choose(self, items: Sequence[Item]) -> Item:
        """Draw one of the items."""
        return items[self.below(len(items))]

    def uniforms(self, *shape: int) -> NDArray[np.float64]:
        """Draw numbers from 0 (included) to 1 (not included), multiples of 2^-53."""
        raw = self._generator.random_raw(int(np.prod(shape)))
        return np.asarray((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)

    def normals(self, n: int) -> NDArray[np.float64]:
        """Draw standard normal deviates."""
        return normal_deviates(np.asarray(self._generator.random_raw(n)))

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in a random order (Fisher and Yates)."""
        listed = list(items)
        for last in range(len(listed) - 1, 0, -1):
            other = self.below(last + 1)
            listed[last], listed[other] = listed[other], listed[last]
        return listed
