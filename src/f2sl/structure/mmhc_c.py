"""MMHC-c: the skeleton of MMHC, directions from independence tests (section 6.1 of the F2SL paper)."""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.structure.local_to_global import LocalToGlobal


class MMHCc(LocalToGlobal):
    """Learn a partially directed graph: MMPC, symmetry, FindVstructure, Meek's rules.

    Parameters
    ----------
    alpha, max_cond_vars, ci_test
        Of the independence tests, in MMPC as in FindVstructure.
    symmetry : {"and", "or"}
        Whether an edge needs both its ends to name each other, or one.
    skeleton_only, kind, n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_, skeleton_, pc_, separating_sets_, v_structures_, n_tests_, n_unreliable_
        As in :class:`F2SLc`.

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.MMHCc().fit(f2sl.load_example("asia")).graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    pc = "mmpc"
    orient = "ci"

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        max_cond_vars: int | None = 3,
        ci_test: str = "auto",
        symmetry: str = "and",
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
