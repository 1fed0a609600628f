"""GML, the Graph Modelling Language: nested ``key value`` pairs.

Written as a directed graph; an undirected edge becomes two opposite arcs, so that other programs read the
same graph. Labels hold the names, with every character other than plain ASCII as ``&#...;``. In files by
other programs, labels are the names, or ids if there are no labels; ``directed 0`` makes all edges
undirected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import name2codepoint
from typing import Any

from f2sl.graph.formats.common import NO_WEIGHT, Draft, FormatError, arrows, decoded, lines, parsed_weight
from f2sl.graph.pdag import PDAG

_TOKEN = re.compile(
    r"""(?:\s+|\#[^\n]*)*+  # what stands before it
        (?: (?P<open>\[) | (?P<close>\]) | "(?P<string>[^"]*)" | (?P<word>[^\s\[\]"]+)
          | (?P<unclosed>") | (?P<end>\Z) )""",
    re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w+));")
_TO_ESCAPE = re.compile(r'[^ -~]|[&"]')

Pair = tuple[str, Any, int]


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
        yield f'  node [ id {i} label "{_escaped(name)}" ]\n'
    for edges, both in ((arrows(graph), False), (lines(graph), True)):
        for a, b, weight in edges:
            tail = f" weight {_with_point(weight)}" if weight else ""
            yield f"  edge [ source {number[a]} target {number[b]}{tail} ]\n"
            if both:
                yield f"  edge [ source {number[b]} target {number[a]}{tail} ]\n"
    yield "]\n"


def _with_point(weight: str) -> str:
    """Return a real number as GML writes it, with a decimal point even before an exponent."""
    return weight if "." in weight else weight.replace("e", ".0e")


def _escaped(name: str) -> str:
    return _TO_ESCAPE.sub(lambda match: f"&#{ord(match[0])};", name)


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        decimal, hexadecimal, named = match.groups()
        code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else name2codepoint.get(named)
        return chr(code) if code is not None and code <= 0x10FFFF else match[0]

    return _ENTITY.sub(character, text)


def read(content: bytes) -> PDAG:
    """Return the graph of a file in GML.

    Examples
    --------
    >>> read(b'graph [ node [ id 1 label "a" ] node [ id 2 ] edge [ source 1 target 2 ] ]').nodes
    ('a', '2')
    """
    pairs = _parsed(decoded(content))
    graphs = [(value, line) for key, value, line in pairs if key == "graph" and isinstance(value, list)]
    if not graphs:
        raise FormatError("there is no 'graph [ ... ]' in the file")
    body, _ = graphs[0]
    top = {key: value for key, value, _ in body if not isinstance(value, list)}
    directed = str(top.get("directed", "0")) == "1"
    draft = Draft(graph_class=top.get("f2sl_kind", ""))
    node_of_id: dict[str, int] = {}
    for key, value, line in body:
        if key == "node" and isinstance(value, list):
            fields = {k: v for k, v, _ in value}
            name, ident = fields.get("label", fields.get("id")), fields.get("id", fields.get("label"))
            if not isinstance(name, str) or not isinstance(ident, str):
                raise FormatError("a node has neither an id nor a label", line)
            if name in draft.number or ident in node_of_id:
                raise FormatError(f"the node {name!r} (id {ident}) is there twice", line)
            node_of_id[ident] = draft.node(name)
    for key, value, line in body:
        if key == "edge" and isinstance(value, list):
            fields = {k: v for k, v, _ in value}
            ends = []
            for side in ("source", "target"):
                if fields.get(side) not in node_of_id:
                    raise FormatError(f"the {side} of an edge is {fields.get(side)!r}, not a node", line)
                ends.append(node_of_id[fields[side]])
            weight = parsed_weight(str(fields["weight"]), line) if "weight" in fields else NO_WEIGHT
            draft.arc(ends[0], ends[1], weight, both=not directed)
    return draft.finish()


def _parsed(text: str) -> list[Pair]:
    """Return the pairs of key and value, with their lines; a list is such pairs again."""
    stack: list[list[Pair]] = [[]]
    opened: list[tuple[str, int]] = []
    key = ""
    for tag, token, line in _tokens(text):
        if tag == "close":
            if key or not opened:
                raise FormatError("']' where it does not belong", line)
            name, start = opened.pop()
            pairs = stack.pop()
            stack[-1].append((name, pairs, start))
        elif not key:
            if tag != "word":
                raise FormatError(f"{token[:40]!r} where a key should be", line)
            key = token
        elif tag == "open":
            opened.append((key, line))
            stack.append([])
            key = ""
        else:
            stack[-1].append((key, token, line))
            key = ""
    if key or opened:
        raise FormatError("the file ends too early", text.count("\n") + 1)
    return stack[0]


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield tag, text and line of each token; strings are unescaped."""
    at, line = 0, 1
    for match in _TOKEN.finditer(text):
        tag = match.lastgroup or ""
        start, end = match.span(tag)
        line += text.count("\n", at, start)
        at = start
        if tag == "unclosed":
            raise FormatError("a string is not closed", line)
        if tag != "end":
            token = text[start:end]
            yield tag, _unescaped(token) if tag == "string" and "&" in token else token, line
