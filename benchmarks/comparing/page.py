"""The page about accuracy: what the results say goes between marks, the words around stay."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from comparing.chart import shd_by_rows
from comparing.data import MANY_NETWORKS, NETWORKS, RIVAL_NETWORKS, TUNING
from comparing.learners import ABLATION, COMPARED, MANY, OWN, RIVALS, YARDSTICK
from comparing.store import Store
from comparing.summary import Summary
from comparing.tables import by_cell, configurations, overall, own_cells

CHART = "accuracy.svg"


def write_page(
    page: Path, images: Path, compared: Store, many: Store, rivals: Store, ablation: Store, tuning: Store
) -> None:
    """Bring the page and its chart up to date."""
    learners = [configuration.name for configuration in COMPARED]
    summary = Summary(compared.results, learners, NETWORKS)
    parts = dict.fromkeys(("comparison", "many rows", "rivals", "ablation", "tuning"), "")
    parts["comparison"] = comparison(summary, compared)
    (images / CHART).write_text(shd_by_rows(summary, learners), encoding="utf-8")
    if many.results:
        parts["many rows"] = of_many_rows(many)
    if rivals.results:
        parts["rivals"] = of_rivals(rivals)
    if ablation.results:
        names = [configuration.name for configuration in ABLATION]
        parts["ablation"] = of_configurations(Summary(ablation.results, names, NETWORKS))
    if tuning.results:
        names = list(dict.fromkeys(head["learner"] for head in tuning.heads))
        parts["tuning"] = of_configurations(Summary(tuning.results, names, list(TUNING)))
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = put(text, name, part or "Not run yet.\n")
    page.write_text(text, encoding="utf-8")


def put(text: str, name: str, part: str) -> str:
    """Put a part between its marks, with its paragraphs wrapped."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    marked = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"the page has no place for {name}: put {begin} and {end} on lines of their own")
    lines = (line if line[:1] in "|<!" else textwrap.fill(line, 120) for line in part.split("\n"))
    wrapped = "\n".join(lines)
    return marked.sub(lambda _: f"{begin}\n{wrapped}{end}", text, count=1)


def comparison(summary: Summary, store: Store) -> str:
    """Return the section that compares all learners."""
    beside = OWN.name if OWN.name in summary.learners else YARDSTICK.name
    shared, cells = len(summary.shared), len(summary.cells)
    sections = [
        f"{cells} cells, {summary.sets_of_each()}. {_where(store.heads)}\n",
        f"Mean SHD, the lowest in bold type:\n\n{by_cell(summary, 'shd', 1)}",
        f"Means over the {shared} cells of {cells} that all learners have (BDeu: nats for each row below the "
        f"best learner of the cell):\n\n{overall(summary)}",
        f"![SHD per true edge by learner and rows](images/{CHART})\n",
        f"Means over all cells that a learner has, and SHD per edge and Ar_F1 of {beside} on the same cells; "
        f"in how many cells its mean SHD is the lowest, or at most 10 % above it; seconds as a multiple of "
        f"{YARDSTICK.name}'s on the same data set (geometric mean):\n\n{own_cells(summary, beside)}",
        *(
            f"<details><summary>{title}</summary>\n\n{by_cell(summary, measure, digits)}\n</details>\n"
            for measure, title, digits in (
                ("f1", "Ar_F1 of each cell", 3),
                ("cpdag_per_edge", "SHD of CPDAGs per true edge of each cell", 3),
                ("skeleton_f1", "Skeleton F1 of each cell", 3),
                ("bdeu", "BDeu of each cell", 0),
                ("seconds", "Seconds of each cell", 3),
            )
        ),
    ]
    return "\n".join(sections)


def of_many_rows(store: Store) -> str:
    """Return distances with many rows, and how often F2SL-h's score is at least that of the true graph."""
    summary = Summary(store.results, [configuration.name for configuration in MANY], MANY_NETWORKS)
    own = [name for name in summary.learners if name.startswith(OWN.name)]
    above = {
        name: [
            run["above_truth"] >= 0
            for key, run in store.results.items()
            if key.learner == name and "shd" in run
        ]
        for name in own
    }
    told = ", ".join(f"of {name} in {sum(found)} of {len(found)} runs" for name, found in above.items())
    return (
        f"Mean SHD of CPDAGs, {summary.sets_of_each()}, the lowest in bold type:\n\n"
        f"{by_cell(summary, 'shd_cpdag', 1)}\nThe score is at least that of the true graph: {told}.\n"
    )


def of_rivals(store: Store) -> str:
    """Compare searches for the best score, by every distance."""
    summary = Summary(store.results, [configuration.name for configuration in RIVALS], RIVAL_NETWORKS)
    tables = (
        ("shd_cpdag", "SHD of CPDAGs", 1),
        ("skeleton_f1", "Skeleton F1", 3),
        ("sid", "SID of DAGs: pairs of variables with a wrong effect", 0),
        ("ancestor_aid", "Ancestor AID of CPDAGs", 0),
        ("seconds", "Seconds", 2),
    )
    first, *others = (f"{title}:\n\n{by_cell(summary, measure, digits)}" for measure, title, digits in tables)
    folded = "\n".join(others)
    return (
        f"Means of {summary.sets_of_each()}. {first}\n"
        f"<details><summary>Other distances, and seconds</summary>\n\n{folded}\n</details>\n"
    )


def of_configurations(summary: Summary) -> str:
    """Compare configurations in one table."""
    networks = list(dict.fromkeys(cell.network for cell in summary.shared))
    return (
        f"Means over {len(summary.shared)} cells of {len(summary.cells)}, {summary.sets_of_each()} "
        f"({', '.join(networks)}):\n\n{configurations(summary)}"
    )


def _where(heads: Sequence[Mapping[str, Any]]) -> str:
    """Name the machines and the versions, each kind once."""
    told = dict.fromkeys(
        f"{about['machine']['processor']}, {about['machine']['cores']} core(s); "
        + ", ".join(f"{name} {about['versions'][name]}" for name in ("f2sl", "python", "numpy", "numba"))
        for about in heads
    )
    return " / ".join(told) + "."
