"""Significant pairs are those of the plain rule over all p-values, found without keeping them all."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive
import naive_gaussian
from f2sl import FCBF
from f2sl.data.engines import FoundPairs
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.stream import StreamTable
from f2sl.stats.choose import related_pairs, significant_pairs
from f2sl.stats.measures import significance
from f2sl.stats.measures.significance import SignificantPairs
from f2sl.stats.tests.g2 import G2OfPairs
from gaussian_tools import moments, related_values
from tables import make_engine, make_table, random_codes, related_codes

pytestmark = pytest.mark.kernels

CORRECTIONS = ("fdr", "bonferroni")
corrections = st.sampled_from(CORRECTIONS)


def listed(found):
    return dict(
        zip(zip(found.first.tolist(), found.second.tolist(), strict=True), found.values.tolist(), strict=True)
    )


def p_values_of(codes):
    return {pair: naive.independence_test(codes, *pair)[2] for pair in combinations(range(len(codes)), 2)}


# The rule


class MadeUp:
    """An engine and its test at once, with p-values from nowhere; knows how often they were gone through."""

    def __init__(self, n_variables, p_values):
        self.n_variables = n_variables
        self.first, self.second = np.triu_indices(n_variables, 1)
        self.p = np.array(p_values)
        self.kept = []

    def search_pairs(self, formula, advance=None):
        keep = self.p <= formula[-1]
        self.kept.append(int(keep.sum()))
        tally = (self.p[:, None] <= formula).sum(axis=0)
        return FoundPairs(self.first[keep], self.second[keep], self.p[keep], tally)

    def formula(self, levels):
        return levels

    def p_values(self, found):
        return found.values


def found_by_rule(made_up, correction="fdr", level=0.05):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "KEPT_PER_VARIABLE", 1)
        return listed(SignificantPairs(made_up, made_up, correction, level, lambda found: found.values)())


def named(n_variables, p_values):
    return dict(zip(combinations(range(n_variables), 2), p_values, strict=True))


@given(st.integers(2, 16), st.floats(0.01, 0.5), corrections, st.floats(0.0, 4.0), st.integers(0, 2**32 - 1))
def test_one_or_two_walks_find_what_the_plain_rule_finds(n_variables, level, correction, power, random_state):
    p_values = np.random.default_rng(random_state).random(n_variables * (n_variables - 1) // 2) ** (1 + power)
    made_up = MadeUp(n_variables, p_values)
    by_rule = naive.significant(named(n_variables, p_values), level, correction)
    assert sorted(found_by_rule(made_up, correction, level)) == by_rule
    assert len(made_up.kept) <= (1 if correction == "bonferroni" else 2)


def test_the_last_p_value_may_be_far_beyond_what_the_first_walk_keeps():
    # The first walk keeps p <= 0.05 * 10 / 45 = 0.011: nothing. But 30 are below 0.05 * 30 / 45 = 0.033.
    p_values = [0.03] * 30 + [0.5] * 15
    made_up = MadeUp(10, p_values)
    assert len(found_by_rule(made_up)) == 30
    assert made_up.kept == [0, 30]


def test_one_walk_is_enough_where_little_is_related():
    p_values = [1e-6, 1e-4, 0.002, 0.004, 0.04, 0.045, *np.linspace(0.06, 1, 39)]
    made_up = MadeUp(10, p_values)
    # 0.002 <= 0.05 * 3 / 45 = 0.0033, 0.004 <= 0.05 * 4 / 45 = 0.0044.
    assert list(found_by_rule(made_up).values()) == [1e-6, 1e-4, 0.002, 0.004]
    assert made_up.kept == [4]


# States


@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 150),
    n_variables=st.integers(2, 12),
    correction=corrections,
    level=st.sampled_from([0.01, 0.05, 0.3]),
    measure=st.sampled_from(["su", "mi"]),
    kept=st.sampled_from([1, 50]),
)
def test_pairs_are_those_of_the_plain_rule(
    random_state, n_rows, n_variables, correction, level, measure, kept
):
    codes = related_codes(random_state, n_rows, n_variables)
    matrix = naive.all_pairs(codes, measure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "KEPT_PER_VARIABLE", kept)
        found = listed(significant_pairs(make_engine(codes), correction, level, measure)())
    assert list(found) == naive.significant(p_values_of(codes), level, correction)
    for (x, y), value in found.items():
        assert value == pytest.approx(matrix[x][y], rel=1e-9)


@pytest.mark.parametrize("kept", [1, 50])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_many_states_and_states_that_do_not_occur(correction, kept, monkeypatch):
    """Pairs are counted by planes, by codes and by sorting, each with its own degrees of freedom."""
    monkeypatch.setattr(significance, "KEPT_PER_VARIABLE", kept)
    cardinalities = [2, 3, 80, 2, 120, 1, 4, 1100, 300, 2, 1000, 5]
    codes = random_codes(3, 400, cardinalities)
    codes[9] = codes[2] % 2
    codes[6] = np.where(np.random.default_rng(1).random(400) < 0.5, codes[4] % 4, codes[6])
    codes[10] = codes[7] // 3
    codes[3] = 0
    codes[11] = np.where(codes[9] == 1, codes[11] % 2, 3)
    found = significant_pairs(make_engine(codes, cardinalities), correction)()
    wanted = naive.significant(p_values_of(codes), correction=correction)
    assert list(listed(found)) == wanted
    assert {(2, 9), (4, 6), (9, 11)} <= set(wanted)
    assert not any(3 in pair or 5 in pair for pair in wanted)


@pytest.mark.parametrize("measure", ["su", "mi"])
def test_values_have_the_bits_of_the_plain_search(measure):
    engine = make_engine(related_codes(4, 90, 12))
    found = listed(significant_pairs(engine, measure=measure)())
    plain = listed(related_pairs(engine, -1.0, measure)())
    assert found == {pair: plain[pair] for pair in found}
    assert len(found) > 5


def test_parts_are_cut_from_the_pairs_of_all():
    codes = related_codes(6, 200, 14)
    search = significant_pairs(make_engine(codes))
    pairs = listed(search())
    some = np.array([0, 3, 4, 8, 9, 13])
    chosen = set(some.tolist())
    for target in range(14):
        of_target = {pair: value for pair, value in pairs.items() if target in pair}
        assert listed(search(target=target)) == of_target
        assert listed(significant_pairs(make_engine(codes))(target=target)) == of_target
        among = {pair: value for pair, value in of_target.items() if set(pair) - {target} <= chosen}
        assert listed(search(target=target, variables=some)) == among
    assert listed(search(variables=some)) == {pair: v for pair, v in pairs.items() if set(pair) <= chosen}
    assert listed(search(variables=some[:0])) == {}


@pytest.mark.parametrize("kept", [1, 50])
def test_every_engine_finds_the_same_bits(kept, monkeypatch):
    monkeypatch.setattr(significance, "KEPT_PER_VARIABLE", kept)
    table = make_table(related_codes(12, 210, 30))
    found = []
    for jobs, rows_per_block, memory in ((1, None, 0), (3, None, 0), (1, 50, 1 << 28), (2, 33, 1 << 14)):
        if rows_per_block is None:
            engine = MemoryEngine(table, jobs)
        else:
            engine = StreamTable.of_table(table, rows_per_block, memory).counting_engine(jobs)
        with engine:
            shares = []
            found.append(listed(significant_pairs(engine)(advance=shares.append)))
            assert sum(shares) == pytest.approx(1.0)
    assert len(found[0]) > 20
    assert all(one == found[0] for one in found)


def test_the_order_of_rows_columns_and_states_changes_nothing():
    codes = related_codes(8, 120, 15)
    rng = np.random.default_rng(0)
    positions = rng.permutation(15)
    moved = np.stack([rng.permutation(row.max() + 1)[row] for row in codes[:, rng.permutation(120)]])
    found = listed(significant_pairs(make_engine(codes))())
    other = listed(significant_pairs(make_engine(moved[positions]))())
    assert found == {tuple(sorted(positions[list(pair)].tolist())): value for pair, value in other.items()}


def test_the_formula_can_be_sent_elsewhere():
    engine = make_engine(related_codes(2, 100, 8))
    formula = G2OfPairs(engine).formula(np.array([0.05, 0.001]))
    there = engine.search_pairs(pickle.loads(pickle.dumps(formula)))
    here = engine.search_pairs(formula)
    assert listed(there) == listed(here)
    assert here.tally.tolist() == there.tally.tolist()
    assert here.tally[0] >= here.tally[1] == len(here.first) > 0


# Real numbers


@given(
    st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(5, 60), corrections, st.sampled_from([1, 50])
)
def test_pairs_of_continuous_variables(random_state, n_variables, n_rows, correction, kept):
    values = related_values(random_state, n_variables, n_rows)
    pairs = combinations(range(n_variables), 2)
    by_hand = {(x, y): naive_gaussian.z_test(values[x], values[y]) for x, y in pairs}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "KEPT_PER_VARIABLE", kept)
        found = listed(significant_pairs(moments(values), correction)())
    assert list(found) == naive.significant(by_hand, correction=correction)
    for (x, y), value in found.items():
        assert value == pytest.approx(naive_gaussian.correlation(values[x], values[y]) ** 2, rel=1e-9)


@pytest.mark.parametrize(("n_rows", "expected"), [(2, []), (3, []), (4, [(0, 1)])])
def test_too_few_rows_for_fishers_z(n_rows, expected):
    column = np.arange(n_rows) ** 2.0
    assert list(listed(significant_pairs(moments([column, 2 * column + 1]))())) == expected


@pytest.mark.parametrize("measure", ["r2", "correlation", "mi"])
def test_continuous_measures_give_the_same_pairs(measure):
    engine = moments(related_values(3, 10, 80))
    found = listed(significant_pairs(engine, measure=measure)())
    plain = listed(related_pairs(engine, 0.0, measure)())
    assert found == {pair: plain[pair] for pair in found}
    assert list(found) == list(listed(significant_pairs(engine)()))


def test_one_target_and_all_agree_on_continuous_tables():
    engine = moments(related_values(5, 12, 70))
    sets = FCBF(delta="auto").learn_all(engine)
    for target in range(12):
        alone = FCBF(delta="auto").learn_one(engine, target)
        assert [alone.members.tolist(), alone.strengths.tolist()] == [x.tolist() for x in sets.of(target)]


# Learners


@pytest.mark.parametrize("learner", [f2sl.F2SLc, f2sl.F2SLs])
def test_learners_take_it(learner):
    table = f2sl.load_example("alarm")[:500]
    model = learner(delta="auto").fit(table)
    assert model.graph_.n_edges > learner(delta=0.2).fit(table).graph_.n_edges > 0
    local = f2sl.learn_pc(table, delta="auto")
    assert model.pc_ == {name: list(local[name]) for name in model.pc_}
    assert list(f2sl.learn_pc(table, target="HR", delta="auto")) == model.pc_["HR"]


def test_more_samples_find_weaker_relations():
    """A fixed threshold of 0.05 never finds a relation with SU of 0.01, this one does with enough samples."""
    net = f2sl.BayesianNetwork.fit(
        f2sl.DAG(["a", "b"], [("a", "b")]),
        {"a": [0] * 50 + [1] * 50, "b": [0] * 28 + [1] * 22 + [0] * 22 + [1] * 28},
        equivalent_sample_size=0,
    )
    found = [
        f2sl.F2SLc(delta="auto").fit(net.sample(rows, random_state=1)).graph_.n_edges for rows in (50, 5000)
    ]
    assert found == [0, 1]
    assert f2sl.F2SLc().fit(net.sample(5000, random_state=1)).graph_.n_edges == 0
