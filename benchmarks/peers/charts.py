"""Charts of the figures: seconds against Ar_F1 for each network, and seconds against variables.

A colour is a library, a shape an algorithm. The same figures give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from f2sl_paper.figures import FAINT, INK, as_svg, look
from learners import OURS
from results import Cell

LEAD = f"{OURS} F2SL-c"
COLOURS = {
    LEAD: "#d62828",
    OURS: "#f08a4b",
    "PyBNesian": "#2f7fd1",
    "pyAgrum": "#2fa84f",
    "pgmpy": "#8a63d2",
    "causal-learn": "#7a6a4f",
}
SHAPES = {
    "F2SL-c": "o",
    "F2SL-s": "P",
    "F2SL-h": "H",
    "GSBN": "X",
    "MMPC": "v",
    "MMPC-i": "1",
    "MMHC": "D",
    "MMHC-i": "2",
    "MMHC-c": "d",
    "PC-stable": "s",
    "PC": "s",
    "hill climbing": "^",
    "MIIC": r"$\mathbf{M}$",
    "GES": "*",
    "SLL+C": "<",
    "SLL+G": ">",
    "GGSL": "p",
    "NOTEARS": r"$\mathbf{N}$",
    "DAG-GNN": r"$\mathbf{G}$",
}
_COLUMNS = 3


def charts(cells: list[Cell]) -> Iterator[tuple[str, str]]:
    """Draw all charts: names of files, and what is in them."""
    for rows in sorted({cell["rows"] for cell in cells}):
        yield f"peers-accuracy-{rows}.svg", _drawn(_accuracy, [c for c in cells if c["rows"] == rows])
    yield "peers-seconds.svg", _drawn(_seconds, cells)


def _accuracy(cells: list[Cell]) -> Figure:
    """A panel for each network: seconds to the right, Ar_F1 upwards."""
    networks = sorted({(cell["variables"], cell["network"]) for cell in cells})
    n_rows = -(-len(networks) // _COLUMNS)
    figure = Figure(figsize=(10, 2.9 * n_rows + 1.2), facecolor="white")
    for place, (variables, network) in enumerate(networks, start=1):
        axes = figure.add_subplot(n_rows, _COLUMNS, place)
        axes.set_title(f"{network}, {variables:,} variables", fontsize=10)
        shown = [cell for cell in cells if cell["network"] == network and "seconds" in cell]
        for cell in shown:
            axes.plot([cell["seconds"]], [cell["f1"]], **_look(cell["learner"]), linestyle="", alpha=0.9)
        axes.set(xscale="log", xlim=(0.008, 900), ylim=(0, 1.02))
        _plain(axes.xaxis)
        if place > len(networks) - _COLUMNS:
            axes.set_xlabel("seconds")
        if place % _COLUMNS == 1:
            axes.set_ylabel("Ar_F1")
    _legend(figure, cells, 1.1 / figure.get_figheight())
    return figure


def _seconds(cells: list[Cell]) -> Figure:
    """A panel for each number of rows: a line for each learner over the networks that it ended on."""
    sizes = sorted({cell["rows"] for cell in cells})
    figure = Figure(figsize=(10, 6.2), facecolor="white")
    for place, rows in enumerate(sizes, start=1):
        axes = figure.add_subplot(1, len(sizes), place)
        axes.set_title(f"{rows:,} rows", fontsize=10)
        for learner in dict.fromkeys(cell["learner"] for cell in cells):
            own = [cell for cell in cells if cell["rows"] == rows and cell["learner"] == learner]
            ended = sorted((cell["variables"], cell["seconds"]) for cell in own if "seconds" in cell)
            if ended:
                width = 2.4 if learner == LEAD else 1.0
                axes.plot(*zip(*ended, strict=True), **_look(learner), linewidth=width, alpha=0.9)
        axes.set(xscale="log", yscale="log", xlabel="variables", ylim=(0.008, 900))
        if place == 1:
            axes.set_ylabel("seconds")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        _plain(axes.xaxis)
        _plain(axes.yaxis)
    _legend(figure, cells, 1.1 / figure.get_figheight())
    return figure


def _look(learner: str) -> dict[str, Any]:
    library, _, algorithm = learner.partition(" ")
    colour = COLOURS.get(learner, COLOURS[library])
    size = 8 if learner == LEAD else 5.5
    return {"color": colour, "marker": SHAPES[algorithm], "markersize": size, "markeredgewidth": 0}


def _plain(axis: Any) -> None:
    """Put plain numbers at an axis."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(NullLocator())


def _legend(figure: Figure, cells: list[Cell], height: float) -> None:
    """Label at the foot which colour is which library, and which shape which algorithm."""
    learners = {cell["learner"] for cell in cells}
    libraries = {learner.partition(" ")[0] for learner in learners}
    colours = [
        Line2D([], [], color=colour, linewidth=5, label=f"other {name}" if name == OURS else name)
        for name, colour in COLOURS.items()
        if name in libraries | learners
    ]
    shapes: dict[str, list[str]] = {}
    for algorithm, shape in SHAPES.items():
        if any(learner.partition(" ")[2] == algorithm for learner in learners):
            shapes.setdefault(shape, []).append(algorithm)
    algorithms = [
        Line2D([], [], color=INK, marker=shape, linestyle="", label=", ".join(names))
        for shape, names in shapes.items()
    ]
    figure.tight_layout(rect=(0, height, 1, 1))
    look: dict[str, Any] = {"loc": "lower center", "frameon": False, "fontsize": 9, "columnspacing": 1.2}
    figure.legend(handles=colours, bbox_to_anchor=(0.5, height * 0.62), ncols=len(colours), **look)
    figure.legend(handles=algorithms, bbox_to_anchor=(0.5, 0.0), ncols=-(-len(algorithms) // 2), **look)


def _drawn(draw: Any, cells: list[Cell]) -> str:
    grid = {"axes.grid": True, "grid.color": FAINT, "grid.alpha": 0.25}
    with look("peers", font_size=9, **grid):
        figure = draw(cells)
        FigureCanvasAgg(figure)
        return as_svg(figure)
