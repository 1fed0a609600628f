"""Tables and figures as HTML; all text from data is escaped."""

from __future__ import annotations

import re
from html import escape

from f2sl_paper.figures import FAINT, INK, Picture
from f2sl_paper.table_model import Column, Entry, Row, Table
from f2sl_paper.table_text import compared_with_paper, spread


def table_html(table: Table) -> str:
    """Write a table: a group of rows for each block, sorted by a click on a head, within its groups."""
    grouped = "Algorithm" in table.heads
    side = [head for head in table.heads if head in ("Data", "Data sets")]
    first = "Algorithm" if grouped else table.heads[0]
    heads = [
        _head(first, "sticky"),
        *(_head(column.label, "number", column.under) for column in table.columns),
        *(_head(head) for head in side),
    ]
    run: list[str] = []
    not_run: dict[str, str] = {}
    for block in table.blocks:
        rows = "".join(_row(table, row, first, side) for row in block)
        if grouped and block:
            rows = _group(table, block, len(heads)) + rows
        if any(entry.state != "empty" for row in block for entry in row.entries):
            run.append(rows)
        elif block:
            not_run[block[0].heads[0]] = rows
    name = f"table-{table.number}"
    caption = f"Table {table.number}. {escape(table.title)}"
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    links = ", ".join(
        f'<a href="tables/{table.stem}.{suffix}">{label}</a>'
        for suffix, label in (("md", "Markdown"), ("csv", "CSV"), ("tex", "LaTeX"))
    )
    folded = ""
    if not_run:
        inside = _sortable(name, heads, list(not_run.values()), grouped)
        folded = f"<details><summary>Not run: {escape(', '.join(not_run))}</summary>{inside}</details>"
    return (
        f'<section aria-labelledby="{name}"><h3 id="{name}">{caption}</h3>'
        f"{_sortable(name, heads, run, grouped)}{folded}"
        f'<ul class="notes">{notes}<li>The same as {links}.</li></ul></section>'
    )


def _sortable(name: str, heads: list[str], blocks: list[str], grouped: bool) -> str:
    """Write rows below their heads, if there are any; a click sorts within groups, or all that have none."""
    if not blocks:
        return ""
    bodies = "".join(f"<tbody>{rows}</tbody>" for rows in (blocks if grouped else ["".join(blocks)]))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{name}"><table class="sortable">'
        f"<thead><tr>{''.join(heads)}</tr></thead>{bodies}</table></div>"
    )


def _head(label: str, look: str = "", under: str = "") -> str:
    attribute = f' class="{look}"' if look else ""
    below = f"<small>{escape(under)}</small>" if under else ""
    button = f'<button type="button">{escape(label)}</button>'
    return f'<th scope="col" aria-sort="none"{attribute}>{button}{below}</th>'


def _group(table: Table, block: tuple[Row, ...], width: int) -> str:
    """Head a group: the network with its source, or the measure."""
    title = block[0].heads[0]
    if "Data" in table.heads:
        place = table.heads.index("Data")
        sources = {row.heads[place]: None for row in block if row.heads[place]}
        title += f" ({', '.join(sources) or 'not run yet'})"
    return f'<tr class="group"><th scope="rowgroup" colspan="{width}"><span>{escape(title)}</span></th></tr>'


def _row(table: Table, row: Row, first: str, side: list[str]) -> str:
    named = dict(zip(table.heads, row.heads, strict=True))
    setting = f"<small>{escape(named['Setting'])}</small>" if "Setting" in named else ""
    cells = [
        f'<th scope="row" class="sticky" data-value="{escape(named[first])}">'
        f"{escape(named[first])}{_references(row)}{setting}</th>"
    ]
    cells += [entry_html(column, entry) for column, entry in zip(table.columns, row.entries, strict=True)]
    for head in side:
        value = f' data-value="{escape(named[head])}"' if named[head] else ""
        cells.append(f'<td class="side"{value}>{escape(named[head])}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _references(row: Row) -> str:
    """Refer to the differences that a row is tied to."""
    links = (f'<a href="#difference-{n}" aria-label="difference {n}">{n}</a>' for n in row.differences)
    return f"<sup>{' '.join(links)}</sup>" if row.differences else ""


def entry_html(column: Column, entry: Entry) -> str:
    """Write an entry: ours, and below it the paper's with the difference."""
    ours = escape(spread(column, entry))
    if entry.best:
        ours = f'<b class="best">{ours}</b>'
    if entry.star:
        ours += '<span class="star" title="far from the paper\'s">*</span>'
    theirs = ""
    if entry.paper is not None:
        compared = compared_with_paper(column, entry)
        brackets = f" ({escape(compared)})" if compared else ""
        theirs = f"<small>paper {column.printed(entry.paper.mean)}{brackets}</small>"
    elif entry.paper_state == "limit":
        theirs = "<small>paper -</small>"
    value = (
        f' data-value="{entry.figure.mean:.9g}"' if entry.figure is not None and entry.state == "done" else ""
    )
    remark = f' title="{escape(entry.remark)}"' if entry.remark else ""
    return f'<td class="number"{value}{remark}>{ours}{theirs}</td>'


def picture_html(picture: Picture) -> str:
    """Embed a picture in a page, with its own names and the page's colours of text and axes."""
    drawing = picture.svg[picture.svg.index("<svg") :]
    for part in ("metadata", "style"):
        drawing = re.sub(rf"<{part}.*?</{part}>", "", drawing, flags=re.DOTALL)
    # The numbers in view are those of the viewBox; the page decides how wide the picture is.
    drawing = re.sub(r'^<svg ([^>]*?)\bwidth="[^"]*"', r"<svg \1", drawing)
    drawing = re.sub(r'^<svg ([^>]*?)\bheight="[^"]*"', r"<svg \1", drawing)
    drawing = re.sub(r'\bid="', f'id="{picture.name}-', drawing)
    drawing = re.sub(r'(url\(#|href="#)', rf"\g<1>{picture.name}-", drawing)
    drawing = drawing.replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    title = escape(picture.title)
    drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
    links = ", ".join(
        f'<a href="figures/{picture.name}.{suffix}">{suffix.upper()}</a>' for suffix in ("svg", "png")
    )
    return f"<figure>{drawing}<figcaption>The same as {links}</figcaption></figure>"
