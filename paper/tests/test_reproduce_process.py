"""The experiments as processes: killed, interrupted, without room, with learners that misbehave."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli_process import ENVIRONMENT, descendants_of, is_gone
from f2sl_paper import worker
from f2sl_paper.harness.job import DONE, FAILED, OVER_MEMORY, OVER_TIME, SKIPPED
from f2sl_paper.settings import settings_of
from f2sl_paper.store import FILE
from reproduce_tools import Bench, interrupt, is_intact, tables_but_for_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


SETS = 8
"""Data sets that take more room than is left to them in the tests of full disks."""


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def measures(outcomes):
    return {unit: (outcome.state, outcome.measures) for unit, outcome in outcomes.items()}


def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been_killed(bench):
    whole = bench.folder / "whole"
    what = {"algorithms": "gsbn,f2sl-c,fcbf", "sizes": 500, "sets": 2}
    assert bench.run(**what, out=whole).returncode == 0
    process = bench.start("dawdle", **what)
    bench.until_done(3)
    started = descendants_of(process.pid)
    assert started
    process.kill()
    process.communicate()
    bench.until(lambda: all(map(is_gone, started)))
    assert is_intact(bench.out)
    before = bench.outcomes()
    assert 3 <= len(before) < 2 * 16
    again = bench.run(**what)
    assert again.returncode == 0
    assert f"in this call: {2 * 16 - len(before)} units" in again.stdout
    after = bench.outcomes()
    assert measures(after) == measures(bench.outcomes(whole))
    assert {unit: after[unit] for unit in before} == before
    tables = tables_but_for_seconds(bench.out)
    assert tables == tables_but_for_seconds(whole)
    assert len(tables) == 7
    shown = [row for row in tables["table-2-errors-500.csv"] if row["shd_state"] == "done"]
    assert [(row["algorithm"], row["data_sets"]) for row in shown] == [
        ("GSBN", "2"),
        ("F2SL-c", "2"),
        ("F2SL-c", "2"),
    ]


def test_ctrl_c_ends_everything_and_keeps_what_is_finished(bench):
    process = bench.start("hang")
    bench.until_done(2)
    started = descendants_of(process.pid)
    interrupt(process)
    _, told = process.communicate(timeout=10)
    assert process.returncode == 130
    assert told == (f"f2sl: interrupted; finished results are in {bench.out}; the same command continues\n")
    bench.until(lambda: all(map(is_gone, started)))
    assert DONE in bench.states("f2sl-c").values()
    assert "gsbn" not in {unit.learner for unit in bench.outcomes()}


def test_a_server_has_one_thread_and_is_told_to_be_killed_and_the_folder_has_one_user(bench):
    process = bench.start("hang")
    try:
        bench.until_done(2)
        started = descendants_of(process.pid)
        assert len(list(Path(f"/proc/{started[0]}/task").iterdir())) == 1
        second = bench.run()
        assert second.returncode == 2
        assert second.stderr == (
            f"f2sl: error: {bench.out}: another f2sl reproduce is running in this folder\n"
        )
        os.kill(started[0], signal.SIGKILL)
        _, told = process.communicate(timeout=10)
    finally:
        process.kill()
    assert process.returncode == 2
    assert told == (
        "f2sl: error: the process that units run from was ended by SIGKILL; finished results are kept; "
        "the same command continues\n"
    )
    bench.until(lambda: all(map(is_gone, started)))
    assert is_intact(bench.out)


def test_a_learner_over_its_time_is_stopped_and_tried_again_with_more(bench):
    done = bench.run("hang", sets=3, time_limit=2)  # what else may run again is for tests of the schedule
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 over the time limit, 2 skipped after those" in done.stdout
    assert bench.states("gsbn") == {1: OVER_TIME, 2: SKIPPED, 3: SKIPPED}
    assert bench.states("f2sl-c") == {1: DONE, 2: DONE, 3: DONE}
    over = next(outcome for outcome in bench.outcomes().values() if outcome.state == OVER_TIME)
    assert (over.time_limit, over.seconds, over.measures) == (2, None, {})

    longer = bench.run(sets=3, time_limit=30)
    assert "in this call: 3 units" in longer.stdout
    assert bench.states("gsbn") == dict.fromkeys((1, 2, 3), DONE)


def test_a_learner_that_eats_memory_takes_nothing_else_down(bench):
    done = bench.run("eat", memory_limit="600M")
    assert (done.returncode, done.stderr) == (0, "")
    assert bench.states("gsbn") == {1: OVER_MEMORY, 2: SKIPPED}
    assert bench.states("f2sl-c") == {1: DONE, 2: DONE}
    peaks = [outcome.peak_bytes for outcome in bench.outcomes().values() if outcome.state == DONE]
    assert all(2**25 < peak < 600 * 2**20 for peak in peaks)


def test_failures_are_told_and_tried_again(bench):
    """Other ways to fail are for the tests of the harness."""
    done = bench.run("crash")
    assert done.returncode == 1
    assert done.stderr == (
        "f2sl: error: 2 of 6 units failed, such as gsbn (paper) on hailfinder, 250 rows, data set 1: "
        "the process was ended by SIGABRT, without a result; the same command tries them again\n"
    )
    assert bench.states("gsbn") == {1: FAILED, 2: FAILED}
    assert bench.states("f2sl-c") == {1: DONE, 2: DONE}
    again = bench.run()
    assert again.returncode == 0
    assert "in this call: 2 units" in again.stdout


def check_full_disk(bench, full):
    """A run without room ended clearly, its file is whole, and the same command goes on elsewhere."""
    assert full.returncode == 2
    assert full.stderr.startswith(f"f2sl: error: cannot write {bench.out / FILE}: ")
    assert full.stderr.endswith("finished results are kept: make room; the same command continues\n")
    assert is_intact(bench.out)
    assert not (bench.out / f"{FILE}-journal").exists()
    kept = bench.outcomes()
    assert 0 < len(kept) < len(settings_of("fcbf")) * SETS
    return kept


def test_a_file_that_may_not_grow_is_told_and_stays_intact(bench):
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (49152, 49152));"
    command = (sys.executable, "-c", f"{limited} from f2sl.cli.app import main; sys.exit(main())")
    # What is compiled on the first run is kept in files, too.
    worker.warm_up(("fcbf", setting) for setting in settings_of("fcbf"))
    kept = check_full_disk(bench, bench.run(algorithms="fcbf", sets=SETS, command=command))
    assert bench.run(algorithms="fcbf", sets=SETS).returncode == 0
    after = bench.outcomes()
    assert len(after) == len(settings_of("fcbf")) * SETS
    assert {unit: after[unit] for unit in kept} == kept


@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_a_full_disk_is_told_and_the_file_stays_intact(bench):
    bench.out.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(bench.out)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a file system")
    try:
        check_full_disk(bench, bench.run(algorithms="fcbf", sets=SETS))
    finally:
        subprocess.run(["umount", str(bench.out)], check=True)


def test_progress_on_a_terminal(bench):
    ours, theirs = os.openpty()
    environment = {**ENVIRONMENT, **bench.environment("dawdle"), "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-m", "f2sl", *bench.arguments()],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
        os.close(ours)
    assert process.returncode == 0
    text = shown.decode()
    assert "compiling inner loops" in text
    assert re.search(r"\d of 6 done, [12] running, 0 failed, about 0:00:\d\d left: gsbn on hailfinder", text)
