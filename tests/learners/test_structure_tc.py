"""TC: exact on perfect answers, by hand where a collider set has descendants, and its inverse."""

import numpy as np
import pytest
from hypothesis import given

import naive_gaussian
from f2sl import DAG, TC, OptionError
from f2sl.learners.skeleton import from_edges
from f2sl.learners.tc import _left_out, separated_spouses, without_spouses
from f2sl.learners.v_structures import orient_by_independence
from f2sl.stats.conditioning import decided, given_all_others
from gaussian_tools import moments, related_values
from graphs import named_dags
from marks import examples
from oracle import of_graph


def moral_graph(graph):
    """Link all members of each other's blankets."""
    names = list(graph.nodes)
    pairs = sorted(
        {tuple(sorted((names.index(v), names.index(w)))) for v in names for w in graph.markov_blanket(v)}
    )
    edges = np.array(pairs, np.int64).reshape(-1, 2)
    return from_edges(len(names), edges, np.ones(len(edges)))


def resolved(graph, max_left_out):
    moral = moral_graph(graph)
    skeleton, triples = without_spouses(moral, separated_spouses(of_graph(graph), moral, max_left_out))
    return orient_by_independence(skeleton, graph.nodes, triples)


@examples(60)
@given(graph=named_dags())
def test_perfect_answers_on_random_graphs(graph):
    assert resolved(graph, graph.n_nodes) == graph.to_cpdag()


def test_two_common_children_are_left_out_together():
    graph = DAG(list("abcd"), [("a", "c"), ("b", "c"), ("a", "d"), ("b", "d")])
    assert resolved(graph, 1).n_edges == 5  # a - b stays: one child alone keeps it open
    assert resolved(graph, 2) == graph.to_cpdag()


def test_a_descendant_of_the_collider_is_left_out_as_well():
    # c is the child of a and b, e that of a and c. What a has for itself is e, as many as b has: e is kept
    # at first, and opens the way over c.
    graph = DAG(list("abcde"), [("a", "c"), ("b", "c"), ("b", "d"), ("a", "e"), ("c", "e")])
    assert "b" in resolved(graph, 1).neighbors("a")
    assert resolved(graph, 2) == graph.to_cpdag()


def test_the_inverse_has_the_correlations_given_all_others():
    engine = moments(related_values(3, 6, 60))
    found = given_all_others(engine.correlations)
    for x in range(6):
        for y in range(x):
            rest = tuple(v for v in range(6) if v not in (x, y))
            expected = naive_gaussian.partial_correlation(engine.correlations.tolist(), x, y, rest)
            assert found[x, y] == found[y, x] == pytest.approx(expected, abs=1e-9)


def test_what_others_decide():
    values = related_values(3, 4, 60)
    table = [values[0], values[1], values[0] - values[1], values[2], values[3], 2 * values[3]]
    assert decided(moments(table).correlations).tolist() == [2, 5]


@pytest.mark.parametrize("options", [{"alpha": 0}, {"max_left_out": 0}])
def test_tc_refuses_options_out_of_range(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        TC(**options).fit({"a": [0.5, 0.7], "b": [0.1, 0.2]})


def test_what_is_left_out_beside_a_collider_is_not_behind_another():
    """Of 0 and 1, 2 and 3 are the common neighbors, adjacent to each other, and 4 is adjacent to 3."""
    around = [{1, 2, 3, 4}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2, 4}, {0, 3}]
    assert list(_left_out(around, 0, 1, own={4}, size=1)) == [(2,), (3,)]
    assert list(_left_out(around, 0, 1, own={4}, size=2)) == [(2, 3), (3, 4)]
