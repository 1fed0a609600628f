"""Varsortability: how far variances alone order the variables (Reisach, Seiler and Weichwald 2021).

In simulated networks with noise of about the same size, variances add up along the arrows. Then the order of
the variances is nearly the causal order, and a learner that minimises squared errors, such as NOTEARS,
follows it. *Varsortability* measures this: it is the share of directed paths of a graph that lead to a larger
variance. At 1 sorting by variance is enough to order the variables, at 1/2 it is uninformative, at 0 it is
misleading. It depends on the units of measurement; if these are arbitrary, so is the effect on a learner.

References
----------
A. G. Reisach, C. Seiler, S. Weichwald. Beware of the simulated DAG! Causal discovery benchmarks may be easy
to game. NeurIPS 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.data.open import open_for
from f2sl.errors import DataError, GraphError, unknown_name
from f2sl.graph import DAG

SAME = 1e-9
"""Variances that differ by no more than this share are equal."""


def varsortability(data: Any, graph: DAG, *, names: Sequence[str] | None = None) -> float:
    """Measure how well sorting by variance orders the variables of a graph.

    Parameters
    ----------
    data : data frame, array, dict of columns, or path
        Continuous columns, or discrete ones, whose codes are read as numbers, as :class:`f2sl.NOTEARS` does.
    graph : DAG
        Over the columns, or some of them.
    names : sequence of str, optional
        Names for the columns of an array that has none.

    Returns
    -------
    float
        Share of the directed paths whose end has the larger variance; each pair counts once for each length
        of path, and equal variances count half. NaN without edges.

    Examples
    --------
    >>> import f2sl
    >>> data = {"a": [0.1, 0.9, 0.5], "b": [0.3, 8.0, 3.1]}
    >>> varsortability(data, f2sl.DAG(["a", "b"], [("a", "b")]))
    1.0
    """
    if not isinstance(graph, DAG):
        raise GraphError(f"varsortability is measured along a DAG, not a {type(graph).__name__}")
    table = open_for((DISCRETE, CONTINUOUS), "varsortability", data, names=names, min_variables=1)
    with nullcontext() if table is data else table:
        for node in graph.nodes:
            if node not in table.names:
                raise DataError(unknown_name("column", node, table.names))
        variances = dict(zip(table.names, table.as_numbers().all_numbers().var(axis=1), strict=True))
    return path_share(np.array([variances[node] for node in graph.nodes]), graph.to_adjacency() != 0)


def path_share(variances: NDArray[np.float64], edges: NDArray[np.bool_]) -> float:
    """Return the share of paths, one for each pair of ends and length, that lead to a larger variance."""
    start, end = variances[:, None], variances[None, :]
    larger = end - start > SAME * np.maximum(start, end)
    smaller = start - end > SAME * np.maximum(start, end)
    worth = np.where(larger, 1.0, np.where(smaller, 0.0, 0.5))
    paths = edges
    found = total = 0.0
    while paths.any():
        found += float(worth[paths].sum())
        total += float(paths.sum())
        paths = (paths.astype(np.float32) @ edges.astype(np.float32)) > 0
    return found / total if total else float("nan")
