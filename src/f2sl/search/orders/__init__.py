"""The best DAG by its score, looked for among orders of the variables.

Given an order, each variable takes the best set of parents among its candidates that stand before it
(:mod:`~f2sl.search.orders.parent_sets`): the best DAG of that order, at once. What remains is to find a
good order (Teyssier and Koller 2005), and few orders differ. Here a step takes one variable out and puts it
where that raises the score most (Alonso-Barba, de la Ossa and Puerta 2011), which changes its own parents
and those of the candidates it passes and nothing else. Steps are made until none raises the score; then the
order is disturbed in one place, steps are made again from there, and what has become worse is taken back
(*iterated local search*).

A graph that adds, deletes and turns one edge at a time is caught in far more local optima: to turn
an edge it must accept at once what becomes of the families at both its ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from f2sl._progress import stage
from f2sl.counting.protocol import Integers
from f2sl.search.orders.parent_sets import RELATIVE_TOLERANCE, ParentSets

KICKS_AT_ONCE = 1000
"""Disturbances between two looks at whether the search was interrupted."""
MOVES_IN_A_KICK = 3


@dataclass(frozen=True)
class Ordered:
    """The best DAG found: its arrows as rows (from, to), its score, and the order."""

    arrows: Integers
    score: float
    order: Integers


def search_orders(
    sets: ParentSets, start: Integers, candidates: Integers, order: Integers, *, kicks: int
) -> Ordered:
    """Look for the best order, from `order` on, disturbing it `kicks` times.

    The candidates of v are ``candidates[start[v]:start[v + 1]]``, in ascending order, and v is one of theirs.
    """
    from f2sl.search.orders import _kernels

    n = len(order)
    order = order.astype(np.int64)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    chosen = np.empty(n, np.int64)
    _kernels.choose_all(place, sets.first, sets.start, sets.members, chosen)
    least = RELATIVE_TOLERANCE * max(1.0, abs(float(sets.scores[chosen].sum())))
    degrees = np.diff(start)
    room = np.empty(int(degrees.max(initial=0)) + 1, np.int64)
    near = start, candidates, *sets.holding(start, candidates)
    state = order, place, chosen, *near, sets.first, sets.start, sets.members, sets.scores, least
    journal = np.empty((4 * n + len(room) + 2, 3), np.int64)
    queue, ends, waiting = np.empty(n, np.int64), np.zeros(2, np.int64), np.zeros(n, np.bool_)

    def climb() -> None:
        """Let everybody try, until nobody gains: who is asked again after a move are only the likeliest."""
        gain = np.inf
        while gain > 0:
            queue[:], ends[:], waiting[:] = order, (0, n), True
            gain, _ = _kernels.climb(*state, queue, ends, waiting, room, journal, 0, True)

    climb()
    movable = np.flatnonzero(degrees)
    if len(movable):
        random = np.array([1], np.int64)
        with stage("searching orders") as advance:
            for done in range(0, kicks, KICKS_AT_ONCE):
                rounds = min(KICKS_AT_ONCE, kicks - done)
                _kernels.kick(
                    rounds, MOVES_IN_A_KICK, random, movable, *state, queue, ends, waiting, room, journal
                )
                advance(rounds / kicks)
        if kicks:
            climb()
    return Ordered(sets.arrows(chosen), float(sets.scores[chosen].sum()), order)
