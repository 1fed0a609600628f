"""Confirmed FCBF: all targets, one target and the naive algorithm agree; and what perfect answers give."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import f2sl
import naive_orders
from f2sl import FCBF, ConfirmedFCBF, OptionError
from f2sl.data.engines import FoundPairs
from f2sl.learners.local import confirmed
from f2sl.learners.local.base import Neighborhoods
from f2sl.learners.local.fcbf import relevance_graph
from f2sl.learners.skeleton import join
from f2sl.learners.v_structures import find_v_structures, orient_by_independence
from f2sl.stats.answers import INDEPENDENT
from f2sl.stats.choose import make_test
from graphs import numbered_dags
from marks import compiled_only
from oracle import Oracle
from perfect_answers import LARGEST_SET, NETWORKS, network
from tables import make_engine, related_codes


def questioner(test):
    """Ask a test one question."""

    def independent(x, y, *given_set):
        answer = test.answer(np.array([x]), np.array([y]), np.array([given_set], np.int64))
        return bool(answer[0] == INDEPENDENT)

    return independent


@pytest.mark.parametrize("ties", ["drop", "keep"])
@pytest.mark.parametrize("relevance", ["fdr", "bonferroni"])
@settings(deadline=None)
@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(20, 150), n_variables=st.integers(2, 9))
def test_all_and_one_and_naive_agree(ties, relevance, random_state, n_rows, n_variables):
    codes = related_codes(random_state, n_rows, n_variables)
    engine = make_engine(codes)
    learner = ConfirmedFCBF(relevance=relevance, ties=ties)
    candidates = learner.relevant(engine)
    strengths = {
        frozenset((v, int(w))): round(float(value), 9)
        for v in range(n_variables)
        for w, value in zip(*candidates.of(v), strict=True)
    }
    independent = questioner(make_test(engine, 0.01, samples_per_cell=1.0))
    sets = learner.learn_all(engine)
    for v in range(n_variables):
        members, own_strengths = sets.of(v)
        assert members.tolist() == naive_orders.confirmed(strengths, independent, v, ties)
        alone = learner.learn_one(engine, v)
        assert alone.members.tolist() == members.tolist()
        assert alone.strengths.tolist() == own_strengths.tolist()


@settings(deadline=None, max_examples=30)
@given(random_state=st.integers(0, 2**32 - 1), clean_up=st.integers(1, 3), most=st.integers(1, 7))
def test_the_clean_up_tries_the_weakest_first(random_state, clean_up, most):
    with patch.object(confirmed, "MOST_SEPARATING", most):
        check_the_clean_up(random_state, clean_up, most)


def check_the_clean_up(random_state, clean_up, most):
    engine = make_engine(related_codes(random_state, 120, 7))
    independent = questioner(make_test(engine, 0.5))
    kept = ConfirmedFCBF(alpha=0.05).learn_all(engine)
    cleaned = ConfirmedFCBF(alpha=0.05, clean_up=clean_up).learn_all(engine)
    for v in range(7):
        left = kept.of(v)[0].tolist()
        strongest = left[:most]
        for y in reversed(left.copy()):
            others = [u for u in left if u != y and u in strongest]
            separated = (
                independent(v, y, *chosen)
                for size in range(1, clean_up + 1)
                for chosen in combinations(others, size)
            )
            if any(separated):
                left.remove(y)
        assert cleaned.of(v)[0].tolist() == left
        assert ConfirmedFCBF(alpha=0.05, clean_up=clean_up).learn_one(engine, v).members.tolist() == left


def test_a_redundant_variable_by_hand():
    # b is a with a few samples changed, c follows b: closer to b than to a, and independent of a given b.
    a = np.array([0, 1] * 60)
    b = a.copy()
    b[[0, 1, 2, 3]] ^= 1
    c = b.copy()
    c[[0, 5, 10, 15, 20, 31]] ^= 1
    for learner in (FCBF(), ConfirmedFCBF()):
        sets = learner.learn_all(make_engine([a, b, c]))
        assert sets.of(0)[0].tolist() == [1]


def test_a_true_neighbor_that_looks_redundant_stays():
    # c is decided by a and b together; b is closer to a than to c, which is what FCBF looks at.
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 2000)
    b = np.where(rng.random(2000) < 0.8, a, rng.integers(0, 4, 2000))
    c = np.where(rng.random(2000) < 0.8, (a + b) % 4, rng.integers(0, 4, 2000))
    engine = make_engine([a, b, c])
    assert FCBF(delta=0.001).learn_all(engine).of(2)[0].tolist() != [0, 1]
    assert sorted(ConfirmedFCBF().learn_all(engine).of(2)[0].tolist()) == [0, 1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"relevance": "su"}, "relevance"),
        ({"alpha": 0}, "alpha"),
        ({"clean_up": -1}, "clean_up"),
        ({"ties": "x"}, "ties"),
        ({"measure": "x"}, "measure"),
        ({"ci_test": "x"}, "ci_test"),
    ],
)
def test_confirmed_fcbf_refuses_unknown_and_impossible_options(options, told):
    with pytest.raises(OptionError, match=told):
        f2sl.learn_pc(f2sl.load_example("asia"), "smoke", algorithm="fcbf-confirmed", **options)


def relevant_by(oracle):
    """Candidates by an oracle: whoever is dependent, as strong as it says."""
    n = oracle.n_variables
    x, y = np.triu_indices(n, 1)
    answers = oracle.ask(x, y, np.empty((len(x), 0), np.int64))
    found = answers.answer != INDEPENDENT
    return relevance_graph(n, FoundPairs(x[found], y[found], answers.strength[found]))


@compiled_only
@pytest.mark.parametrize("name", NETWORKS)
def test_no_true_edge_is_lost_with_perfect_answers(name):
    _, arrows, oracle = network(name)
    true = {frozenset(arrow) for arrow in arrows}
    for clean_up in (0, 1):
        sets = ConfirmedFCBF(clean_up=clean_up).select(relevant_by(oracle), oracle, oracle)
        found = {frozenset(edge) for edge in join(sets, "and").edges.tolist()}
        assert true <= found


@compiled_only
@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in LARGEST_SET])
def test_perfect_answers_give_the_true_class(name):
    # In the networks left out some pairs are separated by four variables or more, and by no fewer.
    n, arrows, oracle = network(name)
    sets = ConfirmedFCBF(clean_up=3).select(relevant_by(oracle), oracle, oracle)
    skeleton = join(sets, "and")
    names = tuple(f"v{v:03d}" for v in range(n))
    found = find_v_structures(skeleton, oracle, 3)
    truth = f2sl.DAG.from_arrays(names, np.array(arrows))
    assert orient_by_independence(skeleton, names, found.triples) == truth.to_cpdag()


@given(numbered_dags(most_nodes=6))
@settings(deadline=None)
def test_perfect_answers_on_small_graphs(dag):
    n, arrows = dag
    oracle = Oracle(n, arrows)
    sets = ConfirmedFCBF(clean_up=n).select(relevant_by(oracle), oracle, oracle)
    assert {frozenset(edge) for edge in join(sets, "and").edges.tolist()} == {frozenset(a) for a in arrows}


def test_of_two_copies_the_clean_up_drops_the_weaker():
    """Of two copies each makes the other independent: the one that comes later goes."""
    rng = np.random.default_rng(0)
    copy = rng.integers(0, 2, 400)
    target = np.where(rng.random(400) < 0.9, copy, 1 - copy)
    test = make_test(make_engine([target, copy, copy]), 0.01)
    for members in ([1, 2], [2, 1]):
        sets = Neighborhoods(np.array([0, 2, 2, 2]), np.array(members), np.array([0.6, 0.5]))
        assert ConfirmedFCBF(clean_up=1)._cleaned(sets, test).members.tolist() == members[:1]
