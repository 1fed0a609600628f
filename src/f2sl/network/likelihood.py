"""How probable a table's rows are under a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl.network.counts import Families, table_of
from f2sl.table import NUMBER

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork
    from f2sl.network.checks import Equation


def log_likelihood(network: BayesianNetwork, data: Any) -> float:
    """Return the natural logarithm of the probability of all rows; see ``BayesianNetwork.log_likelihood``."""
    names, kinds = network.variables, network.kinds
    wanted = kinds[0] if len(set(kinds)) == 1 else dict(zip(names, kinds, strict=True))
    total = 0.0
    with table_of(data, wanted) as table, np.errstate(divide="ignore"):
        families = Families(table, names, network.states)
        for child, parents in network._families:
            if kinds[child] == NUMBER:
                total += _log_density(families, child, parents, network.equations[names[child]])
                continue
            found = families.count([*parents, child]).ravel()
            met = found > 0
            total += float(found[met] @ np.log(network._distributions(names[child]).ravel()[met]))
    return total


def _log_density(families: Families, child: int, parents: list[int], equation: Equation) -> float:
    of_states, of_numbers = families.split(parents)
    row = families.configurations(of_states)
    intercepts, coefficients, variances = equation.by_configuration()
    noise = families.values(child) - intercepts[row]
    for k, parent in enumerate(of_numbers):
        noise = noise - coefficients[row, k] * families.values(parent)
    spread = variances[row]
    return float(-0.5 * (noise * noise / spread + np.log(2 * np.pi * spread)).sum())
