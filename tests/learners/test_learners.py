"""F2SL-c and F2SL-s as a user meets them: what they give, and that nothing but the data matters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import f2sl
import naive
from f2sl.errors import F2SLWarning
from tables import collider

NAMES = {f2sl.F2SLc: "f2sl-c", f2sl.F2SLs: "f2sl-s", f2sl.F2SLh: "f2sl-h"}
LEARNERS = list(NAMES)


@pytest.fixture(scope="module")
def alarm() -> pd.DataFrame:
    return f2sl.load_example("alarm")


@pytest.fixture(scope="module", params=LEARNERS, ids=lambda learner: learner.__name__)
def learner(request):
    return request.param


@pytest.fixture(scope="module")
def known(learner, alarm):
    """Give the model of alarm with the usual options."""
    return learner().fit(alarm)


def codes_of(frame: pd.DataFrame) -> list[list[int]]:
    """Numbers for the states of each column, for the naive formulas."""
    return [pd.factorize(frame[name])[0].tolist() for name in frame.columns]


def test_a_note_tells_where_most_tests_could_not_answer():
    noise = np.random.default_rng(0).integers(0, 6, (40, 8))
    model = f2sl.F2SLc(delta=0.0, ties="keep").fit(noise)
    assert model.n_inconclusive_ > model.n_tests_ / 2
    assert any("independence tests were inconclusive" in note for note in model.notes_)
    assert f2sl.F2SLc().fit(f2sl.load_example("asia")).notes_ == []


class TestWhatIsLearned:
    def test_collider_and_its_consequence(self, learner):
        model = learner().fit(collider())
        assert model.graph_.directed_edges == [("a", "c"), ("b", "c"), ("c", "d")]
        assert model.graph_.undirected_edges == []

    def test_separating_set_of_the_collider(self):
        model = f2sl.F2SLc().fit(collider())
        assert model.separating_sets_["a", "b"] == ()
        assert model.separating_sets_["a", "d"] == ("c",)
        assert model.v_structures_ == [("a", "c", "b")]
        assert model.n_tests_ > 0
        assert model.n_inconclusive_ == 0

    def test_chain_stays_undirected_but_has_a_dag(self):
        rng = np.random.default_rng(1)
        x = rng.integers(0, 2, 1000)
        y = np.where(rng.random(1000) < 0.9, x, 1 - x)
        z = np.where(rng.random(1000) < 0.9, y, 1 - y)
        graph = f2sl.F2SLc().fit({"x": x, "y": y, "z": z}).graph_
        assert graph.undirected_edges == [("x", "y"), ("y", "z")]
        dag = graph.to_dag()
        assert dag.is_consistent_extension
        assert dag.v_structures() == []

    def test_attributes(self, known, alarm):
        model = known
        assert list(model.feature_names_in_) == list(alarm.columns)
        assert model.n_features_in_ == 37
        assert model.n_rows_ == 2000
        assert set(model.pc_) == set(alarm.columns)
        assert model.skeleton_.nodes == tuple(alarm.columns)
        stages = {"read", "prepare", "neighbors", "skeleton", "orientation"}
        assert set(model.timings_) - {"directions"} == stages | {"total"}
        assert sum(model.timings_[s] for s in stages) <= model.timings_["total"]

    def test_skeleton_is_the_and_or_the_or_of_the_sets(self, learner, alarm):
        edges = {}
        for symmetry in ("and", "or"):
            model = learner(symmetry=symmetry, skeleton_only=True).fit(alarm)
            sets = [[alarm.columns.get_loc(member) for member in model.pc_[name]] for name in alarm.columns]
            edges[symmetry] = {
                frozenset((alarm.columns[a], alarm.columns[b])) for a, b in naive.skeleton(sets, symmetry)
            }
            assert set(map(frozenset, model.skeleton_.undirected_edges)) == edges[symmetry]
        assert edges["and"] < edges["or"]

    def test_all_edges_are_edges_of_the_graph_of_tests(self, alarm):
        model = f2sl.F2SLc().fit(alarm)
        assert model.graph_.skeleton() == model.skeleton_

    @pytest.mark.parametrize("measure", ["su", "mi"])
    def test_weights_are_the_strength_of_the_edges(self, learner, alarm, measure):
        codes = codes_of(alarm)
        formula = {"su": naive.symmetrical_uncertainty, "mi": naive.mutual_information}[measure]
        model = learner(measure=measure).fit(alarm)
        for graph in (model.graph_, model.skeleton_):
            assert len(graph.weights) == graph.n_edges > 20
            for (a, b), weight in graph.weights.items():
                pair = alarm.columns.get_indexer([a, b]).tolist()
                assert weight == pytest.approx(formula(codes, *pair), abs=1e-9)

    def test_score_is_the_sum_of_families_and_prior(self, alarm):
        from f2sl.data.memory.engine import MemoryEngine
        from f2sl.stats.choose import make_score

        model = f2sl.F2SLs().fit(alarm)
        table = f2sl.open_table(alarm)
        families = make_score(MemoryEngine(table, 1), "bdeu", 10.0)
        number = {name: i for i, name in enumerate(table.names)}
        total = sum(
            families.score([(number[v], tuple(sorted(number[p] for p in model.dag_.parents(v))))])[0]
            for v in table.names
        )
        assert model.score_ == pytest.approx(total - np.log(11) * model.dag_.n_edges, rel=1e-12)

    @pytest.mark.parametrize("score", ["bdeu", "bds", "k2", "bic", "aic"])
    def test_the_score_of_the_dag_is_the_naive_one(self, alarm, score):
        model = f2sl.F2SLs(score=score).fit(alarm)
        assert model.dag_.is_dag()
        codes, position = codes_of(alarm), alarm.columns.get_loc
        cardinalities = [max(column) + 1 for column in codes]
        total = naive.graph_score(
            len(codes),
            [(position(a), position(b)) for a, b in model.dag_.directed_edges],
            lambda child, parents: naive.SCORES[score](codes, cardinalities, child, parents),
            -np.log(10 + 1) if score in ("bdeu", "bds") else 0.0,
        )
        assert model.score_ == pytest.approx(total, rel=1e-9)

    def test_constant_columns_are_isolated_and_said_to_be(self, learner):
        frame = collider().assign(same="x")
        model = learner().fit(frame)
        assert model.graph_.neighbors("same") == []
        assert any("'same'" in note for note in model.notes_)

    def test_all_columns_constant(self, learner):
        assert learner().fit({"a": [1, 1, 1], "b": [0, 0, 0]}).graph_.n_edges == 0

    def test_one_row(self, learner):
        assert learner().fit({"a": [1], "b": [0]}).graph_.n_edges == 0

    def test_two_equal_columns_are_adjacent(self, learner):
        column = [0, 1] * 50
        assert learner().fit({"a": column, "b": column}).skeleton_.n_edges == 1

    def test_identifier_is_pointed_out(self, learner):
        frame = collider(100).assign(id=[f"row {i}" for i in range(100)])
        with pytest.warns(F2SLWarning, match="identifier.*'id'") as caught:
            model = learner().fit(frame)
        assert caught[0].filename == __file__
        assert any("'id'" in note and "identifier" in note for note in model.notes_)
        with pytest.warns(F2SLWarning, match="identifier.*'id'"):
            f2sl.learn_pc(frame, "a")


class TestNothingButTheDataMatters:
    @pytest.mark.parametrize("jobs", [1, 3])
    def test_threads(self, learner, known, alarm, jobs):
        graph = learner(n_jobs=jobs).fit(alarm).dag_
        assert graph == known.dag_
        assert graph.weights == known.dag_.weights

    @settings(max_examples=5, deadline=None)
    @given(random_state=st.integers(0, 2**32 - 1))
    def test_order_of_columns_rows_and_states(self, learner, known, alarm, random_state):
        rng = np.random.default_rng(random_state)
        frame = alarm.sample(frac=1, random_state=random_state % 2**31)
        frame = frame[rng.permutation(alarm.columns)]
        for name in frame.columns:
            labels = frame[name].unique()
            frame[name] = frame[name].map(
                dict(zip(labels, rng.permutation(len(labels)).tolist(), strict=True))
            )
        other = learner().fit(frame)
        assert other.dag_ == known.dag_
        assert other.dag_.reorder(alarm.columns.tolist()).weights == known.dag_.weights
        assert other.pc_ == known.pc_

    def test_kind_of_table(self, learner, known, alarm, tmp_path):
        alarm.to_csv(tmp_path / "t.csv", index=False)
        alarm.to_parquet(tmp_path / "t.parquet")
        codes = np.column_stack([pd.factorize(alarm[c])[0] for c in alarm.columns])
        tables = [
            pl.from_pandas(alarm),
            pa.Table.from_pandas(alarm),
            {name: alarm[name].tolist() for name in alarm.columns},
            tmp_path / "t.csv",
            str(tmp_path / "t.parquet"),
        ]
        for table in tables:
            assert learner().fit(table).dag_ == known.dag_
        named = f2sl.learn(codes, NAMES[learner], names=alarm.columns.tolist())
        assert named.dag_ == known.dag_

    def test_runs_are_the_same_to_the_byte(self, learner, known, alarm, tmp_path):
        texts = set()
        for run, model in enumerate((known, learner().fit(alarm), learner().fit(alarm))):
            path = tmp_path / f"{run}.json"
            model.graph_.save(path)
            texts.add(path.read_bytes())
        assert len(texts) == 1

    def test_declared_states_that_do_not_occur_count(self):
        frame = collider(300)
        wide = frame.assign(a=pd.Categorical(frame["a"], categories=range(30)))
        few = f2sl.F2SLc().fit(frame)
        many = f2sl.F2SLc().fit(wide)
        assert few.n_inconclusive_ == 0
        assert many.n_inconclusive_ > 0


class TestByName:
    def test_learn_gives_the_fitted_learner(self, alarm):
        model = f2sl.learn(alarm, algorithm="f2sl-s", equivalent_sample_size=1)
        assert isinstance(model, f2sl.F2SLs)
        assert model.equivalent_sample_size == 1
        assert model.graph_ == f2sl.F2SLs(equivalent_sample_size=1).fit(alarm).graph_

    def test_learn_pc_is_one_row_of_all(self, alarm):
        model = f2sl.F2SLc().fit(alarm)
        for target in ("HR", "CO", "SHUNT"):
            assert list(f2sl.learn_pc(alarm, target)) == model.pc_[target]

    def test_learn_pc_is_in_order_of_strength(self, alarm):
        strengths = list(f2sl.learn_pc(alarm, "CO", ties="keep", delta=0.01).values())
        assert strengths == sorted(strengths, reverse=True)

    def test_mrmr_gives_k(self, alarm):
        assert len(f2sl.learn_pc(alarm, "CO", algorithm="mrmr", k=3)) == 3

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda t: f2sl.learn(t, algorithm="f2sl-x"), ["'f2sl-x'", "f2sl-c", "f2sl-s"]),
            (lambda t: f2sl.learn(t, alhpa=0.1), ["'alhpa'", "did you mean 'alpha'"]),
            (lambda t: f2sl.learn_pc(t, "HRR"), ["'HRR'", "'HR'"]),
            (lambda t: f2sl.learn_pc(t, "HR", algorithm="fcfb"), ["'fcfb'", "'fcbf'"]),
            (lambda t: f2sl.learn_pc(t, "HR", algorithm="mrmr", k=0), ["k must be", "at least 1"]),
            (lambda t: f2sl.F2SLc(delta=-0.1).fit(t), ["delta", "-0.1"]),
            (lambda t: f2sl.F2SLc(alpha=1).fit(t), ["alpha", "between 0 and 1"]),
            (lambda t: f2sl.F2SLc(max_cond_vars=1.5).fit(t), ["max_cond_vars", "1.5"]),
            (lambda t: f2sl.F2SLc(symmetry="xor").fit(t), ["symmetry", "'and'", "'or'"]),
            (lambda t: f2sl.F2SLc(ties="both").fit(t), ["ties", "'drop'", "'keep'"]),
            (lambda t: f2sl.F2SLc(measure="gini").fit(t), ["measure", "'su'"]),
            (lambda t: f2sl.F2SLc(ci_test="t").fit(t), ["ci_test", "'g2'"]),
            (lambda t: f2sl.F2SLc(n_jobs=0).fit(t), ["n_jobs"]),
            (lambda t: f2sl.F2SLs(score="bde").fit(t), ["score", "'bdeu'"]),
            (lambda t: f2sl.F2SLs(equivalent_sample_size=0).fit(t), ["equivalent_sample_size"]),
            (lambda t: f2sl.F2SLs(max_stall=0).fit(t), ["max_stall", "at least 1"]),
            (lambda t: f2sl.F2SLs(tabu_length=-1).fit(t), ["tabu_length"]),
        ],
    )
    def test_refusals(self, alarm, call, words):
        with pytest.raises(f2sl.F2SLError) as caught:
            call(alarm)
        for word in words:
            assert word in str(caught.value)
        assert "\n" not in str(caught.value)


class TestAmongScikitLearn:
    def test_clone_keeps_options_and_drops_results(self, learner):
        model = learner(ties="keep").fit(collider())
        copy = clone(model)
        assert copy.ties == "keep"
        assert not hasattr(copy, "graph_")

    def test_last_step_of_a_pipeline(self, learner, known, alarm):
        pipe = make_pipeline("passthrough", learner())
        assert pipe.fit(alarm)[-1].graph_ == known.graph_
