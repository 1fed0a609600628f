"""Claims and verdicts as HTML: all at a glance, then one by one with their cases."""

from __future__ import annotations

from html import escape

from f2sl_paper.claims import (
    GROUPS,
    HOLDS,
    IN_PART,
    NOT,
    ON_SECONDS,
    SO_FAR,
    UNKNOWN,
    Claim,
    Finding,
    Verdict,
)
from f2sl_paper.differences import number_of

_LOOKS = {HOLDS: "good", SO_FAR: "far", IN_PART: "part", NOT: "bad"}


def claims_html(findings: list[Finding]) -> str:
    """Write all claims; those that our runs do not judge are folded."""
    unknown = [finding for finding in findings if finding.ours.word == UNKNOWN]
    judged = [finding for finding in findings if finding.ours.word != UNKNOWN]
    shown = f"<p>{ON_SECONDS}</p>{_listed(judged)}" if judged else ""
    if unknown:
        title = f"{counted(len(unknown), 'claim')} that cannot be judged from these runs"
        shown += f"<details><summary>{title}</summary>{_listed(unknown)}</details>"
    return shown


def counted(number: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "case"), counted(2, "case")
    ('1 case', '2 cases')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(findings: list[Finding]) -> str:
    """Write claims at a glance, then one by one."""
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Claim", *GROUPS))
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Verdicts"><table class="overview">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(map(_line, findings))}</tbody></table></div>"
        f'<h3>One by one</h3><ul class="claims">{"".join(map(_claim, findings))}</ul>'
    )


def _line(finding: Finding) -> str:
    """Write a claim with its verdicts in one row."""
    cells = []
    for group, verdict in zip(GROUPS, finding.verdicts, strict=True):
        if verdict is None:
            cells.append("<td></td>")
            continue
        share = f"<small>{verdict.shares()}</small>" if verdict.cases else ""
        look = _LOOKS.get(verdict.word, "")
        cells.append(f'<td class="{look}" data-group="{escape(group)}">{verdict.word}{share}</td>')
    link = f'<a href="#claim-{finding.claim.name}">{escape(finding.claim.text)}</a>'
    return f'<tr><th scope="row">{link}</th>{"".join(cells)}</tr>'


def _claim(finding: Finding) -> str:
    """Return the HTML of a claim with its verdicts and figures."""
    claim = finding.claim
    known = [
        (group, verdict)
        for group, verdict in zip(GROUPS, finding.verdicts, strict=True)
        if verdict is not None
    ]
    verdicts = "".join(
        f'<div class="{_LOOKS.get(verdict.word, "open")}"><dt>{group}</dt>'
        f"<dd><b>{verdict.word}</b>{'<br>'.join(map(escape, _said(verdict)))}</dd></div>"
        for group, verdict in known
    )
    cases = "".join(_cases(group, verdict) for group, verdict in known if verdict.judged)
    return (
        f'<li id="claim-{claim.name}"><h4>{escape(claim.text)}</h4>'
        f"<p>Section {escape(claim.section)}. Measured: {escape(claim.how)}{_caveats(claim)}</p>"
        f'<dl class="verdicts">{verdicts}</dl>{cases}</li>'
    )


def _caveats(claim: Claim) -> str:
    """Return caveats on a claim: that seconds vary, and known differences that affect it."""
    said = f"<br>{ON_SECONDS}" if claim.timed else ""
    if claim.difference is not None:
        link = f'<a href="#difference-{number_of(claim.difference)}">{escape(claim.difference.title)}</a>'
        said += f"<br>A known difference bears on it: {link}."
    return said


def _said(verdict: Verdict) -> list[str]:
    failing = verdict.failing()
    return [
        f"{verdict.counted()}.",
        *([f"Does not hold: {failing}."] if failing else []),
        *(f"{line}." for line in verdict.factors()),
    ]


def _cases(group: str, verdict: Verdict) -> str:
    """List the cases that can be judged, those that do not hold first."""
    rows = "".join(
        f'<tr><th scope="row" class="sticky">{escape(case.where)}</th><td>{escape(case.source)}</td>'
        f"<td>{escape(case.what)}</td><td>{escape(case.figures)}</td>"
        + ('<td class="good">yes</td></tr>' if case.holds else '<td class="bad">no</td></tr>')
        for case in sorted(verdict.judged, key=lambda case: bool(case.holds))
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Where", "Data", "What", "Figures", "Holds"))
    return (
        f"<details><summary>{group}: {counted(len(verdict.judged), 'case')}</summary>"
        f'<div class="scroll tall" role="region" tabindex="0" aria-label="{group}, cases"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )
