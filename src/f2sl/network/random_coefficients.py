"""Coefficients of linear equations drawn at random: a size uniform between two weights, and a random sign.

Where all noises have the same variance, the variances of the variables tend to grow from causes to effects,
so that sorting by variance gives much of their order away (Reisach, Seiler and Weichwald 2021;
:func:`f2sl.varsortability`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from f2sl._options import positive
from f2sl.errors import OptionError
from f2sl.network.draws import Draws

LEAST, MOST = 1e-9, 1e9


def draw_coefficients(
    families: Mapping[str, Sequence[str]], weights: tuple[float, float], draws: Draws
) -> dict[tuple[str, str], float]:
    """Draw a coefficient for each parent of each variable, in their orders."""
    low, high = _weight_range(weights)
    coefficients = {}
    for child, parents in families.items():
        for parent in parents:
            size = low + (high - low) * float(draws.uniforms(1)[0])
            coefficients[parent, child] = size if draws.below(2) else -size
    return coefficients


def _weight_range(weights: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(weights, Sequence) or isinstance(weights, str) or len(weights) != 2:
        raise OptionError(f"weights must be a pair of numbers such as (0.5, 2.0), not {weights!r}")
    low = positive("the least of weights", weights[0], least=LEAST, most=MOST)
    return low, positive("the most of weights", weights[1], least=low, most=MOST)
