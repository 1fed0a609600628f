"""The rows of a file, some at a time.

The types of a CSV's columns are those that reading it as a whole would find. Mostly the first rows tell;
where a later value does not fit, all are read as text once, and PyArrow is asked what it makes of the
distinct values.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from f2sl.reading.files import DataFile, naming
from f2sl.reading.io import (
    blocks_of,
    check_encoding,
    check_names,
    converting,
    no_csv,
    not_valid,
    open_arrow,
    open_text,
    unpacked,
)
from f2sl.storage.memory.table import MAX_STATES
from f2sl.table.names import generated_names

TEXT_BYTES = 1 << 20
"""Text that is parsed at a time, unless its lines are too long for that."""

LINES_AT_ONCE = 1000
"""Lines, as long as the longest seen at the beginning, that are parsed at a time, or a batch if that is less.

Each stretch of text costs time for each column.
"""

Result = TypeVar("Result")
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class BatchReader:
    """Reads one file in batches of at most `rows` rows, as often as asked.

    `types` are those of a CSV's columns, once they are known; `line_breaks` says whether its values may have
    line breaks in them.
    """

    file: DataFile
    rows: int
    types: tuple[pa.DataType, ...] = ()
    line_breaks: bool = False

    def schema(self) -> pa.Schema:
        """Names and types of the columns; of a CSV, as far as is known."""
        with naming(self.file.place):
            if self.file.kind == "text":
                try:
                    with self._csv() as reader:
                        found = reader.schema
                except pa.ArrowInvalid as error:
                    raise no_csv(self.file, error) from None
                check_encoding(self.file, found)
                if not self.file.header:
                    found = pa.schema(zip(generated_names(len(found)), found.types, strict=True))
            else:
                found = self._arrow_schema()
        check_names(self.file, found)
        return found

    def batches(self, names: Sequence[str]) -> Batches:
        """Give the rows of some columns, in this order."""
        with naming(self.file.place):
            if self.file.kind == "text":
                yield from self._text_batches(names)
                return
            try:
                yield from (
                    self._parquet_batches(names)
                    if self.file.kind == "Parquet"
                    else (self._arrow_batches(names))
                )
            except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
                raise not_valid(self.file, error) from None

    def scan(self, names: Sequence[str], look: Callable[[Batches], Result]) -> tuple[BatchReader, Result]:
        """Let `look` see all rows; gives what it found, and a reader that knows the columns' types.

        `look` may have to begin again.
        """
        if self.file.kind != "text":
            return self, look(self.batches(names))
        failure: Exception | None = None
        for line_breaks in (False, True):
            reader = replace(self, line_breaks=line_breaks)
            for settle in (BatchReader.with_first_types, BatchReader.with_types_of_all):
                try:
                    settled = settle(reader)
                    return settled, look(settled.batches(names))
                except pa.ArrowInvalid as error:
                    failure = error
        raise no_csv(self.file, failure)

    # Parquet and Arrow

    def _arrow_schema(self) -> pa.Schema:
        try:
            if self.file.kind == "Parquet":
                with self._parquet() as opened:
                    return opened.schema_arrow
            with unpacked(self.file) or pa.memory_map(str(self.file.place)) as source:
                return open_arrow(source).schema
        except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
            raise not_valid(self.file, error) from None

    def _parquet(self) -> Any:
        return pq.ParquetFile(
            unpacked(self.file) or str(self.file.place), buffer_size=1 << 16, pre_buffer=False
        )

    def _parquet_batches(self, names: Sequence[str]) -> Batches:
        with self._parquet() as opened:
            for batch in opened.iter_batches(self.rows, columns=list(names), use_threads=True):
                yield batch.select(names)

    def _arrow_batches(self, names: Sequence[str]) -> Batches:
        with unpacked(self.file) or pa.memory_map(str(self.file.place)) as source:
            for block in blocks_of(open_arrow(source)):
                chosen = block.select(names)
                for first in range(0, len(chosen), self.rows):
                    yield chosen.slice(first, self.rows)

    # Text

    def _csv(self, **options: Any) -> Any:
        """Open a CSV; its rows come in stretches of text, however many rows these hold."""
        longest = max(map(len, self.file.sample.splitlines()), default=0)
        return csv.open_csv(
            open_text(self.file),
            csv.ReadOptions(
                autogenerate_column_names=not self.file.header,
                block_size=max(TEXT_BYTES, min(LINES_AT_ONCE, self.rows) * longest),
                use_threads=True,
            ),
            csv.ParseOptions(delimiter=self.file.delimiter, newlines_in_values=self.line_breaks),
            converting(**options),
        )

    def _own_names(self) -> list[str]:
        with self._csv() as reader:
            return list(reader.schema.names)

    def _text_batches(self, names: Sequence[str]) -> Batches:
        own = self._own_names()
        called = own if self.file.header else generated_names(len(own))
        wanted = [own[called.index(name)] for name in names]
        types = dict(zip(own, self.types, strict=True))
        with self._csv(include_columns=wanted, column_types={name: types[name] for name in wanted}) as reader:
            for batch in reader:
                if len(batch):
                    yield batch.rename_columns(list(names))

    def with_first_types(self) -> BatchReader:
        """Take the types that the first rows have."""
        with self._csv() as reader:
            check_encoding(self.file, reader.schema)
            return replace(self, types=tuple(reader.schema.types))

    def with_types_of_all(self) -> BatchReader:
        """Read all as text, and take the types that the distinct values have together."""
        own = self._own_names()
        columns = [_TypeOfText() for _ in own]
        with self._csv(column_types=dict.fromkeys(own, pa.binary())) as reader:
            for batch in reader:
                for name, column, values in zip(own, columns, batch.columns, strict=True):
                    try:
                        column.add(values.cast(pa.string()))
                    except pa.ArrowInvalid:
                        check_encoding(self.file, pa.schema({name: pa.binary()}))
                        raise
        return replace(self, types=tuple(column.kind() for column in columns))


class _TypeOfText:
    """The type that PyArrow finds for a column of text.

    It depends on nothing but which values there are. Of a column with very many, each batch is asked for the
    type that it has beside two values that stand for those before.
    """

    def __init__(self) -> None:
        self._distinct = pa.array([], pa.string())

    def add(self, values: pa.Array) -> None:
        """Hear of some more values."""
        self._distinct = pc.unique(pa.concat_arrays([self._distinct, values.drop_null()]))
        if len(self._distinct) > 2 * MAX_STATES:
            self._distinct = _STAND_INS.get(self.kind(), _ANY_TEXT)

    def kind(self) -> pa.DataType:
        """Tell the type of all values together."""
        if not len(self._distinct):
            return pa.null()
        text = io.BytesIO()
        csv.write_csv(pa.table({"values": self._distinct}), text)
        parsing = csv.ParseOptions(newlines_in_values=True)
        return csv.read_csv(io.BytesIO(text.getvalue()), parse_options=parsing, convert_options=converting())[
            0
        ].type


_ANY_TEXT = pa.array(["text", "more text"])
_STAND_INS = {pa.int64(): pa.array(["0", "2"]), pa.float64(): pa.array(["0.5", "2.5"])}
"""Values that have a type as so many others have it: of other types there are not so many values."""
