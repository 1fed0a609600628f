"""One HTML page with all there is to see: it opens from disk, and asks for nothing from anywhere else.

Its fixed text is in ``page_parts/page.html``; what is filled in is made here, in ``page_tables`` and in
``page_claims``. Whatever comes from data is escaped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from f2sl._version import __version__
from f2sl.experiments import settings
from f2sl.experiments.claims import BORNE_OUT, IN_PART, Finding
from f2sl.experiments.differences import SEEN_EVERYWHERE, TIED_TO_ROWS, Difference
from f2sl.experiments.figures import Picture
from f2sl.experiments.names import LEARNERS, NETWORKS, SETTINGS, SOURCES, data, size
from f2sl.experiments.page_claims import claims_html
from f2sl.experiments.page_tables import picture_html, table_html
from f2sl.experiments.results import OVER
from f2sl.experiments.settings import PAPER, options_of
from f2sl.experiments.store import DONE, FAILED, Results, Unit
from f2sl.experiments.table_model import Table


@dataclass(frozen=True)
class Material:
    """What the page is made of."""

    results: Results
    tables: list[Table]
    pictures: list[Picture]
    findings: list[Finding]


def page(material: Material) -> str:
    """Write the page."""
    tied = [
        f'<li id="difference-{number}">{_difference(one)}</li>' for number, one in enumerate(TIED_TO_ROWS, 1)
    ]
    return Template(_part("page.html")).substitute(
        style=_part("style.css"),
        script=_part("sort.js"),
        version=escape(__version__),
        runs=_tiles(material) + _facts(material.results) + _failures(material.results) + _settings(),
        claims=claims_html(material.findings),
        tables="\n".join(map(table_html, material.tables)),
        figures="\n".join(map(picture_html, material.pictures)),
        everywhere=f"<ul>{''.join(f'<li>{_difference(one)}</li>' for one in SEEN_EVERYWHERE)}</ul>",
        tied=f'<ol class="differences">{"".join(tied)}</ol>',
    )


def _part(name: str) -> str:
    return files("f2sl.experiments").joinpath("page_parts", name).read_text(encoding="utf-8")


def _difference(one: Difference) -> str:
    return f"<b>{escape(one.title)}.</b> {escape(one.text)}"


def _tiles(material: Material) -> str:
    """Put the most important numbers first."""
    states = Counter(outcome.state for outcome in material.results.outcomes)
    words = Counter(finding.ours.word for finding in material.findings)
    near, compared = _agreement(material.tables)
    tiles = (
        (f"{states[DONE]:,}", "units done (one learner on one data set)"),
        (f"{sum(states[state] for state in OVER):,}", "over a limit, or left out after one that was"),
        (f"{states[FAILED]:,}", "failed"),
        (f"{near:,} of {compared:,}", "figures on the paper's data agree with the paper's"),
        (f"{words[BORNE_OUT]} of {len(material.findings)}", "claims borne out, as in the paper"),
        (f"{words[IN_PART]}", "claims borne out in part"),
    )
    items = "".join(f"<li><b>{number}</b><span>{label}</span></li>" for number, label in tiles)
    return f'<ul class="tiles">{items}</ul>'


def _agreement(tables: list[Table]) -> tuple[int, int]:
    """Count the figures of tables 2 to 4 and 6, as in the paper on its data: those that agree, and all."""
    stars = [
        entry.star
        for table in tables
        if table.number in (2, 3, 4, 6)
        for row in table.rows
        if SOURCES["paper"] in row.heads and SETTINGS["paper"] in row.heads
        for column, entry in zip(table.columns, row.entries, strict=True)
        if column.kind == "figure" and entry.difference is not None
    ]
    return stars.count(False), len(stars)


def _facts(results: Results) -> str:
    """Tell whose data, and of the machines, versions and limits; what all runs share is told once."""
    met = {(outcome.unit.network, outcome.source) for outcome in results.outcomes}
    whose: dict[str, list[str]] = {}
    for source in SOURCES:
        for name, label in NETWORKS.items():
            if (name, source) in met:
                whose.setdefault(data(name, source), []).append(label)
    told = {"Data": [f"{', '.join(names)}: {title}" for title, names in whose.items()]}
    others = sorted({outcome.unit.rows for outcome in results.outcomes} - {*settings.SIZES})
    if others:
        told["Not shown"] = [
            f"Results with {' and '.join(map(size, others))} rows, sizes that the paper does not have"
        ]
    used = {outcome.run for outcome in results.outcomes}
    for number, run in sorted(results.runs.items()):
        if number in used:
            for term, text in _description(run).items():
                texts = told.setdefault(term, [])
                texts += [] if text in texts else [text]
    items = "".join(
        f"<dt>{escape(term)}</dt><dd>{'<br>'.join(map(escape, texts)) or 'none yet'}</dd>"
        for term, texts in told.items()
    )
    return f'<dl class="facts">{items}</dl>'


def _description(run: dict[str, Any]) -> dict[str, str]:
    """Put what is recorded of a run into words."""
    machine = run["machine"]
    return {
        "Runs": run["started"],
        "Machine": f"{machine['processor']}, {machine['cores']} cores, {_gibibytes(machine['memory'])}, "
        f"{machine['system']}",
        "Versions": ", ".join(f"{name} {found or 'not there'}" for name, found in run["versions"].items()),
        "Threads": f"{run['threads']} for each unit, {run['jobs']} units at a time",
        "Limits": f"{run['time_limit']:,.0f} s and {_gibibytes(run['memory_limit'])} for each unit",
    }


def _gibibytes(number: int) -> str:
    return f"{number / 2**30:.1f} GiB"


def _failures(results: Results) -> str:
    failures = "".join(
        f"<li>{escape(_titled(outcome.unit))}: {escape(outcome.message or 'no message')}</li>"
        for outcome in results.outcomes
        if outcome.state == FAILED
    )
    return f"<details><summary>What failed</summary><ul>{failures}</ul></details>" if failures else ""


def _titled(unit: Unit) -> str:
    learner = LEARNERS.get(unit.learner, unit.learner)
    network = NETWORKS.get(unit.network, unit.network)
    setting = SETTINGS.get(unit.setting, unit.setting)
    return f"{learner} ({setting}) on {network} {size(unit.rows)}, data set {unit.data_set}"


def _settings() -> str:
    """List the options of each learner as in the paper, and why these."""
    rows = "".join(
        f'<tr><th scope="row" class="sticky">{escape(title)}</th>'
        f"<td>{escape(', '.join(f'{key}={value}' for key, value in options_of(name, PAPER).items()))}</td>"
        f"<td>{escape(settings.LEARNERS[name].reason)}</td></tr>"
        for name, title in LEARNERS.items()
    )
    return (
        '<details><summary>Options as in the paper, and why</summary><div class="scroll" role="region" '
        'tabindex="0" aria-label="Options as in the paper"><table><thead><tr><th scope="col">Algorithm</th>'
        '<th scope="col">Options</th><th scope="col">Why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )
