"""Text: CSV with any delimiter, in three steps: how it is laid out, what its cells mean, and its rows.

If the text is read in parts, the first rows usually determine the types of the columns; if a later value does
not fit, all cells are read once as text, and PyArrow infers the types from the distinct values.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.types as pt

from f2sl._notes import Use
from f2sl.data.formats.base import (
    BYTES_OF_CELL,
    REMARKS,
    SAMPLE_BYTES,
    Batches,
    DataFile,
    Result,
    TableFormat,
    first_line,
)
from f2sl.data.formats.cells import Meaning, Seen, TypeOfText, meant
from f2sl.data.formats.sniff import WHITESPACE, changed, one_space, sniff_delimiter, split_rows
from f2sl.data.names import generated_names
from f2sl.data.values import TextOptions
from f2sl.errors import DataError, FileError

COMMAS = "read with decimal commas"
ZEROS = "read as integers, although leading zeros are usual in codes"
_LEADING_ZERO = re.compile(r"(?<![\w./:+-])0\d\d+(?![\w./:+-])")
"""A number of three or more digits, as months and days are not, that begins with a zero."""

COMMENTS = ("#", "%", "//")
"""Usual beginnings of lines that are comments."""

TEXT_BYTES = 1 << 20
"""Text that is parsed at a time, unless its lines are too long for that."""

LINES_AT_ONCE = 1000
"""Lines, as long as the longest seen at the beginning, that are parsed at a time, or a batch if that is less.

Each stretch of text costs time for each column.
"""


@dataclass(frozen=True)
class Layout:
    """Layout of a text; `sample` has its first complete lines.

    `names` are those in the header, if the sample has all of it; where several are empty, they are made up,
    and the first `skip` lines are passed over. `padded` are the positions of columns with leading zeros in
    the sample. `meanings` are those of the columns, once they are known; `line_breaks` says whether values
    may have line breaks in them. `remarks` are what there is to say about how it was read, each with what it
    is said of.
    """

    sample: bytes
    delimiter: str
    how: TextOptions
    names: tuple[str, ...] = ()
    skip: int = 0
    padded: frozenset[int] = frozenset()
    meanings: tuple[Meaning, ...] = ()
    line_breaks: bool = False
    remarks: dict[str, list[str]] | None = None


class Text(TableFormat):
    """Text with a row on each line and a delimiter between the columns, by PyArrow."""

    name = "text"
    suffixes = (".csv",)

    def look_at(self, location: Path, start: bytes, how: TextOptions) -> Layout:
        """Find out encoding, delimiter and names."""
        if how.encoding is None and start.startswith((b"\xff\xfe", b"\xfe\xff")):
            how = replace(how, encoding="utf-16")
        whole = len(start) < SAMPLE_BYTES
        text = changed(io.BytesIO(start), how, WHITESPACE if how.delimiter == WHITESPACE else None).read()
        sample = text if whole else text[: text.rfind(b"\n") + 1] or text
        decoded = sample.decode("utf-8-sig", errors="replace")
        if not decoded.strip():
            raise DataError(f"{location}: the file is empty")
        delimiter = how.delimiter or sniff_delimiter(decoded)
        if delimiter == WHITESPACE:
            decoded = one_space(decoded.encode()).decode()
        lines = decoded.splitlines(keepends=True)
        names: list[str] = []
        skip = 0
        if (whole or b"\n" in sample) and "\ufffd" not in lines[0]:
            rows = split_rows(iter(lines), delimiter)
            names = next(rows, (0, []))[1]
            if how.header and sum(not name.strip() for name in names) > 1:
                names = [name if name.strip() else f"column {i}" for i, name in enumerate(names, 1)]
                skip = next(rows, (len(lines) + 1, []))[0] - 1
        if not how.header:
            names = [f"f{i}" for i in range(len(names))]
        return Layout(sample, delimiter, how, tuple(names), skip, _padded(lines, delimiter))

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        reading = arrow_csv.ReadOptions(**_naming(file.layout))
        failure: Exception | None = None
        # Values with line breaks in them cannot be read by several threads at once: only if need be.
        for line_breaks in (False, True):
            parsing = arrow_csv.ParseOptions(delimiter=file.layout.delimiter, newlines_in_values=line_breaks)
            try:
                with _open_text(file) as stream:
                    table = arrow_csv.read_csv(stream, reading, parsing, _converting(file))
                break
            except pa.ArrowInvalid as error:
                failure = error
        else:
            raise _no_csv(file, failure)
        _check_encoding(file, table.schema)
        names, seen, columns, meanings = _called(file, table.column_names), Seen(set), [], []
        for column in table.columns:
            meanings.append(_meaning_of(file.layout, column))
            columns.append(meant(column, meanings[-1], file.layout.how, seen))
        remarks = _remarks(names, file.layout, meanings, seen)
        return pa.table(columns, names=names).replace_schema_metadata({REMARKS: json.dumps(remarks)})

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns; types are placeholders before rows are read."""
        layout = file.layout
        names = _called(file, _own_names(file))
        types = [meaning.type for meaning in layout.meanings] or [pa.null()] * len(names)
        return pa.schema(zip(names, types, strict=True), {REMARKS: json.dumps(layout.remarks or {})})

    def batches(self, file: DataFile, names: Sequence[str], rows: int, seen: Seen | None = None) -> Batches:
        """Yield some columns, in pieces of text with any number of rows."""
        own = _own_names(file)
        location = {name: i for i, name in enumerate(_called(file, own))}
        wanted = [own[location[name]] for name in names]
        meanings = [file.layout.meanings[location[name]] for name in names]
        types = {
            name: meaning.type if meaning.plain else pa.string()
            for name, meaning in zip(wanted, meanings, strict=True)
        }
        seen = Seen(set) if seen is None else seen
        with _parser(file, rows, include_columns=wanted, column_types=types) as reader:
            for batch in reader:
                if len(batch):
                    yield pa.record_batch(
                        [
                            meant(values, meaning, file.layout.how, seen)
                            for values, meaning in zip(batch.columns, meanings, strict=True)
                        ],
                        names=list(names),
                    )

    def scan(
        self, file: DataFile, names: Sequence[str], rows: int, read: Callable[[Batches], Result]
    ) -> tuple[DataFile, Result]:
        """Pass all rows to `read`, with the types of the first rows, or of all rows if those do not fit."""
        failure: Exception | None = None
        for line_breaks in (False, True):
            for meanings_of in (_meanings_of_first, _meanings_of_all):
                resolved = _with(file, line_breaks=line_breaks)
                seen = Seen(set)
                try:
                    resolved = _with(resolved, meanings=meanings_of(resolved, rows))
                    found = read(self.batches(resolved, names, rows, seen))
                except pa.ArrowInvalid as error:
                    failure = error
                    continue
                called = _called(file, _own_names(file))
                layout = resolved.layout
                return _with(resolved, remarks=_remarks(called, layout, layout.meanings, seen)), found
        raise _no_csv(file, failure)

    def bytes_in_memory(self, file: DataFile, most: int) -> int:
        """Estimate the memory from the number of cells and the length of the first lines."""
        sample, lines = file.layout.sample, file.layout.sample.splitlines()
        cells_of_line = lines[0].count(file.layout.delimiter.encode()) + 1
        bytes_of_text = len(lines) * cells_of_line * BYTES_OF_CELL / len(sample)
        return int(file.size(int(most / bytes_of_text) + 1) * bytes_of_text)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table as CSV, with labels in quotes."""
        columns = [
            column.cast(pa.string()) if pt.is_dictionary(column.type) else column for column in table.columns
        ]
        # PyArrow would put every name of a header in quotes.
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(table.column_names)
        stream.write(header.getvalue().encode())
        options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
        arrow_csv.write_csv(pa.table(columns, names=table.column_names), stream, options)


def _with(file: DataFile, **layout: Any) -> DataFile:
    return replace(file, layout=replace(file.layout, **layout))


def _naming(layout: Layout) -> dict[str, Any]:
    """Return PyArrow's options on the names."""
    if layout.skip:
        return {"column_names": list(layout.names), "skip_rows": layout.skip}
    return {"autogenerate_column_names": not layout.how.header}


def _called(file: DataFile, own: Sequence[str]) -> list[str]:
    """Name the columns: as the header does, or by their numbers."""
    return list(own) if file.layout.how.header else list(generated_names(len(own)))


def _own_names(file: DataFile) -> list[str]:
    """Return PyArrow's names of the columns."""
    if file.layout.names:
        return list(file.layout.names)
    try:
        with _parser(file, 1) as reader:
            _check_encoding(file, reader.schema)
            return list(reader.schema.names)
    except pa.ArrowInvalid as error:
        raise _no_csv(file, error) from None


def _converting(file: DataFile, **options: Any) -> Any:
    """Return PyArrow's options on cells that are always missing."""
    return arrow_csv.ConvertOptions(null_values=[""], strings_can_be_null=True, **options)


def _open_text(file: DataFile) -> Any:
    """Open a file for reading, as UTF-8; where white space separates its columns, as one space."""
    return changed(file.open(), file.layout.how, file.layout.delimiter)


def _parser(file: DataFile, rows: int, **options: Any) -> Any:
    """Open a parser that gives rows in stretches of text, however many rows these hold."""
    layout = file.layout
    longest = max(map(len, layout.sample.splitlines()), default=0)
    return arrow_csv.open_csv(
        _open_text(file),
        arrow_csv.ReadOptions(
            **_naming(layout),
            block_size=max(TEXT_BYTES, min(LINES_AT_ONCE, rows) * longest),
            use_threads=True,
        ),
        arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=layout.line_breaks),
        _converting(file, **options),
    )


def _meanings_of_first(file: DataFile, rows: int) -> tuple[Meaning, ...]:
    """Return the meaning of each column in the first rows."""
    with _parser(file, rows) as reader:
        _check_encoding(file, reader.schema)
        batch = next(iter(reader), None)
        columns = [pa.nulls(0, dtype) for dtype in reader.schema.types] if batch is None else batch.columns
        return tuple(_meaning_of(file.layout, values) for values in columns)


def _meaning_of(layout: Layout, values: Any) -> Meaning:
    if not pt.is_string(values.type):
        return Meaning(values.type, plain=True)
    found = TypeOfText(layout.delimiter, layout.how)
    found.add(values)
    return found.meaning()


def _meanings_of_all(file: DataFile, rows: int) -> tuple[Meaning, ...]:
    """Read all cells as text, and return the meaning of the distinct values together."""
    own = _own_names(file)
    columns = [TypeOfText(file.layout.delimiter, file.layout.how) for _ in own]
    with _parser(file, rows, column_types=dict.fromkeys(own, pa.binary())) as reader:
        for batch in reader:
            for name, column, values in zip(own, columns, batch.columns, strict=True):
                try:
                    column.add(values.cast(pa.string()))
                except pa.ArrowInvalid:
                    _check_encoding(file, pa.schema({name: pa.binary()}))
                    raise
    return tuple(column.meaning() for column in columns)


def _padded(lines: Sequence[str], delimiter: str) -> frozenset[int]:
    r"""Return the positions of columns that have a number with a leading zero in some lines.

    Examples
    --------
    >>> sorted(_padded(["zip,day\n", "01234,2020-01-01\n", "99501,2020-01-02\n"], ","))
    [0]
    """
    found: set[int] = set()
    with suppress(csv.Error):  # reported when the rows are read
        for _, fields in split_rows((line for line in lines if _LEADING_ZERO.search(line)), delimiter):
            found.update(i for i, text in enumerate(fields) if _LEADING_ZERO.fullmatch(text.strip()))
    return frozenset(found)


def _remarks(
    names: Sequence[str], layout: Layout, meanings: Sequence[Meaning], seen: Seen
) -> dict[str, list[str]]:
    """Return texts read as missing values, texts not read so, and columns with decimal commas or zeros."""
    commas = [name for name, meaning in zip(names, meanings, strict=True) if meaning.comma]
    codes = [names[i] for i in layout.padded if i < len(names) and pt.is_integer(meanings[i].type)]
    found = {
        **{remark: sorted(items - {""}) for remark, items in seen.items()},
        COMMAS: commas,
        ZEROS: sorted(codes),
    }
    return {remark: items for remark, items in found.items() if items}


def _no_csv(file: DataFile, failure: BaseException | None) -> DataError:
    """Return the error for a text that is not CSV; it names the first line with a wrong number of columns."""
    delimiter = file.layout.delimiter
    with _open_text(file) as stream, io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as text:
        rows = split_rows(text, delimiter)
        try:
            first = next(iter(islice(rows, 1)), (0, []))[1]
            for line, fields in rows:
                if len(fields) != len(first):
                    marks = [mark for mark in COMMENTS for row in (first, fields) if row[0].startswith(mark)]
                    skip = ("; ", Use("comment", marks[0]), " skips lines that begin so") if marks else ()
                    return DataError(
                        f"{file.location}: line {line} has {len(fields)} columns, but {len(first)} are "
                        "expected "
                        f"(delimiter {delimiter!r})",
                        *skip,
                    )
        except csv.Error as error:
            return DataError(f"{file.location}: not a readable CSV ({first_line(error)})")
    return DataError(f"{file.location}: not a readable CSV ({first_line(failure)})")


def _check_encoding(file: DataFile, schema: pa.Schema) -> None:
    """Raise an error for text that is not UTF-8, which PyArrow silently returns as bytes."""
    advice = "; try ", Use("encoding", "latin-1"), ", or save the file as UTF-8"
    try:
        names = schema.names
    except UnicodeDecodeError as error:
        header = f"{file.location}: the header is not encoded as UTF-8 ({first_line(error)})"
        raise FileError(header, *advice, path=str(file.location)) from None
    for name, dtype in zip(names, schema.types, strict=True):
        if pt.is_binary(dtype):
            text = f"{file.location}: the text of column {name!r} is not encoded as UTF-8"
            raise FileError(text, *advice, columns=[name], path=str(file.location))
