"""What every learner returns: a graph with what the data decide, and one DAG of it, also from a file."""

from __future__ import annotations

import pytest

import f2sl
from f2sl.learners.base import STRUCTURE

OPTIONS = {"dag-gnn": {"epochs": 2, "max_iter": 1}, "notears": {"max_iter": 2}}
KNOWN = f2sl.Knowledge(tiers=[["x1"], ["*"]])


@pytest.fixture(scope="module")
def tables():
    return {
        kind: f2sl.open_table(
            f2sl.random_network(6, 7, kind=kind, random_state=2, **how).sample(400, random_state=2)
        )
        for kind, how in (("discrete", {"states": (2, 2)}), ("continuous", {}))
    }


@pytest.mark.filterwarnings("ignore::f2sl.errors.F2SLWarning")
@pytest.mark.parametrize("known", [None, KNOWN], ids=["data alone", "with knowledge"])
@pytest.mark.parametrize("name", [entry.name for entry in STRUCTURE])
def test_the_graph_and_its_dag(tables, tmp_path, name, known):
    learner = STRUCTURE.create(name, {**OPTIONS.get(name, {}), "knowledge": known})
    if name == "dag-gnn":
        pytest.importorskip("torch")
    table = tables["discrete" if "discrete" in learner.takes else "continuous"]
    model = learner.fit(table)
    graph, dag = model.graph_, model.dag_
    assert type(dag) is f2sl.DAG
    assert dag.skeleton() == graph.skeleton()
    assert set(graph.nodes) == set(table.names)
    assert known is None or known.check(graph) == known.check(dag) == []
    if name in ("notears", "dag-gnn"):  # the method tells all directions
        assert graph is dag
    elif hasattr(model, "score_"):  # a score tells equivalent DAGs not apart
        assert graph == dag.to_cpdag(known)
    else:
        assert dag == graph.to_dag()
    graph.save(tmp_path / "graph.json")
    again = f2sl.load_graph(tmp_path / "graph.json")
    assert (again, again.to_dag()) == (graph, dag)
    assert again.to_dag().read_as == graph.read_as
    # Equivalence classes are compared, so both are as far from any truth.
    truth = f2sl.DAG(graph.nodes, list(zip(graph.nodes, graph.nodes[1:], strict=False)))
    if dag.is_consistent_extension:
        assert f2sl.compare(truth, graph) == f2sl.compare(truth, dag) == f2sl.compare(truth, again)
    assert f2sl.compare(dag, graph).shd == 0 or not dag.is_consistent_extension
