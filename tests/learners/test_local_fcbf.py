"""FCBF: all targets at once, one target, and the naive algorithm agree, ties included."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl import FCBF, OptionError
from f2sl.data.engines import FoundPairs
from f2sl.learners.local.fcbf import relevance_graph
from tables import make_engine, random_codes, related_codes

pytestmark = pytest.mark.kernels


def relevant_pairs(codes, measure):
    """Measure all pairs; of those that are not significant there is nothing."""
    pairs = list(combinations(range(len(codes)), 2))
    found = naive.significant({pair: naive.independence_test(codes, *pair)[2] for pair in pairs})
    matrix = naive.all_pairs(codes, measure)
    for x, y in set(pairs) - set(found):
        matrix[x][y] = matrix[y][x] = 0.0
    return matrix


def assert_agree(codes, learner):
    engine = make_engine(codes)
    measure, delta = learner.resolve_auto("discrete").measure, learner.delta
    if delta == "auto":
        matrix, delta = relevant_pairs(codes, measure), 0.0
    else:
        matrix = naive.all_pairs(codes, measure)
    sets = learner.learn_all(engine)
    assert sets.start[0] == 0
    assert sets.start[-1] == len(sets.members) == len(sets.strengths)
    for target in range(len(codes)):
        members, strengths = sets.of(target)
        assert members.tolist() == naive.fcbf(matrix, target, delta, learner.ties)
        assert strengths.tolist() == pytest.approx([matrix[target][v] for v in members], rel=1e-9)
        alone = learner.learn_one(engine, target)
        assert alone.members.tolist() == members.tolist()
        assert alone.strengths.tolist() == strengths.tolist()


@pytest.mark.parametrize("ties", ["drop", "keep"])
@pytest.mark.parametrize("measure", ["su", "mi"])
@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 150),
    n_variables=st.integers(2, 9),
    delta=st.sampled_from([0.0, 0.05, 0.3, "auto"]),
)
def test_all_and_one_and_naive_agree(ties, measure, random_state, n_rows, n_variables, delta):
    assert_agree(
        related_codes(random_state, n_rows, n_variables), FCBF(delta=delta, ties=ties, measure=measure)
    )


@pytest.mark.parametrize("ties", ["drop", "keep"])
def test_many_copies_of_one_variable(ties):
    base = random_codes(0, 60, [3])[0]
    codes = np.stack([np.random.default_rng(i).permutation(3)[base] for i in range(6)])
    assert_agree(codes, FCBF(ties=ties))
    # All strengths are 1, and the first name comes first: with ties dropped it alone stays.
    sets = FCBF(ties=ties).learn_all(make_engine(codes))
    members = [sets.of(v)[0].tolist() for v in range(6)]
    if ties == "drop":
        assert members == [[1], [0], [0], [0], [0], [0]]
    else:
        assert members == [[w for w in range(6) if w != v] for v in range(6)]


@pytest.mark.parametrize("ties", ["drop", "keep"])
def test_variables_with_many_states(ties):
    codes = random_codes(5, 200, [2, 80, 3, 120, 2, 300])
    codes[4] = codes[1] % 2
    codes[2] = codes[3] % 3
    assert_agree(codes, FCBF(delta=0.02, ties=ties))


def test_a_chain_by_hand():
    # A and C are each B with one of 8 samples flipped, not the same one: SU(A, B) = SU(B, C) > SU(A, C).
    b = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    a, c = b.copy(), b.copy()
    a[0], c[7] = 1, 0
    sets = FCBF().learn_all(make_engine([a, b, c]))
    assert [sets.of(v)[0].tolist() for v in range(3)] == [[1], [0, 2], [1]]


def test_a_tie_by_hand():
    # C = 1 only if A = 1; D is a copy of A. Given C as target, A and D are equally strong, and SU(A, D) = 1.
    a = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    c = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    for ties in ("drop", "keep"):
        sets = FCBF(ties=ties).learn_all(make_engine([a, c, a]))
        # A's own set: D with strength 1, then C, dropped by D only as a tie: SU(D, C) = SU(C, A).
        assert sets.of(0)[0].tolist() == ([2] if ties == "drop" else [2, 1])
        assert sets.of(1)[0].tolist() == [0]
        assert sets.of(2)[0].tolist() == ([0] if ties == "drop" else [0, 1])


def test_delta_itself_is_not_relevant():
    codes = [[0, 0, 1, 1], [1, 1, 0, 0]]
    assert FCBF(delta=1.0).learn_all(make_engine(codes)).members.tolist() == []
    assert FCBF(delta=0.999).learn_all(make_engine(codes)).members.tolist() == [1, 0]


def test_a_pair_that_is_not_significant_drops_nothing():
    """X decides C, and has so many states that SU(X, Y) is large by chance; Y tells a little of C."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 60, 200)
    c = x % 2
    y = np.where(rng.random(200) < 0.65, c, 1 - c)
    codes = np.stack([c, x, y])
    su = naive.all_pairs(codes)
    assert su[0][1] > su[1][2] > su[0][2] > 0.02
    assert naive.independence_test(codes, 1, 2)[2] > 0.05
    assert FCBF(delta=0.02).learn_one(make_engine(codes), 0).members.tolist() == [1]
    assert FCBF(delta="auto").learn_one(make_engine(codes), 0).members.tolist() == [1, 2]
    assert_agree(codes, FCBF(delta="auto"))


@pytest.mark.parametrize("delta", [0.05, "auto"])
@pytest.mark.parametrize("cardinalities", [[2], [1], [1, 1], [2, 1, 1]])
def test_nothing_to_find(cardinalities, delta):
    engine = make_engine(random_codes(1, 5, cardinalities), cardinalities)
    sets = FCBF(delta=delta).learn_all(engine)
    assert sets.start.tolist() == [0] * (len(cardinalities) + 1)
    assert FCBF(delta=delta).learn_one(engine, 0).members.tolist() == []


def test_first_and_last_variables_without_neighbors():
    related = related_codes(3, 80, 3)
    constant = np.zeros(80, int)
    codes = np.stack([constant, related[0], constant, constant, *related[1:], constant])
    assert_agree(codes, FCBF(delta=0.0))


@pytest.mark.parametrize("ties", ["drop", "keep"])
def test_the_order_of_rows_and_states_changes_nothing(ties):
    codes = related_codes(8, 70, 9)
    rng = np.random.default_rng(0)
    moved = np.stack([rng.permutation(row.max() + 1)[row] for row in codes[:, rng.permutation(70)]])
    one, other = (FCBF(ties=ties).learn_all(make_engine(c)) for c in (codes, moved))
    assert one.members.tobytes() == other.members.tobytes()
    assert one.strengths.tobytes() == other.strengths.tobytes()


def test_equals_are_ordered_by_name_and_a_run_reaches_no_further_than_its_strongest():
    step = 0.7e-10
    values = [0.5, 0.5 + step, 0.5 + 2 * step, 0.9, 0.5 + 3 * step]
    pairs = FoundPairs(np.zeros(5, np.int64), np.arange(1, 6), np.array(values))
    members, strengths = relevance_graph(6, pairs).of(0)
    # After 4, alone at the top: 5 and 3 are equals; 2 and 1 are equals.
    assert members.tolist() == [4, 3, 5, 1, 2]
    assert members.tolist() == naive.by_strength(dict(enumerate(values, 1)), range(1, 6))
    assert strengths.tolist() == [values[v - 1] for v in members]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_order_of_near_equals_is_the_naive_one(steps, random):
    values = {v: 0.5 + 0.3e-10 * s + random.choice([0.0, 0.01]) for v, s in enumerate(steps, 1)}
    n = len(values)
    pairs = FoundPairs(np.zeros(n, np.int64), np.arange(1, n + 1), np.array(list(values.values())))
    assert relevance_graph(n + 1, pairs).of(0)[0].tolist() == naive.by_strength(values, values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": -0.1}, "delta"),
        ({"delta": "car"}, "or 'auto', not 'car'"),
        ({"ties": "toss"}, "ties"),
        ({"measure": "gini"}, "measure"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        FCBF(**options).check_options()
    FCBF().check_options()
