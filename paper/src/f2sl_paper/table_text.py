"""Tables as Markdown, CSV and LaTeX, and claims as Markdown and CSV."""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from collections.abc import Iterable

from f2sl_paper.claims import GROUPS, ON_SECONDS, Finding, Verdict
from f2sl_paper.table_model import Column, Entry, Table


def spread(column: Column, entry: Entry) -> str:
    """Format our figure: mean ± deviation, "-" if over a limit, empty if not run.

    Examples
    --------
    >>> from f2sl_paper.paper import Figure
    >>> spread(Column("SHD", "shd"), Entry("done", Figure(41.4, 0.516)))
    '41.40 ± 0.52'
    """
    if entry.state != "done" or entry.figure is None:
        return {"limit": "-", "failed": "failed"}.get(entry.state, "")
    mean, deviation = entry.figure
    if math.isnan(deviation):
        return column.written(mean)
    return f"{column.written(mean)} ± {deviation:,.{column.decimals(mean)}f}"


def beside(column: Column, entry: Entry) -> str:
    """Write the paper's mean and how far ours is from it.

    Examples
    --------
    >>> from f2sl_paper.paper import Figure
    >>> beside(Column("SHD", "shd"), Entry("done", Figure(42.0, 0.5), paper=Figure(41.4, 0.52)))
    '41.40, +0.60'
    """
    if entry.paper is None:
        return "-" if entry.paper_state == "limit" else ""
    theirs = column.printed(entry.paper.mean)
    compared = compared_with_paper(column, entry)
    return f"{theirs}, {compared}" if compared else theirs


def compared_with_paper(column: Column, entry: Entry) -> str:
    """Write the difference of ours from the paper's; for seconds, their ratio."""
    if entry.figure is None or entry.paper is None or entry.difference is None:
        return ""
    if column.form == "seconds":
        ratio = entry.paper.mean / entry.figure.mean if entry.figure.mean else 0.0
        return f"{column.written(ratio)}×" if ratio else ""
    text = column.written(abs(entry.difference))
    if not re.search("[1-9]", text):
        return text
    return f"−{text}" if entry.difference < 0 else f"+{text}"


def markdown(table: Table) -> str:
    """Write a table as Markdown, its notes below."""
    heads = [*table.heads, *(column.head for column in table.columns)]
    aligned = ["---"] * len(table.heads) + ["---:"] * len(table.columns)
    lines = [f"# Table {table.number}. {escaped_markdown(table.title)}", ""]
    lines += [markdown_row(map(escaped_markdown, heads)), markdown_row(aligned)]
    for row in table.rows:
        entries = [
            _markdown_entry(column, entry) for column, entry in zip(table.columns, row.entries, strict=True)
        ]
        lines.append(markdown_row([*map(escaped_markdown, row.heads), *entries]))
    for note in table.notes:
        lines += ["", textwrap.fill(escaped_markdown(note), 120, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def markdown_row(cells: Iterable[str]) -> str:
    """Write a row of a table."""
    return f"| {' | '.join(cells)} |"


def _markdown_entry(column: Column, entry: Entry) -> str:
    ours, theirs = escaped_markdown(spread(column, entry)), beside(column, entry)
    ours = f"**{ours}**" if entry.best else ours
    return " ".join(filter(None, (ours + (r"\*" if entry.star else ""), f"({theirs})" if theirs else "")))


def escaped_markdown(text: str) -> str:
    r"""Escape characters that have a meaning in Markdown.

    Examples
    --------
    >>> print(escaped_markdown("a|b_c*"))
    a\|b\_c\*
    """
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)


def comma_separated(table: Table) -> str:
    """Write a table as CSV: for each column ours, its deviation, the paper's, the difference and marks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = ("", "_sd", "_state", "_paper", "_paper_sd", "_difference", "_best", "_star")
    writer.writerow(
        [
            *(head.lower().replace(" ", "_") for head in table.heads),
            *(column.key + part for column in table.columns for part in parts),
        ]
    )
    for row in table.rows:
        writer.writerow([*row.heads, *(field for entry in row.entries for field in _fields(entry))])
    return text.getvalue()


def _fields(entry: Entry) -> list[str]:
    ours = entry.figure if entry.state == "done" else None
    numbers = [
        ours and ours.mean,
        ours and ours.deviation,
        entry.paper and entry.paper.mean,
        entry.paper and entry.paper.deviation,
        entry.difference,
    ]
    mean, deviation, *rest = ["" if n is None or math.isnan(n) else f"{n:.6g}" for n in numbers]
    return [mean, deviation, entry.state, *rest, str(int(entry.best)), str(int(entry.star))]


def latex(table: Table) -> str:
    """Write a table as LaTeX; it asks for graphicx, and for no other package."""
    heads = [*table.heads, *(column.head for column in table.columns)]
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        rf"\caption{{{_in_latex(table.title)}}}",
        rf"\label{{tab:f2sl-{table.name}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{{'l' * len(table.heads)}{'r' * len(table.columns)}}}",
        r"\hline",
        " & ".join(map(_in_latex, heads)) + r" \\\hline",
    ]
    for block in table.blocks:
        for row in block:
            entries = [
                _latex_entry(column, entry) for column, entry in zip(table.columns, row.entries, strict=True)
            ]
            lines.append(" & ".join([*map(_in_latex, row.heads), *entries]) + r" \\")
        lines.append(r"\hline")
    lines += [r"\end{tabular}}", r"\par\smallskip\raggedright\footnotesize"]
    lines += [_in_latex(note) + r"\par" for note in table.notes]
    return "\n".join([*lines, r"\end{table*}"]) + "\n"


def _latex_entry(column: Column, entry: Entry) -> str:
    ours, theirs = _in_latex(spread(column, entry)), _in_latex(beside(column, entry))
    ours = rf"\textbf{{{ours}}}" if entry.best else ours
    ours += "$^{*}$" if entry.star else ""
    return " ".join(filter(None, (ours, f"({theirs})" if theirs else "")))


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def _in_latex(text: str) -> str:
    r"""Escape characters that have a meaning in LaTeX.

    Examples
    --------
    >>> print(_in_latex("10 % & a_b"))
    10 \% \& a\_b
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def claims_markdown(findings: list[Finding]) -> str:
    """Write each claim with its verdicts in one row of a table."""
    lines = ["# The claims of section 6", "", markdown_row(["Section", "Claim", *GROUPS])]
    lines.append(markdown_row(["---"] * (2 + len(GROUPS))))
    for finding in findings:
        cells = [finding.claim.section, finding.claim.text, *map(_verdict, finding.verdicts)]
        lines.append(markdown_row(map(escaped_markdown, cells)))
    return "\n".join([*lines, "", ON_SECONDS]) + "\n"


def claims_csv(findings: list[Finding]) -> str:
    """Write a row for each claim and group of figures that it was tested on."""
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


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    return f"{verdict.word} ({verdict.shares()})" if verdict.judged else verdict.word
