"""Estimating the probabilities of a network whose structure is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._options import not_negative
from f2sl.graph import DAG
from f2sl.network.checks import FloatArray, check_dag, check_nodes, check_size, checked_states
from f2sl.network.counts import FamilyCounts, columns_of, states_of


def fit(
    graph: DAG, data: Any, equivalent_sample_size: float, states: Mapping[str, Sequence[Any]]
) -> tuple[dict[str, tuple[str, ...]], dict[str, FloatArray]]:
    """Estimate the tables of `graph` from `data`; return states and tables (see ``BayesianNetwork.fit``)."""
    check_dag(graph)
    check_nodes("states", states, graph)
    ess = not_negative("equivalent_sample_size", equivalent_sample_size)
    families = {name: (*graph.parents(name), name) for name in graph.nodes}
    number = {name: i for i, name in enumerate(graph.nodes)}
    with states_of(data) as table:
        listed = {
            name: checked_states(name, states.get(name, table.states[column]))
            for name, column in zip(graph.nodes, columns_of(table, graph.nodes), strict=True)
        }
        for name, family in families.items():
            check_size(name, [len(listed[member]) for member in family])
        counts = FamilyCounts(table, listed)
        tables = {
            name: _estimate(counts.count([number[member] for member in family]), ess)
            for name, family in families.items()
        }
    return listed, tables


def _estimate(counts: NDArray[np.int64], ess: float) -> FloatArray:
    """Posterior means of all distributions under Dirichlet priors of the weight `ess` together."""
    weights = counts + ess / counts.size
    sums = weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1.0 / counts.shape[-1]))
