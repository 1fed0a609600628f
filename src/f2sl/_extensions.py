"""Load the learners, tests, scores, measures and formats that installed packages add to f2sl.

A package names a module or a function in the group ``f2sl.extensions`` of its entry points. f2sl imports the
module, or calls the function, when it first meets an unknown name or suffix, and before it lists all names.
Libraries that only some functions need are imported by :func:`imported`.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any

from f2sl.errors import F2SLWarning, OptionError

EXTENSIONS = "f2sl.extensions"


@cache
def load_extensions() -> None:
    """Load all extensions once; skip one that cannot be loaded, with a warning."""
    from importlib.metadata import entry_points

    for point in entry_points(group=EXTENSIONS):
        try:
            found = point.load()
            if callable(found):
                found()
        except Exception as error:
            message = f"the extension {point.name!r} ({point.value}) cannot be loaded: {error}"
            warnings.warn(message, F2SLWarning, stacklevel=3)


def imported(module: str, needed_for: str, install: str) -> Any:
    """Import a module of another library; if it is missing, say how to install it.

    Raises
    ------
    OptionError
        If it is not installed.
    """
    try:
        with warnings.catch_warnings():  # importing some of them warns about things that users cannot change
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError:
        raise OptionError(f"{needed_for} needs {module.split('.')[0]}: pip install '{install}'") from None
