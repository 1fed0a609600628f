"""Sums of sets of variables, remembered, and those of smaller sets on the same samples made of them.

Where values are missing, the samples of a question are those that have all of its variables and of the
variables whose presence limits it. Scores and tests ask many questions of the same samples: about a family,
about its parents, about both without one of the parents. All are parts of one set of variables, the *host*.
The numbers of a host are summed up once in each configuration of its states; what a part needs are sums of
these over configurations, of the numbers that are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np

from f2sl._arrays import Integers, Mask
from f2sl.storage.protocol import Queries

MOST_BYTES = 1 << 26
"""What the sums remembered may take."""
MOST_GROUPS, ROWS_PER_GROUP = 1 << 12, 8
"""Hosts have at most so many configurations, and as many samples for each: otherwise less is done without."""

Host = tuple[int, ...]
"""Variables in ascending order."""


class _Known(NamedTuple):
    """What is known of a host: sums, sizes of its states, and places of variables among those of a kind."""

    sums: Integers
    sizes: list[int]
    places: dict[int, int]


class SharedSums:
    """Remembers the sums of hosts.

    Parameters
    ----------
    cardinalities : ndarray of int64
        The number of states of each variable, 0 for numbers.
    gaps : ndarray of bool
        Which variables samples miss.
    n_rows : int
        The number of samples.

    Examples
    --------
    >>> shared = SharedSums(np.array([2, 0, 3]), np.array([True, False, True]), 100)
    >>> shared.hosts(Queries.of([(1, 0), (1, 5), (2, 4)]))  # presences are 3 more than their variables
    [(0, 1), (1, 2), (2,)]
    """

    def __init__(self, cardinalities: Integers, gaps: Mask, n_rows: int) -> None:
        self._sizes: list[int] = cardinalities.tolist()
        self._gaps: list[bool] = gaps.tolist()
        self._most_groups = min(MOST_GROUPS, n_rows // ROWS_PER_GROUP)
        self._known: dict[Host, _Known] = {}
        self._n_bytes = 0

    def hosts(self, queries: Queries) -> list[Host | None]:
        """Return the host of each query, None if it would have too many configurations."""
        n, sizes, gaps = len(self._sizes), self._sizes, self._gaps
        found: list[Host | None] = []
        for members in _lists(queries):
            host = {v if v < n else v - n for v in members if v < n or gaps[v - n]}
            n_groups = prod([sizes[v] or 1 for v in host])
            found.append(tuple(sorted(host)) if n_groups <= self._most_groups else None)
        return found

    def parts(
        self, hosts: Sequence[Host], members: Queries, summed: Callable[[list[Host]], list[Integers]]
    ) -> tuple[Integers, ...]:
        """Return queries as parts of their hosts, as the kernels want them; `summed` sums up hosts.

        These are the sums of all hosts; of each query where those of its host begin, and how many numbers the
        host has; the sizes of the host's states, and where those of each query begin; and of each member its
        place among the states, or among the numbers, of its host.
        """
        distinct = list(dict.fromkeys(hosts))
        own = {host: self._known[host] for host in distinct if host in self._known}
        new = [host for host in distinct if host not in own]
        if new:
            found = {host: self._laid_out(host, sums) for host, sums in zip(new, summed(new), strict=True)}
            own |= found
            if self._n_bytes > MOST_BYTES:
                self._known, self._n_bytes = {}, 0
            self._known.update(found)
            self._n_bytes += sum(one.sums.nbytes for one in found.values())
        begin = np.cumsum([0, *(len(own[host].sums) for host in distinct)]).tolist()
        at = dict(zip(distinct, begin[:-1], strict=True))
        each = [own[host] for host in hosts]
        return (
            np.concatenate([own[host].sums for host in distinct]),
            np.array([at[host] for host in hosts], np.int64),
            np.array([len(one.places) - len(one.sizes) for one in each], np.int64),
            np.array([size for one in each for size in one.sizes], np.int64),
            np.cumsum([0, *(len(one.sizes) for one in each)]),
            np.array(
                [one.places[v] for one, own in zip(each, _lists(members), strict=True) for v in own],
                np.int64,
            ),
        )

    def _laid_out(self, host: Host, sums: Integers) -> _Known:
        """Put beside the sums of a host the sizes of its states, and the place of each variable."""
        states, numbers = ([v for v in host if bool(self._sizes[v]) == own] for own in (True, False))
        places = {v: place for own in (states, numbers) for place, v in enumerate(own)}
        return _Known(sums, [self._sizes[v] for v in states], places)


def _lists(queries: Queries) -> Iterator[list[int]]:
    """Give the members of each query."""
    variables = queries.variables.tolist()
    return (variables[a:b] for a, b in pairwise(queries.start.tolist()))
