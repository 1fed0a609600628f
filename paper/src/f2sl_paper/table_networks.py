"""Table 1: the networks."""

from __future__ import annotations

import math
from dataclasses import replace

from f2sl_paper import paper
from f2sl_paper.names import NETWORKS, data
from f2sl_paper.paper import Figure
from f2sl_paper.results import Cells
from f2sl_paper.store import NetworkFacts
from f2sl_paper.table_model import Column, Entry, Row, Table

_FACTS = {
    "variables": ("Variables", "variables"),
    "edges": ("Edges", "edges"),
    "max_in": ("Max in-degree", "max_in_degree"),
    "max_out": ("Max out-degree", "max_out_degree"),
    "min_pc": ("Min PC set", "min_pc"),
    "max_pc": ("Max PC set", "max_pc"),
    "min_states": ("Min states", "min_states"),
    "max_states": ("Max states", "max_states"),
}
"""Properties of a network: head, and name in the paper's table."""


def networks_table(cells: Cells) -> Table:
    """Return table 1, the sizes of the networks, with a row for each source of data."""
    columns = tuple(Column(label, key, form="count") for key, (label, _) in _FACTS.items())
    blocks = []
    for network, label in NETWORKS.items():
        known: list[NetworkFacts | None] = [
            facts for (name, _), facts in sorted(cells.facts.items()) if name == network
        ]
        block = []
        for facts in known or [None]:
            entries = []
            for key, (_, printed) in _FACTS.items():
                theirs = Figure(paper.networks()[network][printed], 0.0)
                entry = Entry(paper_state="done", paper=theirs)
                if facts is not None:
                    ours = Figure(getattr(facts, key), math.nan)
                    entry = replace(entry, state="done", figure=ours, star=ours.mean != theirs.mean)
                entries.append(entry)
            source = "" if facts is None else data(network, facts.source)
            block.append(Row((label, source), tuple(entries)))
        blocks.append(tuple(block))
    notes = (
        "In brackets the paper's, and ours less the paper's. *: not the same. "
        "PC set: parents and children of a variable.",
    )
    return Table(1, "networks", "The networks", ("Network", "Data"), columns, tuple(blocks), notes)
