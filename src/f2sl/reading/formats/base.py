"""What a table format is, and what a file of one is, packed or not: gzip, bzip2, zstd, lz4, xz or zip."""

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

from f2sl.errors import F2SLError, FileError
from f2sl.reading.values import TextOptions

SAMPLE_BYTES = 1 << 16
"""How much of a file is looked at to find out what it holds."""

BYTES_OF_CELL = 8
"""What a cell takes in memory, in most types; its code, the planes and copies in between are far less."""

REMARKS = b"f2sl remarks"
"""Under this key of a schema's metadata a format keeps what a user should know about how it was read: a JSON
object of lists, each by what is to be said of its items."""

GAPS = "read as missing values"
"""The remark that names the cells of which this is true."""

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
    """A file that holds a table, or rows of one.

    `packing` is how it is packed, if it is, and `layout` what its format has found out from the first bytes.
    """

    place: Path
    format: TableFormat
    packing: str | None = None
    layout: Any = None

    def open(self) -> Any:
        """Open the file for reading bytes, unpacked if it is packed."""
        if self.packing == "xz":
            return lzma.open(self.place)
        if self.packing == "zip":
            return zipfile.ZipFile(self.place).open(zip_member(self.place))
        return pa.input_stream(str(self.place), compression=self.packing)

    def content(self) -> Any:
        """Return a source that PyArrow can read from any place; what is packed goes to a temporary file."""
        if self.packing is None:
            return pa.memory_map(str(self.place))
        with tempfile.NamedTemporaryFile(prefix="f2sl-") as unpacked:
            with self.open() as stream:
                while piece := stream.read(1 << 20):
                    unpacked.write(piece)
            unpacked.flush()
            return pa.memory_map(unpacked.name)

    def size(self, most: int = 1 << 62) -> int:
        """Return the number of bytes of its content; if packed, counted until it is more than `most`."""
        if self.packing is None:
            return self.place.stat().st_size
        n_bytes = 0
        with self.open() as stream:
            while n_bytes <= most and (piece := stream.read(1 << 20)):
                n_bytes += len(piece)
        return n_bytes

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, in small letters: that before one of packing."""
        return suffix_of(Path(zip_member(self.place)) if self.packing == "zip" else self.place)


class TableFormat:
    """Base of the table formats; a subclass must have `name` and :meth:`read`.

    Attributes
    ----------
    name : str
        What messages call the format.
    suffixes : tuple of str
        How the names of its files end, in small letters. The first is that of files that are written.
    first_bytes : tuple of bytes
        How its files begin; a file that begins so is of this format whatever its name. Without them, files
        are known by their suffix.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    first_bytes: tuple[bytes, ...] = ()

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory; ``file.open()`` gives its bytes, unpacked."""
        raise NotImplementedError

    def look_at(self, place: Path, start: bytes, how: TextOptions) -> Any:
        """Find out from the first bytes what reading will need to know of a file: its `layout`."""
        return None

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns."""
        return self.read(file).schema

    def batches(self, file: DataFile, names: Sequence[str], rows: int) -> Batches:
        """Go through some columns, in this order, at most `rows` rows at a time, or about so many."""
        for batch in self.read(file).select(list(names)).to_batches(rows):
            if len(batch):
                yield batch

    def scan(
        self, file: DataFile, names: Sequence[str], rows: int, look: Callable[[Batches], Result]
    ) -> tuple[DataFile, Result]:
        """Let `look` see all rows; return the file, with what is known of it now, and what was found.

        `look` may have to begin again, where the types of columns show in the last rows only.
        """
        return file, look(self.batches(file, names, rows))

    def bytes_in_memory(self, file: DataFile, most: int) -> int:
        """Guess how much memory the file's table would take; beyond `most` nothing more needs to be known."""
        return file.size(most)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table; formats without this method are for reading alone."""
        raise NotImplementedError

    @property
    def can_write(self) -> bool:
        """Whether there is a method to write tables."""
        return type(self).write is not TableFormat.write


def packing_of(place: Path) -> str | None:
    """Tell how a file is packed, going by its first bytes; None if it is not."""
    with place.open("rb") as file:
        start = file.read(6)
    if start.startswith(ZIP):
        return None if is_office(place) else "zip"
    found = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
    return None if found == "bz2" and not start[3:4].isdigit() else found


def is_office(place: Path) -> bool:
    """Tell whether a zip file is a workbook or another document of an office program."""
    try:
        with zipfile.ZipFile(place) as packed:
            return bool({"[Content_Types].xml", "mimetype"} & set(packed.namelist()))
    except zipfile.BadZipFile as error:
        raise FileError(f"{place}: not a valid zip file ({first_line(error)})") from None


def zip_member(place: Path) -> str:
    """Return the name of the one file within a zip file."""
    with zipfile.ZipFile(place) as packed:
        names = [name for name in packed.namelist() if not name.endswith("/") and "__MACOSX" not in name]
    if len(names) != 1:
        raise FileError(
            f"{place}: {len(names)} files in the zip file, where one table is expected; unpack it"
        )
    return names[0]


def suffix_of(place: Path) -> str:
    """Return the suffix that tells the format, in small letters: that before one of packing.

    Examples
    --------
    >>> suffix_of(Path("t.CSV.gz")), suffix_of(Path("t"))
    ('.csv', '')
    """
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes and suffixes[-1] in _SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def packed(content: bytes, place: Path) -> bytes:
    """Pack what is to be written, if the name asks for gzip; the same content gives the same bytes."""
    return gzip.compress(content, mtime=0) if place.suffix.lower() == ".gz" else content


@contextmanager
def valid(file: DataFile) -> Iterator[None]:
    """Turn what PyArrow has to say about a damaged file into an error that names it."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(f"{file.place}: not a valid {file.format.name} file ({first_line(error)})") from None


@contextmanager
def naming(place: Path) -> Iterator[None]:
    """Turn what the system has to say about a file into an error that names it."""
    try:
        yield
    except F2SLError:
        raise
    except FileNotFoundError:
        raise FileError(f"{place}: no such file") from None
    except PermissionError:
        raise FileError(f"{place}: no permission to read it") from None
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise FileError(f"{place}: cannot be read ({first_line(error)})") from None


def first_line(error: BaseException | None) -> str:
    """Return what a library has to say, in one line of moderate length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(" .")
