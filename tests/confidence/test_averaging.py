"""The threshold, the bound on false edges and the averaged graph, against naive twins and by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from f2sl import DAG, Knowledge
from f2sl.confidence.average import averaged_graph, bound_on_false_edges, estimated_threshold
from f2sl.constraints import Constraints

shares = st.lists(st.integers(0, 20).map(lambda k: Fraction(k, 20)), min_size=1, max_size=12)


def naive_significant(confidences):
    """Do as the paper says: try every level t of the step function, and integrate |F(x) - t| by pieces."""

    def cdf(x):
        return Fraction(sum(c <= x for c in confidences), len(confidences))

    points = sorted({Fraction(0), Fraction(1), *confidences})

    def distance(t):
        return sum(abs(cdf(left) - t) * (right - left) for left, right in pairwise(points))

    levels = [cdf(x) for x in points]  # the integral is linear in t between these
    least = min(map(distance, levels))
    level = max(t for t in levels if distance(t) == least)  # of several, that with the fewest edges
    cut = min((x for x in points if cdf(x) >= level), default=Fraction(0))
    return [c for c in confidences if c > cut]


@given(shares)
def test_the_threshold_is_that_of_the_least_distance(confidences):
    wanted = naive_significant(confidences)
    threshold = estimated_threshold(np.array([float(c) for c in confidences]))
    # Edges in all replicates are kept whatever the threshold is.
    assert sorted(c for c in confidences if float(c) >= threshold) == sorted(
        wanted or [c for c in confidences if c == 1]
    )


@pytest.mark.parametrize("n_pairs", [1, 40, 500])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
def test_the_bound_holds_for_edges_that_are_taken_at_random(n_pairs, share):
    """Of edges that each half has with the same chance, the expected number above a threshold is known."""
    for halves in (10, 100):
        for needed in range(halves // 2 + 1, halves + 1):
            expected = n_pairs * binom.sf(needed - 1, halves, share)
            bound = bound_on_false_edges(share * n_pairs, n_pairs, needed / halves)
            assert bound >= expected
            # Theorem 1 in its own terms: theta / (2 tau - 1) times the mean number of edges of a half.
            theta = share
            assert bound == pytest.approx(theta / (2 * needed / halves - 1) * share * n_pairs)


def test_there_is_no_bound_up_to_a_half():
    assert bound_on_false_edges(3, 10, 0.5) is None
    assert bound_on_false_edges(0, 0, 0.8) == 0


def average(counts, n=10, threshold=0.5, names="abcd", known=None):
    """Average counts by pair of names: forwards, backwards, undirected."""
    names = list(names)
    pairs = np.array([sorted(map(names.index, pair)) for pair in counts], np.int64).reshape(-1, 2)
    turned = [
        row if names.index(p[0]) < names.index(p[1]) else (row[1], row[0], row[2])
        for p, row in counts.items()
    ]
    rules = known.constraints(names) if known else Constraints.none(len(names))
    rows = np.array(turned, np.int64).reshape(-1, 3)
    return averaged_graph(names, pairs, rows, n, threshold, rules)


def test_edges_below_the_threshold_are_left_out_and_others_keep_their_confidence():
    graph = average({"ab": (4, 0, 1), "bc": (0, 0, 4), "cd": (0, 7, 0)})
    assert graph.weights == {("a", "b"): 0.5, ("d", "c"): 0.7}
    assert graph.directed_edges == [("a", "b"), ("d", "c")]


def test_a_link_without_a_majority_stays_undirected():
    assert average({"ab": (5, 0, 5)}).undirected_edges == [("a", "b")]
    assert average({"ab": (4, 3, 2)}).undirected_edges == [("a", "b")]
    assert average({"ab": (3, 5, 1)}).directed_edges == [("b", "a")]


def test_the_arrow_with_the_fewest_replicates_is_turned_round_where_it_closes_a_cycle():
    # a -> b (9) and b -> c (8) come first; c -> a (7) would close the cycle.
    graph = average({"ab": (9, 0, 0), "bc": (8, 2, 0), "ca": (7, 0, 3)})
    assert graph.directed_edges == [("a", "b"), ("a", "c"), ("b", "c")]
    # With the votes dealt out otherwise, a -> b is the last.
    graph = average({"ab": (6, 0, 0), "bc": (8, 2, 0), "ca": (7, 0, 3)})
    assert graph.directed_edges == [("b", "a"), ("b", "c"), ("c", "a")]


def test_equals_come_in_the_order_of_their_names():
    # All have seven votes of seven: a -> b, then c -> a (as a, c), and b -> c is turned round.
    assert average({"ab": (7, 0, 0), "bc": (7, 0, 0), "ca": (7, 0, 0)}).directed_edges == [
        ("a", "b"),
        ("c", "a"),
        ("c", "b"),
    ]


def test_what_follows_from_arrows_is_directed():
    # a -> c, and c - d would otherwise make a v-structure with it.
    assert average({"ac": (9, 0, 1), "cd": (0, 0, 10)}).directed_edges == [("a", "c"), ("c", "d")]


def test_knowledge_decides_first():
    known = Knowledge(required=[("b", "a")], forbidden=[("c", "d")], forbidden_adjacencies=[("a", "d")])
    # b -> a is required, though most say otherwise; c - d may only be d -> c; a - d may not be.
    graph = average({"ab": (1, 0, 0), "cd": (9, 0, 0), "ad": (9, 0, 0)}, known=known)
    assert graph.directed_edges == [("b", "a"), ("d", "c")]
    # A cycle of edges with one allowed direction: the weakest of them is left out.
    known = Knowledge(forbidden=[("b", "a"), ("c", "b"), ("a", "c")])
    graph = average({"ab": (9, 0, 0), "bc": (8, 0, 0), "ca": (7, 0, 0)}, known=known)
    assert graph.directed_edges == [("a", "b"), ("b", "c")]
    # A cycle of arrows, of which one may not be turned round: it comes first.
    known = Knowledge(forbidden=[("a", "c")])
    graph = average({"ab": (9, 0, 0), "bc": (8, 0, 0), "ca": (7, 0, 0)}, known=known)
    assert graph.directed_edges == [("a", "b"), ("c", "a"), ("c", "b")]


@st.composite
def tallies(draw):
    n = draw(st.integers(2, 6))
    row = st.tuples(*[st.integers(0, 4)] * 3)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = [p for p in pairs if draw(st.booleans())]
    counts = [draw(row) for _ in chosen]
    names = draw(st.permutations("abcdef"[:n]))
    order = list(names) if draw(st.booleans()) else sorted(names)
    cut = draw(st.integers(0, n))
    arcs = [(a, b) for a in names for b in names if a != b]
    known = Knowledge(
        tiers=[order[:cut], order[cut:]] if 0 < cut < n else [],
        forbidden=draw(st.lists(st.sampled_from(arcs), max_size=4)),
    )
    return (
        list(names),
        np.array(chosen, np.int64).reshape(-1, 2),
        np.array(counts, np.int64).reshape(-1, 3),
        known,
    )


@given(tallies(), st.integers(1, 12), st.randoms())
def test_no_averaged_graph_has_a_cycle_or_breaks_the_knowledge(tally, needed, random):
    names, pairs, counts, known = tally
    graph = averaged_graph(names, pairs, counts, 12, needed / 12, known.constraints(names))
    assert not graph.has_directed_cycle()
    assert known.check(graph) == []
    assert isinstance(graph.to_dag(), DAG)
    assert known.check(graph.to_dag()) == []
    enough = {frozenset(p) for p, row in zip(pairs.tolist(), counts, strict=True) if row.sum() >= needed}
    adjacent = np.concatenate([graph.directed_array, graph.undirected_array]).tolist()
    assert {frozenset(p) for p in adjacent} <= enough
    if not known:
        assert {frozenset(p) for p in adjacent} == enough
    # The order of the columns decides nothing.
    order = list(range(len(names)))
    random.shuffle(order)
    position = np.argsort(order)
    moved = position[pairs]
    turned = moved[:, 0] > moved[:, 1]
    again = averaged_graph(
        [names[i] for i in order],
        np.sort(moved, axis=1),
        np.where(turned[:, None], counts[:, [1, 0, 2]], counts),
        12,
        needed / 12,
        known.constraints([names[i] for i in order]),
    )
    assert again == graph
