"""Networks made from another: large ones from copies of a small one, and mixed ones from a discrete one.

Tsamardinos, Brown and Aliferis measured MMHC [2]_ on networks such as Alarm10, ten copies of Alarm, made by
*tiling* [1]_: copies of a network, the tiles, are joined by a few edges so that each keeps its structure and,
as far as possible, its probabilities. :func:`tile` does it as follows; their method may differ in details.

Edges between tiles lead only into *roots*, variables without parents: in each copy but the first, every root
gets `edges` parents, drawn at random among all variables of the earlier copies. All other tables are copied.
A root X with the distribution p and one new parent Y gets

    P(x | y) = (1 - strength) p(x) + strength c(x | y),

where c comes from placing the states of X and those of Y, in random orders, along the interval from 0 to 1,
each with a length equal to its probability: c(x | y) is the share of y's part that x covers. Averaged over
the distribution of Y this gives p(x) again. With several new parents P is the mean over them, which keeps p
even if the parents depend on each other.

Two things hold only approximately. The distributions of the new parents are estimated from 100,000 rows
sampled from one tile. And the roots of a tile, which were independent, may get parents that depend on each
other, so the joint distribution of a tile can differ slightly from the original.

References
----------
.. [1] I. Tsamardinos, A. Statnikov, L. Brown, C. Aliferis. Generating realistic large Bayesian networks by
   tiling. FLAIRS 2006.
.. [2] I. Tsamardinos, L. Brown, C. Aliferis. The max-min hill-climbing Bayesian network structure learning
   algorithm. Machine Learning 65, 2006.
"""

from __future__ import annotations

import numpy as np

from f2sl._options import flag, positive, whole
from f2sl.errors import OptionError, shown
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import FloatArray, check_size
from f2sl.network.sampling import Draws, sample_table

SAMPLED = 100_000
"""Rows from which the marginal distributions of a tile are taken."""


def tile(
    network: BayesianNetwork, copies: int, random_state: int = 0, *, edges: int = 1, strength: float = 0.5
) -> BayesianNetwork:
    """Join copies of a network into a large one with the same local structure.

    Parameters
    ----------
    network : BayesianNetwork
        The tile.
    copies : int
        Number of copies.
    random_state : int
        The same seed gives the same network on every machine.
    edges : int
        Largest number of parents in earlier copies for each root of a later copy.
    strength : float
        Strength of these parents, from 0 (none) to 1 (the most that keeps the roots' probabilities).

    Returns
    -------
    BayesianNetwork
        The variable ``x`` of the third copy is called ``x.3`` (``x.03`` if there are ten copies or more).

    Examples
    --------
    >>> import f2sl
    >>> alarm10 = tile(f2sl.load_network("alarm"), 10, random_state=3)
    >>> alarm10.graph.n_nodes, alarm10.graph.n_edges  # 12 roots in each of 9 copies
    (370, 568)
    """
    if not isinstance(network, BayesianNetwork) or network.equations:
        raise OptionError(f"tile needs a discrete BayesianNetwork, not {shown(network)}; see load_network()")
    copies, edges = whole("copies", copies, least=1), whole("edges", edges)
    strength = positive("strength", strength, least=0, most=1)
    draws = Draws(whole("random_state", random_state), copies)
    marginals = _marginals(network)
    digits = len(str(copies))
    names = [
        {name: f"{name}.{copy:0{digits}d}" for name in network.variables} for copy in range(1, copies + 1)
    ]
    parents: dict[str, list[str]] = {}
    tables: dict[str, FloatArray] = {}
    earlier: list[tuple[str, str]] = []
    for renamed in names:
        for name, new_name in renamed.items():
            parents[new_name] = [renamed[parent] for parent in network.parents(name)]
            tables[new_name] = network.tables[name]
            if not parents[new_name] and earlier and edges:
                chosen = _choose(earlier, edges, draws)
                parents[new_name] = [parent for parent, _ in chosen]
                own = network._distributions(name)[0]
                tables[new_name] = _with_parents(
                    new_name, own, [marginals[tile_name] for _, tile_name in chosen], strength, draws
                )
        earlier.extend((new_name, name) for name, new_name in renamed.items())
    graph = DAG(list(tables), [(p, child) for child, listed in parents.items() for p in listed])
    states = {renamed[name]: listed for renamed in names for name, listed in network.states.items()}
    return BayesianNetwork(graph, states, tables, parents=parents, name=f"{network.name}{copies}")


def _marginals(network: BayesianNetwork) -> dict[str, FloatArray]:
    """Estimate the marginal distribution of each variable."""
    table = sample_table(network, SAMPLED, random_state=0)
    return {
        name: np.bincount(codes, minlength=len(states)) / SAMPLED
        for name, states, codes in zip(table.names, table.states, table.codes, strict=True)
    }


def _choose(earlier: list[tuple[str, str]], edges: int, draws: Draws) -> list[tuple[str, str]]:
    """Draw different variables of earlier copies."""
    chosen: dict[int, None] = {}
    while len(chosen) < min(edges, len(earlier)):
        chosen[draws.below(len(earlier))] = None
    return [earlier[i] for i in chosen]


def _with_parents(
    name: str, own: FloatArray, of_parents: list[FloatArray], strength: float, draws: Draws
) -> FloatArray:
    """Return the table of a root that gets parents, whose distributions are `of_parents`."""
    shape = [*(len(distribution) for distribution in of_parents), len(own)]
    check_size(name, shape)
    mean = np.zeros(shape)
    for axis, distribution in enumerate(of_parents):
        along = [1] * len(shape)
        along[axis], along[-1] = len(distribution), len(own)
        mean = mean + _coupled(own, distribution, draws).reshape(along) / len(of_parents)
    return np.asarray((1 - strength) * own + strength * mean)


def _coupled(own: FloatArray, parent: FloatArray, draws: Draws) -> FloatArray:
    """Place two distributions along the same interval; return the shares that cover each parent state."""
    x_order = np.array(draws.shuffled(range(len(own))))
    y_order = np.array(draws.shuffled(range(len(parent))))
    x_end, y_end = own[x_order].cumsum(), parent[y_order].cumsum()
    x_end, y_end = x_end / x_end[-1], y_end / y_end[-1]
    x_start, y_start = np.append(0.0, x_end[:-1]), np.append(0.0, y_end[:-1])
    overlap = np.minimum(x_end, y_end[:, None]) - np.maximum(x_start, y_start[:, None])
    overlap = np.maximum(overlap, 0.0)
    length = overlap.cumsum(axis=1)[:, -1:]
    # A state that never occurs covers nothing; what it selects does not matter.
    share = np.where(length > 0, overlap / np.where(length > 0, length, 1.0), own[x_order])
    table = np.empty_like(share)
    table[np.ix_(y_order, x_order)] = share
    return np.asarray(table)


HIDDEN = " (hidden)"
"""Suffix of the name of a variable observed as continuous."""


def observed_as_continuous(
    network: BayesianNetwork,
    share: float = 0.5,
    random_state: int = 0,
    *,
    noise: float = 0.5,
    ordered: bool = False,
) -> BayesianNetwork:
    """Observe some variables of a discrete network as continuous.

    The states of such a variable have the means 0, 1, 2, ...; the observation is the mean of its state plus
    Gaussian noise. So a published network gives mixed data with a known graph. The graph is true for the
    hidden variables; noisy observations of them do not follow it exactly.

    Parameters
    ----------
    network : BayesianNetwork
        A discrete network, such as a bundled one.
    share : float
        Share of the variables to observe as continuous; they are drawn at random.
    random_state : int
        The same seed gives the same variables and means.
    noise : float
        The standard deviation of the noise; neighboring means are 1 apart.
    ordered : bool
        If true, the means follow the order of the states; by default their order is random.

    Returns
    -------
    BayesianNetwork
        The variables of `network`, in their order, followed by the continuous ones. Each of these takes the
        name of the variable it observes, which is renamed to ``"name (hidden)"``. Sampled with the same seed,
        both networks have the same states.

    Examples
    --------
    >>> import f2sl
    >>> asia = f2sl.load_network("asia")
    >>> measured = observed_as_continuous(asia, random_state=1)
    >>> frame = measured.sample(1000, random_state=1)[list(asia.variables)]
    >>> [name for name in frame if frame[name].dtype == float]
    ['tub', 'smoke', 'lung', 'either']
    """
    if not isinstance(network, BayesianNetwork) or network.equations:
        raise OptionError(f"a discrete network is observed as continuous, not {shown(network)}")
    share = positive("share", share, least=0, most=1)
    noise = positive("noise", noise, least=1e-9, most=1e9)
    flag("ordered", ordered)
    draws = Draws(whole("random_state", random_state))
    drawn = set(draws.shuffled(network.variables)[: int(share * len(network.variables) + 0.5)])
    observed = [name for name in network.variables if name in drawn]
    renamed = {name: name + HIDDEN if name in drawn else name for name in network.variables}
    states = network.states
    means = {
        name: list(range(len(states[name]))) if ordered else draws.shuffled(range(len(states[name])))
        for name in observed
    }
    edges = [(renamed[a], renamed[b]) for a, b in network.graph.directed_edges]
    return BayesianNetwork(
        DAG([*renamed.values(), *observed], [*edges, *((renamed[name], name) for name in observed)]),
        {renamed[name]: listed for name, listed in states.items()},
        {renamed[name]: table for name, table in network.tables.items()},
        equations={name: (means[name], [], noise**2) for name in observed},
        parents={renamed[name]: [renamed[p] for p in network.parents(name)] for name in network.variables},
        name=network.name,
    )
