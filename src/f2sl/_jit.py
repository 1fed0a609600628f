"""Compile hot loops with Numba.

All compiled code lives in files called ``_kernels.py``, and each function there
carries :func:`kernel`: plain loops over arrays, compiled on first use, cached on disk
for the next process, and run without the GIL so that Python threads around them gain.
Functions that only kernels call carry :func:`inner` instead.

Kernels neither raise nor check their arguments, and compiled code does not check indices:
the drivers that call them have validated the input and allocated the output. A kernel that
runs out of room returns how far it came, and its driver calls it again with more.

Compiling takes far longer than running, so kernels are written to be cheap to compile: no sorting, no slice
that is assigned an array (Numba then compiles an error with formatted text), and one type for each argument.
A number such as 0 that one kernel passes to another, or begins a sum with that it passes on, is a type of its
own to Numba; ``int64(0)`` is not.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from f2sl._memory import short_of_addresses
from f2sl._progress import note
from f2sl.errors import F2SLError

COMPILING = "compiling the inner loops for this machine (first run only) ..."
SECONDS_BETWEEN_NOTES = 5.0


def _nothing_compiled() -> bool:
    """Return whether the folder where Numba keeps machine code has none of ours.

    False in doubt: if the package's own folder cannot be written to, Numba alone knows where the other is.
    """
    place = Path(__file__).parent / "storage" / "memory"
    given = os.environ.get("NUMBA_CACHE_DIR")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" or not (given or os.access(place, os.W_OK)):
        return False
    found = Path(given).glob("memory_*/*.nbi") if given else (place / "__pycache__").glob("*.nbi")
    return next(iter(found), None) is None


if short_of_addresses():  # LLVM would end the process when it cannot map its memory
    raise F2SLError(short_of_addresses())

# A first run says so at once: what it is waiting for from here on is Numba, to be imported and to compile.
_told = _nothing_compiled() and note(COMPILING)

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import config, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numpy.typing import NDArray

# Without the types that Numba's stubs give to some of their methods.
event: Any = import_module("numba.core.event")
caching: Any = import_module("numba.core.caching")
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
runtime: Any = import_module("numba.core.runtime._nrt_python")

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])

int64 = cast(Callable[[int], int], np.int64)
"""Convert to an integer of 64 bits; for mypy it is an ordinary one."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Flags that shorten compilation: no kernel divides by zero or is called from C."""


def _register_without_scipy() -> None:
    """Register what Numba can compile, without SciPy's linear algebra, which takes 0.1 s to load.

    Only a run that compiles needs this, and one that loads all kernels from the cache does not.
    Numba imports it there to find out whether it is installed: here it is. What a user compiles with
    ``np.dot`` or ``np.linalg`` still imports it, by the same function, when it is compiled.
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
    """Report to the current display how many functions are compiled instead of loaded from the cache."""

    def __init__(self) -> None:
        self.told, self.done, self.last = _told, 0, time.monotonic()

    def on_start(self, event: Any) -> None:
        _register_without_scipy()
        if not self.told:
            self.told = note(COMPILING)

    def on_end(self, event: Any) -> None:
        self.done += 1
        if time.monotonic() - self.last >= SECONDS_BETWEEN_NOTES:
            self.last = time.monotonic()
            note(f"{self.done} compiled so far ...")


event.register("numba:compile", _Listener())

# What machine code from the cache may call to allocate memory; for what is compiled, Numba does the same.
for _name, _address in runtime.c_helpers.items():
    llvm.add_symbol(_name if _name.startswith("_") else f"NRT_{_name}", _address)


class _CacheFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Machine code on disk, in a file for each signature that is complete before the index names it.

    Numba numbers files from 1 on and writes the index first. Of two processes that begin at the same time,
    one could then load code of another signature, or of a version of the function that is no more.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name(zlib.crc32(repr((self._source_stamp, key)).encode()))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, made anew if it is damaged, and done without if it cannot be written."""

    told = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CacheFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # Numba's own method first registers all that can be compiled, and compiles some functions of its own.
        # That takes longer than to load a whole learner, and 30 MB, and machine code does without.
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # whatever unpickling a file cut short can raise
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
        """Tell, once, that machine code cannot be kept."""
        if not cls.told:
            cls.told = note(
                "the compiled loops cannot be kept, and every run compiles them anew: no folder can be "
                "written to; set NUMBA_CACHE_DIR to one that can"
            )


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; cache the machine code on disk where that is possible."""
    compiled: Any = numba.njit(**_OPTIONS)(function)
    if compiled is not function:  # as with NUMBA_DISABLE_JIT=1
        try:
            compiled._cache = _Cache(function)
        except RuntimeError:
            # Numba can write neither next to the source nor into the user's cache folder.
            _Cache.tell_unwritable()
    return cast(Function, compiled)


class _InnerCode(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code of a function that only kernels call.

    Kernels link it, optimise it together with their own and make machine code of both. Doing so before, for
    the function alone, is about a fifth of what compiling takes, and nothing uses the result.
    """

    codegen = SimpleNamespace(set_env=lambda name, environment: None)

    def _optimize_final_module(self) -> None: ...

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int | None:
        self._ensure_finalized()
        return ctypes.cast(_REFUSE, ctypes.c_void_p).value


_REFUSE = ctypes.PYFUNCTYPE(ctypes.c_void_p)(lambda: None)
"""Stand-in for an inner function that Python calls: it has no result, so that Python raises a SystemError."""


class _InnerCompiler(compiler.Compiler):  # type: ignore[misc]
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = _InnerCode(self.state.targetctx.codegen(), "inner")


_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "pipeline_class": _InnerCompiler}


def inner(function: Function) -> Function:
    """Compile `function` as a part of the kernels that call it. Python cannot call it."""
    return cast(Function, numba.njit(**_INNER)(function))


def plain_inner(function: Function) -> Function:
    """Compile `function` as `inner` does, but without counting references to arrays.

    Numba counts one up and down for each array taken out of a tuple and for each slice, by an atomic
    operation each. In functions called millions of times that takes a third of the time. Such a function may
    neither allocate an array nor return one; whoever calls it holds its arguments.
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
