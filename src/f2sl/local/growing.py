"""A set around a target that grows by the best network, one candidate after another.

The local learners by score go through candidates in turn. With each they look for the best network over
the target, the set so far and the candidate, and take from it who is *near* the target (parents and
children) and who is a *spouse* (another parent of a child, itself not near). Mostly nothing changes. So a
search asks (:class:`Turns`) to go on with its candidates until something does; all networks of one size, of
many searches, are then looked for together, and what has to be counted for them is counted at once.

Up to `max_exact` variables the network is the best there is (`search/exact.py`). Above, it is the one
that hill climbing finds, and it is counted how often that was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from f2sl._arrays import Floats, Integers

if TYPE_CHECKING:
    from f2sl.stats.set_scores import SetScores

Result = TypeVar("Result")

SETS_AT_ONCE = 1 << 18
"""Values of sets asked for in one go, by all searches: a second or two where all have to be counted."""

SETS_REMEMBERED = 1 << 22
"""Values of sets that are kept for others to use, in about 200 MB; when there are more, all are forgotten."""

CLIMBS_AT_ONCE = 8
"""Candidates that a search tries in one go where networks are climbed to, for some tenths of a second."""


@dataclass(frozen=True)
class Around:
    """What a network has around a target.

    `near` gives for each parent or child what the score would lose without that link, `spouses` for each
    other parent of a child what it would lose without its link to that child (the most, of several), and
    `children` which children these are.
    """

    near: dict[int, float] = field(default_factory=dict)
    spouses: dict[int, float] = field(default_factory=dict)
    children: dict[int, tuple[int, ...]] = field(default_factory=dict)


class Turns(NamedTuple):
    """Try these candidates in turn, until the best network has others near the target, or other spouses.

    Who is near is looked at unless `near_is_settled`, who is a spouse only `with_spouses`.
    """

    target: int
    around: Around
    candidates: Integers
    with_spouses: bool = False
    near_is_settled: bool = False


class Tried(NamedTuple):
    """How many candidates were tried, and what the last brought, or None where nothing changed."""

    n: int
    change: Around | None


Growth = Generator[list[Turns], list[Tried], Result]
"""A search by score: it yields what it wants to have tried, and is sent what came of it."""


def grow(
    target: int,
    around: Around,
    candidates: Integers,
    *,
    with_spouses: bool = False,
    near_is_settled: bool = False,
) -> Growth[Around]:
    """Go through all candidates in turn; gives what is around the target in the end."""
    while len(candidates):
        [tried] = yield [Turns(target, around, candidates, with_spouses, near_is_settled)]
        candidates = candidates[tried.n :]
        if tried.change is not None:
            around = tried.change
    return around


class Grower:
    """Answers what searches ask, on one memory of scores.

    Parameters
    ----------
    scores : SetScores
        The values of sets.
    max_exact : int
        Most variables of a network that is looked for exactly.
    max_parents : int, optional
        Most parents of a variable.
    ties : {"drop", "keep"}
        Which of several best networks it is: one with the fewest links to the target, or with the most.

    Attributes
    ----------
    n_exact, n_climbed : int
        How many networks were found exactly, and by hill climbing.
    """

    def __init__(self, scores: SetScores, max_exact: int, max_parents: int | None, ties: str) -> None:
        self.scores = scores
        self.max_exact = max_exact
        self.max_parents = max_parents
        self.ties = ties
        self.n_exact = 0
        self.n_climbed = 0

    def gain(self, target: int, others: Integers) -> Integers:
        """Measure what a link to the target alone is worth, for each of the others."""
        from f2sl.stats.set_scores import LEAST

        pairs = np.column_stack([np.minimum(others, target), np.maximum(others, target)])
        nothing, low, high, both = self.scores.lattices(pairs).T
        # A pair may have too many states for any network, and then no value.
        return np.where(both > LEAST, both - low - high + nothing, LEAST)

    def answer(self, asked: Sequence[Turns]) -> list[Tried]:
        """Answer the questions of one wave, those of one size together."""
        if self.scores.n_remembered > SETS_REMEMBERED:
            self.scores = self.scores.anew()
        answers: dict[int, Tried] = {}
        by_size: dict[int, list[int]] = {}
        for number, turns in enumerate(asked):
            k = len(turns.around.near) + len(turns.around.spouses) + 2
            if k <= self.max_exact:
                by_size.setdefault(k, []).append(number)
            else:
                answers[number] = self._climb(turns)
        share = SETS_AT_ONCE // max(1, len(asked))
        for k, numbers in by_size.items():
            problems = [_Problems.of(asked[number], max(1, share >> k)) for number in numbers]
            answers.update(zip(numbers, self._solve(problems, k), strict=True))
        return [answers[number] for number in range(len(asked))]

    def _solve(self, problems: Sequence[_Problems], k: int) -> Iterator[Tried]:
        """Answer questions about networks of k variables, exactly."""
        from f2sl.local import _kernels

        members = np.concatenate([some.members for some in problems])
        start = np.concatenate([[0], np.cumsum([len(some.members) for some in problems])])
        lattices = self.scores.lattices(members)
        parents = np.zeros((len(problems), k), np.int64)
        tried = np.empty(len(problems), np.int64)
        _kernels.try_in_turn(
            lattices,
            start,
            np.concatenate([some.target_place for some in problems]),
            np.concatenate([some.candidate_place for some in problems]),
            np.array([some.mask(some.turns.around.near) for some in problems]),
            np.array([some.mask(some.turns.around.spouses) for some in problems]),
            np.array([some.turns.with_spouses for some in problems]),
            np.array([some.turns.near_is_settled for some in problems]),
            -1 if self.ties == "drop" else 1,
            k if self.max_parents is None else self.max_parents,
            parents,
            tried,
        )
        self.n_exact += int(tried.sum())
        for s, some in enumerate(problems):
            change = None
            if parents[s, 0] >= 0:
                row = start[s] + tried[s] - 1
                values = lattices[row].__getitem__
                change = self._change(some.turns, members[row], parents[s].tolist(), values)
            yield Tried(int(tried[s]), change)

    def _climb(self, turns: Turns) -> Tried:
        """Answer a question about networks that are too large to be found exactly, some at a time."""
        problems = _Problems.of(turns, CLIMBS_AT_ONCE)
        before = turns.around
        for n, members in enumerate(problems.members, 1):
            families = SetFamilies(self.scores, members, self.max_parents)
            change = self._change(turns, members, self._climbed(families), families.values)
            if (change.near.keys(), change.spouses.keys()) != (before.near.keys(), before.spouses.keys()):
                return Tried(n, change)
        return Tried(len(problems.members), None)

    def _climbed(self, families: SetFamilies) -> list[int]:
        """Climb to a good network over a few variables; gives a mask of parents for each."""
        from f2sl.search.hill_climbing import hill_climb

        k = len(families.members)
        climbed = hill_climb(families, k, np.column_stack(np.triu_indices(k, 1)))
        self.n_climbed += 1
        parents = [0] * k
        for u, v in climbed.arrows.tolist():
            parents[v] |= 1 << u
        return parents

    def network(self, variables: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Find the best network over some variables: the parents of each."""
        from f2sl.search.exact import best_networks

        members = np.array(sorted(variables), np.int64)
        k = len(members)
        if k > self.max_exact:
            parents = self._climbed(SetFamilies(self.scores, members, self.max_parents))
        else:
            found = best_networks(self.scores.lattices(members[None]), self.max_parents)
            parents = found.parents[0].tolist()
            self.n_exact += 1
        return {
            int(members[v]): tuple(int(members[u]) for u in range(k) if parents[v] >> u & 1) for v in range(k)
        }

    def _change(
        self, turns: Turns, members: Integers, parents: list[int], values: Callable[[list[int]], Integers]
    ) -> Around:
        """Take from a network what a search looks at."""
        seen = _around(turns.target, members.tolist(), parents, values, self.scores.unit)
        if turns.near_is_settled:
            spouses = {v: loss for v, loss in seen.spouses.items() if v not in turns.around.near}
            return Around(turns.around.near, spouses, {v: seen.children[v] for v in spouses})
        return seen if turns.with_spouses else Around(seen.near)


@dataclass(frozen=True)
class _Problems:
    """The networks that a search asks about: a row of members, ascending, for each candidate."""

    turns: Turns
    around: Integers
    members: Integers
    target_place: Integers
    candidate_place: Integers

    @classmethod
    def of(cls, turns: Turns, most: int) -> _Problems:
        around = np.sort([turns.target, *turns.around.near, *turns.around.spouses])
        candidates = turns.candidates[:most]
        place = np.searchsorted(around, candidates)
        members = np.empty((len(candidates), len(around) + 1), np.int64)
        rows, column = np.arange(len(candidates))[:, None], np.arange(len(around))
        members[rows, column + (column >= place[:, None])] = around
        members[rows[:, 0], place] = candidates
        target = int(np.searchsorted(around, turns.target))
        return cls(turns, around, members, target + (place <= target), place)

    def mask(self, variables: Iterable[int]) -> int:
        """Return some of those around the target as a mask, without a bit for the candidate."""
        return sum(1 << int(place) for place in np.searchsorted(self.around, list(variables)))


def _around(
    target: int,
    members: list[int],
    parents: list[int],
    values: Callable[[list[int]], Integers],
    unit: float,
) -> Around:
    """Read off a network who is around the target; `values` gives the values of sets of members."""
    t = members.index(target)
    k = len(members)
    children = [v for v in range(k) if parents[v] >> t & 1]
    linked = parents[t] | sum(1 << v for v in children)
    links = [(t, u) for u in range(k) if parents[t] >> u & 1] + [(c, t) for c in children]
    links += [(c, u) for c in children for u in range(k) if parents[c] & ~linked & ~(1 << t) & (1 << u)]
    sets = []
    for child, parent in links:
        whole, less = parents[child], parents[child] ^ 1 << parent
        sets += [whole | 1 << child, whole, less | 1 << child, less]
    worth = values(sets).reshape(-1, 4) @ [1, -1, -1, 1]
    near: dict[int, float] = {}
    spouses: dict[int, float] = {}
    common: dict[int, tuple[int, ...]] = {}
    for (child, parent), loss in zip(links, (worth * unit).tolist(), strict=True):
        if t in (child, parent):
            near[members[parent if child == t else child]] = loss
        else:
            spouse = members[parent]
            spouses[spouse] = max(loss, spouses.get(spouse, 0.0))
            common[spouse] = (*common.get(spouse, ()), members[child])
    return Around(near, spouses, common)


class SetFamilies:
    """Scores of families of a few variables, as hill climbing asks for them, from the values of sets."""

    def __init__(self, scores: SetScores, members: Integers, max_parents: int | None) -> None:
        self.scores = scores
        self.members = members
        self.max_parents = len(members) if max_parents is None else max_parents

    def values(self, sets: Sequence[int]) -> Integers:
        """Return the values of sets of members, as masks."""
        from f2sl.stats.set_scores import words_of

        return self.scores.subsets(self.members, words_of(sets, len(self.members)))[0]

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents) of members; those that may not be have minus infinity."""
        from f2sl.stats.set_scores import LEAST

        scores = np.full(len(families), -np.inf)
        allowed = [f for f, (_, parents) in enumerate(families) if len(parents) <= self.max_parents]
        below = [sum(1 << u for u in families[f][1]) for f in allowed]
        above = [mask | 1 << families[f][0] for f, mask in zip(allowed, below, strict=True)]
        values = self.values([*below, *above]).reshape(2, -1)
        known = (values > LEAST).all(axis=0)
        scores[allowed] = np.where(known, (values[1] - values[0]) * self.scores.unit, -np.inf)
        return scores
