"""Search for the DAG with the best score by hill climbing, one edge at a time.

From the empty graph or a given one, each step adds, deletes or reverses the one edge that raises the score
most, among the edges of a skeleton (in either direction). When no step raises it, the search continues with
the step that lowers it least, but never returns to one of the last `tabu_length` graphs. It ends after
`max_stall` steps without improvement.

Scores add up over families (a variable and its parents), so a step changes only the families whose
parents it touches: after each step only those are scored again, and each family only once in a run.

Steps of equal gain (within 1e-11 of the score's size) are taken in a fixed order: adding before
deleting before reversing, then by the names of the edge's ends. So where the score cannot tell two
directions apart, an edge points from the earlier name to the later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.constraints import Constraints
from f2sl.search.admissible import Admissible

RELATIVE_TOLERANCE = 1e-11
"""Relative tolerance within which two gains are equal."""

TABU_LENGTH, MAX_STALL = 100, 15
"""Number of recent graphs not to return to, and of steps without improvement, by default."""


class Families(Protocol):
    """Object that scores families, such as :class:`~f2sl.stats.scores.base.FamilyScores`."""

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents in ascending order)."""


@dataclass(frozen=True)
class Climbed:
    """Best DAG found: its arrows as rows (from, to), its score, and the number of steps made."""

    arrows: Integers
    score: float
    steps: int


def hill_climb(
    family_score: Families,
    n: int,
    edges: Integers,
    *,
    edge_log_prior: float = 0.0,
    tabu_length: int = TABU_LENGTH,
    max_stall: int = MAX_STALL,
    start: Integers | None = None,
    constraints: Constraints | None = None,
    on_step: Callable[[int, float], None] | None = None,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Climbed:
    """Climb to a DAG over variables 0 to n - 1, using only the given edges.

    Parameters
    ----------
    family_score : Families
        Scores of families.
    n : int
        Number of variables.
    edges : (m, 2) int64
        Edges that the graph may have, in either direction; each once.
    edge_log_prior : float
        Added to the score for each edge of the graph.
    tabu_length : int
        Number of recent graphs that are not visited again; 0 for no such list.
    max_stall : int
        Number of steps without a new best after which the search ends.
    start : (s, 2) int64, optional
        Arrows (from, to) of the DAG to begin with, all of them among `edges`; none by default.
    constraints : Constraints, optional
        Forbidden arcs are never added. Required arcs are among the graph's from the beginning, whether they
        are among `edges` or not, and are neither deleted nor reversed.
    on_step : callable, optional
        Called with the number of steps and the score after each step.
    may_go_on : callable
        Asked before each step whether to make it.
    """
    begin = edges[:0] if start is None else start
    if constraints:
        family_score = Admissible(family_score, constraints=constraints)
        edges, begin = _constrained(edges, begin, constraints)
    state = _State(family_score, n, edges, edge_log_prior, begin)
    best_score, best_present = state.score, state.present.copy()
    # The queue knows which graph leaves the tabu list next, the set finds a graph at once. A graph is there
    # only once, since no forbidden graph is visited.
    recent: deque[int] = deque([state.signature])
    forbidden: set[int] = set(recent if tabu_length else ())
    steps = stalled = 0
    while stalled < max_stall and may_go_on():
        move = state.best_move(forbidden)
        if move is None:
            break
        state.make(*move)
        if tabu_length:
            recent.append(state.signature)
            forbidden.add(state.signature)
            if len(recent) > tabu_length:
                forbidden.remove(recent.popleft())
        steps += 1
        if state.score > best_score + state.tolerance:
            best_score, best_present = state.score, state.present.copy()
            stalled = 0
        else:
            stalled += 1
        if on_step is not None:
            on_step(steps, state.score)
    arrows = state.arcs[best_present]
    return Climbed(arrows, _score_of(family_score, n, arrows, edge_log_prior), steps)


def _constrained(edges: Integers, start: Integers, constraints: Constraints) -> tuple[Integers, Integers]:
    """Add the required arcs to the edges and to the start, and remove what contradicts the constraints.

    Arrows of the start that would close a cycle with the required ones are dropped, in their order.
    """
    from f2sl.graph.cycle_guard import CycleGuard

    required = constraints.required
    links = np.concatenate([edges, np.sort(required, axis=1)])
    links = np.unique(np.sort(links, axis=1), axis=0)
    links = links[constraints.allows_link(links[:, 0], links[:, 1])]
    guard = CycleGuard(constraints.n, required, n_edges=len(links))
    others = start[
        constraints.allows(start[:, 0], start[:, 1]) & ~constraints.requires(start[:, 0], start[:, 1])
    ]
    kept = [(u, v) for u, v in others.tolist() if guard.add(u, v)]
    return links, np.concatenate([required, np.array(kept, np.int64).reshape(-1, 2)])


def _score_of(family_score: Families, n: int, arrows: Integers, edge_log_prior: float) -> float:
    """Score a whole graph again, so that rounding errors of single steps do not add up."""
    parents: list[list[int]] = [[] for _ in range(n)]
    for u, v in arrows.tolist():
        parents[v].append(u)
    families = family_score.score([(v, tuple(sorted(parents[v]))) for v in range(n)])
    return float(families.sum() + edge_log_prior * len(arrows))


ADD, DELETE, REVERSE = 0, 1, 2
"""Kinds of steps, in the order in which equals are taken."""


class _State:
    """DAG during the climb, with the gain of each possible step.

    An *arc* is a candidate edge in one direction. The 2 m arcs are sorted by (from, to), so that the first of
    several equals is also the first by name. All arrays have one entry for each arc, and are kept up to date
    by every step:

    arcs : (2 m, 2) int64
        Rows (from, to).
    opposite : int64
        Number of the same edge in the other direction.
    present : bool
        True for arcs in the graph.
    gain : float64
        Gain of the family of the arc's head by toggling it: by adding it where it is absent, by deleting
        it where it is present. A reversal is a deletion and an addition in two different families.
    closing : bool
        True for arcs that are known to close a cycle. No later addition undoes that, but a deletion or a
        reversal may; then all marks are cleared.
    adding : float64
        Gain of adding the arc, with the prior. Minus infinity where the edge is there, in either direction,
        and where `closing`. Kept from step to step, because most arcs are absent and few change.

    `signature` is the graph as one integer with a bit for each arc. `parents`, `children` and `into` (the
    arcs into each variable) are lists by variable.
    """

    def __init__(
        self, family_score: Families, n: int, edges: Integers, edge_log_prior: float, start: Integers
    ) -> None:
        self.family_score = family_score
        self.prior = edge_log_prior
        # Before sorting, arc i and arc i + m are the two directions of edge i; `place` follows both.
        arcs = np.concatenate([edges, edges[:, ::-1]]).reshape(-1, 2)
        order = np.lexsort((arcs[:, 1], arcs[:, 0]))
        self.arcs: Integers = arcs[order]
        m = len(edges)
        place = np.empty(2 * m, np.int64)
        place[order] = np.arange(2 * m)
        self.opposite: Integers = place[(order + m) % (2 * m)] if m else place
        self.present = np.zeros(2 * m, np.bool_)
        self.signature = 0
        self.parents: list[set[int]] = [set() for _ in range(n)]
        self.children: list[set[int]] = [set() for _ in range(n)]
        self.descendants: list[int] | None = None  # computed when asked for; additions keep it up to date
        self.into: list[list[int]] = [[] for _ in range(n)]
        for arc, v in enumerate(self.arcs[:, 1].tolist()):
            self.into[v].append(arc)
        self.sources: list[int] = self.arcs[:, 0].tolist()
        self.closing = np.zeros(2 * m, np.bool_)
        self.gain: Floats = np.zeros(2 * m)
        self.adding: Floats = np.zeros(2 * m)
        # Arcs are sorted by (from, to), hence by from * n + to: those of `start` are found by bisection.
        for arc in np.searchsorted(self.arcs @ [n, 1], start @ [n, 1]).tolist():
            u, v = self.arcs[arc].tolist()
            self._link(u, v, arc)
            self.signature |= 1 << arc
        families = [(v, tuple(sorted(parents))) for v, parents in enumerate(self.parents)]
        self.score = float(family_score.score(families).sum()) + edge_log_prior * len(start)
        self.tolerance = max(1.0, abs(self.score)) * RELATIVE_TOLERANCE
        self._measure(range(n))

    def _measure(self, variables: Iterable[int]) -> None:
        """Compute again the gains of toggling each arc into these variables, in one batch of families."""
        # families[i] is the family after toggling arcs[i], and current[own[i]] the same variable's family as
        # it is. All go out in one batch, in which each current family comes once.
        arcs: list[int] = []
        families: list[tuple[int, tuple[int, ...]]] = []
        own: list[int] = []
        current: list[tuple[int, tuple[int, ...]]] = []
        for v in variables:
            if not self.into[v]:
                continue
            parents = self.parents[v]
            for arc in self.into[v]:
                families.append((v, tuple(sorted(parents ^ {self.sources[arc]}))))
                own.append(len(current))
            arcs.extend(self.into[v])
            current.append((v, tuple(sorted(parents))))
        if arcs:
            scores = self.family_score.score(families + current)
            self.gain[arcs] = scores[: len(arcs)] - scores[len(arcs) :][own]
            self._weigh(np.array(arcs))

    def _weigh(self, arcs: Integers | slice) -> None:
        """Update `adding` for some arcs."""
        barred = self.present[arcs] | self.present[self.opposite[arcs]] | self.closing[arcs]
        self.adding[arcs] = np.where(barred, -np.inf, self.gain[arcs] + self.prior)

    def best_move(self, forbidden: Container[int]) -> tuple[int, int] | None:
        """Return action and arc of the best legal step to a graph that is not `forbidden`, or None.

        Whether a step closes a cycle is checked only when it is the best one left; steps that fail are set to
        minus infinity, and the next best is tried.
        """
        if not len(self.gain):
            return None
        there = np.flatnonzero(self.present)
        # By action; the first is the array itself: what is struck out because of a cycle stays so, while
        # steps that were only forbidden are restored in the end.
        worth = [
            self.adding,
            self.gain[there] - self.prior,
            self.gain[there] + self.gain[self.opposite[there]],
        ]
        passed_over: list[int] = []
        move: tuple[int, int] | None = None
        tops = [part.max(initial=-np.inf) for part in worth]
        while True:
            floor = max(tops) - self.tolerance
            if floor == -np.inf:
                break
            # Of all steps within the tolerance of the best: the first action, then the first arc.
            action = next(action for action, top in enumerate(tops) if top >= floor)
            place = int(np.argmax(worth[action] >= floor))
            arc = place if action == ADD else int(there[place])
            if self._signature_after(action, arc) in forbidden:
                if action == ADD:
                    passed_over.append(arc)
            elif self._legal(action, arc):
                move = action, arc
                break
            elif action == ADD:
                self.closing[arc] = True
            worth[action][place] = -np.inf
            tops[action] = worth[action].max()
        if passed_over:
            self._weigh(np.array(passed_over))
        return move

    def _signature_after(self, action: int, arc: int) -> int:
        """Return the graph after a step as one integer, with bit i for arc i."""
        signature = self.signature ^ (1 << arc)
        return signature ^ (1 << int(self.opposite[arc])) if action == REVERSE else signature

    def _legal(self, action: int, arc: int) -> bool:
        """Return whether a step leaves the graph without directed cycles."""
        u, v = self.arcs[arc].tolist()
        if action == ADD:
            return not self._descendants()[v] >> u & 1
        # Reversing u -> v closes a cycle if another path leads from u to v.
        return action == DELETE or not any(self._descendants()[child] >> v & 1 for child in self.children[u])

    def _descendants(self) -> list[int]:
        """Return the descendants of each variable, as one integer with a bit for each variable."""
        if self.descendants is None:
            # A variable's turn comes when all of its children have had theirs.
            self.descendants = [0] * len(self.children)
            waiting = [len(children) for children in self.children]
            ready = [v for v, number in enumerate(waiting) if not number]
            for v in ready:
                for child in self.children[v]:
                    self.descendants[v] |= self.descendants[child] | 1 << child
                for parent in self.parents[v]:
                    waiting[parent] -= 1
                    if not waiting[parent]:
                        ready.append(parent)
        return self.descendants

    def make(self, action: int, arc: int) -> None:
        """Apply a step and update everything that depends on the graph."""
        u, v = self.arcs[arc].tolist()
        back = int(self.opposite[arc])
        self.signature = self._signature_after(action, arc)
        # A reversal changes two families, whose gains were computed apart, and leaves the number of edges.
        self.score += float(self.gain[arc])
        if action == ADD:
            self.score += self.prior
            self._link(u, v, arc)
            self.adding[back] = -np.inf
        else:
            # With an edge less, arcs that would have closed a cycle may have become legal.
            self.closing[:] = False
            self.present[arc] = False
            self.parents[v].discard(u)
            self.children[u].discard(v)
            self.descendants = None
            if action == REVERSE:
                self.score += float(self.gain[back])
                self._link(v, u, back)
            else:
                self.score -= self.prior
        self._measure((v, u) if action == REVERSE else (v,))
        if action != ADD:
            self._weigh(slice(None))

    def _link(self, u: int, v: int, arc: int) -> None:
        self.present[arc] = True
        self.parents[v].add(u)
        self.children[u].add(v)
        if self.descendants is not None:
            # Whoever has them all already has ancestors that have them, too.
            new, todo = self.descendants[v] | 1 << v, [u]
            while todo:
                node = todo.pop()
                if self.descendants[node] | new != self.descendants[node]:
                    self.descendants[node] |= new
                    todo.extend(self.parents[node])
