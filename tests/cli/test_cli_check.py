"""``f2sl check``, and the options of reading, as commands."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from cli_process import f2sl, small_table, write_csv
from f2sl import load_graph, open_table
from f2sl._notes import Use
from f2sl.cli.app import main
from f2sl.cli.options import in_shell


@pytest.fixture
def untidy(tmp_path):
    """A table with two problems: gaps, and infinite values."""
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 60), "sex": ["m", "f"] * 30, "pay": [0.5, np.inf] * 30})
    frame.loc[:4, "sex"] = "?"
    frame.to_csv(path)
    return path


def test_all_columns_and_all_problems(untidy, capsys):
    before = sorted(untidy.parent.iterdir())
    assert main(["check", str(untidy), "--missing", "error"]) == 2
    printed, told = capsys.readouterr()
    assert told == "f2sl: error: 2 problems; see above\n"
    assert printed.startswith(f"{untidy}: 60 rows, 4 columns\n")
    for words in (
        "age        continuous",
        "left out",
        "--missing state",
        "--drop pay",
        "read as missing values: '?'",
    ):
        assert words in printed
    assert "=" not in printed
    assert sorted(untidy.parent.iterdir()) == before
    assert main(["check", str(untidy), "--drop", "pay", "--missing", "drop", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] == []
    assert [column["action"] for column in report["columns"]] == [
        "left out",
        "continuous",
        "discrete",
        "left out",
    ]


def test_options_of_columns_that_are_left_out_have_no_effect(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,empty,b\n" + "0,,x\n1,,y\n" * 9)
    assert main(["check", str(path), "--bins", "empty=3", "--json"]) == 0
    told, *_ = [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]]
    assert told == "column 'empty': left out: no values, so that --bins empty=3 has no effect"
    assert main(["learn", str(path), "--continuous", "empty", "--drop", "empty"]) == 2
    told = capsys.readouterr().err
    assert told == "f2sl: error: --continuous empty: column 'empty' is left out by --drop empty\n"


def test_learn_tells_the_same_at_once(untidy, capsys):
    assert main(["learn", str(untidy), "--missing", "error"]) == 2
    line = capsys.readouterr().err
    assert "--missing state" in line and "--drop pay" in line and line.count("\n") == 1


def test_constant_columns_and_labels_that_differ_in_case(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("sex,land,x\nF,NL,1\nf,NL,2\nM,NL,1\n")
    assert main(["check", str(path), "--na", "-9", "--json"]) == 0
    assert [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]] == [
        "--na -9: no such values in the columns read",
        "column 'sex': labels that differ only in case or in white space: 'F' and 'f'; write "
        "them alike in the table",
        "only one state, so no edges: column 'land'",
    ]


def test_what_the_note_on_labels_names_makes_them_one(tmp_path, capsys):
    """Blanks at the ends are visible; the remedy named is done, and the table read again."""
    frame = pd.DataFrame({"pain": ["mild", "mild ", " Mild", "very  bad", "very bad"], "x": [*"ababa"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "'mild '" in told["columns"][0]["values"] and "' Mild'" in told["columns"][0]["values"]
    [remedy] = re.findall(r"in pandas, (df\[column\]\S.*) unifies them", open_table(frame).notes[0])
    mended = frame.assign(pain=eval(remedy, {"df": frame, "column": "pain"}))
    assert open_table(mended).states[0] == ("mild", "very bad")


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_the_notes_are_those_of_learn(tmp_path, capsys, engine):
    path = tmp_path / "t.csv"
    rows = [f"{i % 2},{'ny'[i % 2]},k{i},{i * i % 7 * 0.5}" for i in range(60)]
    path.write_text("survived,alive,code,x\n" + "\n".join(rows) + "\n")
    how = ["--json", "--engine", engine, "--discrete", "code"]
    assert main(["check", str(path), *how]) == 0
    notes = [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]]
    assert notes[-2:] == [
        "nearly as many states as rows, like an identifier (better left out): column 'code'",
        "columns that determine each other one to one, and hide each other's edges (--merge-aliases keeps "
        "one of each group): 'survived' and 'alive'",
    ]
    assert main(["learn", str(path), *how, "--algorithm", "f2sl-c"]) == 0
    learned = [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]]
    assert learned[: len(notes)] == notes


def test_pages_of_commands_name_flags(tmp_path, capsys):
    """Both pages: that of learning, and that of learning again to explain a saved graph."""
    table = small_table()
    path = write_csv(tmp_path / "t.csv", {**table, "same": ["xy"[a] for a in table["c"]]})
    graph, pages = tmp_path / "g.json", [tmp_path / "learned.html", tmp_path / "shown.html"]
    assert main(["learn", str(path), "-o", str(graph), "--page", str(pages[0])]) == 0
    assert main(["show", str(graph), "-o", str(pages[1]), "--data", str(path)]) == 0
    for page in pages:
        data = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"))[1]
        [note] = [note for note in json.loads(data)["notes"] if "determine each other" in note]
        assert "(--merge-aliases keeps one of each group)" in note


def test_columns_to_drop_are_named_one_by_one(untidy, capsys):
    assert main(["learn", str(untidy), "--drop", "pay,sex"]) == 2
    told = capsys.readouterr().err
    assert "--drop: 'pay,sex' is not one column; name each by itself: --drop pay --drop sex. Also, " in told


def test_columns_that_are_kept_and_dates_by_their_parts(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("row,day,x\n" + "".join(f"{i},{i % 28 + 1}/2/2021,{i * i % 7}.5\n" for i in range(60)))
    assert main(["check", str(path), "--json"]) == 0
    notes = [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]]
    assert notes[0] == "column 'row': left out: it counts the rows, like an identifier; keep with --keep row"
    assert notes[1].endswith("(days since 1970-01-01); their parts with --date-parts day")
    assert main(["check", str(path), "--keep", "row", "--date-parts", "day", "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [(one["name"], one["action"]) for one in columns] == [
        ("row", "continuous"),
        ("day.year", "left out"),
        ("day.month", "discrete"),
        ("day.weekday", "discrete"),
        ("x", "continuous"),
    ]
    assert main(["learn", str(path), "--date-parts", "dai"]) == 2
    assert "--date-parts: unknown column 'dai'; did you mean 'day'" in capsys.readouterr().err


def test_options_of_reading(tmp_path, capsys):
    path = tmp_path / "t.csv"
    columns = {**small_table(), "n": [i % 40 for i in range(400)], "w": [2] * 400}
    write_csv(path, columns)
    arguments = ["--weights", "w", "--discrete", "n", "--bins", "3", "--bins", "f=2", "--json"]
    assert main(["learn", str(path), *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["states"]) == (800, {"least": 2, "most": 40})
    assert told["options"]["bins"] == {"*": 3, "f": 2}
    assert main(["learn", str(path), "--continuous", "n", "--discrete", "n"]) == 2
    assert "--continuous and --discrete both name column 'n'" in capsys.readouterr().err


def test_aliases_are_drawn(tmp_path):
    table = small_table()
    path = write_csv(tmp_path / "t.csv", {**table, "same": ["xy"[a] for a in table["c"]]})
    assert main(["learn", str(path), "--merge-aliases", "-q", "-o", str(tmp_path / "g.json")]) == 0
    assert load_graph(tmp_path / "g.json").neighbors("same") == ["c"]


def test_nothing_is_named(tmp_path):
    done = f2sl("learn", "", folder=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "f2sl: error: the path is empty; give a file, a folder, or - for the standard input\n",
    )


def test_flags():
    parts = Use("drop", ["a", "b c"]), Use("kinds", {"x": "discrete"}), Use("aliases", "merge")
    assert [*map(in_shell, parts)] == ["--drop a --drop 'b c'", "--discrete x", "--merge-aliases"]
    assert in_shell(Use("header", False)) == "--no-header"
    assert in_shell(Use("drop", list("abcdefghijk"))) == "--drop"


def test_the_standard_input_is_read_once(tmp_path, capsys, monkeypatch):
    """NOTEARS takes one kind at a time: the whole numbers of column b go with the reals of the others."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.integers(0, 3, 200)})
    frame["c"] = 2 * frame["b"] + rng.normal(size=200) / 4
    text = io.BytesIO(frame.to_csv(index=False).encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(text))
    out = tmp_path / "g.json"
    assert main(["learn", "-", "--algorithm", "notears", "--out", str(out)]) == 0
    assert "column 'b': integers with few values beside other continuous columns" in capsys.readouterr().out
    graph = load_graph(out)
    assert {frozenset(edge) for edge in graph.directed_edges} == {frozenset("bc")}


def test_the_summary_counts_discrete_and_continuous_apart(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    columns = {"a": rng.choice(list("xy"), 50), "b": rng.choice(list("pqr"), 50), "c": rng.normal(size=50)}
    pd.DataFrame(columns).to_csv(path, index=False)
    assert main(["learn", str(path)]) == 0
    assert "50 rows, 3 variables: 2 discrete (2 to 3 states each), 1 continuous\n" in capsys.readouterr().out


def test_derived_columns_are_those_of_the_values_in_learn_and_in_check(tmp_path, capsys):
    rng = np.random.default_rng(0)
    a, b = (100 * rng.exponential(size=(2, 300))).astype(int)
    columns = {
        "a": a,
        "b": b,
        "difference": a - b,
        "growth": np.exp(a / 50).round(9),
        "c": rng.normal(size=300),
    }
    path = str(write_csv(tmp_path / "t.csv", columns))
    told = []
    for command in ("learn", "check"):
        assert main([command, path]) == 0
        told.append(
            [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines() if line[:4] == "Note"]
        )
    assert told[0] == told[1]
    whole = "\n".join(told[0])
    assert "normal scores of ranks" in whole
    assert "monotone functions of each other, as a logarithm is" in whole
    assert "linear functions" not in whole
    assert "'a' = 'b' + 'difference'" in whole


def test_check_says_that_the_first_line_may_be_data_as_learn_does(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    for columns, told in (
        (rng.normal(size=(60, 2)).round(3).T, "the column names look like values, such as"),
        (rng.choice(["yes", "no"], (2, 60)), "all column names are numbers; if the first line is data"),
    ):
        write_csv(path, dict(zip(["1.5", "2.5"], columns.tolist(), strict=True)))
        for command in ("learn", "check"):
            assert main([command, str(path)]) == 0
            [note] = [line for line in capsys.readouterr().out.splitlines() if "--no-header" in line]
            assert told in note


def test_an_example_of_what_to_leave_out_names_columns(tmp_path, capsys):
    a = np.random.default_rng(0).normal(size=200).round(3)
    path = write_csv(tmp_path / "t.csv", {"a": a, **{f"b{i}": (a * i + 1).round(3) for i in range(2, 16)}})
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "for example with --drop b2 --drop b3" in printed
    assert "for example with --drop)" not in printed


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1], "b": ["x"]}, "Note  only one row, so no edges: columns 'a', 'b'"),
        (
            {"a": [1.5], "b": [2.5]},
            "Problem  the table has no columns; all 2 columns: left out: there is only one row",
        ),
    ],
)
def test_a_table_of_one_row_is_called_that(tmp_path, capsys, columns, said):
    main(["check", str(write_csv(tmp_path / "one.csv", columns))])
    assert said in capsys.readouterr().out.splitlines()
