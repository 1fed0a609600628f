"""Constraints on edges, kept by every search: against brute force over all graphs of four variables."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import f2sl
from f2sl.constraints import Constraints
from f2sl.learners.by_weights import acyclic_part
from f2sl.learners.skeleton import constrained, from_edges
from f2sl.learners.v_structures import orient_by_independence
from f2sl.search import continuous
from f2sl.search.continuous import dagma, notears
from f2sl.search.exact import best_networks, count_lattice
from f2sl.search.hill_climbing import Admissible, hill_climb
from f2sl.search.orders import following, search_orders
from f2sl.search.orders.parent_sets import parent_sets
from f2sl.stats.choose import make_score, make_set_scores
from marks import compiled_only
from tables import make_engine, related_codes

N = 4
ARCS = list(permutations(range(N), 2))


def acyclic(directed_edges):
    left, directed_edges = set(range(N)), set(directed_edges)
    while left:
        sources = {v for v in left if not any(b == v and a in left for a, b in directed_edges)}
        if not sources:
            return False
        left -= sources
    return True


def all_dags():
    """List all DAGs over four variables, as sets of arcs: 543 of them (Robinson 1973)."""
    adjacencies = list(combinations(range(N), 2))
    graphs = (
        {(a, b) if way == 1 else (b, a) for (a, b), way in zip(adjacencies, ways, strict=True) if way}
        for ways in product((0, 1, 2), repeat=len(adjacencies))
    )
    return [graph for graph in graphs if acyclic(graph)]


DAGS = all_dags()


def test_there_are_543_dags():
    assert len(DAGS) == 543


def keeps(graph, forbidden, required):
    return not graph & forbidden and required <= graph


@st.composite
def rules(draw):
    """Draw forbidden and required arcs that some DAG keeps."""
    truth = draw(st.sampled_from(DAGS))
    required = {edge for edge in sorted(truth) if draw(st.integers(0, 3)) == 0}
    forbidden = {edge for edge in ARCS if edge not in required and draw(st.integers(0, 2)) == 0}
    return forbidden, required


class TestQuestions:
    def test_nothing_is_forbidden_by_default(self):
        none = Constraints.none(3)
        assert not none
        assert none.allows(np.array([0, 2]), np.array([1, 0])).all()

    @given(rules())
    def test_edges_are_allowed_and_required_as_the_lists_say(self, drawn):
        forbidden, required = drawn
        known = Constraints.of(N, forbidden, required)
        never = forbidden | {(b, a) for a, b in required}
        parents, children = np.array(ARCS).T
        assert known.allows(parents, children).tolist() == [edge not in never for edge in ARCS]
        assert known.requires(parents, children).tolist() == [edge in required for edge in ARCS]
        if known:
            matrix = known.matrix()
            assert [bool(matrix[edge]) for edge in ARCS] == [edge not in never for edge in ARCS]
        adjacencies = [not {(a, b), (b, a)} <= never for a, b in ARCS]
        assert known.allows_adjacency(parents, children).tolist() == adjacencies
        for v in range(N):
            assert known.required_parents(v).tolist() == sorted(u for u, w in required if w == v)

    def test_some_of_the_variables(self):
        some = Constraints.of(4, [(0, 1), (2, 3)], [(3, 1)]).restrict_to(np.array([1, 3]))
        assert some.required.tolist() == [[1, 0]]
        assert some.forbidden.tolist() == [1]  # 0 -> 1, the opposite of what is required


@compiled_only
class TestSearches:
    """Each search finds a graph that keeps the rules; the exact one finds the best that does."""

    @given(rules(), st.integers(0, 1000))
    def test_exact_search_finds_the_best_that_is_allowed(self, drawn, random_state):
        known = Constraints.of(N, *drawn)
        with make_engine(related_codes(random_state, 60, N, 3)) as engine:
            scores = make_set_scores(engine)
            members = np.arange(N)
            lattice = count_lattice(scores, members, constraints=known)
            found = best_networks(lattice.values[None], constraints=known)
            families = make_score(engine)
            best = max(score_of(families, graph) for graph in DAGS if keeps(graph, *drawn))
        graph = {(u, v) for v in range(N) for u in range(N) if found.parents[0, v] >> u & 1}
        assert keeps(graph, *drawn) and acyclic(graph)
        assert found.scores[0] * scores.unit == pytest.approx(best, abs=1e-6)

    @given(rules(), st.integers(0, 1000))
    def test_hill_climbing(self, drawn, random_state):
        known = Constraints.of(N, *drawn)
        with make_engine(related_codes(random_state, 60, N, 3)) as engine:
            families = make_score(engine)
            free = {(a, b) for a, b in hill_climb(families, N, np.array(ARCS)[::2]).arrows.tolist()}
            adjacencies = np.array(list(combinations(range(N), 2)))
            found = hill_climb(
                families, N, adjacencies, start=np.array(sorted(free)).reshape(-1, 2), constraints=known
            )
            graph = {(u, v) for u, v in found.arrows.tolist()}
            assert keeps(graph, *drawn) and acyclic(graph)
            assert found.score == pytest.approx(score_of(families, graph))
            # No single allowed step is better.
            better = [other for other in DAGS if keeps(other, *drawn) and len(other ^ graph) == 1]
            assert all(score_of(families, other) <= found.score + 1e-6 for other in better)

    @given(rules(), st.integers(0, 1000))
    def test_orders(self, drawn, random_state):
        # All sets of up to two parents are scored, so that the best graph is among those searched.
        small = [graph for graph in DAGS if keeps(graph, *drawn) and most_parents(graph) <= 2]
        assume(small)
        known = Constraints.of(N, *drawn)
        start = np.arange(0, N * (N - 1) + 1, N - 1)
        candidates = np.concatenate([np.delete(np.arange(N), v) for v in range(N)])
        with make_engine(related_codes(random_state, 60, N, 3)) as engine:
            families = make_score(engine)
            sets = parent_sets(families, start, candidates, max_parents=2, constraints=known)
            orders = [np.arange(N), np.arange(N)[::-1]]
            found = search_orders(sets, start, candidates, orders, perturbations=20, constraints=known)
            graph = {(u, v) for u, v in found.arrows.tolist()}
            assert keeps(graph, *drawn) and acyclic(graph)
            best = max(score_of(families, other) for other in small)
        assert found.score == pytest.approx(best, abs=1e-6)

    def test_too_many_parents_and_forbidden_ones_score_minus_infinity(self):
        with make_engine(related_codes(1, 60, N, 3)) as engine:
            families = make_score(engine)
            known = Constraints.of(N, [(0, 1)], [(2, 3)])
            asked = [(1, ()), (1, (0,)), (1, (2, 3)), (3, ()), (3, (2,))]
            scores = Admissible(families, 1, known).score(asked)
            assert scores[[0, 4]].tolist() == families.score([asked[0], asked[4]]).tolist()
        assert np.isneginf(scores[[1, 2, 3]]).all()


@pytest.mark.parametrize("search", ["notears", "dagma"])
def test_weights_of_forbidden_arcs_are_zero(search, monkeypatch):
    monkeypatch.setattr(continuous, "STEPS", 2000)  # far from the optimum will do
    monkeypatch.setattr(continuous, "LAST_STEPS", 4000)
    rng = np.random.default_rng(1)
    columns = [rng.normal(size=300)]
    for _ in range(N - 1):
        columns.append(columns[-1] + rng.normal(size=300))
    covariance = np.cov(np.array(columns))
    allowed = ~np.eye(N, dtype=bool)
    allowed[0, 1] = allowed[2, 3] = False
    options = {"lambda1": 0.1, "watch": lambda weights, done: None}
    if search == "notears":
        weights = notears(covariance, max_iter=3, h_tol=1e-8, rho_max=1e16, allowed=allowed, **options)
    else:
        weights = dagma(covariance, allowed=allowed, **options)
    assert (weights[~allowed] == 0).all()
    assert np.abs(weights).max() > 0.3


def test_orders_follow_the_required_edges():
    required = [(3, 0), (1, 3)]
    assert following(np.arange(4), Constraints.of(4, required=required)).tolist() == [1, 2, 3, 0]


def most_parents(graph):
    return max((sum(w == v for _, w in graph) for v in range(N)), default=0)


def score_of(families, graph):
    parents = [tuple(sorted(u for u, w in graph if w == v)) for v in range(N)]
    return float(families.score(list(enumerate(parents))).sum())


def skeleton_of(edges):
    return from_edges(N, np.array(edges, np.int64).reshape(-1, 2), np.ones(len(edges)))


class TestOrientations:
    def test_a_link_with_one_allowed_direction_has_it(self):
        chain = skeleton_of([(0, 1), (1, 2)])
        rules = Constraints.of(N, forbidden=[(1, 0)])
        graph = orient_by_independence(chain, tuple("abcd"), np.empty((0, 3), np.int64), rules)
        # Meek's first rule: c -> b would make a v-structure with a -> b that nobody has seen.
        assert set(graph.directed_edges) == {("a", "b"), ("b", "c")}

    def test_a_v_structure_against_the_rules_is_left_out(self):
        fork = skeleton_of([(0, 1), (1, 2)])
        rules = Constraints.of(N, required=[(1, 2)])
        graph = orient_by_independence(fork, tuple("abcd"), np.array([[0, 1, 2]]), rules)
        assert graph.directed_edges == [("b", "c")] and graph.undirected_edges == [("a", "b")]

    def test_a_link_whose_only_direction_closes_a_cycle_is_dropped(self):
        triangle = skeleton_of([(0, 1), (0, 2), (1, 2)])
        rules = Constraints.of(N, forbidden=[(0, 1)], required=[(0, 2), (2, 1)])
        graph = orient_by_independence(triangle, tuple("abcd"), np.empty((0, 3), np.int64), rules)
        assert set(graph.directed_edges) == {("a", "c"), ("c", "b")} and not graph.undirected_edges

    def test_forbidden_adjacencies_leave_the_skeleton_and_required_ones_join_it(self):
        rules = Constraints.of(N, forbidden=[(0, 1), (1, 0)], required=[(3, 2)])
        found = constrained(skeleton_of([(0, 1), (0, 2)]), rules)
        assert found.edges.tolist() == [[0, 2], [2, 3]]
        # Nothing measured the required one.
        np.testing.assert_array_equal(found.strengths, [1.0, np.nan])

    def test_required_edges_stay_whatever_their_weight(self):
        weights = np.array([[0.0, 0.9, 0.0], [0.8, 0.0, 0.0], [0.0, 0.0, 0.0]])
        kept, threshold = acyclic_part(weights, 0.3, np.array([[1, 0], [0, 2]]))
        assert np.argwhere(kept).tolist() == [[0, 2], [1, 0]]
        assert threshold > 0.9


LEARNERS = {
    "f2sl-c": f2sl.F2SLc(),
    "f2sl-s": f2sl.F2SLs(),
    "f2sl-h": f2sl.F2SLh(),
    "f2sl-h by climbing": f2sl.F2SLh(search="hill-climbing"),
    "mmhc": f2sl.MMHC(),
    "mmhc-c": f2sl.MMHCc(),
    "gsbn": f2sl.GSBN(),
    "pc-stable": f2sl.PCStable(),
    "exact": f2sl.ExactSearch(),
    "sll+c": f2sl.SLLc(),
    "sll+g": f2sl.SLLg(),
    "ggsl": f2sl.GGSL(),
    "local-to-global": f2sl.LocalToGlobal(pc="hiton-pc"),
    "notears": f2sl.NOTEARS(lambda1=0.001, threshold=0.05),
}


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_hands_the_constraints_on(name, monkeypatch):
    """What is learned keeps the rules, whatever the data say; a later fit without rules is free again."""
    table = f2sl.load_example("asia")
    columns = sorted(table.columns)
    number = {column: v for v, column in enumerate(columns)}
    free = LEARNERS[name].fit(table).graph_
    a, b = sorted(free.directed_edges + free.undirected_edges)[0]
    others = combinations([column for column in columns if column not in (a, b)], 2)
    nonadjacent = next((x, y) for x, y in others if y not in free.neighbors(x))
    first, second = number[a], number[b]
    required = [(number[nonadjacent[0]], number[nonadjacent[1]])]
    rules = Constraints.of(len(columns), [(first, second), (second, first)], required)
    with monkeypatch.context() as patch:
        patch.setattr(Constraints, "none", lambda n: rules)
        graph = LEARNERS[name].fit(table).graph_
    assert b not in graph.neighbors(a)
    assert graph.has_directed_edge(*nonadjacent)
    assert LEARNERS[name].fit(table).graph_ == free


def test_total_conditioning_keeps_required_edges():
    """TC takes edges out again that it finds to be between spouses; required ones stay."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 500))
    table = {"a": a, "b": b, "c": a + b + noise}
    assert f2sl.TC().fit(table).graph_.directed_edges == [("a", "c"), ("b", "c")]
    rules = Constraints.of(3, required=[(0, 1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Constraints, "none", lambda n: rules)
        graph = f2sl.TC().fit(table).graph_
    assert graph.has_directed_edge("a", "b")
