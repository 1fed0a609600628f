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


def check_outputs(
    used: Iterable[Path | str | None] = (),
    *,
    graph: Path | None = None,
    picture: Path | None = None,
    page: Path | None = None,
    other: Path | None = None,
) -> None:
    """Check before any work that files can be written; each must be none of the others or of those `used`."""
    from f2sl.graph.atomic import check_can_write

    if graph is not None:
        from f2sl.graph import check_writable

        check_writable(graph)
    if picture is not None:
        from f2sl.view.plot import check_can_draw

        check_can_draw(picture)
        check_can_write(picture)
    if page is not None:
        from f2sl.view.page import check_page_file

        check_page_file(page)
    if other is not None:
        check_can_write(other)
    taken = [Path(path) for path in used if path is not None]
    for path in (graph, picture, page, other):
        if path is None:
            continue
        for earlier in taken:
            same = path.resolve() == earlier.resolve()
            with contextlib.suppress(OSError):
                same = same or path.samefile(earlier)
            if same:
                message = f"this command also uses it as {earlier}; choose another name"
                raise FileError(f"cannot write {path}: {message}", path=str(path))
        taken.append(path)


def load_any_graph(truth: Path) -> PDAG:
    """Load the graph of a graph file, a network file or a bundled network."""
    from f2sl.graph import load_graph
    from f2sl.graph.formats import is_known

    if is_known(truth):
        return load_graph(truth)
    from f2sl.network.bundled import NETWORKS, load_network
    from f2sl.network.formats import suffix_of

    if str(truth) in NETWORKS or suffix_of(truth) or not truth.suffix:
        return load_network(str(truth)).graph
    return load_graph(truth)


def load_graph_or_network(given: Path) -> Any:
    """Load a network with its tables, a confidence or a graph from a file, or a bundled network."""
    from f2sl.confidence.result import FORMAT, Confidence
    from f2sl.graph.formats import is_known
    from f2sl.graph.formats.json_file import NETWORK
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
    raise FileError(f"{given} is a graph without probabilities; {how}", path=str(given))


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
