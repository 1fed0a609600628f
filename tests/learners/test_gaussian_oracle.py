"""With the correlations of a linear network in place of data, learners find what d-separation tells."""

import pytest

from f2sl import TCBlankets
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET
from f2sl.learners.skeleton import join
from f2sl.learners.tc import separated_spouses, without_spouses
from f2sl.learners.v_structures import orient_by_independence
from gaussian_tools import oracle
from marks import compiled_only
from perfect_answers import (
    BLANKET,
    LEARNERS,
    PC,
    WHOLE_SET,
    blanket,
    most_ancestors_in_blankets,
    true_graph,
    truth,
)

pytestmark = compiled_only

NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm", "hailfinder"]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_structures(learner, name):
    graph = true_graph(name)
    largest = most_ancestors_in_blankets(graph) if learner == "gsbn" else 3
    assert LEARNERS[learner](graph, largest, oracle(graph)) == graph.to_cpdag()


@pytest.mark.parametrize("name", ["asia", "sachs", "child", "alarm"])  # on others with another oracle
@pytest.mark.parametrize("learner", [*PC, *BLANKET])
def test_learners_of_sets_recover_the_truth_from_partial_correlations(learner, name):
    graph = true_graph(name)
    arrows = [tuple(arrow) for arrow in graph.directed_array.tolist()]
    largest = None if learner in WHOLE_SET else 2 if learner in ("stmb", "bamb") else 3
    registry = LOCAL if learner in LOCAL else MARKOV_BLANKET
    found = registry.create(learner, {"max_cond_vars": largest}).find_all(oracle(graph))
    sets = [set(found.of(v)[0].tolist()) for v in range(graph.n_nodes)]
    assert sets == truth(learner, graph.n_nodes, arrows)


@pytest.mark.parametrize("name", NETWORKS)
def test_total_conditioning(name):
    graph = true_graph(name)
    arrows = [tuple(arrow) for arrow in graph.directed_array.tolist()]
    test = oracle(graph)
    blankets = TCBlankets(alpha=test.alpha).learn_all(test.engine)
    sets = [set(blankets.of(v)[0].tolist()) for v in range(graph.n_nodes)]
    assert sets == [blanket(arrows, v) for v in range(graph.n_nodes)]
    moral = join(blankets)
    skeleton, triples = without_spouses(moral, separated_spouses(test, moral, 4))
    assert orient_by_independence(skeleton, graph.nodes, triples) == graph.to_cpdag()
