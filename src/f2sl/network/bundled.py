"""The networks that come with f2sl, by name.

They are all 24 discrete networks of the Bayesian Network Repository [1]_ that are published with pgmpy.
f2sl's own writer rewrote the files (``tools/bundle_networks.py``) without changing numbers; the NOTICE beside
them has their source and licence, CC BY-SA 3.0.

``gene-like`` is not one of these. It *stands in* for Gene, a network of 801 genes and 972 edges that the F2SL
paper uses and that is not available. It is a random network of the same size, degrees and numbers of states
(:func:`f2sl.random_network` with its defaults). Its dependences are just strong enough for FCBF to find
parents and children with an F1 near the paper's 0.97 from 500 rows. It says nothing about genes.

>>> load_network("asia").graph.parents("dysp")
['bronc', 'either']

References
----------
.. [1] M. Scutari. Bayesian Network Repository, https://www.bnlearn.com/bnrepository/.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from f2sl._constants import STAND_IN
from f2sl._notes import Note
from f2sl.errors import OptionError, shown, unknown_name
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats import FORMATS, read_network, suffix_of
from f2sl.network.random import random_network

_NAMES = """
alarm andes asia barley cancer child diabetes earthquake hailfinder hepar2 insurance link mildew munin munin1
munin2 munin3 munin4 pathfinder pigs sachs survey water win95pts
"""
REPOSITORY = tuple(_NAMES.split())
"""The bundled networks of the repository."""
NETWORKS = (*REPOSITORY, STAND_IN)
"""The names that :func:`load_network` knows."""


@dataclass(frozen=True)
class NetworkSize:
    """Size of a network."""

    name: str
    variables: int
    edges: int
    max_in_degree: int
    max_out_degree: int
    least_states: int
    most_states: int
    parameters: int


def load_network(name_or_path: str | os.PathLike[str]) -> BayesianNetwork:
    """Load a bundled network by its name, or read one from a file: JSON, BIF, XMLBIF, Hugin NET, GeNIe XDSL.

    Parameters
    ----------
    name_or_path : str or path
        A bundled name such as ``"alarm"`` (``"gene-like"`` is a random network that stands in for the F2SL
        paper's Gene), or a path, whose suffix names the format: see :meth:`BayesianNetwork.save`. A string
        without ``/`` and such a suffix is a name.

    Returns
    -------
    BayesianNetwork
        A :class:`GaussianNetwork` if none of its variables has states.

    Raises
    ------
    OptionError
        If no bundled network has that name (the message lists the names), or it is neither a name nor a path.
    FileError
        If a file cannot be read or understood; names the file and the line.

    Examples
    --------
    >>> load_network("alarm")
    BayesianNetwork(37 variables, 46 edges, 509 parameters)
    """
    given = name_or_path
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"a network is loaded by its name or its path, not by {shown(given)}")
    if given == STAND_IN:
        return random_network(name=STAND_IN)
    if isinstance(given, str) and given in REPOSITORY:
        return read_network(_folder() / f"{given}.bif.gz")
    if isinstance(given, str) and suffix_of(given) is None and not set(given) & {"/", os.sep}:
        problem, suffixes = unknown_name("network", given, NETWORKS), ", ".join(FORMATS)
        raise OptionError(
            Note(problem.kind, problem, f", or the path of a file: {suffixes}", **problem.values)
        )
    return read_network(given)


def size_of(network: BayesianNetwork) -> NetworkSize:
    """Measure a network.

    Examples
    --------
    >>> size_of(load_network("asia"))
    NetworkSize(name='asia', variables=8, edges=8, max_in_degree=2, max_out_degree=2, least_states=2, most_states=2, parameters=18)
    """  # noqa: E501
    graph = network.graph
    sizes = [len(states) for states in network.states.values()]
    return NetworkSize(
        name=network.name,
        variables=graph.n_nodes,
        edges=graph.n_edges,
        max_in_degree=max(len(graph.parents(node)) for node in graph.nodes),
        max_out_degree=max(len(graph.children(node)) for node in graph.nodes),
        least_states=min(sizes),
        most_states=max(sizes),
        parameters=network.n_parameters,
    )


@cache
def bundled_sizes() -> tuple[NetworkSize, ...]:
    """Return the sizes of the bundled networks, without reading them all."""
    index = json.loads((_folder() / "index.json").read_text(encoding="utf-8"))
    return tuple(NetworkSize(**entry) for entry in index)


def _folder() -> Path:
    return Path(str(files(__package__))) / "bundled"
