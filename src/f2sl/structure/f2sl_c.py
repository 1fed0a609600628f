"""F2SL-c: feature selection, then directions from independence tests (Algorithm 2 of the F2SL paper)."""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.structure.local_to_global import LocalToGlobal


class F2SLc(LocalToGlobal):
    """Learn a partially directed graph: FCBF, symmetry, FindVstructure, Meek's rules.

    Parameters
    ----------
    delta : float or "auto"
        Pairs whose symmetrical uncertainty (of real numbers: squared correlation) is at or below it are taken
        for unrelated. With "auto" those that are not significant: by the G2 test (Fisher's z), at a false
        discovery rate of 0.05 among all pairs.
    alpha : float
        Level of significance of the independence tests.
    max_cond_vars : int
        Largest set of neighbours that a separating set is looked for in.
    symmetry : {"and", "or"}
        Whether an edge needs both its ends to name each other, or one.
    ties : {"drop", "keep"}
        Whether FCBF drops a variable that is exactly as close to a stronger one as to the target:
        yes (Yu and Liu 2004), or no (the F2SL paper's strict >).
    measure : {"auto", "su", "mi", "r2", "correlation"}
        Symmetrical uncertainty or raw mutual information in nats of states; the squared or the absolute
        correlation or mutual information of real numbers. By default SU and the squared correlation.
    ci_test : {"auto", "g2", "x2", "fisher-z"}
        The statistic of the independence tests; by default G2 of states, and Fisher's z of real numbers.
    skeleton_only : bool
        Whether to end with the skeleton: `graph_` is undirected then.
    kind : {"auto", "discrete", "gaussian"}
        What the table holds: states, or real numbers that are taken for jointly Gaussian; by default what its
        columns look like.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.
    bins, binning, missing
        How to read real numbers and missing values: see :func:`f2sl.open_table`.
    engine : {"auto", "memory", "stream", "dask"}
        Where the table is held: in memory, on disk in blocks of rows that are counted one after another, or
        by the workers of a Dask cluster, who read files themselves. By default in memory, unless it comes
        from files and would take more than `memory`. The result does not depend on it.
    memory : int or str, optional
        How much memory the table and learning from it may take, such as ``"256MB"``; by default half of what
        is free. In memory it only decides what "auto" means.
    scheduler : str or dask.distributed.Client, optional
        With ``engine="dask"``: the address of a scheduler, such as ``"tcp://host:8786"``, or a client.
        Without it, processes on this machine are started for the time of the work, one for each of `n_jobs`.
    verbose : bool
        Show progress on the terminal.

    Attributes
    ----------
    graph_ : PDAG
        The graph learned; ``graph_.to_dag()`` orients the rest.
    skeleton_, pc_
        What the first two steps found.
    notes_ : list of str
        What a user should know: rows dropped, columns cut into intervals, constant columns, identifiers.
    timings_ : dict of str to float
        Seconds for each stage, and in all.
    separating_sets_ : mapping of (str, str) to tuple of str
        What was found to make two unlinked variables independent; names of a pair in ascending order.
    v_structures_ : list of (str, str, str)
        The triples (A, C, D) found to be A -> C <- D.
    n_tests_, n_unreliable_ : int
        Independence tests asked for, and how many of them could not answer.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    pc = "fcbf"
    orient = "ci"
    shared_options = ("delta", "ties", "measure")

    def __init__(
        self,
        *,
        delta: float | str = 0.05,
        alpha: float = 0.01,
        max_cond_vars: int | None = 3,
        symmetry: str = "and",
        ties: str = "drop",
        measure: str = "auto",
        ci_test: str = "auto",
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
        self.alpha = alpha
        self.max_cond_vars = max_cond_vars
        self.symmetry = symmetry
        self.ties = ties
        self.measure = measure
        self.ci_test = ci_test
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
