"""How far the work has come, for those who watch."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from f2sl.errors import F2SLWarning


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Show how far the work has come, on the standard error, if somebody is watching."""
    # What a learner warns of stands among the notes that every command prints.
    warnings.simplefilter("ignore", F2SLWarning)
    if quiet or not sys.stderr.isatty():
        yield
        return
    from f2sl._rich import on_terminal

    with on_terminal():
        yield
