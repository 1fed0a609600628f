"""Search for subsets that separate a target from others, shared by MMPC, HITON-PC, PC-simple and the rest.

The question is always whether some S among a few members makes a variable independent of the target.
Subsets come by size, and of one size in the order of the members. Many others are asked about at once,
each with all subsets of a block; one that is separated need not be asked about further.

Sets too large for a conclusive test are skipped: such a test cannot separate anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.constraints import Constraints
from f2sl.learners.local.lockstep import QUESTIONS_PER_BATCH, Questions, Search
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, IndependenceTest

if TYPE_CHECKING:
    from f2sl.learners.local.base import Neighborhood

QUESTIONS_AT_ONCE = 1 << 13
"""Number of questions to ask before dropping those that have become needless."""
MOST_BETWEEN_SPOUSES = 3
"""Size of sets that separate two variables whose adjacency is forbidden, and that can only be spouses."""


@dataclass
class Separations:
    """Result of a search through subsets, for each of the others.

    `sets` lists the separating sets of those that have any: only the first unless all were asked for.
    `separated` says for each of the others, in their order, whether some set separates it; `weakest` is the
    smallest strength of all tests that found it dependent, including those known before, or infinite if there
    were none.
    """

    sets: dict[int, list[tuple[int, ...]]]
    separated: NDArray[np.bool_]
    weakest: Floats

    @property
    def first_sets(self) -> dict[int, tuple[int, ...]]:
        """Separated variables, each with its first separating set."""
        return {other: sets[0] for other, sets in self.sets.items()}


def drop_in_turn(
    members: Sequence[int], sets: Mapping[int, Sequence[tuple[int, ...]]]
) -> dict[int, tuple[int, ...]]:
    """Drop each member with a separating set that contains no member dropped before it.

    Testing all members at once and then dropping them in turn gives the same result as testing in turn.

    Examples
    --------
    >>> drop_in_turn([4, 5, 6], {4: [(6,)], 5: [(4,), (6, 7)]})
    {4: (6,), 5: (6, 7)}
    """
    dropped: dict[int, tuple[int, ...]] = {}
    for member in members:
        first = next((given for given in sets.get(member, ()) if dropped.keys().isdisjoint(given)), None)
        if first is not None:
            dropped[member] = first
    return dropped


def separations(
    test: IndependenceTest,
    target: int,
    others: Integers,
    members: Integers,
    largest: int | None,
    *,
    smallest: int = 0,
    containing: tuple[int, ...] = (),
    find_all: bool = False,
    known: Floats | float = np.inf,
) -> Search[Separations]:
    """Find sets that separate each of `others` from the target.

    Parameters
    ----------
    test
        Used for the largest size of a set with a conclusive test; the questions themselves are yielded.
    members
        Variables from which sets are made; one of the others is left out of its own sets.
    largest, smallest
        Largest size of a set; None for no limit.
    containing
        These are in every set, and do not occur in `members`. They come first.
    find_all
        Continue after the first separating set.
    known
        Strength of the weakest dependence known for each of the others. A stronger test need not report by
        how much it is stronger; with 0 it reports no strength at all.
    """
    asked = SubsetQuestions(
        np.array([target]), np.zeros(len(others), np.int64), others, members[None], np.array([len(members)])
    )
    found = yield from separations_of_all(
        test,
        asked,
        largest,
        fixed=np.array([containing], np.int64).reshape(1, -1),
        known=np.full(len(others), known, np.float64),
        smallest=smallest,
        find_all=find_all,
    )
    sets: dict[int, list[tuple[int, ...]]] = {}
    for position, given in found.sets():
        sets.setdefault(int(others[position]), []).append(given)
    return Separations(sets, found.separated, found.weakest)


def only_shown_spouses(
    search: Search[Neighborhood], test: IndependenceTest, target: int, rules: Constraints
) -> Search[Neighborhood]:
    """Drop members of a blanket whose edge to the target is forbidden, unless they are shown to be spouses.

    They are if a set separates the two, and they become dependent given also a member that may be a child of
    both.
    """
    found = yield from search
    members = found.members
    adjacent = rules.allows_adjacency(np.full(len(members), target), members)
    if adjacent.all():
        return found
    separated = yield from separations(
        test, target, members[~adjacent], members, MOST_BETWEEN_SPOUSES, known=0.0
    )
    asked = [
        (other, (*given, int(child)))
        for other, given in separated.first_sets.items()
        for child in members.tolist()
        if child not in (other, *given) and rules.allows(np.array([target, other]), np.array([child])).all()
    ]
    answers = yield [
        Questions(np.array([target]), np.array([other]), np.array([given])) for other, given in asked
    ]
    shown = [o for (o, _), one in zip(asked, answers, strict=True) if one.answer[0] == DEPENDENT]
    kept = adjacent | np.isin(members, shown)
    return replace(found, members=members[kept], strengths=found.strengths[kept])


def marginal_strengths(
    target: int, others: Integers, *, keep_inconclusive: bool = False
) -> Search[tuple[Integers, Floats, dict[int, tuple[int, ...]]]]:
    """Test the target with each of some other variables alone.

    Returns the variables that depend on the target, in the order of their names, with the strength of each,
    and the empty separating sets of those that do not. If the test is inconclusive, a variable is in neither,
    unless it is to be kept: then its strength is 0.
    """
    [answers] = yield [Questions(np.full(len(others), target), others, np.empty((len(others), 0), np.int64))]
    apart = answers.answer == INDEPENDENT
    chosen = ~apart if keep_inconclusive else answers.answer == DEPENDENT
    strengths = np.where(answers.answer == INCONCLUSIVE, 0.0, answers.strength)
    return others[chosen], strengths[chosen], dict.fromkeys(others[apart].tolist(), ())


class SubsetQuestions(NamedTuple):
    """Targets, the other variables that each asks about, and the members of which sets are made.

    Entry p of `others` belongs to the target ``targets[owner[p]]``; `owner` is ascending. Row t of `members`
    has those of target t, up to ``n_members[t]``; what follows is padding.
    """

    targets: Integers
    owner: Integers
    others: Integers
    members: Integers
    n_members: Integers


class SeparationsOfAll(NamedTuple):
    """Result of a search through subsets for many targets, by the positions of `SubsetQuestions.others`.

    `found` has positions and sets, one a row, in the order in which they were found.
    """

    found: list[tuple[Integers, Integers]]
    separated: NDArray[np.bool_]
    weakest: Floats

    def sets(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield positions, each with a set that separates it."""
        for positions, given in self.found:
            yield from zip(positions.tolist(), map(tuple, given.tolist()), strict=True)


def separations_of_all(
    test: IndependenceTest,
    asked: SubsetQuestions,
    largest: int | None,
    *,
    fixed: Integers,
    known: Floats,
    smallest: int = 0,
    find_all: bool = False,
    asked_up_to: Integers | None = None,
) -> Search[SeparationsOfAll]:
    """Look for separating sets of many targets at once, each as `separations` does.

    `fixed` has a row for each target, which is in all of its sets; `known` an entry for each of the others,
    and `asked_up_to` the position among the members up to which all sets are known not to separate it.
    """
    from f2sl.learners.local import _kernels

    # One layout for all arrays: the kernel is compiled once.
    targets, owner, others, members, n_members = map(np.ascontiguousarray, asked)
    n_targets, n_fixed = fixed.shape
    result = SeparationsOfAll([], np.zeros(len(others), np.bool_), known.copy())
    capacity = test.max_configurations(targets[owner], others) / test.configurations(fixed)[owner]
    weights = test.configurations(members.reshape(-1, 1)).reshape(members.shape)
    asked_up_to = np.full(len(others), -1) if asked_up_to is None else np.ascontiguousarray(asked_up_to)
    alive = np.flatnonzero(capacity >= 1)
    # Where strengths count, tests with the same target and set are counted together.
    by_set = bool(known.any())
    most = int(n_members.max(initial=0)) + n_fixed
    alive_start, most_sets = np.empty(n_targets + 1, np.int64), np.empty(n_targets, np.int64)
    fits, done = np.empty(n_targets), np.empty(n_targets, np.bool_)
    for size in range(max(smallest, n_fixed), (most if largest is None else min(largest, most)) + 1):
        free = size - n_fixed
        combination = np.empty((n_targets, free), np.int64)
        state = (fits, most_sets, combination, done)
        numbers = _numbers_of_sets(most - n_fixed, free, QUESTIONS_AT_ONCE)
        of_one, of_all = _kernels.begin_size(
            owner, alive, capacity, n_members, numbers, QUESTIONS_AT_ONCE, alive_start, *state
        )
        rows = min(max(QUESTIONS_PER_BATCH, of_one), of_all)
        which, given = np.empty(rows, np.int64), np.empty((rows, free), np.int64)
        first, anything = 0, False
        while not done.all():
            asking = (alive, alive_start, others, capacity, asked_up_to, members, weights, n_members)
            n, first = _kernels.next_questions(first, *asking, *state, by_set, which, given)
            first %= n_targets
            if not n:
                continue
            anything = True
            position = which[:n].copy()
            sets = np.concatenate([fixed[owner[position]], given[:n]], axis=1)
            [answers] = yield [
                Questions(targets[owner[position]], others[position], sets, result.weakest[position])
            ]
            separating = np.empty(n, np.int64)
            n_separating = _kernels.take_answers(
                position,
                answers.answer,
                answers.strength,
                find_all,
                result.weakest,
                result.separated,
                separating,
            )
            if not n_separating:
                continue
            separating = separating[:n_separating]
            result.found.append((position[separating], sets[separating]))
            if not find_all:
                alive = alive[~result.separated[alive]]
                np.cumsum(np.bincount(owner[alive], minlength=n_targets), out=alive_start[1:])
        if not anything or not len(alive):  # nor is there anything to ask with larger sets
            break
    return result


@lru_cache(maxsize=64)
def _numbers_of_sets(members: int, size: int, most: int) -> Integers:
    """Return how many sets of `size` there are of 0, 1, 2, ... members, up to `most`."""
    return np.array([min(comb(n, size), most) for n in range(members + 1)], np.int64)
