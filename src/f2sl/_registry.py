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
from f2sl._owners import what_it_finds
from f2sl._synonyms import SAME, plain
from f2sl.errors import OptionError, unknown_name


@dataclass(frozen=True)
class Entry:
    """Entry of a registry: its place, a one-line summary, and facts known without importing it."""

    name: str
    location: str | type
    summary: str
    reference: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def fact(self, name: str, default: Any = None) -> Any:
        """Return a fact of the entry; for a loaded class, its attribute of that name."""
        if isinstance(self.location, type):
            default = getattr(self.location, name, default)
        return self.facts.get(name, default)

    def load(self) -> Any:
        """Return the class; import it if necessary."""
        if not isinstance(self.location, str):
            return self.location
        return _class_at(self.location)


class Registry:
    """Named entries of one sort.

    Parameters
    ----------
    noun : str
        Noun for an entry in messages.
    base : str, optional
        Where the class is, ``"module:Class"``, that all entries are derived from. Its `_requires` names the
        methods that they must have.

    Examples
    --------
    >>> registry = Registry("algorithm")
    >>> registry.add("counter", "collections:Counter", "counts things", "the standard library")
    >>> registry.load("counter").__name__
    'Counter'
    """

    def __init__(self, noun: str, base: str = "") -> None:
        self.noun = noun
        self._base = base
        self._entries: dict[str, Entry] = {}
        self._loaded: dict[str, tuple[Entry, Any]] = {}

    def add(self, name: str, location: str | type, summary: str, reference: str = "", **facts: Any) -> None:
        """Register a class, or say where it is: ``"module:Class"``.

        Raises
        ------
        OptionError
            If the class is not derived from the base, or lacks a method. One that is not imported yet is
            checked when it is loaded.
        """
        if not isinstance(location, str):
            self._check(name, location)
        elif not all(location.partition(":")):
            raise OptionError(f'{self.noun} {name!r}: a place is written "module:Class", not {location!r}')
        self._entries[name] = Entry(name, location, summary, reference, facts)

    def add_all(self, package: str, table: str) -> None:
        """Register the entries of a text table: name, ``module:Class`` and reference, then a summary.

        Facts stand before the reference, as in ``kinds=discrete,continuous``; they are tuples.
        """
        lines = table.strip().splitlines()
        for line, summary in zip(lines[::2], lines[1::2], strict=True):
            name, location, *rest = line.split()
            facts = dict(word.split("=") for word in rest if "=" in word)
            reference = " ".join(word for word in rest if "=" not in word)
            values = {key: tuple(value.split(",")) for key, value in facts.items()}
            self.add(name, f"{package}.{location}", summary.strip(), reference, **values)

    def __iter__(self) -> Iterator[Entry]:
        load_extensions()
        return iter(list(self._entries.values()))

    def registered(self) -> Iterator[Entry]:
        """Yield the entries that are known so far, without looking for extensions."""
        return iter(list(self._entries.values()))

    def __contains__(self, name: object) -> bool:
        return self.resolve(name) in self._entries

    def __getitem__(self, name: str) -> Entry:
        return self._entries[self.resolve(name)]

    def resolve(self, name: Any) -> Any:
        """Return the registered name that a synonym stands for; any other name unchanged.

        Examples
        --------
        >>> from f2sl.stats.registries import CI_TESTS
        >>> CI_TESTS.resolve("chi_square"), CI_TESTS.resolve("G2"), CI_TESTS.resolve("no test")
        ('x2', 'g2', 'no test')
        """
        if not isinstance(name, str) or name in self._entries:
            return name
        load_extensions()
        meant = SAME.get(self.noun, {}).get(plain(name), plain(name))
        return meant if name not in self._entries and meant in self._entries else name

    def load(self, name: str) -> Any:
        """Import and return the entry of that name; an unknown name is an error that lists the known ones."""
        if isinstance(name, str) and name in self._loaded:
            entry, loaded = self._loaded[name]  # once a class is checked, it need not be checked again
            if self._entries.get(name) is entry:
                return loaded
        if not isinstance(name, str) or name not in self:
            raise OptionError(unknown_name(self.noun, name, self._entries, what_it_finds(name, self)))
        name = self.resolve(name)
        try:
            loaded = self._entries[name].load()
        except AttributeError as error:
            raise OptionError(f"{self.noun} {name!r}: {error}") from None
        self._check(name, loaded)
        self._loaded[name] = self._entries[name], loaded
        return loaded

    def _check(self, name: str, found: Any) -> None:
        """Raise an error for a class that lacks a method."""
        if self._base:
            message = what_is_wrong(found, _class_at(self._base)) or found._wrong_attribute()
            if message:
                raise OptionError(f"{self.noun} {name!r}: {message}")

    def create(self, name: str, options: dict[str, Any]) -> Any:
        """Create the learner of that name; an option that it does not have is an error."""
        return self.load(name)(**options)

    def takers(self, option: str) -> list[str]:
        """Return the names of the learners that have an option."""
        return [entry.name for entry in self if option in entry.load().option_defaults()]


def _class_at(location: str) -> Any:
    """Import what is at ``"module:Class"``."""
    module, _, attribute = location.partition(":")
    return getattr(import_module(module), attribute)


def what_is_wrong(found: Any, base: type) -> str | None:
    """Return an error message if a class does not implement `base`, or None.

    A class that names methods in `_requires` has them itself, and its own do nothing but refuse. A tuple
    names several methods of which one is enough.

    Examples
    --------
    >>> class Base:
    ...     _requires = "run"
    ...     def run(self):
    ...         raise NotImplementedError
    >>> class Own(Base):
    ...     run = 3
    >>> what_is_wrong(Own, Base), what_is_wrong(int, Base)
    ('Own has no method run', 'int has no method run')
    """
    if not isinstance(found, type):
        return f"{found!r} is not a class"
    requires = getattr(found if issubclass(found, base) else base, "_requires", ())
    for methods in (requires,) if isinstance(requires, str) else requires:
        ways = (methods,) if isinstance(methods, str) else methods
        if not any(_has_own(found, method) for method in ways):
            return f"{found.__name__} has no method {' or '.join(ways)}"
    if not issubclass(found, base):
        return f"{found.__name__} must be derived from f2sl.{base.__name__}"
    return None


def _has_own(found: type, method: str) -> bool:
    """Return whether a class has a method that is not that of the class which requires it."""
    owner = next((one for one in found.__mro__ if method in vars(one)), None)
    return owner is not None and "_requires" not in vars(owner) and callable(getattr(found, method))
