"""Search for the DAG with the best score by hill climbing, one edge at a time.

From the empty graph or a given one, each step adds, deletes or reverses the one edge that raises the score
most, among the edges of a skeleton (in either direction). When no step raises it, the search continues with
the step that lowers it least, but never returns to one of the last `tabu_length` graphs. It ends after
`max_stall` steps without improvement.

Scores add up over families (a variable and its parents), so a step changes only the families whose
parents it touches: after each step only the changes of those are scored again. A step itself is compiled
(`search/climbing/_kernels.py`). Scores that have a method `gains` compute all gains of a family at once.

Steps of equal gain (within 1e-11 of the score's size) are taken in a fixed order: adding before
deleting before reversing, then by the names of the edge's ends. So where the score cannot tell two
directions apart, an edge points from the earlier name to the later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._deadline import checkpoint, keeping
from f2sl.constraints import Constraints
from f2sl.search.admissible import Admissible
from f2sl.search.climbing import _kernels
from f2sl.search.climbing._kernels import ADD as ADD
from f2sl.search.climbing._kernels import DELETE as DELETE
from f2sl.search.climbing._kernels import REVERSE as REVERSE

RELATIVE_TOLERANCE = 1e-11
"""Relative tolerance within which two gains are equal."""

TABU_LENGTH, MAX_STALL = 100, 15
"""Number of recent graphs not to return to, and of steps without improvement, by default."""


class Families(Protocol):
    """Object that scores families, such as :class:`~f2sl.stats.scores.base.FamilyScores`.

    It may also have the method `gains` of :class:`~f2sl.stats.scores.tables.BDeuOfPlanes`.
    """

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents in ascending order)."""


@dataclass(frozen=True)
class Climbed:
    """Best DAG found: its arrows as rows (from, to), its score, and the number of steps made.

    `losses` has the score that each arrow's deletion would cost its family, infinity for required arrows.
    """

    arrows: Integers
    score: float
    steps: int
    losses: Floats


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
) -> Climbed:
    """Climb to a DAG over variables 0 to n - 1, using only the given edges.

    At the time limit of a fit, or on Ctrl-C in one, it ends with the best graph so far.

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
    """
    begin = edges[:0] if start is None else start
    if constraints:
        family_score = Admissible(family_score, constraints=constraints)
        edges, begin = _constrained(edges, begin, constraints)
    state = _State(family_score, n, edges, edge_log_prior, begin)
    best_score, best = state.score, state.copy()
    steps = stalled = 0
    with keeping("hill climbing was not finished, so with more time the score may be higher"):
        while stalled < max_stall and state.step(tabu_length):
            steps += 1
            if state.score > best_score + state.tolerance:
                best_score, best = state.score, state.copy()
                stalled = 0
            else:
                stalled += 1
            if on_step is not None:
                on_step(steps, state.score)
            checkpoint()
    # The score is added up again, so that rounding errors of single steps do not add up.
    directed_edges, own, losses = best
    return Climbed(
        state.arrows(directed_edges), float(own.sum() + edge_log_prior * len(directed_edges)), steps, losses
    )


def _constrained(edges: Integers, start: Integers, constraints: Constraints) -> tuple[Integers, Integers]:
    """Add the required arcs to the edges and to the start, and remove what contradicts the constraints.

    Arrows of the start that would close a cycle with the required ones are dropped, in their order.
    """
    from f2sl.graph.cycle_guard import CycleGuard

    required = constraints.required
    adjacencies = np.concatenate([edges, np.sort(required, axis=1)])
    adjacencies = np.unique(np.sort(adjacencies, axis=1), axis=0)
    adjacencies = adjacencies[constraints.allows_adjacency(adjacencies[:, 0], adjacencies[:, 1])]
    guard = CycleGuard(constraints.n, required, n_edges=len(adjacencies))
    others = start[
        constraints.allows(start[:, 0], start[:, 1]) & ~constraints.requires(start[:, 0], start[:, 1])
    ]
    kept = [(u, v) for u, v in others.tolist() if guard.add(u, v)]
    return adjacencies, np.concatenate([required, np.array(kept, np.int64).reshape(-1, 2)])


class _State:
    """DAG during the climb: arrays of the compiled steps, and the scores.

    Attributes
    ----------
    score : float
        Score of the graph.
    tolerance : float
        Difference of two gains up to which they are equal.
    """

    def __init__(
        self, family_score: Families, n: int, edges: Integers, edge_log_prior: float, start: Integers
    ) -> None:
        self._family_score = family_score
        self._prior = edge_log_prior
        # Before sorting, arc i and arc i + m are the two directions of edge i; `position` follows both.
        m = len(edges)
        directed_edges = np.concatenate([edges, edges[:, ::-1]]).astype(np.int64).reshape(-1, 2)
        order = np.lexsort((directed_edges[:, 1], directed_edges[:, 0]))
        position = np.empty(2 * m, np.int64)
        position[order] = np.arange(2 * m)
        self._arcs: Integers = directed_edges[order]
        self._own: Floats = np.empty(n)
        sizes = np.bincount(directed_edges[:, 0], minlength=n)
        self._climb = _kernels.Climb(
            start=np.concatenate([[0], np.cumsum(sizes)]),
            others=self._arcs[:, 1].copy(),
            opposite=position[(order + m) % (2 * m)] if m else position,
            present=np.zeros(2 * m, np.bool_),
            gain=np.zeros(2 * m),
            closing=np.zeros(2 * m, np.bool_),
            adding=np.zeros(2 * m),
            top=np.zeros(n),
            children=np.zeros(2 * m, np.int64),
            n_children=np.zeros(n, np.int64),
            struck=np.zeros((2, 2 * m), np.int64),
            hashes=np.random.default_rng(0).integers(2**63, size=2 * m),
            odd=np.zeros(2 * m, np.bool_),
            stack=np.zeros(n, np.int64),
            seen=np.zeros(n + 1, np.int64),
        )
        # The start is the first graph. Its mark may be any number: only differences count.
        self._n_graphs = 1
        self._marks: Integers = np.zeros(64, np.int64)
        self._moves: Integers = np.zeros((64, 2), np.int64)
        # Arcs are sorted by (from, to), hence by from * n + to: those of `start` are found by bisection.
        begun = np.searchsorted(self._arcs @ [n, 1], start @ [n, 1])
        for edge in begun.tolist():
            u = self._arcs[edge, 0]
            self._climb.children[self._climb.start[u] + self._climb.n_children[u]] = edge
            self._climb.n_children[u] += 1
        self._climb.present[self._climb.opposite[begun]] = True
        self._changed: Integers = np.arange(n, dtype=np.int64)
        self._everything = True
        self._measure()
        self.score = float(self._own.sum()) + edge_log_prior * len(start)
        self.tolerance = max(1.0, abs(self.score)) * RELATIVE_TOLERANCE

    def copy(self) -> tuple[Integers, Floats, Floats]:
        """Return the graph's arcs by number, ascending, the scores of the families, and each arc's loss."""
        positions = np.flatnonzero(self._climb.present)
        positions = positions[np.argsort(self._climb.opposite[positions])]
        return self._climb.opposite[positions], self._own.copy(), -self._climb.gain[positions]

    def arrows(self, directed_edges: Integers) -> Integers:
        """Return arcs as rows (from, to)."""
        return self._arcs[directed_edges]

    def step(self, tabu_length: int) -> bool:
        """Make the best legal step to a graph that is not among the last ones; return False if none is left.

        The gains into the variables whose parents the step changes are computed again.
        """
        if self._n_graphs == len(self._marks):
            self._marks = np.concatenate([self._marks, np.zeros_like(self._marks)])
            self._moves = np.concatenate([self._moves, np.zeros_like(self._moves)])
        action, edge = _kernels.step(
            self._climb,
            self._changed,
            self._everything,
            self._prior,
            self.tolerance,
            self._marks,
            self._moves,
            self._n_graphs,
            max(0, self._n_graphs - tabu_length),
        )
        if action == _kernels.NONE:
            return False
        self._n_graphs += 1
        others, gain = self._climb.others, self._climb.gain
        back = self._climb.opposite[edge]
        # A reversal changes two families, whose gains were computed apart, and leaves the number of edges.
        self.score += float(gain[back])
        if action == REVERSE:
            self.score += float(gain[edge])
            self._changed = np.array([others[edge], others[back]])
        else:
            self.score += self._prior if action == ADD else -self._prior
            self._changed = others[edge : edge + 1]
        self._everything = action != ADD
        self._measure()
        return True

    def _measure(self) -> None:
        """Compute the gains of toggling each arc into the variables that changed."""
        climb = self._climb
        asked = self._changed, climb.start, climb.others, climb.present, climb.gain, self._own
        gains = getattr(self._family_score, "gains", None)
        if gains is None or not gains(*asked):
            self._measure_by_scores()

    def _measure_by_scores(self) -> None:
        """Compute the same gains in one batch of families, in which each current family comes once."""
        climb = self._climb
        families: list[tuple[int, tuple[int, ...]]] = []
        current: list[tuple[int, tuple[int, ...]]] = []
        for v in self._changed.tolist():
            part = slice(climb.start[v], climb.start[v + 1])
            parents = set(climb.others[part][climb.present[part]].tolist())
            families.extend((v, tuple(sorted(parents ^ {u}))) for u in climb.others[part].tolist())
            current.append((v, tuple(sorted(parents))))
        scores = self._family_score.score(families + current)
        self._own[self._changed] = scores[len(families) :]
        done = 0
        for v in self._changed.tolist():
            part = slice(climb.start[v], climb.start[v + 1])
            size = part.stop - part.start
            climb.gain[part] = scores[done : done + size] - self._own[v]
            done += size
