"""Estimating the probabilities of a network whose structure is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._options import not_negative
from f2sl.data import DiscreteTable, as_table
from f2sl.graph import DAG
from f2sl.network.checks import FloatArray, check_dag, check_size
from f2sl.network.likelihood import columns_of


def fit(
    graph: DAG, data: Any, equivalent_sample_size: float = 1
) -> tuple[dict[str, tuple[object, ...]], dict[str, FloatArray]]:
    """Estimate the tables of `graph` from `data`; return states and tables (see ``BayesianNetwork.fit``)."""
    from f2sl.counting.memory import MemoryEngine
    from f2sl.counting.protocol import Queries

    check_dag(graph)
    ess = not_negative("equivalent_sample_size", equivalent_sample_size)
    table = as_table(data)
    column = dict(zip(graph.nodes, columns_of(table, graph.nodes), strict=True))
    families = [[*(column[p] for p in graph.parents(name)), column[name]] for name in graph.nodes]
    for name, family in zip(graph.nodes, families, strict=True):
        check_size(name, table.cardinalities[family].tolist())
    tables: dict[str, FloatArray] = {}
    with MemoryEngine(table, n_jobs=1) as engine:
        for name, family in zip(graph.nodes, families, strict=True):
            counted = engine.count(Queries.of([family]))
            shape = tuple(table.cardinalities[family].tolist())
            # Tables with more cells than there are rows come back without their empty cells.
            counts = counted.counts if counted.full[0] else _count(table, family)
            tables[name] = _estimate(counts.reshape(-1, shape[-1]), ess).reshape(shape)
    states = {name: table.states[column[name]] for name in graph.nodes}
    return states, tables


def _count(table: DiscreteTable, family: list[int]) -> NDArray[np.int64]:
    """Count all cells of a family, empty ones included."""
    cell = np.zeros(table.n_rows, np.int64)
    for variable in family:
        cell *= int(table.cardinalities[variable])
        cell += table.codes[variable]
    return np.bincount(cell, minlength=int(table.cardinalities[family].prod()))


def _estimate(counts: NDArray[np.int64], ess: float) -> FloatArray:
    """Posterior means of the cells of each row under a Dirichlet prior of the weight `ess` in all."""
    q, r = counts.shape
    weights = counts + ess / (q * r)
    sums = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1.0 / r))
