"""Tables in files.

:func:`read_table` reads CSV with any delimiter, Parquet and Arrow (Feather), packed or
not, and leaves it to :func:`f2sl.reading.as_table` to decide what the columns mean.

Empty cells and the usual spellings of "not available" in a CSV are missing values, in
columns of strings as well. ``None`` is not among them: it is a common name of a state.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from f2sl.errors import DataError, FileError
from f2sl.reading.agreement import Agreement, family
from f2sl.reading.delimiter import WHITESPACE, OneSpaced, split_rows
from f2sl.reading.files import DataFile, PathLike, data_files, first_line, naming, open_file
from f2sl.reading.problems import Problems
from f2sl.table.names import column_names, generated_names

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_SPELLINGS = (
    *(
        "",
        "NA",
        "N/A",
        "n/a",
        "<NA>",
        "#N/A",
        "#NA",
        "#N/A N/A",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
        "NULL",
        "null",
    ),
    *("1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
"""Cells of a CSV that are missing values."""


def read_table(
    path: PathLike | Sequence[PathLike], *, delimiter: str | None = None, header: bool = True
) -> pa.Table:
    r"""Read a file, or the rows of several, into a PyArrow table.

    Parameters
    ----------
    path : str or path, or list of these
        A CSV (of any suffix), Parquet (``.parquet``, ``.pq``) or Arrow file (``.arrow``,
        ``.feather``, ``.ipc``); CSV also packed with gzip, bzip2, zstd, xz or lz4. Or a folder of
        such files, which must have the same columns.
    delimiter : str, optional
        The character between the columns of a CSV; a space stands for any white space.
        By default it is guessed from the first lines.
    header : bool
        Whether the first line of a CSV has the names of the columns.

    Returns
    -------
    pyarrow.Table
        At least one row and one column, the names distinct.

    Raises
    ------
    FileError
        If there is no such file, or it cannot be read.
    DataError
        If it can, but holds no table; the message names the line where one is at fault.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rain.csv")
    ...     _ = path.write_text("rain;wet\nyes;1\nno;\n")
    ...     read_table(path).to_pydict()
    {'rain': ['yes', 'no'], 'wet': [1, None]}
    """
    agreement = Agreement()
    tables = []
    for file in data_files(path, delimiter, header):
        with naming(file.place):
            table = _read_csv(file) if file.kind == "text" else _read_arrow(file)
        check_names(file, table.schema)
        if table.num_rows == 0:
            raise DataError(f"{file.place}: the file has a header and no rows")
        tables.append(table.select(agreement.add(file.place, table.schema)))
    return tables[0] if len(tables) == 1 else _together(tables)


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Put the rows of files together whose columns agree."""
    import pyarrow as pa

    if all(table.schema.equals(tables[0].schema) for table in tables):
        return pa.concat_tables(tables)
    columns, problems = {}, Problems()
    for name in tables[0].column_names:
        parts = [table.select([name]) for table in tables]
        try:
            columns[name] = _in_one_type(parts)[name]
        except pa.ArrowInvalid:  # a negative integer in one file, the largest in another
            problems.add("type", name, "integers of more than 64 bits")
    problems.raise_any()
    return pa.table(columns)


def _in_one_type(parts: Sequence[pa.Table]) -> pa.Table:
    """Put the parts of a column together; Arrow does not join all types that may stand for each other."""
    import pyarrow as pa

    def cast(kind: pa.DataType, safe: bool) -> list[pa.Table]:
        return [part.cast(pa.schema([(part.column_names[0], kind)]), safe=safe) for part in parts]

    kinds = {part.schema.types[0] for part in parts}
    families = {family(kind) for kind in kinds}
    if len(kinds) > 1 and "real numbers" in families:
        parts = cast(pa.float64(), safe=False)
    elif len(kinds) > 1 and "text" in families:
        parts = cast(pa.large_string(), safe=False)
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowInvalid:
        return pa.concat_tables(cast(pa.uint64(), safe=True))


def check_names(file: DataFile, schema: pa.Schema) -> None:
    """Refuse a file without columns, or with names that are none."""
    try:
        names = column_names(schema.names)
    except DataError as error:
        raise DataError(f"{file.place}: {error}") from None
    if not names:
        raise DataError(f"{file.place}: the file has no columns")


def _read_arrow(file: DataFile) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = unpacked(file)
        if file.kind == "Parquet":
            # One file, and not a data set: a folder called year=2020 must not add a column.
            with pq.ParquetFile(content or str(file.place)) as parquet:
                return parquet.read()
        with content or pa.memory_map(str(file.place)) as source:
            return open_arrow(source).read_all()
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
        raise not_valid(file, error) from None


def unpacked(file: DataFile) -> Any:
    """Unpack a packed Parquet or Arrow file into memory; None if it is not packed."""
    import pyarrow as pa

    if file.packing is None:
        return None
    with open_file(file.place, file.packing) as stream:
        return pa.BufferReader(stream.read())


def open_arrow(source: Any, options: Any = None) -> Any:
    """Open an Arrow file of either kind: with an index of its blocks of rows, or a stream of them."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(source, options=options)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source, options=options)


def blocks_of(opened: Any) -> Iterable[pa.RecordBatch]:
    """Go through the blocks of rows of an opened Arrow file."""
    if hasattr(opened, "get_batch"):
        return map(opened.get_batch, range(opened.num_record_batches))
    blocks: Iterable[pa.RecordBatch] = opened
    return blocks


def not_valid(file: DataFile, error: BaseException) -> BaseException:
    """Make the error for a Parquet or Arrow file that is damaged; a lack of memory stays what it is."""
    if isinstance(error, MemoryError):
        return error
    return FileError(f"{file.place}: not a valid {file.kind} file ({first_line(error)})")


def _read_csv(file: DataFile) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    reading = csv.ReadOptions(autogenerate_column_names=not file.header)
    failure: Exception | None = None
    # Values with line breaks in them cannot be read by several threads at once: only if need be.
    for line_breaks in (False, True):
        parsing = csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=line_breaks)
        try:
            with open_text(file) as stream:
                table = csv.read_csv(stream, reading, parsing, converting())
            break
        except pa.ArrowInvalid as error:
            failure = error
    else:
        raise no_csv(file, failure)
    check_encoding(file, table.schema)
    return table if file.header else table.rename_columns(list(generated_names(table.num_columns)))


def converting(**options: Any) -> Any:
    """Say to PyArrow which cells of a CSV are missing."""
    from pyarrow import csv

    return csv.ConvertOptions(null_values=list(MISSING_SPELLINGS), strings_can_be_null=True, **options)


def open_text(file: DataFile) -> Any:
    """Open a CSV for reading; where white space separates its columns, as one space."""
    stream = open_file(file.place, file.packing)
    return OneSpaced(stream) if file.delimiter == WHITESPACE else stream


def no_csv(file: DataFile, failure: BaseException | None) -> DataError:
    """Make the error for a text that is no CSV; it names the first line with a wrong number of columns."""
    import csv

    with (
        open_text(file) as stream,
        io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as text,
    ):
        rows = split_rows(text, file.delimiter)
        try:
            expected = len(next(iter(islice(rows, 1)), (0, []))[1])
            for line, fields in rows:
                if len(fields) != expected:
                    return DataError(
                        f"{file.place}: line {line} has {len(fields)} columns where {expected} are expected "
                        f"(delimiter {file.delimiter!r})"
                    )
        except csv.Error as error:
            return DataError(f"{file.place}: not a readable CSV ({first_line(error)})")
    return DataError(f"{file.place}: not a readable CSV ({first_line(failure)})")


def check_encoding(file: DataFile, schema: pa.Schema) -> None:
    """Refuse text that is not UTF-8; PyArrow hands it over as bytes without a word."""
    import pyarrow.types as pt

    advice = "save the file as UTF-8"
    try:
        names = schema.names
    except UnicodeDecodeError as error:
        raise FileError(
            f"{file.place}: the header is not encoded as UTF-8 ({first_line(error)}); {advice}"
        ) from None
    for name, kind in zip(names, schema.types, strict=True):
        if pt.is_binary(kind):
            raise FileError(f"{file.place}: the text of column {name!r} is not encoded as UTF-8; {advice}")
