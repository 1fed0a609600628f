"""Slow, obvious twins of the exact search, in plain Python; nothing of f2sl is imported.

`family(child, parents)` is the score of a family, with the parents in ascending order.
"""

from __future__ import annotations

from itertools import combinations, permutations

from naive import all_dags


def subsets(variables, most=None):
    """List the subsets of some variables, in ascending order: the smallest first, then by their members."""
    variables = sorted(variables)
    most = len(variables) if most is None else min(most, len(variables))
    return [chosen for size in range(most + 1) for chosen in combinations(variables, size)]


def best_score_of_all_dags(n, family, most=None):
    """Score every DAG there is."""
    best = float("-inf")
    for arrows in all_dags(n):
        parents = [tuple(sorted(u for u, v in arrows if v == child)) for child in range(n)]
        if most is None or max(map(len, parents)) <= most:
            best = max(best, sum(family(child, parents[child]) for child in range(n)))
    return best


def best_score_of_all_orders(n, family, most=None):
    """Every DAG has an order in which parents come first: try all, each variable with its best parents."""
    best_within = {
        (child, before): max(family(child, parents) for parents in subsets(before, most))
        for child in range(n)
        for before in subsets({*range(n)} - {child})
    }
    return max(
        sum(best_within[child, tuple(sorted(order[:position]))] for position, child in enumerate(order))
        for order in permutations(range(n))
    )


def best_network(n, family, most=None):
    """The best network and its score, whole numbers throughout.

    Of variables that may come last the last does, of parents that are equally good the fewest and, of
    these, the first are taken.
    """
    score, parents = {(): 0}, {(): ()}
    for members in subsets(range(n))[1:]:
        choices = []
        for v in members:
            others = tuple(u for u in members if u != v)
            possible = subsets(others, most)
            chosen = max(possible, key=lambda p, v=v: (family(v, p), -possible.index(p)))
            choices.append((score[others] + family(v, chosen), v, others, chosen))
        score[members], v, others, chosen = max(choices)
        parents[members] = (*parents[others], (v, chosen))
    everything = tuple(range(n))
    return score[everything], dict(parents[everything])


def climb(n, family, parents):
    """Add, delete or turn single arrows for as long as that raises the score; gives the score reached."""
    parents = [set(p) for p in parents]
    while True:
        changes = []
        for u, v in permutations(range(n), 2):
            gain = _gain(family, v, parents[v], u)
            if u in parents[v]:
                changes.append((gain, u, v, False))
                without = [p - {u} if child == v else p for child, p in enumerate(parents)]
                if not _leads(without, u, v):
                    changes.append((gain + _gain(family, u, parents[u], v), u, v, True))
            elif not _leads(parents, v, u):
                changes.append((gain, u, v, False))
        gain, u, v, turned = max(changes)
        if gain <= 1e-9:
            return sum(family(v, tuple(sorted(parents[v]))) for v in range(n))
        parents[v] ^= {u}
        if turned:
            parents[u] ^= {v}


def _gain(family, v, parents, u):
    """What the family of v gains by having u if it has not, and by not having it if it has."""
    return family(v, tuple(sorted(parents ^ {u}))) - family(v, tuple(sorted(parents)))


def _leads(parents, start, end):
    """Say whether a directed path leads from start to end."""
    todo, seen = [end], {end}
    while todo:
        for u in parents[todo.pop()]:
            if u == start:
                return True
            if u not in seen:
                seen.add(u)
                todo.append(u)
    return False
