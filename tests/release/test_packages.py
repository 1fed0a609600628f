"""Build the wheels and the source distributions, and check their files and metadata."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser

import pytest

import f2sl
from paths import ROOT

BUILD = "import setuptools.build_meta as build; build.build_wheel('out'); build.build_sdist('out')"
NOT_OURS = (
    ".*",
    "__pycache__",
    "build",
    "dist",
    "out",
    "*.egg-info",
    "_build",
    "_generated",
    "*.lock",
    "demo-output",
)
LARGEST = 3_000_000
LICENCES = [
    "LICENSE",
    "NOTICE",
    "src/f2sl/examples/NOTICE",
    "src/f2sl/network/bundled/NOTICE",
    "src/f2sl/view/assets/cytoscape.LICENSE",
]


def built_from(source, folder):
    """Build from a copy, without the network; setuptools leaves files beside what it builds from."""
    place = folder / "f2sl"
    shutil.copytree(source, place, ignore=shutil.ignore_patterns(*NOT_OURS))
    (place / "out").mkdir()
    subprocess.run([sys.executable, "-c", BUILD], cwd=place, check=True, capture_output=True)
    return place / "out"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return built_from(ROOT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(*built.glob("*.whl")) as packed:
        yield packed


def files_of(package, about, licences):
    """List what the wheel of a package holds."""
    kept = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    named = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt")
    files = [path.relative_to(package.parent).as_posix() for path in kept]
    named += tuple(f"licenses/{name}" for name in licences)
    return sorted([*files, *(f"{about}/{name}" for name in named)])


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    about = f"f2sl-{f2sl.__version__}.dist-info"
    assert sorted(wheel.namelist()) == files_of(ROOT / "src" / "f2sl", about, LICENCES)


def test_the_wheel_of_the_paper_holds_its_package_and_adds_its_commands(tmp_path):
    about = f"f2sl_paper-{f2sl.__version__}.dist-info"
    with zipfile.ZipFile(*built_from(ROOT / "paper", tmp_path).glob("*.whl")) as packed:
        names, points = packed.namelist(), packed.read(f"{about}/entry_points.txt").decode()
    package = ROOT / "paper" / "src" / "f2sl_paper"
    assert sorted(names) == files_of(package, about, ["LICENSE", "NOTICE"])
    assert points.split() == ["[f2sl.extensions]", "paper", "=", "f2sl_paper:register"]


def test_both_distributions_have_one_licence():
    assert (ROOT / "paper" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_is_small(built):
    (file,) = built.glob("*.whl")
    assert file.name == f"f2sl-{f2sl.__version__}-py3-none-any.whl"
    assert file.stat().st_size < LARGEST


def test_what_it_says_of_itself(wheel):
    said = Parser().parsestr(wheel.read(f"f2sl-{f2sl.__version__}.dist-info/METADATA").decode())
    assert said["Version"] == f2sl.__version__
    assert said["License-Expression"] == "MIT AND CC-BY-SA-3.0"
    assert sorted(said.get_all("License-File")) == LICENCES
    required = [text for text in said.get_all("Requires-Dist") if "extra ==" not in text]
    assert all(
        re.fullmatch(r"[a-z]+(<\d+(\.\d+)+,)?>=\d+(\.\d+)+", text) for text in required
    )  # tools/check_release.py reads them


def test_the_source_distribution_can_be_tested(built):
    with tarfile.open(*built.glob("*.tar.gz")) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    needed = ["pyproject.toml", "Makefile", "constraints.txt", "conftest.py", "CITATION.cff", *LICENCES]
    for folder in ("tests", "docs", "examples", "benchmarks", "tools", "paper"):
        found = [
            path
            for path in (ROOT / folder).rglob("*.*")
            if path.suffix in (".py", ".md", ".svg", ".png", ".jsonl", ".toml", ".csv", ".html")
        ]
        needed += [path.relative_to(ROOT).as_posix() for path in found]
    made = re.compile(r"docs/(_build|_generated|gallery|reference/api)/")
    assert [name for name in needed if name not in names and not made.match(name)] == []
    assert [name for name in names if made.match(name) or "__pycache__" in name] == []


def test_all_that_others_made_is_in_the_notices():
    others, listed = [], set()
    for folder in (ROOT, ROOT / "paper"):
        notice = (folder / "NOTICE").read_text(encoding="utf-8")
        found = [list(folder.glob(pattern)) for pattern in re.findall(r"\bsrc/\S+?(?=[,\s])", notice)]
        assert all(found)
        listed.update(*found)
        for pattern in ("*.gz", "*.min.*", "*.csv", "*LICENSE", "*.woff", "*.woff2", "*.ttf", "*.otf"):
            others += (folder / "src").rglob(pattern)
    assert len(others) > 30
    assert [path for path in others if path not in listed] == []


def test_the_changelog_has_this_version():
    heads = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [head for head in heads if head != "Unreleased"]
    assert re.fullmatch(rf"{re.escape(f2sl.__version__)} - \d{{4}}-\d\d-\d\d", released[0])
