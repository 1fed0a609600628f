"""Files of tables: which there are, what they hold, how they are opened.

What a file holds is told by its first bytes, and by its suffix where those leave it open. A table may lie in
one file, in several, or in all files of a folder.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from f2sl.errors import DataError, F2SLError, FileError, OptionError
from f2sl.reading.delimiter import WHITESPACE, sniff_delimiter

PathLike = str | os.PathLike[str]

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


@dataclass(frozen=True)
class DataFile:
    """A file that holds a table, or rows of one.

    `kind` is "Parquet", "Arrow" or "text", `sample` the whole lines that a text begins with.
    """

    place: Path
    kind: str
    packing: str | None
    sample: bytes = b""
    delimiter: str = ","
    header: bool = True


def is_path(data: Any) -> bool:
    """Tell whether data are named by a path, or by a list of paths."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(one, (str, os.PathLike)) for one in data)
    return isinstance(data, (str, os.PathLike))


def data_files(
    path: PathLike | Sequence[PathLike], delimiter: str | None = None, header: bool = True
) -> list[DataFile]:
    """Find the files of a table, and look at how each begins."""
    if delimiter is not None:
        delimiter = _DELIMITER_NAMES.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
            raise OptionError(f"delimiter takes a single character, got {delimiter!r}")
    places = [Path(path)] if isinstance(path, (str, os.PathLike)) else [Path(one) for one in path]
    files: list[DataFile] = []
    for place in places:
        with naming(place):
            members = _members(place) if place.is_dir() else [place]
        for member in members:
            with naming(member):
                files.append(_look_at(member, delimiter, header))
    return files


def _members(folder: Path) -> list[Path]:
    """List the files of a folder by name, without those that are hidden or that programs leave behind."""
    members = sorted(one for one in folder.iterdir() if not one.name.startswith((".", "_")))
    if not members:
        raise FileError(f"{folder}: the folder holds no files")
    inner = next((one for one in members if one.is_dir()), None)
    if inner is not None:
        raise FileError(f"{folder}: a folder within the folder ({inner.name}); name a folder of files alone")
    return members


def _look_at(place: Path, delimiter: str | None, header: bool) -> DataFile:
    """Find out what a file holds."""
    packing = _packing(place)
    with open_file(place, packing) as stream:
        start: bytes = stream.read(_SAMPLE_BYTES)
    suffixes = [s.lower() for s in place.suffixes]
    if suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    expected = _FORMATS.get(suffixes[-1] if suffixes else "", "text")
    if not start:
        raise DataError(f"{place}: the file is empty")
    if start.startswith(b"PAR1"):
        return DataFile(place, "Parquet", packing)
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return DataFile(place, "Arrow", packing)
    if expected != "text":
        raise FileError(f"{place}: not a valid {expected} file (it does not begin like one)")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError(f"{place}: the text is encoded as UTF-16; save it as UTF-8")
    if b"\x00" in start:
        raise FileError(f"{place}: neither text nor Parquet nor Arrow")
    sample = start if len(start) < _SAMPLE_BYTES else start[: start.rfind(b"\n") + 1] or start
    text = sample.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise DataError(f"{place}: the file is empty")
    return DataFile(place, "text", packing, sample, delimiter or sniff_delimiter(text), header)


def _packing(place: Path) -> str | None:
    """Return how a file is packed, going by its first bytes."""
    with place.open("rb") as file:
        start = file.read(6)
    found = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
    return None if found == "bz2" and not start[3:4].isdigit() else found


def open_file(place: Path, packing: str | None) -> Any:
    """Open a file for reading bytes, unpacked if it is packed."""
    import pyarrow as pa

    return lzma.open(place) if packing == "xz" else pa.input_stream(str(place), compression=packing)


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
