"""Knowledge about variables by number, and its contradictions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from f2sl.constraints import ANY, find_cycle
from f2sl.errors import nearest, shown, shown_list


@dataclass(frozen=True)
class Bound:
    """Knowledge about variables by number; edges are (parent, child)."""

    names: Sequence[str]
    required: dict[tuple[int, int], None]
    forbidden: set[tuple[int, int]]
    nonadjacent: set[tuple[int, int]]
    tier_of: dict[int, int]
    within: Sequence[bool]
    roots: set[int]
    leaves: set[int]

    def against(self, edge: tuple[int, int]) -> str | None:
        """Return the reason why an edge is forbidden; None if it is allowed."""
        u, v = edge
        here, there = self.tier_of.get(u), self.tier_of.get(v)
        if edge in self.forbidden:
            return "forbidden"
        if (min(edge), max(edge)) in self.nonadjacent:
            return "a forbidden adjacency"
        if here is not None and there is not None and here > there:
            return f"{shown(self.names[u])} is in a later tier"
        if here is not None and here == there and not self.within[here]:
            return "within a tier without edges"
        if v in self.roots:
            return f"{shown(self.names[v])} is a root"
        if u in self.leaves:
            return f"{shown(self.names[u])} is a leaf"
        return "the opposite is required" if (v, u) in self.required else None

    def contradictions(self) -> list[str]:
        """Return messages on required edges that are forbidden as well, or close a cycle."""
        found = []
        for edge in self.required:
            why = None if edge[::-1] in self.required else self.against(edge)
            if why:
                found.append(f"{arrow(self.names, edge)} is both required and forbidden ({why})")
        left = set(self.required)
        while found_cycle := find_cycle(left):
            cycle = [*found_cycle, found_cycle[0]]
            way = [shown(self.names[v]) for v in cycle]
            found.append(f"the required edges have a cycle: {' -> '.join(way)}")
            left -= set(pairwise(cycle))
        return found

    def levels(self) -> tuple[Any, Any]:
        """Return tiers, roots and leaves as levels (see `Constraints`); None without any."""
        if not (self.tier_of or self.roots or self.leaves):
            return None, None
        out, into = np.zeros(len(self.names), np.int64), np.full(len(self.names), ANY)
        for v, position in self.tier_of.items():
            # A tier without edges within lets its variables out above the level on which it takes them in.
            out[v], into[v] = 2 * position + (not self.within[position]), 2 * position
        into[sorted(self.roots)] = -1
        out[sorted(self.leaves)] = ANY + 1
        return out, into


def is_pattern(word: str) -> bool:
    """Return whether a word is a pattern."""
    return "*" in word or "?" in word


def as_regex(pattern: str) -> str:
    """Return the regular expression of a pattern."""
    return "".join({"*": ".*", "?": "."}.get(mark, re.escape(mark)) for mark in pattern)


def arrow(names: Sequence[str], edge: tuple[int, int]) -> str:
    """Show a directed edge by its names."""
    return f"{shown(names[edge[0]])} -> {shown(names[edge[1]])}"


def unknown_names(words: list[str], names: Sequence[str]) -> str:
    """Return messages on unknown names, each with the nearest known one."""
    found = []
    for word in words:
        near = None if is_pattern(word) else nearest(word, list(names))
        found.append(
            f"{shown(word)} matches nothing"
            if is_pattern(word)
            else shown(word) + ("" if near is None else f" (did you mean {shown(near)}?)")
        )
    return f"unknown names {', '.join(found)}. Known: {shown_list(names)}"
