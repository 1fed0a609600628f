"""Table formats, one module for each, and the registry that knows them.

A format is an object: :class:`TableFormat` says what it must have. :func:`add` registers one, from outside
the package as well:

>>> import pyarrow.json
>>> class JSONLines(TableFormat):
...     name, suffixes = "JSON lines", (".jsonl",)
...     def read(self, file):
...         with file.open() as stream:
...             return pyarrow.json.read_json(stream)
>>> add(JSONLines())
>>> [format.name for format in FORMATS]
['text', 'Parquet', 'Arrow', 'JSON lines']
>>> _ = FORMATS.pop()
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from f2sl._extensions import load_extensions
from f2sl.errors import DataError, FileError, OptionError
from f2sl.reading.formats.arrow import Arrow
from f2sl.reading.formats.base import SAMPLE_BYTES, Batches, DataFile, TableFormat, first_line, naming
from f2sl.reading.formats.packing import packed, packing_of, suffix_of
from f2sl.reading.formats.parquet import Parquet
from f2sl.reading.formats.text import MISSING_SPELLINGS, Text

__all__ = [
    "FORMATS",
    "MISSING_SPELLINGS",
    "Batches",
    "DataFile",
    "TableFormat",
    "add",
    "first_line",
    "look_at",
    "naming",
    "table_bytes",
    "writer_for",
]

TEXT = Text()
FORMATS: list[TableFormat] = [TEXT, Parquet(), Arrow()]
"""All formats; text is what is neither known by its first bytes nor by its suffix."""


def add(table_format: TableFormat) -> None:
    """Register a format; one with a suffix of another comes first.

    Raises
    ------
    OptionError
        If it is no format: names what it lacks.
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


def look_at(place: Path, delimiter: str | None = None, header: bool = True) -> DataFile:
    """Find out what a file holds: by its first bytes, and by its suffix where those leave it open."""
    packing = packing_of(place)
    found = DataFile(place, TEXT, packing)
    with found.open() as stream:
        start: bytes = stream.read(SAMPLE_BYTES)
    if not start:
        raise DataError(f"{place}: the file is empty")
    suffix = _known(suffix_of(place))
    by_suffix = next((one for one in reversed(FORMATS) if suffix in one.suffixes), TEXT)
    by_bytes = next((one for one in FORMATS if one.first_bytes and start.startswith(one.first_bytes)), None)
    if by_bytes is None and by_suffix.first_bytes:
        raise FileError(f"{place}: not a valid {by_suffix.name} file (it does not begin like one)")
    chosen = by_bytes or by_suffix
    if chosen is TEXT and b"\x00" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        others = " nor ".join(one.name for one in FORMATS if one is not TEXT)
        raise FileError(f"{place}: neither text nor {others}")
    return DataFile(place, chosen, packing, chosen.look_at(place, start, delimiter, header))


def _known(suffix: str) -> str:
    """Return a suffix, with the formats of installed packages at hand if none has it so far."""
    if suffix and not any(suffix in one.suffixes for one in FORMATS):
        load_extensions()
    return suffix


def writer_for(path: Path) -> TableFormat:
    """Find the format that a file is written in, by its suffix; one of gzip may follow it."""
    suffix = _known(suffix_of(path))
    writers = [one for one in FORMATS if one.can_write]
    if path.suffix.lower() in (suffix, ".gz"):
        for one in writers:
            if suffix in one.suffixes:
                return one
    known = ", ".join(suffix for one in writers for suffix in one.suffixes)
    raise FileError(
        f"cannot write {path}: no table format has this suffix. Known: {known}, and .gz after each of them"
    )


def table_bytes(table: pa.Table, path: Path) -> bytes:
    """Return what to write to `path`, in the format and packing of its suffix."""
    stream = pa.BufferOutputStream()
    writer_for(path).write(table, stream)
    return packed(stream.getvalue().to_pybytes(), path)
