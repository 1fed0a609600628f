"""Copies that move together in a search over orders."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from f2sl.search.orders.determined import candidates_of_originals, originals, with_copies
from f2sl.search.orders.on_demand import OnDemand


@st.composite
def groups(draw):
    """The group of each variable, and pairs that connect every group."""
    n = draw(st.integers(1, 8))
    group = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    members = {g: [v for v in range(n) if group[v] == g] for g in group}
    pairs = []
    for own in members.values():
        chain = draw(st.permutations(own))
        pairs += [sorted(pair) for pair in pairwise(chain)]
    pairs = draw(st.permutations(pairs))
    return group, np.array(pairs, np.int64).reshape(-1, 2)


@given(groups())
def test_original_is_the_first_of_its_group(drawn):
    group, pairs = drawn
    assert originals(len(group), pairs).tolist() == [group.index(g) for g in group]


@given(groups(), st.data())
def test_candidates_and_orders_of_originals(drawn, data):
    """Beside sets of pairs, and with the copies of each variable directly behind it."""
    group, pairs = drawn
    n = len(group)
    first = originals(n, pairs)
    every = [(v, u) for v in range(n) for u in range(v)]
    adjacent = data.draw(st.sets(st.sampled_from(every))) if every else set()
    adjacent |= {(u, v) for v, u in adjacent}
    ordered = sorted(adjacent)
    start = np.searchsorted([v for v, _ in ordered], np.arange(n + 1))
    new_start, found = candidates_of_originals(start, np.array([u for _, u in ordered], np.int64), first)
    expected = {(first[v], first[u]) for v, u in adjacent if first[v] != first[u]}
    assert {(v, u) for v in range(n) for u in found[new_start[v] : new_start[v + 1]]} == expected
    assert len(found) == len(expected)

    order = data.draw(st.permutations(range(n)))
    whole = [v for o in order if first[o] == o for v in range(n) if first[v] == o]
    assert with_copies(np.array(order), first).tolist() == whole


def sampled(name, random_state, rows=3000):
    """Rows of a network with new names at random, a third of the columns twice."""
    frame = f2sl.load_network(name).sample(rows, random_state=random_state)
    draws, n = np.random.default_rng(random_state), frame.shape[1]
    names = [f"V{number:03d}" for number in draws.permutation(2 * n)]
    frame.columns = names[:n]
    for k in draws.choice(n, max(1, n // 3), replace=False):
        frame[names[n + k]] = frame[names[k]]
    return frame[sorted(frame.columns)]


@pytest.mark.parametrize(
    ("name", "random_state", "least"), [("hailfinder", 1, 50.0), ("asia", 1, 0.0), ("child", 2, 0.0)]
)
def test_score_with_moved_copies_is_never_lower(name, random_state, least, monkeypatch):
    """On hailfinder no single variable's move leads to the better graph; joint moves do."""
    frame = sampled(name, random_state)
    with_moves = {measure: f2sl.learn(frame, "f2sl-h", measure=measure) for measure in ("auto", "mi")}
    monkeypatch.setattr(OnDemand, "move_copies", lambda self, best, *_: best)
    for measure, model in with_moves.items():
        without = f2sl.learn(frame, "f2sl-h", measure=measure)
        assert model.score_ >= without.score_ + (least if measure == "auto" else 0.0)


def test_copies_move_under_constraints():
    """Required and forbidden edges hold for copies and originals alike."""
    frame = sampled("insurance", 0)
    free = f2sl.learn(frame, "f2sl-h")
    (a, b), (c, d) = free.graph_.directed_edges[:2]
    knowledge = f2sl.Knowledge(required=[(b, a)], forbidden=[(c, d)])
    model = f2sl.learn(frame, "f2sl-h", knowledge=knowledge)
    assert (b, a) in model.graph_.directed_edges
    assert (c, d) not in model.graph_.directed_edges


@pytest.mark.parametrize("of_copies", ["parent", "child", "both"])
def test_required_edges_at_copies(of_copies):
    """Edges that no data suggest are kept where parent, child or both have copies."""
    draws = np.random.default_rng(7)
    a, b, c, d = draws.integers(0, 2, (4, 400))
    frame = pd.DataFrame({"a": a, "a2": a, "b": a ^ b, "c": c, "c2": c, "d": c ^ (d & b)})
    parent = "d" if of_copies == "child" else "c2"
    child = "b" if of_copies == "parent" else "a2"
    model = f2sl.learn(frame, "f2sl-h", knowledge=f2sl.Knowledge(required=[(parent, child)]))
    assert (parent, child) in model.graph_.directed_edges
