"""``f2sl learn`` and ``f2sl why``: learn a graph from a table, and explain why two variables are adjacent."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.files import (
    check_outputs,
    load_any_graph,
    save_graph,
    save_page,
    save_picture,
)
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import (
    OUTPUT,
    Algorithm,
    AsJson,
    Picture,
    Quiet,
    Truth,
    create_learner,
    describe_options,
    out_file,
    texts,
    with_learner_options,
)
from f2sl.cli.program import examples
from f2sl.cli.reading import TableOptions, with_reading_options
from f2sl.errors import Interrupted

if TYPE_CHECKING:
    from f2sl.data.table import Table
    from f2sl.view.page import Distributions


LEARN_EXAMPLES = examples(
    "f2sl learn data.csv --out graph.json",
    "f2sl learn data.csv --algorithm f2sl-s --score bic --out graph.dot",
    "f2sl learn data.parquet --alpha 0.05 --edge-cost 2 --jobs 2",
    "f2sl learn data.csv --algorithm f2sl-c --delta auto",
    "f2sl learn alarm.csv --truth alarm",
    "f2sl learn data.csv --out graph.json --plot graph.svg --page page.html",
    "f2sl learn folder/ --engine stream --memory 256MB",
    "f2sl learn folder/ --engine dask --scheduler tcp://host:8786",
    'f2sl learn data.csv --tiers "age,sex > exposure > outcome" --require "exposure -> outcome"',
    "f2sl learn people.csv --drop id --bins age=4 --bins income=5 --missing state --json",
)


@with_learner_options
@with_reading_options
def learn(
    context: typer.Context,
    reading: TableOptions,
    options: dict[str, Any],
    algorithm: Algorithm = "f2sl-h",
    out: Annotated[
        Path | None,
        out_file("Save the graph: .json, .csv, .dot, .graphml, .gml, .dagitty or .modelstring."),
    ] = None,
    picture: Picture = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Save a page to explore the graph in a browser: .html.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    dag: Annotated[
        bool,
        typer.Option(
            "--dag",
            help="Show, save, draw and compare one DAG of the graph, which also directs the edges whose "
            "direction the data do not decide.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    truth: Truth = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn a graph from a table: one row for each sample, one column for each variable.

    Options that you leave out take the algorithm's defaults; f2sl algorithms lists them.
    """
    check_outputs([reading.location, truth], graph=out, picture=picture, page=page)
    reading.check()
    from f2sl.graph import PDAG, compare
    from f2sl.graph.formats import check_holds

    true_graph = None if truth is None else load_any_graph(truth)
    from f2sl.learners.fit import fit_learner
    from f2sl.learners.registries import STRUCTURE

    jobs = {} if reading.jobs is None else {"n_jobs": reading.jobs}
    learner, algorithm = create_learner(STRUCTURE, algorithm, {**options, **jobs}, reading.given)
    opened: list[Table] = []
    shares: Distributions | None = None

    def on_open(table: Table) -> Table:
        if out is not None:
            check_holds(out, [*table.names, *table.merged])
        if true_graph is not None:
            compare(true_graph, PDAG(table.names))  # other variables than the truth: better reported now
        if page is not None:
            from f2sl.view import page as pages

            nonlocal shares
            shares = pages.Distributions.of(table)  # while it is open
        opened.append(reading.noted(table))
        return opened[0]

    with output.progress(quiet):
        try:
            fit_learner(learner, reading.data, reading.options(), algorithm, on_open)
        except Interrupted:
            interrupts.put_off()
    [table] = opened
    graph = learner.dag_ if dag else learner.graph_
    comparison = None if true_graph is None else compare(true_graph, graph)
    if out is not None:
        save_graph(graph, out)  # first, so that the graph is saved even if the rest fails
    if picture is not None:
        save_picture(graph, picture)
    if page is not None:
        title = Path(reading.data).stem if reading.location else "standard input"
        # Tables that are not in memory are closed by now.
        known = table if table.held == "in memory" else shares
        ask = command_to_explain(context)
        called = f"{algorithm} {describe_options(learner)}".rstrip()
        facts = {"ask": ask, "title": title, "learner": called}
        save_page(learner, page, graph=graph, truth=true_graph, data=known, **facts)

    from f2sl.cli.summary import Learned

    learned = Learned(algorithm, reading, table, learner, graph, dag, out, truth, comparison, picture, page)
    if as_json:
        learned.show_json()
    elif not quiet:
        learned.show()
    elif not learner.complete_:
        output.note_incomplete(texts(learner.notes_))


WHY_EXAMPLES = examples(
    "f2sl why data.csv Smoking Cancer",
    "f2sl why data.csv Smoking Cancer --algorithm f2sl-s --score bic",
    "f2sl why data.csv Smoking Cancer --json",
)


@with_learner_options
@with_reading_options
def why(
    *,
    reading: TableOptions,
    options: dict[str, Any],
    algorithm: Algorithm = "f2sl-h",
    a: Annotated[str, typer.Argument(metavar="A", help="First column.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Second column.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Explain why two variables are adjacent in the graph that f2sl learn finds, or why they are not.

    Give the options with which the graph was learned: f2sl learns it again.
    """
    reading.check()
    from f2sl.data.open import open_for
    from f2sl.learners.fit import fit_learner
    from f2sl.learners.registries import STRUCTURE
    from f2sl.view.explain import check_pair, explain_all

    jobs = {} if reading.jobs is None else {"n_jobs": reading.jobs}
    learner, algorithm = create_learner(STRUCTURE, algorithm, {**options, **jobs}, reading.given)
    learner.check_options()
    with (
        output.progress(quiet),
        open_for(learner._takes, algorithm, reading.data, reading.jobs, **reading.options()) as table,
    ):
        check_pair([*table.names, *table.merged], a, b, table.notes)
        found = explain_all(fit_learner(learner, table, {}, algorithm), [(a, b)], table)[a, b]
    if as_json:
        output.show_json(found.as_dict())
    else:
        print(found)


def command_to_explain(context: typer.Context) -> str:
    """Return the ``f2sl why`` command for a learned graph, without the names of the pair."""
    taken = set(inspect.signature(why).parameters) - {"as_json", "quiet"}
    words = ["f2sl", "why"]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name not in taken or source is None or source.name != "COMMANDLINE":
            continue
        value, option = context.params[name], max(parameter.opts, key=len)
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words.append(option if value else parameter.secondary_opts[0])
        else:
            words += [
                word for one in (value if parameter.multiple else [value]) for word in (option, str(one))
            ]
    return shlex.join(words)
