"""JSON lines: one object for each row."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.json as arrow_json

from f2sl.data.formats.base import DataFile, TableFormat, valid


def like_json_lines(start: bytes) -> bool:
    r"""Return whether a file that begins so has an object on each line, whatever its suffix.

    Examples
    --------
    >>> like_json_lines(b'{"a": 1}\n{"a": 2}\n'), like_json_lines(b'[{"a": 1},\n {"a": 2}]'), like_json_lines(b"a\n1")
    (True, False, False)
    """  # noqa: E501
    first, _, rest = start.lstrip().partition(b"\n")
    try:
        return rest.lstrip().startswith(b"{") and isinstance(json.loads(first), dict)
    except ValueError:
        return False


class JSONLines(TableFormat):
    """JSON lines, by PyArrow."""

    name = "JSON lines"
    suffixes = (".jsonl", ".ndjson")

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        with valid(file), file.open() as stream:
            return arrow_json.read_json(stream)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write an object for each row."""
        for row in table.to_pylist():
            stream.write(json.dumps(row).encode() + b"\n")
