"""Gaussian networks: their samples, covariances, likelihoods and files, and how they are drawn."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

import f2sl
import naive_continuous as naive
from f2sl._normal import normal_deviates
from f2sl.network.sampling import sample_table

GRAPH = f2sl.DAG(["c", "a", "b"], [("a", "b"), ("b", "c"), ("a", "c")])
COEFFICIENTS = {("a", "b"): 2.0, ("b", "c"): -1.0, ("a", "c"): 0.5}
ROWS = "9d2a814ebe20acb226cba45c5bb1918257a92c71009123caa548a76419109a5d"
"""Checksum of the rows that a network and two seeds must give."""
VARIANCES = {"a": 1.0, "b": 4.0, "c": 0.25}


@pytest.fixture
def network():
    return f2sl.GaussianNetwork(GRAPH, COEFFICIENTS, VARIANCES, name="three")


def refused(call, *words):
    with pytest.raises(f2sl.F2SLError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


class TestDeviates:
    @given(st.integers(0, 2**64 - 1))
    def test_are_quantiles(self, raw):
        share = ((raw >> 11) + 0.5) / 2**53
        found = float(normal_deviates(np.array([raw], np.uint64))[0])
        smaller = min(share, 1 - share)
        if smaller > 1e-12:
            expected = naive.normal_quantile(share)
            assert found == pytest.approx(expected, abs=1e-15 / smaller + 1e-9)
        assert (found > 0) == (share > 0.5)

    def test_extremes_are_finite_and_symmetric(self):
        raw = np.array([0, 2**64 - 1, 2**63, 2**63 - 1], np.uint64)
        found = normal_deviates(raw)
        assert np.isfinite(found).all()
        assert found[0] == -found[1] == pytest.approx(-8.2924, abs=1e-4)
        assert found[2] == -found[3] > 0

    def test_are_normal(self):
        deviates = normal_deviates(np.random.PCG64(5).random_raw(100_000))
        assert stats.kstest(deviates, "norm").pvalue > 0.01


class TestMoments:
    def test_covariance_by_hand(self, network):
        # a = e1, b = 2 a + e2, c = 0.5 a - b + e3 = -1.5 a - e2 + e3
        expected = [[2.25 + 4 + 0.25, -1.5, -3 - 4], [-1.5, 1, 2], [-7, 2, 8]]
        assert_allclose(network.covariance(), expected)

    def test_covariance_by_inversion(self):
        net = f2sl.random_network(variables=12, edges=20, kind="continuous", random_state=4)
        inverse = np.linalg.inv(np.eye(12) - net.weights())
        assert_allclose(net.covariance(), inverse.T @ inverse, atol=1e-9)

    def test_samples_have_it(self, network):
        frame = network.sample(200_000, random_state=3)
        assert list(frame.columns) == ["c", "a", "b"]
        assert_allclose(np.cov(frame.T.to_numpy()), network.covariance(), rtol=0.03, atol=0.02)
        assert abs(frame.mean()).max() < 0.03

    def test_a_sample_is_the_beginning_of_a_larger_one(self, network):
        assert (network.sample(10, random_state=1) == network.sample(100, random_state=1)[:10]).all().all()
        assert not (network.sample(10, random_state=1) == network.sample(10, random_state=2)).any().any()

    def test_rows_are_the_same_on_every_machine(self):
        net = f2sl.random_network(variables=30, edges=40, kind="continuous", random_state=1)
        values = sample_table(net, 1000, random_state=1).numbers.astype("<f8")
        assert hashlib.sha256(values.tobytes()).hexdigest() == ROWS

    def test_log_likelihood(self, network):
        frame = network.sample(50, random_state=1)
        expected = stats.multivariate_normal([0, 0, 0], network.covariance()).logpdf(frame.to_numpy()).sum()
        assert network.log_likelihood(frame[["b", "c", "a"]]) == pytest.approx(expected, rel=1e-9)
        refused(lambda: network.log_likelihood(frame[["a", "b"]]), "'c'")


class TestParts:
    def test_what_it_is(self, network):
        assert repr(network) == "GaussianNetwork(3 variables, 3 edges, 9 parameters)"
        assert network.weights().tolist() == [[0, 0, 0], [0.5, 0, 2], [-1, 0, 0]]
        assert network.coefficients == COEFFICIENTS
        assert network.variances == VARIANCES
        assert network.variables == ("c", "a", "b")
        other = f2sl.GaussianNetwork(GRAPH, {**COEFFICIENTS, ("a", "b"): 2.5}, VARIANCES)
        assert network != other
        moved = f2sl.GaussianNetwork(GRAPH.reorder(["a", "b", "c"]), COEFFICIENTS, VARIANCES)
        assert network != moved  # samples depend on the order

    @pytest.mark.parametrize(
        ("coefficients", "variances", "words"),
        [
            ({}, VARIANCES, ["coefficients", "each edge"]),
            ({**COEFFICIENTS, ("b", "a"): 1.0}, VARIANCES, ["coefficients"]),
            ({**COEFFICIENTS, ("a", "b"): float("nan")}, VARIANCES, ["coefficients", "'b'", "finite"]),
            ({**COEFFICIENTS, ("a", "b"): "x"}, VARIANCES, ["coefficients", "'b'", "not numbers"]),
            (COEFFICIENTS, {**VARIANCES, "a": 0.0}, ["variance", "'a'", "above 0"]),
            (COEFFICIENTS, {"a": 1.0}, ["variances", "missing"]),
        ],
    )
    def test_refusals(self, coefficients, variances, words):
        refused(lambda: f2sl.GaussianNetwork(GRAPH, coefficients, variances), *words)

    def test_only_dags(self):
        refused(lambda: f2sl.GaussianNetwork(f2sl.PDAG(["a"]), {}, {"a": 1.0}), "DAG")

    def test_intercepts_are_of_nodes(self):
        one = f2sl.DAG(["a"])
        refused(lambda: f2sl.GaussianNetwork(one, {}, {"a": 1.0}, intercepts={"b": 1.0}), "intercepts", "'b'")


class TestFiles:
    def test_there_and_back(self, network, tmp_path):
        path = tmp_path / "net.json"
        shifted = f2sl.GaussianNetwork(GRAPH, COEFFICIENTS, VARIANCES, intercepts={"b": 3.0}, name="shifted")
        random = f2sl.random_network(variables=30, edges=40, kind="continuous", random_state=2)
        for net in (network, shifted, random):
            net.save(path)
            loaded = f2sl.load_network(path)
            assert type(loaded) is f2sl.GaussianNetwork
            assert loaded == net
            assert loaded.name == net.name
        assert shifted != network

    def test_refusals(self, network, tmp_path):
        refused(lambda: network.save(tmp_path / "net.bif"), ".json")
        refused(lambda: network.save(tmp_path / "net.txt"), ".json")


class TestRandom:
    def test_what_was_asked_for(self):
        net = f2sl.random_network(
            variables=40,
            edges=60,
            max_parents=3,
            kind="continuous",
            weights=(0.5, 2.0),
            noise=0.5,
            random_state=9,
        )
        assert net.graph.n_edges == 60
        assert max(len(net.graph.parents(node)) for node in net.variables) <= 3
        sizes = [abs(c) for c in net.coefficients.values()]
        assert min(sizes) >= 0.5
        assert max(sizes) <= 2.0
        assert {np.sign(c) for c in net.coefficients.values()} == {-1, 1}
        assert set(net.variances.values()) == {0.5}

    def test_same_structure_as_the_discrete_one(self):
        discrete = f2sl.random_network(variables=30, edges=40, random_state=5)
        assert (
            f2sl.random_network(variables=30, edges=40, random_state=5, kind="continuous").graph
            == discrete.graph
        )

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"kind": "linear"}, ["kind", "'continuous'"]),
            ({"kind": "continuous", "states": (2, 3)}, ["states"]),
            ({"kind": "continuous", "strength": 0.5}, ["strength"]),
            ({"weights": (1, 2)}, ["weights"]),
            ({"noise": 2.0}, ["noise"]),
            ({"kind": "continuous", "weights": (2.0, 0.5)}, ["most of weights"]),
            ({"kind": "continuous", "weights": 1.0}, ["weights", "pair"]),
            ({"kind": "continuous", "noise": 0}, ["noise"]),
        ],
    )
    def test_refusals(self, options, words):
        refused(lambda: f2sl.random_network(variables=5, edges=4, **options), *words)
