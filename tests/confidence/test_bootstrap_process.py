"""``f2sl bootstrap`` as a process: what it prints, and what is left when it is ended."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import f2sl as package
from cli_process import (
    ENVIRONMENT,
    SCRIPT,
    descendants_of,
    f2sl,
    heed_interrupts,
    is_gone,
    learned,
    small_table,
    write_csv,
)
from f2sl.cli.bootstrap import _below
from marks import posix_only

REPLICATES = 300


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "table.csv", small_table())


def test_the_summary_names_edges_with_their_confidence(table):
    out = table.with_name("c.json")
    printed = learned(
        *("bootstrap", table, "--replicates", 6, "--method", "subsample", "--threshold", 0.9, "--jobs", 1),
        *("--out", out, "--plot", table.with_name("c.svg")),
    )
    found = package.Confidence.load(out)
    for words in (
        "6 replicates by f2sl-h (subsample, seed 0)",
        "Threshold    0.9: edges in at least this share of replicates are kept (as given)",
        "False edges",
        f"Saved        {out}",
    ):
        assert words in printed
    # a and b are two fair coins, c is "a or b", and f is mostly e: by hand, in all replicates.
    assert "a -> c   1.000   1.000   0.000" in printed
    assert "e - f    1.000   0.000   0.000" in printed
    assert found.graph.directed_edges == [("a", "c"), ("b", "c")]
    assert found.graph.undirected_edges == [("e", "f")]
    assert table.with_name("c.svg").read_text().startswith("<svg")
    told = json.loads(f2sl("compare", out, out, "--json").stdout)
    assert (told["shd"], told["true_edges"]) == (0, 3)
    # A finished run goes on with more replicates.
    more = ("--replicates", 8, "--method", "subsample", "--json", "--out", out, "--resume")
    facts = json.loads(learned("bootstrap", table, *more))
    assert (facts["finished"], facts["complete"], facts["estimated"]) == (8, True, True)
    assert facts["options"]["alpha"] == 0.05


def test_edges_below_the_threshold_are_told_apart():
    shares = {("a", "b"): 1.0, ("a", "c"): 0.2, ("b", "c"): 0.4, ("a", "d"): 0.4}
    found = SimpleNamespace(graph=package.PDAG([*"abcd"], [("b", "a")]), by_pair=shares)
    assert [(str(edge), edge.weight) for edge in _below(found, 2)] == [("a - d", 0.4), ("b - c", 0.4)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--replicates", 7, "--method", "subsample", "--threshold", 3, "--jobs", 0, "--resume"],
            "--replicates must be even for the method 'subsample' (two halves each), not 7; "
            "--threshold must be a number above 0 and up to 1, not 3.0; --jobs must be a whole number",
        ),
        (["--engine", "stream"], "resampling needs the rows in memory"),
        (["--out", "c.nix"], "no graph format for c.nix"),
        (["-a", "f2sl-c", "--learner-threshold", 0.1], "f2sl-c has no option --threshold"),
    ],
)
def test_wrong_input_is_one_line(table, arguments, told):
    done = f2sl("bootstrap", table, *arguments)
    assert done.stderr.startswith(f"f2sl: error: {told}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


GROWTH = """
import resource, sys
import numpy as np
import f2sl

def peaks():
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return [resource.getrusage(who).ru_maxrss // 1024 for who in both]

codes = np.random.default_rng(0).integers(0, 2, (40_000, 10))
table = f2sl.open_table({f"v{i}": column for i, column in enumerate(codes.T)})
for replicates in (20, 120):
    f2sl.bootstrap(table, "f2sl-c", replicates, n_jobs=2)
    print(*peaks())
"""
"""Prints the peaks in MB of this process and of the largest one it started, after both runs. The rows of a
replicate take 0.4 MB, those of 100 more 40 MB."""


@posix_only
def test_no_process_takes_more_memory_for_more_replicates():
    done = subprocess.run(
        [sys.executable, "-c", GROWTH],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    few, many = (list(map(int, line.split())) for line in done.stdout.splitlines())
    assert min(few) > 40
    assert all(after <= before + 20 for before, after in zip(few, many, strict=True)), (few, many)


@posix_only
def test_a_killed_run_goes_on_is_interrupted_and_ends_as_if_neither_had_been(table):
    out = table.with_name("c.json")
    journal = table.with_name("c.json.replicates")
    arguments = (
        "bootstrap",
        table,
        "--replicates",
        REPLICATES,
        "--random-state",
        4,
        "--jobs",
        2,
        "--out",
        out,
    )

    def until_finished(number, process):
        """Wait until so many replicates are stored."""
        end = time.monotonic() + 180
        while not journal.exists() or journal.read_bytes().count(b"\n") <= number:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.002)

    def start(*more):
        return subprocess.Popen(
            [SCRIPT, *map(str, (*arguments, *more))],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
            start_new_session=True,
        )

    with start() as process:
        until_finished(5, process)
        own = descendants_of(process.pid)
        process.kill()
    kept = journal.read_bytes()
    kept = kept[: kept.rindex(b"\n") + 1]
    assert own
    assert not out.exists()
    end = time.monotonic() + 20
    while not all(map(is_gone, own)):
        assert time.monotonic() < end
        time.sleep(0.02)

    refused = f2sl(*arguments)
    assert refused.stderr.startswith(f"f2sl: error: {journal} holds the finished replicates")
    assert refused.returncode == 2

    with start("--resume") as process:
        until_finished(kept.count(b"\n") + 5, process)
        own = descendants_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        printed, told = process.communicate(timeout=30)
    assert process.returncode == 130
    found = package.Confidence.load(out)
    assert found.n_replicates >= kept.count(b"\n") + 4
    assert not found.complete
    finished = f"{found.n_replicates} of {REPLICATES} replicates were finished"
    assert told == f"f2sl: interrupted; {finished}; {out} has them; --resume continues\n"
    assert f"INCOMPLETE: {found.n_replicates} of {REPLICATES} replicates" in printed
    assert all(map(is_gone, own))
    assert journal.read_bytes().startswith(kept)

    learned(*arguments, "--resume", "--quiet")
    assert not journal.exists()
    package.bootstrap(
        table, "f2sl-h", REPLICATES, random_state=4, n_jobs=1, out=table.with_name("whole.json")
    )
    assert out.read_bytes() == table.with_name("whole.json").read_bytes()
