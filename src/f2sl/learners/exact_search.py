"""Exact search for the network with the best score (Silander and Myllymaki 2006).

The number of networks grows faster than exponentially, but dynamic programming over the sets of variables
finds the best one in 2^n steps: 20 variables take seconds. `search/exact.py` explains how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._memory import available_bytes
from f2sl._notes import Use
from f2sl._options import option
from f2sl._progress import stage
from f2sl._threads import resolve_jobs
from f2sl.data.engines import CountingEngine
from f2sl.errors import OptionError
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.stats.choose import check_set_score, make_set_scores
from f2sl.stats.scores.base import MOST_MEMBERS, Score

if TYPE_CHECKING:
    from f2sl.stats.scores.sets import SetScores

SIZES = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}
DURATIONS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}


class ExactSearch(StructureLearner):
    """Learn the DAG with the best score of all DAGs.

    If the `time_limit` is reached, the result is the best network made of the parent sets scored so far, and
    `notes_` say so. Assembling it takes some extra time: a second for 20 variables, twice as much for each
    further one.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best networks, which are Markov equivalent and equally good. The weight of an edge is the
        loss in score without it.
    dag_ : DAG
        The best network whose undecided edges point from the earlier name to the later.
    score_ : float
        The log score of `dag_`.
    complete_ : bool
        True if all networks were searched; False if the time limit was reached.
    n_sets_, n_families_ : int
        Sets of variables that were counted, and families scored from them.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.ExactSearch().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.neighbors("smoke"))
    ['bronc', 'lung']
    """

    _takes = ("discrete",)
    strength_unit = "log score"
    _watches_time = True

    score: str | Score = option("score", "bdeu", check=check_set_score)
    equivalent_sample_size: float = option("equivalent_sample_size")
    max_parents: int | None = option("max_parents")
    max_exact: int = option("max_exact")
    force: bool = option("force")
    stability: int | None = option("stability")

    def _learn(self, fit: Fit) -> DAG:
        from f2sl.search.exact import best_networks, count_lattice

        engine: CountingEngine = fit.engine
        # A variable with one state explains nothing and needs no explanation.
        needed = engine.cardinalities > 1
        needed[fit.constraints.required] = True  # but it may be on a path of required edges
        members = np.flatnonzero(needed)
        self._check_size(len(members), engine.n_rows)
        rules = fit.constraints.restrict_to(members)
        scores = make_set_scores(engine, self.score, self.equivalent_sample_size)
        with fit.timed("counting"), stage("counting sets of variables") as advance:
            lattice = count_lattice(scores, members, self.max_parents, fit.deadline, advance, rules)
        with fit.timed("search"), stage("finding the best network"):
            best = best_networks(lattice.values[None], self.max_parents, rules)
            arrows = _arrows(best.parents[0], members)
            graph = DAG.from_arrays(fit.names, arrows)
            if not rules:  # of equivalent networks take the one by names; some may break constraints
                graph = graph.to_cpdag().to_dag()
            strengths = _strengths(scores, members, graph.directed_array)
        self.score_ = float(best.scores[0]) * scores.unit
        self.n_sets_, self.n_families_ = scores.n_sets, lattice.n_families
        graph = DAG.from_arrays(fit.names, graph.directed_array, weights_directed=strengths)
        if not lattice.complete:
            fit.deadline.stop(
                f"no network with at most {lattice.max_parents} parents for each variable is better, "
                "but one with more may be",
                lattice.interrupted,
            )
        return graph

    def _check_size(self, k: int, n_rows: int) -> None:
        """Raise an error for a search with too many variables, or that needs too much memory."""
        from f2sl.search.exact import bytes_needed, seconds_needed

        advice = "leave out columns, or use a learner that does not search all networks, such as f2sl-s"
        if k > MOST_MEMBERS:
            raise OptionError(f"an exact search of {k} variables would never end; {advice}")
        seconds = seconds_needed(k, n_rows, resolve_jobs(self.n_jobs), self.max_parents)
        memory, duration = _told(bytes_needed(k), SIZES), _told(seconds, DURATIONS)
        cost = f"an exact search of {k} variables takes about {memory} of memory and {duration}"
        if k > self.max_exact and not self.force:
            message = f" is {self.max_exact}: {cost}; {advice}, or insist with "
            raise OptionError(Use("max_exact"), message, Use("force", True))
        available = available_bytes()
        if available is not None and bytes_needed(k) > available:
            raise OptionError(f"{cost}, but only {_told(available, SIZES)} are free; {advice}")


def _arrows(parents: Integers, members: Integers) -> Integers:
    """Turn masks of parents into rows (from, to)."""
    pairs = [
        (members[u], members[v])
        for v in range(len(members))
        for u in range(len(members))
        if parents[v] >> u & 1
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _strengths(scores: SetScores, members: Integers, arrows: Integers) -> Floats:
    """Return the loss in score without each of the arrows."""
    position = {int(v): i for i, v in enumerate(members)}
    ends = [(1 << position[u], 1 << position[v]) for u, v in arrows.tolist()]
    into: dict[int, int] = {}
    for u, v in ends:
        into[v] = into.get(v, 0) | u
    masks = np.array(
        [(into[v] | v, into[v], (into[v] | v) ^ u, into[v] ^ u) for u, v in ends], np.int64
    ).reshape(-1, 4)
    with_both, with_u, with_v, rest = scores.subsets(members, masks.ravel())[0].reshape(-1, 4).T
    return np.asarray((with_both - with_u - (with_v - rest)) * scores.unit)


def _told(value: float, units: dict[str, float]) -> str:
    """Format a quantity in the largest suitable unit.

    Examples
    --------
    >>> _told(5400, DURATIONS), _told(250e9, SIZES)
    ('1.5 hours', '250 GB')
    """
    unit = next((unit for unit, size in units.items() if value >= size), list(units)[-1])
    value /= units[unit]
    return f"{value:.2g} {unit}" if value < 10 else f"{value:,.0f} {unit}"
