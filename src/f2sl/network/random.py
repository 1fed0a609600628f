"""Networks drawn at random.

**Structure.** Variables stand in a random order. Edges are drawn one by one until there are as many as
wanted: a child at random, then a parent at random among the variables before it; a pair that is already
joined, or an end that has as many edges as it may have, is drawn again. Early variables get more children
than late ones, as hubs do in networks of genes. No edge is taken back: near the most that the degrees allow,
those drawn first can leave no place for the last ones, and the network is refused though another order would
have made it. (A chain of 300 variables with one parent and one child each is one graph among very many.)

**Probabilities.** States are levels, from low to high. A parent pushes its child up or down (a random sign),
by about as much as any other parent (a random weight); the configurations of the parents, in the order of
the total push, are laid out evenly along the scale of the child's levels. So every level is about as
frequent as another, and every parent matters by itself, which is what feature selection needs to see it at
all. In each configuration a share of about `strength` of the probability goes to the level it points to (or
to the two that it lies between), the rest to all levels, the nearer the more. Numbers have four decimals.

Nothing but whole numbers, additions, products and quotients is used, so that a seed gives the same network on
every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from f2sl._options import fraction, whole
from f2sl.data.names import generated_names
from f2sl.errors import OptionError
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import FloatArray, check_size
from f2sl.network.draws import Draws

DECIMALS = 10_000
STAND_IN = "gene-like"
"""The name of the network that the defaults give; it stands in for the F2SL paper's Gene."""
REMARKS = {STAND_IN: f"{STAND_IN} is random: it stands in for the F2SL paper's Gene, which cannot be had"}
"""What must be said of networks wherever they go, by their names; files keep those."""


def random_network(
    variables: int = 801,
    edges: int = 972,
    max_in_degree: int = 4,
    states: tuple[int, int] = (3, 5),
    seed: int = 7,
    *,
    max_out_degree: int = 10,
    strength: float = 0.8,
    name: str = "random",
) -> BayesianNetwork:
    """Draw a network; the defaults are those of ``gene-like``, which stands in for the F2SL paper's Gene.

    Parameters
    ----------
    variables, edges : int
        How many of them.
    max_in_degree, max_out_degree : int
        The most parents and the most children of a variable.
    states : (int, int)
        The least and the most states of a variable; each number between them is as likely.
    seed : int
        The same seed gives the same network on every machine.
    strength : float
        How much the configuration of its parents tells of a variable, between 0 and 1: with the default,
        FCBF finds parents and children with an F1 near 0.97 from 500 rows.
    name : str
        What to call the network.

    Returns
    -------
    BayesianNetwork
        With the variables ``x000``, ``x001``, ..., an order that says nothing about the edges.

    Raises
    ------
    OptionError
        If an option has a value that it cannot have, or not all edges found a place: as many as the degrees
        just allow seldom do, since they are drawn one by one and none is taken back.

    Examples
    --------
    >>> net = random_network(variables=20, edges=25, max_in_degree=3, states=(2, 3), seed=1)
    >>> net.graph
    DAG(20 nodes, 25 directed and 0 undirected edges)
    """
    n = whole("variables", variables, least=1)
    most_in = whole("max_in_degree", max_in_degree)
    most_out = whole("max_out_degree", max_out_degree)
    least, most = _state_range(states)
    strength = fraction("strength", strength)
    draws = Draws(whole("seed", seed))
    parents = _structure(n, whole("edges", edges), most_in, most_out, draws)
    names = generated_names(n)
    # Position in the topological order -> number of the name.
    place = draws.shuffled(range(n))
    sizes = [least + draws.below(most - least + 1) for _ in range(n)]
    tables: dict[str, FloatArray] = {}
    listed: dict[str, list[str]] = {}
    for child in range(n):
        variable = names[place[child]]
        of_child = sorted(parents[child], key=place.__getitem__)
        listed[variable] = [names[place[p]] for p in of_child]
        shape = [*(sizes[p] for p in of_child), sizes[child]]
        check_size(variable, shape)
        tables[variable] = _table(shape, strength, draws)
    graph = DAG(names, [(parent, child) for child in names for parent in listed[child]])
    levels = {names[place[i]]: [f"s{k}" for k in range(sizes[i])] for i in range(n)}
    return BayesianNetwork(graph, levels, tables, parents=listed, name=name)


def _state_range(states: tuple[int, int]) -> tuple[int, int]:
    problem = f"states must be a pair of whole numbers such as (3, 5), not {states!r}"
    if not isinstance(states, Sequence) or isinstance(states, str) or len(states) != 2:
        raise OptionError(problem)
    least = whole("the least of states", states[0], least=2)
    return least, whole("the most of states", states[1], least=least)


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


def _table(shape: list[int], strength: float, draws: Draws) -> FloatArray:
    """Draw the table of a variable; the last of `shape` is its own number of states."""
    *of_parents, r = shape
    q = prod(of_parents)
    if not of_parents:
        return np.asarray(_decimals(0.5 + draws.uniforms(1, r))[0])
    push = np.zeros(of_parents)
    for axis, size in enumerate(of_parents):
        weight = (0.9 + 0.2 * float(draws.uniforms(1)[0])) * (1 if draws.below(2) else -1)
        along = [1] * len(of_parents)
        along[axis] = size
        push = push + (weight * (np.arange(size) + 0.5) / size).reshape(along)
    rank = np.empty(q, np.int64)
    rank[np.argsort(push.ravel(), kind="stable")] = np.arange(q)
    # Where on the scale of levels a configuration points: halfway between two levels, it prefers both alike.
    point = np.clip((2 * rank + 1) * r / (2 * q) - 0.5, 0, r - 1)[:, None]
    distance = np.abs(np.arange(r) - point)
    preferred = np.maximum(1 - distance, 0.0)
    others = (0.5 + draws.uniforms(q, r)) / (1 + distance)
    others = others / others.cumsum(axis=1)[:, -1:]
    peak = strength * (0.9 + 0.1 * draws.uniforms(q, 1))
    return _decimals(peak * preferred + (1 - peak) * others).reshape(shape)


def _decimals(rows: FloatArray) -> FloatArray:
    """Divide rows by their sums and round to whole multiples of 1/10,000 that sum to 1."""
    share = rows / rows.cumsum(axis=1)[:, -1:]
    parts = np.floor(share * DECIMALS).astype(np.int64)
    parts[np.arange(len(parts)), share.argmax(axis=1)] += DECIMALS - parts.sum(axis=1)
    return np.asarray(parts / DECIMALS)
