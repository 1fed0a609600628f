"""Answer the searches of `learners/local/growing.py` from the samples of a table in memory.

Asking an engine for the value of each set takes a few microseconds for each, and the sets of a candidate are
counted before it is known whether the search gets that far. With the samples at hand one kernel
(`_kernels.py`) goes through the candidates of a search, counts what each needs, finds the network, and stops
at the first change. The values, networks and rules about ties are the same.

It applies to BDeu, to tables in memory, and to variables without missing values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.memory.engine import LARGEST_REFINING, MemoryEngine
from f2sl.stats.scores._kernels import LARGEST_EXACT
from f2sl.stats.scores.tables import BDeuOfSets, terms_for

if TYPE_CHECKING:
    from f2sl.learners.local.from_rows._kernels import CachedGains, Tally
    from f2sl.learners.local.growing import Problems
    from f2sl.search.climbing._kernels import Climb
    from f2sl.stats.scores.sets import SetScores

SIZES_KEPT, FAMILIES_KEPT = 1021, 4096
"""Places in the caches of the kernels, a prime number and a power of two: at most 8 MB of terms for each
thread, of which half is used, and `GAINS_KEPT`."""

GAINS_KEPT = 1 << 22
"""Largest number of gains in the cache of families, 32 MB for each thread."""


class Found(NamedTuple):
    """Number of candidates tried, whether the last changes something, and its network.

    `parents` has a mask for each member of the row; without a change, an exact search does not fill them in.
    """

    n: int
    changed: bool
    parents: list[int]


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
        # Caches and scratch memory that no thread uses at the moment.
        self._free: list[tuple[Tally, CachedGains, dict[int, Climb]]] = []

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
        from f2sl.learners.local.from_rows import _kernels

        trial = problems.trial
        parents = np.zeros(problems.members.shape[1], np.int64)
        with self._tools() as (tally, _, _):
            tried = _kernels.try_in_turn(
                tally,
                *self._asked(problems),
                problems.mask(trial.around.near),
                problems.mask(trial.around.spouses),
                trial.with_spouses,
                trial.near_is_final,
                worth_of_ties,
                rules,
                parents,
            )
        return Found(tried, bool(parents[0] >= 0), parents.tolist())

    def climb(self, problems: Problems, max_parents: int | None) -> Found | None:
        """Climb to networks with the candidates in turn; return None if a family is too large."""
        from f2sl.learners.local.from_rows import _kernels
        from f2sl.search.hill_climbing import TABU_LENGTH, new_climb

        trial = problems.trial
        k = problems.members.shape[1]
        arrows = np.empty((k, k), np.bool_)
        with self._tools() as (tally, families, climbs):
            if k not in climbs:
                pairs = np.column_stack(np.triu_indices(k, 1))
                climbs[k] = new_climb(k, pairs, TABU_LENGTH, self._random(k * (k - 1)))
            tried, changed = _kernels.climb_in_turn(
                tally,
                families,
                *self._asked(problems),
                climbs[k],
                self._alone[problems.members].sum(axis=1),
                np.isin(problems.around, list(trial.around.near)),
                np.isin(problems.around, list(trial.around.spouses)),
                trial.with_spouses,
                trial.near_is_final,
                k if max_parents is None else max_parents,
                arrows,
            )
        if tried == _kernels.TOO_LARGE:
            return None
        own = [sum(1 << u for u, there in enumerate(row) if there) for row in arrows.T.tolist()]
        return Found(tried, changed, own)

    def _asked(self, problems: Problems) -> tuple[Integers, Integers, Integers, int, Integers, Integers]:
        """Return what both kernels take first."""
        around = problems.around
        target = int(np.searchsorted(around, problems.trial.target))
        return self._codes, self._states, around, target, problems.candidates, problems.candidate_position

    @contextmanager
    def _tools(self) -> Iterator[tuple[Tally, CachedGains, dict[int, Climb]]]:
        """Lend caches and scratch memory to one thread."""
        try:
            tools = self._free.pop()
        except IndexError:
            tools = self._new_tally(), self._new_families(), {}
        yield tools
        self._free.append(tools)

    def _new_tally(self) -> Tally:
        """Return empty tables and scratch memory for counting."""
        from f2sl.learners.local.from_rows._kernels import Tally

        n_rows = self._codes.shape[1]
        cells = n_rows * int(self._most)
        return Tally(
            ess=self._formula.equivalent_sample_size,
            known=terms_for(SIZES_KEPT, n_rows, self._formula.unit),
            cells=np.zeros(cells, np.int64),
            labels=np.empty(cells, np.int32),
            numbers=np.zeros(cells, np.int32),
            keys=np.empty(n_rows, np.int64),
            rows=np.empty((2, n_rows), np.int32),
        )

    def _new_families(self) -> CachedGains:
        """Return an empty cache of gains."""
        from f2sl.learners.local.from_rows._kernels import CachedGains

        n = len(self._states)
        kept = min(FAMILIES_KEPT, 1 << max(0, (GAINS_KEPT // n).bit_length() - 1))
        return CachedGains(
            child=np.full(kept, -1, np.int64),
            parents=np.empty((kept, -(-n // 64)), np.int64),
            gains=np.empty((kept, n)),
            hashes=self._random(2 * n).reshape(2, n),
        )

    def _random(self, n: int) -> Integers:
        """Return n random numbers, always the same."""
        if len(self._hashes) < n:
            self._hashes = np.random.default_rng(0).integers(0, 2**63 - 1, 2 * n)
        return self._hashes[:n]
