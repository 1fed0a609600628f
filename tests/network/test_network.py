"""The network itself, networks drawn at random, and tiling."""

import hashlib
import tomllib

import numpy as np
import pytest

import f2sl
from f2sl import BayesianNetwork, DataError, GraphError, OptionError
from f2sl.network.bundled import NETWORKS, bundled_sizes, size_of
from f2sl.network.formats.bif_file import write_bif
from f2sl.network.sampling import sample_table
from naive_network import SPRINKLER
from network_tools import build
from paths import ROOT

GRAPH = f2sl.DAG(["a", "b"], [("a", "b")])
STATES = {"a": ["x", "y"], "b": ["u", "v", "w"]}
TABLES = {"a": [0.5, 0.5], "b": [[0.2, 0.3, 0.5], [1, 0, 0]]}


def test_what_a_network_knows():
    network = build(SPRINKLER, "lawn")
    assert repr(network) == "BayesianNetwork(3 variables, 3 edges, 11 parameters)"
    assert network.variables == ("wet", "rain", "sprinkler")
    assert network.parents("wet") == ("rain", "sprinkler")
    assert network.tables["wet"].shape == (2, 2, 3)
    assert network.tables["wet"][1, 0].tolist() == [0.25, 0.5, 0.25]  # no rain, sprinkler on
    assert network.n_parameters == 4 * 2 + 1 + 2
    assert network.markov_blanket("rain") == ["wet", "sprinkler"]
    assert network.graph.parents("sprinkler") == ["rain"]
    with pytest.raises(GraphError, match="unknown variable 'snow'"):
        network.parents("snow")


def test_the_markov_blanket_of_alarm():
    # LVFAILURE has the children HISTORY, LVEDVOLUME and STROKEVOLUME, the latter two with HYPOVOLEMIA.
    assert set(f2sl.load_network("alarm").markov_blanket("LVFAILURE")) == {
        "HISTORY",
        "LVEDVOLUME",
        "STROKEVOLUME",
        "HYPOVOLEMIA",
    }


def test_a_network_never_changes():
    network = BayesianNetwork(GRAPH, STATES, TABLES)
    with pytest.raises(ValueError, match="read-only"):
        network.tables["a"][0] = 1
    with pytest.raises(TypeError):
        network.tables["a"] = np.ones(2)
    network.states["a"] = ()
    assert network.states["a"] == ("x", "y")


def test_nobody_can_write_to_a_table_through_another_array():
    own = np.array([0.25, 0.75])
    view = own[:]
    view.setflags(write=False)
    network = BayesianNetwork(f2sl.DAG(["a"]), {"a": ["x", "y"]}, {"a": view})
    own[:] = 0.5
    assert network.tables["a"].tolist() == [0.25, 0.75]


def test_equality():
    network = BayesianNetwork(GRAPH, STATES, TABLES)
    assert network == BayesianNetwork(GRAPH, STATES, TABLES, name="other")
    assert network != BayesianNetwork(GRAPH, STATES, {**TABLES, "a": [0.25, 0.75]})
    assert network != BayesianNetwork(GRAPH, {**STATES, "a": ["x", "z"]}, TABLES)
    assert network != "a"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tables": {"a": [0.5, 0.5]}}, "tables: variable 'b' is missing"),
        ({"states": {"a": ["x", "y"]}}, "states: variable 'b' is missing"),
        ({"tables": {**TABLES, "c": [1]}}, "tables: 'c' is not a node of the graph"),
        ({"tables": None}, "tables: must be a mapping from the names of variables, not None"),
        ({"states": ["x", "y"]}, r"states: must be a mapping .*, not \['x', 'y'\]"),
        ({"states": {**STATES, "a": 2}}, "states of 'a' must be a sequence, not 2"),
        ({"states": {**STATES, "a": {"x", "y"}}}, "states of 'a' must be a sequence, not {"),
        ({"states": {**STATES, "a": []}}, "'a' has no states"),
        ({"states": {**STATES, "a": "xy"}}, "states of 'a' must be a sequence, not 'xy'"),
        ({"states": {**STATES, "a": [1, "1"]}}, "two states of the same name"),
        ({"tables": {**TABLES, "a": [0.5, 0.4998]}}, "'a' sum to 0.9998, not to 1"),
        ({"tables": {**TABLES, "a": [1.5, -0.5]}}, "not between 0 and 1"),
        ({"tables": {**TABLES, "a": [np.nan, 1]}}, "not between 0 and 1"),
        ({"tables": {**TABLES, "a": [np.inf, -np.inf]}}, "not between 0 and 1"),
        ({"tables": {**TABLES, "a": ["x", "y"]}}, "not an array of numbers"),
        ({"tables": {**TABLES, "a": [10**400, 0]}}, "not an array of numbers"),
        ({"tables": {**TABLES, "b": np.ones((3, 2)) / 2}}, r"shape \(3, 2\), not \(2, 3\): a, b"),
        ({"tables": {**TABLES, "b": [0.2, 0.3, 0.5]}}, r"shape \(3,\), not \(2, 3\)"),
        ({"parents": {"b": []}}, r"parents of 'b' in the graph are \(a\), not \(\)"),
        ({"parents": {"b": [0]}}, r"parents of 'b' in the graph are \(a\), not \(0\)"),
        ({"parents": {"b": None}}, "parents of 'b' must be a sequence, not None"),
        ({"parents": {"c": []}}, "parents: 'c' is not a node of the graph"),
        ({"parents": 0}, "parents: must be a mapping"),
    ],
)
def test_what_does_not_fit_is_refused(change, problem):
    with pytest.raises(DataError, match=problem):
        BayesianNetwork(**{"graph": GRAPH, "states": STATES, "tables": TABLES, **change})


def test_a_network_needs_a_dag():
    with pytest.raises(GraphError, match=r"needs a DAG, not a PDAG"):
        BayesianNetwork(f2sl.PDAG(["a", "b"], [("a", "b")]), STATES, TABLES)


def test_the_name_is_a_string_and_stays():
    network = BayesianNetwork(GRAPH, STATES, TABLES, name="dogs")
    assert network.name == "dogs"
    with pytest.raises(AttributeError):
        network.name = 5
    with pytest.raises(OptionError, match="name must be a string, not 5"):
        BayesianNetwork(GRAPH, STATES, TABLES, name=5)


@pytest.mark.parametrize("given", [None, 5, b"asia", ["asia"]])
def test_what_is_neither_a_name_nor_a_path_is_refused(given):
    with pytest.raises(OptionError, match="loaded by its name or its path, not by"):
        f2sl.load_network(given)


def test_the_index_of_bundled_networks_is_true():
    assert [size.name for size in bundled_sizes()] == list(NETWORKS)
    assert len(NETWORKS) == 25
    for size in bundled_sizes():
        assert size == size_of(f2sl.load_network(size.name))


def test_bundled_networks_say_where_they_are_from():
    import gzip
    from importlib.resources import files

    folder = files("f2sl.network") / "bundled"
    packed = [path for path in folder.iterdir() if path.name.endswith(".bif.gz")]
    assert len(packed) == 24
    for path in packed:
        head = gzip.decompress(path.read_bytes())[:400].decode()
        assert "https://www.bnlearn.com/bnrepository/" in head
        assert "CC BY-SA 3.0" in head
    assert "CC BY-SA 3.0" in (folder / "NOTICE").read_text()
    assert sum(len(path.read_bytes()) for path in folder.iterdir()) < 2_000_000


def test_the_package_names_the_licences_of_all_that_it_holds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    notices = set((ROOT / "src").rglob("NOTICE"))
    assert len(notices) == 2
    assert project["license"] == "MIT AND CC-BY-SA-3.0"
    named = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    vendored = set((ROOT / "src").rglob("*.LICENSE"))
    assert len(vendored) == 1
    assert named == {ROOT / "LICENSE", ROOT / "NOTICE", *notices, *vendored}


@pytest.mark.parametrize("random_state", range(5))
def test_random_networks_keep_to_what_was_asked(random_state):
    network = f2sl.random_network(
        variables=60, edges=100, max_parents=3, states=(2, 4), random_state=random_state, max_out_degree=5
    )
    graph = network.graph
    assert (graph.n_nodes, graph.n_edges) == (60, 100)
    assert max(len(graph.parents(node)) for node in graph.nodes) <= 3
    assert max(len(graph.children(node)) for node in graph.nodes) <= 5
    assert {len(states) for states in network.states.values()} == {2, 3, 4}
    for name, table in network.tables.items():
        rows = table.reshape(-1, table.shape[-1])
        assert abs(rows.sum(axis=1) - 1).max() < 1e-12
        assert rows.min() > 0
        for axis in range(table.ndim - 1):
            # Every parent matters: its states lead to different distributions.
            assert abs(np.diff(table, axis=axis)).max() > 0.05, name


def test_a_random_network_is_that_of_its_seed():
    small = {"variables": 12, "edges": 14, "max_parents": 2, "states": (2, 3)}
    assert f2sl.random_network(**small, random_state=1) == f2sl.random_network(**small, random_state=1)
    assert f2sl.random_network(**small, random_state=1) != f2sl.random_network(**small, random_state=2)


def checksum(network):
    return hashlib.sha256("".join(write_bif(network)).encode()).hexdigest()


def test_the_same_random_networks_on_every_machine():
    # What the first machine drew, with and without its vector instructions.
    assert checksum(f2sl.load_network("gene-like")) == (
        "bd023f6ae2401e1b4c77d3c5adca94a0c0ddee2e6144bfd67149e07f68f0d4a9"
    )
    assert checksum(f2sl.tile(f2sl.load_network("alarm"), 10, random_state=3)) == (
        "62a698bb1ce64fea318715ca9a11ce769f98c6ea62533587fd8b540f7836ba77"
    )


def test_random_networks_of_the_extremes():
    assert f2sl.random_network(variables=1, edges=0).graph.n_nodes == 1
    assert f2sl.random_network(variables=2, edges=1, states=(2, 2)).graph.n_edges == 1
    assert f2sl.random_network(variables=5, edges=10, max_parents=4, states=(2, 2)).graph.n_edges == 10


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"variables": 0}, "variables must be a whole number of at least 1"),
        ({"variables": 5, "edges": 11}, "edges must be at most 10 for 5 variables"),
        ({"variables": 5, "edges": 9, "max_parents": 1}, "edges must be at most 4"),
        ({"variables": 3, "edges": 3, "max_out_degree": 1}, "edges must be at most 2"),
        (
            {"variables": 30, "edges": 29, "max_parents": 1, "max_out_degree": 1},
            r"only \d+ of 29 edges could be placed at random among 30 variables .*; ask for fewer edges",
        ),
        ({"edges": -1}, "edges must be"),
        ({"states": (1, 3)}, "states must be a whole number of at least 2"),
        ({"states": (3, 2)}, "states must be a whole number of at least 3"),
        ({"states": 3}, r"states must be a pair of whole numbers such as \(3, 5\)"),
        ({"strength": 1}, "strength must be a number between 0 and 1"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_random_networks_that_cannot_be(options, problem):
    with pytest.raises(OptionError, match=problem):
        f2sl.random_network(**options)


def test_gene_like_is_as_hard_for_fcbf_as_the_papers_gene():
    # The F2SL paper has a mean F1 of 0.97 for FCBF on 500 rows of Gene.
    network = f2sl.load_network("gene-like")
    assert network == f2sl.random_network(
        variables=801, edges=972, max_parents=4, states=(3, 5), random_state=7
    )
    found = [
        f2sl.compare_pc(
            network.graph, f2sl.F2SLc().fit(network.sample(500, random_state=random_state)).pc_
        ).f1
        for random_state in (1, 2, 3)
    ]
    assert 0.95 < np.mean(found) < 0.99


def test_tiles_keep_their_structure_and_link_into_roots():
    tile = f2sl.load_network("insurance")
    large = f2sl.tile(tile, 4, random_state=3, edges=2)
    roots = {name for name in tile.variables if not tile.parents(name)}
    assert large.graph.n_nodes == 4 * 27
    assert large.graph.n_edges == 4 * 52 + 3 * len(roots) * 2
    for name in large.variables:
        base, copy = name.rsplit(".", 1)
        same = [f"{parent}.{copy}" for parent in tile.parents(base)]
        adjacent = [parent for parent in large.parents(name) if parent not in same]
        assert list(large.parents(name))[: len(same)] == same
        assert len(adjacent) == (2 if base in roots and copy != "1" else 0)
        assert all(int(parent.rsplit(".", 1)[1]) < int(copy) for parent in adjacent)
        if not adjacent:
            assert np.array_equal(large.tables[name], tile.tables[base])


def test_tiles_keep_their_probabilities():
    tile = f2sl.load_network("child")
    n = 100_000
    large = sample_table(f2sl.tile(tile, 5, random_state=1, edges=2, strength=1), n, random_state=2)
    small = sample_table(tile, n, random_state=3)
    expected = {
        name: np.bincount(codes, minlength=len(states)) / n
        for name, states, codes in zip(small.names, small.states, small.codes, strict=True)
    }
    for name, states, codes in zip(large.names, large.states, large.codes, strict=True):
        found = np.bincount(codes, minlength=len(states)) / n
        assert abs(found - expected[name.rsplit(".", 1)[0]]).max() < 0.012, name


def test_edges_matter_and_are_those_of_the_seed():
    tile = f2sl.load_network("asia")
    assert f2sl.tile(tile, 3, random_state=1) == f2sl.tile(tile, 3, random_state=1)
    assert f2sl.tile(tile, 3, random_state=1) != f2sl.tile(tile, 3, random_state=2)
    assert f2sl.tile(tile, 3, edges=0).graph.n_edges == 3 * 8
    # smoke is a fair coin and so are few others; with strength 1 half of it is told by its parent.
    large = f2sl.tile(tile, 2, random_state=1, strength=1)
    table = large.tables["smoke.2"]
    assert table.ndim == 2
    assert abs(table[0] - table[1]).max() > 0.1


def test_one_copy_is_the_tile_renamed():
    tile = f2sl.load_network("asia")
    one = f2sl.tile(tile, 1)
    assert [name.removesuffix(".1") for name in one.variables] == list(tile.variables)
    assert one.n_parameters == tile.n_parameters


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"copies": 0}, "copies"),
        ({"copies": 2, "edges": -1}, "edges"),
        ({"copies": 2, "strength": 2}, "strength"),
        ({"copies": 2, "strength": "x"}, "strength"),
        ({"copies": 2, "strength": True}, "strength"),
    ],
)
def test_tilings_that_cannot_be(options, problem):
    with pytest.raises(OptionError, match=f"{problem} must be"):
        f2sl.tile(build(SPRINKLER), **options)


def test_a_tile_is_a_network():
    with pytest.raises(OptionError, match=r"tile needs a discrete BayesianNetwork, not 'asia'; see load"):
        f2sl.tile("asia", 2)
