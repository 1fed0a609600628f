"""Structure learners by tests word for word, one question after another; nothing of f2sl is imported.

``ask(x, y, given)`` gives a word and a strength, as for :mod:`naive_local`. Edges are (a, b) with a < b.
"""

from __future__ import annotations

from itertools import combinations, permutations

import naive
import naive_graph
import naive_local


def neighbors(n, edges):
    return [sorted({b for a, b in edges if a == v} | {a for a, b in edges if b == v}) for v in range(n)]


def unshielded(n, edges):
    """List the triples (a, c, d) of edges a - c - d, a < d not adjacent."""
    near = neighbors(n, edges)
    return [
        (a, c, d) for a, d in combinations(range(n), 2) if d not in near[a] for c in near[a] if c in near[d]
    ]


def pc_stable(n, ask, k):
    """Edges that are left, what separates the others, and the unshielded triples that collide."""
    edges, separating = list(combinations(range(n), 2)), {}
    for a, b in edges:
        if ask(a, b, ())[0] == "independent":
            separating[a, b] = ()
    level = 0
    while k is None or level < k:
        level += 1
        edges = [edge for edge in edges if edge not in separating]
        near = neighbors(n, edges)  # as they are at the beginning of the level, whatever is removed in it
        if max(map(len, near)) <= level:
            break
        for a, b in edges:
            ways = ((a, b), (b, a))  # the earlier variable's neighbors first
            sets = [naive_local.separator(ask, v, w, near[v], level, smallest=level) for v, w in ways]
            first = next((given for given in sets if given is not None), None)
            if first is not None:
                separating[a, b] = first
    edges = [edge for edge in edges if edge not in separating]
    return edges, separating, [t for t in unshielded(n, edges) if t[1] not in separating[t[0], t[2]]]


def gsbn(n, ask_for_blankets, ask, k, symmetry="and"):
    """Arrows and undirected edges of GSBN; blankets and edges may be asked for in different ways."""
    blankets = [set(naive_local.gsmb(n, v, ask_for_blankets, None)) for v in range(n)]

    def smaller(a, b, *without):
        """The smaller of two blankets; of equals that of the earlier variable."""
        of_a, of_b = (sorted(blankets[v] - {a, b, *without}) for v in (a, b))
        return of_b if len(of_b) < len(of_a) else of_a

    edges = [
        (a, b)
        for a, b in naive.skeleton(blankets, symmetry)
        if naive_local.separator(ask, a, b, smaller(a, b), k) is None
    ]
    largest = None if k is None else k + 1
    colliders = [
        (y, x, z)
        for y, x, z in unshielded(n, edges)
        if naive_local.separator(ask, y, z, smaller(y, z, x), largest, containing=(x,)) is None
    ]
    return along_paths(n, *oriented(n, edges, colliders))


def oriented(n, edges, colliders):
    """Point the arrows of v-structures, most claimed first, none that closes a cycle; then Meek's rules."""
    arrows = set()
    for u, v in naive.directions(colliders):
        if not naive_graph.leads(arrows, v, u):
            arrows.add((u, v))
    lines = {edge for edge in edges if edge not in arrows and edge[::-1] not in arrows}
    return naive_graph.meek_closure(range(n), arrows, lines)


def along_paths(n, arrows, lines):
    """Point lines along the directed paths between their ends, then Meek's rules, until there are none."""
    while True:
        ways = [way for line in lines for way in permutations(line)]
        new = {(a, b) for a, b in ways if naive_graph.leads(arrows, a, b)}
        if not new:
            return arrows, lines
        left = lines - {frozenset(arrow) for arrow in new}
        arrows, lines = naive_graph.meek_closure(range(n), arrows | new, left)
