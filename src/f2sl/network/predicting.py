"""Predict one variable for each row of new data.

Rows are grouped by their known columns and by their states: the network is prepared once for all rows with
the same known columns, and queried once for all rows with the same states, whose numbers form a matrix. If
all of the target's Markov blanket is known, nothing else is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._notes import Note, Use
from f2sl.data.binning import interval_codes
from f2sl.data.column import DISCRETE
from f2sl.data.frames import Source, open_source
from f2sl.data.open import is_path
from f2sl.data.table import Table
from f2sl.data.values import RawColumn, Refused
from f2sl.errors import DataError, OptionError, shown, shown_list, unknown_name
from f2sl.network.counts import placed_code
from f2sl.network.inference import Given, Question

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork

MOST_ROWS = 4096
"""Number of rows predicted at a time."""


def predict(
    network: BayesianNetwork, data: Any, target: str, probabilities: bool, drop: Sequence[str] = ()
) -> Any:
    """Predict a variable; see ``BayesianNetwork.predict``."""
    if target not in network.variables:
        raise OptionError(unknown_name("variable", target, network.variables))
    states = network.states.get(target)
    if probabilities and states is None:
        raise OptionError(f"only discrete variables have probabilities, and {shown(target)} is continuous")
    rows = Rows(network, data, target, drop)
    found = np.empty((rows.n_rows, len(states)) if states else rows.n_rows)
    for given, groups in rows.by_columns():
        asked = Question(given, [target])
        for codes, members in groups:
            for part in np.array_split(members, -(-len(members) // MOST_ROWS)):
                x = np.array([rows.numbers[name][part] for name in asked.observed]).T
                x = x.reshape(len(part), len(asked.observed))
                try:
                    if states:
                        found[part] = asked.states(codes, x)
                    else:
                        weights, means, _ = asked.mixture(codes, x)
                        found[part] = (weights * means).sum(axis=0)
                except DataError as error:
                    raise DataError(f"row {part[0]} (counted from 0) or one like it: ", error.note) from None
    if states is None or probabilities:
        return found
    return typed(states, rows.target)[found.argmax(axis=1)]


def typed(states: Sequence[str], column: RawColumn | None = None) -> Any:
    """Return states as an array of booleans or numbers, if all of them are such, else of strings.

    States count as such if Python would write them that way: ``False``, ``True``; ``3``; ``0.5``. If the data
    have a column of the variable, states are strings if its values are strings; otherwise booleans are
    recognised in any spelling.

    Examples
    --------
    >>> typed(("False", "True")).tolist(), typed(("2", "10")).tolist(), typed(("no", "1")).tolist()
    ([False, True], [2, 10], ['no', '1'])
    """
    strings = np.array(states, dtype=object)
    if column is not None and any(isinstance(label, str) for label in column.labels):
        return strings
    truths = [state if column is None else state.capitalize() for state in states]
    if {*truths} <= {"False", "True"}:
        return np.array(truths) == "True"
    for number in (int, float):
        with suppress(ValueError):
            values = [number(state) for state in states]
            if [*map(str, values)] == [*states] and np.isfinite(values).all():
                return np.array(values)
    return strings


class Rows:
    """New rows in terms of a network: codes (-1 where missing) and continuous values (NaN where missing)."""

    def __init__(self, network: BayesianNetwork, data: Any, target: str, drop: Sequence[str] = ()) -> None:
        self._network, self._target = network, target
        source = _source_of(data)
        self.n_rows = source.n_rows
        self.codes: dict[str, Integers] = {}
        self.numbers: dict[str, Floats] = {}
        self.target: RawColumn | None = None
        if target in source.names:
            with suppress(Refused):
                self.target = source.column(source.names.index(target))
        problems = [
            Note("option", Use("drop"), ": ", unknown_name("column", name, source.names), columns=[name])
            for name in drop
            if name not in source.names
        ]
        left_out = {target, *drop}
        strange = [name for name in source.names if name not in network.variables and name not in left_out]
        if strange:
            lead = f"columns that are not in the network: {shown_list(strange)}; it has "
            known = f"{shown_list(network.variables)}; leave the others out with "
            problems.append(Note("columns", lead, known, Use("drop", strange), columns=strange))
        for i, name in enumerate(source.names):
            if name in strange or name in left_out:
                continue
            try:
                column = source.column(i)
                if name in network.states:
                    self.codes[name] = _codes(column, network.states[name])
                else:
                    self.numbers[name] = _numbers(column)
            except Refused as refused:
                message = f"column {shown(name)}: {refused.detail or refused.reason}"
                problems.append(Note("column", message, columns=[name]))
        if problems:
            raise DataError.of(problems)

    def by_columns(self) -> Iterator[tuple[Given, Iterator[tuple[dict[str, int], Integers]]]]:
        """Yield for each set of known columns a network with these as evidence, and the rows that have them.

        The rows come in groups with the same states.
        """
        names = [*self.codes, *self.numbers]
        known = [codes >= 0 for codes in self.codes.values()]
        known += [~np.isnan(values) for values in self.numbers.values()]
        patterns = np.array(known).reshape(len(names), self.n_rows).T
        blanket = set(self._network.markov_blanket(self._target))
        for pattern, members in _groups(patterns):
            observed = {name for name, there in zip(names, pattern, strict=True) if there}
            observed = blanket if blanket <= observed else observed
            given = Given(self._network)
            given.codes = {name: 0 for name in self.codes if name in observed}
            given.values = {name: 0.0 for name in self.numbers if name in observed}
            yield given, self._by_states(list(given.codes), members)

    def _by_states(self, names: list[str], members: Integers) -> Iterator[tuple[dict[str, int], Integers]]:
        codes = np.array([self.codes[name][members] for name in names], np.int64)
        for row, group in _groups(codes.reshape(len(names), len(members)).T):
            yield dict(zip(names, row.tolist(), strict=True)), members[group]


def _groups(rows: Any) -> Iterator[tuple[Any, Integers]]:
    """Yield each distinct row, and the numbers of the rows that equal it."""
    if not len(rows):
        return
    if not rows.shape[1]:
        yield rows[0], np.arange(len(rows))
        return
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(which.reshape(-1), minlength=len(distinct)))
    yield from zip(distinct, np.split(order, ends[:-1]), strict=True)


def _source_of(data: Any) -> Source:
    if isinstance(data, Table):
        return Source(data.names, data.n_rows, partial(_column_of, data))
    if is_path(data):
        from f2sl.data.files import data_files, read_files

        data, _ = read_files(data_files(data))
    return open_source(data)


def _column_of(table: Table, i: int) -> RawColumn:
    """Return a column of an open table."""
    values = np.asarray(table.column(i))
    if table.kinds[i] != DISCRETE:
        return RawColumn("reals", values, np.isnan(values))
    labels = table.states[i]
    missing = values >= len(labels)
    return RawColumn("labels", np.where(missing, 0, values), missing, labels)


def _codes(column: RawColumn, states: tuple[str, ...]) -> Integers:
    """Return the numbers of the states, -1 where missing; labels that do not occur are ignored.

    Numbers are put into their interval where the states are intervals.
    """
    if column.form != "labels":
        numbers = _numbers(column)
        codes = interval_codes(states, numbers)
        if codes is not None:
            return np.where(np.isnan(numbers), -1, codes)
    values, which = np.unique(column.values, return_inverse=True)
    missing = np.zeros(len(column.values), bool) if column.missing is None else column.missing
    occur = np.zeros(len(values), bool)
    occur[which.reshape(-1)[~missing]] = True
    found = np.full(len(values), -1)
    for i in np.flatnonzero(occur).tolist():
        label = column.labels[int(values[i])] if column.form == "labels" else values[i].item()
        code = placed_code(states, label)
        if code is None:
            raise Refused("state", unknown_name("state", str(label), states))
        found[i] = code
    return np.where(missing, -1, found[which.reshape(-1)])


def _numbers(column: RawColumn) -> Floats:
    if column.form == "labels" and column.n_missing < len(column.values):
        raise Refused("labels", "the variable is continuous, the column has labels")
    numbers = column.numbers()
    if np.isinf(numbers).any():
        raise Refused("infinite", "not all of its numbers are finite")
    return numbers
