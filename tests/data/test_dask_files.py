"""Workers read files and Dask DataFrames as one process would, and refuse the same in the same words."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import f2sl
from cli_process import f2sl as command
from cluster_tools import forgets_all, running
from f2sl import DataError, F2SLError, FileError, open_table
from f2sl.data.dask import reading as parts
from f2sl.data.engines import open_engine
from marks import compiled_only
from tables import related_codes

pytestmark = compiled_only

MEMORY = 1 << 28


@pytest.fixture(scope="module")
def client():
    with running(2) as client:
        yield client
        assert forgets_all(client)


def frame():
    """Make a table whose last rows have a state that no others have."""
    codes = related_codes(3, 300, 6)
    made = pd.DataFrame({f"c{i}": [f"s{code}" for code in row] for i, row in enumerate(codes)})
    made.loc[280:, "c0"] = "entirely new"
    return made


@pytest.fixture(params=["parquet", "csv"])
def folder(request, tmp_path):
    """Write a table in three files, with a column that is to be left out."""
    place = tmp_path / "parts"
    place.mkdir()
    whole = frame().assign(id=range(300))
    for i in range(3):
        write(whole[100 * i : 100 * (i + 1)], place / f"{i}.{request.param}")
    return place


def write(part, path):
    (part.to_csv if path.suffix == ".csv" else part.to_parquet)(path, index=False)


def learned(data, **options):
    model = f2sl.learn(data, **options)
    return model.graph_, model.graph_.weights, model.n_rows_


def content(table):
    """Give all that a table holds."""
    return table.columns, table.notes, [table.column(i).tolist() for i in range(table.n_variables)]


def test_workers_read_files(client, folder):
    table = open_table(folder, engine="dask", scheduler=client, memory=MEMORY, drop=["id"])
    assert content(table) == content(open_table(folder, engine="memory", drop=["id"]))
    assert "entirely new" in table.states[0]
    assert learned(table) == learned(frame())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_values_that_are_missing_by_name(client, tmp_path, suffix):
    made = pd.DataFrame({"a": ["x", "unknown", "y", "x"] * 3, "b": [0.5, -999.0, 1.5, 2.0] * 3})
    for i in range(3):
        write(made[4 * i : 4 * (i + 1)], tmp_path / f"{i}.{suffix}")
    on_cluster = {"engine": "dask", "scheduler": client, "memory": MEMORY, "na": ["unknown", "-999", "8"]}
    tables = [open_table(data, **on_cluster) for data in (tmp_path, dd.from_pandas(made, npartitions=2))]
    tables += [open_table(data, na=on_cluster["na"]) for data in (tmp_path, made)]
    for table in tables:
        assert table.states[0] == ("x", "y") and [column.missing for column in table.columns] == [3, 3]
        assert (table.ends[0][1], table.ends[1][1]) == (0.5, 2.0)
        assert "na=['8']: no such values in the columns read" in table.notes


@pytest.mark.parametrize("n_partitions", [1, 2])
def test_a_dask_frame(client, n_partitions):
    given = dd.from_pandas(frame(), npartitions=n_partitions)
    assert learned(given, engine="dask", scheduler=client) == learned(frame())


def test_a_dask_frame_goes_to_the_cluster_that_dask_itself_would_use(client):
    given = dd.from_pandas(frame(), npartitions=2)
    with client.as_current():
        assert learned(given) == learned(frame())


def test_the_command_line_with_an_address(client, folder):
    options = "--drop", "id", "--quiet", "--out"
    asked = "--engine", "dask", "--scheduler", client.scheduler.address
    for name, more in (("here.json", ()), ("there.json", asked)):
        done = command("learn", folder, *more, *options, folder.parent / name)
        assert (done.returncode, done.stderr) == (0, "")
    here, there = (f2sl.load_graph(folder.parent / name) for name in ("here.json", "there.json"))
    assert (there, there.weights) == (here, here.weights)


@pytest.mark.parametrize("missing", ["drop", "state"])
def test_missing_values_and_continuous_columns_that_are_cut(client, tmp_path, monkeypatch, missing):
    """A column of more numbers than are kept account of is read as a whole."""
    monkeypatch.setattr("f2sl.data.digest.MOST_DISTINCT", 20)
    rng = np.random.default_rng(0)
    whole = pd.DataFrame(
        {"a": rng.normal(size=90), "b": rng.integers(0, 50, 90) / 2, "c": ["x", "y", None] * 30}
    )
    for i in range(3):
        write(whole[30 * i : 30 * (i + 1)], tmp_path / f"{i}.parquet")
    reading = {"bins": 3, "missing": missing}
    expected = content(open_table(whole, engine="memory", **reading))
    assert content(open_table(tmp_path, engine="dask", scheduler=client, **reading)) == expected
    given = dd.from_pandas(whole, npartitions=2)
    assert content(open_table(given, engine="dask", scheduler=client, **reading)) == expected


def other_columns(path):
    write(frame().drop(columns="c3").assign(id=0), path)
    return "without column 'c3', unlike "


def other_types(path):
    write(frame().assign(id="text"), path)
    return "column 'id' holds text, but integers in "


def cut_off(path):
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rfind(b",")] if path.suffix == ".csv" else whole[: len(whole) // 2])
    return ""


@pytest.mark.parametrize("damage", [other_columns, other_types, cut_off])
def test_files_that_disagree_or_are_damaged_are_named(client, folder, damage):
    """In the same words as without a cluster, and on one line of the command line."""
    path = max(folder.iterdir())
    told = f"{path}: {damage(path)}"
    with pytest.raises(F2SLError) as expected:
        f2sl.learn(folder, engine="stream")
    with pytest.raises(F2SLError) as found:
        f2sl.learn(folder, engine="dask", scheduler=client)
    assert str(found.value) == str(expected.value)
    assert str(found.value).startswith(told)
    done = command("learn", folder, "--engine", "dask", "--scheduler", client.scheduler.address)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"f2sl: error: {found.value}\n")


def test_a_file_that_workers_do_not_see(client, folder, monkeypatch):
    """As if it were on a disk of this machine alone: it is there until this process has looked at it."""
    path, look = max(folder.iterdir()), parts.ColumnsToRead.of

    def look_and_hide(files, reading):
        asked = look(files, reading)
        path.rename(path.with_suffix(".hidden"))
        return asked

    monkeypatch.setattr(parts.ColumnsToRead, "of", look_and_hide)
    with pytest.raises(
        FileError, match=rf"{path}: the worker tcp://[\d.:]+ has no such file; all workers must see"
    ):
        f2sl.learn(folder, engine="dask", scheduler=client)


def test_a_file_that_changes_meanwhile(client, folder, monkeypatch):
    path, check = max(folder.iterdir()), parts.prepare

    def check_and_change(*arguments):
        write(frame().assign(id=0), path)
        return check(*arguments)

    monkeypatch.setattr(parts, "prepare", check_and_change)
    with pytest.raises(F2SLError, match=rf"{path}: the file was changed while it was read; run again"):
        f2sl.learn(folder, engine="dask", scheduler=client)


def test_partitions_that_disagree(client):
    given = dd.from_map(lambda one: pd.DataFrame({"a": [one, one], "b": [0, 1]}), [0, "x"])
    with pytest.raises(F2SLError, match="partition 1: column 'a' holds text, but integers in partition 0"):
        f2sl.learn(given, engine="dask", scheduler=client)


@pytest.mark.parametrize("part", [lambda frame: frame["a"], lambda frame: frame.to_dask_array()])
def test_what_else_dask_has_is_refused(part):
    frame = dd.from_pandas(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), npartitions=1)
    with pytest.raises(DataError, match=r"(Series|Array) of Dask's"):
        f2sl.learn(part(frame))


MIXED = {"a": [0.5, 1.5, 0.25], "b": ["x", "y", "x"], "c": [0.1, 0.3, 0.2], "d": [4, 4, 9]}


def test_columns_of_both_kinds(client, tmp_path):
    """Codes and numbers come back whether they were read there or sent."""
    whole = pd.DataFrame(MIXED)
    for i in range(3):
        write(whole[i : i + 1], tmp_path / f"{i}.parquet")
    expected = open_table(MIXED)
    for data in (tmp_path, MIXED, dd.from_pandas(whole, npartitions=2)):
        table = open_table(data, engine="dask", scheduler=client)
        assert content(table) == content(expected)
        assert [end.tolist() for end in table.ends] == [[0.25, 0, 0.1, 0], [1.5, 1, 0.3, 1]]
        assert table.select([2, 0]).all_numbers().tolist() == [[0.1, 0.3, 0.2], [0.5, 1.5, 0.25]]
        assert table.select([3, 1]).as_numbers().all_numbers().tolist() == [[0, 0, 1], [0, 1, 0]]
        assert table.kind == "mixed"


def test_columns_left_out_of_a_dask_frame(client):
    given = dd.from_pandas(frame().assign(id=range(300)), npartitions=2)
    table = open_table(given, scheduler=client, drop=["id"])
    assert content(table) == content(open_table(frame()))


def test_two_fits_on_one_table_read_it_once(client, folder):
    with open_table(folder, engine="dask", scheduler=client, drop=["id"]) as table:
        first = learned(table)
        for path in folder.iterdir():
            path.unlink()
        assert learned(table) == first == learned(frame())
        with open_engine(table) as engine:
            assert engine.column(1).tolist() == table.column(1).tolist()
