"""Correlations of mixed tables with missing values: maximum likelihood by EM."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive_em
from f2sl._deadline import TimeUp
from f2sl.data.mixed import expected as em
from f2sl.data.mixed.engine import MixedEngine
from f2sl.data.mixed.expected import DIGITS, WIDE, _fill_in, of_rows
from f2sl.data.moments import Moments
from f2sl.data.stream import StreamTable
from f2sl.learners.resample import gathered
from marks import few_examples
from mixed_tools import drawn_missing, mixed_columns, mixed_table

pytestmark = pytest.mark.kernels


def embedded(table):
    with MixedEngine(table, 1) as engine:
        return engine.embedded


def of_numbers(columns, missing):
    with Moments.of_table(mixed_table(columns, ["continuous"] * len(columns), missing=missing)) as moments:
        return moments.embedded.correlations


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_as_by_the_textbook(random_state):
    rng = np.random.default_rng(random_state)
    n = 300
    mix = rng.normal(size=(4, 4))
    numbers = mix @ rng.normal(size=(4, n))
    states = (numbers[0] + rng.normal(size=n) > 0).astype(np.int64)
    missing = rng.random((5, n)) < 0.15
    missing[1] = False
    table = mixed_table([*numbers, states], ["continuous"] * 4 + ["discrete"], missing=missing)
    found = embedded(table).correlations
    # The indicator is that of the first state.
    _, expected = naive_em.maximum_likelihood(np.vstack([numbers, states == 0]), missing, 200)
    # Steps end when a step changes little, and the maximum is drawn towards independence by (5 / 300)^2.
    assert found == pytest.approx(naive_em.correlations(expected), abs=0.015)


def test_the_closed_form_of_a_monotone_pattern():
    """With y missing for some x, the maximum regresses y on x and takes the variance of all x."""
    rng = np.random.default_rng(3)
    n = 2000
    x = rng.normal(size=n)
    y = 0.8 * x + rng.normal(size=n)
    lacks = x > 0.5
    columns, none = [x, y, (rng.random(n) < 0.5).astype(np.int64)], np.zeros(n, np.bool_)
    table = mixed_table(
        columns, ["continuous", "continuous", "discrete"], missing=np.array([none, lacks, none])
    )
    slope = np.cov(x[~lacks], y[~lacks], ddof=0)[0, 1] / x[~lacks].var()
    left = (y[~lacks] - slope * x[~lacks]).var()
    expected = slope * x.std() / np.sqrt(slope**2 * x.var() + left)
    assert abs(expected - np.corrcoef(x[~lacks], y[~lacks])[0, 1]) > 0.05
    found = embedded(table)
    assert found.correlations[0, 1] == pytest.approx(expected, abs=2e-3)
    assert found.together.tolist() == [
        [n, n - lacks.sum(), n],
        [n - lacks.sum()] * 3,
        [n, n - lacks.sum(), n],
    ]


@pytest.mark.parametrize("wide", [False, True])
def test_filling_in_rows(wide):
    rng = np.random.default_rng(1)
    n, per_variable = 12, 12 if wide else 1
    owner = np.repeat(np.arange(n), per_variable)
    c = len(owner)
    mix = rng.normal(size=(c, c))
    covariance, mean = mix @ mix.T + np.eye(c), rng.normal(size=c)
    values = mean + rng.normal(size=(40, c)) @ mix.T
    missing = rng.random((40, n)) < 0.6
    missing[:, 0], missing[7], missing[8] = False, missing[6], False
    assert ((missing.sum(axis=1) * per_variable > WIDE).any()) == wide
    coarse, left_open = values * 2.0**20, np.zeros((c, c), np.int64)
    _fill_in(missing, values, owner, mean, np.linalg.inv(covariance), 2.0**40, 2.0**20, coarse, left_open)
    rows, expected = zip(
        *(
            naive_em.filled(row, lacks[owner], mean, covariance)
            for row, lacks in zip(values, missing, strict=True)
        ),
        strict=True,
    )
    assert coarse / 2.0**20 == pytest.approx(np.array(rows), abs=1e-5)
    assert left_open / 2.0**40 == pytest.approx(np.sum(expected, axis=0), rel=1e-6, abs=1e-6)
    assert (coarse[8] == values[8] * 2.0**20).all()


def sparse_column(share, rows=10_000):
    """Return columns x and y = x + noise, which of their values are missing, and their fitted correlation."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    y = x + 0.5 * rng.normal(size=rows)
    missing = np.vstack([np.zeros(rows, np.bool_), rng.random(rows) < share])
    there = ~missing[1]
    slope = np.cov(x[there], y[there], ddof=0)[0, 1] / x[there].var()
    left = (y[there] - slope * x[there]).var()
    return np.vstack([x, y]), missing, slope * x.std() / np.sqrt(slope**2 * x.var() + left)


@pytest.mark.parametrize("work", [em.WORK, 0.0])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.98])
def test_a_sparse_column_is_as_related_as_its_rows_say(monkeypatch, share, work):
    """Up to what the correlations to begin with shrink: by 6 % with 200 rows."""
    monkeypatch.setattr(em, "WORK", work)
    columns, missing, expected = sparse_column(share)
    found = of_numbers(columns, missing)[0, 1]
    assert found == pytest.approx(expected, abs=0.07)
    there = ~missing[1]
    assert found == pytest.approx(np.corrcoef(columns[:, there])[0, 1], abs=0.07)


def test_a_table_with_little_work_takes_two_steps_from_pairs(monkeypatch):
    monkeypatch.setattr(em, "WORK", 0.0)
    columns, _ = numbers_with_missing(6, 1000)
    missing = np.random.default_rng(2).random(columns.shape) < 0.6
    found = of_numbers(columns, missing)
    _, covariance = naive_em.steps_from(*naive_em.of_pairs(columns, missing), columns, missing, 2)
    assert found == pytest.approx(naive_em.correlations(covariance), abs=1e-3)


def test_pairs_that_no_row_has_together_begin_unrelated():
    """And are as related as the others make them: not at all, if these say nothing."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 1000))
    first = np.arange(1000) < 500
    assert of_numbers([x, x + y], np.vstack([first, ~first]))[0, 1] == 0.0


def test_a_leap_goes_to_the_limit_of_steps_that_shrink_alike():
    mean, covariance = np.array([1.0, -2.0]), np.array([[2.0, 0.9], [0.9, 1.0]])
    off = np.array([0.5, 0.1]), np.array([[0.2, -0.3], [-0.3, 0.1]])
    path = [(mean + 0.9**k * off[0], covariance + 0.9**k * off[1]) for k in range(3)]
    found = em._leap(path, 1e-7)
    assert found[0] == pytest.approx(mean, abs=1e-9)
    assert found[1] == pytest.approx(covariance, abs=1e-9)


def test_a_leap_stays_among_distributions():
    """The steps lead to a correlation of 1.5."""
    path = [(np.zeros(2), np.array([[1.0, r], [r, 1.0]])) for r in 1.5 - 0.9 ** np.arange(3)]
    _, covariance = em._leap(path, 1e-7)
    assert path[2][1][0, 1] < covariance[0, 1] < 1.0


def test_steps_that_grow_are_not_followed_by_a_leap():
    path = [(np.zeros(2), np.array([[1.0, r], [r, 1.0]])) for r in (0.0, 0.1, 0.3)]
    assert em._leap(path, 1e-7) is path[2]


@few_examples
@given(st.integers(0, 2**32 - 1), st.integers(20, 90), st.sampled_from([0.2, 0.7]))
def test_blocks_give_the_same_bits(random_state, rows_per_block, share):
    columns = mixed_columns(random_state, 160)
    table = mixed_table(columns, missing=drawn_missing(random_state, columns, share))
    one, other = embedded(table), embedded(StreamTable.of_table(table, rows_per_block))
    assert one.correlations.tolist() == other.correlations.tolist()
    assert one.together.tolist() == other.together.tolist()


def numbers_with_missing(random_state, rows=400):
    """Return four related continuous columns, and which of their values are missing."""
    rng = np.random.default_rng(random_state)
    columns = rng.normal(size=(4, 4)) @ rng.normal(size=(4, rows))
    return columns, rng.random((4, rows)) < np.array([0.2, 0.0, 0.3, 0.1])[:, None]


def test_continuous_tables_have_the_same_correlations_in_any_blocks():
    columns, missing = numbers_with_missing(2)
    table = mixed_table(columns, ["continuous"] * 4, missing=missing)
    with Moments.of_table(table) as one, Moments.of_table(StreamTable.of_table(table, 53)) as other:
        found, blocks = one.embedded, other.embedded
    _, expected = naive_em.maximum_likelihood(columns, missing, 200)
    assert found.correlations == pytest.approx(naive_em.correlations(expected), abs=0.015)
    assert found.correlations.tolist() == blocks.correlations.tolist()
    assert found.together.tolist() == ((~missing).astype(int) @ (~missing).T.astype(int)).tolist()


def test_drawn_rows_of_a_complete_table_have_their_own_correlations():
    columns = mixed_columns(7, 300, kinds := ("continuous", "discrete", "continuous"))
    table = mixed_table(columns, kinds)
    rows = np.sort(np.random.default_rng(1).integers(300, size=300))
    with MixedEngine(table) as engine:
        found = of_rows(engine.layout, gathered(table, rows), engine.embedded, 2)
    indicators = [columns[1] == state for state in range(columns[1].max())]
    expected = np.corrcoef(np.vstack([columns[0], *indicators, columns[2]])[:, rows])
    assert found == pytest.approx(expected, abs=1e-8)


def test_drawn_rows_with_missing_values_take_steps_from_all_rows():
    columns, missing = numbers_with_missing(3)
    table = mixed_table(columns, ["continuous"] * 4, missing=missing)
    rows = np.sort(np.random.default_rng(1).integers(400, size=400))
    with Moments.of_table(table) as moments:
        of_all, layout = moments.embedded, moments.layout
    found = of_rows(layout, gathered(table, rows), of_all, 2)
    begin = naive_em.maximum_likelihood(columns, missing, 200)
    _, covariance = naive_em.steps_from(*begin, columns[:, rows], missing[:, rows], 2)
    assert found == pytest.approx(naive_em.correlations(covariance), abs=0.015)
    assert np.abs(found - of_all.correlations).max() > 0.03


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_columns_that_do_not_vary_among_drawn_rows_are_not_correlated(share):
    columns = mixed_columns(5, 200)
    table = mixed_table(columns, missing=drawn_missing(5, columns, share))
    with MixedEngine(table) as engine:
        found = of_rows(engine.layout, gathered(table, np.full(200, 17)), engine.embedded, 2)
    assert np.isfinite(found).all()
    assert (np.diag(found) == 1.0).all()
    if share == 0.0:
        assert found.tolist() == np.eye(len(found)).tolist()


def test_columns_without_missing_values_keep_their_correlations():
    columns = mixed_columns(4, 400)
    missing = drawn_missing(4, columns, 0.3)
    missing[[0, 1, 3]] = False
    found, complete = (embedded(mixed_table(columns, missing=own)) for own in (missing, missing & False))
    same = np.isin(np.repeat(np.arange(5), np.diff(complete.start)), [0, 1, 3])
    both = np.ix_(same, same)
    assert found.correlations[both] == pytest.approx(complete.correlations[both], abs=10.0**-DIGITS)


def test_values_that_are_missing_for_a_reason_do_not_mislead():
    """Rows lack y and z if x is large, which connects both on the rows that are left, and x explains it."""
    rng = np.random.default_rng(5)
    n = 4000
    group = rng.integers(0, 2, n)
    x = group + rng.normal(size=n)
    y, z = x + rng.normal(size=n), x + rng.normal(size=n)
    y[(x > 1) & (rng.random(n) < 0.8)] = np.nan
    z[(x > 1) & (rng.random(n) < 0.8)] = np.nan
    frame = {"group": np.array(["a", "b"])[group], "x": x, "y": y, "z": z}
    graph = f2sl.learn(frame, stability=0).graph_
    assert sorted(map(sorted, graph.skeleton().undirected_edges)) == [["group", "x"], ["x", "y"], ["x", "z"]]


@pytest.mark.parametrize("with_states", [False, True])
def test_a_note_says_that_the_steps_ran_out(monkeypatch, with_states):
    rng = np.random.default_rng(6)
    columns = rng.normal(size=(4, 4)) @ rng.normal(size=(4, 500))
    frame = {f"c{i}": np.where(rng.random(500) < 0.5, np.nan, column) for i, column in enumerate(columns)}
    if with_states:
        frame["discrete"] = np.where(columns[0] > 0, "high", "low")
    told = "missing values: correlations still changed by "
    assert not any(note.startswith(told) for note in f2sl.learn(frame, stability=0).notes_)
    monkeypatch.setattr(em, "WORK", 0.0)
    assert any(note.startswith(told) for note in f2sl.learn(frame, stability=0).notes_)


@pytest.mark.parametrize("isolated", [1, 2])
def test_a_variable_that_may_have_no_edges_does_not_matter_to_the_others(isolated):
    columns = mixed_columns(7, 300)
    missing = drawn_missing(7, columns, 0.3)
    others = np.arange(5) != isolated
    kinds = np.array(mixed_table(columns).kinds)
    without = mixed_table(
        [columns[v] for v in np.flatnonzero(others)], kinds[others], missing=missing[others]
    )
    with MixedEngine(mixed_table(columns, missing=missing), 1) as engine:
        engine.isolated = ~others
        found = engine.embedded
    used = others[np.repeat(np.arange(5), np.diff(found.start))]
    expected = embedded(without).correlations
    assert found.correlations[np.ix_(used, used)] == pytest.approx(expected, abs=10.0**-DIGITS)
    assert not found.correlations[np.ix_(used, ~used)].any()


@pytest.mark.parametrize("with_states", [False, True])
def test_a_column_without_allowed_edges_changes_nothing(with_states):
    columns, missing = numbers_with_missing(3)
    frame = {f"c{i}": np.where(missing[i], np.nan, column) for i, column in enumerate(columns)}
    if with_states:
        frame["discrete"] = np.where(columns[0] > 0, "high", "low")
    knowledge = f2sl.Knowledge(
        forbidden=[("apart", name) for name in frame] + [(name, "apart") for name in frame]
    )
    noise = np.random.default_rng(4).normal(size=400)
    found = []
    for apart in (noise, np.where(missing[1], np.nan, columns.sum(axis=0) + 0.01 * noise)):
        model = f2sl.learn({**frame, "apart": apart}, knowledge=knowledge, transform="none", stability=0)
        found.append((model.graph_.directed_edges, model.graph_.undirected_edges))
        assert not model.graph_.neighbors("apart")
    assert found[0] == found[1]


@pytest.mark.parametrize("steps", [0, 1])
def test_at_the_time_limit_the_steps_made_so_far_serve(monkeypatch, steps):
    columns, missing = numbers_with_missing(6, 1000)
    step, left = em._step, iter(range(steps))

    def until_time_is_up(*of_step):
        if next(left, None) is None:
            raise TimeUp
        return step(*of_step)

    monkeypatch.setattr(em, "_step", until_time_is_up)
    found = of_numbers(columns, missing)
    _, covariance = naive_em.steps_from(*naive_em.of_pairs(columns, missing), columns, missing, steps)
    assert found == pytest.approx(naive_em.correlations(covariance), abs=1e-3)
