"""GGSL, graph growing structure learning (Gao, Fadnis and Campbell 2017).

The graph grows from one variable to all: S2TMB finds its neighbors and spouses, then those of its
neighbors, and so on. If variables are left when the graph stops growing, it starts again at the first of
them.

- *Settled edges stay.* A variable that has been searched has named its neighbors and spouses. In later
  searches it is no longer a candidate: it is a member if it named the target, and otherwise not.
- *The score decides conflicts.* A search may lose a neighbor that has named the variable, and two
  v-structures may claim opposite directions. Then the best network over both ends and their surroundings
  decides whether they are adjacent, or in which direction.

At the end the v-structures are oriented, then Meek's rules are applied.

Their paper repairs the graph after each turn; here directions are decided at the end, when all are known.
"""

from __future__ import annotations

import random
from collections import deque
from functools import partial

import numpy as np

from f2sl._arrays import Integers
from f2sl._options import option
from f2sl._progress import stage
from f2sl.errors import DataError, unknown_name
from f2sl.graph import DAG, PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.by_best_networks import finished_part, learn_by_best_networks, v_structures_of_spouses
from f2sl.learners.fit import Fit
from f2sl.learners.local.by_score import Run, network_option
from f2sl.learners.local.growing import Growth, Surroundings, grow
from f2sl.learners.skeleton import Skeleton
from f2sl.stats.scores.base import Score


class GGSL(StructureLearner):
    """Learn a partially directed graph that grows from one variable, by S2TMB.

    Attributes
    ----------
    graph_ : PDAG
        The learned graph. The weight of an edge is the loss in score without it.
    pc_ : dict of str to list of str
        The neighbors found for each variable, strongest first, before they were joined; empty if the search
        was stopped early.
    skeleton_ : PDAG
        All edges, undirected.
    n_exact_, n_climbed_ : int
        Number of networks found exactly, and by hill climbing because they were too large.
    v_structures_ : list of (str, str, str)
        The triples (A, C, D) found to be A -> C <- D.
    start_ : str
        Variable from which the graph grew.
    n_conflicts_ : int
        Number of contradictions between two neighborhoods.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.GGSL(start="xray").fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.neighbors("smoke"))
    ['bronc', 'lung']
    """

    _takes = ("discrete",)
    strength_unit = "log score"
    _watches_time = True
    _ignores = (("start", lambda start: start is not None, ("random_state",)),)

    score: str | Score = network_option("score")
    equivalent_sample_size: float = network_option("equivalent_sample_size")
    order: str = network_option("order")
    ties: str = network_option("ties")
    max_exact: int = network_option("max_exact")
    max_parents: int | None = network_option("max_parents")
    time_limit: float | None = network_option("time_limit")
    start: str | None = option("start")
    random_state: int = option("random_state")

    def _learn(self, fit: Fit) -> PDAG:
        run = Run(self, fit.engine, fit.constraints or None)

        def orient(skeleton: Skeleton) -> PDAG:
            triples = v_structures_of_spouses(run.found, skeleton)
            if not run.interrupted and run.has_time():
                triples = self._decide_directions(run, triples)
            return fit.oriented(skeleton, triples)

        explore, how_far = partial(self._explore, run, fit.names), partial(finished_part, run)
        return learn_by_best_networks(fit, run, explore, orient, how_far)

    def _explore(self, run: Run, names: tuple[str, ...]) -> None:
        """Grow the graph from the first variable to all."""
        if self.start is not None and str(self.start) not in names:
            raise DataError(unknown_name("column", self.start, names))
        self.start_ = (
            str(self.start) if self.start is not None else random.Random(self.random_state).choice(names)
        )
        self.n_conflicts_ = 0
        waiting = deque([names.index(self.start_)])
        with stage("growing the graph") as advance:
            while len(run.found) < run.n and not run.out_of_time:
                if not waiting:
                    waiting.append(next(v for v in range(run.n) if v not in run.found))
                target = waiting.popleft()
                if target in run.found:
                    continue
                run.run([target], search_what_is_open, run.found, lambda: advance(1.0 / run.n))
                if target in run.found:
                    self._decide_edges(run, target)
                    near = run.found[target].near
                    waiting.extend(sorted(near, key=lambda v: (-round(near[v], 6), v)))

    def _decide_edges(self, run: Run, target: int) -> None:
        """Decide whether the target and another variable are adjacent if only one of them names the other."""
        for other in sorted(run.found):
            if not run.has_time():
                return
            strengths = run.found[target].near.get(other), run.found[other].near.get(target)
            if (strengths[0] is None) == (strengths[1] is None):
                continue
            self.n_conflicts_ += 1
            silent, named = (target, other) if strengths[0] is None else (other, target)
            strength = run.found[named].near[silent]
            network = best_around_both(run, target, other)
            if target in network[other] or other in network[target]:
                run.found[silent] = with_neighbor(run.found[silent], named, strength)
            else:
                run.found[named] = without_neighbor(run.found[named], silent)

    def _decide_directions(self, run: Run, triples: Integers) -> Integers:
        """Decide between opposite directions; return the v-structures that agree with the decisions."""
        claimed = {(end, c) for a, c, d in triples.tolist() for end in (a, d)}
        refuted: set[tuple[int, int]] = set()
        for u, v in sorted(claimed):
            if u < v and (v, u) in claimed:
                self.n_conflicts_ += 1
                decided = direction_around_both(run, u, v)
                refuted |= {(u, v), (v, u)} - {decided}
        kept = [(a, c) not in refuted and (d, c) not in refuted for a, c, d in triples.tolist()]
        return triples[np.array(kept, np.bool_)]


def search_what_is_open(run: Run, target: int) -> Growth[Surroundings]:
    """Search by S2TMB among variables not yet searched, starting from those that named the target."""
    near = {v: around.near[target] for v, around in run.found.items() if target in around.near}
    named = {v: around.spouses[target] for v, around in run.found.items() if target in around.spouses}
    children = {v: run.found[v].children[target] for v in named}
    candidates = run.others(target, set(range(run.n)) - run.found.keys())
    allowed_neighbors = candidates[np.isin(candidates, run.allowed_neighbors(target))]
    first = yield from grow(target, Surroundings(near), allowed_neighbors)
    rest = candidates[~np.isin(candidates, list(first.near))]
    spouses = {v: strength for v, strength in named.items() if v not in first.near}
    begin = Surroundings(first.near, spouses, {v: children[v] for v in spouses})
    return (yield from grow(target, begin, rest, with_spouses=True))


def best_around_both(run: Run, one: int, other: int) -> dict[int, tuple[int, ...]]:
    """Return the parents of each variable in the best network over two variables and their surroundings."""
    around = [v for end in (one, other) for v in (*run.around(end).near, *run.around(end).spouses)]
    return run.grower.network({one, other, *around})


def direction_around_both(run: Run, u: int, v: int) -> tuple[int, int] | None:
    """Return the direction of an edge in the best network, if all equivalent networks agree on it."""
    network = best_around_both(run, u, v)
    pattern = DAG(
        [str(member) for member in network],
        [(str(parent), str(child)) for child, parents in network.items() for parent in parents],
    ).to_cpdag()
    for a, b in ((u, v), (v, u)):
        if pattern.has_directed_edge(str(a), str(b)):
            return a, b
    return None


def with_neighbor(around: Surroundings, variable: int, strength: float) -> Surroundings:
    """Add a neighbor; it is then no longer a spouse."""
    spouses = {v: loss for v, loss in around.spouses.items() if v != variable}
    return Surroundings(around.near | {variable: strength}, spouses, {v: around.children[v] for v in spouses})


def without_neighbor(around: Surroundings, variable: int) -> Surroundings:
    """Remove a neighbor."""
    near = {v: loss for v, loss in around.near.items() if v != variable}
    return Surroundings(near, around.spouses, around.children)
