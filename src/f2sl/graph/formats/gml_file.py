"""GML, the Graph Modelling Language; NetworkX reads it.

An undirected edge is written as two opposite arcs of a directed graph, so that other programs read the same
graph. Labels hold the names, with every character other than plain ASCII as ``&#...;``. In files by other
programs, labels are the names, or ids if there are no labels; ``directed 0`` makes all edges undirected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from f2sl.errors import shortened
from f2sl.graph.formats.common import Draft, FormatError, decoded, edges_of, parsed_weight
from f2sl.graph.pdag import PDAG

MOST_BYTES = 1 << 26
"""Size of the largest file that is read: NetworkX takes up to 25 times as much memory."""
_STRING_OR_EXPONENT = re.compile(r'("[^"]*")|((?<=\s)[+-]?\d+)(?=[eE][+-]?\d)')
"""A string, or the beginning of a number such as 1e-05, which NetworkX would read as 1 and a key e."""


def write(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in GML.

    Examples
    --------
    >>> print("".join(write(PDAG(["a", "b"], [("a", "b")]))))
    graph [
      directed 1
      f2sl_kind "PDAG"
      node [ id 0 label "a" ]
      node [ id 1 label "b" ]
      edge [ source 0 target 1 ]
    ]
    <BLANKLINE>
    """
    number = {name: i for i, name in enumerate(graph.nodes)}
    yield f'graph [\n  directed 1\n  f2sl_kind "{type(graph).__name__}"\n'
    for name, i in number.items():
        escaped = re.sub(r'[^ -~]|[&"]', lambda match: f"&#{ord(match[0])};", name)
        yield f'  node [ id {i} label "{escaped}" ]\n'
    for a, b, directed, weight, weak in edges_of(graph):
        # A real number has a decimal point in GML, even before an exponent.
        data = f" weight {weight if '.' in weight else weight.replace('e', '.0e')}" if weight else ""
        data += " weak 1" * weak
        for source, target in [(a, b)] if directed else [(a, b), (b, a)]:
            yield f"  edge [ source {number[source]} target {number[target]}{data} ]\n"
    yield "]\n"


def read(content: bytes) -> PDAG:
    """Return the graph of a file in GML.

    Examples
    --------
    >>> read(b'graph [ node [ id 1 label "a" ] node [ id 2 ] edge [ source 1 target 2 ] ]').nodes
    ('a', '2')
    """
    import networkx

    if len(content) > MOST_BYTES:
        raise FormatError(f"{len(content):,} bytes are too many for GML; use .json, .csv or .graphml")
    text = decoded(content)
    whole = _STRING_OR_EXPONENT.sub(lambda match: match[1] or f"{match[2]}.0", text)
    try:
        found = networkx.parse_gml(whole.split("\n"), label="id")
    except Exception as error:  # NetworkX has no error of its own for many kinds of damage
        problem, _, place = " ".join(str(error).split()).partition(" at (")
        line = place.partition(",")[0]
        if isinstance(error, RecursionError):
            problem = "the lists are nested too deeply"
        elif text.count('"') % 2:
            problem = "a string is not closed"
        elif not isinstance(error, networkx.NetworkXException):
            problem = "lists, strings or numbers are damaged"
        raise FormatError(f"not GML: {shortened(problem)}", int(line) if line.isdecimal() else 0) from None
    draft = Draft(graph_class=str(found.graph.get("f2sl_kind", "")))
    names = {node: str(data.get("label", node)) for node, data in found.nodes(data=True)}
    for node, name in names.items():
        if name in draft.number:
            raise FormatError(f"the node {name!r} (id {node}) is there twice")
        draft.node(name)
    for a, b, data in found.edges(data=True):
        weight = parsed_weight(str(data.get("weight", "")))
        draft.arc(names[a], names[b], weight, both=not found.is_directed(), weak=bool(data.get("weak")))
    return draft.finish()
