"""The grammar of BIF: from tokens to blocks.

One loop over the tokens, without recursion, so that no nesting can be too deep. Blocks are kept as they stand
in the file, each part with the number of its token; :mod:`f2sl.network.bif_reader` makes a network of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from f2sl.errors import shortened, shown
from f2sl.graph.formats.common import FormatError
from f2sl.network.bif_tokens import Tokens, unquoted

_SIGNS = frozenset("{}[]();") | {""}


@dataclass
class Variable:
    """A variable block: where it begins, and the states with their positions."""

    place: int
    states: dict[str, int]


@dataclass
class Entry:
    """Numbers of a probability block, and where they begin; `labels` are the states of a row."""

    place: int
    numbers: list[float]
    labels: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A probability block, as it stands in the file."""

    place: int
    names: list[tuple[str, int]]
    table: Entry | None = None
    default: Entry | None = None
    rows: list[Entry] = field(default_factory=list)


class Parser:
    """Reads the blocks of a file: `name`, `variables` and `blocks` by name."""

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self._texts = self.tokens.texts
        self._at = 0
        self.name: str | None = None
        self.variables: dict[str, Variable] = {}
        self.blocks: dict[str, Block] = {}
        self._read_all()

    # -- tokens ----------------------------------------------------------------------

    def _fail(self, problem: str, place: int | None = None) -> NoReturn:
        raise FormatError(problem, self.tokens.line(self._at if place is None else place))

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
        """Take names up to a closing sign; give each with its place."""
        found = []
        while not self._accept(closing):
            place = self._at
            found.append((self._take_name(f"{what} or {closing!r}"), place))
        return found

    def _skip_property(self) -> None:
        """Take all up to the next semicolon; one that is missing must not cost the block after it.

        Then braces do not match, since the block that the property stands in ends first, or the next begins.
        """
        depth = 0
        for place in range(self._at, len(self._texts)):
            token = self._texts[place]
            depth += (token == "{") - (token == "}")
            if depth < 0 or token == ";":
                break
        if depth or token != ";":
            self._fail("a property without ';' at its end")
        self._at = place + 1

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
        place = self._at
        name = self._take_name("the name of a variable")
        if not name:
            self._fail("a variable has an empty name", place)
        if name in self.variables:
            first = self.tokens.line(self.variables[name].place)
            self._fail(f"variable {shown(name)} is declared twice, first on line {first}", place)
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
            self._fail(f"variable {shown(name)} has no type", place)
        self.variables[name] = Variable(place, states)

    def _read_type(self, name: str) -> dict[str, int]:
        if self._texts[self._at].lower() != "discrete":
            self._missing(f"'discrete' as the type of variable {shown(name)}")
        place = self._at
        self._at += 1
        count = None
        if self._accept("["):
            count = self._take_name("the number of states")
            self._expect("]", "after the number of states")
        self._expect("{", f"before the states of variable {shown(name)}")
        listed = self._take_list("}", "a state")
        self._accept(";")
        states: dict[str, int] = {}
        for state, where in listed:
            if state in states:
                self._fail(f"variable {shown(name)} has the state {shown(state)} twice", where)
            states[state] = len(states)
        if not states:
            self._fail(f"variable {shown(name)} has no states", place)
        if count is not None and count != str(len(states)):
            self._fail(
                f"variable {shown(name)} has {len(states)} states where {shortened(count)} are announced",
                place,
            )
        return states

    def _read_probability(self) -> None:
        place = self._at
        self._expect("(", "after 'probability'")
        names = self._take_list(")", "the name of a variable")
        if not names:
            self._fail("a probability block without a variable", place)
        child = names[0][0]
        if child in self.blocks:
            first = self.tokens.line(self.blocks[child].place)
            self._fail(f"a second probability block for {shown(child)}, the first is on line {first}", place)
        block = Block(place, names)
        self._expect("{", f"after the variables of the probability block of {shown(child)}")
        while not self._accept("}"):
            self._read_entry(block, child)
        self.blocks[child] = block

    def _read_entry(self, block: Block, child: str) -> None:
        place = self._at
        keyword = self._texts[place].lower()
        if keyword == "property":
            self._skip_property()
        elif keyword == "(":
            self._at += 1
            labels = [label for label, _ in self._take_list(")", "a state")]
            block.rows.append(Entry(place, self._read_numbers(child), labels))
        elif keyword in ("table", "default"):
            if getattr(block, keyword) is not None:
                self._fail(f"a second '{keyword}' for {shown(child)}")
            self._at += 1
            setattr(block, keyword, Entry(place, self._read_numbers(child)))
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
