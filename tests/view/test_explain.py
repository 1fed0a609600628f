"""Why two variables are adjacent or not: each reason where it is forced, its numbers by naive twins."""

import inspect
import json
import math
import re
import shlex
from itertools import combinations, product

import numpy as np
import pytest

import f2sl
import naive
from cli_process import small_table, write_csv
from f2sl import PDAG, DataError, OptionError
from f2sl.cli.app import main
from f2sl.cli.learn import learn, why
from f2sl.errors import NotFittedError
from f2sl.graph import apply_meek_rules
from f2sl.view.explain import explain_all, explained_pairs
from tables import make_table, related_codes

ALL = (f2sl.F2SLc, f2sl.F2SLs, f2sl.F2SLh, f2sl.MMHC, f2sl.MMHCc, f2sl.PCStable, f2sl.GSBN)


def entropy(p):
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def chain():
    """x is a fair coin, y is x but in one of ten, z is y but in one of ten: exact frequencies."""
    rows = [(x, i, j) for x in (0, 1) for i, j in product(range(10), repeat=2)] * 4
    x, y = [r[0] for r in rows], [r[0] ^ (r[1] == 0) for r in rows]
    return {"x": x, "y": y, "z": [value ^ (r[2] == 0) for value, r in zip(y, rows, strict=True)]}


def by_kind(found):
    return {reason.kind: reason.facts for reason in found.reasons}


def pairs_of(model):
    return list(combinations(sorted(model.graph_.nodes), 2))


# -- by hand ---------------------------------------------------------------------------


def test_the_ends_of_a_chain_are_redundant_beside_its_middle():
    data = chain()
    model = f2sl.F2SLc().fit(data)
    found = model.explain("x", "z", data)
    assert found.edge is None
    near, far = 1 - entropy(0.1), 1 - entropy(0.18)
    for reason, (target, other) in zip(found.of_kind("redundancy"), ("xz", "zx"), strict=True):
        assert reason.facts == {
            "target": target,
            "by": "y",
            "by_and_other": pytest.approx(near),
            "other_and_target": pytest.approx(far),
            "by_and_target": pytest.approx(near),
            "dropped": True,
        }
        assert reason.text.startswith(f"{target} dropped {other} as redundant beside y: SU(y, {other}) = ")
    [separated] = found.of_kind("separated")
    assert separated.facts == {
        "given": ["y"],
        "statistic": pytest.approx(0, abs=1e-9),
        "p_value": 1.0,
        "samples": 800,
    }
    # The nearest to replacing x beside y is nobody that is weaker: y has x and z at the same strength.
    [rival] = model.explain("y", "z", data).of_kind("redundancy")
    assert (rival.facts["target"], rival.facts["by"], rival.facts["dropped"]) == ("y", "x", False)
    assert rival.facts["by_and_other"] == pytest.approx(far)
    assert rival.facts["other_and_target"] == pytest.approx(near)


def test_a_chain_and_a_collider_by_tests():
    data = chain()
    found = f2sl.PCStable().fit(data)
    assert by_kind(found.explain("x", "z", data))["separated"]["given"] == ["y"]
    edge = found.explain("x", "y", data)
    assert edge.edge == "x - y"
    # Of x and y given nothing and given z the second is weaker, as z tells of y what x does.
    codes = [np.array(data[name]) for name in "xyz"]
    g2, _, p = naive.independence_test(codes, 0, 1, (2,))
    facts = by_kind(edge)["test"]
    assert facts["statistic"] == pytest.approx(g2)
    assert (facts["given"], facts["samples"], facts["n_tests"]) == (["z"], 800, 2)
    assert facts["p_value"] == pytest.approx(p)
    assert by_kind(edge)["direction"]["by"] == "none"


def test_a_collider_and_what_follows_from_it():
    data = {**small_table(), "g": [c ^ (i % 50 == 0) for i, c in enumerate(small_table()["c"])]}
    model = f2sl.MMHCc().fit(data)
    direction = by_kind(model.explain("c", "a", data))["direction"]
    assert direction == {"by": "v-structure", "others": ["b"]}
    assert "a and b: p = 1 given nothing, p = " in str(model.explain("a", "c", data))
    assert model.explain("g", "c", data).edge == "c -> g"
    assert by_kind(model.explain("g", "c", data))["direction"] == {"by": "meek", "rule": 1}
    assert by_kind(model.explain("e", "f"))["direction"] == {"by": "none"}


def test_below_the_threshold_and_above():
    data = small_table()
    model = f2sl.F2SLc(delta=0.3).fit(data)
    weak = by_kind(model.explain("e", "f", data))["relevance"]
    assert weak == {"value": pytest.approx(1 - entropy(0.2)), "threshold": 0.3, "relevant": False}
    assert "not relevant: SU 0.2781, not above delta 0.3" in str(model.explain("e", "f", data))
    assert by_kind(model.explain("a", "c", data))["relevance"]["relevant"] is True


def test_rules_are_numbered_as_meek_does():
    graphs = {
        1: PDAG([*"pab"], [("p", "a")], [("a", "b")]),
        2: PDAG([*"abc"], [("a", "c"), ("c", "b")], [("a", "b")]),
        3: PDAG([*"abcd"], [("c", "b"), ("d", "b")], [("a", "c"), ("a", "d"), ("a", "b")]),
        4: PDAG([*"abcd"], [("d", "c"), ("c", "b")], [("a", "d"), ("a", "c"), ("a", "b")]),
    }
    for rule, graph in graphs.items():
        applied = {}
        assert ("a", "b") in apply_meek_rules(graph, applied).directed_edges
        assert applied["a", "b"] == rule


def test_knowledge_is_a_reason():
    data = small_table()
    knowledge = f2sl.Knowledge(forbidden_adjacencies=[("a", "c")], tiers=[["f"], ["e"]])
    model = f2sl.F2SLc(knowledge=knowledge).fit(data)
    [reason] = model.explain("c", "a", data).reasons
    assert reason.kind == "knowledge"
    assert "a -> c (a forbidden adjacency)" in reason.text
    edge = model.explain("e", "f", data)
    assert edge.edge == "f -> e"
    assert by_kind(edge)["direction"] == {"by": "knowledge"}
    assert "e -> f is not allowed ('e' is in a later tier)" in str(edge)
    required = f2sl.F2SLs(knowledge=f2sl.Knowledge(required=[("d", "a")])).fit(data)
    assert "the knowledge requires it" in str(required.explain("a", "d", data))


def test_only_the_names_direct_what_the_score_cannot_tell():
    data = chain()
    model = f2sl.F2SLs().fit(data)
    for a, b in ("xy", "yz"):
        assert by_kind(model.explain(a, b, data))["direction"]["by"] == "names"
    collider = f2sl.F2SLs().fit(small_table())
    assert by_kind(collider.explain("a", "c"))["direction"]["by"] == "score"
    assert by_kind(f2sl.F2SLs(score="k2").fit(data).explain("x", "y", data))["direction"]["by"] == "search"


def test_samples_are_the_rows_that_have_all_variables():
    data = {name: [*map(float, column)] for name, column in chain().items()}
    data["x"][:30] = [math.nan] * 30
    data["y"][20:50] = [math.nan] * 30
    model = f2sl.PCStable().fit(data)
    assert by_kind(model.explain("x", "y", data))["test"]["given"] == ["z"]
    assert by_kind(model.explain("x", "y", data))["test"]["samples"] == 800 - 50
    assert by_kind(model.explain("y", "z", data))["test"]["samples"] == 800 - 50
    assert by_kind(model.explain("x", "z", data))["separated"]["samples"] == 800 - 50


def test_weights_and_aliases():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 300))
    model = f2sl.NOTEARS().fit({"x": x, "y": 2 * x + rng.normal(size=300), "z": z})
    assert by_kind(model.explain("x", "y"))["direction"]["by"] == "weight"
    there, back = model.weights_[0, 2], model.weights_[2, 0]
    assert by_kind(model.explain("x", "z"))["weight"] == {
        "weights": [there, back],
        "threshold": model.threshold_,
    }
    data = {**chain(), "copy": ["ab"[value] for value in chain()["x"]]}
    merged = f2sl.learn(data, aliases="merge")
    [owner, alias] = sorted(["x", "copy"], key=lambda name: name not in merged.feature_names_in_)
    assert by_kind(merged.explain(alias, owner, data, aliases="merge")) == {"alias": {"owner": owner}}
    assert by_kind(merged.explain("z", alias, data, aliases="merge")) == {"alias": {"owner": owner}}


# -- against naive twins ---------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    """Random tables with copies, functions and noise."""
    return [related_codes(random_state, 300, 7, most_states=3) for random_state in range(8)]


def test_every_reason_of_feature_selection_holds(drawn):
    kinds = set()
    for codes in drawn:
        table = make_table(codes)
        model = f2sl.F2SLc().fit(table)
        number = {name: v for v, name in enumerate(table.names)}

        def su(a, b, codes=codes, number=number):
            return naive.symmetrical_uncertainty(codes, number[a], number[b])

        for (a, b), found in explain_all(model, pairs_of(model), table).items():
            named = [x for x, y in ((a, b), (b, a)) if y in model.pc_[x]]
            assert (len(named) == 1) == bool(found.of_kind("symmetry"))
            if found.edge is None:
                kinds |= {reason.kind for reason in found.reasons}
                dropped = {
                    reason.facts["target"]
                    for reason in found.of_kind("redundancy")
                    if reason.facts["dropped"]
                }
                assert dropped == ({a, b} - set(named) if su(a, b) > 0.05 else set())
                assert bool(found.of_kind("relevance")) == (su(a, b) <= 0.05)
            for facts in (reason.facts for reason in found.of_kind("redundancy")):
                c, x = facts["target"], facts["by"]
                y = b if c == a else a
                values = [facts[key] for key in ("by_and_other", "other_and_target", "by_and_target")]
                assert values == pytest.approx([su(x, y), su(y, c), su(x, c)])
                assert values[2] >= values[1] - 1e-9
                assert (values[0] >= values[1] - 1e-9) == facts["dropped"]
                assert x in model.pc_[c]
    assert kinds == {"relevance", "redundancy", "separated", "symmetry"}


@pytest.mark.parametrize("learner", [f2sl.MMHCc, f2sl.PCStable, f2sl.GSBN])
def test_tests_are_those_of_the_data(drawn, learner):
    seen = 0
    for codes in drawn[:6]:
        table = make_table(codes)
        model = learner().fit(table)
        number = {name: v for v, name in enumerate(table.names)}
        for (a, b), found in explain_all(model, pairs_of(model), table).items():
            for reason in (*found.of_kind("test"), *found.of_kind("separated")):
                if "given" not in reason.facts:
                    continue
                given = tuple(number[name] for name in reason.facts["given"])
                g2, _, p = naive.independence_test(codes, number[a], number[b], given)
                assert reason.facts["statistic"] == pytest.approx(g2, abs=1e-6)
                assert reason.facts["p_value"] == pytest.approx(p, rel=1e-6, abs=1e-12)
                assert (p <= 0.01) == (reason.kind == "test")
                seen += 1
    assert seen > 50


def test_the_weakest_test_is_the_strength_that_mmpc_found():
    # Nothing is dropped again here: so the weakest of all tests is among those of the final neighbors.
    asia = f2sl.load_example("asia")
    model = f2sl.MMHCc().fit(asia)
    facts = by_kind(model.explain("bronc", "smoke", asia))
    assert -math.log10(facts["test"]["p_value"]) == pytest.approx(facts["strength"]["strength"], abs=1e-6)


def test_the_score_loses_what_a_naive_score_says(drawn):
    left_out = separated = 0
    for learner, codes in product((f2sl.F2SLs(delta=0.0), f2sl.MMHC(), f2sl.F2SLh()), drawn[:4]):
        table = make_table(codes)
        model = learner.fit(table)
        cards, number = codes.max(axis=1) + 1, {name: v for v, name in enumerate(table.names)}
        weight = getattr(model, "equivalent_sample_size_", 10.0)
        per_edge = -getattr(model, "edge_cost_", math.log(weight + 1))
        arrows = {(number[a], number[b]) for a, b in model.dag_.directed_edges}

        of_family = naive.SCORES[model.options_in_use_["score"]]

        def score(arrows, codes=codes, cards=cards, weight=weight, per_edge=per_edge, of_family=of_family):
            families = [(v, tuple(sorted(a for a, b in arrows if b == v))) for v in range(len(codes))]
            return sum(of_family(codes, cards, *family, weight) for family in families) + per_edge * len(
                arrows
            )

        now = score(arrows)
        assert now == pytest.approx(model.score_)
        for (a, b), found in explain_all(model, pairs_of(model), table).items():
            for facts in (reason.facts for reason in found.of_kind("separated") if found.of_kind("score")):
                parents = [{a for a, b in arrows if b == number[end]} for end in (a, b)]
                given = tuple(number[name] for name in facts["given"])
                assert set(given) in parents
                p = naive.independence_test(codes, number[a], number[b], given)[2]
                assert facts["p_value"] == pytest.approx(p, rel=1e-6, abs=1e-12)
                assert p > 0.01
                separated += 1
            for reason in found.of_kind("score"):
                if found.edge is None:
                    left_out += 1
                    for arrow, change in reason.facts["changes"].items():
                        u, v = (number[name] for name in arrow.split(" -> "))
                        assert change == pytest.approx(score(arrows | {(u, v)}) - now, abs=1e-6)
                    continue
                arrow = next(arrow for arrow in arrows if set(arrow) == {number[a], number[b]})
                without, turned = arrows - {arrow}, (arrows - {arrow}) | {arrow[::-1]}
                assert reason.facts["loss_without"] == pytest.approx(now - score(without), abs=1e-6)
                assert reason.facts["change_reversed"] == pytest.approx(score(turned) - now, abs=1e-6)
                assert reason.facts["cycle_reversed"] == (not naive.is_acyclic(len(codes), turned))
    assert left_out > separated > 0


@pytest.mark.parametrize("learner", [f2sl.GGSL, f2sl.SLLc, f2sl.SLLg])
def test_learners_by_best_networks_tell_what_the_score_loses(drawn, learner):
    kinds = set()
    for codes in drawn[:3]:
        table = make_table(codes)
        model, cards = learner().fit(table), codes.max(axis=1) + 1
        number = {name: v for v, name in enumerate(table.names)}
        arrows = {(number[a], number[b]) for a, b in model.graph_.to_dag().directed_edges}

        def score(arrows, codes=codes, cards=cards):
            families = [(v, tuple(sorted(a for a, b in arrows if b == v))) for v in range(len(codes))]
            return sum(naive.bdeu(codes, cards, *family, 1.0) for family in families)

        now = score(arrows)
        for (a, b), found in explain_all(model, pairs_of(model), table).items():
            [facts] = [reason.facts for reason in found.of_kind("score")]
            kinds.add(found.edge is None)
            if found.edge is None:
                for arrow, change in facts["changes"].items():
                    u, v = (number[name] for name in arrow.split(" -> "))
                    assert change == pytest.approx(score(arrows | {(u, v)}) - now, abs=1e-6)
                continue
            arrow = next(arrow for arrow in arrows if set(arrow) == {number[a], number[b]})
            turned = (arrows - {arrow}) | {arrow[::-1]}
            assert facts["loss_without"] == pytest.approx(now - score(arrows - {arrow}), abs=1e-6)
            assert facts["change_reversed"] == pytest.approx(score(turned) - now, abs=1e-6)
            assert facts["cycle_reversed"] == (not naive.is_acyclic(len(codes), turned))
    assert kinds == {True, False}


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_total_conditioning_tells_its_tests(engine, tmp_path):
    sampled = f2sl.random_network(8, 12, kind="continuous", random_state=3).sample(500, random_state=1)
    data = {name: np.asarray(sampled[name]) for name in sampled}
    path = write_csv(tmp_path / "numbers.csv", data)
    model, names = f2sl.TC().fit(data), sorted(data)

    def z(a, b, given):
        """Fisher's z of what regressions on the others leave of two variables."""
        design = np.column_stack([np.ones(500), *(data[name] for name in given)])
        one, two = (data[x] - design @ np.linalg.lstsq(design, data[x], rcond=None)[0] for x in (a, b))
        return math.atanh(np.corrcoef(one, two)[0, 1]) * math.sqrt(500 - len(given) - 3)

    seen = set()
    with f2sl.open_table(path, engine=engine) as table:
        explained = explain_all(model, pairs_of(model), table)
    for (a, b), found in explained.items():
        told = [*found.of_kind("test"), *found.of_kind("separated")]
        for facts in (reason.facts for reason in told):
            statistic = z(a, b, facts["given"])
            assert abs(facts["statistic"]) == pytest.approx(abs(statistic), abs=1e-4)
            assert facts["p_value"] == pytest.approx(math.erfc(abs(statistic) / 2**0.5), rel=1e-3)
            assert facts["samples"] == 500
            assert (facts["p_value"] <= 0.01) == (found.edge is not None)
        all_others = set(names) - {a, b}
        if found.edge:
            assert set(told[0].facts["given"]) == all_others
            strength = by_kind(found)["strength"]["strength"]
            assert -math.log10(told[0].facts["p_value"]) == pytest.approx(strength, abs=1e-6)
            # Neighbors in common: tests for spouses are told, too.
            assert (len(told) == 2) == bool(set(model.blankets_[a]) & set(model.blankets_[b]))
        elif b not in model.blankets_[a]:
            assert set(told[0].facts["given"]) == all_others
        seen.add((found.edge is None, len(told), len(told[0].facts["given"]) == 6))
    assert len(seen) >= 4  # with tests for spouses or without, apart given all or some


def test_the_weakest_test_for_spouses_is_told():
    """The ends of a -> b have the child c in common, so that they might be its parents alone."""
    rng = np.random.default_rng(2)
    a = rng.normal(size=2000)
    b = a + rng.normal(size=2000)
    data = {"a": a, "b": b, "c": a + 2 * b + rng.normal(size=2000)}
    model = f2sl.TC().fit(data)
    [_, spouses] = model.explain("a", "b", data).of_kind("test")
    assert (spouses.facts["given"], spouses.facts["n_tests"]) == ([], 1)  # leaving out c leaves nothing
    expected = math.atanh(np.corrcoef(a, b)[0, 1]) * math.sqrt(1997)
    assert spouses.facts["statistic"] == pytest.approx(expected, abs=1e-4)


def test_confirmed_redundancy_has_the_numbers_of_its_test(drawn):
    seen = set()
    asia = f2sl.open_table(f2sl.load_example("asia")).in_name_order()
    smoky = make_table(np.stack([asia.column(v) for v in range(asia.n_variables)]))
    for table in (*map(make_table, drawn), smoky):
        codes = [table.column(v) for v in range(table.n_variables)]
        model = f2sl.F2SLh(clean_up=0).fit(table)
        number = {name: v for v, name in enumerate(table.names)}
        for (a, b), found in explain_all(model, pairs_of(model), table).items():
            for facts in (reason.facts for reason in found.of_kind("redundancy")):
                g2, _, p = naive.independence_test(codes, number[a], number[b], (number[facts["by"]],))
                assert facts["statistic"] == pytest.approx(g2, abs=1e-6)
                assert (facts["given"], facts["samples"]) == ([facts["by"]], table.n_rows)
                assert facts["p_value"] == pytest.approx(p, rel=1e-6, abs=1e-12)
                assert (p > 0.01) == facts["dropped"]
                seen.add(facts["dropped"])
    assert seen == {True, False}


@pytest.mark.parametrize("learner", ALL)
def test_all_pairs_have_reasons_with_data_and_without(learner, drawn):
    for codes in drawn[:5]:
        table = make_table(codes)
        model = learner().fit(table)
        with_data = explain_all(model, pairs_of(model), table)
        for pair, found in with_data.items():
            assert found.reasons
            assert {reason.kind for reason in found.reasons} != {"unknown"}
            kept = model.explain(*pair)
            assert kept.edge == found.edge
            assert kept.reasons
            json.dumps(found.as_dict(), allow_nan=False)
        arrows = [found for found in with_data.values() if found.edge and "->" in found.edge]
        assert all(by_kind(found)["direction"]["by"] not in ("none", "rules") for found in arrows)


def test_the_clean_up_is_told(drawn):
    seen = set()
    for codes in drawn:
        table = make_table(codes)
        model = f2sl.F2SLh(clean_up=2).fit(table)
        number = {name: v for v, name in enumerate(table.names)}
        for (a, b), found in explain_all(model, pairs_of(model), table).items():
            assert found.edge or {reason.kind for reason in found.reasons} <= {
                "relevance",
                "redundancy",
                "separated",
                "score",
            }
            for facts in (r.facts for r in found.of_kind("redundancy") if "by" not in r.facts):
                given = tuple(number[name] for name in facts["given"])
                assert 1 <= len(given) <= 2
                p = naive.independence_test(codes, number[a], number[b], given)[2]
                assert facts["p_value"] == pytest.approx(p, rel=1e-6, abs=1e-12)
                assert (p > 0.5) == facts["dropped"]
                assert ({a, b} - {facts["target"]}).isdisjoint(model.pc_[facts["target"]]) == facts["dropped"]
                seen.add(facts["dropped"])
    assert seen == {True, False}


@pytest.mark.parametrize("pc", ["fcbf", "fcbf-confirmed", "mrmr", "mmpc", "hiton-pc", "pc-simple", "sll-pc"])
@pytest.mark.parametrize("orient", ["ci", "score"])
def test_any_learner_of_neighbors(pc, orient, drawn):
    table = make_table(drawn[0])
    model = f2sl.LocalToGlobal(pc=pc, orient=orient).fit(table)
    for found in explain_all(model, pairs_of(model), table).values():
        assert found.reasons


@pytest.mark.parametrize("learner", [f2sl.ExactSearch, f2sl.SLLc, f2sl.SLLg, f2sl.GGSL])
def test_the_other_learners_of_states(learner, drawn):
    table = make_table(drawn[0])
    model = learner().fit(table)
    found = explain_all(model, pairs_of(model), table)
    assert all(one.reasons for one in found.values())
    if learner is f2sl.ExactSearch:  # its strengths are what the score loses, computed in another way
        edges = [by_kind(one) for one in found.values() if one.edge]
        assert [one["score"]["loss_without"] for one in edges] == pytest.approx(
            [one["strength"]["strength"] for one in edges], abs=1e-6
        )


@pytest.mark.parametrize("kind", ["continuous", "mixed"])
def test_continuous_and_mixed(kind):
    rng = np.random.default_rng(1)
    x = rng.normal(size=500)
    data = {"x": x, "y": x + rng.normal(size=500), "z": rng.normal(size=500)}
    if kind == "mixed":
        data["s"] = ["low" if value < 0 else "high" for value in x + rng.normal(size=500)]
    table = f2sl.open_table(data)
    for learner in (*ALL, f2sl.TC) if kind == "continuous" else ALL:
        model = learner().fit(table)
        assert all(found.reasons for found in explain_all(model, pairs_of(model), table).values())
        assert model.explain("x", "y", data).edge


@pytest.mark.parametrize("learner", [f2sl.F2SLh, f2sl.BOSS])
def test_parents_grown_among_all_continuous_variables_are_explained_by_their_score(learner):
    data = f2sl.random_network(8, 12, kind="continuous", random_state=3).sample(500, random_state=1)
    model = learner().fit(data)

    def bic(child, parents):
        """Maximal log-likelihood less half of log n for each coefficient, the intercept and the variance."""
        design = np.column_stack([np.ones(500), *(data[parent] for parent in parents)])
        rest = data[child] - design @ np.linalg.lstsq(design, data[child], rcond=None)[0]
        return -250 * np.log(rest.var()) - np.log(500) / 2 * len(parents)

    for (a, b), found in explain_all(model, pairs_of(model), f2sl.open_table(data)).items():
        kinds = {reason.kind for reason in found.reasons}
        assert kinds <= ({"strength", "score", "direction", "weak"} if found.edge else {"score", "separated"})
        if found.edge:
            u, v = (a, b) if (a, b) in model.graph_.directed_edges else (b, a)
            parents = model.graph_.parents(v)
            gain = bic(v, parents) - bic(v, [parent for parent in parents if parent != u])
            [score] = [reason for reason in found.reasons if reason.kind == "score"]
            assert score.facts["loss_without"] == pytest.approx(gain - model.edge_cost_, abs=1e-6)


# -- what is refused, the command and the page -----------------------------------------


def test_what_cannot_be_explained():
    data = chain()
    with pytest.raises(NotFittedError):
        f2sl.F2SLc().explain("x", "y")
    model = f2sl.F2SLc().fit(data)
    with pytest.raises(DataError, match=r"unknown variable 'xx'; did you mean 'x'.*unknown variable 'q'"):
        model.explain("xx", "q")
    with pytest.raises(DataError, match="both names are 'x'"):
        model.explain("x", "x")
    with pytest.raises(DataError, match="not the data that the graph was learned from"):
        model.explain("x", "y", {name: column[:700] for name, column in data.items()})
    with pytest.raises(DataError, match="not the data that the graph was learned from"):
        model.explain("x", "y", {"x": data["x"], "y": data["y"], "w": data["z"]})
    with pytest.raises(OptionError, match="colour"):
        model.explain("x", "y", data, colour="red")


def test_the_command(tmp_path, capsys):
    path = str(write_csv(tmp_path / "chain.csv", chain()))
    assert main(["why", path, "x", "z", "--algorithm", "f2sl-c"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "no edge between x and z"
    assert printed[1].startswith("  x dropped z as redundant beside y: SU(y, z) = 0.531, SU(z, x) = 0.3199")
    assert main(["why", path, "z", "y", "--algorithm", "pc-stable", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["a"], told["b"], told["edge"]) == ("z", "y", "z - y")
    assert [reason["kind"] for reason in told["reasons"]] == ["strength", "test", "direction"]
    assert main(["why", path, "zz", "y"]) == 2
    assert "unknown variable 'zz'; did you mean 'z'?" in capsys.readouterr().err
    assert main(["why", path, "x", "y", "--algorithm", "f2sl-c", "--engine", "stream"]) == 0
    assert "relevant: SU 0.531, above delta 0.05" in capsys.readouterr().out


def content_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text())[1])


def test_the_page_explains_all_pairs_of_small_graphs(tmp_path):
    path, page = str(write_csv(tmp_path / "data.csv", small_table())), tmp_path / "page.html"
    assert main(["learn", path, "--algorithm", "f2sl-c", "--page", str(page), "--quiet"]) == 0
    data = content_of(page)
    assert len(data["explanations"]) == 6 * 5 // 2
    assert "directed by v-structure: a -> c <- b" in data["explanations"]["0,2"]
    assert data["whole"]
    model = f2sl.F2SLc().fit(path)
    for i, j in combinations(range(6), 2):
        expected = model.explain(data["nodes"][i]["n"], data["nodes"][j]["n"], path)
        assert data["explanations"][f"{i},{j}"].split("\n") == [reason.text for reason in expected.reasons]
    assert content_of(model.show(page, data=path))["explanations"] == data["explanations"]


@pytest.mark.parametrize("learner", [f2sl.F2SLc, f2sl.F2SLh])
def test_many_pairs_are_explained_like_one(learner, monkeypatch):
    table = f2sl.open_table(f2sl.load_example("asia"))
    model = learner().fit(table)
    one_by_one = {pair: model.explain(*pair, table) for pair in pairs_of(model)}
    monkeypatch.setattr("f2sl.view.explain.MANY", 0)
    assert explain_all(model, pairs_of(model), table) == one_by_one


def test_the_page_says_how_to_ask_for_more(tmp_path, capsys):
    path, page = str(write_csv(tmp_path / "my data.csv", small_table())), tmp_path / "page.html"
    asked = ["--algorithm", "f2sl-s", "--merge-aliases", "--drop", "a", "--drop", "b", "--score", "bic"]
    assert main(["learn", path, *asked, "--engine", "stream", "--page", str(page), "--quiet"]) == 0
    data = content_of(page)
    assert not data["whole"]
    words = shlex.split(data["ask"])
    assert sorted(words) == sorted(["f2sl", "why", path, *asked, "--engine", "stream"])
    assert main([*words[1:], "d", "e"]) == 0
    expected = f2sl.learn(path, "f2sl-s", score="bic", drop=["a", "b"]).explain(
        "d", "e", path, drop=["a", "b"]
    )
    assert capsys.readouterr().out == f"{expected}\n"
    kept = f2sl.F2SLc().fit(path)
    told = content_of(kept.show(page))
    assert (told["ask"], told["whole"]) == ("model.explain", False)
    a, b = (told["nodes"][i]["n"] for i in (0, 1))
    assert told["explanations"]["0,1"].split("\n") == [reason.text for reason in kept.explain(a, b).reasons]
    shorter = {name: column[:100] for name, column in small_table().items()}
    assert content_of(kept.show(page, data=shorter))["explanations"] == told["explanations"]


def test_of_many_pairs_the_page_explains_those_nearby(monkeypatch):
    model = f2sl.F2SLc().fit(f2sl.open_table(table := small_table()))
    monkeypatch.setattr("f2sl.view.explain.MOST_EXPLAINED", 6)
    edges = {frozenset(edge) for edge in model.skeleton_.undirected_edges}
    truth = f2sl.DAG(list(table), [("a", "f")])
    found = [frozenset(pair) for pair in explained_pairs(model, None, truth)]
    assert set(found[: len(edges)]) == edges
    assert found[len(edges) :] == [frozenset("af"), frozenset("ab")]  # c is next to a and b


def test_why_has_the_options_of_learning():
    learning, explaining = (set(inspect.signature(command).parameters) for command in (learn, why))
    own = {"out", "picture", "page", "dag", "truth", "context"}
    assert learning - own == explaining - {"a", "b"}
