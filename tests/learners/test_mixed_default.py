"""The default of mixed tables: no edges among independent columns however many rows, strong edges found."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
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


@few_examples
@given(st.integers(0, 2**32 - 1), st.permutations(range(5)), st.integers(0, 2**10 - 1))
def test_no_graph_scores_above_the_likelihood_of_the_complete_one(random_state, order, bits):
    """The score of any graph is at most the maximised likelihood of the graph that connects all variables."""
    with open_engine(mixed_table(mixed_columns(random_state)), 1) as engine:
        score = make_score(engine, "dg-bic")
        pairs = [(a, b) for b in range(5) for a in range(b)]
        kept = {pair for position, pair in enumerate(pairs) if bits >> position & 1}

        def total(adjacent):
            families = [
                (v, tuple(sorted(order[a] for a in range(position) if (a, position) in adjacent)))
                for position, v in enumerate(order)
            ]
            return float(score.score(families).sum())

        sizes = np.diff(engine.embedded.start).sum()
        parameters = sizes * (sizes + 3) / 2  # means and covariances
        likelihood = total(set(pairs)) + 0.5 * math.log(engine.n_rows) * parameters
        assert total(kept) <= likelihood + 1e-6


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
