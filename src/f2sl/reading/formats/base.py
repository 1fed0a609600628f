"""What a table format is, and what a file of one is."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from f2sl.errors import F2SLError, FileError
from f2sl.reading.formats.packing import open_unpacked

SAMPLE_BYTES = 1 << 16
"""How much of a file is looked at to find out what it holds."""

UNPACKED = 8
"""How many times larger than a packed file its content is taken to be."""

BYTES_OF_CELL = 8
"""What a cell takes in memory, in most types; its code, the planes and copies in between are far less."""

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
        return open_unpacked(self.place, self.packing)

    def content(self) -> Any:
        """Return a source that PyArrow can read from any place; a packed file is unpacked in memory."""
        if self.packing is None:
            return pa.memory_map(str(self.place))
        with self.open() as stream:
            return pa.BufferReader(stream.read())

    @property
    def size(self) -> int:
        """The number of bytes of its content, guessed if it is packed."""
        return self.place.stat().st_size * (1 if self.packing is None else UNPACKED)


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

    def look_at(self, place: Path, start: bytes, delimiter: str | None, header: bool) -> Any:
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

    def bytes_in_memory(self, file: DataFile) -> int:
        """Guess how much memory the file's table would take."""
        return file.size

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table; formats without this method are for reading alone."""
        raise NotImplementedError

    @property
    def can_write(self) -> bool:
        """Whether there is a method to write tables."""
        return type(self).write is not TableFormat.write


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
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(f"{place}: cannot be read ({first_line(error)})") from None


def first_line(error: BaseException | None) -> str:
    """Return what a library has to say, in one line of moderate length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(" .")
