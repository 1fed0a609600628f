"""One replicate: draw rows, learn from them, and list the edges."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from f2sl._arrays import Integers
from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Table
from f2sl.errors import DataError, F2SLWarning
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import fit_learner

BOOTSTRAP, SUBSAMPLE = "bootstrap", "subsample"
METHODS = (BOOTSTRAP, SUBSAMPLE)
FORWARD, BACKWARD, UNDIRECTED = range(3)
"""Marks of an edge between a pair, its smaller number first; see `Replicate`."""


class Replicate(NamedTuple):
    """Edges found in one replicate.

    Each edge is a number, ``(a * n + b) * 3 + mark`` for variables a < b of n and one of the three marks.
    `complete` is False if a time limit ended the learning early.
    """

    number: int
    edges: Integers
    complete: bool


@dataclass(frozen=True)
class Resampling:
    """Rows of each replicate, by its number and a seed, and the learner that learns from them.

    Parameters
    ----------
    learner : StructureLearner
        Learns from the rows.
    nodes : tuple of str
        The variables of the graphs, in the order that the edges refer to.
    method : {"bootstrap", "subsample"}
        As many rows as there are, drawn with replacement; or a half of them, replicates 2k and 2k + 1 the two
        halves of one division.
    random_state : int
        Each replicate, or pair of halves, has a sequence of random numbers of its own.
    """

    learner: StructureLearner
    nodes: tuple[str, ...]
    method: str
    random_state: int

    def rows(self, number: int, n_rows: int) -> Integers:
        """Return the rows of a replicate, ascending.

        Examples
        --------
        >>> import f2sl
        >>> halves = Resampling(f2sl.F2SLc(), (), "subsample", random_state=1)
        >>> np.union1d(halves.rows(4, 8), halves.rows(5, 8)).tolist()
        [0, 1, 2, 3, 4, 5, 6, 7]
        """
        part, half = (number, 0) if self.method == BOOTSTRAP else divmod(number, 2)
        drawn = np.random.default_rng(np.random.SeedSequence(self.random_state, spawn_key=(part,)))
        if self.method == BOOTSTRAP:
            return np.sort(drawn.integers(n_rows, size=n_rows))
        size = n_rows // 2
        return np.sort(drawn.permutation(n_rows)[half * size : (half + 1) * size])

    def run(self, table: MemoryTable, number: int) -> Replicate:
        """Learn from the rows of one replicate."""
        options = {**self.learner.get_params(), "n_jobs": 1, "verbose": False}
        if "stability" in options:
            options["stability"] = 0  # whether a direction is stable shows in the replicates themselves
        drawn = gathered(table, self.rows(number, table.n_rows))
        varying = _varying(drawn)
        if len(varying) < drawn.n_variables:
            drawn = drawn.select(varying)
            if self.learner.knowledge:
                options["knowledge"] = self.learner.knowledge.about(drawn.names, table.names)
        required = self._required_beyond(drawn, table)
        if drawn.n_variables < 2:
            return Replicate(number, self.edges_of(required), True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", F2SLWarning)
                fitted = fit_learner(type(self.learner)(**options), drawn, {}, remarked=False)
        except DataError as error:
            where = f"replicate {number + 1}, of {drawn.n_rows:,} resampled rows: "
            raise DataError(where, error.note) from None
        edges = np.concatenate([self.edges_of(fitted.graph_), self.edges_of(required)])
        return Replicate(number, np.sort(edges), fitted.complete_)

    def _required_beyond(self, drawn: MemoryTable, table: MemoryTable) -> PDAG:
        """Return the graph of the required edges with an end that a replicate has no column for."""
        known, left = self.learner.knowledge, set(drawn.names)
        if not known or len(left) == table.n_variables:
            return PDAG(table.names)
        names = np.array(table.names, object)
        required = names[known.constraints(table.names).required].tolist()
        return PDAG(table.names, [(u, v) for u, v in required if not {u, v} <= left])

    def edges_of(self, graph: PDAG) -> Integers:
        """Number the edges of a graph, ascending."""
        n, position = len(self.nodes), {name: i for i, name in enumerate(self.nodes)}
        where = np.array([position[name] for name in graph.nodes], np.int64)
        arrows, lines = where[graph.directed_array], where[graph.undirected_array]
        marks = np.where(arrows[:, 0] < arrows[:, 1], FORWARD, BACKWARD)
        marks = np.concatenate([marks, np.full(len(lines), UNDIRECTED)])
        low, high = np.sort(np.concatenate([arrows, lines]), axis=1).T
        return np.sort((low * n + high) * 3 + marks)


def gathered(table: Table, rows: Integers) -> MemoryTable:
    """Return the table of some rows, which may occur several times; its states and their order stay.

    The rows of a table that is not in memory are ascending.
    """
    columns, values = [], []
    for i, column in enumerate(table.columns):
        found, start = [], 0
        for part in table.parts_of_column(i):
            found.append(part[rows[(rows >= start) & (rows < start + len(part))] - start])
            start += len(part)
        values.append(np.concatenate(found))
        missing = np.isnan(values[i]) if column.kind == CONTINUOUS else values[i] == len(column.states)
        columns.append(column._replace(missing=int(missing.sum())))
    codes, numbers = (
        np.array([values[i] for i in table.of_kind(kind)], dtype).reshape(-1, len(rows))
        for kind, dtype in ((DISCRETE, np.uint16), (CONTINUOUS, np.float64))
    )
    return MemoryTable(tuple(columns), codes, numbers.astype(np.float64))


def _varying(table: MemoryTable) -> list[int]:
    """Return the columns that can be used: numbers vary, and some values are present."""
    keep = table.missing < table.n_rows
    of_numbers = [i for i in table.of_kind(CONTINUOUS) if keep[i]]
    numbers = table.numbers[table.positions[of_numbers]]
    keep[of_numbers] = np.nanmin(numbers, axis=1) < np.nanmax(numbers, axis=1)
    return np.flatnonzero(keep).tolist()
