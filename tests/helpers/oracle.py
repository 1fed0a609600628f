"""A d-separation oracle in place of data: it answers as the DAG does, and never lacks samples.

The answers to a batch are found together. Each node has an integer with a bit for each question, and trails
go along the arrows for all questions at once: down the order of the DAG and up again, until nothing is new.
What comes from a parent turns back where it meets an observed node: so colliders above that node open, too.
"""

import random
from functools import cache
from graphlib import TopologicalSorter

import networkx as nx
import numpy as np

from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, Answers


def bits(rows):
    """Make an integer of each row of truth values, a bit for each."""
    return [int.from_bytes(row) for row in np.packbits(rows, axis=1)]


def unpacked(integers, length):
    """Make truth values of integers again."""
    width = (length + 7) // 8
    rows = np.array([np.frombuffer(integer.to_bytes(width), np.uint8) for integer in integers])
    return np.unpackbits(rows, axis=1, count=length).astype(np.bool_)


class Oracle:
    """Answers by the arrows of a DAG over the variables 0 to n - 1.

    `strengths[x, y]` is the strength of x and y wherever they are dependent; by default 1, so that names
    alone decide the order.
    """

    def __init__(self, n, arrows, strengths=None):
        self.n_tests = self.n_inconclusive = 0
        self.n_variables = n
        parents = {v: [] for v in range(n)}
        for a, b in arrows:
            parents[b].append(a)
        # Every arrow once, by its head: heads come in the order of the DAG.
        self.downward = [(a, b) for b in TopologicalSorter(parents).static_order() for a in parents[b]]
        self.strengths = np.ones((n, n)) if strengths is None else strengths

    def dependent(self, x, y, observed):
        """Say for each question whether a trail from x to y is open; `observed[v]` tells which observe v."""
        number = np.arange(len(x))
        starts = np.zeros_like(observed)
        starts[x, number] = True
        from_child, free, given = bits(starts), bits(~observed), bits(observed)
        from_parent = [0] * self.n_variables
        while True:
            before = from_child.copy()
            for a, b in self.downward:
                from_parent[b] |= (from_child[a] | from_parent[a]) & free[a]
            for a, b in reversed(self.downward):
                from_child[a] |= (from_child[b] & free[b]) | (from_parent[b] & given[b])
            if from_child == before:
                break
        reached = [one | other for one, other in zip(from_child, from_parent, strict=True)]
        return unpacked(reached, len(x))[y, number]

    def ask(self, x, y, given, enough=None):
        self.n_tests += len(x)
        observed = np.zeros((self.n_variables, len(x)), np.bool_)
        observed[given.T, np.arange(len(x))] = True
        dependent = self.dependent(x, y, observed)
        strength = np.where(dependent, self.strengths[x, y], 0.0)
        answer = np.where(dependent, DEPENDENT, INDEPENDENT).astype(np.int8)
        return Answers(answer, 1.0 - dependent, strength, strength)

    def answer(self, x, y, given):
        return self.ask(x, y, given).answer

    def max_configurations(self, x, y):
        return np.full(len(x), np.inf)

    def configurations(self, given):
        return np.ones(len(given))


def of_graph(graph, strengths=None):
    """Make the oracle of a DAG, its nodes in their order."""
    return Oracle(graph.n_nodes, [tuple(arrow) for arrow in graph.directed_array.tolist()], strengths)


def nearness(graph):
    """Strengths for the oracle of a DAG: the nearer in the graph, the stronger."""
    n = graph.n_nodes
    strengths = np.full((n, n), 1.0 / (1 + n))
    for a, lengths in nx.all_pairs_shortest_path_length(nx.Graph(graph.directed_array.tolist())):
        for b, length in lengths.items():
            strengths[a, b] = 1.0 / (1 + length)
    return strengths


class RandomAnswers(Oracle):
    """Answers at random, though always the same to the same question: no distribution would answer so."""

    def __init__(self, n, random_state, independent=0.3, inconclusive=0.1):
        super().__init__(n, ())
        self.random_state, self.independent, self.inconclusive = random_state, independent, inconclusive
        self.one = cache(self._one)

    def _one(self, x, y, given_set):
        draw = random.Random(f"{self.random_state} {x} {y} {given_set}")
        kind = draw.random()
        if kind < self.independent:
            return INDEPENDENT, 1.0
        return (INCONCLUSIVE if kind > 1 - self.inconclusive else DEPENDENT), 2.0 + draw.randrange(20)

    def word(self, x, y, given_set):
        """Answer one question in words, with the strength."""
        answer, strength = self.one(min(x, y), max(x, y), tuple(sorted(given_set)))
        return {DEPENDENT: "dependent", INDEPENDENT: "independent", INCONCLUSIVE: "inconclusive"}[
            answer
        ], strength

    def ask(self, x, y, given, enough=None):
        self.n_tests += len(x)
        asked = zip(
            np.minimum(x, y).tolist(), np.maximum(x, y).tolist(), np.sort(given).tolist(), strict=True
        )
        told = [self.one(a, b, tuple(given_set)) for a, b, given_set in asked]
        answer = np.array([answer for answer, _ in told], np.int8)
        strength = np.array([strength for _, strength in told], float)
        strength[answer == INCONCLUSIVE] = np.nan
        return Answers(answer, 10.0**-strength, strength, strength)
