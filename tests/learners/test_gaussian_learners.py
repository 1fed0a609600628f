"""Learners on real numbers: what is recognised and said, what is learned, and what is refused.

Warnings are errors in all tests, so that nothing linear algebra has to complain about reaches the user.
"""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import f2sl
from cli_process import f2sl as command
from cli_process import learned, write_csv
from f2sl import DataError, OptionError
from gaussian_tools import sampled, small_dag
from tables import table_of_numbers

BOTH_KINDS = [
    f2sl.F2SLc,
    f2sl.F2SLs,
    f2sl.F2SLh,
    f2sl.BOSS,
    f2sl.HillClimbing,
    f2sl.Tabu,
    f2sl.MMHC,
    f2sl.MMHCc,
    f2sl.GSBN,
    f2sl.PCStable,
    f2sl.LocalToGlobal,
]
STATES_ALONE = [f2sl.ExactSearch, f2sl.SLLc, f2sl.SLLg, f2sl.GGSL]
PC = ["fcbf", "mrmr", "fcbf-confirmed", "mmpc", "hiton-pc", "pc-simple"]
BLANKET = ["gsmb", "iamb", "inter-iamb", "hiton-mb", "mmmb", "pcmb", "stmb", "bamb", "tc"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(sampled(small_dag(), 2000))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("gaussian") / "numbers.csv", sampled(small_dag(), 2000))


class TestWhatIsLearned:
    @pytest.mark.parametrize("learner", [*BOTH_KINDS, f2sl.TC], ids=lambda learner: learner.__name__)
    def test_the_skeleton(self, learner, frame):
        model = learner().fit(frame)
        # TC takes nothing but numbers, so that there is nothing to say.
        assert any("read as continuous" in note for note in model.notes_) == (learner is not f2sl.TC)
        assert model.graph_.skeleton() == small_dag().skeleton()

    @pytest.mark.parametrize("learner", [f2sl.F2SLc, f2sl.MMHCc, f2sl.PCStable, f2sl.GSBN, f2sl.TC])
    def test_the_class(self, learner, frame):
        assert learner().fit(frame).graph_ == small_dag().to_cpdag()

    @pytest.mark.parametrize("score", ["bic-g", "bge"])
    def test_the_class_by_scores(self, score, frame):
        graph = f2sl.MMHC(score=score).fit(frame).graph_
        assert graph.to_cpdag() == small_dag().to_cpdag()

    @pytest.mark.parametrize("algorithm", PC[3:])
    def test_parents_and_children(self, algorithm, frame):
        found = f2sl.learn_pc(frame, algorithm=algorithm)
        assert {name: set(one) for name, one in found.items()} == {
            name: set(small_dag().neighbors(name)) for name in frame.columns
        }
        assert found["a"].separating_sets["b"] == ()

    @pytest.mark.parametrize("algorithm", BLANKET)
    def test_blankets(self, algorithm, frame):
        found = f2sl.learn_mb(frame, algorithm=algorithm)
        assert {name: set(one) for name, one in found.items()} == {
            name: set(small_dag().markov_blanket(name)) for name in frame.columns
        }
        assert list(f2sl.learn_mb(frame, "c", algorithm=algorithm)) == list(found["c"])

    def test_strengths_of_fcbf(self, frame):
        r = frame.corr()
        for measure, expected in {
            "auto": r**2,
            "r2": r**2,
            "correlation": r.abs(),
            "mi": -np.log1p(-(r.where(r < 1, 0) ** 2)) / 2,
        }.items():
            found = f2sl.learn_pc(frame, "c", measure=measure)
            assert found
            for name, strength in found.items():
                assert strength == pytest.approx(expected.loc["c", name], abs=1e-9)

    def test_measures_differ_in_the_threshold_alone(self, frame):
        graphs = [
            f2sl.F2SLc(measure=measure, delta=delta).fit(frame).graph_
            for measure, delta in [("r2", 0.09), ("correlation", 0.3), ("mi", -0.5 * np.log(1 - 0.09))]
        ]
        assert graphs[0] == graphs[1] == graphs[2]

    def test_mrmr_takes_the_best(self, frame):
        found = f2sl.learn_pc(frame, "c", algorithm="mrmr", k=1)
        assert list(found) == [frame.corr()["c"].drop("c").abs().idxmax()]


class TestKinds:
    def test_floats_are_recognised_and_it_is_said(self, frame):
        model = f2sl.F2SLc().fit(frame)
        assert model.notes_ == ["all 6 columns: read as continuous"]
        assert model.strength_unit == "r^2"
        used = model.options_in_use_
        assert (used["measure"], used["ci_test"]) == ("r2", "fisher-z")

    def test_cut_into_intervals_they_are_discrete(self, frame):
        model = f2sl.learn(frame, bins=3)
        assert model.options_in_use_["ci_test"] == "g2"
        assert model.strength_unit == "SU"

    def test_integers_are_discrete_if_they_have_few_values(self, frame):
        assert f2sl.PCStable().fit(frame.round().clip(-3, 3).astype(int)).options_in_use_["ci_test"] == "g2"
        whole = (frame * 100).round().astype(int)
        assert f2sl.PCStable().fit(whole).options_in_use_["ci_test"] == "fisher-z"
        model = f2sl.learn(whole, "pc-stable", kinds="continuous")
        assert model.options_in_use_["ci_test"] == "fisher-z"
        assert model.graph_.skeleton() == small_dag().skeleton()

    def test_whole_floats_are_integers(self, frame):
        assert f2sl.F2SLc().fit(frame.round().clip(-3, 3)).options_in_use_["ci_test"] == "g2"
        assert (
            f2sl.learn(frame.round().clip(-3, 3), kinds="continuous").options_in_use_["ci_test"] == "fisher-z"
        )

    def test_a_table_of_both(self, frame):
        mixed = frame.assign(label=np.where(frame["a"] > 0, "x", "y"))
        with pytest.raises(DataError, match=r"drop=\['label'\]"):
            f2sl.learn(mixed, kinds="continuous")
        used = f2sl.learn(mixed, "f2sl-h").options_in_use_
        assert (used["ci_test"], used["score"], used["measure"]) == ("dg", "dg-bic", "information")
        assert f2sl.learn(mixed, bins=4).options_in_use_["ci_test"] == "g2"

    @pytest.mark.parametrize("learner", STATES_ALONE, ids=lambda learner: learner.__name__)
    def test_discrete_learners_refuse_continuous_tables(self, learner, frame):
        with pytest.raises(DataError, match="learns only from discrete columns; cut them with bins=5"):
            learner().fit(frame)

    def test_a_part_that_takes_discrete_columns_alone(self, frame):
        with pytest.raises(DataError, match="learns only from discrete columns"):
            f2sl.LocalToGlobal(pc="sll-pc").fit(frame)
        with pytest.raises(
            OptionError, match='kinds="continuous": LocalToGlobal learns only from discrete columns'
        ):
            f2sl.learn(frame, "local-to-global", pc="sll-pc", kinds="continuous")
        with pytest.raises(OptionError, match='kinds="continuous": sll learns only from discrete columns'):
            f2sl.learn_mb(frame, algorithm="sll", kinds="continuous")
        with pytest.raises(OptionError, match='kinds="discrete": tc learns only from continuous columns'):
            f2sl.learn_mb(frame, algorithm="tc", kinds="discrete")

    @pytest.mark.parametrize(
        "options",
        [{"learner": f2sl.MMHC, "score": "bdeu"}, {"learner": f2sl.F2SLc, "ci_test": "g2"}],
        ids=["score", "test"],
    )
    def test_what_is_for_states_is_refused(self, options, frame):
        learner = options.pop("learner")
        with pytest.raises(
            OptionError, match='is for discrete columns, but the table is continuous; use "auto"'
        ):
            learner(**options).fit(frame)

    def test_what_is_for_real_numbers_is_refused_of_states(self):
        with pytest.raises(
            OptionError, match='is for continuous columns, but the table is discrete; use "auto"'
        ):
            f2sl.PCStable(ci_test="fisher-z").fit(f2sl.load_example("asia"))
        told = (
            "kinds: unknown kind of column 'continous'; did you mean 'continuous'\\? Known: auto, discrete, "
        )
        with pytest.raises(OptionError, match=told):
            f2sl.learn(f2sl.load_example("asia"), "pc-stable", kinds="continous")


class TestBadInput:
    @pytest.mark.parametrize("learner", [*BOTH_KINDS, f2sl.TC], ids=lambda learner: learner.__name__)
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"g": [np.inf] + [0.5] * 1999}, "'g'.*infinite"),
        ],
        ids=["infinite"],
    )
    def test_columns_that_are_refused(self, learner, change, told, frame):
        with pytest.raises(DataError, match=told):
            learner().fit(frame.assign(**change))

    def test_a_constant_column_is_left_out(self, frame):
        model = f2sl.F2SLc().fit(frame.assign(g=1.5))
        assert "column 'g': left out: the same number in every row" in model.notes_
        assert model.graph_ == f2sl.F2SLc().fit(frame).graph_
        with pytest.raises(DataError, match=r"'g' .*the same number in every row"):
            f2sl.TC().fit(frame.assign(g=1.5))

    @pytest.mark.parametrize("learner", BOTH_KINDS, ids=lambda learner: learner.__name__)
    def test_copies_are_told_and_do_no_harm(self, learner, frame):
        model = learner().fit(frame.assign(copy=3 - frame["a"] * 2))
        assert any("'a' and 'copy'" in note for note in model.notes_)
        assert "copy" in model.graph_.neighbors("a")
        assert all(np.isfinite(weight) for weight in (model.graph_.weights or {}).values())

    @pytest.mark.parametrize("learner", BOTH_KINDS, ids=lambda learner: learner.__name__)
    def test_a_sum_of_columns_does_no_harm(self, learner, frame):
        model = learner().fit(frame.assign(total=frame["a"] + frame["f"]))
        assert "total" in model.graph_.neighbors("f")

    def test_tc_names_what_others_decide(self, frame):
        with pytest.raises(DataError, match="determine 'total', so that they have no correlation"):
            f2sl.TC().fit(frame.assign(total=frame["a"] + frame["f"]))

    def test_tc_needs_more_rows_than_columns(self, frame):
        with pytest.raises(DataError, match="6 columns need at least 8 rows, but there are 7"):
            f2sl.TC().fit(frame[:7])
        with pytest.raises(DataError, match="at least 8 rows"):
            f2sl.learn_mb(frame[:7], algorithm="tc")
        assert f2sl.TC().fit(frame[:8]).n_rows_ == 8

    def test_tc_does_not_cut(self, frame, path):
        with pytest.raises(OptionError, match="bins cuts continuous columns into states"):
            f2sl.learn(frame, algorithm="tc", bins=3)
        with pytest.raises(OptionError, match="bins cuts continuous columns into states"):
            f2sl.learn_mb(frame, algorithm="tc", bins=3)
        assert (
            "--bins cuts continuous columns into states"
            in command("learn", path, "--algorithm", "tc", "--bins", "3").stderr
        )

    @pytest.mark.parametrize("learner", BOTH_KINDS, ids=lambda learner: learner.__name__)
    @pytest.mark.parametrize("rows", [2, 3, 4, 5, 8])
    def test_fewer_rows_than_variables(self, learner, rows):
        values = np.random.default_rng(0).normal(size=(rows, 12))
        model = learner().fit(values)
        assert model.n_rows_ == rows
        tests, inconclusive = getattr(model, "n_tests_", 0), getattr(model, "n_inconclusive_", 0)
        told = any("too few rows, or columns determined by others" in note for note in model.notes_)
        assert told == (inconclusive > tests / 2)

    @pytest.mark.parametrize(
        ("column", "told"), [([1.0, 1.0], "the same number"), ([0.0, 1e150], "another unit")]
    )
    def test_tables_made_by_hand_are_checked_too(self, column, told):
        table = table_of_numbers(("a", "b"), [[0.5, 0.7], column])
        with pytest.raises(DataError, match=f"'b'.*{told}"):
            f2sl.F2SLc().fit(table)

    def test_missing_values_can_be_dropped(self, frame):
        holes = frame.copy()
        holes.iloc[3, 2] = np.nan
        assert f2sl.learn(holes, missing="drop").n_rows_ == 1999
        with pytest.raises(DataError, match='drop their rows with missing="drop"'):
            f2sl.learn(holes, missing="state")


@settings(max_examples=6)
@given(random_state=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("learner", [*BOTH_KINDS, f2sl.TC], ids=lambda learner: learner.__name__)
def test_the_order_of_rows_and_columns_and_threads_do_not_matter(learner, random_state):
    rng = np.random.default_rng(random_state)
    frame = pd.DataFrame(sampled(small_dag(), 200, random_state))
    other = frame.iloc[rng.permutation(200), rng.permutation(6)]
    one, two = learner(n_jobs=1).fit(frame), learner(n_jobs=2).fit(other)
    assert two.graph_.reorder(list(frame.columns)) == one.graph_
    assert two.graph_.reorder(list(frame.columns)).weights == one.graph_.weights


class TestCommandLine:
    def test_learn(self, path):
        shown = learned("learn", path)
        assert "6 variables, all continuous" in shown
        assert "read as continuous" in shown
        assert "Learned  by f2sl-h\n" in shown  # no option differs from its default
        assert "r^2" in shown

    def test_learn_as_json(self, path):
        told = json.loads(learned("learn", path, "--algorithm", "mmhc", "--kinds", "continuous", "--json"))
        assert told["states"] is None
        assert told["options"]["score"] == "bge"
        assert told["options"]["kinds"] == "continuous"

    def test_mb_and_pc_find_sets_of_continuous_columns(self, path):
        told = json.loads(learned("mb", path, "c", "--algorithm", "tc", "--json"))
        assert {member["name"] for member in told["mb"]} == set(small_dag().markov_blanket("c"))
        told = json.loads(learned("pc", path, "c", "--kinds", "continuous", "--json"))
        assert told["options"]["measure"] == "r2"

    def test_refusals_name_the_flag(self, path):
        found = command("learn", path, "--ci-test", "g2")
        assert found.returncode == 2
        assert "error: --ci-test g2 is for discrete columns" in found.stderr
        assert "--kinds" in command("learn", path, "--algorithm", "exact", "--kinds", "continuous").stderr
