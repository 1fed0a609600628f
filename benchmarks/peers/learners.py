"""All learners by name, and the libraries that they come from.

A library is a function that imports it and returns its learners by name. A learner takes a frame of
categories, prepares what is not timed, and returns a function without arguments: that one is timed, and
returns a graph. Learners by tests have a level of significance of 0.01, with conditioning sets of at most 3
variables where that can be chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import f2sl

ALPHA = 0.01
Learn = Callable[[], f2sl.PDAG]
Learner = Callable[[Any], Learn]

OURS = "f2sl"

QUICK: dict[str, tuple[str, ...]] = {
    OURS: (
        *("F2SL-c", "F2SL-s", "F2SL-h", "GSBN", "MMPC", "MMPC-i", "MMHC", "MMHC-i", "MMHC-c"),
        *("PC-stable", "hill climbing"),
    ),
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

PACKAGES = ("pybnesian", "pyagrum", "pgmpy", "causal-learn", "numpy", "scipy", "numba", "torch", "pandas")
"""Packages whose versions are stored with the figures."""


def names(group: dict[str, tuple[str, ...]]) -> list[str]:
    return [f"{library} {algorithm}" for library, algorithms in group.items() for algorithm in algorithms]


def pdag(frame: Any, arrows: Iterable[Iterable[str]], lines: Iterable[Iterable[str]] = ()) -> f2sl.PDAG:
    """Make a graph of a peer's arrows and lines; what points both ways, or is in both lists, is a line."""
    directed = {tuple(arrow) for arrow in arrows}
    undecided = {frozenset(line) for line in lines}
    undecided |= {frozenset(arrow) for arrow in directed if arrow[::-1] in directed}
    return f2sl.PDAG(
        list(frame.columns),
        sorted(arrow for arrow in directed if frozenset(arrow) not in undecided),
        sorted(tuple(sorted(line)) for line in undecided),
    )


def of_f2sl() -> dict[str, Learner]:
    """Return what f2sl has for discrete tables, each with its defaults.

    MMPC-i and MMHC-i treat inconclusive tests as PyBNesian does: the variables are independent.
    """
    from decisive import DecisiveG2
    from f2sl.data.memory.engine import MemoryEngine
    from f2sl.search.hill_climbing import hill_climb
    from f2sl.stats.choose import make_score

    def by_name(algorithm: str, **options: Any) -> Learner:
        return lambda frame: lambda: f2sl.learn(frame, algorithm=algorithm, **options).graph_

    def hill_climbing(frame: Any) -> f2sl.PDAG:
        """Climb over all pairs by BIC: no skeleton, and no tabu list."""
        table = f2sl.open_table(frame).in_name_order()
        edges = np.array(list(combinations(range(table.n_variables), 2)))
        with MemoryEngine(table) as engine:
            found = hill_climb(make_score(engine, "bic"), table.n_variables, edges, max_stall=1)
        return f2sl.DAG.from_arrays(table.names, found.arrows)

    names = ("F2SL-c", "F2SL-s", "F2SL-h", "GSBN", "MMHC", "MMHC-c", "PC-stable")
    names += ("SLL+C", "SLL+G", "GGSL", "NOTEARS", "DAG-GNN")
    return {
        **{name: by_name(name.lower()) for name in names},
        "MMPC": by_name("local-to-global", pc="mmpc", skeleton_only=True),
        "MMPC-i": by_name("local-to-global", pc="mmpc", skeleton_only=True, ci_test=DecisiveG2()),
        "MMHC-i": by_name("mmhc", ci_test=DecisiveG2()),
        "hill climbing": lambda frame: partial(hill_climbing, frame),
    }


def of_pybnesian() -> dict[str, Learner]:
    """Return those of PyBNesian, in C++: Pearson's test, BDe with a sample of 10 or BIC."""
    import pybnesian as pbn

    def by_tests(learner: Any, frame: Any) -> f2sl.PDAG:
        found = learner.estimate(pbn.ChiSquare(frame), alpha=ALPHA)
        return pdag(frame, found.arcs(), found.edges())

    def mmhc(frame: Any) -> f2sl.PDAG:
        test, score, kind = pbn.ChiSquare(frame), pbn.BDe(frame, iss=10), pbn.DiscreteBNType()
        found = pbn.MMHC().estimate(test, pbn.ArcOperatorSet(), score, bn_type=kind, alpha=ALPHA)
        return pdag(frame, found.arcs())

    def hill_climbing(frame: Any) -> f2sl.PDAG:
        found = pbn.hc(frame, bn_type=pbn.DiscreteBNType(), score="bic", operators=["arcs"])
        return pdag(frame, found.arcs())

    return {
        "MMPC": lambda frame: lambda: by_tests(pbn.MMPC(), frame),
        "PC": lambda frame: lambda: by_tests(pbn.PC(), frame),
        "MMHC": lambda frame: partial(mmhc, frame),
        "hill climbing": lambda frame: partial(hill_climbing, frame),
    }


def of_pyagrum() -> dict[str, Learner]:
    """Return those of pyAgrum, in C++ on all cores: hill climbing by BIC, MIIC with the MDL correction, PC.

    Its database is made before the clock starts. Of MIIC's corrections MDL is the faster one and, on alarm,
    the more accurate one.
    """
    import pyagrum as gum

    def named(learner: Any, pairs: Any) -> list[tuple[str, str]]:
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in pairs]

    def by_tests(learner: Any, frame: Any) -> f2sl.PDAG:
        found = learner.learnPDAG()
        return pdag(frame, named(learner, found.arcs()), named(learner, found.edges()))

    def hill_climbing(frame: Any) -> Learn:
        learner = gum.BNLearner(frame)
        learner.useGreedyHillClimbing()
        learner.useScoreBIC()
        return lambda: pdag(frame, named(learner, learner.learnDAG().arcs()))

    def miic(frame: Any) -> Learn:
        learner = gum.BNLearner(frame)
        learner.useMIIC()
        learner.useMDLCorrection()
        return partial(by_tests, learner, frame)

    def pc(frame: Any) -> Learn:
        learner = gum.BNLearner(frame)
        learner.usePC()
        learner.setPCAlpha(ALPHA)
        learner.setPCMaxCondSetSize(3)
        return partial(by_tests, learner, frame)

    return {"hill climbing": hill_climbing, "MIIC": miic, "PC": pc}


def of_pgmpy() -> dict[str, Learner]:
    """Return those of pgmpy, in Python: PC, hill climbing by BIC, MMHC with its defaults.

    PC is the one of ``pgmpy.causal_discovery``, many times as fast as the older one of ``pgmpy.estimators``;
    its "stable" variant on one core was faster on alarm than the "parallel" one on two. MMHC exists only in
    the older module.
    """
    from pgmpy.causal_discovery import PC, HillClimbSearch
    from pgmpy.estimators import MmhcEstimator

    def pc(frame: Any) -> f2sl.PDAG:
        options = {"variant": "stable", "ci_test": "g_sq", "significance_level": ALPHA, "max_cond_vars": 3}
        found = PC(**options, show_progress=False).fit(frame).causal_graph_
        return pdag(frame, found.directed_edges, found.undirected_edges)

    def hill_climbing(frame: Any) -> f2sl.PDAG:
        model = HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False)
        return pdag(frame, model.fit(frame).causal_graph_.edges())

    def mmhc(frame: Any) -> f2sl.PDAG:
        return pdag(frame, MmhcEstimator(frame).estimate(significance_level=ALPHA).edges())

    learners = {"PC": pc, "hill climbing": hill_climbing, "MMHC": mmhc}
    return {name: lambda frame, learn=learn: partial(learn, frame) for name, learn in learners.items()}


def of_causal_learn() -> dict[str, Learner]:
    """Return those of causal-learn, in Python: PC with G2, GES with BDeu; the codes are made beforehand."""
    from causallearn.search.ConstraintBased.PC import pc as run_pc
    from causallearn.search.ScoreBased.GES import ges as run_ges

    def codes(frame: Any) -> Any:
        return frame.apply(lambda column: column.cat.codes).to_numpy()

    def graph_of(frame: Any, marks: Any) -> f2sl.PDAG:
        """Read its matrix: -1 at a tail and 1 at a head, in the row of the end that has the mark."""
        names = list(frame.columns)
        arrows = [(names[i], names[j]) for i, j in np.argwhere((marks == -1) & (marks.T == 1))]
        lines = [(names[i], names[j]) for i, j in np.argwhere((marks == marks.T) & (marks != 0)) if i < j]
        return pdag(frame, arrows, lines)

    def pc(frame: Any) -> Learn:
        data = codes(frame)
        options = {"alpha": ALPHA, "indep_test": "gsq", "stable": True, "max_k": 3, "show_progress": False}
        return lambda: graph_of(frame, run_pc(data, **options).G.graph)

    def ges(frame: Any) -> Learn:
        data = codes(frame)
        return lambda: graph_of(frame, run_ges(data, score_func="local_score_BDeu")["G"].graph)

    return {"PC": pc, "GES": ges}


LIBRARIES: dict[str, Callable[[], dict[str, Learner]]] = {
    OURS: of_f2sl,
    "PyBNesian": of_pybnesian,
    "pyAgrum": of_pyagrum,
    "pgmpy": of_pgmpy,
    "causal-learn": of_causal_learn,
}


def load(name: str) -> Learner:
    """Import the library behind a name such as "pgmpy PC" and return its learner."""
    library, _, algorithm = name.partition(" ")
    return LIBRARIES[library]()[algorithm]
