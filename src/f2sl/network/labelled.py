"""The parameters of one variable, with labels."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork


def table(network: BayesianNetwork, name: str) -> Any:
    """Return a variable's table or equation as a data frame; see ``BayesianNetwork.table``."""
    parents = network.parents(name)
    of_states = [parent for parent in parents if parent in network.states]
    if name in network.states:
        headings, cells = list(network.states[name]), network.tables[name]
        cells = cells.reshape(-1, cells.shape[-1])
    else:
        of_numbers = [parent for parent in parents if parent not in network.states]
        headings = ["intercept", *of_numbers, "variance"]
        cells = np.column_stack(network.equations[name].by_configuration())
    labels = list(product(*(network.states[parent] for parent in of_states)))
    try:
        import pandas as pd
    except ImportError:
        import pyarrow as pa

        columns = [pa.array(column) for column in [*zip(*labels, strict=True), *cells.T] if len(column)]
        return pa.table(columns, names=[*of_states, *headings])
    index = pd.MultiIndex.from_tuples(labels, names=of_states) if len(of_states) > 1 else None
    if len(of_states) == 1:
        index = pd.Index([label for (label,) in labels], name=of_states[0])
    return pd.DataFrame(cells, index=index, columns=pd.Index(headings, name=name))
