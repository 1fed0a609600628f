"""``f2sl learn`` in real processes on real files."""

import gzip
import json
import re
from collections import Counter
from functools import partial, wraps

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from cli_process import MODULE, learned, small_table, together, write_csv
from f2sl import DAG, FCBF, PDAG, FileError, Table, api, load_graph
from f2sl._estimator import Estimator
from f2sl.cli.app import main
from f2sl.data import open as reading
from f2sl.learners import fit as fitting
from f2sl.learners.registries import STRUCTURE

GRAPH = PDAG([*"abcdef"], [("a", "c"), ("b", "c")], [("e", "f")])
TRUTH = DAG([*"abcdef"], [("a", "c"), ("b", "c"), ("e", "f")])


@pytest.fixture
def csv(tmp_path):
    return write_csv(tmp_path / "small.csv", small_table())


@pytest.fixture
def truth(tmp_path):
    TRUTH.save(tmp_path / "truth.json")
    return tmp_path / "truth.json"


def test_every_format_holds_the_graph(csv, tmp_path):
    outs = [f"graph.{suffix}" for suffix in ("json", "csv", "dot", "graphml", "gml")]
    runs = together(partial(learned, "learn", csv.name, "--out", out, folder=tmp_path) for out in outs)
    for out, printed in zip(outs, runs, strict=True):
        assert f"Saved    {out}\n" in printed
        assert load_graph(tmp_path / out) == GRAPH


def write_parquet(path):
    pq.write_table(pa.table(small_table()), path)


def write_feather(path):
    feather.write_feather(pa.table(small_table()), path, compression="lz4")


def write_packed(path):
    with gzip.open(path, "wt") as file:
        file.write(write_csv(path.with_suffix(".plain"), small_table()).read_text())


def test_every_kind_of_file_is_read(tmp_path):
    kinds = {"t.parquet": write_parquet, "t.arrow": write_feather, "t.csv.gz": write_packed}
    for name, write in kinds.items():
        write(tmp_path / name)
    together(partial(learned, "learn", name, "-o", f"{name}.json", folder=tmp_path) for name in kinds)
    for name in kinds:
        assert load_graph(tmp_path / f"{name}.json") == GRAPH


def test_the_summary_tells_what_happened(csv):
    options = ("--delta", "0.02", "--alpha", "0.05", "--symmetry", "or", "--jobs", "2")
    printed = learned("learn", csv, "--algorithm", "f2sl-c", *options)
    assert printed.startswith(f"Read     {csv}: 400 rows, 6 variables of 2 states each\n")
    assert "\nLearned  by f2sl-c --delta 0.02 --alpha 0.05 --symmetry or\n" in printed
    assert "\nGraph    3 edges: 2 directed, 1 undirected; 1 variable without edges\n" in printed
    assert re.search(r"\nTests    \d+ independence tests?\n", printed)
    assert re.search(r"\nTime     [\d.]+ s \(read [\d.]+, .*orientation [\d.]+\)\n", printed)
    assert printed.endswith(
        "\nEdges, by strength\nedge         SU\na -> c   0.3437\nb -> c   0.3437\ne - f    0.2781\n"
    )
    assert "Saved" not in printed
    assert printed.isascii()
    assert not re.search(r" $|\x1b", printed, re.MULTILINE)


def test_the_summary_as_json(csv, truth, tmp_path):
    out = tmp_path / "graph.json"
    told = json.loads(
        learned("learn", csv, "-a", "f2sl-c", "--json", "--out", out, "--truth", truth, command=MODULE)
    )
    assert list(told) == [
        *("algorithm", "options", "data", "rows", "variables", "states", "edges", "isolated", "strongest"),
        *("tests", "inconclusive", "score", "dag", "complete", "timings", "notes", "out"),
        *("picture", "page", "comparison", "graph", "weakly_decided", "either_way"),
    ]
    assert told["algorithm"] == "f2sl-c"
    assert told["options"]["alpha"] == 0.01
    assert "verbose" not in told["options"]
    assert (told["rows"], told["variables"], told["states"]) == (400, 6, {"least": 2, "most": 2})
    assert told["edges"] == {"directed": 2, "undirected": 1}
    assert told["isolated"] == 1
    first, *_, last = told["strongest"]
    assert first == {
        "source": "a",
        "target": "c",
        "directed": True,
        "weight": pytest.approx(0.3437, abs=5e-5),
        "weak": False,
    }
    assert last == {
        "source": "e",
        "target": "f",
        "directed": False,
        "weight": pytest.approx(0.2781, abs=5e-5),
        "weak": False,
    }
    assert told["tests"] > 0
    assert told["inconclusive"] == 0
    assert told["complete"] is True
    assert (told["score"], told["dag"], told["notes"], told["out"]) == (None, None, [], str(out))
    assert told["timings"]["total"] >= told["timings"]["read"] > 0
    assert told["graph"] == {"directed": [["a", "c"], ["b", "c"]], "undirected": [["e", "f"]]}
    assert (told["comparison"]["shd"], told["comparison"]["correct"]) == (0, 3)
    assert load_graph(out) == GRAPH


def test_the_page_names_the_learner_as_the_shell_does(csv, tmp_path):
    graph, pages = tmp_path / "graph.json", [tmp_path / "learned.html", tmp_path / "shown.html"]
    learned("learn", csv, "-a", "f2sl-c", "--alpha", "0.05", "--out", graph, "--page", pages[0], "--quiet")
    learned("show", graph, "--data", csv, "--out", pages[1], "--quiet")
    for page in pages:
        assert '["Learner","f2sl-c --alpha 0.05"]' in page.read_text(encoding="utf-8")


def test_the_skeleton_alone(csv, tmp_path):
    out = tmp_path / "skeleton.json"
    printed = learned("learn", csv, "--algorithm", "f2sl-c", "--skeleton-only", "--out", out)
    assert "\nLearned  the skeleton only, by f2sl-c --skeleton-only\n" in printed
    assert "\nGraph    3 edges: 0 directed, 3 undirected; " in printed
    assert "Tests" not in printed
    assert load_graph(out) == GRAPH.skeleton()


def test_a_large_graph_is_not_printed_edge_by_edge(csv, monkeypatch, capsys):
    monkeypatch.setattr("f2sl.cli.summary.MOST_PRINTED", 2)
    assert main(["learn", str(csv), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["graph"], told["edges"]) == (None, {"directed": 2, "undirected": 1})
    [note] = told["notes"]
    assert note["text"] == "the 3 edges are not printed; --out saves them to a file"


def test_the_second_algorithm_tells_its_score(csv):
    told = json.loads(learned("learn", csv, "-a", "f2sl-s", "--score", "bic", "--json"))
    assert told["graph"] == {"directed": [["a", "c"], ["b", "c"]], "undirected": [["e", "f"]]}
    assert told["score"] < 0
    assert told["tests"] is told["inconclusive"] is None
    assert told["options"]["score"] == "bic"


def test_the_third_algorithm_tells_what_its_edges_cost(csv, capsys):
    assert main(["learn", str(csv), "--algorithm", "f2sl-h"]) == 0
    told = r"^Score    -[\d,.]+ bds, equivalent sample size 10, penalty 1\.79176 for each edge$"
    assert re.search(told, capsys.readouterr().out, re.MULTILINE)
    assert main(["learn", str(csv), "--algorithm", "f2sl-h", "--edge-cost", "0"]) == 0
    assert "for each edge" not in capsys.readouterr().out


def test_the_best_network_of_all(csv, capsys):
    # a -> c <- b as the data say; e - f could point either way.
    options = ("--score", "bic", "--max-parents", "2", "--max-exact", "5", "--force", "--time-limit", "60")
    assert main(["learn", str(csv), "--algorithm", "exact", *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["graph"] == {"directed": [["a", "c"], ["b", "c"]], "undirected": [["e", "f"]]}
    assert told["score"] < 0
    assert main(["learn", str(csv), "--algorithm", "exact", "--max-exact", "5"]) == 2
    assert "--max-exact is 5: an exact search of 6 variables takes about" in capsys.readouterr().err
    assert main(["learn", str(csv), "--algorithm", "exact", "--time-limit", "0"]) == 2
    assert "--time-limit must be a number from 0.001" in capsys.readouterr().err


def test_directions_that_the_data_do_not_decide_are_told_as_open(csv, tmp_path, capsys):
    # a -> c <- b is a v-structure; e - f fits both ways equally well. A DAG must take one of them.
    out, picture = tmp_path / "graph.json", tmp_path / "graph.svg"
    asked = ["learn", str(csv), "--algorithm", "f2sl-h", "--out", str(out)]
    assert main([*asked, "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "\nGraph    3 edges: the data decide 2 directions, 1 may point either way; 1 variable" in printed
    assert f"\nSaved    {out}\n" in printed
    assert re.findall(r"^(\w -?>? ?\w) ", printed, re.MULTILINE) == ["a -> c", "b -> c", "e - f"]
    saved = load_graph(out)
    assert saved == GRAPH
    assert saved.dag.is_dag() and saved.dag.to_cpdag() == GRAPH
    assert picture.read_text().count("<polygon") == 2  # the arrowheads

    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["edges"] == {"directed": 2, "undirected": 1}
    assert told["graph"] == {"directed": [["a", "c"], ["b", "c"]], "undirected": [["e", "f"]]}
    assert told["weakly_decided"] == []
    assert told["either_way"] is None
    directions = re.findall(r"^\w -?>? ?\w +[\d.]+ +(.*?)$", printed, re.MULTILINE)
    assert [words.strip() for words in directions] == ["decided", "decided", "either way"]


def test_the_dag_is_shown_saved_and_drawn_if_asked_for(csv, tmp_path, capsys):
    out, picture = tmp_path / "graph.json", tmp_path / "graph.svg"
    asked = ["learn", str(csv), "--dag", "--out", str(out), "--plot", str(picture)]
    assert main(asked) == 0
    printed = capsys.readouterr().out
    assert "\nGraph    3 edges: the data decide 2 directions, 1 may point either way; 1 variable" in printed
    directions = re.findall(r"^(\w -> \w) +[\d.]+ +(.*?)$", printed, re.MULTILINE)
    dag = load_graph(out)
    assert [shown.split(" -> ") for shown, _ in directions] == [list(edge) for edge in dag.directed_edges]
    assert [words.strip() for _, words in directions] == ["decided", "decided", "either way"]
    assert isinstance(dag, DAG) and dag.to_cpdag() == GRAPH
    assert picture.read_text().count("<polygon") == 3
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["edges"] == {"directed": 3, "undirected": 0}
    assert told["graph"] == {"directed": [list(edge) for edge in dag.directed_edges], "undirected": []}
    open_ones = [shown.split(" -> ") for shown, words in directions if words.strip() == "either way"]
    assert told["either_way"] == open_ones


def test_a_saved_dag_keeps_the_graph_that_it_was_made_from(csv, tmp_path):
    graph, dag, again = (tmp_path / f"{name}.json" for name in ("graph", "dag", "again"))
    assert main(["learn", str(csv), "--quiet", "--out", str(graph)]) == 0
    assert main(["learn", str(csv), "--quiet", "--dag", "--out", str(dag)]) == 0
    learned, chosen = load_graph(graph), load_graph(dag)
    assert isinstance(chosen, DAG) and chosen == learned.to_dag()
    assert chosen.pdag == learned == GRAPH and chosen.either_way == learned.to_dag().either_way
    assert chosen.pdag.to_dag() == chosen
    assert chosen.pdag.weights == learned.weights and chosen.pdag.learned_by == learned.learned_by
    contents = [json.loads(file.read_text()) for file in (graph, dag)]
    assert contents[0]["dag"] == contents[1]["directed"]
    assert contents[1]["pdag"] == {key: contents[0][key] for key in ("directed", "undirected")}
    chosen.save(again)
    assert again.read_bytes() == dag.read_bytes()


@pytest.mark.parametrize("pdag", ["[]", '{"directed":[["a","b"]]}', '{"directed":1}'])
def test_a_saved_dag_with_the_graph_of_another_is_refused(csv, tmp_path, capsys, pdag):
    file = tmp_path / "dag.json"
    assert main(["learn", str(csv), "--quiet", "--dag", "--out", str(file)]) == 0
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "pdag": json.loads(pdag)}))
    assert main(["compare", str(file), str(file)]) == 2
    assert f"f2sl: error: {file}: " in capsys.readouterr().err


@pytest.mark.parametrize("algorithm", ["f2sl-h", "f2sl-c"])
def test_pages_of_files_have_the_words_and_the_graphs_of_the_page_of_learn(csv, tmp_path, algorithm):
    def page(*arguments):
        assert main([*map(str, arguments), "--quiet"]) == 0
        [text] = re.findall(r'id="data">(.*?)</script>', arguments[-1].read_text(), re.DOTALL)
        content = json.loads(text)
        edges = sorted((edge["d"], edge["a"], edge["b"]) for edge in content["edges"])
        return dict(content["facts"])["Edges"], edges

    for more in ([], ["--dag"]):
        out, of_learn, of_show = (tmp_path / name for name in ("g.json", "learn.html", "show.html"))
        words, edges = page("learn", csv, "-a", algorithm, *more, "--out", out, "--page", of_learn)
        by_score = "the data decide 2 directions, 1 may point either way"
        by_tests = "3 directed, 0 undirected" if more else "2 directed, 1 undirected"
        assert words == (by_score if algorithm == "f2sl-h" else by_tests)
        for asked in ([], ["--dag"]) if more else ([],):
            assert page("show", out, *asked, "--out", of_show) == (words, edges)
        if not more:
            _, arrows = page("show", out, "--dag", "--out", of_show)
            names, dag = [*"abcdef"], load_graph(out).to_dag()
            assert [(names[a], names[b]) for _, a, b in arrows] == dag.directed_edges


def test_show_draws_no_dag_of_what_is_no_graph(tmp_path, capsys):
    assert main(["show", "asia", "--dag", "--out", str(tmp_path / "p.html")]) == 2
    assert "--dag shows one DAG of a graph; asia holds a BayesianNetwork" in capsys.readouterr().err


def test_python_and_the_shell_save_the_same(csv, tmp_path):
    model, out = api.learn(str(csv)), tmp_path / "graph.json"
    model.graph_.save(tmp_path / "python.json")
    assert main(["learn", str(csv), "--out", str(out), "--quiet"]) == 0
    assert out.read_bytes() == (tmp_path / "python.json").read_bytes()
    assert (load_graph(out), load_graph(out).to_dag()) == (model.graph_, model.dag_)


def test_the_option_for_the_cpdag_is_gone_with_a_hint(csv, capsys):
    assert main(["learn", str(csv), "--cpdag"]) == 2
    told = capsys.readouterr().err
    assert "no such option: --cpdag; f2sl learn saves and shows what the data decide; --dag asks for" in told


def test_what_a_format_cannot_hold_is_told_before_learning(csv, tmp_path, capsys, monkeypatch):
    def learned(*_):
        raise AssertionError("learned")

    monkeypatch.setattr(STRUCTURE.load("mmhc"), "_learn", learned)
    table, out = tmp_path / "table.csv", tmp_path / "g.modelstring"
    table.write_text(csv.read_text().replace("a", "x|y", 1))
    assert main(["learn", str(table), "--out", str(out), "--algorithm", "mmhc"]) == 2
    assert "a model string cannot hold the name 'x|y'" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize(
    "more",
    [("f2sl-c",), ("f2sl-h",), ("f2sl-h", "--skeleton-only"), ("f2sl-c", "--dag"), ("exact",), ("notears",)],
)
def test_formats_of_dags_hold_the_dag(csv, tmp_path, more):
    out, graph = tmp_path / "g.modelstring", tmp_path / "g.json"
    for file in (out, graph):
        assert main(["learn", str(csv), "--out", str(file), "--algorithm", *more]) == 0
    assert isinstance(load_graph(out), DAG)
    assert load_graph(out) == load_graph(graph).to_dag()


def test_a_dag_is_compared_and_saved(csv, tmp_path, capsys):
    out, truth = tmp_path / "graph.dot", tmp_path / "truth.gml"
    DAG([*"abcdef"], [("a", "c"), ("b", "c"), ("f", "e")]).save(truth)
    asked = ["learn", str(csv), "--algorithm", "f2sl-c", "--dag", "--truth", str(truth), "--out", str(out)]
    assert main(asked) == 0
    printed = capsys.readouterr().out
    assert "\nDAG      a consistent extension of the learned graph\n" in printed
    # What nothing else decides points from the earlier name to the later: e -> f.
    assert load_graph(out) == TRUTH
    assert f"\nCompared with {truth}\n" in printed
    # The truth is equivalent: nothing in data can tell the two.
    assert re.search(r"\nSHD +0 ", printed)
    assert re.search(r"\nArrowhead F1 +1\.000 ", printed)
    assert main(["compare", str(out), str(truth), "--convention", "paper"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"\nReversed +1 ", printed)
    assert re.search(r"\nAr_F1 +0\.667 ", printed)


def test_what_cannot_be_extended_is_said(tmp_path, capsys, monkeypatch):
    from f2sl import F2SLc

    square = PDAG([*"abcd"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    monkeypatch.setattr(F2SLc, "_learn", lambda self, fit: square)
    path = write_csv(tmp_path / "t.csv", {name: [0, 1] for name in "abcd"})
    assert main(["learn", str(path), "--algorithm", "f2sl-c", "--dag"]) == 0
    assert "\nDAG      the learned graph has no consistent extension: " in capsys.readouterr().out


def test_what_a_reader_should_know_is_noted(tmp_path, capsys):
    columns = {**small_table(), "g": ["same"] * 400, "h": [i / 2 for i in range(400)]}
    path = write_csv(tmp_path / "t.csv", columns)
    assert main(["learn", str(path), "--bins", "h=4"]) == 0
    printed = capsys.readouterr().out
    assert "8 variables of 1 to 4 states each\n" in printed
    assert re.search(r"\nNote +.*one state.*'g'", printed)
    assert re.search(r"\nNote +.*'h'", printed)


def test_few_samples_are_told(tmp_path, capsys):
    # Collider candidates of 8 states each over 64 rows: far too few for any test of three of them.
    columns = {"a": [i % 8 for i in range(64)], "b": [i // 8 for i in range(64)]}
    columns["c"] = [x if y < 4 else y for x, y in zip(*columns.values(), strict=True)]
    assert main(["learn", str(write_csv(tmp_path / "t.csv", columns)), "--symmetry", "or"]) == 0
    assert re.search(r"\nTests .*; \d+ \(\d+%\) inconclusive\n", capsys.readouterr().out)


def test_only_the_strongest_edges_are_shown(tmp_path, capsys):
    # Twelve pairs of twins, the later ones less alike.
    import random

    draw = random.Random(0)
    columns = {}
    for number in range(12):
        columns[f"left{number}"] = [draw.randrange(2) for _ in range(200)]
        columns[f"right{number}"] = [x ^ (draw.random() < number / 100) for x in columns[f"left{number}"]]
    assert main(["learn", str(write_csv(tmp_path / "t.csv", columns))]) == 0
    summary, edges = capsys.readouterr().out.split("\nThe strongest 10 of 12 edges, by strength\n")
    assert "\nGraph    12 edges" in summary
    strengths = [float(line.split()[3]) for line in edges.splitlines()[1:]]
    assert len(strengths) == 10
    assert strengths == sorted(strengths, reverse=True)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--delimiter", ";"], list("abcdef")),
        (["--delimiter", ";", "--no-header"], [f"x{i}" for i in range(6)]),
    ],
)
def test_how_to_read_can_be_said(tmp_path, capsys, options, names):
    path = write_csv(tmp_path / "t.txt", {k: list(map(str, v)) for k, v in small_table().items()}, ";")
    assert main(["learn", str(path), *options, "-q", "-o", str(tmp_path / "g.json")]) == 0
    assert list(load_graph(tmp_path / "g.json").nodes) == names


def test_missing_values_can_be_a_state(tmp_path, capsys):
    path = write_csv(tmp_path / "t.csv", {**small_table(), "d": ["NA", "x"] * 200})
    assert main(["learn", str(path), "--missing", "state", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["options"]["missing"] == "state"
    assert "missing-state" in [note["kind"] for note in told["notes"]]


def test_ten_runs_give_the_same_bytes(csv, tmp_path):
    outs = [tmp_path / f"graph{run}.json" for run in range(10)]
    arguments = [["learn", str(csv), "--quiet", "--out", str(out)] for out in outs]
    runs = together(partial(learned, *arguments[run], PYTHONHASHSEED=str(run)) for run in range(3))
    assert runs == ["", "", ""]
    for run in range(3, 10):
        assert main(arguments[run]) == 0
    assert len({out.read_bytes() for out in outs}) == 1


@pytest.mark.parametrize("algorithm", ["f2sl-c", "f2sl-s"])
def test_neither_threads_nor_the_order_of_columns_matter(tmp_path, algorithm):
    from f2sl import example_path
    from f2sl.data.files import data_files, read_files

    table, _ = read_files(data_files(example_path("alarm")))
    backwards = tmp_path / "backwards.parquet"
    pq.write_table(table.select(table.column_names[::-1]), backwards)
    one, two, turned = (tmp_path / f"{name}.json" for name in ("one", "two", "turned"))
    for data, out, jobs in (
        (example_path("alarm"), one, 1),
        (example_path("alarm"), two, 2),
        (backwards, turned, 2),
    ):
        assert main(["learn", str(data), "-a", algorithm, "-j", str(jobs), "-q", "-o", str(out)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert load_graph(one) == load_graph(turned)


def test_a_name_with_a_line_break_stays_on_its_line(tmp_path, capsys):
    table = pa.table(small_table()).rename_columns(["a\nb", *"bcdef"])
    pq.write_table(table, tmp_path / "t.parquet")
    assert main(["learn", str(tmp_path / "t.parquet")]) == 0
    assert "\na\\nb -> c " in capsys.readouterr().out


def test_names_that_the_terminal_cannot_show_do_no_harm(tmp_path):
    path = write_csv(tmp_path / "t.csv", {"größe": [0, 1] * 50, "b": [0, 1] * 50})
    assert "gr\\xf6\\xdfe" in learned("learn", path, PYTHONIOENCODING="ascii")


@pytest.mark.parametrize(
    "wrong", [["learn", "--truth", "asia"], ["pc", "--ci-test", "fisher-z", "-a", "mmpc"]]
)
def test_what_was_opened_is_closed_after_an_error(csv, monkeypatch, capsys, wrong):
    closed = []
    monkeypatch.setattr(Table, "close", lambda table: closed.append(table))
    command, *options = wrong
    assert main([command, str(csv), *options, "--quiet"]) == 2
    assert len(closed) == 1


@pytest.mark.parametrize(
    ("command", "made"),
    [(["learn", "-a", "f2sl-c"], 1), (["pc"], 1), (["mb", "a"], 0)],
)
def test_everything_is_checked_once(csv, monkeypatch, capsys, command, made):
    calls = Counter()

    def counted(owner, name):
        function = getattr(owner, name)

        @wraps(function)
        def counting(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    counted(Estimator, "check_options")
    counted(reading, "check_learnable")
    counted(reading, "_opened")
    counted(FCBF, "__init__")
    for module in (api, fitting):
        counted(module, "open_for")
    assert main([command[0], str(csv), *command[1:]]) == 0
    assert capsys.readouterr().err == ""
    once = {"check_options": 1, "open_for": 1, "check_learnable": 1, "_opened": 1}
    assert calls == once | ({"__init__": made} if made else {})


def test_the_graph_is_kept_if_the_page_fails(csv, tmp_path, monkeypatch, capsys):
    def fail(*_, **__):
        raise FileError("no room for the page")

    monkeypatch.setattr("f2sl.cli.learn.save_page", fail)
    out = tmp_path / "graph.json"
    assert main(["learn", str(csv), "--out", str(out), "--page", str(tmp_path / "page.html")]) == 2
    assert "no room for the page" in capsys.readouterr().err
    assert load_graph(out) == GRAPH


@pytest.mark.parametrize(
    ("arguments", "wanted", "python"),
    [
        (("--algorithm", "exact", "--max-exact", "3"), "insist with --force", "force=True"),
    ],
)
def test_messages_speak_the_language_of_the_command_line(
    tmp_path, monkeypatch, capsys, arguments, wanted, python
):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "small.csv", small_table())
    assert main(["learn", "small.csv", *arguments]) == 2
    told = capsys.readouterr().err
    assert wanted in told
    assert python not in told
