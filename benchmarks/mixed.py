"""Measure how near learners come to the truth from tables of discrete and continuous columns together.

    python benchmarks/mixed.py                           # goes on where it was
    python benchmarks/mixed.py --networks random-20-50,alarm --rows 500 --sets 1,2
    python benchmarks/mixed.py --peers PYTHON            # with the learners of the libraries installed there
    python benchmarks/mixed.py --report                  # print the tables of docs/evidence/mixed.md

F2SL-h learns from the tables as they are, by default and by "cg-bic", and with all numbers cut into 3 or 5
intervals. PyBNesian and causal-learn learn in processes of their own (mixed_peers.py).

=============  ==================================================================================
random-50-25   a random network of 50 variables, 25 % of them numbers: tables of any form, linear equations
shift-50       half of 50 variables numbers: linear equations, shifted by states; states by logits of states
logit-50       the same, but states may depend on numbers as well, by logits
alarm          the published network with a random half of its variables observed as numbers: the mean of the
               state plus noise of half the distance of two means
...-skewed     the same with each number the exponential, the cube or a distribution function of what it was
=============  ==================================================================================

Columns are shuffled and renamed. Each result is stored at once: the SHD of CPDAGs, and the processor seconds
from the frame to the graph. A learner that took longer than --limit is not run on larger tables of the kind.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import f2sl
from f2sl.network import observed_as_continuous
from f2sl_paper.settings import seed_of

RESULTS = Path(__file__).parent / "results" / "mixed_kinds.jsonl"
RANDOM = ["random-10-50", "random-20-50", "random-50-25", "random-50-50", "random-50-75", "random-100-50"]
DRAWN = [f"{kind}-{n}" for kind in ("shift", "logit") for n in (10, 20, 50, 100)]
PUBLISHED = ["child", "insurance", "alarm", "hailfinder"]
NETWORKS = [*DRAWN, *RANDOM, *PUBLISHED]
NETWORKS += [f"{name}-skewed" for name in NETWORKS]
ROWS, SETS = (500, 2000, 10_000, 50_000), (1, 2)
EDGES, MAX_PARENTS = 1.2, 3
"""Edges for each variable of a random network, and the most parents."""
NEAR = 1.05
"""Times the best SHD that still counts as near it."""


class Key(NamedTuple):
    """One run: a learner on one data set."""

    learner: str
    network: str
    rows: int
    data_set: int

    @property
    def kind(self) -> str:
        """Kind of the network: "shift", "logit", "random" or "published", and "skewed" if it is."""
        first, skewed = self.network.split("-")[0], self.network.endswith("-skewed")
        return (first if "-" in self.network.removesuffix("-skewed") else "published") + " skewed" * skewed


def f2sl_h(frame: Any, **options: Any) -> f2sl.PDAG:
    return f2sl.learn(frame, "f2sl-h", stability=0, **options).dag_


OWN = "F2SL-h"
LEARNERS: dict[str, Callable[[Any], f2sl.PDAG]] = {
    OWN: f2sl_h,
    "cg-bic": partial(f2sl_h, score="cg-bic"),
    "3 bins": partial(f2sl_h, bins=3),
    "5 bins": partial(f2sl_h, bins=5),
}
PEERS = {"PyBNesian": 50_000_000, "causal-learn BOSS": 1_000_000, "causal-learn RCIT": 5_000}
"""Learners of other libraries, and the most cells of a table that each is given."""


def drawn(kind: str, n: int, rows: int, data_set: int) -> tuple[Any, f2sl.DAG]:
    """Draw a network of which half the variables are numbers, and rows of it.

    A parent with states shifts a number, or the logits of a child's states, by normal effects of a standard
    deviation of 0.6 to 1.6; a number, in units of its standard deviation, by 0.5 to 1.5.
    """
    rng = np.random.default_rng([data_set, n, kind == "logit"])
    order, states = rng.permutation(n), rng.permutation(n) < n // 2
    parents: dict[int, list[int]] = {v: [] for v in order.tolist()}
    left = round(EDGES * n)
    while left:
        u, v = order[np.sort(rng.choice(n, 2, replace=False))].tolist()
        allowed = kind == "logit" or not states[v] or states[u]
        if allowed and u not in parents[v] and len(parents[v]) < MAX_PARENTS:
            parents[v].append(u)
            left -= 1
    sizes = np.where(states, rng.integers(2, 5, n), 1)
    effects = {}
    for v, own in parents.items():
        for u in own:
            if states[u]:
                drawn_effects = rng.normal(size=(sizes[u], sizes[v]))
                effects[u, v] = rng.uniform(0.6, 1.6) * drawn_effects / drawn_effects.std(axis=0)
            else:
                effects[u, v] = rng.uniform(0.5, 1.5, sizes[v]) * rng.choice([-1, 1], sizes[v])
    base = {v: rng.normal(0, 0.3, sizes[v]) for v in parents}
    sample = np.random.default_rng(seed_of(rows, data_set))
    columns: dict[int, Any] = {}
    for v, own in parents.items():
        value = np.tile(base[v], (rows, 1))
        for u in own:
            column = columns[u]
            if states[u]:
                value += effects[u, v][column]
            else:
                value += ((column - column.mean()) / column.std())[:, None] * effects[u, v]
        if states[v]:
            shares = np.exp(value - value.max(axis=1, keepdims=True)).cumsum(axis=1)
            columns[v] = (shares < sample.random((rows, 1)) * shares[:, -1:]).sum(axis=1)
        else:
            columns[v] = value[:, 0] + sample.normal(size=rows)
    names = [f"x{v}" for v in range(n)]
    frame = pd.DataFrame({names[v]: columns[v] for v in range(n)})
    for v in np.flatnonzero(states):
        frame[names[v]] = "s" + frame[names[v]].astype(str)
    return frame, f2sl.DAG(names, [(names[u], names[v]) for v, own in parents.items() for u in own])


def skewed(frame: Any, data_set: int) -> Any:
    """Return a table in which each number is an increasing function of what it was."""
    rng, found = np.random.default_rng(data_set), frame.copy()
    for name in frame:
        if frame[name].dtype == float:
            value = (frame[name] - frame[name].mean()) / frame[name].std()
            found[name] = [np.exp(1.5 * value), value**3, 1 / (1 + np.exp(-4 * value))][rng.integers(3)]
    return found


@lru_cache(maxsize=2)
def data(network: str, rows: int, data_set: int) -> tuple[Any, f2sl.DAG]:
    """Draw a data set with shuffled columns and new names; columns with one value are left out."""
    random_state = seed_of(rows, data_set)
    name = network.removesuffix("-skewed")
    if name.startswith(("shift-", "logit-")):
        kind, size = name.split("-")
        frame, truth = drawn(kind, int(size), rows, data_set)
    elif name.startswith("random-"):
        n, percent = map(int, name.split("-")[1:])
        how: dict[str, Any] = {"kind": "mixed", "share_continuous": percent / 100, "random_state": data_set}
        net = f2sl.random_network(n, round(EDGES * n), MAX_PARENTS, **how)
        frame, truth = net.sample(rows, random_state=random_state), net.graph
    else:
        hidden = f2sl.load_network(name)
        observed = observed_as_continuous(hidden, random_state=data_set).sample(
            rows, random_state=random_state
        )
        frame, truth = observed[list(hidden.variables)], hidden.graph
    if network != name:
        frame = skewed(frame, data_set)
    dealing = np.random.default_rng(random_state)
    new = [f"V{number:05d}" for number in dealing.permutation(len(truth.nodes)).tolist()]
    renamed = frame.rename(columns=dict(zip(truth.nodes, new, strict=True)))[
        dealing.permutation(new).tolist()
    ]
    varying = [name for name in renamed if renamed[name].nunique() > 1]
    return renamed[varying], f2sl.DAG.from_arrays(new, truth.directed_array)


def of_peer(peer: str, python: str, frame: Any, limit: float) -> tuple[f2sl.PDAG | None, float]:
    """Learn by another library; return the graph, or None after `limit` processor seconds, and seconds."""
    columns = [
        (name, frame[name].to_numpy() if frame[name].dtype == float else pd.factorize(frame[name])[0])
        for name in frame
    ]
    command = [python, str(Path(__file__).with_name("mixed_peers.py")), peer, str(limit)]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    alone |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, input=pickle.dumps(columns), capture_output=True, env=alone, check=False)
    if done.returncode < 0:  # ended by a signal: the limit
        return None, limit
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    found = json.loads(done.stdout)
    return f2sl.PDAG(list(frame), map(tuple, found["arrows"]), map(tuple, found["lines"])), found["seconds"]


def errors(truth: f2sl.DAG, found: f2sl.PDAG) -> int:
    """Return the SHD of the CPDAGs; variables that were left out have no edges."""
    graph = f2sl.PDAG(truth.nodes, found.directed_edges, found.undirected_edges)
    try:
        graph = graph.to_dag()
    except f2sl.GraphError:  # tests may direct edges in a way that no DAG has; compared as it is
        return int(f2sl.compare(truth.to_cpdag(), graph).shd)
    return int(f2sl.compare(truth, graph).shd)


def measure(key: Key, python: str | None, limit: float) -> dict[str, Any]:
    """Learn from a data set and compare with the truth."""
    frame, truth = data(key.network, key.rows, key.data_set)
    if key.learner in PEERS:
        assert python is not None
        found, seconds = of_peer(key.learner, python, frame, limit)
    else:
        started = time.process_time()
        found = LEARNERS[key.learner](frame)
        seconds = time.process_time() - started
    if found is None:
        return {"stopped": limit}
    return {"shd": errors(truth, found), "seconds": round(seconds, 3)}


def load(path: Path) -> dict[Key, dict[str, Any]]:
    """Read the results that there are."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        fields = json.loads(line)
        found[Key(*(fields.pop(name) for name in Key._fields))] = fields
    return found


def plan(chosen: argparse.Namespace) -> Iterator[Key]:
    """List all runs, few rows first; learners of one data set after each other."""
    for data_set in map(int, chosen.sets.split(",")):
        for rows in sorted(map(int, chosen.rows.split(","))):
            for network in chosen.networks.split(","):
                for learner in (*LEARNERS, *(PEERS if chosen.peers else ())):
                    if not chosen.learners or learner in chosen.learners.split(","):
                        yield Key(learner, network, rows, data_set)


def size(key: Key) -> int:
    """Return the number of variables of a key's network."""
    name = key.network.removesuffix("-skewed")
    return int(name.split("-")[1]) if "-" in name else len(f2sl.load_network(name).variables)


def run(chosen: argparse.Namespace) -> None:
    """Run what has no result yet."""
    warnings.simplefilter("ignore")
    results = load(chosen.results)
    for learner in LEARNERS:  # compiles the inner loops
        LEARNERS[learner](data("random-20-50", 500, 0)[0])
    slow = [key for key, found in results.items() if found.get("seconds", math.inf) > chosen.limit]
    chosen.results.parent.mkdir(parents=True, exist_ok=True)
    with chosen.results.open("a", encoding="utf-8") as file:
        for key in plan(chosen):
            n = size(key)
            same = [k for k in slow if (k.learner, k.kind) == (key.learner, key.kind)]
            if (
                key in results
                or any(k.rows <= key.rows and size(k) <= n for k in same)
                or PEERS.get(key.learner, math.inf) < n * key.rows
            ):
                continue
            results[key] = found = measure(key, chosen.peers, chosen.limit)
            if found.get("seconds", math.inf) > chosen.limit:
                slow.append(key)
            file.write(json.dumps(key._asdict() | found) + "\n")
            file.flush()
            print(*key, found, flush=True)


Ends = dict[str, dict[int, tuple[float, float]]]
"""SHD and seconds of each learner's finished runs in a cell, by data set."""


def by_cell(results: dict[Key, dict[str, Any]]) -> dict[tuple[str, int], Ends]:
    """Return the finished runs of each network and number of rows that F2SL-h has."""
    cells: dict[tuple[str, int], Ends] = defaultdict(lambda: defaultdict(dict))
    for key, found in results.items():
        if "shd" in found:
            cells[key.network, key.rows][key.learner][key.data_set] = found["shd"], found["seconds"]
    return {cell: row for cell, row in cells.items() if OWN in row}


def mean(ends: dict[int, tuple[float, float]], sets: Iterable[int] | None = None) -> tuple[float, float]:
    """Return the mean SHD and seconds of some data sets."""
    shd, seconds = np.mean([ends[number] for number in sets or ends], axis=0).tolist()
    return shd, seconds


def better(row: Ends) -> list[str]:
    """Return the learners to which F2SL-h is not near, each compared on the data sets that it finished."""
    own = row[OWN]
    shared = {name: sorted(own.keys() & ends.keys()) for name, ends in row.items() if name != OWN}
    return [
        name for name, sets in shared.items() if sets and mean(own, sets)[0] > NEAR * mean(row[name], sets)[0]
    ]


def report(results: dict[Key, dict[str, Any]]) -> str:
    """Make the tables: SHD and seconds of each cell, counts by kind, and where more rows are no better."""
    cells = by_cell(results)
    names = [name for name in (*LEARNERS, *PEERS) if any(name in row for row in cells.values())]
    lines = [f"| network | rows | {' | '.join(names)} |", f"| --- | ---: |{' ---: |' * len(names)}"]
    near: dict[str, list[bool]] = defaultdict(list)
    falls: dict[str, list[bool]] = defaultdict(list)
    beaten, rising = [], []
    for network in [name for name in NETWORKS if any(name == other for other, _ in cells)]:
        before = math.inf
        for rows in sorted(rows for name, rows in cells if name == network):
            row = cells[network, rows]
            told = ["{:.1f} ({:.1f})".format(*mean(row[name])) if name in row else "" for name in names]
            lines.append(f"| {network} | {rows:,} | {' | '.join(told)} |")
            kind, own, by = Key(OWN, network, rows, 0).kind, mean(row[OWN])[0], better(row)
            near[kind].append(not by)
            if by:
                beaten.append(f"{network} {rows:,} (by {', '.join(by)})")
            if before < math.inf:
                falls[kind].append(own <= before)
                if own > before:
                    rising.append(f"{network} {rows:,} ({before:.1f} to {own:.1f})")
            before = own
    lines += ["", "| kind | cells | best or within 5 % | falls or stays with the rows |"]
    lines += ["| --- | ---: | ---: | ---: |"]
    for kind, found in near.items():
        lines.append(f"| {kind} | {len(found)} | {sum(found)} | {sum(falls[kind])} of {len(falls[kind])} |")
    everyone = [one for found in near.values() for one in found]
    steps = [one for found in falls.values() for one in found]
    lines.append(f"| all | {len(everyone)} | {sum(everyone)} | {sum(steps)} of {len(steps)} |")
    return "\n".join([*lines, "", "Beaten: " + "; ".join(beaten), "", "Rising: " + "; ".join(rising)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="only these, by commas")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--sets", default=",".join(map(str, SETS)))
    parser.add_argument("--learners", default="", help="only these, by commas")
    parser.add_argument("--peers", help="the Python interpreter that has PyBNesian and causal-learn")
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds for each run")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of results")
    parser.add_argument("--report", action="store_true", help="print the tables from what is there")
    chosen = parser.parse_args()
    if not chosen.report:
        run(chosen)
    print(report(load(chosen.results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
