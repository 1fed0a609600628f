"""Measures of how far a learned graph is from the true one.

The counts are over the adjacencies of the two graphs. *Miss* counts those only in the true graph, *extra*
those only in the learned graph. Among those in both, *correct* ones have the same direction or are undirected
in both, *reverse* ones have opposite directions, and *undirected* ones are directed in exactly one of the two
graphs. The structural Hamming distance (*SHD*) is reverse + miss + extra + undirected: each edge that differs
counts once.

Precision and recall are about arrowheads: the edges directed the same way in both graphs, as a share of all
edges of the learned graph and of the true one. F1 is their harmonic mean. Those of skeletons are about
adjacencies only.

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
from f2sl.errors import GraphError, unknown_name
from f2sl.graph._arrays import IntArray, pair_keys
from f2sl.graph.cpdag import cpdag_of
from f2sl.graph.dag import DAG
from f2sl.graph.pdag import PDAG


class Distances(NamedTuple):
    """Number of ordered pairs of nodes whose effect would be estimated wrongly from the learned graph.

    A graph that is not a DAG is replaced by the CPDAG of its extension.
    """

    sid: int | None
    """The structural intervention distance, of DAGs alone."""
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
    precision, recall, f1 : float
        Precision, recall and F1 of arrowheads.
    skeleton_precision, skeleton_recall, skeleton_f1 : float
        Precision, recall and F1 of adjacencies.
    shd_cpdag : int
        The SHD between the CPDAGs of the two graphs.
    true_edges, learned_edges : int
        All edges of either graph.
    distances : Distances or None
        Pairs of nodes with wrong effects, if they were requested.
    """

    shd: int
    reverse: int
    miss: int
    extra: int
    undirected: int
    precision: float
    recall: float
    f1: float
    skeleton_precision: float
    skeleton_recall: float
    skeleton_f1: float
    shd_cpdag: int
    true_edges: int
    learned_edges: int
    correct: int
    distances: Distances | None = None
    graphs: tuple[PDAG, PDAG] | None = field(default=None, repr=False, compare=False)
    """The true and the learned graph, for pictures."""

    def as_dict(self) -> dict[str, int | float | None]:
        """Return all numbers by name."""
        numbers = {name: value for name, value in vars(self).items() if name not in ("graphs", "distances")}
        return numbers if self.distances is None else {**numbers, **self.distances._asdict()}

    def _repr_html_(self) -> str:
        from f2sl.view.notebook import html_of_comparison

        return html_of_comparison(self)

    def __str__(self) -> str:
        return (
            f"SHD {self.shd} (reverse {self.reverse}, miss {self.miss}, extra {self.extra}, "
            f"undirected {self.undirected}); SHD of CPDAGs {self.shd_cpdag}\n"
            f"arrowheads: precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}\n"
            f"skeleton:   precision {self.skeleton_precision:.3f}, recall {self.skeleton_recall:.3f}, "
            f"F1 {self.skeleton_f1:.3f}\n"
            f"edges: {self.learned_edges} learned, {self.true_edges} true, {self.correct} correct"
            f"{self._told_distances()}"
        )

    def _told_distances(self) -> str:
        if self.distances is None:
            return ""
        sid, *aid = self.distances
        named = [f"{name}-AID {n}" for name, n in zip(("parent", "ancestor", "Oset"), aid, strict=True)]
        return "\nwrong effects: " + ", ".join([*([] if sid is None else [f"SID {sid}"]), *named])


class _Counts(NamedTuple):
    """Numbers of adjacencies; `arrowheads` is the number of correct ones that are directed."""

    correct: int
    arrowheads: int
    reverse: int
    undirected: int
    miss: int
    extra: int

    @property
    def shd(self) -> int:
        return self.reverse + self.undirected + self.miss + self.extra


def compare(true_graph: Any, learned_graph: Any, *, distances: bool = False) -> Comparison:
    """Compare a learned graph with the true one.

    Parameters
    ----------
    true_graph, learned_graph
        DAGs or PDAGs over the same names, in any order, or objects with a graph: networks, fitted learners,
        :class:`f2sl.Confidence`.
    distances
        Also count wrong effects; needs gadjid (``pip install "f2sl[metrics]"``).

    Raises
    ------
    GraphError
        If a node is in only one of the graphs.
    OptionError
        If gadjid is needed and not installed.

    Examples
    --------
    >>> truth = PDAG(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "d")])
    >>> learned = PDAG(["a", "b", "c", "d"], [("a", "b"), ("c", "b")], [("a", "d")])
    >>> print(compare(truth, learned))
    SHD 3 (reverse 1, miss 1, extra 1, undirected 0); SHD of CPDAGs 4
    arrowheads: precision 0.333, recall 0.333, F1 0.333
    skeleton:   precision 0.667, recall 0.667, F1 0.667
    edges: 3 learned, 3 true, 1 correct
    """
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
    counts = _count(true_graph, learned_graph)
    true_edges, learned_edges = true_graph.n_edges, learned_graph.n_edges
    shared = true_edges - counts.miss
    precision, recall = _ratio(counts.arrowheads, learned_edges), _ratio(counts.arrowheads, true_edges)
    skeleton = _ratio(shared, learned_edges), _ratio(shared, true_edges)
    return Comparison(
        shd=counts.shd,
        reverse=counts.reverse,
        miss=counts.miss,
        extra=counts.extra,
        undirected=counts.undirected,
        precision=precision,
        recall=recall,
        f1=_harmonic_mean(precision, recall),
        skeleton_precision=skeleton[0],
        skeleton_recall=skeleton[1],
        skeleton_f1=_harmonic_mean(*skeleton),
        shd_cpdag=_count(_cpdag(true_graph), _cpdag(learned_graph)).shd,
        true_edges=true_edges,
        learned_edges=learned_edges,
        correct=counts.correct,
        distances=_distances(true_graph, learned_graph) if distances else None,
        graphs=(true_graph, learned_graph),
    )


def _cpdag(graph: PDAG) -> PDAG:
    """Return the CPDAG of the whole class, also of a graph that was learned with knowledge."""
    return cpdag_of(graph.to_dag())


def _distances(true_graph: PDAG, learned_graph: PDAG) -> Distances:
    gadjid = imported("gadjid", "compare with distances", "f2sl[metrics]")
    graphs = (true_graph, learned_graph.reorder(true_graph.nodes))
    are_dags = all(isinstance(graph, DAG) for graph in graphs)
    if true_graph.n_nodes < 2:  # which gadjid refuses
        return Distances(0 if are_dags else None, 0, 0, 0)
    matrices = [_effect_matrix(graph if isinstance(graph, DAG) else _cpdag(graph)) for graph in graphs]

    def count(name: str) -> int:
        # A 1 in row i and column j is the edge i -> j.
        return int(getattr(gadjid, name)(*matrices, edge_direction="from row to column")[1])

    return Distances(
        count("sid") if are_dags else None, count("parent_aid"), count("ancestor_aid"), count("oset_aid")
    )


def _effect_matrix(graph: PDAG) -> Any:
    """Return the matrix that gadjid wants: 1 for i -> j, 2 for i - j."""
    from scipy.sparse import csr_matrix

    edges = np.concatenate((graph.directed_array, graph.undirected_array))
    marks = np.repeat(np.array([1, 2], np.int8), [len(graph.directed_array), len(graph.undirected_array)])
    return csr_matrix((marks, edges.T), shape=(graph.n_nodes, graph.n_nodes), dtype=np.int8)


def _count(true_graph: PDAG, learned_graph: PDAG) -> _Counts:
    true_keys, true_marks = _marks(true_graph)
    keys, marks = _marks(learned_graph)
    _, at_true, at_learned = np.intersect1d(true_keys, keys, assume_unique=True, return_indices=True)
    one, other = true_marks[at_true], marks[at_learned]
    same = one == other
    opposite = (one == -other) & ~same
    return _Counts(
        correct=int(same.sum()),
        arrowheads=int((same & (one != 0)).sum()),
        reverse=int(opposite.sum()),
        undirected=int((~same & ~opposite).sum()),
        miss=len(true_keys) - len(one),
        extra=len(keys) - len(one),
    )


def _marks(graph: PDAG) -> tuple[IntArray, IntArray]:
    """Return for each adjacency its key by name, and 1, -1 or 0 for ->, <- or -."""
    rank, n = graph._rank, graph.n_nodes
    directed, undirected = rank[graph.directed_array], rank[graph.undirected_array]
    keys = np.concatenate((pair_keys(n, directed), pair_keys(n, undirected)))
    signs = np.where(directed[:, 0] < directed[:, 1], 1, -1)
    return keys, np.concatenate((signs, np.zeros(len(undirected), dtype=np.int64)))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _harmonic_mean(a: float, b: float) -> float:
    return _ratio(2 * a * b, a + b)


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
        total += _scores_of_set(set(true_graph.adjacent(name)), learned)
    precision, recall, f1 = (total / max(1, true_graph.n_nodes)).tolist()
    return PCComparison(precision, recall, f1)


def _scores_of_set(true_set: set[str], learned_set: set[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of one set; all are 1 if both sets are empty."""
    if not true_set and not learned_set:
        return 1.0, 1.0, 1.0
    shared = len(true_set & learned_set)
    precision, recall = _ratio(shared, len(learned_set)), _ratio(shared, len(true_set))
    return precision, recall, _harmonic_mean(precision, recall)
