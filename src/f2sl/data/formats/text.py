r"""Text: CSV with any delimiter.

Empty cells and the usual spellings of "not available" are missing values, in columns of strings as well.
``None``, ``-`` and ``.`` are missing values among numbers, and labels among other labels: they are common
names of states.

The delimiter is found by splitting the first lines by each candidate in turn, with quotes respected. The
right one splits all of them into the same number of fields, more than one; if several do, the one with the
most fields wins. White space is tried only if nothing else fits, since it also stands inside values.

The types of the columns are those that PyArrow infers from the whole text, after missing values are removed
from columns that it reads as strings and decimal commas are replaced by points. If the text is read in parts,
the first rows usually determine the types; if a later value does not fit, all cells are read once as text,
and PyArrow infers the types from the distinct values.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.types as pt

from f2sl._constants import MISSING_SPELLINGS
from f2sl._notes import Use
from f2sl.data.column import MAX_STATES
from f2sl.data.formats.base import (
    BYTES_OF_CELL,
    MISSING_CELLS,
    REMARKS,
    SAMPLE_BYTES,
    Batches,
    DataFile,
    Result,
    TableFormat,
    first_line,
)
from f2sl.data.names import generated_names
from f2sl.data.values import TextOptions, number_of
from f2sl.errors import DataError, FileError

MISSING_NUMBERS = ("None", "-", ".")
"""Cells that are missing values in continuous columns; elsewhere they are labels."""

LABELS = "read as labels; na= makes them missing values"
COMMAS = "read with decimal commas"
Seen = defaultdict[str, set[str]]
"""Findings in the cells, by the note about them."""

COMMENTS = ("#", "%", "//")
"""Usual beginnings of lines that are comments."""

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
_WITH_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})*)(,\d+)?([eE][+-]?\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?\d{1,3}(,\d{3})+\s*$"


@dataclass(frozen=True)
class Meaning:
    """Meaning of the cells of a column.

    `plain` says that PyArrow converts them as they are, but for empty ones; `missing` that the spellings in
    `MISSING_NUMBERS` are missing values, and `comma` that numbers have decimal commas.
    """

    type: pa.DataType
    plain: bool = False
    missing: bool = False
    comma: bool = False


@dataclass(frozen=True)
class Layout:
    """Layout of a text; `sample` has its first complete lines.

    `names` are those in the header, if the sample has all of it; where several are empty, they are made up,
    and the first `skip` lines are passed over. `meanings` are those of the columns, once
    they are known; `line_breaks` says whether values may have line breaks in them. `remarks` are what there
    is to say about how it was read, each with what it is said of.
    """

    sample: bytes
    delimiter: str
    how: TextOptions
    names: tuple[str, ...] = ()
    skip: int = 0
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
        text = _changed(io.BytesIO(start), how, WHITESPACE if how.delimiter == WHITESPACE else None).read()
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
        return Layout(sample, delimiter, how, tuple(names), skip)

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
            columns.append(_meant(column, meanings[-1], file.layout.how, seen))
        remarks = _remarks(names, meanings, seen)
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
                            _meant(values, meaning, file.layout.how, seen)
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
                return _with(resolved, remarks=_remarks(called, resolved.layout.meanings, seen)), found
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
    return _changed(file.open(), file.layout.how, file.layout.delimiter)


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
    found = _TypeOfText(layout)
    found.add(values)
    return found.meaning()


def _meanings_of_all(file: DataFile, rows: int) -> tuple[Meaning, ...]:
    """Read all cells as text, and return the meaning of the distinct values together."""
    own = _own_names(file)
    columns = [_TypeOfText(file.layout) for _ in own]
    with _parser(file, rows, column_types=dict.fromkeys(own, pa.binary())) as reader:
        for batch in reader:
            for name, column, values in zip(own, columns, batch.columns, strict=True):
                try:
                    column.add(values.cast(pa.string()))
                except pa.ArrowInvalid:
                    _check_encoding(file, pa.schema({name: pa.binary()}))
                    raise
    return tuple(column.meaning() for column in columns)


class _TypeOfText:
    """Detector of the meaning of a column of text.

    It depends only on the distinct values. In a column with very many, two values represent the earlier ones.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._distinct = _strings([])
        self._has_missing = self._may_have_missing = False

    def add(self, values: Any) -> None:
        """Add more values."""
        more = pc.unique(values.drop_null())
        trimmed = pc.utf8_trim_whitespace(more)
        missing, maybe = _is_missing(trimmed, self._layout.how, False), _is_in(trimmed, MISSING_NUMBERS)
        self._has_missing |= bool(pc.any(missing).as_py())
        self._may_have_missing |= bool(pc.any(maybe).as_py())
        left = more.filter(pc.invert(pc.or_(missing, maybe)))
        self._distinct = pc.unique(pa.concat_arrays([self._distinct, left]))
        if len(self._distinct) > 2 * MAX_STATES:
            self._distinct = _STAND_INS.get(self._inferred(), _ANY_TEXT)

    def meaning(self) -> Meaning:
        """Return the meaning of all values together."""
        dtype, comma = self._inferred()
        if pt.is_string(dtype) or (pt.is_null(dtype) and self._may_have_missing):
            return Meaning(pa.string())
        plain = not (comma or self._has_missing or self._may_have_missing)
        return Meaning(dtype, plain, self._may_have_missing, comma)

    def _inferred(self) -> tuple[pa.DataType, bool]:
        """Return the type of the values that are not missing, and whether they have decimal commas."""
        if not len(self._distinct):
            return pa.null(), False
        text = io.BytesIO()
        arrow_csv.write_csv(pa.table({"values": self._distinct}), text)
        text.seek(0)
        parsing = arrow_csv.ParseOptions(newlines_in_values=True)
        dtype = arrow_csv.read_csv(text, parse_options=parsing)[0].type
        return (pa.float64(), True) if pt.is_string(dtype) and self._has_commas() else (dtype, False)

    def _has_commas(self) -> bool:
        """Return whether all values are numbers with decimal commas, not thousands separators."""
        if not pc.all(pc.match_substring_regex(self._distinct, _WITH_COMMA)).as_py():
            return False
        thousands = pc.match_substring_regex(self._distinct, _THOUSANDS)
        return self._layout.delimiter != "," or not pc.all(thousands).as_py()


def _strings(texts: Iterable[str]) -> Any:
    """Return texts as an array. (`pa.array` would import pandas where it is installed: half a second.)."""
    encoded = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(starts), pa.py_buffer(b"".join(encoded)))


_NO_TEXT = pa.nulls(1, pa.string())[0]
_ANY_TEXT = _strings(["text", "more text"])
_STAND_INS = {
    (pa.int64(), False): _strings(["0", "2"]),
    (pa.float64(), False): _strings(["0.5", "2.5"]),
    (pa.float64(), True): _strings(["0,5", "2,5"]),
    **{
        (pa.timestamp(unit, zone), False): _strings([f"2020-01-0{day} 08:30:00{end}" for day in (1, 2)])
        for unit, fraction in (("s", ""), ("ns", ".5"))
        for zone, end in ((None, fraction), ("UTC", f"{fraction}Z"))
    },
}
"""Two strings for each type, from which it is inferred; they replace the distinct values once there are
too many. Columns of other types never have so many distinct values."""


def _is_in(values: Any, spellings: Sequence[str]) -> Any:
    return pc.is_in(values, _strings(spellings))


def _is_missing(trimmed: Any, how: TextOptions, among_numbers: bool) -> Any:
    """Mark the cells that are missing values."""
    return _is_in(trimmed, (*MISSING_SPELLINGS, *how.na, *(MISSING_NUMBERS if among_numbers else ())))


def _meant(values: Any, meaning: Meaning, how: TextOptions, seen: Seen) -> Any:
    """Convert cells to their meaning; add texts read as missing values to `seen`."""
    if meaning.plain:
        if pt.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
            seen[MISSING_CELLS].add("nan")
        return _without_numbers(values, how, seen)
    trimmed = pc.utf8_trim_whitespace(values)
    missing = _is_missing(trimmed, how, meaning.missing)
    seen[MISSING_CELLS].update(pc.unique(trimmed.filter(missing)).to_pylist())
    if pt.is_string(meaning.type):
        labels = _is_in(trimmed, MISSING_NUMBERS)
        seen[LABELS].update(pc.unique(trimmed.filter(labels)).to_pylist())
        return pc.if_else(missing, _NO_TEXT, values)
    if pt.is_null(meaning.type):  # nothing but gaps
        return pa.nulls(len(values), meaning.type)
    text = pc.if_else(missing, _NO_TEXT, trimmed)
    if pt.is_time(meaning.type):  # PyArrow converts texts only if they have a date as well
        text = pc.binary_join_element_wise("1970-01-01", text, " ").cast(pa.timestamp("s"))
    if meaning.comma:
        text = pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
    return _without_numbers(text.cast(meaning.type), how, seen)


def _without_numbers(values: Any, how: TextOptions, seen: Seen) -> Any:
    """Set the numbers that the user declares as missing, in any notation."""
    is_integer = pt.is_integer(values.type)
    for text in how.na if is_integer or pt.is_floating(values.type) else ():
        number = number_of(text)
        if number is None or (is_integer and not (isinstance(number, int) and -(2**63) <= number < 2**63)):
            continue
        here = pc.equal(values, pa.scalar(number if is_integer else float(number), values.type))
        if pc.any(here).as_py():
            seen[MISSING_CELLS].add(text)
            values = pc.if_else(here, pa.nulls(1, values.type)[0], values)
    return values


def _remarks(names: Sequence[str], meanings: Sequence[Meaning], seen: Seen) -> dict[str, list[str]]:
    """Return texts read as missing values, texts not read so, and columns with decimal commas."""
    commas = [name for name, meaning in zip(names, meanings, strict=True) if meaning.comma]
    found = {**{remark: sorted(items - {""}) for remark, items in seen.items()}, COMMAS: commas}
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
        raise FileError(header, *advice) from None
    for name, dtype in zip(names, schema.types, strict=True):
        if pt.is_binary(dtype):
            text = f"{file.location}: the text of column {name!r} is not encoded as UTF-8"
            raise FileError(text, *advice, columns=[name])


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


def _changed(stream: Any, how: TextOptions, delimiter: str | None) -> Any:
    """Return a stream of text in UTF-8, without comments, and runs of white space made one if it delimits."""
    changes: list[Callable[[bytes], bytes]] = []
    if how.comment:
        comment = re.compile(rb"^[ \t]*" + re.escape(how.comment.encode()) + rb".*(\n|\Z)", re.MULTILINE)
        changes.append(lambda text: comment.sub(b"", text))
    if delimiter == WHITESPACE:
        changes.append(one_space)
    return ChangedText(stream, changes, how.encoding) if changes or how.encoding else stream


class ChangedText(io.RawIOBase):
    r"""UTF-8 text stream that is changed some lines at a time.

    Examples
    --------
    >>> ChangedText(io.BytesIO(b"a   b\n1 \t 2"), [one_space]).read()
    b'a b\n1 2'
    """

    def __init__(
        self, stream: Any, changes: Sequence[Callable[[bytes], bytes]], encoding: str | None = None
    ) -> None:
        self._stream = stream
        self._changes = changes
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding else None
        self._ready = b""
        self._rest = b""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the available text."""
        while not self._ready:
            more = self._stream.read(1 << 20)
            at_end = not more
            if self._decoder is not None:
                try:
                    more = self._decoder.decode(more, at_end).encode()
                except UnicodeError as error:
                    message = f"the text cannot be decoded ({first_line(error)}); try another "
                    raise DataError(message, Use("encoding", ...)) from None
            lines, end, self._rest = (self._rest + more).rpartition(b"\n")
            if at_end:
                lines, end, self._rest = lines + end + self._rest, b"", b""
            self._ready = lines + end
            for change in self._changes:
                self._ready = change(self._ready)
            if at_end:
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
