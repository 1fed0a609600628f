"""Constants for modules that must not import NumPy, such as those of the command line."""

from __future__ import annotations

import re

AUTO = "auto"
"""The value of options that stands for what fits the data."""

MISSING_SPELLINGS = (
    *("", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "#N/A N/A", "NULL", "null", "?"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
"""Cells of a text that are missing values."""

OTHER = "<other>"
"""State of all labels that are too rare for a state of their own."""

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
INTERVAL = re.compile(rf"\[({_NUMBER}), {_NUMBER}[)\]]")
"""The form of intervals that numbers are cut into."""

STAND_IN = "gene-like"
"""The network that the defaults of `random_network` give; it stands in for the F2SL paper's Gene."""

REMARKS = {STAND_IN: f"{STAND_IN} is random: it replaces the F2SL paper's Gene, which is not available"}
"""Remarks that go with some networks wherever they go, by name; files keep those."""
