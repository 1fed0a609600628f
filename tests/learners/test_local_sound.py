"""With a d-separation oracle in place of data the local learners find the true sets; or, why they do not."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_local
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET
from f2sl.network.bundled import bundled_sizes
from graphs import numbered_dags
from marks import compiled_only
from oracle import Oracle
from perfect_answers import BLANKET, LARGEST_SET, NETWORKS, PC, WHOLE_SET, blanket, neighbors, network, truth


def learned(name, oracle, max_cond_vars=None, **options):
    """The sets of all variables, as sets."""
    registry = LOCAL if name in LOCAL else MARKOV_BLANKET
    learner = registry.create(name, {"max_cond_vars": max_cond_vars, **options})
    found = learner.find_all(oracle)
    x, y = np.array(list(found.separating_sets), np.int64).reshape(-1, 2).T
    observed = np.zeros((oracle.n_variables, len(x)), np.bool_)
    for number, given_set in enumerate(found.separating_sets.values()):
        observed[list(given_set), number] = True
    assert not oracle.dependent(x, y, observed).any()
    return [set(found.of(v)[0].tolist()) for v in range(oracle.n_variables)]


SMALLER = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm")
CASES = [
    (learner, name)
    for i, learner in enumerate([*PC, *BLANKET])
    for j, name in enumerate(NETWORKS)
    if name in SMALLER or (i + j) % 3 == 0
]
"""Each learner with all smaller networks and with a third of the larger ones, which take far longer."""


@compiled_only
@pytest.mark.parametrize(("learner", "name"), CASES)
def test_the_bundled_networks_up_to_80_variables(learner, name):
    n, arrows, oracle = network(name)
    if learner in WHOLE_SET:
        largest = None
    elif learner in ("stmb", "bamb"):
        largest = 2  # they condition on the whole set at the end, and need no large sets before
    else:
        largest = LARGEST_SET.get(name, 3)
    assert learned(learner, oracle, largest) == truth(learner, n, arrows)


def test_these_are_all_bundled_networks_up_to_80_variables():
    small = [size.name for size in bundled_sizes() if size.variables <= 80]
    assert sorted(small) == sorted(NETWORKS)


@pytest.mark.parametrize(("position", "learner"), list(enumerate([*PC, *BLANKET])))
def test_dags_of_four_nodes(position, learner):
    """A third of them all, with another first one for each learner: of each shape there are several."""
    for arrows in list(naive.all_dags(4))[position % 3 :: 3]:
        assert learned(learner, Oracle(4, arrows)) == truth(learner, 4, arrows)


@pytest.mark.parametrize("learner", [*PC, *BLANKET])
@given(dag=numbered_dags(), random_state=st.integers(0, 1000))
def test_random_dags_whatever_the_strengths(learner, dag, random_state):
    n, arrows = dag
    half = np.random.default_rng(random_state).random((n, n))
    assert learned(learner, Oracle(n, arrows, half + half.T)) == truth(learner, n, arrows)


# Where a published form is not exact

DESCENDANT = (4, ((3, 2), (0, 2), (0, 1), (2, 1)))
"""3 -> 2 -> 1 and 0 -> 2, 0 -> 1: only 2 and 0 together separate 1 from 3, but 0 is independent of 3 and so
not in its set (after Peña and others 2007)."""


@pytest.mark.parametrize("learner", PC)
def test_without_symmetry_a_descendant_can_stay(learner):
    oracle = Oracle(*DESCENDANT)
    assert learned(learner, oracle, symmetry="none")[3] == {1, 2}
    assert learned(learner, oracle, symmetry="and")[3] == {2} == neighbors(DESCENDANT[1], 3)


@pytest.mark.parametrize("learner", ["mmmb", "hiton-mb"])
def test_without_symmetry_a_blanket_can_be_too_large(learner):
    oracle = Oracle(*DESCENDANT)
    assert learned(learner, oracle, symmetry="none")[3] == {0, 1, 2}
    assert learned(learner, oracle)[3] == {0, 2} == blanket(DESCENDANT[1], 3)


def word_by_word(arrows):
    @cache
    def ask(x, y, given_set):
        apart = naive.d_separated(arrows, x, y, given_set)
        return ("independent", 0.0) if apart else ("dependent", 1.0)

    return lambda x, y, given_set: ask(x, y, tuple(sorted(given_set)))


def test_stmb_as_published_can_lose_a_spouse_that_it_took_for_a_neighbor():
    arrows = ((3, 4), (3, 1), (2, 4), (2, 0), (2, 1), (4, 0), (4, 1), (0, 1))
    assert naive_local.published_stmb(5, 3, word_by_word(arrows), None) == {1, 2, 4}
    assert learned("stmb", Oracle(5, arrows))[3] == {0, 1, 2, 4} == blanket(arrows, 3)


def test_bamb_as_published_can_miss_a_spouse_that_is_separated_on_its_turn():
    # 1 <- 0 -> 3 and 1 -> 2 <- 3: 3 is separated from 1 by 0, but only after 2 has joined.
    arrows = ((0, 1), (0, 3), (1, 2), (3, 2))
    assert naive_local.published_bamb(4, 1, word_by_word(arrows), None) == {0, 2}
    assert learned("bamb", Oracle(4, arrows))[1] == {0, 2, 3} == blanket(arrows, 1)


def test_sets_that_are_too_small_do_not_separate():
    # 0 and 4 have three common causes, all needed to separate them.
    arrows = ((1, 0), (2, 0), (3, 0), (1, 4), (2, 4), (3, 4))
    for learner in PC:
        assert 4 not in learned(learner, Oracle(5, arrows), 3)[0]
        assert 4 in learned(learner, Oracle(5, arrows), 2)[0]
