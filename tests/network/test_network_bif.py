"""BIF files: all dialects, round trips, and what is wrong told with its line."""

import gzip
import lzma
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import f2sl
from f2sl import BayesianNetwork, F2SLError, FileError
from f2sl.errors import shown, shown_list, unknown_name
from f2sl.graph.formats.tokens import Tokens, unquoted
from f2sl.network.formats.bif_file import _BETWEEN, _TOKEN, read_bif, write_bif, written
from naive_network import SPRINKLER
from network_tools import build

PLAIN = """\
network unknown {
}
variable wet {
  type discrete [ 3 ] { dry, damp, soaked };
}
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable sprinkler {
  type discrete [ 2 ] { on, off };
}
probability ( wet | rain, sprinkler ) {
  (yes, on) 0.0, 0.125, 0.875;
  (no, on) 0.25, 0.5, 0.25;
  (yes, off) 0.125, 0.25, 0.625;
  (no, off) 1.0, 0.0, 0.0;
}
probability ( rain ) {
  table 0.25, 0.75;
}
probability ( sprinkler | rain ) {
  (yes) 0.0625, 0.9375;
  (no) 0.5, 0.5;
}
"""

DIALECTS = {
    "plain": PLAIN,
    "windows": PLAIN.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + PLAIN,
    "no network block": PLAIN.split("}\n", 1)[1],
    # Cozman's interchange format, as JavaBayes writes it: strings, no commas, no bar, whole tables.
    "javabayes": """
// Bayesian network
network "Lawn" { //3 variables
  property "version 0.1; of (the) {lawn}" ;
}
variable  "wet" { //3 values
  type discrete[3] {  "dry"  "damp"  "soaked" };
  property "position = (73, 165)" ;
}
variable  "rain" { type discrete[2] { "yes" "no" }; }
variable  "sprinkler" { type discrete[2] { "on" "off" }; }
probability (  "wet"  "rain"  "sprinkler" ) { //3 variables, 12 values
  table 0.0 0.125 0.25 1.0   /* dry: yes on, yes off, no on, no off */
        0.125 0.25 0.5 0.0
        0.875 0.625 0.25 0.0 ;
}
probability (  "rain" ) { table 0.25 0.75 ; }
probability (  "sprinkler"  "rain" ) { table 0.0625 0.5 0.9375 0.5 ; }
""",
    "pyagrum": """
network "anonymousBN" {
// written by aGrUM
}

variable wet {
   type discrete[3] {dry, damp, soaked};
}
variable rain {
   type discrete[2] {yes, no};
}
variable sprinkler {
   type discrete[2] {on, off};
}

probability (wet | rain, sprinkler) {
   (yes, on) 0 0.125 0.875;
   (no, on) 0.25 0.5 0.25;
   (yes, off) 0.125 0.25 0.625;
   (no, off) 1 0 0;
}
probability (rain) {
   default 0.25 0.75;
}
probability (sprinkler | rain) {
   (yes) 0.0625 0.9375;
   (no) 0.5 0.5;
}
""",
    "default row, properties, any order": """
/* probabilities
   first */
probability(sprinkler|rain){property weight = 3;(yes)6.25e-2,.9375;default 5E-1,0.5;}
probability(wet|rain,sprinkler){
  default 1 0 0; // the lawn is dry
  (yes,on) 0. .125 .875;
  (no,on) +.25,.5,.25;property a b c;
  (yes,off) 0.125, 0.25, 0.625; }
probability(rain){table .25,.75;}
VARIABLE wet{TYPE DISCRETE[3]{dry damp soaked}}
Variable rain{property x;type discrete{yes,no};property "y;";}
variable sprinkler{type discrete[2]{on,off};property p = {1,{2,3}};}
property q = {};
Network late{property;}
""",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_as_the_same_network(dialect, tmp_path):
    path = tmp_path / "lawn.bif"
    path.write_bytes(DIALECTS[dialect].encode())
    assert f2sl.load_network(path) == build(SPRINKLER)


def test_the_name_of_the_network_is_kept(tmp_path):
    (tmp_path / "lawn.bif").write_text(DIALECTS["javabayes"])
    assert f2sl.load_network(tmp_path / "lawn.bif").name == "Lawn"


@pytest.mark.parametrize("suffix", [".bif", ".bif.gz", ".bif.xz", ".BIF.GZ"])
def test_what_was_saved_is_read_back(tmp_path, suffix):
    network, path = build(SPRINKLER, "lawn"), tmp_path / f"lawn{suffix}"
    network.save(path)
    first = path.read_bytes()
    assert f2sl.load_network(str(path)) == network
    assert f2sl.load_network(path).name == "lawn"
    network.save(path)
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_file_is_packed_as_its_bytes_say(tmp_path):
    (tmp_path / "lawn.bif").write_bytes(gzip.compress(PLAIN.encode()))
    assert f2sl.load_network(tmp_path / "lawn.bif") == build(SPRINKLER)


texts = st.text(
    st.characters(codec="utf-8") | st.sampled_from('"\\/*|,;{}[]() \t\r\n//-.<>%_'), min_size=1, max_size=8
)


@st.composite
def networks(draw):
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    states = {
        name: draw(st.lists(texts | st.just(""), min_size=1, max_size=3, unique=True)) for name in names
    }
    parents = {
        name: draw(st.permutations(names[:i]).map(lambda listed: listed[:2])) for i, name in enumerate(names)
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {}
    for name in names:
        table = rng.random([len(states[p]) for p in (*parents[name], name)])
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    graph = f2sl.DAG(names, [(p, name) for name in names for p in parents[name]])
    return BayesianNetwork(graph, states, tables, parents=parents, name=draw(texts))


@given(networks())
def test_round_trip_with_nasty_names(tmp_path_factory, network):
    path = tmp_path_factory.mktemp("bif") / "x.bif"
    network.save(path)
    back = f2sl.load_network(path)
    assert back == network
    assert back.name == network.name


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_name_is_one_token(name):
    tokens = Tokens(f" {written(name)} ", _BETWEEN, _TOKEN)
    assert [unquoted(token) for token in tokens.texts] == [name, ""]


def changed(old, new):
    assert PLAIN.count(old) == 1
    return PLAIN.replace(old, new)


BAD = {
    "unknown parent": (changed("( sprinkler | rain )", "( sprinkler | rein )"), 21, "unknown parent 'rein'"),
    "unknown child": (changed("( rain )", "( rein )"), 6, "'rain' has no probability block"),
    "block of nothing": (PLAIN + "probability ( snow ) { table 1; }", 25, "unknown variable 'snow'"),
    "variable twice": (
        PLAIN + "variable rain { type discrete [ 1 ] { a }; }",
        25,
        "'rain' is declared twice, first on line 6",
    ),
    "block twice": (PLAIN + "probability ( rain ) { table 1, 0; }", 25, "the first is on line 18"),
    "parent twice": (changed("| rain, sprinkler", "| rain, rain"), 12, "the parent 'rain' twice"),
    "own parent": (changed("( sprinkler | rain )", "( sprinkler | sprinkler )"), 21, "is its own parent"),
    "cycle": (
        changed("( rain ) {\n  table 0.25, 0.75", "( rain | wet ) {\n  default 0.25, 0.75"),
        18,
        "cycle: 'wet' -> 'rain' -> 'wet'",
    ),
    "state twice": (changed("{ on, off }", "{ on, on }"), 10, "the state 'on' twice"),
    "wrong number of states": (changed("[ 3 ]", "[ 4 ]"), 4, "3 states where 4 are announced"),
    "no states": (changed("[ 2 ] { yes, no }", "{ }"), 7, "has no states"),
    "no type": (changed("  type discrete [ 2 ] { yes, no };\n", ""), 6, "has no type"),
    "not discrete": (changed("discrete [ 3 ]", "continuous [ 3 ]"), 4, "expected 'discrete'"),
    "short row": (changed("0.0, 0.125, 0.875", "0.0, 1.0"), 13, "3 states, but 2 probabilities"),
    "long table": (changed("0.25, 0.75", "0.25, 0.5, 0.25"), 19, "has 3 numbers, not 2"),
    "wrong whole table": (
        changed("  (yes) 0.0625, 0.9375;\n  (no) 0.5, 0.5;", "\n  table 0.5, 0.5, 0.5;"),
        23,
        r"has 3 numbers, not 4 \(2 x 2\)",
    ),
    "sum too small": (changed("0.0625, 0.9375", "0.0625, 0.9373"), 22, "sum to 0.9998, not to 1"),
    "sum too large": (changed("table 0.25, 0.75", "table 0.25, 0.7502"), 19, "sum to 1.0002, not to 1"),
    "sum of a whole table": (
        changed("  (yes) 0.0625, 0.9375;\n  (no) 0.5, 0.5;", "  table 0.1, 0.9, 0.2, 0.8;"),
        22,
        "sum to 0.3, not to 1",
    ),
    "negative": (changed("0.0625, 0.9375", "-0.5, 1.5"), 22, "not between 0 and 1"),
    "not a number": (changed("0.0625, 0.9375", "nan, 1"), 22, "not between 0 and 1"),
    "infinite": (changed("0.0625, 0.9375", "0, inf"), 22, "sum to inf"),
    "a word": (changed("0.0625, 0.9375", "0.0625, most"), 22, "expected a number or ';'.* found 'most'"),
    "a number of Python's": (changed("0.0625, 0.9375", "0_0, 1"), 22, "found '0_0'"),
    "no numbers": (changed("(yes) 0.0625, 0.9375", "(yes)"), 22, "expected a number"),
    "row twice": (changed("(no) 0.5", "(yes) 0.5"), 23, r"a second row \(yes\)"),
    "row missing": (
        changed("  (no) 0.5, 0.5;\n", ""),
        21,
        r"'sprinkler' has no probabilities for the parents \(no\)",
    ),
    "empty block": (changed("  table 0.25, 0.75;\n", ""), 18, "has no probabilities at all"),
    "unknown state": (changed("(no) 0.5", "(maybe) 0.5"), 23, "unknown state of 'rain' 'maybe'"),
    "row too long": (changed("(no) 0.5", "(no, no) 0.5"), 23, "names 2 states, but there are 1 parents"),
    "table twice": (changed("0.25, 0.75;", "1, 0;\n table 1, 0;"), 20, "a second 'table'"),
    "table and rows": (changed("(yes) 0.0625", "table 1 0 0 1; (yes) 0.0625"), 22, "both a table and"),
    "no semicolon": (changed("0.25, 0.75;", "0.25, 0.75"), 20, "expected a number or ';'"),
    "open property": (
        changed("network unknown {\n", "network unknown {\n property x "),
        2,
        "a property without ';'",
    ),
    "open property before a block": ("property x\n" + PLAIN, 1, "a property without ';'"),
    "open property at the end": (PLAIN + "property x", 25, "a property without ';'"),
    "open braces in a property": (PLAIN + "property x = {1,2;", 25, "a property without ';'"),
    "unused default": (changed("  (no) 0.5, 0.5;", "  (no) 0.5, 0.5; default 5 5;"), 23, "sum to 10, not"),
    "unused default, negative": (changed("(no) 0.5, 0.5;", "(no) 0.5, 0.5;default -1 2;"), 23, "not between"),
    "open string": (changed("{ on, off }", '{ on, "off }'), 10, "a string that is not closed"),
    "open comment": (PLAIN + "\n/* and so on", 26, "a comment that is not closed"),
    "junk": (PLAIN + "}", 25, "expected 'network', 'variable' or 'probability', found '}'"),
    "two networks": (PLAIN + "network x { }", 25, "a second network block"),
    "empty": ("", 1, "the file has no variables"),
    "only comments": ("// nothing\n/* at all */\n", 3, "the file has no variables"),
    "empty name": (PLAIN + 'variable "" { type discrete [ 1 ] { a }; }', 25, "an empty name"),
    "prose": ("This is not a network.\n", 1, "expected 'network', 'variable' or 'probability', found 'This'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_told_with_its_line(case, tmp_path):
    text, line, problem = BAD[case]
    path = tmp_path / "bad.bif"
    path.write_text(text)
    with pytest.raises(FileError, match=rf"bad\.bif, line {line}: .*{problem}"):
        f2sl.load_network(path)


@pytest.mark.parametrize("case", BAD)
def test_messages_do_not_grow_with_the_names_in_a_file(case, tmp_path):
    text, line, _ = BAD[case]
    for word in ("rain", "rein", "sprinkler", "snow", "maybe", "yes", "on", "no", "off"):
        text = re.sub(rf"\b{word}\b", word * 5_000, text)
    (tmp_path / "long.bif").write_text(text)
    with pytest.raises(FileError, match=rf"long\.bif, line {line}: ") as error:
        f2sl.load_network(tmp_path / "long.bif")
    assert len(str(error.value).removeprefix(str(tmp_path))) < 1000


def test_sums_within_a_ten_thousandth_are_rounding(tmp_path):
    path = tmp_path / "rounded.bif"
    path.write_text(changed("0.0625, 0.9375", "0.0625, 0.9374"))
    assert f2sl.load_network(path).tables["sprinkler"][0].tolist() == [0.0625, 0.9374]


def test_a_file_cut_anywhere_is_refused_with_a_line(tmp_path):
    path = tmp_path / "cut.bif"
    for end in range(len(PLAIN.rstrip())):
        path.write_text(PLAIN[:end])
        with pytest.raises(FileError, match=r"cut\.bif, line \d+: "):
            f2sl.load_network(path)


@given(st.text(st.sampled_from('{}[]();",|/*\n ab0.5'), max_size=60), st.integers(0, len(PLAIN)))
def test_garbage_ends_in_an_error_of_ours_or_a_network(tmp_path_factory, garbage, position):
    path = tmp_path_factory.getbasetemp() / "garbage.bif"
    path.write_text(PLAIN[:position] + garbage + PLAIN[position:])
    try:
        assert isinstance(f2sl.load_network(path), BayesianNetwork)
    except F2SLError as error:
        assert "line" in str(error)


MUCH = 500_000


@pytest.mark.parametrize(
    "text",
    [
        "{" * MUCH,
        "network x {" + "{" * MUCH,
        "network x " + "{}" * (MUCH // 2),
        "variable x { type discrete [ 1 ] {" + "{" * MUCH,
        "(" * MUCH,
        '"' + '\\"' * (MUCH // 2),
        "/*" * (MUCH // 2),
        "/a" * (MUCH // 2),
        "a" * MUCH,
        "\n" * MUCH,
        "network x { property " + "a " * (MUCH // 2),
        "network x {" + "property a;" * (MUCH // 11),
        "variable x { type discrete { a }; } probability ( x ) { table " + "1 " * (MUCH // 2),
    ],
    ids=lambda text: text[:24].strip(),
)
def test_much_nonsense_is_refused(text, tmp_path):
    # Anything quadratic would take hours.
    path = tmp_path / "long.bif"
    path.write_text(text)
    with pytest.raises(FileError, match=r"long\.bif, line \d+: ") as error:
        f2sl.load_network(path)
    assert len(str(error.value)) < 1000


def wide(parents, blocks=1):
    """A file in which some variables have many parents, and a default for all their configurations."""
    roots, children = [f"x{i}" for i in range(parents)], [f"y{i}" for i in range(blocks)]
    return "".join(
        [
            *(f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for name in roots + children),
            *(f"probability ( {name} ) {{ table 0.5 0.5; }}\n" for name in roots),
            *(f"probability ( {name} | {' '.join(roots)} ) {{ default 0.5 0.5; }}\n" for name in children),
        ]
    )


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (wide(30), 62, "the table of 'y0' has 2,147,483,648 cells; at most 4,194,304 are possible"),
        (wide(32), 66, "'y0' has 32 parents; at most 31 are possible"),
        (wide(20, blocks=3), 46, "the tables with a default have more than 4,194,304 cells together"),
    ],
    ids=["cells", "parents", "together"],
)
def test_few_lines_cannot_ask_for_all_memory(text, line, problem, tmp_path):
    path = tmp_path / "wide.bif"
    path.write_text(text)
    with pytest.raises(FileError, match=rf"line {line}: {problem}"):
        f2sl.load_network(path)


def test_a_default_takes_little_more_memory_than_its_table(tmp_path):
    path = tmp_path / "wide.bif"
    path.write_text(wide(19))
    tracemalloc.start()
    try:
        network = f2sl.load_network(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert network.tables["y0"].nbytes == 2**20 * 8
    # One table, and the sums of its rows while they are checked.
    assert peak < 3 * 2**20 * 8


def test_tables_are_copied_unless_nobody_can_write_to_them():
    given = np.array([0.25, 0.75])
    first = BayesianNetwork(f2sl.DAG(["a"]), {"a": ["x", "y"]}, {"a": given})
    second = BayesianNetwork(f2sl.DAG(["a"]), {"a": ["x", "y"]}, first.tables)
    assert second.tables["a"] is first.tables["a"]
    view = given[:]
    view.setflags(write=False)
    third = BayesianNetwork(f2sl.DAG(["a"]), {"a": ["x", "y"]}, {"a": view})
    given[:] = 0.5
    assert first.tables["a"].tolist() == third.tables["a"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_small_file_cannot_unpack_to_all_memory(pack, tmp_path, monkeypatch):
    monkeypatch.setattr("f2sl.network.formats.MOST_UNPACKED", len(PLAIN) + 100)
    path = tmp_path / "packed.bif"
    path.write_bytes(pack((PLAIN + "\n" * 100).encode()))
    assert f2sl.load_network(path) == build(SPRINKLER)
    path.write_bytes(pack((PLAIN + "\n" * 101).encode()))
    with pytest.raises(
        FileError, match=r"cannot read .*packed\.bif: it holds more than [\d,]+ bytes; unpack"
    ):
        f2sl.load_network(path)
    path.write_bytes(pack(b"{" * 20_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="it holds more than"):
            f2sl.load_network(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_packed_file_that_could_not_be_read_back_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("f2sl.network.formats.MOST_UNPACKED", 100)
    for suffix in (".bif.gz", ".bif.xz"):
        with pytest.raises(FileError, match=r"cannot write .*too many to read back.*; use \.bif"):
            build(SPRINKLER).save(tmp_path / f"lawn{suffix}")
    build(SPRINKLER).save(tmp_path / "lawn.bif")
    assert [entry.name for entry in tmp_path.iterdir()] == ["lawn.bif"]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*none\.bif"):
        f2sl.load_network(tmp_path / "none.bif")
    with pytest.raises(FileError, match="cannot read"):
        f2sl.load_network(tmp_path)
    (tmp_path / "broken.bif.gz").write_bytes(gzip.compress(PLAIN.encode())[:-20])
    with pytest.raises(FileError, match=r"cannot read .*broken\.bif\.gz"):
        f2sl.load_network(tmp_path / "broken.bif.gz")
    (tmp_path / "latin.bif").write_bytes(PLAIN.encode() + b"\n// caf\xe9")
    with pytest.raises(FileError, match=r"latin\.bif, line 26: .*UTF-8"):
        f2sl.load_network(tmp_path / "latin.bif")


def test_files_that_cannot_be_written(tmp_path):
    network = build(SPRINKLER)
    for path, problem in (
        (tmp_path / "lawn.txt", r"use \.bif, \.json, .*, or one of these with \.gz or \.xz"),
        (tmp_path / "none" / "lawn.bif", "there is no folder"),
    ):
        with pytest.raises(FileError, match=problem):
            network.save(path)
    strange = BayesianNetwork(f2sl.DAG(["a"]), {"a": ["\ud800"]}, {"a": [1.0]})
    with pytest.raises(FileError, match="UTF-8"):
        strange.save(tmp_path / "strange.bif")
    assert list(tmp_path.iterdir()) == []


def test_hints_are_for_names_that_are_quickly_compared(monkeypatch):
    known = ["rain", "snow"]
    assert "did you mean 'rain'?" in unknown_name("variable", "rein", known)
    asked = []
    monkeypatch.setattr("difflib.get_close_matches", lambda name, *_, **__: asked.append(name) or [])
    unknown_name("variable", "x" * 100, known)
    assert asked == ["x" * 100]
    unknown_name("variable", "x" * 101, known)
    unknown_name("variable", "x" * 100, ["y" * 20_000, "z" * 20_001])
    assert len(asked) == 1


def test_long_names_are_cut_and_long_lists_too():
    assert shown("x" * 100) == repr("x" * 100)
    assert shown("x" * 101) == repr("x" * 97 + "...")
    assert shown(list(range(1000))).endswith("...")
    assert shown_list(range(30)).endswith("28, 29")
    assert shown_list(range(31)).endswith("28, 29, ... (31 in all)")


def test_an_unknown_network_gets_the_names():
    with pytest.raises(f2sl.OptionError, match=r"unknown network 'alarn'; did you mean 'alarm'\? .*win95pts"):
        f2sl.load_network("alarn")


def test_directions_in_doubt_are_kept_in_properties_that_others_skip(tmp_path):
    graph = f2sl.DAG(["a b", "c", "d"], [("c", "a b"), ("a b", "d")])
    coin = {name: ["h", "t"] for name in graph.nodes}
    half = [0.5, 0.5]
    net = f2sl.BayesianNetwork(graph, coin, {"c": half, "a b": [half, half], "d": [half, half]})
    net.graph.weak, net.graph.either_way = frozenset({("c", "a b")}), frozenset({("a b", "d")})
    text = "".join(write_bif(net))
    assert text.startswith(
        'network unknown {\n  property f2sl_weak = "1-0";\n  property f2sl_either_way = "0-2";\n}\n'
    )
    again = read_bif(text)
    assert again == net
    assert (again.graph.weak, again.graph.either_way) == (net.graph.weak, net.graph.either_way)
    odd = read_bif(text.replace('"1-0"', '"x 9-0 0-1 1-2-"').replace('f2sl_either_way = "0-2"', "f2sl_weak"))
    assert odd == net and odd.graph.weak == odd.graph.either_way == frozenset()
