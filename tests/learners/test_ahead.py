"""Helper processes compile what a first fit needs later: who compiles what, and what happens if they fail."""

import json
import os
import runpy
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest

from cli_process import ENVIRONMENT, small_table, write_csv
from f2sl import _ahead
from f2sl._ahead import Helpers
from f2sl.learners.registries import STRUCTURE
from marks import posix_only

KNOWN = json.loads(_ahead.LIST.read_text(encoding="utf-8"))
TOOL = Path(__file__).parents[2] / "tools" / "list_kernels.py"


def needed(learner, kind="discrete"):
    return [KNOWN["kernels"][i] for i in KNOWN["needed"][learner][kind]]


def test_what_is_listed_exists():
    for module, name, described in KNOWN["kernels"]:
        function = getattr(import_module(module), name)
        assert _ahead.describe(function, _ahead.types_of(described)) == [module, name, described]
    assert set(KNOWN["needed"]) <= {entry.load().__name__ for entry in STRUCTURE}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return runpy.run_path(str(TOOL))["tables"](tmp_path_factory.mktemp("tables"))


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("f2sl-c", "discrete"),
        ("f2sl-h", "discrete"),
        ("mmhc", "discrete"),
        ("f2sl-h", "mixed"),
        ("f2sl-h", "mixed, missing"),
    ],
)
def test_the_list_is_what_learners_call(tables, algorithm, kind):
    command = [sys.executable, TOOL, algorithm, tables[kind]]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True)
    learner = STRUCTURE.load(algorithm).__name__
    assert json.loads(done.stdout) == needed(learner, kind), f"the list is out of date: run tools/{TOOL.name}"


@pytest.fixture
def helpers(monkeypatch):
    """Make helpers that run a given program in place of Python, as if nothing were compiled."""
    made = []

    def make(program):
        monkeypatch.setattr(_ahead, "available_cores", lambda: 2)
        monkeypatch.setattr(_ahead, "nothing_compiled", lambda: True)
        monkeypatch.setattr(sys, "executable", str(program))
        made.append(Helpers())
        return made[-1]

    yield make
    for one in made:
        one.end()


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def wait_until(what):
    while not what():
        time.sleep(0.01)


@posix_only
def test_helpers_begin_at_the_end_and_are_waited_for(tmp_path, helpers):
    # Says that it is ready, takes a kernel, answers when it is told to, and then goes on with others.
    text = """
echo
read line
echo "$line" > taken
until [ -e go ]; do sleep 0.05; done
echo
while read line; do echo "$line" >> taken; echo; done
"""
    slow = program(tmp_path / "python", f"cd {tmp_path}\n{text}")
    found = helpers(slow)
    found.start()
    found.expect("F2SLc", "discrete")
    first, *others, last = needed("F2SLc")
    wait_until((tmp_path / "taken").exists)
    wait_until(lambda: (tmp_path / "taken").read_text() == json.dumps(last) + "\n")
    assert not found.compiled(first)  # nobody has taken it, and nobody will
    (tmp_path / "go").touch()
    assert found.compiled(last)
    wait_until(lambda: not found._processes)
    taken = [json.loads(line) for line in (tmp_path / "taken").read_text().splitlines()]
    assert taken == [last, *reversed(others)]
    assert all(found.compiled(one) for one in others)


@posix_only
@pytest.mark.parametrize("text", ["", "echo", "echo; read line", "echo; read line; echo"])
def test_nobody_waits_for_a_helper_that_has_ended(tmp_path, helpers, text):
    found = helpers(program(tmp_path / "python", text))
    found.expect("F2SLc", "discrete")
    wait_until(lambda: not found._processes)
    for one in needed("F2SLc"):
        found.compiled(one)


@posix_only
@pytest.mark.parametrize("name", ["uwsgi", "python"])
def test_no_helper_where_none_can_be_started(tmp_path, helpers, name):
    found = helpers(tmp_path / name)  # neither exists
    found.expect("F2SLc", "discrete")
    assert not any(found.compiled(one) for one in needed("F2SLc"))


@posix_only
def test_no_helper_where_memory_or_threads_are_short(tmp_path, helpers, monkeypatch):
    def no_more(self):
        raise RuntimeError("can't start new thread")

    idle = program(tmp_path / "python", "echo; while read line; do echo; done")
    for place, name, value in (
        (_ahead, "available_bytes", lambda: 2 * _ahead.HELPER_BYTES - 1),
        (threading.Thread, "start", no_more),
    ):
        with monkeypatch.context() as short:
            found = helpers(idle)
            short.setattr(place, name, value)
            found.expect("F2SLc", "discrete")
            assert not found._processes
            assert not any(found.compiled(one) for one in needed("F2SLc"))


@posix_only
def test_a_helper_does_not_wait_for_ever(tmp_path, helpers, monkeypatch):
    monkeypatch.setattr(_ahead, "SECONDS_TO_WAIT", 0.1)
    found = helpers(program(tmp_path / "python", "echo; while read line; do echo; done"))
    found.start()
    wait_until(lambda: not found._processes)


@posix_only
def test_a_learner_that_is_not_compiled_beside_others_that_are(tmp_path, helpers, monkeypatch):
    found = helpers(program(tmp_path / "python", "echo; while read line; do echo; done"))
    monkeypatch.setattr(_ahead, "nothing_compiled", lambda: False)
    found.expect("F2SLh", "discrete")
    kernels = needed("F2SLh")
    assert not found.compiled(["f2sl", "of_other_types", []])
    assert not found._processes
    assert not found.compiled(kernels[5])
    wait_until(lambda: not found._processes)
    assert all(found.compiled(one) for one in kernels[6:])
    assert [json.loads(kernel) for kernel in found._taken] == kernels[:5:-1]  # none of the others


def test_how_far_a_first_run_is(monkeypatch):
    monkeypatch.setattr(_ahead, "nothing_compiled", lambda: False)
    monkeypatch.setattr(_ahead, "available_cores", lambda: 1)  # no helpers
    found, kernels = Helpers(), needed("F2SLc")
    assert found.how_far() == (0, 0)  # nobody has announced a fit
    found.expect("F2SLc", "discrete")
    for reached, kernel in enumerate(kernels):
        assert not found.compiled(kernel)
        assert found.how_far() == (reached, len(kernels))
    assert not found.compiled(["f2sl", "of_other_types", []])
    assert found.how_far() == (len(kernels) - 1, len(kernels))
    done = threading.Event()
    done.set()
    found._taken = {json.dumps(kernels[-1]): done, json.dumps(["f2sl", "of_another_fit", []]): done}
    assert found.how_far() == (len(kernels), len(kernels))
    found.expect("F2SLh", "discrete")
    found.compiled(needed("F2SLh")[0])
    assert found.how_far()[1] == len(needed("F2SLh"))


@pytest.mark.parametrize("folder", ["file", "file/within"])
def test_a_cache_folder_that_cannot_be_used_is_not_an_empty_one(tmp_path, monkeypatch, folder):
    """Numba then uses the next folder it knows, which may hold all that is needed."""
    own = tmp_path / "f2sl" / "data" / "memory" / "__pycache__"
    own.mkdir(parents=True)
    monkeypatch.setattr(_ahead, "__file__", str(tmp_path / "f2sl" / "_ahead.py"))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    (tmp_path / "file").touch()
    for given in (tmp_path / "folder" / "new", tmp_path / folder):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(given))
        assert _ahead.nothing_compiled()
    (own / "kernels.nbi").touch()
    assert not _ahead.nothing_compiled()


def test_a_helper_leaves_machine_code_in_the_cache(tmp_path, helpers, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found = helpers(sys.executable)
    found.expect("PCStable", "continuous")
    wait_until(lambda: not found._processes)
    for kernel in needed("PCStable", "continuous"):
        assert found.compiled(kernel)
        assert any(f".{kernel[1]}-" in index.name for index in tmp_path.glob("*/*.nbi"))


@posix_only
def test_a_first_run_with_helpers_learns_the_same_and_leaves_no_process(tmp_path):
    path = write_csv(tmp_path / "t.csv", small_table())
    code = """
import json, sys
import f2sl
from f2sl import _ahead
_ahead.available_cores = lambda: 2
learner = f2sl.F2SLc()
_ahead.HELPERS.start()
helpers = [process.pid for process in _ahead.HELPERS._processes]
edges = learner.fit(sys.argv[1]).graph_.edges
print(json.dumps([helpers, list(map(list, edges))]))
"""
    environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        asked = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return json.loads(done.stdout)

    [helper], edges = run()
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)
    assert run() == [[], edges]


@posix_only
def test_a_helper_ends_after_its_parent(tmp_path):
    code = """
import os, signal
import f2sl
from f2sl import _ahead
_ahead.available_cores = lambda: 2
_ahead.HELPERS.start()
print(*[process.pid for process in _ahead.HELPERS._processes], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    [helper] = map(int, done.stdout.split())

    def ended():
        try:
            os.kill(helper, 0)
        except ProcessLookupError:
            return True
        return "\nState:\tZ" in Path(f"/proc/{helper}/status").read_text()

    wait_until(ended)
