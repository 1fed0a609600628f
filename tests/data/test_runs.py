"""Tables that share all variables but one: the same tables, and the same scores, as one by one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl import AIC, BIC, K2, BDeu
from f2sl.data.engines import Queries
from f2sl.data.memory import engine as memory
from f2sl.data.memory.runs import find_runs
from f2sl.stats.measures.information import LogTable
from f2sl.stats.scores.tables import FamilyFormula
from tables import make_engine

pytestmark = pytest.mark.kernels


def skewed_codes(random_state, n_rows, cardinalities):
    """Draw variables that are mostly in one state, any of theirs, and mostly leave it together."""
    rng = np.random.default_rng(random_state)
    often = rng.random(n_rows) < 0.8
    usual = [rng.integers(k) for k in cardinalities]
    noisy = [rng.random(n_rows) < 0.05 for _ in cardinalities]
    drawn = [rng.integers(0, k, n_rows) for k in cardinalities]
    return np.stack([np.where(often ^ odd, u, d) for u, d, odd in zip(usual, drawn, noisy, strict=True)])


def groups_of(tables, t):
    first = tables.first_group[t]
    edges = tables.group_start[first : first + tables.n_groups[t] + 1].tolist()
    return sorted(tables.counts[a:b].tolist() for a, b in pairwise(edges))


def naive_groups(codes, query):
    groups = {}
    for (*leading, _), n in sorted(naive.contingency(codes, query).items()):
        groups.setdefault(tuple(leading), []).append(n)
    return sorted(groups.values())


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 63, 64, 65, 130]))
def test_tables_of_runs_are_those_of_a_dictionary(random_state, n_rows):
    cardinalities = [2, 3, 1, 5, 2, 4]
    codes = skewed_codes(random_state, n_rows, cardinalities)
    # Runs of three and of two, tables alone, other lengths, and a variable with one state.
    queries = [(0, 1, 3), (4, 1, 3), (5, 1, 3), (5, 0, 1, 3), (2, 0, 1, 3), (3, 1), (0, 4), (1, 2, 3, 4, 5)]
    tables = make_engine(codes, cardinalities)._count_runs(Queries.of(queries))
    assert [groups_of(tables, t) for t in range(len(queries))] == [naive_groups(codes, q) for q in queries]
    n_cells = [sum(map(len, groups_of(tables, t))) for t in range(len(queries))]
    assert np.diff(tables.cell_start).tolist() == n_cells
    assert not tables.full.any()
    assert tables.totals.tolist() == [n_rows] * len(queries)


def test_a_run_leaves_out_the_variable_with_the_fewest_samples_outside_its_common_state():
    queries = Queries.of([(0, 1, 5), (3, 4, 5), (0, 2, 5), (0, 1, 4), (6,), (0, 3, 5)])
    uncommon = np.array([900, 10, 10, 10, 10, 10, 10])
    positions, runs = find_runs(queries, np.full(7, 2), uncommon, 1000, np.full(6, 3000.0))
    # (3, 4, 5) and (0, 1, 4) share nothing with others: alone they cost more than 3,000 ns.
    assert sorted(positions.tolist()) == [0, 2, 5]
    assert runs.start.tolist() == [0, 3, 6, 9]
    assert sorted(runs.variables.reshape(3, 3).tolist()) == [[1, 0, 5], [2, 0, 5], [3, 0, 5]]
    assert [queries.variables[queries.start[p] + 1] for p in positions] == runs.variables[::3].tolist()


def test_no_runs_where_tables_are_cheap_or_the_variable_has_no_planes():
    queries, states = Queries.of([(0, 2, 3), (1, 2, 3)]), np.full(4, 2)
    for uncommon, costs in (([10, 10, 10, 10], 100.0), ([3000, 3000, 3000, 10], 1e6), ([10] * 4, 1e6)):
        positions, runs = find_runs(queries, states, np.array(uncommon), 1000, np.full(2, costs))
        expected = 2 if uncommon[0] == 10 and costs > 1000 else 0
        assert len(positions) == len(runs) == expected


@pytest.mark.parametrize("score", [BDeu(7.0), K2(), BIC(), AIC()])
def test_scores_in_runs_are_the_same_to_the_last_bit(score, monkeypatch):
    cardinalities = [4, 6, 5, 3, 7, 4, 5, 6]
    codes = skewed_codes(3, 700, cardinalities)
    families = [(a, b, c, 7) for a in range(7) for b in range(a) for c in range(b)]
    families += [(a, b, 2) for a in range(3, 8) for b in range(3, a)] + [(0,), (1, 3)]
    queries = Queries.of([[*sorted(parents), child] for *parents, child in families])
    engine = make_engine(codes, cardinalities)
    monkeypatch.setattr(memory, "LEAST_WORK", 0.0)
    counted = []
    by_runs = engine._count_runs
    monkeypatch.setattr(engine, "_count_runs", lambda part: counted.append(len(part)) or by_runs(part))
    formula = FamilyFormula(score, LogTable(700))
    found = engine.evaluate(queries, formula)
    assert sum(counted) > 10
    assert (
        found.tolist()
        == engine._evaluate(queries, queries.table_sizes(engine.cardinalities), formula, 1).tolist()
    )
    name = type(score).__name__.lower()
    options = [7.0] if name == "bdeu" else []
    expected = [naive.SCORES[name](codes, cardinalities, f[-1], f[:-1], *options) for f in families]
    assert found[:, 0] == pytest.approx(expected, rel=1e-9)


def test_only_scores_that_do_not_depend_on_the_order_are_counted_in_runs(monkeypatch):
    monkeypatch.setattr(memory, "LEAST_WORK", 0.0)

    class Own(BIC):
        in_any_order = False

    cardinalities = [6] * 8
    engine = make_engine(skewed_codes(3, 700, cardinalities), cardinalities)
    engine._count_runs = lambda part: 1 / 0
    queries = Queries.of([(a, b, c, 7) for c in range(7) for b in range(c) for a in range(b)])
    engine.evaluate(queries, FamilyFormula(Own(), LogTable(700)))
    with pytest.raises(ZeroDivisionError):
        engine.evaluate(queries, FamilyFormula(BIC(), LogTable(700)))
