"""Tables as people have them: index columns, gaps with many names, weights, aliases, files of all sorts."""

import gzip
import io
import os
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import f2sl
from f2sl import DataError, F2SLError, FileError, OptionError, open_table
from f2sl.data.notes import alias_groups
from f2sl.data.stream import StreamTable

ENGINES = ["memory", "stream"]
engines = pytest.mark.parametrize("engine", ENGINES)


def content(table):
    return table.columns, [table.column(i).tolist() for i in range(table.n_variables)]


def text(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


class TestNames:
    @engines
    @pytest.mark.parametrize("index", [None, 5, "names"])
    def test_the_index_of_a_frame_is_left_out(self, tmp_path, engine, index):
        frame = pd.DataFrame({"a": [0, 1] * 20, "b": ["x", "y", "x", "x"] * 10})
        if index == 5:
            frame = frame.set_axis(range(5, 45))
        elif index:
            frame = frame.set_axis([f"row {i}" for i in range(40)])
        frame.to_csv(tmp_path / "t.csv")
        table = open_table(tmp_path / "t.csv", engine=engine)
        assert table.names == ("a", "b")
        assert table.notes == ("column 'column 1': left out: no name, and it counts or names the rows",)

    def test_and_of_a_frame_read_back(self, tmp_path):
        pd.DataFrame({"a": [0, 1] * 20}).to_csv(tmp_path / "t.csv")
        assert open_table(pd.read_csv(tmp_path / "t.csv")).names == ("a",)

    @engines
    def test_a_column_without_name_that_says_something_stays(self, tmp_path, engine):
        path = text(tmp_path, ",a,\n" + "x,1,0\ny,2,1\n" * 10)
        table = open_table(path, engine=engine)
        assert table.names == ("column 1", "a", "column 3")
        assert table.notes[0] == "column 'column 1': no name"
        assert table.notes[1].startswith("column 'column 3': no name; if a later line")

    @engines
    def test_blanks_around_names(self, tmp_path, engine):
        table = open_table(text(tmp_path, " a , b\n1,2\n2,2\n"), engine=engine, bins={"b": 2})
        assert table.names == ("a", "b")
        path = tmp_path / "t.parquet"
        pd.DataFrame({" a ": [1, 2], "b": [1, 2]}).to_parquet(path)
        assert open_table(path, engine=engine).names == ("a", "b")


class TestCells:
    @engines
    def test_missing_values_of_all_spellings(self, tmp_path, engine):
        is_missing = ["NA", "N/A", "null", "None", "nan", "?", "-", ".", "", "  "]
        path = text(tmp_path, "n,s\n" + "".join(f"{gap},{gap}\n1,x\n3,y\n" for gap in is_missing))
        table = open_table(path, engine=engine, missing="state")
        # Among labels, None, - and . are labels.
        assert table.states == ((1, 3, "<missing>"), ("-", ".", "None", "x", "y", "<missing>"))
        assert (table.column(0) == 2).sum() == len(is_missing)
        assert table.notes[:2] == (
            "read as missing values: '-', '.', '?', 'N/A', 'NA', 'None', 'nan', 'null'",
            "read as labels; na= makes them missing values: '-', '.', 'None'",
        )

    @engines
    def test_more_missing_values(self, tmp_path, engine):
        path = text(tmp_path, "n,m,s\n-9,1.5,x\n1,-9,None\n2,2.5,unknown\n")
        table = open_table(path, engine=engine, na=["-9", "None", "unknown"], missing="state", bins=2)
        assert [states[-1] for states in table.states] == ["<missing>"] * 3
        assert table.states[0] == (1, 2, "<missing>")
        assert table.states[2] == ("x", "<missing>")

    @engines
    def test_numbers_are_missing_however_they_are_written(self, tmp_path, engine):
        # -999 as a whole number, as a real one, and with gaps of other spellings beside it.
        path = text(tmp_path, "n,m,s,t\n-999,1.5,x,-999.0\n1,-999.0,y,?\n2,2.5,-999.0,5\n3,0.5,y,7\n")
        table = open_table(path, engine=engine, na=["-999", "0.50", "none such"], kinds={"m": "continuous"})
        assert table.states == ((1, 2, 3), (), ("-999.0", "x", "y"), (5, 7))
        assert [column.missing for column in table.columns] == [1, 2, 0, 2]
        assert table.column(1)[~np.isnan(table.column(1))].tolist() == [1.5, 2.5]
        assert "na=['none such']: no such values in the columns read" in table.notes
        assert "read as missing values: '-999', '0.50', '?'" in table.notes

    @pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table])
    def test_frames_have_such_values_as_well(self, make):
        columns = {"s": ["a", "unknown", "?", " b"], "n": [1, -999, 2, 1], "m": [0.5, 1.5, -999.0, 2.5]}
        table = open_table(make(columns), na=["unknown", "-999", "b", "0"])
        assert table.states == (("?", "a"), (1, 2), ())  # "?" is a state where it was not read from text
        assert [column.missing for column in table.columns] == [2, 1, 1]
        assert table.ends[0][2] == 0.5
        assert "na=['0']: no such values in the columns read" in table.notes

    def test_categories_and_blocks_of_integers(self):
        declared = pd.Series(pd.Categorical(["lo", "none", "hi", "lo"], ["lo", "none", "hi", "top"]))
        table = open_table({"c": declared, "d": declared == "lo"}, na=["none", "1"])
        assert table.states == (("lo", "hi", "top"), (False, True))
        assert table.column(0).tolist() == [0, 3, 1, 0]
        table = open_table(np.array([[1, 9], [2, 3], [9, 4]]), na=["9"])
        assert table.states == ((1, 2), (3, 4)) and [one.missing for one in table.columns] == [1, 1]

    @engines
    def test_decimal_commas(self, tmp_path, engine):
        path = text(tmp_path, "a;b;c\n1,5;1.234,5;1,2,3\n-2;2,25;x\nNA;0;y\n")
        table = open_table(path, engine=engine, missing="drop")
        assert table.kinds == ("continuous", "continuous", "discrete")
        assert [table.column(0).tolist(), table.column(1).tolist()] == [[1.5, -2.0], [1234.5, 2.25]]
        assert "read with decimal commas: 'a', 'b'" in table.notes

    def test_commas_between_thousands_are_no_decimal_commas(self, tmp_path):
        table = open_table(text(tmp_path, 'a,b\n"1,234",1\n"5,678",2\n'))
        assert table.states[0] == ("1,234", "5,678")

    @engines
    def test_leading_zeros(self, tmp_path, engine):
        lines = [f"{n * 631 % 99999:05},{n % 12 + 1:02},{n},0.{n:03}" for n in range(1, 90)]
        table = open_table(text(tmp_path, "\n".join(["zip,month,n,x", *lines])), engine=engine)
        told = "read as integers, although leading zeros are usual in codes: 'zip'"
        assert [note for note in table.notes if "zeros" in note] == [told]

    @engines
    def test_encoding_and_comments(self, tmp_path, engine):
        lines = "# made by hand\na,b\nä,1\n# and more\nö,2\n"
        expected = (("ä", "ö"), (1, 2))
        path = text(tmp_path, lines.encode("latin-1"))
        assert open_table(path, encoding="latin-1", comment="#", engine=engine).states == expected
        path = text(tmp_path, lines.encode("utf-16"))
        assert open_table(path, comment="#", engine=engine).states == expected
        path = text(tmp_path, lines.replace(",", "   "))
        assert open_table(path, comment="#", delimiter=" ", engine=engine).states == expected
        with pytest.raises(OptionError, match="unknown encoding 'latin-99'"):
            open_table(path, encoding="latin-99")
        with pytest.raises(F2SLError, match="encoding="):
            open_table(text(tmp_path, lines.encode("latin-1")), comment="#", engine=engine)


class TestKindsByValues:
    def test_birth_weights_are_continuous_and_few_values_are_discrete(self):
        rng = np.random.default_rng(0)
        data = {"weight": rng.integers(1500, 4500, 300), "children": rng.integers(0, 6, 300)}
        table = open_table(data)
        assert table.kinds == ("continuous", "discrete")
        assert table.notes == (
            "column 'weight': integers with more than 7 values, read as continuous; otherwise with "
            "kinds={'weight': 'discrete'}",
            "column 'children': integers with up to 7 values, read as discrete; otherwise with "
            "kinds={'children': 'continuous'}",
        )
        assert open_table(data, kinds={"weight": "discrete"}).kinds == ("discrete", "discrete")
        assert open_table(data, kinds={"children": "continuous"}).kinds == ("continuous", "continuous")

    @pytest.mark.parametrize(
        ("n", "rows", "kind"),
        [(12, 24, "discrete"), (13, 26, "continuous"), (32, 1024, "discrete"), (33, 9999, "continuous")],
    )
    def test_few_and_many(self, n, rows, kind):
        assert open_table({"a": np.arange(rows) % n, "b": [0] * rows}).kinds[0] == kind

    @engines
    def test_balanced_panels_are_noticed(self, tmp_path, engine):
        frame = pd.DataFrame({"person": np.repeat(np.arange(40) ** 2, 5), "x": [0, 1] * 100})
        frame.to_csv(tmp_path / "t.csv", index=False)
        notes = " ".join(open_table(tmp_path / "t.csv", engine=engine).notes)
        assert "'person': looks like an identifier (each value occurs 5 times)" in notes
        assert "'x'" not in notes

    @engines
    @pytest.mark.parametrize(("distinct", "left_out"), [(30, False), (31, True), (60, True)])
    def test_labels_that_name_rows_are_left_out(self, tmp_path, engine, distinct, left_out):
        frame = pd.DataFrame({"who": [f"p{i % distinct}" for i in range(60)], "x": [0, 1, 1] * 20})
        frame.loc[60:64] = [[None, 0]] * 5  # rows without a label count for nothing
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = open_table(tmp_path / "t.csv", engine=engine)
        assert table.names == (("x",) if left_out else ("who", "x"))
        told = (
            "column 'who': left out: fewer than two rows for each label on average, like an identifier; keep "
            "with keep=['who']"
        )
        assert (told in table.notes) == left_out
        for how in ({"kinds": {"who": "discrete"}}, {"kinds": "discrete"}, {"keep": ["who"]}):
            assert open_table(tmp_path / "t.csv", engine=engine, **how).names == ("who", "x")

    def test_categories_and_few_rows_stay(self):
        names = [f"p{i}" for i in range(30)]
        assert open_table({"who": pd.Series(names, dtype="category"), "x": [0, 1] * 15}).names == ("who", "x")
        assert open_table({"who": names[:20], "x": [0, 1] * 10}).names == ("who", "x")

    @engines
    def test_more_labels_than_there_can_be_states(self, tmp_path, engine):
        n = (1 << 17) + 2
        path = text(tmp_path, "who,x\n" + "".join(f"p{i // 2},{i % 3}\n" for i in range(n)))
        table = open_table(path, engine=engine)
        assert table.names == ("x",) and table.notes[0].startswith("column 'who': left out: more than 65,536")
        for how in ({"kinds": {"who": "discrete"}}, {"missing": "drop"}):
            with pytest.raises(DataError, match=r"'who' .*too many states"):
                open_table(path, engine=engine, **how)

    @engines
    def test_what_is_left_out_is_told_to_who_asks_for_it(self, tmp_path, engine):
        path = text(tmp_path, "who,x,y\n" + "".join(f"p{i},{i % 2},{i % 3}\n" for i in range(30)))
        with (
            pytest.warns(f2sl.errors.F2SLWarning, match="'who': left out"),
            pytest.raises(DataError, match=r"unknown column 'who'.*left out.*keep=\['who'\]"),
        ):
            f2sl.learn_pc(path, "who", engine=engine)

    @engines
    def test_integers_of_more_than_64_bits_are_pointed_out(self, tmp_path, engine):
        path = text(
            tmp_path,
            "a,b,c,d\n" + "".join(f"{2**70 + i},{2**70 << i},{1e20 * i + 0.5},{i}.5\n" for i in range(30)),
        )
        notes = [note for note in open_table(path, engine=engine).notes if "digits" in note]
        assert notes == [
            "column 'a': left out: the same number in every row, to the 16 digits that are kept",
            "column 'b': integers with more digits than the 16 that are kept; if they identify something, "
            "leave out with drop=['b']",
        ]

    @engines
    @pytest.mark.parametrize(
        ("codes", "others", "found"),
        [
            ([-99, -99], range(18, 78), ["-99"]),  # the only negative number
            ([-9, -9, 999, 999], range(40), ["-9", "999"]),
            ([998.5, 999, 999], range(40), []),  # no longer far from all others
            ([-8, -8, -9, -9], range(40), ["-9", "-8"]),
            ([-99.0, -99.0], np.arange(-30, 30) * 0.5, ["-99"]),  # 69 below numbers within 44.5
            ([-99.0, -99.0], np.arange(-100, 30) * 0.5, []),
            ([99, 99], range(60), []),  # 40 above numbers within 59
            ([999], range(60), []),  # once only
            ([-99, -99], [], []),
            ([100, 100], range(20), []),
        ],
    )
    def test_codes_for_missing_values_are_pointed_out(self, tmp_path, engine, codes, others, found):
        path = text(tmp_path, "a,b\n" + "".join(f"{a},{i % 2}\n" for i, a in enumerate([*codes, *others])))
        notes = [note for note in open_table(path, engine=engine).notes if "missing" in note]
        assert len(notes) == bool(found) and all(f"if so, na={found}" in note for note in notes)
        if found:
            table = open_table(path, engine=engine, na=found, keep=["a"])
            assert table.columns[0].missing == len(codes)


class TestBins:
    @engines
    def test_some_columns_and_all_others(self, tmp_path, engine):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {"a": rng.integers(0, 90, 100), "b": rng.normal(size=100), "c": rng.normal(size=100)}
        )
        frame.loc[:9, "c"] = np.nan
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = open_table(tmp_path / "t.csv", engine=engine, bins={"*": 4, "a": 3}, missing="state")
        assert table.cardinalities.tolist() == [3, 4, 5]
        auto = open_table(tmp_path / "t.csv", engine=engine, bins="auto", missing="state")
        assert auto.cardinalities.tolist() == [3, 3, 4]  # the fourth root of 100 is 3.2

    def test_of_what_is_no_number(self):
        with pytest.raises(OptionError, match=r"bins: column 'a' is left out by drop=\['a'\]"):
            open_table({"a": [1], "b": [2]}, drop=["a"], bins={"a": 3})
        with pytest.raises(DataError, match="'d': labels cannot be cut into intervals"):
            open_table({"d": ["x", "2020-01-01"], "b": [0, 1]}, bins={"d": 3})


class TestWeights:
    @engines
    @settings(max_examples=15)
    @given(
        rows=st.lists(
            st.tuples(st.sampled_from("xyz"), st.sampled_from([0.5, 1.25, 7.0, None]), st.integers(0, 4)),
            min_size=1,
            max_size=12,
        ),
        bins=st.sampled_from([None, 2]),
        missing=st.sampled_from(["state", "drop"]),
    )
    def test_the_same_as_the_rows_written_out(self, tmp_path_factory, engine, rows, bins, missing):
        frame = pd.DataFrame(rows, columns=["a", "b", "Freq"])
        written_out = frame.loc[frame.index.repeat(frame["Freq"]), ["a", "b"]].reset_index(drop=True)
        path = tmp_path_factory.mktemp("weights") / "t.csv"
        frame.to_csv(path, index=False)
        how = {"bins": bins, "missing": missing}
        data = frame if engine == "memory" else path
        try:
            expected = content(open_table(written_out, **how))
        except F2SLError:
            with pytest.raises(F2SLError):
                open_table(data, engine=engine, weights="Freq", **how)
        else:
            assert content(open_table(data, engine=engine, weights="Freq", **how)) == expected

    @engines
    def test_columns_that_count_rows_by_their_name_are_pointed_out(self, tmp_path, engine):
        told = "column 'Freq': by its name it counts rows; if so, use weights=\"Freq\""
        for rows, is_told in (("f,20\nm,31\n", True), ("f,0.25\nm,0.75\n", False)):
            table = open_table(text(tmp_path, f"sex,Freq\n{rows}"), engine=engine)
            assert (told in table.notes) is is_told

    @engines
    @pytest.mark.parametrize(
        "wrong", [["1.5", "2"], ["-1", "2"], ["", "2"], ["x", "2"], ["999999999999", "1"]]
    )
    def test_weights_that_are_none(self, tmp_path, engine, wrong):
        path = text(tmp_path, "a,w\n" + "".join(f"{i},{w}\n" for i, w in enumerate(wrong)))
        with pytest.raises(DataError, match=r"column 'w' .*weights must be integers"):
            open_table(path, engine=engine, weights="w")
        with pytest.raises(F2SLError, match="weights: unknown column 'v'"):
            open_table(path, engine=engine, weights="v")

    def test_a_contingency_table_is_learned_from(self):
        table = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "Freq": [40, 10, 10, 40]})
        model = f2sl.learn(table, weights="Freq")
        assert (model.n_rows_, model.graph_.undirected_edges) == (100, [("a", "b")])
        assert "by the weights in column 'Freq', the 4 rows represent 100" in model.notes_


TITANIC = {
    "survived": [0, 1, 1, 0, 1, 0] * 10,
    "alive": ["no", "yes", "yes", "no", "yes", "no"] * 10,
    "sex": ["m", "f", "f", "m", "m", "f"] * 10,
    "dead": [True, False, False, True, False, True] * 10,
    "third": ["p", "q", "r", "p", "q", "r"] * 10,
}


class TestWrittenNumbers:
    @engines
    @pytest.mark.parametrize("written", ["{}.5%", "${}.20", '"{},000"', "{} cm", "{}/2020", "-{}°", "1:{}"])
    def test_they_are_noticed(self, tmp_path, engine, written):
        lines = [f"{written.format(n)},{n % 2}" for n in range(13)]
        notes = open_table(text(tmp_path, "\n".join(["a,b", *lines])), engine=engine).notes
        assert any("column 'a': labels that look like numbers or dates" in note for note in notes), notes

    @engines
    def test_those_of_single_rows_are_left_out_for_what_they_are(self, tmp_path, engine):
        lines = [f'"1,0{n}.50",{n % 2},{n % 2}' for n in range(10, 40)]
        table = open_table(text(tmp_path, "\n".join(["pay,b,c", *lines])), engine=engine)
        assert table.names == ("b", "c")
        like = "labels that look like numbers or dates, such as '1,010.50'; convert them to plain numbers"
        assert table.notes == (f"column 'pay': left out: {like}",)

    @engines
    def test_times_with_one_digit_for_hours(self, tmp_path, engine):
        lines = [f"{n}:{4 * n:02},{n % 2}" for n in range(13)]
        table = open_table(text(tmp_path, "\n".join(["a,b", *lines])), engine=engine)
        assert table.notes == ("column 'a': times, read as continuous (seconds)",)
        assert table.column(0).tolist() == [3840.0 * n for n in range(13)]
        few = open_table({"odds": ["1:10", "1:20"] * 10, "b": [0, 1] * 10})
        assert few.states[0] == ("1:10", "1:20") and not few.notes
        assert open_table({"t": ["1:10", "1:20"]}, kinds="continuous").column(0).tolist() == [4200, 4800]
        with pytest.raises(DataError, match="'a': not all values are dates"):
            open_table(tmp_path / "t.csv", engine=engine, date_parts=["a"])

    @engines
    def test_words_among_numbers(self, tmp_path, engine):
        told = (
            "numbers but for 'unknown' (20 rows); make these missing values with na=['unknown'], or convert"
        )
        for n_values, begin in ((30, "column 'a': "), (140, "column 'a': left out: ")):
            lines = [f"{n % n_values / 4 if n % 7 else 'unknown'},{n % 2}" for n in range(140)]
            path = text(tmp_path, "\n".join(["a,b", *lines]))
            assert f"{begin}{told} them" in open_table(path, engine=engine).notes
        assert open_table(path, engine=engine, na=["unknown"]).kinds[0] == "continuous"

    @engines
    def test_words_and_impossible_days_among_dates(self, tmp_path, engine):
        days = [f"2020-02-{day:02}" for day in range(1, 29)]
        path = text(tmp_path, "day,b\n" + "".join(f"{day},{i % 2}\n" for i, day in enumerate(days * 3)))
        assert "dates written as" not in open_table(path, engine=engine).notes[0]  # PyArrow reads these
        with path.open("a") as stream:
            stream.write("2020-02-30,0\n")
        [told] = [note for note in open_table(path, engine=engine).notes if "'day'" in note]
        assert told.startswith("column 'day': dates but for '2020-02-30' (1 row); make these missing")
        assert open_table(path, engine=engine, na=["2020-02-30"]).kinds == ("continuous", "discrete")
        with pytest.raises(DataError, match=r"column 'day' \('2020-02-30'\): not all values are dates"):
            open_table(path, engine=engine, date_parts=["day"])

    def test_labels_are_not(self, tmp_path):
        for label in ("s{}", "{} rooms", "{}a1", "a"):
            names = [label.format(n) for n in range(13)]
            assert not any("look like" in note for note in open_table({"a": names, "b": names}).notes)
        assert not open_table({"a": [f"{n}%" for n in range(12)], "b": [0, 1] * 6}).notes  # few


def test_names_on_a_later_line_are_noticed(tmp_path):
    lines = ["Survey;;", "age;sex;job", *(f"{20 + n};{'mf'[n % 2]};{'abc'[n % 3]}" for n in range(30))]
    notes = open_table(text(tmp_path, "\n".join(lines))).notes
    told = "columns 'column 2', 'column 3': no name; if a later line of the file has the names, remove"
    assert any(note.startswith(told) for note in notes), notes


class TestNoLineOfNames:
    @engines
    @pytest.mark.parametrize(
        "first", ["f,32,71.8", "m,12,71", "32.5,0.25,1e3"], ids=["states", "whole numbers", "numbers"]
    )
    def test_it_is_noticed(self, tmp_path, engine, first):
        of_states = first[0] in "mf"
        rows = [f"{'mf'[n % 2] if of_states else n + 0.5},{n},{n * 1.5}" for n in range(40)]
        path = text(tmp_path, "\n".join([first, *rows]))
        told = f"the column names look like values, such as '{first.partition(',')[0]}'; "
        assert (
            open_table(path, engine=engine).notes[-1]
            == f"{told}if there is no line of names, use header=False"
        )
        assert open_table(path, engine=engine, header=False).n_rows == 41

    def test_names_that_are_numbers_or_states_may_be_names(self):
        years = {str(year): np.arange(30) + 0.5 for year in (1990, 2000, 2010)}
        columns = {"0": [0, 1] * 15, "1": [1, 0, 1] * 10, "2": [0, 0, 1] * 10}
        for data in (years, columns, {"yes": ["no", "yes"] * 5, "age": range(10)}):
            assert not any("look like values" in note for note in open_table(data).notes)


class TestAliases:
    def test_they_are_named(self):
        model = f2sl.F2SLc().fit(TITANIC)
        told = "columns that determine each other one to one, and hide each other's edges"
        assert any(
            note.startswith(told) and "'survived' and 'alive' and 'dead'" in note for note in model.notes_
        )

    def test_they_are_found_block_by_block(self, monkeypatch):
        """Blocks may lack states that the first ones have; no column is ever held as a whole."""
        rng = np.random.default_rng(3)
        codes = np.concatenate([np.full(70, 2), rng.integers(0, 3, 130)])
        other = codes.copy()
        other[-1] = (other[-1] + 1) % 3
        table = open_table(
            {"a": codes, "b": (codes + 1) % 3, "c": other, "d": 2 - codes, "e": (other + 2) % 3}
        )
        assert alias_groups(table) == [[0, 1, 3], [2, 4]]
        streamed = StreamTable.of_table(table, 64)
        monkeypatch.setattr(StreamTable, "column", None)
        assert alias_groups(streamed) == [[0, 1, 3], [2, 4]]

    @engines
    @pytest.mark.parametrize("algorithm", ["f2sl-c", "f2sl-s"])
    def test_they_are_drawn_beside_the_one_that_is_learned_from(self, tmp_path, engine, algorithm):
        path = tmp_path / "t.csv"
        pd.DataFrame(TITANIC).to_csv(path, index=False)
        model = f2sl.learn(path, algorithm, aliases="merge", engine=engine)
        alone = f2sl.learn({name: TITANIC[name] for name in ("survived", "sex", "third")}, algorithm)
        assert sorted(model.graph_.nodes) == sorted(TITANIC)
        for alias in ("alive", "dead"):
            assert model.graph_.neighbors(alias) == ["survived"]
        assert sorted(set(model.graph_.neighbors("survived")) - {"alive", "dead"}) == alone.graph_.neighbors(
            "survived"
        )
        assert any("'survived' also represents 'alive', 'dead'" in note for note in model.notes_)

    @pytest.mark.parametrize("algorithm", ["f2sl-c", "f2sl-h"])
    def test_all_are_kept_unless_they_are_to_be_merged(self, algorithm):
        data = {name: TITANIC[name] for name in ("survived", "alive", "sex")}
        merged, kept = f2sl.learn(data, algorithm, aliases="merge"), f2sl.learn(data, algorithm)
        assert "merged: 'survived' also represents 'alive'" in merged.notes_
        assert set(merged.graph_.neighbors("survived")) == {"alive", "sex"}
        assert not any(note.startswith("merged") for note in kept.notes_)

    @engines
    def test_an_open_table_is_learned_from_as_its_data_are(self, tmp_path, engine):
        path = tmp_path / "t.csv"
        pd.DataFrame(TITANIC).to_csv(path, index=False)
        for aliases in ("keep", "merge"):
            expected = f2sl.learn(path, "f2sl-h", aliases=aliases)
            with open_table(path, engine=engine, aliases=aliases) as table:
                for model in (f2sl.F2SLh().fit(table), f2sl.F2SLh().fit(table)):  # the first leaves it open
                    assert model.graph_ == expected.graph_
                    assert model.graph_.weights == expected.graph_.weights
                assert ("alive" in table.names) == (aliases != "merge")

    @pytest.mark.parametrize("named", ["alive", "al*"])
    def test_knowledge_about_them(self, named):
        known = f2sl.Knowledge(forbidden_adjacencies=[("sex", named)])
        told = "'alive' was merged with 'survived'; name that one, or learn without aliases=\"merge\""
        for learn in (f2sl.learn, f2sl.learn_pc):
            with pytest.raises(OptionError, match=told):
                learn(TITANIC, aliases="merge", knowledge=known)
        model = f2sl.learn(TITANIC, "f2sl-h", knowledge=known)
        assert model.n_features_in_ == len(TITANIC)
        assert "sex" not in model.graph_.neighbors("alive")
        about_the_other = f2sl.Knowledge(forbidden_adjacencies=[("sex", "survived")])
        merged = f2sl.learn(TITANIC, "f2sl-h", aliases="merge", knowledge=about_the_other).graph_
        assert "sex" not in merged.neighbors("survived") and "alive" in merged.neighbors("survived")

    @given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), min_size=2, max_size=6))
    def test_as_a_naive_comparison_finds_them(self, columns):
        from f2sl.data.notes import alias_groups

        table = open_table({f"c{i}": column for i, column in enumerate(columns)})
        pairs = {
            (i, j)
            for i, a in enumerate(columns)
            for j, b in enumerate(columns)
            if i < j and len(set(a)) > 1 and len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))
        }
        found = {(i, j) for group in alias_groups(table) for i in group for j in group if i < j}
        assert found == pairs


COLUMNS = {"a": ["x", "y", "x", "z"], "n": [1, 2, 1, 1], "r": [0.5, 1.25, 3.5, None]}


class TestFiles:
    def expected(self):
        return content(open_table(COLUMNS, missing="drop"))

    @engines
    def test_json_lines_and_zip(self, tmp_path, engine):
        frame = pd.DataFrame(COLUMNS)
        frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as packed:
            packed.writestr("inner.csv", frame.to_csv(index=False))
        for name in ("t.jsonl", "t.zip"):
            assert content(open_table(tmp_path / name, engine=engine, missing="drop")) == self.expected()
        with zipfile.ZipFile(tmp_path / "two.zip", "w") as packed:
            packed.writestr("a.csv", "x")
            packed.writestr("b.csv", "x")
        with pytest.raises(FileError, match="2 files in the zip file"):
            open_table(tmp_path / "two.zip", engine=engine)

    @engines
    def test_workbooks(self, tmp_path, engine):
        pytest.importorskip("python_calamine")
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [("a", "n", "r"), ("x", 1, 0.5), ("y", 2, 1.25), ("x", 1, 3.5), ("z", 1, "n/a")]:
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
        assert content(open_table(tmp_path / "t.xlsx", engine=engine, missing="drop")) == self.expected()

    @engines
    @pytest.mark.parametrize("suffix", ["dta", "sav", "xpt"])
    def test_files_of_statistics_programs(self, tmp_path, engine, suffix):
        pyreadstat = pytest.importorskip("pyreadstat")
        write = {"dta": "write_dta", "sav": "write_sav", "xpt": "write_xport"}[suffix]
        path = tmp_path / f"t.{suffix}"
        getattr(pyreadstat, write)(pd.DataFrame(COLUMNS), str(path))
        assert content(open_table(path, engine=engine, missing="drop")) == self.expected()
        path.write_bytes(path.read_bytes()[:60])
        with pytest.raises(F2SLError, match=f"t.{suffix}"):
            open_table(path, engine=engine)

    @pytest.mark.parametrize(
        ("name", "start", "told"),
        [
            ("t.rds", b"\x1f\x8b", "this is an R data file"),
            ("t.RData", b"RDX3\n", "this is an R data file"),
            ("t.pkl", b"\x80\x05", "this is a pickle"),
            ("t", b"\x89HDF\r\n", "this is an HDF5 file"),
            ("t.feather", b"FEA1", "not a valid Arrow file"),
            ("t.json", b"[{}]", "this is one JSON value"),
        ],
    )
    def test_what_is_known_and_not_read_is_named(self, tmp_path, name, start, told):
        packed = gzip.compress(b"X\n") if start == b"\x1f\x8b" else start + b"more"
        with pytest.raises(FileError, match=told):
            open_table(text(tmp_path, packed, name))

    @engines
    @pytest.mark.parametrize("name", ["t.json", "t", "t.json.gz"])
    def test_json_lines_are_known_by_their_lines(self, tmp_path, name, engine):
        lines = b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'
        packed = gzip.compress(lines) if name.endswith(".gz") else lines
        assert open_table(text(tmp_path, packed, name), engine=engine).states == ((1, 2), ("x", "y"))

    def test_rows_as_dictionaries(self):
        table = open_table([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
        assert table.states == ((1, 2), ("x", "y"))

    def test_standard_input(self, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n2,y\n")))
        assert open_table("-").states == ((1, 2), ("x", "y"))


class TestHostile:
    @engines
    def test_pipes_are_refused_at_once(self, tmp_path, engine):
        os.mkfifo(tmp_path / "pipe")
        for place in (tmp_path / "pipe", "/dev/zero"):
            with pytest.raises(FileError, match="not a regular file"):
                open_table(place, engine=engine)
        with pytest.raises(FileError, match="the path is empty"):
            open_table("", engine=engine)

    @engines
    def test_arrow_files_that_lead_astray(self, tmp_path, engine):
        """An offset of a string points past the end of its buffer."""
        path = tmp_path / "t.arrow"
        wrong = np.array([0, 1, 9_000_000], np.int32).tobytes()
        with pa.ipc.new_file(path, pa.schema({"a": pa.string()})) as writer:
            writer.write_batch(pa.record_batch([pa.array(["x", "y"])], ["a"]))
        content = path.read_bytes()
        good = np.array([0, 1, 2], np.int32).tobytes()
        at = content.rindex(good, 0, content.rindex(b"xy"))
        path.write_bytes(content[:at] + wrong + content[at + len(wrong) :])
        with pytest.raises(FileError, match="not a valid Arrow file"):
            open_table(path, engine=engine)

    def test_packed_files_keep_to_the_memory_allowed(self, tmp_path):
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(b"a,b\n" + b"0,1\n1,0\n" * 1_500_000))
        assert path.stat().st_size < 100_000
        table = open_table(path, memory="16MB")
        assert table.held == "on disk"
        assert table.notes[0].startswith("read in blocks: in memory the table would take")


DATA = {
    "odd": [1.5, float("inf"), 0.5],
    "gap": ["x", None, "y"],
    "big": [2**70, 1, 2],
    "ok": [0.5, 1.5, 2.5],
}


class TestCheck:
    def test_all_problems_at_once(self):
        report = f2sl.check(DATA, bins={"nix": 3}, missing="error")
        assert [column.name for column in report.columns] == list(DATA)
        assert [column.action for column in report.columns] == [
            "refused",
            "discrete",
            "refused",
            "continuous",
        ]
        told = " ".join(report.problems)
        for words in ("bins: unknown column 'nix'", "drop=['odd']", 'missing="state"', "drop=['big']"):
            assert words in told
        with pytest.raises(DataError) as caught:
            open_table(DATA, bins={"nix": 3}, missing="error")
        assert str(caught.value) == ". Also, ".join(report.problems)
        assert report.to_frame().shape == (4, 6)
        assert repr(report).splitlines()[0].split() == [
            "column",
            "kind",
            "values",
            "missing",
            "action",
            "why",
        ]

    def test_files_and_nothing_to_complain_about(self, tmp_path):
        path = text(tmp_path, "a,b,c\n" + "0,x,1.5\n1,y,2.5\n" * 5)
        report = f2sl.check(path, drop=["c"])
        assert report.problems == ()
        assert [(one.name, one.kind, one.values, one.action) for one in report.columns] == [
            ("a", "discrete", "2 states: 0, 1", "discrete"),
            ("b", "discrete", "2 states: x, y", "discrete"),
            ("c", "", "", "left out"),
        ]
        assert "one column only" in f2sl.check(path, drop=["a", "c"]).problems[0]
        # A column that is refused may come back.
        assert len(f2sl.check({"x": [1.5, 2.5], "y": [0.5, np.inf]}).problems) == 1
