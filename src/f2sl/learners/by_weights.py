"""Shared steps of the learners that find a matrix of weights: NOTEARS and DAG-GNN.

They take continuous columns; of discrete ones the codes are used as numbers. Weights close to 0 are not
edges: the graph has the edges with weights above a threshold, which is raised if the graph still has a cycle.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._notes import Note
from f2sl.data.column import DISCRETE
from f2sl.data.names import listing
from f2sl.data.table import Table
from f2sl.graph import DAG
from f2sl.learners.fit import Fit


def as_numbers(fit: Fit) -> Table:
    """Read discrete columns as continuous, and add a note."""
    if DISCRETE in fit.table.kinds:
        text = "states are read as the numbers 0, 1, 2, ... in their order"
        fit.notes.append(Note("states-as-numbers", text))
    numbers: Table = fit.table.as_numbers()
    return numbers


def varying(numbers: Table) -> Table:
    """Leave out constant columns, which discrete columns may be: they have nothing to explain."""
    low, high = numbers.ends
    return numbers.select(np.flatnonzero(low < high).tolist())


def graph_of_weights(fit: Fit, weights: Floats, threshold: float) -> DAG:
    """Keep weights and threshold, and return the graph of the weights at or above the threshold.

    Notes tell of a higher threshold, and of required edges with smaller weights.
    """
    number = {name: v for v, name in enumerate(fit.names)}
    columns = [number[name] for name in fit.columns]
    required = fit.constraints.required
    kept, used = acyclic_part(weights, threshold, required)
    fit.found.update(weights_=weights[np.ix_(columns, columns)], threshold_=used)
    if used > threshold:
        text = f"weights below {used:.4g} were dropped: a threshold of {threshold:g} left a cycle"
        fit.notes.append(Note("threshold", text, threshold=used))
    small = [(u, v) for u, v in required.tolist() if abs(weights[u, v]) < threshold]
    if small and not fit.deadline.stopped:
        listed = listing([f"{fit.names[u]!r} -> {fit.names[v]!r}" for u, v in small])
        text = f"required edges, although their weights are below the threshold: {listed}"
        fit.notes.append(Note("unsupported-edges", text))
    edges = np.argwhere(kept)
    return DAG.from_arrays(fit.names, edges, weights_directed=weights[tuple(edges.T)])


def acyclic_part(weights: Floats, threshold: float, required: Integers | None = None) -> tuple[Floats, float]:
    """Drop the weights below a threshold, and more if that leaves a cycle.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Row i, column j is the weight of i -> j.
    threshold : float
        Smaller weights, without their sign, are dropped.
    required : (m, 2) int64, optional
        Arcs that stay whatever their weight; together they must close no cycle. The weight of one that is 0
        becomes the smallest positive float, which distinguishes it from no edge.

    Returns
    -------
    weights : ndarray of shape (n, n)
        Remaining weights; the graph of those that are not 0 has no cycle.
    threshold : float
        Threshold below which they were dropped: the given one, or the smallest larger one that leaves no
        cycle.

    Examples
    --------
    >>> acyclic_part(np.array([[0.0, 0.9], [-0.4, 0.0]]), 0.5)[1]
    0.5
    >>> found, threshold = acyclic_part(np.array([[0.0, 0.9], [-0.4, 0.0]]), 0.3)
    >>> found.tolist(), round(threshold, 6)
    ([[0.0, 0.9], [0.0, 0.0]], 0.4)
    """
    if required is not None and len(required):
        rows, columns = required.T
        # Larger than all others, so that no threshold drops them before their cycles are gone.
        lifted = weights.copy()
        lifted[rows, columns] = np.abs(weights).max() * 2 + 1
        kept, threshold = acyclic_part(lifted, threshold)
        own = weights[rows, columns]
        kept[rows, columns] = np.where(own == 0, np.nextafter(0.0, 1.0), own)
        return kept, threshold
    kept = _at_least(weights, threshold)
    if is_acyclic(kept):
        return kept, threshold
    # Fewer edges have fewer cycles, so the first size to drop that leaves none is found by halving.
    sizes = np.unique(np.abs(kept[kept != 0]))
    low, high = 0, len(sizes) - 1
    while low < high:
        middle = (low + high) // 2
        if is_acyclic(_above(kept, sizes[middle])):
            high = middle
        else:
            low = middle + 1
    return _above(kept, sizes[low]), float(np.nextafter(sizes[low], np.inf))


def is_acyclic(weights: Floats) -> bool:
    """Return whether the graph of the weights that are not 0 has no directed cycle."""
    from scipy.sparse.csgraph import connected_components

    if weights.diagonal().any():
        return False
    n_components, _ = connected_components(weights != 0, directed=True, connection="strong")
    return bool(n_components == len(weights))


def _at_least(weights: Floats, size: float) -> Floats:
    return np.asarray(np.where(np.abs(weights) >= size, weights, 0.0))


def _above(weights: Floats, size: float) -> Floats:
    return np.asarray(np.where(np.abs(weights) > size, weights, 0.0))
