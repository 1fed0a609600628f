"""Files of Stata, SPSS and SAS, read by pyreadstat; labels replace values."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pyarrow as pa

from f2sl.data.formats.base import DataFile, TableFormat, first_line
from f2sl.errors import FileError


class Statistics(TableFormat):
    """Base of these formats; `reader` is pyreadstat's function for one."""

    reader = ""

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        try:
            import pyreadstat
        except ImportError:
            how = f'to read {self.name} files, pip install "f2sl[files]"'
            raise FileError(f"{file.location}: {how}, or save it as .csv") from None
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
            raise FileError(f"{file.location}: not a valid {self.name} file ({first_line(error)})") from None


class Stata(Statistics):
    """Stata."""

    name = "Stata"
    suffixes = (".dta",)
    reader = "read_dta"


class SPSS(Statistics):
    """SPSS."""

    name = "SPSS"
    suffixes = (".sav", ".zsav")
    first_bytes = (b"$FL2", b"$FL3")
    reader = "read_sav"


class SAS(Statistics):
    """SAS data sets."""

    name = "SAS"
    suffixes = (".sas7bdat",)
    reader = "read_sas7bdat"


class SASTransport(Statistics):
    """SAS transport files."""

    name = "SAS transport"
    suffixes = (".xpt", ".xport")
    first_bytes = (b"HEADER RECORD*******LIB",)
    reader = "read_xport"
