"""Local-to-global learning: the neighbors of each variable, then a skeleton, then directions.

The three steps of the F2SL approach (section 5 of the paper). A learner of parents and children does the
first, and a way to orient the third: :class:`~f2sl.ByTests` (FindVstructure, then Meek's rules) or
:class:`~f2sl.ByScore` (hill climbing over the edges of the skeleton). The published algorithms of this kind
are special cases: F2SL-c is FCBF with ByTests, MMHC is MMPC with ByScore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from f2sl._arrays import Integers
from f2sl._deadline import keeping
from f2sl._estimator import Estimator
from f2sl._notes import Note, Part, Use
from f2sl._options import option
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.errors import Interrupted, OptionError
from f2sl.graph import DAG, PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.base import LocalLearner, Neighborhoods, apply_constraints
from f2sl.learners.local.separating_sets import named_sets
from f2sl.learners.registries import LOCAL
from f2sl.learners.skeleton import Skeleton, constrained, join, weighted_dag
from f2sl.stats.choose import WITHOUT_PRIOR, check_choice, kind_of_engine, make_score, make_test
from f2sl.stats.scores.base import Score
from f2sl.stats.tests.base import CITest

if TYPE_CHECKING:
    from f2sl.search.hill_climbing import Climbed, FamilyScorer


class ByTests(Estimator):
    """Direct edges by independence tests: FindVstructure, then Meek's rules.

    A part of :class:`LocalToGlobal`. The learner gets `v_structures_`, and the separating sets and tests of
    this step.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.LocalToGlobal(local=f2sl.FCBF(), orient=f2sl.ByTests(alpha=0.05)).orient
    ByTests(alpha=0.05)
    """

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)

    def orient(self, fit: Fit, skeleton: Skeleton) -> PDAG:
        """Return the partially directed graph."""
        from f2sl.learners.v_structures import find_v_structures

        test = make_test(fit.engine, self.alpha, self.ci_test)
        found = find_v_structures(skeleton, test, self.max_cond_vars, fit.constraints)
        fit.count_tests(test)
        separating, named = fit.found["separating_sets_"], found.separating_sets.named(fit.names)
        fit.found.update(separating_sets_={**separating, **named} if separating else named)
        return fit.oriented(skeleton, found.triples)


class ByScore(Estimator):
    """Direct edges by a score: hill climbing over the edges of the skeleton.

    A part of :class:`LocalToGlobal`. With BDeu and BDs each edge costs log(equivalent_sample_size + 1), the
    structure prior of the F2SL paper. The learner gets `score_`, `n_steps_` and `n_families_`.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.LocalToGlobal(local=f2sl.FCBF(), orient=f2sl.ByScore(score="bic")).orient
    ByScore(score='bic')
    """

    _ignores = WITHOUT_PRIOR

    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")

    def orient(self, fit: Fit, skeleton: Skeleton) -> PDAG:
        """Return the best DAG within the skeleton."""
        score = make_score(fit.engine, self.score, self.equivalent_sample_size)
        graph, climbed = orient_by_score(
            skeleton,
            fit.names,
            score,
            edge_log_prior=score.edge_log_prior,
            tabu_length=self.tabu_length,
            max_stall=self.max_stall,
            constraints=fit.constraints,
        )
        fit.found.update(score_=climbed.score, n_steps_=climbed.steps, n_families_=score.n_families)
        return graph


def orient_by_score(
    skeleton: Skeleton,
    names: tuple[str, ...],
    score: FamilyScorer,
    *,
    edge_log_prior: float,
    tabu_length: int,
    max_stall: int,
    start: Integers | None = None,
    constraints: Constraints | None = None,
) -> tuple[DAG, Climbed]:
    """Find the best DAG within a skeleton by hill climbing; return it, with strengths, and the climb.

    Variables are numbered in the order of `names`, which are sorted.
    """
    from f2sl.search.hill_climbing import hill_climb

    # The first climb adds most edges of the skeleton one by one; later climbs are short.
    share = 1.0 / (len(skeleton.edges) + max_stall + 1)
    with stage("hill climbing") as advance:
        climbed = hill_climb(
            score,
            skeleton.n,
            skeleton.edges,
            edge_log_prior=edge_log_prior,
            tabu_length=tabu_length,
            max_stall=max_stall,
            start=start,
            constraints=constraints,
            on_step=lambda step, value: advance(share),
        )
    return weighted_dag(skeleton, names, climbed.arrows), climbed


def local_to_global(
    fit: Fit, local: LocalLearner, way: ByTests | ByScore, symmetry: str, skeleton_only: bool
) -> PDAG:
    """Learn the neighbors of each variable by `local`, join them to a skeleton, and direct it one `way`.

    If a time limit or Ctrl-C ends the work early, the graph has the edges found until then.
    """
    local = local.resolve_auto(kind_of_engine(fit.engine)).with_constraints(fit.constraints)
    fit.found.update(local_learner_=local)
    interrupted = False
    with fit.timed("neighbors"):
        try:
            sets = local.learn_all(fit.engine)
        except Interrupted as interrupt:
            sets, interrupted = interrupt.finished, True
    with fit.timed("skeleton"):
        skeleton = join_sets(fit, sets, symmetry)
        fit.found.update(separating_sets_=named_sets(sets.separating_sets, fit.names))
        fit.complete = sets.complete
        fit.notes += sets.notes
    if interrupted:
        raise Interrupted(fit.undirected(skeleton))
    if skeleton_only:
        return fit.undirected(skeleton).skeleton()
    with fit.timed("orientation"), keeping("the edges were not directed"):
        return way.orient(fit, skeleton)
    return fit.undirected(skeleton)


def join_sets(fit: Fit, sets: Neighborhoods, symmetry: str) -> Skeleton:
    """Join the sets of all variables to a skeleton; keep it, the sets and the numbers of tests."""
    if fit.constraints:
        sets = apply_constraints(sets, fit.constraints)
    fit.found.update(pc_=fit.by_name(sets))
    fit.count_tests(sets)
    skeleton = constrained(join(sets, symmetry), fit.constraints)
    fit.keep_skeleton(skeleton)
    return skeleton


def check_way(name: str, value: Any, known: tuple[str, ...]) -> Any:
    """Check a way to orient: its name, or the part itself."""
    if not isinstance(value, ByTests | ByScore) and value not in known:
        named, parts = ", ".join(map(repr, known)), "an f2sl.ByTests or an f2sl.ByScore"
        raise OptionError(Use(name), f" must be one of {named}, or {parts}, not {value!r}")
    return value


def check_local(name: str, value: Any) -> LocalLearner:
    """Check a learner of neighbors; a name belongs to another option."""
    if not isinstance(value, LocalLearner) or value.finds_blankets:
        hint: tuple[Part, ...] = ()
        if isinstance(value, str) and value in LOCAL:
            hint = ("; a name is given by ", Use("pc", LOCAL.resolve(value)))
        elif isinstance(value, type) and issubclass(value, LocalLearner):
            hint = (f"; {value.__name__} is a class, {value.__name__}() an object",)
        must = f" must be a learner of neighbors, such as f2sl.FCBF(), not {value!r}"
        raise OptionError(Use(name), must, *hint)
    return value


def check_pc(name: str, value: Any) -> str:
    """Check the name of a learner of neighbors; an object belongs to another option."""
    if isinstance(value, LocalLearner):
        raise OptionError(Use(name), " takes a name; a learner is given by ", Use("local", ...))
    LOCAL.load(value)
    return str(value)


def shared_options(learner: StructureLearner, other: type[Estimator]) -> dict[str, Any]:
    """Return the options of a learner that another class has, too."""
    return {name: v for name, v in learner.get_params().items() if name in other.option_defaults()}


class LocalToGlobal(StructureLearner):
    """Learn the neighbors of each variable, then a skeleton, then directions.

    The learner of neighbors is `local`, or the one that `pc` names, and the way to orient is `orient`, given
    by name or as a part with options of its own. Other options are for parts given by name.

    Attributes
    ----------
    graph_ : PDAG
        Learned graph, as in :class:`F2SLc` or :class:`F2SLs`.
    pc_ : dict of str to list of str
        The parents and children found for each variable, strongest first, before the sets were joined.
    skeleton_ : PDAG
        All edges, undirected, weighted by their strength.
    separating_sets_ : mapping of (str, str) to tuple of str
        Separating set of each nonadjacent pair for which one was found; names of a pair in ascending order.
    n_tests_, n_inconclusive_ : int
        Number of independence tests, and of inconclusive ones.
    local_learner_ : LocalLearner
        The learner of the first step, with its options.
    v_structures_ : list of (str, str, str)
        Triples (A, C, D) of the v-structures A -> C <- D; oriented by tests.
    score_ : float
        The log score of `dag_`, structure prior included; oriented by a score.
    n_steps_, n_families_ : int
        Steps of the climb, and families scored on the way; oriented by a score.

    Examples
    --------
    >>> import f2sl
    >>> asia = f2sl.load_example("asia")
    >>> model = f2sl.LocalToGlobal(local=f2sl.HITONPC(), orient=f2sl.ByScore()).fit(asia)
    >>> sorted(model.graph_.neighbors("smoke"))
    ['bronc', 'lung']
    >>> model.graph_ == f2sl.LocalToGlobal(pc="hiton-pc", orient="score").fit(asia).graph_
    True
    """

    local: LocalLearner | None = option("local", check=check_local)
    pc: str = option("pc", check=check_pc)
    pc_options: Mapping[str, Any] | None = option("pc_options")
    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry")
    skeleton_only: bool = option("skeleton_only")
    orient: str | ByTests | ByScore = option("orient", check=partial(check_way, known=("ci", "score")))
    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")
    stability: int | None = option("stability")

    @property
    def _local_class(self) -> type[LocalLearner]:
        """Class of the learner of the first step: that of `local`, or the one that `pc` names."""
        return LOCAL.load(self.pc) if self.local is None else type(self.local)

    @property
    def _takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Kinds of columns that the learner of the first step accepts."""
        self.check_options()
        return self._local_class._takes

    def _problems(self) -> Iterator[Note]:
        """Yield all problems of the options, including those of the parts."""
        wrong = [*super()._problems()]
        if not any(use.option in ("local", "pc") for note in wrong for use in note.options):
            try:
                yield from self._local()._problems()
            except OptionError as error:
                yield from error.problems
        if isinstance(self.orient, ByTests | ByScore):
            yield from self.orient._problems()
        yield from wrong
        if all(note.kind == "no-effect" for note in wrong):
            yield from self._unused()

    def _unused(self) -> Iterator[Note]:
        """Yield a problem for each option that is set although no part uses it."""
        named: Mapping[object, type[ByTests | ByScore]] = {"ci": ByTests, "score": ByScore}
        kind = named.get(self.orient) if isinstance(self.orient, str) else None
        used = {"orient", "pc"}
        if self.local is None:
            used |= set(self._local_class.option_defaults()) & {"alpha", "max_cond_vars", "ci_test"}
        else:
            yield from self._without_effect(["pc"], " beside ", Use("local", ...))
        if self.skeleton_only:
            used.remove("orient")
            why: tuple[Part, ...] = " beside ", Use("skeleton_only", True)
        elif kind is None:
            why = ": ", Use("orient"), " has options of its own"
        else:
            why = " beside ", Use("orient", self.orient)
            used |= set(kind.option_defaults())
        if not self.skeleton_only and (kind or type(self.orient)) is ByScore:
            used.add("stability")
        of_parts = {
            **ByTests.option_defaults(),
            **ByScore.option_defaults(),
            "stability": None,
            "orient": None,
        }
        yield from self._without_effect((name for name in of_parts if name not in used), *why)

    def _local(self) -> LocalLearner:
        """Return the learner of the first step, without symmetry, which the second step applies."""
        own = self.pc_options or {}
        if not isinstance(own, Mapping):
            raise OptionError(Use("pc_options"), f" must map names of options to values, not {own!r}")
        if self.local is not None:
            if own:
                named = (Use("pc"), " names; ", Use("local"), " has its own options")
                raise OptionError(Use("pc_options"), " are for the learner that ", *named)
            kind, options = self._local_class, self.local.get_params()
        else:
            kind = self._local_class
            shared = {"alpha", "max_cond_vars", "ci_test"}.intersection(kind.option_defaults())
            options = {name: getattr(self, name) for name in shared} | dict(own)
        if options.get("knowledge"):
            what = "pc_options" if self.local is None else "local"
            raise OptionError(Use(what), " must not contain knowledge; give it to the learner itself")
        if "symmetry" in kind.option_defaults() and "symmetry" not in own:
            options["symmetry"] = "none"
        learner: LocalLearner = kind(**options)
        return learner

    def _learn(self, fit: Fit) -> PDAG:
        way = self.orient
        if not isinstance(way, ByTests | ByScore):
            part = ByTests if way == "ci" else ByScore
            way = part(**shared_options(self, part))
        return local_to_global(fit, self._local(), way, self.symmetry, self.skeleton_only)
