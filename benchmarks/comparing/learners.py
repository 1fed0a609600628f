"""The learners that are compared, by name, each with its options."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Self

import numpy as np

from comparing.causal_learn import run_search
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.open import open_table
from f2sl.errors import OptionError
from f2sl.graph import DAG
from f2sl.learners.local.fcbf import FCBF, relevance_graph
from f2sl.learners.registries import LOCAL, STRUCTURE
from f2sl.search.hill_climbing import hill_climb
from f2sl.stats.choose import make_score, related_pairs
from f2sl_paper.settings import LEARNERS, PAPER, options_of

EQUIVALENT_SAMPLE_SIZE = 10.0
"""Of BDeu wherever it is climbed or told: that of F2SL-s."""


class HillClimbing:
    """Hill climbing over all pairs of variables, without a skeleton; steps, tabu list and prior of F2SL-s."""

    def __init__(self, *, score: str, tabu_length: int = 100, max_stall: int = 15) -> None:
        self.score = score
        self.tabu_length = tabu_length
        self.max_stall = max_stall

    def fit(self, frame: Any) -> Self:
        """Learn `graph_`, a DAG."""
        table = open_table(frame).in_name_order()
        pairs = np.stack(np.triu_indices(table.n_variables, 1), axis=1)
        with MemoryEngine(table) as engine:
            climbed = hill_climb(
                make_score(engine, self.score, EQUIVALENT_SAMPLE_SIZE),
                table.n_variables,
                pairs,
                edge_log_prior=-math.log(EQUIVALENT_SAMPLE_SIZE + 1.0) if self.score == "bdeu" else 0.0,
                tabu_length=self.tabu_length,
                max_stall=self.max_stall,
            )
        self.graph_ = DAG.from_arrays(table.names, climbed.arrows)
        return self


class CausalLearn:
    """A search of causal-learn by BDeu."""

    def __init__(self, *, search: str) -> None:
        self.search = search
        if not find_spec("causallearn"):
            raise OptionError("causal-learn is not installed")

    def fit(self, frame: Any) -> Self:
        """Learn `graph_`, a CPDAG."""
        codes = frame.apply(lambda column: column.cat.codes).to_numpy()
        self.graph_ = run_search(self.search, codes, tuple(frame), score_func="local_score_BDeu")
        return self


CAUSAL_LEARN = "causal-learn"

PARTS = (
    "significance",
    "confirmed",
    "clean-up",
    "or",
    "orders",
    "going on",
    "hidden parents",
    "edge cost",
    "prior",
    "BDs",
)
DELTA = 0.05


def with_parts(parts: Collection[str]) -> Any:
    """Make an F2SL-h that has only some of its parts; an OptionError where f2sl has no F2SL-h.

    ======================  ================================  ==========================================
    part                    F2SL-h                            without
    ======================  ================================  ==========================================
    ``significance``        pairs are relevant by a test      by SU > 0.05
    ``confirmed``           a redundant neighbor goes if a   by comparing SU alone
                            test confirms it
    ``clean-up``            a neighbor goes if two others    only redundant ones go
                            leave no trace of it
    ``or``                  one end of an edge names the      both do
                            other
    ``orders``              search over orders                tabu hill climbing, from the same starts
    ``going on``            the search goes on from the       it ends there
                            first optimum, and others join
    ``hidden parents``      a parent is replaced by those     it stays
                            that determine it
    ``edge cost``           edges cost log(variables)         log(11), as in F2SL-s
    ``prior``               the prior weighs more where       it weighs 10 samples, as in F2SL-s
                            there are many states
    ``BDs``                 BDs                               BDeu, as in F2SL-s
    ======================  ================================  ==========================================
    """
    whole, confirmed = STRUCTURE.load("f2sl-h"), LOCAL.load("fcbf-confirmed")

    class Candidates(confirmed):  # type: ignore[misc]
        def relevant(self, engine: Any) -> Any:
            if "significance" in parts:
                return super().relevant(engine)
            return relevance_graph(engine.n_variables, related_pairs(engine, DELTA, self.measure)())

        def select(self, relevant: Any, *tests: Any) -> Any:
            if "confirmed" in parts:
                return super().select(relevant, *tests)
            return FCBF(ties=self.ties, measure=self.measure).select(relevant)

    class Partly(whole):  # type: ignore[misc]
        def _local(self, *what: Any) -> Any:
            return Candidates(**super()._local(*what).get_params())

        def _likelihoods(self, fit: Any) -> Any:
            return super()._likelihoods(fit) if "hidden parents" in parts else None

    return Partly(
        symmetry="or" if "or" in parts else "and",
        clean_up=None if "clean-up" in parts else 0,
        search="orders" if "orders" in parts else "hill-climbing",
        effort="normal" if "going on" in parts or "orders" not in parts else "fast",
        edge_cost=None if "edge cost" in parts else math.log(11.0),
        equivalent_sample_size=None if "prior" in parts else 10.0,
        score="auto" if "BDs" in parts else "bdeu",
    )


OF_THIS_BENCHMARK: dict[str, Callable[..., Any]] = {
    "hill-climbing": HillClimbing,
    "f2sl-h-parts": with_parts,
    CAUSAL_LEARN: CausalLearn,
}


@dataclass(frozen=True)
class Configuration:
    """A learner with its options."""

    name: str
    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Make the learner; an unknown one, or an option that it does not take, is an OptionError."""
        if self.algorithm in OF_THIS_BENCHMARK:
            return OF_THIS_BENCHMARK[self.algorithm](**self.options)
        learner = STRUCTURE.create(self.algorithm, self.options)
        learner.check_options()
        return learner

    def why_not(self) -> str:
        """Return why it cannot be made, if so."""
        try:
            self.make()
        except OptionError as error:
            return str(error)
        return ""


def parsed(text: str) -> Configuration:
    """Read a configuration as it is typed: the algorithm, then options.

    Examples
    --------
    >>> parsed("f2sl-c delta=0.02 ties=keep").options
    {'delta': 0.02, 'ties': 'keep'}
    """
    algorithm, *pairs = text.split()
    options = {}
    for pair in pairs:
        option, _, value = pair.partition("=")
        try:
            options[option] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[option] = value
    return Configuration(text, algorithm, options)


def _as_in_the_paper(algorithm: str, suffix: str = "") -> Configuration:
    return Configuration(LEARNERS[algorithm].title + suffix, algorithm, options_of(algorithm, PAPER))


YARDSTICK = _as_in_the_paper("f2sl-c", " (paper)")
"""Every other learner's seconds are measured beside those of this one."""

OWN = Configuration("F2SL-h", "f2sl-h")

COMPARED = (
    OWN,
    YARDSTICK,
    Configuration("F2SL-c", "f2sl-c"),
    _as_in_the_paper("f2sl-s", " (paper)"),
    Configuration("F2SL-s", "f2sl-s"),
    _as_in_the_paper("mmhc"),
    _as_in_the_paper("mmhc-c"),
    _as_in_the_paper("gsbn"),
    Configuration("PC-stable", "pc-stable", {"ci_test": "g2", "alpha": 0.01, "max_cond_vars": 3}),
    Configuration("HC (BDeu)", "hill-climbing", {"score": "bdeu"}),
    Configuration("HC (BIC)", "hill-climbing", {"score": "bic"}),
)


MANY = (
    OWN,
    *(configuration for configuration in COMPARED if configuration.algorithm in ("mmhc", "pc-stable")),
)
"""Learners that are compared with many rows."""


RIVALS = (
    OWN,
    Configuration("BOSS", "boss"),
    Configuration("causal-learn BOSS", CAUSAL_LEARN, {"search": "boss"}),
    Configuration("causal-learn GRaSP", CAUSAL_LEARN, {"search": "grasp"}),
    Configuration("causal-learn GES", CAUSAL_LEARN, {"search": "ges"}),
)
"""Searches for the best score over orders or equivalence classes."""


def _of_parts(name: str, *parts: str) -> Configuration:
    return Configuration(name, "f2sl-h-parts", {"parts": list(parts)})


ABLATION = (
    Configuration("F2SL-c", "f2sl-c"),
    Configuration("F2SL-s", "f2sl-s"),
    _of_parts("no part"),
    *(_of_parts(f"{part} alone", part) for part in PARTS),
    *(_of_parts(f"all but {part}", *(other for other in PARTS if other != part)) for part in PARTS),
    Configuration("all, thorough", "f2sl-h", {"effort": "thorough"}),
    OWN,
)
"""What each of F2SL-h's changes to F2SL is worth: alone, and left out."""
