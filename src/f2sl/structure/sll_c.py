"""SLL+C: Markov blankets by SLL, then directions from the spouses (Niinimäki and Parviainen 2012).

Who is a spouse of T has a child C with it: T -> C <- spouse is a v-structure, if both are linked to C, and
not to each other. Where v-structures claim opposite directions, more of them decide; then come Meek's rules.
No independence test is made.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from f2sl._arrays import Integers
from f2sl.graph import PDAG
from f2sl.local.by_score import MAX_EXACT, ByScore, Found, Run
from f2sl.local.sll import SLL, blanket
from f2sl.skeleton import Skeleton
from f2sl.structure.by_best_networks import ByBestNetworks


class SLLC(ByBestNetworks):
    """Learn a partially directed graph: SLL, symmetry, v-structures of spouses, Meek's rules.

    Parameters
    ----------
    score : {"bdeu", "bic"}
        What the best network has most of.
    equivalent_sample_size : float
        The weight of BDeu's prior, in samples.
    order : {"strength", "name"}
        Which candidates come first: those whose link to the target alone is worth most, or the earlier names.
    ties : {"drop", "keep"}
        Which of several best networks is taken: one with the fewest links to the target, or with the most.
    max_exact : int
        Most variables of a network that is looked for exactly; above, hill climbing has to do.
    max_indegree : int, optional
        Most parents that a variable may have in such a network; None for any number.
    time_limit : float, optional
        Seconds after which the learning ends with what is finished; None for no limit.
    n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_ : PDAG
        The graph learned, weighted by what the score would lose without each link.
    complete_ : bool
        Whether all came to its end; if not, `notes_` say how far it got.
    pc_ : dict of str to list of str
        The neighbours found for each variable, strongest first, before they were joined; none where the
        search did not come to its end.
    blankets_ : dict of str to list of str
        The Markov blanket of each variable, strongest first.
    skeleton_ : PDAG
        All edges, undirected.
    v_structures_ : list of (str, str, str)
        The triples (A, C, D) found to be A -> C <- D.
    n_exact_, n_climbed_ : int
        Networks found exactly, and by hill climbing because they were too large.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.SLLC().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    blankets_: dict[str, list[str]]
    v_structures_: list[tuple[str, str, str]]

    def __init__(
        self,
        *,
        score: str = "bdeu",
        equivalent_sample_size: float = 1.0,
        order: str = "strength",
        ties: str = "drop",
        max_exact: int = MAX_EXACT,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        bins: int | Mapping[str, int] | None = None,
        binning: str = "quantile",
        missing: str = "error",
        engine: str = "auto",
        memory: int | str | None = None,
        scheduler: object = None,
        verbose: bool = False,
    ) -> None:
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.order = order
        self.ties = ties
        self.max_exact = max_exact
        self.max_indegree = max_indegree
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.bins = bins
        self.binning = binning
        self.missing = missing
        self.engine = engine
        self.memory = memory
        self.scheduler = scheduler
        self.verbose = verbose

    def _local_learner(self) -> ByScore:
        return SLL(**self._options_of_networks())

    def _how_far(self, run: Run) -> str:
        if len(run.found) < run.n:
            return super()._how_far(run)
        return f"with the spouses of {len(run.spouses):,} of {run.n:,} variables found"

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        from f2sl.orient.by_independence import orient_by_independence
        from f2sl.structure.local_to_global import by_name

        blankets = run.sets({target: blanket(run, target) for target in run.spouses}, run.spouses)
        self.blankets_ = by_name(blankets, names, self.feature_names_in_.tolist())
        triples = v_structures_of_spouses(run.spouses, skeleton)
        self.v_structures_ = [(names[a], names[c], names[d]) for a, c, d in triples.tolist()]
        return orient_by_independence(skeleton, names, triples)


def v_structures_of_spouses(found: Found, skeleton: Skeleton) -> Integers:
    """List the v-structures that spouses show, as rows (A, C, D) with A < D, each once."""
    shown = {
        (min(target, spouse), child, max(target, spouse))
        for target, around in found.items()
        for spouse, children in around.children.items()
        for child in children
    }
    triples = np.array(sorted(shown), np.int64).reshape(-1, 3)
    a, c, d = triples.T
    return np.asarray(triples[skeleton.linked(a, c) & skeleton.linked(c, d) & ~skeleton.linked(a, d)])
