"""Directions from a score: hill climbing over the edges of a skeleton."""

from __future__ import annotations

from f2sl._arrays import Integers
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.graph import DAG
from f2sl.learners.skeleton import Skeleton
from f2sl.search.hill_climbing import Climbed, Families, hill_climb


def orient_by_score(
    skeleton: Skeleton,
    names: tuple[str, ...],
    score: Families,
    *,
    edge_log_prior: float,
    tabu_length: int,
    max_stall: int,
    start: Integers | None = None,
    constraints: Constraints | None = None,
) -> tuple[DAG, Climbed]:
    """Find the best DAG within a skeleton by hill climbing; return it, with strengths, and the climb.

    Variables are numbered in the order of `names`, which are sorted.
    """
    # The first climb adds most edges of the skeleton one by one; later climbs are short.
    share = 1.0 / (len(skeleton.edges) + max_stall + 1)
    with stage("hill climbing") as advance:
        climbed = hill_climb(
            score,
            skeleton.n,
            skeleton.edges,
            edge_log_prior=edge_log_prior,
            tabu_length=tabu_length,
            max_stall=max_stall,
            start=start,
            constraints=constraints,
            on_step=lambda step, value: advance(share),
        )
    return weighted_dag(skeleton, names, climbed.arrows), climbed


def weighted_dag(skeleton: Skeleton, names: tuple[str, ...], arrows: Integers) -> DAG:
    """Return a DAG of arrows among a skeleton's edges, with the skeleton's strengths."""
    weights = skeleton.strengths[skeleton.positions(*arrows.T)]
    return DAG.from_arrays(names, arrows, weights_directed=weights)
