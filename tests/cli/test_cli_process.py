"""How the command behaves as a process: what it loads, how it ends, what it shows while it works."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit
from numba.core.errors import TypingError

from cli_process import ENVIRONMENT, SCRIPT, f2sl, installed, small_table, write_csv
from f2sl import DAG
from f2sl._ahead import COMPILING
from f2sl._jit import inner, kernel
from f2sl.cli import program
from f2sl.cli.app import main
from marks import compiled_only

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal, signals or /dev")


def loaded_by(code):
    """Run code in a fresh interpreter; return the modules it has loaded."""
    listing = "import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{listing}"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split("\n")[-2].split())


def test_importing_the_package_loads_nothing_heavy():
    heavy = {
        "numba",
        "pandas",
        "matplotlib",
        "dask",
        "torch",
        "sklearn",
        "scipy",
        "pyarrow",
        "numpy",
        "rich",
        "typer",
    }
    assert not loaded_by("import f2sl") & heavy


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (["learn", "t.csv", "--bins", "a=0", "--alpha", "2"], ["option", "option"]),
        (["learn", "gone.csv"], ["file"]),
        (["learn", "t.csv", "--missing", "error"], ["missing"]),
        (["learn", "t.csv", "--no-such-flag"], ["option"]),
        (["mb", "t.csv", "z"], ["unknown-name"]),
    ],
)
def test_errors_are_records_on_the_standard_output_if_json_is_asked_for(tmp_path, arguments, kinds):
    (tmp_path / "t.csv").write_text("a,b\n" + "0,1\n1,\n" * 20)
    done = installed(*arguments, "--json", folder=tmp_path)
    problems = json.loads(done.stdout)["problems"]
    assert [one["kind"] for one in problems] == kinds
    [line] = done.stderr.splitlines()
    assert line == "f2sl: error: " + "; ".join(one["text"] for one in problems)
    assert done.returncode == 2
    plain = installed(*arguments, folder=tmp_path)
    assert (plain.stdout, plain.stderr, plain.returncode) == ("", done.stderr, 2)


def test_check_prints_its_problems_once(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "0,1\n1,\n" * 20)
    done = installed("check", "t.csv", "--missing", "error", "--json", folder=tmp_path)
    learned = installed("learn", "t.csv", "--missing", "error", "--json", folder=tmp_path)
    told = json.loads(done.stdout)
    assert told["problems"] == json.loads(learned.stdout)["problems"] and told["rows"] == 40
    assert done.returncode == learned.returncode == 2


def test_light_commands_do_not_load_numba(tmp_path):
    DAG([*"ab"], [("a", "b")]).save(tmp_path / "g.json")
    compare = ["compare", *[str(tmp_path / "g.json")] * 2]
    commands = [["--version"], ["learn", "--help"], ["algorithms"], compare]
    loaded = loaded_by(f"from f2sl.cli.app import main; assert not any(map(main, {commands!r}))")
    assert not loaded & {"numba", "sklearn", "pandas", "scipy"}


def test_help_stays_light_enough_to_be_quick():
    assert "numpy" not in loaded_by("from f2sl.cli.app import main; main(['--help'])")


def test_learning_loads_only_what_it_needs(tmp_path):
    path = write_csv(tmp_path / "t.csv", small_table())
    arguments = ["learn", str(path), "--out", str(tmp_path / "g.json"), "--jobs", "1", "--drop", "d"]
    learning = f"from f2sl.cli.app import main; assert main({arguments!r}) == 0"
    loaded_by(learning)  # and compile what is not yet
    assert not loaded_by(learning) & {
        "numba.np.arraymath",  # what only compiling needs
        "scipy.linalg",
        "narwhals",
        "pydantic",
        "pyarrow.parquet",
        "urllib.request",
        "pandas",
    }


@inner
def next_to(n):
    return n + 1


@compiled_only
def test_python_cannot_call_what_only_kernels_call():
    assert njit(lambda n: next_to(n))(1) == 2
    with pytest.raises(SystemError):
        next_to(1)


@compiled_only
def test_garbage_is_collected_again_when_a_kernel_cannot_be_compiled():
    assert gc.isenabled()
    with pytest.raises(TypingError):
        kernel(lambda n: n + "one")(1)
    assert gc.isenabled()


@posix_only
def test_a_reader_that_leaves_is_no_error():
    with subprocess.Popen(
        [SCRIPT, "algorithms", "--json"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [SCRIPT, "--version"],
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "f2sl: error: cannot write to the standard output: No space left on device\n"
    assert done.returncode == 1


@posix_only
def test_no_streams_at_all_do_no_harm(tmp_path):
    path = write_csv(tmp_path / "t.csv", small_table())
    shell = 'exec "$@" <&- >&- 2>&-'
    command = ["sh", "-c", shell, "sh", SCRIPT, "learn", str(path), "--out", str(tmp_path / "g.json")]
    assert subprocess.run(command, env=ENVIRONMENT, check=False).returncode == 0
    assert (tmp_path / "g.json").exists()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            RuntimeError("two\nlines"),
            "internal error: RuntimeError: two lines (set F2SL_DEBUG=1 for the traceback)",
        ),
        (RecursionError(), "internal error: RecursionError (set F2SL_DEBUG=1 for the traceback)"),
        (MemoryError("9 TB"), "error: not enough memory (9 TB); learn from fewer rows or columns"),
    ],
)
def test_what_nobody_expected_is_one_line(monkeypatch, capsys, error, told):
    def fail(arguments):
        raise error

    monkeypatch.setattr(program, "run", fail)
    monkeypatch.delenv("F2SL_DEBUG", raising=False)
    assert main([]) == 1
    assert capsys.readouterr().err == f"f2sl: {told}\n"


def test_the_traceback_is_there_for_those_who_want_it(monkeypatch, capsys):
    monkeypatch.setattr(program, "run", lambda arguments: 1 / 0)
    monkeypatch.setenv("F2SL_DEBUG", "1")
    assert main([]) == 1
    told = capsys.readouterr().err
    assert told.startswith("Traceback (most recent call last):\n")
    assert told.splitlines()[-1].startswith("f2sl: internal error: ZeroDivisionError")


def on_a_terminal(*arguments, **environment):
    """Run a command with a terminal for its errors; return what appeared there, and what was printed."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [SCRIPT, *map(str, arguments)],
        env={**ENVIRONMENT, "TERM": "xterm", **environment},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        printed = process.stdout.read()
    assert process.returncode == 0
    return shown.decode(), printed


@posix_only
def test_a_first_run_says_that_it_compiles_and_how_far_it_is(tmp_path):
    """With a learner that needs few inner loops."""
    path = write_csv(tmp_path / "t.csv", small_table())
    command, cache = ("mb", path, "c", "--algorithm", "iamb"), tmp_path / "cache"
    environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": str(cache)}
    asked = [SCRIPT, *map(str, command)]
    with subprocess.Popen(
        asked, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as beside:  # at the same time, with the same cache, and without a terminal
        shown, printed = on_a_terminal(*command, NUMBA_CACHE_DIR=str(cache))
        output, errors = beside.communicate()
    assert shown.count(COMPILING) == 1
    assert printed.startswith("c: 2 members by iamb")
    assert "\x1b" not in printed
    assert output == printed
    assert errors.splitlines()[0] == f"f2sl: {COMPILING}"
    assert all(line.endswith(" compiled so far ...") for line in errors.splitlines()[1:])
    shown, again = on_a_terminal(*command, NUMBA_CACHE_DIR=str(cache))
    assert "compiling" not in shown
    assert again == printed
    # Files cut short, or of something else, are compiled anew, once.
    indices, codes = sorted(cache.glob("*/*.nbi")), sorted(cache.glob("*/*.nbc"))
    indices[0].write_bytes(indices[0].read_bytes()[:40])
    codes[-1].write_bytes(b"something else")
    for told in (f"f2sl: {COMPILING}\n", ""):
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == printed
        assert done.stderr.startswith(told)
        assert bool(done.stderr) == bool(told)


@posix_only
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "loops.py").write_text(
        "from f2sl._jit import kernel\n\n@kernel\ndef next_to(n):\n    return n + 1\n"
    )
    code = """
import resource
from f2sl._progress import Display, showing
class Notes(Display):
    def note(self, text):
        print(text)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # as if the disk were full
with showing(Notes()):
    from loops import next_to
    print(next_to(1))
"""
    environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    environment["PYTHONPATH"] += os.pathsep + ENVIRONMENT.get("PYTHONPATH", "")
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    compiling, note, answer = done.stdout.splitlines()
    assert (compiling, answer) == (COMPILING, "2")
    assert note.startswith("cannot store the compiled loops, so every run compiles them again")
    assert not list((tmp_path / "cache").glob("*/*"))


@posix_only
@pytest.mark.parametrize(
    "command", [["learn", "t.csv"], ["pc", "t.csv", "c"], ["show", "g.json", "--out", "g.html"]]
)
@pytest.mark.parametrize("megabytes", [60, 100, 200, 390, 1000, 2000])
def test_too_little_address_space_is_one_error(tmp_path, command, megabytes):
    """Not an end of the process by LLVM or OpenBLAS, nor one that never comes."""
    write_csv(tmp_path / "t.csv", small_table())
    DAG(["a", "b"], [("a", "b")]).save(tmp_path / "g.json")
    limited = ["sh", "-c", f'ulimit -v {megabytes * 1000} && exec "$@"', "sh", SCRIPT, *command]
    done = subprocess.run(
        limited, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=60
    )
    if command[0] == "show" and megabytes > 400:  # needs no Numba
        assert done.returncode == 0
        return
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("f2sl: error: this process may use ")
    assert line.endswith("f2sl needs 2,400 MB: raise the limit (ulimit -v)")


@posix_only
def test_quiet_work_draws_nothing(tmp_path):
    path = write_csv(tmp_path / "t.csv", small_table())
    shown, _ = on_a_terminal("pc", path, "c", "--quiet")
    assert shown == ""


def test_help_does_not_depend_on_being_watched():
    assert f2sl("learn", "--help").stdout.isascii()
