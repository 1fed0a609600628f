"""Stored results as cells: a learner with one setting on the data sets of one network and size.

A cell is what a table of the paper shows in one place: means and standard deviations over the data sets, or
"-" if a limit was exceeded. The paper's own figures have the same form, so claims can be tested on both.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from f2sl_paper import paper
from f2sl_paper.harness.job import OVER_MEMORY, OVER_TIME, SKIPPED
from f2sl_paper.names import NETWORKS, PC_LEARNERS
from f2sl_paper.paper import Figure
from f2sl_paper.settings import DELTAS, LEARNERS, SWEPT, swept_setting

if TYPE_CHECKING:
    from f2sl_paper.store import NetworkFacts, Outcome, Results

PRINTED = "printed"
"""The source of the paper's own figures."""
PAPER_LIMIT = 48 * 3600.0
"""The paper's time limit in seconds."""
CHOSEN_DELTA: float = LEARNERS[SWEPT].options["delta"]
"""The threshold that the paper chose for FCBF."""
OVER = (OVER_TIME, OVER_MEMORY, SKIPPED)
"""States of a unit that exceeded a limit, or would have: an earlier data set of its cell did."""


class Task(NamedTuple):
    """Data sets of one network, size and source."""

    network: str
    source: str
    rows: int


@dataclass(frozen=True)
class Cell:
    """Learner, with one setting, on the data sets of a task.

    Attributes
    ----------
    state : {"done", "limit", "failed"}
        A cell with one unit over a limit is "limit" as a whole: the mean of the units that finished would be
        a mean of the easy ones.
    figures : dict
        Mean and standard deviation of each measure, seconds among them; of PC learners the seconds are for
        one variable, as in the paper. Empty unless done.
    finished, tried : int
        Data sets.
    limit : str
        The limit that was exceeded, in words.
    least_seconds : float or None
        Lower bound of the mean seconds of a learner over the time limit, over the data sets tried.
    """

    task: Task
    learner: str
    setting: str
    state: str
    figures: dict[str, Figure]
    finished: int
    tried: int
    limit: str = ""
    least_seconds: float | None = None


class Cells:
    """All cells, by task, learner and setting."""

    def __init__(self, cells: Iterable[Cell], facts: Iterable[NetworkFacts] = ()) -> None:
        self._cells = {(cell.task, cell.learner, cell.setting): cell for cell in cells}
        self.facts = {(known.network, known.source): known for known in facts}

    def get(self, task: Task, learner: str, setting: str) -> Cell | None:
        """Return a cell, or None if none of its units was run."""
        return self._cells.get((task, learner, setting))

    def tasks(self, network: str, rows: int, learners: Iterable[str] | None = None) -> list[Task]:
        """Return the tasks of a network and size that have cells (of these learners), one for each source."""
        wanted = None if learners is None else set(learners)
        found = {
            task
            for task, learner, _ in self._cells
            if (task.network, task.rows) == (network, rows) and (wanted is None or learner in wanted)
        }
        return sorted(found)

    def variables(self, task: Task) -> int | None:
        """Return the number of variables of a task, if it is known."""
        if task.source == PRINTED:
            return paper.networks()[task.network]["variables"]
        known = self.facts.get((task.network, task.source))
        return None if known is None else known.variables

    def all(self) -> list[Cell]:
        """Return every cell."""
        return list(self._cells.values())


def cells_of(results: Results) -> Cells:
    """Group stored outcomes into cells."""
    grouped: dict[tuple[Task, str, str], list[Outcome]] = {}
    for outcome in results.outcomes:
        unit = outcome.unit
        key = Task(unit.network, outcome.source, unit.rows), unit.learner, unit.setting
        grouped.setdefault(key, []).append(outcome)
    variables = {(known.network, known.source): known.variables for known in results.networks}
    made = [
        _cell(task, learner, setting, outcomes, variables.get((task.network, task.source)))
        for (task, learner, setting), outcomes in grouped.items()
    ]
    return Cells(made, results.networks)


def _cell(task: Task, learner: str, setting: str, outcomes: list[Outcome], variables: int | None) -> Cell:
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    over = [outcome for outcome in outcomes if outcome.state in OVER]
    state = "limit" if over else "done" if done else "failed"
    share = variables if learner in PC_LEARNERS else 1
    figures = {}
    if state == "done":
        for name in sorted(set.intersection(*(set(outcome.measures) for outcome in done))):
            figures[name] = mean_and_deviation([outcome.measures[name] for outcome in done])
        figures |= _seconds(done, share)
    late = [outcome.time_limit for outcome in over if outcome.state == OVER_TIME and outcome.time_limit]
    spent = [*late, *(outcome.seconds for outcome in done if outcome.seconds is not None)]
    least = statistics.fmean(spent) / share if late and share else None
    return Cell(task, learner, setting, state, figures, len(done), len(outcomes), _limit(over), least)


def _seconds(done: list[Outcome], share: int | None) -> dict[str, Figure]:
    """Return the seconds, divided by the number of variables for PC learners if that is known."""
    spent = [outcome.seconds for outcome in done if outcome.seconds is not None]
    return {"seconds": mean_and_deviation([s / share for s in spent])} if spent and share else {}


def _limit(over: list[Outcome]) -> str:
    """Name the limits that were exceeded."""
    words = {
        f"{outcome.time_limit:,.0f} s"
        for outcome in over
        if outcome.state == OVER_TIME and outcome.time_limit is not None
    } | {
        f"{outcome.memory_limit / 2**30:.1f} GiB"
        for outcome in over
        if outcome.state == OVER_MEMORY and outcome.memory_limit is not None
    }
    return " or ".join(sorted(words))


def mean_and_deviation(values: list[float]) -> Figure:
    """Return the mean and the standard deviation of a sample; the deviation of one value is NaN.

    The paper's deviations are also those of a sample: ten whole numbers with a mean of 41.4, six times 41 and
    four times 42, have a sample deviation of 0.52 and a population deviation of 0.49.

    Examples
    --------
    >>> mean_and_deviation([1.0, 3.0])
    Figure(mean=2.0, deviation=1.4142135623730951)
    """
    deviation = statistics.stdev(values) if len(values) > 1 else math.nan
    return Figure(statistics.fmean(values), deviation)


def swept(cells: Cells, task: Task) -> dict[float, Cell]:
    """Return the cells of the sweep over FCBF's threshold that were run, by threshold."""
    found = {delta: cells.get(task, SWEPT, swept_setting(delta)) for delta in DELTAS}
    return {delta: cell for delta, cell in found.items() if cell is not None}


def paper_cells() -> Cells:
    """Return the figures printed in the paper as cells of ten data sets each."""
    merged: dict[tuple[str, int, str], dict[str, Figure]] = {}
    for table in ("structure_errors", "arrowheads", "pc_learners"):
        for key, figures in paper.figures(table).items():
            merged.setdefault(key, {}).update(figures)
    return Cells(
        Cell(Task(network, PRINTED, rows), learner, "paper", "done", figures, 10, 10)
        if figures
        else Cell(Task(network, PRINTED, rows), learner, "paper", "limit", {}, 0, 10, "48 hours", PAPER_LIMIT)
        for (network, rows, learner), figures in merged.items()
        if network in NETWORKS
    )
