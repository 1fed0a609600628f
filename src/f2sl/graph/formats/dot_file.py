"""DOT, the language of Graphviz, and the grammar that DAGitty's language shares with it.

An undirected edge is ``"a" -> "b" [dir=none]``. The attribute ``strength`` holds the weight, because Graphviz
uses its own ``weight`` for the layout and allows no negative values; in files without ``strength``,
``weight`` is read. ``weak=true`` marks a direction that is only weakly decided; such an edge is dashed. In
quoted names a backslash is written twice. In files by other programs, ``dir=back`` reverses an edge;
``dir=both``, ``dir=none`` and ``--`` make it undirected.

The parser supports comments, all four forms of an ID, chains ``a -> b -> c``, ports, subgraphs (also as ends
of edges, ``a -> {b c}``) and default attributes of edges, which apply up to the end of their braces. See
https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from f2sl.graph.formats.common import Draft, FormatError, decoded, edges_of, parsed_weight, quoted
from f2sl.graph.pdag import PDAG

_TOKEN = re.compile(
    r"""(?:\s+ | //[^\n]* | ^\#[^\n]* | /\*.*?\*/)*+  # what stands before it
        (?: (?P<op>->|--|[\[\]{}=;,:+])
          | "(?P<string>(?:[^"\\]++|\\.)*+)"
          | (?P<number>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
          | (?P<word>[^\W\d]\w*)
          | (?P<html><)
          | (?P<wrong>.)
          | (?P<end>\Z) )""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# DAGitty has no strings in angle brackets, but arrows that begin with one, and dots in words.
_DAGITTY_TOKEN = re.compile(
    _TOKEN.pattern.replace("->|--|", "->|--|<->|<-|").replace(r"[^\W\d]\w*", r"[^\W\d][\w.]*"), _TOKEN.flags
)
_ESCAPE = re.compile(r"\\(\r\n|.)", re.DOTALL)
_DEEPEST = 100
_ARROWS = ("->", "--", "<-", "<->")


class Token(NamedTuple):
    """Token of the text; `tag` is op, word, id, or end."""

    tag: str
    text: str
    line: int


class EdgeStatement(NamedTuple):
    """Edge between two names; `directed` is true for ``->`` and false for ``--``."""

    source: str
    target: str
    directed: bool
    attributes: dict[str, str]
    line: int


Statement: TypeAlias = EdgeStatement | str | tuple[str, str]


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
    for a, b, directed, weight, weak in edges_of(graph):
        # Quoted, because DOT knows no exponents outside of quotation marks.
        strength = f'strength="{weight}"' if weight else ""
        marks = ("" if directed else "dir=none", strength, "weak=true, style=dashed" if weak else "")
        tail = f" [{', '.join(filter(None, marks))}]" if any(marks) else ""
        yield f"  {names[a]} -> {names[b]}{tail};\n"
    yield "}\n"


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
            a, b, directed, attributes, line = statement
            weight = parsed_weight(attributes.get("strength", attributes.get("weight", "")), line)
            mark = attributes.get("dir", "forward") if directed else "none"
            a, b = (b, a) if mark == "back" else (a, b)
            draft.arc(a, b, weight, both=mark in ("none", "both"), weak=attributes.get("weak") == "true")
        elif isinstance(statement, str):
            draft.node(statement)
        else:
            key, value = statement
            if key == "f2sl_kind":
                draft.graph_class = value
    return draft.finish()


def parse(text: str) -> list[Statement]:
    """Return the statements: edges, names of nodes, and settings ``(key, value)``.

    Examples
    --------
    >>> for statement in parse('strict digraph g { rankdir=LR; "a b" -> c [dir=none] }'):
    ...     print(statement)
    ('rankdir', 'LR')
    a b
    c
    EdgeStatement(source='a b', target='c', directed=True, attributes={'dir': 'none'}, line=1)
    """
    return _Parser(text).graph()


def parse_dagitty(text: str) -> tuple[str, list[Statement]]:
    """Return the first word of a graph of DAGitty's, such as dag or pdag, and its statements.

    Examples
    --------
    >>> parse_dagitty("dag { b <- a }")
    ('dag', ['b', 'a', EdgeStatement(source='a', target='b', directed=True, attributes={}, line=1)])
    """
    parser = _Parser(text, ("dag", "pdag", "mag", "pag"), _DAGITTY_TOKEN)
    statements = parser.graph()
    return parser.head, statements


def _tokens(text: str, pattern: re.Pattern[str]) -> Iterator[Token]:
    at, start, line, tag = 0, 0, 1, ""
    while tag != "end" and (match := pattern.match(text, at)):
        tag, before = match.lastgroup or "", start
        start, at = match.start(tag), match.end()
        line += text.count("\n", before, start)
        content = match[tag]
        if tag == "html":
            at = _html_end(text, start, line)
            yield Token("id", text[start + 1 : at - 1], line)
        elif tag == "string":
            yield Token("id", _ESCAPE.sub(_unescaped, content) if "\\" in content else content, line)
        elif tag == "wrong":
            problem = "a string is not closed" if content == '"' else f"{content!r} is out of place"
            raise FormatError(problem, line)
        else:
            yield Token("id" if tag == "number" else tag, content, line)


def _html_end(text: str, at: int, line: int) -> int:
    """Return where the ID in angle brackets that begins at `at` ends."""
    depth = 0
    for match in re.compile("[<>]").finditer(text, at):
        depth += 1 if match[0] == "<" else -1
        if not depth:
            return match.end()
    raise FormatError("'<' is not closed", line)


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped in ('"', "\\"):
        return escaped
    return "" if escaped in ("\n", "\r\n") else match[0]


class _Parser:
    """Recursive-descent parser of one graph."""

    def __init__(
        self,
        text: str,
        heads: tuple[str, ...] = ("graph", "digraph"),
        pattern: re.Pattern[str] = _TOKEN,
    ) -> None:
        self.tokens = _tokens(text, pattern)
        self.heads, self.head = heads, ""
        self.token = next(self.tokens)
        self.statements: list[Statement] = []
        self.depth = 0

    # -- tokens ----------------------------------------------------------------------

    def fail(self, wanted: str) -> FormatError:
        shown = repr(self.token.text[:40]) if self.token.tag != "end" else "the end of the file"
        return FormatError(f"{wanted} is wanted, not {shown}", self.token.line)

    def take(self) -> Token:
        token, self.token = self.token, next(self.tokens, self.token)
        return token

    def accept(self, *operators: str) -> bool:
        if self.token.tag == "op" and self.token.text in operators:
            self.take()
            return True
        return False

    def expect(self, operator: str) -> None:
        if not self.accept(operator):
            raise self.fail(repr(operator))

    def keyword(self, *words: str) -> str:
        """Take the token if it is one of the keywords, in any case."""
        if self.token.tag == "word" and self.token.text.lower() in words:
            return self.take().text.lower()
        return ""

    def ident(self) -> str:
        if self.token.tag not in ("word", "id"):
            raise self.fail("a name")
        text = self.take().text
        while self.accept("+"):
            if self.token.tag != "id":
                raise self.fail("a string")
            text += self.take().text
        return text

    # -- the grammar -----------------------------------------------------------------

    def graph(self) -> list[Statement]:
        self.keyword("strict")
        self.head = self.keyword(*self.heads)
        if not self.head:
            raise self.fail(" or ".join(map(repr, self.heads)))
        if self.token.tag in ("word", "id"):
            self.ident()
        self.braces({})
        if self.token.tag != "end":
            raise self.fail("the end of the file, after one graph,")
        return self.statements

    def braces(self, defaults: dict[str, str]) -> list[str]:
        """Read the statements in braces; return the nodes met in them."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormatError("the braces are nested too deeply", self.token.line)
        self.expect("{")
        defaults = dict(defaults)
        met: dict[str, None] = {}
        while not self.accept("}"):
            if not self.accept(";"):
                met.update(dict.fromkeys(self.statement(defaults)))
        self.depth -= 1
        return list(met)

    def statement(self, defaults: dict[str, str]) -> list[str]:
        if tag := self.keyword("graph", "node", "edge"):
            attributes = self.attributes()
            if tag == "edge":
                defaults.update(attributes)
            elif tag == "graph":
                self.statements.extend(attributes.items())
            return []
        line = self.token.line
        in_braces = self.starts_braces()
        ends = self.end_of_edge(defaults)
        if not in_braces and self.accept("="):
            self.statements.append((ends[0], self.ident()))
            return []
        if not in_braces:
            self.statements.append(ends[0])
        chain, operators = [ends], []
        while self.token.tag == "op" and self.token.text in _ARROWS:
            if self.token.text == "<->":
                raise FormatError("an edge with two heads, '<->', is not read", line)
            operators.append(self.take().text)
            chain.append(self.end_of_edge(defaults))
            self.statements.extend(chain[-1])
        if operators or not in_braces:
            attributes = {**defaults, **self.attributes()}
            for left, operator, right in zip(chain, operators, chain[1:], strict=False):
                tails, heads = (right, left) if operator == "<-" else (left, right)
                self.statements.extend(
                    EdgeStatement(a, b, operator != "--", attributes, line) for a in tails for b in heads
                )
        return [name for names in chain for name in names]

    def starts_braces(self) -> bool:
        word = self.token.tag == "word" and self.token.text.lower() == "subgraph"
        return word or (self.token.tag == "op" and self.token.text == "{")

    def end_of_edge(self, defaults: dict[str, str]) -> list[str]:
        """Read a name, with or without a port, or a subgraph, which stands for all its nodes."""
        if self.keyword("subgraph") and self.token.tag in ("word", "id"):
            self.ident()
        if self.token.tag == "op" and self.token.text == "{":
            return self.braces(defaults)
        name = self.ident()
        while self.accept(":"):
            self.ident()
        return [name]

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.accept("["):
            while not self.accept("]"):
                key = self.ident()
                found[key] = self.ident() if self.accept("=") else "true"
                self.accept(",", ";")
        return found
