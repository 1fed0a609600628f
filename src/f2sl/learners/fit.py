"""One fit of a learner of graphs: open the table, let the learner learn, check and name the result.

A learner implements ``_learn(fit)``. The :class:`Fit` has what it learns from, and takes what it finds beside
the graph: so the steps that several learners share are functions with a fit as their argument.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from f2sl._ahead import HELPERS
from f2sl._arrays import Integers
from f2sl._deadline import Deadline, TimeUp, limited
from f2sl._notes import Note, joined, of_kind
from f2sl._progress import stage
from f2sl._threads import note_of_jobs, one_blas_thread
from f2sl.constraints import Constraints
from f2sl.data.names import listing
from f2sl.data.notes import warn_of_identifiers
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.data.transform import for_learning
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.graph import DAG, PDAG
from f2sl.learners.local.base import Neighborhoods, check_required_parents
from f2sl.learners.result import name_result, note_unsupported
from f2sl.learners.skeleton import Skeleton, as_graph, constrained, from_edges

if TYPE_CHECKING:
    from f2sl.learners.base import StructureLearner

MULTIPLICATIONS = 1 << 32
"""Rows times squared columns up to which linear algebra has one thread: what takes less than a second gains
nothing, and threads that wait for work use several times the processor time of the work."""

Learner = TypeVar("Learner", bound="StructureLearner")


@dataclass
class Fit:
    """State of one fit: what a learner learns from, and what it finds beside the graph.

    Attributes
    ----------
    names : tuple of str
        Names of the variables, sorted: variable v is ``names[v]``.
    columns : list of str
        The same names, in the order of the user's table.
    constraints : Constraints
        What the user's knowledge says about the edges.
    table : Table
        The table, its columns in the order of `names`.
    engine : Any
        What the learner asks: counts of discrete columns, moments of continuous ones, or both.
    deadline : Deadline
        Time limit of the fit. At the limit checkpoints raise :class:`TimeUp`. A learner keeps what it has
        found by blocks of ``keeping``, which end early then and on Ctrl-C; after one that did, it returns the
        graph of what is finished, and asks nothing more.
    notes : list of Note
        Notes for the user.
    timings : dict of str to float
        Seconds of each stage.
    found : dict of str to Any
        Attributes that the learner gets, such as ``skeleton_``.
    complete : bool
        False if a part of the learner's work ended early.
    """

    names: tuple[str, ...]
    columns: list[str]
    constraints: Constraints
    table: Any = None
    engine: Any = None
    deadline: Deadline = field(default_factory=Deadline)
    notes: list[Note] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)
    complete: bool = True

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time that a block takes to the stage of that name."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - started

    def keep_skeleton(self, skeleton: Skeleton) -> None:
        """Keep the skeleton as an undirected graph over the columns."""
        self.found["skeleton_"] = as_graph(skeleton, self.names).reorder(self.columns)

    def count_tests(self, asked: Any) -> None:
        """Add the numbers of tests of a test or of sets that were found."""
        for name in ("n_tests", "n_inconclusive"):
            self.found[f"{name}_"] = self.found.get(f"{name}_", 0) + getattr(asked, name)

    def by_name(self, sets: Neighborhoods) -> dict[str, list[str]]:
        """Turn sets by number into sets by name, in the order of the columns."""
        members, start = sets.members.tolist(), sets.start.tolist()
        found = {
            name: [self.names[m] for m in members[start[v] : start[v + 1]]]
            for v, name in enumerate(self.names)
        }
        return {column: found[column] for column in self.columns}

    def oriented(self, skeleton: Skeleton, triples: Integers) -> PDAG:
        """Orient v-structures, given as rows (A, C, D), apply Meek's rules, and keep the v-structures."""
        from f2sl.learners.v_structures import agreeing, orient_by_independence

        names = self.names
        if self.constraints:
            agree = agreeing(skeleton, triples, self.constraints)
            against = [f"{names[a]} -> {names[c]} <- {names[d]}" for a, c, d in triples[~agree].tolist()]
            self._note_left_out("the knowledge contradicts these v-structures", against)
            triples = triples[agree]
        self.found["v_structures_"] = [(names[a], names[c], names[d]) for a, c, d in triples.tolist()]
        graph = orient_by_independence(skeleton, names, triples, self.constraints)
        if graph.n_edges < len(skeleton.edges):
            self._note_cycles(graph, skeleton)
        return graph

    def undirected(self, skeleton: Skeleton) -> PDAG:
        """Return the graph of unoriented edges, with the directions that the knowledge implies."""
        if not self.constraints:
            return as_graph(skeleton, self.names)
        from f2sl.learners.v_structures import orient_by_independence

        nothing = np.empty((0, 3), np.int64)
        graph = orient_by_independence(skeleton, self.names, nothing, self.constraints)
        if graph.n_edges < len(skeleton.edges):
            self._note_cycles(graph, skeleton)
        return graph

    def _note_cycles(self, graph: PDAG, skeleton: Skeleton) -> None:
        """Add a note on the edges of the skeleton that the graph lacks."""
        kept = {frozenset(edge) for edge in [*graph.directed_edges, *graph.undirected_edges]}
        pairs = [(self.names[a], self.names[b]) for a, b in skeleton.edges.tolist()]
        lost = [f"{a} - {b}" for a, b in pairs if {a, b} not in kept]
        self._note_left_out("the knowledge directs these edges into a cycle", lost)

    def _note_left_out(self, what: str, shown: Sequence[str]) -> None:
        """Add a note on findings that were left out because of the knowledge."""
        if shown:
            self.notes.append(Note("against-knowledge", f"left out because {what}: {listing(shown)}"))


def fit_learner(
    learner: Learner,
    data: Any,
    reading: Mapping[str, Any],
    called: str = "",
    on_open: Callable[[Table], Table] | None = None,
    remarked: bool = True,
) -> Learner:
    """Open data with options of `open_table`, and let the learner learn; `fit` is this without such options.

    Messages about the data name the learner as it is `called`. `on_open` is shown the table that was opened,
    and returns the one to learn from: the same, with other notes. Unless the table is `remarked`, what only
    notes and warnings say about it is not looked for.
    """
    learner.check_options()
    before = vars(learner).copy()
    try:
        return _fit(learner, data, reading, called or type(learner).__name__, on_open, remarked)
    except Interrupted:
        raise
    except BaseException:
        # The result of an earlier fit stays as it was.
        vars(learner).clear()
        vars(learner).update(before)
        raise


def _fit(
    learner: Learner,
    data: Any,
    reading: Mapping[str, Any],
    called: str,
    on_open: Callable[[Table], Table] | None,
    remarked: bool,
) -> Learner:
    for learned in [name for name in vars(learner) if name.endswith("_")]:
        delattr(learner, learned)  # so that nothing of an earlier fit is left in one that ends early
    known = set(vars(learner))
    started = time.perf_counter()
    deadline = Deadline(learner.time_limit)
    with ExitStack() as own:
        if learner.verbose:
            own.enter_context(display_for(learner.verbose))
        HELPERS.start()
        with stage("reading the table"):
            table = open_for(learner._takes, called, data, learner.n_jobs, **reading)
            if not isinstance(data, Table):
                own.enter_context(table)
            table = table if on_open is None else on_open(table)
            if table.n_rows * table.n_variables**2 < MULTIPLICATIONS:
                own.enter_context(one_blas_thread())
            reading = {**reading, "transform": table.transform}
            remarks = table.remarks if remarked else []
            table = own.enter_context(for_learning(table, learner.n_jobs, learner._size_matters))
            notes = [*table.notes, *(note_of_jobs(learner.n_jobs) if learner.n_jobs else ())]
            if remarked:
                notes += remarks
                warn_of_identifiers(table, stacklevel=5)
        HELPERS.expect(type(learner).__name__, table.kind, bool(table.missing.any()))
        ordered = table.in_name_order()
        constraints = Constraints.none(table.n_variables)
        if learner.knowledge:
            constraints = learner.knowledge.constraints(ordered.names, table)
            check_required_parents(learner, constraints, ordered.names)
        fit = Fit(ordered.names, list(table.names), constraints, ordered, deadline=deadline, notes=notes)
        fit.timings["read"] = time.perf_counter() - started
        learner._begin(fit, table)
        graph, interrupt = _learned(learner, fit, own)
        vars(learner).update(fit.found)
        if fit.complete and remarked:
            if len(constraints.required):
                note_unsupported(learner, fit)
            embedded = getattr(fit.engine, "__dict__", {}).get("embedded")  # if this learner has used it
            if embedded is not None and embedded.note is not None:
                fit.notes.append(embedded.note)
        if isinstance(graph, DAG) and not learner._directs_all_edges:
            dag, graph = graph, graph.to_cpdag(learner.knowledge)
            graph.dag, dag.by_score = dag, True
            if getattr(learner, "stability", 0) != 0:
                from f2sl.learners.stability import mark_weakly_decided

                interrupt = mark_weakly_decided(learner, fit, graph) or interrupt
    for helper in [name for name in vars(learner) if name.startswith("_") and name not in known]:
        delattr(learner, helper)  # what only this fit has worked with
    learner.complete_ = fit.complete
    name_result(learner, fit, graph, table, reading)
    fit.timings["total"] = time.perf_counter() - started
    if interrupt is not None:
        interrupt.finished = learner.graph_
        raise interrupt
    if not fit.complete:
        message = joined(of_kind(fit.notes, "incomplete"))
        warnings.warn(message or "incomplete: the time limit ended the work early", F2SLWarning, stacklevel=4)
    return learner


def _learned(learner: StructureLearner, fit: Fit, own: ExitStack) -> tuple[PDAG, Interrupted | None]:
    """Open the engine and learn; return the graph, partial after a time limit, and the interrupt, if any."""
    deadline, interrupt = fit.deadline, None
    try:
        with limited(None if learner._watches_time else deadline):
            with fit.timed("prepare"):
                fit.engine = own.enter_context(learner._open(fit))
                if fit.constraints and hasattr(fit.engine, "isolated"):
                    fit.engine.isolated = fit.constraints.isolated()
            graph = learner._learn(fit)
    except Interrupted as error:
        interrupt, graph = error, error.finished
        fit.complete = False
    except TimeUp:
        only = "only the edges that the knowledge requires" if fit.constraints else "no edges"
        deadline.stop(f"no step was finished, so the graph has {only}")
        nothing = from_edges(len(fit.names), np.empty((0, 2), np.int64), np.empty(0))
        graph = fit.undirected(constrained(nothing, fit.constraints))
    if deadline.stopped:
        fit.complete = False
        fit.notes.append(deadline.note)
        interrupt = Interrupted(graph) if deadline.interrupted else interrupt
    return graph, interrupt


def display_for(verbose: bool) -> AbstractContextManager[None]:
    """Show progress on the terminal if `verbose` is true."""
    if not verbose:
        return nullcontext()
    from f2sl._rich import on_terminal

    return on_terminal()
