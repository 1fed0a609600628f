"""Sources of the data: the paper's own data sets, or samples of the bundled networks.

A folder with zip files of the supplement (:mod:`~f2sl_paper.supplement`) is used for the networks whose
file is in it. Data of the other networks are sampled with fixed seeds, the same on every machine, and marked
as sampled. In both cases learners get only the states that occur in the rows, numbered in their order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl.data.open import open_table
from f2sl.data.table import Table
from f2sl.errors import FileError
from f2sl.graph import DAG
from f2sl.network import BayesianNetwork
from f2sl.network.bundled import load_network
from f2sl.network.sampling import sample_table
from f2sl_paper.settings import NETWORKS, seed_of
from f2sl_paper.store import NetworkFacts
from f2sl_paper.supplement import FILES, Supplement

VARIABLE = "F2SL_MMHC_DATA"
"""The environment variable that names the folder of the supplement."""
OF_THE_PAPER, SAMPLED = "paper", "sampled"


class Source(Protocol):
    """Data sets of one network, and the graph they were sampled from."""

    name: str
    """True if the data are the paper's own."""
    truth: DAG

    def table(self, rows: int, data_set: int) -> Table:
        """Return a data set by its number, from 1."""

    def facts(self) -> NetworkFacts:
        """Measure the network."""


class PaperSource:
    """Source of the paper's own data sets of a network."""

    name = OF_THE_PAPER

    def __init__(self, folder: Path, network: str) -> None:
        self._supplement = Supplement(folder, network)
        self.truth = self._supplement.truth

    def table(self, rows: int, data_set: int) -> Table:
        """Read a data set."""
        return open_table(
            self._supplement.table(rows, data_set), names=self._supplement.names, kinds="discrete"
        )

    def facts(self) -> NetworkFacts:
        """Measure the graph, and count the states that occur in any of the data sets."""
        columns = np.concatenate(self._supplement.all_tables()).T
        states = [len(np.unique(column)) for column in columns]
        return _facts(self._supplement.network, self.name, self.truth, states)


class SampledSource:
    """Data sets drawn from the bundled network that is, or stands in for, one of the paper's."""

    name = SAMPLED

    def __init__(self, network: str) -> None:
        self._network = network
        self._drawn_from = load_network(NETWORKS[network].bundled)
        self.truth = self._drawn_from.graph

    def table(self, rows: int, data_set: int) -> Table:
        """Draw a data set."""
        return sampled_table(self._drawn_from, rows, seed_of(rows, data_set))

    def facts(self) -> NetworkFacts:
        """Measure the network that is drawn from, with all states that it has."""
        states = [len(listed) for listed in self._drawn_from.states.values()]
        return _facts(self._network, self.name, self.truth, states)


def data_folder(given: str | os.PathLike[str] | None, networks: Iterable[str]) -> Path | None:
    """Find the folder of the supplement: the one given, or the one that the environment names.

    Raises
    ------
    FileError
        If it does not exist, or was given and has data of none of these networks.
    """
    named = os.environ.get(VARIABLE) if given is None else given
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        whose = f" (named by {VARIABLE})" if given is None else ""
        raise FileError(
            f"{folder}: no such folder{whose}; the zip files of the paper's data are expected there"
        )
    wanted = [FILES[network] for network in networks]
    if given is not None and not any((folder / name).is_file() for name in wanted):
        raise FileError(
            f"{folder}: holds none of {', '.join(wanted)}; without --data (and {VARIABLE}) data are sampled "
            "from the bundled networks"
        )
    return folder


def source_name(network: str, folder: Path | None) -> str:
    """Return where the data of a network come from, without opening them."""
    there = folder is not None and (folder / FILES[network]).exists()
    return OF_THE_PAPER if there else SAMPLED


def open_source(network: str, folder: Path | None) -> Source:
    """Open a network's data."""
    if folder is not None and source_name(network, folder) == OF_THE_PAPER:
        return PaperSource(folder, network)
    return SampledSource(network)


def sampled_table(network: BayesianNetwork, rows: int, random_state: int) -> Table:
    """Draw rows and keep only the states that occur, as in data from an unknown network."""
    drawn = sample_table(network, rows, random_state)
    return open_table(drawn.codes.T, names=drawn.names, kinds="discrete")


def _facts(network: str, source: str, truth: DAG, states: list[int]) -> NetworkFacts:
    into, out = degrees(truth)
    both = into + out
    return NetworkFacts(
        network=network,
        source=source,
        variables=truth.n_nodes,
        edges=truth.n_edges,
        max_in=int(into.max()),
        max_out=int(out.max()),
        min_pc=int(both.min()),
        max_pc=int(both.max()),
        min_states=min(states),
        max_states=max(states),
    )


def degrees(graph: DAG) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the parents and the children of every node.

    Examples
    --------
    >>> into, out = degrees(DAG(["a", "b", "c"], [("a", "b"), ("c", "b")]))
    >>> into.tolist(), out.tolist()
    ([0, 2, 0], [1, 0, 1])
    """
    tails, heads = graph.directed_array.T
    n = graph.n_nodes
    return np.bincount(heads, minlength=n), np.bincount(tails, minlength=n)
