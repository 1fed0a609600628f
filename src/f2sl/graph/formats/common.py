"""Shared parts of the graph formats: edges as they are written, a graph while it is read, and one error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from f2sl.errors import FileError, GraphError
from f2sl.graph.convert import from_arrows
from f2sl.graph.dag import DAG
from f2sl.graph.pdag import PDAG

Content = TypeVar("Content")
NO_WEIGHT = float("nan")


class FormatError(Exception):
    """Violation of a file format; `line` counts from 1, and is 0 if unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message, self.line = message, line


def read_file(path: str | PathLike[str], read: Callable[[bytes], Content]) -> Content:
    """Read a file; every error names it, and a :class:`FormatError` becomes a FileError with the line.

    Raises
    ------
    FileError
        If the file cannot be read or understood.
    GraphError
        If it is well formed, but does not describe a valid graph.
    """
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise FileError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}", path=str(path)
        ) from None
    try:
        return read(content)
    except FormatError as error:
        where = f"{path}, line {error.line}" if error.line else f"{path}"
        raise FileError(f"{where}: ", error.message, path=str(path), line=error.line or None) from None
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None


def decoded(content: bytes) -> str:
    """Return the text of a file, which must be UTF-8, with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError("the file is not text in UTF-8", line) from None


def is_number(word: str) -> bool:
    """Return whether a word is a number; Python takes 0_1 for one, file formats do not."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def quoted(name: str) -> str:
    """Write a name as a string in double quotes, with backslashes before quotes and backslashes."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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


class Edge(NamedTuple):
    """Edge as it is written: `weight` is a text, empty for an edge without one."""

    a: str
    b: str
    directed: bool
    weight: str
    weak: bool


def edges_of(graph: PDAG) -> Iterator[Edge]:
    """Yield the edges of a graph, the directed ones first."""
    weights, weak = graph.weights or {}, graph.weak
    for edges, directed in ((graph.directed_edges, True), (graph.undirected_edges, False)):
        for edge in edges:
            text = number_text(weights[edge]) if edge in weights else ""
            yield Edge(*edge, directed, text, edge in weak)


@dataclass
class Draft:
    """Graph while it is read; nodes are numbered by first occurrence."""

    graph_class: str = ""
    number: dict[str, int] = field(default_factory=dict)
    arrows: list[tuple[int, int]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    weak: set[tuple[str, str]] = field(default_factory=set)

    def node(self, name: str) -> int:
        """Return the number of the node called `name`, new or known."""
        return self.number.setdefault(name, len(self.number))

    def add_edge(
        self, a: str, b: str, weight: float = NO_WEIGHT, *, both: bool = False, weak: bool = False
    ) -> None:
        """Add ``a -> b``, or with `both` the undirected edge, which is an arrow each way."""
        i, j = self.node(a), self.node(b)
        self.arrows += [(i, j), (j, i)] if both else [(i, j)]
        self.weights += [weight, weight] if both else [weight]
        if weak:
            self.weak.add((a, b))

    def finish(self) -> PDAG:
        """Return the graph; as a DAG if the file says so, or if it does not say and the graph can be one."""
        arrows = np.array(self.arrows, dtype=np.int64).reshape(-1, 2)
        graph = from_arrows(PDAG, list(self.number), arrows, np.array(self.weights, dtype=np.float64))
        graph = as_class(graph, self.graph_class)
        graph.weak = frozenset(self.weak.intersection(graph.directed_edges) if self.weak else ())
        return graph


def as_class(graph: PDAG, graph_class: str) -> PDAG:
    """Return `graph` as the DAG or PDAG it was stored as; `graph_class` may be empty."""
    if graph_class not in ("", "DAG", "PDAG"):
        raise FormatError(f"a graph of the graph_class {graph_class!r} is not known; known are DAG and PDAG")
    if graph_class == "PDAG" or (not graph_class and not graph.is_dag()):
        return graph
    return DAG.from_arrays(
        graph.nodes,
        graph.directed_array,
        graph.undirected_array,
        graph._weights_directed,
        graph._weights_undirected,
    )
