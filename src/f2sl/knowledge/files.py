"""Files of knowledge: TOML, f2sl's own, and the text format of Tetrad.

TOML has the parameters of :class:`~f2sl.Knowledge` as keys, each optional, and no others::

    required = [["smoke", "lung"]]
    forbidden = [["lung", "age"]]
    forbidden_adjacencies = [["age", "sex"]]
    tiers = [["age", "sex"], ["smoke"], ["lab_*"]]
    within_tiers = true     # or one for each tier: [false, true, true]
    roots = ["age"]
    leaves = ["xray"]

Tetrad's text has three sections. A name with spaces is in quotes. ``*`` in a name is a pattern, as in f2sl;
``?``, which Tetrad does not treat as a pattern, is refused. A tier with ``*`` after its number has no edges
within; one with ``-`` has edges only to the next tier::

    /knowledge
    addtemporal
    1* age sex
    2 smoke
    forbiddirect
    lung age
    requiredirect
    smoke lung

What Tetrad cannot express is written as forbidden edges: a forbidden adjacency as both directions, a root as
``* root``, a leaf as ``leaf *``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from f2sl.errors import FileError, unknown_name

if TYPE_CHECKING:
    from f2sl.knowledge import Knowledge

Made = TypeVar("Made", bound="Knowledge")

KEYS = ("required", "forbidden", "forbidden_adjacencies", "tiers", "within_tiers", "roots", "leaves")
SECTIONS = ("addtemporal", "forbiddirect", "requiredirect")


def load(path: str | PathLike[str], cls: type[Made]) -> Made:
    """Read a file of either format; return a `Knowledge`, or an object of a derived class."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        return cls(**(from_tetrad(text) if text.lstrip().startswith("/knowledge") else from_toml(text)))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}", path=str(path)) from None
    except ValueError as error:  # also text that is no UTF-8, TOML that is none, and contradictions
        raise FileError(f"{path}: not a file of knowledge: {error}", path=str(path)) from None


def save(knowledge: Knowledge, path: str | PathLike[str]) -> None:
    """Write a file in the format of its suffix."""
    writers = {".toml": to_toml, ".txt": to_tetrad, ".knowledge": to_tetrad}
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise FileError(
            f"{path}: knowledge is saved as .toml, or for Tetrad as .txt or .knowledge", path=str(path)
        )
    try:
        Path(path).write_text(writers[suffix](knowledge), encoding="utf-8")
    except ValueError as error:
        raise FileError(f"{path}: {error}", path=str(path)) from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}", path=str(path)) from None


def from_toml(text: str) -> dict[str, Any]:
    """Read TOML; `Knowledge` checks the values."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError("lists are nested too deeply") from None
    except ValueError:  # Python refuses to read whole numbers of more than some thousand digits
        raise ValueError("a number has too many digits") from None
    for key in found:
        if key not in KEYS:
            raise ValueError(unknown_name("key", key, KEYS))
    return found


def to_toml(knowledge: Knowledge) -> str:
    """Write TOML.

    Examples
    --------
    >>> from f2sl import Knowledge
    >>> print(to_toml(Knowledge(required=[("a", "b")], roots=["c"])), end="")
    required = [["a", "b"]]
    roots = ["c"]
    """
    # JSON's strings, lists and truth values are also TOML's, but for one control character.
    said = knowledge.as_dict().items()
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in said)
    return "".join(lines).replace("\x7f", "\\u007f")


def from_tetrad(text: str) -> dict[str, Any]:
    """Read Tetrad's text.

    Examples
    --------
    >>> from_tetrad(chr(10).join(["/knowledge", "addtemporal", "1* a b", "2 c"]))["within_tiers"]
    [False, True]
    """
    pairs: dict[str, list[tuple[str, str]]] = {"forbiddirect": [], "requiredirect": []}
    tiers: dict[int, list[str]] = {}
    marks: dict[int, str] = {}
    for number, section, words in _lines(text):
        if section != "addtemporal":
            if len(words) != 2:
                raise ValueError(f"line {number}: an edge is two names, not {' '.join(words)!r}")
            pairs[section].append((words[0], words[1]))
            continue
        tier = re.fullmatch(r"(\d+)([*-]*)", words[0])
        if tier is None:
            raise ValueError(f"line {number}: a tier begins with its number, not with {words[0]!r}")
        position = int(tier[1])
        tiers.setdefault(position, []).extend(words[1:])
        marks[position] = marks.get(position, "") + tier[2]
    order = sorted(tiers)
    for at, position in enumerate(order):
        if "-" in marks[position]:
            later = [name for other in order[at + 2 :] for name in tiers[other]]
            pairs["forbiddirect"] += [(a, b) for a in tiers[position] for b in later]
    return {
        "required": pairs["requiredirect"],
        "forbidden": pairs["forbiddirect"],
        "tiers": [tiers[position] for position in order],
        "within_tiers": ["*" not in marks[position] for position in order],
    }


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield number, section and words of each line that has content."""
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = _words(number, line)
        if not words or words == ["/knowledge"]:
            continue
        if words[0].lower() in SECTIONS and len(words) == 1:
            section = words[0].lower()
        elif not section or (len(words) == 1 and words[0].isalpha() and section != "addtemporal"):
            raise ValueError(f"line {number}: {unknown_name('section', words[0], SECTIONS)}")
        else:
            yield number, section, words


def _words(number: int, line: str) -> list[str]:
    """Return the words of a line up to a comment, without quotes.

    Examples
    --------
    >>> _words(1, 'age "blood pressure" // known')
    ['age', 'blood pressure']
    """
    found = re.findall(r'"([^"]+)"(?!\S)|(//.*)|(\S+)', line)
    words = []
    for quoted, comment, plain in found:
        if comment:
            break
        word = quoted or plain.split("//")[0]
        if '"' in word:
            raise ValueError(f"line {number}: quotes go around a whole name, not as in {word!r}")
        if "?" in word:
            raise ValueError(
                f"line {number}: Tetrad's format has no pattern ?, but f2sl would read {word!r} as one; "
                "use .toml"
            )
        words.append(word)
        if not quoted and "//" in plain:
            break
    return words


def to_tetrad(knowledge: Knowledge) -> str:
    """Write Tetrad's text.

    Examples
    --------
    >>> from f2sl import Knowledge
    >>> print(to_tetrad(Knowledge(tiers=[["a"], ["b", "c"]], within_tiers=False, roots=["a"])), end="")
    /knowledge
    addtemporal
    1* a
    2* b c
    forbiddirect
    * a
    requiredirect
    """
    said = knowledge.as_dict()
    within = said.get("within_tiers", True)
    tiers = said.get("tiers", [])
    flags = [within] * len(tiers) if isinstance(within, bool) else within
    forbidden = [*said.get("forbidden", [])]
    forbidden += [way for a, b in said.get("forbidden_adjacencies", []) for way in ((a, b), (b, a))]
    forbidden += [("*", root) for root in said.get("roots", [])]
    forbidden += [(leaf, "*") for leaf in said.get("leaves", [])]
    rows = [
        [f"{n}{'' if flag else '*'}", *tier]
        for n, (tier, flag) in enumerate(zip(tiers, flags, strict=True), 1)
    ]
    required = said.get("required", [])
    for name in (name for row in (*rows, *forbidden, *required) for name in row):
        if any(mark.isspace() or mark in '?"' for mark in name) or "//" in name:
            raise ValueError(
                f"Tetrad's format has no spaces, no quotes, no ? and no // in names, such as {name!r}; "
                "save as .toml"
            )
    parts = [
        ["/knowledge"],
        ["addtemporal"],
        *rows,
        ["forbiddirect"],
        *forbidden,
        ["requiredirect"],
        *required,
    ]
    return "".join(" ".join(words) + "\n" for words in parts)
