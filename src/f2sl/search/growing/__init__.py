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

No set of parents is scored before it is needed, and none is too large: unlike
:mod:`f2sl.search.orders`, which chooses among sets that were scored beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from f2sl._arrays import Integers
from f2sl.stats.scores.base import FamilyScores

MOVES_IN_A_KICK = 10
"""Random moves in one disturbance."""
LEAST_GAIN = 1e-7
"""A score that is higher by less does not count as higher."""
MOST_PASSES = 250_000
"""Disturbances times variables, with normal effort: the time that one takes grows with the variables."""
EFFORTS = {"fast": 0.2, "normal": 1.0, "thorough": 10.0}
"""How often the order is disturbed, in multiples of the number of variables."""


@dataclass(frozen=True)
class Grown:
    """Best DAG found: its arrows as rows (from, to), ascending by child, and whether all was done in time."""

    arrows: Integers
    complete: bool


def stages(effort: str, n: int) -> list[int]:
    """Return how often to disturb the order of n variables before each of the climbs over all variables.

    More effort begins with the stages of less, and later stages never lower the score: so that its result is
    never worse.

    Examples
    --------
    >>> stages("fast", 100), stages("thorough", 100), stages("normal", 1000)
    ([20], [20, 80, 900], [50, 200])
    """
    base = min(n, MOST_PASSES // n) if n else 0
    totals = [round(base * share) for share in EFFORTS.values()][: list(EFFORTS).index(effort) + 1]
    return [total - before for total, before in zip(totals, [0, *totals], strict=False)]


def score_of(score: FamilyScores, arrows: Integers, n: int, edge_cost: float) -> float:
    """Return the score of a DAG, what its edges cost taken off: the same bits however it was found."""
    parents: list[list[int]] = [[] for _ in range(n)]
    for u, v in arrows.tolist():
        parents[v].append(u)
    families = [(v, tuple(sorted(own))) for v, own in enumerate(parents)]
    return math.fsum(score.score(families)) - edge_cost * len(arrows)
