"""Every learner obeys what is known about the edges, and with perfect answers makes the most of it."""

from __future__ import annotations

import random
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import f2sl
from f2sl import Knowledge
from f2sl.constraints import Constraints
from f2sl.learners import gsbn, local_to_global, pc_stable
from f2sl.learners.local import base
from f2sl.learners.local.growing import Grower
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
from f2sl.learners.skeleton import from_edges
from f2sl.learners.tc import separated_spouses
from f2sl.search.exact import best_networks
from f2sl.stats.choose import make_set_scores
from marks import compiled_only, few_examples
from mixed_tools import drawn_missing, mixed_columns, mixed_table
from oracle import nearness, of_graph
from tables import make_engine, related_codes, related_numbers, table_of_codes

N = 5
NAMES = [f"v{i}" for i in range(N)]
MIXED = ("discrete", "continuous", "discrete", "continuous", "continuous")
FAST = {"dag-gnn": {"epochs": 2, "max_iter": 2, "hidden": 4}, "ggsl": {"start": "v0"}, "mrmr": {"k": 2}}


@st.composite
def knowledge(draw):
    """Draw knowledge that some DAG keeps to: that of the required edges, which follow an order."""
    order = draw(st.permutations(NAMES))
    forward = list(combinations(order, 2))
    required = draw(st.lists(st.sampled_from(forward), max_size=3, unique=True))
    tiers, within = [], True
    if draw(st.booleans()):
        cut = draw(st.integers(1, N - 1))
        tiers = [order[:cut], order[cut:]]
        within = draw(st.booleans()) or any((a in tiers[0]) == (b in tiers[0]) for a, b in required)
    not_required = [
        directed_edge for directed_edge in permutations(NAMES, 2) if directed_edge not in required
    ]
    apart = [pair for pair in combinations(NAMES, 2) if not {pair, pair[::-1]} & set(required)]
    ends = [{directed_edge[side] for directed_edge in required} for side in (0, 1)]
    return Knowledge(
        required=required,
        forbidden=draw(st.lists(st.sampled_from(not_required), max_size=6)),
        forbidden_adjacencies=draw(st.lists(st.sampled_from(apart), max_size=3)),
        tiers=tiers,
        within_tiers=within,
        roots=draw(st.lists(st.sampled_from(NAMES), max_size=1).filter(lambda some: not ends[1] & set(some))),
        leaves=draw(
            st.lists(st.sampled_from(NAMES), max_size=1).filter(lambda some: not ends[0] & set(some))
        ),
    )


def table_of(codes):
    """Make a table of codes, one row for each of v0, v1, v2, ..."""
    codes = np.asarray(codes)
    names = tuple(f"v{i}" for i in range(len(codes)))
    return table_of_codes(names, tuple(tuple(range(k + 1)) for k in codes.max(axis=1)), codes)


def table_for(learner, random_state):
    """Make a table of a kind that a learner takes, of either if it takes both; now and then with a constant.

    Numbers come with even seeds.
    """
    if "discrete" not in learner._takes or ("continuous" in learner._takes and random_state % 2 == 0):
        return related_numbers(random_state, 100, N)
    codes = np.array(related_codes(random_state, 80, N, 3))
    if random_state % 5 == 0:
        codes[random_state % N] = 0
    return table_of(codes)


@compiled_only
@pytest.mark.filterwarnings("ignore::f2sl.errors.F2SLWarning")
class TestObedience:
    @pytest.mark.parametrize("name", [entry.name for entry in STRUCTURE])
    @few_examples
    @given(known=knowledge(), random_state=st.integers(0, 1000))
    def test_no_graph_violates_it(self, name, known, random_state):
        model = STRUCTURE.create(name, {**FAST.get(name, {}), "knowledge": known})
        graph = model.fit(table_for(model, random_state)).graph_
        assert known.check(graph) == []
        assert known.check(graph.to_dag()) == [] and known.check(graph.to_cpdag()) == []
        assert graph.knowledge == (known if known else None)

    @pytest.mark.parametrize("name", ["f2sl-h", "f2sl-c", "mmhc"])
    @few_examples
    @given(known=knowledge(), random_state=st.integers(0, 1000))
    def test_nor_does_what_a_skeleton_alone_is_extended_to(self, name, known, random_state):
        model = STRUCTURE.create(name, {"knowledge": known, "skeleton_only": True})
        graph = model.fit(table_for(model, random_state)).graph_
        dag = graph.to_dag()
        assert not graph.directed_edges and dag.skeleton() == graph
        assert known.check(dag) == [] and known.check(graph.to_cpdag()) == []

    @pytest.mark.parametrize("name", ["f2sl-h", "boss", "f2sl-c", "mmhc", "pc-stable"])
    @pytest.mark.parametrize(
        ("kinds", "is_missing"),
        [(MIXED, False), (MIXED, True), (("discrete",) * N, True)],
        ids=["mixed", "mixed with gaps", "states with gaps"],
    )
    @settings(max_examples=6)
    @given(known=knowledge(), random_state=st.integers(0, 1000))
    def test_nor_does_one_of_mixed_tables_or_with_missing_values(
        self, name, kinds, is_missing, known, random_state
    ):
        columns = mixed_columns(random_state, 100, kinds)
        table = mixed_table(
            columns, kinds, missing=drawn_missing(random_state, columns) if is_missing else None
        )
        model = STRUCTURE.create(name, {"knowledge": known})
        graph = model.fit(table).graph_
        assert known.check(graph) == []
        assert known.check(graph.to_dag()) == []

    @pytest.mark.parametrize("options", [{"search": "hill-climbing"}, {"max_parents": 3}])
    @few_examples
    @given(known=knowledge(), random_state=st.integers(0, 1000))
    def test_nor_does_f2sl_h_in_other_ways(self, options, known, random_state):
        model = f2sl.F2SLh(knowledge=known, **options)
        assert known.check(model.fit(table_for(model, random_state)).graph_) == []
        assert known.check(model.dag_) == []

    @pytest.mark.parametrize("name", [entry.name for entry in STRUCTURE])
    @settings(max_examples=6)
    @example(random_state=268)  # NOTEARS' gradient becomes infinite
    @given(random_state=st.integers(0, 1000))
    def test_empty_knowledge_changes_nothing(self, name, random_state):
        free = STRUCTURE.create(name, FAST.get(name, {}))
        table = table_for(free, random_state)
        empty = STRUCTURE.create(name, {**FAST.get(name, {}), "knowledge": Knowledge()})
        graphs = [model.fit(table).graph_ for model in (free, empty)]
        assert graphs[0] == graphs[1] and graphs[0].weights == graphs[1].weights

    @pytest.mark.parametrize(
        ("registry", "name"), [(some, entry.name) for some in (LOCAL, MARKOV_BLANKET) for entry in some]
    )
    @few_examples
    @given(random_state=st.integers(0, 1000))
    def test_nor_does_it_change_what_is_around_a_variable(self, registry, name, random_state):
        learn = f2sl.learn_pc if registry is LOCAL else f2sl.learn_mb
        options = {**FAST.get(name, {}), "algorithm": name}
        table = table_for(registry.load(name)(), random_state)
        for target in (None, "v1"):
            free, empty = (
                learn(table, target, **options, **more) for more in ({}, {"knowledge": Knowledge()})
            )
            assert empty == free

    @pytest.mark.parametrize("name", [entry.name for entry in LOCAL])
    @few_examples
    @given(known=knowledge(), random_state=st.integers(0, 1000))
    def test_forbidden_adjacencies_are_never_members_and_required_ones_always(
        self, name, known, random_state
    ):
        learner = LOCAL.create(name, FAST.get(name, {}))
        table = table_for(learner, random_state)
        options = {**FAST.get(name, {}), "algorithm": name, "knowledge": known}
        found = f2sl.learn_pc(table, **options)
        rules = known.constraints(NAMES)
        for v, target in enumerate(NAMES):
            members = {NAMES.index(member) for member in found[target]}
            assert rules.may_be_adjacent(v)[list(members)].all()
            assert members >= set(rules.must_be_adjacent(v).tolist())
        assert set(f2sl.learn_pc(table, "v1", **options)) == set(found["v1"])

    @pytest.mark.parametrize("name", [entry.name for entry in MARKOV_BLANKET])
    @few_examples
    @given(known=knowledge(), random_state=st.integers(0, 1000))
    def test_blankets_hold_who_may_be_adjacent_or_a_spouse(self, name, known, random_state):
        learner = MARKOV_BLANKET.load(name)()
        found = f2sl.learn_mb(table_for(learner, random_state), algorithm=name, knowledge=known)
        allowed = known.constraints(NAMES).matrix()
        allowed = np.ones((N, N), bool) if allowed is None else allowed
        directed_edges = {(NAMES.index(a), NAMES.index(b)) for a, b in known.required}
        for v, target in enumerate(NAMES):
            members = {NAMES.index(member) for member in found[target]}
            for w in members:
                children = [c for c in range(N) if c not in (v, w) and allowed[v, c] and allowed[w, c]]
                assert allowed[v, w] or allowed[w, v] or children
            must = {w for w in range(N) if (v, w) in directed_edges or (w, v) in directed_edges}
            must |= {w for w in range(N) for c in range(N) if {(v, c), (w, c)} <= directed_edges and w != v}
            assert members >= must


def test_a_neighbor_with_a_forbidden_link_is_in_no_blanket():
    """Nothing separates smoke and lung in the data, so that lung is no spouse either."""
    asia = f2sl.load_example("asia")
    known = Knowledge(forbidden_adjacencies=[("smoke", "lung")])
    for entry in MARKOV_BLANKET:
        if entry.name not in ("tc", "sll", "s2tmb"):  # which take numbers, or do find a common child
            assert "lung" not in f2sl.learn_mb(asia, "smoke", entry.name, knowledge=known), entry.name


def test_spouses_that_are_roots_stay_in_the_blanket():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 2000))
    table = {"a": a, "b": b, "c": np.where(rng.random(2000) < 0.1, rng.integers(0, 2, 2000), a ^ b | (a & b))}
    known = Knowledge(roots=["a", "b"])
    for entry in MARKOV_BLANKET:
        if entry.name != "tc":
            assert set(f2sl.learn_mb(table, "a", entry.name, knowledge=known)) == {"b", "c"}, entry.name


# Perfect answers, and knowledge that is true


def random_dag(draw):
    n = draw.randint(3, 6)
    names = [f"v{i}" for i in range(n)]
    order = draw.sample(names, n)
    arrows = [pair for pair in combinations(order, 2) if draw.random() < 0.45]
    return f2sl.DAG(names, draw.sample(arrows, min(len(arrows), 7)))


def true_knowledge(draw, graph):
    arrows, names = graph.directed_edges, graph.nodes
    others = [directed_edge for directed_edge in permutations(names, 2) if directed_edge not in arrows]
    apart = [(a, b) for a, b in combinations(names, 2) if b not in graph.neighbors(a)]

    def some(things, share):
        return [thing for thing in things if draw.random() < share]

    order = graph.topological_order()
    cut = draw.randint(1, len(order) - 1)
    return Knowledge(
        required=some(arrows, 0.15),
        forbidden=some(others, 0.15),
        forbidden_adjacencies=some(apart, 0.4),
        tiers=[order[:cut], order[cut:]] if draw.random() < 0.3 else [],
        roots=some([v for v in names if not graph.parents(v)], 0.2),
        leaves=some([v for v in names if not graph.children(v)], 0.2),
    )


def v_structures(arrows):
    into = {}
    for a, b in arrows:
        into.setdefault(b, set()).add(a)
    adjacent = {frozenset(directed_edge) for directed_edge in arrows}
    return {
        (frozenset(pair), c)
        for c, parents in into.items()
        for pair in combinations(parents, 2)
        if frozenset(pair) not in adjacent
    }


def acyclic(arrows):
    left = set(arrows)
    while left:
        heads = {b for _, b in left}
        rest = {(a, b) for a, b in left if a in heads}
        if rest == left:
            return False
        left = rest
    return True


def mpdag(graph, known):
    """What all DAGs have in common that have the skeleton and the v-structures, and keep to the knowledge."""
    edges = graph.directed_edges
    tiers = {v: position for position, tier in enumerate(known.tiers) for v in tier}

    def keeps(arrows):
        return set(known.required) <= arrows and not any(
            directed_edge in known.forbidden
            or directed_edge[1] in known.roots
            or directed_edge[0] in known.leaves
            or (known.tiers and tiers[directed_edge[0]] > tiers[directed_edge[1]])
            for directed_edge in arrows
        )

    target = v_structures(edges)
    ways = product(*((edge, edge[::-1]) for edge in edges))
    same = [set(way) for way in ways if keeps(set(way)) and v_structures(way) == target and acyclic(way)]
    common = set.intersection(*same) if same else set()
    either = [edge for edge in edges if edge not in common]
    return f2sl.PDAG(graph.nodes, common, either)


ORACLES = {
    "pc-stable": (f2sl.PCStable, of_graph),
    "gsbn": (f2sl.GSBN, of_graph),
    "mmhc-c": (f2sl.MMHCc, lambda graph: of_graph(graph, nearness(graph))),
}


def test_perfect_answers_and_true_knowledge_give_the_mpdag():
    draw = random.Random(1)
    for _ in range(60):
        graph = random_dag(draw)
        known = true_knowledge(draw, graph)
        best = mpdag(graph, known)
        assert graph.to_cpdag(known) == best
        for learner, oracle in ORACLES.values():
            model = taught(learner(max_cond_vars=None, knowledge=known), graph.n_nodes, oracle(graph))
            assert model.graph_ == best, (graph.directed_edges, known)
            assert model.graph_.to_cpdag() == best == model.graph_.to_dag().to_cpdag()


def taught(learner, n, answers):
    """Fit a learner that is given these answers to its questions, whatever the data."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (base, gsbn, local_to_global, pc_stable):
            patch.setattr(module, "make_test", lambda *data, **how: answers)
        return learner.fit(table_of([[0, 1]] * n))


@pytest.mark.parametrize("learner", [f2sl.PCStable, f2sl.GSBN, f2sl.MMHCc, f2sl.F2SLc])
def test_v_structures_against_knowledge_by_way_of_other_arrows_are_left_out(learner):
    """The data say c -> a <- d, which with a -> b -> c would be a cycle."""
    rng = np.random.default_rng(1)
    b, c, d = rng.integers(0, 2, (3, 2000))
    a = np.where(rng.random(2000) < 0.1, rng.integers(0, 2, 2000), c | d)
    table = dict(zip("abcd", (a, b, c, d), strict=True))
    assert learner().fit(table).v_structures_ == [("c", "a", "d")]
    model = learner(knowledge=Knowledge(required=[("a", "b"), ("b", "c")])).fit(table)
    assert model.v_structures_ == []
    [note] = [note for note in model.notes_ if "these v-structures" in note]
    assert "c -> a <- d" in note
    assert model.graph_.has_directed_edge("a", "c") and not model.graph_.has_directed_edge("d", "a")


class Asked:
    """Pairs that a test, a measure or a score in place of one of f2sl's was asked about."""

    def __init__(self):
        self.pairs = set()

    def add(self, x, y):
        self.pairs |= {frozenset(pair) for pair in zip(x.tolist(), y.tolist(), strict=True)}


def counting(asked):
    """Make a test, a measure and a score that note the pairs, and the arcs, that they are asked about."""

    class Test(f2sl.CITest):
        def p_values(self, data, x, y, given):
            asked.add(x, y)
            columns = [data.column(v) for v in range(data.n_variables)]
            return np.array(
                [min(1.0, 1e-3 / (1e-9 + agreement(columns, *one))) for one in zip(x, y, given, strict=True)]
            )

    class Measure(f2sl.Measure):
        def values(self, data, first, second):
            asked.add(first, second)
            return np.array(
                [
                    agreement([data.column(a), data.column(b)], 0, 1)
                    for a, b in zip(first, second, strict=True)
                ]
            )

    class Score(f2sl.Score):
        def families(self, data, children, parents):
            asked.pairs |= {(int(u), int(v)) for v, some in zip(children, parents, strict=True) for u in some}
            columns = [data.column(v) for v in range(data.n_variables)]
            return np.array(
                [
                    sum(agreement(columns, u, v) - 0.05 for u in some)
                    for v, some in zip(children, parents, strict=True)
                ]
            )

    return {"ci_test": Test(), "measure": Measure(), "score": Score()}


def agreement(columns, x, y, given=()):
    """Return how often two variables agree beyond chance, less what is given: any number would do."""
    return abs(np.mean(columns[x] == columns[y]) - 0.5) / (1 + len(given))


ROOTS = Knowledge(roots=["v0", "v1"])
"""Forbids the adjacency of two variables, and directs all others of theirs."""


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("f2sl-c", {}),
        ("f2sl-c", {"delta": 0.1}),
        ("f2sl-s", {"delta": 0.1}),
        ("f2sl-h", {}),
        ("f2sl-h", {"search": "hill-climbing"}),
        ("boss", {}),
        ("hc", {}),
        ("mmhc", {}),
        ("mmhc-c", {}),
        ("pc-stable", {}),
        ("local-to-global", {"pc": "hiton-pc"}),
        ("local-to-global", {"pc": "hiton-pc", "orient": "score"}),
    ],
)
def test_forbidden_adjacencies_are_neither_tested_nor_measured_nor_scored(name, how):
    """Those that are not here take no such objects; but GSBN asks about blankets, where two roots may be."""
    learner = STRUCTURE.load(name)
    taken = [option for option in ("ci_test", "measure", "score") if option in learner.option_defaults()]
    if name == "local-to-global" and "orient" not in how:
        taken.remove("score")  # edges are directed by tests
    asked, free = Asked(), Asked()
    table = table_of(np.array(related_codes(3, 200, N, 2)))
    for noted, known in ((free, None), (asked, ROOTS)):
        objects = {option: made for option, made in counting(noted).items() if option in taken}
        STRUCTURE.create(name, {**how, **objects, "knowledge": known}).fit(table)
    assert {frozenset((0, 1)), (0, 1), (1, 0)} & free.pairs
    assert not {frozenset((0, 1)), (0, 1), (1, 0)} & asked.pairs and asked.pairs
    assert not any(
        isinstance(directed_edge, tuple) and directed_edge[1] in (0, 1) for directed_edge in asked.pairs
    )


@pytest.mark.parametrize("name", ["fcbf", "fcbf-confirmed", "mrmr", "mmpc", "hiton-pc", "pc-simple"])
@pytest.mark.parametrize("target", [None, "v0"])
def test_nor_by_learners_of_neighbors(name, target):
    learner = LOCAL.load(name)
    taken = [option for option in ("ci_test", "measure") if option in learner.option_defaults()]
    noted = [Asked(), Asked()]
    for asked, known in zip(noted, (None, ROOTS), strict=True):
        objects = {option: made for option, made in counting(asked).items() if option in taken}
        options = {**FAST.get(name, {}), **({"delta": 0.1} if name == "fcbf" else {}), **objects}
        f2sl.learn_pc(
            table_of(np.array(related_codes(3, 200, N, 2))), target, name, knowledge=known, **options
        )
    assert frozenset((0, 1)) in noted[0].pairs
    assert frozenset((0, 1)) not in noted[1].pairs and noted[1].pairs


def test_tc_asks_about_a_forbidden_link_only_what_may_direct_others():
    moral = from_edges(3, np.array([[0, 1], [0, 2], [1, 2]]), np.ones(3))
    apart = [(0, 1), (1, 0)]
    for more, n_tests in (([], 1), ([(2, 0), (2, 1)], 0), ([(0, 2)], 0)):
        oracle = of_graph(f2sl.DAG(["v0", "v1", "v2"], [("v0", "v2"), ("v1", "v2")]))
        found = separated_spouses(oracle, moral, 3, Constraints.of(3, [*apart, *more]))
        assert oracle.n_tests - 2 == n_tests, more  # two for the edges that are there
        assert ((0, 1) in found) == bool(n_tests)


def test_the_best_network_around_two_counts_no_set_that_only_forbidden_families_need():
    engine = make_engine(np.array(related_codes(5, 300, N, 3)))
    rules = Constraints.of(
        N, [directed_edge for directed_edge in permutations(range(N), 2) if directed_edge[0] < 2]
    )
    grower, full = (Grower(make_set_scores(engine), 13, None, "drop", some) for some in (rules, None))
    best = best_networks(full.scores.lattices(np.arange(N)[None]), None, rules).parents[0]
    found = grower.network(range(N))
    assert found == {v: tuple(u for u in range(N) if best[v] >> u & 1) for v in range(N)}
    # Variables 0 and 1 have no children: no family has both, which leaves out the sets that do.
    assert grower.scores.n_sets <= full.scores.n_sets - 2 ** (N - 2)
