"""Families of variables that stand for several columns each, such as the indicators of a variable's states.

The columns of v are ``first[v]`` to ``first[v + 1]`` of the matrix. With `residual` the covariance of u's
columns that its parents leave, the score of a family is ::

    base[u] - half_rows log(determinant of residual) - sum of price[w, u] over the parents w

The functions do for such families what those of the same name in `f2sl/search/growing/_kernels.py` do for
single columns, and keep the same invariants. Whether w gains as a further parent of u follows from

    log det(residual given w) - log det(residual) = log det(1 - Y Y')

where Y, (columns of u, columns of w), is the covariance of both given the parents, each whitened: multiplied
by the inverse of the Cholesky factor of what the parents leave. With t the sum of the squares of Y, this is
at least log(1 - t), and equal if one of the two has a single column. So most w are refused by t alone, and
when two variables change places t is first computed with the least that any others leave of w.

A column of which a share of no more than `tolerance` is left is determined: as a parent's column it is
skipped, and as a child's column it counts for that share.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, int64, plain_inner
from f2sl.search.growing.state import (
    FORBIDDEN,
    LEFT,
    NO_VARIABLE,
    NOW,
    REQUIRED,
    ROUNDS,
    SCORE,
    Families,
    Problem,
    Workspace,
)


@plain_inner
def columns_of(u: int, k: int, parents: Array, first: Array) -> int:
    """Return the number of columns of the first k parents of u."""
    total = int64(0)
    for i in range(k):
        total += first[parents[u, i] + 1] - first[parents[u, i]]
    return total


@plain_inner
def copy_family(source: int, target: int, u: int, families: Families, problem: Problem) -> None:
    """Copy a family."""
    first = problem.blocks.first
    k, d = families.n_parents[source, u], first[u + 1] - first[u]
    families.n_parents[target, u] = k
    for i in range(k):
        families.parents[target, u, i] = families.parents[source, u, i]
    columns = columns_of(u, k, families.parents[source], first)
    for i in range(columns):
        for j in range(i + 1):
            families.factor[target, u, i, j] = families.factor[source, u, i, j]
    for i in range(columns * d):
        families.slopes[target, u, i] = families.slopes[source, u, i]
    for i in range(d * d):
        families.whitening[target, u, i] = families.whitening[source, u, i]
    for i in range(4):
        families.figures[target, u, i] = families.figures[source, u, i]
    families.version[target, u] = families.version[source, u]


@plain_inner
def _condition(i: int, column: int, u: int, factor: Array, problem: Problem, workspace: Workspace) -> None:
    """Make a column the one with number i of u's parents, and update the covariances that it explains.

    ``rows[i]`` gets the covariances of all columns with what is left of this one, in units of its standard
    deviation. ``left[x, b]``, for variables up to u in the order, is what is left of the covariance of
    column x with column b of its own variable, b up to x itself; ``across[a, x]`` that with column a of u.
    """
    first, owner, matrix = problem.blocks.first, problem.blocks.owner, problem.matrix
    rows, left, across = workspace.rows, workspace.left, workspace.across
    row = rows[i]
    for j in range(i):
        factor[i, j] = rows[j, column]
    rest = left[column, column - first[owner[column]]]
    scale = 1.0 / np.sqrt(rest) if rest > problem.tolerance * matrix[column, column] else 0.0
    factor[i, i] = scale
    workspace.work[0] += i
    if scale == 0.0:
        for x in range(len(row)):
            row[x] = 0.0
        return
    for x in range(len(row)):
        row[x] = matrix[column, x]
    for j in range(i):
        weight, other = factor[i, j], rows[j]
        for x in range(len(row)):
            row[x] -= weight * other[x]
    for x in range(len(row)):
        row[x] *= scale
    for a in range(first[u + 1] - first[u]):
        of_u, own = row[first[u] + a], across[a]
        for x in range(len(row)):
            own[x] -= of_u * row[x]
    order = workspace.order[NOW]
    for p in range(workspace.position[NOW, u] + 1):
        start = first[order[p]]
        for x in range(start, first[order[p] + 1]):
            value = row[x]
            for b in range(x - start + 1):
                left[x, b] -= value * row[start + b]


@plain_inner
def _whiten(d: int, tolerance: float, scratch: Array, result: Array) -> float:
    """Write the inverse of the Cholesky factor of a matrix; return the logarithm of its determinant.

    d : columns; scratch : (d, d + 1) float64
        In: the matrix, and its diagonal before anything was conditioned on, in the last column.
    result : (d * d,) float64, output, lower triangle by rows.
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
        # Row i of the inverse, from those before it.
        for j in range(i):
            value = 0.0
            for h in range(j, i):
                value -= scratch[i, h] * result[h * d + j]
            result[i * d + j] = value / scratch[i, i]
        result[i * d + i] = 1.0 / scratch[i, i]
    return float(total)


@plain_inner
def _log_left(d: int, scratch: Array, tolerance: float) -> float:
    """Return the logarithm of the determinant of a positive matrix of unit scale, (d, d); destroys it."""
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
        rest = max(rest, tolerance)
        total += np.log(rest)
        scratch[i, i] = np.sqrt(rest)
    return float(total)


@plain_inner
def _gain_of(u: int, w: int, least: float, whitening: Array, problem: Problem, workspace: Workspace) -> float:
    """Return the gain of w as a further parent of u, or 0 if it is below `least`.

    Reads the covariance of their columns from ``workspace.between``, (columns of u, columns of w), and
    what parents leave of w from ``workspace.rest_of``, (columns of w, columns of w). Destroys both.
    """
    first, matrix, tolerance = problem.blocks.first, problem.matrix, problem.tolerance
    du, dw = first[u + 1] - first[u], first[w + 1] - first[w]
    between, rest, scratch = workspace.between, workspace.rest_of, workspace.scratch
    price, half = problem.blocks.price[w, u], problem.blocks.half_rows
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
        diagonal = matrix[first[w] + b, first[w] + b]
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
        if left <= tolerance * diagonal:
            rest[b, b] = 0.0
            for a in range(du):
                between[a, b] = 0.0
            continue
        scale = np.sqrt(left)
        rest[b, b] = scale
        for a in range(du):
            value = between[a, b]
            for h in range(b):
                value -= rest[b, h] * between[a, h]
            value /= scale
            between[a, b] = value
            squares += value * value
    most = -half * np.log(1.0 - squares) if squares < 1.0 - tolerance else np.inf
    if du == 1 or dw == 1:
        return float(min(most, -half * np.log(tolerance)) - price)
    if most - price <= least:
        return 0.0
    for a in range(du):
        for c in range(a + 1):
            value = 1.0 if a == c else 0.0
            for b in range(dw):
                value -= between[a, b] * between[c, b]
            scratch[a, c] = value
    return float(-half * _log_left(du, scratch, tolerance) - price)


@plain_inner
def _candidate_gain(
    u: int, w: int, least: float, families: Families, problem: Problem, workspace: Workspace
) -> float:
    """Return the gain of w as a further parent of u, by the covariances that `_condition` has updated."""
    first = problem.blocks.first
    whitening, dw = families.whitening[NOW, u], first[w + 1] - first[w]
    du = first[u + 1] - first[u]
    if du == 1 and dw == 1:
        rest = workspace.left[first[w], 0]
        if rest <= problem.tolerance * problem.matrix[first[w], first[w]]:
            return 0.0
        square = (workspace.across[0, first[w]] * whitening[0]) ** 2 / rest
        half = problem.blocks.half_rows
        return float(-half * np.log(max(1.0 - square, problem.tolerance)) - problem.blocks.price[w, u])
    for b in range(dw):
        for a in range(du):
            workspace.between[a, b] = workspace.across[a, first[w] + b]
        for h in range(b + 1):
            workspace.rest_of[b, h] = workspace.left[first[w] + b, h]
    return _gain_of(u, w, least, whitening, problem, workspace)


@plain_inner
def _worst(u: int, families: Families, problem: Problem, workspace: Workspace) -> int:
    """Compute the slopes of u's parents; return the one whose removal gains most, or NO_VARIABLE.

    Without the columns of parent i, B' P^-1 B more is left of u, where B are the slopes of these columns and
    P their part of the inverse of the parents' matrix: the products of their columns of the factor's inverse.
    """
    first, matrix, tolerance = problem.blocks.first, problem.matrix, problem.tolerance
    parents, factor, slopes = families.parents[NOW, u], families.factor[NOW, u], families.slopes[NOW, u]
    k, d = families.n_parents[NOW, u], first[u + 1] - first[u]
    columns = columns_of(u, k, families.parents[NOW], first)
    for i in range(columns - 1, -1, -1):
        for a in range(d):
            slope = workspace.rows[i, first[u] + a]
            for j in range(i + 1, columns):
                slope -= factor[j, i] * slopes[j * d + a]
            slopes[i * d + a] = slope * factor[i, i]
    inverse, precision, scratch = workspace.inverse, workspace.rest_of, workspace.scratch
    half, best, worst = problem.blocks.half_rows, problem.gain, NO_VARIABLE
    begin = int64(0)
    for i in range(k):
        w = parents[i]
        dw = first[w + 1] - first[w]
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
        for a in range(d):
            for c in range(a + 1):
                scratch[a, c] = workspace.left[first[u] + a, c]
            scratch[a, d] = matrix[first[u] + a, first[u] + a]
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
                else:
                    # 0 for a column that was skipped, which has no slope either.
                    precision[b, b] = (
                        np.sqrt(value) if value > 0.0 and factor[begin + b, begin + b] > 0.0 else 0.0
                    )
            for a in range(d):
                value = slopes[(begin + b) * d + a]
                for h in range(b):
                    value -= precision[b, h] * workspace.between[a, h]
                workspace.between[a, b] = value / precision[b, b] if precision[b, b] > 0.0 else 0.0
        for a in range(d):
            for c in range(a + 1):
                for b in range(dw):
                    scratch[a, c] += workspace.between[a, b] * workspace.between[c, b]
        log_left = _whiten(d, tolerance, scratch, workspace.unused)
        gain = problem.blocks.price[w, u] - half * (log_left - families.figures[NOW, u, LEFT])
        if gain > best:
            best, worst = gain, int64(i)
        begin += dw
    return worst


@plain_inner
def fit_parents(u: int, families: Families, problem: Problem, workspace: Workspace) -> None:
    """Grow and shrink the parents of u until neither gains, beginning with those that it has."""
    first, matrix, rule = problem.blocks.first, problem.matrix, problem.rule
    parents, factor = families.parents[NOW, u], families.factor[NOW, u]
    figures, order, position = families.figures[NOW, u], workspace.order[NOW], workspace.position[NOW, u]
    d, n_columns = first[u + 1] - first[u], len(matrix)
    k, known, columns = families.n_parents[NOW, u], int64(0), int64(0)
    for left_over in range(ROUNDS * (len(rule) + 1), -1, -1):
        if known == 0:
            columns = int64(0)
            for x in range(n_columns):
                start = first[problem.blocks.owner[x]]
                for b in range(x - start + 1):
                    workspace.left[x, b] = matrix[x, start + b]
            for a in range(d):
                for x in range(n_columns):
                    workspace.across[a, x] = matrix[first[u] + a, x]
        while known < k:
            w = parents[known]
            for column in range(first[w], first[w + 1]):
                _condition(columns, column, u, factor, problem, workspace)
                columns += 1
            known += 1
        for a in range(d):
            for c in range(a + 1):
                workspace.scratch[a, c] = workspace.left[first[u] + a, c]
            workspace.scratch[a, d] = matrix[first[u] + a, first[u] + a]
        log_left = _whiten(d, problem.tolerance, workspace.scratch, families.whitening[NOW, u])
        score = problem.blocks.base[u] - problem.blocks.half_rows * log_left
        for i in range(k):
            score -= problem.blocks.price[parents[i], u]
        figures[LEFT], figures[SCORE] = log_left, score
        best, chosen = problem.gain, NO_VARIABLE
        if k < problem.blocks.most_parents:
            for p in range(position):
                w = order[p]
                if rule[w, u] == FORBIDDEN or columns + first[w + 1] - first[w] > problem.blocks.most_columns:
                    continue
                taken = False
                for i in range(k):
                    taken = taken or parents[i] == w
                if not taken:
                    gain = _candidate_gain(u, w, best, families, problem, workspace)
                    if gain > best:
                        best, chosen = gain, w
        if chosen != NO_VARIABLE and left_over:
            if k < len(parents) and columns + first[chosen + 1] - first[chosen] <= len(factor):
                parents[k] = chosen
                k += 1
                families.n_parents[NOW, u] = k
                continue
            workspace.full[0] = True
        families.n_parents[NOW, u] = k
        worst = _worst(u, families, problem, workspace)
        if worst == NO_VARIABLE or not left_over:
            break
        k -= 1
        for i in range(worst, k):
            parents[i] = parents[i + 1]
        families.n_parents[NOW, u] = k
        known = 0
    families.n_parents[NOW, u] = k
    workspace.work[1] += 1
    families.version[NOW, u] = workspace.work[1]


@plain_inner
def fits(u: int, w: int, families: Families, problem: Problem) -> bool:
    """Return whether the arrays have space for w as a further parent of u."""
    first, k = problem.blocks.first, families.n_parents[NOW, u]
    columns = columns_of(u, k, families.parents[NOW], first) + first[w + 1] - first[w]
    return bool(k < families.parents.shape[2] and columns <= families.factor.shape[2])


@plain_inner
def _gains(u: int, w: int, families: Families, problem: Problem, workspace: Workspace) -> bool:
    first, matrix, tolerance = problem.blocks.first, problem.matrix, problem.tolerance
    k, parents, factor = families.n_parents[NOW, u], families.parents[NOW], families.factor[NOW, u]
    slopes, whitening = families.slopes[NOW, u], families.whitening[NOW, u]
    du, dw = first[u + 1] - first[u], first[w + 1] - first[w]
    columns = columns_of(u, k, parents, first)
    if k >= problem.blocks.most_parents or columns + dw > problem.blocks.most_columns:
        return False
    for a in range(du):
        for b in range(dw):
            value = matrix[first[u] + a, first[w] + b]
            j = int64(0)
            for i in range(k):
                for column in range(first[parents[u, i]], first[parents[u, i] + 1]):
                    value -= slopes[j * du + a] * matrix[column, first[w] + b]
                    j += 1
            workspace.between[a, b] = value
    # With the least that any others leave of w, first.
    least, squares = problem.blocks.least[w], 0.0
    for a in range(du):
        for b in range(dw):
            value = 0.0
            for h in range(a + 1):
                white = 0.0
                for g in range(b + 1):
                    white += workspace.between[h, g] * least[b * dw + g]
                value += whitening[a * du + h] * white
            squares += value * value
    price = problem.blocks.price[w, u]
    if (
        squares < 1.0 - tolerance
        and -problem.blocks.half_rows * np.log(1.0 - squares) - price <= problem.gain
    ):
        return False
    for b in range(dw):
        row, j = workspace.inverse[b], int64(0)
        for i in range(k):
            for column in range(first[parents[u, i]], first[parents[u, i] + 1]):
                weight = matrix[first[w] + b, column]
                for h in range(j):
                    weight -= factor[j, h] * row[h]
                row[j] = weight * factor[j, j]
                j += 1
        for c in range(b + 1):
            value = matrix[first[w] + b, first[w] + c]
            for h in range(columns):
                value -= row[h] * workspace.inverse[c, h]
            workspace.rest_of[b, c] = value
    return _gain_of(u, w, problem.gain, whitening, problem, workspace) > problem.gain


@plain_inner
def gains(u: int, w: int, families: Families, problem: Problem, workspace: Workspace) -> bool:
    """Return whether w gains as a further parent of u; what a family has refused is remembered."""
    if workspace.refused[u, w] == families.version[NOW, u]:
        return False
    if _gains(u, w, families, problem, workspace):
        return True
    workspace.refused[u, w] = families.version[NOW, u]
    return False
