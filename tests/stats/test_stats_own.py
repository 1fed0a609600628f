"""Tests, scores and measures of a user's own: written outside the package, used as objects and by name."""

import copy
import math
import pickle
import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

import f2sl
import naive
from f2sl import BIC, FCBF, G2, K2, MI, MMPC, R2, SU, X2, BDeu, OptionError
from f2sl.learners.base import StructureLearner
from f2sl.learners.local.base import LocalLearner
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
from f2sl.search.hill_climbing import hill_climb
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, reliable_subsets
from f2sl.stats.choose import (
    check_choice,
    choices,
    make_score,
    make_set_scores,
    make_test,
    measure_unit,
    related_pairs,
    resolve_auto,
    resolve_option,
    set_scores,
    significant_pairs,
)
from f2sl.stats.registries import CI_TESTS, MEASURES, SCORES
from f2sl.stats.scores.tables import TableScore
from gaussian_tools import moments, related_values
from tables import make_engine, related_codes


def opened(codes):
    """Open an engine whose columns can be looked at."""
    engine = make_engine(codes)
    engine.column = lambda variable: codes[variable]
    return engine


def columns_of(data):
    return np.array([data.column(v) for v in range(data.n_variables)])


# What a user writes


class Pearson(f2sl.CITest):
    """X2 by the naive formula, unreliable where our own is for learners of neighbors."""

    def __init__(self, samples_per_cell=5.0):
        self.samples_per_cell = samples_per_cell

    def p_values(self, data, x, y, given):
        codes = columns_of(data)
        return [self._p_value(codes, a, b, z) for a, b, z in zip(x, y, given.tolist(), strict=True)]

    def _p_value(self, codes, a, b, z):
        cells = math.prod(int(codes[v].max()) + 1 for v in (a, b, *z))
        _, freedom, p = naive.independence_test(codes, a, b, z, "x2")
        return p if freedom and codes.shape[1] >= self.samples_per_cell * cells else math.nan


@dataclass(frozen=True)
class NaiveBIC(f2sl.Score):
    weight: float = 1.0
    equivalent_sample_size: float = 10.0

    def families(self, data, children, parents):
        codes = columns_of(data)
        states = [int(row.max()) + 1 for row in codes]
        pairs = zip(children.tolist(), parents.tolist(), strict=True)
        return [self.weight * naive.bic(codes, states, child, tuple(row)) for child, row in pairs]


class Agreement(f2sl.Measure):
    unit = "agreement"

    def values(self, data, first, second):
        return np.array(
            [np.mean(data.column(a) == data.column(b)) for a, b in zip(first, second, strict=True)]
        )


class ForNumbers(f2sl.Measure):
    kinds = ("continuous",)

    def values(self, data, first, second):
        return np.ones(len(first))


@pytest.fixture
def registered():
    """Register all of them, for one test."""
    before = [dict(registry._entries) for registry in (CI_TESTS, SCORES, MEASURES)]
    CI_TESTS.add("pearson", Pearson, "X2 by hand")
    SCORES.add("naive-bic", NaiveBIC, "BIC by hand")
    MEASURES.add("agreement", Agreement, "share of equal states")
    yield
    for registry, entries in zip((CI_TESTS, SCORES, MEASURES), before, strict=True):
        registry._entries = entries


# Tests


def all_questions(n, size):
    asked = [(x, y, *z) for x, y in combinations(range(n), 2) for z in combinations(range(n), size)]
    asked = np.array([q for q in asked if len(set(q)) == len(q)], np.int64)
    return asked[:, 0], asked[:, 1], asked[:, 2:]


def test_a_test_of_ones_own_answers_by_its_p_values():
    codes = related_codes(0, 90, 5, most_states=3)
    test = make_test(opened(codes), 0.05, Pearson())
    seen = set()
    for size in range(3):
        x, y, given = all_questions(5, size)
        told = test.ask(x, y, given)
        for i in range(len(x)):
            p = Pearson()._p_value(codes, x[i], y[i], given[i].tolist())
            expected = INCONCLUSIVE if math.isnan(p) else INDEPENDENT if p > 0.05 else DEPENDENT
            assert told.answer[i] == expected
            assert told.p_value[i] == p or math.isnan(p)
            assert told.strength[i] == pytest.approx(-math.log10(max(p, 5e-324)), abs=1e-8, nan_ok=True)
        assert test.answer(y, x, given[:, ::-1]).tolist() == told.answer.tolist()
        seen.update(told.answer.tolist())
    assert seen == {DEPENDENT, INDEPENDENT, INCONCLUSIVE}
    assert test.n_tests == 2 * sum(len(all_questions(5, size)[0]) for size in range(3))
    assert test.n_inconclusive > 0
    assert test.answer(x[:0], y[:0], given[:0]).tolist() == []


def test_a_test_of_ones_own_in_a_learner(registered):
    codes = related_codes(2, 400, 6, most_states=3)
    engine = opened(codes)
    own, ours = (MMPC(ci_test=test).learn_all(engine) for test in (Pearson(), "x2"))
    by_name = MMPC(ci_test="pearson").learn_all(engine)
    assert own.members.tolist() == ours.members.tolist() == by_name.members.tolist()
    assert own.strengths == pytest.approx(ours.strengths, rel=1e-6)
    assert len(own.members) > 5
    # Ours knows before it asks which tests would be unreliable, and does not ask them.
    assert own.n_tests - own.n_inconclusive == ours.n_tests - ours.n_inconclusive


def test_all_subsets_are_reliable_as_far_as_is_known():
    test = make_test(opened(related_codes(2, 20, 5)), 0.05, Pearson())
    [sets] = reliable_subsets(test, 1, 3, np.arange(5), 2)
    assert sets.tolist() == [[0, 2], [0, 4], [2, 4]]
    assert (test.configurations(sets) <= test.max_configurations(np.array([1]), np.array([3]))).all()
    assert test.n_variables == 5


@pytest.mark.parametrize("test", [G2(), X2()])
def test_our_tests_give_p_values_as_well(test):
    codes = related_codes(3, 200, 4)
    asked = all_questions(4, 1)
    engine = make_engine(codes)
    name = type(test).__name__.lower()
    expected = make_test(engine, 0.01, name).ask(*asked).p_value
    np.testing.assert_array_equal(test.p_values(engine, *asked), expected)


# Scores


FAMILIES = [(0, ()), (1, (0,)), (3, (0, 2)), (2, (1,)), (0, ()), (2, (0, 1, 3))]


def test_a_score_of_ones_own_scores_families_of_any_sizes():
    codes = related_codes(4, 60, 4)
    states = [int(row.max()) + 1 for row in codes]
    scores = make_score(opened(codes), NaiveBIC(2.0))
    expected = [2.0 * naive.bic(codes, states, *family) for family in FAMILIES]
    assert scores.score(FAMILIES).tolist() == expected
    assert scores.n_families == 5
    many = scores.score_all(np.array([1, 2]), np.array([[0, 3], [0, 1]]))
    assert many.tolist() == [
        2.0 * naive.bic(codes, states, 1, (0, 3)),
        2.0 * naive.bic(codes, states, 2, (0, 1)),
    ]
    assert scores.n_families == 7
    assert scores.edge_log_prior == 0.0


def test_a_score_of_ones_own_is_climbed(registered):
    codes = related_codes(8, 150, 5)
    edges = np.array(list(combinations(range(5), 2)))
    own, by_name, ours = (
        hill_climb(make_score(opened(codes), score), 5, edges) for score in (NaiveBIC(), "naive-bic", "bic")
    )
    assert own.arrows.tolist() == by_name.arrows.tolist() == ours.arrows.tolist()
    assert own.score == pytest.approx(ours.score, rel=1e-9)
    assert len(own.arrows) > 1


def test_a_score_on_tables_needs_no_columns():
    class Cells(TableScore):
        """Minus the number of occupied cells."""

        def of_tables(self, tables, logarithms):
            first = tables.group_start[tables.first_group]
            last = tables.group_start[tables.first_group + tables.n_groups]
            return [-(tables.counts[a:b] > 0).sum() for a, b in zip(first, last, strict=True)]

    codes = related_codes(4, 60, 4)
    found = make_score(make_engine(codes), Cells()).score(FAMILIES)
    expected = [-len(naive.contingency(codes, (*parents, child))) for child, parents in FAMILIES]
    assert found.tolist() == expected


def test_the_weight_of_the_prior_is_for_scores_that_take_it(registered):
    engine = opened(related_codes(4, 60, 4))
    one, ten = (make_score(engine, "bdeu", weight).score(FAMILIES).tolist() for weight in (1.0, 10.0))
    assert one != ten
    assert make_score(engine, BDeu(1.0), 10.0).score(FAMILIES).tolist() == one
    assert make_score(engine, BDeu()).score(FAMILIES).tolist() == ten
    bic = [make_score(engine, name, 3.0).score(FAMILIES) for name in ("bic", "naive-bic")]
    np.testing.assert_allclose(*bic, rtol=1e-9)


def test_the_prior_of_structures_is_that_of_bdeu():
    engine = make_engine(related_codes(4, 60, 4))
    assert make_score(engine, "bdeu", 4.0).edge_log_prior == pytest.approx(-math.log(5))
    assert make_score(engine, BDeu(9.0)).edge_log_prior == pytest.approx(-math.log(10))
    assert make_score(engine, "k2").edge_log_prior == 0.0


def test_scores_of_sets_take_objects():
    engine = make_engine(related_codes(4, 60, 4))
    lattice = np.arange(4)[None]
    for score, name in [(BDeu(2.0), "bdeu"), (BIC(), "bic")]:
        found = make_set_scores(engine, score).lattices(lattice)
        assert found.tolist() == make_set_scores(engine, name, 2.0).lattices(lattice).tolist()
    with pytest.raises(OptionError, match="score: K2 has no method set_formula"):
        make_set_scores(engine, K2())
    assert set_scores() == ["bdeu", "bic"]


# Measures


def listed(found):
    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    return dict(zip(pairs, found.values.tolist(), strict=True))


def test_a_measure_of_ones_own_finds_related_pairs():
    codes = related_codes(6, 80, 7, most_states=3)
    search = related_pairs(opened(codes), 0.4, Agreement())
    values = {(a, b): float(np.mean(codes[a] == codes[b])) for a, b in combinations(range(7), 2)}
    expected = {pair: value for pair, value in values.items() if value > 0.4 + 1e-10}
    shares = []
    assert listed(search(advance=shares.append)) == expected
    assert sum(shares) == pytest.approx(1.0)
    assert 3 < len(expected) < 21
    some = np.array([5, 0, 3, 6])
    among = {pair: value for pair, value in expected.items() if set(pair) <= set(some.tolist())}
    assert listed(search(variables=some)) == among
    assert list(listed(search(variables=some))) == sorted(among)
    for target in range(7):
        of_target = {pair: value for pair, value in expected.items() if target in pair}
        assert list(listed(search(target=target)).items()) == sorted(of_target.items())
    assert listed(search(variables=some[:0])) == {}


def test_a_measure_of_ones_own_for_significant_pairs(registered):
    codes = related_codes(6, 200, 7, most_states=3)
    engine = opened(codes)
    found = listed(significant_pairs(engine, measure="agreement")())
    assert list(found) == list(listed(significant_pairs(engine)()))
    assert found == {(a, b): float(np.mean(codes[a] == codes[b])) for a, b in found}
    assert found


def test_a_measure_of_ones_own_in_a_learner():
    class ByHand(f2sl.Measure):
        unit = "SU by hand"

        def values(self, data, first, second):
            matrix = np.array(naive.all_pairs(columns_of(data), "su"))
            return matrix[first, second]

    engine = opened(related_codes(9, 150, 6))
    own, ours = (FCBF(measure=measure).learn_all(engine) for measure in (ByHand(), "su"))
    assert own.members.tolist() == ours.members.tolist()
    assert own.strengths == pytest.approx(ours.strengths, rel=1e-9)
    assert FCBF(measure=ByHand()).strength_unit == "SU by hand"


@pytest.mark.parametrize("measure", [SU(), MI()])
def test_values_of_pairs_of_states_have_the_bits_of_the_search(measure):
    engine = make_engine(related_codes(3, 300, 8))
    found = related_pairs(engine, -1.0, measure)()
    assert measure.values(engine, found.first, found.second).tolist() == found.values.tolist()


@pytest.mark.parametrize("measure", [R2(), MI()])
def test_values_of_pairs_of_numbers_have_the_bits_of_the_search(measure):
    engine = moments(related_values(3, 6, 80))
    found = related_pairs(engine, 0.0, measure)()
    assert measure.values(engine, found.first, found.second).tolist() == found.values.tolist()


# By name, and as objects


def test_registered_names_are_offered_and_resolved(registered):
    assert choices("ci_test") == ["auto", "g2", "x2", "pearson", "fisher-z", "dg", "cg"]
    assert choices("measure") == ["auto", "su", "information", "mi", "agreement", "r2", "correlation"]
    assert choices("measure", "continuous") == ["auto", "r2", "correlation", "information", "mi"]
    assert resolve_option("measure", "agreement", "discrete") == "agreement"
    assert measure_unit("agreement") == "agreement"
    assert resolve_auto({"score": "auto", "k": 3, "measure": Agreement()}, "discrete") == {
        "score": "bdeu",
        "k": 3,
        "measure": Agreement(),
    }
    with pytest.raises(
        OptionError, match='measure="agreement" is for discrete columns, but the table is continuous'
    ):
        resolve_option("measure", "agreement", "continuous")


def test_what_is_registered_is_what_it_says_without_being_imported():
    for registry, base in [(CI_TESTS, f2sl.CITest), (SCORES, f2sl.Score), (MEASURES, f2sl.Measure)]:
        for entry in registry:
            made = entry.load()()
            assert isinstance(made, base)
            assert entry.fact("kinds") == made.kinds
            if registry is MEASURES:
                assert measure_unit(entry.name) == made.unit
            assert bool(entry.fact("sets")) == hasattr(made, "set_formula")
            assert entry.summary
            assert entry.reference


def test_listing_names_loads_no_compiled_code():
    code = (
        "import sys; from f2sl.stats.choose import choices, resolve_auto;"
        "choices('score'); resolve_auto({'score': 'auto'}, 'discrete');"
        "from f2sl import CITest, Score, Measure; print([m for m in ('numba', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


OBJECTS = [G2(), X2(), BDeu(3.0), K2(), SU(), MI(), Pearson(2.0), NaiveBIC(0.5), Agreement()]


@pytest.mark.parametrize("one", OBJECTS, ids=repr)
def test_objects_hold_options_alone(one):
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
        assert hash(other) == hash(one)
        assert repr(other) == repr(one)
    assert [other for other in OBJECTS if other == one] == [one]


def test_objects_say_what_they_are():
    assert repr(BDeu(3.0)) == "BDeu(equivalent_sample_size=3.0)"
    assert repr(Pearson(2.0)) == "Pearson(samples_per_cell=2.0)"
    assert repr(SU()) == "SU()"
    assert Pearson(2.0) != Pearson(3.0)
    assert BDeu(3.0) != BDeu(4.0)


def test_learners_that_hold_objects_can_be_cloned_and_fitted():
    learner = f2sl.F2SLs(score=BDeu(3.0), measure=SU())
    twin = clone(learner)
    assert twin.get_params()["score"] == BDeu(3.0)
    data = f2sl.load_example("asia")
    found, named = (
        twin.fit(data),
        f2sl.F2SLs(score="bdeu", equivalent_sample_size=3.0, measure="su").fit(data),
    )
    assert found.graph_ == named.graph_
    assert found.score_ == named.score_


# What is refused


class NoMethod(f2sl.Score):
    pass


class NoFormula(TableScore):
    pass


class OfNoKind(f2sl.CITest):
    kinds = ("numbers",)

    def p_values(self, data, x, y, given):
        return np.ones(len(x))


class Stranger:
    def p_values(self, data, x, y, given):
        return np.ones(len(x))


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("score", NoMethod(), "score: NoMethod has no method families"),
        ("score", NoFormula(), "score: NoFormula has no method of_tables"),
        ("measure", NoMethod(), "measure: NoMethod has no method values"),
        ("ci_test", object(), "ci_test: object has no method p_values"),
        ("ci_test", Stranger(), r"ci_test: Stranger must be derived from f2sl\.CITest"),
        (
            "ci_test",
            OfNoKind(),
            r"OfNoKind\.kinds must be a tuple of some of 'discrete', 'continuous', 'mixed', not \('numbers'",
        ),
        ("ci_test", G2, r"ci_test: G2 is a class; pass an object, G2\(\)"),
        ("ci_test", None, "ci_test must be one of 'auto', 'g2', 'x2', 'fisher-z', 'dg', 'cg', not None"),
        (
            "measure",
            "sum",
            "measure must be one of 'auto', 'su', 'information', 'mi', 'r2', 'correlation', not 'sum'",
        ),
        ("score", 3, "score must be one of .* not 3"),
    ],
)
def test_what_cannot_stand_for_an_option_is_refused(option, value, message):
    with pytest.raises(OptionError, match=message):
        check_choice(option, value)
    with pytest.raises(OptionError, match=message):
        resolve_option(option, value, "discrete")


def test_objects_for_other_columns_are_refused():
    engine = make_engine(related_codes(1, 30, 3))
    with pytest.raises(
        OptionError,
        match=r'ForNumbers\(\) is for continuous columns, .*use "auto", "su", "information" or "mi"',
    ):
        related_pairs(engine, 0.1, ForNumbers())
    with pytest.raises(
        OptionError, match=r'score=K2\(\) is for discrete columns, .*use "auto", "bge" or "bic-g"'
    ):
        make_score(moments(related_values(0, 3, 20)), K2())


class NotCallable(f2sl.CITest):
    p_values = 3


class HalfALearner(LocalLearner):
    def learn_all(self, engine): ...


class TakesNothing(FCBF):
    _takes = "numbers"


class NoSearch(LocalLearner):
    search = None


class NoLearn(StructureLearner):
    pass


@pytest.mark.parametrize(
    ("registry", "found", "message"),
    [
        (SCORES, NoMethod, "score 'own': NoMethod has no method families"),
        (CI_TESTS, NotCallable, "independence test 'own': NotCallable has no method p_values"),
        (CI_TESTS, Stranger, r"independence test 'own': Stranger must be derived from f2sl\.CITest"),
        (MEASURES, NoMethod, "measure 'own': NoMethod has no method values"),
        (MEASURES, Agreement(), r"measure 'own': Agreement\(\) is not a class"),
        (LOCAL, HalfALearner, "PC algorithm 'own': HalfALearner has no method learn_one"),
        (LOCAL, NoSearch, "PC algorithm 'own': NoSearch has no method learn_one or search"),
        (MARKOV_BLANKET, dict, "Markov-blanket algorithm 'own': dict has no method learn_one"),
        (
            CI_TESTS,
            OfNoKind,
            r"independence test 'own': OfNoKind.kinds must be a tuple of some of 'discrete'",
        ),
        (LOCAL, TakesNothing, r"PC algorithm 'own': TakesNothing._takes must be a tuple .*, not 'numbers'"),
        (STRUCTURE, NoLearn, "algorithm 'own': NoLearn has no method _learn"),
        (
            LOCAL,
            "my_learners",
            "PC algorithm 'own': a location is written \"module:Class\", not 'my_learners'",
        ),
    ],
)
def test_what_cannot_be_used_is_not_registered(registry, found, message):
    with pytest.raises(OptionError, match=message):
        registry.add("own", found, "of a user's own")
    assert "own" not in registry


def test_what_is_registered_by_its_place_is_checked_when_it_is_loaded(monkeypatch):
    monkeypatch.setattr(SCORES, "_entries", dict(SCORES._entries))
    SCORES.add("counter", "collections:Counter", "no score", kinds=("discrete",))
    with pytest.raises(OptionError, match="score 'counter': Counter has no method families"):
        f2sl.learn(f2sl.load_example("asia"), "f2sl-s", score="counter")
    SCORES.add("nowhere", "collections:NoSuchClass", "not there")
    with pytest.raises(OptionError, match="score 'nowhere': module 'collections' has no attribute"):
        SCORES.load("nowhere")


class Short(f2sl.CITest):
    def p_values(self, data, x, y, given):
        return 0.5


class Words(f2sl.CITest):
    def p_values(self, data, x, y, given):
        return ["likely"] * len(x)


class Wide(f2sl.Score):
    def families(self, data, children, parents):
        return parents


class Flat(TableScore):
    def of_tables(self, tables, logarithms):
        return 1.0


class Less(f2sl.Measure):
    def values(self, data, first, second):
        return np.ones(len(first) + 1)


@pytest.mark.parametrize(
    ("algorithm", "options", "told"),
    [
        (
            "pc-stable",
            {"ci_test": Short()},
            r"Short\(\): p_values must return an array of shape \(28,\), not \(\)",
        ),
        (
            "pc-stable",
            {"ci_test": Words()},
            r"Words\(\): p_values must return an array of numbers, not \['likely', ",
        ),
        ("pc-stable", {"ci_test": NotCallable()}, "ci_test: NotCallable has no method p_values"),
        (
            "f2sl-s",
            {"score": Wide()},
            r"Wide\(\): families must return an array of shape \(8,\), not \(8, 0\)",
        ),
        # 8 families without parents, and both directions of 6 edges.
        ("f2sl-s", {"score": Flat()}, r"Flat\(\): of_tables must return an array of shape \(20,\), not \(\)"),
        ("f2sl-s", {"measure": Less()}, r"Less\(\): values must return an array of shape \(7,\), not \(8,\)"),
        ("f2sl-h", {"measure": Less()}, r"Less\(\): values must return an array of shape .* not"),
    ],
)
def test_answers_of_another_shape_are_told(algorithm, options, told):
    with pytest.raises(OptionError, match=told):
        f2sl.learn(f2sl.load_example("asia"), algorithm, **options)
