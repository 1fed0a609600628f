"""Tests, scores and measures of states and numbers together: naive versions agree."""

import math
from itertools import chain, combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import naive_mixed
from f2sl import ConditionalGaussian, DegenerateGaussian
from f2sl.data.engines import open_engine
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE
from f2sl.stats.choose import make_score, make_test, related_pairs, significant_pairs
from f2sl.stats.conditioning import COLLINEAR
from marks import few_examples
from mixed_tools import mixed_columns, mixed_table

pytestmark = pytest.mark.kernels

KINDS = ("discrete", "continuous", "discrete", "continuous", "continuous")


def engine_of(columns, kinds=KINDS):
    return open_engine(mixed_table(columns, kinds), 1)


@st.composite
def questions(draw):
    columns = mixed_columns(draw(st.integers(0, 2**32 - 1)))
    x, y, *given_set = draw(st.permutations(range(5)))
    given_set = sorted(given_set[: draw(st.integers(0, 2))])
    return columns, x, y, given_set


def asked(test, x, y, given_set):
    answers = test.ask(np.array([x]), np.array([y]), np.array([given_set], np.int64).reshape(1, -1))
    return answers.answer[0], answers.p_value[0], answers.statistic[0]


def both_kinds(*variables):
    return len({KINDS[v] for v in variables}) == 2


@few_examples
@given(questions())
def test_degenerate_gaussian(question):
    columns, x, y, given_set = question
    with engine_of(columns) as engine:
        test = make_test(engine, 0.01, "dg", samples_per_cell=1.0)
        answer, p_value, statistic = asked(test, x, y, given_set)
        assert asked(test, y, x, given_set) == (answer, p_value, statistic) or answer == INCONCLUSIVE
    if both_kinds(x, y, *given_set) and answer != INCONCLUSIVE:
        expected, freedom = naive_mixed.degenerate_statistic(columns, KINDS, x, y, given_set)
        assert statistic == pytest.approx(expected, rel=1e-9, abs=1e-8)
        assert p_value == pytest.approx(chi2.sf(expected, freedom), abs=1e-9)


@few_examples
@given(questions(), st.sampled_from([1.0, 5.0, math.inf]))
def test_conditional_gaussian(question, weight):
    columns, x, y, given_set = question
    if not both_kinds(x, y, *given_set):
        return
    with engine_of(columns) as engine:
        test = ConditionalGaussian(weight).bind(engine, samples_per_cell=1.0)
        answer, p_value, statistic = asked(test, x, y, given_set)
    if answer == INCONCLUSIVE:
        return
    expected = freedom = 0.0
    for sign, own in ((1, [x, y]), (-1, [x]), (-1, [y]), (1, [])):
        variables = own + given_set
        expected += 2 * sign * naive_mixed.conditional_log_likelihood(columns, KINDS, variables, weight)
        n_groups = len(naive_mixed.groups(columns, KINDS, variables))
        freedom += sign * naive_mixed.parameters(KINDS, variables, n_groups, weight)
    if KINDS[x] == KINDS[y] == "discrete":
        # Rows and columns of each stratum that are not empty.
        for rows in naive_mixed.groups(columns, KINDS, given_set):
            freedom += (len(set(columns[x][rows])) - 1) * (len(set(columns[y][rows])) - 1)
    assert statistic == pytest.approx(max(expected, 0.0), rel=1e-9, abs=1e-7)
    assert p_value == pytest.approx(chi2.sf(max(expected, 0.0), freedom), abs=1e-8)


def test_questions_of_one_kind_go_to_the_tests_of_that_kind():
    columns = mixed_columns(3)
    states, numbers = [columns[0], columns[2]], [columns[1], columns[3], columns[4]]
    counts = engine_of(states, ("discrete",) * 2)
    moments = engine_of(numbers, ("continuous",) * 3)
    with engine_of(columns) as engine, counts, moments:
        for name in ("dg", "cg"):
            test = make_test(engine, 0.05, name)
            assert asked(test, 0, 2, []) == asked(make_test(counts, 0.05), 0, 1, [])
            assert asked(test, 1, 4, [3]) == asked(make_test(moments, 0.05), 0, 2, [1])
            assert (test.n_tests, test.n_inconclusive) == (2, 0)


def test_a_copy_is_as_dependent_as_can_be_told():
    columns = mixed_columns(5)
    columns[2] = columns[0].copy()
    with engine_of(columns) as engine:
        answer, p_value, statistic = asked(make_test(engine, 0.01, "dg"), 0, 2, [1])
    expected, _ = naive_mixed.degenerate_statistic(columns, KINDS, 0, 2, [1], COLLINEAR)
    assert (answer, p_value) == (DEPENDENT, 0.0)
    assert statistic == pytest.approx(expected, rel=1e-9)


def test_without_enough_samples_nothing_is_said():
    columns = mixed_columns(4, n_rows=12)
    with engine_of(columns) as engine:
        for name in ("dg", "cg"):
            test = make_test(engine, 0.05, name)
            assert test.answer(np.array([0]), np.array([1]), np.array([[2]]))[0] == INCONCLUSIVE
            assert test.n_inconclusive == 1


def test_a_continuous_variable_that_discrete_ones_determine_is_not_tested():
    codes = np.arange(60) % 3
    columns = [codes, np.array([0.5, 1.5, 4.0])[codes], np.random.default_rng(1).integers(0, 2, 60)]
    with engine_of(columns, ("discrete", "continuous", "discrete")) as engine:
        test = make_test(engine, 0.05, "dg")
        assert test.answer(np.array([1]), np.array([2]), np.array([[0]]))[0] == INCONCLUSIVE


ARROWS = [(0, 2), (1, 2), (2, 3), (1, 4), (3, 5), (4, 5)]


def test_with_the_moments_of_the_population_only_what_d_separates_is_independent():
    # A Gaussian network of six variables, some of which are two columns, as indicators of three states are.
    rng = np.random.default_rng(5)
    start = np.array([0, 2, 3, 5, 6, 7, 9])
    weights = np.zeros((9, 9))
    for a, b in ARROWS:
        shape = start[a + 1] - start[a], start[b + 1] - start[b]
        weights[start[a] : start[a + 1], start[b] : start[b + 1]] = rng.uniform(0.5, 1.0, shape)
    spread = np.linalg.inv(np.eye(9) - weights)
    covariance = spread.T @ spread
    deviation = np.sqrt(np.diag(covariance))
    linear = SimpleNamespace(correlations=covariance / np.outer(deviation, deviation), start=start)
    threads = SimpleNamespace(map=lambda function, items: [function(item) for item in items])
    engine = SimpleNamespace(linear=linear, n_rows=10**10, threads=threads, any_missing=False)
    for x, y in combinations(range(6), 2):
        others = [v for v in range(6) if v not in (x, y)]
        for size in range(5):
            for given_set in combinations(others, size):
                row = np.array([given_set], np.int64).reshape(1, -1)
                statistic, freedom = DegenerateGaussian().statistics(
                    engine, np.array([x]), np.array([y]), row
                )
                assert (chi2.sf(statistic, freedom)[0] > 0.01) == separated(x, y, given_set)


def separated(x, y, given_set):
    """Tell whether a set separates two variables in the graph of ARROWS, by its moralised ancestors."""
    near = {x, y, *given_set}
    while True:
        more = near | {a for a, b in ARROWS if b in near}
        if more == near:
            break
        near = more
    edges = {frozenset(arrow) for arrow in ARROWS if set(arrow) <= near}
    edges |= {frozenset((a, c)) for (a, b), (c, d) in permutations(ARROWS, 2) if b == d and b in near}
    reached = {x}
    while True:
        more = {v for edge in edges if edge & reached for v in edge} - set(given_set) | reached
        if more == reached:
            return y not in reached
        reached = more


@few_examples
@given(questions())
def test_scores_equal_the_naive_ones(question):
    columns, child, parent, others = question
    given_set = sorted([parent, *others])
    with engine_of(columns) as engine:
        family = [(child, tuple(given_set)), (child, ())]
        found = make_score(engine, "cg-bic").score(family)
        assert found[0] == pytest.approx(
            naive_mixed.cg_bic(columns, KINDS, child, given_set), rel=1e-9, abs=1e-6
        )
        assert found[1] == pytest.approx(naive_mixed.cg_bic(columns, KINDS, child, []), rel=1e-9, abs=1e-6)
        found = make_score(engine, "dg-bic").score(family)
        assert found[0] == pytest.approx(
            naive_mixed.dg_bic(columns, KINDS, child, given_set), rel=1e-9, abs=1e-6
        )
        assert found[1] == pytest.approx(naive_mixed.dg_bic(columns, KINDS, child, []), rel=1e-9, abs=1e-6)


@few_examples
@given(st.integers(0, 2**32 - 1), st.sampled_from(["cg-bic", "dg-bic"]))
def test_equivalent_networks_have_the_same_score(random_state, name):
    with engine_of(mixed_columns(random_state)) as engine:
        score = make_score(engine, name)
        totals = []
        for order in ((0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)):  # complete graphs are all equivalent
            families = [(v, tuple(sorted(order[:position]))) for position, v in enumerate(order)]
            totals.append(score.score(families).sum())
        assert totals == pytest.approx([totals[0]] * 3, rel=1e-11)


@few_examples
@given(st.integers(0, 2**32 - 1), st.sampled_from(["cg-bic", "dg-bic"]))
def test_turning_an_edge_whose_ends_share_all_other_parents_keeps_the_score(random_state, name):
    """Such turns lead from a network to all that are equivalent to it (Chickering 1995)."""
    with engine_of(mixed_columns(random_state)) as engine:
        score = make_score(engine, name)
        for u, v in combinations(range(5), 2):
            rest = [w for w in range(5) if w not in (u, v)]
            for own in chain.from_iterable(combinations(rest, size) for size in range(4)):
                one = [(u, own), (v, tuple(sorted((*own, u))))]
                other = [(v, own), (u, tuple(sorted((*own, v))))]
                assert score.score(one).sum() == pytest.approx(score.score(other).sum(), rel=1e-9)


def test_families_of_one_kind_have_the_scores_of_that_kind():
    columns = mixed_columns(7)
    states, numbers = [columns[0], columns[2]], [columns[1], columns[3], columns[4]]
    with engine_of(columns) as engine, open_engine(mixed_table(states, ("discrete",) * 2), 1) as counts:
        of_states = [(2, (0,)), (0, ())], [(1, (0,)), (0, ())]
        found = make_score(engine, "cg-bic").score(of_states[0])
        assert found.tolist() == make_score(counts, "bic").score(of_states[1]).tolist()
        with open_engine(mixed_table(numbers, ("continuous",) * 3), 1) as moments:
            found = make_score(engine, "cg-bic").score([(4, (1, 3)), (1, ())])
            assert found.tolist() == make_score(moments, "bic-g").score([(2, (0, 1)), (0, ())]).tolist()
            # dg-bic of numbers alone comes from other sums: equal but for rounding.
            found = make_score(engine, "dg-bic").score([(4, (1, 3))])
            assert found == pytest.approx(make_score(moments, "bic-g").score([(2, (0, 1))]), rel=1e-12)


def test_a_family_with_more_configurations_than_rows_is_impossible():
    rng = np.random.default_rng(2)
    columns = [*(rng.integers(0, 4, 30) for _ in range(3)), rng.normal(size=30)]
    for column in columns[:3]:
        column[:4] = range(4)
    with engine_of(columns, ("discrete",) * 3 + ("continuous",)) as engine:
        assert make_score(engine, "cg-bic").score([(3, (0, 1, 2))])[0] == -np.inf
        assert np.isfinite(make_score(engine, "dg-bic").score([(3, (0, 1, 2))])[0])


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_measures(random_state):
    columns = mixed_columns(random_state)
    with engine_of(columns) as engine:
        found = related_pairs(engine, 0.01, "information")()
        values = dict(
            zip(zip(found.first.tolist(), found.second.tolist(), strict=True), found.values, strict=True)
        )
        nats = related_pairs(engine, 0.0, "mi")()
        assert (np.diff(nats.first * 5 + nats.second) > 0).all()
        one = related_pairs(engine, 0.01, "information")(target=2)
        assert dict(
            zip(zip(one.first.tolist(), one.second.tolist(), strict=True), one.values, strict=True)
        ) == {pair: value for pair, value in values.items() if 2 in pair}
        some = related_pairs(engine, 0.01, "information")(variables=np.array([0, 1, 4]))
        assert set(zip(some.first.tolist(), some.second.tolist(), strict=True)) == {
            pair for pair in values if set(pair) <= {0, 1, 4}
        }
    for x, y in combinations(range(5), 2):
        if KINDS[x] == KINDS[y] == "discrete":
            parts = [naive_mixed.multinomial(columns, KINDS, own) for own in ([x, y], [x], [y])]
            expected = 1 - math.exp(-2 * (parts[0] - parts[1] - parts[2]) / len(columns[0]))
        else:
            number, other = (x, y) if KINDS[x] == "continuous" else (y, x)
            rest = naive_mixed.left_over([columns[number]], naive_mixed.columns_of(columns, KINDS, [other]))
            expected = 1 - rest.var() / columns[number].var()
        assert values.get((x, y), 0.0) == pytest.approx(expected if expected > 0.01 else 0.0, abs=1e-9)


@few_examples
@given(st.integers(0, 2**32 - 1))
def test_significant_pairs_are_those_of_the_tests(random_state):
    columns = mixed_columns(random_state)
    with engine_of(columns) as engine:
        found = significant_pairs(engine, "bonferroni", level=0.5)()
        pairs = np.array(list(combinations(range(5), 2)))
        p_values = make_test(engine, 0.05, "dg").ask(*pairs.T, np.empty((10, 0), np.int64)).p_value
        assert np.column_stack([found.first, found.second]).tolist() == pairs[p_values <= 0.05].tolist()
        expected = related_pairs(engine, 0.0, "information")()
        kept = np.isin(expected.first * 5 + expected.second, found.first * 5 + found.second)
        assert found.values == pytest.approx(expected.values[kept], abs=1e-12)
