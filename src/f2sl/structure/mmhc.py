"""MMHC, max-min hill climbing (Tsamardinos, Brown and Aliferis 2006)."""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.structure.local_to_global import LocalToGlobal


class MMHC(LocalToGlobal):
    """Learn a DAG: MMPC, symmetry, then hill climbing on a score over the edges of the skeleton.

    Parameters
    ----------
    alpha, max_cond_vars, ci_test
        Of the independence tests that MMPC makes.
    symmetry : {"and", "or"}
        Whether an edge needs both its ends to name each other, or one.
    score, equivalent_sample_size, tabu_length, max_stall
        Of hill climbing, as in :class:`F2SLs`.
    skeleton_only, kind, n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_, skeleton_, pc_, score_, n_steps_, n_families_
        As in :class:`F2SLs`.
    separating_sets_, n_tests_, n_unreliable_
        Of MMPC.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.MMHC().fit(f2sl.load_example("asia")).graph_.is_dag()
    True
    """

    pc = "mmpc"
    orient = "score"

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        max_cond_vars: int | None = 3,
        ci_test: str = "auto",
        symmetry: str = "and",
        score: str = "auto",
        equivalent_sample_size: float = 10.0,
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
        self.alpha = alpha
        self.max_cond_vars = max_cond_vars
        self.ci_test = ci_test
        self.symmetry = symmetry
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
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
