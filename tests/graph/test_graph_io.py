"""Files: round trips in every format, files by others, broken files, atomic writing."""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2sl import DAG, PDAG, F2SLError, FileError, GraphError, Knowledge, load_graph
from f2sl.errors import F2SLWarning
from f2sl.graph import check_writable, save_graph, write_atomically
from f2sl.graph.atomic import claimed
from f2sl.graph.formats import FORMATS, networkx_file
from graphs import ASIA, pdags
from marks import examples

SUFFIXES = sorted(FORMATS.keys() - {".modelstring"})  # which knows neither weights nor all names
NASTY = [
    'say "hi"',
    "a,b",
    "back\\slash\\",
    "\\",
    '\\"',
    "two\nlines",
    "carriage\rreturn",
    "crlf\r\n",
    "tab\there",
    " spaces ",
    "größe→",
    "\U0001d4b3",
    "&amp;",
    "&#65;",
    "<b>&</b>",
    "]]>",
    "nul\x00",
    "\x01",
    '"quoted"',
    '"\\u0001"',
    "\ufeffmark",
    "\ufffe",
    "\x85",
    "\u2028",
    "source",
    "digraph",
    "-1",
    "1e5",
    "{};[]",
    "#",
    "//",
    "null",
    "'",
]


GRAPH_OF_AN_OLDER_VERSION = (
    '{"format":"f2sl-graph","version":1,"kind":"DAG","nodes":["a","b"],"directed":[["a","b"]],'
    '"undirected":[],"weights":null}'
)


def round_trip(graph, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{suffix}"
        save_graph(graph, path)
        assert [p.name for p in Path(folder).iterdir()] == [path.name]
        return load_graph(path)


def assert_same(again, graph):
    assert again == graph
    assert again.nodes == graph.nodes
    assert again.directed_edges == graph.directed_edges
    expected = {edge: float(f"{w:.12g}") for edge, w in (graph.weights or {}).items()}
    assert (again.weights or {}) == expected


@st.composite
def graphs(draw):
    name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4) | st.sampled_from(NASTY)
    nodes = draw(st.lists(name, unique=True, max_size=6))
    directed, undirected, weights = [], [], {}
    for pair in itertools.combinations(nodes, 2):
        mark = draw(st.sampled_from("<>-   "))
        if mark == " ":
            continue
        edge = pair[::-1] if mark == "<" else pair
        (undirected if mark == "-" else directed).append(edge)
        weight = draw(st.none() | st.floats(allow_nan=False, allow_infinity=False))
        if weight is not None:
            weights[edge] = weight
    return PDAG(nodes, directed, undirected, weights=weights)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(graph=graphs())
def test_round_trip(suffix, graph):
    assert_same(round_trip(graph, suffix), graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nasty_names_isolated_nodes_and_order(suffix):
    edges = list(zip(NASTY[3:], NASTY[:-3], strict=True))[:-4]
    assert_same(
        round_trip(PDAG(NASTY, edges[::2], edges[1::2]), suffix), PDAG(NASTY, edges[::2], edges[1::2])
    )
    again = round_trip(PDAG(NASTY), suffix)
    assert again.nodes == tuple(NASTY)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_dag_loads_as_a_dag_and_a_pdag_as_a_pdag(suffix):
    assert type(round_trip(ASIA, suffix)) is DAG
    assert type(round_trip(ASIA.to_cpdag(), suffix)) is PDAG
    if suffix != ".csv":
        assert type(round_trip(PDAG(["a", "b"], [("a", "b")]), suffix)) is PDAG


def test_json_is_compact_and_hides_rounding_noise(tmp_path):
    graph = PDAG(["a", "ü"], [("ü", "a")], weights={("ü", "a"): 0.1 + 0.2})
    graph.save(tmp_path / "g.json")
    assert (tmp_path / "g.json").read_text("utf-8") == (
        '{"format":"f2sl-graph","version":1,"kind":"PDAG","nodes":["a","ü"],"directed":[["ü","a"]],'
        '"undirected":[],"weights":{"directed":[0.3],"undirected":[]},"dag":[["ü","a"]]}\n'
    )


def test_json_keeps_the_dag_of_a_pdag(tmp_path):
    graph = PDAG(["c", "b", "a"], undirected=[("a", "b"), ("b", "c")], weights={("a", "b"): 0.5})
    graph.save(tmp_path / "usual.json")
    assert load_graph(tmp_path / "usual.json").dag.directed_edges == [("b", "c"), ("a", "b")]
    graph.dag = DAG(["c", "b", "a"], [("c", "b"), ("b", "a")], weights={("b", "a"): 0.5})
    graph.save(tmp_path / "own.json")
    again = load_graph(tmp_path / "own.json")
    assert (again, again.to_dag(), again.to_dag().weights) == (graph, graph.dag, graph.dag.weights)
    assert again.reorder(["a", "b", "c"]).to_dag() == graph.dag
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "own.json").read_bytes()


def test_json_of_a_graph_without_a_consistent_extension_has_no_dag(tmp_path):
    cycle = PDAG([*"abc"], [("a", "b"), ("b", "c"), ("c", "a")])
    square = PDAG([*"abcd"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    contradicted = PDAG([*"ab"], [("a", "b")])
    contradicted.knowledge = Knowledge(required=[("b", "a")])
    for graph in (cycle, square, contradicted):
        graph.save(tmp_path / "g.json")
        assert load_graph(tmp_path / "g.json") == graph
        assert load_graph(tmp_path / "g.json").dag is None


def test_json_without_a_dag_opens(tmp_path):
    path = written(tmp_path, "g.json", GRAPH_OF_AN_OLDER_VERSION)
    assert load_graph(path) == DAG(["a", "b"], [("a", "b")])
    path = written(tmp_path, "g.json", GRAPH_OF_AN_OLDER_VERSION.replace('"DAG"', '"PDAG"'))
    assert (load_graph(path).dag, load_graph(path).to_dag()) == (None, DAG(["a", "b"], [("a", "b")]))


@pytest.mark.parametrize(
    ("dag", "told"),
    [
        ('[["a","b"]]', "does not have the edges of the graph"),
        ('[["b","a"],["b","c"]]', r"lacks the directed edge \['a', 'b'\]"),
        ('[["a","b"],["b","c"],["a","c"]]', "does not have the edges of the graph"),
        ('[["a","b"],["c","b"]]', "has the v-structure 'a' -> 'b' <- 'c', which the graph does not have"),
        ('[["a","b"],["b","c"],["c","a"]]', "no directed cycle, but there is 'a' -> 'b' -> 'c' -> 'a'"),
        ('[["a","b"],["b","z"]]', "\"dag\": .*'z'"),
        ('[["a","b"],["b","c"],["c","b"]]', '"dag": '),
        ('[["a","b"],["b"]]', "not a pair of names"),
        ("3", "not a list"),
    ],
)
def test_a_dag_of_another_graph_is_refused(tmp_path, dag, told):
    graph = PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])
    graph.save(tmp_path / "g.json")
    text = (tmp_path / "g.json").read_text().replace('"dag":[["a","b"],["b","c"]]', f'"dag":{dag}')
    with pytest.raises(FileError, match=told) as caught:
        load_graph(written(tmp_path, "g.json", text))
    assert "\n" not in str(caught.value)


def test_json_keeps_a_dag_whose_new_v_structures_the_knowledge_demands(tmp_path):
    graph = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    graph.knowledge = Knowledge(roots=["a", "c"])
    graph.save(tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json").dag.directed_edges == [("a", "b"), ("c", "b")]


@examples(60)
@given(graph=pdags(6))
def test_json_of_any_graph_opens_again(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "g.json"
    graph.save(path)
    again = load_graph(path)
    assert again == graph
    assert again.to_dag() == graph.to_dag()


def test_csv_lists_isolated_nodes_as_rows(tmp_path):
    PDAG(["a", "b", "c"], [], [("a", "b")], weights={("a", "b"): 2}).save(tmp_path / "g.csv")
    expected = "source,target,type,weight\na,b,undirected,2.0\nc,,node,\n"
    assert (tmp_path / "g.csv").read_text() == expected


@pytest.mark.parametrize("suffix", [".json", ".dot", ".graphml", ".gml", ".dagitty"])
@pytest.mark.parametrize("kind", [PDAG, DAG])
def test_files_keep_which_directions_are_only_weakly_decided(tmp_path, suffix, kind):
    edges = [("a", "c"), ("b", "c"), ("c", "d")]
    graph = kind(["d", "a", "b", "c", "e"], edges, weights={("c", "d"): 0.25})
    graph.weak = frozenset([("c", "d"), ("a", "c")])
    again = round_trip(graph, suffix)
    assert_same(again, graph)
    assert again.weak == graph.weak
    assert round_trip(kind(graph.nodes, edges), suffix).weak == frozenset()


@pytest.mark.parametrize("suffix", [".csv", ".modelstring"])
def test_other_files_warn_that_they_do_not(tmp_path, suffix):
    graph = DAG(["a", "b"], [("a", "b")])
    graph.weak = frozenset([("a", "b")])
    with pytest.warns(F2SLWarning, match=f"^{suffix} does not keep which directions are only weakly decided"):
        graph.save(tmp_path / f"graph{suffix}")
    assert load_graph(tmp_path / f"graph{suffix}") == graph


def test_networkx_knows_which_directions_are_only_weakly_decided():
    graph = PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])
    graph.weak = frozenset([("a", "b")])
    theirs = graph.to_networkx()
    assert nx.get_edge_attributes(theirs, "weak") == {("a", "b"): True}
    assert PDAG.from_networkx(theirs).weak == graph.weak


def test_gml_by_others(tmp_path):
    text = 'graph [\n node [ id 0 label "e 1e5" ]\n node [ id 1 label "b" ]\n node [ id 2 ]\n'
    text += " edge [ source 0 target 1 weight 1e-05 ]\n edge [ source 1 target 2 weight -3 ]\n]\n"
    graph = load_graph(written(tmp_path, "g.gml", text))
    assert graph.undirected_edges == [("e 1e5", "b"), ("b", "2")]
    assert graph.weights == {("e 1e5", "b"): 1e-5, ("b", "2"): -3.0}


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("suffix", [".gml", ".graphml"])
def test_networkx_reads_and_writes_the_same(tmp_path, suffix):
    graph = PDAG(["b", "a ü&\"<'", "c"], [("b", "c")], [("a ü&\"<'", "b")], weights={("b", "c"): 1e300})
    graph.save(tmp_path / f"g{suffix}")
    read = {".gml": nx.read_gml, ".graphml": nx.read_graphml}[suffix](tmp_path / f"g{suffix}")
    assert PDAG.from_networkx(read) == graph
    assert read["b"]["c"]["weight"] == 1e300
    write = {".gml": nx.write_gml, ".graphml": nx.write_graphml}[suffix]
    write(graph.to_networkx(), tmp_path / f"nx{suffix}")
    assert_same(load_graph(tmp_path / f"nx{suffix}"), graph)
    write(graph.skeleton().to_networkx().to_undirected(), tmp_path / f"un{suffix}")
    assert load_graph(tmp_path / f"un{suffix}") == graph.skeleton()
    write(ASIA.to_networkx(), tmp_path / f"asia{suffix}")
    assert type(load_graph(tmp_path / f"asia{suffix}")) is DAG


@pytest.mark.parametrize(
    ("text", "directed", "undirected"),
    [
        ("digraph { a -> b; b -> c [dir=none]; }", ["ab"], ["bc"]),
        ("graph { a -- b }", [], ["ab"]),
        ("strict digraph G {\n// note\n# line\n/* more\n*/ a->b->c; }", ["ab", "bc"], []),
        ("digraph { edge [dir=none] a -> b; { edge [dir=forward]; b -> c } c -> d }", ["bc"], ["ab", "cd"]),
        (
            "digraph { node [shape=box]; a [label=<<b>x</b>>, color=red]; a -> {b c} [dir=back] }",
            ["ba", "ca"],
            [],
        ),
        ('digraph { subgraph cluster_x { "a" ; b } b:n -> "a":s:e; rankdir = LR }', ["ba"], []),
        ('digraph { "a" -> "b" + ""; a -> c [weight=2.5 dir=both] }', ["ab"], ["ac"]),
        ("DIGRAPH { a -> b b -> a }", [], ["ab"]),
    ],
)
def test_dot_by_others(tmp_path, text, directed, undirected):
    graph = load_graph(written(tmp_path, "g.dot", text))
    nodes = sorted(graph.nodes)
    assert graph == PDAG(nodes, [tuple(e) for e in directed], [tuple(e) for e in undirected])


def test_csv_by_others(tmp_path):
    assert load_graph(written(tmp_path, "a.csv", "\ufefffrom,to\r\na,b\r\n")) == DAG(["a", "b"], [("a", "b")])
    matrix = load_graph(written(tmp_path, "b.csv", "a,b,c\n0,1,0\n0,0,1\n0,1,0\n"))
    assert matrix == PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])
    named = load_graph(written(tmp_path, "c.csv", '"",a,b\na,0,1\nb,0,0\n'))
    assert type(named) is DAG
    assert named.directed_edges == [("a", "b")]


def test_graphml_by_others(tmp_path):
    text = (
        '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">'
        '<g:key id="d1" for="edge" attr.name="weight" attr.type="double"/>'
        '<g:graph edgedefault="undirected"><g:node id="a"><g:data key="x">t</g:data></g:node><g:node id="b"/>'
        '<g:node id="c"/><g:edge source="a" target="b" directed="true"><g:data key="d1">2</g:data></g:edge>'
        '<g:edge source="b" target="c"/></g:graph></g:graphml>'
    )
    graph = load_graph(written(tmp_path, "g.graphml", text))
    assert graph == PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])
    assert graph.weights == {("a", "b"): 2.0}


BROKEN = [
    ("g.json", "{", r"g\.json, line 1: not JSON"),
    ("g.json", "[" * 100_000, "JSON"),
    ("g.json", "[]", "not a graph of f2sl"),
    ("g.json", '{"format":"f2sl-graph","version":9}', "version 9"),
    ("g.json", '{"format":"f2sl-graph","version":1,"nodes":3}', '"nodes" is not a list'),
    ("g.json", '{"format":"f2sl-graph","version":1,"nodes":["a"],"directed":[["a"]]}', "not a pair"),
    (
        "g.json",
        '{"format":"f2sl-graph","version":1,"nodes":["a"],"directed":[["a","b"]]}',
        "unknown node 'b'",
    ),
    ("g.json", '{"format":"f2sl-graph","version":1,"nodes":["a",1]}', "names must be strings"),
    ("g.json", '{"format":"f2sl-graph","version":1,"kind":"TREE"}', "'TREE'"),
    ("g.json", '{"format":"f2sl-graph","version":1,"weights":NaN}', "not finite"),
    ("g.json", '{"format":"f2sl-graph","version":1,"weights":{"directed":[1]}}', "1 weights for 0"),
    ("g.json", b"\n\xff", "line 2: the file is not text in UTF-8"),
    ("g.csv", "", "empty"),
    ("g.csv", "source,target\na,b\na\n", "line 3: there are 1 fields"),
    ("g.csv", "source,target,type\na,b,sideways\n", "line 2: the type 'sideways'"),
    ("g.csv", "source,target,weight\na,b,heavy\n", "line 2: the weight 'heavy'"),
    ("g.csv", "source,target,weight\na,b,inf\n", "line 2: the weight 'inf'"),
    ("g.csv", "source,target\na,\n", "line 2: the target"),
    ("g.csv", "source,target\n,a\n", "line 2: the source is empty"),
    ("g.csv", "source,target\na,b\na,b\n", "'a' -> 'b' is given twice"),
    ("g.csv", 'source,target\n"a,b\n', "not CSV"),
    ("g.csv", "a,b\n0,1\n", "1 rows for the 2 names"),
    ("g.csv", "a,b\n0,2\n0,0\n", "line 2: neither an edge list"),
    ("g.csv", "a\n0\n0\n", "line 3: there are more rows"),
    ("g.dot", "digraph {\na -> ; }", "line 2: expected a name, found ';'"),
    ("g.dot", "digraph { a", "the end of the file"),
    ("g.dot", 'digraph { "a }', "not closed"),
    ("g.dot", "digraph { a [label=<b] }", "not closed"),
    ("g.dot", "tree { a }", "expected 'graph' or 'digraph'"),
    ("g.dot", "digraph { a ! b }", "line 1: expected a name, found '!'"),
    ("g.dot", "digraph { a } digraph { b }", "the end of the file"),
    ("g.dot", "digraph " + "{" * 5000, "nested too deeply"),
    ("g.dot", "digraph { a -> b; a -> b [dir=none] }", "given twice"),
    ("g.gml", "graph [ node [ id 1 ]", "not GML: expected ']', found EOF"),
    ("g.gml", 'graph [\nnode [ label "a ] ]', "not GML: a string is not closed"),
    ("g.gml", "graph [ edge [ source 1 target 2 ] ]", "edge #0 has undefined source 1"),
    ("g.gml", "graph ]", r"line 1: not GML: expected an int, .* found '\]'"),
    ("g.gml", "graph [" * 100_000, "nested too deeply"),
    ("g.gml", "[ 1 ]", r"line 1: not GML: expected EOF, found '\['"),
    ("g.gml", "Version 1", "contains no graph"),
    ("g.gml", "graph [ node [ x 1 ] ]", "node #0 has no 'id'"),
    ("g.gml", "graph [ node 5 ]", "not GML"),
    ("g.gml", 'graph [ node [ id 1 label "a" ] node [ id 2 label "a" ] ]', "twice"),
    ("g.graphml", "<graphml>\n<graph>", "line 2: not XML"),
    ("g.graphml", "<graphml/>", "no <graph>"),
    ("g.graphml", '<!DOCTYPE g [<!ENTITY a "aa">]>\n<graphml/>', "document type declaration"),
    ("g.graphml", '<graphml><graph><edge source="a" target="b"/></graph></graphml>', "joins 'a'"),
    ("g.graphml", "<graphml><graph><node/></graph></graphml>", "no 'id'"),
    ("g.graphml", "<graphml><graph/><graph/></graphml>", "more than one"),
    ("g.graphml", '<graphml><graph><node id="a"/><node id="a"/></graph></graphml>', "twice"),
    ("g.graphml", "<?xml version='1.0' encoding='martian'?><graphml/>", "not XML"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_broken_files_are_refused_in_one_line(tmp_path, name, text, message):
    path = written(tmp_path, name, text)
    with pytest.raises((FileError, GraphError), match=message) as caught:
        load_graph(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_gml_file_is_refused_before_it_can_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(networkx_file, "MOST_BYTES", 100)
    path = written(tmp_path, "g.gml", "graph [ directed 1 ]")
    assert load_graph(path).n_nodes == 0
    path.write_text(f"graph [ directed 1 ] # {'x' * 100}")
    with pytest.raises(FileError, match=r"123 bytes are too many for GML; use \.json"):
        load_graph(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@examples(40)
@given(data=st.data())
def test_damaged_files_never_end_in_another_error(suffix, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"g{suffix}"
        ASIA.save(path)
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=4))
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
        try:
            load_graph(path)
        except (FileError, GraphError) as error:
            assert "\n" not in str(error)


def test_paths_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(FileError, match=r"Known: \.json, \.csv"):
        load_graph(tmp_path / "g.xlsx")
    with pytest.raises(FileError, match="no suffix"):
        save_graph(ASIA, tmp_path / "graph")
    with pytest.raises(FileError, match=r"cannot read .*No such file"):
        load_graph(tmp_path / "none.json")
    (tmp_path / "folder.json").mkdir()
    for check in (lambda p: save_graph(ASIA, p), check_writable):
        with pytest.raises(FileError, match=r"no folder .*missing"):
            check(tmp_path / "missing" / "g.json")
        with pytest.raises(FileError, match="it is a folder"):
            check(tmp_path / "folder.json")
    with pytest.raises(FileError, match="suffix"):
        check_writable(tmp_path / "g.txt")
    with pytest.raises(FileError):
        load_graph(tmp_path / "folder.json")
    with pytest.raises(FileError, match="cannot be written as UTF-8"):
        save_graph(PDAG(["\ud800"]), tmp_path / "g.json")
    check_writable(tmp_path / "g.json")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.json"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_folders_and_files_without_permission(tmp_path):
    save_graph(ASIA, tmp_path / "g.json")
    (tmp_path / "g.json").chmod(0o400)
    with pytest.raises(FileError, match="read-only"):
        check_writable(tmp_path / "g.json")
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="Permission denied"):
        check_writable(tmp_path / "h.json")


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "note.txt"
    write_atomically(path, b"old")

    def pieces():
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, pieces())
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["note.txt"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_replacing_keeps_permissions_and_follows_links(tmp_path):
    path = tmp_path / "real.json"
    save_graph(PDAG(["a"]), path)
    path.chmod(0o640)
    (tmp_path / "link.json").symlink_to(path)
    save_graph(ASIA, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load_graph(path) == ASIA
    assert path.stat().st_mode & 0o777 == 0o640


def test_version_is_stored_first(tmp_path):
    ASIA.save(tmp_path / "g.json")
    keys = list(json.loads((tmp_path / "g.json").read_text()))
    assert keys == ["format", "version", "kind", "nodes", "directed", "undirected", "weights"]


def test_files_of_dagitty_are_read(tmp_path):
    (tmp_path / "g.dagitty").write_text(
        'dag {\nbb="-3,-3,3,3"\nE [exposure,pos="-1.0,0.5"]\n"the D" [outcome]\n'
        'A -> E <- B\nE -> {"the D" Z.1}\n}\n'
    )
    graph = load_graph(tmp_path / "g.dagitty")
    assert isinstance(graph, DAG)
    assert graph.nodes == ("E", "the D", "A", "B", "Z.1")
    assert set(graph.directed_edges) == {("A", "E"), ("B", "E"), ("E", "the D"), ("E", "Z.1")}
    (tmp_path / "g.dagitty").write_text("pdag { a -> b -- c }")
    graph = load_graph(tmp_path / "g.dagitty")
    assert (graph.directed_edges, graph.undirected_edges) == ([("a", "b")], [("b", "c")])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dag { a <-> b }", "line 1: an edge with two heads, '<->', is not read"),
        ("mag { a -> b }", "the file holds a mag; only dag and pdag are read"),
        ("digraph { a -> b }", "line 1: expected 'dag' or 'pdag' or 'mag' or 'pag', found 'digraph'"),
        ("dag { a @-> b }", "line 1: expected a name, found '@'"),
        ("dag " + "{" * 200, "nested too deeply"),
        ("dag { a -> b -> c -> a }", "cycle"),
    ],
)
def test_what_dagitty_means_otherwise_is_refused(tmp_path, text, told):
    (tmp_path / "g.dagitty").write_text(text)
    with pytest.raises(F2SLError, match=told):
        load_graph(tmp_path / "g.dagitty")


def test_model_strings_of_bnlearn(tmp_path):
    # That of bnlearn's learning.test, whose arcs are in its documentation.
    path = tmp_path / "g.modelstring"
    path.write_text("[A][C][F][B|A][D|A:C][E|B:F]\n")
    graph = load_graph(path)
    assert graph.nodes == tuple("ACFBDE")
    assert graph.directed_edges == [("A", "B"), ("A", "D"), ("C", "D"), ("F", "E"), ("B", "E")]
    save_graph(graph, tmp_path / "again.modelstring")
    assert load_graph(tmp_path / "again.modelstring") == graph


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: expected"),
        ("[a]\n[b|a]\n(c)", "line 3: expected .* found '\\(c\\)'"),
        ("[a][a]", "the node 'a' is listed twice"),
        ("[a][|a]", "a node has an empty name"),
        ("[a|b]", "'b', a parent of 'a', is not listed"),
        ("[a|b][b|c][c|a]", "cycle"),
        ("[a|a]", "'a'"),
    ],
)
def test_model_strings_that_are_none_are_refused(tmp_path, text, told):
    (tmp_path / "g.modelstring").write_text(text)
    with pytest.raises(F2SLError, match=told):
        load_graph(tmp_path / "g.modelstring")


def test_a_model_string_of_a_pdag_holds_its_dag(tmp_path):
    chain = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    chain.dag = DAG(["a", "b", "c"], [("b", "a"), ("b", "c")])
    save_graph(chain, tmp_path / "g.modelstring")
    assert load_graph(tmp_path / "g.modelstring") == chain.dag


@pytest.mark.parametrize("graph", [DAG(["a:b"]), DAG(["a]"]), DAG(["a", " b"])])
def test_what_a_model_string_cannot_hold_is_not_written(tmp_path, graph):
    with pytest.raises(F2SLError, match="model string"):
        save_graph(graph, tmp_path / "g.modelstring")
    assert list(tmp_path.iterdir()) == []


def test_what_is_claimed_is_refused_until_it_is_released(tmp_path):
    for path in (tmp_path, tmp_path / "results.lock"):
        with claimed(path, "in use"), pytest.raises(FileError, match="in use"), claimed(path, "in use"):
            pass
        with claimed(path, "in use"):
            pass


def test_what_is_claimed_is_refused_to_others_on_windows_too(tmp_path, monkeypatch):
    held = set()

    def locking(file, mode, n_bytes):
        position = os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR)
        assert (mode, n_bytes) == ("at once", 1)
        assert position[1] > 10**6  # what is locked nobody can read
        if position in held:
            raise PermissionError
        held.add(position)

    for system in (sys.platform, "win32"):
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK="at once"))
        for path in (tmp_path, tmp_path / "results.lock"):
            with claimed(path, "no"), pytest.raises(FileError, match=r"^no$"), claimed(path, "no"):
                pass


def test_json_keeps_which_arrows_of_a_dag_may_point_either_way(tmp_path):
    cpdag = PDAG([*"abcef"], [("a", "c"), ("b", "c")], [("e", "f")])
    cpdag.weak = frozenset({("a", "c")})
    dag = cpdag.to_dag()
    [arrow] = dag.either_way
    assert set(arrow) == {"e", "f"}
    path = tmp_path / "graph.json"
    dag.weak = cpdag.weak
    dag.save(path)
    found = load_graph(path)
    assert (found, found.weak, found.either_way) == (dag, cpdag.weak, dag.either_way)
    assert not found.to_cpdag().either_way
    path.write_text(path.read_text().replace('"either_way":[["e","f"]]', '"either_way":[["f","e"]]'))
    with pytest.raises(FileError, match='"either_way" holds'):
        load_graph(path)
