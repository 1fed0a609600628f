"""Files read in blocks: the same table as in memory, the same refusals, and always with the file's name."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import f2sl
from f2sl import DataError, F2SLError, FileError, OptionError, open_table
from f2sl.data.files import data_files, read_files
from f2sl.data.formats import TextOptions, cells
from f2sl.data.formats import text as _text
from f2sl.data.open import Reading
from f2sl.data.reading import read_streamed
from marks import examples

FRAME = pd.DataFrame(
    {
        "number": [3, 1, -200, 3] * 5,
        "text": ["b", "a", "ä,ö", 'say "x"'] * 5,
        "truth": [True] * 20,
        "class": pd.Categorical(["low", "high"] * 10, categories=["low", "mid", "high"]),
        "wide": [10**9, -(10**9), 5, 5] * 5,
    }
)

WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, row_group_size=7),
    "feather": lambda frame, path: pa.feather.write_feather(frame, str(path), chunksize=6),
    "arrow": lambda frame, path: _write_stream(frame, path),
}


def _write_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=9)


def in_blocks(path, rows=3, memory=10**8, delimiter=None, header=True, **reading):
    bins = reading.pop("bins", None)
    bins = bins if isinstance(bins, dict) else {} if bins is None else {"*": bins}
    files = data_files(path, TextOptions(delimiter, header))
    return read_streamed(files, Reading(bins=bins, **reading), memory, rows_per_block=rows)


def content(table):
    """All that there is to know of a table of either kind."""
    rows = [[None if it != it else it for it in table.column(i).tolist()] for i in range(table.n_variables)]
    return table.columns, rows, table.notes  # a missing number is NaN, which differs from itself


def in_memory(path, delimiter=None, header=True, drop=(), **reading):
    return content(
        open_table(path, engine="memory", delimiter=delimiter, header=header, drop=drop, **reading)
    )


def assert_same(path, rows=3, **reading):
    try:
        expected = in_memory(path, **reading)
    except F2SLError as error:
        with pytest.raises(type(error)) as caught:
            in_blocks(path, rows, **reading)
        assert str(caught.value) == str(error)
    else:
        assert content(in_blocks(path, rows, **reading)) == expected


# The same as in memory


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("rows", [1, 3, 7, 1000])
def test_every_format(tmp_path, kind, rows):
    path = tmp_path / f"table.{kind}"
    WRITERS[kind](FRAME, path)
    assert_same(path, rows)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_packed_text(tmp_path, suffix, pack):
    path = tmp_path / f"table.csv.{suffix}"
    path.write_bytes(pack(FRAME.to_csv(index=False).encode()))
    assert_same(path)


def test_white_space_no_header_and_left_out_columns(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("1   x  5\n 2 \t y  6\n1 x   7  \n")
    assert_same(path, header=False)
    assert_same(path, header=False, drop=["x1"])
    assert_same(path, header=False, drop=["x7"])
    assert_same(path, header=False, names=["c", "a", "b"])


VALUES = {
    "integers": st.sampled_from(["1", "2", "-7", "300"]),
    "reals": st.sampled_from(["1.5", "2.0", "-0.5", "1e3"]),
    "whole": st.sampled_from(["1.0", "2.0"]),
    "text": st.sampled_from(["a", "b", "1", "true", "B"]),
    "missing": st.sampled_from(["1", "2", "", "NA"]),
    "real gaps": st.sampled_from(["1.0", "2.0", "3.5", ""]),
    "truth": st.sampled_from(["true", "False", "1", "0"]),
    "dates": st.sampled_from(["2020-01-01", "2021-01-01"]),
    "nothing": st.just(""),
    "numbers with signs for gaps": st.sampled_from(["1", "7", "None", ".", "?"]),
    "labels like gaps": st.sampled_from(["x", "None", "-"]),
    "decimal commas": st.sampled_from(["1,5", "2,25", "3"]),
}


@examples(60)
@given(
    columns=st.lists(st.sampled_from(sorted(VALUES)), min_size=2, max_size=4),
    rows=st.integers(1, 5),
    n=st.integers(1, 25),
    missing=st.sampled_from(["error", "state", "drop", "available"]),
    bins=st.sampled_from([None, None, 2, {"c0": 3}]),
    kinds=st.sampled_from(["auto", "discrete", "continuous", {"c0": "continuous"}, {"c1": "discrete"}]),
    data=st.data(),
)
def test_any_text(tmp_path_factory, columns, rows, n, missing, bins, kinds, data):
    assume(kinds != "continuous" or (bins is None and missing != "state"))  # refused before anything is read
    drawn = [data.draw(st.lists(VALUES[column], min_size=n, max_size=n)) for column in columns]
    lines = [";".join(f"c{i}" for i in range(len(columns))), *map(";".join, zip(*drawn, strict=True))]
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    assert_same(path, rows, missing=missing, bins=bins, kinds=kinds)
    pq.write_table(
        read_files(data_files(path))[0], path.with_suffix(".parquet"), row_group_size=max(1, n // 2)
    )
    assert_same(path.with_suffix(".parquet"), rows, missing=missing, bins=bins, kinds=kinds)


def test_a_dropped_row_has_no_say_in_the_kind(tmp_path):
    """The only number that is not whole is in a row that misses another value."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n0.5,\n1.0,3.0\n2.0,1.0\n4.0,2.0\n")
    assert_same(path, missing="drop")
    assert in_blocks(path, missing="drop").states == ((1, 2, 4), (1, 2, 3))


def test_a_column_that_is_left_out_drops_rows_as_well(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,0.5\ny,\nz,0.5\n")
    assert in_blocks(path, missing="drop").states == (("x", "z"),)
    assert_same(path, missing="drop")


@pytest.mark.parametrize("late", ["x", "2.5", "true", '"two\nlines"', ""])
def test_a_type_that_shows_in_the_last_rows(tmp_path, monkeypatch, late):
    """The first stretch of text holds integers alone."""
    monkeypatch.setattr(_text, "TEXT_BYTES", 64)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,0\n2,1\n" * 50 + f"{late},1\n")
    assert_same(path, missing="state")


def test_a_continuous_column_with_very_many_values(tmp_path, monkeypatch):
    monkeypatch.setattr("f2sl.data.digest.MOST_DISTINCT", 20)
    frame = pd.DataFrame({"a": np.arange(100), "b": np.arange(100) / 8, "c": [0, 1] * 50})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    with pytest.raises(DataError, match=r"'a' \(more than .*too many states.*'b' \(.*cannot be discrete"):
        in_blocks(path, kinds="discrete")
    assert in_blocks(path, keep=["a"]).kinds == ("continuous", "continuous", "discrete")
    with pytest.raises(DataError, match=r"column 'a' has more than .*takes 0 MB, but 0 MB are allowed"):
        in_blocks(path, bins=3, memory=1000)
    table = in_blocks(path, kinds="continuous")
    assert [end.tolist() for end in table.ends] == [[0.0, 0.0, 0.0], [99.0, 99 / 8, 1.0]]


@pytest.mark.parametrize("missing", ["state", "drop"])
@pytest.mark.parametrize("binning", ["quantile", "width"])
def test_very_many_numbers_are_cut_as_in_memory(tmp_path, monkeypatch, binning, missing):
    monkeypatch.setattr("f2sl.data.digest.MOST_DISTINCT", 20)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.integers(-5000, 5000, 200), "c": [0, 1] * 100})
    frame["d"] = frame["b"].where(frame["b"] > -4000)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    assert_same(path, 7, bins={"a": 4, "b": 5, "d": 3}, binning=binning, missing=missing)


def test_many_distinct_texts_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "TEXT_BYTES", 1 << 18)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"row {i},0\n" for i in range(70_000)))
    with pytest.raises(DataError, match=r"column 'a' \(more than 65,536\): too many states"):
        in_blocks(path, rows=30_000, kinds="discrete")


# Several files


def write_folder(folder, *frames, kind="parquet"):
    folder.mkdir(exist_ok=True)
    for i, frame in enumerate(frames):
        WRITERS[kind](frame, folder / f"part-{i}.{kind}")
    return folder


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_is_one_table(tmp_path, kind):
    folder = write_folder(tmp_path / "parts", FRAME[:8], FRAME[8:], kind=kind)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").touch()
    assert_same(folder)
    assert content(in_blocks(sorted(folder.glob("part*")))) == in_memory(folder)


def test_columns_may_stand_in_another_order(tmp_path):
    folder = write_folder(tmp_path / "parts", FRAME[:8], FRAME[8:][list(FRAME.columns[::-1])])
    assert_same(folder)


def test_a_new_state_in_the_last_file_is_a_state(tmp_path):
    last = FRAME[8:].assign(text="entirely new")
    folder = write_folder(tmp_path / "parts", FRAME[:8], last)
    assert_same(folder)
    assert "entirely new" in in_blocks(folder).states[1]


def test_integers_beside_real_numbers_and_nothing_beside_anything(tmp_path):
    one, other = pd.DataFrame({"a": [1, 2], "b": [0, 1]}), pd.DataFrame({"a": [0.5, 1.5], "b": [None, None]})
    assert_same(write_folder(tmp_path / "parts", one, other), missing="drop", kinds="continuous")


INTEGERS = {
    "negative": pa.array([-2, 0, 1, 1]),
    "narrow": pa.array([0, 1, 2, 200], pa.uint8()),
    "largest": pa.array([2**63, 2**63 + 2, 2**63 + 2, 2**63 + 3], pa.uint64()),
    "far": pa.array([2**60, 2**60 + 1, 0, 0]),
    "reals": pa.array([0.0, 1.0, None, 2.0]),
    "decimals": pa.array([1, 2, 3, 4], pa.decimal128(5, 2)),
}


@pytest.mark.parametrize(
    "reading", [{"missing": "state"}, {"kinds": "continuous", "missing": "drop"}], ids=str
)
@pytest.mark.parametrize("one", INTEGERS)
@pytest.mark.parametrize("other", INTEGERS)
def test_integers_of_all_widths(tmp_path, one, other, reading):
    for position, name in enumerate((one, other)):
        pq.write_table(pa.table({"a": INTEGERS[name], "b": [0, 1, 0, 1]}), tmp_path / f"{position}.parquet")
    assert_same(tmp_path, **reading)


def test_integers_that_no_type_holds(tmp_path):
    for name in ("negative", "largest"):
        pq.write_table(pa.table({"a": INTEGERS[name]}), tmp_path / f"{name}.parquet")
    assert "column 'a': integers of more than 64 bits" in refused(tmp_path, DataError)


def test_text_of_several_types(tmp_path):
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        table = pa.table({"a": pa.array(["x", str(kind)], kind)})
        pa.feather.write_feather(table, tmp_path / f"{kind}.arrow")
    assert_same(tmp_path)


def test_categories_of_several_types(tmp_path):
    for position, labels in enumerate((["x", "y"], [1, 2])):
        table = pa.table({"a": pa.array(labels).dictionary_encode()})
        pa.feather.write_feather(table, tmp_path / f"{position}.arrow")
    assert "holds categories of integers, but categories of text in 0.arrow" in refused(tmp_path, DataError)


def refused(path, error, **reading):
    """Both ways of reading refuse the files, in the same words, which are given."""
    with pytest.raises(error) as caught:
        in_memory(path, **reading)
    with pytest.raises(error) as again:
        in_blocks(path, **reading)
    assert str(caught.value) == str(again.value)
    assert "\n" not in str(again.value)
    return str(again.value)


@pytest.mark.parametrize("kind", WRITERS)
def test_columns_that_disagree(tmp_path, kind):
    folder = write_folder(tmp_path / "parts", FRAME, FRAME.drop(columns="wide"), kind=kind)
    told = refused(folder, DataError)
    assert told.startswith(f"{folder / f'part-1.{kind}'}: without column 'wide', unlike part-0.{kind}")
    other = write_folder(tmp_path / "others", FRAME, FRAME.assign(more=1), kind=kind)
    assert "part-1" in (told := refused(other, DataError)) and "with an extra column 'more'" in told


@pytest.mark.parametrize("kind", WRITERS)
def test_types_that_disagree(tmp_path, kind):
    folder = write_folder(tmp_path / "parts", FRAME, FRAME.assign(number="x"), kind=kind)
    told = refused(folder, DataError)
    assert told == (
        f"{folder / f'part-1.{kind}'}: column 'number' holds text, but integers in part-0.{kind}; "
        "all files must agree"
    )


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_cut_off_in_the_middle(tmp_path, kind):
    folder = write_folder(tmp_path / "parts", FRAME, FRAME, kind=kind)
    cut = folder / f"part-1.{kind}"
    whole = cut.read_bytes()
    cut.write_bytes(whole[: int(len(whole) * 0.6)])
    if kind == "csv":
        cut.write_bytes(whole[: whole.rfind(b",")])
    assert refused(folder, F2SLError).startswith(f"{cut}: ")


def test_a_packed_file_cut_off_in_the_middle(tmp_path):
    path = tmp_path / "t.csv.gz"
    text = "a,b\n" + "".join(f"{i * 7919 % 1000},{i % 3}\n" for i in range(50_000))
    path.write_bytes(gzip.compress(text.encode())[:-5000])
    assert refused(path, F2SLError).startswith(f"{path}: ")


def test_damage_within_a_file(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.to_parquet(path, compression="snappy")
    damaged = bytearray(path.read_bytes())
    damaged[10:60] = b"\xff" * 50
    path.write_bytes(damaged)
    assert refused(path, FileError).startswith(f"{path}: not a valid Parquet file")


@pytest.mark.parametrize(
    ("many", "later", "expected"),
    [
        (["0.5", "1.5", "2.5", "3.5", "4.5"], "7", pa.float64()),
        (["1", "2", "3", "4", "5"], "7", pa.int64()),
        (["1", "2", "3", "4", "5"], "0.5", pa.float64()),
        (["a", "b", "c", "d", "e"], "7", pa.string()),
        (["1", "2", "3", "4", "5"], "x", pa.string()),
    ],
)
def test_the_type_of_very_many_values_is_that_of_all(monkeypatch, many, later, expected):
    """Once two values stand for those before, the type is still that of all values together."""
    monkeypatch.setattr(cells, "MAX_STATES", 2)
    column = cells.TypeOfText(",", TextOptions())
    column.add(pa.array(many))
    column.add(pa.array([later]))
    assert column.meaning().type == expected


def test_text_that_is_not_utf_8_in_its_last_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "TEXT_BYTES", 64)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x,1\n" * 50 + "ä,2\n".encode("latin-1"))
    assert "column 'a' is not encoded as UTF-8" in refused(path, FileError)


def test_folders_that_are_none(tmp_path):
    assert "holds no files" in refused(tmp_path, FileError)
    (tmp_path / "inner").mkdir()
    assert "it contains a folder (inner)" in refused(tmp_path, FileError)
    assert "no such file" in refused(tmp_path / "nix", FileError)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    folder = write_folder(tmp_path / "parts", FRAME)
    (folder / "part-0.parquet").chmod(0)
    assert "part-0.parquet: no permission" in refused(folder, FileError)


@pytest.mark.parametrize("grows", [True, False])
def test_a_file_that_changes_meanwhile(grows, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    from f2sl.data import reading as stream

    resolved = stream.prepare

    def change(*arguments):
        before = path.stat()
        path.write_text(path.read_text() + "4,new,True,low,9\n" * grows)
        # A clock may be too coarse to tell two writings apart.
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))
        return resolved(*arguments)

    monkeypatch.setattr(stream, "prepare", change)
    with pytest.raises(DataError, match=r"t.csv: the file was changed while it was read"):
        in_blocks(path)


# Which engine


def test_what_does_not_fit_is_read_in_blocks_and_a_note_says_so(tmp_path):
    path = tmp_path / "t.parquet"
    pd.concat([FRAME] * 25_000, ignore_index=True).to_parquet(path)
    fits = open_table(path, memory=10**8)
    assert all("read as discrete" in note for note in fits.notes)
    streamed = open_table(path, memory=16 * 10**6)
    assert streamed.notes[0].startswith(
        "read in blocks: in memory the table would take 20 MB or more, and 16 MB"
    )
    assert (streamed.names, streamed.states) == (fits.names, fits.states)


def test_a_packed_file_is_measured_by_what_it_holds(tmp_path):
    """A million rows in a few kilobytes: the engine goes by the rows, and not by the size of the file."""
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,x\n1,y\n1,x\n" * (1 << 19)))
    assert path.stat().st_size < 20_000
    table = open_table(path, memory=16 * 10**6)
    assert table.held != "in memory" and table.n_rows == 3 << 19
    assert table.notes[0].startswith("read in blocks: in memory the table would take ")
    assert [margin.tolist() for margin in table.margins] == [[1 << 19, 1 << 20], [1 << 20, 1 << 19]]


def write_stream(table, path, compression):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=3000)


WAYS_TO_WRITE = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "plain.feather": lambda frame, path: frame.to_feather(path, compression="uncompressed"),
    "lz4.feather": lambda frame, path: frame.to_feather(path),
    "zstd.arrow": lambda frame, path: write_stream(pa.Table.from_pandas(frame), path, "zstd"),
}


@pytest.mark.parametrize("kind", WAYS_TO_WRITE)
def test_the_guess_is_of_the_right_size(tmp_path, kind):
    frame = pd.DataFrame({"a": np.arange(10_000) % 100, "b": np.arange(10_000) % 7})
    path = tmp_path / f"t.{kind}"
    WAYS_TO_WRITE[kind](frame, path)
    [file] = data_files(path)
    assert 0.5 < file.format.bytes_in_memory(file, 10**9) / 160_000 < 2


@pytest.mark.parametrize("columns", [1, 3])
def test_the_guess_of_a_text_goes_by_its_cells(tmp_path, columns):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join("abc"[:columns])] * 10))
    [file] = data_files(path)
    assert file.format.bytes_in_memory(file, 10**9) == 10 * columns * 8


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_file_without_rows_beside_one_with_some(tmp_path, engine):
    paths = tmp_path / "1.csv", tmp_path / "2.csv"
    for path, rows in zip(paths, (FRAME, FRAME[:0]), strict=True):
        rows.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"2\.csv: the file has a header but no rows"):
        open_table(list(paths), engine=engine)


def test_types_of_arrow_are_taken_for_what_they_are(tmp_path):
    frame = pd.DataFrame({"a": np.zeros(9_000, np.int8), "b": ["x", "y", "z"] * 3_000})
    frame["c"] = frame["b"].astype("category")
    frame.to_feather(tmp_path / "t.feather")
    [file] = data_files(tmp_path / "t.feather")
    assert file.format.bytes_in_memory(file, 10**9) == 9_000 * (1 + 8 + 1)


def test_learners_take_folders_and_engines(tmp_path):
    alarm = f2sl.load_example("alarm")
    folder = write_folder(tmp_path / "parts", alarm[:900], alarm[900:])
    expected = f2sl.F2SLh().fit(alarm)
    for engine in ("auto", "memory", "stream"):
        model = f2sl.learn(folder, engine=engine)
        assert model.graph_ == expected.graph_
        assert model.graph_.weights == expected.graph_.weights
    paths = [str(path) for path in sorted(folder.iterdir())]
    assert f2sl.learn(paths, engine="stream").graph_ == expected.graph_
    assert f2sl.learn_pc(folder, "HR", engine="stream") == f2sl.learn_pc(alarm, "HR")
    assert f2sl.learn_mb(folder, "HR", engine="stream", memory=10**8) == f2sl.learn_mb(alarm, "HR")


def test_searches_leave_a_table_open_that_was_handed_over(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    with open_table(path, engine="stream") as table:
        found = f2sl.learn_pc(table, "text"), f2sl.learn_mb(table, "text")
        assert (f2sl.learn_pc(table, "text"), f2sl.learn_mb(table, "text")) == found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"engine": "disk"}, "engine must be one of 'auto', 'memory', 'stream'"),
        ({"engine": "stream"}, "these data are in memory"),
        ({"memory": "much"}, "such as \"256MB\", not 'much'"),
        ({"memory": "1kB"}, "at least 16MB"),
        ({"memory": True}, 'such as "256MB", not True'),
        ({"memory": "64MB", "engine": "memory"}, 'engine="memory" has no memory limit'),
    ],
)
def test_engines_and_memory_limits_that_do_not_exist_or_fit_are_refused(options, told):
    with pytest.raises(OptionError) as caught:
        f2sl.learn(FRAME, **options)
    assert told in str(caught.value)
    with pytest.raises(OptionError):
        f2sl.learn_pc(FRAME, "text", **options)


@pytest.mark.parametrize("option", ["binning", "missing"])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_ways_of_reading_that_there_are_not(tmp_path, engine, option):
    folder = write_folder(tmp_path / "parts", FRAME)
    with pytest.raises(OptionError, match=option):
        f2sl.learn_pc(folder, "text", engine=engine, **{option: "none such"})
