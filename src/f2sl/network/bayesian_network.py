"""Bayesian networks: a DAG, and for each variable its probabilities given its parents.

A network over discrete variables X1, ..., Xn stands for the joint distribution

    P(x1, ..., xn) = product of P(xi | parents of Xi).

The factor of a variable is its *table* (also CPT, conditional probability table): for each *configuration*,
one state for each parent, a distribution over the variable's own states. A variable with r states whose
parents have q configurations has q (r - 1) free *parameters*.

What a network can be asked for lives in modules of its own: ``sampling``, ``fitting``, ``likelihood``,
``files``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from f2sl.errors import GraphError, unknown_name
from f2sl.graph import DAG
from f2sl.network.checks import (
    FloatArray,
    check_covers,
    check_dag,
    check_nodes,
    checked_name,
    checked_parents,
    checked_states,
    checked_table,
)


class BayesianNetwork:
    """A directed acyclic graph with a probability table for each node; it never changes.

    Parameters
    ----------
    graph : DAG
        The structure. The order of its nodes is the order of the variables.
    states : mapping of str to sequence
        The states of each variable, by name; they are kept as strings.
    tables : mapping of str to array
        For each variable an array of shape (states of the first parent, ..., states of the last parent,
        states of the variable): ``tables[x][i, j, k]`` is the probability that `x` is in its state k when its
        parents are in their states i and j.
    parents : mapping of str to sequence of str, optional
        The order of the parents in each table; by default that of ``graph.parents(name)``.
    name : str
        What the network is called.

    Raises
    ------
    GraphError
        If `graph` is no DAG.
    DataError
        If states or tables do not fit the graph or each other, or a distribution does not sum to 1 within
        1e-4.
    OptionError
        If `name` is no string.

    Examples
    --------
    >>> import f2sl
    >>> graph = f2sl.DAG(["out", "bark"], [("out", "bark")])
    >>> net = BayesianNetwork(
    ...     graph,
    ...     {"out": ["yes", "no"], "bark": ["loud", "none"]},
    ...     {"out": [0.15, 0.85], "bark": [[0.7, 0.3], [0.01, 0.99]]},
    ... )
    >>> net
    BayesianNetwork(2 variables, 1 edge, 3 parameters)
    >>> net.sample(3, seed=1)["out"].tolist()
    ['no', 'no', 'yes']
    """

    def __init__(
        self,
        graph: DAG,
        states: Mapping[str, Sequence[Any]],
        tables: Mapping[str, ArrayLike],
        *,
        parents: Mapping[str, Sequence[str]] | None = None,
        name: str = "",
    ) -> None:
        check_dag(graph)
        check_covers("states", states, graph)
        check_covers("tables", tables, graph)
        if parents is not None:
            check_nodes("parents", parents, graph)
        self._name = checked_name(name)
        self._graph = graph
        self._states = {node: checked_states(node, states[node]) for node in graph.nodes}
        self._parents = {node: checked_parents(node, graph, parents) for node in graph.nodes}
        self._tables = {node: self._checked_table(node, tables[node]) for node in graph.nodes}

    def _checked_table(self, node: str, given: ArrayLike) -> FloatArray:
        axes = (*self._parents[node], node)
        return checked_table(node, given, axes, tuple(len(self._states[name]) for name in axes))

    # -- what it is ------------------------------------------------------------------

    def __repr__(self) -> str:
        def count(number: int, one: str) -> str:
            return f"{number} {one}" + "s" * (number != 1)

        return (
            f"BayesianNetwork({count(len(self._states), 'variable')}, {count(self._graph.n_edges, 'edge')}, "
            f"{count(self.n_parameters, 'parameter')})"
        )

    def __eq__(self, other: object) -> bool:
        """Tell whether variables, states, parents and tables are all the same, in the same order."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return (
            list(self._states.items()) == list(other._states.items())
            and self._parents == other._parents
            and all(np.array_equal(table, other._tables[node]) for node, table in self._tables.items())
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
    def states(self) -> dict[str, tuple[str, ...]]:
        """The states of each variable, by name."""
        return dict(self._states)

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """The probability tables, by name; see the constructor for their shape. They cannot be written to."""
        return MappingProxyType(self._tables)

    @property
    def n_parameters(self) -> int:
        """How many numbers are free: configurations times (states - 1), summed over the variables."""
        return sum(table.size // table.shape[-1] * (table.shape[-1] - 1) for table in self._tables.values())

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable in the order of its table's axes."""
        if name not in self._parents:
            raise GraphError(unknown_name("variable", name, self._parents))
        return self._parents[name]

    def markov_blanket(self, name: str) -> list[str]:
        """Return the parents, the children and the children's other parents, in node order."""
        return self._graph.markov_blanket(name)

    @cached_property
    def _families(self) -> list[tuple[int, list[int]]]:
        """Every variable after its parents, each with its parents, by number."""
        number = {name: i for i, name in enumerate(self._states)}
        order = self._graph.topological_order()
        return [(number[name], [number[p] for p in self._parents[name]]) for name in order]

    def _distributions(self, name: str) -> FloatArray:
        """The table of a variable with one configuration a row, each row divided by its sum.

        Added from the first state to the last, so that every machine gets the same bits.
        """
        table = self._tables[name]
        rows: FloatArray = table.reshape(-1, table.shape[-1])
        return np.asarray(rows / rows.cumsum(axis=1)[:, -1:])

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
            A pandas frame of categories if pandas is installed, otherwise a PyArrow table of dictionaries;
            the states by name, those declared that do not occur included.

        Examples
        --------
        >>> import f2sl
        >>> f2sl.load_network("asia").sample(1000, seed=1).shape
        (1000, 8)
        """
        from f2sl.network.sampling import sample

        return sample(self, rows, seed)

    def log_likelihood(self, data: Any) -> float:
        """Return the natural logarithm of the probability of a table's rows.

        Parameters
        ----------
        data : data frame, dictionary of columns, or path
            One column for each variable, in any order. States are matched by their names; ``TRUE``, ``True``
            and the boolean are the same, and so are those of false.

        Returns
        -------
        float
            The sum over the rows; minus infinity if one of them is impossible.
        """
        from f2sl.network.likelihood import log_likelihood

        return log_likelihood(self, data)

    @classmethod
    def fit(
        cls,
        graph: DAG,
        data: Any,
        equivalent_sample_size: float = 1,
        *,
        states: Mapping[str, Sequence[Any]] | BayesianNetwork | None = None,
    ) -> Self:
        """Estimate the tables of a graph from data.

        With N_jk rows in configuration j and state k, q configurations and r states, the probability is
        (N_jk + ess / (q r)) / (N_j + ess / q): the posterior mean under the prior of BDeu.

        Parameters
        ----------
        graph : DAG
            The structure.
        data : data frame, dictionary of columns, or path
            One column for each node of the graph, in any order; see :func:`f2sl.open_table`.
        equivalent_sample_size : float
            The weight of the prior in rows. With 0 the estimate is that of maximum likelihood, and
            uniform for configurations of the parents that do not occur, of which the data say nothing.
        states : mapping of str to sequence, or BayesianNetwork, optional
            The states of variables, in the order wanted, or a network whose states they are to have. Those
            of other variables are the data's, in their order: a CSV file knows none that do not occur in
            it, and its TRUE and FALSE are the booleans ``False, True``.

        Examples
        --------
        >>> import f2sl
        >>> graph = f2sl.DAG(["rain", "wet"], [("rain", "wet")])
        >>> df = {"rain": ["n", "n", "n", "y"], "wet": ["n", "n", "y", "y"]}
        >>> BayesianNetwork.fit(graph, df, equivalent_sample_size=0).tables["rain"].tolist()
        [0.75, 0.25]
        >>> BayesianNetwork.fit(graph, df, 0, states={"rain": ["y", "n"]}).tables["rain"].tolist()
        [0.25, 0.75]
        """
        from f2sl.network.fitting import fit

        given = states.states if isinstance(states, BayesianNetwork) else states
        listed, tables = fit(graph, data, equivalent_sample_size, {} if given is None else given)
        return cls(graph, listed, tables)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network as BIF, plain (``.bif``) or packed (``.bif.gz``, ``.bif.xz``).

        The file is written whole or not at all. :func:`f2sl.load_network` gives back the same network, to
        the last bit.
        """
        from f2sl.network.files import save_network

        save_network(self, path)
