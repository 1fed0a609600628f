"""Families of Gaussian variables, each one column of a matrix or several, such as indicators of its states.

The columns of v are ``wide[v]`` to ``wide[v + 1]``. The score of a family of u with k parents is ::

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

from f2sl._jit import Array, int64, plain_inner
from f2sl.search.growing.state import (
    FORBIDDEN,
    LEFT,
    LOG_DETERMINANT,
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
    """Return the next place in the order of a candidate that may gain, or that has several columns.

    Most candidates of a single column are refused here: by t, which is covariance^2 / (left of u * left of
    w). For the compiler this loop is a function of its own, because `fit_parents` has no registers to spare.
    """
    for q in range(p, position):
        x = column_of(order[q], wide)
        if across[x] * across[x] > need * left[x] or width(order[q], wide) > 1:
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
    """Grow and shrink the parents of u until neither gains, beginning with those that it has."""
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
    floor = problem.tolerance * problem.diagonal[column_of(u, wide)]
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
        if d == 1:
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
    # With the least that any others leave of w, first.
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
