"""Networks with some variables observed as numbers."""

from __future__ import annotations

from f2sl._options import flag, positive, whole
from f2sl.errors import OptionError, shown
from f2sl.graph import DAG
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.draws import Draws

HIDDEN = " (hidden)"
"""Suffix of the name of a variable observed as a number."""


def observed_as_numbers(
    network: BayesianNetwork,
    share: float = 0.5,
    random_state: int = 0,
    *,
    noise: float = 0.5,
    ordered: bool = False,
) -> BayesianNetwork:
    """Observe some variables of a network of states as numbers.

    The states of such a variable have the means 0, 1, 2, ...; the observation is the mean of its state plus
    Gaussian noise. So a published network gives mixed data with a known graph. The graph is true for the
    hidden variables; noisy observations of them do not follow it exactly.

    Parameters
    ----------
    network : BayesianNetwork
        A network of states, such as a bundled one.
    share : float
        Share of the variables to observe as numbers; they are drawn at random.
    random_state : int
        The same seed gives the same variables and means.
    noise : float
        The standard deviation of the noise; neighboring means are 1 apart.
    ordered : bool
        If true, the means follow the order of the states; by default their order is random.

    Returns
    -------
    BayesianNetwork
        The variables of `network`, in their order, followed by the numbers. Each number takes the name of the
        variable it observes, which is renamed to ``"name (hidden)"``. Sampled with the same seed, both
        networks have the same states.

    Examples
    --------
    >>> import f2sl
    >>> asia = f2sl.load_network("asia")
    >>> frame = observed_as_numbers(asia, random_state=1).sample(1000, random_state=1)[list(asia.variables)]
    >>> [name for name in frame if frame[name].dtype == float]
    ['tub', 'smoke', 'lung', 'either']
    """
    if not isinstance(network, BayesianNetwork) or network.equations:
        raise OptionError(f"a network of states is observed as numbers, not {shown(network)}")
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
