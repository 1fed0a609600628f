"""DOT, the language of Graphviz: writing, and the meaning of parsed statements.

An undirected edge is ``"a" -> "b" [dir=none]``. The attribute ``strength`` holds the weight, because Graphviz
uses its own ``weight`` for the layout and allows no negative values; in files without ``strength``,
``weight`` is read. In quoted names a backslash is written twice. In files by other programs, ``dir=back``
reverses an edge; ``dir=both``, ``dir=none`` and ``--`` make it undirected.
"""

from __future__ import annotations

from collections.abc import Iterator

from f2sl.graph.formats.common import Draft, arrows, decoded, lines, parsed_weight
from f2sl.graph.formats.dot_parser import EdgeStatement, parse
from f2sl.graph.pdag import PDAG


def write(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in DOT.

    Examples
    --------
    >>> print("".join(write(PDAG(["a", "b"], [("a", "b")]))))
    digraph {
      f2sl_kind="PDAG";
      "a";
      "b";
      "a" -> "b";
    }
    <BLANKLINE>
    """
    names = {name: quoted(name) for name in graph.nodes}
    yield f'digraph {{\n  f2sl_kind="{type(graph).__name__}";\n'
    for name in graph.nodes:
        yield f"  {names[name]};\n"
    for edges, mark in ((arrows(graph), ""), (lines(graph), "dir=none")):
        for a, b, weight in edges:
            # Quoted, because DOT knows no exponents outside of quotation marks.
            strength = f'strength="{weight}"' if weight else ""
            attributes = ", ".join(filter(None, (mark, strength)))
            tail = f" [{attributes}]" if attributes else ""
            yield f"  {names[a]} -> {names[b]}{tail};\n"
    yield "}\n"


def quoted(name: str) -> str:
    """Write a name as a string."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read(content: bytes) -> PDAG:
    """Return the graph of a file in DOT.

    Examples
    --------
    >>> read(b"digraph { a -> b; b -> c [dir=none]; }")
    PDAG(3 nodes, 1 directed and 1 undirected edges)
    >>> read(b"graph { a -- b }").undirected_edges
    [('a', 'b')]
    """
    draft = Draft()
    for statement in parse(decoded(content)):
        if isinstance(statement, EdgeStatement):
            _add_edge(draft, statement)
        elif isinstance(statement, str):
            draft.node(statement)
        else:
            key, value = statement
            if key == "f2sl_kind":
                draft.graph_class = value
    return draft.finish()


def _add_edge(draft: Draft, edge: EdgeStatement) -> None:
    a, b = draft.node(edge.source), draft.node(edge.target)
    weight = parsed_weight(edge.attributes.get("strength", edge.attributes.get("weight", "")), edge.line)
    mark = edge.attributes.get("dir", "forward") if edge.directed else "none"
    if mark == "back":
        a, b = b, a
    draft.arc(a, b, weight, both=mark in ("none", "both"))
