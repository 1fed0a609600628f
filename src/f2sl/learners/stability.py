"""Check which of the directions that a score decides hold in other samples and without its model.

The CPDAG of a learned DAG directs an edge if all equivalent DAGs do. That says nothing about other DAGs with
nearly the same score, which another sample may favour. So the learner learns again from a few tables of as
many rows, drawn with replacement (Friedman, Goldszmidt and Wyner 1999). An arrow that is not in the CPDAG of
each of them is *weakly decided*. Those in all of them may still follow from a model that the table does not
obey; so the colliders they stand on are tested again (:mod:`f2sl.learners.colliders`). Arrows that cannot
point the other way by the knowledge are not checked.

Few tables are enough: an arrow that is found with probability p passes k of them with probability p^k.
docs/evidence/confidence.md shows how often the arrows that pass are found again. Differences of score do not
tell: some 30 % of other samples lack an arrow even if each change of one or two families that removes it
costs more than 30 nats.

References
----------
.. [1] N. Friedman, M. Goldszmidt, A. Wyner. Data analysis with Bayesian networks: a bootstrap approach.
   UAI 1999.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from f2sl._arrays import Integers
from f2sl._deadline import TimeUp, current, limited
from f2sl._notes import Note, Use
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.column import MIXED
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Table
from f2sl.errors import DataError, Interrupted
from f2sl.graph import DAG, PDAG
from f2sl.learners.colliders import standing
from f2sl.learners.resample import BOOTSTRAP, Resampling, gathered

if TYPE_CHECKING:
    from f2sl.learners.base import StructureLearner
    from f2sl.learners.fit import Fit
    from f2sl.search.growing.again import SearchAgain

REPLICATES = 8
"""Tables drawn by default; docs/evidence/confidence.md shows how this was chosen."""
MOST_COLUMNS, MOST_INCOMPLETE, MOST_OF_MATRIX = 100, 10_000_000, 50_000_000
"""Columns up to which directions are checked by default, where the indicators of states beside numbers count
as columns of their own; with missing values among these, rows times squared columns, and the same for a
learner that searches one matrix again."""
MOST_ROWS = 10_000
"""Rows that tables are drawn from, and have: of larger tables, evenly spaced rows."""
UNCHECKED = "the directions were not checked, so all are called weakly decided"
"""Note on a check of directions that stopped early."""
NOT_REPEATED, NOT_CHECKED = "not found again from resampled rows", "not checked with resampled rows"
NOT_CONFIRMED = "no v-structure it follows from passes a test that also sees curved relations"
"""Why an arrow is only weakly decided."""


def takes_long(table: Table, one_matrix: bool = False) -> bool:
    """Return whether to learn again from a table takes too long to do it without being asked.

    It takes less time with `one_matrix` (:class:`~f2sl.search.growing.again.SearchAgain`).

    Examples
    --------
    >>> from f2sl import open_table
    >>> takes_long(open_table({"a": ["x", "y"] * 20, "b": [0.5, 1.5] * 20}))
    False
    """
    if table.kind != MIXED:
        return table.n_variables > MOST_COLUMNS
    columns = int(np.maximum(table.cardinalities - 1, 1).sum())
    work = min(table.n_rows, MOST_ROWS) * columns**2
    most = MOST_OF_MATRIX if one_matrix else MOST_INCOMPLETE
    return columns > MOST_COLUMNS or bool(table.missing.any() and work > most)


def mark_weakly_decided(learner: StructureLearner, fit: Fit, cpdag: PDAG) -> Interrupted | None:
    """Set `weak` of a CPDAG and of its DAG to the arrows that are not found again; return any interrupt.

    The learner gets `weakly_decided_`, which says why they are. If the check is not made, or stops early, all
    arrows in question are weakly decided, and a note says so.
    """
    names = np.array(cpdag.nodes, object)
    questioned = names[in_question(cpdag, fit.constraints)].tolist()
    weak: dict[tuple[str, str], str] = dict.fromkeys(((a, b) for a, b in questioned), NOT_CHECKED)
    interrupt = None
    if fit.complete and weak:
        replicates: int | None = learner.stability  # type: ignore[attr-defined]
        try:
            with limited(fit.deadline):
                again, search = learner._for_replicates(fit)
                if replicates is None and takes_long(fit.table, search is not None):
                    text = (
                        "all directions are called weakly decided, because to check them takes long on a "
                        "table with so many columns or states; "
                    )
                    use = Use("stability", REPLICATES)
                    fit.notes.append(Note("weakly-decided", text, use, " checks them"))
                else:
                    often = REPLICATES if replicates is None else replicates
                    with fit.timed("directions"):
                        weak = weakly_decided(again, fit.table, cpdag, fit.constraints, often, search)
        except (TimeUp, KeyboardInterrupt) as error:
            by_hand = isinstance(error, KeyboardInterrupt)
            fit.deadline.stop(UNCHECKED, by_hand)
            fit.complete, interrupt = False, Interrupted(cpdag) if by_hand else None
            fit.notes.append(fit.deadline.note)
    for graph in (cpdag, cpdag.dag):
        if graph is not None:
            graph.weak = frozenset(weak)
    learner.weakly_decided_ = weak
    return interrupt


def weakly_decided(
    learner: StructureLearner,
    table: Table,
    cpdag: PDAG,
    rules: Constraints,
    replicates: int,
    again: SearchAgain | None = None,
) -> dict[tuple[str, str], str]:
    """Return the arrows of a CPDAG that are weakly decided, with the reason of each.

    A replicate lacks them, or they follow from no tested collider.

    Parameters
    ----------
    learner : StructureLearner
        Learns from the replicates, unless there is `again`.
    table : Table
        What `cpdag` was learned from, with the same columns in the same order.
    cpdag : PDAG
        The graph whose arrows are checked.
    rules : Constraints
        The knowledge; arrows that it does not allow the other way round are not checked.
    replicates : int
        Number of replicates; fewer are drawn once no arrow is left.
    again : SearchAgain, optional
        Searches again from the matrix of a replicate.

    Raises
    ------
    TimeUp
        When the current time limit is reached. What a replicate has found by then is no evidence.
    """
    names = np.array(cpdag.nodes, object)
    arrows, known = in_question(cpdag, rules), cpdag.directed_array
    known = known[~rules.allows(known[:, 1], known[:, 0])]
    resampling = Resampling(learner, (*cpdag.nodes, *table.merged), BOOTSTRAP, random_state=0)
    edges = [resampling.edges_of(PDAG(cpdag.nodes, [arrow])) for arrow in names[arrows].tolist()]
    left = np.concatenate([np.empty(0, np.int64), *edges])
    sample = sampled(table)
    found = np.ones(len(left), np.bool_)
    with stage("checking directions") as advance:
        for number in range(replicates):
            if found.any():
                found &= np.isin(left, _edges(resampling, sample, number, again))
            advance(1.0 / replicates)
        repeated = found.copy()
        if found.any():
            firm = standing(sample, cpdag, {(u, v) for u, v in known.tolist()})
            found &= [(u, v) in firm for u, v in arrows.tolist()]
    return {
        (a, b): NOT_CONFIRMED if again_found else NOT_REPEATED
        for (a, b), again_found in zip(names[arrows[~found]].tolist(), repeated[~found].tolist(), strict=True)
    }


def in_question(cpdag: PDAG, rules: Constraints) -> Integers:
    """Return the arrows of a CPDAG that the knowledge would allow the other way round."""
    arrows = cpdag.directed_array
    return arrows[rules.allows(arrows[:, 1], arrows[:, 0])]


def _edges(resampling: Resampling, sample: MemoryTable, number: int, again: SearchAgain | None) -> Integers:
    """Return the edges of a replicate; none if nothing can be learned from its rows."""
    if again is None:
        resampling.learner.set_params(time_limit=current().left)
        try:
            replicate = resampling.run(sample, number)
        except DataError:
            return np.empty(0, np.int64)
        if not replicate.complete:
            raise TimeUp
        return replicate.edges
    drawn = gathered(sample, resampling.rows(number, sample.n_rows))
    graph = DAG.from_arrays(sample.names, again.arrows(drawn, number))
    return resampling.edges_of(graph.to_cpdag(resampling.learner.knowledge))


def sampled(table: Table) -> MemoryTable:
    """Return the rows of a table, or evenly spaced ones of many, in memory and sorted by their values.

    So the rows that are drawn depend neither on where the table is held nor, up to `MOST_ROWS`, on the order
    of its rows.
    """
    size = min(table.n_rows, MOST_ROWS)
    drawn = gathered(table, np.arange(size) * table.n_rows // size)
    return gathered(drawn, np.lexsort([drawn.column(i) for i in range(drawn.n_variables)]))
