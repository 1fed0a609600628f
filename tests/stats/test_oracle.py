"""The oracle that stands in for data answers by d-separation, however many questions come at once."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import f2sl
import naive
from f2sl.stats.answers import DEPENDENT, INDEPENDENT
from graphs import numbered_dags
from oracle import Oracle, of_graph


def expected(arrows, x, y, given_sets):
    asked = zip(x.tolist(), y.tolist(), given_sets.tolist(), strict=True)
    return [INDEPENDENT if naive.d_separated(arrows, *question) else DEPENDENT for question in asked]


@given(numbered_dags(most_nodes=6))
def test_every_question_about_a_small_dag(dag):
    n, arrows = dag
    oracle = Oracle(n, arrows)
    for size in range(n - 1):
        rows = [
            (x, y, *given_set)
            for x in range(n)
            for y in range(n)
            for given_set in combinations(sorted(set(range(n)) - {x, y}), size)
            if x != y
        ]
        x, y, given_sets = np.split(np.array(rows, np.int64), [1, 2], axis=1)
        assert oracle.answer(x[:, 0], y[:, 0], given_sets).tolist() == expected(
            arrows, x[:, 0], y[:, 0], given_sets
        )


@pytest.mark.parametrize("size", [0, 1, 3, 6])
def test_questions_about_alarm(size):
    graph = f2sl.load_network("alarm").graph
    rng = np.random.default_rng(size)
    rows = np.stack([rng.permutation(graph.n_nodes)[: size + 2] for _ in range(100)])
    x, y, given_sets = rows[:, 0], rows[:, 1], rows[:, 2:]
    answers = of_graph(graph).answer(x, y, given_sets).tolist()
    assert answers == expected(graph.directed_array.tolist(), x, y, given_sets)
    assert {DEPENDENT, INDEPENDENT} == set(answers)


def test_no_questions_have_no_answers():
    nobody = np.empty(0, np.int64)
    assert Oracle(3, [(0, 1)]).answer(nobody, nobody, np.empty((0, 2), np.int64)).shape == (0,)
