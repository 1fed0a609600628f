r"""BIF, the most common format of Bayesian networks.

A file is a series of blocks, in any order::

    network dogs { property "anything"; }
    variable out  { type discrete [ 2 ] { yes, no }; }
    variable bark { type discrete [ 2 ] { loud, none }; }
    probability ( out ) { table 0.15, 0.85; }
    probability ( bark | out ) {
      (yes) 0.7, 0.3;
      default 0.01, 0.99;
    }

A row gives the distribution of the child for one configuration of the parents; rows come in any order.
``default`` stands for all configurations that have no row. ``table`` gives all numbers at once, in the
counting order of the variables listed: the child's state changes slowest, the last parent's fastest. (This is
Cozman's definition; pgmpy and pyAgrum read it in the same way.) ``property`` lines are skipped.

A file consists of *words*, the symbols ``{ } [ ] ( ) ;``, and strings in double quotes. White space, commas,
bars and comments (``// ...`` to the end of the line, ``/* ... */``) separate them and have no meaning, so
``(a | b, c)`` and ``( "a" "b" "c" )`` are the same. A word is any other sequence of characters:
``LVFAILURE``, ``0.5``, ``50-100%``, ``<5``. A string may contain anything, also line breaks; a quote is
written ``\"`` and a backslash ``\\``. One regular expression splits the whole text in one pass, in linear
time for any text. The positions of tokens are not stored: lines are counted only for an error message.

The parser is one loop over the tokens, without recursion, so no nesting can be too deep. It stores blocks as
they are in the file, each part with the number of its token; :mod:`f2sl.network.formats.draft` turns them
into a network.

The same network always gives the same text: variables in their order, then their tables row by row, the last
parent's state changing fastest, and numbers with enough digits to read the same number back.

References
----------
.. [1] F. Cozman. The Interchange Format for Bayesian Networks, 1998.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import NoReturn

from f2sl.errors import shortened, shown
from f2sl.graph.formats.common import is_number, quoted
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.draft import Draft, NumberRow, ProbabilityBlock, Variable

_SIGNS = frozenset("{}[]();") | {""}


def read_bif(text: str) -> BayesianNetwork:
    """Read a network from the text of a BIF file.

    Raises
    ------
    FormatError
        If the text is not BIF or does not describe a network; the error has the line.

    Examples
    --------
    >>> net = read_bif('''
    ... network coin {}
    ... variable coin { type discrete [ 2 ] { heads, tails }; }
    ... probability ( coin ) { table 0.5, 0.5; }
    ... ''')
    >>> net.states
    {'coin': ('heads', 'tails')}
    """
    return Parser(text).network()


class Parser(Draft):
    """Parser of the blocks of a file: `name`, `variables` and `blocks` by name."""

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self._texts = self.tokens.texts
        self._at = 0
        super().__init__()
        self._read_all()

    def line(self, offset: int) -> int:
        """Return the line of a token."""
        return self.tokens.line(offset)

    # -- tokens ----------------------------------------------------------------------

    def _fail(self, problem: str, offset: int | None = None) -> NoReturn:
        self.fail(problem, self._at if offset is None else offset)

    def _missing(self, wanted: str) -> NoReturn:
        self._fail(f"expected {wanted}, found {self.tokens.description(self._at)}")

    def _accept(self, sign: str) -> bool:
        if self._texts[self._at] != sign:
            return False
        self._at += 1
        return True

    def _expect(self, sign: str, where: str) -> None:
        if not self._accept(sign):
            self._missing(f"{sign!r} {where}")

    def _take_name(self, what: str) -> str:
        token = self._texts[self._at]
        if token in _SIGNS:
            self._missing(what)
        self._at += 1
        return unquoted(token)

    def _take_list(self, closing: str, what: str) -> list[tuple[str, int]]:
        """Take names up to a closing bracket; return each with its position."""
        found = []
        while not self._accept(closing):
            offset = self._at
            found.append((self._take_name(f"{what} or {closing!r}"), offset))
        return found

    def _skip_property(self) -> None:
        """Skip to the semicolon at the end of a property.

        If it is missing, braces do not match: the property's block ends first, or the next block begins.
        """
        depth = 0
        for offset in range(self._at, len(self._texts)):
            token = self._texts[offset]
            depth += (token == "{") - (token == "}")
            if depth < 0 or token == ";":
                break
        if depth or token != ";":
            self._fail("a property without ';' at its end")
        self._at = offset + 1

    # -- blocks ----------------------------------------------------------------------

    def _read_all(self) -> None:
        readers: dict[str, Callable[[], None]] = {
            "network": self._read_network,
            "variable": self._read_variable,
            "probability": self._read_probability,
            "property": self._skip_property,
        }
        while self._texts[self._at]:
            reader = readers.get(self._texts[self._at].lower())
            if reader is None:
                self._missing("'network', 'variable' or 'probability'")
            self._at += 1
            reader()
        if self.tokens.description(self._at) != "the end of the file":
            self._missing("'network', 'variable' or 'probability'")
        if not self.variables:
            self._fail("the file has no variables")

    def _read_network(self) -> None:
        if self.name is not None:
            self._fail("a second network block; a file holds one network", self._at - 1)
        self.name = "" if self._texts[self._at] == "{" else self._take_name("the name of the network")
        self._expect("{", "after the name of the network")
        while not self._accept("}"):
            if self._texts[self._at].lower() != "property":
                self._missing("'property' or '}' in the network block")
            self._skip_property()

    def _read_variable(self) -> None:
        offset = self._at
        name = self._take_name("the name of a variable")
        self.check_new(name, offset)
        self._expect("{", f"after the name of variable {shown(name)}")
        states: dict[str, int] | None = None
        while not self._accept("}"):
            keyword = self._texts[self._at].lower()
            if keyword == "property":
                self._skip_property()
            elif keyword == "type" and states is None:
                self._at += 1
                states = self._read_type(name)
            else:
                self._missing(f"'type', 'property' or '}}' in variable {shown(name)}")
        if states is None:
            self._fail(f"variable {shown(name)} has no type", offset)
        self.variables[name] = Variable(offset, states)

    def _read_type(self, name: str) -> dict[str, int]:
        if self._texts[self._at].lower() != "discrete":
            self._missing(f"'discrete' as the type of variable {shown(name)}")
        offset = self._at
        self._at += 1
        count = None
        if self._accept("["):
            count = self._take_name("the number of states")
            self._expect("]", "after the number of states")
        self._expect("{", f"before the states of variable {shown(name)}")
        listed = self._take_list("}", "a state")
        self._accept(";")
        states = self.positions(name, listed, offset)
        if count is not None and count != str(len(states)):
            self._fail(
                f"variable {shown(name)} has {len(states)} states where {shortened(count)} are announced",
                offset,
            )
        return states

    def _read_probability(self) -> None:
        offset = self._at
        self._expect("(", "after 'probability'")
        names = self._take_list(")", "the name of a variable")
        if not names:
            self._fail("a probability block without a variable", offset)
        child = names[0][0]
        block = ProbabilityBlock(offset, names)
        self.add_block(child, block)
        self._expect("{", f"after the variables of the probability block of {shown(child)}")
        while not self._accept("}"):
            self._read_entry(block, child)

    def _read_entry(self, block: ProbabilityBlock, child: str) -> None:
        offset = self._at
        keyword = self._texts[offset].lower()
        if keyword == "property":
            self._skip_property()
        elif keyword == "(":
            self._at += 1
            labels = [label for label, _ in self._take_list(")", "a state")]
            block.rows.append(NumberRow(offset, self._read_numbers(child), labels))
        elif keyword in ("table", "default"):
            if getattr(block, keyword) is not None:
                self._fail(f"a second '{keyword}' for {shown(child)}")
            self._at += 1
            setattr(block, keyword, NumberRow(offset, self._read_numbers(child)))
        else:
            self._missing(f"'table', 'default', a row or '}}' in the probability block of {shown(child)}")

    def _read_numbers(self, child: str) -> list[float]:
        """Take the numbers up to the next semicolon."""
        try:
            end = self._texts.index(";", self._at)
            tokens = self._texts[self._at : end]
            numbers = list(map(float, tokens))
        except ValueError:
            numbers = []
        # Python takes 0_1 for a number, BIF does not.
        if not numbers or "_" in "".join(tokens):
            while is_number(self._texts[self._at]):
                self._at += 1
            self._missing(f"a number or ';' in the probabilities of {shown(child)}")
        self._at = end + 1
        return numbers


# All repetitions are possessive (*+): nothing is ever tried twice. What fits nothing, an open quote or
# comment, takes the rest of the text with it, so that it is met once.
_TOKEN = re.compile(
    r"""(?: [\s,|]++ | //[^\n]*+ | /\*.*?\*/ )*+
        (?: ( [{}\[\]();]
            | "(?:[^"\\]++|\\.)*+"
            | (?:[^\s,|{}\[\]();"/]++|/(?![/*]))++
            )
          | .+ | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"""(?:[^\s,|{}\[\]();"/]++|/(?![/*]))++""")
_ESCAPED = re.compile(r'\\(["\\])')


class Tokens:
    r"""Tokens of a text, in order; the last one is empty and marks the end, or unreadable text.

    Examples
    --------
    >>> tokens = Tokens('network x {\n} "')
    >>> tokens.texts
    ['network', 'x', '{', '}', '']
    >>> tokens.line(3), tokens.description(4)
    (2, 'a string that is not closed')
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.texts: list[str] = _TOKEN.findall(text)
        # At the end of the text the expression may match nothing once more.
        del self.texts[self.texts.index("") + 1 :]

    def line(self, number: int) -> int:
        """Return the line, counted from 1, on which a token begins."""
        return self._text.count("\n", 0, self._place(number)) + 1

    def description(self, number: int) -> str:
        """Return the description of a token for a message."""
        token = self.texts[number]
        if token:
            return shown(token)
        rest = self._text[self._place(number) :][:2]
        if rest.startswith('"'):
            return "a string that is not closed"
        return "a comment that is not closed" if rest == "/*" else "the end of the file"

    def _place(self, number: int) -> int:
        """Return the position of a token: split the text again, up to it."""
        match = next(islice(_TOKEN.finditer(self._text), number, None))
        if match.group(1) is not None:
            return match.start(1)
        # What cannot be read begins where a comment or space could not be skipped; the end, at the end.
        begin = _SKIPPED.match(self._text, match.start())
        return begin.end() if begin else match.start()


_SKIPPED = re.compile(r"(?:[\s,|]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)


def unquoted(token: str) -> str:
    r"""Return the name that a word or a string denotes.

    Examples
    --------
    >>> unquoted("a-b"), unquoted('"a b"'), unquoted(r'"say \"b\""')
    ('a-b', 'a b', 'say "b"')
    """
    if not token.startswith('"'):
        return token
    inner = token[1:-1]
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def written(name: str) -> str:
    r"""Return a name as BIF writes it: unquoted if it is a word, because some tools cannot read strings.

    Examples
    --------
    >>> print(written("50-100%"), written("a b"), written('say "b"'))
    50-100% "a b" "say \"b\""
    """
    return name if _WORD.fullmatch(name) else quoted(name)


def write_bif(network: BayesianNetwork, header: Iterable[str] = ()) -> Iterator[str]:
    """Write a network in pieces of text.

    Parameters
    ----------
    network
        Network to write.
    header
        Lines of a comment at the top of the file.

    Examples
    --------
    >>> import f2sl
    >>> graph = f2sl.DAG(["out", "bark"], [("out", "bark")])
    >>> states = {"out": ["yes", "no"], "bark": ["loud", "no bark"]}
    >>> tables = {"out": [0.15, 0.85], "bark": [[0.7, 0.3], [0.01, 0.99]]}
    >>> print(*write_bif(BayesianNetwork(graph, states, tables, name="dogs")), sep="", end="")
    network dogs {
    }
    variable out {
      type discrete [ 2 ] { yes, no };
    }
    variable bark {
      type discrete [ 2 ] { loud, "no bark" };
    }
    probability ( out ) {
      table 0.15, 0.85;
    }
    probability ( bark | out ) {
      (yes) 0.7, 0.3;
      (no) 0.01, 0.99;
    }
    """
    for line in header:
        yield f"// {line}".rstrip() + "\n"
    yield f"network {written(network.name or 'unknown')} {{\n}}\n"
    names = {name: written(name) for name in network.variables}
    states = {name: [written(state) for state in listed] for name, listed in network.states.items()}
    for name, listed in states.items():
        yield f"variable {names[name]} {{\n  type discrete [ {len(listed)} ] {{ {', '.join(listed)} }};\n}}\n"
    for name in network.variables:
        parents, table = network.parents(name), network.tables[name]
        if not parents:
            yield f"probability ( {names[name]} ) {{\n  table {', '.join(map(repr, table.tolist()))};\n}}\n"
            continue
        yield f"probability ( {names[name]} | {', '.join(names[p] for p in parents)} ) {{\n"
        rows = table.reshape(-1, table.shape[-1]).tolist()
        for labels, row in zip(product(*(states[p] for p in parents)), rows, strict=True):
            yield f"  ({', '.join(labels)}) {', '.join(map(repr, row))};\n"
        yield "}\n"
