"""Learners, tests, scores and measures by name.

A registry knows where each of its entries lives and imports it only when asked, so that listing
names costs nothing. What must be known before that stands in the entry. A class of your own is
registered as it is:

>>> registry = Registry("algorithm")
>>> registry.add("counter", "collections:Counter", "counts things", "the standard library")
>>> registry.add("mine", dict, "maps things")
>>> [entry.name for entry in registry], registry.load("mine")
(['counter', 'mine'], <class 'dict'>)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from f2sl.errors import OptionError, unknown_name


@dataclass(frozen=True)
class Entry:
    """One entry: where it is, what it does in a line, and facts that are known without importing it."""

    name: str
    place: str | type
    summary: str
    reference: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """Import and return it."""
        if isinstance(self.place, type):
            return self.place
        module, _, attribute = self.place.partition(":")
        return getattr(import_module(module), attribute)

    def fact(self, name: str, default: Any = None) -> Any:
        """Return a fact of the entry; of a class that is at hand, its attribute of that name."""
        if isinstance(self.place, type):
            default = getattr(self.place, name, default)
        return self.facts.get(name, default)


class Registry:
    """Named entries of one sort.

    Examples
    --------
    >>> registry = Registry("algorithm")
    >>> registry.add("counter", "collections:Counter", "counts things", "the standard library")
    >>> registry.load("counter").__name__
    'Counter'
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, place: str | type, summary: str, reference: str = "", **facts: Any) -> None:
        """Register a class, or say where it is: ``"module:Class"``."""
        self._entries[name] = Entry(name, place, summary, reference, facts)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def load(self, name: str) -> Any:
        """Import and return the entry of that name; an unknown one is an error that lists the known."""
        if not isinstance(name, str) or name not in self._entries:
            raise OptionError(unknown_name(self.kind, name, self._entries))
        return self._entries[name].load()

    def create(self, name: str, options: dict[str, Any]) -> Any:
        """Make a learner of that name; an option it does not take is an error that lists those it takes."""
        learner = self.load(name)
        known = list(learner.option_defaults())
        for option in options:
            if option not in known:
                raise OptionError(unknown_name(f"option of {name}", option, known))
        return learner(**options)
