"""Results of the local learners, by name, as users get them."""

from __future__ import annotations

from collections.abc import Iterable

from f2sl._notes import Note
from f2sl.learners.local.base import Neighborhood, Neighborhoods


class FoundSet(dict[str, float]):
    """Set of one variable: its members' names, strongest first, each with the strength of its edge.

    Members that knowledge requires but the algorithm does not find come last, with strength NaN.

    Attributes
    ----------
    target : str
        Variable whose set it is.
    separating_sets : dict of str to tuple of str
        For variables outside the set, what was found to make them independent of the target; empty for
        algorithms that make no tests.
    n_tests, n_inconclusive : int
        Number of independence tests, and of inconclusive ones.
    complete : bool
        True if the search finished before the time limit.
    notes : tuple of Note
        Notes for the user on the search.
    """

    def __init__(self, target: str, members: Iterable[tuple[str, float]]) -> None:
        super().__init__(members)
        self.target = target
        self.separating_sets: dict[str, tuple[str, ...]] = {}
        self.n_tests = 0
        self.n_inconclusive = 0
        self.complete = True
        self.notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, found: Neighborhood, target: int, names: tuple[str, ...]) -> FoundSet:
        """Return the set of one variable by name."""
        members, strengths = found.members.tolist(), found.strengths.tolist()
        named = cls(names[target], ((names[m], s) for m, s in zip(members, strengths, strict=True)))
        named.separating_sets = {names[w]: _named(given, names) for w, given in found.separating_sets.items()}
        named.n_tests, named.n_inconclusive = found.n_tests, found.n_inconclusive
        named.complete, named.notes = found.complete, found.notes
        return named


class FoundSets(dict[str, FoundSet]):
    """Sets of all variables, by name.

    Attributes
    ----------
    n_tests, n_inconclusive : int
        Number of all independence tests, and of inconclusive ones.
    complete : bool
        True if all searches finished.
    notes : tuple of Note
        Notes for the user on the searches.
    """

    n_tests: int
    n_inconclusive: int
    complete: bool
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, found: Neighborhoods, names: tuple[str, ...], order: Iterable[str]) -> FoundSets:
        """Return the sets of all variables by name, in this order."""
        sets = {}
        for v, name in enumerate(names):
            members, strengths = (part.tolist() for part in found.of(v))
            sets[name] = FoundSet(name, ((names[m], s) for m, s in zip(members, strengths, strict=True)))
            sets[name].complete = found.finished is None or bool(found.finished[v])
        for (v, w), given in found.separating_sets.items():
            sets[names[v]].separating_sets[names[w]] = _named(given, names)
        named = cls((name, sets[name]) for name in order)
        named.n_tests, named.n_inconclusive = found.n_tests, found.n_inconclusive
        named.complete, named.notes = found.complete, found.notes
        return named


def _named(given: tuple[int, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([names[v] for v in given])
