"""The experiments of the F2SL paper, and the data they were made with."""

from f2sl.experiments.report import report

__all__ = ["report"]
