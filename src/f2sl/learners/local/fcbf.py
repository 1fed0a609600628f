"""FCBF, the fast correlation-based filter (Yu and Liu 2004), as a learner of parents and children.

Two steps for a target C, by symmetrical uncertainty SU (section 4.3 of the F2SL paper):

1. *Relevance.* Candidates are the variables with SU(X, C) > delta, strongest first; with
   ``delta="auto"`` those that a test of independence finds related to C.
2. *Redundancy.* In that order each candidate X that is still there drops every weaker Y that is
   closer to X than to C: SU(X, Y) >= SU(Y, C).

For all targets at once both steps need only the pairs with SU > delta: a pair at or below
delta can neither make a candidate nor drop one, since every candidate has SU(Y, C) > delta. So
one pass over all pairs leaves a sparse graph, and the rest works on that alone.

A fixed delta requires the same strength for any number of samples and states. With ``delta="auto"`` a pair is
relevant if the G2 test (for numbers, Fisher's z) rejects independence at a false discovery rate of 0.05 among
all pairs of the table (Benjamini and Hochberg 1995). Pairs that are not significant are then treated as
unrelated: they drop nothing, although SU(X, Y) of such a pair may exceed SU(Y, C) if X has many states, which
make SU larger by chance.

Ties matter on data with deterministic relations. They are *dropped* by default (>=, Yu and Liu
2004); ``ties="keep"`` is the strict > of the F2SL paper's text. Values within 1e-10 are equal, and
equally strong candidates are taken in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from f2sl._options import option
from f2sl._progress import stage
from f2sl.data.engines import Engine, FoundPairs
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.choose import check_choice, measure_unit, related_pairs, significant_pairs
from f2sl.stats.measures.base import Measure


class FCBF(LocalLearner):
    """Parents and children by feature selection.

    For a single target, too, ``delta="auto"`` corrects for all pairs of the table.
    """

    delta: float | str = option("delta")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)

    @property
    def strength_unit(self) -> str:
        """Name the unit of the strengths of edges."""
        return measure_unit(self.measure)

    def learn_one(self, engine: Engine, target: int) -> Neighborhood:
        """Find one variable's PC set from its own pairs and those among its candidates."""
        search = self._search(engine)
        with stage("measuring pairs") as advance:
            relevant = search(target=target, advance=advance)
        candidates = np.where(relevant.first == target, relevant.second, relevant.first)
        among = search(variables=np.sort(candidates))
        pairs = FoundPairs(
            np.concatenate([relevant.first, among.first]),
            np.concatenate([relevant.second, among.second]),
            np.concatenate([relevant.values, among.values]),
        )
        graph = relevance_graph(engine.n_variables, pairs)
        return Neighborhood(*self.select(graph, target, target + 1).of(target))

    def learn_all(self, engine: Engine) -> Neighborhoods:
        """Find all PC sets from the sparse graph of relevant pairs."""
        with stage("measuring all pairs") as advance:
            pairs = self._search(engine)(advance=advance)
        with stage("dropping redundant neighbors"):
            return self.select(relevance_graph(engine.n_variables, pairs))

    def select(self, graph: Neighborhoods, first: int = 0, last: int | None = None) -> Neighborhoods:
        """Drop the redundant candidates of variables `first` to `last`; others have none left."""
        from f2sl.learners.local import _kernels

        kept, last = np.zeros(len(graph.members), np.bool_), len(graph.start) - 1 if last is None else last
        margin = redundancy_margin(self.ties)
        _kernels.drop_redundant(graph.start, graph.members, graph.strengths, first, last, margin, kept)
        return graph.where(kept)

    def _search(self, engine: Engine) -> Callable[..., FoundPairs]:
        """Return the search for relevant pairs; forbidden pairs make no others redundant either."""
        if isinstance(self.delta, str):
            return significant_pairs(engine, measure=self.measure, rules=self.rules)
        return related_pairs(engine, self.delta, self.measure, self.rules)


def redundancy_margin(ties: str) -> float:
    """Return by how much SU(X, Y) must exceed SU(Y, C) for Y to be redundant; rounding decides no tie."""
    return TOLERANCE if ties == "keep" else -TOLERANCE


def relevance_graph(n: int, pairs: FoundPairs) -> Neighborhoods:
    """Turn pairs into lists of neighbors, strongest first and equals in the order of their names."""
    from f2sl.learners.local import _kernels

    degrees = np.bincount(pairs.first, minlength=n) + np.bincount(pairs.second, minlength=n)
    start = np.concatenate([[0], np.cumsum(degrees)])
    graph = Neighborhoods(start, np.empty(start[-1], np.int64), np.empty(start[-1]))
    # One stable sort of all pairs puts each list in order as well: falling, of equals the earlier pair first.
    order = np.argsort(-pairs.values, kind="stable")
    sorted_pairs = pairs.first[order], pairs.second[order], pairs.values[order]
    _kernels.list_neighbors(*sorted_pairs, graph.start, graph.members, graph.strengths)
    _kernels.order_by_strength(graph.start, graph.members, graph.strengths, TOLERANCE)
    return graph
