"""The learners by score word for word, with all DAGs over a few variables tried; nothing of f2sl is imported.

``family(child, parents)`` is a log score. Scores that differ by less than `TIE` are equal.
"""

from __future__ import annotations

from functools import cache

from naive import all_dags

TIE = 1e-7


@cache
def dags(n):
    """Give every DAG over n nodes as a tuple of the parents of each."""
    return [tuple(tuple(sorted(a for a, b in arrows if b == v)) for v in range(n)) for arrows in all_dags(n)]


class Best:
    """The best networks over sets of variables, each looked for once.

    Of networks that are equally good, those are taken with the fewest links to the target (ties="drop") or
    with the most ("keep"); of these the one where the last variable that can have no children has none, then
    the one before it among the others, and so on, each with the fewest parents, and of these the first.
    """

    def __init__(self, family, max_indegree=None, ties="drop"):
        self.family = cache(family)
        self.max_indegree = max_indegree
        self.ties = ties
        self.best = cache(self.best)

    def best(self, members):
        """Give all best networks, each as the parents of its members."""
        scored = []
        for dag in dags(len(members)):
            if self.max_indegree is not None and max(map(len, dag)) > self.max_indegree:
                continue
            named = {v: tuple(members[p] for p in parents) for v, parents in zip(members, dag, strict=True)}
            scored.append((sum(self.family(v, parents) for v, parents in named.items()), named))
        top = max(score for score, _ in scored)
        return [named for score, named in scored if score > top - TIE]

    def network(self, members, target=None):
        """Give the one that is taken."""
        best = self.best(tuple(sorted(members)))
        if target is not None:
            wanted = (min if self.ties == "drop" else max)(len(near(dag, target)) for dag in best)
            best = [dag for dag in best if len(near(dag, target)) == wanted]
        left = list(members)
        while left:
            last = max(v for v in left if any(all(v not in dag[c] for c in left) for dag in best))
            best = [dag for dag in best if all(last not in dag[c] for c in left)]
            parents = min((dag[last] for dag in best), key=lambda parents: (len(parents), parents))
            best = [dag for dag in best if dag[last] == parents]
            left.remove(last)
        return best[0]


def near(network, target):
    """Parents and children."""
    return set(network[target]) | {v for v, parents in network.items() if target in parents}


def spouses(network, target):
    """Other parents of the target's children, not linked to it, each with these children."""
    linked = near(network, target)
    found = {}
    for child, parents in network.items():
        if target in parents:
            for other in parents:
                if other != target and other not in linked:
                    found.setdefault(other, []).append(child)
    return found


def gain(best, target, other):
    """What the link between two variables alone is worth."""
    return best.family(other, (target,)) - best.family(other, ())


def in_order(best, target, others, order):
    if order == "name":
        return sorted(others)
    return sorted(others, key=lambda v: (-round(gain(best, target, v), 7), v))


# Niinimäki and Parviainen 2012


def potential_neighbours(best, n, target, order):
    found = set()
    for v in in_order(best, target, set(range(n)) - {target}, order):
        found = near(best.network({target, v} | found, target), target)
    return found


def neighbours(best, n, target, order):
    found = potential_neighbours(best, n, target, order)
    return {v for v in found if target in potential_neighbours(best, n, v, order)}


def potential_spouses(best, n, target, order):
    """Give the spouses with the children in common, as the network that last changed them has it."""
    close = neighbours(best, n, target, order)
    candidates = {w for v in close for w in neighbours(best, n, v, order)} - close - {target}
    found = {}
    for v in in_order(best, target, candidates, order):
        network = best.network({target, v} | close | set(found), target)
        seen = {w: common for w, common in spouses(network, target).items() if w not in close}
        if seen.keys() != found.keys():
            found = seen
    return found


def sll(best, n, target, order):
    found = set(potential_spouses(best, n, target, order))
    found |= {v for v in range(n) if v != target and target in potential_spouses(best, n, v, order)}
    return neighbours(best, n, target, order) | found


# Gao and Ji 2017


def s2tmb(best, n, target, order):
    """Give the neighbours, and the spouses with the children in common."""
    close, others = set(), {}
    for v in in_order(best, target, set(range(n)) - {target}, order):
        close = near(best.network({target, v} | close, target), target)
    for v in in_order(best, target, set(range(n)) - {target} - close, order):
        network = best.network({target, v} | close | set(others), target)
        linked, co_parents = near(network, target), spouses(network, target)
        if (linked, co_parents.keys()) != (close, others.keys()):
            close, others = linked, co_parents
    return close, others
