"""Exact search on this machine: seconds beside the Gram product of `speed.py`, sets counted, and memory.

    python benchmarks/exact.py            # 15 and 20 variables
    python benchmarks/exact.py --quick    # 15 variables alone

The columns are the first by name of networks with few states (alarm) and with more (insurance).
"""

from __future__ import annotations

import argparse
import sys

import f2sl
from f2sl_paper.harness.machine import least_seconds, peak_bytes_of
from sampling import GRAM_PRODUCT, gram_product

ROWS = 1000
SECONDS = {15: 1.0, 20: 60.0}
MEGABYTES = 2000.0
NETWORKS = ("alarm", "insurance")
SCORES = ("bdeu", "bic")


def columns(network: str, k: int):
    """The first columns by name, and a thousand rows of them."""
    frame = f2sl.load_network(network).sample(ROWS, random_state=1)
    return frame[sorted(frame.columns)[:k]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="15 variables alone")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    gram = least_seconds({GRAM_PRODUCT: gram_product()}, 15)[GRAM_PRODUCT]
    print(f"{GRAM_PRODUCT}: {1000 * gram:.1f} ms; exact search of {ROWS:,} rows\n")
    headings = ("columns of", "score", "seconds", "/ Gram", "sets", "families", "log score")
    print("{:>9} {:<10} {:<5} {:>8} {:>7} {:>10} {:>11} {:>13}".format("variables", *headings))
    met = True
    for k, limit in SECONDS.items():
        if options.quick and k > 15:
            break
        for network in NETWORKS:
            data = columns(network, k)
            for score in SCORES:
                learner = f2sl.ExactSearch(score=score)
                repeats = options.repeats if k <= 15 else 1
                fit = {"fit": lambda learner=learner, data=data: learner.fit(data)}
                seconds = least_seconds(fit, repeats)["fit"]
                met &= seconds <= limit
                print(
                    f"{k:>9} {network:<10} {score:<5} {seconds:>8.2f} {seconds / gram:>7.0f} "
                    f"{learner.n_sets_:>10,} {learner.n_families_:>11,} {learner.score_:>13.3f}"
                )
    if not options.quick:
        code = "from exact import *; f2sl.ExactSearch().fit(columns('insurance', 20))"
        peak = peak_bytes_of(code) / 2**20
        met &= peak <= MEGABYTES
        print(f"\npeak of 20 variables, BDeu: {peak:.0f} MB (at most {MEGABYTES:.0f})")
    print(
        f"\n15 variables within {SECONDS[15]:g} s, 20 within {SECONDS[20]:g} s: {'met' if met else 'NOT MET'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
