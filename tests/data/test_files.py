"""Tables in files: what can be read, and how it fails."""

import bz2
import gzip
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from f2sl import DataError, FileError, OptionError, open_table
from f2sl.data.files import data_files, read_files
from f2sl.data.formats import TextOptions
from f2sl.data.formats.sniff import sniff_delimiter

TABLE = pa.table({"name": ["x y", "z", "x y"], "n": [1, 2, 3]})
CSV = 'name,n\n"x y",1\nz,2\n"x y",3\n'


def read_table(path, **options):
    table, _ = read_files(data_files(path, TextOptions(**options)))
    return table.replace_schema_metadata()


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path, error=DataError, **options):
    with pytest.raises(error) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


class TestDelimiter:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "data"])
    def test_is_found_whatever_the_suffix(self, tmp_path, delimiter, suffix):
        path = written(tmp_path, f"t.{suffix}", CSV.replace(",", delimiter))
        assert read_table(path).equals(TABLE)
        assert read_table(path, delimiter=delimiter).equals(TABLE)

    def test_runs_of_white_space(self, tmp_path):
        path = written(tmp_path, "t.txt", '  name   n\n "x y" \t 1\n z  2  \n"x y" 3\n')
        assert read_table(path).equals(TABLE)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a,b\n1,2\n", ","),
            ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
            ('"a,b";c\n"1,2";3\n', ";"),
            ("first name,last name\nx y,z w\n", ","),
            ("one column\n", " "),
            ("a\n1\n2\n", ","),
            ("a,b\n1,2\n3\n", ","),
            # Two fields by a comma, two by a semicolon: the candidate that is listed first.
            ("a,b;c\n1,2;3\n", ","),
            ("a|b;c\n1|2;3\n", ";"),
        ],
    )
    def test_is_guessed_from_the_text(self, text, expected):
        assert sniff_delimiter(text) == expected

    def test_may_be_named(self, tmp_path):
        path = written(tmp_path, "t.csv", CSV.replace(",", "\t"))
        assert open_table(path, delimiter="tab").states == (("x y", "z"), (1, 2, 3))

    def test_any_other_character(self, tmp_path):
        assert read_table(written(tmp_path, "t.csv", CSV.replace(",", "#")), delimiter="#").equals(TABLE)

    @pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
    def test_that_is_none(self, tmp_path, delimiter):
        with pytest.raises(OptionError, match="delimiter takes a single character"):
            open_table(written(tmp_path, "t.csv", CSV), delimiter=delimiter)


class TestText:
    def test_missing_values(self, tmp_path):
        path = written(tmp_path, "t.csv", 's,i\nNA,1\n"",NaN\nNone,\nx,null\n')
        assert read_table(path).to_pydict() == {"s": [None, None, "None", "x"], "i": [1, None, None, None]}

    def test_booleans(self, tmp_path):
        path = written(tmp_path, "t.csv", "a,b\ntrue,1\nfalse,0\n")
        assert open_table(path).states == ((False, True), (0, 1))

    def test_byte_order_mark_and_windows_line_ends(self, tmp_path):
        path = written(tmp_path, "t.csv", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())
        assert read_table(path).equals(TABLE)

    def test_without_header(self, tmp_path):
        path = written(tmp_path, "t.csv", "1,2\n3,4\n")
        assert read_table(path, header=False).to_pydict() == {"x0": [1, 3], "x1": [2, 4]}
        wide = written(tmp_path, "w.csv", ",".join("1" * 11) + "\n")
        assert read_table(wide, header=False).column_names[-2:] == ["x09", "x10"]

    def test_line_breaks_in_values_across_blocks(self, tmp_path):
        row = '"' + "line\n" * 40 + '",1\n'
        path = written(tmp_path, "t.csv", "a,b\n" + row * 12_000)
        table = read_table(path)
        assert table.num_rows == 12_000
        assert set(table["a"].to_pylist()) == {"line\n" * 40}

    def test_packed(self, tmp_path):
        raw = CSV.encode()
        packed = {
            "gz": gzip.compress(raw),
            "bz2": bz2.compress(raw),
            "xz": lzma.compress(raw),
            "zst": pa.compress(raw, codec="zstd", asbytes=True),
        }
        with pa.output_stream(str(tmp_path / "t.csv.lz4"), compression="lz4") as stream:
            stream.write(raw)
        packed["lz4"] = (tmp_path / "t.csv.lz4").read_bytes()
        for suffix, content in packed.items():
            assert read_table(written(tmp_path, f"t.csv.{suffix}", content)).equals(TABLE), suffix
            assert read_table(written(tmp_path, f"t-{suffix}", content)).equals(TABLE), suffix


class TestBinary:
    def test_parquet(self, tmp_path):
        for name in ("t.parquet", "t.pq", "year=2020.bin"):
            pyarrow.parquet.write_table(TABLE, tmp_path / name)
            assert read_table(tmp_path / name).equals(TABLE)

    def test_arrow_file_and_stream(self, tmp_path):
        for name in ("t.arrow", "t.ipc", "t.feather", "t"):
            for opened in (pa.ipc.new_file, pa.ipc.new_stream):
                with opened(str(tmp_path / name), TABLE.schema) as writer:
                    writer.write_table(TABLE)
                assert read_table(tmp_path / name).equals(TABLE)
        pyarrow.feather.write_feather(TABLE, str(tmp_path / "t.feather"))
        assert read_table(tmp_path / "t.feather").equals(TABLE)

    def test_declared_categories_survive_parquet(self, tmp_path):
        table = pa.table({"c": pa.DictionaryArray.from_arrays([1, 1], ["z", "b", "a"])})
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        assert open_table(tmp_path / "t.parquet").cardinalities.tolist() == [3]


class TestRefused:
    def test_no_such_file(self, tmp_path):
        assert refusal(tmp_path / "none.csv", FileError) == "no such file"

    def test_a_folder_without_files(self, tmp_path):
        (tmp_path / ".hidden").touch()
        assert refusal(tmp_path, FileError) == "the folder holds no files"

    def test_no_permission(self, tmp_path, monkeypatch):
        path = written(tmp_path, "t.csv", CSV)

        def denied(*_args, **_kwargs):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", denied)
        assert refusal(path, FileError) == "no permission to read it"

    @pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
    def test_empty(self, tmp_path, name):
        assert refusal(written(tmp_path, name, "")) == "the file is empty"

    def test_blank(self, tmp_path):
        assert refusal(written(tmp_path, "t.csv", "\n \n")) == "the file is empty"

    def test_header_only(self, tmp_path):
        assert refusal(written(tmp_path, "t.csv", "a,b\n")) == "the file has a header but no rows"

    def test_ragged(self, tmp_path):
        path = written(tmp_path, "t.csv", 'a,b\n1,"x\ny"\n\n1,2\n1,2,3\n1,2\n')
        assert refusal(path) == "line 6 has 3 columns, but 2 are expected (delimiter ',')"
        path = written(tmp_path, "short.csv", "a;b;c\n1;2;3\n1;2\n")
        assert refusal(path) == "line 3 has 2 columns, but 3 are expected (delimiter ';')"

    def test_ragged_for_comments(self, tmp_path):
        for text, mark in (("# made by hand\na,b\n1,2\n", "#"), ("a,b\n1,2\n% end\n", "%")):
            path = written(tmp_path, "t.csv", text)
            assert refusal(path).endswith(f'; comment="{mark}" skips lines that begin so')
            assert open_table(path, comment=mark).names == ("a", "b")

    def test_ragged_packed(self, tmp_path):
        path = written(tmp_path, "t.csv.gz", gzip.compress(b"a,b\n1,2\n3\n"))
        assert "line 3 has 1 columns, but 2" in refusal(path)

    def test_ragged_white_space(self, tmp_path):
        path = written(tmp_path, "t.txt", "a b\n1 2\n3\n")
        assert "line 3 has 1 columns, but 2" in refusal(path, delimiter=" ")

    def test_repeated_names(self, tmp_path):
        assert "'a' occurs 2 times" in refusal(written(tmp_path, "t.csv", "a,b,a\n1,2,3\n"))

    def test_a_column_without_a_name(self, tmp_path):
        assert read_table(written(tmp_path, "t.csv", "a,, b \n1,2,3\n")).column_names == [
            "a",
            "column 2",
            "b",
        ]

    def test_other_encodings(self, tmp_path):
        message = refusal(written(tmp_path, "t.csv", "a,b\n1,café\n".encode("latin-1")), FileError)
        assert message.startswith("the text of column 'b' is not encoded as UTF-8; try encoding=")
        message = refusal(written(tmp_path, "t.csv", "a,café\n1,2\n".encode("latin-1")), FileError)
        assert "the header is not encoded as UTF-8" in message

    def test_bytes_that_are_no_text(self, tmp_path):
        assert "neither text" in refusal(written(tmp_path, "t.bin", b"\x01\x00\x02\x00"), FileError)

    def test_corrupt_parquet(self, tmp_path):
        pyarrow.parquet.write_table(TABLE, tmp_path / "t.parquet")
        content = (tmp_path / "t.parquet").read_bytes()
        for broken in (content[:-20], b"PAR1", content[:4] + b"\x00" * 100 + content[-8:], CSV.encode()):
            assert "not a valid Parquet file" in refusal(written(tmp_path, "t.parquet", broken), FileError)

    def test_corrupt_arrow(self, tmp_path):
        for broken in (b"ARROW1\x00\x00", b"\xff\xff\xff\xff\x10\x00", b"nonsense"):
            assert "not a valid Arrow file" in refusal(written(tmp_path, "t.arrow", broken), FileError)

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_corrupt_packing(self, tmp_path, pack):
        content = pack(CSV.encode() * 1000)
        assert "cannot be read" in refusal(
            written(tmp_path, "t.csv.x", content[: len(content) // 2]), FileError
        )
