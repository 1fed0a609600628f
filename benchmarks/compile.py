"""Seconds until a learner's first and second result in a new process, and those of compiling each kernel.

    python benchmarks/compile.py            # F2SL-c, F2SL-h, MMHC and PC-stable
    python benchmarks/compile.py f2sl-c     # one of them

Every learner begins with an empty cache of machine code, but with Python's modules compiled, as pip installs
them. The seconds of a kernel are its own, without those of kernels that are compiled on the way, and of the
processor, so that they hardly depend on what else runs. At last, the resident memory of a learner whose
kernels are compiled, and what it is made of.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import f2sl

LEARNERS = ("f2sl-c", "f2sl-h", "mmhc", "pc-stable")
REPEATS = 5

RECORD = """
import sys, time
import f2sl._jit
from numba.core import event

open_events, seconds = [], {}
class Recorder(event.Listener):
    def on_start(self, happened):
        open_events.append([time.thread_time(), 0.0])
    def on_end(self, happened):
        began, inside = open_events.pop()
        took = time.thread_time() - began
        if open_events:
            open_events[-1][1] += took
        function = happened.data["dispatcher"].py_func
        name = function.__module__.removeprefix("f2sl.") + "." + function.__name__
        seconds.setdefault(name, []).append(took - inside)
event.register("numba:compile", Recorder())
import f2sl
f2sl._ahead.MOST_HELPERS = 0  # all kernels in this process
f2sl.learn(sys.argv[1], sys.argv[2])
for name, took in seconds.items():
    print(name, len(took), sum(took))
"""

RESIDENT = """
import os, sys
before, found = 0, {}
def step(name, code):
    global before
    exec(code, found)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    print(f"{now - before:6.0f} MB {name}")
    before = now
step("Python", "")
step("NumPy", "import numpy")
step("PyArrow", "import pyarrow, pyarrow.compute, pyarrow.csv")
step("Typer and Rich", "import typer.main, rich.console")
step("Numba and LLVM", "import numba")
step("f2sl's modules", "import f2sl.cli.learn, f2sl.learners.f2sl_h, f2sl.data.memory.engine")
step("reading the table", f"table = f2sl.open_table({sys.argv[1]!r})")
step("machine code, bit planes and the fit", f"f2sl.learn(table, {sys.argv[2]!r})")
print(f"{before:6.0f} MB in all")
"""


def run(arguments: list[str], cache: Path) -> tuple[float, float, str]:
    """Run a process; return its wall and processor seconds, and what it printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def least(arguments: list[str], cache: Path) -> str:
    """Return the least wall and processor seconds of several runs."""
    times = [run(arguments, cache)[:2] for _ in range(REPEATS)]
    return "{:.2f} s ({:.2f} s of processors)".format(*map(min, zip(*times, strict=True)))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "alarm.csv"
        f2sl.load_network("alarm").sample(1000, random_state=1).to_csv(table, index=False)
        modules = "import compileall, f2sl; compileall.compile_dir(f2sl.__path__[0], quiet=1)"
        run(["-c", modules], Path(folder))
        print("import numba:", least(["-c", "import numba"], Path(folder)))
        for learner in sys.argv[1:] or LEARNERS:
            cache = Path(folder) / learner
            command = ["-m", "f2sl", "learn", str(table), "--algorithm", learner, "--quiet"]
            cold = "{:.1f} s ({:.1f} s of processors)".format(*run(command, cache)[:2])
            print(f"\n{learner}: cold {cold}, warm {least(command, cache)}")
            printed = run(["-c", RECORD, str(table), learner], Path(folder) / "another" / learner)[2]
            rows = [line.split() for line in printed.splitlines()]
            rows.sort(key=lambda row: -float(row[2]))
            functions, total = sum(int(row[1]) for row in rows), sum(float(row[2]) for row in rows)
            print(f"  {total:6.2f} s for {functions} functions:")
            for name, times, seconds in rows:
                print(f"  {float(seconds):6.2f} s {name}" + (f" ({times} times)" if times != "1" else ""))
            print(run(["-c", RESIDENT, str(table), learner], cache)[2])


if __name__ == "__main__":
    main()
