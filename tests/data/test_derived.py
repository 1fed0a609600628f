"""Notes on columns that were computed from others: copies, intervals, groups of states, and sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from f2sl import open_table
from f2sl.data import derived
from f2sl.data import matrix as values
from f2sl.data.derived import functions, sums
from f2sl.data.matrix import Sample
from f2sl.data.notes import remarks
from tables import make_table, related_codes

ROWS = 200


def noise(n_columns, n_rows=ROWS, random_state=0):
    return np.random.default_rng(random_state).normal(size=(n_columns, n_rows))


def notes(data, **options):
    return remarks(open_table(data, **options))


def note(data, beginning):
    """Give the only note that begins like this, "" if there is none."""
    found = [text for text in notes(data) if text.startswith(beginning)]
    assert len(found) < 2
    return found[0] if found else ""


def found_in(data, **options):
    """Give the functions of a table: column, the one it is computed from, and what is known of it."""
    sample = Sample.of_table(open_table(data, **options))
    names = sample.table.names
    return {
        names[f.column]: (names[f.of], f.is_monotone, f.is_one_to_one, f.is_linear) for f in functions(sample)
    }


LINEAR = "linear functions of each other"
MONOTONE = "monotone functions of each other"
DETERMINED = "determined by another column"
SUMS = "exact sums"


class TestOneColumn:
    def test_linear_copies(self):
        a, b = noise(2)
        told = note({"c": 32 + 1.8 * a, "b": b, "f": a, "minus": -b}, LINEAR)
        assert told.endswith("with drop=['f', 'minus']): 'c' and 'f', 'b' and 'minus'")
        assert notes({"a": a, "b": b}) == []

    @pytest.mark.parametrize("scale", [1e-90, 1e90])
    def test_linear_copies_of_any_size(self, scale):
        a, b = noise(2)
        assert "'a' and 'c'" in note({"a": a * scale, "b": b, "c": a + 5}, LINEAR)

    def test_monotone_copies(self):
        a, b = noise(2)
        told = note({"price": a, "b": b, "log": np.exp(a), "rank": (-a).argsort().argsort() / 2}, MONOTONE)
        assert told.endswith("with drop=['log', 'rank']): 'price' and 'log', 'price' and 'rank'")

    def test_a_single_row_out_of_order_is_no_copy(self):
        a, b = noise(2)
        out = np.exp(a)
        first, second = np.argsort(a)[[100, 101]]
        out[[first, second]] = out[[second, first]]
        assert notes({"a": a, "b": b, "out": out}) == []

    def test_intervals_of_a_continuous_column(self):
        age = np.random.default_rng(1).integers(1800, 9000, ROWS) / 100
        labels = np.array(["young", "adult", "old"])[np.digitize(age, [35, 60])]
        told = note({"age": age, "b": noise(1)[0], "group": labels, "decade": age // 10}, DETERMINED)
        assert told.endswith("with drop=['group', 'decade']): 'group', 'decade' by 'age'")

    def test_overlapping_intervals_are_not_determined(self):
        age = np.random.default_rng(1).integers(1800, 9000, ROWS) / 100
        group = np.digitize(age, [35, 60])
        group[age == age[group == 1].max()] = 0
        for labels in (group, np.array(["young", "adult", "old"])[group]):
            assert notes({"age": age, "b": noise(1)[0], "group": labels}) == []

    def test_groups_of_states(self):
        country = np.random.default_rng(2).integers(0, 12, ROWS)
        data = {"country": [f"land {i}" for i in country], "continent": [f"part {i % 3}" for i in country]}
        told = note({**data, "b": noise(1)[0]}, DETERMINED)
        assert told.endswith("with drop=['continent']): 'continent' by 'country'")
        data["continent"][0] = "elsewhere"
        assert notes({**data, "b": noise(1)[0]}) == []

    def test_a_number_of_each_state(self):
        country = np.random.default_rng(2).integers(0, 12, ROWS)
        area = noise(1, 12)[0][country]
        data = {"country": [f"land {i}" for i in country], "area": area, "b": noise(1)[0]}
        assert found_in(data)["area"] == ("country", False, True, False)

    def test_indicators_of_a_state(self):
        species = np.random.default_rng(3).integers(0, 3, ROWS)
        data = {"species": np.array(["s", "v", "w"])[species], "is_s": species == 0, "b": noise(1)[0]}
        assert "'is_s' by 'species'" in note(data, DETERMINED)

    def test_columns_that_determine_each_other_are_told_once(self):
        sex = np.random.default_rng(3).integers(0, 2, ROWS)
        data = {"sex": np.array(["f", "m"])[sex], "is_male": sex, "b": noise(1)[0]}
        [told] = notes(data)
        assert told.startswith("columns that determine each other") and "'sex' and 'is_male'" in told

    def test_not_what_rare_values_do_by_chance(self):
        """Two rows of a hundred have the largest values of x by chance in one pair of columns of 5,000."""
        x, rare = noise(1, 100)[0], np.zeros(100, int)
        rare[np.argsort(x)[-2:]] = 1
        assert notes({"x": x, "rare": rare}) == []
        rare[np.argsort(x)[-20:]] = 1
        assert "'rare' by 'x'" in note({"x": x, "rare": rare}, DETERMINED)

    def test_not_what_an_identifier_determines(self):
        names = [f"person {i // 2}" for i in range(60)]
        rare = np.repeat(np.arange(30) == 7, 2)
        assert DETERMINED not in " ".join(notes({"name": names, "rare": rare, "b": noise(1, 60)[0]}))

    def test_not_what_never_varies_in_small_groups(self):
        """A number of each patient determines the sex as the identifier does; a year of many rows may."""
        patient = np.random.default_rng(4).integers(0, 70, 700)
        days, sex = noise(1, 70)[0][patient], (np.arange(70) * 31 % 89 % 2)[patient]
        assert notes({"days": days, "sex": sex, "b": noise(1, 700)[0]}) == []
        year = patient % 20
        rate = noise(1, 20)[0][year]
        assert "'rate' by 'year'" in note({"year": year, "rate": rate, "b": noise(1, 700)[0]}, DETERMINED)

    def test_not_labels_of_very_few_rows_in_intervals(self):
        land = np.full(ROWS, "main land", object)
        longitude = np.sort(noise(1)[0])
        land[:3], land[3:5], land[-4:] = "west", "far west", "east"
        assert notes({"longitude": longitude, "land": land}) == []
        land[:9] = "west"
        assert "'land' by 'longitude'" in note({"longitude": longitude, "land": land}, DETERMINED)

    def test_missing_values(self):
        a, b = noise(2)
        log = np.exp(a)
        log[:15] = np.nan  # fewer than a tenth
        assert "'a' and 'log'" in note({"a": a, "b": b, "log": log}, MONOTONE)
        a[15:120] = np.nan
        assert note({"a": a, "b": b, "log": log}, MONOTONE) == ""

    def test_few_rows_tell_nothing(self):
        a = noise(1, 19)[0]
        assert notes({"a": a, "c": 2 * a}) == ["only 19 rows: the result is unreliable"]

    @given(st.integers(0, 1000), st.sampled_from([np.exp, np.cbrt, np.negative, np.floor, lambda x: x > 0]))
    def test_any_function_is_found(self, random_state, function):
        x, *others = noise(4, random_state=random_state)
        found = found_in(
            {"x": x, **{f"n{i}": o for i, o in enumerate(others)}, "y": function(x).astype(float)}
        )
        assert found.keys() == {"y"} and found["y"][:2] == ("x", True)

    @given(st.integers(0, 1000), st.integers(25, 80))
    def test_what_is_found_holds_in_every_row(self, random_state, n_rows):
        table = make_table(related_codes(random_state, n_rows, 6))
        for f in functions(sample := Sample.of_table(table)):
            y, x = (sample.values[i].tolist() for i in (f.column, f.of))
            pairs = sorted(set(zip(x, y, strict=True)))
            assert len(pairs) == len(set(x))
            assert not f.is_one_to_one or len(pairs) == len(set(y))
            ys = [b for _, b in pairs]
            assert not f.is_monotone or ys in (sorted(ys), sorted(ys, reverse=True))


class TestSums:
    def test_a_total(self):
        a, b, c, d = noise(4)
        told = note({"a": a, "total": a + b + c, "b": b, "c": c, "d": d}, SUMS)
        assert told.endswith("with drop=['total']): 'total' = 'a' + 'b' + 'c'")

    def test_a_difference_and_a_constant(self):
        a, b, c = noise(3)
        assert "'b' = 'a' + 'change'" in note({"a": a, "b": b, "change": b - a, "c": c}, SUMS)
        assert "'b' = 'a' + 'd' + 5" in note({"a": a, "b": b, "d": b - a - 5, "c": c}, SUMS)
        assert "'b' = 'a' + 'd' - 5" in note({"a": a, "b": b, "d": b - a + 5, "c": c}, SUMS)

    def test_percentages(self):
        shares = np.random.default_rng(4).dirichlet([1, 1, 1, 1], ROWS).T * 100
        told = note({**dict(zip("abcd", shares, strict=True)), "e": noise(1)[0]}, SUMS)
        assert told.endswith("with drop=['d']): 'a' + 'b' + 'c' + 'd' = 100")

    def test_indicators_of_which_one_is_true_in_each_row(self):
        which = np.random.default_rng(5).integers(0, 4, ROWS)
        told = note({f"is_{k}": which == k for k in range(4)}, SUMS)
        assert "'is_0' + 'is_1' + 'is_2' + 'is_3' = 1" in told
        which[3] = 4  # no indicator is true
        assert notes({f"is_{k}": which == k for k in range(4)}) == []

    def test_indicators_of_a_column_are_told_once(self):
        which = np.random.default_rng(5).integers(0, 4, ROWS)
        data = {"which": [f"w{k}" for k in which], **{f"is_{k}": which == k for k in range(4)}}
        assert note(data, SUMS) == ""
        assert "'is_0', 'is_1', 'is_2', 'is_3' by 'which'" in note(data, DETERMINED)

    def test_a_sum_of_answers(self):
        """Small integers are states, their sum a number."""
        answers = np.random.default_rng(6).integers(1, 6, (8, ROWS))
        data = {**{f"q{i}": a for i, a in enumerate(answers)}, "score": answers.sum(axis=0)}
        assert "'score' = 'q0' + 'q1' + 'q2' + 'q3' + 'q4' + 'q5' + 'q6' + 'q7'" in note(data, SUMS)

    def test_a_mean(self):
        a, b, c, d = noise(4)
        data = {"a": a, "b": b, "c": c, "mean": 0.5 * a + 0.25 * b + 0.25 * c, "d": d}
        assert "'mean' is a weighted sum of 'a', 'b', 'c'" in note(data, SUMS)

    def test_each_dependent_column_has_its_own(self):
        a, b, c, d = noise(4)
        told = note({"a": a, "b": b, "ab": a + b, "c": c, "abc": a + b + c, "d": d}, SUMS)
        assert "'ab' = 'a' + 'b', 'abc' = 'a' + 'b' + 'c'" in told

    def test_almost_a_sum(self):
        a, b, c = noise(3)
        assert notes({"a": a, "b": b, "sum": a + b + 1e-3 * c}) == []
        outlier = a + b
        outlier[7] += 0.1
        assert notes({"a": a, "b": b, "sum": outlier}) == []

    def test_rounding_to_32_bits_does_not_matter(self):
        a, b, c = (noise(3) * 1000).astype(np.float32)
        assert "'sum' = 'a' + 'b'" in note({"a": a, "b": b, "c": c, "sum": a + b}, SUMS)

    def test_more_columns_than_rows(self):
        told = notes({f"x{i:02}": x for i, x in enumerate(noise(40, 30))})
        assert told == ["only 30 rows for 40 columns: many edges and most directions are unreliable"]

    def test_missing_values(self):
        a, b, c = noise(3)
        a[:30], c[50:60] = np.nan, np.nan
        empty = np.full(ROWS, np.nan)
        empty[:5] = 1.5, 2.5, 3.5, 4.5, 5.5
        assert "'sum' = 'a' + 'b'" in note({"a": a, "b": b, "c": c, "sum": a + b, "few": empty}, SUMS)

    @given(st.integers(0, 1000), st.integers(2, 6))
    def test_any_sum_is_found(self, random_state, n_terms):
        parts = noise(8, random_state=random_state)
        weights = np.random.default_rng(random_state).integers(1, 4, n_terms) * np.random.default_rng(
            random_state + 1
        ).choice([-1, 1], n_terms)
        data = {f"p{i}": part for i, part in enumerate(parts)}
        data["sum"] = weights @ parts[:n_terms] + 3
        [found] = sums(Sample.of_table(open_table(data)))
        assert found.columns == (*range(n_terms), 8)
        np.testing.assert_allclose(found.weights / -found.weights[-1], [*weights, -1], atol=1e-9)


class TestSample:
    """Of large tables only some rows are sampled; what these suggest is checked in all of them."""

    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch):
        monkeypatch.setattr(values, "MOST_CELLS", 1 << 10)
        monkeypatch.setattr(values, "FEWEST_SAMPLED", 1 << 7)

    @pytest.mark.parametrize("wrong", [False, True])
    def test_one_row_that_is_not_sampled(self, wrong):
        a, b, c, d = noise(4, 3000)
        data = {"a": a, "b": b, "c": c, "d": d, "cube": a**3, "sum": a + b + c}
        data["third"] = np.array(["low", "middle", "high"])[np.digitize(b, [-0.4, 0.4])]
        sampled = Sample.of_table(open_table(data)).rows
        other = [row for row in range(3000) if row not in set(sampled.tolist()) and min(a[row], b[row]) > -1]
        assert len(sampled) < 200
        if wrong:
            for name in ("cube", "third", "sum"):
                data[name] = data[name].copy()
            data["cube"][other[0]] += 5
            data["sum"][other[1]] += 0.01
            data["third"][other[2]] = "low" if b[other[2]] > 0 else "high"
        told = " ".join(notes(data))
        assert (MONOTONE in told, DETERMINED in told, SUMS in told) == (not wrong,) * 3

    def test_stretches_are_within_the_table(self):
        for n_rows in (129, 160, 1000, 3001):
            sample = Sample.of_table(open_table({"a": noise(1, n_rows)[0], "b": noise(1, n_rows, 1)[0]}))
            assert (np.diff(sample.rows) > 0).all() and sample.rows[-1] < n_rows


def test_wide_tables_are_not_compared(monkeypatch):
    monkeypatch.setattr(derived, "MOST_COLUMNS", 3)
    a, b, c = noise(3)
    assert notes({"a": a, "b": b, "c": c, "copy": 2 * a}) == []


def test_learners_tell_of_them():
    a, b = noise(2)
    model = f2sl.PCStable().fit({"a": a, "b": b, "total": a + b})
    assert any("'total' = 'a' + 'b'" in text for text in model.notes_)
