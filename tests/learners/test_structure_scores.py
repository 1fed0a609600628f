"""SLL+C, SLL+G and GGSL: like the naive algorithms, whatever the names, and stopped at any time."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive
import naive_score_local
from cli_process import f2sl as command
from cli_process import interrupted, learned, write_csv
from f2sl import DataError, OptionError, load_graph
from f2sl.cli.app import main
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.learners import by_best_networks, ggsl
from f2sl.learners.by_best_networks import v_structures_of_spouses
from f2sl.learners.local import by_score
from f2sl.learners.local.growing import Grower, Surroundings
from f2sl.learners.skeleton import from_edges
from marks import compiled_only, posix_only
from score_tools import OPTIONS, naive_best, tables
from tables import make_table

LEARNERS = [f2sl.SLLc, f2sl.SLLg, f2sl.GGSL]
ALGORITHMS = {"sll+c": f2sl.SLLc, "sll+g": f2sl.SLLg, "ggsl": f2sl.GGSL}


def numbers(edges):
    """Turn names such as v0003 into numbers."""
    return [tuple(int(name[1:]) for name in edge) for edge in edges]


def naive_skeleton(found):
    return naive.skeleton([list(found[v].near) for v in sorted(found)], "and")


@given(codes=tables(), options=OPTIONS)
def test_sll_c_is_the_naive_one(codes, options):
    n, order = len(codes), options["order"]
    best = naive_best(codes, **options)
    model = f2sl.SLLc(**options).fit(make_table(codes))
    potential = [list(naive_score_local.potential_neighbors(best, n, v, order)) for v in range(n)]
    edges = naive.skeleton(potential, "and")
    assert numbers(model.skeleton_.undirected_edges) == edges
    found = {v: naive_score_local.potential_spouses(best, n, v, order) for v in range(n)}
    triples = naive_score_local.v_structures(found, edges)
    assert numbers(model.v_structures_) == triples
    for v, blanket in enumerate(model.blankets_.values()):
        assert {int(name[1:]) for name in blanket} == naive_score_local.sll(best, n, v, order).keys()
    assert set(naive.directions(triples)) >= set(numbers(model.graph_.directed_edges)) - consequences(model)


def consequences(model):
    """Arrows that are none of the v-structures'."""
    shown = {(end, c) for a, c, d in numbers(model.v_structures_) for end in (a, d)}
    return {(u, v) for u, v in numbers(model.graph_.directed_edges) if not {(u, v), (v, u)} & shown}


@given(codes=tables(), options=OPTIONS)
def test_sll_g_climbs_on_the_naive_skeleton(codes, options):
    n, order = len(codes), options["order"]
    best = naive_best(codes, **options)
    model = f2sl.SLLg(**options).fit(make_table(codes))
    edges = [(a, b) for a in range(n) for b in naive_score_local.neighbors(best, n, a, order) if a < b]
    assert numbers(model.skeleton_.undirected_edges) == sorted(edges)
    most = n if options["max_parents"] is None else options["max_parents"]

    def family(child, parents):
        return best.family(child, parents) if len(parents) <= most else -np.inf

    arrows, _ = naive.hill_climb(n, sorted(edges), family)
    assert sorted(numbers(model.dag_.directed_edges)) == arrows
    assert model.score_ == pytest.approx(naive.graph_score(n, arrows, best.family))


@given(codes=tables(), options=OPTIONS, data=st.data())
def test_ggsl_is_the_naive_one(codes, options, data):
    n = len(codes)
    start = data.draw(st.integers(0, n - 1))
    best = naive_best(codes, **options)
    found = naive_score_local.ggsl(best, n, start, options["order"])
    model = f2sl.GGSL(start=f"v{start:04d}", **options).fit(make_table(codes))
    assert [{int(m[1:]) for m in pc} for pc in model.pc_.values()] == [set(found[v].near) for v in range(n)]
    edges = naive_skeleton(found)
    assert numbers(model.skeleton_.undirected_edges) == edges
    triples = naive_score_local.settled_v_structures(best, found, edges)
    assert numbers(model.v_structures_) == triples
    assert model.start_ == f"v{start:04d}"


def test_ggsl_goes_on_with_the_strongest_neighbor(monkeypatch):
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, 1000)
    weak, strong = (np.where(rng.random(1000) < share, hub, 1 - hub) for share in (0.75, 0.95))
    trial, search = [], ggsl.search_what_is_open

    def listening(run, target):
        trial.append(target)
        return search(run, target)

    monkeypatch.setattr(ggsl, "search_what_is_open", listening)
    f2sl.GGSL(start="c").fit({"a": weak, "b": strong, "c": hub})
    assert trial == [2, 1, 0]


@pytest.mark.parametrize(("more", "expected"), [([], [[0, 1, 2]]), ([[0, 2]], [])])
def test_spouses_with_a_link_make_no_v_structure(more, expected):
    """As where that edge is required."""
    skeleton = from_edges(3, np.array(sorted([[0, 1], [1, 2], *more])), np.ones(2 + len(more)))
    found = {0: Surroundings(spouses={2: 1.0}, children={2: (1,)})}
    assert v_structures_of_spouses(found, skeleton).tolist() == expected


@pytest.mark.parametrize(("decided", "kept"), [((0, 1), [0]), ((1, 0), [1]), (None, [])])
def test_of_opposite_claims_the_one_that_is_so_stays(monkeypatch, decided, kept):
    """0 -> 1 <- 2 and 1 -> 0 <- 3 claim opposite directions; nothing contradicts 4 -> 5 <- 6."""
    monkeypatch.setattr(ggsl, "direction_around_both", lambda run, u, v: decided)
    model = f2sl.GGSL()
    model.n_conflicts_ = 0
    triples = np.array([[0, 1, 2], [1, 0, 3], [4, 5, 6]])
    assert model._decide_directions(None, triples).tolist() == triples[[*kept, 2]].tolist()
    assert model.n_conflicts_ == 1


@pytest.fixture(scope="module")
def alarm():
    return f2sl.load_network("alarm").sample(1000, random_state=1)


@compiled_only
@pytest.mark.parametrize("learner", LEARNERS)
def test_nothing_but_the_data_matters(learner, alarm):
    known = learner().fit(alarm)
    assert known.complete_
    rng = np.random.default_rng(0)
    shuffled = alarm.iloc[rng.permutation(1000), rng.permutation(37)]
    for frame, jobs in ((shuffled, 1), (alarm, 3)):
        model = learner(n_jobs=jobs).fit(frame)
        assert model.graph_.reorder(known.graph_.nodes) == known.graph_
        assert model.graph_.reorder(known.graph_.nodes).weights == known.graph_.weights


@compiled_only
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("network", ["asia", "cancer", "earthquake", "sachs", "child"])
def test_a_large_sample_gives_the_true_equivalence_class(learner, network):
    # Not survey: 50,000 rows of four of its variables are better explained by another collider than the true.
    truth = f2sl.load_network(network)
    graph = learner().fit(truth.sample(50_000, random_state=1)).graph_
    found = graph.to_cpdag()
    assert found.reorder(truth.graph.nodes) == truth.graph.to_cpdag()


@compiled_only
def test_ggsl_may_start_anywhere(alarm):
    graphs = [f2sl.GGSL(random_state=random_state).fit(alarm) for random_state in (0, 1, 2)]
    assert len({model.start_ for model in graphs}) > 1
    again = f2sl.GGSL(random_state=2).fit(alarm)
    assert (again.start_, again.graph_) == (graphs[2].start_, graphs[2].graph_)
    assert f2sl.GGSL(start="HR").fit(alarm).start_ == "HR"


@pytest.mark.parametrize("learner", LEARNERS)
def test_constant_columns_are_isolated_and_said_to_be(learner):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    model = learner().fit({"a": a, "b": a, "same": ["x"] * 200})
    assert model.graph_.neighbors("same") == []
    assert any("'same'" in note for note in model.notes_)
    assert model.graph_.n_edges == 1


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("option", [{"time_limit": 0}, {"max_exact": 30}, {"score": "aic"}, {"ties": "x"}])
def test_graph_learners_by_best_networks_name_the_option_they_refuse(learner, option):
    with pytest.raises(OptionError, match=f"^{next(iter(option))} must be"):
        learner(**option).fit({"a": [0, 1], "b": [1, 0]})


def test_a_start_that_is_not_there():
    with pytest.raises(DataError, match=r"unknown column 'c'\. Known: a, b"):
        f2sl.GGSL(start="c").fit({"a": [0, 1], "b": [1, 0]})
    with pytest.raises(OptionError, match=r"^random_state must be"):
        f2sl.GGSL(random_state=-1).fit({"a": [0, 1], "b": [1, 0]})


# Stopped early


def interrupt_after(monkeypatch, n):
    """Let Ctrl-C come while the n-th wave of questions is answered."""
    answer, calls = Grower.answer, []

    def interrupt(self, asked):
        calls.append(asked)
        if len(calls) == n:
            raise KeyboardInterrupt
        return answer(self, asked)

    monkeypatch.setattr(Grower, "answer", interrupt)
    monkeypatch.setattr(by_score, "TARGETS_AT_ONCE", 1)


@compiled_only
@pytest.mark.parametrize("learner", LEARNERS)
def test_an_interrupt_leaves_what_is_finished(learner, alarm, monkeypatch):
    whole = learner().fit(alarm)
    interrupt_after(monkeypatch, 60)
    model = learner()
    with pytest.raises(Interrupted):
        model.fit(alarm)
    assert not model.complete_
    finished = sum(bool(members) for members in model.pc_.values())
    assert 0 < finished < 37
    assert "variables finished" in model.notes_[0]
    assert model.notes_[0].startswith("incomplete: interrupted with ")
    assert model.graph_.n_edges == model.skeleton_.n_edges > 0
    assert not hasattr(model, "score_")
    if learner is not f2sl.GGSL:
        assert {v: pc for v, pc in model.pc_.items() if pc}.items() <= whole.pc_.items()
    monkeypatch.undo()
    again = model.fit(alarm)
    assert again.complete_
    assert again.graph_ == whole.graph_


@compiled_only
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_time_limit_ends_with_what_is_finished(learner, alarm):
    with pytest.warns(F2SLWarning, match="incomplete: the time limit"):
        model = learner(time_limit=0.001).fit(alarm)
    assert not model.complete_
    assert model.notes_[0].startswith("incomplete: the time limit of 0.001 s ended the search ")


@compiled_only
def test_the_climb_has_a_time_limit_too(alarm, monkeypatch):
    explore = by_best_networks.explore_neighbors

    def explore_and_dawdle(run):
        explore(run)
        run.deadline = by_score.Deadline(1e-9)

    monkeypatch.setattr(by_best_networks, "explore_neighbors", explore_and_dawdle)
    with pytest.warns(F2SLWarning, match="incomplete"):
        model = f2sl.SLLg(time_limit=1e3).fit(alarm)
    assert not model.complete_
    assert model.notes_ == ["incomplete: the time limit of 1e-09 s ended the search during hill climbing"]


@compiled_only
def test_any_learner_of_neighbors_may_run_out_of_time(alarm, monkeypatch):
    options = {"pc": "s2tmb-pc", "pc_options": {"time_limit": 0.001}}
    with pytest.warns(F2SLWarning, match="incomplete"):
        model = f2sl.LocalToGlobal(**options).fit(alarm)
    assert not model.complete_
    assert model.notes_[0].startswith("incomplete: the time limit of 0.001 s")
    interrupt_after(monkeypatch, 60)
    with pytest.raises(Interrupted):
        model.set_params(pc_options=None).fit(alarm)
    assert not model.complete_
    assert model.graph_.n_edges == len(model.graph_.undirected_edges) > 0


# On the command line


@pytest.fixture(scope="module")
def csv(alarm, tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("alarm") / "alarm.csv", {v: alarm[v] for v in alarm})


@compiled_only
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_command_line_learns_the_same(algorithm, alarm, tmp_path):
    out, some = tmp_path / "graph.json", alarm.iloc[:, :16]
    csv = write_csv(tmp_path / "some.csv", {v: some[v] for v in some})
    told = json.loads(learned("learn", csv, "--algorithm", algorithm, "--out", out, "--json"))
    model = ALGORITHMS[algorithm]().fit(some)
    assert load_graph(out) == model.graph_
    assert told["complete"] is True
    printed = learned("learn", csv, "--algorithm", algorithm, "--max-exact", 3, "--max-parents", 2)
    assert "networks had more than 3 variables (--max-exact)" in printed
    assert "INCOMPLETE" not in printed


@compiled_only
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_time_limit_on_the_command_line(algorithm, csv, tmp_path):
    arguments = ["learn", csv, "--algorithm", algorithm, "--time-limit", "0.001"]
    out = tmp_path / "graph.json"
    printed = learned(*arguments, "--out", out)
    assert "Note     incomplete: the time limit of 0.001 s ended the search" in printed
    assert "Graph    INCOMPLETE: " in printed
    assert load_graph(out).n_nodes == 37
    told = json.loads(learned(*arguments, "--json"))
    assert told["complete"] is False
    quiet = command(*arguments, "--quiet")
    assert quiet.stderr.startswith("f2sl: note: incomplete: the time limit of 0.001 s ended the search")
    assert (quiet.returncode, quiet.stdout) == (0, "")
    refused = command("learn", csv, "--algorithm", algorithm, "--time-limit", "0")
    assert refused.stderr == "f2sl: error: --time-limit must be a number from 0.001 to 1e+09, not 0.0\n"
    assert refused.returncode == 2


@compiled_only
@pytest.mark.parametrize(("what", "algorithm"), [("pc", "sll-pc"), ("mb", "s2tmb")])
def test_one_target_on_the_command_line(what, algorithm, csv, alarm):
    told = json.loads(learned(what, csv, "HR", "--algorithm", algorithm, "--json"))
    learn = f2sl.learn_pc if what == "pc" else f2sl.learn_mb
    assert {m["name"]: m["strength"] for m in told[what]} == learn(alarm, "HR", algorithm)
    assert told["complete"] is True
    short = ["--algorithm", algorithm, "--time-limit", "0.001"]
    told = json.loads(learned(what, csv, "HR", *short, "--json"))
    assert told["complete"] is False
    assert told["notes"][0]["text"].startswith(
        "incomplete: the time limit of 0.001 s ended the search before its end"
    )
    assert "Note  incomplete: the time limit" in learned(what, csv, "HR", *short)
    quiet = command(what, csv, "HR", *short, "--quiet")
    assert quiet.stderr.startswith("f2sl: note: incomplete: ")
    unknown = command(what, csv, "HRT", "--algorithm", algorithm)
    assert "unknown column 'HRT'; did you mean 'HR'?" in unknown.stderr


@compiled_only
@pytest.mark.parametrize(("what", "algorithm", "waves"), [("pc", "sll-pc", 50), ("mb", "sll", 200)])
def test_the_sets_that_are_finished_of_all(what, algorithm, waves, csv, alarm, monkeypatch, capsys):
    learn = f2sl.learn_pc if what == "pc" else f2sl.learn_mb
    with pytest.warns(F2SLWarning, match=r"incomplete: the time limit of 0\.001 s ended the search with "):
        assert not learn(alarm, algorithm=algorithm, time_limit=0.001).complete
    interrupt_after(monkeypatch, waves)
    with pytest.raises(Interrupted) as caught:
        learn(alarm, algorithm=algorithm)
    some = caught.value.finished
    assert not some.complete
    assert any(one.complete for one in some.values())
    monkeypatch.undo()
    interrupt_after(monkeypatch, waves)
    assert main([what, str(csv), "--algorithm", algorithm, "--json"]) == 130
    printed, told = capsys.readouterr()
    assert told == "f2sl: interrupted; nothing was written\n"
    shown = json.loads(printed)
    assert shown["complete"] is False
    assert {v: [m["name"] for m in members] for v, members in shown[what].items()} == {
        v: list(one) for v, one in some.items()
    }


@compiled_only
def test_what_is_near_is_so_for_both_ends():
    # One end alone names the other on its turn here, whichever came first: the score decides.
    data = f2sl.load_network("alarm").sample(500, random_state=1)
    model = f2sl.GGSL(random_state=1).fit(data)
    assert model.n_conflicts_ > 0
    for name, near in model.pc_.items():
        for other in near:
            assert name in model.pc_[other]


@compiled_only
def test_no_variable_has_more_parents_than_allowed():
    data = f2sl.load_network("alarm").sample(1000, random_state=1)
    graph = f2sl.SLLg(max_parents=1).fit(data).dag_
    assert max(len(graph.parents(name)) for name in graph.nodes) == 1


@posix_only
@compiled_only
@pytest.mark.parametrize(("algorithm", "copies"), [("sll+c", 8), ("sll+g", 8), ("ggsl", 4)])
def test_ctrl_c_writes_what_is_finished(algorithm, copies, tmp_path):
    network = f2sl.tile(f2sl.load_network("alarm"), copies, random_state=1)
    frame = network.sample(1000, random_state=1)
    path = tmp_path / "large.parquet"
    frame.to_parquet(path)
    arguments = ["learn", path, "--algorithm", algorithm, "--out", "graph.json", "--json", "--jobs", "1"]
    code, seconds, shown = interrupted(arguments, tmp_path, [f" {share}%" for share in range(2, 90)])
    assert code == 130
    assert shown.rstrip().endswith("f2sl: interrupted; graph.json was written, incomplete")
    assert seconds < 10
    graph = load_graph(tmp_path / "graph.json")
    assert graph.n_nodes == 37 * copies
    assert 0 < graph.n_edges < network.graph.n_edges
