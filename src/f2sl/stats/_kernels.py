"""Compute what several statistics share: sums of n log n, and residuals of a variable given others.

Sums are made in *fixed point*: each term is divided by a power of two, its *unit*, and rounded to a 64-bit
integer before it is added. Integer sums do not depend on their order, so a statistic is the same to the last
bit for any order of rows, states, columns and threads. Callers choose a unit that is small enough for
rounding not to matter and large enough for sums not to overflow 64 bits. For entropies the terms n log n are
looked up in a table (`stats/measures/information.py`, `LogTable`); loops compute no logarithms.

Three arrays belong together wherever n log n is needed:

terms : (min(n_rows + 1, 2^20),) int64
    n log n in units, for n = 0, 1, 2, ... (0 for n = 0).
logarithms : (2^16,) float64
    Natural logarithms, from which `n_log_n_of` computes the terms of larger n.
unit (or log_unit) : float
    Value of one unit in nats.

Batches of tables come as `counts`, `group_start`, `first_group` and `n_groups`, all int64, laid out as
`data/engines.py`, `Tables` describes.
"""

from __future__ import annotations

import math

import numpy as np

from f2sl._jit import Array, inner, int64, kernel, plain_inner, popcount

LOG_2 = math.log(2.0)


@inner
def n_log_n_of(n: int, terms: Array, logarithms: Array, unit: float) -> int:
    """Return n log n in fixed point: looked up in `terms` for small n, computed for others.

    A table of all n would not fit into memory with billions of samples, and `math.log` may differ in
    the last bit between compiled and plain code. So the logarithm of n is that of its leading 16 bits,
    from `logarithms`, plus a short series for the rest: additions and multiplications give the same bits
    everywhere.
    """
    if n < len(terms):
        return int64(terms[n])
    # n = 2^shift * high * (1 + x) with 2^15 <= high < 2^16, so x < 2^-15. The series of log(1 + x) ends after
    # x^4: what is left out is below 2^-77, less than a float near log n can hold.
    high, shift = n, 0
    while high >= len(logarithms):
        high >>= 1
        shift += 1
    x = (n - (high << shift)) / (high << shift)
    series = x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 3.0 - x / 4.0)))
    return int64(np.rint(n * (logarithms[high] + (shift * LOG_2 + series)) / unit))


@kernel
def terms_of(counts: Array, terms: Array, logarithms: Array, unit: float, found: Array) -> None:
    """Write n log n of each of `counts` into `found`, both (n,) int64."""
    for i in range(len(counts)):
        found[i] = n_log_n_of(counts[i], terms, logarithms, unit)


@kernel
def table_sums(
    counts: Array,
    group_start: Array,
    first_group: Array,
    n_groups: Array,
    terms: Array,
    logarithms: Array,
    unit: float,
    cell_sums: Array,
    group_sums: Array,
) -> None:
    """Sum n log n over the cells, and over the group totals, of each table of a batch.

    cell_sums, group_sums : (n_tables,) int64, output in fixed point.
    """
    for t in range(len(n_groups)):
        cells, groups = 0, 0
        for g in range(first_group[t], first_group[t] + n_groups[t]):
            total = int64(0)
            for c in range(group_start[g], group_start[g + 1]):
                n = counts[c]
                total += n
                cells += n_log_n_of(n, terms, logarithms, unit)
            groups += n_log_n_of(total, terms, logarithms, unit)
        cell_sums[t] = cells
        group_sums[t] = groups


# Conditioning on Gaussian variables is elimination, here by the Cholesky factor of the part of the matrix
# that belongs to them. A variable that is determined by the ones before it, but for `tolerance` of its
# variance, adds nothing to the condition and is skipped: its row of the factor has 0 on the diagonal. So
# collinear columns need no special case, and no kernel fails on a singular matrix.
#
# Conditioning sets have a few members. Plain loops over them are several times as fast as NumPy's stacked
# inversion, and take their sums in a fixed order, whatever library of linear algebra is installed.
#
#   matrix, correlations : (n, n) float64, symmetric
#   members : (k,) int64, the conditioning variables
#   factor : (at least k, at least k) float64, lower triangular; entries above the diagonal are not used


@kernel
def factorise(matrix: Array, members: Array, tolerance: float, factor: Array) -> None:
    """Write the Cholesky factor of the members' part of `matrix` into `factor`."""
    # Row i of the factor is the projection of member i onto those before it.
    for i in range(len(members)):
        rest = project(matrix, members[:i], factor, members[i], factor[i])
        factor[i, i] = np.sqrt(rest) if rest > tolerance * matrix[members[i], members[i]] else 0.0


@inner
def project(matrix: Array, members: Array, factor: Array, variable: int, weights: Array) -> float:
    """Project a variable onto the members; return the residual variance.

    weights : (k,) float64, output: the solution of factor @ weights = matrix[members, variable], by forward
    substitution. The scalar product of two variables' weights is the part of their covariance that the
    members explain.
    """
    rest = matrix[variable, variable]
    for i in range(len(members)):
        if factor[i, i] == 0.0:
            weights[i] = 0.0
            continue
        weight = matrix[members[i], variable]
        for j in range(i):
            weight -= factor[i, j] * weights[j]
        weights[i] = weight / factor[i, i]
        rest -= weights[i] * weights[i]
    return float(rest)


@kernel
def partial_correlations(
    matrices: Array, which: Array, x: Array, y: Array, given: Array, tolerance: float, result: Array
) -> None:
    """Compute the partial correlation of each x and y given a row of other variables.

    matrices : (s, n, n) float64, correlations, or NaN where there are none; which : (m,) int64, the matrix of
    each question; x, y : (m,) int64; given : (m, k) int64; result : (m,) float64, output: NaN where the given
    variables determine x or y, so that there is no residual to correlate.
    """
    k = given.shape[1]
    factor = np.zeros((k, k))
    of_x, of_y = np.zeros(k), np.zeros(k)
    for t in range(len(x)):
        correlations = matrices[which[t]]
        result[t] = np.nan
        if np.isnan(correlations[0, 0]):
            continue
        # Learners ask about many pairs given the same variables, one after another: the factor is reused.
        same = t > 0 and which[t] == which[t - 1]
        for i in range(k):
            same = same and given[t, i] == given[t - 1, i]
        if not same:
            factorise(correlations, given[t], tolerance, factor)
        # Correlations have ones on their diagonal, so that what is left is a share of the variance.
        rest_x = project(correlations, given[t], factor, x[t], of_x)
        rest_y = project(correlations, given[t], factor, y[t], of_y)
        if rest_x > tolerance and rest_y > tolerance:
            both = correlations[x[t], y[t]]
            for i in range(k):
                both -= of_x[i] * of_y[i]
            result[t] = both / np.sqrt(rest_x * rest_y)


@kernel
def eliminate(
    matrices: Array, variables: Array, start: Array, tolerance: float, log_determinant: Array, left: Array
) -> None:
    """Compute, for each list of variables, the residual of the last one's diagonal entry given the others.

    Parameters
    ----------
    matrices : (1 or n_lists, n, n) float64
        One for all lists, or one for each: with missing values each has its own samples.
    variables, start : int64
        List t is ``variables[start[t]:start[t + 1]]``.
    log_determinant : (n_lists,) float64
        Output: log determinant of the others' part of the matrix, without those that were skipped.
    left : (n_lists,) float64
        Output: the residuals.
    """
    # The factor is allocated for the longest list; shorter ones use its top left corner.
    widest = 0
    for t in range(len(start) - 1):
        widest = max(widest, start[t + 1] - start[t])
    factor = np.zeros((widest, widest))
    weights = np.zeros(widest)
    for t in range(len(start) - 1):
        matrix = matrices[t if len(matrices) > 1 else 0]
        others, last = variables[start[t] : start[t + 1] - 1], variables[start[t + 1] - 1]
        factorise(matrix, others, tolerance, factor)
        left[t] = project(matrix, others, factor, last, weights)
        # The determinant is the square of the product of the factor's diagonal.
        total = 0.0
        for i in range(len(others)):
            if factor[i, i] > 0.0:
                total += 2.0 * np.log(factor[i, i])
        log_determinant[t] = total


@kernel
def log_determinants(matrix: Array, variables: Array, start: Array, tolerance: float, result: Array) -> None:
    """Compute the log determinant of the part of the matrix that belongs to each list of variables.

    A variable that those before it in the list determine counts for `tolerance`, so that the result is
    finite.

    matrix : (n, n) float64, input; variables : int64, all lists one after another.
    start : (m + 1,) int64
        List t is ``variables[start[t]:start[t + 1]]``.
    result : (m,) float64, output.
    """
    # One factor for all lists, as large as the longest needs: `factorise` overwrites the part that it uses.
    widest = 0
    for t in range(len(start) - 1):
        widest = max(widest, start[t + 1] - start[t])
    factor = np.zeros((widest, widest))
    for t in range(len(start) - 1):
        members = variables[start[t] : start[t + 1]]
        factorise(matrix, members, tolerance, factor)
        result[t] = log_of_diagonal(factor, 0, len(members), tolerance)


@inner
def log_of_diagonal(factor: Array, first: int, last: int, tolerance: float) -> float:
    """Sum the logarithms of the squares on the diagonal of a factor, `tolerance` for each that is 0.

    factor : (k, k) float64
        The triangle F of a matrix F F'. The determinant of rows `first` to `last` (not included), given those
        before, is the product of these squares; a variable that is determined has a 0 there.
    """
    total = 0.0
    for i in range(first, last):
        total += 2.0 * np.log(factor[i, i]) if factor[i, i] > 0.0 else np.log(tolerance)
    return total


@kernel
def log_ratios(
    matrix: Array, start: Array, x: Array, y: Array, given: Array, tolerance: float, result: Array
) -> None:
    """Compare the residuals of Y given Z with those given X and Z, where each may be several columns.

    Both determinants are of the same columns of Y: those that Z, or others of Y, determine are left out.

    matrix : (columns, columns) float64
        Correlations of all columns: one for a number, one for each state but the last.
    start : (n + 1,) int64
        The columns of variable v are ``start[v]`` to ``start[v + 1]``.
    x, y : (m,) int64; given : (m, k) int64
        Variables.
    result : (m, 4) float64
        Output: the log determinant of Y given X and Z minus that given Z, and the numbers of columns of Z, of
        X and of Y that the columns before them do not determine; Z comes first, then X or Y.
    """
    widest = 0
    for t in range(len(x)):
        size = start[x[t] + 1] - start[x[t]] + start[y[t] + 1] - start[y[t]]
        for z in given[t]:
            size += start[z + 1] - start[z]
        widest = max(widest, size)
    factor = np.zeros((widest, widest))
    members = np.empty(widest, np.int64)
    for t in range(len(x)):
        n_z = 0
        for z in given[t]:
            n_z = _listed(members, n_z, start[z], start[z + 1])
        # Y given Z; columns of Y that Z determines, or others of Y, are left out from here on.
        n_zy = _listed(members, n_z, start[y[t]], start[y[t] + 1])
        factorise(matrix, members[:n_zy], tolerance, factor)
        rank_z = 0
        for i in range(n_z):
            rank_z += factor[i, i] > 0.0
        without, rank_y = 0.0, 0
        left = np.empty(n_zy - n_z, np.int64)
        for i in range(n_z, n_zy):
            if factor[i, i] > 0.0:
                without += 2.0 * np.log(factor[i, i])
                left[rank_y] = members[i]
                rank_y += 1
        n_zx = _listed(members, n_z, start[x[t]], start[x[t] + 1])
        for i in range(rank_y):
            members[n_zx + i] = left[i]
        factorise(matrix, members[: n_zx + rank_y], tolerance, factor)
        rank_x = 0
        for i in range(n_z, n_zx):
            rank_x += factor[i, i] > 0.0
        result[t, 0] = log_of_diagonal(factor, n_zx, n_zx + rank_y, tolerance) - without
        result[t, 1], result[t, 2], result[t, 3] = rank_z, rank_x, rank_y


@inner
def _listed(members: Array, n: int, first: int, last: int) -> int:
    """Append the numbers `first` to `last` (not included) to n members; return the new number of members."""
    for column in range(first, last):
        members[n] = column
        n += 1
    return n


# The kernels below take sums by groups of samples, laid out as `data/mixed/_kernels.py` describes:
#
# sums : (total,) int64
#     Group g of query t begins at ``first[t] + g * width``, with width = 1 + 2 q + 3 q (q + 1) / 2.
# first : (n_queries + 1,) int64; n_groups : (n_queries,) int64
# number_start : (n_queries + 1,) int64
#     The q numbers of query t have the positions number_start[t] to number_start[t + 1] in `spread`.
# coarse_unit : float
#     A number is coarse * coarse_unit + fine. The sums of both halves are exact integers, so that what is
#     computed from them does not depend on blocks, on the order of the rows or on the number of threads;
#     floats come in only here, once for each group.
# spread : float64
#     Standard deviations as whole numbers. Scatters are divided by these: then they are near the number of
#     samples, whatever the units of measurement, and one `tolerance` serves all.


@kernel
def gaussian_by_group(
    sums: Array,
    first: Array,
    n_groups: Array,
    number_start: Array,
    coarse_unit: float,
    spread: Array,
    n_rows: Array,
    weight: float,
    tolerance: float,
    result: Array,
) -> None:
    """Compute the log likelihood of numbers that are normal within each group.

    Each group has its own mean. Its covariances are those of its samples and of `weight` additional ones with
    the pooled within-group covariances, so that small groups borrow from the others; with infinite weight all
    groups have the pooled covariances. So there are two passes over the groups: the pooled covariances must
    be complete before the first group is scored. Empty groups add nothing and are not counted.

    n_rows : (n_queries,) int64, the samples of each query.
    result : (n_queries, 3) float64
        Output: log likelihood, how many groups are not empty, and a bit for each number that does not vary.
    """
    for t in range(len(n_groups)):
        own_spread = spread[number_start[t] : number_start[t + 1]]
        q = len(own_spread)
        width = 1 + 2 * q + 3 * q * (q + 1) // 2
        positions = np.arange(q)
        pooled, scatter, matrix = np.zeros((q, q)), np.empty((q, q)), np.empty((q, q))
        factor, column = np.zeros((q, q)), np.empty(q)
        occurring = 0
        for g in range(n_groups[t]):
            at = first[t] + g * width
            if sums[at] > 0:
                occurring += 1
                _scatter(sums, at, own_spread, coarse_unit, scatter)
                pooled += scatter
        pooled /= max(n_rows[t], 1)
        total = 0.0
        if np.isinf(weight):
            factorise(pooled, positions, tolerance, factor)
            total = n_rows[t] * (log_of_diagonal(factor, 0, q, tolerance) + q)
        else:
            for g in range(n_groups[t]):
                at = first[t] + g * width
                n = sums[at]
                if n == 0:
                    continue
                _scatter(sums, at, own_spread, coarse_unit, scatter)
                for i in range(q):
                    for j in range(q):
                        matrix[i, j] = (scatter[i, j] + weight * pooled[i, j]) / (n + weight)
                factorise(matrix, positions, tolerance, factor)
                total += n * log_of_diagonal(factor, 0, q, tolerance)
                total += _trace(factor, scatter, n, column)
        result[t, 0] = -0.5 * (n_rows[t] * q * np.log(2.0 * np.pi) + total)
        result[t, 1], result[t, 2] = occurring, 0.0
        for i in range(q):
            if np.isinf(own_spread[i]):
                result[t, 2] += 2.0**i


@inner
def _scatter(sums: Array, at: int, spread: Array, coarse_unit: float, scatter: Array) -> None:
    """Compute the centred sums of products of one group, whose sums begin at `at`.

    spread : (q,) float64; scatter : (q, q) float64, output, symmetric, in units of the spreads. The group
    must not be empty. Products of pairs i >= j are stored row by row, three sums each, so one running index
    reads them all.
    """
    q, n = len(spread), sums[at]
    product = at + 1 + 2 * q
    for i in range(q):
        sum_i = sums[at + 1 + i] * coarse_unit + sums[at + 1 + q + i]
        for j in range(i + 1):
            sum_j = sums[at + 1 + j] * coarse_unit + sums[at + 1 + q + j]
            both = (sums[product] * coarse_unit + sums[product + 1]) * coarse_unit + sums[product + 2]
            scatter[i, j] = (both - sum_i * sum_j / n) / (spread[i] * spread[j])
            scatter[j, i] = scatter[i, j]
            product += 3


@inner
def _trace(factor: Array, scatter: Array, n: int, column: Array) -> float:
    """Return the trace of the inverse of a factorised matrix times `scatter`; left-out columns count n.

    factor, scatter : (q, q) float64, input; column : (q,) float64, scratch.
    """
    # With the matrix F F', the trace is that of inverse(F) S inverse(F)'. Column j of inverse(F) is found by
    # forward substitution; a variable that was left out has no row and no column.
    q = len(factor)
    inverse = np.zeros((q, q))
    total = 0.0
    for j in range(q):
        if factor[j, j] == 0.0:
            total += n
            continue
        for i in range(j, q):
            if factor[i, i] == 0.0:
                continue
            rest = 1.0 if i == j else 0.0
            for k in range(j, i):
                rest -= factor[i, k] * inverse[k, j]
            inverse[i, j] = rest / factor[i, i]
    for i in range(q):
        for j in range(i + 1):
            column[j] = 0.0
            for k in range(i + 1):
                column[j] += inverse[i, k] * scatter[k, j]
        for j in range(i + 1):
            total += column[j] * inverse[i, j]
    return total


@kernel
def moments_of_groups(
    sums: Array,
    first: Array,
    n_groups: Array,
    number_start: Array,
    coarse_unit: float,
    n_rows: Array,
    spread: Array,
) -> None:
    """Compute the number of samples of each query, and the deviations of its numbers in these.

    Groups are added up as integers first, so the result is exact except for the last roundings, and does not
    depend on the groups of a query.

    n_rows : (n_queries,) int64; spread : float64, one for each number of each query; output. The spread of a
    number that does not vary is infinite: divided by it, what rounding leaves of its scatter is 0.
    """
    for t in range(len(n_groups)):
        q = number_start[t + 1] - number_start[t]
        total = np.zeros(1 + 2 * q + 3 * q * (q + 1) // 2, np.int64)
        for g in range(n_groups[t]):
            at = first[t] + g * len(total)
            total += sums[at : at + len(total)]
        n_rows[t] = total[0]
        for i in range(q):
            spread[number_start[t] + i] = np.inf
            if _varies(total, int64(0), q, i):
                mean = (total[1 + i] * coarse_unit + total[1 + q + i]) / total[0]
                own = 1 + 2 * q + 3 * (i * (i + 1) // 2 + i)
                square = (total[own] * coarse_unit + total[own + 1]) * coarse_unit + total[own + 2]
                spread[number_start[t] + i] = np.sqrt((square - mean * mean * total[0]) / total[0])


@inner
def _varies(sums: Array, at: int, q: int, i: int) -> bool:
    """Return whether number i of q varies in the samples of a group, whose sums begin at `at`.

    Exact: a difference of rounded sums may be positive where nothing varies. A number is constant if both of
    its halves are, hence equal to their means.
    """
    n, high, low = sums[at], sums[at + 1 + i], sums[at + 1 + q + i]
    if n == 0:
        return False
    a, b, own = high // n, low // n, at + 1 + 2 * q + 3 * (i * (i + 1) // 2 + i)
    return bool(a * n != high or b * n != low or a * a * n != sums[own] or b * b * n != sums[own + 2])


@inner
def _correlated(sums: Array, at: int, sizes: Array, coarse_unit: float, digits: float) -> tuple[Array, Array]:
    """Correlate the numbers of a query and the indicators of all states but the last that occurs.

    One indicator is left out because the others and the mean determine it. The states that occur can differ
    between the samples of two questions, so columns are chosen here and not once for the table.

    sizes : (m,) int64
        The states of each member, 0 for numbers. The sums begin at `at`, as those of one group with as many
        numbers as the members have columns.
    digits : float
        Correlations are rounded to multiples of 1 / digits, so that algebraically equal ones are equal.

    Returns the correlations, (c, c) float64, and where the columns of each member begin, (m + 1,) int64. A
    number that does not vary has only zeros, also on the diagonal, and `factorise` treats it as determined.
    """
    width = 0
    for k in sizes:
        width += max(k, 1)
    n = sums[at]
    products = np.zeros((width, width))
    if n > 0:
        _scatter(sums, at, np.ones(width), coarse_unit, products)
    used = np.empty(width, np.int64)
    start = np.zeros(len(sizes) + 1, np.int64)
    column, n_used = 0, 0
    for i in range(len(sizes)):
        if sizes[i] == 0:
            used[n_used] = column
            n_used += 1
        else:
            last = -1
            for position in range(column, column + sizes[i]):
                if sums[at + 1 + width + position] > 0:
                    # A state that occurs has an indicator once there is another after it.
                    if last >= 0:
                        used[n_used] = last
                        n_used += 1
                    last = position
        column += max(sizes[i], 1)
        start[i + 1] = n_used
    matrix, squares = np.zeros((n_used, n_used)), np.empty(n_used)
    for i in range(n_used):
        squares[i] = max(products[used[i], used[i]], 0.0) if _varies(sums, at, width, used[i]) else 0.0
        for j in range(i):
            both = squares[i] * squares[j]
            if both > 0.0:
                r = np.rint(products[used[i], used[j]] / np.sqrt(both) * digits) / digits
                matrix[i, j] = matrix[j, i] = min(max(r, -1.0), 1.0)
        matrix[i, i] = 1.0 if squares[i] > 0.0 else 0.0
    return matrix, start


@kernel
def log_ratios_of_sums(
    sums: Array,
    first: Array,
    sizes: Array,
    member_start: Array,
    sets: Array,
    positions: Array,
    coarse_unit: float,
    digits: float,
    tolerance: float,
    result: Array,
) -> None:
    """Do what `log_ratios` does for questions with samples of their own.

    Where values are missing, no matrix of correlations has the samples of all questions; each set of
    variables has its own small one, for the questions about these variables that follow each other.

    sums, first : as above, one group for each set; sizes : int64, states of each member, 0 for numbers.
    member_start : (n_sets + 1,) int64
        Set s has the members ``member_start[s]`` to ``member_start[s + 1]``.
    sets : (m,) int64, the set of each question; positions : (m, k) int64, where Z, X and Y are in it.
    result : (m, 5) float64, output: as there, and the number of samples.
    """
    k = positions.shape[1]
    if len(sets) == 0:
        return
    own = sizes[member_start[sets[0]] : member_start[sets[0] + 1]]
    matrix, start = _correlated(sums, first[sets[0]], own, coarse_unit, digits)
    for t in range(len(sets)):
        if t > 0 and sets[t] != sets[t - 1]:
            own = sizes[member_start[sets[t]] : member_start[sets[t] + 1]]
            matrix, start = _correlated(sums, first[sets[t]], own, coarse_unit, digits)
        question, part = positions[t : t + 1], result[t : t + 1, :4]
        log_ratios(
            matrix, start, question[:, k - 2], question[:, k - 1], question[:, : k - 2], tolerance, part
        )
        result[t, 4] = sums[first[sets[t]]]


@plain_inner
def count_columns(mask: Array, packed: Array, counts: Array) -> None:
    """Write into `counts[j]` the number of bits that `mask` shares with packed column j.

    mask : (n_words,) uint64; packed : (n_words, at least as many columns) uint64; counts : (columns,) int64.
    """
    for j in range(len(counts)):
        counts[j] = 0
    # Four words a pass: each sum is loaded and stored a quarter as often.
    w = 0
    while w + 4 <= len(mask):
        p0, p1, p2, p3 = mask[w], mask[w + 1], mask[w + 2], mask[w + 3]
        q0, q1, q2, q3 = packed[w], packed[w + 1], packed[w + 2], packed[w + 3]
        for j in range(len(counts)):
            counts[j] += (
                popcount(p0 & q0[j]) + popcount(p1 & q1[j]) + popcount(p2 & q2[j]) + popcount(p3 & q3[j])
            )
        w += 4
    while w < len(mask):
        p, q = mask[w], packed[w]
        for j in range(len(counts)):
            counts[j] += popcount(p & q[j])
        w += 1


# The walk over the combinations of states of some variables, counted from bit planes. `state` is an odometer
# with a digit for each variable, the last one fastest; masks[level], (n_words,) uint64, holds the samples in
# the current states of the variables before `level`, and masks[0] all of them. When the odometer moves on,
# only masks behind the first digit that changes are made again; combinations that begin like one without
# samples are passed over by moving on at an earlier digit.


@plain_inner
def meet(
    planes: Array,
    order_start: Array,
    order: Array,
    variables: Array,
    state: Array,
    first: int,
    depth: int,
    masks: Array,
) -> tuple[int, int]:
    """Make the masks of levels `first` + 1 to `depth`; stop at one without samples.

    The plane of a state of variable v is ``order[order_start[v] + state]``. Returns the last level made and
    whether it has samples (not 0); bits beyond the last sample may be set at level 0.
    """
    level, there = first, 1
    while level < depth and there > 0:
        plane = order[order_start[variables[level]] + state[level]]
        there = 0
        for w in range(planes.shape[1]):
            word = masks[level, w] & planes[plane, w]
            masks[level + 1, w] = word
            there += popcount(word)
        level += 1
    return level, there


@plain_inner
def next_state(state: Array, digit: int, cardinalities: Array, variables: Array) -> int:
    """Move an odometer on by one at some digit; return the first that changes, or -1 after the last state.

    The digits behind must be 0; after the last state all are 0 again.
    """
    while digit >= 0:
        state[digit] += 1
        if state[digit] < cardinalities[variables[digit]]:
            break
        state[digit] = 0
        digit -= 1
    return digit
