"""FindVstructure: with a d-separation oracle, like the paper's algorithm word for word, and the votes."""

import tracemalloc
from functools import lru_cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import naive
from f2sl import DAG
from f2sl.constraints import Constraints
from f2sl.learners import v_structures
from f2sl.learners.skeleton import from_edges
from f2sl.learners.v_structures import (
    agreeing,
    directions,
    find_v_structures,
    orient_by_independence,
    triples_in_parts,
    unshielded_triples,
)
from f2sl.stats.answers import DEPENDENT, INDEPENDENT
from f2sl.stats.choose import make_test
from graphs import numbered_dags
from tables import make_engine, related_codes


class Oracle:
    """Answers as the DAG with these arrows does, and never lacks samples."""

    def __init__(self, arrows):
        self.n_tests = self.n_inconclusive = 0
        self.separated = lru_cache(None)(lambda x, y, given: naive.d_separated(arrows, x, y, given))

    def answer(self, x, y, given):
        self.n_tests += len(x)
        asked = zip(x.tolist(), y.tolist(), map(tuple, given.tolist()), strict=True)
        return np.array([INDEPENDENT if self.separated(*q) else DEPENDENT for q in asked], np.int8)

    def max_configurations(self, x, y):
        return np.full(len(x), np.inf)

    def configurations(self, given):
        return np.ones(len(given))


def skeleton_of(n, edges):
    edges = np.array(sorted(edges), np.int64).reshape(-1, 2)
    return from_edges(n, edges, np.ones(len(edges)))


def as_tuples(triples):
    return sorted(map(tuple, triples.tolist()))


def found_by_oracle(n, arrows, max_cond_vars=7):
    return find_v_structures(skeleton_of(n, naive.edges_of(arrows)), Oracle(arrows), max_cond_vars)


NAMED = {
    "chain": (3, ((0, 1), (1, 2)), []),
    "fork": (3, ((1, 0), (1, 2)), []),
    "collider": (3, ((0, 1), (2, 1)), [(0, 1, 2)]),
    "shielded collider": (3, ((0, 1), (2, 1), (0, 2)), []),
    # 1 and 2 are joined by 0 and collide in 3: only the set {0} separates them (step 3).
    "diamond": (4, ((0, 1), (0, 2), (1, 3), (2, 3)), [(1, 3, 2)]),
    "three causes": (4, ((0, 3), (1, 3), (2, 3)), [(0, 3, 1), (0, 3, 2), (1, 3, 2)]),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_graphs(name):
    n, arrows, colliders = NAMED[name]
    assert as_tuples(found_by_oracle(n, arrows).triples) == colliders


def test_sets_beyond_the_limit_are_not_tried():
    # 2 and 3 have the common causes 0 and 1, both needed to separate them, and collide in 4.
    arrows = ((0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4))
    assert (2, 4, 3) in as_tuples(found_by_oracle(5, arrows, 2).triples)
    assert (2, 4, 3) not in as_tuples(found_by_oracle(5, arrows, 1).triples)
    assert as_tuples(found_by_oracle(5, arrows, 0).triples) == [(0, 2, 1), (0, 3, 1)]


def test_two_ways_are_separated_by_both_together():
    """0 -> 1 -> 3 and 0 -> 2 -> 3: all neighbors of 0 are between it and 3, and separate them."""
    found = found_by_oracle(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    assert dict(found.separating_sets) == {(0, 3): (1, 2), (1, 2): (0,)}


@given(numbered_dags())
def test_the_oracle_gives_the_unshielded_colliders(dag):
    n, arrows = dag
    found = found_by_oracle(n, arrows)
    assert as_tuples(found.triples) == naive.unshielded_colliders(n, arrows)
    for (a, d), given_set in found.separating_sets.items():
        assert naive.d_separated(arrows, a, d, given_set)
        assert a < d
    # Both ends of a triple are separated by something, and a collider by something without it.
    ends = {(a, d) for a, _, d in unshielded_triples(skeleton_of(n, naive.edges_of(arrows))).tolist()}
    assert set(found.separating_sets) <= ends
    for a, c, d in found.triples.tolist():
        assert c not in found.separating_sets[a, d]


def test_the_oracle_gives_the_unshielded_colliders_of_all_dags_of_four_nodes():
    dags_of_four = list(naive.all_dags(4))
    assert len(dags_of_four) == 543
    for arrows in dags_of_four:
        assert as_tuples(found_by_oracle(4, arrows).triples) == naive.unshielded_colliders(4, arrows)


@given(numbered_dags())
def test_unshielded_triples(dag):
    n, arrows = dag
    edges = naive.edges_of(arrows)
    adjacent = {*edges, *((b, a) for a, b in edges)}
    expected = [
        [a, c, d]
        for a in range(n)
        for d in range(a + 1, n)
        for c in range(n)
        if (a, c) in adjacent and (c, d) in adjacent and (a, d) not in adjacent
    ]
    skeleton = skeleton_of(n, edges)
    assert unshielded_triples(skeleton).tolist() == expected
    for size in (1, 4):
        parts, shares = zip(*triples_in_parts(skeleton, size), strict=True) if expected else ((), ())
        assert [row for part in parts for row in part.tolist()] == expected
        assert not expected or sum(shares) == pytest.approx(1)
        owners = [set(part[:, 0].tolist()) for part in parts]
        assert all(not one & other for one, other in combinations(owners, 2))


# In these, several C are between a pair, and one of them is in the set that separates the pair: with C itself
# once more beside that set, a test would lack samples, which is not dependence.
@example(random_state=13, n_rows=250, max_cond_vars=3, alpha=0.01, name="g2")
@example(random_state=5, n_rows=400, max_cond_vars=3, alpha=0.3, name="g2")
@pytest.mark.parametrize("batch", [200_000, 3])
@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.sampled_from([15, 40, 90, 250, 400]),
    max_cond_vars=st.integers(0, 3),
    alpha=st.sampled_from([0.01, 0.3]),
    name=st.sampled_from(["g2", "x2"]),
)
def test_on_data_like_the_papers_algorithm(batch, random_state, n_rows, max_cond_vars, alpha, name):
    n = 6
    codes = related_codes(random_state, n_rows, n, most_states=3)
    cardinalities = [int(row.max()) + 1 for row in codes]
    pairs = np.array(list(combinations(range(n), 2)))
    edges = pairs[np.random.default_rng(random_state).random(len(pairs)) < 0.55].tolist()

    @lru_cache(None)
    def ask(a, d, given_set):
        return naive.answer(codes, cardinalities, a, d, given_set, alpha, name)

    with pytest.MonkeyPatch.context() as patch:
        for bound in ("TESTS_PER_BATCH", "TRIPLES_PER_PART", "MEMBERS_AT_A_TIME", "SUBSETS_AT_A_TIME"):
            patch.setattr(v_structures, bound, batch)
        test = make_test(make_engine(codes), alpha, name)
        found = find_v_structures(skeleton_of(n, edges), test, max_cond_vars)
    assert as_tuples(found.triples) == naive.find_v_structures(n, edges, ask, max_cond_vars)
    assert len(found.triples) == len(set(as_tuples(found.triples)))
    for (a, d), given_set in found.separating_sets.items():
        assert ask(a, d, given_set) == "independent"


def test_an_inconclusive_test_counts_as_dependence_and_separates_nothing():
    # 0 and 2 are independent by 20 samples, just enough for two binary variables; given 1 there are too few.
    codes = np.array([[0, 0, 1, 1] * 5, [0, 1, 1, 0] * 5, [0, 1, 0, 1] * 5])
    test = make_test(make_engine(codes), 0.01)
    found = find_v_structures(skeleton_of(3, [(0, 1), (1, 2)]), test)
    assert as_tuples(found.triples) == [(0, 1, 2)]
    assert found.separating_sets == {(0, 2): ()}
    assert (test.n_tests, test.n_inconclusive) == (2, 1)
    # With one sample less the pair itself is unreliable.
    found = find_v_structures(skeleton_of(3, [(0, 1), (1, 2)]), make_test(make_engine(codes[:, 1:]), 0.01))
    assert (as_tuples(found.triples), found.separating_sets) == ([], {})


def test_nothing_to_look_at():
    for n, edges in [(1, []), (4, []), (3, [(0, 1), (0, 2), (1, 2)])]:
        found = find_v_structures(skeleton_of(n, edges), Oracle(()))
        assert found.triples.shape == (0, 3)
        assert found.separating_sets == {}


class OneAnswer:
    """An answer for everybody, which costs nothing."""

    n_tests = n_inconclusive = 0

    def __init__(self, answer):
        self.always = answer

    def answer(self, x, y, given):
        return np.full(len(x), self.always, np.int8)

    def max_configurations(self, x, y):
        return np.zeros(len(x))

    def configurations(self, given):
        return np.ones(len(given))


@pytest.mark.parametrize("answer", [DEPENDENT, INDEPENDENT])
def test_around_a_hub_a_pair_costs_some_bytes(answer, monkeypatch):
    # A star of 1,500 leaves has 1.1 million triples; all of their pairs are separated, or none.
    monkeypatch.setattr(v_structures, "TRIPLES_PER_PART", 50_000)
    n = 1500
    skeleton = skeleton_of(n + 1, [(0, leaf) for leaf in range(1, n + 1)])
    tracemalloc.start()
    found = find_v_structures(skeleton, OneAnswer(answer))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pairs = n * (n - 1) // 2
    assert len(found.triples) == 0
    assert len(found.separating_sets) == (pairs if answer == INDEPENDENT else 0)
    assert peak < 20e6 + 64 * pairs * (answer == INDEPENDENT)


# Votes


def test_the_majority_of_v_structures_decides_by_hand():
    # 0 -> 1 is claimed twice and 1 -> 0 once.
    assert directions(np.array([[0, 1, 2], [0, 1, 3], [1, 0, 4]])) == [(0, 1), (2, 1), (3, 1), (4, 0)]
    # Once each: the edge between 0 and 1 is left alone.
    assert directions(np.array([[0, 1, 2], [1, 0, 4]])) == [(2, 1), (4, 0)]
    assert directions(np.empty((0, 3), np.int64)) == []


@given(st.sets(st.permutations(range(5)).map(lambda p: (*sorted(p[:2]), p[2])), max_size=12))
def test_votes_are_the_naive_ones(claims):
    triples = [(a, c, d) for a, d, c in sorted(claims)]
    assert directions(np.array(triples, np.int64).reshape(-1, 3)) == naive.directions(triples)


# F2SL-c's orientation


def oriented_by_oracle(n, arrows):
    skeleton = skeleton_of(n, naive.edges_of(arrows))
    return orient_by_independence(skeleton, tuple("abcdefg"[:n]), found_by_oracle(n, arrows).triples)


@given(numbered_dags(most_nodes=5))
def test_with_the_oracle_the_orientation_is_what_equivalent_dags_agree_on(dag):
    n, arrows = dag
    found = oriented_by_oracle(n, arrows)
    directed, undirected = naive.cpdag(n, arrows)
    assert sorted(map(tuple, found.directed_array.tolist())) == directed
    assert naive.edges_of(found.undirected_array.tolist()) == undirected


@given(numbered_dags())
def test_with_the_oracle_the_orientation_is_the_cpdag(dag):
    n, arrows = dag
    names = tuple("abcdefg"[:n])
    truth = DAG(names, [(names[u], names[v]) for u, v in arrows])
    assert oriented_by_oracle(n, arrows) == truth.to_cpdag()


def test_orientations_that_would_close_a_cycle_are_left_out():
    # A ring 0 - 1 - 2 with a pendant at each: every collider claims the next arrow of the ring.
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5)]
    triples = np.array([[0, 1, 4], [1, 2, 5], [2, 0, 3]])
    pattern = orient_by_independence(skeleton_of(6, edges), tuple("abcdef"), triples)
    directed = set(pattern.directed_edges)
    # Of the arrows that are claimed once each, the first by name are taken: 2 -> 0 would close the ring.
    assert {("a", "b"), ("b", "c"), ("d", "a"), ("e", "b"), ("f", "c")} <= directed
    assert ("c", "a") not in directed


class TestAgainstKnowledge:
    """Rules force arrows on a skeleton, and forbid v-structures directly and through directed paths."""

    @staticmethod
    def obedient(n, edges, rules):
        """Enumerate the DAGs over a skeleton that keep to the rules."""
        allowed = rules.matrix()
        for way in product(*((edge, edge[::-1]) for edge in edges)):
            if all(allowed is None or allowed[directed_edge] for directed_edge in way) and naive.is_acyclic(
                n, way
            ):
                yield set(way)

    @given(numbered_dags(most_nodes=5), st.data())
    def test_those_left_out_are_those_that_no_obedient_dag_has(self, dag, data):
        n, arrows = dag
        edges = sorted(naive.edges_of(arrows))
        directed_edges = st.sampled_from([*edges, *(edge[::-1] for edge in edges)] or [(0, 1)])
        rules = Constraints.of(n, forbidden=data.draw(st.lists(directed_edges, max_size=4)) if edges else [])
        dags = list(self.obedient(n, edges, rules))
        assume(dags)
        skeleton = skeleton_of(n, edges)
        triples = unshielded_triples(skeleton)
        for triple in triples.tolist():
            a, c, d = triple
            kept = agreeing(skeleton, np.array([triple]), rules).all()
            assert kept == any({(a, c), (d, c)} <= one for one in dags)
        # Those of one DAG do not contradict each other: each that is left is there as a whole, and together
        # they are those of some DAG that keeps to the rules.
        found = np.array([t for t in triples.tolist() if {(t[0], t[1]), (t[2], t[1])} <= set(arrows)])
        found = found.reshape(-1, 3).astype(np.int64)
        kept = found[agreeing(skeleton, found, rules)].tolist()
        both = {directed_edge for a, c, d in kept for directed_edge in ((a, c), (d, c))}
        assert any(both <= one for one in dags)
        graph = orient_by_independence(skeleton, tuple("abcde"[:n]), found, rules)
        assert both <= {(u, v) for u, v in graph.directed_array.tolist()}
        # What is in the graph was forced, claimed by those, or follows by Meek's rules: half of one that was
        # left out is not a claim.
        alone = orient_by_independence(skeleton, tuple("abcde"[:n]), np.array(kept).reshape(-1, 3), rules)
        assert graph == alone
