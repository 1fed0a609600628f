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
Cozman's definition; pgmpy and pyAgrum read it in the same way.) ``property`` lines are skipped, but for two
of f2sl's own in the network block: ``property f2sl_weak = "0-1 4-2";`` lists edges whose direction is only
weakly decided, by the numbers of parent and child among the variables, and ``f2sl_either_way`` those that may
point the other way.

A file consists of *words*, the symbols ``{ } [ ] ( ) ;``, and strings in double quotes. White space, commas,
bars and comments (``// ...`` to the end of the line, ``/* ... */``) separate them and have no meaning, so
``(a | b, c)`` and ``( "a" "b" "c" )`` are the same. A word is any other sequence of characters:
``LVFAILURE``, ``0.5``, ``50-100%``, ``<5``. A string may contain anything, also line breaks; a quote is
written ``\"`` and a backslash ``\\``.

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
from itertools import product

from f2sl.errors import shortened, shown
from f2sl.graph.formats.common import is_number, quoted
from f2sl.graph.formats.tokens import STRING, Tokens, unquoted
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.draft import Draft, NumberRow, ProbabilityBlock, Variable

_MARKS = {"f2sl_weak": "weak", "f2sl_either_way": "either_way"}
"""Attributes of a graph that properties of the network block keep."""

_SIGNS = frozenset("{}[]();") | {""}
_BETWEEN = r"[\s,|]++ | //[^\n]*+ | /\*.*?\*/"
_WORD = r"""(?:[^\s,|{}\[\]();"/]++|/(?![/*]))++"""
_TOKEN = rf"[{{}}\[\]();] | {STRING} | {_WORD}"


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
    parser = _Parser(text)
    network = parser.draft.network()
    graph = network.graph
    for mark, arrows in parser.marked.items():
        names = {(graph.nodes[a], graph.nodes[b]) for a, b in arrows if max(a, b) < graph.n_nodes}
        setattr(graph, mark, frozenset(names.intersection(graph.directed_edges)))
    return network


class _Parser:
    """Parser of the blocks of a file into a draft, whose places are numbers of tokens.

    `marked` has the arrows whose direction is in doubt, by the attribute of a graph.
    """

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text, _BETWEEN, _TOKEN)
        self.draft = Draft(self.tokens.line)
        self.marked: dict[str, list[tuple[int, int]]] = {}
        self.read_all()

    def take_name(self, what: str) -> str:
        if self.tokens.next in _SIGNS:
            self.tokens.missing(what)
        return unquoted(self.tokens.take())

    def take_list(self, closing: str, what: str) -> list[tuple[str, int]]:
        """Take names up to a closing bracket; return each with its position."""
        found = []
        while not self.tokens.accept(closing):
            offset = self.tokens.at
            found.append((self.take_name(f"{what} or {closing!r}"), offset))
        return found

    def skip_property(self) -> None:
        """Skip to the semicolon at the end of a property.

        If it is missing, braces do not match: the property's block ends first, or the next block begins.
        """
        depth, start = 0, self.tokens.at
        for offset in range(start, len(self.tokens.texts)):
            token = self.tokens.texts[offset]
            depth += (token == "{") - (token == "}")
            if depth < 0 or token == ";":
                break
        if depth or token != ";":
            self.draft.fail("a property without ';' at its end", start)
        self.tokens.at = offset + 1

    def read_all(self) -> None:
        readers: dict[str, Callable[[], None]] = {
            "network": self.read_network,
            "variable": self.read_variable,
            "probability": self.read_probability,
            "property": self.skip_property,
        }
        while self.tokens.next:
            reader = readers.get(self.tokens.next.lower())
            if reader is None:
                self.tokens.missing("'network', 'variable' or 'probability'")
            self.tokens.at += 1
            reader()
        if self.tokens.description(self.tokens.at) != "the end of the file":
            self.tokens.missing("'network', 'variable' or 'probability'")
        if not self.draft.variables:
            self.draft.fail("the file has no variables", self.tokens.at)

    def read_network(self) -> None:
        if self.draft.name is not None:
            self.draft.fail("a second network block; a file holds one network", self.tokens.at - 1)
        self.draft.name = "" if self.tokens.next == "{" else self.take_name("the name of the network")
        self.tokens.expect("{", "after the name of the network")
        while not self.tokens.accept("}"):
            if self.tokens.next.lower() != "property":
                self.tokens.missing("'property' or '}' in the network block")
            start = self.tokens.at
            self.skip_property()
            words = self.tokens.texts[start + 1 : self.tokens.at - 1]
            if len(words) == 3 and words[0] in _MARKS:
                arrows = re.findall(r"\b([0-9]{1,9})-([0-9]{1,9})\b", words[2])
                self.marked[_MARKS[words[0]]] = [(int(a), int(b)) for a, b in arrows]

    def read_variable(self) -> None:
        offset = self.tokens.at
        name = self.take_name("the name of a variable")
        self.draft.check_new(name, offset)
        self.tokens.expect("{", f"after the name of variable {shown(name)}")
        states: dict[str, int] | None = None
        while not self.tokens.accept("}"):
            keyword = self.tokens.next.lower()
            if keyword == "property":
                self.skip_property()
            elif keyword == "type" and states is None:
                self.tokens.at += 1
                states = self.read_type(name)
            else:
                self.tokens.missing(f"'type', 'property' or '}}' in variable {shown(name)}")
        if states is None:
            self.draft.fail(f"variable {shown(name)} has no type", offset)
        self.draft.variables[name] = Variable(offset, states)

    def read_type(self, name: str) -> dict[str, int]:
        if self.tokens.next.lower() != "discrete":
            self.tokens.missing(f"'discrete' as the type of variable {shown(name)}")
        offset = self.tokens.at
        self.tokens.at += 1
        count = None
        if self.tokens.accept("["):
            count = self.take_name("the number of states")
            self.tokens.expect("]", "after the number of states")
        self.tokens.expect("{", f"before the states of variable {shown(name)}")
        listed = self.take_list("}", "a state")
        self.tokens.accept(";")
        states = self.draft.positions(name, listed, offset)
        if count is not None and count != str(len(states)):
            self.draft.fail(
                f"variable {shown(name)} has {len(states)} states where {shortened(count)} are announced",
                offset,
            )
        return states

    def read_probability(self) -> None:
        offset = self.tokens.at
        self.tokens.expect("(", "after 'probability'")
        names = self.take_list(")", "the name of a variable")
        if not names:
            self.draft.fail("a probability block without a variable", offset)
        child = names[0][0]
        block = ProbabilityBlock(offset, names)
        self.draft.add_block(child, block)
        self.tokens.expect("{", f"after the variables of the probability block of {shown(child)}")
        while not self.tokens.accept("}"):
            self.read_entry(block, child)

    def read_entry(self, block: ProbabilityBlock, child: str) -> None:
        offset = self.tokens.at
        keyword = self.tokens.texts[offset].lower()
        if keyword == "property":
            self.skip_property()
        elif keyword == "(":
            self.tokens.at += 1
            labels = [label for label, _ in self.take_list(")", "a state")]
            block.rows.append(NumberRow(offset, self.read_numbers(child), labels))
        elif keyword in ("table", "default"):
            if getattr(block, keyword) is not None:
                self.draft.fail(f"a second '{keyword}' for {shown(child)}", offset)
            self.tokens.at += 1
            setattr(block, keyword, NumberRow(offset, self.read_numbers(child)))
        else:
            self.tokens.missing(
                f"'table', 'default', a row or '}}' in the probability block of {shown(child)}"
            )

    def read_numbers(self, child: str) -> list[float]:
        """Take the numbers up to the next semicolon."""
        try:
            end = self.tokens.texts.index(";", self.tokens.at)
            tokens = self.tokens.texts[self.tokens.at : end]
            numbers = list(map(float, tokens))
        except ValueError:
            numbers = []
        # Python takes 0_1 for a number, BIF does not.
        if not numbers or "_" in "".join(tokens):
            while is_number(self.tokens.next):
                self.tokens.at += 1
            self.tokens.missing(f"a number or ';' in the probabilities of {shown(child)}")
        self.tokens.at = end + 1
        return numbers


def written(name: str) -> str:
    r"""Return a name as BIF writes it: unquoted if it is a word, because some tools cannot read strings.

    Examples
    --------
    >>> print(written("50-100%"), written("a b"), written('say "b"'))
    50-100% "a b" "say \"b\""
    """
    return name if re.fullmatch(_WORD, name) else quoted(name)


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
    yield f"network {written(network.name or 'unknown')} {{\n"
    number = {name: v for v, name in enumerate(network.variables)}
    for mark, attribute in _MARKS.items():
        arrows = sorted((number[a], number[b]) for a, b in getattr(network.graph, attribute))
        if arrows:
            yield f'  property {mark} = "{" ".join(f"{a}-{b}" for a, b in arrows)}";\n'
    yield "}\n"
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
