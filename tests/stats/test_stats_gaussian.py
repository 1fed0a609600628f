"""Fisher's z, the Gaussian BIC and BGe: the naive twins, SciPy and pgmpy agree."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, pearsonr

import naive_gaussian
from f2sl import FisherZ, OptionError
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, reliable_subsets
from f2sl.stats.choose import make_score, make_test
from f2sl.stats.conditioning import partial_correlations
from f2sl.stats.tests.fisher_z import CorrelationTest
from gaussian_tools import moments, related_values
from marks import compiled_only

pytestmark = pytest.mark.kernels


def asked(test, x, y, given_set=()):
    """Ask one question."""
    answers = test.ask(np.array([x]), np.array([y]), np.array([given_set], np.int64).reshape(1, -1))
    return answers.answer[0], answers.p_value[0], answers.statistic[0], answers.strength[0]


@st.composite
def questions(draw):
    values = related_values(draw(st.integers(0, 2**32 - 1)), draw(st.integers(3, 7)), 80)
    x, y, *given_set = draw(st.permutations(range(len(values))))
    return values, x, y, tuple(given_set[: draw(st.integers(0, len(given_set)))])


@given(questions())
def test_partial_correlations_are_those_of_residuals(question):
    values, x, y, given_set = question
    engine = moments(values)
    given_row = np.array([given_set], np.int64).reshape(1, -1)
    [found] = partial_correlations(engine, np.array([x]), np.array([y]), given_row)
    left = [naive_gaussian.residuals(values, v, given_set) for v in (x, y)]
    assert found == pytest.approx(pearsonr(*left).statistic, abs=1e-9)
    assert found == pytest.approx(
        naive_gaussian.partial_correlation(engine.correlations.tolist(), x, y, given_set), abs=1e-9
    )


@given(questions())
def test_statistic_and_p_value(question):
    values, x, y, given_set = question
    r = pearsonr(*(naive_gaussian.residuals(values, v, given_set) for v in (x, y))).statistic
    z = math.atanh(r) * math.sqrt(80 - len(given_set) - 3)
    answer, p_value, statistic, strength = asked(FisherZ().bind(moments(values), alpha=0.05), x, y, given_set)
    assert statistic == pytest.approx(z, abs=1e-9, rel=1e-9)
    assert p_value == pytest.approx(2 * norm.sf(abs(z)), abs=1e-9)
    assert strength == pytest.approx(-norm.logsf(abs(z)) / math.log(10) - math.log10(2), rel=1e-6, abs=1e-8)
    assert answer == (INDEPENDENT if p_value > 0.05 else DEPENDENT)


@compiled_only
@pytest.mark.filterwarnings("ignore")
def test_pgmpy_agrees():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.ci_tests import FisherZ as Theirs
        from pgmpy.ci_tests import Pearsonr
        from pgmpy.structure_score import BICGauss
    values = related_values(11, 6, 200)
    frame = pd.DataFrame(values.T, columns=list("abcdef"))
    test, score = FisherZ().bind(moments(values)), make_score(moments(values), "bic-g")
    theirs, partial, bic = Theirs(frame), Pearsonr(frame), BICGauss(frame)
    for x, y, given_set in [(0, 1, ()), (0, 3, (1,)), (4, 2, (0, 5)), (5, 3, (0, 1, 2, 4))]:
        names = ["abcdef"[v] for v in (x, y)], ["abcdef"[v] for v in given_set]
        for other in (theirs, partial):
            other.is_independent(*names[0], names[1], significance_level=0.05)
        _, p_value, _, _ = asked(test, x, y, given_set)
        assert p_value == pytest.approx(theirs.p_value_, abs=1e-9)
        row = np.array([given_set], np.int64).reshape(1, -1)
        [r] = partial_correlations(test.engine, np.array([x]), np.array([y]), row)
        assert r == pytest.approx(partial.statistic_, abs=1e-9)
    for child, parents in [(0, ()), (3, (1,)), (5, (0, 2, 4))]:
        mine = score.score([(child, parents)])[0]
        assert mine == pytest.approx(
            bic.local_score("abcdef"[child], tuple("abcdef"[p] for p in parents)), rel=1e-9
        )


def test_strengths_go_on_where_p_values_end():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50_000)
    noise = rng.normal(size=(3, 50_000))
    test = FisherZ().bind(moments([x, x + noise[0] / 10, x + noise[1] / 3, x + noise[2]]))
    found = [asked(test, 0, other) for other in (1, 2, 3)]
    assert [p for _, p, _, _ in found] == [0.0, 0.0, 0.0]
    strengths = [strength for *_, strength in found]
    assert strengths == sorted(strengths, reverse=True)
    for _, _, z, strength in found:
        assert strength == pytest.approx(-(norm.logsf(abs(z)) + math.log(2)) / math.log(10), rel=1e-9)


def test_too_few_rows_are_unreliable():
    values = related_values(0, 5, 6)
    test = FisherZ().bind(moments(values))
    assert asked(test, 0, 1, (2, 3))[0] != INCONCLUSIVE
    assert asked(test, 0, 1, (2, 3, 4))[0] == INCONCLUSIVE
    assert (test.n_tests, test.n_inconclusive) == (2, 1)
    everyone = np.arange(5)
    assert [len(part) for part in reliable_subsets(test, 0, 1, everyone, 2)] == [3]
    assert [len(part) for part in reliable_subsets(test, 0, 1, everyone, 3)] == [0]
    capacity = test.max_configurations(np.array([0]), np.array([1]))[0]
    assert (
        test.configurations(np.array([[2, 3]]))[0] <= capacity < test.configurations(np.array([[2, 3, 4]]))[0]
    )


@pytest.mark.parametrize("n_rows", [2, 3])
def test_so_few_rows_that_no_test_can_answer(n_rows):
    test = FisherZ().bind(moments(related_values(0, 3, n_rows)))
    assert asked(test, 0, 1)[0] == INCONCLUSIVE
    assert test.max_configurations(np.array([0]), np.array([1]))[0] < 1


class TestCollinear:
    values = related_values(2, 4, 100)
    table = (*values, 2 * values[0] - 5, values[1] + values[2])  # 4 is a copy of 0; 1 and 2 decide 5

    def test_what_the_condition_decides_is_unreliable(self):
        test = FisherZ().bind(moments(self.table))
        for x, y, given_set in [
            (0, 1, (4,)),
            (1, 0, (4,)),
            (3, 5, (1, 2)),
            (1, 3, (2, 5)),
            (1, 2, (5, 0, 4)),
        ]:
            decided = INCONCLUSIVE if given_set != (5, 0, 4) else DEPENDENT
            assert asked(test, x, y, given_set)[0] == decided

    def test_members_that_others_decide_change_nothing(self):
        engine = moments(self.table)
        x, y = np.array([0]), np.array([3])
        alone = partial_correlations(engine, x, y, np.array([[1, 2]]))
        assert partial_correlations(engine, x, y, np.array([[1, 2, 5]])) == pytest.approx(alone, abs=1e-9)
        assert partial_correlations(engine, x, y, np.array([[5, 2, 1]])) == pytest.approx(alone, abs=1e-9)

    def test_a_copy_is_dependent_with_a_finite_strength(self):
        answer, p_value, _, strength = asked(FisherZ().bind(moments(self.table)), 0, 4)
        assert answer == DEPENDENT
        assert p_value == 0.0
        assert 1000 < strength < math.inf

    def test_scores_of_what_is_decided_are_finite(self):
        for name in ("bic-g", "bge"):
            score = make_score(moments(self.table), name)
            families = [(4, (0,)), (5, (1, 2)), (5, (1, 2, 3)), (3, (1, 2, 5)), (3, (0, 4))]
            found = score.score(families)
            assert np.isfinite(found).all()
            assert found[2] < found[1]  # nothing is left for a third parent to explain


def test_a_set_in_any_order_and_a_pair_exchanged_are_the_same_question():
    test = FisherZ().bind(moments(related_values(4, 6, 50)))
    first = asked(test, 0, 1, (2, 3, 4))
    assert first == asked(test, 1, 0, (4, 2, 3))


def test_threads_and_batches_change_nothing(monkeypatch):
    from f2sl.stats import conditioning

    values = related_values(4, 8, 50)
    rng = np.random.default_rng(1)
    rows = np.array([rng.permutation(8)[:4] for _ in range(200)])
    one = FisherZ().bind(moments(values)).ask(rows[:, 0], rows[:, 1], rows[:, 2:])
    monkeypatch.setattr(conditioning, "QUESTIONS_PER_PIECE", 13)
    with moments(values, n_jobs=3) as engine:
        many = FisherZ().bind(engine).ask(rows[:, 0], rows[:, 1], rows[:, 2:])
    for mine, theirs in zip(one, many, strict=True):
        assert (mine == theirs).all()


@given(questions())
def test_scores_agree_with_the_naive_twins(question):
    values, child, _, parents = question
    family = (child, tuple(sorted(parents)))
    engine = moments(values)
    for name, naive in (("bic-g", naive_gaussian.bic), ("bge", naive_gaussian.bge)):
        [found] = make_score(engine, name).score([family])
        assert found == pytest.approx(naive(values, *family), rel=1e-9)


@pytest.mark.parametrize("name", ["bic-g", "bge"])
@given(random_state=st.integers(0, 2**32 - 1))
def test_equivalent_networks_have_equal_scores(name, random_state):
    score = make_score(moments(related_values(random_state, 4, 40)), name)

    def total(order, arrows):
        return score.score([(v, tuple(sorted(a for a, b in arrows if b == v))) for v in order]).sum()

    chain = [list(pairwise(order)) for order in ((0, 1, 2, 3), (3, 2, 1, 0))]
    fork = [(1, 0), (1, 2), (2, 3)]
    assert total(range(4), chain[0]) == pytest.approx(total(range(4), chain[1]), rel=1e-11)
    assert total(range(4), chain[0]) == pytest.approx(total(range(4), fork), rel=1e-11)
    orders = [(0, 1, 2, 3), (2, 0, 3, 1)]
    complete = [[(a, b) for i, b in enumerate(order) for a in order[:i]] for order in orders]
    assert total(range(4), complete[0]) == pytest.approx(total(range(4), complete[1]), rel=1e-11)


def test_a_family_is_scored_once():
    score = make_score(moments(related_values(0, 4, 40)), "bic-g")
    families = [(0, (1,)), (0, (1, 2)), (0, (1,))]
    assert score.score(families)[0] == score.score(families)[2]
    assert score.n_families == 2


def test_more_parents_than_rows_can_tell_apart():
    score = make_score(moments(related_values(0, 6, 5)), "bic-g")
    assert np.isfinite(score.score([(5, (0, 1, 2))]))
    assert score.score([(5, (0, 1, 2, 3))]) == -np.inf


class TestWhatGoesWithWhat:
    engine = moments(related_values(0, 3, 20))

    def test_auto_on_continuous_tables(self):
        assert isinstance(make_test(self.engine, 0.01), CorrelationTest)
        families = [(0, (1,)), (2, ())]
        found = [make_score(self.engine, name).score(families).tolist() for name in ("auto", "bge", "bic-g")]
        assert found[0] == found[1] != found[2]

    @pytest.mark.parametrize("name", ["g2", "x2"])
    def test_discrete_tests_are_refused(self, name):
        with pytest.raises(
            OptionError, match=f'ci_test="{name}" is for discrete columns.*use "auto" or "fisher-z"'
        ):
            make_test(self.engine, 0.01, name)

    def test_discrete_scores_are_refused(self):
        with pytest.raises(OptionError, match=r'score="bdeu" is for discrete columns.*"bge" or "bic-g"'):
            make_score(self.engine, "bdeu")

    def test_an_unknown_name(self):
        with pytest.raises(OptionError, match="ci_test must be one of"):
            make_test(self.engine, 0.01, "z")
        with pytest.raises(OptionError, match="score must be one of"):
            make_score(self.engine, "bd")
