"""Places and curves by Graphviz's ``dot``, if it is installed.

f2sl chooses the layers, because it splits wide ones; ``dot`` orders the nodes within layers, places them and
draws edges as splines around the boxes. It gets numbers instead of names, so names may contain anything.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

INCH = 72.0
SECONDS = 10
"""Longest time that ``dot`` may take for a part of a graph."""

Point = tuple[float, float]


class Placed(NamedTuple):
    """Middles of nodes, and of each edge a start and three points for each cubic curve, from the top left."""

    x: dict[int, float]
    curves: dict[tuple[int, int], list[Point]]
    width: float


def by_dot(
    dot: str,
    layers: Sequence[Sequence[int]],
    arcs: Iterable[tuple[int, int]],
    widths: Sequence[float],
    height: float,
    gap: float,
    between: float,
) -> Placed | None:
    """Lay out a part with ``dot``; None if that fails or takes too long.

    `layers` has the nodes from top to bottom, `gap` is the distance between layers, `height` the height of
    boxes and `between` the smallest distance between boxes in a layer.
    """
    arcs = list(arcs)
    chain = {(above[0], below[0]) for above, below in pairwise(layers)} - set(arcs)
    lines = [
        "digraph {",
        f"graph [nodesep={between / INCH:.4f}, ranksep={(gap - height) / INCH:.4f}];",
        f'node [shape=box, fixedsize=true, label="", height={height / INCH:.4f}]; edge [arrowhead=none];',
        *(
            "{rank=same; " + "".join(f"{i} [width={widths[i] / INCH:.4f}];" for i in row) + "}"
            for row in layers
        ),
        *(f"{a} -> {b};" for a, b in arcs),
        *(f"{a} -> {b} [style=invis, weight=0];" for a, b in sorted(chain)),
        "}",
    ]
    try:
        run = subprocess.run(
            [dot, "-Tplain", "-y"],
            input="\n".join(lines).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
        placed = _read(run.stdout.decode(), height)
        x = {i: placed.x[i] for row in layers for i in row}
        return Placed(x, {arc: placed.curves[arc] for arc in arcs}, placed.width)
    except (OSError, subprocess.SubprocessError, ValueError, LookupError):
        return None


def _read(plain: str, height: float) -> Placed:
    """Parse ``dot``'s plain format: a line for the graph, each node and each edge, in inches."""
    placed = Placed({}, {}, 0.0)
    for kind, *words in (line.split() for line in plain.splitlines()):
        if kind == "graph":
            placed = placed._replace(width=INCH * float(words[1]))
        elif kind == "node":
            placed.x[int(words[0])] = INCH * float(words[1])
        elif kind == "edge":
            numbers = [INCH * float(word) for word in words[3 : 3 + 2 * int(words[2])]]
            points = [(x, y - height / 2) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            placed.curves[int(words[0]), int(words[1])] = points
    return placed
