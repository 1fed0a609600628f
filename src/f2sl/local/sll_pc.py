"""SLL-PC: the neighbours that SLL finds (Niinimäki and Parviainen 2012).

Candidates come one after another. With each, the best network over the target, its neighbours so far and the
candidate decides who its neighbours are from then on. Alone this can keep a variable that is not linked to
the target: a descendant of a child, where what would separate it has been left out. With symmetry, which
their algorithm FindNeighbors has, such a member goes, because the target is not among its own neighbours.

Their paper leaves open in which order candidates come.
"""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.local.base import Neighbourhoods, WithSymmetry, mutual
from f2sl.local.by_score import ByScore, Run
from f2sl.local.growing import Around, Growth, grow


class SLLPC(ByScore, WithSymmetry):
    """Parents and children by the best network over the target, its neighbours and each candidate."""

    def search(self, run: Run, target: int) -> Growth[Around]:
        """Find the neighbours of one target, before symmetry."""
        return potential_neighbours(run, target)

    def members(self, around: Around) -> Mapping[int, float]:
        """Return the neighbours."""
        return around.near

    def explore_one(self, run: Run, target: int) -> Mapping[int, float]:
        """Find one variable's neighbours; with symmetry, the members' own are looked into."""
        found = super().explore_one(run, target)
        if self.symmetry == "none":
            return found
        run.look_up("asking whether neighbours agree", list(found), self.search, run.found)
        return agreed(run, target)

    def sets(self, run: Run) -> Neighbourhoods:
        """Return all sets that are finished; with symmetry, without the links that one end alone names."""
        found = super().sets(run)
        return found if self.symmetry == "none" else mutual(found)


def potential_neighbours(run: Run, target: int) -> Growth[Around]:
    """Find the neighbours of one target, before symmetry (their FindPotentialNeighbors)."""
    return grow(target, Around(), run.others(target))


def agreed(run: Run, target: int) -> dict[int, float]:
    """Return the neighbours of a target whose own set has it, or is not finished."""
    found = run.found
    near = run.around(target).near.items()
    return {v: strength for v, strength in near if v not in found or target in found[v].near}
