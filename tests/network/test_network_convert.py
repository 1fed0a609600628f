"""Networks and graphs as those of pgmpy, pyAgrum and DoWhy."""

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import f2sl
from f2sl import DataError, GraphError, OptionError
from naive_network import SPRINKLER, joint
from network_tools import build

pytestmark = pytest.mark.filterwarnings("ignore")

GAUSSIAN = f2sl.GaussianNetwork(
    f2sl.DAG([*"cab"], [("a", "c"), ("b", "c"), ("a", "b")]),
    {("a", "c"): 2.0, ("b", "c"): -1.0, ("a", "b"): 0.5},
    {"a": 1.0, "b": 4.0, "c": 0.25},
    intercepts={"b": 3.0},
)
MIXED = f2sl.BayesianNetwork(
    f2sl.DAG(["d", "x"], [("d", "x")]), {"d": ["u", "v"]}, {"d": [0.5, 0.5]}, equations={"x": ([0, 1], [], 1)}
)


def test_pgmpy_has_the_same_joint_distribution():
    model = build(SPRINKLER).to_pgmpy()
    assert model.check_model()
    for states, probability in joint(SPRINKLER):
        expected = model.get_state_probability(dict(zip(SPRINKLER, states, strict=True)))
        assert expected == pytest.approx(probability, abs=1e-12)


def test_pyagrum_has_the_same_joint_distribution():
    model = build(SPRINKLER).to_pyagrum()
    for states, probability in joint(SPRINKLER):
        product = 1.0
        for name in SPRINKLER:
            product *= model.cpt(name)[dict(zip(SPRINKLER, states, strict=True))]
        assert product == pytest.approx(probability, abs=1e-15)


@pytest.mark.parametrize("name", ["munin1", "child"])
def test_pyagrum_takes_states_of_all_kinds(name):
    network = f2sl.load_network(name)
    model = network.to_pyagrum()
    for variable in network.variables:
        assert tuple(model.variable(variable).labels()) == network.states[variable]
        shape = network.tables[variable].shape
        table = np.array(model.cpt(variable).tolist()).reshape(shape)
        np.testing.assert_allclose(table, network.tables[variable], atol=1e-4)


def test_gaussian_networks_have_the_same_moments():
    model = GAUSSIAN.to_pgmpy()
    joined = model.to_joint_gaussian()
    mean, covariance = joined if isinstance(joined, tuple) else (joined.mean.ravel(), joined.covariance)

    order = list(nx.topological_sort(model))
    positions = [GAUSSIAN.variables.index(name) for name in order]
    np.testing.assert_allclose(np.ravel(mean), [0, 3, -3], atol=1e-3)
    np.testing.assert_allclose(covariance, GAUSSIAN.covariance()[np.ix_(positions, positions)], atol=2e-3)


def test_what_the_others_cannot_hold_is_refused():
    with pytest.raises(DataError, match=r"cannot mix .* variables: 'd' is discrete, 'x' continuous"):
        MIXED.to_pgmpy()
    for network in (MIXED, GAUSSIAN):
        with pytest.raises(DataError, match=r"supports only discrete variables: '[xc]' is continuous"):
            network.to_pyagrum()


@pytest.mark.parametrize(
    ("how", "module", "arguments"),
    [
        ("to_pgmpy", "pgmpy.models", ()),
        ("to_pyagrum", "pyagrum", ()),
        ("to_dowhy", "dowhy", (None, "rain", "wet")),
    ],
)
def test_a_library_that_is_not_installed_is_named(monkeypatch, how, module, arguments):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OptionError, match=f"{how} needs {module.split('.')[0]}: pip install"):
        getattr(build(SPRINKLER), how)(*arguments)


def test_dowhy_is_handed_the_graph_as_networkx_has_it(monkeypatch):
    """DoWhy 0.14 allows no SciPy above 1.15 below Python 3.13, so that the tests' environment has none."""
    handed = SimpleNamespace(CausalModel=lambda *given, **options: (given, options))
    monkeypatch.setitem(sys.modules, "dowhy", handed)
    (frame, treatment, outcome), options = build(SPRINKLER).to_dowhy("data", "sprinkler", "wet")
    assert (frame, treatment, outcome, set(options)) == ("data", "sprinkler", "wet", {"graph"})
    assert isinstance(options["graph"], nx.DiGraph)
    assert sorted(options["graph"].edges) == [("rain", "sprinkler"), ("rain", "wet"), ("sprinkler", "wet")]


def test_dowhy_identifies_the_effect():
    pytest.importorskip("dowhy")
    network = build(SPRINKLER)
    frame = network.sample(500, random_state=1)
    estimand = network.to_dowhy(frame, "sprinkler", "wet").identify_effect()
    assert estimand.get_backdoor_variables() == ["rain"]


def test_dowhy_is_asked_about_nodes():
    with pytest.raises(GraphError, match="unknown node 'rian'; did you mean 'rain'"):
        build(SPRINKLER).to_dowhy(None, "rian", "wet")
