"""Tables 1 to 7 in the paper's form, independent of the output format.

============  ====================================================================================
table 1       the networks (:mod:`~f2sl_paper.table_networks`)
tables 2, 3   SHD, Reverse, Miss, Extra and seconds at 500 and at 1,000 rows
table 4       F1, precision and recall of the arrowheads
table 5       seconds, SHD and F1 of tables 2 to 4, divided by those of F2SL-s as in the paper
table 6       F1, precision and recall of PC sets, and seconds for one variable
table 7       seconds and F1 of table 6, divided by those of FCBF as in the paper
============  ====================================================================================

An experiment that was not run is an empty entry. Rows are those of the paper, network by network, each with
the source of its data. A learner whose options differ between the paper and f2sl has a row for both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from f2sl_paper import paper
from f2sl_paper.differences import numbers_for
from f2sl_paper.names import (
    LEARNERS,
    MEASURES,
    NETWORKS,
    PC_LEARNERS,
    SETTINGS,
    STRUCTURE_LEARNERS,
    data,
    size,
)
from f2sl_paper.paper import Figure
from f2sl_paper.results import Cell, Cells, Task
from f2sl_paper.settings import SIZES
from f2sl_paper.table_model import LAST_DIGIT, Column, Entry, Row, Table
from f2sl_paper.table_networks import networks_table


def tables(cells: Cells) -> list[Table]:
    """Return tables 1 to 7."""
    return [
        networks_table(cells),
        _errors(cells, 2, 500),
        _errors(cells, 3, 1000),
        _arrowheads(cells),
        _normalised_structures(cells),
        _pc_learners(cells),
        _normalised_pc_learners(cells),
    ]


# Tables of figures -------------------------------------------------------------------------------------

_NOTES = (
    "Mean ± standard deviation (that of a sample, as in the paper) over the data sets; in brackets the "
    "paper's mean, and ours less the paper's (of seconds: how many times ours the paper's are).",
    "Bold: the best of a network's rows. *: farther from the paper's mean than two of its standard "
    "deviations and than 10 %. Seconds have no star: the paper's are those of MATLAB on an Intel i7-8700.",
)
_HEADS = ("Network", "Data", "Algorithm", "Setting", "Data sets")


def _errors(cells: Cells, number: int, rows: int) -> Table:
    measures = ("shd", "reverse", "miss", "extra", "seconds")
    columns = tuple(_column(name, better="lower" if name in ("shd", "seconds") else "") for name in measures)
    return _table_of_cells(
        cells,
        STRUCTURE_LEARNERS,
        [(rows, name, "structure_errors") for name in measures],
        columns,
        number,
        f"errors-{rows}",
        f"Wrongly learned edges and seconds, {size(rows)} rows",
    )


def _arrowheads(cells: Cells) -> Table:
    measures = ("f1", "precision", "recall")
    places = [(rows, name, "arrowheads") for rows in SIZES for name in measures]
    columns = tuple(
        replace(
            _column(name, rows, "higher" if name == "f1" else ""), label=f"Ar_{MEASURES[name]}, {size(rows)}"
        )
        for rows, name, _ in places
    )
    return _table_of_cells(
        cells, STRUCTURE_LEARNERS, places, columns, 4, "arrowheads", "Correctly learned directions of edges"
    )


def _pc_learners(cells: Cells) -> Table:
    measures = ("f1", "precision", "recall", "seconds")
    better = {"f1": "higher", "seconds": "lower"}
    places = [(rows, name, "pc_learners") for rows in SIZES for name in measures]
    columns = tuple(_column(name, rows, better.get(name, "")) for rows, name, _ in places)
    title = "FCBF and other learners of parents and children; seconds for one variable"
    return _table_of_cells(cells, PC_LEARNERS, places, columns, 6, "pc-learners", title)


def _column(name: str, rows: int | None = None, better: str = "") -> Column:
    label = MEASURES[name] if rows is None else f"{MEASURES[name]}, {size(rows)}"
    key = name if rows is None else f"{name}_{rows}"
    return Column(label, key, better, "seconds" if name == "seconds" else "figure")


def _table_of_cells(
    cells: Cells,
    learners: Sequence[str],
    places: Sequence[tuple[int, str, str]],
    columns: tuple[Column, ...],
    number: int,
    name: str,
    title: str,
) -> Table:
    """Return a table with a block for each network and source; a place is (rows, measure, paper's table)."""
    sizes = sorted({rows for rows, _, _ in places})
    blocks = []
    met: list[Cell] = []
    for network, source in _networks_and_sources(cells, sizes, learners):
        block = []
        for learner in learners:
            for setting in _settings_of(cells, learner, network, source, sizes):
                found = {rows: cells.get(Task(network, source, rows), learner, setting) for rows in sizes}
                met += filter(None, found.values())
                entries = tuple(
                    _entry(found[rows], measure, column, paper.figures(table).get((network, rows, learner)))
                    for (rows, measure, table), column in zip(places, columns, strict=True)
                )
                heads = (
                    NETWORKS[network],
                    data(network, source) if any(found.values()) else "",
                    LEARNERS[learner],
                    SETTINGS[setting],
                    _counted(found.values()),
                )
                tied = numbers_for(network, source, learner, setting, sizes) if any(found.values()) else ()
                block.append(Row(heads, entries, tied))
        blocks.append(_with_best(block, columns))
    return Table(number, name, title, _HEADS, columns, tuple(blocks), (*_NOTES, *_notes_on(met)))


def _networks_and_sources(
    cells: Cells, sizes: Iterable[int], learners: Iterable[str]
) -> list[tuple[str, str]]:
    """Return each network with each source it was run from; one that was not run has the source ""."""
    found = []
    for network in NETWORKS:
        sources = sorted({task.source for rows in sizes for task in cells.tasks(network, rows, learners)})
        found += [(network, source) for source in sources or [""]]
    return found


def _settings_of(cells: Cells, learner: str, network: str, source: str, sizes: Iterable[int]) -> list[str]:
    """Return the settings to show: the paper's always, f2sl's where there are results."""
    tasks = [Task(network, source, rows) for rows in sizes]
    return [
        setting
        for setting in SETTINGS
        if setting == "paper" or any(cells.get(task, learner, setting) for task in tasks)
    ]


def _counted(cells: Iterable[Cell | None]) -> str:
    """Return the number of data sets in the mean of a row; both numbers if two sizes differ."""
    counts = ["" if cell is None else str(cell.finished) for cell in cells]
    return counts[0] if len(set(counts)) == 1 else " / ".join(count or "0" for count in counts)


def _entry(cell: Cell | None, measure: str, column: Column, printed: dict[str, Figure] | None) -> Entry:
    """Combine our figure with the paper's; runs over the paper's limit have no figures."""
    theirs = None if printed is None else printed.get(measure)
    paper_state = "" if printed is None else "done" if printed else "limit"
    entry = Entry(paper_state=paper_state, paper=theirs)
    if cell is None:
        return entry
    if cell.state != "done":
        remark = f"over {cell.limit}" if cell.state == "limit" and cell.limit else cell.state
        return replace(entry, state=cell.state, remark=remark)
    if measure not in cell.figures:
        return entry
    ours = cell.figures[measure]
    failed = cell.tried - cell.finished
    return replace(
        entry,
        state="done",
        figure=ours,
        remark=f"{failed} of {cell.tried} data sets failed" if failed else "",
        star=theirs is not None and column.form == "figure" and not theirs.agrees(ours.mean, LAST_DIGIT),
    )


def _with_best(block: list[Row], columns: tuple[Column, ...]) -> tuple[Row, ...]:
    """Mark the best entries of a block in each column that has a best; equal text counts as equal."""
    best: list[str | None] = []
    for number, column in enumerate(columns):
        figures = [row.entries[number].figure for row in block]
        means = [figure.mean for figure in figures if figure is not None]
        choose = {"lower": min, "higher": max}.get(column.better)
        best.append(column.written(choose(means)) if choose and len(means) > 1 else None)
    return tuple(
        replace(
            row,
            entries=tuple(
                replace(entry, best=entry.figure is not None and column.written(entry.figure.mean) == top)
                for entry, column, top in zip(row.entries, columns, best, strict=True)
            ),
        )
        for row in block
    )


def _notes_on(cells: Iterable[Cell]) -> list[str]:
    """Describe where a limit was exceeded or a learner failed, and which limit."""
    over: dict[tuple[str, str], list[str]] = {}
    failed = []
    for cell in cells:
        where = f"{NETWORKS[cell.task.network]} {size(cell.task.rows)}"
        finished = f"{cell.finished} of {cell.tried} finished"
        if cell.state == "limit":
            over.setdefault((_titled(cell), cell.limit), []).append(f"{where} ({finished})")
        elif cell.finished < cell.tried:
            failed.append(f"{_titled(cell)} on {where} ({finished})")
    notes = [
        f'"-": {learner} on {", ".join(wheres)}: over the limit{f" of {limit}" if limit else ""}'
        for (learner, limit), wheres in over.items()
    ]
    return notes + ([f"Failed: {'; '.join(failed)}"] if failed else [])


def _titled(cell: Cell) -> str:
    learner = LEARNERS[cell.learner]
    return learner if cell.setting == "paper" else f"{learner} ({SETTINGS[cell.setting]})"


# Normalised tables -------------------------------------------------------------------------------------


def _normalised_structures(cells: Cells) -> Table:
    order = ("f2sl-s", "f2sl-c", *(name for name in STRUCTURE_LEARNERS if not name.startswith("f2sl")))
    return _normalised(
        cells, order, {"seconds": "Time", "shd": "SHD", "f1": "Ar_F1"}, 5, "normalised_structures"
    )


def _normalised_pc_learners(cells: Cells) -> Table:
    order = ("fcbf", *(name for name in PC_LEARNERS if name != "fcbf"))
    return _normalised(cells, order, {"seconds": "Time", "f1": "F1"}, 7, "normalised_pc_learners")


def _normalised(
    cells: Cells, learners: Sequence[str], measures: dict[str, str], number: int, printed: str
) -> Table:
    """Divide by the figures of the first of the learners as in the paper; a column is a task."""
    tasks = [
        Task(network, source, rows)
        for rows in SIZES
        for network, source in _networks_and_sources(cells, [rows], learners)
    ]
    columns = tuple(
        Column(
            f"{NETWORKS[task.network]} {size(task.rows)}",
            "_".join(filter(None, (task.network, str(task.rows), task.source))),
            form="ratio",
            under=data(task.network, task.source),
        )
        for task in tasks
    )
    base = learners[0]
    blocks = []
    for measure, label in measures.items():
        block = []
        for learner in learners:
            for setting in SETTINGS:
                found = [cells.get(task, learner, setting) for task in tasks]
                if setting != "paper" and not any(found):
                    continue
                entries = tuple(
                    _ratio(
                        cell,
                        cells.get(task, base, "paper"),
                        measure,
                        paper.figures(printed).get((task.network, task.rows, learner)),
                    )
                    for cell, task in zip(found, tasks, strict=True)
                )
                block.append(Row((label, LEARNERS[learner], SETTINGS[setting]), entries))
        blocks.append(tuple(block))
    title = f"{', '.join(measures.values())} divided by those of {LEARNERS[base]}"
    notes = (
        f"Means divided by the mean of {LEARNERS[base]} with the paper's settings on the same data; in "
        "brackets the paper's, and ours less the paper's. Above 1 is slower, farther from the truth, or (F1) "
        "better.",
        '"-": over a limit; see the tables that these are made of.',
    )
    return Table(
        number,
        printed.replace("_", "-"),
        title,
        ("Normalised", "Algorithm", "Setting"),
        columns,
        tuple(blocks),
        notes,
    )


def _ratio(cell: Cell | None, base: Cell | None, measure: str, printed: dict[str, Figure] | None) -> Entry:
    entry = _entry(cell, measure, Column("", "", form="ratio"), printed)
    if entry.figure is None:
        return entry
    below = base.figures.get(measure) if base is not None else None
    if below is None or below.mean == 0:
        return replace(entry, state="empty", figure=None, remark="")
    return replace(entry, figure=Figure(entry.figure.mean / below.mean, math.nan))
