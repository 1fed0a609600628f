"""Print eleven things that went wrong on real tables, as they are now.

    python benchmarks/real_tables/findings.py --label before --source SRC --tables .real-tables

Needs the tables of `tables.py`; findings about all tables are read from the results of the same label.
The numbers choose findings: --only 1,5.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from running import learned

RESULTS = Path(__file__).parents[1] / "results"
SLOW = """
    r-openintro.ames r-AER.STAR r-tidyr.who r-causaldata.scorecard r-dslabs.movielens r-openintro.hfi
    r-mosaicData.HELPfull r-DAAG.nassCDS"""


class Findings:
    """The findings, each a method that prints; `source` has the package f2sl, `tables` the tables."""

    def __init__(self, label: str, source: Path, tables: Path) -> None:
        self.source, self.tables = source, tables
        lines = (RESULTS / f"real_tables_{label}.jsonl").read_text(encoding="utf-8").splitlines()
        self.results = {line["table"]: line for line in map(json.loads, lines)}
        self.good = [line for line in self.results.values() if line["error"] is None]

    def learn(self, table: str, *options: str) -> dict[str, Any]:
        """Learn from a table on the command line."""
        return learned(self.tables / f"{table}.csv", self.source, options=options)

    def show(
        self, table: str, *options: str, about: Iterable[str] = (), pairs: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Print the edges of a table: all, those about some columns, or whether pairs have one."""
        found = self.learn(table, *options)
        print(f"{table} {' '.join(options)}: {found['error'] or str(found['edges']) + ' edges'}")
        edges = found.get("edge_list", [])
        for edge in edges if not pairs else ():
            if not about or {edge[0], edge[2]} & set(about):
                print("   ", *edge)
        for pair in pairs:
            has = [" ".join(edge) for edge in edges if {edge[0], edge[2]} == set(pair)]
            print(f"    {pair[0]}, {pair[1]}: {has[0] if has else 'no edge'}")

    def f1(self) -> None:
        """Graphs of tables that everybody knows; arrows into and out of what has no causes."""
        self.show("causaldata.gapminder", "--drop", "country")
        self.show("r-palmerpenguins.penguins")
        mixed = [line for line in self.good if line["kind"] == "mixed"]
        for names in (("into people", "out of people"), ("numbers to states", "states to numbers")):
            print(
                f"    {len(mixed)} mixed tables:",
                *(f"{name} {sum(line[name] for line in mixed)};" for name in names),
            )

    def f2(self) -> None:
        """Edges between independent species and sex, with more rows."""
        for rows in (2000, 10_000, 50_000):
            wrong = missed = 0
            for random_state in range(8):
                learned_edges = edges(people(rows, random_state))
                wrong += frozenset(("species", "sex")) in learned_edges
                missed += len(TRUE_EDGES - learned_edges)
            print(f"    {rows:,} rows: species and sex adjacent in {wrong} of 8; true edges missed {missed}")

    def f3(self) -> None:
        """A strong edge between labels that was refused."""
        self.show(
            "r-modeldata.wa_churn", pairs=[("contract", "churn"), ("tenure", "churn"), ("tenure", "contract")]
        )

    def f4(self) -> None:
        """Ordered integers."""
        self.show("r-openintro.births14", pairs=[("weeks", "weight"), ("weeks", "premie")])
        self.show("causaldata.close_college", about=["educ", "lwage"])
        pairs = [("educ", "wage"), ("educ", "lwage"), ("educ", "fatheduc"), ("educ", "motheduc")]
        self.show("r-wooldridge.card", "--drop", "id", pairs=pairs)

    def f5(self) -> None:
        """Skewed copies of numbers: SHD of CPDAGs as drawn, skewed, and of normal scores of the skewed."""
        import f2sl

        for kind, n_edges in (("mixed", 28), ("continuous", 30)):
            shd: dict[str, list[int]] = {"as drawn": [], "skewed": [], "normal scores": []}
            for random_state in range(1, 7):
                how: dict[str, Any] = {"share_continuous": 0.5} if kind == "mixed" else {}
                network = f2sl.random_network(20, n_edges, kind=kind, random_state=random_state, **how)
                drawn = pd.DataFrame(network.sample(1000, random_state=random_state))
                bent = changed(
                    drawn, lambda z, i: (np.exp, np.power, norm.cdf)[i % 3](*((z, 3) if i % 3 == 1 else (z,)))
                )
                ranks = changed(bent, lambda z, _: norm.ppf(rankdata(z) / (len(z) + 1)))
                for name, frame in zip(shd, (drawn, bent, ranks), strict=True):
                    shd[name].append(f2sl.compare(network, f2sl.learn(frame)).shd)
            print(f"    {kind}:", *(f"{name} {fmean(values):.1f};" for name, values in shd.items()))
        pairs = [("area", "population"), ("area", "internet_users"), ("population", "internet_users")]
        self.show("r-openintro.cia_factbook", "--drop", "country", pairs=pairs)

    def f6(self) -> None:
        """Shares of decided directions, and how many of them replicates repeat."""
        for kind in ("mixed", "continuous", "discrete"):
            n, decided, weakly = (
                sum(line[what] or 0 for line in self.good if line["kind"] == kind)
                for what in ("edges", "decided", "weakly")
            )
            print(f"    {kind}: {n} edges, decided {decided / max(1, n):.2f}, of these weakly {weakly}")
        small = [
            one for one in self.good if one["rows"] <= 1500 and one["decided"] >= 4 and one["columns"] <= 15
        ]
        kept = Counter[str]()
        for line in small[:: max(1, len(small) // 18)][:18]:
            kept.update(repeated(self.tables / f"{line['table']}.csv"))
        n = max(1.0, kept["decided"])
        same, other = kept["same"] / n, kept["other"] / n
        print(f"    of {n} decided arrows 20 replicates repeat {same:.2f}, reverse {other:.2f}")
        tissue = self.results["r-dslabs.tissue_gene_expression"]
        print(
            "    tissue_gene_expression:",
            *(tissue.get(what) for what in ("error", "edges", "decided", "notes")),
        )

    def f7(self) -> None:
        """Slow tables."""
        for line in (self.results[name] for name in SLOW.split() if name in self.results):
            told = line["error"] or f"{line['edges']} edges"
            print(f"    {line['table']}: {line['seconds']} s, {line['megabytes']} MB, {told}")

    def f8(self) -> None:
        """Seconds until Ctrl-C and SIGTERM end a long run, and the default learner with a time limit."""
        path = str(self.tables / "r-mosaicData.HELPfull.csv")
        for what in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [sys.executable, "-m", "f2sl", "learn", path, "--quiet"],
                env={**os.environ, "PYTHONPATH": str(self.source)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # a shell starts a job in the background with Ctrl-C ignored, and that is inherited
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            time.sleep(20)
            process.send_signal(what)
            started = time.monotonic()
            try:
                process.wait(300)
            except subprocess.TimeoutExpired:
                process.kill()
            print(f"    {what.name}: ended after {time.monotonic() - started:.1f} s with {process.wait()}")
        limited = self.learn("r-openintro.hfi", "--time-limit", "5")
        print(f"    --time-limit 5: {limited['wall']} s, {limited['error'] or limited['notes'][-1:]}")

    def f9(self) -> None:
        """Row names that are left in."""
        adjacent = hidden = before = noted = tried = 0
        for path in sorted((self.tables / "rownames").glob("*.csv")):
            line = self.results.get(path.stem)
            if line is None or line["error"] or line["rows"] > 2000 or line["columns"] > 15:
                continue
            without = self.learn(path.stem)
            left_in = self.learn(f"rownames/{path.stem}")
            if without["error"] or left_in["error"]:
                continue
            some, others = ({frozenset((a, b)) for a, _, b in one["edge_list"]} for one in (without, left_in))
            tried, before, hidden = tried + 1, before + len(some), hidden + len(some - others)
            adjacent += any("rownames" in edge for edge in others)
            noted += any(
                "rownames" in note and ("identifier" in note or "left out" in note)
                for note in left_in["notes"]
            )
        print(f"    rownames adjacent in {adjacent} of {tried} tables (noted in {noted});", end=" ")
        print(f"{hidden} of {before} other edges are lost")

    def f10(self) -> None:
        """Dates."""
        refused = [name for name, line in self.results.items() if "date" in (line["error"] or "")]
        print(f"    refused because of a date: {len(refused)}:", *refused)
        for options in (
            ("--continuous", "Year"),
            ("--discrete", "Year"),
            ("--bins", "Year=4"),
            ("--drop", "Year"),
        ):
            found = self.learn("vega_datasets.cars", *options)
            print(f"    vega_datasets.cars {' '.join(options)}: {found['error'] or found['edges']}")

    def f11(self) -> None:
        """Derived columns: what the notes say about them."""
        path = self.tables / "derived.csv"
        derived().to_csv(path, index=False)
        found = self.learn("derived")
        path.unlink()
        print("    ", found["error"], *found.get("notes", []), sep="\n    ")
        print("   ", *(" ".join(edge) + ";" for edge in found.get("edge_list", [])))


TRUE_EDGES = {
    frozenset(pair)
    for pair in (
        *(("species", number) for number in ("mass", "flipper", "bill", "depth")),
        *(("sex", number) for number in ("mass", "flipper", "bill", "depth")),
        ("mass", "flipper"),
        ("flipper", "bill"),
        ("mass", "depth"),
    )
}


def people(rows: int, random_state: int) -> dict[str, Any]:
    """Draw independent species and sex, and four numbers, linear and shifted by both, much like penguins."""
    rng = np.random.default_rng(random_state)
    species, sex = rng.integers(0, 3, rows), rng.integers(0, 2, rows)

    def shift(*by_species: float) -> Any:
        return np.array(by_species)[species]

    mass = shift(3370, 3400, 4700) + 670 * sex + rng.normal(0, 310, rows)
    flipper = shift(165, 170, 168) + sex + 0.007 * mass + rng.normal(0, 5, rows)
    bill = shift(20, 30, 28) + 3 * sex + 0.1 * flipper + rng.normal(0, 2, rows)
    depth = shift(14, 14.5, 9) + 0.9 * sex + 0.001 * mass + rng.normal(0, 0.8, rows)
    names = np.array(["a", "b", "c"])[species], np.array(["f", "m"])[sex]
    return dict(
        zip(
            ("species", "sex", "mass", "flipper", "bill", "depth"),
            (*names, mass, flipper, bill, depth),
            strict=True,
        )
    )


def edges(data: Any) -> set[frozenset[str]]:
    """Learn by the default learner; return the adjacencies."""
    import f2sl

    graph = f2sl.learn(data).graph_
    return {frozenset(edge) for edge in (*graph.directed_edges, *graph.undirected_edges)}


def changed(frame: Any, change: Callable[[Any, int], Any]) -> Any:
    """Return a frame with its standardised numbers changed."""
    changed = frame.copy()
    for i, name in enumerate(frame.select_dtypes("float").columns):
        z = frame[name].to_numpy()
        changed[name] = change((z - z.mean()) / z.std(), i)
    return changed


def repeated(path: Path) -> dict[str, float]:
    """Count decided arrows, not weakly, and how many 20 replicates repeat or reverse on average."""
    import f2sl

    graph = f2sl.learn(path).graph_
    found = f2sl.bootstrap(path, replicates=20, n_jobs=1)
    pairs = {(found.nodes[a], found.nodes[b]): n for (a, b), n in zip(found.pairs, found.counts, strict=True)}
    told = {"decided": 0.0, "same": 0.0, "other": 0.0}
    for a, b in set(graph.directed_edges) - getattr(graph, "weak", frozenset()):
        ahead, back, _ = (
            pairs[a, b] if (a, b) in pairs else [pairs.get((b, a), (0, 0, 0))[i] for i in (1, 0, 2)]
        )
        told["decided"] += 1
        told["same"] += ahead / found.n_replicates
        told["other"] += back / found.n_replicates
    return told


def derived() -> Any:
    """Draw a table with a sum, a one-hot group, a logarithm, percentages of a total and a scaled copy."""
    rng = np.random.default_rng(1)
    rent, food = rng.gamma(3, 200, 800).round(2), rng.gamma(4, 100, 800).round(2)
    city = rng.choice(["north", "south", "west"], 800)
    return pd.DataFrame(
        {
            "rent": rent,
            "food": food,
            "spent": rent + food,
            "rent_percent": 100 * rent / (rent + food),
            "food_percent": 100 * food / (rent + food),
            "log_rent": np.log(rent),
            "city": city,
            **{f"city_{name}": (city == name).astype(int) for name in ("north", "south", "west")},
            "income": 2000 + rent + rng.normal(0, 300, 800),
        }
    )


def main() -> None:
    """Print the findings."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--label", default="after")
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[2] / "src")
    parser.add_argument("--tables", type=Path, default=Path(__file__).parents[2] / ".real-tables")
    parser.add_argument("--only", default=",".join(map(str, range(1, 12))))
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.source.resolve()))
    findings = Findings(asked.label, asked.source.resolve(), asked.tables)
    for number in asked.only.split(","):
        finding = getattr(findings, f"f{number}")
        print(f"\n{number}. {finding.__doc__}", flush=True)
        finding()


if __name__ == "__main__":
    main()
