"""Search for the DAG with the best score by hill climbing, one edge at a time.

From the empty graph or a given one, each step adds, deletes or reverses the one edge that raises the score
most, among the edges of a skeleton (in either direction). When no step raises it, the search continues with
the step that lowers it least, but never returns to one of the last `tabu_length` graphs. It ends after
`max_stall` steps without improvement.

Scores add up over families (a variable and its parents), so a step changes only the families whose
parents it touches: after each step only the changes of those are scored again. A step itself is compiled
(`search/hill_climbing/_kernels.py`). Scores that have a method `gains` compute all gains of a family at once.

Steps of equal gain (within 1e-11 of the score's size) are taken in a fixed order: adding before
deleting before reversing, then by the names of the edge's ends. So where the score cannot tell two
directions apart, an edge points from the earlier name to the later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._deadline import checkpoint, keeping
from f2sl.constraints import Constraints
from f2sl.search.hill_climbing import _kernels
from f2sl.search.hill_climbing._kernels import ADD as ADD
from f2sl.search.hill_climbing._kernels import DELETE as DELETE
from f2sl.search.hill_climbing._kernels import REVERSE as REVERSE

RELATIVE_TOLERANCE = 1e-11
"""Relative tolerance within which two gains are equal."""

TABU_LENGTH, MAX_STALL = 100, 15
"""Number of recent graphs not to return to, and of steps without improvement, by default."""

Family = tuple[int, tuple[int, ...]]


class FamilyScorer(Protocol):
    """Object that scores families, such as :class:`~f2sl.stats.scores.base.FamilyScores`.

    It may also have the method `gains` of :class:`~f2sl.stats.scores.tables.BDeuOfPlanes`.
    """

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents in ascending order)."""


class Admissible:
    """Scores of families in which families that break a rule score minus infinity.

    Parameters
    ----------
    families : object with the method `score`
        The scores themselves.
    max_parents : int, optional
        Largest number of parents; None for any number.
    constraints : Constraints, optional
        Forbidden and required edges; None for none.
    """

    def __init__(
        self, families: Any, max_parents: int | None = None, constraints: Constraints | None = None
    ) -> None:
        self.families = families
        self.max_parents = max_parents
        self.constraints = constraints
        self._required: dict[int, set[int]] = {}
        if constraints is not None:
            for parent, child in constraints.required.tolist():
                self._required.setdefault(child, set()).add(parent)

    def score(self, families: Sequence[Family]) -> Floats:
        """Score families (child, parents in ascending order); minus infinity if they break a rule."""
        allowed = self._allowed(families)
        scores = np.full(len(families), -np.inf)
        scores[allowed] = self.families.score(
            [family for family, may in zip(families, allowed, strict=True) if may]
        )
        return scores

    def _allowed(self, families: Sequence[Family]) -> Any:
        allowed = np.ones(len(families), np.bool_)
        if self.max_parents is not None:
            allowed &= np.array([len(parents) <= self.max_parents for _, parents in families], np.bool_)
        if self.constraints is not None:
            owner = np.repeat(np.arange(len(families)), [len(parents) for _, parents in families])
            children = np.array([child for child, _ in families], np.int64)
            flat = np.array([parent for _, parents in families for parent in parents], np.int64)
            allowed[owner[~self.constraints.allows(flat, children[owner])]] = False
            for position, (child, parents) in enumerate(families):
                allowed[position] &= self._required.get(child, set()).issubset(parents)
        return allowed


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
    family_score: FamilyScorer,
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
    family_score : FamilyScorer
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
        Forbidden edges are never added. Required edges are among the graph's from the beginning, whether they
        are among `edges` or not, and are neither deleted nor reversed.
    on_step : callable, optional
        Called with the number of steps and the score after each step.
    """
    begin = edges[:0] if start is None else start
    if constraints:
        family_score = Admissible(family_score, constraints=constraints)
        edges, begin = _constrained(edges, begin, constraints)
    state = _State(family_score, n, edges, edge_log_prior, begin, tabu_length)
    best_score, best = state.score, state.copy()
    steps = stalled = 0
    with keeping("hill climbing was not finished, so with more time the score may be higher"):
        while stalled < max_stall and state.step():
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
    """Add the required edges to the edges and to the start, and remove what contradicts the constraints.

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
    tolerance : float
        Difference of two gains up to which they are equal.
    """

    def __init__(
        self,
        family_score: FamilyScorer,
        n: int,
        edges: Integers,
        edge_log_prior: float,
        start: Integers,
        tabu_length: int,
    ) -> None:
        self._family_score = family_score
        self._prior = edge_log_prior
        # Before sorting, arc i and arc i + m are the two directions of edge i; `position` follows both.
        m = len(edges)
        directed_edges = np.concatenate([edges, edges[:, ::-1]]).astype(np.int64).reshape(-1, 2)
        order = np.lexsort((directed_edges[:, 1], directed_edges[:, 0]))
        position = np.empty(2 * m, np.int64)
        position[order] = np.arange(2 * m)
        self._climb = climb = _kernels.Climb(
            start=np.concatenate([[0], np.cumsum(np.bincount(directed_edges[:, 0], minlength=n))]),
            others=directed_edges[order, 1],
            opposite=position[(order + m) % (2 * m)] if m else position,
            present=np.empty(2 * m, np.bool_),
            gain=np.zeros(2 * m),
            closing=np.empty(2 * m, np.bool_),
            adding=np.zeros(2 * m),
            top=np.zeros(n),
            children=np.zeros(2 * m, np.int64),
            n_children=np.empty(n, np.int64),
            struck=np.empty((2, 2 * m), np.int64),
            changed=np.empty(n, np.int64),
            counters=np.empty(3, np.int64),
            score=np.empty(1),
            hashes=np.random.default_rng(0).integers(2**63, size=2 * m),
            marks=np.empty(tabu_length + 1, np.int64),
            moves=np.empty((tabu_length + 1, 2), np.int64),
            odd=np.zeros(2 * m, np.bool_),
            stack=np.zeros(n, np.int64),
            seen=np.zeros(n + 1, np.int64),
        )
        self._own: Floats = np.empty(n)
        _kernels.begin(climb, 0.0)
        # Arcs are sorted by (from, to), hence by from * n + to: those of `start` are found by bisection.
        self._arcs = np.column_stack([np.repeat(np.arange(n), np.diff(climb.start)), climb.others])
        for edge in np.searchsorted(self._arcs @ [n, 1], start @ [n, 1]).tolist():
            u = self._arcs[edge, 0]
            climb.children[climb.start[u] + climb.n_children[u]] = edge
            climb.n_children[u] += 1
            climb.present[climb.opposite[edge]] = True
        self._measure()
        climb.score[0] = float(self._own.sum()) + edge_log_prior * len(start)
        self.tolerance = max(1.0, abs(self.score)) * RELATIVE_TOLERANCE

    @property
    def score(self) -> float:
        """Score of the graph."""
        return float(self._climb.score[0])

    def copy(self) -> tuple[Integers, Floats, Floats]:
        """Return the graph's arcs by number, ascending, the scores of the families, and each arc's loss."""
        positions = np.flatnonzero(self._climb.present)
        positions = positions[np.argsort(self._climb.opposite[positions])]
        return self._climb.opposite[positions], self._own.copy(), -self._climb.gain[positions]

    def arrows(self, directed_edges: Integers) -> Integers:
        """Return arcs as rows (from, to)."""
        return self._arcs[directed_edges]

    def step(self) -> bool:
        """Make the best legal step to a graph that is not among the last ones; return False if none is left.

        The gains into the variables whose parents the step changes are computed again.
        """
        if _kernels.step(self._climb, self._prior, self.tolerance) == _kernels.NONE:
            return False
        self._measure()
        return True

    def _measure(self) -> None:
        """Compute the gains of toggling each arc into the variables that changed."""
        climb = self._climb
        changed = climb.changed[: climb.counters[_kernels.N_CHANGED]]
        asked = changed, climb.start, climb.others, climb.present, climb.gain, self._own
        gains = getattr(self._family_score, "gains", None)
        if gains is None or not gains(*asked):
            self._measure_by_scores(changed)

    def _measure_by_scores(self, changed: Integers) -> None:
        """Compute the same gains in one batch of families, in which each current family comes once."""
        climb = self._climb
        families: list[tuple[int, tuple[int, ...]]] = []
        current: list[tuple[int, tuple[int, ...]]] = []
        for v in changed.tolist():
            part = slice(climb.start[v], climb.start[v + 1])
            parents = set(climb.others[part][climb.present[part]].tolist())
            families.extend((v, tuple(sorted(parents ^ {u}))) for u in climb.others[part].tolist())
            current.append((v, tuple(sorted(parents))))
        scores = self._family_score.score(families + current)
        self._own[changed] = scores[len(families) :]
        done = 0
        for v in changed.tolist():
            part = slice(climb.start[v], climb.start[v + 1])
            size = part.stop - part.start
            climb.gain[part] = scores[done : done + size] - self._own[v]
            done += size
