"""Slow, obvious twins of the graph functions, on plain sets of names; imports nothing from f2sl."""

from __future__ import annotations

import itertools

Arrow = tuple[str, str]


def pairs(directed, undirected):
    return {frozenset(e) for e in directed} | {frozenset(e) for e in undirected}


def is_acyclic(nodes, directed):
    left, arrows = set(nodes), set(directed)
    while left:
        sinks = {v for v in left if not any(a == v and b in left for a, b in arrows)}
        if not sinks:
            return False
        left -= sinks
    return True


def v_structures(directed, undirected=()):
    joined = pairs(directed, undirected)
    return {
        (frozenset((a, b)), c)
        for (a, c), (b, d) in itertools.combinations(sorted(directed), 2)
        if c == d and frozenset((a, b)) not in joined
    }


def orientations(nodes, directed, undirected):
    """All DAGs that keep the arrows and direct the other edges somehow."""
    lines = sorted(undirected)
    for trial in itertools.product((False, True), repeat=len(lines)):
        arrows = set(directed) | {(b, a) if t else (a, b) for t, (a, b) in zip(trial, lines, strict=True)}
        if is_acyclic(nodes, arrows):
            yield arrows


def consistent_extensions(nodes, directed, undirected):
    wanted = v_structures(directed, undirected)
    return [dag for dag in orientations(nodes, directed, undirected) if v_structures(dag) == wanted]


def equivalence_class(nodes, directed):
    wanted = v_structures(directed)
    return [dag for dag in orientations(nodes, (), directed) if v_structures(dag) == wanted]


def cpdag(nodes, directed):
    """The arrows shared by the whole class, and the other adjacencies."""
    arrows = set.intersection(*equivalence_class(nodes, directed))
    return arrows, pairs(directed, ()) - pairs(arrows, ())


def pattern(directed):
    """The arrows that take part in a v-structure, and the other edges."""
    arrows = {(a, c) for ab, c in v_structures(directed) for a in ab}
    return arrows, {e for e in directed if e not in arrows}


def follows(nodes, arrows, lines, a, b):
    """Say whether one of the four rules points the line a - b from a to b."""
    joined = pairs(arrows, lines)
    others = [v for v in nodes if v not in (a, b)]

    def line(a, b):
        return frozenset((a, b)) in lines

    def apart(a, b):
        return a != b and frozenset((a, b)) not in joined

    return (
        any((c, a) in arrows and apart(c, b) for c in others)
        or any((a, c) in arrows and (c, b) in arrows for c in others)
        or any(
            line(a, c) and line(a, d) and (c, b) in arrows and (d, b) in arrows and apart(c, d)
            for c in others
            for d in others
        )
        or any(
            line(a, c) and line(a, d) and (d, c) in arrows and (c, b) in arrows and apart(d, b)
            for c in others
            for d in others
        )
    )


def meek_closure(nodes, directed, undirected):
    """Apply the four rules to the first line that one of them points without closing a cycle, to the end."""
    arrows, lines = set(directed), {frozenset(e) for e in undirected}
    while True:
        ways = ((a, b) for edge in sorted(map(sorted, lines)) for a, b in (edge, edge[::-1]))
        arrow = next(
            ((a, b) for a, b in ways if follows(nodes, arrows, lines, a, b) and not leads(arrows, b, a)),
            None,
        )
        if arrow is None:
            return arrows, lines
        lines.discard(frozenset(arrow))
        arrows.add(arrow)


def leads(arrows, start, end):
    """Say whether a directed path leads from one node to another."""
    reached = {start}
    while more := {b for a, b in arrows if a in reached} - reached:
        reached |= more
    return end in reached


def fewest_turned(nodes, directed):
    """The least number of arrows to turn round for an acyclic graph, over all orders."""
    best = len(directed)
    for order in itertools.permutations(nodes):
        best = min(best, sum(order.index(a) > order.index(b) for a, b in directed))
    return best


def counts(true, learned):
    """Reverse, miss, extra, undirected and correct; graphs are (arrows, lines)."""

    def mark(graph, a, b):
        arrows, lines = graph
        if (a, b) in arrows:
            return "->"
        if (b, a) in arrows:
            return "<-"
        return "-" if (a, b) in lines or (b, a) in lines else ""

    names = sorted({v for arrows, lines in (true, learned) for e in (*arrows, *lines) for v in e})
    found = dict.fromkeys(("reverse", "miss", "extra", "undirected", "correct", "arrowheads"), 0)
    for a, b in itertools.combinations(names, 2):
        one, other = mark(true, a, b), mark(learned, a, b)
        if one == other:
            found["correct"] += bool(one)
            found["arrowheads"] += one in ("->", "<-")
        elif not other:
            found["miss"] += 1
        elif not one:
            found["extra"] += 1
        elif "-" in (one, other):
            found["undirected"] += 1
        else:
            found["reverse"] += 1
    return found
