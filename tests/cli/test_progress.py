"""What the bar on the terminal tells of the time that is left."""

import io
from contextlib import contextmanager

import pytest
from rich.console import Console
from rich.progress import Progress

import f2sl
from f2sl import _rich
from f2sl._rich import RichDisplay, _TimeLeft


@pytest.mark.parametrize(
    ("elapsed", "done", "told"),
    [
        (30.0, 0.25, "about 0:01:30 left"),
        (3600.0, 0.5, "about 1:00:00 left"),
        (1.0, 0.5, ""),  # 2 seconds in all
        (30.0, 0.0, ""),  # nothing is known
        (30.0, 1.0, ""),
        (30.0, None, ""),
    ],
)
def test_the_time_left(elapsed, done, told):
    now = [0.0]
    progress = Progress(console=Console(file=io.StringIO()), get_time=lambda: now[0])
    number = progress.add_task("working", total=None)
    if done is not None:
        progress.update(number, total=1.0, completed=done)
    now[0] = elapsed
    assert _TimeLeft().render(progress.tasks[0]).plain == told


def test_a_bar_with_all_its_columns_is_drawn():
    screen = io.StringIO()
    display = RichDisplay(Console(file=screen, force_terminal=True, width=120))
    display.begin("measuring all pairs")
    display.advance(0.5)
    display._progress.start()
    display._progress.refresh()
    display.end()
    display.close()
    assert "measuring all pairs" in screen.getvalue()
    assert " 50%" in screen.getvalue()


@pytest.mark.parametrize("find", [f2sl.learn_pc, f2sl.learn_mb])
def test_learners_of_sets_show_their_progress_where_asked(find, monkeypatch):
    shown = []

    @contextmanager
    def on_terminal():
        shown.append(True)
        yield

    monkeypatch.setattr(_rich, "on_terminal", on_terminal)
    data = f2sl.load_example("asia")
    silent = find(data, "smoke")
    assert not shown
    assert find(data, "smoke", verbose=True) == silent
    assert shown == [True]
    with pytest.raises(f2sl.OptionError, match="verbose must be True or False, not 3"):
        find(data, "smoke", verbose=3)
