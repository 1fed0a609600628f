"""Networks in the forms of other libraries, and parameters as data frames."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl._arrays import Floats
from f2sl._extensions import imported
from f2sl.errors import DataError

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork


def to_pgmpy(network: BayesianNetwork) -> Any:
    """Return a pgmpy network; see ``BayesianNetwork.to_pgmpy``."""
    if network.states and network.equations:
        numbers, states = next(iter(network.equations)), next(iter(network.states))
        both = f"{states!r} is discrete, {numbers!r} continuous"
        raise DataError(f"pgmpy cannot mix discrete and continuous variables: {both}")
    models = imported("pgmpy.models", "to_pgmpy", "pgmpy")
    edges = network.graph.directed_edges
    if network.states:
        factors = imported("pgmpy.factors.discrete", "to_pgmpy", "pgmpy")
        model = models.DiscreteBayesianNetwork(edges)
        model.add_nodes_from(network.variables)
        for name, table in network.tables.items():
            parents = network.parents(name)
            cpd = factors.TabularCPD(
                name,
                len(network.states[name]),
                # One column a configuration, each of which must sum to 1 to more digits than files have.
                network._distributions(name).T,
                list(parents),
                list(table.shape[:-1]),
                {one: list(network.states[one]) for one in (name, *parents)},
            )
            model.add_cpds(cpd)
        return model
    factors = imported("pgmpy.factors.continuous", "to_pgmpy", "pgmpy")
    model = models.LinearGaussianBayesianNetwork(edges)
    model.add_nodes_from(network.variables)
    for name, (intercept, coefficients, variance) in network.equations.items():
        beta = [float(intercept), *coefficients.tolist()]
        model.add_cpds(
            factors.LinearGaussianCPD(name, beta, float(np.sqrt(variance)), list(network.parents(name)))
        )
    return model


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Return a pyAgrum network; see ``BayesianNetwork.to_pyagrum``."""
    if network.equations:
        name = next(iter(network.equations))
        raise DataError(f"a pyagrum.BayesNet supports only discrete variables: {name!r} is continuous")
    pyagrum = imported("pyagrum", "to_pyagrum", "f2sl[inference]")
    model = pyagrum.BayesNet(network.name)
    for name, states in network.states.items():
        model.add(pyagrum.LabelizedVariable(name, name, list(states)))
    for name in network.variables:
        # With the last parent first, its numbers are in the order of ours.
        for parent in reversed(network.parents(name)):
            model.addArc(parent, name)
        model.cpt(name).fillWith(network._distributions(name).ravel().tolist())
    return model


def parameters(network: BayesianNetwork, name: str) -> tuple[list[str], list[str], Floats]:
    """Return a variable's discrete parents, and its probabilities or its equation in each configuration.

    The last two are the headings of columns, and their numbers, a row for each configuration.
    """
    parents = network.parents(name)
    of_states = [parent for parent in parents if parent in network.states]
    if name in network.states:
        cells = network.tables[name]
        return of_states, list(network.states[name]), cells.reshape(-1, cells.shape[-1])
    of_numbers = [parent for parent in parents if parent not in network.states]
    cells = np.column_stack(network.equations[name].by_configuration())
    return of_states, ["intercept", *of_numbers, "variance"], cells


def table(network: BayesianNetwork, name: str) -> Any:
    """Return a variable's table or equation as a data frame; see ``BayesianNetwork.table``."""
    of_states, headings, cells = parameters(network, name)
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
