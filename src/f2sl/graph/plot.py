"""A picture of a graph, in layers: causes above effects.

Nodes are put into layers so that arrows point down, each layer is ordered so that few edges cross,
and edges are drawn thicker the stronger they are. Undirected edges have no arrowhead. Needs
Matplotlib (the extra ``plot``); pleasant up to about a hundred nodes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from f2sl.errors import F2SLError
from f2sl.graph.atomic import write_atomically
from f2sl.graph.pdag import PDAG

if TYPE_CHECKING:
    from f2sl.graph.dag import DAG

SWEEPS = 24
"""How often the order of the layers is improved, downwards and upwards in turn."""


def plot(graph: PDAG, path: str | Path | None = None, *, isolated: bool = False) -> Any:
    """Draw a graph; with `path`, save the picture there (.svg, .png or .pdf).

    Parameters
    ----------
    graph : PDAG
        What to draw.
    path : str or Path, optional
        Where to save; the format goes by the suffix.
    isolated : bool
        Whether to draw the nodes that have no edge.

    Returns
    -------
    matplotlib.figure.Figure
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise F2SLError('drawing needs Matplotlib: pip install "f2sl[plot]"') from None
    names = [name for name in graph.nodes if isolated or graph.adjacent(name)]
    places = _layout(graph.to_dag(), names)
    height = 1 + max((y for _, y in places.values()), default=0)
    width = 1 + max((x for x, _ in places.values()), default=0)
    figure = Figure(figsize=(max(4.0, 1.25 * width), max(2.0, 0.95 * height)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-0.7, width - 0.3)
    axes.set_ylim(height - 0.4, -0.6)
    boxes = {}
    for name in names:
        box = {"boxstyle": "round,pad=0.28", "fc": "#f4f8fb", "ec": "#31708f", "lw": 0.8}
        text = axes.text(*places[name], name, ha="center", va="center", fontsize=7.5, bbox=box, zorder=3)
        boxes[name] = text.get_bbox_patch()
    # Only once drawn do the boxes know their size, and so the arrows where to end.
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    weights = graph.weights or {}
    strongest = max(weights.values(), default=1.0) or 1.0
    for edges, style in ((graph.directed_edges, "-|>"), (graph.undirected_edges, "-")):
        for a, b in edges:
            look = {
                "arrowstyle": style,
                "color": "#31708f" if style == "-|>" else "#999999",
                "lw": 0.8 + 1.8 * weights.get((a, b), 0.3 * strongest) / strongest,
                "patchA": boxes[a],
                "patchB": boxes[b],
                "shrinkA": 0,
                "shrinkB": 1,
                "connectionstyle": "arc3,rad=0.06",
            }
            axes.annotate("", xy=places[b], xytext=places[a], arrowprops=look, zorder=1)
    if path is not None:
        _save(figure, Path(path))
    return figure


def _save(figure: Any, path: Path) -> None:
    """Save a picture in one go; the same graph gives the same bytes."""
    import io

    import matplotlib as mpl

    buffer = io.BytesIO()
    kind = path.suffix.lstrip(".") or "png"
    try:
        with mpl.rc_context({"svg.hashsalt": "f2sl", "svg.fonttype": "none"}):
            stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
            figure.savefig(buffer, format=kind, dpi=150, facecolor="white", metadata=stamp)
    except ValueError:
        raise F2SLError(f"{path}: a picture can be .svg, .png or .pdf") from None
    write_atomically(path, buffer.getvalue())


def _layout(dag: DAG, names: list[str]) -> dict[str, tuple[float, float]]:
    """Place nodes: layers by the longest path, order within them by the mean place of what is adjacent."""
    keep = set(names)
    layer: dict[str, int] = {}
    for name in dag.topological_order():
        if name in keep:
            layer[name] = 1 + max((layer[parent] for parent in dag.parents(name)), default=-1)
    # A cause that could stand lower does: directly above the first of its effects.
    for name in reversed(dag.topological_order()):
        children = dag.children(name) if name in keep else []
        if children and not dag.parents(name):
            layer[name] = min(layer[child] for child in children) - 1
    rows: list[list[str]] = [[] for _ in range(1 + max(layer.values(), default=0))]
    for name in sorted(keep):
        rows[layer[name]].append(name)
    widest = max((len(row) for row in rows), default=1)
    x: dict[str, float] = {}
    for row in rows:
        _spread(row, np.arange(len(row), dtype=np.float64), widest, x)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            pull = [np.mean([x[other] for other in dag.adjacent(name)] or [x[name]]) for name in row]
            order = np.argsort(pull, kind="stable")
            row[:] = [row[i] for i in order]
            _spread(row, np.array(pull)[order], widest, x)
    return {name: (x[name], float(layer[name])) for name in names}


def _spread(row: list[str], wish: NDArray[np.float64], widest: int, x: dict[str, float]) -> None:
    """Put a row's nodes as near to where they wish to be as a distance of 1 between them allows."""
    places = wish.copy()
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + 1.0)
    shift = float(np.mean(wish - places)) if len(places) else 0.0
    places = np.clip(places + shift, 0.0, None)
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + 1.0)
    over = max(0.0, float(places[-1]) - (widest - 1)) if len(places) else 0.0
    places -= min(over, float(places[0])) if len(places) else 0.0
    x.update(zip(row, places.tolist(), strict=True))
