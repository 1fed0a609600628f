"""Learn directed acyclic graphs by continuous optimisation.

A matrix W of *weights* (row: parent, column: child) says how much of each variable the others explain,
X = X W + noise. The squared error is a function of the variables' covariance S alone,

    loss(W) = 1/2 trace((I - W)' S (I - W)),

so that the time of a step does not depend on the number of rows. The graph of W is made acyclic by a smooth
function h that is 0 where there is no cycle and above 0 elsewhere. There are two such functions here, with
their methods to minimise ``loss(W) + lambda1 * sum |W|`` where h is 0:

``notears`` (Zheng, Aragam, Ravikumar and Xing 2018)
    h(W) = trace(exp(W * W)) - d, with an augmented Lagrangian: for a growing weight rho and a multiplier
    alpha, minimise the objective + alpha h + rho/2 h^2 by L-BFGS-B.
``dagma`` (Bello, Aragam and Ravikumar 2022)
    h(W) = -log det(s I - W * W) + d log s, which is finite only where all cycles are weak, with a central
    path: minimise mu times the objective + h by Adam, for a falling mu, each time from the last minimum.

In trace(exp(.)) a cycle of k edges counts 1/(k-1)! as much as in the determinant, so that the second
penalises long cycles better.

All matrices are (d, d) float64 with d variables, and the diagonal of W is 0. Matrices are small and dense, so
that everything is NumPy and SciPy; the cost of a step is that of a few matrix products and one exponential
or inverse.

References
----------
X. Zheng, B. Aragam, P. Ravikumar, E. P. Xing. DAGs with NO TEARS: continuous optimization for structure
learning. NeurIPS 2018.

K. Bello, B. Aragam, P. Ravikumar. DAGMA: learning DAGs via M-matrices and a log-determinant acyclicity
characterization. NeurIPS 2022.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from f2sl._arrays import Floats, Mask

Watch = Callable[[Floats, float], None]
"""Called with the weights after each step and the share of the work done; may end the search by raising."""

PROGRESS_RATE = 0.25
"""If a minimisation leaves h above this share of its previous value, rho is increased."""
RHO_FACTOR = 10.0
"""Factor by which rho is increased."""
TOO_FAR = 1e100
"""Value for L-BFGS-B where the exponential overflows: its line search then shortens the step."""
TIE, TIE_BREAK = 1e-3, 0.01
"""Two directions whose weights differ by no more than the first share are equally good. The search would stay
between them and lose the edge; so the weight from the later to the earlier variable is reduced by the
second share before the next minimisation. This changes where the minimisation starts, not its objective."""

STAGES = ((1.0, 1.0), (0.1, 0.9), (0.01, 0.8), (0.001, 0.7), (0.0001, 0.6))
"""DAGMA's central path: mu and s of each stage."""
STEP_OF_S = 0.1
"""Increase of s where h is not defined at the start of a stage."""
STEPS, LAST_STEPS = 30_000, 60_000
"""Largest number of steps of each stage, and of the last."""
CHECK_EVERY, CHANGE = 1_000, 1e-6
"""A stage ends when its objective changes by less than the second, as a share, over the first, in steps."""
ROUNDING = 1e-12
"""Entries of an inverse that are below 0 by no more than this share of the largest are treated as 0."""
RATE, LEAST_RATE = 3e-4, 1e-12
BETA_1, BETA_2, EPSILON = 0.99, 0.999, 1e-8
"""Adam's constants."""


def least_squares(weights: Floats, covariance: Floats) -> tuple[float, Floats]:
    """Return the loss and its gradient.

    Examples
    --------
    >>> least_squares(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [2.0, 5.0]]))[0]
    1.0
    """
    # With R = W - I the loss is trace(R' S R) / 2, and S R is its gradient: one product serves both.
    residual = weights - np.eye(len(weights))
    gradient = covariance @ residual
    return 0.5 * float(np.vdot(residual, gradient)), gradient


def trace_exponential(weights: Floats) -> tuple[float, Floats]:
    """Return NOTEARS' h and its gradient; h is infinite where it cannot be computed.

    Examples
    --------
    >>> trace_exponential(np.array([[0.0, 2.0], [0.0, 0.0]]))[0]
    0.0
    """
    from scipy.linalg import expm

    with np.errstate(all="ignore"):
        exponential = expm(weights * weights)
        gradient = 2 * weights * exponential.T
        h = float(np.trace(exponential)) - len(weights)
    if not (np.isfinite(h) and np.isfinite(gradient).all()):
        return np.inf, np.zeros_like(weights)
    return h, gradient


def log_determinant(weights: Floats, s: float) -> tuple[float, Floats] | None:
    """Return DAGMA's h and its gradient, or None where it is not defined.

    It is defined where s I - W * W is an *M-matrix*: where its inverse exists and has no negative entry.

    Examples
    --------
    >>> log_determinant(np.array([[0.0, 2.0], [0.0, 0.0]]), 1.0)[0]
    0.0
    >>> log_determinant(np.array([[0.0, 2.0], [2.0, 0.0]]), 1.0) is None
    True
    """
    slope = _slope_of_determinant(weights, s)
    if slope is None:
        return None
    log_det = float(np.linalg.slogdet(s * np.eye(len(weights)) - weights * weights)[1])
    return len(weights) * float(np.log(s)) - log_det, slope


def _slope_of_determinant(weights: Floats, s: float) -> Floats | None:
    """Return the gradient of DAGMA's h, or None where h is not defined."""
    # The gradient needs the inverse anyway, and its signs tell whether this is an M-matrix. Written as `not
    # >=` so that a matrix with NaN is refused as well.
    try:
        inverse = np.linalg.inv(s * np.eye(len(weights)) - weights * weights)
    except np.linalg.LinAlgError:
        return None
    if not inverse.min() >= -ROUNDING * inverse.max():
        return None
    return np.asarray(2 * weights * inverse.T)


def notears(
    covariance: Floats,
    *,
    lambda1: float,
    max_iter: int,
    h_tol: float,
    rho_max: float,
    watch: Watch,
    allowed: Mask | None = None,
) -> Floats:
    """Minimise by NOTEARS; return weights that are acyclic only up to small values.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Covariance of the variables.
    lambda1 : float
        Penalty for each unit of absolute weight.
    max_iter : int
        Largest number of steps of the multiplier.
    h_tol : float
        The search ends when h is at most this.
    rho_max : float
        The search ends when rho is at least this.
    watch : function
        Called after every step of L-BFGS-B.
    """
    search = _Lagrangian(covariance, lambda1, watch, possible(covariance, allowed))
    weights = np.zeros_like(covariance)
    rho, alpha, h = 1.0, 0.0, np.inf
    # Method of multipliers. Each rho starts from the weights of the last accepted step, not from those of a
    # rho that was too small.
    for _ in range(max_iter):
        while rho < rho_max:
            found, found_h = search.minimise(weights, rho, alpha)
            if found_h <= PROGRESS_RATE * h:
                break
            rho *= RHO_FACTOR
        weights, h = found, found_h
        alpha += rho * h
        search.share_done = min(1.0, max(0.0, float(np.log(max(h, h_tol)) / np.log(h_tol))))
        if h <= h_tol or rho >= rho_max:
            break
    return weights


def possible(covariance: Floats, allowed: Mask | None) -> Mask:
    """Return which weights may differ from 0: those allowed, but no variable is its own parent."""
    others = ~np.eye(len(covariance), dtype=np.bool_)
    return others if allowed is None else others & allowed


def without_ties(weights: Floats) -> Floats:
    """Break ties between the two directions of an edge in favour of the earlier variable as the parent.

    Examples
    --------
    >>> without_ties(np.array([[0.0, 0.5], [-0.5, 0.0]])).tolist()
    [[0.0, 0.5], [-0.495, 0.0]]
    """
    size = np.abs(weights)
    tied = np.tril(np.abs(size - size.T) <= TIE * size, -1)
    return np.where(tied, (1 - TIE_BREAK) * weights, weights)


class _Lagrangian:
    """Augmented Lagrangian as a function of the positive and the negative part of W.

    W = P - N with P and N at least 0, so that sum |W| becomes sum P + sum N, which is smooth. Without a
    penalty (lambda1 = 0) parts are not needed, and both could grow together without bound: then it is a
    function of W.

    A *point* is a flat array: P and then N, d * d numbers each, or W alone. `signs`, (2, 1, 1) or (1, 1, 1),
    turn parts into W; `bounds` has a pair for each number, and holds the diagonal at 0.
    """

    def __init__(self, covariance: Floats, lambda1: float, watch: Watch, allowed: Mask) -> None:
        self.covariance = covariance
        self.lambda1 = lambda1
        self.watch = watch
        self.signs = np.array([1.0, -1.0] if lambda1 else [1.0])[:, None, None]
        most = np.where(allowed, np.inf, 0.0).ravel()
        self.bounds = [(0.0 if lambda1 else -end, end) for end in most] * len(self.signs)
        self.share_done = 0.0

    def minimise(self, weights: Floats, rho: float, alpha: float) -> tuple[Floats, float]:
        """Minimise for one rho and alpha, starting at `weights`; return the minimum and its h."""
        from scipy.optimize import minimize

        def lagrangian(point: Floats) -> tuple[float, Floats]:
            weights = self._weights(point)
            loss, gradient = least_squares(weights, self.covariance)
            h, slope = trace_exponential(weights)
            # Where h is infinite its gradient is left out: rho times infinity times zero would be NaN.
            value = loss + (0.5 * rho * h + alpha) * h + self.lambda1 * float(point.sum())
            if value < TOO_FAR:
                gradient = gradient + (rho * h + alpha) * slope
            return min(value, TOO_FAR), (self.signs * gradient + self.lambda1).ravel()

        start = self.signs * without_ties(weights)
        result = minimize(
            lagrangian,
            (np.maximum(start, 0.0) if self.lambda1 else start).ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=self.bounds,
            callback=lambda point: self.watch(self._weights(point), self.share_done),
        )
        found = self._weights(result.x)
        return found, trace_exponential(found)[0]

    def _weights(self, point: Floats) -> Floats:
        parts = point.reshape(-1, *self.covariance.shape)
        return np.asarray((self.signs * parts).sum(axis=0))


def dagma(covariance: Floats, *, lambda1: float, watch: Watch, allowed: Mask | None = None) -> Floats:
    """Minimise by DAGMA, with its authors' settings; return weights that are acyclic only up to small values.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Covariance of the variables.
    lambda1 : float
        Penalty for each unit of absolute weight.
    watch : function
        Called after every step of Adam.
    """
    weights, edges = np.zeros_like(covariance), possible(covariance, allowed)
    for number, (mu, s) in enumerate(STAGES):
        most = LAST_STEPS if number == len(STAGES) - 1 else STEPS
        share = number / len(STAGES)
        while log_determinant(weights, s) is None:
            s += STEP_OF_S  # the last minimum still has cycles too strong for this s; it was below 1
        stage = _Stage(covariance, lambda1, mu, s, lambda found: watch(found, share), edges)  # noqa: B023
        weights = stage.minimise(without_ties(weights), most)
    return weights


class _Stage:
    """One stage of the central path: minimise mu times the objective + h, by Adam."""

    def __init__(
        self,
        covariance: Floats,
        lambda1: float,
        mu: float,
        s: float,
        watch: Callable[[Floats], None],
        allowed: Mask,
    ) -> None:
        self.covariance = covariance
        self.lambda1 = lambda1
        self.mu = mu
        self.s = s
        self.watch = watch
        self.allowed = allowed

    def value(self, weights: Floats) -> float:
        """Return the objective of the stage; infinite where h is not defined."""
        defined = log_determinant(weights, self.s)
        loss, _ = least_squares(weights, self.covariance)
        h = np.inf if defined is None else defined[0]
        return self.mu * (loss + self.lambda1 * float(np.abs(weights).sum())) + h

    def gradient(self, weights: Floats) -> Floats | None:
        """Return the gradient of the objective, or None where h is not defined."""
        slope = _slope_of_determinant(weights, self.s)
        if slope is None:
            return None
        gradient = self.covariance @ weights - self.covariance + self.lambda1 * np.sign(weights)
        gradient = self.mu * gradient + slope
        return np.where(self.allowed, gradient, 0.0)

    def minimise(self, weights: Floats, most: int) -> Floats:
        """Descend from `weights`; a step to where h is not defined is halved, and so are all after it."""
        # Beyond the boundary of the domain h says nothing about the way back, so `step` is kept: half of it
        # is taken back, as often as needed. Such retreats are not counted as steps.
        rate, before, steps = RATE, np.inf, 0
        mean, square, step = (np.zeros_like(weights) for _ in range(3))
        while steps < most:
            gradient = self.gradient(weights)
            if gradient is None:
                weights, rate = weights + 0.5 * rate * step, 0.5 * rate
                if rate < LEAST_RATE:
                    break
                continue
            if steps % CHECK_EVERY == 0:
                value = self.value(weights)
                if abs(before - value) <= CHANGE * abs(before) < np.inf:
                    break
                before = value
            steps += 1
            mean = BETA_1 * mean + (1 - BETA_1) * gradient
            square = BETA_2 * square + (1 - BETA_2) * gradient * gradient
            first, second = mean / (1 - BETA_1**steps), square / (1 - BETA_2**steps)
            step = first / (np.sqrt(second) + EPSILON)
            weights = weights - rate * step
            self.watch(weights)
        return weights
