"""DAG-GNN, structure by a graph neural network (Yu, Chen, Gao and Yu 2019); needs PyTorch (extra ``deep``).

An autoencoder is trained whose encoder and decoder share a matrix of weights between the variables, with the
constraint that the matrix is that of a DAG (the formulas are in :mod:`f2sl.search.dag_gnn`). Edges are
the weights far from 0.

States are read as numbers, their codes. The paper also has a variant for states, with a number for each state
and a distribution over states from the decoder. It did worse in first measurements, so f2sl does not have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._notes import Note, Use
from f2sl._options import option, positive
from f2sl._progress import stage
from f2sl.data.engines import open_engine
from f2sl.data.table import Table
from f2sl.errors import DataError
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.by_weights import as_numbers, graph_of_weights, varying
from f2sl.learners.fit import Fit

COPIES = 4
"""Largest number of copies of the values in memory at a time."""

LEAST_SIZE, MOST_SIZE = 0.1, 1000.0
"""Between these the root mean square of all numbers does not matter to the training."""


class DAGGNN(StructureLearner):
    """Learn a DAG by a graph neural network.

    The training ends when the measure of cycles falls to `h_tol`. The same `random_state` gives the same
    graph.

    Attributes
    ----------
    graph_ : DAG
        The graph learned; its edges have their weights.
    weights_ : ndarray of shape (n_variables, n_variables)
        ``weights_[i, j]`` is the weight of the edge from column i to column j, including those below the
        threshold.
    threshold_ : float
        Smallest absolute weight of an edge: `threshold`, or more if that left a cycle.
    h_ : float
        The measure of cycles at the end: 0 for a DAG.
    loss_ : float
        The negative evidence lower bound at the end, without constants: the mean over the rows.
    n_steps_ : int
        Steps that the optimiser made.

    Examples
    --------
    >>> import numpy as np
    >>> import f2sl
    >>> noise = np.random.default_rng(0).normal(size=(200, 2))
    >>> table = {"cause": noise[:, 0], "effect": 2 * noise[:, 0] + noise[:, 1]}
    >>> model = f2sl.DAGGNN(epochs=100)
    >>> model.fit(table).graph_.directed_edges  # doctest: +SKIP
    [('cause', 'effect')]
    """

    _takes = ("discrete", "continuous")
    strength_unit = "weight"
    _directs_all_edges = True
    _size_matters = True
    _watches_time = True

    threshold: float = option("threshold")
    standardize: bool = option("standardize")
    hidden: int = option("hidden")
    epochs: int = option("epochs")
    batch_size: int = option("batch_size")
    learning_rate: float = option("learning_rate")
    tau: float = option("tau")
    # The measure of cycles is the difference of two numbers as large as there are variables.
    h_tol: float = option("h_tol", check=partial(positive, least=1e-12, most=0.5))
    max_iter: int = option("max_iter")
    random_state: int = option("random_state")

    def _problems(self) -> Iterator[Note]:
        """Yield all problems of the options, and a message if PyTorch is missing."""
        yield from super()._problems()
        try:
            import torch  # noqa: F401
        except ImportError as error:
            needs = f'DAG-GNN needs PyTorch, which cannot be imported ({error}): pip install "f2sl[deep]"'
            yield Note("install", needs)

    def _open(self, fit: Fit) -> AbstractContextManager[Floats]:
        """Return the numbers, each variable with mean 0, with rows in a fixed order.

        Sums are then the same to the last bit for any order of the input rows.
        """
        numbers = as_numbers(fit)
        with open_engine(varying(numbers), self.n_jobs):
            pass  # correlations tell of copies, and are not needed otherwise
        values = _in_memory(numbers)
        values = values[:, np.lexsort(values)]
        centred = values - values.mean(axis=1, keepdims=True)
        if self.standardize:
            deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
            centred /= np.where(deviation > 0, deviation, 1.0)
        return nullcontext(centred)

    def _learn(self, fit: Fit) -> DAG:
        from f2sl.search.dag_gnn import Settings, train

        settings = Settings(**{name: getattr(self, name) for name in Settings.__dataclass_fields__})
        # A variable that is always the same explains nothing and needs no explanation.
        members = np.flatnonzero(fit.engine.any(axis=1))
        weights = np.zeros((len(fit.names), len(fit.names)))
        self.h_, self.loss_, self.n_steps_ = 0.0, 0.0, 0
        if len(members) > 1:
            with fit.timed("training"), stage("training the autoencoder") as advance:
                allowed = fit.constraints.restrict_to(members).matrix()
                trained = train(_scaled(fit, members), settings, fit.deadline, advance, allowed)
            weights[np.ix_(members, members)] = trained.weights
            self.h_, self.loss_, self.n_steps_ = trained.h, trained.loss, trained.n_steps
            if trained.out_of_time or trained.interrupted:
                fit.deadline.stop(self._how_far(), trained.interrupted)
        if self.h_ > self.h_tol and not fit.deadline.stopped:
            text = f"the training ended without convergence: {self._how_far()}; more "
            advice = (Use("epochs"), " or a larger ", Use("max_iter"), " may help")
            fit.notes.append(Note("no-convergence", text, *advice))
        return graph_of_weights(fit, weights, self.threshold)

    def _how_far(self) -> str:
        """Return how far the weights are from those of a DAG."""
        return f"the measure of cycles was {self.h_:.3g}, and its goal is {self.h_tol:g}"


def _scaled(fit: Fit, members: Integers) -> Floats:
    """Scale the numbers of some variables by one factor to a size that the network can start from."""
    values: Floats = fit.engine[members]
    size = float(np.sqrt((values**2).mean()))
    if LEAST_SIZE <= size <= MOST_SIZE:
        return values
    fit.notes.append(Note("scale", f"all numbers were divided by {size:.4g}, their root mean square"))
    return values / size


def _in_memory(numbers: Table) -> Floats:
    """Read a table that is not in memory: the training draws rows in an order that blocks cannot follow."""
    needed = COPIES * 8 * numbers.n_rows * numbers.n_variables
    if numbers.memory is not None and needed > numbers.memory:
        raise DataError(
            f"DAG-GNN needs all rows in memory: about {needed / 1e6:,.0f} MB, but only "
            f"{numbers.memory / 1e6:,.0f} MB are allowed; allow more with ",
            Use("memory", ...),
            ", or use another learner",
        )
    return numbers.all_numbers()
