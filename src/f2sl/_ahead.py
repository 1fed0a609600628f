"""Compile in other processes what a first fit needs later, while this one compiles what it needs first.

Compiling a learner's kernels for the first time takes seconds, one after another. Which kernels a learner
calls, in which order and with which types, is known: ``tools/list_kernels.py`` writes it to
``_ahead.json``. On a machine with several cores, helper processes take kernels from the end of that list and
leave machine code in Numba's cache. This process compiles from the beginning as it goes along. When it comes
to a kernel that a helper is compiling, it waits for it; when it comes to one that is finished, it loads it.

Helpers only save time. Where they cannot be started, fail or are killed, this process compiles all kernels
itself. They end when the list is done, and at the latest one kernel after this process has ended.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from f2sl._memory import available_bytes
from f2sl._progress import note
from f2sl._threads import available_cores

COMPILING = "compiling the inner loops for this machine (first run only) ..."
UNWRITABLE = (
    "cannot store the compiled loops, so every run compiles them again: no cache folder is "
    "writable; set NUMBA_CACHE_DIR to a folder that is"
)

LIST = Path(__file__).with_name("_ahead.json")

MOST_HELPERS = 3
"""Processes that are started: one kernel takes a fourth of all the time, so that more would not help."""

HELPER_BYTES = 250 * 10**6
"""Memory that a helper takes, at most; as much stays free for each."""

SECONDS_TO_WAIT = 60.0
"""Longest wait of a helper for a fit: the one that it was started for may have failed on its options."""

FEWEST_KERNELS = 4
"""Kernels that must be left for a helper to be worth its start, which takes as long as two of them."""


def nothing_compiled() -> bool:
    """Return whether Numba's cache folder holds no machine code of f2sl.

    False if that is unknown: if neither the folder that the user has set nor the package's own is writable,
    only Numba knows which folder it uses.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return False
    place = Path(__file__).parent / "data" / "memory"
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given and _writable(Path(given)):
        found = Path(given).glob("memory_*/*.nbi")
    elif os.access(place, os.W_OK):
        found = (place / "__pycache__").glob("*.nbi")
    else:
        return False
    return next(iter(found), None) is None


def _writable(folder: Path) -> bool:
    """Return whether files can be written to a folder, which need not exist yet."""
    existing = next(one for one in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(one))
    return existing.is_dir() and os.access(existing, os.W_OK)


_said: set[str] = set()


def say_once(text: str) -> None:
    """Report something to the current display, if there is one, and never again."""
    if text not in _said and note(text):
        _said.add(text)


def announce_first_run() -> None:
    """Report to the current display, once, that inner loops are compiled, if none are yet."""
    if nothing_compiled():
        say_once(COMPILING)


def describe(function: Any, signature: Any) -> list[Any]:
    """Name a kernel's module and function, and the types of its arguments.

    A list stands for a tuple, and a dictionary of one list by a class for a named tuple.
    """
    types: Any = import_module("numba").types

    def named(one: Any) -> Any:
        if isinstance(one, types.BaseTuple):
            parts, kind = [named(part) for part in one], getattr(one, "instance_class", None)
            return parts if kind is None else {f"{kind.__module__}:{kind.__name__}": parts}
        if isinstance(one, types.Array):
            return f"{one.dtype} {one.ndim}{one.layout}" + ("" if one.mutable else " read-only")
        return str(one)

    return [function.__module__, function.__name__, [named(one) for one in signature]]


def types_of(described: list[Any]) -> tuple[Any, ...]:
    """Return the types that `describe` has named."""
    types: Any = import_module("numba").types

    def named(one: Any) -> Any:
        if isinstance(one, list):
            return types.BaseTuple.from_types([named(part) for part in one])
        if isinstance(one, dict):
            [(place, parts)] = one.items()
            module, _, kind = place.partition(":")
            return types.BaseTuple.from_types(
                [named(part) for part in parts], getattr(import_module(module), kind)
            )
        name, *form = one.split()
        dtype = types.boolean if name == "bool" else getattr(types, name)
        if not form:
            return dtype
        return types.Array(dtype, int(form[0][:-1]), form[0][-1], readonly=len(form) > 1)

    return tuple(named(one) for one in described)


class Helpers:
    """Processes that compile, and which of the kernels that a fit needs are theirs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._started = self._first_run = False
        self._fit: tuple[str, str] | None = None  # the learner and the kind of table
        self._left: list[str] = []  # kernels that nobody has taken yet, in the order in which they are needed
        self._taken: dict[str, threading.Event] = {}  # kernels of helpers; set when they are compiled
        self._all: list[str] = []  # kernels that the fit needs, in the order in which it needs them
        self._reached = 0  # how many of them this process has reached
        self._processes: list[Any] = []

    def start(self) -> None:
        """Start helpers if nothing is compiled; they load Numba and wait for a fit to be announced.

        If a display is in place, it is notified at once: importing Numba and reading the table come first.
        """
        with self._changed:
            if not self._started:
                self._started = True
                self._first_run = nothing_compiled()
                if self._first_run:
                    self._start()
        if self._first_run:
            say_once(COMPILING)

    def expect(self, learner: str, kind: str, missing: bool = False) -> None:
        """Announce a fit, by the learner's class, the kind of the table and if values are missing."""
        self.start()
        with self._changed:
            self._fit = learner, f"{kind}, missing" if missing else kind
            self._all, self._reached = [], 0
            if self._processes:
                self._left = self._needed()
            self._changed.notify_all()

    def compiled(self, description: list[Any]) -> bool:
        """Report a kernel that is not in the cache; if a helper has taken it, wait for it and return True."""
        if self._fit is None:
            return False
        kernel = json.dumps(description)
        with self._changed:
            self._all = self._all or self._listed()
            if kernel in self._all:
                self._reached = max(self._reached, self._all.index(kernel))
            finished = self._taken.get(kernel)
            if not self._processes and not self._left:
                # Some kernels are compiled, of another learner maybe; those behind this one are probably not.
                needed = self._needed()
                behind = needed[needed.index(kernel) + 1 :] if kernel in needed else []
                if len(behind) >= FEWEST_KERNELS:
                    self._left = behind
                    self._start()
            if kernel in self._left:
                self._left.remove(kernel)
        if finished is None:
            return False
        finished.wait()
        return True

    def how_far(self) -> tuple[int, int]:
        """Return how many of the kernels that the fit needs are compiled, and how many it needs, if known."""
        with self._changed:
            ready = set(self._all[: self._reached])
            ready.update(kernel for kernel, finished in self._taken.items() if finished.is_set())
            return len(ready.intersection(self._all)), len(self._all)

    def _listed(self) -> list[str]:
        """List the kernels that the fit needs."""
        known = json.loads(LIST.read_text(encoding="utf-8"))
        learner, kind = self._fit or ("", "")
        return [json.dumps(known["kernels"][i]) for i in known["needed"].get(learner, {}).get(kind, [])]

    def _needed(self) -> list[str]:
        """List the kernels that the fit needs and no helper has taken."""
        return [kernel for kernel in self._listed() if kernel not in self._taken]

    def _start(self) -> None:
        import multiprocessing
        import subprocess

        free = available_bytes()
        n_helpers = min(available_cores() - 1, MOST_HELPERS)
        if free is not None:
            n_helpers = min(n_helpers, free // (2 * HELPER_BYTES))
        python = Path(sys.executable or "").stem.lower().startswith("python")
        if not python or multiprocessing.parent_process() is not None:
            return  # a program with Python inside, which is not to be started again; or one of many processes
        path = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        for _ in range(n_helpers):
            with suppress(OSError, RuntimeError):  # no more processes or threads
                process = subprocess.Popen(
                    [sys.executable, "-P", "-c", "from f2sl._jit import work; work()"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
                    text=True,
                    encoding="utf-8",
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
                )
                try:
                    threading.Thread(target=self._give_orders, args=(process,), daemon=True).start()
                except RuntimeError:
                    self._end(process)
                    raise
                self._processes.append(process)

    def _give_orders(self, process: Any) -> None:
        """Hand one kernel after another to a helper, the one that is needed last first."""
        kernel = ""
        try:
            for _ in process.stdout:  # one line when it is ready, and one for each kernel
                with self._changed:
                    if kernel:
                        self._taken[kernel].set()
                    self._changed.wait_for(lambda: self._fit is not None, SECONDS_TO_WAIT)
                    if not self._left:
                        break
                    kernel = self._left.pop()
                    self._taken[kernel] = threading.Event()
                process.stdin.write(kernel + "\n")
                process.stdin.flush()
        except OSError:
            pass  # the helper has ended
        finally:
            self._end(process)
            with self._changed:
                self._processes.remove(process)
                if kernel:
                    self._taken[kernel].set()

    def end(self) -> None:
        """End all helpers."""
        for process in list(self._processes):
            self._end(process)

    @staticmethod
    def _end(process: Any) -> None:
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(OSError):  # what was not read
            process.stdin.close()


HELPERS = Helpers()
atexit.register(HELPERS.end)
if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=lambda: Helpers.__init__(HELPERS))
