"""Hill climbing and tabu search over all pairs: step for step like the naive search; options and limits."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
import naive
from cli_process import learned, write_csv
from f2sl.learners.registries import STRUCTURE
from marks import compiled_only, examples
from tables import make_engine, make_table, related_codes

pytestmark = compiled_only

CLIMBERS = {f2sl.HillClimbing: (0, 1), f2sl.Tabu: (100, 15)}


def naive_climb(codes, score, tabu_length, max_stall, max_parents=None, forbidden=()):
    """Climb by the naive search, in which families that break a rule score very low."""
    cardinalities, n = [int(row.max()) + 1 for row in codes], len(codes)

    @cache
    def family(child, parents):
        broken = any((parent, child) in forbidden for parent in parents)
        if broken or (max_parents is not None and len(parents) > max_parents):
            return -1e9
        return naive.SCORES[score](codes, cardinalities, child, parents)

    arrows, steps = naive.hill_climb(n, list(combinations(range(n), 2)), family, 0.0, tabu_length, max_stall)
    return arrows, steps, naive.graph_score(n, arrows, family), family


@pytest.mark.parametrize("learner", CLIMBERS)
@pytest.mark.parametrize("score", ["bdeu", "bic"])
@given(
    random_state=st.integers(0, 2**32 - 1),
    n=st.integers(2, 5),
    max_parents=st.sampled_from([None, 1, 2]),
    forbidden=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=3),
)
@examples(10)
def test_the_graph_is_that_of_the_naive_search(learner, score, random_state, n, max_parents, forbidden):
    codes = np.array(related_codes(random_state, 60, n, most_states=3))
    forbidden = {(a, b) for a, b in forbidden if a != b and max(a, b) < n}
    table = make_table(codes)
    known = f2sl.Knowledge(forbidden=[(table.names[a], table.names[b]) for a, b in forbidden])
    model = learner(score=score, max_parents=max_parents, stability=0, knowledge=known).fit(table)
    arrows, steps, value, family = naive_climb(codes, score, *CLIMBERS[learner], max_parents, forbidden)
    named = [(table.names[a], table.names[b]) for a, b in arrows]
    assert sorted(model.dag_.directed_edges) == sorted(named)
    assert model.score_ == pytest.approx(value, rel=1e-9)
    if max_parents is None and not known:  # where no graph is left, the naive search steps to a broken one
        assert model.n_steps_ == steps
    assert known.check(model.graph_) == []
    for (a, b), (u, v) in zip(arrows, named, strict=True):
        parents = tuple(sorted(p for p, child in arrows if child == b))
        loss = family(b, parents) - family(b, tuple(p for p in parents if p != a))
        assert model.dag_.weights[u, v] == pytest.approx(loss, abs=1e-6)


@given(random_state=st.integers(0, 2**32 - 1))
@examples(10)
def test_tabu_search_is_never_worse_and_the_exact_search_is_never_beaten(random_state):
    table = make_table(related_codes(random_state, 80, 6, most_states=3))
    scores = [
        learner(score="bdeu", stability=0).fit(table).score_
        for learner in (f2sl.HillClimbing, f2sl.Tabu, f2sl.ExactSearch)
    ]
    assert scores[0] <= scores[1] + 1e-9 * abs(scores[1])
    assert scores[1] <= scores[2] + 1e-9 * abs(scores[2])


def test_plain_climbing_with_the_options_of_tabu_search_is_tabu_search():
    asia = f2sl.load_example("asia")
    tabu = f2sl.Tabu(stability=0).fit(asia)
    plain = f2sl.HillClimbing(tabu_length=100, max_stall=15, stability=0).fit(asia)
    assert (tabu.dag_, tabu.score_, tabu.n_steps_) == (plain.dag_, plain.score_, plain.n_steps_)


def test_a_required_edge_is_kept_without_a_strength():
    known = f2sl.Knowledge(required=[("asia", "xray")])
    model = f2sl.HillClimbing(knowledge=known, stability=0).fit(f2sl.load_example("asia"))
    assert model.dag_.has_directed_edge("asia", "xray")
    assert set(model.dag_.directed_edges) - set(model.dag_.weights) == {("asia", "xray")}
    assert all(np.isfinite(weight) for weight in model.dag_.weights.values())


@pytest.mark.parametrize("name", ["hc", "tabu"])
def test_the_command_line_learns_the_graph_of_python(name, tmp_path):
    frame = f2sl.random_network(7, 9, random_state=3).sample(500, random_state=1)
    path = write_csv(tmp_path / "table.csv", frame.to_dict("list"))
    learned("learn", path, "--algorithm", name, "--max-parents", "2", "--out", tmp_path / "graph.json")
    model = STRUCTURE.create(name, {"max_parents": 2}).fit(frame)
    assert f2sl.load_graph(tmp_path / "graph.json") == model.graph_
    assert max(len(model.dag_.parents(column)) for column in frame) <= 2


def test_scores_of_all_pairs_are_asked_for_in_one_batch():
    asked = []

    class Noted(f2sl.Score):
        def families(self, data, children, parents):
            asked.append(len(children))
            return -np.ones(len(children)) * (1.0 + parents.shape[1])

    f2sl.HillClimbing(score=Noted(), stability=0).fit(make_table(related_codes(0, 30, 12)))
    # The current families and all changes of them; then those of the one step that was tried in vain.
    assert sorted(asked[:2]) == [12, 12 * 11]
    assert sum(asked[2:]) <= 12


def test_every_discrete_score_leads_to_a_graph_better_than_the_empty_one():
    codes = np.array(related_codes(5, 300, 6))
    for score in ("bdeu", "bds", "k2", "bic", "aic"):
        model = f2sl.HillClimbing(score=score, stability=0).fit(make_table(codes))
        empty = make_score_of(codes, score).score([(v, ()) for v in range(6)]).sum()
        assert model.score_ > empty, score


def make_score_of(codes, score):
    from f2sl.stats.choose import make_score

    return make_score(make_engine(codes), score)
