"""Graphs of causal-learn: its marks at both ends of an edge, with and without the library itself."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from f2sl import DAG, PDAG, GraphError, OptionError


class Theirs:
    """Stands in for a GeneralGraph: names, and a matrix with the mark at the end i in row i, column j."""

    def __init__(self, names, edges):
        self._names = names
        self.graph = np.zeros((len(names), len(names)), int)
        for a, b, at_a, at_b in edges:
            i, j = names.index(a), names.index(b)
            self.graph[i, j], self.graph[j, i] = at_a, at_b

    def get_node_names(self):
        return self._names


@st.composite
def pdags(draw):
    n = draw(st.integers(0, 6))
    names = draw(st.permutations([f"v{i}" for i in range(n)]))
    edges = {"->": [], "<-": [], "-": [], None: []}
    for i in range(n):
        for j in range(i):
            edges[draw(st.sampled_from(list(edges)))].append((names[i], names[j]))
    return PDAG(names, edges["->"] + [(b, a) for a, b in edges["<-"]], edges["-"])


@given(pdags())
def test_marks_are_read_from_either_triangle(graph):
    directed = [(a, b, -1, 1) for a, b in graph.directed_edges]
    undirected = [(a, b, -1, -1) for a, b in graph.undirected_edges]
    found = PDAG.from_causallearn(Theirs(list(graph.nodes), directed + undirected))
    assert found == graph and found.nodes == graph.nodes


def test_a_result_of_theirs_has_the_graph_as_g_and_nodes_may_be_objects_or_names():
    matrix = [[0, -1], [1, 0]]
    named = SimpleNamespace(nodes=[SimpleNamespace(get_name=lambda: "a"), "b"], graph=matrix)
    expected = DAG(["a", "b"], [("a", "b")])
    assert DAG.from_causallearn(named) == expected
    assert PDAG.from_causallearn(SimpleNamespace(G=named)).directed_edges == expected.directed_edges


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        ((1, 1), "not 'a' <-> 'b'"),
        ((2, 1), "not the marks 2 and 1 between 'a' and 'b'"),
        ((2, 2), "not the marks 2 and 2 between 'a' and 'b'"),
        ((0, 1), "not the marks 0 and 1 between 'a' and 'b'"),
        ((4, 5), "not the marks 4 and 5 between 'a' and 'b'"),
    ],
)
def test_edges_that_a_pdag_cannot_have_are_refused(marks, told):
    with pytest.raises(GraphError, match=f"edges of a PDAG are -> or -, {told}"):
        PDAG.from_causallearn(Theirs(["a", "b"], [("a", "b", *marks)]))


def test_a_dag_has_no_undirected_edges():
    with pytest.raises(GraphError, match="undirected"):
        DAG.from_causallearn(Theirs(["a", "b"], [("a", "b", -1, -1)]))


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (7, "not a graph of causal-learn, with nodes and a matrix: int"),
        (SimpleNamespace(nodes=["a", "b"], graph=[[0]]), "with 2 nodes has a square matrix"),
        (SimpleNamespace(nodes=["a"], graph=[["x"]]), "with 1 nodes? has a square matrix"),
        (SimpleNamespace(nodes=["a"], graph=[[1]]), "not 'a' <-> 'a'"),
    ],
)
def test_other_things_are_refused(thing, told):
    with pytest.raises(GraphError, match=told):
        PDAG.from_causallearn(thing)


def test_without_causal_learn_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn", None)
    for module in [name for name in sys.modules if name.startswith("causallearn.")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(OptionError, match="to_causallearn needs causallearn: pip install 'causal-learn'"):
        DAG(["a", "b"], [("a", "b")]).to_causallearn()


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def library(self):
        pytest.importorskip("causallearn", reason="causal-learn is not installed")

    def test_the_matrix_follows_its_convention(self):
        theirs = PDAG(["b", "a", "c"], [("a", "b")], [("b", "c")]).to_causallearn()
        assert theirs.get_node_names() == ["b", "a", "c"]
        assert theirs.graph.tolist() == [[0, 1, -1], [-1, 0, 0], [-1, 0, 0]]
        b, a, c = theirs.get_nodes()
        assert theirs.is_directed_from_to(a, b) and theirs.is_undirected_from_to(b, c)
        assert theirs.is_ancestor_of(a, b) and not theirs.is_ancestor_of(b, a)

    @given(pdags())
    def test_there_and_back(self, graph):
        found = PDAG.from_causallearn(graph.to_causallearn())
        assert found == graph and found.nodes == graph.nodes

    def test_their_distance_between_graphs_takes_ours(self):
        from causallearn.graph.SHD import SHD

        asia = f2sl.load_example_graph("asia")
        class_of = asia.to_cpdag()
        assert SHD(class_of.to_causallearn(), class_of.to_causallearn()).get_shd() == 0
        fewer = PDAG(asia.nodes, asia.directed_edges[1:])
        assert SHD(asia.to_causallearn(), fewer.to_causallearn()).get_shd() == 1


def test_the_adjacency_matrix_of_a_learner_is_that_of_its_graph():
    frame = f2sl.load_example("asia")
    model = f2sl.F2SLh().fit(frame)
    matrix, nodes = model.adjacency_matrix_, model.graph_.nodes
    assert list(nodes) == list(frame) and matrix.dtype == np.uint8 and matrix.shape == (8, 8)
    expected = {(a, b) for a, b in model.graph_.directed_edges}
    expected |= {pair for a, b in model.graph_.undirected_edges for pair in ((a, b), (b, a))}
    assert {(nodes[i], nodes[j]) for i, j in np.argwhere(matrix).tolist()} == expected
    assert PDAG.from_adjacency(matrix, nodes) == model.graph_
    with pytest.raises(AttributeError, match="not fitted"):
        f2sl.F2SLh().adjacency_matrix_  # noqa: B018
