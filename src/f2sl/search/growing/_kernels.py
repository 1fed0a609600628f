"""Search over orders of Gaussian variables; parents are grown and shrunk on demand, from one matrix.

The *family* of a variable u is u with parents that stand before it in the order; `blocks/_kernels.py` scores
families. Between calls these kernels keep two invariants:

- ``order[place[v]] == v``.
- No parent of any u can be dropped, and no variable that stands before u can be added, with a gain in score.
  (Dropping and adding at once may gain: parents are a local optimum, reached from the ones before.)

When a variable v passes its neighbour u in the order, only these two families can change, and mostly neither
does: v has to be a parent of u, or to become one. So a family stays as it is, and the question is answered
from the Cholesky factor of its parents.
"""

from __future__ import annotations

from f2sl._jit import Array, int64, kernel, plain_inner
from f2sl.search.growing.blocks._kernels import copy_family, gains, has_room, settle
from f2sl.search.growing.state import (
    AHEAD,
    BACK,
    BEFORE,
    BEGIN,
    CLIMB,
    END,
    FORBIDDEN,
    KEPT,
    MOST_MOVES,
    NO_VARIABLE,
    NOW,
    REQUIRED,
    SCORE,
    SETTLE,
    Families,
    Problem,
    Room,
    Wide,
)
from f2sl.search.orders._kernels import draw


@plain_inner
def _change(
    u: int, dropped: int, added: int, families: Families, problem: Problem, room: Room, wide: Wide
) -> float:
    """Drop the parent of u with one number, or add one, and settle; return the gain in score."""
    k, parents = families.n_parents[NOW, u], families.parents[NOW, u]
    if dropped == NO_VARIABLE and not has_room(u, added, families, problem, wide):
        room.full[0] = True
        return 0.0
    _keep(NOW, BEFORE, u, families, room, wide)
    before = families.figures[NOW, u, SCORE]
    if dropped == NO_VARIABLE:
        parents[k] = added
        families.n_parents[NOW, u] = k + 1
    else:
        for i in range(dropped, k - 1):
            parents[i] = parents[i + 1]
        families.n_parents[NOW, u] = k - 1
    settle(u, families, problem, room, wide)
    return float(families.figures[NOW, u, SCORE] - before)


@plain_inner
def _keep(source: int, target: int, u: int, families: Families, room: Room, wide: Wide) -> None:
    """Copy a family unless there is a copy already."""
    if not room.marked[target, u]:
        room.marked[target, u] = True
        room.listed[target, room.n_listed[target]] = u
        room.n_listed[target] += 1
        copy_family(source, target, u, families, wide)


@plain_inner
def _forget(copy: int, room: Room) -> None:
    """Drop all copies."""
    for i in range(room.n_listed[copy]):
        room.marked[copy, room.listed[copy, i]] = False
    room.n_listed[copy] = 0


@plain_inner
def _keep_order(source: int, target: int, room: Room) -> None:
    """Copy the order."""
    for p in range(room.order.shape[1]):
        room.order[target, p] = room.order[source, p]
        room.place[target, p] = room.place[source, p]


@plain_inner
def _return_to(copy: int, families: Families, room: Room, wide: Wide) -> None:
    """Restore all families and the order from the copies."""
    for i in range(room.n_listed[copy]):
        copy_family(copy, NOW, room.listed[copy, i], families, wide)
    _keep_order(copy, NOW, room)
    _forget(copy, room)


@plain_inner
def _walk(
    v: int, back: bool, most: int, families: Families, problem: Problem, room: Room, wide: Wide
) -> tuple[float, float, int]:
    """Move v past the variables before it (`back`) or behind it, one by one, at most `most`.

    Returns the gain in score, the best gain on the way, and after how many steps that was.
    """
    order, place, rule = room.order[NOW], room.place[NOW], problem.rule
    count, parents = families.n_parents[NOW], families.parents[NOW]
    total, best, best_steps = 0.0, 0.0, int64(0)
    for step in range(most):
        here = place[v]
        there = here - 1 if back else here + 1
        if there < 0 or there == len(order):
            break
        u = order[there]
        # `second`, which stands behind `first`, passes it.
        first, second = (u, v) if back else (v, u)
        if rule[first, second] == REQUIRED:
            break
        order[here], order[there] = u, v
        place[u], place[v] = here, there
        for i in range(count[second]):
            if parents[second, i] == first:
                total += _change(second, int64(i), NO_VARIABLE, families, problem, room, wide)
                break
        if rule[second, first] != FORBIDDEN and gains(first, second, families, problem, room, wide):
            total += _change(first, NO_VARIABLE, second, families, problem, room, wide)
        # Of places that rounding alone tells apart the nearest.
        if total > best + problem.gain:
            best, best_steps = total, int64(step + 1)
    return total, best, best_steps


@plain_inner
def _enqueue(v: int, room: Room) -> None:
    """Enqueue v unless it is in the queue."""
    if not room.waiting[v]:
        room.waiting[v] = True
        room.queue[room.ends[END] % len(room.queue)] = v
        room.ends[END] += 1


@plain_inner
def _accept(families: Families, room: Room, wide: Wide) -> None:
    """Accept the move: enqueue the changed variables and their parents, and keep their former families."""
    for i in range(room.n_listed[BEFORE]):
        u = room.listed[BEFORE, i]
        _keep(BEFORE, KEPT, u, families, room, wide)
        _enqueue(u, room)
        for copy in (NOW, BEFORE):
            for j in range(families.n_parents[copy, u]):
                _enqueue(families.parents[copy, u, j], room)
    _forget(BEFORE, room)


@plain_inner
def _insert(v: int, families: Families, problem: Problem, room: Room, wide: Wide) -> float:
    """Move v to the place where the score is best, if that gains; return the gain."""
    n = room.order.shape[1]
    _keep_order(NOW, BEFORE, room)
    _, left_gain, left_steps = _walk(v, BACK, n, families, problem, room, wide)
    _return_to(BEFORE, families, room, wide)
    _, right_gain, right_steps = _walk(v, AHEAD, n, families, problem, room, wide)
    _return_to(BEFORE, families, room, wide)
    back = left_gain >= right_gain - problem.gain
    steps = left_steps if back else right_steps
    if steps == 0:
        return 0.0
    # The same steps again give the same families.
    gain, _, _ = _walk(v, back, steps, families, problem, room, wide)
    _accept(families, room, wide)
    return gain


@plain_inner
def _climb(at_once: int, families: Families, problem: Problem, room: Room, wide: Wide) -> float:
    """Move each variable in the queue to its best place, until the queue is empty; return the gain.

    Returns as well after `at_once` variables; the next call goes on.
    """
    # The bound is for rounding, as that of `settle`: what is still in the queue then is dropped.
    total, most = 0.0, room.ends[BEGIN] + MOST_MOVES * len(room.queue)
    last = room.ends[BEGIN] + at_once
    while room.ends[BEGIN] < min(room.ends[END], last):
        v = room.queue[room.ends[BEGIN] % len(room.queue)]
        room.ends[BEGIN] += 1
        room.waiting[v] = False
        if room.ends[BEGIN] < most:
            total += _insert(v, families, problem, room, wide)
    return total


@plain_inner
def _settle_all(families: Families, problem: Problem, room: Room, wide: Wide) -> None:
    """Find the parents of each variable in the current order, beginning with the required ones."""
    for u in range(len(room.waiting)):
        k = int64(0)
        for w in range(len(room.waiting)):
            if problem.rule[w, u] == REQUIRED:
                families.parents[NOW, u, k] = w
                k += 1
        families.n_parents[NOW, u] = k
        settle(u, families, problem, room, wide)


@plain_inner
def _kick(
    rounds: int, moves: int, random: Array, families: Families, problem: Problem, room: Room, wide: Wide
) -> None:
    """Disturb the order and climb again, for a number of rounds (iterated local search).

    Each round lets `moves` variables pass others at random, then climbs with those that this has changed. If
    the score is now lower the round is undone; orders of equal score are accepted, which lets the search
    drift along plateaus.
    """
    n = room.order.shape[1]
    for _ in range(rounds):
        _forget(KEPT, room)
        _keep_order(NOW, KEPT, room)
        total = 0.0
        for _ in range(moves):
            v = draw(random, n)
            _keep_order(NOW, BEFORE, room)
            steps = 1 + draw(random, n)
            gain, _, _ = _walk(v, draw(random, int64(2)) == 0, steps, families, problem, room, wide)
            total += gain
            _enqueue(v, room)
            _accept(families, room, wide)
        total += _climb(int64(MOST_MOVES) * n, families, problem, room, wide)
        if total < -problem.gain:
            _return_to(KEPT, families, room, wide)


@kernel
def work_on(
    task: int,
    count: int,
    moves: int,
    random: Array,
    families: Families,
    problem: Problem,
    room: Room,
    wide: Wide,
) -> float:
    """Do one of the tasks: one kernel for all, because each contains most of this file once compiled.

    SETTLE finds the parents of all variables in the current order, CLIMB works on `count` variables of the
    queue and returns the gain, KICK disturbs the order `count` times by `moves` moves.
    """
    if task == SETTLE:
        _settle_all(families, problem, room, wide)
        return 0.0
    if task == CLIMB:
        return _climb(count, families, problem, room, wide)
    _kick(count, moves, random, families, problem, room, wide)
    return 0.0
