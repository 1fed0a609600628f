"""Claims and verdicts as Markdown and CSV."""

from __future__ import annotations

import csv
import io

from f2sl.experiments.claims import GROUPS, ON_SECONDS, Finding, Verdict
from f2sl.experiments.table_text import escaped_markdown, markdown_row


def claims_markdown(findings: list[Finding]) -> str:
    """Write each claim with its verdicts in one row of a table."""
    lines = ["# The claims of section 6", "", markdown_row(["Section", "Claim", *GROUPS])]
    lines.append(markdown_row(["---"] * (2 + len(GROUPS))))
    for finding in findings:
        told = [finding.claim.section, finding.claim.text, *map(_told, finding.verdicts)]
        lines.append(markdown_row(map(escaped_markdown, told)))
    return "\n".join([*lines, "", ON_SECONDS]) + "\n"


def claims_csv(findings: list[Finding]) -> str:
    """Write a row for each claim and group of figures that it was asked of."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    counts = ["held", "judged", "unjudged", "lacking_runs"]
    writer.writerow(["claim", "section", "text", "figures", "verdict", *counts])
    for finding in findings:
        claim = finding.claim
        for group, verdict in zip(GROUPS, finding.verdicts, strict=True):
            if verdict is not None:
                row = [
                    verdict.word,
                    verdict.held,
                    len(verdict.judged),
                    verdict.unjudged,
                    verdict.lacking_runs,
                ]
                writer.writerow([claim.name, claim.section, claim.text, group, *row])
    return text.getvalue()


def _told(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    return f"{verdict.word} ({verdict.shares()})" if verdict.judged else verdict.word
