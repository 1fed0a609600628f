"""XMLBIF, Hugin NET and GeNIe XDSL: files by hand, round trips, peers, and what is refused."""

import re

import numpy as np
import pytest

import f2sl
from f2sl import FileError
from f2sl.network.formats import FORMATS
from naive_network import SPRINKLER
from network_tools import build

XMLBIF = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>Lawn</NAME>
<VARIABLE TYPE="nature"><NAME>wet</NAME>
  <OUTCOME>dry</OUTCOME><OUTCOME> damp </OUTCOME><OUTCOME>soaked</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>
  <PROPERTY>position = (73, 165)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>sprinkler</NAME><OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME></VARIABLE>
<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><GIVEN>sprinkler</GIVEN>
  <TABLE><!-- yes on --> 0 0.125 0.875 <!-- yes off --> .125 0.25 0.625
  0.25 5e-1 0.25 1 0 0</TABLE></DEFINITION>
<DEFINITION><FOR>rain</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>sprinkler</FOR><GIVEN>rain</GIVEN><TABLE>0.0625 0.9375 0.5 0.5</TABLE></DEFINITION>
</NETWORK></BIF>
"""
NET = """% the lawn
net { node_size = (50 50); name = "Lawn"; }
node wet { label = "is it { wet }; ?"; states = ("dry" "damp" "soaked"); position = (1 2); }
discrete node rain { states = (yes no); }
node sprinkler { states = ("on" "off"); HR_note = "x"; }
potential (wet | rain sprinkler) {
  data = (((0 .125 0.875)   % yes on
           (.125 0.25 0.625)) ((0.25 5e-1 0.25) (1 0 0)));
}
potential (rain) { data = (0.25 0.75); }
potential (sprinkler | rain) { data = 0.0625 0.9375 0.5 0.5; }
"""
XDSL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="Lawn" numsamples="1000"><nodes>
<cpt id="wet"><state id="dry"/><state id="damp"/><state id="soaked"/><parents>rain sprinkler</parents>
<probabilities>0 0.125 0.875 .125 0.25 0.625 0.25 5e-1 0.25 1 0 0</probabilities></cpt>
<cpt id="rain"><state id="yes"/><state id="no"/><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="sprinkler"><state id="on"/><state id="off"/><parents>rain</parents>
<probabilities>0.0625 0.9375 0.5 0.5</probabilities></cpt>
</nodes><extensions><genie><node id="wet"><name>Is it wet?</name></node></genie></extensions></smile>
"""
BY_HAND = {".xmlbif": XMLBIF, ".net": NET, ".xdsl": XDSL}


def load(tmp_path, suffix, text):
    path = tmp_path / f"net{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return f2sl.load_network(path)


@pytest.mark.parametrize("suffix", BY_HAND)
def test_a_file_by_hand_is_read(tmp_path, suffix):
    network = load(tmp_path, suffix, BY_HAND[suffix])
    assert network == build(SPRINKLER)
    assert network.name == "Lawn"


STRANGE = [
    "a b",
    "a_b",
    "net",
    '"',
    "\\",
    "<&>",
    " x ",
    "50 %",
    "é\u2028",
    "a\tb\r\nc",
    "node",
    "1",
    "]]>",
    "{;}",
]


def strange_network():
    graph = f2sl.DAG(STRANGE, [(a, STRANGE[0]) for a in STRANGE[1:4]] + [(STRANGE[0], STRANGE[5])])
    states = {name: [*STRANGE[: 2 + i % 3]] for i, name in enumerate(STRANGE)}
    rng, tables = np.random.default_rng(1), {}
    for name in STRANGE:
        shape = [len(states[n]) for n in (*graph.parents(name), name)]
        table = rng.random(shape)
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    return f2sl.BayesianNetwork(graph, states, tables, name="odd")


@pytest.mark.parametrize("suffix", [*FORMATS, ".xdsl.gz", ".net.xz"])
def test_names_of_any_kind_and_all_bits_come_back(tmp_path, suffix):
    network, path = strange_network(), tmp_path / f"odd{suffix}"
    network.save(path)
    first = path.read_bytes()
    assert f2sl.load_network(path) == network
    assert f2sl.load_network(path).name == "odd"
    network.save(path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("suffix", [".net", ".json"])
def test_numbers_come_back(tmp_path, suffix):
    graph = f2sl.DAG([*"xdyz"], [("d", "x"), ("z", "x"), ("y", "x"), ("d", "y")])
    equations = {
        "x": ([1.0, -2.5e-9], [[0.5, -3.0], [1e20, 0.0]], [1.0, 2.0]),
        "y": ([0.0, 1.0], [], [4.0, 5.0]),
        "z": (-7.0, [], 0.125),
    }
    mixed = f2sl.BayesianNetwork(graph, {"d": ["u", "v"]}, {"d": [0.25, 0.75]}, equations=equations)
    mixed.save(tmp_path / f"m{suffix}")
    assert f2sl.load_network(tmp_path / f"m{suffix}") == mixed
    gaussian = f2sl.GaussianNetwork(f2sl.DAG([*"ab"], [("a", "b")]), {("a", "b"): -0.1}, {"a": 1, "b": 2})
    gaussian.save(tmp_path / f"g{suffix}")
    assert isinstance(f2sl.load_network(tmp_path / f"g{suffix}"), f2sl.GaussianNetwork)
    assert f2sl.load_network(tmp_path / f"g{suffix}") == gaussian


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".xdsl"])
def test_formats_without_continuous_variables_refuse_them(tmp_path, suffix):
    network = f2sl.GaussianNetwork(f2sl.DAG(["a"]), {}, {"a": 1})
    with pytest.raises(FileError, match=r"does not support numbers; use \.json, \.net"):
        network.save(tmp_path / f"g{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_the_mean_of_a_normal_is_any_linear_sum(tmp_path):
    text = """net {} continuous node a {} continuous node b {} continuous node c {}
    potential (a) { data = normal (-1e-3, 2); } potential (b) { data = (normal (0, 1)); }
    potential (c | a b) { data = (normal (2 - a + 3.5 * b - -1 + a + a, 4)); }"""
    network = load(tmp_path, ".net", text)
    assert network.equations["a"].intercepts == -1e-3
    assert network.equations["c"].intercepts == 3
    assert network.equations["c"].coefficients.tolist() == [1, 3.5]


def test_deterministic_nodes_of_genie_are_tables_of_zeros_and_ones(tmp_path):
    text = """<smile id="x"><nodes><cpt id="a"><state id="y"/><state id="n"/>
    <probabilities>.5 .5</probabilities></cpt><deterministic id="b"><state id="u"/><state id="v"/>
    <parents>a</parents><resultingstates>v u</resultingstates></deterministic></nodes></smile>"""
    assert load(tmp_path, ".xdsl", text).tables["b"].tolist() == [[0, 1], [1, 0]]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("suffix", [".xmlbif", ".xdsl"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB + "<BIF>&b;</BIF>", "line 1: the file has entities of its own"),
        (OUTSIDE + "<BIF>&a;</BIF>", "line 1: the file has entities of its own"),
        ('<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd"><BIF>&a;</BIF>', "entities"),
        ("<a>" * 100_000, "nested too deeply"),
        ("<html></html>", "the file is a <html>, not a <(bif|smile)>"),
        ("", "not XML: no element found"),
        (b"<a>\xff</a>", "not XML"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "not XML: unknown encoding"),
        ("<BIF>\n<a>\n</BIF>", "line 3: not XML: mismatched tag"),
    ],
)
def test_hostile_and_broken_xml_is_refused(tmp_path, suffix, text, told):
    with pytest.raises(FileError, match=told):
        load(tmp_path, suffix, text)


WRONG = [
    (".xmlbif", ("0.25 0.75", "0.25 0.7"), "line 12: probabilities of 'rain' sum to 0.95, not to 1"),
    (".xmlbif", ("0.25 0.75", "0.25 0_75"), "line 12: <table>: '0_75' is not a number"),
    (".xmlbif", ("0.25 0.75", "0.25"), "line 12: the table of 'rain' has 1 numbers, not 2"),
    (".xmlbif", ("0.25 0.75", "nan 0.75"), "line 12: a probability of 'rain' is not between 0 and 1"),
    (".xmlbif", ("<FOR>rain</FOR>", "<FOR>wet</FOR>"), "second probability block for 'wet'"),
    (".xmlbif", ("<FOR>rain</FOR>", "<FOR>rain</FOR><GIVEN>wet</GIVEN>"), "cycle"),
    (
        ".xmlbif",
        ("<GIVEN>rain</GIVEN><T", "<GIVEN>rian</GIVEN><T"),
        "line 13: .*unknown parent 'rian'; did you mean",
    ),
    (".xmlbif", ("<OUTCOME>off", "<OUTCOME>on"), "line 8: variable 'sprinkler' has the state 'on' twice"),
    (
        ".xmlbif",
        ('"nature"><NAME>rain', '"utility"><NAME>rain'),
        "line 6: variable 'rain' is of the type 'utility'",
    ),
    (".xmlbif", ("<NAME>rain</NAME>", ""), "line 6: a <variable> has 0 elements <name>, not one"),
    (
        ".net",
        ("(0.25 0.75)", "(" * 100_000 + "0.25 0.75)"),
        "line 10: expected 99,999 more '\\)' in the attribute",
    ),
    (
        ".net",
        ("(0.25 0.75)", "0.25 0.75)"),
        "line 10: expected '\\(' before each '\\)' in the attribute 'data'",
    ),
    (".xdsl", ("0.25 0.75", "0.25"), "line 5: the table of 'rain' has 1 numbers, not 2"),
    (".xdsl", ("rain sprinkler", "rain hose"), "line 3: .*unknown parent 'hose'"),
    (
        ".xdsl",
        ("cpt", "noisymax"),
        "line 3: 'wet' is a <noisymax>; only <cpt> and <deterministic> nodes are read",
    ),
    (".xdsl", ('<state id="on"/>', "<state/>"), "line 6: <state> has no 'id'"),
    (
        ".xdsl",
        ("<probabilities>0.25 0.75</probabilities>", ""),
        "line 5: the node 'rain' has no <probabilities>",
    ),
    (
        ".xdsl",
        ('<state id="no"/>', '<state id="no"/><property id="f2sl">[</property>'),
        "not what f2sl writes",
    ),
    (".net", ("(0.25 0.75)", "(0.25 x)"), "line 10: data of 'rain': 'x' is not a number"),
    (".net", ("data = (0.25 0.75);", ""), "line 10: the potential of 'rain' has no data"),
    (".net", ("potential (rain)", "potential (rain wet)"), r"line 10: expected '\|' or '\)', found 'wet'"),
    (".net", ("| rain)", "| rian)"), "line 11: .*unknown parent 'rian'"),
    (".net", ("discrete node", "utility node"), "line 4: 'rain' is a utility node"),
    (".net", ("discrete node", "continuous node"), "line 10: data of .rain.: a number has a list of normal"),
    (".net", ("(0.25 0.75); }", "(0.25 0.75) }"), "line 10: expected ';' at the end of the attribute 'data'"),
    (".net", ('"soaked"', '"soaked'), "expected|not closed"),
    (".net", ("net {", "nets {"), "line 2: expected 'net', found 'nets'"),
    (
        ".net",
        ("potential (sprinkler", "potencial (sprinkler"),
        "line 11: expected 'net', 'node' or 'potential'",
    ),
]


@pytest.mark.parametrize(("suffix", "change", "told"), WRONG)
def test_what_is_wrong_is_told_with_its_line(tmp_path, suffix, change, told):
    assert change[0] in BY_HAND[suffix]
    with pytest.raises(FileError, match=told):
        load(tmp_path, suffix, BY_HAND[suffix].replace(*change))


@pytest.mark.parametrize(
    "data", ["normal (1)", "normal (1, a)", "1 2", "normal (2 a, 1)", "normal (a * b, 1)"]
)
def test_what_is_no_linear_normal_is_refused(tmp_path, data):
    text = f"net {{}} continuous node a {{}} potential (a) {{ data = ({data}); }}"
    with pytest.raises(FileError, match="data of 'a': "):
        load(tmp_path, ".net", text)


def test_the_mean_depends_on_parents_alone(tmp_path):
    text = "net {} continuous node a {} potential (a) { data = (normal (1 + 2 * b, 1)); }"
    with pytest.raises(FileError, match="the mean of 'a' depends on 'b', not a numeric parent"):
        load(tmp_path, ".net", text)


@pytest.mark.parametrize("suffix", BY_HAND)
def test_few_words_cannot_ask_for_much_memory(tmp_path, suffix):
    """40 parents with 2 states: the table would have 2 ** 41 cells."""
    names = [f"v{i}" for i in range(41)]
    if suffix == ".xmlbif":
        states = "<OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME>"
        text = "".join(f"<VARIABLE><NAME>{name}</NAME>{states}</VARIABLE>" for name in names)
        text += "".join(f"<DEFINITION><FOR>{n}</FOR><TABLE>1 0</TABLE></DEFINITION>" for n in names[1:])
        given = "".join(f"<GIVEN>{name}</GIVEN>" for name in names[1:])
        text += f"<DEFINITION><FOR>v0</FOR>{given}<TABLE>1</TABLE></DEFINITION>"
        text = f"<BIF><NETWORK>{text}</NETWORK></BIF>"
    elif suffix == ".net":
        text = "net {}" + "".join(f"node {name} {{ states = (a b); }}" for name in names)
        text += "".join(f"potential ({name}) {{ data = (1 0); }}" for name in names[1:])
        text += f"potential (v0 | {' '.join(names[1:])}) {{ data = (1); }}"
    else:
        states = '<state id="a"/><state id="b"/>'
        text = "".join(
            f'<cpt id="{name}">{states}<probabilities>1 0</probabilities></cpt>' for name in names[1:]
        )
        text += f'<cpt id="v0">{states}<parents>{" ".join(names[1:])}</parents>'
        text += "<probabilities>1</probabilities></cpt>"
        text = f"<smile><nodes>{text}</nodes></smile>"
    with pytest.raises(FileError, match="'v0' has 40 parents"):
        load(tmp_path, suffix, text)


# -- peers ---------------------------------------------------------------------------


def same(ours, theirs, tolerance):
    """The same variables, states and probabilities, whatever the order of parents."""
    assert set(ours.variables) == set(theirs.variables)
    for name in ours.variables:
        assert ours.states[name] == theirs.states[name]
        parents = theirs.parents(name)
        assert set(parents) == set(ours.parents(name))
        axes = [parents.index(parent) for parent in ours.parents(name)]
        table = theirs.tables[name].transpose([*axes, len(axes)])
        np.testing.assert_allclose(table, ours.tables[name], rtol=0, atol=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["asia", "alarm"])
@pytest.mark.parametrize(
    ("suffix", "reader"), [(".xmlbif", "XMLBIFReader"), (".net", "NETReader"), (".xdsl", "XDSLReader")]
)
def test_pgmpy_reads_what_is_written_and_the_other_way_round(tmp_path, name, suffix, reader):
    import pgmpy.readwrite

    network = f2sl.load_network(name)
    network.save(tmp_path / f"ours{suffix}")
    theirs = getattr(pgmpy.readwrite, reader)(str(tmp_path / f"ours{suffix}")).get_model()
    for variable in network.variables:
        factor = theirs.get_cpds(variable)
        assert tuple(factor.variables) == (variable, *network.parents(variable))
        assert tuple(factor.state_names[variable]) == network.states[variable]
        np.testing.assert_allclose(np.moveaxis(factor.values, 0, -1), network.tables[variable], atol=1e-12)
    writer = getattr(pgmpy.readwrite, reader.replace("Reader", "Writer"))(theirs)
    how = next(n for n in ("write", "write_xmlbif", "write_net", "write_xdsl") if hasattr(writer, n))
    getattr(writer, how)(str(tmp_path / f"theirs{suffix}"))
    same(network, f2sl.load_network(tmp_path / f"theirs{suffix}"), 1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
@pytest.mark.parametrize("suffix", [".bifxml", ".net", ".xdsl"])
def test_pyagrum_reads_what_is_written_and_the_other_way_round(tmp_path, name, suffix):
    import pyagrum

    network = f2sl.load_network(name)
    network.save(tmp_path / f"ours{suffix}")
    theirs = pyagrum.loadBN(str(tmp_path / f"ours{suffix}"))
    pyagrum.saveBN(theirs, str(tmp_path / f"theirs{suffix}"))
    same(network, f2sl.load_network(tmp_path / f"theirs{suffix}"), 1e-6)  # it writes six digits


def test_the_suffixes_are_listed_for_one_that_is_not_known(tmp_path):
    with pytest.raises(FileError, match=re.escape(", ".join(FORMATS))):
        build(SPRINKLER).save(tmp_path / "x.txt")


def test_continuous_parents_of_discrete_variables_are_refused(tmp_path):
    text = """net {} continuous node a {} node b { states = (u v); }
    potential (a) { data = (normal (0, 1)); } potential (b | a) { data = (1 0); }"""
    with pytest.raises(FileError, match="edges from continuous to discrete variables: a -> b"):
        load(tmp_path, ".net", text)
