"""Search over orders of Gaussian variables; parents are grown and shrunk on demand, from one matrix.

The *family* of a variable u is u with parents that stand before it in the order. Between calls these kernels
keep two invariants:

- ``order[position[v]] == v``.
- No parent of any u can be dropped, and no variable that stands before u can be added, with a gain in score.
  (Dropping and adding at once may gain: parents are a local optimum, reached from the ones before.)

When a variable v passes its neighbor u in the order, only these two families can change, and mostly neither
does: v has to be a parent of u, or to become one. So a family stays as it is, and the question is answered
from the Cholesky factor of its parents.

A variable is one column of the matrix or several, such as indicators of its states: those of v are
``wide[v]`` to ``wide[v + 1]``. The score of a family of u with k parents is ::

    base[u] + constant[k] - weight[k] log(left) - share log(determinant) - sum of price[u, w] over the parents

where `left` is the determinant of what the parents leave of u's columns, and the determinant that of the
parents' part of the matrix: BIC, BGe and the degenerate Gaussian are of this form. All follows from the
Cholesky factor of the parents' part.

Whether w gains as a further parent of u follows from

    log(left given w) - log(left) = log det(1 - Y Y')

where Y, (columns of u, columns of w), is the covariance of both given the parents, each whitened: multiplied
by the inverse of the Cholesky factor of what the parents leave. With t the sum of the squares of Y, this is
at least log(1 - t), and equal if one of the two has a single column; and -log(1 - t) is at most t / (1 - t).
So most w are refused by t alone, without a logarithm. When two variables change places, t is first computed
with the least that any others leave of w, which takes k multiplications instead of k^2.

A column of which a share of no more than `tolerance` is left is determined: as a parent's column it is
skipped, and as a child's column it counts for that share.

Where every variable has one column, its own number, `wide` is None. Then Numba compiles these functions
without the branches for several columns, and with loops of one step: without that, continuous tables would
take half as long again.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, int64, kernel, plain_inner
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
    STEP,
    WEIGHT,
    FamilyCopies,
    Problem,
    Wide,
    Workspace,
)
from f2sl.search.orders._kernels import draw


@plain_inner
def width(v: int, wide: Wide) -> int:
    """Return the number of columns of a variable."""
    if wide is None:
        return 1
    return int64(wide[v + 1] - wide[v])


@plain_inner
def column_of(v: int, wide: Wide) -> int:
    """Return the first column of a variable."""
    if wide is None:
        return v
    return int64(wide[v])


@plain_inner
def copy_family(source: int, target: int, u: int, families: FamilyCopies, wide: Wide) -> None:
    """Copy a family."""
    k, columns = families.n_parents[source, u], families.n_columns[source, u]
    d = width(u, wide)
    families.n_parents[target, u], families.n_columns[target, u] = k, columns
    for i in range(k):
        families.parents[target, u, i] = families.parents[source, u, i]
    for i in range(columns):
        families.columns[target, u, i] = families.columns[source, u, i]
        for j in range(i + 1):
            families.factor[target, u, i, j] = families.factor[source, u, i, j]
    for i in range(columns * d):
        families.slopes[target, u, i] = families.slopes[source, u, i]
    for i in range(d * d):
        families.whitening[target, u, i] = families.whitening[source, u, i]
    for i in range(6):
        families.figures[target, u, i] = families.figures[source, u, i]
    families.version[target, u] = families.version[source, u]


@plain_inner
def _condition(
    i: int,
    w: int,
    b: int,
    u: int,
    factor: Array,
    rows: Array,
    left: Array,
    across: Array,
    order: Array,
    matrix: Array,
    least: float,
    wide: Wide,
) -> float:
    """Make column b of w the one with number i of u's parents, and update the covariances that it explains.

    ``rows[i]`` gets the covariances of all columns with what is left of this one, in units of its standard
    deviation. ``left[b, x]``, for variables up to u in the order, is what is left of the covariance of
    column x with column b of its own variable, b up to x itself; ``across[a, x]`` that with column a of u.
    Returns what was left of the column, or 0 if it is skipped because that is no more than `least`.
    """
    # Arguments are those that are used: passing all arrays would take as long as short rows do.
    row, n_columns, column = rows[i], len(matrix), column_of(w, wide) + b
    for j in range(i):
        factor[i, j] = rows[j, column]
    rest = left[b, column]
    if rest <= least:
        factor[i, i] = 0.0
        for x in range(n_columns):
            row[x] = 0.0
        return 0.0
    scale = 1.0 / np.sqrt(rest)
    factor[i, i] = scale
    for x in range(n_columns):
        row[x] = matrix[column, x]
    for j in range(i):
        weight, other = factor[i, j], rows[j]
        for x in range(n_columns):
            row[x] -= weight * other[x]
    for x in range(n_columns):
        row[x] *= scale
    for a in range(width(u, wide)):
        of_u, own = row[column_of(u, wide) + a], across[a]
        for x in range(n_columns):
            own[x] -= of_u * row[x]
    if wide is None:
        # Vector instructions on all columns are faster than a walk along the order.
        own = left[0]
        for x in range(n_columns):
            own[x] -= row[x] * row[x]
    else:
        for v in order:
            for x in range(wide[v], wide[v + 1]):
                value = row[x]
                for c in range(x - wide[v] + 1):
                    left[c, x] -= value * row[wide[v] + c]
    return float(rest)


@plain_inner
def _factorise(d: int, tolerance: float, scratch: Array) -> float:
    """Replace a matrix by its Cholesky factor; return the logarithm of its determinant.

    scratch : (d, d + 1) float64, the lower triangle and, in the last column, the diagonal before anything was
    conditioned on, of which at least the share `tolerance` counts.
    """
    total = 0.0
    for i in range(d):
        rest = scratch[i, i]
        for j in range(i):
            value = scratch[i, j]
            for h in range(j):
                value -= scratch[i, h] * scratch[j, h]
            value /= scratch[j, j]
            scratch[i, j] = value
            rest -= value * value
        rest = max(rest, tolerance * scratch[i, d])
        total += np.log(rest)
        scratch[i, i] = np.sqrt(rest)
    return float(total)


@plain_inner
def _what_is_left(x: int, d: int, left: Array, matrix: Array, scratch: Array) -> None:
    """Write what is left of the d columns from x on into `scratch`, as `_factorise` takes it."""
    for a in range(d):
        for c in range(a + 1):
            scratch[a, c] = left[c, x + a]
        scratch[a, d] = matrix[x + a, x + a]


@plain_inner
def _gain_of(
    u: int, w: int, least: float, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide
) -> float:
    """Return the gain of w as a further parent of u, or 0 if it is not above `least`.

    Reads the covariance of their columns from ``workspace.between``, (columns of u, columns of w), and
    what parents leave of w from ``workspace.rest_of``, (columns of w, columns of w). Destroys both.
    """
    tolerance = problem.tolerance
    du, dw = width(u, wide), width(w, wide)
    between, rest, scratch, whitening = (
        workspace.between,
        workspace.rest_of,
        workspace.scratch,
        families.whitening[NOW, u],
    )
    weight = families.figures[NOW, u, WEIGHT]
    price = problem.price[u, w] - families.figures[NOW, u, STEP]
    # Whiten from the left.
    for b in range(dw):
        for a in range(du - 1, -1, -1):
            value = 0.0
            for h in range(a + 1):
                value += whitening[a * du + h] * between[h, b]
            between[a, b] = value
    # And from the right, by forward substitution along the Cholesky factor of `rest`.
    squares = 0.0
    for b in range(dw):
        left = rest[b, b]
        for h in range(b):
            if rest[h, h] > 0.0:
                value = rest[b, h]
                for g in range(h):
                    value -= rest[b, g] * rest[h, g]
                value /= rest[h, h]
            else:
                value = 0.0
            rest[b, h] = value
            left -= value * value
        if left <= tolerance * problem.diagonal[column_of(w, wide) + b]:
            rest[b, b] = 0.0
            for a in range(du):
                between[a, b] = 0.0
            continue
        if problem.share != 0.0:
            price += problem.share * np.log(left)
        scale = np.sqrt(left)
        rest[b, b] = scale
        for a in range(du):
            value = between[a, b]
            for h in range(b):
                value -= rest[b, h] * between[a, h]
            value /= scale
            between[a, b] = value
            squares += value * value
    if squares == 0.0:
        return 0.0  # nothing is left of w, or nothing that has to do with u
    if du == 1:
        floor = tolerance * problem.diagonal[column_of(u, wide)] * whitening[0] * whitening[0]
        return float(-weight * np.log(max(1.0 - squares, floor)) - price)
    most = -weight * np.log(1.0 - squares) if squares < 1.0 - tolerance else np.inf
    if dw == 1:
        return float(min(most, -weight * np.log(tolerance)) - price)
    if most - price <= least:
        return 0.0
    for a in range(du):
        for c in range(a + 1):
            value = 1.0 if a == c else 0.0
            for b in range(dw):
                value -= between[a, b] * between[c, b]
            scratch[a, c] = value
        scratch[a, du] = 1.0
    return float(-weight * _factorise(du, tolerance, scratch) - price)


@plain_inner
def _need(u: int, least: float, figures: Array, problem: Problem) -> float:
    """Return the least t with which a further parent of u can gain more than `least`, or less than that."""
    price = least + problem.least_price[u] - figures[STEP] + problem.share * problem.log_least
    return float(price / (figures[WEIGHT] + price)) if price > 0.0 else 0.0


@plain_inner
def _next_single(
    p: int, position: int, need: float, order: Array, across: Array, left: Array, wide: Wide
) -> int:
    """Return the next position in the order of a candidate that may gain, or that has several columns.

    Most candidates of a single column are refused here: by t, which is covariance^2 / (left of u * left of
    w). For the compiler this loop is a function of its own, because `fit_parents` has no registers to spare.
    """
    for q in range(p, position):
        n_columns = width(order[q], wide)
        if n_columns == 0:
            continue
        x = column_of(order[q], wide)
        if across[x] * across[x] > need * left[x] or n_columns > 1:
            return q
    return position


@plain_inner
def _candidate_gain(
    u: int, w: int, least: float, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide
) -> float:
    """Return the gain of w as a further parent of u, by the covariances that `_condition` has updated."""
    x, du, dw = column_of(w, wide), width(u, wide), width(w, wide)
    for b in range(dw):
        for a in range(du):
            workspace.between[a, b] = workspace.across[a, x + b]
        for h in range(b + 1):
            workspace.rest_of[b, h] = workspace.left[h, x + b]
    return _gain_of(u, w, least, families, problem, workspace, wide)


@plain_inner
def _worst(u: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide) -> int:
    """Compute the slopes of u's parents; return the one whose removal gains most, or NO_VARIABLE.

    Without the columns of parent i, B' P^-1 B more is left of u, where B are the slopes of these columns and
    P their part of the inverse of the parents' matrix: the products of their columns of the factor's inverse.
    """
    parents, factor, slopes = families.parents[NOW, u], families.factor[NOW, u], families.slopes[NOW, u]
    k, columns, d = families.n_parents[NOW, u], families.n_columns[NOW, u], width(u, wide)
    for i in range(columns - 1, -1, -1):
        for a in range(d):
            slope = workspace.rows[i, column_of(u, wide) + a]
            for j in range(i + 1, columns):
                slope -= factor[j, i] * slopes[j * d + a]
            slopes[i * d + a] = slope * factor[i, i]
    inverse, precision, scratch, figures = (
        workspace.inverse,
        workspace.rest_of,
        workspace.scratch,
        families.figures[NOW, u],
    )
    best, worst, begin = problem.gain, NO_VARIABLE, int64(0)
    for i in range(k):
        w = parents[i]
        dw = width(w, wide)
        if problem.rule[w, u] == REQUIRED:
            begin += dw
            continue
        for b in range(dw):
            for x in range(begin, columns):
                value = 1.0 if x == begin + b else 0.0
                if x > begin + b:
                    for h in range(begin + b, x):
                        value -= factor[x, h] * inverse[b, h]
                inverse[b, x] = 0.0 if x < begin + b else value * factor[x, x]
        log_determinant = figures[LOG_DETERMINANT]
        # The Cholesky factor of P and, by forward substitution, the part that is left in addition.
        for b in range(dw):
            for h in range(b + 1):
                value = 0.0
                for x in range(begin, columns):
                    value += inverse[b, x] * inverse[h, x]
                for g in range(h):
                    value -= precision[b, g] * precision[h, g]
                if h < b:
                    precision[b, h] = value / precision[h, h] if precision[h, h] > 0.0 else 0.0
                elif value > 0.0 and factor[begin + b, begin + b] > 0.0:
                    precision[b, b] = np.sqrt(value)
                    if problem.share != 0.0:
                        log_determinant += np.log(value)
                else:  # a column that was skipped, which has no slope either
                    precision[b, b] = 0.0
            for a in range(d):
                value = slopes[(begin + b) * d + a]
                for h in range(b):
                    value -= precision[b, h] * workspace.between[a, h]
                workspace.between[a, b] = value / precision[b, b] if precision[b, b] > 0.0 else 0.0
        if d == 1:
            left = workspace.left[0, column_of(u, wide)]
            for b in range(dw):
                left += workspace.between[0, b] * workspace.between[0, b]
            log_left = np.log(max(left, problem.tolerance * problem.diagonal[column_of(u, wide)]))
        else:
            _what_is_left(column_of(u, wide), d, workspace.left, problem.matrix, scratch)
            for a in range(d):
                for c in range(a + 1):
                    for b in range(dw):
                        scratch[a, c] += workspace.between[a, b] * workspace.between[c, b]
            log_left = _factorise(d, problem.tolerance, scratch)
        gain = problem.price[u, w] + problem.constant[k - 1] - problem.constant[k]
        gain -= problem.weight[k - 1] * log_left - problem.weight[k] * figures[LEFT]
        gain -= problem.share * (log_determinant - figures[LOG_DETERMINANT])
        if gain > best:
            best, worst = gain, int64(i)
        begin += dw
    return worst


@plain_inner
def fit_parents(u: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide) -> None:
    """Grow and shrink the parents of u until neither gains, beginning with those that it has.

    Each round adds the variable before u that gains most (of equals the first in the order) or, if none
    gains, drops the parent without which the score gains most; required ones are never dropped.

    The first `known` parents, with `columns` columns, are conditioned on: `factor`, ``workspace.rows``,
    `left` and `across` are as `_condition` leaves them after these. A further parent takes one more call for
    each of its columns. Without a parent all rows behind its own would change, so a removal begins again from
    none. When the loop ends, the last call of `_worst` has computed the slopes of the parents that stay, and
    `figures` and `whitening` are those of the last round, so that `gains` needs no more than the family.
    ``workspace.taken`` is False for all variables before and after.
    """
    matrix, rule = problem.matrix, problem.rule
    parents, figures, whitening = (
        families.parents[NOW, u],
        families.figures[NOW, u],
        families.whitening[NOW, u],
    )
    order, position, taken, scratch = (
        workspace.order[NOW],
        workspace.position[NOW, u],
        workspace.taken,
        workspace.scratch,
    )
    d, n_columns = width(u, wide), len(matrix)
    # A variable may have no column, and the last one's would be behind all.
    floor = problem.tolerance * problem.diagonal[column_of(u, wide)] if d == 1 else 0.0
    k, known, columns = families.n_parents[NOW, u], int64(0), int64(0)
    # Each round adds or drops a parent. The bound is for variables so nearly collinear that rounding could
    # take the gain of both, again and again.
    for left_over in range(ROUNDS * (len(rule) + 1), -1, -1):
        if known == 0:
            columns = int64(0)
            figures[LOG_DETERMINANT] = 0.0
            for v in range(len(rule)):
                x = column_of(v, wide)
                for b in range(width(v, wide)):
                    for c in range(b):
                        workspace.left[c, x + b] = matrix[x + b, x + c]
                    workspace.left[b, x + b] = problem.diagonal[x + b]
            for a in range(d):
                for x in range(n_columns):
                    workspace.across[a, x] = matrix[column_of(u, wide) + a, x]
        while known < k:
            w = parents[known]
            taken[w] = True
            for b in range(width(w, wide)):
                column = column_of(w, wide) + b
                rest = _condition(
                    columns,
                    w,
                    b,
                    u,
                    families.factor[NOW, u],
                    workspace.rows,
                    workspace.left,
                    workspace.across,
                    order[: position + 1],
                    matrix,
                    problem.tolerance * problem.diagonal[column],
                    wide,
                )
                if problem.share != 0.0 and rest > 0.0:
                    figures[LOG_DETERMINANT] += np.log(rest)
                workspace.work[0] += columns
                families.columns[NOW, u, columns] = column
                columns += 1
            known += 1
        families.n_parents[NOW, u], families.n_columns[NOW, u] = k, columns
        if d == 0:
            log_left, whitening[0] = 0.0, 1.0  # of a variable without columns nothing is left, or gains
        elif d == 1:
            left = max(workspace.left[0, column_of(u, wide)], floor)
            log_left, whitening[0] = np.log(left), 1.0 / np.sqrt(left)
        else:
            _what_is_left(column_of(u, wide), d, workspace.left, matrix, scratch)
            log_left = _factorise(d, problem.tolerance, scratch)
            # The inverse of the factor, row by row, each from those before it.
            for i in range(d):
                for j in range(i):
                    value = 0.0
                    for h in range(j, i):
                        value -= scratch[i, h] * whitening[h * d + j]
                    whitening[i * d + j] = value / scratch[i, i]
                whitening[i * d + i] = 1.0 / scratch[i, i]
        score = problem.base[u] + problem.constant[k] - problem.weight[k] * log_left
        score -= problem.share * figures[LOG_DETERMINANT]
        for i in range(k):
            score -= problem.price[u, parents[i]]
        figures[LEFT], figures[SCORE], figures[STEP], figures[WEIGHT] = log_left, score, -NEVER, 1.0
        best, chosen = problem.gain, NO_VARIABLE
        if k < problem.most_parents:
            figures[WEIGHT] = problem.weight[k + 1]
            figures[STEP] = problem.constant[k + 1] - problem.constant[k]
            if problem.weight[k + 1] != problem.weight[k]:
                figures[STEP] -= (problem.weight[k + 1] - problem.weight[k]) * log_left
            # In units of what is left of u, if it has one column.
            left = 1.0 / (whitening[0] * whitening[0])
            need = _need(u, best, figures, problem) * left
            p = int64(0)
            while p < position:
                if d == 1:
                    p = _next_single(p, position, need, order, workspace.across[0], workspace.left[0], wide)
                    if p == position:
                        break
                w = order[p]
                p += 1
                if taken[w] or columns + width(w, wide) > problem.most_columns:
                    continue
                x = column_of(w, wide)
                rest = workspace.left[0, x]
                if d == 1 and width(w, wide) == 1:
                    # As in `_gain_of`.
                    if rest <= problem.tolerance * problem.diagonal[x]:
                        continue
                    square = workspace.across[0, x] * workspace.across[0, x] / rest
                    gain = figures[STEP] - problem.price[u, w]
                    gain -= figures[WEIGHT] * np.log(max(left - square, floor) / left)
                    if problem.share != 0.0:
                        gain -= problem.share * np.log(rest)
                else:
                    gain = _candidate_gain(u, w, best, families, problem, workspace, wide)
                if gain > best and rule[w, u] != FORBIDDEN:
                    best, chosen = gain, w
                    need = _need(u, best, figures, problem) * left
        if chosen != NO_VARIABLE and left_over:
            if has_room(u, chosen, families, problem, wide):
                parents[k] = chosen
                k += 1
                continue
            workspace.full[0] = True
        worst = _worst(u, families, problem, workspace, wide)
        if worst == NO_VARIABLE or not left_over:
            break
        for i in range(k):
            taken[parents[i]] = False
        k -= 1
        for i in range(worst, k):
            parents[i] = parents[i + 1]
        known = 0
    for i in range(k):
        taken[parents[i]] = False
    figures[NEED] = _need(u, problem.gain, figures, problem) / (whitening[0] * whitening[0])
    workspace.work[1] += 1
    families.version[NOW, u] = workspace.work[1]


@plain_inner
def has_room(u: int, w: int, families: FamilyCopies, problem: Problem, wide: Wide) -> bool:
    """Return whether the arrays have space for w as a further parent of u."""
    columns = families.n_columns[NOW, u] + width(w, wide)
    fits = families.n_parents[NOW, u] < families.parents.shape[2] and columns <= families.factor.shape[2]
    return bool(fits)


@plain_inner
def _gains(
    u: int, w: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide
) -> bool:
    """Return whether w gains as a further parent of u, from what `fit_parents` has found for the family.

    First by a bound, with columns of u x columns of w products for each column of a parent: the slopes give
    the covariance of u and w given the parents. Its squares, whitened by ``problem.least`` for w, add up to
    at least t (see the top of this file), because parents leave of w no less than the bound that `least`
    stands for. A gain is at most weight t / (1 - t) - price, where `price` has the least determinant that
    can be left of w and the smallest gain that counts. So w is refused if t (weight + price) <= price.

    Few remain. Of these, substitution along the Cholesky factor gives what the parents leave of w, with
    columns^2 / 2 products for each column of w, and `_gain_of` the gain. Destroys `between`, `rest_of` and
    `inverse` of the workspace.
    """
    matrix = problem.matrix
    k, columns = families.n_parents[NOW, u], families.n_columns[NOW, u]
    own, factor, slopes = families.columns[NOW, u], families.factor[NOW, u], families.slopes[NOW, u]
    whitening, between = families.whitening[NOW, u], workspace.between
    du, dw = width(u, wide), width(w, wide)
    if k >= problem.most_parents or columns + dw > problem.most_columns:
        return False
    for b in range(dw):
        of_w = matrix[column_of(w, wide) + b]
        for a in range(du):
            value = of_w[column_of(u, wide) + a]
            for j in range(columns):
                value -= slopes[j * du + a] * of_w[own[j]]
            between[a, b] = value
    # The bound: from the right by the least that any others leave of w, from the left by what the parents
    # leave of u. Both are lower triangles by rows.
    least, squares = problem.least[w], 0.0
    for a in range(du):
        for b in range(dw):
            value = 0.0
            for h in range(a + 1):
                white = 0.0
                for g in range(b + 1):
                    white += between[h, g] * least[b * dw + g]
                value += whitening[a * du + h] * white
            squares += value * value
    figures = families.figures[NOW, u]
    price = problem.gain + problem.price[u, w] - figures[STEP] + problem.share * problem.log_least
    if price > 0.0 and squares * (figures[WEIGHT] + price) <= price:
        return False
    # Row b: covariances of w's column b with what is left of each parent's column, in units of its standard
    # deviation. The factor's diagonal has reciprocals, and 0 for a column that others determine.
    for b in range(dw):
        row, of_w = workspace.inverse[b], matrix[column_of(w, wide) + b]
        for j in range(columns):
            weight = of_w[own[j]]
            for h in range(j):
                weight -= factor[j, h] * row[h]
            row[j] = weight * factor[j, j]
        for c in range(b + 1):
            value = of_w[column_of(w, wide) + c]
            for h in range(columns):
                value -= row[h] * workspace.inverse[c, h]
            workspace.rest_of[b, c] = value
    return _gain_of(u, w, problem.gain, families, problem, workspace, wide) > problem.gain


@plain_inner
def gains(u: int, w: int, families: FamilyCopies, problem: Problem, workspace: Workspace, wide: Wide) -> bool:
    """Return whether w gains as a further parent of u.

    What a family has refused is remembered where variables have several columns.
    """
    if wide is None:
        # As in `_gains`: here most are refused, and calls are long.
        slopes, own, of_w = families.slopes[NOW, u], families.columns[NOW, u], problem.matrix[w]
        c = of_w[u]
        for j in range(families.n_columns[NOW, u]):
            c -= slopes[j] * of_w[own[j]]
        c *= problem.least[w, 0]
        if c * c <= families.figures[NOW, u, NEED]:
            return False
        return _gains(u, w, families, problem, workspace, wide)
    if workspace.refused[u, w] == families.version[NOW, u]:
        return False
    if _gains(u, w, families, problem, workspace, wide):
        return True
    workspace.refused[u, w] = families.version[NOW, u]
    return False


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
    """Drop the parent of u with one number, or add one, and fit the parents; return the gain in score."""
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
        # Of positions that rounding alone tells apart the nearest.
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
    """Move v to the position where the score is best, if that gains; return the gain."""
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
    """Move each variable in the queue to its best position, until the queue is empty; return the gain.

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

    FIT_PARENTS finds the parents of all variables in the current order, CLIMB works on `count` variables of
    the queue and returns the gain, PERTURB disturbs the order `count` times by `moves` moves.
    """
    if task == FIT_PARENTS:
        _fit_all(families, problem, workspace, wide)
        return 0.0
    if task == CLIMB:
        return _climb(count, families, problem, workspace, wide)
    _perturb(count, moves, random, families, problem, workspace, wide)
    return 0.0
