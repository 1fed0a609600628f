"""Exact search: the best of all networks, whatever the data; what it refuses, and what it says."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive
import naive_exact
from f2sl import OptionError, _deadline
from f2sl.errors import F2SLWarning, Interrupted
from f2sl.learners import exact_search
from f2sl.search import exact
from f2sl.search.exact import best_networks, count_lattice
from f2sl.stats.choose import make_score, make_set_scores
from f2sl.stats.scores.base import LEAST
from marks import compiled_only
from tables import make_engine, make_table, related_codes

pytestmark = pytest.mark.kernels

NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs"]


def bits(mask, n):
    return tuple(i for i in range(n) if mask >> i & 1)


def family_of(lattice):
    """Scores of families from the values of sets; those of sets without a value are very low."""

    def score(child, parents):
        below = sum(1 << u for u in parents)
        return int(lattice[below | 1 << child] - lattice[below])

    return score


# The search


@given(data=st.data(), n=st.integers(0, 5), most=st.none() | st.integers(0, 4))
def test_any_values_with_ties(data, n, most):
    values = data.draw(st.lists(st.integers(-4, 4), min_size=2**n, max_size=2**n))
    found = best_networks(np.array([values, values[::-1]]), most)
    for row, lattice in enumerate((values, values[::-1])):
        score, parents = naive_exact.best_network(n, family_of(lattice), most)
        assert found.scores[row] == score
        assert {v: bits(found.parents[row, v], n) for v in range(n)} == parents


def test_the_two_naive_searches_agree():
    for random_state in range(4):
        codes = related_codes(random_state, 25, 4)
        cardinalities = [int(row.max()) + 1 for row in codes]
        for most in (None, 1):
            scores = naive_families(codes, cardinalities, "bdeu")
            of_orders = naive_exact.best_score_of_all_orders(4, scores, most)
            assert of_orders == pytest.approx(naive_exact.best_score_of_all_dags(4, scores, most))


def naive_families(codes, cardinalities, score):
    formula, known = naive.SCORES[score], {}

    def family(child, parents):
        if (child, parents) not in known:
            known[child, parents] = formula(codes, cardinalities, child, parents)
        return known[child, parents]

    return family


def random_problem(random_state):
    """Few rows of three to six variables with copies, functions, constants and states that do not occur."""
    rng = np.random.default_rng(random_state)
    n = int(rng.integers(3, 7))
    codes = related_codes(random_state, int(rng.integers(2, 80)), n, most_states=5)
    if rng.random() < 0.3:
        codes[rng.integers(n)] = 0
    cardinalities = codes.max(axis=1) + 1 + (rng.random(n) < 0.15)
    return codes, cardinalities.tolist(), (None, None, 1, 2)[rng.integers(4)]


@compiled_only
@pytest.mark.parametrize("block", range(10))
def test_best_of_all_dags_on_200_random_tables(block):
    # All DAGs are listed up to four variables; from five on (29,281 and 3,781,503 DAGs) all orders, each
    # variable with its best parents among those before it: every DAG has such an order.
    for random_state in range(20 * block, 20 * block + 20):
        codes, cardinalities, most = random_problem(random_state)
        n, score = len(codes), ("bdeu", "bic")[random_state % 2]
        family = naive_families(codes, cardinalities, score)
        search = naive_exact.best_score_of_all_dags if n <= 4 else naive_exact.best_score_of_all_orders
        best = search(n, family, most)
        model = f2sl.ExactSearch(score=score, max_parents=most).fit(make_table(codes, cardinalities))
        assert model.score_ == pytest.approx(best, rel=1e-9, abs=1e-9), random_state
        number = {name: v for v, name in enumerate(model.dag_.nodes)}
        parents = {v: sorted(number[p] for p in model.dag_.parents(name)) for name, v in number.items()}
        own = sum(family(v, tuple(p)) for v, p in parents.items())
        assert own == pytest.approx(best, rel=1e-9, abs=1e-9), random_state
        assert most is None or max(map(len, parents.values())) <= most
        assert model.dag_ == model.dag_.to_cpdag().to_dag()
        assert all(not model.dag_.neighbors(name) for name, v in number.items() if cardinalities[v] == 1)
        for (u, v), weight in (model.dag_.weights or {}).items():
            kept = tuple(parents[number[v]])
            fewer = tuple(p for p in kept if p != number[u])
            assert weight == pytest.approx(family(number[v], kept) - family(number[v], fewer), abs=1e-6)
            assert weight > 0


@pytest.mark.parametrize("score", ["bdeu", "bic"])
@pytest.mark.parametrize("most", [None, 3])
def test_what_is_left_out_is_not_missed(score, most):
    # BDeu leaves out families where there are as many cells as samples, and seldom whole sets.
    unfair = (np.random.default_rng(1).random((11, 20)) < 0.3).astype(np.int64)
    for codes, members in (
        (unfair, np.arange(11)),
        (related_codes(2, 100, 7), np.array([0, 1, 2, 4, 6])),
        (related_codes(3, 10, 8), np.arange(8)),
    ):
        engine, k = make_engine(codes), len(members)
        scores = make_set_scores(engine, score)
        lattice = count_lattice(scores, members, most)
        everything = make_set_scores(engine, score).lattices(members[None])
        known = lattice.values > LEAST
        assert lattice.complete
        assert scores.n_sets == known.sum() - 1
        assert (lattice.values[known] == everything[0][known]).all()
        found, wanted = best_networks(lattice.values[None], most), best_networks(everything, most)
        assert found.scores.tolist() == wanted.scores.tolist()
        assert found.parents.tolist() == wanted.parents.tolist()
        allowed = range(k if most is None else most + 1)
        assert known.sum() <= 1 + sum(math.comb(k, size + 1) for size in allowed)
        assert lattice.n_families <= k * sum(math.comb(k - 1, size) for size in allowed)
        if codes is unfair and most is None:
            assert known.sum() < 1 << k
            assert lattice.n_families < 0.9 * k * (1 << k - 1)


def test_batches_of_a_lattice_and_progress(monkeypatch):
    engine = make_engine(related_codes(1, 60, 6))
    whole = count_lattice(make_set_scores(engine), np.arange(6))
    monkeypatch.setattr(exact, "SETS_PER_STEP", 3)
    shares = []
    pieces = count_lattice(make_set_scores(engine), np.arange(6), advance=shares.append)
    assert pieces.values.tolist() == whole.values.tolist()
    assert len(shares) > 20
    assert 0.5 < sum(shares) <= 1.0


# Against others


def all_families(engine, score):
    """Scores of all families, by child and parents, from the score that hill climbing uses."""
    n = len(engine.cardinalities)
    families = [(v, p) for v in range(n) for p in naive_exact.subsets({*range(n)} - {v})]
    return dict(zip(families, make_score(engine, score).score(families).tolist(), strict=True))


@compiled_only
@pytest.mark.parametrize("name", NETWORKS)
def test_no_worse_than_hill_climbing_from_100_starts(name):
    table = f2sl.open_table(f2sl.load_network(name).sample(5000, random_state=1)).in_name_order()
    engine = make_engine(table.codes, table.cardinalities)
    known = all_families(engine, "bdeu")
    n, rng = table.n_variables, np.random.default_rng(0)
    reached = []
    for _ in range(100):
        order = rng.permutation(n)
        starts = [[] for _ in range(n)]
        for position in range(1, n):
            before = order[:position].tolist()
            starts[order[position]] = rng.choice(
                before, min(position, rng.integers(0, 4)), replace=False
            ).tolist()
        reached.append(naive_exact.climb(n, lambda v, p: known[v, p], starts))
    model = f2sl.ExactSearch().fit(table)
    assert model.score_ >= max(reached) - 1e-6
    number = {v: i for i, v in enumerate(table.names)}
    own = [known[number[v], tuple(sorted(number[p] for p in model.dag_.parents(v)))] for v in table.names]
    assert model.score_ == pytest.approx(sum(own), rel=1e-9)
    assert model.score_ == pytest.approx(max(reached), rel=0.01)


@compiled_only
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("score", ["bdeu", "bic"])
@pytest.mark.parametrize("name", NETWORKS)
def test_as_good_as_pgmpys_exhaustive_search(name, score):
    # Four variables at a time: with five, pgmpy takes half a minute.
    from pgmpy.estimators import BIC, BDeu, ExhaustiveSearch

    frame = f2sl.load_network(name).sample(5000, random_state=2).astype(str)
    rng = np.random.default_rng(0)
    for _ in range(2):
        some = frame[sorted(rng.choice(frame.columns, 4, replace=False))]
        theirs = BDeu(some, equivalent_sample_size=10) if score == "bdeu" else BIC(some)
        best = ExhaustiveSearch(some, scoring_method=theirs).estimate()
        found = f2sl.ExactSearch(score=score).fit(some)
        assert found.score_ == pytest.approx(theirs.score(best), rel=1e-9)
        theirs_graph = f2sl.DAG(list(some.columns), best.edges())
        assert found.graph_ == theirs_graph.to_cpdag()


# The learner


@compiled_only
@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_the_same_whatever_the_threads_and_the_order_of_columns_and_rows(score):
    frame = f2sl.load_network("insurance").sample(400, random_state=3).iloc[:, :11]
    wanted = f2sl.ExactSearch(score=score, n_jobs=1).fit(frame)
    rng = np.random.default_rng(1)
    shuffled = frame.iloc[rng.permutation(400), rng.permutation(11)]
    for model in (
        f2sl.ExactSearch(score=score, n_jobs=3).fit(frame),
        f2sl.ExactSearch(score=score, n_jobs=2).fit(shuffled),
    ):
        assert model.dag_ == wanted.dag_.reorder(model.dag_.nodes)
        assert model.score_ == wanted.score_
        assert (model.n_sets_, model.n_families_) == (wanted.n_sets_, wanted.n_families_)
        assert model.dag_.weights == wanted.dag_.reorder(model.dag_.nodes).weights


def test_copies_of_a_column_and_constants():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 100)
    table = {"a": a, "b": a, "c": np.zeros(100, int), "d": rng.integers(0, 2, 100), "e": 2 - a}
    model = f2sl.ExactSearch(score="bic").fit(table)
    # One parent explains a copy, and of two that are equally good the first is taken.
    assert sorted(model.dag_.directed_edges) == [("a", "b"), ("a", "e")]
    assert f2sl.ExactSearch().fit({"x": [0, 0], "y": [1, 1]}).graph_.n_edges == 0


def test_what_is_known_of_the_search():
    model = f2sl.ExactSearch().fit(f2sl.load_example("asia"))
    assert model.complete_
    assert model.n_sets_ <= 255
    assert 8 <= model.n_families_ <= 8 * 128
    assert {"counting", "search", "total"} <= set(model.timings_)
    assert isinstance(model.dag_, f2sl.DAG)


def wide_table(n, rows=20):
    rng = np.random.default_rng(0)
    return {f"v{i:02d}": rng.integers(0, 2, rows) for i in range(n)}


def test_too_many_variables_are_refused_with_what_they_would_cost():
    with pytest.raises(OptionError) as refused:
        f2sl.ExactSearch().fit(wide_table(30))
    message = str(refused.value)
    assert message.startswith("max_exact is 20: an exact search of 30 variables takes about 344 GB of memory")
    assert "minutes" in message or "hours" in message
    assert "force=True" in message
    with pytest.raises(OptionError, match="max_exact is 3: an exact search of 4 variables"):
        f2sl.ExactSearch(max_exact=3).fit(wide_table(4))
    # Constants do not count.
    table = wide_table(3) | {"constant": np.zeros(20, int)}
    assert f2sl.ExactSearch(max_exact=3).fit(table).graph_.n_nodes == 4
    assert f2sl.ExactSearch(max_exact=3, force=True).fit(wide_table(4)).complete_


def test_too_little_memory_is_told_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(exact_search, "available_bytes", lambda: 5_000_000_000)
    with pytest.raises(OptionError, match=r"30 variables takes about 344 GB .*, but only 5 GB are free"):
        f2sl.ExactSearch(force=True).fit(wide_table(30))
    monkeypatch.setattr(exact_search, "available_bytes", lambda: None)
    assert f2sl.ExactSearch().fit(wide_table(3)).complete_
    with pytest.raises(OptionError, match="an exact search of 50 variables would never end"):
        f2sl.ExactSearch(force=True).fit(wide_table(50))


def test_a_search_out_of_time_says_so(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(_deadline.time, "monotonic", lambda: float(next(clock)))
    table = make_table(related_codes(5, 80, 8))
    # Looks at the clock: at the beginning, and before each level of parents but the first.
    with pytest.warns(F2SLWarning, match="incomplete: the time limit of 2.5 s was reached"):
        model = f2sl.ExactSearch(time_limit=2.5).fit(table)
    assert not model.complete_
    assert "no network with at most 2 parents for each variable is better" in model.notes_[-1]
    assert model.score_ >= f2sl.ExactSearch(max_parents=2).fit(table).score_
    assert f2sl.ExactSearch(time_limit=100).fit(table).complete_


def test_an_interrupt_leaves_the_best_of_what_was_searched(monkeypatch):
    table = make_table(related_codes(5, 80, 8))
    levels = []
    score_families = exact._kernels.score_families

    def interrupt_the_third(level, *rest):
        levels.append(level)
        if level == 2:
            raise KeyboardInterrupt
        return score_families(level, *rest)

    monkeypatch.setattr(exact._kernels, "score_families", interrupt_the_third)
    model = f2sl.ExactSearch()
    with pytest.raises(Interrupted):
        model.fit(table)
    assert levels == [0, 1, 2]
    assert not model.complete_
    assert model.notes_[-1].startswith("incomplete: interrupted; no network with at most 1 parents")
    monkeypatch.undo()
    assert model.score_ >= f2sl.ExactSearch(max_parents=1).fit(table).score_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "k2"}, "score must be one of 'bdeu', 'bic'"),
        ({"equivalent_sample_size": 0}, "equivalent_sample_size must be"),
        ({"max_parents": -1}, "max_parents must be"),
        ({"max_exact": 0}, "max_exact must be"),
        ({"force": "yes"}, "force must be True or False"),
        ({"time_limit": 0}, "time_limit must be a number from 0.001 to 1e\\+09, not 0"),
        ({"time_limit": math.nan}, "time_limit must be"),
    ],
)
def test_exact_search_refuses_options_out_of_range(options, message):
    with pytest.raises(OptionError, match=message):
        f2sl.ExactSearch(**options).fit(wide_table(3))
