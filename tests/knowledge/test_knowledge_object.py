"""Knowledge by name: what it forbids, how it is joined, saved, checked and refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from f2sl import DAG, PDAG, F2SLError, FileError, GraphError, Knowledge, OptionError
from f2sl.knowledge.files import from_tetrad, to_tetrad
from f2sl.network.fitting import dag_of_network

NAMES = ["age", "sex", "lab_1", "lab_2", "out"]


def allowed(known, names=NAMES):
    matrix = known.constraints(names).matrix()
    return {
        (a, b) for a, b in permutations(names, 2) if matrix is None or matrix[names.index(a), names.index(b)]
    }


ALL = set(permutations(NAMES, 2))


class TestMeaning:
    def test_nothing_is_said(self):
        assert not Knowledge() and allowed(Knowledge()) == ALL
        assert repr(Knowledge()) == "Knowledge()" and str(Knowledge()) == "nothing"

    def test_required_and_forbidden_edges(self):
        known = Knowledge(
            required=[("age", "out")], forbidden=[("sex", "out")], forbidden_adjacencies=[("sex", "age")]
        )
        assert ALL - allowed(known) == {("out", "age"), ("sex", "out"), ("sex", "age"), ("age", "sex")}

    def test_tiers(self):
        known = Knowledge(tiers=[["age", "sex"], ["lab_1", "lab_2"]], within_tiers=[False, True])
        back = {(lab, person) for lab in ("lab_1", "lab_2") for person in ("age", "sex")}
        assert ALL - allowed(known) == back | {("age", "sex"), ("sex", "age")}

    def test_roots_and_leaves(self):
        known = Knowledge(roots=["age"], leaves=["out"])
        assert ALL - allowed(known) == {(a, b) for a, b in ALL if b == "age" or a == "out"}

    def test_patterns(self):
        known = Knowledge(forbidden=[("lab_*", "ou?")], tiers=[["age"], ["*"]])
        back = {(other, "age") for other in NAMES[1:]}
        assert ALL - allowed(known) == back | {("lab_1", "out"), ("lab_2", "out")}

    def test_a_name_that_looks_like_a_pattern_is_a_name(self):
        assert ALL - allowed(Knowledge(roots=["a*"]), ["a*", "ab"]) >= set()
        assert allowed(Knowledge(roots=["a*"]), ["a*", "ab"]) == {("a*", "ab")}

    def test_a_pattern_on_both_ends_joins_nothing_to_itself(self):
        assert ALL - allowed(Knowledge(forbidden_adjacencies=[("lab_*", "lab_*")])) == {
            ("lab_1", "lab_2"),
            ("lab_2", "lab_1"),
        }


class TestObject:
    def test_equal_whatever_the_order(self):
        one = Knowledge(
            forbidden=[("a", "b"), ("c", "d")], forbidden_adjacencies=[("x", "y")], tiers=[["p", "q"]]
        )
        other = Knowledge(
            forbidden=[("c", "d"), ("a", "b")], forbidden_adjacencies=[("y", "x")], tiers=[["q", "p"]]
        )
        assert one == other and hash(one) == hash(other)
        assert one != Knowledge(forbidden=[("a", "b")])

    def test_it_does_not_change(self):
        with pytest.raises(AttributeError):
            Knowledge().roots = ("a",)

    def test_copies(self):
        known = Knowledge(required=[("a", "b")], tiers=[["a"], ["b"]])
        assert copy.deepcopy(known) == known == pickle.loads(pickle.dumps(known))
        assert eval(repr(known)) == known

    def test_join(self):
        one, other = (
            Knowledge(roots=["a"], tiers=[["a"], ["b"]]),
            Knowledge(roots=["c"], required=[("a", "b")]),
        )
        assert one | other == Knowledge(required=[("a", "b")], roots=["a", "c"], tiers=[["a"], ["b"]])
        assert one | one == one
        with pytest.raises(OptionError, match="both have tiers"):
            one | Knowledge(tiers=[["b"], ["a"]])
        with pytest.raises(OptionError, match="'b' -> 'a' is both required and forbidden"):
            one | Knowledge(required=[("b", "a")])

    def test_an_option_like_any_other(self):
        from sklearn.base import clone

        known = Knowledge(roots=["a"])
        learner = f2sl.F2SLc(knowledge=known)
        assert clone(learner).get_params()["knowledge"] == known
        assert repr(learner) == "F2SLc(knowledge=Knowledge(roots=['a']))"


class TestCheck:
    def test_all_violations(self):
        known = Knowledge(
            required=[("age", "out"), ("sex", "out")],
            forbidden_adjacencies=[("age", "sex")],
            tiers=[["age", "sex"], ["lab_*"]],
            leaves=["out"],
        )
        graph = PDAG(NAMES, [("lab_1", "age"), ("out", "lab_1")], [("age", "sex"), ("sex", "out")])
        assert known.check(graph) == [
            "'age' -> 'out' is missing, but required",
            "'lab_1' -> 'age' is present, but 'lab_1' is in a later tier",
            "'out' -> 'lab_1' is present, but 'out' is a leaf",
            "'age' - 'sex' is undirected, and a forbidden adjacency",
            "'sex' - 'out' is undirected, and 'out' is a leaf",
        ]

    def test_none(self):
        assert Knowledge(tiers=[["age"], ["out"]]).check(DAG(NAMES, [("age", "out")])) == []


def refused(**said):
    with pytest.raises(OptionError) as error:
        Knowledge(**said).constraints(NAMES)
    return str(error.value)


class TestRefused:
    def test_a_cycle_of_required_edges(self):
        said = refused(required=[("age", "sex"), ("sex", "out"), ("out", "age")])
        assert said == "knowledge: the required edges have a cycle: 'age' -> 'sex' -> 'out' -> 'age'"

    @pytest.mark.parametrize(
        ("rule", "why"),
        [
            ({"forbidden": [("age", "out")]}, "forbidden"),
            ({"forbidden_adjacencies": [("out", "age")]}, "a forbidden adjacency"),
            ({"tiers": [["out"], ["age"]]}, "'age' is in a later tier"),
            ({"tiers": [["out", "age"]], "within_tiers": False}, "within a tier without edges"),
            ({"roots": ["out"]}, "'out' is a root"),
            ({"leaves": ["a*"]}, "'age' is a leaf"),
        ],
    )
    def test_required_and_forbidden(self, rule, why):
        said = refused(required=[("age", "out")], **rule)
        assert said == f"knowledge: 'age' -> 'out' is both required and forbidden ({why})"

    def test_unknown_names_all_at_once(self):
        said = refused(required=[("agee", "out")], roots=["xyz"], leaves=["w*"])
        assert "'agee' (did you mean 'age'?)" in said and "'xyz'" in said and "'w*' matches nothing" in said
        assert said.endswith("Known: age, sex, lab_1, lab_2, out")

    def test_a_variable_twice_in_the_tiers(self):
        assert refused(tiers=[["age", "age"]]) == "knowledge: the tiers hold 'age' twice (tiers 1 and 1)"
        assert "'lab_1' twice (tiers 1 and 2)" in refused(tiers=[["lab_*"], ["*_1"]])

    def test_several_faults_in_one_error(self):
        said = refused(required=[("age", "sex"), ("sex", "age"), ("age", "out")], roots=["out"])
        assert "cycle" in said and "'out' is a root" in said
        # What patterns stand for is known with the table; then all is told at once, too.
        said = refused(
            required=[
                ("age", "s*"),
                ("s*", "age"),
                ("*_1", "*_2"),
                ("*_2", "*_1"),
                ("agee", "age"),
                ("s?x", "o*"),
            ],
            tiers=[["lab_*"], ["*_1"]],
            roots=["ou?"],
            leaves=["xyz"],
        )
        for part in (
            "unknown names 'agee' (did you mean 'age'?), 'xyz'. Known: ",
            "a cycle: 'age' -> 'sex' -> 'age'",
            "a cycle: 'lab_1' -> 'lab_2' -> 'lab_1'",
            "the tiers hold 'lab_1' twice (tiers 1 and 2)",
            "'sex' -> 'out' is both required and forbidden ('out' is a root)",
        ):
            assert said.count(part) == 1, said

    @pytest.mark.parametrize(
        "said",
        [
            {"required": "ab"},
            {"required": [("a",)]},
            {"forbidden": [("a", 1)]},
            {"forbidden": [("a", "a")]},
            {"forbidden_adjacencies": 3},
            {"tiers": "ab"},
            {"tiers": ["ab"]},
            {"tiers": 3},
            {"roots": "a"},
            {"leaves": [None]},
            {"roots": [""]},
            {"tiers": [["a"]], "within_tiers": [True, False]},
            {"tiers": [["a"]], "within_tiers": 1},
        ],
    )
    def test_what_is_no_knowledge(self, said):
        with pytest.raises(OptionError, match=r"^knowledge: "):
            Knowledge(**said)

    def test_learners_take_nothing_else(self):
        with pytest.raises(OptionError, match=r"knowledge must be an f2sl.Knowledge .*, not 'k.toml'"):
            f2sl.F2SLc(knowledge="k.toml").fit({"a": [0, 1], "b": [0, 1]})

    def test_more_required_parents_than_allowed(self):
        known = Knowledge(required=[("a", "c"), ("b", "c")])
        table = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]}
        for learner in (f2sl.ExactSearch(max_parents=1), f2sl.F2SLh(max_parents=1), f2sl.SLLg(max_parents=1)):
            with pytest.raises(OptionError, match=r"max_parents is 1, .* more parents of 'c' \(2\)"):
                learner.set_params(knowledge=known).fit(table)
        with pytest.raises(OptionError, match="max_parents is 1"):
            f2sl.learn_pc(table, algorithm="sll-pc", max_parents=1, knowledge=known)


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


class TestFiles:
    KNOWN = Knowledge(
        required=[("age", "out")],
        forbidden=[("sex", "out")],
        forbidden_adjacencies=[("age", "sex")],
        tiers=[["age", "sex"], ["lab_*"]],
        within_tiers=[False, True],
        roots=["age"],
        leaves=["out"],
    )

    @pytest.mark.parametrize("name", ["k.toml", "k.txt", "k.knowledge"])
    def test_both_formats(self, tmp_path, name):
        self.KNOWN.save(tmp_path / name)
        again = Knowledge.load(tmp_path / name)
        assert allowed(again) == allowed(self.KNOWN) and again.required == self.KNOWN.required
        assert name != "k.toml" or again == self.KNOWN

    @given(st.lists(words, min_size=2, max_size=4, unique=True))
    def test_toml_holds_any_names(self, tmp_path_factory, names):
        path = tmp_path_factory.mktemp("knowledge") / "k.toml"
        known = Knowledge(tiers=[names[:1], names[1:]], within_tiers=False)
        known.save(path)
        assert Knowledge.load(path) == known

    def test_tetrad_as_tetrad_writes_it(self):
        text = """/knowledge

addtemporal
0 sex age
1* lab_1  lab_2
2- out

forbiddirect
sex lab_1 // as far as we know

requiredirect
age lab_2
"""
        known = Knowledge(**from_tetrad(text))
        assert known == Knowledge(
            required=[("age", "lab_2")],
            forbidden=[("sex", "lab_1")],
            tiers=[["sex", "age"], ["lab_1", "lab_2"], ["out"]],
            within_tiers=[True, False, True],
        )
        assert Knowledge(**from_tetrad(to_tetrad(known))) == known

    def test_tetrad_with_quotes_and_patterns(self):
        text = '/knowledge\naddtemporal\n1 "age in years" sex // known\n2 lab_*\nforbiddirect\nsex "a // b"\n'
        known = Knowledge(**from_tetrad(text))
        assert known == Knowledge(
            forbidden=[("sex", "a // b")], tiers=[["age in years", "sex"], ["lab_*"]], within_tiers=True
        )

    def test_a_tier_that_leads_to_the_next_alone(self):
        known = Knowledge(**from_tetrad("/knowledge\naddtemporal\n1- age\n2 sex\n3 out\n"))
        assert known.forbidden == (("age", "out"),)

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("/knowledge\nage sex\n", "line 2: unknown section 'age'"),
            ("/knowledge\nforbiddirect\nage\nforbiddengroup\n", "line 3: unknown section"),
            ("/knowledge\nforbiddirect\na b c\n", "line 3: an edge is two names"),
            ("/knowledge\naddtemporal\nage sex\n", "line 3: a tier begins with its number"),
            ("/knowledge\nforbiddirect\nlab_? age\n", r"line 3: Tetrad's format has no pattern \?"),
            ('/knowledge\nforbiddirect\nage "blood pressure\n', "line 3: quotes go around a whole name"),
            ('/knowledge\nforbiddirect\n"a"b c\n', "line 3: quotes go around a whole name"),
            ("requird = []\n", "did you mean 'required'"),
            ("required = [\n", "not a file of knowledge"),
            (f"tiers = {'9' * 5000}", "not a file of knowledge: a number has too many digits"),
            (f"tiers = {'[' * 100_000}", "not a file of knowledge: lists are nested too deeply"),
            ("required = 3\n", "required must be a list of pairs"),
            ("\xff\xfe", "not a file of knowledge"),
        ],
    )
    def test_bad_files(self, tmp_path, text, why):
        path = tmp_path / "bad.toml"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(F2SLError, match=why) as error:
            Knowledge.load(path)
        assert "bad.toml" in str(error.value)

    def test_where_nothing_can_be_read_or_written(self, tmp_path):
        for path in (tmp_path / "none.toml", tmp_path):
            with pytest.raises(FileError, match=str(path)):
                Knowledge.load(path)
        with pytest.raises(FileError, match=r"saved as \.toml"):
            Knowledge().save(tmp_path / "k.json")
        with pytest.raises(FileError, match="no spaces"):
            Knowledge(roots=["two words"]).save(tmp_path / "k.txt")
        with pytest.raises(FileError, match=r"no \? and no // in names, such as 'lab_\?'"):
            Knowledge(roots=["lab_?"]).save(tmp_path / "k.txt")
        assert not (tmp_path / "k.txt").exists()


class TestGraphs:
    def test_json_keeps_it(self, tmp_path):
        graph = DAG(["a", "b"], [("a", "b")])
        graph.knowledge = Knowledge(required=[("a", "b")], tiers=[["a"], ["b"]])
        graph.save(tmp_path / "g.json")
        assert f2sl.load_graph(tmp_path / "g.json").knowledge == graph.knowledge
        assert graph.reorder(["b", "a"]).knowledge == graph.knowledge
        DAG(["a", "b"], [("a", "b")]).save(tmp_path / "plain.json")
        assert "knowledge" not in (tmp_path / "plain.json").read_text()
        assert f2sl.load_graph(tmp_path / "plain.json").knowledge is None

    @pytest.mark.parametrize("wrong", [3, {"required": [["a", "b"], ["b", "a"]]}, {"other": []}])
    def test_bad_knowledge_in_json(self, tmp_path, wrong):
        path = tmp_path / "g.json"
        path.write_text(
            json.dumps({"format": "f2sl-graph", "version": 1, "nodes": ["a", "b"], "knowledge": wrong})
        )
        with pytest.raises(F2SLError, match=r"g\.json.*knowledge"):
            f2sl.load_graph(path)

    def test_dags_and_classes_of_a_graph_keep_to_what_it_was_learned_with(self, tmp_path):
        graph = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
        graph.knowledge = Knowledge(forbidden=[("b", "c")], tiers=[["b"], ["a"]])
        graph.save(tmp_path / "g.json")
        for one in (graph, f2sl.load_graph(tmp_path / "g.json")):
            assert one.to_dag() == DAG(["a", "b", "c"], [("b", "a"), ("c", "b")])
            assert one.to_cpdag() == one.to_dag() and one.to_cpdag().knowledge == graph.knowledge
            assert one.to_cpdag(Knowledge()) == one.skeleton() == one.to_dag().to_cpdag(Knowledge())
            # Comparisons are between whole classes, whatever was known.
            assert f2sl.compare(DAG(["a", "b", "c"], [("a", "b"), ("b", "c")]), one).shd == 0

    def test_a_graph_that_contradicts_its_knowledge(self):
        graph = PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])
        graph.knowledge = Knowledge(roots=["b"])
        with pytest.raises(
            GraphError, match=r"no DAG with these edges obeys the graph's knowledge: .*'b' is a"
        ):
            graph.to_dag()
        circle = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c"), ("a", "c")])
        circle.knowledge = Knowledge(forbidden=[("b", "a"), ("c", "b"), ("a", "c")])
        with pytest.raises(GraphError, match="'a' -> 'c' is present, but forbidden"):
            circle.to_dag()

    def test_networks_keep_to_it(self):
        table = f2sl.open_table({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1]})
        graph = PDAG(["a", "b"], undirected=[("a", "b")])
        graph.knowledge = Knowledge(roots=["b"])
        assert dag_of_network(graph, table).directed_edges == [("b", "a")]

    def test_a_class_without_a_dag_that_keeps_to_it(self):
        collider = DAG(["a", "b", "c"], [("a", "c"), ("b", "c")])
        with pytest.raises(GraphError, match="'c' is a root"):
            collider.to_cpdag(Knowledge(roots=["c"]))
        with pytest.raises(GraphError, match="'a' -> 'b' is missing"):
            collider.to_cpdag(Knowledge(required=[("a", "b")]))


def test_an_unknown_option_is_named_with_the_nearest():
    with pytest.raises(OptionError, match="unknown option 'forbid'; did you mean 'forbidden'"):
        Knowledge(forbid=[("a", "b")])
    known = Knowledge(roots=["a"])
    assert pickle.loads(pickle.dumps(known)) == known == copy.deepcopy(known)


def test_what_is_required_has_no_strength_of_its_own():
    rows = [(a, b, a | b) for a in (0, 1) for b in (0, 1)] * 100
    table = {name: list(column) for name, column in zip("abc", zip(*rows, strict=True), strict=True)}
    known = Knowledge(required=[("a", "b")])
    for learner in (f2sl.F2SLc, f2sl.F2SLh, f2sl.LocalToGlobal):
        weights = {edge[:2]: edge.weight for edge in learner(knowledge=known).fit(table).graph_.edges}
        assert weights.pop(("a", "b")) is None
        assert weights and all(weight > 0 for weight in weights.values())
    found = f2sl.learn_pc(table, "a", knowledge=known)
    assert found["c"] > 0 and math.isnan(found["b"])


def test_what_the_data_speak_against_is_told():
    rows = [(a, b, a | b) for a in (0, 1) for b in (0, 1)] * 100
    table = dict(zip("abc", zip(*rows, strict=True), strict=True))
    table = {name: list(column) for name, column in table.items()}
    model = f2sl.PCStable(knowledge=Knowledge(required=[("a", "b")])).fit(table)
    assert (
        "required edges, although the two are not significantly dependent as a pair: 'a' -> 'b'"
        in model.notes_
    )
    model = f2sl.PCStable(knowledge=Knowledge(leaves=["a"])).fit(table)
    told = "left out because the knowledge contradicts these v-structures: a -> c <- b"
    assert told in model.notes_ and model.v_structures_ == []
    assert model.graph_ == PDAG([*"abc"], [("c", "a")], [("b", "c")])


def test_edges_that_would_close_a_cycle_are_left_out_and_told():
    known = Knowledge(forbidden=[("b", "a"), ("c", "b"), ("a", "c")])
    rows = [(x, (x + y) % 3, y) for x in range(3) for y in range(3)] * 50
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = dict(zip("abc", columns, strict=True))
    table["b"][0] = table["a"][0]
    model = f2sl.LocalToGlobal(pc="mrmr", pc_options={"k": 2}, knowledge=known).fit(table)
    assert known.check(model.graph_) == [] and model.graph_.n_edges == 2
    assert any(note.startswith("left out because the knowledge directs these edges") for note in model.notes_)
    alone = f2sl.LocalToGlobal(pc="mrmr", pc_options={"k": 2}, knowledge=known, skeleton_only=True).fit(table)
    assert alone.graph_ == model.graph_.skeleton() and known.check(alone.graph_.to_dag()) == []
    assert any(note.startswith("left out because the knowledge directs these edges") for note in alone.notes_)


def test_columns_that_were_merged():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    table = {"a": a, "a2": 1 - a, "b": a ^ (rng.random(500) < 0.1), "c": rng.integers(0, 2, 500)}
    for known, arrow in ((Knowledge(leaves=["a"]), ("a2", "a")), (Knowledge(roots=["a"]), ("a", "a2"))):
        for name in ("f2sl-c", "f2sl-h"):
            model = f2sl.learn(table, name, knowledge=known, aliases="merge")
            assert model.graph_.has_directed_edge(*arrow)
            for graph in (model.graph_, model.graph_.to_dag(), model.graph_.to_cpdag()):
                assert known.check(graph) == []
    for learn in (f2sl.learn, f2sl.bootstrap):
        with pytest.raises(OptionError) as error:
            learn(table, "f2sl-c", knowledge=Knowledge(roots=["a2"], leaves=["bb"]), aliases="merge")
        assert "'a2' was merged with 'a'" in str(error.value)
        assert "unknown names 'bb' (did you mean 'b'?)" in str(error.value)
