"""Compile hot loops with Numba.

All compiled code lives in files called ``_kernels.py``, and each function there
carries :func:`kernel`: plain loops over arrays, compiled on first use, cached on disk
for the next process, and run without the GIL, so that Python threads run them in parallel.
Functions that only kernels call carry :func:`inner` instead.

Kernels neither raise nor check their arguments, and compiled code does not check indices: the drivers that
call them have validated the input and allocated the output. A kernel that runs out of space returns how far
it got, and its driver calls it again with more.

Compiling takes far longer than running, so kernels are written to be cheap to compile: no sorting, no slice
that is assigned an array (Numba then compiles an error with formatted text), and one type for each argument.
Numba gives a literal such as 0 a type of its own, so a kernel that passes one to another kernel, or starts a
sum with one and passes the sum on, makes Numba compile again; ``int64(0)`` does not.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar, cast

from f2sl._ahead import COMPILING, HELPERS, UNWRITABLE, announce_first_run, say_once, types_of
from f2sl._memory import short_of_addresses
from f2sl._progress import note
from f2sl.errors import F2SLError

SECONDS_BETWEEN_NOTES = 2.0

OLDEST_TESTED, NEWEST_TESTED = (0, 60), (0, 68)
"""Versions of Numba with which shortcuts through its internals were tested, the bounds of pyproject.toml."""

if short_of_addresses():  # LLVM would end the process when it cannot map its memory
    raise F2SLError(short_of_addresses())

# A first run says so at once: from here on it waits for Numba to be imported and to compile.
announce_first_run()

import numba
import numpy as np
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

event: Any = import_module("numba.core.event")  # without the types that Numba's stubs give

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])

int64 = cast(Callable[[int], int], np.int64)
"""Convert to an integer of 64 bits; for mypy it is an ordinary one."""


class _Listener(event.Listener):  # type: ignore[misc]
    """Report to the current display how much is compiled instead of loaded from the cache.

    Meanwhile no garbage is collected: the collector searches all that Numba has imported, many times, finds
    little, and takes a tenth of the time.
    """

    def __init__(self) -> None:
        self.done, self.last = 0, time.monotonic()
        self.depth, self.collects = 0, False  # functions that are compiled inside each other

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1
        say_once(COMPILING)

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()
        self.done += 1
        if time.monotonic() - self.last >= SECONDS_BETWEEN_NOTES:
            self.last = time.monotonic()
            ready, needed = HELPERS.how_far()
            done = f"{ready} of {needed} inner loops" if needed else f"{self.done} functions"
            note(f"{done} compiled so far ...")


event.register("numba:compile", _Listener())


def _shortcuts() -> Any:
    """Return the module of shortcuts through Numba's internals; None if they are off or may not work."""
    release = tuple(map(int, numba.__version__.split(".")[:2]))
    if os.environ.get("F2SL_PLAIN_NUMBA", "0") != "0" or not OLDEST_TESTED <= release <= NEWEST_TESTED:
        return None
    try:
        return import_module("f2sl._shortcuts")
    except (ImportError, AttributeError):  # a part of Numba has another name
        return None


shortcuts = _shortcuts()

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # no kernel divides by zero


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; cache the machine code on disk if possible."""
    try:
        if shortcuts is None:
            return cast(Function, numba.njit(**_OPTIONS, cache=True)(function))
        compiled: Any = numba.njit(**_OPTIONS, **shortcuts.KERNEL)(function)
        if compiled is not function:  # as with NUMBA_DISABLE_JIT=1
            shortcuts.use_cache(compiled)
        return cast(Function, compiled)
    except RuntimeError:
        # Numba can write neither next to the source nor into the user's cache folder.
        say_once(UNWRITABLE)
        return cast(Function, numba.njit(**_OPTIONS)(function))


def inner(function: Function) -> Function:
    """Compile `function` as a part of the kernels that call it. Python should not call it."""
    return cast(Function, numba.njit(**_OPTIONS, **(shortcuts.INNER if shortcuts else {}))(function))


def plain_inner(function: Function) -> Function:
    """Compile `function` as `inner` does, but without counting references to arrays.

    For each array taken from a tuple and for each slice, Numba increments and decrements a counter, with two
    atomic operations. In functions called millions of times this takes a third of the time. Such a function
    must neither allocate nor return an array; its caller keeps the arguments alive.
    """
    return cast(Function, numba.njit(**_OPTIONS, **(shortcuts.PLAIN_INNER if shortcuts else {}))(function))


def work() -> None:
    """Compile the kernels that standard input names, one on each line; answer each with a line.

    Without shortcuts nothing would wait for them, and Numba's cache is not made for processes that write at
    the same time: end at once.
    """
    if shortcuts is None:
        return
    empty: Any = numba.njit(lambda: None)
    empty.compile(())  # registers all that Numba can compile, while nobody waits for it
    print(flush=True)
    for line in sys.stdin:
        module, name, described = json.loads(line)
        with suppress(Exception):  # whoever needs the kernel compiles it and fails with the error, if any
            getattr(import_module(module), name).compile(types_of(described))
        print(flush=True)


@intrinsic
def _count_bits(typing_context: Any, word: Any) -> Any:
    """Count the set bits of a 64-bit word: one instruction, and LLVM can vectorise it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _count_bits_in_python(word: Any) -> int:
    return int(word).bit_count()


# With NUMBA_DISABLE_JIT=1 kernels are plain Python functions, which cannot call an intrinsic.
popcount = cast(
    Callable[[Any], int], _count_bits_in_python if getattr(config, "DISABLE_JIT", 0) else _count_bits
)
