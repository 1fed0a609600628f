"""A chart: SHD per true edge by learner and rows."""

from __future__ import annotations

from collections.abc import Sequence

from comparing.summary import Cell, Summary
from f2sl_paper.figures import FAINT, as_svg, look

COLOURS = (
    "#24292f",
    "#e5533d",
    "#f0a08f",
    "#2fa84f",
    "#93d3a5",
    "#2f7fd1",
    "#16a3a3",
    "#8a63d2",
    "#7f8c3a",
    "#a0522d",
    "#d9a514",
)
MARKERS = "*ooss^DXP<>"


def shd_by_rows(summary: Summary, learners: Sequence[str]) -> str:
    """Draw a line for each learner over the numbers of rows, as SVG; the same results give the same bytes.

    Only networks that all learners have with all numbers of rows are in it, so that all points are of the
    same ones. A learner's colour goes by its place among `learners`, whoever else was measured.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sizes = sorted({cell.rows for cell in summary.cells})
    networks = [
        network
        for network in dict.fromkeys(cell.network for cell in summary.cells)
        if all(Cell(network, size) in summary.shared for size in sizes)
    ]
    with look("accuracy"):
        figure = Figure(figsize=(7.2, 4.2), facecolor="none")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.1, 0.12, 0.6, 0.78), facecolor="none")
        for name in summary.learners:
            place = learners.index(name)
            heights = [
                summary.over(name, [Cell(network, size) for network in networks], "shd_per_edge")
                for size in sizes
            ]
            axes.plot(
                range(len(sizes)),
                heights,
                label=name,
                color=COLOURS[place],
                marker=MARKERS[place],
                linewidth=1.4,
                markersize=5,
            )
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.set(xlabel="rows", ylabel="SHD per true edge")
        axes.set_title(f"Means over {', '.join(networks)}", fontsize=9, wrap=True)
        axes.grid(visible=True, which="both", color=FAINT, alpha=0.25, linewidth=0.6)
        figure.legend(loc="center left", bbox_to_anchor=(0.72, 0.5), frameon=False, fontsize=9)
        return as_svg(figure)
