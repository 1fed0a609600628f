"""Summary of the runs and their results, in a line and a few large numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape

from f2sl_paper.claims import HOLDS, IN_PART, NOT, SO_FAR, UNKNOWN, Finding, Verdict
from f2sl_paper.harness.job import DONE, FAILED
from f2sl_paper.names import LEARNERS, NETWORKS, SETTINGS, SOURCES
from f2sl_paper.page_claims import counted
from f2sl_paper.results import OVER
from f2sl_paper.settings import SETS, SIZES
from f2sl_paper.store import Outcome, Results
from f2sl_paper.table_model import Table

_CLAIMS = {
    HOLDS: "hold",
    SO_FAR: "hold so far",
    IN_PART: "hold in part",
    NOT: "do not hold",
    UNKNOWN: "cannot be judged",
}

_MAIN = {
    "faster": "F2SL is faster than its rivals",
    "shd-competitive": "F2SL can compete with its rivals in SHD",
    "best-f1": "F2SL has a higher Ar_F1 than its rivals, except on Pigs,",
}
"""The claims behind the paper's abstract (more efficient, and of competitive quality), in short."""


def conclusion(findings: list[Finding]) -> str:
    """Return one sentence: whether the paper's main claims held in our runs, and where they did not."""
    verdicts = {finding.claim.name: finding.ours for finding in findings if finding.claim.name in _MAIN}
    words = {verdict.word for verdict in verdicts.values()}
    overall = words.pop() if len(words) == 1 else SO_FAR if words == {HOLDS, SO_FAR} else IN_PART
    outcomes = "; ".join(_outcome(_MAIN[name], verdict) for name, verdict in verdicts.items())
    return f"The paper's main claims {_CLAIMS[overall]}{'' if overall == UNKNOWN else f': {outcomes}'}."


def _outcome(claimed: str, verdict: Verdict) -> str:
    """Return in how many comparisons a claim holds, and the networks with exceptions."""
    if verdict.word == UNKNOWN:
        return f"whether {claimed} cannot be judged"
    wheres = dict.fromkeys(case.where.rpartition(" ")[0] for case in verdict.judged if not case.holds)
    exceptions = f" (exceptions on {', '.join(wheres)})" if wheres else ""
    return f"{claimed} in {verdict.held} of {counted(len(verdict.judged), 'comparison')}{exceptions}"


def extent(results: Results) -> str:
    """Describe how much of the paper's experiments was run, and on which data."""
    shown = [one for one in results.outcomes if one.unit.rows in SIZES and one.unit.learner in LEARNERS]
    if not shown:
        return "None of the paper's experiments was run yet."
    networks, sizes, learners = (
        {getattr(one.unit, part) for one in shown} for part in ("network", "rows", "learner")
    )
    cells = {(one.unit.network, one.unit.rows, one.unit.learner) for one in shown}
    parts = [
        f"{len(networks)} of {len(NETWORKS)} networks",
        *([f"{len(sizes)} of {len(SIZES)} sizes"] if len(sizes) < len(SIZES) else []),
        _data_sets(shown),
        f"{len(learners)} of {len(LEARNERS)} learners",
    ]
    whole = len(NETWORKS) * len(SIZES) * len(LEARNERS)
    return (
        f"This is {', '.join(parts)} ({len(cells)} of {whole} combinations of network, size and learner); "
        f"{_whose(shown)}."
    )


def _data_sets(outcomes: Iterable[Outcome]) -> str:
    """Describe how many data sets of a network and size learners were tried on."""
    counts = Counter((*one.unit[:2], *one.unit[3:]) for one in outcomes).values()
    low, high = min(counts), max(counts)
    number = f"{low}" if low == high else f"{low} to {high}"
    return f"{number} {f'of {SETS} ' if high <= SETS else ''}data sets of each"


def _whose(outcomes: Iterable[Outcome]) -> str:
    """Describe which data are sampled."""
    by_source: dict[str, set[str]] = {}
    for one in outcomes:
        by_source.setdefault(one.source, set()).add(one.unit.network)
    if len(by_source) == 1:
        return "all data are sampled" if "sampled" in by_source else "all data are the paper's"
    names = [title for name, title in NETWORKS.items() if name in by_source["sampled"]]
    return f"the data of {', '.join(names)} are sampled, the others are the paper's"


def tiles(results: Results, tables: list[Table], findings: list[Finding]) -> str:
    """Return the most important numbers: of units, then of claims, which add up."""
    states = Counter(outcome.state for outcome in results.outcomes)
    words = Counter(finding.ours.word for finding in findings)
    near, compared = _agreement(tables)
    units = [
        (f"{states[DONE]:,}", "units done (one learner on one data set)"),
        (f"{sum(states[state] for state in OVER):,}", "over a limit, or skipped because of one that was"),
        (f"{states[FAILED]:,}", "failed"),
    ]
    if compared:
        units.append((f"{near:,} of {compared:,}", "figures on the paper's data agree with the paper's"))
    elif results.outcomes and all(outcome.source == "sampled" for outcome in results.outcomes):
        units.append(("sampled", "all data: figures need not agree with the paper's"))
    claims = [(f"{words[word]}", label) for word, label in _CLAIMS.items()]
    return (
        f"{_listed(units)}<p>Of the paper's {len(findings)} claims, tested on our runs with the paper's "
        f'settings (<a href="#claims">verdicts</a>; so far: runs are missing):</p>{_listed(claims)}'
    )


def _listed(numbers: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<li><b>{number}</b><span>{escape(label)}</span></li>" for number, label in numbers)
    return f'<ul class="tiles">{items}</ul>'


def _agreement(tables: list[Table]) -> tuple[int, int]:
    """Count the figures of tables 2 to 4 and 6 on the paper's data: those that agree, and all."""
    stars = [
        entry.star
        for table in tables
        if table.number in (2, 3, 4, 6)
        for row in table.rows
        if SOURCES["paper"] in row.heads and SETTINGS["paper"] in row.heads
        for column, entry in zip(table.columns, row.entries, strict=True)
        if column.form == "figure" and entry.difference is not None
    ]
    return stars.count(False), len(stars)
