"""Search over orders of Gaussian variables, from one matrix of correlations (`_kernels.py`).

A variable is one column of the matrix, or several: the indicators of its states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._deadline import Deadline, checkpoint
from f2sl._progress import stage
from f2sl._threads import interruptibly, one_blas_thread
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
    SCORE,
    FamilyCopies,
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
"""Variables times columns in one call of the kernel that climbs; then progress is shown, Ctrl-C noticed."""
WORK_AT_ONCE = 1 << 27
"""The same for perturbations, as work (`Workspace.work` times columns)."""
WORK_EACH, MOST_WORK = 1 << 24, 1 << 32
"""The work that a perturbation may take in the mean, and all of them, among blocks of columns: on wide tables
of strongly related columns each takes as long as a climb, and fewer are made."""
RIDGE, SURE = 1e-9, 1e-3
"""See `_least_of_blocks`."""
NO_INTEGERS = np.zeros(0, np.int64)


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
        Forbidden and required edges, those of the problem.
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
            left, rounds, begun = wanted, 1, search.work
            most_work = np.inf
            if search.wide is not None:
                most_work = (
                    begun + min(wanted * WORK_EACH, wanted * MOST_WORK // max(1, sum(perturbations))) // width
                )
            with search.kept():
                while left and search.work <= most_work and not search.over:
                    rounds, before = min(left, rounds), search.work
                    search.perturb(rounds, moves, random)
                    left -= rounds
                    advance(rounds / sum(perturbations))
                    # A single perturbation may take a hundredth of the next: so at most twice as many.
                    each = max((search.work - before) / rounds, (search.work - begun) / (wanted - left), 1.0)
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
        widths = np.diff(problem.first)
        self.widest = int(widths.max(initial=1))
        # A variable that is always the same has no column, so that those behind it have other numbers.
        self.wide = problem.first if (widths != 1).any() else None
        self._allocate(FIRST_CAPACITY)

    def _allocate(self, size: int) -> None:
        """Enlarge the arrays to this many parents of a variable."""
        self._size = size
        n, m, w, x = (
            self.n,
            max(1, min(size, self._problem.most_parents)),
            self.widest,
            len(self._problem.matrix),
        )
        # One of `FIRST_CAPACITY` parents is of the widest.
        c = max(1, min(m if self.wide is None else size + size // FIRST_CAPACITY * (w - 1), x))
        self._families = FamilyCopies(
            n_parents=np.zeros((3, n), np.int64),
            n_columns=np.zeros((3, n), np.int64),
            parents=np.zeros((3, n, m), np.int64),
            columns=np.zeros((3, n, c), np.int64),
            factor=np.zeros((3, n, c, c)),
            slopes=np.zeros((3, n, c * w)),
            whitening=np.zeros((3, n, w * w)),
            figures=np.zeros((3, n, 6)),
            version=np.zeros((3, n), np.int64),
        )
        self._workspace = Workspace(
            order=np.zeros((3, n), np.int64),
            position=np.zeros((3, n), np.int64),
            marked=np.zeros((3, n), np.bool_),
            listed=np.zeros((3, n), np.int64),
            n_listed=np.zeros(3, np.int64),
            queue=np.zeros(n, np.int64),
            ends=np.zeros(2, np.int64),
            waiting=np.zeros(n, np.bool_),
            full=np.zeros(1, np.bool_),
            rows=np.zeros((c, x)),
            left=np.zeros((w, x)),
            across=np.zeros((w, x)),
            between=np.zeros((w, w)),
            rest_of=np.zeros((w, w)),
            scratch=np.zeros((w, w + 1)),
            inverse=np.zeros((w, c)),
            taken=np.zeros(n, np.bool_),
            refused=np.zeros((0 if self.wide is None else n, n), np.int64),
            work=np.zeros(2, np.int64),
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
        """Work so far, in products of rows."""
        return int(self._workspace.work[0])

    def _work_on(self, task: int, count: int = 0, moves: int = 0, random: Integers = NO_INTEGERS) -> float:
        return self._kernels.work_on(
            task, count, moves, random, self._families, self._problem, self._workspace, self.wide
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
            if not workspace.full[0] or self._size >= len(problem.matrix):
                return (
                    float(self._families.figures[0, :, SCORE].sum()),
                    workspace.order[0].copy(),
                    self._arrows(),
                )
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
    """Return the problem of a continuous table without missing values: each is one column."""
    n, rule, first = rules.n, _rule(rules), np.arange(rules.n + 1)
    # One parent more than there may be has a score, too, and needs infinitely much to gain.
    form = score.linear_form(first.astype(np.float64), moments.n_rows)
    possible = int(np.isfinite(form.constant).sum()) - 1
    matrix = np.ascontiguousarray(score.matrix(moments.correlations, moments.n_rows))
    least = _least_of_blocks(matrix, first, max(score.tolerance, 1e-15))
    return Problem(
        matrix=matrix,
        diagonal=np.diag(matrix).copy(),
        first=first,
        base=np.zeros(n),
        constant=form.constant - edge_cost * first,
        weight=form.weight,
        share=form.share,
        price=np.zeros((n, n)),
        least_price=np.zeros(n),
        least=least,
        log_least=-2.0 * float(np.log(least.max(initial=1e-300))),
        tolerance=score.tolerance,
        rule=rule,
        gain=LEAST_GAIN + RELATIVE_TOLERANCE * float(form.weight[0]),
        most_parents=_most_parents(min(n - 1, possible), max_parents, rule),
        most_columns=n,
    )


def of_blocks(
    data: MixedEngine | AvailableMoments, edge_cost: float, max_parents: int | None, rules: Constraints
) -> Problem:
    """Return the problem of a table of both kinds, or of continuous columns with missing values, and BIC."""
    from f2sl.stats.scores.mixed import NEVER, alone, prices

    n, rule, n_rows, first = data.n_variables, _rule(rules), data.n_rows, data.embedded.start
    matrix = np.ascontiguousarray(data.embedded.correlations)
    price = prices(data)
    rule[(price >= NEVER * n_rows) & (rule != REQUIRED)] = FORBIDDEN
    price = np.ascontiguousarray(price.T + edge_cost)
    return Problem(
        matrix=matrix,
        diagonal=np.diag(matrix).copy(),
        first=first,
        base=alone(data),
        constant=np.zeros(n + 1),
        weight=np.full(n + 1, 0.5 * n_rows),
        share=0.0,
        price=price,
        least_price=price.min(axis=1),
        least=_least_of_blocks(matrix, first, COLLINEAR),
        log_least=0.0,
        tolerance=COLLINEAR,
        rule=rule,
        gain=LEAST_GAIN + RELATIVE_TOLERANCE * 0.5 * n_rows,
        most_parents=_most_parents(n - 1, max_parents, rule),
        most_columns=n_rows - 1,
    )


def _rule(rules: Constraints) -> NDArray[np.int8]:
    """Return which edges are allowed, (n, n) int8, as the kernels take it."""
    everyone = np.arange(rules.n)
    rule = rules.allows(everyone[:, None], everyone).astype(np.int8)
    rule[tuple(rules.required.T)] = REQUIRED
    return rule


def _most_parents(possible: int, max_parents: int | None, rule: NDArray[np.int8]) -> int:
    """Return the most parents of a variable; required ones always find a place."""
    most = possible if max_parents is None else min(possible, max_parents)
    return max(most, int((rule == REQUIRED).sum(axis=0).max(initial=0)))


def _least_of_blocks(matrix: Floats, start: Integers, floor: float = COLLINEAR) -> Floats:
    """Return the inverse Cholesky factor of a lower bound of what others leave of each block, (n, w * w).

    It saves time and never changes a result. Derived columns are the rule in real tables, so the matrix often
    has no inverse. With `RIDGE` on the diagonal it has, and what others leave of a column is larger by
    `RIDGE` times the sum of the squared coefficients of the others: too little to matter where more than
    `SURE` is left. Elsewhere the bound is the share `floor`.
    """
    widths, units = np.diff(start), np.sqrt(np.diag(matrix))
    found = np.zeros((len(widths), int(widths.max(initial=1)) ** 2))
    with one_blas_thread():
        scaled = np.outer(units, units)
        np.divide(matrix, scaled, out=scaled)
        scaled[np.diag_indices_from(scaled)] += RIDGE
        inverse = interruptibly(np.linalg.inv, scaled)
        for d in np.unique(widths):
            # What is left has the inverse of this part of the inverse.
            alike = np.flatnonzero(widths == d)
            columns = start[alike][:, None] + np.arange(d)
            parts = inverse[columns[:, :, None], columns[:, None, :]]
            values, vectors = np.linalg.eigh((parts + parts.swapaxes(1, 2)) / 2)
            # Below 1 only by rounding: then the matrix has no inverse to speak of.
            left = np.where((values > 0.9) & (values < 0.9 / SURE), 0.9 / np.maximum(values, 0.9), floor)
            factors = np.linalg.cholesky((vectors * left[:, None]) @ vectors.swapaxes(1, 2))
            of_alike = np.linalg.inv(factors) / units[columns][:, None, :]
            found[alike, : d * d] = of_alike.reshape(len(alike), d * d)
    return found
