"""``f2sl why``: explain why two variables are adjacent, or are not."""

from __future__ import annotations

import inspect
import shlex
from typing import Annotated, Any

import typer

from f2sl.cli import output
from f2sl.cli.options import Algorithm, AsJson, Quiet, create_learner, with_learner_options
from f2sl.cli.program import examples
from f2sl.cli.reading import TableOptions, with_reading_options

EXAMPLES = examples(
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
        check_pair([*table.names, *table.merged], a, b)
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
