"""Search over orders of Gaussian variables, from one matrix of correlations (`_kernels.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._deadline import Deadline
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.search.growing import LEAST_GAIN, Found
from f2sl.search.orders import following
from f2sl.search.orders.parent_sets import RELATIVE_TOLERANCE
from f2sl.stats.scores.gaussian import GaussianScore
from f2sl.storage.moments import Moments

FIRST_ROOM = 16
"""Initial space for the parents of a variable; doubled as often as needed."""
STEPS_AT_ONCE = 1 << 13
"""Disturbances times variables in one call of the kernel; then progress is shown and Ctrl-C noticed."""


def search_numbers(
    score: GaussianScore,
    moments: Moments,
    orders: Sequence[Integers],
    *,
    edge_cost: float,
    kicks: Sequence[int],
    moves: int,
    seed: int = 0,
    max_parents: int | None = None,
    constraints: Constraints | None = None,
    deadline: Deadline | None = None,
) -> Found:
    """Climb from each of `orders`, and improve the best local optimum by iterated local search.

    Parameters
    ----------
    score : GaussianScore
        Score to maximise.
    moments : Moments
        Without gaps.
    orders : sequence of (n,) int64
        Orders to start from; each lists all variables once.
    edge_cost : float
        Penalty on the score for each edge.
    kicks : sequence of int
        Number of perturbations of the order, in stages that each end with a climb over all variables.
    moves : int
        Random moves in one perturbation.
    seed : int
        Random seed of the moves.
    max_parents : int, optional
        Most parents of a variable.
    constraints : Constraints, optional
        Forbidden and required arcs.
    deadline : Deadline, optional
        When to end, with what was found; the first climb is always finished.
    """
    rules = constraints or Constraints.none(len(moments.variances))
    search = _Search(score, moments, edge_cost, max_parents, rules)
    deadline = deadline or Deadline(None)
    best = max((search.climbed(following(order, rules)) for order in orders), key=lambda top: top[0])
    random, done = np.array([seed % 2**31], np.int64), 0
    search.begin(best[1])
    with stage("searching orders") as advance:
        for wanted in kicks:
            while wanted and not deadline.passed:
                rounds = min(wanted, max(1, STEPS_AT_ONCE // search.n))
                search.kick(rounds, moves, random)
                wanted, done = wanted - rounds, done + rounds
                advance(rounds / sum(kicks))
            best = search.better(best, search.climb())
    return Found(best[2], done == sum(kicks))


Top = tuple[float, Integers, Integers]
"""Score, order and arrows of a local optimum."""


class _Search:
    """State and problem of the search."""

    def __init__(
        self,
        score: GaussianScore,
        moments: Moments,
        edge_cost: float,
        max_parents: int | None,
        rules: Constraints,
    ) -> None:
        from f2sl.search.growing import _kernels

        self._kernels = _kernels
        self.n = n = len(moments.variances)
        everyone = np.arange(n)
        rule = rules.allows(everyone[:, None], everyone).astype(np.int8)
        rule[tuple(rules.required.T)] = _kernels.REQUIRED
        # One parent more than there may be has a score, too, and needs infinitely much to gain.
        sizes = np.arange(n + 1.0)
        form = score.linear_form(sizes, moments.n_rows)
        possible = int(np.isfinite(form.constant).sum()) - 1
        most = min(n - 1, possible, n if max_parents is None else max_parents)
        most = max(most, int((rule == _kernels.REQUIRED).sum(axis=0).max(initial=0)))
        matrix = np.ascontiguousarray(score.matrix(moments.correlations, moments.n_rows))
        least = _least_left(matrix, max(score.tolerance, 1e-15))
        self._problem = _kernels.Problem(
            matrix,
            least,
            float(np.log(least.min(initial=1.0))),
            (form.constant - edge_cost * sizes)[: most + 2],
            form.weight[: most + 2],
            form.share,
            score.tolerance,
            rule,
            LEAST_GAIN + RELATIVE_TOLERANCE * float(form.weight[0]),
        )
        self._most = most
        self._allocate(FIRST_ROOM)

    def _allocate(self, room: int) -> None:
        """Enlarge the arrays to this many parents of a variable."""
        n, m = self.n, max(1, min(room, self._most))
        self._families = self._kernels.Families(
            np.zeros((3, n), np.int64),
            np.zeros((3, n, m), np.int64),
            np.zeros((3, n, m, m)),
            np.zeros((3, n, m)),
            np.zeros((3, n, 4)),
        )
        self._room = self._kernels.Room(
            np.zeros((3, n), np.int64),
            np.zeros((3, n), np.int64),
            np.zeros((3, n), np.bool_),
            np.zeros((3, n), np.int64),
            np.zeros(3, np.int64),
            np.zeros((m, n)),
            np.zeros(n),
            np.zeros(n),
            np.zeros(m),
            np.zeros(n, np.int64),
            np.zeros(2, np.int64),
            np.zeros(n, np.bool_),
            np.zeros(1, np.bool_),
        )

    def begin(self, order: Integers) -> None:
        """Begin with an order."""
        self._room.order[0] = order
        self._room.place[0, order] = np.arange(self.n)
        self._kernels.settle_all(self._families, self._problem, self._room)

    def climbed(self, order: Integers) -> Top:
        """Return the local optimum that moves reach from an order."""
        self.begin(order)
        return self.climb()

    def climb(self) -> Top:
        """Repeat best-insertion moves until none improves the score."""
        while True:
            gain = np.inf
            while gain > 0.0:
                room = self._room
                room.queue[:], room.ends[:], room.waiting[:] = room.order[0], (0, self.n), True
                gain = self._kernels.climb(self._families, self._problem, room)
            m = self._families.parents.shape[2]
            if not room.full[0] or m == self._most:
                return float(self._families.figures[0, :, 2].sum()), room.order[0].copy(), self._arrows()
            self._allocate(2 * m)
            self.begin(room.order[0])

    def kick(self, rounds: int, moves: int, random: Integers) -> None:
        """Disturb the order some times, each time followed by moves."""
        self._kernels.kick(rounds, moves, random, self._families, self._problem, self._room)

    def better(self, top: Top, other: Top) -> Top:
        """Return the better of two local optima, the first one unless the other gains."""
        return other if other[0] > top[0] + self._problem.gain else top

    def _arrows(self) -> Integers:
        count, parents = self._families.n_parents[0], self._families.parents[0]
        arrows = [(u, v) for v in range(self.n) for u in sorted(parents[v, : count[v]].tolist())]
        return np.array(arrows, np.int64).reshape(-1, 2)


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
