"""The paper's figures from our runs, by Matplotlib.

==============================  ============================================================================
``seconds-500``, ``-1000``       seconds against the number of variables
``time-shd-500``, ``-1000``      seconds against SHD, both divided by those of F2SL-s
``time-f1-500``, ``-1000``       seconds against Ar_F1, both divided by those of F2SL-s
``delta-f1-500``, ...            F1, precision and recall of FCBF against delta, with 0.05 marked
==============================  ============================================================================

Each panel is one picture: two are side by side on a wide page and below each other on a phone. The same
results give the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from f2sl_paper.names import LEARNERS, MEASURES, NETWORKS, STRUCTURE_LEARNERS, size
from f2sl_paper.results import CHOSEN_DELTA, Cell, Cells, swept
from f2sl_paper.settings import DELTAS, PAPER, SIZES, SWEPT

INK, FAINT = "#24292f", "#8b949e"
"""Colours of text and axes, and of what stands back; a page in the dark puts others in their place."""
_COLOURS = {
    "gsbn": "#8a63d2",
    "mmhc": "#2f7fd1",
    "mmhc-c": "#16a3a3",
    "sll+c": "#b07a1e",
    "sll+g": "#d9a514",
    "ggsl": "#7f8c3a",
    "notears": "#d65db1",
    "dag-gnn": "#a0522d",
    "f2sl-c": "#e5533d",
    "f2sl-s": "#2fa84f",
    "mildew": "#2f7fd1",
    "hailfinder": "#16a3a3",
    "munin": "#2fa84f",
    "pigs": "#8a63d2",
    "link": "#d9a514",
    "gene": "#d65db1",
}
_MARKERS = dict(zip(STRUCTURE_LEARNERS, "vsdXPp<>oD", strict=True)) | dict(
    zip(NETWORKS, "osD^vX", strict=True)
)


@dataclass(frozen=True)
class Picture:
    """Picture, as text (SVG) and as pixels (PNG)."""

    name: str
    title: str
    svg: str
    png: bytes


def pictures(cells: Cells) -> list[Picture]:
    """Draw all figures."""
    return [_drawn(name, title, draw) for name, title, draw in _plan(cells)]


Draw = Callable[[Any], None]


def _number_plainly(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers at powers of ten, or at 1, 2 and 5 if there are few."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    low, high = axis.get_view_interval()
    powers = [10.0**power for power in range(-7, 9)]
    few = sum(low <= tick <= high for tick in powers) < 3
    axis.set_major_locator(
        FixedLocator([first * power for power in powers for first in (1, 2, 5)] if few else powers)
    )
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _plan(cells: Cells) -> Iterator[tuple[str, str, Draw]]:
    """Return name, title and how to draw of each figure."""
    for rows in SIZES:
        title = f"Seconds against variables, {size(rows)} rows"
        yield f"seconds-{rows}", title, partial(_seconds, cells=cells, rows=rows)
    for measure, label in (("shd", "SHD"), ("f1", "Ar_F1")):
        for rows in SIZES:
            title = f"Normalised time against normalised {label}, {size(rows)} rows"
            draw = partial(_trade, cells=cells, rows=rows, measure=measure, label=label)
            yield f"time-{measure}-{rows}", title, draw
    for measure in ("f1", "precision", "recall"):
        for rows in SIZES:
            title = f"{MEASURES[measure]} of FCBF against delta, {size(rows)} rows"
            yield f"delta-{measure}-{rows}", title, partial(_delta, cells=cells, rows=rows, measure=measure)


def _seconds(axes: Any, cells: Cells, rows: int) -> None:
    """Seconds against variables: a line for each learner as in the paper, both axes logarithmic."""
    for learner in STRUCTURE_LEARNERS:
        points = []
        for network in NETWORKS:
            for task in cells.tasks(network, rows, [learner]):
                cell, variables = cells.get(task, learner, PAPER), cells.variables(task)
                if cell is not None and variables and cell.figures.get("seconds"):
                    points.append((variables, cell.figures["seconds"].mean))
        _line(axes, learner, LEARNERS[learner], sorted(points))
    axes.set(xscale="log", yscale="log", xlabel="variables", ylabel="seconds")


def _trade(axes: Any, cells: Cells, rows: int, measure: str, label: str) -> None:
    """Plot time against quality, relative to F2SL-s; learners better in both are in the grey area.

    A colour is a learner, a shape a network.
    """
    placed = []
    for learner in STRUCTURE_LEARNERS:
        for network in NETWORKS:
            for task in cells.tasks(network, rows, [learner]):
                base = cells.get(task, "f2sl-s", PAPER)
                cell = cells.get(task, learner, PAPER)
                place = _ratios(cell, base, ("seconds", measure))
                if place is not None and learner != "f2sl-s":
                    placed.append((learner, network, place))
    for learner, network, (x, y) in placed:
        axes.plot([x], [y], color=_COLOURS[learner], marker=_MARKERS[network], markersize=6, linestyle="")
    for learner in dict.fromkeys(learner for learner, _, _ in placed):
        axes.plot([], [], color=_COLOURS[learner], linewidth=5, label=LEARNERS[learner])
    _name_shapes(axes, {network for _, network, _ in placed})
    axes.plot([1], [1], marker="+", color=INK, markersize=10, linestyle="")
    axes.set(xscale="log", yscale="log" if measure == "shd" else "linear")
    axes.set(xlabel="normalised time", ylabel=f"normalised {label}")
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    left, bottom, top = min(left, 0.5), min(bottom, 0.9), max(top, 1.1)
    better = (bottom, 1.0) if measure == "shd" else (1.0, top)
    axes.fill_between([left, 1.0], *better, color=FAINT, alpha=0.25, linewidth=0)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def _name_shapes(axes: Any, networks: set[str]) -> None:
    """Label at the foot of a figure which shape is which network."""
    from matplotlib.lines import Line2D

    shapes = [
        Line2D([], [], color=INK, marker=_MARKERS[network], linestyle="", label=title)
        for network, title in NETWORKS.items()
        if network in networks
    ]
    if shapes:
        axes.legend(
            handles=shapes,
            loc="lower center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=axes.figure.transFigure,
            ncols=len(shapes),
            frameon=False,
            fontsize=8.5,
            columnspacing=0.9,
            handletextpad=0.1,
            borderpad=0.2,
        )


def _ratios(cell: Cell | None, base: Cell | None, measures: tuple[str, str]) -> tuple[float, float] | None:
    """Divide by the base, unless something is missing or zero, which a logarithm cannot show."""
    if cell is None or base is None:
        return None
    values = []
    for measure in measures:
        above, below = cell.figures.get(measure), base.figures.get(measure)
        if above is None or below is None or above.mean <= 0 or below.mean <= 0:
            return None
        values.append(above.mean / below.mean)
    return values[0], values[1]


def _delta(axes: Any, cells: Cells, rows: int, measure: str) -> None:
    """Plot a rate of FCBF against delta, with a line for each network."""
    for network in NETWORKS:
        for task in cells.tasks(network, rows, [SWEPT]):
            points = [
                (delta, cell.figures[measure].mean)
                for delta, cell in swept(cells, task).items()
                if measure in cell.figures
            ]
            label = NETWORKS[network] + (" (sampled)" if task.source == "sampled" else "")
            _line(axes, network, label, points)
    axes.axvline(CHOSEN_DELTA, color="#e5533d", linewidth=1.2, linestyle="--")
    axes.set(xlim=(min(DELTAS) - 0.003, max(DELTAS) + 0.003), ylim=(0, 1.02))
    axes.set(xlabel="delta", ylabel=MEASURES[measure])


def _line(axes: Any, name: str, label: str, points: list[tuple[float, float]]) -> None:
    if points:
        axes.plot(
            *zip(*points, strict=True),
            label=label,
            color=_COLOURS[name],
            marker=_MARKERS[name],
            markersize=5,
            linewidth=1.4,
            linestyle="-" if len(points) > 2 else "",  # two points make no trend
        )


def look(salt: str, font_size: float = 10.0, **others: Any) -> Any:
    """Return a context in which all pictures have one style; `salt` makes the SVG bytes stable."""
    import matplotlib as mpl

    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = {
        "svg.hashsalt": f"f2sl {salt}",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": font_size,
        "axes.spines.top": False,
        "axes.spines.right": False,
        **dict.fromkeys(inked, INK),
        **others,
    }
    return mpl.rc_context(settings)


def as_svg(figure: Any) -> str:
    """Return a figure as SVG, without a date."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _drawn(name: str, title: str, draw: Draw) -> Picture:
    """Draw one panel, with its legend below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with look(name):
        figure = Figure(figsize=(4.6, 4.3), facecolor="none")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.15, 0.31, 0.79, 0.62), facecolor="none")
        axes.set_title(title, fontsize=10.5)
        draw(axes)
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                _number_plainly(axis)
        axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            figure.legend(
                handles,
                labels,
                loc="upper center",
                bbox_to_anchor=(0.5, 0.21),
                ncols=3 if len(labels) <= 6 else 4,
                frameon=False,
                fontsize=9,
                columnspacing=1.2,
                handlelength=1.6,
            )
        else:
            axes.text(0.5, 0.5, "not run yet", transform=axes.transAxes, ha="center", color=FAINT)
        svg, pixels = as_svg(figure), io.BytesIO()
        figure.savefig(pixels, format="png", dpi=150, facecolor="white", metadata={"Software": None})
    return Picture(name, title, svg, pixels.getvalue())
