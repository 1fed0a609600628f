"""The machine and the versions that results were made with; time and memory on it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from f2sl._threads import available_cores
from f2sl._version import __version__

PACKAGES = ("numpy", "scipy", "numba", "torch")


def describe(packages: Iterable[str] = PACKAGES) -> dict[str, Any]:
    """Describe the machine, and the versions of Python, f2sl and some packages, on which seconds depend.

    Examples
    --------
    >>> sorted(describe())
    ['machine', 'versions']
    """
    return {
        "machine": {
            "processor": _processor(),
            "cores": available_cores(),
            "memory": total_memory(),
            "system": f"{platform.system()} {platform.release()}",
        },
        "versions": {
            "python": platform.python_version(),
            "f2sl": __version__,
            **{package: _version(package) for package in packages},
        },
    }


def total_memory() -> int:
    """Return the memory of the machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def peak_bytes() -> int:
    """Return the peak memory of this process, including memory shared with the process it was forked from."""
    if sys.platform == "linux":
        return status_bytes("VmHWM")  # ru_maxrss would include the parent of a process that was just started
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def status_bytes(field: str) -> int:
    """Return an amount of memory in Linux's status of this process, such as "VmRSS".

    Examples
    --------
    >>> import sys
    >>> sys.platform != "linux" or 0 < status_bytes("VmRSS") <= status_bytes("VmHWM")
    True
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def peak_bytes_of(code: str) -> int:
    """Return the peak memory of a new process that runs some code, with the same path for imports."""
    program = f"{code}\nfrom {__name__} import peak_bytes\nprint(peak_bytes())"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], env=path, capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


def least_seconds(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Time tasks side by side: the minimum of interleaved repeats, after one run to warm up."""
    best = dict.fromkeys(tasks, float("inf"))
    for task in tasks.values():
        task()
    for _ in range(repeats):
        for name, task in tasks.items():
            started = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def _processor() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # pragma: no cover - Linux has it
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
