"""Family scores under a limit on parents and constraints on edges.

A search over DAGs never asks whether an edge is allowed. It asks for scores, and a family (a variable and its
parents) that breaks a rule scores so low that no search chooses it. So the rules are implemented once, here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from f2sl._arrays import Floats
from f2sl.constraints import Constraints

Family = tuple[int, tuple[int, ...]]


class Admissible:
    """Scores of families in which families that break a rule score minus infinity.

    Parameters
    ----------
    families : object with the method `score`
        The scores themselves.
    max_parents : int, optional
        Largest number of parents; None for any number.
    constraints : Constraints, optional
        Forbidden and required arcs; None for none.
    """

    def __init__(
        self, families: Any, max_parents: int | None = None, constraints: Constraints | None = None
    ) -> None:
        self.families = families
        self.max_parents = max_parents
        self.constraints = constraints
        self._required: dict[int, set[int]] = {}
        if constraints is not None:
            for parent, child in constraints.required.tolist():
                self._required.setdefault(child, set()).add(parent)

    def score(self, families: Sequence[Family]) -> Floats:
        """Score families (child, parents in ascending order); minus infinity if they break a rule."""
        allowed = self._allowed(families)
        scores = np.full(len(families), -np.inf)
        scores[allowed] = self.families.score(
            [family for family, may in zip(families, allowed, strict=True) if may]
        )
        return scores

    def _allowed(self, families: Sequence[Family]) -> Any:
        allowed = np.ones(len(families), np.bool_)
        if self.max_parents is not None:
            allowed &= np.array([len(parents) <= self.max_parents for _, parents in families], np.bool_)
        if self.constraints is not None:
            owner = np.repeat(np.arange(len(families)), [len(parents) for _, parents in families])
            children = np.array([child for child, _ in families], np.int64)
            flat = np.array([parent for _, parents in families for parent in parents], np.int64)
            allowed[owner[~self.constraints.allows(flat, children[owner])]] = False
            for position, (child, parents) in enumerate(families):
                allowed[position] &= self._required.get(child, set()).issubset(parents)
        return allowed
