"""What ``f2sl pc`` and ``f2sl mb`` share: one variable's set, by a learner of choice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl.cli import output
from f2sl.cli.options import create_learner, in_terms_of_flags, parse_bins
from f2sl.cli.output import count, printable
from f2sl.cli.progress import progress
from f2sl.cli.reading import Reading

if TYPE_CHECKING:
    from f2sl._registry import Registry


@dataclass(frozen=True)
class OneTarget:
    """What was asked for on the command line."""

    data: Path
    target: str
    algorithm: str
    options: dict[str, Any]
    jobs: int | None
    bins: list[str] | None
    binning: str
    missing: str
    delimiter: str | None
    no_header: bool
    drop: list[str]


def run_one_target(command: str, asked: OneTarget, *, as_json: bool, quiet: bool) -> None:
    """Learn one variable's set and print it."""
    with in_terms_of_flags():
        reading = Reading(
            asked.data,
            asked.delimiter,
            not asked.no_header,
            parse_bins(asked.bins),
            asked.binning,
            asked.missing,
            tuple(asked.drop),
        )
        reading.check_exists()
        from f2sl._threads import resolve_jobs
        from f2sl.data.remarks import remarks

        resolve_jobs(asked.jobs)
        registry, noun = _kind(command)
        learner = create_learner(registry, asked.algorithm, asked.options)
        from f2sl.api import find_set

        with progress(quiet):
            table = reading.read()
            found = find_set(registry, asked.algorithm, asked.options, table, asked.target, asked.jobs, {})
    notes = [*table.notes, *remarks(table), *found.notes]
    if as_json:
        members = [{"name": name, "strength": strength} for name, strength in found.strengths.items()]
        facts = {"target": asked.target, "algorithm": asked.algorithm, "options": learner.get_params()}
        facts |= {"rows": table.n_rows, "complete": found.complete, "notes": notes}
        output.show_json({**facts, command: members})
    elif not quiet:
        rows = [(printable(name), f"{strength:.4f}") for name, strength in found.strengths.items()]
        told = ", ".join(f"{name} {value}" for name, value in learner.get_params().items())
        if notes:
            output.show(output.pairs([("Note", printable(note)) for note in notes]))
        title = f"{printable(asked.target)}: {count(len(rows), noun)} by {asked.algorithm} ({told})"
        output.show(output.columns(title, ("name", "strength") if rows else (), rows, right=[1]))
    elif not found.complete:
        output.tell_of_incomplete(found.notes)


def _kind(command: str) -> tuple[Registry, str]:
    """Learners and the name of a member for each of the two commands."""
    from f2sl.local.base import LOCAL, MARKOV_BLANKET

    return (LOCAL, "neighbour") if command == "pc" else (MARKOV_BLANKET, "member")
