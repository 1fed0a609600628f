"""The shape of a continuous column does not matter to a learner, unless values are linear in each other."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata

import f2sl
from cli_process import f2sl as command
from f2sl import F2SLError, OptionError
from f2sl.data import transform
from f2sl.data.stream import StreamTable
from f2sl.data.transform import for_learning
from marks import compiled_only


def noise(drawn, name, n):
    return {
        "normal": drawn.standard_normal,
        "laplace": drawn.laplace,
        "uniform": drawn.random,
        "exponential": drawn.standard_exponential,
    }[name](size=n)


def linear(random_state, name="normal", n=1000, p=8):
    """Draw columns, each a linear function of up to two before it, and noise."""
    drawn = np.random.default_rng([314, random_state])
    columns = []
    for i in range(p):
        column = noise(drawn, name, n)
        for u in drawn.permutation(i)[:2]:
            column = column + drawn.choice([-1.0, 1.0]) * drawn.uniform(0.5, 1.2) * columns[u]
        columns.append(column / column.std())
    return {f"x{i}": column for i, column in enumerate(columns)}


def scored(table, **options):
    """Return the names of the columns that a learner takes as normal scores."""
    with for_learning(table, **options) as learned:
        return [column.name for column in learned.columns if column.is_scores]


def content(table):
    ends = [end.tolist() for end in table.ends]
    return table.columns, ends, [table.column(i).tobytes() for i in range(table.n_variables)]


VALUES = st.lists(
    st.none() | st.sampled_from([-2.0, 0.0, 0.5, 3.0]) | st.integers(-(10**6), 10**6).map(lambda k: k / 1000),
    min_size=3,
    max_size=40,
)


@given(VALUES)
def test_scores_are_quantiles_of_average_ranks(values):
    known = np.array([value for value in values if value is not None])
    if len(set(known)) < 2:
        return
    table = f2sl.open_table({"a": values, "b": range(len(values))}, kinds="continuous", transform="ranks")
    with for_learning(table) as learned:
        found = learned.column(0)
    expected = norm.ppf((rankdata(known) - 0.5) / len(known))
    np.testing.assert_allclose(found[~np.isnan(found)], expected, rtol=1e-12, atol=1e-12)
    assert np.isnan(found).tolist() == [value is None for value in values]


def test_increasing_functions_of_columns_change_nothing():
    data = linear(1)
    bent = {
        name: (np.exp, np.arctan, lambda x: x**3)[i % 3](column)
        for i, (name, column) in enumerate(data.items())
    }
    models = [f2sl.learn(one, transform="ranks") for one in (data, bent)]
    assert models[0].graph_ == models[1].graph_
    assert models[0].graph_.weights == models[1].graph_.weights
    assert models[0].transformed_ == tuple(data)


@pytest.mark.parametrize("name", ["normal", "laplace", "uniform", "exponential"])
@pytest.mark.parametrize("random_state", range(6))
def test_linear_columns_keep_their_values(name, random_state):
    assert scored(f2sl.open_table(linear(random_state, name))) == []


@pytest.mark.parametrize("random_state", range(3))
def test_bent_columns_become_scores(random_state):
    data = linear(random_state)
    for bend in (np.exp, lambda x: x**3, norm.cdf):
        assert scored(f2sl.open_table({name: bend(column) for name, column in data.items()})) == list(data)


def test_one_bent_column_among_linear_ones():
    data = linear(2)
    for name in data:
        assert scored(f2sl.open_table(data | {name: np.exp(data[name])})) == [name]


def test_a_continuous_column_that_depends_on_a_discrete_one_keeps_its_values_beside_bent_ones():
    drawn = np.random.default_rng(27)
    state = drawn.integers(0, 2, 2000)
    shifted = 8.0 * state + drawn.standard_normal(2000)
    bent = np.exp(1.5 * drawn.standard_normal((2, 2000)).cumsum(axis=0))
    data = {"state": np.array(["u", "v"])[state], "shifted": shifted, "a": bent[0], "b": bent[1]}
    assert scored(f2sl.open_table(data)) == ["a", "b"]
    assert scored(f2sl.open_table({name: data[name] for name in ("state", "shifted")})) == []


def test_two_huge_rows_do_not_make_columns_linear():
    drawn = np.random.default_rng(8)
    size = np.exp(2.0 * drawn.standard_normal(250))
    data = {
        "area": size * np.exp(drawn.standard_normal(250)),
        "people": size * np.exp(drawn.standard_normal(250)),
    }
    for column in data.values():
        column[:2] = 100.0 * column.max()
    assert np.corrcoef(*data.values())[0, 1] > 0.99
    assert scored(f2sl.open_table(data)) == ["area", "people"]


def test_a_few_bent_columns_that_explain_each_other_become_scores():
    """Neither all values nor all scores are right here, and none of the bent columns gains alone."""
    drawn = np.random.default_rng(8)
    data = linear(0, "uniform", n=400, p=5)
    size = drawn.standard_normal(400)
    bent = {
        name: np.exp(3.0 * (size + 0.5 * drawn.standard_normal(400))) for name in ("area", "people", "users")
    }
    assert scored(f2sl.open_table(data | bent)) == sorted(bent)
    assert scored(f2sl.open_table(data)) == []
    model = f2sl.learn(data | bent)
    edges = [*model.graph_.directed_edges, *model.graph_.undirected_edges]
    assert sum({a, b} <= bent.keys() for a, b in edges) >= 2


def test_columns_with_two_values_are_as_before():
    drawn = np.random.default_rng(3)
    a = drawn.integers(0, 2, 500)
    data = {"a": a.astype(float), "b": 1e6 * (a ^ (drawn.random(500) < 0.2)), "c": drawn.standard_normal(500)}
    assert scored(f2sl.open_table(data, kinds="continuous")) == []
    models = [f2sl.learn(data, "pc-stable", kinds="continuous", transform=how) for how in ("ranks", "none")]
    assert models[0].graph_ == models[1].graph_


def test_a_single_number_and_few_rows():
    assert scored(f2sl.open_table({"a": [0.5, 9e9, 2.5, 0.1]})) == []
    with for_learning(f2sl.open_table({"a": [0.5, 1.5], "b": ["x", "y"]}, transform="ranks")) as learned:
        assert learned.column(0).tolist() == pytest.approx(norm.ppf([0.25, 0.75]))


def skewed(n=600):
    """Return a mixed table with missing values, some columns bent."""
    drawn = np.random.default_rng(5)
    data = linear(6, n=n) | {"x7": linear(6, n=n)["x7"].round(1)}
    data |= {name: np.exp(2.0 * data[name]) for name in ("x0", "x3", "x7")}
    data["x3"] = np.where(drawn.random(n) < 0.1, np.nan, data["x3"])
    return data | {"s": np.where(data["x1"] > 0.5, "high", "low")}


@pytest.mark.parametrize("rows_compared", [100, 1 << 16])
def test_order_threads_and_blocks_do_not_matter(rows_compared, monkeypatch):
    monkeypatch.setattr(transform, "ROWS_COMPARED", rows_compared)
    monkeypatch.setattr(transform, "ROWS_FOR_THREADS", 0)
    data, n = skewed(), 600
    table = f2sl.open_table(data)
    expected = scored(table)
    assert expected == ["x0", "x3", "x7"]
    order = np.random.default_rng(9).permutation(n)
    turned = {name: data[name][order] for name in reversed(data)}
    assert sorted(scored(f2sl.open_table(turned))) == expected
    assert scored(table, n_jobs=2) == expected
    with for_learning(table) as learned:
        for rows in (7, 256, 1000):
            with StreamTable.of_table(table, rows) as streamed, for_learning(streamed, n_jobs=1) as other:
                assert content(other) == content(learned)
                assert other.notes == learned.notes
                assert content(streamed) == content(table)  # the user's own numbers stay
                mixed = other.select([8, 0, 3])
                assert mixed.column(1).tolist() == learned.column(0).tolist()


def test_blocks_are_released_and_the_table_is_not(tmp_path):
    table = StreamTable.of_table(f2sl.open_table(skewed()), 100)
    with for_learning(table) as learned:
        assert learned is not table
    with pytest.raises(F2SLError, match="closed"):
        learned.column(0)
    assert learned.column(8).tolist() == table.column(8).tolist()
    assert len(table.column(0)) == 600
    table.close()


@compiled_only
def test_a_cluster_gives_the_same(client):
    table = f2sl.open_table(skewed())
    remote = f2sl.open_table(skewed(), engine="dask", scheduler=client)
    with for_learning(table) as learned, for_learning(remote) as other:
        assert content(other) == content(learned)
        assert other.notes == learned.notes
        assert content(remote) == content(table)
        assert other.margins[8].tolist() == remote.margins[8].tolist()
    assert f2sl.learn(remote).graph_ == f2sl.learn(table).graph_


@pytest.fixture(scope="module")
def client():
    from cluster_tools import running

    with running(2) as client:
        yield client


def test_notes_name_the_columns():
    told = "columns 'x0', 'x3', 'x7': normal scores of ranks, which fit better than the values"
    model = f2sl.learn(skewed())
    assert [note for note in model.notes_ if note.startswith(told)] == [
        f'{told} (transform="none" keeps these)'
    ]
    assert model.transformed_ == ("x0", "x3", "x7")
    assert any(note.startswith(told) for note in f2sl.check(skewed()).notes)
    for how in ("none", "ranks"):
        assert not any("normal scores" in note for note in f2sl.learn(skewed(), transform=how).notes_)
    assert not any("normal scores" in note for note in f2sl.open_table(skewed()).notes)


def test_everything_else_has_the_values():
    data = {name: column for name, column in skewed().items() if name not in ("x3", "s")}
    with f2sl.open_table(data) as table:
        model = f2sl.F2SLh().fit(table)
        assert table.column(0).tolist() == data["x0"].tolist()
        net = model.network(table)
    for name in net.graph.nodes:
        if not net.graph.parents(name):
            assert float(net.equations[name].intercepts) == pytest.approx(data[name].mean())
    assert (
        f2sl.varsortability({k: data[k] for k in ("x0", "x1")}, f2sl.DAG(["x0", "x1"], [("x0", "x1")])) == 0.0
    )


def test_explanations_and_replicates_use_what_the_learner_did():
    data = {name: column for name, column in skewed().items() if name not in ("x3", "s")}
    with for_learning(f2sl.open_table(data)) as learned:
        same = {name: learned.column(i) for i, name in enumerate(learned.names)}
    models = [f2sl.learn(one, transform=how) for one, how in ((data, "auto"), (same, "none"))]
    assert models[0].transformed_ == ("x0", "x7")
    assert models[0].graph_.weights == models[1].graph_.weights
    a, b = models[0].graph_.directed_edges[0]
    texts = [model.explain(a, b, one) for model, one in zip(models, (data, same), strict=True)]
    assert str(texts[0]) == str(texts[1])
    # An explanation follows the model, not the default.
    plain = f2sl.learn(data, transform="none")
    assert str(plain.explain("x0", "x7", data)) != str(models[0].explain("x0", "x7", data))
    found = [f2sl.bootstrap(one, "f2sl-c", 4, transform=how) for one, how in ((data, "auto"), (same, "none"))]
    assert found[0].graph == found[1].graph
    assert any("normal scores" in note for note in found[0].notes)


def test_learners_of_sets_use_scores():
    data = linear(2)
    bent = {name: np.exp(3.0 * column) for name, column in data.items()}
    with for_learning(f2sl.open_table(bent)) as learned:
        same = {name: learned.column(i) for i, name in enumerate(learned.names)}
    for find in (f2sl.learn_pc, f2sl.learn_mb):
        assert find(bent) == find(same, transform="none") != find(bent, transform="none")


def test_learners_by_weights_take_values_unless_told():
    data = {name: np.exp(column) for name, column in linear(2, p=4).items()}
    model = f2sl.NOTEARS().fit(data)
    assert model.transformed_ == ()
    assert (f2sl.learn(data, "notears", transform="none").weights_ == model.weights_).all()
    ranked = f2sl.learn(data, "notears", transform="ranks")
    assert ranked.transformed_ == tuple(data)
    assert (ranked.weights_ != model.weights_).any()


def test_discrete_tables_are_as_before():
    asia = f2sl.load_example("asia")
    model = f2sl.learn(asia)
    assert model.transformed_ == ()
    assert model.graph_ == f2sl.learn(asia.assign() if hasattr(asia, "assign") else asia).graph_


def test_the_option():
    with pytest.raises(OptionError, match="transform"):
        f2sl.open_table({"a": [0.5, 1.5]}, transform="log")
    table = f2sl.open_table(linear(1), transform="none")
    with pytest.raises(OptionError, match="already open"):
        f2sl.learn(table, transform="ranks")
    assert f2sl.learn(table).graph_.learned_by["reading"] == {"transform": "none"}
    assert f2sl.learn(linear(1)).graph_.learned_by["reading"] == {}


def test_on_the_command_line(tmp_path):
    path, graph = tmp_path / "data.csv", tmp_path / "graph.json"
    data = {name: np.exp(2.0 * column) for name, column in linear(2, p=4).items()}
    path.write_text(
        "\n".join(
            [
                ",".join(data),
                *(",".join(map(repr, map(float, row))) for row in zip(*data.values(), strict=True)),
            ]
        )
    )
    told = "normal scores of ranks, which fit better than the values (--transform none keeps these)"
    for words in (("learn",), ("check",), ("pc",), ("bootstrap", "--replicates", "2")):
        assert told in " ".join(command(*words, path).stdout.split())
        assert "normal scores" not in command(*words, path, "--transform", "none").stdout
    command("learn", path, "--transform", "ranks", "--out", graph)
    assert json.loads(graph.read_text())["learned_by"]["reading"] == {"transform": "ranks"}
    plain = f2sl.learn(path, transform="none")
    a, b = plain.dag_.directed_edges[0]
    assert str(plain.explain(a, b, path)) in command("why", path, a, b, "--transform", "none").stdout
    refused = command("fit", graph, path, "--transform", "none", "--out", tmp_path / "net.json")
    assert refused.returncode != 0
    assert "--transform" in refused.stderr
