"""What the documents point to is there."""

from __future__ import annotations

import re

import pytest

import f2sl
from paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), ROOT / "paper" / "README.md", *DOCS.glob("[!_]*.md"), *DOCS.glob("[!_]*/**/*.md")]
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
    local = [link for link in links if link and "://" not in link]
    assert [link for link in local if not leads(page.parent / link)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_fit_a_diff(page):
    """Rows of tables cannot be wrapped."""
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    assert [number for number, line in lines if len(line) > 120 and not line.startswith("|")] == []


def leads(path):
    """Tell whether there is such a file; the gallery's pages are made from scripts when the site is built."""
    if path.parent.name == "gallery":
        return path.name == "index" or (ROOT / "examples" / f"{path.name}.py").exists()
    return path.exists()


NAMED = re.compile(r"`(?:(\w+)` in `)?((?:\w+/)+(?:\w+\.(?:py|md|json|jsonl))?)`")
PLACES = (ROOT, ROOT / "src" / "f2sl", ROOT / "paper" / "src" / "f2sl_paper")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/contributing/architecture.md"])
def test_files_and_folders_that_are_named_are_there(page):
    """And what is said to be in a file has its name in it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = NAMED.findall(" ".join(text.split()))
    assert len(found) > 10
    for name, path in found:
        positions = [place / path for place in PLACES if (place / path).exists()]
        assert positions, path
        assert not name or name in positions[0].read_text(encoding="utf-8"), (name, path)
    for name in re.findall(r"`(_\w+\.py)`", text):
        assert name == "_kernels.py" or (ROOT / "src" / "f2sl" / name).exists(), name


def test_the_table_of_parts_names_all_parts():
    text = (ROOT / "docs" / "contributing" / "architecture.md").read_text(encoding="utf-8")
    table = text[text.index("| part |") : text.index("These modules import nothing heavy")]
    parts = {path.stem for path in (ROOT / "src" / "f2sl").iterdir() if not path.name.startswith("_")}
    parts -= {"errors", "py"}
    first = [row.split("|")[1] for row in table.splitlines()[2:] if row]
    assert set(re.findall(r"`(\w+)`", " ".join(first))) == parts


def test_the_reference_lists_all_public_names():
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(f2sl.__all__) - {"__version__"})
