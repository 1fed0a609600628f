"""The benchmark of accuracy: what it draws, what it runs again, what it averages and writes."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import f2sl
import naive
from f2sl_paper.harness.job import DONE, OVER_TIME, SKIPPED, Ended, Limits
from f2sl_paper.harness.schedule import Schedule
from paths import BENCHMARKS


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("accuracy", "comparing")]:
        del sys.modules[name]


def figures(shd: int, seconds: float = 0.2) -> dict[str, float]:
    return {
        "edges": 10,
        "shd": shd,
        "shd_cpdag": shd,
        "f1": 1 - shd / 20,
        "skeleton_f1": 0.5,
        "bdeu": -100.0 * shd,
        "seconds": seconds,
        "beside": 0.1,
    }


def test_a_data_set_is_the_sample_under_new_names():
    from comparing.data import draw
    from f2sl_paper.settings import seed_of

    net = f2sl.load_network("asia")
    data, again = draw(net, 50, 2), draw(net, 50, 2)
    sample = net.sample(50, random_state=seed_of(50, 2))
    old_of = dict(zip(data.truth.nodes, net.graph.nodes, strict=True))
    assert sorted(data.frame.columns) == [f"V{place:05d}" for place in range(8)]
    assert list(data.frame.columns) != list(data.truth.nodes)
    assert all((data.frame[new] == sample[old]).all() for new, old in old_of.items())
    assert {(old_of[a], old_of[b]) for a, b in data.truth.directed_edges} == set(net.graph.directed_edges)
    assert data.frame.equals(again.frame) and data.truth == again.truth
    assert draw(net, 50, 3).truth != data.truth


def test_the_measures_of_the_truth_itself():
    from comparing.data import draw
    from comparing.worker import measures, scored

    data = draw(f2sl.load_network("asia"), 200, 1)
    found = measures(data, data.truth)
    assert (found["shd"], found["shd_cpdag"], found["f1"], found["skeleton_f1"]) == (0, 0, 1.0, 1.0)
    codes = [column.cat.codes.tolist() for _, column in data.frame.items()]
    cardinalities = [len(column.cat.categories) for _, column in data.frame.items()]
    place = data.frame.columns.get_loc
    for graph in (data.truth, f2sl.DAG(data.truth.nodes, [])):
        # A naive BDeu, with the prior of ten samples that all learners are measured by.
        expected = sum(
            naive.bdeu(codes, cardinalities, place(name), list(map(place, graph.parents(name))), 10.0)
            for name in graph.nodes
        )
        assert scored(data.frame, graph) == pytest.approx(expected, rel=1e-9)
        assert measures(data, graph)["bdeu"] == pytest.approx(expected, abs=0.006)
    assert found["bdeu"] > expected


def test_the_score_of_f2sl_h_is_compared_with_that_of_the_truth():
    from comparing.data import draw
    from comparing.worker import above_truth, scored

    data = draw(f2sl.load_network("asia"), 5000, 1)
    model = f2sl.F2SLh().fit(data.frame)
    weight = model.equivalent_sample_size_
    own = scored(data.frame, model.dag_, "bds", weight) - model.edge_cost_ * model.graph_.n_edges
    assert own == pytest.approx(model.score_, rel=1e-12)
    truth = scored(data.frame, data.truth, "bds", weight) - model.edge_cost_ * 8
    assert above_truth(data, model)["above_truth"] == pytest.approx(own - truth, abs=0.006)
    assert above_truth(data, f2sl.F2SLc().fit(data.frame)) == {}


def test_graphs_of_causal_learn_are_read_by_their_marks():
    from comparing.causal_learn import graph_of_marks

    marks = np.zeros((3, 3), int)
    marks[0, 1], marks[1, 0] = -1, 1  # a -> b
    marks[1, 2] = marks[2, 1] = -1  # b - c
    assert graph_of_marks("abc", marks) == f2sl.PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])


def test_runs_are_made_once_and_those_stopped_again_with_a_longer_limit(tmp_path):
    from accuracy import plan
    from comparing.learners import Configuration
    from comparing.store import Store, place_of

    quick, slow = Configuration("quick", "f2sl-c"), Configuration("slow", "pc-stable", {"alpha": 0.05})
    made = []

    def all_runs(limit):
        """Complete the file with made-up figures in place of processes."""
        made.clear()
        store = Store(tmp_path / "accuracy.jsonl", Limits(limit, 10**9), [quick, slow])
        keys = plan([quick, slow], ["a", "b"], [1000, 500], [1, 2])
        schedule = Schedule(keys, store.known(), store.limits, place_of)
        while (key := schedule.next()) is not None:
            made.append(key)
            over = key[:2] == ("slow", "b") and limit < 100
            ended = Ended(key, OVER_TIME) if over else Ended(key, DONE, measures=figures(key.data_set))
            skipped = schedule.ended(key, ended.state)
            store.keep([ended, *(Ended(other, SKIPPED) for other in skipped)])
        return Store(tmp_path / "accuracy.jsonl")

    store = all_runs(10)
    assert made[:4] == [
        ("quick", "a", 500, 1),
        ("slow", "a", 500, 1),
        ("quick", "a", 500, 2),
        ("slow", "a", 500, 2),
    ]
    assert [run for run in made if run[:2] == ("slow", "b")] == [("slow", "b", 500, 1)]
    assert store.results["slow", "b", 500, 1] == {"stopped": 10}
    assert store.results["slow", "b", 500, 2] == store.results["slow", "b", 1000, 1] == {"not run": 10}
    assert [(head["learner"], head["options"]) for head in store.heads] == [
        ("quick", {}),
        ("slow", {"alpha": 0.05}),
    ]
    all_runs(5)
    assert made == []
    store = all_runs(100)
    assert made == [("slow", "b", rows, number) for rows in (500, 1000) for number in (1, 2)]
    store.forget(["f2sl-c"])
    all_runs(100)
    assert [run[0] for run in made] == ["quick"] * 8


def test_a_run_in_its_process_has_the_figures_of_this_one(tmp_path):
    from comparing.data import draw
    from comparing.learners import YARDSTICK
    from comparing.store import Key, Store, place_of
    from comparing.worker import Runs, measures

    key = Key(YARDSTICK.name, "asia", 100, 1)
    store = Store(tmp_path / "accuracy.jsonl", Limits(60.0, 4 << 30), [YARDSTICK])
    store.complete(Runs((YARDSTICK,)), [key], place_of)
    data = draw(f2sl.load_network("asia"), 100, 1)
    learned = YARDSTICK.make().fit(data.frame).graph_.to_dag()
    found = Store(store.path).results[key]
    assert {name: found.pop(name) > 0 for name in ("seconds", "beside")} == {"seconds": True, "beside": True}
    assert found == measures(data, learned)


def test_results_of_other_options_are_not_taken(tmp_path, capsys):
    from accuracy import ready
    from comparing.learners import Configuration, parsed
    from comparing.store import Key, Store

    mine = Configuration("mine", "f2sl-c", {"delta": 0.1})
    store = Store(tmp_path / "results.jsonl", configurations=[mine])
    store.keep([Ended(Key("mine", "a", 500, 1), DONE, measures=figures(1))])
    assert ready(
        [parsed("f2sl-c delta=0.02 ties=keep"), parsed("f2sl-c nonsense=1"), parsed("nobody")], store
    ) == [Configuration("f2sl-c delta=0.02 ties=keep", "f2sl-c", {"delta": 0.02, "ties": "keep"})]
    assert capsys.readouterr().out.count("left out") == 2
    with pytest.raises(SystemExit, match="other options"):
        ready([Configuration("mine", "f2sl-c", {"delta": 0.2})], store)


def test_means_are_over_the_cells_that_all_have():
    from comparing.store import Key
    from comparing.summary import Cell, Summary

    results = {
        Key("x", "a", 500, 1): figures(1),
        Key("x", "a", 500, 2): figures(3, seconds=0.8),
        Key("y", "a", 500, 1): figures(2),
        Key("y", "a", 500, 2): figures(2),
        Key("x", "b", 500, 1): figures(8),
        Key("y", "b", 500, 1): {"stopped": 10.0},
        Key("z", "b", 500, 1): figures(0),
    }
    summary = Summary(results, ["x", "y", "absent"], ["b", "a"])
    a, b = Cell("a", 500), Cell("b", 500)
    assert summary.learners == ["x", "y"] and summary.cells == [b, a] and summary.shared == [a]
    assert summary.why_not("y", b) == "over 10 s"
    assert summary.over("x", summary.shared, "shd_per_edge") == pytest.approx(0.2)
    assert summary.over("x", summary.cells_of("x"), "shd_per_edge") == pytest.approx(0.5)
    assert math.exp(summary.over("x", [a], "log_times")) == pytest.approx(4.0)  # of 2 and 8
    assert (summary.within("x", 1.0), summary.within("y", 1.0)) == (2, 1)
    far = Summary({**results, Key("x", "a", 500, 2): figures(4)}, ["x", "y"], ["b", "a"])
    assert (far.within("x", 1.1), far.within("x", 1.25), far.lowest(a)) == (1, 2, 2.0)
    assert far.below_best_score("x", [a]) == pytest.approx((250 - 200) / 500)


def test_the_page_gets_the_results_between_its_marks(tmp_path):
    from comparing.learners import MANY, OWN, RIVALS, YARDSTICK
    from comparing.page import write_page
    from comparing.store import Key, Store

    page = tmp_path / "accuracy.md"
    parts = ("comparison", "many rows", "rivals", "ablation", "tuning")
    marks = "".join(f"<!-- {name} -->\nearlier\n<!-- end of {name} -->\n" for name in parts)
    page.write_text(f"Words before.\n{marks}Words after.\n")
    compared = Store(tmp_path / "accuracy.jsonl", Limits(10.0, 10**9), [OWN, YARDSTICK])
    none = Store(tmp_path / "none.jsonl")
    compared.keep(
        [
            Ended(Key(OWN.name, "alarm", 500, 1), DONE, measures=figures(4)),
            Ended(Key(YARDSTICK.name, "alarm", 500, 1), DONE, measures=figures(6)),
            Ended(Key(OWN.name, "child", 500, 1), DONE, measures=figures(5)),
            Ended(Key(YARDSTICK.name, "child", 500, 1), OVER_TIME),
        ]
    )
    many = Store(tmp_path / "many_rows.jsonl", Limits(10.0, 10**9), MANY)
    many.keep(
        [
            Ended(Key(OWN.name, "alarm", 5000, 1), DONE, measures=figures(4) | {"above_truth": 0.0}),
            Ended(Key(OWN.name, "alarm", 50_000, 1), DONE, measures=figures(3) | {"above_truth": -0.5}),
            Ended(Key("MMHC", "alarm", 5000, 1), DONE, measures=figures(2)),
            Ended(Key("MMHC", "alarm", 50_000, 1), OVER_TIME),
        ]
    )
    rivals = Store(tmp_path / "rivals.jsonl", Limits(10.0, 10**9), RIVALS)
    effects = {"sid": 7, "ancestor_aid": 3}
    rivals.keep(
        [
            Ended(Key(OWN.name, "alarm", 500, 1), DONE, measures=figures(4) | effects),
            Ended(Key("causal-learn GES", "alarm", 500, 1), OVER_TIME),
        ]
    )
    write_page(page, tmp_path, compared, many, rivals, none, none)
    text = page.read_text()
    assert text.startswith("Words before.\n<!-- comparison -->\n2 cells, one data set of each.")
    assert "| alarm 500 | **4.0** | 6.0 |\n| child 500 | **5.0** | over 10 s |\n" in text
    assert "| F2SL-h | 2 of 2 | 0.450 | 0.775 | 0.450, 0.775 | 2 | 2 | 2.0 |" in text
    assert "| F2SL-c (paper) | 1 of 2 | 0.600 | 0.700 | 0.400, 0.800 | 0 | 0 | 2.0 |" in text
    assert "| alarm 5,000 | 4.0 | **2.0** |\n| alarm 50,000 | **3.0** | over 10 s |\n" in text
    assert "The score is at least that of the true graph: of F2SL-h in 1 of 2 runs.\n" in text
    assert "Means of one data set of each. SHD of CPDAGs:\n" in text
    assert "| network, rows | F2SL-h | causal-learn GES |\n" in text
    assert "| alarm 500 | **7** | over 10 s |\n" in text and "| alarm 500 | **3** | over 10 s |\n" in text
    assert text.count("Not run yet.") == 2 and "earlier" not in text and text.endswith("Words after.\n")
    assert "<svg" in (tmp_path / "accuracy.svg").read_text()
    before = (text, (tmp_path / "accuracy.svg").read_text())
    write_page(page, tmp_path, compared, many, rivals, none, none)
    assert (page.read_text(), (tmp_path / "accuracy.svg").read_text()) == before
