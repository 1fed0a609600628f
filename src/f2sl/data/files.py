"""Find the files of a table and join their rows.

A table may be in one file, in several, or in all files of a folder, as long as they have the same columns.
:mod:`f2sl.data.formats` reads the content of a file.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from f2sl._notes import Note
from f2sl.data.check import Problems
from f2sl.data.formats import MISSING_CELLS, REMARKS, DataFile, TextOptions, look_at, naming
from f2sl.data.names import column_names, listing
from f2sl.errors import DataError, FileError

PathLike = str | os.PathLike[str]
_HELD: list[Any] = []


def data_files(path: PathLike | Sequence[PathLike], how: TextOptions | None = None) -> list[DataFile]:
    """Find the files of a table, and look at how each begins; `how` is how to read text."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    files: list[DataFile] = []
    for one in paths:
        if str(one) == "":
            raise FileError("the path is empty; give a file or a folder")
        if "\0" in str(one):
            raise FileError(f"no file has a path with a NUL character: {str(one)!r}")
        location = _standard_input() if str(one) == "-" else Path(one)
        with naming(location):
            members = _members(location) if location.is_dir() else [location]
        for member in members:
            with naming(member):
                files.append(look_at(member, how or TextOptions()))
    return files


def _standard_input() -> Path:
    """Copy the standard input to a file, because tables are read more than once."""
    folder = tempfile.TemporaryDirectory(prefix="f2sl-")
    _HELD.append(folder)  # until the process ends
    location = Path(folder.name) / "standard input"
    with location.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return location


def _members(folder: Path) -> list[Path]:
    """List the files of a folder by name, without hidden ones and those that programs leave behind."""
    members = sorted(one for one in folder.iterdir() if not one.name.startswith((".", "_")))
    if not members:
        raise FileError(f"{folder}: the folder holds no files", path=str(folder))
    inner = next((one for one in members if one.is_dir()), None)
    if inner is not None:
        raise FileError(
            f"{folder}: it contains a folder ({inner.name}); only files are expected", path=str(folder)
        )
    return members


def read_files(files: Iterable[DataFile]) -> tuple[pa.Table, list[Note]]:
    """Read the rows of files into one PyArrow table: at least one row and one column, the names distinct.

    Returns notes on how they were read as well.

    Raises
    ------
    FileError
        If a file cannot be read.
    DataError
        If it can be read but holds no table; the message names the line, if a line is at fault.
    """
    agreement = Agreement()
    tables, schemas = [], []
    for file in files:
        with naming(file.location):
            table = file.format.read(file)
        schemas.append(table.schema)
        table = table.rename_columns(list(_names_in(file, table.schema)))
        if table.num_rows == 0:
            raise DataError(f"{file.location}: the file has a header but no rows")
        agreement.columns(file.location, table.column_names)
        agreement.types(file.location, table.schema)
        tables.append(table.select(agreement.names))
    whole = tables[0] if len(tables) == 1 else _together(tables)
    metadata = {REMARKS: json.dumps({remark: list(items) for remark, items in _remarked(schemas).items()})}
    return whole.replace_schema_metadata(metadata), remarks_of(schemas)


def schema_of(file: DataFile) -> pa.Schema:
    """Return the names and types of a file's columns, as far as these can be known without reading it all."""
    with naming(file.location):
        found = file.format.schema(file)
    return pa.schema(zip(_names_in(file, found), found.types, strict=True), metadata=found.metadata)


def own_names(file: DataFile) -> dict[str, str]:
    """Return the file's own names of its columns."""
    with naming(file.location):
        found = file.format.schema(file)
    return dict(zip(_names_in(file, found), found.names, strict=True))


def _names_in(file: DataFile, schema: pa.Schema) -> tuple[str, ...]:
    """Name the columns of a file; refuse one without any, or with a name twice."""
    try:
        names = column_names(schema.names)
    except DataError as error:
        raise DataError(f"{file.location}: ", error.note) from None
    if not names:
        raise DataError(f"{file.location}: the file has no columns")
    return names


def remarks_of(schemas: Iterable[pa.Schema]) -> list[Note]:
    """Return the notes of formats on the files, from the metadata of each schema."""
    remarked = _remarked(schemas).items()
    return [
        Note("file", f"{remark}: {listing([repr(item) for item in sorted(items)])}")
        for remark, items in remarked
    ]


def missing_of(schemas: Iterable[pa.Schema]) -> set[str]:
    """Return the cells that formats have read as missing values."""
    return set(_remarked(schemas).get(MISSING_CELLS, ()))


def _remarked(schemas: Iterable[pa.Schema]) -> dict[str, dict[str, None]]:
    remarked: dict[str, dict[str, None]] = {}
    for schema in schemas:
        for remark, items in json.loads((schema.metadata or {}).get(REMARKS, b"{}")).items():
            remarked.setdefault(remark, {}).update(dict.fromkeys(items))
    return remarked


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Join the rows of files with equal columns."""
    if all(table.schema.equals(tables[0].schema) for table in tables):
        return pa.concat_tables(tables)
    columns, problems = {}, Problems()
    for name in tables[0].column_names:
        parts = [table.select([name]) for table in tables]
        try:
            columns[name] = _in_one_type(parts)[name]
        except pa.ArrowInvalid:  # a negative integer in one file, the largest in another
            problems.add("long", name)
    problems.raise_any()
    return pa.table(columns)


def _in_one_type(parts: Sequence[pa.Table]) -> pa.Table:
    """Join the parts of a column; Arrow does not join all compatible types."""

    def cast(dtype: pa.DataType, safe: bool) -> list[pa.Table]:
        return [part.cast(pa.schema([(part.column_names[0], dtype)]), safe=safe) for part in parts]

    types = {part.schema.types[0] for part in parts}
    families = set(map(_family, types))
    if len(types) > 1 and "real numbers" in families:
        parts = cast(pa.float64(), safe=False)
    elif len(types) > 1 and "text" in families:
        parts = cast(pa.large_string(), safe=False)
    elif len(types) > 1 and "dates" in families:
        parts = cast(pa.timestamp("us"), safe=False)
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowInvalid:
        return pa.concat_tables(cast(pa.uint64(), safe=True))


def _family(dtype: pa.DataType) -> str:
    """Return the family of an Arrow type; types of one family are compatible.

    Examples
    --------
    >>> _family(pa.int8()), _family(pa.large_string()), _family(pa.date32())
    ('integers', 'text', 'dates')
    """
    if pt.is_null(dtype):
        return "nothing"
    if pt.is_integer(dtype):
        return "integers"
    if pt.is_floating(dtype) or pt.is_decimal(dtype):
        return "real numbers"
    if pt.is_boolean(dtype):
        return "true and false"
    if pt.is_date(dtype) or pt.is_timestamp(dtype):
        return "dates"
    if pt.is_dictionary(dtype):
        return f"categories of {_family(dtype.value_type)}"
    if pt.is_string(dtype) or pt.is_large_string(dtype) or str(dtype) == "string_view":
        return "text"
    return str(dtype)


class Agreement:
    """Common columns and types of the files seen so far.

    A column without any value agrees with all types, and integers agree with real numbers. Columns may be in
    another order.

    Examples
    --------
    >>> agreement = Agreement()
    >>> agreement.types(Path("1.csv"), pa.schema({"a": pa.int64(), "b": pa.string()}))
    >>> agreement.types(Path("2.csv"), pa.schema({"b": pa.string(), "a": pa.string()}))
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: 2.csv: column 'a' holds text, but integers in 1.csv; all files must agree
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._seen: dict[str, tuple[str, Path]] = {}
        self._first: Path | None = None

    def columns(self, location: Path, names: Sequence[str]) -> None:
        """Compare the columns of one more file; `names` are those of the first, in its order."""
        if self._first is None:
            self._first, self.names = location, list(names)
        here, all_names = set(names), set(self.names)
        for difference, others in (
            ("without", [name for name in self.names if name not in here]),
            ("with an extra", [name for name in names if name not in all_names]),
        ):
            if others:
                shown = listing([repr(name) for name in others])
                raise DataError(
                    f"{location}: {difference} column {shown}, unlike {self._first.name}; all files "
                    "must have the same columns"
                )

    def types(self, location: Path, schema: pa.Schema) -> None:
        """Compare the types of some columns of one more file."""
        for name, dtype in zip(schema.names, schema.types, strict=True):
            here = _family(dtype)
            before, where = self._seen.get(name, ("nothing", location))
            numbers = {here, before} == {"integers", "real numbers"}
            if here != before and "nothing" not in (here, before) and not numbers:
                raise DataError(
                    f"{location}: column {name!r} holds {here}, but {before} in {where.name}; "
                    "all files must agree"
                )
            if before == "nothing" or numbers:
                self._seen[name] = ("real numbers", location) if numbers else (here, location)
