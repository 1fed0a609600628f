"""Generate what the site takes from the program itself: the commands, the algorithms and the figures."""

import re
from pathlib import Path
from typing import Any

from _figures import draw
from typer.main import get_command

from f2sl.cli.program import app
from f2sl.graph import write_atomically
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
from f2sl.stats.registries import CI_TESTS, MEASURES, SCORES
from f2sl.view.plot import Picture


def generate(folder: Path) -> None:
    """Write all generated parts to `folder`; files that would not change are left alone."""
    folder.mkdir(exist_ok=True)
    for name, text in {"commands.md": commands(), "algorithms.md": algorithms()}.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
    draw(folder)


def commands() -> str:
    """Return the reference of the command line as Markdown, from the same objects as ``--help``."""
    program: Any = get_command(app)
    root = program.make_context("f2sl", [], resilient_parsing=True)
    return "\n\n".join(
        _command(name, program.get_command(root, name), root) for name in program.list_commands(root)
    )


def _command(name: str, command: Any, root: Any) -> str:
    context = command.make_context(name, [], parent=root, resilient_parsing=True)
    usage = " ".join(["f2sl", name, *command.collect_usage_pieces(context)])
    parts = [f"## f2sl {name}", f"    {usage}", _plain(command.help)]
    groups: dict[str, list[str]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            entry = f"`{record[0]}`\n: {_plain(record[1])}"
            groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(entry)
    for heading, entries in groups.items():
        parts += [f"**{heading}**", *entries]
    examples = "\n".join(line[2:] for line in (command.epilog or "").splitlines() if line.startswith("  "))
    return "\n\n".join([*parts, f"```shell\n{examples}\n```"])


def _plain(text: str) -> str:
    """Return text in which nothing is taken for Markdown."""
    return re.sub(r"([*_<>\[\]`\\~|#])", r"\\\1", text)


def algorithms() -> str:
    """Return tables of all registered algorithms, tests, scores and measures as Markdown."""
    registries = {
        "Whole graphs": STRUCTURE,
        "Parents and children of one variable": LOCAL,
        "Markov blankets": MARKOV_BLANKET,
        "Independence tests": CI_TESTS,
        "Scores": SCORES,
        "Measures of relevance": MEASURES,
    }
    parts = []
    for heading, registry in registries.items():
        rows = [
            f"| `{one.name}` | {_plain(one.summary)} | {_plain(one.reference)} |"
            for one in registry.registered()
        ]
        parts += [f"## {heading}", "\n".join(["| name | method | reference |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts)


class PictureScraper:
    """Save the picture that a block of a gallery script ends with, as SVG."""

    def __repr__(self) -> str:
        return "PictureScraper()"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        """Return the directive that shows the picture, or nothing."""
        from sphinx_gallery.scrapers import figure_rst

        last = block_vars["example_globals"].get("___")
        if not isinstance(last, Picture):
            return ""
        path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
        last.save(path)
        return str(figure_rst([str(path)], gallery_conf["src_dir"]))
