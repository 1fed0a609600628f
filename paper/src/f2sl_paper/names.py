"""Printed names of networks, learners, settings and sources, in the order of the paper's tables."""

from __future__ import annotations

import math
from typing import Final

from f2sl_paper import settings

NETWORKS: Final = {name: network.title for name, network in settings.NETWORKS.items()}
STRUCTURE_LEARNERS: Final = (
    "gsbn",
    "mmhc",
    "mmhc-c",
    "sll+c",
    "sll+g",
    "ggsl",
    "notears",
    "dag-gnn",
    "f2sl-c",
    "f2sl-s",
)
PC_LEARNERS: Final = ("mmpc", "hiton-pc", "pc-simple", "sll-pc", "s2tmb-pc", "fcbf")
LEARNERS: Final = {name: learner.title for name, learner in settings.LEARNERS.items()}
SETTINGS: Final = {settings.PAPER: "as in the paper", settings.DEFAULT: "f2sl defaults"}
SOURCES: Final = {"paper": "the paper's data", "sampled": "sampled"}
MEASURES: Final = {
    "shd": "SHD",
    "reverse": "Reverse",
    "miss": "Miss",
    "extra": "Extra",
    "f1": "F1",
    "precision": "Precision",
    "recall": "Recall",
    "seconds": "Time (s)",
}


def data(network: str, source: str) -> str:
    """Return the source of the data: the paper, or the network that they are sampled from.

    Examples
    --------
    >>> data("gene", "paper"), data("gene", "sampled"), data("pigs", "sampled"), data("pigs", "")
    ("the paper's data", 'sampled from gene-like', 'sampled', '')
    """
    title = SOURCES.get(source, source)
    bundled = settings.NETWORKS[network].bundled
    return f"{title} from {bundled}" if source == "sampled" and bundled != network else title


def size(rows: int) -> str:
    """Write a number of rows as the paper does.

    Examples
    --------
    >>> size(1000)
    '1,000'
    """
    return f"{rows:,}"


def decimals(value: float, digits: int = 3) -> int:
    """Return the number of decimals that gives a number this many significant digits."""
    return max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 else 2


def short(value: float) -> str:
    """Write a number with three significant digits, never in exponential notation.

    Examples
    --------
    >>> short(0.012345), short(50880.71)
    ('0.0123', '50,881')
    """
    return f"{value:,.{decimals(value)}f}"
