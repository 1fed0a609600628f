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

from f2sl._arrays import Integers
from f2sl.data.memory.engine import LARGEST_REFINING, MemoryEngine
from f2sl.stats.scores._kernels import LARGEST_EXACT
from f2sl.stats.scores.tables import BDeuOfSets, terms_for

if TYPE_CHECKING:
    from f2sl.learners.local.from_rows._kernels import Tally
    from f2sl.learners.local.growing import Problems
    from f2sl.stats.scores.sets import SetScores

SIZES_KEPT = 1021
"""Entries of the cache of terms, a prime number: at most 8 MB for each thread, of which half is used."""


class Found(NamedTuple):
    """Number of candidates tried, whether the last changes something, and its network.

    `parents` has a mask for each member of the row; without a change, it is not filled in.
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

    def __init__(self, engine: MemoryEngine, formula: BDeuOfSets) -> None:
        self.threads = engine.threads
        self._codes = engine.codes
        self._states = engine.cardinalities
        self._formula = formula
        self._most = float(engine.cardinalities.max(initial=1))
        # Caches and scratch memory that no thread uses at the moment.
        self._free: list[Tally] = []

    @classmethod
    def of(cls, scores: SetScores) -> FromRows | None:
        """Return an object for these scores, None if they are not BDeu of a complete table in memory."""
        engine, formula = scores.engine, scores.formula
        if not isinstance(engine, MemoryEngine) or not isinstance(formula, BDeuOfSets) or engine.presence.any:
            return None
        if engine.n_rows * int(engine.cardinalities.max(initial=1)) > LARGEST_REFINING:
            return None
        return cls(engine, formula)

    def takes(self, around: Integers) -> bool:
        """Return whether all sets of these variables and a candidate are small enough for an exact search."""
        return bool(np.prod(self._states[around].astype(np.float64)) * self._most <= LARGEST_EXACT)

    def solve(self, problems: Problems, rules: Integers, worth_of_ties: int) -> Found:
        """Find the best networks with the candidates in turn, until the surroundings change."""
        from f2sl.learners.local.from_rows import _kernels

        trial = problems.trial
        parents = np.zeros(problems.members.shape[1], np.int64)
        target = int(np.searchsorted(problems.around, trial.target))
        with self._tally() as tally:
            tried = _kernels.try_in_turn(
                tally,
                self._codes,
                self._states,
                problems.around,
                target,
                problems.candidates,
                problems.candidate_position,
                problems.mask(trial.around.near),
                problems.mask(trial.around.spouses),
                trial.with_spouses,
                trial.near_is_final,
                worth_of_ties,
                rules,
                parents,
            )
        return Found(tried, bool(parents[0] >= 0), parents.tolist())

    @contextmanager
    def _tally(self) -> Iterator[Tally]:
        """Lend a cache and scratch memory to one thread."""
        try:
            tally = self._free.pop()
        except IndexError:
            tally = self._new_tally()
        yield tally
        self._free.append(tally)

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
