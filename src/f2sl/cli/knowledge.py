"""Knowledge about edges on the command line: a file, or options with edges, tiers, roots and leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from f2sl._options import Option, anything, refuse
from f2sl.errors import OptionError

if TYPE_CHECKING:
    from f2sl.knowledge import Knowledge

PANEL = "Knowledge about edges"
KNOWLEDGE_FILE = "File with prior knowledge about edges: TOML, or Tetrad's text format."


_EDGE = '"A -> B"'
OPTIONS = [
    Option(name, anything, purpose=PANEL, repeats=repeats, metavar=metavar).says(text)
    for name, repeats, metavar, text in (
        ("knowledge", False, "FILE", KNOWLEDGE_FILE),
        ("require", True, _EDGE, "Required edge."),
        (
            "forbid",
            True,
            f'{_EDGE} or "A - B"',
            "Forbidden edge, or adjacency (either direction).",
        ),
        (
            "tiers",
            False,
            '"A,B > C > D"',
            "Groups of columns in the order of time; no edge leads from a later to an earlier group.",
        ),
        ("root", True, "COLUMN", "Column without parents."),
        ("leaf", True, "COLUMN", "Column without children."),
    )
]
"""Options by which knowledge is given on the command line."""


def parse_knowledge(
    knowledge: str | None = None,
    require: Sequence[str] | None = None,
    forbid: Sequence[str] | None = None,
    tiers: str | None = None,
    root: Sequence[str] | None = None,
    leaf: Sequence[str] | None = None,
) -> Knowledge | None:
    """Combine the knowledge of a file and of the options; return None if there is neither.

    Examples
    --------
    >>> parse_knowledge(require=["a -> b"], forbid=["c - d"], tiers="a, c > b")
    Knowledge(required=[('a', 'b')], forbidden_adjacencies=[('c', 'd')], tiers=[['a', 'c'], ['b']])
    """
    said = (require, forbid, tiers, root, leaf)
    if knowledge is None and not any(said):
        return None
    from f2sl.knowledge import Knowledge

    problems: list[str] = []

    def edges(flag: str, texts: Iterable[str], mark: str) -> list[tuple[str, str]]:
        found = []
        for text in texts:
            try:
                found.append(_edge(flag, text, mark))
            except OptionError as error:
                problems.append(str(error))
        return found

    required = edges("--require", require or (), "->")
    arcs = edges("--forbid", (text for text in forbid or () if "->" in text), "->")
    pairs = edges("--forbid", (text for text in forbid or () if "->" not in text), "-")
    groups = [[name.strip() for name in group.split(",")] for group in (tiers or "").split(">")]
    if tiers and not all(name for group in groups for name in group):
        problems.append(f'--tiers takes names, as in "A,B > C > D", not {tiers!r}')
    elif tiers and len(groups) == 1:
        why = "quote it, because the shell reads > as a file"
        problems.append(f'--tiers takes two groups or more, "A,B > C > D", not {tiers!r}; {why}')
    refuse(problems)
    flags = Knowledge(required, arcs, pairs, groups if tiers else (), roots=root or (), leaves=leaf or ())
    return flags if knowledge is None else Knowledge.load(knowledge) | flags


def _edge(flag: str, text: str, mark: str) -> tuple[str, str]:
    """Parse an edge: two names with a mark between them (with spaces around it if names contain the mark).

    Examples
    --------
    >>> _edge("--forbid", "follow-up - age", "-"), _edge("--forbid", "sex-age", "-")
    (('follow-up', 'age'), ('sex', 'age'))
    """
    spaced = f" {mark} "
    first, _, second = (part.strip() for part in text.partition(spaced if spaced in text else mark))
    several = spaced not in text and text.count(mark) > 1
    if not first or not second or several:
        example = '"A -> B"' if flag == "--require" else '"A -> B" or "A - B"'
        why = f", with spaces around the {mark} between the two names" * several
        if text.endswith("-"):
            why = '; quote it: "A -> B" (the shell reads > as a file)'
        raise OptionError(f"{flag} takes an edge, {example}, not {text!r}{why}")
    return first, second
