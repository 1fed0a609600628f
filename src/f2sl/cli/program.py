"""The command ``f2sl`` with all its subcommands."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from f2sl._memory import NUMPY_ADDRESS_SPACE, short_of_addresses
from f2sl._version import __version__
from f2sl.cli.help import GroupedCommand, PlainParameters, examples
from f2sl.errors import F2SLError, OptionError, unknown_name

# Click, or the copy of it within newer versions of Typer, raises this one for whatever it cannot parse.
UsageError = cast(type[Exception], typer.BadParameter.__base__)

COMMANDS = {
    "learn": "Learn a graph from a table.",
    "bootstrap": "Measure the confidence of each edge by resampling.",
    "pc": "Find one variable's parents and children.",
    "mb": "Find one variable's Markov blanket.",
    "check": "Show how a table is read, and its problems.",
    "compare": "Compare a learned graph with the true one.",
    "show": "Write a page to explore a graph.",
    "why": "Explain why two variables are linked, or are not.",
    "fit": "Estimate the probabilities of a graph from a table.",
    "query": "Show the distribution of variables, given others.",
    "predict": "Predict a variable for new rows.",
    "algorithms": "List the algorithms and their options.",
    "example": "Write a bundled example to a file.",
    "networks": "List the bundled networks.",
    "sample": "Draw a table from a network.",
    "reproduce": "Run the experiments of the F2SL paper.",
    "report": "Write tables, figures and a page of these experiments.",
}
"""The commands in the order of the help, each a function of that name in a file of that name."""

GONE = {"--cpdag": "f2sl learn saves and shows what the data decide; --dag asks for one DAG of it"}
"""Options of earlier versions, and what there is instead."""

_FILES = {"pc": "one_target", "mb": "one_target"}
"""Files that hold more than one command."""


class _Commands(PlainParameters, TyperGroup):
    """Group of commands, each imported on first use; an unknown name is an error with the nearest one."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        file = import_module(f"f2sl.cli.{_FILES.get(cmd_name, cmd_name)}")
        epilog = getattr(file, f"{cmd_name.upper()}_EXAMPLES", None) or file.EXAMPLES
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        add = alone.command(cmd_name, cls=GroupedCommand, epilog=epilog, short_help=COMMANDS[cmd_name])
        add(getattr(file, cmd_name))
        return typer.main.get_command(alone)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise OptionError(unknown_name("command", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="f2sl",
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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
    """Learn the structure of Bayesian networks from tables of categories, numbers or both."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: list[str]) -> None:
    """Run the command that `arguments` name.

    Raises
    ------
    OptionError
        If the arguments are wrong.
    F2SLError
        If the process may not use enough memory to load NumPy, whose own error would end or hang the process.
    """
    short = short_of_addresses(NUMPY_ADDRESS_SPACE)
    if short and not {"-h", "--help", "--version"}.intersection(arguments):
        raise F2SLError(short)
    command = typer.main.get_command(app)
    try:
        # Not command.main(), which handles errors and interrupts in its own way.
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
    option = getattr(error, "option_name", "")
    if option in GONE:
        return f"no such option: {option}; {GONE[option]}"
    return f"{message[:1].lower()}{message[1:]}; see {where} --help"
