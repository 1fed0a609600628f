"""Pictures: where things are put, and that drawing gives the file it should."""

from __future__ import annotations

from itertools import pairwise

import pytest

import f2sl
from f2sl.errors import FileError
from f2sl.graph._layers import _width, lay_out

GRAPH = f2sl.PDAG(
    ["a", "b", "c", "d", "alone"],
    [("a", "b"), ("b", "c"), ("a", "c")],
    [("c", "d")],
    weights={("a", "b"): 0.9, ("c", "d"): 0.1},
)


def test_arrows_point_down_and_nothing_overlaps():
    truth = f2sl.load_example_graph("alarm")
    layout = lay_out(truth, list(truth.nodes))
    for a, b in truth.directed_edges:
        assert layout.places[a][1] < layout.places[b][1]
    rows: dict[float, list[tuple[float, float]]] = {}
    for name, (x, y) in layout.places.items():
        rows.setdefault(y, []).append((x - _width(name) / 2, x + _width(name) / 2))
    for row in rows.values():
        row.sort()
        for (_, right), (left, _) in pairwise(row):
            assert right < left


def test_long_edges_bend_once_in_every_layer_between_and_clear_of_the_nodes():
    truth = f2sl.load_example_graph("alarm")
    layout = lay_out(truth, list(truth.nodes))
    assert layout.bends
    for a, b in truth.directed_edges:
        layers = [y for _, y in layout.bends.get((a, b), [])]
        assert layers == [float(y) for y in range(int(layout.places[a][1]) + 1, int(layout.places[b][1]))]
    for bends in layout.bends.values():
        for x, y in bends:
            for name, (centre, row) in layout.places.items():
                assert row != y or abs(x - centre) > _width(name) / 2


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
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
    assert "1 without edges not shown" in text
    f2sl.plot(GRAPH, path, isolated=True)
    assert ">alone</text>" in path.read_text()


def test_same_graph_same_bytes(tmp_path):
    for name in ("one.svg", "two.svg"):
        f2sl.plot(GRAPH, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_fitted_learner_will_do_and_an_empty_graph_too():
    model = f2sl.F2SLc().fit({"a": [0, 1] * 20, "b": [0, 1] * 20})
    assert f2sl.plot(model) is not None
    assert f2sl.plot(f2sl.PDAG(["a", "b"])) is not None


def test_unknown_kind_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"\.svg, \.png, \.pdf"):
        f2sl.plot(GRAPH, tmp_path / "picture.bmp")
    assert list(tmp_path.iterdir()) == []
