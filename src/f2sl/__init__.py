"""Learn the structure of Bayesian networks from discrete, continuous and mixed tables.

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
    from f2sl._notes import Note as Note
    from f2sl._options import option as option
    from f2sl.api import learn as learn
    from f2sl.api import learn_mb as learn_mb
    from f2sl.api import learn_pc as learn_pc
    from f2sl.confidence import Confidence as Confidence
    from f2sl.confidence import bootstrap as bootstrap
    from f2sl.data.open import check as check
    from f2sl.data.open import open_table as open_table
    from f2sl.data.table import Table as Table
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
    from f2sl.learners.boss import BOSS as BOSS
    from f2sl.learners.by_best_networks import SLLc as SLLc
    from f2sl.learners.by_best_networks import SLLg as SLLg
    from f2sl.learners.dag_gnn import DAGGNN as DAGGNN
    from f2sl.learners.exact_search import ExactSearch as ExactSearch
    from f2sl.learners.f2sl import F2SLc as F2SLc
    from f2sl.learners.f2sl import F2SLs as F2SLs
    from f2sl.learners.f2sl_h import F2SLh as F2SLh
    from f2sl.learners.ggsl import GGSL as GGSL
    from f2sl.learners.gsbn import GSBN as GSBN
    from f2sl.learners.hill_climbing import HillClimbing as HillClimbing
    from f2sl.learners.hill_climbing import Tabu as Tabu
    from f2sl.learners.local.bamb import BAMB as BAMB
    from f2sl.learners.local.by_neighbors import HITONMB as HITONMB
    from f2sl.learners.local.by_neighbors import MMMB as MMMB
    from f2sl.learners.local.by_neighbors import PCMB as PCMB
    from f2sl.learners.local.confirmed import ConfirmedFCBF as ConfirmedFCBF
    from f2sl.learners.local.fcbf import FCBF as FCBF
    from f2sl.learners.local.grow_shrink import GSMB as GSMB
    from f2sl.learners.local.grow_shrink import IAMB as IAMB
    from f2sl.learners.local.grow_shrink import InterIAMB as InterIAMB
    from f2sl.learners.local.hiton_pc import HITONPC as HITONPC
    from f2sl.learners.local.mmpc import MMPC as MMPC
    from f2sl.learners.local.mrmr import MRMR as MRMR
    from f2sl.learners.local.pc_simple import PCSimple as PCSimple
    from f2sl.learners.local.s2tmb import S2TMB as S2TMB
    from f2sl.learners.local.s2tmb import S2TMBPC as S2TMBPC
    from f2sl.learners.local.sll import SLL as SLL
    from f2sl.learners.local.sll import SLLPC as SLLPC
    from f2sl.learners.local.stmb import STMB as STMB
    from f2sl.learners.local.tc_blankets import TCBlankets as TCBlankets
    from f2sl.learners.local_to_global import ByScore as ByScore
    from f2sl.learners.local_to_global import ByTests as ByTests
    from f2sl.learners.local_to_global import LocalToGlobal as LocalToGlobal
    from f2sl.learners.mmhc import MMHC as MMHC
    from f2sl.learners.mmhc import MMHCc as MMHCc
    from f2sl.learners.notears import NOTEARS as NOTEARS
    from f2sl.learners.pc_stable import PCStable as PCStable
    from f2sl.learners.tc import TC as TC
    from f2sl.network import BayesianNetwork as BayesianNetwork
    from f2sl.network import GaussianNetwork as GaussianNetwork
    from f2sl.network import load_network as load_network
    from f2sl.network import random_network as random_network
    from f2sl.network import tile as tile
    from f2sl.stats.measures.base import Measure as Measure
    from f2sl.stats.measures.pairs import MI as MI
    from f2sl.stats.measures.pairs import R2 as R2
    from f2sl.stats.measures.pairs import SU as SU
    from f2sl.stats.measures.pairs import Correlation as Correlation
    from f2sl.stats.measures.pairs import Explained as Explained
    from f2sl.stats.scores.base import Score as Score
    from f2sl.stats.scores.gaussian import BGe as BGe
    from f2sl.stats.scores.gaussian import GaussianBIC as GaussianBIC
    from f2sl.stats.scores.mixed import ConditionalGaussianBIC as ConditionalGaussianBIC
    from f2sl.stats.scores.mixed import DegenerateGaussianBIC as DegenerateGaussianBIC
    from f2sl.stats.scores.tables import AIC as AIC
    from f2sl.stats.scores.tables import BIC as BIC
    from f2sl.stats.scores.tables import K2 as K2
    from f2sl.stats.scores.tables import BDeu as BDeu
    from f2sl.stats.scores.tables import BDs as BDs
    from f2sl.stats.tests.base import CITest as CITest
    from f2sl.stats.tests.fisher_z import FisherZ as FisherZ
    from f2sl.stats.tests.g2 import G2 as G2
    from f2sl.stats.tests.g2 import X2 as X2
    from f2sl.stats.tests.mixed import ConditionalGaussian as ConditionalGaussian
    from f2sl.stats.tests.mixed import DegenerateGaussian as DegenerateGaussian
    from f2sl.stats.varsortability import varsortability as varsortability
    from f2sl.view.page import show as show
    from f2sl.view.plot import plot as plot

_HOMES = {
    "AIC": "stats.scores.tables",
    "BAMB": "learners.local.bamb",
    "BayesianNetwork": "network",
    "BDeu": "stats.scores.tables",
    "BDs": "stats.scores.tables",
    "BGe": "stats.scores.gaussian",
    "BIC": "stats.scores.tables",
    "bootstrap": "confidence",
    "BOSS": "learners.boss",
    "ByScore": "learners.local_to_global",
    "ByTests": "learners.local_to_global",
    "check": "data.open",
    "CITest": "stats.tests.base",
    "compare": "graph",
    "compare_pc": "graph",
    "ConditionalGaussian": "stats.tests.mixed",
    "ConditionalGaussianBIC": "stats.scores.mixed",
    "Confidence": "confidence",
    "ConfirmedFCBF": "learners.local.confirmed",
    "Correlation": "stats.measures.pairs",
    "DAG": "graph",
    "DAGGNN": "learners.dag_gnn",
    "DataError": "errors",
    "DegenerateGaussian": "stats.tests.mixed",
    "DegenerateGaussianBIC": "stats.scores.mixed",
    "ExactSearch": "learners.exact_search",
    "example_path": "examples",
    "Explained": "stats.measures.pairs",
    "F2SLc": "learners.f2sl",
    "F2SLError": "errors",
    "F2SLh": "learners.f2sl_h",
    "F2SLs": "learners.f2sl",
    "FCBF": "learners.local.fcbf",
    "FileError": "errors",
    "FisherZ": "stats.tests.fisher_z",
    "G2": "stats.tests.g2",
    "GaussianBIC": "stats.scores.gaussian",
    "GaussianNetwork": "network",
    "GGSL": "learners.ggsl",
    "GraphError": "errors",
    "GSBN": "learners.gsbn",
    "GSMB": "learners.local.grow_shrink",
    "HillClimbing": "learners.hill_climbing",
    "HITONMB": "learners.local.by_neighbors",
    "HITONPC": "learners.local.hiton_pc",
    "IAMB": "learners.local.grow_shrink",
    "InterIAMB": "learners.local.grow_shrink",
    "K2": "stats.scores.tables",
    "Knowledge": "knowledge",
    "learn": "api",
    "learn_mb": "api",
    "learn_pc": "api",
    "load_example": "examples",
    "load_example_graph": "examples",
    "load_graph": "graph",
    "load_network": "network",
    "LocalToGlobal": "learners.local_to_global",
    "Measure": "stats.measures.base",
    "MI": "stats.measures.pairs",
    "MMHC": "learners.mmhc",
    "MMHCc": "learners.mmhc",
    "MMMB": "learners.local.by_neighbors",
    "MMPC": "learners.local.mmpc",
    "MRMR": "learners.local.mrmr",
    "Note": "_notes",
    "NOTEARS": "learners.notears",
    "open_table": "data.open",
    "option": "_options",
    "OptionError": "errors",
    "PCMB": "learners.local.by_neighbors",
    "PCSimple": "learners.local.pc_simple",
    "PCStable": "learners.pc_stable",
    "PDAG": "graph",
    "plot": "view.plot",
    "R2": "stats.measures.pairs",
    "random_network": "network",
    "S2TMB": "learners.local.s2tmb",
    "S2TMBPC": "learners.local.s2tmb",
    "Score": "stats.scores.base",
    "show": "view.page",
    "SLL": "learners.local.sll",
    "SLLc": "learners.by_best_networks",
    "SLLg": "learners.by_best_networks",
    "SLLPC": "learners.local.sll",
    "STMB": "learners.local.stmb",
    "SU": "stats.measures.pairs",
    "Table": "data.table",
    "Tabu": "learners.hill_climbing",
    "TC": "learners.tc",
    "TCBlankets": "learners.local.tc_blankets",
    "tile": "network",
    "varsortability": "stats.varsortability",
    "X2": "stats.tests.g2",
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
