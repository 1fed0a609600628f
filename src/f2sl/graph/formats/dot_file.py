"""DOT, the language of Graphviz, and DAGitty's, which shares its grammar.

In DOT an undirected edge is ``"a" -> "b" [dir=none]``. The attribute ``strength`` holds the weight, because
Graphviz uses its own ``weight`` for the layout and allows no negative values; in files without ``strength``,
``weight`` is read. ``weak=true`` marks a direction that is only weakly decided; such an edge is dashed. In
quoted names a backslash is written twice. In files by other programs, ``dir=back`` reverses an edge;
``dir=both``, ``dir=none`` and ``--`` make it undirected.

The parser supports comments, all four forms of an ID, chains ``a -> b -> c``, ports, subgraphs (also as ends
of edges, ``a -> {b c}``) and default attributes of edges, which apply up to the end of their braces. See
https://graphviz.org/doc/info/lang.html.

DAGitty's web page and R package write ``dag { a -> b ; c [exposure] }`` or ``pdag { a -- b }``, and know
``<-``. An edge with two heads, which stands for an unobserved common cause, is refused. In files without
``strength``, ``beta`` holds the weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from f2sl.graph.formats.common import Draft, FormatError, decoded, edges_of, parsed_weight, quoted
from f2sl.graph.formats.tokens import STRING, Tokens
from f2sl.graph.pdag import PDAG

_BETWEEN = r"\s++ | //[^\n]*+ | ^\#[^\n]*+ | /\*.*?\*/"
_SIGNS = frozenset(["->", "--", "<->", "<-", *"[]{}=;,:+", ""])
_NUMBER = r"-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)"
# An ID in angle brackets is HTML, whose tags do not stand in each other.
_DOT = rf"->|--|[\[\]{{}}=;,:+] | {STRING} | <(?:[^<>]++|<[^<>]*+>)*+> | {_NUMBER} | [^\W\d]\w*+"
# DAGitty has no strings in angle brackets, but arrows that begin with one, and dots in words.
_DAGITTY = rf"->|--|<->|<-|[\[\]{{}}=;,:+] | {STRING} | {_NUMBER} | [^\W\d][\w.]*+"
_DEEPEST = 100


def write_dot(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in DOT.

    Examples
    --------
    >>> print("".join(write_dot(PDAG(["a", "b"], [("a", "b")]))))
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
    for a, b, directed, weight, weak in edges_of(graph):
        # Quoted, because DOT knows no exponents outside of quotation marks.
        strength = f'strength="{weight}"' if weight else ""
        marks = ("" if directed else "dir=none", strength, "weak=true, style=dashed" if weak else "")
        tail = f" [{', '.join(filter(None, marks))}]" if any(marks) else ""
        yield f"  {names[a]} -> {names[b]}{tail};\n"
    yield "}\n"


def read_dot(content: bytes) -> PDAG:
    """Return the graph of a file in DOT.

    Examples
    --------
    >>> read_dot(b"digraph { a -> b; b -> c [dir=none]; }")
    PDAG(3 nodes, 1 directed and 1 undirected edges)
    >>> read_dot(b"graph { a -- b }").undirected_edges
    [('a', 'b')]
    """
    parser = _Parser(Tokens(decoded(content), _BETWEEN, _DOT), "weight")
    parser.graph("graph", "digraph")
    return parser.draft.finish()


def write_dagitty(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` in DAGitty's language.

    Examples
    --------
    >>> print("".join(write_dagitty(PDAG(["a", "b"], [("a", "b")]))))
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


def read_dagitty(content: bytes) -> PDAG:
    r"""Return the graph of a file in DAGitty's language.

    Examples
    --------
    >>> read_dagitty(b"dag { x.1 [exposure, pos=\"0,1\"]; x.1 <- z -> y }").directed_edges
    [('z', 'x.1'), ('z', 'y')]
    """
    parser = _Parser(Tokens(decoded(content), _BETWEEN, _DAGITTY), "beta")
    graph_class = parser.graph("dag", "pdag", "mag", "pag")
    if graph_class not in ("dag", "pdag"):
        raise FormatError(f"the file holds a {graph_class}; only dag and pdag are read")
    parser.draft.graph_class = graph_class.upper()
    return parser.draft.finish()


class _Parser:
    """Recursive-descent parser of one graph; `weight` is the attribute read where `strength` is missing."""

    def __init__(self, tokens: Tokens, weight: str) -> None:
        self.tokens, self.weight = tokens, weight
        self.draft, self.depth = Draft(), 0

    def graph(self, *heads: str) -> str:
        """Read the graph, whose first word must be one of `heads`; return that word."""
        self.keyword("strict")
        head = self.keyword(*heads)
        if not head:
            self.tokens.missing(" or ".join(map(repr, heads)))
        if self.tokens.next not in _SIGNS:
            self.ident()
        self.braces({})
        if self.tokens.next or self.tokens.description(self.tokens.at) != "the end of the file":
            self.tokens.missing("the end of the file, after one graph")
        return head

    def keyword(self, *words: str) -> str:
        """Take the token if it is one of the keywords, in any case."""
        return self.tokens.take().lower() if self.tokens.next.lower() in words else ""

    def ident(self) -> str:
        """Take a name, in any of its forms."""
        token = self.tokens.next
        if token in _SIGNS:
            self.tokens.missing("a name")
        text = _unquoted(self.tokens.take())
        while self.tokens.accept("+"):
            if not self.tokens.next.startswith('"'):
                self.tokens.missing("a string")
            text += _unquoted(self.tokens.take())
        return text

    def braces(self, defaults: dict[str, str]) -> list[str]:
        """Read the statements in braces; return the nodes met in them."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormatError("the braces are nested too deeply", self.tokens.line(self.tokens.at))
        self.tokens.expect("{")
        defaults = dict(defaults)
        met: dict[str, None] = {}
        while not self.tokens.accept("}"):
            if not self.tokens.accept(";"):
                met.update(dict.fromkeys(self.statement(defaults)))
        self.depth -= 1
        return list(met)

    def statement(self, defaults: dict[str, str]) -> list[str]:
        """Read a setting, default attributes, or nodes with the edges between them; return the nodes."""
        if tag := self.keyword("graph", "node", "edge"):
            attributes = self.attributes()
            if tag == "edge":
                defaults.update(attributes)
            elif tag == "graph":
                self.draft.graph_class = attributes.get("f2sl_kind", self.draft.graph_class)
            return []
        start, in_braces = self.tokens.at, self.starts_braces()
        ends = self.end_of_edge(defaults)
        if not in_braces and self.tokens.accept("="):
            value = self.ident()
            if ends == ["f2sl_kind"]:
                self.draft.graph_class = value
            return []
        chain, arrows = [ends], []
        while (arrow := self.tokens.next) in ("->", "--", "<-", "<->"):
            if arrow == "<->":
                problem = "an edge with two heads, '<->', is not read"
                raise FormatError(problem, self.tokens.line(start))
            arrows.append(self.tokens.take())
            chain.append(self.end_of_edge(defaults))
        names = [name for names in chain for name in names]
        for name in names:
            self.draft.node(name)
        if arrows or not in_braces:
            attributes = {**defaults, **self.attributes()}
            for left, arrow, right in zip(chain, arrows, chain[1:], strict=False):
                tails, heads = (right, left) if arrow == "<-" else (left, right)
                for a, b in ((a, b) for a in tails for b in heads):
                    self.edge(a, b, arrow != "--", attributes, start)
        return names

    def edge(self, a: str, b: str, directed: bool, attributes: dict[str, str], start: int) -> None:
        """Add an edge of the statement that begins with the token `start`."""
        try:
            weight = parsed_weight(attributes.get("strength", attributes.get(self.weight, "")))
        except FormatError as error:
            raise FormatError(error.message, self.tokens.line(start)) from None
        mark = attributes.get("dir", "forward") if directed else "none"
        a, b = (b, a) if mark == "back" else (a, b)
        self.draft.add_edge(
            a, b, weight, both=mark in ("none", "both"), weak=attributes.get("weak") == "true"
        )

    def starts_braces(self) -> bool:
        return self.tokens.next == "{" or self.tokens.next.lower() == "subgraph"

    def end_of_edge(self, defaults: dict[str, str]) -> list[str]:
        """Read a name, with or without a port, or a subgraph, which stands for all its nodes."""
        if self.keyword("subgraph") and self.tokens.next not in _SIGNS:
            self.ident()
        if self.tokens.next == "{":
            return self.braces(defaults)
        name = self.ident()
        while self.tokens.accept(":"):
            self.ident()
        return [name]

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.tokens.accept("["):
            while not self.tokens.accept("]"):
                key = self.ident()
                found[key] = self.ident() if self.tokens.accept("=") else "true"
                self.tokens.accept(",", ";")
        return found


def _unquoted(token: str) -> str:
    """Return what an ID denotes; in strings a backslash before a line break takes it away."""
    if token[0] == "<":
        return token[1:-1]
    if token[0] != '"':
        return token
    return re.sub(r'\\(?:(["\\])|\r?\n)', lambda match: match[1] or "", token[1:-1])
