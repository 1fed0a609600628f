"""The default of mixed tables: no edges among independent columns however many rows, strong edges found."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive_mixed
from f2sl.data.engines import open_engine
from f2sl.stats.choose import make_score
from marks import few_examples
from mixed_tools import mixed_columns, mixed_table


def birds(n_rows, random_state):
    """Draw rows of two independent discrete columns that shift four numbers, each linear in those before."""
    rng = np.random.default_rng(random_state)
    species, sex = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    mass = np.array([0.0, 0.5, 3.0])[species] + 1.5 * sex + rng.normal(size=n_rows)
    flipper = 0.8 * mass + np.array([0.0, 1.0, 2.0])[species] + rng.normal(size=n_rows)
    length = 0.5 * flipper + np.array([0.0, 3.0, 2.0])[species] + sex + rng.normal(size=n_rows)
    depth = 0.6 * mass + np.array([0.0, -0.3, -4.0])[species] + 1.2 * sex + rng.normal(size=n_rows)
    return pd.DataFrame(
        {
            "species": np.array(["adelie", "chinstrap", "gentoo"])[species],
            "sex": np.array(["f", "m"])[sex],
            "mass": mass,
            "flipper": flipper,
            "length": length,
            "depth": depth,
        }
    )


@pytest.mark.parametrize("n_rows", [2_000, 10_000, 50_000])
def test_independent_columns_stay_nonadjacent_with_more_rows(n_rows):
    for random_state in range(3):
        model = f2sl.learn(birds(n_rows, random_state), stability=0)
        assert "sex" not in model.graph_.neighbors("species")
        if n_rows > 2_000:  # with few, a graph with an edge less and arrows into both may score higher
            into = [arrow for arrow in model.graph_.directed_edges if arrow[1] in ("species", "sex")]
            assert not into


def test_an_edge_costs_more_with_many_rows():
    """The penalty is 2 log(6) up to 2,500 rows, and twice that with four times as many."""
    costs = [f2sl.learn(birds(n_rows, 0), stability=0).edge_cost_ for n_rows in (100, 2_500, 10_000)]
    assert costs == pytest.approx([2.0 * math.log(6), 2.0 * math.log(6), 4.0 * math.log(6)])


def test_a_strong_link_that_a_logistic_regression_sees_is_found():
    rng = np.random.default_rng(1)
    months = rng.gamma(2.0, 15.0, 5000)
    contract = np.digitize(months + rng.normal(0, 15, 5000), [30.0, 55.0])
    leaves = rng.random(5000) < 1 / (1 + np.exp(0.5 + np.array([0.0, 1.5, 3.0])[contract] + 0.01 * months))
    frame = pd.DataFrame(
        {"months": months, "contract": contract.astype(str), "leaves": np.where(leaves, "yes", "no")}
    )
    graph = f2sl.learn(frame, stability=0).graph_
    assert "contract" in graph.neighbors("leaves")


INDEPENDENT = {
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(3, size=n),
    "counts": lambda rng, n: rng.poisson(20, n),
    "two states": lambda rng, n: np.array(["no", "yes"])[(rng.random(n) < 0.2).astype(int)],
    "three states": lambda rng, n: np.array(["x", "y", "z"])[rng.choice(3, n, p=[0.6, 0.3, 0.1])],
    "six states": lambda rng, n: np.array(list("abcdef"))[rng.integers(0, 6, n)],
}


@few_examples
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(sorted(INDEPENDENT)), min_size=6, max_size=8))
def test_independent_columns_have_no_edges(random_state, kinds):
    """With many rows no edge, and none that few rows had not.

    The statistic of a pair is chi-squared, and an edge needs more than log(rows) for each degree of freedom
    and twice its cost: beyond 13 with 500 rows and 6 columns, which one of 15 pairs in 3,000 is, so two edges
    come in fewer than one table of 10,000; beyond 30 with 20,000 rows, one pair in 10^7.
    """
    rng = np.random.default_rng(random_state)
    kinds = ["normal", "two states", *kinds]
    frame = pd.DataFrame({f"{v} {kind}": INDEPENDENT[kind](rng, 20_000) for v, kind in enumerate(kinds)})
    assert f2sl.learn(frame[:500], stability=0).graph_.n_edges <= 1
    assert f2sl.learn(frame, stability=0).graph_.n_edges == 0


@few_examples
@given(st.integers(0, 2**32 - 1), st.permutations(range(5)), st.integers(0, 2**10 - 1))
def test_no_graph_has_a_likelihood_above_that_of_the_complete_one(random_state, order, bits):
    """The score and its penalty are at most the maximised likelihood of one normal distribution."""
    columns = mixed_columns(random_state)
    kinds = ("discrete", "continuous", "discrete", "continuous", "continuous")
    matrix = np.array(naive_mixed.columns_of(columns, kinds, range(5)))
    of_states = np.isin(matrix, (0.0, 1.0)).all(axis=1)  # the score counts these in standard deviations
    matrix[of_states] /= matrix[of_states].std(axis=1, keepdims=True)
    n_columns, n_rows = matrix.shape
    log_det = np.linalg.slogdet(np.cov(matrix, ddof=0))[1]
    saturated = -0.5 * n_rows * (log_det + n_columns * (1.0 + math.log(2.0 * math.pi)))
    pairs = [(a, b) for b in range(5) for a in range(b)]
    with open_engine(mixed_table(columns, kinds), 1) as engine:
        score, sizes = make_score(engine, "dg-bic"), np.diff(engine.embedded.start)
        assert sizes.sum() == n_columns

        def likelihood(adjacent):
            found = 0.0
            for position, v in enumerate(order):
                own = tuple(sorted(order[a] for a in range(position) if (a, position) in adjacent))
                parameters = sizes[v] * (sizes[list(own)].sum() + 1 + (sizes[v] + 1) / 2)
                found += score.score([(v, own)])[0] + 0.5 * math.log(n_rows) * parameters
            return found

        assert likelihood({pair for i, pair in enumerate(pairs) if bits >> i & 1}) <= saturated + 1e-6
        assert likelihood(set(pairs)) == pytest.approx(saturated, rel=1e-7)


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_the_true_graph_of_normal_columns_scores_below_its_likelihood(random_state):
    """The likelihood is that of least squares; the score is less by the penalty."""
    rng, n_rows = np.random.default_rng(random_state), 200
    parents = [tuple(u for u in range(v) if rng.random() < 0.5) for v in range(6)]
    columns, likelihood = [], 0.0
    for own in parents:
        columns.append(rng.normal(size=n_rows) + sum(rng.normal() * columns[u] for u in own))
        design = np.column_stack([np.ones(n_rows), *(columns[u] for u in own)])
        weights = np.linalg.lstsq(design, columns[-1], rcond=None)[0]
        variance = np.mean((columns[-1] - design @ weights) ** 2)
        likelihood -= 0.5 * n_rows * (1.0 + math.log(2.0 * math.pi * variance))
    kinds = ("continuous",) * 6
    families = list(enumerate(parents))
    penalty = 0.5 * math.log(n_rows) * sum(len(own) + 2 for own in parents)
    with open_engine(mixed_table(columns, kinds), 1) as engine:
        score = float(make_score(engine, "bic-g").score(families).sum())
    assert score < likelihood
    assert score == pytest.approx(likelihood - penalty, rel=1e-7)
    state = rng.integers(0, 2, n_rows)  # beside a state the same columns have the same score
    with open_engine(mixed_table([*columns, state], (*kinds, "discrete")), 1) as engine:
        score = float(make_score(engine, "dg-bic").score(families).sum())
    assert score == pytest.approx(likelihood - penalty, rel=1e-7)


def test_a_column_that_is_always_the_same_moves_no_other():
    """It has no column in the matrix; all others have one, so that only it tells variables from columns."""
    rng = np.random.default_rng(3)
    cause = rng.random(400) < 0.5
    effect = 2.0 * cause + rng.normal(size=400)
    frame = pd.DataFrame(
        {
            "b cause": np.where(cause, "yes", "no"),
            "c effect": effect,
            "d further": effect + rng.normal(size=400),
            "e apart": rng.normal(size=400),
            "f other": np.where(rng.random(400) < 0.5, "yes", "no"),
        }
    )
    expected = f2sl.learn(frame)
    found = f2sl.learn(frame.assign(**{"a same": "same"}))
    by_tests = f2sl.learn(frame.assign(**{"a same": "same"}), "pc-stable")
    assert by_tests.graph_.neighbors("a same") == []
    assert by_tests.graph_.n_edges == f2sl.learn(frame, "pc-stable").graph_.n_edges
    assert {frozenset(edge) for edge in expected.graph_.skeleton().undirected_edges} == {
        frozenset(("b cause", "c effect")),
        frozenset(("c effect", "d further")),
    }
    assert set(found.graph_.skeleton().undirected_edges) == set(expected.graph_.skeleton().undirected_edges)
    assert found.graph_.neighbors("a same") == []
