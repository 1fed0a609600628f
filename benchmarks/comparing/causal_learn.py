"""Searches of causal-learn for the best score, in Python: BOSS and GRaSP over orders, GES over classes."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

import numpy as np

from f2sl.graph import PDAG

MODULES = {
    "boss": "causallearn.search.PermutationBased.BOSS",
    "grasp": "causallearn.search.PermutationBased.GRaSP",
    "ges": "causallearn.search.ScoreBased.GES",
}
"""Module of each search, by the name of its function."""


def run_search(search: str, values: Any, names: Sequence[str], **options: Any) -> PDAG:
    """Run a search on the columns of `values`; its random moves are seeded."""
    random.seed(1)
    with redirect_stdout(io.StringIO()):
        found = getattr(import_module(MODULES[search]), search)(values, **options)
    return graph_of_marks(names, (found["G"] if isinstance(found, dict) else found).graph)


def graph_of_marks(names: Sequence[str], marks: Any) -> PDAG:
    """Read its matrix: -1 at a tail and 1 at a head, in the row of the end that has the mark."""
    arrows = np.argwhere((marks == -1) & (marks.T == 1))
    lines = np.argwhere(np.triu((marks == -1) & (marks.T == -1)))
    return PDAG.from_arrays(tuple(names), arrows, lines)
