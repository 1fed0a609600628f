"""A picture of a graph, in layers: causes above effects.

Nodes are put into layers so that arrows point down, each layer is ordered so that few edges cross, and
an edge that spans several layers is led through a gap in each, around the nodes there. Strong edges are
drawn thick; undirected ones are grey and have no arrowhead. Needs Matplotlib (the extra ``plot``); pleasant
up to about a hundred nodes.
"""

from __future__ import annotations

import importlib.util
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

from f2sl.errors import F2SLError, FileError
from f2sl.view.layers import Layout, lay_out
from f2sl.graph.atomic import write_atomically
from f2sl.graph.pdag import PDAG

DIRECTED, UNDIRECTED = "#1f5f7f", "#8c8c8c"
SIZE_OF_TEXT = 8.0
KINDS = (".svg", ".png", ".pdf")


def plot(graph: PDAG, path: str | Path | None = None, *, isolated: bool = False) -> Any:
    """Draw a graph; with `path`, save the picture there (.svg, .png or .pdf).

    Parameters
    ----------
    graph : PDAG
        What to draw; a fitted learner will do as well.
    path : str or Path, optional
        Where to save; the format goes by the suffix.
    isolated : bool
        Whether to draw the nodes that have no edge; if not, a line below the picture says how many there are.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_can_draw(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    graph = getattr(graph, "graph_", graph)
    names = [name for name in graph.nodes if isolated or graph.adjacent(name)]
    layout = lay_out(graph.to_dag(), names)
    figure = Figure(figsize=(max(4.0, 0.3 + layout.width), max(2.0, 0.8 * layout.height + 0.4)))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-0.15, layout.width + 0.15)
    axes.set_ylim(layout.height - 0.05, -0.55)
    _draw_edges(axes, graph, layout, _draw_nodes(axes, names, layout))
    hidden = graph.n_nodes - len(names)
    words = [
        "arrow: directed" if graph.directed_edges else "",
        "grey: undirected" if graph.undirected_edges else "",
    ]
    words.append(f"{hidden} without edges not shown" if hidden else "")
    axes.text(
        0.0,
        layout.height - 0.25,
        "   ".join(filter(None, words)),
        fontsize=0.85 * SIZE_OF_TEXT,
        color="#555555",
    )
    if path is not None:
        _save(figure, Path(path))
    return figure


def check_can_draw(path: str | Path | None = None) -> None:
    """Make sure, before long work, that there is Matplotlib and that it knows the kind of picture."""
    if importlib.util.find_spec("matplotlib") is None:
        raise F2SLError("drawing needs Matplotlib: install it, or f2sl with its extra 'plot'")
    if path is not None and Path(path).suffix.lower() not in KINDS:
        raise FileError(f"no picture format for {path}. Known: {', '.join(KINDS)}")


def _draw_nodes(axes: Any, names: list[str], layout: Layout) -> dict[str, Any]:
    """Draw the nodes; gives the box of each."""
    boxes = {}
    for name in names:
        look = {"boxstyle": "round,pad=0.3", "fc": "#f4f8fb", "ec": DIRECTED, "lw": 0.8}
        place = layout.places[name]
        text = axes.text(*place, name, ha="center", va="center", fontsize=SIZE_OF_TEXT, bbox=look, zorder=2)
        boxes[name] = text.get_bbox_patch()
    return boxes


def _draw_edges(axes: Any, graph: PDAG, layout: Layout, boxes: dict[str, Any]) -> None:
    """Draw the edges, each from the lower border of one box to the upper border of the other."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    axes.figure.canvas.draw()  # only once drawn do the boxes know their size
    to_data = axes.transData.inverted()
    extents = {name: box.get_window_extent().transformed(to_data) for name, box in boxes.items()}
    weights = graph.weights or {}
    strongest = max(weights.values(), default=1.0) or 1.0
    for edges, style, color in (
        (graph.directed_edges, "-|>", DIRECTED),
        (graph.undirected_edges, "-", UNDIRECTED),
    ):
        for a, b in edges:
            upper, lower = (a, b) if layout.places[a][1] < layout.places[b][1] else (b, a)
            between = layout.bends.get((upper, lower), [])
            points = [_port(extents[upper], layout.places[lower], down=True), *between]
            points.append(_port(extents[lower], layout.places[upper], down=False))
            vertices, codes = [points[0]], [Curve.MOVETO]
            for (x0, y0), (x1, y1) in pairwise(points):
                middle = (y0 + y1) / 2
                vertices += [(x0, middle), (x1, middle), (x1, y1)]
                codes += [Curve.CURVE4] * 3
            if upper != a:
                vertices.reverse()
            width = 0.9 + 1.4 * weights.get((a, b), 0.3 * strongest) / strongest
            look: dict[str, Any] = {
                "arrowstyle": style,
                "mutation_scale": 9 + 2 * width,
                "lw": width,
                "color": color,
                "zorder": 1,
            }
            axes.add_patch(FancyArrowPatch(path=Curve(vertices, codes), shrinkA=0, shrinkB=0, **look))


def _port(box: Any, other: tuple[float, float], *, down: bool) -> tuple[float, float]:
    """Where an edge leaves a box: at its lower or upper border, towards the other end."""
    middle, reach = (box.x0 + box.x1) / 2, 0.35 * abs(box.x1 - box.x0)
    x = middle + max(-reach, min(reach, 0.25 * (other[0] - middle)))
    return x, max(box.y0, box.y1) if down else min(box.y0, box.y1)


def _save(figure: Any, path: Path) -> None:
    """Save a picture in one go; the same graph gives the same bytes."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    kind = path.suffix.lstrip(".").lower()
    with mpl.rc_context({"svg.hashsalt": "f2sl", "svg.fonttype": "none"}):
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        figure.savefig(buffer, format=kind, dpi=150, facecolor="white", metadata=stamp)
    write_atomically(path, buffer.getvalue())
