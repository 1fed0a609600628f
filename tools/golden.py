"""Record what every learner finds on many small tables, and compare two such records.

    python tools/golden.py record before.jsonl --source ../before/src    # the f2sl in that folder
    python tools/golden.py record after.jsonl                            # the f2sl of this checkout
    python tools/golden.py compare before.jsonl after.jsonl

A record has one line for each learner, table and engine: hashes of the graph and of its equivalence class,
or of the sets of neighbors; the score; the numbers of tests and families; the processor seconds of a warm
run; or the class of the error. `compare` prints each difference in one line and the ratio of seconds of
each learner, and fails if there is a difference. Only the first part of this file knows f2sl: after a name
has changed there, that part is to record versions from before and after.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


# The adapter: all that is known of f2sl


class Learner(NamedTuple):
    """One learner with options: `call` is the function that learns, `most` its largest number of columns."""

    algorithm: str
    options: Mapping[str, Any] = {}
    call: str = "learn"
    most: int = 100

    @property
    def name(self) -> str:
        """Name in the record: that of the command line, with the options."""
        call = {"learn": "", "learn_pc": "pc ", "learn_mb": "mb "}[self.call]
        return " ".join([call + self.algorithm, *(f"{name}={value}" for name, value in self.options.items())])


LEARNERS = (
    Learner("f2sl-h"),
    *(Learner("f2sl-h", {"search": "hill-climbing"}), Learner("f2sl-h", {"effort": "thorough"}, most=20)),
    *(Learner("f2sl-h", {"knowledge": "some"}), Learner("f2sl-h", {"bins": 3, "missing": "state"})),
    Learner("f2sl-c"),
    *(
        Learner("f2sl-c", {"delta": "auto"}),
        Learner("f2sl-c", {"knowledge": "some"}),
        Learner("f2sl-c", {"bins": 4}),
    ),
    *(Learner("f2sl-s"), Learner("f2sl-s", {"score": "k2"}), Learner("f2sl-s", {"score": "bic-g"})),
    *(Learner("boss", most=12), Learner("boss", {"score": "bdeu"}, most=12)),
    Learner("boss", {"score": "cg-bic"}, most=10),
    *(Learner("hc"), Learner("tabu"), Learner("tabu", {"score": "bic"})),
    *(Learner("mmhc"), Learner("mmhc", {"score": "bic"}), Learner("mmhc-c"), Learner("gsbn")),
    *(
        Learner("pc-stable"),
        Learner("pc-stable", {"ci_test": "x2"}),
        Learner("pc-stable", {"ci_test": "cg"}, most=10),
    ),
    Learner("local-to-global"),
    Learner("local-to-global", {"pc": "hiton-pc", "orient": "score"}),
    *(Learner("sll+c", most=12), Learner("sll+g", most=12), Learner("ggsl", most=12)),
    *(
        Learner("exact", most=12),
        Learner("tc"),
        Learner("notears", most=10),
        Learner("dag-gnn", {"epochs": 5}, most=7),
    ),
    *(
        Learner(name, call="learn_pc", most=12 if "sll" in name or "s2tmb" in name else 60)
        for name in ("fcbf", "fcbf-confirmed", "mrmr", "mmpc", "hiton-pc", "pc-simple", "sll-pc", "s2tmb-pc")
    ),
    *(
        Learner(name, call="learn_mb", most=12 if name in ("sll", "s2tmb") else 100)
        for name in (
            *("gsmb", "iamb", "inter-iamb", "hiton-mb", "mmmb", "pcmb", "stmb", "bamb", "tc", "sll", "s2tmb"),
        )
    ),
)
"""All learners, by the names of the command line, and some with other options."""

EVERY_TABLE = ("f2sl-h", "f2sl-c", "f2sl-s", "pc-stable")
"""Learners that meet all tables; the others meet some of each sort."""

ENGINES = ("memory", "stream", "dask")
KIND_NAMES = {"discrete": "discrete", "continuous": "continuous"}
"""Older names of the kinds of columns."""


def learned(learner: Learner, path: str, columns: list[str], engine: str, client: Any) -> dict[str, Any]:
    """Learn from a file; return what was found, or the class of the error."""
    import f2sl

    options: dict[str, Any] = {**learner.options, "engine": engine}
    options |= {"n_jobs": 2 if engine == "stream" else 1}
    if engine == "dask":
        options["scheduler"] = client
    if "knowledge" in options:
        required, forbidden = [(columns[2], columns[0])], [(columns[0], columns[1]), (columns[1], columns[3])]
        options["knowledge"] = f2sl.Knowledge(required=required, forbidden=forbidden)
    try:
        if learner.call == "learn":
            return of_graph(f2sl.learn(path, learner.algorithm, **options))
        return of_sets(getattr(f2sl, learner.call)(path, None, learner.algorithm, **options))
    except f2sl.F2SLError as error:
        return {"error": type(error).__name__}
    except Exception as error:  # not a refusal: a fault, which is recorded as such
        return {"error": f"fault: {type(error).__name__}"}


def of_graph(model: Any) -> dict[str, Any]:
    """Describe a learned graph: what the data decide, and the DAG if there is one."""
    dag = getattr(model, "dag_", None)  # of versions in which `graph_` is what the data decide
    decided = model.graph_ if dag is not None else getattr(model, "cpdag_", model.graph_)
    if dag is None and decided is not model.graph_:
        dag = model.graph_
    return {
        "graph": digest(of_edges(decided)),
        "dag": None if dag is None else digest(of_edges(dag)),
        "edges": [len(decided.directed_edges), len(decided.undirected_edges)],
        "strength": math.fsum(abs(weight) for weight in (decided.weights or {}).values()),
        "score": getattr(model, "score_", None),
        "tests": getattr(model, "n_tests_", None),
        "families": getattr(model, "n_families_", None),
    }


def of_edges(graph: Any) -> list[list[str]]:
    directed = ([a, "->", b] for a, b in graph.directed_edges)
    return sorted([*directed, *([*sorted(edge)[:1], "-", max(edge)] for edge in graph.undirected_edges)])


def of_sets(sets: Any) -> dict[str, Any]:
    """Describe the sets of all variables."""
    strengths = (value for found in sets.values() for value in found.values())
    return {
        "graph": digest([[name, *sorted(found)] for name, found in sorted(sets.items())]),
        "edges": [sum(map(len, sets.values()))],
        "strength": math.fsum(abs(value) for value in strengths if not math.isnan(value)),
        "tests": sets.n_tests,
    }


def reading(path: str) -> str:
    """Describe how the columns of a file are read."""
    import f2sl

    try:
        with f2sl.open_table(path) as table:
            kinds = Counter(KIND_NAMES.get(column.kind, column.kind) for column in table.columns)
            kinds_read = ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds))
            return f"{kinds_read}, {table.n_rows} rows"
    except f2sl.F2SLError as error:
        return type(error).__name__


def version() -> str:
    import f2sl

    return f2sl.__version__


def cluster() -> Any:
    """Start a Dask cluster in this process, so that its work counts among the processor seconds."""
    from distributed import Client, LocalCluster

    how = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    return Client(LocalCluster(**how, silence_logs=logging.CRITICAL), set_as_default=False)


# The record


PER_SORT = 4
"""Tables of each sort (kind, complete or not) that a learner meets in memory; two by each other engine."""
LEAST_SECONDS = 0.2
"""A shorter run is timed twice, and the shorter time kept."""
PARTS = 8
"""Processes that share the learners; as many run at a time as there are cores."""


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


def written(folder: Path, kinds: list[str], most: int) -> list[dict[str, Any]]:
    """Write tables as CSV, at most so many of a kind; describe them."""
    from golden_tables import golden_tables

    described = []
    of_kind: Counter[str] = Counter()
    for table in golden_tables():
        of_kind[table.kind] += 1
        if table.kind in kinds and of_kind[table.kind] <= most:
            frame, path = table.rows(), folder / f"{len(described)}.csv"
            frame.to_csv(path, index=False)
            rows = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            about = {"table": table.name, "kind": table.kind, "missing": table.missing, "rows": rows}
            described.append({**about, "path": str(path), "columns": list(frame)})
    return described


def tasks(learner: Learner, tables: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Give the tables and engines that a learner meets, which further tables and learners hardly change."""
    sorts = defaultdict(list)
    for table in sorted(tables, key=lambda table: digest([learner.name, table["table"]])):
        if len(table["columns"]) <= learner.most:
            sorts[table["kind"], table["missing"]].append(table)
    for found in sorts.values():
        in_memory = len(found) if learner.name in EVERY_TABLE else PER_SORT
        yield from ((table, "memory") for table in found[:in_memory])
        yield from ((table, "stream") for table in found[:2])
        yield from ((table, "dask") for table in found[1:3] or found)


def measured(learner: Learner, table: dict[str, Any], engine: str, client: Any) -> dict[str, Any]:
    """Learn once for the result, and again for the time."""
    asked = learner, table["path"], table["columns"], engine, client
    found, seconds = learned(*asked), []
    while "error" not in found and (not seconds or (len(seconds) < 2 and seconds[0] < LEAST_SECONDS)):
        started = time.process_time()
        again = learned(*asked)
        seconds.append(time.process_time() - started)
        if again != found:
            return {"error": "fault: two runs differ"}
    return {**found, "seconds": round(min(seconds), 4)} if seconds else found


def work(plan: dict[str, Any]) -> None:
    """Learn by some learners, in a process of its own; print one line for each result."""
    warnings.simplefilter("ignore")
    results, sys.stdout = sys.stdout, sys.stderr
    client = cluster()
    for name in plan["learners"]:
        (learner,) = (learner for learner in LEARNERS if learner.name == name)
        for table, engine in tasks(learner, plan["tables"]):
            key = {"learner": name, "table": table["table"], "engine": engine}
            print(json.dumps({**key, **measured(learner, table, engine, client)}), file=results, flush=True)
    for table in plan["to read"]:
        about = {name: table[name] for name in ("table", "kind", "missing", "rows")}
        print(json.dumps({**about, "read": reading(table["path"])}), file=results, flush=True)
    results.flush()
    os._exit(0)  # closing a cluster takes seconds


def done_by(source: Path, plan: dict[str, Any]) -> list[str]:
    """Run `work` with the f2sl of a folder; return its lines, fewer if the process ends early."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": str(source)}
    command = [sys.executable, str(Path(__file__).resolve()), "work"]
    pipe = subprocess.PIPE
    started = time.perf_counter()
    done = subprocess.run(
        command, env=environment, input=json.dumps(plan), stdout=pipe, text=True, check=False
    )
    lines = done.stdout.splitlines()
    told = f"{', '.join(plan['learners'])}: {time.perf_counter() - started:.0f} s"
    if done.returncode:
        lines = lines[: done.stdout.count("\n")]  # the last one may be cut off
        told += f"; ENDED with code {done.returncode} after {lines[-1] if lines else 'nothing'}"
    print(told, file=sys.stderr, flush=True)
    return lines


def record(path: Path, source: Path, kinds: list[str], names: list[str], most: int, jobs: int) -> bool:
    """Learn from the tables in several processes and write the record; return whether it is complete."""
    chosen = [learner for learner in LEARNERS if not names or learner.name in names]
    if unknown := set(names) - {learner.name for learner in chosen}:
        raise SystemExit(f"unknown learners: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        tables = written(Path(folder), kinds, most)
        parts = [[learner.name for learner in chosen[part::PARTS]] for part in range(min(PARTS, len(chosen)))]
        plans = [{"learners": part, "tables": tables, "to read": []} for part in parts]
        plans[-1]["to read"] = tables
        with ThreadPoolExecutor(jobs) as pool:
            lines = [line for part in pool.map(partial(done_by, source.resolve()), plans) for line in part]
    path.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")
    faults = [line for line in lines if '"fault: ' in line]
    n_results, expected = len(lines) - len(tables), sum(len([*tasks(one, tables)]) for one in chosen)
    print(
        f"{n_results:,} of {expected:,} results on {len(tables)} tables, {len(faults)} of them faults",
        *faults,
        sep="\n",
    )
    return n_results == expected


# The comparison


EXACT = ("error", "graph", "dag", "edges", "tests", "families")
NEAR = ("score", "strength")
"""What may differ by rounding, if sums are taken in another order."""
TOLERANCE = 1e-9

Record = dict[tuple[str, ...], dict[str, Any]]


def load(path: Path) -> Record:
    """Read a record: results by learner, table and engine, and tables by their name."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {
        tuple(line[name] for name in ("learner", "table", "engine") if name in line): line for line in lines
    }


def is_same(name: str, old: Any, new: Any) -> bool:
    if name in NEAR and None not in (old, new):
        return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return old == new or (name != "error" and None in (old, new))  # a version need not tell everything


def differences(old: Record, new: Record, part: bool) -> Iterator[tuple[str, str]]:
    """Give what differs, and one line about it."""
    for key, before in old.items():
        told = " | ".join(key)
        if key not in new:
            if not part:
                yield "missing", f"{told}: missing in the new record"
            continue
        after = new[key]
        if len(key) == 1:
            changed = [name for name in ("rows", "read") if before[name] != after[name]]
        else:
            changed = [
                name for name in (*EXACT, *NEAR) if not is_same(name, before.get(name), after.get(name))
            ]
        if "error" in changed:
            changed = ["error"]
        if changed:
            what = "; ".join(f"{name} {before.get(name)} -> {after.get(name)}" for name in changed)
            read = old.get(key[1:2], {}).get("read") == new.get(key[1:2], {}).get("read")
            yield changed[0], f"{told}: {what}{'' if read or len(key) == 1 else ' (table read differently)'}"


def ratios(old: Record, new: Record) -> Iterator[str]:
    """Give a line for each learner: seconds before and after, and the median of their ratios."""
    of_learner = defaultdict(list)
    for key, before in old.items():
        pair = before.get("seconds"), new.get(key, {}).get("seconds")
        if None not in pair:
            of_learner[key[0]].append(pair)
    for learner, pairs in sorted(of_learner.items()):
        ratio = statistics.median(after / before for before, after in pairs)
        sums = [math.fsum(pair[i] for pair in pairs) for i in (0, 1)]
        yield f"{learner:42} {len(pairs):5} {sums[0]:10.2f} {sums[1]:10.2f} {ratio:8.2f}"


def compare(old_path: Path, new_path: Path, part: bool) -> bool:
    """Print the differences of two records; return whether there are any."""
    old, new = load(old_path), load(new_path)
    found = list(differences(old, new, part))
    for _, line in found:
        print(line)
    print(f"\n{'learner':42} runs  seconds before, after    ratio (median)", *ratios(old, new), sep="\n")
    both = sum(len(key) > 1 for key in old.keys() & new.keys())
    counts = Counter(what for what, _ in found).most_common()
    told = ", ".join(f"{n} {what}" for what, n in counts) or "none"
    further = len(new.keys() - old.keys())
    print(f"\n{both:,} results compared; differences: {told}; only in the new record: {further}")
    return bool(found)


def main() -> int:
    if sys.argv[1:] == ["work"]:
        work(json.load(sys.stdin))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="command")
    one = commands.add_parser("record", help="learn from all tables and write what was found")
    one.add_argument("file", type=Path)
    one.add_argument("--source", type=Path, default=ROOT / "src", help="folder with the package f2sl")
    one.add_argument(
        "--kinds", nargs="+", default=["discrete", "continuous", "mixed"], help="kinds of tables"
    )
    one.add_argument("--learners", nargs="+", default=[], help="only these learners, as a record names them")
    one.add_argument("--most", type=int, default=1000, help="at most so many tables of each kind")
    one.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    two = commands.add_parser("compare", help="print the differences of two records")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    two.add_argument("--part", action="store_true", help="the new record may lack results of the old one")
    asked = parser.parse_args()
    if asked.command == "compare":
        return compare(asked.old, asked.new, asked.part)
    return not record(asked.file, asked.source, asked.kinds, asked.learners, asked.most, asked.jobs)


if __name__ == "__main__":
    sys.exit(main())
