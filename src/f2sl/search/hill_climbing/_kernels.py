"""Find and make one step of hill climbing.

An *arc* is a candidate edge in one direction. Arcs are numbered by (from, to), so that the first of several
equals is also the first by name: those from u to each of its candidates are ``start[u]`` to ``start[u + 1]``.
With each edge come both directions, so the same segment, read the other way round, stands for the arcs *into*
u. Arrays have an entry for each arc, of one of these kinds:

by arc : entry a stands for the arc with the number a, from u to ``others[a]``;
by position : entry a, in the segment of u, stands for the arc from ``others[a]`` to u, whose number is
    ``opposite[a]``. So the families of u and all that concerns them are in one piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from f2sl._jit import Array, int64, kernel, plain_inner

ADD, DELETE, REVERSE, NONE = 0, 1, 2, 3
"""Kinds of steps, in the order in which equals are taken; `NONE` stands for no step."""
N_GRAPHS, N_CHANGED, EVERYTHING = 0, 1, 2
"""Entries of `Climb.counters`."""


class Climb(NamedTuple):
    """A DAG during the climb, with the gain of each possible step; n variables and m edges.

    start : (n + 1,) int64; others, opposite : (2 m,) int64
        The candidate edges, as above.
    present : (2 m,) bool, by position
        True for arcs in the graph.
    gain : (2 m,) float64, by position
        Gain of the family of the arc's head by toggling it: by adding it where it is absent, by deleting it
        where it is present. A reversal is a deletion and an addition in two different families.
    closing : (2 m,) bool, by arc
        True for arcs that are known to close a cycle. No later addition undoes that, but a deletion or a
        reversal may; then all marks are cleared.
    adding : (2 m,) float64, by arc
        Gain of adding the arc, with the prior. Minus infinity where the edge is there, in either direction,
        and where `closing`. Kept from step to step, because most arcs are absent and few change.
    top : (n,) float64
        The largest of `adding` over the arcs from each variable.
    children, n_children : (2 m,) and (n,) int64
        The numbers of the graph's arcs from u, in no order, are the first of its segment.
    struck : (2, 2 m) int64, by position
        Deletions and reversals that were tried in a step have its number.
    changed : (n,) int64
        The variables whose entries of `gain` have to be computed before the next step come first.
    counters : (3,) int64
        Number of graphs so far, with the one at the start; number of the variables that changed; and 1 at
        first and after a deletion or reversal, which may change what can be added anywhere.
    score : (1,) float64
        Score of the graph.
    hashes : (2 m,) int64, by arc
        Random; a graph's mark is the exclusive or of those of its arcs. Only differences of marks count.
    marks : (r,) int64; moves : (r, 2) int64
        Rings of the last graphs: the mark of graph g, and the arcs that were toggled to reach it, -1 for no
        second one, are entry g % r. The last r - 1 graphs are not visited again.
    odd : (2 m,) bool; stack : (n,) int64; seen : (n + 1,) int64
        Scratch: `odd` is False between calls; ``seen[v]`` is the number of the last search for a path that
        came to v, and ``seen[n]`` that of the last of all.
    """

    start: Array
    others: Array
    opposite: Array
    present: Array
    gain: Array
    closing: Array
    adding: Array
    top: Array
    children: Array
    n_children: Array
    struck: Array
    changed: Array
    counters: Array
    score: Array
    hashes: Array
    marks: Array
    moves: Array
    odd: Array
    stack: Array
    seen: Array


@kernel
def begin(climb: Climb, score: float) -> None:
    """Begin with a graph without arcs, of this score."""
    for position in range(len(climb.present)):
        climb.present[position] = climb.closing[position] = False
        climb.struck[0, position] = climb.struck[1, position] = 0
    for v in range(len(climb.changed)):
        climb.n_children[v] = 0
        climb.changed[v] = v
    climb.counters[N_GRAPHS], climb.counters[N_CHANGED], climb.counters[EVERYTHING] = 1, len(climb.changed), 1
    climb.score[0] = score
    climb.marks[0] = 0


@kernel
def step(climb: Climb, prior: float, tolerance: float) -> int:
    """Make the best legal step to a graph that is not among the recent ones; return its kind.

    The gains into `changed` have to be up to date. Whether a step closes a cycle is checked only when it is
    the best one left. Gains that differ by less than `tolerance` are equal: of these the first kind of step,
    then the first arc is taken.
    """
    opposite, adding, top = climb.opposite, climb.adding, climb.top
    n_graphs = climb.counters[N_GRAPHS]
    oldest = max(int64(0), n_graphs - len(climb.marks) + 1)
    _weigh(climb, prior)
    # Each of the recent graphs is one addition away at most once, so there is space for all of them.
    passed_over, n_passed = np.empty(n_graphs - oldest, np.int64), 0
    of_deleting, of_reversing = _best_of_present(climb, prior, n_graphs)
    # Each round takes one step or strikes out one, so the loop ends.
    while True:
        of_adding = -np.inf
        for u in range(len(top)):
            of_adding = max(of_adding, top[u])
        floor = max(of_adding, max(of_deleting, of_reversing)) - tolerance
        if floor == -np.inf:
            action, edge = NONE, int64(-1)
            break
        if of_adding >= floor:
            action, u = ADD, 0
            while top[u] < floor:
                u += 1
            edge = climb.start[u]
            while adding[edge] < floor:
                edge += 1
        else:
            action = DELETE if of_deleting >= floor else REVERSE
            edge = _first_of_present(climb, action, prior, n_graphs, floor)
        back = opposite[edge] if action == REVERSE else int64(-1)
        visited = _visited(climb, edge, back, n_graphs, oldest)
        if not visited and not _closes_cycle(climb, action, edge):
            break
        # The next best is tried. What closes a cycle stays struck out, what was visited only in this step.
        if action == ADD:
            if visited:
                passed_over[n_passed] = edge
                n_passed += 1
            else:
                climb.closing[edge] = True
            _strike_out(climb, edge)
        else:
            climb.struck[action - 1, opposite[edge]] = n_graphs
            of_deleting, of_reversing = _best_of_present(climb, prior, n_graphs)
    # What was passed over may be added in the next step: `adding` and `top` are as `_weigh` has left them.
    for i in range(n_passed):
        u = climb.others[opposite[passed_over[i]]]
        adding[passed_over[i]] = climb.gain[opposite[passed_over[i]]] + prior
        top[u] = max(top[u], adding[passed_over[i]])
    if action != NONE:
        _make(climb, action, edge, prior)
    return action


@plain_inner
def _weigh(climb: Climb, prior: float) -> None:
    """Update `adding` and `top` for the arcs into the variables that changed, or for all.

    Afterwards ``adding[a]`` is, for every arc a, the gain of adding it, with the prior, or minus infinity if
    its edge is in the graph, in either direction, or if a is in `closing`; and ``top[u]`` is the largest of
    these over the arcs from u.

    After an addition, that still holds except for the arcs into the changed variable: `_make` has struck out
    both directions of the new edge, and `closing` only grows. They are one segment by position, and each is
    the arc from another u, so the largest of u is looked for again only where it was this arc and has become
    less. After a deletion or a reversal `closing` is empty again, and all is computed anew.
    """
    everything = climb.counters[EVERYTHING] == 1
    start, others, opposite, adding, top = (
        climb.start,
        climb.others,
        climb.opposite,
        climb.adding,
        climb.top,
    )
    present, closing, gain = climb.present, climb.closing, climb.gain
    for i in range(len(top) if everything else climb.counters[N_CHANGED]):
        v = i if everything else climb.changed[i]
        for position in range(start[v], start[v + 1]):
            edge, u = opposite[position], others[position]
            before = adding[edge]
            barred = present[position] or present[edge] or closing[edge]
            adding[edge] = -np.inf if barred else gain[position] + prior
            if everything:
                continue
            if adding[edge] >= top[u]:
                top[u] = adding[edge]
            elif before == top[u]:
                _find_top(climb, u)
    if everything:
        for u in range(len(top)):
            _find_top(climb, u)


@plain_inner
def _find_top(climb: Climb, u: int) -> None:
    """Find the best arc from u."""
    climb.top[u] = -np.inf
    for edge in range(climb.start[u], climb.start[u + 1]):
        climb.top[u] = max(climb.top[u], climb.adding[edge])


@plain_inner
def _strike_out(climb: Climb, edge: int) -> None:
    """Leave an arc out of what may be added."""
    u = climb.others[climb.opposite[edge]]
    before = climb.adding[edge]
    climb.adding[edge] = -np.inf
    if before == climb.top[u]:
        _find_top(climb, u)


@plain_inner
def _best_of_present(climb: Climb, prior: float, number: int) -> tuple[float, float]:
    """Return the best gains of deleting and of reversing an arc of the graph, but for those struck out."""
    gain, struck = climb.gain, climb.struck
    of_deleting, of_reversing = -np.inf, -np.inf
    for u in range(len(climb.top)):
        for i in range(climb.start[u], climb.start[u] + climb.n_children[u]):
            edge = climb.children[i]
            position = climb.opposite[edge]
            if struck[0, position] != number:
                of_deleting = max(of_deleting, gain[position] - prior)
            if struck[1, position] != number:
                of_reversing = max(of_reversing, gain[position] + gain[edge])
    return of_deleting, of_reversing


@plain_inner
def _first_of_present(climb: Climb, action: int, prior: float, number: int, floor: float) -> int:
    """Return the first arc of the graph whose deletion or reversal gains at least `floor`."""
    gain, struck = climb.gain, climb.struck
    first = int64(len(gain))
    for u in range(len(climb.top)):
        for i in range(climb.start[u], climb.start[u] + climb.n_children[u]):
            edge = climb.children[i]
            position = climb.opposite[edge]
            worth = gain[position] - prior if action == DELETE else gain[position] + gain[edge]
            if worth >= floor and struck[action - 1, position] != number:
                first = min(first, edge)
    return first


@plain_inner
def _mark_after(climb: Climb, edge: int, back: int, mark: int) -> int:
    """Return the mark of the graph after toggling one arc, and its opposite if `back` is not -1."""
    mark ^= climb.hashes[edge]
    return mark if back < 0 else mark ^ climb.hashes[back]


@plain_inner
def _visited(climb: Climb, edge: int, back: int, n_graphs: int, oldest: int) -> bool:
    """Return whether toggling one or two arcs leads to one of the graphs from `oldest` on.

    Marks of different graphs may be equal, so an equal one is checked by the arcs toggled since that graph.
    """
    marks, moves, size = climb.marks, climb.moves, len(climb.marks)
    mark = _mark_after(climb, edge, back, marks[(n_graphs - 1) % size])
    for graph in range(oldest, n_graphs):
        if marks[graph % size] == mark:
            # It is the same graph if all arcs toggled since, and now, were toggled an even number of times.
            n_odd = _toggle(climb.odd, edge) + _toggle(climb.odd, back)
            for later in range(graph + 1, n_graphs):
                move = moves[later % size]
                n_odd += _toggle(climb.odd, move[0]) + _toggle(climb.odd, move[1])
            climb.odd[edge] = False
            if back >= 0:
                climb.odd[back] = False
            for later in range(graph + 1, n_graphs):
                move = moves[later % size]
                climb.odd[move[0]] = False
                if move[1] >= 0:
                    climb.odd[move[1]] = False
            if n_odd == 0:
                return True
    return False


@plain_inner
def _toggle(odd: Array, edge: int) -> int:
    """Toggle an entry unless it is -1; return by how much the number of those that are True has grown."""
    if edge < 0:
        return 0
    odd[edge] = not odd[edge]
    return 1 if odd[edge] else -1


@plain_inner
def _closes_cycle(climb: Climb, action: int, edge: int) -> bool:
    """Return whether a step leaves a graph with a directed cycle.

    An arc u -> v closes one if a path leads from v to u; its reversal does if a path leads from u to v that
    does not begin with the arc itself.
    """
    u, v = climb.others[climb.opposite[edge]], climb.others[edge]
    if action == DELETE:
        return False
    begin, end = (v, u) if action == ADD else (u, v)
    skipped = int64(-1) if action == ADD else edge
    stack, seen, n = climb.stack, climb.seen, len(climb.top)
    seen[n] += 1
    stack[0], height = begin, 1
    while height > 0:
        height -= 1
        node = stack[height]
        for i in range(climb.start[node], climb.start[node] + climb.n_children[node]):
            child = climb.others[climb.children[i]]
            if climb.children[i] == skipped or seen[child] == seen[n]:
                continue
            if child == end:
                return True
            seen[child] = seen[n]
            stack[height] = child
            height += 1
    return False


@plain_inner
def _make(climb: Climb, action: int, edge: int, prior: float) -> None:
    """Apply a step to the graph, strike out what it makes impossible, and note it in the rings.

    Before and after, `present` and the first ``n_children[u]`` entries of each segment of `children` have the
    graph's arcs, ``score[0]`` is its score, and the newest graph of the rings is this one. `changed` gets the
    variables whose parents are others now: the head of the arc, and of a reversal both ends.

    Gains are by position: ``gain[back]`` is in the segment of the head of `edge`, and so the gain of toggling
    `edge` itself, and ``gain[edge]`` is that of toggling its opposite.
    """
    back, counters, size = climb.opposite[edge], climb.counters, len(climb.marks)
    second = back if action == REVERSE else int64(-1)
    graph = counters[N_GRAPHS]
    climb.moves[graph % size, 0], climb.moves[graph % size, 1] = edge, second
    climb.marks[graph % size] = _mark_after(climb, edge, second, climb.marks[(graph - 1) % size])
    climb.changed[0] = climb.others[edge]
    counters[N_GRAPHS], counters[N_CHANGED], counters[EVERYTHING] = graph + 1, 1, int64(action != ADD)
    climb.score[0] += climb.gain[back]
    if action == ADD:
        climb.score[0] += prior
        _add(climb, edge)
        _strike_out(climb, edge)
        _strike_out(climb, back)
        return
    # With an edge less, arcs that would have closed a cycle may have become legal.
    for a in range(len(climb.closing)):
        climb.closing[a] = False
    u = climb.others[back]
    climb.present[back] = False
    i = climb.start[u]
    while climb.children[i] != edge:
        i += 1
    climb.n_children[u] -= 1
    climb.children[i] = climb.children[climb.start[u] + climb.n_children[u]]
    if action == DELETE:
        climb.score[0] -= prior
        return
    # A reversal changes two families, whose gains were computed apart, and leaves the number of edges.
    climb.score[0] += climb.gain[edge]
    climb.changed[1], counters[N_CHANGED] = u, 2
    _add(climb, back)


@plain_inner
def _add(climb: Climb, edge: int) -> None:
    """Add an arc to `present` and `children`."""
    u = climb.others[climb.opposite[edge]]
    climb.present[climb.opposite[edge]] = True
    climb.children[climb.start[u] + climb.n_children[u]] = edge
    climb.n_children[u] += 1
