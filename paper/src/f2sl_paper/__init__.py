"""The experiments of the F2SL paper, and their data.

:func:`reproduce` runs what is missing in a folder of results, :func:`report` shows what is there.

======================================  ==================================================================
:mod:`~f2sl_paper.settings`             networks, sizes, learners and their options
``reproduction``                        all of it in one call
``sources``, ``supplement``             the paper's data, or samples of the bundled networks
``plan``                                which units there are, and in which order
``worker``                              how a unit is run and measured
``harness``                             runs units, or the jobs of benchmarks, in processes with limits
``store``                               the file of results
``paper``                               the paper's own figures
``reporting``                           tables, figures and the page in one call
``results``                             units put together into cells: means and deviations
``tables``, ``figures``, ``claims``     what the paper shows and claims, from our cells
``differences``                         what differs from the paper and why
``page``, ``table_text``                how all this is written down
``cli``                                 the commands ``f2sl reproduce`` and ``f2sl report``
======================================  ==================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from f2sl_paper.reporting import report as report
    from f2sl_paper.reproduction import Summary as Summary
    from f2sl_paper.reproduction import reproduce as reproduce

_HOMES = {"Summary": "reproduction", "report": "reporting", "reproduce": "reproduction"}

__all__ = ["Summary", "register", "report", "reproduce"]


def register() -> None:
    """Add the commands to ``f2sl``, which calls this function (an entry point in ``f2sl.extensions``)."""
    from f2sl.cli.commands import COMMANDS

    COMMANDS.add("reproduce", "f2sl_paper.cli.reproduce:reproduce", "Run the experiments of the F2SL paper.")
    COMMANDS.add(
        "report", "f2sl_paper.cli.report:report", "Write tables, figures and a page of these experiments."
    )


def __getattr__(name: str) -> Any:
    """Import the functions on first use, so that adding the commands imports nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'f2sl_paper' has no attribute {name!r}")
    return getattr(import_module(f"f2sl_paper.{_HOMES[name]}"), name)
