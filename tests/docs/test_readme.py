"""What the README shows is run as it stands."""

from __future__ import annotations

import re
import shlex

from f2sl.cli.app import main
from f2sl.experiments import plan
from f2sl.experiments.settings import Quick
from paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tour_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    for line in "".join(blocks).splitlines():
        code, _, comment = line.partition("  # ")
        exec(code, names)
        told = re.match(r"(PDAG|Table)\(.*?\)|\[\(.*\)\]", comment)
        if told:
            assert repr(eval(code, names)) == told[0]
    assert {path.name for path in tmp_path.iterdir()} == {
        "graph.json",
        "alarm.svg",
        "page.html",
        "fitted.bif",
    }


def test_the_tour_in_the_shell(tmp_path, monkeypatch, capsys):
    """Of the paper's experiments, all that are quick, but on one data set of each size instead of two."""
    monkeypatch.setattr(plan, "QUICK", Quick(sets=1))
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    f2sl (.*?)(?:  #.*)?$", README, re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        assert main(shlex.split(command)) == 0, command
        assert capsys.readouterr().out


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
