"""Linear Gaussian data with a known truth, for tests."""

import numpy as np

from f2sl import DAG, FisherZ
from f2sl.data.moments import Moments
from tables import table_of_numbers

NEARLY_ALL_THERE_IS = 10**16
"""As many rows as make a test of correlations as good as an oracle."""


def numeric(values):
    """Make a table, one row of `values` for each variable, names in the order of the rows."""
    return table_of_numbers(tuple(f"v{i:04d}" for i in range(len(values))), np.asarray(values, float))


def moments(values, n_jobs=1):
    return Moments.of_table(numeric(values), n_jobs)


def random_weights(n, arrows, random_state):
    """Draw a coefficient for each arrow, neither weak nor very strong."""
    rng = np.random.default_rng(random_state)
    weights = np.zeros((n, n))
    for a, b in arrows:
        weights[a, b] = rng.uniform(0.5, 1.0) * rng.choice([-1, 1])
    return weights


def related_values(random_state, n_variables, n_rows):
    """Draw variables that depend linearly on some of those before them, in different units."""
    rng = np.random.default_rng(random_state)
    values = rng.normal(size=(n_variables, n_rows))
    for v in range(1, n_variables):
        parents = rng.random(v) < 0.4
        values[v] += rng.uniform(-1, 1, parents.sum()) @ values[:v][parents]
    return values * rng.lognormal(0, 2, (n_variables, 1)) + rng.normal(0, 10, (n_variables, 1))


def population(n, arrows, random_state=0):
    """Correlations of a linear network over 0 to n - 1 with independent noise, as they are in truth."""
    spread = np.linalg.inv(np.eye(n) - random_weights(n, arrows, random_state))
    covariance = spread.T @ spread
    deviation = np.sqrt(np.diag(covariance))
    return covariance / np.outer(deviation, deviation)


def oracle(graph, random_state=0):
    """Make a test that answers from the correlations of a random linear network over a DAG."""
    correlations = population(graph.n_nodes, graph.directed_array.tolist(), random_state)
    return FisherZ().bind(Moments(NEARLY_ALL_THERE_IS, np.ones(graph.n_nodes), correlations, 1), alpha=1e-6)


def sampled(graph, n_rows, random_state=0):
    """Draw rows from a random linear network over a DAG, by name."""
    rng = np.random.default_rng([random_state, 1])
    weights = random_weights(graph.n_nodes, graph.directed_array.tolist(), random_state)
    noise = rng.normal(size=(n_rows, graph.n_nodes))
    values = noise @ np.linalg.inv(np.eye(graph.n_nodes) - weights)
    return dict(zip(graph.nodes, values.T, strict=True))


def small_dag():
    """a -> c <- b, c -> d -> e, f alone."""
    return DAG(list("abcdef"), [("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")])
