"""Loops of the search over orders: sets of parents in, the best place of each variable out.

An order is held twice: `order` lists the variables, `place` says where each stands. `chosen[v]` is the
number of the set of parents that v has in it: the first of its list whose members all stand before v. Two
variables that are no candidates of each other do not mind which of them comes first, so that a variable has
as many places worth telling apart as it has candidates, and one more.

Places are compared in halves: a variable at place p stands at 2 p, and 2 p + 1 is just behind it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from f2sl._jit import Array, kernel

NOBODY = -1
BEGIN, END = 0, 1
"""Where the ends of a queue stand in the array that has both."""
FEW = 50
"""So many candidates, or sets, are gone through one by one; more are worth some preparation."""
MOVED, CHOSEN = 0, 1
"""What an entry of the journal undoes: a move of a variable, or its choice of parents."""


class Sets(NamedTuple):
    """What is known beforehand: the sets of parents (:class:`ParentSets`), and who is whose candidate.

    `holding` lists, from ``holding_start[c]`` on, the sets that hold u of the variable v at place c of the
    candidates, which are u's from ``near_start[u]`` on.
    """

    first: Array
    start: Array
    members: Array
    scores: Array
    near_start: Array
    candidates: Array
    holding_start: Array
    holding: Array


class State(NamedTuple):
    """An order, and what each variable has chosen in it."""

    order: Array
    place: Array
    chosen: Array


class Room(NamedTuple):
    """Where the loops work: who waits for its turn, neighbours in order, and a journal of all changes."""

    queue: Array
    ends: Array
    waiting: Array
    near: Array
    journal: Array


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
    holding: Array, limit: int, at: int, other: int, place: Array, start: Array, members: Array
) -> int:
    """The first of some sets, all of which hold `other`, that fits who stands `at` if `other` stood first.

    `limit` is the number of the set that is taken if none before it fits.
    """
    for number in holding:
        if number >= limit:
            break
        if first_fitting((number, number + 1), at, other, -1, place, start, members) == number:
            return int(number)
    return limit


@kernel
def _holding(v: int, u: int, sets: Sets) -> Array:
    """Numbers of the sets of v that hold u."""
    begin = sets.near_start[u]
    slot = begin + np.searchsorted(sets.candidates[begin : sets.near_start[u + 1]], v)
    return sets.holding[sets.holding_start[slot] : sets.holding_start[slot + 1]]


@kernel
def _best_here(v: int, place: Array, sets: Sets) -> int:
    """The best set of v as the variables stand."""
    all_of_v = sets.first[v], sets.first[v + 1] - 1
    return first_fitting(all_of_v, 2 * place[v], NOBODY, 0, place, sets.start, sets.members)


@kernel
def choose_all(state: State, sets: Sets) -> None:
    """Choose the best set of each variable as the variables stand."""
    for v in range(len(state.place)):
        state.chosen[v] = _best_here(v, state.place, sets)


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
def best_place(v: int, near: Array, state: State, sets: Sets, least: float) -> int:
    """Behind how many of those near v should stand; nobody if that gains no more than `least`.

    Moving v behind u takes v from the parents that u can have, and moving it before u gives it to them.
    Whoever can have fewer keeps its set, if that is among what is left, or takes a later one; whoever can
    have more keeps its set or takes an earlier one that holds whom it has gained.
    """
    place, chosen, scores = state.place, state.chosen, sets.scores
    first, start, members = sets.first, sets.start, sets.members
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
            own = _first_holding(_holding(v, u, sets), own, 2 * place[u], u, place, start, members)
        gain = others + scores[own] - lost
        if gain > best_gain:
            best_gain, best_count = gain, i + 1
    others, own = 0.0, chosen[v]
    for i in range(here - 1, -1, -1):
        u = near[i]
        if chosen[u] - first[u] <= FEW:
            number = first_fitting((first[u], chosen[u]), 2 * place[u], v, -1, place, start, members)
        else:
            number = _first_holding(_holding(u, v, sets), chosen[u], 2 * place[u], v, place, start, members)
        others += scores[number] - scores[chosen[u]]
        own = first_fitting((own, first[v + 1] - 1), 2 * place[u] - 1, NOBODY, 0, place, start, members)
        gain = others + scores[own] - lost
        if gain > best_gain:
            best_gain, best_count = gain, i
    return best_count


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
    v: int, count: int, near: Array, state: State, sets: Sets, room: Room, written: int
) -> tuple[float, int]:
    """Let v stand behind `count` of those near: what that gains.

    Each change is written into the journal, and whom it touches waits for its turn: who moved, who chose
    anew, and the candidates of these.
    """
    place, chosen, journal = state.place, state.chosen, room.journal
    here = _before(v, near, place)
    if count == here:
        return 0.0, written
    journal[written] = MOVED, v, place[v]
    written += 1
    _enqueue(v, room)
    _move(v, place[near[count - 1] if count > here else near[count]], state.order, place)
    gain = 0.0
    low, high = min(count, here), max(count, here)
    for i in range(low - 1, high):
        u = v if i < low else near[i]
        number = _best_here(u, place, sets)
        if number != chosen[u]:
            journal[written] = CHOSEN, u, chosen[u]
            written += 1
            gain += sets.scores[number] - sets.scores[chosen[u]]
            chosen[u] = number
            _enqueue(u, room)
            for w in sets.candidates[sets.near_start[u] : sets.near_start[u + 1]]:
                _enqueue(w, room)
    return gain, written


@kernel
def _enqueue(v: int, room: Room) -> None:
    """Let v wait for its turn, once."""
    if not room.waiting[v]:
        room.waiting[v] = True
        room.queue[room.ends[END] % len(room.queue)] = v
        room.ends[END] += 1


@kernel
def climb(
    state: State, sets: Sets, room: Room, least: float, written: int, forgets: bool
) -> tuple[float, int]:
    """Let each variable that waits go to its best place, until nobody gains: what all have gained.

    Where the journal `forgets`, it begins anew with each move; otherwise the climb ends before the journal
    is full.
    """
    gain = 0.0
    while room.ends[BEGIN] < room.ends[END]:
        v = room.queue[room.ends[BEGIN] % len(room.queue)]
        room.ends[BEGIN] += 1
        room.waiting[v] = False
        if forgets:
            written = 0
        own = sets.candidates[sets.near_start[v] : sets.near_start[v + 1]]
        if written + len(own) + 2 > len(room.journal):
            continue
        near = _by_place(own, state.place, room.near)
        count = best_place(v, near, state, sets, least)
        if count != NOBODY:
            more, written = _put(v, count, near, state, sets, room, written)
            gain += more
    return gain, written


@kernel
def _draw(random: Array, below: int) -> int:
    """Draw a number below another: a linear congruential generator, the same on every machine."""
    random[0] = (random[0] * 1103515245 + 12345) % 2147483648
    drawn: int = (random[0] >> 8) % below
    return drawn


@kernel
def kick(
    rounds: int, moves: int, random: Array, movable: Array, state: State, sets: Sets, room: Room, least: float
) -> None:
    """Disturb the order here and there, and climb again.

    Each round moves a variable to a place drawn at random, then one of its candidates, and so on; what is not
    as good as before after the climb is taken back.
    """
    for _ in range(rounds):
        v = movable[_draw(random, len(movable))]
        gain, written = 0.0, 0
        for _ in range(moves):
            own = sets.candidates[sets.near_start[v] : sets.near_start[v + 1]]
            if written + len(own) + 2 > len(room.journal):
                break
            near = _by_place(own, state.place, room.near)
            more, written = _put(v, _draw(random, len(own) + 1), near, state, sets, room, written)
            gain += more
            v = own[_draw(random, len(own))]
        more, written = climb(state, sets, room, least, written, False)
        if gain + more >= -least:
            continue
        for i in range(written - 1, -1, -1):
            kind, u, old = room.journal[i]
            if kind == MOVED:
                _move(u, old, state.order, state.place)
            else:
                state.chosen[u] = old
