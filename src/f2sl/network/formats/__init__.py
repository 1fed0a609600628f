"""Networks in files; the format follows from the end of the file's name.

============= =================================================================
``.json``     f2sl's own, for states and for numbers
``.bif``      BIF; files with an unknown suffix are read as BIF, too
``.xmlbif``   XMLBIF, also ``.bifxml`` and ``.xml``
``.net``      Hugin's NET language, for states and for numbers
``.xdsl``     that of GeNIe and SMILE
============= =================================================================

All of them may be compressed: ``.bif.gz``, ``.bif.xz``. A saved network is read back unchanged. The formats
with variables and blocks of numbers share ``draft``, those in XML :mod:`f2sl.graph.formats.xml`.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from f2sl._constants import REMARKS
from f2sl.data.column import CONTINUOUS
from f2sl.errors import FileError, shown
from f2sl.graph.atomic import write_atomically
from f2sl.graph.formats.common import decoded, read_file
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats import hugin_file, json_file, xml_file
from f2sl.network.formats.bif_file import read_bif, write_bif


class Format(NamedTuple):
    """Format: one function yields a network as text, one reads a network from bytes."""

    name: str
    write: Callable[[BayesianNetwork], Iterable[str]]
    read: Callable[[bytes], BayesianNetwork]
    numbers: bool = False
    """True if the format supports continuous variables."""


BIF = Format(
    "BIF",
    lambda network: write_bif(network, [REMARKS[network.name]] if network.name in REMARKS else []),
    lambda content: read_bif(decoded(content)),
)
XMLBIF = Format("XMLBIF", xml_file.write_xmlbif, xml_file.read_xmlbif)
FORMATS = {
    ".bif": BIF,
    ".json": Format("JSON", json_file.write, json_file.read, numbers=True),
    ".xmlbif": XMLBIF,
    ".bifxml": XMLBIF,
    ".xml": XMLBIF,
    ".net": Format("NET", hugin_file.write, hugin_file.read, numbers=True),
    ".xdsl": Format("XDSL", xml_file.write_xdsl, xml_file.read_xdsl),
}
"""The formats by the ends of files' names."""


def pack_gzip(content: bytes) -> bytes:
    """Compress bytes without a name and a time, so that the same network gives the same bytes."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


_PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": pack_gzip,
    ".xz": lambda content: lzma.compress(content, preset=9),
}
_UNPACK: dict[bytes, Callable[[BinaryIO], gzip.GzipFile | lzma.LZMAFile]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
}
SUFFIXES = (*FORMATS, *(suffix + packed for suffix in FORMATS for packed in _PACK))
"""Suffixes of network files."""


MOST_UNPACKED = 1 << 26
"""The most bytes that a packed file may hold: a small file can unpack to more than any memory."""


def suffix_of(path: str | os.PathLike[str]) -> str | None:
    """Return which of the suffixes a file's name ends in, if any.

    Examples
    --------
    >>> suffix_of("alarm.BIF.gz"), suffix_of("alarm.csv")
    ('.bif.gz', None)
    """
    name = Path(path).name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def read_network(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Load a network from a file, compressed or not, in the format of its suffix (BIF if unknown).

    Raises
    ------
    FileError
        If the file cannot be read or understood; names the file and the line.
    """
    known, _ = _format_of(path)

    def read(content: bytes) -> BayesianNetwork:
        unpack = next((unpack for mark, unpack in _UNPACK.items() if content.startswith(mark)), None)
        if unpack is not None:
            try:
                with unpack(io.BytesIO(content)) as file:
                    content = file.read(MOST_UNPACKED + 1)
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise FileError(f"cannot read {path}: {error}", path=str(path)) from None
            if len(content) > MOST_UNPACKED:
                problem = f"it holds more than {MOST_UNPACKED:,} bytes; unpack it first, if you trust it"
                raise FileError(f"cannot read {path}: {problem}", path=str(path))
        return known.read(content)

    return read_file(path, read)


def _format_of(path: str | os.PathLike[str]) -> tuple[Format, Callable[[bytes], bytes] | None]:
    """Return the format and the compression that a file's suffix names; plain BIF if it names none."""
    suffix = suffix_of(path) or ".bif"
    plain, _, packed = suffix[1:].partition(".")
    return FORMATS[f".{plain}"], _PACK.get(f".{packed}")


def check_can_save(kinds: Iterable[str], path: str | os.PathLike[str]) -> None:
    """Raise an error for an unknown suffix, or a format that does not support these kinds of variables."""
    if suffix_of(path) is None:
        raise FileError(
            f"cannot write {path}: use {', '.join(FORMATS)}, or one of these with .gz or .xz", path=str(path)
        )
    known = _format_of(path)[0]
    if CONTINUOUS in kinds and not known.numbers:
        able = ", ".join(suffix for suffix, one in FORMATS.items() if one.numbers)
        raise FileError(
            f"cannot write {path}: {known.name} does not support numbers; use {able}", path=str(path)
        )


def save_network(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network in the format of its suffix, compressed or not; the file is complete or not written."""
    check_can_save(network.kinds, path)
    known, pack = _format_of(path)
    try:
        content = "".join(known.write(network)).encode("utf-8")
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise FileError(
            f"cannot write {path}: {shown(piece)} cannot be written as UTF-8", path=str(path)
        ) from None
    if pack is not None and len(content) > MOST_UNPACKED:
        problem = f"{len(content):,} bytes are too many to read back from a compressed file"
        raise FileError(
            f"cannot write {path}: {problem}; use {Path(path).with_suffix('').suffix}", path=str(path)
        )
    write_atomically(path, content if pack is None else pack(content))
