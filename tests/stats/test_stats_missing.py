"""Questions about tables with missing values, against rows that are filtered and counted one by one."""

import math
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import chi2, norm

import f2sl
import naive_gaussian
from f2sl import DataError
from f2sl.cli.app import main
from f2sl.data import _kernels
from f2sl.data.engines import Queries
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.moments import Moments
from f2sl.data.stream import StreamTable
from f2sl.stats.answers import INCONCLUSIVE
from f2sl.stats.choose import make_score, make_test, related_pairs, significant_pairs

pytestmark = pytest.mark.kernels

STATES = (2, 3, 5, 2, 70, 4)


def codes_with_missing(random_state, n_rows=300, states=STATES, share=0.15, complete=(3,)):
    """Draw codes, -1 where they are missing; the second variable depends on the first."""
    rng = np.random.default_rng(random_state)
    codes = np.stack([rng.integers(0, k, n_rows) for k in states])
    codes[1] = np.where(rng.random(n_rows) < 0.6, codes[0] % states[1], codes[1])
    gone = rng.random(codes.shape) < share
    gone[list(complete)] = False
    gone[:, 0] = False  # every column has a value
    return np.where(gone, -1, codes)


def opened(codes, states):
    """Open codes as categories, so that all states are there; -1 is missing."""
    frame = pd.DataFrame(
        {
            f"v{i}": pd.Categorical.from_codes(row, range(k))
            for i, (row, k) in enumerate(zip(codes, states, strict=True))
        }
    )
    return f2sl.open_table(frame, keep=list(frame))  # also those with many states and few rows for each


def engines(table):
    yield MemoryEngine(table, 1)
    yield StreamTable.of_table(table, rows_per_block=64).counting_engine(1)


def counted(codes, states, query):
    """Count the rows that have all variables of a query, as a full table."""
    rows = codes[list(query)]
    table = np.zeros([states[v] for v in query], np.int64)
    np.add.at(table, tuple(rows[:, (rows >= 0).all(axis=0)]), 1)
    return table


def entropy(counts):
    shares = counts[counts > 0] / counts.sum()
    return -(shares * np.log(shares)).sum()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 130), st.sampled_from([0.0, 0.1, 0.5, 0.9]))
def test_tables_count_the_rows_that_have_all_variables(random_state, n_rows, share):
    codes = codes_with_missing(random_state, n_rows, share=share)
    queries = [(0,), (0, 1), (4, 5), (1, 2, 3), (0, 1, 2, 3, 5), (5, 4, 2), (5, 4, 1), (3, 4)]
    for engine in engines(opened(codes, STATES)):
        with engine:
            tables = engine.count(Queries.of(queries))
            for t, query in enumerate(queries):
                expected = counted(codes, STATES, query)
                groups = range(tables.first_group[t], tables.first_group[t] + tables.n_groups[t])
                found = [tables.counts[tables.group_start[g] : tables.group_start[g + 1]] for g in groups]
                assert tables.totals[t] == expected.sum()
                if tables.full[t]:
                    assert np.concatenate(found).tolist() == expected.ravel().tolist()
                wanted = [sorted(row[row > 0].tolist()) for row in expected.reshape(-1, expected.shape[-1])]
                occurring = [sorted(group[group > 0].tolist()) for group in found]
                assert sorted(filter(None, occurring)) == sorted(filter(None, wanted))


@pytest.mark.parametrize("states", [STATES, (2, 2, 300, 300)])
def test_pairs_have_their_own_rows(states):
    codes = codes_with_missing(7, states=states)
    expected = {}
    for pair in combinations(range(len(states)), 2):
        table = counted(codes, states, pair)
        x, y = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
        information = x + y - entropy(table)
        expected["mi", *pair], expected["su", *pair] = information, 2 * information / (x + y)
    for engine in engines(opened(codes, states)):
        with engine:
            for measure in ("su", "mi"):
                found = related_pairs(engine, 0.0, measure)()
                assert len(found.first) == len(states) * (len(states) - 1) // 2
                for a, b, value in zip(found.first, found.second, found.values, strict=True):
                    assert value == pytest.approx(expected[measure, a, b], abs=1e-9)
            significant = significant_pairs(engine)()
            assert (0, 1) in zip(significant.first, significant.second, strict=True)


@pytest.mark.parametrize("samples_per_cell", [1.0, 5.0])
def test_g2_of_the_rows_at_hand(samples_per_cell):
    codes = codes_with_missing(3)
    questions = [(0, 1, ()), (0, 1, (2,)), (2, 0, (1, 3)), (3, 5, (0,)), (4, 5, ()), (0, 1, (2, 3, 5))]
    for engine in engines(opened(codes, STATES)):
        with engine:
            test = make_test(engine, 0.01, samples_per_cell=samples_per_cell)
            for x, y, given_ in questions:
                asked = np.array([x]), np.array([y]), np.array([given_], np.int64).reshape(1, -1)
                found = test.ask(*asked)
                assert found.answer[0] == test.answer(*asked)[0]
                table = counted(codes, STATES, (*given_, min(x, y), max(x, y)))
                if table.sum() < samples_per_cell * table.size:
                    assert found.answer[0] == INCONCLUSIVE
                    continue
                statistic, freedom = 0.0, 0
                for stratum in table.reshape(-1, *table.shape[-2:]):
                    if stratum.any():
                        expected = np.outer(stratum.sum(axis=1), stratum.sum(axis=0)) / stratum.sum()
                        there = stratum > 0
                        statistic += 2 * (stratum[there] * np.log(stratum[there] / expected[there])).sum()
                        freedom += (there.any(axis=1).sum() - 1) * (there.any(axis=0).sum() - 1)
                assert found.statistic[0] == pytest.approx(statistic, abs=1e-8)
                assert found.p_value[0] == pytest.approx(chi2.sf(statistic, freedom), abs=1e-9)


def bdeu(table, ess=10.0):
    groups = table.reshape(-1, table.shape[-1])
    cell, group = ess / table.size, ess / len(groups)
    of_cells = (gammaln(groups + cell) - gammaln(cell)).sum()
    return of_cells + (gammaln(group) - gammaln(groups.sum(axis=1) + group)).sum()


def bic(table, n_rows):
    groups = table.reshape(-1, table.shape[-1])
    there = groups > 0
    shares = groups / np.maximum(groups.sum(axis=1, keepdims=True), 1)
    return (groups[there] * np.log(shares[there])).sum() - math.log(n_rows) / 2 * len(groups) * (
        table.shape[-1] - 1
    )


def by_increments(of_rows, rows_of, n_rows, is_missing, child, parents):
    """Score a family over its best smaller one, on the same rows."""
    rows = rows_of((*parents, child))
    own = of_rows(rows, child, parents)
    smaller = [tuple(p for p in parents if p != left) for left in parents if left in is_missing]
    if not smaller:
        return own * n_rows / len(rows)
    of_smaller = [by_increments(of_rows, rows_of, n_rows, is_missing, child, one) for one in smaller]
    best = smaller[int(np.argmax(of_smaller))]
    return max(of_smaller) + (own - of_rows(rows, child, best)) * n_rows / len(rows)


@pytest.mark.parametrize("name", ["bdeu", "bic"])
def test_scores_compare_families_on_the_same_rows(name):
    codes = codes_with_missing(5, states=(2, 3, 3, 2, 4))
    states, n_rows = (2, 3, 3, 2, 4), codes.shape[1]

    def of_rows(rows, child, parents):
        table = counted(codes[:, rows], states, (*parents, child))
        return bdeu(table) if name == "bdeu" else bic(table, n_rows)

    def rows_of(variables):
        return np.flatnonzero((codes[list(variables)] >= 0).all(axis=0))

    families = [(0, ()), (3, (0,)), (1, (3,)), (1, (0, 3)), (2, (0, 1, 4)), (4, (0, 1, 2, 3))]
    expected = [by_increments(of_rows, rows_of, n_rows, {0, 1, 2, 4}, *family) for family in families]
    for engine in engines(opened(codes, states)):
        with engine:
            assert make_score(engine, name).score(families) == pytest.approx(expected, abs=1e-6)


def test_of_many_parents_the_worst_single_one_is_left_out():
    """Eight binary parents with gaps are compared as the definition says, one parent after another."""
    n, states = 400, (2,) * 9
    codes = codes_with_missing(2, n, states, 0.05, complete=(8,))

    def of_rows(rows, child, parents):
        return bdeu(counted(codes[:, rows], states, (*parents, child)))

    def score(parents):
        if not parents:
            return of_rows(np.arange(n), 8, ())
        tried = parents if len(parents) <= 6 else [min(parents, key=lambda v: score((v,)))]
        smaller = {v: tuple(p for p in parents if p != v) for v in tried}
        best = max(smaller.values(), key=score)
        rows = np.flatnonzero((codes[[*parents, 8]] >= 0).all(axis=0))
        return score(best) + (of_rows(rows, 8, parents) - of_rows(rows, 8, best)) * n / len(rows)

    score = lru_cache(score)
    for engine in engines(opened(codes, states)):
        with engine:
            found = make_score(engine, "bdeu").score([(8, tuple(range(8))), (8, tuple(range(1, 8)))])
        assert found == pytest.approx([score(tuple(range(8))), score(tuple(range(1, 8)))], abs=1e-9)


class TestNumbers:
    @pytest.fixture
    def values(self):
        rng = np.random.default_rng(1)
        values = rng.normal(size=(6, 300))
        values[1] += values[0]
        values[2] += 0.7 * values[1]
        values *= np.array([1, 1e3, 1e-3, 5, 1, 1])[:, None]
        values[:5][rng.random((5, 300)) < 0.12] = np.nan
        return values + 7.0

    def moments(self, values):
        table = f2sl.open_table(pd.DataFrame(values.T, columns=list("abcdef")))
        return [Moments.of_table(it) for it in (table, StreamTable.of_table(table, rows_per_block=37))]

    def test_correlations_of_pairs(self, values):
        one, other = self.moments(values)
        assert np.allclose(one.correlations, pd.DataFrame(values.T).corr(), atol=1e-11)
        assert np.allclose(one.variances, np.nanvar(values, axis=1))
        assert np.array_equal(one.correlations, other.correlations)

    def test_fisher_z(self, values):
        for x, y, given_ in [(0, 2, (1,)), (0, 1, ()), (3, 2, (4,)), (0, 5, (1, 2, 3)), (4, 0, (1, 3))]:
            rows = values[[x, y, *given_]]
            rows = rows[:, ~np.isnan(rows).any(axis=0)]
            precision = np.linalg.inv(np.corrcoef(rows))
            r = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
            z = math.sqrt(rows.shape[1] - len(given_) - 3) * math.atanh(r)
            for moments in self.moments(values):
                found = make_test(moments, 0.01).ask(
                    np.array([x]), np.array([y]), np.array([given_], np.int64).reshape(1, -1)
                )
                assert found.statistic[0] == pytest.approx(z, abs=1e-8)
                assert found.p_value[0] == pytest.approx(2 * norm.sf(abs(z)), abs=1e-9)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 200), st.sampled_from([0.0, 0.05, 0.2, 0.6, 1.0]))
    def test_sums_of_the_rows_that_have_all_columns(self, random_state, n_rows, share):
        """With the sums of all rows only those with gaps are visited, or those without: the same sums."""
        rng = np.random.default_rng(random_state)
        missing = rng.random((5, n_rows)) < share
        high, low = np.where(missing, 0, rng.integers(-(2**20), 2**20, (2, 5, n_rows))).astype(np.int32)
        is_missing = np.zeros((5, -(-n_rows // 64)), np.uint64)
        for v, row in np.argwhere(missing).tolist():
            is_missing[v, row // 64] |= np.uint64(1 << row % 64)

        def sums(rows, of=slice(None)):
            a, b = (half[of][:, rows].astype(np.int64) for half in (high, low))
            return np.stack([a.sum(1), b.sum(1)]), np.stack([a @ a.T, a @ b.T + b @ a.T, b @ b.T])

        everyone = [part.astype(float) for part in sums(slice(None))]
        questions = np.array([(0, 1, 2), (4, 2, 3), (1, 0, 4)])
        for whole in (everyone, (np.empty((2, 0)), np.empty((3, 0, 0)))):
            found = np.empty(3), np.empty((3, 2, 3)), np.empty((3, 3, 3, 3))
            _kernels.complete_sums(high, low, is_missing, *whole, questions, *found)
            for t, question in enumerate(questions):
                rows = ~missing[question].any(axis=0)
                assert found[0][t] == rows.sum()
                for part, expected in zip(found[1:], sums(rows, question), strict=True):
                    assert np.array_equal(part[t], expected)

    def test_many_questions_are_answered_as_each_alone(self, values, monkeypatch):
        monkeypatch.setattr("f2sl.stats.conditioning.QUESTIONS_PER_PIECE", 4)
        asked = np.array([(x, y, *given) for x, y, *given in permutations(range(6), 4)])
        tests = [make_test(moments, 0.01) for moments in self.moments(values)]
        both = [test.ask(asked[:, 0], asked[:, 1], asked[:, 2:]).statistic for test in tests]
        assert np.array_equal(*both)
        for t in range(0, len(asked), 50):
            alone = tests[0].ask(asked[[t], 0], asked[[t], 1], asked[[t], 2:]).statistic
            assert alone[0] == both[0][t]

    def test_bge_compares_families_on_the_same_rows(self, values):
        def of_rows(rows, child, parents):
            return naive_gaussian.bge(values[[*parents, child]][:, rows], len(parents), range(len(parents)))

        def rows_of(variables):
            return np.flatnonzero(~np.isnan(values[list(variables)]).any(axis=0))

        families = [(0, ()), (5, (0, 1)), (2, (1,)), (2, (0, 1, 5)), (4, (0, 2, 3))]
        expected = [by_increments(of_rows, rows_of, 300, set(range(5)), *family) for family in families]
        for moments in self.moments(values):
            assert make_score(moments, "bge").score(families) == pytest.approx(expected, abs=1e-6)

    def test_bic_is_of_the_matrix_that_fits_all_rows(self, values):
        """A parent costs more, the fewer rows have both."""
        there = ~np.isnan(values)
        for moments in self.moments(values):
            matrix = moments.embedded.correlations
            for child, parents in [(0, ()), (5, (0, 1)), (2, (1,)), (4, (0, 2, 3))]:
                left = 1.0
                if parents:
                    own = matrix[list(parents), child]
                    left -= own @ np.linalg.solve(matrix[np.ix_(parents, parents)], own)
                fit = -150 * (math.log(2 * math.pi * np.nanvar(values[child]) * left) + 1)
                price = 2 + sum(300 / (there[p] & there[child]).sum() for p in parents)
                [found] = make_score(moments, "bic-g").score([(child, parents)])
                assert found == pytest.approx(fit - math.log(300) / 2 * price, abs=1e-6)


def test_what_needs_whole_rows_says_so():
    states = f2sl.load_example("asia").astype(object)
    states.iloc[3, 2] = None
    for algorithm in ("exact", "sll+c", "ggsl", "notears"):
        with pytest.raises(DataError, match='missing="drop"'):
            f2sl.learn(states, algorithm)
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc"))
    numbers.iloc[0, 0] = np.nan
    for algorithm in ("tc", "notears"):
        with pytest.raises(DataError, match='missing="drop"'):
            f2sl.learn(numbers, algorithm)


def test_missing_values_are_noted_and_empty_columns_left_out():
    table = f2sl.open_table({"a": ["x", None, "y", None], "b": [0, 1, None, 1], "c": [1, 2, 1, 2]})
    assert table.missing.tolist() == [2, 1, 0]
    assert any("3 values are missing (25.0%), in columns 'a' (2), 'b' (1)" in note for note in table.notes)
    empty = f2sl.open_table({"a": [None, None], "b": [0, 1]})
    assert empty.names == ("b",)
    assert "column 'a': left out: no values" in empty.notes


def test_the_command_line(tmp_path, capsys):
    frame = f2sl.load_example("asia").astype(object)
    gone = np.random.default_rng(0).random(frame.shape) < 0.1
    path = tmp_path / "asia.csv"
    frame.mask(gone).to_csv(path, index=False)
    for how in ([], ["--missing", "available"], ["--engine", "stream"]):
        assert main(["learn", str(path), "--algorithm", "f2sl-h", "--json", *how]) == 0
        told = capsys.readouterr().out
        assert f"{gone.sum():,} values are missing" in told
