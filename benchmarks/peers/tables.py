"""The sampled tables, the same for all learners.

The published networks list their variables more or less from causes to effects, which flatters learners that
break ties by the position of a column, and their names may do so to those that break them by name. So the
columns are shuffled and renamed after their new positions, with a fixed seed. Columns that have one value
only in a sample tell nothing, and some peers fail on them: they are left out, and are nodes without edges.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import f2sl

SEED = 1


class Sample(NamedTuple):
    """A frame of categories, the true graph over its columns, and those left out for having one value."""

    frame: Any
    truth: f2sl.DAG
    constant: list[str]


def make_sample(network: str, rows: int) -> Sample:
    net = f2sl.load_network(network)
    frame = net.sample(rows, seed=SEED).astype(str).astype("category")
    shuffled = np.random.default_rng(SEED).permutation(list(frame.columns)).tolist()
    digits = len(str(len(shuffled)))
    name = {old: f"x{place:0{digits}}" for place, old in enumerate(shuffled)}
    frame = frame[shuffled].rename(columns=name)
    truth = f2sl.DAG(list(frame.columns), [(name[a], name[b]) for a, b in net.graph.directed_edges])
    constant = [column for column in frame.columns if len(frame[column].cat.categories) < 2]
    return Sample(frame.drop(columns=constant), truth, constant)


def stored_sample(folder: Path, network: str, rows: int) -> Path:
    """Sample a table into a folder, once."""
    path = folder / f"{network}-{rows}.pickle"
    if not path.exists():
        path.write_bytes(pickle.dumps(make_sample(network, rows)))
    return path
