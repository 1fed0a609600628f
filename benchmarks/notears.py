"""NOTEARS on linear networks: how right it is, and beside gcastle's, the same networks in one run.

    python benchmarks/notears.py                     #  docs/evidence/gaussian.md, in .venv-peers
    python benchmarks/notears.py --tables accuracy --networks 3

Unit noises, coefficients of 0.5 to 2 of either sign, 1,000 rows. Edges are drawn at random from all pairs,
as the authors of NOTEARS do ("uniform"), or by f2sl.random_network ("hubs"), where early variables have more
children, so that variances grow further; there gcastle takes too long and is left out. "expm" is NOTEARS as
published, "logdet" the constraint of DAGMA. Seconds are from a frame of floats to the graph, without imports,
one after the other on one thread.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import f2sl
from f2sl.errors import F2SLWarning

ROWS = 1000


def uniform(variables: int, edges: int, random_state: int) -> f2sl.GaussianNetwork:
    """Draw a network whose edges are any pairs, along an order drawn at random."""
    rng = np.random.default_rng(random_state)
    names = rng.permutation([f"x{i:02}" for i in range(variables)]).tolist()
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    chosen = [pairs[i] for i in rng.choice(len(pairs), edges, replace=False)]
    weights = rng.uniform(0.5, 2.0, edges) * rng.choice([-1.0, 1.0], edges)
    graph = f2sl.DAG(sorted(names), chosen)
    return f2sl.GaussianNetwork(
        graph, dict(zip(chosen, weights.tolist(), strict=True)), dict.fromkeys(names, 1.0)
    )


def hubs(variables: int, edges: int, random_state: int) -> f2sl.GaussianNetwork:
    return f2sl.random_network(variables, edges, kind="continuous", random_state=random_state)


FAMILIES: dict[str, Callable[[int, int, int], f2sl.GaussianNetwork]] = {"uniform": uniform, "hubs": hubs}


def of_f2sl(constraint: str) -> Callable[[Any], f2sl.DAG]:
    return lambda frame: f2sl.NOTEARS(constraint=constraint).fit(frame).graph_


def of_gcastle(frame: Any) -> f2sl.DAG:
    from castle.algorithms import Notears

    model = Notears()
    model.learn(frame.to_numpy())
    names = list(frame.columns)
    return f2sl.DAG(names, [(names[i], names[j]) for i, j in np.argwhere(np.asarray(model.causal_matrix))])


def learners(family: str) -> dict[str, Callable[[Any], f2sl.DAG]]:
    found = {"expm": of_f2sl("expm"), "logdet": of_f2sl("logdet")}
    if family == "hubs":
        return found
    if find_spec("castle") is None:
        print("gcastle is not installed here (make bench-peers makes an environment that has it): left out")
        return found
    logging.disable(logging.CRITICAL)
    return {**found, "gcastle": of_gcastle}


def table(family: str, variables: int, edges: int, networks: int) -> None:
    """Print SHD and seconds of each network, and whether gcastle's edges are NOTEARS'."""
    names = learners(family)
    print(f"\n{family}: {variables} variables, {edges} edges, {ROWS:,} rows; SHD and seconds")
    heads = "".join(f"{name:>16}" for name in names)
    print(f"{'network':>8}{heads}" + (f"{'expm = gcastle':>17}" if "gcastle" in names else ""))
    shds: dict[str, list[float]] = {name: [] for name in names}
    spent: dict[str, list[float]] = {name: [] for name in names}
    equal = 0
    for random_state in range(networks):
        network = FAMILIES[family](variables, edges, random_state)
        frame = network.sample(ROWS, random_state=random_state)
        graphs = {}
        for name, learn in names.items():
            started = time.perf_counter()
            graphs[name] = learn(frame)
            spent[name].append(time.perf_counter() - started)
            shds[name].append(f2sl.compare(network, graphs[name], convention="paper").shd)
        cells = "".join(f"{shds[name][-1]:>6.0f}{spent[name][-1]:>10.2f}" for name in names)
        same = set(graphs["expm"].directed_edges) == set(graphs.get("gcastle", network.graph).directed_edges)
        equal += same
        print(
            f"{random_state:>8}{cells}" + (f"{'yes' if same else 'no':>17}" if "gcastle" in names else ""),
            flush=True,
        )
    means = "".join(f"{np.mean(shds[name]):>6.1f}{np.mean(spent[name]):>10.2f}" for name in names)
    print(f"{'mean':>8}{means}" + (f"{equal:>17}" if "gcastle" in names else ""), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="accuracy,speed")
    parser.add_argument("--networks", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore", F2SLWarning)
    if "accuracy" in options.tables:
        for family in FAMILIES:
            table(family, 20, 40, options.networks)
    if "speed" in options.tables:
        table("uniform", 30, 60, max(1, options.networks // 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
