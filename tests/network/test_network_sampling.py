"""Sampling, likelihood and fitting against naive twins and hand calculations."""

import hashlib
import math
import sys

import numpy as np
import pytest
from scipy.stats import chisquare

import f2sl
import naive_network as naive
from f2sl import BayesianNetwork, DataError, GraphError, OptionError
from f2sl.network.sampling import sample_table
from naive_network import SPRINKLER
from network_tools import build


def as_naive(network):
    """Turn a network into a naive one."""
    from itertools import product

    return {
        name: (
            network.states[name],
            network.parents(name),
            dict(
                zip(
                    product(*(network.states[p] for p in network.parents(name))),
                    network.tables[name].reshape(-1, len(network.states[name])).tolist(),
                    strict=True,
                )
            ),
        )
        for name in network.variables
    }


def as_rows(table):
    return [
        [states[code] for states, code in zip(table.states, codes, strict=True)] for codes in table.codes.T
    ]


@pytest.mark.parametrize("random_state", [0, 1, 2**70])
def test_rows_are_those_of_the_naive_sampler(random_state):
    assert as_rows(sample_table(build(SPRINKLER), 300, random_state)) == naive.sample(
        SPRINKLER, 300, random_state
    )


@pytest.mark.parametrize("name", ["asia", "child", "water", "pathfinder"])
def test_rows_of_bundled_networks_are_those_of_the_naive_sampler(name):
    network = f2sl.load_network(name)
    assert as_rows(sample_table(network, 20, 3)) == naive.sample(as_naive(network), 20, 3)


def test_the_same_rows_on_every_machine():
    # The checksum of naive.sample(SPRINKLER, 64, 5), exact fractions compared with raw PCG64 output.
    pinned = "135f1e07a5cce100043862d2cc9a1e327bb191e98e46d579236c52765ea1eb1e"
    for rows in (
        naive.sample(SPRINKLER, 64, 5),
        build(SPRINKLER).sample(64, random_state=5).to_numpy().tolist(),
    ):
        text = "\n".join(",".join(row) for row in rows)
        assert hashlib.sha256(text.encode()).hexdigest() == pinned


def test_a_sample_is_the_beginning_of_a_larger_one(monkeypatch):
    network = f2sl.load_network("insurance")
    large = sample_table(network, 5000, random_state=4).codes
    monkeypatch.setattr("f2sl.network.sampling.BLOCK", 64)
    assert np.array_equal(sample_table(network, 1001, random_state=4).codes, large[:, :1001])
    assert not np.array_equal(sample_table(network, 5000, random_state=5).codes, large)


@pytest.mark.parametrize("random_state", [1, 2])
def test_frequencies_are_the_joint_probabilities(random_state):
    n = 200_000
    network = build(SPRINKLER)
    counts = network.sample(n, random_state=random_state).value_counts()
    expected = {states: n * p for states, p in naive.joint(SPRINKLER) if p > 0}
    observed = {states: int(counts.get(states, 0)) for states in expected}
    assert sum(observed.values()) == n  # what is impossible does not occur
    assert chisquare(list(observed.values()), list(expected.values())).pvalue > 0.001


def test_frequencies_of_asia_are_its_joint_probabilities():
    n = 100_000
    network = f2sl.load_network("asia")
    codes = sample_table(network, n, random_state=1).codes
    observed = np.bincount(np.ravel_multi_index(tuple(codes), (2,) * 8), minlength=256)
    expected = n * np.array([p for _, p in naive.joint(as_naive(network))])
    rare = expected < 5
    together = [*observed[~rare], observed[rare].sum()], [*expected[~rare], expected[rare].sum()]
    assert chisquare(*together).pvalue > 0.001
    assert not observed[expected == 0].any()


def test_rows_that_do_not_quite_sum_to_one_are_divided_by_their_sum():
    short = BayesianNetwork(f2sl.DAG(["a"]), {"a": ["x", "y", "z"]}, {"a": [0.49995, 0.49995, 0.0]})
    assert set(short.sample(10_000)["a"]) == {"x", "y"}


def test_a_sample_is_a_frame_of_all_declared_states():
    network = build(SPRINKLER)
    frame = network.sample(3, random_state=1)
    assert list(frame.columns) == ["wet", "rain", "sprinkler"]
    assert {name: tuple(frame[name].cat.categories) for name in frame} == network.states
    assert f2sl.open_table(frame).states == tuple(network.states.values())


def test_without_pandas_a_sample_is_a_pyarrow_table(monkeypatch):
    import pyarrow as pa

    frame = build(SPRINKLER).sample(50, random_state=1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = build(SPRINKLER).sample(50, random_state=1)
    assert isinstance(table, pa.Table)
    assert f2sl.open_table(table).states == tuple(build(SPRINKLER).states.values())
    assert table.to_pydict() == {name: frame[name].tolist() for name in frame}


class Counted(BayesianNetwork):
    """A network that counts how often all its states are asked for."""

    asked = 0

    @property
    def states(self):
        self.asked += 1
        return super().states


@pytest.mark.parametrize("use", [lambda net: net.sample(5), lambda net: net.log_likelihood(net.sample(5))])
def test_states_are_not_asked_for_again_for_each_variable(use):
    network = f2sl.load_network("alarm")
    parents = {name: network.parents(name) for name in network.variables}
    counted = Counted(network.graph, network.states, network.tables, parents=parents)
    use(counted)
    assert 1 <= counted.asked <= 2


@pytest.mark.parametrize("rows", [0, -1, 1.5, "3", None, True])
def test_rows_must_be_a_whole_number_of_at_least_1(rows):
    with pytest.raises(OptionError, match="rows must be a whole number of at least 1"):
        build(SPRINKLER).sample(rows)


@pytest.mark.parametrize("random_state", [-1, 0.5, None])
def test_a_seed_is_a_whole_number(random_state):
    with pytest.raises(OptionError, match="random_state must be a whole number"):
        build(SPRINKLER).sample(1, random_state)


def test_log_likelihood_by_hand():
    network = build(SPRINKLER)
    frame = {"rain": ["no", "yes"], "sprinkler": ["on", "off"], "wet": ["damp", "soaked"]}
    expected = math.log(0.75 * 0.5 * 0.5) + math.log(0.25 * 0.9375 * 0.625)
    assert network.log_likelihood(frame) == pytest.approx(expected, rel=1e-14)
    assert network.log_likelihood({"rain": ["no"], "sprinkler": ["off"], "wet": ["damp"]}) == -math.inf


def test_log_likelihood_is_that_of_the_naive_twin():
    network = f2sl.load_network("child")
    frame = network.sample(200, random_state=2)
    expected = naive.log_likelihood(as_naive(network), frame.to_numpy().tolist())
    assert network.log_likelihood(frame) == pytest.approx(expected, rel=1e-12)
    assert network.log_likelihood(frame[sorted(frame.columns)]) == pytest.approx(expected, rel=1e-12)


def test_states_of_a_file_are_matched_by_name(tmp_path):
    # A CSV of the states TRUE and FALSE is read as booleans, one of 0 and 1 as integers.
    graph = f2sl.DAG(["a", "b"], [("a", "b")])
    network = BayesianNetwork(
        graph, {"a": ["TRUE", "FALSE"], "b": [1, 0]}, {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.125, 0.875]]}
    )
    (tmp_path / "x.csv").write_text("b,a\n1,TRUE\n0,FALSE\n")
    assert network.log_likelihood(tmp_path / "x.csv") == pytest.approx(math.log(0.125) + math.log(0.65625))


@pytest.mark.parametrize("labels", [["TRUE", "FALSE"], [True, False], ["true", "false"]])
@pytest.mark.parametrize("states", [["TRUE", "FALSE"], ["True", "False"], [True, False]])
def test_truth_values_are_the_same_in_every_spelling(labels, states):
    network = BayesianNetwork(f2sl.DAG(["a"]), {"a": states}, {"a": [0.25, 0.75]})
    assert network.log_likelihood({"a": labels}) == pytest.approx(math.log(0.25 * 0.75))


@pytest.mark.parametrize(
    ("labels", "states", "problem"),
    [
        (["TRUE", "True"], ["True", "False"], "column 'a': 'TRUE' and 'True' are both the state 'True'"),
        (["true"], ["True", "TRUE"], "column 'a': unknown state 'true'"),
        (["YES"], ["yes", "no"], "column 'a': unknown state 'YES'"),
    ],
)
def test_spellings_that_mean_nothing_for_sure_are_refused(labels, states, problem):
    network = BayesianNetwork(f2sl.DAG(["a"]), {"a": states}, {"a": [0.25, 0.75]})
    with pytest.raises(DataError, match=problem):
        network.log_likelihood({"a": labels})


def test_data_that_do_not_fit_a_network():
    network = build(SPRINKLER)
    good = {"rain": ["no"], "sprinkler": ["on"], "wet": ["dry"]}
    for change, problem in (
        ({"rain": ["maybe"]}, "column 'rain': unknown state 'maybe'"),
        ({"snow": ["no"]}, "column 'snow' is not a variable of the network"),
    ):
        with pytest.raises(DataError, match=problem):
            network.log_likelihood({**good, **change})
    with pytest.raises(DataError, match="no column 'wet'"):
        network.log_likelihood({"rain": ["no"], "sprinkler": ["on"]})


@pytest.mark.parametrize("ess", [0, 1, 10, 0.5])
@pytest.mark.parametrize("rows", [5, 400])
def test_fit_is_that_of_the_naive_twin(ess, rows):
    true = build(SPRINKLER)
    frame = true.sample(rows, random_state=6)
    fitted = BayesianNetwork.fit(true.graph, frame, equivalent_sample_size=ess)
    # The fitted tables have the parents in the order of the graph's nodes.
    structure = {name: (true.states[name], tuple(true.graph.parents(name))) for name in true.variables}
    expected = build(naive.fit(structure, frame.to_numpy().tolist(), ess))
    assert fitted.states == expected.states
    for name in true.variables:
        assert fitted.parents(name) == expected.parents(name)
        np.testing.assert_allclose(fitted.tables[name], expected.tables[name], rtol=1e-13)


def test_fit_by_hand():
    graph = f2sl.DAG(["rain", "wet"], [("rain", "wet")])
    data = {"wet": [0, 0, 1, 1], "rain": ["n", "n", "n", "y"]}
    fitted = BayesianNetwork.fit(graph, data)
    assert fitted.states == {"rain": ("n", "y"), "wet": ("0", "1")}
    assert fitted.tables["rain"].tolist() == [3.5 / 5, 1.5 / 5]
    np.testing.assert_allclose(fitted.tables["wet"], [[2.25 / 3.5, 1.25 / 3.5], [0.25 / 1.5, 1.25 / 1.5]])
    likely = BayesianNetwork.fit(graph, data, equivalent_sample_size=0)
    assert likely.tables["wet"].tolist() == [[2 / 3, 1 / 3], [0.0, 1.0]]


def test_fit_with_states_in_an_order_of_ones_own():
    # Never seen by the data: no snow.
    graph = f2sl.DAG(["rain", "wet"], [("rain", "wet")])
    data = {"wet": [0, 0, 1, 1], "rain": ["n", "n", "n", "y"]}
    states = {"rain": ["y", "snow", "n"], "wet": [1, 0]}
    fitted = BayesianNetwork.fit(graph, data, 0, states=states)
    assert fitted.states == {"rain": ("y", "snow", "n"), "wet": ("1", "0")}
    assert fitted.tables["rain"].tolist() == [0.25, 0.0, 0.75]
    assert fitted.tables["wet"].tolist() == [[1.0, 0.0], [0.5, 0.5], [1 / 3, 2 / 3]]
    assert BayesianNetwork.fit(graph, data, 0, states=fitted) == fitted
    assert BayesianNetwork.fit(graph, data, states={"rain": ["n", "y"]}).states["wet"] == ("0", "1")


def test_what_a_file_has_forgotten_of_the_states_is_known_from_a_network(tmp_path):
    true = f2sl.load_network("alarm")
    frame = true.sample(300, random_state=1)
    frame.to_csv(tmp_path / "alarm.csv", index=False)
    plain = BayesianNetwork.fit(true.graph, tmp_path / "alarm.csv")
    assert plain.states["HISTORY"] == ("False", "True")
    fitted = BayesianNetwork.fit(true.graph, tmp_path / "alarm.csv", states=true)
    assert fitted.states == true.states
    assert fitted == BayesianNetwork.fit(true.graph, frame)
    # All states occur, so that the two differ in the order and the spelling of states alone.
    assert plain.log_likelihood(frame) == pytest.approx(fitted.log_likelihood(frame), rel=1e-12)


def test_fit_comes_back_to_the_truth():
    true = f2sl.load_network("asia")
    fitted = BayesianNetwork.fit(true.graph, true.sample(200_000, random_state=8), equivalent_sample_size=1)
    assert fitted.parents("dysp") == true.parents("dysp")
    np.testing.assert_allclose(fitted.tables["dysp"], true.tables["dysp"], atol=0.02)


def test_fit_makes_a_network_of_its_own_class():
    class Lawn(BayesianNetwork):
        pass

    assert type(Lawn.fit(f2sl.DAG(["a"]), {"a": [0, 1]})) is Lawn


def test_fit_refuses_what_it_cannot_use():
    with pytest.raises(GraphError, match=r"needs a DAG, not a PDAG; see to_dag\(\)"):
        BayesianNetwork.fit(f2sl.PDAG(["a"]), {"a": [1]})
    with pytest.raises(OptionError, match="equivalent_sample_size must be a number of 0 or more"):
        BayesianNetwork.fit(f2sl.DAG(["a"]), {"a": [1]}, equivalent_sample_size=-1)
    with pytest.raises(DataError, match="no column 'b'"):
        BayesianNetwork.fit(f2sl.DAG(["a", "b"]), {"a": [1]})
    for states, problem in (
        ({"a": [1, 2]}, "column 'a': unknown state '3'"),
        ({"b": [1, 2]}, "states: 'b' is not a node of the graph"),
        ({"a": 3}, "states of 'a' must be a sequence, not 3"),
        ([1, 2, 3], "states: must be a mapping"),
    ):
        with pytest.raises(DataError, match=problem):
            BayesianNetwork.fit(f2sl.DAG(["a"]), {"a": [1, 3]}, states=states)
    names = [f"x{i}" for i in range(30)]
    with pytest.raises(DataError, match="'x29' has 1,073,741,824 cells"):
        BayesianNetwork.fit(
            f2sl.DAG(names, [(name, "x29") for name in names[:-1]]), {name: [0, 1] for name in names}
        )


def test_networks_close_the_tables_that_they_open(monkeypatch):
    closed = []
    monkeypatch.setattr(f2sl.Table, "close", lambda table: closed.append(table))
    states, numbers = {"a": ["x", "y", "y"]}, {"a": [0.5, 0.25, 0.75]}
    network = f2sl.BayesianNetwork.fit(f2sl.DAG(["a"]), states)
    uses = [(network.log_likelihood, states)]
    uses.append((f2sl.GaussianNetwork(f2sl.DAG(["a"]), {}, {"a": 1.0}).log_likelihood, numbers))
    assert len(closed) == 1
    for i, (use, data) in enumerate(uses):
        use(data)
        assert len(closed) == 2 + i
        use(f2sl.open_table(data))  # stays open
        assert len(closed) == 2 + i
