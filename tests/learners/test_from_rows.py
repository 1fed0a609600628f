"""Networks found from the samples in memory are those found from values of sets that an engine counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2sl import open_table
from f2sl.data.memory.engine import MemoryEngine
from f2sl.learners.local import from_rows, growing
from f2sl.learners.local.by_score import Run
from f2sl.learners.local.s2tmb import explore
from f2sl.learners.local.sll import explore_blankets, explore_neighbors
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET
from marks import compiled_only
from score_tools import tables
from tables import make_engine, related_codes

pytestmark = pytest.mark.kernels

OPTIONS = st.fixed_dictionaries(
    {
        "equivalent_sample_size": st.sampled_from([0.1, 1.0, 10.0]),
        "ties": st.sampled_from(["drop", "keep"]),
        "max_parents": st.sampled_from([None, None, 0, 1, 2]),
        "max_exact": st.sampled_from([2, 3, 4, 13]),
    }
)


EXPLORE = {
    "sll-pc": explore_neighbors,
    "sll": explore_blankets,
    "s2tmb": lambda run: explore(run, range(run.n)),
    "s2tmb-pc": lambda run: explore(run, range(run.n)),
}


def runs_of(name, codes, options, cardinalities=None, n_jobs=1):
    """Run a learner from the samples, and from the values of sets; return both runs."""
    learner = (LOCAL if name in LOCAL else MARKOV_BLANKET).create(name, options)
    runs = []
    for from_samples in (True, False):
        run = Run(learner, make_engine(codes, cardinalities, n_jobs=n_jobs))
        assert run.grower.rows is not None
        if not from_samples:
            run.grower.rows = run.grower._of_planes = None
        EXPLORE[name](run)
        runs.append(run)
    return runs


def assert_same(one, other):
    assert one.found == other.found
    assert one.spouses == other.spouses
    assert (one.grower.n_exact, one.grower.n_climbed) == (other.grower.n_exact, other.grower.n_climbed)


@pytest.mark.parametrize("name", ["sll", "s2tmb"])
@given(codes=tables(most=8), rare=st.integers(0, 3), options=OPTIONS)
def test_answers_are_the_same(name, codes, rare, options):
    # Columns that are constant but for a few samples have very many neighbors by BDeu.
    rng = np.random.default_rng(codes.sum())
    few = [(rng.permutation(codes.shape[1]) < 2).astype(codes.dtype) for _ in range(rare)]
    assert_same(*runs_of(name, np.array([*codes, *few]), options))


@compiled_only
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("max_exact", [2, 4, 9])
def test_answers_are_the_same_among_more_variables(max_exact, n_jobs):
    rng = np.random.default_rng(1)
    codes = np.concatenate([related_codes(1, 60, 8), rng.permuted(np.eye(8, 60, dtype=np.int64), axis=1)])
    assert_same(*runs_of("s2tmb", codes, {"max_exact": max_exact}, n_jobs=n_jobs))


@pytest.mark.parametrize("kept", [1, 2])
def test_caches_that_are_too_small_change_nothing(kept, monkeypatch):
    monkeypatch.setattr(from_rows, "SIZES_KEPT", kept)
    monkeypatch.setattr("f2sl.stats.scores.tables.COUNTS_REMEMBERED", 10)
    assert_same(*runs_of("s2tmb", related_codes(2, 60, 8), {"max_exact": 4}))


@pytest.mark.parametrize("max_exact", [2, 13])
def test_families_with_more_configurations_than_floats_can_count(max_exact):
    codes = related_codes(4, 60, 7)
    assert_same(*runs_of("s2tmb", codes, {"max_exact": max_exact}, cardinalities=np.full(7, 1 << 14)))


def test_one_candidate_at_a_time_changes_nothing(monkeypatch):
    monkeypatch.setattr(growing, "WORK_FROM_ROWS", 1)
    assert_same(*runs_of("s2tmb", related_codes(5, 60, 8), {"max_exact": 4}))


def test_tables_that_are_left_to_the_engine(monkeypatch):
    codes = related_codes(6, 30, 4)
    missing = {f"v{v}": [None, *row[1:].tolist()] for v, row in enumerate(codes)}
    bdeu, bic = LOCAL.create("sll-pc", {}), LOCAL.create("sll-pc", {"score": "bic"})
    assert Run(bdeu, make_engine(codes)).grower.rows is not None
    assert Run(bic, make_engine(codes)).grower.rows is None
    assert Run(bdeu, MemoryEngine(open_table(missing), n_jobs=1)).grower.rows is None
    monkeypatch.setattr(from_rows, "LARGEST_REFINING", 50)
    assert Run(bdeu, make_engine(codes)).grower.rows is None


@compiled_only
def test_networks_too_large_for_one_word_are_the_same():
    """More than 64 variables: half of them related, half constant but for two samples."""
    rng = np.random.default_rng(7)
    few = [(rng.permutation(40) < 2).astype(np.int64) for _ in range(34)]
    run = Run(LOCAL.create("sll-pc", {}), make_engine(np.array([*related_codes(7, 40, 34), *few])))
    found = run.grower.network(range(68))
    run.grower._of_planes = None
    assert found == run.grower.network(range(68))
    assert run.grower.n_climbed == 2
