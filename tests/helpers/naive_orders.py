"""The search over orders, and confirmed redundancy, as plainly as they can be put."""

from itertools import combinations, permutations


def parent_sets(score, candidates, edge_log_prior, max_parents):
    """All sets of parents of each variable that no subset of theirs equals or beats, best first.

    All sets of up to two parents are tried; of larger ones, those that have one parent more than a set that
    is better than its own subsets.
    """
    found = []
    for v, own in enumerate(candidates):
        scores, useful = {}, []
        for size in range(min(max_parents, len(own)) + 1):
            for members in combinations(sorted(own), size):
                smaller = [part for k in range(size) for part in combinations(members, k) if part in scores]
                if size > 2 and not any(part in useful for part in combinations(members, size - 1)):
                    continue
                scores[members] = score(v, members) + edge_log_prior * size
                if all(scores[members] > scores[part] + 1e-9 for part in smaller):
                    useful.append(members)
        found.append(sorted(((scores[members], members) for members in useful), key=lambda one: -one[0]))
    return found


def best_of_order(sets, order):
    """The best score of an order, and the parents of each variable in it."""
    total, chosen = 0.0, {}
    for at, v in enumerate(order):
        value, members = next(one for one in sets[v] if set(one[1]) <= set(order[:at]))
        total += value
        chosen[v] = members
    return total, chosen


def best_of_all(sets):
    """The best score over all orders."""
    return max(best_of_order(sets, order)[0] for order in permutations(range(len(sets))))


def moved(order, v):
    """All orders that differ by the place of one variable."""
    rest = [u for u in order if u != v]
    return [[*rest[:at], v, *rest[at:]] for at in range(len(order))]


def reversed_edge(sets, order, u, v):
    """The order with v before its parent u, and with v its ancestors that stand between them."""
    _, chosen = best_of_order(sets, order)
    at, along = order.index(u), {v}
    for w in reversed(order[at + 1 : order.index(v)]):
        if any(w in chosen[x] for x in along):
            along.add(w)
    behind = order[at:]
    return [
        *order[:at],
        *(w for w in behind if w in along),
        *(w for w in behind if w not in along),
    ]


def confirmed(strengths, independent, target, ties):
    """Redundancy that a test confirms, for one target: `strengths` maps related pairs to how much they are.

    `independent(c, y, x)` says whether c and y are independent given x.
    """
    own = {pair: value for pair, value in strengths.items() if target in pair}
    candidates = sorted((-value, *(pair - {target})) for pair, value in own.items())
    alive = [y for _, y in candidates]
    for _, x in candidates:
        if x not in alive:
            continue
        for y in alive[alive.index(x) + 1 :]:
            between, to_target = strengths.get(frozenset((x, y)), -1.0), own[frozenset((y, target))]
            close = between > to_target + 1e-10 if ties == "keep" else between > to_target - 1e-10
            if close and independent(target, y, x):
                alive.remove(y)
    return alive
