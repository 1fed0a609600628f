"""Helpers of the graph formats: weights as text, edges while they are read, and one error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from f2sl.graph._arrays import FloatArray, find_cycle
from f2sl.graph.convert import from_arcs
from f2sl.graph.dag import DAG
from f2sl.graph.pdag import PDAG

NO_WEIGHT = float("nan")


class FormatError(Exception):
    """Violation of a file format; `line` counts from 1, and is 0 if unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message, self.line = message, line


def decoded(content: bytes) -> str:
    """Return the text of a file, which must be UTF-8, with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError("the file is not text in UTF-8", line) from None


def number_text(weight: float) -> str:
    """Write a weight with up to 12 significant digits, without trailing zeros.

    Examples
    --------
    >>> number_text(0.1 + 0.2), number_text(2.0)
    ('0.3', '2.0')
    """
    return repr(float(f"{weight:.12g}"))


def parsed_weight(text: str, line: int = 0) -> float:
    """Read a finite weight; return NaN for an empty text."""
    if not text.strip():
        return NO_WEIGHT
    try:
        weight = float(text)
    except ValueError:
        raise FormatError(f"the weight {text!r} is not a number", line) from None
    if not np.isfinite(weight):
        raise FormatError(f"the weight {text!r} is not finite", line)
    return weight


def weighted(edges: Iterable[tuple[str, str]], weights: FloatArray | None) -> Iterator[tuple[str, str, str]]:
    """Yield edges with their weights as text, empty for edges without one."""
    if weights is None:
        for a, b in edges:
            yield a, b, ""
        return
    for (a, b), weight in zip(edges, weights.tolist(), strict=True):
        yield a, b, "" if weight != weight else number_text(weight)


def arrows(graph: PDAG) -> Iterator[tuple[str, str, str]]:
    """Yield the directed edges with their weights as text."""
    return weighted(graph.directed_edges, graph._weights_directed)


def lines(graph: PDAG) -> Iterator[tuple[str, str, str]]:
    """Yield the undirected edges with their weights as text."""
    return weighted(graph.undirected_edges, graph._weights_undirected)


@dataclass
class Draft:
    """Graph while it is read; nodes are numbered by first occurrence."""

    graph_class: str = ""
    number: dict[str, int] = field(default_factory=dict)
    arcs: list[tuple[int, int]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def node(self, name: str) -> int:
        """Return the number of the node called `name`, new or known."""
        return self.number.setdefault(name, len(self.number))

    def arc(self, a: int, b: int, weight: float = NO_WEIGHT, *, both: bool = False) -> None:
        """Add ``a -> b``, or with `both` the undirected edge, which is an arc each way."""
        self.arcs.append((a, b))
        self.weights.append(weight)
        if both:
            self.arcs.append((b, a))
            self.weights.append(weight)

    def finish(self) -> PDAG:
        """Return the graph; as a DAG if the file says so, or if it does not say and the graph can be one."""
        arcs = np.array(self.arcs, dtype=np.int64).reshape(-1, 2)
        graph = from_arcs(PDAG, list(self.number), arcs, np.array(self.weights, dtype=np.float64))
        return as_class(graph, self.graph_class)


def as_class(graph: PDAG, graph_class: str) -> PDAG:
    """Return `graph` as the DAG or PDAG it was stored as; `graph_class` may be empty."""
    if graph_class not in ("", "DAG", "PDAG"):
        raise FormatError(f"a graph of the graph_class {graph_class!r} is not known; known are DAG and PDAG")
    if graph_class == "PDAG" or (not graph_class and not _can_be_dag(graph)):
        return graph
    return DAG.from_arrays(
        graph.nodes,
        graph.directed_array,
        graph.undirected_array,
        graph._weights_directed,
        graph._weights_undirected,
    )


def _can_be_dag(graph: PDAG) -> bool:
    return not len(graph.undirected_array) and find_cycle(graph.n_nodes, graph.directed_array) is None
