"""The commands ``networks`` and ``sample``, and ``learn --truth`` with a network."""

import gzip
import json
import re

import pytest

import f2sl as package
from cli_process import f2sl, learned
from f2sl.cli.app import main
from f2sl.network.bundled import NETWORKS
from f2sl.network.sampling import sample_table


def test_networks_are_listed_with_their_sizes():
    printed = learned("networks")
    lines = printed.splitlines()
    assert re.split(" {2,}", lines[1]) == [
        "name",
        "variables",
        "edges",
        "max in-degree",
        "max out-degree",
        "states",
        "parameters",
    ]
    table = {line.split()[0]: line.split()[1:] for line in lines[2 : 2 + len(NETWORKS)]}
    assert list(table) == list(NETWORKS)
    # As the Bayesian Network Repository has them.
    assert table["alarm"] == ["37", "46", "4", "5", "2-4", "509"]
    assert table["pigs"] == ["441", "592", "2", "39", "3", "5,618"]
    # As the F2SL paper describes Gene.
    assert table["gene-like"][:5] == ["801", "972", "4", "10", "3-5"]
    assert "gene-like is random: it replaces the F2SL paper's Gene" in printed


def test_networks_as_json(capsys):
    assert main(["networks", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in told] == list(NETWORKS)
    assert [entry["name"] for entry in told if entry["stands_in"]] == ["gene-like"]
    assert told[2] == {
        "name": "asia",
        "variables": 8,
        "edges": 8,
        "max_in_degree": 2,
        "max_out_degree": 2,
        "least_states": 2,
        "most_states": 2,
        "parameters": 18,
        "stands_in": False,
    }


def test_a_sample_is_learned_from_and_compared_with_its_truth(tmp_path):
    out = tmp_path / "alarm.csv"
    printed = learned("sample", "alarm", "--rows", 1000, "--random-state", 1, "--out", out)
    assert printed == f"wrote {out}: 1,000 rows, 37 variables\n"
    printed = learned("learn", out, "--truth", "alarm")
    assert "\nCompared with alarm\n" in printed
    assert re.search(r"^True edges +46 ", printed, re.MULTILINE)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".arrow"])
def test_every_format_holds_the_same_rows(suffix, tmp_path, capsys):
    network, out = package.load_network("child"), tmp_path / f"child{suffix}"
    assert main(["sample", "child", "--rows", "40", "--random-state", "3", "-o", str(out), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    expected, read = sample_table(network, 40, 3), package.open_table(out)
    assert read.names == expected.names
    for i in range(expected.n_variables):
        labels = [str(read.states[i][code]) for code in read.codes[i]]
        assert labels == [expected.states[i][code] for code in expected.codes[i]]
    if suffix in (".parquet", ".arrow"):
        assert read.states == expected.states  # those that do not occur, too


def test_the_same_seed_gives_the_same_file(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for out in (first, second):
        assert main(["sample", "asia", "--rows", "50", "--random-state", "9", "--out", str(out), "-q"]) == 0
    assert first.read_bytes() == second.read_bytes()
    lines = first.read_text().splitlines()
    assert lines[0] == "asia,tub,smoke,lung,bronc,either,xray,dysp"
    assert len(lines) == 51


def test_a_network_of_the_users_own(tmp_path, capsys):
    package.load_network("survey").save(tmp_path / "own.bif.gz")
    csv, bif = str(tmp_path / "own.csv"), str(tmp_path / "own.bif.gz")
    assert main(["sample", bif, "--rows", "500", "--out", csv]) == 0
    assert main(["learn", csv, "--truth", bif, "--json"]) == 0
    told = capsys.readouterr().out.split("\n", 1)[1]
    assert json.loads(told)["comparison"]["true_edges"] == 6


@pytest.mark.parametrize("kind", ["continuous", "mixed"])
def test_networks_with_continuous_variables_are_sampled_and_compared_with(kind, tmp_path, capsys):
    network = package.random_network(12, 12, 2, kind=kind, random_state=3, name=kind)
    csv, json_file, out = (str(tmp_path / name) for name in ("t.csv", "net.json", "learned.json"))
    network.save(json_file)
    assert main(["sample", json_file, "--rows", "400", "--random-state", "2", "--out", csv]) == 0
    assert capsys.readouterr().out == f"wrote {csv}: 400 rows, 12 variables\n"
    drawn, read = sample_table(network, 400, 2), package.open_table(csv)
    assert read.kinds == network.kinds
    assert (read.numbers == drawn.numbers).all()
    first = (tmp_path / "t.csv").read_text().splitlines()[1].split(",")
    assert [cell[0] == '"' for cell in first] == [
        it == "discrete" for it in network.kinds
    ]  # labels in quotes
    bins = [] if kind == "continuous" else ["--bins", "3"]
    assert main(["learn", csv, *bins, "--truth", json_file, "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparison"]["true_edges"] == 12
    assert main(["compare", out, json_file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["true_edges"] == 12
    assert main(["sample", out, "--out", csv]) == 2  # a graph without probabilities
    assert "learned.json is a graph without probabilities; first run: f2sl fit" in capsys.readouterr().err


def test_truth_may_still_be_a_graph_file(tmp_path, capsys):
    csv, graph = str(tmp_path / "asia.csv"), tmp_path / "truth.dot"
    package.load_network("asia").graph.save(graph)
    assert main(["sample", "asia", "--out", csv, "-q"]) == 0
    assert main(["learn", csv, "--truth", str(graph), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparison"]["true_edges"] == 8


STANDS_IN = "gene-like is random: it replaces the F2SL paper's Gene, which is not available"


def test_the_stand_in_is_called_so_wherever_it_goes(tmp_path, capsys):
    csv, bif, graph = (str(tmp_path / name) for name in ("g.csv", "g.bif", "g.json"))
    assert main(["sample", "gene-like", "--rows", "60", "--out", csv]) == 0
    assert capsys.readouterr().out.endswith(f"60 rows, 801 variables\nnote: {STANDS_IN}\n")
    assert main(["learn", csv, "--truth", "gene-like", "--out", graph]) == 0
    assert re.search(rf"^Note +{STANDS_IN}$", capsys.readouterr().out, re.MULTILINE)
    assert main(["compare", graph, "gene-like"]) == 0
    assert capsys.readouterr().out.endswith(f"\nnote: {STANDS_IN}\n")
    network = package.load_network("gene-like")
    network.save(bif)
    assert (tmp_path / "g.bif").read_text().startswith(f"// {STANDS_IN}\nnetwork gene-like {{")
    # A file keeps the name, so that what is drawn from it is known for what it is.
    assert main(["sample", bif, "--rows", "5", "--out", csv]) == 0
    assert f"note: {STANDS_IN}" in capsys.readouterr().out


def test_other_networks_need_no_remark(tmp_path, capsys):
    csv = str(tmp_path / "asia.csv")
    assert main(["sample", "asia", "--rows", "60", "--out", csv]) == 0
    assert main(["learn", csv, "--truth", "asia", "--json"]) == 0
    assert "stands in" not in capsys.readouterr().out
    package.load_network("asia").save(tmp_path / "asia.bif")
    assert (tmp_path / "asia.bif").read_text().startswith("network asia {")


def test_states_that_a_csv_cannot_hold_are_told(tmp_path, capsys):
    assert main(["sample", "pathfinder", "--rows", "5", "--out", str(tmp_path / "p.csv")]) == 0
    assert "note: the state 'NA' of F2 (and 34 more) is read from a CSV as a missing value" in (
        capsys.readouterr().out
    )
    assert main(["sample", "pathfinder", "--rows", "5", "--out", str(tmp_path / "p.parquet")]) == 0
    assert "note" not in capsys.readouterr().out


def test_names_with_commas_survive(tmp_path):
    network = package.BayesianNetwork(
        package.DAG(["a, b"]), {"a, b": ['say "x"', "y,z"]}, {"a, b": [0.5, 0.5]}
    )
    network.save(tmp_path / "odd.bif")
    out = tmp_path / "odd.csv.gz"
    assert main(["sample", str(tmp_path / "odd.bif"), "--rows", "30", "--out", str(out), "-q"]) == 0
    table = package.open_table(out)
    assert table.names == ("a, b",)
    assert set(table.states[0]) == {'say "x"', "y,z"}
    assert gzip.decompress(out.read_bytes()).startswith(b'"a, b"\n')


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["alarm", "--rows", "0"], "--rows must be a whole number of at least 1, not 0"),
        (["alarm", "--rows", "-1"], "--rows must be a whole number of at least 1, not -1"),
        (["alarm", "--rows", "many"], "--rows takes a whole number, not 'many'"),
        (["alarm", "--random-state", "-1"], "--random-state must be a whole number of at least 0, not -1"),
        (["alarn"], "unknown network 'alarn'; did you mean 'alarm'? Known: alarm, andes, asia, barley"),
        (["none.bif"], "cannot read none.bif"),
    ],
)
def test_samples_that_cannot_be_drawn(arguments, problem, tmp_path, capsys):
    out = tmp_path / "x.csv"
    assert main(["sample", *arguments, "--out", str(out)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"f2sl: error: {problem}")
    assert captured.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_unknown_network_gets_all_names(capsys, tmp_path):
    assert main(["sample", "nothing", "--out", str(tmp_path / "x.csv")]) == 2
    told = capsys.readouterr().err
    assert all(re.search(rf"\b{name}\b", told) for name in NETWORKS)


def test_samples_that_cannot_be_written(tmp_path, capsys):
    assert main(["sample", "asia"]) == 2
    assert "nothing to write: give --out FILE.csv" in capsys.readouterr().err
    assert main(["sample", "asia", "--out", str(tmp_path / "x.json")]) == 2
    assert (
        "Known: .csv, .parquet, .pq, .arrow, .feather, .ipc, .jsonl, .ndjson, and .gz after each"
        in capsys.readouterr().err
    )
    assert main(["sample", "asia", "--out", str(tmp_path / "none" / "x.csv")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_broken_network_is_told_with_its_line(tmp_path):
    broken = tmp_path / "broken.bif"
    broken.write_text(
        "network x {\n}\nvariable a {\n  type discrete [ 2 ] { u, v };\n}\nprobability ( a ) {\n"
    )
    done = f2sl("sample", broken, "--out", tmp_path / "x.csv")
    assert done.returncode == 2
    assert re.fullmatch(rf"f2sl: error: {re.escape(str(broken))}, line 7: expected .*\n", done.stderr)


@pytest.mark.parametrize(
    ("truth", "problem"),
    [
        ("alarn", "unknown network 'alarn'"),
        ("none.json", "cannot read none.json"),
        ("x.y", "no graph format"),
    ],
)
def test_truths_that_cannot_be_had(truth, problem, tmp_path, capsys):
    csv = tmp_path / "x.csv"
    csv.write_text("a,b\n0,1\n1,0\n")
    assert main(["learn", str(csv), "--truth", truth]) == 2
    assert problem in capsys.readouterr().err
