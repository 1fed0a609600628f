"""Count what one call goes through, how many classes a learner has, and how large the package is.

    python tools/walk.py              # functions, files, depth and changes of part in two calls
    python tools/walk.py --classes    # classes of f2sl above object, for each learner
    python tools/walk.py --size       # files, lines and lines of code of each part

`--source SRC` counts the f2sl in another folder. The calls are `f2sl.learn("asia.csv")`, and F2SL-c on an
open table, both warm. A function counts once, however often it is entered; comprehensions and lambdas
belong to the function around them. A compiled function counts as one, with all compiled functions that it
calls. Depth is the number of functions of f2sl on the stack, and a change is a call from one part (a folder
or file below f2sl) to another. Lines of code are lines that are neither blank nor only comments or
docstrings.
"""

from __future__ import annotations

import argparse
import ast
import gc
import gzip
import inspect
import io
import pkgutil
import sys
import tempfile
import threading
import tokenize
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Walk(NamedTuple):
    """Counts of one call."""

    functions: int
    files: int
    depth: int
    changes: int


def part_of(file: str, package: Path) -> str:
    return Path(file).relative_to(package).parts[0].removesuffix(".py")


def functions_on_stack(frame: FrameType | None, package: Path) -> Iterator[tuple[str, str]]:
    """Give file and name of each function of the package on the stack, the innermost first."""
    inside = f"{package}/"
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(inside) and not code.co_name.startswith("<"):
            yield code.co_filename, code.co_qualname
        frame = frame.f_back


def walked(call: Callable[[], Any], package: Path) -> Walk:
    """Count what a call enters of a package."""
    entered = set()
    depth = changes = 0
    inside = f"{package}/"

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, changes
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(inside) and not code.co_name.startswith("<"):
            stack = list(functions_on_stack(frame, package))
            entered.add(stack[0])
            depth = max(depth, len(stack))
            parts = {part_of(file, package) for file, _ in stack[:2]}
            changes += len(parts) == 2

    gc.collect()
    gc.disable()  # what is freed by chance would be counted
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        gc.enable()
    return Walk(len(entered), len({file for file, _ in entered}), depth, changes)


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the calls to count, with what they need in a folder."""
    import f2sl

    (packed,) = (ROOT / "src").rglob("asia.csv.gz")
    path = folder / "asia.csv"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    table = f2sl.open_table(path)
    return {
        'f2sl.learn("asia.csv")': lambda: f2sl.learn(path),
        "F2SLc().fit(table)": lambda: f2sl.F2SLc().fit(table),
    }


def print_walks(package: Path) -> None:
    """Print the counts of each call, after two calls that compile and load."""
    warnings.simplefilter("ignore")
    print(f"{'':24} {'functions':>9} {'files':>5} {'depth':>5} {'changes':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)).items():
            call()
            call()
            found = walked(call, package)
            print(f"{name:24} {found.functions:9} {found.files:5} {found.depth:5} {found.changes:7}")


def learners(package: Path) -> list[type]:
    """Return the classes with `get_params` that are public or that no other class extends."""
    found = set()
    for module in pkgutil.walk_packages([str(package)], "f2sl."):
        if not module.name.startswith(("f2sl.cli", "f2sl.__main__")):
            with suppress(ImportError):  # what an extra would install
                found |= {one for _, one in inspect.getmembers(import_module(module.name), inspect.isclass)}
    found = {one for one in found if one.__module__.startswith("f2sl.") and hasattr(one, "get_params")}
    public = set(import_module("f2sl").__all__)
    chosen = (one for one in found if one.__name__ in public or not one.__subclasses__())
    return sorted(chosen, key=lambda one: (one.__module__, one.__name__))


def print_classes(package: Path) -> None:
    """Print how many classes of f2sl, its own included, each learner has above object."""
    for learner in learners(package):
        ours = [one.__name__ for one in learner.__mro__ if one.__module__.startswith("f2sl.")]
        print(f"{len(ours):2}  {' < '.join(ours)}")


def code_lines(text: str) -> int:
    """Count the lines of a module that are neither blank nor only comments or docstrings."""
    without = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*without, tokenize.ENDMARKER):
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def print_size(package: Path) -> None:
    """Print files, lines and lines of code of each part, and of all."""
    sizes: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        own = path.relative_to(package)
        for part in (own.parts[0] if len(own.parts) > 1 else "(files)", "all"):
            for place, count in enumerate((1, len(text.splitlines()), code_lines(text))):
                sizes[part][place] += count
    print(f"{'':14} {'files':>6} {'lines':>8} {'code':>8}")
    for part in sorted(sizes, key=lambda part: (part == "all", part)):
        print(f"{part:14} {sizes[part][0]:6} {sizes[part][1]:8,} {sizes[part][2]:8,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="folder with the package f2sl")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--classes", action="store_true", help="classes of each learner")
    what.add_argument("--size", action="store_true", help="files and lines of each part")
    asked = parser.parse_args()
    source = asked.source.resolve()
    sys.path.insert(0, str(source))
    show = print_classes if asked.classes else print_size if asked.size else print_walks
    show(source / "f2sl")


if __name__ == "__main__":
    main()
