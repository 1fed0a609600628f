"""XMLBIF 0.3, BIF in XML (Cozman 1998), which Weka, JavaBayes, pgmpy and pyAgrum know.

::

    <BIF VERSION="0.3"><NETWORK><NAME>dogs</NAME>
    <VARIABLE TYPE="nature"><NAME>out</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>out</FOR><TABLE>0.15 0.85</TABLE></DEFINITION>
    </NETWORK></BIF>

Parents are ``<GIVEN>``. In a table the child's state changes fastest, the first parent's slowest. Names that
XML cannot hold, or that begin or end with white space, are written as JSON strings.
"""

from __future__ import annotations

from collections.abc import Iterator

from f2sl.graph.formats.common import FormatError
from f2sl.graph.formats.xml import Element, as_text, name_of, parse
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.formats.draft import Draft, NumberRow, ProbabilityBlock

# Without the document type that the definition of the format has: pyAgrum cannot read it.
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'


def write(network: BayesianNetwork) -> Iterator[str]:
    """Yield the text of a network in XMLBIF.

    Examples
    --------
    >>> import f2sl
    >>> coin = f2sl.BayesianNetwork(f2sl.DAG(["coin"]), {"coin": ["heads", "<"]}, {"coin": [0.5, 0.5]})
    >>> print("".join(write(coin)).split("</NAME>", 1)[1])
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


def read(content: bytes) -> BayesianNetwork:
    """Return the network of a file in XMLBIF.

    Examples
    --------
    >>> text = '<VARIABLE><NAME>a</NAME><OUTCOME>u</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR>'
    >>> read(f"<BIF><NETWORK>{text}<TABLE>1</TABLE></DEFINITION></NETWORK></BIF>".encode()).states
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
