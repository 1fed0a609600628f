"""Variances and correlations: right, and the same to the last bit whatever the order of rows and columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_gaussian
from f2sl import DataError
from f2sl.data import moments as module
from f2sl.data.moments import Moments
from f2sl.stats.choose import related_pairs
from gaussian_tools import moments, numeric, related_values


def test_variances_and_correlations_are_those_computed_by_hand():
    found = moments([[0, 1, 2], [0, 0, 3]])
    assert found.n_rows == 3
    assert found.n_variables == 2
    np.testing.assert_allclose(found.variances, [2 / 3, 2], rtol=1e-13)
    assert found.correlations[0, 1] == pytest.approx(np.sqrt(3) / 2, abs=1e-12)
    assert found.correlations[0, 0] == found.correlations[1, 1] == 1.0


@given(random_state=st.integers(0, 2**32 - 1), n_variables=st.integers(2, 6), n_rows=st.integers(3, 60))
def test_the_naive_twin_agrees(random_state, n_variables, n_rows):
    values = related_values(random_state, n_variables, n_rows)
    found = moments(values)
    for a in range(n_variables):
        assert found.variances[a] == pytest.approx(values[a].var(), rel=1e-9)
        for b in range(a):
            expected = naive_gaussian.correlation(values[a].tolist(), values[b].tolist())
            assert found.correlations[a, b] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("n_variables", "n_rows"), [(600, 40), (30, 100_000)])
def test_numpy_agrees_on_larger_tables(n_variables, n_rows):
    values = related_values(1, n_variables, n_rows)
    found = moments(values)
    np.testing.assert_allclose(found.correlations, np.corrcoef(values), atol=2e-12)
    np.testing.assert_allclose(found.variances, values.var(axis=1), rtol=1e-10)


@given(random_state=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_columns_changes_no_bit(random_state):
    rng = np.random.default_rng(random_state)
    values = related_values(random_state, 5, int(rng.integers(2, 300)))
    values[2, 0] += 1e5  # one far away from the rest
    rows, columns = rng.permutation(values.shape[1]), rng.permutation(5)
    found, other = moments(values), moments(values[columns][:, rows])
    assert (other.correlations == found.correlations[np.ix_(columns, columns)]).all()
    assert (other.variances == found.variances[columns]).all()


def test_tiles_do_not_matter(monkeypatch):
    values = related_values(3, 20, 50)
    whole = moments(values).correlations
    monkeypatch.setattr(module, "VARIABLES_AT_ONCE", 7)
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 120)
    assert (moments(values).correlations == whole).all()


@pytest.mark.parametrize("place", [0.0, 1e6, -1e12])
@pytest.mark.parametrize("unit", [1e-90, 1.0, 1e90])
def test_place_and_unit_of_a_measurement_do_not_matter(place, unit):
    values = np.random.default_rng(0).normal(size=(2, 100))
    moved = values.copy()
    moved[0] = (values[0] + place) * unit
    rounding = max(1e-12, abs(place) * 1e-16)
    expected = np.corrcoef(values)[0, 1]
    assert moments(moved).correlations[0, 1] == pytest.approx(expected, abs=rounding)


def test_copies_correlate_by_exactly_one():
    values = related_values(5, 3, 80)
    found = moments([*values, values[1] * 3 - 7, -values[2]])
    assert found.correlations[1, 3] == 1.0
    assert found.correlations[2, 4] == -1.0


def test_a_constant_column_is_refused_by_name():
    with pytest.raises(DataError, match="the same number in every row of 'v0001'"):
        moments([[0, 1, 2], [4, 4, 4]])


def test_more_correlations_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr(module, "available_bytes", lambda: 1000)
    monkeypatch.setattr(module, "LEAST_MEMORY", 1000)  # below which nothing is refused
    with pytest.raises(DataError, match="leave columns out"):
        Moments.of_table(numeric(related_values(0, 10, 10)))


@pytest.mark.parametrize("measure", ["r2", "correlation", "mi"])
@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.3])
def test_pairs_above_a_threshold(measure, threshold):
    values = related_values(7, 12, 60)
    found = moments(values)
    r = np.corrcoef(values)
    by_hand = {"r2": r**2, "correlation": abs(r), "mi": -0.5 * np.log(1 - r**2 + 1e-300)}[measure]
    expected = {(a, b): by_hand[a, b] for a in range(12) for b in range(a + 1, 12)}
    expected = {pair: value for pair, value in expected.items() if value > threshold}

    def listed(pairs):
        names = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
        assert names == sorted(names)
        return dict(zip(names, pairs.values.tolist(), strict=True))

    search = related_pairs(found, threshold, measure)
    assert listed(search()) == pytest.approx(expected, abs=1e-9)
    some = np.array([1, 4, 5, 9])
    among = {pair: value for pair, value in expected.items() if set(pair) <= set(some.tolist())}
    assert listed(search(variables=some)) == pytest.approx(among, abs=1e-9)
    of_five = {pair: value for pair, value in expected.items() if 5 in pair}
    assert listed(search(target=5)) == pytest.approx(of_five, abs=1e-9)
    assert listed(search(variables=some[:0])) == {}


def test_the_measure_of_a_copy_is_finite():
    values = related_values(5, 1, 80)
    [value] = related_pairs(moments([*values, *values]), 0.05, "mi")().values
    assert 10 < value < 20
