"""TC, total conditioning, with collider sets (Pellet and Elisseeff 2008), for continuous tables.

1. *Blankets.* Two variables are adjacent if they are correlated given all others (`local/tc_blankets.py`).
   The edges are those of the network and those between *spouses*, the parents of a common child.
2. *Spouses.* An edge X - Y whose ends have common neighbors may be an edge of spouses. Then some set of
   common neighbors, the *collider set*, contains all common children and those of their descendants that are
   common neighbors, and the other neighbors of X (or Y) separate the two. Descendants of the collider set
   among these others may have to be left out as well: those that it leads to around X, Y and their common
   neighbors.
3. *Directions.* An edge separated in this way is removed, and X -> Z <- Y for each Z of its collider set.
   Then Meek's rules are applied.

Sets to leave out are tried by increasing size, from one variable up to `max_left_out`: collider sets alone
first, and sets of one size in the order of names. The neighbors used are those of the end with fewer
neighbors of its own (if equal, of the earlier name).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby

import numpy as np

from f2sl._arrays import Integers
from f2sl._deadline import keeping
from f2sl._options import option
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.lockstep import Questions, Search, answer_all, together
from f2sl.learners.local.separating_sets import named_sets
from f2sl.learners.local.tc_blankets import TCBlankets
from f2sl.learners.skeleton import Skeleton, constrained, from_edges, join
from f2sl.stats.answers import INDEPENDENT, IndependenceTest
from f2sl.stats.choose import make_test

Separated = dict[tuple[int, int], tuple[int, ...]]


class TC(StructureLearner):
    """Learn a partially directed graph of real-valued variables by total conditioning.

    Attributes
    ----------
    graph_, skeleton_, v_structures_, n_tests_, n_inconclusive_
        As in :class:`F2SLc`.
    blankets_ : dict of str to list of str
        The Markov blanket found for each variable, strongest first.
    separating_sets_ : dict of (str, str) to tuple of str
        Separating sets of spouses. Variables outside each other's blanket are separated by all others.

    Examples
    --------
    >>> import f2sl
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 500))
    >>> f2sl.TC().fit({"a": a, "b": b, "c": a + b + noise}).graph_.directed_edges
    [('a', 'c'), ('b', 'c')]
    """

    strength_unit = "-log10 p"
    _takes = ("continuous",)

    alpha: float = option("alpha")
    max_left_out: int = option("max_left_out")

    def _learn(self, fit: Fit) -> PDAG:
        with fit.timed("blankets"):
            blankets = TCBlankets(alpha=self.alpha).learn_all(fit.engine)
        fit.found.update(blankets_=fit.by_name(blankets))
        test = make_test(fit.engine, self.alpha)
        moral, apart = join(blankets), None
        with fit.timed("spouses"), keeping("spouses are adjacent as well, and no edges were directed"):
            apart = separated_spouses(test, moral, self.max_left_out, fit.constraints)
        adjacencies, triples = without_spouses(moral, apart or {})
        skeleton = constrained(adjacencies, fit.constraints)
        with fit.timed("orientation"):
            graph = fit.oriented(skeleton, triples)
        fit.keep_skeleton(skeleton)
        fit.found.update(separating_sets_=named_sets(apart or {}, fit.names))
        fit.count_tests(blankets)
        fit.count_tests(test)
        return graph


def separated_spouses(
    test: IndependenceTest, moral: Skeleton, max_left_out: int, constraints: Constraints | None = None
) -> Separated:
    """Return the edges of a moral graph that neighbors of their ends separate, each with the first set.

    Required edges are not tested, and forbidden ones only if the test may direct others.
    """
    around = [set(moral.adjacent_to(v).tolist()) for v in range(moral.n)]
    tested = moral.edges
    if constraints:
        tested = tested[~constraints.requires_adjacency(*tested.T)]
    edges = [(x, y) for x, y in tested.tolist() if around[x] & around[y]]
    if constraints:
        edges = [(x, y) for x, y in edges if _may_direct(constraints, x, y, around[x] & around[y])]
    with stage("telling spouses from neighbors"):
        searches = (_separating_set(test, around, x, y, max_left_out) for x, y in edges)
        found = answer_all(together(searches), test)
    return {edge: given for edge, given in zip(edges, found, strict=True) if given is not None}


def _may_direct(constraints: Constraints, x: int, y: int, common: set[int]) -> bool:
    """Return whether a test of x and y can decide anything about them and their common neighbors."""
    return bool(constraints.may_be_tested(np.array([(x, z, y) for z in common])).any())


def without_spouses(moral: Skeleton, apart: Separated) -> tuple[Skeleton, Integers]:
    """Remove separated edges; return also the triples (X, Z, Y) of their collider sets."""
    kept = np.array([(x, y) not in apart for x, y in moral.edges.tolist()], np.bool_)
    skeleton = from_edges(moral.n, moral.edges[kept], moral.strengths[kept])
    triples = [
        (x, z, y)
        for (x, y), given in apart.items()
        for z in np.intersect1d(skeleton.adjacent_to(x), skeleton.adjacent_to(y)).tolist()
        if z not in given
    ]
    return skeleton, np.array(triples, np.int64).reshape(-1, 3)


def _separating_set(
    test: IndependenceTest, around: list[set[int]], x: int, y: int, max_left_out: int
) -> Search[tuple[int, ...] | None]:
    """Find a set that separates two adjacent variables: neighbors of one without one, two, ... of them."""
    for _, sets in groupby(spouse_tests(around, x, y, max_left_out), len):
        given = np.array(list(sets), np.int64)
        asked = np.full(len(given), x), np.full(len(given), y), given, np.zeros(len(given))
        [answers] = yield [Questions(*asked)]
        independent = np.flatnonzero(answers.answer == INDEPENDENT)
        if len(independent):
            return tuple(given[independent[0]].tolist())
    return None


def spouse_tests(around: list[set[int]], x: int, y: int, max_left_out: int) -> Iterator[tuple[int, ...]]:
    """List the conditioning sets that test whether an adjacent pair are spouses, the largest first.

    They are the neighbors of the end with fewer neighbors of its own, without one, two, ... of them.
    """
    common = around[x] & around[y]
    own = min(around[x] - common - {y}, around[y] - common - {x}, key=len)
    everything = common | own
    for size in range(1, min(max_left_out, len(everything)) + 1):
        for out in _left_out(around, x, y, own, size):
            yield tuple(sorted(everything.difference(out)))


def _left_out(around: list[set[int]], x: int, y: int, own: set[int], size: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of `size` to leave out: a collider set, and descendants of it among `own`."""
    common = around[x] & around[y]
    for n_colliders in range(size, 0, -1):
        for colliders in combinations(sorted(common), n_colliders):
            if n_colliders == size:
                yield colliders
                continue
            beyond = _reached(around, colliders, common | {x, y}) & own
            yield from ((*colliders, *some) for some in combinations(sorted(beyond), size - n_colliders))


def _reached(around: list[set[int]], start: tuple[int, ...], closed: set[int]) -> set[int]:
    """Return the variables that paths reach from `start` without passing closed variables."""
    todo, seen = list(start), set(start) | closed
    reached: set[int] = set()
    while todo:
        new = around[todo.pop()] - seen
        seen |= new
        reached |= new
        todo.extend(new)
    return reached
