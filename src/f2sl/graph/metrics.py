"""Measures of how far a learned graph is from the true one.

Data alone cannot tell equivalent DAGs apart, so equivalence classes are compared: each graph is replaced by
the CPDAG of its class. A graph without a consistent extension stands for no class, and is compared as it is.

The counts are over the adjacencies of the two graphs. *Miss* counts those only in the true graph, *extra*
those only in the learned graph. Among those in both, *correct* ones have the same direction or are undirected
in both, *reverse* ones have opposite directions, and *undirected* ones are directed in exactly one of the two
graphs. The structural Hamming distance (*SHD*) is reverse + miss + extra + undirected: each edge that differs
counts once.

Adjacency precision and recall are the adjacencies in both graphs, as a share of those of the learned graph
and of the true one: causal-learn's ``AdjacencyConfusion``, pgmpy's ``AdjacencyConfusionMatrix``. Arrowhead
precision and recall are the edges directed the same way in both, as a share of the *directed* edges of either
graph: causal-learn's ``ArrowConfusion``. (pgmpy's ``OrientationConfusionMatrix`` is about DAGs, and counts
only adjacencies that are in both.) F1 is their harmonic mean. All three are 1 if neither graph has any.

With ``convention="paper"`` the graphs are compared as they are, as in the F2SL paper, and the edges directed
the same way in both are a share of *all* edges of either graph (*Ar_Precision*, *Ar_Recall*).

*Distances* count wrong effects: the ordered pairs (t, y) for which the learned graph suggests the wrong
variables to adjust for when estimating the effect of t on y. The adjustment set is the parents of t (*SID*,
Peters and Bühlmann 2015, and *parent-AID*), its ancestors (*ancestor-AID*), or the optimal set (*Oset-AID*;
Henckel, Würtzen and Weichwald 2024).

References
----------
J. Peters, P. Bühlmann. Structural intervention distance for evaluating causal graphs. Neural Computation 27,
2015.
L. Henckel, T. Würtzen, S. Weichwald. Adjustment identification distance: a gadjid for causal structure
learning. Uncertainty in Artificial Intelligence, 2024.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from f2sl._extensions import imported
from f2sl._notes import Use
from f2sl.errors import GraphError, OptionError, unknown_name
from f2sl.graph._arrays import IntArray, pair_keys
from f2sl.graph.dag import DAG, cpdag_of
from f2sl.graph.pdag import PDAG

CPDAG, PAPER = "cpdag", "paper"
METRICS = (
    ("SHD", "shd", "edges in which the equivalence classes differ: the sum of the next four"),
    ("Reversed", "reverse", "directed in both graphs, opposite ways"),
    ("Missing", "miss", "in the true graph only"),
    ("Extra", "extra", "in the learned graph only"),
    ("Directed in one", "undirected", "directed in one graph, undirected in the other"),
    (
        "Adjacency precision",
        "adjacency_precision",
        "share of the learned edges that are true, directions aside",
    ),
    ("Adjacency recall", "adjacency_recall", "share of the true edges that were learned, directions aside"),
    ("Adjacency F1", "adjacency_f1", "harmonic mean of the two"),
    (
        "Arrowhead precision",
        "arrowhead_precision",
        "share of the learned directed edges that are directed so",
    ),
    ("Arrowhead recall", "arrowhead_recall", "share of the true directed edges that were learned so"),
    ("Arrowhead F1", "arrowhead_f1", "harmonic mean of the two"),
    ("Learned edges", "learned_edges", "directed and undirected"),
    ("True edges", "true_edges", "directed and undirected"),
    ("Correct", "correct", "in both graphs, the same way"),
    ("SID", "sid", "pairs whose effect is wrong if adjusted for the parents in one DAG of the learned graph"),
    ("Parent-AID", "parent_aid", "pairs whose effect is wrong if adjusted for parents; DAGs and CPDAGs"),
    ("Ancestor-AID", "ancestor_aid", "the same if adjusted for ancestors"),
    ("Oset-AID", "oset_aid", "the same if adjusted for the optimal set"),
)
"""Measures of a comparison where it is shown: name, attribute and meaning."""
OF_THE_PAPER = {
    "shd": ("SHD", "edges in which the graphs differ: the sum of the next four"),
    "arrowhead_precision": (
        "Ar_Precision",
        "share of all learned edges that are directed as in the true graph",
    ),
    "arrowhead_recall": ("Ar_Recall", "share of all true edges that are directed so in the learned graph"),
    "arrowhead_f1": ("Ar_F1", "harmonic mean of the two"),
}
"""Names and meanings that differ with ``convention="paper"``."""


class Distances(NamedTuple):
    """Number of ordered pairs of nodes whose effect would be estimated wrongly from the learned graph.

    A graph that is not a DAG is replaced by the CPDAG of its extension.
    """

    sid: int | None
    """The structural intervention distance between DAGs; that of a learned PDAG is ``to_dag()``."""
    parent_aid: int
    ancestor_aid: int
    oset_aid: int


@dataclass(frozen=True)
class Comparison:
    """Comparison of a learned graph with the true one; the module's docstring defines the terms.

    Attributes
    ----------
    shd, reverse, miss, extra, undirected, correct : int
        Numbers of edges.
    adjacency_precision, adjacency_recall, adjacency_f1 : float
        Precision, recall and F1 of adjacencies.
    arrowhead_precision, arrowhead_recall, arrowhead_f1 : float
        Precision, recall and F1 of arrowheads.
    true_edges, learned_edges : int
        All edges of either graph.
    distances : Distances or None
        Pairs of nodes with wrong effects, if they were requested.
    convention : {"cpdag", "paper"}
        What was compared: equivalence classes, or the graphs as they are.
    """

    shd: int
    reverse: int
    miss: int
    extra: int
    undirected: int
    adjacency_precision: float
    adjacency_recall: float
    adjacency_f1: float
    arrowhead_precision: float
    arrowhead_recall: float
    arrowhead_f1: float
    true_edges: int
    learned_edges: int
    correct: int
    distances: Distances | None = None
    convention: str = CPDAG
    graphs: tuple[PDAG, PDAG] | None = field(default=None, repr=False, compare=False)
    """The true and the learned graph, for pictures."""

    def as_dict(self) -> dict[str, int | float | None]:
        """Return all numbers by name."""
        others = ("graphs", "distances", "convention")
        numbers = {name: value for name, value in vars(self).items() if name not in others}
        return numbers if self.distances is None else {**numbers, **self.distances._asdict()}

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the name, the value as text, and the meaning of each number, to show them."""
        values, own = self.as_dict(), OF_THE_PAPER if self.convention == PAPER else {}
        rows = []
        for name, key, meaning in METRICS:
            if (value := values.get(key)) is not None:
                name, meaning = own.get(key, (name, meaning))
                rows.append((name, f"{value:,}" if isinstance(value, int) else f"{value:.3f}", meaning))
        return rows

    def _repr_html_(self) -> str:
        from f2sl.view.notebook import html_of_comparison

        return html_of_comparison(self)

    def __str__(self) -> str:
        text = (
            f"SHD {self.shd} (reverse {self.reverse}, miss {self.miss}, extra {self.extra}, "
            f"undirected {self.undirected})\n"
            f"adjacencies: precision {self.adjacency_precision:.3f}, recall {self.adjacency_recall:.3f}, "
            f"F1 {self.adjacency_f1:.3f}\n"
            f"arrowheads:  precision {self.arrowhead_precision:.3f}, recall {self.arrowhead_recall:.3f}, "
            f"F1 {self.arrowhead_f1:.3f}\n"
            f"edges: {self.learned_edges} learned, {self.true_edges} true, {self.correct} correct"
        )
        if self.distances is None:
            return text
        names = ("SID", "parent-AID", "ancestor-AID", "Oset-AID")
        known = [f"{name} {n}" for name, n in zip(names, self.distances, strict=True) if n is not None]
        return f"{text}\nwrong effects: {', '.join(known)}"


def compare(
    true_graph: Any, learned_graph: Any, *, distances: bool = False, convention: str = CPDAG
) -> Comparison:
    """Compare a learned graph with the true one.

    Parameters
    ----------
    true_graph, learned_graph
        DAGs or PDAGs over the same names, in any order, or objects with a graph: networks, fitted learners,
        :class:`f2sl.Confidence`.
    distances
        Also count wrong effects; needs gadjid (``pip install "f2sl[metrics]"``).
    convention : {"cpdag", "paper"}
        Compare equivalence classes, and count arrowheads as a share of directed edges; or compare the graphs
        as they are, and count arrowheads as a share of all edges, as the F2SL paper does.

    Raises
    ------
    GraphError
        If a node is in only one of the graphs.
    OptionError
        If the convention is not known, or gadjid is needed and not installed.

    Examples
    --------
    >>> truth = DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")])
    >>> learned = PDAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c")], [("a", "d")])
    >>> print(compare(truth, learned))
    SHD 2 (reverse 0, miss 1, extra 1, undirected 0)
    adjacencies: precision 0.667, recall 0.667, F1 0.667
    arrowheads:  precision 1.000, recall 0.667, F1 0.800
    edges: 3 learned, 3 true, 2 correct
    >>> compare(truth, learned, convention="paper").arrowhead_precision
    0.6666666666666666
    """
    if convention not in (CPDAG, PAPER):
        raise OptionError(Use("convention"), f" must be {CPDAG!r} or {PAPER!r}, not {convention!r}")
    true_graph, learned_graph = (
        getattr(one, "graph_", getattr(one, "graph", one)) for one in (true_graph, learned_graph)
    )
    for graph in (true_graph, learned_graph):
        if not isinstance(graph, PDAG):
            raise GraphError(
                f"compare takes f2sl graphs, not {type(graph).__name__}; "
                "see PDAG.from_networkx and PDAG.from_adjacency"
            )
    _check_same_nodes(true_graph, learned_graph)
    classes = convention == CPDAG
    truth, learned = map(class_of, (true_graph, learned_graph)) if classes else (true_graph, learned_graph)
    (true_keys, true_marks), (keys, marks) = _marks(truth), _marks(learned)
    _, at_true, at_learned = np.intersect1d(true_keys, keys, assume_unique=True, return_indices=True)
    one, other = true_marks[at_true], marks[at_learned]  # of the adjacencies in both graphs
    true_edges, learned_edges, shared = truth.n_edges, learned.n_edges, len(one)
    miss, extra, same = true_edges - shared, learned_edges - shared, one == other
    correct, reverse = int(same.sum()), int(((one == -other) & (one != 0)).sum())
    undirected = shared - correct - reverse
    arrowheads = (
        (len(truth.directed_array), len(learned.directed_array)) if classes else (true_edges, learned_edges)
    )
    return Comparison(
        reverse + undirected + miss + extra,
        reverse,
        miss,
        extra,
        undirected,
        *_rates(shared, true_edges, learned_edges),
        *_rates(int((same & (one != 0)).sum()), *arrowheads),
        true_edges=true_edges,
        learned_edges=learned_edges,
        correct=correct,
        distances=_distances(true_graph, learned_graph) if distances else None,
        convention=convention,
        graphs=(true_graph, learned_graph),
    )


def class_of(graph: PDAG) -> PDAG:
    """Return the CPDAG of the graph's class, whatever was known; the graph itself if it stands for no class.

    Examples
    --------
    >>> class_of(PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")]))
    PDAG(3 nodes, 0 directed and 2 undirected edges)
    """
    dag = graph.to_dag()
    return cpdag_of(dag) if dag is graph or dag.is_consistent_extension else graph


def _distances(true_graph: PDAG, learned_graph: PDAG) -> Distances:
    from scipy.sparse import csr_matrix

    gadjid = imported("gadjid", "compare with distances", "f2sl[metrics]")
    of_dags = isinstance(true_graph, DAG)
    if true_graph.n_nodes < 2:  # which gadjid refuses
        return Distances(0 if of_dags else None, 0, 0, 0)
    graphs = [
        graph if isinstance(graph, DAG) else cpdag_of(graph.to_dag()) for graph in (true_graph, learned_graph)
    ]

    def matrix(graph: PDAG) -> Any:
        """Return the matrix that gadjid wants: 1 for i -> j, 2 for i - j."""
        edges = np.concatenate((graph.directed_array, graph.undirected_array))
        marks = np.repeat(np.array([1, 2], np.int8), [len(graph.directed_array), len(graph.undirected_array)])
        return csr_matrix((marks, edges.T), shape=(graph.n_nodes, graph.n_nodes), dtype=np.int8)

    def count(name: str, *graphs: PDAG) -> int:
        matrices = [matrix(graph.reorder(true_graph.nodes)) for graph in graphs]
        return int(getattr(gadjid, name)(*matrices, edge_direction="from row to column")[1])

    return Distances(
        count("sid", true_graph, learned_graph.to_dag()) if of_dags else None,
        *(count(name, *graphs) for name in ("parent_aid", "ancestor_aid", "oset_aid")),
    )


def _marks(graph: PDAG) -> tuple[IntArray, IntArray]:
    """Return for each adjacency its key by name, and 1, -1 or 0 for ->, <- or -."""
    rank, n = graph._rank, graph.n_nodes
    directed, undirected = rank[graph.directed_array], rank[graph.undirected_array]
    keys = np.concatenate((pair_keys(n, directed), pair_keys(n, undirected)))
    signs = np.where(directed[:, 0] < directed[:, 1], 1, -1)
    return keys, np.concatenate((signs, np.zeros(len(undirected), dtype=np.int64)))


def _rates(shared: int, n_true: int, n_learned: int) -> tuple[float, float, float]:
    """Return precision, recall and F1; all are 1 if there are none in either graph."""
    if not n_true and not n_learned:
        return 1.0, 1.0, 1.0
    precision, recall = shared / max(1, n_learned), shared / max(1, n_true)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _check_same_nodes(true_graph: PDAG, learned_graph: PDAG) -> None:
    for graph, other, what in (
        (true_graph, learned_graph, "the learned graph lacks"),
        (learned_graph, true_graph, "the true graph lacks"),
    ):
        lacking = sorted(set(graph.nodes).difference(other.nodes))
        if lacking:
            shown = ", ".join(map(repr, lacking[:5]))
            more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
            raise GraphError(f"the graphs have different nodes: {what} {shown}{more}")


@dataclass(frozen=True)
class PCComparison:
    """Comparison of learned sets of parents and children with the true ones, as means over variables."""

    precision: float
    recall: float
    f1: float

    def as_dict(self) -> dict[str, float]:
        """Return the three means by name."""
        return asdict(self)

    def __str__(self) -> str:
        return f"PC sets: precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"


def compare_pc(true_graph: PDAG, pc: Mapping[str, Iterable[str]]) -> PCComparison:
    """Compare the learned parents and children of every variable with its adjacent nodes.

    Parameters
    ----------
    true_graph
        The truth.
    pc
        Learned set of names for each node.

    Returns
    -------
    PCComparison
        The means, over all variables, of each one's precision, recall and F1.

    Examples
    --------
    >>> truth = PDAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    >>> print(compare_pc(truth, {"a": ["b"], "b": ["a"], "c": []}))
    PC sets: precision 0.667, recall 0.500, F1 0.556
    """
    known = set(true_graph.nodes)
    for name in pc:
        if name not in known:
            raise GraphError(unknown_name("node", name, true_graph.nodes))
    total = np.zeros(3)
    for name in true_graph.nodes:
        if name not in pc:
            raise GraphError(f"no PC set is given for {name!r}")
        learned = set(pc[name])
        if name in learned:
            raise GraphError(f"the PC set of {name!r} holds {name!r} itself")
        if not learned <= known:
            stranger = min(learned - known)
            raise GraphError(f"PC set of {name!r}: {unknown_name('node', stranger, true_graph.nodes)}")
        true = set(true_graph.neighbors(name))
        total += _rates(len(true & learned), len(true), len(learned))
    precision, recall, f1 = (total / max(1, true_graph.n_nodes)).tolist()
    return PCComparison(precision, recall, f1)
