"""What the learners of structures share that find the best networks around each variable.

They go from the local to the global with the local learners by score (:mod:`f2sl.local.by_score`), and like
these can be stopped by a time limit or by Ctrl-C. What was finished is then a graph, said to be incomplete.
"""

from __future__ import annotations

from typing import Any

from f2sl.errors import Interrupted
from f2sl.graph import PDAG
from f2sl.local.by_score import ByScore, Run
from f2sl.skeleton import Skeleton, join
from f2sl.storage.protocol import CountingEngine
from f2sl.structure.base import StructureLearner
from f2sl.structure.local_to_global import as_graph, by_name


class ByBestNetworks(StructureLearner):
    """Base of SLL+C, SLL+G and GGSL.

    Options and attributes are described where they are met, in the first of these.
    """

    strength_unit = "log score"

    score: str
    equivalent_sample_size: float
    order: str
    ties: str
    max_exact: int
    max_indegree: int | None
    time_limit: float | None

    pc_: dict[str, list[str]]
    skeleton_: PDAG
    n_exact_: int
    n_climbed_: int

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

    def check_options(self) -> None:
        """Refuse options that make no sense."""
        self._local_learner().check_options()

    def _options_of_networks(self) -> dict[str, Any]:
        """Give the options that the local learners share."""
        return {name: getattr(self, name) for name in ByScore.option_defaults()}

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
        columns = self.feature_names_in_.tolist()
        with self._timed("skeleton"):
            near = run.sets({target: around.near for target, around in run.found.items()}, run.found)
            self.pc_ = by_name(near, names, columns)
            skeleton = join(near, "and")
            self.skeleton_ = as_graph(skeleton, names).reorder(columns)
        with self._timed("orientation"):
            return self._oriented(run, names, skeleton)
