"""Without shortcuts through Numba's internals learners find the same, and an unknown Numba gets none."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import f2sl
from cli_process import ENVIRONMENT, small_table, write_csv
from f2sl import _jit
from f2sl._ahead import COMPILING
from marks import compiled_only

pytestmark = compiled_only

LEARN = """
import json, sys
import f2sl
found = [f2sl.learn(sys.argv[1], learner) for learner in ("f2sl-c", "f2sl-h")]
assert "f2sl._shortcuts" not in sys.modules
print(json.dumps([[sorted(model.graph_.edges), model.n_tests_] for model in found]))
"""

WITHOUT = """
import sys
import numba
{change}
from f2sl import _jit
from f2sl._progress import Display, showing
class Notes(Display):
    def note(self, text):
        print(text)
with showing(Notes()):
    @_jit.inner
    def next_to(n):
        return n + 1
    @_jit.kernel
    def after_next(n):
        return next_to(next_to(n))
    print(_jit.shortcuts, next_to(1), after_next(1))
"""


def run(code, *arguments, **environment):
    environment = {**ENVIRONMENT, **environment}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def test_learners_find_the_same_without_shortcuts(tmp_path):
    path, cache = write_csv(tmp_path / "t.csv", small_table()), tmp_path / "cache"
    learned = run(LEARN, path, F2SL_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(cache))
    expected = [f2sl.learn(path, learner) for learner in ("f2sl-c", "f2sl-h")]
    assert json.loads(learned.stdout) == [
        [[list(edge) for edge in sorted(model.graph_.edges)], model.n_tests_] for model in expected
    ]
    stored = {index.name.split("-")[0] for index in cache.glob("*/*.nbi")}
    assert {"_kernels.search_tiles", "_kernels.tests_until_decided"} <= stored


@pytest.mark.parametrize(
    "change",
    [
        'numba.__version__ = "0.59.1"',
        'numba.__version__ = "0.69.0rc1"',
        'numba.__version__ = "1.0.0"',
        "import numba.core.options; del numba.core.options.DefaultOptions._nrt",
        "import numba.core.codegen; del numba.core.codegen.JITCodeLibrary",
        'sys.modules["numba.core.codegen"] = None',
    ],
    ids=["older", "newer", "next major version", "option gone", "class gone", "module gone"],
)
def test_a_numba_that_is_not_known_gets_no_shortcuts(tmp_path, change):
    *notes, found = run(WITHOUT.format(change=change), NUMBA_CACHE_DIR=str(tmp_path)).stdout.splitlines()
    assert found == "None 2 3"
    assert notes[-1] == COMPILING


def test_pip_installs_only_versions_that_were_tested():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    (oldest, newest) = _jit.OLDEST_TESTED, _jit.NEWEST_TESTED
    above = f"{newest[0]}.{newest[1] + 1}"
    assert f"numba>={oldest[0]}.{oldest[1]}.0,<{above}" in project["project"]["dependencies"]


@pytest.mark.skipif(bool(os.environ.get("F2SL_PLAIN_NUMBA")), reason="they are turned off")
def test_an_installed_numba_gets_them():
    assert _jit.shortcuts is not None
