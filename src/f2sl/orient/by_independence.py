"""Directions from independence tests: v-structures, then what follows from them by Meek's rules."""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Integers
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.graph import PDAG, apply_meek_rules
from f2sl.graph.cycle_guard import CycleGuard
from f2sl.orient.v_structures import directions
from f2sl.skeleton import Skeleton


def orient_by_independence(
    skeleton: Skeleton, names: tuple[str, ...], triples: Integers, constraints: Constraints | None = None
) -> PDAG:
    """Orient the v-structures `triples` of a skeleton, then apply Meek's rules.

    Variables are numbered in the order of `names`, which are sorted. Links with one allowed direction get
    it before anything else; a v-structure that claims the other is left out as a whole. So the rules find
    only edges undirected that may point either way.
    """
    with stage("orienting edges"):
        edge_of = {(a, b): e for e, (a, b) in enumerate(skeleton.edges.tolist())}
        guard = CycleGuard(skeleton.n, skeleton.edges[:0], n_edges=len(skeleton.edges))
        arrows: list[tuple[int, int]] = []
        places: list[int] = []
        settled: list[tuple[int, int]] = []
        if constraints:
            settled, triples = _one_way(skeleton, triples, constraints)
        for u, v in dict.fromkeys([*settled, *directions(triples)]):
            if guard.add(u, v):
                arrows.append((u, v))
                places.append(edge_of[min(u, v), max(u, v)])
        loose = np.ones(len(skeleton.edges), np.bool_)
        loose[places] = False
        pattern = PDAG.from_arrays(
            names,
            np.array(arrows, np.int64).reshape(-1, 2),
            skeleton.edges[loose],
            weights_directed=skeleton.strengths[places],
            weights_undirected=skeleton.strengths[loose],
        )
        return apply_meek_rules(pattern)


def _one_way(
    skeleton: Skeleton, triples: Integers, constraints: Constraints
) -> tuple[list[tuple[int, int]], Integers]:
    """Find the arrows of links with one allowed direction, and the v-structures that agree with them."""
    a, b = skeleton.edges.T
    forward, back = constraints.allows(a, b), constraints.allows(b, a)
    arrows = [(int(u), int(v)) for u, v in skeleton.edges[forward & ~back]]
    arrows += [(int(v), int(u)) for u, v in skeleton.edges[back & ~forward]]
    left, middle, right = triples.T
    agree = constraints.allows(left, middle) & constraints.allows(right, middle)
    return sorted(arrows), triples[agree]
