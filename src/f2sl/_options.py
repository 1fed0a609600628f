"""Checks of options, made once where a user hands them over.

Each check returns the value in its plain Python type, or raises an
:class:`~f2sl.errors.OptionError` that names the option, what it was given and what it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from f2sl.errors import OptionError


def _plain_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def fraction(name: str, value: Any) -> float:
    """Check a number strictly between 0 and 1, such as a level of significance.

    Examples
    --------
    >>> fraction("alpha", 0.01)
    0.01
    """
    if not _plain_number(value) or not 0 < value < 1:
        raise OptionError(f"{name} must be a number between 0 and 1 (both excluded), not {value!r}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """Check a number that is 0 or more."""
    if not _plain_number(value) or value < 0:
        raise OptionError(f"{name} must be a number of 0 or more, not {value!r}")
    return float(value)


def not_negative_or(word: str, name: str, value: Any) -> float | str:
    """Check a number that is 0 or more, or a word that stands for what none says.

    Examples
    --------
    >>> not_negative_or("auto", "delta", "auto"), not_negative_or("auto", "delta", 0.05)
    ('auto', 0.05)
    """
    if isinstance(value, str) and value == word:
        return word
    if not _plain_number(value) or value < 0:
        raise OptionError(f"{name} must be a number of 0 or more, or {word!r}, not {value!r}")
    return float(value)


def positive(name: str, value: Any, least: float, most: float) -> float:
    """Check a number above 0, within what can be computed with."""
    if not _plain_number(value) or not least <= value <= most:
        raise OptionError(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")
    return float(value)


def whole(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Check a whole number of at least `least`, and of at most `most` where that is given.

    Examples
    --------
    >>> whole("max_cond_vars", 3)
    3
    """
    good = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
    if not good or (most is not None and int(value) > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise OptionError(f"{name} must be a whole number {allowed}, not {value!r}")
    return int(value)


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """Check one of a few words."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, words))}, not {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """Check a yes or no."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} must be True or False, not {value!r}")
    return value
