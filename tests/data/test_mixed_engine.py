"""Sums over states and numbers together: naive sums agree, and every engine gives the same bits."""

import threading
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive_mixed
from f2sl.data.engines import Queries
from f2sl.data.mixed import block_sums, shared
from f2sl.data.mixed.engine import BINS, MixedEngine
from f2sl.data.stream import StreamTable
from f2sl.data.table import Block
from f2sl.errors import DataError, F2SLWarning
from marks import few_examples
from mixed_tools import drawn_missing, mixed_columns, mixed_table

pytestmark = pytest.mark.kernels

KINDS = ("discrete", "continuous", "discrete", "continuous", "continuous")
QUERIES = [(0, 1), (1, 3, 4), (0, 2, 3), (0, 1, 2, 3, 4), (1,)]


def kept(groups):
    """Keep the sums as they are: a formula for tests, which see them by the list."""
    found.append(groups)
    return np.zeros(len(groups.n_groups))


found = []


def sums_of(table, queries=QUERIES):
    found.clear()
    with MixedEngine(table, 1) as engine:
        engine.grouped(Queries.of(queries), kept)
        coarse_unit = engine.moments.scaling.coarse_unit
        unit = engine.moments.scaling.unit
    [groups] = found
    return groups, coarse_unit, unit


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_sums_by_group(random_state):
    columns = mixed_columns(random_state)
    groups, coarse_unit, unit = sums_of(mixed_table(columns, KINDS))
    for t, query in enumerate(QUERIES):
        numbers = [v for v in query if KINDS[v] == "continuous"]
        q = len(numbers)
        width = 1 + 2 * q + 3 * q * (q + 1) // 2
        rows = groups.sums[groups.first[t] : groups.first[t + 1]].reshape(groups.n_groups[t], width)
        rows = rows[rows[:, 0] > 0]
        expected = naive_mixed.groups(columns, KINDS, query)
        assert rows[:, 0].tolist() == [len(own) for own in expected]
        for row, own in zip(rows.astype(float), expected, strict=True):
            sums = row[1 : 1 + q] * coarse_unit + row[1 + q : 1 + 2 * q]
            products = iter(row[1 + 2 * q :].reshape(-1, 3))
            for i, v in enumerate(numbers):
                for j, u in enumerate(numbers[: i + 1]):
                    high, both, low = next(products)
                    product = (high * coarse_unit + both) * coarse_unit + low - sums[i] * sums[j] / row[0]
                    a, b = (columns[w][own] - columns[w][own].mean() for w in (v, u))
                    scale = columns[v].std() * columns[u].std() * len(columns[0])
                    position = [KINDS[:w].count("continuous") for w in (v, u)]
                    assert product * unit[position[0]] * unit[position[1]] == pytest.approx(
                        a @ b, abs=1e-9 * scale
                    )


@few_examples
@given(st.integers(0, 2**32 - 1), st.integers(1, 130))
def test_blocks_give_the_same_bits(random_state, rows_per_block):
    table = mixed_table(mixed_columns(random_state), KINDS)
    streamed = StreamTable.of_table(table, rows_per_block)
    assert np.array_equal(sums_of(table)[0].sums, sums_of(streamed)[0].sums)
    with MixedEngine(table, 1) as one, MixedEngine(streamed, 1) as other:
        assert np.array_equal(one.ratios, other.ratios)
        assert np.array_equal(one.embedded.correlations, other.embedded.correlations)
        for v in range(5):
            assert np.array_equal(one.binned.column(v), other.binned.column(v))
            assert np.array_equal(one.column(v), other.column(v))


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_embedded_correlations_and_ratios(random_state):
    columns = mixed_columns(random_state)
    with MixedEngine(mixed_table(columns, KINDS), 1) as engine:
        expected = np.corrcoef(naive_mixed.columns_of(columns, KINDS, range(5)))
        assert engine.embedded.correlations == pytest.approx(expected, abs=1e-10)
        for i, v in enumerate((1, 3, 4)):
            for j, d in enumerate((0, 2)):
                rest = naive_mixed.left_over([columns[v]], naive_mixed.indicators(columns[d]))
                assert engine.ratios[i, j] == pytest.approx(1 - rest.var() / columns[v].var(), abs=1e-10)


def test_continuous_columns_are_cut_at_their_quantiles():
    numbers = np.random.default_rng(1).normal(size=1000)
    heavy = np.where(np.arange(1000) < 900, 0.0, np.arange(1000.0))
    columns = [np.arange(1000) % 2, numbers, heavy]
    with MixedEngine(mixed_table(columns, ("discrete", "continuous", "continuous")), 1) as engine:
        counts = np.bincount(engine.binned.column(1))
        assert len(counts) == BINS
        assert abs(counts - 200).max() < 20  # cells of the histogram are a hundredth of a deviation wide
        # Intervals keep the order of the numbers, and equal numbers together.
        cut = engine.binned.column(1)
        assert (np.diff(cut[np.argsort(numbers)].astype(int)) >= 0).all()
        assert len(np.unique(engine.binned.column(2)[:900])) == 1
        assert np.array_equal(engine.binned.column(0), columns[0])


@pytest.mark.parametrize("sizes", [(2, 3, 2, 5), (2, 40, 300, 3)])
def test_pairs_of_states_are_counted(sizes):
    """By a product of indicators where there are few states, by pairs of codes where there are many."""
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(0, size + 1, 9000) for size in sizes])  # the last one is missing
    first = np.concatenate([[0], np.cumsum(sizes)])
    expected = np.zeros((first[-1], first[-1]), np.int64)
    for v, w in product(range(4), repeat=2):
        both = (codes[v] < sizes[v]) & (codes[w] < sizes[w])
        np.add.at(expected, (first[v] + codes[v, both], first[w] + codes[w, both]), 1)
    [found] = block_sums.joint(np.array(sizes), Block(codes.astype(np.uint16), np.empty((0, 9000))))
    assert found.dtype == np.int64
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("engine", ["auto", "stream"])
def test_more_indicators_than_the_memory_limit_are_refused(engine, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    frame = {f"label {v:02}": [f"s{k}" for k in rng.integers(0, 30, 2000)] for v in range(30)}
    pd.DataFrame({**frame, "number": rng.normal(size=2000)}).to_csv(path, index=False)
    message = (
        r"1 continuous columns and 900 states of the others need 37 MB .* and 20 MB are allowed; "
        r"most states: 'label 00' \(30\), .*drop=\['label 00'\], or raise memory="
    )
    with pytest.raises(DataError, match=message):
        f2sl.learn(path, memory="20MB", engine=engine)


def test_what_does_not_occur_has_no_column():
    columns = [np.array([0, 2, 0, 2]), np.array([0.5, 1.0, 0.1, 3.0])]
    with MixedEngine(mixed_table(columns, ("discrete", "continuous")), 1) as engine:
        assert engine.embedded.start.tolist() == [0, 1, 2]
        assert engine.occurring.tolist() == [2]


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_parts_of_sets_are_summed_up_as_by_themselves(random_state):
    columns = mixed_columns(random_state)
    table = mixed_table(columns, KINDS, missing=drawn_missing(random_state, columns))
    rng, n = np.random.default_rng(random_state), len(KINDS)
    # In any order of the members; some only limit the samples.
    sets = [rng.permutation(n)[: rng.integers(1, n + 1)] for _ in range(30)]
    queries = Queries.of([own + n * (rng.random(len(own)) < 0.3) for own in sets])
    answers = []
    for most_groups, most_bytes in ((10**6, shared.MOST_BYTES), (10**6, 0), (0, 0), (4, 0)):
        found.clear()
        with MixedEngine(table, 1) as engine, pytest.MonkeyPatch.context() as patch:
            patch.setattr(shared, "MOST_BYTES", most_bytes)
            engine._shared._most_groups = most_groups
            for some in (queries, queries.part(5, 9)):
                engine.grouped(some, kept)
        answers.append([groups.sums.tolist() for groups in found])
    assert all(answer == answers[2] for answer in answers)


@few_examples
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.2, 0.5, 0.9]))
def test_columns_of_sets_on_the_rows_that_have_them(random_state, share):
    """All sums of pairs of columns, whether the rows with gaps are visited or the others."""
    columns = mixed_columns(random_state)
    missing = drawn_missing(random_state, columns, share)
    missing[:, :2] = False  # every column has values, and varies
    table = mixed_table(columns, KINDS, missing=missing)
    sets = np.array([(0, 1, 3), (1, 2, 4), (0, 2, 4), (4, 2, 0), (1, 3, 4)])
    for one in (table, StreamTable.of_table(table, rows_per_block=50)):
        with MixedEngine(one, 1) as engine:
            groups, scaling = engine.columns_of_sets(sets), engine.moments.scaling
            complete = [(~missing[members].any(axis=0)).sum() for members in sets]
            assert engine.complete_rows(sets).tolist() == complete
        coarse, fine = scaling.halves(np.array([columns[v] for v in (1, 3, 4)]))
        for t, members in enumerate(sets.tolist()):
            rows = ~missing[members].any(axis=0)
            high, low = [], []
            for v in members:
                if KINDS[v] == "continuous":
                    position = KINDS[:v].count("continuous")
                    high.append(coarse[position, rows])
                    low.append(fine[position, rows])
                else:
                    for state in range(int(columns[v].max()) + 1):
                        high.append(np.zeros(rows.sum()))
                        low.append((columns[v][rows] == state).astype(float))
            expected = [rows.sum(), *(a.sum() for a in high), *(b.sum() for b in low)]
            for i in range(len(high)):
                for j in range(i + 1):
                    mixed = high[i] @ low[j] + low[i] @ high[j]
                    expected += [high[i] @ high[j], mixed, low[i] @ low[j]]
            assert groups.sums[groups.first[t] : groups.first[t + 1]].tolist() == expected


def test_products_of_all_columns_are_summed_up_by_the_thread_that_asks(monkeypatch):
    """A thread of a pool may be left behind; the process could not end while OpenBLAS works for one."""
    asked_by, whole_columns = [], block_sums.whole_columns

    def watched(*arguments):
        asked_by.append(threading.current_thread())
        return whole_columns(*arguments)

    monkeypatch.setattr(block_sums, "whole_columns", watched)
    columns = mixed_columns(1)
    missing = drawn_missing(1, columns, 0.1)
    with MixedEngine(mixed_table(columns, KINDS, missing=missing), 2) as engine:
        engine.columns_of_sets(np.array([(0, 1, 3), (1, 2, 4)]))
    assert asked_by == [threading.current_thread()]


@pytest.mark.parametrize(
    ("n_names", "told"), [(60, "nearly as many states as rows"), (40, "fewer than two rows")]
)
def test_states_of_less_than_two_rows_each_have_no_columns(n_names, told):
    n = 60
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    frame = {"name": [f"p{i % n_names}" for i in range(n)], "x": x, "y": x + rng.normal(size=n)}
    with f2sl.open_table(frame, keep=["name"]) as table, MixedEngine(table) as engine:
        assert np.diff(engine.embedded.start).tolist() == [0, 1, 1]
        assert sum(note.startswith(told) for note in table.remarks) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", F2SLWarning)  # on identifiers
        model = f2sl.learn(frame, keep=["name"])
        without = f2sl.learn(frame)
    assert model.graph_.undirected_edges == [("x", "y")]
    assert model.score_ == pytest.approx(without.score_, abs=2.0)  # another penalty for each edge
