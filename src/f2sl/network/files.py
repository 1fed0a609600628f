"""Networks in files: JSON, or BIF, plain or packed."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from f2sl._constants import REMARKS
from f2sl.errors import FileError, shown
from f2sl.graph.atomic import write_atomically
from f2sl.graph.formats.common import FormatError, decoded
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.bif_reader import read_bif
from f2sl.network.bif_writer import write_bif
from f2sl.network.json_file import read_json, write_json


def _gzipped(content: bytes) -> bytes:
    # Without a name and a time, so that the same network gives the same bytes.
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


JSON = ".json"
_PACK: dict[str, Callable[[bytes], bytes]] = {
    ".bif": lambda content: content,
    ".bif.gz": _gzipped,
    ".bif.xz": lambda content: lzma.compress(content, preset=9),
    JSON: lambda content: content,
}
_UNPACK: dict[bytes, Callable[[BinaryIO], gzip.GzipFile | lzma.LZMAFile]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
}
SUFFIXES = tuple(_PACK)
"""How the names of network files end."""


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
    """Read a network from a file: JSON by its suffix, or BIF, packed or not (its first bytes tell).

    Raises
    ------
    FileError
        If the file cannot be read or understood; names the file and the line.
    """
    try:
        content = Path(path).read_bytes()
        if suffix_of(path) == JSON:
            return read_json(content)
        return read_bif(decoded(_unpacked(content)))
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise FileError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    except FormatError as error:
        where = f"{path}, line {error.line}" if error.line else f"{path}"
        raise FileError(f"{where}: {error}") from None


def _unpacked(content: bytes) -> bytes:
    unpack = next((unpack for mark, unpack in _UNPACK.items() if content.startswith(mark)), None)
    if unpack is None:
        return content
    with unpack(io.BytesIO(content)) as file:
        text = file.read(MOST_UNPACKED + 1)
    if len(text) > MOST_UNPACKED:
        raise ValueError(f"it holds more than {MOST_UNPACKED:,} bytes; unpack it first, if you trust it")
    return text


def save_network(network: BayesianNetwork, path: str | os.PathLike[str], header: Iterable[str] = ()) -> None:
    """Write a network as its suffix says, as JSON or as BIF, plain or packed, whole or not at all."""
    suffix = suffix_of(path)
    if suffix is None:
        raise FileError(f"cannot write {path}: networks are written as {', '.join(SUFFIXES)}")
    if suffix != JSON and network.equations:
        raise FileError(f"cannot write {path}: BIF knows no numbers; write .json")
    remarks = [REMARKS[network.name]] if network.name in REMARKS else []
    text = write_json(network) if suffix == JSON else "".join(write_bif(network, [*header, *remarks]))
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise FileError(f"cannot write {path}: {shown(piece)} cannot be written as UTF-8") from None
    if suffix not in (".bif", JSON) and len(content) > MOST_UNPACKED:
        problem = f"{len(content):,} bytes are too many to read back from a packed file"
        raise FileError(f"cannot write {path}: {problem}; write .bif")
    write_atomically(path, _PACK[suffix](content))
