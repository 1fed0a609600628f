"""The golden record: made twice it is the same, changes are found, and tables are what they claim to be."""

import json
import subprocess
import sys

import numpy as np
import pytest

import f2sl
from f2sl.learners.base import STRUCTURE
from f2sl.learners.local.base import LOCAL, MARKOV_BLANKET
from paths import ROOT

TOOLS = ROOT / "tools"


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))


def golden(*arguments):
    command = [sys.executable, str(TOOLS / "golden.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Two records of two learners on one table of each kind."""
    paths = [tmp_path_factory.mktemp("golden") / f"{name}.jsonl" for name in ("old", "new")]
    for path in paths:
        done = golden("record", path, "--learners", "f2sl-c", "pc fcbf", "--most", 1)
        assert done.returncode == 0, done.stderr
        assert "18 of 18 results on 3 tables, 0 of them faults" in done.stdout
    return paths


def rewritten(path, to, change):
    """Write a record whose lines went through `change`, which may leave some out."""
    lines = [change(json.loads(line)) for line in path.read_text().splitlines()]
    to.write_text("".join(json.dumps(line) + "\n" for line in lines if line))
    return to


def test_a_record_made_twice_compares_equal(records):
    done = golden("compare", *records)
    assert done.returncode == 0, done.stdout
    assert "differences: none" in done.stdout
    lines = [json.loads(line) for line in records[0].read_text().splitlines()]
    results = [line for line in lines if "engine" in line]
    assert {line["engine"] for line in results} == {"memory", "stream", "dask"}
    assert all(line["graph"] and line["seconds"] > 0 for line in results)
    assert {line["table"]: line["read"] for line in lines if "read" in line} == {
        "asia": "8 discrete, 2000 rows",
        "linear 6": "6 continuous, 1000 rows",
        "mixed 6": "4 continuous, 2 discrete, 800 rows",
    }


def test_the_engines_find_the_same(records):
    by_task = {}
    for line in map(json.loads, records[0].read_text().splitlines()):
        if "engine" in line:
            by_task.setdefault((line["learner"], line["table"]), set()).add((line["graph"], line["tests"]))
    assert len(by_task) == 6
    assert all(len(found) == 1 for found in by_task.values())


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("graph", "another", "-> another"),
        ("score", -1.5, "score None -> -1.5"),
        ("tests", 7, "-> 7"),
        ("error", "DataError", "error None -> DataError"),
    ],
)
def test_a_changed_line_is_found(records, tmp_path, name, value, told):
    key = {"learner": "f2sl-c", "table": "asia", "engine": "stream"}

    def change(line):
        return {**line, name: value} if key.items() <= line.items() else line

    before = records[0]
    if name == "score":
        before = rewritten(before, tmp_path / "old.jsonl", lambda line: {**line, "score": -1.0})
        told = "score -1.0 -> -1.5"
    done = golden("compare", before, rewritten(before, tmp_path / "new.jsonl", change))
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("f2sl-c | ")]
    assert line.startswith("f2sl-c | asia | stream: ")
    assert told in line


def test_another_order_of_a_sum_is_no_difference(records, tmp_path):
    def change(line):
        return {**line, "strength": line["strength"] * (1 + 1e-13)} if "strength" in line else line

    assert (
        golden("compare", records[0], rewritten(records[0], tmp_path / "new.jsonl", change)).returncode == 0
    )


def test_a_missing_line_is_a_difference_unless_a_part_was_recorded(records, tmp_path):
    part = rewritten(records[0], tmp_path / "part.jsonl", lambda line: line.get("engine") != "dask" and line)
    done = golden("compare", records[0], part)
    assert done.returncode == 1
    assert done.stdout.count("missing in the new record") == 6
    assert golden("compare", records[0], part, "--part").returncode == 0


def test_a_table_that_is_read_differently_is_told_with_the_results_on_it(records, tmp_path):
    def change(line):
        if line["table"] != "asia":
            return line
        return {**line, "read": "7 discrete, 2000 rows"} if "read" in line else {**line, "graph": "another"}

    lines = golden("compare", records[0], rewritten(records[0], tmp_path / "new.jsonl", change)).stdout
    assert "asia: read 8 discrete, 2000 rows -> 7 discrete, 2000 rows" in lines
    assert lines.count("-> another (table read differently)") == 6


def test_all_learners_and_kinds_of_tables_are_in_the_record(tools):
    from golden import LEARNERS, tasks
    from golden_tables import golden_tables

    plain = {
        (learner.call, learner.algorithm) for learner in LEARNERS if not set(learner.options) - {"epochs"}
    }
    for call, registry in (("learn", STRUCTURE), ("learn_pc", LOCAL), ("learn_mb", MARKOV_BLANKET)):
        names = {entry.name for entry in registry.registered() if entry.location.startswith("f2sl.")}
        assert {name for kind, name in plain if kind == call} == names
    names = [learner.name for learner in LEARNERS]
    assert len(set(names)) == len(names)
    tables = [
        {"table": table.name, "kind": table.kind, "missing": table.missing, "columns": range(3)}
        for table in golden_tables()
    ]
    assert len(tables) >= 60
    assert len({table["table"] for table in tables}) == len(tables)
    for learner in LEARNERS:
        met = {(table["kind"], table["missing"], engine) for table, engine in tasks(learner, tables)}
        assert len(met) == 3 * 2 * 3


@pytest.mark.parametrize("name", ["asia", "hailfinder", "barley"])
def test_bundled_networks_are_read_as_f2sl_reads_them(tools, name):
    from golden_tables import bundled_network

    net = f2sl.load_network(name)
    for child, (states, parents, table) in bundled_network(name).items():
        assert tuple(states) == net.states[child]
        assert set(parents) == set(net.graph.parents(child))
        assert len(table) == np.prod([len(net.states[parent]) for parent in parents])
        assert all(abs(sum(row) - 1) < 1e-6 and len(row) == len(states) for row in table.values())


def test_samples_follow_the_probabilities(tools):
    from golden_tables import sampled

    rows = sampled("asia", 20_000)
    smoking = rows["smoke"] == "yes"
    # P(bronc = yes | smoke) is 0.6 and 0.3; a mean of 10,000 is within 5 standard errors of 0.005 at most.
    assert abs((rows["bronc"][smoking] == "yes").mean() - 0.6) < 0.025
    assert abs((rows["bronc"][~smoking] == "yes").mean() - 0.3) < 0.025
    either = (rows["tub"] == "yes") | (rows["lung"] == "yes")
    assert ((rows["either"] == "yes") == either).all()
