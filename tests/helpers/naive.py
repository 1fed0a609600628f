"""Slow, obvious twins of the kernels and formulas, in plain Python; nothing of f2sl is imported.

Data are `codes`: one sequence of states for each variable. A contingency table is a
dictionary from a tuple of states to a count.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from itertools import combinations, product

from scipy.stats import chi2

TOLERANCE = 1e-10

# Counts


def contingency(codes, variables):
    """Count how often each configuration of `variables` occurs; only those that do are listed."""
    if not variables:
        return Counter({(): len(codes[0])})
    return Counter(zip(*(map(int, codes[v]) for v in variables), strict=True))


def full_table(codes, cardinalities, variables):
    """List the counts of all configurations, the last variable varying fastest."""
    table = contingency(codes, variables)
    return [table[cell] for cell in product(*(range(cardinalities[v]) for v in variables))]


def plane(column, state):
    """List 64-bit words whose bits tell of each sample whether it is in a state, the first sample lowest."""
    bits = [int(value == state) for value in column]
    return [sum(bit << b for b, bit in enumerate(bits[w : w + 64])) for w in range(0, len(bits), 64)]


# Information


def n_log_n(n, unit):
    """Give n log n in whole units; 0 for 0."""
    return round(n * math.log(n) / unit) if n else 0


def entropy(codes, variables):
    n_rows = len(codes[0])
    return -sum(n / n_rows * math.log(n / n_rows) for n in contingency(codes, variables).values())


def mutual_information(codes, x, y, given=()):
    """I(X; Y | Z) as the mean of log p(x, y | z) / (p(x | z) p(y | z))."""
    n_rows = len(codes[0])
    n_z = contingency(codes, given)
    n_xz = contingency(codes, (x, *given))
    n_yz = contingency(codes, (y, *given))
    total = 0.0
    for (a, b, *z), n in contingency(codes, (x, y, *given)).items():
        total += n / n_rows * math.log(n * n_z[tuple(z)] / (n_xz[a, *z] * n_yz[b, *z]))
    return total


def symmetrical_uncertainty(codes, x, y):
    both = entropy(codes, (x,)) + entropy(codes, (y,))
    return 2 * mutual_information(codes, x, y) / both if both > 0 else 0.0


def all_pairs(codes, measure="su"):
    """Measure all pairs: a symmetric list of lists with zeros on its diagonal."""
    formula = {"su": symmetrical_uncertainty, "mi": mutual_information}[measure]
    n = len(codes)
    matrix = [[0.0] * n for _ in range(n)]
    for x, y in combinations(range(n), 2):
        matrix[x][y] = matrix[y][x] = formula(codes, x, y)
    return matrix


# Independence


def independence_test(codes, x, y, given=(), statistic="g2"):
    """Statistic, degrees of freedom and p-value, added up over the strata of `given`."""
    value, freedom = 0.0, 0
    for z in contingency(codes, given):
        rows = [s for s in range(len(codes[0])) if tuple(int(codes[v][s]) for v in given) == z]
        stratum = [[codes[x][s] for s in rows], [codes[y][s] for s in rows]]
        cells, n_x, n_y = (contingency(stratum, which) for which in ((0, 1), (0,), (1,)))
        freedom += (len(n_x) - 1) * (len(n_y) - 1)
        for (a,), (b,) in product(n_x, n_y):
            observed, expected = cells[a, b], n_x[a,] * n_y[b,] / len(rows)
            if statistic == "x2":
                value += (observed - expected) ** 2 / expected
            elif observed > 0:
                value += 2 * observed * math.log(observed / expected)
    return value, freedom, float(chi2.sf(value, freedom)) if freedom else 1.0


def significant(p_values, level=0.05, correction="fdr"):
    """Keys of the p-values that are significant among all of them.

    By Benjamini and Hochberg's rule those up to level k / m, for the largest k such that k of the m p-values
    or more are.
    """
    m = len(p_values)

    def up_to(limit):
        return sorted(key for key, p in p_values.items() if p <= limit)

    if correction == "bonferroni":
        return up_to(level / m)
    found = [up_to(level * k / m) for k in range(m, 0, -1) if len(up_to(level * k / m)) >= k]
    return found[0] if found else []


def is_reliable(n_rows, cardinalities, x, y, given=()):
    return n_rows >= 5 * math.prod(cardinalities[v] for v in (x, y, *given))


def answer(codes, cardinalities, x, y, given=(), alpha=0.01, statistic="g2"):
    if not is_reliable(len(codes[0]), cardinalities, x, y, given):
        return "inconclusive"
    p_value = independence_test(codes, x, y, given, statistic)[2]
    return "independent" if p_value > alpha else "dependent"


# Scores


def family_counts(codes, child, parents):
    """For each configuration of the parents that occurs, the counts of the child's states that occur."""
    groups = {}
    for (*j, k), n in contingency(codes, (*parents, child)).items():
        groups.setdefault(tuple(j), {})[k] = n
    return groups


def log_likelihood(codes, cardinalities, child, parents):
    total = 0.0
    for counts in family_counts(codes, child, parents).values():
        total += sum(n * math.log(n / sum(counts.values())) for n in counts.values())
    return total


def free_parameters(cardinalities, child, parents):
    return (cardinalities[child] - 1) * math.prod(cardinalities[p] for p in parents)


def bic(codes, cardinalities, child, parents):
    penalty = math.log(len(codes[0])) / 2 * free_parameters(cardinalities, child, parents)
    return log_likelihood(codes, cardinalities, child, parents) - penalty


def aic(codes, cardinalities, child, parents):
    penalty = free_parameters(cardinalities, child, parents)
    return log_likelihood(codes, cardinalities, child, parents) - penalty


def bdeu(codes, cardinalities, child, parents, equivalent_sample_size=10.0):
    """Spread the prior over all configurations of the parents."""
    q = math.prod(cardinalities[p] for p in parents)
    return _predicted(codes, cardinalities, child, parents, equivalent_sample_size / q)


def bds(codes, cardinalities, child, parents, equivalent_sample_size=10.0):
    """Spread the prior over the configurations of the parents that occur."""
    q = len({tuple(codes[p][i] for p in parents) for i in range(len(codes[child]))})
    return _predicted(codes, cardinalities, child, parents, equivalent_sample_size / q)


def _predicted(codes, cardinalities, child, parents, group_prior):
    """Predict one sample after another; log Gamma(a + n) / Gamma(a) is a sum of n logarithms."""
    cell_prior = group_prior / cardinalities[child]
    total = 0.0
    for counts in family_counts(codes, child, parents).values():
        total += sum(math.log(cell_prior + i) for n in counts.values() for i in range(n))
        total -= sum(math.log(group_prior + i) for i in range(sum(counts.values())))
    return total


def k2(codes, cardinalities, child, parents):
    """Cooper and Herskovits' product of factorials."""
    r = cardinalities[child]
    total = 0.0
    for counts in family_counts(codes, child, parents).values():
        total += math.log(math.factorial(r - 1)) - math.log(math.factorial(sum(counts.values()) + r - 1))
        total += sum(math.log(math.factorial(n)) for n in counts.values())
    return total


SCORES = {"bdeu": bdeu, "bds": bds, "k2": k2, "bic": bic, "aic": aic, "loglik": log_likelihood}


# Parents and children


def by_strength(strengths, candidates):
    """Strongest first; those within the tolerance of the strongest left are equals, in the order of names."""
    left, ordered = sorted(candidates), []
    while left:
        top = max(strengths[v] for v in left)
        ordered += [v for v in left if top - strengths[v] <= TOLERANCE]
        left = [v for v in left if top - strengths[v] > TOLERANCE]
    return ordered


def fcbf(matrix, target, delta, ties="drop"):
    """FCBF for one target, from the measure of all pairs."""
    to_target = matrix[target]
    relevant = [v for v in range(len(matrix)) if v != target and to_target[v] > delta + TOLERANCE]
    left, chosen = by_strength(to_target, relevant), []
    while left:
        x = left.pop(0)
        chosen.append(x)
        if ties == "drop":
            left = [y for y in left if not matrix[x][y] >= to_target[y] - TOLERANCE]
        else:
            left = [y for y in left if not matrix[x][y] > to_target[y] + TOLERANCE]
    return chosen


def mrmr(matrix, target, k):
    left, chosen = [v for v in range(len(matrix)) if v != target], []
    while left and len(chosen) < k:
        merit = {x: matrix[x][target] for x in left}
        if chosen:
            merit = {x: merit[x] - sum(matrix[x][y] for y in chosen) / len(chosen) for x in left}
        best = by_strength(merit, left)[0]
        chosen.append(best)
        left.remove(best)
    return chosen


def skeleton(sets, symmetry):
    """Edges (a, b), a < b, that both sets name ("and") or either names ("or")."""
    join = {"and": all, "or": any}[symmetry]
    return [(a, b) for a, b in combinations(range(len(sets)), 2) if join([b in sets[a], a in sets[b]])]


# Graphs


def is_acyclic(n, arrows):
    """Take away nodes without parents until none is left, or all that are left have parents."""
    left, arrows = set(range(n)), set(arrows)
    while left:
        free = left - {v for _, v in arrows}
        if not free:
            return False
        left -= free
        arrows = {(u, v) for u, v in arrows if u in left}
    return True


def all_dags(n):
    """List the arrows of every DAG over n nodes: each pair has none, or one either way."""
    pairs = list(combinations(range(n), 2))
    for choice in product((0, 1, 2), repeat=len(pairs)):
        arrows = [(b, a) if way == 2 else (a, b) for (a, b), way in zip(pairs, choice, strict=True) if way]
        if is_acyclic(n, arrows):
            yield tuple(arrows)


def edges_of(arrows):
    return sorted((min(u, v), max(u, v)) for u, v in arrows)


def unshielded_colliders(n, arrows):
    """List (a, c, d), a < d not adjacent, with a -> c <- d."""
    edges = set(edges_of(arrows))
    return sorted(
        (a, c, d)
        for a, d in combinations(range(n), 2)
        for c in range(n)
        if (a, c) in arrows and (d, c) in arrows and (a, d) not in edges
    )


def cpdag(n, arrows):
    """Directed and undirected edges: what all DAGs with the same edges and unshielded colliders agree on."""
    edges, colliders = edges_of(arrows), unshielded_colliders(n, arrows)
    graphs = [
        {(b, a) if turn else (a, b) for (a, b), turn in zip(edges, trial, strict=True)}
        for trial in product((False, True), repeat=len(edges))
    ]
    alike = [g for g in graphs if is_acyclic(n, g) and unshielded_colliders(n, g) == colliders]
    directed = sorted(set.intersection(*alike))
    return directed, sorted(set(edges) - set(edges_of(directed)))


def d_separated(arrows, x, y, given):
    """Say whether `given` separates x from y in the moral graph of their ancestors (Lauritzen 1990)."""
    ancestors = {x, y, *given}
    while more := {u for u, v in arrows if v in ancestors} - ancestors:
        ancestors |= more
    adjacencies = {frozenset((u, v)) for u, v in arrows if u in ancestors and v in ancestors}
    for child in ancestors:
        adjacencies |= {frozenset(p) for p in combinations([u for u, v in arrows if v == child], 2)}
    reached, todo = {x}, [x]
    while todo:
        node = todo.pop()
        for other in ancestors - reached - set(given):
            if frozenset((node, other)) in adjacencies:
                reached.add(other)
                todo.append(other)
    return y not in reached


# Orientation


def find_v_structures(n, edges, ask, max_cond_vars):
    """Algorithm 3 of the paper, triple after triple; `ask(a, d, given)` answers with a word.

    Unreliable is neither independent nor, where dependence is asked for, independent.
    """
    near = [sorted({b for a, b in edges if a == v} | {a for a, b in edges if b == v}) for v in range(n)]
    found = []
    for c in range(n):
        for a, d in combinations(near[c], 2):
            if d in near[a]:
                continue
            if ask(a, d, (c,)) == "independent":
                continue
            if ask(a, d, ()) == "independent" and ask(a, d, (c,)) != "independent":
                found.append((a, c, d))
                continue
            sets = [
                s
                for around in (near[a], near[d])
                for size in range(1, max_cond_vars + 1)
                for s in combinations([v for v in around if v != c], size)
            ]
            if any(ask(a, d, s) == "independent" and ask(a, d, (*s, c)) != "independent" for s in sets):
                found.append((a, c, d))
    return sorted(found)


def directions(triples):
    """Arrows that more v-structures claim than claim the opposite, the most claimed first."""
    votes = Counter()
    for a, c, d in triples:
        votes.update([(a, c), (d, c)])
    return [u_v for _, u_v in sorted((-n, (u, v)) for (u, v), n in votes.items() if n > votes[v, u])]


# Search


def graph_score(n, arrows, family, edge_log_prior=0.0):
    parents = [tuple(sorted(u for u, v in arrows if v == child)) for child in range(n)]
    return sum(family(child, parents[child]) for child in range(n)) + edge_log_prior * len(arrows)


def neighboring_graphs(n, edges, arrows):
    """All DAGs one step away: additions, then deletions, then reversals, each by the ends of the arrow."""
    both_ways = sorted([*edges, *((v, u) for u, v in edges)])
    added = [arrows | {(u, v)} for u, v in both_ways if (u, v) not in arrows and (v, u) not in arrows]
    deleted = [arrows - {arrow} for arrow in both_ways if arrow in arrows]
    turned = [arrows - {(u, v)} | {(v, u)} for u, v in both_ways if (u, v) in arrows]
    return [graph for graph in (*added, *deleted, *turned) if is_acyclic(n, graph)]


def hill_climb(n, edges, family, edge_log_prior=0.0, tabu_length=100, max_stall=15):
    """Score every neighbor of every graph from nothing; returns the best graph and the number of steps."""
    here = frozenset()
    score = best_score = graph_score(n, here, family, edge_log_prior)
    best = here
    tolerance = max(1.0, abs(score)) * 1e-9
    recent = deque([here], maxlen=tabu_length) if tabu_length else ()
    steps = stalled = 0
    while stalled < max_stall:
        graphs = [frozenset(g) for g in neighboring_graphs(n, edges, here) if frozenset(g) not in recent]
        if not graphs:
            break
        scores = [graph_score(n, graph, family, edge_log_prior) for graph in graphs]
        chosen = next(i for i, s in enumerate(scores) if s >= max(scores) - tolerance)
        score, here = scores[chosen], graphs[chosen]
        if tabu_length:
            recent.append(here)
        steps += 1
        if score > best_score + tolerance:
            best, best_score, stalled = here, score, 0
        else:
            stalled += 1
    return sorted(best), steps
