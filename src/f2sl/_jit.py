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

import atexit
import json
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar, cast

from f2sl._ahead import HELPERS, tell_of_compiling, tell_of_first_run
from f2sl._memory import short_of_addresses
from f2sl._progress import note
from f2sl.errors import F2SLError

SECONDS_BETWEEN_NOTES = 2.0


if short_of_addresses():  # LLVM would end the process when it cannot map its memory
    raise F2SLError(short_of_addresses())

# A first run says so at once: from here on it waits for Numba to be imported and to compile.
tell_of_first_run()

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import config, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numpy.typing import NDArray

from f2sl._compiler import InnerCompiler, KernelCompiler

# Without the types that Numba's stubs give to some of their methods.
event: Any = import_module("numba.core.event")
compiler_lock: Any = import_module("numba.core.compiler_lock")
caching: Any = import_module("numba.core.caching")
containers: Any = import_module("numba.core.types.containers")
runtime: Any = import_module("numba.core.runtime._nrt_python")

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])

int64 = cast(Callable[[int], int], np.int64)
"""Convert to an integer of 64 bits; for mypy it is an ordinary one."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Flags that shorten compilation: no kernel divides by zero or is called from C."""


def register() -> None:
    """Register what Numba can compile, without loading SciPy's linear algebra, which takes 0.1 s.

    Only a run that compiles needs this, not one that loads all kernels from the cache. Numba imports SciPy
    there only to find out whether it is installed, and f2sl requires it. A user's own function with
    ``np.dot`` or ``np.linalg`` still imports it, through the same function, when it is compiled.
    """
    linalg: Any = import_module("numba.np.linalg")
    imports_scipy = getattr(linalg, "ensure_blas", None)
    if imports_scipy is None or "numba.np.arraymath" in sys.modules:  # another way in, or too late
        return
    vars(linalg)["ensure_blas"] = lambda: None
    try:
        cpu_target.target_context.refresh()
    finally:
        for module in (linalg, sys.modules["numba.np.arraymath"]):
            vars(module)["ensure_blas"] = imports_scipy


class _Listener(event.Listener):  # type: ignore[misc]
    """Report to the current display how much is compiled instead of loaded from the cache."""

    def __init__(self) -> None:
        self.done, self.last = 0, time.monotonic()

    def on_start(self, event: Any) -> None:
        register()
        tell_of_compiling()

    def on_end(self, event: Any) -> None:
        self.done += 1
        if time.monotonic() - self.last >= SECONDS_BETWEEN_NOTES:
            self.last = time.monotonic()
            ready, needed = HELPERS.how_far()
            done = f"{ready} of {needed} inner loops" if needed else f"{self.done} functions"
            note(f"{done} compiled so far ...")


event.register("numba:compile", _Listener())

# What machine code from the cache may call to allocate memory; for what is compiled, Numba does the same.
for _name, _address in runtime.c_helpers.items():
    llvm.add_symbol(_name if _name.startswith("_") else f"NRT_{_name}", _address)


# A thread that was left behind may still be compiling when the process ends, and LLVM must not be taken down
# in the middle of it: wait for that kernel, and let no other begin.
atexit.register(compiler_lock.global_compiler_lock.acquire)


class _CacheFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Machine code on disk: one file for each signature, complete before the index names it.

    Numba numbers files from 1 and writes the index first. If two processes start at the same time, one could
    then load code of another signature, or of an old version of the function.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name(zlib.crc32(repr((self._source_stamp, key)).encode()))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function; recreated if it is damaged, not used if it cannot be written."""

    told = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CacheFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # Numba's own method first registers everything that can be compiled, and compiles some of its
        # functions.
        # That takes longer than loading a whole learner, and 30 MB, and machine code does not need it.
        found = self._loaded(sig, target_context)
        if found is None and HELPERS.compiled(describe(self._py_func, sig)):
            found = self._loaded(sig, target_context)
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # unpickling a truncated file can raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            self.tell_unwritable()

    @classmethod
    def tell_unwritable(cls) -> None:
        """Report, once, that machine code cannot be stored."""
        if not cls.told:
            cls.told = note(
                "cannot store the compiled loops, so every run compiles them again: no cache folder is "
                "writable; set NUMBA_CACHE_DIR to a folder that is"
            )


def describe(function: Any, signature: Any) -> list[Any]:
    """Name a kernel's module and function, and the types of its arguments.

    A list stands for a tuple, and a dictionary of one list by a class for a named tuple.
    """

    def named(one: Any) -> Any:
        if isinstance(one, containers.BaseTuple):
            parts, kind = [named(part) for part in one], getattr(one, "instance_class", None)
            return parts if kind is None else {f"{kind.__module__}:{kind.__name__}": parts}
        if isinstance(one, types.Array):
            return f"{one.dtype} {one.ndim}{one.layout}" + ("" if one.mutable else " read-only")
        return str(one)

    return [function.__module__, function.__name__, [named(one) for one in signature]]


def types_of(described: list[Any]) -> tuple[Any, ...]:
    """Return the types that `describe` has named."""

    def named(one: Any) -> Any:
        if isinstance(one, list):
            return containers.BaseTuple.from_types([named(part) for part in one])
        if isinstance(one, dict):
            [(place, parts)] = one.items()
            module, _, kind = place.partition(":")
            return containers.BaseTuple.from_types(
                [named(part) for part in parts], getattr(import_module(module), kind)
            )
        name, *form = one.split()
        dtype = types.boolean if name == "bool" else getattr(types, name)
        if not form:
            return dtype
        return types.Array(dtype, int(form[0][:-1]), form[0][-1], readonly=len(form) > 1)

    return tuple(named(one) for one in described)


def work() -> None:
    """Compile the kernels that standard input names, one on each line; answer each with a line."""
    register()
    print(flush=True)
    for line in sys.stdin:
        module, name, described = json.loads(line)
        with suppress(Exception):  # whoever needs the kernel compiles it and fails with the error, if any
            getattr(import_module(module), name).compile(types_of(described))
        print(flush=True)


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; cache the machine code on disk if possible."""
    compiled: Any = numba.njit(**_OPTIONS, pipeline_class=KernelCompiler)(function)
    if compiled is not function:  # as with NUMBA_DISABLE_JIT=1
        try:
            compiled._cache = _Cache(function)
        except RuntimeError:
            # Numba can write neither next to the source nor into the user's cache folder.
            _Cache.tell_unwritable()
    return cast(Function, compiled)


_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def inner(function: Function) -> Function:
    """Compile `function` as a part of the kernels that call it. Python cannot call it."""
    return cast(Function, numba.njit(**_INNER)(function))


def plain_inner(function: Function) -> Function:
    """Compile `function` as `inner` does, but without counting references to arrays.

    For each array taken from a tuple and for each slice, Numba increments and decrements a counter, with two
    atomic operations. In functions called millions of times this takes a third of the time. Such a function
    must neither allocate nor return an array; its caller keeps the arguments alive.
    """
    return cast(Function, numba.njit(**{**_INNER, "_nrt": False})(function))


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
