"""Meek's rules, extensions, CPDAGs and d-separation against brute force."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_graph as naive
from f2sl import DAG, PDAG, GraphError, Knowledge
from f2sl.constraints import find_cycle
from f2sl.graph import apply_meek_rules, consistent_extension, extension, meek
from f2sl.graph._arrays import first_topological_order
from f2sl.graph.cycle_guard import CycleGuard
from graphs import pdags, shuffled
from marks import examples


@st.composite
def dags(draw, most=5):
    graph = draw(pdags(most, "> "))
    names = draw(st.permutations(sorted(graph.nodes)))
    return DAG(names, graph.directed_edges)


def parts(graph):
    return set(graph.directed_edges), {frozenset(e) for e in graph.undirected_edges}


CHAIN = DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
FORK = DAG(["a", "b", "c"], [("b", "a"), ("b", "c")])
COLLIDER = DAG(["a", "b", "c"], [("a", "b"), ("c", "b")])
DIAMOND = DAG(["a", "b", "c", "d"], [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
SQUARE = PDAG(["a", "b", "c", "d"], [], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])


def test_named_cpdags():
    assert CHAIN.to_cpdag() == FORK.to_cpdag() == CHAIN.skeleton()
    assert COLLIDER.to_cpdag() == COLLIDER
    assert DIAMOND.to_cpdag() == PDAG(
        ["a", "b", "c", "d"], [("b", "d"), ("c", "d")], [("a", "b"), ("a", "c")]
    )


def test_weights_survive_every_conversion():
    weighted = PDAG(CHAIN.nodes, [], CHAIN.directed_edges, weights={("a", "b"): 3.0})
    assert list((weighted.to_dag().weights or {}).values()) == [3.0]
    assert weighted.to_cpdag().weights == {("a", "b"): 3.0}
    assert apply_meek_rules(weighted).weights == {("a", "b"): 3.0}


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [
        ([("p", "a")], [("a", "b")]),
        ([("a", "c"), ("c", "b")], [("a", "b")]),
        ([("c", "b"), ("d", "b")], [("a", "b"), ("a", "c"), ("a", "d")]),
        ([("d", "c"), ("c", "b")], [("a", "b"), ("a", "c"), ("a", "d")]),
    ],
    ids=["rule 1", "rule 2", "rule 3", "rule 4"],
)
def test_each_rule_orients_a_to_b_and_nothing_else(directed, undirected):
    nodes = sorted({v for e in directed + undirected for v in e})
    closed = apply_meek_rules(PDAG(nodes, directed, undirected))
    assert set(closed.directed_edges) == {*directed, ("a", "b")}


@examples(80)
@given(dags())
def test_cpdag_is_that_of_the_enumerated_class(dag):
    arrows, lines = naive.cpdag(dag.nodes, dag.directed_edges)
    expected = PDAG(dag.nodes, arrows, [tuple(e) for e in lines])
    assert dag.to_cpdag() == expected
    assert apply_meek_rules(PDAG(dag.nodes, *naive.pattern(dag.directed_edges))) == expected
    again = expected.to_dag()
    assert again.is_consistent_extension
    assert set(again.directed_edges) in naive.equivalence_class(dag.nodes, dag.directed_edges)
    assert expected.to_cpdag() == expected


@examples(100)
@given(pdags(5), st.data())
def test_extension_is_consistent_exactly_when_one_exists(pdag, data):
    possible = naive.consistent_extensions(pdag.nodes, pdag.directed_edges, pdag.undirected_edges)
    dag = consistent_extension(pdag)
    assert dag.skeleton() == pdag.skeleton()
    assert dag.is_consistent_extension == bool(possible)
    if possible:
        assert set(dag.directed_edges) in possible
    kept = set(dag.directed_edges) & set(pdag.directed_edges)
    assert dag.arrowheads_lost == len(pdag.directed_edges) - len(kept)
    assert dag.arrowheads_lost == naive.fewest_turned(pdag.nodes, pdag.directed_edges)
    other = consistent_extension(shuffled(pdag, data))
    assert other == dag
    assert (other.is_consistent_extension, other.arrowheads_lost) == (
        dag.is_consistent_extension,
        dag.arrowheads_lost,
    )


def test_without_an_extension_few_v_structures_are_made():
    dag = SQUARE.to_dag()
    assert not dag.is_consistent_extension
    assert dag.arrowheads_lost == 0
    assert len(dag.v_structures()) == 1
    cycle = PDAG(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]).to_dag()
    assert not cycle.is_consistent_extension
    assert cycle.arrowheads_lost == 1


def test_a_dag_of_its_own_gives_way_to_knowledge_that_it_contradicts():
    chain = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    chain.dag = DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    chain.knowledge = Knowledge(roots=["a"])
    assert chain.to_dag() is chain.dag
    chain.knowledge = Knowledge(roots=["c"])
    assert chain.to_dag().directed_edges == [("b", "a"), ("c", "b")]
    chain.knowledge = Knowledge(required=[("a", "c")])
    with pytest.raises(
        GraphError, match="no DAG with these edges obeys the graph's knowledge: 'a' -> 'c' is"
    ):
        chain.to_dag()


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [("eb", "ef cf df af ce de bc bd ab ad"), ("cf", "ad bd de df ac ae af bc be ce")],
)
def test_a_new_arrow_wakes_the_edges_of_rule_4_that_it_is_no_last_arrow_of(directed, undirected):
    arrows, lines = ([tuple(edge) for edge in edges.split()] for edges in (directed, undirected))
    closed = apply_meek_rules(PDAG(list("abcdef"), arrows, lines))
    assert parts(closed) == naive.meek_closure(list("abcdef"), arrows, lines)


@examples(100)
@given(pdags(6), st.data())
def test_meek_is_sound_ends_and_does_not_see_the_node_order(pdag, data):
    closed = apply_meek_rules(pdag)
    assert closed.skeleton() == pdag.skeleton()
    assert set(pdag.directed_edges) <= set(closed.directed_edges)
    assert pdag.has_directed_cycle() or not closed.has_directed_cycle()
    assert apply_meek_rules(shuffled(pdag, data)) == closed
    assert apply_meek_rules(closed) == closed
    assert parts(closed) == naive.meek_closure(pdag.nodes, pdag.directed_edges, pdag.undirected_edges)


@examples(50)
@given(pdags(5, "<>-- "))
def test_meek_orients_exactly_what_all_extensions_share(pdag):
    possible = naive.consistent_extensions(pdag.nodes, pdag.directed_edges, pdag.undirected_edges)
    if possible:
        assert set(apply_meek_rules(pdag).directed_edges) == set.intersection(*possible)


def test_meek_leaves_an_edge_that_would_close_a_cycle():
    # Rule 1 asks for a -> b (from p) and for b -> a (from q); a -> b comes first by name.
    clash = PDAG(["a", "b", "p", "q"], [("p", "a"), ("q", "b")], [("a", "b")])
    assert ("a", "b") in apply_meek_rules(clash).directed_edges
    # b leads to a through c, d; p asks for a -> b, and nothing asks for b -> a.
    ring = PDAG(
        ["a", "b", "c", "d", "p"],
        [("b", "c"), ("c", "d"), ("d", "a"), ("p", "a"), ("p", "c"), ("p", "d")],
        [("a", "b")],
    )
    assert apply_meek_rules(ring).undirected_edges == [("a", "b")]


@examples(80)
@given(pdags(7, "<>"), st.randoms(use_true_random=False), st.integers(0, 5), st.integers(1, 3))
def testcycle_guard_refuses_exactly_what_closes_a_cycle(graph, random, start, steps):
    arrows = graph.directed_array.tolist()
    random.shuffle(arrows)
    guard = CycleGuard(graph.n_nodes, np.array(arrows[:start], dtype=np.int64).reshape(-1, 2), len(arrows))
    guard._steps = steps
    reach = nx.DiGraph(arrows[:start])
    reach.add_nodes_from(range(graph.n_nodes))
    for a, b in arrows[start:]:
        closes = nx.has_path(reach, b, a)
        assert guard.add(a, b) is not closes
        if not closes:
            reach.add_edge(a, b)


@examples(50)
@given(pdags(7, "<> "))
def test_feedback_orders(graph):
    n, arrows = graph.n_nodes, graph.directed_array
    assert (not find_cycle(arrows.tolist())) == nx.is_directed_acyclic_graph(graph.to_networkx())
    exact = extension.without_cycles(n, arrows)
    nodes = list(range(n))
    assert (exact != arrows).any(axis=1).sum() == naive.fewest_turned(
        nodes, [tuple(r) for r in arrows.tolist()]
    )
    order = extension._greedy_order(nodes, [tuple(r) for r in arrows.tolist()])
    assert sorted(order) == nodes


def test_up_to_eight_nodes_as_few_arrows_turn_as_can():
    """All cycles go through 1 -> 3 -> 0 -> 7; the greedy order turns two arrows round."""
    arrows = np.array(
        [(0, 7), (1, 3), (2, 1), (2, 5), (3, 0), (4, 1), (5, 1), (6, 2), (6, 4), (7, 1), (7, 6)]
    )
    assert (extension.without_cycles(8, arrows) != arrows).any(axis=1).sum() == 1


def test_large_components_are_decided_greedily():
    rng = np.random.default_rng(5)
    n = 60
    a, b = np.triu_indices(n, 1)
    chosen = rng.random(len(a)) < 0.2
    turned = rng.random(len(a)) < 0.1
    arrows = np.stack((np.where(turned, b, a), np.where(turned, a, b)), axis=1)[chosen]
    free = extension.without_cycles(n, arrows)
    assert len(first_topological_order(n, free)) == n
    lost = int((free != arrows).any(axis=1).sum())
    assert 0 < lost < 0.2 * len(arrows)
    graph = PDAG.from_arrays([f"v{i}" for i in range(n)], arrows)
    assert graph.to_dag() == graph.reorder(sorted(graph.nodes, reverse=True)).to_dag()


@examples(100)
@given(dags(7), st.data())
def test_d_separation_agrees_with_networkx(dag, data):
    sides = data.draw(
        st.lists(st.sampled_from("xyz "), min_size=dag.n_nodes, max_size=dag.n_nodes).map(
            lambda marks: [{v for v, m in zip(dag.nodes, marks, strict=True) if m == s} for s in "xyz"]
        )
    )
    assert dag.d_separated(*sides) == nx.is_d_separator(dag.to_networkx(), *sides)
    assert shuffled(dag, data).d_separated(*sides) == dag.d_separated(*sides)


def test_named_d_separations():
    assert not CHAIN.d_separated("a", "c")
    assert CHAIN.d_separated("a", "c", "b")
    assert FORK.d_separated("a", "c", ["b"])
    assert COLLIDER.d_separated("a", "c")
    assert not COLLIDER.d_separated("a", "c", "b")
    below = DAG(["a", "b", "c", "d"], [("a", "b"), ("c", "b"), ("b", "d")])
    assert not below.d_separated("a", "c", "d")
    assert DIAMOND.d_separated("b", "c", "a")
    assert not DIAMOND.d_separated("b", "c", ["a", "d"])
    with pytest.raises(GraphError, match="two sides"):
        CHAIN.d_separated("a", "b", "a")
    with pytest.raises(GraphError, match="unknown node"):
        CHAIN.d_separated("a", "z")


@examples(50)
@given(dags(7), st.data())
def test_dag_relations_agree_with_networkx(dag, data):
    other = dag.to_networkx()
    assert dag.topological_order() == list(nx.lexicographical_topological_sort(other))
    assert shuffled(dag, data).topological_order() == dag.topological_order()
    for name in dag.nodes:
        assert set(dag.ancestors(name)) == nx.ancestors(other, name)
        assert set(dag.descendants(name)) == nx.descendants(other, name)
        blanket = set(dag.markov_blanket(name))
        rest = set(dag.nodes) - blanket - {name}
        assert dag.d_separated(name, rest, blanket)


@examples(50)
@given(pdags(6), st.data())
def test_v_structures_and_equality_do_not_see_the_node_order(pdag, data):
    other = shuffled(pdag, data)
    assert other == pdag
    assert hash(other) == hash(pdag)
    found = {(frozenset((a, b)), c) for a, c, b in other.v_structures()}
    assert found == naive.v_structures(pdag.directed_edges, pdag.undirected_edges)
    assert other.to_cpdag() == pdag.to_cpdag()


@pytest.mark.parametrize("shape", ["star", "path", "ring", "random", "clash"])
def test_large_graphs_take_seconds(shape):
    n = 10_000
    nodes = [f"v{i}" for i in range(n)]
    line = np.stack((np.arange(n - 1), np.arange(1, n)), axis=1)
    arrows = np.empty((0, 2), dtype=np.int64)
    if shape == "star":
        lines = np.stack((np.full(n - 1, 0), np.arange(1, n)), axis=1)
    elif shape == "path":
        arrows, lines = line[:1], line[1:]
    elif shape == "ring":
        arrows, lines = line[:1], np.concatenate((line[1:], [[n - 1, 0]]))
    elif shape == "random":
        lines = np.unique(np.sort(np.random.default_rng(1).integers(0, n, (2 * n, 2)), axis=1), axis=0)
        lines = lines[lines[:, 0] != lines[:, 1]]
    else:
        arrows, lines = np.concatenate((line[:1], line[-1:, ::-1])), line[1:-1]
    graph = PDAG.from_arrays(nodes, arrows, lines)
    closed, dag = apply_meek_rules(graph), graph.to_dag()
    assert dag.is_consistent_extension == (shape in ("star", "path"))
    # Without an arrow no rule applies; round the ring the last edge would close a cycle.
    left = {"star": n - 1, "path": 0, "ring": 1, "random": len(lines), "clash": 0}
    assert len(closed.undirected_array) == left[shape]
    assert dag.to_cpdag().skeleton() == graph.skeleton()


@pytest.mark.parametrize("hub", ["a", "z"])
def test_meek_at_a_hub_looks_at_each_edge_a_few_times(hub, monkeypatch):
    # Every leaf has a parent of its own: rule 1 turns one edge of the hub after another.
    n = 2_000
    names = [hub, *(f"leaf{i:04d}" for i in range(n)), *(f"parent{i:04d}" for i in range(n))]
    leaves = 1 + np.arange(n)
    graph = PDAG.from_arrays(
        names, np.stack((n + leaves, leaves), axis=1), np.stack((0 * leaves, leaves), axis=1)
    )
    looked = []
    follows, orient = meek._Marks.follows, meek._Marks.orient

    def listening(self, x, y):
        affected = orient(self, x, y)
        looked.extend(affected)
        return affected

    monkeypatch.setattr(meek._Marks, "follows", lambda self, a, b: looked.append(a) or follows(self, a, b))
    monkeypatch.setattr(meek._Marks, "orient", listening)
    closed = apply_meek_rules(graph)
    # Of two names the first is tried as the tail: a hub that comes first gets one parent, and is one then.
    assert len(closed.parents(hub)) == (1 if hub == "a" else n)
    assert len(closed.undirected_array) == 0
    assert len(looked) < 5 * n
