"""Pictures: where things are put, and that drawing gives the file it should."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest

import f2sl
from f2sl import FileError, GraphError, OptionError, random_network
from f2sl.view.drawing import Edge, drawing, edges_of, label
from f2sl.view.layers import GAP, HEIGHT, lay_out
from f2sl.view.plot import _families
from marks import posix_only

GRAPH = f2sl.PDAG(
    ["a", "b", "c", "d", "alone"],
    [("a", "b"), ("b", "c"), ("a", "c")],
    [("c", "d")],
    weights={("a", "b"): 0.9, ("c", "d"): 0.1},
)


@pytest.fixture(params=["exactly", "by sweeps"])
def placed(request, monkeypatch):
    if request.param == "by sweeps":
        monkeypatch.setattr("f2sl.view.layers.MOST_EXACT", 0)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("network", ["alarm", "andes"])
def test_arrows_point_down_and_nothing_overlaps(network):
    graph = f2sl.load_network(network).graph
    drawn = drawing(graph)
    positions = drawn.layout.positions
    assert set(positions) == set(graph.nodes)
    for a, b in graph.directed_edges:
        assert positions[a][1] < positions[b][1]
    rows: dict[float, list[tuple[float, float]]] = {}
    for name, (x, y) in positions.items():
        rows.setdefault(y, []).append((x - drawn.widths[name] / 2, x + drawn.widths[name] / 2))
    for row in rows.values():
        row.sort()
        assert row[0][0] >= 0
        assert row[-1][1] <= drawn.layout.width + 1e-6
        for (_, right), (left, _) in pairwise(row):
            assert left - right > GAP - 1e-6
    layers = sorted(rows)
    assert all(below - above > HEIGHT for above, below in pairwise(layers))


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("network", ["alarm", "andes"])
def test_long_edges_bend_once_in_every_layer_between_and_clear_of_the_nodes(network):
    drawn = drawing(f2sl.load_network(network).graph)
    layout, rows = drawn.layout, {}
    for name, (x, y) in layout.positions.items():
        rows.setdefault(y, []).append((x, drawn.widths[name] / 2))
    layers = sorted(
        {y for _, y in layout.positions.values()} | {y for way in layout.bends.values() for _, y in way}
    )
    assert layout.bends
    for edge in drawn.edges:
        top, bottom = layout.positions[edge.a][1], layout.positions[edge.b][1]
        assert [y for _, y in drawn.way(edge)] == [y for y in layers if top < y < bottom]
        for x, y in drawn.way(edge):
            assert all(abs(x - centre) > half for centre, half in rows.get(y, []))


def test_a_long_edge_runs_straight_where_there_is_room():
    chain = [(f"v{i}", f"v{i + 1}") for i in range(6)]
    layout = lay_out(dict.fromkeys([f"v{i}" for i in range(7)], 60.0), [*chain, ("v0", "v6")])
    assert len({x for x, _ in layout.bends["v0", "v6"]}) == 1
    assert len(layout.bends["v0", "v6"]) == 5


def off_the_vertical(layout, edges):
    """Add up how far the pieces of edges are off the vertical: twice for one bend, eight times for two."""
    total = 0.0
    for a, b in edges:
        way = [layout.positions[a], *layout.bends.get((a, b), []), layout.positions[b]]
        for i, ((x, _), (other, _)) in enumerate(pairwise(way)):
            bends = (i > 0) + (i < len(way) - 2)
            total += (1, 2, 8)[bends] * abs(x - other)
    return total


@pytest.mark.parametrize("random_state", range(5))
def test_edges_are_straighter_than_by_sweeps(random_state, monkeypatch):
    graph = random_network(
        variables=40, edges=60, max_parents=3, states=(2, 2), random_state=random_state
    ).graph
    widths = dict.fromkeys(graph.nodes, 50.0)
    exact = off_the_vertical(lay_out(widths, graph.directed_edges), graph.directed_edges)
    monkeypatch.setattr("f2sl.view.layers.MOST_EXACT", 0)
    swept = off_the_vertical(lay_out(widths, graph.directed_edges), graph.directed_edges)
    assert exact < swept


def test_the_straightest_places_by_hand():
    """Three children below one parent need two widths and gaps: the middle one is right below."""
    layout = lay_out(dict.fromkeys("pabc", 50.0), [("p", child) for child in "abc"])
    positions = sorted(layout.positions[child][0] - layout.positions["p"][0] for child in "abc")
    assert positions == [-50 - GAP, 0, 50 + GAP]


def test_wide_layers_are_split():
    children = [f"c{i:03d}" for i in range(200)]
    layout = lay_out(dict.fromkeys(["root", *children], 80.0), [("root", child) for child in children])
    assert layout.width < 80 * 100
    assert len({y for _, y in layout.positions.values()}) > 3
    assert all(layout.positions[child][1] > layout.positions["root"][1] for child in children)


PLAIN = """graph 1 4 3
node 0 1 0.5 1 0.4 a solid box black lightgrey
node 2 3 2.5 1 0.4 c solid box black lightgrey
node 1 2 1.5 1 0.4 b solid box black lightgrey
edge 0 1 4 1 0.7 1.2 0.9 1.8 1.1 2 1.3 solid black
edge 1 2 4 2 1.7 2.2 1.9 2.8 2.1 3 2.3 solid black
edge 0 2 7 1.1 0.7 3 0.8 3 1 3 1.5 3 1.6 3 1.7 3 2.3 solid black
stop
"""


def stand_in(folder, body):
    """Write a program that takes the place of Graphviz's."""
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return str(program)


@posix_only
def test_places_and_curves_are_those_of_dot(tmp_path):
    arcs = [("a", "b"), ("b", "c"), ("a", "c")]
    (tmp_path / "answer").write_text(PLAIN)
    dot = stand_in(tmp_path, f"cat > {tmp_path}/asked; cat {tmp_path}/answer")
    layout = lay_out(dict.fromkeys("abc", 72.0), arcs, dot)
    assert layout.positions == {"a": (72.0, 0.0), "b": (144.0, 78.0), "c": (216.0, 156.0)}
    assert (layout.width, layout.bends) == (4 * 72.0, {})
    expected = [(72, 0.7 * 72 - 15), (86.4, 0.9 * 72 - 15), (129.6, 1.1 * 72 - 15), (144, 1.3 * 72 - 15)]
    np.testing.assert_allclose(layout.curves["a", "b"], expected)
    asked = (tmp_path / "asked").read_text()
    assert "{rank=same; 1 [width=1.0000];}" in asked
    assert "0 -> 2;" in asked
    drawn = drawing(f2sl.PDAG([*"abc"], arcs[:2], arcs[2:]), dot=dot)
    assert drawn.curve(Edge("c", "b", True)) == layout.curves["b", "c"][::-1]


@posix_only
@pytest.mark.parametrize("body", ["exit 1", "echo nonsense", "echo node x", "exec sleep 60"])
def test_without_an_answer_of_dot_the_places_are_ours(tmp_path, monkeypatch, body):
    monkeypatch.setattr("f2sl.view.layers.SECONDS", 0.2)
    arcs = [("a", "b"), ("b", "c"), ("a", "c")]
    widths = dict.fromkeys("abc", 72.0)
    assert lay_out(widths, arcs, stand_in(tmp_path, body)) == lay_out(widths, arcs)
    assert lay_out(widths, arcs, str(tmp_path / "gone")) == lay_out(widths, arcs)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_dot_lays_out_a_network():
    graph = f2sl.load_network("alarm").graph
    drawn = drawing(graph, dot=shutil.which("dot"))
    assert len(drawn.layout.curves) == graph.n_edges
    for edge in drawn.edges:
        for name, (x, y) in zip((edge.a, edge.b), (drawn.curve(edge)[0], drawn.curve(edge)[-1]), strict=True):
            centre = drawn.layout.positions[name]
            assert abs(x - centre[0]) <= drawn.widths[name] / 2 + 1
            assert abs(y - centre[1]) <= HEIGHT / 2 + 1
    assert len(re.findall(r'd="M[^"]*C', f2sl.plot(graph).svg())) == graph.n_edges


def test_the_order_of_nodes_and_edges_changes_nothing():
    graph = f2sl.load_network("alarm").graph
    turned = graph.reorder(graph.nodes[::-1])
    assert drawing(turned).layout.positions == drawing(graph).layout.positions


def test_parts_and_lone_nodes_are_apart():
    widths = dict.fromkeys([*"abcdef"], 50.0)
    layout = lay_out(widths, [("a", "b"), ("c", "d")])
    assert len(set(layout.positions.values())) == 6
    assert layout.positions["e"][1] == layout.positions["f"][1] > layout.positions["b"][1]


def test_status_of_edges():
    nodes = [*"abcdef"]
    # True are the v-structures a -> b <- c and c -> d <- e; nothing directs a - f.
    truth = f2sl.PDAG(nodes, [("a", "b"), ("c", "b"), ("c", "d"), ("e", "d"), ("f", "a")])
    # Learned is the first alone, which does not direct c - d, although a DAG draws an arrow.
    learned = f2sl.DAG(nodes, [("a", "b"), ("c", "b"), ("d", "c"), ("e", "f")])
    found = {(edge.a, edge.b): edge.status for edge in edges_of(learned, truth)}
    assert found == {
        ("a", "b"): "agreed",
        ("c", "b"): "agreed",
        ("d", "c"): "half",
        ("e", "f"): "extra",
        ("a", "f"): "missing",
        ("e", "d"): "missing",
    }
    into_b, into_a = (
        f2sl.DAG([*"abcd"], edges) for edges in (truth.directed_edges[:2], [("b", "a"), ("d", "a")])
    )
    found = {(edge.a, edge.b): edge.status for edge in edges_of(into_a, into_b)}
    assert found == {("b", "a"): "reversed", ("d", "a"): "extra", ("c", "b"): "missing"}
    with pytest.raises(GraphError, match="'x'"):
        edges_of(learned, f2sl.PDAG([*nodes, "x"]))


def test_labels_are_short_and_on_one_line():
    assert label("a\nb") == "a b"
    assert label("x" * 27) == "x" * 25 + "…"
    assert label("字" * 14) == "字" * 12 + "…"


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<svg "), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_kinds_of_picture(tmp_path, suffix, start):
    path = tmp_path / f"picture{suffix}"
    f2sl.plot(GRAPH, path)
    assert path.read_bytes().startswith(start)


def test_what_is_drawn(tmp_path):
    path = tmp_path / "picture.svg"
    f2sl.plot(GRAPH, path)
    text = path.read_text()
    for name in ("a", "b", "c", "d"):
        assert f">{name}</text>" in text
    assert ">alone</text>" not in text
    assert "1 variable not shown" in text
    words = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    assert words[-3:] == ["directed", "undirected", "1 variable not shown"]
    f2sl.plot(GRAPH, path, isolated=True)
    assert ">alone</text>" in path.read_text()


def test_same_graph_same_bytes(tmp_path):
    for name in ("one.svg", "two.svg"):
        f2sl.plot(GRAPH, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def texts_of(picture):
    tree = ElementTree.fromstring(picture.svg())
    return [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_entries_of_the_legend_do_not_touch():
    tree = ElementTree.fromstring(f2sl.plot(GRAPH).svg())
    texts = [one for one in tree.iter("{http://www.w3.org/2000/svg}text") if one.get("font-size") == "12"]
    for one, other in pairwise(texts):
        assert float(other.get("x")) - float(one.get("x")) > 8.0 * len(one.text)


def test_around_a_variable():
    alarm = f2sl.load_network("alarm")
    near = {"HR", *alarm.graph.neighbors("HR")}
    picture = f2sl.plot(alarm, around="HR")
    assert set(picture.drawing.nodes) == near
    assert f"{37 - len(near)} variables not shown" in texts_of(picture)
    wider = {name for other in near for name in [other, *alarm.graph.neighbors(other)]}
    assert set(f2sl.plot(alarm, around="HR", depth=2).drawing.nodes) == wider
    assert f2sl.plot(alarm, around=["HR", "PAP"], depth=0).drawing.nodes == ["PAP", "HR"]
    with pytest.raises(OptionError, match="did you mean 'HR'"):
        f2sl.plot(alarm, around="HRR")
    with pytest.raises(OptionError, match="depth"):
        f2sl.plot(alarm, around="HR", depth=-1)


def test_highlights():
    plain = f2sl.plot(GRAPH).svg()
    changed = f2sl.plot(GRAPH, highlight=["a", ("c", "b")]).svg()
    new = [line for line in changed.splitlines() if line not in plain.splitlines()]
    assert [line.split("<title>")[1][0] for line in new if "<title>" in line] == ["a"]
    assert sum(line.startswith("<path") for line in new) == 1
    with pytest.raises(OptionError, match="'x'"):
        f2sl.plot(GRAPH, highlight=[("a", "x")])


def test_compared_with_a_truth():
    truth = f2sl.PDAG(GRAPH.nodes, [("b", "a"), ("b", "c"), ("d", "alone")], [("c", "d")])
    words = texts_of(f2sl.plot(GRAPH, truth=truth))
    assert "alone" in words  # the truth has an edge there
    assert words[-3:] == ["agreed", "missing", "extra"]
    learned = f2sl.DAG([*"abcd"], [("b", "a"), ("d", "a")])
    truth = f2sl.DAG([*"abcd"], [("a", "b"), ("c", "b")])
    assert texts_of(f2sl.plot(learned, truth=truth))[-3:] == ["reversed", "missing", "extra"]


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_names_in_any_script(tmp_path, suffix):
    names = ["年齢", "عمر", "A & B <b>", "🙂", "$x_1$", "two\nlines", "\x00", "\ud800"]
    graph = f2sl.PDAG(names, [(names[0], name) for name in names[1:]])
    f2sl.plot(graph, tmp_path / f"picture{suffix}")
    assert texts_of(f2sl.plot(graph))[:6] == ["年齢", "عمر", "A & B <b>", "🙂", "$x_1$", "two lines"]


def test_letters_come_from_fonts_that_have_them():
    # Matplotlib's usual font lacks the circled letter, one of those that come with it has it.
    assert [name for name in _families(["\u24b6"]) if name.startswith("Last Resort")] == []
    assert len(_families(["\u24b6"])) == 2
    assert _families(["plain"]) == ["DejaVu Sans"]


def test_only_svg_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    f2sl.plot(GRAPH, tmp_path / "picture.svg")
    with pytest.raises(f2sl.F2SLError, match="Matplotlib"):
        f2sl.plot(GRAPH, tmp_path / "picture.png")


def test_a_fitted_learner_will_do_and_an_empty_graph_too():
    model = f2sl.F2SLc().fit({"a": [0, 1] * 20, "b": [0, 1] * 20})
    assert f2sl.plot(model) is not None
    assert f2sl.plot(f2sl.PDAG(["a", "b"])) is not None


def test_unknown_kind_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"\.svg, \.png, \.pdf"):
        f2sl.plot(GRAPH, tmp_path / "picture.bmp")
    assert list(tmp_path.iterdir()) == []
