"""S2TMB, score-based simultaneous Markov blanket (Gao and Ji 2017): neighbors and spouses in one network.

First it finds the neighbors as SLL does. They may include false ones: descendants of a child, which only a
spouse outside the set would separate from the target. So all other variables are tried once more, one after
another, in the best network over the target, its neighbors, its spouses so far and the candidate. Variables
adjacent to the target become its neighbors, and variables with a common child become its spouses. The spouses
remove the false neighbors, so no symmetry check is needed.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from f2sl.data.engines import CountingEngine
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods
from f2sl.learners.local.by_score import Run, network_option
from f2sl.learners.local.growing import Growth, Surroundings, grow
from f2sl.stats.scores.base import Score


def neighbors_then_spouses(run: Run, target: int) -> Growth[Surroundings]:
    """Find the neighbors of one target, then spouses and neighbors."""
    others = run.others(target)
    first = yield from grow(target, Surroundings(), run.allowed_neighbors(target))
    rest = others[~np.isin(others, list(first.near))]
    return (yield from grow(target, first, rest, with_spouses=True))


def explore(run: Run, targets: Collection[int]) -> None:
    """Find the neighbors and spouses of some variables."""
    run.look_up("looking for the best networks", targets, neighbors_then_spouses, run.found)


class S2TMB(LocalLearner):
    """Markov blanket by best networks, neighbors and spouses together."""

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
        """Find the blanket of one variable."""
        run = Run(self, engine, self.rules)
        explore(run, [target])
        around = run.around(target)
        return run.one(around.near | around.spouses)

    def learn_all(self, engine: CountingEngine) -> Neighborhoods:
        """Find the blankets of all variables."""
        run = Run(self, engine, self.rules)

        def sets() -> Neighborhoods:
            return run.sets({v: around.near | around.spouses for v, around in run.found.items()}, run.found)

        return run.all(lambda: explore(run, range(run.n)), sets)


class S2TMBPC(LocalLearner):
    """Parents and children by best networks that hold the spouses as well; no symmetry is needed."""

    _takes = ("discrete",)
    strength_unit = "log score"

    score: str | Score = network_option("score")
    equivalent_sample_size: float = network_option("equivalent_sample_size")
    order: str = network_option("order")
    ties: str = network_option("ties")
    max_exact: int = network_option("max_exact")
    max_parents: int | None = network_option("max_parents")
    time_limit: float | None = network_option("time_limit")

    def learn_one(self, engine: CountingEngine, target: int) -> Neighborhood:
        """Find the neighbors of one variable."""
        run = Run(self, engine, self.rules)
        explore(run, [target])
        return run.one(run.around(target).near)

    def learn_all(self, engine: CountingEngine) -> Neighborhoods:
        """Find the neighbors of all variables."""
        run = Run(self, engine, self.rules)
        return run.all(lambda: explore(run, range(run.n)), run.near_sets)
