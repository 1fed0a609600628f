"""The amount of memory that is free or allowed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from f2sl._notes import Use
from f2sl.errors import OptionError

LEAST_MEMORY = 16 * 10**6
"""Smallest memory limit in bytes."""

MEMORY_UNKNOWN = 2 * 10**9
"""Assumed half of the free memory, in bytes, if the system does not report it."""

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


ADDRESS_SPACE = 24 * 10**8
"""Bytes of addresses below which the libraries that f2sl builds on fail to load; most are never used."""


NUMPY_ADDRESS_SPACE = 4 * 10**8
"""Bytes of addresses below which even NumPy fails to load, or never ends trying."""


def short_of_addresses(least: int = ADDRESS_SPACE) -> str:
    """Return a message if a limit on the process (``ulimit -v``) is below what libraries need, or ""."""
    try:
        import resource
    except ImportError:  # not on Windows
        return ""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY or limit >= least:
        return ""
    return (
        f"this process may use {limit / 1e6:,.0f} MB of address space, and f2sl needs "
        f"{ADDRESS_SPACE / 1e6:,.0f} MB: raise the limit (ulimit -v)"
    )


def available_bytes() -> int | None:
    """Return the free memory in bytes; None if the system does not report it.

    A container or a job of a cluster may have less than the machine.

    Examples
    --------
    >>> available = available_bytes()
    >>> available is None or available > 0
    True
    """
    free = [amount for amount in (_free_in_machine(), free_in_groups()) if amount is not None]
    return min(free, default=None)


def _free_in_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:  # pragma: no cover - Linux has it
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - not every system tells
        return None


def free_in_groups(root: Path = Path("/")) -> int | None:
    """Return the memory that Linux control groups leave to this process; None without a limit.

    A limit holds for all groups within the one that has it.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    free = []
    for controllers, path in (line.split(":", 2)[1:] for line in lines):
        if files := _GROUP_FILES.get(controllers):
            top = root / files.top
            group = top / path.lstrip("/")
            free += [_left_in(place, files) for place in (group, *group.parents) if place.is_relative_to(top)]
    return min((left for left in free if left is not None), default=None)


class _GroupFiles(NamedTuple):
    """Names of the files of one version of control groups."""

    top: str
    limit: str
    used: str
    idle: str


_GROUP_FILES = {
    "": _GroupFiles("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": _GroupFiles(
        "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
    ),
}
"""Files of control groups by the controllers named in a line of a process: version 2 names none."""


def _left_in(group: Path, files: _GroupFiles) -> int | None:
    """Return the free memory of a group; cached files that are not in use count as free."""
    try:
        limit = int((group / files.limit).read_text(encoding="ascii"))
        used = int((group / files.used).read_text(encoding="ascii"))
        counts = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        idle = sum(int(number) for name, number in map(str.split, counts) if name == files.idle)
    except (OSError, ValueError):  # no such group here, or "max"
        return None
    return max(0, limit - used + idle)


def memory_limit(memory: Any, engine: Any = "auto") -> int:
    """Return a limit such as ``"256MB"`` in bytes; None is half of the free memory.

    The engine "memory" has no limit, and refuses one.

    Examples
    --------
    >>> memory_limit("256MB"), memory_limit("1.5 GiB"), memory_limit(50_000_000)
    (256000000, 1610612736, 50000000)
    """
    if memory is None:
        available = available_bytes()
        return MEMORY_UNKNOWN if available is None else max(LEAST_MEMORY, available // 2)
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(memory), re.IGNORECASE)
    unit = None if written is None else (UNITS | BINARY_UNITS).get(written[2].lower())
    if written is None or unit is None or isinstance(memory, bool):
        takes = f' takes a number of bytes, or a size such as "256MB", not {memory!r}'
        raise OptionError(Use("memory"), takes)
    limit = int(float(written[1]) * unit)
    if limit < LEAST_MEMORY:
        raise OptionError(Use("memory"), f" must be at least {LEAST_MEMORY // 10**6}MB, not {memory!r}")
    if engine == "memory":
        out = Use("engine"), " or ", Use("memory")
        raise OptionError(Use("engine", "memory"), " has no memory limit; leave out ", *out)
    return limit
