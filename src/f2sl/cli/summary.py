"""Summary that ``f2sl learn`` prints."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl._notes import Note, Use
from f2sl.cli import output
from f2sl.cli.compare import metrics, notes_on
from f2sl.cli.options import describe_options, records, texts
from f2sl.cli.output import count
from f2sl.errors import printable

if TYPE_CHECKING:
    from f2sl.cli.reading import TableOptions
    from f2sl.data.table import Table
    from f2sl.graph import PDAG, Comparison

STRONGEST = 10
LEAST_REST = 0.05
"""Shortest time outside all stages (modules loaded on first use) that is shown, in seconds."""
MOST_PRINTED = 20_000
"""Largest number of edges that ``--json`` prints; ``--out`` saves larger graphs."""


@dataclass(frozen=True)
class Edge:
    """Edge with its strength, which is None for an edge that knowledge requires.

    It is `weak` if its direction is only weakly decided.
    """

    source: str
    target: str
    directed: bool
    weight: float | None
    weak: bool = False

    def __str__(self) -> str:
        return f"{printable(self.source)} {'->' if self.directed else '-'} {printable(self.target)}"

    def direction(self, decided: Set[tuple[str, str]]) -> str:
        """Describe a direction, where a score chose among equivalent graphs: decided by the data, or not."""
        if self.weak:
            return "weakly decided"
        return "decided" if (self.source, self.target) in decided else "either way"


def strongest_edges(graph: PDAG, most: int = STRONGEST) -> list[Edge]:
    """Return the edges with the largest absolute weights; ties are sorted by name.

    Edges without a weight come last. A graph without weights has none.

    Examples
    --------
    >>> from f2sl.graph import PDAG
    >>> weights = {("a", "b"): 0.2, ("b", "c"): -0.7}
    >>> [str(edge) for edge in strongest_edges(PDAG([*"abc"], [("a", "b")], [("b", "c")], weights=weights))]
    ['b - c', 'a -> b']
    """
    import heapq

    if graph.weights is None:
        return []
    weak = graph.weak
    edges = [Edge(a, b, kind == "directed", weight, (a, b) in weak) for a, b, kind, weight in graph.edges]

    def rank(edge: Edge) -> tuple[bool, float, str, str]:
        return edge.weight is None, -abs(edge.weight or 0.0), edge.source, edge.target

    return heapq.nsmallest(most, edges, key=rank)


def as_lists(graph: PDAG) -> dict[str, list[tuple[str, str]]] | None:
    """Return all edges, or None if there are too many to print."""
    if graph.n_edges > MOST_PRINTED:
        return None
    return {"directed": graph.directed_edges, "undirected": graph.undirected_edges}


def isolated(graph: PDAG) -> int:
    """Count the nodes without edges."""
    import numpy as np

    adjacent = np.concatenate((graph.directed_array, graph.undirected_array))
    return graph.n_nodes - len(np.unique(adjacent))


@dataclass(frozen=True)
class Learned:
    """Content of the summary: table, learner, graph and files written."""

    algorithm: str
    reading: TableOptions
    table: Table
    learner: Any
    graph: PDAG
    dag: bool
    out: Path | None
    truth: Path | None
    comparison: Comparison | None
    picture: Path | None = None
    page: Path | None = None

    def show(self) -> None:
        """Print the summary for people."""
        output.show(output.pairs(self._lines()))
        edges = strongest_edges(self.graph)
        if edges:
            all_shown = len(edges) == self.graph.n_edges
            which = "Edges" if all_shown else f"The strongest {len(edges)} of {self.graph.n_edges:,} edges"
            title = f"\n{which}, by strength"
            rows = [[str(edge), "-" if edge.weight is None else f"{edge.weight:.4f}"] for edge in edges]
            heads = ["edge", self.learner.strength_unit]
            if self.learner.graph_.dag is not None:
                heads.append("direction")
                decided = {*self.learner.graph_.directed_edges}
                rows = [[*row, edge.direction(decided)] for row, edge in zip(rows, edges, strict=True)]
            output.show(output.columns(title, heads, rows, right=[1]))
        if self.comparison is not None:
            output.show(metrics(f"\nCompared with {printable(str(self.truth))}", self.comparison))

    def show_json(self) -> None:
        """Print the summary for programs; all keys are present, null where nothing applies."""
        tests, inconclusive, score = self._tests_and_score()
        extension = {
            "consistent": getattr(self.graph, "is_consistent_extension", True),
            "arrowheads_lost": getattr(self.graph, "arrowheads_lost", 0),
        }
        arrows, lines = len(self.graph.directed_array), len(self.graph.undirected_array)
        options = {**self.learner.options_in_use_, **self.reading.options()}
        undecided = set(self.graph.directed_edges).difference(self.learner.graph_.directed_edges)
        edges = as_lists(self.graph)
        asked = self.graph.weak or "directions" in self.learner.timings_
        weak = sorted(self.graph.weak) if asked else None
        notes = self._notes()
        if edges is None:
            many = f"the {self.graph.n_edges:,} edges are not printed; "
            notes.append(Note("edges", many, Use("out"), " saves them to a file"))
        output.show_json(
            {
                "algorithm": self.algorithm,
                "options": {name: value for name, value in options.items() if name != "verbose"},
                "data": str(self.reading.data),
                "rows": self.learner.n_rows_,
                "variables": self.graph.n_nodes,
                "states": self._states(),
                "edges": {"directed": arrows, "undirected": lines},
                "isolated": isolated(self.graph),
                "strongest": [vars(edge) for edge in strongest_edges(self.graph)],
                "tests": tests,
                "inconclusive": inconclusive,
                "score": score,
                "dag": extension if self.dag else None,
                "complete": self.learner.complete_,
                "timings": self.learner.timings_,
                "notes": records(notes),
                "out": None if self.out is None else str(self.out),
                "picture": None if self.picture is None else str(self.picture),
                "page": None if self.page is None else str(self.page),
                "comparison": None if self.comparison is None else self.comparison.as_dict(),
                "graph": edges,
                "weakly_decided": weak,
                "either_way": sorted(undecided) if self.dag else None,
            }
        )

    def _lines(self) -> list[tuple[str, str]]:
        learner = self.learner
        variables = count(self.graph.n_nodes, "variable")
        holds = self._holds()
        how = "the skeleton only, " if self._skeleton_only() else ""
        lines = [
            (
                "Read",
                f"{printable(self.reading.data)}: {count(learner.n_rows_, 'row')}, {variables}{holds}",
            ),
            *(("Note", printable(note)) for note in texts(self._notes())),
            *([("Knowledge", printable(str(learner.knowledge)))] if learner.knowledge else []),
            ("Learned", f"{how}by {self.algorithm} {describe_options(learner)}".rstrip()),
            ("Graph", self._graph() if learner.complete_ else f"INCOMPLETE: {self._graph()}"),
        ]
        if self.dag:
            lines.append(("DAG", inconsistency(self.graph) or "a consistent extension of the learned graph"))
        tests, inconclusive, score = self._tests_and_score()
        if tests is not None:
            lines.append(("Tests", reliability(tests, inconclusive or 0)))
        if score is not None:
            name = learner.options_in_use_.get("score", "")
            if name in ("bdeu", "bds"):
                weight = getattr(learner, "equivalent_sample_size_", learner.equivalent_sample_size)
                name += f", equivalent sample size {weight:g}"
            cost = getattr(learner, "edge_cost_", 0.0)
            if cost:
                name += f", penalty {cost:g} for each edge"
            lines.append(("Score", f"{score:,.4f} {name}".rstrip()))
        lines.append(("Time", _seconds(learner.timings_)))
        if self.out is not None:
            lines.append(("Saved", printable(self.out)))
        if self.picture is not None:
            lines.append(("Drawn", printable(self.picture)))
        if self.page is not None:
            lines.append(("Page", printable(self.page)))
        return lines

    def _notes(self) -> list[str]:
        from f2sl.graph.formats import weak_lost

        notes = [*self.learner.notes_, *([] if self.truth is None else notes_on(self.truth))]
        lost = None if self.out is None else weak_lost(self.graph, self.out)
        return notes if lost is None else [*notes, lost]

    def _states(self) -> dict[str, int] | None:
        """Return the smallest and largest number of states of a variable; None without states."""
        numbers = self.table.cardinalities
        numbers = numbers[numbers > 0]
        return {"least": int(numbers.min()), "most": int(numbers.max())} if len(numbers) else None

    def _holds(self) -> str:
        """Describe the kinds of the table's variables, as what follows their number."""
        states = self._states()
        if states is None:
            return ", all continuous"
        least, most = states["least"], states["most"]
        n_numbers = int((self.table.cardinalities == 0).sum())
        if n_numbers:
            each = f"{least} to {most}" if least < most else f"{least}"
            n_states = self.graph.n_nodes - n_numbers  # with those merged, which the table does not have
            return f": {n_states:,} discrete ({each} states each), {n_numbers:,} continuous"
        return f" of {least} to {most} states each" if least < most else f" of {count(least, 'state')} each"

    def _skeleton_only(self) -> bool:
        return bool(getattr(self.learner, "skeleton_only", False))

    def _graph(self) -> str:
        from f2sl.view.notebook import directions_of

        alone = isolated(self.graph)
        text = f"{count(self.graph.n_edges, 'edge')}: {directions_of(self.learner.graph_)}"
        return f"{text}; {count(alone, 'variable')} without edges" if alone else text

    def _tests_and_score(self) -> tuple[int | None, int | None, float | None]:
        """Return the numbers of tests and of inconclusive ones, and the score, if the learner has them."""
        names = ("n_tests_", "n_inconclusive_", "score_")
        tests, inconclusive, score = (getattr(self.learner, name, None) for name in names)
        if not tests and (score is not None or self._skeleton_only()):
            tests = inconclusive = None  # nothing was tested, and nothing was meant to be
        return tests, inconclusive, score


def inconsistency(dag: PDAG) -> str | None:
    """Return what was changed to make a DAG of a graph without a consistent extension; None if it has one."""
    if getattr(dag, "is_consistent_extension", True):
        return None
    lost = count(getattr(dag, "arrowheads_lost", 0), "arrowhead")
    return f"the learned graph has no consistent extension: v-structures were added, {lost} reversed"


def reliability(tests: int, inconclusive: int) -> str:
    """Return the number of tests, and of inconclusive ones, in words."""
    done = count(tests, "independence test")
    if not inconclusive:
        return done
    return f"{done}; {inconclusive:,} ({inconclusive / tests:.0%}) inconclusive"


def _seconds(timings: dict[str, float]) -> str:
    stages = {name: seconds for name, seconds in timings.items() if name != "total"}
    rest = timings["total"] - sum(stages.values())
    if rest >= LEAST_REST:
        stages["other"] = rest
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages.items())
    return f"{timings['total']:.2f} s ({parts})"
