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

:mod:`f2sl.network.random_parameters` draws the probability tables and the equations.

Only whole numbers, additions, products, quotients and square roots are used, so a seed gives the same network
on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Literal, overload

from f2sl._notes import Use
from f2sl._options import choice, positive, whole
from f2sl._synonyms import kind_meant
from f2sl.data.column import ALL_KINDS, CONTINUOUS, DISCRETE, MIXED
from f2sl.data.names import generated_names
from f2sl.errors import OptionError
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.gaussian import GaussianNetwork
from f2sl.network.random_parameters import draw_coefficients, draw_equations, draw_tables
from f2sl.network.sampling import Draws

STATE_RANGE, STRENGTH = (3, 5), 0.8
WEIGHTS, NOISE = (0.5, 2.0), 1.0
SHARE_CONTINUOUS, VARYING = 0.5, 0.5


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
    weights = weights or WEIGHTS
    variance = positive("noise", NOISE if noise is None else noise, least=1e-9, most=1e9)
    if kind == CONTINUOUS:
        coefficients = draw_coefficients(families, weights, draws)
        return GaussianNetwork(graph, coefficients, dict.fromkeys(names, variance), name=name)
    with_states = {
        names[position[child]]: families[names[position[child]]] for child in range(n) if child not in numbers
    }
    strength = STRENGTH if strength is None else strength
    levels, tables = draw_tables(with_states, states or STATE_RANGE, strength, draws)
    if kind == DISCRETE:
        return BayesianNetwork(graph, levels, tables, parents=families, name=name)
    varying = positive("varying", VARYING if varying is None else varying, 0, 1)
    of_states = None
    if levels:
        part = DAG(list(levels), _edges(levels, families))
        of_states = BayesianNetwork(part, levels, tables, parents=with_states)
    equations = draw_equations(families, of_states, weights, variance, varying, draws)
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
