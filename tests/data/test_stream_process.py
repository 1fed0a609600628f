"""Streaming as a user meets it: the command line, a limit of memory that is real, and what is left behind."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_process import ENVIRONMENT, SCRIPT, f2sl, learned, small_table, write_csv
from marks import compiled_only

posix_only = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")

pytestmark = compiled_only


@pytest.fixture
def folder(tmp_path):
    """The small table in two files."""
    place = tmp_path / "parts"
    place.mkdir()
    table = small_table()
    write_csv(place / "1.csv", {name: values[:150] for name, values in table.items()})
    write_csv(place / "2.csv", {name: values[150:] for name, values in table.items()})
    return place


@pytest.mark.parametrize("command", [["learn"], ["pc", "c"], ["mb", "c"]], ids=lambda command: command[0])
def test_commands_from_a_folder(folder, command):
    arguments = [command[0], folder, *command[1:], "--json"]
    told = [json.loads(learned(*arguments, "--engine", engine)) for engine in ("memory", "stream")]
    for one in told:
        one.pop("timings", None)
        one["options"].pop("engine", None)
    assert told[0] == told[1]


def test_what_does_not_fit_is_told(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({f"v{i}": np.arange(400_000) % (i + 2) for i in range(6)}), path)
    told = json.loads(learned("pc", path, "v0", "--memory", "16MB", "--json"))
    expected = "read in blocks: in memory the table would take 19 MB or more, and 16 MB are allowed"
    assert told["notes"][0]["text"] == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "disk"], "--engine must be one of 'auto', 'memory', 'stream', 'dask', not 'disk'"),
        (["--memory", "lots"], "--memory takes a number of bytes, or a size such as \"256MB\", not 'lots'"),
    ],
)
def test_commands_refuse_unknown_engines_and_sizes_of_memory_in_one_line(folder, arguments, told):
    for command in (["learn", folder], ["pc", folder, "a"]):
        done = f2sl(*command, *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"f2sl: error: {told}\n")


def test_files_that_disagree_are_named(folder):
    write_csv(folder / "3.csv", {name: ["x", "y"] for name in small_table()})
    for engine in ("memory", "stream"):
        done = f2sl("learn", folder, "--engine", engine)
        assert done.returncode == 2
        expected = f"{folder / '3.csv'}: column 'c' holds text, but integers in 1.csv; all files must agree"
        assert done.stderr == f"f2sl: error: {expected}\n"


LIMITED = """
import resource, sys
from pathlib import Path
import f2sl

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))

small, large, engine = sys.argv[1:]
options = {"engine": engine, "memory": "128MB" if engine == "stream" else None, "n_jobs": 1}
f2sl.learn(small, **options)
limit = status("VmSize") + 192 * 10**6
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(f2sl.learn(large, **options).graph_.n_nodes)
"""


@posix_only
def test_a_table_larger_than_a_real_limit(tmp_path):
    """A million rows of 60 columns are 480 MB of integers: too many for memory, not for blocks."""
    rng = np.random.default_rng(0)
    columns = {f"v{i:02d}": rng.integers(0, 3, 1_000_000) for i in range(60)}
    pq.write_table(pa.table(columns), tmp_path / "large.parquet", row_group_size=100_000)
    pq.write_table(pa.table(columns).slice(0, 5000), tmp_path / "small.parquet")

    def learn(engine):
        command = [
            sys.executable,
            "-c",
            LIMITED,
            tmp_path / "small.parquet",
            tmp_path / "large.parquet",
            engine,
        ]
        # Arrow's own allocator has a gigabyte of addresses in reserve, which the limit would not see.
        environment = {**ENVIRONMENT, "ARROW_DEFAULT_MEMORY_POOL": "system"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert "MemoryError" in learn("memory").stderr
    done = learn("stream")
    assert (done.returncode, done.stdout, done.stderr) == (0, "60\n", "")


@posix_only
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind(tmp_path, end):
    rng = np.random.default_rng(0)
    path, capacity = tmp_path / "t.parquet", tmp_path / "room"
    pq.write_table(pa.table({f"v{i}": rng.integers(0, 3, 300_000) for i in range(30)}), path)
    capacity.mkdir()
    process = subprocess.Popen(
        [SCRIPT, "learn", path, "--engine", "stream", "--algorithm", "mmhc", "--quiet"],
        env={**ENVIRONMENT, "TMPDIR": str(capacity)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not any(target.is_relative_to(capacity) for target in nameless_files(process.pid)):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(end)
    told = process.communicate(timeout=30)[1]
    assert process.returncode == (130 if end == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in told
    assert list(capacity.iterdir()) == []


def nameless_files(process):
    """Files without a name that a process has open; Python tries with a named one whether it may write."""
    found = []
    for entry in Path(f"/proc/{process}/fd").iterdir():
        try:
            found.append(entry.readlink())
        except OSError:  # closed meanwhile
            continue
    return [path for path in found if path.name.endswith("(deleted)")]
