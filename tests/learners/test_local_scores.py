"""The local learners by score, like the naive algorithms that try all DAGs."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from numba import njit

import f2sl
import naive_score_local
from f2sl import DataError, OptionError
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.learners.local import _kernels, by_score, growing, sll
from f2sl.learners.local.growing import Grower
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET
from f2sl.search.exact import family_rules
from marks import compiled_only
from score_tools import OPTIONS, naive_best, tables
from tables import make_engine, related_codes

pytestmark = pytest.mark.kernels

LEARNERS = ("sll-pc", "s2tmb-pc", "sll", "s2tmb")


def learner_of(name, **options):
    learner = (LOCAL if name in LOCAL else MARKOV_BLANKET).create(name, options)
    learner.check_options()
    return learner


def naive_set(name, best, n, target, order):
    if name == "sll-pc":
        return naive_score_local.neighbors(best, n, target, order)
    if name == "sll":
        return naive_score_local.sll(best, n, target, order)
    found = naive_score_local.s2tmb(best, n, target, order)
    return found.near if name == "s2tmb-pc" else found.near | found.spouses


def as_dicts(sets):
    """Members with strengths, set by set."""
    parts = [sets.of(v) for v in range(len(sets.start) - 1)]
    return [dict(zip(m.tolist(), s.tolist(), strict=True)) for m, s in parts]


@pytest.mark.parametrize("name", LEARNERS)
@given(codes=tables(), options=OPTIONS)
def test_sets_and_strengths_are_the_naive_ones(name, codes, options):
    n = len(codes)
    best = naive_best(codes, **options)
    learner = learner_of(name, **options)
    found = learner.learn_all(make_engine(codes))
    for v, members in enumerate(as_dicts(found)):
        expected = naive_set(name, best, n, v, options["order"])
        assert members == pytest.approx(expected, abs=1e-6)
        assert (np.diff(list(members.values())) <= 0).all()
        alone = learner.learn_one(make_engine(codes), v)
        assert dict(zip(alone.members.tolist(), alone.strengths.tolist(), strict=True)) == members
        assert alone.complete
    assert found.complete
    assert any("hill climbing" in note for note in found.notes) <= (options["max_exact"] < n)


@given(codes=tables(), options=OPTIONS)
def test_without_symmetry_sets_are_the_potential_ones(codes, options):
    best = naive_best(codes, **options)
    found = learner_of("sll-pc", symmetry="none", **options).learn_all(make_engine(codes))
    for v, members in enumerate(as_dicts(found)):
        expected = naive_score_local.potential_neighbors(best, len(codes), v, options["order"])
        assert members == pytest.approx(expected, abs=1e-6)


@pytest.fixture(scope="module")
def alarm():
    return f2sl.load_network("alarm").sample(500, random_state=1)


def sets_of(name, frame, **options):
    learn = f2sl.learn_pc if name in LOCAL else f2sl.learn_mb
    return {target: learn(frame, target, name, **options) for target in ("HR", "CATECHOL", "VENTLUNG")}


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_nothing_but_the_data_matters(name, alarm):
    known = sets_of(name, alarm)
    assert all(known.values())
    rng = np.random.default_rng(0)
    shuffled = alarm.iloc[rng.permutation(500), rng.permutation(37)]
    assert sets_of(name, shuffled, n_jobs=1) == known == sets_of(name, alarm, n_jobs=3)


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_in_the_order_of_strength_names_do_not_matter(name, alarm):
    renamed = alarm.rename(columns=lambda column: column[::-1])
    for target, members in sets_of(name, alarm).items():
        learn = f2sl.learn_pc if name in LOCAL else f2sl.learn_mb
        assert {member[::-1] for member in learn(renamed, target[::-1], name)} == members.keys()


# Soundness: with many rows, what the network says


@compiled_only
@pytest.mark.parametrize("network", ["asia", "cancer", "earthquake", "survey", "sachs"])
@pytest.mark.parametrize("name", LEARNERS)
def test_sets_of_a_large_sample_are_the_true_ones(network, name):
    truth = f2sl.load_network(network)
    table = f2sl.open_table(truth.sample(50_000, random_state=1)).in_name_order()
    found = learner_of(name).learn_all(make_engine(table.codes, table.cardinalities, n_jobs=None))
    for v, members in enumerate(as_dicts(found)):
        target = table.names[v]
        true = truth.graph.neighbors(target) if name in LOCAL else truth.markov_blanket(target)
        assert {table.names[m] for m in members} == set(true), target


@compiled_only
def test_more_neighbors_than_a_word_has_bits():
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, 300)
    table = {"hub": hub} | {f"x{i:02}": np.where(rng.random(300) < 0.85, hub, 1 - hub) for i in range(66)}
    with pytest.warns(F2SLWarning, match="hill climbing"):
        found = f2sl.learn_mb(table, "hub", "sll")
    assert found.keys() == table.keys() - {"hub"}


def test_who_is_adjacent_to_a_target_is_no_spouse():
    """0 -> 1, 0 -> 2 <- 1 and 3 -> 2: both 1 and 3 are parents of a child of 0, and 1 is adjacent to it."""
    sees = njit(lambda *arguments: _kernels.sees(*arguments))
    assert sees(np.array([0, 0b0001, 0b1011, 0]), 0) == (0b0110, 0b1000)


def test_gains_that_differ_by_rounding_alone_are_equal(monkeypatch):
    run = by_score.Run(learner_of("sll-pc"), make_engine(related_codes(0, 20, 4)))
    gains = np.array([5 << 20, (5 << 20) + 3, 9 << 20])
    monkeypatch.setattr(run.grower, "gain", lambda target, others: gains)
    assert run.others(0).tolist() == [3, 1, 2]


def test_a_spouse_of_sll_is_as_strong_as_either_end_says():
    spouses = {0: growing.Surroundings(spouses={3: 5.0}), 3: growing.Surroundings(spouses={0: 2.0})}
    run = SimpleNamespace(
        spouses=spouses, found={}, spouses_around=spouses.get, around=lambda target: growing.Surroundings()
    )
    assert (sll.blanket(run, 0), sll.blanket(run, 3)) == ({3: 5.0}, {0: 5.0})


def test_a_decided_neighbor_is_no_new_spouse():
    """Of 0, 1 and 2 any one is the child of both others; 1 and 2 are settled neighbors of 0, 3 is tried."""
    lattice = np.array([[10 * (mask & 0b111 == 0b111) for mask in range(16)]])
    parents, tried = np.zeros((1, 4), np.int64), np.zeros(1, np.int64)
    of_search = (np.array([value]) for value in (0b110, 0, False, True))
    _kernels.try_in_turn(
        lattice,
        np.array([0, 1]),
        np.array([0]),
        np.array([3]),
        *of_search,
        -1,
        family_rules(4)[np.newaxis],
        parents,
        tried,
    )
    assert tried.tolist() == [1]
    assert parents[0, 0] == -1  # nothing has changed


def test_a_spouse_is_as_strong_as_its_strongest_link_to_a_common_child():
    # 0 -> 1 <- 3 and 0 -> 2 <- 3. A loss is G(all) - G(parents) - G(without) + G(rest): here G(all) alone.
    values = {0b1011: 5, 0b1101: 2}
    found = growing._surroundings(
        0, [0, 1, 2, 3], [0, 0b1001, 0b1001, 0], lambda sets: np.array([values.get(s, 0) for s in sets]), 0.5
    )
    assert found.near == {1: 2.5, 2: 1.0}
    assert found.spouses == {3: 2.5}
    assert found.children == {3: (1, 2)}


def test_two_copies_of_a_cause():
    """An effect can be adjacent to either copy; with ties dropped to neither, with ties kept to both."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    effect = np.where(rng.random(500) < 0.9, a, 1 - a)
    table = {"a": a, "copy": a, "effect": effect}
    assert set(f2sl.learn_pc(table, "a", "sll-pc")) == {"copy"}
    assert set(f2sl.learn_pc(table, "effect", "sll-pc")) == set()
    assert set(f2sl.learn_pc(table, "a", "sll-pc", ties="keep")) == {"copy", "effect"}
    assert len(f2sl.learn_pc(table, "effect", "sll-pc", ties="keep")) == 1


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("options", [{}, {"score": "bic"}, {"ties": "keep"}])
def test_constant_columns_have_no_neighbors(name, options):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 50)
    codes = np.stack([np.zeros(50, np.int64), a, a // 2, np.zeros(50, np.int64)])
    found = learner_of(name, **options).learn_all(make_engine(codes))
    assert [set(members) for members in as_dicts(found)] == [set(), {2}, {1}, set()]


# Large sets, little memory, little time, Ctrl-C


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_forgotten_is_counted_again(name, alarm, monkeypatch):
    known = sets_of(name, alarm)
    monkeypatch.setattr(growing, "SETS_REMEMBERED", 500)
    monkeypatch.setattr(growing, "SETS_AT_ONCE", 700)
    assert sets_of(name, alarm) == known


@compiled_only
def test_hill_climbing_takes_over_above_max_exact_and_says_so(alarm):
    with pytest.warns(F2SLWarning, match=r"networks had more than 4 variables \(max_exact\): hill climbing"):
        some = f2sl.learn_pc(alarm, "LVEDVOLUME", "sll-pc", max_exact=4)
    assert set(some) == set(f2sl.learn_pc(alarm, "LVEDVOLUME", "sll-pc"))


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_a_time_limit_ends_with_what_is_finished(name, alarm):
    table = f2sl.open_table(alarm).in_name_order()
    engine = make_engine(table.codes, table.cardinalities)
    found = learner_of(name, time_limit=0.001).learn_all(engine)
    assert not found.complete
    assert found.notes[0].startswith("incomplete: the time limit of 0.001 s ended the search with ")
    assert found.notes[0].endswith(f"{found.finished.sum()} of 37 variables finished")
    with pytest.warns(
        F2SLWarning, match=r"incomplete: the time limit of 0\.001 s ended the search before its"
    ):
        sets_of(name, alarm, time_limit=0.001)


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_an_interrupt_keeps_what_is_finished(name, alarm, monkeypatch):
    table = f2sl.open_table(alarm).in_name_order()
    options = {"symmetry": "none"} if name == "sll-pc" else {}
    whole = learner_of(name, **options).learn_all(make_engine(table.codes, table.cardinalities))
    answer, calls = Grower.answer, []

    def interrupted(self, asked):
        calls.append(asked)
        if len(calls) > (200 if name == "sll" else 50):
            raise KeyboardInterrupt
        return answer(self, asked)

    monkeypatch.setattr(Grower, "answer", interrupted)
    monkeypatch.setattr(by_score, "TARGETS_AT_ONCE", 1)
    with pytest.raises(Interrupted) as caught:
        learner_of(name, **options).learn_all(make_engine(table.codes, table.cardinalities))
    some = caught.value.finished
    assert isinstance(caught.value, KeyboardInterrupt)
    assert some.notes == (f"incomplete: interrupted with {some.finished.sum()} of 37 variables finished",)
    assert 0 < some.finished.sum() < 37
    if name != "sll":  # whose spouses are those that either end names, and some ends are not finished
        for v in np.flatnonzero(some.finished):
            assert some.of(v)[0].tolist() == whole.of(v)[0].tolist()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"time_limit": 0}, "time_limit must be a number from 0.001 to 1e+09, not 0"),
        ({"time_limit": -1.0}, "time_limit must be"),
        ({"max_exact": 1}, "max_exact must be a whole number from 2 to 20, not 1"),
        ({"max_exact": 21}, "max_exact must be a whole number from 2 to 20, not 21"),
        ({"max_parents": -1}, "max_parents must be a whole number of at least 0"),
        ({"score": "k2"}, "score must be one of 'bdeu', 'bic', not 'k2'"),
        ({"order": "size"}, "order must be one of 'strength', 'name'"),
        ({"ties": "some"}, "ties must be one of 'drop', 'keep'"),
        ({"equivalent_sample_size": 0}, "equivalent_sample_size must be"),
    ],
)
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_by_best_networks_refuse_options_out_of_range(name, options, told):
    learn = f2sl.learn_pc if name in LOCAL else f2sl.learn_mb
    with pytest.raises(OptionError, match="^" + told.replace("+", r"\+")):
        learn({"a": [0, 1], "b": [1, 0]}, "a", name, **options)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_target_that_is_not_there(name):
    learn = f2sl.learn_pc if name in LOCAL else f2sl.learn_mb
    with pytest.raises(DataError, match=r"unknown column 'c'\. Known: a, b"):
        learn({"a": [0, 1], "b": [1, 0]}, "c", name)
