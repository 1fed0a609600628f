"""The networks that are learned, and data sets drawn from them.

Published networks list their variables in causal order, and where nothing in the data decides a direction
learners go by names or columns. So the columns of every data set are shuffled and its variables get new
names, dealt out at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import f2sl
from f2sl_paper.settings import seed_of

NETWORKS = (
    "alarm",
    "child",
    "insurance",
    "mildew",
    "hailfinder",
    "win95pts",
    "andes",
    "munin1",
    "pigs",
    "link",
)
ROWS = (500, 1000, 5000)
SETS = (1, 2, 3, 4, 5)
RIVAL_NETWORKS = ("child", "insurance", "alarm", "mildew", "hailfinder", "win95pts", "andes")
RIVAL_SETS = (1, 2)
MANY_NETWORKS = (*NETWORKS, "hepar2")
MANY_ROWS = (5000, 50_000, 500_000)
MANY_SETS = (1, 2)


def _tiled(name: str, copies: int) -> f2sl.BayesianNetwork:
    return f2sl.tile(f2sl.load_network(name), copies, random_state=1)


TUNING: dict[str, Callable[[], f2sl.BayesianNetwork]] = {
    "asia-10": partial(_tiled, "asia", 10),
    "sachs-6": partial(_tiled, "sachs", 6),
    "hepar2-2": partial(_tiled, "hepar2", 2),
    "water-3": partial(_tiled, "water", 3),
    "barley-2": partial(_tiled, "barley", 2),
    "random-2": partial(f2sl.random_network, 100, 150, 4, (2, 2), 1),
    "random-2-4": partial(f2sl.random_network, 100, 140, 3, (2, 4), 2),
    "random-2-4-weak": partial(f2sl.random_network, 100, 140, 3, (2, 4), 3, strength=0.5),
    "random-2-20": partial(f2sl.random_network, 60, 75, 2, (2, 20), 4),
    "random-2-20-weak": partial(f2sl.random_network, 60, 75, 2, (2, 20), 5, strength=0.5),
}
"""Networks that constants are chosen on: tiles and random ones with so many states, none of the ten above."""
TUNING_ROWS = (500, 1000, 5000)
TUNING_SETS = (1, 2)


@dataclass(frozen=True)
class DataSet:
    """A table with shuffled columns and new names, and the graph it comes from under these names."""

    frame: Any
    truth: f2sl.DAG


def network_of(name: str) -> f2sl.BayesianNetwork:
    """Return a network of the tuning ones, or a bundled one."""
    return TUNING[name]() if name in TUNING else f2sl.load_network(name)


def draw(network: f2sl.BayesianNetwork, rows: int, data_set: int) -> DataSet:
    """Draw a data set, by its number."""
    random_state = seed_of(rows, data_set)
    dealing = np.random.default_rng(random_state)
    frame = network.sample(rows, random_state=random_state)
    old = list(network.graph.nodes)
    new = [f"V{number:05d}" for number in dealing.permutation(len(old)).tolist()]
    columns = dealing.permutation(new).tolist()
    renamed = frame.rename(columns=dict(zip(old, new, strict=True)))[columns]
    return DataSet(renamed, f2sl.DAG.from_arrays(new, network.graph.directed_array))
