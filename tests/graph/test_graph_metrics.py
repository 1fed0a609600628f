"""Comparisons of graphs: hand-counted, against the twin, and as properties."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_graph as naive
from f2sl.errors import GraphError, OptionError
from f2sl.graph import DAG, PDAG, compare, compare_pc
from graphs import pdags, shuffled
from marks import examples


def test_every_kind_of_difference_is_counted_once():
    nodes = list("abcdefgh")
    truth = PDAG(nodes, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")], [("e", "f"), ("f", "g")])
    learned = PDAG(nodes, [("a", "b"), ("c", "b"), ("f", "e"), ("g", "h")], [("c", "d"), ("f", "g")])
    result = compare(truth, learned)
    # a->b correct; b->c reversed; c->d lost its arrowhead; d->e missed; e-f got one; f-g correct; g->h extra.
    assert (result.correct, result.reverse, result.undirected, result.miss, result.extra) == (2, 1, 2, 1, 1)
    assert result.shd == 5
    assert (result.true_edges, result.learned_edges) == (6, 6)
    assert result.precision == result.recall == result.f1 == pytest.approx(1 / 6)
    assert result.skeleton_precision == result.skeleton_recall == result.skeleton_f1 == pytest.approx(5 / 6)
    assert list(result.as_dict())[:5] == ["shd", "reverse", "miss", "extra", "undirected"]
    assert "SHD 5 (reverse 1, miss 1, extra 1, undirected 2)" in str(result)


def test_equivalent_dags_differ_in_shd_but_not_in_that_of_the_cpdags():
    result = compare(DAG(["a", "b"], [("a", "b")]), DAG(["b", "a"], [("b", "a")]))
    assert (result.shd, result.shd_cpdag) == (1, 0)


def test_nothing_learned_gives_zeros():
    result = compare(DAG(["a", "b"], [("a", "b")]), PDAG(["a", "b"]))
    assert (result.precision, result.recall, result.f1, result.skeleton_f1) == (0, 0, 0, 0)
    assert (result.shd, result.miss) == (1, 1)


def test_different_nodes_are_refused():
    with pytest.raises(GraphError, match=r"the learned graph lacks 'c'$"):
        compare(PDAG(["a", "b", "c"]), PDAG(["a", "b"]))
    with pytest.raises(GraphError, match=r"the true graph lacks .* and 3 more"):
        compare(PDAG(["a"]), PDAG(list("abcdefghi")))


@examples(80)
@given(st.data())
def test_counts_agree_with_the_twin(data):
    truth = data.draw(pdags(6))
    learned = data.draw(pdags(6).filter(lambda g: g.n_nodes == truth.n_nodes))
    result = compare(truth, learned)
    slow = naive.counts(*((g.directed_edges, g.undirected_edges) for g in (truth, learned)))
    for name in ("reverse", "miss", "extra", "undirected", "correct"):
        assert getattr(result, name) == slow[name]
    if learned.n_edges:
        assert result.precision == slow["arrowheads"] / learned.n_edges
    if truth.n_edges:
        assert result.recall == slow["arrowheads"] / truth.n_edges
    assert (result.shd == 0) == (truth == learned)
    back = compare(learned, truth)
    assert (back.shd, back.shd_cpdag) == (result.shd, result.shd_cpdag)
    assert (back.miss, back.extra) == (result.extra, result.miss)
    assert (back.precision, back.recall) == (result.recall, result.precision)
    assert compare(shuffled(truth, data), shuffled(learned, data)) == result


def test_pc_sets():
    truth = DAG(list("abcd"), [("a", "b"), ("b", "c")])
    perfect = compare_pc(truth, {name: truth.adjacent(name) for name in truth.nodes})
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

    def test_a_cpdag_has_no_sid(self):
        """An undirected edge amounts to effects that cannot be identified, which are wrong."""
        truth, learned = DAG([*"ab"], [("a", "b")]), PDAG([*"ab"], undirected=[("a", "b")])
        found = compare(truth, learned, distances=True)
        assert found.distances == (None, 2, 2, 2)
        assert found.as_dict()["sid"] is None
        assert "SID" not in str(found).splitlines()[-1]
        assert compare(learned, learned, distances=True).distances == (None, 0, 0, 0)

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
