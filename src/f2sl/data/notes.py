"""Notes on a table before learning."""

from __future__ import annotations

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from f2sl._notes import Note, Use, of_kind
from f2sl.data.column import CONTINUOUS, DISCRETE, MIXED
from f2sl.data.derived import describe_derived
from f2sl.data.matrix import Sample
from f2sl.data.names import listing
from f2sl.data.ordered import describe_repeated, describe_rows
from f2sl.data.table import Arrays, Block, Table
from f2sl.errors import F2SLWarning

LIKE_AN_IDENTIFIER = 0.9
"""Ratio of states to rows from which on a column looks like an identifier."""

FEWEST_ROWS = 20
"""With fewer rows than this, many columns have nearly as many states as there are rows, and correlations are
mostly chance."""

FEWEST_PER_COLUMN = 5
"""With fewer rows for each column than this, most directions and many edges are chance."""

ROWS_PER_COLUMN = 2
"""Rows that two variables of a mixed table need for each of their columns: a kept identifier explains all."""

COLUMNS_AT_ONCE, ROWS_COMPARED = 1 << 10, 1 << 12
"""Numbers of columns and rows in a quick comparison that rules out most columns as aliases."""


def describe_constant(names: Sequence[str], n_rows: int) -> Note | None:
    """Return the note that columns have one state only, if there are any.

    Examples
    --------
    >>> describe_constant(["a"], 5)
    "only one state, so no edges: column 'a'"
    """
    why = "only one row" if n_rows == 1 else "only one state"
    return _listed("constant", f"{why}, so no edges: ", names)


def identifier_columns(table: Table) -> Note | None:
    """Return a note on columns with nearly as many states as rows, or None; they hide other edges."""
    like = (table.cardinalities > LIKE_AN_IDENTIFIER * table.n_rows) & (table.n_rows > FEWEST_ROWS)
    return _listed(
        "like-identifier",
        "nearly as many states as rows, like an identifier (better left out): ",
        [table.names[i] for i in np.flatnonzero(like)],
    )


def states_without_rows(table: Table) -> Note | None:
    """Return a note on columns of a mixed table with too many states for an indicator each, or None.

    Those that look like identifiers have a note of their own.
    """
    if table.kind != MIXED:
        return None
    many = table.cardinalities - 1 > table.n_rows / ROWS_PER_COLUMN
    many &= table.cardinalities <= LIKE_AN_IDENTIFIER * table.n_rows
    what = "fewer than two rows for each state, so no edges beside continuous columns: "
    return _listed("rare-states", what, [table.names[i] for i in np.flatnonzero(many)])


def alias_groups(table: Table) -> list[list[int]]:
    """Find the discrete columns that determine each other one to one, the earlier of each group first.

    Two columns are aliases if they are the same once their codes are numbered in the order in which they
    occur. Only columns that change at the same places of the first rows are compared or, if rows are not in
    memory, columns whose states are equally frequent.

    Examples
    --------
    >>> from f2sl import open_table
    >>> data = {"survived": [0, 1, 1, 0], "alive": ["no", "yes", "yes", "no"], "sex": ["m", "f", "m", "f"]}
    >>> alias_groups(open_table(data))
    [[0, 1]]
    """
    of_states = [i for i in table.of_kind(DISCRETE) if len(table.columns[i].states) > 1]
    alike: dict[Any, list[int]] = defaultdict(list)
    codes = getattr(table, "codes", None)
    for first in range(0, len(of_states), COLUMNS_AT_ONCE):
        some = of_states[first : first + COLUMNS_AT_ONCE]
        if isinstance(codes, np.ndarray):
            rows = codes[table.positions[some], :ROWS_COMPARED]
            signs = [sign.tobytes() for sign in np.packbits(rows[:, 1:] == rows[:, :-1], axis=1)]
        else:
            signs = [np.sort(counts[counts > 0]).tobytes() for counts in (table.margins[i] for i in some)]
        for i, sign in zip(some, signs, strict=True):
            alike[sign].append(i)
    shared = [(sign, i) for sign, members in alike.items() if len(members) > 1 for i in members]
    if shared and not isinstance(codes, np.ndarray):
        # In one pass, because to fetch a column from workers takes longer than to look at it.
        [changes] = table.select([i for _, i in shared]).add_up(_changes)
        alike = defaultdict(list)
        for (sign, i), changed in zip(shared, changes.tolist(), strict=True):
            alike[sign, changed].append(i)
    groups: dict[bytes, list[int]] = defaultdict(list)
    for members in alike.values():
        for i in members if len(members) > 1 else ():
            digest = _digest_of_pattern(table, i)
            if digest is not None:
                groups[digest].append(i)
    return sorted(group for group in groups.values() if len(group) > 1)


def _changes(block: Block) -> Arrays:
    """Return a number for the rows of a block where each column's state changes: equal for aliases."""
    weights = np.arange(1, block.codes.shape[1]) * 1103515245 % 2147483648
    return (np.array([weights[row[1:] != row[:-1]].sum() for row in block.codes], np.int64),)


def _digest_of_pattern(table: Table, i: int) -> bytes | None:
    """Return a digest of a column's codes, numbered by first occurrence; None if only one code occurs."""
    rank = np.full(len(table.columns[i].states) + 1, -1)
    known, digest = 0, hashlib.blake2b()
    for part in table.parts_of_column(i):
        begins = np.full(len(rank), len(part))
        begins[part[::-1]] = np.arange(len(part))[::-1]  # of equal codes the one assigned last stays
        new = np.flatnonzero((begins < len(part)) & (rank < 0))
        rank[new[np.argsort(begins[new])]] = np.arange(known, known + len(new))
        known += len(new)
        digest.update(rank.astype(np.uint16)[part].tobytes())
    return digest.digest() if known > 1 else None


def describe_aliases(table: Table) -> Note | None:
    """Return a note on columns that determine each other, or None."""
    groups = alias_groups(table)
    if not groups:
        return None
    why = "columns that determine each other one to one, and hide each other's edges ("
    pairs = listing([" and ".join(repr(table.names[i]) for i in group) for group in groups])
    names = [table.names[i] for group in groups for i in group]
    return Note("aliases", why, Use("aliases", "merge"), f" keeps one of each group): {pairs}", columns=names)


def without_aliases(table: Table) -> Table:
    """Return a table with only the first column of each group of aliases, which names the others."""
    columns, left_out, merges = list(table.columns), set[int](), []
    for first, *others in alias_groups(table):
        columns[first] = columns[first]._replace(aliases=tuple(table.columns[i] for i in others))
        left_out.update(others)
        names = ", ".join(repr(table.names[i]) for i in others)
        merges.append(f"{table.names[first]!r} also represents {names}")
    if not left_out:
        return table
    kept = [i for i in range(table.n_variables) if i not in left_out]
    merged = Note("merged", f"merged: {listing(merges)}", columns=[table.names[i] for i in sorted(left_out)])
    chosen = table.select(kept)
    return chosen._with(columns=tuple(columns[i] for i in kept), notes=(*table.notes, merged))


def warn_of_identifiers(table: Table, stacklevel: int) -> None:
    """Warn the caller of a learner, `stacklevel` calls up, of identifiers, left out or among the states."""
    for text in (*of_kind(table.notes, "identifier"), identifier_columns(table)):
        if text is not None:
            warnings.warn(text, F2SLWarning, stacklevel=stacklevel)


def remarks(table: Table) -> list[Note]:
    """Return all notes on a table.

    Examples
    --------
    >>> from f2sl import open_table
    >>> remarks(open_table({"a": [0.1, 0.2, 0.4], "b": [0.3, 0.1, 0.2]}))
    ['only 3 rows: the result is unreliable']
    """
    constant = [table.names[i] for i in np.flatnonzero(table.cardinalities == 1)]
    on_columns = [
        describe_constant(constant, table.n_rows),
        identifier_columns(table),
        states_without_rows(table),
        describe_aliases(table),
    ]
    if table.n_rows < FEWEST_ROWS:
        few = Note("few-rows", f"only {table.n_rows} rows: the result is unreliable", rows=table.n_rows)
        return [
            text for text in (*on_columns, few if CONTINUOUS in table.kinds else None) if text is not None
        ]
    rows = describe_repeated(table)
    # Repeated rows would pass for evidence of all else.
    if not rows and np.count_nonzero(np.less(*table.ends)) > 1:
        sample = Sample.of_table(table)
        derived, found = describe_derived(sample)
        rows = [*derived, *describe_rows(sample, found)]
    if table.n_rows < FEWEST_PER_COLUMN * table.n_variables:
        counted = f"{table.n_rows:,} rows for {table.n_variables:,} columns"
        text = f"only {counted}: many edges and most directions are unreliable"
        rows.append(Note("few-rows", text, rows=table.n_rows))
    return [text for text in (*on_columns, *rows) if text is not None]


def _listed(kind: str, what: str, names: Sequence[str]) -> Note | None:
    if not names:
        return None
    which = f"column{'s' if len(names) > 1 else ''} {listing(list(map(repr, names)))}"
    return Note(kind, what, which, columns=names)
