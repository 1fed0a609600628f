"""Whether the files of one table have the same columns, of the same types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from f2sl.errors import DataError
from f2sl.table.names import listing

if TYPE_CHECKING:
    import pyarrow as pa


def family(kind: pa.DataType) -> str:
    """Say in a word what a type of Arrow holds; types of one family may stand for each other.

    Examples
    --------
    >>> import pyarrow as pa
    >>> family(pa.int8()), family(pa.large_string()), family(pa.date32())
    ('integers', 'text', 'date32[day]')
    """
    import pyarrow.types as pt

    if pt.is_null(kind):
        return "nothing"
    if pt.is_integer(kind):
        return "integers"
    if pt.is_floating(kind) or pt.is_decimal(kind):
        return "real numbers"
    if pt.is_boolean(kind):
        return "true and false"
    if pt.is_dictionary(kind):
        return f"categories of {family(kind.value_type)}"
    if pt.is_string(kind) or pt.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    return str(kind)


class Agreement:
    """What the files seen so far have in common.

    A column without any value agrees with all others, and integers agree with real numbers. Columns may
    stand in another order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> agreement = Agreement()
    >>> agreement.add(Path("1.csv"), pa.schema({"a": pa.int64(), "b": pa.string()}))
    ['a', 'b']
    >>> agreement.add(Path("2.csv"), pa.schema({"b": pa.string(), "a": pa.string()}))
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: 2.csv: column 'a' holds text, and integers in 1.csv; all files must agree
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._seen: dict[str, tuple[str, Path]] = {}
        self._first: Path | None = None

    def add(self, place: Path, schema: pa.Schema) -> list[str]:
        """Compare one more file; gives the names of its columns in the order of the first file's.

        Raises
        ------
        DataError
            If it has other columns than the first, or other types; names the file.
        """
        self.columns(place, schema.names)
        self.types(place, schema)
        return self.names

    def columns(self, place: Path, names: Sequence[str]) -> None:
        """Compare the columns of one more file."""
        if self._first is None:
            self._first, self.names = place, list(names)
        here, all_names = set(names), set(self.names)
        for told, others in (
            ("without", [name for name in self.names if name not in here]),
            ("with a further", [name for name in names if name not in all_names]),
        ):
            if others:
                shown = listing([repr(name) for name in others])
                raise DataError(
                    f"{place}: {told} column {shown}, unlike {self._first.name}; all files must agree "
                    "(others do not belong into the folder)"
                )

    def types(self, place: Path, schema: pa.Schema) -> None:
        """Compare the types of some columns of one more file."""
        for name, kind in zip(schema.names, schema.types, strict=True):
            here = family(kind)
            before, where = self._seen.get(name, ("nothing", place))
            numbers = {here, before} == {"integers", "real numbers"}
            if here != before and "nothing" not in (here, before) and not numbers:
                raise DataError(
                    f"{place}: column {name!r} holds {here}, and {before} in {where.name}; "
                    "all files must agree"
                )
            if before == "nothing" or numbers:
                self._seen[name] = ("real numbers", place) if numbers else (here, place)
