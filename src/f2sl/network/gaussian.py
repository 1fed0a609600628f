"""Gaussian networks: a DAG, and for each variable a linear equation in its parents.

Every variable is a sum of its parents, each times a *coefficient*, and of noise of its own,

    X = sum of b_P P over the parents P + noise,    noise ~ Normal(0, variance of X's noise),

so that all variables together are normal with mean 0. With the coefficients in a matrix B (row: parent,
column: child) and the variances of the noises in a diagonal matrix D, their covariance is
(I - B)^-T D (I - B)^-1.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

import numpy as np

from f2sl._options import whole
from f2sl.errors import DataError, shown, unknown_name
from f2sl.graph import DAG
from f2sl.network.checks import FloatArray, check_covers, check_dag, checked_name
from f2sl.network.normal import normal_deviates
from f2sl.reading.open import open_for
from f2sl.storage.memory.table import MemoryTable
from f2sl.table import NUMBER

Edge = tuple[str, str]


class GaussianNetwork:
    """A directed acyclic graph with a linear equation for each node; it never changes.

    Parameters
    ----------
    graph : DAG
        The structure. The order of its nodes is the order of the variables.
    coefficients : mapping of (str, str) to float
        The coefficient of each edge, by its parent and child.
    variances : mapping of str to float
        The variance of each variable's noise, above 0.
    name : str
        What the network is called.

    Raises
    ------
    GraphError
        If `graph` is no DAG.
    DataError
        If coefficients or variances do not fit the graph, or are no numbers to compute with.
    OptionError
        If `name` is no string.

    Examples
    --------
    >>> import f2sl
    >>> graph = f2sl.DAG(["sun", "heat"], [("sun", "heat")])
    >>> net = GaussianNetwork(graph, {("sun", "heat"): 2.0}, {"sun": 1.0, "heat": 0.5})
    >>> net
    GaussianNetwork(2 variables, 1 edge)
    >>> net.covariance().tolist()
    [[1.0, 2.0], [2.0, 4.5]]
    """

    def __init__(
        self,
        graph: DAG,
        coefficients: Mapping[Edge, float],
        variances: Mapping[str, float],
        *,
        name: str = "",
    ) -> None:
        check_dag(graph)
        check_covers("variances", variances, graph)
        self._name = checked_name(name)
        self._graph = graph
        edges = graph.directed_edges
        if not isinstance(coefficients, Mapping) or set(coefficients) != set(edges):
            raise DataError("coefficients: must map each edge (parent, child) of the graph, and nothing else")
        self._coefficients = {edge: _number("coefficient", edge, coefficients[edge]) for edge in edges}
        self._variances = {node: _number("variance", node, variances[node]) for node in graph.nodes}
        for node, variance in self._variances.items():
            if variance <= 0:
                raise DataError(f"the variance of {shown(node)} must be above 0, not {variance:g}")

    # -- what it is ------------------------------------------------------------------

    def __repr__(self) -> str:
        edges = self._graph.n_edges
        return f"GaussianNetwork({len(self._variances)} variables, {edges} edge{'s' * (edges != 1)})"

    def __eq__(self, other: object) -> bool:
        """Tell whether variables, coefficients and variances are all the same, in the same order."""
        if not isinstance(other, GaussianNetwork):
            return NotImplemented
        return (
            list(self._variances.items()) == list(other._variances.items())
            and self._coefficients == other._coefficients
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """What the network is called."""
        return self._name

    @property
    def graph(self) -> DAG:
        """The structure."""
        return self._graph

    @property
    def variables(self) -> tuple[str, ...]:
        """The names, in the order of the graph's nodes."""
        return self._graph.nodes

    @property
    def coefficients(self) -> Mapping[Edge, float]:
        """The coefficient of each edge."""
        return MappingProxyType(self._coefficients)

    @property
    def variances(self) -> Mapping[str, float]:
        """The variance of each variable's noise."""
        return MappingProxyType(self._variances)

    def weights(self) -> FloatArray:
        """Return the coefficients as a matrix: row i, column j is that of i -> j, 0 without an edge."""
        number = {name: i for i, name in enumerate(self.variables)}
        matrix = np.zeros((len(number), len(number)))
        for (parent, child), coefficient in self._coefficients.items():
            matrix[number[parent], number[child]] = coefficient
        return matrix

    def covariance(self) -> FloatArray:
        """Return the covariances of the variables, in their order."""
        # Rows of `effects`: how much of each noise there is in a variable; parents come before children.
        effects = np.eye(len(self.variables))
        for child, parents, coefficients in self._families():
            for parent, coefficient in zip(parents, coefficients, strict=True):
                effects[child] += coefficient * effects[parent]
        variances = np.array(list(self._variances.values()))
        return np.asarray((effects * variances) @ effects.T)

    def _families(self) -> list[tuple[int, list[int], list[float]]]:
        """Every variable after its parents, with their numbers and coefficients in the order of the nodes."""
        number = {name: i for i, name in enumerate(self.variables)}
        found = []
        for child in self._graph.topological_order():
            parents = self._graph.parents(child)
            coefficients = [self._coefficients[parent, child] for parent in parents]
            found.append((number[child], [number[p] for p in parents], coefficients))
        return found

    # -- what it can do --------------------------------------------------------------

    def sample(self, rows: int, seed: int = 0) -> Any:
        """Draw rows from the network.

        Parameters
        ----------
        rows : int
            How many, at least 1.
        seed : int
            The same seed gives the same rows on every machine, and the first rows of a larger sample.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
            A pandas frame if pandas is installed, otherwise a PyArrow table; one column of floats for each
            variable.
        """
        table = self.sample_table(rows, seed)
        columns = dict(zip(table.names, table.numbers, strict=True))
        try:
            import pandas as pd
        except ImportError:
            import pyarrow as pa

            return pa.table(columns)
        return pd.DataFrame(columns)

    def sample_table(self, rows: int, seed: int = 0) -> MemoryTable:
        """Draw rows as a table of numbers, what learners work on.

        Each variable's noise comes from a generator of its own, seeded with the seed and its number.
        """
        rows, seed = whole("rows", rows, least=1), whole("seed", seed)
        values = np.empty((len(self.variables), rows))
        scales = np.sqrt(list(self._variances.values()))
        for child, parents, coefficients in self._families():
            noise = normal_deviates(np.random.PCG64([seed, child]).random_raw(rows))
            total = scales[child] * noise
            for parent, coefficient in zip(parents, coefficients, strict=True):
                total = total + coefficient * values[parent]
            values[child] = total
        return MemoryTable.of_numbers(self.variables, values)

    def log_likelihood(self, data: Any) -> float:
        """Return the natural logarithm of the density of a table's rows, summed over them.

        Parameters
        ----------
        data : data frame, dictionary of columns, or path
            One column of numbers for each variable, in any order; see :func:`f2sl.open_table`.
        """
        table = open_for((NUMBER,), "a Gaussian network", data, min_variables=1)
        table.refuse_gaps("a Gaussian network")
        with nullcontext() if table is data else table:
            for name in self.variables:
                if name not in table.names:
                    raise DataError(unknown_name("column", name, table.names))
            values = table.all_numbers()[[table.names.index(name) for name in self.variables]]
        variances = np.array(list(self._variances.values()))[:, None]
        noise = values - self.weights().T @ values
        return float(-0.5 * (noise * noise / variances + np.log(2 * np.pi * variances)).sum())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network as JSON (``.json``), whole or not at all; :meth:`load` gives it back."""
        from f2sl.network.gaussian_files import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> GaussianNetwork:
        """Read a network that was saved.

        Raises
        ------
        FileError
            If the file cannot be read or is not such a network.
        """
        from f2sl.network.gaussian_files import load

        return load(path)


def _number(what: str, of: object, given: Any) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not np.isfinite(number):
        raise DataError(f"the {what} of {shown(of)} must be a number, not {shown(given)}")
    return number
