"""Random choices that are the same on every machine.

NumPy guarantees the raw output of a bit generator for all versions, but not that of its distributions. So the
few distributions needed here are computed from the raw output, by integer arithmetic and exact products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from f2sl._normal import normal_deviates

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
