"""Meaning of the cells of a column of text: missing values, numbers, dates or labels.

Empty cells and the usual spellings of "not available" are missing values, in columns of strings as well.
``None``, ``-`` and ``.`` are missing values among numbers, and labels among other labels: they are common
names of states.

The types of the columns are those that PyArrow infers from the whole text, after missing values are removed
from columns that it reads as strings and decimal commas are replaced by points.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.types as pt

from f2sl._constants import MISSING_SPELLINGS
from f2sl.data.column import MAX_STATES
from f2sl.data.formats.base import MISSING_CELLS
from f2sl.data.values import TextOptions, number_of

MISSING_NUMBERS = ("None", "-", ".")
"""Cells that are missing values in continuous columns; elsewhere they are labels."""

LABELS = "read as labels; na= makes them missing values"
Seen = defaultdict[str, set[str]]
"""Findings in the cells, by the note about them."""

_WITH_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})*)(,\d+)?([eE][+-]?\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?\d{1,3}(,\d{3})+\s*$"


@dataclass(frozen=True)
class Meaning:
    """Meaning of the cells of a column.

    `plain` says that PyArrow converts them as they are, but for empty ones; `missing` that the spellings in
    `MISSING_NUMBERS` are missing values, and `comma` that numbers have decimal commas.
    """

    type: pa.DataType
    plain: bool = False
    missing: bool = False
    comma: bool = False


class TypeOfText:
    """Detector of the meaning of a column of text.

    It depends only on the distinct values. In a column with very many, two values represent the earlier ones.
    """

    def __init__(self, delimiter: str, how: TextOptions) -> None:
        self._delimiter = delimiter
        self._how = how
        self._distinct = _strings([])
        self._has_missing = self._may_have_missing = False

    def add(self, values: Any) -> None:
        """Add more values."""
        more = pc.unique(values.drop_null())
        trimmed = pc.utf8_trim_whitespace(more)
        missing, maybe = _is_missing(trimmed, self._how, False), _is_in(trimmed, MISSING_NUMBERS)
        self._has_missing |= bool(pc.any(missing).as_py())
        self._may_have_missing |= bool(pc.any(maybe).as_py())
        left = more.filter(pc.invert(pc.or_(missing, maybe)))
        self._distinct = pc.unique(pa.concat_arrays([self._distinct, left]))
        if len(self._distinct) > 2 * MAX_STATES:
            self._distinct = _STAND_INS.get(self._inferred(), _ANY_TEXT)

    def meaning(self) -> Meaning:
        """Return the meaning of all values together."""
        dtype, comma = self._inferred()
        if pt.is_string(dtype) or (pt.is_null(dtype) and self._may_have_missing):
            return Meaning(pa.string())
        plain = not (comma or self._has_missing or self._may_have_missing)
        return Meaning(dtype, plain, self._may_have_missing, comma)

    def _inferred(self) -> tuple[pa.DataType, bool]:
        """Return the type of the values that are not missing, and whether they have decimal commas."""
        if not len(self._distinct):
            return pa.null(), False
        text = io.BytesIO()
        arrow_csv.write_csv(pa.table({"values": self._distinct}), text)
        text.seek(0)
        parsing = arrow_csv.ParseOptions(newlines_in_values=True)
        dtype = arrow_csv.read_csv(text, parse_options=parsing)[0].type
        return (pa.float64(), True) if pt.is_string(dtype) and self._has_commas() else (dtype, False)

    def _has_commas(self) -> bool:
        """Return whether all values are numbers with decimal commas, not thousands separators."""
        if not pc.all(pc.match_substring_regex(self._distinct, _WITH_COMMA)).as_py():
            return False
        thousands = pc.match_substring_regex(self._distinct, _THOUSANDS)
        return self._delimiter != "," or not pc.all(thousands).as_py()


def _strings(texts: Iterable[str]) -> Any:
    """Return texts as an array. (`pa.array` would import pandas where it is installed: half a second.)."""
    encoded = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(starts), pa.py_buffer(b"".join(encoded)))


_NO_TEXT = pa.nulls(1, pa.string())[0]
_ANY_TEXT = _strings(["text", "more text"])
_STAND_INS = {
    (pa.int64(), False): _strings(["0", "2"]),
    (pa.float64(), False): _strings(["0.5", "2.5"]),
    (pa.float64(), True): _strings(["0,5", "2,5"]),
    **{
        (pa.timestamp(unit, zone), False): _strings([f"2020-01-0{day} 08:30:00{end}" for day in (1, 2)])
        for unit, fraction in (("s", ""), ("ns", ".5"))
        for zone, end in ((None, fraction), ("UTC", f"{fraction}Z"))
    },
}
"""Two strings for each type, from which it is inferred; they replace the distinct values once there are
too many. Columns of other types never have so many distinct values."""


def _is_in(values: Any, spellings: Sequence[str]) -> Any:
    return pc.is_in(values, _strings(spellings))


def _is_missing(trimmed: Any, how: TextOptions, among_numbers: bool) -> Any:
    """Mark the cells that are missing values."""
    return _is_in(trimmed, (*MISSING_SPELLINGS, *how.na, *(MISSING_NUMBERS if among_numbers else ())))


def meant(values: Any, meaning: Meaning, how: TextOptions, seen: Seen) -> Any:
    """Convert cells to their meaning; add texts read as missing values to `seen`."""
    if meaning.plain:
        if pt.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
            seen[MISSING_CELLS].add("nan")
        return _without_numbers(values, how, seen)
    trimmed = pc.utf8_trim_whitespace(values)
    missing = _is_missing(trimmed, how, meaning.missing)
    seen[MISSING_CELLS].update(pc.unique(trimmed.filter(missing)).to_pylist())
    if pt.is_string(meaning.type):
        labels = _is_in(trimmed, MISSING_NUMBERS)
        seen[LABELS].update(pc.unique(trimmed.filter(labels)).to_pylist())
        return pc.if_else(missing, _NO_TEXT, values)
    if pt.is_null(meaning.type):  # nothing but gaps
        return pa.nulls(len(values), meaning.type)
    text = pc.if_else(missing, _NO_TEXT, trimmed)
    if pt.is_time(meaning.type):  # PyArrow converts texts only if they have a date as well
        text = pc.binary_join_element_wise("1970-01-01", text, " ").cast(pa.timestamp("s"))
    if meaning.comma:
        text = pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
    return _without_numbers(text.cast(meaning.type), how, seen)


def _without_numbers(values: Any, how: TextOptions, seen: Seen) -> Any:
    """Set the numbers that the user declares as missing, in any notation."""
    is_integer = pt.is_integer(values.type)
    for text in how.na if is_integer or pt.is_floating(values.type) else ():
        number = number_of(text)
        if number is None or (is_integer and not (isinstance(number, int) and -(2**63) <= number < 2**63)):
            continue
        here = pc.equal(values, pa.scalar(number if is_integer else float(number), values.type))
        if pc.any(here).as_py():
            seen[MISSING_CELLS].add(text)
            values = pc.if_else(here, pa.nulls(1, values.type)[0], values)
    return values
