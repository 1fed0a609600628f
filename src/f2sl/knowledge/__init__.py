"""Prior knowledge about edges, by the names of variables: :class:`Knowledge`.

Edges may be *required* or *forbidden*, in one direction or in both (a forbidden *adjacency*). *Tiers* are
groups of variables in the order of time: no edge leads from a later tier to an earlier one. A *root* has no
parents, a *leaf* no children. A name with ``*`` (any characters) or ``?`` (one character) is a *pattern* and
stands for all variables that it matches, unless a variable has exactly that name.

Bound to the names of a table, knowledge becomes :class:`~f2sl.constraints.Constraints`, which every learner
obeys. One error lists all problems.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from f2sl._notes import Note, Use, left_out
from f2sl._synonyms import option_answer
from f2sl.constraints import Constraints
from f2sl.errors import OptionError, shown, shown_list, unknown_name
from f2sl.knowledge.bound import Bound, arrow, as_regex, is_pattern, unknown_names

if TYPE_CHECKING:
    from f2sl.data.table import Table
    from f2sl.graph import PDAG

Pair = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Knowledge:
    """Knowledge about the edges of a graph; immutable.

    Two objects are equal if they have the same entries, in any order.

    Parameters
    ----------
    required, forbidden : iterable of (str, str)
        Edges ``(parent, child)`` that the graph must have, and must not have.
    forbidden_adjacencies : iterable of (str, str)
        Pairs that must not be adjacent in either direction.
    tiers : iterable of iterables of str
        Groups of variables, the earliest first: no edge leads from a later tier to an earlier one. Variables
        in no tier may be adjacent either way. A pattern does not match variables that another tier names.
    within_tiers : bool or iterable of bool, default True
        True if edges within a tier are allowed: for all tiers, or one value for each.
    roots, leaves : iterable of str
        Variables without parents, and without children.

    Examples
    --------
    >>> known = Knowledge(tiers=[["age", "sex"], ["lab_*"]], forbidden=[("age", "lab_1")])
    >>> known | Knowledge(required=[("sex", "lab_2")])
    Knowledge(required=[('sex', 'lab_2')], forbidden=[('age', 'lab_1')], tiers=[['age', 'sex'], ['lab_*']])
    >>> known.constraints(["age", "lab_1", "lab_2", "sex"]).matrix().astype(int)
    array([[1, 0, 1, 1],
           [0, 1, 1, 0],
           [0, 1, 1, 0],
           [1, 1, 1, 1]])
    >>> Knowledge(required=[("a", "b"), ("b", "a")])
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: knowledge: the required edges have a cycle: 'a' -> 'b' -> 'a'
    """

    required: Iterable[Pair] = ()
    forbidden: Iterable[Pair] = ()
    forbidden_adjacencies: Iterable[Pair] = ()
    tiers: Iterable[Iterable[str]] = ()
    within_tiers: bool | Iterable[bool] = True
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()

    def __new__(cls, *_: object, **given: object) -> Self:
        """Raise an error for unknown options, before the dataclass does."""
        known = [field.name for field in fields(cls)]
        _refuse(
            unknown_name("option", name, known, option_answer(name)) for name in given if name not in known
        )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        problems: list[str] = []
        set_field = object.__setattr__
        for name in ("required", "forbidden", "forbidden_adjacencies"):
            pairs = _pairs(name, getattr(self, name), problems)
            if name == "forbidden_adjacencies":
                pairs = [(min(pair), max(pair)) for pair in pairs]
            set_field(self, name, tuple(sorted(set(pairs))))
        for name in ("roots", "leaves"):
            set_field(self, name, tuple(sorted(set(_names(name, getattr(self, name), problems)))))
        given = () if isinstance(self.tiers, str) else self.tiers
        if isinstance(self.tiers, str) or not isinstance(given, Iterable):
            problems.append(f"tiers must be lists of names, not {self.tiers!r}")
            given = ()
        tiers = [_names("tiers", tier, problems) for tier in given]
        set_field(self, "tiers", tuple(tuple(sorted(tier)) for tier in tiers))
        set_field(self, "within_tiers", _flags(self.within_tiers, len(tiers), problems))
        if not problems:
            mentioned = {name for names in self._words() for name in names if not is_pattern(name)}
            _, problems = self._bound(sorted(mentioned), all_there=False)
        _refuse(problems)

    def _words(self) -> Iterable[Iterable[str]]:
        """Yield all names and patterns, in groups."""
        yield from (*self.required, *self.forbidden, *self.forbidden_adjacencies, *self.tiers)
        yield from (self.roots, self.leaves)

    @property
    def _tier_flags(self) -> Sequence[bool]:
        """True for tiers within which edges are allowed."""
        flags = self.within_tiers
        return [flags] * len(list(self.tiers)) if isinstance(flags, bool) else list(flags)

    # -- the object ------------------------------------------------------------------

    def __bool__(self) -> bool:
        """Return whether it has any entry."""
        return any(any(names) for names in self._words())

    def __or__(self, other: Knowledge) -> Knowledge:
        """Join two; if both have tiers, these must be the same."""
        if not isinstance(other, Knowledge):
            return NotImplemented
        mine, theirs = (self.tiers, self.within_tiers), (other.tiers, other.within_tiers)
        if self.tiers and other.tiers and mine != theirs:
            raise OptionError(
                Use("knowledge"), ": both have tiers, but different ones; give all tiers in one place"
            )
        tiers, within = mine if self.tiers else theirs
        lists = ("required", "forbidden", "forbidden_adjacencies", "roots", "leaves")
        joined: dict[str, Any] = {name: (*getattr(self, name), *getattr(other, name)) for name in lists}
        return Knowledge(**joined, tiers=tiers, within_tiers=within)

    def as_dict(self) -> dict[str, Any]:
        """Return the knowledge as lists by the names of the parameters, without empty ones.

        Examples
        --------
        >>> Knowledge(roots=["a"], forbidden=[("b", "c")]).as_dict()
        {'forbidden': [['b', 'c']], 'roots': ['a']}
        """
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                nested = [list(v) if isinstance(v, tuple) else v for v in value] if value else value
                found[field.name] = nested
        return found

    def __repr__(self) -> str:
        said = self.as_dict()
        for name in ("required", "forbidden", "forbidden_adjacencies"):
            if name in said:
                said[name] = [tuple(pair) for pair in said[name]]
        return f"Knowledge({', '.join(f'{name}={value!r}' for name, value in said.items())})"

    def __str__(self) -> str:
        """Return a one-line description."""
        arrows = {"required": "->", "forbidden": "->", "forbidden_adjacencies": "-"}
        parts = [
            f"{name.replace('_', ' ')} {shown_list(f'{a} {arrow} {b}' for a, b in getattr(self, name))}"
            for name, arrow in arrows.items()
            if getattr(self, name)
        ]
        if self.tiers:
            flags = zip(self.tiers, self._tier_flags, strict=True)
            tiers = (shown_list(tier) + ("" if within else " (nonadjacent)") for tier, within in flags)
            parts.append(f"tiers {' > '.join(tiers)}")
        parts += [
            f"{name} {shown_list(getattr(self, name))}" for name in ("roots", "leaves") if getattr(self, name)
        ]
        return "; ".join(parts) or "nothing"

    # -- files -----------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file: TOML as :meth:`save` writes it, or Tetrad's text, which begins with ``/knowledge``."""
        from f2sl.knowledge.files import load

        return load(path, cls)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file: TOML if its name ends in .toml, Tetrad's text if it ends in .txt or .knowledge."""
        from f2sl.knowledge.files import save

        save(self, path)

    # -- bound to variables ----------------------------------------------------------

    def constraints(self, names: Sequence[str], table: Table | None = None) -> Constraints:
        """Return the constraints on variables 0, 1, 2, ... of these names.

        Names of columns that the `table` has left out or merged are refused with the reason.

        Raises
        ------
        OptionError
            Lists all problems: unknown names, contradictions, cycles of required edges.
        """
        if not self:
            return Constraints.none(len(names))
        bound, problems = self._bound(names, table=table)
        _refuse(problems)
        out, into = bound.levels()
        forbidden = [*bound.forbidden, *((u, v) for a, b in bound.nonadjacent for u, v in ((a, b), (b, a)))]
        return Constraints.of(len(names), forbidden, bound.required, out, into)

    def about(self, some: Sequence[str], names: Sequence[str]) -> Knowledge:
        """Return the part of the knowledge that is about `some` of the named variables only.

        Examples
        --------
        >>> known = Knowledge(required=[("a", "b")], tiers=[["a", "b"], ["*"]], leaves=["c"])
        >>> known.about(["b", "c"], ["a", "b", "c"])
        Knowledge(tiers=[['b'], ['c']], leaves=['c'])
        """
        bound, problems = self._bound(names)
        _refuse(problems)
        kept = {v for v, name in enumerate(names) if name in set(some)}
        said: dict[str, Any] = {
            what: [(names[u], names[v]) for u, v in edges if {u, v} <= kept]
            for what, edges in (
                ("required", bound.required),
                ("forbidden", bound.forbidden),
                ("forbidden_adjacencies", bound.nonadjacent),
            )
        }
        tiers = [
            [names[v] for v in kept if bound.tier_of.get(v) == tier] for tier in range(len(bound.within))
        ]
        for what, which in (("roots", bound.roots), ("leaves", bound.leaves)):
            said[what] = [names[v] for v in kept & which]
        return Knowledge(tiers=tiers, within_tiers=self.within_tiers, **said)

    def check(self, graph: PDAG) -> list[str]:
        """List how a graph violates this knowledge.

        Undirected edges with only one allowed direction are listed as well.

        Examples
        --------
        >>> from f2sl import DAG
        >>> known = Knowledge(required=[("a", "b")], roots=["c"])
        >>> known.check(DAG(["a", "b", "c"], [("b", "c")]))
        ["'a' -> 'b' is missing, but required", "'b' -> 'c' is present, but 'c' is a root"]
        """
        bound, problems = self._bound(graph.nodes)
        _refuse(problems)
        names = graph.nodes
        there = {(u, v) for u, v in graph.directed_array.tolist()}
        lines = [(u, v) for u, v in graph.undirected_array.tolist()]
        adjacent = there | {pair for u, v in lines for pair in ((u, v), (v, u))}
        found = [
            f"{arrow(names, edge)} is missing, but required"
            for edge in bound.required
            if edge not in adjacent
        ]
        for edge in sorted(there):
            if why := bound.against(edge):
                found.append(f"{arrow(names, edge)} is present, but {why}")
        for u, v in lines:
            reasons = [why for edge in ((u, v), (v, u)) if (why := bound.against(edge))]
            if reasons:
                why_not = " and ".join(dict.fromkeys(reasons))
                found.append(f"{shown(names[u])} - {shown(names[v])} is undirected, and {why_not}")
        return found

    def _bound(
        self, names: Sequence[str], all_there: bool = True, table: Table | None = None
    ) -> tuple[Bound, list[str]]:
        """Replace names and patterns by numbers; return also all problems.

        Without `all_there`, patterns may match nothing. `table` is as in `constraints`.
        """
        merged, why = ({}, {}) if table is None else (table.merged, left_out(table.notes))
        number = {name: v for v, name in enumerate(names)}
        meant: dict[str, list[int]] = {}
        unknown: list[str] = []
        gone: set[str] = set()
        for word in dict.fromkeys(name for group in self._words() for name in group):
            meant[word] = [number[word]] if word in number else []
            gone.update({word} & merged.keys())
            if is_pattern(word):
                pattern = re.compile(as_regex(word), re.DOTALL)
                gone.update(filter(pattern.fullmatch, merged))
                meant[word] = meant[word] or [v for v, name in enumerate(names) if pattern.fullmatch(name)]
            if not meant[word] and word not in merged:
                unknown.append(word)

        def edges(pairs: Iterable[Pair]) -> list[tuple[int, int]]:
            each = (product(meant[a], meant[b]) for a, b in pairs)
            return sorted({(u, v) for some in each for u, v in some if u != v})

        tier_of, problems = self._tiers_of(meant, number, names)
        nonadjacent = {(min(pair), max(pair)) for pair in edges(self.forbidden_adjacencies)}
        roots, leaves = ({v for word in words for v in meant[word]} for words in (self.roots, self.leaves))
        flags = self._tier_flags
        required = dict.fromkeys(edges(self.required))
        bound = Bound(names, required, set(edges(self.forbidden)), nonadjacent, tier_of, flags, roots, leaves)
        if all_there and unknown:
            strange = [word for word in unknown if word not in why]
            problems[:0] = [unknown_names(strange, names)] if strange else []
            problems[:0] = [
                Note("left-out", f"{shown(w)} is no variable; ", why[w]) for w in unknown if w in why
            ]
        about_merged = [
            Note(
                "merged",
                f"{shown(name)} was merged with {shown(other)}; name that one, or learn without ",
                Use("aliases", "merge"),
            )
            for name, other in merged.items()
            if name in gone
        ]
        return bound, [*about_merged, *problems, *bound.contradictions()]

    def _tiers_of(
        self, meant: Mapping[str, list[int]], number: Mapping[str, int], names: Sequence[str]
    ) -> tuple[dict[int, int], list[str]]:
        """Return the tier of each variable that has one, and messages on variables that occur twice."""
        tiers: dict[int, list[int]] = {}
        for by_name in (True, False):
            named = set(tiers) if not by_name else set()
            for position, words in enumerate(self.tiers):
                some = [v for word in words if (word in number) == by_name for v in meant[word]]
                # Two patterns of one tier may overlap; a name that is there twice is a slip.
                for v in some if by_name else dict.fromkeys(some):
                    if v not in named:
                        tiers.setdefault(v, []).append(position)
        problems = [
            f"the tiers hold {shown(names[v])} twice (tiers {' and '.join(str(p + 1) for p in positions)})"
            for v, positions in sorted(tiers.items())
            if len(positions) > 1
        ]
        return {v: positions[0] for v, positions in tiers.items()}, problems


def _refuse(problems: Iterable[str]) -> None:
    messages = [Note("knowledge", Use("knowledge"), ": ", problem) for problem in dict.fromkeys(problems)]
    if messages:
        raise OptionError.of(messages)


def _names(what: str, given: Any, problems: list[str]) -> list[str]:
    """Check a list of names."""
    some = [] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(map(_is_name, some)):
        problems.append(f"{what} must be lists of names, not {given!r}")
        return []
    return [str(name) for name in some]


def _pairs(what: str, given: Any, problems: list[str]) -> list[Pair]:
    """Check a list of pairs of names, each of two different ones."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        problems.append(f"{what} must be a list of pairs of names, not {given!r}")
        return []
    pairs = []
    for pair in given:
        names = list(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else []
        if len(names) != 2 or not all(map(_is_name, names)):
            problems.append(f"{what} must be pairs of names, not {pair!r}")
        elif names[0] == names[1] and not is_pattern(names[0]):
            problems.append(f"{what} has {shown(names[0])} on both ends of an edge")
        else:
            pairs.append((str(names[0]), str(names[1])))
    return pairs


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name)


def _flags(given: Any, n: int, problems: list[str]) -> bool | tuple[bool, ...]:
    """Check `within_tiers`; return one value if it is the same for all tiers."""
    flags: list[Any] = (
        [given] if isinstance(given, bool) else list(given) if isinstance(given, Iterable) else [None]
    )
    if not all(isinstance(flag, bool) for flag in flags):
        problems.append(f"within_tiers must be True or False, or one of these for each tier, not {given!r}")
        return True
    if not isinstance(given, bool) and len(flags) != n:
        problems.append(f"within_tiers has {len(flags)} entries for {n} tiers")
        return True
    if not n:
        return True  # without tiers it says nothing
    return bool(flags[0]) if len(set(flags)) == 1 else tuple(flags)
