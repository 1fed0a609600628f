"""Search over orders, and score sets of parents on demand that were not scored beforehand.

:mod:`~f2sl.search.orders.parent_sets` extends only the best sets of each size, and only with candidates. With
many rows both leave out what an order needs:

- The best sets of a variable are all sets of its strongest neighbours, among them its children. The sets that
  it needs in an order in which its children come later may be missing, however well they score.
- A true parent may be no candidate: effects along several paths cancel, or it has an effect only together
  with another parent.

So for the order that a search ends with, sets are added in two ways, and the search goes on from there:

*Grown sets* (as in BOSS: Andrews and others 2023). A variable is asked for the parents that it would have at
each place of the order, and at its own place without one of its parents or with one candidate more: in all
orders that are one move away. Each time the best known set that fits gains or loses one member at a time
until neither raises the score. Only variables of which sets were left out are asked.

*New candidates* (as in BiDAG: Kuipers, Suter and Moffa 2022). Given its parents, a variable is independent of
all that are not its descendants. One that raises the score as a further parent, and that a test finds
dependent given the parents, becomes a candidate. The score alone would not do: BDeu links variables that
hardly vary, whether or not they are related.

The score never falls, and each step adds sets or candidates, so that this ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.search.orders import Ordered, search_orders
from f2sl.search.orders.parent_sets import MOST_PARENTS, RELATIVE_TOLERANCE, WIDTH, ParentSets
from f2sl.stats.answers import DEPENDENT, IndependenceTest
from f2sl.stats.scores.base import FamilyScores

MOST_DISTURBED = 1000
"""Variables that count for how often the order is disturbed once sets were added."""

Members = frozenset[int]


class OnDemand:
    """Sets of parents and candidates that grow with the orders that a search ends with.

    Parameters
    ----------
    sets : ParentSets
        Sets that were scored beforehand.
    start, candidates : (n + 1,) and (m,) int64
        The candidates of v are ``candidates[start[v]:start[v + 1]]``, ascending and symmetric.
    score : FamilyScores
        Scores of families.
    edge_log_prior : float
        Added to a score for each parent.
    test : IndependenceTest
        Whether a variable is dependent on another given its parents.
    outside : (m, 2) int64
        Pairs (v, u) that are no candidates of each other; u may become one of v.
    max_parents, constraints
        As for `sets`.
    """

    def __init__(
        self,
        sets: ParentSets,
        start: Integers,
        candidates: Integers,
        *,
        score: FamilyScores,
        edge_log_prior: float,
        test: IndependenceTest,
        outside: Integers,
        max_parents: int | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.sets, self.start, self.candidates = sets, start, candidates
        self.n = n = len(start) - 1
        self._score, self._prior, self._test = score, edge_log_prior, test
        self._rules = constraints or Constraints.none(n)
        self._required = [frozenset(self._rules.required_parents(v).tolist()) for v in range(n)]
        limit = n if max_parents is None else max_parents
        self._limits = np.array([min(limit, MOST_PARENTS + len(required)) for required in self._required])
        self._asked = crowded(sets)
        self._outside = outside[self._rules.allows(outside[:, 1], outside[:, 0])]
        self._gains: Floats = np.full(len(self._outside), -np.inf)
        self._last: list[Members | None] = [None] * n
        self._settled: dict[int, set[Members]] = {}
        self._n_searches = 0
        self.joined = np.empty((0, 2), np.int64)

    def search(self, orders: Sequence[Integers], kicks: int) -> Ordered:
        """Search from some orders, and go on from the best one as long as that brings new sets.

        The order is disturbed `kicks` times for each variable.
        """
        best = self._search(orders, kicks * self.n)
        raised = True
        while True:
            # Grown sets that did not raise the score might be followed by more of them without end.
            grown = raised and self._grow(best.order)
            if not grown and not self._join(best):
                break
            found = self._search([best.order], kicks * min(self.n, MOST_DISTURBED))
            raised = not grown or found.score > best.score + RELATIVE_TOLERANCE * abs(best.score)
            best = better(best, found)
        return best

    def _search(self, orders: Sequence[Integers], kicks: int) -> Ordered:
        self._n_searches += 1
        near = self.start, self.candidates
        return search_orders(
            self.sets, *near, orders, kicks=kicks, constraints=self._rules, seed=self._n_searches
        )

    # -- grown sets --------------------------------------------------------------------

    def _grow(self, order: Integers) -> bool:
        """Add the sets that an order and its neighbours need; return whether there are any."""
        place = np.empty(self.n, np.int64)
        place[order] = np.arange(self.n)
        tasks: list[_Task] = []
        for v in self._asked.tolist():
            required, known = self._required[v], _known(self.sets, v)
            # Who is in no set is no better parent than nobody, alone or with any other.
            near = sorted(frozenset[int]().union(*known) - required, key=place.__getitem__)
            before = sum(place[w] < place[v] for w in near)
            own = _best_of(known, required.union(near[:before]))
            settled = self._settled.setdefault(v, set())
            for allowed in _one_move_away(near, before, own):
                if allowed in settled:
                    continue
                settled.add(allowed)
                begin = _best_of(known, required | allowed)
                # Otherwise the required parents stand behind v: such orders are not searched.
                if required <= begin:
                    tasks.append(
                        _Task(v, required | allowed, required, int(self._limits[v]), begin, known[begin])
                    )
        with stage("scoring sets of parents"):
            _settle(tasks, self._score, self._prior)
        return self._add({(task.v, task.members): task.value for task in tasks if task.changed})

    def _add(self, new: dict[tuple[int, Members], float]) -> bool:
        """Put sets among those of their variables, best first; return whether there are any."""
        if new:
            members = [sorted(own) for _, own in new]
            self.sets = self.sets.with_more(np.array([v for v, _ in new]), members, [*new.values()])
        return bool(new)

    # -- new candidates ----------------------------------------------------------------

    def _join(self, best: Ordered) -> bool:
        """Add candidates that gain as further parents; return whether there are any."""
        parents: list[Members] = [frozenset()] * self.n
        for u, v in best.arrows.tolist():
            parents[v] |= {u}
        with stage("looking for further candidates"):
            self._score_outside(parents)
            hits = self._outside[self._gains > 0.0]
            new: dict[tuple[int, Members], float] = {}
            links: set[tuple[int, int]] = set()
            hits = hits[~_is_below(hits, parents)]
            for v, u in self._dependent(hits, parents):
                family = parents[v] | {u}
                value = self._score.score([(v, tuple(sorted(family)))])[0]
                new[v, family] = float(value) + self._prior * len(family)
                links.add((min(u, v), max(u, v)))
        if links:
            self._link(np.array(sorted(links)))
        return self._add(new)

    def _score_outside(self, parents: list[Members]) -> None:
        """Compute what each pair (v, u) from outside gains if u becomes a parent of v.

        That is known already where v has the parents that it had when this was computed last.
        """
        sizes = np.array([len(own) for own in parents])
        changed = np.array([own != last for own, last in zip(parents, self._last, strict=True)])
        full = sizes >= self._limits
        self._gains[(changed & full)[self._outside[:, 0]]] = -np.inf
        for size in np.unique(sizes[changed & ~full]).tolist():
            owners = np.flatnonzero(changed & ~full & (sizes == size))
            given = np.array([sorted(parents[v]) for v in owners.tolist()], np.int64).reshape(
                len(owners), size
            )
            now = self._score.score_all(owners, given)
            rows = np.flatnonzero(np.isin(self._outside[:, 0], owners))
            v, u = self._outside[rows].T
            at = np.searchsorted(owners, v)
            values = self._score.score_all(v, np.sort(np.column_stack([given[at], u]), axis=1))
            self._gains[rows] = values - now[at] + self._prior
        self._last[:] = parents

    def _dependent(self, pairs: Integers, parents: list[Members]) -> list[tuple[int, int]]:
        """Return the pairs (v, u) that the test finds dependent given the parents of v."""
        sizes = np.array([len(parents[v]) for v in pairs[:, 0].tolist()], np.int64)
        found: list[tuple[int, int]] = []
        for size in np.unique(sizes).tolist():
            asked = pairs[sizes == size]
            given = np.array([sorted(parents[v]) for v in asked[:, 0].tolist()], np.int64)
            answers = self._test.answer(asked[:, 0], asked[:, 1], given.reshape(len(asked), size))
            found += [(v, u) for v, u in asked[answers == DEPENDENT].tolist()]
        return found

    def _link(self, pairs: Integers) -> None:
        """Make candidates of each other, and ask both for grown sets from now on."""
        here = np.concatenate([np.repeat(np.arange(self.n), np.diff(self.start)), *pairs.T])
        there = np.concatenate([self.candidates, *pairs[:, ::-1].T])
        self.start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=self.n))])
        self.candidates = there[np.lexsort((there, here))]
        self._asked = np.union1d(self._asked, pairs)
        self.joined = np.concatenate([self.joined, pairs])
        left = ~np.isin(np.sort(self._outside, axis=1) @ [self.n, 1], pairs @ [self.n, 1])
        self._outside, self._gains = self._outside[left], self._gains[left]


def better(one: Ordered, other: Ordered) -> Ordered:
    """Return the DAG with the higher score, to the last bit; of equals the first."""
    return max(one, other, key=lambda found: found.score)


def crowded(sets: ParentSets, width: int = WIDTH) -> Integers:
    """Return the variables that have more sets of two or more members of one size than were extended."""
    n = len(sets.first) - 1
    sizes = np.diff(sets.start)
    counts = np.zeros((n, max(3, int(sizes.max(initial=0)) + 1)), np.int64)
    np.add.at(counts, (np.repeat(np.arange(n), np.diff(sets.first)), sizes), 1)
    return np.flatnonzero((counts[:, 2:] > width).any(axis=1))


class _Task:
    """A variable, who may be its parents, and those found so far with their score."""

    def __init__(
        self, v: int, allowed: Members, required: Members, limit: int, members: Members, value: float
    ) -> None:
        self.v, self.allowed, self.required, self.limit = v, allowed, required, limit
        self.members, self.value = members, value
        self.changed = False

    def larger(self) -> list[Members]:
        """List the sets with one member more."""
        if len(self.members) >= self.limit:
            return []
        return [self.members | {w} for w in sorted(self.allowed - self.members)]

    def smaller(self) -> list[Members]:
        """List the sets with one member less."""
        return [self.members - {w} for w in sorted(self.members - self.required)]


def _known(sets: ParentSets, v: int) -> dict[Members, float]:
    """Return the sets of v with their scores, best first."""
    return {
        frozenset(sets.members[sets.start[s] : sets.start[s + 1]].tolist()): float(sets.scores[s])
        for s in range(sets.first[v], sets.first[v + 1])
    }


def _best_of(known: dict[Members, float], allowed: Members) -> Members:
    """Return the best known set within `allowed`; the empty set always is."""
    return next(members for members in known if members <= allowed)


def _one_move_away(near: list[int], before: int, own: Members) -> Iterator[Members]:
    """List who may be parents of a variable that moves, and if one of the others passes it.

    `near` are in their order, so many of them `before` the variable; `own` are its parents.
    """
    for count in range(len(near) + 1):
        yield frozenset(near[:count])
    here = frozenset(near[:before])
    for w in near[:before]:
        if w in own:
            yield here - {w}
    for w in near[before:]:
        yield here | {w}


def _settle(tasks: list[_Task], score: FamilyScores, prior: float) -> None:
    """Add or drop one member at a time until neither raises the score; all tasks side by side."""
    growing, shrinking = tasks, list[_Task]()
    while growing or shrinking:
        asked = [(t, t.larger()) for t in growing] + [(t, t.smaller()) for t in shrinking]
        families = [(t.v, tuple(sorted(members))) for t, sets in asked for members in sets]
        values = iter((score.score(families) + prior * np.array([len(own) for _, own in families])).tolist())
        # Who has changed grows next; who has not grown shrinks; who has not shrunk either is ready.
        raised, failed = list[_Task](), list[_Task]()
        for number, (t, sets) in enumerate(asked):
            found = [(next(values), members) for members in sets]
            value, members = max(found, key=lambda pair: pair[0], default=(-np.inf, t.members))
            if value > t.value + RELATIVE_TOLERANCE * max(1.0, abs(value)):
                t.members, t.value, t.changed = members, value, True
                raised.append(t)
            elif number < len(growing):
                failed.append(t)
        growing, shrinking = raised, failed


def _is_below(pairs: Integers, parents: list[Members]) -> Mask:
    """Return for each pair (v, u) whether u is a descendant of v."""
    above: dict[int, set[int]] = {}
    for u in set(pairs[:, 1].tolist()):
        waiting, above[u] = [u], set()
        while waiting:
            new = parents[waiting.pop()] - above[u]
            above[u] |= new
            waiting += new
    return np.array([v in above[u] for v, u in pairs.tolist()], np.bool_)
