"""The CPDAG of a DAG: which of its arrows are the same in its whole equivalence class.

DAGs with the same skeleton and v-structures cannot be told apart by independences. An arrow that points the
same way in all of them is *compelled*; one that some of them reverse is *reversible*. The *CPDAG* draws the
compelled ones directed and the reversible ones undirected. Chickering [1]_ labels the arrows in one pass over
the nodes in topological order; the latest parent of a node decides for all arrows into it.

References
----------
.. [1] D. M. Chickering. A transformational characterization of equivalent Bayesian
   network structures. UAI 1995.
"""

from __future__ import annotations

import numpy as np

from f2sl.graph.dag import DAG
from f2sl.graph.pdag import PDAG


def cpdag_of(dag: DAG) -> PDAG:
    """Return the CPDAG of `dag`; weights are kept.

    Examples
    --------
    >>> cpdag_of(DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")]))
    PDAG(4 nodes, 3 directed and 0 undirected edges)
    >>> cpdag_of(DAG(["a", "b", "c"], [("a", "b"), ("b", "c")]))
    PDAG(3 nodes, 0 directed and 2 undirected edges)
    """
    position = np.argsort(dag._order)
    compelled = _compelled_parents(position[dag.directed_array], dag.n_nodes)
    rows = position[dag.directed_array].tolist()
    directed = np.array([a in compelled[b] for a, b in rows], dtype=bool)
    return dag._remarked(dag.directed_array[directed], dag.directed_array[~directed])


def _compelled_parents(arrows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], n: int) -> list[set[int]]:
    """Return for each node the parents with compelled arrows; nodes are numbered in order."""
    parents: list[set[int]] = [set() for _ in range(n)]
    for a, b in arrows.tolist():
        parents[b].add(a)
    compelled: list[set[int]] = [set() for _ in range(n)]
    for y in range(n):
        if not parents[y]:
            continue
        x = max(parents[y])
        # Either way round, y -> x would make a new v-structure or a cycle: then all arrows into y hold.
        if not compelled[x] <= parents[y] or not parents[y] - {x} <= parents[x]:
            compelled[y] = parents[y]
        else:
            compelled[y] = compelled[x]
    return compelled
