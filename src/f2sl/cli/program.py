"""The command ``f2sl`` with all its subcommands, and the layout of their help.

Help is plain text: options in groups, and examples that can be copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from f2sl._memory import NUMPY_ADDRESS_SPACE, short_of_addresses
from f2sl._notes import Say
from f2sl._synonyms import SAME_FLAGS, option_answer
from f2sl._version import __version__
from f2sl.cli.commands import COMMANDS, PACKAGES
from f2sl.cli.options import POSTPONED, TYPED, in_shell, postpone_type, refuse_postponed
from f2sl.errors import F2SLError, OptionError, unknown_name

_CONVERSIONS: dict[Any, Callable[[Any], Any]] = {
    str: str,
    list[str]: list,
    Path: Path,
    int: int,
    float: float,
}


def examples(*lines: str) -> str:
    """Format example commands for the end of a help page, one a line.

    Examples
    --------
    >>> examples("f2sl algorithms").splitlines()[1:]
    ['Examples:', '  f2sl algorithms']
    """
    # A backspace on a line of its own keeps Click from filling the paragraph.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


class PlainParameters:
    """Convert parameters of a command that need no validation without Typer's validators.

    Newer versions of Typer use those of Pydantic, which take as long to load as NumPy. What is no number
    where one is needed is refused in f2sl's words, with all else that is wrong.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including ``--help``."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            # Older versions of Typer have no such descriptions, and no need of them.
            if hasattr(parameter, "type_descriptor") and "process_value" not in vars(parameter):
                parameter.process_value = _processing(parameter)
        return parameters


def _processing(parameter: Any) -> Callable[[Any, Any], Any]:
    usual, kind = parameter.process_value, parameter.type_descriptor.annotation
    convert = parameter.type_descriptor.parameter_info.parser or _CONVERSIONS.get(kind)

    def process_value(ctx: Any, value: Any) -> Any:
        if value is None and not parameter.required:
            return None if parameter.callback is None else parameter.callback(ctx, parameter, None)
        if convert is None or parameter.callback is not None or not isinstance(value, str | list | tuple):
            return usual(ctx, value)
        try:
            return convert(value)
        except (TypeError, ValueError):
            if kind not in (int, float):
                return usual(ctx, value)
            postpone_type(str(parameter.name), parameter.opts[0], value, kind)
            return parameter.get_default(ctx)

    return process_value


def known_names(command: str, option: str) -> list[str]:
    """Return the registered names that an option of a command takes; empty if it takes other values.

    Examples
    --------
    >>> known_names("learn", "ci_test")
    ['auto', 'g2', 'x2', 'fisher-z', 'dg', 'cg']
    """
    if option not in ("algorithm", "pc", "ci_test", "measure", "score"):
        return []
    from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
    from f2sl.stats.choose import choices

    if option in ("algorithm", "pc"):
        registries = {"pc": LOCAL, "mb": MARKOV_BLANKET}
        return [entry.name for entry in registries.get(option if option == "pc" else command, STRUCTURE)]
    return choices(option)


class GroupedCommand(PlainParameters, TyperCommand):
    """Command whose help lists its options under their headings."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one without learners and tables refuses wrong values first."""
        if not hasattr(self.callback, "spread"):
            refuse_postponed()
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each heading, in order of first occurrence."""
        groups: dict[str, list[Any]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            names = known_names(str(self.name), str(parameter.name))
            if record is not None:
                if names:
                    record = (record[0], f"{record[1]}  [one of {', '.join(names)}]")
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


# Click, or the copy of it within newer versions of Typer, raises this one for whatever it cannot parse.
UsageError = cast(type[Exception], typer.BadParameter.__base__)

GONE = {"--cpdag": "f2sl learn saves and shows what the data decide; --dag asks for one DAG of it"}
"""Options of earlier versions, and what there is instead."""


class _Commands(PlainParameters, TyperGroup):
    """Group of commands, each imported on first use; an unknown name is an error with the nearest one."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        function = COMMANDS.load(cmd_name)
        file = sys.modules[function.__module__]
        epilog = getattr(file, f"{cmd_name.upper()}_EXAMPLES", None) or file.EXAMPLES
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        add = alone.command(
            cmd_name, cls=GroupedCommand, epilog=epilog, short_help=COMMANDS[cmd_name].summary
        )
        add(function)
        return typer.main.get_command(alone)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            package = PACKAGES.get(args[0])
            if package:
                raise OptionError(f"f2sl {args[0]} needs {package}: pip install {package}")
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
    """Learn the structure of Bayesian networks from discrete, continuous and mixed tables."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: list[str], typed: Mapping[str, str] | None = None) -> None:
    """Run the command that `arguments` name; `typed` has the synonyms by which options were given.

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
    POSTPONED.clear()
    TYPED.clear()
    TYPED.update(typed or {})
    try:
        # Not command.main(), which handles errors and interrupts in its own way.
        with command.make_context("f2sl", arguments) as context:
            command.invoke(context)
    except typer.Exit:
        pass
    except F2SLError as error:
        if not POSTPONED:
            raise
        refuse_postponed(*error.problems)
    except UsageError as error:
        unknown = getattr(error, "option_name", "")
        meant = _by_our_flags(arguments, unknown, _flags_of(error))
        if meant is None:
            raise OptionError(_one_line(error)) from None
        ours, name = (one[2:].replace("-", "_") for one in (SAME_FLAGS[unknown], unknown))
        run(meant, {**TYPED, ours: name})


def _flags_of(error: Any) -> set[str]:
    """Return the flags of the command that a usage error is about."""
    parameters = [] if error.ctx is None else error.ctx.command.params
    return {one for parameter in parameters for one in parameter.opts}


def _by_our_flags(arguments: list[str], unknown: str, flags: set[str]) -> list[str] | None:
    """Return the arguments with an unknown flag replaced by its synonym among `flags`; None if none is."""
    ours = SAME_FLAGS.get(unknown)
    if ours is None or ours not in flags:
        return None
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given = [one.partition("=") for one in arguments[:end]]
    renamed = [(ours if flag == unknown else flag) + equals + value for flag, equals, value in given]
    return renamed + arguments[end:]


def _one_line(error: Any) -> str:
    """Return the message of a usage error as one line in our own form."""
    message = " ".join(error.format_message().split()).rstrip(".")
    where = error.ctx.command_path if error.ctx is not None else "f2sl"
    option = getattr(error, "option_name", "")
    answer, flags = option_answer(option[2:].replace("-", "_")), _flags_of(error)
    if answer and not flags.issuperset(
        part.shell.split()[0] for part in answer.parts if isinstance(part, Say)
    ):
        answer = None  # this command has no such flag either
    text = GONE.get(option) or (None if answer is None else answer.written(in_shell))
    if text and isinstance(option, str):
        return f"no such option: {option}; {text}"
    return f"{message[:1].lower()}{message[1:]}; see {where} --help"
