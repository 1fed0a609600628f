"""Loops of the local learners.

The backward step of FCBF, for many targets at once, on the sparse graph of relevant pairs; the questions of
the learners by tests; and the steps of those by score, which ask for the best network again and again.

The sparse graph comes as lists of neighbors, one after another (as in a CSR matrix); each pair is there
twice:

start : (n + 1,) int64
    The neighbors of v are at positions ``start[v]`` to ``start[v + 1]``.
neighbors : (2 * pairs,) int64
    Variables.
strengths : (2 * pairs,) float64
    Strength of the pair of each entry, the same for both directions.

So memory and time grow with the dependences found and not with the square of the variables.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, inner, kernel, popcount
from f2sl.search._kernels import best_order, best_parents, read_off
from f2sl.stats.answers import DEPENDENT, INDEPENDENT
from f2sl.stats.scores.base import LEAST


@kernel
def list_neighbors(
    first: Array, second: Array, values: Array, start: Array, neighbors: Array, strengths: Array
) -> None:
    """Turn pairs into lists of neighbors, each in the order of the pairs.

    first, second, values : (pairs,), input; start : input, from the variables' degrees; neighbors,
    strengths : output.
    """
    # end[v] is where the next neighbor of v goes.
    end = start[:-1].copy()
    for p in range(len(first)):
        x, y = first[p], second[p]
        neighbors[end[x]], strengths[end[x]] = y, values[p]
        neighbors[end[y]], strengths[end[y]] = x, values[p]
        end[x] += 1
        end[y] += 1


@kernel
def order_by_strength(start: Array, neighbors: Array, strengths: Array, tolerance: float) -> None:
    """Reorder equals by variable number, that is by name, within lists that are sorted by falling strength.

    A run of equals begins with its strongest member and extends to all within `tolerance` of that one. (Not
    of the previous one: a chain of small differences would join unequal strengths.)
    """
    # Runs are short, so each entry is inserted into its run from the end; `leader` is where the run begins.
    for target in range(len(start) - 1):
        leader, strongest = start[target], np.inf
        for p in range(start[target], start[target + 1]):
            name, strength = neighbors[p], strengths[p]
            if strongest - strength > tolerance:
                leader, strongest = p, strength
                continue
            q = p
            while q > leader and neighbors[q - 1] > name:
                neighbors[q], strengths[q] = neighbors[q - 1], strengths[q - 1]
                q -= 1
            neighbors[q], strengths[q] = name, strength


@kernel
def drop_redundant(
    start: Array, neighbors: Array, strengths: Array, first: int, last: int, margin: float, kept: Array
) -> None:
    """Mark the candidates that FCBF keeps, for targets `first` to `last`.

    In the order of their strength each kept X drops every later Y with strength(X, Y) > strength(Y, target) +
    margin. Only pairs of the sparse graph are checked: a pair that is not in it is weaker than every
    candidate's edge to the target, or is treated as unrelated.

    kept : (2 * pairs,) bool, output at the positions of these targets' lists.
    """
    # position[v] is the position of v in the current target's list, -1 if it is not there. It is reset entry
    # by entry after each target: the time depends on the list, not on the number of variables.
    position = np.empty(len(start) - 1, np.int64)
    for v in range(len(position)):
        position[v] = -1
    for target in range(first, last):
        begin, end = start[target], start[target + 1]
        for p in range(begin, end):
            position[neighbors[p]] = p
            kept[p] = True
        for p in range(begin, end):
            if not kept[p]:
                continue
            # Walk the neighbors of X rather than all later Y: q > p is a later candidate (and not -1).
            x = neighbors[p]
            for e in range(start[x], start[x + 1]):
                q = position[neighbors[e]]
                if q > p and kept[q] and strengths[e] > strengths[q] + margin:
                    kept[q] = False
        for p in range(begin, end):
            position[neighbors[p]] = -1


@kernel
def begin_size(
    owner: Array,
    alive: Array,
    capacity: Array,
    n_members: Array,
    numbers: Array,
    at_once: int,
    alive_start: Array,
    fits: Array,
    most_sets: Array,
    combination: Array,
    done: Array,
) -> tuple[int, int]:
    """Prepare `next_questions` for sets of one size.

    Parameters
    ----------
    owner, room : (n_positions,) int64 and float64
        Target that asks about the other at each position, and the largest weight of a set that it can be
        asked about with.
    alive : int64
        Positions that are still asked about, ascending.
    numbers : (most members + 1,) int64
        How many sets of this size there are, by the number of members.
    at_once : int
        Number of questions that a target asks at a time, if one set is not more.
    alive_start, fits, most_sets, combination, done
        Output: as in `next_questions`.

    Returns
    -------
    (int, int)
        Largest number of questions of one target at a time, and the sum over all targets.
    """
    n_targets, size = combination.shape
    for t in range(n_targets):
        alive_start[t], fits[t] = 0, 0.0
    alive_start[n_targets] = 0
    for position in alive:
        alive_start[owner[position] + 1] += 1
        fits[owner[position]] = max(fits[owner[position]], capacity[position])
    largest, total = 0, 0
    for t in range(n_targets):
        n_alive = alive_start[t + 1]
        most_sets[t] = min(max(at_once // max(n_alive, 1), 1), numbers[n_members[t]])
        largest = max(largest, n_alive * most_sets[t])
        total += n_alive * most_sets[t]
        alive_start[t + 1] += alive_start[t]
        done[t] = n_members[t] < size
        for p in range(size):
            combination[t, p] = p
    return largest, total


@kernel
def take_answers(
    position: Array,
    answers: Array,
    strengths: Array,
    find_all: bool,
    weakest: Array,
    separated: Array,
    separating: Array,
) -> int:
    """Note the answers to questions about some positions; return how many of them separate.

    position, answers, strengths : (n_questions,) int64, int8 and float64; weakest, separated : (n_positions,)
    float64 and bool, updated; separating : (n_questions,) int64, output: the questions that separate, of each
    position only the first unless `find_all`.
    """
    n = 0
    for question in range(len(position)):
        at = position[question]
        if answers[question] == DEPENDENT:
            weakest[at] = min(weakest[at], strengths[question])
        elif answers[question] == INDEPENDENT and (find_all or not separated[at]):
            separated[at] = True
            separating[n] = question
            n += 1
    return n


@kernel
def next_questions(
    first: int,
    alive: Array,
    alive_start: Array,
    others: Array,
    capacity: Array,
    asked_up_to: Array,
    members: Array,
    weights: Array,
    n_members: Array,
    fits: Array,
    most_sets: Array,
    combination: Array,
    done: Array,
    by_set: bool,
    which: Array,
    given: Array,
) -> tuple[int, int]:
    """List the next questions of each target: its other variables with some sets of its members.

    Parameters
    ----------
    first : int
        Target to begin with.
    alive, alive_start : int64
        Target t still asks about the others at the positions ``alive[alive_start[t]:alive_start[t + 1]]``.
    others, room : (n_positions,) int64 and float64
        Variable at each position, and the largest weight of a set that it can be asked about with.
    asked_up_to : (n_positions,) int64
        Sets of the members before this one were asked about earlier; -1 if none was.
    members, weights, n_members
        Row t, up to ``n_members[t]``, has the members of target t, and the weight of each. Weights are at
        least 1, and that of a set is their product.
    fits, most_sets : (n_targets,) float64 and int64
        Largest weight of any set of target t, and number of sets to ask about at a time.
    combination, done : (n_targets, size) int64 and (n_targets,) bool
        Next set of target t, as ascending positions among its members, and whether there is none. Both are
        moved on.
    by_set : bool
        True to ask about all others with one set, then with the next; False for all sets with one other.
    which, given : (most,) int64 and (most, size) int64
        Output: position of the other of each question, and the set.

    Returns
    -------
    (int, int)
        Number of questions, and the target before which there was no room left (the number of targets if
        there was for all).
    """
    size, n = combination.shape[1], 0
    longest = 1
    for t in range(len(n_members)):
        longest = max(longest, most_sets[t])
    sets = np.empty((longest, size), np.int64)
    products, newest = np.empty(longest), np.empty(longest, np.int64)
    for t in range(first, len(n_members)):
        own = alive[alive_start[t] : alive_start[t + 1]]
        if len(own) == 0:
            done[t] = True
        if done[t]:
            continue
        if n + len(own) * most_sets[t] > len(which):
            return n, t
        # Sets come in lexicographic order. If the members up to `position` are too heavy, so are all that
        # begin with them.
        n_sets = 0
        while n_sets < most_sets[t] and not done[t]:
            product, position = 1.0, 0
            while position < size:
                product *= weights[t, combination[t, position]]
                if product > fits[t]:
                    break
                position += 1
            if position == size:
                for p in range(size):
                    sets[n_sets, p] = members[t, combination[t, p]]
                products[n_sets] = product
                newest[n_sets] = combination[t, size - 1] if size > 0 else 0
                n_sets += 1
                position -= 1
            while position >= 0 and combination[t, position] == n_members[t] - size + position:
                position -= 1
            if position < 0:
                done[t] = True
            else:
                combination[t, position] += 1
                for p in range(position + 1, size):
                    combination[t, p] = combination[t, p - 1] + 1
        for question in range(n_sets * len(own)):
            if by_set:
                number, position = question // len(own), question % len(own)
            else:
                position, number = question // n_sets, question % n_sets
            other = own[position]
            possible = products[number] <= capacity[other] and newest[number] > asked_up_to[other]
            for p in range(size):
                possible = possible and sets[number, p] != others[other]
            if possible:
                which[n] = other
                for p in range(size):
                    given[n, p] = sets[number, p]
                n += 1
    return n, len(n_members)


UNDECIDED, KEPT, DROPPED = 0, 1, 2
"""Fates of a candidate."""
SLACK = 1e-6
"""More than by how much strengths can be out of order."""


@kernel
def next_doubts(
    start: Array,
    neighbors: Array,
    strengths: Array,
    first: int,
    last: int,
    margin: float,
    fate: Array,
    since: Array,
    doubted: Array,
    by: Array,
) -> int:
    """Find the next doubt about each undecided candidate of targets `first` to `last`; return their number.

    A candidate Y is in doubt because of a stronger X with strength(X, Y) > strength(Y, target) + margin. The
    next doubt comes from the strongest such X that was not dropped, from ``since[Y]`` on. If X is kept, the
    doubt is written down, to be decided by a test. If X is undecided itself, Y waits for a later round:
    whether X may drop Y depends on the fate of X. A candidate without any such X is kept. The result is the
    same as that of processing the candidates one by one, but each round asks one question about every
    candidate that it can.

    Parameters
    ----------
    fate : (2 * pairs,) int8
        `UNDECIDED`, `KEPT` or `DROPPED` for each position of the lists; updated where candidates are kept.
    since : (2 * pairs,) int64
        Position in the list from which on an X may still raise a doubt; ``~position`` if the X at that
        position is known to raise the next one, as long as it is not dropped. Updated.
    doubted, by : int64
        Output: positions of Y and X in the lists.
    """
    # `position` as in `drop_redundant`.
    position = np.empty(len(start) - 1, np.int64)
    for v in range(len(position)):
        position[v] = -1
    found = 0
    for target in range(first, last):
        begin, end = start[target], start[target + 1]
        placed = False
        for q in range(begin, end):
            if fate[q] != UNDECIDED:
                continue
            if since[q] < 0:
                strongest = ~since[q]
                if fate[strongest] == KEPT:
                    doubted[found], by[found] = q, strongest
                    found += 1
                if fate[strongest] != DROPPED:
                    continue
                since[q] = strongest + 1
            if not placed:
                placed = True
                for p in range(begin, end):
                    position[neighbors[p]] = p
            # Among the neighbors of Y, find the smallest position, that of the strongest X. Position q, that
            # of Y itself, stands for none. They are in the order of their strengths, except those that are
            # equal but for rounding, which is far less than `SLACK`.
            y = neighbors[q]
            strongest, least = q, strengths[q] + margin
            for e in range(start[y], start[y + 1]):
                if strengths[e] < least - SLACK:
                    break
                p = position[neighbors[e]]
                if since[q] <= p < strongest and fate[p] != DROPPED and strengths[e] > least:
                    strongest = p
            if strongest == q:
                fate[q] = KEPT
                continue
            # Whatever was before this X has been decided, so that the next round starts from here.
            since[q] = ~strongest
            if fate[strongest] == KEPT:
                doubted[found], by[found] = q, strongest
                found += 1
        if placed:
            for p in range(begin, end):
                position[neighbors[p]] = -1
    return found


@inner
def sees(parents: Array, target: int) -> tuple[int, int]:
    """Return the neighbors of `target` in a network, and its spouses that are not neighbors, as masks.

    parents : (k,) int64, a mask of parents for each variable.
    """
    adjacent, co_parents = parents[target], 0
    for v in range(len(parents)):
        if parents[v] >> target & 1:
            adjacent |= 1 << v
            co_parents |= parents[v]
    return adjacent, co_parents & ~adjacent & ~(1 << target)


@inner
def tell_ties_apart(values: Array, target: int, worth: int, told_apart: Array) -> None:
    """Change set values so that networks of equal score differ by their number of edges to `target`.

    All values are multiplied by 32, and each edge to the target is worth `worth` (1 or -1) on top. The
    network has fewer than 32 edges to one variable, so this never outweighs a difference of one unit between
    scores. A set with the target gets `worth` for each of its other members. In the difference
    G(P + v) - G(P) this leaves one for each parent if v is the target, one if the target is a parent of v,
    and nothing otherwise.

    values, told_apart : (2^k,) int64, input and output; marks such as `UNKNOWN` are left as they are.
    """
    for members in range(len(values)):
        value = values[members]
        if value > LEAST:
            value *= 32
            if members >> target & 1:
                value += worth * (popcount(np.uint64(members)) - 1)
        told_apart[members] = value


@inner
def insert(mask: int, position: int) -> int:
    """Insert a bit that is 0 at a position of a mask: bits from there on move up by one."""
    low = (1 << position) - 1
    return (mask & low) | (mask & ~low) << 1


@inner
def changes(
    values: Array,
    target: int,
    position: int,
    near: int,
    spouses: int,
    with_spouses: bool,
    near_is_final: bool,
    rules: Array,
    best_of: Array,
    best: Array,
    parents: Array,
) -> bool:
    """Find the best network; return whether the target's neighbors or spouses change in a way that counts.

    values : (2^k,) int64, ties told apart; position : of the candidate, for which `near` and `spouses` have
    no bit; best_of, best : scratch; parents : (k,) int64, output. The steps are those of `best_networks` in
    `search/_kernels.py`.
    """
    for v in range(len(parents)):
        best_parents(values, v, rules, best_of[v])
    best_order(best_of, best)
    read_off(values, rules, best_of, best, parents)
    adjacent, co_parents = sees(parents, target)
    near, spouses = insert(near, position), insert(spouses, position)
    # With settled neighbors, a spouse is any other parent of a child that is not one of these.
    if near_is_final:
        return bool(co_parents & ~near != spouses)
    return bool(adjacent != near or (with_spouses and co_parents != spouses))


@kernel
def try_in_turn(
    lattices: Array,
    rows_start: Array,
    target_position: Array,
    candidate_position: Array,
    near: Array,
    spouses: Array,
    with_spouses: Array,
    near_is_final: Array,
    worth_of_ties: int,
    rules: Array,
    parents: Array,
    tried: Array,
) -> None:
    """Find the best network with each candidate in turn, until the set around the target changes.

    Parameters
    ----------
    lattices : (rows, 2^k) int64
        Set values; a row for each candidate of each search, over the target, those around it, and the
        candidate, in ascending order.
    rows_start : (searches + 1,) int64
        Search s has the rows ``rows_start[s]`` to ``rows_start[s + 1]``.
    target_position, candidate_position : (rows,) int64
        Bits of the target and of the candidate in the masks of each row.
    near, spouses : (searches,) int64
        Masks of the target's neighbors and spouses as they are now, without a bit for the candidate.
    with_spouses, near_is_settled : (searches,) bool
        True if a change of the spouses counts; true if it is the only change that counts.
    worth_of_ties : {1, -1}
        Choice among equally good networks: the most edges to the target (1), or the fewest (-1).
    rules : (rows, 3, k) int64
        Admissible families in each row, as in `search/_kernels.py`.
    parents : (searches, k) int64
        Output: the network of the last candidate tried, with -1 in the first entry if nothing has changed.
    tried : (searches,) int64
        Output: number of candidates tried.
    """
    # Scratch memory is shared by all rows: all problems of a call have the same k.
    k = parents.shape[1]
    best_of = np.empty((k, 1 << (k - 1)), np.int64)
    best = np.empty(1 << k, np.int64)
    values = np.empty(1 << k, np.int64)
    for s in range(len(tried)):
        tried[s] = rows_start[s + 1] - rows_start[s]
        changed = False
        for row in range(rows_start[s], rows_start[s + 1]):
            tell_ties_apart(lattices[row], target_position[row], worth_of_ties, values)
            changed = changes(
                values,
                target_position[row],
                candidate_position[row],
                near[s],
                spouses[s],
                with_spouses[s],
                near_is_final[s],
                rules[row],
                best_of,
                best,
                parents[s],
            )
            if changed:
                tried[s] = row - rows_start[s] + 1
                break
        if not changed:
            parents[s, 0] = -1
