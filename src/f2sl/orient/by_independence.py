"""Directions from independence tests: v-structures, then what follows from them by Meek's rules."""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Integers
from f2sl._progress import stage
from f2sl.graph import PDAG, apply_meek_rules
from f2sl.graph.cycle_guard import CycleGuard
from f2sl.orient.v_structures import directions
from f2sl.skeleton import Skeleton


def orient_by_independence(skeleton: Skeleton, names: tuple[str, ...], triples: Integers) -> PDAG:
    """Orient the v-structures `triples` of a skeleton, then apply Meek's rules.

    Variables are numbered in the order of `names`, which are sorted.
    """
    with stage("orienting edges"):
        edge_of = {(a, b): e for e, (a, b) in enumerate(skeleton.edges.tolist())}
        guard = CycleGuard(skeleton.n, skeleton.edges[:0], n_edges=len(skeleton.edges))
        arrows: list[tuple[int, int]] = []
        places: list[int] = []
        for u, v in directions(triples):
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
