"""Numbers whose relations are curved get further columns; others keep one."""

import numpy as np
import pandas as pd
import pytest

import f2sl
from f2sl.data.mixed import basis
from f2sl.data.mixed.basis import KNOTS
from f2sl.data.mixed.engine import MixedEngine
from f2sl.data.stream import StreamTable
from mixed_tools import mixed_table

KINDS = ["continuous", "continuous", "continuous", "discrete"]


def columns_of(rows, curved, random_state=0):
    """Draw a number, one that depends on it by a curve or a line, one that is linear in it, and states."""
    rng = np.random.default_rng(random_state)
    x = rng.normal(size=rows)
    y = (np.abs(x) if curved else x) + 0.3 * rng.normal(size=rows)
    return [x, y, x + rng.normal(size=rows), (y + rng.normal(size=rows) > 0.7).astype(np.int64)]


def embedded(table):
    with MixedEngine(table, 1) as engine:
        return engine.embedded, engine.linear


@pytest.mark.parametrize("rows", [300, 3_000, 30_000])
def test_a_linear_table_keeps_one_column_for_each_variable(rows):
    found, linear = embedded(mixed_table(columns_of(rows, curved=False), KINDS))
    assert found is linear and np.diff(found.start).tolist() == [1, 1, 1, 1]


def test_discrete_variables_that_shift_continuous_ones_do_not_make_these_curved():
    """A state's probability is a curve in the numbers it shifts."""
    rng = np.random.default_rng(1)
    states = rng.integers(0, 3, 5_000)
    columns = [2.0 * states + rng.normal(size=5_000) for _ in range(3)]
    found, linear = embedded(mixed_table([*columns, states], KINDS))
    assert found is linear


def test_few_rows_for_each_column_keep_one():
    """Of four numbers, hats included, come thirteen columns, so 130 rows are enough and 129 are not."""
    for rows, expected in ((129, 1), (130, KNOTS - 1)):
        found, _ = embedded(mixed_table(columns_of(rows, curved=True), KINDS))
        assert np.diff(found.start)[0] == expected


def test_hats_are_lines_between_quantiles():
    columns = columns_of(4_000, curved=True)
    found, linear = embedded(mixed_table(columns, KINDS))
    n_hats = np.diff(found.start) - 1
    assert n_hats[0] == KNOTS - 2 and n_hats[3] == 0
    knots = np.quantile(columns[0], (np.arange(KNOTS) + 0.5) / KNOTS)
    hats = [np.interp(columns[0], knots, np.eye(KNOTS)[i]) for i in range(1, KNOTS - 1)]
    expected = np.corrcoef([columns[0], *hats])
    # Knots are those of a fine histogram.
    assert found.correlations[: KNOTS - 1, : KNOTS - 1] == pytest.approx(expected, abs=0.01)
    values = np.cumsum([0, *n_hats[:2] + 1])
    assert found.correlations[np.ix_(values, values)] == pytest.approx(linear.correlations[:3, :3], abs=1e-8)


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
@pytest.mark.parametrize("rows_per_block", [997, 4_096])
def test_every_engine_and_every_order_gives_the_same_bits(monkeypatch, share_missing, rows_per_block):
    monkeypatch.setattr(basis, "ROWS", 2_000)
    columns = columns_of(5_000, curved=True)
    missing = np.random.default_rng(4).random((4, 5_000)) < share_missing
    table = mixed_table(columns, KINDS, missing=missing)
    one, _ = embedded(table)
    other, _ = embedded(StreamTable.of_table(table, rows_per_block))
    assert one.start[1] == KNOTS - 1
    assert one.start.tolist() == other.start.tolist()
    assert (one.correlations == other.correlations).all()
    order = np.random.default_rng(5).permutation(5_000)
    turned, _ = embedded(mixed_table([column[order] for column in columns], KINDS, missing=missing[:, order]))
    assert (one.correlations == turned.correlations).all()


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_curved_relations_are_found(monkeypatch, share_missing):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(dict(zip("wxyz", columns_of(2_000, curved=True), strict=True)))
    frame["z"] = np.where(frame["z"], "high", "low")
    frame["other"] = rng.normal(size=2_000)
    frame = frame.mask(rng.random(frame.shape) < share_missing)
    graph = f2sl.learn(frame, stability=0).graph_
    assert "x" in graph.neighbors("w") and not graph.neighbors("other")
    monkeypatch.setattr(basis, "CURVED", 2.0)
    assert "x" not in f2sl.learn(frame, stability=0).graph_.neighbors("w")


def test_a_continuous_column_with_few_values_has_fewer_hats():
    table = mixed_table([np.arange(300.0) % 3, np.arange(300) % 2], ["continuous", "discrete"])
    with MixedEngine(table, 1) as engine:
        found = basis.possible_hats(engine.layout.scaling, 300, table.add_up)
    assert found.number.tolist() == [0]  # that of the value in the middle
