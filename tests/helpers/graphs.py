"""Graphs for tests: one that is known to all, and strategies that draw others."""

from itertools import combinations

from hypothesis import strategies as st

from f2sl import DAG, PDAG

ASIA = DAG(
    ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"],
    [
        ("asia", "tub"),
        ("tub", "either"),
        ("smoke", "lung"),
        ("smoke", "bronc"),
        ("lung", "either"),
        ("either", "xray"),
        ("either", "dysp"),
        ("bronc", "dysp"),
    ],
)


@st.composite
def pdags(draw, most=6, marks="<>-  "):
    """Draw a PDAG with its nodes in random order, every pair joined in one of the ways in `marks`."""
    nodes = draw(st.permutations([f"v{i}" for i in range(draw(st.integers(1, most)))]))
    directed, undirected = [], []
    for a, b in combinations(nodes, 2):
        mark = draw(st.sampled_from(marks))
        if mark == "-":
            undirected.append((a, b))
        elif mark != " ":
            directed.append((a, b) if mark == ">" else (b, a))
    return PDAG(nodes, directed, undirected)


@st.composite
def named_dags(draw):
    """Draw a DAG over v0, v1 and so on, arrows along a random order of them."""
    n = draw(st.integers(2, 7))
    order = draw(st.permutations(range(n)))
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
    names = [f"v{i}" for i in range(n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return DAG(names, [(names[a], names[b]) for a, b in chosen])


@st.composite
def numbered_dags(draw, most_nodes=7):
    """Draw a number of nodes and arrows along a random order of them."""
    n = draw(st.integers(1, most_nodes))
    order = draw(st.permutations(range(n)))
    pairs = [(order[i], order[j]) for i, j in combinations(range(n), 2)]
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return n, tuple(pair for pair, taken in zip(pairs, chosen, strict=True) if taken)


def shuffled(graph, data):
    """Draw the same graph with its nodes in another order."""
    return graph.reorder(data.draw(st.permutations(graph.nodes)))
