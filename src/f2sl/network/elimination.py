"""The most probable states of a network, by bucket elimination.

pyAgrum answers all other queries about states, but its version 3.3 fails to find explanations for most
networks ("Empty tensor").

References
----------
R. Dechter. Bucket elimination: a unifying framework for probabilistic inference. UAI, 1996.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.errors import DataError

if TYPE_CHECKING:
    from f2sl.network.inference import Given

MOST_CELLS = 1 << 26
"""The most cells of a junction tree's tables together: half a gigabyte."""


def check_cells(cells: int) -> None:
    """Raise an error for tables that would have too many cells together."""
    if cells > MOST_CELLS:
        raise DataError(
            f"the network is too wide for exact answers: its junction tree would have {cells:,} cells, and "
            f"at most {MOST_CELLS:,} are allowed; give more evidence, or ask about fewer variables"
        )


class MostProbableStates:
    """Finds the most probable states of all variables that are not given (Dechter 1996).

    One variable after the other is eliminated: the tables that have it are joined, and its best state is kept
    for each configuration of the others there.
    """

    def __init__(self, given: Given) -> None:
        network = given.network
        self._sizes = {name: len(labels) for name, labels in network.states.items()}
        self._do = given.do
        with np.errstate(divide="ignore"):
            self._tables = [
                ((*given.parents(name), name), np.log(network._distributions(name)).reshape(table.shape))
                for name, table in network.tables.items()
                if name not in given.do
            ]

    def find(self, codes: Mapping[str, int]) -> tuple[dict[str, int], float]:
        """Return the most probable codes of the other variables, and the logarithm of their probability."""
        factors = []
        for names, table in self._tables:
            at = tuple(codes.get(name, slice(None)) for name in names)
            factors.append((tuple(name for name in names if name not in codes), np.asarray(table[at])))
        order = self._order(factors)
        steps: list[tuple[str, tuple[str, ...], Integers]] = []
        best = self._eliminate(factors, order, steps)
        total = self._eliminate(factors, order) if set(codes) - self._do else 0.0
        found: dict[str, int] = {}
        for name, others, choice in reversed(steps):
            found[name] = int(choice[tuple(found[other] for other in others)])
        return found, best - total if best > -np.inf else best

    def _order(self, factors: Sequence[tuple[tuple[str, ...], Floats]]) -> list[str]:
        """Choose the next variable by the size of the table that its elimination makes."""
        near: dict[str, set[str]] = {name: {name} for names, _ in factors for name in names}
        for names, _ in factors:
            for name in names:
                near[name].update(names)
        cost = {name: self._cells(others) for name, others in near.items()}
        order, cells = [], 0
        while cost:
            name = min(cost, key=cost.__getitem__)
            cells += cost.pop(name)
            others = near.pop(name) - {name}
            for other in others:
                near[other] = (near[other] | others) - {name}
                cost[other] = self._cells(near[other])
            order.append(name)
        check_cells(cells)
        return order

    def _cells(self, names: Iterable[str]) -> int:
        return prod(self._sizes[name] for name in names)

    def _eliminate(
        self,
        factors: Sequence[tuple[tuple[str, ...], Floats]],
        order: Sequence[str],
        steps: list[tuple[str, tuple[str, ...], Integers]] | None = None,
    ) -> float:
        """Return the logarithm of the largest product of the factors, or without `steps` of their sum."""
        waiting = list(factors)
        for name in order:
            own = [factor for factor in waiting if name in factor[0]]
            waiting = [factor for factor in waiting if name not in factor[0]]
            names = (*sorted({other for scope, _ in own for other in scope} - {name}), name)
            joined = np.zeros([self._sizes[other] for other in names])
            for scope, table in own:
                axes = np.argsort([names.index(other) for other in scope])
                shape = [self._sizes[other] if other in scope else 1 for other in names]
                joined += table.transpose(axes).reshape(shape)
            if steps is None:
                waiting.append((names[:-1], np.logaddexp.reduce(joined, axis=-1)))
            else:
                steps.append((name, names[:-1], joined.argmax(axis=-1)))
                waiting.append((names[:-1], joined.max(axis=-1)))
        return float(sum([table for _, table in waiting]))
