"""G2 and X2 tests: hand-derived tables, SciPy stratum by stratum, and when a test is not to be trusted."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

import naive
from f2sl import OptionError
from f2sl.data.engines import Queries, open_engine
from f2sl.data.memory.engine import MOST_PLANES
from f2sl.stats import answers as subset_module
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, reliable_subsets, subsets
from f2sl.stats.choose import make_test
from f2sl.stats.tests import g2
from f2sl.stats.tests._kernels import TESTS_PER_OCCURRENCE
from f2sl.stats.tests.base import chi_squared_tail, strengths
from f2sl.stats.tests.g2 import UntilDecided
from mixed_tools import drawn_missing, mixed_table
from tables import make_engine, random_codes, related_codes

pytestmark = pytest.mark.kernels

WORDS = {DEPENDENT: "dependent", INDEPENDENT: "independent", INCONCLUSIVE: "inconclusive"}


def table_test(engine, alpha=0.01, ci_test="g2", **options):
    return make_test(engine, alpha, ci_test, **options)


def from_cells(cells):
    """Rows of data whose contingency table is `cells`."""
    cells = np.asarray(cells)
    return np.stack([np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices(cells.shape)])


def questions(*asked):
    """Columns x, y and given of questions (x, y, *given), all with as many given."""
    table = np.array(asked, np.int64)
    return table[:, 0], table[:, 1], table[:, 2:]


def measure(codes, *asked, cardinalities=None, ci_test="g2"):
    """Statistic, degrees of freedom and p-value of each question."""
    test = table_test(make_engine(codes, cardinalities), ci_test=ci_test)
    x, y, given = questions(*asked)
    queries = Queries.of_matrix(np.column_stack([given, x, y]))
    statistic, freedom = test.engine.evaluate(queries, test.formula, 2).T
    return np.column_stack([statistic, freedom, chi_squared_tail(statistic, freedom)])


def scipy_sums(cells, name):
    """Add up SciPy's statistics over the strata, which are the first axis of `cells`."""
    value, freedom = 0.0, 0
    for stratum in cells:
        used = stratum[stratum.any(axis=1)][:, stratum.any(axis=0)]
        if used.size:
            kind = "log-likelihood" if name == "g2" else "pearson"
            result = chi2_contingency(used, correction=False, lambda_=kind)
            value, freedom = value + result.statistic, freedom + result.dof
    return value, freedom


def test_two_by_two_by_hand():
    codes = from_cells([[10, 20], [30, 40]])
    x2 = 100 * (10 * 40 - 20 * 30) ** 2 / (30 * 70 * 40 * 60)
    g2 = 2 * sum(n * math.log(n / e) for n, e in [(10, 12), (20, 18), (30, 28), (40, 42)])
    for name, value in [("x2", x2), ("g2", g2)]:
        [[statistic, freedom, p]] = measure(codes, (0, 1), ci_test=name)
        assert statistic == pytest.approx(value, rel=1e-9)
        assert freedom == 1
        # With one degree of freedom the statistic is a squared normal variable.
        assert p == pytest.approx(math.erfc(math.sqrt(value / 2)), rel=1e-9)


def test_exact_independence_leaves_nothing_of_rounding():
    # As many rows as 1 to 2 of both variables ask for: G2 is 0, though n log n of these counts are rounded.
    codes = from_cells([[3, 6], [6, 12]])
    test = table_test(make_engine(codes))
    [pair] = zip(*test.ask(*questions((0, 1))), strict=True)
    assert pair == (INDEPENDENT, 1.0, 0.0, 0.0)
    # The same in each of two strata, of different sizes.
    strata = from_cells([[[3, 6], [6, 12]], [[7, 14], [14, 28]]])
    assert measure(strata, (1, 2, 0)).tolist() == [[0.0, 2.0, 1.0]]


def test_strata_by_hand():
    # Given z = 0 no relation at all, given z = 1 a perfect one: G2 = 2 * 20 log 2, two degrees of freedom.
    codes = from_cells([[[5, 5], [5, 5]], [[10, 0], [0, 10]]])
    [[g2, freedom, p]] = measure(codes, (1, 2, 0))
    assert (g2, freedom) == (pytest.approx(40 * math.log(2), rel=1e-12), 2)
    assert p == pytest.approx(math.exp(-g2 / 2), rel=1e-9)
    [[x2, freedom, _]] = measure(codes, (1, 2, 0), ci_test="x2")
    assert (x2, freedom) == (pytest.approx(20.0, rel=1e-9), 2)


def test_degrees_of_freedom_count_only_what_occurs_in_a_stratum():
    # z = 0: rows 0 and 1 of 3, all 2 columns: 1 degree. z = 1: one row only: 0. z = 2 is empty: 0.
    cells = np.zeros((3, 3, 2), int)
    cells[0, :2] = [[4, 2], [1, 5]]
    cells[1, 2] = [3, 3]
    [[_, freedom, _]] = measure(from_cells(cells), (1, 2, 0), cardinalities=[3, 3, 2])
    assert freedom == 1


def test_no_degrees_of_freedom_is_independence():
    codes = [[0] * 40, [0, 1] * 20]
    test = table_test(make_engine(codes, [2, 2]))
    assert measure(codes, (0, 1), cardinalities=[2, 2]).tolist() == [[0.0, 0.0, 1.0]]
    assert test.answer(*questions((0, 1))).tolist() == [INDEPENDENT]


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(random_state=st.integers(0, 2**32 - 1))
def test_against_scipy_stratum_by_stratum(name, random_state):
    rng = np.random.default_rng(random_state)
    k_z, k_x, k_y = rng.integers(1, 5, 3)
    cells = rng.integers(0, 6, (k_z, k_x, k_y)) * rng.integers(0, 2, (k_z, k_x, k_y))
    cells[-1, -1, -1] += 1 + max(0, cells.size - cells.sum())
    value, freedom = scipy_sums(cells, name)
    found = measure(from_cells(cells), (1, 2, 0), (2, 1, 0), cardinalities=[k_z, k_x, k_y], ci_test=name)
    p = chi2.sf(value, freedom) if freedom else 1.0
    np.testing.assert_allclose(found, [[value, freedom, p]] * 2, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(32, 120))
def test_against_the_naive_formula(name, random_state, n_rows):
    codes = related_codes(random_state, n_rows, 5, most_states=2)
    asked = [
        (x, y, z, w) for x, y in combinations(range(5), 2) for z, w in [sorted({0, 1, 2, 3, 4} - {x, y})[:2]]
    ]
    expected = [naive.independence_test(codes, q[0], q[1], q[2:], name) for q in asked]
    np.testing.assert_allclose(measure(codes, *asked, ci_test=name), expected, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(random_state=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_states_and_columns_changes_no_bit(name, random_state):
    rng = np.random.default_rng(random_state)
    cardinalities = np.array([2, 3, 2, 3])
    codes = random_codes(random_state, 100, cardinalities)
    codes[1, :50] = codes[3, :50]
    asked = [(1, 3, 0, 2), (3, 1, 2, 0), (0, 2, 1, 3)]
    plain = measure(codes, *asked, cardinalities=cardinalities, ci_test=name).tolist()
    assert plain[0] == plain[1]
    relabelled = np.stack([rng.permutation(k)[row] for k, row in zip(cardinalities, codes, strict=True)])
    relabelled = relabelled[:, rng.permutation(100)]
    assert measure(relabelled, *asked, cardinalities=cardinalities, ci_test=name).tolist() == plain
    order = rng.permutation(4)
    position = np.argsort(order)
    moved = measure(
        codes[order], *position[np.array(asked)], cardinalities=cardinalities[order], ci_test=name
    )
    assert moved.tolist() == plain


# Answers


def test_five_samples_for_each_cell_are_reliable_and_fewer_are_not():
    # 2 * 3 cells: 30 samples are just enough, with a third variable of 2 states 60.
    for n_rows, pair, triple in [(29, False, False), (30, True, False), (59, True, False), (60, True, True)]:
        test = table_test(make_engine(random_codes(0, n_rows, [2, 3, 2]), [2, 3, 2]))
        assert test.reliable(*questions((0, 1))).tolist() == [pair]
        assert test.reliable(*questions((0, 1, 2))).tolist() == [triple]
        assert (test.answer(*questions((0, 1)))[0] != INCONCLUSIVE) == pair
        assert any(len(sets) for sets in reliable_subsets(test, 0, 1, np.array([0, 1, 2]), 1)) == triple


def test_three_answers_and_how_often_they_are_given():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 200)
    codes = np.stack([x, x, np.arange(200) // 2 % 2, rng.integers(0, 60, 200)])
    test = table_test(make_engine(codes, [2, 2, 2, 60]))
    assert test.answer(*questions((0, 1), (0, 2), (0, 3), (3, 1))).tolist() == [
        DEPENDENT,
        DEPENDENT if naive.independence_test(codes, 0, 2)[2] <= 0.01 else INDEPENDENT,
        INCONCLUSIVE,
        INCONCLUSIVE,
    ]
    assert (test.n_tests, test.n_inconclusive) == (4, 2)
    test.answer(*questions((0, 1, 2)))
    assert (test.n_tests, test.n_inconclusive) == (5, 2)


def test_no_questions_have_no_answers_and_count_as_no_tests():
    test = table_test(make_engine([[0, 1], [0, 1]]))
    none = np.empty(0, np.int64)
    assert test.answer(none, none, np.empty((0, 1), np.int64)).tolist() == []
    assert test.n_tests == 0


@pytest.mark.parametrize("n_rows", [1, 25, 80, 400])
@pytest.mark.parametrize("name", ["g2", "x2"])
def test_answers_equal_the_naive_ones(n_rows, name):
    codes = related_codes(n_rows, n_rows, 6)
    cardinalities = [int(row.max()) + 1 for row in codes]
    for alpha in (0.01, 0.2):
        test = table_test(make_engine(codes), alpha, name)
        for size in range(4):
            asked = [
                (x, y, *z)
                for x, y in combinations(range(6), 2)
                for z in combinations(sorted(set(range(6)) - {x, y}), size)
            ]
            found = [WORDS[a] for a in test.answer(*questions(*asked)).tolist()]
            assert found == [
                naive.answer(codes, cardinalities, q[0], q[1], q[2:], alpha, name) for q in asked
            ]


def test_alpha_is_the_border_between_the_answers():
    codes = from_cells([[10, 20], [30, 40]])
    p = naive.independence_test(codes, 0, 1)[2]
    for alpha, expected in [(p * 1.001, DEPENDENT), (p * 0.999, INDEPENDENT)]:
        assert table_test(make_engine(codes), alpha).answer(*questions((0, 1))).tolist() == [expected]


@pytest.mark.parametrize("n_rows", [19, 20, 40, 60, 100, 240, 1000])
def test_reliable_subsets_are_all_subsets_that_leave_the_test_reliable(n_rows):
    cardinalities = [2, 2, 3, 2, 5, 2, 4]
    test = table_test(make_engine(random_codes(1, n_rows, cardinalities), cardinalities))
    among = np.arange(7)
    for size in range(5):
        expected = [
            list(s)
            for s in combinations([v for v in among.tolist() if v not in (0, 1)], size)
            if naive.is_reliable(n_rows, cardinalities, 0, 1, s)
        ]
        found = np.concatenate([np.empty((0, size), int), *reliable_subsets(test, 0, 1, among, size)])
        assert found.tolist() == expected
        assert test.reliable(np.zeros(len(found), int), np.ones(len(found), int), found).all()


def test_a_table_with_more_cells_than_samples_is_not_measured():
    with pytest.raises(ValueError, match="more cells than"):
        measure(random_codes(0, 10, [4, 4]), (0, 1), cardinalities=[4, 4])


def test_an_unknown_test_is_refused_with_the_known_ones():
    with pytest.raises(OptionError, match=r"ci_test must be one of 'auto', 'g2', 'x2', .*not 'g3'"):
        table_test(make_engine([[0, 1], [0, 1]]), ci_test="g3")


@given(n=st.integers(0, 8), size=st.integers(0, 9), at_a_time=st.sampled_from([1, 3, 1000]))
def test_subsets_are_the_combinations_some_at_a_time(n, size, at_a_time):
    members = np.arange(n) * 3 + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset_module, "SUBSETS_AT_A_TIME", at_a_time)
        found = list(subsets(members, size))
    assert all(1 <= len(part) <= at_a_time and part.shape[1] == size for part in found)
    expected = [list(s) for s in combinations(members.tolist(), size)]
    assert [row for part in found for row in part.tolist()] == expected


# Strengths, and tests where nothing varies


@given(st.integers(0, 2**32 - 1), st.sampled_from(["g2", "x2"]))
def test_ask_tells_what_answer_and_measure_do(random_state, name):
    codes = related_codes(random_state, 200, 5, most_states=3)
    asked = questions(*((x, y, z) for x, y, z in combinations(range(5), 3)))
    test = table_test(make_engine(codes), ci_test=name)
    told = test.ask(*asked)
    assert told.answer.tolist() == test.answer(*asked).tolist()
    known = told.answer != INCONCLUSIVE
    assert np.isnan(told.p_value[~known]).all()
    if known.any():
        x, y, given = (part[known] for part in asked)
        queries = Queries.of_matrix(np.column_stack([given, x, y]))
        statistic, freedom = test.engine.evaluate(queries, test.formula, 2).T
        p_values = chi_squared_tail(statistic, freedom)
        assert told.p_value[known].tolist() == p_values.tolist()
        assert told.statistic[known].tolist() == statistic.tolist()
        assert told.strength[known] == pytest.approx(-np.log10(p_values), abs=1e-8)
    assert (
        test.reliable(*asked).tolist()
        == (test.configurations(asked[2]) <= test.max_configurations(*asked[:2])).tolist()
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.floats(0.001, 0.999), st.sampled_from([70, 128, 400]))
def test_tests_that_end_early_answer_as_those_that_do_not(random_state, width, alpha, n_rows):
    codes = related_codes(random_state, n_rows, 6, most_states=3)
    asked = questions(*combinations(range(6), width))
    test = table_test(make_engine(codes), alpha=alpha)
    reliable = test.reliable(*asked)
    x, y, given = (part[reliable] for part in asked)
    queries = Queries.of_matrix(np.column_stack([given, x, y]))
    found = test.engine.evaluate(queries, UntilDecided(test.formula, test.engine, test.alpha), width=2)
    for *z, a, b, statistic, freedom in np.column_stack([given, x, y, found]).tolist():
        expected, degrees, p_value = naive.independence_test(codes, int(a), int(b), [int(v) for v in z], "g2")
        if math.isinf(statistic):
            assert 0 < freedom <= degrees
            assert p_value < alpha
        else:
            assert (statistic, freedom) == (pytest.approx(expected, rel=1e-9, abs=1e-7), degrees)
    assert test.answer(*asked).tolist() == test.ask(*asked).answer.tolist()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    st.sampled_from([257, 640]),
    st.booleans(),
    st.sampled_from([4 * TESTS_PER_OCCURRENCE, 160]),
)
def test_many_tests_of_one_pair_answer_as_single_ones(random_state, size, n_rows, is_missing, least):
    # So many that it is looked up which states occur together.
    codes = related_codes(random_state, n_rows, 6, most_states=3)
    missing = drawn_missing(random_state, codes) if is_missing else None
    engine = open_engine(mixed_table(codes, ["discrete"] * 6, missing=missing))
    test = table_test(engine)
    given = np.array(list(combinations(range(2, 6), size)))
    x, y = np.zeros(len(given), np.int64), np.ones(len(given), np.int64)
    reliable = test.reliable(x, y, given)
    assume(reliable.any())
    single = np.column_stack([given, x, y])[reliable]
    whole = test.formula(engine.count(Queries.of_matrix(single)))
    times = -(-least // len(single))
    many, expected = np.tile(single, (times, 1)), np.tile(whole, (times, 1))
    found = engine.evaluate(Queries.of_matrix(many), UntilDecided(test.formula, engine, test.alpha), width=2)
    ended = np.isinf(found[:, 0])
    np.testing.assert_array_equal(found[~ended], expected[~ended])
    assert (chi_squared_tail(*expected[ended].T) < test.alpha).all()
    assert (found[ended, 1] <= expected[ended, 1]).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from(["g2", "x2"]), st.floats(0.1, 2.0), st.booleans())
def test_a_strength_that_is_enough_is_told_or_infinite_and_no_other_changes(
    random_state, name, share, not_all
):
    codes = related_codes(random_state, 400, 6, most_states=3)
    asked = questions(*permutations(range(6), 3))
    test = table_test(make_engine(codes), ci_test=name)
    told = test.ask(*asked)
    enough = np.random.default_rng(random_state).permutation(share * told.strength)
    enough[np.isnan(enough)] = math.inf if not_all else 0.0
    some = test.ask(*asked, enough)
    assert some.answer.tolist() == told.answer.tolist()
    ended = np.isinf(some.strength)
    assert (some.strength[~ended] == told.strength[~ended])[~np.isnan(told.strength[~ended])].all()
    assert (told.strength[ended] >= enough[ended]).all()
    assert (told.answer[ended] == DEPENDENT).all()


def test_a_dependence_beyond_all_floats_is_told_to_its_end():
    same = np.tile(np.arange(2), 2000)
    test = table_test(make_engine(np.array([same, same])))
    [strength] = test.ask(*questions((0, 1)), np.array([300.0])).strength
    assert 900 < strength < math.inf
    assert test.ask(*questions((0, 1)), np.array([0.0])).strength.tolist() == [math.inf]


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2), st.sampled_from([130, 257]), st.booleans())
def test_tests_of_one_target_and_set_are_counted_together(random_state, size, n_rows, is_missing):
    # 50 variables of 3 states: more bit planes than are packed at a time.
    codes = np.tile(related_codes(random_state, n_rows, 5, most_states=3), (10, 1))
    rng = np.random.default_rng(random_state)
    codes = np.where(rng.random(codes.shape) < 0.2, rng.integers(0, 2, codes.shape), codes)
    kinds = ["discrete"] * len(codes)
    engine = open_engine(
        mixed_table(codes, kinds, missing=drawn_missing(random_state, codes) if is_missing else None)
    )
    test = table_test(engine)
    order = rng.permutation(50)
    condition, target, others = order[:size], order[size], np.sort(order[size + 1 :])
    x, given = np.full(len(others), target), np.tile(condition, (len(others), 1))
    queries = Queries.of_matrix(np.column_stack([given, x, others]))
    together = engine.evaluate(queries, test.formula, width=2)
    np.testing.assert_array_equal(together, test.formula(engine.count(queries)))
    # Also where only the answers are asked for: no test of a long run ends early.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(g2, "LEAST_TOGETHER", 1)
        answered = engine.evaluate(queries, UntilDecided(test.formula, engine, test.alpha), width=2)
    np.testing.assert_array_equal(answered, together)


def test_variables_without_planes_are_answered_beside_those_with():
    cardinalities = np.array([2, MOST_PLANES + 1, 2, 3])
    codes = random_codes(7, 3000, cardinalities)
    codes[2, :1500] = codes[0, :1500]
    codes[1, :600] = codes[0, :600]
    asked = questions(*permutations(range(4), 2))
    test = table_test(make_engine(codes, cardinalities))
    found = test.answer(*asked)
    assert found.tolist() == test.ask(*asked).answer.tolist()
    assert set(found.tolist()) == {DEPENDENT, INDEPENDENT}


def test_a_test_ends_with_the_largest_strata():
    # In the second of two strata, with 96 of 100 samples, X and Y are the same, far more than is enough; in
    # the first they are not told apart, and its degree of freedom is not counted any more.
    codes = from_cells([[[1, 1], [1, 1]], [[48, 0], [0, 48]]])
    test = table_test(make_engine(codes))
    queries = Queries.of_matrix(np.array([[0, 1, 2]]))
    assert test.engine.evaluate(
        queries, UntilDecided(test.formula, test.engine, test.alpha), width=2
    ).tolist() == [[math.inf, 1.0]]
    assert test.engine.evaluate(queries, test.formula, width=2)[0, 1] == 2


def test_a_test_ends_only_with_more_than_all_degrees_of_freedom_allow():
    # Two strata of 2 x 3 cells have four degrees of freedom, the larger stratum two. Its G2 of 12.3 is beyond
    # what three allow, 11.3, but not beyond the 13.3 of all; the other stratum adds nothing.
    codes = from_cells([[[40, 40, 40], [64, 40, 20]], [[5, 5, 5], [5, 5, 5]]])
    test = table_test(make_engine(codes))
    x, y, given = questions((1, 2, 0), (2, 1, 0))
    whole = test.ask(x, y, given)
    assert chi2.isf(0.01, 3) < whole.statistic[0] < chi2.isf(0.01, 4)
    assert test.answer(x, y, given).tolist() == [INDEPENDENT] * 2 == whole.answer.tolist()


@given(st.integers(1, 400), st.floats(1.5, 20.0))
def test_strengths_of_p_values_too_small_for_a_float(freedom, times):
    # Where both can be had, the continued fraction is the logarithm.
    statistic = np.array([freedom * times + 300.0])
    p_value = chi2.sf(statistic, freedom)
    far = strengths(statistic, np.array([float(freedom)]), np.zeros(1))
    if p_value[0] > 1e-250:
        assert far == pytest.approx(-np.log10(p_value), rel=1e-6)
    # And it goes on growing where the p-value has ended.
    further = strengths(statistic + 5000.0, np.array([float(freedom)]), np.zeros(1))
    assert further[0] > far[0] + 900


def test_a_test_without_degrees_of_freedom_is_independent_or_inconclusive():
    # Given 2, which is a copy of 0, neither stratum has both states of 0.
    codes = np.stack([np.repeat([0, 1], 40), np.tile([0, 1], 40), np.repeat([0, 1], 40)])
    asked = questions((0, 1, 2))
    assert table_test(make_engine(codes)).answer(*asked).tolist() == [INDEPENDENT]
    strict = table_test(make_engine(codes), without_freedom="inconclusive")
    assert strict.answer(*asked).tolist() == [INCONCLUSIVE]
    assert (strict.n_tests, strict.n_inconclusive) == (1, 1)
