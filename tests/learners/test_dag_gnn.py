"""DAG-GNN: its gradient, what it learns, that nothing but data and seed matter, and how it ends early."""

import doctest
import json
import math
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import f2sl
from cli_process import ENVIRONMENT, learned, small_table, write_csv
from f2sl import DataError, OptionError
from f2sl.cli.app import main
from f2sl.errors import F2SLWarning, Interrupted
from naive_dag_gnn import cycles, network, objective

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason='needs PyTorch: pip install "f2sl[deep]"')

TRUTH = f2sl.DAG([*"abcde"], [("a", "c"), ("b", "c"), ("c", "d"), ("a", "e")])
SHORT = {"epochs": 30}
"""Enough for the few variables here."""
SHORTER = {"epochs": 4, "max_iter": 3}
"""Enough to see whether two trainings are the same."""


def linear(rows=500, random_state=0):
    """Five variables, a -> c <- b, c -> d and a -> e, with noises of the same size."""
    a, b, c, d, e = np.random.default_rng(random_state).normal(size=(5, rows))
    c = c + 1.5 * a - b
    d = d + 1.2 * c
    e = e - 1.6 * a
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e})


@pytest.fixture(scope="module")
def model():
    return f2sl.DAGGNN(**SHORT).fit(linear())


@pytest.fixture(scope="module")
def begun():
    return f2sl.DAGGNN(**SHORTER).fit(linear())


@needs_torch
def test_examples():
    """Pytest does not look for them there (see the `conftest.py` above all tests)."""
    from f2sl.search import dag_gnn

    failed, attempted = doctest.testmod(dag_gnn)
    assert not failed and attempted


@needs_torch
class TestGradient:
    @pytest.mark.parametrize("hidden", [1, 2, 7])
    def test_broken_lines_are_the_layers(self, hidden):
        import torch

        from f2sl.search.dag_gnn import Curves

        rng = np.random.default_rng(hidden)
        units, levels = torch.tensor(rng.normal(size=(2, 3, hidden))), torch.tensor(rng.normal(size=2))
        curves = Curves(units, levels, torch.empty_like(units), torch.empty_like(levels))
        curves.prepare()
        x = rng.normal(size=50) * 3
        for i in range(2):
            expected = [network(value, *units[i].tolist(), levels[i].item()) for value in x]
            assert curves.values(i, torch.tensor(x)).numpy() == pytest.approx(expected, rel=1e-12, abs=1e-12)

    @pytest.mark.parametrize(("random_state", "tau"), [(0, 0.0), (1, 0.0), (2, 0.7)])
    def test_gradient_is_that_of_the_objective(self, random_state, tau):
        import torch

        from f2sl.search.dag_gnn import Autoencoder

        rng = np.random.default_rng(random_state)
        m, hidden, multiplier, penalty = 4, 3, 0.8, 2.5
        model = Autoencoder(m, hidden, rng)
        at = rng.normal(size=len(model.parameters)) * 0.5
        at[: m * m] *= 0.5
        at[: m * m : m + 1] = 0.0  # the diagonal is no parameter
        model.parameters.copy_(torch.tensor(at))
        rows = rng.normal(size=(6, m)) * 2
        loss = model.differentiate(torch.tensor(rows), multiplier, penalty, tau).item()

        def value(parameters, *constraint):
            return objective(parameters, rows.tolist(), hidden, *constraint)

        assert loss == pytest.approx(value(at, 0.0, 0.0, 0.0), rel=1e-12)
        step = 1e-5
        for i, slope in enumerate(model.gradient.tolist()):
            up, down = at.copy(), at.copy()
            up[i] += step
            down[i] -= step
            constraint = (multiplier, penalty, tau)
            expected = (value(up, *constraint) - value(down, *constraint)) / (2 * step)
            assert slope == pytest.approx(expected, rel=1e-6, abs=1e-6)

    def test_measure_of_cycles(self):
        import torch

        from f2sl.search.dag_gnn import Autoencoder

        model = Autoencoder(5, 2, np.random.default_rng(0))
        weights = np.random.default_rng(1).normal(size=(5, 5)) * (1 - np.eye(5))
        assert model.acyclicity(torch.tensor(weights))[0] == pytest.approx(
            cycles(weights.tolist()), rel=1e-12
        )
        assert model.acyclicity(torch.tensor(np.triu(weights)))[0] == pytest.approx(0, abs=1e-14)

    def test_optimiser_is_adam(self):
        import torch

        from f2sl.search.dag_gnn import Adam

        rng = np.random.default_rng(0)
        start = torch.tensor(rng.normal(size=20))
        ours, theirs = start.clone(), start.clone().requires_grad_()
        gradient = torch.zeros_like(ours)
        adam, reference = Adam(ours, gradient), torch.optim.Adam([theirs], lr=0.01)
        for _ in range(30):
            gradient.copy_(torch.tensor(rng.normal(size=20) * 10.0 ** rng.integers(-3, 3)))
            theirs.grad = gradient.clone()
            adam.step(0.01)
            reference.step()
            assert ours.numpy() == pytest.approx(theirs.detach().numpy(), rel=1e-12)


@needs_torch
class TestWhatIsLearned:
    def test_the_graph_and_its_weights(self, model):
        assert model.graph_ == TRUTH
        assert model.graph_.is_dag()
        assert model.weights_.shape == (5, 5)
        for (a, b), weight in model.graph_.weights.items():
            assert weight == model.weights_["abcde".index(a), "abcde".index(b)]
            assert abs(weight) > model.threshold
        signs = {edge: math.copysign(1, weight) for edge, weight in model.graph_.weights.items()}
        assert signs == {("a", "c"): 1, ("b", "c"): -1, ("c", "d"): 1, ("a", "e"): -1}
        assert np.count_nonzero(abs(model.weights_) > 0.3) == 4
        assert 0 <= model.h_ <= model.h_tol
        assert model.complete_
        assert model.loss_ > 0
        assert model.n_steps_ % (5 * 30) == 0
        (note,) = model.notes_
        assert note == "all 5 columns: read as continuous"

    def test_discrete_columns_are_taken_for_continuous(self):
        rng = np.random.default_rng(0)
        cause = rng.integers(0, 3, 400)
        effect = cause + np.where(rng.random(400) < 0.2, 1, 0) + np.where(cause > 1, 1, 0)
        table = {"cause": cause, "effect": effect, "other": rng.integers(0, 2, 400), "same": ["x"] * 400}
        model = f2sl.DAGGNN(**SHORT).fit(table)
        assert any("states are read as the numbers" in note for note in model.notes_)
        assert model.graph_.skeleton().undirected_edges == [("cause", "effect")]
        assert any("'same'" in note for note in model.notes_)
        assert any("numbers 0, 1, 2" in note for note in model.notes_)
        assert not model.weights_[3].any()
        assert not model.weights_[:, 3].any()

    def test_nothing_that_varies(self):
        model = f2sl.DAGGNN().fit({"a": [1, 1, 1], "b": [0, 0, 0]})
        assert model.graph_.n_edges == model.n_steps_ == 0
        assert model.complete_

    def test_the_unit_of_all_numbers_does_not_matter(self, model):
        tiny = f2sl.DAGGNN(**SHORT).fit(linear() * 1e-7)
        assert tiny.graph_ == model.graph_
        assert any("were divided by" in note for note in tiny.notes_)

    def test_columns_of_any_size_when_standardized(self):
        table = linear()
        known = f2sl.DAGGNN(**SHORTER, standardize=True).fit(table)
        units = f2sl.DAGGNN(**SHORTER, standardize=True).fit(table * [1.0, 2.0, 4.0, 1024.0, 0.5])
        assert np.array_equal(units.weights_, known.weights_)

    def test_more_tau_leaves_fewer_edges(self, model):
        assert f2sl.DAGGNN(**SHORT, tau=5.0).fit(linear()).graph_.n_edges < model.graph_.n_edges

    def test_a_threshold_that_leaves_cycles_is_raised(self):
        model = f2sl.DAGGNN(epochs=5, max_iter=1, threshold=0.0).fit(linear())
        assert model.graph_.is_dag()
        (note,) = [note for note in model.notes_ if "threshold" in note]
        assert note.endswith("a threshold of 0 left a cycle")
        assert any("without convergence" in note for note in model.notes_)

    def test_copies_and_few_rows_do_no_harm(self):
        table = linear(4).assign(f=lambda t: t["a"], g=lambda t: t["a"] + t["b"])
        model = f2sl.DAGGNN(epochs=3, max_iter=3).fit(table)
        assert model.graph_.is_dag()
        assert "only 4 rows: the result is unreliable" in model.notes_


@needs_torch
class TestNothingButDataAndSeedMatter:
    def test_threads(self, begun):
        import torch

        before = torch.get_num_threads()
        try:
            for threads in (1, 3):
                torch.set_num_threads(threads)
                again = f2sl.DAGGNN(**SHORTER).fit(linear())
                assert np.array_equal(again.weights_, begun.weights_)
                assert torch.get_num_threads() == threads
        finally:
            torch.set_num_threads(before)

    def test_order_of_rows_and_columns(self, begun):
        table = linear().sample(frac=1, random_state=3)[[*"ecadb"]]
        other = f2sl.DAGGNN(**SHORTER).fit(table)
        positions = ["ecadb".index(name) for name in "abcde"]
        assert np.array_equal(other.weights_[np.ix_(positions, positions)], begun.weights_)
        assert other.graph_ == begun.graph_

    def test_what_was_drawn_before(self, begun):
        import torch

        torch.manual_seed(7)
        np.random.seed(7)  # noqa: NPY002 - the global one, which must not matter
        state = torch.get_rng_state()
        assert np.array_equal(f2sl.DAGGNN(**SHORTER).fit(linear()).weights_, begun.weights_)
        assert torch.equal(torch.get_rng_state(), state)

    def test_another_seed_is_another_training(self, begun):
        other = f2sl.DAGGNN(**SHORTER, random_state=2**70).fit(linear())
        assert not np.array_equal(other.weights_, begun.weights_)


@needs_torch
class TestEndingEarly:
    def test_time_limit(self):
        with pytest.warns(F2SLWarning, match="incomplete: the time limit of 0.05 s was reached"):
            model = f2sl.DAGGNN(time_limit=0.05).fit(linear())
        assert not model.complete_
        assert model.graph_.is_dag()
        assert 0 < model.n_steps_ < 300 * 5
        assert any(note.startswith("incomplete: the time limit of 0.05 s") for note in model.notes_)

    def test_interrupt(self, monkeypatch):
        from f2sl.search.dag_gnn import Adam

        step = Adam.step

        def interrupted(self, rate):
            if self.n_steps == 700:
                raise KeyboardInterrupt
            step(self, rate)

        monkeypatch.setattr(Adam, "step", interrupted)
        model = f2sl.DAGGNN(**SHORT)
        with pytest.raises(Interrupted) as caught:
            model.fit(linear())
        assert not model.complete_
        assert model.n_steps_ == 700
        assert model.graph_ == caught.value.finished
        assert model.graph_.n_edges > 0
        assert any(note.startswith("incomplete: interrupted; ") for note in model.notes_)

    def test_too_long_steps_are_told(self):
        model = f2sl.DAGGNN(**SHORTER)
        known = model.fit(linear()).graph_
        with pytest.raises(OptionError, match="learning_rate 1e\\+06 is too large"):
            model.set_params(learning_rate=1e6).fit(linear())
        assert model.graph_ == known


@needs_torch
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"hidden": 0}, "hidden must be a whole number of at least 1"),
        ({"epochs": 1.5}, "epochs must be a whole number"),
        ({"batch_size": 0}, "batch_size"),
        ({"max_iter": -1}, "max_iter"),
        ({"learning_rate": 0}, "learning_rate must be a number from"),
        ({"tau": -0.1}, "tau must be a number of 0 or more"),
        ({"threshold": "high"}, "threshold"),
        ({"h_tol": 0}, "h_tol"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0"),
        ({"standardize": "yes"}, "standardize must be True or False"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"kinds": "words"}, "kinds"),
    ],
)
def test_dag_gnn_refuses_options_out_of_range(options, told):
    with pytest.raises(OptionError, match=told):
        f2sl.learn(linear(50), "dag-gnn", **options)


@needs_torch
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"a": [np.nan, *range(19)]}, "missing.*'a'"),
        ({"a": np.inf}, "column 'a'.*infinite"),
        ({"b": "x"}, "'b' is discrete"),
    ],
)
def test_tables_that_are_refused(change, told):
    with pytest.raises(DataError, match=told):
        f2sl.DAGGNN().fit(linear(20).assign(**change))


@needs_torch
class TestByName:
    def test_learn_and_clone(self, begun):
        again = f2sl.learn(linear(), algorithm="dag-gnn", **SHORTER)
        assert np.array_equal(again.weights_, begun.weights_)
        copy = clone(begun)
        assert copy.epochs == 4
        assert not hasattr(copy, "graph_")

    def test_on_the_command_line(self, begun, tmp_path):
        path, out = write_csv(tmp_path / "t.csv", linear().to_dict("list")), tmp_path / "g.json"
        short = ["--epochs", "4", "--max-iter", "3"]
        told = json.loads(learned("learn", path, "-a", "dag-gnn", *short, "--json", "-o", out))
        edges = [[*edge] for edge in begun.graph_.directed_edges]
        assert told["graph"] == {"directed": edges, "undirected": []}
        assert told["options"]["threshold"] == 0.3
        assert told["complete"]
        sizes = [abs(edge["weight"]) for edge in told["strongest"]]
        assert sizes == sorted(sizes, reverse=True)
        assert f2sl.load_graph(out) == begun.graph_

    def test_options_on_the_command_line(self, tmp_path, capsys):
        path = str(write_csv(tmp_path / "t.csv", small_table()))
        options = [
            "--hidden",
            "8",
            "--batch-size",
            "50",
            "--learning-rate",
            "0.01",
            "--tau",
            "0.1",
            "--random-state",
            "3",
        ]
        options += ["--threshold", "0.2", "--h-tol", "1e-4", "--max-iter", "2", "--epochs", "2"]
        assert main(["learn", path, "-a", "dag-gnn", *options, "--standardize"]) == 0
        assert (
            "by dag-gnn --threshold 0.2 --standardize --hidden 8 --epochs 2 --batch-size 50 "
            "--learning-rate 0.01 --tau 0.1 --max-iter 2 --h-tol 0.0001 --random-state 3\n"
        ) in capsys.readouterr().out
        assert main(["learn", path, "-a", "dag-gnn", "--batch-size", "0"]) == 2
        assert "--batch-size must be a whole number of at least 1" in capsys.readouterr().err
        assert main(["learn", path, "-a", "dag-gnn", "--alpha", "0.1"]) == 2
        assert "dag-gnn has no option --alpha; it belongs to f2sl-c, " in capsys.readouterr().err


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # as good as not installed: importing it is an error
import f2sl
from f2sl.cli.app import main
assert main(["algorithms", "--json"]) == 0
table = f2sl.load_example("asia")
f2sl.F2SLc().fit(table)
try:
    f2sl.DAGGNN().fit(table)
except f2sl.F2SLError as error:
    print(error, file=sys.stderr)
sys.exit(main(["learn", str(f2sl.example_path("asia")), "-a", "dag-gnn"]))
"""


def test_without_torch_everything_else_works():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    from_python, from_command = done.stderr.splitlines()
    assert from_python.startswith("DAG-GNN needs PyTorch")
    assert from_python.endswith('pip install "f2sl[deep]"')
    assert from_command == f"f2sl: error: {from_python}"
    assert "dag-gnn" in {entry["name"] for entry in json.loads(done.stdout)["structure"]}
