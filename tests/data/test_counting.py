"""Counting: every way of counting a table gives the table that a dictionary gives."""

import tracemalloc
from functools import partial
from itertools import combinations, islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import naive
from f2sl import BIC
from f2sl._threads import AHEAD
from f2sl.data import tiles
from f2sl.data.engines import Queries
from f2sl.data.memory import _kernels
from f2sl.data.memory import engine as memory
from f2sl.data.memory.engine import MemoryEngine
from f2sl.stats.choose import related_pairs
from f2sl.stats.measures.information import Information, LogTable
from f2sl.stats.scores.tables import FamilyFormula
from marks import compiled_only
from tables import make_engine, make_table, random_codes, related_codes

pytestmark = pytest.mark.kernels

METHODS = {
    "planes": _kernels.BY_PLANES,
    "codes": _kernels.BY_CODES,
    "sorting": _kernels.BY_SORTING,
    "refining": _kernels.BY_REFINING,
}


class OneWayEngine(MemoryEngine):
    """Counts every table by the same method."""

    def __init__(self, table, method):
        super().__init__(table, 1)
        self.method = METHODS[method]

    def _choose(self, queries):
        method, cells = super()._choose(queries)
        return np.full_like(method, self.method), cells


def groups_of(tables, t):
    """Cells of table t, group by group."""
    first = tables.first_group[t]
    edges = tables.group_start[first : first + tables.n_groups[t] + 1].tolist()
    return [tables.counts[a:b].tolist() for a, b in pairwise(edges)]


def naive_groups(codes, cardinalities, query, full):
    if full:
        cells = naive.full_table(codes, cardinalities, query)
        k = cardinalities[query[-1]]
        return [cells[i : i + k] for i in range(0, len(cells), k)]
    groups = {}
    for (*leading, _), n in naive.contingency(codes, query).items():
        groups.setdefault(tuple(leading), []).append(n)
    return sorted(map(sorted, groups.values()))


def assert_tables_right(tables, codes, cardinalities, queries):
    assert len(tables.queries) == len(queries)
    for t, query in enumerate(queries):
        full = bool(tables.full[t])
        groups = groups_of(tables, t) if full else sorted(map(sorted, groups_of(tables, t)))
        assert groups == naive_groups(codes, cardinalities, query, full), query
        if full:
            plain = tables.counts[tables.cell_start[t] : tables.cell_start[t + 1]]
            assert plain.tolist() == naive.full_table(codes, cardinalities, query)


# Queries


def test_queries_of_lists_of_any_length():
    queries = Queries.of([(3, 1), (2,), (0, 1, 2)])
    assert len(queries) == 3
    assert queries.variables.tolist() == [3, 1, 2, 0, 1, 2]
    assert queries.start.tolist() == [0, 2, 3, 6]
    assert queries.variables.dtype == queries.start.dtype == np.int64


def test_no_queries():
    assert len(Queries.of([])) == 0
    assert len(Queries.of_matrix(np.empty((0, 2), np.int64))) == 0
    engine = make_engine([[0, 1], [1, 0]])
    assert engine.evaluate(Queries.of([]), lambda tables: 1 / 0, width=3).shape == (0, 3)


def test_queries_of_a_matrix_are_those_of_its_rows():
    matrix = np.array([[4, 5], [6, 7], [8, 9]])
    for order in ("C", "F"):
        queries = Queries.of_matrix(np.asarray(matrix, order=order))
        listed = Queries.of(matrix.tolist())
        assert queries.variables.tolist() == listed.variables.tolist()
        assert queries.start.tolist() == listed.start.tolist()


def test_part_of_a_batch_is_a_batch():
    part = Queries.of([(3, 1), (2,), (0, 1, 2), (5,)]).part(1, 3)
    assert part.variables.tolist() == [2, 0, 1, 2]
    assert part.start.tolist() == [0, 1, 4]


# Tables


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 65, 130])
def test_tables_of_order_1_to_5(method, n_rows):
    cardinalities = [2, 3, 1, 4, 2, 5]
    codes = random_codes(n_rows, n_rows, cardinalities)
    queries = [(v,) for v in range(6)]
    queries += [(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (2, 4, 1), (5, 3, 0), (1, 0, 3, 4), (4, 2, 5, 1, 0)]
    engine = OneWayEngine(make_table(codes, cardinalities), method)
    assert_tables_right(engine.count(Queries.of(queries)), codes, cardinalities, queries)


@pytest.mark.parametrize("method", ["codes", "sorting", "refining"])
@pytest.mark.parametrize("k", [65, 255, 256, 257, 300])
def test_variables_with_many_states(method, k):
    cardinalities = [k, 2, k]
    codes = random_codes(k, 330, cardinalities)
    codes[0, 7] = k - 1
    table = make_table(codes, cardinalities)
    assert table.codes.dtype == (np.uint8 if k <= 256 else np.uint16)
    queries = [(0,), (0, 1), (1, 0), (2, 0)]
    assert_tables_right(OneWayEngine(table, method).count(Queries.of(queries)), codes, cardinalities, queries)


@pytest.mark.parametrize("method", METHODS)
def test_states_that_do_not_occur(method):
    codes, cardinalities = [[1, 1, 3], [0, 2, 2]], [5, 4]
    engine = OneWayEngine(make_table(codes, cardinalities), method)
    queries = [(0,), (0, 1), (1, 0)]
    assert_tables_right(engine.count(Queries.of(queries)), codes, cardinalities, queries)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True), min_size=1, max_size=12))
def test_queries_refined_one_after_another_may_begin_alike_or_not(queries):
    cardinalities = [2, 3, 1, 4, 2, 90]
    codes = random_codes(2, 40, cardinalities)
    engine = OneWayEngine(make_table(codes, cardinalities), "refining")
    assert_tables_right(engine.count(Queries.of(queries)), codes, cardinalities, queries)


def test_the_engine_chooses_each_method_and_all_are_right(monkeypatch):
    monkeypatch.setattr(memory, "LARGEST_REFINING", 301 * 64)
    cardinalities = [2, 3, 100, 2, 60, 64]
    codes = random_codes(1, 301, cardinalities)
    engine = make_engine(codes, cardinalities)
    queries = [q for size in (1, 2, 3) for q in combinations(range(6), size)]
    batch = Queries.of(queries)
    assert set(engine._choose(batch)[0].tolist()) == set(METHODS.values())
    assert_tables_right(engine.count(batch), codes, cardinalities, queries)


def test_margins_are_the_counts_of_the_states():
    cardinalities = [2, 70, 1, 300]
    codes = random_codes(3, 97, cardinalities)
    engine = make_engine(codes, cardinalities, n_jobs=3)
    for v in range(4):
        margins = engine.margins[engine.margin_start[v] : engine.margin_start[v + 1]]
        assert margins.tolist() == naive.full_table(codes, cardinalities, (v,))
    engine.close()


def test_evaluate_returns_one_row_for_each_query_in_order():
    codes = related_codes(5, 40, 5)
    cardinalities = [4] * 5
    queries = [(v, w) for v in range(5) for w in range(5) if v != w]

    def largest_and_first(tables):
        cells = [
            tables.counts[tables.cell_start[t] : tables.cell_start[t + 1]] for t in range(len(tables.queries))
        ]
        return np.array([[c.max(), c[0]] for c in cells], float)

    with make_engine(codes, cardinalities, n_jobs=2) as engine:
        values = engine.evaluate(Queries.of(queries), largest_and_first, width=2)
    wanted = [naive.full_table(codes, cardinalities, q) for q in queries]
    assert values.tolist() == [[max(cells), cells[0]] for cells in wanted]


@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 140),
    cut=st.floats(0, 1),
    method=st.sampled_from(["planes", "codes"]),
)
def test_counts_add_up_over_blocks_of_rows(random_state, n_rows, cut, method):
    cardinalities = [2, 3, 4]
    codes = random_codes(random_state, n_rows, cardinalities)
    border = min(max(1, round(cut * n_rows)), n_rows - 1)
    queries = Queries.of([(0,), (1, 2), (2, 0, 1)])
    whole, top, bottom = (
        OneWayEngine(make_table(part, cardinalities), method).count(queries).counts
        for part in (codes, codes[:, :border], codes[:, border:])
    )
    assert np.array_equal(whole, top + bottom)


# Pairs


def su_pairs(engine, threshold=-1.0, measure="su", **which):
    found = related_pairs(engine, threshold, measure)(**which)
    return {
        (a, b): v
        for a, b, v in zip(*(x.tolist() for x in (found.first, found.second, found.values)), strict=True)
    }


def naive_su_pairs(codes, cardinalities, pairs):
    # Variables that have one state only are never asked for: they are related to nothing.
    return {
        (a, b): naive.symmetrical_uncertainty(codes, a, b)
        for a, b in pairs
        if cardinalities[a] > 1 and cardinalities[b] > 1
    }


def assert_close(found, wanted):
    assert list(found) == sorted(wanted)
    for pair, value in wanted.items():
        assert found[pair] == pytest.approx(value, rel=1e-9, abs=1e-12), pair


MIXED = [2, 3, 1, 70, 2, 100, 9, 64, 65, 3, 20, 300, 2]


@pytest.mark.parametrize("n_rows", [1, 64, 333])
def test_pairs_of_mixed_numbers_of_states(n_rows):
    codes = random_codes(n_rows, n_rows, MIXED)
    codes[4] = codes[0]
    engine = make_engine(codes, MIXED)
    assert_close(su_pairs(engine), naive_su_pairs(codes, MIXED, combinations(range(len(MIXED)), 2)))


def test_mixed_numbers_of_states_span_all_ways_of_counting():
    engine = make_engine(random_codes(0, 333, MIXED), MIXED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "LARGEST_SCRATCH", 10_000)
        cut = tiles.cut_triangle(
            np.arange(len(MIXED)), engine.cardinalities, partial(memory.choose_for_pair, engine.n_rows)
        )
    assert {piece.method for piece in cut.pieces(1.0)} == {tiles.BY_PLANES, tiles.BY_CODES, tiles.BY_TABLES}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairs_too_large_for_a_scratch_table_are_counted_by_sorting(monkeypatch, n_jobs):
    codes = random_codes(9, 200, MIXED)
    wanted = su_pairs(make_engine(codes, MIXED))
    monkeypatch.setattr(memory, "LARGEST_SCRATCH", 50)
    monkeypatch.setattr(memory, "CELLS_PER_PIECE", 500)
    assert su_pairs(make_engine(codes, MIXED, n_jobs=n_jobs)) == wanted
    assert_close(wanted, naive_su_pairs(codes, MIXED, combinations(range(len(MIXED)), 2)))


@pytest.fixture
def small_tiles(monkeypatch):
    """Make tiles of at most 16 columns and 5 rows, so that a few variables have many borders."""
    monkeypatch.setattr(tiles, "PLANES_PER_TILE", 16)
    monkeypatch.setattr(tiles, "LARGEST_HEIGHT", 5)
    monkeypatch.setattr(tiles, "CODES_PER_TILE", 4)


@pytest.mark.parametrize("n_variables", [2, 15, 16, 17, 31, 32, 33, 50])
def test_tiles_cover_each_pair_once(n_variables, small_tiles):
    mixed = np.where(np.arange(n_variables) % 3 == 0, 3, 2)
    for cardinalities in (mixed, np.full(n_variables, 2)):
        for method in (tiles.BY_PLANES, tiles.BY_CODES):
            cut = tiles.cut_triangle(np.arange(n_variables), cardinalities, lambda *_: (method, 1.0))  # noqa: B023
            assert_each_pair_once(cut, n_variables)


@pytest.mark.parametrize("n_variables", [127, 128, 129, 131, 255, 256, 257, 300])
def test_tiles_of_full_size_cover_each_pair_once(n_variables):
    cut = tiles.cut_triangle(
        np.arange(n_variables), np.full(n_variables, 2), lambda *_: (tiles.BY_PLANES, 1.0)
    )
    assert_each_pair_once(cut, n_variables)


def assert_each_pair_once(cut, n_variables):
    for share in (1.0, 300.0, cut.work):
        pieces = list(cut.pieces(share))
        seen = [
            tuple(sorted((int(cut.order[row]), int(cut.order[column]))))
            for piece in pieces
            for top, bottom, left, right in piece.tiles.tolist()
            for row in range(top, bottom)
            for column in range(max(left, row + 1), right)
        ]
        assert sorted(seen) == list(combinations(range(n_variables), 2))
        # A pair costs 1.
        assert sum(piece.work for piece in pieces) == cut.work == len(seen)
        assert all(piece.work <= share or len(piece.tiles) == 1 for piece in pieces)
        # No two neighbors would fit into one.
        assert all(one.work + other.work > share for one, other in pairwise(pieces))


def test_tiles_of_many_variables_are_made_as_they_are_needed():
    n = 1_000_000
    triangle = tiles.cut_triangle(np.arange(n), np.full(n, 3), lambda *_: (tiles.BY_PLANES, 10.0))
    tracemalloc.start()
    first = list(islice(triangle.pieces(2e8), 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert triangle.work == 10.0 * n * (n - 1) / 2
    assert all(1.9e8 < piece.work <= 2e8 for piece in first)
    assert peak < 5e6


def test_pairs_across_the_borders_of_tiles(small_tiles):
    cardinalities = [2 + (i % 5 == 0) for i in range(47)]
    codes = random_codes(4, 67, cardinalities)
    codes[-1] = codes[1]
    engine = make_engine(codes, cardinalities)
    assert_close(su_pairs(engine), naive_su_pairs(codes, cardinalities, combinations(range(47), 2)))
    wanted = naive_su_pairs(codes, cardinalities, [tuple(sorted((20, v))) for v in range(47) if v != 20])
    assert_close(su_pairs(engine, target=20), wanted)


@compiled_only
def test_pairs_across_the_borders_of_tiles_of_full_size():
    n_variables = 300
    codes = random_codes(4, 67, [2] * n_variables)
    found = su_pairs(make_engine(codes))
    pairs = list(combinations(range(n_variables), 2))
    assert list(found) == pairs
    some = [pairs[i] for i in np.random.default_rng(0).integers(0, len(pairs), 2000)]
    assert_close(
        {pair: found[pair] for pair in sorted(set(some))}, naive_su_pairs(codes, [2] * n_variables, some)
    )


@compiled_only
def test_pairs_of_many_states_over_many_rows_are_counted_by_codes():
    cardinalities = [40, 64, 50, 2]
    codes = random_codes(5, 6000, cardinalities)
    engine = make_engine(codes, cardinalities)
    assert memory.choose_for_pair(engine.n_rows, 64, 50)[0] == tiles.BY_CODES
    assert_close(su_pairs(engine), naive_su_pairs(codes, cardinalities, combinations(range(4), 2)))


def test_more_pairs_may_be_kept_than_one_tile_has(small_tiles):
    codes = random_codes(2, 30, [2] * 40)
    engine = make_engine(codes, n_jobs=1)
    assert_close(su_pairs(engine), naive_su_pairs(codes, [2] * 40, combinations(range(40), 2)))


def test_pairs_over_more_rows_than_one_block_of_words():
    n_rows = 64 * _kernels.WORDS_PER_BLOCK + 64 * 3 + 5
    cardinalities = [2, 2, 3, 4]
    codes = random_codes(6, n_rows, cardinalities)
    codes[1, : n_rows // 3] = codes[0, : n_rows // 3]
    pairs = list(combinations(range(4), 2))
    assert_close(su_pairs(make_engine(codes, cardinalities)), naive_su_pairs(codes, cardinalities, pairs))


def test_pairs_among_some_variables():
    codes = random_codes(7, 90, MIXED)
    some = np.array([0, 2, 3, 6, 11, 12])
    found = su_pairs(make_engine(codes, MIXED), variables=some)
    assert_close(found, naive_su_pairs(codes, MIXED, combinations(some.tolist(), 2)))


@pytest.mark.parametrize("target", [0, 2, 5, 10])
def test_pairs_of_a_target(target):
    codes = random_codes(8, 90, MIXED)
    engine = make_engine(codes, MIXED)
    others = [v for v in range(len(MIXED)) if v != target]
    wanted = naive_su_pairs(codes, MIXED, [tuple(sorted((target, v))) for v in others])
    assert_close(su_pairs(engine, target=target), wanted)
    some = np.array([0, 1, 5, 11])
    wanted = {pair: value for pair, value in wanted.items() if set(pair) - {target} <= set(some.tolist())}
    assert_close(su_pairs(engine, target=target, variables=some), wanted)


@pytest.mark.parametrize("measure", ["su", "mi"])
@pytest.mark.parametrize("threshold", [0.0, 0.02, 0.3])
def test_only_pairs_above_the_threshold_come_back(measure, threshold):
    codes = related_codes(9, 120, 12, most_states=5)
    matrix = naive.all_pairs(codes, measure)
    wanted = {
        (a, b): matrix[a][b]
        for a, b in combinations(range(12), 2)
        if matrix[a][b] > threshold + naive.TOLERANCE
    }
    assert_close(su_pairs(make_engine(codes), threshold, measure), wanted)


def test_a_value_at_the_threshold_is_not_above_it():
    # SU of a variable and its copy is 1; of independent variables 0.
    codes = [[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
    assert su_pairs(make_engine(codes), 1.0) == {}
    assert su_pairs(make_engine(codes), 0.0) == {(0, 1): 1.0}


@pytest.mark.parametrize("cardinalities", [[2], [1], [2, 1], [1, 1]])
def test_no_pairs_with_two_states_each(cardinalities):
    engine = make_engine(random_codes(0, 6, cardinalities), cardinalities)
    told = []
    assert su_pairs(engine, advance=told.append) == {}
    assert su_pairs(engine, target=0, advance=told.append) == {}


def test_progress_adds_up_to_the_whole():
    told = []
    cardinalities = [2, 3, 70] * 12
    su_pairs(make_engine(random_codes(2, 50, cardinalities), cardinalities), advance=told.append)
    assert len(told) > 1
    assert sum(told) == pytest.approx(1.0)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_threads_changes_no_bit(n_jobs):
    cardinalities = [2, 3, 4, 70, 5] * 8
    codes = random_codes(11, 120, cardinalities)
    queries = Queries.of(
        [(a, b, (a + b) % 40) for a, b in combinations(range(40), 2) if (a + b) % 40 not in (a, b)]
    )
    results = []
    for jobs in (1, n_jobs):
        with make_engine(codes, cardinalities, n_jobs=jobs) as engine:
            formula = FamilyFormula(BIC(), LogTable(engine.n_rows))
            pieces = engine._pieces(queries.table_sizes(engine.cardinalities), memory.LEAST_CELLS)
            assert (len(pieces) > 1) == (jobs > 1)
            results.append((su_pairs(engine), engine.evaluate(queries, formula).tobytes()))
    assert results[0] == results[1]


@pytest.mark.parametrize("n_rows", [1, 70, 1000, 20_000])
def test_small_tables_are_counted_by_planes_without_choosing_for_each(n_rows):
    cardinalities = [2, 3, 5, 8, 13, 64]
    engine = make_engine(random_codes(2, n_rows, cardinalities), cardinalities)
    queries = Queries.of([subset for size in (2, 3, 4) for subset in combinations(range(6), size)])
    method, cells = engine._choose(queries, memory.SHARE_UNTIL_DECIDED)
    assert (method[cells <= engine._always_by_planes] == _kernels.BY_PLANES).all()
    without_planes = make_engine(random_codes(2, n_rows, [2, 65]), [2, 65])
    assert without_planes._always_by_planes == 0.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_is_heard_after_a_few_pieces(n_jobs, monkeypatch, small_tiles):
    monkeypatch.setattr(memory, "MOST_WORK", 1.0)
    monkeypatch.setattr(memory, "LEAST_WORK", 1.0)
    n_variables = 400
    begun = []

    def stop(share):
        raise KeyboardInterrupt

    with make_engine(random_codes(3, 20, [2] * n_variables), n_jobs=n_jobs) as engine:
        formula = Information(engine).pairs_above(0.9)

        class Watched:
            def of_tiles(self, some):
                begun.append(len(some.tiles))
                return formula.of_tiles(some)

        with pytest.raises(KeyboardInterrupt):
            engine.search_pairs(Watched(), advance=stop)
    choose = partial(memory.choose_for_pair, engine.n_rows)
    triangle = tiles.cut_triangle(np.arange(n_variables), engine.cardinalities, choose)
    pieces = len(list(triangle.pieces(1.0)))
    assert pieces > 500
    assert len(begun) <= 1 + AHEAD * n_jobs


compare = njit(lambda *arguments: _kernels._compare(*arguments))


@given(st.integers(0, 100), st.integers(1, 4), st.sampled_from([np.uint8, np.uint16]))
def test_planes_are_those_of_the_naive_twin(random_state, n_words, kind):
    [column] = random_codes(random_state, 64 * n_words, [5]).astype(kind)
    for state in range(5):
        plane = np.zeros(n_words, np.uint64)
        compare(column, state, plane)
        assert plane.tolist() == naive.plane(column.tolist(), state)
