"""One HTML page with all results; it opens from disk and loads nothing else.

Its fixed text is in ``page_parts/page.html``; this module, ``page_tables`` and ``page_claims`` make the rest.
All text from data is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from f2sl._version import __version__
from f2sl_paper import settings
from f2sl_paper.claims import Finding
from f2sl_paper.differences import SEEN_EVERYWHERE, TIED_TO_ROWS, Difference
from f2sl_paper.figures import Picture
from f2sl_paper.harness.job import FAILED
from f2sl_paper.names import LEARNERS, NETWORKS, SETTINGS, SOURCES, data, size
from f2sl_paper.page_claims import claims_html, counted
from f2sl_paper.page_summary import conclusion, extent, tiles
from f2sl_paper.page_tables import picture_html, table_html
from f2sl_paper.settings import PAPER, options_of
from f2sl_paper.store import Results, Unit
from f2sl_paper.table_model import Table


@dataclass(frozen=True)
class Material:
    """Contents of the page."""

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
        conclusion=escape(conclusion(material.findings)),
        extent=escape(extent(material.results)),
        runs=tiles(material.results, material.tables, material.findings)
        + _facts(material.results)
        + _failures(material.results)
        + _settings(),
        claims=claims_html(material.findings),
        tables="\n".join(map(table_html, material.tables)),
        figures="\n".join(map(picture_html, material.pictures)),
        everywhere=f"<ul>{''.join(f'<li>{_difference(one)}</li>' for one in SEEN_EVERYWHERE)}</ul>",
        tied=f'<ol class="differences">{"".join(tied)}</ol>',
    )


def _part(name: str) -> str:
    return files("f2sl_paper").joinpath("page_parts", name).read_text(encoding="utf-8")


def _difference(one: Difference) -> str:
    return f"<b>{escape(one.title)}.</b> {escape(one.text)}"


def _facts(results: Results) -> str:
    """Describe data, machines, versions and limits; values that all runs share appear once."""
    met = {(outcome.unit.network, outcome.source) for outcome in results.outcomes}
    whose: dict[str, list[str]] = {}
    for source in SOURCES:
        for name, label in NETWORKS.items():
            if (name, source) in met:
                whose.setdefault(data(name, source), []).append(label)
    terms = {"Data": [f"{', '.join(names)}: {title}" for title, names in whose.items()]}
    others = sorted({outcome.unit.rows for outcome in results.outcomes} - {*settings.SIZES})
    if others:
        terms["Not shown"] = [
            f"Results with {' and '.join(map(size, others))} rows, sizes that the paper does not have"
        ]
    used = {outcome.run for outcome in results.outcomes}
    runs = [run for number, run in sorted(results.runs.items()) if number in used]
    terms["Runs"] = [_starts([run["started"] for run in runs])] if runs else []
    for run in runs:
        for term, text in _description(run).items():
            texts = terms.setdefault(term, [])
            texts += [] if text in texts else [text]
    items = "".join(
        f"<dt>{escape(term)}</dt><dd>{'<br>'.join(map(escape, texts)) or 'none yet'}</dd>"
        for term, texts in terms.items()
    )
    return f'<dl class="facts">{items}</dl>'


def _starts(started: list[str]) -> str:
    """Describe when runs were started, to the minute."""
    first, last = (f"{at[:16].replace('T', ' ')} UTC" for at in (min(started), max(started)))
    if len(started) == 1:
        return f"one, started {first}"
    return f"{len(started)}, the first started {first}, the last {last}"


def _description(run: dict[str, Any]) -> dict[str, str]:
    """Describe a run by its recorded facts."""
    machine = run["machine"]
    return {
        "Machine": f"{machine['processor']}, {counted(machine['cores'], 'core')}, "
        f"{_gibibytes(machine['memory'])}, {machine['system']}",
        "Versions": ", ".join(f"{name} {found or 'missing'}" for name, found in run["versions"].items()),
        "Threads": f"{run['threads']} for each unit, {counted(run['jobs'], 'unit')} at a time",
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
