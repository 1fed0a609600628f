"""A cluster of real processes learns what memory learns, to the last bit, whatever happens to it."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed.comm import connect

import f2sl
from cli_process import ENVIRONMENT, MODULE, SECONDS, heed_interrupts, small_table, write_csv
from cli_process import f2sl as command
from cluster_tools import at_result, becomes_empty, forgets_all, lone_worker, running
from f2sl import BIC, DataError, OptionError
from f2sl.data.blocks import BlockEngine
from f2sl.data.dask import runtime as connecting
from f2sl.data.dask.runtime import Cluster
from f2sl.data.dask.table import CELLS_AT_ONCE, DaskTable, TileSplitEngine, open_cluster_engine
from f2sl.data.engines import Queries
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.mixed.engine import MixedEngine
from f2sl.data.moments import Moments
from f2sl.errors import ClusterError
from f2sl.stats.choose import make_score, make_test, related_pairs
from f2sl.stats.measures.information import Information, LogTable
from f2sl.stats.scores.tables import FamilyFormula, LogLikelihood
from mixed_tools import drawn_missing, mixed_columns, mixed_table
from tables import make_table, random_codes, related_codes, related_numbers

MEMORY = 1 << 28
ALL_SCORES = ("bdeu", "bds", "k2", "bic", "aic", LogLikelihood())


@pytest.fixture(scope="module")
def client(request):
    with running(getattr(request, "param", 3)) as client:
        yield client
        assert forgets_all(client)


def clustered(table, client, n_blocks=2):
    return DaskTable.of_table(table, Cluster.connect(client, 1, MEMORY), MEMORY, n_blocks)


def answers(engine, n):
    """Ask for margins, pairs, tests and scores of all kinds."""
    families = [(v, tuple(u for u in range(n) if u != v)[:k]) for v in range(n) for k in range(n)]
    x, y = np.triu_indices(n, 1)
    with engine:
        found = engine.search_pairs(Information(engine).pairs_above(0.0))
        of_one = related_pairs(engine, 0.01, "mi")(target=3)
        asked = make_test(engine, 0.01).ask(x, y, np.full((len(x), 1), 5))
        scores = [make_score(engine, score).score(families).tolist() for score in ALL_SCORES]
        pairs = [[part.tolist() for part in vars(one).values()] for one in (found, of_one)]
        return repr([engine.margins.tolist(), pairs, [part.tolist() for part in asked[:2]], scores])


def by_rows(table):
    return BlockEngine(table, 1, CELLS_AT_ONCE)


# Counting


@pytest.mark.parametrize("split", [by_rows, TileSplitEngine])
@pytest.mark.parametrize(
    ("client", "n_blocks"), [(1, 2), (3, 1), (3, 2), (3, 20)], indirect=["client"], scope="module"
)
def test_pairs_tests_and_scores_are_the_same_to_the_last_bit(client, split, n_blocks):
    table = make_table(related_codes(n_blocks, 210, 7))
    assert answers(split(clustered(table, client, n_blocks)), 7) == answers(MemoryEngine(table, 1), 7)


@pytest.mark.parametrize("split", [by_rows, TileSplitEngine])
def test_large_tables_and_many_states(client, split):
    cardinalities = [2, 3, 1, 300, 70]
    table = make_table(random_codes(3, 120, cardinalities), cardinalities)
    queries = Queries.of([(4, 3), (3, 4, 0), (2, 4, 1), (0, 1)])
    formula = FamilyFormula(BIC(), LogTable(120))
    with split(clustered(table, client)) as engine, MemoryEngine(table, 1) as other:
        assert engine.evaluate(queries, formula).tolist() == other.evaluate(queries, formula).tolist()
        assert engine.evaluate(Queries.of([]), formula, width=3).shape == (0, 3)
        one, two = (e.search_pairs(Information(e).pairs_above(0.0)) for e in (engine, other))
        assert [part.tolist() for part in vars(one).values()] == [
            part.tolist() for part in vars(two).values()
        ]


@pytest.mark.parametrize(("n_rows", "split"), [(2100, BlockEngine), (1900, TileSplitEngine)])
def test_the_shape_decides_how_to_split(client, n_rows, split):
    table = clustered(make_table(random_codes(0, n_rows, [2, 2])), client)
    assert type(open_cluster_engine(table)) is split


@pytest.mark.parametrize("split", [by_rows, TileSplitEngine])
def test_a_closed_engine_leaves_nothing_but_the_table(client, split):
    table = clustered(make_table(related_codes(2, 100, 4)), client)
    held = {block.key for block in table.blocks.get()}
    with split(table) as engine:
        engine.search_pairs(Information(engine).pairs_above(0.0))
        if split is TileSplitEngine:
            assert set(client.futures) > held
    # The engine is still here, so that nothing is gone only because it is.
    becomes_empty(lambda: set(client.futures) - held, seconds=10.0)
    assert set(client.futures) == held


def test_progress_of_pairs_adds_up_to_all(client):
    shares = []
    with TileSplitEngine(clustered(make_table(related_codes(2, 100, 9)), client)) as engine:
        engine.search_pairs(Information(engine).pairs_above(0.0), advance=shares.append)
    assert sum(shares) == pytest.approx(1.0)


def test_moments_are_the_same_to_the_last_bit(client):
    table = related_numbers(4)
    one, other = Moments.of_table(table), Moments.of_table(clustered(table, client))
    assert one.correlations.tolist() == other.correlations.tolist()
    assert one.variances.tolist() == other.variances.tolist()


def test_correlations_with_many_missing_values_are_the_same_to_the_last_bit(client):
    columns = mixed_columns(5, 200)
    table = mixed_table(columns, missing=drawn_missing(5, columns, 0.7))
    with MixedEngine(table) as one, MixedEngine(clustered(table, client, 3)) as other:
        assert one.embedded.correlations.tolist() == other.embedded.correlations.tolist()


def test_discrete_tables_with_missing_values_are_learned_as_in_memory(client):
    """Numbers, with and without missing values, are for the test of all engines."""
    kinds = ("discrete",) * 4
    columns = mixed_columns(4, 200, kinds)
    table = mixed_table(columns, kinds, missing=drawn_missing(4, columns))
    models = [f2sl.F2SLh().fit(own) for own in (table, clustered(table, client, 3))]
    assert models[0].graph_.n_edges
    assert models[0].graph_ == models[1].graph_ and models[0].score_ == models[1].score_
    assert models[0].n_tests_ == models[1].n_tests_


def test_knowledge_is_obeyed_as_in_memory_and_in_blocks(client):
    asia = f2sl.example_path("asia")
    known = f2sl.Knowledge(tiers=[["asia", "smoke"], ["*"]], required=[("tub", "xray")], leaves=["dysp"])
    ways = ({"engine": "memory"}, {"engine": "stream"}, {"engine": "dask", "scheduler": client})
    for name in ("f2sl-h", "f2sl-c", "mmhc"):
        graphs = [f2sl.learn(asia, name, knowledge=known, **way).graph_ for way in ways]
        assert graphs[0] == graphs[1] == graphs[2] and known.check(graphs[0]) == []


def test_states_are_counted_once_for_all_orders_of_the_columns(client, monkeypatch):
    codes = random_codes(5, 90, [2, 3, 4])
    table, asked = clustered(make_table(codes), client), []
    add_up = DaskTable.add_up
    monkeypatch.setattr(
        DaskTable,
        "add_up",
        lambda one, function: asked.append(one.positions.tolist()) or add_up(one, function),
    )
    expected = [np.bincount(row, minlength=k).tolist() for row, k in zip(codes, [2, 3, 4], strict=True)]
    assert [own.tolist() for own in table.select([2, 0]).margins] == [expected[2], expected[0]]
    assert [own.tolist() for own in table.margins] == expected
    assert [own.tolist() for own in table.select([1, 2]).margins] == [expected[1], expected[2]]
    assert asked == [[2, 0], [1]]


# What goes wrong


@pytest.mark.parametrize("handed_over", [True, False])
def test_a_table_that_was_closed_says_so(client, handed_over):
    # A client that was handed over stays open, and the table is closed all the same.
    codes = dict(zip("cab", related_codes(1, 60, 3), strict=True))
    table = f2sl.open_table(codes, engine="dask", scheduler=client if handed_over else None)
    part = table.select([2, 0])
    table.close()
    table.close()
    for use in (f2sl.F2SLc().fit, f2sl.learn, lambda one: one.column(0)):
        for one in (table, part):
            with pytest.raises(DataError, match="this table has been closed; open it again"):
                use(one)


def test_ctrl_c_cancels_what_is_under_way(client, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    at_result(monkeypatch, 2, interrupt)
    with pytest.raises(KeyboardInterrupt):
        f2sl.learn(related_codes(9, 300, 7).T, engine="dask", scheduler=client)
    monkeypatch.undo()
    f2sl.learn(related_codes(9, 300, 7).T, engine="dask", scheduler=client)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("tcp://127.0.0.1:1", "tcp://127.0.0.1:1: no Dask scheduler answers"),
        ("nonsense", "nonsense: no Dask scheduler answers"),
        ("foo://127.0.0.1:1", "foo://127.0.0.1:1: no Dask scheduler answers"),
    ],
)
def test_nobody_answers(monkeypatch, address, told):
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=told):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask", scheduler=address)


def test_somebody_listens_and_says_nothing(monkeypatch):
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"{address}: no Dask scheduler answers"):
            f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask", scheduler=address)


def test_nobody_answers_the_command_line(tmp_path):
    write_csv(tmp_path / "t.csv", small_table())
    hasty = "import sys; from f2sl.data.dask import runtime as cluster; cluster.CONNECT_SECONDS = 0.5"
    program = sys.executable, "-c", f"{hasty}; from f2sl.cli.app import main; sys.exit(main())"
    asked = "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"
    done = command("learn", tmp_path / "t.csv", *asked, command=program)
    assert (done.returncode, done.stdout) == (2, "")
    told = r"f2sl: error: tcp://127.0.0.1:1: no Dask scheduler answers at this address.*\n"
    assert re.fullmatch(told, done.stderr)


UNGUARDED = """
import f2sl
print("once")
here, there = (f2sl.learn("t.csv", engine=engine, n_jobs=2).graph_ for engine in ("memory", "dask"))
assert there == here
assert __spec__ is None and __file__.endswith("script.py")
"""


def test_a_script_starts_workers_which_do_not_run_it_again_and_end(tmp_path):
    """A program of its own, without an address, and without a guard around what it does."""
    write_csv(tmp_path / "t.csv", small_table())
    (tmp_path / "script.py").write_text(UNGUARDED)
    place = tmp_path / "tmp"
    place.mkdir()
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "TMPDIR": str(place)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "once\n", "")
    assert list(place.iterdir()) == []


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.5)
    with (
        running(0) as client,
        pytest.raises(ClusterError, match=r"tcp://.*the scheduler has no workers"),
    ):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask", scheduler=client)


def test_workers_of_another_version(client, monkeypatch):
    monkeypatch.setattr(connecting, "__version__", "0.0.0")
    told = r"tcp://.*: the worker runs f2sl .*, but this process runs f2sl 0\.0\.0; install the same version"
    with pytest.raises(ClusterError, match=told):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask", scheduler=client)
    monkeypatch.setattr(Cluster, "_check_versions", lambda self: None)  # as if the worker came later
    with pytest.raises(ClusterError, match=r"tcp://.*: the worker runs f2sl .*the caller runs f2sl 0\.0\.0"):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask", scheduler=client)


@pytest.mark.parametrize(
    ("part", "name", "version", "told"),
    [("host", "python", "3.2.1.final.0", r"Python 3\.2"), ("packages", "numpy", "1.26.4", r"NumPy 1\.26")],
)
def test_workers_of_another_python_or_numpy(client, monkeypatch, part, name, version, told):
    found = client.get_versions(check=False)
    for worker in found["workers"].values():
        worker[part][name] = version
    monkeypatch.setattr(type(client), "get_versions", lambda self, check: found)
    with pytest.raises(
        ClusterError, match=rf"tcp://.*: the worker runs {told}, but this process runs .*; install the"
    ):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask", scheduler=client)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (
            "import f2sl; f2sl.__version__ = '0.0.1'",
            r"runs f2sl 0\.0\.1, but this process runs f2sl ",
        ),
        ("import sys; sys.modules['f2sl'] = None", "has no f2sl, but this process runs f2sl "),
    ],
    ids=["another f2sl", "no f2sl"],
)
def test_a_worker_that_is_another(tmp_path, first, told):
    """Also on the command line: one line, and the exit code of what the user must change."""
    write_csv(tmp_path / "t.csv", small_table())
    with running(0) as client, lone_worker(client, first):
        address = client.scheduler.address
        with pytest.raises(ClusterError, match=rf"tcp://.*: the worker {told}.*; install the same version"):
            f2sl.learn(tmp_path / "t.csv", engine="dask", scheduler=client)
        done = command("learn", tmp_path / "t.csv", "--engine", "dask", "--scheduler", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        rf"f2sl: error: tcp://[\d.:]+: the worker {told}.*; install the same version\n", done.stderr
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"scheduler": "tcp://127.0.0.1:1"}, 'scheduler needs engine="dask", not engine="auto"'),
        ({"engine": "dask", "scheduler": 7}, "scheduler takes an address such as"),
        ({"engine": "spark"}, "engine must be one of 'auto', 'memory', 'stream', 'dask', not 'spark'"),
    ],
)
def test_a_scheduler_is_refused_unless_engine_is_dask_and_it_is_an_address(options, told):
    with pytest.raises(OptionError, match=told):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, **options)


# Processes


def test_others_cannot_reach_the_workers_of_this_machine():
    async def greet(address, keys):
        comm = await connect(address, timeout=1, **keys.get_connection_args("client"))
        await comm.close()

    with f2sl.open_table(small_table(), engine="dask", n_jobs=1) as table:
        own, others = table.cluster.client.security, distributed.Security.temporary()
        for address in (table.cluster.address, *table.cluster.workers):
            asyncio.run(greet(address, own))
            for way, keys in ((address, others), (address.replace("tls", "tcp"), distributed.Security())):
                with pytest.raises(OSError, match=r"[Tt]imed out|[Cc]losed|TLS certificate"):
                    asyncio.run(greet(way, keys))


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    """Write a folder of files that take workers long enough to be interrupted."""
    folder = tmp_path_factory.mktemp("long")
    rng = np.random.default_rng(0)
    table = pa.table({f"v{i}": rng.integers(0, 3, 500_000) for i in range(30)})
    pq.write_table(table, folder / "0.parquet")
    for part in range(1, 4):
        (folder / f"{part}.parquet").hardlink_to(folder / "0.parquet")
    return folder


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
@pytest.mark.parametrize(
    ("moment", "send", "number"),
    [
        ("f2sl-*", os.killpg, signal.SIGINT),
        ("f2sl-*/*/worker-*", os.killpg, signal.SIGINT),
        ("f2sl-*", os.kill, signal.SIGTERM),
        ("f2sl-*/*/worker-*", os.killpg, signal.SIGTERM),
    ],
    ids=["Ctrl-C, starting", "Ctrl-C, working", "kill, starting", "timeout, working"],
)
def test_an_interrupt_ends_the_workers_too(tmp_path, long_table, moment, send, number):
    """A terminal and timeout send their signals to all processes at once; one of them tells of it."""
    process = subprocess.Popen(
        [*MODULE, "learn", long_table, "--engine", "dask", "--jobs", "2", "--quiet"],
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    there = False
    while not there:
        assert process.poll() is None
        time.sleep(0.01)
        with suppress(FileNotFoundError):  # a folder that was removed while its files were listed
            there = any(tmp_path.glob(moment))
    send(process.pid, number)
    told = process.communicate(timeout=SECONDS)[1]  # until all have closed the pipe
    assert (process.returncode, told) == (128 + number, "f2sl: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_killed_process_has_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = f"f2sl-{socket.gethostname()}-"
    kept = {f"{here}{os.getpid()}-b", f"f2sl-elsewhere-{ended.pid}-c", f"{here}x-d"}
    of_another = f"{here}{os.getpid()}-of-a-process-that-had-our-number"
    for name in (f"{here}{ended.pid}-a", of_another, *kept):
        (tmp_path / name / "worker").mkdir(parents=True)
    os.utime(tmp_path / of_another, (0, 0))
    with connecting._folder_of_workers() as folder:
        assert {one.name for one in tmp_path.iterdir()} == {*kept, folder.rpartition(os.sep)[2]}
    assert folder.startswith(str(tmp_path / f"{here}{os.getpid()}-"))


def test_dask_is_imported_only_when_asked_for():
    code = (
        "import sys, f2sl; f2sl.learn({'a': [0, 1, 1], 'b': [0, 1, 1]}); print('distributed' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match=r'needs Dask.*pip install "f2sl\[cluster\]"'):
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, engine="dask")


def test_each_replicate_of_a_bootstrap_is_one_task(client, monkeypatch):
    submitted = []
    well = Cluster.submit

    def submit(self, function, *arguments, **options):
        submitted.append((function.__name__, arguments[-1]))
        return well(self, function, *arguments, **options)

    monkeypatch.setattr(Cluster, "submit", submit)
    table = f2sl.open_table(small_table())
    found = f2sl.bootstrap(table, "f2sl-c", 6, method="subsample", scheduler=client)
    assert submitted == [("_task", number) for number in range(6)]
    here = f2sl.bootstrap(table, "f2sl-c", 6, method="subsample", n_jobs=1)
    assert found.counts.tolist() == here.counts.tolist()
    with pytest.raises(
        DataError, match="resampling needs the rows in memory, but this table is on a cluster"
    ):
        f2sl.bootstrap(clustered(table, client), "f2sl-c", 6)
