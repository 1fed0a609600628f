"""Counts of blocks on disk are those of memory, to the last bit."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import f2sl
import naive
from f2sl import DataError, FileError
from f2sl.data.blocks import Occurring
from f2sl.data.engines import Queries
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.moments import Moments
from f2sl.data.stream import BlockFile, StreamTable
from f2sl.stats.choose import make_score, make_test, related_pairs
from f2sl.stats.measures.information import MOST_ENTRIES, Information, LogTable
from f2sl.stats.scores.tables import LogLikelihood
from tables import make_table, random_codes, related_codes, related_numbers

ALL_SCORES = ("bdeu", "bds", "k2", "bic", "aic", LogLikelihood())
block_sizes = st.integers(1, 300)


def streamed_engine(table, rows_per_block, memory=1 << 28, n_jobs=1):
    return StreamTable.of_table(table, rows_per_block, memory).counting_engine(n_jobs)


# Counting


def groups_of(tables, t):
    first = tables.first_group[t]
    edges = tables.group_start[first : first + tables.n_groups[t] + 1].tolist()
    return [tables.counts[a:b].tolist() for a, b in pairwise(edges)]


@example(0, 6, 4, 1)  # (0, 1) has as many cells as there are rows, and is full
@given(st.integers(0, 100), st.integers(1, 150), block_sizes, st.sampled_from([1, 3]))
def test_tables_are_those_of_a_dictionary(random_state, n_rows, rows_per_block, n_jobs):
    cardinalities = [2, 3, 1, 4, 2, 70]
    codes = random_codes(random_state, n_rows, cardinalities)
    queries = [(0,), (5,), (0, 1), (3, 5), (2, 4, 1), (5, 3, 0), (5, 1, 5, 3), (4, 2, 5, 1, 0, 3)]
    with streamed_engine(make_table(codes, cardinalities), rows_per_block, n_jobs=n_jobs) as engine:
        tables = engine.count(Queries.of(queries))
    for t, query in enumerate(queries):
        sizes = [cardinalities[v] for v in query]
        assert bool(tables.full[t]) == (np.prod(sizes) <= n_rows)
        if tables.full[t]:
            cells = tables.counts[tables.cell_start[t] : tables.cell_start[t + 1]]
            assert cells.tolist() == naive.full_table(codes, cardinalities, query)
            assert [n for group in groups_of(tables, t) for n in group] == cells.tolist()
        else:
            found = {}
            for (*leading, _), n in sorted(naive.contingency(codes, query).items()):
                found.setdefault(tuple(leading), []).append(n)
            assert sorted(map(sorted, groups_of(tables, t))) == sorted(map(sorted, found.values()))


@pytest.mark.parametrize("states", [250, 300])
def test_more_configurations_than_related_numbers(states):
    """With 9 or 12 such variables the product of the states exceeds 64 bits."""
    codes = random_codes(1, 40, [states] * 12)
    codes[:, 20:30] = codes[:, :10]
    codes[-1, 25:30] = 0
    table = make_table(codes, [states] * 12)
    queries = Queries.of([tuple(range(12)), tuple(range(9))])
    with streamed_engine(table, 7) as engine:
        tables = engine.count(queries)
    for t, query in enumerate([range(12), range(9)]):
        found = {}
        for (*leading, _), n in naive.contingency(codes, list(query)).items():
            found.setdefault(tuple(leading), []).append(n)
        assert sorted(map(sorted, groups_of(tables, t))) == sorted(map(sorted, found.values()))


@settings(max_examples=10)
@given(st.integers(0, 50), st.integers(20, 300), st.sampled_from([1 << 28, 1 << 14]), st.sampled_from([1, 2]))
def test_pairs_tests_and_scores_are_the_same_to_the_last_bit(random_state, rows_per_block, memory, n_jobs):
    table = make_table(related_codes(random_state, 210, 7))
    families = [(v, tuple(u for u in range(7) if u != v)[:k]) for v in range(7) for k in range(7)]
    x, y = np.triu_indices(7, 1)
    engines = [MemoryEngine(table, 1), streamed_engine(table, rows_per_block, memory, n_jobs)]
    answers = []
    for engine in engines:
        with engine:
            found = engine.search_pairs(Information(engine).pairs_above(0.0))
            of_one = related_pairs(engine, 0.01, "mi")(target=3)
            asked = make_test(engine, 0.01).ask(x, y, np.full((len(x), 1), 5))
            scores = [make_score(engine, score).score(families).tolist() for score in ALL_SCORES]
            answers.append(
                [engine.margins.tolist(), scores, [part.tolist() for part in asked[:2]]]
                + [[part.tolist() for part in vars(pairs).values()] for pairs in (found, of_one)]
            )
    assert repr(answers[0]) == repr(answers[1])


def test_a_table_that_does_not_fit_is_refused():
    table = make_table(random_codes(0, 100, [30, 30, 30]), [30, 30, 30])
    with streamed_engine(table, 10, memory=1000) as engine:
        with pytest.raises(DataError, match=r"3 variables has more than 15 cells.*memory="):
            make_score(engine).score([(0, (1, 2))])
        assert len(make_score(engine).score([(0, ())])) == 1  # the engine can be asked again


def test_blocks_together_may_list_no_more_cells_than_allowed():
    def occurring(*keys):
        return Occurring(np.array(keys), np.ones(len(keys), np.int64), n_variables=2, most_cells=3)

    assert (occurring(1, 5) + occurring(5, 8)).counts.tolist() == [1, 2, 1]
    with pytest.raises(DataError, match="2 variables has more than 3 cells"):
        occurring(1, 5) + occurring(6, 8)


@pytest.mark.parametrize(("memory", "fits"), [(28_800, True), (28_000, False)])
def test_a_full_table_that_fills_the_room(memory, fits):
    """900 cells of 8 bytes, in four copies, are 28,800 bytes."""
    table = make_table(random_codes(0, 1000, [30, 30]), [30, 30])
    expected = MemoryEngine(table, 1).count(Queries.of([(0, 1)])).counts.tolist()
    with streamed_engine(table, 100, memory=memory, n_jobs=3) as engine:
        if fits:
            assert engine.count(Queries.of([(0, 1)])).counts.tolist() == expected
        else:
            with pytest.raises(DataError, match="2 variables has more than 875 cells"):
                engine.count(Queries.of([(0, 1)]))


def test_progress_of_pairs_adds_up_to_all():
    shares = []
    with streamed_engine(make_table(related_codes(2, 100, 9)), 13, memory=1000) as engine:
        engine.search_pairs(Information(engine).pairs_above(0.0), advance=shares.append)
    assert sum(shares) == pytest.approx(1.0)


def test_no_pairs_and_no_queries():
    with streamed_engine(make_table([[0, 0], [0, 1]]), 1) as engine:
        assert len(engine.search_pairs(Information(engine).pairs_above(0.0)).first) == 0
        assert engine.evaluate(Queries.of([]), lambda tables: 1 / 0, width=3).shape == (0, 3)


@given(st.integers(0, 100), block_sizes)
def test_moments_are_the_same_to_the_last_bit(random_state, rows_per_block):
    table = related_numbers(random_state)
    one, other = Moments.of_table(table), Moments.of_table(StreamTable.of_table(table, rows_per_block))
    assert one.correlations.tolist() == other.correlations.tolist()
    assert one.variances.tolist() == other.variances.tolist()


# n log n


@given(st.lists(st.integers(0, 10**11), min_size=1, max_size=20))
def test_n_log_n_of_large_related_numbers(counts):
    table = LogTable(10**11)
    assert len(table.entries) == MOST_ENTRIES
    expected = [n * np.log(max(n, 1)) for n in counts]
    found = table.terms(np.array(counts, np.int64)) * table.unit
    np.testing.assert_allclose(found, expected, rtol=4e-16, atol=table.unit)


def test_all_entries_are_the_terms():
    table = LogTable(MOST_ENTRIES + 1000)
    n = np.array([0, 1, 5, MOST_ENTRIES - 1, MOST_ENTRIES, MOST_ENTRIES + 1000])
    assert table.all_entries[n].tolist() == table.terms(n).tolist()
    assert table.of_all == table.all_entries[-1]
    small = LogTable(100)
    assert small.all_entries is small.entries


# Learners


def test_a_training_that_needs_all_rows_says_so():
    streamed = StreamTable.of_table(related_numbers(0), 50, memory=1000)
    with pytest.raises(DataError, match=r"needs all rows in memory.*memory="):
        f2sl.DAGGNN(epochs=1).fit(streamed)


def test_correlations_that_do_not_fit():
    """Five matrices of 5 by 5 numbers of 8 bytes take 1,000 bytes."""
    assert Moments.of_table(StreamTable.of_table(related_numbers(0), 50, memory=1000)).n_variables == 5
    with pytest.raises(DataError, match="correlations"):
        f2sl.F2SLc().fit(StreamTable.of_table(related_numbers(0), 50, memory=999))


def test_a_table_that_was_closed_says_so():
    table = StreamTable.of_table(make_table(related_codes(1, 60, 4)), 20)
    part = table.select([2, 0])
    table.close()
    table.close()
    for use in (f2sl.F2SLc().fit, f2sl.learn, lambda one: one.column(0)):
        for one in (table, part):
            with pytest.raises(DataError, match="this table has been closed; open it again"):
                use(one)


# Blocks on disk


@given(st.integers(1, 40), st.lists(st.integers(0, 30), min_size=1, max_size=5), st.randoms())
def test_blocks_come_back_whatever_they_came_in(rows_per_block, batches, random):
    whole = np.arange(3 * sum(batches), dtype=np.uint16).reshape(3, -1)
    blocks = BlockFile(3, whole.dtype, rows_per_block)
    for first, last in pairwise(np.cumsum([0, *batches]).tolist()):
        blocks.append(whole[:, first:last])
    blocks.finish()
    chosen = random.sample(range(3), random.randint(1, 3))
    parts = [blocks.read(i, chosen) for i in range(blocks.n_blocks)]
    assert all(part.shape[1] == rows_per_block for part in parts[:-1])
    found = np.concatenate([np.empty((len(chosen), 0), np.uint16), *parts], axis=1)
    assert found.tolist() == whole[chosen].tolist()
    blocks.close()


def test_a_disk_without_room_is_refused_beforehand():
    with pytest.raises(FileError, match="TMPDIR"):
        BlockFile.check_space(10**18)
