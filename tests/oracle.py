"""A d-separation oracle in place of data: it answers as the DAG does, and never lacks samples."""

import random
from functools import cache

import numpy as np

from f2sl.graph.d_separation import DSeparation
from f2sl.stats.independence import DEPENDENT, INDEPENDENT, UNRELIABLE, Answers
from f2sl.stats.subsets import subsets


class Oracle:
    """Answers by the arrows of a DAG over the variables 0 to n - 1.

    `strengths[x, y]` is the strength of x and y wherever they are dependent; by default 1, so that names
    alone decide the order.
    """

    def __init__(self, n, arrows, strengths=None):
        self.n_tests = self.n_unreliable = 0
        self.n_variables = n
        parents, children = ([[] for _ in range(n)] for _ in range(2))
        for a, b in arrows:
            parents[b].append(a)
            children[a].append(b)
        separation = DSeparation(parents, children)
        self.strengths = np.ones((n, n)) if strengths is None else strengths

        @cache
        def connected(x, given):
            row = np.zeros(n, np.bool_)
            row[list(separation.connected({x}, given))] = True
            return row

        self.connected = connected

    def ask(self, x, y, given):
        self.n_tests += len(x)
        if not len(x):
            return Answers(np.empty(0, np.int8), np.empty(0), np.empty(0), np.empty(0))
        # Questions with one x and one set are answered together.
        rows = np.column_stack([x, np.sort(given, axis=1)])
        if self.n_variables ** rows.shape[1] < 2**62:
            keys = rows @ self.n_variables ** np.arange(rows.shape[1])
            _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        else:
            _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        reached = np.stack([self.connected(row[0], frozenset(row[1:])) for row in rows[first].tolist()])
        dependent = reached[which.ravel(), y]
        strength = np.where(dependent, self.strengths[x, y], 0.0)
        answer = np.where(dependent, DEPENDENT, INDEPENDENT).astype(np.int8)
        return Answers(answer, 1.0 - dependent, strength, strength)

    def answer(self, x, y, given):
        return self.ask(x, y, given).answer

    def room(self, x, y):
        return np.full(len(x), np.inf)

    def configurations(self, given):
        return np.ones(len(given))

    def worth_asking(self, x, y, among, size):
        return subsets(among[(among != x) & (among != y)], size)


def of_graph(graph, strengths=None):
    """Make the oracle of a DAG, its nodes in their order."""
    return Oracle(graph.n_nodes, [tuple(arrow) for arrow in graph.directed_array.tolist()], strengths)


class RandomAnswers(Oracle):
    """Answers at random, though always the same to the same question: no distribution would answer so."""

    def __init__(self, n, seed, independent=0.3, unreliable=0.1):
        super().__init__(n, ())
        self.seed, self.independent, self.unreliable = seed, independent, unreliable
        self.one = cache(self._one)

    def _one(self, x, y, given_set):
        draw = random.Random(f"{self.seed} {x} {y} {given_set}")
        kind = draw.random()
        if kind < self.independent:
            return INDEPENDENT, 1.0
        return (UNRELIABLE if kind > 1 - self.unreliable else DEPENDENT), 2.0 + draw.randrange(20)

    def word(self, x, y, given_set):
        """Answer one question in words, with the strength."""
        answer, strength = self.one(min(x, y), max(x, y), tuple(sorted(given_set)))
        return {DEPENDENT: "dependent", INDEPENDENT: "independent", UNRELIABLE: "unreliable"}[
            answer
        ], strength

    def ask(self, x, y, given):
        self.n_tests += len(x)
        asked = zip(
            np.minimum(x, y).tolist(), np.maximum(x, y).tolist(), np.sort(given).tolist(), strict=True
        )
        told = [self.one(a, b, tuple(given_set)) for a, b, given_set in asked]
        answer = np.array([answer for answer, _ in told], np.int8)
        strength = np.array([strength for _, strength in told], float)
        strength[answer == UNRELIABLE] = np.nan
        return Answers(answer, 10.0**-strength, strength, strength)
