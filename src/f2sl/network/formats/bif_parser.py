"""Read BIF, the most common format of Bayesian networks.

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

The parser is one loop over the tokens, without recursion, so no nesting can be too deep. It stores blocks as
they are in the file, each part with the number of its token; :mod:`f2sl.network.formats.draft` turns them
into a network.

References
----------
.. [1] F. Cozman. The Interchange Format for Bayesian Networks, 1998.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from f2sl.errors import shortened, shown
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.bif_tokens import Tokens, unquoted
from f2sl.network.formats.draft import Block, Draft, Entry, Variable

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
        block = Block(offset, names)
        self.add_block(child, block)
        self._expect("{", f"after the variables of the probability block of {shown(child)}")
        while not self._accept("}"):
            self._read_entry(block, child)

    def _read_entry(self, block: Block, child: str) -> None:
        offset = self._at
        keyword = self._texts[offset].lower()
        if keyword == "property":
            self._skip_property()
        elif keyword == "(":
            self._at += 1
            labels = [label for label, _ in self._take_list(")", "a state")]
            block.rows.append(Entry(offset, self._read_numbers(child), labels))
        elif keyword in ("table", "default"):
            if getattr(block, keyword) is not None:
                self._fail(f"a second '{keyword}' for {shown(child)}")
            self._at += 1
            setattr(block, keyword, Entry(offset, self._read_numbers(child)))
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
            while _is_number(self._texts[self._at]):
                self._at += 1
            self._missing(f"a number or ';' in the probabilities of {shown(child)}")
        self._at = end + 1
        return numbers


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return "_" not in token
