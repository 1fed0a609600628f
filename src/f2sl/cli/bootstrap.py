"""``f2sl bootstrap``: measure the confidence of each edge by resampling."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.compare import metrics
from f2sl.cli.files import check_outputs, load_any_graph, save_picture
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import (
    POSTPONED,
    Algorithm,
    AsJson,
    Picture,
    Quiet,
    Truth,
    create_learner,
    out_file,
    records,
    texts,
    with_learner_options,
)
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.cli.reading import TableOptions, with_reading_options
from f2sl.cli.summary import Edge, as_lists, strongest_edges
from f2sl.errors import Interrupted, printable

if TYPE_CHECKING:
    from f2sl.confidence import Confidence
    from f2sl.graph import Comparison

RESAMPLING = "Resampling"
EXAMPLES = examples(
    "f2sl bootstrap data.csv --out confidence.json",
    "f2sl bootstrap data.csv --algorithm f2sl-c --replicates 500 --random-state 1 --out c.json --resume",
    "f2sl bootstrap data.csv --method subsample --threshold 0.9 --out graph.graphml --plot graph.svg",
    "f2sl bootstrap data.csv --scheduler tcp://host:8786 --out confidence.json",
)


@with_learner_options
@with_reading_options
def bootstrap(
    reading: TableOptions,
    options: dict[str, Any],
    replicates: Annotated[int, typer.Option(help="Number of replicates.", rich_help_panel=RESAMPLING)] = 200,
    random_state: Annotated[
        int, typer.Option(help="Random seed of the resampling.", rich_help_panel=RESAMPLING)
    ] = 0,
    method: Annotated[
        str,
        typer.Option(
            help="Learn from as many rows, drawn with replacement (bootstrap), or from halves of the rows "
            "(subsample); subsample with --threshold gives a bound on false edges.",
            rich_help_panel=RESAMPLING,
        ),
    ] = "bootstrap",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Smallest confidence of an edge in the averaged graph; estimated by default.",
            rich_help_panel=RESAMPLING,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue from the replicates stored in --out.", rich_help_panel=RESAMPLING
        ),
    ] = False,
    algorithm: Algorithm = "f2sl-h",
    out: Annotated[
        Path | None,
        out_file(
            "Save the confidences (.json), or the averaged graph with confidences as weights (.csv, "
            ".dot, .graphml or .gml)."
        ),
    ] = None,
    picture: Picture = None,
    truth: Truth = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure the confidence of each edge by resampling: how often it is learned, in each direction.

    Finished replicates are stored; with --resume an interrupted command continues from them.
    """
    started = time.perf_counter()
    check_outputs([reading.location, truth], graph=out, picture=picture)
    reading.check()
    from f2sl.confidence.bootstrap import bootstrap as run
    from f2sl.confidence.bootstrap import problems
    from f2sl.data.open import open_for
    from f2sl.graph import PDAG, compare
    from f2sl.learners.registries import STRUCTURE

    POSTPONED.extend(problems(replicates, random_state, method, threshold, reading.jobs, out, resume))
    learner, algorithm = create_learner(STRUCTURE, algorithm, options, reading.given)
    true_graph = None if truth is None else load_any_graph(truth)
    given: dict[str, Any] = {
        "n_jobs": reading.jobs,
        "scheduler": reading.given["scheduler"],
        "out": out,
        "resume": resume,
    }
    if reading.given["engine"] == "dask" and reading.given["scheduler"] is None:
        given["engine"] = "dask"
    if out is not None:
        interrupts.keeping("--resume continues from the finished replicates")
    how = reading.for_resampling().options()
    with (
        output.progress(quiet),
        open_for(learner._takes, algorithm, reading.data, reading.jobs, **how) as opened,
    ):
        table = reading.noted(opened)
        if true_graph is not None:
            compare(true_graph, PDAG(table.names))  # other variables than the truth: better reported now
        try:
            found = run(table, learner, replicates, random_state, method, threshold, **given)
        except Interrupted as error:
            found = error.finished
            interrupts.put_off()
            if not found.n_replicates:
                raise KeyboardInterrupt from None
            kept = (
                "they are not stored without --out"
                if out is None
                else f"{printable(out)} has them; --resume continues"
            )
            message = f"{found.n_replicates:,} of {found.replicates:,} replicates were finished"
            interrupts.keeping(f"{message}; {kept}")
    comparison = None if true_graph is None else compare(true_graph, found)
    if picture is not None:
        save_picture(found.graph, picture)
    if as_json:
        output.show_json(_facts(found, algorithm, out, picture, comparison))
    elif not quiet:
        _show(found, algorithm, out, picture, time.perf_counter() - started)
        if comparison is not None:
            output.show(metrics(f"\nCompared with {printable(str(truth))}", comparison))
    elif not found.complete:
        output.note_incomplete(texts(found.notes))


def _facts(
    found: Confidence,
    algorithm: str,
    out: Path | None,
    picture: Path | None,
    comparison: Comparison | None,
) -> dict[str, Any]:
    """Return the summary for programs; all keys are present, null where nothing applies."""
    return {
        "algorithm": algorithm,
        "options": found.asked["options"],
        "method": found.asked["method"],
        "random_state": found.asked["random_state"],
        "rows": found.asked["rows"],
        "variables": len(found.nodes),
        "replicates": found.replicates,
        "finished": found.n_replicates,
        "complete": found.complete,
        "threshold": found.threshold,
        "estimated": found.estimated,
        "false_edges": found.false_edges,
        "pairs": len(found.pairs),
        "notes": records(found.notes),
        "out": None if out is None else str(out),
        "picture": None if picture is None else str(picture),
        "comparison": None if comparison is None else comparison.as_dict(),
        "strongest": [vars(edge) for edge in strongest_edges(found.graph)],
        "below_threshold": [vars(edge) for edge in _below(found)],
        "graph": as_lists(found.graph),
    }


def _below(found: Confidence, most: int = 5) -> list[Edge]:
    """Return the most often adjacent pairs outside the averaged graph; ties are sorted by name."""
    adjacent = {frozenset(pair) for pair in (*found.graph.directed_edges, *found.graph.undirected_edges)}
    rest = sorted((-share, pair) for pair, share in found.by_pair.items() if frozenset(pair) not in adjacent)
    return [Edge(*pair, False, -share) for share, pair in rest[:most]]


def _show(
    found: Confidence,
    algorithm: str,
    out: Path | None,
    picture: Path | None,
    seconds: float,
) -> None:
    """Print the summary for people."""
    graph, asked = found.graph, found.asked
    how = "estimated from the shares of all pairs; --threshold sets it" if found.estimated else "as given"
    done = f"{found.n_replicates:,} of {found.replicates:,} replicates"
    done = count(found.replicates, "replicate") if found.complete else f"INCOMPLETE: {done}"
    lines = [
        ("Read", f"{count(asked['rows'], 'row')}, {count(len(found.nodes), 'variable')}"),
        *(("Note", printable(note)) for note in texts(found.notes)),
        *([("Knowledge", printable(str(found.knowledge)))] if found.knowledge else []),
        ("Learned", f"{done} by {algorithm} ({asked['method']}, seed {asked['random_state']})"),
        ("Adjacent", f"{count(len(found.pairs), 'pair')} at least once"),
        ("Threshold", f"{found.threshold:g}: edges in at least this share of replicates are kept ({how})"),
        (
            "Graph",
            f"{count(graph.n_edges, 'edge')}: {len(graph.directed_array):,} directed, "
            f"{len(graph.undirected_array):,} undirected",
        ),
    ]
    if found.false_edges is not None:
        lines.append(("False edges", f"at most {found.false_edges:.2f} expected"))
    lines.append(("Time", f"{seconds:.2f} s"))
    lines += [
        (label, printable(path)) for label, path in (("Saved", out), ("Drawn", picture)) if path is not None
    ]
    output.show(output.pairs(lines))
    edges, below = strongest_edges(graph), _below(found)
    which = "Edges" if len(edges) == graph.n_edges else f"The first {len(edges)} of {graph.n_edges:,} edges"
    for title, some in ((which, edges), ("The strongest below the threshold, not in the graph", below)):
        rows = [
            (
                str(edge),
                f"{edge.weight:.3f}",
                f"{found.of(edge.source, edge.target, directed=True):.3f}",
                f"{found.of(edge.target, edge.source, directed=True):.3f}",
            )
            for edge in some
        ]
        if rows:
            title = f"\n{title}, by confidence (shares of the replicates)"
            output.show(output.columns(title, ("edge", "found", "->", "<-"), rows, right=[1, 2, 3]))
