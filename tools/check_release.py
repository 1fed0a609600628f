"""Build sdists and wheels, and try them as users would: in fresh environments, outside the repository.

    python tools/check_release.py                          # with this Python
    python tools/check_release.py python3.12 python3.13    # and the wheel with these as well

Leaves the files of f2sl and f2sl-paper in dist/. Tries wheels and sdists with the newest dependencies, the
wheel of f2sl with the oldest (the lower bounds of pyproject.toml) and with each extra. Environments are made
in a temporary folder and removed. Needs a package index that pip can reach.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"docs", "test", "peers"}
"""Extras that `make docs`, `make test` and `make bench-peers` install."""

COMMANDS = (
    "--version",
    "example asia --out asia.csv --truth truth.json",
    "check asia.csv",
    "learn asia.csv --out graph.json --plot graph.svg --page page.html --truth truth.json",
    "sample asia --rows 200 --random-state 1 --out sampled.parquet",
    "compare graph.json truth.json",
)

REPRODUCE = "reproduce --networks hailfinder --algorithms fcbf,gsbn --sizes 500 --sets 1 --out results"
"""A command of f2sl-paper, which f2sl without it refuses."""

FIT = """
from importlib.util import find_spec
import numpy, pyarrow, f2sl
extras = ["matplotlib", "pandas", "torch", "dask", "python_calamine", "pyagrum", "gadjid", "sklearn"]
assert not [name for name in extras if find_spec(name)], "more is installed than f2sl requires"
numbers = {f"x{i}": column for i, column in enumerate(numpy.random.default_rng(1).normal(size=(3, 200)))}
numbers["sum"] = numbers["x0"] + numbers["x1"]
mixed = {**numbers, "positive": numpy.where(numbers["sum"] > 0, "yes", "no")}
tables = [f2sl.example_path("asia"), "sampled.parquet", numbers, pyarrow.table(mixed)]
for table in tables:
    for learner in ("f2sl-c", "f2sl-s", "f2sl-h"):
        assert f2sl.learn(table, learner).graph_.n_edges > 0, learner
"""

WORKBOOK = """
import zipfile
text = "application/vnd.openxmlformats-officedocument.spreadsheetml"
office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
package = "http://schemas.openxmlformats.org/package/2006"
link = ('<Relationships xmlns="{}/relationships"><Relationship Id="r1" Type="{}/{}" Target="{}"/>'
    '</Relationships>')
cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
lines = [["a", "b"]] + [["x", "x"], ["y", "y"], ["x", "y"], ["y", "x"]] * 30
rows = "".join("<row>" + "".join(map(cell.format, line)) + "</row>" for line in lines)
with zipfile.ZipFile("book.xlsx", "w") as book:
    book.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{text}.sheet.main+xml"/>'
        f'<Override PartName="/xl/s.xml" ContentType="{text}.worksheet+xml"/></Types>')
    book.writestr("_rels/.rels", link.format(package, office, "officeDocument", "xl/workbook.xml"))
    book.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>')
    book.writestr("xl/_rels/workbook.xml.rels", link.format(package, office, "worksheet", "s.xml"))
    book.writestr("xl/s.xml", f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>')
"""

EXTRAS = {
    "plot": """
f2sl.plot(f2sl.load_example_graph("asia"), "graph.png")
assert open("graph.png", "rb").read(4) == b"\\x89PNG"
""",
    "deep": """
import numpy
numbers = numpy.random.default_rng(1).normal(size=(100, 3))
assert f2sl.DAGGNN().fit(numbers).graph_.n_nodes == 3
""",
    "cluster": """
found = f2sl.learn(f2sl.example_path("asia"), "f2sl-c", engine="dask")
assert found.graph_ == f2sl.learn(f2sl.example_path("asia"), "f2sl-c").graph_
""",
    "files": WORKBOOK
    + """
table = f2sl.open_table("book.xlsx")
assert ([column.name for column in table.columns], table.n_rows) == (["a", "b"], 120)
open("broken.dta", "w").write("no table")  # what writes a good one needs pandas or Polars
try:
    f2sl.open_table("broken.dta")
except f2sl.FileError as error:
    assert "pip install" not in str(error), error
""",
    "inference": """
asked = f2sl.load_network("asia").query("lung", evidence={"smoke": "yes"})
assert "0.1" in str(asked), asked
""",
    "metrics": """
truth = f2sl.load_example_graph("asia")
assert f2sl.compare(truth, truth, distances=True).distances.sid == 0
""",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (wheel, paper_wheel), (sdist, paper_sdist) = build(folder)
        for file, paper in ((wheel, paper_wheel), (sdist, paper_sdist)):
            try_out(folder, f"{file.name} and {paper.name}, newest dependencies", [str(file)], paper=paper)
        oldest = [requirement.replace(">=", "==") for requirement in PROJECT["dependencies"]]
        try_out(folder, "wheel, oldest dependencies", [str(wheel), *oldest])
        for python in sys.argv[1:]:
            try_out(folder, f"wheel, {python}", [str(wheel)], python)
        offered = PROJECT["optional-dependencies"].keys() - FOR_DEVELOPERS
        assert offered == EXTRAS.keys(), (
            f"extras that are offered and extras that are tried: {offered ^ EXTRAS.keys()}"
        )
        for extra, script in EXTRAS.items():
            try_extra(folder, wheel, extra, script)


def build(folder: Path) -> tuple[list[Path], list[Path]]:
    """Build all files into dist/, check what an index would check, and list what is large in f2sl's wheel.

    Return wheels and sdists, each f2sl's first.
    """
    python = environment(folder / "build", ["build", "twine"])
    shutil.rmtree(DIST, ignore_errors=True)
    for project in (ROOT, ROOT / "paper"):
        run([python, "-m", "build", "--outdir", DIST, project])
    wheels, sdists = sorted(DIST.glob("*.whl")), sorted(DIST.glob("*.tar.gz"))
    run([python, "-m", "twine", "check", "--strict", *wheels, *sdists])
    print(*(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB" for file in (*wheels, *sdists)), sep=", ")
    sizes: dict[str, int] = {}
    with zipfile.ZipFile(wheels[0]) as packed:
        for member in packed.infolist():
            part = "/".join(member.filename.split("/")[:-1][:3])
            sizes[part] = sizes.get(part, 0) + member.compress_size
    for part, size in sorted(sizes.items(), key=lambda item: -item[1])[:8]:
        print(f"  {size / 1e3:7.0f} kB  {part}")
    return wheels, sdists


def try_out(
    folder: Path,
    what: str,
    requirements: list[str],
    python: str = sys.executable,
    paper: Path | None = None,
) -> None:
    """Install in a fresh environment; run commands, and learn with nothing but the required dependencies.

    Then add f2sl-paper, if its file is given, and run its commands.
    """
    started, place = time.monotonic(), folder / "tried"
    inside = environment(place, requirements, python)
    for command in COMMANDS:
        printed = run([inside.with_name("f2sl"), *command.split()], place)
        assert command != "--version" or printed == f"f2sl {version()}\n", printed
    run([inside, "-c", FIT], place)
    names = [requirement.partition(">")[0] for requirement in PROJECT["dependencies"]]
    lines = run([inside, "-m", "pip", "list", "--format", "freeze"]).splitlines()
    installed = " ".join(
        line.replace("==", " ") + "," for line in lines if line.partition("==")[0].lower() in names
    )
    if paper is not None:
        command = [inside.with_name("f2sl"), *REPRODUCE.split()]
        told = run(command, place, code=2)
        assert told == "f2sl: error: f2sl reproduce needs f2sl-paper: pip install f2sl-paper\n", told
        install(inside, [str(paper)])
        told = run(command, place)
        assert (place / "results" / "index.html").exists(), told
        run([inside.with_name("f2sl"), "report", "results"], place)
    print(f"{what}: fine, {time.monotonic() - started:.0f} s ({installed.rstrip(',')})", flush=True)
    shutil.rmtree(place)


def try_extra(folder: Path, wheel: Path, extra: str, script: str) -> None:
    """Install with one extra; run what needs it."""
    started, place = time.monotonic(), folder / "tried"
    inside = environment(place, [f"{wheel}[{extra}]"])
    # Processes of a cluster start by importing the main module: it has to be a file, and guarded.
    lines = ["import f2sl", 'if __name__ == "__main__":', *(f"    {line}" for line in script.splitlines())]
    (place / "script.py").write_text("\n".join(lines))
    run([inside, "script.py"], place)
    print(f"extra {extra}: fine, {time.monotonic() - started:.0f} s", flush=True)
    shutil.rmtree(place)


def environment(place: Path, requirements: list[str], python: str = sys.executable) -> Path:
    """Make a fresh environment with these installed; return its Python."""
    run([python, "-m", "venv", place])
    inside = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    install(inside, requirements)
    return inside


def install(python: Path, requirements: list[str]) -> None:
    """Install these, as wheels except for our own, into the environment of a Python."""
    sources = ["--only-binary", ":all:", "--no-binary", "f2sl,f2sl-paper"]
    run([python, "-m", "pip", "install", "--quiet", *sources, *requirements])


def version() -> str:
    names: dict[str, str] = {}
    exec((ROOT / "src" / "f2sl" / "_version.py").read_text(encoding="utf-8"), names)
    return names["__version__"]


def run(command: list[str | Path], folder: Path | None = None, code: int = 0) -> str:
    """Run a command without the variables that would let it see other packages; return what it prints.

    For another code than 0, this is what it prints on the standard error.
    """
    hidden = ("PYTHONPATH", "NUMBA_CACHE_DIR", "F2SL_MMHC_DATA")
    surroundings = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode != code:
        told = f"{done.stdout}{done.stderr}"
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}, not {code}:\n{told}")
    return done.stderr if code else done.stdout


if __name__ == "__main__":
    main()
