"""A chart: SHD per true edge by learner and rows."""

from __future__ import annotations

import io

from comparing.summary import Summary
from f2sl.experiments.figures import FAINT, INK

COLOURS = ("#e5533d", "#2fa84f", "#2f7fd1", "#d9a514", "#8a63d2", "#16a3a3", "#d65db1", "#7f8c3a", "#a0522d")
MARKERS = "oDsv^PXd<>p"


def shd_by_rows(summary: Summary, title: str) -> str:
    """Draw a line for each learner over the numbers of rows, as SVG; the same results give the same bytes.

    Only cells that all learners have are in it, so that all lines are of the same networks.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sizes = sorted({cell.rows for cell in summary.shared})
    look = {"svg.hashsalt": "f2sl accuracy", "svg.fonttype": "none", "font.family": "sans-serif"}
    look |= dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK
    )
    with mpl.rc_context(look):
        figure = Figure(figsize=(7.2, 4.2), facecolor="none")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.1, 0.12, 0.6, 0.78), facecolor="none")
        for place, name in enumerate(summary.learners):
            heights = [
                summary.over(name, [cell for cell in summary.shared if cell.rows == size], "shd_per_edge")
                for size in sizes
            ]
            axes.plot(
                range(len(sizes)),
                heights,
                label=name,
                color=COLOURS[place % len(COLOURS)],
                marker=MARKERS[place % len(MARKERS)],
                linewidth=1.4,
                markersize=5,
            )
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.set(xlabel="rows", ylabel="SHD per true edge")
        axes.set_title(title, fontsize=10.5)
        axes.grid(visible=True, which="both", color=FAINT, alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="center left", bbox_to_anchor=(0.72, 0.5), frameon=False, fontsize=9)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
