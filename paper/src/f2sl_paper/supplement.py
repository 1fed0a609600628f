"""The data sets of the F2SL paper, as the supplement of the MMHC paper distributes them.

A zip file for each network holds ``NAME_graph.txt`` (0/1 adjacency, the row is the parent) and
``NAME_s500_v1.txt`` to ``NAME_s1000_v10.txt`` (one sample a line, states from 0). Columns have no names;
here they get zero-padded numbers, so that the order of the names is the order of the columns.

Tsamardinos, Brown and Aliferis. The max-min hill-climbing Bayesian network structure learning
algorithm. Machine Learning 65, 2006.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from f2sl.errors import DataError, FileError, GraphError, OptionError, unknown_name
from f2sl.graph import DAG

FILES = {
    "mildew": "mildew_data.zip",
    "hailfinder": "hailf_data.zip",
    "munin": "munin_data.zip",
    "pigs": "pigs_data.zip",
    "link": "link_data.zip",
    "gene": "gene_data.zip",
}


class Supplement:
    """Data sets of one network, with the graph they were sampled from.

    Parameters
    ----------
    folder : path
        Where the zip files lie.
    network : str
        One of the six networks of the paper, such as ``"mildew"``.
    """

    def __init__(self, folder: str | Path, network: str) -> None:
        if network not in FILES:
            raise OptionError(unknown_name("network", network, FILES))
        self.network = network
        self.path = Path(folder) / FILES[network]
        if not self.path.is_file():
            raise FileError(f"{self.path}: no such file; the data of {network} are expected there")
        try:
            with zipfile.ZipFile(self.path) as archive:
                self._texts = {Path(name).name: archive.read(name) for name in archive.namelist()}
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
            raise FileError(f"{self.path}: not a readable zip file ({error})") from None
        graph = self._numbers(self._one("_graph.txt", "graph"))
        n = len(graph)
        if graph.shape != (n, n):
            raise DataError(f"{self.path}: the graph is not square but {graph.shape[0]} by {graph.shape[1]}")
        if not np.isin(graph, (0, 1)).all():
            raise DataError(f"{self.path}: the graph has entries other than 0 and 1")
        self.names = [f"{i:0{len(str(n - 1))}d}" for i in range(n)]
        try:
            self.truth = DAG.from_arrays(self.names, np.argwhere(graph))
        except GraphError as error:
            raise DataError(f"{self.path}: the graph is not that of a network ({error})") from None

    def table(self, rows: int, version: int) -> NDArray[np.int64]:
        """Data set number `version` (from 1) with that many rows: one row for each sample."""
        table = self._numbers(self._one(f"_s{rows}_v{version}.txt", f"data set {version} of {rows:,} rows"))
        if len(table) != rows:
            raise DataError(
                f"{self.path}: data set {version} of {rows:,} rows has {len(table):,} rows instead"
            )
        if table.shape[1] != len(self.names):
            raise DataError(
                f"{self.path}: the data have {table.shape[1]} columns, the graph {len(self.names)} variables"
            )
        return table

    def all_tables(self) -> list[NDArray[np.int64]]:
        """Return all data sets in the file, of any size."""
        found = [re.fullmatch(r".*_s(\d+)_v(\d+)\.txt", name) for name in self._texts]
        return [self.table(int(match[1]), int(match[2])) for match in found if match]

    def _one(self, ending: str, what: str) -> str:
        for name in self._texts:
            if name.endswith(ending):
                return name
        raise FileError(f"{self.path}: holds no {what} (a file NAME{ending})")

    def _numbers(self, name: str) -> NDArray[np.int64]:
        if not self._texts[name].strip():
            raise DataError(f"{self.path}: {name} is empty")
        try:
            return np.loadtxt(io.BytesIO(self._texts[name]), dtype=np.int64, ndmin=2)
        except ValueError as error:
            raise DataError(f"{self.path}: {name} is not a table of whole numbers ({error})") from None
