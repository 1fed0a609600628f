"""Graphs in files; the format follows from the end of the file's name.

================ ================================================================
``.json``        f2sl's own, compact; the same graph always gives the same bytes
``.csv``         an edge list with the columns source, target, type and weight
``.dot``         the DOT language of Graphviz, also ``.gv``
``.graphml``     GraphML, for NetworkX, Gephi, yEd, Cytoscape, ...
``.gml``         GML, likewise
``.dagitty``     DAGitty's language
``.modelstring`` bnlearn's model string: one DAG of the graph, without weights
================ ================================================================

All but the last keep the names whatever they contain, the order of the nodes, isolated nodes, the kinds of
the edges and their weights (to 12 significant digits, so that rounding noise does not show). All but CSV and
the last keep which directed edges are only weakly decided (the attribute ``weak``). GraphML and GML have no
mixed graphs that all programs can read, so an undirected edge is written as two opposite arrows. Files by
other programs are read in the same way: two opposite arrows are one undirected edge.

Each format has a function ``write(graph)``, which yields pieces of text, and ``read(content)``, which takes
the bytes of a file and raises :class:`~f2sl.graph.formats.common.FormatError`, with the line if it is known.

A file says whether its graph was a DAG, except for CSV. Where it does not say, a graph that can be a DAG
becomes one. ``is_consistent_extension`` and ``arrowheads_lost`` describe how a DAG was made; they are not
stored.

:func:`add_format` registers another format, from outside the package as well.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from f2sl._extensions import load_extensions
from f2sl._notes import Note
from f2sl.errors import F2SLWarning, FileError, OptionError
from f2sl.graph.atomic import check_can_write, write_atomically
from f2sl.graph.dag import DAG
from f2sl.graph.formats.common import read_file
from f2sl.graph.pdag import PDAG


class Format(NamedTuple):
    """Pair of functions: one yields a graph as text, one reads a graph from bytes."""

    write: Callable[[PDAG], Iterator[str]]
    read: Callable[[bytes], PDAG]


FORMATS: dict[str, Format | str] = {
    ".json": "json_file",
    ".csv": "csv_file",
    ".dot": "dot_file:dot",
    ".gv": "dot_file:dot",
    ".graphml": "networkx_file:graphml",
    ".gml": "networkx_file:gml",
    ".dagitty": "dot_file:dagitty",
    ".modelstring": "modelstring_file",
}
"""Formats by suffix; of those of the package a module, imported on first use, and which of its functions."""
WITHOUT_WEAK = ".csv", ".modelstring"
"""Formats of the package that do not keep which directions are only weakly decided."""


def add_format(suffix: str, write: Callable[[PDAG], Iterator[str]], read: Callable[[bytes], PDAG]) -> None:
    """Register a format for files that end in `suffix`, replacing any earlier one.

    Parameters
    ----------
    suffix : str
        Such as ``".net"``, in small letters.
    write : callable
        From a graph to the text of its file, in pieces.
    read : callable
        From the bytes of a file to its graph. It raises a :class:`FormatError` about a file that does not
        follow the format, with the number of the line if it knows it.

    Raises
    ------
    OptionError
        If `suffix` is not a suffix, or `write` or `read` cannot be called.
    """
    if not isinstance(suffix, str) or suffix in ("", ".") or suffix != Path(f"a{suffix}").suffix.lower():
        raise OptionError(f"the suffix of a graph format is like '.net', in small letters, not {suffix!r}")
    for name, function in (("write", write), ("read", read)):
        if not callable(function):
            raise OptionError(f"graph format {suffix}: {name} must be a function, not {function!r}")
    FORMATS[suffix] = Format(write, read)


def is_known(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a format for the suffix of `path`."""
    suffix = Path(path).suffix.lower()
    if suffix and suffix not in FORMATS:
        load_extensions()
    return suffix in FORMATS


def save_graph(graph: PDAG, path: str | os.PathLike[str]) -> None:
    """Write `graph` to `path` in the format that the path's suffix names.

    An existing file is replaced only when the new one is complete.

    Warns
    -----
    F2SLWarning
        If the graph has directions that are only weakly decided, and the format does not keep which. A model
        string keeps nothing but one DAG by its nature, so there is no warning for it.

    Raises
    ------
    FileError
        If the suffix is not known or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_graph(PDAG(["a", "b"], [("a", "b")]), Path(folder) / "graph.json")
    ...     load_graph(Path(folder) / "graph.json")
    PDAG(2 nodes, 1 directed and 0 undirected edges)
    """
    write_atomically(path, _format_of(path).write(graph))
    lost = weak_lost(graph, path)
    if lost is not None and Path(path).suffix.lower() != ".modelstring":
        warnings.warn(lost, F2SLWarning, stacklevel=2)


def weak_lost(graph: PDAG, path: str | os.PathLike[str]) -> Note | None:
    """Return a note if the format of `path` loses which directions of a graph are only weakly decided."""
    suffix = Path(path).suffix.lower()
    if not graph.weak or suffix not in WITHOUT_WEAK:
        return None
    lost = "does not keep which directions are only weakly decided, as .json and most others do"
    return Note("weakly-decided", f"{suffix} {lost}")


def load_graph(path: str | os.PathLike[str]) -> PDAG:
    """Read a graph from `path` in the format that the path's suffix names.

    Returns
    -------
    PDAG
        A :class:`DAG` if the file says so, or if it does not say and the graph is a DAG.

    Raises
    ------
    FileError
        If the suffix is not known, or the file cannot be read or understood.
    GraphError
        If the file is well formed but does not describe a valid graph.
    """
    return read_file(path, _format_of(path).read)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check, before long work, that a graph can be saved to `path`.

    Nothing is left behind, and an existing file is not touched.

    Parameters
    ----------
    path : path
        Where the graph is to be saved.

    Raises
    ------
    FileError
        If the suffix is not known, or the path is a folder, or its folder does not exist or cannot be
        written to.
    """
    _format_of(path)
    check_can_write(path)


def check_holds(path: str | os.PathLike[str], nodes: Sequence[str]) -> None:
    """Check, before long work, that the format of `path` can hold these names.

    Raises
    ------
    GraphError
        If it cannot.

    Examples
    --------
    >>> check_holds("graph.modelstring", ["a", "b|c"])
    Traceback (most recent call last):
        ...
    f2sl.errors.GraphError: a model string cannot hold the name 'b|c'
    """
    for _ in _format_of(path).write(DAG(nodes)):
        pass


def _format_of(path: str | os.PathLike[str]) -> Format:
    suffix = Path(path).suffix.lower()
    if not is_known(path):
        shown = f"the suffix {suffix!r} is not known" if suffix else "it has no suffix"
        raise FileError(f"no graph format for {path}: {shown}. Known: {', '.join(FORMATS)}", path=str(path))
    known = FORMATS[suffix]
    if isinstance(known, Format):
        return known
    module, _, which = known.partition(":")
    functions, end = vars(import_module(f"f2sl.graph.formats.{module}")), which and f"_{which}"
    return Format(functions[f"write{end}"], functions[f"read{end}"])
