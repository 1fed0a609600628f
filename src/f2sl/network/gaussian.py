"""Gaussian networks: Bayesian networks of continuous variables only, with exact moments.

Every variable is the sum of its parents, each times a *coefficient*, an intercept and its own noise, so all
variables together are jointly normal. With the coefficients in a matrix B (row: parent, column: child) and
the variances of the noises in a diagonal matrix D, their covariance is (I - B)^-T D (I - B)^-1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from f2sl.data.column import CONTINUOUS
from f2sl.errors import DataError, shown
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import FloatArray, check_covers, check_dag, check_nodes

Edge = tuple[str, str]


class GaussianNetwork(BayesianNetwork):
    """Directed acyclic graph with a linear equation for each node; immutable.

    Parameters
    ----------
    graph : DAG
        The structure. The order of its nodes is the order of the variables.
    coefficients : mapping of (str, str) to float
        The coefficient of each edge, by its parent and child.
    variances : mapping of str to float
        The variance of each variable's noise, above 0.
    intercepts : mapping of str to float, optional
        The intercepts of variables, 0 for those not named.
    name : str
        Name of the network.

    Raises
    ------
    GraphError
        If `graph` is not a DAG.
    DataError
        If coefficients, variances or intercepts do not fit the graph, or are not finite numbers.
    OptionError
        If `name` is not a string.

    Examples
    --------
    >>> import f2sl
    >>> graph = f2sl.DAG(["sun", "heat"], [("sun", "heat")])
    >>> net = GaussianNetwork(graph, {("sun", "heat"): 2.0}, {"sun": 1.0, "heat": 0.5})
    >>> net
    GaussianNetwork(2 variables, 1 edge, 5 parameters)
    >>> net.covariance().tolist()
    [[1.0, 2.0], [2.0, 4.5]]
    """

    _kinds: ClassVar[str] = CONTINUOUS

    def __init__(
        self,
        graph: DAG,
        coefficients: Mapping[Edge, float],
        variances: Mapping[str, float],
        *,
        intercepts: Mapping[str, float] | None = None,
        name: str = "",
    ) -> None:
        check_dag(graph)
        intercepts = {} if intercepts is None else intercepts
        check_nodes("intercepts", intercepts, graph)
        check_covers("variances", variances, graph)
        if not isinstance(coefficients, Mapping) or set(coefficients) != set(graph.directed_edges):
            raise DataError("coefficients: must map each edge (parent, child) of the graph, and nothing else")
        equations = {
            node: (
                intercepts.get(node, 0.0),
                [coefficients[parent, node] for parent in graph.parents(node)],
                variances[node],
            )
            for node in graph.nodes
        }
        super().__init__(graph, {}, {}, equations=equations, name=name)

    @classmethod
    def _of(cls, network: BayesianNetwork) -> Self:
        if network.states:
            name = shown(next(iter(network.states)))
            raise DataError(f"a Gaussian network has only continuous variables, and {name} is discrete")
        return super()._of(network)

    @property
    def coefficients(self) -> dict[Edge, float]:
        """Coefficient of each edge."""
        weights, number = self.weights(), {name: i for i, name in enumerate(self.variables)}
        return {(a, b): float(weights[number[a], number[b]]) for a, b in self.graph.directed_edges}

    @property
    def variances(self) -> dict[str, float]:
        """Variance of each variable's noise."""
        return {name: float(equation.variances) for name, equation in self.equations.items()}

    def weights(self) -> FloatArray:
        """Return the coefficients as a matrix: entry (i, j) is that of i -> j, 0 without an edge."""
        matrix = np.zeros((len(self.variables), len(self.variables)))
        for child, parents in self._families:
            matrix[parents, child] = self.equations[self.variables[child]].coefficients
        return matrix

    def covariance(self) -> FloatArray:
        """Return the covariances of the variables, in their order."""
        # Rows of `effects`: how much of each noise there is in a variable; parents come before children.
        weights, effects = self.weights(), np.eye(len(self.variables))
        for child, parents in self._families:
            for parent in parents:
                effects[child] += weights[parent, child] * effects[parent]
        return np.asarray((effects * list(self.variances.values())) @ effects.T)
