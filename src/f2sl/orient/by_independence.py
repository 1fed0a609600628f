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

    Variables are numbered in the order of `names`, which are sorted. Required arcs come first, then the links
    with one allowed direction; where that would close a directed cycle, such a link is dropped. A v-structure
    against the constraints is left out as a whole. So what the rules find undirected may point either way.
    """
    with stage("orienting edges"):
        edge_of = {(a, b): e for e, (a, b) in enumerate(skeleton.edges.tolist())}
        guard = CycleGuard(skeleton.n, skeleton.edges[:0], n_edges=len(skeleton.edges))
        arrows: list[tuple[int, int]] = []
        places: list[int] = []
        loose = np.ones(len(skeleton.edges), np.bool_)
        forced: list[tuple[int, int]] = []
        if constraints:
            forced, triples = _one_way(skeleton, triples, constraints)
        one_way = set(forced)
        for u, v in dict.fromkeys([*forced, *directions(triples)]):
            place = edge_of[min(u, v), max(u, v)]
            fits = guard.add(u, v)
            if fits:
                arrows.append((u, v))
                places.append(place)
            if fits or (u, v) in one_way:
                loose[place] = False
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
    """Find the arrows that the constraints force, required ones first, and the v-structures that agree."""
    a, b = skeleton.edges.T
    forward, back = constraints.allows(a, b), constraints.allows(b, a)
    forced = np.concatenate([skeleton.edges[forward & ~back], skeleton.edges[back & ~forward][:, ::-1]])
    arrows = [(u, v) for u, v in [*constraints.required.tolist(), *sorted(forced.tolist())]]
    left, middle, right = triples.T
    agree = constraints.allows(left, middle) & constraints.allows(right, middle)
    return arrows, triples[agree]
