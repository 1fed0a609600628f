"""Probability tables and linear equations drawn at random, the parameters of :mod:`f2sl.network.random`.

**Tables.** States are levels, from low to high. A parent pushes its child up or down (a random sign), with a
random weight that is similar for all parents. The configurations of the parents, sorted by the total push,
are spread evenly over the child's levels. So all levels are about equally frequent, and every parent has an
effect on its own, without which feature selection could not find it. In each configuration a share of about
`strength` of the probability goes to the level it points to (or to the two levels it lies between); the rest
goes to all levels, more to near ones. Numbers have four decimals.

**Gaussian networks.** The size of a coefficient is uniform between two weights, its sign random. If all noise
terms have the same variance, the variances of the variables tend to grow from causes to effects, so sorting
by variance reveals much of their order (Reisach, Seiler and Weichwald 2021; :func:`f2sl.varsortability`).

**Mixed networks.** Every number has mean 0 and variance 1, estimated from 10,000 rows, so scales reveal
nothing. Before scaling, an equation is drawn as follows. Coefficients are drawn as above. Each parent with
states shifts the number by evenly spaced levels, in a random order of the states. The standard deviation of
these shifts is drawn like the size of a coefficient, so parents of both kinds matter equally. The shifts of
several parents are added. A random share of the continuous variables with parents of both kinds has
coefficients that depend on the state of one parent: for each of its states new sizes are drawn, with the same
sign, so that effects do not cancel out over the states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, prod, sqrt

import numpy as np

from f2sl._notes import Use
from f2sl._options import fraction, positive, whole
from f2sl.errors import OptionError
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import Equation, FloatArray, check_size
from f2sl.network.counts import cell_numbers
from f2sl.network.sampling import Draws, sample_table

DECIMALS = 10_000


def draw_tables(
    families: Mapping[str, Sequence[str]], states: tuple[int, int], strength: float, draws: Draws
) -> tuple[dict[str, list[str]], dict[str, FloatArray]]:
    """Draw the states and the table of each variable; `families` has each variable after its parents."""
    if not isinstance(states, Sequence) or isinstance(states, str) or len(states) != 2:
        raise OptionError(Use("states"), f" must be a pair of whole numbers such as (3, 5), not {states!r}")
    least = whole("the least of states", states[0], least=2)
    most = whole("the most of states", states[1], least=least)
    strength = fraction("strength", strength)
    sizes = {variable: least + draws.below(most - least + 1) for variable in families}
    tables = {}
    for variable, parents in families.items():
        shape = [*(sizes[parent] for parent in parents), sizes[variable]]
        check_size(variable, shape)
        tables[variable] = _table(shape, strength, draws)
    return {variable: [f"s{k}" for k in range(size)] for variable, size in sizes.items()}, tables


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


LEAST, MOST = 1e-9, 1e9
SAMPLED = 10_000
"""Rows from which means and variances of continuous variables are taken."""

Range = tuple[float, float]


def draw_coefficients(
    families: Mapping[str, Sequence[str]], weights: Range, draws: Draws
) -> dict[tuple[str, str], float]:
    """Draw a coefficient for each parent of each variable, in their orders."""
    weights = weight_range(weights)
    return {
        (parent, child): _coefficient(weights, draws)
        for child, parents in families.items()
        for parent in parents
    }


def _size(weights: Range, draws: Draws) -> float:
    low, high = weights
    return low + (high - low) * float(draws.uniforms(1)[0])


def _coefficient(weights: Range, draws: Draws) -> float:
    size = _size(weights, draws)
    return size if draws.below(2) else -size


def weight_range(weights: Range) -> Range:
    """Return the smallest and the largest size of a coefficient, checked."""
    if not isinstance(weights, Sequence) or isinstance(weights, str) or len(weights) != 2:
        raise OptionError(Use("weights"), f" must be a pair of numbers such as (0.5, 2.0), not {weights!r}")
    low = positive("the least of weights", weights[0], least=LEAST, most=MOST)
    return low, positive("the most of weights", weights[1], least=low, most=MOST)


def draw_equations(
    families: Mapping[str, Sequence[str]],
    of_states: BayesianNetwork | None,
    weights: Range,
    noise: float,
    varying: float,
    draws: Draws,
) -> dict[str, Equation]:
    """Draw the equations of the continuous `families`; every variable comes after its parents.

    `of_states` is the network of the other variables, if there are any.
    """
    weights = weight_range(weights)
    states = {} if of_states is None else of_states.states
    codes = np.empty((0, SAMPLED)) if of_states is None else sample_table(of_states, SAMPLED).codes
    sizes, number = [len(listed) for listed in states.values()], {name: i for i, name in enumerate(states)}
    values: dict[str, FloatArray] = {}
    equations = {}
    for child, parents in families.items():
        if child in states:
            continue
        with_states = [number[parent] for parent in parents if parent in states]
        numbers = [parent for parent in parents if parent not in states]
        shape = [sizes[v] for v in with_states]
        check_size(child, (*shape, len(numbers) + 2))
        shifts, coefficients = _raw_equation(shape, len(numbers), weights, varying, draws)
        row = cell_numbers(codes, with_states, sizes) if with_states else np.zeros(SAMPLED, np.int64)
        signal = shifts.ravel()[row]
        for k, parent in enumerate(numbers):
            signal = signal + coefficients[..., k].ravel()[row] * values[parent]
        # Exactly rounded sums are the same on every machine.
        mean = fsum(signal) / SAMPLED
        scale = sqrt(fsum((signal - mean) ** 2) / SAMPLED + noise)
        values[child] = (signal - mean + sqrt(noise) * draws.normals(SAMPLED)) / scale
        variances = np.full(shape, noise / scale**2)
        equations[child] = Equation((shifts - mean) / scale, coefficients / scale, variances)
    return equations


def _raw_equation(
    shape: Sequence[int], n_numbers: int, weights: Range, varying: float, draws: Draws
) -> tuple[FloatArray, FloatArray]:
    """Draw intercepts and coefficients, for parents that have mean 0 and variance 1."""
    axes = (
        np.eye(len(shape), dtype=np.int64) * (np.array(shape, np.int64) - 1) + 1
    )  # row i: only axis i is long
    shifts = np.zeros(shape)
    for size, along in zip(shape, axes, strict=True):
        levels = np.array(draws.shuffled(range(size))) - (size - 1) / 2
        levels = levels / sqrt((size * size - 1) / 12)
        shifts = shifts + _size(weights, draws) * levels.reshape(along)
    coefficients = np.array([_coefficient(weights, draws) for _ in range(n_numbers)])
    if shape and n_numbers and float(draws.uniforms(1)[0]) < varying:
        axis = draws.below(len(shape))
        drawn = [[_size(weights, draws) for _ in range(n_numbers)] for _ in range(shape[axis])]
        coefficients = np.sign(coefficients) * np.array(drawn).reshape(*axes[axis], n_numbers)
    return shifts, np.array(np.broadcast_to(coefficients, (*shape, n_numbers)))
