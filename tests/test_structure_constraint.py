"""PC-stable, GSBN, MMHC-c, MMHC and LocalToGlobal: exact on perfect answers; what they give on data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import f2sl
from f2sl.graph import DAG
from f2sl.local.base import Neighbourhood, flatten
from f2sl.local.mmpc import MMPC
from f2sl.orient.by_independence import orient_by_independence
from f2sl.orient.v_structures import find_v_structures
from f2sl.skeleton import join
from f2sl.structure.gsbn import along_paths, colliders_of_blankets, links_of_blankets
from f2sl.structure.pc_stable import stable_skeleton, unseparated_colliders
from oracle import of_graph

NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm", "mildew"]


def sorted_by_name(graph: DAG) -> DAG:
    """List the nodes by name, as learners number them."""
    return graph.reorder(sorted(graph.nodes))


def most_parents(graph: DAG) -> int:
    """Two variables that are not linked are separated by the parents of one of them: so many will do."""
    return max(len(graph.parents(name)) for name in graph.nodes)


def by_pc_stable(graph: DAG):
    found = stable_skeleton(of_graph(graph), most_parents(graph))
    return orient_by_independence(found.skeleton, graph.nodes, unseparated_colliders(found))


def by_gsbn(graph: DAG):
    test = of_graph(graph)
    number = {name: i for i, name in enumerate(graph.nodes)}
    blankets = flatten(
        [
            Neighbourhood(np.array(members, np.int64), np.ones(len(members)))
            for members in ([number[m] for m in graph.markov_blanket(name)] for name in graph.nodes)
        ]
    )
    skeleton, _ = links_of_blankets(test, blankets, "and", most_parents(graph))
    triples = colliders_of_blankets(test, blankets, skeleton, most_parents(graph))
    return along_paths(orient_by_independence(skeleton, graph.nodes, triples))


def by_mmhc_c(graph: DAG):
    test, most = of_graph(graph), most_parents(graph)
    skeleton = join(MMPC(max_cond_vars=most, symmetry="none").find_all(test), "and")
    return orient_by_independence(skeleton, graph.nodes, find_v_structures(skeleton, test, most).triples)


LEARNERS = {"pc-stable": by_pc_stable, "gsbn": by_gsbn, "mmhc-c": by_mmhc_c}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_perfect_answers_give_the_true_class(learner, name):
    graph = sorted_by_name(f2sl.load_network(name).graph)
    assert LEARNERS[learner](graph) == graph.to_cpdag()


@st.composite
def dags(draw):
    n = draw(st.integers(2, 7))
    order = draw(st.permutations(range(n)))
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
    names = [f"v{i}" for i in range(n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return DAG(names, [(names[a], names[b]) for a, b in chosen])


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=60, deadline=None)
@given(graph=dags())
def test_perfect_answers_on_random_graphs(learner, graph):
    assert LEARNERS[learner](graph) == graph.to_cpdag()


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


@pytest.mark.parametrize("learner", CLASSES)
def test_what_was_found_is_there(learner, alarm):
    model = learner().fit(alarm)
    assert model.graph_.nodes == tuple(alarm.columns)
    assert set(model.graph_.skeleton().undirected_edges) <= set(model.skeleton_.undirected_edges)
    assert model.n_tests_ > model.n_unreliable_ >= 0
    linked = set(model.skeleton_.undirected_edges)
    if learner is f2sl.PCStable:
        assert not linked & set(model.separating_sets_)


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
    assert orient == "ci" or model.graph_.is_dag()


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
