"""bnlearn's model strings: each node in brackets, with its parents behind a bar, ``[a][b][c|a:b]``.

They hold a DAG, that of ``to_dag()``, without weights. Names cannot have ``[``, ``]``, ``|`` or ``:``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from f2sl.errors import GraphError, shown
from f2sl.graph.formats.common import Draft, FormatError, decoded
from f2sl.graph.pdag import PDAG

_NODE = re.compile(r"\s*\[([^][|]*)(?:\|([^][|]*))?\]\s*")
_SIGNS = re.compile(r"[][|:\n\r]|^\s|\s$|^$")


def write(graph: PDAG) -> Iterator[str]:
    r"""Yield the model string of `graph`.

    Examples
    --------
    >>> "".join(write(PDAG([*"cab"], [("a", "c"), ("b", "c")])))
    '[c|a:b][a][b]\n'
    """
    graph = graph.to_dag()
    for name in graph.nodes:
        if _SIGNS.search(name):
            raise GraphError(f"a model string cannot hold the name {shown(name)}")
        parents = graph.parents(name)
        yield f"[{name}|{':'.join(parents)}]" if parents else f"[{name}]"
    yield "\n"


def read(content: bytes) -> PDAG:
    """Return the graph of a model string.

    Examples
    --------
    >>> read(b"[a][b][c|a:b]").directed_edges
    [('a', 'c'), ('b', 'c')]
    """
    text, at = decoded(content), 0
    listed: list[tuple[str, list[str]]] = []
    while at < len(text) or not listed:
        node = _NODE.match(text, at)
        if node is None:
            line = text.count("\n", 0, at) + 1
            raise FormatError(
                f"expected [node] or [node|parent:parent], found {shown(text[at : at + 40])}", line
            )
        listed.append((node[1].strip(), [p.strip() for p in node[2].split(":")] if node[2] else []))
        at = node.end()
    draft = Draft(graph_class="DAG")
    for name, _ in listed:
        if not name or name in draft.number:
            raise FormatError(
                f"the node {shown(name)} is listed twice" if name else "a node has an empty name"
            )
        draft.node(name)
    for name, parents in listed:
        for parent in parents:
            if parent not in draft.number:
                raise FormatError(f"{shown(parent)}, a parent of {shown(name)}, is not listed as a node")
            draft.add_edge(parent, name)
    return draft.finish()
