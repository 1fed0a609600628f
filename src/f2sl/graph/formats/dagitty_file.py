"""DAGitty's language, as its web page and its R package have it.

``dag { a -> b ; c [exposure] }`` or ``pdag { a -- b }``: like DOT except for the first word and ``<-``. An
edge with two heads, which stands for an unobserved common cause, is refused. The attribute ``strength`` holds
the weight; in files without it, ``beta`` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from f2sl.graph.formats.common import Draft, FormatError, decoded, edges_of, parsed_weight, quoted
from f2sl.graph.formats.dot_file import EdgeStatement, parse_dagitty
from f2sl.graph.pdag import PDAG


def write(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in DAGitty's language.

    Examples
    --------
    >>> print("".join(write(PDAG(["a", "b"], [("a", "b")]))))
    pdag {
    "a"
    "b"
    "a" -> "b"
    }
    <BLANKLINE>
    """
    names = {name: quoted(name) for name in graph.nodes}
    yield f"{type(graph).__name__.lower()} {{\n"
    for name in graph.nodes:
        yield f"{names[name]}\n"
    for a, b, directed, weight, weak in edges_of(graph):
        marks = [f'strength="{weight}"'] * bool(weight) + ["weak=true"] * weak
        tail = f" [{','.join(marks)}]" if marks else ""
        yield f"{names[a]} {'->' if directed else '--'} {names[b]}{tail}\n"
    yield "}\n"


def read(content: bytes) -> PDAG:
    r"""Return the graph of a file in DAGitty's language.

    Examples
    --------
    >>> read(b"dag { x.1 [exposure, pos=\"0,1\"]; x.1 <- z -> y }").directed_edges
    [('z', 'x.1'), ('z', 'y')]
    """
    graph_class, statements = parse_dagitty(decoded(content))
    if graph_class not in ("dag", "pdag"):
        raise FormatError(f"the file holds a {graph_class}; only dag and pdag are read")
    draft = Draft(graph_class=graph_class.upper())
    for statement in statements:
        if isinstance(statement, str):
            draft.node(statement)
        elif isinstance(statement, EdgeStatement):
            a, b, directed, attributes, line = statement
            weight = parsed_weight(attributes.get("strength", attributes.get("beta", "")), line)
            draft.arc(a, b, weight, both=not directed, weak=attributes.get("weak") == "true")
    return draft.finish()
