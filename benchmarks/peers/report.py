"""Write the tables of docs/evidence/performance.md between the two marks on that page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from charts import LEAD, charts
from f2sl.graph.atomic import write_atomically
from learners import OURS, QUICK, SLOW, names
from results import Cell, Results

DOCS = Path(__file__).parents[2] / "docs" / "evidence"
BEGIN, END = "<!-- tables of benchmarks/peers: begin -->", "<!-- tables of benchmarks/peers: end -->"
LARGE = 150
"""From so many variables on it is told how far F2SL-c is ahead."""


def write_report(results: Results) -> None:
    """Write the tables into docs/evidence/performance.md, and the charts beside it."""
    page = DOCS / "performance.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{page} has no place for the tables, between {BEGIN!r} and {END!r}")
    tables = "\n\n".join(_parts(results))
    write_atomically(page, f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}")
    for name, drawn in charts(results.cells):
        write_atomically(DOCS / "images" / name, drawn)


def _parts(results: Results) -> Iterator[str]:
    cells = results.cells
    yield textwrap.fill(_setting(results), 120)
    yield textwrap.fill(
        f"F2SL-c beside the fastest peer on networks of {LARGE} variables or more: seconds, in brackets "
        "those of all cores together, which other programs disturb less:",
        120,
    )
    yield _lead(cells)
    yield textwrap.fill(
        "MMPC and MMHC beside PyBNesian's: seconds, and in brackets F1 of the skeleton. MMPC-i and MMHC-i "
        "are f2sl's with PyBNesian's rule for tests with too few samples: they say "
        "that the variables are independent:",
        120,
    )
    yield _same_algorithms(cells)
    for rows in sorted({cell["rows"] for cell in cells}):
        here = [cell for cell in cells if cell["rows"] == rows]
        yield f"### {rows:,} rows"
        yield f"![Seconds against Ar_F1, {rows:,} rows](images/peers-accuracy-{rows}.svg)"
        yield "Seconds:"
        yield _table(here, lambda cell: _seconds(cell["seconds"]))
        yield "SHD and Ar_F1, both as the F2SL paper counts:"
        yield _table(here, lambda cell: f"{cell['shd']:,}, {cell['f1']:.2f}")
        yield "Megabytes at the peak, above what the process had before learning and in all:"
        yield _table(here, lambda cell: f"{cell['above_mb']:,.0f}, {cell['peak_mb']:,.0f}")
    yield _failures(cells)


def _setting(results: Results) -> str:
    machine, versions = results.heads[0]["machine"], results.heads[0]["versions"]
    measured = [cell for cell in results.cells if "load" in cell]
    loads = sorted(cell["load"] for cell in measured)
    days = sorted({cell["date"][:10] for cell in measured})
    told = ", ".join(f"{package} {number}" for package, number in versions.items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory'] / 2**30:.0f} GB, "
        f"{machine['system']}; {told}. Measured on {' and '.join(dict.fromkeys((days[0], days[-1])))}; the "
        f"load average before a learner started, of the one before it or of others, was {loads[0]:.1f} to "
        f"{loads[-1]:.1f}, half of the times above {loads[len(loads) // 2]:.1f}."
    )


def _lead(cells: list[Cell]) -> str:
    """Compare F2SL-c with the fastest peer on every large network."""
    lines = [
        "| network | variables | rows | F2SL-c | fastest peer | it takes | times | by cores | Ar_F1 |",
        "| --- | ---: | ---: | --- | --- | --- | ---: | ---: | --- |",
    ]
    for own in sorted(cells, key=lambda cell: (cell["rows"], cell["variables"])):
        if own["learner"] != LEAD or own["variables"] < LARGE or "seconds" not in own:
            continue
        place = (own["network"], own["rows"])
        here = [cell for cell in cells if (cell["network"], cell["rows"]) == place and "seconds" in cell]
        peers = [cell for cell in here if not cell["learner"].startswith(OURS)]
        if peers:
            best = min(peers, key=lambda cell: cell["seconds"])
            times, by_cpu = (best[kind] / own[kind] for kind in ("seconds", "cpu_seconds"))
            lines.append(
                f"| {own['network']} | {own['variables']:,} | {own['rows']:,} | {_both(own)} | "
                f"{best['learner']} | {_both(best)} | {times:.1f} | {by_cpu:.1f} | "
                f"{own['f1']:.2f}, {best['f1']:.2f} |"
            )
    return "\n".join(lines)


def _same_algorithms(cells: list[Cell]) -> str:
    """Compare the max-min learners: seconds and F1 of the skeleton."""
    learners = [f"{OURS} MMPC", f"{OURS} MMPC-i", "PyBNesian MMPC"]
    learners += [f"{OURS} MMHC", f"{OURS} MMHC-i", "PyBNesian MMHC"]
    by_place = {(cell["network"], cell["rows"], cell["learner"]): cell for cell in cells}
    lines = [
        f"| network | rows | {' | '.join(learners)} |",
        f"| --- | ---: | {'--- | ' * len(learners)}".rstrip(),
    ]
    for rows, _, network in sorted({(cell["rows"], cell["variables"], cell["network"]) for cell in cells}):
        here = [by_place.get((network, rows, learner)) for learner in learners]
        shown = [
            _shown(cell, lambda c: f"{_seconds(c['seconds'])} ({c['skeleton_f1']:.2f})") for cell in here
        ]
        lines.append(f"| {network} | {rows:,} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _both(cell: Cell) -> str:
    return f"{_seconds(cell['seconds'])} ({_seconds(cell['cpu_seconds'])})"


def _table(cells: list[Cell], figure: Callable[[Cell], str]) -> str:
    networks = [network for _, network in sorted({(cell["variables"], cell["network"]) for cell in cells})]
    by_place = {(cell["learner"], cell["network"]): cell for cell in cells}
    lines = [f"| learner | {' | '.join(networks)} |", f"| --- | {' | '.join(['---:'] * len(networks))} |"]
    for learner in sorted(names(QUICK) + names(SLOW), key=lambda name: not name.startswith(OURS)):
        if any(learner == cell["learner"] for cell in cells):
            shown = [_shown(by_place.get((learner, network)), figure) for network in networks]
            lines.append(f"| {learner} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _shown(cell: Cell | None, figure: Callable[[Cell], str]) -> str:
    if cell is None:
        return ""
    if "stopped" in cell:
        return f"> {cell['stopped']:g} s"
    if "over memory" in cell:
        return f"> {cell['over memory'] / 2**30:g} GB"
    if "failed" in cell:
        return "fails"
    return "not run" if "not run" in cell else figure(cell)


def _seconds(seconds: float) -> str:
    if seconds >= 100:
        return f"{seconds:,.0f}"
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.3g}"


def _failures(cells: list[Cell]) -> str:
    """Return why learners failed, those with the same reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if "failed" in cell:
            where = f"{cell['network']} at {cell['rows']:,} rows"
            reasons.setdefault((cell["learner"], cell["failed"]), []).append(where)
    if not reasons:
        return "No learner failed."
    told = [f"- {learner} on {', '.join(where)}: `{why}`" for (learner, why), where in reasons.items()]
    return "Failures:\n\n" + "\n".join(told)
