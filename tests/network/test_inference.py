"""Queries, explanations and predictions: as by going through all configurations, and as peers have them."""

import contextlib
import math
import sys
from itertools import product

import numpy as np
import pytest

import f2sl
import naive_inference as naive
from f2sl import DataError, OptionError
from f2sl.network.bundled import bundled_sizes
from naive_network import SPRINKLER, joint
from network_tools import build
from paths import BENCHMARKS


def built(network):
    """Make f2sl's network of a naive one."""
    graph = f2sl.DAG(list(network), [(p, name) for name, (_, parents, _) in network.items() for p in parents])
    states = {name: entry[0] for name, entry in network.items() if entry[0] is not None}
    tables, equations = {}, {}
    for name, (labels, parents, given) in network.items():
        shape = [len(states[p]) for p in parents if p in states]
        if labels is not None:
            tables[name] = np.array(list(given.values())).reshape([*shape, len(labels)])
        else:
            numbers = [p for p in parents if p not in states]
            columns = [[one[0] for one in given.values()], [one[2] for one in given.values()]]
            coefficients = [[one[1][p] for p in numbers] for one in given.values()]
            equations[name] = (
                np.reshape(columns[0], shape),
                np.reshape(coefficients, [*shape, len(numbers)]),
                np.reshape(columns[1], shape),
            )
    parents = {name: entry[1] for name, entry in network.items()}
    return f2sl.BayesianNetwork(graph, states, tables, equations=equations, parents=parents)


def some_values(rng, network, names):
    return {
        name: str(rng.choice(network[name][0])) if network[name][0] is not None else float(rng.normal())
        for name in names
    }


CASES = [
    (random_state, n_states, n_numbers)
    for random_state, (n_states, n_numbers) in enumerate([(6, 0), (0, 6), (4, 4)] * 8)
]


@pytest.mark.parametrize(("random_state", "n_states", "n_numbers"), CASES)
def test_answers_are_those_of_all_configurations(random_state, n_states, n_numbers):
    rng = np.random.default_rng(random_state)
    plain = naive.random_network(rng, n_states, n_numbers)
    network = built(plain)
    names = rng.permutation(list(plain)).tolist()
    cut = rng.integers(0, 4), rng.integers(0, 2)
    evidence = some_values(rng, plain, names[: cut[0]])
    do = some_values(rng, plain, names[cut[0] : sum(cut)])
    rest = names[sum(cut) :]
    for name in rest:
        answer = network.query(name, evidence, do)
        if plain[name][0] is not None:
            expected = {s: p for (s,), p in naive.query_states(plain, [name], evidence, do).items()}
            assert answer == pytest.approx(expected, abs=1e-9)
        else:
            mean, variance = naive.query_number(plain, name, evidence, do)
            assert answer.mean == pytest.approx(mean, abs=1e-8)
            assert answer.variance == pytest.approx(variance, abs=1e-8)
            assert answer.weights.sum() == pytest.approx(1)
    states = [name for name in rest if plain[name][0] is not None][:3]
    if states:
        expected = naive.query_states(plain, states, evidence, do)
        assert network.query(states, evidence, do) == pytest.approx(expected, abs=1e-9)
    values, height = naive.most_probable(plain, evidence, do)
    found = network.most_probable(evidence, do)
    assert found.log_probability == pytest.approx(height, abs=1e-8)
    assert list(found.values) == [name for name in network.variables if name in rest]
    for name, value in found.values.items():
        assert value == (values[name] if isinstance(value, str) else pytest.approx(values[name], abs=1e-8))


@pytest.mark.parametrize(("random_state", "n_states", "n_numbers"), CASES[:6])
def test_predictions_are_those_of_queries(random_state, n_states, n_numbers):
    rng = np.random.default_rng(100 + random_state)
    network = built(plain := naive.random_network(rng, n_states, n_numbers))
    frame = network.sample(30, random_state=random_state).astype(object)
    missing = rng.random(frame.shape) < 0.3
    missing[:5] = False
    frame = frame.mask(missing, None)
    target = list(plain)[-1] if random_state % 2 else next(iter(plain))
    rows = frame.drop(columns=target).to_dict("records")
    found = network.predict(frame, target)
    for row, value in zip(rows, found, strict=True):
        evidence = {name: one for name, one in row.items() if one is not None and one == one}
        if plain[target][0] is not None:
            expected = naive.query_states(plain, [target], evidence, {})
            assert value == max(expected, key=expected.get)[0]
        else:
            assert value == pytest.approx(naive.query_number(plain, target, evidence, {})[0], abs=1e-8)


def test_the_effect_of_doing_is_not_what_is_seen():
    """Sprinkler by hand: rain 1/4, and with rain the sprinkler is on 1/16 of the time, else 1/2."""
    network = build(SPRINKLER)
    seen = 0.25 * 0.0625 / (0.25 * 0.0625 + 0.75 * 0.5)
    assert network.query("rain", {"sprinkler": "on"})["yes"] == pytest.approx(seen)
    assert network.query("rain", do={"sprinkler": "on"})["yes"] == pytest.approx(0.25)
    assert network.query("wet", do={"sprinkler": "on"})["soaked"] == pytest.approx(0.25 * 0.875 + 0.75 * 0.25)


def test_prediction_of_all_kinds_of_input(tmp_path):
    network = build(SPRINKLER)
    by_hand = {}
    for (wet, rain, _), probability in joint(SPRINKLER):
        by_hand[wet, rain] = by_hand.get((wet, rain), 0) + probability
    expected = [by_hand[wet, "yes"] / (by_hand[wet, "yes"] + by_hand[wet, "no"]) for wet in ("dry", "soaked")]
    columns = {"wet": ["dry", "soaked"]}
    (tmp_path / "rows.csv").write_text("wet,rain\ndry,no\nsoaked,no\n")
    for data in (columns, tmp_path / "rows.csv", f2sl.open_table({**columns, "sprinkler": [None, None]})):
        found = network.predict(data, "rain", probabilities=True)
        np.testing.assert_allclose(found[:, 0], expected, atol=1e-12)
    assert network.predict(columns, "rain").tolist() == ["no", "yes"]


def test_truth_values_and_numbers_as_states_are_understood():
    graph = f2sl.DAG(["a", "b"], [("a", "b")])
    network = f2sl.BayesianNetwork(
        graph, {"a": ["FALSE", "TRUE"], "b": ["1", "2"]}, {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]}
    )
    assert network.predict({"b": [1, 2.0, None]}, "a").tolist() == ["FALSE", "TRUE", "FALSE"]
    for two in (2, 2.0, np.float64(2), "2", "2.0"):
        assert network.query("a", {"b": two}) == {"FALSE": 0.0, "TRUE": 1.0}
    assert network.query("b", {"a": np.True_}) == {"1": 0.0, "2": 1.0}
    assert network.most_probable({"b": 2.0}).values == {"a": "TRUE"}
    with pytest.raises(OptionError, match="unknown state of 'b' 3"):
        network.query("a", {"b": 3})


@pytest.mark.parametrize(
    ("states", "column", "expected"),
    [
        (["False", "True"], None, [False, True]),
        (["FALSE", "TRUE"], None, ["FALSE", "TRUE"]),
        (["FALSE", "TRUE"], [True, True], [False, True]),
        (["False", "True"], ["True", "False"], ["False", "True"]),
        (["1", "2"], None, [1, 2]),
        (["1", "2"], [2.0, None], [1, 2]),
        (["1", "2"], ["1", "2"], ["1", "2"]),
        (["0.5", "2.0"], None, [0.5, 2.0]),
        (["01", "2"], None, ["01", "2"]),
        (["nan", "inf"], None, ["nan", "inf"]),
    ],
)
def test_predictions_have_the_type_of_the_column(states, column, expected):
    """The network is a copy, so that the first state of one is that of the other."""
    network = f2sl.BayesianNetwork(
        f2sl.DAG(["a", "b"], [("a", "b")]),
        {"a": ["u", "v"], "b": states},
        {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]},
    )
    data = {"a": ["u", "v"], **({} if column is None else {"b": column})}
    found = network.predict(data, "b").tolist()
    assert found == expected
    assert [*map(type, found)] == [*map(type, expected)]


def test_numbers_are_put_into_intervals(tmp_path):
    """Intervals in any order, with one that is empty between 30 and 40, beside a state for missing values."""
    intervals = ["[40, 80]", "[-1.5, 18)", "<missing>", "[18, 30)"]
    network = f2sl.BayesianNetwork(
        f2sl.DAG(["age", "b"], [("age", "b")]),
        {"age": intervals, "b": ["old", "young", "none", "mid"]},
        {"age": [0.4, 0.1, 0.2, 0.3], "b": np.eye(4)},
    )
    positions = {
        -9: "young",
        17.99: "young",
        18: "mid",
        29: "mid",
        35: "mid",
        40: "old",
        80: "old",
        99.5: "old",
    }
    for number, expected in positions.items():
        for value in (number, str(number), np.float64(number)):
            assert network.query("b", {"age": value})[expected] == 1
    assert network.query("b", do={"age": 20})["mid"] == 1
    for data in ({"age": [*positions, None]}, {"age": [*map(str, positions), "<missing>"]}):
        found = network.predict(data, "b").tolist()
        assert found[:-1] == [*positions.values()]
    assert found[-1] == "none"
    assert network.predict({"age": [None, 20]}, "b").tolist() == ["old", "mid"]
    with pytest.raises(DataError, match="column 'age': not all of its numbers are finite"):
        network.predict({"age": [1.5, np.inf]}, "b")
    with pytest.raises(OptionError, match="unknown state of 'age' True"):
        network.query("b", {"age": True})


def test_a_network_fitted_with_bins_takes_raw_rows():
    frame = {"x": [0.25, 1.5, 2.25, 3.0, 7.5, 9.0], "y": ["a", "a", "b", "b", "c", "c"]}
    with f2sl.open_table(frame, bins=3) as table:
        network = f2sl.BayesianNetwork.fit(f2sl.DAG(["x", "y"], [("x", "y")]), table, 0)
        assert network.predict(table, "y").tolist() == frame["y"]
    assert network.predict(frame, "y").tolist() == frame["y"]
    assert network.predict(f2sl.open_table({"x": frame["x"]}), "y").tolist() == frame["y"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"wet": ["dry"], "id": [1]}, "not in the network: id; it has wet, rain, sprinkler"),
        ({"wet": ["dri"]}, "column 'wet': unknown state 'dri'; did you mean 'dry'"),
        ({"wet": ["soaked"], "sprinkler": ["no"]}, "column 'sprinkler': unknown state 'no'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(data, told):
    with pytest.raises(DataError, match=told):
        build(SPRINKLER).predict(data, "rain")


def test_an_impossible_row_is_told():
    graph = f2sl.DAG([*"abc"], [("a", "b"), ("a", "c")])
    tables = {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]], "c": [[1, 0], [0, 1]]}
    network = f2sl.BayesianNetwork(graph, {key: ["u", "v"] for key in "abc"}, tables)
    with pytest.raises(DataError, match=r"row 1 .*is impossible: its probability is 0"):
        network.predict({"b": ["u", "u"], "c": ["u", "v"]}, "a")
    for ask in (lambda e: network.query("a", e), network.most_probable):
        with pytest.raises(DataError, match="is impossible: its probability is 0"):
            ask({"b": "u", "c": "v"})


def test_all_that_is_wrong_with_a_question_is_told_at_once():
    with pytest.raises(OptionError) as error:
        build(SPRINKLER).query("rain", {"wet": "dri", "rian": "yes"}, {"wet": "dry"})
    for told in (
        "unknown state of 'wet' 'dri'",
        "unknown variable 'rian'; did you mean 'rain'",
        "'wet' is given both as evidence and by do",
    ):
        assert told in str(error.value)
    network = build(SPRINKLER)
    for variables, told in (("x", "unknown variable"), ([], "no variable"), (["rain", "rain"], "twice")):
        with pytest.raises(OptionError, match=told):
            network.query(variables)
    with pytest.raises(OptionError, match="'rain' is both queried and given"):
        network.query("rain", {"rain": "yes"})
    with pytest.raises(OptionError, match="evidence must be a mapping"):
        network.query("rain", "yes")
    gaussian = f2sl.GaussianNetwork(f2sl.DAG([*"ab"]), {}, {"a": 1, "b": 1})
    with pytest.raises(OptionError, match="'b' is continuous: give a number, not 'x'"):
        gaussian.query("a", {"b": "x"})
    with pytest.raises(OptionError, match="one at a time: a, b"):
        gaussian.query(["a", "b"])
    with pytest.raises(OptionError, match="only discrete variables have probabilities, and 'a' is cont"):
        gaussian.predict({"b": [1.0]}, "a", probabilities=True)
    with pytest.raises(DataError, match="column 'b': the variable is continuous"):
        gaussian.predict({"b": ["x"]}, "a")


def test_without_pyagrum_states_are_refused_and_numbers_are_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    with pytest.raises(
        OptionError, match=r"asking about discrete variables needs pyagrum: pip install 'f2sl\[inference\]'"
    ):
        build(SPRINKLER).query("rain")
    assert f2sl.GaussianNetwork(f2sl.DAG(["a"]), {}, {"a": 4}).query("a").variance == 4


def test_a_network_that_is_too_wide_says_so():
    """30 causes, and an observed effect of each two: all of them hang together, 2 ** 30 cells."""
    causes = [f"c{i}" for i in range(30)]
    pairs = [(a, b) for i, a in enumerate(causes) for b in causes[:i]]
    effects = {f"{a}{b}": (a, b) for a, b in pairs}
    graph = f2sl.DAG([*causes, *effects], [(p, name) for name, both in effects.items() for p in both])
    states = {key: ["u", "v"] for key in graph.nodes}
    tables = {key: [0.5, 0.5] for key in causes} | dict.fromkeys(effects, np.full((2, 2, 2), 0.5))
    network = f2sl.BayesianNetwork(graph, states, tables)
    with pytest.raises(DataError, match=r"too wide for exact answers: its junction tree would have 1,0\d\d,"):
        network.query("c0", dict.fromkeys(effects, "u"))
    with pytest.raises(DataError, match="too wide for exact answers"):
        network.most_probable(dict.fromkeys(effects, "u"))
    with pytest.raises(DataError, match=r"too wide for exact answers: .* 2,147,4\d\d,"):  # 2 ** 31 in all
        network.most_probable()
    assert network.query("c0", {"c1": "u"})["u"] == 0.5


def test_continuous_variables_that_depend_on_too_many_states_say_so():
    states, numbers = [f"s{i}" for i in range(17)], [f"x{i}" for i in range(17)]
    graph = f2sl.DAG(
        [*states, *numbers], [*zip(states, numbers, strict=True), *((x, numbers[0]) for x in numbers[1:])]
    )
    equations = {x: ([0, 1], [], 1) for x in numbers[1:]} | {"x0": ([0, 1], np.ones((2, 16)), 1)}
    network = f2sl.BayesianNetwork(
        graph, {key: ["u", "v"] for key in states}, {key: [0.5, 0.5] for key in states}, equations=equations
    )
    with pytest.raises(DataError, match=r"131,072 configurations of s0, .* at most 58,052"):
        network.query("x0")
    with pytest.raises(DataError, match=r"131,072 configurations of s0, .* at most 4,096"):
        network.most_probable()
    # What is known, or tells nothing, is not gone through.
    given = dict.fromkeys(states[6:], "u")
    assert len(network.query("x0", given).weights) == 2**6
    assert network.query("s1", {"x1": 0.0, "x2": 3.0})["u"] == pytest.approx(1 / (1 + math.exp(-0.5)))


def test_continuous_columns_that_determine_each_other_are_noted():
    graph = f2sl.DAG([*"abc"], [("a", "b"), ("a", "c"), ("b", "c")])
    coefficients = {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0}
    network = f2sl.GaussianNetwork(graph, coefficients, {"a": 1.0, "b": 1e-40, "c": 1.0})
    with pytest.raises(DataError, match="determine others: a, b; give fewer"):
        network.most_probable({"a": 1.0, "b": 2.0})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [size.name for size in bundled_sizes() if size.variables <= 100])
def test_bundled_networks_answer_as_pyagrum_and_pgmpy(name, monkeypatch):
    """A few variables of each; the script asks for all of them."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from queries import compared

    found = compared(f2sl.load_network(name), random_state=3, most=2)
    assert found["questions"] == 6
    assert found["pyagrum"] < 1e-12
    assert found["pgmpy"] < 1e-12


def log_probability(network, values):
    """Multiply the probabilities of all variables given their parents."""
    total = 0.0
    for name, table in network.tables.items():
        at = [network.states[one].index(values[one]) for one in (*network.parents(name), name)]
        total += math.log(table[tuple(at)] / table[tuple(at[:-1])].sum())
    return total


def test_the_most_probable_explanation_of_asia_by_all_configurations():
    network = f2sl.load_network("asia")
    evidence = {"dysp": "yes", "asia": "yes"}
    every = [dict(zip(network.variables, states, strict=True)) for states in product(["yes", "no"], repeat=8)]
    logs = {}
    for values in every:
        if all(values[name] == state for name, state in evidence.items()):
            with contextlib.suppress(ValueError):  # of a probability of 0
                logs[tuple(values.items())] = log_probability(network, values)
    best = max(logs, key=logs.get)
    found = network.most_probable(evidence)
    assert evidence | found.values == dict(best)
    total = math.log(sum(map(math.exp, logs.values())))
    assert found.log_probability == pytest.approx(logs[best] - total)


@pytest.mark.parametrize("name", ["child", "insurance", "alarm", "hepar2", "win95pts"])
def test_no_change_makes_the_most_probable_explanation_of_a_network_more_probable(name):
    network = f2sl.load_network(name)
    row = {one: str(value) for one, value in network.sample(1, random_state=4).iloc[0].items()}
    evidence = {one: row[one] for one in list(row)[:2]}
    found = network.most_probable(evidence)
    values = evidence | found.values
    best = log_probability(network, values)
    first, second = evidence
    seen = (
        network.query(first)[evidence[first]]
        * network.query(second, {first: evidence[first]})[evidence[second]]
    )
    assert found.log_probability == pytest.approx(best - math.log(seen))
    assert log_probability(network, row) <= best
    for one in found.values:
        for state in network.states[one]:
            with contextlib.suppress(ValueError):
                assert log_probability(network, {**values, one: state}) <= best + 1e-9


def test_tables_have_labels():
    asia = f2sl.load_network("asia")
    table = asia.table("dysp")
    assert table.index.names == list(asia.parents("dysp"))
    assert table.columns.name == "dysp"
    assert table.loc[("yes", "no"), "yes"] == asia.tables["dysp"][0, 1, 0]
    assert asia.table("asia").shape == (1, 2)
    mixed = f2sl.BayesianNetwork(
        f2sl.DAG([*"dxy"], [("d", "y"), ("x", "y")]),
        {"d": ["u", "v"]},
        {"d": [0.5, 0.5]},
        equations={"x": (1, [], 2), "y": ([3, 4], [[5], [6]], [7, 8])},
    )
    assert mixed.table("y").loc["v"].to_dict() == {"intercept": 4, "x": 6, "variance": 8}


def test_tables_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = f2sl.load_network("asia").table("lung")
    assert table.to_pydict() == {"smoke": ["yes", "no"], "yes": [0.1, 0.01], "no": [0.9, 0.99]}
    assert f2sl.load_network("asia").table("asia").to_pydict() == {"yes": [0.01], "no": [0.99]}
