"""Table formats, one module for each, and the registry that knows them.

A format is an object: :class:`TableFormat` says what it must have. :func:`add` registers one, from outside
the package as well:

>>> import pyarrow.orc
>>> class ORC(TableFormat):
...     name, suffixes, first_bytes = "ORC", (".orc",), (b"ORC",)
...     def read(self, file):
...         with file.content() as source:
...             return pyarrow.orc.ORCFile(source).read()
>>> add(ORC())
>>> [format.name for format in FORMATS]
['text', 'Parquet', 'Arrow', 'JSON lines', 'workbook', 'Stata', 'SPSS', 'SAS', 'SAS transport', 'ORC']
>>> _ = FORMATS.pop()
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from f2sl._extensions import load_extensions
from f2sl.data.formats.base import (
    MISSING_CELLS,
    REMARKS,
    SAMPLE_BYTES,
    Batches,
    DataFile,
    TableFormat,
    first_line,
    naming,
    packed,
    packing_of,
    suffix_of,
)
from f2sl.data.formats.by_arrow import Arrow, JSONLines, Parquet, like_json_lines
from f2sl.data.formats.programs import PROGRAMS, Workbook
from f2sl.data.formats.text import Text
from f2sl.data.values import TextOptions
from f2sl.errors import DataError, FileError, OptionError

__all__ = [
    "FORMATS",
    "MISSING_CELLS",
    "REMARKS",
    "Batches",
    "DataFile",
    "TableFormat",
    "TextOptions",
    "add",
    "first_line",
    "look_at",
    "naming",
    "table_bytes",
    "writer_for",
]

TEXT = Text()
JSON_LINES = JSONLines()
FORMATS: list[TableFormat] = [TEXT, Parquet(), Arrow(), JSON_LINES, Workbook(TEXT), *PROGRAMS]
"""All formats; a file with neither known first bytes nor a known suffix is JSON lines, or text."""

UNSUPPORTED = {
    "an R data file": ("in R, write.csv(x, file) makes a CSV of it", (".rds", ".rdata", ".rda"), b"RDX"),
    "a pickle": (
        "a pickle can run any program; save a .parquet or .csv",
        (".pkl", ".pickle"),
        b"\x80\x04\x95",
    ),
    "an HDF5 file": ("save the table as .parquet or .csv", (".h5", ".hdf5", ".hdf", ".mat"), b"\x89HDF"),
    "a Feather file of version 1": ("save it again as version 2", (), b"FEA1"),
    "a NumPy file": ("open it with numpy.load and pass the array", (".npy", ".npz"), b"\x93NUMPY"),
    "an ORC file": ("save the table as .parquet or .csv", (".orc",), b"ORC"),
    "an Avro file": ("save the table as .parquet or .csv", (".avro",), b"Obj\x01"),
    "an SQLite database": ("save the table as .parquet or .csv", (".sqlite", ".db"), b"SQLite format 3"),
    "a PDF": ("save the table as .csv", (".pdf",), b"%PDF"),
    "an HTML page": ("save the table as .csv", (".html", ".htm"), b"<!DOCTYPE html"),
    "a network or a graph": (
        "a table of samples is expected",
        (".bif", ".xdsl", ".dot", ".graphml", ".gml"),
        b"",
    ),
    "one JSON value": ("save JSON lines (.jsonl): an object for each row", (".json",), b""),
}
"""Formats that cannot be read: advice, suffixes and first bytes by name."""


def add(table_format: TableFormat) -> None:
    """Register a format; where others have its suffix or first bytes, the last to be registered is taken.

    Raises
    ------
    OptionError
        If it is not a format; the message names what is missing.
    """
    own = type(table_format)
    if not isinstance(table_format, TableFormat):
        raise OptionError(f"a table format is an object of a subclass of TableFormat, not a {own.__name__}")
    if not getattr(table_format, "name", None) or own.read is TableFormat.read:
        lacks = "method read" if own.read is TableFormat.read else "name"
        raise OptionError(f"table format: {own.__name__} has no {lacks}")
    if not table_format.suffixes and not table_format.first_bytes:
        raise OptionError(f"table format: {own.__name__} has neither suffixes nor first_bytes to be known by")
    FORMATS.append(table_format)


def look_at(location: Path, how: TextOptions) -> DataFile:
    """Return the format of a file by its first bytes, or else by its suffix."""
    if not location.is_file() and location.exists():
        raise FileError(
            f"{location}: not a regular file; a pipe can be read as the standard input: -", path=str(location)
        )
    packing = packing_of(location)
    found = DataFile(location, TEXT, packing)
    with found.open() as stream:
        start: bytes = stream.read(SAMPLE_BYTES)
    if not start:
        raise DataError(f"{location}: the file is empty")
    suffix = _known(found.suffix)
    newest = FORMATS[::-1]
    by_suffix = next((one for one in newest if suffix in one.suffixes), None)
    by_bytes = next((one for one in newest if one.first_bytes and start.startswith(one.first_bytes)), None)
    if by_bytes is None and by_suffix is not None and by_suffix.first_bytes:
        raise FileError(
            f"{location}: not a valid {by_suffix.name} file (it does not begin like one)", path=str(location)
        )
    chosen = by_bytes or by_suffix
    if chosen is None and like_json_lines(start):
        chosen = JSON_LINES
    if chosen is None:
        for what, (advice, suffixes, first_bytes) in UNSUPPORTED.items():
            if suffix in suffixes or (first_bytes and start.startswith(first_bytes)):
                raise FileError(
                    f"{location}: this is {what}, which f2sl does not read; {advice}", path=str(location)
                )
        chosen = TEXT
    of_two_bytes = how.encoding is not None or start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if chosen is TEXT and b"\x00" in start and not of_two_bytes:
        others = ", ".join(one.name for one in FORMATS if one is not TEXT)
        raise FileError(f"{location}: neither text nor any of {others}", path=str(location))
    layout = chosen.look_at(location, start, how)
    return layout if isinstance(layout, DataFile) else DataFile(location, chosen, packing, layout)


def _known(suffix: str) -> str:
    """Return a suffix, after loading formats of installed packages if it is unknown."""
    if suffix and not any(suffix in one.suffixes for one in FORMATS):
        load_extensions()
    return suffix


def writer_for(path: Path) -> TableFormat:
    """Find the format that a file is written in, by its suffix; one of gzip may follow it."""
    suffix = _known(suffix_of(path))
    writers = [one for one in FORMATS if one.can_write]
    if path.suffix.lower() in (suffix, ".gz"):
        for one in reversed(writers):
            if suffix in one.suffixes:
                return one
    known = ", ".join(suffix for one in writers for suffix in one.suffixes)
    raise FileError(
        f"cannot write {path}: no table format has this suffix. Known: {known}, and .gz after each of them",
        path=str(path),
    )


def table_bytes(table: pa.Table, path: Path) -> bytes:
    """Return the bytes to write to `path`, in the format and compression of its suffix."""
    stream = pa.BufferOutputStream()
    writer_for(path).write(table, stream)
    return packed(stream.getvalue().to_pybytes(), path)
