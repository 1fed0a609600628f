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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Integers
from f2sl._progress import stage
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
    sets: ParentSets, start: Integers, candidates: Integers, orders: Sequence[Integers], *, kicks: int
) -> Ordered:
    """Look for the best order: from some to begin with to a top, and on from the highest.

    That one is disturbed `kicks` times.

    The candidates of v are ``candidates[start[v]:start[v + 1]]``, in ascending order, and v is one of theirs.
    """
    from f2sl.search.orders import _kernels

    n = len(start) - 1
    degrees = np.diff(start)
    near = sets.holding(start, candidates)
    known = _kernels.Sets(sets.first, sets.start, sets.members, sets.scores, start, candidates, *near)
    most = int(degrees.max(initial=0))
    room = _kernels.Room(
        np.empty(n, np.int64),
        np.zeros(2, np.int64),
        np.zeros(n, np.bool_),
        np.empty(most + 1, np.int64),
        np.empty((4 * n + most + 3, 3), np.int64),
    )

    def at(order: Integers) -> tuple[_kernels.State, float]:
        """Where the search stands with an order, and the least that it counts for a gain there."""
        place, chosen = np.empty(n, np.int64), np.empty(n, np.int64)
        place[order] = np.arange(n)
        state = _kernels.State(order.astype(np.int64), place, chosen)
        _kernels.choose_all(state, known)
        return state, RELATIVE_TOLERANCE * max(1.0, abs(score(state)))

    def score(state: _kernels.State) -> float:
        return float(sets.scores[state.chosen].sum())

    def climb(state: _kernels.State, least: float) -> _kernels.State:
        """Let everybody try, until nobody gains: who is asked again after a move are only the likeliest."""
        gain = np.inf
        while gain > 0:
            room.queue[:], room.ends[:], room.waiting[:] = state.order, (0, n), True
            gain, _ = _kernels.climb(state, known, room, least, 0, True)
        return state

    top = max((climb(*at(order)) for order in orders), key=score)
    movable = np.flatnonzero(degrees)
    if kicks and len(movable):
        top, least = at(top.order)
        random = np.array([1], np.int64)
        with stage("searching orders") as advance:
            for done in range(0, kicks, KICKS_AT_ONCE):
                rounds = min(KICKS_AT_ONCE, kicks - done)
                _kernels.kick(rounds, MOVES_IN_A_KICK, random, movable, top, known, room, least)
                advance(rounds / kicks)
        climb(top, least)
    return Ordered(sets.arrows(top.chosen), score(top), top.order)
