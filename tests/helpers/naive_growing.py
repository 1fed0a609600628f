"""Naive search over orders with parents grown and shrunk on demand: lists, and a score asked one by one."""

LEAST = 1e-7


def fit_parents(score, u, parents, before, required, most):
    """Add the best parent until none gains, then drop the worst, and again."""
    parents = list(parents)
    while True:
        now = score(u, parents)
        added = [(score(u, [*parents, w]), w) for w in before if w not in parents and len(parents) < most]
        best = max(added, key=lambda pair: pair[0], default=(float("-inf"), None))
        if best[0] > now + LEAST:
            parents.append(best[1])
            continue
        dropped = [(score(u, [x for x in parents if x != w]), w) for w in parents if (w, u) not in required]
        best = max(dropped, key=lambda pair: pair[0], default=(float("-inf"), None))
        if best[0] <= now + LEAST:
            return parents
        parents.remove(best[1])


class Naive:
    """The search from one order; `score(u, parents)` is minus infinity for a forbidden parent."""

    def __init__(self, score, order, required=(), most=99, random_state=0):
        self.score, self.order, self.required, self.most = score, list(order), set(required), most
        self.random = random_state
        self.parents = {v: [u for u, w in sorted(self.required) if w == v] for v in order}
        for v in order:
            self.fit_parents(v)

    def fit_parents(self, v):
        before = self.order[: self.order.index(v)]
        self.parents[v] = fit_parents(self.score, v, self.parents[v], before, self.required, self.most)

    def total(self):
        return sum(self.score(v, own) for v, own in self.parents.items())

    def walk(self, v, back, most):
        """Let v pass others; returns the order and parents after each step, the start first."""
        states = [(self.order.copy(), {v: own.copy() for v, own in self.parents.items()})]
        changed = []
        for _ in range(most):
            here = self.order.index(v)
            there = here + (-1 if back else 1)
            if not 0 <= there < len(self.order):
                break
            u = self.order[there]
            first, second = (u, v) if back else (v, u)
            if (first, second) in self.required:
                break
            self.order[here], self.order[there] = u, v
            if first in self.parents[second]:
                self.parents[second].remove(first)
                self.fit_parents(second)
                changed.append(second)
            own = self.parents[first]
            if len(own) < self.most and self.score(first, [*own, second]) > self.score(first, own) + LEAST:
                own.append(second)
                self.fit_parents(first)
                changed.append(first)
            states.append((self.order.copy(), {v: own.copy() for v, own in self.parents.items()}))
        return states, list(dict.fromkeys(changed))

    def go_to(self, state):
        self.order, self.parents = state[0].copy(), {v: own.copy() for v, own in state[1].items()}

    def total_of(self, state):
        return sum(self.score(v, own) for v, own in state[1].items())

    def climb(self, queue):
        """Insert each variable of the queue where the score is best; returns whether anything moved."""
        queue, moved = list(queue), False
        while queue:
            v = queue.pop(0)
            start = self.walk(v, True, 0)[0][0]
            tops = []
            for back in (True, False):
                states, _ = self.walk(v, back, len(self.order))
                best = 0
                for i, state in enumerate(states):
                    if self.total_of(state) > self.total_of(states[best]) + LEAST:
                        best = i
                tops.append((self.total_of(states[best]), best))
                self.go_to(start)
            back = tops[0][0] >= tops[1][0] - LEAST
            steps = tops[0 if back else 1][1]
            if steps:
                moved = True
                _, changed = self.walk(v, back, steps)
                queue += [w for w in self.touched(start, changed) if w not in queue]
        return moved

    def touched(self, before, changed):
        found = [w for u in changed for w in (u, *self.parents[u], *before[1][u])]
        return list(dict.fromkeys(found))

    def climb_all(self):
        while self.climb(self.order):
            pass

    def draw(self, below):
        self.random = (self.random * 1103515245 + 12345) % 2**31
        return (self.random >> 8) % below

    def perturb(self, moves):
        start, queue = self.walk(self.order[0], True, 0)[0][0], []
        for _ in range(moves):
            v, steps, back = self.draw(len(self.order)), 1 + self.draw(len(self.order)), self.draw(2) == 0
            states, changed = self.walk(v, back, steps)
            queue += [w for w in dict.fromkeys([v, *self.touched(states[0], changed)]) if w not in queue]
        self.climb(queue)
        if self.total() < self.total_of(start) - LEAST:
            self.go_to(start)
