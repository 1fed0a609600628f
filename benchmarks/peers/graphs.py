"""What all learners here are: a frame goes in, the clock starts, a graph comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import f2sl

ALPHA = 0.01
"""Level of significance of all learners by tests."""

Learn = Callable[[], f2sl.PDAG]
Learner = Callable[[Any], Learn]
"""Takes a frame of categories, prepares what is not to be timed, returns what is."""


def pdag(names: Iterable[str], arrows: Iterable[Iterable[str]], lines: Iterable[Iterable[str]]) -> f2sl.PDAG:
    """Make a graph of a peer's arrows and lines; what points both ways, or is in both lists, is a line."""
    directed = {tuple(arrow) for arrow in arrows}
    undecided = {frozenset(line) for line in lines}
    undecided |= {frozenset(arrow) for arrow in directed if arrow[::-1] in directed}
    return f2sl.PDAG(
        list(names),
        sorted(arrow for arrow in directed if frozenset(arrow) not in undecided),
        sorted(tuple(sorted(line)) for line in undecided),
    )
