"""GML, the Graph Modelling Language, and GraphML, graphs in XML: both by way of NetworkX.

NetworkX writes both and reads GML. An undirected edge is written as two opposite edges of a directed graph,
so that other programs read the same graph. In GML labels hold the names; in files by other programs, labels
are the names, or ids if there are no labels, and ``directed 0`` makes all edges undirected.

In GraphML the ids of the nodes hold the names. XML cannot hold every character: a name with such a character,
or one that begins with a quotation mark, is written as a JSON string, and files by f2sl are read accordingly.
GraphML is read here, element by element, because files by other programs may have edges of both kinds in one
graph (``edgedefault`` and ``directed``), which the reader of NetworkX refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from f2sl.errors import shortened
from f2sl.graph.formats.common import Draft, FormatError, decoded, edges_of, parsed_weight
from f2sl.graph.formats.xml import Element, as_id, name_of, parse
from f2sl.graph.pdag import PDAG

MOST_BYTES = 1 << 26
"""Size of the largest GML file that is read: NetworkX takes up to 25 times as much memory."""
_STRING_OR_EXPONENT = re.compile(r'("[^"]*")|((?<=\s)[+-]?\d+)(?=[eE][+-]?\d)')
"""A string, or the beginning of a number such as 1e-05, which NetworkX would read as 1 and a key e."""
_KIND = "f2sl_kind"


def _networkx(graph: PDAG, name: Callable[[str], str] = str) -> Any:
    """Return a graph of NetworkX with what files hold of a graph."""
    import networkx

    names = {node: name(node) for node in graph.nodes}
    made = networkx.DiGraph(**{_KIND: type(graph).__name__})
    made.add_nodes_from(names.values())
    for a, b, directed, weight, weak in edges_of(graph):
        data = {"weight": float(weight)} if weight else {}
        marks = {"weak": True} if weak else {}
        made.add_edge(names[a], names[b], **data, **marks)
        if not directed:
            made.add_edge(names[b], names[a], **data)
    return made


def write_gml(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in GML.

    Examples
    --------
    >>> "".join(write_gml(PDAG(["a", "b"], [("a", "b")]))).split()[-9:]
    [']', 'edge', '[', 'source', '0', 'target', '1', ']', ']']
    """
    import networkx

    yield from (f"{line}\n" for line in networkx.generate_gml(_networkx(graph)))


def read_gml(content: bytes) -> PDAG:
    """Return the graph of a file in GML.

    Examples
    --------
    >>> read_gml(b'graph [ node [ id 1 label "a" ] node [ id 2 ] edge [ source 1 target 2 ] ]').nodes
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
    draft = Draft(graph_class=str(found.graph.get(_KIND, "")))
    names = {node: str(data.get("label", node)) for node, data in found.nodes(data=True)}
    for node, name in names.items():
        if name in draft.number:
            raise FormatError(f"the node {name!r} (id {node}) is there twice")
        draft.node(name)
    for a, b, data in found.edges(data=True):
        weight = parsed_weight(str(data.get("weight", "")))
        draft.add_edge(names[a], names[b], weight, both=not found.is_directed(), weak=bool(data.get("weak")))
    return draft.finish()


def write_graphml(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in GraphML.

    Examples
    --------
    >>> text = "".join(write_graphml(PDAG(["a", "b"], [("a", "b")])))
    >>> print(*(line.strip() for line in text.splitlines() if "node" in line or "edge s" in line))
    <node id="a" /> <node id="b" /> <edge source="a" target="b" />
    """
    import networkx

    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{networkx.GraphMLWriter(_networkx(graph, as_id))}\n'


def read_graphml(content: bytes) -> PDAG:
    """Return the graph of a file in GraphML.

    Examples
    --------
    >>> read_graphml(b'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    ...      b'<edge source="a" target="b"/></graph></graphml>')
    PDAG(2 nodes, 0 directed and 1 undirected edges)
    """
    draft, graphs = Draft(), list[Element]()
    ids: dict[tuple[str | None, str], str | None] = {}

    def data(element: Element, name: str) -> str:
        wanted = ids.get((name, element.tag), name)
        return next((one.text for one in element.all("data") if one.attributes.get("key") == wanted), "")

    def each(element: Element, graph: Element, root: Element) -> None:
        if not graphs:
            graphs.append(graph)
            for key in root.all("key"):
                scope = key.attributes.get("for", "all")
                for tag in ("graph", "edge") if scope == "all" else (scope,):
                    ids[key.attributes.get("attr.name"), tag] = key.attributes.get("id")
        if graph is not graphs[0]:
            raise FormatError("there is more than one <graph> in the file", graph.line)
        if element.tag == "node":
            name = element.named()
            if name in draft.number:
                raise FormatError(f"the node {name!r} is there twice", element.line)
            draft.node(name)
        elif element.tag == "edge":
            ends = [element.named(side) for side in ("source", "target")]
            for name in ends:
                if name not in draft.number:
                    problem = f"an edge joins {name!r}, which is not a node listed before"
                    raise FormatError(problem, element.line)
            default = "true" if graph.attributes.get("edgedefault", "directed") == "directed" else "false"
            both = element.attributes.get("directed", default) != "true"
            weight, weak = parsed_weight(data(element, "weight"), element.line), data(element, "weak")
            draft.add_edge(ends[0], ends[1], weight, both=both, weak=weak.lower() == "true")
        elif element.tag == "hyperedge":
            raise FormatError("a <hyperedge> joins more than two nodes", element.line)
        elif element.tag == "data" and element.attributes.get("key") == ids.get((_KIND, "graph"), _KIND):
            draft.graph_class = element.text

    root = parse(content, "graphml", "graph", each)
    n_graphs = len(list(root.all("graph")))
    if n_graphs != 1:
        raise FormatError(f"there is {'more than one' if n_graphs else 'no'} <graph> in the file")
    if draft.graph_class:  # written by f2sl
        draft.number = {name_of(text): i for text, i in draft.number.items()}
        draft.weak = {(name_of(a), name_of(b)) for a, b in draft.weak}
    return draft.finish()
