"""Layout of a command's help: plain text, options in groups, examples that can be copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

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

    Newer versions of Typer use those of Pydantic, which take as long to load as NumPy. A value that cannot be
    converted here is left to Typer, which prints its message.
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
            return usual(ctx, value)

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
