"""Queue of variables that wait to join a target's set, by association: for HITON-PC and BAMB.

On its turn a variable joins unless some subset of the members separates it from the target. Testing one
variable at a time would lead to many small batches. Instead, whenever a member joins, all waiting variables
are tested with the sets that this member makes possible, so the answer is known on a variable's turn. When a
member leaves, the variables that it helped to separate are tested again.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.learners.local.base import strongest_first
from f2sl.learners.local.lockstep import Search
from f2sl.learners.local.subset_search import Separations, separations
from f2sl.stats.answers import IndependenceTest

Sets = dict[int, tuple[int, ...]]


class Waiting:
    """Variables that wait for their turn, and the sets that already separate some of them.

    Those without an entry in `separated` have been tested with all subsets of the members: the first of them
    is the next to join. `weakest` has the smallest strength found for every variable.
    """

    def __init__(
        self,
        test: IndependenceTest,
        target: int,
        variables: Integers,
        strengths: Floats,
        max_cond_vars: int | None,
    ) -> None:
        self.test = test
        self.target = target
        self.max_cond_vars = max_cond_vars
        self.queue: Integers = variables[strongest_first(variables, strengths)]
        self.weakest: dict[int, float] = dict(zip(variables.tolist(), strengths.tolist(), strict=True))
        self.separated: Sets = {}

    def take(self) -> tuple[int | None, Sets]:
        """Return the next variable to join, if any, and those before it that are separated."""
        passed: Sets = {}
        while len(self.queue):
            first, self.queue = int(self.queue[0]), self.queue[1:]
            if first not in self.separated:
                return first, passed
            passed[first] = self.separated.pop(first)
        return None, passed

    def look_ahead(self, newest: int, older: Integers) -> Search[None]:
        """Test the waiting variables with the subsets of `older`, each together with `newest`."""
        others = without(self.queue, self.separated)
        found = yield from separations(
            self.test,
            self.target,
            others,
            older,
            self.max_cond_vars,
            containing=(newest,),
            known=self.known(others),
        )
        self._learn(others, found)

    def look_again(self, dropped: Collection[int], members: Integers) -> Search[None]:
        """Test again the variables that a dropped member helped to separate."""
        again = [w for w, given in self.separated.items() if not set(given).isdisjoint(dropped)]
        for other in again:
            del self.separated[other]
        others = np.array(again, np.int64)
        found = yield from separations(
            self.test, self.target, others, members, self.max_cond_vars, smallest=1, known=self.known(others)
        )
        self._learn(others, found)

    def known(self, variables: Integers) -> Floats:
        """Return the weakest dependence found so far of some variables."""
        return np.array([self.weakest[variable] for variable in variables.tolist()], np.float64)

    def note(self, variables: Integers, found: Separations) -> None:
        """Store the weakest dependence found for some variables."""
        for variable, low in zip(variables.tolist(), found.weakest.tolist(), strict=True):
            self.weakest[variable] = min(self.weakest[variable], low)

    def _learn(self, others: Integers, found: Separations) -> None:
        self.note(others, found)
        self.separated.update(found.first_sets)


def without(variables: Integers, left_out: Collection[int]) -> Integers:
    """Return the variables that are not left out, in their order."""
    return variables[~np.isin(variables, list(left_out))] if left_out else variables
