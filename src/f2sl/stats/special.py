"""SciPy's special functions, without the rest of their package.

Importing :mod:`scipy.special` takes 0.15 to 0.3 s, as long as Numba: it wraps every function for arrays of
other libraries and loads NumPy's Fortran parser. The functions themselves are in one compiled module, which
loads in 0.01 s without its package.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"
_loading = threading.RLock()


class _Placeholder(ModuleType):
    """Stands in for the package while its compiled module is loaded, which imports others from the package.

    If another thread imports the package at that moment, it waits for the real one on its first access.
    """

    def __init__(self) -> None:
        super().__init__(_PACKAGE)
        scipy = import_module("scipy")
        self.__path__ = [str(Path(folder) / "special") for folder in scipy.__path__]
        self._thread = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        if threading.get_ident() == self._thread or name.startswith("__"):
            raise AttributeError(name)
        with _loading:
            return getattr(import_module(_PACKAGE), name)


@cache
def special() -> Any:
    """Return a module that has SciPy's special functions, the same as those of :mod:`scipy.special`.

    Examples
    --------
    >>> special().gammaincc(0.5, 3.8415 / 2).round(4)
    np.float64(0.05)
    """
    with _loading:
        if _PACKAGE not in sys.modules:
            sys.modules[_PACKAGE] = _Placeholder()
            try:
                return import_module(f"{_PACKAGE}._ufuncs")
            except Exception:  # another version of SciPy may have another layout
                sys.modules.pop(f"{_PACKAGE}._ufuncs", None)
            finally:
                del sys.modules[_PACKAGE]
    return import_module(_PACKAGE)
