r"""Layout of a text: its encoding, its comments, and the delimiter between its columns.

The delimiter is found by splitting the first lines by each candidate in turn, with quotes respected. The
right one splits all of them into the same number of fields, more than one; if several do, the one with the
most fields wins. White space is tried only if nothing else fits, since it also stands inside values.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from f2sl._notes import Use
from f2sl.data.formats.base import first_line
from f2sl.data.values import TextOptions
from f2sl.errors import DataError

CANDIDATES = (",", ";", "\t", "|")
WHITESPACE = " "
"""Stands for runs of spaces and tabs."""

SAMPLE_LINES = 50

_RUN = re.compile(rb'("[^"\n]*")|[ \t]+')
_EDGE = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)


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


def changed(stream: Any, how: TextOptions, delimiter: str | None) -> Any:
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
