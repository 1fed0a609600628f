r"""Hugin's NET language, for states and for numbers.

::

    net { name = "dogs"; }
    node out { states = ("yes" "no"); }
    continuous node bark { }
    potential (out) { data = (0.15 0.85); }
    potential (bark | out) { data = (normal (40, 16) normal (20, 16)); }

In ``data`` the child's state changes fastest, the first parent's slowest; parentheses may group the numbers.
The mean of a ``normal`` is a sum such as ``3 + 0.5 * weight``, its second number a variance. Names of nodes
consist of letters, digits and underscores; a variable with another name has it in the attribute ``f2sl_name``
of its node. Comments run from ``%`` to the end of the line. Other attributes are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from f2sl.errors import shown
from f2sl.graph.formats.common import decoded, quoted
from f2sl.graph.formats.tokens import STRING, Tokens, unquoted
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.draft import Draft, Normal, NumberRow, ProbabilityBlock, identifiers

_TOKEN = rf"""{STRING}
    | (?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?
    | [^\W\d]\w*+
    | [^\s\w"%]"""
_RESERVED = ("net", "class", "node", "potential", "continuous", "discrete", "decision", "utility", "function")


def write(network: BayesianNetwork) -> Iterator[str]:
    """Yield the text of a network in the NET language.

    Examples
    --------
    >>> import f2sl
    >>> net = f2sl.GaussianNetwork(f2sl.DAG(["a", "b"], [("a", "b")]), {("a", "b"): -2}, {"a": 1, "b": 3})
    >>> print("".join(write(net)).split("node", 2)[2])
     b
    {
    }
    potential (a)
    {
      data = (normal (0.0, 1.0));
    }
    potential (b | a)
    {
      data = (normal (0.0 + -2.0 * a, 3.0));
    }
    <BLANKLINE>
    """
    names = dict(zip(network.variables, identifiers(network.variables, "n", _RESERVED), strict=True))
    yield f"net\n{{\n  name = {quoted(network.name)};\n}}\n"
    for name, node in names.items():
        states = network.states.get(name)
        yield f"{'node' if states else 'continuous node'} {node}\n{{\n"
        if states:
            yield f"  states = ({' '.join(map(quoted, states))});\n"
        if node != name:
            yield f"  label = {quoted(name)};\n  f2sl_name = {quoted(name)};\n"
        yield "}\n"
    for name, node in names.items():
        given = network.parents(name)
        yield f"potential ({node}{' | ' * bool(given)}{' '.join(names[p] for p in given)})\n{{\n"
        if name in network.tables:
            data = " ".join(map(repr, network.tables[name].ravel().tolist()))
        else:
            numbers = [names[parent] for parent in given if parent in network.equations]
            a, b, v = (part.tolist() for part in network.equations[name].by_configuration())
            data = " ".join(map(_normal, a, b, v, [numbers] * len(a)))
        yield f"  data = ({data});\n}}\n"


def _normal(intercept: float, coefficients: list[float], variance: float, names: list[str]) -> str:
    terms = [f"{coefficient!r} * {name}" for coefficient, name in zip(coefficients, names, strict=True)]
    return f"normal ({' + '.join([repr(intercept), *terms])}, {variance!r})"


def read(content: bytes) -> BayesianNetwork:
    """Return the network of a file in the NET language.

    Examples
    --------
    >>> read(b'net {} node a { states = ("u" "v"); } potential (a) { data = (0.5 0.5); }').states
    {'a': ('u', 'v')}
    """
    return _Reader(decoded(content)).draft.network()


class _Reader:
    """Reads the blocks of a file one after another, without recursion, so no nesting can be too deep."""

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text, r"\s++ | %[^\n]*+", _TOKEN)
        self.draft = Draft(self.tokens.line)
        self.names: dict[str, str] = {}
        self.read_all()

    def word(self, what: str) -> str:
        if not re.match(r"[^\W\d]", self.tokens.next):
            self.tokens.missing(what)
        return self.tokens.take()

    def read_all(self) -> None:
        potentials = []
        if self.tokens.next not in ("net", "class"):
            self.tokens.missing("'net'")
        while self.tokens.next or self.tokens.description(self.tokens.at) != "the end of the file":
            offset, block = self.tokens.at, self.word("'net', 'node' or 'potential'")
            if block in ("net", "class"):
                if block == "class" or self.tokens.next != "{":
                    self.word("the name of the class")
                title = self.attributes().get("name", [])
                self.draft.name = unquoted(title[0][0]) if title else ""
            elif block == "node":
                self.read_node("discrete", offset)
            elif block == "potential":
                potentials.append((offset, self.read_names(), self.attributes().get("data")))
            elif self.tokens.accept("node"):
                self.read_node(block, offset)
            else:
                self.tokens.at -= 1
                self.tokens.missing("'net', 'node' or 'potential'")
        for offset, names, data in potentials:
            self.add_potential(offset, names, data)

    def read_node(self, block: str, offset: int) -> None:
        node = self.word("the name of a node")
        attributes = self.attributes()
        own = attributes.get("f2sl_name")
        name = unquoted(own[0][0]) if own else node
        self.names[node] = name
        if block == "continuous":
            self.draft.add_variable(name, None, offset)
        elif block == "discrete":
            states = attributes.get("states", [])
            listed = [(unquoted(text), where) for text, where in states if text not in ("(", ")", ",")]
            self.draft.add_variable(name, listed, offset)
        else:
            problem = f"{shown(name)} is a {block} node; only discrete and continuous nodes are read"
            self.draft.fail(problem, offset)

    def read_names(self) -> list[tuple[str, int]]:
        """Read the child, and after a bar its parents."""
        self.tokens.expect("(")
        offset = self.tokens.at
        names = [(self.word("the name of a node"), offset)]
        if not self.tokens.accept("|") and self.tokens.next != ")":
            self.tokens.missing("'|' or ')'")
        while self.tokens.next != ")":
            offset = self.tokens.at
            names.append((self.word("the name of a node or ')'"), offset))
        self.tokens.at += 1
        return names

    def attributes(self) -> dict[str, list[tuple[str, int]]]:
        """Read a block in braces: the tokens of each attribute, up to its semicolon."""
        self.tokens.expect("{")
        found = {}
        while self.tokens.next != "}":
            key = self.word("an attribute or '}'")
            self.tokens.expect("=")
            start, open_groups = self.tokens.at, 0
            while self.tokens.next != ";":
                if self.tokens.next in ("", "{", "}"):
                    self.tokens.missing(f"';' at the end of the attribute {key!r}")
                open_groups += {"(": 1, ")": -1}.get(self.tokens.next, 0)
                if open_groups < 0:
                    self.tokens.missing(f"'(' before each ')' in the attribute {key!r}")
                self.tokens.at += 1
            if open_groups:
                self.tokens.missing(f"{open_groups:,} more ')' in the attribute {key!r}")
            found[key] = [(self.tokens.texts[at], at) for at in range(start, self.tokens.at)]
            self.tokens.at += 1
        self.tokens.at += 1
        return found

    # -- numbers ---------------------------------------------------------------------

    def add_potential(
        self, offset: int, names: list[tuple[str, int]], data: list[tuple[str, int]] | None
    ) -> None:
        listed = [(self.names.get(name, name), where) for name, where in names]
        child = listed[0][0]
        if data is None:
            self.draft.fail(f"the potential of {shown(child)} has no data", offset)
        block = ProbabilityBlock(offset, listed, child_last=True)
        variable = self.draft.variables.get(child)
        if variable is not None and not variable.states:
            block.normals = list(self.normals(child, data))
        else:
            block.table = NumberRow(offset, self.numbers(child, data))
        self.draft.add_block(child, block)

    def numbers(self, child: str, data: list[tuple[str, int]]) -> list[float]:
        """Return the numbers of a table, ignoring parentheses."""
        found, sign = [], 1.0
        for token, offset in data:
            if token == "-":
                sign = -1.0
            elif token not in ("(", ")", ",", "+"):
                try:
                    found.append(sign * float(token))
                except ValueError:
                    self.draft.fail(f"data of {shown(child)}: {shown(token)} is not a number", offset)
                sign = 1.0
        return found

    def normals(self, child: str, data: list[tuple[str, int]]) -> Iterator[Normal]:
        """Yield the distributions of a number: each ``normal ( mean , variance )``."""
        text, offset = " ".join(token for token, _ in data), data[0][1] if data else 0
        if _NORMAL.sub("", text).strip("() "):
            problem = f"data of {shown(child)}: a number has a list of normal (mean, variance)"
            self.draft.fail(problem, offset)
        for mean, variance in _NORMAL.findall(text):
            terms, spread = self.sum_of(child, mean, offset), self.sum_of(child, variance, offset)
            if set(spread) != {""}:
                self.draft.fail(f"data of {shown(child)}: a variance is a number", offset)
            yield Normal(terms.pop("", 0.0), terms, spread[""])

    def sum_of(self, child: str, text: str, offset: int) -> dict[str, float]:
        """Return the coefficient of each node in a sum, and the constant term under the name ''."""
        found: dict[str, float] = {}
        at = 0
        while at < len(text) or not found:
            term = _TERM.match(text, at)
            if term is None or not (term[2] or term[3]) or (found and not term[1]):
                self.draft.fail(f"data of {shown(child)}: {shown(text)} is not read as a linear sum", offset)
            name = self.names.get(term[3], term[3]) if term[3] else ""
            sign = -1.0 if term[1].count("-") % 2 else 1.0
            found[name] = found.get(name, 0.0) + sign * float(term[2] or 1)
            at = term.end()
        return found


_NORMAL = re.compile(r"normal \( ([^(),]*) , ([^(),]*) \)")
# Signs, then a number, a name, or a number times a name.
_TERM = re.compile(
    r" *((?:[+-] *)*)([\d.]+(?:[eE][+-]?\d+)?)?(?: ?\* ?(?=[^\W\d])|(?=[^\W\d]))?([^\W\d]\w*)? *"
)
