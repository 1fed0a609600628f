"""Base of all learners of whole graphs.

A learner follows scikit-learn's conventions: options as fields, which the constructor only stores; `fit`
checks them and the data once, learns (:mod:`f2sl.learners.fit`), and returns the learner; what was learned
ends in an underscore. A learner implements ``_learn(fit)`` and is made of parts: a learner of neighbors, a
way to orient, a score, and functions that several learners share.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, cast

import numpy as np
from numpy.typing import NDArray

from f2sl._estimator import Estimator
from f2sl._options import option
from f2sl._registry import refuse_unknown
from f2sl.data.column import wrong_kinds
from f2sl.data.engines import open_engine
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.errors import not_fitted
from f2sl.graph import DAG, PDAG
from f2sl.knowledge import Knowledge
from f2sl.learners.fit import Fit, fit_learner
from f2sl.stats.choose import WITHOUT_PRIOR, resolve_auto

if TYPE_CHECKING:
    from f2sl.network import BayesianNetwork
    from f2sl.search.growing.again import SearchAgain
    from f2sl.view.explanation import Explanation
    from f2sl.view.notebook import Summary


class StructureLearner(Estimator):
    """Base class of all learners: opens the table and its engine, measures time, and names the result.

    Attributes
    ----------
    graph_ : PDAG
        Learned graph over the columns' names, with the directions that the data decide. Of a DAG with the
        best score this is the CPDAG: directed where all DAGs with the same independences that obey the
        knowledge agree. Its `weak` has the arrows that are only weakly decided. If the method decides all
        directions, it is a DAG.
    weakly_decided_ : dict of (str, str) to str
        Why each of these is; only of a DAG with the best score whose directions were to be checked.
    dag_ : DAG
        One DAG of `graph_`: that with the best score, or ``graph_.to_dag()``.
    adjacency_matrix_ : ndarray of uint8
        Matrix of `graph_`, in the order of its nodes: ``A[i, j] = 1`` for i -> j, rows are parents. An
        undirected edge has ones in both positions.
    timings_ : dict of str to float
        Seconds for each stage, and ``"total"``.
    notes_ : list of Note
        Notes for the user on how the data were read and on undecided questions. Each is a string with a
        `kind`, `columns` and `options`.
    complete_ : bool
        False if a time limit or Ctrl-C ended the work early; `graph_` is then the partial result.
    options_in_use_ : dict of str to Any
        Options in use; each "auto" is replaced by its meaning.
    n_rows_ : int
        Number of samples.
    feature_names_in_ : ndarray of str
        Names of the columns, in their order.
    transformed_ : tuple of str
        Names of the continuous columns that were replaced by normal scores of their ranks.
    """

    _takes: ClassVar[tuple[str, ...]] = ("discrete", "continuous", "mixed")
    """Kinds of tables that the learner accepts."""
    _requires: ClassVar[tuple[str, ...]] = ("_learn",)
    """The methods that a learner must have."""
    _directs_all_edges: ClassVar[bool] = False
    """True if the data distinguish a learned DAG from the others of its equivalence class."""
    _ignores = WITHOUT_PRIOR
    _watches_time: ClassVar[bool] = False
    """True if `_learn` looks at ``fit.deadline`` itself, so that no checkpoint may raise TimeUp in it."""
    _size_matters: ClassVar[bool] = False
    """True if the size of numbers is information: ``transform="auto"`` leaves them as they are."""
    _preferred: ClassVar[Mapping[str, str]] = {}
    """Score that "auto" stands for, by kind of table, where it is not the usual one."""

    knowledge: Knowledge | None = option("knowledge")
    time_limit: float | None = option("time_limit")
    n_jobs: int | None = option("n_jobs")
    verbose: bool = option("verbose")

    @classmethod
    def _wrong_attribute(cls) -> str | None:
        """Return an error message for a wrong class attribute, or None."""
        return wrong_kinds(f"{cls.__name__}._takes", cls._takes)

    @property
    def dag_(self) -> DAG:
        """One DAG of `graph_`: that with the best score, or ``graph_.to_dag()``."""
        return self.graph_.to_dag()

    @property
    def adjacency_matrix_(self) -> NDArray[np.uint8]:
        """Matrix of `graph_`: ``A[i, j] = 1`` for i -> j, so that rows are parents; both ones for i - j.

        Rows and columns are in the order of ``graph_.nodes``. LiNGAM's matrices are transposed: their columns
        are parents.

        Examples
        --------
        >>> import f2sl
        >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
        >>> int(model.adjacency_matrix_[model.graph_.nodes.index("smoke")].sum())
        2
        """
        return self.graph_.to_adjacency()

    @property
    def strength_unit(self) -> str:
        """Unit of the edge weights: that of the learner of neighbors, if it has one, after `fit`."""
        local = vars(self).get("local_learner_")
        return "strength" if local is None else str(local.strength_unit)

    def _preferring(self, kind: str) -> dict[str, Any]:
        """Return the options, with the learner's own preference in place of the score "auto"."""
        options = self.get_params()
        if kind in self._preferred and options["score"] == "auto":
            options["score"] = self._preferred[kind]
        return options

    def summary(self) -> Summary:
        """Return a summary of the result, which prints as text and shows as a table in notebooks.

        Examples
        --------
        >>> import f2sl
        >>> print(f2sl.F2SLc().fit(f2sl.load_example("asia")).summary())  # doctest: +ELLIPSIS
        Learned by F2SLc
          Learner    F2SLc()
          Rows       5,000
          Variables  8
        ...
        """
        from f2sl.view.notebook import summary_of

        self._check_fitted()
        return summary_of(self)

    def __repr__(self) -> str:
        options = super().__repr__()
        if "graph_" not in vars(self):
            return options
        graph = self.graph_
        return f"{options}, fitted: {graph.n_nodes:,} variables, {graph._edges_in_words}"

    def _repr_html_(self) -> str | None:
        from f2sl.view.notebook import html_of

        return html_of(self) if "graph_" in vars(self) else None

    def _check_fitted(self) -> None:
        if "graph_" not in vars(self):
            raise not_fitted(self)

    if not TYPE_CHECKING:  # type checkers shall still tell of names that there are not

        def __getattr__(self, name: str) -> Any:
            """Raise an error for an attribute that exists only after `fit`."""
            if name.endswith("_") and not name.startswith("_"):
                self._check_fitted()
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def show(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write an HTML page to explore the result; options are those of :func:`f2sl.show`."""
        from f2sl.view.page import show

        self._check_fitted()
        return show(self, path, **options)

    def explain(self, a: str, b: str, data: Any = None, **reading: Any) -> Explanation:
        """Explain why two variables are adjacent, or are not.

        Parameters
        ----------
        a, b : str
            The two variables.
        data : Table, data frame, dictionary of columns, or path, optional
            The data that the graph was learned from, to compute tests and scores again. Without it, only the
            reasons that the learner has kept are given.
        **reading
            Options of :func:`f2sl.open_table`. By default columns are read as when the graph was learned, and
            cut into the same intervals.

        Returns
        -------
        Explanation
            Prints as a few lines; `reasons` has the kind, the text and the numbers of each.

        Examples
        --------
        >>> import f2sl
        >>> asia = f2sl.load_example("asia")
        >>> model = f2sl.F2SLc().fit(asia)
        >>> [reason.kind for reason in model.explain("asia", "smoke", asia).reasons]
        ['relevance']
        """
        from f2sl.view.explain import explain

        self._check_fitted()
        return explain(self, a, b, data, **reading)

    def _begin(self, fit: Fit, table: Table) -> None:
        """Take from a fit what is known before the learning; the rest follows from :meth:`_learn`."""
        self.notes_, self.timings_, self.complete_ = fit.notes, fit.timings, True
        self.options_in_use_ = resolve_auto(self._preferring(table.kind), table.kind)
        self.n_rows_, self.n_features_in_ = table.n_rows, table.n_variables
        self.feature_names_in_ = np.array(table.names, dtype=object)
        self.transformed_ = tuple(column.name for column in table.columns if column.is_scores)
        self.graph_: PDAG
        self.weakly_decided_: dict[tuple[str, str], str]
        self.skeleton_: PDAG

    def _learn(self, fit: Fit) -> PDAG:
        """Learn a graph from what a fit has, and keep in it what else is found.

        Variables are in the order of its names.
        """
        raise NotImplementedError

    def _open(self, fit: Fit) -> AbstractContextManager[Any]:
        """Open what `_learn` asks: by default counts (discrete), moments (continuous), or both."""
        return cast(AbstractContextManager[Any], open_engine(fit.table, self.n_jobs))

    def _for_replicates(self, fit: Fit) -> tuple[StructureLearner, SearchAgain | None]:
        """Return a learner that learns again from resampled rows, and a search of one matrix instead, if any.

        The learner finds much the same graph as this one, if possible in less time.
        """
        return type(self)(**self.get_params()), None

    def fit(self, X: Any, y: object = None, **unknown: Never) -> Self:
        """Learn the structure of a table.

        Parameters
        ----------
        X : data frame, array, dict of columns, path, list of paths or Table
            One row for each sample, one column for each variable. To give options of reading, use
            :func:`f2sl.learn`, or pass what :func:`f2sl.open_table` returns.
        y : ignored
            Present for compatibility with scikit-learn.
        **unknown
            Refused, with a hint: learners take options in the constructor.

        Returns
        -------
        self

        Raises
        ------
        Interrupted
            On Ctrl-C, if a part of the work is finished. The partial result is kept, as after a time limit.
        """
        refuse_unknown(f"{type(self).__name__}.fit", unknown, ("X", "y"), type(self))
        return fit_learner(self, X, {})

    def network(self, data: Any, equivalent_sample_size: float = 1, **reading: Any) -> BayesianNetwork:
        """Fit the probabilities of a Bayesian network with the graph that was learned.

        Parameters
        ----------
        data : Table, data frame, dictionary of columns, or path
            The table that the graph was learned from, or another with the same columns.
        equivalent_sample_size : float
            The weight of the prior in rows; see :meth:`f2sl.BayesianNetwork.fit`.
        **reading
            Options of :func:`f2sl.open_table`. By default columns are read as when the graph was learned, and
            cut into the same intervals.

        Returns
        -------
        BayesianNetwork
            A :class:`GaussianNetwork` if all columns are continuous. Its graph is `dag_`; undirected edges of
            `graph_` between discrete and continuous variables point to the continuous one.

        Examples
        --------
        >>> import f2sl
        >>> asia = f2sl.load_example("asia")
        >>> net = f2sl.F2SLs().fit(asia).network(asia)
        >>> round(net.query("bronc", {"smoke": "yes"})["yes"], 2)
        0.6
        """
        from f2sl.network.fitting import fit_learned

        graph = self.graph_
        takes = ("discrete", "continuous", "mixed")
        how = {"min_variables": 1, "only": graph.nodes, "learned": graph.read_as, **reading}
        table = open_for(takes, "a Bayesian network", data, self.n_jobs, **how)
        with nullcontext() if table is data else table:
            return fit_learned(graph, table, equivalent_sample_size)
