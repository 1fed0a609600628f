"""What a second worker is worth on a wide table, and what passes between a learner and its cluster.

    python benchmarks/cluster.py                    # 16,000 variables, 1,000 rows; a minute or two
    python benchmarks/cluster.py --variables 30000 --rounds 7

Ternary variables, sampled from a sparse random network. Two clusters on this machine, of one worker and of
two with a thread each, measure all pairs in turn, round after round, so that other work on the machine falls
on both; the least time of each counts. Between learner and scheduler stands a relay that counts the bytes,
once for a table that is sent and once for the same table in files that the workers read.
"""

from __future__ import annotations

import argparse
import logging
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from numpy.typing import NDArray

import f2sl
from f2sl.data.dask.runtime import Cluster
from f2sl.data.dask.table import DaskTable, TileSplitEngine
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.memory.table import MemoryTable
from f2sl.network.sampling import sample_table
from f2sl.stats.measures.information import Information

STATES, EDGES_PER_VARIABLE, DELTA = 3, 1.2, 0.05
N_FILES = 4
MEMORY = 1 << 30
AIM = 1.6
Engine = TileSplitEngine | MemoryEngine
ONE, TWO, HERE = "one worker", "two workers", "in memory, one thread"


class Relay:
    """Passes on what a client and a scheduler have to say to each other, and counts it."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        self._target = host, int(port)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        self.sent = self.received = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            near, _ = self._server.accept()
            far = socket.create_connection(self._target)
            threading.Thread(target=self._pass_on, args=(near, far, "sent"), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(far, near, "received"), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, way: str) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                setattr(self, way, getattr(self, way) + len(data))
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)


@contextmanager
def workers(n: int) -> Iterator[str]:
    """Start a cluster; gives its address."""
    with LocalCluster(
        n_workers=n,
        threads_per_worker=1,
        memory_limit=None,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.ERROR,
    ) as cluster:
        yield cluster.scheduler_address


def seconds_for_pairs(engine: Engine, client: Client | None) -> tuple[float, float]:
    """How long all pairs take, and how long the busiest process has computed for them."""

    def computed() -> NDArray[np.float64]:
        times = [time.process_time()] if client is None else client.run(time.process_time).values()
        return np.array(list(times))

    formula = Information(engine).pairs_above(DELTA)
    before, started = computed(), time.perf_counter()
    engine.search_pairs(formula)
    wall = time.perf_counter() - started
    return wall, float((computed() - before).max())


def compare_workers(table: MemoryTable, rounds: int) -> None:
    """Measure one worker and two in turn."""
    best = dict.fromkeys((ONE, TWO, HERE), (np.inf, np.inf))
    with workers(1) as one, workers(2) as two, Client(one) as first, Client(two) as second:
        clients = {ONE: first, TWO: second, HERE: None}
        engines: dict[str, Engine] = {
            name: MemoryEngine(table, 1)
            if client is None
            else TileSplitEngine(DaskTable.of_table(table, Cluster.connect(client, 1, MEMORY), MEMORY))
            for name, client in clients.items()
        }
        for round_ in range(rounds + 1):
            seconds = {name: seconds_for_pairs(engines[name], clients[name]) for name in best}
            if round_:  # the first sends the table, fills planes and loads kernels
                best = {name: tuple(map(min, best[name], seconds[name])) for name in best}
            told = ", ".join(f"{name} {wall:.2f} ({busy:.2f})" for name, (wall, busy) in seconds.items())
            print(f"  round {round_}: {told} s; load {os.getloadavg()[0]:.1f}", flush=True)
        for engine in engines.values():
            engine.close()
    pairs = table.n_variables * (table.n_variables - 1) / 2
    for name, (wall, busy) in best.items():
        print(f"{name}: {wall:.2f} s, {wall / pairs * 1e9:.1f} ns a pair; computed at most {busy:.2f} s")
    wall, busy = (one / two for one, two in zip(best[ONE], best[TWO], strict=True))
    print(f"two workers are {wall:.2f} times as fast as one (aim: {AIM}); each computes 1/{busy:.2f} as long")


def count_bytes(table: MemoryTable, folder: Path) -> None:
    """Learn F2SL-c through a relay, from a table that is sent and from files."""
    columns = {name: pa.array(codes) for name, codes in zip(table.names, table.codes, strict=True)}
    step = -(-table.n_rows // N_FILES)
    for i in range(N_FILES):
        pq.write_table(pa.table(columns).slice(i * step, step), folder / f"{i}.parquet")
    for what, data in (("a table that is sent", pa.table(columns)), ("files that workers read", folder)):
        with workers(2) as address:
            relay = Relay(address)
            model = f2sl.learn(data, "f2sl-c", engine="dask", scheduler=relay.address)
            told = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in model.timings_.items())
            print(
                f"{what}: {relay.sent / 1e6:.1f} MB from the learner, {relay.received / 1e6:.1f} MB to it; "
                f"{table.codes.nbytes / 1e6:.1f} MB of codes, {model.graph_.n_edges} edges; {told}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, default=16_000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    edges = int(EDGES_PER_VARIABLE * asked.variables)
    network = f2sl.random_network(asked.variables, edges, states=(STATES, STATES), random_state=1)
    table = sample_table(network, asked.rows, random_state=1)
    print(f"{table.n_variables:,} variables, {table.n_rows:,} rows, {os.cpu_count()} cores")
    compare_workers(table, asked.rounds)
    with tempfile.TemporaryDirectory() as folder:
        count_bytes(table, Path(folder))


if __name__ == "__main__":
    main()
