"""Networks in XML: XMLBIF and XDSL.

XMLBIF 0.3 is BIF in XML (Cozman 1998), which Weka, JavaBayes, pgmpy and pyAgrum know::

    <BIF VERSION="0.3"><NETWORK><NAME>dogs</NAME>
    <VARIABLE TYPE="nature"><NAME>out</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>out</FOR><TABLE>0.15 0.85</TABLE></DEFINITION>
    </NETWORK></BIF>

Parents are ``<GIVEN>``. Names that XML cannot hold, or that begin or end with white space, are written as
JSON strings.

XDSL is the format of GeNIe and SMILE::

    <smile version="1.0" id="dogs"><nodes>
    <cpt id="out"><state id="yes"/><state id="no"/><probabilities>0.15 0.85</probabilities></cpt>
    </nodes></smile>

Nodes come after their parents. Ids consist of letters, digits and underscores. If a name has other
characters, or the variables are in another order, a property ``f2sl`` of the node stores name and place as
JSON. Of the other kinds of nodes, only ``deterministic`` is read.

In the numbers of both the child's state changes fastest, the first parent's slowest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from f2sl.errors import shown, unknown_name
from f2sl.graph.formats.common import FormatError
from f2sl.graph.formats.xml import Element, as_text, name_of, parse
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.draft import Draft, NumberRow, ProbabilityBlock, identifiers

# Without the document type that the definition of the format has: pyAgrum cannot read it.
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'


def write_xmlbif(network: BayesianNetwork) -> Iterator[str]:
    """Yield the text of a network in XMLBIF.

    Examples
    --------
    >>> import f2sl
    >>> coin = f2sl.BayesianNetwork(f2sl.DAG(["coin"]), {"coin": ["heads", "<"]}, {"coin": [0.5, 0.5]})
    >>> print("".join(write_xmlbif(coin)).split("</NAME>", 1)[1])
    <BLANKLINE>
    <VARIABLE TYPE="nature"><NAME>coin</NAME><OUTCOME>heads</OUTCOME><OUTCOME>&lt;</OUTCOME></VARIABLE>
    <DEFINITION><FOR>coin</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
    </NETWORK>
    </BIF>
    <BLANKLINE>
    """
    yield _HEAD
    yield f"<NAME>{as_text(network.name or 'unknown')}</NAME>\n"
    for name, states in network.states.items():
        outcomes = "".join(f"<OUTCOME>{as_text(state)}</OUTCOME>" for state in states)
        yield f'<VARIABLE TYPE="nature"><NAME>{as_text(name)}</NAME>{outcomes}</VARIABLE>\n'
    for name, table in network.tables.items():
        given = "".join(f"<GIVEN>{as_text(parent)}</GIVEN>" for parent in network.parents(name))
        numbers = " ".join(map(repr, table.ravel().tolist()))
        yield f"<DEFINITION><FOR>{as_text(name)}</FOR>{given}<TABLE>{numbers}</TABLE></DEFINITION>\n"
    yield "</NETWORK>\n</BIF>\n"


def read_xmlbif(content: bytes) -> BayesianNetwork:
    """Return the network of a file in XMLBIF.

    Examples
    --------
    >>> text = '<VARIABLE><NAME>a</NAME><OUTCOME>u</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR>'
    >>> read_xmlbif(f"<BIF><NETWORK>{text}<TABLE>1</TABLE></DEFINITION></NETWORK></BIF>".encode()).states
    {'a': ('u',)}
    """
    networks = list(parse(content, "bif").all("network"))
    if len(networks) != 1:
        raise FormatError(f"the file has {len(networks)} networks, not one")
    draft = Draft()
    title = networks[0].first("name")
    draft.name = "" if title is None else name_of(title.text)
    for variable in networks[0].all("variable"):
        role = variable.attributes.get("TYPE", "nature")
        name = _name(variable, "name")
        if role != "nature":
            draft.fail(f"variable {name!r} is of the type {role!r}; only 'nature' is read", variable.line)
        states = [(name_of(outcome.text), outcome.line) for outcome in variable.all("outcome", "value")]
        draft.add_variable(name, states, variable.line)
    for definition in networks[0].all("definition", "probability"):
        child, table = _name(definition, "for"), definition.first("table")
        if table is None:
            draft.fail(f"the definition of {child!r} has no <TABLE>", definition.line)
        names = [(name_of(one.text), one.line) for one in definition.all("for", "given")]
        entry = NumberRow(table.line, table.numbers())
        draft.add_block(child, ProbabilityBlock(definition.line, names, entry, child_last=True))
    return draft.network()


def _name(element: Element, tag: str) -> str:
    found = list(element.all(tag))
    if len(found) != 1:
        raise FormatError(f"a <{element.tag}> has {len(found)} elements <{tag}>, not one", element.line)
    return name_of(found[0].text)


def write_xdsl(network: BayesianNetwork) -> Iterator[str]:
    """Yield the text of a network in XDSL.

    Examples
    --------
    >>> import f2sl
    >>> coin = f2sl.BayesianNetwork(f2sl.DAG(["coin"]), {"coin": ["heads", "<"]}, {"coin": [0.5, 0.5]})
    >>> print("".join(write_xdsl(coin)).split("<nodes>")[1].split("</nodes>")[0])
    <BLANKLINE>
    <cpt id="coin">
    <state id="heads"/>
    <state id="s"/>
    <property id="f2sl">{"states": ["heads", "&lt;"]}</property>
    <probabilities>0.5 0.5</probabilities>
    </cpt>
    <BLANKLINE>
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    title = quoteattr(identifiers([network.name or "unknown"], "n")[0])
    yield f'<smile version="1.0" id={title}>\n<nodes>\n'
    order = network.graph.topological_order()
    ids = dict(zip(network.variables, identifiers(network.variables, "n"), strict=True))
    offset = {} if order == list(network.variables) else {name: i for i, name in enumerate(network.variables)}
    for name in order:
        states = network.states[name]
        state_ids = identifiers(states, "s")
        aside: dict[str, Any] = {} if ids[name] == name else {"name": name}
        aside |= {} if tuple(state_ids) == states else {"states": states}
        aside |= {"place": offset[name]} if offset else {}
        yield f'<cpt id="{ids[name]}">\n' + "".join(f'<state id="{state}"/>\n' for state in state_ids)
        if network.parents(name):
            yield f"<parents>{' '.join(ids[parent] for parent in network.parents(name))}</parents>\n"
        if aside:
            yield f'<property id="f2sl">{escape(json.dumps(aside))}</property>\n'
        yield f"<probabilities>{' '.join(map(repr, network.tables[name].ravel().tolist()))}</probabilities>\n"
        yield "</cpt>\n"
    # What GeNIe shows; pyAgrum does not read a file without it.
    yield f'</nodes>\n<extensions>\n<genie version="1.0" app="f2sl" name={title}>\n'
    for name in order:
        yield f'<node id="{ids[name]}"><name>{as_text(name)}</name></node>\n'
    yield "</genie>\n</extensions>\n</smile>\n"


def read_xdsl(content: bytes) -> BayesianNetwork:
    """Return the network of a file in XDSL.

    Examples
    --------
    >>> node = '<cpt id="a"><state id="u"/><probabilities>1</probabilities></cpt>'
    >>> read_xdsl(f'<smile id="net"><nodes>{node}</nodes></smile>'.encode()).states
    {'a': ('u',)}
    """
    smile = parse(content, "smile")
    nodes = smile.first("nodes")
    if nodes is None:
        raise FormatError("there are no <nodes> in the file")
    asides = [(node, _aside(node)) for node in nodes.inner]
    asides.sort(key=lambda one: one[1].get("place", 0))
    draft = Draft()
    draft.name = smile.attributes.get("id", "")
    names = {node.named(): aside.get("name", node.named()) for node, aside in asides}
    for node, aside in asides:
        name = names[node.named()]
        if node.tag not in ("cpt", "deterministic"):
            problem = f"{shown(name)} is a <{node.tag}>; only <cpt> and <deterministic> nodes are read"
            draft.fail(problem, node.line)
        listed = [(state.named(), state.line) for state in node.all("state")]
        states = aside.get("states", [state for state, _ in listed])
        if len(states) != len(listed):
            draft.fail(f"{shown(name)} has {len(listed)} states, but {len(states)} names of them", node.line)
        draft.add_variable(
            name, [(one, line) for one, (_, line) in zip(states, listed, strict=True)], node.line
        )
        parents = node.first("parents")
        line = node.line if parents is None else parents.line
        given = [] if parents is None else [(names.get(one, one), line) for one in parents.text.split()]
        draft.add_block(
            name, ProbabilityBlock(node.line, [(name, node.line), *given], _entry(node), child_last=True)
        )
    return draft.network()


def _entry(node: Element) -> NumberRow:
    tag = "probabilities" if node.tag == "cpt" else "resultingstates"
    element = node.first(tag)
    if element is None:
        raise FormatError(f"the node {shown(node.named())} has no <{tag}>", node.line)
    if node.tag == "cpt":
        return NumberRow(element.line, element.numbers())
    states = [state.named() for state in node.all("state")]
    certain: list[float] = []
    for state in element.text.split():
        if state not in states:
            problem = unknown_name(f"state of {shown(node.named())}", state, states)
            raise FormatError(problem, element.line)
        certain += [float(state == one) for one in states]
    return NumberRow(element.line, certain)


def _aside(node: Element) -> dict[str, Any]:
    """Return what f2sl stored about a node: its name, its states and its place."""
    for element in node.all("property"):
        if element.attributes.get("id") == "f2sl":
            try:
                found = json.loads(element.text)
            except (ValueError, RecursionError):
                found = None
            if not (
                isinstance(found, dict)
                and isinstance(found.get("name", ""), str)
                and isinstance(found.get("place", 0), int)
                and isinstance(found.get("states", []), list)
                and all(isinstance(state, str) for state in found.get("states", []))
            ):
                problem = f"the property 'f2sl' of {shown(node.named())} is not what f2sl writes"
                raise FormatError(problem, element.line)
            return found
    return {}
