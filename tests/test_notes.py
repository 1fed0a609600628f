"""Notes and problems are records: each front end writes them itself, and nobody reads their text."""

from __future__ import annotations

import copy
import json
import pickle
import shlex

import numpy as np
import pyarrow as pa
import pytest
from tests.helpers.cli_process import write_csv

import f2sl
from f2sl import DataError, FileError, Note, OptionError
from f2sl._notes import Say, Use, joined
from f2sl.cli.app import main
from f2sl.cli.options import in_shell
from f2sl.data.formats import table_bytes
from f2sl.errors import F2SLWarning

TABLE = {"id": [*range(100)], "a": [i % 2 for i in range(100)], "b": [i % 3 for i in range(100)]}
STRANGE = ["bins={x}", "drop=['a']", "it's", 'say "no"', "a; b. Also, drop: c", "kinds={", "-o", "tab\tin it"]


class TestRecords:
    note = Note("kind", "see ", Use("drop", ["a"]), " or ", Say("f()", "--f"), columns=["a"], rows=3)

    def test_it_is_its_text_in_python(self):
        assert self.note == "see drop=['a'] or f()" and "or f" in self.note
        assert json.loads(json.dumps([self.note])) == [self.note]
        assert type(f"{self.note}") is str

    @pytest.mark.parametrize("other", [copy.copy, copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))])
    def test_copies_have_the_record(self, other):
        found = other(self.note)
        assert found == self.note and vars(found) == vars(self.note)

    def test_it_can_be_stored(self):
        stored = json.loads(json.dumps(self.note.to_json()))
        assert vars(Note.from_json(stored)) == vars(self.note)
        assert Note.from_json("a text") == "a text"
        name_only = Note("kind", Use("na", ...), Use("alpha"))
        assert Note.from_json(json.loads(json.dumps(name_only.to_json()))).parts == name_only.parts

    def test_notes_among_the_parts_keep_their_options(self):
        both = joined(["first", self.note])
        assert (both, both.options, both.columns) == (f"first; {self.note}", self.note.options, ("a",))

    def test_as_plain_data(self):
        assert self.note.as_dict(in_shell) == {
            "kind": "kind",
            "text": "see --drop a or --f",
            "columns": ["a"],
            "options": [{"name": "drop", "value": ["a"]}],
            "values": {"rows": 3},
        }

    @pytest.mark.parametrize("error", [DataError, OptionError, FileError])
    def test_errors_have_them(self, error):
        wrong = error.of([self.note, "another"])
        for one in (wrong, pickle.loads(pickle.dumps(wrong)), copy.copy(wrong)):
            assert [problem.kind for problem in one.problems] == ["kind", error.kind]
            assert str(one) == f"{self.note}; another"
            assert one.written(in_shell) == "see --drop a or --f; another"
        assert error("one ", Use("drop", ["a"]), columns=["a"]).problems[0].columns == ("a",)


@pytest.mark.parametrize("name", STRANGE)
class TestStrangeNames:
    """Names that look like options, quotes and separators."""

    @staticmethod
    def table(name):
        rng = np.random.default_rng(0)
        return {name: [1.5, np.inf] * 30, "b": rng.normal(size=60), "c": rng.integers(0, 3, 60)}

    def test_advice_can_be_followed(self, name):
        with pytest.raises(DataError) as caught:
            f2sl.learn(self.table(name))
        [problem] = caught.value.problems
        assert (problem.kind, problem.columns) == ("infinite", (name,))
        [use] = problem.options
        assert name not in f2sl.open_table(self.table(name), **{use.option: use.value}).names
        assert eval(f"dict({use})") == {"drop": [name]}

    def test_advice_of_the_command_line_can_be_followed(self, name, tmp_path, capsys):
        path = tmp_path / "t.parquet"
        path.write_bytes(table_bytes(pa.table(self.table(name)), path))
        assert main(["learn", str(path)]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        with pytest.raises(DataError) as caught:
            f2sl.learn(path)
        words = shlex.split(in_shell(caught.value.problems[0].options[0]))
        assert words == ["--drop", name]
        assert main(["check", str(path), *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["problems"] == []

    def test_notes_name_it(self, name, tmp_path, capsys):
        table = {**self.table("d"), "d": np.arange(60) * 0.5, name: range(60)}
        notes = f2sl.open_table(table).notes
        [note] = [note for note in notes if note.kind == "identifier"]
        assert (note.columns, note.options) == ((name,), (Use("keep", [name]),))
        path = tmp_path / "t.parquet"
        path.write_bytes(table_bytes(pa.table(table), path))
        assert main(["learn", str(path), "--json"]) == 0
        told = [n for n in json.loads(capsys.readouterr().out)["notes"] if n["kind"] == "identifier"]
        assert told == [note.as_dict(in_shell)]


def test_option_problems_are_records():
    with pytest.raises(OptionError) as caught:
        f2sl.open_table({"a": [1, 2]}, bins=1, missing="?", drop=["b"])
    assert [problem.options[0].option for problem in caught.value.problems] == ["bins", "missing"]
    with pytest.raises(OptionError) as caught:
        f2sl.F2SLc(alpha=2, max_cond_vars=-1).fit({"a": [0, 1], "b": [0, 1]})
    assert [problem.options[0].option for problem in caught.value.problems] == ["alpha", "max_cond_vars"]
    assert caught.value.written(in_shell).startswith("--alpha must be a number between 0 and 1")


def test_a_wrapped_error_keeps_its_options(tmp_path):
    path = write_csv(tmp_path / "t.csv", {"1": [1, 2], "2": [1, 2]})
    path.write_text(path.read_text().replace("2", "1", 1).replace("1,2", "1,1"))
    with pytest.raises(DataError) as caught:
        f2sl.open_table(path)
    assert Use("header", False) in caught.value.problems[0].options
    assert caught.value.written(in_shell).endswith("use --no-header")


def test_confidence_stores_its_notes(tmp_path):
    with pytest.warns(F2SLWarning, match="identifier"):
        found = f2sl.bootstrap(TABLE, "f2sl-c", replicates=2)
    found.save(tmp_path / "c.json")
    loaded = f2sl.Confidence.load(tmp_path / "c.json")
    assert [vars(note) for note in loaded.notes] == [vars(note) for note in found.notes]
    assert found.notes[0].kind == "identifier"


class TestNoTextIsRead:
    """With all words scrambled, what depends on notes and problems goes on as before."""

    @pytest.fixture(autouse=True)
    def scrambled(self, monkeypatch):
        made = Note.__new__

        def scramble(cls, kind, *parts, **facts):
            changed = [part[::-1].swapcase() if type(part) is str else part for part in parts]
            return made(cls, kind, *changed, **facts)

        monkeypatch.setattr(Note, "__new__", scramble)

    def test_identifiers_are_warned_of(self):
        with pytest.warns(F2SLWarning, match="REIFITNEDI NA EKIL"):
            f2sl.learn(TABLE)

    def test_an_incomplete_result_is_warned_of(self):
        rng = np.random.default_rng(0)
        table = {f"v{i}": rng.integers(0, 3, 2000) for i in range(60)}
        with pytest.warns(F2SLWarning, match="ETELPMOCNI"):
            model = f2sl.learn(table, "boss", time_limit=0.001)
        assert "incomplete" in [note.kind for note in model.notes_]

    def test_a_column_left_out_is_not_simply_unknown(self):
        with pytest.warns(F2SLWarning), pytest.raises(DataError) as caught:
            f2sl.learn_pc(TABLE, "id")
        assert Use("keep", ["id"]) in caught.value.problems[0].options

    def test_a_table_without_columns_says_which_were_left_out(self):
        with pytest.raises(DataError) as caught:
            f2sl.learn({"id": range(100), "nr": range(100)})
        assert caught.value.problems[0].options == (Use("keep", ["id", "nr"]),)

    def test_the_command_line_writes_flags(self, tmp_path, capsys):
        path = write_csv(tmp_path / "t.csv", TABLE)
        assert main(["check", str(path)]) == 0
        assert "--keep id" in capsys.readouterr().out
        assert main(["learn", str(path), "--alpha", "2", "--algorithm", "f2sl-c"]) == 2
        assert "--alpha" in capsys.readouterr().err
