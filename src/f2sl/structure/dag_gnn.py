"""DAG-GNN, structure by a graph neural network (Yu, Chen, Gao and Yu 2019); needs PyTorch (extra ``deep``).

An autoencoder is trained whose encoder and decoder have a matrix of weights between the variables, under a
constraint by which it is the matrix of a DAG (the formulas are in :mod:`f2sl.search.deep.dag_gnn`). The
weights that are far from 0 are the edges.

States are taken for numbers, their codes. The paper has another way for them as well, a number for each state
and a distribution over the states from the decoder. In first measurements it was worse, and it was left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from f2sl import _options
from f2sl._deadline import Deadline
from f2sl._progress import stage
from f2sl.errors import DataError, Interrupted, OptionError
from f2sl.graph import DAG
from f2sl.structure.by_weights import ByWeights, Matrix
from f2sl.table import Table

COPIES = 4
"""How often the numbers are in memory at a time, at most."""

LEAST_SIZE, MOST_SIZE = 0.1, 1000.0
"""Between these the root mean square of all numbers does not matter to the training."""


class DAGGNN(ByWeights):
    """Learn a DAG by a graph neural network.

    Parameters
    ----------
    hidden : int
        Hidden units of the encoder's and of the decoder's network.
    epochs : int
        How many times all rows are gone through between two changes of the penalty on cycles. With
        thousands of rows a tenth of the default does as well.
    batch_size : int
        Rows for each step of the training.
    learning_rate : float
        Of the optimiser (Adam); it is divided by the decimal logarithm of the penalty as that grows.
    tau : float
        Weight of the sum of all absolute weights: with more, fewer edges.
    graph_threshold : float
        Weights below this, without their sign, are no edges.
    h_tol : float
        The training ends when the measure of cycles is down to this.
    max_iter : int
        How many times the multiplier of the constraint is changed at most.
    seed : int
        Of the first parameters and of the batches. The same seed gives the same graph.
    standardize : bool
        Whether to divide each column by its standard deviation. Without, a variable that varies more is
        more likely to come out as an effect.
    time_limit : float, optional
        Seconds after which to end with the weights of that moment.
    kind, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_ : DAG
        The graph learned; the weights of its edges are those of the matrix.
    weights_ : ndarray of shape (n_features_in_, n_features_in_)
        ``weights_[i, j]`` is the weight of the edge from column i to column j, below the threshold, too.
    threshold_ : float
        `graph_threshold`, or more where that left a cycle, and `notes_` say so.
    h_ : float
        The measure of cycles at the end: 0 for a DAG.
    loss_ : float
        The negative evidence lower bound at the end, without constants: the mean over the rows.
    n_steps_ : int
        Steps that the optimiser made.
    complete_ : bool
        False if a time limit or Ctrl-C ended the training.
    notes_, timings_
        As in :class:`F2SLc`.

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

    h_: float
    loss_: float
    n_steps_: int

    def __init__(
        self,
        *,
        hidden: int = 64,
        epochs: int = 300,
        batch_size: int = 100,
        learning_rate: float = 0.003,
        tau: float = 0.0,
        graph_threshold: float = 0.3,
        h_tol: float = 1e-8,
        max_iter: int = 100,
        seed: int = 0,
        standardize: bool = False,
        time_limit: float | None = None,
        kind: str = "auto",
        bins: int | Mapping[str, int] | None = None,
        binning: str = "quantile",
        missing: str = "error",
        engine: str = "auto",
        memory: int | str | None = None,
        scheduler: object = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.tau = tau
        self.graph_threshold = graph_threshold
        self.h_tol = h_tol
        self.max_iter = max_iter
        self.seed = seed
        self.standardize = standardize
        self.time_limit = time_limit
        self.kind = kind
        self.bins = bins
        self.binning = binning
        self.missing = missing
        self.engine = engine
        self.memory = memory
        self.scheduler = scheduler
        self.verbose = verbose

    def check_options(self) -> None:
        """Refuse options that make no sense, and to go on without PyTorch."""
        for name in ("hidden", "epochs", "batch_size", "max_iter"):
            _options.whole(name, getattr(self, name), least=1)
        _options.positive("learning_rate", self.learning_rate, least=1e-9, most=1e9)
        _options.not_negative("tau", self.tau)
        _options.not_negative("graph_threshold", self.graph_threshold)
        # The measure of cycles is the difference of two numbers as large as there are variables.
        _options.positive("h_tol", self.h_tol, least=1e-12, most=0.5)
        _options.whole("seed", self.seed)
        _options.flag("standardize", self.standardize)
        if self.time_limit is not None:
            _options.positive("time_limit", self.time_limit, least=1e-3, most=1e9)
        try:
            import torch  # noqa: F401
        except ImportError as error:
            raise OptionError(
                f'DAG-GNN needs PyTorch, which cannot be imported ({error}): pip install "f2sl[deep]"'
            ) from None

    def _open(self, table: Table) -> AbstractContextManager[Matrix]:
        """Give the numbers, each variable with a mean of 0, the rows in an order of their own.

        Sums then come out the same to the last bit, whichever order the rows came in.
        """
        numbers = self._as_numbers(table)
        with super()._open(self._varying(numbers)):
            pass  # correlations tell of copies, and are not needed otherwise
        values = _in_memory(numbers)
        values = values[:, np.lexsort(values)]
        centred = values - values.mean(axis=1, keepdims=True)
        if self.standardize:
            deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
            centred /= np.where(deviation > 0, deviation, 1.0)
        return nullcontext(centred)

    def _learn(self, engine: Matrix, names: tuple[str, ...]) -> DAG:
        from f2sl.search.deep.dag_gnn import Settings, train

        deadline = Deadline(self.time_limit)
        settings = Settings(**{name: getattr(self, name) for name in Settings.__dataclass_fields__})
        # A variable that is always the same explains nothing and needs no explanation.
        varying = np.flatnonzero(engine.any(axis=1))
        weights = np.zeros((len(names), len(names)))
        self.h_, self.loss_, self.n_steps_ = 0.0, 0.0, 0
        interrupted = False
        if len(varying) > 1:
            with self._timed("training"), stage("training the autoencoder") as advance:
                trained = train(self._scaled(engine[varying]), settings, deadline, advance)
            weights[np.ix_(varying, varying)] = trained.weights
            self.h_, self.loss_, self.n_steps_ = trained.h, trained.loss, trained.n_steps
            self.complete_ = not (trained.out_of_time or trained.interrupted)
            interrupted = trained.interrupted
        self._tell_of_the_end(interrupted)
        graph = self._graph_of(weights, self.graph_threshold, names)
        if interrupted:
            raise Interrupted(graph)
        return graph

    def _scaled(self, values: Matrix) -> Matrix:
        """Bring the numbers, all by one factor, to a size that the network can begin with."""
        size = float(np.sqrt((values**2).mean()))
        if LEAST_SIZE <= size <= MOST_SIZE:
            return values
        self.notes_.append(f"all numbers were divided by {size:.4g}, their root mean square")
        return values / size

    def _tell_of_the_end(self, interrupted: bool) -> None:
        """Add a note where the training ended before the weights were those of a DAG."""
        how_far = f"the measure of cycles was {self.h_:.3g} then, and was to fall to {self.h_tol:g}"
        if interrupted:
            self.notes_.append(f"incomplete: interrupted; {how_far}")
        elif not self.complete_:
            self.notes_.append(f"incomplete: the time limit of {self.time_limit:g} s was reached; {how_far}")
        elif self.h_ > self.h_tol:
            self.notes_.append(
                f"the training ended without convergence: the measure of cycles is {self.h_:.3g} and was "
                f"to fall to {self.h_tol:g}; more epochs or a larger max_iter may help"
            )


def _in_memory(numbers: Table) -> Matrix:
    """Read a table that is elsewhere: the training takes its rows in no order that blocks could have."""
    needed = COPIES * 8 * numbers.n_rows * numbers.n_variables
    if numbers.memory is not None and needed > numbers.memory:
        raise DataError(
            f"DAG-GNN needs all rows in memory: about {needed / 1e6:,.0f} MB, and "
            f"{numbers.memory / 1e6:,.0f} MB are allowed; allow more with memory= (on the command line "
            "--memory), or take another learner"
        )
    return numbers.all_numbers()
