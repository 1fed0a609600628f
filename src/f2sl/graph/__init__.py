"""Graphs over named variables: DAGs, PDAGs, what follows from them, and files.

>>> from f2sl.graph import DAG, compare
>>> truth = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
>>> truth.to_cpdag() == truth
True
>>> compare(truth, truth).shd
0

:mod:`~f2sl.graph.pdag` and :mod:`~f2sl.graph.dag` teach the vocabulary.
"""

from f2sl.graph.atomic import write_atomically
from f2sl.graph.dag import DAG
from f2sl.graph.extension import consistent_extension
from f2sl.graph.formats import add_format, check_writable, load_graph, save_graph
from f2sl.graph.formats.common import FormatError
from f2sl.graph.meek import apply_meek_rules
from f2sl.graph.metrics import Comparison, Distances, PCComparison, compare, compare_pc
from f2sl.graph.pdag import PDAG

__all__ = [
    "DAG",
    "PDAG",
    "Comparison",
    "Distances",
    "FormatError",
    "PCComparison",
    "add_format",
    "apply_meek_rules",
    "check_writable",
    "compare",
    "compare_pc",
    "consistent_extension",
    "load_graph",
    "save_graph",
    "write_atomically",
]
