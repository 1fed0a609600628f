"""The page as a file: what it holds, that it is the same every time, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex

import numpy as np
import pytest

import f2sl
from f2sl import FileError, GraphError, OptionError
from f2sl.cli.app import main
from f2sl.errors import NotFittedError
from f2sl.view.page import page, page_data

ASIA = f2sl.load_network("asia")
GRAPH = f2sl.PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")], weights={("a", "b"): 0.5})


@pytest.fixture(scope="module")
def table():
    return f2sl.load_example("asia")


@pytest.fixture(scope="module")
def model(table):
    return f2sl.F2SLc().fit(table)


def content_of(path):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text())[1]
    )


def rows_of(text):
    """Names and values of the last table of a text, that of a comparison."""
    rows = text.split("\nmetric ")[1].splitlines()[1:]
    return [tuple(re.split(" {2,}", row)[:2]) for row in rows]


def test_the_same_every_time(tmp_path, model, table):
    one = model.show(tmp_path / "one.html", data=table, truth=ASIA)
    two = model.show(tmp_path / "two.html", data=table, truth=ASIA)
    assert one.read_bytes() == two.read_bytes()


def test_the_policy_allows_the_scripts_in_the_file_and_nothing_else():
    text = page(GRAPH)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}';")
    assert not re.search(r'(?:src|href)="(?!data:,")', text)
    assert not re.search(r"@@\w+@@", text)


def test_names_cannot_end_the_script_that_holds_them():
    names = ["</script>", "<!--<script>", "\u2028", "\ud800", "@@script@@"]
    text = page(f2sl.PDAG(names), title="</title><script>")
    held = re.search(r'id="data">(.*?)</script>', text)[1]
    assert not set("<>&") & set(held)
    assert [node["n"] for node in json.loads(held)["nodes"]] == names
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in text


def test_what_the_page_knows_of_a_model(model):
    content = page_data(model)
    number = {node["n"]: i for i, node in enumerate(content["nodes"])}
    edges = {(edge["a"], edge["b"]): edge for edge in content["edges"]}
    for (a, b), weight in model.graph_.weights.items():
        edge = edges[number[a], number[b]]
        assert edge["s"] == pytest.approx(weight, rel=1e-3)
        assert bool(edge["d"]) == model.graph_.has_directed_edge(a, b)
    for (a, b), given in model.separating_sets_.items():
        i, j = sorted((number[a], number[b]))
        assert content["separating"][f"{i},{j}"] == [number[name] for name in given]
    assert content["unit"] == "SU"
    assert ("Rows", "5,000") in content["facts"]


def test_edges_that_could_be_reversed():
    chain = f2sl.DAG([*"abc"], [("a", "b"), ("b", "c")])
    fork = f2sl.DAG([*"abc"], [("a", "b"), ("c", "b")])
    assert [edge.get("r") for edge in page_data(chain)["edges"]] == [1, 1]
    assert [edge.get("r") for edge in page_data(fork)["edges"]] == [None, None]


def test_explanations_and_confidence_go_by_pair_in_either_order():
    content = page_data(GRAPH, explanations={("c", "a"): "text"}, confidence={("b", "a"): 0.75})
    assert content["explanations"] == {"0,2": "text"}
    assert content["edges"][0]["c"] == 0.75
    with pytest.raises(OptionError, match="'x'"):
        page_data(GRAPH, explanations={("a", "x"): "text"})


def test_a_bootstrap_is_a_confidence():
    data = {"a": [0, 1] * 40, "b": [0, 1] * 40, "c": [0, 0, 1, 1] * 20}
    found = f2sl.bootstrap(data, f2sl.F2SLc(), 5)
    assert found.of("a", "b") == 1.0  # the two are the same in every replicate
    content = page_data(f2sl.F2SLc().fit(data), confidence=found)
    assert content["confidence"]["0,1"] == 1.0 and content["edges"][0]["c"] == 1.0


def test_distributions_of_discrete_and_continuous_columns_and_missing_values():
    data = {"a": ["x", "y", "x", None], "b": [0.5, 1.5, np.nan, 2.5], "c": [1.25, 1.0, 2.75, 7.5]}
    nodes = {node["n"]: node["i"] for node in page_data(GRAPH, data=data)["nodes"]}
    assert (nodes["a"]["states"], nodes["a"]["from"]) == (["x", "y"], "3 rows, 1 missing")
    assert nodes["a"]["p"] == pytest.approx([2 / 3, 1 / 3], abs=1e-4)
    assert (nodes["b"]["least"], nodes["b"]["most"], nodes["b"]["mean"]) == (0.5, 2.5, 1.5)
    assert sum(nodes["c"]["bars"]) == 4


def test_parameters_of_discrete_and_continuous_variables():
    graph = f2sl.DAG(["out", "bark"], [("out", "bark")])
    net = f2sl.BayesianNetwork(
        graph, {"out": ["yes", "no"]}, {"out": [0.15, 0.85]}, equations={"bark": ([40, 20], [], 16)}
    )
    out, bark = (node["t"] for node in page_data(net)["nodes"])
    assert (out["columns"], out["rows"]) == (["yes", "no"], [[[], [0.15, 0.85]]])
    assert (bark["given"], bark["columns"]) == (["out"], ["intercept", "variance"])
    assert bark["rows"] == [[["yes"], [40, 16]], [["no"], [20, 16]]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda folder: GRAPH.show(folder / "page.txt"), FileError, "ends in .html"),
        (lambda folder: GRAPH.show(folder / "no" / "page.html"), FileError, "no folder"),
        (lambda folder: f2sl.show("graph", folder / "page.html"), OptionError, "not str"),
        (lambda folder: GRAPH.show(folder / "page.html", truth=ASIA), GraphError, "different nodes"),
        (lambda folder: f2sl.F2SLc().show(folder / "page.html"), NotFittedError, "call its fit"),
    ],
)
def test_what_is_refused(tmp_path, call, error, words):
    with pytest.raises(error, match=words):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


class TestCommands:
    def test_show(self, tmp_path, capsys):
        GRAPH.save(tmp_path / "graph.json")
        out = tmp_path / "page.html"
        assert (
            main(
                [
                    "show",
                    str(tmp_path / "graph.json"),
                    "--out",
                    str(out),
                    "--truth",
                    str(tmp_path / "graph.json"),
                ]
            )
            == 0
        )
        assert "open it in a browser" in capsys.readouterr().out
        content = content_of(out)
        assert (content["title"], [edge["k"] for edge in content["edges"]]) == ("graph", ["agreed", "agreed"])

    @pytest.mark.parametrize("suffix", [".bif", ".json", ""])
    def test_a_network_comes_with_its_tables(self, tmp_path, suffix):
        given = str(tmp_path / f"net{suffix}") if suffix else "asia"
        if suffix:
            ASIA.save(given)
        assert main(["show", given, "--out", str(tmp_path / "page.html"), "--quiet"]) == 0
        assert content_of(tmp_path / "page.html")["nodes"][0]["t"]["title"] == "Probabilities"

    def test_learn(self, tmp_path, capsys):
        assert main(["example", "asia", "--out", str(tmp_path / "asia.csv")]) == 0
        out = tmp_path / "page.html"
        arguments = ["learn", str(tmp_path / "asia.csv"), "--dag", "--truth", "asia", "--page", str(out)]
        assert main(arguments) == 0
        assert re.search(r"Page +\S*page.html", capsys.readouterr().out)
        content = content_of(out)
        assert content["title"] == "asia"
        assert all(edge["d"] for edge in content["edges"])
        assert content["nodes"][0]["i"]["from"] == "5,000 rows"

    @pytest.mark.parametrize("how", [[], ["--dag"], ["--algorithm", "f2sl-c"], ["--algorithm", "notears"]])
    def test_one_comparison_has_the_same_numbers_everywhere(self, tmp_path, capsys, how):
        table, graph, page = (str(tmp_path / name) for name in ("asia.csv", "graph.json", "page.html"))
        assert main(["example", "asia", "--out", table]) == 0
        learn = ["learn", table, *how, "--truth", "asia", "--page", page, "--out", graph]
        capsys.readouterr()
        assert main(learn) == 0
        learned = rows_of(capsys.readouterr().out)
        if how in ([], ["--dag"]):  # the class of the truth is found
            assert learned[0] == ("SHD", "0") and ("Arrowhead F1", "1.000") in learned
        assert main([*learn, "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        of_page = content_of(tmp_path / "page.html")
        assert main(["compare", graph, "asia"]) == 0
        assert (
            rows_of(capsys.readouterr().out) == learned == [tuple(row) for row in of_page["compare"]["facts"]]
        )
        found = f2sl.compare(ASIA, f2sl.load_graph(graph))
        assert content["comparison"] == found.as_dict()
        assert learned == [(name, value) for name, value, _ in found.rows()]
        states = [edge.get("k") for edge in of_page["edges"]]
        counted = {name: states.count(name) for name in ("agreed", "reversed", "half", "missing", "extra")}
        assert [*counted.values()] == [
            found.correct,
            found.reverse,
            found.undirected,
            found.miss,
            found.extra,
        ]
        assert main(["show", graph, "--truth", "asia", "--out", page, "--quiet"]) == 0
        again = content_of(tmp_path / "page.html")
        assert [(e["a"], e["b"], e["d"]) for e in again["edges"]] == [
            (e["a"], e["b"], e["d"]) for e in of_page["edges"]
        ]
        assert again["compare"] == of_page["compare"]

    @pytest.mark.parametrize(
        "how", [[], ["--dag"], ["--algorithm", "f2sl-c"], ["--algorithm", "f2sl-c", "--dag"]]
    )
    def test_a_saved_graph_is_explained_from_its_table(self, tmp_path, capsys, how):
        table, graph, out = (str(tmp_path / name) for name in ("asia.csv", "graph.json", "page.html"))
        options = [*how, "--alpha", "0.05", "--drop", "xray", "--require", "asia -> tub"]
        assert main(["example", "asia", "--out", table]) == 0
        assert main(["learn", table, "--out", graph, "--page", out, "--quiet", *options]) == 0
        learned = content_of(tmp_path / "page.html")
        assert main(["show", graph, "--data", table, "--out", out]) == 0
        shown = content_of(tmp_path / "page.html")
        assert len(shown["explanations"]) == 7 * 6 // 2
        assert shown["explanations"] == learned["explanations"]
        assert shown["whole"]
        assert "note" not in capsys.readouterr().out

    def test_other_tables_and_none_explain_nothing(self, tmp_path, capsys):
        table, graph, out = (str(tmp_path / name) for name in ("asia.csv", "graph.json", "page.html"))
        assert main(["example", "asia", "--out", table]) == 0
        chosen = ["--algorithm", "local-to-global", "--pc", "mrmr", "--k", "3", "--drop", "xray"]
        assert main(["learn", table, "--out", graph, "--quiet", *chosen]) == 0
        assert main(["show", graph, "--out", out]) == 0
        content = content_of(tmp_path / "page.html")
        assert (content["explanations"], content["whole"]) == ({}, False)
        words = shlex.split(content["ask"])
        assert sorted(words) == sorted(["f2sl", "why", "TABLE", *chosen])
        (header, *rows), others = (tmp_path / "asia.csv").read_text().splitlines(), f2sl.load_network("asia")
        columns = others.sample(5000, random_state=7)
        drawn = zip(*(columns[name] for name in header.split(",")), strict=True)
        capsys.readouterr()
        for changed, words in ((rows[:-1], "4,999 rows"), (map(",".join, drawn), "another graph")):
            (tmp_path / "asia.csv").write_text("\n".join([header, *changed]))
            assert main(["show", graph, "--data", table, "--out", out]) == 0
            assert words in capsys.readouterr().out
            content = content_of(tmp_path / "page.html")
            assert content["explanations"] == {}
            assert words in content["notes"][0]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["show", "asia"], "--out"),
            (["show", "no such.json", "--out", "page.html"], "no such"),
            (["show", "asia", "--out", "page.png"], "ends in .html"),
            (["learn", "no such table.csv", "--page", "page.png"], "ends in .html"),
        ],
    )
    def test_wrong_input(self, tmp_path, monkeypatch, capsys, arguments, words):
        monkeypatch.chdir(tmp_path)
        assert main(arguments) == 2
        assert words in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
