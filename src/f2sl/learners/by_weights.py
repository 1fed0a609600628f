"""Base of the learners that find a matrix of weights, one for every possible edge.

They take numbers; codes of states are used as numbers. Weights close to 0 are not edges: the graph has the
edges with weights above a threshold, which is raised if the graph still has a cycle.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats
from f2sl._notes import Note
from f2sl._options import option
from f2sl.data.column import DISCRETE
from f2sl.data.table import Table
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.search.threshold import acyclic_part


class ByWeights(StructureLearner):
    """Base of the learners by weights.

    Attributes
    ----------
    graph_ : DAG
        The graph learned; its edges have their weights.
    weights_ : ndarray of shape (n_variables, n_variables)
        ``weights_[i, j]`` is the weight of the edge from column i to column j, including those below the
        threshold.
    threshold_ : float
        Smallest absolute weight of an edge: `threshold`, or more if that left a cycle.
    """

    takes = ("discrete", "continuous")

    strength_unit = "weight"
    directs_all_edges = True
    size_matters = True
    _unsupported_as = "their weights are below the threshold"

    threshold: float = option("threshold")
    standardize: bool = option("standardize")

    def _as_numbers(self, table: Table) -> Table:
        """Read states as numbers, and add a note."""
        self._from_states = DISCRETE in table.kinds
        if self._from_states:
            text = "states are read as the numbers 0, 1, 2, ... in their order"
            self.notes_.append(Note("states-as-numbers", text))
        return table.as_numbers()

    @staticmethod
    def _varying(numbers: Table) -> Table:
        """Leave out constant columns, which discrete columns may be: they have nothing to explain."""
        low, high = numbers.ends
        return numbers.select(np.flatnonzero(low < high).tolist())

    def _unsupported(self, engine: object) -> list[tuple[int, int]]:
        """List the required arcs whose weights are below the threshold."""
        position = {name: i for i, name in enumerate(self.feature_names_in_)}
        columns = [position[name] for name in sorted(position)]
        weights = np.abs(self.weights_[np.ix_(columns, columns)])
        return [(u, v) for u, v in self._constraints.required.tolist() if weights[u, v] < self.threshold]

    def _graph_of(self, weights: Floats, names: tuple[str, ...]) -> DAG:
        """Store `weights_`, and return the graph of those at or above the threshold."""
        position = {name: i for i, name in enumerate(names)}
        columns = [position[name] for name in self.feature_names_in_]
        self.weights_ = weights[np.ix_(columns, columns)]
        required = self._constraints.required
        kept, self.threshold_ = acyclic_part(weights, self.threshold, required)
        if self.threshold_ > self.threshold:
            dropped = f"weights below {self.threshold_:.4g} were dropped: "
            cycle = f"a threshold of {self.threshold:g} left a cycle"
            self.notes_.append(Note("threshold", dropped, cycle, threshold=self.threshold_))
        edges = np.argwhere(kept)
        return DAG.from_arrays(names, edges, weights_directed=weights[tuple(edges.T)])
