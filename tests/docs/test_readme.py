"""What README, the start page and the how-to pages show is run as it stands."""

from __future__ import annotations

import ast
import re
import shlex

import numpy as np
import pytest
from typer.main import get_command

import f2sl
from f2sl.cli.app import main
from f2sl.cli.program import app
from paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "howto").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "understanding").glob("*.md"))
NEEDS_A_CLUSTER = "clusters.md"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def commands(page):
    """Return the arguments of each f2sl command on a page: in shell blocks, or indented by four spaces."""
    lines = "\n".join(blocks(page, "shell")).splitlines()
    lines += re.findall(r"^    (f2sl .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("f2sl ")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with the files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    people = {
        "id": [f"P{number}" for number in range(400)],
        "sex": rng.choice(["f", "m"], 400),
        "smoker": rng.choice(["no", "yes"], 400),
        "children": rng.integers(0, 4, 400),
        "income": rng.lognormal(10, 1, 400),
        "age": rng.normal(50, 9, 400),
        "outcome": rng.choice(["well", "ill"], 400),
    }
    lines = [",".join(people), *(",".join(map(str, row)) for row in zip(*people.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    (tmp_path / "data").mkdir()
    f2sl.load_network("asia").sample(500, random_state=1).to_csv(tmp_path / "data" / "part.csv", index=False)
    return tmp_path


def expected_of(comment):
    """Return the value that a comment tells, as text: after a colon, or the comment as a whole."""
    told = comment.rpartition(": ")[2] if not comment.startswith(("{", "(", "[")) else comment
    if re.fullmatch(r"\w+\(.*\)", told):
        return told
    try:
        return repr(ast.literal_eval(told))
    except (SyntaxError, ValueError):
        return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python(page, folder, capsys):
    """All statements run, have the values that comments tell, and print the block of text below."""
    if page.name == NEEDS_A_CLUSTER:
        pytest.skip("needs a Dask cluster")
    names: dict[str, object] = {}
    shown = dict(
        re.findall(r"```python\n([^`]*)```\n\n```text\n([^`]*)```", page.read_text(encoding="utf-8"))
    )
    for block in blocks(page, "python"):
        capsys.readouterr()
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            value = statement.value if isinstance(statement, ast.Expr) else None
            told = expected_of(lines[statement.end_lineno - 1].partition("  # ")[2])
            if value is None or told is None:
                exec(ast.unparse(statement), names)
            elif isinstance(value, ast.Call) and ast.unparse(value.func) == "print":
                assert str(eval(ast.unparse(value.args[0]), names)) == told
            else:
                assert repr(eval(ast.unparse(value), names)) == told
        assert block not in shown or capsys.readouterr().out == shown.pop(block)
    assert shown == {}


@pytest.mark.parametrize("page", PAGES[:2], ids=lambda page: page.name)
def test_the_tour_in_the_shell(page, folder, capsys):
    tour = commands(page)
    assert len(tour) >= 2
    for command in tour:
        assert main(command) == 0, command
        assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_are_there(page):
    program = get_command(app)
    root = program.make_context("f2sl", [], resilient_parsing=True)
    for name, *arguments in commands(page):
        program.get_command(root, name).make_context(name, arguments, parent=root)


def test_readme_is_short():
    """One screen: a picture, five lines of Python, three commands to learn and three to ask, a table."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [code] = blocks(ROOT / "README.md", "python")
    assert len([line for line in code.splitlines() if line]) == 5
    assert len(commands(ROOT / "README.md")) == 6
    assert len(text.splitlines()) < 90
