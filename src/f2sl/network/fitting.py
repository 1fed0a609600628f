"""Estimate the parameters of a known structure from a table, and compute the likelihood of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._notes import Note
from f2sl._options import not_negative
from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.data.table import Table
from f2sl.errors import DataError, shown_list
from f2sl.graph import DAG, PDAG
from f2sl.network.checks import Equation, check_dag, check_edges, check_nodes, check_size, checked_states
from f2sl.network.counts import NetworkRows, columns_of, table_of

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork

LEAST_VARIANCE = 1e-12
"""Smallest noise variance, as a share of the variable's own; a copy of its parents has no noise."""
COLLINEAR = 1e-10
"""Smallest relative variation of a direction of the parents that counts."""

Fitted = tuple[dict[str, tuple[str, ...]], dict[str, Floats], dict[str, Equation], tuple[Note, ...]]


def fit(
    graph: DAG, data: Any, equivalent_sample_size: float, states: Mapping[str, Sequence[Any]], kinds: str
) -> Fitted:
    """Estimate parameters (see ``BayesianNetwork.fit``); return states, tables, equations and notes."""
    check_dag(graph)
    check_nodes("states", states, graph)
    ess = not_negative("equivalent_sample_size", equivalent_sample_size)
    names = graph.nodes
    number = {name: i for i, name in enumerate(names)}
    kinds = DISCRETE if states and len(states) == len(names) else kinds
    with table_of(data, kinds, allow_missing=True, learned=graph.read_as) as table:
        listed = {
            name: checked_states(name, states.get(name, table.states[column]))
            for name, column in zip(names, columns_of(table, names), strict=True)
            if table.kinds[column] == DISCRETE
        }
        check_edges(graph, [name for name in names if name not in listed])
        families = NetworkRows(table, names, listed)
        tables, equations = {}, {}
        n_rows: list[int] = []
        too_few: list[str] = []
        for child, name in enumerate(names):
            parents = [number[parent] for parent in graph.parents(name)]
            of_states, of_numbers = families.split(parents)
            shape = families.shape(of_states)
            if name in listed:
                check_size(name, (*shape, len(listed[name])))
                counts = families.count([*parents, child])
                n_rows.append(int(counts.sum()))
                if n_rows[-1]:
                    tables[name] = _table(counts, ess)
                    continue
            else:
                check_size(name, (*shape, len(of_numbers) + 2))
                rows = families.complete([*parents, child])
                values = np.array([families.values(v)[rows] for v in (*of_numbers, child)])
                n_rows.append(values.shape[1])
                if n_rows[-1] and np.ptp(values[-1]) > 0:
                    parts = _equation(values, families.configurations(of_states, rows), prod(shape), ess)
                    equations[name] = Equation(*(part.reshape((*shape, *part.shape[1:])) for part in parts))
                    continue
            too_few.append(f"{name} (parents {', '.join(graph.parents(name)) or 'none'}): {n_rows[-1]} rows")
        if too_few:
            raise DataError(
                "values are missing, and no rows have a variable and all of its parents, or the variable "
                f"does not vary in them: {shown_list(too_few)}; remove edges, or leave variables out"
            )
    notes: tuple[Note, ...] = ()
    if min(n_rows, default=0) < table.n_rows:
        message = f"each variable is fitted from the rows that have it and its parents, {min(n_rows):,} to"
        text = f"values are missing: {message} {max(n_rows):,} of {table.n_rows:,}"
        notes = (Note("missing", text),)
    return listed, tables, equations, notes


def dag_of_network(graph: PDAG, table: Table) -> DAG:
    """Return the DAG to fit for a learned graph, which may have undirected edges.

    It is the graph's ``to_dag()``, but undirected edges between discrete and continuous variables point to
    the continuous one, because networks allow only this direction. Columns that others represent are left
    out.

    Examples
    --------
    >>> import f2sl
    >>> table = f2sl.open_table({"x": [0.5, 1.0, 2.5, 3.5], "d": ["u", "u", "v", "v"]})
    >>> dag_of_network(f2sl.PDAG(["x", "d"], undirected=[("x", "d")]), table).directed_edges
    [('d', 'x')]
    """
    dag, kinds = graph.to_dag(), dict(zip(table.names, table.kinds, strict=True))
    both = [sorted(edge, key=lambda name: kinds.get(name) == CONTINUOUS) for edge in graph.undirected_edges]
    crossing = [(a, b) for a, b in both if kinds.get(a) == DISCRETE and kinds.get(b) == CONTINUOUS]
    if not {*crossing}.issubset(dag.directed_edges):
        left = set(graph.undirected_edges).difference(crossing, [(b, a) for a, b in crossing])
        turned = PDAG(graph.nodes, [*graph.directed_edges, *crossing], sorted(left))
        turned.knowledge = graph.knowledge
        dag = turned.to_dag()
    aliases = table.merged
    nodes = [name for name in dag.nodes if name not in aliases]
    edges = [(a, b) for a, b in dag.directed_edges if a not in aliases and b not in aliases]
    chosen = DAG(nodes, edges)
    chosen.weak = graph.weak.intersection(edges)
    chosen.either_way = frozenset(edges).difference(graph.directed_edges) | graph.either_way.intersection(
        edges
    )
    return chosen


def fit_learned(graph: PDAG, table: Table, equivalent_sample_size: float = 1) -> BayesianNetwork:
    """Fit a learned graph, which may have undirected edges, to a table; see `dag_of_network`."""
    from f2sl.network.bayesian_network import BayesianNetwork
    from f2sl.network.gaussian import GaussianNetwork

    network_class = GaussianNetwork if table.kind == CONTINUOUS else BayesianNetwork
    return network_class.fit(dag_of_network(graph, table), table, equivalent_sample_size)


def _table(counts: Integers, ess: float) -> Floats:
    """Return posterior means of all distributions under Dirichlet priors with total weight `ess`."""
    weights = counts + ess / counts.size
    sums = weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1.0 / counts.shape[-1]))


def _equation(values: Floats, row: Integers, q: int, ess: float) -> Equation:
    """Regress the last of `values` on the others in each of q configurations, given for each row by `row`."""
    n = values.shape[1]
    # Moments of standardised columns, beside a column of ones, lose no digits to the size of a mean.
    means, scales = values.mean(axis=1), values.std(axis=1)
    scales[scales == 0] = 1.0  # parents that vary only where other values are missing
    columns = np.vstack([np.ones(n), (values - means[:, None]) / scales[:, None]])
    met, group = np.unique(row, return_inverse=True)
    moments = np.empty((len(met) + 1, len(columns), len(columns)))
    for i, first in enumerate(columns):
        for j, second in enumerate(columns[: i + 1]):
            products = np.bincount(group, first * second, minlength=len(met))
            moments[:-1, i, j] = moments[:-1, j, i] = products
    # The last is for all rows together: the prior, which configurations without rows get.
    moments[-1] = moments[:-1].sum(axis=0)
    own_rows = moments[:, 0, 0].copy()
    moments[:-1] += ess / q * moments[-1] / n
    weights = moments[:, 0, 0]
    mean = moments[:, 0, 1:] / weights[:, None]
    covariance = moments[:, 1:, 1:] / weights[:, None, None] - mean[:, :, None] * mean[:, None, :]
    with_child = covariance[:, :-1, -1]
    inverse = np.linalg.pinv(covariance[:, :-1, :-1], rcond=COLLINEAR, hermitian=True)
    coefficients = (inverse @ with_child[:, :, None])[:, :, 0]
    intercepts = mean[:, -1] - (coefficients * mean[:, :-1]).sum(axis=1)
    variances = covariance[:, -1, -1] - (coefficients * with_child).sum(axis=1)
    coefficients = coefficients * scales[-1] / scales[:-1]
    intercepts = means[-1] + scales[-1] * intercepts - coefficients @ means[:-1]
    variances = scales[-1] ** 2 * np.maximum(variances, LEAST_VARIANCE)
    source = np.full(q, len(met))
    enough = (own_rows[:-1] > len(values)) | (ess > 0)
    source[met[enough]] = np.flatnonzero(enough)
    return Equation(intercepts[source], coefficients[source], variances[source])


def log_likelihood(network: BayesianNetwork, data: Any) -> float:
    """Return the natural logarithm of the probability of all rows; see ``BayesianNetwork.log_likelihood``."""
    names, kinds = network.variables, network.kinds
    wanted = kinds[0] if len(set(kinds)) == 1 else dict(zip(names, kinds, strict=True))
    total = 0.0
    with table_of(data, wanted) as table, np.errstate(divide="ignore"):
        families = NetworkRows(table, names, network.states)
        for child, parents in network._families:
            if kinds[child] == CONTINUOUS:
                total += _log_density(families, child, parents, network.equations[names[child]])
                continue
            found = families.count([*parents, child]).ravel()
            met = found > 0
            total += float(found[met] @ np.log(network._distributions(names[child]).ravel()[met]))
    return total


def _log_density(families: NetworkRows, child: int, parents: list[int], equation: Equation) -> float:
    of_states, of_numbers = families.split(parents)
    row = families.configurations(of_states)
    intercepts, coefficients, variances = equation.by_configuration()
    noise = families.values(child) - intercepts[row]
    for k, parent in enumerate(of_numbers):
        noise = noise - coefficients[row, k] * families.values(parent)
    spread = variances[row]
    return float(-0.5 * (noise * noise / spread + np.log(2 * np.pi * spread)).sum())
