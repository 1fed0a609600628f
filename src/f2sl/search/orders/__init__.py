"""Search for the DAG with the best score among orders of the variables.

Given an order, each variable takes the best set of parents among its candidates that stand before it
(:mod:`~f2sl.search.orders.parent_sets`). That is the best DAG of the order, found without a search. What
remains is to find a good order (Teyssier and Koller 2005). Here a move takes one variable out of the order
and inserts it where that raises the score most (Alonso-Barba, de la Ossa and Puerta 2011). It changes the
parents of that variable and of the candidates it passes, and nothing else. Moves are made until none raises
the score. Then the order is disturbed at one position, moves are made again from there, and the result is
undone if it is worse (*iterated local search*).

A perturbation reverses edges: a variable goes before one of its parents, together with its ancestors between
them, as in GRaSP (Lam, Andrews and Ramsey 2022). Where several causes come behind their effect, and another
effect of it stands between, no move of one variable raises the score, but this does.

Hill climbing over graphs, which adds, deletes and reverses one edge at a time, has far more local optima:
reversing an edge changes the families at both its ends at once, and has to pay for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Integers
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.search.orders.parent_sets import RELATIVE_TOLERANCE, ParentSets

PERTURBATIONS_AT_ONCE = 1000
"""Perturbations in one call of the kernel: after it progress is reported and Ctrl-C is noticed."""
MOVES_PER_PERTURBATION = 3
"""Changes in one perturbation."""


@dataclass(frozen=True)
class Ordered:
    """Best DAG found: its arrows as rows (from, to), its score, and the order, (n,) int64."""

    arrows: Integers
    score: float
    order: Integers


def search_orders(
    sets: ParentSets,
    start: Integers,
    candidates: Integers,
    orders: Sequence[Integers],
    *,
    perturbations: int,
    pays: float = np.inf,
    constraints: Constraints | None = None,
    random_state: int = 1,
    keep: Callable[[Ordered], None] = lambda found: None,
) -> Ordered:
    """Climb from each of `orders` to a local optimum, and improve the best one by iterated local search.

    Parameters
    ----------
    sets : ParentSets
        Sets of parents worth having for each variable, best first.
    start : (n + 1,) int64
        The candidates of v are ``candidates[start[v]:start[v + 1]]``.
    candidates : int64
        Ascending for each variable, and symmetric: v is a candidate of each of its candidates.
    orders : sequence of (n,) int64
        Orders to start from; each lists all variables once.
    perturbations : int
        Number of perturbations of the best local optimum.
    pays : float
        As many perturbations are made again as long as the last ones have raised the score by more than this.
    constraints : Constraints, optional
        Whose required edges the orders have to follow; `sets` has to be made with the same.
    random_state : int
        What the perturbations are drawn by.
    keep : callable
        Receives the best DAG, once there is a local optimum, also if the search does not come to its end.
    """
    from f2sl.search.orders import _kernels

    n = len(start) - 1
    if constraints:
        orders = [following(order, constraints) for order in orders]
    degrees = np.diff(start)
    owners = np.repeat(np.arange(n), degrees)
    held, holding = sets.holding(start, candidates)
    mirror = np.lexsort((owners, candidates))
    tops = np.full(len(candidates), -np.inf)
    some = held[:-1] < held[1:]
    tops[some] = sets.scores[holding[held[:-1][some]]]
    known = _kernels.Sets(
        sets.first, sets.start, sets.members, sets.scores, start, candidates, held, holding, mirror, tops
    )
    # All kernels share this scratch memory. The journal always has room for one move, which writes at most
    # `most` + 2 entries; 4 n further ones bound how much a perturbation and its climb may change.
    most = int(degrees.max(initial=0))
    workspace = _kernels.Workspace(
        np.empty(n, np.int64),
        np.zeros(2, np.int64),
        np.zeros(n, np.bool_),
        np.empty(len(candidates), np.int64),
        np.empty((4 * n + most + 3, 3), np.int64),
        np.empty(n, np.int64),
        np.zeros(n, np.bool_),
    )

    def at(order: Integers) -> tuple[_kernels.State, float]:
        """Return the state of an order, and the smallest gain that exceeds rounding there."""
        ring = np.concatenate([[n], order, [n]])
        state = _kernels.State(*np.empty((2, n + 1), np.int64), *np.empty((2, n), np.int64))
        state.after[ring[:-1]], state.before[ring[1:]] = ring[1:], ring[:-1]
        _kernels.choose_all(state, known)
        workspace.near[:] = np.lexsort((state.position[candidates], owners))
        return state, RELATIVE_TOLERANCE * max(1.0, abs(score(state)))

    def score(state: _kernels.State) -> float:
        return float(sets.scores[state.chosen].sum())

    def climb(state: _kernels.State, least: float) -> _kernels.State:
        """Repeat best-insertion moves until none improves the score; update `state` and return it.

        After a move the kernel requeues only the variables most likely to gain. So when its queue is empty
        all variables are tried once more, until a whole pass gains nothing: only that makes a local optimum.
        """
        gain = np.inf
        while gain > 0:
            workspace.queue[:], workspace.ends[:], workspace.waiting[:] = (
                np.argsort(state.position),
                (0, n),
                True,
            )
            gain = _kernels.search(0, MOVES_PER_PERTURBATION, random, movable, state, known, workspace, least)
        return state

    random, movable = np.array([random_state], np.int64), np.flatnonzero(degrees)
    top = max((climb(*at(order)) for order in orders), key=score)
    try:
        if perturbations and len(movable):
            top, least = at(np.argsort(top.position))
            gain = np.inf
            while gain == np.inf or gain > max(pays, least):
                before = score(top)
                with stage("searching orders") as advance:
                    for done in range(0, perturbations, PERTURBATIONS_AT_ONCE):
                        rounds = min(PERTURBATIONS_AT_ONCE, perturbations - done)
                        _kernels.search(
                            rounds, MOVES_PER_PERTURBATION, random, movable, top, known, workspace, least
                        )
                        advance(rounds / perturbations)
                gain = score(top) - before
            # Climbs after a perturbation try only what was requeued, so the last word is a climb over all
            # variables.
            climb(top, least)
    finally:  # between two calls of the kernel, the order is a whole one
        found = Ordered(sets.arrows(top.chosen), score(top), np.argsort(top.position))
        keep(found)
    return found


def following(order: Integers, constraints: Constraints) -> Integers:
    """Return the order with every required parent before its child, and else as little changed as possible.

    Examples
    --------
    >>> following(np.array([2, 0, 1]), Constraints.of(3, required=[(1, 2)])).tolist()
    [0, 1, 2]
    """
    waiting = np.bincount(constraints.required[:, 1], minlength=len(order))
    left, found = order.tolist(), []
    while left:
        v = next(v for v in left if waiting[v] == 0)
        left.remove(v)
        found.append(v)
        np.subtract.at(waiting, constraints.required[constraints.required[:, 0] == v, 1], 1)
    return np.array(found, np.int64)
