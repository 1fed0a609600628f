"""Scores of families: hand-computed, against the naive formulas, and the same across equivalent networks."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl import OptionError, open_table
from f2sl.data.memory.engine import MemoryEngine
from f2sl.stats.choose import make_score
from f2sl.stats.scores import tables as scores_of_tables
from f2sl.stats.scores.tables import LogLikelihood
from marks import examples
from tables import make_engine, random_codes, related_codes

pytestmark = pytest.mark.kernels


def scorer_on(engine, score="bdeu", **options):
    return make_score(engine, LogLikelihood() if score == "loglik" else score, **options)


def score_of(codes, family, score, cardinalities=None, **options):
    return float(scorer_on(make_engine(codes, cardinalities), score, **options).score([family])[0])


def network_score(scorer, n, arrows):
    parents = [tuple(sorted(u for u, v in arrows if v == child)) for child in range(n)]
    return float(scorer.score(list(enumerate(parents))).sum())


def test_without_parents_by_hand():
    # Counts 2 and 1. Priors of 1 each: Gamma(2) / Gamma(5) * Gamma(3) Gamma(2) = 1/12.
    codes = [[0, 0, 1]]
    assert score_of(codes, (0, ()), "bdeu", equivalent_sample_size=2.0) == pytest.approx(math.log(1 / 12))
    assert score_of(codes, (0, ()), "k2") == pytest.approx(math.log(1 / 12))
    likelihood = math.log((2 / 3) ** 2 * (1 / 3))
    assert score_of(codes, (0, ()), "loglik") == pytest.approx(likelihood)
    assert score_of(codes, (0, ()), "aic") == pytest.approx(likelihood - 1)
    assert score_of(codes, (0, ()), "bic") == pytest.approx(likelihood - math.log(3) / 2)


def test_with_a_parent_by_hand():
    # Parent 0: counts (2, 0); parent 1: (0, 1). With 4 cells of prior 1 each the factors are 1/3 and 1/2.
    codes = [[0, 0, 1], [0, 0, 1]]
    family = (1, (0,))
    assert score_of(codes, family, "bdeu", equivalent_sample_size=4.0) == pytest.approx(math.log(1 / 6))
    assert score_of(codes, family, "k2") == pytest.approx(math.log(1 / 6))
    assert score_of(codes, family, "loglik") == pytest.approx(0.0)
    assert score_of(codes, family, "aic") == pytest.approx(-2.0)
    assert score_of(codes, family, "bic") == pytest.approx(-math.log(3))


def test_states_that_do_not_occur_count_in_the_priors():
    # One sample, 4 states of which 1 occurs: probability 1/4 by both priors, whatever their weight.
    for score in ("bdeu", "k2"):
        assert score_of([[2]], (0, ()), score, cardinalities=[4]) == pytest.approx(math.log(1 / 4))
    assert score_of([[2]], (0, ()), "aic", cardinalities=[4]) == pytest.approx(-3.0)


def test_a_constant_scores_zero():
    for score in naive.SCORES:
        assert score_of([[0, 0, 0]], (0, ()), score, cardinalities=[1]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("score", naive.SCORES)
@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 90))
def test_equal_to_the_naive_formulas(score, random_state, n_rows):
    codes = related_codes(random_state, n_rows, 5)
    cardinalities = [int(row.max()) + 1 for row in codes]
    families = [(v, p) for v in range(5) for size in range(4) for p in combinations({*range(5)} - {v}, size)]
    families = [(v, tuple(sorted(p))) for v, p in families]
    found = scorer_on(make_engine(codes), score).score(families)
    expected = [naive.SCORES[score](codes, cardinalities, v, p) for v, p in families]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("score", ["bdeu", "bds"])
@pytest.mark.parametrize("weight", [0.1, 1.0, 100.0])
def test_weight_of_the_prior(score, weight):
    codes = related_codes(1, 60, 4)
    cardinalities = [int(row.max()) + 1 for row in codes]
    for family in [(0, ()), (1, (0, 2)), (3, (0, 1, 2))]:
        found = score_of(codes, family, score, equivalent_sample_size=weight)
        assert found == pytest.approx(naive.SCORES[score](codes, cardinalities, *family, weight), rel=1e-9)


def test_bds_counts_the_configurations_that_occur():
    # Of four configurations of the parents two occur, with one sample each: weight 4 leaves 2 for each, and
    # the first sample of each has probability 1/2, whatever the weight. A third, alike: (1 + 1) / (2 + 1).
    codes = [[0, 1, 1], [0, 1, 1], [0, 1, 1]]
    family = (2, (0, 1))
    found = score_of(codes, family, "bds", equivalent_sample_size=4.0)
    assert found == pytest.approx(math.log(1 / 2 * 1 / 2 * 2 / 3))
    # One parent of the two tells as much, and has the same score; to BDeu more configurations are better.
    assert score_of(codes, (2, (0,)), "bds", equivalent_sample_size=4.0) == pytest.approx(found)
    less, more = (score_of(codes, (2, own), "bdeu", equivalent_sample_size=4.0) for own in [(0,), (0, 1)])
    assert less < more


@pytest.mark.parametrize("score", naive.SCORES)
def test_sparse_tables_score_as_full_ones_do(score):
    # With as many as 5 * 4 * 6 * 3 * 4 cells, tables of 100 samples list only what occurs.
    cardinalities = [5, 4, 6, 3, 4]
    codes = random_codes(3, 100, cardinalities)
    engine = make_engine(codes, cardinalities)
    families = [(4, (0, 1, 2, 3)), (0, (1, 2, 3, 4)), (2, (0, 1)), (3, ())]
    found = scorer_on(engine, score).score(families)
    expected = [naive.SCORES[score](codes, cardinalities, v, p) for v, p in families]
    np.testing.assert_allclose(found, expected, rtol=1e-9)

    class FullTables(type(engine)):
        def _choose(self, queries):
            method, cells = super()._choose(queries)
            return np.ones_like(method), cells

    engine.__class__ = FullTables
    assert scorer_on(engine, score).score(families).tolist() == found.tolist()


@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.sampled_from([1, 20, 64, 150]),
    ess=st.sampled_from([0.1, 10.0, 1e-20]),
    sizes_kept=st.sampled_from([67, 1021]),
)
@examples(25)
def test_gains_are_differences_of_scores(random_state, n_rows, ess, sizes_kept):
    rng = np.random.default_rng(random_state)
    cardinalities = rng.integers(1, 6, 6)
    codes = random_codes(random_state, n_rows, cardinalities)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores_of_tables, "PRIORS_KEPT", sizes_kept)  # few: they are forgotten on the way
        scorer = scorer_on(make_engine(codes, cardinalities), equivalent_sample_size=ess)
    # Each variable may have some of the others as parents, and has some of these.
    allowed = [[u for u in range(6) if u != v and rng.random() < 0.7] for v in range(6)]
    start = np.cumsum([0, *map(len, allowed)])
    others = np.array([u for own in allowed for u in own], np.int64)
    present = rng.random(len(others)) < 0.5
    gain, own = np.full(len(others), np.nan), np.full(6, np.nan)
    children = rng.permutation(6)[:4]
    assert scorer.gains(children, start, others, present, gain, own)
    assert scorer.n_families == sum(1 + len(allowed[v]) for v in children)
    for v in range(6):
        part = slice(start[v], start[v + 1])
        if v not in children:
            assert np.isnan([own[v], *gain[part]]).all()
            continue
        parents = set(others[part][present[part]].tolist())
        toggled = [(v, tuple(sorted(parents ^ {u}))) for u in allowed[v]]
        family, *changed = scorer.score([(v, tuple(sorted(parents))), *toggled]).tolist()
        assert own[v] == family
        assert gain[part].tolist() == [score - family for score in changed]


def test_gains_are_refused_for_large_tables_and_variables_without_planes(monkeypatch):
    engine = make_engine(random_codes(1, 100, [3, 4, 2, 65]), [3, 4, 2, 65])
    start, others = np.array([0, 2, 2, 3, 4]), np.array([1, 2, 0, 1])
    gain, own = np.zeros(4), np.zeros(4)

    def answered(v):
        return scorer_on(engine).gains(np.array([v]), start, others, np.ones(4, np.bool_), gain, own)

    assert answered(0)
    assert not answered(3)
    # Variable 0 has a table of 3 * 4 * 2 cells, and 100 samples are two words.
    for limit, most in (("MOST_CELLS", 23), ("MOST_WORDS", 47)):
        with monkeypatch.context() as lower:
            lower.setattr(scores_of_tables, limit, most)
            assert not answered(0)
            assert answered(2)


class HalfOfBDeu(scores_of_tables.BDeu):
    def of_tables(self, tables, logarithms):
        return super().of_tables(tables, logarithms) / 2


def test_only_bdeu_of_complete_small_tables_in_memory_has_gains(monkeypatch):
    codes = random_codes(1, 100, [3, 4])
    assert not hasattr(scorer_on(make_engine(codes), "k2"), "gains")
    assert not hasattr(HalfOfBDeu().bind(make_engine(codes)), "gains")
    with MemoryEngine(open_table({"a": ["x", "y", None] * 9, "b": ["x", "x", "y"] * 9})) as engine:
        assert not hasattr(scorer_on(engine), "gains")
    monkeypatch.setattr(scores_of_tables, "MOST_ROWS", 99)
    assert not hasattr(scorer_on(make_engine(codes)), "gains")


def test_each_family_is_scored_once():
    engine = make_engine(related_codes(2, 50, 4))
    asked = []
    evaluate = engine.evaluate

    def listening(queries, formula, width=1):
        asked.append(len(queries))
        return evaluate(queries, formula, width)

    engine.evaluate = listening
    scorer = scorer_on(engine)
    first = scorer.score([(0, ()), (1, (0,)), (0, ())])
    assert (asked, scorer.n_families) == ([2], 2)
    assert first[0] == first[2] != first[1]
    second = scorer.score([(1, (0,)), (2, (0, 1))])
    assert (asked, scorer.n_families) == ([2, 1], 3)
    assert second[0] == first[1]
    scorer.score([(0, ()), (2, (0, 1))])
    assert (asked, scorer.n_families) == ([2, 1], 3)
    assert scorer.score([]).tolist() == []


EQUIVALENT = {
    "one edge": (2, [[(0, 1)], [(1, 0)]]),
    "chains and fork": (3, [[(0, 1), (1, 2)], [(1, 0), (1, 2)], [(2, 1), (1, 0)]]),
    "triangles": (3, [[(0, 1), (0, 2), (1, 2)], [(2, 1), (2, 0), (1, 0)], [(1, 2), (1, 0), (0, 2)]]),
    "collider with a tail": (4, [[(0, 2), (1, 2), (2, 3)]]),
}


@pytest.mark.parametrize("score", ["bdeu", "bic", "aic", "loglik"])
@pytest.mark.parametrize("name", EQUIVALENT)
@given(random_state=st.integers(0, 2**32 - 1))
def test_equal_across_equivalent_networks(name, score, random_state):
    n, networks = EQUIVALENT[name]
    scorer = scorer_on(make_engine(related_codes(random_state, 50, n)), score)
    values = [network_score(scorer, n, arrows) for arrows in networks]
    assert values == pytest.approx([values[0]] * len(values), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_equal_across_all_classes_of_three_variables(score):
    # Networks are equivalent if they have the same edges and unshielded colliders (Verma and Pearl 1990).
    scorer = scorer_on(make_engine(related_codes(7, 200, 3)), score)
    classes = {}
    for arrows in naive.all_dags(3):
        key = tuple(naive.edges_of(arrows)), tuple(naive.unshielded_colliders(3, arrows))
        classes.setdefault(key, []).append(network_score(scorer, 3, arrows))
    assert (sum(map(len, classes.values())), len(classes)) == (25, 11)
    for values in classes.values():
        assert values == pytest.approx([values[0]] * len(values), rel=1e-11)


@pytest.mark.parametrize("score", naive.SCORES)
@given(random_state=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_states_and_columns_changes_no_bit(score, random_state):
    rng = np.random.default_rng(random_state)
    cardinalities = np.array([2, 3, 4, 3])
    codes = random_codes(random_state, 70, cardinalities)
    families = [(0, ()), (1, (0,)), (3, (0, 2)), (2, (0, 1, 3))]
    plain = scorer_on(make_engine(codes, cardinalities), score).score(families).tolist()
    relabelled = np.stack([rng.permutation(k)[row] for k, row in zip(cardinalities, codes, strict=True)])
    relabelled = relabelled[:, rng.permutation(70)]
    assert scorer_on(make_engine(relabelled, cardinalities), score).score(families).tolist() == plain
    order = rng.permutation(4)
    position = np.argsort(order).tolist()
    moved = [(position[v], tuple(sorted(position[p] for p in parents))) for v, parents in families]
    engine = make_engine(codes[order], cardinalities[order])
    assert scorer_on(engine, score).score(moved).tolist() == plain


def test_an_unknown_score_is_refused_with_the_known_ones():
    with pytest.raises(OptionError, match=r"score must be one of .*'bdeu', 'bds', 'k2', .*not 'bdue'"):
        scorer_on(make_engine([[0, 1]]), "bdue")
