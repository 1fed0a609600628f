"""Compile kernels with less work than Numba does for any function.

Of the time that Numba takes for a kernel, LLVM takes a third. The rest is Python, and much of it is of no use
to kernels, which are plain loops over arrays. None of what is left out changes the machine code of a kernel:

* Numba asks again and again which function adds two integers, and tries a dozen before it finds the one. The
  answers are remembered.
* Some passes look for closures, context managers, branches on None and the like, which kernels do not have.
* The garbage collector searches all that Numba has imported, many times, and finds little.
* Functions that only kernels call get no machine code of their own.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

# Without the types that Numba's stubs give to some of their methods.
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
functions: Any = import_module("numba.core.types.functions")
targetconfig: Any = import_module("numba.core.targetconfig")

SKIPPED = {
    "AnnotateTypes",
    "DeadBranchPrune",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "RewriteSemanticConstants",
    "WithLifting",
}
"""Passes of Numba's compiler that leave kernels as they are; most also analyse all variables again."""


class _Signatures:
    """Signatures of functions that Numba brings along, such as operators, by the types of their arguments.

    What a function is compiled to also depends on the caller's flags.
    """

    def __init__(self) -> None:
        self._find = functions.BaseFunction.get_call_type
        self._found: dict[Any, tuple[Any, Any]] = {}
        self._flags, self._summary = None, ""

    def get(self, function: Any, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, as Numba's method does that this one replaces."""
        flags = targetconfig.ConfigStack.top_or_none()
        if kws or flags is None:
            return self._find(function, context, args, kws)
        if flags is not self._flags:
            self._flags, self._summary = flags, flags.summary()
        key = function, context, tuple(args), self._summary
        if key not in self._found:
            signature = self._find(function, context, args, kws)
            self._found[key] = signature, function._impl_keys[signature.args]
        # Numba keeps the code of the last caller, whose flags may have been others.
        signature, function._impl_keys[signature.args] = self._found[key]
        return signature

    @contextmanager
    def remembered(self) -> Iterator[None]:
        """Look signatures up here first. Needs Numba's lock, which whoever compiles holds."""

        def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
            return self.get(function, context, args, kws)

        before = functions.BaseFunction.get_call_type
        functions.BaseFunction.get_call_type = get_call_type
        try:
            yield
        finally:
            functions.BaseFunction.get_call_type = before


_signatures = _Signatures()


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Compiler(compiler.Compiler):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [step for step in pipeline.passes if step[0].__name__ not in SKIPPED]
        return pipelines


class KernelCompiler(_Compiler):
    """Compile a kernel, and all that it calls."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        with _without_garbage_collection(), _signatures.remembered():
            return super().compile_extra(function)


class _InnerCode(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code of a function that only kernels call.

    Kernels link it, optimise it together with their own code and make machine code of both. Making machine
    code for the function alone would take about a fifth of all compile time, and nothing would use it.
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


class InnerCompiler(_Compiler):
    """Compile a function that only kernels call, as a part of the first of them."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = _InnerCode(self.state.targetctx.codegen(), "inner")
