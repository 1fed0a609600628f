"""Search over orders, and score sets of parents on demand that were not scored beforehand.

:mod:`~f2sl.search.orders.parent_sets` extends only the best sets of each size, and only with candidates. With
many rows both leave out what an order needs:

- The best sets of a variable are all sets of its strongest neighbors, among them its children. The sets that
  it needs in an order in which its children come later may be missing, however well they score.
- A true parent may be no candidate: effects along several paths cancel, or it has an effect only together
  with another parent.

So for the order that a search ends with, sets are added in two ways, and the search goes on from there, as
long as that pays:

*Grown sets* (as in BOSS: Andrews and others 2023). A variable is asked for the parents that it would have at
each position of the order, and at its own position without one of its parents or with one candidate more: in
all orders that are one move away. Each time the best known set that fits gains or loses one member at a time
until neither raises the score. Only variables of which sets were left out are asked.

*New candidates* (as in BiDAG: Kuipers, Suter and Moffa 2022). Given its parents, a variable is independent of
all that are not its descendants. One that raises the score as a further parent, and that a test finds
dependent given the parents, becomes a candidate. The score alone would not do: BDeu connects variables that
hardly vary, whether or not they are related. The same is asked with parents replaced by those that
determine them (:mod:`~f2sl.search.orders.determined`).

Up to `simplify`, the score never falls, and each step raises it or is the last, so that this ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.engines import product_of_columns
from f2sl.search.orders import Ordered, search_orders
from f2sl.search.orders.determined import (
    Determined,
    Likelihoods,
    candidates_of_originals,
    originals,
    pairs_of,
    with_copies,
)
from f2sl.search.orders.parent_sets import (
    MOST_CANDIDATES,
    RELATIVE_TOLERANCE,
    WIDTH,
    ParentSets,
    best_of_each,
    most_parents,
    parent_sets,
)
from f2sl.stats.answers import DEPENDENT, IndependenceTest
from f2sl.stats.scores.base import FamilyScores
from f2sl.stats.tests.base import TableTest

MOST_PERTURBED = 300
"""Variables that count for how often the order is disturbed before it is asked whether that pays."""

BELOW_AT_ONCE = 4096
"""Variables whose ancestors are looked for together: a bit for each of them and each variable."""

Sets = NDArray[np.uint64]
"""Sets of parents of one variable, as masks: bit i stands for entry i of its row of `OnDemand._near`."""
BITS: Sets = np.uint64(1) << np.arange(MOST_CANDIDATES, dtype=np.uint64)


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
        Pairs (v, u): u may become a candidate of v, if it is none.
    likelihoods : Likelihoods, optional
        Without them, no variable counts as determined by others.
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
        likelihoods: Likelihoods | None = None,
        max_parents: int | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.sets, self.start, self.candidates = sets, start, candidates
        self.n = n = len(start) - 1
        self._score, self._prior, self._test = score, edge_log_prior, test
        self._max_parents = max_parents
        self._rules = constraints or Constraints.none(n)
        n_required = np.bincount(self._rules.required[:, 1], minlength=n)
        self._limits = np.minimum(n if max_parents is None else max_parents, most_parents(n) + n_required)
        self._most = max(int(self._limits.max(initial=0)), int(n_required.max(initial=0)))
        self._required = self._by_child(self._rules.required)
        # Row r belongs to variable `_asked[r]` and has its possible parents, required ones left out, and -1
        # behind them. Those that join come last, so that masks keep their meaning.
        self._asked, self._row = np.empty(0, np.int64), np.full(n, -1)
        self._near = np.empty((0, MOST_CANDIDATES), np.int64)
        self._bits = np.zeros(n, np.uint64)
        # By row and mask: what a set was extended with when it was scored, sets of possible parents that
        # were answered, and scores.
        self._tried: dict[tuple[int, int], int] = {}
        self._answered: set[tuple[int, int]] = set()
        self._values: dict[tuple[int, int], float] = {}
        # What the last listing of each row depended on; see `_not_listed`.
        self._listed = np.empty((0, MOST_CANDIDATES + 3), np.int64)
        self._first, self._were_extended = sets, extended(sets)
        self._first_pairs = np.repeat(np.arange(n), np.diff(start)) * n + candidates
        owners = np.repeat(np.arange(n), np.diff(sets.first))
        self._ask(np.unique(owners[~self._were_extended]))
        # Nothing is known yet of the pairs from outside. Of the two checks the faster comes first: tests on
        # counts of many u with the same v and parents, which are counted together.
        self._outside = outside[self._may_join(outside)]
        self._hopeful = np.zeros(len(self._outside), np.bool_)
        checks = self._are_dependent, self._gain
        self._checks = checks if isinstance(test, TableTest) else checks[::-1]
        self._last = np.full((n, self._most), n)
        self._hiding: Determined | None = None
        if likelihoods is not None:
            self._hiding = Determined(likelihoods, self._scored, test, self._rules, self._limits)
        self._n_searches = 0
        self.best: Ordered | None = None
        self.joined = np.empty((0, 2), np.int64)

    def search(self, orders: Sequence[Integers], perturbations: int) -> Ordered:
        """Search from some orders, and on with the sets and candidates that the best one needs.

        The order is perturbed `perturbations` times for each variable before anybody joins: in a poor order
        many variables look like missing parents.
        """
        found = self._search(orders, perturbations * min(self.n, MOST_PERTURBED))
        return self.search_on(self._climb(found), perturbations)

    def search_on(self, best: Ordered, perturbations: int) -> Ordered:
        """Perturb an order, `perturbations` times for each variable, while it pays for more than an edge."""
        while True:
            found = self._search([best.order], perturbations * min(self.n, MOST_PERTURBED))
            if not _is_higher(found, best):
                return best
            found = self._climb(found)
            if found.score - best.score <= -self._prior:
                return found
            best = found

    def move_copies(self, best: Ordered, copies: Integers, perturbations: int) -> Ordered:
        """Search with each group of copies as one variable, and go on from there if the score is higher.

        `copies`, (m, 2) int64, has pairs of variables that determine each other. Those at required edges
        move alone: another one cannot stand for them. See :mod:`~f2sl.search.orders.determined`.
        """
        copies = copies[~np.isin(copies, self._rules.required).any(axis=1)]
        if not len(copies):
            return best
        first = originals(self.n, copies)
        near = candidates_of_originals(self.start, self.candidates, first)
        owners = np.repeat(np.arange(self.n), np.diff(near[0]))
        # Variables with the same candidates as at first have the same sets. Where edges are required, the
        # price of breaking this depends on all sets.
        differing = np.setxor1d(owners * self.n + near[1], self._first_pairs) // self.n
        same = np.full(self.n, not len(self._rules.required))
        same[differing] = False
        changed = ~same[owners]
        with stage("scoring sets of parents"):
            sets = parent_sets(
                self._score,
                np.concatenate([[0], np.cumsum(np.bincount(owners[changed], minlength=self.n))]),
                near[1][changed],
                edge_log_prior=self._prior,
                max_parents=self._max_parents,
                constraints=self._rules,
            ).with_those(self._first, same)
        moved = self._search([best.order], 0, sets, near)
        found = self._climb(self._search([with_copies(moved.order, first)], 0))
        return self.search_on(found, perturbations) if _is_higher(found, best) else best

    def simplify(self, best: Ordered) -> Ordered:
        """Replace parents by those that determine them where that takes fewer configurations.

        The only step after which the score may be lower.
        """
        if self._hiding is None:
            return best
        parents = self._hiding.simplified(self._by_child(best.arrows))
        pairs = pairs_of(np.arange(self.n), parents)
        self._link(pairs)
        scores = self._scored(np.arange(self.n), parents)
        return Ordered(pairs[:, ::-1], float(scores.sum()), best.order)

    def _climb(self, best: Ordered) -> Ordered:
        """Add the sets that an order needs and climb, as long as that raises the score."""
        while self._grow(best.order) | self._join(best):
            found = self._search([best.order], 0)
            if not _is_higher(found, best):
                break
            best = found
        return best

    def _search(
        self,
        orders: Sequence[Integers],
        perturbations: int,
        sets: ParentSets | None = None,
        near: tuple[Integers, Integers] | None = None,
    ) -> Ordered:
        """Search with these sets and candidates, by default those that there are now."""
        self._n_searches += 1
        return search_orders(
            sets or self.sets,
            *(near or (self.start, self.candidates)),
            orders,
            perturbations=perturbations,
            pays=-self._prior,
            constraints=self._rules,
            random_state=self._n_searches,
            # Others may have edges that are no candidates.
            keep=self._keep if sets is None else lambda found: None,
        )

    def _keep(self, found: Ordered) -> None:
        """Remember the best DAG of all searches, in case the work is stopped."""
        if self.best is None or _is_higher(found, self.best):
            self.best = found

    def _by_child(self, arrows: Integers) -> Integers:
        """Return the parents of each variable, (n, most) int64, ascending behind entries of -1."""
        u, v = arrows[np.lexsort(arrows.T)].T
        ends = np.searchsorted(v, v, side="right")
        parents = np.full((self.n, self._most), -1)
        parents[v, self._most - ends + np.arange(len(v))] = u
        return parents

    # -- grown sets --------------------------------------------------------------------

    def _ask(self, variables: Integers) -> None:
        """Add variables to those that are asked for grown sets."""
        # Nobody has new sets before being asked.
        sets, rows = self._first, []
        for r, v in enumerate(variables.tolist(), len(self._asked)):
            of_v = slice(sets.first[v], sets.first[v + 1])
            members = sets.members[sets.start[of_v.start] : sets.start[of_v.stop]]
            near = np.setdiff1d(members, self._required[v])
            rows.append(np.append(near, np.full(MOST_CANDIDATES - len(near), -1)))
            masks = self._masks(sets, v, near)[self._were_extended[of_v]]
            self._tried |= dict.fromkeys(_keys(np.full(len(masks), r), masks), int(BITS[: len(near)].sum()))
        self._row[variables] = len(self._asked) + np.arange(len(variables))
        self._asked = np.append(self._asked, variables)
        self._near = np.concatenate([self._near, np.array(rows, np.int64).reshape(-1, MOST_CANDIDATES)])

    def _masks(self, sets: ParentSets, v: int, near: Integers) -> Sets:
        """Return the sets of v, best first, as masks of `near`; required parents have no bit."""
        start = sets.start[sets.first[v] : sets.first[v + 1] + 1]
        self._bits[near] = BITS[: len(near)]
        # The sum over a set as a difference of sums from the beginning: overflows cancel.
        sums = np.append(np.uint64(0), np.cumsum(self._bits[sets.members[start[0] : start[-1]]]))
        self._bits[near] = 0
        return np.asarray(sums[start[1:] - start[0]] - sums[start[:-1] - start[0]])

    def _grow(self, order: Integers) -> bool:
        """Add the sets that an order and its neighbors need; return whether there are any."""
        position = np.argsort(order)
        asked = self._not_listed(position)
        tasks = [self._one_move_away(r, position) for r in asked.tolist()]
        rows = np.repeat(asked, [len(allowed) for allowed, *_ in tasks])
        if not len(rows):
            return False
        with stage("scoring sets of parents"):
            changed, members, values = self._fit_parents(rows, *map(np.concatenate, zip(*tasks, strict=True)))
        return self._add(self._asked[rows], self._parents(rows, members), values, changed)

    def _not_listed(self, position: Integers) -> Integers:
        """Return the rows of which the order or the sets have changed since this was asked last."""
        near = np.where(self._near >= 0, position[self._near], self.n)
        before = (near < position[self._asked][:, None]).sum(axis=1)
        n_sets = np.diff(self.sets.first)[self._asked]
        now = np.column_stack(
            [np.argsort(near, axis=1, kind="stable"), before, n_sets, (near < self.n).sum(axis=1)]
        )
        known = len(self._listed)
        changed = np.append((now[:known] != self._listed).any(axis=1), np.ones(len(now) - known, np.bool_))
        self._listed = now
        return np.flatnonzero(changed)

    def _one_move_away(self, r: int, position: Integers) -> tuple[Sets, Sets, Floats]:
        """List who may be parents of a variable that moves, and if one of the others passes it.

        Returns masks of these, and the best known set within each with its score. Leaves out what was
        listed before.
        """
        v, near = self._asked[r], self._near[r][self._near[r] >= 0]
        masks = self._masks(self.sets, v, near)
        in_order = np.argsort(position[near])
        bits = BITS[in_order]
        before = np.searchsorted(position[near[in_order]], position[v])
        beginnings = np.append(np.uint64(0), np.cumsum(bits))
        here = beginnings[before]
        own = masks[_first_within(masks, here[None])]
        parents = bits[:before][bits[:before] & own != 0]
        allowed = np.concatenate([beginnings, here - parents, here + bits[before:]])
        new = [mask for mask in dict.fromkeys(allowed.tolist()) if (r, mask) not in self._answered]
        self._answered.update((r, mask) for mask in new)
        allowed = np.array(new, np.uint64)
        begin = _first_within(masks, allowed)
        return allowed, masks[begin], self.sets.scores[self.sets.first[v] + begin]

    def _fit_parents(
        self, rows: Integers, allowed: Sets, members: Sets, values: Floats
    ) -> tuple[Mask, Sets, Floats]:
        """Add or drop one member at a time until neither raises the score; all sets side by side.

        Returns which sets have changed, and all sets with their scores.
        """
        limits = (self._limits - (self._required >= 0).sum(axis=1))[self._asked[rows]]
        tried = np.array([self._tried.get(key, 0) for key in _keys(rows, members)], np.uint64)
        changed, grows = np.zeros((2, len(rows)), np.bool_)
        left, grows[:] = np.arange(len(rows)), True
        while len(left):
            own, small = members[left], _has(members[left]).sum(axis=1) < limits[left]
            more = np.where(small, allowed[left] & ~own & ~tried[left], np.uint64(0))
            flips = np.where(grows[left], more, own)
            best, larger_or_smaller = self._best_flips(rows[left], own, flips)
            raised = best > values[left] + RELATIVE_TOLERANCE * np.maximum(1.0, np.abs(best))
            # Who has changed grows next; who has not grown shrinks; who has not shrunk either is ready.
            failed = left[~raised & grows[left]]
            left = left[raised]
            members[left], values[left], tried[left] = larger_or_smaller[raised], best[raised], 0
            changed[left] = grows[left] = True
            grows[failed] = False
            left = np.sort(np.append(left, failed))
        return changed, members, values

    def _best_flips(self, rows: Integers, members: Sets, flips: Sets) -> tuple[Floats, Sets]:
        """Return the best score of each set with one of `flips` added or dropped, and that set."""
        # Many ask the same of the same set: all flips of one are scored together.
        order = np.lexsort((members, rows))
        r, own = rows[order], members[order]
        new = np.append(True, (r[1:] != r[:-1]) | (own[1:] != own[:-1]))
        first = np.flatnonzero(new)
        which = np.empty(len(rows), np.int64)
        which[order] = np.cumsum(new) - 1
        at, bit = np.nonzero(_has(np.bitwise_or.reduceat(flips[order], first)))
        scores = np.full((len(first), MOST_CANDIDATES), -np.inf)
        scores[at, bit] = self._score_sets(r[first][at], own[first][at] ^ BITS[bit])
        scores = np.where(_has(flips), scores[which], -np.inf)
        best = scores.argmax(axis=1)
        return scores[np.arange(len(best)), best], members ^ BITS[best]

    def _score_sets(self, rows: Integers, members: Sets) -> Floats:
        """Score sets; earlier scores are cached."""
        keys = _keys(rows, members)
        if new := [key for key in dict.fromkeys(keys) if key not in self._values]:
            rows, members = np.array([r for r, _ in new]), np.array([mask for _, mask in new], np.uint64)
            scores = self._scored(self._asked[rows], self._parents(rows, members))
            self._values.update(zip(new, scores.tolist(), strict=True))
        return np.array([self._values[key] for key in keys])

    def _parents(self, rows: Integers, members: Sets) -> Integers:
        """Return sets with the required parents, ascending, behind entries of -1."""
        free = np.where(_has(members), self._near[rows], -1)
        return np.sort(np.concatenate([free, self._required[self._asked[rows]]], axis=1), axis=1)

    def _scored(self, children: Integers, parents: Integers) -> Floats:
        """Score families with the prior of their edges."""
        n_parents = (parents >= 0).sum(axis=1)
        return np.asarray(self._score.score_all(children, parents) + self._prior * n_parents)

    def _add(self, children: Integers, parents: Integers, scores: Floats, new: Mask) -> bool:
        """Put the new ones of some sets among those of their variables; return whether there are any."""
        _, first = np.unique(np.column_stack([children, parents])[new], axis=0, return_index=True)
        at = np.flatnonzero(new)[np.sort(first)]
        if len(at):
            self.sets = self.sets.with_more(children[at], parents[at], scores[at])
        return len(at) > 0

    # -- new candidates ----------------------------------------------------------------

    def _join(self, best: Ordered) -> bool:
        """Add candidates that gain as further parents; return whether there are any."""
        parents = self._by_child(best.arrows)
        with stage("looking for further candidates"):
            asked = self._ask_outside(parents)
            # What fails is not asked about again before v has other parents.
            self._hopeful[asked] = self._checks[0](self._outside[asked], parents)
            at = np.flatnonzero(self._hopeful)
            at = at[~_is_below(self._outside[at], parents, best.order)]
            self._hopeful[at] = self._checks[1](self._outside[at], parents)
            hits = self._outside[at[self._hopeful[at]]]
            given = parents[hits[:, 0]]
            for v, u, replaced in self._hidden(parents, best.order):
                hits, given = np.append(hits, [[v, u]], axis=0), np.append(given, [replaced], axis=0)
            # All children have fewer parents than their limit, so that the first entries are -1.
            families = np.sort(np.column_stack([given[:, 1:], hits[:, 1]]), axis=1)
            scores = self._scored(hits[:, 0], families)
        self._link(pairs_of(hits[:, 0], families))
        return self._add(hits[:, 0], families, scores, np.ones(len(hits), np.bool_))

    def _hidden(self, parents: Integers, order: Integers) -> Iterator[tuple[int, int, Integers]]:
        """Yield variables v, parents u that others hide, and what v has beside u in place of these.

        With many rows most variables are dependent there, so only the best one joins at a time.
        """
        if self._hiding is None:
            return
        owners = self._outside[:, 0]
        position = np.argsort(owners, kind="stable")
        start = np.searchsorted(owners[position], np.arange(self.n + 1))

        def others(v: int) -> Integers:
            """Return the candidates of v, and who may become one, without descendants of v."""
            own = self._outside[position[start[v] : start[v + 1]], 1]
            found = np.append(self.candidates[self.start[v] : self.start[v + 1]], own)
            pairs = np.column_stack([np.full(len(found), v), found])
            return found[self._rules.allows(found, pairs[:, 0]) & ~_is_below(pairs, parents, order)]

        for v, replaced, gaining in self._hiding.gaining(parents, others):
            given = replaced[None, replaced >= 0]
            for u in gaining.tolist():
                if self._test.answer(np.array([v]), np.array([u]), given)[0] == DEPENDENT:
                    yield v, u, replaced
                    break

    def _may_join(self, pairs: Integers) -> Mask:
        """Return of which pairs (v, u) u may be a parent of v, but is no candidate."""
        adjacent = np.repeat(np.arange(self.n), np.diff(self.start)) * self.n + self.candidates
        return self._rules.allows(pairs[:, 1], pairs[:, 0]) & ~np.isin(pairs @ [self.n, 1], adjacent)

    def _ask_outside(self, parents: Integers) -> Integers:
        """Return the positions of the pairs (v, u) from outside for which it is unknown whether u may join.

        It is known where v has the parents that it had when this was called last, and where no test could
        find a pair dependent.
        """
        v, u = self._outside.T
        changed = (parents != self._last).any(axis=1)
        self._last = parents
        self._hopeful[changed[v]] = False
        states = np.append(self._test.configurations(np.arange(self.n)[:, None]), 1.0)
        configurations = product_of_columns(states[parents])
        max_sizes = np.where(changed & ((parents >= 0).sum(axis=1) < self._limits), configurations, np.inf)
        return np.flatnonzero(max_sizes[v] <= self._test.max_configurations(v, u))

    def _gain(self, pairs: Integers, parents: Integers) -> Mask:
        """Return for which pairs (v, u) the score rises if u becomes a parent of v."""
        now = np.zeros(self.n)
        asked = np.unique(pairs[:, 0])
        now[asked] = self._scored(asked, parents[asked])
        found = np.zeros(len(pairs), np.bool_)
        for rows, given in _by_size(pairs, parents):
            v, u = pairs[rows].T
            families = np.sort(np.column_stack([given, u]), axis=1)
            found[rows] = self._scored(v, families) > now[v]
        return found

    def _are_dependent(self, pairs: Integers, parents: Integers) -> Mask:
        """Return which pairs (v, u) the test finds dependent given the parents of v."""
        found = np.zeros(len(pairs), np.bool_)
        for rows, given in _by_size(pairs, parents):
            v, u = pairs[rows].T
            found[rows] = self._test.answer(v, u, given) == DEPENDENT
        return found

    def _link(self, hits: Integers) -> None:
        """Make pairs candidates of each other unless they are, and ask both for grown sets from now on."""
        pairs = np.unique(np.sort(hits[self._may_join(hits)], axis=1), axis=0)
        if not len(pairs):
            return
        here = np.concatenate([np.repeat(np.arange(self.n), np.diff(self.start)), *pairs.T])
        there = np.concatenate([self.candidates, *pairs[:, ::-1].T])
        self.start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=self.n))])
        self.candidates = there[np.lexsort((there, here))]
        self._ask(np.setdiff1d(pairs, self._asked))
        either = np.concatenate([pairs, pairs[:, ::-1]])
        for v, u in either[self._rules.allows(either[:, 1], either[:, 0])].tolist():
            r = self._row[v]
            if self._near[r, -1] >= 0:  # no bit is left: v is asked no more
                self._near[r] = -1
            else:
                self._near[r, (self._near[r] >= 0).sum()] = u
        self.joined = np.concatenate([self.joined, pairs])
        left = self._may_join(self._outside)
        self._outside, self._hopeful = self._outside[left], self._hopeful[left]


def _is_higher(one: Ordered, other: Ordered) -> bool:
    """Return whether a score is higher by more than rounding."""
    return one.score > other.score + RELATIVE_TOLERANCE * abs(other.score)


def extended(sets: ParentSets, width: int = WIDTH) -> Mask:
    """Return which sets were extended by one candidate more when they were scored."""
    owners = np.repeat(np.arange(len(sets.first) - 1), np.diff(sets.first))
    sizes = np.diff(sets.start)
    found = np.zeros(len(sizes), np.bool_)
    # Sets are in order: of equal scores the earlier are the best.
    found[best_of_each(owners * (sizes.max(initial=0) + 1) + sizes, np.zeros(len(sizes)), width)] = True
    return found


def _keys(rows: Integers, members: Sets) -> list[tuple[int, int]]:
    return list(zip(rows.tolist(), members.tolist(), strict=True))


def _has(masks: Sets) -> Mask:
    """Return which bits masks have, (m, 64)."""
    return np.asarray((masks[:, None] & BITS) != 0)


def _first_within(masks: Sets, allowed: Sets) -> Integers:
    """Return the position of the first of `masks` within each of `allowed`; the empty set always is."""
    return np.asarray(((masks & ~allowed[:, None]) == 0).argmax(axis=1))


def _by_size(pairs: Integers, parents: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield the positions of the pairs (v, u) whose v has as many parents, and these parents, ascending."""
    sizes = (parents >= 0).sum(axis=1)[pairs[:, 0]]
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        yield rows, parents[pairs[rows, 0], parents.shape[1] - size :]


def _is_below(pairs: Integers, parents: Integers, order: Integers) -> Mask:
    """Return for each pair (v, u) whether u is a descendant of v; `order` has parents before children."""
    found = np.zeros(len(pairs), np.bool_)
    sets = [own[own >= 0].tolist() for own in parents]
    asked, number = np.unique(pairs[:, 1], return_inverse=True)
    for first in range(0, len(asked), BELOW_AT_ONCE):
        # Bit i of below[v] stands for asked[first + i].
        bits = {u: 1 << i for i, u in enumerate(asked[first : first + BELOW_AT_ONCE].tolist())}
        below = [0] * len(parents)
        for u in order[::-1].tolist():
            reached = below[u] | bits.get(u, 0)
            for v in sets[u] if reached else ():
                below[v] |= reached
        at = np.flatnonzero((number >= first) & (number < first + BELOW_AT_ONCE))
        positions = zip(pairs[at, 0].tolist(), (number[at] - first).tolist(), strict=True)
        found[at] = [below[v] >> i & 1 for v, i in positions]
    return found
