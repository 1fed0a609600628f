"""Search for the DAG with the best score among orders; parents are grown and shrunk on demand.

Given an order, the parents of a variable are found among those before it by adding the one that raises the
score most until none does, then dropping the one whose loss raises it most, and so on until neither gains. A
move takes one variable out of the order and inserts it where the score is best (BOSS: Andrews, Ramsey,
Sanchez-Romero, Camchong and Kummerfeld 2023). While it passes the others one by one, the parents of both that
change places are grown and shrunk from what they were before, and mostly they stay (FLOP: Wienöbst, Henckel
and Weichwald 2025). Moves are made until none gains. Then some variables are moved at random, moves are made
again, and the result is undone if it is worse (*iterated local search*).

There are two ways to do it, with the same moves:

========================  ===========================================================================
:mod:`.numbers`           Gaussian scores, from one matrix of correlations, compiled
:mod:`.families`          any score of families, asked in batches and remembered
========================  ===========================================================================

Of a mixed table, arrows are dropped in the end that a model of all interactions refutes (:mod:`.refuted`).

No set of parents is scored before it is needed, and none is too large: unlike
:mod:`f2sl.search.orders`, which chooses among sets that were scored beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from f2sl._arrays import Floats, Integers
from f2sl._deadline import Deadline, limited
from f2sl.constraints import Constraints
from f2sl.data.engines import Engine
from f2sl.stats.scores.base import Score

if TYPE_CHECKING:
    from f2sl.data.available import AvailableMoments
    from f2sl.data.mixed.engine import MixedEngine
    from f2sl.data.moments import Moments
    from f2sl.stats.scores.gaussian import GaussianScore

LEAST_GAIN = 1e-7
"""A score that is higher by less does not count as higher."""
EFFORTS = {"fast": 0.2, "normal": 1.0, "thorough": 10.0}
"""Perturbations of the order, in multiples of those with normal effort."""


class Perturbations(NamedTuple):
    """Numbers of random moves in a perturbation of the order, and of perturbations with normal effort.

    Parameters
    ----------
    moves : int
        Random moves in one perturbation.
    each, least : int
        Perturbations for each variable, and at least in all.
    most : int
        Most perturbations, times the number of variables: the time that one takes grows with it.
    """

    moves: int
    each: int
    least: int
    most: int


OF_NUMBERS, OF_FAMILIES = Perturbations(5, 2, 60, 500_000), Perturbations(10, 1, 0, 250_000)
"""Many small perturbations find better orders in the same time than few large ones. This was chosen for
numbers, on other networks than those of docs/evidence/gaussian.md. Families of discrete variables are slower
to score."""


class Found(NamedTuple):
    """Best DAG found: its arrows as rows (from, to), by child and then parent, and whether time sufficed."""

    arrows: Integers
    complete: bool


class Grown(NamedTuple):
    """Result with its score, the loss of score without each arrow, and the number of families scored."""

    arrows: Integers
    complete: bool
    score: float
    losses: Floats
    n_families: int


def stages(effort: str, n: int, how: Perturbations) -> list[int]:
    """Return how often to disturb the order of n variables before each of the climbs over all variables.

    More effort begins with the stages of less, and later stages never lower the score: so that its result is
    never worse.

    Examples
    --------
    >>> [stages(effort, 100, OF_NUMBERS) for effort in ("fast", "normal", "thorough")]
    [[40], [40, 160], [40, 160, 1800]]
    """
    base = min(max(how.each * n, how.least), how.most // n) if n else 0
    totals = [round(base * share) for share in EFFORTS.values()][: list(EFFORTS).index(effort) + 1]
    return [total - before for total, before in zip(totals, [0, *totals], strict=False)]


def is_gaussian(engine: Engine, score: Score) -> bool:
    """Return whether the score follows from one matrix.

    That is a Gaussian score of numbers, with missing values BIC alone, or the degenerate Gaussian of a mixed
    table.
    """
    from f2sl.stats.scores.gaussian import GaussianBIC, GaussianScore

    moments = engine.moments
    if moments is None:
        return False
    if engine.counts is not None:
        from f2sl.stats.scores.mixed import DegenerateGaussianBIC

        return isinstance(score, DegenerateGaussianBIC)
    return isinstance(score, GaussianBIC if moments.any_missing else GaussianScore)


def search_growing(
    engine: Engine,
    score: Score,
    orders: Sequence[Integers],
    *,
    edge_cost: float,
    effort: str = "normal",
    random_state: int = 0,
    max_parents: int | None = None,
    constraints: Constraints | None = None,
    deadline: Deadline | None = None,
) -> Grown:
    """Climb from each of `orders`, and improve the best local optimum by iterated local search.

    Parameters
    ----------
    engine : Engine
        The data.
    score : Score
        Score to maximise.
    orders : sequence of (n,) int64
        Orders to start from; each lists all variables once.
    edge_cost : float
        Penalty on the score for each edge.
    effort : {"fast", "normal", "thorough"}
        Number of perturbations of the order.
    random_state : int
        Random seed of the moves.
    max_parents : int, optional
        Most parents of a variable.
    constraints : Constraints, optional
        Forbidden and required edges.
    deadline : Deadline, optional
        When to end with what was found.
    """
    from f2sl.search.growing.families import search_families
    from f2sl.search.growing.numbers import of_blocks, of_numbers, search_numbers

    n = engine.n_variables
    bound = score.bind(engine)
    gaussian = is_gaussian(engine, score)
    how = OF_NUMBERS if gaussian else OF_FAMILIES
    rules = constraints or Constraints.none(n)
    options: dict[str, Any] = {
        "perturbations": stages(effort, n, how),
        "moves": how.moves,
        "random_state": random_state,
        "constraints": rules,
        "deadline": deadline,
    }
    if gaussian and (engine.counts is not None or cast("Moments", engine.moments).any_missing):
        known = cast("MixedEngine | AvailableMoments", engine)
        with limited(deadline):  # EM ends early, with a matrix to search on
            problem = of_blocks(known, edge_cost, max_parents, rules)
        found = search_numbers(problem, orders, **options)
        if found.complete and engine.counts is not None:
            from f2sl.search.growing.refuted import without_refuted

            found = Found(without_refuted(cast("MixedEngine", engine), found.arrows, rules), True)
    elif gaussian:
        of_table = cast("GaussianScore", score), cast("Moments", engine.moments)
        found = search_numbers(of_numbers(*of_table, edge_cost, max_parents, rules), orders, **options)
    else:
        found = search_families(bound, orders, edge_cost=edge_cost, max_parents=max_parents, **options)
    arrows, complete = found
    parents: list[list[int]] = [[] for _ in range(n)]
    for u, v in arrows.tolist():
        parents[v].append(u)
    families = [(v, tuple(own)) for v, own in enumerate(parents)]
    values = bound.score(families)
    # What the score loses without each arrow, which comes in the order of the families.
    less = [(v, tuple([w for w in own if w != u])) for v, own in families for u in own]
    losses = values[arrows[:, 1]] - bound.score(less) - edge_cost
    total = math.fsum(values) - edge_cost * len(arrows)
    return Grown(arrows, complete, total, losses, bound.n_families)
