"""Find the significantly related pairs, corrected for the number of all pairs.

Among m = n (n - 1) / 2 pairs of independent variables, a test at level 0.05 finds about m / 20 related. There
are two corrections of the level:

================  =====================================================================================
"fdr"             Benjamini and Hochberg 1995: with the p-values in ascending order, all up to the last
                  with p_k <= level k / m. Of the pairs found, on average a share of at most `level` is
                  there by chance
"bonferroni"      p <= level / m: the probability that any pair is there by chance is at most `level`
================  =====================================================================================

The first needs the order of all p-values, which are too many to store. So one pass over all pairs keeps those
up to the level of some rank K, p <= level K / m, and only counts (*tallies*) those up to the levels of the
ranks 4 K, 16 K, ..., m. A p-value between the levels of two ranks A < B can be the last significant one only
if more than A p-values are no larger than it, and the tally of B is an upper bound of their number. If no
tally exceeds the rank before its own, the last significant one is among the kept pairs. Otherwise a second
pass keeps all pairs up to the largest undecided level: many pairs, but most of them related, because there
are several times as many as chance would produce.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.engines import FoundPairs

KEPT_PER_VARIABLE = 50
"""Rank, for each variable, up to which the first pass keeps pairs: this many can be found in one pass, and
chance adds at most `level` times as many."""

FACTOR = 4
"""Ratio of a rank with a tally to the one before."""

MARGIN = 1e-6
"""Share by which critical values are lowered. A few pairs too many are kept, and their p-values decide."""


class SignificantPairs:
    """Search for the significant pairs of an engine's variables.

    It is called like `search_pairs`, without the formula. The correction is always for all pairs, whatever
    part is requested: the first call tests all of them, and later calls select from its result.

    Parameters
    ----------
    engine : CountingEngine or Moments
        Source of the pairs.
    test : object
        Test of independence for its variables. ``formula(levels)`` is a formula for `search_pairs` that keeps
        the pairs with a p-value up to the last of some falling levels, and tallies those up to each; it may
        keep a few more. ``p_values(found)`` are those of the pairs that it kept.
    correction : {"fdr", "bonferroni"}
        Correction for the number of pairs.
    level : float
        Level of significance, or rate of false discoveries.
    values : callable
        Function from the significant pairs, with the test's statistics, to their values.
    rules : Constraints, optional
        Significant pairs that these forbid are left out.
    """

    def __init__(
        self,
        engine: Any,
        test: Any,
        correction: str,
        level: float,
        values: Callable[[FoundPairs], Floats],
        rules: Constraints | None = None,
    ) -> None:
        self._engine = engine
        self._test = test
        self._correction = correction
        self._level = level
        self._values = values
        self._rules = rules
        self._found: FoundPairs | None = None

    def __call__(
        self,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Callable[[float], None] | None = None,
    ) -> FoundPairs:
        """Return the significant pairs among `variables` (default: all), or of `target` with each of them."""
        if self._found is None:
            self._found = self._search(advance)
        # `chosen` marks variables, so that a pair is looked up in constant time.
        pairs = self._found
        chosen = np.full(self._engine.n_variables, variables is None)
        if variables is not None:
            chosen[variables] = True
        if target is None:
            return pairs.part(chosen[pairs.first] & chosen[pairs.second])
        is_first, is_second = pairs.first == target, pairs.second == target
        return pairs.part(is_first & chosen[pairs.second] | is_second & chosen[pairs.first])

    def _search(self, advance: Callable[[float], None] | None) -> FoundPairs:
        n = self._engine.n_variables
        n_pairs = max(1, n * (n - 1) // 2)
        # A p-value up to the level of rank 1 is up to the level of its own rank, too. So with rank 1 alone,
        # the rule of Benjamini and Hochberg below keeps all of them: that is Bonferroni's rule.
        ranks = [1] if self._correction == "bonferroni" else falling_ranks(n_pairs, KEPT_PER_VARIABLE * n)
        found, p_values = self._walk(ranks, n_pairs, advance)
        # Ranks fall, so the first one whose tally exceeds the next smaller rank is the largest in doubt.
        tallies = zip(ranks, found.tally, ranks[1:], strict=False)
        in_doubt = next((rank for rank, tally, smaller in tallies if tally > smaller), None)
        if in_doubt is not None:
            with stage("measuring all pairs once more") as advance_again:
                found, p_values = self._walk([in_doubt], n_pairs, advance_again)
        significant = found.part(p_values <= benjamini_hochberg(p_values, n_pairs, self._level))
        significant = significant.allowed_neighbors(self._rules) if self._rules else significant
        return FoundPairs(significant.first, significant.second, self._values(significant))

    def _walk(
        self, ranks: list[int], n_pairs: int, advance: Callable[[float], None] | None
    ) -> tuple[FoundPairs, Floats]:
        """Find the pairs up to the level of the last rank, with p-values; tally those of all ranks."""
        # The formula keeps a few pairs too many (`MARGIN`); the p-values decide.
        levels = self._level * np.array(ranks) / n_pairs
        found = self._engine.search_pairs(self._test.formula(levels), advance=advance)
        p_values = self._test.p_values(found)
        kept = p_values <= levels[-1]
        return found.part(kept), p_values[kept]


def falling_ranks(n_pairs: int, smallest: int) -> list[int]:
    """List the ranks with a tally, from the last of all down to the one up to which pairs are kept.

    Examples
    --------
    >>> falling_ranks(100, 5)
    [100, 80, 20, 5]
    >>> falling_ranks(100, 200)
    [100]
    """
    ranks = [min(smallest, n_pairs)]
    while ranks[-1] < n_pairs:
        ranks.append(min(FACTOR * ranks[-1], n_pairs))
    return ranks[::-1]


def benjamini_hochberg(p_values: Floats, n_tests: int, level: float) -> float:
    """Return the largest significant p-value by the rule of Benjamini and Hochberg, or -1 if none is.

    `p_values` may be the smallest ones of `n_tests` only: ranks are counted from the smallest.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.029, 0.001, 0.028]), 5, 0.05)
    0.029
    >>> benjamini_hochberg(np.array([0.029, 0.001]), 5, 0.05)
    0.001
    """
    # Not all p-values before the last one need be below their own levels: that is the rule's point.
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= level * np.arange(1, len(ordered) + 1) / n_tests)
    return float(ordered[below[-1]]) if len(below) else -1.0
