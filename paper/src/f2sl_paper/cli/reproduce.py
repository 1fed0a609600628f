"""``f2sl reproduce``: run the experiments of the F2SL paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from f2sl._notes import Use
from f2sl._options import flag_of
from f2sl._threads import note_of_jobs
from f2sl.cli.errors import PartlyFailed
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import FLAGS, OUTPUT, Silent
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.errors import OptionError, printable
from f2sl_paper.cli.report import write_report

if TYPE_CHECKING:
    from f2sl_paper import Summary

CHOICE = "What to run"
LIMITS = "How to run it"
EXAMPLES = examples(
    "f2sl reproduce --quick --out results",
    "f2sl reproduce --out results --data folder-of-zip-files",
    "f2sl reproduce --out results --networks mildew,munin --algorithms f2sl-c,mmhc --sizes 500 --jobs 2",
)
FLAGS.update((name, flag_of(name)) for name in ("networks", "algorithms", "sizes", "sets", "memory_limit"))
UNITS_OF_MEMORY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
TOLD = {
    "done": "done",
    "time": "over the time limit",
    "memory": "over the memory limit",
    "skipped": "skipped after those",
    "failed": "failed",
}


def reproduce(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder of the results.", rich_help_panel=OUTPUT),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Run only two networks, two data sets of each, and the fast learners: minutes, not hours.",
            rich_help_panel=CHOICE,
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with zip files of the paper's data; F2SL_MMHC_DATA by default. Networks without "
            "a file there are sampled.",
            rich_help_panel=CHOICE,
        ),
    ] = None,
    networks: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Networks to run: mildew, hailfinder, munin, pigs, link, gene; all by default.",
            rich_help_panel=CHOICE,
        ),
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Learners of graphs, or of parents and children; all of the paper's by default.",
            rich_help_panel=CHOICE,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,M,...", help="Rows in a data set; 500,1000 by default.", rich_help_panel=CHOICE
        ),
    ] = None,
    sets: Annotated[
        int | None,
        typer.Option(help="Data sets for each network and size; 10 by default.", rich_help_panel=CHOICE),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for one learner on one data set.", rich_help_panel=LIMITS)
    ] = 600.0,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory of one learner, such as 4G; by default an equal share of half of the memory.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Number of learners that run at the same time; as many as cores by default.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    quiet: Silent = False,
) -> None:
    """Run the experiments of the F2SL paper. The same command continues an unfinished run.

    Results are in FOLDER/results.sqlite. Failed experiments are repeated, and so are those that exceeded a
    limit if the limit is higher now.
    """
    if out is None:
        raise OptionError("no folder for the results: give --out FOLDER")
    chosen_sizes = None if sizes is None else [_whole(text) for text in _listed(sizes)]
    memory = None if memory_limit is None else parse_bytes(memory_limit)
    from f2sl_paper import reproduce as run
    from f2sl_paper.cli.run_display import run_display

    interrupts.keeping(f"finished results are in {printable(out)}; the same command continues")
    with run_display(quiet) as watch:
        summary = run(
            out,
            quick=quick,
            data=data,
            networks=None if networks is None else _listed(networks),
            algorithms=None if algorithms is None else _listed(algorithms),
            sizes=chosen_sizes,
            sets=sets,
            time_limit=time_limit,
            memory_limit=memory,
            jobs=jobs,
            watch=watch,
        )
    if not quiet:
        for note in note_of_jobs(jobs, "learners at a time"):
            print(note)
        _show(summary)
    said = write_report(out)
    if not quiet:
        print(said)
        _tell_of_other_sizes(summary)
    _tell_of_failures(summary)


def parse_bytes(text: str) -> int:
    """Parse an amount of memory.

    Examples
    --------
    >>> parse_bytes("2G"), parse_bytes("512 MB"), parse_bytes("1.5k")
    (2147483648, 536870912, 1536)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise OptionError(Use("memory_limit"), f" must be an amount such as 512M or 4G, not {text!r}")
    return int(float(match[1]) * UNITS_OF_MEMORY[match[2].upper()])


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise OptionError(Use("sizes"), f" must be whole numbers separated by commas, not {text!r}") from None


def _show(summary: Summary) -> None:
    """Print the stored results."""
    states = summary.states
    said = ", ".join(f"{states[state]:,} {words}" for state, words in TOLD.items() if states[state])
    print(f"{printable(summary.path)}: {count(len(summary.outcomes), 'unit')} ({said})")
    print(f"in this call: {count(summary.new, 'unit')}")
    for source, words in (("paper", "the paper's data"), ("sampled", "sampled from bundled networks")):
        of_these = [network for network, name in summary.sources.items() if name == source]
        if of_these:
            print(f"{words}: {', '.join(of_these)}")
    for reason in summary.left_out:
        print(f"left out: {reason}")


def _tell_of_other_sizes(summary: Summary) -> None:
    """Print which results appear in no table or figure."""
    reported, others = summary.sizes
    if others:
        shown, hidden = (" and ".join(f"{rows:,}" for rows in sizes) for sizes in (reported, others))
        print(f"the report shows only {shown} rows; results with {hidden} are only in {summary.path.name}")


def _tell_of_failures(summary: Summary) -> None:
    """Raise an error if units have failed."""
    failed = [outcome for outcome in summary.outcomes if outcome.state == "failed"]
    if failed:
        unit, message = failed[0].unit, failed[0].message
        raise PartlyFailed(
            f"{len(failed):,} of {count(len(summary.outcomes), 'unit')} failed, such as {unit.learner} "
            f"({unit.setting}) on {unit.network}, {unit.rows:,} rows, data set {unit.data_set}: {message}; "
            "the same command tries them again"
        )
