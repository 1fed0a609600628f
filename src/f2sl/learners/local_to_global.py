"""Local-to-global learning: the neighbors of each variable, then a skeleton, then directions.

The three steps of the F2SL approach (section 5 of the paper). Any learner of parents and children can do
the first. The third orients edges by independence tests (``orient="ci"``: FindVstructure, then Meek's rules)
or by a score (``orient="score"``: hill climbing over the edges of the skeleton).
The published algorithms of this kind are special cases: F2SL-c is
``LocalToGlobal(pc="fcbf", orient="ci")``, MMHC is ``LocalToGlobal(pc="mmpc", orient="score")``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from f2sl._deadline import keeping
from f2sl._notes import Note, Use
from f2sl._options import option
from f2sl.data.engines import Engine
from f2sl.errors import Interrupted, OptionError
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner, WithScore, named_sets
from f2sl.learners.local.base import LOCAL, LocalLearner, Neighborhoods, WithTests, apply_constraints
from f2sl.learners.skeleton import Skeleton, constrained, join
from f2sl.stats.choose import kind_of_engine, make_score, make_test

if TYPE_CHECKING:
    from f2sl.learners.v_structures import VStructures


class FromLocal(StructureLearner):
    """Base class of the local-to-global learners.

    Subclasses set the learner of the first step (`pc`), and the options that it shares with them.

    Attributes
    ----------
    pc_ : dict of str to list of str
        The parents and children found for each variable, strongest first, before the sets were joined.
    skeleton_ : PDAG
        All edges, undirected, weighted by their strength.
    n_tests_, n_inconclusive_ : int
        Number of independence tests, and of inconclusive ones.
    local_learner_ : LocalLearner
        The learner of the first step, with its options.
    """

    pc = "fcbf"
    shared_options: ClassVar[tuple[str, ...]] = ()
    """Options passed on to the learner of parents and children, if it has them."""

    symmetry: str = option("symmetry")
    skeleton_only: bool = option("skeleton_only")

    @property
    def strength_unit(self) -> str:  # type: ignore[override]
        """Unit of the edge weights: that of the learner of neighbors, after `fit`."""
        return self.local_learner_.strength_unit if hasattr(self, "local_learner_") else "strength"

    def problems(self) -> Iterator[Note]:
        """Yield all problems of the options, including those of the learner of parents and children."""
        try:
            yield from self._local_learner().problems()
        except OptionError as error:
            yield from error.problems
        yield from super().problems()

    def _local_learner(self) -> LocalLearner:
        """Return the learner of the first step, without symmetry, which the second step applies."""
        own = getattr(self, "pc_options", None) or {}
        if not isinstance(own, Mapping):
            raise OptionError(Use("pc_options"), f" must map names of options to values, not {own!r}")
        if own.get("knowledge"):
            raise OptionError(Use("pc_options"), " must not contain knowledge; give it to the learner itself")
        taken = LOCAL.load(self.pc).option_defaults()
        options = {name: getattr(self, name) for name in self.shared_options if name in taken}
        if "symmetry" in taken:
            options["symmetry"] = "none"
        learner: LocalLearner = LOCAL.create(self.pc, {**options, **own})
        return learner

    def _learn(self, engine: Engine, names: tuple[str, ...]) -> PDAG:
        self.local_learner_ = (
            self._local_learner().resolve_auto(kind_of_engine(engine)).with_constraints(self._constraints)
        )
        with self._timed("neighbors"):
            sets, interrupted = self._sets_of_all(engine)
        skeleton = self._join(sets, names)
        with self._timed("skeleton"):
            self.separating_sets_: Mapping[tuple[str, str], tuple[str, ...]] = named_sets(
                sets.separating_sets, names
            )
            self.complete_ = sets.complete
            self.notes_ += sets.notes
        if interrupted:
            raise Interrupted(self._as_graph(skeleton, names))
        if self.skeleton_only:
            return self._as_graph(skeleton, names).skeleton()
        with self._timed("orientation"), keeping("the edges were not directed"):
            return self._orient(engine, names, skeleton)
        return self._as_graph(skeleton, names)

    def _orient(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        """Orient the edges of the skeleton."""
        raise NotImplementedError

    def _sets_of_all(self, engine: Engine) -> tuple[Neighborhoods, bool]:
        """Learn the sets of all variables; return also whether Ctrl-C interrupted it."""
        try:
            return self.local_learner_.learn_all(engine), False
        except Interrupted as interrupt:
            return interrupt.finished, True

    def _join(self, sets: Neighborhoods, names: tuple[str, ...]) -> Skeleton:
        """Join the sets of all variables to a skeleton, and store the numbers of tests."""
        with self._timed("skeleton"):
            if self._constraints:
                sets = apply_constraints(sets, self._constraints)
            self.pc_ = self._named(sets, names)
            skeleton = constrained(join(sets, self.symmetry), self._constraints)
            self._keep_skeleton(skeleton, names)
            self.n_tests_, self.n_inconclusive_ = sets.n_tests, sets.n_inconclusive
            return skeleton


class WithColliders(FromLocal, WithTests):
    """Base class of local-to-global learners with v-structures from independence tests."""

    def _colliders(self, engine: Engine, skeleton: Skeleton) -> VStructures:
        """Find the v-structures of a skeleton by independence tests, and count the tests."""
        from f2sl.learners.v_structures import find_v_structures

        test = make_test(engine, self.alpha, self.ci_test)
        found = find_v_structures(skeleton, test, self.max_cond_vars, self._constraints)
        self.n_tests_ += test.n_tests
        self.n_inconclusive_ += test.n_inconclusive
        return found


class OrientedByTests(WithColliders):
    """Base class of local-to-global learners with directions from independence tests.

    Attributes
    ----------
    graph_ : PDAG
        Learned graph; `dag_` orients the undirected edges.
    separating_sets_ : mapping of (str, str) to tuple of str
        Separating set of each unlinked pair for which one was found; names of a pair in ascending order.
    v_structures_ : list of (str, str, str)
        Triples (A, C, D) of the v-structures A -> C <- D.
    """

    def _orient(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        found = self._colliders(engine, skeleton)
        named = found.separating_sets.named(names)
        self.separating_sets_ = {**self.separating_sets_, **named} if self.separating_sets_ else named
        return self._oriented_by(found.triples, skeleton, names)


class OrientedByScore(FromLocal, WithScore):
    """Base class of local-to-global learners with directions from a score.

    With BDeu and BDs each edge costs log(equivalent_sample_size + 1), the structure prior of the F2SL paper.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found. An edge of the skeleton may be missing in it.
    separating_sets_ : mapping of (str, str) to tuple of str
        Separating sets that the learner of neighbors found.
    score_ : float
        The log score of `dag_`, structure prior included.
    n_steps_, n_families_ : int
        Steps of the climb, and families scored on the way.
    """

    def _orient(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        score = make_score(engine, self.score, self.equivalent_sample_size)
        graph, climbed = self._climbed(skeleton, names, score, edge_log_prior=score.edge_log_prior)
        self.score_, self.n_steps_, self.n_families_ = climbed.score, climbed.steps, score.n_families
        return graph


class LocalToGlobal(OrientedByTests, OrientedByScore):
    """Learn the neighbors of each variable, then a skeleton, then directions.

    It has `v_structures_` with ``orient="ci"``, and `score_`, `n_steps_` and `n_families_` with
    ``orient="score"``.

    Attributes
    ----------
    graph_ : PDAG
        Learned graph, as in :class:`F2SLc` or :class:`F2SLs`.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.LocalToGlobal(pc="hiton-pc", orient="score").fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    shared_options = ("alpha", "max_cond_vars", "ci_test")

    pc: str = option("pc")
    pc_options: Mapping[str, Any] | None = option("pc_options")
    orient: str = option("orient")

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Kinds of columns that the learner of parents and children accepts."""
        kinds: tuple[str, ...] = LOCAL.load(self.pc).takes
        return kinds

    def _orient(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        way = OrientedByTests if self.orient == "ci" else OrientedByScore
        return way._orient(self, engine, names, skeleton)
