"""From the naive twin's networks to f2sl's, for several test files."""

import numpy as np

from f2sl import DAG, BayesianNetwork


def build(naive, name=""):
    """Make a network of a naive one."""
    graph = DAG(list(naive), [(p, child) for child, (_, parents, _) in naive.items() for p in parents])
    tables = {
        child: np.array(list(rows.values())).reshape([*(len(naive[p][0]) for p in parents), len(states)])
        for child, (states, parents, rows) in naive.items()
    }
    return BayesianNetwork(
        graph,
        {child: entry[0] for child, entry in naive.items()},
        tables,
        parents={child: entry[1] for child, entry in naive.items()},
        name=name,
    )
