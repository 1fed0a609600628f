"""What the learners share that find a matrix of weights, one for every possible edge.

They take real numbers, and the codes of states for numbers. A weight that is not far from 0 is no edge, so
the graph is what is left above a threshold, which is raised where that still has a cycle.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from f2sl.data import DiscreteTable, NumericTable
from f2sl.graph import DAG
from f2sl.structure.base import StructureLearner

Matrix = NDArray[np.float64]


class ByWeights(StructureLearner):
    """Base of the learners by weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_, n_features_in_)
        ``weights_[i, j]`` is that of the edge from column i to column j, those below the threshold included.
    """

    strength_unit = "weight"
    kinds = ("discrete", "gaussian")

    standardize: bool
    weights_: Matrix

    def _open(self, table: DiscreteTable | NumericTable) -> AbstractContextManager[Matrix]:
        """Give the numbers, each variable with a mean of 0, the rows in an order of their own.

        Sums then come out the same to the last bit, whichever order the rows came in.
        """
        if isinstance(table, DiscreteTable):
            self.notes_.append("states are taken for the numbers 0, 1, 2, ... in their order")
            table = NumericTable.from_codes(table)
        values = table.values[:, np.lexsort(table.values)]
        centred = values - values.mean(axis=1, keepdims=True)
        if self.standardize:
            deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
            centred /= np.where(deviation > 0, deviation, 1.0)
        return nullcontext(centred)

    def _graph_of(self, weights: Matrix, threshold: float, names: tuple[str, ...]) -> DAG:
        """Keep `weights_`, and make a graph of those above a threshold."""
        place = {name: i for i, name in enumerate(names)}
        columns = [place[name] for name in self.feature_names_in_]
        self.weights_ = weights[np.ix_(columns, columns)]
        edges, raised = heaviest_edges(weights, threshold)
        if raised > threshold:
            self.notes_.append(
                f"the threshold was raised from {threshold:g} to {raised:.4g}: lighter edges close a cycle"
            )
        return DAG.from_arrays(names, edges, weights_directed=weights[tuple(edges.T)])


def heaviest_edges(weights: Matrix, threshold: float) -> tuple[NDArray[np.int64], float]:
    """Find the edges above a threshold in absolute value, the threshold raised until they make no cycle.

    Returns
    -------
    edges : ndarray of shape (edges, 2)
        Rows (from, to).
    threshold : float
        The one given, or the largest absolute weight that had to be left out.

    Examples
    --------
    >>> edges, threshold = heaviest_edges(np.array([[0, 0.9, 0.1], [-0.4, 0, 0.5], [0, 0, 0]]), 0.3)
    >>> edges.tolist(), threshold
    ([[0, 1], [1, 2]], 0.4)
    """
    from scipy.sparse.csgraph import connected_components

    size = np.abs(weights)
    bounds = [threshold, *np.unique(size[size > threshold]).tolist()]
    # What is acyclic stays so with fewer edges: the least bound that will do is found by halving.
    least, most = 0, len(bounds) - 1
    while least < most:
        middle = (least + most) // 2
        if connected_components(size > bounds[middle], connection="strong")[0] < len(weights):
            least = middle + 1
        else:
            most = middle
    return np.argwhere(size > bounds[least]), bounds[least]
