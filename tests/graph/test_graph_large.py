"""Graphs of many nodes: files, comparison and conversion, in memory that grows with the edges."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

from f2sl import DAG, PDAG, compare, load_graph
from f2sl.graph import apply_meek_rules

N = 10_000
MOST_BYTES = 50e6
"""A matrix of 10,000 x 10,000 single bytes would take twice as much."""


@contextmanager
def in_little_memory():
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def truth() -> DAG:
    """Sparse, with a hub that has a tenth of all nodes for its children; numbers say nothing of the order."""
    rng = np.random.default_rng(5)
    pairs = np.sort(rng.integers(0, N, (N, 2)), axis=1)
    hub = np.column_stack([np.full(N // 10, 0), rng.choice(np.arange(1, N), N // 10, replace=False)])
    edges = np.unique(np.concatenate([pairs[pairs[:, 0] != pairs[:, 1]], hub]), axis=0)
    return DAG.from_arrays([f"gene {i}" for i in rng.permutation(N)], edges)


@pytest.fixture(scope="module")
def learned(truth) -> PDAG:
    """The CPDAG without some edges, with weights."""
    cpdag = truth.to_cpdag()
    rng = np.random.default_rng(6)
    rows = [edges[rng.random(len(edges)) < 0.9] for edges in (cpdag.directed_array, cpdag.undirected_array)]
    return PDAG.from_arrays(cpdag.nodes, *rows, *(rng.random(len(edges)) for edges in rows))


@pytest.mark.parametrize("suffix", ["json", "csv", "dot", "graphml", "gml"])
def test_files_hold_a_large_graph(learned, suffix, tmp_path):
    path = tmp_path / f"graph.{suffix}"
    learned.save(path)
    loaded = load_graph(path)
    assert (loaded, loaded.nodes) == (learned, learned.nodes)
    assert type(loaded) is PDAG
    given, read = (np.array(list(graph.weights.values())) for graph in (learned, loaded))
    assert np.allclose(read, given, rtol=1e-11, atol=0)


def test_comparing_large_graphs(truth, learned):
    with in_little_memory():
        found = compare(truth, learned)
        as_they_are = compare(truth, learned, convention="paper")
    lost = truth.n_edges - learned.n_edges
    assert (found.miss, found.extra) == (lost, 0)
    assert (as_they_are.miss, as_they_are.extra, as_they_are.reverse) == (lost, 0, 0)
    assert as_they_are.undirected == len(learned.undirected_array)
    assert as_they_are.correct == len(learned.directed_array)


def test_converting_large_graphs(truth, learned):
    with in_little_memory():
        dag = learned.to_dag()
        assert dag.skeleton() == learned.skeleton()
        cpdag = truth.to_cpdag()
        assert cpdag.to_dag().to_cpdag() == cpdag
        assert apply_meek_rules(cpdag) == cpdag
        assert PDAG.from_adjacency(cpdag.to_adjacency(sparse=True), cpdag.nodes) == cpdag
        assert PDAG.from_networkx(learned.to_networkx()) == learned
