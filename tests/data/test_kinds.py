"""Continuous columns, and of both kinds: what is taken for one, whatever it comes from, and refused."""

from __future__ import annotations

import decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import f2sl
from f2sl import check, open_table
from f2sl.data.check import check_learnable
from f2sl.data.engines import open_engine
from f2sl.data.open import open_for
from f2sl.data.stream import StreamTable
from tables import table_of_numbers

FRAME = pd.DataFrame({"b": [0.5, -1.25, 3.0], "a": [7, 5, 7]})
NUMBERS = pd.DataFrame({"b": [0.5, -1.25, 3.0], "a": [7.5, 5, 7]})
as_numbers = partial(open_table, kinds="continuous")


def refused(call, *words):
    with pytest.raises(f2sl.F2SLError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


class TestReading:
    @pytest.mark.parametrize(
        "data",
        [
            FRAME,
            pl.from_pandas(FRAME),
            pa.Table.from_pandas(FRAME),
            {"b": [0.5, -1.25, 3.0], "a": [7, 5, 7]},
            {"b": np.array([0.5, -1.25, 3.0], np.float32), "a": pl.Series([7, 5, 7])},
            {"b": [decimal.Decimal(x) for x in ("0.5", "-1.25", "3")], "a": pa.array([7, 5, 7])},
        ],
        ids=["pandas", "polars", "arrow", "lists", "mixture", "decimals"],
    )
    def test_whatever_it_comes_in(self, data):
        table = as_numbers(data)
        assert table.names == ("b", "a")
        assert table.numbers.tolist() == [[0.5, -1.25, 3.0], [7.0, 5.0, 7.0]]
        assert open_table(data).kinds == ("continuous", "discrete")

    def test_arrays_and_files(self, tmp_path):
        array = FRAME.to_numpy()
        assert as_numbers(array, names=["b", "a"]).numbers.tolist() == array.T.tolist()
        assert as_numbers(array).names == ("x0", "x1")
        FRAME.to_csv(tmp_path / "t.csv", index=False)
        assert as_numbers(tmp_path / "t.csv").numbers.tolist() == array.T.tolist()

    def test_name_order(self):
        table = as_numbers(FRAME).in_name_order()
        assert table.names == ("a", "b")
        assert table.numbers.tolist() == [[7, 5, 7], [0.5, -1.25, 3.0]]
        assert table.in_name_order() is table

    def test_a_table_is_itself(self):
        table = as_numbers(FRAME)
        assert open_table(table) is table
        refused(lambda: open_table(table, names=["x", "y"]), "names: these options cannot change a table")

    def test_missing_values(self):
        is_missing = FRAME.assign(b=[0.5, np.nan, 3.0])
        refused(lambda: as_numbers(is_missing, missing="error"), "'b' (1 of 3 rows)", 'missing="drop"')
        table = as_numbers(is_missing.assign(a=[7, 5, 9]), missing="drop")
        assert table.numbers.tolist() == [[0.5, 3.0], [7.0, 9.0]]
        assert table.notes == ("dropped 1 of 3 rows with missing values",)
        refused(lambda: as_numbers(is_missing, missing="state"), "state", "drop")
        refused(lambda: as_numbers(is_missing, missing="omit"), "'omit'", "available, state, drop, error")
        refused(lambda: as_numbers(is_missing[1:], missing="drop"), "would drop 1 of 2 rows", "only one row")

    def test_whole_floats_with_gaps_are_numbers_too(self):
        table = as_numbers({"a": [1.0, np.nan, 3.0], "b": [0.5, 0.6, 0.7]}, missing="drop")
        assert table.numbers.tolist() == [[1.0, 3.0], [0.5, 0.7]]


class TestRefusals:
    @pytest.mark.parametrize(
        ("column", "words"),
        [
            (["x", "y", "z"], ["labels cannot be read as numbers", "drop=['bad']"]),
            ([True, False, True], ["labels cannot be read as numbers"]),
            ([1.0, np.inf, 2.0], ["infinite"]),
            ([1.0, -np.inf, np.nan], ["infinite"]),
            ([4.0, 4.0, 4.0], ["(4)", "same number in every row"]),
            ([3, 3, 3], ["same number in every row"]),
            ([1e300, -1e300, 0.0], ["too far apart"]),
            ([1.7e308, -1.7e308, 0.0], ["too far apart"]),
            ([1e-300, 2e-300, 0.0], ["too close together"]),
            (pd.to_datetime(["2020-01-01"] * 3), ["same number in every row"]),
        ],
    )
    def test_columns_by_name(self, column, words):
        refused(lambda: as_numbers({"fine": [0.1, 0.2, 0.4], "bad": column}), "'bad'", *words)

    def test_all_at_once(self):
        data = {"a": [np.inf, 0.0], "b": ["x", "y"], "c": [1.0, 1.0], "d": [0.1, 0.2]}
        refused(lambda: as_numbers(data), "'a'", "'b'", "'c'")

    def test_sizes(self):
        refused(lambda: as_numbers(np.zeros((1, 3))), "1 sample", "minimum of 2")
        refused(lambda: as_numbers(np.zeros((0, 3))), "no rows")
        one = as_numbers(np.array([[0.1], [0.2]]))
        refused(lambda: check_learnable(one, ("continuous",), "tc"), "one column only")

    def test_kinds_that_a_learner_does_not_take(self):
        states, numbers = open_table({"a": [0, 1], "b": [0, 1]}), open_table(NUMBERS)
        refused(
            lambda: check_learnable(states, ("continuous",), "tc"), "'a', 'b' are discrete, but tc learns"
        )
        refused(lambda: check_learnable(numbers, ("discrete",), "sll"), "'b', 'a' are continuous, but sll")

    def test_kinds_by_name_go_before_what_a_learner_takes(self):
        data = {"a": [0, 1, 1], "b": [0.5, 1.5, 0.1], "c": [0.2, 0.5, 3.5]}
        refused(lambda: f2sl.learn(data, "tc", kinds={"a": "discrete"}), "column 'a' is discrete, but TC")

    def test_a_table_made_by_hand(self):
        refused(lambda: table_of_numbers(("a",), np.array([[np.nan, 1.0]])), "'a'", "not finite")
        refused(lambda: table_of_numbers(("a", "a"), np.zeros((2, 2))), "differ")


class TestKinds:
    @pytest.mark.parametrize(
        ("data", "kinds"),
        [
            ({"a": [0.5, 1.5], "b": [1, 2]}, ("continuous", "discrete")),
            ({"a": [5.0, 2.0], "b": [1, 2]}, ("discrete", "discrete")),
            ({"a": [0.5, 0.5], "b": [True, False]}, ("discrete",)),
            (np.arange(26).reshape(13, 2), ("continuous", "continuous")),
            (np.arange(16).reshape(8, 2), ("continuous", "continuous")),
            (np.arange(14).reshape(7, 2), ("discrete", "discrete")),
            ({"a": [1, 2], "b": ["x", "y"]}, ("discrete", "discrete")),
            ([[0.5, 1], [0.7, 2]], ("continuous", "discrete")),
            (np.array([[0, 1], [1, 1]]), ("discrete", "discrete")),
            (pd.DataFrame({"a": pd.Categorical([0.5, 0.7]), "b": [1, 2]}), ("discrete", "discrete")),
            ({"a": [0.5, 1.5], "b": ["x", "y"], "c": [1, 2]}, ("continuous", "discrete", "discrete")),
            ({"a": [1.0, 2.0], "b": ["x", "y"]}, ("discrete", "discrete")),
        ],
    )
    def test_by_columns(self, data, kinds):
        assert open_table(data).kinds == kinds

    def test_whole_floats_with_gaps_are_states(self):
        assert open_table({"a": [1.0, np.nan], "b": [1, 2]}, missing="state").kinds == (
            "discrete",
            "discrete",
        )

    def test_some_by_name(self):
        data = {"a": [0, 1, 2], "b": [0, 1, 1], "c": ["x", "y", "x"]}
        table = open_table(data, kinds={"a": "continuous"})
        assert table.kinds == ("continuous", "discrete", "discrete")
        assert (table.numbers.tolist(), table.codes.tolist()) == ([[0.0, 1.0, 2.0]], [[0, 1, 1], [0, 1, 0]])
        assert open_table(FRAME, kinds={"a": "discrete"}).states == ((), (5, 7))
        refused(
            lambda: open_table(data, kinds={"d": "continuous"}),
            "kinds={'d': 'continuous'}: unknown column 'd'",
        )
        refused(lambda: open_table(data, kinds={"a": "real"}), "column 'real'", "discrete, continuous")
        refused(lambda: open_table(data, kinds={"a": "continuous"}, bins={"a": 2}), "bins: column 'a' is cut")
        refused(
            lambda: open_table(data, kinds={"c": "continuous"}), "'c'", "labels cannot be read as numbers"
        )

    def test_bins_for_all_but_some(self):
        table = open_table({"a": [0.5, 1.5, 2.5], "b": [0.1, 0.2, 0.4]}, bins=2, kinds={"b": "continuous"})
        assert table.kinds == ("discrete", "continuous")
        assert table.states[0] == ("[0.5, 1.5)", "[1.5, 2.5]")

    def test_read_as_what_it_is(self):
        assert open_table(NUMBERS).notes == ("all 2 columns: read as continuous",)
        assert open_table(FRAME, bins=2).kinds == ("discrete", "discrete")
        assert open_table({"a": [0, 1]}, kinds="continuous").numbers.tolist() == [[0.0, 1.0]]
        assert open_table(FRAME, kinds="discrete").states == ((-1.25, 0.5, 3.0), (5, 7))
        refused(lambda: open_table(FRAME, kinds="continuous", bins=3), "bins")
        refused(lambda: open_table(FRAME, kinds="normal"), "'normal'", "auto, discrete, continuous")

    def test_real_numbers_are_discrete_if_asked_for_and_few(self):
        data = {"half": np.arange(12) / 2, "many": np.arange(12) * 1.5 + 0.1, "b": list("xy") * 6}
        few, many = {"half": "discrete"}, {"half": "discrete", "many": "discrete"}
        assert open_table(data, kinds=few).states[0] == tuple(np.arange(12) / 2)
        assert open_table(data, kinds=many).kinds == ("discrete",) * 3  # 12 values are few
        data = {name: [*values, values[0] + 99] for name, values in data.items() if name != "b"}
        for kinds in ("discrete", many):
            refused(lambda kinds=kinds: open_table(data, kinds=kinds), "'half' (13 values)", "bins=5")
        assert open_table(data, kinds=many, bins={"half": 2, "many": 3}).cardinalities.tolist() == [2, 3]

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_integers_beside_continuous_columns_where_one_kind_is_wanted(self, engine, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("few,real,same,gone\n1,0.5,7,\n2,0.25,7,\n1,0.75,7,\n,1.5,7,\n")
        table = open_for(("discrete", "continuous"), "x", path, engine=engine, missing="drop", drop=["gone"])
        assert table.names == ("few", "real")
        assert table.all_numbers().tolist() == [[1, 2, 1], [0.5, 0.25, 0.75]]
        told = "integers with few values beside other continuous columns, read as continuous"
        assert f"column 'few': {told}; otherwise with kinds={{'few': 'discrete'}}" in table.notes
        asked = open_table(path, engine=engine, missing="drop", drop=["gone", "same"])
        assert asked.kinds == ("discrete", "continuous")
        label = {"a": [1, 2, 1], "b": [0.5, 1.5, 3.5], "c": ["x", "y", "y"]}
        refused(lambda: open_for(("discrete", "continuous"), "x", label), "one kind at a time")

    @pytest.mark.parametrize("data", [np.array([[0.0, 1.0], [1.0, 2.0]]), {"a": [0.0, 1.0], "b": [1, 2]}])
    def test_whole_floats_are_the_integers_they_are(self, data):
        assert open_table(data).states == ((0, 1), (1, 2))
        assert [column.why for column in check(data).columns] == ["integers with few values (2)"] * 2
        assert open_table(data, kinds="continuous").kinds == ("continuous", "continuous")

    def test_floats_too_large_for_fractions_are_real_numbers(self):
        assert open_table(np.array([[0.5, 1.5], [1.2, 2.1]]) * 1e40).kinds == ("continuous", "continuous")
        refused(lambda: open_table({"a": [0.0, 1.0, np.inf], "b": [1.0, 0.0, 1.0]}), "'a'", "infinite")

    def test_codes_as_numbers(self):
        table = open_table({"b": ["y", "x", "y"], "a": [5, 9, 5]})
        assert table.as_numbers().numbers.tolist() == [[1, 0, 1], [0, 1, 0]]
        numbers = open_table(NUMBERS)
        assert numbers.as_numbers() is numbers


MIXED = {"a": [0.5, 1.5, 0.25], "b": ["x", "y", "x"], "c": [0.1, 0.3, 0.2], "d": [4, 4, 9]}


class TestBothKinds:
    """A table may hold columns of both kinds; who takes one kind at a time refuses it, by name."""

    def tables(self):
        table = open_table(MIXED)
        return [table, StreamTable.of_table(table, 2)]

    def test_columns_come_back(self):
        for table in self.tables():
            assert table.kinds == ("continuous", "discrete", "continuous", "discrete")
            assert table.states == ((), ("x", "y"), (), (4, 9))
            assert table.cardinalities.tolist() == [0, 2, 0, 2]
            found = [table.column(i).tolist() for i in range(4)]
            assert found == [[0.5, 1.5, 0.25], [0, 1, 0], [0.1, 0.3, 0.2], [0, 0, 1]]
            low, high = table.ends
            assert (low.tolist(), high.tolist()) == ([0.25, 0, 0.1, 0], [1.5, 1, 0.3, 1])

    def test_some_of_them(self):
        for table in self.tables():
            chosen = table.select([3, 2, 0])
            assert chosen.names == ("d", "c", "a")
            found = [chosen.column(i).tolist() for i in range(3)]
            assert found == [[0, 0, 1], [0.1, 0.3, 0.2], [0.5, 1.5, 0.25]]
            numbers = table.select([2, 0])
            assert numbers.all_numbers().tolist() == [[0.1, 0.3, 0.2], [0.5, 1.5, 0.25]]
            states = table.select([1, 3])
            assert states.kind == "discrete"
            assert states.as_numbers().all_numbers().tolist() == [[0, 1, 0], [0, 0, 1]]

    def test_one_kind_at_a_time(self):
        words = "columns 'a', 'c' are continuous, and columns 'b', 'd' are discrete", "bins=5"
        for table in self.tables():
            assert table.kind == "mixed"
            refused(table.as_numbers, *words)
            refused(lambda table=table: f2sl.NOTEARS().fit(table), *words, "NOTEARS takes one kind")
        two = {"a": [0.5, 1.5], "b": [0.1, 0.2]}
        learn = lambda: f2sl.learn(two, "dag-gnn", bins={"a": 2})  # noqa: E731
        refused(learn, "'b' is continuous", "'a' is discrete")
        refused(
            lambda: f2sl.learn(open_table(MIXED), "exact"),
            "columns 'a', 'c' are continuous, but ExactSearch",
        )
        refused(lambda: f2sl.learn(open_table(MIXED), "tc"), "columns 'b', 'd' are discrete, but TC")

    def test_kinds_and_missing_values_are_refused_in_one_message(self):
        """A missing value among numbers cannot become a state, so only `drop` is advised for it."""
        for gap, as_state in (("a", False), ("b", True)):
            table = open_table({**MIXED, gap: [None, *MIXED[gap][1:]]})
            for learner, kinds in (
                ("notears", "takes one kind"),
                ("exact", "learns only from discrete columns"),
            ):
                with pytest.raises(f2sl.DataError, match=kinds) as error:
                    f2sl.learn(table, learner)
                assert f"values are missing (None, NaN or null) in '{gap}', and" in str(error.value)
                assert 'missing="drop"' in str(error.value)
                assert ('missing="state"' in str(error.value)) is as_state

    def test_notes_and_looks(self):
        table = open_table(MIXED)
        assert table.notes == ("columns 'a', 'c': read as continuous",)
        assert repr(table) == "Table(2 discrete and 2 continuous columns, 3 rows, in memory)"
        assert repr(StreamTable.of_table(table, 2)).endswith("3 rows, on disk)")
        assert repr(open_table({"a": [0.5, 0.7]})) == "Table(1 continuous column, 2 rows, in memory)"

    def test_missing_values(self):
        is_missing = MIXED | {"b": ["x", None, "x"]}
        assert open_table(is_missing, missing="state").states[1] == ("x", "<missing>")
        dropped = open_table(is_missing, missing="drop")
        assert dropped.column(0).tolist() == [0.5, 0.25]
        refused(lambda: open_table(MIXED | {"a": [0.5, None, 0.1]}, missing="state"), "'a' (1 of 3 rows)")

    def test_from_files_in_blocks(self, tmp_path):
        pd.DataFrame(MIXED).to_csv(tmp_path / "t.csv", index=False)
        with open_table(tmp_path / "t.csv", engine="stream") as table:
            expected = open_table(MIXED)
            assert (table.columns, table.notes) == (expected.columns, expected.notes)
            assert [table.column(i).tolist() for i in range(4)] == [
                expected.column(i).tolist() for i in range(4)
            ]

    def test_engines_give_columns(self):
        for table, expected in (
            (open_table(MIXED, bins=2), [0, 1, 0]),
            (open_table(NUMBERS), [7.5, 5.0, 7.0]),
        ):
            for held in (table, StreamTable.of_table(table, 2)):
                with open_engine(held) as engine:
                    assert engine.column(1).tolist() == expected


class TestOptions:
    def test_all_that_is_wrong_is_told_at_once(self):
        options = {"engine": "disk", "bins": 1, "binning": "square", "missing": "omit", "kinds": "real"}
        wrong = partial(open_table, FRAME, delimiter=",,", drop="a", **options)
        refused(
            wrong, *("'disk'", "bins takes", "'square'", "'omit'", "'real'", "delimiter takes", "drop takes")
        )

    def test_columns_left_out(self):
        for data in (FRAME, FRAME.to_dict("list"), pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
            table = open_table(data, drop=["b"])
            assert (table.names, table.states) == (("a",), ((5, 7),))
            refused(lambda data=data: open_table(data, drop=["z"]), "drop: unknown column 'z'")
        array = np.array([[5, 0, 7], [5, 1, 8], [6, 1, 7]])
        table = open_table(array, drop=["x1"])
        assert (table.names, table.states) == (("x0", "x2"), ((5, 6), (7, 8)))
        assert open_table(array, drop=["x0"], names=["u", "v"]).names == ("u", "v")


@pytest.mark.parametrize(
    ("first", "n_columns", "kind"), [(18, 1, "continuous"), (1, 1, "discrete"), (3, 12, "discrete")]
)
def test_few_columns_of_codes_begin_at_zero_or_one(first, n_columns, kind):
    """An age from 18 to 27 is no code, but among many columns rare states may be absent from some."""
    rng = np.random.default_rng(0)
    data = {
        "coin": rng.integers(0, 2, 400),
        **{f"code{i}": rng.integers(0, 15, 400) for i in range(n_columns)},
    }
    data["age"] = rng.integers(first, first + 10, 400)
    assert open_table(data).kinds[-1] == kind
