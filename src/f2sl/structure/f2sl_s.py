"""F2SL-s: feature selection, then directions from a score (Algorithm 1 of the F2SL paper)."""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.structure.local_to_global import LocalToGlobal


class F2SLs(LocalToGlobal):
    """Learn a DAG: FCBF, symmetry, then hill climbing on a score over the edges of the skeleton.

    Parameters
    ----------
    delta, symmetry, ties, measure
        As in :class:`F2SLc`.
    score : {"auto", "bdeu", "k2", "bic", "aic", "bge", "bic-g"}
        What is climbed: BDeu, K2, BIC or AIC of states, BGe or the Gaussian BIC of real numbers; by default
        BDeu and BGe.
    equivalent_sample_size : float
        The weight of BDeu's prior. With BDeu each edge also costs log(equivalent_sample_size + 1), the
        structure prior of the paper.
    tabu_length : int
        How many of the last graphs the search may not return to.
    max_stall : int
        Steps without a new best after which the search ends.
    skeleton_only, kind, n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_ : DAG
        The best graph found. An edge of the skeleton may be missing in it.
    skeleton_, pc_
        What the first two steps found.
    notes_ : list of str
        What a user should know: rows dropped, columns cut into intervals, constant columns, identifiers.
    timings_ : dict of str to float
        Seconds for each stage, and in all.
    score_ : float
        The log score of `graph_`, structure prior included.
    n_steps_, n_families_ : int
        Steps of the climb, and families scored on the way.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLs().fit(f2sl.load_example("asia"))
    >>> model.graph_.is_dag()
    True
    """

    pc = "fcbf"
    orient = "score"
    shared_options = ("delta", "ties", "measure")

    def __init__(
        self,
        *,
        delta: float | str = 0.05,
        score: str = "auto",
        equivalent_sample_size: float = 10.0,
        symmetry: str = "and",
        ties: str = "drop",
        measure: str = "auto",
        tabu_length: int = 100,
        max_stall: int = 15,
        skeleton_only: bool = False,
        kind: str = "auto",
        n_jobs: int | None = None,
        bins: int | Mapping[str, int] | None = None,
        binning: str = "quantile",
        missing: str = "error",
        engine: str = "auto",
        memory: int | str | None = None,
        scheduler: object = None,
        verbose: bool = False,
    ) -> None:
        self.delta = delta
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.symmetry = symmetry
        self.ties = ties
        self.measure = measure
        self.tabu_length = tabu_length
        self.max_stall = max_stall
        self.skeleton_only = skeleton_only
        self.kind = kind
        self.n_jobs = n_jobs
        self.bins = bins
        self.binning = binning
        self.missing = missing
        self.engine = engine
        self.memory = memory
        self.scheduler = scheduler
        self.verbose = verbose
