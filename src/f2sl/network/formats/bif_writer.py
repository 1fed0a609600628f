"""Write BIF.

The same network always gives the same text: variables in their order, then their tables row by row, the last
parent's state changing fastest, and numbers with enough digits to read the same number back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.bif_tokens import quoted


def write_bif(network: BayesianNetwork, header: Iterable[str] = ()) -> Iterator[str]:
    """Write a network in pieces of text.

    Parameters
    ----------
    network
        Network to write.
    header
        Lines of a comment at the top of the file.

    Examples
    --------
    >>> import f2sl
    >>> graph = f2sl.DAG(["out", "bark"], [("out", "bark")])
    >>> states = {"out": ["yes", "no"], "bark": ["loud", "no bark"]}
    >>> tables = {"out": [0.15, 0.85], "bark": [[0.7, 0.3], [0.01, 0.99]]}
    >>> print(*write_bif(BayesianNetwork(graph, states, tables, name="dogs")), sep="", end="")
    network dogs {
    }
    variable out {
      type discrete [ 2 ] { yes, no };
    }
    variable bark {
      type discrete [ 2 ] { loud, "no bark" };
    }
    probability ( out ) {
      table 0.15, 0.85;
    }
    probability ( bark | out ) {
      (yes) 0.7, 0.3;
      (no) 0.01, 0.99;
    }
    """
    for line in header:
        yield f"// {line}".rstrip() + "\n"
    yield f"network {quoted(network.name or 'unknown')} {{\n}}\n"
    names = {name: quoted(name) for name in network.variables}
    states = {name: [quoted(state) for state in listed] for name, listed in network.states.items()}
    for name, listed in states.items():
        yield f"variable {names[name]} {{\n  type discrete [ {len(listed)} ] {{ {', '.join(listed)} }};\n}}\n"
    for name in network.variables:
        yield from _probability(network, name, names, states)


def _probability(
    network: BayesianNetwork, name: str, names: dict[str, str], states: dict[str, list[str]]
) -> Iterator[str]:
    parents = network.parents(name)
    table = network.tables[name]
    if not parents:
        yield f"probability ( {names[name]} ) {{\n  table {_numbers(table.tolist())};\n}}\n"
        return
    yield f"probability ( {names[name]} | {', '.join(names[p] for p in parents)} ) {{\n"
    rows = table.reshape(-1, table.shape[-1]).tolist()
    for labels, row in zip(product(*(states[p] for p in parents)), rows, strict=True):
        yield f"  ({', '.join(labels)}) {_numbers(row)};\n"
    yield "}\n"


def _numbers(row: list[float]) -> str:
    return ", ".join(map(repr, row))
