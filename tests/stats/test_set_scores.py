"""Values of sets: their differences are the scores of families, exactly; each set is counted once."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl import OptionError
from f2sl.data.engines import Queries
from f2sl.stats.choose import make_set_scores
from f2sl.stats.scores import sets
from f2sl.stats.scores.base import IMPOSSIBLE, LEAST, words_of
from tables import make_engine, random_codes, related_codes

pytestmark = pytest.mark.kernels

SCORES = ["bdeu", "bic"]


def value_of(scores, variables):
    """The value of one set, in units."""
    variables = np.array(sorted(variables), np.int64)
    return int(scores.lattices(variables[None])[0, -1])


def family(scores, child, parents):
    return value_of(scores, (*parents, child)) - value_of(scores, parents)


def states_of(codes):
    return [int(row.max()) + 1 for row in codes]


def test_bdeu_and_bic_of_three_rows_are_those_computed_by_hand():
    # Counts 2 and 1, with priors of 1 for each state: Gamma(2) / Gamma(5) * Gamma(3) Gamma(2) = 1/12.
    scores = make_set_scores(make_engine([[0, 0, 1]]), "bdeu", 2.0)
    assert family(scores, 0, ()) * scores.unit == pytest.approx(math.log(1 / 12), rel=1e-12)
    scores = make_set_scores(make_engine([[0, 0, 1]]), "bic")
    expected = math.log((2 / 3) ** 2 * (1 / 3)) - math.log(3) / 2
    assert family(scores, 0, ()) * scores.unit == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("score", SCORES)
@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 90))
def test_differences_are_the_naive_scores(score, random_state, n_rows):
    codes = related_codes(random_state, n_rows, 5)
    cardinalities = states_of(codes)
    # BIC marks families that cannot win; with few rows most are, so that states are taken from the data.
    scores = make_set_scores(make_engine(codes), score)
    lattice = scores.lattices(np.arange(5)[None])[0]
    for v in range(5):
        for size in range(5):
            for parents in combinations([u for u in range(5) if u != v], size):
                below = sum(1 << u for u in parents)
                expected = naive.SCORES[score](codes, cardinalities, v, parents)
                if lattice[below | 1 << v] > LEAST:
                    found = (lattice[below | 1 << v] - lattice[below]) * scores.unit
                    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
                else:
                    assert score == "bic"
                    assert expected < naive.bic(codes, cardinalities, v, ()) or cardinalities[v] == 1


@pytest.mark.parametrize("weight", [1e-9, 0.1, 100.0, 1e6])
def test_weight_of_the_prior(weight):
    codes = related_codes(1, 60, 4)
    scores = make_set_scores(make_engine(codes), "bdeu", weight)
    for v, parents in [(0, ()), (1, (0, 2)), (3, (0, 1, 2))]:
        expected = naive.bdeu(codes, states_of(codes), v, parents, weight)
        assert family(scores, v, parents) * scores.unit == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("score", SCORES)
def test_equal_scores_are_equal_to_the_last_bit(score):
    codes = related_codes(3, 200, 4)
    codes = np.concatenate([codes, codes[[1]]])
    scores = make_set_scores(make_engine(codes), score)
    # Turning a covered edge.
    assert family(scores, 0, ()) + family(scores, 1, (0,)) == family(scores, 1, ()) + family(scores, 0, (1,))
    one_way = family(scores, 0, (2,)) + family(scores, 3, (0, 2))
    assert one_way == family(scores, 3, (2,)) + family(scores, 0, (2, 3))
    # A copy in place of its original.
    assert family(scores, 0, (1, 2)) == family(scores, 0, (2, 4))
    # The order of the rows, and of the states.
    other = make_set_scores(make_engine(codes.max(axis=1)[:, None] - codes[:, ::-1]), score)
    assert [family(other, v, (3,)) for v in range(3)] == [family(scores, v, (3,)) for v in range(3)]


class CountingOnce:
    """An engine that remembers what it was asked."""

    def __init__(self, engine):
        self.engine, self.asked = engine, []
        self.counts = self

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def evaluate(self, queries, formula, width=1):
        pieces = np.split(queries.variables, queries.start[1:-1])
        self.asked += [frozenset(piece.tolist()) for piece in pieces if len(piece)]
        return self.engine.evaluate(queries, formula, width)


def test_each_set_is_counted_once():
    engine = CountingOnce(make_engine(random_codes(1, 50, [2, 3, 2, 4, 2, 3])))
    scores = make_set_scores(engine)
    first = scores.lattices(np.array([[0, 2, 4], [1, 2, 4], [0, 2, 5]]))
    assert scores.n_sets == len(engine.asked) == len(set(engine.asked)) == 7 + 4 + 4
    again = scores.lattices(np.array([[0, 2, 4], [1, 2, 4]]))
    assert again.tolist() == first[:2].tolist()
    values, occupied = scores.subsets(np.array([1, 2, 4, 5]), np.array([0b0111, 0b0110, 0]))
    assert values.tolist() == first[1][[7, 6, 0]].tolist()
    assert occupied[:2].tolist() == [len(naive.contingency(engine._codes, s)) for s in ((1, 2, 4), (2, 4))]
    assert len(engine.asked) == 15
    scores.subsets(np.array([1, 2, 4, 5]), np.array([0b1111]))
    assert engine.asked[15:] == [frozenset({1, 2, 4, 5})]


def test_many_sets_and_batches(monkeypatch):
    monkeypatch.setattr(sets, "SETS_PER_BATCH", 100)
    codes = random_codes(2, 20, [2] * 40)
    scores = make_set_scores(make_engine(codes))
    triples = np.array(list(combinations(range(40), 3)))
    lattices = scores.lattices(triples)
    assert scores.n_sets == 40 + 780 + len(triples)
    rng = np.random.default_rng(0)
    for row in rng.choice(len(triples), 50, replace=False):
        alone = make_set_scores(make_engine(codes)).lattices(triples[[row]])
        assert lattices[row].tolist() == alone[0].tolist()


def test_tables_beyond_all_bounds():
    codes = random_codes(4, 30, [30] * 40)
    everything = np.array([(1 << 40) - 1, (1 << 39) - 1, 1])
    values, occupied = make_set_scores(make_engine(codes), "bdeu").subsets(np.arange(40), everything)
    assert occupied[:2].tolist() == [30, 30]
    assert LEAST < values[0] < values[1] < values[2]
    values, _ = make_set_scores(make_engine(codes), "bic").subsets(np.arange(40), everything)
    assert values[:2].tolist() == [IMPOSSIBLE] * 2
    assert values[2] > LEAST


def test_the_size_of_a_table_is_the_same_in_any_order():
    cardinalities = np.array([3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59])
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(16) for _ in range(50)])
    [size] = set(sets.table_sizes(Queries.of_matrix(orders), cardinalities).tolist())
    assert size == pytest.approx(math.prod(cardinalities.tolist()), rel=1e-14)
    assert size > 2**53  # products up to there are exact


def test_more_members_than_a_word_has_bits():
    rng = np.random.default_rng(5)
    scores = make_set_scores(make_engine(random_codes(5, 30, [2] * 150)))
    members = np.arange(10, 140)
    positions = [[0, 63, 64], [63], [64], [127, 128], [129], [], *np.split(rng.permutation(130)[:60], 20)]
    masks = [sum(1 << int(position) for position in some) for some in positions]
    values, _ = scores.subsets(members, words_of(masks, 130))
    assert values.tolist() == [value_of(scores, members[np.array(some, np.int64)]) for some in positions]


def test_one_row():
    for score in SCORES:
        scores = make_set_scores(make_engine([[0], [1]], [2, 3]), score)
        together = family(scores, 0, ()) + family(scores, 1, (0,))
        assert together * scores.unit == pytest.approx(math.log(1 / 6) if score == "bdeu" else 0.0)


def test_unknown_score():
    with pytest.raises(OptionError, match="unknown score 'k2'"):
        make_set_scores(make_engine([[0, 1]]), "k2")


@pytest.mark.parametrize("score", SCORES)
@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 60),
    weight=st.sampled_from([1e-3, 1.0, 10.0, 1e3]),
)
def test_ceilings_hold_for_all_families_with_more_parents(score, random_state, n_rows, weight):
    codes = related_codes(random_state, n_rows, 5)
    cardinalities = states_of(codes)
    scores = make_set_scores(make_engine(codes), score, weight)
    ceilings = scores.ceilings(np.arange(5))
    masks = np.arange(32)
    ceilings.learn(masks, scores.subsets(np.arange(5), masks)[1])
    for mask in range(1, 32):
        members = [v for v in range(5) if mask >> v & 1]
        cells = math.prod(cardinalities[v] for v in members)
        occupied = len(naive.contingency(codes, members))
        assert ceilings.sizes[mask] == (occupied if score == "bdeu" else cells)
    for v in range(5):
        others = [u for u in range(5) if u != v]
        for parents in (p for size in range(5) for p in combinations(others, size)):
            options = (weight,) if score == "bdeu" else ()
            found = naive.SCORES[score](codes, cardinalities, v, parents, *options)
            for fewer in (p for size in range(len(parents) + 1) for p in combinations(parents, size)):
                mask = sum(1 << u for u in (*fewer, v))
                assert found <= -ceilings.weights[v] * ceilings.sizes[mask] * scores.unit + 1e-9
