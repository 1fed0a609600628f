"""Pearson's chi-squared test: X2 is the sum of (observed - expected)^2 / expected over cells and strata."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Floats
from f2sl.data.engines import CountingEngine, Tables
from f2sl.stats.tests import _kernels
from f2sl.stats.tests.base import OnTables, states_of_pairs


class X2(OnTables):
    """Pearson's chi-squared test of states."""

    def formula(self, engine: CountingEngine) -> X2Statistic:
        """Return the formula for statistic and degrees of freedom."""
        return X2Statistic()


@dataclass(frozen=True)
class X2Statistic:
    """Formula for X2 and its degrees of freedom."""

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        k_x, k_y = states_of_pairs(tables)
        statistic, freedom = np.empty(len(k_x)), np.empty(len(k_x), np.int64)
        # X2 is at most N (min(k_x, k_y) - 1), and no table has more than N cells: below N^1.5.
        unit = 2.0 ** (math.ceil(1.5 * math.log2(tables.n_rows + 1)) - 61)
        _kernels.x2_tests(tables.counts, tables.cell_start, k_x, k_y, unit, statistic, freedom)
        return np.column_stack([statistic, freedom])
