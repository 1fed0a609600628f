"""Drawings: nodes with labels, edges with their properties, and their places.

With a graph to compare with, each edge has a *status*, which is about the equivalence classes of the two
graphs, as in :func:`f2sl.compare`:

============ =========================================================
``agreed``   in both graphs, the same way
``reversed`` directed in both, opposite ways
``half``     in both, but directed in one of them only
``missing``  only in the graph that is compared with
``extra``    only in the graph itself
============ =========================================================
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from f2sl._options import whole
from f2sl.errors import GraphError, OptionError, unknown_name
from f2sl.graph import PDAG
from f2sl.graph.metrics import class_of
from f2sl.view.layers import Layout, Point, lay_out


class Style(NamedTuple):
    """Style of the edges of one kind: their name in legends, colours on light and dark, and dashes."""

    name: str
    colour: str
    dark: str
    dashes: tuple[float, ...] = ()
    meaning: str = ""


STYLES = {
    "directed": Style("directed", "#3c7391", "#7db4cf"),
    "weak": Style("weakly decided", "#3c7391", "#7db4cf", (6, 4)),
    "undirected": Style("undirected", "#a3762b", "#d7a750"),
}
"""Styles of edges by kind, the same in pictures and on the page; colour-blind readers can tell them apart."""
STATUSES = {
    "agreed": Style("agreed", "#6b7c89", "#8b9aa6", (), "in both graphs, the same way"),
    "reversed": Style("reversed", "#0072b2", "#56b4e9", (14, 4, 3, 4), "decided in both, opposite ways"),
    "half": Style("directed in one", "#008f68", "#35c79b", (5, 2), "decided in one of the two graphs only"),
    "missing": Style("missing", "#d55e00", "#f0803c", (9, 5), "in the other graph only"),
    "extra": Style("extra", "#a64d86", "#d98bbd", (2, 4), "in this graph only"),
}
"""Styles of edges by their status."""
LONGEST_LABEL = 26
"""Largest number of characters of a name in a picture; wide ones (Chinese, Japanese, Korean) count double."""


@dataclass(frozen=True)
class Edge:
    """Drawn edge, with its strength and status, if any; `weak` if its direction is only weakly decided."""

    a: str
    b: str
    directed: bool
    strength: float | None = None
    status: str = ""
    weak: bool = False

    @property
    def style(self) -> Style:
        """Style of the edge: that of its status, or of its kind."""
        if self.status:
            return STATUSES[self.status]
        return STYLES["weak" if self.weak else "directed" if self.directed else "undirected"]


@dataclass(frozen=True)
class Drawing:
    """Nodes, edges, and their places; `widths` are those of the nodes' boxes."""

    nodes: list[str]
    edges: list[Edge]
    layout: Layout
    widths: dict[str, float]

    def way(self, edge: Edge) -> list[Point]:
        """Return the bends of an edge, from its first end to its second."""
        return _along(self.layout.bends, edge)

    def curve(self, edge: Edge) -> list[Point]:
        """Return the points of an edge's cubic curves, from its first end to its second, if it has any."""
        return _along(self.layout.curves, edge)


def _along(found: Mapping[tuple[str, str], list[Point]], edge: Edge) -> list[Point]:
    return found[edge.a, edge.b] if (edge.a, edge.b) in found else found.get((edge.b, edge.a), [])[::-1]


def graph_of(what: Any) -> PDAG:
    """Return the graph to show of a graph, a network or a fitted learner."""
    for name in ("graph_", "graph"):
        what = getattr(what, name, what)
    if not isinstance(what, PDAG):
        raise OptionError(f"a graph, a fitted learner or a network can be shown, not {type(what).__name__}")
    return what


def drawing(
    graph: PDAG, truth: PDAG | None = None, keep: Iterable[str] | None = None, dot: str | None = None
) -> Drawing:
    """Lay out a graph, or only its nodes in `keep`; with the path of Graphviz's `dot`, use it.

    Examples
    --------
    >>> learned = PDAG(["a", "b", "c"], [("b", "a")], [("b", "c")])
    >>> truth = PDAG(["a", "b", "c"], [("a", "b"), ("a", "c")])
    >>> [(edge.a, edge.b, edge.status) for edge in drawing(learned, truth).edges]
    [('b', 'a', 'agreed'), ('b', 'c', 'extra'), ('a', 'c', 'missing')]
    """
    wanted = set(graph.nodes if keep is None else keep)
    nodes = [name for name in graph.nodes if name in wanted]
    edges = [edge for edge in edges_of(graph, truth) if edge.a in wanted and edge.b in wanted]
    # The order of a DAG says which end is above, also of the edges that the truth alone has.
    position = {name: i for i, name in enumerate(graph.to_dag().topological_order())}
    ends = [(e.a, e.b) if position[e.a] < position[e.b] else (e.b, e.a) for e in edges]
    widths = {name: 22.0 + width_of_text(label(name)) for name in nodes}
    return Drawing(nodes, edges, lay_out(widths, ends, dot), widths)


def edges_of(graph: PDAG, truth: PDAG | None = None) -> list[Edge]:
    """List the edges of a graph, and those of the truth that it lacks."""
    weights = graph.weights or {}
    listed = [(a, b, True) for a, b in graph.directed_edges] + [
        (a, b, False) for a, b in graph.undirected_edges
    ]
    if truth is None:
        weak = graph.weak
        return [Edge(a, b, d, weights.get((a, b)), weak=(a, b) in weak) for a, b, d in listed]
    if set(truth.nodes) != set(graph.nodes):
        differing = ", ".join(map(repr, sorted(set(truth.nodes) ^ set(graph.nodes))[:5]))
        raise GraphError(f"the graphs have different nodes: only one of them has {differing}")
    known, own = _directions(class_of(truth)), _directions(class_of(graph))

    def status(pair: frozenset[str]) -> str:
        if pair not in known:
            return "extra"
        if known[pair] == own[pair]:
            return "agreed"
        return "reversed" if known[pair] and own[pair] else "half"

    found = [Edge(a, b, d, weights.get((a, b)), status(frozenset((a, b)))) for a, b, d in listed]
    missing = [(way or tuple(sorted(pair)), way) for pair, way in known.items() if pair not in own]
    return found + [Edge(a, b, bool(way), None, "missing") for (a, b), way in sorted(missing)]


def _directions(graph: PDAG) -> dict[frozenset[str], tuple[str, ...]]:
    """Return the tail and head of each directed edge by its ends, and nothing of the others."""
    arrows = {frozenset(edge): edge for edge in graph.directed_edges}
    return {**arrows, **{frozenset(edge): () for edge in graph.undirected_edges}}


def around(graph: PDAG, centre: str | Iterable[str], depth: int) -> set[str]:
    """Return the nodes within `depth` edges of one node, or of several.

    Examples
    --------
    >>> sorted(around(PDAG([*"abcd"], [("a", "b"), ("b", "c")], [("c", "d")]), "a", 2))
    ['a', 'b', 'c']
    """
    depth = whole("depth", depth)
    members = {centre} if isinstance(centre, str) else set(centre)
    problems = [
        unknown_name("node", name, graph.nodes)
        for name in sorted(members, key=str)
        if name not in graph.nodes
    ]
    if problems:
        raise OptionError("; ".join(problems))
    edge_of = members
    for _ in range(depth):
        edge_of = {other for name in edge_of for other in graph.neighbors(name)} - members
        members = members | edge_of
    return members


def label(name: str) -> str:
    r"""Shorten a name to what fits a box, on one line.

    Examples
    --------
    >>> label("HR"), label("two\nlines"), len(label("x" * 100))
    ('HR', 'two lines', 26)
    """
    plain = "".join(character if character.isprintable() else " " for character in name)
    if sum(map(_cells, plain)) <= LONGEST_LABEL:
        return plain
    kept, capacity = "", LONGEST_LABEL - 1
    for character in plain:
        capacity -= _cells(character)
        if capacity < 0:
            break
        kept += character
    return kept + "…"


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width_of_text(text: str) -> float:
    """Estimate the width of a text in a sans-serif face of 13 pixels."""
    return sum(map(_width, text))


def _width(character: str) -> float:
    cells = _cells(character)
    if cells != 1:
        return 6.7 * cells
    if character in "il.,:;'|!()[] jft":
        return 4.6
    return 9.1 if character.isupper() or character in "mw_@%&" else 7.6
