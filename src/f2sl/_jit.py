"""Compile hot loops with Numba.

All compiled code lives in files called ``_kernels.py``, and each function there
carries :func:`kernel`: plain loops over arrays, compiled on first use, cached on disk
for the next process, and run without the GIL so that Python threads around them gain.

Kernels neither raise nor check their arguments, and compiled code does not check indices:
the drivers that call them have validated the input and allocated the output. A kernel that
runs out of room returns how far it came, and its driver calls it again with more.

Compiling takes far longer than running, so kernels are written to be cheap to compile: no sorting, no slice
that is assigned an array (Numba then compiles an error with formatted text), and one type for each argument.
A number such as 0 that one kernel passes to another, or begins a sum with that it passes on, is a type of its
own to Numba; ``int64(0)`` is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import config, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numpy.typing import NDArray

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])

int64 = cast(Callable[[int], int], np.int64)
"""Convert to an integer of 64 bits; for mypy it is an ordinary one."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No kernel divides by zero, or is called from C: code for either would take its time to compile."""


def _register_without_scipy() -> None:
    """Let Numba register what it can compile, without SciPy's linear algebra, which takes 0.1 s to load.

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


if not getattr(config, "DISABLE_JIT", 0):
    _register_without_scipy()


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; cache the machine code on disk where that is possible."""
    try:
        return cast(Function, numba.njit(cache=True, **_OPTIONS)(function))
    except RuntimeError:
        # Numba can write neither next to the source nor into the user's cache folder:
        # every process then compiles for itself.
        return cast(Function, numba.njit(**_OPTIONS)(function))


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
