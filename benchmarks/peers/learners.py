"""All learners by name; a library is imported when one of its learners runs.

Every learner is a function that takes a frame of categories, prepares what is not timed, and returns a
function without arguments: that one is timed, and returns a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import f2sl

ALPHA = 0.01
"""Level of significance of all learners by tests."""

Learn = Callable[[], f2sl.PDAG]
Learner = Callable[[Any], Learn]

OURS = "f2sl"

QUICK: dict[str, tuple[str, ...]] = {
    OURS: ("F2SL-c", "F2SL-s", "F2SL-h", "GSBN", "MMPC", "MMHC", "MMHC-c", "PC-stable", "hill climbing"),
    "PyBNesian": ("MMPC", "MMHC", "PC", "hill climbing"),
    "pyAgrum": ("hill climbing", "MIIC", "PC"),
}
"""Compiled learners: measured side by side, before all others."""

SLOW: dict[str, tuple[str, ...]] = {
    OURS: ("SLL+C", "SLL+G", "GGSL", "NOTEARS", "DAG-GNN"),
    "pgmpy": ("PC", "hill climbing", "MMHC"),
    "causal-learn": ("PC", "GES"),
}
"""Those in Python, and ours that search exactly or by gradients: measured after the others."""

_MODULES = {
    OURS: "of_f2sl",
    "PyBNesian": "of_pybnesian",
    "pyAgrum": "of_pyagrum",
    "pgmpy": "of_pgmpy",
    "causal-learn": "of_causal_learn",
}

PACKAGES = ("pybnesian", "pyagrum", "pgmpy", "causal-learn", "numpy", "scipy", "numba", "torch", "pandas")
"""Packages whose versions are stored with the figures."""


def names(group: dict[str, tuple[str, ...]]) -> list[str]:
    return [f"{library} {algorithm}" for library, algorithms in group.items() for algorithm in algorithms]


def load(name: str) -> Learner:
    """Import the library behind a name and return its learner."""
    library, _, algorithm = name.partition(" ")
    learner: Learner = import_module(_MODULES[library]).LEARNERS[algorithm]
    return learner


def pdag(names: Iterable[str], arrows: Iterable[Iterable[str]], lines: Iterable[Iterable[str]]) -> f2sl.PDAG:
    """Make a graph of a peer's arrows and lines; what points both ways, or is in both lists, is a line."""
    directed = {tuple(arrow) for arrow in arrows}
    undecided = {frozenset(line) for line in lines}
    undecided |= {frozenset(arrow) for arrow in directed if arrow[::-1] in directed}
    return f2sl.PDAG(
        list(names),
        sorted(arrow for arrow in directed if frozenset(arrow) not in undecided),
        sorted(tuple(sorted(line)) for line in undecided),
    )
