"""PDAGs from NetworkX graphs, adjacency matrices and causal-learn's graphs, and to the last.

The first two represent an undirected edge as two opposite arrows, which a PDAG cannot have otherwise. So no
information is lost in either direction. causal-learn's matrix has the mark at the end i of the edge between i
and j in row i and column j: 1 for an arrowhead, -1 for none, 2 for a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from f2sl._extensions import imported
from f2sl.errors import GraphError
from f2sl.graph._arrays import FloatArray, IntArray
from f2sl.graph.pdag import PDAG

Graph = TypeVar("Graph", bound=PDAG)


def from_arrows(
    graph_type: type[Graph], nodes: Sequence[str], arrows: IntArray, weights: FloatArray | None = None
) -> Graph:
    """Return a graph from arrows, joining those that have a counterpart into undirected edges.

    Examples
    --------
    >>> from_arrows(PDAG, ["a", "b", "c"], np.array([[0, 1], [1, 0], [2, 0]]))
    PDAG(3 nodes, 1 directed and 1 undirected edges)
    """
    n = len(nodes)
    if not len(arrows):
        return graph_type.from_arrays(nodes)
    keys, turned = arrows[:, 0] * n + arrows[:, 1], arrows[:, 1] * n + arrows[:, 0]
    if len(np.unique(keys)) < len(keys):
        return graph_type.from_arrays(nodes, arrows)  # which says what is given twice
    paired = np.isin(keys, turned) & (keys != turned)
    there, back = (
        side.nonzero()[0]
        for side in (paired & (arrows[:, 0] < arrows[:, 1]), paired & (arrows[:, 0] > arrows[:, 1]))
    )
    if weights is None:
        return graph_type.from_arrays(nodes, arrows[~paired], arrows[there])
    there, back = there[np.argsort(keys[there])], back[np.argsort(turned[back])]
    one, other = weights[there], weights[back]
    differ = (one != other) & ~np.isnan(one) & ~np.isnan(other)
    if differ.any():
        i, j = arrows[there[int(differ.argmax())]].tolist()
        raise GraphError(f"the two arrows between {nodes[i]!r} and {nodes[j]!r} have different weights")
    both = np.where(np.isnan(one), other, one)
    return graph_type.from_arrays(nodes, arrows[~paired], arrows[there], weights[~paired], both)


def from_adjacency(graph_type: type[Graph], matrix: Any, nodes: Sequence[str] | None = None) -> Graph:
    """Return a graph of type `graph_type`; see :meth:`PDAG.from_adjacency`."""
    if nodes is None and hasattr(matrix, "columns"):
        nodes = list(matrix.columns)
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        shape, rows, columns, values = entries.shape, entries.row, entries.col, entries.data
    else:
        dense = np.asarray(matrix)
        if dense.size == 0:
            dense = np.zeros((0, 0), dtype=np.uint8)
        if dense.dtype.kind not in "buif":
            raise GraphError(f"an adjacency matrix holds zeros and ones, not {dense.dtype}")
        shape = dense.shape
        if len(shape) == 2:
            rows, columns = dense.nonzero()
            values = dense[rows, columns]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"an adjacency matrix is square, not of shape {tuple(shape)}")
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        at = int(wrong.argmax())
        position = f"[{int(rows[at])}, {int(columns[at])}]"
        raise GraphError(f"an adjacency matrix holds zeros and ones, but at {position} there is {values[at]}")
    if nodes is None:
        nodes = [f"X{i}" for i in range(shape[0])]
    if len(nodes) != shape[0]:
        raise GraphError(f"there are {len(nodes)} names for a matrix of {shape[0]} rows")
    arrows = np.stack((rows, columns), axis=1).astype(np.int64)[values != 0]
    return from_arrows(graph_type, nodes, arrows)


def from_networkx(graph_type: type[Graph], graph: Any) -> Graph:
    """Return a graph of type `graph_type`; see :meth:`PDAG.from_networkx`.

    Examples
    --------
    >>> import networkx
    >>> from_networkx(PDAG, networkx.path_graph(["a", "b", "c"])).undirected_edges
    [('a', 'b'), ('b', 'c')]
    """
    if graph.is_multigraph():
        raise GraphError("a multigraph joins two nodes more than once; convert it to a Graph or DiGraph")
    nodes = list(graph.nodes)
    number = {node: i for i, node in enumerate(nodes)}
    rows = [(number[a], number[b]) for a, b in graph.edges]
    arrows = np.array(rows, dtype=np.int64).reshape(-1, 2)
    try:
        weights = np.array([np.nan if w is None else float(w) for _, _, w in graph.edges(data="weight")])
    except (TypeError, ValueError):
        raise GraphError("an edge attribute 'weight' of the networkx graph is not a number") from None
    if not graph.is_directed():
        return graph_type.from_arrays(nodes, None, arrows, None, weights)
    found = from_arrows(graph_type, nodes, arrows, weights)
    weak = {(a, b) for a, b, marked in graph.edges(data="weak") if marked}
    found.weak = frozenset(weak.intersection(found.directed_edges) if weak else ())
    return found


TAIL, HEAD = -1, 1
"""causal-learn's marks of the ends of edges."""


def to_causallearn(graph: PDAG) -> Any:
    """Return a ``GeneralGraph`` of causal-learn; see :meth:`PDAG.to_causallearn`."""
    graphs, edges, ends = (
        imported(f"causallearn.graph.{module}", "to_causallearn", "causal-learn")
        for module in ("GeneralGraph", "Edge", "Endpoint")
    )
    node = imported("causallearn.graph.GraphNode", "to_causallearn", "causal-learn").GraphNode
    nodes = [node(name) for name in graph.nodes]
    made = graphs.GeneralGraph(nodes)
    for which, end in (
        (graph.directed_array, ends.Endpoint.ARROW),
        (graph.undirected_array, ends.Endpoint.TAIL),
    ):
        for a, b in which.tolist():
            made.add_edge(edges.Edge(nodes[a], nodes[b], ends.Endpoint.TAIL, end))
    return made


def from_causallearn(graph_type: type[Graph], graph: Any) -> Graph:
    """Return a graph of type `graph_type`; see :meth:`PDAG.from_causallearn`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> theirs = SimpleNamespace(nodes=["a", "b", "c"], graph=[[0, -1, 0], [1, 0, -1], [0, -1, 0]])
    >>> found = from_causallearn(PDAG, theirs)
    >>> found.directed_edges, found.undirected_edges
    ([('a', 'b')], [('b', 'c')])
    """
    graph = getattr(graph, "G", graph)
    if hasattr(graph, "get_node_names"):
        names = list(graph.get_node_names())
    elif hasattr(graph, "nodes") and hasattr(graph, "graph"):
        names = [node.get_name() if hasattr(node, "get_name") else node for node in graph.nodes]
    else:
        raise GraphError(f"not a graph of causal-learn, with nodes and a matrix: {type(graph).__name__}")
    marks = np.asarray(getattr(graph, "graph", None))
    if marks.shape != (len(names), len(names)) or marks.dtype.kind not in "iuf":
        raise GraphError(
            f"a graph of causal-learn with {len(names)} nodes has a square matrix of marks of that size"
        )
    a, b = np.nonzero(np.triu((marks != 0) | (marks.T != 0)))
    at_a, at_b = marks[a, b], marks[b, a]
    forward, back = (at_a == TAIL) & (at_b == HEAD), (at_a == HEAD) & (at_b == TAIL)
    lines = (at_a == TAIL) & (at_b == TAIL)
    wrong = ~(forward | back | lines)
    if wrong.any():
        k = int(wrong.argmax())
        one, other, ends = names[a[k]], names[b[k]], (at_a[k], at_b[k])
        what = f"{one!r} <-> {other!r}" if ends == (HEAD, HEAD) else f"the marks {ends[0]} and {ends[1]}"
        where = "" if ends == (HEAD, HEAD) else f" between {one!r} and {other!r}"
        raise GraphError(f"edges of a PDAG are -> or -, not {what}{where}")
    arrows = np.concatenate([np.column_stack([a, b])[forward], np.column_stack([b, a])[back]])
    return graph_type.from_arrays(names, arrows, np.column_stack([a, b])[lines])
