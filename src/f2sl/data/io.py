"""Tables in files.

:func:`read_table` reads CSV with any delimiter, Parquet and Arrow (Feather), packed or
not, and leaves it to :func:`f2sl.data.as_table` to decide what the columns mean. What a
file holds is told by its first bytes, and by its suffix where those leave it open.

Empty cells and the usual spellings of "not available" in a CSV are missing values, in
columns of strings as well. ``None`` is not among them: it is a common name of a state.
"""

from __future__ import annotations

import io
import lzma
import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl.data._delimiter import WHITESPACE, one_space, sniff_delimiter, split_rows
from f2sl.data.names import column_names, generated_names
from f2sl.errors import DataError, F2SLError, FileError, OptionError

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_SPELLINGS = (
    *(
        "",
        "NA",
        "N/A",
        "n/a",
        "<NA>",
        "#N/A",
        "#NA",
        "#N/A N/A",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
        "NULL",
        "null",
    ),
    *("1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
"""Cells of a CSV that are missing values."""

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": "xz",
}
_PACKED_SUFFIXES = (".gz", ".bz2", ".zst", ".xz", ".lz4")
_FORMATS = {".parquet": "Parquet", ".pq": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}
_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "whitespace": WHITESPACE, "space": WHITESPACE, "comma": ","}
_SAMPLE_BYTES = 1 << 16


def read_table(
    path: str | os.PathLike[str], *, delimiter: str | None = None, header: bool = True
) -> pa.Table:
    r"""Read a file into a PyArrow table.

    Parameters
    ----------
    path : str or path
        A CSV (of any suffix), Parquet (``.parquet``, ``.pq``) or Arrow file (``.arrow``,
        ``.feather``, ``.ipc``); CSV also packed with gzip, bzip2, zstd, xz or lz4.
    delimiter : str, optional
        The character between the columns of a CSV; a space stands for any white space.
        By default it is guessed from the first lines.
    header : bool
        Whether the first line of a CSV has the names of the columns.

    Returns
    -------
    pyarrow.Table
        At least one row and one column, the names distinct.

    Raises
    ------
    FileError
        If there is no such file, or it cannot be read.
    DataError
        If it can, but holds no table; the message names the line where one is at fault.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rain.csv")
    ...     _ = path.write_text("rain;wet\nyes;1\nno;\n")
    ...     read_table(path).to_pydict()
    {'rain': ['yes', 'no'], 'wet': [1, None]}
    """
    place = Path(path)
    if delimiter is not None:
        delimiter = _DELIMITER_NAMES.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
            raise OptionError(f"delimiter takes a single character, got {delimiter!r}")
    try:
        start = _unpacked_start(place)
        table = _read(place, start, delimiter, header)
    except F2SLError:
        raise
    except FileNotFoundError:
        raise FileError(f"{place}: no such file") from None
    except IsADirectoryError:
        raise FileError(f"{place}: a directory, not a file") from None
    except PermissionError:
        raise FileError(f"{place}: no permission to read it") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(f"{place}: cannot be read ({_first_line(error)})") from None
    try:
        names = column_names(table.column_names)
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
    if not names:
        raise DataError(f"{place}: the file has no columns")
    if table.num_rows == 0:
        raise DataError(f"{place}: the file has a header and no rows")
    return table


def _read(place: Path, start: bytes, delimiter: str | None, header: bool) -> pa.Table:
    suffixes = [s.lower() for s in place.suffixes]
    if suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    kind = _FORMATS.get(suffixes[-1] if suffixes else "", "text")
    if not start:
        raise DataError(f"{place}: the file is empty")
    if start.startswith(b"PAR1"):
        return _read_arrow(place, "Parquet")
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return _read_arrow(place, "Arrow")
    if kind != "text":
        raise FileError(f"{place}: not a valid {kind} file (it does not begin like one)")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError(f"{place}: the text is encoded as UTF-16; save it as UTF-8")
    if b"\x00" in start:
        raise FileError(f"{place}: neither text nor Parquet nor Arrow")
    return _read_csv(place, start, delimiter, header)


def _packing(place: Path) -> str | None:
    """Return how a file is packed, going by its first bytes."""
    with place.open("rb") as file:
        start = file.read(6)
    found = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
    return None if found == "bz2" and not start[3:4].isdigit() else found


def _open(place: Path) -> Any:
    """Open a file for reading bytes, unpacked if it is packed."""
    import pyarrow as pa

    packing = _packing(place)
    return lzma.open(place) if packing == "xz" else pa.input_stream(str(place), compression=packing)


def _unpacked_start(place: Path) -> bytes:
    """Return the first bytes of what is in the file."""
    if place.is_dir():
        raise IsADirectoryError
    with _open(place) as stream:
        start: bytes = stream.read(_SAMPLE_BYTES)
        return start


def _read_arrow(place: Path, kind: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = None
        if _packing(place) is not None:
            with _open(place) as stream:
                content = pa.BufferReader(stream.read())
        if kind == "Parquet":
            # One file, and not a data set: a folder called year=2020 must not add a column.
            with pq.ParquetFile(content or str(place)) as file:
                return file.read()
        with content or pa.memory_map(str(place)) as source:
            try:
                return pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                return pa.ipc.open_stream(source).read_all()
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(f"{place}: not a valid {kind} file ({_first_line(error)})") from None


def _read_csv(place: Path, start: bytes, delimiter: str | None, header: bool) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    sample = start if len(start) < _SAMPLE_BYTES else start[: start.rfind(b"\n") + 1] or start
    text = sample.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise DataError(f"{place}: the file is empty")
    delimiter = delimiter or sniff_delimiter(text)
    reading = csv.ReadOptions(autogenerate_column_names=not header)
    converting = csv.ConvertOptions(null_values=list(MISSING_SPELLINGS), strings_can_be_null=True)
    failure: Exception | None = None
    # Values with line breaks in them cannot be read by several threads at once: only if need be.
    for line_breaks in (False, True):
        parsing = csv.ParseOptions(delimiter=delimiter, newlines_in_values=line_breaks)
        try:
            with _text(place, delimiter) as stream:
                table = csv.read_csv(stream, reading, parsing, converting)
            break
        except pa.ArrowInvalid as error:
            failure = error
    else:
        _explain_ragged(place, delimiter)
        raise DataError(f"{place}: not a readable CSV ({_first_line(failure)})")
    _check_encoding(place, table)
    return table if header else table.rename_columns(list(generated_names(table.num_columns)))


def _text(place: Path, delimiter: str) -> Any:
    stream = _open(place)
    if delimiter != WHITESPACE:
        return stream
    with stream:
        return io.BytesIO(one_space(stream.read()))


def _explain_ragged(place: Path, delimiter: str) -> None:
    """Raise an error that names the first line with a wrong number of columns, if there is one."""
    import csv

    with (
        _text(place, delimiter) as stream,
        io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as text,
    ):
        rows = split_rows(text, delimiter)
        try:
            expected = len(next(iter(islice(rows, 1)), (0, []))[1])
            for line, fields in rows:
                if len(fields) != expected:
                    raise DataError(
                        f"{place}: line {line} has {len(fields)} columns where {expected} are expected "
                        f"(delimiter {delimiter!r})"
                    )
        except csv.Error as error:
            raise DataError(f"{place}: not a readable CSV ({_first_line(error)})") from None


def _check_encoding(place: Path, table: pa.Table) -> None:
    """Refuse text that is not UTF-8; PyArrow hands it over as bytes without a word."""
    import pyarrow.types as pt

    advice = "save the file as UTF-8"
    try:
        names = table.column_names
    except UnicodeDecodeError as error:
        raise FileError(
            f"{place}: the header is not encoded as UTF-8 ({_first_line(error)}); {advice}"
        ) from None
    for i, name in enumerate(names):
        if pt.is_binary(table.schema.types[i]):
            raise FileError(f"{place}: the text of column {name!r} is not encoded as UTF-8; {advice}")


def _first_line(error: BaseException | None) -> str:
    """Return what a library has to say, in one line of moderate length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(" .")
