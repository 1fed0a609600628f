r"""Text: CSV with any delimiter.

Empty cells and the usual spellings of "not available" are missing values, in columns of strings as well.
``None`` is not among them: it is a common name of a state.

The delimiter is found by splitting the first lines by each candidate in turn, with quotes respected. The
right one splits all of them into the same number of fields, more than one; if several do, the one with the
most fields wins. White space is tried only if nothing else fits, since it also stands inside values.

The types of the columns are those that PyArrow finds in the whole text. Where the text is read in stretches,
the first rows mostly tell; where a later value does not fit, all are read as text once, and PyArrow is asked
what it makes of the distinct values.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.types as pt

from f2sl.errors import DataError, FileError
from f2sl.reading.formats.base import (
    BYTES_OF_CELL,
    SAMPLE_BYTES,
    Batches,
    DataFile,
    Result,
    TableFormat,
    first_line,
)
from f2sl.table.column import MAX_STATES
from f2sl.table.names import generated_names

MISSING_SPELLINGS = (
    *("", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "#N/A N/A", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
"""Cells that are missing values."""

CANDIDATES = (",", ";", "\t", "|")
WHITESPACE = " "
"""Stands for runs of spaces and tabs."""

SAMPLE_LINES = 50

TEXT_BYTES = 1 << 20
"""Text that is parsed at a time, unless its lines are too long for that."""

LINES_AT_ONCE = 1000
"""Lines, as long as the longest seen at the beginning, that are parsed at a time, or a batch if that is less.

Each stretch of text costs time for each column.
"""

_RUN = re.compile(rb'("[^"\n]*")|[ \t]+')
_EDGE = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)


@dataclass(frozen=True)
class Layout:
    """How a text is read; `sample` are the whole lines that it begins with.

    `types` are those of the columns, once they are known; `line_breaks` says whether values may have line
    breaks in them.
    """

    sample: bytes
    delimiter: str
    header: bool
    types: tuple[pa.DataType, ...] = ()
    line_breaks: bool = False


class Text(TableFormat):
    """Text with a row on each line and a delimiter between the columns, by PyArrow."""

    name = "text"
    suffixes = (".csv",)

    def look_at(self, place: Path, start: bytes, delimiter: str | None, header: bool) -> Layout:
        """Find out the delimiter."""
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise FileError(f"{place}: the text is encoded as UTF-16; save it as UTF-8")
        sample = start if len(start) < SAMPLE_BYTES else start[: start.rfind(b"\n") + 1] or start
        text = sample.decode("utf-8-sig", errors="replace")
        if not text.strip():
            raise DataError(f"{place}: the file is empty")
        return Layout(sample, delimiter or sniff_delimiter(text), header)

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        reading = arrow_csv.ReadOptions(autogenerate_column_names=not file.layout.header)
        failure: Exception | None = None
        # Values with line breaks in them cannot be read by several threads at once: only if need be.
        for line_breaks in (False, True):
            parsing = arrow_csv.ParseOptions(delimiter=file.layout.delimiter, newlines_in_values=line_breaks)
            try:
                with _open_text(file) as stream:
                    table = arrow_csv.read_csv(stream, reading, parsing, _converting())
                break
            except pa.ArrowInvalid as error:
                failure = error
        else:
            raise _no_csv(file, failure)
        _check_encoding(file, table.schema)
        return table.rename_columns(_called(file, table.column_names))

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns, as far as these are known."""
        try:
            with _parser(file, 1) as reader:
                found = reader.schema
        except pa.ArrowInvalid as error:
            raise _no_csv(file, error) from None
        _check_encoding(file, found)
        types = file.layout.types or found.types
        return pa.schema(zip(_called(file, found.names), types, strict=True))

    def batches(self, file: DataFile, names: Sequence[str], rows: int) -> Batches:
        """Go through some columns, in stretches of text, however many rows these hold."""
        own = _own_names(file, rows)
        place = {name: i for i, name in enumerate(_called(file, own))}
        wanted = [own[place[name]] for name in names]
        types = {own[place[name]]: file.layout.types[place[name]] for name in names}
        with _parser(file, rows, include_columns=wanted, column_types=types) as reader:
            for batch in reader:
                if len(batch):
                    yield batch.rename_columns(list(names))

    def scan(
        self, file: DataFile, names: Sequence[str], rows: int, look: Callable[[Batches], Result]
    ) -> tuple[DataFile, Result]:
        """Let `look` see all rows, with the types of the first rows, or of all if those do not fit."""
        failure: Exception | None = None
        for line_breaks in (False, True):
            for types_of in (_types_of_first, _types_of_all):
                settled = _with(file, line_breaks=line_breaks)
                try:
                    settled = _with(settled, types=types_of(settled, rows))
                    return settled, look(self.batches(settled, names, rows))
                except pa.ArrowInvalid as error:
                    failure = error
        raise _no_csv(file, failure)

    def bytes_in_memory(self, file: DataFile) -> int:
        """Go by the number of cells, and by the length of the first lines."""
        sample, lines = file.layout.sample, file.layout.sample.splitlines()
        cells_of_line = lines[0].count(file.layout.delimiter.encode()) + 1
        return int(file.size / len(sample) * len(lines) * cells_of_line * BYTES_OF_CELL)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table as CSV, with quotes only where they are needed."""
        plain = pa.table([column.cast(pa.string()) for column in table.columns], names=table.column_names)
        # PyArrow would put every name of a header in quotes.
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(table.column_names)
        stream.write(header.getvalue().encode())
        options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
        arrow_csv.write_csv(plain, stream, options)


def _with(file: DataFile, **layout: Any) -> DataFile:
    return replace(file, layout=replace(file.layout, **layout))


def _called(file: DataFile, own: Sequence[str]) -> list[str]:
    """Name the columns: as the header does, or by their numbers."""
    return list(own) if file.layout.header else list(generated_names(len(own)))


def _converting(**options: Any) -> Any:
    """Say to PyArrow which cells are missing."""
    return arrow_csv.ConvertOptions(null_values=list(MISSING_SPELLINGS), strings_can_be_null=True, **options)


def _open_text(file: DataFile) -> Any:
    """Open a file for reading; where white space separates its columns, as one space."""
    stream = file.open()
    return OneSpaced(stream) if file.layout.delimiter == WHITESPACE else stream


def _parser(file: DataFile, rows: int, **options: Any) -> Any:
    """Open a parser that gives rows in stretches of text, however many rows these hold."""
    layout = file.layout
    longest = max(map(len, layout.sample.splitlines()), default=0)
    return arrow_csv.open_csv(
        _open_text(file),
        arrow_csv.ReadOptions(
            autogenerate_column_names=not layout.header,
            block_size=max(TEXT_BYTES, min(LINES_AT_ONCE, rows) * longest),
            use_threads=True,
        ),
        arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=layout.line_breaks),
        _converting(**options),
    )


def _own_names(file: DataFile, rows: int) -> list[str]:
    with _parser(file, rows) as reader:
        return list(reader.schema.names)


def _types_of_first(file: DataFile, rows: int) -> tuple[pa.DataType, ...]:
    """Return the types that the first rows have."""
    with _parser(file, rows) as reader:
        _check_encoding(file, reader.schema)
        return tuple(reader.schema.types)


def _types_of_all(file: DataFile, rows: int) -> tuple[pa.DataType, ...]:
    """Read all as text, and return the types that the distinct values have together."""
    own = _own_names(file, rows)
    columns = [_TypeOfText() for _ in own]
    with _parser(file, rows, column_types=dict.fromkeys(own, pa.binary())) as reader:
        for batch in reader:
            for name, column, values in zip(own, columns, batch.columns, strict=True):
                try:
                    column.add(values.cast(pa.string()))
                except pa.ArrowInvalid:
                    _check_encoding(file, pa.schema({name: pa.binary()}))
                    raise
    return tuple(column.inferred() for column in columns)


class _TypeOfText:
    """The type that PyArrow finds for a column of text.

    It depends on nothing but which values there are. Of a column with very many, each batch is asked for the
    type that it has beside two values that stand for those before.
    """

    def __init__(self) -> None:
        self._distinct = pa.array([], pa.string())

    def add(self, values: pa.Array) -> None:
        """Take account of some more values."""
        self._distinct = pc.unique(pa.concat_arrays([self._distinct, values.drop_null()]))
        if len(self._distinct) > 2 * MAX_STATES:
            self._distinct = _STAND_INS.get(self.inferred(), _ANY_TEXT)

    def inferred(self) -> pa.DataType:
        """Return the type of all values together."""
        if not len(self._distinct):
            return pa.null()
        text = io.BytesIO()
        arrow_csv.write_csv(pa.table({"values": self._distinct}), text)
        text.seek(0)
        parsing = arrow_csv.ParseOptions(newlines_in_values=True)
        return arrow_csv.read_csv(text, parse_options=parsing, convert_options=_converting())[0].type


_ANY_TEXT = pa.array(["text", "more text"])
_STAND_INS = {pa.int64(): pa.array(["0", "2"]), pa.float64(): pa.array(["0.5", "2.5"])}
"""Two strings for each type, from which PyArrow infers it; they replace the distinct values once there are
too many. Columns of other types never have so many distinct values."""


def _no_csv(file: DataFile, failure: BaseException | None) -> DataError:
    """Make the error for a text that is no CSV; it names the first line with a wrong number of columns."""
    delimiter = file.layout.delimiter
    with _open_text(file) as stream, io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as text:
        rows = split_rows(text, delimiter)
        try:
            expected = len(next(iter(islice(rows, 1)), (0, []))[1])
            for line, fields in rows:
                if len(fields) != expected:
                    return DataError(
                        f"{file.place}: line {line} has {len(fields)} columns where {expected} are expected "
                        f"(delimiter {delimiter!r})"
                    )
        except csv.Error as error:
            return DataError(f"{file.place}: not a readable CSV ({first_line(error)})")
    return DataError(f"{file.place}: not a readable CSV ({first_line(failure)})")


def _check_encoding(file: DataFile, schema: pa.Schema) -> None:
    """Refuse text that is not UTF-8; PyArrow hands it over as bytes without a word."""
    advice = "save the file as UTF-8"
    try:
        names = schema.names
    except UnicodeDecodeError as error:
        raise FileError(
            f"{file.place}: the header is not encoded as UTF-8 ({first_line(error)}); {advice}"
        ) from None
    for name, dtype in zip(names, schema.types, strict=True):
        if pt.is_binary(dtype):
            raise FileError(f"{file.place}: the text of column {name!r} is not encoded as UTF-8; {advice}")


def sniff_delimiter(text: str) -> str:
    r"""Guess the delimiter from the first lines of a file.

    Examples
    --------
    >>> sniff_delimiter("a;b\n1,5;2,5\n"), sniff_delimiter("a  b\n1  2\n"), sniff_delimiter("a\n1\n")
    (';', ' ', ',')
    """
    best, most = ",", 1
    for candidate in CANDIDATES:
        counts = _field_counts(text, candidate)
        if len(set(counts)) == 1 and counts[0] > most:
            best, most = candidate, counts[0]
    if most > 1:
        return best
    # A ragged file: go by its first line, so that the error can name the line at fault.
    first = {candidate: (_field_counts(text, candidate) or [1])[0] for candidate in CANDIDATES}
    widest = max(first, key=first.__getitem__)
    if first[widest] > 1:
        return widest
    counts = _field_counts(one_space(text.encode()).decode(), WHITESPACE)
    return WHITESPACE if len(set(counts)) == 1 and counts[0] > 1 else ","


def split_rows(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row that is not blank, with the number of the line it starts on."""
    reader = csv.reader(lines, delimiter=delimiter)
    start = 1
    for fields in reader:
        if fields:
            yield start, fields
        start = reader.line_num + 1


def one_space(text: bytes) -> bytes:
    r"""Replace each run of white space outside quotes by one space.

    Examples
    --------
    >>> one_space(b'  a \t b\n"x  y"  1  \n')
    b'a b\n"x  y" 1\n'
    """
    return _RUN.sub(lambda match: match.group(1) or b" ", _EDGE.sub(b"", text))


class OneSpaced(io.RawIOBase):
    r"""A stream of text with each run of white space replaced by one space, a stretch of lines at a time.

    Examples
    --------
    >>> OneSpaced(io.BytesIO(b"a   b\n1 \t 2")).read()
    b'a b\n1 2'
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._ready = b""
        self._rest = b""

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there is text at hand."""
        while not self._ready:
            more = self._stream.read(1 << 20)
            lines, end, self._rest = (self._rest + more).rpartition(b"\n")
            if not more:
                lines, end, self._rest = lines + end + self._rest, b"", b""
            self._ready = one_space(lines) + end
            if not more:
                break
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def close(self) -> None:
        """Close the stream beneath as well."""
        self._stream.close()
        super().close()


def _field_counts(text: str, delimiter: str) -> list[int]:
    counts = []
    try:
        for _, fields in split_rows(iter(text.splitlines(keepends=True)), delimiter):
            counts.append(len(fields))
            if len(counts) == SAMPLE_LINES:
                break
    except csv.Error:
        return []
    return counts
