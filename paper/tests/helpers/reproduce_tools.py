"""``f2sl reproduce`` in processes of its own, with a learner that misbehaves if it is told to."""

import csv
import os
import signal
import sqlite3
import subprocess
import time
import zipfile

import numpy as np

from cli_process import ENVIRONMENT, SCRIPT, f2sl, heed_interrupts
from f2sl_paper.store import FILE, read_results

# Python runs this in every process that finds it on its path, the server of units among them. GSBN does as
# it is told with more rows than it warms up with. Figures, which take longer to draw than all else takes,
# are left to the tests of the report.
MISBEHAVING_GSBN = """
import os, time
from f2sl_paper import figures
from f2sl.learners.gsbn import GSBN

figures.pictures = lambda cells: []

well = GSBN.fit

def fit(self, X, y=None):
    how = os.environ.get("GSBN_MUST", "")
    if how and X.n_rows > 200:
        if how == "eat":
            eaten = []
            while True:
                eaten.append(bytearray(1 << 24))
        if how == "hang":
            while True:
                pass
        if how == "crash":
            os.abort()
        if how == "dawdle":
            time.sleep(0.3)
    return well(self, X)

GSBN.fit = fit
"""
ROWS = "250"


class Bench:
    """A folder to run the command in; `gsbn` says how GSBN is to misbehave."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(MISBEHAVING_GSBN)
        self.out = folder / "results"

    def environment(self, gsbn):
        path = os.pathsep.join(filter(None, [str(self.folder / "site"), ENVIRONMENT.get("PYTHONPATH")]))
        return {"GSBN_MUST": gsbn, "PYTHONPATH": path, "F2SL_MMHC_DATA": ""}

    def arguments(self, algorithms="gsbn,f2sl-c", sets=2, out=None, **options):
        chosen = {
            "out": out or self.out,
            "networks": "hailfinder",
            "algorithms": algorithms,
            "sizes": ROWS,
            "sets": sets,
            "jobs": 2,
            **options,
        }
        return [
            "reproduce",
            *(part for name, value in chosen.items() for part in (f"--{name.replace('_', '-')}", str(value))),
        ]

    def run(self, gsbn="", command=(SCRIPT,), **options):
        return f2sl(*self.arguments(**options), command=command, **self.environment(gsbn))

    def start(self, gsbn, **options):
        return subprocess.Popen(
            [SCRIPT, *self.arguments(**options)],
            env={**ENVIRONMENT, **self.environment(gsbn)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
        )

    def outcomes(self, out=None):
        return {outcome.unit: outcome for outcome in read_results(out or self.out).outcomes}

    def states(self, learner):
        """States by number of the data set, in the setting of the paper."""
        chosen = [o for u, o in self.outcomes().items() if (u.learner, u.setting) == (learner, "paper")]
        return {outcome.unit.data_set: outcome.state for outcome in chosen}

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "this should have come about by now"
            time.sleep(0.02)

    def until_done(self, number):
        """Wait until so many units have ended."""

        def enough():
            return (self.out / FILE).exists() and len(rows_of(self.out, "SELECT state FROM units")) >= number

        self.until(enough)


def rows_of(out, query):
    """Ask the file of results; nothing while its tables are not there yet."""
    database = sqlite3.connect(out / FILE, timeout=10)
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError as error:
        assert "no such table" in str(error)
        return []
    finally:
        database.close()


def is_intact(out):
    return rows_of(out, "PRAGMA integrity_check") == [("ok",)]


def tables_but_for_seconds(out):
    """The rows of all tables of figures, without what was timed; by the name of the file."""
    found = {}
    for path in sorted((out / "tables").glob("table-*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row.get("normalised") != "Time"]
        found[path.name] = [
            {key: value for key, value in row.items() if not key.startswith("seconds")} for row in rows
        ]
    return found


def interrupt(process):
    process.send_signal(signal.SIGINT)


def write_supplement(folder, graph, tables, name="hailf_data.zip"):
    """Write a zip file as the supplement has them: a graph, and by rows and number the data sets."""

    def text(numbers):
        return "\n".join(" ".join(map(str, row)) for row in np.asarray(numbers)) + "\n"

    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("data/Net_graph.txt", text(graph))
        for (rows, number), table in tables.items():
            archive.writestr(f"data/Net_s{rows}_v{number}.txt", text(table))
    return folder / name
