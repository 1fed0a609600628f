"""Networks drawn at random.

**Structure.** Variables are in a random order. Edges are drawn one by one until there are enough: a child at
random, then a parent at random among the variables before it. If the pair is already joined, or one of the
two has its largest number of edges, another pair is drawn. Early variables get more children than late ones,
like hubs in gene networks. No edge is ever removed. So near the largest number of edges that the degrees
allow, the first edges can leave no place for the last ones, and the network is refused although another
sequence of draws would have succeeded. (A chain of 300 variables with one parent and one child each is one
graph among very many.)

In a mixed network the continuous variables are drawn first, regardless of the order. An edge from a
continuous to a discrete variable is drawn again.

**Tables.** States are levels, from low to high. A parent pushes its child up or down (a random sign), with a
random weight that is similar for all parents. The configurations of the parents, sorted by the total push,
are spread evenly over the child's levels. So all levels are about equally frequent, and every parent has an
effect on its own, without which feature selection could not find it. In each configuration a share of about
`strength` of the probability goes to the level it points to (or to the two levels it lies between); the rest
goes to all levels, more to near ones. Numbers have four decimals.

**Gaussian networks.** The size of a coefficient is uniform between two weights, its sign random. If all noise
terms have the same variance, the variances of the variables tend to grow from causes to effects, so sorting
by variance reveals much of their order (Reisach, Seiler and Weichwald 2021; :func:`f2sl.varsortability`).

**Mixed networks.** Every number has mean 0 and variance 1, estimated from 10,000 rows, so scales reveal
nothing. Before scaling, an equation is drawn as follows. Coefficients are drawn as above. Each parent with
states shifts the number by evenly spaced levels, in a random order of the states. The standard deviation of
these shifts is drawn like the size of a coefficient, so parents of both kinds matter equally. The shifts of
several parents are added. A random share of the continuous variables with parents of both kinds has
coefficients that depend on the state of one parent: for each of its states new sizes are drawn, with the same
sign, so that effects do not cancel out over the states.

Only whole numbers, additions, products, quotients and square roots are used, so a seed gives the same network
on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from math import fsum, prod, sqrt
from typing import Literal, overload

import numpy as np

from f2sl._notes import Use
from f2sl._options import choice, fraction, positive, whole
from f2sl._synonyms import kind_meant
from f2sl.data.column import ALL_KINDS, CONTINUOUS, DISCRETE, MIXED
from f2sl.data.names import generated_names
from f2sl.errors import OptionError
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import Equation, FloatArray, check_size
from f2sl.network.counts import cell_numbers
from f2sl.network.gaussian import GaussianNetwork
from f2sl.network.sampling import Draws, sample_table

STATE_RANGE, STRENGTH = (3, 5), 0.8
WEIGHTS, NOISE = (0.5, 2.0), 1.0
SHARE_CONTINUOUS, VARYING = 0.5, 0.5
DECIMALS = 10_000
LEAST, MOST = 1e-9, 1e9
SAMPLED = 10_000
"""Rows from which means and variances of continuous variables are taken."""

Range = tuple[float, float]


@overload
def random_network(
    variables: int = ...,
    edges: int = ...,
    max_parents: int = ...,
    states: None = ...,
    random_state: int = ...,
    *,
    kind: Literal["continuous"],
    max_out_degree: int = ...,
    weights: tuple[float, float] | None = ...,
    noise: float | None = ...,
    name: str = ...,
) -> GaussianNetwork: ...


@overload
def random_network(
    variables: int = ...,
    edges: int = ...,
    max_parents: int = ...,
    states: tuple[int, int] | None = ...,
    random_state: int = ...,
    *,
    kind: str = ...,
    max_out_degree: int = ...,
    strength: float | None = ...,
    weights: tuple[float, float] | None = ...,
    noise: float | None = ...,
    share_continuous: float | None = ...,
    varying: float | None = ...,
    name: str = ...,
) -> BayesianNetwork: ...


def random_network(
    variables: int = 801,
    edges: int = 972,
    max_parents: int = 4,
    states: tuple[int, int] | None = None,
    random_state: int = 7,
    *,
    kind: str = DISCRETE,
    max_out_degree: int = 10,
    strength: float | None = None,
    weights: tuple[float, float] | None = None,
    noise: float | None = None,
    share_continuous: float | None = None,
    varying: float | None = None,
    name: str = "random",
) -> BayesianNetwork:
    """Draw a network; the defaults are those of ``gene-like``, which replaces the F2SL paper's Gene.

    Parameters
    ----------
    kind : {"discrete", "continuous", "mixed"}
        Discrete variables with probability tables, continuous ones with linear equations, or both.
    variables, edges : int
        Numbers of variables and of edges.
    max_parents, max_out_degree : int
        Largest number of parents, and of children, of a variable.
    states : (int, int), optional
        For states: smallest and largest number of states of a variable, by default 3 and 5; each number
        between them is as likely.
    random_state : int
        The same seed gives the same network on every machine.
    strength : float, optional
        For discrete variables: strength of the dependence of a variable on its parents, between 0 and 1.
        With the default, 0.8, FCBF finds parents and children with an F1 near 0.97 from 500 rows.
    weights : (float, float), optional
        For continuous variables: smallest and largest absolute value of a coefficient, by default 0.5 and
        2.0; the sign is random.
    noise : float, optional
        For continuous variables: variance of each variable's noise, by default 1.0. In a mixed network the
        equations are drawn for parents of variance 1 and then scaled to give every number variance 1.
    share_continuous : float, optional
        For mixed networks: share of the variables that are continuous, by default 0.5.
    varying : float, optional
        For mixed networks: among continuous variables with parents of both kinds, the share whose
        coefficients depend on the states of a parent, by default 0.5. Intercepts always do.
    name : str
        Name of the network.

    Returns
    -------
    BayesianNetwork or GaussianNetwork
        Its variables are called ``x000``, ``x001``, ...; their order is unrelated to the edges.

    Raises
    ------
    OptionError
        If an option has an invalid value or belongs to another kind of network, or if not all edges could be
        placed. Edges are drawn one by one and never moved, so ask for fewer than the degrees just allow.

    Examples
    --------
    >>> net = random_network(variables=20, edges=25, max_parents=3, states=(2, 3), random_state=1)
    >>> net.graph
    DAG(20 nodes, 25 directed and 0 undirected edges)
    >>> random_network(variables=20, edges=40, kind="continuous", random_state=1)
    GaussianNetwork(20 variables, 40 edges, 80 parameters)
    >>> mixed = random_network(variables=20, edges=20, kind="mixed", share_continuous=0.25, random_state=1)
    >>> mixed.kinds.count("continuous")
    5
    """
    choice("kind", kind_meant(kind), ALL_KINDS)
    own = {"states": DISCRETE, "strength": DISCRETE, "weights": CONTINUOUS, "noise": CONTINUOUS}
    given = {"states": states, "strength": strength, "weights": weights, "noise": noise}
    given |= {"share_continuous": share_continuous, "varying": varying}
    for option, value in given.items():
        if value is not None and kind not in (own.get(option), MIXED):
            raise OptionError(Use(option), f" is not an option of networks of kind={kind!r}")
    n = whole("variables", variables, least=1)
    most_in = whole("max_parents", max_parents)
    most_out = whole("max_out_degree", max_out_degree)
    draws = Draws(whole("random_state", random_state))
    numbers: Set[int] = set(range(n)) if kind == CONTINUOUS else set()
    if kind == MIXED:
        share = positive(
            "share_continuous", SHARE_CONTINUOUS if share_continuous is None else share_continuous, 0, 1
        )
        numbers = set(draws.shuffled(range(n))[: int(share * n + 0.5)])
    parents = _structure(n, whole("edges", edges), most_in, most_out, numbers, draws)
    names = generated_names(n)
    # Position in the topological order -> number of the name.
    position = draws.shuffled(range(n))
    # Every variable after its parents, which are in the order of their names.
    families = {
        names[position[child]]: [names[p] for p in sorted(position[q] for q in parents[child])]
        for child in range(n)
    }
    graph = DAG(names, _edges(names, families))
    weights = _weight_range(weights or WEIGHTS)
    variance = positive("noise", NOISE if noise is None else noise, least=LEAST, most=MOST)
    if kind == CONTINUOUS:
        coefficients = {(a, b): _coefficient(weights, draws) for b in families for a in families[b]}
        return GaussianNetwork(graph, coefficients, dict.fromkeys(names, variance), name=name)
    with_states = {
        names[position[child]]: families[names[position[child]]] for child in range(n) if child not in numbers
    }
    strength = STRENGTH if strength is None else strength
    levels, tables = _tables(with_states, states or STATE_RANGE, strength, draws)
    if kind == DISCRETE:
        return BayesianNetwork(graph, levels, tables, parents=families, name=name)
    varying = positive("varying", VARYING if varying is None else varying, 0, 1)
    of_states = None
    if levels:
        part = DAG(list(levels), _edges(levels, families))
        of_states = BayesianNetwork(part, levels, tables, parents=with_states)
    equations = _equations(families, of_states, weights, variance, varying, draws)
    return BayesianNetwork(graph, levels, tables, equations=equations, parents=families, name=name)


def _edges(children: Iterable[str], families: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(parent, child) for child in children for parent in families[child]]


def _structure(
    n: int, edges: int, most_in: int, most_out: int, numbers: Set[int], draws: Draws
) -> list[list[int]]:
    """Draw the parents of each variable, by place in a topological order; states have no number as parent."""
    capacity = sum(min(position, most_in) for position in range(n))
    capacity = min(capacity, sum(min(n - 1 - position, most_out) for position in range(n)))
    limits = f"{n} variables with at most {most_in} parents and {most_out} children each"
    if edges > capacity:
        raise OptionError(Use("edges"), f" must be at most {capacity} for {limits}, not {edges}")
    parents: list[list[int]] = [[] for _ in range(n)]
    children = [0] * n
    placed = 0
    for _ in range(1000 * (edges + 1)):
        if placed == edges:
            break
        child = 1 + draws.below(n - 1)
        parent = draws.below(child)
        if parent in numbers and child not in numbers:
            continue
        if len(parents[child]) < most_in and children[parent] < most_out and parent not in parents[child]:
            parents[child].append(parent)
            children[parent] += 1
            placed += 1
    else:
        raise OptionError(
            f"only {placed} of {edges} edges could be placed at random among {limits}; "
            "ask for fewer edges, or allow more parents or children"
        )
    return parents


def _tables(
    families: Mapping[str, Sequence[str]], states: tuple[int, int], strength: float, draws: Draws
) -> tuple[dict[str, list[str]], dict[str, FloatArray]]:
    """Draw the states and the table of each variable; `families` has each variable after its parents."""
    if not isinstance(states, Sequence) or isinstance(states, str) or len(states) != 2:
        raise OptionError(Use("states"), f" must be a pair of whole numbers such as (3, 5), not {states!r}")
    least = whole("the least of states", states[0], least=2)
    most = whole("the most of states", states[1], least=least)
    strength = fraction("strength", strength)
    sizes = {variable: least + draws.below(most - least + 1) for variable in families}
    tables = {}
    for variable, parents in families.items():
        shape = [*(sizes[parent] for parent in parents), sizes[variable]]
        check_size(variable, shape)
        tables[variable] = _table(shape, strength, draws)
    return {variable: [f"s{k}" for k in range(size)] for variable, size in sizes.items()}, tables


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


def _size(weights: Range, draws: Draws) -> float:
    low, high = weights
    return low + (high - low) * float(draws.uniforms(1)[0])


def _coefficient(weights: Range, draws: Draws) -> float:
    size = _size(weights, draws)
    return size if draws.below(2) else -size


def _weight_range(weights: Range) -> Range:
    """Return the smallest and the largest size of a coefficient, checked."""
    if not isinstance(weights, Sequence) or isinstance(weights, str) or len(weights) != 2:
        raise OptionError(Use("weights"), f" must be a pair of numbers such as (0.5, 2.0), not {weights!r}")
    low = positive("the least of weights", weights[0], least=LEAST, most=MOST)
    return low, positive("the most of weights", weights[1], least=low, most=MOST)


def _equations(
    families: Mapping[str, Sequence[str]],
    of_states: BayesianNetwork | None,
    weights: Range,
    noise: float,
    varying: float,
    draws: Draws,
) -> dict[str, Equation]:
    """Draw the equations of the continuous `families`; every variable comes after its parents.

    `of_states` is the network of the other variables, if there are any.
    """
    states = {} if of_states is None else of_states.states
    codes = np.empty((0, SAMPLED)) if of_states is None else sample_table(of_states, SAMPLED).codes
    sizes, number = [len(listed) for listed in states.values()], {name: i for i, name in enumerate(states)}
    values: dict[str, FloatArray] = {}
    equations = {}
    for child, parents in families.items():
        if child in states:
            continue
        with_states = [number[parent] for parent in parents if parent in states]
        numbers = [parent for parent in parents if parent not in states]
        shape = [sizes[v] for v in with_states]
        check_size(child, (*shape, len(numbers) + 2))
        shifts, coefficients = _raw_equation(shape, len(numbers), weights, varying, draws)
        row = cell_numbers(codes, with_states, sizes) if with_states else np.zeros(SAMPLED, np.int64)
        signal = shifts.ravel()[row]
        for k, parent in enumerate(numbers):
            signal = signal + coefficients[..., k].ravel()[row] * values[parent]
        # Exactly rounded sums are the same on every machine.
        mean = fsum(signal) / SAMPLED
        scale = sqrt(fsum((signal - mean) ** 2) / SAMPLED + noise)
        values[child] = (signal - mean + sqrt(noise) * draws.normals(SAMPLED)) / scale
        variances = np.full(shape, noise / scale**2)
        equations[child] = Equation((shifts - mean) / scale, coefficients / scale, variances)
    return equations


def _raw_equation(
    shape: Sequence[int], n_numbers: int, weights: Range, varying: float, draws: Draws
) -> tuple[FloatArray, FloatArray]:
    """Draw intercepts and coefficients, for parents that have mean 0 and variance 1."""
    axes = (
        np.eye(len(shape), dtype=np.int64) * (np.array(shape, np.int64) - 1) + 1
    )  # row i: only axis i is long
    shifts = np.zeros(shape)
    for size, along in zip(shape, axes, strict=True):
        levels = np.array(draws.shuffled(range(size))) - (size - 1) / 2
        levels = levels / sqrt((size * size - 1) / 12)
        shifts = shifts + _size(weights, draws) * levels.reshape(along)
    coefficients = np.array([_coefficient(weights, draws) for _ in range(n_numbers)])
    if shape and n_numbers and float(draws.uniforms(1)[0]) < varying:
        axis = draws.below(len(shape))
        drawn = [[_size(weights, draws) for _ in range(n_numbers)] for _ in range(shape[axis])]
        coefficients = np.sign(coefficients) * np.array(drawn).reshape(*axes[axis], n_numbers)
    return shifts, np.array(np.broadcast_to(coefficients, (*shape, n_numbers)))
