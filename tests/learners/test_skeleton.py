"""Joining PC sets into a skeleton by the AND and the OR rule."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl.learners.local.base import Neighborhood, Neighborhoods, flatten, mutual
from f2sl.learners.skeleton import from_edges, join


def neighborhoods(sets, strength=lambda a, b: float(10 * min(a, b) + max(a, b))):
    return flatten(
        [
            Neighborhood(np.array(members, np.int64), np.array([strength(v, w) for w in members], float))
            for v, members in enumerate(sets)
        ]
    )


def assert_consistent(skeleton):
    """What a skeleton says in three ways, it says three times the same."""
    edges = [tuple(edge) for edge in skeleton.edges.tolist()]
    assert edges == sorted(set(edges))
    for v in range(skeleton.n):
        near = sorted({b for a, b in edges if a == v} | {a for a, b in edges if b == v})
        assert skeleton.adjacent_to(v).tolist() == near
    first, second = np.array([(a, b) for a in range(skeleton.n) for b in range(skeleton.n)], np.int64).T
    adjacent = [(min(a, b), max(a, b)) in edges for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    assert skeleton.adjacent(first, second).tolist() == adjacent


def test_who_did_not_finish_has_no_say():
    # 0 names 1, and is not named; 2 names 1 and 3, neither of which has finished.
    sets = replace(neighborhoods([[1], [], [1, 3], []]), finished=np.array([True, False, True, False]))
    assert join(sets, "and").edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    all_finished = replace(sets, finished=np.ones(4, np.bool_))
    assert join(all_finished, "and").edges.tolist() == []
    assert mutual(sets).members.tolist() == [1, 1, 3]
    assert mutual(all_finished).members.tolist() == []


def test_and_keeps_edges_that_both_ends_name_and_or_those_that_one_names():
    # 0 and 1 name each other; 1 names 2 and is not named; 3 names 0 and is not named.
    sets = neighborhoods([[1], [2, 0], [], [0]])
    both = join(sets, "and")
    assert (both.edges.tolist(), both.strengths.tolist()) == ([[0, 1]], [1.0])
    either = join(sets, "or")
    assert (either.edges.tolist(), either.strengths.tolist()) == ([[0, 1], [0, 3], [1, 2]], [1.0, 3.0, 12.0])
    assert either.adjacent_to(0).tolist() == [1, 3]
    assert_consistent(both)
    assert_consistent(either)


@given(st.integers(1, 8), st.data())
def test_equal_to_the_naive_rule(n, data):
    others = [[w for w in range(n) if w != v] for v in range(n)]
    sets = [data.draw(st.permutations(o).map(lambda p: p[: len(p) // 2 + 1])) for o in others]
    for symmetry in ("and", "or"):
        skeleton = join(neighborhoods(sets), symmetry)
        assert skeleton.n == n
        assert [tuple(e) for e in skeleton.edges.tolist()] == naive.skeleton(sets, symmetry)
        assert skeleton.strengths.tolist() == [10.0 * a + b for a, b in skeleton.edges.tolist()]
        assert_consistent(skeleton)
        # Each end says how strong the edge is, and the weaker of those that name the other decides.
        told = join(neighborhoods(sets, strength=lambda a, b: float((7 * a + 4 * b) % 11)), symmetry)
        assert told.strengths.tolist() == [
            min(float((7 * v + 4 * w) % 11) for v, w in ((a, b), (b, a)) if w in sets[v])
            for a, b in skeleton.edges.tolist()
        ]


def test_a_link_is_as_strong_as_its_weaker_end_says():
    sets = neighborhoods([[1, 2], [0], [0, 1]], strength=lambda a, b: {0: 5.0, 1: 3.0, 2: 7.0}[a] + b / 10)
    # 0 - 1: 5.1 and 3.0; 0 - 2: 5.2 and 7.0; 1 - 2: only 2 names 1.
    assert join(sets, "and").strengths.tolist() == [3.0, 5.2]
    assert join(sets, "or").strengths.tolist() == [3.0, 5.2, 7.1]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("symmetry", ["and", "or"])
def test_no_edges(n, symmetry):
    empty = Neighborhoods(np.zeros(n + 1, np.int64), np.empty(0, np.int64), np.empty(0))
    skeleton = join(empty, symmetry)
    assert skeleton.edges.shape == (0, 2)
    assert_consistent(skeleton)


def test_all_edges():
    edges = np.array(list(combinations(range(5), 2)))
    skeleton = from_edges(5, edges, np.arange(10.0))
    assert skeleton.edges.tolist() == edges.tolist()
    assert_consistent(skeleton)


def test_flat_form_keeps_each_set_in_its_order():
    sets = neighborhoods([[2, 1], [], [0]])
    assert [sets.of(v)[0].tolist() for v in range(3)] == [[2, 1], [], [0]]
    assert sets.of(0)[1].tolist() == [2.0, 1.0]
