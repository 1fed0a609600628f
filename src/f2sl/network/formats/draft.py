"""Draft of a network while it is read: variables and blocks of numbers, each with its place in the file.

Formats that list variables, and for each its parents and numbers, fill a :class:`Draft`; here the blocks
become a network, and errors name the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import NamedTuple, NoReturn

import numpy as np

from f2sl.constraints import find_cycle
from f2sl.errors import DataError, F2SLError, shown, shown_list, unknown_name
from f2sl.graph import DAG
from f2sl.graph.formats.common import FormatError
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import MOST_CELLS, TOLERANCE, Equation, FloatArray, check_edges, check_size
from f2sl.network.gaussian import GaussianNetwork


@dataclass
class Variable:
    """Variable with the place of its declaration, and its states with their positions; a number has none."""

    offset: int
    states: dict[str, int]


@dataclass
class NumberRow:
    """Numbers of a block, and where they begin; `labels` are the states of a row."""

    offset: int
    numbers: list[float]
    labels: list[str] = field(default_factory=list)


class Normal(NamedTuple):
    """Distribution of a number for one configuration of the parents that have states."""

    intercept: float
    coefficients: dict[str, float]
    variance: float


@dataclass
class ProbabilityBlock:
    """Probabilities of a variable as in the file; `names` are those of the child and its parents.

    In a `table` the child's state changes slowest, or with `child_last` fastest; `normals` are of a number.
    """

    offset: int
    names: list[tuple[str, int]]
    table: NumberRow | None = None
    default: NumberRow | None = None
    rows: list[NumberRow] = field(default_factory=list)
    child_last: bool = False
    normals: list[Normal] = field(default_factory=list)


class Draft:
    """Network read so far; `line` returns the line of a place, which is a line by default.

    Examples
    --------
    >>> draft = Draft()
    >>> draft.add_variable("coin", [("heads", 1), ("tails", 1)], 1)
    >>> draft.add_block("coin", ProbabilityBlock(2, [("coin", 2)], NumberRow(2, [0.5, 0.5])))
    >>> draft.network().tables["coin"].tolist()
    [0.5, 0.5]
    """

    def __init__(self, line: Callable[[int], int] = int) -> None:
        self.line = line
        self.name: str | None = None
        self.variables: dict[str, Variable] = {}
        self.blocks: dict[str, ProbabilityBlock] = {}
        self.cells_with_default = 0

    def fail(self, problem: str, offset: int) -> NoReturn:
        """Raise an error at a place of the file."""
        raise FormatError(problem, self.line(offset))

    def check_new(self, name: str, offset: int) -> None:
        """Raise an error for the name of a variable that is empty or already declared."""
        if not name:
            self.fail("a variable has an empty name", offset)
        if name in self.variables:
            first = self.line(self.variables[name].offset)
            self.fail(f"variable {shown(name)} is declared twice, first on line {first}", offset)

    def add_variable(self, name: str, states: Iterable[tuple[str, int]] | None, offset: int) -> None:
        """Declare a variable with its states, each with its place; a continuous one has none."""
        self.check_new(name, offset)
        self.variables[name] = Variable(
            offset, {} if states is None else self.positions(name, states, offset)
        )

    def positions(self, name: str, states: Iterable[tuple[str, int]], offset: int) -> dict[str, int]:
        """Number the states of a variable."""
        positions: dict[str, int] = {}
        for state, where in states:
            if state in positions:
                self.fail(f"variable {shown(name)} has the state {shown(state)} twice", where)
            positions[state] = len(positions)
        if not positions:
            self.fail(f"variable {shown(name)} has no states", offset)
        return positions

    def add_block(self, child: str, block: ProbabilityBlock) -> None:
        """Add the probabilities of a variable."""
        if child in self.blocks:
            first = self.line(self.blocks[child].offset)
            problem = f"a second probability block for {shown(child)}, the first is on line {first}"
            self.fail(problem, block.offset)
        self.blocks[child] = block

    def network(self) -> BayesianNetwork:
        """Return the network, a :class:`GaussianNetwork` if none of its variables has states.

        Raises
        ------
        FormatError
            If the parts do not fit; the error has the line.
        """
        if not self.variables:
            raise FormatError("the file has no variables")
        for name, variable in self.variables.items():
            if name not in self.blocks:
                self.fail(f"variable {shown(name)} has no probability block", variable.offset)
        parents: dict[str, tuple[str, ...]] = {}
        for child, block in self.blocks.items():
            self._check_names(child, block)
            parents[child] = tuple(name for name, _ in block.names[1:])
        graph = self._graph(parents)
        states = {name: tuple(one.states) for name, one in self.variables.items() if one.states}
        numbers = [name for name in self.variables if name not in states]
        try:
            check_edges(graph, numbers)
            tables = {name: self._table(name, self.blocks[name]) for name in states}
            equations = {name: self._equation(name, self.blocks[name]) for name in numbers}
            network = BayesianNetwork(
                graph, states, tables, equations=equations, parents=parents, name=self.name or ""
            )
        except F2SLError as error:
            raise FormatError(error.note) from None
        return network if states else GaussianNetwork._of(network)

    def _equation(self, child: str, block: ProbabilityBlock) -> Equation:
        """Return the equation of a number: an axis for each parent that has states."""
        parents = [name for name, _ in block.names[1:]]
        shape = [len(self.variables[name].states) for name in parents if self.variables[name].states]
        of_numbers = [name for name in parents if not self.variables[name].states]
        self._check_size(child, [*shape, len(of_numbers) + 2], block)
        if len(block.normals) != prod(shape):
            problem = f"{shown(child)} has {len(block.normals)} distributions, not {prod(shape)}"
            self.fail(f"{problem}: one for each configuration of its discrete parents", block.offset)
        for strange in sorted({name for normal in block.normals for name in normal.coefficients}):
            if strange not in of_numbers:
                problem = f"the mean of {shown(child)} depends on {shown(strange)}, not a numeric parent"
                self.fail(problem, block.offset)
        coefficients = [
            [normal.coefficients.get(name, 0.0) for name in of_numbers] for normal in block.normals
        ]
        return Equation(
            np.reshape([normal.intercept for normal in block.normals], shape),
            np.reshape(coefficients, (*shape, len(of_numbers))),
            np.reshape([normal.variance for normal in block.normals], shape),
        )

    def _check_names(self, child: str, block: ProbabilityBlock) -> None:
        met: set[str] = set()
        for position, (name, offset) in enumerate(block.names):
            if name not in self.variables:
                role = "parent" if position else "variable"
                self.fail(
                    f"probability of {shown(child)}: {unknown_name(role, name, self.variables)}", offset
                )
            if name in met:
                problem = "is its own parent" if name == child else f"has the parent {shown(name)} twice"
                self.fail(f"variable {shown(child)} {problem}", offset)
            met.add(name)

    def _graph(self, parents: dict[str, tuple[str, ...]]) -> DAG:
        number = {name: i for i, name in enumerate(self.variables)}
        edges = [(number[p], number[child]) for child in self.variables for p in parents[child]]
        names = list(number)
        if cycle := find_cycle(edges):
            way = [shown(names[i]) for i in cycle]
            named = way if len(way) <= 8 else [*way[:4], "...", *way[-3:]]
            offset = max(self.blocks[names[i]].offset for i in cycle)
            self.fail(f"the parents form a cycle: {' -> '.join([*named, way[0]])}", offset)
        return DAG(names, [(names[a], names[b]) for a, b in edges])

    def _table(self, child: str, block: ProbabilityBlock) -> FloatArray:
        """Return the table of a variable: one axis for each parent, then the child's."""
        states = [self.variables[name].states for name, _ in block.names[1:]]
        shape = [len(of_parent) for of_parent in states]
        size = len(self.variables[child].states)
        self._check_size(child, [*shape, size], block)
        if block.table is not None:
            return self._whole_table(child, block, block.table, shape, size)
        table = np.empty((*shape, size))
        self._fill(child, block, states, table.reshape(-1, size))
        table.setflags(write=False)
        return table

    def _fill(
        self, child: str, block: ProbabilityBlock, states: list[dict[str, int]], table: FloatArray
    ) -> None:
        """Return a block's rows and default as a table, one configuration a row."""
        rows, size = table.shape
        if block.default is not None:
            self._check_row(child, block.default, size)
            self._check_sums(child, np.array([block.default.numbers]), block)  # whether or not it is used
            table[:] = block.default.numbers
        filled = np.zeros(rows, dtype=bool)
        for entry in block.rows:
            index = self._row_number(child, entry, block, states)
            if filled[index]:
                self.fail(f"a second row ({shown_list(entry.labels)}) for {shown(child)}", entry.offset)
            self._check_row(child, entry, size)
            table[index] = entry.numbers
            filled[index] = True
        if block.default is None and not filled.all():
            position = np.unravel_index(int(filled.argmin()), [*map(len, states)]) if states else ()
            labels = [list(of_parent)[i] for of_parent, i in zip(states, position, strict=True)]
            given = f"for the parents ({shown_list(labels)})" if states else "at all"
            self.fail(f"variable {shown(child)} has no probabilities {given}", block.offset)
        self._check_sums(child, table, block)

    def _check_size(self, child: str, shape: list[int], block: ProbabilityBlock) -> None:
        try:
            check_size(child, shape)
        except DataError as error:
            self.fail(error.note, block.offset)
        # A few lines with many parents must not ask for more memory than there is. Without a default all
        # numbers stand in the file, which limits them.
        if block.default is not None:
            self.cells_with_default += prod(shape)
        if self.cells_with_default > MOST_CELLS:
            problem = f"the tables with a default have more than {MOST_CELLS:,} cells together"
            self.fail(problem, block.offset)

    def _whole_table(
        self, child: str, block: ProbabilityBlock, entry: NumberRow, shape: list[int], size: int
    ) -> FloatArray:
        for other in (*block.rows[:1], *filter(None, [block.default])):
            self.fail(f"both a table and single rows for {shown(child)}", other.offset)
        cells = prod(shape) * size
        if len(entry.numbers) != cells:
            needed = " x ".join(map(str, [*shape, size] if block.child_last else [size, *shape]))
            expected = f"{cells} ({needed})" if shape else f"{cells}"
            self.fail(
                f"the table of {shown(child)} has {len(entry.numbers)} numbers, not {expected}", entry.offset
            )
        if block.child_last:
            table = np.array(entry.numbers).reshape(*shape, size)
        else:
            table = np.moveaxis(np.array(entry.numbers).reshape(size, *shape), 0, -1).copy()
        self._check_sums(child, table.reshape(-1, size), block)
        table.setflags(write=False)
        return table

    def _row_number(
        self, child: str, entry: NumberRow, block: ProbabilityBlock, states: list[dict[str, int]]
    ) -> int:
        if len(entry.labels) != len(states):
            self.fail(
                f"a row of {shown(child)} names {len(entry.labels)} states, "
                f"but there are {len(states)} parents",
                entry.offset,
            )
        number = 0
        for label, of_parent, (parent, _) in zip(entry.labels, states, block.names[1:], strict=True):
            if label not in of_parent:
                problem = unknown_name(f"state of {shown(parent)}", label, of_parent)
                self.fail(f"a row of {shown(child)}: {problem}", entry.offset)
            number = number * len(of_parent) + of_parent[label]
        return number

    def _check_row(self, child: str, entry: NumberRow, size: int) -> None:
        if len(entry.numbers) != size:
            self.fail(
                f"{shown(child)} has {size} states, but {len(entry.numbers)} probabilities are given",
                entry.offset,
            )

    def _check_sums(self, child: str, table: FloatArray, block: ProbabilityBlock) -> None:
        """Raise an error for numbers that are not distributions; the entry is located only then."""
        sums = table.sum(axis=1)
        with np.errstate(invalid="ignore"):
            wrong = ~((table.min(axis=1) >= 0) & (np.abs(sums - 1) <= TOLERANCE))
        if not wrong.any():
            return
        entries = [e for e in (block.table, block.default, *block.rows) if e is not None]
        for entry in entries:
            row = table[int(wrong.argmax())] if entry is block.table else np.array(entry.numbers)
            if not (row >= 0).all():
                self.fail(f"a probability of {shown(child)} is not between 0 and 1", entry.offset)
            if not abs(row.sum() - 1) <= TOLERANCE:
                self.fail(f"probabilities of {shown(child)} sum to {row.sum():.6g}, not to 1", entry.offset)
        self.fail(f"probabilities of {shown(child)} do not sum to 1", block.offset)


def identifiers(names: Iterable[str], prefix: str, reserved: Iterable[str] = ()) -> list[str]:
    """Return for each name one made of letters, digits and underscores that begins with a letter.

    Valid names stay as they are; the others are made distinct by numbers.

    Examples
    --------
    >>> identifiers(["a", "50 %", "a-b", "a b", "net"], "n", ["net"])
    ['a', 'n50', 'a_b', 'a_b_2', 'net_2']
    """
    listed = list(names)
    taken = {*reserved, *(name for name in listed if _IDENTIFIER.fullmatch(name))}
    found = []
    for name in listed:
        if not _IDENTIFIER.fullmatch(name) or name in reserved:
            base = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
            base = base if _IDENTIFIER.fullmatch(base) else prefix + base
            name = next(one for k in count(1) if (one := base if k == 1 else f"{base}_{k}") not in taken)
            taken.add(name)
        found.append(name)
    return found


_IDENTIFIER = re.compile("[A-Za-z][A-Za-z0-9_]*")
