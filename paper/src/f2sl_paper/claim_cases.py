"""Cases of claims: comparisons that hold, do not, or cannot be made yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from f2sl_paper import paper
from f2sl_paper.names import LEARNERS, MEASURES, NETWORKS, SOURCES, short, size
from f2sl_paper.results import PRINTED, Cell, Cells, Task
from f2sl_paper.settings import PAPER, SIZES

F2SL = ("f2sl-c", "f2sl-s")
"""The paper's own learners."""
CLOSE = 0.25
"""Two figures are close if they differ by at most this share of the larger one."""

Relation = Callable[[float, float], bool]
Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    """One comparison on one task, or one over all tasks.

    Attributes
    ----------
    where, source, what, figures : str
        Comparison, source of the data, and result.
    holds : bool or None
        None where runs are missing or give no answer.
    missing : bool
        True if required runs are missing, so that the answer may change.
    factor : tuple or None
        For timings: learner, rival, and (at least) how many times as long the rival takes.
    """

    where: str
    source: str
    what: str
    figures: str
    holds: bool | None
    missing: bool = False
    factor: tuple[str, str, float] | None = None


class View:
    """Cells of one setting; for a learner without cells of that setting, those with the paper's settings."""

    def __init__(self, cells: Cells, setting: str = PAPER) -> None:
        self.cells = cells
        self.setting = setting

    def cell(self, task: Task, learner: str) -> Cell | None:
        """Return a learner's cell."""
        return self.cells.get(task, learner, self.setting) or self.cells.get(task, learner, PAPER)

    def mean(self, task: Task, learner: str, measure: str) -> float | None:
        """Return a learner's mean, if it has one."""
        cell = self.cell(task, learner)
        return cell.figures[measure].mean if cell is not None and measure in cell.figures else None

    def lacks(self, task: Task, learners: Iterable[str]) -> bool:
        """Return whether one of these runs is missing or failed; a "-" in the paper needs no run."""
        listed = list(learners)
        if any(paper.gave_up(task.network, task.rows, learner) for learner in listed):
            return False
        cells = [self.cell(task, learner) for learner in listed]
        return any(cell is None or cell.state == "failed" for cell in cells)

    def tasks(self, networks: Iterable[str] = tuple(NETWORKS), sizes: Iterable[int] = SIZES) -> list[Task]:
        """Return tasks, one for each source; those without results have the source ""."""
        return [
            task
            for network in networks
            for rows in sizes
            for task in self.cells.tasks(network, rows) or [Task(network, "", rows)]
        ]


Cases = Callable[[View], Iterable[Case]]
"""The comparisons that a claim asks for, made of what is seen."""


def lower(ours: float, theirs: float) -> bool:
    """Return whether ours is below."""
    return ours < theirs


def higher(ours: float, theirs: float) -> bool:
    """Return whether ours is above."""
    return ours > theirs


def not_higher(ours: float, theirs: float) -> bool:
    """Return whether ours is at most theirs."""
    return ours <= theirs


def close(ours: float, theirs: float) -> bool:
    """Return whether the two differ by at most a quarter of the larger.

    Examples
    --------
    >>> close(75, 100), close(74, 100)
    (True, False)
    """
    return abs(ours - theirs) <= CLOSE * max(ours, theirs)


def close_or_lower(ours: float, theirs: float) -> bool:
    """Return whether ours is below, or close."""
    return ours < theirs or close(ours, theirs)


def close_or_higher(ours: float, theirs: float) -> bool:
    """Return whether ours is above, or close."""
    return ours > theirs or close(ours, theirs)


def networks_but(*left_out: str) -> tuple[str, ...]:
    """Return all networks but some.

    Examples
    --------
    >>> networks_but("mildew", "hailfinder", "munin", "gene")
    ('pigs', 'link')
    """
    return tuple(name for name in NETWORKS if name not in left_out)


def pairs(ours: Iterable[str], rivals: Iterable[str]) -> list[tuple[str, str]]:
    """Pair each of ours with each rival."""
    listed = list(rivals)
    return [(mine, rival) for mine in ours for rival in listed]


def comparisons(
    view: View, measure: str, of: Pairs, holds: Relation, tasks: Iterable[Task] | None = None
) -> Iterator[Case]:
    """Compare two learners by a measure, on each task."""
    paired = list(of)
    for task in view.tasks() if tasks is None else tasks:
        for first, second in paired:
            a, b = (view.mean(task, learner, measure) for learner in (first, second))
            figures = "; ".join(
                f"{LEARNERS[learner]} {_shown(view, task, learner, measure)}" for learner in (first, second)
            )
            answer = None if a is None or b is None else holds(a, b)
            what = f"{LEARNERS[first]}, {LEARNERS[second]}: {MEASURES[measure]}"
            yield case(task, what, figures, answer, missing=view.lacks(task, (first, second)))


def timings(
    view: View, of: Pairs, factor: float = 1.0, tasks: Iterable[Task] | None = None
) -> Iterator[Case]:
    """Check whether the second of two takes more than `factor` times the seconds of the first, on each task.

    A learner over the time limit takes longer than that.
    """
    paired = list(of)
    for task in view.tasks() if tasks is None else tasks:
        for first, second in paired:
            what = f"{LEARNERS[first]}, {LEARNERS[second]}: seconds"
            figures = "; ".join(
                f"{LEARNERS[learner]} {_shown(view, task, learner, 'seconds')}" for learner in (first, second)
            )
            (low, high), (rival_low, rival_high) = (bounds(view.cell(task, name)) for name in (first, second))
            answer = None
            if high is not None and rival_low is not None and rival_low > factor * high:
                answer = True
            elif low is not None and rival_high is not None and rival_high <= factor * low:
                answer = False
            ratio = rival_low / high if rival_low is not None and high else None
            if ratio is not None:
                least = "at least " if rival_high is None else ""
                figures += f"; {least}{short(ratio)} times"
            found = None if ratio is None else (LEARNERS[first], LEARNERS[second], ratio)
            missing = view.lacks(task, (first, second))
            yield replace(case(task, what, figures, answer, missing=missing), factor=found)


def unfinished(view: View, learners: Iterable[str], tasks: Iterable[Task]) -> Iterator[Case]:
    """Check whether learners exceed a limit."""
    listed = list(learners)
    for task in tasks:
        for learner in listed:
            cell = view.cell(task, learner)
            answer = None if cell is None or cell.state == "failed" else cell.state == "limit"
            figures = f"{LEARNERS[learner]} {_shown(view, task, learner, 'seconds')}"
            what = f"{LEARNERS[learner]}: no result within the limit"
            yield case(task, what, figures, answer, missing=answer is None)


def case(task: Task, what: str, figures: str, holds: bool | None, *, missing: bool) -> Case:
    """Return a case of a task."""
    where = f"{NETWORKS[task.network]} {size(task.rows)}"
    source = "the paper's tables" if task.source == PRINTED else SOURCES.get(task.source, task.source)
    return Case(where, source, what, figures, holds, missing)


def bounds(cell: Cell | None) -> tuple[float | None, float | None]:
    """Return lower and upper bounds of the seconds of a learner, as far as they are known."""
    if cell is None:
        return None, None
    if "seconds" in cell.figures:
        return cell.figures["seconds"].mean, cell.figures["seconds"].mean
    return cell.least_seconds, None


def _shown(view: View, task: Task, learner: str, measure: str) -> str:
    cell = view.cell(task, learner)
    if cell is None:
        return "not run"
    if measure in cell.figures:
        mean = cell.figures[measure].mean
        return f"{short(mean)} s" if measure == "seconds" else f"{mean:,.2f}"
    return f"over {cell.limit}" if cell.state == "limit" and cell.limit else cell.state
