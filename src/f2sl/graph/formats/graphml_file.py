"""GraphML, graphs in XML.

Written as a directed graph; an undirected edge becomes two opposite arcs, so that other programs read the
same graph. The ids of the nodes hold the names. XML cannot hold every character: a name with such a
character, or one that begins with a quotation mark, is written as a JSON string, and files by f2sl are read
accordingly. Files by other programs may use ``edgedefault`` and ``directed``, also for edges of both kinds in
one graph, which the reader of NetworkX refuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from f2sl.graph.formats.common import Draft, FormatError, edges_of, parsed_weight
from f2sl.graph.formats.xml import Element, as_id, parse
from f2sl.graph.pdag import PDAG

_KIND = ("f2sl_kind", "graph")
_WHITE = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="f2sl_kind" for="graph" attr.name="f2sl_kind" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<key id="weak" for="edge" attr.name="weak" attr.type="boolean"/>
<graph edgedefault="directed">
"""


def write(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in GraphML.

    Examples
    --------
    >>> print("".join(write(PDAG(["a", "b"], [("a", "b")]))).split("directed")[-1])
    ">
    <data key="f2sl_kind">PDAG</data>
    <node id="a"/>
    <node id="b"/>
    <edge source="a" target="b"></edge>
    </graph>
    </graphml>
    <BLANKLINE>
    """
    from xml.sax.saxutils import quoteattr  # here: it loads the whole of urllib

    quoted = {name: quoteattr(as_id(name), _WHITE) for name in graph.nodes}
    yield _HEAD
    yield f'<data key="f2sl_kind">{type(graph).__name__}</data>\n'
    for name in graph.nodes:
        yield f"<node id={quoted[name]}/>\n"
    for a, b, directed, weight, weak in edges_of(graph):
        data = f'<data key="weight">{weight}</data>' if weight else ""
        data += '<data key="weak">true</data>' if weak else ""
        for source, target in [(a, b)] if directed else [(a, b), (b, a)]:
            yield f"<edge source={quoted[source]} target={quoted[target]}>{data}</edge>\n"
    yield "</graph>\n</graphml>\n"


def read(content: bytes) -> PDAG:
    """Return the graph of a file in GraphML.

    Examples
    --------
    >>> read(b'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
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
            name = _name(element, "id", draft)
            if name in draft.number:
                raise FormatError(f"the node {name!r} is there twice", element.line)
            draft.node(name)
        elif element.tag == "edge":
            ends = [_name(element, side, draft) for side in ("source", "target")]
            for name in ends:
                if name not in draft.number:
                    problem = f"an edge joins {name!r}, which is not a node listed before"
                    raise FormatError(problem, element.line)
            default = "true" if graph.attributes.get("edgedefault", "directed") == "directed" else "false"
            both = element.attributes.get("directed", default) != "true"
            weight, weak = parsed_weight(data(element, "weight"), element.line), data(element, "weak")
            draft.arc(ends[0], ends[1], weight, both=both, weak=weak.lower() == "true")
        elif element.tag == "hyperedge":
            raise FormatError("a <hyperedge> joins more than two nodes", element.line)
        elif element.tag == "data" and element.attributes.get("key") == ids.get(_KIND, _KIND[0]):
            draft.graph_class = element.text

    root = parse(content, "graphml", "graph", each)
    n_graphs = len(list(root.all("graph")))
    if n_graphs != 1:
        raise FormatError(f"there is {'more than one' if n_graphs else 'no'} <graph> in the file")
    return draft.finish()


def _name(element: Element, key: str, draft: Draft) -> str:
    """Return the name that an id stands for: in a file by f2sl it may be a JSON string."""
    text = element.named(key)
    if not draft.graph_class or not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        problem = f"the {key} {text!r} is not a name as f2sl writes it"
        raise FormatError(problem, element.line) from None
