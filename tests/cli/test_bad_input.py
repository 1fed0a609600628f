"""Wrong input: from Python an error of f2sl's own, on the command line one line and exit code 2.

Every message names what is wrong and what to do, and nothing is ever written.
"""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_process import (
    ENVIRONMENT,
    SCRIPT,
    f2sl,
    heed_interrupts,
    interrupted,
    small_table,
    together,
    write_csv,
)
from f2sl import DAG, DataError, F2SLError, FileError, OptionError, example_path, learn, learn_pc, load_graph
from f2sl.cli.app import main
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import in_shell
from f2sl.graph import check_writable
from marks import posix_only


def refused(*arguments, folder):
    """Run a command that must be refused; return what it says."""
    before = sorted(folder.rglob("*"))
    done = f2sl(*arguments, folder=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("f2sl: error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert sorted(folder.rglob("*")) == before
    return done.stderr


# Tables -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BadTable:
    """A file that cannot be learned from, the error it must give, and what that must say."""

    name: str
    content: str | bytes | None
    error: type[F2SLError]
    told: list[str] = field(default_factory=list)


BAD_TABLES = {
    "no such file": BadTable("nix.csv", None, FileError, ["nix.csv: no such file"]),
    "empty": BadTable("t.csv", "", DataError, ["t.csv: the file is empty"]),
    "header only": BadTable("t.csv", "a,b\n", DataError, ["t.csv: the file has a header but no rows"]),
    "one column": BadTable("t.csv", "a\nx\ny\n", DataError, ["one column only ('a')", "at least two"]),
    "ragged": BadTable(
        "t.csv",
        "a,b\n0,1\n1,0,1\n",
        DataError,
        ["line 3 has 3 columns, but 2 are expected", "delimiter ','"],
    ),
    "duplicate names": BadTable("t.csv", "a,b,a\n0,1,0\n1,1,0\n", DataError, ["'a'"]),
    "nothing but identifiers": BadTable(
        "t.csv",
        "row,who\n" + "".join(f"{i},s{i}\n" for i in range(30)),
        DataError,
        ["the table has no columns", "column 'row': left out: it counts the rows", "keep with --keep row"],
    ),
    "infinite": BadTable("t.csv", "a,b\ninf,x\n1.5,y\n2.5,y\n", DataError, ["'a'", "infinit"]),
    "one column beside an identifier": BadTable(
        "t.csv",
        "id,b\n" + "".join(f"s{i // 2},{i % 2}\n" for i in range(140_000)),
        DataError,
        ["one column only ('b')", "column 'id': left out: more than 65,536 labels"],
    ),
    "unreadable Parquet": BadTable(
        "t.parquet", b"PAR1 and then nothing", FileError, ["t.parquet: not a valid Parquet file"]
    ),
    "no Parquet at all": BadTable(
        "t.parquet", "a,b\n0,1\n", FileError, ["t.parquet: not a valid Parquet file"]
    ),
}


@pytest.fixture(scope="module")
def lines_of_bad_tables(tmp_path_factory):
    """What the command says of each bad table, and where the table is."""
    paths = {}
    for number, (case, table) in enumerate(BAD_TABLES.items()):
        paths[case] = tmp_path_factory.mktemp(f"bad{number}") / table.name
        if table.content is not None:
            content = table.content
            paths[case].write_bytes(content.encode() if isinstance(content, str) else content)
    lines = together(
        partial(refused, "learn", path, "--out", path.with_name("graph.json"), folder=path.parent)
        for path in paths.values()
    )
    return dict(zip(paths, zip(paths.values(), lines, strict=True), strict=True))


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_refused(lines_of_bad_tables, case):
    path, line = lines_of_bad_tables[case]
    with pytest.raises(BAD_TABLES[case].error) as caught:
        learn(path)
    assert line == f"f2sl: error: {caught.value.written(in_shell)}\n"
    for words in BAD_TABLES[case].told:
        assert words in line


# Options ----------------------------------------------------------------------------------------------

BAD_OPTIONS = {
    "alpha 0": ({"alpha": 0.0}, ["--alpha", "0"], ["--alpha must be a number between 0 and 1", "not 0.0"]),
    "alpha 1": ({"alpha": 1.0}, ["--alpha", "1"], ["--alpha must be a number between 0 and 1", "not 1.0"]),
    "alpha x": (
        {"alpha": "x"},
        ["--alpha", "x"],
        ["--alpha must be a number between 0 and 1 (both excluded), not 'x'"],
    ),
    "delta": (
        {"algorithm": "f2sl-c", "delta": -1.0},
        ["--algorithm", "f2sl-c", "--delta", "-1"],
        ["--delta must be a number of 0 or more, or 'auto', not -1.0"],
    ),
    "symmetry": (
        {"symmetry": "xor"},
        ["--symmetry", "xor"],
        ["--symmetry must be one of 'and', 'or', not 'xor'"],
    ),
    "max_cond_vars": (
        {"max_cond_vars": -1},
        ["--max-cond-vars", "-1"],
        ["--max-cond-vars must be a whole number"],
    ),
    "jobs": ({"n_jobs": 0}, ["--jobs", "0"], ["--jobs must be a whole number other than 0"]),
    "bins": ({"bins": 1}, ["--bins", "1"], ['--bins takes a whole number of at least 2, or "auto", got 1']),
    "bins of a column": (
        {"bins": {"smok": 3}},
        ["--bins", "smok=3"],
        ["--bins: unknown column 'smok'", "'smoke'?"],
    ),
    "missing": (
        {"missing": "nix"},
        ["--missing", "nix"],
        ["missing", "'nix'", "available, state, drop, error"],
    ),
    "algorithm": (
        {"algorithm": "f2sl-x"},
        ["--algorithm", "f2sl-x"],
        ["unknown algorithm 'f2sl-x'", "f2sl-c, f2sl-s"],
    ),
    "option of another": (
        {"algorithm": "f2sl-s", "alpha": 0.1},
        ["--algorithm", "f2sl-s", "--alpha", "0.1"],
        ["f2sl-s has no option --alpha; it belongs to f2sl-c, "],
    ),
}


@pytest.mark.parametrize(("options", "arguments", "told"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_a_bad_option_is_refused(tmp_path, capfd, options, arguments, told):
    with pytest.raises(OptionError):
        learn(example_path("asia"), **options)
    out = tmp_path / "graph.json"
    assert main(["learn", str(example_path("asia")), "--out", str(out), *arguments]) == 2
    line = capfd.readouterr().err
    assert line.startswith("f2sl: error: ")
    assert line.count("\n") == 1
    for words in told:
        assert words in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["alpha 0", "alpha 1", "alpha x", "algorithm"])
def test_a_bad_option_is_refused_in_a_process(tmp_path, name):
    _, arguments, told = BAD_OPTIONS[name]
    line = refused(
        "learn", example_path("asia"), "--out", tmp_path / "graph.json", *arguments, folder=tmp_path
    )
    for words in told:
        assert words in line


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["five"], "--bins takes a whole number, auto or COLUMN=NUMBER, not 'five'"),
        (["a=b"], "--bins takes a whole number, auto or COLUMN=NUMBER, not 'a=b'"),
        (["5", "6"], "--bins is given twice for all columns"),
        (["a=3", "a=4"], "--bins is given twice for column 'a'"),
    ],
)
def test_bins_that_make_no_sense_are_refused(capsys, given, told):
    assert main(["learn", "x.csv", *(part for text in given for part in ("--bins", text))]) == 2
    assert capsys.readouterr().err == f"f2sl: error: {told}; x.csv: no such file\n"


def test_all_that_is_wrong_is_said_at_once_whatever_it_is_about(tmp_path):
    """Knowledge, reading, the learner, a value that is no number, and the name of the algorithm."""
    arguments = (
        "--tiers",
        "x",
        "--bins",
        "0",
        "--edge-cost",
        "-3",
        "--time-limit",
        "soon",
        "--missing",
        "no",
    )
    line = refused("learn", example_path("asia"), *arguments, folder=tmp_path)
    for flag in ("--tiers", "--bins", "--edge-cost", "--time-limit", "--missing"):
        assert f"{flag} " in line or f"{flag}: " in line
    line = refused("learn", example_path("asia"), "-a", "mmch", *arguments[:4], folder=tmp_path)
    assert "did you mean 'mmhc'" in line
    assert "--tiers takes two groups" in line
    assert "--bins takes a whole number" in line
    line = refused("check", example_path("asia"), "--jobs", "two", "--delimiter", "ab", folder=tmp_path)
    assert "--jobs must be a whole number" in line
    assert "--delimiter takes a single character" in line
    with pytest.raises(OptionError, match=r"delta must be.*bins takes") as error:
        learn({"a": [0, 1], "b": [0, 1]}, "f2sl-c", delta=-1, bins=0)
    assert len(error.value.problems) == 2


def test_a_target_that_is_no_column_gets_the_nearest(tmp_path):
    with pytest.raises(DataError, match="unknown column 'smoking'; did you mean 'smoke'"):
        learn_pc(example_path("asia"), "smoking")
    line = refused("pc", example_path("asia"), "smoking", folder=tmp_path)
    assert "unknown column 'smoking'; did you mean 'smoke'? Known: asia, bronc," in line


# Files to write and graphs to read --------------------------------------------------------------------


@posix_only
@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("nowhere/graph.json", "there is no folder"),
        ("plain file/graph.json", "there is no folder"),
        ("/proc/graph.json", "cannot write /proc/graph.json"),
        ("folder.json", "it is a folder"),
        ("graph.png", "the suffix '.png' is not known. Known: .json, "),
        ("graph", "it has no suffix. Known: .json, "),
        ("pipe.csv", "it is not a regular file"),
    ],
)
def test_a_bad_place_to_write_is_refused_before_any_work(tmp_path, out, told):
    (tmp_path / "plain file").touch()
    (tmp_path / "folder.json").mkdir()
    # Nobody writes to this pipe: a command that opened its input would wait for ever.
    os.mkfifo(tmp_path / "pipe.csv")
    line = refused("learn", "pipe.csv", "--out", out, folder=tmp_path)
    assert f"cannot write {out}" in line or f"no graph format for {out}" in line
    assert told in line
    with pytest.raises(FileError):
        check_writable(tmp_path / out)


@pytest.mark.parametrize("arguments", [["--out", "t.csv"], ["--out", "truth.json", "--truth", "truth.json"]])
def test_what_is_read_is_not_written_over(tmp_path, arguments):
    content = write_csv(tmp_path / "t.csv", small_table()).read_bytes()
    DAG([*"abcdef"]).save(tmp_path / "truth.json")
    assert "this command also uses it as" in refused("learn", "t.csv", *arguments, folder=tmp_path)
    assert (tmp_path / "t.csv").read_bytes() == content


@posix_only
def test_what_is_read_under_another_name_is_not_written_over(tmp_path):
    # One file with two names, both as real as each other: no link leads from one to the other.
    content = write_csv(tmp_path / "t.csv", small_table()).read_bytes()
    (tmp_path / "graph.json").hardlink_to(tmp_path / "t.csv")
    line = refused("learn", "t.csv", "--out", "graph.json", folder=tmp_path)
    assert "cannot write graph.json: this command also uses it as t.csv" in line
    assert (tmp_path / "graph.json").read_bytes() == content
    assert (tmp_path / "graph.json").samefile(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot read truth.json: No such file"),
        ("{", "truth.json, line 1"),
        ('{"nodes": ["a"], "directed": [], "undirected": []}', "truth.json"),
    ],
)
def test_a_bad_truth_is_refused_before_the_table_is_read(tmp_path, content, told):
    (tmp_path / "empty.csv").touch()
    if content is not None:
        (tmp_path / "truth.json").write_text(content)
    assert told in refused("learn", "empty.csv", "--truth", "truth.json", folder=tmp_path)


def test_a_truth_of_other_variables_is_refused(tmp_path):
    write_csv(tmp_path / "t.csv", small_table())
    DAG([*"abcdeg"]).save(tmp_path / "truth.json")
    line = refused("learn", "t.csv", "--truth", "truth.json", "-o", "graph.json", folder=tmp_path)
    assert "the graphs have different nodes: the learned graph lacks 'g'" in line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["compare", "graph.json", "nix.json"], "cannot read nix.json"),
        (
            ["compare", "graph.json", "other.json"],
            "the graphs have different nodes: the learned graph lacks 'c'",
        ),
        (["compare", "graph.json", "graph.png"], "no graph format for graph.png"),
        (
            ["example", "asia", "--out", "nowhere/asia.csv"],
            "cannot write nowhere/asia.csv: there is no folder",
        ),
        (
            ["example", "asia", "--out", "asia.csv.gz"],
            "cannot write asia.csv.gz: examples are written as CSV",
        ),
        (["example", "asia", "--out", "asia.csv", "--truth", "truth.png"], "no graph format for truth.png"),
        (
            ["example", "asia", "--out", "asia.csv", "--truth", "asia.csv"],
            "this command also uses it as asia.csv",
        ),
    ],
)
def test_other_commands_refuse_bad_files(tmp_path, arguments, told):
    DAG([*"ab"]).save(tmp_path / "graph.json")
    DAG([*"abc"]).save(tmp_path / "other.json")
    assert told in refused(*arguments, folder=tmp_path)


# Interrupts -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large_table(tmp_path_factory):
    """A table that takes many seconds to learn from: 80,000 pairs of 60 by 60 states."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    labels = np.array([f"s{i}" for i in range(60)])
    columns = {f"v{i:03d}": labels[rng.integers(0, 60, 20_000)] for i in range(400)}
    pq.write_table(pa.table(columns), path, compression="NONE")
    return path


@posix_only
@pytest.mark.parametrize("reading", [True, False], ids=["reading", "learning"])
def test_an_interrupt_ends_the_work_and_leaves_nothing(large_table, tmp_path, reading):
    stages = ["measuring all pairs"]
    if reading:
        # Slow to read: the same numbers as text. Where that is too quick to be shown, what follows will do.
        stages.append("reading the table")
        from pyarrow import csv

        table = pq.read_table(large_table)
        large_table = large_table.with_suffix(".csv")
        csv.write_csv(table, large_table)
    (tmp_path / "graph.json").write_text("what was there before")
    arguments = ["learn", large_table, "--out", "graph.json", "--jobs", "1"]
    code, seconds, shown = interrupted(arguments, tmp_path, stages)
    assert code == 130
    assert shown.rstrip().endswith("f2sl: interrupted; nothing was written")
    assert "Traceback" not in shown
    assert seconds < 10
    assert [path.name for path in tmp_path.iterdir()] == ["graph.json"]
    assert (tmp_path / "graph.json").read_text() == "what was there before"


@posix_only
def test_sigterm_ends_the_work_as_ctrl_c_does(large_table, tmp_path):
    arguments = ["learn", large_table, "--out", "graph.json", "--jobs", "1"]
    code, _, shown = interrupted(arguments, tmp_path, ["measuring all pairs"], signal.SIGTERM)
    assert code == 143
    assert shown.rstrip().endswith("f2sl: interrupted; nothing was written")
    assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


@posix_only
@pytest.mark.parametrize("seconds", [0.1, 0.4, 0.8])
def test_an_interrupt_while_things_are_loaded(large_table, tmp_path, seconds):
    with subprocess.Popen(
        [SCRIPT, "learn", str(large_table), "--out", str(tmp_path / "graph.json")],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    if process.returncode == -signal.SIGINT or "Fatal Python error: init" in told:
        pytest.skip("the machine was so slow that the command had not even begun")
    assert (process.returncode, told) == (130, "f2sl: interrupted; nothing was written\n")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def heeding_interrupts():
    """Hear SIGINT as a program does that was started from a terminal; in the background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix_only
@pytest.mark.usefixtures("heeding_interrupts")
def test_an_interrupt_that_got_lost_is_found_before_writing(tmp_path, capsys, monkeypatch):
    import f2sl.cli.learn as module

    def lose_it(*arguments):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return create(*arguments)

    create = module.create_learner
    monkeypatch.setattr(module, "create_learner", lose_it)
    path = write_csv(tmp_path / "t.csv", small_table())
    assert main(["learn", str(path), "--out", str(tmp_path / "graph.json")]) == 130
    out, err = capsys.readouterr()
    # A first run has said before that it compiles.
    assert not out and err.splitlines()[-1] == "f2sl: interrupted; nothing was written"
    assert not (tmp_path / "graph.json").exists()


@posix_only
@pytest.mark.usefixtures("heeding_interrupts")
def test_an_interrupt_that_a_callback_lost_is_raised_again(capsys):
    from f2sl.cli.errors import exit_code_of

    class Interrupting:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)  # what it raises here is ignored

    went_on = []

    def work():
        Interrupting()
        went_on.append("past the callback")
        threading.Event().wait(60)
        went_on.append("to the end")

    assert exit_code_of(work) == 130
    assert went_on == ["past the callback"]
    assert capsys.readouterr() == ("", "f2sl: interrupted; nothing was written\n")


@posix_only
@pytest.mark.usefixtures("heeding_interrupts")
def test_an_interrupt_after_the_writing_says_what_was_written(tmp_path, capsys, monkeypatch):
    import f2sl.cli.samples as module

    save = module.save_bytes

    def save_and_interrupt(content, path):
        save(content, path)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(module, "save_bytes", save_and_interrupt)
    out, truth = tmp_path / "asia.csv", tmp_path / "truth.json"
    assert main(["example", "asia", "--out", str(out), "--truth", str(truth)]) == 130
    assert capsys.readouterr() == ("", f"f2sl: interrupted; {out} was written\n")
    assert not truth.exists()


def test_handlers_are_given_back(capsys):
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    assert main(["--version"]) == 0
    assert [signal.getsignal(number) for number in numbers] == before
    assert not interrupts.requested


def test_a_first_line_of_data_is_pointed_out(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("0,1\n" + "1,0\n0,1\n" * 20)
    assert main(["learn", str(path)]) == 0
    assert "--no-header" in capsys.readouterr().out
    path.write_text("0,0\n" + "1,0\n0,1\n" * 20)
    assert main(["learn", str(path)]) == 2
    assert "--no-header" in capsys.readouterr().err
    assert main(["learn", str(path), "--no-header"]) == 0
    assert "--no-header" not in capsys.readouterr().out


# Limits -----------------------------------------------------------------------------------------------


def test_numbers_of_thousands_of_digits_are_no_json_that_can_be_read(tmp_path):
    path = tmp_path / "g.json"
    path.write_text('{"format": "f2sl-graph", "version": ' + "1" * 5000 + "}")
    with pytest.raises(FileError, match=r"g\.json: a number in the JSON has too many digits"):
        load_graph(path)


def test_a_path_with_a_nul_is_refused():
    with pytest.raises(FileError, match=r"no file has a path with a NUL character: 'a\\x00b.csv'"):
        learn("a\0b.csv")


def test_more_rows_than_memory_holds_are_refused(capsys):
    assert main(["sample", "asia", "--rows", str(10**13), "--out", "x.csv"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("f2sl: error: --rows: 10,000,000,000,000 rows of 8 variables take 80,000.0 GB, ")


@pytest.mark.parametrize("name", ["red\x1b[31m", "bell\x07", "back\u202e"])
def test_names_cannot_control_a_terminal(tmp_path, capsys, name):
    path = write_csv(tmp_path / "t.csv", {name: [0, 1] * 20, "b": [0, 1] * 20})
    assert main(["pc", str(path), "absent"]) == 2
    told = capsys.readouterr().err
    assert repr(name)[1:-1] in told
    assert told.rstrip("\n").isprintable()


@posix_only
def test_too_little_address_space_is_told(tmp_path):
    path = write_csv(tmp_path / "t.csv", small_table())
    done = f2sl("-c", 'ulimit -v 1000000; exec "$0" learn "$1"', SCRIPT, path, command=("sh",))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "f2sl: error: this process may use 1,024 MB of address space, and f2sl needs 2,400 MB: raise "
        "the limit (ulimit -v)\n"
    )
