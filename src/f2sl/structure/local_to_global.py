"""From the local to the global: neighbours of each variable, then a skeleton, then directions.

The three steps of the F2SL approach (section 5 of the paper). Any learner of parents and children may make
the first, and either way of orienting the third: by independence tests (``orient="ci"``: FindVstructure, then
Meek's rules) or by a score (``orient="score"``: hill climbing over the edges of the skeleton).
The published algorithms of this kind are this class with their own choices: F2SL-c is
``LocalToGlobal(pc="fcbf", orient="ci")``, MMHC is ``LocalToGlobal(pc="mmpc", orient="score")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from f2sl import _options
from f2sl.errors import Interrupted, OptionError
from f2sl.graph import PDAG
from f2sl.local.base import LOCAL, LocalLearner, Neighbourhoods
from f2sl.local.by_tests import check_tests
from f2sl.skeleton import SYMMETRIES, Skeleton, join
from f2sl.stats.choose import check_choice, make_score, make_test
from f2sl.storage.engine import Engine
from f2sl.structure.base import StructureLearner

if TYPE_CHECKING:
    from f2sl.orient.v_structures import VStructures

ORIENTATIONS = ("ci", "score")


class LocalToGlobal(StructureLearner):
    """Learn a structure from the local to the global.

    Parameters
    ----------
    pc : str
        The learner of parents and children, by its registered name.
    pc_options : dict, optional
        Its options; ``alpha``, ``max_cond_vars`` and ``ci_test`` are those given here unless they are in it.
    orient : {"ci", "score"}
        How edges are oriented.
    symmetry : {"and", "or"}
        Whether an edge needs both its ends to name each other, or one.
    alpha, max_cond_vars, ci_test
        Of the independence tests: level of significance, largest set that is looked for, statistic.
    score, equivalent_sample_size, tabu_length, max_stall
        Of hill climbing: what is climbed, the weight of BDeu's prior, how many of the last graphs it may not
        return to, and after how many steps without a new best it ends.
    skeleton_only, kind, n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_ : PDAG or DAG
        What was learned.
    pc_ : dict of str to list of str
        The parents and children found for each variable, strongest first, before the sets were joined.
    skeleton_ : PDAG
        All edges, undirected, weighted by their strength.
    separating_sets_ : mapping of (str, str) to tuple of str
        What was found to make two unlinked variables independent; names of a pair in ascending order.
    n_tests_, n_unreliable_ : int
        Independence tests asked for in all, and how many of them could not answer.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.LocalToGlobal(pc="hiton-pc", orient="score").fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    pc: str
    pc_options: Mapping[str, Any] | None = None
    shared_options: tuple[str, ...] = ("alpha", "max_cond_vars", "ci_test")
    """Options that are handed on to the learner of parents and children, where it takes them."""

    alpha: float
    max_cond_vars: int | None
    ci_test: str
    score: str
    equivalent_sample_size: float
    tabu_length: int
    max_stall: int
    orient: str
    symmetry: str
    skeleton_only: bool

    pc_: dict[str, list[str]]
    skeleton_: PDAG
    separating_sets_: Mapping[tuple[str, str], tuple[str, ...]]
    n_tests_: int
    n_unreliable_: int
    v_structures_: list[tuple[str, str, str]]
    score_: float
    n_steps_: int
    n_families_: int

    def __init__(
        self,
        *,
        pc: str = "fcbf",
        pc_options: Mapping[str, Any] | None = None,
        orient: str = "ci",
        symmetry: str = "and",
        alpha: float = 0.01,
        max_cond_vars: int | None = 3,
        ci_test: str = "auto",
        score: str = "auto",
        equivalent_sample_size: float = 10.0,
        tabu_length: int = 100,
        max_stall: int = 15,
        skeleton_only: bool = False,
        kind: str = "auto",
        n_jobs: int | None = None,
        bins: int | Mapping[str, int] | None = None,
        binning: str = "quantile",
        missing: str = "error",
        engine: str = "auto",
        memory: int | str | None = None,
        scheduler: object = None,
        verbose: bool = False,
    ) -> None:
        self.pc = pc
        self.pc_options = pc_options
        self.orient = orient
        self.symmetry = symmetry
        self.alpha = alpha
        self.max_cond_vars = max_cond_vars
        self.ci_test = ci_test
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.tabu_length = tabu_length
        self.max_stall = max_stall
        self.skeleton_only = skeleton_only
        self.kind = kind
        self.n_jobs = n_jobs
        self.bins = bins
        self.binning = binning
        self.missing = missing
        self.engine = engine
        self.memory = memory
        self.scheduler = scheduler
        self.verbose = verbose

    @property
    def strength_unit(self) -> str:  # type: ignore[override]
        """What the weights of edges are: those of the learner of parents and children."""
        learner = self._local_learner()
        return (learner.settled(self.kind_) if hasattr(self, "kind_") else learner).strength_unit

    @property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        """What kinds of tables it takes: those of the learner of parents and children."""
        return self._local_learner().kinds

    def check_options(self) -> None:
        """Refuse options that make no sense."""
        self._local_learner().check_options()
        _options.choice("orient", self.orient, ORIENTATIONS)
        _options.choice("symmetry", self.symmetry, SYMMETRIES)
        _options.flag("skeleton_only", self.skeleton_only)
        taken = self.option_defaults()
        if "alpha" in taken:
            check_tests(self.alpha, self.max_cond_vars, self.ci_test)
        if "score" in taken:
            check_choice("score", self.score)
            self._check_weight()
            _options.whole("tabu_length", self.tabu_length)
            _options.whole("max_stall", self.max_stall, least=1)

    def _check_weight(self) -> None:
        """Refuse a weight of BDeu's prior that makes no sense."""
        _options.positive("equivalent_sample_size", self.equivalent_sample_size, least=1e-9, most=1e9)

    def _local_learner(self) -> LocalLearner:
        """Make the learner of the first step; the symmetry of its links is the second step's affair."""
        taken = LOCAL.load(self.pc).option_defaults()
        options = {name: getattr(self, name) for name in self.shared_options if name in taken}
        if "symmetry" in taken:
            options["symmetry"] = "none"
        own = self.pc_options or {}
        if not isinstance(own, Mapping):
            raise OptionError(f"pc_options must map names of options to values, not {own!r}")
        learner: LocalLearner = LOCAL.create(self.pc, {**options, **own})
        return learner

    def _learn(self, engine: Engine, names: tuple[str, ...]) -> PDAG:
        with self._timed("neighbours"):
            sets, interrupted = sets_of_all(self._local_learner(), engine)
        skeleton = self._join(sets, names)
        with self._timed("skeleton"):
            self.separating_sets_ = named_sets(sets.separating_sets, names)
            self.complete_ = sets.complete
            self.notes_ += sets.notes
        if interrupted:
            raise Interrupted(as_graph(skeleton, names))
        if self.skeleton_only:
            return as_graph(skeleton, names)
        with self._timed("orientation"):
            orient = self._orient_by_tests if self.orient == "ci" else self._orient_by_score
            return orient(engine, names, skeleton)

    def _join(self, sets: Neighbourhoods, names: tuple[str, ...]) -> Skeleton:
        """Join the sets of all variables, and keep what is known of them."""
        columns = self.feature_names_in_.tolist()
        with self._timed("skeleton"):
            self.pc_ = by_name(sets, names, columns)
            skeleton = join(sets, self.symmetry)
            self.skeleton_ = as_graph(skeleton, names).reorder(columns)
            self.n_tests_, self.n_unreliable_ = sets.n_tests, sets.n_unreliable
            return skeleton

    def _orient_by_tests(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        graph, found = self._tested(engine, names, skeleton)
        named = found.separating_sets.named(names)
        self.separating_sets_ = {**self.separating_sets_, **named} if self.separating_sets_ else named
        self.v_structures_ = [(names[a], names[c], names[d]) for a, c, d in found.triples.tolist()]
        return graph

    def _tested(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> tuple[PDAG, VStructures]:
        """Orient a skeleton as independence tests tell; gives also the v-structures they have shown."""
        from f2sl.orient.by_independence import orient_by_independence
        from f2sl.orient.v_structures import find_v_structures

        test = make_test(engine, self.alpha, self.ci_test)
        found = find_v_structures(skeleton, test, self.max_cond_vars)
        self.n_tests_ += test.n_tests
        self.n_unreliable_ += test.n_unreliable
        return orient_by_independence(skeleton, names, found.triples), found

    def _orient_by_score(self, engine: Engine, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        from f2sl.orient.by_score import orient_by_score

        score = make_score(engine, self.score, self.equivalent_sample_size)
        graph, climbed = orient_by_score(
            skeleton,
            names,
            score,
            edge_log_prior=score.edge_log_prior,
            tabu_length=self.tabu_length,
            max_stall=self.max_stall,
        )
        self.score_, self.n_steps_, self.n_families_ = climbed.score, climbed.steps, score.n_families
        return graph


def sets_of_all(learner: LocalLearner, engine: Engine) -> tuple[Neighbourhoods, bool]:
    """Learn the sets of all variables; says whether Ctrl-C ended that, where a learner has finished some."""
    try:
        return learner.learn_all(engine), False
    except Interrupted as interrupt:
        return interrupt.finished, True


def named_sets(
    sets: Mapping[tuple[int, int], tuple[int, ...]], names: tuple[str, ...]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Turn separating sets by number into sets by name, each pair once, its earlier name first."""
    named: dict[tuple[str, str], tuple[str, ...]] = {}
    for (a, b), given in sets.items():
        pair = (names[a], names[b]) if a < b else (names[b], names[a])
        if pair not in named:
            named[pair] = tuple([names[s] for s in given])
    return named


def by_name(sets: Neighbourhoods, names: tuple[str, ...], columns: list[str]) -> dict[str, list[str]]:
    """Turn sets by number into sets by name, in the order of the columns."""
    members, start = sets.members.tolist(), sets.start.tolist()
    found = {name: [names[m] for m in members[start[v] : start[v + 1]]] for v, name in enumerate(names)}
    return {column: found[column] for column in columns}


def as_graph(skeleton: Skeleton, names: tuple[str, ...]) -> PDAG:
    """Make an undirected graph of a skeleton."""
    return PDAG.from_arrays(names, skeleton.edges[:0], skeleton.edges, weights_undirected=skeleton.strengths)
