"""Arrows of the degenerate Gaussian that the full model of their family refutes.

With the score "dg-bic" the effects of a child's parents add up. Where they do not, as in most tables of
probabilities, what the sum misses looks like a direct effect of any variable that is related to the parents:
the more rows, the more such arrows. In a family of discrete variables alone, or with a number as the child, a
test knows better: "cg" has a distribution for each configuration of the states
(:mod:`f2sl.stats.tests.mixed`), and for states alone it is G2.

Given the other parents, let e be by how much the statistic of "cg" exceeds its degrees of freedom d. Without
the arrow it is 0 in the mean, with a variance of 2 d. If the arrow is what the degenerate Gaussian says it
is, the mean is about h, the excess of the statistic of "dg", and the variance 2 (d + 2 h), as that of
chi-squared distributions. The arrow is dropped if e is below h by `DEVIATIONS` standard deviations, below a
`SHARE` of h, and below d (log N - 1), so that BIC of the full model is better without the arrow. So weak
arrows into large families, of which the tables say nothing, stay, and with enough rows all true ones do.

Which end of an edge is the child decides what it is tested given, and equivalent DAGs differ in that. So one
member of the class is taken that depends on the data alone, not on names (`_canonical`). The check of
directions (:mod:`f2sl.learners.stability`) drops no arrows in its replicates, since that needs an engine for
each and takes one to two times as long as the search: an arrow too many there hides colliders, so that fewer
directions are called decided, not more.

Strong relations have no finite "dg" statistic - N log(1 - r^2), while that of "cg" cannot exceed the
entropies. So h is of N r^2, which is smaller.

The constants were chosen on random networks of 50 variables, a quarter and half of them numbers, on sachs,
water, hepar2 and win95pts with half of the variables observed as continuous, and on the networks of shifts
and logits of benchmarks/mixed.py; data sets 101 to 104, 500 to 10,000 rows (docs/evidence/mixed.md).
"""

from __future__ import annotations

import math

import numpy as np

from f2sl._arrays import Integers
from f2sl.constraints import Constraints
from f2sl.data.mixed.engine import MixedEngine
from f2sl.stats.tests.mixed import ConditionalGaussian, DegenerateGaussian

DEVIATIONS, SHARE = 2.3, 0.35
"""Distance of the excess of "cg" below what "dg" lets expect: in standard deviations, and its share."""
DIGITS = 9
"""Decimal places that decide which arrow of a family is refuted most."""

Question = tuple[int, int, tuple[int, ...]]
"""A parent, its child and the other parents."""


def without_refuted(data: MixedEngine, arrows: Integers, rules: Constraints) -> Integers:
    """Return the arrows less those that are refuted, one of a family at a time; required ones stay."""
    if data.any_missing:
        return arrows
    parents: dict[int, list[int]] = {}
    for u, v in _canonical(data, arrows, rules).tolist():
        parents.setdefault(v, []).append(u)
    required = {(u, v) for u, v in rules.required.tolist()}
    waiting = [v for v, own in parents.items() if _known(data, v, own)]
    dropped = False
    while waiting:
        questions = [
            (u, v, tuple(w for w in parents[v] if w != u))
            for v in waiting
            for u in parents[v]
            if (u, v) not in required
        ]
        weakest: dict[int, tuple[float, int]] = {}
        for (u, v, _), share in zip(questions, _shares(data, questions), strict=True):
            if share < SHARE:
                weakest[v] = min(weakest.get(v, (share, u)), (share, u))
        for v, (_, u) in weakest.items():
            parents[v].remove(u)
            dropped = True
        waiting = [v for v in weakest if _known(data, v, parents[v])]
    found = [(u, v) for v in sorted(parents) for u in sorted(parents[v])]
    return np.array(found, np.int64).reshape(-1, 2) if dropped else arrows


def _canonical(data: MixedEngine, arrows: Integers, rules: Constraints) -> Integers:
    """Return the arrows of an equivalent DAG that does not depend on the names and the order of columns.

    Edges that may point both ways point to numbers, and else to the variable that correlates more with all
    others together. If the rules do not allow that DAG, the arrows stay as they are.
    """
    from f2sl.graph import DAG, PDAG
    from f2sl.graph.extension import consistent_extension

    owner = np.repeat(np.arange(data.n_variables), np.diff(data.embedded.start))
    related = np.bincount(owner, np.square(data.embedded.correlations).sum(axis=0), data.n_variables)
    order = np.lexsort((np.round(related, DIGITS), data.is_number))
    names = np.array([f"{position:09}" for position in np.argsort(order)])  # free edges point to later names
    cpdag = DAG.from_arrays(names.tolist(), arrows).to_cpdag()
    free = cpdag.undirected_array
    forward, back = rules.allows(*free.T), rules.allows(*free.T[::-1])
    directed = np.concatenate([cpdag.directed_array, free[forward & ~back], free[back & ~forward][:, ::-1]])
    dag = consistent_extension(PDAG.from_arrays(cpdag.nodes, directed, free[forward & back]))
    found = dag.directed_array
    obeys = rules.allows(*found.T).all() and rules.requires(*found.T).sum() == len(rules.required)
    return found if obeys and dag.is_consistent_extension else arrows


def _known(data: MixedEngine, child: int, parents: list[int]) -> bool:
    """Return whether "cg" is the full model of a family, and has at least a row for each configuration."""
    numbers, sizes = data.is_number[[child, *parents]], np.maximum(data.cardinalities[[child, *parents]], 1)
    fits = len(parents) > 1 and float(sizes.prod(dtype=np.float64)) <= data.n_rows
    return fits and bool(numbers[0] or not numbers.any())


def _shares(data: MixedEngine, questions: list[Question]) -> list[float]:
    """Return e / h for each question, infinity if e is not far below h."""
    found = np.full(len(questions), np.inf)
    sizes = np.array([len(given) for _, _, given in questions])
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes == size)
        x, y = np.array([questions[k][:2] for k in own]).T
        given = np.array([questions[k][2] for k in own]).reshape(len(own), size)
        added, of_added = DegenerateGaussian().statistics(data, x, y, given)
        full, freedom = ConditionalGaussian().statistics(data, x, y, given)
        h, e = data.n_rows * -np.expm1(-added / data.n_rows) - of_added, full - freedom
        with np.errstate(invalid="ignore"):  # NaN is not below anything
            far = (h > 0) & (e + DEVIATIONS * np.sqrt(2.0 * (freedom + 2.0 * h)) < h)
            far &= e < freedom * (math.log(data.n_rows) - 1.0)
        found[own[far]] = np.round(e[far] / h[far], DIGITS)
    return [float(share) for share in found]
