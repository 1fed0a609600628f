"""Colliders whose ends are tested again: what passes, what does not, and what follows by Meek's rules."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import f2sl
from f2sl.learners.colliders import following, p_value_of, standing


def curved(rows=2000, random_state=0):
    """Return numbers with a -> c <- b, where b follows from the square of a: they are not correlated."""
    a, b, c = np.random.default_rng(random_state).normal(size=(3, rows))
    b = 0.5 * (a**2 - 1) + b
    return pd.DataFrame({"a": a, "b": b, "c": a + b + 0.5 * c})


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.floats(0.1, 0.9))
def test_all_arrows_of_a_graph_follow_from_its_colliders(random_state, n, density):
    rng = np.random.default_rng(random_state)
    names = [f"v{i}" for i in range(n)]
    pairs = [(names[i], names[j]) for i, j in combinations(rng.permutation(n), 2) if rng.random() < density]
    cpdag = f2sl.DAG(names, pairs).to_cpdag()
    adjacent = [{names.index(w) for w in cpdag.neighbors(v)} for v in names]
    arrows = {(names.index(a), names.index(b)) for a, b in cpdag.directed_edges}
    sure = {
        (names.index(end), names.index(middle)) for a, middle, b in cpdag.v_structures() for end in (a, b)
    }
    assert following(arrows, adjacent, sure) == arrows


def test_what_is_never_sure_carries_nothing_on():
    chain = [{1}, {0, 2}, {1, 3}, {2}]
    arrows = {(0, 1), (1, 2), (2, 3)}
    assert following(arrows, chain, {(0, 1)}) == arrows
    assert following(arrows, chain, {(0, 1)}, {(1, 2)}) == {(0, 1)}


@pytest.mark.parametrize("random_state", range(5))
def test_the_p_value_of_two_columns_is_that_of_their_correlation(random_state):
    x, y = np.random.default_rng(random_state).normal(size=(2, 60)) + 3.0
    r = np.corrcoef(x, y)[0, 1]
    statistic = -(60 - 1 - 1.5) * np.log1p(-(r**2))
    assert p_value_of(x[:, None], y[:, None], 59) == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-9)


def test_the_p_value_of_several_columns_is_that_of_canonical_correlations():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 2))
    y = np.stack(
        [x[:, 0] + rng.normal(size=80), rng.normal(size=80), x[:, 1] + 2 * rng.normal(size=80)], axis=1
    )
    orthogonal = [np.linalg.qr(part - part.mean(axis=0))[0] for part in (x, y)]
    canonical = np.linalg.svd(orthogonal[0].T @ orthogonal[1], compute_uv=False)
    statistic = -(79 - 3) * np.log1p(-(canonical**2)).sum()
    assert p_value_of(x, y, 79) == pytest.approx(stats.chi2.sf(statistic, 6), rel=1e-9)
    # A column more that the others determine changes nothing.
    assert p_value_of(x, np.c_[y, y.sum(axis=1)], 79) == pytest.approx(p_value_of(x, y, 79), rel=1e-6)


def test_under_independence_p_values_are_nearly_uniform():
    rng = np.random.default_rng(2)
    p_values = [p_value_of(rng.normal(size=(40, 2)), rng.normal(size=(40, 3)), 39) for _ in range(2000)]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("learner", [f2sl.F2SLh, f2sl.BOSS])
def test_arrows_that_only_a_linear_model_decides_are_weak(learner):
    model = learner().fit(curved())
    assert set(model.graph_.directed_edges) == {("a", "c"), ("b", "c")}
    assert model.graph_.weak == {("a", "c"), ("b", "c")}


def test_arrows_that_hold_without_the_model_stay_decided():
    a, b, c = np.random.default_rng(3).normal(size=(3, 2000))
    frame = pd.DataFrame({"a": np.exp(a), "b": np.where(b > 0, "yes", "no"), "c": a + (b > 0) + 0.5 * c})
    model = f2sl.F2SLh().fit(frame)
    assert set(model.graph_.directed_edges) == {("a", "c"), ("b", "c")}
    assert not model.graph_.weak


def test_arrows_that_the_user_knows_are_not_tested():
    known = f2sl.Knowledge(required=[("a", "c")])
    model = f2sl.F2SLh(knowledge=known).fit(curved())
    assert model.graph_.weak == {("b", "c")}


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_ends_are_compared_where_all_in_question_are_known(missing):
    """The dependence of a and b given d shows in the rows that have the three."""
    rng = np.random.default_rng(4)
    d = rng.integers(0, 3, 3000)
    a, b, c = rng.normal(size=(3, 3000)) + d
    frame = pd.DataFrame({"a": a, "b": b, "c": a + b + c, "d": pd.Series(d).map({0: "x", 1: "y", 2: "z"})})
    frame = frame.mask(rng.random(frame.shape) < missing)
    graph = f2sl.DAG(["a", "b", "c", "d"], [("d", "a"), ("d", "b"), ("a", "c"), ("b", "c")]).to_cpdag()
    table = f2sl.open_table(frame).in_name_order()
    assert standing(table, graph, set()) == {(0, 2), (1, 2)}
    apart = f2sl.DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c")]).to_cpdag()
    assert standing(table, apart, set()) == set()
    assert standing(table, apart, {(0, 2)}) == {(0, 2)}


def test_states_that_are_rare_have_no_indicator_and_do_no_harm():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), 600), "b": rng.choice(list("rst"), 600)})
    frame["c"] = frame["a"] + frame["b"]
    frame.loc[:2, "a"] = "rare"
    graph = f2sl.DAG(["a", "b", "c"], [("a", "c"), ("b", "c")]).to_cpdag()
    assert standing(f2sl.open_table(frame).in_name_order(), graph, set()) == {(0, 2), (1, 2)}


def test_configurations_of_states_have_effects_of_their_own():
    """Both ends depend on d AND e, which a sum of effects would take for a dependence of the ends."""
    rng = np.random.default_rng(6)
    d, e = rng.random((2, 5000)) < 0.5
    a, b = (rng.random((2, 5000)) < np.where(d & e, 0.9, 0.1)).astype(bool)
    frame = pd.DataFrame({"a": a, "b": b, "c": (a | b) ^ (rng.random(5000) < 0.05), "d": d, "e": e})
    frame = frame.replace({True: "yes", False: "no"})
    edges = [("d", "a"), ("e", "a"), ("d", "b"), ("e", "b"), ("a", "c"), ("b", "c")]
    graph = f2sl.DAG(list("abcde"), edges).to_cpdag()
    assert {(0, 2), (1, 2)} <= standing(f2sl.open_table(frame).in_name_order(), graph, set())


def test_what_cannot_be_tested_does_not_stand():
    """No row has both ends; and an end that the given determine says nothing."""
    frame = pd.DataFrame(
        {"a": [1.5, 2.5, 0.5, 4.0] * 20 + [np.nan] * 80, "b": [np.nan] * 80 + [0.5, 2.0] * 40}
    )
    frame["c"] = np.arange(160) % 7 + 0.5
    graph = f2sl.DAG(["a", "b", "c"], [("a", "c"), ("b", "c")]).to_cpdag()
    assert standing(f2sl.open_table(frame).in_name_order(), graph, set()) == set()
    assert np.isnan(p_value_of(np.zeros((50, 1)), np.arange(50.0)[:, None], 49))


def test_many_states_are_tested_by_the_most_frequent():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({name: rng.integers(0, 400, 8000) for name in "ab"}).astype(str)
    frame["c"] = np.where(rng.random(8000) < 0.5, frame["a"], frame["b"])
    graph = f2sl.DAG(["a", "b", "c"], [("a", "c"), ("b", "c")]).to_cpdag()
    assert standing(f2sl.open_table(frame, keep=["a", "b", "c"]).in_name_order(), graph, set()) == {
        (0, 2),
        (1, 2),
    }
