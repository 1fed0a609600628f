"""The recipes of CONTRIBUTING.md, run as they stand: from outside the package, in Python and in the shell.

The page is the only source: its code blocks become the modules of a small package, its list of entry points
that package's own, and its commands are run with it installed (that is, with its folder on the path).
"""

import gzip
import math
import re
import shlex
import sys
import tomllib
from importlib import import_module
from itertools import combinations, product
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.orc
import pytest
from scipy.stats import norm, rankdata
from sklearn.base import clone

import f2sl
import naive
import naive_gaussian
from cli_process import f2sl as run
from cli_process import small_table, write_csv
from f2sl._extensions import load_extensions
from f2sl.data.formats import FORMATS as TABLE_FORMATS
from f2sl.graph import FormatError, add_format, save_graph
from f2sl.graph.formats import FORMATS as GRAPH_FORMATS
from f2sl.learners.registries import LOCAL
from f2sl.stats.registries import CI_TESTS, SCORES

ROOT = next(folder for folder in Path(__file__).parents if (folder / "CONTRIBUTING.md").exists())
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = "my_f2sl"
RECIPES = {
    "A local learner": "aracne",
    "A CI test": "spearman",
    "A score": "hannan_quinn",
    "A table format": "orc",
    "A graph format": "pajek",
}


def section(title):
    """Return the text of a recipe."""
    return re.search(rf"^### {title}\n(.*?)(?=^### |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]


def code_of(title):
    [code] = re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)
    return code


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Write the package with its entry points, as an installer would; return the folder."""
    folder = tmp_path_factory.mktemp("site")
    (folder / PACKAGE).mkdir()
    (folder / PACKAGE / "__init__.py").touch()
    for title, module in RECIPES.items():
        (folder / PACKAGE / f"{module}.py").write_text(code_of(title), encoding="utf-8")
    [entries] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    [(group, points)] = tomllib.loads(entries)["project"]["entry-points"].items()
    about = folder / f"{PACKAGE}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}\n" for name, module in points.items())
    (about / "entry_points.txt").write_text(f"[{group}]\n{lines}")
    assert sorted(points.values()) == sorted(f"{PACKAGE}.{module}" for module in RECIPES.values())
    return folder


@pytest.fixture
def extended(installed, monkeypatch):
    """Have the package installed for one test, in this process; nothing of it is imported yet."""
    for registry in (LOCAL, CI_TESTS, SCORES):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    table_formats, graph_formats = list(TABLE_FORMATS), dict(GRAPH_FORMATS)
    monkeypatch.syspath_prepend(installed)
    load_extensions.cache_clear()
    yield lambda module: import_module(f"{PACKAGE}.{module}")
    TABLE_FORMATS[:] = table_formats
    GRAPH_FORMATS.clear()
    GRAPH_FORMATS.update(graph_formats)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    load_extensions.cache_clear()


def shell(installed, folder, title):
    """Run the commands of a recipe, each in a process of its own; return what they print."""
    commands = re.findall(r"^    f2sl (.*)$", section(title), re.MULTILINE)
    assert commands
    printed = []
    for command in commands:
        done = run(*shlex.split(command), folder=folder, extensions=(installed,))
        assert (done.stderr, done.returncode) == ("", 0), command
        printed.append(done.stdout)
    return printed


def skeleton(graph):
    return {frozenset(edge) for edge in [*graph.directed_edges, *graph.undirected_edges]}


def numbers(rows=400):
    """Draw a -> b -> c <- d with e alone, after monotone transformations that leave no relation linear."""
    rng = np.random.default_rng(5)
    a, d, e = rng.normal(size=(3, rows))
    b = a + 0.5 * rng.normal(size=rows)
    c = b + d + 0.5 * rng.normal(size=rows)
    return {"a": np.exp(2 * a), "b": b**3, "c": np.sinh(2 * c), "d": d, "e": np.exp(e)}


@pytest.mark.parametrize("title", RECIPES)
def test_recipes_are_short(title):
    """Imports, docstrings and blank lines apart."""
    code = re.sub(r'"""[^"]*"""', "", code_of(title))
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith(("import ", "from "))]
    assert len(lines) <= 25


@pytest.mark.parametrize("title", RECIPES)
def test_recipes_add_what_is_not_built_in(title, extended):
    def known():
        named = [entry.name for registry in (LOCAL, CI_TESTS, SCORES) for entry in registry.registered()]
        return [*named, *GRAPH_FORMATS, *(suffix for one in TABLE_FORMATS for suffix in one.suffixes)]

    before = known()
    extended(RECIPES[title])
    assert len(set(known()) - set(before)) == 1
    assert len(known()) == len(before) + 1


@pytest.mark.parametrize("title", RECIPES)
def test_the_places_that_recipes_name_are_there(title):
    [inside] = re.findall(r"Inside the package:(.*?)(?=\n\n|\Z)", section(title), re.DOTALL)
    named = re.findall(r"`(src/f2sl/[\w./]+)`", inside)
    assert named
    assert all((ROOT / place).exists() for place in named)
    shown = re.findall(r"`((?:stats|local|reading|structure)/[\w./]+)`", section(title))
    assert all((ROOT / "src" / "f2sl" / place).exists() for place in shown)


class TestLocalLearner:
    def expected(self, codes, delta):
        """Drop, of each three variables that are all related, the pair with the least information."""
        n, mi = len(codes), naive.all_pairs(codes, "mi")
        related = {pair: mi[pair[0]][pair[1]] for pair in combinations(range(n), 2)}
        related = {pair: value for pair, value in related.items() if value > delta}
        dropped = set()
        for three in combinations(range(n), 3):
            pairs = list(combinations(three, 2))
            if all(pair in related for pair in pairs):
                dropped.add(min(pairs, key=related.get))
        return {pair: value for pair, value in related.items() if pair not in dropped}

    def test_it_learns_what_a_naive_version_learns(self, extended):
        table = f2sl.load_network("asia").sample(600, random_state=3)
        opened = f2sl.open_table(table)
        names = opened.names
        expected = self.expected([opened.column(v) for v in range(len(names))], 0.005)
        found = f2sl.learn_pc(opened, algorithm="aracne", delta=0.005)
        pairs = {(a, b): found[names[a]].get(names[b]) for a, b in combinations(range(len(names)), 2)}
        assert {pair for pair, value in pairs.items() if value is not None} == set(expected)
        assert [pairs[pair] for pair in expected] == pytest.approx(list(expected.values()), rel=1e-9)
        assert len(expected) > 4
        for name in names:
            assert f2sl.learn_pc(opened, name, algorithm="aracne", delta=0.005) == found[name]

    def test_it_learns_whole_graphs(self, extended):
        model = f2sl.learn(small_table(), "local-to-global", pc="aracne")
        assert model.graph_.directed_edges == [("a", "c"), ("b", "c")]
        assert model.graph_.undirected_edges == [("e", "f")]
        assert model.strength_unit == "MI in nats"
        by_numbers = f2sl.learn(numbers(), "local-to-global", pc="aracne", orient="score", delta=0.02)
        assert by_numbers.graph_.n_nodes == 5
        with pytest.raises(f2sl.OptionError, match="delta must be a number of 0 or more, or 'auto', not -1"):
            f2sl.learn(small_table(), "local-to-global", pc="aracne", delta=-1)

    def test_the_command_line(self, installed, tmp_path):
        write_csv(tmp_path / "data.csv", small_table())
        neighbors, _ = shell(installed, tmp_path, "A local learner")
        assert re.search(r"a: 1 neighbor by aracne --delta 0\.01", neighbors)
        # H(a) - H(a | c) in nats: c is 1 in 3/4 of the rows, and there a is 1 in 2/3 of them.
        weight = math.log(2) - 3 / 4 * (math.log(3) - 2 / 3 * math.log(2))
        assert re.search(rf"c\s+{weight:.4f}", neighbors)
        graph = f2sl.load_graph(tmp_path / "graph.json")
        assert graph.directed_edges == [("a", "c"), ("b", "c")]


class TestCITest:
    def test_p_values_are_those_of_a_naive_version(self, extended):
        columns = numbers(60)
        ranks = [rankdata(column) for column in columns.values()]
        matrix = [[naive_gaussian.correlation(x, y) for y in ranks] for x in ranks]

        class Data:
            n_rows = 60

            def column(self, variable):
                return list(columns.values())[variable]

        test = extended("spearman").Spearman()
        for size in range(4):
            asked = [
                (x, y, *z)
                for x, y in combinations(range(5), 2)
                for z in combinations([v for v in range(5) if v not in (x, y)], size)
            ]
            questions = np.array(asked)
            found = test.p_values(Data(), questions[:, 0], questions[:, 1], questions[:, 2:])
            partial = [naive_gaussian.partial_correlation(matrix, x, y, z) for x, y, *z in asked]
            scale = math.sqrt((60 - size - 3) / 1.06)
            expected = [2 * norm.sf(abs(math.atanh(r)) * scale) for r in partial]
            assert found == pytest.approx(expected, rel=1e-6)
        copied = np.array([0]), np.array([1]), np.array([[2, 2]])
        assert np.isnan(test.p_values(Data(), *copied)).all()
        Data.n_rows = 3
        assert np.isnan(test.p_values(Data(), *copied)).all()

    def test_it_sees_monotone_relations_alone(self, extended):
        columns = numbers()
        expected = {frozenset("ab"), frozenset("bc"), frozenset("cd")}
        own = extended("spearman").Spearman()
        model = f2sl.learn(columns, "pc-stable", ci_test=own)
        assert skeleton(model.graph_) == expected
        assert set(model.graph_.directed_edges) == {("b", "c"), ("d", "c")}
        by_name = f2sl.learn(columns, "pc-stable", ci_test="spearman")
        assert by_name.graph_ == model.graph_
        ranked = {name: rankdata(column) / 7 for name, column in columns.items()}
        assert f2sl.learn(ranked, "pc-stable", ci_test=own).graph_ == model.graph_
        values = f2sl.learn(columns, "pc-stable", transform="none")
        assert skeleton(values.graph_) != expected  # Fisher's z needs straight lines
        assert clone(f2sl.PCStable(ci_test=own)).ci_test == own
        assert model.n_tests_ > 0

    def test_it_is_not_for_discrete_tables(self, extended):
        told = 'ci_test="spearman" is for continuous columns, but the table is discrete; use "auto", "g2" or '
        with pytest.raises(f2sl.OptionError, match=re.escape(told)):
            f2sl.learn(small_table(), ci_test="spearman")

    def test_the_command_line(self, installed, tmp_path):
        write_csv(tmp_path / "data.csv", {name: map(repr, c.tolist()) for name, c in numbers().items()})
        [told] = shell(installed, tmp_path, "A CI test")
        assert "spearman" in told
        assert re.search(r"\b2 directed\b.*\b1 undirected\b", told)


class TestScore:
    def test_the_best_graph_of_all_is_found(self, extended):
        """Hill climbing on three variables that are all adjacent comes to the best of the 25 DAGs."""
        columns = {name: column for name, column in numbers(200).items() if name in "bcd"}
        values = list(columns.values())
        price = math.log(math.log(200)) - math.log(200) / 2

        def total(parents):
            # The naive BIC has the other penalty for the same k + 2 parameters.
            return sum(naive_gaussian.bic(values, v, p) - (len(p) + 2) * price for v, p in enumerate(parents))

        others = [[u for u in range(3) if u != v] for v in range(3)]
        choices = [[given for k in range(3) for given in combinations(some, k)] for some in others]
        dags = [
            parents
            for parents in product(*choices)
            if nx.is_directed_acyclic_graph(nx.DiGraph((p, v) for v in range(3) for p in parents[v]))
        ]
        assert len(dags) == 25
        best = max(map(total, dags))
        own = {"alpha": 0.2, "transform": "none"}
        model = f2sl.learn(columns, "mmhc", score=extended("hannan_quinn").HannanQuinn(), **own)
        names = list(columns)
        found = [tuple(sorted(map(names.index, model.graph_.parents(name)))) for name in names]
        assert total(found) == pytest.approx(best, rel=1e-9)
        assert model.score_ == pytest.approx(best, rel=1e-9)
        assert f2sl.learn(columns, "mmhc", score="hannan-quinn", **own).graph_ == model.graph_

    def test_it_is_not_for_best_networks(self, extended):
        own = extended("hannan_quinn").HannanQuinn()
        with pytest.raises(
            f2sl.OptionError, match=r"score=HannanQuinn\(\) is for continuous columns, but the table"
        ):
            f2sl.learn(small_table(), "exact", score=own)

    def test_the_command_line(self, installed, tmp_path):
        write_csv(tmp_path / "data.csv", {name: map(repr, c.tolist()) for name, c in numbers().items()})
        [told] = shell(installed, tmp_path, "A score")
        assert "hannan-quinn" in told


class TestTableFormat:
    def write(self, path, columns):
        pyarrow.orc.write_table(pa.table(columns), path)
        return path

    @pytest.fixture
    def calls(self, extended, monkeypatch):
        """Note each call of the recipe's own methods, in a list."""
        own, made = extended("orc").ORC, []

        def noting(name, method):
            def noted(self, *arguments):
                made.append(name)
                return method(self, *arguments)

            monkeypatch.setattr(own, name, noted)

        noting("read", own.read)
        noting("write", own.write)
        return made

    def test_without_the_recipe_it_is_not_read(self, tmp_path):
        with pytest.raises(f2sl.FileError, match=r"data.orc: this is an ORC file, which f2sl does not read"):
            f2sl.open_table(self.write(tmp_path / "data.orc", small_table()))

    def test_an_installed_package_is_found_by_the_suffix(self, extended, tmp_path):
        table = f2sl.open_table(self.write(tmp_path / "data.orc", small_table()))
        assert table.columns == f2sl.open_table(small_table()).columns

    @pytest.mark.parametrize("engine", ["auto", "stream"])
    def test_it_is_read_like_the_same_table_in_memory(self, calls, tmp_path, engine):
        path = self.write(tmp_path / "data.orc", small_table())
        table, expected = f2sl.open_table(path, engine=engine), f2sl.open_table(small_table())
        assert set(calls) == {"read"}
        assert table.columns == expected.columns
        assert [table.column(v).tolist() for v in range(6)] == [expected.column(v).tolist() for v in range(6)]
        assert f2sl.learn(path, engine=engine).graph_ == f2sl.learn(small_table()).graph_

    def test_a_damaged_file_is_named(self, calls, tmp_path):
        (tmp_path / "data.orc").write_bytes(b"ORC and nothing of one")
        with pytest.raises(f2sl.FileError, match=r"data.orc: not a valid ORC file \("):
            f2sl.open_table(tmp_path / "data.orc")
        assert calls

    def test_the_command_line(self, installed, tmp_path):
        self.write(tmp_path / "data.orc", small_table())
        shell(installed, tmp_path, "A table format")
        graph = f2sl.load_graph(tmp_path / "graph.json")
        assert graph.to_cpdag().directed_edges == [("a", "c"), ("b", "c")]
        packed = (tmp_path / "sampled.orc.gz").read_bytes()
        read = pyarrow.orc.ORCFile(pa.BufferReader(gzip.decompress(packed))).read()
        assert (read.num_rows, read.column_names) == (100, list(f2sl.load_network("asia").graph.nodes))

    def test_what_is_written_is_read(self, calls, tmp_path):
        from f2sl.cli.app import main

        path = tmp_path / "sampled.orc.gz"
        assert (
            main(["sample", "asia", "--rows", "50", "--random-state", "1", "--out", str(path), "--quiet"])
            == 0
        )
        assert calls == ["write"]
        read, drawn = (
            f2sl.open_table(path),
            f2sl.open_table(f2sl.load_network("asia").sample(50, random_state=1)),
        )
        assert (read.names, read.n_rows) == (drawn.names, 50)
        for v in range(8):
            labels = [[t.states[v][code] for code in t.column(v).tolist()] for t in (read, drawn)]
            assert labels[0] == labels[1]


class TestGraphFormat:
    GRAPH = f2sl.PDAG(["b", 'a "quoted"\n', "Ä b", "alone"], [("b", "Ä b")], [("Ä b", 'a "quoted"\n')])

    def test_what_is_saved_is_loaded(self, extended, tmp_path):
        for graph in (self.GRAPH, f2sl.DAG(["x", "y"], [("y", "x")])):
            save_graph(graph, tmp_path / "graph.net")
            loaded = f2sl.load_graph(tmp_path / "graph.net")
            assert (type(loaded), loaded.nodes, loaded) == (type(graph), graph.nodes, graph)

    def test_others_read_it_in_the_same_sense(self, extended, tmp_path):
        model = f2sl.learn(small_table(), "f2sl-s")
        model.dag_.save(tmp_path / "graph.net")
        read = nx.read_pajek(tmp_path / "graph.net")
        assert sorted((a, b) for a, b, _ in read.edges) == sorted(model.dag_.directed_edges)
        assert sorted(read.nodes) == list("abcdef")

    @pytest.mark.parametrize(
        ("text", "line"),
        [("*Vertices 1\n1 a", 2), ('*Vertices 1\n1 "a"\n*Arcs\n1 2', 4), ("1 2\n", 1), ("*Arcs\n1", 2)],
    )
    def test_a_damaged_file_is_named_with_its_line(self, extended, tmp_path, text, line):
        (tmp_path / "graph.net").write_text(text)
        with pytest.raises(f2sl.FileError, match=rf"graph.net, line {line}: neither a vertex nor an edge"):
            f2sl.load_graph(tmp_path / "graph.net")

    def test_the_command_line(self, installed, tmp_path):
        write_csv(tmp_path / "data.csv", small_table())
        _, compared = shell(installed, tmp_path, "A graph format")
        assert (tmp_path / "graph.net").read_text() == (
            '*Vertices 6\n1 "a"\n2 "b"\n3 "c"\n4 "d"\n5 "e"\n6 "f"\n*Arcs\n1 3\n2 3\n*Edges\n5 6\n'
        )
        assert re.search(r"SHD\W+0\b", compared)

    def test_what_is_no_format(self):
        def read(content):
            raise FormatError("never called")

        for suffix in ("net", ".", "", ".NET", ".a/b", None, "..net"):
            with pytest.raises(f2sl.OptionError, match=r"suffix of a graph format is like '\.net'"):
                add_format(suffix, str, read)
        with pytest.raises(f2sl.OptionError, match=r"graph format \.net: write must be a function, not None"):
            add_format(".net", None, read)
        with pytest.raises(f2sl.OptionError, match=r"graph format \.net: read must be a function, not 3"):
            add_format(".net", str, 3)
        assert ".net" not in GRAPH_FORMATS


class TestObjectsThatLackAMethod:
    class NoTest(f2sl.CITest):
        pass

    class NoScore(f2sl.Score):
        pass

    class NoMeasure(f2sl.Measure):
        pass

    class Stranger:
        def p_values(self, data, x, y, given): ...

    @pytest.mark.parametrize(
        ("algorithm", "options", "told"),
        [
            ("f2sl-c", {"ci_test": NoTest()}, "ci_test: NoTest has no method p_values"),
            ("pc-stable", {"ci_test": object()}, "ci_test: object has no method p_values"),
            ("f2sl-c", {"ci_test": Stranger()}, r"ci_test: Stranger must be derived from f2sl\.CITest"),
            ("f2sl-c", {"ci_test": NoTest}, r"ci_test: NoTest is a class; pass an object, NoTest\(\)"),
            ("f2sl-s", {"score": NoScore()}, "score: NoScore has no method families"),
            ("mmhc", {"score": [1]}, "score: list has no method families"),
            ("f2sl-h", {"score": NoScore()}, "score: NoScore has no method families"),
            ("f2sl-c", {"measure": NoMeasure()}, "measure: NoMeasure has no method values"),
            (
                "local-to-global",
                {"pc": "mmpc", "ci_test": NoTest()},
                "ci_test: NoTest has no method p_values",
            ),
            (
                "local-to-global",
                {"orient": "score", "score": NoScore()},
                "score: NoScore has no method families",
            ),
        ],
    )
    def test_it_is_named(self, algorithm, options, told):
        with pytest.raises(f2sl.OptionError, match=told):
            f2sl.learn(small_table(), algorithm, **options)

    def test_it_is_named_by_local_learners(self):
        with pytest.raises(f2sl.OptionError, match="ci_test: NoTest has no method p_values"):
            f2sl.learn_pc(small_table(), "a", algorithm="mmpc", ci_test=self.NoTest())
        with pytest.raises(f2sl.OptionError, match="score: NoScore has no method families"):
            f2sl.learn_mb(small_table(), "a", algorithm="sll", score=self.NoScore())

    def test_an_extension_that_cannot_be_loaded_is_told_of(self, installed, tmp_path):
        """On the command line, and the rest goes on."""
        about = tmp_path / "broken-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("[f2sl.extensions]\nbroken = no_such_module\n")
        write_csv(tmp_path / "data.csv", small_table())
        done = run(
            "learn", "data.csv", "--out", "graph.net", folder=tmp_path, extensions=(tmp_path, installed)
        )
        assert done.returncode == 0
        assert "the extension 'broken' (no_such_module) cannot be loaded" in done.stderr
        assert (tmp_path / "graph.net").exists()
