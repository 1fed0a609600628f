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

if TYPE_CHECKING:  # names of one module on one line
    # isort: off
    from f2sl._notes import Note as Note
    from f2sl._options import option as option
    from f2sl.api import learn as learn, learn_mb as learn_mb, learn_pc as learn_pc
    from f2sl.confidence import Confidence as Confidence, bootstrap as bootstrap
    from f2sl.data.open import check as check, open_table as open_table
    from f2sl.data.table import Table as Table
    from f2sl.errors import (
        DataError as DataError,
        F2SLError as F2SLError,
        FileError as FileError,
        GraphError as GraphError,
        OptionError as OptionError,
    )
    from f2sl.examples import (
        example_path as example_path,
        load_example as load_example,
        load_example_graph as load_example_graph,
    )
    from f2sl.graph import (
        DAG as DAG,
        PDAG as PDAG,
        compare as compare,
        compare_pc as compare_pc,
        load_graph as load_graph,
    )
    from f2sl.knowledge import Knowledge as Knowledge
    from f2sl.learners.boss import BOSS as BOSS
    from f2sl.learners.by_best_networks import SLLc as SLLc, SLLg as SLLg
    from f2sl.learners.dag_gnn import DAGGNN as DAGGNN
    from f2sl.learners.exact_search import ExactSearch as ExactSearch
    from f2sl.learners.f2sl import F2SLc as F2SLc, F2SLs as F2SLs
    from f2sl.learners.f2sl_h import F2SLh as F2SLh
    from f2sl.learners.ggsl import GGSL as GGSL
    from f2sl.learners.gsbn import GSBN as GSBN
    from f2sl.learners.hill_climbing import HillClimbing as HillClimbing, Tabu as Tabu
    from f2sl.learners.local.bamb import BAMB as BAMB
    from f2sl.learners.local.by_neighbors import HITONMB as HITONMB, MMMB as MMMB, PCMB as PCMB
    from f2sl.learners.local.confirmed import ConfirmedFCBF as ConfirmedFCBF
    from f2sl.learners.local.fcbf import FCBF as FCBF
    from f2sl.learners.local.grow_shrink import GSMB as GSMB, IAMB as IAMB, InterIAMB as InterIAMB
    from f2sl.learners.local.hiton_pc import HITONPC as HITONPC
    from f2sl.learners.local.mmpc import MMPC as MMPC
    from f2sl.learners.local.mrmr import MRMR as MRMR
    from f2sl.learners.local.pc_simple import PCSimple as PCSimple
    from f2sl.learners.local.s2tmb import S2TMB as S2TMB, S2TMBPC as S2TMBPC
    from f2sl.learners.local.sll import SLL as SLL, SLLPC as SLLPC
    from f2sl.learners.local.stmb import STMB as STMB
    from f2sl.learners.local.tc_blankets import TCBlankets as TCBlankets
    from f2sl.learners.local_to_global import (
        ByScore as ByScore,
        ByTests as ByTests,
        LocalToGlobal as LocalToGlobal,
    )
    from f2sl.learners.mmhc import MMHC as MMHC, MMHCc as MMHCc
    from f2sl.learners.notears import NOTEARS as NOTEARS
    from f2sl.learners.pc_stable import PCStable as PCStable
    from f2sl.learners.tc import TC as TC
    from f2sl.network import (
        BayesianNetwork as BayesianNetwork,
        GaussianNetwork as GaussianNetwork,
        load_network as load_network,
        random_network as random_network,
        tile as tile,
    )
    from f2sl.stats.measures.base import Measure as Measure
    from f2sl.stats.measures.pairs import (
        MI as MI,
        R2 as R2,
        SU as SU,
        Correlation as Correlation,
        Explained as Explained,
    )
    from f2sl.stats.scores.base import Score as Score
    from f2sl.stats.scores.gaussian import BGe as BGe, GaussianBIC as GaussianBIC
    from f2sl.stats.scores.mixed import (
        ConditionalGaussianBIC as ConditionalGaussianBIC,
        DegenerateGaussianBIC as DegenerateGaussianBIC,
    )
    from f2sl.stats.scores.tables import AIC as AIC, BIC as BIC, K2 as K2, BDeu as BDeu, BDs as BDs
    from f2sl.stats.tests.base import CITest as CITest
    from f2sl.stats.tests.fisher_z import FisherZ as FisherZ
    from f2sl.stats.tests.g2 import G2 as G2, X2 as X2
    from f2sl.stats.tests.mixed import (
        ConditionalGaussian as ConditionalGaussian,
        DegenerateGaussian as DegenerateGaussian,
    )
    from f2sl.stats.varsortability import varsortability as varsortability
    from f2sl.view.page import show as show
    from f2sl.view.plot import plot as plot

_NAMES = {
    "_notes": "Note",
    "_options": "option",
    "api": "learn learn_mb learn_pc",
    "confidence": "bootstrap Confidence",
    "data.open": "check open_table",
    "data.table": "Table",
    "errors": "DataError F2SLError FileError GraphError OptionError",
    "examples": "example_path load_example load_example_graph",
    "graph": "compare compare_pc DAG load_graph PDAG",
    "knowledge": "Knowledge",
    "learners.boss": "BOSS",
    "learners.by_best_networks": "SLLc SLLg",
    "learners.dag_gnn": "DAGGNN",
    "learners.exact_search": "ExactSearch",
    "learners.f2sl": "F2SLc F2SLs",
    "learners.f2sl_h": "F2SLh",
    "learners.ggsl": "GGSL",
    "learners.gsbn": "GSBN",
    "learners.hill_climbing": "HillClimbing Tabu",
    "learners.local.bamb": "BAMB",
    "learners.local.by_neighbors": "HITONMB MMMB PCMB",
    "learners.local.confirmed": "ConfirmedFCBF",
    "learners.local.fcbf": "FCBF",
    "learners.local.grow_shrink": "GSMB IAMB InterIAMB",
    "learners.local.hiton_pc": "HITONPC",
    "learners.local.mmpc": "MMPC",
    "learners.local.mrmr": "MRMR",
    "learners.local.pc_simple": "PCSimple",
    "learners.local.s2tmb": "S2TMB S2TMBPC",
    "learners.local.sll": "SLL SLLPC",
    "learners.local.stmb": "STMB",
    "learners.local.tc_blankets": "TCBlankets",
    "learners.local_to_global": "ByScore ByTests LocalToGlobal",
    "learners.mmhc": "MMHC MMHCc",
    "learners.notears": "NOTEARS",
    "learners.pc_stable": "PCStable",
    "learners.tc": "TC",
    "network": "BayesianNetwork GaussianNetwork load_network random_network tile",
    "stats.measures.base": "Measure",
    "stats.measures.pairs": "Correlation Explained MI R2 SU",
    "stats.scores.base": "Score",
    "stats.scores.gaussian": "BGe GaussianBIC",
    "stats.scores.mixed": "ConditionalGaussianBIC DegenerateGaussianBIC",
    "stats.scores.tables": "AIC BDeu BDs BIC K2",
    "stats.tests.base": "CITest",
    "stats.tests.fisher_z": "FisherZ",
    "stats.tests.g2": "G2 X2",
    "stats.tests.mixed": "ConditionalGaussian DegenerateGaussian",
    "stats.varsortability": "varsortability",
    "view.page": "show",
    "view.plot": "plot",
}
"""Public names by the module that they are imported from."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'f2sl' has no attribute {name!r}")
    value = getattr(import_module(f"f2sl.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
