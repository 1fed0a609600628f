"""The learners by score word for word, with all DAGs over a few variables tried; nothing of f2sl is imported.

``family(child, parents)`` is a log score. Scores that differ by less than `TIE` are equal.
"""

from __future__ import annotations

import math
from collections import namedtuple
from functools import cache
from itertools import combinations

import naive

TIE = 1e-7

Surroundings = namedtuple("Around", "near spouses children")
"""Neighbors and spouses with the strengths of their edges, and the children that a spouse has in common."""


@cache
def dags(n):
    """Give every DAG over n nodes as a tuple of the parents of each."""
    return [
        tuple(tuple(sorted(a for a, b in arrows if b == v)) for v in range(n)) for arrows in naive.all_dags(n)
    ]


class Best:
    """The best networks over sets of variables, each looked for once.

    Of networks that are equally good, those are taken with the fewest edges to the target (ties="drop") or
    with the most ("keep"); of these the one where the last variable that can have no children has none, then
    the one before it among the others, and so on, each with the fewest parents, and of these the first.
    Above `max_exact` variables it is not the best network, but the one that hill climbing finds.
    """

    def __init__(self, family, max_parents=None, ties="drop", max_exact=math.inf, constant=()):
        self.family = cache(family)
        self.max_parents = math.inf if max_parents is None else max_parents
        self.ties = ties
        self.max_exact = max_exact
        self.constant = constant
        self.best = cache(self.best)

    def best(self, members):
        """Give all best networks, each as the parents of its members."""
        scored = []
        for dag in dags(len(members)):
            if max(map(len, dag)) <= self.max_parents:
                named = {v: tuple(members[p] for p in dag[i]) for i, v in enumerate(members)}
                scored.append((sum(self.family(v, parents) for v, parents in named.items()), named))
        top = max(score for score, _ in scored)
        return [named for score, named in scored if score > top - TIE]

    def network(self, members, target=None):
        """Give the one that is taken."""
        members = tuple(sorted(members))
        if len(members) > self.max_exact:
            return self.climbed(members)
        best = self.best(members)
        if target is not None:
            wanted = (min if self.ties == "drop" else max)(len(adjacent(dag, target)) for dag in best)
            best = [dag for dag in best if len(adjacent(dag, target)) == wanted]
        left = list(members)
        while left:
            last = max(v for v in left if any(all(v not in dag[c] for c in left) for dag in best))
            best = [dag for dag in best if all(last not in dag[c] for c in left)]
            parents = min((dag[last] for dag in best), key=lambda parents: (len(parents), parents))
            best = [dag for dag in best if dag[last] == parents]
            left.remove(last)
        return best[0]

    def climbed(self, members):
        def family(child, parents):
            if len(parents) > self.max_parents:
                return -math.inf
            return self.family(members[child], tuple(members[p] for p in parents))

        k = len(members)
        arrows = naive.hill_climb(k, list(combinations(range(k), 2)), family)[0]
        return {v: tuple(members[a] for a, b in sorted(arrows) if b == i) for i, v in enumerate(members)}

    def around(self, members, target):
        """See who is around the target in the network over these members."""
        network = self.network(members, target)

        def loss(child, parent):
            others = tuple(v for v in network[child] if v != parent)
            return self.family(child, network[child]) - self.family(child, others)

        near = {
            v: loss(target, v) if v in network[target] else loss(v, target) for v in adjacent(network, target)
        }
        children = {}
        for child in sorted(network):
            if target in network[child]:
                for other in network[child]:
                    if other != target and other not in near:
                        children.setdefault(other, []).append(child)
        spouses = {v: max(loss(child, v) for child in common) for v, common in children.items()}
        return Surroundings(near, spouses, children)

    def in_order(self, target, others, order):
        """Put candidates in the order in which they come; constants are none."""
        others = set() if target in self.constant else set(others) - set(self.constant)
        if order == "name":
            return sorted(others)
        gain = {v: round(self.family(v, (target,)) - self.family(v, ()), 7) for v in others}
        return sorted(others, key=lambda v: (-gain[v], v))


def adjacent(network, target):
    """Parents and children."""
    return set(network[target]) | {v for v, parents in network.items() if target in parents}


def without(spouses, near):
    return {v: what for v, what in spouses.items() if v not in near}


# Niinimäki and Parviainen 2012


def potential_neighbors(best, n, target, order):
    found = {}
    for v in best.in_order(target, set(range(n)) - {target}, order):
        seen = best.around({target, v, *found}, target).near
        if seen.keys() != found.keys():
            found = seen
    return found


def neighbors(best, n, target, order):
    found = potential_neighbors(best, n, target, order)
    return {v: s for v, s in found.items() if target in potential_neighbors(best, n, v, order)}


def potential_spouses(best, n, target, order):
    """Give the spouses, with the children in common as the network has it that last changed them."""
    close = neighbors(best, n, target, order)
    candidates = {w for v in close for w in neighbors(best, n, v, order)} - close.keys() - {target}
    found, children = {}, {}
    for v in best.in_order(target, candidates, order):
        seen = best.around({target, v, *close, *found}, target)
        if without(seen.spouses, close).keys() != found.keys():
            found, children = without(seen.spouses, close), without(seen.children, close)
    return Surroundings(close, found, children)


def sll(best, n, target, order):
    found = dict(potential_spouses(best, n, target, order).spouses)
    for v in set(range(n)) - {target}:
        theirs = potential_spouses(best, n, v, order).spouses
        if target in theirs:
            found[v] = max(found.get(v, 0.0), theirs[target])
    return found | neighbors(best, n, target, order)


# Gao and Ji 2017


def s2tmb(best, n, target, order, candidates=None, near=None, spouses=None, children=None):
    """Search among candidates, beginning with those around the target that are known."""
    close, candidates = dict(near or {}), set(range(n)) - {target} if candidates is None else candidates
    for v in best.in_order(target, candidates, order):
        seen = best.around({target, v, *close}, target).near
        if seen.keys() != close.keys():
            close = seen
    found = Surroundings(close, without(spouses or {}, close), without(children or {}, close))
    for v in best.in_order(target, candidates - close.keys(), order):
        seen = best.around({target, v, *found.near, *found.spouses}, target)
        if (seen.near.keys(), seen.spouses.keys()) != (found.near.keys(), found.spouses.keys()):
            found = seen
    return found


# Gao, Fadnis and Campbell 2017


def ggsl(best, n, start, order):
    """Give what is around each variable at the end."""
    found, waiting = {}, [start]
    while len(found) < n:
        waiting = [v for v in waiting if v not in found] or [min(set(range(n)) - found.keys())]
        target = waiting.pop(0)
        near = {v: found[v].near[target] for v in found if target in found[v].near}
        spouses = {v: found[v].spouses[target] for v in found if target in found[v].spouses}
        children = {v: found[v].children[target] for v in spouses}
        open_to_it = set(range(n)) - found.keys() - {target}
        found[target] = s2tmb(best, n, target, order, open_to_it, near, spouses, children)
        for other in sorted(found):
            here, there = other in found[target].near, target in found[other].near
            if here == there:
                continue
            silent, named = (other, target) if here else (target, other)
            network = best.network(both(found, target, other))
            if other in adjacent(network, target):
                found[silent] = Surroundings(
                    {**found[silent].near, named: found[named].near[silent]},
                    without(found[silent].spouses, [named]),
                    without(found[silent].children, [named]),
                )
            else:
                found[named] = found[named]._replace(near=without(found[named].near, [silent]))
        strengths = found[target].near
        waiting += sorted(strengths, key=lambda v: (-round(strengths[v], 6), v))
    return found


def both(found, one, other):
    ends = [found[one], found[other]]
    return {one, other} | {v for end in ends for v in (*end.near, *end.spouses)}


def v_structures(found, edges):
    """List the v-structures that spouses show, among these edges."""
    shown = {
        (min(t, s), c, max(t, s))
        for t, around in found.items()
        for s, children in around.children.items()
        for c in children
    }
    return sorted(
        (a, c, d)
        for a, c, d in shown
        if {(min(a, c), max(a, c)), (min(c, d), max(c, d))} <= set(edges) and (a, d) not in edges
    )


def settled_v_structures(best, found, edges):
    """Leave out what the best network around both ends refutes, where both directions are claimed."""
    triples = v_structures(found, edges)
    claims = {(end, c) for a, c, d in triples for end in (a, d)}
    for u, v in sorted(claims):
        if u < v and (v, u) in claims:
            network = best.network(both(found, u, v))
            position = {member: i for i, member in enumerate(sorted(network))}
            arrows = [(position[p], position[c]) for c, parents in network.items() for p in parents]
            directed = naive.cpdag(len(position), arrows)[0]
            right = {(a, b) for a, b in ((u, v), (v, u)) if (position[a], position[b]) in directed}
            claims -= {(u, v), (v, u)} - right
    return [(a, c, d) for a, c, d in triples if (a, c) in claims and (d, c) in claims]
