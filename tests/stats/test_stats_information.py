"""Entropy, mutual information and SU: by hand, by the naive formulas, and what must not change them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl.data.engines import Queries
from f2sl.stats.choose import related_pairs
from f2sl.stats.measures.information import Information, LogTable
from f2sl.stats.tests.g2 import G2Statistic
from tables import make_engine, random_codes, related_codes

pytestmark = pytest.mark.kernels

LN2, LN3 = math.log(2), math.log(3)

# The four rows of two coins, their AND and their XOR.
COINS = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 1, 0]])
A, B, AND, XOR = range(4)


def measured(codes, measure="su", cardinalities=None):
    """All pairs' values as a symmetric matrix."""
    engine = make_engine(codes, cardinalities)
    found = related_pairs(engine, -1.0, measure)()
    matrix = np.zeros((len(codes), len(codes)))
    matrix[found.first, found.second] = matrix[found.second, found.first] = found.values
    return matrix


def test_entropies_by_hand():
    # AND is 0 three times and 1 once: H = log 4 - 3/4 log 3.
    entropies = Information(make_engine(COINS)).entropies
    assert entropies.tolist() == pytest.approx([LN2, LN2, 2 * LN2 - 0.75 * LN3, LN2], rel=1e-12)


def test_entropy_of_a_constant_is_exactly_zero():
    codes = [[0, 0, 0], [1, 1, 1], [0, 1, 2]]
    assert Information(make_engine(codes, [1, 2, 3])).entropies[:2].tolist() == [0.0, 0.0]


def test_mutual_information_by_hand():
    # H(A, AND): cells of 2, 1 and 1 of 4 rows, 3/2 log 2.
    a_and = LN2 + (2 * LN2 - 0.75 * LN3) - 1.5 * LN2
    assert measured(COINS, "mi")[A, [B, AND, XOR]].tolist() == pytest.approx([0.0, a_and, 0.0], abs=1e-15)
    assert measured([[0, 1], [1, 0]], "mi")[0, 1] == pytest.approx(LN2, rel=1e-12)


def test_conditional_mutual_information_by_hand():
    # Given B = 1, AND is A; given B = 0, it is constant. Given B, XOR is a copy of A or its opposite.
    codes = np.tile(COINS, 2)  # as many rows as a table of three has cells
    queries = Queries.of([(B, A, AND), (B, A, XOR), (AND, A, B)])
    g2 = make_engine(codes).evaluate(queries, G2Statistic(LogTable(8)), width=2)[:, 0]
    # Given AND = 0, 3 of the 4 rows: H(A) = H(B) = log 3 - 2/3 log 2, and H(A, B) = log 3.
    a_b_given_and = 0.75 * (2 * (LN3 - 2 / 3 * LN2) - LN3)
    assert (g2 / (2 * 8)).tolist() == pytest.approx([LN2 / 2, LN2, a_b_given_and], rel=1e-12)


def test_su_by_hand():
    su = measured(COINS)
    a_and = LN2 + (2 * LN2 - 0.75 * LN3) - 1.5 * LN2
    assert su[A, AND] == pytest.approx(2 * a_and / (3 * LN2 - 0.75 * LN3), rel=1e-12)
    assert su[A, XOR] == su[A, B] == 0.0
    assert measured([[0, 1, 2, 0], [2, 0, 1, 2]])[0, 1] == 1.0


@pytest.mark.parametrize("measure", ["su", "mi"])
@pytest.mark.parametrize("k", [2, 70])
def test_exact_independence_is_not_above_zero(k, measure):
    # Counts 3, 6, 6 and 12: one third is 0 of either variable, whatever the other. By rounding n log n of
    # these numbers the information need not be zero, but what is left is no relevance.
    codes = np.array([[0] * 9 + [1] * 18, ([0] * 3 + [1] * 6) + ([0] * 6 + [1] * 12)])
    engine = make_engine(codes, [k, k])
    found = related_pairs(engine, 0.0, measure)()
    assert len(found.first) == 0
    assert measured(codes, measure, [k, k])[0, 1] == pytest.approx(0.0, abs=1e-14)


def test_a_state_that_never_occurs_gives_no_uncertainty():
    # A variable with two states of which one occurs: both entropies may be 0, and SU is then 0, not 0/0.
    for k in (2, 70):
        su = measured([[0, 0, 0], [1, 1, 1], [0, 1, 0]], cardinalities=[k, k, 2])
        assert not su.any()


@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 100), n_variables=st.integers(2, 7))
def test_equal_to_the_naive_formulas(random_state, n_rows, n_variables):
    codes = related_codes(random_state, n_rows, n_variables, most_states=6)
    for measure in ("su", "mi"):
        expected = np.array(naive.all_pairs(codes, measure))
        np.testing.assert_allclose(measured(codes, measure), expected, rtol=1e-9, atol=1e-12)


@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 200))
def test_su_lies_between_0_and_1(random_state, n_rows):
    su = measured(related_codes(random_state, n_rows, 6, most_states=5))
    # Entropies are rounded to 1e-16 or so; that of a nearly constant column, by which is divided, is small.
    assert su.min() >= -1e-14
    assert su.max() <= 1.0 + 1e-14


@given(
    random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(2, 90), measure=st.sampled_from(["su", "mi"])
)
def test_the_order_of_rows_states_and_columns_changes_no_bit(random_state, n_rows, measure):
    rng = np.random.default_rng(random_state)
    cardinalities = np.array([2, 3, 4, 66, 2])
    codes = random_codes(random_state, n_rows, cardinalities)
    codes[4] = codes[0]
    plain = measured(codes, measure, cardinalities)
    shuffled = codes[:, rng.permutation(n_rows)]
    assert np.array_equal(measured(shuffled, measure, cardinalities), plain)
    relabelled = np.stack([rng.permutation(k)[row] for k, row in zip(cardinalities, codes, strict=True)])
    assert np.array_equal(measured(relabelled, measure, cardinalities), plain)
    order = rng.permutation(5)
    assert np.array_equal(measured(codes[order], measure, cardinalities[order]), plain[np.ix_(order, order)])


@pytest.mark.parametrize("n_rows", [1, 2, 3, 1000, 123_457])
def test_log_table_is_exact_and_has_room(n_rows):
    table = LogTable(n_rows)
    n = np.arange(1, n_rows + 1)
    assert table.entries[0] == table.entries[1] == 0
    np.testing.assert_allclose(table.entries[1:] * table.unit, n * np.log(n), rtol=1e-15, atol=table.unit)
    # Three sums, each of N log N at most, fit into 63 bits.
    assert 3 * int(table.entries[-1]) < 2**63


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20), st.sampled_from([1000, 10**9]))
def test_n_log_n_is_that_of_the_naive_twin(counts, most):
    """Small numbers are looked up, large ones computed: to the last bits of a float."""
    table = LogTable(most)
    counts = [n % (most + 1) for n in counts]
    for n, found in zip(counts, table.terms(np.array(counts, np.int64)).tolist(), strict=True):
        expected = naive.n_log_n(n, table.unit)
        assert abs(found - expected) <= 1 + abs(expected) * 4e-16
