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

import numpy as np

from f2sl._arrays import Integers, Mask
from f2sl.storage.protocol import Queries

MOST_BYTES = 1 << 26
"""What the sums remembered may take."""
MOST_GROUPS, ROWS_PER_GROUP = 1 << 12, 8
"""Hosts have at most so many configurations, and as many samples for each: otherwise less is done without."""

Host = tuple[int, ...]
"""Variables in ascending order."""


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
        self._known: dict[Host, Integers] = {}
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
            found = dict(zip(new, summed(new), strict=True))
            own |= found
            if self._n_bytes > MOST_BYTES:
                self._known, self._n_bytes = {}, 0
            self._known.update(found)
            self._n_bytes += sum(sums.nbytes for sums in found.values())
        sizes = {host: [self._sizes[v] for v in host if self._sizes[v]] for host in distinct}
        places = {host: self._places(host) for host in distinct}
        begin = np.concatenate([[0], np.cumsum([len(own[host]) for host in distinct])]).tolist()
        at = dict(zip(distinct, begin[:-1], strict=True))
        return (
            np.concatenate([own[host] for host in distinct]),
            np.array([at[host] for host in hosts], np.int64),
            np.array([len(host) - len(sizes[host]) for host in hosts], np.int64),
            np.array([size for host in hosts for size in sizes[host]], np.int64),
            np.concatenate([[0], np.cumsum([len(sizes[host]) for host in hosts])]).astype(np.int64),
            np.array(
                [places[host][v] for host, own in zip(hosts, _lists(members), strict=True) for v in own],
                np.int64,
            ),
        )

    def _places(self, host: Host) -> dict[int, int]:
        """Number the states of a host, and its numbers."""
        counts, found = [0, 0], {}
        for v in host:
            is_number = self._sizes[v] == 0
            found[v] = counts[is_number]
            counts[is_number] += 1
        return found


def _lists(queries: Queries) -> Iterator[list[int]]:
    """Give the members of each query."""
    variables = queries.variables.tolist()
    return (variables[a:b] for a, b in pairwise(queries.start.tolist()))
