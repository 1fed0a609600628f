"""How near learners come to the truth: ten published networks, 500 to 5,000 rows, five data sets of each.

    python benchmarks/accuracy.py                        # goes on where it was; hours in all
    python benchmarks/accuracy.py --networks alarm,child --rows 500 --sets 1,2 --learners f2sl-h,f2sl-c
    python benchmarks/accuracy.py --again f2sl-h         # forget its results and run it again
    python benchmarks/accuracy.py --many-rows            # 5,000 to 500,000 rows, fewer learners
    python benchmarks/accuracy.py --rivals --limit 120   # searches for the best score, also of causal-learn
    python benchmarks/accuracy.py --ablation             # what each part of F2SL-h is worth
    python benchmarks/accuracy.py --tuning f2sl-h "f2sl-h alpha=0.05"      # on networks of their own
    python benchmarks/accuracy.py --report               # docs/evidence/accuracy.md and its chart

Columns are shuffled and variables renamed before every run. Learners run one at a time; a run that exceeds
the limit is stopped and has no figures, and its learner is not run on more data of that network. Each result
is stored at once. Learners and options that this version of f2sl does not have are left out, with a note.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from comparing.data import (
    MANY_NETWORKS,
    MANY_ROWS,
    MANY_SETS,
    NETWORKS,
    RIVAL_NETWORKS,
    RIVAL_SETS,
    ROWS,
    SETS,
    TUNING,
    TUNING_ROWS,
    TUNING_SETS,
)
from comparing.learners import ABLATION, COMPARED, MANY, RIVALS, Configuration, parsed
from comparing.page import of_configurations, write_page
from comparing.store import Key, Store, place_of
from comparing.summary import Summary
from comparing.worker import Runs
from f2sl.errors import unknown_name
from f2sl.network.bundled import bundled_sizes
from f2sl_paper.harness.job import Limits
from f2sl_paper.harness.lines import claimed_results
from f2sl_paper.harness.machine import total_memory

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "accuracy.md"
IMAGES = PAGE.parent / "images"


def listed(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def check(kind: str, wanted: Iterable[str], known: Collection[str]) -> None:
    for name in wanted:
        if name not in known:
            sys.exit(unknown_name(kind, name, known))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--many-rows", action="store_true", help="5,000 to 500,000 rows, fewer learners")
    what.add_argument("--rivals", action="store_true", help="searches for the best score, on small networks")
    what.add_argument("--ablation", action="store_true", help="the parts of F2SL-h, one by one")
    what.add_argument("--tuning", nargs="+", metavar="CONFIGURATION", help="compare these, on other networks")
    what.add_argument("--report", action="store_true", help="write the page from what is there")
    parser.add_argument("--networks", type=listed, help="only these, by commas")
    parser.add_argument("--rows", type=numbers)
    parser.add_argument("--sets", type=numbers)
    parser.add_argument("--learners", type=listed, help="only these algorithms, by commas")
    parser.add_argument(
        "--again", type=listed, default=[], help="forget the results of these algorithms first"
    )
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each run")
    parser.add_argument("--results", type=Path, help="the file of results")
    return parser.parse_args()


def ready(configurations: Sequence[Configuration], store: Store) -> list[Configuration]:
    """Leave out, with a note, what this version of f2sl does not know; refuse results of other options."""
    found = []
    for configuration in configurations:
        if why := configuration.why_not():
            print(f"left out: {configuration.name} ({why})", flush=True)
        elif not store.fits(configuration):
            sys.exit(
                f"{store.path} has results of {configuration.name!r} with other options; "
                f"forget them by --again {configuration.algorithm}, or choose another file by --results"
            )
        else:
            found.append(configuration)
    return found


def plan(
    configurations: Sequence[Configuration], networks: Sequence[str], rows: Sequence[int], sets: Sequence[int]
) -> Iterator[Key]:
    """List all runs, few rows first; learners of one data set after each other."""
    for size in sorted(rows):
        for network in networks:
            for data_set in sets:
                for configuration in configurations:
                    yield Key(configuration.name, network, size, data_set)


def main() -> int:
    options = arguments()
    if options.report:
        stores = (
            Store(RESULTS / f"{name}.jsonl")
            for name in ("accuracy", "many_rows", "rivals", "ablation", "tuning")
        )
        write_page(PAGE, IMAGES, *stores)
        return 0
    configurations: tuple[Configuration, ...] = COMPARED
    name, networks, rows, sets = "accuracy", NETWORKS, ROWS, SETS
    if options.many_rows:
        configurations, name = MANY, "many_rows"
        networks, rows, sets = MANY_NETWORKS, MANY_ROWS, MANY_SETS
    if options.rivals:
        configurations, name, networks, sets = RIVALS, "rivals", RIVAL_NETWORKS, RIVAL_SETS
    if options.ablation:
        configurations, name, sets = ABLATION, "ablation", TUNING_SETS
    if options.tuning:
        configurations = tuple(map(parsed, options.tuning))
        name, networks, rows, sets = "tuning", tuple(TUNING), TUNING_ROWS, TUNING_SETS
    networks = options.networks or networks
    algorithms = {configuration.algorithm for configuration in configurations}
    check("network", networks, [*TUNING, *(size.name for size in bundled_sizes())])
    check("algorithm", [*(options.learners or ()), *options.again], sorted(algorithms))
    path = options.results or RESULTS / f"{name}.jsonl"
    with claimed_results(path):
        wanted = [c for c in configurations if not options.learners or c.algorithm in options.learners]
        store = Store(path, Limits(options.limit, total_memory()), wanted)
        store.forget(options.again)
        found = ready(wanted, store)
        keys = plan(found, networks, options.rows or rows, options.sets or sets)
        store.complete(Runs(tuple(found)), keys, place_of)
    if options.ablation or options.tuning:
        names = [configuration.name for configuration in found]
        print(f"\n{of_configurations(Summary(store.results, names, networks))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
