"""Separating sets of pairs of variables, for more pairs than fit in a dictionary.

Around a variable with d neighbors there are d^2 / 2 pairs, and most of them are separated. Here a pair takes
three numbers, where a dictionary with its keys and tuples takes some 300 bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Integers

Label = TypeVar("Label", int, str)
Members = NDArray[np.int32]
SHOWN = 5
"""Pairs that are shown where all are printed."""


class SeparatingSets(Mapping[tuple[Label, Label], tuple[Label, ...]], Generic[Label]):
    """Mapping from pairs (A, D) to their separating sets.

    Parameters
    ----------
    labels
        Names of variables 0, 1, 2, ... in ascending order: ``range(n)``, or sorted names.
    keys
        ``A * n + D`` for each pair, ascending.
    start, members
        The set of the pair at position p is ``members[start[p]:start[p + 1]]``.

    Examples
    --------
    >>> sets = SeparatingSets(range(4), np.array([2, 7]), np.array([0, 0, 1]), np.array([2]))
    >>> sets[0, 2], sets[1, 3], (2, 3) in sets
    ((), (2,), False)
    >>> dict(sets.named(("a", "b", "c", "d")))
    {('a', 'c'): (), ('b', 'd'): ('c',)}
    """

    def __init__(self, labels: Sequence[Label], keys: Integers, start: Integers, members: Members) -> None:
        self._labels: Sequence[Label] = labels
        self._keys = keys
        self._start = start
        self._members = members

    def named(self, names: Sequence[str]) -> SeparatingSets[str]:
        """Return the same sets by names, which are sorted."""
        return SeparatingSets(names, self._keys, self._start, self._members)

    def either_way(self) -> SeparatingSets[Label]:
        """Return the sets of all pairs (A, D) with A < D; that of (D, A) if there is none of (A, D).

        Examples
        --------
        >>> sets = SeparatingSets(range(3), np.array([1, 3, 6]), np.array([0, 0, 1, 1]), np.array([2]))
        >>> dict(sets), dict(sets.either_way())
        ({(0, 1): (), (1, 0): (2,), (2, 0): ()}, {(0, 1): (), (0, 2): ()})
        """
        a, d = np.divmod(self._keys, len(self._labels))
        # Those with A < D come first, so that of two equal keys theirs counts.
        order = np.concatenate([np.flatnonzero(a < d), np.flatnonzero(a > d)])
        keys, first = np.unique(
            (np.minimum(a, d) * len(self._labels) + np.maximum(a, d))[order], return_index=True
        )
        sizes = np.diff(self._start)
        start, members = _gather(self._members, self._start[order[first]], sizes[order[first]])
        return SeparatingSets(self._labels, keys, start, members)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[tuple[Label, Label]]:
        for key in self._keys.tolist():
            a, d = divmod(key, len(self._labels))
            yield self._labels[a], self._labels[d]

    def __getitem__(self, pair: tuple[Label, Label]) -> tuple[Label, ...]:
        try:
            a, d = (self._number(label) for label in pair)
        except (TypeError, ValueError):
            raise KeyError(pair) from None
        key = a * len(self._labels) + d
        position = int(np.searchsorted(self._keys, key))
        if position == len(self) or self._keys[position] != key:
            raise KeyError(pair)
        members = self._members[self._start[position] : self._start[position + 1]].tolist()
        return tuple([self._labels[member] for member in members])

    def _number(self, label: Label) -> int:
        number = bisect_left(self._labels, label)
        if number == len(self._labels) or self._labels[number] != label:
            raise ValueError(label)
        return number

    def __repr__(self) -> str:
        first = ", ".join(f"{pair!r}: {self[pair]!r}" for pair in islice(self, SHOWN))
        more = f", ...; {len(self):,} pairs" if len(self) > SHOWN else ""
        return f"SeparatingSets({{{first}{more}}})"


class Collected:
    """Separating sets found so far; if a pair has several, the first counts."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._new: list[tuple[Integers, Integers]] = []
        self._keys = [np.empty(0, np.int64)]
        self._sizes = [np.empty(0, np.int64)]
        self._members = [np.empty(0, np.int32)]

    def add(self, a: Integers, d: Integers, given: Integers) -> None:
        """Add the rows of `given` as separating sets of the pairs (a, d)."""
        self._new.append((a * self._n + d, given))

    def end_part(self) -> None:
        """Finish the pairs added so far; pairs added later follow in the order."""
        if not self._new:
            return
        keys, first = np.unique(np.concatenate([keys for keys, _ in self._new]), return_index=True)
        sizes = np.concatenate([np.full(len(given), given.shape[1]) for _, given in self._new])
        members = np.concatenate([given.ravel() for _, given in self._new])
        begin = (np.cumsum(sizes) - sizes)[first]
        self._keys.append(keys)
        self._sizes.append(sizes[first])
        self._members.append(_gather(members, begin, sizes[first])[1].astype(np.int32))
        self._new.clear()

    def finish(self) -> SeparatingSets[int]:
        """Return all sets."""
        self.end_part()
        start = np.concatenate([[0], np.cumsum(np.concatenate(self._sizes))])
        keys, members = np.concatenate(self._keys), np.concatenate(self._members)
        return SeparatingSets(range(self._n), keys, start, members)


def _gather(members: NDArray[Any], begin: Integers, sizes: Integers) -> tuple[Integers, NDArray[Any]]:
    """Return parts of an array one after another: where each begins there, and the parts."""
    start = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], sizes)
    return start, members[np.repeat(begin, sizes) + within]


def named_sets(
    sets: Mapping[tuple[int, int], tuple[int, ...]], names: tuple[str, ...]
) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Turn separating sets by number into sets by name, each pair once, its earlier name first."""
    if isinstance(sets, SeparatingSets):
        return sets.either_way().named(names)
    named: dict[tuple[str, str], tuple[str, ...]] = {}
    for (a, b), given in sets.items():
        pair = (names[a], names[b]) if a < b else (names[b], names[a])
        if pair not in named:
            named[pair] = tuple([names[s] for s in given])
    return named
