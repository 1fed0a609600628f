"""The functions of continuous optimisation: against naive twins, and their gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import naive_continuous as naive
from f2sl.learners.by_weights import acyclic_part, is_acyclic
from f2sl.search import continuous
from f2sl.search.continuous import dagma, least_squares, log_determinant, notears, trace_exponential

NOTEARS = {"lambda1": 0.1, "max_iter": 100, "h_tol": 1e-8, "rho_max": 1e16}


def matrices(size, random_state, scale=1.0, zeros=0.3):
    rng = np.random.default_rng(random_state)
    weights = rng.normal(size=(size, size)) * scale
    weights[rng.random((size, size)) < zeros] = 0.0
    np.fill_diagonal(weights, 0.0)
    return weights


def differences(function, weights, step=1e-6):
    """The gradient by central differences."""
    gradient = np.empty_like(weights)
    for position in np.ndindex(*weights.shape):
        up, down = weights.copy(), weights.copy()
        up[position] += step
        down[position] -= step
        gradient[position] = (function(up) - function(down)) / (2 * step)
    return gradient


def nobody(weights, share):
    pass


@given(random_state=st.integers(0, 10**6), size=st.integers(1, 5), rows=st.integers(1, 8))
def test_loss_is_that_of_the_samples(random_state, size, rows):
    samples = np.random.default_rng(random_state).normal(size=(rows, size))
    weights = matrices(size, random_state)
    covariance = np.cov(samples.T, bias=True).reshape(size, size)
    expected = naive.loss(weights.tolist(), samples.tolist())
    assert least_squares(weights, covariance)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(random_state=st.integers(0, 10**6), size=st.integers(1, 5))
def test_trace_of_the_exponential(random_state, size):
    weights = matrices(size, random_state)
    expected = naive.trace_exponential(weights.tolist())
    assert trace_exponential(weights)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(random_state=st.integers(0, 10**6), size=st.integers(1, 5), s=st.sampled_from([0.6, 1.0]))
def test_log_determinant(random_state, size, s):
    weights = matrices(size, random_state, scale=0.3)
    found = log_determinant(weights, s)
    largest = max(abs(np.linalg.eigvals(weights * weights)))
    if largest < s - 1e-9:
        assert found[0] == pytest.approx(naive.log_determinant(weights.tolist(), s), rel=1e-9, abs=1e-12)
    elif largest > s + 1e-9:
        assert found is None


@given(random_state=st.integers(0, 10**6), size=st.integers(2, 5))
def test_gradients(random_state, size):
    weights = matrices(size, random_state, scale=0.3)
    factor = np.random.default_rng(random_state).normal(size=(size, size))
    covariance = factor @ factor.T
    functions = [lambda w: least_squares(w, covariance), trace_exponential]
    if max(abs(np.linalg.eigvals(weights * weights))) < 0.9:
        functions.append(lambda w: log_determinant(w, 1.0))
    for function in functions:
        expected = differences(lambda w, function=function: function(w)[0], weights)
        assert_allclose(function(weights)[1], expected, rtol=1e-5, atol=1e-6)


def test_the_multiplier_adds_up(monkeypatch):
    """Each step adds rho h. Where h has not fallen to a quarter, rho grows tenfold, and it is done again."""
    asked, found = [], iter([1.0, 0.25, 0.125, 0.0625, 0.0])

    def minimise(self, weights, rho, alpha):
        asked.append((rho, alpha))
        return weights, next(found)

    monkeypatch.setattr(continuous._Lagrangian, "minimise", minimise)
    notears(np.eye(2), lambda1=0.1, max_iter=9, h_tol=1e-8, rho_max=1e9, watch=lambda *told: None)
    assert asked == [(1.0, 0.0), (1.0, 1.0), (1.0, 1.25), (10.0, 1.25), (10.0, 1.875)]


def test_h_is_zero_without_cycles_and_only_there():
    weights = np.triu(matrices(6, 1, zeros=0.0), 1)
    assert trace_exponential(weights)[0] == pytest.approx(0.0, abs=1e-12)
    assert log_determinant(weights, 1.0)[0] == pytest.approx(0.0, abs=1e-12)
    weights[5, 0] = 0.2
    assert trace_exponential(weights)[0] > 1e-6
    assert trace_exponential(np.full((3, 3), 1e3))[0] == np.inf


def test_a_long_cycle_counts_more_in_the_determinant():
    ring = np.roll(np.eye(6), 1, axis=1) * 0.7
    assert trace_exponential(ring)[0] < log_determinant(ring, 1.0)[0] / 100


@pytest.mark.parametrize(
    "search", [lambda s: notears(s, **NOTEARS, watch=nobody), lambda s: dagma(s, lambda1=0.1, watch=nobody)]
)
def test_the_optimum_of_two_variables_is_known(search):
    """With a -> b of coefficient 2 and unit noises, the covariance is ((1, 2), (2, 5)) and the lasso
    coefficient of b on a is (2 - lambda) / 1; the other way round it would leave a larger error."""
    weights = search(np.array([[1.0, 2.0], [2.0, 5.0]]))
    assert weights[0, 1] == pytest.approx(1.9, abs=0.01)
    assert abs(weights[1, 0]) < 0.01


@pytest.mark.parametrize(
    "search", [lambda s: notears(s, **NOTEARS, watch=nobody), lambda s: dagma(s, lambda1=0.1, watch=nobody)]
)
def test_of_two_equal_directions_the_earlier_variable_is_the_parent(search):
    weights = search(np.array([[1.0, 0.8], [0.8, 1.0]]))
    assert weights[0, 1] == pytest.approx(0.7, abs=0.01)
    assert abs(weights[1, 0]) < 0.01


def test_watching_sees_every_step_and_may_end_the_search():
    class Enough(Exception):
        pass

    seen = []

    def watch(weights, share):
        seen.append((weights, share))
        if len(seen) == 5:
            raise Enough

    for search in (
        lambda: notears(np.eye(3) + 1.0, **NOTEARS, watch=watch),
        lambda: dagma(np.eye(3), lambda1=0.1, watch=watch),
    ):
        seen.clear()
        with pytest.raises(Enough):
            search()
        assert len(seen) == 5
        assert all(weights.shape == (3, 3) and 0 <= share <= 1 for weights, share in seen)


class TestThreshold:
    def test_small_weights_are_dropped(self):
        weights = np.array([[0.0, 0.5, 0.1], [0.0, 0.0, -0.3], [0.0, 0.0, 0.0]])
        found, threshold = acyclic_part(weights, 0.3)
        assert found.tolist() == [[0.0, 0.5, 0.0], [0.0, 0.0, -0.3], [0.0, 0.0, 0.0]]
        assert threshold == 0.3

    @given(random_state=st.integers(0, 10**6), size=st.integers(1, 6))
    def test_no_cycle_is_left_and_no_more_is_dropped_than_need_be(self, random_state, size):
        weights = matrices(size, random_state, zeros=0.5).round(1)
        found, threshold = acyclic_part(weights, 0.2)
        assert is_acyclic(found)
        assert not naive.has_cycle(found.tolist())
        assert (found == np.where(abs(weights) >= threshold, weights, 0.0)).all()
        if threshold > 0.2:
            below = np.nextafter(threshold, 0)
            assert naive.has_cycle(np.where(abs(weights) >= below, weights, 0.0).tolist())

    @given(random_state=st.integers(0, 10**6), size=st.integers(1, 6))
    def test_acyclic(self, random_state, size):
        weights = matrices(size, random_state, zeros=0.7)
        assert is_acyclic(weights) == (not naive.has_cycle(weights.tolist()))
        assert not is_acyclic(np.eye(size))
