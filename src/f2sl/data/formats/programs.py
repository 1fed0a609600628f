"""Files of programs: workbooks, by python-calamine, and files of Stata, SPSS and SAS, by pyreadstat.

Cells of workbooks (Excel, OpenDocument) can hold anything, such as numbers and "n/a" in one column. So the
first sheet is read like the CSV file that the office program would save, with all options of text. In files
of statistics programs labels replace values.
"""

from __future__ import annotations

import csv
import datetime
import io
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from f2sl.data.formats.base import ZIP, DataFile, TableFormat, first_line
from f2sl.data.values import TextOptions
from f2sl.errors import DataError, FileError


@dataclass(frozen=True)
class AsText(DataFile):
    """Sheet of a workbook, which is read as text from here on."""

    text: bytes = b""

    def open(self) -> Any:
        """Open the text for reading."""
        return io.BytesIO(self.text)

    def size(self, most: int = 1 << 62) -> int:
        """Return the number of bytes of the text."""
        return len(self.text)


class Workbook(TableFormat):
    """First sheet of a workbook; `text` is the format that reads its cells, as those of a file of its own."""

    name = "workbook"
    suffixes = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
    first_bytes = (ZIP, b"\xd0\xcf\x11\xe0")

    def __init__(self, text: TableFormat) -> None:
        self._text = text

    def look_at(self, location: Path, start: bytes, how: TextOptions) -> DataFile:
        """Read the first sheet."""
        text = _sheet(location)
        layout = self._text.look_at(location, text, TextOptions(",", how.header, na=how.na))
        return AsText(location, self._text, None, layout, text)


def _sheet(location: Path) -> bytes:
    """Write the first sheet as CSV, without empty rows."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise FileError(
            f'{location}: to read workbooks, pip install "f2sl[files]", or save it as .csv',
            path=str(location),
        ) from None
    try:
        rows = CalamineWorkbook.from_path(str(location)).get_sheet_by_index(0).to_python()
    except Exception as error:  # each kind of damage has an exception of its own
        raise FileError(
            f"{location}: not a valid workbook ({first_line(error)})", path=str(location)
        ) from None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_cell(cell) for cell in row] for row in rows if any(cell != "" for cell in row))
    if not text.getvalue():
        raise DataError(f"{location}: the first sheet is empty")
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)


class Statistics(TableFormat):
    """Format of a statistics program; `reader` is pyreadstat's function for it."""

    def __init__(
        self, name: str, suffixes: tuple[str, ...], reader: str, first_bytes: tuple[bytes, ...] = ()
    ) -> None:
        self.name, self.suffixes, self.reader, self.first_bytes = name, suffixes, reader, first_bytes

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        try:
            import pyreadstat
        except ImportError:
            how = f'to read {self.name} files, pip install "f2sl[files]"'
            raise FileError(f"{file.location}: {how}, or save it as .csv", path=str(file.location)) from None
        labelled = {} if self.reader == "read_xport" else {"apply_value_formats": True}
        try:
            with tempfile.TemporaryDirectory(prefix="f2sl-") as folder:
                location = file.location
                if file.packing is not None:
                    location = Path(folder) / f"unpacked{self.suffixes[0]}"
                    with file.open() as stream, location.open("wb") as unpacked:
                        shutil.copyfileobj(stream, unpacked)
                frame, _ = getattr(pyreadstat, self.reader)(str(location), **labelled)
            return pa.Table.from_pandas(frame, preserve_index=False)
        except Exception as error:  # each kind of damage has an exception of its own
            raise FileError(
                f"{file.location}: not a valid {self.name} file ({first_line(error)})",
                path=str(file.location),
            ) from None


PROGRAMS = (
    Statistics("Stata", (".dta",), "read_dta"),
    Statistics("SPSS", (".sav", ".zsav"), "read_sav", (b"$FL2", b"$FL3")),
    Statistics("SAS", (".sas7bdat",), "read_sas7bdat"),
    Statistics("SAS transport", (".xpt", ".xport"), "read_xport", (b"HEADER RECORD*******LIB",)),
)
