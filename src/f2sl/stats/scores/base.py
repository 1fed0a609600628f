"""Base of the scores, and how to write one of your own.

A score says how well a set of parents explains a child. It is a log score: it adds up over the families of a
network, and higher is better. The only required method scores many families at once, all with the same number
of parents:

>>> class FewParents(Score):
...     def families(self, data, children, parents):
...         return np.full(len(children), -float(parents.shape[1]))

=========================  ======================================================================
`bind`                     a faster way to score families of any sizes on an engine's data
`set_formula`              the score as a difference of numbers of sets (:mod:`~f2sl.stats.scores.sets`),
                           which the searches for best networks need
`edge_log_prior`           what each edge adds to the log score of a structure
=========================  ======================================================================

A score that is a formula on the contingency table of a family derives from
:class:`~f2sl.stats.scores.tables.TableScore` and has `of_tables` instead of `families`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl.data.column import DISCRETE
from f2sl.data.engines import Queries
from f2sl.stats.answers import as_numbers
from f2sl.stats.registries import configured

UNKNOWN = -(2**63)
"""Marks a value of a set that has not been computed."""

IMPOSSIBLE = UNKNOWN + 1
"""Marks a set that is too large for any family over it to be in a best network."""

LEAST = -(2**62)
"""Lower bound of values in fixed point; marks such as `UNKNOWN` are below it.

Half the range of an int64, so that the sum of two values that are not below it cannot overflow.
"""

TINIEST_SHARE = 1e-18
"""Share of the samples that is smaller than any other except 0."""

MOST_MEMBERS = 40
"""Largest number of variables of a set, for the choice of the unit: more than any exact search can do."""


@configured
class Score:
    """Base of the scores: options, and a method that scores families."""

    kinds: tuple[str, ...] = (DISCRETE,)
    _requires = "families"

    @property
    def edge_log_prior(self) -> float:
        """Contribution of each edge to the log score, for learners with a prior on structures."""
        return 0.0

    def families(self, data: Any, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family.

        Parameters
        ----------
        data : engine
            Has `n_rows`, `n_variables`, ``column(v)``; `counts` of discrete columns, `moments` of continuous
            ones.
        children : ndarray of shape (m,)
            Variables, by number.
        parents : ndarray of shape (m, k)
            The parents of each child, in ascending order.
        """
        raise NotImplementedError

    def bind(self, engine: Any) -> FamilyScores:
        """Prepare the score to score families on an engine's data."""
        return FamilyScores(partial(self._by_size, engine), self.edge_log_prior)

    def _by_size(self, engine: Any, queries: Queries) -> Floats:
        """Score families of any sizes; families of one size are scored together."""
        scores = np.empty(len(queries))
        for own, rows in by_size(queries):
            found = self.families(engine, rows[:, -1], rows[:, :-1])
            scores[own] = as_numbers("families", found, (len(rows),), self)
        return scores


def by_size(queries: Queries) -> Iterator[tuple[Integers, Integers]]:
    """Yield the positions of the queries of each size, and their variables, a row each."""
    sizes = np.diff(queries.start)
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes == size)
        yield own, queries.variables[queries.start[own][:, None] + np.arange(size)]


class FamilyScores:
    """Scores of families on an engine's data: some at a time, cached, or very many at once.

    Parameters
    ----------
    evaluate : callable
        Scores queries, each a family with the parents first and the child last: one number each.
    edge_log_prior : float
        Contribution of each edge to the log score of a structure.
    """

    def __init__(self, evaluate: Callable[[Queries], Floats], edge_log_prior: float = 0.0) -> None:
        self.edge_log_prior = edge_log_prior
        self.evaluate = evaluate
        self._known: dict[Hashable, float] = {}
        self._n_at_once = 0

    @property
    def n_families(self) -> int:
        """Number of families that were scored."""
        return len(self._known) + self._n_at_once

    def score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> Floats:
        """Score families (child, parents in ascending order); earlier scores are cached."""
        new = list(dict.fromkeys(family for family in families if family not in self._known))
        if new:
            values = self.evaluate(Queries.of([(*parents, child) for child, parents in new]))
            self._known.update(zip(new, values.ravel().tolist(), strict=True))
        return np.array([self._known[family] for family in families])

    def score_all(self, children: Integers, parents: Integers) -> Floats:
        """Score families: a row of parents for each child, ascending; negative entries are ignored."""
        self._n_at_once += len(children)
        return self.evaluate(Queries.of_some(np.column_stack([parents, children]))).ravel()


class Compared(NamedTuple):
    """Scores of families, with and without one parent, on the same samples, (m,) each.

    `share` is that of the samples, of all.
    """

    score: Floats
    without: Floats
    share: Floats


Family = tuple[int, ...]
"""The parents in ascending order, then the child."""

MOST_TRIED = 6
"""Parents with missing values up to which all families without one of them are compared."""


class AvailableFamilies:
    """Scores families with missing values, each on the samples that have all of its variables.

    Families of one child then have different samples, which alone makes their scores differ. So a family is
    compared with a smaller one on its own samples: with B the parents P without one of them, ::

        score(v | P) = score(v | B) + (score of v | P - score of v | B, on the samples of P and v) N / n

    where n of N samples have P and v. Both scores are averages per sample (the node-average likelihood of
    Bodewes and Scutari 2021), and their difference does not depend on which samples happen to be complete.
    Among the sets B the one with the best score is used; parents without missing values do not change the
    samples and always stay. With more than `MOST_TRIED` parents with missing values, B lacks only the worst
    single parent: trying all would need the scores of all subsets of a family.

    Parameters
    ----------
    compare : callable
        From queries and the position of a parent in each (-1 for none) to :class:`Compared`.
    missing : ndarray of bool
        True for variables with missing values.
    """

    def __init__(self, compare: Callable[[Queries, Integers], Compared], missing: Mask) -> None:
        self._compare = compare
        self._missing: list[bool] = missing.tolist()
        self._known: dict[Family, float] = {}

    def __call__(self, queries: Queries) -> Floats:
        """Score families, the parents first; earlier scores are cached."""
        variables, known = queries.variables.tolist(), self._known
        families = [tuple(variables[a:b]) for a, b in pairwise(queries.start.tolist())]
        waiting = [family for family in families if family not in known]
        large = (family for family in waiting if len(family) > MOST_TRIED + 1)
        singles = {(v, family[-1]) for family in large for v in family[:-1] if self._missing[v]}
        if unknown := sorted(singles - known.keys()):
            self(Queries.of(unknown))
        # By the number of parents with gaps, each family with the families without one of these, by its
        # position: those of one level need the level before.
        levels: list[dict[Family, dict[int, Family]]] = [{}]
        while waiting:
            family = waiting.pop()
            positions = [position for position, v in enumerate(family[:-1]) if self._missing[v]]
            levels += [{} for _ in range(len(positions) + 1 - len(levels))]
            level = levels[len(positions)]
            if family not in level:
                if len(positions) > MOST_TRIED:
                    positions = [min(positions, key=lambda i: known[family[i], family[-1]])]
                level[family] = {i: family[:i] + family[i + 1 :] for i in positions}
                waiting += [smaller for smaller in level[family].values() if smaller not in known]
        for level in filter(None, levels):
            self._score_level(level)
        return np.array([known[family] for family in families])

    def _score_level(self, level: dict[Family, dict[int, Family]]) -> None:
        """Score families whose smaller families have been scored."""
        left_out, before = np.full(len(level), -1), np.zeros(len(level))
        for t, smaller in enumerate(level.values()):
            if smaller:
                scores = [self._known[family] for family in smaller.values()]
                before[t] = max(scores)
                left_out[t] = list(smaller)[scores.index(before[t])]
        found = self._compare(Queries.of(list(level)), left_out)
        with np.errstate(invalid="ignore"):  # minus infinity with and without the parent: too few samples
            values = before + (found.score - found.without) / np.maximum(found.share, TINIEST_SHARE)
        values[(found.share == 0.0) | np.isnan(values)] = -np.inf
        self._known.update(zip(level, values.tolist(), strict=True))


def words_of(masks: Sequence[int], n_members: int) -> Integers:
    """Return masks of any size as rows of 64-bit words; the first word has the bits of members 0 to 63.

    Python's integers have no largest one; the kernels' do.

    Examples
    --------
    >>> words_of([5, 1 << 64], 65).tolist()
    [[5, 0], [0, 1]]
    """
    n_words = words_for(n_members)
    bits = b"".join([mask.to_bytes(8 * n_words, "little") for mask in masks])
    return np.frombuffer(bits, "<i8").reshape(len(masks), n_words)


def words_for(n_members: int) -> int:
    """Return the number of 64-bit words in a mask of this many members."""
    return max(1, -(-n_members // 64))
