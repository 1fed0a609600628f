"""``f2sl algorithms``: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from f2sl.cli import output
from f2sl.cli.help import examples
from f2sl.cli.options import FLAGS, AsJson

if TYPE_CHECKING:
    from f2sl._registry import Registry

EXAMPLES = examples("f2sl algorithms", "f2sl algorithms --json")

PLAIN_WIDTH = 120
_COMMON = ("knowledge", "n_jobs", "verbose")


def algorithms(as_json: AsJson = False) -> None:
    """List the algorithms that learn structures, PC sets and Markov blankets, with options and defaults."""
    from f2sl.local.base import LOCAL, MARKOV_BLANKET
    from f2sl.structure.base import STRUCTURE

    if as_json:
        output.show_json(
            {"structure": _as_json(STRUCTURE), "pc": _as_json(LOCAL), "mb": _as_json(MARKOV_BLANKET)}
        )
        return
    for title, registry in (
        ("Whole structures: f2sl learn DATA --algorithm NAME", STRUCTURE),
        ("Parents and children: f2sl pc DATA TARGET --algorithm NAME", LOCAL),
        ("Markov blankets: f2sl mb DATA TARGET --algorithm NAME", MARKOV_BLANKET),
    ):
        rows = [
            (entry.name, entry.summary, entry.reference, " ".join(_options(registry.load(entry.name))))
            for entry in registry
        ]
        headings = ("name", "what it does", "reference", "options, with defaults")
        output.show(output.columns(title, headings, rows), PLAIN_WIDTH)
        output.show("")
    output.show(
        "All of them take --jobs, --knowledge, and the options for reading a table: see f2sl learn --help."
    )


def _defaults(learner: Any) -> dict[str, Any]:
    """Return the options of a learner on the command line, with their defaults."""
    return {name: default for name, default in learner.option_defaults().items() if name != "verbose"}


def _options(learner: Any) -> list[str]:
    own = {name: value for name, value in _defaults(learner).items() if name not in _COMMON}
    return [f"{FLAGS.get(name, name)}={value}" for name, value in own.items()]


def _as_json(registry: Registry) -> list[dict[str, Any]]:
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "reference": entry.reference,
            "options": [
                {"name": name, "flag": FLAGS.get(name), "default": default}
                for name, default in _defaults(registry.load(entry.name)).items()
            ],
        }
        for entry in registry
    ]
