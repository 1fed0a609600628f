"""F2SL-h: what it finds, by both searches, on both kinds of data; its score; its options."""

import dataclasses
import math

import numpy as np
import pytest

import f2sl
from f2sl import OptionError, open_table
from f2sl.constraints import Constraints
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.moments import Moments
from f2sl.learners.fit import Fit
from f2sl.learners.local_to_global import orient_by_score
from f2sl.search.orders import search_orders
from f2sl.stats.choose import make_score
from gaussian_tools import population
from marks import compiled_only
from perfect_answers import true_graph
from tables import collider


@pytest.fixture(scope="module")
def alarm():
    return f2sl.load_example("alarm")


@pytest.fixture(scope="module")
def model(alarm):
    return f2sl.F2SLh().fit(alarm)


def score_of(frame, graph, cost):
    table = open_table(frame).in_name_order()
    position = {name: v for v, name in enumerate(table.names)}
    families = [
        (position[name], tuple(sorted(position[parent] for parent in graph.parents(name))))
        for name in table.names
    ]
    with MemoryEngine(table) as engine:
        return float(make_score(engine, "bds", 10.0).score(families).sum()) - cost * graph.n_edges


def test_it_is_closer_to_the_truth_than_its_siblings(alarm, model):
    truth = f2sl.load_example_graph("alarm")
    errors = [
        f2sl.compare(truth, learner().fit(alarm).graph_.to_dag()).shd for learner in (f2sl.F2SLc, f2sl.F2SLs)
    ]
    assert f2sl.compare(truth, model.graph_).shd < min(errors)


def test_the_score_is_that_of_the_graph(alarm, model):
    assert model.score_ == pytest.approx(score_of(alarm, model.dag_, math.log(37)), rel=1e-12)
    free = f2sl.F2SLh(edge_cost=0.0).fit(alarm)
    assert free.score_ == pytest.approx(score_of(alarm, free.dag_, 0.0), rel=1e-12)
    assert free.graph_.n_edges >= model.graph_.n_edges
    assert (model.edge_cost_, free.edge_cost_) == (math.log(37), 0.0)
    climbed = f2sl.F2SLh(search="hill-climbing").fit(alarm)
    assert climbed.score_ == pytest.approx(score_of(alarm, climbed.dag_, math.log(37)), rel=1e-12)
    assert model.score_ >= climbed.score_


def test_the_prior_weighs_more_where_there_are_many_states(alarm, model):
    assert model.equivalent_sample_size_ == 10.0
    assert f2sl.F2SLh(equivalent_sample_size=3).fit(alarm).equivalent_sample_size_ == 3.0
    # Two variables of 5 and of 10 equally likely states: (4 + 9) / 2 states more than one, in the mean.
    table = {"a": np.arange(100) % 5, "b": np.arange(100) % 10}
    assert f2sl.F2SLh().fit(table).equivalent_sample_size_ == 65.0


def test_edges_come_from_the_candidates_and_carry_their_strength(model):
    weights = {frozenset(edge): strength for edge, strength in model.skeleton_.weights.items()}
    for (a, b), strength in model.graph_.weights.items():
        assert model.skeleton_.has_undirected_edge(a, b)
        assert b in model.pc_[a] or a in model.pc_[b]
        assert strength == weights[frozenset((a, b))]
    assert model.graph_ == model.dag_.to_cpdag()
    assert model.strength_unit == "SU"
    assert model.n_families_ > 37
    assert model.n_tests_ > model.n_inconclusive_ >= 0
    stages = {"read", "prepare", "neighbors", "skeleton", "orientation", "directions", "total"}
    assert set(model.timings_) == stages


def collider_by_late_names():
    """y -> c <- z and c -> d: the order of the names is not that of the arrows."""
    return collider().rename(columns={"a": "y", "b": "z"})


C, D, Y, Z = range(4)


def test_orders_are_searched_from_that_of_the_tests_and_from_that_of_the_names(monkeypatch):
    given = []

    def listening(sets, start, candidates, orders, *, perturbations, **options):
        given.append((perturbations, [order.tolist() for order in orders]))
        return search_orders(sets, start, candidates, orders, perturbations=perturbations, **options)

    monkeypatch.setattr("f2sl.search.orders.on_demand.search_orders", listening)
    graph = f2sl.F2SLh().fit(collider_by_late_names()).graph_
    perturbations, (of_tests, of_names) = given[0]
    assert perturbations == 40
    assert of_tests in ([Y, Z, C, D], [Z, Y, C, D])
    assert of_names == [C, D, Y, Z]
    assert graph.directed_edges == [("y", "c"), ("z", "c"), ("c", "d")]


@pytest.mark.parametrize(("most", "usable"), [(None, [(C, D), (Y, C), (Z, C)]), (1, [(C, D), (Y, C)])])
def test_climbs_begin_with_the_graph_of_the_tests_and_with_no_edge(monkeypatch, most, usable):
    given = []

    def listening(*arguments, start, **options):
        given.append(sorted(map(tuple, start.tolist())))
        return orient_by_score(*arguments, start=start, **options)

    monkeypatch.setattr("f2sl.learners.local_to_global.orient_by_score", listening)
    f2sl.F2SLh(search="hill-climbing", max_parents=most, stability=0).fit(collider_by_late_names())
    assert given == [usable, []]


@pytest.mark.parametrize("first_is_better", [True, False])
def test_the_better_climb_is_kept(monkeypatch, first_is_better):
    def worse(*arguments, start, **options):
        graph, climbed = orient_by_score(*arguments, start=start, **options)
        if (len(start) > 0) == first_is_better:
            return graph, climbed
        return graph.__class__(graph.nodes, []), dataclasses.replace(climbed, score=climbed.score - 1.0)

    monkeypatch.setattr("f2sl.learners.local_to_global.orient_by_score", worse)
    graph = f2sl.F2SLh(search="hill-climbing").fit(collider_by_late_names()).graph_
    assert graph.directed_edges == [("y", "c"), ("z", "c"), ("c", "d")]


@pytest.mark.parametrize("search", ["orders", "hill-climbing"])
def test_the_order_of_columns_and_rows_and_threads_do_not_matter(alarm, search):
    one = f2sl.F2SLh(search=search, n_jobs=1).fit(alarm)
    shuffled = alarm.sample(frac=1.0, random_state=3)[list(reversed(alarm.columns))]
    other = f2sl.F2SLh(search=search, n_jobs=2).fit(shuffled)
    assert set(one.dag_.directed_edges) == set(other.dag_.directed_edges)
    assert one.score_ == other.score_


def test_no_variable_has_more_parents_than_it_may(alarm):
    for search in ("orders", "hill-climbing"):
        graph = f2sl.F2SLh(max_parents=1, search=search).fit(alarm).dag_
        assert max(len(graph.parents(name)) for name in graph.nodes) == 1


def test_fewer_candidates_by_stricter_rules(alarm, model):
    def edges(**options):
        return set(f2sl.F2SLh(skeleton_only=True, **options).fit(alarm).graph_.undirected_edges)

    # Of 37 variables at 2,000 rows each rule leaves something out: fewer candidates, and no others.
    assert edges() == set(model.skeleton_.undirected_edges)
    assert edges(clean_up=2) == edges() < edges(clean_up=0)
    assert edges(symmetry="and") < edges()
    assert edges(relevance="bonferroni") < edges()


def test_in_continuous_tables_it_finds_what_boss_finds():
    frame = f2sl.random_network(12, 20, kind="continuous", random_state=3).sample(400, random_state=3)
    ours, boss = f2sl.F2SLh().fit(frame), f2sl.BOSS().fit(frame)
    assert ours.grows_parents_
    assert ours.dag_.directed_edges == boss.dag_.directed_edges
    assert ours.score_ == boss.score_


def test_variables_without_edges():
    rng = np.random.default_rng(5)
    noise = {name: rng.integers(0, 3, 500) for name in "abcdef"}
    model = f2sl.F2SLh().fit(noise)
    assert model.graph_.n_edges == 0
    assert model.skeleton_.n_edges == 0


def test_copies_of_one_variable():
    base = np.random.default_rng(1).integers(0, 3, 300)
    graph = f2sl.F2SLh().fit({"a": base, "b": base, "c": base, "d": 2 - base}).dag_
    assert graph.n_edges == 3
    assert graph.is_dag()


@compiled_only
@pytest.mark.parametrize(
    "name", ["asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "mildew"]
)
def test_the_true_class_from_the_moments_of_a_whole_population(name):
    # The correlations of a linear network itself, as if so many rows had been seen that nothing is left to
    # chance: then the cleaned skeleton is the true one, and no graph of another class scores as high.
    graph = true_graph(name)
    engine = Moments(
        10**11, np.ones(graph.n_nodes), population(graph.n_nodes, graph.directed_array.tolist(), 0), 1
    )
    learner = f2sl.F2SLh(alpha=1e-6, clean_up=3, symmetry="and")
    fit = Fit(tuple(graph.nodes), graph.nodes, Constraints.none(graph.n_nodes), engine=engine)
    assert learner._learn(fit).to_cpdag() == graph.to_cpdag()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"relevance": "su"}, "'fdr'"),
        ({"alpha": 1.5}, "alpha"),
        ({"max_cond_vars": -1}, "max_cond_vars"),
        ({"clean_up": 1.5}, "clean_up"),
        ({"symmetry": "xor"}, "symmetry"),
        ({"score": "bde"}, "score"),
        ({"equivalent_sample_size": 0}, "equivalent_sample_size"),
        ({"edge_cost": -1}, "edge_cost"),
        ({"max_parents": 0}, "max_parents"),
        ({"search": "annealing"}, "'hill-climbing'"),
        ({"tabu_length": -1}, "tabu_length"),
        ({"max_stall": 0}, "max_stall"),
        ({"skeleton_only": "yes"}, "skeleton_only"),
    ],
)
def test_f2sl_h_names_the_option_that_it_refuses(options, told):
    with pytest.raises(OptionError, match=told):
        f2sl.F2SLh(**options).fit(f2sl.load_example("asia"))
