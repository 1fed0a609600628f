"""Search over orders with any score of families, requested in batches and cached.

The moves are those of `_kernels.py`, and so are the draws: with a Gaussian score both find the same graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._deadline import Deadline
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.search.growing import LEAST_GAIN, Found
from f2sl.search.orders import following
from f2sl.search.orders._kernels import draw
from f2sl.search.orders.parent_sets import RELATIVE_TOLERANCE
from f2sl.stats.scores.base import FamilyScores

MOST_REMEMBERED = 1 << 25
"""Scores that are remembered, a quarter of a gigabyte; then all are forgotten."""

Parents = tuple[int, ...]


class State(NamedTuple):
    """Order, with the position of each variable and the parents of each in the order of their addition."""

    order: list[int]
    position: list[int]
    parents: list[Parents]

    def copy(self) -> State:
        """Return a copy that can be changed."""
        return State(self.order.copy(), self.position.copy(), self.parents.copy())


def search_families(
    score: FamilyScores,
    orders: Sequence[Integers],
    *,
    edge_cost: float,
    perturbations: Sequence[int],
    moves: int,
    random_state: int = 0,
    max_parents: int | None = None,
    constraints: Constraints | None = None,
    deadline: Deadline | None = None,
) -> Found:
    """Search as :func:`~f2sl.search.growing.numbers.search_numbers` does, by a bound score."""
    n = len(orders[0])
    rules = constraints or Constraints.none(n)
    search = _Search(score, n, edge_cost, max_parents, rules, deadline or Deadline(None), random_state)
    tops = [search.climb(search.at(following(order, rules))) for order in orders]
    best = state = max(tops, key=search.total)
    with stage("searching orders") as advance:
        for wanted in perturbations:
            for _ in range(wanted):
                if not search.deadline.passed:
                    state = search.perturb(state, moves)
                    advance(1.0 / sum(perturbations))
            state = search.climb(state)
            if search.total(state) > search.total(best) + search.least:
                best = state
    arrows = [(u, v) for v, own in enumerate(best.parents) for u in sorted(own)]
    return Found(np.array(arrows, np.int64).reshape(-1, 2), not search.deadline.passed)


class _Search:
    """Problem of the search, with a cache of scores."""

    def __init__(
        self,
        score: FamilyScores,
        n: int,
        edge_cost: float,
        max_parents: int | None,
        rules: Constraints,
        deadline: Deadline,
        random_state: int,
    ) -> None:
        self._score, self._n, self._cost, self.deadline = score, n, edge_cost, deadline
        self._random = np.array([random_state % 2**31], np.int64)
        everyone = np.arange(n)
        self._allowed = rules.allows(everyone[:, None], everyone)
        np.fill_diagonal(self._allowed, False)
        self._required = {(u, v) for u, v in rules.required.tolist()}
        self._most = n if max_parents is None else max_parents
        self._values: dict[tuple[int, frozenset[int]], float] = {}
        self._added: dict[tuple[int, frozenset[int]], Floats] = {}
        empty = score.score_all(everyone, np.empty((n, 0), np.int64))
        self._values = {(v, frozenset()): float(empty[v]) for v in range(n)}
        self.least = LEAST_GAIN + RELATIVE_TOLERANCE * float(np.abs(empty).max(initial=0.0))

    def value(self, u: int, parents: Parents) -> float:
        """Return the score of a family less the penalty of its edges."""
        key = u, frozenset(parents)
        if key not in self._values:
            found = self._score.score_all(np.array([u]), np.sort([parents]))
            self._values[key] = float(found[0]) - self._cost * len(parents)
        return self._values[key]

    def added(self, u: int, parents: Parents) -> Floats:
        """Return the scores with each variable as one more parent; minus infinity if not allowed."""
        key = u, frozenset(parents)
        if key not in self._added:
            if len(self._added) * self._n > MOST_REMEMBERED:
                self._added.clear()
            scores = np.full(self._n, -np.inf)
            others = np.setdiff1d(np.flatnonzero(self._allowed[:, u]), parents)
            if len(parents) < self._most and len(others):
                sets = np.column_stack([np.tile(np.array(parents, np.int64), (len(others), 1)), others])
                found = self._score.score_all(np.full(len(others), u), np.sort(sets, axis=1))
                scores[others] = found - self._cost * (len(parents) + 1)
                self._values |= {
                    (u, key[1] | {w}): value
                    for w, value in zip(others.tolist(), scores[others].tolist(), strict=True)
                }
            self._added[key] = scores
        return self._added[key]

    def total(self, state: State) -> float:
        """Return the score of all families."""
        return float(sum(self.value(v, own) for v, own in enumerate(state.parents)))

    def at(self, order: Integers) -> State:
        """Find the parents of each variable in an order, beginning with the required ones."""
        position = np.argsort(order).tolist()
        parents: list[Parents] = [()] * self._n
        for u, v in sorted(self._required):
            parents[v] += (u,)
        state = State(order.tolist(), position, parents)
        for v in range(self._n):
            parents[v] = self._fitted(v, parents[v], state)
        return state

    def _fitted(self, u: int, parents: Parents, state: State) -> Parents:
        """Grow and shrink the parents of u until neither gains."""
        before = state.order[: state.position[u]]
        while True:
            least = self.value(u, parents) + self.least
            scores = self.added(u, parents)[before]
            if len(before) and scores.max() > least:
                parents += (before[int(scores.argmax())],)
                continue
            best, shrunk = least, parents
            for i, w in enumerate(parents):
                if (w, u) not in self._required:
                    fewer = parents[:i] + parents[i + 1 :]
                    if (value := self.value(u, fewer)) > best:
                        best, shrunk = value, fewer
            if shrunk is parents:
                return parents
            parents = shrunk

    def _walk(self, v: int, back: bool, most: int, state: State) -> tuple[float, float, int, list[int]]:
        """Move v past others, as the kernel does; return the changed variables as well."""
        order, position, parents = state
        total, best, best_steps = 0.0, 0.0, 0
        changed: list[int] = []
        for step in range(1, most + 1):
            here = position[v]
            there = here - 1 if back else here + 1
            if not 0 <= there < self._n:
                break
            u = order[there]
            first, second = (u, v) if back else (v, u)
            if (first, second) in self._required:
                break
            order[here], order[there] = u, v
            position[u], position[v] = here, there
            if first in parents[second]:
                new = tuple([w for w in parents[second] if w != first])
                total += self._change(second, new, state, changed)
            value = self.value(first, parents[first])
            if self.added(first, parents[first])[second] > value + self.least:
                total += self._change(first, (*parents[first], second), state, changed)
            if total > best + self.least:
                best, best_steps = total, step
        return total, best, best_steps, changed

    def _change(self, u: int, parents: Parents, state: State, changed: list[int]) -> float:
        """Change the parents of u and improve them; return the gain."""
        before = self.value(u, state.parents[u])
        state.parents[u] = self._fitted(u, parents, state)
        if u not in changed:
            changed.append(u)
        return self.value(u, state.parents[u]) - before

    def climb(self, state: State) -> State:
        """Repeat best-insertion moves over all variables until none improves the score."""
        gain = 1.0
        while gain > 0.0 and not self.deadline.passed:
            state, gain = self._climb(state, dict.fromkeys(state.order))
        return state

    def _climb(self, state: State, queue: dict[int, None]) -> tuple[State, float]:
        """Move each variable in the queue to its best position; empty the queue."""
        total, waiting = 0.0, deque(queue)
        while waiting and not self.deadline.passed:
            v = waiting.popleft()
            del queue[v]
            walked = [self._walk(v, back, self._n, state.copy()) for back in (True, False)]
            back = walked[0][1] >= walked[1][1] - self.least
            steps = walked[0 if back else 1][2]
            if steps:
                before = state
                state = state.copy()
                gain, _, _, changed = self._walk(v, back, steps, state)
                total += gain
                for w in _touched(before, state, changed):
                    if w not in queue:
                        queue[w] = None
                        waiting.append(w)
        return state, total

    def perturb(self, state: State, moves: int) -> State:
        """Disturb the order and climb again; returns `state` itself if that lowers the score."""
        total, queue = 0.0, dict[int, None]()
        now = state.copy()
        for _ in range(moves):
            v = draw(self._random, self._n)
            steps = 1 + draw(self._random, self._n)
            before = now.copy()
            gain, _, _, changed = self._walk(v, draw(self._random, 2) == 0, steps, now)
            total += gain
            queue |= dict.fromkeys([v, *_touched(before, now, changed)])
        now, gain = self._climb(now, queue)
        return now if total + gain >= -self.least else state


def _touched(before: State, now: State, changed: list[int]) -> list[int]:
    """List the variables that changed, each followed by its parents now and before."""
    return [w for u in changed for w in (u, *now.parents[u], *before.parents[u])]
