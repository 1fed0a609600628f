"""Name what a learner has found: the columns of the user's table, how it was learned, and notes on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl._notes import Note
from f2sl.constraints import Constraints
from f2sl.data.column import DISCRETE, read_as
from f2sl.data.names import listing
from f2sl.data.open import reading_defaults
from f2sl.data.table import Table
from f2sl.graph import DAG, PDAG
from f2sl.graph.formats.common import FormatError
from f2sl.graph.formats.json_file import learned_by_of
from f2sl.knowledge import Knowledge
from f2sl.learners.registries import STRUCTURE
from f2sl.stats.answers import INDEPENDENT
from f2sl.stats.choose import make_test

if TYPE_CHECKING:
    from f2sl.learners.base import StructureLearner
    from f2sl.learners.fit import Fit

NOT_KEPT = ("knowledge", "n_jobs", "verbose", "engine", "memory", "scheduler", "encoding")
"""Options that graphs do not keep with how they were learned: kept apart, or without effect on the result."""
MANY_INCONCLUSIVE = 0.5
"""Share of inconclusive tests above which a note says so."""


def name_result(
    learner: StructureLearner, fit: Fit, graph: PDAG, table: Table, reading: Mapping[str, Any]
) -> None:
    """Set `graph_`, over the table's columns, with how it was learned; note if most tests were inconclusive.

    Merged columns are part of it.
    """
    graph = graph.reorder(table.names)
    learner.graph_ = graph = with_aliases(graph, table, learner.knowledge) if table.merged else graph
    origin, kinds = _origin(learner, reading, table.n_rows), read_as(table.columns)
    for one in (graph, graph.dag):
        if one is not None:
            one.knowledge, one.read_as, one.learned_by = learner.knowledge or None, kinds, origin
    tests, inconclusive = fit.found.get("n_tests_", 0), fit.found.get("n_inconclusive_", 0)
    if inconclusive > MANY_INCONCLUSIVE * tests:
        why = "too few rows for so many states"
        if table.kind != DISCRETE:
            why = "too few rows, or columns determined by others"
        many = f"{inconclusive:,} of {tests:,} independence tests were inconclusive"
        text = f"{why}: {many}; the result is unreliable"
        fit.notes.append(Note("inconclusive", text, tests=tests, inconclusive=inconclusive))


def with_aliases(graph: PDAG, table: Table, knowledge: Knowledge | None = None) -> PDAG:
    """Add each merged column, adjacent to its representative, as knowledge of roots and leaves directs."""
    edges = [(first, alias) for alias, first in table.merged.items()]
    if not edges:
        return graph
    nodes, weights = [*graph.nodes, *(alias for _, alias in edges)], graph.weights
    position = {name: v for v, name in enumerate(nodes)}
    ends = np.array([[position[name] for name in edge] for edge in edges]).T
    rules = knowledge.constraints(nodes) if knowledge else Constraints.none(len(nodes))
    forward, back = rules.allows(*ends), rules.allows(*ends[::-1])
    arrows = [
        edge if on else edge[::-1] for edge, on, off in zip(edges, forward, back, strict=True) if on or off
    ]
    if isinstance(graph, DAG):
        dag = DAG(nodes, [*graph.directed_edges, *arrows], weights=weights)
        dag.weak, dag.by_score = graph.weak, graph.by_score
        return dag
    free = [edge for edge, on, off in zip(edges, forward, back, strict=True) if on and off]
    arrows = [*graph.directed_edges, *(arrow for arrow in arrows if arrow not in free)]
    found = PDAG(nodes, arrows, [*graph.undirected_edges, *free], weights=weights)
    found.weak = graph.weak
    if graph.dag is not None:
        found.dag = with_aliases(graph.dag, table, knowledge).to_dag()
    return found


def _origin(learner: StructureLearner, reading: Mapping[str, Any], n_rows: int) -> dict[str, Any] | None:
    """Describe how to learn the same again: plain data, None where an option is an object."""
    position, defaults = f"{type(learner).__module__}:{type(learner).__name__}", learner.option_defaults()
    names = [entry.name for entry in STRUCTURE.registered() if entry.location in (position, type(learner))]
    own = {name: value for name, value in learner.get_params().items() if name not in NOT_KEPT}
    usual = {name: value for name, value in reading_defaults().items() if name not in NOT_KEPT}
    origin = {
        "algorithm": names[0] if names else "",
        "options": {name: value for name, value in own.items() if repr(value) != repr(defaults[name])},
        "reading": {
            name: value for name, value in reading.items() if repr(value) != repr(usual.get(name, value))
        },
        "rows": n_rows,
    }
    try:
        return learned_by_of({"learned_by": json.loads(json.dumps(origin))})
    except (TypeError, FormatError):  # not plain data, or more than a file may hold
        return None


def note_unsupported(learner: StructureLearner, fit: Fit) -> None:
    """Add a note on required edges whose ends a marginal test finds independent."""
    if learner._directs_all_edges:
        return  # by weights, without tests: these learners look at the weights themselves
    required = fit.constraints.required
    test = make_test(fit.engine, getattr(learner, "alpha", 0.01), getattr(learner, "ci_test", "auto"))
    a, b = required.T
    apart = test.answer(a, b, np.empty((len(required), 0), np.int64)) == INDEPENDENT
    listed = [f"{fit.names[u]!r} -> {fit.names[v]!r}" for u, v in required[apart].tolist()]
    if listed:
        why = "the two are not significantly dependent as a pair"
        fit.notes.append(Note("unsupported-edges", f"required edges, although {why}: {listing(listed)}"))
