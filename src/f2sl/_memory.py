"""How much memory there is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from f2sl.errors import OptionError

LEAST_MEMORY = 16 * 10**6
"""Bytes below which a limit is refused: nothing can be done with so little."""

MEMORY_UNKNOWN = 2 * 10**9
"""What half of the free memory is taken for where the system does not say."""

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def available_bytes() -> int | None:
    """Tell how much memory is free for the taking; None where the system does not say.

    Examples
    --------
    >>> available = available_bytes()
    >>> available is None or available > 0
    True
    """
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


def memory_limit(memory: Any, engine: Any = "auto") -> int:
    """Turn a limit such as ``"256MB"`` into bytes; None stands for half of what is free.

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
        raise OptionError(f'memory takes a number of bytes, or a size such as "256MB", not {memory!r}')
    limit = int(float(written[1]) * unit)
    if limit < LEAST_MEMORY:
        raise OptionError(f"memory must be at least {LEAST_MEMORY // 10**6}MB, not {memory!r}")
    if engine == "memory":
        raise OptionError('memory is a limit that engine="memory" does not keep to; leave out one of the two')
    return limit
