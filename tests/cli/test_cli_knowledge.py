"""Knowledge on the command line: in a file, and in words."""

import json
import re

import pytest

from cli_process import f2sl, learned, small_table, write_csv
from f2sl import Knowledge, OptionError, load_graph
from f2sl.cli.app import main
from f2sl.cli.options import parse_knowledge


@pytest.fixture
def csv(tmp_path):
    return write_csv(tmp_path / "small.csv", small_table())


def test_what_is_learned_obeys_and_says_so(csv, tmp_path):
    Knowledge(forbidden_adjacencies=[("a", "c")]).save(tmp_path / "known.toml")
    words = ("--knowledge", "known.toml", "--require", "d -> e", "--tiers", "e,d > f", "--root", "d")
    printed = learned("learn", csv.name, "--algorithm", "f2sl-c", *words, "--out", "g.json", folder=tmp_path)
    assert "required d -> e; forbidden adjacencies a - c; tiers d, e > f; roots d" in printed
    assert "required edges, although the two are not significantly dependent as a pair: 'd' -> 'e'" in printed
    assert re.search(r"^d -> e +-$", printed, re.MULTILINE)
    graph = load_graph(tmp_path / "g.json")
    assert set(graph.directed_edges) == {("d", "e"), ("e", "f")} and graph.undirected_edges == [("b", "c")]
    assert graph.knowledge == Knowledge(
        required=[("d", "e")], forbidden_adjacencies=[("a", "c")], tiers=[["d", "e"], ["f"]], roots=["d"]
    )


def test_json_and_one_target(csv, capsys):
    assert main(["learn", str(csv), "--forbid", "f -> e", "--leaf", "c", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["options"]["knowledge"] == {"forbidden": [["f", "e"]], "leaves": ["c"]}
    assert ["e", "f"] in told["graph"]["directed"]
    for command in ("pc", "mb"):
        assert main([command, str(csv), "a", "--forbid", "a - c", "--require", "a -> b", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["options"]["knowledge"]["required"] == [["a", "b"]]
        assert "b" in [member["name"] for member in told[command]]
    assert main(["pc", str(csv), "a", "--forbid", "a - c"]) == 0
    assert "Knowledge  forbidden adjacencies a - c" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--require", "a - b"), '--require takes an edge, "A -> B"'),
        (("--forbid", "a"), '--forbid takes an edge, "A -> B" or "A - B"'),
        (("--tiers", "a,,b > c"), "--tiers takes names"),
        (("--tiers", "a,b"), "quote it, because the shell reads > as a file"),  # of --tiers a,b > c
        (("--require", "aa -> b"), "prior knowledge: unknown names 'aa' (did you mean 'a'?)"),
        (("--require", "a -> b", "--root", "b"), "'a' -> 'b' is both required and forbidden"),
        (("--require", "a -> b", "--require", "b -> a"), "cycle: 'a' -> 'b' -> 'a'"),
        (("--knowledge", "none.toml"), "none.toml: No such file"),
        (("--tiers", "a > a"), "twice"),
    ],
)
def test_what_makes_no_sense(csv, tmp_path, words, told):
    done = f2sl("learn", csv.name, *words, folder=tmp_path)
    assert done.returncode == 2 or "none.toml" in told
    assert done.returncode and told in done.stderr and done.stderr.count("\n") == 1


def test_all_flags_at_fault_are_told_at_once():
    with pytest.raises(OptionError) as error:
        parse_knowledge(require=["a - b", "c"], forbid=["d"], tiers="a,,b")
    told = str(error.value)
    assert [told.count(flag) for flag in ("--require takes", "--forbid takes", "--tiers takes")] == [2, 1, 1]


def test_edges_need_blanks_only_where_names_may_have_the_mark_in_them():
    found = parse_knowledge(require=["a->b", "x->y -> z"], forbid=["c->d", "a-d", "follow-up - a"])
    assert found.required == (("a", "b"), ("x->y", "z"))
    assert found.forbidden == (("c", "d"),)
    assert found.forbidden_adjacencies == (("a", "d"), ("a", "follow-up"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"forbid": ["a-"]}, """not 'a-'; quote it: "A -> B" (the shell reads > as a file)"""),
        ({"require": ["a-"]}, """not 'a-'; quote it: "A -> B" (the shell reads > as a file)"""),
        ({"forbid": ["a-b-c"]}, "not 'a-b-c', with spaces around the - between the two names"),
        ({"require": ["a->b->c"]}, "not 'a->b->c', with spaces around the -> between the two names"),
    ],
)
def test_edges_that_could_be_several_or_were_cut_by_the_shell(words, told):
    with pytest.raises(OptionError, match=re.escape(told)):
        parse_knowledge(**words)


def test_a_column_that_was_left_out_is_named_with_the_reason(tmp_path, capsys):
    weather = ["sun", "rain", "snow"] * 20
    wind = ["weak", "strong", "none", "weak"] * 15
    path = write_csv(tmp_path / "weather.csv", {"nr": range(1, 61), "weather": weather, "wind": wind})
    why = "column 'nr': left out: it counts the rows, like an identifier; keep with --keep nr"
    for arguments, said in (
        (["why", str(path), "nr", "wind"], f"unknown variable 'nr'; {why}. Known: weather, wind"),
        (["pc", str(path), "nr"], f"unknown column 'nr'; {why}. Known: weather, wind"),
        (["learn", str(path), "--forbid", "nr - wind"], f"prior knowledge: 'nr' is no variable; {why}"),
    ):
        assert main(arguments) == 2
        assert capsys.readouterr().err == f"f2sl: error: {said}\n"
