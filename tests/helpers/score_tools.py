"""What the tests of the learners by score share: data without ties, options, and the naive best networks."""

from collections import Counter
from functools import partial

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import naive
import naive_score_local
from tables import related_codes


def dense_codes(random_state, n_rows, n):
    """Draw each variable from a random table given up to two earlier ones, which leaves hardly a tie."""
    rng = np.random.default_rng(random_state)
    codes = []
    for v in range(n):
        parents = rng.choice(v, min(v, int(rng.integers(0, 3))), replace=False)
        states = int(rng.integers(2, 4))
        cell = np.zeros(n_rows, np.int64)
        for parent in parents:
            cell = cell * (codes[parent].max() + 1) + codes[parent]
        table = rng.dirichlet(np.full(states, 0.5), int(cell.max()) + 1)
        codes.append((rng.random(n_rows)[:, None] > table[cell].cumsum(axis=1)[:, :-1]).sum(axis=1))
    return np.stack([codes[v] for v in rng.permutation(n)])


@st.composite
def tables(draw, most=5):
    """Draw a small table: with copies and functions of columns, so with ties, or without."""
    random_state, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, most))
    n_rows = draw(st.sampled_from([5, 30, 100, 400]))
    if draw(st.booleans()):
        return related_codes(random_state, n_rows, n, most_states=3)
    return dense_codes(random_state, n_rows, n)


OPTIONS = st.fixed_dictionaries(
    {
        "score": st.sampled_from(["bdeu", "bic"]),
        "equivalent_sample_size": st.sampled_from([0.1, 1.0, 10.0]),
        "order": st.sampled_from(["strength", "name"]),
        "ties": st.sampled_from(["drop", "keep"]),
        "max_parents": st.sampled_from([None, 0, 1, 2]),
        "max_exact": st.sampled_from([2, 3, 13, 13]),
    }
).map(lambda options: options | ({"equivalent_sample_size": 1.0} if options["score"] == "bic" else {}))


class BestWithoutChance(naive_score_local.Best):
    """The naive search, on tables where no two networks tie by chance.

    Equivalent networks and those of copies tie exactly, because their scores are sums over the same counts.
    Sums over other counts may be equal as well, such as those of five rows that all differ; then rounding
    decides, and nobody promises which network is taken.
    """

    def __init__(self, codes, cardinalities, *arguments):
        self._codes, self._cardinalities = codes, cardinalities
        super().__init__(*arguments)

    def _counts(self, members):
        seen = Counter(zip(*(self._codes[v].tolist() for v in members), strict=True)) if members else {}
        configurations = int(np.prod([self._cardinalities[v] for v in members], initial=1))
        return tuple(sorted(seen.values())), configurations

    def best(self, members):
        found = super().best(members)
        sums = set()
        for network in found if len(found) > 1 else ():
            terms = Counter(self._counts({v, *parents}) for v, parents in network.items())
            terms.subtract(self._counts(parents) for parents in network.values())
            sums.add(frozenset((term, times) for term, times in terms.items() if times))
        assume(len(sums) <= 1)
        return found


def naive_best(codes, score, equivalent_sample_size, order, ties, max_parents, max_exact):
    """Make the naive search for best networks on a table, with these options; the order is another matter."""
    cardinalities = [int(row.max()) + 1 for row in codes]
    formula = naive.bic
    if score == "bdeu":
        formula = partial(naive.bdeu, equivalent_sample_size=equivalent_sample_size)
    family = partial(formula, [row.tolist() for row in codes], cardinalities)
    constant = [v for v, k in enumerate(cardinalities) if k == 1]
    return BestWithoutChance(codes, cardinalities, family, max_parents, ties, max_exact, constant)
