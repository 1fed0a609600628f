"""SLL+C: Markov blankets by SLL, then directions from the spouses (Niinimäki and Parviainen 2012).

Who is a spouse of T has a child C with it: T -> C <- spouse is a v-structure, if both are linked to C, and
not to each other. Where v-structures claim opposite directions, more of them decide; then come Meek's rules.
No independence test is made.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Integers
from f2sl.graph import PDAG
from f2sl.local.by_score import ByScore, Found, Run
from f2sl.local.sll import SLL, blanket
from f2sl.skeleton import Skeleton
from f2sl.structure.by_best_networks import ByBestNetworks


class SLLc(ByBestNetworks):
    """Learn a partially directed graph: SLL, symmetry, v-structures of spouses, Meek's rules.

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
    >>> model = f2sl.SLLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    def _local_learner(self) -> ByScore:
        return self._like(SLL)

    def _how_far(self, run: Run) -> str:
        if len(run.found) < run.n:
            return super()._how_far(run)
        return f"with the spouses of {len(run.spouses):,} of {run.n:,} variables found"

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        blankets = run.sets({target: blanket(run, target) for target in run.spouses}, run.spouses)
        self.blankets_ = self._named(blankets, names)
        return self._oriented_by(v_structures_of_spouses(run.spouses, skeleton), skeleton, names)


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
