"""Compile the kernels into Numba's cache: every learner learns once from a tiny table of each kind.

`make test` runs this before the tests, whose processes would otherwise each compile the same kernels.
"""

import warnings
from contextlib import suppress

import f2sl
from f2sl.learners.base import STRUCTURE
from f2sl.learners.local.base import LOCAL, MARKOV_BLANKET
from mixed_tools import drawn_missing, mixed_columns, mixed_table
from tables import make_table, related_codes, related_numbers

WITHOUT_KERNELS = ("dag-gnn", "notears")


def tiny_tables():
    """Give discrete tables, of numbers and of both; also with missing values."""
    yield make_table(related_codes(1, 100, 5))
    yield related_numbers(1, 100)
    for kinds in (("discrete",) * 5, ("discrete", "continuous") * 2):
        columns = mixed_columns(1, kinds=kinds)
        yield mixed_table(columns, kinds)
        yield mixed_table(columns, kinds, missing=drawn_missing(1, columns))


def main():
    warnings.simplefilter("ignore")
    for table in tiny_tables():
        for registry, learn in (
            (STRUCTURE, f2sl.learn),
            (LOCAL, f2sl.learn_pc),
            (MARKOV_BLANKET, f2sl.learn_mb),
        ):
            for entry in registry:
                # Not every learner takes every kind of table.
                with suppress(f2sl.DataError):
                    if entry.name not in WITHOUT_KERNELS:
                        learn(table, algorithm=entry.name)


if __name__ == "__main__":
    main()
