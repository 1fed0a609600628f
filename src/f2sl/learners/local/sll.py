"""SLL, score-based local learning (Niinimäki and Parviainen 2012): SLL-PC finds neighbors, SLL spouses, too.

Candidates for neighbors are tried one after another. The best network over the target, its neighbors so far
and the candidate gives the new neighbors. Alone this can keep a variable that is not linked to the target: a
descendant of a child, if its separating set has been left out. Symmetry, which their algorithm FindNeighbors
has, drops such a member, because the target is not among its own neighbors. Their paper does not say in
which order to try candidates.

The neighbors of SLL are those of SLL-PC with symmetry. Candidates for spouses are the neighbors'
neighbors, tried one after another. In the best network over the target, its neighbors, its spouses so far
and the candidate, the new spouses are the variables that have a common child with the target and are not its
neighbors. Two variables are spouses if the search of either finds the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from f2sl.learners.local.base import Neighborhoods, WithSymmetry, mutual
from f2sl.learners.local.by_score import ByScore, Run
from f2sl.learners.local.growing import Growth, Surroundings, grow


class SLLPC(ByScore, WithSymmetry):
    """Parents and children by the best network over the target, its neighbors and each candidate."""

    def search(self, run: Run, target: int) -> Growth[Surroundings]:
        """Find the neighbors of one target, before symmetry."""
        return potential_neighbors(run, target)

    def members(self, around: Surroundings) -> Mapping[int, float]:
        """Return the neighbors."""
        return around.near

    def explore_one(self, run: Run, target: int) -> Mapping[int, float]:
        """Find one variable's neighbors; with symmetry, search the members' neighbors as well."""
        found = super().explore_one(run, target)
        if self.symmetry == "none":
            return found
        run.look_up("asking whether neighbors agree", list(found), self.search, run.found)
        return agreed(run, target)

    def sets(self, run: Run) -> Neighborhoods:
        """Return all finished sets; with symmetry, without links that only one end names."""
        found = super().sets(run)
        return found if self.symmetry == "none" else mutual(found)


def potential_neighbors(run: Run, target: int) -> Growth[Surroundings]:
    """Find the neighbors of one target, before symmetry (their FindPotentialNeighbors)."""
    return grow(target, Surroundings(), run.allowed_neighbors(target))


def agreed(run: Run, target: int) -> dict[int, float]:
    """Return the neighbors of a target whose own set has it, or is not finished."""
    found = run.found
    near = run.around(target).near.items()
    return {v: strength for v, strength in near if v not in found or target in found[v].near}


class SLL(ByScore):
    """Markov blanket by best networks: neighbors that both ends name, and spouses that either end names."""

    finds_blankets = True

    def search(self, run: Run, target: int) -> Growth[Surroundings]:
        """Find the neighbors of one target, before symmetry."""
        return potential_neighbors(run, target)

    def search_spouses(self, run: Run, target: int) -> Growth[Surroundings]:
        """Find the spouses of one target among its neighbors' neighbors (FindPotentialSpouses)."""
        near = agreed(run, target)
        candidates = {w for v in near for w in agreed(run, v)} - near.keys() - {target}
        among = run.others(target, candidates)
        return grow(target, Surroundings(near), among, with_spouses=True, near_is_final=True)

    def explore_one(self, run: Run, target: int) -> Mapping[int, float]:
        """Find one variable's blanket, with the spouses that either end names."""
        near = self._neighbors(run, [target])
        candidates = self._neighbors(run, near) - near - {target}
        self._neighbors(run, self._neighbors(run, candidates))
        run.look_up("looking for spouses", [target, *sorted(candidates)], self.search_spouses, run.spouses)
        return blanket(run, target)

    def _neighbors(self, run: Run, variables: Iterable[int]) -> set[int]:
        """Search the neighbors of some variables, with symmetry; return all of them."""
        some = sorted(variables)
        run.look_up("looking for neighbors", some, self.search, run.found)
        members = sorted({w for v in some for w in run.around(v).near})
        run.look_up("asking whether neighbors agree", members, self.search, run.found)
        return {w for v in some for w in agreed(run, v)}

    def explore_all(self, run: Run) -> None:
        """Find the neighbors of all variables, then the spouses."""
        run.look_up("looking for neighbors", range(run.n), self.search, run.found)
        run.look_up("looking for spouses", range(run.n), self.search_spouses, run.spouses)

    def sets(self, run: Run) -> Neighborhoods:
        """Return the blankets found so far; a blanket is finished if all its searches are."""
        return run.sets({target: blanket(run, target) for target in run.found}, run.spouses)


def blanket(run: Run, target: int) -> dict[int, float]:
    """Join the neighbors with the spouses that either end names."""
    found = dict(run.spouses_around(target).spouses)
    for other, around in run.spouses.items():
        if target in around.spouses:
            found[other] = max(around.spouses[target], found.get(other, 0.0))
    return found | agreed(run, target)
