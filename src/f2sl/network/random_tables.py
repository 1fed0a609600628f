"""Probability tables drawn at random.

States are levels, from low to high. A parent pushes its child up or down (a random sign), with a random
weight that is similar for all parents. The configurations of the parents, sorted by the total push, are
spread evenly over the child's levels. So all levels are about equally frequent, and every parent has an
effect on its own, without which feature selection could not find it. In each configuration a share of about
`strength` of the probability goes to the level it points to (or to the two levels it lies between); the rest
goes to all levels, more to near ones. Numbers have four decimals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from f2sl._options import fraction, whole
from f2sl.errors import OptionError
from f2sl.network.checks import FloatArray, check_size
from f2sl.network.draws import Draws

DECIMALS = 10_000


def draw_tables(
    families: Mapping[str, Sequence[str]], states: tuple[int, int], strength: float, draws: Draws
) -> tuple[dict[str, list[str]], dict[str, FloatArray]]:
    """Draw the states and the table of each variable; `families` has each variable after its parents."""
    least, most = _state_range(states)
    strength = fraction("strength", strength)
    sizes = {variable: least + draws.below(most - least + 1) for variable in families}
    tables = {}
    for variable, parents in families.items():
        shape = [*(sizes[parent] for parent in parents), sizes[variable]]
        check_size(variable, shape)
        tables[variable] = _table(shape, strength, draws)
    return {variable: [f"s{k}" for k in range(size)] for variable, size in sizes.items()}, tables


def _state_range(states: tuple[int, int]) -> tuple[int, int]:
    problem = f"states must be a pair of whole numbers such as (3, 5), not {states!r}"
    if not isinstance(states, Sequence) or isinstance(states, str) or len(states) != 2:
        raise OptionError(problem)
    least = whole("the least of states", states[0], least=2)
    return least, whole("the most of states", states[1], least=least)


def _table(shape: list[int], strength: float, draws: Draws) -> FloatArray:
    """Draw the table of a variable; the last of `shape` is its own number of states."""
    *of_parents, r = shape
    q = prod(of_parents)
    if not of_parents:
        return np.asarray(_decimals(0.5 + draws.uniforms(1, r))[0])
    push = np.zeros(of_parents)
    for axis, size in enumerate(of_parents):
        weight = (0.9 + 0.2 * float(draws.uniforms(1)[0])) * (1 if draws.below(2) else -1)
        along = [1] * len(of_parents)
        along[axis] = size
        push = push + (weight * (np.arange(size) + 0.5) / size).reshape(along)
    rank = np.empty(q, np.int64)
    rank[np.argsort(push.ravel(), kind="stable")] = np.arange(q)
    # Where on the scale of levels a configuration points: halfway between two levels, it prefers both alike.
    point = np.clip((2 * rank + 1) * r / (2 * q) - 0.5, 0, r - 1)[:, None]
    distance = np.abs(np.arange(r) - point)
    preferred = np.maximum(1 - distance, 0.0)
    others = (0.5 + draws.uniforms(q, r)) / (1 + distance)
    others = others / others.cumsum(axis=1)[:, -1:]
    peak = strength * (0.9 + 0.1 * draws.uniforms(q, 1))
    return _decimals(peak * preferred + (1 - peak) * others).reshape(shape)


def _decimals(rows: FloatArray) -> FloatArray:
    """Divide rows by their sums and round to whole multiples of 1/10,000 that sum to 1."""
    share = rows / rows.cumsum(axis=1)[:, -1:]
    parts = np.floor(share * DECIMALS).astype(np.int64)
    parts[np.arange(len(parts)), share.argmax(axis=1)] += DECIMALS - parts.sum(axis=1)
    return np.asarray(parts / DECIMALS)
