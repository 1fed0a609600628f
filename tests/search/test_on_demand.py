"""Sets of parents scored on demand, and candidates that join: beside naive checks, and by hand."""

from itertools import product

import numpy as np
import pytest

import f2sl
from f2sl import open_table
from f2sl.constraints import Constraints
from f2sl.data.memory.engine import MemoryEngine
from f2sl.search.orders import on_demand
from f2sl.search.orders.determined import Determined
from f2sl.search.orders.on_demand import OnDemand, extended
from f2sl.search.orders.parent_sets import ParentSets, parent_sets
from f2sl.stats.choose import make_score, make_test

PRIOR = -2.0


def everyone(n):
    """All variables are candidates of each other."""
    return np.arange(n + 1) * (n - 1), np.array([u for v in range(n) for u in range(n) if u != v])


def as_dicts(sets):
    return [
        {
            frozenset(sets.members[sets.start[s] : sets.start[s + 1]].tolist()): sets.scores[s]
            for s in range(sets.first[v], sets.first[v + 1])
        }
        for v in range(len(sets.first) - 1)
    ]


@pytest.fixture(scope="module")
def engine():
    """Twelve variables, with as many rows as it takes for sets to crowd each other out."""
    frame = f2sl.random_network(12, 24, 4, (2, 3), random_state=1).sample(20_000, random_state=1)
    with MemoryEngine(open_table(frame).in_name_order(), n_jobs=1) as found:
        yield found


def searched(engine, near, constraints=None, max_parents=None, outside=None):
    score = make_score(engine, "bdeu", 10.0)
    limits = {"edge_log_prior": PRIOR, "max_parents": max_parents, "constraints": constraints}
    sets = parent_sets(score, *near, **limits)
    outside = np.empty((0, 2), np.int64) if outside is None else outside
    wider = OnDemand(sets, *near, score=score, test=make_test(engine, 1e-6), outside=outside, **limits)
    return sets, wider, score


def test_more_sets_are_put_in_their_places():
    """Those of the first variable by hand; an equal score comes behind the one that was there."""
    few = ParentSets(np.array([0, 2, 3]), np.array([0, 1, 1, 1]), np.array([1]), np.array([-3.0, -9.0, -5.0]))
    more = few.with_more(
        np.array([0, 1, 0]), np.array([[-1, 2], [0, 2], [1, 2]]), np.array([-3.0, -4.0, -1.0])
    )
    assert [list(own.items()) for own in as_dicts(more)] == [
        [({1, 2}, -1.0), ({1}, -3.0), ({2}, -3.0), (set(), -9.0)],
        [({0, 2}, -4.0), (set(), -5.0)],
    ]


def test_sets_were_extended_up_to_a_number_of_each_size():
    sizes = [2, 2, 1, 1, 1, 0, 2, 1, 1, 1, 0]
    start = np.concatenate([[0], np.cumsum(sizes)])
    sets = ParentSets(np.array([0, 6, 11]), start, np.zeros(start[-1], np.int64), np.zeros(len(sizes)))
    assert np.flatnonzero(~extended(sets, 1)).tolist() == [1, 3, 4, 8, 9]
    assert np.flatnonzero(~extended(sets, 2)).tolist() == [4, 9]
    assert extended(sets, 3).all()


@pytest.mark.parametrize("max_parents", [None, 3])
@pytest.mark.parametrize("known", [False, True])
def test_no_parent_more_or_less_gains_in_the_order_found(engine, known, max_parents):
    n = engine.n_variables
    rules = Constraints.of(n, forbidden=[(0, 5), (5, 0), (3, 4)], required=[(1, 2)]) if known else None
    sets, wider, score = searched(engine, everyone(n), rules, max_parents)
    crowded = np.unique(np.repeat(np.arange(n), np.diff(sets.first))[~extended(sets)])
    assert len(crowded)
    before = wider._search([np.arange(n)], 0)
    found = wider.search([np.arange(n)], 0)
    assert found.score > before.score

    def value(v, members):
        return float(score.score([(v, tuple(sorted(members)))])[0]) + PRIOR * len(members)

    parents = {v: {u for u, w in found.arrows.tolist() if w == v} for v in range(n)}
    assert found.score == pytest.approx(sum(value(v, own) for v, own in parents.items()), rel=1e-12)
    position = np.argsort(found.order)
    for v in crowded.tolist():
        others = {u for u in range(n) if position[u] < position[v]} - parents[v]
        fewer = [parents[v] - {u} for u in parents[v] if not known or (u, v) != (1, 2)]
        more = [parents[v] | {u} for u in others if not known or (u, v) not in [(0, 5), (5, 0), (3, 4)]]
        more = more if max_parents is None or len(parents[v]) < max_parents else []
        assert all(value(v, members) <= value(v, parents[v]) + 1e-6 for members in fewer + more)
    assert not known or (1 in parents[2] and not {0, 5} & (parents[5] | parents[0]))


@pytest.mark.parametrize(("network", "effort"), [("alarm", "normal"), ("hepar2", "thorough")])
def test_with_many_rows_the_score_is_at_least_that_of_the_true_graph(network, effort):
    truth = f2sl.load_network(network)
    frame = truth.sample(20_000, random_state=1)
    less, more = (f2sl.F2SLh(effort=own).fit(frame) for own in ("fast", effort))
    names = sorted(frame.columns)
    number = {name: v for v, name in enumerate(names)}
    families = [(number[a], tuple(sorted(number[p] for p in truth.graph.parents(a)))) for a in names]
    with MemoryEngine(open_table(frame).in_name_order()) as engine:
        score = make_score(engine, "bds", more.equivalent_sample_size_).score(families).sum()
    assert more.score_ >= score - more.edge_cost_ * truth.graph.n_edges
    assert more.score_ > less.score_


def hidden(copies=100):
    """c depends on a, and on b only given a: each cell as often as its probability says.

    P(c = 1) is 0.2 and 0.5 for a = 0 (b = 0, 1), and 0.9 and 0.6 for a = 1; so it is 0.55 for either b.
    """
    tenths = {(0, 0): 2, (0, 1): 5, (1, 0): 9, (1, 1): 6}
    rows = [(a, b, int(i < tenths[a, b])) for a, b in product((0, 1), repeat=2) for i in range(10)] * copies
    return dict(zip("abc", zip(*rows, strict=True), strict=True))


def test_a_parent_that_shows_only_beside_another_joins():
    """Of a and c one is the common child: both graphs have the same independences but the data's score."""
    data = hidden()
    model = f2sl.F2SLh().fit(data)
    assert model.pc_ == {"a": ["c"], "b": [], "c": ["a"]}
    [child] = model.graph_.neighbors("b")
    [other] = {"a", "c"} - {child}
    assert sorted(model.graph_.directed_edges) == sorted([("b", child), (other, child)])
    assert model.skeleton_.has_undirected_edge("b", child)
    assert model.graph_.weights["b", child] == pytest.approx(0.0, abs=1e-12)
    [test] = model.explain("b", child, data).of_kind("test")
    assert test.facts["given"] == [other]
    assert test.facts["p_value"] < 1e-9
    assert f2sl.F2SLh(effort="fast").fit(data).graph_.n_edges == 1


@pytest.mark.parametrize(
    "options",
    [{"max_parents": 1}, {"knowledge": f2sl.Knowledge(forbidden=[*product("ac", "b"), *product("b", "ac")])}],
)
def test_who_may_be_no_parent_does_not_join(options):
    assert not f2sl.F2SLh(**options).fit(hidden()).graph_.neighbors("b")


def test_the_score_alone_lets_nobody_join():
    """Two variables that hardly vary, independent: one of 1,000 rows each, not the same. BDeu joins them."""
    data = {"a": [1] + [0] * 999, "b": [0] * 999 + [1], "c": [0, 1] * 500, "d": [0, 0, 1, 1] * 250}
    model = f2sl.F2SLh(edge_cost=0.0).fit(data)
    with MemoryEngine(open_table(data).in_name_order()) as engine:
        alone, adjacent = make_score(engine, "bdeu", model.equivalent_sample_size_).score(
            [(1, ()), (1, (0,))]
        )
    assert adjacent > alone
    assert model.graph_.n_edges == 0


def inherited(copies=50):
    """A child has one allele of its parent, m or f, as z says; g shows how many of the two are 1.

    All cases equally often: given g, the child is independent of m and of f, and without them of z.
    """
    rows = [(m, f, z, m + f, m if z else f) for m, f, z in product((0, 1), repeat=3)] * copies
    return dict(zip(["m", "f", "z", "g", "child"], zip(*rows, strict=True), strict=True))


def test_a_parent_does_not_hide_those_that_determine_it(monkeypatch):
    model = f2sl.F2SLh().fit(inherited())
    assert sorted(model.graph_.parents("child")) == ["f", "m", "z"]
    assert sorted(model.graph_.parents("g")) == ["f", "m"]
    assert all(model.skeleton_.has_undirected_edge("child", name) for name in "mfz")
    assert model.n_tests_ > 0
    monkeypatch.setattr(Determined, "_replacements", lambda *_: iter(()))
    assert sorted(f2sl.F2SLh().fit(inherited()).graph_.parents("child")) == ["g"]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (f2sl.Knowledge(required=[("g", "child")]), {"g"}),
        (f2sl.Knowledge(forbidden=[("m", "child"), ("child", "m")]), {"g"}),
        (f2sl.Knowledge(forbidden=[("z", "child"), ("child", "z")]), {"g"}),
    ],
)
def test_a_parent_that_has_to_stay_stays(known, expected):
    parents = set(f2sl.F2SLh(knowledge=known).fit(inherited()).graph_.parents("child"))
    assert expected <= parents
    assert not parents & {u for u, v in known.forbidden if v == "child"}


def with_missing(data):
    return {name: [None, *column[1:]] if name == "m" else column for name, column in data.items()}


@pytest.mark.parametrize(
    ("data", "options"),
    [
        # g, with three states and four configurations of its parents, needs 60 samples, and has 56.
        (inherited(7), {}),
        (inherited(), {"max_parents": 2}),
        (with_missing(inherited()), {}),
        (inherited(), {"effort": "fast"}),
    ],
)
def test_where_nothing_is_replaced(data, options):
    """With too few samples or parents, with missing values, and without effort."""
    assert "z" not in f2sl.F2SLh(**options).fit(data).graph_.parents("child")


def test_a_test_of_the_users_own_changes_nothing():
    class Own(f2sl.CITest):
        kinds = ("discrete",)

        def p_values(self, data, x, y, given):
            return make_test(data, 0.05).ask(x, y, given).p_value

    for score in ("auto", "bdeu"):
        model = f2sl.F2SLh(ci_test=Own(), score=score).fit(inherited())
        assert sorted(model.graph_.parents("child")) == ["f", "m", "z"]


@pytest.mark.parametrize("random_state", [0, 1, 2])
def test_no_parent_is_replaced_where_others_only_seem_to_need_fewer_configurations(random_state):
    """v depends on g and a. Of a, b and c, which determine g, there are 12 configurations, of g and a 15."""
    draws = np.random.default_rng(random_state)
    a, b, c = draws.integers(0, 3, 4000), draws.integers(0, 2, 4000), draws.integers(0, 2, 4000)
    either = b | c
    g = np.where(a == 2, 4, 2 * a + either)
    v = (g + a + (draws.random(4000) < 0.2)) % 3
    data = {"a": a, "b": b, "c": c, "g": g, "v": v}
    known = f2sl.Knowledge(tiers=[["a", "b", "c"], ["g"], ["v"]])
    model = f2sl.F2SLh(knowledge=known).fit(data)
    assert not {"b", "c"} & set(model.graph_.parents("v"))


def pedigree(random_state):
    """Three generations in which g hides the alleles, and an allele of each is one of the last's two."""
    draws = np.random.default_rng(random_state)
    frame, last = {}, None
    for generation in range(3):
        alleles = {}
        for side in "mf":
            name = f"{side}{generation}"
            if last is None or side == "f":
                alleles[name] = draws.random(4000) < 0.4
            else:
                frame[f"z{generation}"] = z = draws.random(4000) < 0.5
                alleles[name] = np.where(z, *last)
        frame |= alleles
        last = list(alleles.values())
        frame[f"g{generation}"] = last[0].astype(int) + last[1]
    return {name: column.astype(int) for name, column in frame.items()}


@pytest.mark.parametrize("random_state", [1, 2, 3])
def test_nothing_that_would_gain_stays_hidden(random_state):
    """Beside a naive search: no parent may be replaced by those that determine it, with a gain."""
    data = pedigree(random_state)
    model = f2sl.F2SLh().fit(data)
    names, frame = sorted(data), data
    number = {name: v for v, name in enumerate(names)}
    parents = {name: set(model.graph_.parents(name)) for name in names}

    def determined(name, given):
        seen = {}
        rows = zip(
            zip(*(frame[p].tolist() for p in sorted(given)), strict=True), frame[name].tolist(), strict=True
        )
        return bool(given) and all(seen.setdefault(case, value) == value for case, value in rows)

    below = {name: {v for v in names if v != name and _leads(parents, name, v)} for name in names}
    with MemoryEngine(open_table(data).in_name_order()) as engine:
        score = make_score(engine, "bds", model.equivalent_sample_size_)

        def value(name, own):
            families = [(number[name], tuple(sorted(number[p] for p in own)))]
            return float(score.score(families)[0]) - model.edge_cost_ * len(own)

        for name in names:
            for g in parents[name]:
                if determined(name, parents[name]) or not determined(g, parents[g]):
                    continue
                base = parents[name] - {g} | parents[g]
                others = set(names) - base - {name} - below[name]
                assert all(value(name, base | {u}) <= value(name, parents[name]) + 1e-6 for u in others)
    assert [sorted(parents[f"m{k}"]) for k in (1, 2)] == [[f"f{k - 1}", f"m{k - 1}", f"z{k}"] for k in (1, 2)]


def _leads(parents, start, end):
    """Return whether a directed path leads from one to the other."""
    return start in parents[end] or any(_leads(parents, start, p) for p in parents[end])


def test_more_effort_never_gives_a_worse_score():
    frame = f2sl.random_network(30, 60, 4, (2, 3), random_state=2).sample(2000, random_state=2)
    fast, normal, thorough = (
        f2sl.F2SLh(effort=effort).fit(frame).score_ for effort in ("fast", "normal", "thorough")
    )
    assert fast <= normal <= thorough and fast < thorough


def test_who_is_below_whom(monkeypatch):
    """3 -> 0 -> 2 -> 4 and 3 -> 1; three at a time, so that 3 and 4 are looked for after 0, 1 and 2."""
    monkeypatch.setattr(on_demand, "BELOW_AT_ONCE", 3)
    parents = np.array([[-1, 3], [-1, 3], [-1, 0], [-1, -1], [-1, 2]])
    pairs = np.array([(v, u) for v in range(5) for u in range(5) if u != v])
    below = on_demand._is_below(pairs, parents, np.array([3, 1, 0, 2, 4]))
    assert pairs[below].tolist() == [[0, 2], [0, 4], [2, 4], [3, 0], [3, 1], [3, 2], [3, 4]]
