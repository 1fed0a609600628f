"""Learners by name.

A registry knows where each learner lives and imports it only when asked, so that listing
names costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from f2sl.errors import OptionError, unknown_name


@dataclass(frozen=True)
class Entry:
    """One learner: where it is and what it does, in a line."""

    name: str
    path: str
    summary: str
    reference: str


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

    def add(self, name: str, path: str, summary: str, reference: str) -> None:
        """Register a learner; `path` is ``module:Class``."""
        self._entries[name] = Entry(name, path, summary, reference)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def load(self, name: str) -> Any:
        """Import and return the learner of that name; an unknown one is an error that lists the known."""
        if not isinstance(name, str) or name not in self._entries:
            raise OptionError(unknown_name(self.kind, name, self._entries))
        module, _, attribute = self._entries[name].path.partition(":")
        return getattr(import_module(module), attribute)

    def create(self, name: str, options: dict[str, Any]) -> Any:
        """Make a learner of that name; an option it does not take is an error that lists those it takes."""
        learner = self.load(name)
        known = list(learner.option_defaults())
        for option in options:
            if option not in known:
                raise OptionError(unknown_name(f"option of {name}", option, known))
        return learner(**options)
