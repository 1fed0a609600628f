"""A cluster loses workers, or the connection: the answer is the same and complete, or there is one error."""

import pandas as pd
import pytest

import f2sl
from cluster_tools import Proxy, at_result, in_stage, killing, lets_go_of_all, lone_worker, running
from f2sl.data.dask import runtime as connecting
from f2sl.data.dask import table as counting
from f2sl.errors import ClusterError
from marks import compiled_only
from tables import related_codes

pytestmark = compiled_only

LEARNERS = {
    "reading the table": "f2sl-c",
    "measuring all pairs": "f2sl-c",
    "looking for v-structures": "f2sl-c",
    "testing independence": "mmhc",
    "hill climbing": "mmhc",
}
"""Who goes through each stage in which a cluster is asked; FCBF's second step has all it needs."""

CASES = [
    ("reading the table", "read there", "rows"),
    ("measuring all pairs", "sent", "tiles"),
    ("looking for v-structures", "read there", "tiles"),
    ("testing independence", "sent", "rows"),
    ("hill climbing", "read there", "tiles"),
]
"""Each stage once, each source of data with each way to split work; a table that is sent asks nothing of
workers while it is read."""

CUT_SECONDS = 5.0


@pytest.fixture
def split(request, monkeypatch):
    """Choose how work is split, and into pieces so small that there are several under way."""
    monkeypatch.setattr(counting, "ROWS_PER_VARIABLE", 0 if request.param == "rows" else 1e9)
    monkeypatch.setattr(counting, "CELLS_AT_ONCE", 50)
    monkeypatch.setattr(counting, "LEAST_CELLS", 50)
    monkeypatch.setattr(counting, "LEAST_WORK", 1.0)
    return request.param


@pytest.fixture
def three():
    """Give a cluster of its own to a test that kills workers: Dask does not always replace them."""
    with running(3) as client:
        yield client
        assert lets_go_of_all(client)


@pytest.fixture
def folder(tmp_path):
    """Write a table in three files."""
    columns = {f"c{i}": [f"s{code}" for code in row] for i, row in enumerate(related_codes(3, 600, 8))}
    for i in range(3):
        part = pd.DataFrame({name: values[200 * i : 200 * (i + 1)] for name, values in columns.items()})
        part.to_parquet(tmp_path / f"{i}.parquet", index=False)
    return tmp_path


def learned(stage, data, **options):
    model = f2sl.learn(data, LEARNERS[stage], **options)
    return model.graph_, model.graph_.weights, model.n_rows_


def frame_of(folder):
    return pd.concat([pd.read_parquet(path) for path in sorted(folder.iterdir())], ignore_index=True)


@pytest.mark.parametrize(("stage", "source", "split"), CASES, indirect=["split"])
def test_a_worker_is_killed_in_each_stage(three, monkeypatch, folder, split, stage, source):
    """Of data that were sent from here, what is lost must be sent again."""
    data = folder if source == "read there" else frame_of(folder)
    with in_stage(monkeypatch, stage, killing(three)):
        found = learned(stage, data, engine="dask", scheduler=three)
    assert found == learned(stage, data)


@pytest.mark.parametrize("number", [1, 4], ids=["first pass", "second pass"])
def test_a_worker_is_killed_in_each_pass_over_files(three, monkeypatch, folder, number):
    calls = at_result(monkeypatch, number, killing(three))
    found = learned("reading the table", folder, engine="dask", scheduler=three)
    assert found == learned("reading the table", folder)
    assert len(calls) > number


@pytest.mark.parametrize(
    ("split", "stage"), [("tiles", "measuring all pairs"), ("rows", "hill climbing")], indirect=["split"]
)
def test_all_workers_are_killed_at_once(monkeypatch, folder, split, stage):
    """Whether they come back in time is Dask's affair; an answer is complete, or there is an error."""
    data = frame_of(folder)
    with running(3) as client:
        try:
            with in_stage(monkeypatch, stage, killing(client, 3)):
                found = learned(stage, data, engine="dask", scheduler=client)
        except ClusterError as error:
            assert str(error).startswith("tcp://")
        else:
            assert found == learned(stage, data)


@pytest.mark.parametrize(
    ("split", "stage"),
    [("rows", "measuring all pairs"), ("tiles", "looking for v-structures")],
    indirect=["split"],
)
def test_the_network_is_cut(three, monkeypatch, folder, split, stage):
    data = frame_of(folder)
    proxy = Proxy(three.scheduler.address)
    with in_stage(monkeypatch, stage, lambda: proxy.cut(CUT_SECONDS)):
        found = learned(stage, data, engine="dask", scheduler=proxy.address)
    assert found == learned(stage, data)
    proxy.close()


def test_the_network_is_cut_between_two_batches(three, monkeypatch, folder):
    """When the cluster is asked how many workers it has."""
    data = frame_of(folder)
    proxy = Proxy(three.scheduler.address)
    ask, asked = connecting.Cluster._workers_now, []

    def cut(self):
        asked.append(len(asked))
        if len(asked) == 5:
            proxy.cut(1.0)
        return ask(self)

    monkeypatch.setattr(connecting.Cluster, "_workers_now", cut)
    found = learned("hill climbing", data, engine="dask", scheduler=proxy.address)
    assert found == learned("hill climbing", data)
    assert len(asked) > 5
    proxy.close()


def test_the_scheduler_goes_away_and_comes_back(three, monkeypatch, folder):
    """There is an error, and the same can be started again."""
    monkeypatch.setattr(connecting, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 2.0)
    data = frame_of(folder)
    proxy = Proxy(three.scheduler.address)
    with (
        pytest.raises(ClusterError, match=rf"{proxy.address}: the connection to the scheduler was lost"),
        in_stage(monkeypatch, "measuring all pairs", proxy.close),
    ):
        learned("measuring all pairs", data, engine="dask", scheduler=proxy.address)
    again = learned("measuring all pairs", data, engine="dask", scheduler=three)
    assert again == learned("measuring all pairs", data)


def test_all_workers_go_away(monkeypatch, folder):
    monkeypatch.setattr(connecting, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(connecting, "LOOK_SECONDS", 0.2)
    with (
        running(0) as client,
        lone_worker(client) as process,
        pytest.raises(ClusterError, match=r"tcp://.*(all workers are gone|has no workers)"),
        in_stage(monkeypatch, "measuring all pairs", process.kill),
    ):
        learned("measuring all pairs", folder, engine="dask", scheduler=client)


def test_a_worker_that_dies_over_the_same_work_again_and_again(three, monkeypatch, folder):
    """As it would if it had too little memory."""
    monkeypatch.setattr(counting, "_search_tiles", die)
    with pytest.raises(ClusterError, match=r"tcp://.*(died on the same work|the work was lost)"):
        learned("measuring all pairs", folder, engine="dask", scheduler=three)


def die(*_):
    import os

    os.abort()
