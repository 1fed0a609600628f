"""What all learners of whole structures share.

A learner follows scikit-learn's conventions: options in the constructor, which only stores
them; `fit` checks them and the data once, learns, and returns the learner; what was learned ends in
an underscore.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from f2sl import _options
from f2sl._estimator import Estimator
from f2sl._progress import showing, stage
from f2sl._registry import Registry
from f2sl._threads import resolve_jobs
from f2sl.errors import F2SLWarning, Interrupted, OptionError, unknown_name
from f2sl.graph import PDAG
from f2sl.reading.open import opened
from f2sl.stats.choose import settle
from f2sl.storage.engine import open_engine
from f2sl.storage.moments import Moments
from f2sl.table import NUMBER, STATES, Table
from f2sl.table.column import HOLDS
from f2sl.table.names import listing
from f2sl.table.notes import remarks, warn_of_identifiers

STRUCTURE = Registry("algorithm")
STRUCTURE.add(
    "f2sl-c",
    "f2sl.structure.f2sl_c:F2SLc",
    "FCBF for each variable's neighbours, v-structures by independence tests, Meek's rules",
    "Yu et al., Algorithm 2",
)
STRUCTURE.add(
    "f2sl-s",
    "f2sl.structure.f2sl_s:F2SLs",
    "FCBF for each variable's neighbours, directions by a score (BDeu, BGe) and hill climbing",
    "Yu et al., Algorithm 1",
)
STRUCTURE.add(
    "f2sl-h",
    "f2sl.structure.f2sl_h:F2SLh",
    "confirmed FCBF for each variable's candidates, the DAG with the best score by a search over orders",
    "f2sl",
)
STRUCTURE.add(
    "mmhc",
    "f2sl.structure.mmhc:MMHC",
    "MMPC for each variable's neighbours, directions by a score (BDeu, BGe) and hill climbing",
    "Tsamardinos and others 2006",
)
STRUCTURE.add(
    "mmhc-c",
    "f2sl.structure.mmhc_c:MMHCc",
    "MMPC for each variable's neighbours, v-structures by independence tests, Meek's rules",
    "Yu et al., section 6.1",
)
STRUCTURE.add(
    "gsbn",
    "f2sl.structure.gsbn:GSBN",
    "Markov blankets by growing and shrinking, links and directions from them, Meek's rules",
    "Margaritis and Thrun 2000",
)
STRUCTURE.add(
    "sll+c",
    "f2sl.structure.sll_c:SLLC",
    "Markov blankets by best networks, v-structures from spouses, Meek's rules",
    "Niinimäki and Parviainen 2012",
)
STRUCTURE.add(
    "sll+g",
    "f2sl.structure.sll_g:SLLG",
    "neighbours by best networks, directions by the score and hill climbing",
    "Niinimäki and Parviainen 2012",
)
STRUCTURE.add(
    "ggsl",
    "f2sl.structure.ggsl:GGSL",
    "grows from one variable to all by best networks, conflicts decided by the score, Meek's rules",
    "Gao, Fadnis and Campbell 2017",
)
STRUCTURE.add(
    "tc",
    "f2sl.structure.tc:TC",
    "Markov blankets from the inverse correlation matrix, spouses by collider sets; real numbers",
    "Pellet and Elisseeff 2008",
)
STRUCTURE.add(
    "pc-stable",
    "f2sl.structure.pc_stable:PCStable",
    "edges removed level by level by independence tests, colliders by separating sets, Meek's rules",
    "Colombo and Maathuis 2014",
)
STRUCTURE.add(
    "exact",
    "f2sl.structure.exact_search:ExactSearch",
    "the DAG with the best score of all, for up to about 20 variables",
    "Silander and Myllymaki 2006",
)
STRUCTURE.add(
    "notears",
    "f2sl.structure.notears:NOTEARS",
    "linear equations by least squares, cycles kept out by a smooth constraint",
    "Zheng and others 2018",
)
STRUCTURE.add(
    "dag-gnn",
    "f2sl.structure.dag_gnn:DAGGNN",
    "an autoencoder with a matrix of weights between the variables, trained to be that of a DAG",
    "Yu, Chen, Gao and Yu 2019",
)
STRUCTURE.add(
    "local-to-global",
    "f2sl.structure.local_to_global:LocalToGlobal",
    "any learner of neighbours, either way of orienting",
    "Yu et al., section 5",
)


MANY_UNRELIABLE = 0.5
"""Share of tests that could not answer above which a note says so."""


class StructureLearner(Estimator):
    """Base of all learners: reads the table, opens an engine, keeps the time.

    Attributes
    ----------
    graph_ : PDAG
        What was learned, over the columns' names.
    timings_ : dict of str to float
        Seconds for each stage, and ``"total"``.
    notes_ : list of str
        What a user should know about how the data were read and what could not be decided.
    complete_ : bool
        False if a time limit or Ctrl-C ended the work early: `graph_` is then what was found by that time.
    n_rows_ : int
        Samples learned from.
    feature_names_in_ : ndarray of str
        The columns' names, in their order.
    kind_ : {"discrete", "gaussian"}
        What the table was read as.
    """

    kinds: tuple[str, ...] = ("discrete",)
    """What kinds of tables it takes."""
    kind = "auto"
    """What to read a table as; those that take both have an option for it."""

    # Set by the constructors of the learners themselves.
    n_jobs: int | None
    bins: int | Mapping[str, int] | None
    binning: str
    missing: str
    engine: str
    memory: int | str | None
    scheduler: object
    verbose: bool

    strength_unit = "strength"
    """What the weights of the graph's edges are, in a word."""

    graph_: PDAG
    timings_: dict[str, float]
    notes_: list[str]
    complete_: bool
    kind_: str
    n_rows_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def check_options(self) -> None:
        """Refuse options that make no sense."""
        raise NotImplementedError

    def _learn(self, engine: Any, names: tuple[str, ...]) -> PDAG:
        """Learn from what `_open` gave; its variables are in the order of `names`, which are sorted.

        A learner that can tell what is finished raises :class:`Interrupted` with the graph of it on Ctrl-C.
        """
        raise NotImplementedError

    def fit(self, X: Any, y: object = None, *, names: Sequence[str] | None = None) -> Self:
        """Learn the structure of a table.

        Parameters
        ----------
        X : data frame, array of integers, dict of columns, path or list of paths
            One row for each sample, one column for each variable. A path may be that of a folder of files.
        y : ignored
            Here for scikit-learn's sake.
        names : sequence of str, optional
            Names for the columns of an array that has none.

        Returns
        -------
        self

        Raises
        ------
        Interrupted
            On Ctrl-C, by the learners with a `time_limit`: what was finished is there, as after a time limit.
        """
        self.check_options()
        taken(self.kind, self.kinds, type(self).__name__)
        resolve_jobs(self.n_jobs)
        _options.flag("verbose", self.verbose)
        before = vars(self).copy()
        try:
            return self._fit(X, names)
        except Interrupted:
            raise
        except BaseException:
            # What an earlier fit has learned stays as it was.
            vars(self).clear()
            vars(self).update(before)
            raise

    def _fit(self, X: Any, names: Sequence[str] | None) -> Self:
        for learned in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, learned)  # so that nothing of an earlier fit is left in one that ends early
        self.timings_ = {}
        started = time.perf_counter()
        with _display(self.verbose), ExitStack() as own:
            with self._timed("read"), stage("reading the table"):
                table = self._read(X, names)
                if table is not X:
                    own.enter_context(table)
                ordered = table.in_name_order()
            self.kind_ = kind_of(table)
            self.options_in_use()
            self.n_rows_ = table.n_rows
            self.n_features_in_ = table.n_variables
            self.feature_names_in_ = np.array(table.names, dtype=object)
            with self._timed("prepare"):
                asked = self._open(ordered)
            self.complete_ = True
            interrupt = None
            with asked as engine:
                try:
                    graph = self._learn(engine, ordered.names)
                except Interrupted as error:
                    interrupt, graph = error, error.finished
                    self.complete_ = False
        self.graph_ = graph.reorder(table.names)
        self._tell_of_unreliable_tests()
        self.timings_["total"] = time.perf_counter() - started
        if interrupt is not None:
            raise interrupt
        if not self.complete_:
            told = "; ".join(note for note in self.notes_ if note.startswith("incomplete"))
            warnings.warn(
                told or "incomplete: the time limit ended the work early", F2SLWarning, stacklevel=3
            )
        return self

    def _read(self, X: Any, names: Sequence[str] | None) -> Table:
        """Read the table, as one of the kinds that the learner takes, and begin `notes_`."""
        table = opened(
            X,
            taken(self.kind, self.kinds, type(self).__name__),
            type(self).__name__,
            engine=self.engine,
            memory=self.memory,
            scheduler=self.scheduler,
            n_jobs=self.n_jobs,
            names=names,
            bins=self.bins,
            binning=self.binning,
            missing=self.missing,
        )
        self.notes_ = [*table.notes, *remarks(table)]
        warn_of_identifiers(table, stacklevel=5)
        return table

    def _open(self, table: Any) -> AbstractContextManager[Any]:
        """Open what `_learn` asks for the data that `_read` gave: counts of states, or moments of numbers."""
        engine: AbstractContextManager[Any] = open_engine(table, self.n_jobs)
        if isinstance(engine, Moments):
            self.notes_ += told_copies(engine)
        return engine

    def options_in_use(self) -> dict[str, Any]:
        """Give the options, each "auto" replaced by what it stands for; refuse what is not for the table."""
        return settle(self.get_params(), self.kind_)

    def _tell_of_unreliable_tests(self) -> None:
        """Add a note where most tests could not answer."""
        tests, unreliable = getattr(self, "n_tests_", 0), getattr(self, "n_unreliable_", 0)
        if unreliable > MANY_UNRELIABLE * tests:
            why = "too few rows for so many states"
            if self.kind_ == "gaussian":
                why = "too few rows, or columns that others decide"
            self.notes_.append(
                f"{why}: {unreliable:,} of {tests:,} independence tests could not "
                "answer; what was learned is not to be relied on"
            )

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        """Add the time that a block takes to the stage of that name."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings_[name] = self.timings_.get(name, 0.0) + time.perf_counter() - started

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the learner takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


KINDS = {"auto": "auto", "discrete": STATES, "gaussian": NUMBER}
"""What the values of the option `kind` are called where tables are opened."""


def taken(kind: str, kinds: tuple[str, ...], learner: str) -> tuple[str, ...]:
    """List the kinds of columns that a learner of some kinds takes, asked for `kind`."""
    if kind not in KINDS:
        raise OptionError(unknown_name("kind of table, kind =", kind, KINDS))
    if kind != "auto" and kind not in kinds:
        raise OptionError(f'kind="{kind}": {learner} learns from {HOLDS[KINDS[kinds[0]]]} alone')
    return tuple(KINDS[one] for one in (kinds if kind == "auto" else [kind]))


def kind_of(table: Table) -> str:
    """Say what learners call the kind of a table's columns; one with both is refused."""
    return "gaussian" if table.one_kind() == NUMBER else "discrete"


def told_copies(moments: Moments) -> list[str]:
    """Tell which columns of real numbers are the same but for place and scale, if any."""
    names = moments.names
    pairs = [f"{names[a]!r} and {names[b]!r}" for a, b in moments.copies().tolist()]
    if not pairs:
        return []
    same = "the same but for place and scale, so that each hides what the other tells (better left out): "
    return [same + listing(pairs)]


@contextmanager
def _display(verbose: bool) -> Iterator[None]:
    """Show progress on the terminal where that is asked for."""
    if not verbose:
        with nullcontext():
            yield
        return
    from f2sl._rich import RichDisplay

    display = RichDisplay()
    try:
        with showing(display):
            yield
    finally:
        display.close()
