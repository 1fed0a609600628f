"""The commands of ``f2sl`` by name; none is imported before it is needed.

A package that extends f2sl adds commands of its own to `COMMANDS` in the function that its entry point names
(:mod:`f2sl._extensions`). A command is a function with Typer's annotations; its module has `EXAMPLES`.
"""

from __future__ import annotations

from f2sl._registry import Registry

COMMANDS = Registry("command")
"""The commands in the order of the help, each a function of that name."""

_FILES = {"pc": "one_target", "mb": "one_target", "predict": "query", "check": "reading", "why": "learn"}
_FILES |= dict.fromkeys(("example", "networks", "sample"), "samples")
"""Files of the commands that share one; each of the others has a file of its name."""

for _name, _summary in {
    "learn": "Learn a graph from a table.",
    "bootstrap": "Measure the confidence of each edge by resampling.",
    "pc": "Find one variable's parents and children.",
    "mb": "Find one variable's Markov blanket.",
    "check": "Show how a table is read, and its problems.",
    "compare": "Compare a learned graph with the true one.",
    "show": "Write a page to explore a graph.",
    "why": "Explain why two variables are adjacent, or are not.",
    "fit": "Estimate the probabilities of a graph from a table.",
    "query": "Show the distribution of variables, given others.",
    "predict": "Predict a variable for new rows.",
    "algorithms": "List the algorithms and their options.",
    "example": "Write a bundled example to a file.",
    "networks": "List the bundled networks.",
    "sample": "Draw a table from a network.",
}.items():
    COMMANDS.add(_name, f"f2sl.cli.{_FILES.get(_name, _name)}:{_name}", _summary)

PACKAGES = {"reproduce": "f2sl-paper", "report": "f2sl-paper"}
"""Commands that other packages add, and the package to install for each."""
