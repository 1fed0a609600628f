"""What notebooks show, and graphs and learners as Python users expect them."""

from __future__ import annotations

import pickle
import sys

import pytest
from sklearn.exceptions import NotFittedError as TheirError

import f2sl
from f2sl.errors import NotFittedError
from f2sl.view.page import page_data

GRAPH = f2sl.PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")], weights={("a", "b"): 0.5})


@pytest.fixture(scope="module")
def model():
    return f2sl.F2SLc().fit(f2sl.load_example("asia"))


def shown(model):
    asia = f2sl.load_network("asia")
    return [model, model.graph_, asia, f2sl.compare(asia.graph, model.graph_)]


def test_pictures_without_scripts(model):
    for what in shown(model):
        html = what._repr_html_()
        assert "<svg " in html
        assert "either" in html
        assert "<script" not in html
        assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_a_large_graph_has_figures_and_no_picture():
    html = f2sl.load_network("andes")._repr_html_()
    assert "<svg" not in html
    assert "223" in html
    assert "page.html" in html


def test_names_are_escaped():
    html = f2sl.PDAG(["<b>", "&"], [("<b>", "&")])._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b></text>" not in html


def test_a_comparison_still_is_its_figures(model):
    truth = f2sl.load_network("asia").graph
    one, other = (f2sl.compare(truth, graph) for graph in (model.graph_, model.graph_.reorder(truth.nodes)))
    assert one == other
    assert pickle.loads(pickle.dumps(one)) == one
    assert "graphs" not in one.as_dict()
    assert "graphs" not in repr(one)


def test_repr_and_summary_of_a_model(model):
    assert repr(f2sl.F2SLc(delta=0.1)) == "F2SLc(delta=0.1)"
    arrows, lines = len(model.graph_.directed_edges), len(model.graph_.undirected_edges)
    assert repr(model) == f"F2SLc(), fitted: 8 variables, {arrows} directed and {lines} undirected edges"
    text = str(model.summary())
    (a, b), strongest = max(model.graph_.weights.items(), key=lambda item: item[1])
    assert f"{a} -> {b}  {strongest:.4f} SU" in text
    assert "5,000" in text
    assert "<table" in model.summary()._repr_html_()


def test_what_the_data_do_not_decide_is_shown_undirected():
    # b is a noisy copy of a, and d of c: no v-structure, so that both edges may point either way.
    rows = {"a": [0, 1] * 200, "c": [0, 0, 1, 1] * 100}
    rows |= {new: [v ^ (i % 11 == 0) for i, v in enumerate(rows[old])] for old, new in ("ab", "cd")}
    model = f2sl.F2SLs().fit(rows)
    assert model.dag_.directed_edges == [("a", "b"), ("c", "d")]
    assert model.graph_ == f2sl.PDAG([*"acbd"], undirected=[("a", "b"), ("c", "d")])
    assert repr(model).endswith("0 directed and 2 undirected edges")
    text = str(model.summary())
    assert "the data decide 0 directions, 2 may point either way" in text
    assert "a - b" in text and "->" not in text
    assert "<polygon" not in model._repr_html_() + f2sl.plot(model).svg()
    assert "<polygon" in f2sl.plot(model.dag_).svg()
    content = page_data(model)
    assert [edge["d"] for edge in content["edges"]] == [0, 0]
    assert str(model.explain("a", "b")).startswith("a - b\n")
    known = f2sl.F2SLs(knowledge=f2sl.Knowledge(required=[("b", "a")])).fit(rows)
    assert "the data and the knowledge decide 1 direction, 1 may point" in str(known.summary())
    assert str(known.explain("a", "b")).startswith("b -> a\n")


def test_a_column_merged_with_another_may_point_either_way():
    # c depends on a and b; e says the same as c in other words, which no data can direct.
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)] * 100
    rows = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}
    rows["c"] = [a + b if i % 7 else 0 for i, (a, b) in enumerate(pairs)]
    rows["e"] = [str(c) for c in rows["c"]]
    model = f2sl.learn(rows, aliases="merge")
    assert model.graph_ == f2sl.PDAG([*"abce"], [("a", "c"), ("b", "c")], [("c", "e")])


def test_before_fit(monkeypatch):
    model = f2sl.F2SLc()
    for ask in (lambda: model.graph_, lambda: model.dag_, lambda: model.separating_sets_, model.summary):
        with pytest.raises(TheirError, match="call its fit") as caught:
            ask()
        assert isinstance(caught.value, NotFittedError)
    assert not hasattr(model, "graph_")
    assert model._repr_html_() is None
    with pytest.raises(AttributeError, match="no attribute 'grap'") as caught:
        _ = model.grap
    assert not isinstance(caught.value, NotFittedError)
    monkeypatch.delitem(sys.modules, "sklearn.exceptions")
    with pytest.raises(f2sl.F2SLError) as caught:
        _ = model.graph_
    assert not isinstance(caught.value, TheirError)


def test_after_fit_a_missing_attribute_is_just_that(model):
    with pytest.raises(AttributeError) as caught:
        _ = model.score_
    assert not isinstance(caught.value, NotFittedError)
    assert pickle.loads(pickle.dumps(model)).graph_ == model.graph_


def test_a_graph_as_a_collection():
    assert len(GRAPH) == 3
    assert list(GRAPH) == ["a", "b", "c"]
    assert "a" in GRAPH
    assert "x" not in GRAPH
    assert ["a"] not in GRAPH
    assert GRAPH.edges == [("a", "b", "directed", 0.5), ("b", "c", "undirected", None)]


def test_directions_that_are_in_doubt_show_in_the_frame_and_the_repr():
    graph = f2sl.PDAG(["a", "b", "c", "d"], directed=[("a", "b"), ("c", "b")], undirected=[("c", "d")])
    graph.weak = frozenset({("c", "b")})
    assert graph.to_frame()["weak"].tolist() == [False, True, False]
    assert repr(graph) == "PDAG(4 nodes, 2 directed (1 weakly decided) and 1 undirected edges)"
    dag = graph.to_dag()
    assert dag.to_frame().query("either_way")[["source", "target"]].to_numpy().tolist() == [["c", "d"]]
    assert repr(dag) == "DAG(4 nodes, 3 directed (1 weakly decided, 1 either way) and 0 undirected edges)"


def test_edges_as_a_frame(monkeypatch):
    frame = GRAPH.to_frame()
    columns = ["source", "target", "type", "weight", "weak", "either_way"]
    assert frame.columns.tolist() == columns
    assert frame["source"].tolist() == ["a", "b"]
    assert frame["weight"].isna().tolist() == [False, True]
    assert f2sl.PDAG(["a"]).to_frame().shape == (0, 6)
    monkeypatch.setitem(sys.modules, "pandas", None)
    arrow = GRAPH.to_frame()
    assert arrow.column_names == columns
    assert arrow["weight"].to_pylist() == [0.5, None]
