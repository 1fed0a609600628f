"""Edge lists in CSV, and adjacency matrices on reading.

The columns are ``source,target,type,weight``; the type is ``directed``, ``undirected`` or ``node``. Nodes are
numbered as they first appear; a row of the type ``node``, with an empty target, lists a node without edges.
If the edges would number the nodes in another order, such rows list all nodes first.

A file without the columns source and target (or from and to) is read as an adjacency matrix: a line of names,
then a row of zeros and ones for each name, which may begin with the name; a one in row `a` and column `b`
means ``a -> b``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from f2sl.graph.convert import from_adjacency
from f2sl.graph.formats.common import (
    NO_WEIGHT,
    Draft,
    FormatError,
    as_class,
    decoded,
    edges_of,
    parsed_weight,
)
from f2sl.graph.pdag import PDAG

Row = tuple[int, list[str]]


def write(graph: PDAG) -> Iterator[str]:
    """Yield the text of `graph` as an edge list.

    Examples
    --------
    >>> print("".join(write(PDAG(["a", "b", "c"], [("a", "b")]))))
    source,target,type,weight
    a,b,directed,
    c,,node,
    <BLANKLINE>
    """
    met = {
        name: None for edges in (graph.directed_edges, graph.undirected_edges) for e in edges for name in e
    }
    alone = [name for name in graph.nodes if name not in met]
    in_order = [*met, *alone] == list(graph.nodes)
    yield "source,target,type,weight\n"
    if not in_order:
        yield from (f"{_quoted(name)},,node,\n" for name in graph.nodes)
    for a, b, directed, weight, _ in edges_of(graph):
        yield f"{_quoted(a)},{_quoted(b)},{'directed' if directed else 'undirected'},{weight}\n"
    if in_order:
        yield from (f"{_quoted(name)},,node,\n" for name in alone)


def _quoted(name: str) -> str:
    if any(c in name for c in '",\r\n') or name != name.strip():
        return '"' + name.replace('"', '""') + '"'
    return name


def read(content: bytes) -> PDAG:
    r"""Return the graph of an edge list or an adjacency matrix.

    Examples
    --------
    >>> read(b"from,to\na,b\n")
    DAG(2 nodes, 1 directed and 0 undirected edges)
    >>> read(b"a,b\n0,1\n1,0\n")
    PDAG(2 nodes, 0 directed and 1 undirected edges)
    """
    rows = _rows(decoded(content))
    header_line, header = next(rows, (1, []))
    titles = [title.strip().lower() for title in header]
    if len(set(titles)) == len(titles):
        for source, target in (("source", "target"), ("from", "to")):
            if source in titles and target in titles:
                return _edge_list(rows, titles, titles.index(source), titles.index(target))
    if not header:
        raise FormatError("the file is empty; there should be a header", header_line)
    return _matrix(rows, header)


def _rows(text: str) -> Iterator[Row]:
    """Yield the rows that are not empty, each with the number of its last line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", reader.line_num) from None


def _edge_list(rows: Iterator[Row], titles: list[str], source: int, target: int) -> PDAG:
    type_at = titles.index("type") if "type" in titles else None
    weight_at = titles.index("weight") if "weight" in titles else None
    draft = Draft()
    for line, row in rows:
        if len(row) != len(titles):
            raise FormatError(f"there are {len(row)} fields where the header has {len(titles)}", line)
        edge_type = (row[type_at].strip().lower() if type_at is not None else "") or "directed"
        weight = parsed_weight(row[weight_at], line) if weight_at is not None else NO_WEIGHT
        if not row[source]:
            raise FormatError("the source is empty", line)
        draft.node(row[source])
        if edge_type == "node":
            if row[target]:
                raise FormatError(f"a row of type 'node' has the target {row[target]!r}", line)
        elif edge_type not in ("directed", "undirected"):
            raise FormatError(f"the type {edge_type!r} is not one of directed, undirected, node", line)
        elif not row[target]:
            raise FormatError(f"the target of the {edge_type} edge from {row[source]!r} is empty", line)
        else:
            draft.add_edge(row[source], row[target], weight, both=edge_type == "undirected")
    return draft.finish()


def _matrix(rows: Iterator[Row], header: list[str]) -> PDAG:
    """Read an adjacency matrix, with or without names in its first column."""
    named_rows = not header[0].strip()
    names = header[1:] if named_rows else header
    matrix = np.zeros((len(names), len(names)), dtype=np.uint8)
    count = 0
    for line, row in rows:
        if count == len(names):
            raise FormatError(f"there are more rows than the {len(names)} names of the header", line)
        if named_rows and row[0] != names[count]:
            raise FormatError(f"the row is called {row[0]!r}, but its column {names[count]!r}", line)
        cells = [cell.strip() for cell in (row[1:] if named_rows else row)]
        if len(cells) != len(names):
            raise FormatError(f"there are {len(cells)} entries for {len(names)} names", line)
        wrong = next((cell for cell in cells if cell not in ("0", "1")), None)
        if wrong is not None:
            raise FormatError(
                f"neither an edge list (columns source, target, type, weight) nor an adjacency matrix: "
                f"{wrong!r} is not 0 or 1",
                line,
            )
        matrix[count] = [cell == "1" for cell in cells]
        count += 1
    if count < len(names):
        raise FormatError(f"there are {count} rows for the {len(names)} names of the header")
    return as_class(from_adjacency(PDAG, matrix, names), "")
