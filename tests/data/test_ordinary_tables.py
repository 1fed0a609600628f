"""Integers, identifiers, dates and columns with many labels, as ordinary tables have them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from cluster_tools import running
from f2sl import DataError, OptionError, check, open_table
from f2sl._notes import Use
from marks import compiled_only

engines = pytest.mark.parametrize("engine", ["memory", "stream"])
RNG = np.random.default_rng(5)
X = RNG.normal(size=300).tolist()


def content(table):
    return table.columns, table.notes, [table.column(i).tolist() for i in range(table.n_variables)]


def column(values, beside=X, **options):
    """Read one column beside another; None if it is left out."""
    table = open_table({"own": values, "beside": beside[: len(values)]}, **options)
    return dict(zip(table.names, table.columns, strict=True)).get("own")


class TestIntegers:
    @pytest.mark.parametrize(
        ("n", "kind"), [(2, "discrete"), (7, "discrete"), (8, "continuous"), (30, "continuous")]
    )
    def test_few_values_are_discrete(self, n, kind):
        values = np.arange(300) % n
        assert (
            column(values).kind
            == column(values * 10 + 1990).kind
            == column(values.astype(float)).kind
            == kind
        )
        assert column(values, ["x", "y", "z"] * 100).kind == kind  # labels are no codes

    def test_tables_of_codes_stay_as_they_are(self):
        codes = np.stack([np.arange(400) % 20, np.arange(400) % 3, np.arange(400) % 12], axis=1)
        missing = np.where(codes == 5, 4, codes)  # a state that does not occur
        for data in (codes, codes + 1, missing, pd.DataFrame(codes), codes.astype(float)):
            assert open_table(data).kinds == ("discrete",) * 3
        ages = codes.copy()
        ages[:, 0] += 40
        assert open_table(ages).kinds == ("continuous", "discrete", "continuous")
        assert open_table(codes - 1).kinds == ("continuous", "discrete", "continuous")
        named = open_table(pd.DataFrame(ages).rename(columns=str), kinds={"0": "continuous"})
        assert named.kinds == (
            "continuous",
            "discrete",
            "discrete",
        )  # what is asked for says nothing of the others

    def test_every_column_is_in_the_notes(self):
        data = {"two": [0, 1] * 50, "five": [0, 1, 2, 3, 4] * 20, "age": np.arange(100) % 60, "x": X[:100]}
        by_numbers, by_states = (
            open_table(data, kinds=kinds).notes
            for kinds in (
                {"five": "continuous", "age": "continuous"},
                {"five": "discrete", "age": "discrete"},
            )
        )
        assert by_numbers == ("column 'x': read as continuous",) == by_states
        notes = " ".join(open_table(data).notes)
        assert (
            "'five': integers with up to 7 values, read as discrete; otherwise with kinds={'five': 'con"
            in notes
        )
        assert (
            "'age': integers with more than 7 values, read as continuous; otherwise with kinds={'age': 'dis"
            in notes
        )
        assert "'two'" not in notes

    @given(st.lists(st.integers(-3, 12), min_size=5, max_size=40), st.randoms())
    def test_the_order_of_the_rows_does_not_matter(self, values, random):
        shuffled = random.sample(values, len(values))
        read = [
            open_table({"a": v, "b": ["x", "y"] * 20 + ["x"]} | {"b": ["x"] * len(v)})
            for v in (values, shuffled)
        ]
        assert read[0].columns == read[1].columns and read[0].notes == read[1].notes


class TestIdentifiers:
    COUNTER = np.arange(60)

    @pytest.mark.parametrize(
        "values",
        [
            COUNTER + 1,
            COUNTER[::-1] + 1000,
            RNG.permutation(60),
            COUNTER * 3 - 7,
            RNG.permutation(60) * 2.0,
            [f"p{i}" for i in range(60)],
            pd.date_range("2020-01-01", periods=60),
        ],
    )
    def test_what_differs_in_every_row_is_left_out_unless_it_is_kept(self, values):
        assert column(values) is None
        assert column(values, keep=["own"]) is not None
        assert column(values, kinds={"own": "discrete"}) is not None
        [note] = [note for note in open_table({"own": values, "b": X[:60]}).notes if "own" in note.columns]
        assert note.kind == "identifier" and note.options[0] == Use("keep", ["own"])

    @pytest.mark.parametrize("name", ["population", "area", "price"])
    def test_measurements_that_differ_are_not(self, name):
        spread = np.sort(RNG.choice(10_000_000, 60, replace=False))
        assert open_table({name: spread, "b": X[:60]}).kinds == ("continuous", "continuous")
        assert open_table({name: X[:60], "b": X[60:120]}).kinds == ("continuous", "continuous")

    @pytest.mark.parametrize(
        ("name", "left_out"),
        [
            ("id", True),
            ("userId", True),
            ("caseid", True),
            ("id_household", True),
            ("UID", True),
            ("ID code", True),
            ("paid", False),
            ("idle", False),
            ("fluid", False),
            ("PID", False),
            ("nr.employed", False),
        ],
    )
    def test_by_name(self, name, left_out):
        table = open_table({name: np.arange(300) % 50 * 977, "b": X})
        assert (name not in table.names) == left_out

    @pytest.mark.parametrize(
        ("name", "left_out", "if_long"),
        [
            ("PID", True, True),
            ("primaryKey", True, True),
            ("idx", True, True),
            ("index", True, True),
            ("Parcel No", False, True),
            ("area_code", False, True),
            ("bedsNum", False, True),
            ("body mass index", False, False),
            ("numBeds", False, False),
            ("No. of beds", False, False),
        ],
    )
    def test_by_name_if_all_differ(self, name, left_out, if_long):
        """What counts things has numbers of different length."""
        for low, expected in ((1, left_out), (1_000_000, if_long)):
            spread = low + np.sort(RNG.choice(8_000_000, 300, replace=False))
            spread[0] = low
            assert (name not in open_table({name: spread, "b": X}).names) == expected

    @pytest.mark.parametrize("name", ["accountNumber", "order_no"])
    def test_numbers_of_things_may_repeat(self, name):
        assert open_table({name: np.arange(300) % 50 * 97 + 1000, "b": X}).names == ("b",)
        assert open_table({name: np.arange(300) % 50 * 97, "b": X}).names == (name, "b")

    def test_few_rows_are_left_alone(self):
        assert column(np.arange(20)).kind == "continuous"

    def test_unknown_names_and_contradictions(self):
        data = {"a": [0, 1], "b": [0.5, 1.5]}
        with pytest.raises(OptionError, match="keep: unknown column 'c'"):
            open_table(data, keep=["c"])
        with pytest.raises(OptionError, match=r"keep: column 'a' is left out by drop=\['a'\]"):
            open_table(data, keep=["a"], drop=["a"])
        with pytest.raises(OptionError, match="keep takes a list of names"):
            open_table(data, keep="a")

    def test_a_table_of_nothing_else_says_so(self):
        with pytest.raises(DataError, match=r"no columns.*'row': left out: it counts the rows"):
            open_table({"row": range(30)})


class TestManyLabels:
    def test_beside_continuous_columns_the_frequent_labels_stay(self):
        labels = [f"l{i:02}" for i in range(20) for _ in range(14)] + [f"rare {i}" for i in range(40)]
        beside = RNG.normal(size=320).tolist()
        found = column(labels, beside)
        assert found.states == (*(f"l{i:02}" for i in range(20)), "<other>") and found.is_cut
        assert column(labels, [0, 1] * 160).states == tuple(sorted(set(labels)))
        for how in ({"keep": ["own"]}, {"kinds": {"own": "discrete"}}):
            assert len(column(labels, beside, **how).states) == 60
        assert "the 20 most frequent are states and all others '<other>'" in str(
            check({"own": labels, "b": beside})
        )

    def test_groups_of_few_rows_are_left_out(self):
        assert column([f"g{i % 60}" for i in range(300)]) is None  # five rows each
        # 150 of 15 rows: the 49 that could be states have a third of the rows.
        assert column([f"g{i % 150}" for i in range(2250)], RNG.normal(size=2250).tolist()) is None

    def test_published_networks_have_up_to_100(self):
        labels = [f"s{i % 100}" for i in range(500)]
        assert len(column(labels, [0, 1] * 250).states) == 100
        assert column([f"s{i % 101}" for i in range(500)], [0, 1] * 250) is None

    def test_a_network_puts_new_labels_with_the_others(self, tmp_path):
        labels = [f"l{i % 3}" for i in range(400)] + [f"rare {i}" for i in range(60)]
        data = pd.DataFrame(
            {"own": labels, "x": [len(label) + x for label, x in zip(labels, X * 2, strict=False)]}
        )
        graph = f2sl.learn(data, "pc-stable").graph_.to_dag()
        assert graph.read_as["own"] == ("l0", "l1", "l2", "<other>")
        graph.save(tmp_path / "g.json")
        assert f2sl.load_graph(tmp_path / "g.json").read_as == graph.read_as
        network = f2sl.BayesianNetwork.fit(graph, data)
        assert network.states["own"] == ("l0", "l1", "l2", "<other>")


DAYS = pd.Timestamp("2019-12-20") + pd.to_timedelta(np.arange(300) % 45, unit="D")


class TestDates:
    def test_the_note_on_a_different_date_in_every_row_names_both_options(self):
        days = pd.date_range("2020-01-01", periods=len(X)).strftime("%Y-%m-%d")
        [note, _] = open_table({"when": list(days), "x": X}).notes
        assert note.endswith("keep with keep=['when']; their parts with date_parts=['when']")

    @pytest.mark.parametrize(
        ("written", "form"),
        [
            ("%Y-%m-%d", ""),
            ("%Y/%m/%d", "year-month-day"),
            ("%d/%m/%Y", "day/month/year"),
            ("%m/%d/%Y", "month/day/year"),
            ("%d.%m.%Y", "day/month/year"),
            ("%d/%m/%y", "day/month/short year"),
            ("%d-%b-%y", "day-month name-year"),
            ("%b %d, %Y", "month name day, year"),
            ("%B %d, %Y", "month name day, year"),
            ("%Y-%m-%d %H:%M", ""),
            ("%m/%d/%Y %I:%M %p", "month/day/year"),
        ],
    )
    @engines
    def test_as_days(self, tmp_path, written, form, engine):
        frame = pd.DataFrame({"when": DAYS.strftime(written), "x": X})
        frame.loc[5, "when"] = None
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = open_table(tmp_path / "t.csv", engine=engine)
        expected = (DAYS - pd.Timestamp("1970-01-01")).days.to_numpy(float)
        expected[5] = np.nan
        assert np.array_equal(table.column(0), expected, equal_nan=True)
        [note] = [note for note in table.notes if note.startswith("column 'when'")]
        assert f"dates{' written as ' * bool(form)}" in note and "days since 1970-01-01" in note

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([datetime.date(1970, 1, 3), None, datetime.date(1970, 1, 1)], [2, np.nan, 0]),
            (pd.to_datetime(["1970-01-02 12:00", None, "1970-01-01 00:00"]), [1.5, np.nan, 0]),
            (pd.to_datetime(["1970-01-02", "1970-01-01"]).tz_localize("UTC"), [1, 0]),
            (np.array(["1970-01-02", "1969-12-31"], "M8[D]"), [1, -1]),
            (np.array(["1970-02", "1970-01"], "M8[M]"), [31, 0]),
            (pd.period_range("1970-01", periods=2, freq="M"), [0, 31]),
            (pl.Series([datetime.date(1970, 1, 2), datetime.date(1970, 1, 1)]), [1, 0]),
            (pa.array([3600, 7], pa.time32("s")), [3600, 7]),
            (pd.to_timedelta([1, 2], unit="h"), [3600, 7200]),
            (["1970 Q2", "1970 Q1"], [90, 0]),
            (["1970 Feb", "1970 Jan"], [31, 0]),
            (["1970-02", "1970-01"], [31, 0]),
            (["1970-01-01T12:00:00+02:00", "1970-01-01T00:00:00Z"], [10 / 24, 0]),
        ],
    )
    def test_of_all_libraries(self, values, expected):
        held = pd.Series(values) if isinstance(values, pd.Index) else values
        table = open_table({"when": held, "b": [0, 1, 0][: len(expected)]})
        assert np.array_equal(table.column(0), expected, equal_nan=True)

    @pytest.mark.parametrize("label", ["1.2.3", "13/13/2020", "1.2/2021", "10.1.1.1", "30/2/2020", "soon"])
    def test_other_labels_stay_labels(self, label):
        assert column([label, "1/2/2020"]).states == ("1/2/2020", label)[:: 1 if label > "1/2/2020" else -1]

    def test_day_or_month_first(self):
        for labels, first in (
            (["1/2/2021", "3/2/2021"], "2021-01-02"),
            (["1/2/2021", "31/2/2021"], None),
            (["1/2/2021", "31/3/2021"], "2021-02-01"),
            (["1.2.2021", "3.2.2021"], "2021-02-01"),
        ):
            read = column(labels)
            told = check({"own": labels, "b": X[:2]}).columns[0].values
            assert (read.kind == "continuous") == (first is not None)
            assert first is None or told.startswith(first)

    @given(st.lists(st.dates(datetime.date(1800, 1, 1), datetime.date(2200, 1, 1)), min_size=2, max_size=9))
    def test_iso_dates_are_those_of_python(self, dates):
        days = [(one - datetime.date(1970, 1, 1)).days for one in dates]
        for values in (dates, [one.isoformat() for one in dates]):
            table = open_table({"when": values, "b": X[: len(dates)]}, kinds={"when": "discrete"})
            assert table.states[0] == tuple(sorted({one.isoformat() for one in dates}))
            if len(set(days)) > 1:
                assert open_table({"when": values, "b": X[: len(dates)]}).column(0).tolist() == days

    @engines
    @pytest.mark.parametrize("written", ["%Y-%m-%d", "%d/%m/%Y", "%Y-%m-%d %H:%M:%S"])
    def test_by_their_parts(self, tmp_path, engine, written):
        frame = pd.DataFrame({"x": X, "when": DAYS.strftime(written)})
        frame.loc[3, "when"] = None
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = open_table(tmp_path / "t.csv", engine=engine, date_parts=["when"])
        assert table.names == ("x", "when.year", "when.month", "when.weekday")
        assert table.kinds == ("continuous", "continuous", "discrete", "discrete")
        assert table.states[2:] == (("January", "February", "December"), tuple(WEEK))
        known = np.arange(300) != 3
        assert np.isnan(table.column(1)[3]) and (table.column(1)[known] == DAYS.year[known]).all()
        for i, names in ((2, DAYS.month_name()), (3, DAYS.day_name())):
            states = (*table.states[i], None)
            assert [states[code] for code in table.column(i)] == [
                name if ok else None for name, ok in zip(names, known.tolist(), strict=True)
            ]

    def test_parts_of_what_is_no_date(self):
        for data in ({"a": [1, 2], "b": [0, 1]}, {"a": ["x", "y"], "b": [0, 1]}):
            with pytest.raises(DataError, match="column 'a': not all values are dates"):
                open_table(data, date_parts=["a"])
        with pytest.raises(OptionError, match="date_parts: unknown column 'c'"):
            open_table({"a": [1, 2]}, date_parts=["c"])

    @engines
    def test_cut_and_as_discrete(self, tmp_path, engine):
        pd.DataFrame({"when": DAYS.strftime("%d/%m/%Y"), "iso": DAYS, "x": X}).to_csv(
            tmp_path / "t.csv", index=False
        )
        cut = open_table(tmp_path / "t.csv", engine=engine, bins={"when": 4, "iso": 4})
        assert cut.states[0] == cut.states[1] and len(cut.states[0]) == 4
        states = open_table(tmp_path / "t.csv", engine=engine, kinds={"iso": "discrete", "when": "discrete"})
        assert states.states[1] == tuple(sorted({f"{day:%Y-%m-%d}" for day in DAYS}))
        assert states.states[0] == tuple(sorted({f"{day:%d/%m/%Y}" for day in DAYS}))

    @engines
    def test_files_may_write_them_in_other_types(self, tmp_path, engine):
        times = pd.DataFrame({"when": pd.to_datetime(["2020-01-01 06:00", "2020-01-02 12:00"]), "x": X[:2]})
        days = pa.table({"when": [datetime.date(2020, 1, 1), None], "x": X[:2]})
        times.to_parquet(tmp_path / "1.parquet")
        pa.parquet.write_table(days, tmp_path / "2.parquet")
        table = open_table(tmp_path, engine=engine)
        assert table.column(0)[:3].tolist() == [18262.25, 18263.5, 18262.0]


WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.fixture
def files(tmp_path):
    """Write a table with all of it in two files."""
    n = 300
    frame = pd.DataFrame(
        {
            "row": RNG.permutation(n) * 2,
            "day": DAYS.strftime("%d/%m/%Y"),
            "time": (DAYS + pd.to_timedelta(np.arange(n) % 7, unit="h")).strftime("%Y-%m-%d %H:%M"),
            "age": np.arange(n) % 50,
            "stage": np.arange(n) % 5,
            "town": [f"t{i % 4}" if i % 3 else f"rare {i // 3}" for i in range(n)],
            "x": X,
        }
    )
    frame.loc[200:210, ["day", "time", "town"]] = None
    for i, part in enumerate((frame[:100], frame[100:])):
        part.to_csv(tmp_path / f"{i}.csv", index=False)
    return tmp_path


OPTIONS = [
    {},
    {"missing": "drop", "date_parts": ["time"]},
    {"keep": ["row", "town"], "date_parts": ["day", "time"]},
    {"kinds": {"day": "discrete", "row": "discrete"}, "bins": {"time": 3}},
    {"weights": "stage", "date_parts": ["day"]},
]


class TestEngines:
    @pytest.mark.parametrize("how", OPTIONS)
    def test_blocks(self, files, how):
        expected, found = open_table(files, **how), open_table(files, engine="stream", **how)
        for one, other in zip(content(expected)[:2], content(found)[:2], strict=True):
            assert one == other
        for one, other in zip(content(expected)[2], content(found)[2], strict=True):
            assert np.array_equal(one, other, equal_nan=True)

    @compiled_only
    def test_a_cluster(self, files):
        with running(2) as client:
            for how in OPTIONS:
                expected = open_table(files, **how)
                with open_table(files, engine="dask", scheduler=client, **how) as found:
                    assert (found.columns, found.notes) == (expected.columns, expected.notes)
                    for i in range(expected.n_variables):
                        assert np.array_equal(found.column(i), expected.column(i), equal_nan=True)

    def test_more_times_than_a_digest_keeps(self, files, monkeypatch):
        expected = open_table(files, date_parts=["time"])
        monkeypatch.setattr("f2sl.data.digest.MOST_DISTINCT", 20)
        found = open_table(files, engine="stream", date_parts=["time"], keep=["row"])
        assert found.states[found.names.index("time.month")] == ("January", "February", "December")
        assert [one for one in found.columns if one.name.startswith("time.")] == [
            one for one in expected.columns if one.name.startswith("time.")
        ]
