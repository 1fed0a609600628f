"""Learners, tests, scores and measures by name.

A registry knows where each learner lives and imports it only when asked, so that listing names costs nothing.
Other packages add their own (:mod:`f2sl._extensions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from f2sl._extensions import load_extensions
from f2sl._options import refuse, unknown_option
from f2sl.errors import OptionError, unknown_name


@dataclass(frozen=True)
class Entry:
    """One entry: where it is, what it does in a line, and facts that are known without importing it."""

    name: str
    place: str | type
    summary: str
    reference: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def fact(self, name: str, default: Any = None) -> Any:
        """Return a fact of the entry; of a class that is at hand, its attribute of that name."""
        if isinstance(self.place, type):
            default = getattr(self.place, name, default)
        return self.facts.get(name, default)

    def load(self) -> Any:
        """Return the class, imported where need be."""
        if not isinstance(self.place, str):
            return self.place
        module, _, attribute = self.place.partition(":")
        return getattr(import_module(module), attribute)


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

    def add_all(self, package: str, table: str) -> None:
        """Register what a table lists: name, ``module:Class`` and reference, below them what it does."""
        lines = table.strip().splitlines()
        for line, summary in zip(lines[::2], lines[1::2], strict=True):
            name, place, reference = line.split(maxsplit=2)
            self.add(name, f"{package}.{place}", summary.strip(), reference)

    def __iter__(self) -> Iterator[Entry]:
        load_extensions()
        return iter(list(self._entries.values()))

    def registered(self) -> Iterator[Entry]:
        """Yield the entries that are known so far, without looking for extensions."""
        return iter(list(self._entries.values()))

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            load_extensions()
        return name in self._entries

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def load(self, name: str) -> Any:
        """Import and return the entry of that name; an unknown one is an error that lists the known."""
        if not isinstance(name, str) or name not in self:
            raise OptionError(unknown_name(self.kind, name, self._entries))
        return self._entries[name].load()

    def create(self, name: str, options: dict[str, Any]) -> Any:
        """Make a learner of that name; an option it does not take is an error that says who takes it."""
        learner = self.load(name)
        known = learner.option_defaults()
        strange = [option for option in options if option not in known]
        refuse(unknown_option(name, option, known, self.takers(option)) for option in strange)
        return learner(**options)

    def takers(self, option: str) -> list[str]:
        """Return the names of the learners that have an option."""
        return [entry.name for entry in self if option in entry.load().option_defaults()]
