"""Pictures of graphs, in layers: causes above effects.

Strong edges are thick; undirected ones have another colour and no arrowhead, and arrows that are only weakly
decided are dashed. With a graph to compare with, edges have colours and dashes by their status (see
:mod:`f2sl.view.drawing`). SVG is written here; PNG and PDF need Matplotlib (the extra ``plot``).
"""

from __future__ import annotations

import html
import importlib.util
import io
import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from os import PathLike
from pathlib import Path
from typing import Any

from f2sl.errors import F2SLError, FileError, OptionError, unknown_name
from f2sl.graph import PDAG, write_atomically
from f2sl.view.drawing import (
    STATUSES,
    STYLES,
    Drawing,
    Edge,
    Style,
    around,
    drawing,
    graph_of,
    label,
    width_of_text,
)
from f2sl.view.layers import HEIGHT, Point

SUFFIXES = (".svg", ".png", ".pdf")
INK, SOFT, BOX, BORDER, ACCENT, TINT = "#20262d", "#5f6b76", "#ffffff", "#9fb3bf", "#1f5f7f", "#dcebf2"
MARGIN, CLEAR, RADIUS = 18.0, HEIGHT / 2 + 7, 18.0
MOST_PIXELS = 6_000
"""The longer side of a PNG; larger pictures get fewer pixels for each name."""

Curve = list[tuple[Point, ...]]
"""A start, then ends of straight lines, and one or two control points with the end of a bend."""


def plot(
    graph: Any,
    path: str | PathLike[str] | None = None,
    *,
    truth: Any = None,
    around: str | Iterable[str] | None = None,
    depth: int = 1,
    highlight: Iterable[str | tuple[str, str]] = (),
    isolated: bool = False,
) -> Picture:
    """Draw a graph; with `path`, save the picture there (.svg, .png or .pdf).

    Parameters
    ----------
    graph : graph, fitted learner or network
        Graph, fitted learner or network to draw.
    path : str or Path, optional
        File to save to; the suffix chooses the format.
    truth : graph, fitted learner or network, optional
        Graph to compare with: edges are agreed, reversed, directed in one, missing or extra.
    around : str or list of str, optional
        Draw only these variables and those within `depth` edges of them.
    depth : int
        Largest distance from `around`, in edges.
    highlight : names and pairs of names
        Variables and edges to highlight.
    isolated : bool
        If true, draw variables without edges; otherwise a line below the picture says how many there are.

    Returns
    -------
    Picture
        Notebooks display it. ``save`` writes a file, ``svg()`` returns SVG text, ``figure()`` a Matplotlib
        figure.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.plot(f2sl.load_network("alarm"), around="HR", depth=1)
    Picture(6 variables, 5 edges)
    """
    check_can_draw(path)
    picture = Picture(
        *_chosen(graph, truth, around, depth, isolated), *_highlighted(graph_of(graph), highlight)
    )
    if path is not None:
        picture.save(path)
    return picture


def check_can_draw(path: str | PathLike[str] | None = None) -> None:
    """Check, before long work, that pictures of this format can be drawn: all but SVG need Matplotlib."""
    suffix = "" if path is None else Path(path).suffix.lower()
    if path is not None and suffix not in SUFFIXES:
        raise FileError(f"no picture format for {path}. Known: {', '.join(SUFFIXES)}", path=str(path))
    if suffix in SUFFIXES[1:]:
        need_matplotlib()


def need_matplotlib() -> None:
    """Raise an error without Matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise F2SLError("PNG, PDF and figures need Matplotlib (pip install 'f2sl[plot]'); .svg does not")


def _chosen(graph: Any, truth: Any, centre: Any, depth: int, isolated: bool) -> tuple[Drawing, int]:
    """Lay out the chosen part; return also the number of variables left out."""
    graph, truth = graph_of(graph), None if truth is None else graph_of(truth)
    if centre is not None:
        keep = around(graph, centre, depth)
    else:
        both = [graph] if truth is None else [graph, truth]
        keep = {name for name in graph.nodes if isolated or any(one.neighbors(name) for one in both)}
    return drawing(graph, truth, keep, shutil.which("dot")), graph.n_nodes - len(keep)


def _highlighted(graph: PDAG, given: Iterable[str | tuple[str, str]]) -> tuple[set[str], set[frozenset[str]]]:
    """Sort what to set off into variables and pairs."""
    listed = [given] if isinstance(given, str) else list(given)
    names = {item for item in listed if isinstance(item, str)}
    pairs = [tuple(item) for item in listed if not isinstance(item, str)]
    known = set(graph.nodes)
    unknown = sorted({str(name) for item in [*pairs, names] for name in item if name not in known})
    if unknown:
        raise OptionError("; ".join(unknown_name("node", name, graph.nodes) for name in unknown))
    return names, {frozenset(pair) for pair in pairs}


@dataclass(frozen=True)
class Picture:
    """Picture of a graph, made by :func:`f2sl.plot`."""

    drawing: Drawing
    n_hidden: int
    names: set[str]
    pairs: set[frozenset[str]]

    def __repr__(self) -> str:
        return f"Picture({len(self.drawing.nodes):,} variables, {len(self.drawing.edges):,} edges)"

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture, whole or not at all; the same graph gives the same bytes."""
        check_can_draw(path)
        format = Path(path).suffix.lstrip(".").lower()
        write_atomically(path, self.svg() if format == "svg" else self._by_matplotlib(format))

    # -- what is drawn, by either way ---------------------------------------------------

    @property
    def size(self) -> Point:
        """Width and height in pixels."""
        layout = self.drawing.layout
        legend = sum(wide for *_, wide in self._legend())
        return max(160.0, layout.width, legend) + 2 * MARGIN, layout.height + HEIGHT + 2 * MARGIN + 30

    def _lines(self) -> Iterator[tuple[Curve, list[Point], str, tuple[float, ...], float]]:
        """Yield each edge's curve, arrowhead, colour, dashes and width."""
        strengths = [abs(edge.strength) for edge in self.drawing.edges if edge.strength is not None]
        strongest = max(strengths, default=0.0) or 1.0
        for edge in self.drawing.edges:
            _, colour, _, dashes, _ = edge.style
            width = 1.5 if edge.strength is None else 0.9 + 2.1 * abs(edge.strength) / strongest
            width += 2.0 * (frozenset((edge.a, edge.b)) in self.pairs)
            cubic = [self._at(point) for point in self.drawing.curve(edge)]
            points = cubic or self._way(edge)
            head: list[Point] = []
            if edge.directed:
                (x0, y0), (x1, y1) = points[-2:]
                long = hypot(x1 - x0, y1 - y0) or 1.0
                ux, uy, size = (x1 - x0) / long, (y1 - y0) / long, 7 + 1.6 * width
                x, y, side = x1 - ux * size, y1 - uy * size, 0.42 * size
                head = [(x1, y1), (x - uy * side, y + ux * side), (x + uy * side, y - ux * side)]
                points[-1] = (x1 - 0.8 * size * ux, y1 - 0.8 * size * uy)
            pieces = zip(points[1::3], points[2::3], points[3::3], strict=True)
            curve = [(points[0],), *pieces] if cubic else _rounded(points)
            yield curve, head, colour, dashes, width

    def _way(self, edge: Edge) -> list[Point]:
        """Return the points of an edge: out of one box, vertically through each layer, into the other box."""
        positions, gaps = self.drawing.layout.positions, self.drawing.way(edge)
        (ax, ay), (bx, by) = positions[edge.a], positions[edge.b]
        down = 1 if ay < by else -1
        ends = [
            (self._port(edge.a, gaps[0][0] if gaps else bx), ay + down * HEIGHT / 2),
            (self._port(edge.b, gaps[-1][0] if gaps else ax), by - down * HEIGHT / 2),
        ]
        between = [(x, y + sign * CLEAR) for x, y in gaps for sign in (-down, down)]
        points = [ends[0], *between, ends[1]]
        kept = [
            point
            for before, point, after in zip(points, points[1:-1], points[2:], strict=False)
            if not before[0] == point[0] == after[0]
        ]
        return [self._at(point) for point in [ends[0], *kept, ends[1]]]

    def _at(self, position: Point) -> Point:
        return position[0] + MARGIN, position[1] + MARGIN + HEIGHT / 2

    def _port(self, name: str, other: float) -> float:
        x, reach = self.drawing.layout.positions[name][0], 0.32 * self.drawing.widths[name]
        return x + max(-reach, min(reach, 0.2 * (other - x)))

    def _boxes(self) -> Iterator[tuple[str, float, float, float, bool]]:
        """Yield each node's name, the middle and the width of its box, and whether to set it off."""
        for name in self.drawing.nodes:
            x, y = self._at(self.drawing.layout.positions[name])
            yield name, x, y, self.drawing.widths[name], name in self.names

    def _legend(self) -> list[tuple[Style | None, str, float]]:
        """Return style, words and width of each entry below the picture."""
        present = {edge.style for edge in self.drawing.edges}
        styles = [style for style in (*STYLES.values(), *STATUSES.values()) if style in present]
        entries: list[tuple[Style | None, str, float]] = [
            (style, style.name, 64 + width_of_text(style.name)) for style in styles
        ]
        if self.n_hidden:
            text = f"{self.n_hidden:,} variable{'s' * (self.n_hidden > 1)} not shown"
            entries.append((None, text, 30 + width_of_text(text)))
        return entries

    # -- SVG ----------------------------------------------------------------------------

    def svg(self) -> str:
        """Return the picture as SVG: names are text, in whatever script."""
        return "\n".join(self._svg()) + "\n"

    def _svg(self) -> Iterator[str]:
        width, height = self.size
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-size="13" '
            'font-family="system-ui, DejaVu Sans, sans-serif">'
        )
        yield f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
        for curve, head, colour, dashes, thick in self._lines():
            yield _svg_path(curve, colour, dashes, thick)
            if head:
                yield f'<polygon points="{" ".join(_at(point, ",") for point in head)}" fill="{colour}"/>'
        for name, x, y, wide, set_off in self._boxes():
            fill, stroke, line = (TINT, ACCENT, 2.5) if set_off else (BOX, BORDER, 1.2)
            yield (
                f'<g><title>{_escaped(name)}</title><rect x="{x - wide / 2:.1f}" y="{y - HEIGHT / 2:.1f}" '
                f'width="{wide:.1f}" height="{HEIGHT:.0f}" rx="7" '
                f'fill="{fill}" stroke="{stroke}" stroke-width="{line}"/>'
            )
            yield (
                f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central" '
                f'fill="{INK}">{_escaped(label(name))}</text></g>'
            )
        left, middle = MARGIN, height - MARGIN
        for style, text, wide in self._legend():
            start = left
            if style:
                yield _svg_path([((left, middle),), ((left + 28, middle),)], style.colour, style.dashes, 2.2)
                start += 36
            yield (
                f'<text x="{start:.1f}" y="{middle:.1f}" dominant-baseline="central" font-size="12" '
                f'fill="{SOFT}">{_escaped(text)}</text>'
            )
            left += wide
        yield "</svg>"

    # -- Matplotlib ---------------------------------------------------------------------

    def figure(self) -> Any:
        """Return the picture as a figure of Matplotlib."""
        need_matplotlib()
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        width, height = self.size
        figure = Figure(figsize=(width / 96, height / 96))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        self._draw(axes, height)
        return figure

    def _draw(self, axes: Any, height: float) -> None:
        from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
        from matplotlib.path import Path as Way

        pixel = 72 / 96  # in points, as Matplotlib measures lines and letters
        families = _families([label(name) for name in self.drawing.nodes])

        def line(curve: Curve, colour: str, dashes: tuple[float, ...], thick: float) -> None:
            codes = [Way.MOVETO]
            for piece in curve[1:]:
                codes += [(Way.LINETO, Way.CURVE3, Way.CURVE4)[len(piece) - 1]] * len(piece)
            style: Any = (0, tuple(dash / thick for dash in dashes)) if dashes else "solid"
            way = Way([point for piece in curve for point in piece], codes)
            axes.add_patch(PathPatch(way, fc="none", ec=colour, lw=thick * pixel, ls=style, capstyle="butt"))

        def write(x: float, y: float, text: str, size: float, **style: Any) -> None:
            style |= {"va": "center", "family": families, "parse_math": False}
            axes.text(x, y, text, fontsize=size * pixel, **style)

        for curve, head, colour, dashes, thick in self._lines():
            line(curve, colour, dashes, thick)
            if head:
                axes.add_patch(Polygon(head, closed=True, fc=colour, ec="none"))
        for name, x, y, wide, set_off in self._boxes():
            fill, stroke, thin = (TINT, ACCENT, 2.5) if set_off else (BOX, BORDER, 1.2)
            corner = (x - wide / 2 + 7, y - HEIGHT / 2 + 7)
            box = FancyBboxPatch(corner, wide - 14, HEIGHT - 14, boxstyle="round,pad=7,rounding_size=7")
            box.set(facecolor=fill, edgecolor=stroke, linewidth=thin * pixel, zorder=2)
            axes.add_patch(box)
            write(x, y, label(name), 13 if len(families) > 1 else 12, ha="center", color=INK, zorder=3)
        left, middle = MARGIN, height - MARGIN
        for style, text, wide in self._legend():
            if style:
                line([((left, middle),), ((left + 28, middle),)], style.colour, style.dashes, 2.2)
            write(left + 36 * (style is not None), middle, text, 11, color=SOFT)
            left += wide

    def _by_matplotlib(self, format: str) -> bytes:
        buffer, size = io.BytesIO(), max(self.size) / 96
        figure = self.figure()
        with warnings.catch_warnings():
            # A letter that no installed font has is drawn as an empty box.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            stamp = {"CreationDate": None} if format == "pdf" else None
            dpi = min(150.0, MOST_PIXELS / size)
            figure.savefig(buffer, format=format, dpi=dpi, facecolor="white", metadata=stamp)
        return buffer.getvalue()


def _rounded(points: Sequence[Point]) -> Curve:
    """Join points by lines, with round corners."""
    curve: Curve = [(points[0],)]
    for before, corner, after in zip(points, points[1:-1], points[2:], strict=False):
        curve += [(_toward(corner, before),), (corner, _toward(corner, after))]
    return [*curve, (points[-1],)]


def _toward(corner: Point, other: Point) -> Point:
    """Return the point near a corner at which its rounding begins."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    share = min(0.5, RADIUS / (hypot(dx, dy) or 1.0))
    return corner[0] + share * dx, corner[1] + share * dy


def _svg_path(curve: Curve, colour: str, dashes: tuple[float, ...], thick: float) -> str:
    way = f"M{_at(curve[0][0])}"
    for piece in curve[1:]:
        way += f"{'LQC'[len(piece) - 1]}{' '.join(map(_at, piece))}"
    dashed = f' stroke-dasharray="{" ".join(f"{dash:g}" for dash in dashes)}"' if dashes else ""
    return f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{thick:.2f}"{dashed}/>'


def _at(point: Point, between: str = " ") -> str:
    return f"{point[0]:.1f}{between}{point[1]:.1f}"


def _escaped(text: str) -> str:
    """Return a text that XML can hold: without control characters and lone surrogates."""
    allowed = (
        c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else "\ufffd"
        for c in text
    )
    return html.escape("".join(c if c not in "\t\n\r" else " " for c in allowed))


def _families(labels: Iterable[str]) -> list[str]:
    """Return Matplotlib's usual font, and as many of the fonts that are installed as all letters need."""
    from matplotlib import font_manager

    families = ["DejaVu Sans"]
    usual = font_manager.get_font(font_manager.findfont(families[0]))
    lacking = {ord(letter) for text in labels for letter in text} - set(usual.get_charmap())
    for entry in sorted(font_manager.fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)):
        if not lacking:
            break
        if entry.name.startswith("Last Resort"):  # comes with Matplotlib; has a placeholder for every letter
            continue
        found = set(font_manager.get_font(entry.fname).get_charmap()) & lacking
        if found:
            families.append(entry.name)
            lacking -= found
    return families
