"""Answer the searches of `local/growing.py` from the samples of a table in memory.

Asking an engine for the value of each set takes a few microseconds for each, and the sets of a candidate are
counted before it is known whether the search gets that far. With the samples at hand one kernel
(`_kernels.py`) goes through the candidates of a search, counts what each needs, finds the network, and stops
at the first change. The values, networks and rules about ties are the same.

It applies to BDeu, to tables in memory, and to variables without missing values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl.stats.scores._kernels import LARGEST_EXACT
from f2sl.stats.scores.dirichlet import COUNTS_REMEMBERED, BDeuOfSets
from f2sl.storage.memory.engine import LARGEST_REFINING, MemoryEngine

if TYPE_CHECKING:
    from f2sl.local.growing import Problems
    from f2sl.stats.scores.sets import SetScores

SIZES_KEPT, FAMILIES_KEPT = 512, 1024
"""Places in the caches of the kernels, powers of two: 4 MB for each thread, and some 100 kB for each call."""


class Found(NamedTuple):
    """Number of candidates tried, and the network of the last if it changes something.

    `parents` has a mask for each member of the row; None for no change.
    """

    n: int
    parents: list[int] | None


class FromRows:
    """Finds networks from the samples of a table in memory.

    Attributes
    ----------
    threads : Threads
        Those of the engine.
    """

    def __init__(self, engine: MemoryEngine, formula: BDeuOfSets, alone: Floats) -> None:
        self.threads = engine.threads
        self._codes = engine.codes
        self._states = engine.cardinalities
        self._formula = formula
        self._alone = alone
        self._most = float(engine.cardinalities.max(initial=1))
        self._hashes: Integers = np.empty(0, np.int64)
        # Caches of terms that no thread uses at the moment.
        self._terms: list[tuple[Floats, Integers]] = []

    @classmethod
    def of(cls, scores: SetScores) -> FromRows | None:
        """Return an object for these scores, None if they are not BDeu of a complete table in memory."""
        engine, formula = scores.engine, scores.formula
        if not isinstance(engine, MemoryEngine) or not isinstance(formula, BDeuOfSets) or engine.presence.any:
            return None
        if engine.n_rows * int(engine.cardinalities.max(initial=1)) > LARGEST_REFINING:
            return None
        nothing, alone = scores.lattices(np.arange(engine.n_variables)[:, None]).T
        return cls(engine, formula, (alone - nothing) * scores.unit)

    def takes(self, around: Integers) -> bool:
        """Return whether all sets of these variables and a candidate are small enough for an exact search."""
        return bool(np.prod(self._states[around].astype(np.float64)) * self._most <= LARGEST_EXACT)

    def solve(self, problems: Problems, rules: Integers, worth_of_ties: int) -> Found:
        """Find the best networks with the candidates in turn, until the surroundings change."""
        from f2sl.local.from_rows import _kernels

        turns = problems.turns
        parents = np.zeros(problems.members.shape[1], np.int64)
        cache = self._cache()
        tried = _kernels.try_in_turn(
            *self._asked(problems),
            problems.mask(turns.around.near),
            problems.mask(turns.around.spouses),
            turns.with_spouses,
            turns.near_is_settled,
            worth_of_ties,
            rules,
            self._formula.equivalent_sample_size,
            self._formula.unit,
            *cache,
            parents,
        )
        self._terms.append(cache)
        return Found(tried, None if parents[0] < 0 else parents.tolist())

    def climb(self, problems: Problems, max_parents: int | None) -> Found | None:
        """Climb to networks with the candidates in turn; return None if a family is too large."""
        from f2sl.local.from_rows import _kernels

        turns = problems.turns
        k = problems.members.shape[1]
        arrows = np.empty((k, k), np.bool_)
        cache = self._cache()
        tried, changed = _kernels.climb_in_turn(
            *self._asked(problems),
            np.array([self._alone[row].sum() for row in problems.members]),
            _flags(problems.around, turns.around.near),
            _flags(problems.around, turns.around.spouses),
            turns.with_spouses,
            turns.near_is_settled,
            k if max_parents is None else max_parents,
            self._formula.equivalent_sample_size,
            self._formula.unit,
            *cache,
            FAMILIES_KEPT,
            self._random(k * k),
            arrows,
        )
        self._terms.append(cache)
        if tried == _kernels.TOO_LARGE:
            return None
        if not changed:
            return Found(tried, None)
        # From the kernel's numbers, with the candidate last, to places.
        order = np.argsort([*problems.around, problems.candidates[tried - 1]])
        own = arrows[np.ix_(order, order)].T.tolist()
        return Found(tried, [sum(1 << u for u, there in enumerate(row) if there) for row in own])

    def _asked(self, problems: Problems) -> tuple[Integers, Integers, Integers, int, Integers, Integers]:
        """Return what both kernels take first."""
        around = problems.around
        target = int(np.searchsorted(around, problems.turns.target))
        return self._codes, self._states, around, target, problems.candidates, problems.candidate_place

    def _cache(self) -> tuple[Floats, Integers]:
        """Return a cache of terms for one thread."""
        try:
            return self._terms.pop()
        except IndexError:
            kept = min(self._codes.shape[1] + 1, COUNTS_REMEMBERED)
            return np.zeros(SIZES_KEPT), np.empty((SIZES_KEPT, kept), np.int64)

    def _random(self, n: int) -> Integers:
        """Return n random numbers, always the same."""
        if len(self._hashes) < n:
            self._hashes = np.random.default_rng(0).integers(0, 2**63 - 1, 2 * n)
        return self._hashes[:n]


def _flags(around: Integers, some: dict[int, float]) -> Mask:
    """Return which of those around the target, and of the candidate behind them, are among some."""
    return np.append(np.isin(around, list(some)), False)
