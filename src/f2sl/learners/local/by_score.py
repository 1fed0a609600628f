"""Shared steps of the learners by best networks, of neighbors, of blankets and of whole graphs.

Each algorithm is a search for one target (`local/growing.py`) that asks for the best network over a
few variables again and again. A :class:`Run` runs it for one target or for all: many at a time, so that their
requests can be counted together, but not all at once, so that some finish early. After a time limit or
Ctrl-C, the finished targets are the result.

The *strength* of an edge is the loss in the best network's score without it, in nats.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Integers
from f2sl._deadline import Deadline, TimeUp, current
from f2sl._notes import Note, Use
from f2sl._options import option, whole
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.engines import CountingEngine
from f2sl.errors import Interrupted
from f2sl.learners.local.base import Neighborhood, Neighborhoods, flatten
from f2sl.learners.local.growing import Grower, Growth, Surroundings
from f2sl.learners.local.lockstep import together
from f2sl.stats.choose import check_set_score, make_set_scores

Found = dict[int, Surroundings]
"""Neighbors and spouses of each finished target."""

LARGEST_EXACT = 20
"""Each additional variable doubles time and memory; 20 take seconds and hundreds of MB."""

TARGETS_AT_ONCE = 16

ROUNDED_BITS = 20
"""Number of last bits of a gain to ignore, because rounding may differ between equal gains."""


def network_option(name: str) -> Any:
    """Declare an option of the search for the best networks over a few variables, with its usual default.

    All learners by best networks have the same: `score`, `equivalent_sample_size`, `order`, `ties`,
    `max_exact`, `max_parents` and `time_limit`. Above `max_exact` variables hill climbing replaces the exact
    search.
    """
    if name == "score":
        return option(name, "bdeu", check=check_set_score)
    if name == "max_exact":
        return option(name, 13, check=partial(whole, least=2, most=LARGEST_EXACT))
    return option(name, 1.0) if name == "equivalent_sample_size" else option(name)


class Run:
    """One call of a learner, with its cache of scores, its time limit and its finished results.

    Parameters
    ----------
    learner : Estimator
        Has the options of :func:`network_option`.
    engine : CountingEngine
        Counts states.
    rules : Constraints, optional
        Edges that may and must be found.

    Attributes
    ----------
    n : int
        Number of variables.
    grower : Grower
        Object that answers the searches.
    found : dict of int to Surroundings
        Surroundings of the targets whose searches have finished.
    spouses : dict of int to Surroundings
        The same for the second search of algorithms that have one.
    deadline : Deadline
        The learner's own time limit, or that of the fit that it is a part of.
    out_of_time, interrupted : bool
        True if the time limit or Ctrl-C ended the work.
    """

    def __init__(self, learner: Any, engine: CountingEngine, rules: Constraints | None = None) -> None:
        scores = make_set_scores(engine, learner.score, learner.equivalent_sample_size)
        self.n = len(engine.cardinalities)
        self.grower = Grower(scores, learner.max_exact, learner.max_parents, learner.ties, rules)
        self.found: Found = {}
        self.spouses: Found = {}
        self.out_of_time = False
        self.interrupted = False
        self.rules = rules
        self._order = learner.order
        self._varies: NDArray[np.bool_] = engine.cardinalities > 1
        self.deadline = current() if learner.time_limit is None else Deadline(learner.time_limit)
        self._latest: Found = {}

    def look_up(
        self,
        what: str,
        targets: Collection[int],
        search: Callable[[Run, int], Growth[Surroundings]],
        found: Found,
    ) -> None:
        """Run the searches of the targets that are not in `found`, until all are there or the time is up."""
        new = [target for target in targets if target not in found]
        with stage(what) as advance:
            self.run(new, search, found, lambda: advance(1.0 / len(new)))

    def run(
        self,
        targets: Iterable[int],
        search: Callable[[Run, int], Growth[Surroundings]],
        found: Found,
        on_finished: Callable[[], None],
    ) -> None:
        """Run the searches of some targets in lockstep; store each finished result in `found`."""

        def noting(target: int) -> Growth[None]:
            found[target] = yield from search(self, target)
            on_finished()

        if self.out_of_time:
            return
        searches = together((noting(target) for target in targets), TARGETS_AT_ONCE)
        asked = next(searches, None)
        while asked is not None and not self.out_of_time:
            self._latest.update((trial.target, trial.around) for trial in asked)
            try:
                asked = searches.send(self.grower.answer(asked))
            except StopIteration:
                return
            self.has_time()

    def has_time(self) -> bool:
        """Return whether there is time left, and remember if not."""
        self.out_of_time = self.out_of_time or self.deadline.passed
        return not self.out_of_time

    def around(self, target: int) -> Surroundings:
        """Return the current surroundings of a target, finished or not."""
        return self.found.get(target) or self._latest.get(target, Surroundings())

    def spouses_around(self, target: int) -> Surroundings:
        """Return the current result of the second search, finished or not."""
        return self.spouses.get(target) or self._latest.get(target, Surroundings())

    def allowed_neighbors(self, target: int) -> Integers:
        """List the variables that may be adjacent to the target, in the order in which to try them."""
        if self.rules is None:
            return self.others(target)
        return self.others(target, np.flatnonzero(self.rules.may_be_adjacent(target)).tolist())

    def others(self, target: int, among: Iterable[int] | None = None) -> Integers:
        """Return all variables but the target, or some, in the order in which to try them.

        Variables with one state are left out, and such a target has no candidates: an edge would not change
        any score.
        """
        others: Integers = np.arange(self.n) if among is None else np.array(sorted(among), np.int64)
        others = others[(others != target) & self._varies[others] & self._varies[target]]
        if self._order == "name":
            return others
        gain = (self.grower.gain(target, others) + (1 << ROUNDED_BITS - 1)) >> ROUNDED_BITS
        return others[np.lexsort((others, -gain))]

    def one(self, members: Mapping[int, float]) -> Neighborhood:
        """Return the set of one variable; if the time is up, it is not complete."""
        return replace(
            Neighborhood.of(members), complete=not self.out_of_time, notes=self.notes("before its end")
        )

    def all(self, explore: Callable[[], None], sets: Callable[[], Neighborhoods]) -> Neighborhoods:
        """Return the sets of all variables; on Ctrl-C, the interrupt carries the finished ones."""
        try:
            explore()
        except KeyboardInterrupt:
            self.interrupted = True
            raise Interrupted(sets()) from None
        except TimeUp:
            self.out_of_time = True
        return sets()

    def near_sets(self) -> Neighborhoods:
        """Return the neighbors of all finished targets."""
        return self.sets({target: around.near for target, around in self.found.items()}, self.found)

    def sets(self, members: Mapping[int, Mapping[int, float]], finished: Collection[int]) -> Neighborhoods:
        """Return all sets in one structure; unfinished sets are marked."""
        nothing: Mapping[int, float] = {}
        flat = flatten([Neighborhood.of(members.get(v, nothing)) for v in range(self.n)])
        done = np.isin(np.arange(self.n), list(finished))
        notes = self.notes(f"with {done.sum():,} of {self.n:,} variables finished")
        return replace(flat, finished=done, notes=notes)

    def notes(self, how_far: str) -> tuple[Note, ...]:
        """Return notes for the user about the run."""
        notes = []
        if self.interrupted:
            notes.append(Note("incomplete", f"incomplete: interrupted {how_far}", interrupted=True))
        elif self.out_of_time:
            limit = f"the time limit of {self.deadline.seconds:g} s ended the search {how_far}"
            notes.append(Note("incomplete", f"incomplete: {limit}", interrupted=False))
        climbed, exact = self.grower.n_climbed, self.grower.n_exact
        if climbed:
            large = f"{climbed:,} of {climbed + exact:,} networks had more than {self.grower.max_exact} "
            instead = "): hill climbing replaced the exact search"
            notes.append(Note("hill-climbing", large, "variables (", Use("max_exact"), instead))
        return tuple(notes)
