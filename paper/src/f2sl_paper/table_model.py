"""Parts of a table, independent of content and output format."""

from __future__ import annotations

from dataclasses import dataclass

from f2sl_paper.names import decimals
from f2sl_paper.paper import Figure

LAST_DIGIT = 0.01
"""The paper prints two decimals."""


@dataclass(frozen=True)
class Column:
    """Column of figures.

    Attributes
    ----------
    label, under : str
        Its head, and what stands below it in small print.
    key : str
        Its name in a CSV file.
    better : {"lower", "higher", ""}
        Rule for the best entries of a block; "" if the paper marks none.
    form : {"figure", "count", "seconds", "ratio"}
        Format of numbers, and how they are compared with the paper's.
    """

    label: str
    key: str
    better: str = ""
    form: str = "figure"
    under: str = ""

    @property
    def head(self) -> str:
        """Its head on one line."""
        return f"{self.label}, {self.under}" if self.under else self.label

    def written(self, value: float) -> str:
        """Write a number: counts whole, seconds with three significant digits, others with two decimals.

        Examples
        --------
        >>> Column("", "").written(1234.5), Column("", "", form="seconds").written(0.01234)
        ('1,234.50', '0.0123')
        """
        return f"{value:,.{self.decimals(value)}f}"

    def printed(self, value: float) -> str:
        """Write a number of the paper's: counts whole, others with the two decimals that it has."""
        return f"{value:,.{0 if self.form == 'count' else 2}f}"

    def decimals(self, value: float) -> int:
        """Return the decimals that a number is written with."""
        if self.form == "count":
            return 0
        return decimals(value) if self.form == "seconds" else 2


@dataclass(frozen=True)
class Entry:
    """One place in a table: our figure and the paper's.

    Attributes
    ----------
    state : {"empty", "done", "limit", "failed"}
        "limit" is the paper's "-".
    figure : Figure or None
        Ours; a deviation of NaN is not known.
    remark : str
        The limit, or how many data sets failed.
    best, star : bool
        The best of its block; farther from the paper's than two standard deviations and 10 %.
    paper_state : {"", "done", "limit"}
        True if the paper has a figure here, or a "-".
    """

    state: str = "empty"
    figure: Figure | None = None
    remark: str = ""
    best: bool = False
    star: bool = False
    paper_state: str = ""
    paper: Figure | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.figure is None or self.paper is None else self.figure.mean - self.paper.mean


@dataclass(frozen=True)
class Row:
    """Row of a table: its heads (one text for each of the table's), its entries, and known differences.

    `differences` are numbers, from 1, of the known differences from the paper that the row is tied to.
    """

    heads: tuple[str, ...]
    entries: tuple[Entry, ...]
    differences: tuple[int, ...] = ()


@dataclass(frozen=True)
class Table:
    """Table of the paper; each of `blocks` has rows that belong together, such as those of a network."""

    number: int
    name: str
    title: str
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    blocks: tuple[tuple[Row, ...], ...]
    notes: tuple[str, ...]

    @property
    def stem(self) -> str:
        """Name of its files, without suffix."""
        return f"table-{self.number}-{self.name}"

    @property
    def rows(self) -> list[Row]:
        """Rows of all blocks."""
        return [row for block in self.blocks for row in block]
