"""Check who may import whom.

Each part of f2sl imports only parts that come before it in `ORDER` (and itself). Parts on one line
are level: they do not import each other. Imports inside functions count too, as do those of modules named in
a text (``import_module("f2sl.graph")``); imports for type checking alone do not. There are two exceptions:
what shows itself (a graph's `show`, `_repr_html_` for notebooks) imports `view` inside a function, and
`EXCEPTIONS`. The last part is a distribution of its own, which nothing in f2sl imports.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "f2sl"

ORDER = [
    ["_version", "_notes", "_arrays", "_constants", "_normal"],
    ["_synonyms"],
    ["errors"],
    ["_extensions"],
    ["constraints"],
    ["knowledge"],
    ["_deadline"],
    ["_progress", "_threads", "_memory"],
    ["_ahead"],
    ["_shortcuts"],
    ["_jit"],
    ["_options"],
    ["_reading"],
    ["_registry"],
    ["_estimator"],
    ["_rich"],
    ["graph"],
    ["data"],
    ["stats"],
    ["network", "search"],
    ["learners"],
    ["view"],
    ["examples"],
    ["api"],
    ["confidence"],
    ["cli"],
    ["__init__", "__main__"],
    ["f2sl_paper"],
]
RANK = {part: rank for rank, level in enumerate(ORDER) for part in level}
ONLY_FIRST = {"graph"}
"""It knows nothing of the rest but the version, errors, names of types, extensions and knowledge of edges."""
EXCEPTIONS = {("_registry", "learners")}
"""A message on a wrong name or option says which learner has it, so it asks all learners' registries."""
FIRST = [part for level in ORDER[:6] for part in level]


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give line and part of each import of f2sl in a module, but for those that are allowed anywhere."""
    exempt = {
        id(inner)
        for node in ast.walk(tree)
        if (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or isinstance(node, ast.FunctionDef)
        for inner in ast.walk(node)
        if not isinstance(node, ast.FunctionDef)
        or (isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("f2sl.view."))
    }
    for node in ast.walk(tree):
        if id(node) in exempt:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "f2sl":
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, part) for part in named_parts(node.module or ""))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            named = node.args[0]
            if isinstance(named, ast.Constant) and str(named.value).startswith("f2sl."):
                yield from ((node.lineno, part) for part in named_parts(named.value))
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, part) for alias in node.names for part in named_parts(alias.name))


def named_parts(module: str) -> list[str]:
    first, *rest = module.split(".")
    if first == "f2sl":
        return rest[:1] or ["__init__"]
    return [first] if first == "f2sl_paper" else []


def complaints() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        own = part_of(path)
        where = path.relative_to(SOURCE.parent.parent)
        if own not in RANK:
            yield f"{where}: part {own!r} has no place in ORDER"
            continue
        for line, part in imported_parts(ast.parse(path.read_text(encoding="utf-8"))):
            part = part if part in RANK else "__init__"
            if part == own or (own, part) in EXCEPTIONS:
                continue
            if RANK[part] >= RANK[own]:
                yield f"{where}:{line}: {own} must not import {part}"
            elif own in ONLY_FIRST and part not in FIRST:
                yield f"{where}:{line}: {own} may import the first parts alone, not {part}"


def main() -> int:
    found = list(complaints())
    print("\n".join(found) or "imports: all point the right way")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
