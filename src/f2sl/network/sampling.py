"""Drawing rows from a network, the same on every machine.

*Forward sampling*: variables are drawn in topological order, each from the distribution that the states of
its parents, drawn before, select. All rows of a variable are drawn at once.

The same seed gives the same rows everywhere, because nothing is used that machines do differently. Every
variable has a PCG64 generator of its own, seeded with the seed and the variable's number, whose raw 64-bit
output NumPy guarantees; its upper 53 bits, as a multiple of 2^-53, are a uniform number. The state is the
number of cumulative probabilities that are not above it; those come from additions in a fixed order and one
division, which IEEE arithmetic defines to the last bit. No logarithm, no exponential is taken.

A generator for each variable also means that a sample is the beginning of every larger one with its seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from f2sl._options import whole
from f2sl.network.counts import cell_numbers
from f2sl.storage.memory.table import MemoryTable
from f2sl.table.column import code_type

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork
    from f2sl.network.checks import FloatArray

BLOCK = 1 << 16
"""Rows drawn at a time: what a processor's cache holds."""


def sample(network: BayesianNetwork, rows: int, seed: int = 0) -> Any:
    """Draw rows as a pandas frame, or as a PyArrow table where there is no pandas."""
    table = sample_table(network, rows, seed)
    try:
        import pandas as pd
    except ImportError:
        return to_arrow(table)
    columns = {
        name: pd.Categorical.from_codes(codes, categories=list(states))
        for name, states, codes in zip(table.names, table.states, table.codes, strict=True)
    }
    return pd.DataFrame(columns)


def to_arrow(table: MemoryTable) -> Any:
    """Make a PyArrow table of dictionaries, with all declared states."""
    import pyarrow as pa

    columns = [
        pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(states, pa.string()))
        for states, codes in zip(table.states, table.codes, strict=True)
    ]
    return pa.table(columns, names=list(table.names))


def sample_table(network: BayesianNetwork, rows: int, seed: int = 0) -> MemoryTable:
    """Draw rows as a table of codes, what learners work on.

    Examples
    --------
    >>> import f2sl
    >>> sample_table(f2sl.load_network("asia"), 1000, seed=1)
    Table(8 columns of states, 1,000 rows, in memory)
    """
    rows, seed = whole("rows", rows, least=1), whole("seed", seed)
    names, states = network.variables, tuple(network.states.values())
    sizes = [len(listed) for listed in states]
    codes = np.empty((len(names), rows), code_type(max(sizes)))
    generators = [np.random.PCG64([seed, i]) for i in range(len(names))]
    steps = [
        _Step(child, parents, sizes, network._distributions(names[child]))
        for child, parents in network._families
    ]
    for first in range(0, rows, BLOCK):
        block = codes[:, first : first + BLOCK]
        for step in steps:
            step.draw(block, generators[step.child])
    return MemoryTable.of_codes(names, states, codes)


class _Step:
    """Draws one variable, given its parents."""

    def __init__(self, child: int, parents: list[int], sizes: list[int], distributions: FloatArray) -> None:
        self.child = child
        self.parents = parents
        self.sizes = sizes
        self.bits = (sizes[child] - 1).bit_length()
        self.cumulative = _cumulative(distributions, 1 << self.bits)

    def draw(self, codes: NDArray[Any], generator: np.random.PCG64) -> None:
        rows = codes.shape[1]
        uniform = (generator.random_raw(rows) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        configuration = cell_numbers(codes, self.parents, self.sizes)
        # A binary search in all rows at once: `place` ends where the row's first larger value stands.
        width = 1 << self.bits
        start = configuration * width
        place = start.copy()
        for bit in reversed(range(self.bits)):
            step = 1 << bit
            place += step * (self.cumulative[place + (step - 1)] <= uniform)
        codes[self.child] = place - start


def _cumulative(rows: FloatArray, width: int) -> FloatArray:
    """Cumulative distributions, flat, each padded to `width` with what no number drawn reaches."""
    sums = rows.cumsum(axis=1)
    padded = np.full((len(rows), width), 2.0)
    padded[:, : sums.shape[1]] = sums / sums[:, -1:]
    return padded.ravel()
