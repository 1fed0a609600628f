"""f2sl's own format: JSON with names, compact and the same for the same graph.

``{"format":"f2sl-graph","version":1,"kind":"PDAG","nodes":["a","b","c"],
"directed":[["a","b"]],"undirected":[["b","c"]],"weights":null,"dag":[["a","b"],["b","c"]]}``

``weights`` is null or an object with the lists ``directed`` and ``undirected``, in the order of the edges,
with null for an edge without a weight. Eight keys are optional. ``dag`` lists the edges of one DAG of a PDAG,
that with the best score or that of ``to_dag()``, unless the PDAG has no consistent extension. The other way
round, ``pdag`` has the directed and undirected edges of the PDAG that a DAG was made from. ``by_score`` is
true if a learner found the DAG by its score, so that the PDAG has what the data decide of it. ``weak`` lists
the directed edges that are only weakly decided, ``either_way`` those of a DAG that the learned graph does not
direct. ``knowledge`` holds the knowledge about edges that the graph
was learned with (see :mod:`f2sl.knowledge.files`). ``read_as`` holds the kind of each column or, if it was
cut, its intervals. ``learned_by`` names the learner (``algorithm``) and holds its ``options`` and those of
``reading`` that differ from the defaults, and the number of ``rows``.

From a network, in the format of :mod:`f2sl.network.formats.json_file`, only the graph is read. A confidence
has the keys of its averaged graph and others (see :class:`f2sl.Confidence`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from f2sl._constants import INTERVAL, OTHER
from f2sl._synonyms import kind_meant
from f2sl.errors import GraphError, OptionError
from f2sl.graph.dag import DAG
from f2sl.graph.extension import directed_by
from f2sl.graph.formats.common import NO_WEIGHT, FormatError, as_class, decoded, edges_of, parsed_weight
from f2sl.graph.pdag import PDAG

if TYPE_CHECKING:
    from f2sl.knowledge import Knowledge

FORMAT, NETWORK, CONFIDENCE, VERSION = "f2sl-graph", "f2sl-network", "f2sl-confidence", 1


def write(graph: PDAG, form: str = FORMAT, more: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Yield `graph` as JSON, on one line in all; `more` has the further fields of another `form`.

    Examples
    --------
    >>> print("".join(write(PDAG(["a", "b"], undirected=[("a", "b")]))).split(',"nodes"')[1])
    :["a","b"],"directed":[],"undirected":[["a","b"]],"weights":null,"dag":[["a","b"]]}
    <BLANKLINE>
    """
    weights: dict[str, list[float | None]] = {"directed": [], "undirected": []}
    for edge in edges_of(graph):
        listed = weights["directed" if edge.directed else "undirected"]
        listed.append(float(edge.weight) if edge.weight else None)
    content: dict[str, Any] = {
        "format": form,
        "version": VERSION,
        "kind": type(graph).__name__,
        "nodes": graph.nodes,
        "directed": graph.directed_edges,
        "undirected": graph.undirected_edges,
        "weights": weights if graph.weights is not None else None,
    }
    dag = _one_dag(graph)
    if dag is not None and dag is not graph:
        content["dag"] = dag.directed_edges
    elif isinstance(graph, DAG) and graph.pdag is not None:
        content["pdag"] = {key: getattr(graph.pdag, f"{key}_edges") for key in ("directed", "undirected")}
    optional = {
        "by_score": dag is not None and dag.by_score,
        "weak": sorted(graph.weak),
        "either_way": sorted(graph.either_way),
        "knowledge": graph.knowledge.as_dict() if graph.knowledge else None,
        "read_as": graph.read_as,
        "learned_by": graph.learned_by,
    }
    content |= {key: value for key, value in optional.items() if value} | dict(more or {})
    yield json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _one_dag(graph: PDAG) -> DAG | None:
    """Return a DAG of a PDAG, if it has a consistent extension; a DAG itself."""
    if isinstance(graph, DAG):
        return graph
    try:
        dag = graph.to_dag()
    except GraphError:  # no DAG with these edges obeys the knowledge
        return None
    return dag if dag.is_consistent_extension and not _new_colliders(graph, dag) else None


def _new_colliders(graph: PDAG, dag: DAG) -> list[tuple[str, str, str]]:
    """Return the v-structures of a DAG of a graph that neither this nor its knowledge has."""
    found = _made_by(dag, graph)
    if found and graph.knowledge:
        return _made_by(dag, directed_by(graph.knowledge, graph))
    return found


def _made_by(dag: DAG, graph: PDAG) -> list[tuple[str, str, str]]:
    """Return the v-structures that a DAG makes of the undirected edges of a graph."""
    new = set(dag.directed_edges).difference(graph.directed_edges)
    adjacent = set(dag.directed_edges)
    return sorted(
        (min(a, b), c, max(a, b))
        for a, c in new
        for b in dag.parents(c)
        if b != a and (a, b) not in adjacent and (b, a) not in adjacent
    )


def read(content: bytes) -> PDAG:
    """Return the graph of a file in JSON.

    Examples
    --------
    >>> read(b'{"format": "f2sl-graph", "version": 1, "nodes": ["a", "b"], "directed": [["a", "b"]]}')
    DAG(2 nodes, 1 directed and 0 undirected edges)
    """
    given = parsed(content, (FORMAT, NETWORK, CONFIDENCE))
    if given["format"] == NETWORK:
        families = families_of(given)
        edges = [(parent, name) for name, parents in families for parent in parents]
        return as_class(PDAG([name for name, _ in families], edges), "DAG")
    nodes = _list_of(given, "nodes")
    directed, undirected = (_edges(_list_of(given, key), key) for key in ("directed", "undirected"))
    weights = _weights(given.get("weights"), directed, undirected)
    graph = as_class(PDAG(nodes, directed, undirected, weights=weights), str(given.get("kind", "")))
    graph.knowledge, graph.read_as = knowledge_of(given), read_as_of(given)
    graph.learned_by = learned_by_of(given)
    graph.weak, graph.either_way = (arrows_of(given, key, directed) for key in ("weak", "either_way"))
    by_score = given.get("by_score") is True
    if isinstance(graph, DAG):
        graph.by_score = by_score
        if "pdag" in given:
            graph.pdag = _pdag_of(graph, given["pdag"])
            graph.pdag.dag = graph if by_score else None  # others are those of `to_dag`
    elif "dag" in given:
        graph.dag = _dag_of(graph, _edges(_list_of(given, "dag"), "dag"))
        graph.dag.by_score = by_score
    return graph


def _pdag_of(dag: DAG, given: Any) -> PDAG:
    """Return the graph that a DAG was made from, given by its edges; it must have the same adjacencies."""
    if not isinstance(given, dict):
        raise FormatError('"pdag" is not an object')
    directed, undirected = (_edges(_list_of(given, key), key) for key in ("directed", "undirected"))
    found = PDAG(dag.nodes, directed, undirected)
    if found.skeleton() != dag.skeleton():
        raise FormatError('"pdag" does not have the edges of the graph')
    return dag._remarked(found.directed_array, found.undirected_array)._learned_like(dag)


def arrows_of(
    given: Mapping[str, Any], key: str, directed: Iterable[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Return the directed edges that a file lists under a key; none without it."""
    found = frozenset(_edges(_list_of(given, key), key))
    if strangers := sorted(found.difference(directed)):
        raise FormatError(f'"{key}" holds {list(strangers[0])!r}, which is none of the directed edges')
    return found


def _dag_of(graph: PDAG, edges: list[tuple[str, str]]) -> DAG:
    """Return the DAG of a graph, given by its edges; it must be one that the graph stands for."""
    try:
        rows = DAG(graph.nodes, edges).directed_array
    except GraphError as error:
        raise FormatError(f'"dag": {error}') from None
    if PDAG.from_arrays(graph.nodes, undirected=rows) != graph.skeleton():
        raise FormatError('"dag" does not have the edges of the graph')
    if lost := sorted(set(graph.directed_edges).difference(edges)):
        raise FormatError(f'"dag" lacks the directed edge {list(lost[0])!r}')
    dag = DAG.from_arrays(graph.nodes, rows, weights_directed=graph._weights_of(rows))
    if new := _new_colliders(graph, dag):
        a, c, b = new[0]
        raise FormatError(f'"dag" has the v-structure {a!r} -> {c!r} <- {b!r}, which the graph does not have')
    return dag._learned_like(graph)


def parsed(content: bytes, formats: Sequence[str]) -> dict[str, Any]:
    """Return the content of a file in one of f2sl's own formats."""
    try:
        given = json.loads(decoded(content), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise FormatError("the JSON is nested too deeply") from None
    except ValueError:  # Python refuses to read whole numbers of more than some thousand digits
        raise FormatError("a number in the JSON has too many digits") from None
    if not isinstance(given, dict) or given.get("format") not in formats:
        what = formats[0].removeprefix("f2sl-")
        if what == "network" and isinstance(given, dict) and given.get("format") == FORMAT:
            raise FormatError("a graph without probabilities, not a network: see BayesianNetwork.fit")
        raise FormatError(f'not a {what} of f2sl: there is no "format": "{formats[0]}"')
    if given.get("version") != VERSION:
        raise FormatError(f"version {given.get('version')!r} of the format is not known; known is {VERSION}")
    return given


def families_of(network: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the name and the parents of each variable of a network."""
    found = []
    for number, entry in enumerate(_list_of(network, "variables"), start=1):
        name, parents = (entry.get("name"), entry.get("parents")) if isinstance(entry, dict) else (None, None)
        if not isinstance(parents, list) or not all(isinstance(one, str) for one in [name, *parents]):
            raise FormatError(f'variable {number} needs a "name" and a list of names, its "parents"')
        found.append((str(name), parents))
    return found


def knowledge_of(file: Mapping[str, Any]) -> Knowledge | None:
    """Return the knowledge about edges stored in the file, if any."""
    given = file.get("knowledge")
    if given is None:
        return None
    from f2sl.knowledge import Knowledge
    from f2sl.knowledge.files import KEYS

    if not isinstance(given, dict) or not set(KEYS).issuperset(given):
        raise FormatError(f'"knowledge" is not an object with some of {", ".join(KEYS)}')
    try:
        return Knowledge(**given)
    except OptionError as error:
        raise FormatError(error.note) from None


def read_as_of(file: Mapping[str, Any]) -> dict[str, str | tuple[str, ...]] | None:
    """Return the kinds and intervals of the columns stored in the file, if any."""
    given = file.get("read_as")
    if given is None:
        return None
    if not isinstance(given, dict) or not all(map(_is_way_to_read, given.values())):
        raise FormatError(
            '"read_as" is not an object with "discrete", "continuous" or a list of intervals by name'
        )
    return {name: kind_meant(how) if isinstance(how, str) else tuple(how) for name, how in given.items()}


def learned_by_of(file: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read how the graph was learned, if the file says so.

    A file may come from a stranger, and what it says becomes options of the reader's own run. So it may only
    hold what cannot hurt: how columns are read, never where a table is held or who computes (`engine`,
    `scheduler`, `memory`, `n_jobs`), no path and no encoding.
    """
    given = file.get("learned_by")
    wanted = {"algorithm": str, "options": dict, "reading": dict, "rows": int}
    if given is None:
        return None
    if not isinstance(given, dict) or any(type(given.get(key)) is not kind for key, kind in wanted.items()):
        raise FormatError('"learned_by" is not an object with "algorithm", "options", "reading" and "rows"')
    messages = [] if _NAME.fullmatch(given["algorithm"]) else [f'"algorithm" is {given["algorithm"]!r}']
    messages += [
        f'"options" holds {json.dumps(name)}: {json.dumps(value)}'
        for name, value in given["options"].items()
        if not _is_safe_option(name, value)
    ]
    messages += [
        f'"reading" holds {json.dumps(name)}: {json.dumps(value)}'
        for name, value in given["reading"].items()
        if name not in _SAFE_READING or not _SAFE_READING[name](value)
    ]
    if messages:
        raise FormatError(f'"learned_by" has what a file of a graph may not set: {"; ".join(messages)}')
    return {key: given[key] for key in wanted}


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _by_name(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else [value]


_SAFE_READING: Mapping[str, Callable[[Any], bool]] = {
    "names": _is_texts,
    "kinds": lambda value: all(map(_is_text, _by_name(value))),
    "bins": lambda value: all(type(one) is int or one == "auto" for one in _by_name(value)),
    "binning": _is_text,
    "missing": _is_text,
    "drop": _is_texts,
    "keep": _is_texts,
    "date_parts": _is_texts,
    "weights": _is_text,
    "aliases": _is_text,
    "transform": _is_text,
    "delimiter": _is_text,
    "header": lambda value: isinstance(value, bool),
    "comment": _is_text,
    "na": _is_texts,
}
"""Options of reading that a file may hold, with a check of type for each; `open_table` checks the values."""

_NOT_IN_A_FILE = ("knowledge", "n_jobs", "verbose")


def _is_safe_option(name: str, value: Any) -> bool:
    """Return whether an option of a learner is a word, a number, or options of its parts."""
    if name in _NOT_IN_A_FILE or not _NAME.fullmatch(name):
        return False
    if isinstance(value, dict):
        return all(not isinstance(one, dict) and _is_safe_option(key, one) for key, one in value.items())
    if isinstance(value, str):
        return bool(_NAME.fullmatch(value))
    return value is None or isinstance(value, (bool, int, float))


def _is_way_to_read(given: Any) -> bool:
    """Return whether something is a kind of columns, a list of intervals, or one of labels and all others."""
    if not isinstance(given, list):
        return kind_meant(given) in ("discrete", "continuous")
    if not given or not all(isinstance(one, str) for one in given):
        return False
    return OTHER in given or all(map(INTERVAL.fullmatch, given))


def _refuse(constant: str) -> NoReturn:
    raise FormatError(f"the number {constant} is not finite")


def _list_of(given: Mapping[str, Any], key: str) -> list[Any]:
    found = given.get(key, [])
    if not isinstance(found, list):
        raise FormatError(f'"{key}" is not a list')
    return found


def _edges(rows: list[Any], key: str) -> list[tuple[str, str]]:
    edges = []
    for row in rows:
        if not isinstance(row, list) or len(row) != 2 or not all(isinstance(name, str) for name in row):
            raise FormatError(f'"{key}" holds {row!r}, which is not a pair of names')
        edges.append((row[0], row[1]))
    return edges


def _weights(
    given: Any, directed: list[tuple[str, str]], undirected: list[tuple[str, str]]
) -> dict[tuple[str, str], float] | None:
    """Match the lists of weights to the edges."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise FormatError('"weights" is neither null nor an object')
    found: dict[tuple[str, str], float] = {}
    for key, edges in (("directed", directed), ("undirected", undirected)):
        values = _list_of(given, key)
        if len(values) != len(edges):
            raise GraphError(f"there are {len(values)} weights for {len(edges)} {key} edges")
        for edge, value in zip(edges, values, strict=True):
            weight = NO_WEIGHT if value is None else parsed_weight(json.dumps(value))
            if weight == weight:
                found[edge] = weight
    return found
