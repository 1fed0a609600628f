"""How f2sl compiles its hot loops.

All compiled code lives in files called ``_kernels.py``, and each function there
carries :func:`kernel`: plain loops over arrays, compiled by Numba on first use,
kept on disk for the next process, and run without Python's lock so that threads
around them gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; keep the machine code on disk where that is possible."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # Neither beside the source nor in the user's cache folder may Numba write:
        # every process then compiles for itself.
        return cast(Function, numba.njit(nogil=True)(function))


@intrinsic
def _count_bits(typing_context: Any, word: Any) -> Any:
    """Number of set bits of a 64-bit word: one instruction, and LLVM can vectorise it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _count_bits_in_python(word: Any) -> int:
    return int(word).bit_count()


popcount = cast(
    Callable[[Any], int], _count_bits_in_python if getattr(config, "DISABLE_JIT", 0) else _count_bits
)
