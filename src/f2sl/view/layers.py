"""Places for the nodes of a graph in a picture: layers, order, and ways around (Sugiyama's method).

An edge that spans several layers gets a *bend* in each layer between its ends. A bend takes part in the
ordering like a narrow node, which keeps the edge clear of the nodes there. Places along the layers are chosen
so that edges, and above all their parts between bends, are as vertical as possible. Each connected part is
laid out by itself; the parts are put side by side, and nodes without edges in rows below.

If Graphviz is installed, its ``dot`` may order the nodes within layers, place them and draw edges as splines
around the boxes; the layers are still chosen here, because wide ones are split. ``dot`` gets numbers instead
of names, so names may contain anything.

All choices follow the order of the names, so the same graph always has the same picture.

References
----------
E. R. Gansner, E. Koutsofios, S. C. North, K.-P. Vo. A technique for drawing directed graphs. IEEE
Transactions on Software Engineering 19, 1993.

K. Sugiyama, S. Tagawa, M. Toda. Methods for visual understanding of hierarchical system structures. IEEE
Transactions on Systems, Man, and Cybernetics 11, 1981.
"""

from __future__ import annotations

import subprocess
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np

SWEEPS, PULLS = 24, 16
WEIGHTS = (1.0, 2.0, 8.0)
"""Weight of a piece of an edge between nodes, between a node and a bend, and between bends."""
MOST_EXACT = 4_000
"""Nodes and bends of the largest part whose places are computed exactly, which takes seconds for more."""
STIFF = 8.0
"""Weight of a bend beside that of a node, where both cannot be where they are drawn."""
GAP, GAP_OF_BENDS = 20.0, 12.0
WIDTH_OF_BEND = 4.0
LAYER, TALLEST_LAYER = 78.0, 240.0
"""Distance between layers; in wide pictures more, so that edges do not run flat."""
ASPECT = 2.0
"""Width of a picture in heights, as far as the distance between layers can give it."""

HEIGHT = 30.0
"""Height of a node's box."""

Point = tuple[float, float]
Rows = list[list[int]]


@dataclass
class Layout:
    """Places of the nodes' centres, and the bends of long edges from the upper end to the lower.

    Edges laid out by ``dot`` have a curve instead: a start, and three points for each cubic curve.
    """

    positions: dict[str, Point] = field(default_factory=dict)
    bends: dict[tuple[str, str], list[Point]] = field(default_factory=dict)
    curves: dict[tuple[str, str], list[Point]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def lay_out(widths: Mapping[str, float], edges: Iterable[tuple[str, str]], dot: str | None = None) -> Layout:
    """Lay out nodes of given widths: edges point down. They must be acyclic.

    If the path of Graphviz's `dot` is given, it finds the places within layers of large parts.

    Examples
    --------
    >>> layout = lay_out(dict.fromkeys("abc", 40.0), [("a", "b"), ("b", "c"), ("a", "c")])
    >>> [layout.positions[name][1] for name in "abc"], len(layout.bends["a", "c"])
    ([0.0, 78.0, 156.0], 1)
    """
    names = sorted(widths)
    number = {name: i for i, name in enumerate(names)}
    pairs = sorted({(number[a], number[b]) for a, b in edges})
    parts, alone = _parts(len(names), pairs)
    sides = [_Part(part, pairs, [widths[name] for name in names]) for part in parts]
    # The distance of layers follows from the part that is widest for its layers.
    wanted = max((part.width / ASPECT / max(1, len(part.rows) - 1) for part in sides), default=0.0)
    gap = float(round(min(max(LAYER, wanted), TALLEST_LAYER)))
    for part in sides if dot else ():
        part.use_dot(str(dot), gap)
    boxes = [(part.width, gap * (len(part.rows) - 1)) for part in sides]
    layout = Layout()
    for part, (left, top) in zip(sides, _packed(boxes, layout), strict=True):
        for (a, b), curve in part.curves.items():
            layout.curves[names[a], names[b]] = [(left + x, top + y) for x, y in curve]
        for item, x in part.x.items():
            position = (left + x, top + gap * part.layer[item])
            if item < len(names):
                layout.positions[names[item]] = position
            else:
                a, b = part.bend_of[item]
                layout.bends.setdefault((names[a], names[b]), []).append(position)
    _add_rows_of([names[i] for i in alone], widths, layout, gap)
    return layout


def _parts(n: int, edges: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[int]]:
    """Return the connected parts, the largest first, and the nodes without edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(edges, np.int64).reshape(-1, 2)
    joined = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    parts: dict[int, list[int]] = {}
    for node, part in enumerate(connected_components(joined, directed=False)[1].tolist() if n else ()):
        parts.setdefault(part, []).append(node)
    connected = sorted(
        (part for part in parts.values() if len(part) > 1), key=lambda part: (-len(part), part)
    )
    return connected, [part[0] for part in parts.values() if len(part) == 1]


def _packed(boxes: Sequence[tuple[float, float]], layout: Layout) -> list[Point]:
    """Arrange boxes in rows, the first leftmost, of about the width that gives the picture its shape."""
    area = sum((w + 2 * GAP) * (h + LAYER) for w, h in boxes)
    wide = max([w for w, _ in boxes] + [(ASPECT * area) ** 0.5], default=0.0)
    positions: list[Point] = []
    x = y = tallest = 0.0
    for width, height in boxes:
        if x and x + width > wide:
            x, y, tallest = 0.0, y + tallest + LAYER, 0.0
        positions.append((x, y))
        layout.width, layout.height = max(layout.width, x + width), max(layout.height, y + height)
        x, tallest = x + width + 2 * GAP, max(tallest, height)
    return positions


def _add_rows_of(alone: Sequence[str], widths: Mapping[str, float], layout: Layout, gap: float) -> None:
    """Arrange nodes without edges in rows below all others."""
    total = sum(widths[name] + GAP for name in alone)
    wide = max(layout.width, (ASPECT * 2 * GAP * total) ** 0.5)
    x, y = 0.0, layout.height + gap if layout.positions else 0.0
    for name in alone:
        if x and x + widths[name] > wide:
            x, y = 0.0, y + 2 * GAP
        layout.positions[name] = (x + widths[name] / 2, y)
        layout.width, layout.height = max(layout.width, x + widths[name]), y
        x += widths[name] + GAP


class _Part:
    """Connected part of a graph: its layers, their order, and x of all nodes and bends.

    Items are numbers: those of the nodes, and beyond them one for each bend. `up` and `down` have the items
    that each is joined to in the layer above and below.
    """

    def __init__(
        self, nodes: Sequence[int], edges: Sequence[tuple[int, int]], widths: Sequence[float]
    ) -> None:
        inside = set(nodes)
        own = [edge for edge in edges if edge[0] in inside]
        self._widths, self._edges = widths, own
        self.curves: dict[tuple[int, int], list[Point]] = {}
        self._chain(_layers(nodes, own), own)
        wide = (ASPECT * LAYER * sum([widths[node] + GAP for node in nodes])) ** 0.5
        narrowed = self._narrowed(max(wide, max([widths[node] for node in nodes])))
        if narrowed:
            self._chain(narrowed, own)
        self.x = self._straightest() if len(self.layer) <= MOST_EXACT else self._swept()
        left = min(x - self._width(item) / 2 for item, x in self.x.items())
        self.x = {item: x - left for item, x in self.x.items()}
        self.width = max(x + self._width(item) / 2 for item, x in self.x.items())

    def use_dot(self, dot: str, gap: float) -> None:
        """Replace x by what Graphviz finds, and bends by curves, if there are bends and it succeeds."""
        if not self.bend_of:
            return
        nodes = [[item for item in row if item < len(self._widths)] for row in self.rows]
        placed = by_dot(dot, nodes, self._edges, self._widths, HEIGHT, gap, GAP)
        if placed is not None:
            self.x, self.curves, self.width = placed

    def _chain(self, layer: dict[int, int], edges: Sequence[tuple[int, int]]) -> None:
        """Add bends to long edges, and order the layers."""
        widths = self._widths
        self.up: dict[int, list[int]] = {node: [] for node in layer}
        self.down: dict[int, list[int]] = {node: [] for node in layer}
        self.layer = dict(layer)
        self.bend_of: dict[int, tuple[int, int]] = {}
        for a, b in edges:
            chain = [a]
            for row in range(self.layer[a] + 1, self.layer[b]):
                bend = len(widths) + len(self.bend_of)
                self.bend_of[bend], self.layer[bend] = (a, b), row
                self.up[bend], self.down[bend] = [], []
                chain.append(bend)
            for upper, lower in pairwise([*chain, b]):
                self.down[upper].append(lower)
                self.up[lower].append(upper)
        self.rows = self._ordered()

    def _narrowed(self, wide: float) -> dict[int, int]:
        """Split layers that are far too wide, alternating neighbors; return new layers, if any.

        No edge joins nodes of one layer, so edges point down however the layer is split.
        """
        layer, next_layer, split = {}, 0, False
        for row in self.rows:
            nodes = [item for item in row if item < len(self._widths)]
            parts = max(1, round(sum([self._widths[node] + GAP for node in nodes]) / wide))
            layer.update({node: next_layer + i % parts for i, node in enumerate(nodes)})
            next_layer, split = next_layer + parts, split or parts > 1
        return layer if split else {}

    def _width(self, item: int) -> float:
        return self._widths[item] if item < len(self._widths) else WIDTH_OF_BEND

    def _apart(self, a: int, b: int) -> float:
        """Return the smallest distance between the centres of two neighbors in a layer."""
        both_bend = min(a, b) >= len(self._widths)
        return (self._width(a) + self._width(b)) / 2 + (GAP_OF_BENDS if both_bend else GAP)

    # -- the order within layers ------------------------------------------------------

    def _ordered(self) -> Rows:
        """Order each layer so that few edges cross: the best of some sweeps by neighbors' mean place."""
        rows: Rows = [[] for _ in range(1 + max(self.layer.values()))]
        seen: set[int] = set()
        for start in sorted(self.layer, key=lambda item: (self.layer[item], item)):
            todo = [start]
            while todo:
                item = todo.pop()
                if item not in seen:
                    seen.add(item)
                    rows[self.layer[item]].append(item)
                    todo += reversed(self.down[item])
        best, fewest, stalled = [row[:] for row in rows], self._crossings(rows), 0
        for sweep in range(SWEEPS):
            downwards = sweep % 2 == 0
            self._sweep(rows, downwards)
            crossings = self._crossings(rows)
            stalled += 1
            if crossings < fewest:
                best, fewest, stalled = [row[:] for row in rows], crossings, 0
            if not fewest or stalled >= 8:
                break
        return best

    def _sweep(self, rows: Rows, downwards: bool) -> None:
        near = self.up if downwards else self.down
        position: dict[int, float] = {}
        for row in rows if downwards else reversed(rows):
            wish = {}
            for i, item in enumerate(row):
                others = near[item]
                wish[item] = sum([position[other] for other in others]) / len(others) if others else -1.0
                if not others:
                    # Between its neighbors, as it is now: the mean of the wishes around it.
                    wish[item] = wish[row[i - 1]] if i else 0.0
            row.sort(key=wish.__getitem__)
            position.update({item: float(i) for i, item in enumerate(row)})

    def _crossings(self, rows: Rows) -> int:
        """Count the crossings of edges between neighboring layers."""
        total = 0
        for upper, lower in pairwise(rows):
            position = {item: i for i, item in enumerate(lower)}
            ends: list[int] = []
            for item in upper:
                new = sorted([position[other] for other in self.down[item]])
                total += sum([len(ends) - bisect_left(ends, end + 1) for end in new])
                for end in new:
                    insort(ends, end)
        return total

    # -- coordinates ----------------------------------------------------------------

    def _straightest(self) -> dict[int, float]:
        """Return the x for which edges run as straight as the widths of the layers allow.

        Edges are cut into pieces between neighboring layers. A linear programme (Gansner and others 1993)
        minimises the weighted sum of the horizontal lengths of the pieces. Its variables are x of the items,
        then the horizontal length of each piece. Its constraints say that a length is at least the difference
        of x between its ends, in both directions, and that neighbors in a layer are far enough apart.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        position = {item: i for i, item in enumerate(sorted(self.layer))}
        pieces = [(a, b) for a in position for b in self.down[a]]
        beside = [(a, b) for row in self.rows for a, b in pairwise(row)]
        n, k, m = len(position), len(pieces), len(beside)
        ends = np.array([*pieces, *((b, a) for a, b in pieces), *beside], np.int64).reshape(-1, 2)
        ends = np.searchsorted(list(position), ends)
        row, off = np.arange(2 * k + m), n + np.tile(np.arange(k), 2)
        matrix = csr_array(
            (
                np.repeat([1.0, -1.0, -1.0], [2 * k + m, 2 * k + m, 2 * k]),
                (np.concatenate([row, row, row[: 2 * k]]), np.concatenate([ends[:, 0], ends[:, 1], off])),
            ),
            shape=(2 * k + m, n + k),
        )
        limits = np.concatenate([np.zeros(2 * k), [-self._apart(a, b) for a, b in beside]])
        bends = [(a >= len(self._widths)) + (b >= len(self._widths)) for a, b in pieces]
        costs = np.concatenate([np.zeros(n), np.take(WEIGHTS, bends)])
        found = linprog(costs, A_ub=matrix, b_ub=limits, bounds=(0, None), method="highs-ds").x
        return dict(zip(position, np.round(found[:n], 3).tolist(), strict=True))

    def _swept(self) -> dict[int, float]:
        """Return x of all items: each near its neighbors, as far as the widths of a layer allow."""
        x: dict[int, float] = {}
        for row in self.rows:
            self._spread(row, [(float(i), 1.0) for i in range(len(row))], x)
        for sweep in range(PULLS):
            downwards, last = sweep % 2 == 0, sweep >= PULLS - 4
            for row in self.rows if downwards else reversed(self.rows):
                self._spread(row, [self._pull(item, x, downwards, last) for item in row], x)
        self._straighten(x)
        return x

    def _pull(self, item: int, x: Mapping[int, float], downwards: bool, both: bool) -> tuple[float, float]:
        """Return the place that an item's neighbors pull it to, and how strongly; bends pull more."""
        near = self.up[item] if downwards else self.down[item]
        if (both and item < len(self._widths)) or not near:
            near = [*self.up[item], *self.down[item]]
        weight = STIFF if item >= len(self._widths) else 1.0
        return sum([x[other] for other in near]) / len(near), weight

    def _spread(self, row: list[int], pulls: Sequence[tuple[float, float]], x: dict[int, float]) -> None:
        """Place a row's items as near to their targets as their widths allow, in their order.

        Items that would overlap form a block, which goes to the weighted mean of where its members are drawn
        (pooling of adjacent violators). `offset` is the least distance of an item from the row's first.
        """
        from scipy.optimize import isotonic_regression

        offset = np.cumsum([0.0, *(self._apart(a, b) for a, b in pairwise(row))])
        wishes, weights = np.array(pulls).T
        together = isotonic_regression(wishes - offset, weights=weights).x + offset
        x.update(zip(row, together.tolist(), strict=True))

    def _straighten(self, x: dict[int, float]) -> None:
        """Align the bends of each long edge vertically, in as few runs as possible."""
        beside: dict[int, tuple[int | None, int | None]] = {}
        for row in self.rows:
            for left, item, right in zip([None, *row[:-1]], row, [*row[1:], None], strict=True):
                beside[item] = (left, right)
        chains: dict[tuple[int, int], list[int]] = {}
        for item, edge in self.bend_of.items():
            chains.setdefault(edge, []).append(item)
        for chain in chains.values():
            run: list[int] = []
            low, high = -inf, inf
            for bend in [*chain, None]:  # None ends the last run
                least, most = (inf, -inf) if bend is None else self._room(bend, beside[bend], x)
                if run and max(low, least) > min(high, most):
                    middle = sorted([x[member] for member in run])[len(run) // 2]
                    x.update(dict.fromkeys(run, min(max(middle, low), high)))
                    run, low, high = [], -inf, inf
                if bend is not None:
                    run.append(bend)
                    low, high = max(low, least), min(high, most)

    def _room(
        self, item: int, beside: tuple[int | None, int | None], x: Mapping[int, float]
    ) -> tuple[float, float]:
        left, right = beside
        return (
            -inf if left is None else x[left] + self._apart(left, item),
            inf if right is None else x[right] - self._apart(item, right),
        )


def _layers(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Assign each node a layer below its parents, with short edges."""
    parents: dict[int, list[int]] = {node: [] for node in nodes}
    children: dict[int, list[int]] = {node: [] for node in nodes}
    for a, b in edges:
        children[a].append(b)
        parents[b].append(a)
    waiting = {node: len(found) for node, found in parents.items()}
    order = [node for node in nodes if not waiting[node]]
    for node in order:  # grows as it is gone through
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    layer: dict[int, int] = {}
    for node in order:
        layer[node] = 1 + max([layer[parent] for parent in parents[node]], default=-1)
    moved = True
    while moved:  # each move shortens the edges in all, so this ends
        moved = False
        for node in reversed(order):
            if len(children[node]) > len(parents[node]):
                lowest = min([layer[child] for child in children[node]]) - 1
                moved, layer[node] = moved or lowest != layer[node], lowest
        for node in order:
            if len(parents[node]) > len(children[node]):
                highest = max([layer[parent] for parent in parents[node]]) + 1
                moved, layer[node] = moved or highest != layer[node], highest
    return layer


INCH = 72.0
SECONDS = 10
"""Longest time that ``dot`` may take for a part of a graph."""


class Placed(NamedTuple):
    """Middles of nodes, and of each edge a start and three points for each cubic curve, from the top left."""

    x: dict[int, float]
    curves: dict[tuple[int, int], list[Point]]
    width: float


def by_dot(
    dot: str,
    layers: Sequence[Sequence[int]],
    edges: Iterable[tuple[int, int]],
    widths: Sequence[float],
    height: float,
    gap: float,
    between: float,
) -> Placed | None:
    """Lay out a part with ``dot``; None if that fails or takes too long.

    `layers` has the nodes from top to bottom, `gap` is the distance between layers, `height` the height of
    boxes and `between` the smallest distance between boxes in a layer.
    """
    edges = list(edges)
    chain = {(above[0], below[0]) for above, below in pairwise(layers)} - set(edges)
    lines = [
        "digraph {",
        f"graph [nodesep={between / INCH:.4f}, ranksep={(gap - height) / INCH:.4f}];",
        f'node [shape=box, fixedsize=true, label="", height={height / INCH:.4f}]; edge [arrowhead=none];',
        *(
            "{rank=same; " + "".join(f"{i} [width={widths[i] / INCH:.4f}];" for i in row) + "}"
            for row in layers
        ),
        *(f"{a} -> {b};" for a, b in edges),
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
        return Placed(x, {edge: placed.curves[edge] for edge in edges}, placed.width)
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
