"""Scores of families from one number for each set of variables.

A score that is the same for all DAGs of a Markov equivalence class is a difference: with S a set of
variables and Q the number of all its configurations, seen or not, ::

    score(v | P) = G(P + v) - G(P)

    BDeu   G(S) = sum over the occupied cells of log Gamma(n + ess / Q) - log Gamma(ess / Q)
    BIC    G(S) = sum of n log n - log(N) / 2 * Q

So n variables need 2^n tables, where n 2^(n-1) families would have to be scored. Each G is rounded to
*fixed point*, a whole number of small units. Then scores of families and whole networks are exact: DAGs
that are equivalent have equal scores (turning a covered edge leaves the same sets), so have those
in which a column takes the place of its copy, and nothing that compares scores needs a tolerance.

A set is counted once, whoever asks for it, and the tree of sets knows which were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.errors import OptionError, unknown_name
from f2sl.stats import _kernels
from f2sl.stats._kernels import UNKNOWN
from f2sl.stats.information import LogTable, sums_of_tables
from f2sl.storage.protocol import CountingEngine, Queries, Tables

Nodes = NDArray[np.int32]

LEAST = _kernels.LEAST
"""Values of sets are above; `UNKNOWN` and `IMPOSSIBLE` are below."""

IMPOSSIBLE = UNKNOWN + 1
"""Stands where a set is too large for any family over it to be in a best network."""

MOST_MEMBERS = 40
"""Variables that a set may have: more than any search over all subsets could cope with."""

COUNTS_REMEMBERED = 128
"""Counts below this are so frequent that their terms are kept while a batch is worked on."""

SETS_PER_BATCH = 1 << 15


@dataclass(frozen=True)
class Ceilings:
    """Upper bounds of the scores of families.

    A family of variable v over a set S, and every family of v with these parents and others, scores at most
    ``- weights[v] * sizes[S]`` units. Sizes grow with the set, so the size of a subset may stand in for one
    that is not known (0). Two values that differ by more than `slack` do so in spite of all rounding.

    BIC
        The likelihood is at most 1, so the score is at most minus the penalty, log(N) / 2 * Q (1 - 1 / r)
        (de Campos and Ji 2011, *Efficient structure learning of Bayesian networks using constraints*).
    BDeu
        The score is the log probability of the child's states, predicted one sample after another. The first
        time that a state appears with a configuration of the parents, its probability is at most 1 / r: with
        n samples seen there it is a / (r a + n), where a is the prior of a cell. So the score is at most
        - log r for each occupied cell, and more parents only add to these. De Campos and Ji 2011 count the
        occupied configurations of the parents, which are fewer; Correia, Cussens and de Campos 2020, *On
        pruning for score-based Bayesian network structure learning*, have further bounds.
    """

    weights: Floats
    sizes: Floats
    slack: int

    def learn(self, masks: Integers, occupied: NDArray[np.int32]) -> None:
        """Take note of how many cells of some sets are occupied."""
        self.sizes[masks] = np.maximum(self.sizes[masks], occupied)


class SetScores:
    """The numbers G(S) on an engine's counts, each set counted once.

    Parameters
    ----------
    engine : CountingEngine
        Where tables are counted.
    score : {"bdeu", "bic"}
        The score whose differences are wanted.
    equivalent_sample_size : float
        The weight of BDeu's prior, in samples.

    Attributes
    ----------
    unit : float
        What a value is to be multiplied with, for a log score in nats.
    n_sets : int
        How many sets were counted.
    """

    def __init__(
        self, engine: CountingEngine, score: str = "bdeu", equivalent_sample_size: float = 10.0
    ) -> None:
        if score not in SET_SCORES:
            raise OptionError(unknown_name("score", score, SET_SCORES))
        self.engine = engine
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.n_sets = 0
        self._tree = _SetTree()
        self._values: Integers = np.full(self._tree.room, UNKNOWN, np.int64)
        self._occupied: NDArray[np.int32] = np.zeros(self._tree.room, np.int32)
        self._penalty = 0.5 * math.log(engine.n_rows)
        self._largest_table = self._find_largest_table()
        # Values have to fit into the 53 bits of a float, which is what engines return.
        self.unit = 2.0 ** (math.ceil(math.log2(max(self._largest_value(), 1.0))) - 52)
        self._formula = SetFormula(
            score, equivalent_sample_size, self.unit, self._penalty, LogTable(engine.n_rows)
        )
        self._values[0] = int(self._formula(_everything(engine))[0, 0])

    def _find_largest_table(self) -> float:
        """Say how many configurations a set may have before BIC punishes it more than it can explain.

        For any v of a set with Q configurations, score(v | the others) <= - penalty (Q - Q / r), which is at
        most - penalty Q / 2, and score(v | nothing) >= - N log r - penalty (r - 1). (A variable with one
        state needs no parents anyway.)
        """
        if self.score != "bic" or self._penalty == 0.0:
            return math.inf
        states = max(2, int(self.engine.cardinalities.max()))
        return 2.0 * (self.engine.n_rows * math.log(states) / self._penalty + states)

    def _largest_value(self) -> float:
        """Bound the size of G, in nats."""
        n, ess = self.engine.n_rows, self.equivalent_sample_size
        if self.score == "bic":
            penalty = self._penalty * self._largest_table if self._penalty else 0.0
            return n * math.log(n + 1.0) + penalty
        # The term of a cell with n samples lies between log(ess / Q) and n log(n + ess).
        log_q = float(np.log(np.sort(self.engine.cardinalities)[-MOST_MEMBERS:]).sum())
        return n * max(math.log(n + ess + 1.0), log_q - math.log(ess))

    @property
    def n_remembered(self) -> int:
        """How many sets are remembered, those too large to be counted included."""
        return self._tree._used

    def anew(self) -> SetScores:
        """Give the same scores with nothing remembered."""
        return SetScores(self.engine, self.score, self.equivalent_sample_size)

    def lattices(self, members: Integers) -> Integers:
        """Give the values of all subsets of each row of `members`.

        Parameters
        ----------
        members : array of shape (m, k)
            Sets of k variables, each row in ascending order. Ask for many at once: what is not known
            of all of them is counted together.

        Returns
        -------
        array of shape (m, 2**k)
            In column `mask` the value, in units, of the members whose bits are set in `mask` (bit i for
            member i).
        """
        nodes = self._tree.lattices(np.ascontiguousarray(members, np.int64))
        self._count(nodes.ravel())
        values: Integers = self._values[nodes]
        return values

    def subsets(self, members: Integers, masks: Integers) -> tuple[Integers, NDArray[np.int32]]:
        """Give the values of some subsets of `members`, and the numbers of their cells that are not empty.

        `members` is one set, ascending; bit i of a mask stands for member i. Masks of more than 63 members
        are rows of several words (:func:`words_of`).
        """
        words = masks.reshape(len(masks), _n_words(len(members)))
        nodes = self._tree.subsets(np.ascontiguousarray(members, np.int64), words)
        self._count(nodes)
        return self._values[nodes], self._occupied[nodes]

    def ceilings(self, members: Integers) -> Ceilings:
        """Bound what families over some variables can score, however many parents they have."""
        states = self.engine.cardinalities[members].astype(np.float64)
        # Rounding of G, and what the logarithms of Gamma lose where they are large.
        n, ess = self.engine.n_rows, self.equivalent_sample_size
        lost = 4.0 * float(np.spacing(math.lgamma(n + ess))) / self.unit
        slack = math.ceil(4 * n * (1.0 + lost))
        if self.score == "bdeu":
            return Ceilings(np.log(states) / self.unit, np.zeros(1 << len(members)), slack)
        sizes = np.ones(1)
        for k in states:
            sizes = np.concatenate([sizes, sizes * k])
        return Ceilings(self._penalty * (1.0 - 1.0 / states) / self.unit, sizes, slack)

    def _count(self, nodes: Integers) -> None:
        """Count those sets among `nodes` that are not known."""
        if len(self._values) < self._tree.room:
            more = self._tree.room - len(self._values)
            self._values = np.concatenate([self._values, np.full(more, UNKNOWN)])
            self._occupied = np.concatenate([self._occupied, np.zeros(more, np.int32)])
        # By number, each set shares much with the one before: engines may use that.
        new = np.unique(nodes[self._values[nodes] == UNKNOWN])
        for first in range(0, len(new), SETS_PER_BATCH):
            batch = new[first : first + SETS_PER_BATCH]
            queries = self._tree.queries(batch)
            sizes = _kernels.table_sizes(queries.variables, queries.start, self.engine.cardinalities)
            possible = sizes <= self._largest_table
            if not possible.all():
                self._values[batch[~possible]] = IMPOSSIBLE
                batch = batch[possible]
                queries = self._tree.queries(batch)
            sums = self.engine.evaluate(queries, self._formula, 2)
            self._values[batch] = sums[:, 0].astype(np.int64)
            self._occupied[batch] = sums[:, 1].astype(np.int32)
            self.n_sets += len(batch)


@dataclass(frozen=True)
class SetFormula:
    """Formula for G in units, beside it the number of cells that are not empty (0 where nobody asks)."""

    score: str
    equivalent_sample_size: float
    unit: float
    penalty: float
    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Give both for each table."""
        return SET_SCORES[self.score](self, tables)

    def _bdeu(self, tables: Tables) -> Floats:
        queries = tables.queries
        sizes = _kernels.table_sizes(queries.variables, queries.start, tables.cardinalities)
        different, which = np.unique(sizes, return_inverse=True)
        sums = np.empty((len(queries), 2))
        _kernels.set_sums(
            tables.counts,
            tables.group_start,
            tables.first_group,
            tables.n_groups,
            self.equivalent_sample_size / sizes,
            np.full((len(different), COUNTS_REMEMBERED), UNKNOWN),
            which,
            self.unit,
            sums,
        )
        return sums

    def _bic(self, tables: Tables) -> Floats:
        queries = tables.queries
        sizes = _kernels.table_sizes(queries.variables, queries.start, tables.cardinalities)
        cells, _ = sums_of_tables(tables, self.table)
        fit = np.rint(cells * (self.table.unit / self.unit))
        return np.column_stack([fit - np.rint(self.penalty * sizes / self.unit), np.zeros(len(queries))])


SET_SCORES: dict[str, Callable[[SetFormula, Tables], Floats]] = {
    "bdeu": SetFormula._bdeu,
    "bic": SetFormula._bic,
}
"""Scores that are differences, by the name they are asked for."""


def words_of(masks: Sequence[int], n_members: int) -> Integers:
    """Give masks of any size as rows of words, the first of which has the bits of members 0 to 63.

    Examples
    --------
    >>> words_of([5, 1 << 64], 65).tolist()
    [[5, 0], [0, 1]]
    """
    n_words = _n_words(n_members)
    bits = b"".join([mask.to_bytes(8 * n_words, "little") for mask in masks])
    return np.frombuffer(bits, "<i8").reshape(len(masks), n_words)


def _n_words(n_members: int) -> int:
    return max(1, -(-n_members // 64))


def _everything(engine: CountingEngine) -> Tables:
    """Count the empty set: one cell that holds all samples."""
    borders = np.array([0, 1])
    return Tables(
        Queries(np.empty(0, np.int64), np.zeros(2, np.int64)),
        engine.cardinalities,
        counts=np.array([engine.n_rows]),
        cell_start=borders,
        group_start=borders,
        first_group=np.zeros(1, np.int64),
        n_groups=np.ones(1, np.int64),
        full=np.ones(1, np.bool_),
        n_rows=engine.n_rows,
    )


class _SetTree:
    """Numbers for sets of variables, given out as sets are met for the first time."""

    def __init__(self) -> None:
        self.room = 1 << 12
        """How many sets there is room for."""
        self._used = 1
        self._keys: Integers = np.full(2 * self.room, -1, np.int64)
        self._nodes: Nodes = np.zeros(2 * self.room, np.int32)
        self._parents: Nodes = np.zeros(self.room, np.int32)
        self._smallest: Nodes = np.zeros(self.room, np.int32)

    def lattices(self, members: Integers) -> Integers:
        """Give the numbers of all subsets of each row of `members`."""
        found = np.empty((len(members), 1 << members.shape[1]), np.int64)
        done = 0
        while True:
            done, self._used = _kernels.find_lattices(*self._arrays(), members, done, found)
            if done == len(members):
                return found
            self._grow(found.shape[1])

    def subsets(self, members: Integers, masks: Integers) -> Integers:
        """Give the numbers of some subsets of one set."""
        found = np.empty(len(masks), np.int64)
        done = 0
        while True:
            done, self._used = _kernels.find_subsets(*self._arrays(), members, masks, done, found)
            if done == len(masks):
                return found
            self._grow(len(members))

    def queries(self, nodes: Integers) -> Queries:
        """Turn numbers of sets into questions to an engine."""
        return Queries(*_kernels.list_members(self._parents, self._smallest, nodes))

    def _arrays(self) -> tuple[Integers, Nodes, Nodes, Nodes, int]:
        return self._keys, self._nodes, self._parents, self._smallest, self._used

    def _grow(self, least: int) -> None:
        """Make the tree at least twice as large, with room for `least` sets more."""
        room = self.room
        while room < self._used + least or room == self.room:
            room *= 2
        more = np.zeros(room - self.room, np.int32)
        self._parents = np.concatenate([self._parents, more])
        self._smallest = np.concatenate([self._smallest, more])
        keys, nodes = np.full(2 * room, -1, np.int64), np.zeros(2 * room, np.int32)
        _kernels.put_again(keys, nodes, self._keys, self._nodes)
        self._keys, self._nodes, self.room = keys, nodes, room
