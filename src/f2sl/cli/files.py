"""Checks of where commands may write, made before any work."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import texts
from f2sl.errors import F2SLError, FileError

if TYPE_CHECKING:
    from f2sl.graph import PDAG
    from f2sl.network import BayesianNetwork


def check_graph_file(path: Path, others: Iterable[Path] = ()) -> None:
    """Check that a graph can be written to `path`, and that `path` is not one of the `others`."""
    from f2sl.graph import check_writable

    check_writable(path)
    check_distinct(path, others)


def check_picture_file(path: Path, others: Iterable[Path] = ()) -> None:
    """Check that a picture can be drawn and written to `path`, and that `path` is not one of the `others`."""
    from f2sl.graph.atomic import check_can_write
    from f2sl.view.plot import check_can_draw

    check_can_draw(path)
    check_can_write(path)
    check_distinct(path, others)


def check_page_file(path: Path, others: Iterable[Path] = ()) -> None:
    """Check that a page can be written to `path`, and that `path` is not one of the `others`."""
    from f2sl.view.page import check_page_file as check

    check(path)
    check_distinct(path, others)


def check_distinct(path: Path, others: Iterable[Path]) -> None:
    """Raise an error if a file to write is also used by the same command."""
    for other in others:
        same = path.resolve() == other.resolve()
        with contextlib.suppress(OSError):
            same = same or path.samefile(other)
        if same:
            raise FileError(f"cannot write {path}: this command also uses it as {other}; choose another name")


def load_any_graph(truth: Path) -> PDAG:
    """Load the graph of a graph file, a network file or a bundled network."""
    from f2sl.graph import load_graph
    from f2sl.graph.io import is_known

    if is_known(truth):
        return load_graph(truth)
    from f2sl.network.bundled import NETWORKS, load_network
    from f2sl.network.files import suffix_of

    if str(truth) in NETWORKS or suffix_of(truth) or not truth.suffix:
        return load_network(str(truth)).graph
    return load_graph(truth)


def load_graph_or_network(given: Path) -> Any:
    """Load a network with its tables, a confidence or a graph from a file, or a bundled network."""
    from f2sl.confidence.result import FORMAT, Confidence
    from f2sl.graph.formats.json_file import NETWORK
    from f2sl.graph.io import is_known
    from f2sl.network.bundled import load_network

    if _says(given, FORMAT):
        return Confidence.load(given)
    if is_known(given) and not _says(given, NETWORK):
        return load_any_graph(given)
    return load_network(str(given))


def load_fitted_network(given: str) -> BayesianNetwork:
    """Load a network by its path or bundled name.

    Raises
    ------
    FileError
        If it cannot be read, or is a graph; the message then says how to make it a network.
    """
    from f2sl.graph import load_graph
    from f2sl.graph.formats.json_file import NETWORK
    from f2sl.network.bundled import load_network

    try:
        return load_network(given)
    except F2SLError as error:
        try:
            load_graph(given)
        except F2SLError:
            raise error from None
        if _says(Path(given), NETWORK):  # the graph of a network whose probabilities are wrong
            raise
    how = f"first run: f2sl fit {shlex.quote(given)} TABLE --out net.json"
    raise FileError(f"{given} is a graph without probabilities; {how}")


def _says(path: Path, form: str) -> bool:
    """Return whether a JSON file declares this format."""
    if path.suffix.lower() == ".json":
        with contextlib.suppress(OSError), path.open("rb") as file:
            return f'"{form}"'.encode() in file.read(1000)
    return False


def save_graph(graph: PDAG, path: Path) -> None:
    """Write a graph, whole or not at all."""
    from f2sl.graph import save_graph as save

    with interrupts.saving(path):
        save(graph, path)


def save_picture(graph: PDAG, path: Path) -> None:
    """Draw a graph to a file, whole or not at all."""
    from f2sl.view.plot import plot

    with interrupts.saving(path):
        plot(graph, path)


def save_page(what: Any, path: Path, notes: Iterable[str] = (), **options: Any) -> None:
    """Write a page to explore a graph, whole or not at all, with notes that name options as flags."""
    from f2sl.view.page import show

    with interrupts.saving(path):
        show(what, path, notes=texts((*getattr(what, "notes_", ()), *notes)), **options)


def save_bytes(content: bytes, path: Path) -> None:
    """Write a file, whole or not at all."""
    from f2sl.graph import write_atomically

    with interrupts.saving(path):
        write_atomically(path, content)
