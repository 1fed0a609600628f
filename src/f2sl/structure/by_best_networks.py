"""What the learners of structures share that find the best networks around each variable.

They go from the local to the global with the local learners by score (:mod:`f2sl.local.by_score`), and like
these can be stopped by a time limit or by Ctrl-C. What was finished is then a graph, said to be incomplete.
"""

from __future__ import annotations

from typing import Any

from f2sl.errors import Interrupted
from f2sl.graph import PDAG
from f2sl.local.by_score import ByScore, Run, WithNetworks
from f2sl.skeleton import Skeleton, constrained, join
from f2sl.storage.protocol import CountingEngine
from f2sl.structure.base import StructureLearner


class ByBestNetworks(StructureLearner, WithNetworks):
    """Base of SLL+C, SLL+G and GGSL, whose attributes are described in the first of these."""

    takes = ("states",)
    strength_unit = "log score"

    def _local_learner(self) -> ByScore:
        """Make the learner of what is around each variable, which knows what options make sense."""
        raise NotImplementedError

    def _explore(self, run: Run, names: tuple[str, ...]) -> None:
        """Find what is around all variables, as far as time allows."""
        self._local_learner().explore_all(run)

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        """Orient the edges; after an interrupt, as far as that takes no time."""
        raise NotImplementedError

    def _how_far(self, run: Run) -> str:
        """Say how far the work had come when it was ended early."""
        return f"with {len(run.found):,} of {run.n:,} variables finished"

    def _like(self, learner: type[ByScore], **options: Any) -> ByScore:
        """Make a local learner with the same options for its networks."""
        return learner(**{name: getattr(self, name) for name in WithNetworks.option_defaults()}, **options)

    def _learn(self, engine: CountingEngine, names: tuple[str, ...]) -> PDAG:
        run = Run(self._local_learner(), engine)
        try:
            with self._timed("neighbours"):
                self._explore(run, names)
            graph = self._finish(run, names)
        except KeyboardInterrupt:
            run.interrupted = True
            graph = self._finish(run, names)
        self.complete_ = not (run.out_of_time or run.interrupted)
        self.notes_ += run.notes(self._how_far(run))
        self.n_exact_, self.n_climbed_ = run.grower.n_exact, run.grower.n_climbed
        if run.interrupted:
            raise Interrupted(graph)
        return graph

    def _finish(self, run: Run, names: tuple[str, ...]) -> PDAG:
        """Make a graph of what was found."""
        with self._timed("skeleton"):
            near = run.sets({target: around.near for target, around in run.found.items()}, run.found)
            self.pc_ = self._named(near, names)
            skeleton = constrained(join(near, "and"), self._constraints)
            self._keep_skeleton(skeleton, names)
        with self._timed("orientation"):
            return self._oriented(run, names, skeleton)
