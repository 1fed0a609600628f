"""Learn the structure of Bayesian networks from tables of categories, numbers or both.

>>> import f2sl
>>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
>>> model.graph_.n_nodes
8

Names are imported on first use, so ``import f2sl`` takes almost no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from f2sl._version import __version__

if TYPE_CHECKING:
    from f2sl._options import option as option
    from f2sl.api import learn as learn
    from f2sl.api import learn_mb as learn_mb
    from f2sl.api import learn_pc as learn_pc
    from f2sl.confidence import Confidence as Confidence
    from f2sl.confidence import bootstrap as bootstrap
    from f2sl.errors import DataError as DataError
    from f2sl.errors import F2SLError as F2SLError
    from f2sl.errors import FileError as FileError
    from f2sl.errors import GraphError as GraphError
    from f2sl.errors import OptionError as OptionError
    from f2sl.examples import example_path as example_path
    from f2sl.examples import load_example as load_example
    from f2sl.examples import load_example_graph as load_example_graph
    from f2sl.graph import DAG as DAG
    from f2sl.graph import PDAG as PDAG
    from f2sl.graph import compare as compare
    from f2sl.graph import compare_pc as compare_pc
    from f2sl.graph import load_graph as load_graph
    from f2sl.knowledge import Knowledge as Knowledge
    from f2sl.network import BayesianNetwork as BayesianNetwork
    from f2sl.network import GaussianNetwork as GaussianNetwork
    from f2sl.network import load_network as load_network
    from f2sl.network import random_network as random_network
    from f2sl.network import tile as tile
    from f2sl.reading import check as check
    from f2sl.reading import open_table as open_table
    from f2sl.stats.measures.base import Measure as Measure
    from f2sl.stats.scores.base import Score as Score
    from f2sl.stats.tests.base import CITest as CITest
    from f2sl.stats.varsortability import varsortability as varsortability
    from f2sl.structure.boss import BOSS as BOSS
    from f2sl.structure.by_best_networks import SLLc as SLLc
    from f2sl.structure.by_best_networks import SLLg as SLLg
    from f2sl.structure.dag_gnn import DAGGNN as DAGGNN
    from f2sl.structure.exact_search import ExactSearch as ExactSearch
    from f2sl.structure.f2sl import F2SLc as F2SLc
    from f2sl.structure.f2sl import F2SLs as F2SLs
    from f2sl.structure.f2sl_h import F2SLh as F2SLh
    from f2sl.structure.ggsl import GGSL as GGSL
    from f2sl.structure.gsbn import GSBN as GSBN
    from f2sl.structure.hill_climbing import HillClimbing as HillClimbing
    from f2sl.structure.hill_climbing import Tabu as Tabu
    from f2sl.structure.local_to_global import LocalToGlobal as LocalToGlobal
    from f2sl.structure.mmhc import MMHC as MMHC
    from f2sl.structure.mmhc import MMHCc as MMHCc
    from f2sl.structure.notears import NOTEARS as NOTEARS
    from f2sl.structure.pc_stable import PCStable as PCStable
    from f2sl.structure.tc import TC as TC
    from f2sl.table import Table as Table
    from f2sl.view.page import show as show
    from f2sl.view.plot import plot as plot

_HOMES = {
    "BOSS": "structure.boss",
    "BayesianNetwork": "network",
    "CITest": "stats.tests.base",
    "Confidence": "confidence",
    "DAG": "graph",
    "DAGGNN": "structure.dag_gnn",
    "DataError": "errors",
    "ExactSearch": "structure.exact_search",
    "F2SLError": "errors",
    "F2SLc": "structure.f2sl",
    "F2SLh": "structure.f2sl_h",
    "F2SLs": "structure.f2sl",
    "FileError": "errors",
    "GaussianNetwork": "network",
    "GraphError": "errors",
    "MMHC": "structure.mmhc",
    "MMHCc": "structure.mmhc",
    "PCStable": "structure.pc_stable",
    "LocalToGlobal": "structure.local_to_global",
    "GGSL": "structure.ggsl",
    "GSBN": "structure.gsbn",
    "HillClimbing": "structure.hill_climbing",
    "Knowledge": "knowledge",
    "Measure": "stats.measures.base",
    "NOTEARS": "structure.notears",
    "OptionError": "errors",
    "PDAG": "graph",
    "SLLc": "structure.by_best_networks",
    "SLLg": "structure.by_best_networks",
    "Score": "stats.scores.base",
    "TC": "structure.tc",
    "Table": "table",
    "Tabu": "structure.hill_climbing",
    "bootstrap": "confidence",
    "check": "reading",
    "compare": "graph",
    "compare_pc": "graph",
    "example_path": "examples",
    "learn": "api",
    "learn_mb": "api",
    "learn_pc": "api",
    "load_example": "examples",
    "load_example_graph": "examples",
    "load_graph": "graph",
    "load_network": "network",
    "open_table": "reading",
    "option": "_options",
    "plot": "view.plot",
    "random_network": "network",
    "show": "view.page",
    "tile": "network",
    "varsortability": "stats.varsortability",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'f2sl' has no attribute {name!r}")
    value = getattr(import_module(f"f2sl.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
