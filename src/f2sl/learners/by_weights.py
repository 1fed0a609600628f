"""Shared steps of the learners that find a matrix of weights: NOTEARS and DAG-GNN.

They take continuous columns; of discrete ones the codes are used as numbers. Weights close to 0 are not
edges: the graph has the edges with weights above a threshold, which is raised if the graph still has a cycle.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats
from f2sl._notes import Note
from f2sl.data.column import DISCRETE
from f2sl.data.names import listing
from f2sl.data.table import Table
from f2sl.graph import DAG
from f2sl.learners.fit import Fit
from f2sl.search.threshold import acyclic_part


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
