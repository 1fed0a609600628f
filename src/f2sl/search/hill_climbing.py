"""Hill climbing: the DAG with the best score, one edge at a time.

From the empty graph or another to start with, each step adds, deletes or reverses the one edge that raises
the score most, among the edges of a skeleton (in either direction). When no step raises it any more the
search goes on with the one that lowers it least, never back to one of the last `tabu_length` graphs, and
ends after `max_stall` steps without a new best.

Scores add up over families (a variable and its parents), so a step changes only the families whose
parents it touches: after each step only those are scored again, and each family only once in a run.

Steps of equal worth (within 1e-11 of the score's size) are taken in a fixed order: adding before
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

RELATIVE_TOLERANCE = 1e-11


class Families(Protocol):
    """Whatever scores families: :class:`~f2sl.stats.scores.base.FamilyScores`, for one."""

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents in ascending order)."""


class AtMost:
    """Scores as others do, but families of more than so many parents are out of the question."""

    def __init__(self, families: Families, max_indegree: int) -> None:
        self.families = families
        self.max_indegree = max_indegree

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families; those with too many parents have minus infinity."""
        allowed = np.array([len(parents) <= self.max_indegree for _, parents in families], np.bool_)
        scores = np.full(len(families), -np.inf)
        scores[allowed] = self.families.score(
            [family for family, may in zip(families, allowed, strict=True) if may]
        )
        return scores


@dataclass(frozen=True)
class Climbed:
    """The best DAG found: its arrows as rows (from, to), its score, and how many steps were made."""

    arrows: Integers
    score: float
    steps: int


def hill_climb(
    family_score: Families,
    n: int,
    edges: Integers,
    *,
    edge_log_prior: float = 0.0,
    tabu_length: int = 100,
    max_stall: int = 15,
    start: Integers | None = None,
    on_step: Callable[[int, float], None] | None = None,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Climbed:
    """Climb over variables 0 to n - 1, using only `edges` (rows of two variables).

    `edge_log_prior` is added to the score for each edge of the graph. `start` has the arrows (from, to) of
    the DAG to begin with, all of them among `edges`; by default there are none. `may_go_on` is asked before
    each step.
    """
    state = _State(family_score, n, edges, edge_log_prior, edges[:0] if start is None else start)
    best_score, best_present = state.score, state.present.copy()
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


def _score_of(family_score: Families, n: int, arrows: Integers, edge_log_prior: float) -> float:
    """Score a whole graph, its families added up exactly (no drift from step to step)."""
    parents: list[list[int]] = [[] for _ in range(n)]
    for u, v in arrows.tolist():
        parents[v].append(u)
    families = family_score.score([(v, tuple(sorted(parents[v]))) for v in range(n)])
    return float(families.sum() + edge_log_prior * len(arrows))


ADD, DELETE, REVERSE = 0, 1, 2


class _State:
    """A DAG during the climb, with what each possible step would change.

    An *arc* is a candidate edge in one direction; arcs are numbered by (from, to). `gain[arc]` is
    what its target's family gains by toggling it: by adding it where it is absent, by
    deleting it where it is present. A reversal is a deletion and an addition in two different families.
    `adding[arc]` is what adding an arc would gain in all, kept up from step to step because so many arcs
    are absent; it is minus infinity where the edge is there, in either direction, and where adding it is
    known to close a cycle: no later addition undoes that, though taking an edge away may.
    """

    def __init__(
        self, family_score: Families, n: int, edges: Integers, edge_log_prior: float, start: Integers
    ) -> None:
        self.family_score = family_score
        self.prior = edge_log_prior
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
        self.into: list[list[int]] = [[] for _ in range(n)]
        for arc, v in enumerate(self.arcs[:, 1].tolist()):
            self.into[v].append(arc)
        self.sources: list[int] = self.arcs[:, 0].tolist()
        self.closing = np.zeros(2 * m, np.bool_)
        self.gain: Floats = np.zeros(2 * m)
        self.adding: Floats = np.zeros(2 * m)
        for arc in np.searchsorted(self.arcs @ [n, 1], start @ [n, 1]).tolist():
            u, v = self.arcs[arc].tolist()
            self._link(u, v, arc)
            self.signature |= 1 << arc
        families = [(v, tuple(sorted(parents))) for v, parents in enumerate(self.parents)]
        self.score = float(family_score.score(families).sum()) + edge_log_prior * len(start)
        self.tolerance = max(1.0, abs(self.score)) * RELATIVE_TOLERANCE
        self._measure(range(n))

    def _measure(self, variables: Iterable[int]) -> None:
        """Score again what toggling each arc into these variables would gain."""
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
        """Bring `adding` up to date for some arcs."""
        barred = self.present[arcs] | self.present[self.opposite[arcs]] | self.closing[arcs]
        self.adding[arcs] = np.where(barred, -np.inf, self.gain[arcs] + self.prior)

    def best_move(self, forbidden: Container[int]) -> tuple[int, int] | None:
        """Find the best legal step that leads to none of the `forbidden` graphs: its kind and arc."""
        if not len(self.gain):
            return None
        there = np.flatnonzero(self.present)
        worth = [
            self.adding,
            self.gain[there] - self.prior,
            self.gain[there] + self.gain[self.opposite[there]],
        ]
        passed_over: list[int] = []
        move: tuple[int, int] | None = None
        while True:
            tops = [part.max(initial=-np.inf) for part in worth]
            floor = max(tops) - self.tolerance
            if floor == -np.inf:
                break
            kind = next(kind for kind, top in enumerate(tops) if top >= floor)
            place = int(np.argmax(worth[kind] >= floor))
            arc = place if kind == ADD else int(there[place])
            if self._signature_after(kind, arc) in forbidden:
                if kind == ADD:
                    passed_over.append(arc)
            elif self._legal(kind, arc):
                move = kind, arc
                break
            elif kind == ADD:
                self.closing[arc] = True
            worth[kind][place] = -np.inf
        if passed_over:
            self._weigh(np.array(passed_over))
        return move

    def _signature_after(self, kind: int, arc: int) -> int:
        """Give the graph after a step as one number: bit i stands for arc i."""
        signature = self.signature ^ (1 << arc)
        return signature ^ (1 << int(self.opposite[arc])) if kind == REVERSE else signature

    def _legal(self, kind: int, arc: int) -> bool:
        """Say whether a step leaves the graph without directed cycles."""
        u, v = self.arcs[arc].tolist()
        if kind == ADD:
            return not self._leads(v, u, None)
        return kind == DELETE or not self._leads(u, v, v)

    def _leads(self, start: int, end: int, not_straight_to: int | None) -> bool:
        """Say whether a directed path leads from `start` to `end`, without its first step being forbidden."""
        if not self.parents[end] or not self.children[start]:
            return False
        todo = [child for child in self.children[start] if child != not_straight_to]
        seen = set(todo)
        while todo:
            node = todo.pop()
            if node == end:
                return True
            for child in self.children[node]:
                if child not in seen:
                    seen.add(child)
                    todo.append(child)
        return False

    def make(self, kind: int, arc: int) -> None:
        """Make a step."""
        u, v = self.arcs[arc].tolist()
        back = int(self.opposite[arc])
        self.signature = self._signature_after(kind, arc)
        self.score += float(self.gain[arc])
        if kind == ADD:
            self.score += self.prior
            self._link(u, v, arc)
            self.adding[back] = -np.inf
        else:
            self.closing[:] = False
            self.present[arc] = False
            self.parents[v].discard(u)
            self.children[u].discard(v)
            if kind == REVERSE:
                self.score += float(self.gain[back])
                self._link(v, u, back)
            else:
                self.score -= self.prior
        self._measure((v, u) if kind == REVERSE else (v,))
        if kind != ADD:
            self._weigh(slice(None))

    def _link(self, u: int, v: int, arc: int) -> None:
        self.present[arc] = True
        self.parents[v].add(u)
        self.children[u].add(v)
