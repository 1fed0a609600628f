"""Learners by name.

A registry knows where each learner lives and imports it only when asked, so that listing names costs nothing.
Other packages add their own: an installed package that names a module or a function in the group
``f2sl.extensions`` of its entry points has it loaded, or called, before a name is said to be unknown and
before all names are listed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from f2sl._options import refuse, unknown_option
from f2sl.errors import F2SLWarning, OptionError, unknown_name

EXTENSIONS = "f2sl.extensions"


@dataclass(frozen=True)
class Entry:
    """One learner: where it is (``module:Class``, or the class itself) and what it does, in a line."""

    name: str
    place: str | type
    summary: str
    reference: str

    def load(self) -> Any:
        """Return the class, imported where need be."""
        if not isinstance(self.place, str):
            return self.place
        module, _, attribute = self.place.partition(":")
        return getattr(import_module(module), attribute)


@cache
def load_extensions() -> None:
    """Load what installed packages add to f2sl, once; one that fails is told of, and left out."""
    from importlib.metadata import entry_points

    for point in entry_points(group=EXTENSIONS):
        try:
            found = point.load()
            if callable(found):
                found()
        except Exception as error:
            told = f"the extension {point.name!r} ({point.value}) cannot be loaded: {error}"
            warnings.warn(told, F2SLWarning, stacklevel=3)


class Registry:
    """Named learners of one stage.

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

    def add(self, name: str, place: str | type, summary: str, reference: str = "") -> None:
        """Register a learner: a class, or ``module:Class`` that is imported when it is first needed."""
        self._entries[name] = Entry(name, place, summary, reference)

    def __iter__(self) -> Iterator[Entry]:
        load_extensions()
        return iter(list(self._entries.values()))

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            load_extensions()
        return name in self._entries

    def load(self, name: str) -> Any:
        """Import and return the learner of that name; an unknown one is an error that lists the known."""
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
