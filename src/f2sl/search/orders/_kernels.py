"""Loops of the search over orders: sets of parents in, the best place of each variable out.

An order is held twice: `order` lists the variables, `place` says where each stands. `chosen[v]` is the
number of the set of parents that v has in it: the first of its list whose members all stand before v. Two
variables that are no candidates of each other do not mind which of them comes first, so that a variable has
as many places worth telling apart as it has candidates, and one more.

Places are compared in halves: a variable at place p stands at 2 p, and 2 p + 1 is just behind it.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel

NOBODY = -1
BEGIN, END = 0, 1
"""Where the ends of a queue stand in the array that has both."""
FEW = 50
"""So many candidates, or sets, are gone through one by one; more are worth some preparation."""
MOVED, CHOSEN = 0, 1
"""What an entry of the journal undoes: a move of a variable, or its choice of parents."""


@kernel
def first_fitting(
    numbers: tuple[int, int], at: int, other: int, other_at: int, place: Array, start: Array, members: Array
) -> int:
    """The first of some sets that fits who stands `at` (in halves) if `other` stood at `other_at`.

    `numbers` are those of the first set to look at, and of the one that is taken if none before it fits.
    """
    for number in range(numbers[0], numbers[1]):
        fits = True
        for i in range(start[number], start[number + 1]):
            u = members[i]
            if (other_at if u == other else 2 * place[u]) >= at:
                fits = False
                break
        if fits:
            return number
    return numbers[1]


@kernel
def _holds(number: int, v: int, start: Array, members: Array) -> bool:
    """Say whether v is a member of a set."""
    found = False
    for i in range(start[number], start[number + 1]):
        found |= members[i] == v
    return found


@kernel
def _first_holding(
    numbers: Array, limit: int, at: int, other: int, place: Array, start: Array, members: Array
) -> int:
    """The first of some sets, all of which hold `other`, that fits who stands `at` if `other` stood first.

    `limit` is the number of the set that is taken if none before it fits.
    """
    for i in range(len(numbers)):
        number: int = numbers[i]
        if number >= limit:
            break
        if first_fitting((number, number + 1), at, other, -1, place, start, members) == number:
            return number
    return limit


@kernel
def choose_all(place: Array, first: Array, start: Array, members: Array, chosen: Array) -> None:
    """Choose the best set of each variable as the variables stand."""
    for v in range(len(place)):
        chosen[v] = first_fitting(
            (first[v], first[v + 1] - 1), 2 * place[v], NOBODY, 0, place, start, members
        )


@kernel
def _by_place(candidates: Array, place: Array, room: Array) -> Array:
    """Candidates in the order of their places."""
    if len(candidates) > FEW:
        room[: len(candidates)] = candidates[np.argsort(place[candidates])]
        return room[: len(candidates)]
    for i in range(len(candidates)):
        u, j = candidates[i], i
        while j > 0 and place[room[j - 1]] > place[u]:
            room[j] = room[j - 1]
            j -= 1
        room[j] = u
    return room[: len(candidates)]


@kernel
def _before(v: int, near: Array, place: Array) -> int:
    """How many of those near stand before v."""
    count = 0
    while count < len(near) and place[near[count]] < place[v]:
        count += 1
    return count


@kernel
def best_place(
    v: int,
    near: Array,
    place: Array,
    chosen: Array,
    near_start: Array,
    candidates: Array,
    holding_start: Array,
    holding: Array,
    first: Array,
    start: Array,
    members: Array,
    scores: Array,
    least: float,
) -> tuple[float, int]:
    """Where v should stand: what that gains, and behind how many of those near; none if below `least`.

    Moving v behind u takes v from the parents that u can have, and moving it before u gives it to them.
    Whoever can have fewer keeps its set, if that is among what is left, or takes a later one; whoever can
    have more keeps its set or takes an earlier one that holds whom it has gained.
    """
    behind_all = 2 * len(place)
    here = _before(v, near, place)
    best_gain, best_count = least, NOBODY
    lost = scores[chosen[v]]
    others, own = 0.0, chosen[v]
    for i in range(here, len(near)):
        u = near[i]
        if _holds(chosen[u], v, start, members):
            later = chosen[u] + 1, first[u + 1] - 1
            number = first_fitting(later, 2 * place[u], v, behind_all, place, start, members)
            others += scores[number] - scores[chosen[u]]
        if own - first[v] <= FEW:
            own = first_fitting((first[v], own), 2 * place[u], u, -1, place, start, members)
        else:
            slot = near_start[u] + np.searchsorted(candidates[near_start[u] : near_start[u + 1]], v)
            numbers = holding[holding_start[slot] : holding_start[slot + 1]]
            own = _first_holding(numbers, own, 2 * place[u], u, place, start, members)
        gain = others + scores[own] - lost
        if gain > best_gain:
            best_gain, best_count = gain, i + 1
    others, own = 0.0, chosen[v]
    for i in range(here - 1, -1, -1):
        u = near[i]
        if chosen[u] - first[u] <= FEW:
            number = first_fitting((first[u], chosen[u]), 2 * place[u], v, -1, place, start, members)
        else:
            slot = near_start[v] + np.searchsorted(candidates[near_start[v] : near_start[v + 1]], u)
            numbers = holding[holding_start[slot] : holding_start[slot + 1]]
            number = _first_holding(numbers, chosen[u], 2 * place[u], v, place, start, members)
        others += scores[number] - scores[chosen[u]]
        own = first_fitting((own, first[v + 1] - 1), 2 * place[u] - 1, NOBODY, 0, place, start, members)
        gain = others + scores[own] - lost
        if gain > best_gain:
            best_gain, best_count = gain, i
    return best_gain, best_count


@kernel
def _move(v: int, to: int, order: Array, place: Array) -> None:
    """Let v stand at a place; those between move up."""
    here = place[v]
    step = 1 if to > here else -1
    for p in range(here, to, step):
        order[p] = order[p + step]
        place[order[p]] = p
    order[to] = v
    place[v] = to


@kernel
def _put(
    v: int,
    count: int,
    near: Array,
    order: Array,
    place: Array,
    chosen: Array,
    first: Array,
    start: Array,
    members: Array,
    scores: Array,
    journal: Array,
    written: int,
) -> tuple[float, int]:
    """Let v stand behind `count` of those near: what that gains; each change is written into the journal."""
    here = _before(v, near, place)
    if count == here:
        return 0.0, written
    journal[written] = MOVED, v, place[v]
    written += 1
    _move(v, place[near[count - 1] if count > here else near[count]], order, place)
    gain = 0.0
    low, high = min(count, here), max(count, here)
    for i in range(low - 1, high):
        u = v if i < low else near[i]
        number = first_fitting((first[u], first[u + 1] - 1), 2 * place[u], NOBODY, 0, place, start, members)
        if number != chosen[u]:
            journal[written] = CHOSEN, u, chosen[u]
            written += 1
            gain += scores[number] - scores[chosen[u]]
            chosen[u] = number
    return gain, written


@kernel
def _enqueue(v: int, queue: Array, ends: Array, waiting: Array) -> None:
    """Let v wait for its turn, once."""
    if not waiting[v]:
        waiting[v] = True
        queue[ends[END] % len(queue)] = v
        ends[END] += 1


@kernel
def _enqueue_around(
    changed: Array,
    near_start: Array,
    candidates: Array,
    queue: Array,
    ends: Array,
    waiting: Array,
) -> None:
    """Let those wait for whom something changed: who moved, who chose anew, and the candidates of these."""
    for i in range(len(changed)):
        kind, v, _ = changed[i]
        _enqueue(v, queue, ends, waiting)
        if kind == CHOSEN:
            for u in candidates[near_start[v] : near_start[v + 1]]:
                _enqueue(u, queue, ends, waiting)


@kernel
def climb(
    order: Array,
    place: Array,
    chosen: Array,
    near_start: Array,
    candidates: Array,
    holding_start: Array,
    holding: Array,
    first: Array,
    start: Array,
    members: Array,
    scores: Array,
    least: float,
    queue: Array,
    ends: Array,
    waiting: Array,
    room: Array,
    journal: Array,
    written: int,
    forgets: bool,
) -> tuple[float, int]:
    """Let each variable that waits go to its best place, until nobody gains: what all have gained.

    Where the journal `forgets`, it begins anew with each move; otherwise the climb ends before the journal
    is full.
    """
    gain = 0.0
    while ends[BEGIN] < ends[END]:
        v = queue[ends[BEGIN] % len(queue)]
        ends[BEGIN] += 1
        waiting[v] = False
        if forgets:
            written = 0
        own = candidates[near_start[v] : near_start[v + 1]]
        if written + len(own) + 2 > len(journal):
            continue
        near = _by_place(own, place, room)
        _, count = best_place(
            v,
            near,
            place,
            chosen,
            near_start,
            candidates,
            holding_start,
            holding,
            first,
            start,
            members,
            scores,
            least,
        )
        if count == NOBODY:
            continue
        before = written
        more, written = _put(
            v, count, near, order, place, chosen, first, start, members, scores, journal, written
        )
        gain += more
        _enqueue_around(journal[before:written], near_start, candidates, queue, ends, waiting)
    return gain, written


@kernel
def _draw(state: Array, below: int) -> int:
    """Draw a number below another: a linear congruential generator, the same on every machine."""
    state[0] = (state[0] * 1103515245 + 12345) % 2147483648
    drawn: int = (state[0] >> 8) % below
    return drawn


@kernel
def kick(
    rounds: int,
    moves: int,
    state: Array,
    movable: Array,
    order: Array,
    place: Array,
    chosen: Array,
    near_start: Array,
    candidates: Array,
    holding_start: Array,
    holding: Array,
    first: Array,
    start: Array,
    members: Array,
    scores: Array,
    least: float,
    queue: Array,
    ends: Array,
    waiting: Array,
    room: Array,
    journal: Array,
) -> float:
    """Disturb the order here and there, and climb again: what was gained.

    Each round moves a variable to a place drawn at random, then one of its candidates, and so on; what is not
    as good as before after the climb is taken back.
    """
    total = 0.0
    for _ in range(rounds):
        v = movable[_draw(state, len(movable))]
        gain, written = 0.0, 0
        for _ in range(moves):
            own = candidates[near_start[v] : near_start[v + 1]]
            if written + len(own) + 2 > len(journal):
                break
            near = _by_place(own, place, room)
            before = written
            more, written = _put(
                v,
                _draw(state, len(own) + 1),
                near,
                order,
                place,
                chosen,
                first,
                start,
                members,
                scores,
                journal,
                written,
            )
            gain += more
            _enqueue_around(journal[before:written], near_start, candidates, queue, ends, waiting)
            v = own[_draw(state, len(own))]
        more, written = climb(
            order,
            place,
            chosen,
            near_start,
            candidates,
            holding_start,
            holding,
            first,
            start,
            members,
            scores,
            least,
            queue,
            ends,
            waiting,
            room,
            journal,
            written,
            False,
        )
        gain += more
        if gain >= -least:
            total += gain
            continue
        for i in range(written - 1, -1, -1):
            kind, u, old = journal[i]
            if kind == MOVED:
                _move(u, old, order, place)
            else:
                chosen[u] = old
    return total
