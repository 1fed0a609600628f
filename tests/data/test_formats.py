"""Table formats as objects: one of a user is read, in memory and in blocks, and written like the others."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pytest

from f2sl import FileError, OptionError, open_table
from f2sl.data import formats
from f2sl.data.formats import TableFormat, table_bytes, writer_for

COLUMNS = {"a": ["x", "y", "x", "z"], "n": [1, 2, 1, 1]}


class Lines(TableFormat):
    """A JSON object on each line; only what a format must have, and a method to write."""

    name = "JSON lines"
    suffixes = (".jsonl",)

    def read(self, file):
        with file.open() as stream:
            return pa.Table.from_pylist([json.loads(line) for line in stream.read().splitlines()])

    def write(self, table, stream):
        for row in table.to_pylist():
            stream.write((json.dumps(row) + "\n").encode())


class Marked(Lines):
    """The same, known by its first bytes."""

    name = "marked"
    suffixes = (".marked",)
    first_bytes = (b"#marked\n",)

    def read(self, file):
        with file.open() as stream:
            lines = stream.read().splitlines()[1:]
        return pa.Table.from_pylist([json.loads(line) for line in lines])


@pytest.fixture(autouse=True)
def registered():
    """Register both formats, as a user's program would, for one test."""
    known = list(formats.FORMATS)
    formats.add(Lines())
    formats.add(Marked())
    yield
    formats.FORMATS[:] = known


def written(path, marked=False):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    text = "#marked\n" * marked + "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def content(table):
    return table.columns, [table.column(i).tolist() for i in range(table.n_variables)]


@pytest.mark.parametrize("engine", ["auto", "memory", "stream"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_format_known_by_its_suffix(tmp_path, name, engine):
    expected = content(open_table(COLUMNS))
    assert content(open_table(written(tmp_path / name), engine=engine)) == expected


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_format_known_by_its_first_bytes(tmp_path, engine):
    expected = content(open_table(COLUMNS))
    for name in ("t.marked", "t.txt", "t"):
        assert content(open_table(written(tmp_path / name, marked=True), engine=engine)) == expected
    with pytest.raises(FileError, match=r"t.marked: not a valid marked file \(it does not begin like one\)"):
        open_table(written(tmp_path / "t.marked"))


def test_files_of_several_formats_are_one_table(tmp_path):
    (tmp_path / "0.csv").write_text("n,a\n1,x\n2,y\n")
    written(tmp_path / "1.jsonl")
    for engine in ("memory", "stream"):
        table = open_table(tmp_path, engine=engine)
        assert (table.names, table.n_rows) == (("n", "a"), 6)
        assert table.column(1).tolist() == [0, 1, 0, 1, 0, 2]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".jsonl"])
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_what_is_written_is_read(tmp_path, suffix, packing):
    path = tmp_path / f"t{suffix}{packing}"
    path.write_bytes(table_bytes(pa.table(COLUMNS), path))
    assert path.read_bytes().startswith(b"\x1f\x8b") == bool(packing)
    assert content(open_table(path)) == content(open_table(COLUMNS))


def test_what_cannot_be_written(tmp_path):
    for name in ("t.xlsx", "t", "t.csv.bz2"):
        with pytest.raises(FileError, match=r"no table format has this suffix. Known: .csv, .*\.jsonl"):
            writer_for(tmp_path / name)


def test_the_format_that_was_added_last_is_taken(tmp_path):
    """For reading by the suffix, for reading by the first bytes, and for writing."""

    class Shouted(TableFormat):
        name, suffixes, first_bytes = "shouted", (".csv", ".parquet"), (b"PAR1",)

        def read(self, file):
            return pa.table({"read": ["by", "the", "last"]})

        def write(self, table, stream):
            stream.write(b"WRITTEN")

    (tmp_path / "t").write_bytes(b"PAR1")
    formats.add(Shouted())
    assert open_table(tmp_path / "t").names == ("read",)
    assert table_bytes(pa.table(COLUMNS), tmp_path / "t.csv") == b"WRITTEN"


def test_what_is_no_format():
    class Nameless(TableFormat):
        def read(self, file): ...

    class Empty(TableFormat):
        name = "empty"

    class Unknowable(Lines):
        suffixes = ()

    for thing, told in (
        (Nameless(), "Nameless has no name"),
        (Empty(), "Empty has no method read"),
        (Unknowable(), "neither suffixes nor first_bytes"),
        (Lines, "an object of a subclass of TableFormat"),
    ):
        with pytest.raises(OptionError, match=told):
            formats.add(thing)


def test_only_the_columns_asked_for_are_in_the_batches(tmp_path):
    """By the base class as by the formats of the package."""
    for name in ("t.jsonl", "t.csv", "t.parquet", "t.arrow"):
        path = tmp_path / name
        path.write_bytes(table_bytes(pa.table(COLUMNS), path))
        file = formats.look_at(path, formats.TextOptions())
        resolved, seen = file.format.scan(file, ["n"], 3, list)
        assert [batch.schema.names for batch in seen] == [["n"]] * len(seen)
        assert np.concatenate([batch.column(0).to_numpy() for batch in seen]).tolist() == COLUMNS["n"]
        assert resolved.format.schema(resolved).names == ["a", "n"]
