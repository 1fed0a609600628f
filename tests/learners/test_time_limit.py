"""Every learner of whole graphs stops at its time limit, and on Ctrl-C, with a legal graph."""

import signal
import warnings

import numpy as np
import pytest

import f2sl
from cli_process import f2sl as command
from cli_process import interrupted
from f2sl import load_graph
from f2sl._deadline import Deadline
from f2sl._progress import Display, showing
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.learners.base import StructureLearner
from f2sl.learners.registries import STRUCTURE
from interrupting import ThirdStep
from marks import compiled_only, posix_only

pytestmark = compiled_only

KINDS = {
    "f2sl-h": ("discrete", "continuous", "mixed"),
    "tc": ("continuous",),
    "notears": ("continuous",),
    "dag-gnn": ("continuous",),
}
CASES = [
    (entry.name, kind) for entry in STRUCTURE.registered() for kind in KINDS.get(entry.name, ("discrete",))
]


@pytest.fixture(scope="module")
def tables():
    kinds = ("discrete", "continuous", "mixed")
    return {
        kind: f2sl.random_network(9, 13, kind=kind, random_state=3).sample(400, random_state=1)
        for kind in kinds
    }


def create(algorithm, **options):
    if algorithm == "dag-gnn":
        pytest.importorskip("torch")
        options |= {"epochs": 3, "max_iter": 3}
    return STRUCTURE.create(algorithm, options)


def fitted(model, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", F2SLWarning)
        return model.fit(table)


def let_time_be_up(monkeypatch, looks):
    """Let the time of a limit be up after some looks at it."""
    seen = []

    def passed(deadline):
        seen.append(deadline)
        return deadline.seconds is not None and len(seen) > looks

    monkeypatch.setattr(Deadline, "passed", property(passed))


class Interrupting(Display):
    """Lets Ctrl-C come when a stage begins, the n-th of its name."""

    def __init__(self, stage, n=1):
        self.wanted, self.left = stage, n

    def begin(self, stage):
        self.left -= stage == self.wanted
        if stage == self.wanted and self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize(("algorithm", "kind"), CASES)
def test_the_graph_is_legal_wherever_the_time_limit_comes(algorithm, kind, tables, monkeypatch):
    table = tables[kind]
    a, b, c, d = table.columns[:4]
    knowledge = f2sl.Knowledge(required=[(a, b)], forbidden=[(c, d), (d, c)])
    whole = create(algorithm, knowledge=knowledge).fit(table)
    complete = []
    for looks in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 233, 10**9):
        let_time_be_up(monkeypatch, looks)
        model = fitted(create(algorithm, knowledge=knowledge, time_limit=5), table)
        graph = model.graph_
        assert graph.nodes == tuple(table.columns)
        assert graph.has_directed_edge(a, b)
        assert d not in graph.neighbors(c)
        assert not graph.has_directed_cycle()
        told = [note for note in model.notes_ if note.startswith("incomplete: the time limit of 5 s ")]
        assert bool(told) is not model.complete_
        complete.append(model.complete_)
    assert not complete[0]
    assert complete[-1]
    assert graph == whole.graph_


def test_a_limit_before_any_step_leaves_no_edges_and_warns(tables):
    with pytest.warns(F2SLWarning, match="incomplete: the time limit of 0.001 s was reached; no step was"):
        model = f2sl.F2SLh(time_limit=0.001).fit(tables["discrete"])
    assert model.graph_.n_edges == 0
    assert model.notes_[-1].endswith("no step was finished, so the graph has no edges")


def test_a_learner_of_ones_own_has_a_time_limit(tables):
    class Slow(StructureLearner):
        def _learn(self, fit):
            from f2sl._progress import stage

            with stage("thinking") as advance:
                while True:
                    advance(0.0)

    model = fitted(Slow(time_limit=0.01), tables["discrete"])
    assert not model.complete_
    assert model.graph_.n_edges == 0


# Ctrl-C


@pytest.mark.parametrize(
    ("kind", "stage"),
    [
        ("discrete", "scoring sets of parents"),
        ("mixed", "searching orders"),
        ("continuous", "searching orders"),
    ],
)
def test_an_interrupt_keeps_what_was_found(kind, stage, tables):
    """Before a search the graph of the tests, and in a search of one matrix its best graph so far."""
    model = f2sl.F2SLh()
    with showing(Interrupting(stage)), pytest.raises(Interrupted) as caught:
        model.fit(tables[kind])
    assert not model.complete_
    assert model.graph_ == caught.value.finished.reorder(model.graph_.nodes)
    assert model.graph_.n_edges > 0
    assert model.notes_[-1].startswith("incomplete: interrupted; ")
    model.graph_.to_dag()


def test_an_interrupt_keeps_the_best_graph_of_a_search(tables):
    whole, model = f2sl.F2SLh().fit(tables["discrete"]), f2sl.F2SLh()
    with showing(Interrupting("looking for further candidates")), pytest.raises(Interrupted):
        model.fit(tables["discrete"])
    assert not model.complete_
    assert isinstance(model.dag_, f2sl.DAG)
    assert model.graph_.n_edges > 0
    assert model.score_ <= whole.score_ + 1e-6
    assert model.graph_ == model.dag_.to_cpdag()


def test_an_interrupt_of_hill_climbing_keeps_its_best_graph(tables):
    model = f2sl.F2SLs()
    with showing(ThirdStep()), pytest.raises(Interrupted):
        model.fit(tables["discrete"])
    assert isinstance(model.dag_, f2sl.DAG)
    assert model.graph_.n_edges == 3


def test_an_interrupt_before_anything_is_found_leaves_the_earlier_result(tables):
    model = f2sl.F2SLh().fit(tables["discrete"])
    before = model.graph_
    with showing(Interrupting("measuring all pairs")), pytest.raises(KeyboardInterrupt) as caught:
        model.fit(tables["discrete"].iloc[:, :4])
    assert not isinstance(caught.value, Interrupted)
    assert model.graph_ is before


# The command line


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Files of tables that take much longer than the tests wait for."""
    folder = tmp_path_factory.mktemp("large")
    states = f2sl.random_network(150, 300, kind="discrete", random_state=1).sample(5000, random_state=1)
    mixed = f2sl.random_network(60, 120, kind="mixed", random_state=1).sample(3000, random_state=1)
    mixed = mixed.mask(np.random.default_rng(0).random(mixed.shape) < 0.07)
    states.to_parquet(folder / "states.parquet")
    mixed.to_parquet(folder / "mixed.parquet")
    return {"discrete": folder / "states.parquet", "mixed": folder / "mixed.parquet"}


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("kind", "stage"), [("discrete", "measuring all pairs"), ("mixed", "filling in missing values")]
)
def test_a_signal_before_the_search_leaves_nothing(kind, stage, number, large, tmp_path):
    arguments = ["learn", large[kind], "--out", "graph.json"]
    code, _, shown = interrupted(arguments, tmp_path, [stage], number)
    assert code == 128 + number
    assert shown.rstrip().endswith("f2sl: interrupted; nothing was written")
    assert not (tmp_path / "graph.json").exists()


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("kind", "stage"), [("discrete", "scoring sets of parents"), ("mixed", "searching orders")]
)
def test_a_signal_during_the_search_writes_what_is_found(kind, stage, number, large, tmp_path):
    arguments = ["learn", large[kind], "--out", "graph.json", "--effort", "thorough"]
    code, _, shown = interrupted(arguments, tmp_path, [stage], number)
    assert code == 128 + number
    assert shown.rstrip().endswith("f2sl: interrupted; graph.json was written, incomplete")
    assert load_graph(tmp_path / "graph.json").n_edges > 0


def test_the_default_learner_has_a_time_limit_on_the_command_line(large):
    done = command("learn", large["mixed"], "--time-limit", "0.5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Graph    INCOMPLETE: " in done.stdout
    assert "Note     incomplete: the time limit of 0.5 s was reached; " in done.stdout
