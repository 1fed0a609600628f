"""SLL, score-based local learning (Niinimäki and Parviainen 2012): neighbours, then spouses.

The neighbours are those of SLL-PC with symmetry. Spouses are looked for among the neighbours'
neighbours, one candidate after another: in the best network over the target, its neighbours, its spouses so
far and the candidate, those are spouses from then on that have a child with the target and are not
its neighbours. Two variables are spouses if the search of either says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from f2sl.local.base import Neighbourhoods
from f2sl.local.by_score import ByScore, Run
from f2sl.local.growing import Around, Growth, grow
from f2sl.local.sll_pc import agreed, potential_neighbours


class SLL(ByScore):
    """Markov blanket by best networks: neighbours that both ends name, and spouses that either does."""

    def search(self, run: Run, target: int) -> Growth[Around]:
        """Find the neighbours of one target, before symmetry."""
        return potential_neighbours(run, target)

    def search_spouses(self, run: Run, target: int) -> Growth[Around]:
        """Find the spouses of one target among its neighbours' neighbours (FindPotentialSpouses)."""
        near = agreed(run, target)
        candidates = {w for v in near for w in agreed(run, v)} - near.keys() - {target}
        among = run.others(target, candidates)
        return grow(target, Around(near), among, with_spouses=True, near_is_settled=True)

    def explore_one(self, run: Run, target: int) -> Mapping[int, float]:
        """Find one variable's blanket; whoever may be a spouse is asked as well, and so far is looked."""
        near = self._neighbours(run, [target])
        candidates = self._neighbours(run, near) - near - {target}
        self._neighbours(run, self._neighbours(run, candidates))
        run.look_up("looking for spouses", [target, *sorted(candidates)], self.search_spouses, run.spouses)
        return blanket(run, target)

    def _neighbours(self, run: Run, variables: Iterable[int]) -> set[int]:
        """Look up the neighbours of some variables, with symmetry; gives all of them."""
        some = sorted(variables)
        run.look_up("looking for neighbours", some, self.search, run.found)
        members = sorted({w for v in some for w in run.around(v).near})
        run.look_up("asking whether neighbours agree", members, self.search, run.found)
        return {w for v in some for w in agreed(run, v)}

    def explore_all(self, run: Run) -> None:
        """Find the neighbours of all variables, then the spouses."""
        run.look_up("looking for neighbours", range(run.n), self.search, run.found)
        run.look_up("looking for spouses", range(run.n), self.search_spouses, run.spouses)

    def sets(self, run: Run) -> Neighbourhoods:
        """Return the blankets, as far as known; finished are those with all searches at their end."""
        return run.sets({target: blanket(run, target) for target in run.found}, run.spouses)


def blanket(run: Run, target: int) -> dict[int, float]:
    """Join the neighbours with the spouses that either end names."""
    found = dict(run.spouses_around(target).spouses)
    for other, around in run.spouses.items():
        if target in around.spouses:
            found[other] = max(around.spouses[target], found.get(other, 0.0))
    return found | agreed(run, target)
