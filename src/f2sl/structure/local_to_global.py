"""From the local to the global: neighbours of each variable, then a skeleton, then directions.

The three steps of the F2SL approach (section 5 of the paper). How neighbours are found and how
edges are oriented is for the learners built on this to say.
"""

from __future__ import annotations

from f2sl.counting.protocol import CountingEngine
from f2sl.graph import PDAG
from f2sl.local.base import LocalLearner, Neighbourhoods
from f2sl.skeleton import Skeleton, join
from f2sl.structure.base import StructureLearner


class LocalToGlobal(StructureLearner):
    """Base of the learners that go from the local to the global.

    Attributes
    ----------
    pc_ : dict of str to list of str
        The parents and children found for each variable, strongest first, before the sets were
        joined.
    skeleton_ : PDAG
        All edges, undirected, weighted by their strength.
    """

    symmetry: str

    pc_: dict[str, list[str]]
    skeleton_: PDAG

    def _local_learner(self) -> LocalLearner:
        """Make the learner of the first step."""
        raise NotImplementedError

    def _orient(self, engine: CountingEngine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        """Make the third step."""
        raise NotImplementedError

    def _learn(self, engine: CountingEngine, names: tuple[str, ...]) -> PDAG:
        columns = self.feature_names_in_.tolist()
        with self._timed("neighbours"):
            sets = self._local_learner().learn_all(engine)
        with self._timed("skeleton"):
            self.pc_ = _by_name(sets, names, columns)
            skeleton = join(sets, self.symmetry)
            self.skeleton_ = _as_graph(skeleton, names).reorder(columns)
        with self._timed("orientation"):
            return self._orient(engine, names, skeleton)


def _by_name(sets: Neighbourhoods, names: tuple[str, ...], columns: list[str]) -> dict[str, list[str]]:
    members, start = sets.members.tolist(), sets.start.tolist()
    found = {name: [names[m] for m in members[start[v] : start[v + 1]]] for v, name in enumerate(names)}
    return {column: found[column] for column in columns}


def _as_graph(skeleton: Skeleton, names: tuple[str, ...]) -> PDAG:
    return PDAG.from_arrays(names, skeleton.edges[:0], skeleton.edges, weights_undirected=skeleton.strengths)
