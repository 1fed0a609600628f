"""The other commands: ``pc``, ``compare``, ``algorithms``, ``example``, and the help of all."""

import json
import os
import re
import sys
import sysconfig
from pathlib import Path

import pytest

import f2sl as package
from cli_process import MODULE, f2sl, learned, small_table, write_csv
from f2sl import DAG, PDAG, load_graph
from f2sl._options import CATALOGUE, PURPOSES
from f2sl.cli.app import main
from f2sl.cli.options import FLAGS
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
from f2sl.stats.registries import CI_TESTS, MEASURES, SCORES
from marks import posix_only

NAMED = {"--ci-test": CI_TESTS, "--score": SCORES, "--measure": MEASURES}
COMMANDS = (
    "learn",
    "bootstrap",
    "pc",
    "mb",
    "compare",
    "show",
    "why",
    "fit",
    "query",
    "predict",
    "algorithms",
    "example",
    "networks",
    "sample",
)


@pytest.fixture
def csv(tmp_path):
    return write_csv(tmp_path / "small.csv", small_table())


@pytest.fixture
def graphs(tmp_path):
    DAG([*"abcd"], [("a", "b"), ("b", "c"), ("c", "d")]).save(tmp_path / "truth.json")
    PDAG([*"abcd"], [("a", "b"), ("c", "b")], [("a", "d")]).save(tmp_path / "graph.dot")
    return tmp_path / "graph.dot", tmp_path / "truth.json"


def test_pc_lists_neighbors_with_their_strengths(csv):
    assert learned("pc", csv, "c") == (
        "c: 2 neighbors by fcbf\nname       SU\na      0.3437\nb      0.3437\n"
    )


def test_pc_as_json(csv):
    told = json.loads(learned("pc", csv, "e", "--json", "--algorithm", "fcbf", "--delta", "0.1"))
    assert told == {
        "target": "e",
        "algorithm": "fcbf",
        "options": {"delta": 0.1, "ties": "drop", "measure": "su", "knowledge": None},
        "rows": 400,
        "complete": True,
        "notes": [],
        "tests": 0,
        "inconclusive": 0,
        "pc": [{"name": "f", "strength": pytest.approx(0.2781, abs=5e-5)}],
        "separating_sets": {},
    }


def test_relevance_by_significance(csv, capsys):
    told = json.loads(learned("pc", csv, "e", "--json", "--delta", "auto"))
    assert told["options"]["delta"] == "auto"
    assert told["pc"][0] == {"name": "f", "strength": pytest.approx(0.2781, abs=5e-5)}
    assert "by fcbf --delta auto\n" in learned("pc", csv, "e", "--delta", "auto")
    assert (
        json.loads(learned("learn", csv, "-a", "f2sl-c", "--json", "--delta", "auto"))["options"]["delta"]
        == "auto"
    )
    assert main(["pc", str(csv), "e", "--delta", "some"]) == 2
    assert "--delta must be a number of 0 or more, or 'auto', not 'some'" in capsys.readouterr().err


def test_tests_and_what_they_separated(csv):
    told = json.loads(learned("pc", csv, "c", "--json", "--algorithm", "mmpc"))
    assert told["tests"] > told["inconclusive"] == 0
    assert told["separating_sets"]["e"] == []
    assert f"{told['tests']} independence tests" in learned("pc", csv, "c", "--algorithm", "mmpc")


def test_options_of_the_learner_within(csv, capsys):
    composed = ["learn", str(csv), "--algorithm", "local-to-global", "--json"]
    assert main([*composed, "--pc", "mrmr", "--k", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["options"]["pc_options"] == {"k": 2}
    assert main([*composed, "--pc", "mrmr", "--delta", "0.1"]) == 2
    told = capsys.readouterr().err
    assert "local-to-global has no option --delta; it belongs to f2sl-c, f2sl-s" in told


@pytest.mark.parametrize("command", ["pc", "mb"])
def test_all_variables_without_a_target(csv, command):
    lines = learned(command, csv).splitlines()
    assert lines[0].startswith("6 variables by ")
    assert [line.split()[0] for line in lines[2:]] == [*"abcdef"]
    told = json.loads(learned(command, csv, "--json"))
    one = json.loads(learned(command, csv, "c", "--json"))
    assert told["target"] is None
    assert told[command]["c"] == one[command]
    assert told["separating_sets"]["c"] == one["separating_sets"]


def test_columns_can_be_left_out_and_notes_are_told(tmp_path, capsys):
    columns = {**small_table(), "id": [f"row {i}" for i in range(400)], "same": ["x"] * 400}
    path = str(write_csv(tmp_path / "t.csv", columns))
    assert main(["pc", path, "e"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"Note +column 'id': left out: .*identifier.*--keep id", told)
    assert re.search(r"Note +.*one state.*'same'", told)
    assert main(["pc", path, "e", "--drop", "id", "--drop", "same"]) == 0
    assert not re.search("left out|one state", capsys.readouterr().out)
    assert main(["learn", path, "--drop", "id", "--drop", "same", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["variables"] == 6
    assert main(["learn", path, "--drop", "ID"]) == 2
    assert "did you mean 'id'" in capsys.readouterr().err


def test_a_picture_is_drawn(csv, tmp_path, capsys):
    path = tmp_path / "graph.svg"
    assert main(["learn", str(csv), "--plot", str(path)]) == 0
    assert re.search(r"\nDrawn +.*graph.svg\n", capsys.readouterr().out)
    assert path.read_text().startswith("<svg ")
    for bad in (tmp_path / "graph.bmp", tmp_path / "nowhere" / "graph.svg"):
        assert main(["learn", "no such table.csv", "--plot", str(bad)]) == 2
        assert bad.name in capsys.readouterr().err


def test_pc_of_a_variable_that_stands_alone(csv, capsys):
    assert main(["pc", str(csv), "d"]) == 0
    assert capsys.readouterr().out.rstrip("\n").endswith("d: 0 neighbors by fcbf")


def test_pc_by_another_algorithm(csv, capsys):
    assert main(["pc", str(csv), "c", "-a", "mrmr", "--k", "1", "--jobs", "1"]) == 0
    assert "c: 1 neighbor by mrmr --k 1\n" in capsys.readouterr().out


def test_pc_by_independence_tests(csv):
    table = small_table()
    told = json.loads(learned("pc", csv, "c", "--json", "--algorithm", "mmpc", "--alpha", "0.05"))
    found = package.learn_pc(table, "c", algorithm="mmpc", alpha=0.05)
    assert (told["target"], told["algorithm"], told["options"]["alpha"]) == ("c", "mmpc", 0.05)
    assert told["pc"] == [{"name": n, "strength": s} for n, s in found.items()]


def test_mb_lists_the_blanket(csv):
    found = package.learn_mb(small_table(), "c", algorithm="gsmb")
    lines = learned("mb", csv, "c", "--algorithm", "gsmb").splitlines()
    assert lines[0].startswith(f"c: {len(found)} members by gsmb; ")
    assert [line.split() for line in lines[2:]] == [[n, f"{s:.4f}"] for n, s in found.items()]


def test_mb_as_json(csv):
    told = json.loads(learned("mb", csv, "c", "--json"))
    found = package.learn_mb(small_table(), "c")
    assert (told["target"], told["algorithm"]) == ("c", "iamb")
    assert told["mb"] == [{"name": n, "strength": s} for n, s in found.items()]


COUNTS = ("SHD", "Reversed", "Missing", "Extra", "Directed in one")


def values_of(printed):
    return dict(re.findall(r"^(\w+(?: \w+)*?) +([\d.]+)  ", printed, re.MULTILINE))


def test_compare_shows_how_far_the_classes_are_apart(graphs):
    # The truth is a path, which nothing directs. Learned are a -> b <- c and a - d, and not c - d.
    printed = learned("compare", *graphs)
    assert printed.startswith(f"{graphs[0]} compared with {graphs[1]}\n")
    values = values_of(printed)
    assert [values[name] for name in COUNTS] == ["4", "0", "1", "1", "2"]
    assert (values["Adjacency F1"], values["Arrowhead F1"]) == ("0.667", "0.000")


def test_compare_counts_as_the_paper_if_asked_to(graphs):
    # b -> c is reversed, c -> d missed, a - d extra, a -> b right.
    values = values_of(learned("compare", *graphs, "--convention", "paper"))
    assert [values[name] for name in COUNTS] == ["3", "1", "1", "1", "0"]
    assert values["Ar_F1"] == "0.333"


@pytest.mark.parametrize("convention", ["cpdag", "paper"])
def test_compare_as_json(graphs, convention):
    told = json.loads(learned("compare", *graphs, "--json", "--convention", convention))
    truth, found = load_graph(graphs[1]), load_graph(graphs[0])
    assert told == package.compare(truth, found, convention=convention).as_dict()
    assert (told["learned_edges"], told["miss"]) == (3, 1)


def test_compare_refuses_another_convention(graphs, capsys):
    assert main(["compare", *map(str, graphs), "--convention", "dag"]) == 2
    assert "--convention must be 'cpdag' or 'paper', not 'dag'" in capsys.readouterr().err


def test_the_help_of_compare_lists_the_conventions(capsys):
    assert main(["compare", "--help"]) == 0
    assert "--convention cpdag|paper" in capsys.readouterr().out


def test_compare_takes_networks_by_name_and_from_bif_files(tmp_path, capsys):
    network = package.load_network("asia")
    network.graph.save(tmp_path / "graph.json")
    network.save(tmp_path / "asia.bif")
    graph, bif = str(tmp_path / "graph.json"), str(tmp_path / "asia.bif")
    for learned_graph, truth in ((graph, "asia"), (graph, bif), (bif, graph), ("asia", bif)):
        assert main(["compare", learned_graph, truth, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["shd"], told["correct"]) == (0, 8)
    assert main(["compare", graph, "azia"]) == 2
    assert "unknown network 'azia'; did you mean 'asia'?" in capsys.readouterr().err


def test_algorithms_are_listed_with_their_options():
    printed = learned("algorithms")
    for registry in (STRUCTURE, LOCAL, MARKOV_BLANKET):
        for entry in registry:
            assert re.search(rf"^{re.escape(entry.name)} ", printed, re.MULTILINE)
            assert entry.reference in printed
    for option in (
        "--delta=0.05",
        "--alpha=0.01",
        "--max-cond-vars=3",
        "--equivalent-sample-size=10.0",
        "--k=5",
    ):
        assert option in printed


def test_algorithms_as_json():
    told = json.loads(learned("algorithms", "--json"))
    assert [entry["name"] for entry in told["structure"]] == [entry.name for entry in STRUCTURE]
    assert [entry["name"] for entry in told["pc"]] == [entry.name for entry in LOCAL]
    assert [entry["name"] for entry in told["mb"]] == [entry.name for entry in MARKOV_BLANKET]
    alpha = {"name": "alpha", "flag": "--alpha", "default": 0.01, "choices": None}
    assert alpha in told["structure"][0]["options"]
    assert all(set(entry) == {"name", "summary", "reference", "options"} for entry in told["structure"])


@pytest.mark.parametrize(
    ("command", "registry"),
    [("learn", STRUCTURE), ("bootstrap", STRUCTURE), ("pc", LOCAL), ("mb", MARKOV_BLANKET)],
)
def test_every_option_of_every_learner_can_be_given(command, registry):
    for entry in registry:
        for name in registry.load(entry.name).option_defaults():
            if name in ("verbose", "local", "pc_options"):
                continue  # the command line shows progress by itself; objects and dictionaries are for Python
            assert name in FLAGS, f"{entry.name} has an option {name} without a flag"
            assert name == "n_jobs" or command in CATALOGUE[name].commands


def test_an_example_is_written_with_its_truth(tmp_path):
    out, truth = tmp_path / "asia.csv", tmp_path / "truth.json"
    printed = learned("example", "asia", "--out", out, "--truth", truth)
    assert printed == f"wrote {out}: the table, 8 variables\nwrote {truth}: the true graph, 8 edges\n"
    assert load_graph(truth) == package.load_example_graph("asia")
    lines = out.read_text().splitlines()
    assert lines[0] == "asia,bronc,dysp,either,lung,smoke,tub,xray"
    assert len(lines) == 5001


def test_version_and_module():
    assert learned("--version") == learned("--version", command=MODULE) == f"f2sl {package.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command, capsys):
    assert main([command, "--help"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"Usage: f2sl {command} ")
    examples = re.findall(r"^    (f2sl .*)$", printed.partition("Examples:\n")[2], re.MULTILINE)
    assert examples
    assert all(example.startswith(f"f2sl {command}") for example in examples)


def test_the_help_lists_all_commands():
    printed = learned("--help")
    assert printed == learned() == learned("-h")
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[A-Z][^.]+\.$", printed, re.MULTILINE)


@pytest.fixture(scope="module")
def without_paper(tmp_path_factory):
    """Return how to run f2sl beside all installed packages but f2sl-paper."""
    folder = tmp_path_factory.mktemp("site")
    for place in Path(sysconfig.get_path("purelib")).iterdir():
        if "f2sl" not in place.name:
            (folder / place.name).symlink_to(place)
    path = os.pathsep.join([str(Path(package.__file__).parents[1]), str(folder)])
    return {"command": (sys.executable, "-S", "-m", "f2sl"), "PYTHONPATH": path}


@posix_only
def test_a_command_of_another_package_says_what_to_install(without_paper):
    for command in ("reproduce", "report"):
        done = f2sl(command, "results", **without_paper)
        told = f"f2sl: error: f2sl {command} needs f2sl-paper: pip install f2sl-paper\n"
        assert (done.stderr, done.stdout, done.returncode) == (told, "", 2)
    listed = re.findall(r"^  (\w+) +[A-Z]", learned("--help", **without_paper), re.MULTILINE)
    assert "sample" in listed
    assert not {"reproduce", "report"}.intersection(listed)


def test_groups_of_options_stand_under_their_headings(capsys):
    assert main(["learn", "-h"]) == 0
    printed = capsys.readouterr().out
    headings = re.findall(r"^(\w[\w ]*):$", printed, re.MULTILINE)
    assert headings[:4] == ["Arguments", "Learning", "Reading the table", "Output"]
    assert [heading for heading in headings if heading in PURPOSES] == [
        "Learning",
        *(heading for heading in PURPOSES if heading not in ("Learning", "Knowledge of edges")),
    ]
    tests = printed[printed.index("Independence tests:") : printed.index("Edges and directions:")]
    assert re.findall("--[a-z-]+", tests) == ["--alpha", "--ci-test", "--max-cond-vars", "--max-left-out"]
    for words in ("--symmetry and|or", "--constraint expm|logdet", "--missing available|state|drop|error"):
        assert words in printed


@pytest.mark.parametrize(
    ("command", "option", "registry"),
    [
        ("learn", "--algorithm", STRUCTURE),
        ("why", "--algorithm", STRUCTURE),
        ("bootstrap", "--algorithm", STRUCTURE),
        ("pc", "--algorithm", LOCAL),
        ("mb", "--algorithm", MARKOV_BLANKET),
        ("learn", "--pc", LOCAL),
        *(("learn", flag, registry) for flag, registry in NAMED.items()),
    ],
)
def test_the_help_lists_the_names_that_options_take(capsys, command, option, registry):
    assert main([command, "--help"]) == 0
    printed = re.sub(r"-\n +", "-", capsys.readouterr().out)
    words = re.search(rf"{option} NAME .*?\[one\s+of\s+(.*?)\]", printed, re.DOTALL)[1]
    listed = re.split(r",\s+", words)
    assert sorted(listed) == sorted([entry.name for entry in registry] + ["auto"] * (option in NAMED))


def test_choices_are_those_of_the_learner(capsys):
    """Searches for best networks take two scores, and learners of one variable another symmetry."""
    for name, option, choices in (("exact", "--score", "bdeu, bic"), ("mmpc", "--symmetry", "and, none")):
        assert main(["algorithms", name]) == 0
        assert re.search(rf"^{option} +\w+ +{choices} ", capsys.readouterr().out, re.MULTILINE)


def test_every_option_has_one_purpose():
    listed = [option.name for options in PURPOSES.values() for option in options]
    assert sorted(listed) == sorted(CATALOGUE)


def test_one_algorithm_is_shown_with_its_options(capsys):
    assert main(["algorithms", "mmhc"]) == 0
    printed = capsys.readouterr().out
    assert "f2sl learn DATA --algorithm mmhc\n" in printed
    assert re.search("^--symmetry +and +and, or +Keep an edge if both ends", printed, re.MULTILINE)
    assert re.search(
        "^--ci-test +auto +auto, g2, x2, fisher-z, dg, cg +Independence test", printed, re.MULTILINE
    )
    assert re.search("^--knowledge +none +File with prior knowledge about edges", printed, re.MULTILINE)
    assert "--delta" not in printed
    assert main(["algorithms", "iamb", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["structure"], told["pc"], [one["name"] for one in told["mb"]]) == ([], [], ["iamb"])
    assert main(["algorithms", "mmhq"]) == 2
    assert "unknown algorithm 'mmhq'; did you mean 'mmhc'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["lern", "x"],
            "unknown command 'lern'; did you mean 'learn'? Known: learn, bootstrap, pc, mb, check, compare,",
        ),
        (["learn"], "missing argument 'DATA'; see f2sl learn --help"),
        (["compare", "graph.json"], "missing argument 'TRUTH'; see f2sl compare --help"),
        (["learn", "x.csv", "--alfa", "1"], "no such option: --alfa (Possible options: --alpha"),
        (["learn", "x.csv", "y.csv"], "got unexpected extra argument"),
        (["learn", "x.csv", "--jobs"], "option '--jobs' requires an argument"),
        (["learn", "x.csv", "--jobs", "two"], "--jobs must be a whole number other than 0"),
        (["--nix"], "no such option: --nix"),
        (["example", "azia"], "unknown example 'azia'; did you mean 'asia'? Known: alarm, asia"),
        (["example", "asia"], "nothing to write: give --out FILE.csv"),
    ],
)
def test_wrong_usage_is_one_line(arguments, told):
    done = f2sl(*arguments)
    assert done.stderr.startswith(f"f2sl: error: {told}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert done.returncode == 2
