"""SLL, score-based local learning (Niinimäki and Parviainen 2012): SLL-PC finds neighbors, SLL spouses, too.

Candidates for neighbors are tried one after another. The best network over the target, its neighbors so far
and the candidate gives the new neighbors. Alone this can keep a variable that is not adjacent to the target:
a descendant of a child, if its separating set has been left out. Symmetry, which their algorithm
FindNeighbors has, drops such a member, because the target is not among its own neighbors. Their paper does
not say in which order to try candidates.

The neighbors of SLL are those of SLL-PC with symmetry. Candidates for spouses are the neighbors'
neighbors, tried one after another. In the best network over the target, its neighbors, its spouses so far
and the candidate, the new spouses are the variables that have a common child with the target and are not its
neighbors. Two variables are spouses if the search of either finds the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from f2sl._options import any_of, option
from f2sl.data.engines import CountingEngine
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods, mutual
from f2sl.learners.local.by_score import Run, network_option
from f2sl.learners.local.growing import Growth, Surroundings, grow
from f2sl.stats.scores.base import Score


class SLLPC(LocalLearner):
    """Parents and children by the best network over the target, its neighbors and each candidate."""

    _takes = ("discrete",)
    strength_unit = "log score"

    score: str | Score = network_option("score")
    equivalent_sample_size: float = network_option("equivalent_sample_size")
    order: str = network_option("order")
    ties: str = network_option("ties")
    max_exact: int = network_option("max_exact")
    max_parents: int | None = network_option("max_parents")
    time_limit: float | None = network_option("time_limit")
    symmetry: str = option("symmetry", check=any_of("and", "none"))

    def learn_one(self, engine: CountingEngine, target: int) -> Neighborhood:
        """Find one variable's neighbors; with symmetry, search the members' neighbors as well."""
        run = Run(self, engine, self.rules)
        run.look_up("looking for the best networks", [target], potential_neighbors, run.found)
        near = run.around(target).near
        if self.symmetry != "none":
            run.look_up("asking whether neighbors agree", list(near), potential_neighbors, run.found)
            near = agreed(run, target)
        return run.one(near)

    def learn_all(self, engine: CountingEngine) -> Neighborhoods:
        """Find the neighbors of all variables; with symmetry, without edges that only one end names."""
        run = Run(self, engine, self.rules)
        found = run.all(lambda: explore_neighbors(run), run.near_sets)
        return found if self.symmetry == "none" else mutual(found)


def explore_neighbors(run: Run) -> None:
    """Find the neighbors of all variables, before symmetry."""
    run.look_up("looking for the best networks", range(run.n), potential_neighbors, run.found)


def potential_neighbors(run: Run, target: int) -> Growth[Surroundings]:
    """Find the neighbors of one target, before symmetry (their FindPotentialNeighbors)."""
    return grow(target, Surroundings(), run.allowed_neighbors(target))


def agreed(run: Run, target: int) -> dict[int, float]:
    """Return the neighbors of a target whose own set has it, or is not finished."""
    found = run.found
    near = run.around(target).near.items()
    return {v: strength for v, strength in near if v not in found or target in found[v].near}


class SLL(LocalLearner):
    """Markov blanket by best networks: neighbors that both ends name, and spouses that either end names."""

    _takes = ("discrete",)
    strength_unit = "log score"
    finds_blankets = True

    score: str | Score = network_option("score")
    equivalent_sample_size: float = network_option("equivalent_sample_size")
    order: str = network_option("order")
    ties: str = network_option("ties")
    max_exact: int = network_option("max_exact")
    max_parents: int | None = network_option("max_parents")
    time_limit: float | None = network_option("time_limit")

    def learn_one(self, engine: CountingEngine, target: int) -> Neighborhood:
        """Find one variable's blanket, with the spouses that either end names."""
        run = Run(self, engine, self.rules)
        near = neighbors(run, [target])
        candidates = neighbors(run, near) - near - {target}
        neighbors(run, neighbors(run, candidates))
        run.look_up("looking for spouses", [target, *sorted(candidates)], potential_spouses, run.spouses)
        return run.one(blanket(run, target))

    def learn_all(self, engine: CountingEngine) -> Neighborhoods:
        """Find the blankets of all variables; a blanket is finished if all its searches are."""
        run = Run(self, engine, self.rules)
        return run.all(lambda: explore_blankets(run), lambda: sets_of_blankets(run))


def potential_spouses(run: Run, target: int) -> Growth[Surroundings]:
    """Find the spouses of one target among its neighbors' neighbors (FindPotentialSpouses)."""
    near = agreed(run, target)
    candidates = {w for v in near for w in agreed(run, v)} - near.keys() - {target}
    among = run.others(target, candidates)
    return grow(target, Surroundings(near), among, with_spouses=True, near_is_final=True)


def neighbors(run: Run, variables: Iterable[int]) -> set[int]:
    """Search the neighbors of some variables, with symmetry; return all of them."""
    some = sorted(variables)
    run.look_up("looking for neighbors", some, potential_neighbors, run.found)
    members = sorted({w for v in some for w in run.around(v).near})
    run.look_up("asking whether neighbors agree", members, potential_neighbors, run.found)
    return {w for v in some for w in agreed(run, v)}


def explore_blankets(run: Run) -> None:
    """Find the neighbors of all variables, then the spouses."""
    run.look_up("looking for neighbors", range(run.n), potential_neighbors, run.found)
    run.look_up("looking for spouses", range(run.n), potential_spouses, run.spouses)


def sets_of_blankets(run: Run) -> Neighborhoods:
    """Return the blankets found so far."""
    return run.sets({target: blanket(run, target) for target in run.found}, run.spouses)


def blanket(run: Run, target: int) -> dict[int, float]:
    """Join the neighbors with the spouses that either end names."""
    found = dict(run.spouses_around(target).spouses)
    for other, around in run.spouses.items():
        if target in around.spouses:
            found[other] = max(around.spouses[target], found.get(other, 0.0))
    return found | agreed(run, target)
