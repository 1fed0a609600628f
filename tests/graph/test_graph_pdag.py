"""PDAG and DAG: what they hold, what they refuse, and conversions."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from f2sl import DAG, PDAG, GraphError
from graphs import ASIA


def mixed():
    return PDAG(
        ["d", "a", "c", "b"],
        [("a", "d"), ("b", "c")],
        [("c", "a")],
        weights={("a", "d"): 0.5, ("c", "a"): 2},
    )


def test_edges_are_listed_in_node_order():
    graph = mixed()
    assert graph.nodes == ("d", "a", "c", "b")
    assert graph.directed_edges == [("a", "d"), ("b", "c")]
    assert graph.undirected_edges == [("a", "c")]
    assert graph.directed_array.tolist() == [[1, 0], [3, 2]]
    assert graph.undirected_array.tolist() == [[1, 2]]
    assert graph.weights == {("a", "d"): 0.5, ("a", "c"): 2.0}
    assert (graph.n_nodes, graph.n_edges) == (4, 3)
    assert repr(graph) == "PDAG(4 nodes, 2 directed and 1 undirected edges)"


def test_neighborhoods():
    graph = mixed()
    assert graph.neighbors("a") == ["d", "c"]
    assert graph.children("a") == ["d"]
    assert graph.undirected_neighbors("a") == ["c"]
    assert graph.parents("c") == ["b"]
    assert graph.has_directed_edge("a", "d")
    assert not graph.has_directed_edge("d", "a")
    assert graph.has_undirected_edge("c", "a")
    assert graph.has_undirected_edge("a", "c")
    assert not graph.has_undirected_edge("a", "d")
    with pytest.raises(GraphError, match="unknown node 'asja'; did you mean 'asia'"):
        ASIA.parents("asja")


def test_a_graph_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        mixed().directed_array[0, 0] = 7
    with pytest.raises(AttributeError):
        mixed().nodes = ()


def test_equality_ignores_node_order_weights_and_class():
    other = PDAG(["a", "b", "c", "d"], [("b", "c"), ("a", "d")], [("a", "c")])
    assert mixed() == other
    assert hash(mixed()) == hash(other)
    assert mixed() != PDAG(["a", "b", "c", "d"], [("c", "b"), ("a", "d")], [("a", "c")])
    assert mixed() != PDAG(["a", "b", "c", "x"])
    assert mixed() != "graph"
    assert DAG(["a", "b"], [("a", "b")]) == PDAG(["b", "a"], [("a", "b")])


def test_reorder_keeps_the_graph():
    moved = mixed().reorder(["a", "b", "c", "d"])
    assert moved == mixed()
    assert moved.nodes == ("a", "b", "c", "d")
    assert moved.weights == {("a", "d"): 0.5, ("a", "c"): 2.0}
    assert isinstance(ASIA.reorder(sorted(ASIA.nodes)), DAG)
    for wrong in (["a", "b", "c"], ["a", "b", "c", "x"]):
        with pytest.raises(GraphError):
            mixed().reorder(wrong)


def test_skeleton_keeps_adjacencies_and_weights():
    skeleton = mixed().skeleton()
    assert skeleton.undirected_edges == [("d", "a"), ("a", "c"), ("c", "b")]
    assert skeleton.weights == {("d", "a"): 0.5, ("a", "c"): 2.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ab",), "not the one string 'ab'"),
        ((["a", ""],), "node 1 has an empty name"),
        ((["a", 3],), "node 1 is 3, a int"),
        ((["a", "b", "a"],), "two nodes have the same name 'a'"),
        ((["a"], [("a", "a")]), "edge from 'a' to itself"),
        ((["a", "b"], [("a", "b"), ("a", "b")]), "'a' -> 'b' is given twice"),
        ((["a", "b"], [("a", "b"), ("b", "a")]), "between 'a' and 'b' is directed both ways"),
        ((["a", "b"], [("a", "b")], [("b", "a")]), "between 'a' and 'b' is both directed and undirected"),
        ((["a", "b"], [], [("a", "b"), ("b", "a")]), "'a' - 'b' is given twice"),
        ((["alpha", "b"], [("alpa", "b")]), r"directed edge \('alpa', 'b'\): .*did you mean 'alpha'"),
        ((["a", "b"], ["ab"]), "'ab' is not an edge"),
        ((["a", "b"], [("a", "b", "c")]), "is not an edge"),
    ],
)
def test_malformed_graphs_are_refused(arguments, message):
    with pytest.raises(GraphError, match=message):
        PDAG(*arguments)


@pytest.mark.parametrize(
    "weights", [{("b", "a"): 1.0}, {("a", "b"): float("nan")}, {("a", "b"): float("inf")}, {("a", "b"): "1"}]
)
def test_malformed_weights_are_refused(weights):
    with pytest.raises(GraphError, match="weight"):
        PDAG(["a", "b"], [("a", "b")], weights=weights)


def test_two_weights_of_an_undirected_edge_are_refused():
    with pytest.raises(GraphError, match="given twice"):
        PDAG(["a", "b"], [], [("a", "b")], weights={("a", "b"): 1.0, ("b", "a"): 1.0})


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 5]], r"directed edge 0 is \(0, 5\), but there are 3 nodes"),
        ([[0, -1]], "there are 3 nodes"),
        ([[0.0, 1.0]], "must be integers"),
        ([0, 1], "shape"),
    ],
)
def test_malformed_arrays_are_refused(edges, message):
    with pytest.raises(GraphError, match=message):
        PDAG.from_arrays(["a", "b", "c"], edges)


def test_weights_follow_their_rows_through_sorting():
    graph = PDAG.from_arrays(["a", "b", "c"], [[2, 0], [0, 1]], None, [2.0, np.nan])
    assert graph.weights == {("c", "a"): 2.0}
    with pytest.raises(GraphError, match="shape"):
        PDAG.from_arrays(["a", "b"], [[0, 1]], None, [1.0, 2.0])


def test_a_dag_names_its_cycle():
    with pytest.raises(GraphError, match="'a' -> 'b' -> 'c' -> 'a'"):
        DAG(["d", "c", "b", "a"], [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    ring = [f"v{i:02}" for i in range(20)]
    with pytest.raises(GraphError, match=r"'v03' -> \.\.\. -> 'v17' -> 'v18' -> 'v19' -> 'v00'$"):
        DAG(ring, [*pairwise(ring), (ring[-1], ring[0])])
    with pytest.raises(GraphError, match="'a' - 'b'"):
        DAG.from_arrays(["a", "b"], None, [[0, 1]])


def test_cycles():
    cyclic = PDAG(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])
    assert cyclic.has_directed_cycle()
    assert not cyclic.is_dag()
    assert not mixed().has_directed_cycle()
    assert not mixed().is_dag()
    assert PDAG(["a", "b"], [("a", "b")]).is_dag()


def test_v_structures_of_asia():
    assert ASIA.v_structures() == [("tub", "either", "lung"), ("bronc", "dysp", "either")]
    shielded = PDAG(["a", "b", "c"], [("a", "c"), ("b", "c")], [("a", "b")])
    assert shielded.v_structures() == []


def test_relations_in_asia():
    assert ASIA.ancestors("xray") == ["asia", "tub", "smoke", "lung", "either"]
    assert ASIA.descendants("tub") == ["either", "xray", "dysp"]
    assert ASIA.markov_blanket("either") == ["tub", "lung", "bronc", "xray", "dysp"]
    assert ASIA.markov_blanket("bronc") == ["smoke", "either", "dysp"]
    assert ASIA.topological_order() == ["asia", "smoke", "bronc", "lung", "tub", "either", "dysp", "xray"]
    assert ASIA.to_dag() is ASIA


def test_adjacency_matrices():
    graph = mixed()
    matrix = graph.to_adjacency()
    assert matrix.dtype == np.uint8
    assert matrix.tolist() == [[0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    sparse = graph.to_adjacency(sparse=True)
    assert (sparse.toarray() == matrix).all()
    assert PDAG.from_adjacency(matrix, graph.nodes) == graph
    assert PDAG.from_adjacency(sparse, graph.nodes) == graph
    assert PDAG.from_adjacency(np.zeros((2, 2), dtype=bool)).nodes == ("X0", "X1")
    assert PDAG.from_adjacency([]).n_nodes == 0
    pandas = pytest.importorskip("pandas")
    assert PDAG.from_adjacency(pandas.DataFrame(matrix, columns=list(graph.nodes))) == graph


@pytest.mark.parametrize(
    ("matrix", "nodes", "message"),
    [
        ([[0, 1]], None, "square"),
        ([0, 1], None, "square"),
        ([[0, 2], [0, 0]], None, r"\[0, 1\] there is 2"),
        ([["a"]], None, "zeros and ones"),
        ([[1]], None, "itself"),
        ([[0]], ["a", "b"], "2 names for a matrix of 1"),
    ],
)
def test_malformed_matrices_are_refused(matrix, nodes, message):
    with pytest.raises(GraphError, match=message):
        PDAG.from_adjacency(matrix, nodes)


def test_networkx_there_and_back():
    graph = mixed()
    there = graph.to_networkx()
    assert set(there.edges) == {("a", "d"), ("b", "c"), ("a", "c"), ("c", "a")}
    assert there["c"]["a"]["weight"] == there["a"]["c"]["weight"] == 2.0
    back = PDAG.from_networkx(there)
    assert back == graph
    assert back.nodes == graph.nodes
    assert back.weights == graph.weights
    assert PDAG.from_networkx(nx.Graph([("a", "b")])).undirected_edges == [("a", "b")]
    assert isinstance(DAG.from_networkx(ASIA.to_networkx()), DAG)


@pytest.mark.parametrize("weighted", [("a", "b"), ("b", "a")])
def test_one_of_two_directed_edges_may_have_the_weight_of_both(weighted):
    arcs = nx.DiGraph([("a", "b"), ("b", "a")])
    arcs.edges[weighted]["weight"] = 2.0
    assert PDAG.from_networkx(arcs).weights == {("a", "b"): 2.0}


def test_networkx_graphs_that_are_refused():
    with pytest.raises(GraphError, match="multigraph"):
        PDAG.from_networkx(nx.MultiGraph([("a", "b")]))
    with pytest.raises(GraphError, match="names must be strings"):
        PDAG.from_networkx(nx.path_graph(3))
    arcs = nx.DiGraph()
    arcs.add_edge("a", "b", weight=1)
    arcs.add_edge("b", "a", weight=2)
    with pytest.raises(GraphError, match="different weights"):
        PDAG.from_networkx(arcs)
    arcs["b"]["a"]["weight"] = "heavy"
    with pytest.raises(GraphError, match="not a number"):
        PDAG.from_networkx(arcs)


def test_pickle_and_copy():
    ASIA.d_separated("asia", "smoke")
    for graph in (mixed(), ASIA):
        for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
            assert again == graph
            assert type(again) is type(graph)
            assert again.weights == graph.weights
            assert not again.directed_array.flags.writeable


def test_import_is_light():
    heavy = "{'numba', 'pandas', 'matplotlib', 'scipy', 'networkx'}"
    code = f"import sys, f2sl.graph; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_empty_graph():
    empty = PDAG([])
    assert empty.to_dag() == empty.to_cpdag() == empty.skeleton() == empty
    assert empty.to_adjacency().shape == (0, 0)
