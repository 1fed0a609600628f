"""The page to explore a graph: one HTML file that needs nothing else, and works offline.

Cytoscape.js draws the picture, at places that are computed here, so it is the same every time. The
file holds the library (`assets/cytoscape.min.js`, unmodified; `tools/update_cytoscape.py` replaces it), the
page's own script and style, and the graph as JSON. Its content security policy allows these two scripts by
their hashes, and no request at all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import resources
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl._version import __version__
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.errors import FileError, OptionError
from f2sl.graph import DAG, PDAG, compare, write_atomically
from f2sl.graph.atomic import check_can_write
from f2sl.view.drawing import STATUSES, STYLES, Drawing, Edge, drawing, graph_of, label
from f2sl.view.explanation import Explanation
from f2sl.view.notebook import facts_of, title_of

if TYPE_CHECKING:
    from f2sl.confidence import Confidence
    from f2sl.network import BayesianNetwork

SAMPLED = 10_000
"""Rows drawn from a network to show how its variables are distributed."""
MOST_ROWS = 400
"""Rows of the largest table of probabilities that the page holds."""
WEAK = "not found again from resampled rows, or not checked"
"""Why a direction is only weakly decided, where the learner is not there to say it."""
MOST_PAIRS = 50_000
"""Separating sets that the page holds at most."""
BARS = 24


def show(
    what: Any,
    path: str | PathLike[str],
    *,
    graph: PDAG | None = None,
    truth: Any = None,
    data: Any = None,
    confidence: Confidence | Mapping[tuple[str, str], float] | None = None,
    explanations: Mapping[tuple[str, str], object] | None = None,
    ask: str | None = None,
    notes: Iterable[str] | None = None,
    title: str | None = None,
    learner: str | None = None,
) -> Path:
    """Write a page to explore a graph: one HTML file, which works offline and loads nothing.

    Parameters
    ----------
    what : graph, fitted learner, network or Confidence
        Object to show. For a learner the page also shows its other results, for a network the probability
        tables, for a :class:`f2sl.Confidence` the confidence of each edge.
    path : str or Path
        Where to write; the name ends in ``.html``.
    graph : graph, optional
        The graph to draw instead of what the learner shows, such as ``model.dag_``.
    truth : graph, fitted learner or network, optional
        Graph to compare with: edges are shown as agreed, reversed, missing or extra.
    data : table, data frame, dict of columns or path, optional
        The data: the page then shows how each variable is distributed.
    confidence : Confidence, or mapping of pairs of names to float, optional
        Confidence of each edge, from 0 to 1, from :func:`f2sl.bootstrap`; by default that of `what`, if it
        is a :class:`f2sl.Confidence`. The slider then hides edges by confidence and starts at 0.5; otherwise
        it hides them by strength and starts at the strongest 200, or two for each variable if that is more.
    explanations : mapping of pairs of names to object, optional
        Texts on why a pair is adjacent or not. By default, if `what` is a learner, those of ``explain``: with
        `data`, if the learner has learned from them and they are in memory, otherwise without. With more than
        1,000 pairs, only edges and pairs with a common neighbor are explained.
    ask : str, optional
        The command that explains a pair, without the two names; for pairs that the page does not explain.
    notes : iterable of str, optional
        Notes to show below the facts; by default those of the learner.
    title : str, optional
        Heading of the page; by default a short description of `what`.
    learner : str, optional
        The learner and its options as the page names them; by default as they are written in Python.

    Returns
    -------
    Path
        Where the page is.

    Examples
    --------
    >>> import f2sl, tempfile
    >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     f2sl.show(model, folder + "/page.html").name
    'page.html'
    """
    check_page_file(path)
    options = {
        "confidence": confidence,
        "explanations": explanations,
        "ask": ask,
        "title": title,
        "notes": notes,
        "learner": learner,
    }
    write_atomically(path, page(what, graph=graph, truth=truth, data=data, **options))
    return Path(path)


def check_page_file(path: str | PathLike[str]) -> None:
    """Check, before long work, that a page can be written to `path`."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise FileError(
            f"cannot write {path}: the page is HTML; give a name that ends in .html", path=str(path)
        )
    check_can_write(path)


def page(what: Any, **options: Any) -> str:
    """Return the text of the page; options are those of :func:`show`."""
    content = page_data(what, **options)
    styles = {**STYLES, **STATUSES}
    light = "".join(f"--{key}:{style.colour};" for key, style in styles.items())
    dark = "".join(f"--{key}:{style.dark};" for key, style in styles.items())
    parts = {
        "version": __version__,
        "title": html.escape(content["title"]),
        "style": f':root {{{light}}}\n:root[data-theme="dark"] {{{dark}}}\n' + _asset("page.css"),
        "data": _as_json(content),
        "library": _asset("cytoscape.min.js"),
        "script": _asset("page.js"),
    }
    digests = [hashlib.sha256(parts[name].encode()).digest() for name in ("library", "script")]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    parts["policy"] = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    # Each mark is replaced once, and what replaces it is not looked at again.
    return re.sub(r"@@(\w+)@@", lambda mark: parts[mark[1]], _asset("page.html"))


@cache
def _asset(name: str) -> str:
    return resources.files("f2sl.view").joinpath("assets", name).read_text(encoding="utf-8")


def _as_json(content: Any) -> str:
    """Write JSON that nothing within a script element can end."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair cannot be written as UTF-8; JSON has its number instead.
    return re.sub(r"[<>&\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


# -- the content -----------------------------------------------------------------------


def page_data(
    what: Any,
    *,
    graph: PDAG | None = None,
    truth: Any = None,
    data: Any = None,
    confidence: Confidence | Mapping[tuple[str, str], float] | None = None,
    explanations: Mapping[tuple[str, str], object] | None = None,
    ask: str | None = None,
    notes: Iterable[str] | None = None,
    title: str | None = None,
    learner: str | None = None,
) -> dict[str, Any]:
    """Return the data of the page's script; variables are numbers, in the order of the graph's nodes."""
    graph = graph_of(what if graph is None else graph)
    reasons = getattr(what, "weakly_decided_", {})
    weak = {arrow: reasons.get(arrow, WEAK) for arrow in graph.weak}
    true_graph = None if truth is None else graph_of(truth)
    drawn = drawing(graph, true_graph)
    number = {name: i for i, name in enumerate(graph.nodes)}
    given: Any = getattr(what, "by_pair", None) if confidence is None else confidence
    sure = _by_pair(getattr(given, "by_pair", given), number)
    network = what if hasattr(what, "tables") and hasattr(what, "equations") else None
    title = title or title_of(what)
    model = what if hasattr(what, "explain") else None
    with _opened(data, graph.nodes) as table:
        known = data if isinstance(data, Distributions) else _distributions(network, table)
        whole = explanations is not None
        if model is not None and explanations is None:
            from f2sl.view.explain import explained_pairs, is_learned_from

            whole = table is not None and table.held == Table.held and is_learned_from(model, table)
            explanations = explained_pairs(model, table if whole else None, true_graph)
    compared = None
    if true_graph is not None:
        facts = [(name, value) for name, value, _ in compare(true_graph, graph).rows()]
        compared = {"facts": facts, "words": {key: style.meaning for key, style in STATUSES.items()}}
    return {
        "title": title,
        "styles": {
            key: {"name": style.name, "dashes": style.dashes}
            for key, style in (STYLES if true_graph is None else STATUSES).items()
        },
        "file": re.sub(r"[^\w-]+", "-", title).strip("-") or "graph",
        "summary": _summary(graph),
        "facts": facts_of(what, graph, learner),
        "notes": list(getattr(what, "notes_", []) if notes is None else notes),
        "unit": _unit(what),
        "directions": _directions(what),
        "nodes": _nodes(drawn, number, network, known),
        "edges": _edges(what, graph, drawn, number, sure, weak),
        "weak": sorted(set(weak.values())),
        "confidence": {key: _rounded(value) for key, value in sure.items()},
        "separating": _separating(what, number),
        "explanations": {key: _reasons(text) for key, text in _by_pair(explanations, number).items()},
        "ask": ask or ("model.explain" if model is not None else None),
        "whole": whole,
        "compare": compared,
    }


def _reasons(text: object) -> str:
    """Return an explanation with a line for each reason; the heading names the pair."""
    return "\n".join(reason.text for reason in text.reasons) if isinstance(text, Explanation) else str(text)


def _by_pair(given: Mapping[tuple[str, str], Any] | None, number: Mapping[str, int]) -> dict[str, Any]:
    """Turn pairs of names into keys of the page's data."""
    found = {}
    for pair, value in (given or {}).items():
        strangers = [name for name in pair if name not in number]
        if strangers:
            raise OptionError(f"{pair!r} is not a pair of variables: there is no {strangers[0]!r}")
        found[_key(number, *pair)] = value
    return found


def _key(number: Mapping[str, int], a: str, b: str) -> str:
    i, j = sorted((number[a], number[b]))
    return f"{i},{j}"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def _summary(graph: PDAG) -> str:
    directed, undirected = len(graph.directed_array), len(graph.undirected_array)
    kinds = f", {undirected:,} of them undirected" if undirected and directed else ""
    kinds += f", {len(graph.weak):,} of the directed weakly decided" if graph.weak else ""
    return f"{_count(graph.n_nodes, 'variable')}, {_count(graph.n_edges, 'edge')}{kinds}"


def _unit(what: Any) -> str | None:
    unit = getattr(what, "strength_unit", None)
    return None if unit == "strength" else unit


def _directions(what: Any) -> str:
    """Return what directed the edges for which nothing more is known."""
    if hasattr(what, "v_structures_"):
        return "follows from v-structures by Meek's rules, or from the knowledge"
    if getattr(what, "score_", None) is not None:
        return "by the score"
    return "as the graph has it"


def _edges(
    what: Any,
    graph: PDAG,
    drawn: Drawing,
    number: Mapping[str, int],
    confidence: Mapping[str, float],
    weak: Mapping[tuple[str, str], str],
) -> list[dict[str, Any]]:
    reversible = set()
    if isinstance(graph, DAG):
        reversible = {frozenset(edge) for edge in graph.to_cpdag().undirected_edges}
    forks: dict[tuple[str, str], list[int]] = {}
    for a, c, b in getattr(what, "v_structures_", []):
        forks.setdefault((a, c), []).append(number[b])
        forks.setdefault((b, c), []).append(number[a])
    entries = [_edge(edge, drawn, number, reversible, forks, confidence) for edge in drawn.edges]
    texts = sorted(set(weak.values()))
    for edge, entry in zip(drawn.edges, entries, strict=True):
        if edge.weak:
            entry["w"] = 1 + texts.index(weak[edge.a, edge.b])
    return entries


def _edge(
    edge: Edge,
    drawn: Drawing,
    number: Mapping[str, int],
    reversible: set[frozenset[str]],
    forks: Mapping[tuple[str, str], list[int]],
    confidence: Mapping[str, float],
) -> dict[str, Any]:
    """Describe an edge by short keys, since there may be thousands.

    They are a and b for its ends, d directed, s strength, c confidence, k status, w if weakly
    decided the number of the reason from 1, r reversible, v the other parents in its v-structures, p the gaps
    through which it passes layers.
    """
    entry: dict[str, Any] = {"a": number[edge.a], "b": number[edge.b], "d": int(edge.directed)}
    if edge.strength is not None:
        entry["s"] = _rounded(edge.strength)
    key = _key(number, edge.a, edge.b)
    if key in confidence:
        entry["c"] = _rounded(confidence[key])
    if edge.status:
        entry["k"] = edge.status
    if edge.status != "missing" and frozenset((edge.a, edge.b)) in reversible:
        entry["r"] = 1
    if edge.directed and (edge.a, edge.b) in forks:
        entry["v"] = forks[edge.a, edge.b]
    way = drawn.way(edge)
    if way:
        entry["p"] = [[round(x, 1), round(y, 1)] for x, y in way]
    return entry


def _separating(what: Any, number: Mapping[str, int]) -> dict[str, list[int]]:
    sets = getattr(what, "separating_sets_", None) or {}
    if len(sets) > MOST_PAIRS:
        return {}
    return {_key(number, *pair): [number[name] for name in given] for pair, given in sets.items()}


# -- variables -------------------------------------------------------------------------


def _nodes(
    drawn: Drawing, number: Mapping[str, int], network: BayesianNetwork | None, known: Distributions
) -> list[dict[str, Any]]:
    nodes = []
    for name in drawn.nodes:
        x, y = drawn.layout.positions[name]
        entry: dict[str, Any] = {"n": name, "l": label(name), "x": round(x, 1), "y": round(y, 1)}
        entry["w"] = round(drawn.widths[name])
        if name in known:
            entry["i"] = known[name]
        if network is not None:
            entry["t"] = _parameters(network, name)
        nodes.append(entry)
    return nodes


class Distributions(dict[str, Any]):
    """Distribution of each variable, by name; a copy, so that the table can be closed."""

    @classmethod
    def of(cls, table: Table, rows: str = "rows") -> Distributions:
        """Describe the columns of a table."""
        return cls({name: _distribution(table, i, rows) for i, name in enumerate(table.names)})


@contextmanager
def _opened(data: Any, names: Iterable[str]) -> Iterator[Table | None]:
    """Open the data for a while, if there are any."""
    if data is None or isinstance(data, Distributions):
        yield None
        return
    table = open_for(("discrete", "continuous", "mixed"), "a page", data, min_variables=1, only=names)
    with nullcontext() if table is data else table:
        yield table


def _distributions(network: BayesianNetwork | None, table: Table | None) -> Distributions:
    """Describe how each variable is distributed: in the data, or in rows drawn from a network."""
    if table is not None:
        return Distributions.of(table)
    if network is None:
        return Distributions()
    from f2sl.network.sampling import sample_table

    return Distributions.of(sample_table(network, SAMPLED), "rows drawn from the network")


def _distribution(table: Table, i: int, rows: str) -> dict[str, Any]:
    column, values = table.columns[i], table.column(i)
    if column.states:
        counts = np.bincount(values, minlength=len(column.states))[: len(column.states)]
        total = int(counts.sum())
        shares = (counts / max(total, 1)).tolist()
        facts = {"states": [str(state) for state in column.states], "p": [_rounded(p) for p in shares]}
    else:
        values = values[np.isfinite(values)]
        total = len(values)
        if not total:
            return {"states": [], "from": "no values"}
        bars, _ = np.histogram(values, bins=BARS)
        ends = {"least": float(values.min()), "most": float(values.max())}
        facts = {"bars": bars.tolist(), "mean": float(values.mean()), "sd": float(values.std()), **ends}
    missing = table.n_rows - total
    return {**facts, "from": f"{total:,} {rows}" + (f", {missing:,} missing" if missing else "")}


def _parameters(network: BayesianNetwork, name: str) -> dict[str, Any]:
    """Lay out a variable's table or equation, a row for each configuration of the parents' states."""
    from f2sl.network.convert import parameters

    states = network.states
    of_states, columns, values = parameters(network, name)
    title = "Probabilities" if name in states else "Equation"
    if len(values) > MOST_ROWS:
        return {"title": title, "note": f"{len(values):,} rows: too many to show here"}
    given = product(*(states[parent] for parent in of_states))
    lines = [
        [list(configuration), [_rounded(value) for value in row]]
        for configuration, row in zip(given, values.tolist(), strict=True)
    ]
    return {"title": title, "given": of_states, "columns": columns, "rows": lines}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
