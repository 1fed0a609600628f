"""Search over orders of the variables by moving one variable at a time.

Between calls these kernels keep three invariants:

- An order is a ring of links, `after` and `before`, with the number n between its end and its beginning. A
  variable's `position` is a number that grows along the order, with gaps, so that a move changes the position
  of one variable and not of all that it passes. Where a gap is used up, all variables get new positions.
- ``chosen[v]`` is the number of v's best set of parents in this order: the first of its list (best first)
  whose members all stand before v. The score of the order is the sum of the chosen sets' scores.
- The queue holds each variable at most once (`waiting` says which), so n slots suffice.

Candidates are symmetric: if u is a candidate of v, v is one of u. Two variables that are not candidates of
each other do not affect each other's parents, so that of the n positions for a variable with c candidates
only c + 1 differ: before all of its candidates, behind one of them, behind two, and so on. Such a position is
given as a *count*, the number of candidates that stand before the variable.

Positions are compared in half steps: a variable at position p stands at 2 p, and 2 p - 1 and 2 p + 1 are just
before and just behind it. So a variable can be tried anywhere without moving anything.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from f2sl._jit import Array, int64, kernel, plain_inner

# Constants that are passed to kernels are NumPy integers: for each Python one Numba would compile the kernel
# anew.
NO_VARIABLE = int64(-1)
"""Stands for no variable, or for no position."""
IN_FRONT = int64(-1)
"""A position before everything, in half steps."""
NONE = int64(0)
"""Number of entries of an empty journal; or a position that is not requested."""
BEGIN, END = 0, 1
"""Entries of `Workspace.ends`: where the queue begins and ends."""
FORGETS, REMEMBERS = cast(bool, np.bool_(True)), cast(bool, np.bool_(False))
"""Argument `forgets` of a climb that is for good, and of one that may be undone."""
BEHIND_ALL = int64(1 << 61)
"""Upper bound of all positions; twice as much fits into 63 bits."""
MOVED, CHOSEN = 0, 1
"""Kinds of entries of the journal: a variable was moved, or chose another set of parents."""


class Sets(NamedTuple):
    """Constant input: the sets of parents (:class:`ParentSets`), and the candidates of each variable.

    Parameters
    ----------
    first : (n + 1,) int64
        The sets of variable v have the numbers ``first[v]`` to ``first[v + 1]``, best first. The last one is
        the empty set, so that some set always fits.
    start : (n_sets + 1,) int64
        The members of set s are ``members[start[s]:start[s + 1]]``.
    members : int64
        Members of all sets.
    scores : (n_sets,) float64
        Score of each set's family; falls within each variable's sets.
    near_start : (n + 1,) int64
        The candidates of v are ``candidates[near_start[v]:near_start[v + 1]]``.
    candidates : int64
        Candidates of all variables, ascending for each.
    holding_start : (len(candidates) + 1,) int64
        Where the numbers of each entry of `candidates` begin in `holding`.
    holding : int64
        Let entry c of `candidates` be v as a candidate of u: from ``holding_start[c]`` on are the numbers of
        v's sets that have u as a member, best first.
    mirror : (len(candidates),) int64
        The entry of u as a candidate of v.
    tops : (len(candidates),) float64
        Score of the best of the sets in `holding`; minus infinity where there is none.
    """

    first: Array
    start: Array
    members: Array
    scores: Array
    near_start: Array
    candidates: Array
    holding_start: Array
    holding: Array
    mirror: Array
    tops: Array


class State(NamedTuple):
    """Order and the sets chosen in it; see the invariants above.

    Parameters
    ----------
    after, before : (n + 1,) int64
        The next variable and the one before it; n stands before the first and behind the last.
    position, chosen : (n,) int64
    """

    after: Array
    before: Array
    position: Array
    chosen: Array


class Workspace(NamedTuple):
    """Scratch memory, allocated once for all calls.

    Parameters
    ----------
    queue : (n,) int64
        Variables to be tried, a ring: entry i is ``queue[i % n]``.
    ends : (2,) int64
        First entry of the queue, and the one behind its last. Within a call they only grow.
    waiting : (n,) bool
        True for variables in the queue.
    near : (len(candidates),) int64
        The entries of `Sets.candidates`, those of each variable in the order of their positions when they
        were last needed.
    journal : (entries, 3) int64
        Changes that can be undone, as rows (MOVED, variable, the one that it stood behind) or (CHOSEN,
        variable, old set).
        Undoing them from the last to the first restores order and choices exactly.
    line : (n,) int64
        Variables that move together; see `_reverse`.
    marked : (n,) bool
        True for those in `line`, within `_reverse`.
    """

    queue: Array
    ends: Array
    waiting: Array
    near: Array
    journal: Array
    line: Array
    marked: Array


@plain_inner
def _fits(
    number: int, at: int, other: int, other_at: int, position: Array, start: Array, members: Array
) -> bool:
    """Return whether all members of a set stand before `at`, as if `other` stood at `other_at`."""
    for i in range(start[number], start[number + 1]):
        # A position assumed for `other` replaces its real one.
        u = members[i]
        if (other_at if u == other else 2 * position[u]) >= at:
            return False
    return True


@plain_inner
def first_fitting(
    numbers: tuple[int, int],
    at: int,
    other: int,
    other_at: int,
    position: Array,
    start: Array,
    members: Array,
) -> int:
    """Return the best set all of whose members stand before `at`, as if `other` stood at `other_at`.

    `at` and `other_at` are in half steps. Looks at sets ``numbers[0]`` to ``numbers[1]``, best first, and
    returns ``numbers[1]`` without looking at it if none before it fits: the caller knows that it does.
    Passing the assumed position of one variable avoids moving it, and moving it back, for each position
    tried.
    """
    for number in range(numbers[0], numbers[1]):
        if _fits(number, at, other, other_at, position, start, members):
            return number
    return numbers[1]


@plain_inner
def _holds(number: int, v: int, start: Array, members: Array) -> bool:
    """Return whether v is a member of a set."""
    # Without an early exit: sets have at most eight members.
    found = False
    for i in range(start[number], start[number + 1]):
        found |= members[i] == v
    return found


@plain_inner
def _first_holding(c: int, limit: int, at: int, other: int, position: Array, sets: Sets) -> int:
    """Return the best set of those at entry c of `holding` that fits `at`, as if `other` stood in front.

    All of these have `other` as a member. `limit` is returned if no set before it fits.
    """
    for i in range(sets.holding_start[c], sets.holding_start[c + 1]):
        number = sets.holding[i]
        if number >= limit:
            break
        if _fits(number, at, other, IN_FRONT, position, sets.start, sets.members):
            return int(number)
    return limit


@kernel
def choose_all(state: State, sets: Sets) -> None:
    """Give all variables positions by the links, and choose the best set of each in this order."""
    _set_out(state)
    for v in range(len(state.position)):
        all_of_v = sets.first[v], sets.first[v + 1] - 1
        state.chosen[v] = first_fitting(
            all_of_v, 2 * state.position[v], NO_VARIABLE, NONE, state.position, sets.start, sets.members
        )


@plain_inner
def _sort_by_position(near: Array, position: Array, candidates: Array) -> None:
    """Sort `near`, a variable's part of `Workspace.near`, in the order of the positions."""
    # An insertion sort of what was in order when it was last asked for: since then few have moved. No two
    # positions are equal.
    for i in range(1, len(near)):
        c, j = near[i], i
        while j > 0 and position[candidates[near[j - 1]]] > position[candidates[c]]:
            near[j] = near[j - 1]
            j -= 1
        near[j] = c


@plain_inner
def _before(v: int, near: Array, position: Array, candidates: Array) -> int:
    """Count how many of `near`, which is in the order of positions, stand before v."""
    count = 0
    while count < len(near) and position[candidates[near[count]]] < position[v]:
        count += 1
    return count


@plain_inner
def gain_upper_bound(v: int, state: State, sets: Sets) -> float:
    """Return an upper bound of the gain of v's candidates if v moves to the left; 0 for none.

    A candidate before v gains at most the difference between its best set with v and its present set.
    """
    position, chosen, scores = state.position, state.chosen, sets.scores
    gain_bound = 0.0
    for c in range(sets.near_start[v], sets.near_start[v + 1]):
        u = sets.candidates[c]
        if position[u] < position[v]:
            gain_bound += max(0.0, sets.tops[c] - scores[chosen[u]])
    return gain_bound


@plain_inner
def best_position(v: int, near: Array, gain_bound: float, state: State, sets: Sets, least: float) -> int:
    """Return the number of candidates before v at its best position; `NO_VARIABLE` if none gains > `least`.

    `near` has the entries of v's candidates in their order, and `gain_bound` is `gain_upper_bound`.
    Nothing is moved.

    Starting from v's current position, its candidates u are passed one after another, to the right and then
    to the left. Only v and the candidates passed so far choose differently. So the gain of a position is what
    these candidates gain or lose, a sum that grows by one term for each further position (`others`), plus the
    difference between v's own best set there and the one it has now.

    - Passing u to the right, u loses v as a possible parent: it keeps its set unless v is a member, and then
      takes a later (worse) one. v can have u as well: it takes the same set or an earlier (better) one.
    - Passing u to the left, it is the other way round.

    So each search through a list starts from, or ends at, the set chosen at the position before. Of positions
    with equal gains the nearest wins, and the right before the left, because gains are compared by ``>``.
    """
    position, chosen, scores = state.position, state.chosen, sets.scores
    first, start, members, candidates = sets.first, sets.start, sets.members, sets.candidates
    behind_all = 2 * BEHIND_ALL
    here = _before(v, near, position, candidates)
    best_gain, best_count = least, NO_VARIABLE
    own_score = scores[chosen[v]]
    others, own = 0.0, chosen[v]
    # To the right: behind near[i], hence with u counted as standing before v. The others only lose, and v's
    # own gain has a limit, so the loop ends where no further position can be better.
    most = scores[first[v]]
    for i in range(here, len(near)):
        if others + most - own_score <= best_gain:
            break
        c = near[i]
        u = candidates[c]
        # u keeps its set unless v is in it. With v behind everything, no set that contains v fits any more.
        if _holds(chosen[u], v, start, members):
            number, before = chosen[u] + 1, others
            others = before + (scores[number] - scores[chosen[u]])
            while others + most - own_score > best_gain and not _fits(
                number, 2 * position[u], v, behind_all, position, start, members
            ):
                number += 1
                others = before + (scores[number] - scores[chosen[u]])
            if others + most - own_score <= best_gain:
                break
        # A set that fits only now has u as a member. Mostly none is better, which is seen without a call.
        m = sets.mirror[c]
        if sets.tops[m] > scores[own]:
            own = _first_holding(m, own, 2 * position[u], u, position, sets)
        gain = others + scores[own] - own_score
        if gain > best_gain:
            best_gain, best_count = gain, i + 1
    # To the left: just before near[i], at 2 position[u] - 1. A better set of u that fits only now has v as a
    # member. Here v only loses, and those not passed yet gain at most `gain_bound`, which was summed in
    # another order than the gains; `least` is far more than rounding.
    others, own = 0.0, chosen[v]
    for i in range(here - 1, -1, -1):
        if others + gain_bound + least + scores[own] - own_score <= best_gain:
            break
        c = near[i]
        u = candidates[c]
        if sets.tops[c] > scores[chosen[u]]:
            gain_bound -= sets.tops[c] - scores[chosen[u]]
            number = _first_holding(c, chosen[u], 2 * position[u], v, position, sets)
            others += scores[number] - scores[chosen[u]]
        # No set better than `own` fits here. A worse one is looked for only as long as it would make this
        # the best position.
        while others + scores[own] - own_score > best_gain:
            if _fits(own, 2 * position[u] - 1, NO_VARIABLE, NONE, position, start, members):
                best_gain, best_count = others + scores[own] - own_score, i
            else:
                own += 1
    return best_count


@plain_inner
def _set_out(state: State) -> None:
    """Give all variables positions with equal gaps, in the order of the links."""
    n = len(state.position)
    gap, at = BEHIND_ALL // (n + 1), NONE
    v = state.after[n]
    while v != n:
        at += gap
        state.position[v] = at
        v = state.after[v]


@plain_inner
def _move(v: int, u: int, state: State) -> None:
    """Move v to just behind u, or to the front if u is n.

    Moving v behind the one that it stood behind is the inverse, which the journal relies on.
    """
    after, before, position = state.after, state.before, state.position
    n = len(position)
    after[before[v]], before[after[v]] = after[v], before[v]
    w = after[u]
    after[u], before[v], after[v], before[w] = v, u, w, v
    low = NONE if u == n else position[u]
    high = BEHIND_ALL if w == n else position[w]
    position[v] = (low + high) // 2
    if position[v] == low:
        _set_out(state)


@plain_inner
def _put(
    v: int, count: int, near: Array, state: State, sets: Sets, workspace: Workspace, written: int
) -> tuple[float, int]:
    """Move v behind `count` of its candidates; return the gain, and the journal's length."""
    here = _before(v, near, state.position, sets.candidates)
    if count == here:
        return 0.0, written
    # To the right v goes just behind the last candidate that it passes, to the left just before the first.
    last = sets.candidates[near[count - 1 if count > here else count]]
    to = last if count > here else state.before[last]
    return _put_behind(v, to, here, count, near, state, sets, workspace, written)


@plain_inner
def _put_behind(
    v: int,
    to: int,
    here: int,
    count: int,
    near: Array,
    state: State,
    sets: Sets,
    workspace: Workspace,
    written: int,
) -> tuple[float, int]:
    """Move v to just behind `to`; return the gain, and the journal's length.

    `here` and `count` are the numbers of its candidates before v, now and there. Each change is written into
    the journal from entry `written` on, at most len(near) + 2 of them. Enqueued are the variables likely to
    gain from another move: v, those that chose another set, and the candidates of the latter.
    """
    position, chosen, journal = state.position, state.chosen, workspace.journal
    journal[written, 0], journal[written, 1], journal[written, 2] = MOVED, v, state.before[v]
    written += 1
    _enqueue(v, workspace)
    _move(v, to, state)
    gain = 0.0
    low, high = min(count, here), max(count, here)
    # v itself (i = low - 1), then the candidates that it has passed; nobody else's parents can change.
    for i in range(low - 1, high):
        u = v if i < low else sets.candidates[near[i]]
        # To the right v may have a better set and the others a worse one, to the left it is the other way
        # round. A set that fits now as before is found at once.
        better = (count > here) == (i < low)
        numbers = (sets.first[u], chosen[u]) if better else (chosen[u], sets.first[u + 1] - 1)
        number = first_fitting(
            numbers, 2 * position[u], NO_VARIABLE, NONE, position, sets.start, sets.members
        )
        if number != chosen[u]:
            journal[written, 0], journal[written, 1], journal[written, 2] = CHOSEN, u, chosen[u]
            written += 1
            old, chosen[u] = chosen[u], number
            gain += sets.scores[number] - sets.scores[old]
            _enqueue(u, workspace)
            # Who was its parent may be free to move to the right now.
            for j in range(sets.start[old], sets.start[old + 1]):
                _enqueue(sets.members[j], workspace)
            # Of a worse set, others may move to the left and make a better one possible.
            if number > old:
                for c in range(sets.near_start[u], sets.near_start[u + 1]):
                    w = sets.candidates[c]
                    if position[w] > position[u] and sets.tops[sets.mirror[c]] > sets.scores[number]:
                        _enqueue(w, workspace)
    return gain, written


@plain_inner
def _reverse(
    u: int, v: int, state: State, sets: Sets, workspace: Workspace, written: int
) -> tuple[float, int]:
    """Move v before its parent u, together with its ancestors between them; return as `_put` does.

    Nobody else moves. So u's other children keep their positions behind u, where moving u alone behind v
    would cost them their parent.
    """
    position, line, marked = state.position, workspace.line, workspace.marked
    # Ancestors behind u, found from v on.
    line[0], marked[v], length = v, True, 1
    i = 0
    while i < length:
        chosen = state.chosen[line[i]]
        for j in range(sets.start[chosen], sets.start[chosen + 1]):
            w = sets.members[j]
            if position[w] > position[u] and not marked[w]:
                line[length], marked[w] = w, True
                length += 1
        i += 1
    # Sorted by position.
    for i in range(length):
        w, j = line[i], i
        marked[w] = False
        while j > 0 and position[line[j - 1]] > position[w]:
            line[j] = line[j - 1]
            j -= 1
        line[j] = w
    gain = 0.0
    for i in range(length):
        w = line[i]
        near = workspace.near[sets.near_start[w] : sets.near_start[w + 1]]
        if written + len(near) + 2 > len(workspace.journal):
            break
        _sort_by_position(near, position, sets.candidates)
        here = _before(w, near, position, sets.candidates)
        count = _before(u, near, position, sets.candidates)
        more, written = _put_behind(w, state.before[u], here, count, near, state, sets, workspace, written)
        gain += more
    return gain, written


@plain_inner
def _enqueue(v: int, workspace: Workspace) -> None:
    """Enqueue v unless it is in the queue."""
    if not workspace.waiting[v]:
        workspace.waiting[v] = True
        workspace.queue[workspace.ends[END] % len(workspace.queue)] = v
        workspace.ends[END] += 1


@plain_inner
def _climb(
    state: State, sets: Sets, workspace: Workspace, least: float, written: int, forgets: bool
) -> tuple[float, int]:
    """Move each variable in the queue to its best position, until the queue is empty.

    Returns the gain of all moves and the journal's length. Every move gains more than `least`, so the climb
    ends. With `forgets` the journal starts again with each move, when nothing is to be undone. Otherwise
    variables whose move might overflow the journal are dropped from the queue without a try, which bounds
    how much a climb can change.
    """
    gain = 0.0
    while workspace.ends[BEGIN] < workspace.ends[END]:
        v = workspace.queue[workspace.ends[BEGIN] % len(workspace.queue)]
        # Not waiting any more before the try, so that v's own move can requeue it.
        workspace.ends[BEGIN] += 1
        workspace.waiting[v] = False
        if forgets:
            written = NONE
        # A move writes at most two entries more than v has candidates.
        if written + sets.near_start[v + 1] - sets.near_start[v] + 2 > len(workspace.journal):
            continue
        # Most variables stand well, which is seen without sorting their candidates: the others gain nothing
        # on the left, and v has its best set already, so that it gains nothing on the right.
        gain_bound = gain_upper_bound(v, state, sets)
        if gain_bound == 0.0 and sets.scores[sets.first[v]] - sets.scores[state.chosen[v]] <= least:
            continue
        near = workspace.near[sets.near_start[v] : sets.near_start[v + 1]]
        _sort_by_position(near, state.position, sets.candidates)
        count = best_position(v, near, gain_bound, state, sets, least)
        if count != NO_VARIABLE:
            more, written = _put(v, count, near, state, sets, workspace, written)
            gain += more
    return gain, written


@kernel
def draw(random: Array, below: int) -> int:
    """Draw a number from 0 to `below` - 1 by a linear congruential generator, the same on every machine.

    `random` is (1,) int64 and holds the state, which is below 2^31: its product with the factor fits into 63
    bits. The low bits of such a generator repeat soon, so they are shifted out.
    """
    random[0] = (random[0] * 1103515245 + 12345) % 2147483648
    drawn: int = (random[0] >> 8) % below
    return drawn


@kernel
def search(
    rounds: int,
    moves: int,
    random: Array,
    movable: Array,
    state: State,
    sets: Sets,
    workspace: Workspace,
    least: float,
) -> float:
    """Disturb the order at one position and climb again, for a number of rounds (iterated local search).

    Without rounds, climb from the order as it is, and return the gain: one kernel for both, so that the climb
    is compiled once.

    Each round makes `moves` changes: around a variable of `movable` (those with candidates), then around one
    of its candidates, then around one of theirs, so that the changes affect each other. A variable with
    parents goes before one of them (`_reverse`), another one to a random position. Then it climbs from there.
    If the score is now lower, by more than `least`, the round is undone; orders of equal score are accepted,
    which lets the search drift along plateaus.

    Undoing by the journal costs as much as the changes did, where a copy of the order would cost n each
    round.
    """
    if rounds == 0:
        return _climb(state, sets, workspace, least, NONE, FORGETS)[0]
    for _ in range(rounds):
        v = movable[draw(random, len(movable))]
        gain, written = 0.0, NONE
        for _ in range(moves):
            own = sets.candidates[sets.near_start[v] : sets.near_start[v + 1]]
            if written + len(own) + 2 > len(workspace.journal):
                break
            parents = sets.start[state.chosen[v]]
            n_parents = sets.start[state.chosen[v] + 1] - parents
            if n_parents > 0:
                u = sets.members[parents + draw(random, n_parents)]
                more, written = _reverse(u, v, state, sets, workspace, written)
            else:
                near = workspace.near[sets.near_start[v] : sets.near_start[v + 1]]
                _sort_by_position(near, state.position, sets.candidates)
                # Any of the len(own) + 1 positions, perhaps the one where v stands. What moves is enqueued,
                # too.
                more, written = _put(v, draw(random, len(own) + 1), near, state, sets, workspace, written)
            gain += more
            v = own[draw(random, len(own))]
        more, written = _climb(state, sets, workspace, least, written, REMEMBERS)
        if gain + more >= -least:
            continue
        # Undo the round, from its last change to its first. The queue is empty, so nothing else is left of
        # it.
        for i in range(written - 1, -1, -1):
            u, old = workspace.journal[i, 1], workspace.journal[i, 2]
            if workspace.journal[i, 0] == MOVED:
                _move(u, old, state)
            else:
                state.chosen[u] = old
    return 0.0
