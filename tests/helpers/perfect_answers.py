"""Learners whose questions an oracle answers, and what they should find: on the smaller bundled networks."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import f2sl
from f2sl import DAG, GSMB, MMPC
from f2sl.learners.gsbn import along_paths, colliders_of_blankets, edges_of_blankets
from f2sl.learners.pc_stable import stable_skeleton, unseparated_colliders
from f2sl.learners.registries import LOCAL
from f2sl.learners.skeleton import join
from f2sl.learners.v_structures import find_v_structures, orient_by_independence
from oracle import nearness, of_graph

PC = ["mmpc", "hiton-pc", "pc-simple"]
BLANKET = ["gsmb", "iamb", "inter-iamb", "hiton-mb", "mmmb", "pcmb", "stmb", "bamb"]
WHOLE_SET = ("gsmb", "iamb", "inter-iamb")
"""These condition on the whole set that they have found, however large."""

# Conditioning sets of 3 are enough for most networks; in these some pairs need more to be separated.
LARGEST_SET = {"barley": 4, "hepar2": 5, "water": 5, "win95pts": 5}
NETWORKS = [
    *("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "mildew", "water", "alarm"),
    *("barley", "hailfinder", "hepar2", "win95pts"),
]


@cache
def network(name):
    """The graph of a bundled network, and its oracle: the nearer in the graph, the stronger."""
    graph = f2sl.load_network(name).graph
    arrows = tuple(map(tuple, graph.directed_array.tolist()))
    return graph.n_nodes, arrows, of_graph(graph, nearness(graph))


@cache
def true_graph(name: str) -> DAG:
    """The graph of a bundled network, its nodes listed by name, as learners number them."""
    graph = f2sl.load_network(name).graph
    return graph.reorder(sorted(graph.nodes))


def neighbors(arrows, v):
    return {a if b == v else b for a, b in arrows if v in (a, b)}


def blanket(arrows, v):
    children = {b for a, b in arrows if a == v}
    return (neighbors(arrows, v) | {a for a, b in arrows if b in children}) - {v}


def truth(name, n, arrows):
    """Give the sets of all variables that the learner with this name should find."""
    return [(neighbors if name in LOCAL else blanket)(arrows, v) for v in range(n)]


def by_pc_stable(graph: DAG, largest: int, test=None):
    found = stable_skeleton(test or of_graph(graph), largest)
    return orient_by_independence(found.skeleton, graph.nodes, unseparated_colliders(found))


def by_gsbn(graph: DAG, largest: int, test=None):
    test = test or of_graph(graph)
    blankets = GSMB().find_all(test)
    skeleton, _ = edges_of_blankets(test, blankets, "and", largest)
    triples = colliders_of_blankets(test, blankets, skeleton, largest)
    return along_paths(orient_by_independence(skeleton, graph.nodes, triples))


def by_mmhc_c(graph: DAG, largest: int, test=None):
    test = test or of_graph(graph, nearness(graph))
    skeleton = join(MMPC(max_cond_vars=largest, symmetry="none").find_all(test), "and")
    return orient_by_independence(skeleton, graph.nodes, find_v_structures(skeleton, test, largest).triples)


LEARNERS = {"pc-stable": by_pc_stable, "gsbn": by_gsbn, "mmhc-c": by_mmhc_c}
"""How a structure is learned of a graph's oracle, or of another test, with conditioning sets up to a size."""


def most_ancestors_in_blankets(graph: DAG) -> int:
    """How many variables GSBN may need to separate two that are not adjacent.

    It looks in the smaller of the two blankets, whose members that are ancestors of either separate them.
    They can be more than any variable has parents: a variable is separated from its descendants by children,
    and by the other parents of these.
    """
    blankets, ancestors = (
        {v: set(of(v)) for v in graph.nodes} for of in (graph.markov_blanket, graph.ancestors)
    )
    most = 0
    for a, b in combinations(graph.nodes, 2):
        smaller = min(blankets[a] - {b}, blankets[b] - {a}, key=len)
        if b not in graph.neighbors(a):
            most = max(most, len(smaller & (ancestors[a] | ancestors[b])))
    return most
