"""Comparisons of graphs: hand-counted, against the twin, and as properties."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_graph as naive
from f2sl import DAG, PDAG, GraphError, OptionError, compare, compare_pc
from graphs import pdags, shuffled
from marks import examples

NODES = list("abcdefgh")
TRUTH = PDAG(NODES, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")], [("e", "f"), ("f", "g")])
LEARNED = PDAG(NODES, [("a", "b"), ("c", "b"), ("f", "e"), ("g", "h")], [("c", "d"), ("f", "g")])


def test_the_paper_counts_every_kind_of_difference_once():
    result = compare(TRUTH, LEARNED, convention="paper")
    # a->b correct; b->c reversed; c->d lost its arrowhead; d->e missed; e-f got one; f-g correct; g->h extra.
    assert (result.correct, result.reverse, result.undirected, result.miss, result.extra) == (2, 1, 2, 1, 1)
    assert result.shd == 5
    assert (result.true_edges, result.learned_edges) == (6, 6)
    rates = result.arrowhead_precision, result.arrowhead_recall, result.arrowhead_f1
    assert rates == pytest.approx((1 / 6, 1 / 6, 1 / 6))
    rates = result.adjacency_precision, result.adjacency_recall, result.adjacency_f1
    assert rates == pytest.approx((5 / 6, 5 / 6, 5 / 6))
    assert list(result.as_dict())[:5] == ["shd", "reverse", "miss", "extra", "undirected"]
    assert "SHD 5 (reverse 1, miss 1, extra 1, undirected 2)" in str(result)


def test_classes_differ_where_data_can_tell():
    result = compare(TRUTH, LEARNED)
    # Nothing directs the truth, a path. Learned is one v-structure, a -> b <- c; the rest is open.
    # So d - e is missed, g - h is extra, and the v-structure directs two edges too many.
    assert (result.correct, result.reverse, result.undirected, result.miss, result.extra) == (3, 0, 2, 1, 1)
    assert result.shd == 4
    rates = result.adjacency_precision, result.adjacency_recall, result.adjacency_f1
    assert rates == pytest.approx((5 / 6, 5 / 6, 5 / 6))
    # Two arrowheads were learned, and the class of the truth has none.
    assert (result.arrowhead_precision, result.arrowhead_recall, result.arrowhead_f1) == (0, 0, 0)


def test_arrowheads_are_a_share_of_directed_edges():
    truth = DAG([*"abcd"], [("a", "c"), ("b", "c"), ("c", "d")])
    learned = PDAG([*"abcd"], [("a", "c"), ("b", "c")])
    result = compare(truth, learned)
    assert (result.arrowhead_precision, result.arrowhead_recall) == (1, pytest.approx(2 / 3))
    assert result.arrowhead_f1 == pytest.approx(0.8)
    assert (result.shd, result.miss) == (1, 1)


def test_equivalent_dags_do_not_differ_unless_they_are_compared_as_they_are():
    graphs = DAG(["a", "b"], [("a", "b")]), DAG(["b", "a"], [("b", "a")])
    result = compare(*graphs)
    assert (result.shd, result.correct, result.adjacency_f1, result.arrowhead_f1) == (0, 1, 1, 1)
    assert compare(*graphs, convention="paper").shd == 1


def test_a_graph_without_a_consistent_extension_is_compared_as_it_is():
    square = PDAG([*"abcd"], [("a", "b")], [("b", "c"), ("c", "d"), ("a", "d")])
    truth = DAG([*"abcd"], [("a", "b"), ("b", "c"), ("d", "c"), ("a", "d")])
    # The class of the truth has the v-structure b -> c <- d, and leaves a - b and a - d open.
    result = compare(truth, square)
    assert (result.shd, result.undirected, result.correct) == (3, 3, 1)


def test_what_is_shown_names_the_convention():
    names = [name for name, _, _ in compare(TRUTH, LEARNED).rows()]
    assert (names[0], names[10], "Ar_F1" in names) == ("SHD", "Arrowhead F1", False)
    assert [name for name, _, _ in compare(TRUTH, LEARNED, convention="paper").rows()][10] == "Ar_F1"
    with pytest.raises(OptionError, match=r"convention must be 'cpdag' or 'paper', not 'dag'"):
        compare(TRUTH, LEARNED, convention="dag")


def test_nothing_learned_gives_zeros():
    result = compare(DAG([*"abc"], [("a", "b"), ("c", "b")]), PDAG([*"abc"]))
    assert (result.arrowhead_precision, result.arrowhead_recall, result.arrowhead_f1) == (0, 0, 0)
    assert (result.adjacency_f1, result.shd, result.miss) == (0, 2, 2)


def test_different_nodes_are_refused():
    with pytest.raises(GraphError, match=r"the learned graph lacks 'c'$"):
        compare(PDAG(["a", "b", "c"]), PDAG(["a", "b"]))
    with pytest.raises(GraphError, match=r"the true graph lacks .* and 3 more"):
        compare(PDAG(["a"]), PDAG(list("abcdefghi")))


def naive_class(graph):
    """Arrows and lines of the CPDAG of a graph's consistent extensions; its own if it has none."""
    own = graph.directed_edges, graph.undirected_edges
    found = naive.consistent_extensions(graph.nodes, *own) if naive.is_acyclic(graph.nodes, own[0]) else []
    if not found:
        return own
    arrows, lines = naive.cpdag(graph.nodes, found[0])
    return arrows, [tuple(line) for line in lines]


@examples(80)
@given(st.data(), st.sampled_from(["cpdag", "paper"]))
def test_counts_agree_with_the_twin(data, convention):
    truth = data.draw(pdags(5))
    learned = data.draw(pdags(5).filter(lambda g: g.n_nodes == truth.n_nodes))
    result = compare(truth, learned, convention=convention)
    own = [(g.directed_edges, g.undirected_edges) for g in (truth, learned)]
    graphs = own if convention == "paper" else [naive_class(g) for g in (truth, learned)]
    slow = naive.counts(*graphs)
    for name in ("reverse", "miss", "extra", "undirected", "correct"):
        assert getattr(result, name) == slow[name]
    assert result.shd == sum(slow[name] for name in ("reverse", "miss", "extra", "undirected"))
    n_true, n_learned = (len(arrows) + (convention == "paper") * len(lines) for arrows, lines in graphs)
    if n_learned:
        assert result.arrowhead_precision == slow["arrowheads"] / n_learned
    if n_true:
        assert result.arrowhead_recall == slow["arrowheads"] / n_true
    if convention == "paper":
        assert (result.shd == 0) == (truth == learned)
    back = compare(learned, truth, convention=convention)
    assert (back.shd, back.miss, back.extra) == (result.shd, result.extra, result.miss)
    assert (back.arrowhead_precision, back.arrowhead_recall) == (
        result.arrowhead_recall,
        result.arrowhead_precision,
    )
    assert compare(shuffled(truth, data), shuffled(learned, data), convention=convention) == result


@examples(30)
@given(st.data())
def test_adjacencies_and_the_shd_of_dags_agree_with_pgmpy(data):
    from pgmpy import base, metrics

    truth = data.draw(pdags(6).filter(lambda g: g.n_edges)).to_dag()
    learned = data.draw(pdags(6).filter(lambda g: g.n_nodes == truth.n_nodes and g.n_edges)).to_dag()
    theirs = []
    for graph in (truth, learned):
        theirs.append(base.DAG(graph.directed_edges))
        theirs[-1].add_nodes_from(graph.nodes)
    found, as_they_are = compare(truth, learned), compare(truth, learned, convention="paper")
    rates = metrics.AdjacencyConfusionMatrix(["precision", "recall", "f1"]).evaluate(*theirs)
    expected = [pytest.approx(rates[name]) for name in ("precision", "recall", "f1")]
    assert [found.adjacency_precision, found.adjacency_recall, found.adjacency_f1] == expected
    assert as_they_are.shd == metrics.SHD().evaluate(*theirs)


@examples(40)
@given(pdags(5), pdags(5))
def test_a_learned_dag_and_its_cpdag_are_compared_alike(truth, learned):
    if truth.n_nodes == learned.n_nodes:
        dag = learned.to_dag()
        assert compare(truth, dag) == compare(truth, dag.to_cpdag())


def test_pc_sets():
    truth = DAG(list("abcd"), [("a", "b"), ("b", "c")])
    perfect = compare_pc(truth, {name: truth.neighbors(name) for name in truth.nodes})
    assert perfect.as_dict() == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    # a: right and one too many (1/2, 1, 2/3); b: one of two (1, 1/2, 2/3); c: nothing (0); d: wrong (0).
    result = compare_pc(truth, {"a": {"b", "c"}, "b": ["a"], "c": (), "d": ["a"]})
    assert result.precision == pytest.approx(1.5 / 4)
    assert result.recall == pytest.approx(1.5 / 4)
    assert result.f1 == pytest.approx((4 / 3) / 4)
    assert "precision 0.375" in str(result)


@pytest.mark.parametrize(
    ("pc", "message"),
    [
        ({"a": []}, "no PC set is given for 'b'"),
        ({"a": [], "b": [], "x": []}, "unknown node 'x'"),
        ({"a": ["x"], "b": []}, "PC set of 'a': unknown node 'x'"),
        ({"a": ["a"], "b": []}, "holds 'a' itself"),
    ],
)
def test_malformed_pc_sets_are_refused(pc, message):
    with pytest.raises(GraphError, match=message):
        compare_pc(DAG(["a", "b"], [("a", "b")]), pc)


class TestDistances:
    """Of Peters and Bühlmann 2015, figure 1: G, H1 with an edge more, H2 with the first edge turned round."""

    NODES = ("x1", "x2", "y1", "y2", "y3")
    CAUSES = tuple((x, y) for x in ("x1", "x2") for y in ("y1", "y2", "y3"))
    G = DAG(NODES, [("x1", "x2"), *CAUSES])
    H1 = DAG(NODES, [("x1", "x2"), *CAUSES, ("y1", "y2")])
    H2 = DAG(NODES, [("x2", "x1"), *CAUSES])

    def test_the_published_example(self):
        assert compare(self.G, self.H1, distances=True).distances == (0, 0, 0, 0)
        found = compare(self.G, self.H2, distances=True)
        assert found.distances == (8, 8, 8, 8)
        assert found.as_dict()["sid"] == 8
        assert str(found).endswith("wrong effects: SID 8, parent-AID 8, ancestor-AID 8, Oset-AID 8")

    def test_the_order_of_nodes_is_of_no_account(self):
        turned = self.H2.reorder(self.NODES[::-1])
        assert compare(self.G, turned, distances=True).distances == (8, 8, 8, 8)

    def test_the_direction_of_edges_matters(self):
        """If a -> b is true and b -> a learned, both effects are wrong; if nothing is learned, one is."""
        truth, reverse, none = DAG([*"ab"], [("a", "b")]), DAG([*"ab"], [("b", "a")]), DAG([*"ab"])
        assert compare(truth, reverse, distances=True).distances.sid == 2
        assert compare(truth, none, distances=True).distances.sid == 1
        assert compare(none, truth, distances=True).distances.sid == 0

    def test_an_undirected_edge(self):
        """It amounts to effects that cannot be identified, which are wrong; the SID is that of `to_dag()`."""
        truth, learned = DAG([*"ab"], [("b", "a")]), PDAG([*"ab"], undirected=[("a", "b")])
        assert compare(truth, learned, distances=True).distances == (2, 2, 2, 2)
        learned.dag = truth
        assert compare(truth, learned, distances=True).distances == (0, 2, 2, 2)
        found = compare(learned, learned, distances=True)
        assert found.distances == (None, 0, 0, 0)
        assert found.as_dict()["sid"] is None
        assert "SID" not in str(found).splitlines()[-1]

    def test_small_graphs(self):
        assert compare(DAG(["a"]), DAG(["a"]), distances=True).distances == (0, 0, 0, 0)

    def test_gadjid_is_named_where_it_is_not_installed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "gadjid", None)
        with pytest.raises(OptionError, match=r"needs gadjid: pip install 'f2sl\[metrics\]'"):
            compare(self.G, self.G, distances=True)

    def test_on_the_command_line(self, tmp_path, capsys):
        from f2sl.cli.app import main

        self.G.save(tmp_path / "g.json")
        self.H2.save(tmp_path / "h.json")
        files = [str(tmp_path / "h.json"), str(tmp_path / "g.json")]
        assert main(["compare", *files, "--distances"]) == 0
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert [row[1] for row in rows if row[0] in ("SID", "Oset-AID")] == ["8", "8"]
        assert main(["compare", *files]) == 0
        assert "SID" not in capsys.readouterr().out
