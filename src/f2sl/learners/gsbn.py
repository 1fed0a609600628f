"""GSBN, the grow-shrink algorithm for Bayesian networks (Margaritis and Thrun 2000).

1. *Blankets.* GSMB finds the Markov blanket of every variable.
2. *Edges.* X and Y in each other's blankets are adjacent if no subset of T makes them independent, where T
   is the smaller of B(X) without Y and B(Y) without X.
3. *Directions.* Y - X - Z with Y and Z not adjacent is Y -> X <- Z if no subset of T makes Y and Z
   independent together with X, where T is the smaller of B(Y) and B(Z), without X, Y and Z.
4. *What follows.* An edge between two ends of a directed path points along the path; then Meek's rules.

The paper removes directed cycles and puts their edges back reversed; here an arrow that would close a cycle
is never made, and step 4 then points its edge the other way. An inconclusive test separates nothing. Subsets
have at most `max_cond_vars` members; GSMB's tests, given a whole blanket, have no such limit. If the limit is
too small, step 3 finds no separating set and reports false colliders: with perfect answers a limit of 5 is
enough for all bundled networks of up to 80 variables, and 3 for most of them.

A test without degrees of freedom counts as independence in steps 2 and 3, as in FindVstructure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from f2sl._arrays import Integers
from f2sl._deadline import checkpoint, keeping
from f2sl._options import option
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.graph import PDAG, apply_meek_rules
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.base import Neighborhoods, apply_constraints
from f2sl.learners.local.separating_sets import named_sets
from f2sl.learners.skeleton import Skeleton, constrained, from_edges, join
from f2sl.stats.answers import IndependenceTest
from f2sl.stats.choose import check_choice, make_test
from f2sl.stats.tests.base import CITest

Separating = dict[tuple[int, int], tuple[int, ...]]


class GSBN(StructureLearner):
    """Learn a partially directed graph from Markov blankets.

    `max_cond_vars` limits the size of the subsets of a blanket to try.

    Attributes
    ----------
    graph_ : PDAG
        The graph learned; `dag_` orients the rest.
    blankets_ : dict of str to list of str
        The Markov blanket found for each variable, strongest first.
    skeleton_, v_structures_, n_tests_, n_inconclusive_
        As in :class:`F2SLc`.
    separating_sets_ : dict of (str, str) to tuple of str
        Separating sets found by GSMB, or between members of blankets.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.GSBN().fit(f2sl.load_example("asia")).graph_.neighbors("xray")
    ['either']
    """

    strength_unit = "-log10 p"

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry")

    def _learn(self, fit: Fit) -> PDAG:
        from f2sl.learners.local.grow_shrink import GSMB

        rules = fit.constraints
        with fit.timed("blankets"):
            blankets = (
                GSMB(alpha=self.alpha, ci_test=self.ci_test).with_constraints(rules).learn_all(fit.engine)
            )
            if rules:
                blankets = apply_constraints(blankets, rules, blankets=True)
        fit.found.update(blankets_=fit.by_name(blankets))
        test = make_test(fit.engine, self.alpha, self.ci_test)
        with fit.timed("skeleton"):
            found, separating = edges_of_blankets(test, blankets, self.symmetry, self.max_cond_vars, rules)
            skeleton = constrained(found, rules)
        graph: PDAG | None = None
        with fit.timed("orientation"), keeping("the edges were not directed"):
            triples = colliders_of_blankets(test, blankets, skeleton, self.max_cond_vars, rules)
            graph = along_paths(fit.oriented(skeleton, triples))
        graph = fit.undirected(skeleton) if graph is None else graph
        fit.keep_skeleton(skeleton)
        fit.found.update(separating_sets_=named_sets({**separating, **blankets.separating_sets}, fit.names))
        fit.count_tests(blankets)
        fit.count_tests(test)
        return graph


def edges_of_blankets(
    test: IndependenceTest,
    blankets: Neighborhoods,
    symmetry: str,
    max_cond_vars: int | None,
    constraints: Constraints | None = None,
) -> tuple[Skeleton, Separating]:
    """Do the second step: find adjacent members of blankets, and separating sets of the others.

    Edges that are forbidden or required are not tested; they are decided afterwards.
    """
    pairs = join(blankets, symmetry)
    if constraints:
        tested = constraints.allows_adjacency(*pairs.edges.T) & ~constraints.requires_adjacency(
            *pairs.edges.T
        )
        pairs = from_edges(pairs.n, pairs.edges[tested], pairs.strengths[tested])
    with stage("looking for edges"):
        asked = [(a, b, _smaller(blankets, a, b, without=())) for a, b in pairs.edges.tolist()]
        found = _first_separating_sets(test, asked, max_cond_vars)
    adjacent = np.array([given is None for given in found], np.bool_)
    edges = pairs.edges
    separating = {
        (a, b): given for (a, b), given in zip(edges.tolist(), found, strict=True) if given is not None
    }
    return from_edges(pairs.n, edges[adjacent], pairs.strengths[adjacent]), separating


def colliders_of_blankets(
    test: IndependenceTest,
    blankets: Neighborhoods,
    skeleton: Skeleton,
    max_cond_vars: int | None,
    constraints: Constraints | None = None,
) -> Integers:
    """Do the third step: return the unshielded triples (Y, X, Z) that are Y -> X <- Z."""
    from f2sl.learners.v_structures import unshielded_triples

    triples = unshielded_triples(skeleton)
    if constraints:
        triples = triples[constraints.may_be_tested(triples)]
    with stage("looking for directions"):
        asked = [(y, z, _smaller(blankets, y, z, without=(x,))) for y, x, z in triples.tolist()]
        with_x = [(x,) for _, x, _ in triples.tolist()]
        found = _first_separating_sets(test, asked, max_cond_vars, with_x)
    return triples[np.array([given is None for given in found], np.bool_)]


def along_paths(graph: PDAG) -> PDAG:
    """Point undirected edges along directed paths between their ends, then apply Meek's rules, to the end."""
    import networkx as nx

    while True:
        arrows = nx.DiGraph(graph.directed_edges)
        new = []
        for a, b in graph.undirected_edges:
            checkpoint()
            for u, v in ((a, b), (b, a)):
                if u in arrows and v in arrows and nx.has_path(arrows, u, v):
                    new.append((u, v))
                    break
        if not new:
            return graph
        pointed = {frozenset(edge) for edge in new}
        rest = [edge for edge in graph.undirected_edges if frozenset(edge) not in pointed]
        weights = graph.weights or {}
        turned = {edge: weights[edge] for edge in [*graph.directed_edges, *rest] if edge in weights}
        turned |= {e: weights[w] for e in new for w in (e, e[::-1]) if w in weights}
        graph = apply_meek_rules(PDAG(graph.nodes, [*graph.directed_edges, *new], rest, weights=turned))


def _smaller(blankets: Neighborhoods, a: int, b: int, without: tuple[int, ...]) -> Integers:
    """Return the smaller of two blankets, without their owners and some others; if equal, the first."""
    of_a, of_b = (np.setdiff1d(blankets.of(v)[0], [a, b, *without]) for v in (a, b))
    return of_b if len(of_b) < len(of_a) else of_a


def _first_separating_sets(
    test: IndependenceTest,
    asked: list[tuple[int, int, Integers]],
    max_cond_vars: int | None,
    containing: Sequence[tuple[int, ...]] | None = None,
) -> list[tuple[int, ...] | None]:
    """Return for each pair the first subset of its candidates that separates it, or None."""
    from f2sl.learners.local.lockstep import answer_all, together
    from f2sl.learners.local.subset_search import separations

    fixed = containing or [()] * len(asked)
    searches = (
        separations(
            test,
            a,
            np.array([b]),
            among,
            None if max_cond_vars is None else max_cond_vars + len(always),
            containing=always,
            known=0.0,
        )
        for (a, b, among), always in zip(asked, fixed, strict=True)
    )
    results = answer_all(together(searches), test)
    return [result.first_sets.get(b) for (_, b, _), result in zip(asked, results, strict=True)]
