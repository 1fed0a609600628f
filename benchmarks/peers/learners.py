"""All learners by name; a library is imported when one of its learners runs."""

from __future__ import annotations

from importlib import import_module

from graphs import Learner

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

PACKAGES = (
    "f2sl",
    "pybnesian",
    "pyagrum",
    "pgmpy",
    "causal-learn",
    "numpy",
    "scipy",
    "numba",
    "torch",
    "pandas",
)


def names(group: dict[str, tuple[str, ...]]) -> list[str]:
    return [f"{library} {algorithm}" for library, algorithms in group.items() for algorithm in algorithms]


def load(name: str) -> Learner:
    """Import the library behind a name and return its learner."""
    library, _, algorithm = name.partition(" ")
    learner: Learner = import_module(_MODULES[library]).LEARNERS[algorithm]
    return learner
