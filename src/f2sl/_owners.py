"""Owners of options: errors about an option that a learner, `fit` or `open_table` does not have.

Any learner may have the option, so this module names all registries and imports them when needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from f2sl._notes import Note, Say, Use, joined
from f2sl._options import flag_of, refuse
from f2sl._reading import READING
from f2sl._synonyms import SAME_OPTIONS, option_answer
from f2sl.errors import unknown_name

REGISTRIES = {
    "learn": ("f2sl.learners.registries", "STRUCTURE"),
    "learn_pc": ("f2sl.learners.registries", "LOCAL"),
    "learn_mb": ("f2sl.learners.registries", "MARKOV_BLANKET"),
}
"""Places of the learners' registries, by the function that takes their names."""

FINDS = {
    "learn": ("it learns whole graphs (learn)",),
    "learn_pc": (
        "it finds the neighbors of variables (",
        Say("learn_pc", "pc"),
        "); 'local-to-global' learns graphs from these",
    ),
    "learn_mb": (
        "it finds Markov blankets (",
        Say("learn_mb", "mb"),
        "); 'gsbn' learns graphs from these",
    ),
}
"""Results of the learners of each registry, for those who ask another registry for them."""

TO_READ = "open the table first, or call f2sl.learn"


def refuse_unknown(
    asked: str, names: Iterable[str], known: Iterable[str], own: Any = None, how: str = TO_READ
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
    refuse(unknown_option(asked, name, known, own, how) for name in names)


def unknown_option(asked: str, name: str, known: Iterable[str], own: Any = None, how: str = TO_READ) -> Note:
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
    >>> unknown_option("mmhc", "blacklist", ["knowledge"])
    "unknown option of mmhc 'blacklist'; forbidden edges are given by knowledge=f2sl.Knowledge(forbidden=...)"
    """
    known = list(known)
    meant = SAME_OPTIONS.get(name)
    message = f"it is called {meant!r} here" if meant in known else option_answer(name)
    if message:
        return Note("unknown-option", f"unknown option of {asked} {name!r}; ", message)
    name = meant or name
    has_no = f"{asked} has no option ", Say(repr(name), flag_of(name)), "; it belongs to "
    if name in READING:
        return Note("unknown-option", *has_no, f"open_table: {how}")
    owners = owners_of(name, own)
    if owners:
        return Note("unknown-option", *has_no, joined(owners, " and "))
    return unknown_name(f"option of {asked}", name, known)


def _registries() -> dict[str, Any]:
    """Return the learners' registries by function."""
    return {function: getattr(import_module(module), name) for function, (module, name) in REGISTRIES.items()}


def what_it_finds(name: object, asked: Any) -> Note | None:
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
    return None if other is None else Note("unknown-name", *FINDS[other])


def owners_of(option: str, own: Any = None) -> list[Note]:
    """Return the owners of an option: learners of the same registry, or else all others."""
    if isinstance(own, type) and option in own.option_defaults():  # type: ignore[attr-defined]
        return [Note("owner", own.__name__)]
    registries = _registries()
    found = {function: registry.takers(option) for function, registry in registries.items()}
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
