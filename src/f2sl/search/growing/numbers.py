"""Search over orders of Gaussian variables, from one matrix of correlations (`_kernels.py`).

A variable is one column of the matrix, or several: the indicators of its states (`blocks/_kernels.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._deadline import Deadline, checkpoint
from f2sl._progress import stage
from f2sl._threads import one_blas_thread
from f2sl.constraints import Constraints
from f2sl.data.available import AvailableMoments
from f2sl.data.mixed.engine import MixedEngine
from f2sl.data.moments import Moments
from f2sl.search.growing import LEAST_GAIN, Found
from f2sl.search.growing.state import (
    CLIMB,
    FIT_PARENTS,
    FORBIDDEN,
    PERTURB,
    REQUIRED,
    Blocks,
    Families,
    Problem,
    Workspace,
)
from f2sl.search.orders import following
from f2sl.search.orders.parent_sets import RELATIVE_TOLERANCE
from f2sl.stats.conditioning import COLLINEAR
from f2sl.stats.scores.gaussian import GaussianScore

FIRST_CAPACITY = 16
"""Initial space for the parents of a variable; doubled as often as needed."""
STEPS_AT_ONCE = 1 << 13
"""Perturbations times columns in one call of the kernel; then progress is shown and Ctrl-C noticed."""
WORK_AT_ONCE, WORK_EACH, MOST_WORK = 1 << 27, 1 << 24, 1 << 32
"""The same as work on blocks of columns (`Workspace.work` times columns), and the work that one may take
in the mean, and all together: on wide tables of strongly related columns each takes as long as a climb, and
fewer are made."""
RIDGE, SURE = 1e-9, 1e-3
"""See `_least_of_blocks`."""
_NONE, NO_INTEGERS = np.zeros((0, 0)), np.zeros(0, np.int64)
NO_BLOCKS = Blocks(NO_INTEGERS, NO_INTEGERS, np.zeros(0), 0.0, _NONE, _NONE, 0, 0)


def search_numbers(
    problem: Problem,
    orders: Sequence[Integers],
    *,
    perturbations: Sequence[int],
    moves: int,
    random_state: int = 0,
    constraints: Constraints,
    deadline: Deadline | None = None,
) -> Found:
    """Climb from each of `orders`, and improve the best local optimum by iterated local search.

    Parameters
    ----------
    problem : Problem
        Made by `of_numbers` or `of_blocks`.
    orders : sequence of (n,) int64
        Orders to start from; each lists all variables once.
    perturbations : sequence of int
        Number of perturbations of the order, in stages that each end with a climb over all variables.
    moves : int
        Random moves in one perturbation.
    random_state : int
        Random seed of the moves.
    constraints : Constraints
        Forbidden and required arcs, those of the problem.
    deadline : Deadline, optional
        When to end, with what was found. Ctrl-C ends the search as well, if there is a deadline to tell.
        Without one, nothing is kept: at the current time limit the search raises TimeUp.
    """
    search = _Search(problem, deadline)
    best = max((search.climbed(following(order, constraints)) for order in orders), key=lambda top: top[0])
    random = np.array([random_state % 2**31], np.int64)
    width = len(problem.matrix)
    search.begin(best[1])
    with search.kept(), stage("searching orders") as advance:
        for wanted in perturbations:
            allowed = min(wanted * WORK_EACH, wanted * MOST_WORK // max(1, sum(perturbations)))
            left, begun = wanted, search.work
            most_work = begun + allowed // width
            rounds = 1 if problem.by_blocks else max(1, STEPS_AT_ONCE // width)
            with search.kept():
                while left and search.work <= most_work and not search.over:
                    rounds, before = min(left, rounds), search.work
                    search.perturb(rounds, moves, random)
                    left -= rounds
                    advance(rounds / sum(perturbations))
                    if problem.by_blocks:
                        # A single perturbation may take a hundredth of the next: so at most twice as many.
                        each = max(
                            (search.work - before) / rounds, (search.work - begun) / (wanted - left), 1.0
                        )
                        rounds = min(max(1, int(WORK_AT_ONCE / width / each)), 2 * rounds)
            best = search.better(best, search.climb())
    return Found(best[2], not search.over)


Top = tuple[float, Integers, Integers]
"""Score, order and arrows of a local optimum."""


class _Search:
    """State and problem of the search."""

    def __init__(self, problem: Problem, deadline: Deadline | None) -> None:
        from f2sl.search.growing import _kernels

        self._kernels = _kernels
        self._problem = problem
        self._deadline = deadline or Deadline(None)
        self._keeps = deadline is not None
        self.n = len(problem.rule)
        widths = np.diff(problem.blocks.first) if problem.by_blocks else np.ones(1, np.int64)
        self._widest = int(widths.max(initial=1))
        self._most = problem.blocks.most_parents if problem.by_blocks else len(problem.constant) - 2
        self._allocate(FIRST_CAPACITY)

    def _allocate(self, size: int) -> None:
        """Enlarge the arrays to this many parents of a variable."""
        self._size = size
        n, m, w = self.n, max(1, min(size, self._most)), self._widest
        c, x = m, len(self._problem.matrix)
        if self._problem.by_blocks:
            c = min(
                size + size // FIRST_CAPACITY * (w - 1), x
            )  # one of `FIRST_CAPACITY` parents is of the widest
        else:
            w = 0
        self._families = Families(
            np.zeros((3, n), np.int64),
            np.zeros((3, n, m), np.int64),
            np.zeros((3, n, c, c)),
            np.zeros((3, n, c * max(w, 1))),
            np.zeros((3, n, 4)),
            np.zeros((3, n, w * w)),
            np.zeros((3, n), np.int64),
        )
        self._workspace = Workspace(
            np.zeros((3, n), np.int64),
            np.zeros((3, n), np.int64),
            np.zeros((3, n), np.bool_),
            np.zeros((3, n), np.int64),
            np.zeros(3, np.int64),
            np.zeros((c, x)),
            np.zeros(n),
            np.zeros(n),
            np.zeros(c),
            np.zeros(n, np.int64),
            np.zeros(2, np.int64),
            np.zeros(n, np.bool_),
            np.zeros(1, np.bool_),
            np.zeros((x, w)),
            np.zeros((w, x)),
            np.zeros((w, w)),
            np.zeros((w, w)),
            np.zeros((w, w + 1)),
            np.zeros((w, c)),
            np.zeros(w * w),
            np.zeros((n if w else 0, n), np.int64),
            np.zeros(2, np.int64),
        )

    @property
    def over(self) -> bool:
        """True if the search is to end with what it has."""
        if not self._keeps:
            checkpoint()
        return self._deadline.stopped or self._deadline.passed

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what was found on Ctrl-C, if there is a deadline to tell; kernels leave a valid state."""
        try:
            yield
        except KeyboardInterrupt:
            if not self._keeps:
                raise
            self._deadline.stop("with more time the score may be higher", interrupted=True)

    @property
    def work(self) -> int:
        """Work on blocks of columns so far, in products of rows."""
        return int(self._workspace.work[0])

    def _work_on(self, task: int, count: int = 0, moves: int = 0, random: Integers = NO_INTEGERS) -> float:
        return self._kernels.work_on(
            task, count, moves, random, self._families, self._problem, self._workspace
        )

    def begin(self, order: Integers) -> None:
        """Begin with an order."""
        self._workspace.order[0] = order
        self._workspace.position[0, order] = np.arange(self.n)
        self._work_on(FIT_PARENTS)

    def climbed(self, order: Integers) -> Top:
        """Return the local optimum that moves reach from an order."""
        self.begin(order)
        return self.climb()

    def climb(self) -> Top:
        """Repeat best-insertion moves until none improves the score."""
        problem = self._problem
        at_once = max(1, STEPS_AT_ONCE // len(problem.matrix))
        while True:
            gain = np.inf
            workspace = self._workspace
            with self.kept():
                while gain > 0.0 and not self.over:
                    workspace.queue[:], workspace.ends[:], workspace.waiting[:] = (
                        workspace.order[0],
                        (0, self.n),
                        True,
                    )
                    gain = 0.0
                    while workspace.ends[0] < workspace.ends[1] and not self.over:
                        gain += self._work_on(CLIMB, at_once)
            if not workspace.full[0] or self._size >= (
                len(problem.matrix) if problem.by_blocks else self._most
            ):
                return float(self._families.figures[0, :, 2].sum()), workspace.order[0].copy(), self._arrows()
            self._allocate(2 * self._size)
            self.begin(workspace.order[0])

    def perturb(self, rounds: int, moves: int, random: Integers) -> None:
        """Disturb the order some times, each time followed by moves."""
        self._work_on(PERTURB, rounds, moves, random)

    def better(self, top: Top, other: Top) -> Top:
        """Return the better of two local optima, the first one unless the other gains."""
        return other if other[0] > top[0] + self._problem.gain else top

    def _arrows(self) -> Integers:
        count, parents = self._families.n_parents[0], self._families.parents[0]
        arrows = [(u, v) for v in range(self.n) for u in sorted(parents[v, : count[v]].tolist())]
        return np.array(arrows, np.int64).reshape(-1, 2)


def of_numbers(
    score: GaussianScore, moments: Moments, edge_cost: float, max_parents: int | None, rules: Constraints
) -> Problem:
    """Return the problem of a continuous table without missing values."""
    n, rule = len(moments.variances), _rule(rules)
    # One parent more than there may be has a score, too, and needs infinitely much to gain.
    sizes = np.arange(n + 1.0)
    form = score.linear_form(sizes, moments.n_rows)
    possible = int(np.isfinite(form.constant).sum()) - 1
    most = _most_parents(min(n - 1, possible), max_parents, rule)
    matrix = np.ascontiguousarray(score.matrix(moments.correlations, moments.n_rows))
    least = _least_left(matrix, max(score.tolerance, 1e-15))
    return Problem(
        matrix,
        least,
        float(np.log(least.min(initial=1.0))),
        (form.constant - edge_cost * sizes)[: most + 2],
        form.weight[: most + 2],
        form.share,
        score.tolerance,
        rule,
        LEAST_GAIN + RELATIVE_TOLERANCE * float(form.weight[0]),
        False,
        NO_BLOCKS,
    )


def of_blocks(
    data: MixedEngine | AvailableMoments, edge_cost: float, max_parents: int | None, rules: Constraints
) -> Problem:
    """Return the problem of a table of both kinds, or of numbers with missing values, and BIC."""
    from f2sl.stats.scores.mixed import NEVER, alone, prices

    n, rule, n_rows, start = data.n_variables, _rule(rules), data.n_rows, data.embedded.start
    matrix, price = np.ascontiguousarray(data.embedded.correlations), prices(data)
    rule[(price >= NEVER * n_rows) & (rule != REQUIRED)] = FORBIDDEN
    return Problem(
        matrix,
        *(np.zeros(0), 0.0, np.zeros(0), np.zeros(0), 0.0),
        COLLINEAR,
        rule,
        LEAST_GAIN + RELATIVE_TOLERANCE * 0.5 * n_rows,
        True,
        Blocks(
            start,
            np.repeat(np.arange(n), np.diff(start)),
            alone(data),
            0.5 * n_rows,
            price + edge_cost,
            _least_of_blocks(matrix, start),
            _most_parents(n - 1, max_parents, rule),
            n_rows - 1,
        ),
    )


def _rule(rules: Constraints) -> NDArray[np.int8]:
    """Return which arcs are allowed, (n, n) int8, as the kernels take it."""
    everyone = np.arange(rules.n)
    rule = rules.allows(everyone[:, None], everyone).astype(np.int8)
    rule[tuple(rules.required.T)] = REQUIRED
    return rule


def _most_parents(possible: int, max_parents: int | None, rule: NDArray[np.int8]) -> int:
    """Return the most parents of a variable; required ones always find a place."""
    most = possible if max_parents is None else min(possible, max_parents)
    return max(most, int((rule == REQUIRED).sum(axis=0).max(initial=0)))


def _least_left(matrix: Floats, tolerance: float) -> Floats:
    """Return a lower bound of what any others leave of each variable.

    It saves time and never changes a result: what all others leave, less 1 % for rounding, or `tolerance`
    where the matrix has no inverse to speak of.
    """
    floor = tolerance * np.diag(matrix)
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return floor
    sure = len(matrix) * np.finfo(float).eps * np.abs(matrix).max() * np.abs(inverse).max() < 1e-4
    return np.maximum(floor, 0.99 / np.diag(inverse)) if sure else floor


def _least_of_blocks(matrix: Floats, start: Integers) -> Floats:
    """Return the inverse Cholesky factor of such a bound for each block of columns, (n, w * w).

    Derived columns are the rule in real tables, so the matrix often has no inverse. With `RIDGE` on the
    diagonal it has, and what others leave of a column is larger by `RIDGE` times the sum of the squared
    coefficients of the others: too little to matter where more than `SURE` is left. Elsewhere there is no
    bound.
    """
    widths = np.diff(start)
    found = np.zeros((len(widths), int(widths.max(initial=1)) ** 2))
    with one_blas_thread():
        inverse = np.linalg.inv(matrix + RIDGE * np.eye(len(matrix)))
        for d in np.unique(widths):
            # What is left has the inverse of this part of the inverse.
            alike = np.flatnonzero(widths == d)
            columns = start[alike][:, None] + np.arange(d)
            parts = inverse[columns[:, :, None], columns[:, None, :]]
            values, vectors = np.linalg.eigh((parts + parts.swapaxes(1, 2)) / 2)
            # Below 1 only by rounding: then the matrix has no inverse to speak of.
            left = np.where((values > 0.9) & (values < 0.9 / SURE), 0.9 / np.maximum(values, 0.9), COLLINEAR)
            factors = np.linalg.cholesky((vectors * left[:, None]) @ vectors.swapaxes(1, 2))
            found[alike, : d * d] = np.linalg.inv(factors).reshape(len(alike), d * d)
    return found
