"""The local learners by score, like the naive algorithms that try all DAGs."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_score_local
from conftest import make_engine, related_codes
from f2sl.local.base import LOCAL, MARKOV_BLANKET

LEARNERS = ("sll-pc", "s2tmb-pc", "sll", "s2tmb")

problems = {
    "seed": st.integers(0, 2**32 - 1),
    "n_rows": st.sampled_from([5, 30, 100, 400]),
    "n": st.integers(2, 5),
    "options": st.fixed_dictionaries(
        {
            "score": st.sampled_from(["bdeu", "bic"]),
            "equivalent_sample_size": st.sampled_from([0.1, 1.0, 10.0]),
            "order": st.sampled_from(["strength", "name"]),
            "max_indegree": st.sampled_from([None, 0, 1, 2]),
            "ties": st.sampled_from(["drop", "keep"]),
        }
    ),
}


def learner_of(name, **options):
    learner = (LOCAL if name in LOCAL else MARKOV_BLANKET).create(name, options)
    learner.check_options()
    return learner


def best_of(codes, score, equivalent_sample_size, max_indegree, ties, **_):
    cardinalities = [int(row.max()) + 1 for row in codes]
    formula = naive.bic
    if score == "bdeu":
        formula = partial(naive.bdeu, equivalent_sample_size=equivalent_sample_size)
    family = partial(formula, [row.tolist() for row in codes], cardinalities)
    return naive_score_local.Best(family, max_indegree, ties)


def naive_set(name, best, n, target, order, symmetry="and"):
    if name == "sll-pc" and symmetry == "none":
        return naive_score_local.potential_neighbours(best, n, target, order)
    if name == "sll-pc":
        return naive_score_local.neighbours(best, n, target, order)
    if name == "sll":
        return naive_score_local.sll(best, n, target, order)
    near, spouses = naive_score_local.s2tmb(best, n, target, order)
    return near if name == "s2tmb-pc" else near | spouses.keys()


def sets_of(found, n):
    return [set(found.of(v)[0].tolist()) for v in range(n)]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("codes_of", [related_codes, None], ids=["related", "confounded"])
@given(**problems)
def test_sets_are_the_naive_ones(name, codes_of, seed, n_rows, n, options):
    codes = related_codes(seed, n_rows, n, most_states=3) if codes_of else dense_codes(seed, n_rows, n)
    best = best_of(codes, **options)
    expected = [naive_set(name, best, n, v, options["order"]) for v in range(n)]
    learner = learner_of(name, **options)
    found = learner.learn_all(make_engine(codes))
    assert sets_of(found, n) == expected
    assert found.complete
    assert found.notes == ()
    for v in range(n):
        members, strengths = found.of(v)
        assert (np.diff(strengths) <= 0).all()
        assert (strengths >= 0).all()
        alone = learner.learn_one(make_engine(codes), v)
        assert alone.members.tolist() == members.tolist()
        assert alone.strengths.tolist() == strengths.tolist()


def dense_codes(seed, n_rows, n):
    """Draw each variable from a random table given up to two earlier ones, which leaves no ties."""
    rng = np.random.default_rng(seed)
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
