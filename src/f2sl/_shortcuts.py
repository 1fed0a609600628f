"""Save work that Numba does for any function and kernels do not need, through parts of Numba that may change.

All that f2sl uses beside Numba's documented interface is in this file, and nothing depends on it: without it
:mod:`f2sl._jit` compiles by plain ``numba.njit(cache=True)`` and learns the same. It does so if the
environment has ``F2SL_PLAIN_NUMBA=1``, with a Numba that was not tested, and with one that lacks a part named
in `USED`.

What each part gains, in processor seconds, is measured in ``docs/contributing/compiling.md``:

* Options: no wrappers for C, and none for Python around functions that only kernels call.
* `InnerCompiler`: no machine code for functions that only kernels call.
* `PLAIN_INNER`: no counting of references to arrays.
* `Cache`: machine code is loaded without registering all that Numba can compile; helpers can be waited for;
  damaged files and processes that write at the same time do no harm.
"""

from __future__ import annotations

import atexit
import ctypes
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import llvmlite.binding as llvm

from f2sl._ahead import HELPERS, UNWRITABLE, describe, say_once

# Without the types that Numba's stubs give to some of their methods.
caching: Any = import_module("numba.core.caching")
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
compiler_lock: Any = import_module("numba.core.compiler_lock")
options: Any = import_module("numba.core.options")
runtime: Any = import_module("numba.core.runtime._nrt_python")

USED = (
    (options.DefaultOptions, "no_cfunc_wrapper", "no_cpython_wrapper", "_nrt"),
    (codegen.JITCodeLibrary, "_optimize_final_module", "_finalize_final_module", "get_pointer_to_function"),
    (caching.IndexDataCacheFile, "_data_name", "_save_data", "_load_index", "_save_index"),
    (caching.FunctionCache, "_guard_against_spurious_io_errors", "_load_overload"),
)
"""Parts of Numba that are overridden or called below. A missing one makes the import of this module fail."""

for _owner, *_names in USED:
    for _name in _names:
        getattr(_owner, _name)

# What machine code from the cache may call to allocate memory; for what is compiled, Numba does the same.
for _name, _address in runtime.c_helpers.items():
    llvm.add_symbol(_name if _name.startswith("_") else f"NRT_{_name}", _address)

# A thread that was left behind may still be compiling when the process ends, and LLVM must not be taken down
# in the middle of it: wait for that kernel, and let no other begin.
atexit.register(compiler_lock.global_compiler_lock.acquire)


class _InnerCode(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code of a function that only kernels call.

    Kernels link it, optimise it together with their own code and make machine code of both. Nothing would use
    machine code of the function alone.
    """

    codegen = SimpleNamespace(set_env=lambda name, environment: None)

    def _optimize_final_module(self) -> None: ...

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int | None:
        self._ensure_finalized()
        return ctypes.cast(_REFUSE, ctypes.c_void_p).value


_REFUSE = ctypes.PYFUNCTYPE(ctypes.c_void_p)(lambda: None)
"""Address for an inner function that Python calls: it has no result, so that Python raises a SystemError."""


class InnerCompiler(compiler.Compiler):  # type: ignore[misc]
    """Compile a function that only kernels call, as a part of the first of them."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = _InnerCode(self.state.targetctx.codegen(), "inner")


KERNEL: dict[str, Any] = {"no_cfunc_wrapper": True}
INNER: dict[str, Any] = {**KERNEL, "no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
PLAIN_INNER: dict[str, Any] = {**INNER, "_nrt": False}
"""Options of the three sorts of compiled functions in :mod:`f2sl._jit`."""


class _CacheFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Machine code on disk: one file for each signature, complete before the index names it.

    Numba numbers files from 1 and writes the index first. If two processes start at the same time, one could
    then load code of another signature, or of an old version of the function.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name(zlib.crc32(repr((self._source_stamp, key)).encode()))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function; recreated if it is damaged, not used if it cannot be written."""

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
            say_once(UNWRITABLE)


def use_cache(compiled: Any) -> None:
    """Make a compiled function load and store its machine code as `Cache` does."""
    compiled._cache = Cache(compiled.py_func)
