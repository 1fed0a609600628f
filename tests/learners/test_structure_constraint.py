"""PC-stable, GSBN, MMHC-c, MMHC and LocalToGlobal: exact on perfect answers; what they give on data."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import f2sl
import naive
import naive_structure
from f2sl import DAG
from f2sl.learners import gsbn, pc_stable
from f2sl.learners.local import base
from f2sl.learners.local.separating_sets import named_sets
from f2sl.learners.pc_stable import StableSkeleton, unseparated_colliders
from f2sl.learners.skeleton import from_edges
from graphs import named_dags
from marks import examples, few_examples
from naive_local import asker
from oracle import RandomAnswers
from perfect_answers import LARGEST_SET, LEARNERS, NETWORKS, by_gsbn, most_ancestors_in_blankets, true_graph
from tables import make_table, related_codes


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_perfect_answers_give_the_true_class(learner, name):
    graph = true_graph(name)
    # PC-stable and MMHC-c look among the neighbors of both, where fewer separate what is not adjacent.
    largest = most_ancestors_in_blankets(graph) if learner == "gsbn" else LARGEST_SET.get(name, 3)
    assert LEARNERS[learner](graph, largest) == graph.to_cpdag()


def test_gsbn_can_need_more_than_there_are_parents():
    # y -> x -> z, and two more ways from y to z: over c and u, and over d and v. The blanket of y is the
    # smaller, and beside x it takes all the rest of it: c and d to close the ways, and their other parents
    # p and q, which c and d as colliders open. With 3, as many as any variable has parents, y -> x <- z is
    # claimed, and so y -> x, where the truth has no direction.
    arrows = ["yc", "pc", "yd", "qd", "cu", "pu", "dv", "qv", "uz", "vz", "yx", "xz", "zi", "zj", "zk"]
    graph = DAG(list("cdijkpquvxyz"), [tuple(arrow) for arrow in arrows])
    assert graph.to_cpdag().has_undirected_edge("x", "y")
    assert by_gsbn(graph, 3).has_directed_edge("y", "x")
    assert by_gsbn(graph, 4) == graph.to_cpdag()
    assert most_ancestors_in_blankets(graph) == 5


@pytest.mark.parametrize("learner", LEARNERS)
@examples(40)
@given(graph=named_dags())
def test_perfect_answers_on_random_graphs(learner, graph):
    assert LEARNERS[learner](graph, graph.n_nodes) == graph.to_cpdag()


# Beside naive learners, where answers contradict each other


def number(name):
    return int(name.removeprefix("v"))


def by_numbers(graph):
    """Arrows and undirected edges of a graph whose variables `make_table` has named."""
    arrows = {(number(a), number(b)) for a, b in graph.directed_edges}
    return arrows, {frozenset((number(a), number(b))) for a, b in graph.undirected_edges}


def taught(learner, n, make_answers):
    """Fit a learner that is given these answers to its questions, whatever the data."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (base, gsbn, pc_stable):
            patch.setattr(module, "make_test", lambda *data, **how: make_answers())
        return learner.fit(make_table([[0, 1]] * n))


contradictory = {
    "random_state": st.integers(0, 2**32 - 1),
    "n": st.integers(2, 6),
    "k": st.sampled_from([None, 0, 1, 2, 3]),
    "independent": st.sampled_from([0.05, 0.1, 0.3]),
}


# It matters here that neighbors stay until their level ends, and which end's separating set is kept.
@example(random_state=0, n=6, k=None, independent=0.1)
@example(random_state=3, n=5, k=2, independent=0.3)
@examples(40)
@given(**contradictory)
def test_pc_stable_is_the_naive_one(random_state, n, k, independent):
    answers = RandomAnswers(n, random_state, independent)
    model = taught(f2sl.PCStable(max_cond_vars=k), n, lambda: answers)
    edges, separating, colliders = naive_structure.pc_stable(n, answers.word, k)
    assert by_numbers(model.skeleton_) == (set(), {frozenset(edge) for edge in edges})
    found = {
        tuple(map(number, pair)): tuple(map(number, members))
        for pair, members in model.separating_sets_.items()
    }
    assert found == separating
    assert by_numbers(model.graph_) == naive_structure.oriented(n, edges, colliders)


# In these two an edge points along a directed path in the end, and no rule of Meek's says so.
@example(random_state=9, n=6, k=1, independent=0.05, symmetry="and")
@example(random_state=29, n=6, k=1, independent=0.05, symmetry="or")
# Here two blankets are of a size, and it matters which of them is taken.
@example(random_state=9, n=6, k=1, independent=0.3, symmetry="or")
@examples(40)
@given(**contradictory, symmetry=st.sampled_from(["and", "or"]))
def test_gsbn_is_the_naive_one(random_state, n, k, independent, symmetry):
    answers = RandomAnswers(n, random_state, independent)
    model = taught(f2sl.GSBN(max_cond_vars=k, symmetry=symmetry), n, lambda: answers)
    assert by_numbers(model.graph_) == naive_structure.gsbn(n, answers.word, answers.word, k, symmetry)


@few_examples
@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.sampled_from([60, 150, 400]),
    n=st.integers(2, 7),
    k=st.sampled_from([None, 0, 1, 2]),
    symmetry=st.sampled_from(["and", "or"]),
)
def test_gsbn_on_data_is_the_naive_one(random_state, n_rows, n, k, symmetry):
    codes = related_codes(random_state, n_rows, n, most_states=3)
    cardinalities = [int(row.max()) + 1 for row in codes]

    @cache
    def ask(x, y, given_set):
        # Without degrees of freedom a blanket is not told anything, and an edge is told independence.
        return naive.answer(codes, cardinalities, x, y, given_set, 0.2), None

    model = f2sl.GSBN(alpha=0.2, max_cond_vars=k, symmetry=symmetry).fit(make_table(codes))
    expected = naive_structure.gsbn(n, asker(codes, 0.2, "g2"), ask, k, symmetry)
    assert by_numbers(model.graph_) == expected


CLASSES = [f2sl.PCStable, f2sl.GSBN, f2sl.MMHC, f2sl.MMHCc]


@pytest.fixture(scope="module")
def alarm():
    return f2sl.load_example("alarm")


@pytest.mark.parametrize("learner", CLASSES)
def test_threads_and_columns_do_not_matter(learner, alarm):
    known = learner(n_jobs=1).fit(alarm)
    shuffled = alarm[np.random.default_rng(0).permutation(alarm.columns)].sample(frac=1, random_state=1)
    other = learner(n_jobs=2).fit(shuffled)
    assert other.graph_ == known.graph_
    assert other.separating_sets_ == known.separating_sets_
    assert other.n_tests_ == known.n_tests_


def test_pc_stable_does_not_mind_which_name_comes_first(alarm):
    few = alarm.head(300)
    turned = dict(zip(sorted(few.columns), sorted(few.columns, reverse=True), strict=True))
    one = f2sl.PCStable().fit(few).skeleton_
    other = f2sl.PCStable().fit(few.rename(columns=turned)).skeleton_
    assert {frozenset((turned[a], turned[b])) for a, b in one.undirected_edges} == set(
        map(frozenset, other.undirected_edges)
    )


@pytest.mark.parametrize("learner", CLASSES)
def test_what_was_found_is_there(learner, alarm):
    model = learner().fit(alarm)
    assert model.graph_.nodes == tuple(alarm.columns)
    assert set(model.graph_.skeleton().undirected_edges) <= set(model.skeleton_.undirected_edges)
    assert model.n_tests_ > model.n_inconclusive_ >= 0
    adjacent = set(model.skeleton_.undirected_edges)
    if learner is f2sl.PCStable:
        assert not adjacent & set(model.separating_sets_)


def test_named_learners_are_compositions(alarm):
    pairs = [
        (f2sl.MMHC(), f2sl.LocalToGlobal(pc="mmpc", orient="score")),
        (f2sl.MMHCc(), f2sl.LocalToGlobal(pc="mmpc", orient="ci")),
        (f2sl.F2SLc(), f2sl.LocalToGlobal(pc="fcbf", orient="ci")),
        (f2sl.F2SLs(), f2sl.LocalToGlobal(pc="fcbf", orient="score")),
        (f2sl.F2SLc(ties="keep"), f2sl.LocalToGlobal(pc="fcbf", pc_options={"ties": "keep"})),
    ]
    for named, composed in pairs:
        assert named.fit(alarm).graph_ == composed.fit(alarm).graph_


@pytest.mark.parametrize("pc", ["fcbf", "mrmr", "mmpc", "hiton-pc", "pc-simple"])
@pytest.mark.parametrize("orient", ["ci", "score"])
def test_any_combination_learns(alarm, pc, orient):
    model = f2sl.LocalToGlobal(pc=pc, orient=orient).fit(alarm)
    assert model.graph_.n_edges > 20
    assert orient == "ci" or model.dag_.is_dag()


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (f2sl.LocalToGlobal(pc="mpc"), ["'mpc'", "'mmpc'"]),
        (f2sl.LocalToGlobal(orient="both"), ["orient", "'ci'", "'score'"]),
        (f2sl.LocalToGlobal(pc_options={"detla": 1}), ["'detla'", "'delta'"]),
        (f2sl.PCStable(alpha=2), ["alpha"]),
        (f2sl.PCStable(max_cond_vars=-1), ["max_cond_vars"]),
        (f2sl.GSBN(symmetry="xor"), ["symmetry"]),
        (f2sl.MMHC(score="loglik"), ["score", "'bdeu'"]),
        (f2sl.MMHCc(ci_test="t"), ["ci_test"]),
    ],
)
def test_refusals(alarm, learner, words):
    with pytest.raises(f2sl.F2SLError) as caught:
        learner.fit(alarm)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("separating", "expected"), [({}, []), ({(0, 2): ()}, [[0, 1, 2]]), ({(0, 2): (1,)}, [])]
)
def test_a_pair_that_nothing_has_separated_makes_no_collider(separating, expected):
    """As where an edge is forbidden, and so was never tested."""
    chain = from_edges(3, np.array([[0, 1], [1, 2]]), np.ones(2))
    assert unseparated_colliders(StableSkeleton(chain, separating)).tolist() == expected


def test_of_two_sets_that_separate_a_pair_the_first_is_kept():
    sets = {(0, 1): (2,), (1, 0): (), (2, 1): (0,)}
    assert named_sets(sets, ("a", "b", "c")) == {("a", "b"): ("c",), ("b", "c"): ("a",)}


def test_an_edge_along_a_path_keeps_its_weight():
    """a - d is beside the way a -> b -> c -> d, whichever end of it is named first."""
    arrows = {("a", "b"): 0.1, ("b", "c"): 0.2, ("c", "d"): 0.3}
    for nodes in ("abcd", "dcba"):
        graph = f2sl.PDAG(list(nodes), list(arrows), [("a", "d")], weights={**arrows, ("a", "d"): 0.4})
        assert gsbn.along_paths(graph).weights == {**arrows, ("a", "d"): 0.4}


def test_a_link_of_pc_stable_that_could_not_be_tested_has_no_weight_to_speak_of():
    """12 rows are too few for 16 cells, so that nothing separates the two."""
    model = f2sl.PCStable().fit({"a": [0, 1, 2, 3] * 3, "b": [0, 1, 2, 3] * 3})
    assert model.n_inconclusive_ == 1
    assert model.graph_.weights == model.skeleton_.weights == {("a", "b"): 0.0}
