"""The commands ``fit``, ``query`` and ``predict``: from a table to a network, and what it says."""

import json
import re

import numpy as np
import pytest

import f2sl
from cli_process import learned, small_table, write_csv
from f2sl.cli.app import main

# small_table: c is "a or b", a and b are fair coins, and f is e but in one of five rows.
# By hand: P(a = y | c = 1) = (1/2) / (3/4) = 2/3; doing c says nothing of a.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import pandas as pd

    folder = tmp_path_factory.mktemp("use")
    pd.DataFrame(small_table()).to_csv(folder / "data.csv", index=False)
    graph = f2sl.DAG([*"abcdef"], [("a", "c"), ("b", "c"), ("e", "f")])
    graph.save(folder / "graph.json")
    f2sl.PDAG([*"abcdef"], [("a", "c"), ("b", "c")], [("e", "f")]).save(folder / "pdag.json")
    f2sl.BayesianNetwork.fit(graph, folder / "data.csv", 0).save(folder / "net.bif")
    return folder


def test_from_a_table_to_an_answer(folder):
    printed = learned(
        "fit", folder / "graph.json", folder / "data.csv", "--out", folder / "own.bif",
        "--equivalent-sample-size", 0,
    )  # fmt: skip
    assert printed == f"wrote {folder / 'own.bif'}: 6 variables, 3 edges, 10 parameters, from 400 rows\n"
    assert f2sl.load_network(folder / "own.bif") == f2sl.load_network(folder / "net.bif")
    printed = learned("query", folder / "own.bif", "a", "--given", "c=1")
    assert [line.split() for line in printed.splitlines()] == [
        ["a", "given", "c", "=", "1"], ["state", "probability"], ["n", "0.3333"], ["y", "0.6667"],
    ]  # fmt: skip


def test_undirected_edges_are_directed_and_said_to_be(folder, capsys):
    out = folder / "of_pdag.net"
    assert main(["fit", str(folder / "pdag.json"), str(folder / "data.csv"), "--out", str(out)]) == 0
    assert "note: 1 undirected edge of" in capsys.readouterr().out
    assert f2sl.load_network(out).graph.neighbors("e") == ["f"]


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_columns_that_are_not_the_graphs_are_not_looked_at(folder, tmp_path, capsys, engine):
    """An index, dates and lists of names would be refused, or make the table another one."""
    import pandas as pd

    frame = pd.read_csv(folder / "data.csv")
    frame.insert(2, "day", pd.date_range("2020-01-01", periods=len(frame)))
    frame["name"] = [f"p{i} x" for i in range(len(frame))]
    frame.to_csv(tmp_path / "more.csv")
    out, data = tmp_path / "net.bif", str(tmp_path / "more.csv")
    fit = ["fit", str(folder / "graph.json"), data, "--out", str(out), "--equivalent-sample-size", "0"]
    assert main([*fit, "--engine", engine]) == 0
    assert "note" not in capsys.readouterr().out
    assert f2sl.load_network(out) == f2sl.load_network(folder / "net.bif")
    assert main(["predict", str(out), data, "b", "--out", str(tmp_path / "b.csv")]) == 0
    told = capsys.readouterr().err
    assert re.fullmatch(r"note: ignored columns that are not in the network: .*day, name\n", told)
    assert main(["show", str(out), "--data", data, "--out", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "400 rows" in page
    assert "<title>net" in page  # and not unknown, as BIF has it


def test_a_pdag_without_undirected_edges_has_none_to_direct(folder, tmp_path, capsys):
    f2sl.PDAG([*"abcdef"], [("a", "c"), ("b", "c"), ("e", "f")]).save(tmp_path / "graph.json")
    fit = ["fit", str(tmp_path / "graph.json"), str(folder / "data.csv"), "--out", str(tmp_path / "x.bif")]
    assert main(fit) == 0
    assert "note:" not in capsys.readouterr().out


def test_a_graph_with_edges_from_continuous_to_discrete_is_fitted_as_the_error_says(tmp_path):
    """The number that the cut one depends on is cut as well: it has states for children now."""
    rows = "".join(f"{i * 1.5},{(i * 7) % 10 + 0.25},{'uv'[i % 2]}\n" for i in range(10))
    (tmp_path / "mixed.csv").write_text(f"w,x,s\n{rows}")
    f2sl.DAG([*"wxs"], [("w", "x"), ("x", "s")]).save(tmp_path / "graph.json")
    bins = ["--bins", "x=5", "--bins", "w=5"]
    learned("fit", tmp_path / "graph.json", tmp_path / "mixed.csv", *bins, "--out", tmp_path / "net.bif")
    network = f2sl.load_network(tmp_path / "net.bif")
    assert [len(network.states[name]) for name in "wxs"] == [5, 5, 2]


def test_answers_as_json(folder, capsys):
    asked = ["query", str(folder / "net.bif"), "a", "f", "--do", "c=1", "--given", "e=1", "--json"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["given"] == {"e": "1"}
    assert told["do"] == {"c": "1"}
    assert told["answers"]["a"]["y"] == pytest.approx(0.5)
    assert max(told["answers"]["f"].values()) == pytest.approx(0.8)


def test_what_is_set_and_has_no_arrows_to_what_is_asked_is_noted(folder, capsys):
    """Of the edges a -> c <- b and e -> f; an observation of c depends on a, and so does the answer on b."""
    nothing = "no directed path from 'f' to 'e': setting 'f' changes nothing"
    through = "no directed path from 'a' to 'b': setting 'a' can change the answer only through the evidence "
    asked = ["query", str(folder / "net.bif")]
    for question, notes in (
        (["e", "--do", "f=1"], [nothing]),
        (["f", "--do", "e=1"], []),
        (["b", "--do", "a=y", "--given", "c=1"], [f"{through}on 'c'"]),
        (
            ["b", "--do", "a=y", "--given", "f=1"],
            ["no directed path from 'a' to 'b': setting 'a' changes nothing"],
        ),
    ):
        assert main([*asked, *question, "--json"]) == 0
        assert [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]] == notes
        assert main([*asked, *question]) == 0
        assert re.findall("(?m)^note: (.*)$", capsys.readouterr().out) == notes


def test_the_most_probable_values(folder, capsys):
    assert main(["query", str(folder / "net.bif"), "--most-probable", "--given", "c=0", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["most_probable"]
    assert told["values"]["a"] == told["values"]["b"] == "n"
    # d, e, and f given e: 1/2, 1/2 and 4/5.
    assert told["log_probability"] == pytest.approx(-1.6094379)


def test_continuous_variables_have_means(tmp_path, capsys):
    graph = f2sl.DAG(["sun", "heat"], [("sun", "heat")])
    net = f2sl.GaussianNetwork(graph, {("sun", "heat"): 2.0}, {"sun": 1.0, "heat": 1.0})
    net.save(tmp_path / "net.json")
    assert main(["query", str(tmp_path / "net.json"), "sun", "--given", "heat=5"]) == 0
    assert "mean                 2\n" in capsys.readouterr().out


def test_predictions(folder, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("id;a;c\n7;n;1\n8;n;0\n9;;0\n")
    asked = ["predict", str(folder / "net.bif"), str(tmp_path / "new.csv"), "b", "--drop", "id"]
    assert main(asked) == 0
    assert capsys.readouterr().out.replace('"', "").split() == ["b", "y", "n", "n"]
    out = tmp_path / "p.parquet"
    assert main([*asked, "--probabilities", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out}: 3 rows\n"
    import pandas as pd

    assert pd.read_parquet(out)["y"].tolist() == pytest.approx([1, 0, 0])


def test_truth_values_are_written_as_they_are_read(tmp_path, capsys):
    import pyarrow.parquet as pq

    graph = f2sl.DAG(["a", "b"], [("a", "b")])
    data = {"a": [True, False, True], "b": [False, True, False]}
    f2sl.BayesianNetwork.fit(graph, data, 0).save(tmp_path / "net.bif")
    (tmp_path / "new.csv").write_text("a\nTrue\nFalse\n")
    asked = ["predict", str(tmp_path / "net.bif"), str(tmp_path / "new.csv"), "b"]
    assert main(asked) == 0
    assert capsys.readouterr().out.replace('"', "").split() == ["b", "False", "True"]
    assert main([*asked, "--out", str(tmp_path / "b.parquet")]) == 0
    assert pq.read_table(tmp_path / "b.parquet")["b"].to_pylist() == [False, True]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["query", "net.bif"], "nothing to ask: name a variable, or give --most-probable"),
        (["query", "net.bif", "a", "--given", "c"], "--given takes NAME=VALUE, not 'c'"),
        (["query", "net.bif", "a", "--given", "x=y"], "--given: unknown variable 'x'"),
        (["query", "net.bif", "a", "--do", "c=1", "--do", "c=0"], "--do is given twice for 'c'"),
        (["query", "net.bif", "a", "--given", "c=maybe"], "--given: unknown state of 'c' 'maybe'"),
        (["query", "net.bif", "a", "--do", "c=1", "--given", "c=1"], "given both by --given and --do: 'c'"),
        (["query", "none.bif", "a"], "cannot read none.bif"),
        (["fit", "graph.json", "data.csv"], "nothing to write: give --out FILE.bif"),
        (
            ["fit", "graph.json", "data.csv", "--out", "x.txt"],
            "cannot write x.txt: use .bif",
        ),
        (["fit", "graph.json", "data.csv", "--out", "data.csv"], "cannot write data.csv: use .bif"),
        (["fit", "graph.json", "data.csv", "--out", "x.bif", "--drop", "a"], "the table has no column 'a'"),
        (["predict", "net.bif", "data.csv", "g"], "unknown variable 'g'"),
        (
            ["predict", "net.bif", "odd.csv", "a"],
            "no column is a variable of the network: it has a, b, c, d, e, f, but the table has id, z",
        ),
        (["fit", "graph.json", "odd.csv", "--out", "x.bif"], "none of the columns id, z is one of a, b, c"),
        (
            ["fit", "crossing.json", "mixed.csv", "--out", "x.json"],
            "edges from continuous to discrete variables: x -> s; .* with --bins x=5 --bins w=5$",
        ),
        (
            ["fit", "crossing.json", "mixed.csv", "--out", "x.bif"],
            "x.bif: BIF does not support numbers; use .json, .net. Also, edges from .*: x -> s; .*w=5",
        ),
        (
            ["query", "graph.json", "a"],
            "graph.json is a graph without probabilities; first run: f2sl fit graph.json TABLE --out net",
        ),
        (["predict", "graph.dot", "data.csv", "a"], "graph.dot is a graph without probabilities; first run"),
        (["query", "wrong.json", "a"], "wrong.json: probabilities of 'a' sum to 1.5, not to 1"),
        (["predict", "net.bif", "data.csv", "a", "--out", "net.bif"], "cannot write net.bif"),
    ],
)
def test_what_is_wrong_is_one_line(folder, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(folder)
    (folder / "odd.csv").write_text("id,z\n1,n\n2,y\n")
    (folder / "mixed.csv").write_text("w,x,s\n1.5,2.5,u\n2.5,2.75,v\n0.5,1.25,u\n")
    f2sl.DAG([*"wxs"], [("w", "x"), ("x", "s")]).save(folder / "crossing.json")
    f2sl.DAG([*"ab"], [("a", "b")]).save(folder / "graph.dot")
    f2sl.BayesianNetwork(f2sl.DAG(["a"]), {"a": ["y", "n"]}, {"a": [0.5, 0.5]}).save(folder / "wrong.json")
    (folder / "wrong.json").write_text((folder / "wrong.json").read_text().replace("[0.5,", "[1.0,"))
    before = sorted(path.name for path in folder.iterdir())
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert re.search(told, error), error
    assert error.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_models_give_networks():
    table = small_table()
    model = f2sl.F2SLc().fit(table)
    net = model.network(table, 0)
    assert net.query("a", {"c": "1"})["y"] == pytest.approx(2 / 3)
    binned = {"x": [0.1, 0.2, 0.8, 0.9] * 50, "y": ["a", "a", "b", "b"] * 50}
    model = f2sl.learn(binned, bins=2)
    assert model.network(binned, bins=2).states["x"] == ("[0.1, 0.8)", "[0.8, 0.9]")


CUT = ("[0.1, 0.8)", "[0.8, 0.9]")


def learned_with_bins():
    """Data, and a model learned with bins of a column, twice in different units, and with states."""
    x = np.array([0.1, 0.2, 0.8, 0.9] * 50)
    data = {"x": x, "unit": 100 * x, "n": np.arange(200) // 4, "y": ["a", "a", "b", "b"] * 50}
    kinds = {"n": "discrete"}
    return data, f2sl.learn(data, "f2sl-h", bins={"x": 2, "unit": 2}, kinds=kinds, aliases="merge")


def test_networks_are_fitted_with_the_kinds_and_bins_that_were_learned_with(tmp_path):
    data, model = learned_with_bins()
    assert "merged" in " ".join(model.notes_)
    net = model.network(data)
    assert net.states["x"] == CUT and net.states["unit"] == ("[10, 80)", "[80, 90]")
    assert len(net.states["n"]) == 50
    # Other numbers go into the same intervals, those outside into the first and the last.
    others = {"x": [-5.0, 0.79, 0.8, 7.0], "unit": [10, 11, 12, 90.5], "n": [0, 1, 2, 3], "y": [*"aabb"]}
    alone = f2sl.DAG(["x"])
    alone.read_as = model.graph_.to_dag().read_as
    for column, share in (([-5.0, 0.79, 0.8, 7.0], 0.5), ([0.1, 0.3, 0.5, 7.0], 0.75)):
        fitted = f2sl.BayesianNetwork.fit(alone, {"x": column}, 0)
        assert fitted.states["x"] == CUT and fitted.tables["x"].tolist() == [share, 1 - share]
    assert model.network(others).states["x"] == CUT
    # Options say otherwise: of a column for this one, of all for all.
    assert model.network(data, bins={"x": 4}).states["x"] != CUT
    assert model.network(data, bins={"x": 4}).states["unit"] == net.states["unit"]
    assert len(model.network(data, bins=2).states["n"]) == 2
    # Labels of the intervals, as samples of the network have them, are states.
    assert model.network(net.sample(50, random_state=1)).kinds == net.kinds


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_files_of_graphs_know_how_columns_were_read(tmp_path, engine, capsys):
    data, model = learned_with_bins()
    path, graph, net = (tmp_path / name for name in ("t.csv", "graph.json", "net.json"))
    write_csv(path, data)
    options = ["--bins", "x=2", "--bins", "unit=2", "--discrete", "n", "--engine", engine]
    assert main(["learn", str(path), *options, "--out", str(graph)]) == 0
    assert f2sl.load_graph(graph).read_as == model.graph_.read_as
    assert main(["fit", str(graph), str(path), "--engine", engine, "--out", str(net)]) == 0
    fitted = f2sl.load_network(net)
    assert fitted.states["x"] == CUT and len(fitted.states["n"]) == 50
    assert "columns 'x', 'unit': cut into 2 bins as learned" in capsys.readouterr().out
    graph.write_text(graph.read_text().replace("[0.8, 0.9]", "[0.8; 0.9]"))
    assert main(["fit", str(graph), str(path), "--out", str(net)]) == 2
    assert '"read_as" is not an object' in capsys.readouterr().err
    graph.write_text(graph.read_text().replace("[0.8; 0.9]", "[0.8, 0.9]").replace('"rows":', '"lines":'))
    assert main(["fit", str(graph), str(path), "--out", str(net)]) == 2
    assert '"learned_by" is not an object' in capsys.readouterr().err


def test_continuous_and_mixed_models_give_networks_of_their_kind():
    source = f2sl.BayesianNetwork(
        f2sl.DAG([*"dxy"], [("d", "x"), ("x", "y")]),
        {"d": ["u", "v"]},
        {"d": [0.5, 0.5]},
        equations={"x": ([0.0, 2.0], [], 1.0), "y": (0.0, [1.0], 1.0)},
    )
    frame = source.sample(500, random_state=1)
    net = f2sl.learn(frame, "f2sl-c").network(frame)
    assert net.kinds == ("discrete", "continuous", "continuous")
    assert ("x", "d") not in net.graph.directed_edges
    numbers = frame[["x", "y"]]
    net = f2sl.learn(numbers, "f2sl-c").network(numbers)
    assert isinstance(net, f2sl.GaussianNetwork)


def test_aliases_that_were_merged_are_left_out_of_networks():
    table = {**small_table()}
    table["copy"] = table["a"]
    with f2sl.open_table(table, aliases="merge") as opened:
        model = f2sl.F2SLc().fit(opened)
        assert "copy" in model.graph_.nodes
        assert "copy" not in model.network(opened).variables


HARMFUL = [
    {"reading": {"engine": "dask", "scheduler": "tcp://127.0.0.1:9"}},
    {"reading": {"memory": "1TB"}},
    {"reading": {"n_jobs": 1000}},
    {"reading": {"encoding": "rot13"}},
    {"reading": {"learned": {}}},
    {"reading": {"kinds": [1]}},
    {"reading": {"bins": {"asia": "x; touch y"}}},
    {"reading": {"drop": "asia"}},
    {"options": {"knowledge": "/etc/passwd"}},
    {"options": {"n_jobs": 1000}},
    {"options": {"ci_test": "../module"}},
    {"options": {"pc_options": {"a": {"b": 1}}}},
    {"options": {"x y": 1}},
    {"algorithm": "f2sl-h; touch x #"},
]


@pytest.mark.parametrize("stranger", HARMFUL, ids=str)
def test_a_graph_file_cannot_set_what_could_hurt(tmp_path, stranger, capsys, monkeypatch):
    import socket

    def no_network(*given, **more):
        raise AssertionError("a file made f2sl connect")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    table, graph = tmp_path / "asia.csv", tmp_path / "stranger.json"
    f2sl.load_example("asia").to_csv(table, index=False)
    f2sl.learn(table).graph_.save(graph)
    file = json.loads(graph.read_text())
    for key, value in stranger.items():
        file["learned_by"][key] = file["learned_by"][key] | value if isinstance(value, dict) else value
    graph.write_text(json.dumps(file))
    command = ["show", str(graph), "--data", str(table), "--out", str(tmp_path / "page.html")]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "may not set" in told and len(told.strip().splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


def test_commands_on_a_page_are_quoted_for_a_shell(tmp_path):
    data = f2sl.load_example("asia").rename(columns={"asia": "a; touch x #"})
    table, graph = tmp_path / "t.csv", tmp_path / "graph.json"
    data.to_csv(table, index=False)
    f2sl.learn(table, kinds={"a; touch x #": "discrete"}).graph_.save(graph)
    page = tmp_path / "page.html"
    assert main(["show", str(graph), "--data", str(table), "--out", str(page)]) == 0
    assert "--discrete 'a; touch x #'" in page.read_text()


def test_a_table_in_another_encoding_is_explained_with_its_encoding(tmp_path):
    data = f2sl.load_example("asia").rename(columns={"smoke": "fumée"})
    table, graph, page = (tmp_path / name for name in ("t.csv", "graph.json", "page.html"))
    data.to_csv(table, index=False, encoding="latin-1")
    assert main(["learn", str(table), "--encoding", "latin-1", "--out", str(graph)]) == 0
    assert "encoding" not in json.loads(graph.read_text())["learned_by"]["reading"]
    command = ["show", str(graph), "--data", str(table), "--out", str(page)]
    assert main([*command, "--encoding", "latin-1"]) == 0
    assert "--encoding latin-1" in page.read_text()


def test_answers_say_that_they_rest_on_uncertain_directions(tmp_path, capsys):
    import pandas as pd

    rng = np.random.default_rng(2)
    x, y, a, b, noise, more = rng.normal(size=(6, 200))
    frame = {"x": x, "y": y, "z": x + y + 0.5 * noise, "a": a, "b": b, "c": a + 0.3 * b + more}
    frame["u"] = frame["x"] + 0.1 * more
    table, graph, network = (str(tmp_path / name) for name in ("t.csv", "graph.json", "net.json"))
    pd.DataFrame(frame).to_csv(table, index=False)
    model = f2sl.learn(table)
    model.graph_.save(graph)
    assert main(["fit", graph, table, "--out", network]) == 0
    assert "uncertain" not in capsys.readouterr().out
    dag = f2sl.load_network(network).graph
    assert dag.weak == model.graph_.weak
    assert dag.either_way == model.dag_.either_way
    for arrows, what in ((dag.weak, "only weakly decided"), (dag.either_way, "the data do not decide")):
        a, b = min(arrows)
        assert main(["query", network, b, "--do", f"{a}=1"]) == 0
        [note] = [line for line in capsys.readouterr().out.splitlines() if what in line]
        assert f"{a} -> {b}" in note
    assert main(["query", network, "z"]) == 0
    assert "note" not in capsys.readouterr().out
    other = str(tmp_path / "net.net")
    assert main(["fit", graph, table, "--out", other]) == 0
    remark = "net.net does not keep which directions are uncertain, as .json and .bif do"
    assert remark in capsys.readouterr().out
    for suffix, notes in ((".csv", 1), (".graphml", 0)):
        assert main(["learn", table, "--out", str(tmp_path / f"graph{suffix}")]) == 0
        assert capsys.readouterr().out.count("does not keep which directions are only weakly") == notes
