"""Search for subsets that separate a target from others, shared by MMPC, HITON-PC, PC-simple and the rest.

The question is always whether some S among a few members makes a variable independent of the target.
Subsets come by size, and of one size in the order of the members. Many others are asked about at once,
each with all subsets of a block; one that is separated need not be asked about further.

Sets too large for a conclusive test are skipped: such a test cannot separate anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.local.lockstep import Questions, Search
from f2sl.stats.answers import DEPENDENT, INDEPENDENT, IndependenceTest, subsets

QUESTIONS_AT_ONCE = 1 << 13
"""Number of questions to ask before dropping those that have become needless."""


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
    weakest = np.full(len(others), known, np.float64)
    result = Separations({}, np.zeros(len(others), np.bool_), weakest)
    if not len(others):
        return result
    fixed = np.array(containing, np.int64)
    room = test.max_configurations(np.full(len(others), target), others) / test.configurations(fixed[None, :])
    most_room = room.max()
    if most_room < 1:
        return result
    # Members too large for any reliable test are left out before sets are made of them.
    weights = test.configurations(members[:, None])
    usable = weights <= most_room
    members, lightest = members[usable], np.sort(weights[usable])
    most = len(members) + len(fixed)
    most = most if largest is None else min(largest, most)
    alive = np.arange(len(others))
    for size in range(max(smallest, len(fixed)), most + 1):
        if lightest[: size - len(fixed)].prod() > most_room:
            break
        for free in subsets(members, size - len(fixed)):
            weight = test.configurations(free)
            if size > len(fixed):
                fits = weight <= room[alive].max()
                free, weight = free[fits], weight[fits]
            step = max(1, QUESTIONS_AT_ONCE // len(alive))
            for first in range(0, len(free), step):
                part = free[first : first + step]
                possible = weight[None, first : first + step] <= room[alive][:, None]
                if size > len(fixed):
                    possible &= (part[None, :, :] != others[alive][:, None, None]).all(axis=2)
                row, column = possible.nonzero()
                if not len(row):
                    continue
                which = alive[row]
                given = np.empty((len(row), size), np.int64)
                given[:, : len(fixed)], given[:, len(fixed) :] = fixed, part[column]
                [answers] = yield [
                    Questions(np.full(len(which), target), others[which], given, result.weakest[which])
                ]
                dependent = answers.answer == DEPENDENT
                np.minimum.at(result.weakest, which[dependent], answers.strength[dependent])
                separating = (answers.answer == INDEPENDENT).nonzero()[0]
                if not len(separating):
                    continue
                result.separated[which[separating]] = True
                pairs = zip(others[which[separating]].tolist(), given[separating].tolist(), strict=True)
                for other, members_of in pairs:
                    sets = result.sets.setdefault(other, [])
                    if find_all or not sets:
                        sets.append(tuple(members_of))
                if not find_all:
                    alive = alive[~result.separated[alive]]
                    if not len(alive):
                        return result
    return result
