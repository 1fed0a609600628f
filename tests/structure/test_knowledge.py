"""Every learner obeys what is known about the edges, and with perfect answers makes the most of it."""

from __future__ import annotations

import random
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from f2sl import Knowledge
from f2sl.local import by_tests
from f2sl.local.base import LOCAL, MARKOV_BLANKET
from f2sl.storage.memory.table import MemoryTable
from f2sl.structure import gsbn, local_to_global, pc_stable
from f2sl.structure.base import STRUCTURE
from marks import compiled_only, few_examples
from mixed_tools import drawn_gaps, mixed_columns, mixed_table
from oracle import nearness, of_graph
from tables import related_codes, related_numbers

N = 5
NAMES = [f"v{i}" for i in range(N)]
MIXED = ("states", "number", "states", "number", "number")
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
    not_required = [arc for arc in permutations(NAMES, 2) if arc not in required]
    apart = [pair for pair in combinations(NAMES, 2) if not {pair, pair[::-1]} & set(required)]
    ends = [{arc[side] for arc in required} for side in (0, 1)]
    return Knowledge(
        required=required,
        forbidden=draw(st.lists(st.sampled_from(not_required), max_size=6)),
        forbidden_links=draw(st.lists(st.sampled_from(apart), max_size=3)),
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
    return MemoryTable.of_codes(names, tuple(tuple(range(k + 1)) for k in codes.max(axis=1)), codes)


def table_for(learner, seed):
    """Make a table of a kind that a learner takes, of either if it takes both; now and then with a constant.

    Numbers come with even seeds.
    """
    if "states" not in learner.takes or ("number" in learner.takes and seed % 2 == 0):
        return related_numbers(seed, 100, N)
    codes = np.array(related_codes(seed, 80, N, 3))
    if seed % 5 == 0:
        codes[seed % N] = 0
    return table_of(codes)


@compiled_only
@pytest.mark.filterwarnings("ignore::f2sl.errors.F2SLWarning")
class TestObedience:
    @pytest.mark.parametrize("name", [entry.name for entry in STRUCTURE])
    @few_examples
    @given(known=knowledge(), seed=st.integers(0, 1000))
    def test_no_graph_violates_it(self, name, known, seed):
        model = STRUCTURE.create(name, {**FAST.get(name, {}), "knowledge": known})
        graph = model.fit(table_for(model, seed)).graph_
        assert known.check(graph) == []
        assert known.check(graph.to_dag()) == [] and known.check(graph.to_cpdag()) == []
        assert graph.knowledge == (known if known else None)

    @pytest.mark.parametrize("name", ["f2sl-h", "f2sl-c", "mmhc"])
    @few_examples
    @given(known=knowledge(), seed=st.integers(0, 1000))
    def test_nor_does_what_a_skeleton_alone_is_extended_to(self, name, known, seed):
        model = STRUCTURE.create(name, {"knowledge": known, "skeleton_only": True})
        graph = model.fit(table_for(model, seed)).graph_
        dag = graph.to_dag()
        assert not graph.directed_edges and dag.skeleton() == graph
        assert known.check(dag) == [] and known.check(graph.to_cpdag()) == []

    @pytest.mark.parametrize("name", ["f2sl-h", "boss", "f2sl-c", "mmhc", "pc-stable"])
    @pytest.mark.parametrize(
        ("kinds", "gaps"),
        [(MIXED, False), (MIXED, True), (("states",) * N, True)],
        ids=["mixed", "mixed with gaps", "states with gaps"],
    )
    @few_examples
    @given(known=knowledge(), seed=st.integers(0, 1000))
    def test_nor_does_one_of_mixed_tables_or_with_missing_values(self, name, kinds, gaps, known, seed):
        columns = mixed_columns(seed, 100, kinds)
        table = mixed_table(columns, kinds, missing=drawn_gaps(seed, columns) if gaps else None)
        model = STRUCTURE.create(name, {"knowledge": known})
        graph = model.fit(table).graph_
        assert known.check(graph) == []
        assert known.check(graph.to_dag()) == []

    @pytest.mark.parametrize("options", [{"search": "hill-climbing"}, {"max_parents": 3}])
    @few_examples
    @given(known=knowledge(), seed=st.integers(0, 1000))
    def test_nor_does_f2sl_h_in_other_ways(self, options, known, seed):
        model = f2sl.F2SLh(knowledge=known, **options)
        assert known.check(model.fit(table_for(model, seed)).graph_) == []
        assert known.check(model.cpdag_) == []

    @pytest.mark.parametrize("seed", [3, 4])
    @pytest.mark.parametrize("name", [entry.name for entry in STRUCTURE])
    def test_empty_knowledge_changes_nothing(self, name, seed):
        free = STRUCTURE.create(name, FAST.get(name, {}))
        table = table_for(free, seed)
        empty = STRUCTURE.create(name, {**FAST.get(name, {}), "knowledge": Knowledge()})
        graphs = [model.fit(table).graph_ for model in (free, empty)]
        assert graphs[0] == graphs[1] and graphs[0].weights == graphs[1].weights

    @pytest.mark.parametrize("name", [entry.name for entry in LOCAL])
    @few_examples
    @given(known=knowledge(), seed=st.integers(0, 1000))
    def test_forbidden_links_are_never_members_and_required_ones_always(self, name, known, seed):
        learner = LOCAL.create(name, FAST.get(name, {}))
        table = table_for(learner, seed)
        options = {**FAST.get(name, {}), "algorithm": name, "knowledge": known}
        found = f2sl.learn_pc(table, **options)
        rules = known.constraints(NAMES)
        for v, target in enumerate(NAMES):
            members = {NAMES.index(member) for member in found[target]}
            assert rules.may_be_linked(v)[list(members)].all()
            assert members >= set(rules.must_be_linked(v).tolist())
        assert set(f2sl.learn_pc(table, "v1", **options)) == set(found["v1"])

    @pytest.mark.parametrize("name", [entry.name for entry in MARKOV_BLANKET])
    @few_examples
    @given(known=knowledge(), seed=st.integers(0, 1000))
    def test_blankets_hold_who_may_be_linked_or_a_spouse(self, name, known, seed):
        learner = MARKOV_BLANKET.load(name)()
        found = f2sl.learn_mb(table_for(learner, seed), algorithm=name, knowledge=known)
        allowed = known.constraints(NAMES).matrix()
        allowed = np.ones((N, N), bool) if allowed is None else allowed
        arcs = {(NAMES.index(a), NAMES.index(b)) for a, b in known.required}
        for v, target in enumerate(NAMES):
            members = {NAMES.index(member) for member in found[target]}
            for w in members:
                children = [c for c in range(N) if c not in (v, w) and allowed[v, c] and allowed[w, c]]
                assert allowed[v, w] or allowed[w, v] or children
            must = {w for w in range(N) if (v, w) in arcs or (w, v) in arcs}
            must |= {w for w in range(N) for c in range(N) if {(v, c), (w, c)} <= arcs and w != v}
            assert members >= must


def test_a_neighbour_with_a_forbidden_link_is_in_no_blanket():
    """Nothing separates smoke and lung in the data, so that lung is no spouse either."""
    asia = f2sl.load_example("asia")
    known = Knowledge(forbidden_links=[("smoke", "lung")])
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
    others = [arc for arc in permutations(names, 2) if arc not in arrows]
    apart = [(a, b) for a, b in combinations(names, 2) if b not in graph.adjacent(a)]

    def some(things, share):
        return [thing for thing in things if draw.random() < share]

    order = graph.topological_order()
    cut = draw.randint(1, len(order) - 1)
    return Knowledge(
        required=some(arrows, 0.15),
        forbidden=some(others, 0.15),
        forbidden_links=some(apart, 0.4),
        tiers=[order[:cut], order[cut:]] if draw.random() < 0.3 else [],
        roots=some([v for v in names if not graph.parents(v)], 0.2),
        leaves=some([v for v in names if not graph.children(v)], 0.2),
    )


def v_structures(arrows):
    into = {}
    for a, b in arrows:
        into.setdefault(b, set()).add(a)
    linked = {frozenset(arc) for arc in arrows}
    return {
        (frozenset(pair), c)
        for c, parents in into.items()
        for pair in combinations(parents, 2)
        if frozenset(pair) not in linked
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
    tiers = {v: place for place, tier in enumerate(known.tiers) for v in tier}

    def keeps(arrows):
        return set(known.required) <= arrows and not any(
            arc in known.forbidden
            or arc[1] in known.roots
            or arc[0] in known.leaves
            or (known.tiers and tiers[arc[0]] > tiers[arc[1]])
            for arc in arrows
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
    for _ in range(200):
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
        for module in (by_tests, gsbn, pc_stable, local_to_global):
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


def test_forbidden_links_are_not_tested():
    asked = []

    class Watched(type(of_graph(f2sl.DAG(["v0", "v1", "v2"])))):
        def ask(self, x, y, given, enough=None):
            asked.extend(map(frozenset, zip(x.tolist(), y.tolist(), strict=True)))
            return super().ask(x, y, given, enough)

    known = Knowledge(forbidden_links=[("v0", "v1")])
    for learner in (f2sl.PCStable, f2sl.MMHCc):
        taught(learner(knowledge=known), 3, Watched(3, [(0, 2)]))
    assert frozenset((0, 2)) in asked and frozenset((0, 1)) not in asked
