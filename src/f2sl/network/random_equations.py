"""Linear equations drawn at random: a coefficient's size is uniform between two weights, its sign random.

**Gaussian networks.** If all noise terms have the same variance, the variances of the variables tend to grow
from causes to effects, so sorting by variance reveals much of their order (Reisach, Seiler and Weichwald
2021; :func:`f2sl.varsortability`).

**Mixed networks.** Every number has mean 0 and variance 1, estimated from 10,000 rows, so scales reveal
nothing. Before scaling, an equation is drawn as follows. Coefficients are drawn as above. Each parent with
states shifts the number by evenly spaced levels, in a random order of the states. The standard deviation of
these shifts is drawn like the size of a coefficient, so parents of both kinds matter equally. The shifts of
several parents are added. A random share of the numbers with parents of both kinds has coefficients that
depend on the state of one parent: for each of its states new sizes are drawn, with the same sign, so that
effects do not cancel out over the states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, sqrt

import numpy as np

from f2sl._notes import Use
from f2sl._options import positive
from f2sl.errors import OptionError
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.checks import Equation, FloatArray, check_size
from f2sl.network.counts import cell_numbers
from f2sl.network.draws import Draws
from f2sl.network.sampling import sample_table

LEAST, MOST = 1e-9, 1e9
SAMPLED = 10_000
"""Rows from which means and variances of numbers are taken."""

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
    """Draw the equations of the numbers among `families`, which has every variable after its parents.

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
