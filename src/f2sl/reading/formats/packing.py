"""Packed files: gzip, bzip2, zstd, lz4 and xz, around a file of any format."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa

_FIRST_BYTES = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": "xz",
}
_SUFFIXES = (".gz", ".bz2", ".zst", ".xz", ".lz4")


def packing_of(place: Path) -> str | None:
    """Tell how a file is packed, going by its first bytes; None if it is not."""
    with place.open("rb") as file:
        start = file.read(6)
    found = next((name for magic, name in _FIRST_BYTES.items() if start.startswith(magic)), None)
    return None if found == "bz2" and not start[3:4].isdigit() else found


def open_unpacked(place: Path, packing: str | None) -> Any:
    """Open a file for reading bytes, unpacked if it is packed."""
    return lzma.open(place) if packing == "xz" else pa.input_stream(str(place), compression=packing)


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
