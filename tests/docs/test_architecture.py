"""The architecture page: its call paths are those that calls really take, and it stays short."""

import re
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import f2sl
from paths import ROOT

PAGE = (ROOT / "docs" / "contributing" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = Path(f2sl.__file__).parent
PATHS = dict(re.findall(r"```text\n# ([^\n]+)\n(.*?)```", PAGE, re.DOTALL))
STEP = re.compile(r"(?P<indent> *)(?P<file>[\w/]+\.py) +(?P<name>[\w.]+)")


def table(tmp_path):
    """Write the example asia to a file."""
    path = tmp_path / "asia.csv"
    f2sl.load_example("asia").to_csv(path, index=False)
    return path


def recorded(call):
    """Return for each function of f2sl that a call enters those that were at work at some entry of it."""
    at_work, found, turn = Counter(), {}, threading.Lock()

    def profile(frame, event, _):
        code = frame.f_code
        if not code.co_filename.startswith(f"{PACKAGE}/"):
            return
        key = str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname
        with turn:
            if event == "call":
                found.setdefault(key, set()).update(+at_work)
                at_work[key] += 1
            elif event == "return":
                at_work[key] -= 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def steps(text):
    """Yield each step of a path with the step that it belongs to: the last one before it with less indent."""
    above = []
    for line in text.splitlines():
        step = STEP.match(line)
        assert step, f"not a step: {line!r}"
        while above and above[-1][0] >= len(step["indent"]):
            above.pop()
        key = step["file"], step["name"]
        yield key, above[-1][1] if above else None
        above.append((len(step["indent"]), key))


CALLS = {
    'f2sl.learn("asia.csv")': lambda path: f2sl.learn(path),
    'f2sl.learn("asia.csv", "f2sl-c")': lambda path: f2sl.learn(path, "f2sl-c"),
}


def test_the_page_has_these_paths():
    assert set(PATHS) == set(CALLS)


@pytest.mark.parametrize("title", CALLS)
def test_calls_take_the_paths_that_the_page_shows(title, tmp_path):
    path = table(tmp_path)
    CALLS[title](path)  # imports and compiling are no part of it
    found = recorded(lambda: CALLS[title](path))
    listed = list(steps(PATHS[title]))
    assert len(listed) > 8
    for step, caller in listed:
        assert step in found, f"{step} is not entered"
        assert caller is None or caller in found[step], f"{step} is not entered from {caller}"


def test_the_page_is_short():
    assert len(PAGE.splitlines()) <= 250
