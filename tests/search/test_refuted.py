"""Arrows that the degenerate Gaussian needs only because effects do not add up are dropped."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive
from f2sl import DegenerateGaussian
from f2sl.constraints import Constraints
from f2sl.data.engines import open_engine
from f2sl.graph.extension import consistent_extension
from f2sl.search.growing.numbers import of_blocks, search_numbers
from f2sl.search.growing.refuted import DEVIATIONS, SHARE, without_refuted
from marks import few_examples

A, B, NUMBER, X, Y = range(5)
"""The columns of `interacting`, in the order of their names."""
OF_CAUSES = [(A, X), (B, X), (A, Y), (B, Y)]


def interacting(n_rows, random_state=0, effect=0.0):
    """Draw two causes, two effects of both together, and a number that depends on the first cause.

    `effect` is that of the first effect on the second.
    """
    rng = np.random.default_rng(random_state)
    a, b = rng.integers(0, 3, (2, n_rows))
    alike, some, many = (
        0.5 * (a == b),
        0.2 * (a > 0),
        0.2 * (b > 0),
    )  # the first is no sum of terms of a and b
    x = (rng.random(n_rows) < 0.05 + alike + some + many).astype(int)
    y = (rng.random(n_rows) < 0.25 + alike + some - many + effect * (x - 0.5)).astype(int)
    codes = np.array([a, b, x, y])
    frame = pd.DataFrame(codes.T, columns=["a", "b", "x", "y"]).astype(str).radd("state ")
    return frame.assign(number=a + rng.normal(size=n_rows)), codes


def engine_of(frame):
    return open_engine(f2sl.open_table(frame).in_name_order(), 1)


def kept(frame, arrows, required=()):
    with engine_of(frame) as engine:
        found = without_refuted(engine, np.array(arrows), Constraints.of(5, required=required))
    return sorted(map(tuple, found.tolist()))


@pytest.mark.parametrize("n_rows", [2_000, 20_000])
def test_effects_of_two_causes_together_are_not_adjacent(n_rows):
    frame, _ = interacting(n_rows)
    with engine_of(frame) as engine:
        one = np.array([X]), np.array([Y]), np.array([[A, B]])
        (statistic,), _ = DegenerateGaussian().statistics(engine, *one)
    assert statistic > 50.0  # what is not linear looks like a direct effect
    assert kept(frame, [*OF_CAUSES, (X, Y)]) == sorted(OF_CAUSES)
    graph = f2sl.learn(frame, stability=0).graph_
    assert "y" not in graph.neighbors("x")


def test_an_effect_beyond_the_causes_stays():
    frame, _ = interacting(5_000, effect=0.2)
    assert (X, Y) in kept(frame, [*OF_CAUSES, (X, Y)])


def test_required_arrows_stay():
    frame, _ = interacting(5_000)
    assert (X, Y) in kept(frame, [*OF_CAUSES, (X, Y)], required=[(X, Y)])
    rules = f2sl.Knowledge(required=[("x", "y")])
    assert ("x", "y") in f2sl.learn(frame, knowledge=rules, stability=0).graph_.directed_edges


def test_families_of_more_configurations_than_rows_stay():
    frame, _ = interacting(2_000)
    few = frame.iloc[:30]  # 36 configurations of a, b, x and y
    assert kept(few, [*OF_CAUSES, (X, Y)]) == sorted([*OF_CAUSES, (X, Y)])


def test_discrete_variables_that_depend_on_continuous_ones_keep_their_parents():
    frame, _ = interacting(5_000)
    arrows = [*OF_CAUSES, (X, Y), (NUMBER, Y)]
    assert kept(frame, arrows) == sorted(arrows)


def naive_residual_covariance(columns, given):
    """Return what the columns have left after a regression on others and a constant."""
    design = np.column_stack([np.ones(len(columns)), given])
    return columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0]


def indicators(codes):
    return np.column_stack([codes == state for state in np.unique(codes)[1:]]).astype(float)


@few_examples
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.02, 0.05, 0.1]))
def test_an_arrow_is_dropped_as_its_two_statistics_say(random_state, effect):
    """The decision follows from G2 and from the regression of indicators, both computed the slow way."""
    n_rows = 3_000
    frame, codes = interacting(n_rows, random_state, effect)
    g2, freedom, _ = naive.independence_test(codes, 2, 3, (0, 1))
    given_causes = np.column_stack([indicators(codes[0]), indicators(codes[1])])
    left = naive_residual_covariance(np.column_stack([codes[2], codes[3]]).astype(float), given_causes)
    r_squared = np.corrcoef(left.T)[0, 1] ** 2
    # Bartlett's factor for four columns given, one column each.
    power = (n_rows - 1 - 4 - 1.5) / n_rows
    expected = n_rows * (1.0 - (1.0 - r_squared) ** power) - 1.0
    excess = g2 - freedom
    far = excess + DEVIATIONS * math.sqrt(2.0 * (freedom + 2.0 * expected)) < expected
    in_doubt = excess < freedom * (math.log(n_rows) - 1.0)
    dropped = (X, Y) not in kept(frame, [(A, Y), (B, Y), (X, Y)], required=[(A, Y), (B, Y)])
    assert dropped == (far and in_doubt and excess < SHARE * expected)


@pytest.mark.parametrize("random_state", [0, 17])
def test_all_dags_of_a_class_lose_the_same_edges(random_state):
    """The graph that is left does not depend on the names of columns, by which one of the DAGs is found."""
    network = f2sl.random_network(12, 20, 3, kind="mixed", share_continuous=0.3, random_state=random_state)
    frame = network.sample(3_000, random_state=random_state)
    rules, left = Constraints.none(12), set()
    with engine_of(frame) as engine:
        problem = of_blocks(engine, 2.0 * math.log(12), None, rules)
        found = search_numbers(
            problem, [np.arange(12)], perturbations=[20], moves=5, constraints=rules
        ).arrows
        for order in range(12):
            names = [f"{name:02}" for name in np.random.default_rng(order).permutation(12)]
            cpdag = f2sl.DAG.from_arrays(names, found).to_cpdag()
            member = consistent_extension(
                f2sl.PDAG.from_arrays(names, cpdag.directed_array, cpdag.undirected_array)
            )
            arrows = without_refuted(engine, member.directed_array, rules)
            left.add(frozenset(map(frozenset, arrows.tolist())))
    assert len(left) == 1
