"""What all scores of families share: they are asked for in batches, and counted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.storage.protocol import Queries


class FamilyScores:
    """Base of the scores: families some at a time, each remembered, or very many at once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, float] = {}
        self._n_at_once = 0

    @property
    def n_families(self) -> int:
        """Number of families that were scored."""
        return len(self._known) + self._n_at_once

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents in ascending order); what was scored before is remembered."""
        new = list(dict.fromkeys(family for family in families if family not in self._known))
        if new:
            values = self._evaluate(Queries.of([(*parents, child) for child, parents in new]))
            self._known.update(zip(new, values.tolist(), strict=True))
        return np.array([self._known[family] for family in families])

    def score_all(self, children: Integers, parents: Integers) -> Floats:
        """Score families of one size: a row of parents, in ascending order, for each child."""
        self._n_at_once += len(children)
        return self._evaluate(Queries.of_matrix(np.column_stack([parents, children])))

    def _evaluate(self, queries: Queries) -> Floats:
        """Score families that are listed with the parents first."""
        raise NotImplementedError
