"""The machine and the versions that results were made with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from f2sl._threads import available_cores
from f2sl._version import __version__

PACKAGES = ("numpy", "scipy", "numba", "torch")


def describe() -> dict[str, Any]:
    """Tell what seconds depend on.

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
            **{package: _version(package) for package in PACKAGES},
        },
    }


def total_memory() -> int:
    """Tell how many bytes of memory the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _processor() -> str:
    """Name the processor, as exactly as the system does."""
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
