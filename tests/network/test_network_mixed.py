"""Networks of states and numbers: samples, likelihoods, fits and files, by hand and against naive twins."""

import hashlib
import json
import math
import sys
from itertools import product
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

import f2sl
from f2sl import BayesianNetwork, DataError
from f2sl.network import observed_as_continuous
from f2sl.network.sampling import sample_table
from marks import examples

GRAPH = f2sl.DAG(["heat", "out", "sun", "wind"], [("out", "heat"), ("sun", "heat"), ("wind", "heat")])
STATES = {"out": ["yes", "no"], "wind": ["none", "some", "much"]}
TABLES = {"out": [0.25, 0.75], "wind": [0.5, 0.25, 0.25]}
SUN = (1.0, [], 4.0)
HEAT = (
    [[1.0, 2.0, 3.0], [-1.0, 0.0, 5.0]],  # out, wind
    [[[2.0], [2.0], [1.0]], [[0.5], [-0.5], [1.0]]],
    [[1.0, 1.0, 9.0], [4.0, 0.25, 1.0]],
)
PINNED = "80ec2c42d3a6ac771ac146ad65f1e63d4480986eee01363d058d5b44514d6ecb"
"""Checksum of a random network and its rows: the same on every machine."""


def weather(**changes):
    parts = {"states": STATES, "tables": TABLES, "equations": {"heat": HEAT, "sun": SUN}} | changes
    parents = {"heat": ["out", "sun", "wind"]}
    return BayesianNetwork(
        GRAPH, parts["states"], parts["tables"], equations=parts["equations"], parents=parents
    )


class TestParts:
    def test_what_it_is(self):
        net = weather()
        assert repr(net) == "BayesianNetwork(4 variables, 3 edges, 23 parameters)"  # 1 + 2 + 2 + 6 * 3
        assert net.kinds == ("continuous", "discrete", "continuous", "discrete")
        assert net.states == {name: tuple(listed) for name, listed in STATES.items()}
        assert net.equations["sun"].coefficients.shape == (0,)
        assert net.equations["heat"].coefficients[1, 1, 0] == -0.5
        with pytest.raises(ValueError, match="read-only"):
            net.equations["heat"].intercepts[0, 0] = 3.0
        assert net == weather()
        assert net != weather(equations={"heat": HEAT, "sun": (1.0, [], 5.0)})
        assert net != weather(tables={**TABLES, "out": [0.5, 0.5]})

    def test_what_is_given_once_holds_in_all_configurations(self):
        once = weather(equations={"heat": (1.5, [2.0], 3.0), "sun": SUN}).equations["heat"]
        assert once.intercepts.tolist() == [[1.5] * 3] * 2
        assert once.coefficients.tolist() == [[[2.0]] * 3] * 2
        assert once.variances.tolist() == [[3.0] * 3] * 2

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"equations": {"heat": HEAT}}, "states: variable 'sun' is missing"),
            ({"equations": {"heat": HEAT, "sun": SUN, "rain": SUN}}, "equations: 'rain' is not a node"),
            ({"equations": {"heat": HEAT, "sun": SUN, "out": SUN}}, "states: 'out' has an equation"),
            ({"equations": {"heat": HEAT, "sun": (1.0, [])}}, "'sun' must be intercepts, coefficients and"),
            ({"equations": {"heat": HEAT, "sun": "abc"}}, "'sun' must be intercepts, coefficients and"),
            ({"equations": {"heat": HEAT, "sun": (1.0, [2.0], 1.0)}}, r"coefficients of 'sun' .* not \(0,\)"),
            ({"equations": {"heat": ([1.0] * 3, [1.0], 1.0), "sun": SUN}}, r"shape \(3,\), not \(2, 3\)"),
            ({"equations": {"heat": HEAT, "sun": ("x", [], 1.0)}}, "intercepts of 'sun' are not numbers"),
            ({"equations": {"heat": HEAT, "sun": (math.nan, [], 1.0)}}, "intercepts of 'sun' are not finite"),
            ({"equations": {"heat": HEAT, "sun": (0.0, [], 0.0)}}, "variances of 'sun' must be above 0"),
            ({"equations": 3}, "equations: must be a mapping"),
        ],
    )
    def test_refusals(self, changes, problem):
        with pytest.raises(f2sl.DataError, match=problem):
            weather(**changes)

    def test_continuous_variables_are_no_parents_of_discrete_ones(self):
        graph = f2sl.DAG([*"abcd"], [("a", "b"), ("c", "d"), ("a", "c")])
        with pytest.raises(
            f2sl.DataError,
            match=r"continuous to discrete variables: a -> b, c -> d;.*bins=\{'c': 5, 'a': 5\}",
        ):
            BayesianNetwork(
                graph, {"b": [0, 1], "d": [0, 1]}, {"b": 1, "d": 1}, equations={"a": SUN, "c": (0, [1], 1)}
            )

    def test_what_is_for_states_alone(self, tmp_path):
        with pytest.raises(f2sl.OptionError, match="tile needs a discrete BayesianNetwork"):
            f2sl.tile(weather(), 2)
        with pytest.raises(f2sl.OptionError, match="a discrete network is observed as continuous"):
            observed_as_continuous(weather())
        with pytest.raises(f2sl.FileError, match=r"BIF does not support numbers; use \.json"):
            weather().save(tmp_path / "weather.bif")


class TestSampling:
    def test_rows_are_those_of_a_naive_sampler(self):
        frame = weather().sample(40, random_state=3)
        raw = [np.random.PCG64([3, i]).random_raw(40).tolist() for i in range(4)]
        share = [[(bits >> 11) * 2.0**-53 for bits in column] for column in raw]
        normal = [[NormalDist().inv_cdf(((bits >> 11) + 0.5) / 2**53) for bits in column] for column in raw]
        for i in range(40):
            out = 0 if share[1][i] < 0.25 else 1
            wind = 0 if share[3][i] < 0.5 else 1 if share[3][i] < 0.75 else 2
            sun = 1 + 2 * normal[2][i]
            intercept, coefficient, variance = (part[out][wind] for part in HEAT)
            heat = intercept + coefficient[0] * sun + math.sqrt(variance) * normal[0][i]
            row = frame.iloc[i]
            assert (row["out"], row["wind"]) == (STATES["out"][out], STATES["wind"][wind])
            assert_allclose([row["sun"], row["heat"]], [sun, heat], atol=1e-9)

    def test_moments_by_hand(self):
        frame = weather().sample(200_000, random_state=1)
        assert list(frame.columns) == ["heat", "out", "sun", "wind"]
        assert abs((frame["out"] == "yes").mean() - 0.25) < 0.005
        assert abs(frame["sun"].mean() - 1) < 0.02
        for (i, out), (j, wind) in product(enumerate(STATES["out"]), enumerate(STATES["wind"])):
            own = frame[(frame["out"] == out) & (frame["wind"] == wind)]
            intercept, coefficient, variance = HEAT[0][i][j], HEAT[1][i][j][0], HEAT[2][i][j]
            assert own["heat"].mean() == pytest.approx(intercept + coefficient, abs=0.1)
            assert own["heat"].var() == pytest.approx(4 * coefficient**2 + variance, rel=0.05)
            assert own[["sun", "heat"]].cov().iloc[0, 1] == pytest.approx(4 * coefficient, abs=0.15)

    def test_a_sample_is_the_beginning_of_a_larger_one(self, monkeypatch):
        large = sample_table(weather(), 1000, random_state=4)
        monkeypatch.setattr("f2sl.network.sampling.BLOCK", 64)
        small = sample_table(weather(), 300, random_state=4)
        assert np.array_equal(small.codes, large.codes[:, :300])
        assert np.array_equal(small.numbers, large.numbers[:, :300])
        assert not np.array_equal(sample_table(weather(), 300, random_state=5).numbers, small.numbers)
        assert repr(small) == "Table(2 discrete and 2 continuous columns, 300 rows, in memory)"

    def test_without_pandas_a_sample_is_a_pyarrow_table(self, monkeypatch):
        frame = weather().sample(20, random_state=1)
        monkeypatch.setitem(sys.modules, "pandas", None)
        table = weather().sample(20, random_state=1)
        assert table.to_pydict() == {name: frame[name].tolist() for name in frame}

    def test_a_sample_is_read_as_what_it_is(self):
        table = f2sl.open_table(weather().sample(50, random_state=1))
        assert table.kinds == weather().kinds
        assert table.states[3] == ("none", "some", "much")


class TestLikelihood:
    def test_log_likelihood_is_the_one_computed_by_hand(self):
        data = {"wind": ["much", "none"], "sun": [3.0, 0.0], "heat": [7.0, 1.5], "out": ["yes", "no"]}
        first = math.log(0.25 * 0.25) + stats.norm(1, 2).logpdf(3) + stats.norm(3 + 3, 3).logpdf(7)
        second = math.log(0.75 * 0.5) + stats.norm(1, 2).logpdf(0) + stats.norm(-1, 2).logpdf(1.5)
        assert weather().log_likelihood(data) == pytest.approx(first + second, rel=1e-12)
        table = f2sl.open_table(data, kinds={"sun": "continuous", "heat": "continuous"})
        assert weather().log_likelihood(table) == pytest.approx(first + second, rel=1e-12)

    def test_whole_numbers_are_numbers_to_a_network_that_has_numbers(self):
        net = BayesianNetwork(
            f2sl.DAG(["a", "b"]), {"b": ["x", "y"]}, {"b": [0.5, 0.5]}, equations={"a": SUN}
        )
        expected = 2 * math.log(0.5) + stats.norm(1, 2).logpdf([1, 3]).sum()
        assert net.log_likelihood({"a": [1, 3], "b": ["x", "y"]}) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("change", "problem"),
        [({"out": ["maybe", "no"]}, "unknown state 'maybe'"), ({"rain": [1, 2]}, "'rain' is not a variable")],
    )
    def test_refusals(self, change, problem):
        data = {"wind": ["much", "none"], "sun": [3.0, 0.0], "heat": [7.0, 1.5], "out": ["yes", "no"]}
        with pytest.raises(f2sl.DataError, match=problem):
            weather().log_likelihood(data | change)

    def test_a_table_with_another_kind_is_refused(self):
        table = f2sl.open_table({"a": ["x", "y"]})
        with pytest.raises(f2sl.DataError, match="column 'a' is discrete"):
            f2sl.GaussianNetwork(f2sl.DAG(["a"]), {}, {"a": 1.0}).log_likelihood(table)


def naive_equation(frame, child, states, numbers, configuration, weight):
    """Weighted least squares: own rows count 1, and all rows have `weight` together besides."""
    own = np.ones(len(frame), bool)
    for name, state in zip(states, configuration, strict=True):
        own &= (frame[name] == state).to_numpy()
    weights = own + weight / len(frame)
    design = np.column_stack([np.ones(len(frame)), *(frame[name] for name in numbers)])
    root = np.sqrt(weights)
    found = np.linalg.lstsq(design * root[:, None], frame[child] * root, rcond=None)[0]
    residuals = frame[child] - design @ found
    return found[0], found[1:], (weights * residuals**2).sum() / weights.sum()


class TestFit:
    @pytest.mark.parametrize("rows", [30, 2000])
    @pytest.mark.parametrize("ess", [1, 10])
    def test_equations_are_those_of_weighted_least_squares(self, rows, ess):
        frame = weather().sample(rows, random_state=2)
        frame["sun"] += 1e4  # far from 0 for its spread
        fitted = BayesianNetwork.fit(GRAPH, frame, ess)
        assert fitted.parents("heat") == ("out", "sun", "wind")
        for (i, out), (j, wind) in product(enumerate(STATES["out"]), enumerate(STATES["wind"])):
            expected = naive_equation(frame, "heat", ["out", "wind"], ["sun"], (out, wind), ess / 6)
            found = [part[i, j] for part in fitted.equations["heat"]]
            assert_allclose(found[1], expected[1], rtol=1e-6)
            assert_allclose(found[2], expected[2], rtol=1e-6)
            assert_allclose(found[0] + 1e4 * found[1], expected[0] + 1e4 * expected[1], rtol=1e-6)
        assert fitted.equations["sun"].intercepts == pytest.approx(frame["sun"].mean())
        assert fitted.equations["sun"].variances == pytest.approx(frame["sun"].var(ddof=0))
        states_alone = BayesianNetwork.fit(f2sl.DAG(["out", "wind"]), frame[["out", "wind"]], ess)
        assert np.array_equal(fitted.tables["wind"], states_alone.tables["wind"])

    def test_comes_back_to_the_truth(self):
        true = weather()
        with pytest.raises(f2sl.OptionError, match=r"fit has no option 'bins'.*open_table\(data"):
            BayesianNetwork.fit(true.graph, true.sample(10, random_state=8), bins=3)
        fitted = BayesianNetwork.fit(true.graph, true.sample(100_000, random_state=8))
        for found, expected in zip(fitted.equations["heat"], true.equations["heat"], strict=True):
            assert_allclose(found, expected, rtol=0.05, atol=0.1)
        assert_allclose(fitted.tables["wind"], true.tables["wind"], atol=0.01)

    def test_without_a_prior_parameters_are_those_computed_by_hand(self):
        graph = f2sl.DAG(["g", "x", "y"], [("g", "y"), ("x", "y")])
        data = {
            "g": [*"aaaabbbc"],
            "x": [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 8.5],
            "y": [1.0, 3.0, 5.0, 7.5, 0.0, 1.0, 0.0, 9.0],
        }
        fitted = BayesianNetwork.fit(graph, data, 0).equations["y"]
        # a: slope 10.75 / 5, mean of x 1.5, of y 4.125; b: slope 0, mean 1/3
        slope = 10.75 / 5
        assert_allclose(fitted.coefficients[:2, 0], [slope, 0], atol=1e-12)
        assert_allclose(fitted.intercepts[:2], [4.125 - slope * 1.5, 1 / 3])
        residuals = np.array(data["y"][:4]) - fitted.intercepts[0] - slope * np.arange(4)
        assert_allclose(fitted.variances[:2], [(residuals**2).mean(), 2 / 9])
        # c has a single row, and gets the line through all
        line = stats.linregress(data["x"], data["y"])
        assert_allclose([fitted.intercepts[2], fitted.coefficients[2, 0]], [line.intercept, line.slope])

    def test_states_that_do_not_occur_get_the_equation_of_all_rows(self):
        graph = f2sl.DAG(["g", "y"], [("g", "y")])
        data = {"g": [*"aabb"], "y": [1.5, 2.5, 5.5, 8.5]}
        for ess in (0, 1):
            fitted = BayesianNetwork.fit(graph, data, ess, states={"g": ["b", "never", "a"]}).equations["y"]
            assert fitted.intercepts[1] == pytest.approx(4.5)
            assert fitted.variances[1] == pytest.approx(7.5)
        # b: two rows with the mean 7, and a third of a row with the mean 4.5
        assert fitted.intercepts[0] == pytest.approx((2 * 7 + 4.5 / 3) / (2 + 1 / 3))

    def test_copies_among_the_parents_share_a_coefficient(self):
        graph = f2sl.DAG(["x", "same", "y", "copy"], [("x", "y"), ("same", "y"), ("x", "copy")])
        x = np.array([0.5, 1.5, 2.0, 4.2])
        net = BayesianNetwork.fit(graph, {"x": x, "same": 2 * x, "y": 3 * x + [1, -1, -1, 1], "copy": x})
        first, second = net.equations["y"].coefficients
        assert first + 2 * second == pytest.approx(stats.linregress(x, 3 * x + [1, -1, -1, 1]).slope)
        assert 0 < net.equations["copy"].variances < 1e-9

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_from_the_table_that_was_learned_from(self, engine, tmp_path):
        frame = weather().sample(500, random_state=2)
        frame.to_csv(tmp_path / "weather.csv", index=False)
        graph = f2sl.DAG([*frame], [("out", "heat"), ("sun", "wind")])
        with f2sl.open_table(tmp_path / "weather.csv", bins={"sun": 3}, engine=engine) as table:
            fitted = BayesianNetwork.fit(graph, table)
            assert fitted.kinds == ("continuous", "discrete", "discrete", "discrete")
            assert fitted.states["sun"] == tuple(map(str, table.states[table.names.index("sun")]))
            assert math.isfinite(fitted.log_likelihood(table))
        assert fitted.tables["wind"].shape == (3, 3)
        assert fitted.equations["heat"].intercepts.tolist() == pytest.approx(
            [
                naive_equation(frame, "heat", ["out"], [], [state], 0.5)[0]
                for state in ("no", "yes")  # as a CSV file has them
            ]
        )

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_each_family_is_fitted_from_the_rows_that_have_it(self, engine, tmp_path):
        """Counts and least squares by pandas and NumPy, of the rows that a family has."""
        rng = np.random.default_rng(5)
        frame = pd.DataFrame({"a": rng.choice(["u", "v"], 60), "x": rng.normal(0, 1, 60)})
        frame["b"] = np.where(rng.random(60) < 0.8, frame["a"], "w")
        frame["y"] = frame["x"] * 2 + (frame["a"] == "u") + rng.normal(0, 1, 60)
        frame = frame.mask(rng.random(frame.shape) < 0.2)
        frame.to_csv(tmp_path / "rows.csv", index=False)
        graph = f2sl.DAG(list(frame), [("a", "b"), ("a", "y"), ("x", "y")])
        with f2sl.open_table(tmp_path / "rows.csv", engine=engine) as table:
            fitted = BayesianNetwork.fit(graph, table, 0)
        shares = pd.crosstab(frame["a"], frame["b"], normalize="index")  # of rows that have both
        assert_allclose(fitted.tables["b"], shares.loc[["u", "v"], ["u", "v", "w"]])
        assert_allclose(fitted.tables["a"], frame["a"].value_counts(normalize=True)[["u", "v"]])
        assert_allclose(fitted.equations["x"].intercepts, frame["x"].mean())
        assert_allclose(fitted.equations["x"].variances, frame["x"].var(ddof=0))
        for i, state in enumerate("uv"):
            rows = frame[frame["a"] == state][["x", "y"]].dropna()
            (slope, intercept), residual, *_ = np.polyfit(rows["x"], rows["y"], 1, full=True)
            found = [part[i].item() for part in fitted.equations["y"]]
            assert_allclose(found, [intercept, slope, residual[0] / len(rows)])
        sizes = [len(frame[[name, *fitted.parents(name)]].dropna()) for name in frame]
        told = f"the rows that have it and its parents, {min(sizes)} to {max(sizes)} of 60"
        assert [told in note for note in fitted.notes] == [True]
        assert BayesianNetwork.fit(graph, frame.dropna()).notes == ()

    def test_families_without_rows_are_named(self):
        graph = f2sl.DAG([*"abxy"], [("a", "b"), ("x", "y")])
        data = {
            "a": ["u", "v", None, None],
            "b": [None, None, "u", "v"],
            "x": [0.5, 1.5, None, 2],
            "y": [3, 3, 4.5, 3],
        }
        with pytest.raises(
            DataError, match=r"do.* not vary in them: b \(parents a\): 0 rows, y \(parents x\): 3 rows"
        ):
            BayesianNetwork.fit(graph, data)
        # The parent does not vary where the child is known, and says nothing.
        data = {"x": [0.5, 0.5, 7, 8], "y": [1.5, 2.5, None, None]}
        fitted = BayesianNetwork.fit(f2sl.DAG([*"xy"], [("x", "y")]), data).equations["y"]
        assert_allclose([fitted.intercepts, fitted.coefficients[0], fitted.variances], [2, 0, 0.25])

    def test_a_learned_graph_is_fitted_from_its_own_columns(self):
        rows = f2sl.load_example("asia").iloc[:500]
        model = f2sl.F2SLs().fit(rows)
        more = rows.assign(day=pd.Timestamp("2020-01-01"))
        assert model.network(more) == model.network(rows)
        other = rows.set_axis([f"{name}!" for name in rows], axis=1)
        assert model.network(other, names=list(rows)) == model.network(rows)

    def test_edges_from_continuous_to_discrete_are_named(self):
        frame = weather().sample(50, random_state=1)
        graph = f2sl.DAG([*frame], [("sun", "wind"), ("heat", "out"), ("out", "wind")])
        with pytest.raises(f2sl.DataError, match="heat -> out, sun -> wind"):
            BayesianNetwork.fit(graph, frame)

    def test_gaussian_networks_are_fitted_to_continuous_tables(self):
        true = f2sl.random_network(variables=6, edges=7, kind="continuous", random_state=3)
        frame = true.sample(50_000, random_state=1) + 3
        fitted = f2sl.GaussianNetwork.fit(true.graph, frame)
        assert type(fitted) is f2sl.GaussianNetwork
        assert_allclose(fitted.weights(), true.weights(), atol=0.05)
        assert fitted == BayesianNetwork.fit(true.graph, frame)
        assert_allclose(fitted.sample(50_000, random_state=2).mean(), 3, atol=0.15)
        assert fitted.log_likelihood(frame) >= true.log_likelihood(frame - 3)
        whole = {"a": [1, 2, 4], "b": [2, 1, 9]}
        assert f2sl.GaussianNetwork.fit(f2sl.DAG(["a", "b"]), whole).variances["a"] == pytest.approx(14 / 9)


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6)
REALS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def networks(draw):
    """Networks of all kinds, with names and numbers of all sorts."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    numbers = {name for name in names if draw(st.booleans())}
    sizes = {name: draw(st.integers(1, 3)) for name in names}
    states, tables, equations, parents = {}, {}, {}, {}
    for i, name in enumerate(names):
        possible = [other for other in names[:i] if name in numbers or other not in numbers]
        parents[name] = draw(st.permutations([p for p in possible if draw(st.booleans())]))
        shape = [sizes[p] for p in parents[name] if p not in numbers]
        if name in numbers:
            m = len(parents[name]) - len(shape)
            q = math.prod(shape)
            intercepts = draw(st.lists(REALS, min_size=q, max_size=q))
            coefficients = draw(st.lists(REALS, min_size=q * m, max_size=q * m))
            variances = draw(st.lists(st.floats(1e-300, 1e300), min_size=q, max_size=q))
            equations[name] = (
                np.reshape(intercepts, shape),
                np.reshape(coefficients, [*shape, m]),
                np.reshape(variances, shape),
            )
        else:
            states[name] = draw(st.lists(NAMES, min_size=sizes[name], max_size=sizes[name], unique=True))
            cells = math.prod(shape) * sizes[name]
            weights = draw(st.lists(st.integers(1, 99), min_size=cells, max_size=cells))
            weights = np.reshape(weights, [*shape, sizes[name]])
            tables[name] = weights / weights.sum(axis=-1, keepdims=True)
    order = draw(st.permutations(names))
    graph = f2sl.DAG(order, [(parent, child) for child in names for parent in parents[child]])
    return BayesianNetwork(graph, states, tables, equations=equations, parents=parents, name=draw(NAMES))


class TestFiles:
    @given(networks())
    @examples(40)
    def test_there_and_back(self, tmp_path_factory, network):
        path = tmp_path_factory.mktemp("files") / "net.json"
        network.save(path)
        loaded = f2sl.load_network(path)
        assert loaded.name == network.name
        assert loaded.variables == network.variables
        if network.states:
            assert loaded == network
        else:  # parents in the order of the graph
            assert type(loaded) is f2sl.GaussianNetwork
            assert loaded == f2sl.GaussianNetwork._of(network)
        assert f2sl.load_graph(path) == network.graph
        text = path.read_text(encoding="utf-8")
        loaded.save(path)
        assert path.read_text(encoding="utf-8") == text or not network.states

    def test_a_file_written_by_hand_is_read(self, tmp_path):
        path = tmp_path / "dogs.json"
        path.write_text(
            """{"format": "f2sl-network", "version": 1, "name": "dogs", "variables": [
              {"name": "bark", "parents": ["out", "weight"],
               "intercepts": [40, 20], "coefficients": [[0.5], [0.1]], "variances": 16},
              {"name": "out", "parents": [], "states": ["yes", "no"], "table": [0.15, 0.85]},
              {"name": "weight", "parents": [], "intercepts": 20, "coefficients": [], "variances": 25}]}"""
        )
        net = f2sl.load_network(path)
        assert net.variables == ("bark", "out", "weight")
        assert net.parents("bark") == ("out", "weight")
        assert net.equations["bark"].variances.tolist() == [16, 16]
        assert net.equations["bark"].coefficients.tolist() == [[0.5], [0.1]]
        assert set(f2sl.load_graph(path).directed_edges) == {("out", "bark"), ("weight", "bark")}

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"format": "graph"}, 'not a network of f2sl: there is no "format": "f2sl-network"'),
            ({"format": "f2sl-graph"}, "a graph without probabilities, not a network"),
            ({"version": 2}, "version 2 of the format is not known"),
            ({"name": 3}, "name must be a string"),
            ({"variables": 3}, '"variables" is not a list'),
            ({"variables": [3]}, 'variable 1 needs a "name" and a list of names'),
            ({"variables": [{"name": "a"}]}, 'variable 1 needs a "name" and a list of names'),
            (
                {"variables": [{"name": "a", "parents": []}]},
                "'a' needs name, parents and states and table, or",
            ),
            (0, "'sun' needs name, parents and"),
            ({"parents": ["rain"]}, "rain"),
            ({"parents": ["heat"]}, "cycle"),
            ({"intercepts": [1, 2]}, r"intercepts of 'sun' have the shape \(2,\)"),
            ({"variances": -1}, "variances of 'sun' must be above 0"),
            ({"coefficients": {"a": 1}}, "coefficients of 'sun' are not numbers"),
            ({"name": "heat"}, "heat"),
        ],
    )
    def test_refusals(self, change, problem, tmp_path):
        path = tmp_path / "net.json"
        weather().save(path)
        good = json.loads(path.read_text())
        if change == 0:
            good["variables"][2]["states"] = ["a"]
        elif "format" in change or "version" in change or "variables" in change or change == {"name": 3}:
            good |= change
        else:
            good["variables"][2] |= change
        path.write_text(json.dumps(good))
        with pytest.raises(f2sl.FileError, match=problem) as caught:
            f2sl.load_network(path)
        assert str(caught.value).startswith(str(path))

    def test_what_is_no_json(self, tmp_path):
        path = tmp_path / "net.json"
        for text, problem in (
            ("{\n{", "line 2: not JSON"),
            ("[" * 10**6, "nested too deeply"),
            ("3", "network"),
        ):
            path.write_text(text)
            with pytest.raises(f2sl.FileError, match=problem):
                f2sl.load_network(path)
        with pytest.raises(f2sl.FileError, match="cannot read"):
            f2sl.load_network(tmp_path / "none.json")

    def test_discrete_networks_can_be_json_too(self, tmp_path):
        alarm = f2sl.load_network("alarm")
        alarm.save(tmp_path / "alarm.json")
        assert f2sl.load_network(tmp_path / "alarm.json") == alarm


class TestRandom:
    @pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.75, 1])
    def test_what_was_asked_for(self, share):
        net = f2sl.random_network(40, 50, 3, (2, 4), kind="mixed", share_continuous=share, random_state=4)
        assert net.graph.n_edges == 50
        assert max(len(net.graph.parents(node)) for node in net.variables) <= 3
        assert net.kinds.count("continuous") == 40 * share
        assert all(2 <= len(listed) <= 4 for listed in net.states.values())

    def test_continuous_columns_have_one_scale(self):
        net = f2sl.random_network(60, 90, kind="mixed", share_continuous=0.7, random_state=2)
        frame = net.sample(50_000, random_state=3)[list(net.equations)]
        assert_allclose(frame.mean(), 0, atol=0.06)
        assert_allclose(frame.var(), 1, atol=0.08)

    def test_effects_are_visible(self):
        net = f2sl.random_network(
            60, 90, kind="mixed", weights=(0.5, 1.5), noise=2.0, varying=0, random_state=2
        )
        for name, (intercepts, coefficients, variances) in net.equations.items():
            scale = np.sqrt(2.0 / variances.flat[0])
            assert_allclose(variances, variances.flat[0])
            for axis, size in enumerate(intercepts.shape):
                # Levels of a spread drawn as coefficients are, the same whatever the others are.
                shifts = intercepts - intercepts.mean(axis=axis, keepdims=True)
                assert_allclose(shifts, np.broadcast_to(_along(shifts, axis), shifts.shape), atol=1e-9)
                levels = np.sort(_along(shifts, axis).ravel()) * scale
                assert 0.5 - 1e-9 <= levels.std() <= 1.5 + 1e-9
                assert_allclose(np.diff(levels), np.diff(levels)[0])
                assert len(levels) == size
            sizes = np.abs(coefficients) * scale
            assert ((sizes >= 0.5 - 1e-9) & (sizes <= 1.5 + 1e-9)).all(), name
            assert_allclose(coefficients, np.broadcast_to(coefficients[(0,) * intercepts.ndim], sizes.shape))

    def test_coefficients_that_vary_do_so_with_one_parent(self):
        net = f2sl.random_network(80, 140, kind="mixed", varying=1, random_state=6)
        both = 0
        for intercepts, coefficients, _ in net.equations.values():
            if not intercepts.ndim or not coefficients.shape[-1]:
                continue
            both += 1
            varies = [np.ptp(coefficients, axis=axis).max() > 0 for axis in range(intercepts.ndim)]
            assert sum(varies) == 1
            signs = np.sign(coefficients).reshape(-1, coefficients.shape[-1])
            assert (signs == signs[0]).all()
        assert both > 5

    def test_the_same_network_on_every_machine(self):
        net = f2sl.random_network(30, 40, kind="mixed", random_state=1)
        assert net == f2sl.random_network(30, 40, kind="mixed", random_state=1)
        assert net != f2sl.random_network(30, 40, kind="mixed", random_state=2)
        table = sample_table(net, 500, random_state=1)
        digest = hashlib.sha256(table.codes.tobytes() + table.numbers.astype("<f8").tobytes()).hexdigest()
        assert digest == PINNED

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"kind": "discrete", "share_continuous": 0.5}, "share_continuous is not an option"),
            ({"kind": "continuous", "varying": 0.5}, "varying is not an option"),
            ({"kind": "mixed", "share_continuous": 1.5}, "share_continuous must be a number from 0 to 1"),
            ({"kind": "mixed", "varying": -1}, "varying must be a number from 0 to 1"),
            ({"kind": "mixed", "weights": 3}, "weights must be a pair"),
            ({"kind": "mixed", "noise": 0}, "noise must be"),
            ({"kind": "binary"}, "kind must be one of 'discrete', 'continuous', 'mixed'"),
        ],
    )
    def test_refusals(self, options, words):
        with pytest.raises(f2sl.OptionError, match=words):
            f2sl.random_network(5, 4, **options)


def _along(values, axis):
    """The first of all lines along an axis."""
    return values[tuple(slice(None) if i == axis else slice(0, 1) for i in range(values.ndim))]


class TestObserved:
    @pytest.mark.parametrize("ordered", [False, True])
    def test_continuous_observations_are_means_of_states_and_noise(self, ordered):
        alarm = f2sl.load_network("alarm")
        noisy = observed_as_continuous(alarm, 0.5, random_state=3, noise=0.2, ordered=ordered)
        assert len(noisy.equations) == 19  # of 37
        frame, true = noisy.sample(20_000, random_state=5), alarm.sample(20_000, random_state=5)
        orders = []
        for name in alarm.variables:
            if name not in noisy.equations:
                assert frame[name].tolist() == true[name].tolist()
                continue
            assert frame[f"{name} (hidden)"].tolist() == true[name].tolist()
            means = noisy.equations[name].intercepts
            assert sorted(means) == list(range(len(alarm.states[name])))
            orders.append(means.tolist() == sorted(means))
            noise = frame[name] - means[true[name].cat.codes]
            assert noise.std() == pytest.approx(0.2, rel=0.03)
            assert abs(noise.mean()) < 0.01
        assert all(orders) == ordered

    def test_other_shares_and_seeds(self):
        asia = f2sl.load_network("asia")
        assert observed_as_continuous(asia, 0) == asia
        assert len(observed_as_continuous(asia, 1).equations) == 8
        assert observed_as_continuous(asia, random_state=1) == observed_as_continuous(asia, random_state=1)
        assert observed_as_continuous(asia, random_state=1) != observed_as_continuous(asia, random_state=2)
        with pytest.raises(f2sl.OptionError, match="share must be a number from 0 to 1"):
            observed_as_continuous(asia, 2)
