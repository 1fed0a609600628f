"""Grow a set around a target by the best network, one candidate after another.

The local learners by score try candidates in turn. For each they find the best network over the target, the
set so far and the candidate. From it they read which variables are *near* the target (parents and children)
and which are *spouses* (other parents of a child, themselves not near). Mostly nothing changes. So a search
requests (:class:`CandidateTrial`) to try candidates until something changes. From samples in memory one
kernel answers a request (`from_rows`). Otherwise the networks of one size, of many searches, are found
together, and all sets that they need are counted at once.

Up to `max_exact` variables the network is optimal (`search/exact.py`). With more variables, hill climbing
finds it, and the number of such networks is reported.

Inside a problem of k variables these are numbered 0 to k - 1 by their positions in the ascending list of
`members`, and sets of them are masks: bit i stands for member i.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl.constraints import Constraints
from f2sl.stats.scores.base import LEAST, words_of

if TYPE_CHECKING:
    from f2sl.learners.local.from_rows import Found, FromRows
    from f2sl.stats.scores.sets import SetScores
    from f2sl.stats.scores.tables import BDeuOfPlanes

Result = TypeVar("Result")

SETS_AT_ONCE = 1 << 18
"""Set values that one round computes for all searches: a second or two if all must be counted."""

SETS_REMEMBERED = 1 << 22
"""Largest number of cached set values, about 200 MB; the cache is cleared when it is full."""

CLIMBS_AT_ONCE = 8
"""Candidates that a search tries at a time by hill climbing, which takes some tenths of a second."""

WORK_FROM_ROWS = 1 << 30
"""Set values times samples of one round for all searches from samples in memory: a second or two."""


@dataclass(frozen=True)
class Surroundings:
    """Neighbors and spouses of a target in a network.

    `near` gives for each parent or child the loss of score without that edge, `spouses` for each other parent
    of a child the loss without its edge to that child (the largest, of several), and `children` the children
    that each spouse shares with the target.
    """

    near: dict[int, float] = field(default_factory=dict)
    spouses: dict[int, float] = field(default_factory=dict)
    children: dict[int, tuple[int, ...]] = field(default_factory=dict)


class CandidateTrial(NamedTuple):
    """Request: try these candidates in turn, until neighbors or spouses of the target change.

    A change of the neighbors counts unless `near_is_final`, a change of the spouses only `with_spouses` or
    if `near_is_final`.
    """

    target: int
    around: Surroundings
    candidates: Integers
    with_spouses: bool = False
    near_is_final: bool = False

    @property
    def members(self) -> Integers:
        """The target and those around it, ascending."""
        return np.sort([self.target, *self.around.near, *self.around.spouses])

    @property
    def n_members(self) -> int:
        """Number of variables of a network with a candidate."""
        return len(self.around.near) + len(self.around.spouses) + 2


class Tried(NamedTuple):
    """Answer: number of candidates tried, and the new surroundings of the target (None: no change)."""

    n: int
    change: Surroundings | None


Growth = Generator[list[CandidateTrial], list[Tried], Result]
"""Type of a search by score: a generator that yields requests and is sent the answers."""


def grow(
    target: int,
    around: Surroundings,
    candidates: Integers,
    *,
    with_spouses: bool = False,
    near_is_final: bool = False,
) -> Growth[Surroundings]:
    """Try all candidates in turn; return the final surroundings of the target."""
    # An answer may cover only some of the candidates, with or without a change: the rest is asked for again.
    while len(candidates):
        [tried] = yield [CandidateTrial(target, around, candidates, with_spouses, near_is_final)]
        candidates = candidates[tried.n :]
        if tried.change is not None:
            around = tried.change
    return around


class Grower:
    """Answers the requests of searches; they share the values of sets.

    Parameters
    ----------
    scores : SetScores
        Values of sets.
    max_exact : int
        Largest number of variables for which the best network is found exactly.
    max_parents : int, optional
        Largest number of parents of a variable.
    ties : {"drop", "keep"}
        Choice among several best networks: the fewest edges to the target, or the most.
    rules : Constraints, optional
        Forbidden and required edges, which all networks obey.

    Attributes
    ----------
    n_exact, n_climbed : int
        Number of networks found exactly, and by hill climbing.
    """

    def __init__(
        self,
        scores: SetScores,
        max_exact: int,
        max_parents: int | None,
        ties: str,
        rules: Constraints | None = None,
    ) -> None:
        from f2sl.learners.local.from_rows import FromRows

        self.scores = scores
        self.max_exact = max_exact
        self.max_parents = max_parents
        self.ties = ties
        self.rules = rules
        self.n_exact = 0
        self.n_climbed = 0
        self.rows = FromRows.of(scores)

    def gain(self, target: int, others: Integers) -> Integers:
        """Return the gain in score of an edge to the target alone, in units, for each other, (m,) int64."""
        pairs = np.column_stack([np.minimum(others, target), np.maximum(others, target)])
        # Columns are the masks 0 to 3. score(b | a) - score(b) is a difference of four set values.
        nothing, low, high, both = self.scores.lattices(pairs).T
        # A pair may have too many states for any network, and then has no value.
        return np.where(both > LEAST, both - low - high + nothing, LEAST)

    def answer(self, asked: Sequence[CandidateTrial]) -> list[Tried]:
        """Answer the requests of one round in their order; requests of one size are computed together."""
        if self.scores.n_remembered > SETS_REMEMBERED:
            self.scores = self.scores.anew()
        answers = {} if self.rows is None else self._from_rows(asked, self.rows)
        by_size: dict[int, list[int]] = {}
        for number, trial in enumerate(asked):
            k = trial.n_members
            if number in answers:
                continue
            if k <= self.max_exact:
                by_size.setdefault(k, []).append(number)
            else:
                answers[number] = self._climb(trial)
        # Each search gets an equal share of the sets, which is a number of candidates: a network of k
        # variables has 2^k sets.
        share = SETS_AT_ONCE // max(1, len(asked))
        for k, numbers in by_size.items():
            most = max(1, share >> k)
            problems = [Problems.of(asked[number], asked[number].candidates[:most]) for number in numbers]
            answers.update(zip(numbers, self._solve(problems, k), strict=True))
        return [answers[number] for number in range(len(asked))]

    def _from_rows(self, asked: Sequence[CandidateTrial], rows: FromRows) -> dict[int, Tried]:
        """Answer the requests that can be answered from the samples in memory, over threads."""
        from f2sl.search.exact import rules_of_all

        # With fewer requests than threads, each is cut into parts; those behind a change are of no use.
        parts: list[tuple[int, Problems]] = []
        n_parts = -(-rows.threads.n_threads // len(asked))
        for number, trial in enumerate(asked):
            if trial.n_members > self.max_exact or not rows.takes(trial.members):
                continue
            share = self.scores.engine.n_rows * len(asked) << trial.n_members
            most = max(1, WORK_FROM_ROWS // share)
            some = trial.candidates[:most]
            parts += [
                (number, Problems.of(trial, part)) for part in np.array_split(some, n_parts) if len(part)
            ]

        def find(part: tuple[int, Problems]) -> Found:
            rules = rules_of_all(part[1].members, self.max_parents, self.rules)
            return rows.solve(part[1], rules, self._worth_of_ties)

        answers: dict[int, Tried] = {}
        ended: set[int] = set()
        for (number, problems), found in zip(parts, rows.threads.map(find, parts), strict=True):
            if number in ended:
                continue
            self.n_exact += found.n
            change = None
            if found.changed:
                ended.add(number)
                members = problems.members[found.n - 1]
                values = SetFamilies(self.scores, members, self.max_parents).values
                change = self._change(problems.trial, members, found.parents, values)
            before = answers[number].n if number in answers else 0
            answers[number] = Tried(before + found.n, change)
        return answers

    @property
    def _worth_of_ties(self) -> int:
        """Worth of an edge to the target among networks of equal score."""
        return -1 if self.ties == "drop" else 1

    def _solve(self, problems: Sequence[Problems], k: int) -> Iterator[Tried]:
        """Answer requests about networks of k variables exactly."""
        from f2sl.learners.local import _kernels
        from f2sl.search.exact import rules_of_all

        members = np.concatenate([problem.members for problem in problems])
        start = np.concatenate([[0], np.cumsum([len(problem.members) for problem in problems])])
        lattices = self.scores.lattices(members)
        parents = np.zeros((len(problems), k), np.int64)
        tried = np.empty(len(problems), np.int64)
        _kernels.try_in_turn(
            lattices,
            start,
            np.concatenate([problem.target_position for problem in problems]),
            np.concatenate([problem.candidate_position for problem in problems]),
            np.array([problem.mask(problem.trial.around.near) for problem in problems]),
            np.array([problem.mask(problem.trial.around.spouses) for problem in problems]),
            np.array([problem.trial.with_spouses for problem in problems]),
            np.array([problem.trial.near_is_final for problem in problems]),
            self._worth_of_ties,
            rules_of_all(members, self.max_parents, self.rules),
            parents,
            tried,
        )
        self.n_exact += int(tried.sum())
        # The kernel marks a search without a change by -1; otherwise `parents` is the network of the last
        # row.
        for s, problem in enumerate(problems):
            change = None
            if parents[s, 0] >= 0:
                row = start[s] + tried[s] - 1
                values = lattices[row].__getitem__
                change = self._change(problem.trial, members[row], parents[s].tolist(), values)
            yield Tried(int(tried[s]), change)

    def _climb(self, trial: CandidateTrial) -> Tried:
        """Answer a request about networks too large to be found exactly, for some candidates at a time."""
        problems = Problems.of(trial, trial.candidates[:CLIMBS_AT_ONCE])
        before = trial.around
        for n, members in enumerate(problems.members, 1):
            families = SetFamilies(self.scores, members, self.max_parents)
            change = self._change(trial, members, self._climbed(members), families.values)
            if (change.near.keys(), change.spouses.keys()) != (before.near.keys(), before.spouses.keys()):
                return Tried(n, change)
        return Tried(len(problems.members), None)

    @cached_property
    def _of_planes(self) -> BDeuOfPlanes | None:
        """Score that computes all gains of a family at once; None if no table in memory allows it."""
        from f2sl.stats.scores.tables import BDeuOfPlanes

        bound = self.scores.score.bind(self.scores.engine)
        return bound if isinstance(bound, BDeuOfPlanes) else None

    def _climbed(self, members: Integers) -> list[int]:
        """Climb to a good network over a few variables; return a mask of parents for each."""
        from f2sl.search.hill_climbing import hill_climb

        k = len(members)
        families = SetFamilies(self.scores, members, self.max_parents, self._of_planes)
        rules = None if self.rules is None else self.rules.restrict_to(members)
        climbed = hill_climb(families, k, np.column_stack(np.triu_indices(k, 1)), constraints=rules)
        self.n_climbed += 1
        parents = [0] * k
        for u, v in climbed.arrows.tolist():
            parents[v] |= 1 << u
        return parents

    def network(self, variables: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Find the best network over some variables; return the parents of each."""
        from f2sl.search.exact import best_networks, count_lattice

        members = np.array(sorted(variables), np.int64)
        k = len(members)
        if k > self.max_exact:
            parents = self._climbed(members)
        else:
            rules = None if self.rules is None else self.rules.restrict_to(members)
            if rules:  # only the sets that allowed families need
                lattice = count_lattice(self.scores, members, self.max_parents, constraints=rules).values[
                    None
                ]
            else:
                lattice = self.scores.lattices(members[None])
            parents = best_networks(lattice, self.max_parents, rules).parents[0].tolist()
            self.n_exact += 1
        return {
            int(members[v]): tuple(int(members[u]) for u in range(k) if parents[v] >> u & 1) for v in range(k)
        }

    def _change(
        self,
        trial: CandidateTrial,
        members: Integers,
        parents: list[int],
        values: Callable[[list[int]], Integers],
    ) -> Surroundings:
        """Return the target's surroundings in a network, as far as the search uses them."""
        seen = _surroundings(trial.target, members.tolist(), parents, values, self.scores.unit)
        if trial.near_is_final:
            spouses = {v: loss for v, loss in seen.spouses.items() if v not in trial.around.near}
            return Surroundings(trial.around.near, spouses, {v: seen.children[v] for v in spouses})
        return seen if trial.with_spouses else Surroundings(seen.near)


@dataclass(frozen=True)
class Problems:
    """Networks that a search requests, one for each candidate.

    around : (k - 1,) int64, the target and those around it, ascending; candidates : (candidates,) int64;
    members : (candidates, k) int64, those around and the candidate, ascending in each row; target_position,
    candidate_position : (candidates,) int64, where the target and the candidate are in each row.
    """

    trial: CandidateTrial
    around: Integers
    candidates: Integers
    members: Integers
    target_position: Integers
    candidate_position: Integers

    @classmethod
    def of(cls, trial: CandidateTrial, candidates: Integers) -> Problems:
        """Make the problems of some candidates."""
        around = trial.members
        # Each row is `around` with a gap at the candidate's position: columns from there on move by one.
        position = np.searchsorted(around, candidates)
        members = np.empty((len(candidates), len(around) + 1), np.int64)
        rows, column = np.arange(len(candidates))[:, None], np.arange(len(around))
        members[rows, column + (column >= position[:, None])] = around
        members[rows[:, 0], position] = candidates
        target = int(np.searchsorted(around, trial.target))
        return cls(trial, around, candidates, members, target + (position <= target), position)

    def mask(self, variables: Iterable[int]) -> int:
        """Return some of those around the target as a mask, without a bit for the candidate."""
        return sum(1 << int(position) for position in np.searchsorted(self.around, list(variables)))


def _surroundings(
    target: int,
    members: list[int],
    parents: list[int],
    values: Callable[[list[int]], Integers],
    unit: float,
) -> Surroundings:
    """Return the surroundings of the target in a network.

    `parents` has a mask for each of `members`; `values` returns the values of sets of members, given as
    masks.
    """
    # Edges are (child, parent): the target's own, those to its children, and those of spouses to its
    # children.
    t = members.index(target)
    k = len(members)
    children = [v for v in range(k) if parents[v] >> t & 1]
    adjacent = parents[t] | sum(1 << v for v in children)
    edges = [(t, u) for u in range(k) if parents[t] >> u & 1] + [(c, t) for c in children]
    edges += [(c, u) for c in children for u in range(k) if parents[c] & ~adjacent & ~(1 << t) & (1 << u)]
    # The loss without an edge is score(child | parents) - score(child | parents without it): four set values.
    sets = []
    for child, parent in edges:
        whole, less = parents[child], parents[child] ^ 1 << parent
        sets += [whole | 1 << child, whole, less | 1 << child, less]
    worth = values(sets).reshape(-1, 4) @ [1, -1, -1, 1]
    near: dict[int, float] = {}
    spouses: dict[int, float] = {}
    common: dict[int, tuple[int, ...]] = {}
    for (child, parent), loss in zip(edges, (worth * unit).tolist(), strict=True):
        if t in (child, parent):
            near[members[parent if child == t else child]] = loss
        else:
            spouse = members[parent]
            spouses[spouse] = max(loss, spouses.get(spouse, 0.0))
            common[spouse] = (*common.get(spouse, ()), members[child])
    return Surroundings(near, spouses, common)


class SetFamilies:
    """Scores families of a few variables for hill climbing, from the values of sets or from bit planes."""

    def __init__(
        self,
        scores: SetScores,
        members: Integers,
        max_parents: int | None,
        of_planes: BDeuOfPlanes | None = None,
    ) -> None:
        self.scores = scores
        self.members = members
        self.max_parents = len(members) if max_parents is None else max_parents
        self.of_planes = of_planes

    def gains(
        self, children: Integers, start: Integers, others: Integers, present: Mask, gain: Floats, own: Floats
    ) -> bool:
        """Compute all gains of some children, as `BDeuOfPlanes` does; False if that is not possible."""
        if self.of_planes is None or self.max_parents < len(self.members):
            return False
        return self.of_planes.gains(children, start, others, present, gain, own, self.members)

    def values(self, sets: Sequence[int]) -> Integers:
        """Return the values of sets of members, given as masks."""
        return self.scores.subsets(self.members, words_of(sets, len(self.members)))[0]

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents) of members; forbidden families score minus infinity."""
        scores = np.full(len(families), -np.inf)
        allowed = [f for f, (_, parents) in enumerate(families) if len(parents) <= self.max_parents]
        below = [sum(1 << u for u in families[f][1]) for f in allowed]
        above = [mask | 1 << families[f][0] for f, mask in zip(allowed, below, strict=True)]
        values = self.values([*below, *above]).reshape(2, -1)
        known = (values > LEAST).all(axis=0)
        scores[allowed] = np.where(known, (values[1] - values[0]) * self.scores.unit, -np.inf)
        return scores
