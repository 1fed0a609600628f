"""Base of all learners of whole structures.

A learner follows scikit-learn's conventions: options as fields, which the constructor only stores; `fit`
checks them and the data once, learns, and returns the learner; what was learned ends in an underscore.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, cast

import numpy as np
from numpy.typing import NDArray

from f2sl._ahead import HELPERS
from f2sl._arrays import Integers
from f2sl._deadline import Deadline, TimeUp, limited
from f2sl._estimator import Estimator
from f2sl._notes import Note, Use, joined, of_kind
from f2sl._options import option
from f2sl._owners import refuse_unknown
from f2sl._progress import stage
from f2sl._registry import Registry
from f2sl._threads import note_of_jobs, one_blas_thread
from f2sl.constraints import Constraints
from f2sl.data.column import DISCRETE, read_as, wrong_kinds
from f2sl.data.engines import open_engine
from f2sl.data.names import listing
from f2sl.data.notes import remarks, warn_of_identifiers
from f2sl.data.open import open_for, reading_defaults
from f2sl.data.table import Table
from f2sl.data.transform import for_learning
from f2sl.errors import F2SLWarning, Interrupted, not_fitted
from f2sl.graph import DAG, PDAG
from f2sl.graph.formats.common import FormatError
from f2sl.graph.formats.json_file import learned_by_of
from f2sl.knowledge import Knowledge
from f2sl.learners.local.base import Neighborhoods, check_required_parents
from f2sl.learners.local.separating_sets import SeparatingSets
from f2sl.learners.skeleton import Skeleton, constrained, from_edges
from f2sl.stats.answers import INDEPENDENT
from f2sl.stats.choose import check_choice, make_test, resolve_auto
from f2sl.stats.scores.base import Score

if TYPE_CHECKING:
    from f2sl.network import BayesianNetwork
    from f2sl.search.growing.again import SearchAgain
    from f2sl.search.hill_climbing import Climbed, Families
    from f2sl.view.explanation import Explanation
    from f2sl.view.notebook import Summary

STRUCTURE = Registry("algorithm", "f2sl.learners.base:StructureLearner")
STRUCTURE.add_all(
    "f2sl.learners",
    """
f2sl-c           f2sl:F2SLc                     Yu et al., Algorithm 2
    FCBF for each variable's neighbors, v-structures by independence tests, Meek's rules
f2sl-s           f2sl:F2SLs                     Yu et al., Algorithm 1
    FCBF for each variable's neighbors, directions by a score (BDeu, BGe) and hill climbing
f2sl-h           f2sl_h:F2SLh                   f2sl
    confirmed FCBF for each variable's candidates, the DAG with the best score by a search over orders
boss             boss:BOSS                      Andrews and others 2023
    the DAG with the best score by a search over orders of all variables, parents grown on demand
hc               hill_climbing:HillClimbing     Heckerman and others 1995
    hill climbing on a score over all pairs of variables
tabu             hill_climbing:Tabu             Glover 1989
    hill climbing over all pairs that goes on from local optima, with a list of tabu graphs
mmhc             mmhc:MMHC                      Tsamardinos and others 2006
    MMPC for each variable's neighbors, directions by a score (BDeu, BGe) and hill climbing
mmhc-c           mmhc:MMHCc                     Yu et al., section 6.1
    MMPC for each variable's neighbors, v-structures by independence tests, Meek's rules
gsbn             gsbn:GSBN                      Margaritis and Thrun 2000
    Markov blankets by growing and shrinking, links and directions from them, Meek's rules
sll+c            by_best_networks:SLLc          Niinimäki and Parviainen 2012
    Markov blankets by best networks, v-structures from spouses, Meek's rules
sll+g            by_best_networks:SLLg          Niinimäki and Parviainen 2012
    neighbors by best networks, directions by the score and hill climbing
ggsl             ggsl:GGSL                      Gao, Fadnis and Campbell 2017
    grows from one variable to all by best networks, conflicts decided by the score, Meek's rules
tc               tc:TC                          Pellet and Elisseeff 2008
    Markov blankets from the inverse correlation matrix, spouses by collider sets; real numbers
pc-stable        pc_stable:PCStable             Colombo and Maathuis 2014
    edges removed level by level by independence tests, colliders by separating sets, Meek's rules
exact            exact_search:ExactSearch       Silander and Myllymaki 2006
    the DAG with the best score of all, for up to about 20 variables
notears          notears:NOTEARS                Zheng and others 2018
    linear equations by least squares, cycles kept out by a smooth constraint
dag-gnn          dag_gnn:DAGGNN                 Yu, Chen, Gao and Yu 2019
    an autoencoder with a matrix of weights between the variables, trained to be that of a DAG
local-to-global  local_to_global:LocalToGlobal  Yu et al., section 5
    any learner of neighbors, either way of orienting
""",
)

NOT_KEPT = ("knowledge", "n_jobs", "verbose", "engine", "memory", "scheduler", "encoding")
"""Options that graphs do not keep with how they were learned: kept apart, or without effect on the result."""
MANY_INCONCLUSIVE = 0.5
"""Share of inconclusive tests above which a note says so."""
UNCHECKED = "the directions were not checked, so all are called weakly decided"
"""What is told of a check of directions that stopped early."""
MULTIPLICATIONS = 1 << 32
"""Rows times squared columns up to which linear algebra has one thread: what takes less than a second gains
nothing, and threads that wait for work use several times the processor time of the work."""


class StructureLearner(Estimator):
    """Base class of all learners: opens the table and its engine, measures time, and names the result.

    Attributes
    ----------
    graph_ : PDAG
        Learned graph over the columns' names, with the directions that the data decide. Of a DAG with the
        best score this is the CPDAG: directed where all DAGs with the same independences that obey the
        knowledge agree. Its `weak` has the arrows that are only weakly decided: not found again from
        resampled rows. If the method decides all directions, it is a DAG.
    dag_ : DAG
        One DAG of `graph_`: that with the best score, or ``graph_.to_dag()``.
    adjacency_matrix_ : ndarray of uint8
        Matrix of `graph_`, in the order of its nodes: ``A[i, j] = 1`` for i -> j, rows are parents. An
        undirected edge has ones in both places.
    timings_ : dict of str to float
        Seconds for each stage, and ``"total"``.
    notes_ : list of Note
        Notes for the user on how the data were read and on undecided questions. Each is a string with a
        `kind`, `columns` and `options`.
    complete_ : bool
        False if a time limit or Ctrl-C ended the work early; `graph_` is then the partial result.
    options_in_use_ : dict of str to Any
        Options in use; each "auto" is replaced by its meaning.
    n_rows_ : int
        Number of samples.
    feature_names_in_ : ndarray of str
        Names of the columns, in their order.
    transformed_ : tuple of str
        Names of the continuous columns that were replaced by normal scores of their ranks.
    """

    takes: ClassVar[tuple[str, ...]] = ("discrete", "continuous", "mixed")
    """Kinds of tables that the learner accepts."""
    strength_unit: ClassVar[str] = "strength"
    """Unit of the edge weights."""
    requires: ClassVar[tuple[str, ...]] = ("_learn",)
    """The methods that a learner must have."""
    directs_all_edges: ClassVar[bool] = False
    """True if the data distinguish a learned DAG from the others of its equivalence class."""

    watches_time: ClassVar[bool] = False
    """True if `_learn` looks at ``self._deadline`` itself, so that no checkpoint may raise TimeUp in it."""

    size_matters: ClassVar[bool] = False
    """True if the size of numbers is information: ``transform="auto"`` leaves them as they are."""

    _unsupported_as: ClassVar[str] = "the two are not significantly dependent as a pair"
    """Reason why `_unsupported` lists an edge."""

    knowledge: Knowledge | None = option("knowledge")
    time_limit: float | None = option("time_limit")
    n_jobs: int | None = option("n_jobs")
    verbose: bool = option("verbose")

    @classmethod
    def wrong_attribute(cls) -> str | None:
        """Return an error message for a wrong class attribute, or None."""
        return wrong_kinds(f"{cls.__name__}.takes", cls.takes)

    @property
    def dag_(self) -> DAG:
        """One DAG of `graph_`: that with the best score, or ``graph_.to_dag()``."""
        return self.graph_.to_dag()

    @property
    def adjacency_matrix_(self) -> NDArray[np.uint8]:
        """Matrix of `graph_`: ``A[i, j] = 1`` for i -> j, so that rows are parents; both ones for i - j.

        Rows and columns are in the order of ``graph_.nodes``. LiNGAM's matrices are transposed: their columns
        are parents.

        Examples
        --------
        >>> import f2sl
        >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
        >>> int(model.adjacency_matrix_[model.graph_.nodes.index("smoke")].sum())
        2
        """
        return self.graph_.to_adjacency()

    def _preferring(self, kind: str) -> dict[str, Any]:
        """Return the options; a learner may replace "auto" by its own preference."""
        return self.get_params()

    def summary(self) -> Summary:
        """Return a summary of the result, which prints as text and shows as a table in notebooks.

        Examples
        --------
        >>> import f2sl
        >>> print(f2sl.F2SLc().fit(f2sl.load_example("asia")).summary())  # doctest: +ELLIPSIS
        Learned by F2SLc
          Learner    F2SLc()
          Rows       5,000
          Variables  8
        ...
        """
        from f2sl.view.notebook import summary_of

        self._check_fitted()
        return summary_of(self)

    def __repr__(self) -> str:
        options = super().__repr__()
        if "graph_" not in vars(self):
            return options
        graph = self.graph_
        found = f"{len(graph.directed_array):,} directed and {len(graph.undirected_array):,} undirected edges"
        return f"{options}, fitted: {graph.n_nodes:,} variables, {found}"

    def _repr_html_(self) -> str | None:
        from f2sl.view.notebook import html_of

        return html_of(self) if "graph_" in vars(self) else None

    def _check_fitted(self) -> None:
        if "graph_" not in vars(self):
            raise not_fitted(self)

    if not TYPE_CHECKING:  # type checkers shall still tell of names that there are not

        def __getattr__(self, name: str) -> Any:
            """Raise an error for an attribute that exists only after `fit`."""
            if name.endswith("_") and not name.startswith("_"):
                self._check_fitted()
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def show(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write an HTML page to explore the result; options are those of :func:`f2sl.show`."""
        from f2sl.view.page import show

        self._check_fitted()
        return show(self, path, **options)

    def explain(self, a: str, b: str, data: Any = None, **reading: Any) -> Explanation:
        """Explain why two variables are linked, or are not.

        Parameters
        ----------
        a, b : str
            The two variables.
        data : Table, data frame, dictionary of columns, or path, optional
            The data that the graph was learned from, to compute tests and scores again. Without it, only the
            reasons that the learner has kept are given.
        **reading
            Options of :func:`f2sl.open_table`. By default columns are read as when the graph was learned, and
            cut into the same intervals.

        Returns
        -------
        Explanation
            Prints as a few lines; `reasons` has the kind, the text and the numbers of each.

        Examples
        --------
        >>> import f2sl
        >>> asia = f2sl.load_example("asia")
        >>> model = f2sl.F2SLc().fit(asia)
        >>> [reason.kind for reason in model.explain("asia", "smoke", asia).reasons]
        ['relevance']
        """
        from f2sl.view.explain import explain

        self._check_fitted()
        return explain(self, a, b, data, **reading)

    def _learn(self, engine: Any, names: tuple[str, ...]) -> PDAG:
        """Learn from what `_open` gave; its variables are in the order of `names`, which are sorted.

        When the time is up, checkpoints raise :class:`TimeUp`. A learner keeps what it has found by blocks of
        ``keeping``, which end early then and on Ctrl-C. After one that did, the learner returns
        the graph of what is finished, and asks nothing more.
        """
        raise NotImplementedError

    def fit(self, X: Any, y: object = None, **unknown: Never) -> Self:
        """Learn the structure of a table.

        Parameters
        ----------
        X : data frame, array, dict of columns, path, list of paths or Table
            One row for each sample, one column for each variable. To give options of reading, use
            :func:`f2sl.learn`, or pass what :func:`f2sl.open_table` returns.
        y : ignored
            Present for compatibility with scikit-learn.
        **unknown
            Refused, with a hint: learners take options in the constructor.

        Returns
        -------
        self

        Raises
        ------
        Interrupted
            On Ctrl-C, if a part of the work is finished. The partial result is kept, as after a time limit.
        """
        refuse_unknown(f"{type(self).__name__}.fit", unknown, ("X", "y"), type(self))
        return self.read_and_fit(X, {})

    def read_and_fit(
        self,
        data: Any,
        reading: Mapping[str, Any],
        called: str = "",
        on_open: Callable[[Table], Table] | None = None,
        remarked: bool = True,
    ) -> Self:
        """Open data with options of `open_table`, and learn; `fit` is this without such options.

        Messages about the data name the learner as it is `called`. `on_open` receives the table that was
        opened, and returns the one to learn from: the same, with other notes. Unless it is `remarked`, what
        only notes and warnings tell of it is not looked for.
        """
        self.check_options()
        before = vars(self).copy()
        try:
            return self._fit(data, reading, called or type(self).__name__, on_open, remarked)
        except Interrupted:
            raise
        except BaseException:
            # The result of an earlier fit stays as it was.
            vars(self).clear()
            vars(self).update(before)
            raise

    def _fit(
        self,
        data: Any,
        reading: Mapping[str, Any],
        called: str,
        on_open: Callable[[Table], Table] | None,
        remarked: bool,
    ) -> Self:
        for learned in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, learned)  # so that nothing of an earlier fit is left in one that ends early
        known = set(vars(self))
        self.timings_: dict[str, float] = {}
        started = time.perf_counter()
        deadline = self._deadline = Deadline(self.time_limit)
        with display_for(self.verbose), ExitStack() as own:
            HELPERS.start()
            with self._timed("read"), stage("reading the table"):
                table = open_for(self.takes, called, data, self.n_jobs, **reading)
                if not isinstance(data, Table):
                    own.enter_context(table)
                table = table if on_open is None else on_open(table)
                if table.n_rows * table.n_variables**2 < MULTIPLICATIONS:
                    own.enter_context(one_blas_thread())
                reading = {**reading, "transform": table.transform}
                table = own.enter_context(for_learning(table, self.n_jobs, self.size_matters))
                self.transformed_ = tuple(column.name for column in table.columns if column.is_scores)
                self.notes_: list[Note] = [*table.notes, *note_of_jobs(self.n_jobs)]
                if remarked:
                    self.notes_ += remarks(table)
                    warn_of_identifiers(table, stacklevel=5)
                ordered = table.in_name_order()
            HELPERS.expect(type(self).__name__, table.kind, bool(table.missing.any()))
            self.options_in_use_ = resolve_auto(self._preferring(table.kind), table.kind)
            self._constraints = Constraints.none(table.n_variables)
            if self.knowledge:
                self._constraints = self.knowledge.constraints(ordered.names, table.merged)
                check_required_parents(self, self._constraints, ordered.names)
            self.n_rows_ = table.n_rows
            self.n_features_in_ = table.n_variables
            self.feature_names_in_ = np.array(table.names, dtype=object)
            self.complete_ = True
            interrupt = None
            try:
                with limited(None if self.watches_time else deadline):
                    with self._timed("prepare"):
                        engine = own.enter_context(self._open(ordered))
                    graph = self._learn(engine, ordered.names)
            except Interrupted as error:
                interrupt, graph = error, error.finished
                self.complete_ = False
            except TimeUp:
                only = "only the edges that the knowledge requires" if self._constraints else "no edges"
                deadline.stop(f"no step was finished, so the graph has {only}")
                graph = self._as_graph(self._unlinked(ordered.names), ordered.names)
            if deadline.stopped:
                self.complete_ = False
                self.notes_.append(deadline.note)
                interrupt = Interrupted(graph) if deadline.interrupted else interrupt
            if self.complete_ and remarked:
                self._note_required_edges(engine, ordered.names)
                embedded = vars(engine).get("embedded")  # if this learner has used it
                self.notes_ += [embedded.note] if embedded is not None and embedded.note else []
            if isinstance(graph, DAG) and not self.directs_all_edges:
                dag, graph = graph, graph.to_cpdag(self.knowledge)
                graph.dag = dag
                if getattr(self, "stability", 0) != 0:
                    dag.weak = graph.weak = self._in_question(graph)  # unless a check finds them again
                    if self.complete_ and graph.weak:
                        try:
                            with limited(deadline):
                                dag.weak = graph.weak = self._weakly_decided(engine, ordered, graph)
                        except (TimeUp, KeyboardInterrupt) as error:
                            by_hand = isinstance(error, KeyboardInterrupt)
                            deadline.stop(UNCHECKED, by_hand)
                            self.complete_, interrupt = False, Interrupted(graph) if by_hand else None
                            self.notes_.append(deadline.note)
        for helper in [name for name in vars(self) if name.startswith("_") and name not in known]:
            delattr(self, helper)  # what only this fit has worked with
        self.graph_ = with_aliases(graph.reorder(table.names), table, self.knowledge)
        origin, kinds = self._origin(reading), read_as(table.columns)
        for one in (self.graph_, self.graph_.dag):
            if one is not None:
                one.knowledge, one.read_as, one.learned_by = self.knowledge or None, kinds, origin
        self._note_inconclusive_tests(table.kind)
        self.timings_["total"] = time.perf_counter() - started
        if interrupt is not None:
            interrupt.finished = self.graph_
            raise interrupt
        if not self.complete_:
            messages = joined(of_kind(self.notes_, "incomplete"))
            warnings.warn(
                messages or "incomplete: the time limit ended the work early", F2SLWarning, stacklevel=4
            )
        return self

    def network(self, data: Any, equivalent_sample_size: float = 1, **reading: Any) -> BayesianNetwork:
        """Fit the probabilities of a Bayesian network with the graph that was learned.

        Parameters
        ----------
        data : Table, data frame, dictionary of columns, or path
            The table that the graph was learned from, or another with the same columns.
        equivalent_sample_size : float
            The weight of the prior in rows; see :meth:`f2sl.BayesianNetwork.fit`.
        **reading
            Options of :func:`f2sl.open_table`. By default columns are read as when the graph was learned, and
            cut into the same intervals.

        Returns
        -------
        BayesianNetwork
            A :class:`GaussianNetwork` if all columns are numbers. Its graph is `dag_`; undirected edges of
            `graph_` between states and numbers point to the numbers.

        Examples
        --------
        >>> import f2sl
        >>> asia = f2sl.load_example("asia")
        >>> net = f2sl.F2SLs().fit(asia).network(asia)
        >>> round(net.query("bronc", {"smoke": "yes"})["yes"], 2)
        0.6
        """
        from f2sl.network.fitting import fit_learned

        graph = self.graph_
        takes = ("discrete", "continuous", "mixed")
        how = {"min_variables": 1, "only": graph.nodes, "learned": graph.read_as, **reading}
        table = open_for(takes, "a Bayesian network", data, self.n_jobs, **how)
        with nullcontext() if table is data else table:
            return fit_learned(graph, table, equivalent_sample_size)

    def _open(self, table: Any) -> AbstractContextManager[Any]:
        """Open what `_learn` asks: counts of states, or moments of numbers."""
        return cast(AbstractContextManager[Any], open_engine(table, self.n_jobs))

    def _in_question(self, cpdag: PDAG) -> frozenset[tuple[str, str]]:
        """Return the arrows of a CPDAG that the knowledge would allow the other way round."""
        from f2sl.learners.stability import in_question

        names = np.array(cpdag.nodes, object)
        return frozenset((a, b) for a, b in names[in_question(cpdag, self._constraints)].tolist())

    def _weakly_decided(self, engine: Any, table: Table, cpdag: PDAG) -> frozenset[tuple[str, str]]:
        """Return the arrows of the CPDAG not found again from resampled rows; all if none are drawn."""
        from f2sl.learners.stability import REPLICATES, takes_long, weakly_decided

        replicates: int | None = self.stability  # type: ignore[attr-defined]
        again = self._search_again(engine)
        if replicates is None and takes_long(table, again is not None):
            text = (
                "all directions are called weakly decided, because to check them takes long on a table with "
                "so many columns or states; "
            )
            self.notes_.append(Note("weakly-decided", text, Use("stability", REPLICATES), " checks them"))
            return cpdag.weak
        with self._timed("directions"):
            often = REPLICATES if replicates is None else replicates
            return weakly_decided(self._quick(table.kind), table, cpdag, self._constraints, often, again)

    def _search_again(self, engine: Any) -> SearchAgain | None:
        """Return what searches again from the matrix of resampled rows, if the learner searches one."""
        return None

    def _quick(self, kind: str) -> StructureLearner:
        """Return a learner that finds much the same graph of such a table, if possible in less time."""
        return type(self)(**self.get_params())

    def _note_required_edges(self, engine: Any, names: tuple[str, ...]) -> None:
        """Add a note on required edges that the data do not support."""
        if len(self._constraints.required):
            messages = [f"{names[u]!r} -> {names[v]!r}" for u, v in self._unsupported(engine)]
            if messages:
                text = f"required edges, although {self._unsupported_as}: {listing(messages)}"
                self.notes_.append(Note("unsupported-edges", text))

    def _unsupported(self, engine: Any) -> list[tuple[int, int]]:
        """Return the required arcs whose ends a marginal test finds independent."""
        a, b = self._constraints.required.T
        test = make_test(engine, getattr(self, "alpha", 0.01), getattr(self, "ci_test", "auto"))
        apart = test.answer(a, b, np.empty((len(a), 0), np.int64)) == INDEPENDENT
        return [(u, v) for u, v in self._constraints.required[apart].tolist()]

    def _origin(self, reading: Mapping[str, Any]) -> dict[str, Any] | None:
        """Describe how to learn the same again: plain data, None where an option is an object."""
        location, defaults = f"{type(self).__module__}:{type(self).__name__}", self.option_defaults()
        names = [entry.name for entry in STRUCTURE.registered() if entry.location in (location, type(self))]
        own = {name: value for name, value in self.get_params().items() if name not in NOT_KEPT}
        usual = {name: value for name, value in reading_defaults().items() if name not in NOT_KEPT}
        origin = {
            "algorithm": names[0] if names else "",
            "options": {name: value for name, value in own.items() if repr(value) != repr(defaults[name])},
            "reading": {
                name: value for name, value in reading.items() if repr(value) != repr(usual.get(name, value))
            },
            "rows": self.n_rows_,
        }
        try:
            return learned_by_of({"learned_by": json.loads(json.dumps(origin))})
        except (TypeError, FormatError):  # not plain data, or more than a file may hold
            return None

    def _note_inconclusive_tests(self, kind: str) -> None:
        """Add a note if most tests were inconclusive."""
        tests, inconclusive = getattr(self, "n_tests_", 0), getattr(self, "n_inconclusive_", 0)
        if inconclusive > MANY_INCONCLUSIVE * tests:
            why = "too few rows for so many states"
            if kind != DISCRETE:
                why = "too few rows, or columns determined by others"
            many = f"{inconclusive:,} of {tests:,} independence tests were inconclusive"
            text = f"{why}: {many}; the result is unreliable"
            self.notes_.append(Note("inconclusive", text, tests=tests, inconclusive=inconclusive))

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        """Add the time that a block takes to the stage of that name."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings_[name] = self.timings_.get(name, 0.0) + time.perf_counter() - started

    def _keep_skeleton(self, skeleton: Skeleton, names: tuple[str, ...]) -> None:
        """Keep the skeleton as an undirected graph over the columns."""
        self.skeleton_ = as_graph(skeleton, names).reorder(self.feature_names_in_.tolist())

    def _named(self, sets: Neighborhoods, names: tuple[str, ...]) -> dict[str, list[str]]:
        """Turn sets by number into sets by name, in the order of the columns."""
        members, start = sets.members.tolist(), sets.start.tolist()
        found = {name: [names[m] for m in members[start[v] : start[v + 1]]] for v, name in enumerate(names)}
        return {column: found[column] for column in self.feature_names_in_.tolist()}

    def _oriented_by(self, triples: Integers, skeleton: Skeleton, names: tuple[str, ...]) -> PDAG:
        """Orient v-structures, given as rows (A, C, D), apply Meek's rules, and store their names."""
        from f2sl.learners.v_structures import agreeing, orient_by_independence

        if self._constraints:
            agree = agreeing(skeleton, triples, self._constraints)
            against = [f"{names[a]} -> {names[c]} <- {names[d]}" for a, c, d in triples[~agree].tolist()]
            self._note_left_out("the knowledge contradicts these v-structures", against)
            triples = triples[agree]
        self.v_structures_ = [(names[a], names[c], names[d]) for a, c, d in triples.tolist()]
        graph = orient_by_independence(skeleton, names, triples, self._constraints)
        self._note_cycles(graph, skeleton, names)
        return graph

    def _note_cycles(self, graph: PDAG, skeleton: Skeleton, names: tuple[str, ...]) -> None:
        """Add a note on the links of the skeleton that the graph lacks."""
        if graph.n_edges < len(skeleton.edges):
            kept = {frozenset(edge) for edge in [*graph.directed_edges, *graph.undirected_edges]}
            pairs = [(names[a], names[b]) for a, b in skeleton.edges.tolist()]
            lost = [f"{a} - {b}" for a, b in pairs if {a, b} not in kept]
            self._note_left_out("the knowledge directs these links into a cycle", lost)

    def _note_left_out(self, what: str, shown: Sequence[str]) -> None:
        """Add a note on findings that were left out because of the knowledge."""
        if shown:
            self.notes_.append(Note("against-knowledge", f"left out because {what}: {listing(shown)}"))

    def _unlinked(self, names: tuple[str, ...]) -> Skeleton:
        """Return the skeleton of the required edges alone."""
        nothing = from_edges(len(names), np.empty((0, 2), np.int64), np.empty(0))
        return constrained(nothing, self._constraints)

    def _as_graph(self, skeleton: Skeleton, names: tuple[str, ...]) -> PDAG:
        """Return the graph of unoriented links, with the directions that the knowledge implies."""
        if not self._constraints:
            return as_graph(skeleton, names)
        from f2sl.learners.v_structures import orient_by_independence

        graph = orient_by_independence(skeleton, names, np.empty((0, 3), np.int64), self._constraints)
        self._note_cycles(graph, skeleton, names)
        return graph


class WithClimbing(StructureLearner):
    """Options of hill climbing."""

    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")

    def _climbed(
        self, skeleton: Skeleton, names: tuple[str, ...], score: Families, **how: Any
    ) -> tuple[DAG, Climbed]:
        """Climb to the best DAG with edges of a skeleton; `how` is as in `orient_by_score`."""
        from f2sl.learners.orientation import orient_by_score

        how |= {"tabu_length": self.tabu_length, "max_stall": self.max_stall}
        how["constraints"] = self._constraints
        return orient_by_score(skeleton, names, score, **how)


class WithScore(WithClimbing):
    """Options of hill climbing on a score of choice."""

    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    stability: int | None = option("stability")


def named_sets(
    sets: Mapping[tuple[int, int], tuple[int, ...]], names: tuple[str, ...]
) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Turn separating sets by number into sets by name, each pair once, its earlier name first."""
    if isinstance(sets, SeparatingSets):
        return sets.either_way().named(names)
    named: dict[tuple[str, str], tuple[str, ...]] = {}
    for (a, b), given in sets.items():
        pair = (names[a], names[b]) if a < b else (names[b], names[a])
        if pair not in named:
            named[pair] = tuple([names[s] for s in given])
    return named


def as_graph(skeleton: Skeleton, names: tuple[str, ...]) -> PDAG:
    """Return an undirected graph of a skeleton."""
    return PDAG.from_arrays(names, skeleton.edges[:0], skeleton.edges, weights_undirected=skeleton.strengths)


def with_aliases(graph: PDAG, table: Table, knowledge: Knowledge | None = None) -> PDAG:
    """Add each merged column, linked to its representative, as knowledge of roots and leaves directs."""
    edges = [(first, alias) for alias, first in table.merged.items()]
    if not edges:
        return graph
    nodes, weights = [*graph.nodes, *(alias for _, alias in edges)], graph.weights
    location = {name: v for v, name in enumerate(nodes)}
    ends = np.array([[location[name] for name in adjacency] for adjacency in edges]).T
    rules = knowledge.constraints(nodes) if knowledge else Constraints.none(len(nodes))
    forward, back = rules.allows(*ends), rules.allows(*ends[::-1])
    arrows = [
        adjacency if on else adjacency[::-1]
        for adjacency, on, off in zip(edges, forward, back, strict=True)
        if on or off
    ]
    if isinstance(graph, DAG):
        dag = DAG(nodes, [*graph.directed_edges, *arrows], weights=weights)
        dag.weak = graph.weak
        return dag
    free = [adjacency for adjacency, on, off in zip(edges, forward, back, strict=True) if on and off]
    arrows = [*graph.directed_edges, *(arrow for arrow in arrows if arrow not in free)]
    found = PDAG(nodes, arrows, [*graph.undirected_edges, *free], weights=weights)
    found.weak = graph.weak
    if graph.dag is not None:
        found.dag = with_aliases(graph.dag, table, knowledge).to_dag()
    return found


def display_for(verbose: bool) -> AbstractContextManager[None]:
    """Show progress on the terminal if `verbose` is true."""
    if not verbose:
        return nullcontext()
    from f2sl._rich import on_terminal

    return on_terminal()
