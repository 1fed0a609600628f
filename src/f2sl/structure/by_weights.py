"""What the learners share that find a matrix of weights, one for every possible edge.

They take real numbers, and the codes of states for numbers. A weight that is not far from 0 is no edge, so
the graph is what is left above a threshold, which is raised where that still has a cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from f2sl._options import option
from f2sl.graph import DAG
from f2sl.reading import DiscreteTable, NumericTable
from f2sl.reading.open import Table
from f2sl.search.threshold import acyclic_part
from f2sl.storage.moments import BlockTable
from f2sl.structure.base import StructureLearner

Matrix = NDArray[np.float64]


class ByWeights(StructureLearner):
    """Base of the learners by weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_, n_features_in_)
        ``weights_[i, j]`` is that of the edge from column i to column j, those below the threshold included.
    threshold_ : float
        Weights below this, without their sign, are no edges: as asked for, or more where that left a cycle.
    """

    strength_unit = "weight"

    threshold: float = option("threshold")
    standardize: bool = option("standardize")
    time_limit: float | None = option("time_limit")

    def _as_numbers(self, table: Table) -> NumericTable | BlockTable:
        """Take states for numbers, and say so."""
        self._from_states = table.kind == "discrete"
        if self._from_states:
            self.notes_.append("states are taken for the numbers 0, 1, 2, ... in their order")
        if isinstance(table, DiscreteTable):
            return NumericTable.from_codes(table)
        return table if isinstance(table, NumericTable) else table.as_numbers()

    @staticmethod
    def _varying(numbers: NumericTable | BlockTable) -> NumericTable | BlockTable:
        """Leave out the columns that are always the same, as states may be: they have nothing to explain."""
        if not isinstance(numbers, NumericTable):
            return numbers.some(np.flatnonzero(numbers.low < numbers.high).tolist())
        varies = numbers.values.min(axis=1) < numbers.values.max(axis=1)
        names = tuple(name for name, varying in zip(numbers.names, varies, strict=True) if varying)
        return NumericTable(names, numbers.values[varies])

    def _graph_of(self, weights: Matrix, names: tuple[str, ...]) -> DAG:
        """Keep `weights_`, and make a graph of those at or above the threshold."""
        place = {name: i for i, name in enumerate(names)}
        columns = [place[name] for name in self.feature_names_in_]
        self.weights_ = weights[np.ix_(columns, columns)]
        kept, self.threshold_ = acyclic_part(weights, self.threshold)
        if self.threshold_ > self.threshold:
            self.notes_.append(
                f"weights below {self.threshold_:.4g} were dropped: "
                f"a threshold of {self.threshold:g} left a cycle"
            )
        edges = np.argwhere(kept)
        return DAG.from_arrays(names, edges, weights_directed=weights[tuple(edges.T)])
