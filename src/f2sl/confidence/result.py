"""The result of :func:`f2sl.bootstrap`: how often each pair was adjacent, and in which direction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._notes import Note, Use
from f2sl.confidence.average import averaged_graph, bound_on_false_edges, estimated_threshold
from f2sl.constraints import Constraints
from f2sl.data.column import ReadAs
from f2sl.errors import OptionError
from f2sl.graph import PDAG, FormatError, save_graph, write_atomically
from f2sl.graph.formats import json_file
from f2sl.graph.formats.common import read_file
from f2sl.knowledge import Knowledge
from f2sl.learners.resample import SUBSAMPLE, Replicate

FORMAT = json_file.CONFIDENCE


class Tally:
    """Counts of edges over replicates, in any order; its size does not depend on their number.

    The two halves of a division count together: a single half waits for the other.
    """

    def __init__(self, paired: bool) -> None:
        self.edges: Counter[int] = Counter()
        self.done: set[int] = set()
        self.n_incomplete = 0
        self._paired = paired
        self._waiting: dict[int, Replicate] = {}

    def has(self, number: int) -> bool:
        """Return whether a replicate is counted or waits for its other half."""
        return number in self.done or number in self._waiting

    def add(self, replicate: Replicate) -> None:
        """Count a replicate, once."""
        if self.has(replicate.number):
            return
        together = [replicate]
        if self._paired:
            other = self._waiting.pop(replicate.number ^ 1, None)
            if other is None:
                self._waiting[replicate.number] = replicate
                return
            together.append(other)
        for one in together:
            self.edges.update(one.edges.tolist())
            self.done.add(one.number)
            self.n_incomplete += not one.complete


@dataclass(frozen=True, eq=False, repr=False)
class Confidence:
    """Shares of the replicates that connect each pair of variables, by direction.

    Attributes
    ----------
    nodes : tuple of str
        The variables.
    pairs : ndarray of int64, shape (m, 2)
        The pairs that were adjacent at least once, by number, ascending.
    counts : ndarray of int64, shape (m, 3)
        Numbers of replicates that direct each pair from the first to the second, from the second to the
        first, and connect it without a direction.
    n_replicates : int
        The replicates that were finished.
    threshold : float
        Smallest confidence of the edges of `graph`.
    estimated : bool
        True if the threshold was estimated (Scutari and Nagarajan 2013), False if it was given.
    asked : dict
        Algorithm, options, method, seed, rows, and a digest of the table.
    knowledge : Knowledge or None
        Knowledge about edges.
    read_as : mapping or None
        The kind of each column, or the intervals that it was cut into.
    notes : tuple of Note
        Notes for the user on the data and the replicates.
    replicates : int
        The replicates that were asked for; more than `n_replicates` if the work was interrupted.

    Examples
    --------
    >>> import f2sl
    >>> found = f2sl.bootstrap(f2sl.load_example("asia"), "f2sl-c", replicates=10, random_state=1)
    >>> found
    Confidence(8 nodes, 10 replicates: 6 edges with a confidence of at least 0.9)
    >>> found.of("smoke", "lung")
    0.9
    """

    nodes: tuple[str, ...]
    pairs: Integers
    counts: Integers
    n_replicates: int
    threshold: float
    estimated: bool
    asked: Mapping[str, Any]
    knowledge: Knowledge | None = None
    read_as: ReadAs | None = None
    notes: tuple[Note, ...] = ()
    replicates: int = 0
    done: frozenset[int] = field(default=frozenset())
    n_incomplete: int = 0

    @classmethod
    def of_tally(
        cls,
        tally: Tally,
        nodes: tuple[str, ...],
        threshold: float | None,
        replicates: int,
        asked: Mapping[str, Any],
        knowledge: Knowledge | None,
        read_as: ReadAs,
        notes: Iterable[Note],
    ) -> Confidence:
        """Return the result of the counts; without a `threshold`, estimate it."""
        numbers = np.array(sorted(tally.edges), np.int64)
        keys, marks = np.divmod(numbers, 3)
        pairs, position = np.unique(keys, return_inverse=True)
        counts = np.zeros((len(pairs), 3), np.int64)
        counts[position, marks] = [tally.edges[number] for number in numbers.tolist()]
        n = len(tally.done)
        estimate = estimated_threshold(counts.sum(axis=1) / max(1, n))
        messages = list(notes)
        if n < replicates:
            text = f"incomplete: {n:,} of {replicates:,} replicates were finished"
            messages.append(Note("incomplete", text))
        if tally.n_incomplete:
            text = f"the time limit ended {tally.n_incomplete:,} of {n:,} replicates early"
            messages.append(Note("time-limit", text))
        return cls(
            nodes,
            np.column_stack(np.divmod(pairs, max(1, len(nodes)))),
            counts,
            n,
            estimate if threshold is None else float(threshold),
            threshold is None,
            asked,
            knowledge,
            read_as,
            tuple(messages),
            replicates,
            frozenset(tally.done),
            tally.n_incomplete,
        )

    def tally(self) -> Tally:
        """Return the counts, to continue counting."""
        tally = Tally(self.asked.get("method") == SUBSAMPLE)
        keys = self.pairs @ [len(self.nodes), 1] if len(self.pairs) else self.pairs[:, 0]
        for key, row in zip(keys.tolist(), self.counts.tolist(), strict=True):
            tally.edges.update({key * 3 + mark: n for mark, n in enumerate(row) if n})
        tally.done, tally.n_incomplete = set(self.done), self.n_incomplete
        return tally

    @property
    def complete(self) -> bool:
        """True if all replicates were finished."""
        return self.n_replicates >= self.replicates

    @cached_property
    def confidences(self) -> Floats:
        """Share of the replicates that connect each of the `pairs`."""
        return np.asarray(self.counts.sum(axis=1) / max(1, self.n_replicates))

    @cached_property
    def _rules(self) -> Constraints:
        if self.knowledge is None:
            return Constraints.none(len(self.nodes))
        return self.knowledge.constraints(self.nodes)

    @cached_property
    def graph(self) -> PDAG:
        """Averaged graph; the weights of its edges are their confidences.

        It has no directed cycle and obeys the knowledge. :func:`f2sl.confidence.average.averaged_graph`
        states the rule; ``graph.to_dag()`` directs the undirected edges.
        """
        parts = self.nodes, self.pairs, self.counts, self.n_replicates, self.threshold, self._rules
        graph = averaged_graph(*parts)
        graph.knowledge, graph.read_as = self.knowledge, self.read_as
        return graph

    @cached_property
    def false_edges(self) -> float | None:
        """Shah and Samworth's bound on the expected number of false edges in `graph`.

        None with ``method="bootstrap"``, for which there is no bound, and for thresholds up to 1/2. It holds
        for a threshold that was chosen before looking at the confidences: None if it was estimated from them.
        """
        if self.asked.get("method") != SUBSAMPLE or not self.n_replicates or self.estimated:
            return None
        n, rules = len(self.nodes), self._rules
        n_pairs = n * (n - 1) // 2
        if rules:
            n_pairs = sum(int(rules.may_be_adjacent(v).sum()) for v in range(n)) // 2 - len(rules.required)
        given = rules.requires_adjacency(*self.pairs.T)
        return bound_on_false_edges(float(self.confidences[~given].sum()), n_pairs, self.threshold)

    def at(self, threshold: float) -> Confidence:
        """Return the same with another threshold.

        Examples
        --------
        >>> import f2sl
        >>> found = f2sl.bootstrap(f2sl.load_example("asia"), "f2sl-c", replicates=10, random_state=1)
        >>> found.at(1.0).graph.n_edges
        5
        """
        return replace(self, threshold=checked_threshold("threshold", threshold), estimated=False)

    def of(self, a: str, b: str, *, directed: bool = False) -> float:
        """Return the confidence of the edge between two variables, or with `directed` of ``a -> b``."""
        whole = PDAG.from_arrays(self.nodes)
        i, j = whole._number(a), whole._number(b)
        found = np.flatnonzero((self.pairs == sorted((i, j))).all(axis=1))
        if not len(found):
            return 0.0
        row = self.counts[found[0]]
        return float((row[int(i > j)] if directed else row.sum()) / self.n_replicates)

    @property
    def by_pair(self) -> dict[tuple[str, str], float]:
        """Confidence of each edge that was found at least once, by the names of its ends."""
        ends = ((self.nodes[a], self.nodes[b]) for a, b in self.pairs.tolist())
        return dict(zip(ends, self.confidences.tolist(), strict=True))

    def show(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write an HTML page to explore the averaged graph; options are those of :func:`f2sl.show`."""
        from f2sl.view.page import show

        return show(self, path, **options)

    def to_frame(self) -> Any:
        """Return all pairs that were adjacent at least once, the most often adjacent first.

        A pandas frame if pandas is installed, otherwise a PyArrow table, with the columns ``a``, ``b``,
        ``edge``, ``a -> b``, ``b -> a`` and ``undirected`` (shares of all replicates), and ``in graph``.
        """
        import pyarrow as pa

        names = np.array(self.nodes, object)
        shares = self.counts / max(1, self.n_replicates)
        order = np.lexsort((self.pairs[:, 1], self.pairs[:, 0], -self.confidences))
        kept = {frozenset(edge) for edge in (*self.graph.directed_edges, *self.graph.undirected_edges)}
        ends = names[self.pairs[order]].reshape(-1, 2).T.tolist()
        columns = {"a": pa.array(ends[0], pa.string()), "b": pa.array(ends[1], pa.string())}
        columns["edge"] = pa.array(self.confidences[order])
        for mark, name in enumerate(("a -> b", "b -> a", "undirected")):
            columns[name] = pa.array(shares[order, mark])
        columns["in graph"] = pa.array(
            [frozenset(pair) in kept for pair in zip(*ends, strict=True)], pa.bool_()
        )
        table = pa.table(columns)
        try:
            return table.to_pandas()
        except ImportError:
            return table

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file: all of it as JSON, or the averaged graph in any other format of :func:`save_graph`.

        The confidences are the weights of the graph's edges.
        """
        if Path(path).suffix.lower() == ".json":
            # Beside the averaged graph; pairs are given by number.
            facts = {
                "asked": dict(self.asked),
                "replicates": self.replicates,
                "finished": _as_ranges(self.done),
                "ended_early": self.n_incomplete,
                "threshold": self.threshold,
                "estimated": self.estimated,
                "false_edges": self.false_edges,
                "notes": [note.to_json() for note in self.notes],
                "pairs": np.column_stack([self.pairs, self.counts]).tolist(),
            }
            write_atomically(path, json_file.write(self.graph, FORMAT, {"confidence": facts}))
        else:
            save_graph(self.graph, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file that :meth:`save` wrote as JSON.

        Raises
        ------
        FileError
            If there is no such file, or it holds something else.
        """
        return read_file(path, cls._of_json)

    @classmethod
    def _of_json(cls, content: bytes) -> Self:
        """Return the confidence that a file holds."""
        given = json_file.parsed(content, (FORMAT,))
        nodes = tuple(json_file.read(content).nodes)
        known, read = json_file.knowledge_of(given), json_file.read_as_of(given)
        try:
            facts = given["confidence"]
            rows = np.array(facts["pairs"], np.int64).reshape(-1, 5)
            if len(rows) and (rows.min() < 0 or rows[:, :2].max() >= len(nodes)):
                raise ValueError("pairs of unknown variables")
            done = frozenset(i for first, last in facts["finished"] for i in range(first, last + 1))
            return cls(
                nodes,
                rows[:, :2],
                rows[:, 2:],
                len(done),
                float(facts["threshold"]),
                bool(facts["estimated"]),
                dict(facts["asked"]),
                known,
                read,
                tuple(map(Note.from_json, facts["notes"])),
                int(facts["replicates"]),
                done,
                int(facts["ended_early"]),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise FormatError(f"not a confidence of f2sl ({error!r})") from None

    def __repr__(self) -> str:
        of = "" if self.complete else f" of {self.replicates:,}"
        return (
            f"Confidence({len(self.nodes):,} nodes, {self.n_replicates:,}{of} replicates: "
            f"{self.graph.n_edges:,} edges with a confidence of at least {self.threshold:g})"
        )


def checked_threshold(name: str, value: Any) -> float:
    """Check a threshold of confidence."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= 1:
        raise OptionError(Use(name), f" must be a number above 0 and up to 1, not {value!r}")
    return float(value)


def _as_ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Write whole numbers as first and last of each run.

    Examples
    --------
    >>> _as_ranges({0, 1, 2, 5})
    [[0, 2], [5, 5]]
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs
