"""How probable a table's rows are under a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl.network.counts import FamilyCounts, states_of

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork


def log_likelihood(network: BayesianNetwork, data: Any) -> float:
    """Return the natural logarithm of the probability of all rows; see ``BayesianNetwork.log_likelihood``."""
    names = network.variables
    total = 0.0
    with states_of(data) as table, np.errstate(divide="ignore"):
        counts = FamilyCounts(table, network.states)
        for child, parents in network._families:
            found = counts.count([*parents, child]).ravel()
            met = found > 0
            total += float(found[met] @ np.log(network._distributions(names[child]).ravel()[met]))
    return total
