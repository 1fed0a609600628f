"""How fast f2sl is on this machine, as ratios measured side by side in one run.

    python benchmarks/speed.py            # everything
    python benchmarks/speed.py --quick    # without the table of sizes

Every time is the least of several interleaved, warm runs: these machines are shared, and what a
neighbor does only ever adds.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numba
import numpy as np

import f2sl
from f2sl._jit import popcount
from f2sl._threads import available_cores
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.open import open_table
from f2sl.stats.measures.information import Information
from f2sl_paper.harness.machine import least_seconds, peak_bytes_of
from sampling import GRAM_PRODUCT, ROWS, STATES, VARIABLES, gram_product, independent, sparse_network

LIMITS = {"pairs / bare loop": 2.5, "gram / pairs": 2.0, "fit / gram": 4.0, "megabytes": 400.0}


@numba.njit(nogil=True)
def bare_loop(planes, first, last, n, k, out):
    """AND and popcount over all pairs of planes but those of last states, and nothing else."""
    words = planes.shape[1]
    for i in range(first, last):
        for j in range(i + 1, n):
            for a in range(k - 1):
                for b in range(k - 1):
                    bits = 0
                    for w in range(words):
                        bits += popcount(planes[i * k + a, w] & planes[j * k + b, w])
                    out[i] += bits


def core_ratios(repeats: int) -> dict[str, float]:
    noise = independent(VARIABLES, ROWS, STATES)
    network = sparse_network(VARIABLES, ROWS, STATES)
    engine = MemoryEngine(open_table(noise).in_name_order())
    cores = available_cores()
    # The bare loop's rows are dealt out so that all threads have the same number of pairs.
    borders = (VARIABLES * (1 - np.sqrt(1 - np.arange(4 * cores + 1) / (4 * cores)))).astype(int)
    out = np.zeros(VARIABLES, np.int64)
    pool = ThreadPoolExecutor(cores)

    def bare() -> None:
        list(
            pool.map(
                lambda part: bare_loop(engine._planes, part[0], part[1], VARIABLES, STATES, out),
                pairwise(borders),
            )
        )

    information = Information(engine)
    return least_seconds(
        {
            "bare AND-and-popcount loop": bare,
            "SU of all pairs": lambda: engine.search_pairs(information.pairs_above(0.05)),
            GRAM_PRODUCT: gram_product(),
            "F2SLc().fit on a sparse network": lambda: f2sl.F2SLc().fit(network),
        },
        repeats,
    )


def table_of_sizes(repeats: int) -> None:
    print("\nF2SLc().fit, ternary data from sparse random networks")
    print(f"{'variables':>10} {'rows':>8} {'seconds':>9} {'pairs':>9} {'orient':>9}")
    by_variables = [(n, 1000) for n in (200, 400, 801, 1600, 3200, 5000)]
    by_rows = [(200, n) for n in (500, 2000, 10_000, 30_000, 100_000)]
    for sizes, axis, label in ((by_variables, 0, "variables"), (by_rows, 1, "rows")):
        seconds, pair_seconds = [], []
        for n, rows in sizes:
            data = sparse_network(n, rows, STATES)
            runs = [f2sl.F2SLc().fit(data).timings_ for _ in range(repeats)]
            best = min(runs, key=lambda t: t["total"])
            seconds.append(best["total"])
            pair_seconds.append(min(t["neighbors"] for t in runs))
            parts = (best[name] for name in ("total", "neighbors", "orientation"))
            print(f"{n:>10,} {rows:>8,} " + " ".join(f"{part:>9.3f}" for part in parts))
        size = np.log([pair[axis] for pair in sizes])
        whole, pairs = (np.polyfit(size[-3:], np.log(s[-3:]), 1)[0] for s in (seconds, pair_seconds))
        print(
            f"  grows with {label} to the power {whole:.2f} in all, {pairs:.2f} for the pairs"
            " (fitted on the three largest sizes)"
        )


def peak_of_a_large_table() -> float:
    """Megabytes of a process that makes a table of 5,000 variables, imports f2sl and learns."""
    code = (
        "from sampling import sparse_network\n"
        "data = sparse_network(5000, 1000).astype('uint8')\n"
        "import f2sl; f2sl.F2SLc().fit(data)"
    )
    return peak_bytes_of(code) / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the table of sizes")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    options = parser.parse_args()
    versions = {"f2sl": f2sl.__version__, "Python": platform.python_version()}
    versions |= {"NumPy": np.__version__, "Numba": numba.__version__}
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"{platform.machine()}, {available_cores()} cores; {VARIABLES} ternary variables, {ROWS:,} rows\n")
    seconds = core_ratios(options.repeats)
    for name, value in seconds.items():
        print(f"{name:<36} {1000 * value:>8.2f} ms")
    bare, pairs, gram, fit = seconds.values()
    figures = {
        "pairs / bare loop": pairs / bare,
        "gram / pairs": gram / pairs,
        "fit / gram": fit / gram,
        "megabytes": peak_of_a_large_table(),
    }
    print()
    met = True
    for name, limit in LIMITS.items():
        at_least = name == "gram / pairs"
        good = figures[name] >= limit if at_least else figures[name] <= limit
        met &= good
        bound = f"at {'least' if at_least else 'most'} {limit:g}"
        note = "peak of 5,000 variables and 1,000 rows" if name == "megabytes" else ""
        print(f"{name:<20} {figures[name]:>8.2f}   {bound:<14} {'met' if good else 'NOT MET'}   {note}")
    if not options.quick:
        table_of_sizes(max(2, options.repeats // 5))
    if options.json:
        with open(options.json, "w") as file:  # noqa: PTH123
            json.dump(
                {"seconds": seconds, "figures": figures, "machine": platform.platform()}, file, indent=1
            )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
