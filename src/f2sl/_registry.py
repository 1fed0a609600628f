"""Learners, tests, scores and measures by name, and which of them has an option.

A registry knows where each learner lives and imports it only when asked, so that listing names costs nothing.
Other packages add their own (:mod:`f2sl._extensions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from f2sl._extensions import load_extensions
from f2sl._notes import Note, Part, Say, Use, joined
from f2sl._options import flag_of, refuse
from f2sl._reading import READING
from f2sl._synonyms import SAME, SAME_OPTIONS, option_answer, plain
from f2sl.errors import OptionError, unknown_name

TO_READ = "open the table first, or call f2sl.learn"

FINDS: Mapping[str, tuple[str, Note]] = {
    "learn": ("STRUCTURE", Note("unknown-name", "it learns whole graphs (learn)")),
    "learn_pc": (
        "LOCAL",
        Note(
            "unknown-name",
            "it finds the neighbors of variables (",
            Say("learn_pc", "pc"),
            "); 'local-to-global' learns graphs from these",
            nearest=["local-to-global"],
        ),
    ),
    "learn_mb": (
        "MARKOV_BLANKET",
        Note(
            "unknown-name",
            "it finds Markov blankets (",
            Say("learn_mb", "mb"),
            "); 'gsbn' learns graphs from these",
            nearest=["gsbn"],
        ),
    ),
}
"""Registry of the learners of each function, and what they find, for those who ask another one for them."""


@dataclass(frozen=True)
class Entry:
    """Entry of a registry: where it is, a one-line summary, and facts known without importing it."""

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
            raise OptionError(f'{self.noun} {name!r}: a location is written "module:Class", not {location!r}')
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


def refuse_unknown(
    asked: str,
    names: Iterable[str],
    known: Iterable[str],
    own: Any = None,
    how: str = TO_READ,
) -> None:
    """Raise one error about all unknown options, if any, which says where each belongs.

    Parameters
    ----------
    asked : str
        Function or learner that received the options.
    names, known : iterable of str
        The options that it does not have, and those it has.
    own : Registry or class, optional
        The registry that `asked` is from, or its class: other learners of the same sort come first.
    how : str
        Advice for options of reading.
    """
    known = list(known)
    refuse(unknown_option(asked, name, known, own, how) for name in names)


def unknown_option(asked: str, name: str, known: list[str], own: Any = None, how: str = TO_READ) -> Note:
    """Return which learner or function an unknown option belongs to, or the nearest name.

    Examples
    --------
    >>> unknown_option("F2SLc", "bins", ["alpha"])
    "F2SLc has no option 'bins'; it belongs to open_table: open the table first, or call f2sl.learn"
    >>> unknown_option("iamb", "delta", ["alpha"])
    "iamb has no option 'delta'; it belongs to f2sl-c, f2sl-s (learn) and fcbf (learn_pc)"
    >>> unknown_option("mmhc", "alhpa", ["alpha"])
    "unknown option of mmhc 'alhpa'; did you mean 'alpha'? Known: alpha"
    >>> unknown_option("BOSS", "seed", ["random_state"])
    "unknown option of BOSS 'seed'; it is called 'random_state' here"
    >>> unknown_option("f2sl-h", "seed", ["alpha"]).split("; ")[:2]
    ["f2sl-h has no option 'seed'", 'nothing in it is random']
    >>> unknown_option("mmhc", "blacklist", ["knowledge"])
    "unknown option of mmhc 'blacklist'; forbidden edges are given by knowledge=f2sl.Knowledge(forbidden=...)"
    """
    meant = SAME_OPTIONS.get(name, name)
    facts: dict[str, Any] = {"name": name, "nearest": [] if meant == name else [meant]}
    message = f"it is called {meant!r} here" if meant != name and meant in known else option_answer(name)
    if message:
        return Note("unknown-option", f"unknown option of {asked} {name!r}; ", message, **facts)
    has_no: list[Part] = [f"{asked} has no option ", Say(repr(name), flag_of(name)), "; "]
    owners = [Note("owner", f"open_table: {how}")] if meant in READING else _owners_of(meant, own)
    if not owners:
        found = unknown_name(f"option of {asked}", name, known)
        return Note("unknown-option", found, **found.values)
    if meant == "random_state":
        has_no.append("nothing in it is random; ")
    of_others = "it" if meant == name else Say(repr(meant), flag_of(meant))
    return Note("unknown-option", *has_no, of_others, " belongs to ", joined(owners, " and "), **facts)


def _registries() -> dict[str, Registry]:
    """Return the learners' registries by function; any learner may have an option, so all are asked."""
    registries = import_module("f2sl.learners.registries")
    return {function: getattr(registries, name) for function, (name, _) in FINDS.items()}


def what_it_finds(name: object, asked: Registry) -> Note | None:
    """Return what a learner finds that is not in the registry it was asked from but in another, or None.

    Examples
    --------
    >>> from f2sl.learners.registries import STRUCTURE
    >>> what_it_finds("iamb", STRUCTURE)
    "it finds Markov blankets (learn_mb); 'gsbn' learns graphs from these"
    """
    registries = _registries()
    if not any(registry is asked for registry in registries.values()):
        return None
    other = next((function for function, registry in registries.items() if name in registry), None)
    return None if other is None else FINDS[other][1]


def _owners_of(option: str, own: Any) -> list[Note]:
    """Return the owners of an option: learners of the same registry, or else all others."""
    if isinstance(own, type) and option in own.option_defaults():  # type: ignore[attr-defined]
        return [Note("owner", own.__name__)]
    registries = _registries()
    found = {
        function: [entry.name for entry in registry if option in entry.load().option_defaults()]
        for function, registry in registries.items()
    }
    for function, registry in registries.items():
        if registry is own or any(entry.load() is own for entry in registry):
            if found[function]:
                return [Note("owner", ", ".join(found[function]))]
            if function == "learn" and found["learn_pc"]:
                names = found["learn_pc"]
                return [Note("owner", "local-to-global (", Use("pc", name), ")") for name in names]
    return [
        Note("owner", f"{', '.join(names)} (", Say(function, function.removeprefix("learn_")), ")")
        for function, names in found.items()
        if names
    ]
