"""Base classes of table formats and their files, compressed (gzip, bzip2, zstd, lz4, xz, zip) or not."""

from __future__ import annotations

import gzip
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from f2sl.data.values import TextOptions
from f2sl.errors import F2SLError, FileError

SAMPLE_BYTES = 1 << 16
"""Number of bytes of a file that are read to detect its format."""

BYTES_OF_CELL = 8
"""Bytes of a cell in memory, for most types; codes, planes and temporary copies take far less."""

REMARKS = b"f2sl remarks"
"""Key of a schema's metadata under which a format stores notes on how it was read: a JSON object of lists of
items, by the text of the note."""

MISSING_CELLS = "read as missing values"
"""Note on cells that were read as missing values."""

ZIP = b"PK\x03\x04"
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": "xz",
}
_SUFFIXES = (".gz", ".bz2", ".zst", ".xz", ".lz4", ".zip")

Batches = Iterator[pa.RecordBatch]
Result = TypeVar("Result")


@dataclass(frozen=True)
class DataFile:
    """File with a table, or with rows of one.

    `packing` is how it is packed, if it is, and `layout` what its format has found out from the first bytes.
    """

    location: Path
    format: TableFormat
    packing: str | None = None
    layout: Any = None

    def open(self) -> Any:
        """Open the file for reading bytes, unpacked if it is packed."""
        if self.packing == "xz":
            return lzma.open(self.location)
        if self.packing == "zip":
            return zipfile.ZipFile(self.location).open(zip_member(self.location))
        return pa.input_stream(str(self.location), compression=self.packing)

    def content(self) -> Any:
        """Return a seekable source for PyArrow; a compressed file is unpacked to a temporary file."""
        if self.packing is None:
            return pa.memory_map(str(self.location))
        with tempfile.NamedTemporaryFile(prefix="f2sl-") as unpacked:
            with self.open() as stream:
                while piece := stream.read(1 << 20):
                    unpacked.write(piece)
            unpacked.flush()
            return pa.memory_map(unpacked.name)

    def size(self, most: int = 1 << 62) -> int:
        """Return the number of bytes of its content; if packed, counted until it is more than `most`."""
        if self.packing is None:
            return self.location.stat().st_size
        n_bytes = 0
        with self.open() as stream:
            while n_bytes <= most and (piece := stream.read(1 << 20)):
                n_bytes += len(piece)
        return n_bytes

    @property
    def suffix(self) -> str:
        """Lower-case suffix that names the format, without that of the compression."""
        return suffix_of(Path(zip_member(self.location)) if self.packing == "zip" else self.location)


class TableFormat:
    """Base of the table formats; a subclass must have `name` and :meth:`read`.

    Attributes
    ----------
    name : str
        Name of the format in messages.
    suffixes : tuple of str
        Lower-case suffixes of its files. The first is used for writing.
    first_bytes : tuple of bytes
        First bytes of its files: a file that begins with them has this format, whatever its name. If empty,
        files are recognised by their suffix.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    first_bytes: tuple[bytes, ...] = ()

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory; ``file.open()`` gives its bytes, unpacked."""
        raise NotImplementedError

    def look_at(self, location: Path, start: bytes, how: TextOptions) -> Any:
        """Detect the `layout` of a file from its first bytes, or return another file to read in its place."""
        return None

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns."""
        return self.read(file).schema

    def batches(self, file: DataFile, names: Sequence[str], rows: int) -> Batches:
        """Yield some columns, in this order, at most (or about) `rows` rows at a time."""
        for batch in self.read(file).select(list(names)).to_batches(rows):
            if len(batch):
                yield batch

    def scan(
        self, file: DataFile, names: Sequence[str], rows: int, read: Callable[[Batches], Result]
    ) -> tuple[DataFile, Result]:
        """Pass all rows to `read`; return the file with its updated layout, and the result.

        `read` may be called again from the start, if the last rows change the types of columns.
        """
        return file, read(self.batches(file, names, rows))

    def bytes_in_memory(self, file: DataFile, most: int) -> int:
        """Estimate the memory of the file's table; the estimate may stop beyond `most`."""
        return file.size(most)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table; formats without this method can only be read."""
        raise NotImplementedError

    @property
    def can_write(self) -> bool:
        """True if the format can write tables."""
        return type(self).write is not TableFormat.write


def packing_of(location: Path) -> str | None:
    """Return the compression of a file by its first bytes; None if it is not compressed."""
    with location.open("rb") as file:
        start = file.read(6)
    if start.startswith(ZIP):
        return None if is_office(location) else "zip"
    found = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
    return None if found == "bz2" and not start[3:4].isdigit() else found


def is_office(location: Path) -> bool:
    """Return whether a zip file is a workbook or another office document."""
    try:
        with zipfile.ZipFile(location) as packed:
            return bool({"[Content_Types].xml", "mimetype"} & set(packed.namelist()))
    except zipfile.BadZipFile as error:
        raise FileError(
            f"{location}: not a valid zip file ({first_line(error)})", path=str(location)
        ) from None


def zip_member(location: Path) -> str:
    """Return the name of the one file within a zip file."""
    with zipfile.ZipFile(location) as packed:
        names = [name for name in packed.namelist() if not name.endswith("/") and "__MACOSX" not in name]
    if len(names) != 1:
        raise FileError(
            f"{location}: {len(names)} files in the zip file, but one table is expected; unpack it",
            path=str(location),
        )
    return names[0]


def suffix_of(location: Path) -> str:
    """Return the lower-case suffix that names the format, before one of compression.

    Examples
    --------
    >>> suffix_of(Path("t.CSV.gz")), suffix_of(Path("t"))
    ('.csv', '')
    """
    suffixes = [suffix.lower() for suffix in location.suffixes]
    if suffixes and suffixes[-1] in _SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def packed(content: bytes, location: Path) -> bytes:
    """Compress content if the name ends in .gz; equal content gives equal bytes."""
    return gzip.compress(content, mtime=0) if location.suffix.lower() == ".gz" else content


@contextmanager
def valid(file: DataFile) -> Iterator[None]:
    """Turn PyArrow's errors about a damaged file into an error that names the file."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(
            f"{file.location}: not a valid {file.format.name} file ({first_line(error)})",
            path=str(file.location),
        ) from None


@contextmanager
def naming(location: Path) -> Iterator[None]:
    """Convert a system error about a file to an error that names the file."""
    try:
        yield
    except F2SLError:
        raise
    except FileNotFoundError:
        raise FileError(f"{location}: no such file", path=str(location)) from None
    except PermissionError:
        raise FileError(f"{location}: no permission to read it", path=str(location)) from None
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise FileError(f"{location}: cannot be read ({first_line(error)})", path=str(location)) from None


def first_line(error: BaseException | None) -> str:
    """Return the message of a library in one line of moderate length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(" .")
