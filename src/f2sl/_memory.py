"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path


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
