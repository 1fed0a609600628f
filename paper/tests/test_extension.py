"""Commands that f2sl-paper adds to f2sl, and that it costs nothing where it is not asked for."""

import re
import subprocess
import sys
import tomllib

import pytest

import f2sl as package
import f2sl_paper
from cli_process import f2sl, learned
from paths import ROOT

COMMANDS = ["reproduce", "report"]


def test_its_commands_stand_last_in_the_help():
    listed = re.findall(r"^  (\w+) +[A-Z][^.]+\.$", learned("--help"), re.MULTILINE)
    assert listed[-2:] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command):
    printed = learned(command, "--help")
    assert printed.startswith(f"Usage: f2sl {command} ")
    assert re.findall(rf"^    f2sl {command} .*$", printed.partition("Examples:\n")[2], re.MULTILINE)


def test_the_nearest_command_may_be_one_of_these():
    done = f2sl("reproduc")
    assert done.stderr.startswith("f2sl: error: unknown command 'reproduc'; did you mean 'reproduce'?")
    assert (done.stdout, done.returncode) == ("", 2)


def test_adding_the_commands_imports_next_to_nothing():
    """A learner of another package is found as fast as without this one."""
    code = """
import sys
from f2sl._extensions import load_extensions
load_extensions()
from f2sl.cli.commands import COMMANDS
print(*(entry.name for entry in COMMANDS.registered()))
print(*{"numpy", "typer", "f2sl_paper.settings", "f2sl_paper.cli"}.intersection(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, heavy = done.stdout.splitlines()
    assert names.split()[-2:] == COMMANDS
    assert heavy == ""


def test_the_functions_are_imported_on_first_use():
    assert f2sl_paper.report.__module__ == "f2sl_paper.reporting"
    assert f2sl_paper.reproduce.__module__ == "f2sl_paper.reproduction"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        f2sl_paper.nothing  # noqa: B018


def test_it_needs_the_f2sl_of_its_own_version():
    project = tomllib.loads((ROOT / "paper" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = package.__version__
    assert project["version"] == version
    assert project["dependencies"] == [f"f2sl[plot]=={version}"]
    assert project["optional-dependencies"] == {"deep": [f"f2sl[deep]=={version}"]}
