"""Search over orders of Gaussian variables; parents are grown and shrunk on demand, from one matrix.

The *family* of a variable u is u with parents that stand before it in the order; `blocks/_kernels.py` scores
families. Between calls these kernels keep two invariants:

- ``order[position[v]] == v``.
- No parent of any u can be dropped, and no variable that stands before u can be added, with a gain in score.
  (Dropping and adding at once may gain: parents are a local optimum, reached from the ones before.)

When a variable v passes its neighbor u in the order, only these two families can change, and mostly neither
does: v has to be a parent of u, or to become one. So a family stays as it is, and the question is answered
from the Cholesky factor of its parents.
"""

from __future__ import annotations

from f2sl._jit import Array, int64, kernel, plain_inner
from f2sl.search.growing.blocks._kernels import copy_family, fit_parents, gains, has_room
from f2sl.search.growing.state import (
    AHEAD,
    BACK,
    BEFORE,
    BEGIN,
    CLIMB,
    END,
    FIT_PARENTS,
    FORBIDDEN,
    KEPT,
    MOST_MOVES,
    NO_VARIABLE,
    NOW,
    REQUIRED,
    SCORE,
    FamilyCopies,
    Problem,
    Wide,
    Workspace,
)
from f2sl.search.orders._kernels import draw


@plain_inner
def _change(
    u: int,
    dropped: int,
    added: int,
    families: FamilyCopies,
    problem: Problem,
    workspace: Workspace,
    wide: Wide,
) -> float:
    """Drop the parent of u with one number, or add one, and settle; return the gain in score."""
    k, parents = families.n_parents[NOW, u], families.parents[NOW, u]
    if dropped == NO_VARIABLE and not has_room(u, added, families, problem, wide):
        workspace.full[0] = True
        return 0.0
    _keep(NOW, BEFORE, u, families, workspace, wide)
    before = families.figures[NOW, u, SCORE]
    if dropped == NO_VARIABLE:
        parents[k] = added
        families.n_parents[NOW, u] = k + 1
    else:
        for i in range(dropped, k - 1):
            parents[i] = parents[i + 1]
        families.n_parents[NOW, u] = k - 1
    fit_parents(u, families, problem, workspace, wide)
    return float(families.figures[NOW, u, SCORE] - before)


@plain_inner
def _keep(source: int, target: int, u: int, families: FamilyCopies, workspace: Workspace, wide: Wide) -> None:
    """Copy a family unless there is a copy already."""
    if not workspace.marked[target, u]:
        workspace.marked[target, u] = True
        workspace.listed[target, workspace.n_listed[target]] = u
        workspace.n_listed[target] += 1
        copy_family(source, target, u, families, wide)


@plain_inner
def _forget(copy: int, workspace: Workspace) -> None:
    """Drop all copies."""
    for i in range(workspace.n_listed[copy]):
        workspace.marked[copy, workspace.listed[copy, i]] = False
    workspace.n_listed[copy] = 0


@plain_inner
def _keep_order(source: int, target: int, workspace: Workspace) -> None:
    """Copy the order."""
    for p in range(workspace.order.shape[1]):
        workspace.order[target, p] = workspace.order[source, p]
        workspace.position[target, p] = workspace.position[source, p]


@plain_inner
def _return_to(copy: int, families: FamilyCopies, workspace: Workspace, wide: Wide) -> None:
    """Restore all families and the order from the copies."""
    for i in range(workspace.n_listed[copy]):
        copy_family(copy, NOW, workspace.listed[copy, i], families, wide)
    _keep_order(copy, NOW, workspace)
    _forget(copy, workspace)


@plain_inner
def _walk(
    v: int, back: bool, most: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide
) -> tuple[float, float, int]:
    """Move v past the variables before it (`back`) or behind it, one by one, at most `most`.

    Returns the gain in score, the best gain on the way, and after how many steps that was.
    """
    order, position, rule = workspace.order[NOW], workspace.position[NOW], problem.rule
    count, parents = families.n_parents[NOW], families.parents[NOW]
    total, best, best_steps = 0.0, 0.0, int64(0)
    for step in range(most):
        here = position[v]
        there = here - 1 if back else here + 1
        if there < 0 or there == len(order):
            break
        u = order[there]
        # `second`, which stands behind `first`, passes it.
        first, second = (u, v) if back else (v, u)
        if rule[first, second] == REQUIRED:
            break
        order[here], order[there] = u, v
        position[u], position[v] = here, there
        for i in range(count[second]):
            if parents[second, i] == first:
                total += _change(second, int64(i), NO_VARIABLE, families, problem, workspace, wide)
                break
        if rule[second, first] != FORBIDDEN and gains(first, second, families, problem, workspace, wide):
            total += _change(first, NO_VARIABLE, second, families, problem, workspace, wide)
        # Of places that rounding alone tells apart the nearest.
        if total > best + problem.gain:
            best, best_steps = total, int64(step + 1)
    return total, best, best_steps


@plain_inner
def _enqueue(v: int, workspace: Workspace) -> None:
    """Enqueue v unless it is in the queue."""
    if not workspace.waiting[v]:
        workspace.waiting[v] = True
        workspace.queue[workspace.ends[END] % len(workspace.queue)] = v
        workspace.ends[END] += 1


@plain_inner
def _accept(families: FamilyCopies, workspace: Workspace, wide: Wide) -> None:
    """Accept the move: enqueue the changed variables and their parents, and keep their former families."""
    for i in range(workspace.n_listed[BEFORE]):
        u = workspace.listed[BEFORE, i]
        _keep(BEFORE, KEPT, u, families, workspace, wide)
        _enqueue(u, workspace)
        for copy in (NOW, BEFORE):
            for j in range(families.n_parents[copy, u]):
                _enqueue(families.parents[copy, u, j], workspace)
    _forget(BEFORE, workspace)


@plain_inner
def _insert(v: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide) -> float:
    """Move v to the place where the score is best, if that gains; return the gain."""
    n = workspace.order.shape[1]
    _keep_order(NOW, BEFORE, workspace)
    _, left_gain, left_steps = _walk(v, BACK, n, families, problem, workspace, wide)
    _return_to(BEFORE, families, workspace, wide)
    _, right_gain, right_steps = _walk(v, AHEAD, n, families, problem, workspace, wide)
    _return_to(BEFORE, families, workspace, wide)
    back = left_gain >= right_gain - problem.gain
    steps = left_steps if back else right_steps
    if steps == 0:
        return 0.0
    # The same steps again give the same families.
    gain, _, _ = _walk(v, back, steps, families, problem, workspace, wide)
    _accept(families, workspace, wide)
    return gain


@plain_inner
def _climb(at_once: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide) -> float:
    """Move each variable in the queue to its best place, until the queue is empty; return the gain.

    Returns as well after `at_once` variables; the next call goes on.
    """
    # The bound is for rounding, as that of `fit_parents`: what is still in the queue then is dropped.
    total, most = 0.0, workspace.ends[BEGIN] + MOST_MOVES * len(workspace.queue)
    last = workspace.ends[BEGIN] + at_once
    while workspace.ends[BEGIN] < min(workspace.ends[END], last):
        v = workspace.queue[workspace.ends[BEGIN] % len(workspace.queue)]
        workspace.ends[BEGIN] += 1
        workspace.waiting[v] = False
        if workspace.ends[BEGIN] < most:
            total += _insert(v, families, problem, workspace, wide)
    return total


@plain_inner
def _fit_all(families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide) -> None:
    """Find the parents of each variable in the current order, beginning with the required ones."""
    for u in range(len(workspace.waiting)):
        k = int64(0)
        for w in range(len(workspace.waiting)):
            if problem.rule[w, u] == REQUIRED:
                families.parents[NOW, u, k] = w
                k += 1
        families.n_parents[NOW, u] = k
        fit_parents(u, families, problem, workspace, wide)


@plain_inner
def _perturb(
    rounds: int,
    moves: int,
    random: Array,
    families: FamilyCopies,
    problem: Problem,
    workspace: Workspace,
    wide: Wide,
) -> None:
    """Disturb the order and climb again, for a number of rounds (iterated local search).

    Each round lets `moves` variables pass others at random, then climbs with those that this has changed. If
    the score is now lower the round is undone; orders of equal score are accepted, which lets the search
    drift along plateaus.
    """
    n = workspace.order.shape[1]
    for _ in range(rounds):
        _forget(KEPT, workspace)
        _keep_order(NOW, KEPT, workspace)
        total = 0.0
        for _ in range(moves):
            v = draw(random, n)
            _keep_order(NOW, BEFORE, workspace)
            steps = 1 + draw(random, n)
            gain, _, _ = _walk(v, draw(random, int64(2)) == 0, steps, families, problem, workspace, wide)
            total += gain
            _enqueue(v, workspace)
            _accept(families, workspace, wide)
        total += _climb(int64(MOST_MOVES) * n, families, problem, workspace, wide)
        if total < -problem.gain:
            _return_to(KEPT, families, workspace, wide)


@kernel
def work_on(
    task: int,
    count: int,
    moves: int,
    random: Array,
    families: FamilyCopies,
    problem: Problem,
    workspace: Workspace,
    wide: Wide,
) -> float:
    """Do one of the tasks: one kernel for all, because each contains most of this file once compiled.

    SETTLE finds the parents of all variables in the current order, CLIMB works on `count` variables of the
    queue and returns the gain, KICK disturbs the order `count` times by `moves` moves.
    """
    if task == FIT_PARENTS:
        _fit_all(families, problem, workspace, wide)
        return 0.0
    if task == CLIMB:
        return _climb(count, families, problem, workspace, wide)
    _perturb(count, moves, random, families, problem, workspace, wide)
    return 0.0
