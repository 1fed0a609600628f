"""Networks in JSON, f2sl's own format, for states and for numbers; the same text for the same network.

There is an object for each variable, in their order, one a line::

    {"format":"f2sl-network","version":1,"name":"dogs","variables":[
    {"name":"out","parents":[],"states":["yes","no"],"table":[0.15,0.85]},
    {"name":"weight","parents":[],"intercepts":20.0,"coefficients":[],"variances":25.0},
    {"name":"bark","parents":["out","weight"],"intercepts":[40.0,20.0],"coefficients":[[0.5],[0.1]],"variances":[16.0,4.0]}
    ]}

A discrete variable has a table, a continuous one has an equation, with axes in the order of its
``parents``: see :class:`f2sl.BayesianNetwork`. Values that are the same in all configurations of an equation
may be given once. :func:`f2sl.load_graph` reads the graph of such a file.
"""

from __future__ import annotations

import json
from typing import Any

from f2sl.errors import F2SLError, shown
from f2sl.graph import DAG
from f2sl.graph.formats.common import FormatError
from f2sl.graph.formats.json_file import NETWORK, arrows_of, families_of, parsed
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import Equation
from f2sl.network.gaussian import GaussianNetwork

_OF_STATES = {"name", "parents", "states", "table"}
_OF_NUMBERS = {"name", "parents", *Equation._fields}


def write(network: BayesianNetwork) -> str:
    """Return the text of a network.

    Examples
    --------
    >>> import f2sl
    >>> print(write(f2sl.GaussianNetwork(f2sl.DAG(["a"]), {}, {"a": 2.0}, name="one")), end="")
    {"format":"f2sl-network","version":1,"name":"one","variables":[
    {"name":"a","parents":[],"intercepts":0.0,"coefficients":[],"variances":2.0}
    ]}
    """
    entries, states = [], network.states
    for name in network.variables:
        entry: dict[str, Any] = {"name": name, "parents": network.parents(name)}
        if name in states:
            entry |= {"states": states[name], "table": network.tables[name].tolist()}
        else:
            parts = network.equations[name]._asdict()
            entry |= {part: array.tolist() for part, array in parts.items()}
        entries.append(_text(entry))
    graph = network.graph
    doubts = {"weak": sorted(graph.weak), "either_way": sorted(graph.either_way)}
    more = "".join(f"{_text(key)}:{_text(arrows)}," for key, arrows in doubts.items() if arrows)
    head = f'{{"format":"{NETWORK}","version":1,"name":{_text(network.name)},{more}"variables":[\n'
    return head + ",\n".join(entries) + "\n]}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read(content: bytes) -> BayesianNetwork:
    """Return the network of a file; a :class:`GaussianNetwork` if no variable has states.

    Raises
    ------
    FormatError
        If the text is not such a network.
    """
    given = parsed(content, (NETWORK,))
    families = families_of(given)
    tables, equations, states = {}, {}, {}
    for (name, _), entry in zip(families, given["variables"], strict=True):
        if set(entry) == _OF_STATES:
            states[name], tables[name] = entry["states"], entry["table"]
        elif set(entry) == _OF_NUMBERS:
            equations[name] = tuple(entry[part] for part in Equation._fields)
        else:
            needed = "states and table, or intercepts, coefficients and variances"
            raise FormatError(f"variable {shown(name)} needs name, parents and {needed}, and nothing else")
    try:
        graph = DAG([name for name, _ in families], [(p, name) for name, listed in families for p in listed])
        edges = graph.directed_edges
        graph.weak, graph.either_way = (arrows_of(given, key, edges) for key in ("weak", "either_way"))
        network = BayesianNetwork(
            graph,
            states,
            tables,
            equations=equations,
            parents=dict(families),
            name=given.get("name", ""),
        )
    except F2SLError as error:
        raise FormatError(error.note) from None
    return network if states else GaussianNetwork._of(network)
