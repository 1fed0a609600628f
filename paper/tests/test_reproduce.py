"""The experiments without their processes: what there is to run, the file of results, the data."""

import gc
import json
import math
import sqlite3
from functools import partial
from itertools import product

import numpy as np
import pytest

from cli_process import f2sl, together
from f2sl.errors import FileError, OptionError
from f2sl.learners.base import STRUCTURE
from f2sl.learners.local.base import LOCAL
from f2sl_paper import plan, settings, sources, store, worker
from f2sl_paper.harness.job import DONE, FAILED, OVER_MEMORY, OVER_TIME, SKIPPED, Limits
from f2sl_paper.harness.schedule import Known, Schedule
from f2sl_paper.plan import place_of, select
from f2sl_paper.store import Outcome, Store, Unit
from marks import compiled_only
from reproduce_tools import Bench, write_supplement
from store_tools import DESCRIPTION

GRAPH = [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]


def unit(data_set, learner="ggsl", rows=500):
    return Unit("mildew", rows, data_set, learner, "paper")


def outcome(of, state):
    return Outcome(of, "sampled", 1, state, 1, time_limit=60.0, memory_limit=100)


def known(states):
    return {unit(number): Known(state, Limits(60.0, 100)) for number, state in states.items()}


# What there is to run


@pytest.mark.parametrize("name", settings.LEARNERS)
def test_options_of_the_paper_are_options_of_the_learner(name):
    learner = settings.LEARNERS[name]
    registry = LOCAL if learner.role == settings.PC else STRUCTURE
    if learner.needs:
        pytest.importorskip(learner.needs)
    for setting in settings.settings_of(name):
        registry.create(name, settings.options_of(name, setting)).check_options()
    # "auto" stands for these with states.
    stands_for = {"measure": "su", "ci_test": "g2", "score": "bdeu"}
    defaults = {
        option: stands_for[option] if value == "auto" and option in stands_for else value
        for option, value in registry.load(name).option_defaults().items()
    }
    differ = any(defaults[option] != value for option, value in learner.options.items())
    assert differ == learner.defaults_differ


def test_the_whole_selection():
    units = select(algorithms=["fcbf", "gsbn", "ggsl"]).units()
    # Six networks, two sizes, ten data sets; FCBF in the paper's setting, f2sl's and eleven others.
    assert len(units) == len(set(units)) == 6 * 2 * 10 * (13 + 1 + 1)
    slow = [settings.LEARNERS[one.learner].slow for one in units]
    assert slow == sorted(slow)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"networks": ["mildw"]}, "unknown network 'mildw'; did you mean 'mildew'"),
        ({"algorithms": ["f2slc"]}, "unknown algorithm 'f2slc'; did you mean 'f2sl-c'"),
        ({"algorithms": ["pc-stable"]}, "unknown algorithm 'pc-stable'"),
        ({"sizes": [500, 0]}, "sizes must be a whole number of at least 10, not 0"),
        ({"sets": 0}, "sets must be a whole number from 1 to 99, not 0"),
        ({"networks": []}, "networks: none is given"),
    ],
)
def test_selections_that_make_no_sense(options, said):
    with pytest.raises(OptionError, match=said):
        select(**options)


def test_options_that_make_no_sense_are_told_by_their_flags_and_nothing_is_made(tmp_path):
    out, file = tmp_path / "results", tmp_path / "file"
    file.write_text("mine")
    wrong = {
        (): "no folder for the results: give --out FOLDER",
        ("--out", out, "--networks", "mildw"): "unknown network 'mildw'; did you mean 'mildew'",
        ("--out", out, "--algorithms", "pc-stable"): "unknown algorithm 'pc-stable'",
        ("--out", out, "--networks", ","): "--networks: none is given",
        ("--out", out, "--sizes", "5e2"): "--sizes must be whole numbers",
        ("--out", out, "--sets", 0): "--sets must be a whole number from 1",
        ("--out", out, "--jobs", 0): "--jobs must be a whole number of at least 1",
        ("--out", out, "--time-limit", 0): "--time-limit must be",
        ("--out", out, "--memory-limit", "4Q"): "--memory-limit must be an amount such as 512M",
        ("--out", out, "--memory-limit", "1M"): "--memory-limit must be at least 512M",
        ("--out", out, "--data", tmp_path / "nowhere"): "nowhere: no such folder",
        ("--out", out, "--data", tmp_path): "holds none of mildew_data.zip",
        ("--out", file): "cannot write to the folder",
        ("--out", file / "below"): "cannot write to the folder",
    }
    ended = together([partial(f2sl, "reproduce", *arguments) for arguments in wrong])
    for done, said in zip(ended, wrong.values(), strict=True):
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert not out.exists()
    assert file.read_text() == "mine"


def test_what_the_command_says_of_its_choices_holds():
    told = " ".join(f2sl("reproduce", "--help").stdout.split())
    assert f"Networks to run: {', '.join(settings.NETWORKS)}; all by default" in told
    assert f"{','.join(map(str, settings.SIZES))} by default" in told
    assert f"size; {settings.SETS} by default" in told
    assert f"[default: {settings.TIME_LIMIT}]" in told


def test_learners_whose_package_is_not_there_are_left_out_unless_named(monkeypatch):
    monkeypatch.setattr(plan, "find_spec", lambda name: None)
    assert "dag-gnn" not in select().learners
    assert select().left_out == ("dag-gnn needs torch, which is not installed",)
    with pytest.raises(OptionError, match=r"dag-gnn needs torch.*f2sl\[deep\]"):
        select(algorithms=["gsbn", "dag-gnn"])


def run_all(schedule, fate, jobs=2):
    """Run a schedule to its end with made-up outcomes; return those that ran, in order, and those skipped."""
    running, ran, skipped = [], [], []
    while True:
        while len(running) < jobs and (begun := schedule.next()):
            running.append(begun)
            ran.append(begun.data_set)
        if not running:
            assert schedule.waiting == []
            return ran, [one.data_set for one in skipped]
        ended = running.pop(0)
        skipped += schedule.ended(ended, fate.get(ended.data_set, DONE))


@pytest.mark.parametrize(
    ("before", "fate", "ran", "skipped"),
    [
        ({}, {}, [1, 2, 3, 4], []),
        ({}, {1: OVER_TIME}, [1], [2, 3, 4]),
        ({}, {1: FAILED}, [1, 2, 3, 4], []),
        ({}, {2: OVER_MEMORY}, [1, 2, 3], [4]),  # 3 ran beside 2
        ({1: DONE, 2: FAILED}, {}, [2, 3, 4], []),
        ({1: OVER_TIME, 2: SKIPPED, 3: SKIPPED, 4: SKIPPED}, {}, [], []),
        ({1: DONE, 2: OVER_TIME}, {}, [], []),  # 3 and 4 are skipped at once
    ],
)
def test_what_runs_and_what_is_skipped(before, fate, ran, skipped):
    schedule = Schedule([unit(number) for number in (1, 2, 3, 4)], known(before), Limits(60.0, 100), place_of)
    at_once = [one.data_set for one in schedule.to_skip]
    assert at_once == ([3, 4] if before == {1: DONE, 2: OVER_TIME} else [])
    assert run_all(schedule, fate) == (ran, skipped)


@pytest.mark.parametrize(
    ("state", "time_limit", "memory_limit", "again"),
    [
        (OVER_TIME, 60.0, 100, False),
        (OVER_TIME, 60.0, 200, False),
        (OVER_TIME, 61.0, 50, True),
        (OVER_MEMORY, 60.0, 101, True),
        (OVER_MEMORY, 99.0, 100, False),
    ],
)
def test_a_higher_limit_is_another_chance(state, time_limit, memory_limit, again):
    before = known({1: state, 2: SKIPPED})
    schedule = Schedule([unit(1), unit(2)], before, Limits(time_limit, memory_limit), place_of)
    assert run_all(schedule, {}) == (([1, 2], []) if again else ([], []))


def test_cells_do_not_wait_for_each_other():
    units = [unit(1), unit(1, "sll+c"), unit(2), unit(2, "sll+c")]
    schedule = Schedule(units, {}, Limits(60.0, 100), place_of)
    assert [schedule.next(), schedule.next(), schedule.next()] == [units[0], units[1], None]
    schedule.ended(units[1], DONE)
    assert schedule.next() == units[3]


# The file of results


def test_what_is_kept_is_read_again(tmp_path):
    full = Outcome(unit(1), "sampled", 50001, DONE, 1, 0.1 + 0.2, 7, 60.0, 100, "said", {"f1": 1 / 3})
    facts = store.NetworkFacts("mildew", "sampled", 35, 46, 3, 3, 1, 5, 3, 100)
    with Store(tmp_path) as kept:
        assert kept.add_run("now", DESCRIPTION) == 1
        kept.add([outcome(unit(1), FAILED), outcome(unit(2), SKIPPED)])
        kept.add([full])
        kept.add_networks([facts])
    read = store.read_results(tmp_path)
    assert read.outcomes == (full, outcome(unit(2), SKIPPED))
    assert read.runs == {1: {"started": "now", **DESCRIPTION}}
    assert read.networks == (facts,)


def other_version(path):
    with Store(path.parent):
        pass
    database = sqlite3.connect(path)
    database.execute("UPDATE about SET value = '0.0.1' WHERE key = 'f2sl'")
    database.commit()
    database.close()


def other_tables(path):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE about (key TEXT)")
    database.close()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (other_version, r"made by f2sl 0\.0\.1"),
        (other_tables, "not a file of results"),
        (lambda path: path.write_bytes(b"no database " * 1000), "file is not a database"),
        (lambda path: path.mkdir(), "unable to open|no results.sqlite"),
    ],
)
def test_files_of_others_are_refused_and_left_alone(tmp_path, spoil, said):
    path = tmp_path / store.FILE
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(FileError, match=said):
        Store(tmp_path)
    with pytest.raises(FileError, match=said):
        store.read_results(tmp_path)
    assert before == (path.read_bytes() if path.is_file() else None)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("units", "rows", "many"),
        ("units", "network", b"\x00"),
        ("units", "seconds", "long"),
        ("units", "peak_bytes", 0.5),
        ("units", "measures", '{"f1": "high"}'),
        ("units", "measures", "[1]"),
        ("units", "measures", "{"),
        ("networks", "edges", "few"),
        ("runs", "description", "[1, 2]"),
        ("runs", "description", 7),
        ("runs", "description", "{}"),
        ("runs", "description", json.dumps({**DESCRIPTION, "time_limit": math.inf})),
        ("runs", "description", json.dumps({**DESCRIPTION, "machine": {"cores": "two"}})),
        ("runs", "description", "[" * 100_000),
        ("runs", "started", b"now"),
        ("units", "seconds", math.inf),
        ("networks", "variables", -5),
        ("units", "measures", '{"f1": NaN}'),
        ("units", "measures", "[" * 100_000),
    ],
)
def test_values_of_a_wrong_type_are_refused(tmp_path, table, column, value):
    with Store(tmp_path) as kept:
        kept.add_run("now", DESCRIPTION)
        kept.add([Outcome(unit(1), "sampled", 50001, DONE, 1, 0.5, 7, 60.0, 100, "said", {"f1": 1})])
        kept.add_networks([store.NetworkFacts("mildew", "sampled", 35, 46, 3, 3, 1, 5, 3, 100)])
    assert store.read_results(tmp_path).outcomes[0].measures == {"f1": 1}
    database = sqlite3.connect(tmp_path / store.FILE)
    database.execute(f"UPDATE {table} SET {column} = ?", (value,))
    database.commit()
    database.close()
    with pytest.raises(FileError, match=r"results\.sqlite: cannot be read as results of f2sl reproduce"):
        store.read_results(tmp_path)
    if table == "units":  # what a call that goes on reads
        with Store(tmp_path) as kept, pytest.raises(FileError, match=r"cannot read .*results\.sqlite: "):
            kept.outcomes()


@pytest.mark.parametrize("made", [False, True])
def test_nothing_to_read(tmp_path, made):
    folder = tmp_path / "results"
    if made:
        folder.mkdir()
    with pytest.raises(FileError, match="no results.sqlite" if made else "no such folder"):
        store.read_results(folder)


# The data


def four_columns(rows, random_state=0):
    return np.random.default_rng(random_state).integers(0, 3, (rows, 4))


def test_the_papers_data(tmp_path):
    table = four_columns(20)
    table[:, 0] = 1  # a constant
    write_supplement(tmp_path, GRAPH, {(20, 1): table, (20, 2): table + (table == 2)})
    source = sources.open_source("hailfinder", tmp_path)
    assert source.name == "paper"
    assert source.table(20, 1).codes[1:].tolist() == table.T[1:].tolist()
    # 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3; states 0 to 3 occur, the second data set has 3 in place of 2
    assert source.facts() == store.NetworkFacts("hailfinder", "paper", 4, 4, 2, 2, 2, 2, 1, 4)
    assert sources.open_source("mildew", tmp_path).name == "sampled"


def test_sampled_data_are_other_rows_for_each_size_and_number():
    source = sources.open_source("hailfinder", None)
    tables = {(rows, number): source.table(rows, number) for rows, number in product((20, 40), (1, 2))}
    heads = {tuple(table.codes[:, :20].ravel()) for table in tables.values()}
    assert len(heads) == 4
    assert source.facts() == store.NetworkFacts("hailfinder", "sampled", 56, 66, 4, 16, 1, 17, 2, 11)


def spoiled(folder, how):
    good = four_columns(20)
    if how == "broken":
        path = write_supplement(folder, GRAPH, {(20, 1): good})
        path.write_bytes(path.read_bytes()[:-30])
    elif how == "secret":
        path = write_supplement(folder, GRAPH, {(20, 1): good})
        content = bytearray(path.read_bytes())
        for head in (b"PK\3\4", b"PK\1\2"):  # of each file, and of each entry of the directory
            at = content.find(head)
            while at >= 0:
                content[at + (6 if head == b"PK\3\4" else 8)] |= 1
                at = content.find(head, at + 4)
        path.write_bytes(content)
    elif how == "empty":
        write_supplement(folder, GRAPH, {(20, 1): []})
    elif how == "graph":
        write_supplement(folder, [row[:3] for row in GRAPH[:3]], {(20, 1): good})
    elif how == "cycle":
        write_supplement(folder, np.eye(4, k=1, dtype=int) + np.eye(4, k=-3, dtype=int), {(20, 1): good})
    elif how == "numbers":
        write_supplement(folder, GRAPH, {(20, 1): [["a"] * 4] * 20})
    elif how == "rows":
        write_supplement(folder, GRAPH, {(20, 1): good[:19]})
    elif how == "missing":
        write_supplement(folder, GRAPH, {(20, 2): good})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("broken", "hailf_data.zip: not a readable zip file"),
        ("secret", "hailf_data.zip: not a readable zip file (File 'data/Net_graph.txt' is encrypted"),
        ("empty", "hailf_data.zip: Net_s20_v1.txt is empty"),
        ("graph", "hailf_data.zip: the data have 4 columns, the graph 3 variables"),
        ("cycle", "hailf_data.zip: the graph is not that of a network"),
        ("numbers", "Net_s20_v1.txt is not a table of whole numbers"),
        ("rows", "data set 1 of 20 rows has 19 rows instead"),
        ("missing", "hailf_data.zip: holds no data set 1 of 20 rows (a file NAME_s20_v1.txt)"),
        ("none", "holds none of hailf_data.zip"),
    ],
)
def test_data_that_cannot_be_used_are_refused_before_anything_runs(tmp_path, how, said):
    spoiled(tmp_path, how)
    options = ("--networks", "hailfinder", "--algorithms", "fcbf", "--sizes", 20, "--sets", 1)
    done = f2sl("reproduce", "--out", tmp_path / "results", "--data", tmp_path, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    if (tmp_path / "results").exists():
        assert store.read_results(tmp_path / "results").outcomes == ()


def test_data_of_two_sources_are_not_mixed(tmp_path):
    write_supplement(tmp_path, GRAPH, {(20, 1): four_columns(20)})
    bench = Bench(tmp_path)
    command = bench.arguments("gsbn", sets=1, sizes=20)
    environment = bench.environment("")
    first = f2sl(*command, **environment | {"F2SL_MMHC_DATA": str(tmp_path)})
    assert (first.returncode, first.stderr) == (0, "")
    assert "the paper's data: hailfinder" in first.stdout
    told = "the report shows only 500 and 1,000 rows; results with 20 are only in results.sqlite"
    assert first.stdout.splitlines()[-1] == told
    before = (tmp_path / "results" / store.FILE).read_bytes()
    second = f2sl(*command, **environment)
    assert second.returncode == 2
    assert "has results of hailfinder from the paper's data, and these would be from sampled" in second.stderr
    assert (tmp_path / "results" / store.FILE).read_bytes() == before


@compiled_only
def test_nothing_is_compiled_while_a_unit_is_timed():
    from numba.core.dispatcher import Dispatcher

    def compiled():
        kernels = (thing for thing in gc.get_objects() if issubclass(type(thing), Dispatcher))
        return {kernel: len(kernel.overloads) for kernel in kernels}

    fast = [name for name, learner in settings.LEARNERS.items() if not learner.slow]
    worker.warm_up((name, setting) for name in fast for setting in settings.settings_of(name)[:2])
    before = compiled()
    for network, name in product(("mildew", "hailfinder", "munin"), fast):
        source = sources.open_source(network, None)
        worker.measure(Unit(network, 500, 1, name, "paper"), source.table(500, 1), source.truth, threads=2)
    assert compiled() == before
