"""NOTEARS as a user meets it: what it finds, what it says, and what it makes of bad input."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

import f2sl
import naive_continuous as naive
from cli_process import learned
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.search import continuous

CONSTRAINTS = ["expm", "logdet"]


@pytest.fixture(scope="module", params=CONSTRAINTS)
def constraint(request):
    return request.param


@pytest.fixture
def few_steps(monkeypatch):
    """End the stages of a search under the log-determinant early, where its optimum does not matter."""
    monkeypatch.setattr(continuous, "STEPS", 2000)
    monkeypatch.setattr(continuous, "LAST_STEPS", 4000)


@pytest.fixture(scope="module")
def network():
    return f2sl.random_network(variables=8, edges=9, max_parents=3, kind="continuous", random_state=3)


@pytest.fixture(scope="module")
def frame(network):
    return network.sample(1000, random_state=1)


@pytest.fixture(scope="module")
def fitted(frame):
    """Give what is learned with the usual options; for tests that change nothing of it."""
    return f2sl.NOTEARS().fit(frame)


@pytest.fixture(scope="module")
def backwards(frame, constraint):
    """Give what is learned from the columns in reverse order."""
    return f2sl.NOTEARS(constraint=constraint).fit(frame[frame.columns[::-1]])


def chain(rows=400, random_state=0):
    rng = np.random.default_rng(random_state)
    a, b, c = rng.normal(size=(3, rows))
    return pd.DataFrame({"a": a, "b": a + b, "c": a + b + c})


class TestWhatIsLearned:
    def test_the_true_graph(self, network, backwards):
        model = backwards
        assert model.graph_ == network.graph
        assert isinstance(model.graph_, f2sl.DAG)
        assert model.complete_
        assert 0 <= model.h_ < 1e-5
        assert model.n_iterations_ > 10
        assert model.threshold_ == 0.3
        assert set(model.timings_) == {"read", "prepare", "optimisation", "total"}

    def test_weights_are_those_of_the_lasso(self, frame, backwards):
        """With the graph given, the objective falls apart into a lasso for each variable."""
        names = list(frame.columns[::-1])
        weights = pd.DataFrame(backwards.weights_, names, names)
        for child in names:
            found = weights[child][abs(weights[child]) >= 0.01]
            if len(found):
                lasso = Lasso(alpha=0.1).fit(frame[found.index], frame[child])
                assert found.tolist() == pytest.approx(lasso.coef_.tolist(), abs=0.05)

    def test_weights_are_in_the_order_of_the_columns(self, frame, backwards):
        columns = list(frame.columns[::-1])
        for (parent, child), weight in backwards.graph_.weights.items():
            assert backwards.weights_[columns.index(parent), columns.index(child)] == weight
        assert np.count_nonzero(np.abs(backwards.weights_) >= 0.3) == backwards.graph_.n_edges

    def test_a_price_leaves_fewer_edges(self, frame, fitted):
        assert f2sl.NOTEARS(lambda1=1e4).fit(frame).graph_.n_edges == 0
        few = f2sl.NOTEARS(lambda1=3.0).fit(frame)
        assert few.graph_.n_edges < fitted.graph_.n_edges

    def test_states_are_taken_by_their_codes(self):
        rng = np.random.default_rng(0)
        a = rng.integers(0, 4, 500)
        b = np.clip(a + rng.integers(-1, 2, 500), 0, 3)
        labels = np.array(["k0", "k1", "k2", "k3"])
        by_label = f2sl.NOTEARS().fit({"a": labels[a], "b": labels[b]})
        assert any("states are read as the numbers" in note for note in by_label.notes_)
        by_number = f2sl.learn({"a": a, "b": b}, "notears", kinds="continuous")
        assert (by_label.weights_ == by_number.weights_).all()
        assert by_label.graph_.n_edges == 1

    def test_real_numbers_can_be_cut_into_intervals(self, frame):
        model = f2sl.learn(frame, "notears", bins=4)
        assert any("states are read as the numbers" in note for note in model.notes_)
        assert any("4 equal-frequency bins" in note for note in model.notes_)

    def test_a_threshold_that_leaves_a_cycle_is_raised_and_said_to_be(self):
        # One step of the multiplier leaves both directions of a strong edge.
        model = f2sl.NOTEARS(max_iter=1, threshold=0.0).fit(chain())
        assert model.graph_.is_dag()
        assert model.threshold_ > 0
        assert any("left a cycle" in note for note in model.notes_)
        assert any("max_iter or rho_max ended the search" in note for note in model.notes_)

    def test_names_decide_where_nothing_else_does(self, constraint, few_steps):
        rng = np.random.default_rng(1)
        x = rng.normal(size=300)
        y = x + rng.normal(size=300)
        model = f2sl.NOTEARS(standardize=True, constraint=constraint)
        assert model.fit({"u": x, "v": y}).graph_.directed_edges == [("u", "v")]
        assert model.fit({"v": x, "u": y}).graph_.directed_edges == [("u", "v")]


class TestScale:
    def test_units_matter_unless_columns_are_standardised(self, frame, fitted):
        other = frame * np.array([1, 10, 0.1, 3, 1, 1, 0.3, 1])
        model = f2sl.NOTEARS(standardize=True)
        known, again = model.fit(frame).weights_, model.fit(other).weights_
        assert np.abs(known - again).max() < 1e-3
        assert f2sl.NOTEARS().fit(other).graph_ != fitted.graph_

    def test_the_leak_is_measured_and_told(self, frame, fitted):
        assert fitted.varsortability_ == pytest.approx(f2sl.varsortability(frame, fitted.graph_))
        assert any("varsortability" in note and "standardize=True" in note for note in fitted.notes_)
        standard = f2sl.NOTEARS(standardize=True).fit(frame)
        assert not any("standardize" in note for note in standard.notes_)
        assert standard.varsortability_ == pytest.approx(f2sl.varsortability(frame, standard.graph_))

    def test_columns_too_small_to_be_seen_are_told(self):
        told = "hardly uses the smallest columns"
        for size, standardize, expected in ((100, False, False), (1e6, False, True), (1e6, True, False)):
            model = f2sl.NOTEARS(standardize=standardize).fit(chain() * [1, 1, size])
            assert any(told in note for note in model.notes_) == expected

    def test_no_edges_no_paths(self):
        rng = np.random.default_rng(0)
        model = f2sl.NOTEARS().fit(rng.normal(size=(200, 3)))
        assert model.graph_.n_edges == 0
        assert np.isnan(model.varsortability_)

    def test_random_networks_are_sortable_and_standardised_data_are_not(self):
        net = f2sl.random_network(variables=20, edges=40, kind="continuous", random_state=1)
        rows = net.sample(1000, random_state=1)
        assert f2sl.varsortability(rows, net.graph) > 0.85
        assert f2sl.varsortability(rows / rows.std(), net.graph) == pytest.approx(0.5, abs=1e-6)

    @given(random_state=st.integers(0, 10**6), size=st.integers(2, 6))
    def test_varsortability_is_the_share_of_paths(self, random_state, size):
        rng = np.random.default_rng(random_state)
        position = rng.permutation(size)
        pairs = [(i, j) for i in range(size) for j in range(i + 1, size) if rng.random() < 0.5]
        edges = [(int(position[i]), int(position[j])) for i, j in pairs]
        scales = rng.integers(1, 4, size)
        table = np.outer([-1.0, 0.5, 1.5], scales)
        names = [f"v{i}" for i in range(size)]
        graph = f2sl.DAG(names, [(names[a], names[b]) for a, b in edges])
        found = f2sl.varsortability(table, graph, names=names)
        if edges:
            assert found == pytest.approx(naive.varsortability(scales.tolist(), edges))
        else:
            assert np.isnan(found)

    def test_varsortability_refuses(self):
        data = {"a": [0.1, 0.2], "b": [0.5, 0.9]}
        with pytest.raises(f2sl.GraphError, match="DAG"):
            f2sl.varsortability(data, f2sl.PDAG(["a", "b"], undirected=[("a", "b")]))
        with pytest.raises(f2sl.DataError, match="'x'"):
            f2sl.varsortability(data, f2sl.DAG(["a", "x"]))
        told = "'a' is continuous, and column 'b' is discrete; varsortability takes one kind"
        mixed, graph = {"a": [0.1, 0.2], "b": ["no", "yes"]}, f2sl.DAG(["a", "b"])
        for table in (mixed, f2sl.open_table(mixed)):
            with pytest.raises(f2sl.DataError, match=told):
                f2sl.varsortability(table, graph)
        with pytest.raises(f2sl.DataError, match=r"missing .* in 'a', and varsortability needs all values"):
            f2sl.varsortability({"a": [0.1, None, 0.3], "b": [0.5, 0.9, 0.2]}, graph)

    def test_varsortability_reads_whole_numbers_beside_real_ones_as_numbers(self):
        data = {"a": [0.1, 0.2, 0.3], "b": [10, 20, 20]}
        assert f2sl.varsortability(data, f2sl.DAG(["a", "b"], [("a", "b")])) == 1.0


class TestNothingButTheDataMatters:
    @settings(max_examples=3)
    @given(random_state=st.integers(0, 10**6))
    def test_order_of_rows_and_columns(self, frame, fitted, random_state):
        rng = np.random.default_rng(random_state)
        other = f2sl.NOTEARS().fit(
            frame.sample(frac=1, random_state=random_state)[rng.permutation(frame.columns)]
        )
        assert other.graph_ == fitted.graph_
        assert other.graph_.reorder(frame.columns.tolist()).weights == fitted.graph_.weights

    def test_a_second_fit_forgets_the_first(self, frame):
        model = f2sl.NOTEARS(time_limit=1e-3)
        with pytest.warns(F2SLWarning, match="incomplete"):
            model.fit(frame)
        model.set_params(time_limit=None).fit(frame)
        assert model.complete_
        assert not any("incomplete" in note for note in model.notes_)


class TestEndedEarly:
    def test_by_a_time_limit(self, frame, constraint):
        model = f2sl.NOTEARS(time_limit=1e-3, constraint=constraint)
        with pytest.warns(F2SLWarning, match="time limit of 0.001 s"):
            model.fit(frame)
        assert not model.complete_
        assert model.graph_.is_dag()
        assert 1 <= model.n_iterations_ < 1000

    def test_by_an_interrupt(self, frame, monkeypatch):
        calls = []
        usual = continuous.trace_exponential

        def impatient(weights):
            calls.append(weights)
            if len(calls) == 200:
                raise KeyboardInterrupt
            return usual(weights)

        monkeypatch.setattr(continuous, "trace_exponential", impatient)
        model = f2sl.NOTEARS()
        with pytest.raises(Interrupted):
            model.fit(frame)
        assert not model.complete_
        assert model.graph_.is_dag()
        assert any("incomplete: interrupted" in note for note in model.notes_)


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("few_steps")
class TestBadInput:
    """A stated behaviour for each; no warning of the linear algebra gets out."""

    def test_a_constant_continuous_column_is_left_out(self, constraint):
        model = f2sl.NOTEARS(constraint=constraint).fit(chain().assign(k=2.5))
        assert "column 'k': left out: the same number in every row" in model.notes_

    def test_a_constant_discrete_column_has_no_edges(self, constraint):
        codes = (chain() > 0).astype(int)
        model = f2sl.NOTEARS(constraint=constraint).fit(codes.assign(k=1))
        assert model.graph_.neighbors("k") == []
        assert any("'k'" in note for note in model.notes_)
        rest = f2sl.NOTEARS(constraint=constraint).fit(codes)
        assert model.graph_.directed_edges == rest.graph_.directed_edges

    def test_nothing_but_constant_discrete_columns(self, constraint):
        model = f2sl.NOTEARS(constraint=constraint).fit({"a": [1, 1], "b": [0, 0]})
        assert model.graph_.n_edges == 0
        assert f2sl.NOTEARS(constraint=constraint).fit({"a": [1], "b": [0]}).graph_.n_edges == 0

    def test_copies_are_adjacent_and_told(self, constraint):
        frame = chain().assign(d=lambda t: t["c"])
        model = f2sl.NOTEARS(constraint=constraint).fit(frame)
        assert model.graph_.has_directed_edge("c", "d")
        assert any("'c' and 'd'" in note for note in model.notes_)

    def test_collinear_columns(self, constraint):
        model = f2sl.NOTEARS(constraint=constraint).fit(chain().assign(s=lambda t: t["a"] + t["b"]))
        assert model.graph_.is_dag()
        assert {"a", "b"} <= set(model.graph_.neighbors("s"))

    def test_fewer_rows_than_columns(self, constraint):
        rows = np.random.default_rng(0).normal(size=(5, 10))
        assert f2sl.NOTEARS(constraint=constraint).fit(rows).graph_.is_dag()
        assert f2sl.NOTEARS(constraint=constraint).fit(rows[:2]).graph_.is_dag()

    def test_infinity_and_missing_values_are_refused(self):
        for value, told in ((np.inf, "'b'.*infinite"), (np.nan, "missing.*'b'")):
            frame = chain()
            frame.loc[3, "b"] = value
            with pytest.raises(f2sl.DataError, match=told):
                f2sl.NOTEARS().fit(frame)
        assert f2sl.learn(frame, "notears", missing="drop").n_rows_ == 399

    def test_scales_far_from_one(self, constraint):
        frame = chain() * [1e40, 1.0, 1.0]
        with pytest.raises(f2sl.DataError, match="standardize=True"):
            f2sl.NOTEARS(constraint=constraint).fit(frame)
        standard = f2sl.NOTEARS(constraint=constraint, standardize=True)
        assert standard.fit(frame).graph_ == standard.fit(chain()).graph_
        assert f2sl.NOTEARS(constraint=constraint).fit(chain() * [1e6, 1e-6, 1.0]).graph_.is_dag()

    def test_labels_beside_numbers_are_refused(self):
        with pytest.raises(f2sl.DataError, match="bins=5"):
            f2sl.NOTEARS().fit(chain().assign(s="x"))

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            ({"lambda1": -1}, "lambda1"),
            ({"lambda1": float("nan")}, "lambda1"),
            ({"constraint": "exp"}, "'logdet'"),
            ({"max_iter": 0}, "max_iter"),
            ({"h_tol": 0}, "h_tol"),
            ({"rho_max": 1}, "rho_max"),
            ({"threshold": -0.1}, "threshold"),
            ({"standardize": "yes"}, "standardize"),
            ({"time_limit": 0}, "time_limit"),
            ({"kinds": "linear"}, "kinds"),
        ],
    )
    def test_options(self, options, word):
        with pytest.raises(f2sl.OptionError, match=word):
            f2sl.learn(chain(), "notears", **options)


class TestCommandLine:
    def test_learn(self, tmp_path):
        data, truth, out = tmp_path / "floats.csv", tmp_path / "truth.json", tmp_path / "graph.json"
        chain().to_csv(data, index=False)
        f2sl.DAG([*"abc"], [("a", "b"), ("b", "c")]).save(truth)
        printed = learned(
            "learn", data, "--algorithm", "notears", "--lambda1", "0.05", "--out", out, "--truth", truth
        )
        assert "variables, all continuous" in printed
        assert "lambda1 0.05" in printed
        assert f2sl.load_graph(out) == f2sl.NOTEARS(lambda1=0.05).fit(chain()).graph_

    def test_all_options_and_json(self, tmp_path):
        data = tmp_path / "floats.csv"
        chain(200).to_csv(data, index=False)
        options = "--constraint expm --threshold 0.2 --standardize --max-iter 5 --h-tol 1e-6 --rho-max 1e9"
        told = json.loads(learned("learn", data, "-a", "notears", *options.split(), "--json"))
        assert told["options"]["constraint"] == "expm"
        assert told["options"]["standardize"] is True
        assert told["states"] is None
        steps = {"max_iter": 5, "h_tol": 1e-6, "rho_max": 1e9}
        model = f2sl.NOTEARS(threshold=0.2, standardize=True, **steps).fit(chain(200))
        assert sorted(map(tuple, told["graph"]["directed"])) == sorted(model.graph_.directed_edges)
        weights = [abs(edge["weight"]) for edge in told["strongest"]]
        assert weights == sorted(weights, reverse=True)


def test_importing_it_loads_no_optimiser():
    import subprocess
    import sys

    code = (
        "import sys; from f2sl import NOTEARS; print('scipy.optimize' in sys.modules, 'numba' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]


def test_linear_algebra_has_one_thread_while_it_searches(frame, constraint, few_steps, monkeypatch):
    """More threads than one wait for each other on matrices of this size, and may sum in another order."""
    from threadpoolctl import threadpool_info

    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    steps = {"max_iter": 1} if constraint == "expm" else {}
    model = f2sl.NOTEARS(constraint=constraint, **steps).fit(frame)  # all libraries are loaded by now
    before, seen = threads(), []
    usual = continuous.least_squares

    def watched(weights, covariance):
        if not seen:
            seen.append(threads())
        return usual(weights, covariance)

    monkeypatch.setattr(continuous, "least_squares", watched)
    model.fit(frame)
    assert set(seen[0]) == {1}
    assert threads() == before
