"""Averaged graph from counts of edges: threshold, directions, and a bound on false edges.

References
----------
.. [1] M. Scutari, R. Nagarajan. Identifying significant edges in graphical models of molecular networks.
   Artificial Intelligence in Medicine 57, 2013.
.. [2] R. D. Shah, R. J. Samworth. Variable selection with error control: another look at stability
   selection. Journal of the Royal Statistical Society B 75, 2013.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.constraints import Constraints
from f2sl.graph import PDAG, apply_meek_rules
from f2sl.graph.cycle_guard import CycleGuard


def estimated_threshold(confidences: Floats) -> float:
    """Return the smallest confidence of an edge that is significant by Scutari and Nagarajan's rule [1]_.

    They compare the distribution function F of all pairs' confidences with that of a graph known for certain,
    where a share t of the pairs has confidence 0 and the rest 1. The t with the smallest distance, the
    integral of ``|F(x) - t|`` over [0, 1], is the median of F(x). This is F(1/2), because F never decreases.
    An edge is significant if its confidence exceeds the smallest x with F(x) >= t, that is, 1/2.

    Parameters
    ----------
    confidences : ndarray of float64
        Confidence of each pair; pairs that were never adjacent may be left out.

    Examples
    --------
    The example of their section 2.2, where edges with more than 0.3921 are significant:

    >>> estimated_threshold(np.array([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439]))
    0.7689
    """
    return float(confidences[confidences > 0.5].min(initial=1.0))


def bound_on_false_edges(mean_edges: float, n_pairs: int, threshold: float) -> float | None:
    """Return Shah and Samworth's bound on the expected number of false edges above the threshold [2]_.

    An edge is false if it is found in a half of the rows no more often than a random edge would be, that is,
    with probability ``mean_edges / n_pairs``. The bound (their theorem 1) makes no other assumption. There is
    no bound for thresholds up to 1/2.

    Parameters
    ----------
    mean_edges : float
        The mean number of edges learned from a half of the rows.
    n_pairs : int
        The number of pairs that may be adjacent.
    threshold : float
        Smallest confidence of the edges that are kept.

    Examples
    --------
    >>> bound_on_false_edges(mean_edges=50, n_pairs=1000, threshold=0.75)
    5.0
    """
    if threshold <= 0.5:
        return None
    return mean_edges**2 / (n_pairs * (2 * threshold - 1)) if n_pairs else 0.0


def averaged_graph(
    names: Sequence[str],
    pairs: Integers,
    counts: Integers,
    n_replicates: int,
    threshold: float,
    rules: Constraints,
) -> PDAG:
    """Return the graph of the edges whose confidence reaches the threshold, with confidences as weights.

    1. Required edges, and edges that the constraints allow in one direction only, get that direction.
    2. An edge that more than half of its replicates direct the same way gets that direction. Edges are sorted
       by the number of these replicates, then by confidence, then by name. An arrow that would close a
       directed cycle is reversed; if that is forbidden, the edge is left out.
    3. Meek's rules direct what follows. All other edges stay undirected.

    So the graph has no directed cycle, and neither has any DAG that directs its undirected edges without one.

    Parameters
    ----------
    names : sequence of str
        The variables.
    pairs : ndarray of int64, shape (m, 2)
        The pairs adjacent at least once, the smaller number first.
    counts : ndarray of int64, shape (m, 3)
        Numbers of replicates that direct each pair forwards, backwards, and connect it without a direction.
    n_replicates : int
        The number of all replicates.
    threshold : float
        Smallest confidence of an edge.
    rules : Constraints
        Constraints on the variables, by number.

    Examples
    --------
    Each arrow is in most of ten replicates. The weakest would close a cycle and is reversed:

    >>> pairs = np.array([[0, 1], [1, 2], [0, 2]])
    >>> counts = np.array([[9, 0, 0], [8, 1, 0], [1, 5, 0]])
    >>> averaged_graph(["a", "b", "c"], pairs, counts, 10, 0.6, Constraints.none(3)).weights
    {('a', 'b'): 0.9, ('a', 'c'): 0.6, ('b', 'c'): 0.9}
    """
    n_adjacent = counts.sum(axis=1)
    required = rules.requires_adjacency(*pairs.T)
    allowed = np.column_stack([rules.allows(*pairs.T), rules.allows(*pairs.T[::-1])])
    kept = ((n_adjacent >= threshold * n_replicates - 1e-9) & allowed.any(axis=1)) | required
    pairs, counts, n_adjacent, required, allowed = (
        part[kept] for part in (pairs, counts, n_adjacent, required, allowed)
    )
    forced = ~allowed.all(axis=1)
    direction = np.where(forced, allowed[:, 1], counts[:, 1] > counts[:, 0]).astype(np.int64)
    votes = counts[np.arange(len(counts)), direction]
    directed = forced | (2 * votes > n_adjacent)
    rank = np.empty(len(names), np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    by_name = np.sort(rank[pairs], axis=1)
    order = np.lexsort((by_name[:, 1], by_name[:, 0], -n_adjacent, -votes, ~forced, ~required))

    guard = CycleGuard(len(names), pairs[:0], n_edges=len(pairs))
    arrows, positions = [], []
    for position in order[directed[order]].tolist():
        arrow = pairs[position, ::-1] if direction[position] else pairs[position]
        if not guard.add(*arrow.tolist()):
            arrow = arrow[::-1]
            if forced[position] or not guard.add(*arrow.tolist()):
                continue
        arrows.append(arrow)
        positions.append(position)
    weights = n_adjacent / max(1, n_replicates)
    graph = PDAG.from_arrays(
        names,
        np.array(arrows, np.int64).reshape(-1, 2),
        pairs[~directed],
        weights_directed=weights[positions],
        weights_undirected=weights[~directed],
    )
    return apply_meek_rules(graph)
