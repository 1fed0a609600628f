"""The harness by itself: jobs that misbehave, files of JSON lines, what is skipped."""

import json
import os
import signal
import subprocess
import sys

import pytest

from cli_process import is_gone
from f2sl.errors import DataError, F2SLError
from f2sl_paper.harness.job import DONE, FAILED, OVER_MEMORY, OVER_TIME, SKIPPED, Keeper, Limits
from f2sl_paper.harness.lines import Lines, claimed_results
from f2sl_paper.harness.machine import describe, peak_bytes_of
from f2sl_paper.harness.runner import Runner
from f2sl_paper.harness.schedule import Known, Place, Schedule
from harness_work import Doing, DoingAfresh, Key
from paths import BENCHMARKS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a system that can fork")
LIMITS = Limits(2.0, 1 << 30)


def place_of(key):
    return Place(key.doing, (key.rows,))


class Kept(Keeper):
    """Keeps what the runner hands over, in memory."""

    def __init__(self):
        self.prepared, self.started, self.ended = None, [], {}

    def begin(self, prepared):
        self.prepared = prepared

    def start(self, key):
        self.started.append(key)

    def keep(self, ended):
        self.ended.update({one.key: one for one in ended})


def run(work, keys, known=None, jobs=1, limits=LIMITS):
    kept = Kept()
    Runner(work, Schedule(keys, known or {}, limits, place_of), kept, jobs).run()
    return kept


@pytest.mark.parametrize("work", [Doing(), DoingAfresh()], ids=["forked", "fresh"])
def test_whatever_a_job_does_ends_with_it(work, capfd):
    keys = [Key(doing) for doing in ("hang", "crash", "fail", "eat", "refuse", "well")]
    kept = run(work, keys, jobs=2)
    states = {key.doing: (ended.state, ended.message) for key, ended in kept.ended.items()}
    assert states.pop("eat")[0] == OVER_MEMORY
    assert states == {
        "hang": (OVER_TIME, ""),
        "crash": (FAILED, "the process was ended by SIGABRT, without a result"),
        "fail": (FAILED, "ZeroDivisionError: one by nought"),
        "refuse": (FAILED, "ValueError: no task"),
        "well": (DONE, ""),
    }
    well = kept.ended[Key("well")]
    assert (well.seconds, well.measures["doubled"]) == (0.5, 2)
    assert well.measures["prepared"] == (0 if work.fresh else 1)
    assert 0 < well.peak_bytes < LIMITS.bytes
    assert kept.prepared == "facts" and kept.started == keys
    assert is_gone(well.measures["parent"])
    assert capfd.readouterr() == ("", "")


def test_after_a_job_over_its_limit_larger_ones_are_skipped():
    keys = [Key("hang", rows) for rows in (20, 10, 30)]
    kept = run(Doing(), keys, limits=Limits(0.2, 1 << 30))
    assert {key.rows: ended.state for key, ended in kept.ended.items()} == {
        20: OVER_TIME,
        10: OVER_TIME,
        30: SKIPPED,
    }
    assert kept.ended[Key("hang", 30)].blocked_by == Key("hang", 20)
    assert kept.started == keys[:2]


def test_larger_jobs_wait_for_smaller_ones_unless_their_size_is_proven():
    keys = [Key("well", rows) for rows in (1, 2, 3)]
    schedule = Schedule(keys, {}, LIMITS, place_of)
    assert [schedule.next(), schedule.next()] == [keys[0], None]
    assert schedule.ended(keys[0], DONE) == []
    done = {Key("well", 2): Known(DONE, LIMITS)}
    schedule = Schedule([Key("well", 1), Key("well", 3)], done, LIMITS, place_of)
    assert [schedule.next(), schedule.next()] == [keys[0], None]
    done = {Key("well", 4): Known(DONE, LIMITS)}
    schedule = Schedule(keys[1:], done, LIMITS, place_of)
    assert [schedule.next(), schedule.next()] == keys[1:]


def test_what_cannot_be_prepared_is_told_before_anything_starts():
    kept = Kept()
    with pytest.raises(DataError, match="no such data"):
        Runner(Doing(wrong=True), Schedule([Key("well")], {}, LIMITS, place_of), kept).run()
    assert (kept.prepared, kept.started, kept.ended) == (None, [], {})


@pytest.mark.parametrize("work", [Doing(), DoingAfresh()], ids=["forked", "fresh"])
def test_a_server_that_is_killed_is_told(work):
    class Killing(Kept):
        def keep(self, ended):
            super().keep(ended)
            if Key("well") in self.ended:
                os.kill(self.ended[Key("well")].measures["parent"], signal.SIGKILL)

    schedule = Schedule([Key("well"), Key("hang")], {}, Limits(60.0, 1 << 30), place_of)
    with pytest.raises(F2SLError, match="was ended by SIGKILL"):
        Runner(work, schedule, Killing()).run()


def lines(path, limits=LIMITS):
    return Lines(path, Key, limits)


def test_results_are_lines_that_a_later_run_completes(tmp_path, capsys):
    path = tmp_path / "new" / "results.jsonl"
    keys = [Key("well", 1), Key("fail", 1), Key("hang", 1), Key("hang", 2)]
    stored = lines(path)
    stored.heads = [{"machine": "this"}]
    stored.complete(Doing(), keys, place_of)
    found = [json.loads(line) for line in path.read_text().splitlines()]
    well = found.pop(1)
    assert (well["doing"], well["rows"], well["seconds"]) == ("well", 1, 0.5)
    assert found == [
        {"machine": "this"},
        {"doing": "fail", "rows": 1, "failed": "ZeroDivisionError: one by nought"},
        {"doing": "hang", "rows": 1, "stopped": 2.0},
        {"doing": "hang", "rows": 2, "not run": 2.0},
    ]
    assert len(capsys.readouterr().out.splitlines()) == 4

    again = lines(path)
    assert (again.heads, again.results) == (stored.heads, stored.results)
    again.complete(Doing(), keys, place_of)
    assert capsys.readouterr().out.count("\n") == 1  # what failed is tried again
    Lines(path, Key, Limits(2.5, 1 << 30)).complete(Doing(), keys, place_of)
    assert capsys.readouterr().out.count("\n") == 3
    assert lines(path).results[Key("hang", 2)] == {"not run": 2.5}


def test_a_job_over_its_memory_is_tried_again_with_more_only(tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    path.write_text('{"doing": "eat", "rows": 1, "failed": "MemoryError: told in an older file"}\n')
    keys = [Key("eat", 1), Key("eat", 2)]
    lines(path).complete(Doing(), keys, place_of)
    told = {Key("eat", 1): {"over memory": LIMITS.bytes}, Key("eat", 2): {"not run": LIMITS.seconds}}
    assert lines(path).results == told
    assert lines(path).known()[keys[0]] == Known(OVER_MEMORY, Limits(0.0, LIMITS.bytes))
    assert capsys.readouterr().out.count("\n") == 2
    lines(path).complete(Doing(), keys[:1], place_of)
    assert capsys.readouterr().out == ""
    lines(path, Limits(2.0, LIMITS.bytes + (1 << 20))).complete(Doing(), keys[:1], place_of)
    assert capsys.readouterr().out.count("\n") == 1


def test_one_process_at_a_time(tmp_path):
    with (
        claimed_results(tmp_path / "new" / "results.jsonl"),
        pytest.raises(SystemExit, match="another process"),
        claimed_results(tmp_path / "new" / "results.jsonl"),
    ):
        pass


def test_ctrl_c_leaves_what_is_finished_and_no_process(tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    servers = []

    class Interrupted(Lines):
        def keep(self, ended):
            super().keep(ended)
            servers.extend(found["parent"] for found in self.results.values())
            if self.results:  # the next job was handed out before
                signal.raise_signal(signal.SIGINT)

    # Tests may run in the background of a shell, where SIGINT is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as end, claimed_results(path):
            work = Interrupted(path, Key, Limits(60.0, 1 << 30))
            work.complete(Doing(), [Key("well"), Key("hang")], place_of)
    finally:
        signal.signal(signal.SIGINT, before)
    assert end.value.code == 130
    assert f"finished results are in {path}" in capsys.readouterr().err
    assert list(lines(path).results) == [Key("well")]
    assert servers and all(map(is_gone, servers))


def test_the_machine():
    told = describe(["numpy", "no-such-package"])
    assert told["versions"]["no-such-package"] is None
    assert list(told["versions"]) == ["python", "f2sl", "numpy", "no-such-package"]
    size = 1 << 27
    small, large = peak_bytes_of("pass"), peak_bytes_of(f"x = b'1' * {size}")
    assert 0.9 * size < large - small < 1.5 * size


def test_peers_in_fresh_processes(tmp_path):
    pytest.importorskip("pyagrum")
    path = tmp_path / "peers.jsonl"
    command = [
        sys.executable,
        str(BENCHMARKS / "peers"),
        *("--networks", "asia", "--rows", "200", "--learners", "F2SL-c,pyAgrum hill"),
        *("--results", str(path)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    _, *cells = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(cell["learner"], cell["variables"]) for cell in cells] == [
        ("f2sl F2SL-c", 8),
        ("pyAgrum hill climbing", 8),
    ]
    assert all(cell["runs"] >= 1 and cell["peak_mb"] > cell["above_mb"] for cell in cells)
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (again.returncode, again.stdout) == (0, "")
