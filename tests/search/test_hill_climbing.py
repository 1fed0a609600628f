"""Hill climbing: step for step like a search that scores every neighboring graph from nothing."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
from f2sl.search.hill_climbing import hill_climb
from f2sl.stats.choose import make_score
from marks import examples
from tables import make_engine, related_codes

pytestmark = pytest.mark.kernels


def all_edges(n):
    return np.array(list(combinations(range(n), 2)), np.int64).reshape(-1, 2)


def naive_family(codes, score):
    """A naive score of families that remembers what it has scored."""
    cardinalities = [int(row.max()) + 1 for row in codes]
    known = {}

    def family(child, parents):
        if (child, parents) not in known:
            known[child, parents] = naive.SCORES[score](codes, cardinalities, child, parents)
        return known[child, parents]

    return family


def climb(codes, edges, score="bdeu", **options):
    return hill_climb(make_score(make_engine(codes), score), len(codes), np.array(edges), **options)


def as_arrows(climbed):
    return [tuple(arrow) for arrow in climbed.arrows.tolist()]


# On the way of this one an arrow that would have closed a cycle is added after another one has gone.
@example(random_state=17, n=4, prior=0.0, tabu_length=100, max_stall=15)
@pytest.mark.parametrize("score", ["bdeu", "bic"])
@given(
    random_state=st.integers(0, 2**32 - 1),
    n=st.integers(2, 5),
    prior=st.sampled_from([0.0, -2.4, -8.0, 3.0]),
    tabu_length=st.sampled_from([0, 1, 3, 100]),
    max_stall=st.sampled_from([0, 1, 4, 15]),
)
@examples(40)
def test_step_for_step_like_the_naive_search(score, random_state, n, prior, tabu_length, max_stall):
    codes = related_codes(random_state, 60, n, most_states=3)
    rng = np.random.default_rng(random_state)
    edges = all_edges(n)
    edges = edges[rng.random(len(edges)) < 0.8]
    options = {"edge_log_prior": prior, "tabu_length": tabu_length, "max_stall": max_stall}
    climbed = climb(codes, edges, score, **options)
    family = naive_family(codes, score)
    arrows, steps = naive.hill_climb(
        n, [tuple(e) for e in edges.tolist()], family, prior, tabu_length, max_stall
    )
    assert as_arrows(climbed) == arrows
    assert climbed.steps == steps
    assert climbed.score == pytest.approx(naive.graph_score(n, arrows, family, prior), rel=1e-9)


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
@given(random_state=st.integers(0, 2**32 - 1), n=st.integers(1, 6))
@settings(max_examples=20)
def test_what_holds_for_every_result(score, random_state, n):
    codes = related_codes(random_state, 80, n, most_states=3)
    edges = all_edges(n)[:: 1 + random_state % 2]
    scorer = make_score(make_engine(codes), score)
    told = []
    climbed = hill_climb(scorer, n, edges, on_step=lambda step, value: told.append((step, value)))
    arrows = as_arrows(climbed)
    family = naive_family(codes, score)
    assert naive.is_acyclic(n, arrows)
    assert arrows == sorted(arrows)
    assert set(naive.edges_of(arrows)) <= {tuple(e) for e in edges.tolist()}
    assert len(naive.edges_of(arrows)) == len(set(naive.edges_of(arrows)))
    # The score is that of the best graph on the way, the empty one included.
    assert [step for step, _ in told] == list(range(1, climbed.steps + 1))
    empty = naive.graph_score(n, (), family)
    assert climbed.score == pytest.approx(naive.graph_score(n, arrows, family), rel=1e-9)
    assert climbed.score == pytest.approx(max([empty, *(value for _, value in told)]), rel=1e-8)
    # No step from the result leads higher: a higher neighbor would have been taken, or was visited before.
    for graph in naive.neighboring_graphs(n, [tuple(e) for e in edges.tolist()], frozenset(arrows)):
        assert naive.graph_score(n, graph, family) <= climbed.score + 1e-8 * abs(empty) + 1e-8


@pytest.mark.parametrize("score", ["bdeu", "bic"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_never_above_the_best_of_all_dags(n, score):
    for random_state in range(3):
        codes = related_codes(random_state, 100, n, most_states=3)
        family = naive_family(codes, score)
        best = max(naive.graph_score(n, arrows, family) for arrows in naive.all_dags(n))
        found = climb(codes, all_edges(n), score).score
        assert found <= best + 1e-9 * abs(best)
        # Two variables have three graphs, each one step from the empty one.
        if n == 2:
            assert found == pytest.approx(best, rel=1e-12)


def test_a_chain_is_found_and_points_from_the_earlier_name_to_the_later():
    # 1 is 0 with some noise, 2 is 1 with some noise; BDeu cannot tell 0 -> 1 from 1 -> 0.
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 2000)
    second = first ^ (rng.random(2000) < 0.1)
    third = second ^ (rng.random(2000) < 0.1)
    assert as_arrows(climb([first, second, third], all_edges(3))) == [(0, 1), (1, 2)]
    assert as_arrows(climb([first, second, third], [(0, 2)])) == [(0, 2)]


def test_a_collider_is_found():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 2, (2, 2000))
    third = (first | second) ^ (rng.random(2000) < 0.05)
    # 2 comes first by number, so that only the score can make it the collider.
    assert as_arrows(climb([third, first, second], all_edges(3))) == [(1, 0), (2, 0)]


def test_independent_variables_stay_nonadjacent():
    grid = np.indices((2, 2, 2)).reshape(3, 8)
    assert as_arrows(climb(np.tile(grid, 20), all_edges(3))) == []


def test_no_edges_to_use():
    climbed = climb(related_codes(0, 30, 3), np.empty((0, 2), np.int64))
    assert (as_arrows(climbed), climbed.steps) == ([], 0)


def test_the_prior_of_an_edge_can_forbid_all():
    codes = related_codes(4, 100, 4)
    assert as_arrows(climb(codes, all_edges(4), edge_log_prior=-1e6)) == []


def test_a_step_to_an_equal_score_is_no_new_best():
    class Alike:
        def score(self, families):
            return np.full(len(families), -1.0)

    told = []
    climbed = hill_climb(
        Alike(),
        3,
        all_edges(3),
        tabu_length=0,
        max_stall=4,
        on_step=lambda step, value: told.append(value),
    )
    assert told == [-3.0] * 4
    assert (as_arrows(climbed), climbed.steps) == ([], 4)


def test_a_step_that_was_tabu_is_possible_again_elsewhere():
    """Adding 0 -> 1 leads back to the start, and after another step does not."""
    worth = {(1, (0,)): -1.0, (0, (1,)): -10.0, (3, (2,)): -2.0, (2, (3,)): -10.0}

    class Given:
        def score(self, families):
            return np.array([worth.get(family, 0.0) for family in families])

    told = []
    hill_climb(
        Given(),
        4,
        np.array([[0, 1], [2, 3]]),
        start=np.array([[0, 1]]),
        max_stall=2,
        on_step=lambda step, value: told.append(value),
    )
    # 0 -> 1 goes, which is the best there is; 2 -> 3 comes, and then 0 -> 1 costs least.
    assert told == [0.0, -2.0, -3.0]


def test_each_family_is_counted_once():
    engine = make_engine(related_codes(6, 100, 6))
    counted = []
    evaluate = engine.evaluate

    def listening(queries, formula, width=1):
        counted.extend(tuple(queries.variables[a:b].tolist()) for a, b in pairwise(queries.start))
        return evaluate(queries, formula, width)

    engine.evaluate = listening
    scorer = make_score(engine, "k2")
    climbed = hill_climb(scorer, 6, all_edges(6))
    assert climbed.steps > 15
    assert len(counted) == len(set(counted)) == scorer.n_families


@pytest.mark.parametrize("tabu_length", [0, 2, 100])
def test_graphs_with_the_same_mark_are_told_apart(monkeypatch, tabu_length):
    codes = related_codes(17, 60, 5, most_states=3)
    expected = climb(codes, all_edges(5), tabu_length=tabu_length)
    assert expected.steps > 15

    class AllAlike:
        def __init__(self, random_state):
            pass

        def integers(self, high, size):
            return np.zeros(size, np.int64)

    monkeypatch.setattr(np.random, "default_rng", AllAlike)
    found = climb(codes, all_edges(5), tabu_length=tabu_length)
    assert as_arrows(found) == as_arrows(expected)
    assert (found.score, found.steps) == (expected.score, expected.steps)


@given(random_state=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_gains_from_bit_planes_lead_the_same_way_as_scores(random_state):
    class ByScores:
        def __init__(self, families):
            self.score = families.score

    scores = make_score(make_engine(related_codes(random_state, 150, 7)))
    one, other = (hill_climb(families, 7, all_edges(7)) for families in (scores, ByScores(scores)))
    assert as_arrows(one) == as_arrows(other)
    assert (one.score, one.steps) == (other.score, other.steps)


def test_the_order_of_rows_and_states_changes_no_bit():
    codes = related_codes(9, 90, 5)
    rng = np.random.default_rng(0)
    moved = np.stack([rng.permutation(row.max() + 1)[row] for row in codes[:, rng.permutation(90)]])
    one, other = climb(codes, all_edges(5)), climb(moved, all_edges(5))
    assert as_arrows(one) == as_arrows(other)
    assert (one.score, one.steps) == (other.score, other.steps)
