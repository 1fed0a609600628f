"""Which character separates the columns of a text file.

The first lines are split by each candidate in turn, with quotes respected. The right
one splits all of them into the same number of fields, more than one; if several do,
the one with the most fields wins. White space is tried only if nothing else fits,
since it also stands inside values.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

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


class OneSpaced(io.RawIOBase):
    r"""A stream of text with each run of white space replaced by one space, a stretch of lines at a time.

    Examples
    --------
    >>> OneSpaced(io.BytesIO(b"a   b\n1 \t 2")).read()
    b'a b\n1 2'
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._ready = b""
        self._rest = b""

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there is text at hand."""
        while not self._ready:
            more = self._stream.read(1 << 20)
            lines, end, self._rest = (self._rest + more).rpartition(b"\n")
            if not more:
                lines, end, self._rest = lines + end + self._rest, b"", b""
            self._ready = one_space(lines) + end
            if not more:
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
