"""Layout of a command's help: plain text, options in groups, examples that can be copied."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


def examples(*lines: str) -> str:
    """Lay out command lines for the end of a help page, each on its own line.

    Examples
    --------
    >>> examples("f2sl algorithms").splitlines()[1:]
    ['Examples:', '  f2sl algorithms']
    """
    # A backspace on a line of its own keeps Click from filling the paragraph.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


class GroupedCommand(TyperCommand):
    """A command whose help lists its options under the headings they were given."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each heading, in the order in which the headings first occur."""
        groups: dict[str, list[Any]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)
