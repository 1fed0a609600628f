"""Bayesian networks: a DAG, and for each variable its distribution given its parents.

A network over X1, ..., Xn stands for the joint distribution

    P(x1, ..., xn) = product of P(xi | parents of Xi).

The factor of a discrete variable is its *table* (also CPT, conditional probability table): for each
*configuration*, one state for each parent, a distribution over the variable's own states. A variable with r
states whose parents have q configurations has q (r - 1) free *parameters*.

The factor of a variable that is a real number is its *equation*: for each configuration c of the parents that
have states, the number is

    X = intercept(c) + sum of coefficient(c, P) P over the parents P that are numbers + noise,
    noise ~ Normal(0, variance(c)).

A discrete variable can have only discrete parents. Such networks are called *conditional linear
Gaussian* (Lauritzen and Wermuth 1989). Without states they are Gaussian, and :class:`f2sl.GaussianNetwork`
computes their covariances.

The methods are implemented in separate modules: ``sampling``, ``fitting``, ``likelihood``, ``inference``,
``predicting``, ``formats``.

References
----------
S. L. Lauritzen, N. Wermuth. Graphical models for associations between variables, some of which are
qualitative and some quantitative. The Annals of Statistics 17, 1989.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self

import numpy as np
from numpy.typing import ArrayLike

from f2sl._notes import Note
from f2sl._registry import refuse_unknown
from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.errors import GraphError, unknown_name
from f2sl.graph import DAG
from f2sl.network.checks import (
    Equation,
    FloatArray,
    check_covers,
    check_dag,
    check_edges,
    check_nodes,
    checked_equation,
    checked_name,
    checked_parents,
    checked_states,
    checked_table,
)

if TYPE_CHECKING:
    from f2sl.network.inference import MostProbable


class BayesianNetwork:
    """Directed acyclic graph with a probability table or an equation for each node; immutable.

    Parameters
    ----------
    graph : DAG
        The structure. The order of its nodes is the order of the variables.
    states : mapping of str to sequence
        States of each variable that has any, by name; they are stored as strings.
    tables : mapping of str to array
        For each of these variables an array of shape (states of the first parent, ..., states of the last
        parent, states of the variable): ``tables[x][i, j, k]`` is the probability that `x` is in its state k
        when its parents are in their states i and j.
    equations : mapping of str to (array, array, array), optional
        For each continuous variable, the intercepts, the coefficients and the variances of the noise.
        Intercepts and variances have the shape (states of the first parent that has any, ...); coefficients
        have one more axis, along the continuous parents. Values that are the same in all configurations
        may be given once, without the axes of the states.
    parents : mapping of str to sequence of str, optional
        The order of the parents in each table and equation; by default that of ``graph.parents(name)``.
    name : str
        Name of the network.

    Raises
    ------
    GraphError
        If `graph` is not a DAG.
    DataError
        If states, tables or equations do not fit the graph or each other, a distribution does not sum to 1
        within 1e-4, or a number is a parent of states.
    OptionError
        If `name` is not a string.

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
    >>> net.sample(3, random_state=1)["out"].tolist()
    ['no', 'no', 'yes']

    How loud the barking is, in decibels: about 40 or 20, with a variance of 16 in either case.

    >>> net = BayesianNetwork(
    ...     graph, {"out": ["yes", "no"]}, {"out": [0.15, 0.85]}, equations={"bark": ([40, 20], [], 16)}
    ... )
    >>> net.sample(3, random_state=1)["bark"].round(1).tolist()
    [18.3, 21.1, 40.1]
    """

    def __init__(
        self,
        graph: DAG,
        states: Mapping[str, Sequence[Any]],
        tables: Mapping[str, ArrayLike],
        *,
        equations: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]] | None = None,
        parents: Mapping[str, Sequence[str]] | None = None,
        name: str = "",
    ) -> None:
        check_dag(graph)
        equations = {} if equations is None else equations
        check_nodes("equations", equations, graph)
        check_covers("states", states, graph, equations)
        check_covers("tables", tables, graph, equations)
        check_edges(graph, equations)
        if parents is not None:
            check_nodes("parents", parents, graph)
        self._name = checked_name(name)
        self._graph = graph
        self._states = {node: checked_states(node, states[node]) for node in graph.nodes if node in states}
        self._parents = {node: checked_parents(node, graph, parents) for node in graph.nodes}
        self._tables: dict[str, FloatArray] = {}
        self._equations: dict[str, Equation] = {}
        for node, family in self._parents.items():
            shape = tuple(len(self._states[parent]) for parent in family if parent in self._states)
            if node in self._states:
                axes = (*shape, len(self._states[node]))
                self._tables[node] = checked_table(node, tables[node], (*family, node), axes)
            else:
                n_numbers = len(family) - len(shape)
                self._equations[node] = checked_equation(node, equations[node], shape, n_numbers)

    # -- what it is ------------------------------------------------------------------

    def __repr__(self) -> str:
        def count(number: int, one: str) -> str:
            return f"{number} {one}" + "s" * (number != 1)

        return (
            f"{type(self).__name__}({count(len(self.variables), 'variable')}, "
            f"{count(self._graph.n_edges, 'edge')}, {count(self.n_parameters, 'parameter')})"
        )

    def _repr_html_(self) -> str:
        from f2sl.view.notebook import html_of

        return html_of(self)

    def __eq__(self, other: object) -> bool:
        """Return whether variables, states, parents, tables and equations are equal, in the same order."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return (
            self._states == other._states
            and list(self._parents.items()) == list(other._parents.items())
            and all(np.array_equal(table, other._tables[node]) for node, table in self._tables.items())
            and all(
                all(map(np.array_equal, equation, other._equations[node]))
                for node, equation in self._equations.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """Name of the network."""
        return self._name

    @property
    def graph(self) -> DAG:
        """Graph of the network."""
        return self._graph

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, in the order of the graph's nodes."""
        return self._graph.nodes

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each variable, ``"discrete"`` or ``"continuous"``, in their order."""
        return tuple(DISCRETE if name in self._states else CONTINUOUS for name in self.variables)

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """States of each variable that has any, by name."""
        return dict(self._states)

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """Probability tables by name, read-only; see the constructor for their shape."""
        return MappingProxyType(self._tables)

    @property
    def equations(self) -> Mapping[str, Equation]:
        """Equations by name, read-only; see the constructor for their shapes."""
        return MappingProxyType(self._equations)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, summed over the variables.

        A variable with r states has r - 1 parameters for each configuration of its parents; a number has an
        intercept, the coefficients and a variance.
        """
        of_tables = (table.size - table[..., 0].size for table in self._tables.values())
        of_equations = (part.size for equation in self._equations.values() for part in equation)
        return sum(map(int, of_tables)) + sum(of_equations)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable in the order of the axes of its table or equation."""
        if name not in self._parents:
            raise GraphError(unknown_name("variable", name, self._parents))
        return self._parents[name]

    def markov_blanket(self, name: str) -> list[str]:
        """Return the parents, the children and the children's other parents, in node order."""
        return self._graph.markov_blanket(name)

    @cached_property
    def _families(self) -> list[tuple[int, list[int]]]:
        """Variables in topological order, each with its parents, by number."""
        number = {name: i for i, name in enumerate(self.variables)}
        order = self._graph.topological_order()
        return [(number[name], [number[p] for p in self._parents[name]]) for name in order]

    def _distributions(self, name: str) -> FloatArray:
        """Return the table of a variable with one configuration a row, each row divided by its sum.

        Sums run from the first state to the last, so that every machine gets the same bits.
        """
        table = self._tables[name]
        rows: FloatArray = table.reshape(-1, table.shape[-1])
        return np.asarray(rows / rows.cumsum(axis=1)[:, -1:])

    # -- what it can do --------------------------------------------------------------

    def sample(self, rows: int, random_state: int = 0) -> Any:
        """Draw rows from the network.

        Parameters
        ----------
        rows : int
            Number of rows, at least 1.
        random_state : int
            The same seed gives the same rows on every machine, and the first rows of a larger sample.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
            A pandas frame if pandas is installed, otherwise a PyArrow table. Discrete columns are categories
            (in PyArrow, dictionaries), including states that do not occur; numbers are floats.

        Examples
        --------
        >>> import f2sl
        >>> f2sl.load_network("asia").sample(1000, random_state=1).shape
        (1000, 8)
        """
        from f2sl.network.sampling import sample

        return sample(self, rows, random_state)

    def log_likelihood(self, data: Any) -> float:
        """Return the log likelihood of a table (natural logarithm; densities for numbers).

        Parameters
        ----------
        data : data frame, dictionary of columns, or path
            One column for each variable, in any order. States are matched by name; ``TRUE``, ``True`` and the
            boolean True are the same state, and likewise for false.

        Returns
        -------
        float
            Sum over the rows; minus infinity if a row is impossible.
        """
        from f2sl.network.fitting import log_likelihood

        return log_likelihood(self, data)

    def table(self, name: str) -> Any:
        """Return a variable's probabilities, or its equation, as a data frame.

        Parameters
        ----------
        name : str
            The variable.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
            One row for each configuration of the discrete parents, which are the index (without pandas,
            the first columns). The columns are the states of the variable; for a number they are
            ``intercept``, the continuous parents, and ``variance``.

        Examples
        --------
        >>> import f2sl
        >>> f2sl.load_network("asia").table("lung").loc["yes"].to_dict()
        {'yes': 0.1, 'no': 0.9}
        """
        from f2sl.network.convert import table

        return table(self, name)

    def query(
        self,
        variables: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the exact distribution of variables given evidence and interventions.

        States need pyAgrum (``pip install "f2sl[inference]"``).

        Parameters
        ----------
        variables : str or sequence of str
            One variable, or several that have states.
        evidence : mapping of str to state or number, optional
            Observed values. States may be given as their own values: True for ``"True"``, 3 or 3.0 for
            ``"3"``. If the states are intervals such as ``"[18, 40)"``, a number stands for the interval that
            it lies in; a number outside all intervals stands for the nearest one.
        do : mapping of str to state or number, optional
            Interventions, which set values from outside: ``do={"treatment": "yes"}``. They affect only
            ``graph.descendants("treatment")``.

        Returns
        -------
        dict or Mixture
            The probability of each state of a variable, or of each tuple of states of several. For a
            continuous one, a :class:`~f2sl.network.inference.Mixture` with a `mean` and a `variance`.

        Raises
        ------
        OptionError
            If variables, states or values are not known, all in one error, or pyAgrum is not installed.
        DataError
            If the evidence is impossible, or the network is too wide for exact answers.

        Examples
        --------
        >>> import f2sl
        >>> asia = f2sl.load_network("asia")
        >>> round(asia.query("lung", evidence={"xray": "yes"})["yes"], 4)
        0.4887
        >>> round(asia.query("lung", do={"xray": "yes"})["yes"], 4)
        0.055
        >>> graph = f2sl.DAG(["sun", "heat"], [("sun", "heat")])
        >>> net = f2sl.GaussianNetwork(graph, {("sun", "heat"): 2.0}, {"sun": 1.0, "heat": 1.0})
        >>> net.query("sun", evidence={"heat": 5})
        Mixture(mean 2, deviation 0.447214, 1 part)
        """
        from f2sl.network.inference import query

        return query(self, variables, evidence, do)

    def most_probable(
        self, evidence: Mapping[str, Any] | None = None, do: Mapping[str, Any] | None = None
    ) -> MostProbable:
        """Return the most probable explanation: the most probable values of all variables without evidence.

        Parameters
        ----------
        evidence, do
            As in :meth:`query`.

        Returns
        -------
        MostProbable
            Its `values` by name, and their `log_probability` given the evidence.

        Examples
        --------
        >>> import f2sl
        >>> f2sl.load_network("asia").most_probable({"dysp": "yes"}).values["bronc"]
        'yes'
        """
        from f2sl.network.inference import most_probable

        return most_probable(self, evidence, do)

    def predict(
        self, data: Any, target: str, *, probabilities: bool = False, drop: Sequence[str] = ()
    ) -> Any:
        """Predict one variable for each row of new data.

        Parameters
        ----------
        data : Table, data frame, dictionary of columns, or path
            Columns are variables of the network. Columns and values may be missing. Numbers are put into
            intervals as in :meth:`query`. A column of the target may be present; only its type matters.
        target : str
            The variable to predict.
        probabilities : bool
            Return the probability of each state instead of the most probable one.
        drop : sequence of str
            Columns to leave out, such as those that are not in the network.

        Returns
        -------
        ndarray
            For each row the most probable state (the first, if several are equally probable), or the mean of
            a number. States are booleans or numbers if all of the target's states look like them; otherwise,
            and if the data have a target column of strings, they are strings. With `probabilities`, an array
            of shape (rows, states).

        Raises
        ------
        DataError
            If the data have columns or states that the network lacks, or an impossible row.

        Examples
        --------
        >>> import f2sl
        >>> rows = {"xray": ["yes", "no"], "smoke": ["yes", None]}
        >>> f2sl.load_network("asia").predict(rows, "lung").tolist()
        ['yes', 'no']
        """
        from f2sl.network.predicting import predict

        return predict(self, data, target, probabilities, drop)

    @classmethod
    def fit(
        cls,
        graph: DAG,
        data: Any,
        equivalent_sample_size: float = 1,
        *,
        states: Mapping[str, Sequence[Any]] | BayesianNetwork | None = None,
        **unknown: Never,
    ) -> Self:
        """Estimate the tables and equations of a graph from data.

        For states, with N_jk rows in configuration j and state k, q configurations and r states, the
        probability is (N_jk + ess / (q r)) / (N_j + ess / q): the posterior mean under the prior of BDeu.

        The equation of a number is the least-squares fit, with the mean squared residual as its variance. For
        each of the q configurations of the discrete parents, the rows of all configurations together are
        added with the total weight ess / q, so that no configuration has too few rows.

        Parameters
        ----------
        graph : DAG
            The structure.
        data : Table, data frame, dictionary of columns, or path
            One column for each node of the graph, in any order. A :class:`f2sl.Table` keeps its kinds, bins
            and states: pass the one that the graph was learned from. Other data are read as they were for
            learning the graph, or by the defaults if it was not learned. With missing values, each variable
            is fitted from the rows that have it and all of its parents; the network's `notes` say how many
            these are.
        equivalent_sample_size : float
            Weight of the prior, in rows; 0 for maximum likelihood. Configurations of the parents without rows
            get uniform probabilities; those with too few rows for an equation get the equation of all rows.
        states : mapping of str to sequence, or BayesianNetwork, optional
            States of variables, in the order wanted, or a network to take them from. Other variables have the
            states that occur in the data. TRUE and FALSE in a CSV file are the booleans ``False, True``.
        **unknown
            Refused, with a hint: options of reading belong to :func:`f2sl.open_table`.

        Raises
        ------
        DataError
            If the data do not fit the graph, the graph has edges from continuous to discrete variables, or no
            rows have a variable and all of its parents. The message names all of them.

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

        options = ("equivalent_sample_size", "states")
        refuse_unknown(f"{cls.__name__}.fit", unknown, options, how="fit(graph, f2sl.open_table(data, ...))")
        given = states.states if isinstance(states, BayesianNetwork) else states
        fitted = fit(graph, data, equivalent_sample_size, {} if given is None else given, cls._kinds)
        network = cls._of(BayesianNetwork(graph, *fitted[:2], equations=fitted[2]))
        network.notes = fitted[3]
        return network

    notes: tuple[Note, ...] = ()
    """Notes on how the network was fitted, such as the numbers of rows; files do not store them."""

    _kinds: ClassVar[str] = "auto"
    """Kind as which data are read when a network of this class is fitted."""

    @classmethod
    def _of(cls, network: BayesianNetwork) -> Self:
        """Return the network as an object of this class."""
        made = cls.__new__(cls)
        made.__dict__.update(network.__dict__)
        return made

    def show(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write an HTML page to explore the network; options are those of :func:`f2sl.show`."""
        from f2sl.view.page import show

        return show(self, path, **options)

    def to_pgmpy(self) -> Any:
        """Return the network as one of pgmpy's, which must be installed.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork or LinearGaussianBayesianNetwork
            Probabilities are divided by their sums, which in files may differ from 1 by rounding.

        Raises
        ------
        OptionError
            If pgmpy is not installed.
        DataError
            If the network has both discrete and continuous variables, which pgmpy does not mix.
        """
        from f2sl.network.convert import to_pgmpy

        return to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """Return the network as one of pyAgrum's, which must be installed.

        Returns
        -------
        pyagrum.BayesNet
            Probabilities are divided by their sums, which in files may differ from 1 by rounding.

        Raises
        ------
        OptionError
            If pyAgrum is not installed.
        DataError
            If the network has continuous variables.
        """
        from f2sl.network.convert import to_pyagrum

        return to_pyagrum(self)

    def to_dowhy(self, data: Any, treatment: str, outcome: str) -> Any:
        """Return a model of DoWhy's with the network's graph; see :meth:`f2sl.DAG.to_dowhy`."""
        return self._graph.to_dowhy(data, treatment, outcome)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network in the format that the path's suffix names.

        Suffixes are ``.json``, ``.bif``, ``.xmlbif``, ``.net`` (Hugin) and ``.xdsl`` (GeNIe), each also
        followed by ``.gz`` or ``.xz``. Only ``.json`` and ``.net`` support numbers. The file is written
        completely or not at all. :func:`f2sl.load_network` gives back the same network, to the last bit.
        """
        from f2sl.network.formats import save_network

        save_network(self, path)
