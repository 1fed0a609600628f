"""What is learned from resampled rows, against a loop of single fits."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections import Counter
from importlib import import_module
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import f2sl
from f2sl import Confidence, DataError, FileError, Knowledge, OptionError
from f2sl._progress import Display, showing
from f2sl._threads import MOST_PER_CORE, available_cores
from f2sl.cli.files import load_graph_or_network
from f2sl.confidence import workers
from f2sl.confidence.result import Tally
from f2sl.data.stream import StreamTable
from f2sl.errors import Interrupted
from f2sl.learners.resample import Replicate, Resampling, gathered
from f2sl.view.page import page_data
from marks import compiled_only, posix_only
from mixed_tools import drawn_missing, mixed_columns

ASIA = f2sl.load_example("asia").iloc[:500]


def resampled(number, n_rows, method, random_state):
    """Draw the rows of a replicate, in any order."""
    part, half = (number, 0) if method == "bootstrap" else divmod(number, 2)
    drawn = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(part,)))
    if method == "bootstrap":
        return drawn.integers(n_rows, size=n_rows)
    return drawn.permutation(n_rows)[half * (n_rows // 2) :][: n_rows // 2]


def test_far_more_processes_than_cores_are_capped_with_a_note():
    found = f2sl.bootstrap(ASIA, "f2sl-c", 3, n_jobs=10**9)
    most = MOST_PER_CORE * available_cores()
    assert f"{most} processes instead of the 1,000,000,000 asked for" in found.notes[-1]
    assert "asked for" not in "".join(f2sl.bootstrap(ASIA, "f2sl-c", 3, n_jobs=2).notes)


@pytest.mark.parametrize("method", ["bootstrap", "subsample"])
@pytest.mark.parametrize("learner", [f2sl.F2SLc(alpha=0.05), f2sl.F2SLs()])
def test_counts_are_those_of_single_fits(learner, method):
    found = f2sl.bootstrap(ASIA, learner, 8, random_state=3, method=method, n_jobs=2)
    counts = Counter()
    for number in range(8):
        rows = ASIA.iloc[resampled(number, len(ASIA), method, 3)]
        graph = type(learner)(**learner.get_params()).fit(rows).graph_
        if isinstance(graph, f2sl.DAG):  # a score cannot tell the DAGs of a class from each other
            graph = graph.to_cpdag()
        counts.update((a, b, "->") for a, b in graph.directed_edges)
        counts.update((a, b, "-") for a, b in graph.undirected_edges)
    assert found.n_replicates == found.replicates == 8
    assert counts
    for a in ASIA:
        for b in ASIA:
            if a < b:
                marks = counts[a, b, "->"], counts[b, a, "->"], counts[a, b, "-"] + counts[b, a, "-"]
                assert found.of(a, b, directed=True) == marks[0] / 8
                assert found.of(b, a, directed=True) == marks[1] / 8
                assert found.of(a, b) == found.of(b, a) == sum(marks) / 8
    if method == "subsample":
        n_pairs, edges = 28, sum(counts.values()) / 8
        assert found.at(0.9).false_edges == pytest.approx(edges**2 / n_pairs / (2 * 0.9 - 1))
        assert found.false_edges is None  # the threshold was estimated from the same edges
    else:
        assert found.false_edges is None


def test_the_number_of_processes_decides_nothing(tmp_path):
    texts = []
    for jobs in (1, 2, 3):
        out = tmp_path / f"{jobs}.json"
        f2sl.bootstrap(ASIA, "f2sl-c", 12, random_state=5, n_jobs=jobs, out=out)
        texts.append(out.read_bytes())
    assert texts[0] == texts[1] == texts[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.json", "2.json", "3.json"]
    other = f2sl.bootstrap(ASIA, "f2sl-c", 12, random_state=6, n_jobs=1)
    assert other.counts.tolist() != Confidence.load(tmp_path / "1.json").counts.tolist()


def test_memory_does_not_grow_with_the_replicates(monkeypatch):
    def run(self, table, number):
        return Replicate(number, np.arange(5_000) + number % 2, True)

    monkeypatch.setattr(Resampling, "run", run)
    peaks = []
    for replicates in (4, 40):
        tracemalloc.start()
        f2sl.bootstrap(ASIA, "f2sl-c", replicates, n_jobs=1, threshold=1.0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 8 * 5_000  # one more replicate


def test_the_learners_own_number_of_jobs_counts_unless_another_is_given(monkeypatch):
    jobs = []

    def here(resampling, table, numbers, n_jobs=1):
        jobs.append(n_jobs)
        return workers.run_here(resampling, table, numbers)

    module = import_module("f2sl.confidence.bootstrap")
    monkeypatch.setattr(module, "run_in_processes", here)
    monkeypatch.setattr(module, "run_here", here)
    for own, given in ((1, None), (3, None), (3, 2), (3, 1), (None, 2)):
        f2sl.bootstrap(ASIA, f2sl.F2SLc(n_jobs=own), 2, n_jobs=given)
    assert jobs == [1, 3, 2, 1, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_replicate_is_progress(jobs):
    class Heard(Display):
        def __init__(self):
            self.stages, self.shares = [], {}

        def begin(self, stage):
            self.stages.append(stage)

        def advance(self, share):
            self.shares.setdefault(self.stages[-1], []).append(share)

        def end(self):
            self.stages.pop()

    with showing(Heard()) as heard:
        f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=jobs)
    assert heard.shares["learning from resampled rows"] == pytest.approx([0.2] * 5)


def test_halves_of_one_division_have_no_row_in_common():
    halves = Resampling(f2sl.F2SLc(), (), "subsample", random_state=7)
    for number in (0, 2, 10):
        first, second = halves.rows(number, 11), halves.rows(number + 1, 11)
        assert len(first) == len(second) == 5
        assert len(np.union1d(first, second)) == 10
    assert halves.rows(0, 11).tolist() != halves.rows(2, 11).tolist()


def test_rows_are_gathered_with_their_missing_values():
    columns = drawn_missing(1, mixed_columns(2), 0.2)
    frame = pd.DataFrame(columns)
    table = f2sl.open_table(frame)
    rows = np.random.default_rng(3).integers(len(frame), size=len(frame))
    drawn = gathered(table, rows)
    assert drawn.missing.tolist() == frame.iloc[rows].isna().sum().tolist()
    for i in range(table.n_variables):
        assert np.array_equal(
            drawn.column(i), table.column(i)[rows], equal_nan=table.kinds[i] == "continuous"
        )


@compiled_only
@pytest.mark.parametrize("method", ["bootstrap", "subsample"])
def test_mixed_tables_with_missing_values_and_columns_that_hardly_vary(method):
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=300), rng.integers(0, 3, 300)
    y = x + g + rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "g": g.astype(str), "y": y, "rare": np.r_[1.5, np.zeros(299)]})
    frame.loc[rng.random(300) < 0.1, "y"] = np.nan
    found = f2sl.bootstrap(frame, "f2sl-c", 10, method=method, n_jobs=1)
    assert found.of("x", "y") == found.of("g", "y") == 1
    assert found.of("rare", "x") < 0.5
    assert any("values are missing" in note for note in found.notes)
    # Knowledge about a column that is constant in a replicate: what is required is there all the same.
    known = Knowledge(required=[("rare", "x")], forbidden_adjacencies=[("r*", "y")], tiers=[["rare"], ["*"]])
    found = f2sl.bootstrap(frame, "f2sl-c", 10, method=method, n_jobs=1, knowledge=known)
    assert found.of("rare", "x", directed=True) == found.of("x", "y") == found.of("g", "y") == 1
    assert found.of("rare", "y") == 0
    assert known.check(found.graph) == []


def test_a_replicate_without_two_columns_that_vary():
    frame = pd.DataFrame({"a": np.r_[1.5, np.zeros(9)], "b": np.r_[np.zeros(9), 2.5]})
    rows = [resampled(number, 10, "bootstrap", 0) for number in range(12)]
    assert any(0 not in some for some in rows)
    found = f2sl.bootstrap(frame, "pc-stable", 12, n_jobs=1, knowledge=Knowledge(required=[("b", "a")]))
    assert found.counts.tolist() == [[0, 12, 0]]
    assert f2sl.bootstrap(frame, "pc-stable", 12, n_jobs=1).counts.tolist() == []


def test_weights_stand_for_rows():
    short = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [40, 10, 12, 50]})
    whole = short.loc[short.index.repeat(short["n"]), ["a", "b"]]
    by_weights = f2sl.bootstrap(short, "f2sl-c", 6, weights="n", n_jobs=1)
    assert (
        by_weights.counts.tolist()
        == f2sl.bootstrap(whole, "f2sl-c", 6, n_jobs=1).counts.tolist()
        == [[0, 0, 6]]
    )


@pytest.mark.parametrize("learner", ["f2sl-c", "f2sl-s", "pc-stable"])
def test_knowledge_is_obeyed(learner):
    known = Knowledge(
        required=[("asia", "xray")],
        forbidden_adjacencies=[("smoke", "bronc")],
        tiers=[["dysp", "asia"], ["*"]],
    )
    found = f2sl.bootstrap(ASIA, learner, 6, threshold=1.0, knowledge=known, n_jobs=1, method="subsample")
    assert found.of("asia", "xray", directed=True) == 1
    assert found.of("smoke", "bronc") == 0
    assert known.check(found.graph) == known.check(found.graph.to_dag()) == []
    assert found.graph.knowledge == known
    # Of 28 pairs one is forbidden and one required, which says nothing of the data.
    edges = found.confidences.sum() - 1
    assert found.false_edges == pytest.approx(edges**2 / 26)


@pytest.mark.parametrize("learner", ["f2sl-c", "f2sl-h"])
def test_merged_columns_are_drawn_beside_their_first(learner):
    frame = ASIA.assign(copy=ASIA["smoke"].map({"no": 0, "yes": 1}))
    found = f2sl.bootstrap(frame, learner, 4, n_jobs=1, aliases="merge")
    assert found.of("smoke", "copy") == 1
    without = f2sl.bootstrap(ASIA, learner, 4, n_jobs=1)
    names = list(combinations(ASIA, 2))
    assert [found.of(a, b) for a, b in names] == [without.of(a, b) for a, b in names]


def test_files(tmp_path):
    known = Knowledge(roots=["smoke"])
    found = f2sl.bootstrap(ASIA, "f2sl-c", 10, threshold=0.6, knowledge=known, n_jobs=1, method="subsample")
    found.save(tmp_path / "c.json")
    again = Confidence.load(tmp_path / "c.json")
    assert repr(again) == repr(found)
    assert again.to_frame().equals(found.to_frame())
    assert again.knowledge == known
    assert (again.asked, again.notes, again.false_edges) == (found.asked, found.notes, found.false_edges)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "c.json").read_bytes()
    assert found.graph.weights
    for suffix in ("json", "csv", "graphml", "dot", "gml"):
        found.save(tmp_path / f"c.{suffix}")
        graph = f2sl.load_graph(tmp_path / f"c.{suffix}")
        assert graph == found.graph
        assert graph.weights == pytest.approx(found.graph.weights)
    truth = f2sl.load_example_graph("asia")
    assert f2sl.compare(truth, found) == f2sl.compare(truth, found.graph)


def test_files_that_hold_something_else(tmp_path):
    place = tmp_path / "c.json"
    with pytest.raises(FileError, match=r"cannot read .*c\.json"):
        Confidence.load(place)
    f2sl.DAG(["a"]).save(place)
    with pytest.raises(FileError, match=r'c\.json: not a confidence of f2sl: there is no "format"'):
        Confidence.load(place)
    f2sl.bootstrap(ASIA, "f2sl-c", 2, n_jobs=1).save(place)
    content = json.loads(place.read_text())
    content["confidence"]["pairs"][0][0] = 99
    place.write_text(json.dumps(content))
    with pytest.raises(FileError, match="pairs of unknown variables"):
        Confidence.load(place)
    del content["confidence"]["asked"]
    place.write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"c\.json: not a confidence of f2sl"):
        Confidence.load(place)


def test_the_page_has_the_confidence_of_every_edge(tmp_path):
    found = f2sl.bootstrap(ASIA, "f2sl-c", 5, random_state=1)
    by_pair = {pair: found.of(*pair) for pair in combinations(found.nodes, 2) if found.of(*pair)}
    assert found.by_pair == by_pair
    content = page_data(found)
    numbers = {name: str(i) for i, name in enumerate(found.nodes)}
    expected = {",".join(numbers[name] for name in pair): share for pair, share in by_pair.items()}
    assert content["confidence"] == pytest.approx(expected)
    found.save(tmp_path / "found.json")
    read = load_graph_or_network(tmp_path / "found.json")
    assert page_data(read)["confidence"] == content["confidence"]
    assert read.show(tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_frame_has_all_pairs_the_most_confident_first():
    frame = f2sl.bootstrap(ASIA, "f2sl-c", 10, n_jobs=1).to_frame()
    assert list(frame) == ["a", "b", "edge", "a -> b", "b -> a", "undirected", "in graph"]
    assert frame["edge"].is_monotonic_decreasing
    assert np.allclose(frame["edge"], frame[["a -> b", "b -> a", "undirected"]].sum(axis=1))
    assert (frame["in graph"] == (frame["edge"] > 0.5)).all()


def test_confident_edges_are_drawn_thick():
    from matplotlib.patches import PathPatch

    found = f2sl.bootstrap(ASIA, "f2sl-c", 10, threshold=0.1, n_jobs=1)
    assert len(set(found.graph.weights.values())) > 1
    [axes] = f2sl.plot(found).figure().axes
    drawn = [patch.get_linewidth() for patch in axes.patches if isinstance(patch, PathPatch)]
    widths = sorted(drawn[:-2])  # the last two are of the legend: directed and undirected
    confidences = sorted(found.graph.weights.values())
    assert len(widths) == len(confidences)
    assert np.corrcoef(widths, confidences)[0, 1] == pytest.approx(1)


# -- interrupted, and going on -----------------------------------------------------------


@pytest.fixture
def ends_early(monkeypatch):
    """Interrupt the work before a replicate."""

    def at(number):
        def run(self, table, asked):
            if asked == number:
                raise KeyboardInterrupt
            return well(self, table, asked)

        well = Resampling.run
        monkeypatch.setattr(Resampling, "run", run)

    yield at
    monkeypatch.undo()


@pytest.mark.parametrize(("method", "counted"), [("bootstrap", 5), ("subsample", 4)])
def test_ctrl_c_gives_what_is_finished_and_the_rest_can_follow(
    tmp_path, ends_early, monkeypatch, method, counted
):
    how = {"replicates": 8, "method": method, "n_jobs": 1}
    whole = f2sl.bootstrap(ASIA, "f2sl-c", **how, out=tmp_path / "whole.json")
    ends_early(5)
    with pytest.raises(Interrupted) as caught:
        f2sl.bootstrap(ASIA, "f2sl-c", **how, out=tmp_path / "c.json")
    finished = caught.value.finished
    assert (finished.n_replicates, finished.replicates, finished.complete) == (counted, 8, False)
    assert finished.notes[-1] == f"incomplete: {counted} of 8 replicates were finished"
    assert Confidence.load(tmp_path / "c.json").counts.tolist() == finished.counts.tolist()
    with pytest.raises(FileError, match=r"c\.json\.replicates holds the finished replicates.*resume"):
        f2sl.bootstrap(ASIA, "f2sl-c", **how, out=tmp_path / "c.json")
    monkeypatch.undo()
    ran = []
    well = Resampling.run
    monkeypatch.setattr(Resampling, "run", lambda self, table, i: ran.append(i) or well(self, table, i))
    again = f2sl.bootstrap(ASIA, "f2sl-c", **how, out=tmp_path / "c.json", resume=True)
    assert ran == [5, 6, 7]
    assert again.counts.tolist() == whole.counts.tolist()
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert not (tmp_path / "c.json.replicates").exists()
    # A finished run can be made longer.
    longer = f2sl.bootstrap(ASIA, "f2sl-c", **how | {"replicates": 10}, out=tmp_path / "c.json", resume=True)
    assert ran == [5, 6, 7, 8, 9]
    assert longer.n_replicates == 10


def test_a_line_that_was_cut_off_is_run_again(tmp_path, ends_early, monkeypatch):
    out = tmp_path / "c.csv"
    ends_early(3)
    with pytest.raises(Interrupted):
        f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1, out=out)
    monkeypatch.undo()
    journal = tmp_path / "c.csv.replicates"
    journal.write_bytes(journal.read_bytes()[:-3])
    again = f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1, out=out, resume=True)
    assert again.counts.tolist() == f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1).counts.tolist()


def test_a_file_that_was_to_be_replaced_does_not_stop_a_killed_run_from_going_on(
    tmp_path, ends_early, monkeypatch
):
    out = tmp_path / "c.json"
    f2sl.bootstrap(ASIA, "f2sl-c", 2, random_state=9, n_jobs=1, out=tmp_path / "other.json")
    ends_early(3)
    with pytest.raises(Interrupted):
        f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1, out=out)
    monkeypatch.undo()
    for earlier in ((tmp_path / "other.json").read_bytes(), b"no confidence"):
        journal = (tmp_path / "c.json.replicates").read_bytes()
        out.write_bytes(earlier)
        again = f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1, out=out, resume=True)
        assert again.counts.tolist() == f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1).counts.tolist()
        (tmp_path / "c.json.replicates").write_bytes(journal)


def test_nothing_is_left_of_a_run_that_fails_before_the_first_replicate(tmp_path, ends_early):
    ends_early(0)
    with pytest.raises(Interrupted) as caught:
        f2sl.bootstrap(ASIA, "f2sl-c", 5, n_jobs=1, out=tmp_path / "c.json")
    assert caught.value.finished.n_replicates == 0
    assert list(tmp_path.iterdir()) == []


def test_replicates_of_another_run_are_refused(tmp_path):
    out = tmp_path / "c.json"
    f2sl.bootstrap(ASIA, "f2sl-c", 2, n_jobs=1, out=out)
    before = out.read_bytes()
    for data, learner, random_state, told in (
        (ASIA, "f2sl-c", 1, "random_state was 0 and is now 1"),
        (ASIA.iloc[:400], "f2sl-c", 0, "the table has other columns, rows or values"),
        (ASIA, "pc-stable", 0, "learner was F2SLc and is now PCStable"),
        (ASIA, f2sl.F2SLc(alpha=0.2), 1, "random_state was 0 and is now 1; alpha was 0.01 and is now 0.2"),
    ):
        with pytest.raises(
            OptionError, match=f"^cannot resume: .*c.json belongs to another run: {told}; give the same"
        ):
            f2sl.bootstrap(data, learner, 4, random_state, n_jobs=1, out=out, resume=True)
    assert out.read_bytes() == before
    assert list(tmp_path.iterdir()) == [out]


def test_what_holds_no_replicates_cannot_be_gone_on_with(tmp_path):
    out = tmp_path / "c.csv"
    found = f2sl.bootstrap(ASIA, "f2sl-c", 2, n_jobs=1, out=out)
    with pytest.raises(
        FileError, match=r"c\.csv has no replicates to continue from: only \.json stores them"
    ):
        f2sl.bootstrap(ASIA, "f2sl-c", 4, n_jobs=1, out=out, resume=True)
    journal = tmp_path / "d.json.replicates"
    asked = json.dumps({**found.asked, "options": None}).encode() + b"\n"
    for content in (b"no journal\n", b'{"random_state": 0}\n', b"[" * 100_000 + b"\n", asked):
        journal.write_bytes(content)
        with pytest.raises(FileError, match=r"d\.json\.replicates: not a file of replicates"):
            f2sl.bootstrap(ASIA, "f2sl-c", 2, n_jobs=1, out=tmp_path / "d.json", resume=True)
        assert journal.read_bytes() == content


def test_time_limits_are_told():
    tally = Tally(paired=False)
    for number, complete in ((0, True), (1, False), (1, False)):
        tally.add(Replicate(number, np.array([5]), complete))
    found = Confidence.of_tally(tally, ("a", "b"), None, 2, {}, None, {}, ["read"])
    assert found.notes == ("read", "the time limit ended 1 of 2 replicates early")
    assert found.counts.tolist() == [[0, 0, 2]]


@posix_only
@pytest.mark.parametrize(
    ("ends", "error", "told"),
    [
        (lambda: os._exit(9), f2sl.F2SLError, "was killed, perhaps because memory was short"),
        (lambda: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_a_worker_that_is_ended_and_an_error_in_one_are_told(monkeypatch, ends, error, told):
    def run(self, table, number):
        if number == 4:
            ends()
        return Replicate(number, np.empty(0, np.int64), True)

    monkeypatch.setattr(Resampling, "run", run)
    resampling, table = Resampling(f2sl.F2SLc(), (), "bootstrap", 0), f2sl.open_table(ASIA)
    with pytest.raises(error, match=told):
        list(workers.run_in_processes(resampling, table, range(9), 2))


# -- refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {
                "replicates": 0,
                "random_state": -1,
                "method": "jackknife",
                "threshold": 2,
                "n_jobs": 0,
                "resume": True,
            },
            "replicates must be a whole number of at least 1, not 0; "
            "random_state must be a whole number of at least "
            "0, not -1; method must be one of 'bootstrap', 'subsample', not 'jackknife'; threshold must be a "
            "number above 0 and up to 1, not 2; n_jobs must be a whole number other than 0 (all cores if "
            "left out), not 0; resume continues from a file of results; name it with out=",
        ),
        (
            {"replicates": 5, "method": "subsample"},
            "replicates must be even for the method 'subsample'",
        ),
        ({"replicates": True}, "replicates must be a whole number"),
        ({"threshold": 0}, "threshold must be a number above 0"),
        (
            {"learner": 3},
            "learner must be a learner of graphs such as f2sl.F2SLc(), or the name of one, not 3",
        ),
        ({"learner": "f2slc"}, "unknown algorithm 'f2slc'; did you mean 'f2sl-c'"),
        ({"learner": f2sl.F2SLc(), "alpha": 0.1}, "bootstrap has no option 'alpha'; it belongs to F2SLc"),
        ({"alpha": 3}, "alpha must be"),
        (
            {"knowledge": Knowledge(roots=["smoker"])},
            "knowledge: unknown names 'smoker' (did you mean 'smoke'?)",
        ),
    ],
)
def test_bootstrap_refuses_options_that_contradict_or_are_out_of_range(options, told):
    with pytest.raises(OptionError) as caught:
        f2sl.bootstrap(ASIA, **{"learner": "f2sl-c", "replicates": 4, **options})
    assert str(caught.value).startswith(told)


def test_tables_that_are_not_in_memory(tmp_path):
    told = "resampling needs the rows in memory, but this table is on disk; open it with engine="
    with pytest.raises(DataError, match=told):
        f2sl.bootstrap(StreamTable.of_table(f2sl.open_table(ASIA), 100), "f2sl-c")
    ASIA.to_csv(tmp_path / "asia.csv", index=False)
    with pytest.raises(DataError, match=told):
        f2sl.bootstrap(tmp_path / "asia.csv", "f2sl-c", engine="stream")
    with pytest.raises(DataError, match="halves of 3 rows are too small"):
        f2sl.bootstrap({"a": [0, 1, 0], "b": [1, 0, 0]}, "f2sl-c", 2, method="subsample")
    with pytest.raises(FileError, match=r"no graph format for .*c\.txt"):
        f2sl.bootstrap(ASIA, "f2sl-c", out=tmp_path / "c.txt")
