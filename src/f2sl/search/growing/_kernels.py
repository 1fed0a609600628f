"""Search over orders of Gaussian variables; parents are grown and shrunk on demand, from one matrix.

The *family* of a variable u is u with parents that stand before it in the order. Its score is ::

    constant[k] - weight[k] log(left) - share log(determinant)

with k parents, `left` what they leave of u's variance, and the determinant that of the parents' part of the
matrix: BIC and BGe are both of this form. Between calls these kernels keep two invariants:

- ``order[index[v]] == v``.
- No parent of any u can be dropped, and no variable that stands before u can be added, with a gain in score.
  (Dropping and adding at once may gain: parents are a local optimum, reached from the ones before.)

When a variable v passes its neighbor u in the order, only these two families can change, and mostly neither
does: v has to be a parent of u, or to become one. So a family stays as it is, and the question is answered
from the Cholesky factor of its parents.

Whether w would gain as a parent of u depends on the covariance c of w with what is left of u, which takes k
multiplications, and on the variance of w that the parents leave, which takes k^2. The latter is at least
``least[w]``, what all other variables leave of w. So most w are refused by c^2 / least[w] < need[u] alone.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, int64, kernel, plain_inner
from f2sl.search.growing.blocks import _kernels as blocks
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
    LEFT,
    LOG_DETERMINANT,
    MOST_MOVES,
    NEED,
    NEVER,
    NO_VARIABLE,
    NOW,
    REQUIRED,
    ROUNDS,
    SCORE,
    Families,
    Problem,
    Workspace,
)
from f2sl.search.orders._kernels import draw


@plain_inner
def _score(u: int, k: int, left: float, log_determinant: float, problem: Problem) -> float:
    """Score a family with k parents."""
    left = max(left, problem.tolerance * problem.matrix[u, u])
    return float(problem.constant[k] - problem.weight[k] * np.log(left) - problem.share * log_determinant)


@plain_inner
def _need(u: int, k: int, left: float, gain: float, problem: Problem) -> float:
    """Return the least c^2 / variance with which another parent than the k of u can gain so much."""
    if k + 2 >= len(problem.constant):
        return NEVER
    # It gains constant[k + 1] - constant[k] - (weight[k + 1] - weight[k]) log(left)
    # - weight[k + 1] log(1 - c^2 / (variance left)) - share log(variance): solved for c^2 / variance, with
    # the smallest variance that there can be.
    left = max(left, problem.tolerance * problem.matrix[u, u])
    price = problem.constant[k + 1] - problem.constant[k] - gain - problem.share * problem.log_least
    if problem.weight[k + 1] != problem.weight[k]:
        price -= (problem.weight[k + 1] - problem.weight[k]) * np.log(left)
    return float(left * (1.0 - np.exp(min(price / problem.weight[k + 1], 0.0))))


@plain_inner
def _condition(
    i: int, u: int, w: int, factor: Array, matrix: Array, tolerance: float, workspace: Workspace
) -> None:
    """Make w the parent of u with number i, and update the covariances that it explains.

    ``rows[i]`` gets the covariances of all variables with what is left of w, in units of its standard
    deviation: their column w is w's row of the factor. `rest` and `covariances` are what is left of each
    variable, and its covariance with what is left of u.
    """
    rows, rest, covariances = workspace.rows, workspace.rest, workspace.covariances
    row = rows[i]
    for j in range(i):
        factor[i, j] = rows[j, w]
    left = rest[w]
    scale = 1.0 / np.sqrt(left) if left > tolerance * matrix[w, w] else 0.0
    factor[i, i] = scale
    for x in range(len(row)):
        row[x] = matrix[w, x]
    for j in range(i):
        weight, other = factor[i, j], rows[j]
        for x in range(len(row)):
            row[x] -= weight * other[x]
    of_u = row[u] * scale
    for x in range(len(row)):
        row[x] *= scale
        rest[x] -= row[x] * row[x]
        covariances[x] -= of_u * row[x]
    # Exactly, so that rounding cannot make a parent a candidate once more.
    rest[w] = covariances[w] = 0.0


@plain_inner
def _worst(
    u: int,
    k: int,
    parents: Array,
    factor: Array,
    slopes: Array,
    figures: Array,
    problem: Problem,
    workspace: Workspace,
) -> int:
    """Compute the slopes of u's k parents; return the one whose removal gains most, or NO_VARIABLE."""
    for i in range(k - 1, -1, -1):
        slope = workspace.rows[i, u]
        for j in range(i + 1, k):
            slope -= factor[j, i] * slopes[j]
        slopes[i] = slope * factor[i, i]
    # Without parent i, slope^2 / precision more is left of u, where the precision of i given the other
    # parents is the sum of the squares in its column of the factor's inverse.
    best, worst, column = problem.gain, NO_VARIABLE, workspace.column
    least_left = np.inf
    for i in range(k):
        if problem.rule[parents[i], u] == REQUIRED:
            continue
        left, log_determinant = figures[LEFT], figures[LOG_DETERMINANT]
        if factor[i, i] != 0.0:
            precision = 0.0
            for j in range(i, k):
                entry = 1.0 if j == i else 0.0
                for h in range(i, j):
                    entry -= factor[j, h] * column[h]
                column[j] = entry * factor[j, j]
                precision += column[j] * column[j]
            left += slopes[i] * slopes[i] / precision
            if problem.share != 0.0:
                log_determinant += np.log(precision)
        # Without a share of the determinant the least `left` has the best score: one logarithm for all.
        if problem.share != 0.0 or left < least_left:
            least_left = left
            gain = _score(u, k - 1, left, log_determinant, problem) - figures[SCORE]
            if gain > best:
                best, worst = gain, int64(i)
    return worst


@plain_inner
def _fit_parents(u: int, families: Families, problem: Problem, workspace: Workspace) -> None:
    """Grow and shrink the parents of u until neither gains, beginning with those that it has."""
    if problem.by_blocks:
        blocks.fit_parents(u, families, problem, workspace)
        return
    parents, factor, slopes = families.parents[NOW, u], families.factor[NOW, u], families.slopes[NOW, u]
    figures, matrix, tolerance = families.figures[NOW, u], problem.matrix, problem.tolerance
    rest, covariances, order, rule = workspace.rest, workspace.covariances, workspace.order[NOW], problem.rule
    k, known, position = families.n_parents[NOW, u], int64(0), workspace.position[NOW, u]
    # Each round adds or drops a parent. The bound is for variables so nearly collinear that rounding could
    # take the gain of both, again and again.
    for left_over in range(ROUNDS * (len(rest) + 1), -1, -1):
        if known == 0:
            for x in range(len(rest)):
                rest[x] = matrix[x, x]
                covariances[x] = matrix[u, x]
            figures[LOG_DETERMINANT] = 0.0
        while known < k:
            w = parents[known]
            left = rest[w]
            _condition(known, u, w, factor, matrix, tolerance, workspace)
            if problem.share != 0.0 and factor[known, known] != 0.0:
                figures[LOG_DETERMINANT] += np.log(left)
            known += 1
        left = rest[u]
        figures[LEFT] = left
        figures[SCORE] = _score(u, k, left, figures[LOG_DETERMINANT], problem)
        need = _need(u, k, left, 0.0, problem)
        figures[NEED] = need
        best, chosen = problem.gain, NO_VARIABLE
        for p in range(position):
            w = order[p]
            c = covariances[w]
            if c * c > need * rest[w] and rest[w] > tolerance * matrix[w, w] and rule[w, u] != FORBIDDEN:
                log_determinant = figures[LOG_DETERMINANT] + np.log(rest[w])
                gain = _score(u, k + 1, left - c * c / rest[w], log_determinant, problem) - figures[SCORE]
                if gain > best:
                    best, chosen = gain, w
                    # The next one has to gain more: without a share of the determinant, by c^2 / variance.
                    need = c * c / rest[w] if problem.share == 0.0 else _need(u, k, left, gain, problem)
        if chosen != NO_VARIABLE and left_over:
            if k < len(parents):
                parents[k] = chosen
                k += 1
                continue
            workspace.full[0] = True
        worst = _worst(u, k, parents, factor, slopes, figures, problem, workspace)
        if worst == NO_VARIABLE or not left_over:
            break
        k -= 1
        for i in range(worst, k):
            parents[i] = parents[i + 1]
        known = 0
    families.n_parents[NOW, u] = k


@plain_inner
def _change(
    u: int, dropped: int, added: int, families: Families, problem: Problem, workspace: Workspace
) -> float:
    """Drop the parent of u with one number, or add one, and settle; return the gain in score."""
    k, parents = families.n_parents[NOW, u], families.parents[NOW, u]
    full = k == len(parents)
    if problem.by_blocks and dropped == NO_VARIABLE:
        full = not blocks.fits(u, added, families, problem)
    if dropped == NO_VARIABLE and full:
        workspace.full[0] = True
        return 0.0
    _keep(NOW, BEFORE, u, families, problem, workspace)
    before = families.figures[NOW, u, SCORE]
    if dropped == NO_VARIABLE:
        parents[k] = added
        families.n_parents[NOW, u] = k + 1
    else:
        for i in range(dropped, k - 1):
            parents[i] = parents[i + 1]
        families.n_parents[NOW, u] = k - 1
    _fit_parents(u, families, problem, workspace)
    return float(families.figures[NOW, u, SCORE] - before)


@plain_inner
def _gains(u: int, w: int, families: Families, problem: Problem, workspace: Workspace) -> bool:
    """Return whether w gains as a further parent of u."""
    if problem.by_blocks:
        return blocks.gains(u, w, families, problem, workspace)
    k, parents, slopes = families.n_parents[NOW, u], families.parents[NOW, u], families.slopes[NOW, u]
    # Its covariance with the residual of u.
    c = problem.matrix[w, u]
    for i in range(k):
        c -= slopes[i] * problem.matrix[w, parents[i]]
    if c * c <= families.figures[NOW, u, NEED] * problem.least[w]:
        return False
    factor, row, rest = families.factor[NOW, u], workspace.column, problem.matrix[w, w]
    for i in range(k):
        weight = problem.matrix[w, parents[i]]
        for j in range(i):
            weight -= factor[i, j] * row[j]
        weight *= factor[i, i]
        row[i] = weight
        rest -= weight * weight
    figures = families.figures[NOW, u]
    if rest <= problem.tolerance * problem.matrix[w, w] or c * c < figures[NEED] * rest:
        return False
    log_determinant = figures[LOG_DETERMINANT] + np.log(rest)
    score = _score(u, k + 1, figures[LEFT] - c * c / rest, log_determinant, problem)
    return bool(score > figures[SCORE] + problem.gain)


@plain_inner
def _copy(source: int, target: int, u: int, families: Families, problem: Problem) -> None:
    """Copy a family."""
    if problem.by_blocks:
        blocks.copy_family(source, target, u, families, problem)
        return
    k = families.n_parents[source, u]
    families.n_parents[target, u] = k
    for i in range(k):
        families.parents[target, u, i] = families.parents[source, u, i]
        families.slopes[target, u, i] = families.slopes[source, u, i]
        for j in range(i + 1):
            families.factor[target, u, i, j] = families.factor[source, u, i, j]
    for i in range(4):
        families.figures[target, u, i] = families.figures[source, u, i]


@plain_inner
def _keep(
    source: int, target: int, u: int, families: Families, problem: Problem, workspace: Workspace
) -> None:
    """Copy a family unless there is a copy already."""
    if not workspace.marked[target, u]:
        workspace.marked[target, u] = True
        workspace.listed[target, workspace.n_listed[target]] = u
        workspace.n_listed[target] += 1
        _copy(source, target, u, families, problem)


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
def _return_to(copy: int, families: Families, problem: Problem, workspace: Workspace) -> None:
    """Restore all families and the order from the copies."""
    for i in range(workspace.n_listed[copy]):
        _copy(copy, NOW, workspace.listed[copy, i], families, problem)
    _keep_order(copy, NOW, workspace)
    _forget(copy, workspace)


@plain_inner
def _walk(
    v: int, back: bool, most: int, families: Families, problem: Problem, workspace: Workspace
) -> tuple[float, float, int]:
    """Move v past the variables before it (`back`) or behind it, one by one, at most `most`.

    Returns the gain in score, the best gain on the way, and after how many steps that was.
    """
    order, index, rule = workspace.order[NOW], workspace.position[NOW], problem.rule
    count, parents = families.n_parents[NOW], families.parents[NOW]
    total, best, best_steps = 0.0, 0.0, int64(0)
    for step in range(most):
        here = index[v]
        there = here - 1 if back else here + 1
        if there < 0 or there == len(order):
            break
        u = order[there]
        # `second`, which stands behind `first`, passes it.
        first, second = (u, v) if back else (v, u)
        if rule[first, second] == REQUIRED:
            break
        order[here], order[there] = u, v
        index[u], index[v] = here, there
        for i in range(count[second]):
            if parents[second, i] == first:
                total += _change(second, int64(i), NO_VARIABLE, families, problem, workspace)
                break
        if rule[second, first] != FORBIDDEN and _gains(first, second, families, problem, workspace):
            total += _change(first, NO_VARIABLE, second, families, problem, workspace)
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
def _accept(families: Families, problem: Problem, workspace: Workspace) -> None:
    """Accept the move: enqueue the changed variables and their parents, and keep their former families."""
    for i in range(workspace.n_listed[BEFORE]):
        u = workspace.listed[BEFORE, i]
        _keep(BEFORE, KEPT, u, families, problem, workspace)
        _enqueue(u, workspace)
        for copy in (NOW, BEFORE):
            for j in range(families.n_parents[copy, u]):
                _enqueue(families.parents[copy, u, j], workspace)
    _forget(BEFORE, workspace)


@plain_inner
def _insert(v: int, families: Families, problem: Problem, workspace: Workspace) -> float:
    """Move v to the place where the score is best, if that gains; return the gain."""
    n = workspace.order.shape[1]
    _keep_order(NOW, BEFORE, workspace)
    _, left_gain, left_steps = _walk(v, BACK, n, families, problem, workspace)
    _return_to(BEFORE, families, problem, workspace)
    _, right_gain, right_steps = _walk(v, AHEAD, n, families, problem, workspace)
    _return_to(BEFORE, families, problem, workspace)
    back = left_gain >= right_gain - problem.gain
    steps = left_steps if back else right_steps
    if steps == 0:
        return 0.0
    # The same steps again give the same families.
    gain, _, _ = _walk(v, back, steps, families, problem, workspace)
    _accept(families, problem, workspace)
    return gain


@plain_inner
def _climb(at_once: int, families: Families, problem: Problem, workspace: Workspace) -> float:
    """Move each variable in the queue to its best place, until the queue is empty; return the gain.

    Returns as well after `at_once` variables; the next call goes on.
    """
    # The bound is for rounding, as that of `_fit_parents`: what is still in the queue then is dropped.
    total, most = 0.0, workspace.ends[BEGIN] + MOST_MOVES * len(workspace.queue)
    last = workspace.ends[BEGIN] + at_once
    while workspace.ends[BEGIN] < min(workspace.ends[END], last):
        v = workspace.queue[workspace.ends[BEGIN] % len(workspace.queue)]
        workspace.ends[BEGIN] += 1
        workspace.waiting[v] = False
        if workspace.ends[BEGIN] < most:
            total += _insert(v, families, problem, workspace)
    return total


@plain_inner
def _fit_all(families: Families, problem: Problem, workspace: Workspace) -> None:
    """Find the parents of each variable in the current order, beginning with the required ones."""
    for u in range(len(workspace.waiting)):
        k = int64(0)
        for w in range(len(workspace.waiting)):
            if problem.rule[w, u] == REQUIRED:
                families.parents[NOW, u, k] = w
                k += 1
        families.n_parents[NOW, u] = k
        _fit_parents(u, families, problem, workspace)


@plain_inner
def _perturb(
    rounds: int, moves: int, random: Array, families: Families, problem: Problem, workspace: Workspace
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
            gain, _, _ = _walk(v, draw(random, int64(2)) == 0, steps, families, problem, workspace)
            total += gain
            _enqueue(v, workspace)
            _accept(families, problem, workspace)
        total += _climb(int64(MOST_MOVES) * n, families, problem, workspace)
        if total < -problem.gain:
            _return_to(KEPT, families, problem, workspace)


@kernel
def work_on(
    task: int,
    count: int,
    moves: int,
    random: Array,
    families: Families,
    problem: Problem,
    workspace: Workspace,
) -> float:
    """Do one of the tasks: one kernel for all, because each contains most of this file once compiled.

    SETTLE finds the parents of all variables in the current order, CLIMB works on `count` variables of the
    queue and returns the gain, KICK disturbs the order `count` times by `moves` moves.
    """
    if task == FIT_PARENTS:
        _fit_all(families, problem, workspace)
        return 0.0
    if task == CLIMB:
        return _climb(count, families, problem, workspace)
    _perturb(count, moves, random, families, problem, workspace)
    return 0.0
