"""What ``f2sl pc`` and ``f2sl mb`` share: the set of one variable or of all, by a learner of choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from f2sl.cli import output
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import as_flags, create_learner, in_terms_of_flags
from f2sl.cli.output import count, printable
from f2sl.cli.progress import progress
from f2sl.cli.summary import reliability
from f2sl.errors import Interrupted

if TYPE_CHECKING:
    from f2sl._registry import Registry
    from f2sl.cli.reading import TableOptions
    from f2sl.local.found import FoundSet, FoundSets


@dataclass(frozen=True)
class OneTarget:
    """What was asked for on the command line."""

    reading: TableOptions
    target: str | None
    algorithm: str
    options: dict[str, Any]


def run_one_target(command: str, asked: OneTarget, *, as_json: bool, quiet: bool) -> None:
    """Learn the set of one variable, or of all, and print it."""
    with in_terms_of_flags():
        asked.reading.check()
        from f2sl.table.notes import remarks

        registry, noun = _learners_of(command)
        learner = create_learner(registry, asked.algorithm, asked.options)
        from f2sl.api import find_sets

        with progress(quiet):
            table = asked.reading.read(asked.algorithm, learner)
            with table:
                learner = learner.settled(table.kind)
                remarked = (*table.notes, *remarks(table))
                try:
                    found = find_sets(learner, asked.algorithm, table, asked.target, asked.reading.jobs, {})
                except Interrupted as error:
                    found = error.finished
                    interrupts.put_off()
    notes = [as_flags(note) for note in (*remarked, *found.notes)]
    if as_json:
        facts = {"target": asked.target, "algorithm": asked.algorithm, "options": learner.get_params()}
        facts |= {"rows": table.n_rows, "complete": found.complete, "notes": notes}
        facts |= {"tests": found.n_tests, "unreliable": found.n_unreliable}
        output.show_json(facts | _as_json(command, found))
    elif not quiet:
        params = {name: value for name, value in learner.get_params().items() if name != "knowledge"}
        told = ", ".join(f"{name} {value}" for name, value in params.items())
        if learner.knowledge:
            output.show(output.pairs([("Knowledge", printable(str(learner.knowledge)))]))
        if notes:
            output.show(output.pairs([("Note", printable(note)) for note in notes]))
        by = f"by {asked.algorithm} ({told})"
        if found.n_tests:
            by += f"; {reliability(found.n_tests, found.n_unreliable)}"
        _show(found, noun, learner.strength_unit, by)
    elif not found.complete:
        output.tell_of_incomplete(found.notes)


def _as_json(command: str, found: FoundSet | FoundSets) -> dict[str, Any]:
    """Return members and separating sets: of one variable, or of each by name."""
    from f2sl.local.found import FoundSets  # here, so that showing help does not load NumPy

    if isinstance(found, FoundSets):
        parts = {name: _as_json(command, one) for name, one in found.items()}
        of_each = {
            key: {name: part[key] for name, part in parts.items()} for key in (command, "separating_sets")
        }
        return {**of_each, "unfinished": [name for name, one in found.items() if not one.complete]}
    members = [{"name": name, "strength": strength} for name, strength in found.items()]
    return {command: members, "separating_sets": found.separating_sets}


def _show(found: FoundSet | FoundSets, noun: str, unit: str, how: str) -> None:
    """Print a table: a row for each member, or for each variable."""
    from f2sl.local.found import FoundSets  # here, so that showing help does not load NumPy

    if isinstance(found, FoundSets):
        links = [
            (printable(name), ", ".join(map(printable, one)) if one.complete else "(not finished)")
            for name, one in found.items()
        ]
        output.show(output.columns(f"{count(len(found), 'variable')} {how}", ("variable", f"{noun}s"), links))
        return
    rows = [(printable(name), f"{strength:.4f}") for name, strength in found.items()]
    title = f"{printable(found.target)}: {count(len(rows), noun)} {how}"
    output.show(output.columns(title, ("name", unit) if rows else (), rows, right=[1]))


def _learners_of(command: str) -> tuple[Registry, str]:
    """Return the learners of a command, and what it calls a member."""
    from f2sl.local.base import LOCAL, MARKOV_BLANKET

    return (LOCAL, "neighbour") if command == "pc" else (MARKOV_BLANKET, "member")
