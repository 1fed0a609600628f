"""``f2sl algorithms``: list the algorithms and their options."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl._options import CATALOGUE
from f2sl.cli import output
from f2sl.cli.options import FLAGS, KNOWLEDGE_FILE, AsJson
from f2sl.cli.program import examples, known_names
from f2sl.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from f2sl._registry import Entry, Registry

EXAMPLES = examples("f2sl algorithms", "f2sl algorithms mmhc", "f2sl algorithms --json")

PLAIN_WIDTH = 120
_COMMON = ("knowledge", "n_jobs", "verbose")


def algorithms(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show only this algorithm and explain its options.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the algorithms that learn structures, PC sets and Markov blankets, with options and defaults."""
    from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE

    registries = {"structure": STRUCTURE, "pc": LOCAL, "mb": MARKOV_BLANKET}
    if name is not None and not any(name in registry for registry in registries.values()):
        known = [entry.name for registry in registries.values() for entry in registry]
        raise OptionError(unknown_name("algorithm", name, known))
    if as_json:
        listed = {key: _as_json(registry) for key, registry in registries.items()}
        if name is not None:
            listed = {
                key: [one for one in found if one["name"] == registries[key].resolve(name)]
                for key, found in listed.items()
            }
        output.show_json(listed)
        return
    titles = (
        ("Whole structures: f2sl learn DATA --algorithm NAME", STRUCTURE),
        ("Parents and children: f2sl pc DATA TARGET --algorithm NAME", LOCAL),
        ("Markov blankets: f2sl mb DATA TARGET --algorithm NAME", MARKOV_BLANKET),
    )
    if name is not None:
        for title, registry in titles:
            if name in registry:
                entry = registry[name]
                _show_one(title.rpartition(": ")[2].replace("NAME", entry.name), entry)
        return
    for title, registry in titles:
        rows = [
            (entry.name, entry.summary, entry.reference, " ".join(_options(registry.load(entry.name))))
            for entry in registry
        ]
        headings = ("name", "what it does", "reference", "options, with defaults")
        output.show(output.columns(title, headings, rows), PLAIN_WIDTH)
        output.show("")
    output.show(
        "All algorithms take --jobs, --knowledge, and the options for reading a table: see f2sl learn --help."
    )


def _show_one(command: str, entry: Entry) -> None:
    """Print an algorithm and the meaning of its options."""
    output.show(f"{entry.name}: {entry.summary} ({entry.reference})\n{command}")
    rows = []
    learner = entry.load()
    for name, default in _defaults(learner).items():
        known = CATALOGUE.get(name)
        if name in ("local", "pc_options"):  # objects and dictionaries are for Python
            continue
        meaning = "" if known is None else KNOWLEDGE_FILE if name == "knowledge" else known.help
        rows.append((FLAGS.get(name, name), _written(default), ", ".join(_choices(learner, name)), meaning))
    headings = ("option", "default", "choices", "what it means")
    output.show(output.columns("", headings, rows), PLAIN_WIDTH)
    if "pc_options" in _defaults(learner):
        output.show(
            "\nYou can also give the options of the learner that --pc names: see f2sl algorithms NAME."
        )


def _written(default: Any) -> str:
    return (
        {None: "none", True: "yes", False: "no"}[default]
        if default is None or isinstance(default, bool)
        else str(default)
    )


def _choices(learner: Any, name: str) -> list[str]:
    """Return the words or registered names that an option of this learner takes, if any."""
    from f2sl.stats.choose import check_set_score, set_scores

    check = next(
        (field.metadata["check"] for field in dataclasses.fields(learner) if field.name == name), None
    )
    if check is check_set_score:
        return set_scores()
    known = getattr(check, "keywords", {}).get("known")
    return known_names("learn", name) if known is None else list(known)


def _defaults(learner: Any) -> dict[str, Any]:
    """Return the options of a learner on the command line, with their defaults."""
    return {name: default for name, default in learner.option_defaults().items() if name != "verbose"}


def _options(learner: Any) -> list[str]:
    own = {name: value for name, value in _defaults(learner).items() if name not in _COMMON}
    return [f"{FLAGS.get(name, name)}={_written(value)}" for name, value in own.items()]


def _as_json(registry: Registry) -> list[dict[str, Any]]:
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "reference": entry.reference,
            "options": [
                {
                    "name": name,
                    "flag": FLAGS.get(name),
                    "default": default,
                    "choices": _choices(registry.load(entry.name), name) or None,
                }
                for name, default in _defaults(registry.load(entry.name)).items()
            ],
        }
        for entry in registry
    ]
