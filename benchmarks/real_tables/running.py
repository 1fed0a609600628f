"""Run `f2sl learn TABLE` in a process of its own, within limits, and say what came of it.

The process has one core and a limit on its seconds of processor time, which on an idle machine are those
that a user waits, and which other work on the machine does not change. It is killed above `MEMORY`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 60, 6 << 30
PATIENCE = 15
"""Wall time allowed, in multiples of the limit: for a process that waits and does not compute."""
COMPILES = b"compiling the inner loops"
PEOPLE = re.compile(
    r"(sex|gender|race|ethnic\w*|female|male|fem\w*|black|white|afam|hispanic|hisp|nonwhite|minority)",
    re.IGNORECASE,
)
"""Columns that nothing else in a table can cause."""


def learned(
    table: Path, source: Path, seconds: int = SECONDS, options: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Learn from a table with the f2sl in `source`; a run that compiled is not measured but run again."""
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.json"
        command = [sys.executable, "-m", "f2sl", "learn", str(table), "--out", str(graph), "--json", *options]
        for _ in range(4):
            ended = _run(command, {**os.environ, "PYTHONPATH": str(source)}, seconds, Path(folder))
            if COMPILES not in ended.pop("stderr"):
                break
        if ended["error"] is None:
            ended |= described(
                json.loads((Path(folder) / "out").read_bytes()), json.loads(graph.read_bytes())
            )
        else:
            ended["error"] = ended["error"].replace(str(table), table.name)
        return ended


def _run(command: list[str], environment: dict[str, str], seconds: int, folder: Path) -> dict[str, Any]:
    """Run a command; return the seconds, the peak of memory and the error, or None."""
    started, peak = time.monotonic(), 0
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
        )
        killed, ended = None, (0, 0, None)
        try:
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                peak = max(peak, _resident(process.pid))
                if peak > MEMORY:
                    killed = f"killed above {MEMORY >> 30} GB"
                elif time.monotonic() - started > PATIENCE * seconds:
                    killed = f"killed after {PATIENCE * seconds} s, most of them waiting"
                if killed:
                    os.killpg(process.pid, signal.SIGKILL)
                time.sleep(0.05)
        finally:
            if not ended[0]:  # the runner itself was interrupted
                os.killpg(process.pid, signal.SIGKILL)
    _, status, usage = ended
    process.returncode = code = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    stderr = (folder / "err").read_bytes()
    told = stderr.decode(errors="replace").strip().splitlines()
    if code == 0:
        killed = None
    elif killed is None:
        timed_out = code in (-signal.SIGXCPU, -signal.SIGKILL)
        errors = [line for line in told if line.startswith("f2sl: error")] or told or [f"ended with {code}"]
        killed = f"stopped after {seconds} s" if timed_out else errors[-1]
    return {
        "error": killed,
        "seconds": round(cpu, 2),
        "wall": round(time.monotonic() - started, 2),
        "megabytes": round(max(usage.ru_maxrss << 10, peak) / 1e6),
        "stderr": stderr,
    }


def _resident(pid: int) -> int:
    """Return the bytes that a process has in memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def described(told: dict[str, Any], graph: dict[str, Any]) -> dict[str, Any]:
    """Return what the page needs of a graph; "decided" are its directions."""
    discrete = {name: kind == "discrete" for name, kind in graph["read_as"].items()}
    arrows, lines = told["graph"]["directed"], told["graph"]["undirected"]
    crossing = [(a, b) for a, b in arrows if discrete[a] != discrete[b]]
    return {
        "variables": len(discrete),
        "kind": "discrete" if all(discrete.values()) else "mixed" if any(discrete.values()) else "continuous",
        "learning": round(told["timings"]["total"], 2),
        "edges": len(arrows) + len(lines),
        "decided": len(arrows),
        "weakly": _weakly(told),
        "numbers to states": sum(discrete[b] for _, b in crossing),
        "states to numbers": sum(discrete[a] for a, _ in crossing),
        "into people": sum(bool(PEOPLE.fullmatch(b)) for _, b in arrows),
        "out of people": sum(bool(PEOPLE.fullmatch(a)) for a, _ in arrows),
        "notes": [note["text"][:300] if isinstance(note, dict) else note[:300] for note in told["notes"]],
        "edge_list": [(a, "->", b) for a, b in arrows] + [(a, "--", b) for a, b in lines],
    }


def _weakly(told: dict[str, Any]) -> int | None:
    """Return how many of the decided directions are called weakly decided, if this version says so."""
    for part in (told["edges"], told):
        for key, value in part.items():
            if "weak" in key and value is not None:
                return value if isinstance(value, int) else len(value)
    return None
