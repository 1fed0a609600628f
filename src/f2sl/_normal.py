"""Normal deviates and quantiles that are the same on every machine.

A uniform number u becomes the u-quantile of the standard normal distribution. The rational functions are
those of Wichura (1988, algorithm AS 241, PPND16), accurate to about 16 digits: one for the middle, where |u -
1/2| is at most 0.425, and two for the tails, as functions of sqrt(-log u). Library logarithms differ in the
last bit between machines, so this module computes the logarithm by additions, products and quotients in a
fixed order, which IEEE arithmetic defines to the last bit.

References
----------
M. J. Wichura. Algorithm AS 241: The percentage points of the normal distribution. Applied Statistics 37,
1988.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIDDLE, MIDDLE_SQUARED = 0.425, 0.180625
NEAR_TAIL = 5.0

# Numerator and denominator of each rational function, from the constant term up.
_MIDDLE = """
    3.3871328727963666080e0 1.3314166789178437745e2 1.9715909503065514427e3 1.3731693765509461125e4
    4.5921953931549871457e4 6.7265770927008700853e4 3.3430575583588128105e4 2.5090809287301226727e3
    1.0 4.2313330701600911252e1 6.8718700749205790830e2 5.3941960214247511077e3
    2.1213794301586595867e4 3.9307895800092710610e4 2.8729085735721942674e4 5.2264952788528545610e3
"""
_NEAR = """
    1.42343711074968357734e0 4.63033784615654529590e0 5.76949722146069140550e0 3.64784832476320460504e0
    1.27045825245236838258e0 2.41780725177450611770e-1 2.27238449892691845833e-2 7.74545014278341407640e-4
    1.0 2.05319162663775882187e0 1.67638483018380384940e0 6.89767334985100004550e-1
    1.48103976427480074590e-1 1.51986665636164571966e-2 5.47593808499534494600e-4 1.05075007164441684324e-9
"""
_FAR = """
    6.65790464350110377720e0 5.46378491116411436990e0 1.78482653991729133580e0 2.96560571828504891230e-1
    2.65321895265761230930e-2 1.24266094738807843860e-3 2.71155556874348757815e-5 2.01033439929228813265e-7
    1.0 5.99832206555887937690e-1 1.36929880922735805310e-1 1.48753612908506148525e-2
    7.86869131145613259100e-4 1.84631831751005468180e-5 1.42151175831644588870e-7 2.04426310338993978564e-15
"""

LOG_2 = 0.6931471805599453
SQRT_HALF = 0.7071067811865476
LOG_TERMS = 13


def normal_deviates(raw: NDArray[np.uint64]) -> Floats:
    """Turn the raw output of a bit generator into standard normal deviates.

    The upper 53 bits select one of 2^53 equal parts of the unit interval; its middle is the uniform number.

    Examples
    --------
    >>> normal_deviates(np.array([1 << 63, 1 << 62], np.uint64)).round(4).tolist()
    [0.0, -0.6745]
    """
    parts = (raw >> np.uint64(11)).astype(np.float64)
    # The distance from 1/2 and the size of the smaller tail are exact, whichever tail it is.
    from_middle = (parts - 2.0**52 + 0.5) * 2.0**-53
    tail = np.minimum(parts + 0.5, 2.0**53 - parts - 0.5) * 2.0**-53
    return _quantiles(from_middle, tail)


def normal_quantiles(parts: NDArray[np.int64], whole: int) -> Floats:
    """Return the quantiles of the standard normal distribution at ``parts / whole``, which is not 0 or 1.

    Examples
    --------
    >>> normal_quantiles(np.array([1, 2, 3]), 4).round(4).tolist()
    [-0.6745, 0.0, 0.6745]
    """
    return _quantiles((2 * parts - whole) / (2 * whole), np.minimum(parts, whole - parts) / whole)


def _quantiles(from_middle: Floats, tail: Floats) -> Floats:
    """Return the quantiles of numbers by their distance from 1/2 and the size of the smaller tail."""
    deviates = from_middle * _ratio(_MIDDLE, MIDDLE_SQUARED - from_middle * from_middle)
    outer = np.abs(from_middle) > MIDDLE
    if outer.any():
        far = np.sqrt(-_log(tail[outer]))
        size = np.where(far <= NEAR_TAIL, _ratio(_NEAR, far - 1.6), _ratio(_FAR, far - NEAR_TAIL))
        deviates[outer] = np.copysign(size, from_middle[outer])
    return np.asarray(deviates)


def _ratio(functions: str, x: Floats) -> Floats:
    """Return the value of a rational function, given its 16 coefficients."""
    coefficients = tuple(map(float, functions.split()))
    return np.asarray(_polynomial(coefficients[:8], x) / _polynomial(coefficients[8:], x))


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    """Evaluate a polynomial by Horner's rule; each product and each sum is rounded separately."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


def _log(x: Floats) -> Floats:
    """Compute logarithms: of a power of 2, and of a number near 1 as log m = 2 artanh((m - 1) / (m + 1))."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < SQRT_HALF
    mantissa, exponent = np.where(low, 2 * mantissa, mantissa), exponent - low
    t = (mantissa - 1) / (mantissa + 1)
    series = _polynomial(tuple(1 / (2 * k + 1) for k in range(LOG_TERMS)), t * t)
    return np.asarray(exponent * LOG_2 + 2 * t * series)
