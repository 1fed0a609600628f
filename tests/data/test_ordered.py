"""Notes on rows that depend on each other, that occur several times, and that are few."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_tools import running
from f2sl import open_table
from f2sl.data import matrix as values
from f2sl.data.dask.runtime import Cluster
from f2sl.data.dask.table import DaskTable
from f2sl.data.notes import remarks
from f2sl.data.stream import StreamTable
from marks import compiled_only

DEPEND = "rows may depend on each other"


def notes(data, **options):
    return remarks(open_table(data, **options))


def walks(rng, n_columns, n_rows):
    return rng.normal(size=(n_columns, n_rows)).cumsum(axis=1)


def columns(matrix):
    return {f"c{i}": row for i, row in enumerate(matrix)}


class TestNeighbors:
    def test_a_time_series(self):
        [told] = notes(columns(walks(np.random.default_rng(0), 3, 100)))
        assert told.startswith(DEPEND)
        assert told.endswith(
            "neighboring rows are alike in 'c0', 'c1', 'c2', as in a time series or in groups"
        )

    @given(st.integers(0, 10_000))
    def test_not_rows_in_any_order(self, random_state):
        rng = np.random.default_rng(random_state)
        series = walks(rng, 3, 100)
        assert notes(columns(series[:, rng.permutation(100)])) == []

    def test_not_few_columns_among_many(self):
        rng = np.random.default_rng(1)
        assert notes(columns([*walks(rng, 2, 100), *rng.normal(size=(3, 100))])) == []

    @pytest.mark.parametrize("nested", [False, True])
    def test_not_a_table_that_is_sorted_by_a_discrete_column(self, nested):
        """Within a species, and a sex of it, rows are in any order."""
        rng = np.random.default_rng(2)
        species, sex = np.repeat([0, 1, 2], 40), np.tile(np.repeat([0, 1], 20), 3)
        data = {f"x{i}": rng.normal(size=120) + 3 * species + 3 * sex * nested for i in range(4)}
        assert notes({"species": species, **data, **({"sex": sex} if nested else {})}) == []

    def test_series_within_states(self):
        rng = np.random.default_rng(3)
        data = columns(np.concatenate([walks(rng, 3, 30) + 100 * i for i in range(4)], axis=1))
        told = notes({"country": np.repeat([*"abcd"], 30), **data})
        assert "'c0', 'c1', 'c2'" in told[-1]

    @pytest.mark.parametrize("options", [{}, {"date_parts": ["day"]}])
    def test_a_time_series_with_dates(self, options):
        """Weekdays come in order, and are not alike: they are no reason against a time series."""
        rng = np.random.default_rng(5)
        days = np.arange(730)
        season = 10 * np.sin(days / 58)
        weather = np.array([np.convolve(rng.normal(size=739), np.ones(10) / 5, "valid") for _ in range(2)])
        dates = np.datetime_as_string(np.datetime64("2021-01-01") + days)
        data = {
            "day": dates.tolist(),
            **columns(season + weather),
            **dict(zip(["rain", "wind"], rng.normal(size=(2, 730)), strict=True)),
        }
        [told] = [note for note in notes(data, **options) if note.startswith(DEPEND)]
        assert "alike in 'c0', 'c1'" in told

    def test_dates_alone(self):
        dates = np.datetime_as_string(np.datetime64("2021-01-01") + np.arange(730)).tolist()
        assert notes({"day": dates}, date_parts=["day"]) is not None

    def test_not_a_table_that_is_sorted_by_a_continuous_column(self):
        rng = np.random.default_rng(4)
        price = np.sort(rng.normal(size=200)) * 4
        assert notes({"price": price, **{f"x{i}": price + rng.normal(size=200) for i in range(4)}}) == []

    @pytest.mark.parametrize("first", [0, 1, 1900])
    def test_a_time_in_equal_steps(self, first):
        """Noise about a trend is a time series if there is a time; what counts from 1 may count any rows."""
        rng = np.random.default_rng(5)
        time = first + np.arange(100)
        columns = {f"x{i}": time / 10 + rng.normal(size=100) for i in range(4)}
        told = notes({"t": time, **columns}, keep=["t"])
        assert (DEPEND in " ".join(told)) == (first == 1900)

    def test_groups_of_states(self):
        rng = np.random.default_rng(6)
        household = np.repeat(rng.integers(0, 4, (3, 50)), 6, axis=1)
        household = np.where(rng.random((3, 300)) < 0.1, rng.integers(0, 4, (3, 300)), household)
        told = notes({f"c{i}": np.array([*"wxyz"])[row] for i, row in enumerate(household)})
        assert DEPEND in " ".join(told)


class TestPanels:
    @given(st.integers(0, 10_000))
    def test_each_pair_occurs_once(self, random_state):
        rng = np.random.default_rng(random_state)
        country, year = np.repeat([f"c{i}" for i in range(20)], 5), np.tile(np.arange(5), 20)
        kept = rng.permutation(100)[:80]
        data = {"x": rng.normal(size=100), "country": country, "year": year, "y": rng.normal(size=100)}
        [told] = notes({name: column[kept] for name, column in data.items()})
        assert told.endswith("each pair of 'country' and 'year' occurs once, as in a panel")
        kept[1] = kept[0]
        assert notes({name: column[kept] for name, column in data.items()}) == []

    def test_not_if_few_pairs_occur(self):
        rng = np.random.default_rng(0)
        pairs = rng.permutation(30 * 30)[:60]
        assert notes({"x": rng.normal(size=60), "a": pairs // 30 + 0.5, "b": pairs % 30 + 0.5}) == []

    def test_groups_in_which_columns_never_vary(self):
        rng = np.random.default_rng(1)
        school = rng.integers(0, 20, 300)
        size, income = rng.normal(size=(2, 20))[:, school]
        data = {"score": rng.normal(size=300), "school": [f"s{i}" for i in school]}
        told = notes({**data, "size": size, "income": income})
        assert told[-1].endswith("several rows for each 'school', in which 2 columns never vary")
        assert DEPEND not in " ".join(notes({**data, "size": size}))

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_groups_of_an_identifier_that_is_left_out(self, tmp_path, engine):
        """The columns that never vary in a group are not said to be determined by each other."""
        rng = np.random.default_rng(5)
        patient = rng.permutation(np.repeat(np.arange(60), 10))
        age, height = rng.normal(size=(2, 60))[:, patient]
        data = {"id": patient * 7919 + 100, "x": rng.normal(size=600), "age": age, "height": height}
        data["sex"] = rng.integers(0, 2, 60)[patient]
        frame = pd.DataFrame(data)
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = open_table(tmp_path / "t.csv", engine=engine)
        assert table.names == ("x", "age", "height", "sex") and remarks(table) == []
        assert table.notes[-1].startswith(DEPEND)
        assert table.notes[-1].endswith(": several rows for each 'id'")
        assert remarks(open_table(frame, keep=["id"]))[-1].startswith(DEPEND)
        frame["id"] = np.arange(600)
        assert DEPEND not in " ".join(open_table(frame).notes)

    def test_groups_of_rare_labels_but_not_of_names_that_people_share(self):
        rng = np.random.default_rng(6)
        country, x = np.repeat([f"land {i}" for i in range(100)], 7), rng.normal(size=700)
        told = " ".join(open_table({"country": country, "x": x}).notes)
        assert told.endswith("several rows for each 'country'")
        names = np.array([f"name {i}" for i in range(250)])[np.minimum(rng.geometric(0.01, 700), 250) - 1]
        table = open_table({"name": names, "x": x})
        assert table.names == ("x",) and DEPEND not in " ".join(table.notes)

    def test_not_continuous_columns_that_were_cut(self):
        rng = np.random.default_rng(2)
        age = rng.integers(20, 60, 300)
        told = notes(
            {"age": age, "old": age > 40, "even": age % 2, "group": age // 10, "x": rng.normal(size=300)}
        )
        assert DEPEND not in " ".join(told)


class TestRepeatedRows:
    @pytest.mark.parametrize("times", [2, 3])
    def test_they_are_counted(self, times):
        rng = np.random.default_rng(0)
        data = {"x": rng.normal(size=80), "s": rng.integers(0, 2, 80)}
        shuffled = rng.permutation(80 * times)
        [told] = notes({name: np.tile(column, times)[shuffled] for name, column in data.items()})
        assert told.startswith(f"every row occurs {times} times or a multiple of it")

    def test_one_row_less(self):
        data = {"x": np.random.default_rng(0).normal(size=80), "s": np.arange(80) % 3}
        assert notes({name: np.tile(column, 2)[1:] for name, column in data.items()}) == []

    def test_zero_has_no_sign(self):
        x = np.random.default_rng(0).normal(size=80)
        x[:5] = 0.0
        assert (
            "every row occurs 2 times"
            in notes({"x": np.concatenate([x, x * np.where(x == 0, -1, 1)]), "y": np.tile(x > 1, 2)})[0]
        )

    def test_not_a_table_of_few_different_rows(self):
        assert notes({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "c": [0, 1, 1, 0] * 20}) == []


@pytest.mark.parametrize("varying", [0, 1])
def test_tables_with_nothing_to_compare(varying):
    data = {"a": ["x"] * 30, "b": ["y"] * 30, "c": np.arange(30) / 4}
    told = notes(dict(list(data.items())[: 2 + varying]))
    assert told == ["only one state, so no edges: columns 'a', 'b'"]


@pytest.mark.parametrize(("n_rows", "told"), [(24, True), (25, False)])
def test_few_rows_for_each_column(n_rows, told):
    data = columns(np.random.default_rng(1).normal(size=(5, n_rows)))
    few = f"only {n_rows} rows for 5 columns: many edges and most directions are unreliable"
    assert notes(data) == [few] * told


def table_with_all():
    """A panel with copies, states of states, intervals, sums, gaps and repeated rows."""
    rng = np.random.default_rng(0)
    country, year = np.repeat(np.arange(40), 6), np.tile(np.arange(6), 40)
    a, b = np.concatenate([walks(rng, 2, 6) + i for i in range(40)], axis=1)
    data = {"country": [f"c{i}" for i in country], "year": year, "a": a, "b": b, "sum": a + b, "cube": a**3}
    data |= {"part": [f"p{i % 4}" for i in country], "third": np.array([*"xyz"])[np.digitize(b, [10, 20])]}
    data["missing"] = np.where(rng.random(240) < 0.05, np.nan, 2 * b)
    return open_table(data)


@compiled_only
@pytest.mark.parametrize("sampled", [False, True])
def test_notes_are_the_same_wherever_the_rows_are(monkeypatch, sampled):
    if sampled:
        monkeypatch.setattr(values, "MOST_CELLS", 1 << 10)
        monkeypatch.setattr(values, "FEW_CELLS", 1 << 9)
        monkeypatch.setattr(values, "FEWEST_SAMPLED", 1 << 6)
    table = table_with_all()
    expected = remarks(table)
    told = " ".join(expected)
    for text in (
        "'missing'",
        "'cube'",
        "'part' by 'country'",
        "'third' by 'b'",
        "'sum' = 'a' + 'b'",
        "as in a panel",
    ):
        assert text in told
    assert remarks(StreamTable.of_table(table, rows_per_block=37)) == expected
    with running(2) as client:
        cluster = Cluster.connect(client, 1, 1 << 28)
        assert remarks(DaskTable.of_table(table, cluster, 1 << 28, n_blocks=3)) == expected
