"""Reading BIF, the field's common format of Bayesian networks.

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
counting order of the variables listed: the child's state changes slowest, the last parent's fastest. (That
is Cozman's definition; pgmpy and pyAgrum read it so, too.) ``property`` lines are skipped.

:mod:`f2sl.network.bif_parser` knows the grammar. Here the blocks become a network, and what does not fit is
told with its line.

References
----------
.. [1] F. Cozman. The Interchange Format for Bayesian Networks, 1998.
"""

from __future__ import annotations

from math import prod
from typing import NoReturn

import numpy as np

from f2sl.errors import DataError, shown, shown_list, unknown_name
from f2sl.graph import DAG
from f2sl.graph._arrays import find_cycle
from f2sl.graph.formats.common import FormatError
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.bif_parser import Block, Entry, Parser
from f2sl.network.checks import MOST_CELLS, TOLERANCE, FloatArray, check_size


def read_bif(text: str) -> BayesianNetwork:
    """Read a network from the text of a BIF file.

    Raises
    ------
    FormatError
        If the text is no BIF or describes no network; it knows the line.

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
    return _Assembly(Parser(text)).network()


class _Assembly:
    """Puts blocks together to a network, and finds what does not fit."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.variables = parser.variables
        self.blocks = parser.blocks
        self.cells_with_default = 0

    def fail(self, problem: str, place: int) -> NoReturn:
        raise FormatError(problem, self.parser.tokens.line(place))

    def network(self) -> BayesianNetwork:
        for name, variable in self.variables.items():
            if name not in self.blocks:
                self.fail(f"variable {shown(name)} has no probability block", variable.place)
        parents: dict[str, tuple[str, ...]] = {}
        for child, block in self.blocks.items():
            self.check_names(child, block)
            parents[child] = tuple(name for name, _ in block.names[1:])
        graph = self.graph(parents)
        tables = {name: self.table(name, self.blocks[name]) for name in self.variables}
        states = {name: tuple(variable.states) for name, variable in self.variables.items()}
        return BayesianNetwork(graph, states, tables, parents=parents, name=self.parser.name or "")

    def check_names(self, child: str, block: Block) -> None:
        met: set[str] = set()
        for position, (name, place) in enumerate(block.names):
            if name not in self.variables:
                kind = "parent" if position else "variable"
                self.fail(f"probability of {shown(child)}: {unknown_name(kind, name, self.variables)}", place)
            if name in met:
                problem = "is its own parent" if name == child else f"has the parent {shown(name)} twice"
                self.fail(f"variable {shown(child)} {problem}", place)
            met.add(name)

    def graph(self, parents: dict[str, tuple[str, ...]]) -> DAG:
        number = {name: i for i, name in enumerate(self.variables)}
        edges = [(number[p], number[child]) for child in self.variables for p in parents[child]]
        cycle = find_cycle(len(number), np.array(edges, dtype=np.int64).reshape(-1, 2))
        names = list(number)
        if cycle is not None:
            way = [shown(names[i]) for i in cycle]
            told = way if len(way) <= 8 else [*way[:4], "...", *way[-3:]]
            place = max(self.blocks[names[i]].place for i in cycle)
            self.fail(f"the parents form a cycle: {' -> '.join([*told, way[0]])}", place)
        return DAG(names, [(names[a], names[b]) for a, b in edges])

    def table(self, child: str, block: Block) -> FloatArray:
        """Make the table of a variable: one axis for each parent, then the child's."""
        states = [self.variables[name].states for name, _ in block.names[1:]]
        shape = [len(of_parent) for of_parent in states]
        size = len(self.variables[child].states)
        self.check_size(child, [*shape, size], block)
        if block.table is not None:
            return self.whole_table(child, block, block.table, shape, size)
        table = np.empty((*shape, size))
        self.fill(child, block, states, table.reshape(-1, size))
        table.setflags(write=False)
        return table

    def fill(self, child: str, block: Block, states: list[dict[str, int]], table: FloatArray) -> None:
        """Put the rows and the default of a block into a table of one configuration a row."""
        rows, size = table.shape
        if block.default is not None:
            self.check_row(child, block.default, size)
            self.check_sums(child, np.array([block.default.numbers]), block)  # whether or not it is used
            table[:] = block.default.numbers
        filled = np.zeros(rows, dtype=bool)
        for entry in block.rows:
            index = self.row_number(child, entry, block, states)
            if filled[index]:
                self.fail(f"a second row ({shown_list(entry.labels)}) for {shown(child)}", entry.place)
            self.check_row(child, entry, size)
            table[index] = entry.numbers
            filled[index] = True
        if block.default is None and not filled.all():
            position = np.unravel_index(int(filled.argmin()), [*map(len, states)]) if states else ()
            labels = [list(of_parent)[i] for of_parent, i in zip(states, position, strict=True)]
            given = f"for the parents ({shown_list(labels)})" if states else "at all"
            self.fail(f"variable {shown(child)} has no probabilities {given}", block.place)
        self.check_sums(child, table, block)

    def check_size(self, child: str, shape: list[int], block: Block) -> None:
        try:
            check_size(child, shape)
        except DataError as error:
            self.fail(str(error), block.place)
        # A few lines with many parents must not ask for more memory than there is. Without a default all
        # numbers stand in the file, which limits them.
        if block.default is not None:
            self.cells_with_default += prod(shape)
        if self.cells_with_default > MOST_CELLS:
            problem = f"the tables with a default have more than {MOST_CELLS:,} cells together"
            self.fail(problem, block.place)

    def whole_table(self, child: str, block: Block, entry: Entry, shape: list[int], size: int) -> FloatArray:
        for other in (*block.rows[:1], *filter(None, [block.default])):
            self.fail(f"both a table and single rows for {shown(child)}", other.place)
        cells = prod(shape) * size
        if len(entry.numbers) != cells:
            needed = " x ".join(map(str, [size, *shape]))
            told = f"{cells} ({needed})" if shape else f"{cells}"
            self.fail(
                f"the table of {shown(child)} has {len(entry.numbers)} numbers, not {told}", entry.place
            )
        table = np.moveaxis(np.array(entry.numbers).reshape(size, *shape), 0, -1).copy()
        self.check_sums(child, table.reshape(-1, size), block)
        table.setflags(write=False)
        return table

    def row_number(self, child: str, entry: Entry, block: Block, states: list[dict[str, int]]) -> int:
        if len(entry.labels) != len(states):
            self.fail(
                f"a row of {shown(child)} names {len(entry.labels)} states, "
                f"but there are {len(states)} parents",
                entry.place,
            )
        number = 0
        for label, of_parent, (parent, _) in zip(entry.labels, states, block.names[1:], strict=True):
            if label not in of_parent:
                problem = unknown_name(f"state of {shown(parent)}", label, of_parent)
                self.fail(f"a row of {shown(child)}: {problem}", entry.place)
            number = number * len(of_parent) + of_parent[label]
        return number

    def check_row(self, child: str, entry: Entry, size: int) -> None:
        if len(entry.numbers) != size:
            self.fail(
                f"{shown(child)} has {size} states, but {len(entry.numbers)} probabilities are given",
                entry.place,
            )

    def check_sums(self, child: str, table: FloatArray, block: Block) -> None:
        """Refuse numbers that are no distributions; find the entry only if there are any."""
        sums = table.sum(axis=1)
        with np.errstate(invalid="ignore"):
            wrong = ~((table.min(axis=1) >= 0) & (np.abs(sums - 1) <= TOLERANCE))
        if not wrong.any():
            return
        entries = [e for e in (block.table, block.default, *block.rows) if e is not None]
        for entry in entries:
            row = table[int(wrong.argmax())] if entry is block.table else np.array(entry.numbers)
            if not (row >= 0).all():
                self.fail(f"a probability of {shown(child)} is not between 0 and 1", entry.place)
            if not abs(row.sum() - 1) <= TOLERANCE:
                self.fail(f"probabilities of {shown(child)} sum to {row.sum():.6g}, not to 1", entry.place)
        self.fail(f"probabilities of {shown(child)} do not sum to 1", block.place)
