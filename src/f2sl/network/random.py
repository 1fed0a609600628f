"""Networks drawn at random.

**Structure.** Variables stand in a random order. Edges are drawn one by one until there are as many as
wanted: a child at random, then a parent at random among the variables before it; a pair that is already
joined, or an end that has as many edges as it may have, is drawn again. Early variables get more children
than late ones, as hubs do in networks of genes. No edge is taken back: near the most that the degrees allow,
those drawn first can leave no place for the last ones, and the network is refused though another order would
have made it. (A chain of 300 variables with one parent and one child each is one graph among very many.)

What the edges mean is drawn by :mod:`f2sl.network.random_tables` for discrete variables, and by
:mod:`f2sl.network.random_coefficients` for Gaussian ones.

Nothing but whole numbers, additions, products and quotients is used, so that a seed gives the same network on
every machine.
"""

from __future__ import annotations

from typing import Literal, overload

from f2sl._options import choice, positive, whole
from f2sl.errors import OptionError
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.draws import Draws
from f2sl.network.gaussian import GaussianNetwork
from f2sl.network.random_coefficients import draw_coefficients
from f2sl.network.random_tables import draw_tables
from f2sl.table.names import generated_names

KINDS = ("discrete", "gaussian")
STATES, STRENGTH = (3, 5), 0.8
WEIGHTS, NOISE = (0.5, 2.0), 1.0
STAND_IN = "gene-like"
"""The name of the network that the defaults give; it stands in for the F2SL paper's Gene."""
REMARKS = {STAND_IN: f"{STAND_IN} is random: it stands in for the F2SL paper's Gene, which cannot be had"}
"""What must be said of networks wherever they go, by their names; files keep those."""


@overload
def random_network(
    variables: int = ...,
    edges: int = ...,
    max_in_degree: int = ...,
    states: tuple[int, int] | None = ...,
    seed: int = ...,
    *,
    kind: Literal["discrete"] = ...,
    max_out_degree: int = ...,
    strength: float | None = ...,
    name: str = ...,
) -> BayesianNetwork: ...


@overload
def random_network(
    variables: int = ...,
    edges: int = ...,
    max_in_degree: int = ...,
    *,
    seed: int = ...,
    kind: Literal["gaussian"],
    max_out_degree: int = ...,
    weights: tuple[float, float] | None = ...,
    noise: float | None = ...,
    name: str = ...,
) -> GaussianNetwork: ...


def random_network(
    variables: int = 801,
    edges: int = 972,
    max_in_degree: int = 4,
    states: tuple[int, int] | None = None,
    seed: int = 7,
    *,
    kind: str = "discrete",
    max_out_degree: int = 10,
    strength: float | None = None,
    weights: tuple[float, float] | None = None,
    noise: float | None = None,
    name: str = "random",
) -> BayesianNetwork | GaussianNetwork:
    """Draw a network; the defaults are those of ``gene-like``, which stands in for the F2SL paper's Gene.

    Parameters
    ----------
    kind : {"discrete", "gaussian"}
        Variables with states and probability tables, or real ones with linear equations.
    variables, edges : int
        How many of them.
    max_in_degree, max_out_degree : int
        The most parents and the most children of a variable.
    states : (int, int), optional
        Of discrete networks: the least and the most states of a variable, by default 3 and 5; each number
        between them is as likely.
    seed : int
        The same seed gives the same network on every machine.
    strength : float, optional
        Of discrete networks: how much the configuration of its parents tells of a variable, between 0 and 1.
        With the default, 0.8, FCBF finds parents and children with an F1 near 0.97 from 500 rows.
    weights : (float, float), optional
        Of Gaussian networks: the least and the most that a coefficient may be without its sign, by default
        0.5 and 2.0; the sign is random.
    noise : float, optional
        Of Gaussian networks: the variance of each variable's noise, by default 1.0.
    name : str
        What to call the network.

    Returns
    -------
    BayesianNetwork or GaussianNetwork
        With the variables ``x000``, ``x001``, ..., an order that says nothing about the edges.

    Raises
    ------
    OptionError
        If an option has a value that it cannot have or belongs to the other kind, or not all edges found a
        place: as many as the degrees just allow seldom do, since they are drawn one by one and none is taken
        back.

    Examples
    --------
    >>> net = random_network(variables=20, edges=25, max_in_degree=3, states=(2, 3), seed=1)
    >>> net.graph
    DAG(20 nodes, 25 directed and 0 undirected edges)
    >>> random_network(variables=20, edges=40, kind="gaussian", seed=1)
    GaussianNetwork(20 variables, 40 edges)
    """
    discrete = choice("kind", kind, KINDS) == "discrete"
    foreign = {"weights": weights, "noise": noise} if discrete else {"states": states, "strength": strength}
    for option, value in foreign.items():
        if value is not None:
            raise OptionError(f"{option} is an option of networks of the other kind, not of kind={kind!r}")
    n = whole("variables", variables, least=1)
    most_in = whole("max_in_degree", max_in_degree)
    most_out = whole("max_out_degree", max_out_degree)
    draws = Draws(whole("seed", seed))
    parents = _structure(n, whole("edges", edges), most_in, most_out, draws)
    names = generated_names(n)
    # Position in the topological order -> number of the name.
    place = draws.shuffled(range(n))
    # Every variable after its parents, which are in the order of their names.
    families = {
        names[place[child]]: [names[p] for p in sorted(place[q] for q in parents[child])]
        for child in range(n)
    }
    graph = DAG(names, [(parent, child) for child in names for parent in families[child]])
    if discrete:
        levels, tables = draw_tables(
            families, states or STATES, STRENGTH if strength is None else strength, draws
        )
        return BayesianNetwork(graph, levels, tables, parents=families, name=name)
    coefficients = draw_coefficients(families, weights or WEIGHTS, draws)
    variance = positive("noise", NOISE if noise is None else noise, least=1e-9, most=1e9)
    return GaussianNetwork(graph, coefficients, dict.fromkeys(names, variance), name=name)


def _structure(n: int, edges: int, most_in: int, most_out: int, draws: Draws) -> list[list[int]]:
    """Draw the parents of each variable, by place in a topological order."""
    room = sum(min(place, most_in) for place in range(n))
    room = min(room, sum(min(n - 1 - place, most_out) for place in range(n)))
    limits = f"{n} variables with at most {most_in} parents and {most_out} children each"
    if edges > room:
        raise OptionError(f"edges must be at most {room} for {limits}, not {edges}")
    parents: list[list[int]] = [[] for _ in range(n)]
    children = [0] * n
    placed = 0
    for _ in range(1000 * (edges + 1)):
        if placed == edges:
            break
        child = 1 + draws.below(n - 1)
        parent = draws.below(child)
        if len(parents[child]) < most_in and children[parent] < most_out and parent not in parents[child]:
            parents[child].append(parent)
            children[parent] += 1
            placed += 1
    else:
        raise OptionError(
            f"only {placed} of {edges} edges found a place by chance among {limits}; "
            "ask for fewer edges, or allow more parents or children"
        )
    return parents
