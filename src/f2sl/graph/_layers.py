"""Where to put the nodes of a DAG in a picture: layers, order, and ways around (Sugiyama's method).

Widths are in inches. An edge that spans several layers gets a *bend* in each layer between its ends; a bend
takes part in the ordering like a narrow node, which keeps the edge clear of the nodes there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from f2sl.graph.dag import DAG

SWEEPS = 30
WIDTH_OF_LETTER = 0.08
GAP = 0.22
WIDTH_OF_BEND = 0.12

Bend = tuple[str, str, int]
"""Where the edge from one node to another crosses a layer."""


@dataclass
class Layout:
    """Places of the nodes (x in inches, y the layer) and the bends of long edges."""

    places: dict[str, tuple[float, float]] = field(default_factory=dict)
    bends: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    width: float = 1.0
    height: int = 1


def lay_out(dag: DAG, names: list[str]) -> Layout:
    """Lay out some nodes of a DAG: arrows point down.

    Examples
    --------
    >>> layout = lay_out(DAG(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")]), ["a", "b", "c"])
    >>> [layout.places[name][1] for name in "abc"], len(layout.bends["a", "c"])
    ([0.0, 1.0, 2.0], 1)
    """
    layer = _layers(dag, set(names))
    rows: list[list[str | Bend]] = [[] for _ in range(1 + max(layer.values(), default=0))]
    above: dict[str | Bend, list[str | Bend]] = {}
    below: dict[str | Bend, list[str | Bend]] = {}
    for name in sorted(names):
        rows[layer[name]].append(name)
    for a in sorted(names):
        for b in dag.children(a):
            bends: list[Bend] = [(a, b, row) for row in range(layer[a] + 1, layer[b])]
            chain: list[str | Bend] = [a, *bends, b]
            for upper, lower in pairwise(chain):
                below.setdefault(upper, []).append(lower)
                above.setdefault(lower, []).append(upper)
            for bend in bends:
                rows[bend[2]].append(bend)
    x: dict[str | Bend, float] = {}
    for row in rows:
        _spread(row, np.arange(len(row), dtype=np.float64), x)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            last = sweep >= SWEEPS - 2
            pull = []
            for item in row:
                near = above.get(item, []) if down else below.get(item, [])
                if last or not near:
                    near = [*above.get(item, []), *below.get(item, [])]
                pull.append(float(np.mean([x[other] for other in near])) if near else x[item])
            order = np.argsort(pull, kind="stable")
            row[:] = [row[i] for i in order]
            _spread(row, np.array(pull)[order], x)
    left = min((x[item] - _width(item) / 2 for row in rows for item in row), default=0.0)
    right = max((x[item] + _width(item) / 2 for row in rows for item in row), default=1.0)
    layout = Layout(width=right - left, height=len(rows))
    for number, row in enumerate(rows):
        for item in row:
            if isinstance(item, str):
                layout.places[item] = (x[item] - left, float(number))
            else:
                layout.bends.setdefault((item[0], item[1]), []).append((x[item] - left, float(number)))
    return layout


def _layers(dag: DAG, keep: set[str]) -> dict[str, int]:
    """Give each node the layer after its last parent; roots come down to just above their first child."""
    order = [name for name in dag.topological_order() if name in keep]
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = 1 + max((layer[parent] for parent in dag.parents(name)), default=-1)
    for name in reversed(order):
        children = dag.children(name)
        if children and not dag.parents(name):
            layer[name] = min(layer[child] for child in children) - 1
    return layer


def _width(item: str | Bend) -> float:
    return 0.2 + WIDTH_OF_LETTER * len(item) if isinstance(item, str) else WIDTH_OF_BEND


def _spread(row: list[str | Bend], wish: NDArray[np.float64], x: dict[str | Bend, float]) -> None:
    """Put a row's members as near to where they wish to be as their widths allow, in their order.

    Members that would overlap form a block, which goes to the mean of what its members wish.
    """
    half = np.array([_width(item) / 2 for item in row])
    blocks: list[
        tuple[int, float, float]
    ] = []  # first member; what its members wish for its start, summed; start
    offsets = np.zeros(len(row))
    for i in range(len(row)):
        total, first, count = float(wish[i]), i, 1
        start = total
        while blocks:
            before_first, before_total, before_start = blocks[-1]
            n_before = first - before_first
            end = before_start + offsets[first - 1] + half[first - 1] + GAP + half[first]
            if start >= end:
                break
            blocks.pop()
            shift = end - before_start
            offsets[first : i + 1] += shift
            total = before_total + total - count * shift
            count += n_before
            first = before_first
            start = total / count
        blocks.append((first, total, start))
    for number, (first, _, start) in enumerate(blocks):
        last = blocks[number + 1][0] if number + 1 < len(blocks) else len(row)
        for i in range(first, last):
            x[row[i]] = start + offsets[i]
