"""Explanations, and the text of their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from f2sl.errors import printable

SAME = 1e-6
"""Log scores nearer than this are the same."""


@dataclass(frozen=True)
class Reason:
    """One reason: its `kind`, the `text`, and the numbers and names in it as `facts`."""

    kind: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Explanation:
    """Explanation why `a` and `b` are adjacent (`edge` is "a -> b", "b -> a" or "a - b"), or not (None)."""

    a: str
    b: str
    edge: str | None
    reasons: tuple[Reason, ...]

    def of_kind(self, kind: str) -> list[Reason]:
        """Return the reasons of one kind."""
        return [reason for reason in self.reasons if reason.kind == kind]

    def as_dict(self) -> dict[str, Any]:
        """Return all as plain data, for JSON."""
        reasons = [{"kind": r.kind, "text": r.text, **r.facts} for r in self.reasons]
        return {"a": self.a, "b": self.b, "edge": self.edge, "reasons": reasons}

    def __str__(self) -> str:
        title = self.edge or f"no edge between {self.a} and {self.b}"
        return "\n".join([printable(title), *(f"  {printable(reason.text)}" for reason in self.reasons)])

    __repr__ = __str__


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words, "nothing" if there are none."""
    return ", ".join(names) or "nothing"


def p_in_words(value: float) -> str:
    """Write a p-value, also one that is too small for a float."""
    return f"p = {value:.3g}" if value > 0.0 else "p < 1e-300"


def answer_in_words(facts: Mapping[str, Any]) -> str:
    """Write the condition and the numbers of a test."""
    return f"given {listed(facts['given'])}, {numbers_in_words(facts)}"


def numbers_in_words(facts: Mapping[str, Any]) -> str:
    """Write the numbers of a test."""
    statistic = f"statistic {facts['statistic']:.4g}, " if facts["statistic"] is not None else ""
    return f"{statistic}{p_in_words(facts['p_value'])}, {facts['samples']:,} samples"


def change_of(change: float) -> str:
    """Return in words how much a score changes."""
    if abs(change) < SAME:
        return "the same"
    return f"{abs(change):.4g} {'higher' if change > 0 else 'lower'}"
