"""Display in notebooks and `summary()`: a small picture, and a few lines.

The HTML has no scripts, and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from f2sl._estimator import Estimator
from f2sl.errors import printable
from f2sl.graph import DAG, PDAG, Comparison
from f2sl.view.drawing import edges_of, graph_of
from f2sl.view.plot import plot

if TYPE_CHECKING:
    from f2sl.view.drawing import Edge

MOST_DRAWN = 150
"""Edges of the largest graph that is shown as a picture; a larger one has the page."""
STRONGEST = 10

Facts = list[tuple[str, str]]


@dataclass(frozen=True)
class Summary:
    """Summary of what was learned: as text, and in a notebook as a table."""

    title: str
    facts: Facts
    edges: Facts

    def __str__(self) -> str:
        wide = max(len(name) for name, _ in [*self.facts, ("", "")])
        lines = [self.title, *(f"  {name:<{wide}}  {printable(text)}" for name, text in self.facts)]
        if self.edges:
            edges = [(printable(edge), text) for edge, text in self.edges]
            wide = max(len(edge) for edge, _ in edges)
            lines += ["Strongest edges", *(f"  {edge:<{wide}}  {text}".rstrip() for edge, text in edges)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        edges = _table(self.edges, "Strongest edges") if self.edges else ""
        return f"<div>{_table(self.facts, self.title)}{edges}</div>"


def summary_of(model: Any) -> Summary:
    """Return the summary of a fitted learner."""
    graph, unit = graph_of(model), model.strength_unit
    facts = facts_of(model, graph)
    seconds = model.timings_["total"]
    facts += [("Time", f"{seconds:.2f} s"), *(("Note", note) for note in model.notes_)]
    known = [edge for edge in edges_of(graph) if edge.strength is not None]
    known.sort(key=lambda edge: (-abs(edge.strength or 0.0), edge.a, edge.b))
    edges = [(named(edge), f"{edge.strength:.4f} {unit}") for edge in known[:STRONGEST]]
    return Summary(title_of(model), facts, edges)


def named(edge: Edge) -> str:
    """Write an edge in a line."""
    weakly = " (weakly decided)" if edge.weak else ""
    return f"{edge.a} {'->' if edge.directed else '-'} {edge.b}{weakly}"


def title_of(what: Any) -> str:
    """Return a short description of an object."""
    if getattr(what, "name", ""):
        return str(what.name)
    return f"Learned by {type(what).__name__}" if hasattr(what, "graph_") else type(what).__name__


def facts_of(what: Any, graph: PDAG, learner: str | None = None) -> Facts:
    """Return the summary of a graph, a fitted learner or a network; `learner` is how to write a learner."""
    facts = [("Variables", f"{graph.n_nodes:,}"), ("Edges", directions_of(graph))]
    if hasattr(what, "graph_"):
        facts = [("Learner", learner or Estimator.__repr__(what)), ("Rows", f"{what.n_rows_:,}"), *facts]
        for name, words in (("n_tests_", "Tests"), ("score_", "Score")):
            value = getattr(what, name, None)
            if value:
                facts.append((words, f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"))
        if not what.complete_:
            facts.append(("Incomplete", "the work was stopped early"))
    elif hasattr(what, "n_parameters"):
        facts.append(("Parameters", f"{what.n_parameters:,}"))
    if graph.knowledge:
        facts.append(("Knowledge", str(graph.knowledge)))
    return facts


def directions_of(graph: PDAG) -> str:
    """Describe how many directions of a graph, or of that of a DAG, are decided, weakly decided, or open."""
    dag, pdag = (graph, graph.pdag) if isinstance(graph, DAG) else (graph.dag, graph)
    by_score = graph.n_edges > 0 and dag is not None and dag.by_score
    if not by_score or pdag is None:
        return f"{len(graph.directed_array):,} directed, {len(graph.undirected_array):,} undirected"
    arrows, lines = len(pdag.directed_array), len(pdag.undirected_array)
    who, weak = "the data and the knowledge" if pdag.knowledge else "the data", len(pdag.weak)
    decided = f"{who} decide {arrows - weak:,} direction{'' if arrows - weak == 1 else 's'}"
    weakly = f", {weak:,} weakly" if weak else ""
    either = f", {lines:,} may point either way" if lines else ""
    return f"{decided}{weakly}{either}"


def html_of(what: Any) -> str:
    """Return what a notebook shows of a graph, a fitted learner or a network.

    Examples
    --------
    >>> html_of(PDAG(["a", "b"], [("a", "b")])).startswith("<div")
    True
    """
    graph = graph_of(what)
    return _shown(title_of(what), facts_of(what, graph), graph)


def html_of_comparison(found: Comparison) -> str:
    """Return the notebook view of a comparison: edges by status, and the metrics."""
    facts = [(name, value) for name, value, _ in found.rows()]
    if found.graphs is None:
        return _table(facts, "Comparison")
    truth, learned = found.graphs
    return _shown("Comparison", facts, learned, truth)


def _shown(title: str, facts: Facts, graph: PDAG, truth: PDAG | None = None) -> str:
    n_edges = graph.n_edges + (0 if truth is None else truth.n_edges)
    picture = ""
    if 0 < n_edges <= MOST_DRAWN:
        svg = plot(graph, truth=truth).svg().replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
        picture = f'<div style="max-width:900px">{svg}</div>'
    elif n_edges:
        facts = [*facts, ("Picture", 'too large for here; show("page.html") writes a page to explore it')]
    return f"<div>{_table(facts, title)}{picture}</div>"


def _table(rows: Sequence[tuple[str, str]], title: str) -> str:
    cell = '<td style="text-align:left;vertical-align:top">'
    lines: Iterable[str] = (f"<tr>{cell}{escape(a)}</td>{cell}{escape(b)}</td></tr>" for a, b in rows)
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{''.join(lines)}</table>"
