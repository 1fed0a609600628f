"""Test the colliders of a CPDAG again, with a test that sees more than the score.

An arrow of a CPDAG stands on colliders: a -> c <- b, where a and b have no edge because the score takes
them for independent given other variables. That may be wrong in two ways. Their dependence may not pay for
an edge, although a test has no doubt of it. Or it is of a kind that the score cannot see, such as a curved
one. So the ends of each collider are tested again, given the parents of the later one. Of a number, which is
taken as normal scores of its ranks, both what a regression leaves and the square of that are compared. The
regression has squares of numbers, and an effect of each configuration of states. Where that is how the ends
depend on the parents, what is left is independent, and a right arrow passes with a probability of at least
1 - `LEVEL`.

An arrow into c passes if no test with another parent of c finds a dependence (by Bonferroni's correction),
and one could be made. Other arrows follow by the rules of Meek (1995) from those that pass. The remaining
ones stand on a model that this table does not obey, or that it cannot confirm.

References
----------
.. [1] C. Meek. Causal inference and causal explanation with background knowledge. UAI 1995.
"""

from __future__ import annotations

import math
from collections.abc import Set
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._deadline import checkpoint
from f2sl._threads import one_blas_thread
from f2sl.data.column import CONTINUOUS
from f2sl.data.memory.table import MemoryTable
from f2sl.data.transform import NormalScores
from f2sl.graph import PDAG
from f2sl.stats.tests.base import chi_squared_tail

LEVEL = 0.01
"""Chosen on networks of 15 variables (random, of each kind, linear and curved) and on alarm, insurance, child
and asia, with 500 to 10,000 rows. Of the arrows that replicates repeat, it keeps 95 % of the right ones where
the model holds; where relations are curved, 22 of 52 right and 10 of 34 wrong ones."""
FEW = 5
"""States with fewer rows have no indicator of their own: the approximation by chi-squared needs some rows."""
MOST_STATES, MOST_CONFIGURATIONS = 20, 200
"""Frequent states of a variable that have indicators; and configurations of the given states up to which each
has an effect of its own: the effects of more add up over the variables."""
DETERMINED = 1e-7
"""A column with a smaller share of its variance left is a function of the others."""

Arrow = tuple[int, int]


def standing(table: MemoryTable, cpdag: PDAG, given: set[Arrow]) -> set[Arrow]:
    """Return the arrows, as numbers of columns, that follow from colliders with independent ends.

    Parameters
    ----------
    table : MemoryTable
        Rows to test on, with the columns in the order of the graph's nodes.
    cpdag : PDAG
        The graph.
    given : set of (int, int)
        Arrows that are known, and need no test.
    """
    arrows = {(a, b) for a, b in cpdag.directed_array.tolist()}
    adjacent = _adjacent(cpdag)
    p_values: dict[Arrow, list[float]] = {}
    with one_blas_thread():
        ends = Ends(table, cpdag)
        for c in range(cpdag.n_nodes):
            checkpoint()
            parents = sorted(a for a in adjacent[c] if (a, c) in arrows)
            for a, b in combinations(parents, 2):
                p_value = ends.p_value(a, b) if b not in adjacent[a] else math.nan
                if not math.isnan(p_value):
                    p_values.setdefault((a, c), []).append(p_value)
                    p_values.setdefault((b, c), []).append(p_value)
    failed = {arrow for arrow, found in p_values.items() if min(found) <= LEVEL / len(found)} - given
    return following(arrows, adjacent, (p_values.keys() - failed) | given, failed)


def following(
    arrows: set[Arrow], adjacent: list[set[int]], sure: set[Arrow], never: Set[Arrow] = frozenset()
) -> set[Arrow]:
    """Return the arrows that are sure, and those that follow from them by the four rules of Meek.

    Examples
    --------
    >>> sorted(following({(0, 1), (1, 2)}, [{1}, {0, 2}, {1}], {(0, 1)}))
    [(0, 1), (1, 2)]
    >>> sorted(following({(0, 1), (1, 2)}, [{1}, {0, 2}, {1}], {(1, 2)}))
    [(1, 2)]
    """
    sure = set(sure)
    while True:
        left = arrows - sure - never
        more = {arrow for arrow in left if _follows(*arrow, adjacent, sure)}
        if not more:
            return sure
        sure |= more


def _follows(a: int, b: int, adjacent: list[set[int]], sure: set[Arrow]) -> bool:
    """Return whether a -> b follows from arrows by one rule of Meek."""
    both = adjacent[a] & adjacent[b]
    return (
        any((w, a) in sure for w in adjacent[a] - adjacent[b])
        or any((a, w) in sure and (w, b) in sure for w in both)
        or any(w not in adjacent[v] for v, w in combinations([w for w in both if (w, b) in sure], 2))
        or any(
            (w, v) in sure for v in both if (v, b) in sure for w in adjacent[a] & adjacent[v] - adjacent[b]
        )
    )


def _adjacent(graph: PDAG) -> list[set[int]]:
    """Return the variables that each is adjacent to."""
    adjacent: list[set[int]] = [set() for _ in graph.nodes]
    for a, b in np.concatenate([graph.directed_array, graph.undirected_array]).tolist():
        adjacent[a].add(b)
        adjacent[b].add(a)
    return adjacent


class Ends:
    """Tests whether two variables without an edge are independent given the parents of the later one.

    Parameters
    ----------
    table : MemoryTable
        The rows.
    cpdag : PDAG
        What is given are the parents in one DAG of its class: always the same one.
    """

    def __init__(self, table: MemoryTable, cpdag: PDAG) -> None:
        self._table = table
        self._of_number = [column.kind == CONTINUOUS for column in table.columns]
        self._columns: dict[int, Floats] = {}
        self._parents: list[list[int]] = [[] for _ in cpdag.nodes]
        dag = cpdag.to_dag().reorder(cpdag.nodes)
        for a, b in dag.directed_array.tolist():
            self._parents[b].append(a)
        self._found: dict[Arrow, float] = {}
        self._position = {
            dag.nodes.index(name): position for position, name in enumerate(dag.topological_order())
        }

    def p_value(self, a: int, b: int) -> float:
        """Return the p-value of a < b, NaN if the rows cannot tell."""
        if (a, b) not in self._found:
            later = max(a, b, key=self._position.__getitem__)
            self._found[a, b] = self._tested(a, b, sorted(self._parents[later]))
        return self._found[a, b]

    def _of(self, i: int) -> Floats:
        """Return the columns of a variable."""
        if i not in self._columns:
            self._columns[i] = _columns(self._table, i)
        return self._columns[i]

    def _tested(self, a: int, b: int, given: list[int]) -> float:
        rows = np.logical_and.reduce([np.isfinite(self._of(i)).all(axis=1) for i in (a, b, *given)])
        n_rows = int(np.count_nonzero(rows))
        known = np.concatenate([np.ones((n_rows, 1)), *self._regressors(given, rows)], axis=1)
        freedom = n_rows - known.shape[1]
        if freedom < FEW:
            return math.nan
        products = known.T @ known
        left: list[Floats] = []
        for i in (a, b):
            values = self._of(i)[rows][:, : 1 if self._of_number[i] else None]
            by = np.linalg.lstsq(products, known.T @ values, rcond=1e-10)[0]
            rest = values - known @ by
            rest[:, rest.var(axis=0) <= DETERMINED * values.var(axis=0)] = 0.0
            left.append(np.concatenate([rest, rest**2], axis=1) if self._of_number[i] else rest)
        return p_value_of(left[0], left[1], freedom)

    def _regressors(self, given: list[int], rows: NDArray[np.bool_]) -> list[Floats]:
        """Return numbers with squares, and indicators of the configurations of all states."""
        states = [i for i in given if not self._of_number[i]]
        found = [self._of(i)[rows] for i in given if self._of_number[i]]
        n, which = 1, np.zeros(np.count_nonzero(rows), np.int64)
        for i in states:
            codes = which * len(self._table.columns[i].states) + self._table.column(i)[rows]
            occurring, which = np.unique(codes, return_inverse=True)
            n = len(occurring)
            if n > MOST_CONFIGURATIONS:
                return found + [self._of(j)[rows] for j in states]
        return [*found, (which[:, None] == np.arange(1, n)).astype(np.float64)]


def p_value_of(x: Floats, y: Floats, freedom: int) -> float:
    """Return the p-value of Wilks' test of independence of columns, with Bartlett's correction.

    It is NaN if all columns of one side are constant, or rows too few, and 0.0 if some determine others.

    Examples
    --------
    >>> x = np.array([[1.0], [-1.0]] * 10)
    >>> p_value_of(x, np.repeat([[1.0], [-1.0]], 10, axis=0), freedom=19)
    1.0
    >>> p_value_of(x, 2 * x, freedom=19)
    0.0
    """
    columns = np.concatenate([x, y], axis=1)
    columns = columns - columns.mean(axis=0)
    products = columns.T @ columns
    of_x, of_y = np.arange(x.shape[1]), np.arange(x.shape[1], len(products))
    rank, _, rest = _eliminated(products, of_x, products.diagonal())
    alone = _eliminated(products, of_y, products.diagonal())
    beside = _eliminated(rest, of_y, products.diagonal())
    factor = freedom - (rank + alone[0] + 1) / 2
    if not rank or not alone[0] or factor < FEW:
        return math.nan
    if beside[0] < alone[0]:
        return 0.0
    statistic = np.array([factor * (alone[1] - beside[1])])
    return float(chi_squared_tail(statistic, np.array([rank * alone[0]]))[0])


def _eliminated(products: Floats, columns: Integers, scale: Floats) -> tuple[int, float, Floats]:
    """Eliminate columns; return how many others do not determine, the log of their pivots, and the rest."""
    rank, log = 0, 0.0
    for i in columns:
        pivot = products[i, i]
        if pivot > DETERMINED * scale[i]:
            rank, log = rank + 1, log + float(np.log(pivot))
            products = products - np.outer(products[:, i], products[i]) / pivot
    return rank, log, products


def _columns(table: MemoryTable, i: int) -> Floats:
    """Return normal scores of numbers and their squares, or indicators of states; NaN for missing values."""
    values = table.column(i)
    if table.columns[i].kind == CONTINUOUS:
        scores = NormalScores().of(values)
        return np.stack([scores, scores**2], axis=1)
    n_states = len(table.columns[i].states)
    rows = np.bincount(values, minlength=n_states + 1)[:n_states]
    frequent = np.argsort(-rows, kind="stable")
    common = frequent[rows[frequent] >= FEW][1 : MOST_STATES + 1]  # the most frequent is compared with
    indicators: Floats = (values[:, None] == common).astype(np.float64)
    indicators[values == n_states] = np.nan
    return indicators
