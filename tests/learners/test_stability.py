"""Which decided directions are found again from resampled rows, and where that is kept and shown."""

import json

import numpy as np
import pandas as pd
import pytest

import f2sl
from f2sl import PDAG, FileError, Knowledge
from f2sl._deadline import Deadline
from f2sl._progress import Display, showing
from f2sl.data import notes
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.learners import stability
from f2sl.learners.resample import Resampling, gathered
from f2sl.learners.stability import MOST_COLUMNS, MOST_ROWS, sampled
from f2sl.view.drawing import drawing
from f2sl.view.page import page_data
from interrupting import ThirdStep
from marks import compiled_only

pytestmark = compiled_only


def colliders(rows=400, random_state=0):
    """Return numbers with x -> z <- y strong, and a -> c <- b in doubt: a and b hardly depend on c."""
    rng = np.random.default_rng(random_state)
    x, y, a, b, noise, more = rng.normal(size=(6, rows))
    return pd.DataFrame({"x": x, "y": y, "z": x + y + 0.5 * noise, "a": a, "b": b, "c": a + 0.3 * b + more})


def test_an_arrow_is_weak_if_a_replicate_lacks_it():
    frame = colliders(200)
    model = f2sl.BOSS(stability=5).fit(frame)
    cpdag = model.graph_
    # The same, from the parts: rows sorted by value, five draws with replacement, a fast search on each.
    table = sampled(f2sl.open_table(frame).in_name_order())
    resampling = Resampling(f2sl.BOSS(effort="fast"), table.names, "bootstrap", random_state=0)
    found = []
    for number in range(5):
        drawn = gathered(table, resampling.rows(number, table.n_rows))
        found.append(set(f2sl.BOSS(effort="fast", stability=0).fit(drawn).graph_.directed_edges))
    stable = set.intersection(*found)
    assert cpdag.weak == set(cpdag.directed_edges) - stable
    assert {("x", "z"), ("y", "z")} <= stable
    assert cpdag.weak  # of the other collider
    assert model.weakly_decided_ == dict.fromkeys(cpdag.weak, "not found again from resampled rows")
    told = model.explain("c", "b", frame)
    assert told.edge == "b -> c"
    assert told.of_kind("weak")[0].text == (
        "this direction is only weakly decided: not found again from resampled rows"
    )
    assert not model.explain("x", "z").of_kind("weak")
    page = page_data(model)
    weak = {
        (page["nodes"][edge["a"]]["n"], page["nodes"][edge["b"]]["n"]): edge.get("w")
        for edge in page["edges"]
    }
    assert {arrow for arrow, number in weak.items() if number} == cpdag.weak
    assert page["weak"] == ["not found again from resampled rows"]
    assert page_data(cpdag)["weak"] == ["not found again from resampled rows, or not checked"]
    # The graph itself is that without the check.
    unchecked = f2sl.BOSS(stability=0).fit(frame)
    assert unchecked.graph_ == cpdag
    assert not unchecked.graph_.weak


def test_an_arrow_is_weak_if_no_test_confirms_it(monkeypatch):
    frame = colliders(200)
    monkeypatch.setattr(stability, "standing", lambda *graph: set())
    why = f2sl.BOSS(stability=5).fit(frame).weakly_decided_
    assert why["x", "z"] == "no v-structure it follows from passes a test that also sees curved relations"
    assert why["b", "c"] == "not found again from resampled rows"


def test_strong_colliders_are_decided_by_every_learner_by_a_score():
    frame = pd.DataFrame({name: values > 0 for name, values in colliders(2000).items()})
    by_score = (f2sl.F2SLh, f2sl.BOSS, f2sl.HillClimbing, f2sl.MMHC, f2sl.F2SLs, f2sl.ExactSearch, f2sl.SLLg)
    for learner in [learner() for learner in by_score]:
        model = learner.fit(frame[["x", "y", "z"]])
        assert set(model.graph_.directed_edges) == {("x", "z"), ("y", "z")}, learner
        assert model.graph_.weak == frozenset(), learner
        assert "directions" in model.timings_


@pytest.mark.parametrize(
    ("kind", "missing"), [("discrete", 0.1), ("continuous", 0.0), ("continuous", 0.1), ("mixed", 0.0)]
)
def test_marks_do_not_depend_on_engine_or_order_of_rows(kind, missing, tmp_path):
    frame = colliders(200)
    if kind != "continuous":
        frame = frame.assign(
            **{name: (frame[name] > 0).astype(str) for name in frame if kind == "discrete" or name < "c"}
        )
    frame = frame.mask(np.random.default_rng(5).random(frame.shape) < missing)
    expected = f2sl.learn(frame).graph_
    shuffled = f2sl.learn(frame.sample(frac=1, random_state=3)).graph_
    frame.to_parquet(tmp_path / "table.parquet")
    streamed = f2sl.learn(tmp_path / "table.parquet", engine="stream", n_jobs=1).graph_
    for other in (shuffled, streamed):
        assert (other, other.weak) == (expected, expected.weak)


def test_directions_from_knowledge_are_not_weak():
    frame = colliders(200)
    required = Knowledge(required=[("b", "c")], tiers=[["a"], ["*"]])
    model = f2sl.F2SLh(knowledge=required).fit(frame)
    assert model.graph_.has_directed_edge("a", "c")
    assert not model.graph_.weak & {("a", "c"), ("b", "c")}


def test_notes_are_looked_for_once_and_not_in_each_replicate(monkeypatch):
    told, seen = notes.remarks, []
    monkeypatch.setattr(notes, "remarks", lambda table: seen.append(table) or told(table))
    frame = colliders(200) > 0
    assert "directions" in f2sl.F2SLh().fit(frame).timings_
    assert len(seen) == 1
    f2sl.bootstrap(frame, f2sl.F2SLc(), replicates=2, n_jobs=1)
    assert len(seen) == 2  # once at the whole table


def test_large_tables_are_checked_only_on_request():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(30, MOST_COLUMNS + 1)), columns=list(range(MOST_COLUMNS + 1)))
    frame[0] += 5 * (frame[1] + frame[2])
    frame.columns = [f"v{i}" for i in frame.columns]
    known = f2sl.Knowledge(required=[("v1", "v0")])
    model = f2sl.BOSS(knowledge=known).fit(frame)
    assert ("v2", "v0") in model.graph_.directed_edges
    assert model.graph_.weak == set(model.graph_.directed_edges) - {("v1", "v0")}
    assert set(model.weakly_decided_.values()) == {"not checked with resampled rows"}
    assert any("columns or states; stability=8 checks them" in note for note in model.notes_)
    assert "directions" in f2sl.BOSS(stability=1).fit(frame).timings_


def test_many_rows_are_sampled_evenly():
    n = 2 * MOST_ROWS + 2
    values = np.arange(n)[::-1] + 0.5  # whole numbers that count the rows would be left out
    drawn = sampled(f2sl.open_table({"a": values, "b": values % 7 + 0.5}))
    assert drawn.n_rows == MOST_ROWS
    assert np.array_equal(np.sort(drawn.column(0)), np.sort(values[np.arange(MOST_ROWS) * n // MOST_ROWS]))


def test_an_interrupted_check_keeps_the_graph(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    frame, model = colliders(200), f2sl.BOSS()
    expected = f2sl.BOSS(stability=0).fit(frame).graph_
    monkeypatch.setattr(stability, "weakly_decided", interrupted)
    with pytest.raises(Interrupted):
        model.fit(frame)
    assert (model.graph_, model.complete_) == (expected, False)
    assert model.graph_.weak == model.dag_.weak == set(expected.directed_edges)
    assert "incomplete: interrupted; the directions were not checked, so all are called weakly decided" in (
        model.notes_
    )


class LetTimeBeUp(Display):
    """Lets the time of each limit be up once the check of directions has begun, at its n-th stage."""

    def __init__(self, monkeypatch, n):
        self.stages, self.checking = 0, False
        passed = property(lambda deadline: deadline.seconds is not None and self.stages >= n)
        monkeypatch.setattr(Deadline, "passed", passed)

    def begin(self, stage):
        self.checking |= stage == "checking directions"
        self.stages += self.checking


@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        (f2sl.F2SLh, "discrete"),
        (f2sl.F2SLh, "continuous"),
        (f2sl.MMHC, "discrete"),
        (f2sl.ExactSearch, "discrete"),
    ],
)
def test_a_time_limit_ends_the_check_without_evidence(learner, kind, monkeypatch):
    frame = colliders(400)
    frame = frame > 0 if kind == "discrete" else frame
    with showing(LetTimeBeUp(monkeypatch, 10**9)) as never:
        whole = learner(time_limit=100).fit(frame)
    assert whole.complete_
    assert whole.graph_.weak < set(whole.graph_.directed_edges)
    for n in sorted({1, 2, 3, never.stages // 2, never.stages}):
        with showing(LetTimeBeUp(monkeypatch, n)), pytest.warns(F2SLWarning, match="incomplete: the time"):
            model = learner(time_limit=100).fit(frame)
        assert model.graph_ == whole.graph_
        assert model.graph_.weak == model.dag_.weak == set(whole.graph_.directed_edges)
        assert not model.complete_
        assert model.notes_[-1] == (
            "incomplete: the time limit of 100 s was reached; "
            "the directions were not checked, so all are called weakly decided"
        )


@pytest.mark.parametrize("stability", [None, 0])
def test_directions_of_an_interrupted_search_are_weak_unless_no_check_is_asked_for(stability):
    known = Knowledge(required=[("a", "c")])
    model = f2sl.HillClimbing(stability=stability, knowledge=known)
    with showing(ThirdStep()), pytest.raises(Interrupted):
        model.fit(colliders(2000))
    directed = set(model.graph_.directed_edges)
    assert {("x", "z"), ("a", "c")} <= directed
    assert model.graph_.weak == (set() if stability == 0 else directed - {("a", "c")})


GRAPH = PDAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c")], [("c", "d")])
GRAPH.weak = frozenset({("b", "c")})


def test_marks_are_kept():
    assert GRAPH.reorder(["d", "c", "b", "a"]).weak == GRAPH.weak


def test_files_keep_the_marks(tmp_path):
    path = tmp_path / "graph.json"
    GRAPH.save(path)
    assert f2sl.load_graph(path).weak == GRAPH.weak
    told = json.loads(path.read_text())
    assert told["weak"] == [["b", "c"]]
    path.write_text(json.dumps({**told, "weak": [["c", "d"]]}))
    with pytest.raises(FileError, match=r'"weak" holds \[.c., .d.\], which is none of the directed edges'):
        f2sl.load_graph(path)


def test_pictures_and_pages_tell_the_marks_apart(tmp_path):
    assert [edge.weak for edge in drawing(GRAPH).edges] == [False, True, False]
    picture = f2sl.plot(GRAPH).svg()
    assert picture.count("weakly decided") == 1
    assert picture.count('stroke-dasharray="6 4"') == 2  # the edge and its entry in the legend
    GRAPH.show(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "4 variables, 3 edges, 1 of them undirected, 1 of the directed weakly decided" in page
    assert page.count('"w":1') == 1


def test_the_summary_counts_them_apart():
    model = f2sl.BOSS().fit(colliders(200))
    weak, all_directed = len(model.graph_.weak), len(model.graph_.directed_array)
    assert weak
    told = str(model.summary())
    assert f"the data decide {all_directed - weak} direction" in told
    assert f", {weak} weakly" in told
    assert told.count("(weakly decided)") == weak
