"""The local learners word for word, one question after another; nothing of f2sl is imported.

``ask(x, y, given)`` gives a word ("dependent", "independent" or "inconclusive") and a strength. Each function
finds the set of one target among the variables 0 to n - 1, with sets of at most `k` variables (None: any
number). Where members have strengths, a dictionary gives both.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

import naive


def asker(codes, alpha, name):
    """Make an ``ask`` of data: a word, and minus the decimal logarithm of the p-value."""
    cardinalities = [int(row.max()) + 1 for row in codes]

    @cache
    def ask(x, y, given_set):
        if not naive.is_reliable(len(codes[0]), cardinalities, x, y, given_set):
            return "inconclusive", 0.0
        _, freedom, p = naive.independence_test(codes, x, y, given_set, name)
        if freedom == 0:
            return "inconclusive", 0.0
        return "independent" if p > alpha else "dependent", round(-np.log10(max(p, 1e-300)), 9)

    return lambda x, y, given_set: ask(min(x, y), max(x, y), tuple(sorted(given_set)))


def by_strength(strengths):
    """Give the keys, strongest first and equals in their order."""
    return sorted(strengths, key=lambda v: (-strengths[v], v))


def subsets(members, k, smallest=0, containing=()):
    """All sets of members, small ones first."""
    free = [m for m in members if m not in containing]
    most = len(free) + len(containing)
    for size in range(max(smallest, len(containing)), (most if k is None else min(k, most)) + 1):
        for given in combinations(free, size - len(containing)):
            yield (*containing, *given)


def separator(ask, target, other, members, k, **how):
    """Give the first set that separates the two, or None."""
    for given in subsets([m for m in members if m != other], k, **how):
        if ask(target, other, given)[0] == "independent":
            return given
    return None


def weakest(ask, target, other, members, k):
    """Give the smallest strength of dependence given any set, or None if some set separates the two."""
    if separator(ask, target, other, members, k) is not None:
        return None
    return min(dependences(ask, target, other, members, k))


def dependences(ask, target, other, members, k):
    """Give the strengths of all dependences, whatever else may separate the two."""
    answers = [ask(target, other, given) for given in subsets([m for m in members if m != other], k)]
    return [strength for word, strength in answers if word == "dependent"]


def related(n, target, ask):
    """Variables that depend on the target, with strengths, and the empty sets of those that do not."""
    found, apart = {}, {}
    for other in range(n):
        if other != target:
            word, strength = ask(target, other, ())
            if word == "dependent":
                found[other] = strength
            elif word == "independent":
                apart[other] = ()
    return found, apart


# Parents and children: each gives the members and what separates others


def mmpc(n, target, ask, k):
    """Members have strengths: the weakest dependence given others, also given those that went in the end."""
    candidates, apart = related(n, target, ask)
    members = []
    while True:
        association = {}
        for other in candidates:
            if other not in members and other not in apart:
                low = weakest(ask, target, other, members, k)
                if low is None:
                    apart[other] = separator(ask, target, other, members, k)
                else:
                    association[other] = low
        if not association:
            break
        members.append(by_strength(association)[0])
    strengths = {m: min(dependences(ask, target, m, members, k)) for m in members}
    for member in list(members):
        others = [m for m in members if m != member]
        given = separator(ask, target, member, others, k, smallest=1)
        if given is not None:
            members.remove(member)
            apart[member] = given
    return {m: strengths[m] for m in members}, apart


def hiton_pc(n, target, ask, k):
    candidates, apart = related(n, target, ask)
    members = []
    for newest in by_strength(candidates):
        given = separator(ask, target, newest, members, k)
        if given is not None:
            apart[newest] = given
            continue
        members.append(newest)
        for member in members[-2::-1]:
            given = separator(ask, target, member, members, k)
            if given is not None:
                members.remove(member)
                apart[member] = given
    return members, apart


def pc_simple(n, target, ask, k, keep_inconclusive=True):
    candidates, apart = related(n, target, ask)
    members = [v for v in range(n) if v != target and v not in apart]
    if not keep_inconclusive:
        members = list(candidates)
    level = 1
    while level < len(members) and (k is None or level <= k):
        before = list(members)
        for member in before:
            given = separator(ask, target, member, before, level, smallest=level)
            if given is not None:
                members.remove(member)
                apart[member] = given
        level += 1
    return members, apart


def get_pcd(n, target, ask, k):
    association, apart = related(n, target, ask)
    members = []
    while association:
        newest = by_strength(association)[0]
        del association[newest]
        members.append(newest)
        for member in members[-2::-1]:
            given = separator(ask, target, member, members, k)
            if given is not None:
                members.remove(member)
                apart[member] = given
        for other in list(association):
            for given in subsets(members, k):
                word, strength = ask(target, other, given)
                if word == "independent":
                    del association[other]
                    apart[other] = given
                    break
                if word == "dependent":
                    association[other] = min(association[other], strength)
    return members, apart


def mutual(sets):
    """Keep the members whose own set has the owner."""
    return [[m for m in members if v in sets[m]] for v, members in enumerate(sets)]


# Markov blankets


def shrink(target, members, ask):
    """Drop members that are independent given the rest; gives the strengths of those found dependent."""
    strengths = {}
    for member in list(members):
        word, strength = ask(target, member, tuple(m for m in members if m != member))
        if word == "independent":
            members.remove(member)
        elif word == "dependent":
            strengths[member] = strength
    return strengths


def weaker(members, *told):
    """Give each member's smallest strength among those told."""
    return {m: min(strengths[m] for strengths in told if m in strengths) for m in members}


def outside(n, target, members, ask):
    """Those outside that depend on the target given the members, with strengths."""
    answers = {v: ask(target, v, tuple(members)) for v in range(n) if v != target and v not in members}
    return {v: strength for v, (word, strength) in answers.items() if word == "dependent"}


def gsmb(n, target, ask, k):
    alone = {v: ask(target, v, ()) for v in range(n) if v != target}
    order = by_strength({v: -1.0 if word == "inconclusive" else s for v, (word, s) in alone.items()})
    members, admitted = [], {}
    while k is None or len(members) <= k:
        found = outside(n, target, members, ask)
        if not found:
            break
        members.append(next(v for v in order if v in found))
        admitted[members[-1]] = found[members[-1]]
    last = shrink(target, members, ask)
    return weaker(members, admitted, last)


def iamb(n, target, ask, k):
    members, admitted = [], {}
    while k is None or len(members) <= k:
        found = outside(n, target, members, ask)
        if not found:
            break
        members.append(by_strength(found)[0])
        admitted[members[-1]] = found[members[-1]]
    last = shrink(target, members, ask)
    return weaker(members, admitted, last)


def inter_iamb(n, target, ask, k):
    members, strengths, before = [], {}, [set()]
    while k is None or len(members) <= k:
        found = outside(n, target, members, ask)
        if not found:
            break
        members.append(by_strength(found)[0])
        strengths[members[-1]] = found[members[-1]]
        last = shrink(target, members, ask)
        strengths = weaker(members, strengths, last)
        if set(members) in before:
            break
        before.append(set(members))
    return strengths


def by_neighbors(learn, n, target, ask, k, symmetry="and"):
    """MMMB, HITON-MB and PCMB, by their learner of parents and children."""
    found = [learn(n, v, ask, k) for v in range(n)]
    sets = [members for members, _ in found]
    if symmetry == "and":
        sets = mutual(sets)
    blanket = set(sets[target])
    for x in sets[target]:
        for y in sets[x]:
            if y == target or y in sets[target]:
                continue
            given = found[target][1].get(y, found[y][1].get(target))
            if given is not None and ask(target, y, sorted({*given, x}))[0] == "dependent":
                blanket.add(y)
    return blanket


def stmb(n, target, ask, k):
    members, apart = pc_simple(n, target, ask, k, keep_inconclusive=False)
    spouses, dropped = {}, {}
    for y in members:
        for x in sorted(apart):
            if y in apart[x] or ask(target, x, (*apart[x], y))[0] != "dependent":
                continue
            others = [m for m in members if m != y]
            given = separator(ask, target, y, [*others, x], k, containing=(x,))
            if given is not None:
                dropped.setdefault(y, given)
            spouses.setdefault(y, []).append(x)
    stay = [y for y in members if y not in dropped]
    blanket = [x for y in members if y in stay for x in spouses.get(y, [])]
    for y in stay:
        for x, given in sorted(dropped.items()):
            if y not in given and ask(target, x, (*given, y))[0] == "dependent":
                blanket.append(x)
    blanket = [*dict.fromkeys(x for x in blanket if x not in stay), *stay]
    shrink(target, blanket, ask)
    return blanket


class NaiveBAMB:
    """BAMB with the departures that f2sl's has; ask ``blanket``."""

    def __init__(self, n, target, ask, k):
        self.target, self.ask, self.k = target, ask, k
        self.members, self.spouses, self.separated = [], {}, {}
        candidates, self.apart = related(n, target, ask)
        self.queue = by_strength(candidates)
        passed = {}
        while self.queue:
            newest = self.queue.pop(0)
            if newest in self.separated:
                passed[newest] = self.separated.pop(newest)
                continue
            self.consider(passed)
            passed = {}
            self.join(newest)
        self.consider(passed)
        self.blanket = [x for x in self.all_spouses() if x not in self.members] + self.members
        shrink(target, self.blanket, ask)

    def separator(self, other, members, **how):
        return separator(self.ask, self.target, other, members, self.k, **how)

    def all_spouses(self):
        return list(dict.fromkeys(x for by in self.spouses.values() for x in by))

    def join(self, newest):
        for other in self.queue:
            if other not in self.separated:
                given = self.separator(other, [*self.members, newest], containing=(newest,))
                if given is not None:
                    self.separated[other] = given
        self.members.append(newest)
        self.spouses[newest] = []
        before = self.all_spouses()
        self.add_spouses([newest], self.apart)
        self.drop_members([newest, *(x for x in self.all_spouses() if x not in before)])

    def consider(self, passed):
        self.apart.update(passed)
        if passed and self.members:
            before = self.all_spouses()
            self.add_spouses(list(self.members), passed)
            self.drop_members([x for x in self.all_spouses() if x not in before])

    def add_spouses(self, members, apart):
        for y in members:
            for x in sorted(apart):
                if y not in apart[x] and self.ask(self.target, x, (*apart[x], y))[0] == "dependent":
                    self.spouses[y].append(x)
        for y in members:
            size = 1
            while self.k is None or size <= self.k:
                near = [m for m in self.members if m != y]
                before = list(self.spouses[y])
                if size > len(near) + len(before):
                    break
                for x in before:
                    around = [y, *near, *(s for s in before if s != x)]
                    how = {"containing": (y,), "smallest": size}
                    if separator(self.ask, self.target, x, around, size, **how) is not None:
                        self.spouses[y].remove(x)
                size += 1

    def drop_members(self, new):
        if not new:
            return
        old = [v for v in dict.fromkeys([*self.members, *self.all_spouses()]) if v not in new]
        dropped = {}
        for y in self.members[::-1]:
            for position, one in enumerate(new):
                around = [v for v in [*old, *new[:position]] if v not in dropped and v != y]
                if y == one or one in dropped or y in dropped:
                    continue
                given = self.separator(y, [one, *around], containing=(one,))
                if given is not None:
                    dropped[y] = given
        if not dropped:
            return
        self.members = [y for y in self.members if y not in dropped]
        for y in dropped:
            del self.spouses[y]
        for other, given in list(self.separated.items()):
            if not dropped.keys().isdisjoint(given):
                del self.separated[other]
                again = self.separator(other, self.members, smallest=1)
                if again is not None:
                    self.separated[other] = again
        self.consider(dropped)


# As published, where that is not exact


def published_stmb(n, target, ask, k):
    """Gao and Ji's STMB: what is dropped from the neighbors is not asked about as a spouse."""
    members, apart = pc_simple(n, target, ask, k, keep_inconclusive=False)
    spouses, dropped = {y: [] for y in members}, []
    for y in members:
        for x in sorted(apart):
            if ask(target, x, tuple({*apart[x], y}))[0] == "dependent":
                if separator(ask, target, y, [*(m for m in members if m != y), x], k) is not None:
                    dropped.append(y)
                    break
                spouses[y].append(x)
    near = [y for y in members if y not in dropped]
    for y in near:
        for x in list(spouses[y]):
            if ask(target, x, tuple({*near, *spouses[y]} - {x}))[0] == "independent":
                spouses[y].remove(x)
    others = {x for y in near for x in spouses[y]}
    for y in list(near):
        if ask(target, y, tuple({*near, *others} - {y}))[0] == "independent":
            near.remove(y)
    return {*near, *others}


def published_bamb(n, target, ask, k):
    """Ling and others' loop: who is separated after a member joined is not asked about as its spouse."""
    candidates, apart = related(n, target, ask)
    members, spouses = [], {}
    for x in by_strength(candidates):
        given = separator(ask, target, x, members, k)
        if given is not None:
            apart[x] = given
            continue
        members.append(x)
        spouses[x] = [y for y in apart if ask(target, y, tuple({*apart[y], x}))[0] == "dependent"]
        for y in list(spouses[x]):
            around = {*members, *spouses[x]} - {y}
            if separator(ask, target, y, sorted(around), k, containing=(x,)) is not None:
                spouses[x].remove(y)
        for y in list(members):
            around = {*members, *(s for by in spouses.values() for s in by)} - {y}
            given = separator(ask, target, y, sorted(around), k)
            if given is not None:
                members.remove(y)
                spouses.pop(y)
                apart[y] = given
    return {*members, *(s for by in spouses.values() for s in by)}
