"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from f2sl._version import __version__
from f2sl.cli import (
    algorithms,
    bootstrap,
    check,
    compare,
    example,
    fit,
    learn,
    networks,
    one_target,
    predict,
    query,
    report,
    reproduce,
    sample,
    show,
    why,
)
from f2sl.cli.help import GroupedCommand, examples
from f2sl.errors import OptionError, unknown_name

# Click, or the copy of it within newer versions of Typer, raises this one for whatever it cannot parse.
UsageError = cast(type[Exception], typer.BadParameter.__base__)


class _Commands(TyperGroup):
    """The commands in the order they are added; one that is not known is told with the nearest."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise OptionError(unknown_name("command", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="f2sl",
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _add(name: str, command: Callable[..., None], epilog: str, summary: str) -> None:
    app.command(name, cls=GroupedCommand, epilog=epilog, short_help=summary)(command)


_add("learn", learn.learn, learn.EXAMPLES, "Learn a graph from a table.")
_add("bootstrap", bootstrap.bootstrap, bootstrap.EXAMPLES, "Tell how sure a learned graph is.")
_add("pc", one_target.pc, one_target.PC_EXAMPLES, "Find one variable's parents and children.")
_add("mb", one_target.mb, one_target.MB_EXAMPLES, "Find one variable's Markov blanket.")
_add("check", check.check, check.EXAMPLES, "Show how a table is read, and what is wrong with it.")
_add("compare", compare.compare, compare.EXAMPLES, "Compare a learned graph with the true one.")
_add("show", show.show, show.EXAMPLES, "Write a page to explore a graph.")
_add("why", why.why, why.EXAMPLES, "Explain why two variables are linked, or are not.")
_add("fit", fit.fit, fit.EXAMPLES, "Estimate the probabilities of a graph from a table.")
_add("query", query.query, query.EXAMPLES, "Ask a network about variables, given others.")
_add("predict", predict.predict, predict.EXAMPLES, "Predict a variable for new rows.")
_add("algorithms", algorithms.algorithms, algorithms.EXAMPLES, "List the algorithms and their options.")
_add("example", example.example, example.EXAMPLES, "Write a bundled example to a file.")
_add("networks", networks.networks, networks.EXAMPLES, "List the bundled networks.")
_add("sample", sample.sample, sample.EXAMPLES, "Draw a table from a network.")
_add("reproduce", reproduce.reproduce, reproduce.EXAMPLES, "Run the experiments of the F2SL paper.")
_add("report", report.report, report.EXAMPLES, "Show the results of these experiments.")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"f2sl {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=examples(
        "f2sl example asia --out asia.csv --truth truth.json",
        "f2sl learn asia.csv --out graph.json",
        "f2sl compare graph.json truth.json",
    ),
)
def _f2sl(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Learn the structure of Bayesian networks from states, numbers or both, from the local to the global."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: list[str]) -> None:
    """Run the command that `arguments` name.

    Raises
    ------
    OptionError
        If they make no sense.
    """
    command = typer.main.get_command(app)
    try:
        # Not command.main(): it has its own mind about errors and interrupts.
        with command.make_context("f2sl", arguments) as context:
            command.invoke(context)
    except typer.Exit:
        pass
    except UsageError as error:
        raise OptionError(_one_line(error)) from None


def _one_line(error: Any) -> str:
    """Return the message of a usage error as one line in our own form."""
    message = " ".join(error.format_message().split()).rstrip(".")
    where = error.ctx.command_path if error.ctx is not None else "f2sl"
    return f"{message[:1].lower()}{message[1:]}; see {where} --help"
