"""``f2sl pc`` and ``f2sl mb``: find the neighbors or the Markov blanket of one variable, or of all."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import (
    Algorithm,
    AsJson,
    Quiet,
    create_learner,
    describe_options,
    records,
    texts,
    with_learner_options,
)
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.cli.reading import TableOptions, with_reading_options
from f2sl.cli.summary import reliability
from f2sl.errors import Interrupted, printable

if TYPE_CHECKING:
    from f2sl.data.table import Table
    from f2sl.learners.local.found import FoundSet, FoundSets

PC_EXAMPLES = examples(
    "f2sl pc data.csv Smoking",
    "f2sl pc data.csv Smoking --algorithm mrmr --k 3",
    "f2sl pc data.csv Smoking --algorithm mmpc --alpha 0.05",
    "f2sl pc data.parquet Smoking --delta 0.02 --json",
)
MB_EXAMPLES = examples(
    "f2sl mb data.csv Smoking",
    "f2sl mb data.csv Smoking --algorithm hiton-mb --alpha 0.05",
    "f2sl mb data.parquet Smoking --json",
)

Target = Annotated[
    str | None,
    typer.Argument(metavar="[TARGET]", help="Target column; all columns by default."),
]


@with_learner_options
@with_reading_options
def pc(
    reading: TableOptions,
    options: dict[str, Any],
    target: Target = None,
    algorithm: Algorithm = "fcbf",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the parents and children of one variable, or of all, strongest first.

    Options that you leave out take the algorithm's defaults; f2sl algorithms lists them.
    """
    run_one_target("pc", reading, target, algorithm, options, as_json, quiet)


@with_learner_options
@with_reading_options
def mb(
    reading: TableOptions,
    options: dict[str, Any],
    target: Target = None,
    algorithm: Algorithm = "iamb",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the Markov blanket of one variable, or of all: parents, children, their other parents.

    Options that you leave out take the algorithm's defaults; f2sl algorithms lists them.
    """
    run_one_target("mb", reading, target, algorithm, options, as_json, quiet)


def run_one_target(
    command: str,
    reading: TableOptions,
    target: str | None,
    algorithm: str,
    options: dict[str, Any],
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn the set of one variable, or of all, and print it."""
    reading.check()
    from f2sl._threads import note_of_jobs
    from f2sl.learners.registries import LOCAL, MARKOV_BLANKET

    registry, noun = (LOCAL, "neighbor") if command == "pc" else (MARKOV_BLANKET, "member")
    learner, algorithm = create_learner(registry, algorithm, options, reading.given)
    by = f"by {algorithm} {describe_options(learner)}".rstrip()  # before "auto" is resolved
    from f2sl.api import find_sets

    opened: list[Table] = []
    remarked: list[str] = []

    def on_open(table: Table) -> Table:
        opened.append(reading.noted(table))
        remarked.extend([*opened[0].notes, *table.remarks, *note_of_jobs(reading.jobs)])
        return opened[0]

    what = algorithm, reading.data, target, reading.jobs
    with output.progress(quiet):
        try:
            found = find_sets(learner, *what, reading.options(), on_open=on_open)
        except Interrupted as error:
            found = error.finished
            interrupts.put_off()
    [table] = opened
    notes = [*remarked, *found.notes]
    if as_json:
        facts = {"target": target, "algorithm": algorithm, "options": learner.get_params()}
        facts |= {"rows": table.n_rows, "complete": found.complete, "notes": records(notes)}
        facts |= {"tests": found.n_tests, "inconclusive": found.n_inconclusive}
        output.show_json(facts | _as_json(command, found))
    elif not quiet:
        if learner.knowledge:
            output.show(output.pairs([("Knowledge", printable(str(learner.knowledge)))]))
        if notes:
            output.show(output.pairs([("Note", printable(note)) for note in texts(notes)]))
        if found.n_tests:
            by += f"; {reliability(found.n_tests, found.n_inconclusive)}"
        _show(found, noun, learner.strength_unit, by)
    elif not found.complete:
        output.note_incomplete(texts(found.notes))


def _as_json(command: str, found: FoundSet | FoundSets) -> dict[str, Any]:
    """Return members and separating sets: of one variable, or of each by name."""
    from f2sl.learners.local.found import FoundSets  # here, so that showing help does not load NumPy

    if isinstance(found, FoundSets):
        parts = {name: _as_json(command, one) for name, one in found.items()}
        of_each = {
            key: {name: part[key] for name, part in parts.items()} for key in (command, "separating_sets")
        }
        return {**of_each, "unfinished": [name for name, one in found.items() if not one.complete]}
    members = [{"name": name, "strength": None if isnan(s) else s} for name, s in found.items()]
    return {command: members, "separating_sets": found.separating_sets}


def _show(found: FoundSet | FoundSets, noun: str, unit: str, how: str) -> None:
    """Print a table: a row for each member, or for each variable."""
    from f2sl.learners.local.found import FoundSets  # here, so that showing help does not load NumPy

    if isinstance(found, FoundSets):
        edges = [
            (printable(name), ", ".join(map(printable, one)) if one.complete else "(not finished)")
            for name, one in found.items()
        ]
        output.show(output.columns(f"{count(len(found), 'variable')} {how}", ("variable", f"{noun}s"), edges))
        return
    rows = [(printable(name), "-" if isnan(s) else f"{s:.4f}") for name, s in found.items()]
    title = f"{printable(found.target)}: {count(len(rows), noun)} {how}"
    output.show(output.columns(title, ("name", unit) if rows else (), rows, right=[1]))
