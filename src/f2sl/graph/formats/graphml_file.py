"""GraphML, graphs in XML.

Written as a directed graph; an undirected edge becomes two opposite arcs, so that other programs read the
same graph. The ids of the nodes hold the names. XML cannot hold every character: a name with such a
character, or one that begins with a quotation mark, is written as a JSON string, and files by f2sl are read
accordingly. Files by other programs may use ``edgedefault`` and ``directed``. A file with a DTD is refused,
because entities can make small files huge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn
from xml.parsers import expat

from f2sl.graph.formats.common import Draft, FormatError, arrows, lines, parsed_weight
from f2sl.graph.pdag import PDAG

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_WHITE = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="f2sl_kind" for="graph" attr.name="f2sl_kind" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
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
    <edge source="a" target="b"/>
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
    for edges, both in ((arrows(graph), False), (lines(graph), True)):
        for a, b, weight in edges:
            tail = f'><data key="weight">{weight}</data></edge>\n' if weight else "/>\n"
            yield f"<edge source={quoted[a]} target={quoted[b]}{tail}"
            if both:
                yield f"<edge source={quoted[b]} target={quoted[a]}{tail}"
    yield "</graph>\n</graphml>\n"


def as_id(name: str) -> str:
    """Return a name in a form that XML can hold: unchanged, or as a JSON string."""
    if not name.startswith('"') and not _NOT_XML.search(name):
        return name
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(name, ensure_ascii=False))


def read(content: bytes) -> PDAG:
    """Return the graph of a file in GraphML.

    Examples
    --------
    >>> read(b'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    ...      b'<edge source="a" target="b"/></graph></graphml>')
    PDAG(2 nodes, 0 directed and 1 undirected edges)
    """
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FormatError(f"not XML: {reason}", error.lineno) from None
    except (LookupError, ValueError) as error:
        raise FormatError(f"not XML: {error}") from None
    if reader.graphs == 0:
        raise FormatError("there is no <graph> in the file")
    return reader.draft.finish()


class _Reader:
    """Receives the elements of a GraphML file as they are parsed."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.graphs = 0
        self.directed_by_default = True
        self.weight_key: str | None = None
        self.edge: tuple[str, str, bool, int] | None = None
        self.edge_weight = ""
        self.data_key: str | None = None
        self.text = ""
        self.listed: set[str] = set()
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype

    def fail(self, message: str, line: int = 0) -> NoReturn:
        raise FormatError(message, line or self.parser.CurrentLineNumber)

    def refuse_doctype(self, *_: object) -> NoReturn:
        self.fail("the file has a document type declaration, which is not read")

    def characters(self, text: str) -> None:
        if self.data_key is not None:
            self.text += text

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "graph":
            self.graphs += 1
            if self.graphs > 1:
                self.fail("there is more than one <graph> in the file")
            self.directed_by_default = attributes.get("edgedefault", "directed") == "directed"
        elif tag == "key":
            if attributes.get("attr.name") == "weight" and attributes.get("for", "all") in ("edge", "all"):
                self.weight_key = attributes.get("id")
        elif tag == "node":
            ident = self.name(attributes, "id")
            if ident in self.listed:
                self.fail(f"the node {ident!r} is there twice")
            self.listed.add(ident)
            self.draft.node(ident)
        elif tag == "edge":
            default = "true" if self.directed_by_default else "false"
            directed = attributes.get("directed", default) == "true"
            ends = self.name(attributes, "source"), self.name(attributes, "target")
            self.edge, self.edge_weight = (*ends, directed, self.parser.CurrentLineNumber), ""
        elif tag == "hyperedge":
            self.fail("a <hyperedge> joins more than two nodes")
        elif tag == "data":
            self.data_key, self.text = attributes.get("key", ""), ""

    def end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "data":
            if self.edge and self.data_key == self.weight_key:
                self.edge_weight = self.text
            elif self.data_key == "f2sl_kind":
                self.draft.graph_class = self.text.strip()
            self.data_key = None
        elif tag == "edge" and self.edge:
            source, target, directed, line = self.edge
            for name in (source, target):
                if name not in self.listed:
                    self.fail(f"an edge joins {name!r}, which is not a node listed before", line)
            a, b = self.draft.node(source), self.draft.node(target)
            self.draft.arc(a, b, parsed_weight(self.edge_weight, line), both=not directed)
            self.edge = None

    def name(self, attributes: dict[str, str], key: str) -> str:
        """Return the name that an id stands for."""
        if key not in attributes:
            self.fail(f"an element has no {key!r}")
        text = attributes[key]
        if not self.draft.graph_class or not text.startswith('"'):
            return text
        try:
            return str(json.loads(text))
        except ValueError:
            self.fail(f"the {key} {text!r} is not a name as f2sl writes it")
