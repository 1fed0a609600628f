"""Measure how well confidence tells right edges and directions from wrong ones.

    python benchmarks/confidence.py                      # goes on where it was; about 15 minutes on two cores
    python benchmarks/confidence.py --networks alarm,child --replicates 20 --results few.jsonl
    python benchmarks/confidence.py --speed              # replicates beside single fits
    python benchmarks/confidence.py --report             # docs/evidence/confidence.md and its charts

The ten networks of the accuracy benchmark with 1,000 rows, columns shuffled and variables renamed. Beside the
confidence of all replicates stands the strength of the edges in one fit to all rows. An edge is right if the
true graph has it, a direction if all DAGs of the true graph's equivalence class have it. Each result is
stored at once.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

import f2sl
from comparing.data import NETWORKS, draw, network_of
from comparing.page import put
from f2sl._threads import resolve_jobs
from f2sl.errors import F2SLWarning
from f2sl.learners.registries import STRUCTURE
from f2sl.learners.resample import METHODS, Resampling
from f2sl_paper.figures import FAINT, as_svg, look
from f2sl_paper.harness.job import DONE, Ended
from f2sl_paper.harness.lines import Lines, claimed_results

LEARNERS = ("f2sl-h", "f2sl-c")
ROWS, DATA_SET = 1000, 1
BINS = np.linspace(0, 1, 11)
RECALLS = np.linspace(0, 1, 101)
RESULTS = Path(__file__).parent / "results" / "confidence.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "confidence.md"


class Key(NamedTuple):
    """One learner with one way of resampling on one network."""

    network: str
    learner: str
    method: str
    replicates: int


def precision_recall(values: np.ndarray, right: np.ndarray, n_true: int) -> tuple[float, list[float]]:
    """Return the area under precision-recall, and the best precision at or beyond each of `RECALLS`.

    Values that are equal come together; what has none is never found.
    """
    order = np.argsort(-values, kind="stable")
    last = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1) if len(values) else []
    found = np.cumsum(right[order])[last] if len(values) else np.empty(0)
    precision, recall = found / (np.asarray(last) + 1), found / max(1, n_true)
    area = float((np.diff(recall, prepend=0) * precision).sum())
    beyond = [float(precision[recall >= at - 1e-12].max(initial=0.0)) for at in RECALLS]
    return area, beyond


def ranked(found: dict[tuple[str, str], float], truth: set[tuple[str, str]]) -> tuple[float, list[float]]:
    """Return the same of values by pair."""
    values = np.array(list(found.values()), np.float64)
    return precision_recall(values, np.array([pair in truth for pair in found], bool), len(truth))


def as_pairs(edges: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(min(edge), max(edge)) for edge in edges}


def measured(key: Key) -> dict[str, Any]:
    """Learn once and from resampled rows, and compare both with the truth."""
    data = draw(network_of(key.network), ROWS, DATA_SET)
    table = f2sl.open_table(data.frame)
    edges, compelled = as_pairs(data.truth.directed_edges), set(data.truth.to_cpdag().directed_edges)
    single = STRUCTURE.create(key.learner, {}).fit(table)
    fit_seconds = single.timings_["total"]
    started = time.perf_counter()
    found = f2sl.bootstrap(table, key.learner, key.replicates, method=key.method)
    seconds = time.perf_counter() - started
    shown = single.graph_
    strengths = {edge: abs(weight) for edge, weight in (shown.weights or {}).items()}
    directed = set(shown.directed_edges)
    pairs = [(found.nodes[a], found.nodes[b]) for a, b in found.pairs.tolist()]
    shares = found.counts / found.n_replicates
    both = [
        *zip(pairs, shares[:, 0].tolist(), strict=True),
        *zip([pair[::-1] for pair in pairs], shares[:, 1].tolist(), strict=True),
    ]
    rankings = {
        "edges": (
            {(min(p), max(p)): s for p, s in zip(pairs, found.confidences.tolist(), strict=True)},
            edges,
        ),
        "edges of one fit": ({(min(p), max(p)): s for p, s in strengths.items()}, edges),
        "directions": ({arrow: share for arrow, share in both if share}, compelled),
        "directions of one fit": ({p: s for p, s in strengths.items() if p in directed}, compelled),
    }
    measures: dict[str, Any] = {"fit seconds": fit_seconds, "replicates seconds": seconds}
    for name, (values, truth) in rankings.items():
        measures[f"area, {name}"], measures[f"curve, {name}"] = ranked(values, truth)
    right = np.array([tuple(sorted(pair)) in edges for pair in pairs], bool)
    place = np.minimum(np.digitize(found.confidences, BINS[1:-1] - 1e-9, right=True), len(BINS) - 2)
    measures["in bin"] = np.bincount(place, minlength=len(BINS) - 1).tolist()
    measures["right in bin"] = np.bincount(place[right], minlength=len(BINS) - 1).tolist()
    measures["threshold"] = found.threshold
    measures["shd"] = f2sl.compare(data.truth, found).shd
    measures["shd of one fit"] = f2sl.compare(data.truth, single).shd
    measures["edges kept"] = found.graph.n_edges
    measures["false edges"] = found.graph.n_edges - len(edges & as_pairs(_edges(found.graph)))
    return measures


def _edges(graph: f2sl.PDAG) -> list[tuple[str, str]]:
    return [*graph.directed_edges, *graph.undirected_edges]


# -- the page ------------------------------------------------------------------------


def table_of(results: dict[Key, dict[str, Any]], learner: str, method: str) -> str:
    """Lay out the results of one learner with one method."""
    head = (
        "| network | edges: confidence | one fit | directions: confidence | one fit "
        "| SHD of CPDAGs: averaged | one fit | edges kept | false |"
    )
    names = ("area, edges", "area, edges of one fit", "area, directions", "area, directions of one fit")
    names += ("shd", "shd of one fit", "edges kept", "false edges")
    rows = {key.network: found for key, found in results.items() if key[1:3] == (learner, method)}
    rows = {network: rows[network] for network in NETWORKS if network in rows}
    columns = [[found[name] for found in rows.values()] for name in names]
    lines = [head, "| --- |" + " ---: |" * len(names)]
    cells = {network: [found[name] for name in names] for network, found in rows.items()}
    cells["mean"] = [fmean(v for v in column if v is not None) for column in columns]
    for network, values in cells.items():
        shown = [
            f"{value:.3f}" if place < 4 else f"{value:.1f}" if network == "mean" else f"{value}"
            for place, value in enumerate(values)
        ]
        lines.append(f"| {network} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def chart_of_bins(results: dict[Key, dict[str, Any]]) -> str:
    """Draw the share of true edges by confidence, of all networks together."""

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8)
        for label, keys in series(results):
            all_edges, true = (
                np.sum([results[k][m] for k in keys], axis=0) for m in ("in bin", "right in bin")
            )
            there = all_edges > 0
            middle = (BINS[:-1] + BINS[1:])[there] / 2
            axes.plot(middle, true[there] / all_edges[there], marker="o", markersize=3, label=label)
        axes.set_xlabel("confidence of an edge")
        axes.set_ylabel("share of these edges that are true")

    return drawn("reliability", [draw])


def chart_of_curves(results: dict[Key, dict[str, Any]]) -> str:
    """Draw precision by recall, the mean of all networks; 0 where no list of edges goes that far."""

    def draw(axes: Any, what: str) -> None:
        for learner in LEARNERS:
            own = [(label, keys) for label, keys in series(results) if keys[0].learner == learner]
            for label, keys in own:
                axes.plot(RECALLS, np.mean([results[k][f"curve, {what}"] for k in keys], axis=0), label=label)
            for _, keys in own[:1]:
                curve = np.mean([results[k][f"curve, {what} of one fit"] for k in keys], axis=0)
                axes.plot(RECALLS, curve, "--", label=f"{learner}, strength in one fit")
        axes.set_xlabel(f"recall of {what}")
        axes.set_ylabel("precision")

    return drawn("precision", [lambda axes: draw(axes, "edges"), lambda axes: draw(axes, "directions")])


def drawn(name: str, panels: Sequence[Callable[[Any], None]]) -> str:
    """Draw panels side by side with one legend below; the same results give the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with look(name, 9.0):
        figure = Figure(figsize=(3.8 * len(panels) + 0.4, 4.2), facecolor="none", layout="constrained")
        FigureCanvasAgg(figure)
        for place, draw in enumerate(panels, start=1):
            axes = figure.add_subplot(1, len(panels), place, facecolor="none")
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1.02)
            axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
            draw(axes)
        handles = axes.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=2 * len(panels) - 1, frameon=False)
        return as_svg(figure)


def series(results: dict[Key, dict[str, Any]]) -> list[tuple[str, list[Key]]]:
    """Group the results by learner and method."""
    groups = [(learner, method) for learner in LEARNERS for method in METHODS]
    found = [(", ".join(group), [key for key in results if key[1:3] == group]) for group in groups]
    return [(label, keys) for label, keys in found if keys]


def write_page(results: dict[Key, dict[str, Any]]) -> None:
    """Bring the page and its charts up to date; all results have the same number of replicates."""
    text = PAGE.read_text(encoding="utf-8")
    parts = []
    for label, keys in series(results):
        learner, method = keys[0][1:3]
        parts.append(f"{label}, {keys[0].replicates} replicates:\n\n{table_of(results, learner, method)}")
    PAGE.write_text(put(text, "results", "\n".join(parts)), encoding="utf-8")
    for name, chart in (("reliability", chart_of_bins), ("precision", chart_of_curves)):
        (PAGE.parent / "images" / f"confidence-{name}.svg").write_text(chart(results), encoding="utf-8")


# -- speed ---------------------------------------------------------------------------


def speed(replicates: int) -> None:
    """Print how many single fits the replicates take, and as many single fits one after another."""
    cases: Sequence[tuple[str, str, Callable[[], Any]]] = (
        ("f2sl-h", "alarm", lambda: f2sl.load_network("alarm").sample(ROWS, random_state=1)),
        ("f2sl-c", "gene-like", lambda: f2sl.load_network("gene-like").sample(ROWS, random_state=1)),
    )
    for learner, network, sample in cases:
        frame = sample()
        table = f2sl.open_table(frame)
        from_frame, from_table = (single_fit(learner, data) for data in (frame, table))
        started = time.perf_counter()
        for _ in range(replicates):
            STRUCTURE.create(learner, {}).fit(frame)
        loop = time.perf_counter() - started
        print(
            f"{learner} on {network}: one warm fit {from_frame * 1000:.1f} ms, of which "
            f"{(from_frame - from_table) * 1000:.1f} reading; {replicates} in a loop {loop:.2f} s"
        )
        for method in METHODS:
            started = time.perf_counter()
            f2sl.bootstrap(frame, learner, replicates, method=method)
            seconds = time.perf_counter() - started
            times = f"{seconds / from_frame:.0f} fits, {seconds / from_table:.0f} of the opened table"
            print(f"  {replicates} replicates, {method}, in processes: {seconds:.2f} s, {times}")
            seconds = in_threads(learner, table, replicates, method)
            print(f"  {replicates} replicates, {method}, in threads: {seconds:.2f} s")
            one, *fits = processor_times(learner, frame, table, method)
            times = f"{one / fits[0]:.2f} fits, {one / fits[1]:.2f} of the opened table"
            print(f"  processor time of one: {one * 1000:.1f} ms, {times}", flush=True)


def in_threads(learner: str, table: Any, replicates: int, method: str) -> float:
    """Time the same replicates in as many threads as `bootstrap` starts processes."""
    resampling = Resampling(STRUCTURE.create(learner, {"n_jobs": 1}), table.names, method, random_state=0)
    started = time.perf_counter()
    with ThreadPoolExecutor(resolve_jobs(None)) as pool:
        list(pool.map(lambda number: resampling.run(table, number), range(replicates)))
    return time.perf_counter() - started


def processor_times(learner: str, frame: Any, table: Any, method: str, rounds: int = 20) -> list[float]:
    """Return the mean processor time of a replicate, and of fits of the frame and of the opened table.

    All on one core, in turn, so that what else the machine does slows all of them alike.
    """
    one_core = {"n_jobs": 1}
    resampling = Resampling(STRUCTURE.create(learner, one_core), table.names, method, random_state=0)
    work: list[Callable[[int], Any]] = [
        lambda number: resampling.run(table, number),
        lambda _: STRUCTURE.create(learner, one_core).fit(frame),
        lambda _: STRUCTURE.create(learner, one_core).fit(table),
    ]
    seconds = np.zeros((rounds + 1, len(work)))
    for number in range(rounds + 1):
        for place, do in enumerate(work):
            started = time.process_time()
            do(number)
            seconds[number, place] = time.process_time() - started
    return seconds[1:].mean(axis=0).tolist()


def single_fit(learner: str, data: Any) -> float:
    """Return the median of ten fits, in seconds, after a first one."""
    fits = []
    for _ in range(11):
        started = time.perf_counter()
        STRUCTURE.create(learner, {}).fit(data)
        fits.append(time.perf_counter() - started)
    return sorted(fits[1:])[5]


def listed(text: str) -> list[str]:
    return text.split(",")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=listed, default=list(NETWORKS))
    parser.add_argument("--learners", type=listed, default=list(LEARNERS))
    parser.add_argument("--methods", type=listed, default=list(METHODS))
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true", help="write the page from what is there")
    parser.add_argument("--speed", action="store_true", help="measure replicates beside single fits")
    options = parser.parse_args()
    warnings.simplefilter("ignore", F2SLWarning)
    if options.speed:
        speed(200)
        return 0
    with claimed_results(options.results):
        lines: Lines[Key] = Lines(options.results, Key)
        if options.report:
            write_page({k: found for k, found in lines.results.items() if k.replicates == options.replicates})
            return 0
        for learner in options.learners:
            for method in options.methods:
                for network in options.networks:
                    key = Key(network, learner, method, options.replicates)
                    if key not in lines.results:
                        started = time.perf_counter()
                        measures = measured(key)
                        lines.keep([Ended(key, DONE, "", time.perf_counter() - started, None, measures)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
